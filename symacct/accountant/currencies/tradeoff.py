"""f-DP (Dong, Roth, Su 2022): how well an attacker can test who was in the data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from symacct.accountant.accountant import certified_number, refuse_symbols
from symacct.core.errors import (
    AssumptionError,
    DomainError,
    LimitError,
    PrecisionError,
    echo,
)
from symacct.core.exact import Numeric
from symacct.core.sources import DRS22
from symacct.expressions.node import Node, as_node
from symacct.expressions.parameters import rational
from symacct.profile import Profile, profile
from symacct.profile.tradeoff import second_error
from symacct.results.enclosure import Enclosure, ErrorBound, error_bound


def tradeoff(m: Node, alpha: Numeric, digits: int = 30) -> ErrorBound:
    """f(α) of the node; see `Node.tradeoff`."""
    m, level = as_node(m, "tradeoff"), rational(alpha, "tradeoff, alpha")
    if level > 1:
        raise DomainError(f"tradeoff, alpha: found {echo(alpha)}, needed 0 <= alpha <= 1")
    refuse_symbols(m)
    known = known_profile(m, "tradeoff")
    claim = replace(known.claim, sources=(DRS22.at("trade-off functions"), *known.claim.sources))

    def missed(of: Profile) -> Enclosure:
        return certified_number(
            lambda _: (second_error(of, level), claim),
            digits,
            f"tradeoff of {echo(m)} at {echo(level)}",
        )

    return error_bound(least_of(known, missed, largest=True))


def known_profile(m: Node, what: str) -> Profile:
    """The profile of a node; AssumptionError where no dominating pair is known."""
    try:
        return profile(m.rewritten)
    except AssumptionError:
        raise AssumptionError(
            f"{what}: found {echo(m)}, of which no dominating pair of laws is known, needed one: "
            "a curve says less than a test needs; ask epsilon(delta) for the bound from the curve"
        ) from None


def least_of(
    known: Profile, ask: Callable[[Profile], Enclosure], largest: bool = False
) -> Enclosure:
    """The smaller answer, or the larger, of two profiles that are both above the truth."""
    first = ask(known)
    if known.smoothed is None:
        return first
    with suppress(PrecisionError, LimitError):
        second = ask(known.smoothed)
        is_better = second.lower > first.lower if largest else second.upper < first.upper
        return second if is_better else first
    return first
