"""Each record in one step of many, exactly: moments of a mean of ratios; docs/proofs.md, 30."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from symacct.arithmetic import BALL, Arithmetic, BallArithmetic, MpmathArithmetic, Number
from symacct.arithmetic.ball import precision, rational
from symacct.core.claims import ABOVE_ONE, ADD_REMOVE, Kind
from symacct.core.errors import DomainError
from symacct.core.exact import Order, exact
from symacct.core.sources import SYMACCT
from symacct.expressions.node import Node
from symacct.expressions.theorem_registry import theorem
from symacct.mechanisms import Gaussian
from symacct.numerics.lognormal.moments import LognormalMoments
from symacct.numerics.lognormal.transform import Lognormal
from symacct.operations.allocation import RandomAllocation
from symacct.theory.amplification.poisson.sampled_pairs import shape_ratio
from symacct.theory.rdp_curve import RDPCurve

_GUARD = 16  # bits of a moment beyond those that its logarithm has


def is_gaussian(node: Node) -> str | None:
    """Gaussian noise, in numbers."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if not isinstance(mechanism, Gaussian):
        return f"the moments are known of Gaussian noise, got {type(mechanism).__name__}"
    return "found an open symbol, needed numbers" if node.free_symbols else None


@theorem(
    "ALLOCATION-GAUSSIAN",
    operation=RandomAllocation,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs.md, section 30, Gaussian noise, the curves"),
    orders=ABOVE_ONE,
    adjacency=ADD_REMOVE,
    assumes="Gaussian noise, in numbers",
    applies=is_gaussian,
    tight=True,
    partial=True,
    monotone=True,
    status="proved",
)
def larger_direction(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int) -> Number:
    """ε′(α) = log max( E[S^α], E[S^{1−α}] )/(α−1), S the mean of T independent lognormal variables
    e^{N(−s²/2, s²)}, s = Δ/σ"""
    if steps == 1:
        return eps(alpha)
    if isinstance(ctx, BallArithmetic):
        removed = log_moment(eps, steps, alpha) / ctx.number(alpha - 1)
        if eps(1 + Fraction(alpha - 1) / steps) <= removed:  # what adding costs at most
            return removed
        return removed.max(log_moment(eps, steps, 1 - alpha) / ctx.number(alpha - 1))
    if isinstance(ctx, MpmathArithmetic):
        with precision(ctx.bits):
            found = larger_direction(BALL, eps.using(BALL), alpha, steps)
            return ctx.number(rational(found))
    raise DomainError(
        f"ALLOCATION-GAUSSIAN: found {type(ctx).__name__}, needed balls or mpmath: an integral is "
        "summed where the numbers say, so there is no one formula"
    )


def log_moment(eps: RDPCurve, steps: int, z: Order) -> arb:
    """log E[S^z] of the mean S, in balls at the precision now current."""
    known = eps.remember("moments of a mean")
    if known[steps] is None:
        law = Lognormal(exact(1 / exact(shape_ratio(eps.node)) ** 2))
        lost = math.log2(steps / law.variance) if law.variance < steps else 0.0
        known[steps] = LognormalMoments(law, steps, BALL.bits + math.ceil(lost) + _GUARD)
    with precision(known[steps].bits):
        moment = known[steps].moment(Fraction(z))
        found: arb = moment.log() - BALL.number(z) * arb(steps).log()
        return found
