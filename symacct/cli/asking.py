"""Questions to one expression: rdp, epsilon, delta, risk."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

import click

from symacct.cli.frame import HOW, Orders, Reply, command, in_numbers
from symacct.export.description import OWN_CURVE, about, is_open, kind_label
from symacct.kernel.accountant import ENGINES, Accountant, asked_of
from symacct.kernel.answer import Guarantee
from symacct.kernel.claims import Adjacency, with_relation
from symacct.kernel.deadline import progress
from symacct.kernel.exact import order
from symacct.kernel.node import Node
from symacct.kernel.parameters import By
from symacct.papers.report import PrivacyReport, Row
from symacct.results.screen import Tabled

#: This says what to type where a relation is left open.
_SAY_WHICH = "say which by --adjacency add_remove, replace_one or zero_out"


def relation(m: Node, adjacency: Adjacency | None) -> Adjacency:
    """Return the relation of m, or the one that is said where m leaves it open.

    AdjacencyError for one that does not hold.
    """
    stated = m.claim.adjacency
    return stated if adjacency is None else with_relation(stated, adjacency)


def answer(expr: str, adjacency: Adjacency | None = None, **question: Any) -> Guarantee:
    """Ask for the number to report of an expression, for the relation that is said, if one is.

    `question` is that of `asked_of`. InputError for a parameter without a value.
    """
    m = in_numbers(expr)
    relation(m, adjacency)  # another one is refused before anything is computed
    g = asked_of(m, **question)
    return g if adjacency is None else g.under(adjacency)


def reported(
    report: PrivacyReport,
    more: bool,
    document: dict[str, Any] | None = None,
    first: Iterable[Row] = (),
    last: Iterable[Row] = (),
) -> Reply:
    """Make the reply of a report, with what stands behind it if there is `more`.

    `document` is added to its JSON, `first` to its headline, and `last` to what it rests on.
    """

    def as_dict() -> dict[str, Any]:
        by_orders = report.by_orders if more else None
        below = {} if by_orders is None else {"by_orders": by_orders.as_dict()}
        return {**report.as_dict(), **(document or {}), **below}

    return Reply(as_dict, lambda: report._screen_(more, first, last))


@command("rdp", "by digits adjacency")
def rdp(
    expr: str,
    /,
    alpha: Orders,
    by: By,
    digits: int,
    adjacency: Adjacency | None,
    engine: Annotated[str, click.Choice(ENGINES)] = "ball",
    lower: bool = False,
) -> Reply:
    """Print the Rényi privacy loss ε(α) of EXPR at orders α.

    \b
    Example:
      symacct rdp "PoissonSubsample(Gaussian(5), 1/1000)" --alpha 2 --alpha 8
    \f
    engine: The arithmetic to use. Only the digits of ball are proved.
    lower: Print the best lower bound.
    """
    from symacct.export.tables import as_printed  # with all that writes formulas

    m = in_numbers(expr)
    under = relation(m, adjacency)
    accountant = Accountant(digits, engine)
    ask = accountant.lower_bound if lower else functools.partial(accountant.rdp, by=by)
    with progress("rdp"):
        enclosures = {a: ask(m, a) for a in alpha}
        answers = {a: replace(x, claim=x.claim.under(under)) for a, x in enclosures.items()}
        texts = {
            a: x.rounded() if lower or engine != "ball" else as_printed(x, m, order(a), by, digits)
            for a, x in answers.items()
        }
    headers = ("order α", "ε(α), rounded safely", "kind", "theorem")
    cells = (
        (a, texts[a], kind_label(x.claim), ", ".join(x.claim.theorems) or OWN_CURVE)
        for a, x in answers.items()
    )
    return Reply(
        lambda: [{"alpha": a, **x.as_dict(), "value": texts[a]} for a, x in answers.items()],
        lambda: [Tabled(headers, cells), f"relation: {about(m, under)}"],
    )


@command("epsilon", f"delta {HOW} adjacency more", Node.epsilon)
def epsilon(expr: str, /, as_json: bool = False, **question: Any) -> Reply:
    """Print the smallest ε that is proved for EXPR at a δ.

    \b
    Example:
      symacct epsilon "1000 * PoissonSubsample(Gaussian(2), 1/100)" --delta 1e-6
    """
    return _answer(expr, as_json, **question)


@command("delta", f"epsilon {HOW} adjacency more", Node.delta)
def delta(expr: str, /, as_json: bool = False, **question: Any) -> Reply:
    """Print the smallest δ that is proved for EXPR at an ε.

    \b
    Example:
      symacct delta "1000 * PoissonSubsample(Gaussian(2), 1/100)" --epsilon 1
    """
    return _answer(expr, as_json, **question)


def _answer(expr: str, as_json: bool, more: bool, **question: Any) -> Reply:
    """Answer the commands epsilon and delta; a screen says how to close an open relation."""
    g = answer(expr, **question)
    is_said = as_json or not is_open(g.claim.adjacency, g.mechanism)
    return reported(PrivacyReport(g, relation_why="" if is_said else _SAY_WHICH), more)
