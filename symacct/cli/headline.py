"""The number to report, first on the screen, with its relation and how it was found."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from symacct.accountant.accountant import Accountant
from symacct.accountant.reported import (
    BY_ORDERS,
    TRUE,
    Reported,
    against,
    best,
    may_be_smaller,
    pinned,
)
from symacct.cli.frame import OWN_CURVE, kind_label, print_json, shown_order
from symacct.core.claims import Kind
from symacct.core.errors import SymacctError
from symacct.core.pinning import By
from symacct.explore.calibration import Calibration, calibrate, number
from symacct.explore.comparison import ratio
from symacct.export.description import in_few_words, neighbours
from symacct.expressions.node import Node
from symacct.results.enclosure import Enclosure, Guarantee
from symacct.results.rounding import given
from symacct.results.terminal import print_pairs
from symacct.results.time_limit import OutOfTimeError

_PROFILE_DIGITS = 6


def print_reported(
    m: Node,
    found: Reported[Guarantee],
    document: dict[str, Any],
    as_json: bool,
    *,
    first: Mapping[str, str] | None = None,
    last: Iterable[tuple[str, str]] = (),
) -> None:
    """The headline, what stands behind it, and then what bounds it from below; or all as JSON.

    The document's own keys are of the answer by Rényi orders; `headline` is added to them. `first`
    are facts of the headline's own, such as the noise that was found.
    """
    g, first = found.best, first or {}
    if as_json:
        found_first = {"found": "; ".join(map(": ".join, first.items()))} if first else {}
        print_json(document | {"headline": {**found_first, **headline(found)}})
        return
    print_pairs(
        [
            ("report this", f"{_pair(g)}  ({g.asked.how_rounded()})"),
            *first.items(),
            ("relation", neighbours(g.claim.adjacency)),
            *([] if g.mechanism is None else [("of", in_few_words(g.mechanism))]),
            ("how", how(g)),
            *([] if found.in_time else [("not final", _late(g))]),
        ]
    )
    print_pairs([*_behind(found), *last])
    sys.stdout.flush()  # the answer waits for nothing more
    if rows := _beside(m, found):
        print_pairs(rows)


def calibrated(
    m: Node, epsilon: str, delta: str, digits: int, conversion: str | None, by: By = None
) -> Reported[Calibration]:
    """The parameter that meets a target, by the best that is proved unless something is pinned."""

    def ask(conversion: str) -> Calibration:
        return calibrate(m, epsilon, delta, digits=digits, conversion=conversion, by=by)

    def needs_more(exact: Calibration, by_orders: Calibration | None) -> str:
        why = against(exact.guarantee, None)
        if why or by_orders is None:
            return why
        less = by_orders.meets - exact.meets
        if less == 0 or (less > 0) == (exact.meets > exact.fails):  # noise falls, a rate rises
            return ""
        return f"the dominating pair gives no better than {number(exact.meets)}"

    if conversion is None and by is None:
        return best(ask, needs_more)
    return pinned(ask(conversion or BY_ORDERS))


def print_calibrated(
    found: Reported[Calibration],
    digits: int,
    as_json: bool,
    *,
    name: str | None = None,
    more: Mapping[str, Any] | None = None,
    last: Iterable[tuple[str, str]] = (),
) -> None:
    """What was found, called `name`, and the guarantee there; `more` is added to the JSON."""
    at, by_orders = found.best, found.by_orders or found.best
    epsilon = replace(at.guarantee.epsilon, digits_asked=digits)
    there = replace(at.guarantee, epsilon=epsilon)
    print_reported(
        at.node,
        Reported(there, None, found.not_exact, found.beside, found.in_time),
        {**by_orders.as_dict(), **(more or {})},
        as_json,
        first={name or at.symbol: _bracket(at)},
        last=[*([] if by_orders is at else [("by Rényi orders", _bracket(by_orders))]), *last],
    )


def _bracket(found: Calibration) -> str:
    return f"{number(found.meets)} meets the target, {number(found.fails)} does not"


def headline(found: Reported[Guarantee]) -> dict[str, Any]:
    """The guarantee to report, for JSON."""
    g = found.best
    report = f"{_pair(g)}: {neighbours(g.claim.adjacency)}"
    late = {} if found.in_time else {"not_final": _late(g)}
    return {"report": report, "how": how(g), **late, **g.as_dict()}


def _late(g: Guarantee) -> str:
    said = may_be_smaller(g, f"--conversion {TRUE}")
    return f"{said[0].upper()}{said[1:]}."


def how(g: Guarantee) -> str:
    """How a guarantee was found, in a sentence."""
    letter = _letter(g)
    if g.kind is Kind.EXACT:
        said = f"This is the smallest {letter} that is true, from the exact privacy profile"
    elif g.needs_no_order:
        said = f"This is an upper bound on {letter}, from the profile of a dominating pair"
    else:
        theorems = ", ".join(g.claim.theorems) or OWN_CURVE
        order = shown_order(g.alpha, g.asked.digits_asked)
        said = (
            f"This is an upper bound on {letter}, from Rényi order {order} by {theorems} and the "
            f"{g.conversion} conversion"
        )
    proved = "every digit is proved" if g.asked.certified and g.claim.certified else "not certified"
    return f"{said}; {proved}."


def _pair(g: Guarantee) -> str:
    letter, other = ("ε", "δ") if g.epsilon is g.asked else ("δ", "ε")
    return f"{letter} = {g.asked.rounded()} at {other} = {given(g.given)}"


def _letter(g: Guarantee) -> str:
    return "ε" if g.epsilon is g.asked else "δ"


def _behind(found: Reported[Guarantee]) -> Iterable[tuple[str, str]]:
    """What the headline rests on, and what Rényi orders give."""
    g, letter = found.best, _letter(found.best)
    if found.not_exact and found.in_time:  # else the box above says it
        yield f"true {letter}", found.not_exact
    if g.needs_no_order:
        yield "sources", "; ".join(map(str, g.claim.sources))
        if g.note:
            yield "not had", g.note
    by_orders = g if found.by_orders is None else found.by_orders
    if by_orders is not g:
        yield "by Rényi orders", f"{by_orders.asked.rounded()}{_times(by_orders.asked, g.asked)}"
    if not by_orders.needs_no_order:
        yield from _order_facts(by_orders)


def _order_facts(g: Guarantee) -> Iterable[tuple[str, str]]:
    """The Rényi order, the theorems and their sources."""
    yield "order α", shown_order(g.alpha, g.asked.digits_asked)
    yield "best order", "proved" if g.optimal else "sound, not proved the best"
    yield "conversion", g.conversion
    if g.note:
        yield "not had", g.note
    yield "theorems", ", ".join(g.claim.theorems) or OWN_CURVE
    yield "sources", "; ".join(map(str, g.claim.sources))
    yield "curve", kind_label(g.claim)


def _beside(m: Node, found: Reported[Guarantee]) -> list[tuple[str, str]]:
    """The true number where another was pinned, or what it is at least where it is not known.

    What takes longer than `limits(beside=…)` allows is left out, and said to be.
    """
    rows: list[tuple[str, str]] = []
    g, beside = found.best, found.beside
    if g.kind is Kind.EXACT:
        return rows
    accountant = Accountant(_PROFILE_DIGITS)  # of its own: what is given up is forgotten
    name, lower = ("epsilon", "lower_epsilon") if g.epsilon is g.asked else ("delta", "lower_delta")
    ask, ask_least = getattr(accountant, name), getattr(accountant, lower)
    if found.by_orders is None and g.conversion != "exact":
        try:
            with contextlib.suppress(SymacctError):
                known = beside.ask(lambda: ask(m, g.given, "exact"))
                if known.kind is Kind.EXACT:
                    return [("exact", _compared(g.asked, known.asked))]
                if known.asked.upper < g.asked.lower:
                    rows.append(("at most", _compared(g.asked, known.asked)))
        except OutOfTimeError:
            rows.append(("exact", beside.left_out("--conversion exact")))
    try:
        with contextlib.suppress(SymacctError):
            least = beside.ask(lambda: ask_least(m, g.given))
            if least.lower > 0:
                rows.append(("at least", _compared(g.asked, least)))
    except OutOfTimeError:
        rows.append(("at least", beside.left_out(f"in Python m.{lower}('{given(g.given)}')")))
    return rows


def _compared(asked: Enclosure, truth: Enclosure) -> str:
    """A number and how many times that was answered."""
    times = ratio(asked, truth)
    loose = "" if times is None else f"; the answer is {times:.4g} times that"
    return f"{truth.rounded(_PROFILE_DIGITS)}{loose}"


def _times(more: Enclosure, less: Enclosure) -> str:
    """How many times the headline it is."""
    if more.rounded() == less.rounded():
        return "  (the same)"
    times = ratio(more, less)
    return "" if times is None else f"  ({times:.4g} times the number to report)"
