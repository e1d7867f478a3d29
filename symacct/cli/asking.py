"""Questions to one expression: rdp, epsilon, delta."""

from __future__ import annotations

import contextlib
import functools
from fractions import Fraction

import click
from rich.table import Table

import symacct
from symacct.accountant import ENGINES, Accountant
from symacct.cli.frame import (
    by_option,
    console,
    conversion_option,
    expression_command,
    kind_label,
    orders_of_search,
    orders_option,
    print_json,
)
from symacct.enclosure import Enclosure, Guarantee
from symacct.errors import SymacctError
from symacct.exact import INFINITY, order
from symacct.explore.comparison import ratio
from symacct.export.tables import as_printed
from symacct.expr import Node
from symacct.rounding import given

_PROFILE_DIGITS = 6


@expression_command("rdp")
@click.option("--alpha", required=True, multiple=True, help="Order in [1, inf]; repeatable.")
@by_option
@click.option("--engine", default="ball", show_default=True, type=click.Choice(ENGINES))
@click.option("--lower", is_flag=True, help="The best lower bound instead.")
def rdp(
    expr: str,
    alpha: tuple[str, ...],
    by: str | None,
    engine: str,
    lower: bool,
    digits: int,
    as_json: bool,
) -> None:
    """ε(α) of EXPR at one or more orders."""
    m = symacct.parse(expr)
    accountant = Accountant(digits, engine)
    ask = accountant.lower_bound if lower else functools.partial(accountant.rdp, by=by)
    answers = {a: ask(m, a) for a in alpha}
    exactly = engine == "ball" and not lower
    texts = {
        a: as_printed(x, m, order(a), by, digits) if exactly else x.rounded()
        for a, x in answers.items()
    }
    if as_json:
        rows = [{"alpha": a, **x.as_dict(), "value": texts[a]} for a, x in answers.items()]
        print_json(rows)
        return
    table = Table("order α", "ε(α), rounded safely", "kind", "theorem")
    for a, x in answers.items():
        table.add_row(a, texts[a], kind_label(x.claim), ", ".join(x.claim.theorems))
    console().print(table)


@expression_command("epsilon")
@click.option("--delta", required=True, help="δ in [0, 1).")
@conversion_option
@orders_of_search
@by_option
def epsilon(
    expr: str,
    delta: str,
    conversion: str,
    orders: str | None,
    by: str | None,
    digits: int,
    as_json: bool,
) -> None:
    """The smallest ε of EXPR at this δ."""
    m = symacct.parse(expr)
    guarantee = m.epsilon(delta, digits, conversion, orders_option(orders), by)
    truth = None if as_json or conversion == "exact" else exactly(m, delta)
    print_guarantee(guarantee, ("ε", "δ"), guarantee.delta, as_json, truth)


@expression_command("delta")
@click.option("--epsilon", required=True, help="ε >= 0.")
@conversion_option
@orders_of_search
@by_option
def delta(
    expr: str,
    epsilon: str,
    conversion: str,
    orders: str | None,
    by: str | None,
    digits: int,
    as_json: bool,
) -> None:
    """The smallest δ of EXPR at this ε."""
    m = symacct.parse(expr)
    guarantee = m.delta(epsilon, digits, conversion, orders_option(orders), by)
    print_guarantee(guarantee, ("δ", "ε"), guarantee.epsilon, as_json)


def exactly(m: Node, delta: str) -> Enclosure | None:
    """The true ε, where the laws of m are known."""
    with contextlib.suppress(SymacctError):
        return m.epsilon(delta, _PROFILE_DIGITS, "exact").epsilon
    return None


def print_guarantee(
    g: Guarantee,
    letters: tuple[str, str],
    stated: Fraction,
    as_json: bool,
    truth: Enclosure | None = None,
) -> None:
    if as_json:
        print_json(g.as_dict())
        return
    table = Table(show_header=False)
    table.add_row(letters[0], f"{g.asked.rounded()}  (rounded up)")
    if truth is not None:
        times = ratio(g.asked, truth)
        loose = "" if times is None else f"; {letters[0]} is {times:.4g} times that"
        table.add_row("exact", f"{truth.rounded(_PROFILE_DIGITS)}{loose}")
    table.add_row("given", f"{letters[1]} = {given(stated)}")
    table.add_row("order α", "∞" if g.alpha == INFINITY else f"{float(g.alpha):.12g}")
    table.add_row("best order", "proved" if g.optimal else "sound, not proved the best")
    table.add_row("conversion", g.conversion)
    table.add_row("theorems", ", ".join(g.claim.theorems) or "the mechanism's own curve")
    table.add_row("sources", "; ".join(map(str, g.claim.sources)))
    table.add_row("claim", f"{kind_label(g.asked.claim)}, {g.claim.adjacency}")
    table.add_row("curve", kind_label(g.claim))
    console().print(table)
