"""f-DP (Dong, Roth, Su 2022): how well an attacker can test who was in the data."""

from __future__ import annotations

from dataclasses import replace

from flint import arb

from symacct.accountant.accountant import Accountant, certified_number, refuse_symbols
from symacct.core.claims import Claim
from symacct.core.errors import AssumptionError, DomainError, echo
from symacct.core.exact import Numeric
from symacct.core.sources import DRS22
from symacct.expressions.node import Node, as_node
from symacct.expressions.parameters import rational
from symacct.profile import Profile, profile
from symacct.profile.tradeoff import second_error
from symacct.results.enclosure import ErrorBound, error_bound


def tradeoff(m: Node, alpha: Numeric, digits: int = 30) -> ErrorBound:
    """f(α) of the node; see `Node.tradeoff`."""
    m, level = as_node(m, "tradeoff"), rational(alpha, "tradeoff, alpha")
    if level > 1:
        raise DomainError(f"tradeoff, alpha: found {echo(alpha)}, needed 0 <= alpha <= 1")
    refuse_symbols(m)
    known = _profile(m)
    claim = replace(known.claim, sources=(DRS22.at("trade-off functions"), *known.claim.sources))

    def value(_: Accountant) -> tuple[arb, Claim]:
        return second_error(known, level), claim

    return error_bound(certified_number(value, digits, f"tradeoff of {echo(m)} at {echo(level)}"))


def _profile(m: Node) -> Profile:
    try:
        return profile(m.rewritten)
    except AssumptionError:
        raise AssumptionError(
            f"tradeoff: found {echo(m)}, of which no dominating pair of laws is known, needed one: "
            "a curve says less than a test needs; ask epsilon(delta) for the bound from the curve"
        ) from None
