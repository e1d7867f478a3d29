"""Mechanisms whose worst pair is known: the sampled curve itself, at every real order.

If one pair (P, Q) dominates and an involution that preserves the measure swaps P and Q, then
E_Q[m^α], m = (1−γ) + γP/Q, is at least the other direction (MTZ19 Theorem 5), so
ε′(α) = log E_Q[m^α]/(α−1) for every real α > 1, and ε′(1) = E_Q[m log m].
"""

from __future__ import annotations

from fractions import Fraction

from symacct.analysis.sampled_gaussian import sampled_gaussian_local
from symacct.kernel.arithmetic import Arithmetic, BallArithmetic, Number
from symacct.kernel.claims import ADD_REMOVE, ALL_ORDERS, FINITE_ORDERS, Kind
from symacct.kernel.exact import INFINITY, Exact, Order
from symacct.kernel.node import Mechanism, Node
from symacct.kernel.sources import MTZ19
from symacct.kernel.sums.local import LocalProduct
from symacct.kernel.theorem_registry import theorem
from symacct.mechanisms import DistributionPair, Gaussian
from symacct.mechanisms.integers.integer_noise import IntegerNoise
from symacct.mechanisms.laplace import LaplacePair
from symacct.mechanisms.mixtures import noise
from symacct.mechanisms.response import ResponsePair
from symacct.operations.subsample import SAMPLINGS
from symacct.theory.amplification.poisson.finite_pairs import is_pair, largest_divergence
from symacct.theory.amplification.poisson.sampled_pairs import (
    excess,
    relative_entropy,
    rising_in_rate,
    shape_ratio,
)
from symacct.theory.amplification.poisson.zw19 import sampled_pure
from symacct.theory.rdp_curve import RDPCurve

_SWAPPED = "one pair $(P, Q)$ dominates, and an involution that preserves the measure swaps it"


def is_gaussian(node: Node) -> str | None:
    """The worst pair is N(Δ, σ²) against N(0, σ²)."""
    mechanism = as_noise(node.mechanism)  # type: ignore[attr-defined]
    return None if isinstance(mechanism, Gaussian) else "the mechanism is not the Gaussian one"


def has_known_pair(node: Node) -> str | None:
    """The worst pair is that of randomized response or of noise, or the two laws given."""
    if isinstance(node.mechanism, DistributionPair):  # type: ignore[attr-defined]
        return is_pair(node)
    if isinstance(as_noise(node.mechanism), ResponsePair | LaplacePair | IntegerNoise):  # type: ignore[attr-defined]
        return None
    return "no closed form is known for the mechanism's worst pair"


def as_noise(mechanism: Node) -> Node:
    """The Gaussian or Laplace mechanism that two laws of one shape are; else as it is."""
    if isinstance(mechanism, DistributionPair) and mechanism.masses is None:
        return noise(mechanism.P, mechanism.Q) or mechanism
    return mechanism


def _sampled_gaussian_local(eps: RDPCurve, middle: int, gamma: Exact) -> LocalProduct | None:
    """E_Q[m^α] at a rational γ of noise whose σ/Δ is rational."""
    ratio = shape_ratio(as_noise(eps.node))
    if not isinstance(ratio, Fraction) or not isinstance(gamma, Fraction):
        return None
    found = sampled_gaussian_local(middle, gamma, ratio)
    return None if found is None else LocalProduct(1, found)


@theorem(
    "MTZ19-EXACT",
    operation=SAMPLINGS,
    kind=Kind.EXACT,
    source=MTZ19.at("Theorems 4 and 5, Corollary 7, Section 3.3"),
    orders=FINITE_ORDERS,
    adjacency=ADD_REMOVE,
    assumes=_SWAPPED,
    applies=is_gaussian,
    local=_sampled_gaussian_local,
    tight=True,
    takes_exact=True,
    monotone=True,
    status="proved",
)
@rising_in_rate
def sampled_gaussian(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log E_{z~N(0,σ²)}[ (1−γ+γe^{(2Δz−Δ²)/(2σ²)})^α ]/(α−1), for any real
    α > 1"""
    return from_pair(ctx, eps, alpha, gamma)


@theorem(
    "PAIR-EXACT",
    operation=SAMPLINGS,
    kind=Kind.EXACT,
    source=MTZ19.at(
        "Theorem 5, for randomized response, noise and laws that an involution swaps; "
        "VEH14 Theorem 13 for other laws"
    ),
    orders=ALL_ORDERS,
    adjacency=ADD_REMOVE,
    assumes=f"{_SWAPPED}; or neighbouring datasets give two known laws, in any order "
    "unless the pair states the order",
    applies=has_known_pair,
    tight=True,
    takes_exact=True,
    monotone=True,
    status="proved",
)
@rising_in_rate
def sampled_pair(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log E_Q[ (1−γ+γP/Q)^α ]/(α−1), for any real α > 1; for two known laws it is
    the largest of this, of log E_Q[ (1−γ+γP/Q)^{1−α} ]/(α−1), and of both with P and Q
    exchanged, unless P is stated to be the law with the record"""
    if isinstance(as_noise(eps.node), DistributionPair):
        return largest_divergence(ctx, eps, alpha, gamma)
    return from_pair(ctx, eps, alpha, gamma)


def from_pair(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """log E_Q[m^α]/(α−1), and E_Q[m log m] at α = 1, of the mechanism's worst pair."""
    if gamma == 0:
        return ctx.number(0)
    if gamma == 1:
        return eps(alpha)
    if isinstance(alpha, float) and alpha == INFINITY:
        return sampled_pure(ctx, eps(INFINITY), ctx.number(gamma))
    mechanism: Mechanism = as_noise(eps.node)  # type: ignore[assignment]
    if isinstance(alpha, int) and alpha == 1:
        return relative_entropy(ctx, mechanism, gamma)
    known = eps.remember("grids") if isinstance(ctx, BallArithmetic) else {}
    return ctx.log1p(excess(ctx, mechanism, alpha, gamma, known)) / (ctx.number(alpha) - 1)
