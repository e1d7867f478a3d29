"""Questions to one expression: rdp, epsilon, delta."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any

import click

from symacct.accountant.accountant import ENGINES, Accountant
from symacct.cli.frame import (
    OWN_CURVE,
    by_option,
    expression_command,
    how_options,
    in_numbers,
    kind_label,
    print_facts,
    print_json,
    shown_order,
)
from symacct.cli.relation import print_relation, protected
from symacct.core.claims import Kind
from symacct.core.errors import SymacctError
from symacct.core.exact import order
from symacct.core.pinning import By
from symacct.explore.comparison import ratio
from symacct.expressions.node import Node
from symacct.results.enclosure import Enclosure, Guarantee
from symacct.results.progress import progress
from symacct.results.rounding import given
from symacct.results.terminal import print_pairs, print_table
from symacct.results.time_limit import Beside, OutOfTimeError

_PROFILE_DIGITS = 6


@expression_command("rdp")
@click.option("--alpha", required=True, multiple=True, help="Order in [1, inf]; repeatable.")
@by_option
@click.option("--engine", default="ball", show_default=True, type=click.Choice(ENGINES))
@click.option("--lower", is_flag=True, help="The best lower bound instead.")
def rdp(
    expr: str,
    alpha: tuple[str, ...],
    by: By,
    engine: str,
    lower: bool,
    digits: int,
    as_json: bool,
) -> None:
    """ε(α) of EXPR at one or more orders."""
    from symacct.export.tables import as_printed  # with all that writes formulas

    m = in_numbers(expr)
    accountant = Accountant(digits, engine)
    ask = accountant.lower_bound if lower else functools.partial(accountant.rdp, by=by)
    exactly = engine == "ball" and not lower
    with progress("rdp"):
        answers = {a: ask(m, a) for a in alpha}
        texts = {
            a: as_printed(x, m, order(a), by, digits) if exactly else x.rounded()
            for a, x in answers.items()
        }
    if as_json:
        rows = [{"alpha": a, **x.as_dict(), "value": texts[a]} for a, x in answers.items()]
        print_json(rows)
        return
    print_table(
        ("order α", "ε(α), rounded safely", "kind", "theorem"),
        (
            (a, texts[a], kind_label(x.claim), ", ".join(x.claim.theorems) or OWN_CURVE)
            for a, x in answers.items()
        ),
    )
    print_relation(m)


@expression_command("epsilon")
@click.option("--delta", required=True, help="δ in [0, 1).")
@how_options
def epsilon(expr: str, delta: str, how: dict[str, Any], digits: int, as_json: bool) -> None:
    """The smallest ε of EXPR at this δ, beside the true one."""
    m = in_numbers(expr)
    with progress("epsilon"):
        guarantee = Accountant(digits).epsilon(m, delta, **how)
    print_guarantee(m, guarantee, ("ε", "δ"), as_json)


@expression_command("delta")
@click.option("--epsilon", required=True, help="ε >= 0.")
@how_options
def delta(expr: str, epsilon: str, how: dict[str, Any], digits: int, as_json: bool) -> None:
    """The smallest δ of EXPR at this ε, beside the true one."""
    m = in_numbers(expr)
    with progress("delta"):
        guarantee = Accountant(digits).delta(m, epsilon, **how)
    print_guarantee(m, guarantee, ("δ", "ε"), as_json)


def print_beside(m: Node, g: Guarantee) -> None:
    """Print below an answer the true number, or bounds of it where the laws of m are not known.

    What takes longer than `limits(beside=…)` allows is left out, and said to be.
    """
    sys.stdout.flush()  # the answer waits for nothing
    if rows := _truth(m, g):
        print_pairs(rows)


def _truth(m: Node, g: Guarantee) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    if g.kind is Kind.EXACT:
        return rows
    # Of its own: what is given up half way is forgotten.
    accountant, beside = Accountant(_PROFILE_DIGITS), Beside()
    name, lower = ("epsilon", "lower_epsilon") if g.epsilon is g.asked else ("delta", "lower_delta")
    ask, ask_least = getattr(accountant, name), getattr(accountant, lower)
    try:
        with contextlib.suppress(SymacctError):
            known = beside.ask(lambda: ask(m, g.given, "exact"))
            if known.kind is Kind.EXACT:
                return [("exact", _beside(g.asked, known.asked))]
            if g.conversion != "exact" and known.asked.upper < g.asked.lower:
                rows.append(("at most", _beside(g.asked, known.asked)))
    except OutOfTimeError:
        rows.append(("exact", beside.left_out("--conversion exact")))
    try:
        with contextlib.suppress(SymacctError):
            least = beside.ask(lambda: ask_least(m, g.given))
            if least.lower > 0:
                rows.append(("at least", _beside(g.asked, least)))
    except OutOfTimeError:
        rows.append(("at least", beside.left_out(f"in Python m.{lower}('{given(g.given)}')")))
    return rows


def _beside(asked: Enclosure, truth: Enclosure) -> str:
    """A number and how many times that was answered."""
    times = ratio(asked, truth)
    loose = "" if times is None else f"; the answer is {times:.4g} times that"
    return f"{truth.rounded(_PROFILE_DIGITS)}{loose}"


def order_facts(g: Guarantee, digits: int) -> list[tuple[str, str]]:
    """The Rényi order and the theorems behind a guarantee; of the true profile there is none."""
    not_had = [("not had", g.note)] if g.note else []
    if g.needs_no_order:
        how = f"{g.conversion}, by the laws themselves: no Rényi order"
        return [("conversion", how), *not_had]
    return [
        ("order α", shown_order(g.alpha, digits)),
        ("best order", "proved" if g.optimal else "sound, not proved the best"),
        ("conversion", g.conversion),
        *not_had,
        ("theorems", ", ".join(g.claim.theorems) or OWN_CURVE),
    ]


def print_guarantee(m: Node, g: Guarantee, letters: tuple[str, str], as_json: bool) -> None:
    print_facts(
        as_json,
        g.as_dict(),
        (letters[0], f"{g.asked.rounded()}  (rounded up)"),
        ("given", f"{letters[1]} = {given(g.given)}"),
        *protected(g),
        *order_facts(g, g.asked.digits_asked),
        ("sources", "; ".join(map(str, g.claim.sources))),
        ("claim", f"{kind_label(g.asked.claim)}, {g.claim.adjacency}"),
        ("curve", kind_label(g.claim)),
    )
    if not as_json:
        print_beside(m, g)
