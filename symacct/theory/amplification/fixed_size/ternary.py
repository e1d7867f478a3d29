"""χ- and ternary |χ|-divergences of a mechanism: what sampling without replacement rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import singledispatch
from typing import Any, NamedTuple

from flint import arb

from symacct.analysis.sampled_gaussian import GaussianChi
from symacct.kernel import limits
from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    MpmathArithmetic,
    Number,
)
from symacct.kernel.arithmetic.ball import doubled, precision
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.sums.binomial_sums import Terms
from symacct.kernel.sums.differences import GUARD_BITS, differences_at
from symacct.mechanisms import Gaussian
from symacct.theory.amplification.poisson.gaussian_ratio import noise_ratio
from symacct.theory.rdp_curve import RDPCurve

Differences = Callable[[Number], Number]

_FLOATS = Fraction(2**500)  # of σ/Δ and Δ/σ, whose floats choose nodes


def loss_spread(ctx: Arithmetic, eps: RDPCurve) -> Callable[[Order], Number]:
    """j ↦ min{2, (e^{ε(∞)} − 1)^j}, which is 2 where ε(∞) = ∞ (WBK19 Lemmas 18 and 19)."""
    pure = eps(INFINITY)
    two = ctx.number(2)
    if ctx.is_infinite(pure):
        return lambda j: two
    excess = ctx.expm1(pure)
    return lambda j: ctx.minimum(two, excess**j)


def ternary_power(
    ctx: Arithmetic, eps: RDPCurve, spread: Any, difference: Differences, j: Any
) -> Number:
    """ζ(j)^j = min{ 4√(B(ε,2⌊j/2⌋) B(ε,2⌈j/2⌉)), e^{(j−1)ε(j)} min{2, (e^{ε(∞)}−1)^j} }."""
    half = j // 2
    product = difference(2 * half) * difference(2 * (j - half))
    return ctx.minimum(4 * ctx.sqrt(product), ctx.exp((j - 1) * eps(j)) * spread(j))


def hoelder_power(
    ctx: Arithmetic, eps: RDPCurve, spread: Any, difference: Differences, j: Any
) -> Number:
    """The smaller of that and of e^{(j−1)ε(2j−1)} √B(ε,2j) (WBK19 Lemma 32 at u = v = 2)."""
    third = ctx.exp((j - 1) * eps(2 * j - 1)) * ctx.sqrt(difference(2 * j))
    return ctx.minimum(ternary_power(ctx, eps, spread, difference, j), third)


@dataclass(frozen=True)
class TernaryTerms(Terms):
    """ζ(l)^l as terms of a sum: at most 4e^{L_l}, L_l = ½ log B(2⌊l/2⌋)B(2⌈l/2⌉), convex."""

    factor: int = 4
    shift: None = None
    difference: Callable[[int], arb] = field(kw_only=True)
    power: Callable[[int], arb] = field(kw_only=True)

    def __call__(self, l: int) -> arb:
        return self.power(l)

    def at(self, l: int, log_moment: arb) -> arb:
        return self.power(l)

    def dense(self, orders: range) -> None:
        """No term is cheap."""

    def log_moment(self, l: int) -> arb:
        product: arb = self.difference(2 * (l // 2)) * self.difference(2 * (l - l // 2))
        return product.log() / 2


class Branches(NamedTuple):
    """By what ζ(j)^j is bounded, and how many times j + 1 the orders reach that it reads B at."""

    power: Callable[..., Number]
    reach: int


@singledispatch
def differences(ctx: Arithmetic, eps: RDPCurve, orders: Iterable[int]) -> Differences:
    """l ↦ B(ε,l) = Σ_{i=0}^{l} (−1)^{l−i} C(l,i) e^{(i−1)ε(i)} at the whole orders given.

    Here the sum itself, at even orders: the terms i = 0 and 1 are 1 and −l.
    """

    def difference(l: Any) -> Any:
        rest = ctx.sum(
            lambda i: ctx.number(-1) ** i * ctx.binomial(l, i) * ctx.exp((i - 1) * eps(i)), 2, l
        )
        return 1 - l + rest

    return difference


@differences.register
def _(ctx: BallArithmetic, eps: RDPCurve, orders: Iterable[int]) -> Differences:
    """Balls nearly as narrow as the working precision, from oracle values at the one needed."""
    bits = ctx.bits
    known = eps.remember("differences")
    curves: dict[int, Any] = {}

    def log_moment_at(bits: int, i: int) -> Any:
        if bits not in curves:
            curves[bits] = eps.using(BALL)
        return (i - 1) * curves[bits](i)

    missing = [l for l in orders if l not in known]
    if missing:
        known |= differences_at(log_moment_at, missing, bits)
    return known.__getitem__


def single_differences(ctx: BallArithmetic, eps: RDPCurve) -> Callable[[int], arb] | None:
    """l ↦ B(ε,l) at even orders, each found without the others; None where that is not known."""
    node = eps.node
    ratio = noise_ratio(node) if isinstance(node, Gaussian) else None
    if not isinstance(ratio, Fraction) or not 1 / _FLOATS < ratio < _FLOATS:
        return None
    known = eps.remember("single differences")
    if "of Gaussian" not in known:
        known["of Gaussian"] = GaussianChi(1 / ratio, ctx.bits)
    found: GaussianChi = known["of Gaussian"]
    return found


@differences.register
def _(ctx: MpmathArithmetic, eps: RDPCurve, orders: Iterable[int]) -> Differences:
    """Plain alternating sums, at precisions that are doubled until two agree."""
    known = eps.remember("differences")
    for l in orders:
        if l not in known:
            known[l] = ctx.number(_agreeing(ctx, eps, l))
    return known.__getitem__


@differences.register
def _(ctx: Float64Arithmetic, eps: RDPCurve, orders: Iterable[int]) -> Differences:
    """float64 cannot form these differences: certified ones, rounded."""
    with precision(ctx.bits + GUARD_BITS):
        balls = differences(BALL, eps.using(BALL), orders)
        known = {l: ctx.of_ball(balls(l)) for l in orders}
    return known.__getitem__


def _agreeing(ctx: MpmathArithmetic, eps: RDPCurve, l: int) -> Number:
    coarse: Any = None
    for bits in doubled(ctx.bits + GUARD_BITS):
        finer = MpmathArithmetic(bits)
        curve = eps.using(finer)
        moments = [finer.exp((i - 1) * curve(i)) for i in range(2, l + 1)]
        total, coefficient = finer.number((-1) ** l * (1 - l)), -l
        for i, moment in enumerate(moments, start=2):
            coefficient = -coefficient * (l - i + 1) // i
            total += (-1) ** l * coefficient * moment
        if coarse is not None and abs(total - coarse) <= abs(total) * finer.mp.mpf(2) ** -ctx.bits:
            return total
        coarse = total
    raise PrecisionError(
        f"B({l}): two precisions did not agree within {limits.current().bits} bits"
    )
