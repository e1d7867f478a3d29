"""The discrete Gaussian mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
from flint import arb

from symacct.analysis.series import log_theta_ratio, theta_at_0
from symacct.kernel import limits
from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import geometric_tail
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import SWAPPED, Kind
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, sympy
from symacct.kernel.node import AskedValues, order_by_order
from symacct.kernel.parameters import positive, whole
from symacct.kernel.sources import CKS20
from symacct.mechanisms.integer_noise import LatticeNoise, check_terms, float_above, scale_in_float

#: Nats by which the outcomes reach farther than their exponents ask, because many small masses
#: add up. `left_out` bounds what lies beyond, whatever this is.
_SPARE_NATS = 5.0

#: A loss log(P/Q) ↦ a number in the arithmetic that is asked.
Value = Callable[[Number], Number]
#: CKS20: at whole shifts the curve is at most the Gaussian one, and those of entries add up.
_OF_A_VECTOR = (
    "noise on every entry of a vector of whole numbers with L2 sensitivity Δ is ZCDP(Δ²/(2σ²))"
)


class DiscreteGaussian(LatticeNoise):
    """The discrete Gaussian mechanism: a whole-number query plus k, with P(k) ∝ e^{−k²/(2σ²)}.

    ε(α) = αΔ²/(2σ²) + log( Θ(αΔ)/Θ(0) )/(α−1), Θ(x) = Σ_k e^{−(k−x)²/(2σ²)} over whole k.

    If αΔ is whole, ε(α) is that of the Gaussian mechanism; otherwise it is smaller. `sigma` is
    positive, and its square is about the variance. `sensitivity` is Δ, a whole number from 1 on, in
    the units of the query. Raises DomainError for other parameters. ε(α) is in nats. Source: CKS20,
    the discrete Gaussian; SYMACCT, docs/proofs/mechanisms.md, discrete-gaussian.

    >>> print(DiscreteGaussian(5).rdp(2, digits=3), DiscreteGaussian("1/2").rdp("3/2", digits=5))
    0.0400 2.9424
    """

    sigma: Exact
    sensitivity: int
    kind = Kind.EXACT
    attained = SWAPPED  # k ↦ Δ − k swaps the two laws
    _steepest_up_to = INFINITY
    asked = AskedValues(
        called="discrete Gaussian noise",
        parameters=("sigma",),
        values=("1", "5", "0.5", "50", "2", "0.25"),
        harmless="100",
        simple=("1", "2", "5", "10", "0.5"),
        typical=(0.4, 20),
        drawn=(0.2, 100),
        covered=((0.4, 1), (1, 3), (3, 20), "2"),
    )
    noise_scale = "sigma"
    words = "the discrete Gaussian mechanism ($σ = {sigma}$, sensitivity {sensitivity})"
    source = CKS20.at(
        "the discrete Gaussian; SYMACCT, docs/proofs/mechanisms.md, discrete-gaussian"
    )

    def __new__(cls, sigma: Numeric, sensitivity: Numeric = 1) -> DiscreteGaussian:
        scale = positive(sigma, "DiscreteGaussian, sigma")
        try:
            moved = whole(sensitivity, "DiscreteGaussian, sensitivity", least=1)
        except DomainError as error:
            raise DomainError(f"{error}", remedy=_OF_A_VECTOR) from None
        return cls._intern(sigma=scale, sensitivity=moved)

    def law_latex(self, write: Callable[[Exact], str]) -> tuple[str, tuple[str, ...]]:
        """The law of the noise in LaTeX, and its masses in words."""
        read = r"$\mathcal{N}_{\mathbf{Z}}(0, v)$ has masses proportional to $e^{-k^{2}/(2v)}$"
        return rf"\mathcal{{N}}_{{\mathbf{{Z}}}}(0, {write(self.sigma**2)})", (read,)

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ αΔ²/(2σ²) − log(Θ(0)/Θ(αΔ))/(α−1), Θ(x) = Σ_k e^{−(k−x)²/(2σ²)}"""
        rate = self.at_one(ctx)

        def rdp(alpha: Order) -> Number:
            order = ctx.number(alpha)
            less = log_ratio_of_thetas(ctx, self.sigma, self.sensitivity * alpha)
            return order * rate - less / (order - 1)

        return order_by_order(ctx, rdp)

    def expected(
        self, ctx: Arithmetic, value: Value, power: Order, above_one: bool = False
    ) -> Number:
        """Σ_k e^{−k²/(2σ²)} value((2kΔ−Δ²)/(2σ²))/Θ(0)"""
        total: Number = over_integers(ctx, self, value, power, above_one)
        return total

    def at_one(self, ctx: Arithmetic) -> Number:
        """Δ²/(2σ²)"""
        return (self.sensitivity / ctx.number(self.sigma)) ** 2 / 2

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """∞: the loss has no bound."""
        return ctx.number(INFINITY)

    def terms(self, ctx: Arithmetic, value: Value) -> Callable[[Any], Number]:
        """k ↦ e^{−k²/(2σ²)} value((2kΔ−Δ²)/(2σ²))"""
        rate, size = 1 / (2 * ctx.number(self.sigma) ** 2), self.sensitivity
        return lambda k: ctx.exp(-(k * k * rate)) * value((2 * k - size) * (size * rate))

    @property
    def in_float(self) -> float:
        """σ in float64, which steers; PrecisionError outside of 1e−100 to 1e100."""
        return scale_in_float(self.sigma, "DiscreteGaussian, sigma")

    def outcomes(self, least: float, most: float, need: float) -> range:
        """The k from Δ·min(least, 0) to Δ·max(most, 0), and √(2(need + 5)) deviations beyond."""
        reach = math.sqrt(2 * (need + _SPARE_NATS)) * self.in_float
        low, high = self.sensitivity * min(least, 0.0), self.sensitivity * max(most, 0.0)
        count = math.ceil(high - low + 2 * reach)
        limits.check("order", count, "outcomes of discrete Gaussian noise")
        return range(math.floor(low - reach), math.ceil(high + reach) + 1)

    def weighted_losses(self, kept: range) -> list[tuple[arb, arb]]:
        """(Q(k), log P(k)/Q(k)) in balls: e^{−k²/(2σ²)}/θ(0) and (2k−Δ)Δ/(2σ²)"""
        sigma, size = BALL.number(self.sigma), self.sensitivity
        check_terms(kept)
        rate, total = 1 / (2 * sigma**2), theta_at_0(sigma)
        return [((-rate * k * k).exp() / total, (2 * k - size) * size * rate) for k in kept]

    def in_floats(self, kept: range) -> tuple[np.ndarray, np.ndarray]:
        """(log Q(k), log P(k)/Q(k)) in float64, which steer."""
        k, sigma, size = np.array(kept, dtype=np.float64), self.in_float, self.sensitivity
        total = float(theta_at_0(arb(sigma)).log())
        rate = 1 / (2 * sigma**2)
        return -rate * k * k - total, (2 * k - size) * size * rate

    def left_out(self, a: float, kept: range) -> arb:
        """An upper bound of what is not kept of Q and of P^a Q^{1−a}, by tails of both."""
        sigma, power = BALL.number(self.sigma), arb(a)
        tilted = (power * (power - 1) * self.sensitivity**2 / (2 * sigma**2)).exp()
        middle = power * self.sensitivity
        first, last = kept[0] - 1, kept[-1] + 1
        ends = _tail(sigma, arb(last)) + _tail(sigma, arb(-first))
        moved = _tail(sigma, last - middle) + _tail(sigma, middle - first)
        return (ends + tilted * moved) / theta_at_0(sigma)


