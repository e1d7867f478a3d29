"""What is known: compare, explain, theorems, falsify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
from rich.text import Text
from rich.tree import Tree

from symacct.adversary.falsify import falsify
from symacct.cli.frame import (
    KIND_LABELS,
    expression_command,
    in_numbers,
    json_option,
    kind_label,
    main,
    print_json,
    print_text,
)
from symacct.cli.relation import print_relation
from symacct.core.errors import DomainError
from symacct.explore.comparison import ConvertedEpsilon, TheoremRow, compare, compare_epsilon, ratio
from symacct.export.explanation import Explanation, explain
from symacct.expressions.node import Node
from symacct.expressions.theorem_registry import PROVED
from symacct.results.enclosure import Enclosure
from symacct.results.rounding import format_shared
from symacct.results.terminal import print_prose, print_table, print_whole
from symacct.text import parse_open
from symacct.theory import catalogue


@expression_command("compare")
@click.option("--alpha", multiple=True, help="Order in [1, inf]; repeatable.")
@click.option("--delta", help="Compare ε at this δ instead, the true one last.")
def compare_command(
    expr: str, alpha: tuple[str, ...], delta: str | None, digits: int, as_json: bool
) -> None:
    """Every theorem that speaks of EXPR, beside the best known.

    Lower bounds come first; each is followed by its ratio to the best known value. With --delta
    every ε by a conversion or a theorem, from the largest to the true one or what it is at least.
    """
    if (delta is None) == (not alpha):
        raise DomainError("compare: needed --alpha, or --delta, and one of them only")
    m = in_numbers(expr)
    if delta is not None:
        print_epsilons(m, compare_epsilon(m, delta, digits), as_json)
        return
    rows = compare(m, alpha, digits)
    if as_json:
        print_json([row.as_dict() for row in rows])
        return
    columns = (column for a in alpha for column in (f"ε({a})", "× best known"))
    print_table(("theorem", "bound", *columns), (_cells(row) for row in rows if row.applies))
    print_relation(m)
    for row in rows:
        if not row.applies:
            print_prose(f"{row.name} does not apply: {row.reason}")


def _cells(row: TheoremRow) -> Iterator[str]:
    yield row.name
    yield KIND_LABELS[row.kind] if row.status == PROVED else row.status
    for value, times in zip(row.values, row.ratios, strict=True):
        yield value.rounded() if isinstance(value, Enclosure) else "–"
        yield _times(times)


def print_epsilons(m: Node, rows: Sequence[ConvertedEpsilon], as_json: bool) -> None:
    if as_json:
        print_json([row.as_dict() for row in rows])
        return
    known = rows[-1].epsilon if isinstance(rows[-1].epsilon, Enclosure) else None
    last = "exact" if rows[-1].conversion == "exact" else "least"
    print_table(
        ("conversion", "theorem", "ε, rounded safely", "bound", f"× {last}"),
        (
            (row.conversion, row.theorem or "all", x.rounded(), kind_label(x.claim),
             _times(ratio(x, known)))
            for row in rows if isinstance(x := row.epsilon, Enclosure)
        ),
    )  # fmt: skip
    print_relation(m)
    for row in rows:
        if isinstance(row.epsilon, str):
            print_prose(f"{row.name} has no answer: {row.epsilon}")


@expression_command("explain")
@click.option("--alpha", default="2", show_default=True, help="The order asked about.")
def explain_command(expr: str, alpha: str, digits: int, as_json: bool) -> None:
    """What EXPR is, and which theorem says what about each part of it."""
    explanation = explain(parse_open(expr), alpha)
    if as_json:
        print_json(explanation.as_dict())
    else:
        print_whole(_tree(explanation))


@main.command("theorems")
@json_option
def theorems_command(as_json: bool) -> None:
    """Every computable result of the papers.

    Each with its conditions, and with what to call for it.
    """
    rows = catalogue.rows()
    if as_json:
        print_json([row.as_dict() for row in rows])
        return
    print_table(
        ("source", "what it says", "relation", "orders", "kind", "status", "call"),
        (
            (row.source, row.says, row.adjacency, row.orders, row.kind, row.status,
             row.call or f"none: {row.why}")
            for row in rows
        ),
    )  # fmt: skip


@main.command("falsify")
@click.argument("theorem")
@click.option("--budget", default=20_000, show_default=True, help="Candidates to try.")
@click.option("--seed", default=0, show_default=True, help="The same seed, the same search.")
@json_option
def falsify_command(theorem: str, budget: int, seed: int, as_json: bool) -> None:
    """Search small finite mechanisms for a violation of THEOREM.

    THEOREM is the name of one, such as ZW19-T5, or of a conversion, such as improved.
    """
    attack = falsify(theorem, budget, seed)
    print_text(as_json, attack.as_dict(), str(attack), print_prose)


def _times(ratio: Enclosure | None) -> str:
    """A ratio to the exact value or the best lower bound, as far as it is known."""
    return "–" if ratio is None else format_shared(ratio.lower, ratio.upper, 5)


def _tree(explanation: Explanation) -> Tree:
    times = f"{explanation.count} × " if explanation.count > 1 else ""
    tree = Tree(Text(times + explanation.title, style="bold"))
    for label, text in explanation.lines():
        tree.add(Text.assemble((f"{label}: ", "dim"), text))
    for part in explanation.parts:
        tree.add(_tree(part))
    return tree
