"""The proof of an (ε, δ) guarantee by the profile itself: a sum over answers, or a contour."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from symacct.evidence.certificates.contour import ContourLine, plan
from symacct.evidence.certificates.expression import LAWS, parts_of, written
from symacct.evidence.certificates.refusal import no_certificate
from symacct.evidence.certificates.renyi import claimed_digits
from symacct.evidence.certificates.rounding import above, upper
from symacct.kernel.answer import Bound, Guarantee, to_fraction
from symacct.kernel.claims import ADD_REMOVE
from symacct.kernel.node import Node
from symacct.mechanisms import (
    DistributionPair,
    FiniteMechanism,
    Gaussian,
    PureDP,
    RandomizedResponse,
)
from symacct.operations.subsample import PoissonSubsample
from symacct.profile.answer import profile

_MOST_TERMS = 20_000  # of a sum over answers
_PROFILE_DIGITS = 8  # more than are claimed


def by_profile(
    guarantee: Guarantee, m: Node
) -> tuple[Fraction, Fraction, set[str], dict[str, Any]]:
    """ε and δ that are claimed, the theorems, and the proof for both directions."""
    parts = parts_of(m)
    leaves = [part.mechanism if isinstance(part, PoissonSubsample) else part for part, _ in parts]
    for (part, _), leaf in zip(parts, leaves, strict=True):
        sampled = part is not leaf and part.claim.adjacency != ADD_REMOVE
        text = written(part)[1]
        if type(leaf) not in (Gaussian, RandomizedResponse, PureDP, *LAWS) or sampled:
            raise no_certificate(f"{text} by the exact profile")
    if sum(count for _, count in parts) > 1:
        for leaf in leaves:
            if isinstance(leaf, FiniteMechanism | DistributionPair) and not leaf.swap_symmetric:
                raise no_certificate(f"several runs of {leaf!r}, of which no one pair is the worst")
    digits = claimed_digits(guarantee)
    asked = above(to_fraction(guarantee.asked.upper), digits)
    is_epsilon = isinstance(guarantee.epsilon, Bound)
    epsilon, delta = (asked, guarantee.given) if is_epsilon else (guarantee.given, asked)
    if not 0 < delta < 1:
        raise no_certificate(f"δ = {delta}")
    theorems = {"ZDW22", *("KOV15" for leaf in leaves if isinstance(leaf, PureDP))}
    if not any(isinstance(leaf, Gaussian) for leaf in leaves):
        ways = zip(parts, map(_outcomes, leaves), strict=True)
        if math.prod(math.comb(count + m - 1, m - 1) for (_, count), m in ways) > _MOST_TERMS:
            raise no_certificate(f"a sum of more than {_MOST_TERMS} terms")
        return epsilon, delta, theorems, {"method": "sum"}
    most = _largest(m, epsilon, digits + _PROFILE_DIGITS)
    lines = {
        direction: _shown(plan(parts, float(epsilon), math.log(delta - most), added))
        for direction, added in (("removed", False), ("added", True))
    }
    return epsilon, delta, theorems, {"method": "contour", **lines}


def _outcomes(leaf: Node) -> int:
    """How many outcomes tell different things, at most."""
    if isinstance(leaf, FiniteMechanism):
        return max(len({p / (p + q) for p, q in pair if p + q}) for pair in leaf.pairs)
    if isinstance(leaf, DistributionPair):
        return len({p / (p + q) for p, q in leaf.masses or () if p + q})
    return 2


def _largest(m: Node, epsilon: Fraction, digits: int) -> Fraction:
    """What δ(ε) is at most, in either direction."""
    found = profile(m).largest_delta(epsilon, digits)[0]
    return upper(found)


def _shown(line: ContourLine) -> dict[str, str]:
    return {"c": str(line.c), "step": str(line.step), "nodes": str(line.nodes)}