def _tail(sigma: arb, z: arb) -> arb:
    """An upper bound of Σ e^{−(z+j)²/(2σ²)} over j >= 0, geometric; ∞ for z <= −½."""
    rate = 1 / (2 * sigma**2)
    return geometric_tail((-rate * z * z).exp(), (-rate * (2 * z + 1)).exp())


# --- log Θ(0)/Θ(x) in each arithmetic


@singledispatch
def log_ratio_of_thetas(ctx: Arithmetic, sigma: Exact, x: Order) -> Number:
    """log Θ(0)/Θ(x) >= 0, Θ(x) = Σ_k e^{−(k−x)²/(2σ²)}; 0 at whole x, and of period 1 in x."""
    raise TypeError(f"no theta function for {type(ctx).__name__}")


@log_ratio_of_thetas.register
def _(ctx: BallArithmetic, sigma: Exact, x: Order) -> arb:
    """The certified value, by whichever theta series is short."""
    return log_theta_ratio(ctx.number(sigma), Fraction(x))


@log_ratio_of_thetas.register
def _(ctx: Float64Arithmetic, sigma: Exact, x: Order) -> Number:
    """The certified value, rounded: the ratio is 1 up to little, and would cancel."""
    return ctx.from_balls(lambda: log_ratio_of_thetas(BallArithmetic(), sigma, x))


@log_ratio_of_thetas.register
def _(ctx: MpmathArithmetic, sigma: Exact, x: Order) -> Number:
    """By mpmath's theta function, of the sum itself or of Poisson's: the nome is below e^{−2}.

    Twice the bits are taken, and those of x, because the ratio is near 1 next to whole x.
    """
    mp, x = ctx.mp, abs(Fraction(x) - round(x))
    if x == 0:
        return ctx.number(0)
    with mp.workprec(2 * ctx.bits + 2 * x.denominator.bit_length()):
        s, at = ctx.number(sigma), ctx.number(x)
        if s > 0.5:
            nome = mp.exp(-2 * (mp.pi * s) ** 2)
            ratio = mp.log(mp.jtheta(3, 0, nome) / mp.jtheta(3, mp.pi * at, nome))
        else:
            nome, turn = mp.exp(-1 / (2 * s**2)), mp.mpc(0, at / (2 * s**2))
            ratio = at**2 / (2 * s**2) - mp.log(
                mp.jtheta(3, turn, nome).real / mp.jtheta(3, 0, nome)
            )
    return +ratio


