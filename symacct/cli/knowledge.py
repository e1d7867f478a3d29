"""What is known: compare, explain, theorems, falsify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import shorten
from typing import Any

import click
from rich.text import Text
from rich.tree import Tree

from symacct.accountant.accountant import Accountant, asked_of
from symacct.adversary.falsify import falsify
from symacct.cli import theorem_sheet
from symacct.cli.frame import (
    ALPHA_HELP,
    EPILOG,
    InputError,
    digits_option,
    expression_command,
    in_numbers,
    json_option,
    listed_orders,
    main,
    print_json,
    print_note,
    print_text,
)
from symacct.cli.relation import print_relation
from symacct.core.errors import DomainError
from symacct.core.exact import order
from symacct.explore.comparison import (
    ConvertedEpsilon,
    TheoremRow,
    compare,
    compare_epsilon,
    ratio,
    times_text,
)
from symacct.export.description import KIND_LABELS, about, kind_label
from symacct.export.explanation import Explanation, explain
from symacct.export.tables import as_printed
from symacct.expressions.node import Node
from symacct.expressions.theorem_registry import PROVED, known_as
from symacct.papers.report import PrivacyReport
from symacct.results.enclosure import Enclosure
from symacct.results.progress import progress
from symacct.results.terminal import console, print_prose, print_table, print_whole
from symacct.text import parse_open
from symacct.theory import catalogue


@main.command("compare", epilog=EPILOG)
@click.argument("exprs", metavar="EXPR...", nargs=-1, required=True)
@click.option("--alpha", multiple=True, help=ALPHA_HELP)
@click.option("--delta", help="Compare ε at this δ.")
@digits_option
@json_option
def compare_command(
    exprs: tuple[str, ...], alpha: tuple[str, ...], delta: str | None, digits: int, as_json: bool
) -> None:
    """Compare the theorems that apply to EXPR, or several expressions.

    For one EXPR and --alpha, each row is a theorem. Lower bounds come first, and each value is
    followed by its ratio to the best known value. With --delta, each row is an ε by one conversion
    and theorem. The smallest proved ε comes first. If the true ε is not known, its best lower bound
    comes last. For several EXPR, each row is the best proved value of one of them.

    \b
    Examples:
      symacct compare "PoissonSubsample(Gaussian(5), 1/1000)" --alpha 8
      symacct compare "Gaussian(2)" "Laplace(2)" --delta 1e-5
    """
    if (delta is None) == (not alpha):
        raise DomainError(
            "compare: needed --alpha or --delta, and one of them only, as in --delta 1e-5"
        )
    alpha, nodes = listed_orders(alpha), list(map(in_numbers, exprs))
    if len(nodes) > 1:
        _side_by_side(nodes, alpha, delta, digits, as_json)
    elif delta is not None:
        print_epsilons(nodes[0], compare_epsilon(nodes[0], delta, digits), as_json)
    else:
        _print_theorems(nodes[0], alpha, digits, as_json)


def _side_by_side(
    nodes: list[Node], alpha: tuple[str, ...], delta: str | None, digits: int, as_json: bool
) -> None:
    """A row for each of several expressions: the number to report of each, or its curve."""
    if delta is None:
        accountant = Accountant(digits)
        values = [[accountant.rdp(m, a) for a in alpha] for m in nodes]
        shown = [
            [as_printed(x, m, order(a), None, digits) for x, a in zip(row, alpha, strict=True)]
            for m, row in zip(nodes, values, strict=True)
        ]
        documents: list[dict[str, Any]] = [{"values": [x.as_dict() for x in row]} for row in values]
        columns = [f"ε({a})" for a in alpha]
    else:
        found = [PrivacyReport(asked_of(m, delta, digits=digits)) for m in nodes]
        shown = [[one.guarantee.asked.rounded(), one.how] for one in found]
        documents = [one.as_dict() for one in found]
        columns = [f"ε to report at δ = {delta}", "how"]
    if as_json:
        named = zip(nodes, documents, strict=True)
        print_json([{"expression": repr(m), **document} for m, document in named])
        return
    print_table(
        ("expression", *columns, "relation"),
        ((repr(m), *row, about(m)) for m, row in zip(nodes, shown, strict=True)),
    )


def _print_theorems(m: Node, alpha: tuple[str, ...], digits: int, as_json: bool) -> None:
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
    measure = next((row for row in rows if row.measures), rows[0])
    known = measure.epsilon if isinstance(measure.epsilon, Enclosure) else None
    cells = [
        (row.conversion, row.theorem or "all", x.rounded(), kind_label(x.claim),
         _times(ratio(x, known)))
        for row in rows if isinstance(x := row.epsilon, Enclosure)
    ]  # fmt: skip
    if cells:
        columns = ("conversion", "theorem", "ε, rounded safely", "bound", f"× {measure.conversion}")
        print_table(columns, cells)
    print_relation(m)
    for row in rows:
        if isinstance(row.epsilon, str):
            print_prose(f"{row.name} has no answer: {row.epsilon}")


@expression_command("explain")
@click.option("--alpha", help="Explain ε(α) at this Rényi order. The default order is 2.")
@click.option("--delta", help="Explain the ε to report at this δ.")
@click.option("--epsilon", help="Explain the δ to report at this ε.")
def explain_command(
    expr: str,
    alpha: str | None,
    delta: str | None,
    epsilon: str | None,
    digits: int,
    as_json: bool,
) -> None:
    """Describe EXPR, and name the theorem that bounds each of its parts.

    With --delta or --epsilon the number is the one that the commands epsilon and delta report. It
    may come from the exact privacy profile.

    \b
    Examples:
      symacct explain "1000 * PoissonSubsample(Gaussian(2), 1/100)" --alpha 8
      symacct explain "1000 * PoissonSubsample(Gaussian(2), 1/100)" --delta 1e-6
    """
    if sum(one is not None for one in (alpha, delta, epsilon)) > 1:
        raise InputError("explain: needed one of --alpha, --delta and --epsilon")
    if delta is None and epsilon is None:
        explanation = explain(parse_open(expr), alpha)
    else:
        with progress("explain"):
            found = asked_of(in_numbers(expr), delta, epsilon, digits=digits)
        explanation = PrivacyReport(found).explain()
    if as_json:
        print_json(explanation.as_dict())
    else:
        print_whole(_tree(explanation))
        if (alpha, delta, epsilon) == (None, None, None):
            print_prose("This is about ε(2); --delta explains the number to report.")


@main.command("theorems")
@click.argument("words", nargs=-1, metavar="[NAME]")
@json_option
def theorems_command(words: tuple[str, ...], as_json: bool) -> None:
    """List the theorems of the papers, or those that match NAME.

    NAME is the code of a theorem, such as ZW19-T8, or words of its row. A row is listed if it has
    each of the words, and the rows that are about the words come first. If no row has all of the
    words, the rows that have the most of them are listed. If none has one, the rows of a similar
    word are listed. Without NAME, or if many rows match, each row has one line. Otherwise the
    command shows what a theorem says, what it assumes, where its proof is, and a command and a line
    of Python that compute it.

    \b
    Examples:
      symacct theorems ZW19-T8
      symacct theorems shuffle
      symacct theorems poisson gaussian
    """
    rows = catalogue.rows()
    if words:
        rows, instead = catalogue.matching(" ".join(words))
        if instead:
            print_note(f"Note: {instead}")
    sheets = theorem_sheet.folded(rows)
    in_full = len(sheets) <= _IN_FULL
    if as_json:
        print_json([theorem_sheet.as_dict(row) if in_full else row.as_dict() for row in rows])
    elif in_full:
        for place, alike in enumerate(sheets):
            if place:
                click.echo()
            theorem_sheet.print_sheet(alike)
    else:
        _print_index(rows, bool(words))


_IN_FULL = 4  # rows at most that are shown with all that they say
_SHORT = 50  # signs at least of what a row says in a line of the index
_FRAME = 7  # signs of the lines between and around two columns
_LONGEST_CALL = 40  # signs of a call in the index; a longer one leaves too little for the formula


def _print_index(rows: list[catalogue.CatalogueRow], are_asked: bool) -> None:
    """A line for each row; of the whole table the papers first, and then what by= takes."""
    if not are_asked:
        print_table(("paper", "work"), catalogue.papers().items())
        rows = [row for row in rows if known_as(row.call) is not None]
    lines = [(_label(alike[0]), alike[0].says) for alike in theorem_sheet.folded(rows)]
    room = max(_SHORT, console().width - max(len(label) for label, _ in lines) - _FRAME)
    print_table(
        ("code, call or place", "what it says"),
        ((label, shorten(says, room, placeholder=" …")) for label, says in lines),
    )
    print_prose(
        "symacct theorems CODE shows one of these in full, as symacct theorems with a call or a "
        "place does; and symacct theorems WORD, such as amplification, shows those that contain "
        "the word; --json shows all."
    )


def _label(row: catalogue.CatalogueRow) -> str:
    """What shows the row in full: its code or call, or its place where that says something else."""
    return row.call if row.call and row.is_stated and len(row.call) <= _LONGEST_CALL else row.source


@main.command("falsify")
@click.argument("theorem")
@click.option("--budget", default=20_000, show_default=True, help="How many mechanisms are tried.")
@click.option("--seed", default=0, show_default=True, help="The same seed repeats the same search.")
@json_option
def falsify_command(theorem: str, budget: int, seed: int, as_json: bool) -> None:
    """Search for a small mechanism that violates THEOREM.

    THEOREM is the code of a theorem, such as ZW19-T5, or the name of a conversion, such as
    improved.

    \b
    Example:
      symacct falsify ZW19-T5 --budget 200
    """
    attack = falsify(theorem, budget, seed)
    print_text(as_json, attack.as_dict(), str(attack), print_prose)


def _times(ratio: Enclosure | None) -> str:
    """A ratio to the exact value or the best lower bound, as far as it is known."""
    return "–" if ratio is None else times_text(ratio)


def _tree(explanation: Explanation) -> Tree:
    times = f"{explanation.count} × " if explanation.count > 1 else ""
    tree = Tree(Text(times + explanation.title, style="bold"))
    for label, text in explanation.lines():
        tree.add(Text.assemble((f"{label}: ", "dim"), text))
    for part in explanation.parts:
        tree.add(_tree(part))
    return tree