@log_ratio_of_thetas.register
def _(ctx: SymbolicArithmetic, sigma: Exact, x: Order) -> sympy.Expr:
    """The logarithm of both sums as they are written; 0 at an x known to be whole."""
    at = ctx.number(x)
    if at.is_integer:
        return ctx.number(0)
    return ctx.log(_theta(ctx, sigma, ctx.number(0)) / _theta(ctx, sigma, at))


def _theta(ctx: SymbolicArithmetic, sigma: Exact, x: sympy.Expr) -> sympy.Expr:
    """Θ(x) as a sum over all whole k."""
    k = sympy.Dummy("k", integer=True)
    return written.Sum(
        ctx.exp(-((k - x) ** 2) / (2 * ctx.number(sigma) ** 2)), (k, -sympy.oo, sympy.oo)
    )


# --- E_Q[value(log(P/Q))] in each arithmetic


@singledispatch
def over_integers(
    ctx: Any, noise: DiscreteGaussian, value: Value, power: Order, above_one: bool
) -> Number:
    """E_Q[value(log(P/Q))] by a sum over finitely many whole numbers, certified in balls alone.

    This one is for arithmetics with rules (RuledArithmetic): from −R, or the first loss above 0, to
    power·Δ + R; beyond R both laws have e^{−T} left, T = ctx.grid_nats().
    """
    # With 1 more the root of float64's 100 is irrational: where it ends is decided for every σ.
    reach = ctx.sqrt(2 * ctx.grid_nats() + 1) * ctx.number(noise.sigma) // 1 + 2
    term, weight = noise.terms(ctx, value), noise.terms(ctx, lambda _: ctx.number(1))
    first = ctx.number(noise.first_above_one) if above_one else -reach
    last = ctx.number(power) * noise.sensitivity // 1 + reach
    total = ctx.long_sum(lambda i: term(first + i), last - first)
    return total / ctx.long_sum(lambda i: weight(i - reach), 2 * reach)


@over_integers.register
def _(
    ctx: Float64Arithmetic, noise: DiscreteGaussian, value: Value, power: Order, above_one: bool
) -> Number:
    """A sum over finitely many whole numbers, which are exact in float64.

    LimitError where they are more than the limit "order". What lies beyond is not bounded.
    """
    reach = math.ceil(math.sqrt(2 * float(ctx.grid_nats().value())) * noise.in_float) + 1
    last = math.ceil(float_above(power)) * noise.sensitivity + reach
    limits.check(
        "order", last + reach, "terms of a sum in float64, of which the engine ball needs fewer"
    )
    k = np.arange(noise.first_above_one if above_one else -reach, last + 1, dtype=np.float64)
    total = noise.terms(ctx, value)(k).total()
    weight = noise.terms(ctx, lambda _: ctx.number(1))
    return total / weight(np.arange(-reach, reach + 1, dtype=np.float64)).total()


@over_integers.register
def _(
    ctx: MpmathArithmetic, noise: DiscreteGaussian, value: Value, power: Order, above_one: bool
) -> Number:
    """A sum over the outcomes above e^{−bits}; what lies beyond is not bounded."""
    mp = ctx.mp
    reach = int(mp.sqrt(2 * ctx.bits) * ctx.number(noise.sigma)) + 2
    term, weight = noise.terms(ctx, value), noise.terms(ctx, lambda _: 1)
    first = noise.first_above_one if above_one else -reach
    total = ctx.sum(term, first, int(power * noise.sensitivity) + reach)
    return total / ctx.sum(weight, -reach, reach)


@over_integers.register
def _(
    ctx: BallArithmetic, noise: DiscreteGaussian, value: Value, power: Order, above_one: bool
) -> arb:
    """A sum over the outcomes that count, with a proved bound of the others."""
    return noise.in_balls(value, power, above_one)


@over_integers.register
def _(
    ctx: SymbolicArithmetic, noise: DiscreteGaussian, value: Value, power: Order, above_one: bool
) -> sympy.Expr:
    """The sum over all whole k, or all from the first k with P > Q on."""
    k = sympy.Dummy("k", integer=True)
    span = (k, noise.first_above_one if above_one else -sympy.oo, sympy.oo)
    return written.Sum(noise.terms(ctx, value)(k), span) / _theta(ctx, noise.sigma, ctx.number(0))
