"""Sums of discrete Gaussian noise, a part of it from each of many parties."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL, Arithmetic, BallArithmetic, MpmathArithmetic, Number
from symacct.kernel.arithmetic.ball import geometric_tail, up_to, within
from symacct.kernel.claims import Kind
from symacct.kernel.errors import DomainError, LimitError, echo
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, expression, sympy
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Mechanism
from symacct.kernel.parameters import positive, whole
from symacct.kernel.sources import KLS21
from symacct.laws.neighbours import Alike, Neighbours, Unknown, WholeNumberShift
from symacct.mechanisms.discrete_gaussian import DiscreteGaussian
from symacct.mechanisms.integer_noise import IntegerSums, check_terms, float_above

#: More parties are refused; it only limits sizes, and no bound rests on it.
_MOST_PARTIES = 10**9
#: The curve of one number is summed for sums of a smaller standard deviation, in whole numbers:
#: wider ones have too many outcomes, and the bound answers there. It costs time: both are proved,
#: and the bound is the larger.
_WIDEST_DEVIATION = 100.0
#: The middle of P^αQ^{1−α} may be this many standard deviations away: e^{−312} takes 450 bits.
#: Farther ones are refused by LimitError.
_FARTHEST_DEVIATIONS = 25.0
#: Bits of a mass beyond those that are asked, for the roundings of its sum. Where they are too few,
#: the ball is wider.
_SPARE_BITS = 32
#: Nats that log-probabilities of a sum may be away from those of one number in a profile: each
#: nat costs bits, and beyond it LimitError is raised.
_MOST_SPREAD_NATS = 1000.0
#: Nats of that spread in a curve, which is asked at many orders; beyond it the bound answers. It
#: costs time: both are proved.
_MOST_CURVE_SPREAD_NATS = 100.0


class DiscreteGaussianSum(Mechanism):
    """A vector of d whole numbers, to which each of n parties adds discrete Gaussian noise of σ:

    ε(α) <= min{ αΔ²/(2σ²), αΔ²/(2nσ²) + dτ, α(Δ/(σ√n) + τ√d)²/2 }, Δ in Euclidean norm,

    where τ bounds how far the log-probabilities of the summed noise are from those of one discrete
    Gaussian of σ√n. Neighbours differ by a party or by a record, but all n parties add their noise
    on both datasets: a party that is left out still adds its noise, and `parties` counts the
    parties who are sure to. For one number (d = 1) the curve itself is known, by the law of the
    sum. It is the answer in numbers, if the sum has not too many outcomes; formulas, code and
    float64 use the bound. `sigma` and `sensitivity` are positive. `parties` (n, up to 10⁹) and
    `dimension` (d) are whole numbers from 1 on. Raises DomainError for other parameters. ε(α) is in
    nats. Source: KLS21, Proposition 14; SYMACCT, docs/proofs/mechanisms.md, one-party, added-spread
    and three-pairs.

    >>> print(DiscreteGaussianSum("1/2", 10).rdp(2, digits=6))
    0.450986
    """

    sigma: Exact
    parties: int
    sensitivity: Exact
    dimension: int
    kind = Kind.UPPER
    words = (
        "a query with {dimension:whole-number value}, to which each of {parties} parties adds "
        "discrete Gaussian noise ($σ = {sigma}$, sensitivity {sensitivity})"
    )
    premises = (
        "one party or record changes the query by no more than its sensitivity, in the Euclidean "
        "norm",
        "all {parties} parties add noise of their own, on each of two neighbouring datasets",
    )
    _steepest_up_to = INFINITY  # of the bound: every one of the three falls when divided by α
    source = KLS21.at(
        "Proposition 14; "
        "SYMACCT, docs/proofs/mechanisms.md, one-party, added-spread and three-pairs"
    )

    def __new__(
        cls,
        sigma: Numeric,
        parties: Numeric,
        sensitivity: Numeric = 1,
        dimension: Numeric = 1,
    ) -> DiscreteGaussianSum:
        return cls._intern(
            sigma=positive(sigma, "DiscreteGaussianSum, sigma"),
            parties=whole(parties, "DiscreteGaussianSum, parties", least=1, most=_MOST_PARTIES),
            sensitivity=positive(sensitivity, "DiscreteGaussianSum, sensitivity"),
            dimension=whole(dimension, "DiscreteGaussianSum, dimension", least=1),
        )

    @property
    def neighbours(self) -> Neighbours:
        """The summed noise and that noise moved by ⌊Δ⌋, for d = 1; `Alike` if ⌊Δ⌋ = 0.

        `Unknown` for more dimensions, or a sensitivity with free symbols.
        """
        if self.dimension > 1:
            return Unknown("dimension=1, for which the worst two laws are known")
        if isinstance(self.sensitivity, sympy.Expr) and self.sensitivity.free_symbols:
            return Unknown("a sensitivity that is a number")
        if (size := math.floor(self.sensitivity)) == 0:
            return Alike()
        noise = SummedNoise(self.sigma, self.parties, size)
        return WholeNumberShift(noise, of_query=False, is_worst=False)  # the curve is a bound

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ the least of three bounds of n summed draws (KLS21), τ = `log_spread`

        They are αΔ²/(2σ²), αΔ²/(2nσ²) + dτ and α(√(Δ²/(2nσ²)) + √(d/2) τ)².
        """
        alone = (ctx.number(self.sensitivity) / ctx.number(self.sigma)) ** 2 / 2
        apart = self.log_spread(ctx)
        together, far = alone / self.parties, apart * self.dimension
        root = (ctx.sqrt(together) + ctx.sqrt(ctx.number(self.dimension) / 2) * apart) ** 2

        def rdp(alpha: Order) -> Number:
            order = ctx.number(alpha)
            return ctx.minimum(order * alone, order * together + far, order * root)

        return rdp

    def at_one(self, ctx: Arithmetic) -> Number:
        """ε(1): the curve is stated at order 1 as well."""
        return self.curve(ctx)(1)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """∞: the loss has no bound."""
        return ctx.number(INFINITY)

    def _of_one_number(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ D_α of the law of the sum from that law moved by ⌊Δ⌋, the worst move, α >= 1.

        Exact, for d = 1; DomainError for a sensitivity with free symbols.
        """
        if isinstance(self.sensitivity, sympy.Expr) and self.sensitivity.free_symbols:
            raise DomainError(
                f"DiscreteGaussianSum, sensitivity: found {echo(self.sensitivity)}, a parameter "
                "without a value, needed a number",
                remedy="put a number in its place, or ask for the formula",
            )
        size = math.floor(self.sensitivity)
        if size == 0:
            return lambda alpha: ctx.number(0)
        if self.parties > 1:
            return SummedNoise(self.sigma, self.parties, size).curve(ctx)
        noise = DiscreteGaussian(self.sigma, size)
        curve = noise.curve(ctx)
        return lambda alpha: noise.at_one(ctx) if alpha == 1 else curve(alpha)

    def _sharper(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """The exact curve of one number, d = 1, if it has no symbols; None for others.

        None also for the sum of several parties unless it is narrow, σ√n < 100, and near one
        discrete Gaussian, τ < 100 nats. Of a sum LimitError at an order α with α⌊Δ⌋ >= 25σ√n, where
        the middle α⌊Δ⌋ of P^αQ^{1−α} is too far out.
        """
        if self.dimension > 1 or self.free_symbols:
            return None
        exact, width = self._of_one_number(ctx), BALL.number(self.sigma) * arb(self.parties).sqrt()
        if self.parties == 1:
            return exact
        near_one_number = self.log_spread(BALL) < _MOST_CURVE_SPREAD_NATS
        if not (width < _WIDEST_DEVIATION and near_one_number):
            return None

        def near(alpha: Order) -> Number:
            away = BALL.number(alpha) * math.floor(self.sensitivity) / width
            if not away < _FARTHEST_DEVIATIONS:
                raise LimitError(
                    f"a sum of discrete Gaussian numbers: found order {echo(alpha)}, about "
                    f"{float(away):.3g} standard deviations away, needed less than "
                    f"{_FARTHEST_DEVIATIONS:.0f}"
                )
            return exact(alpha)

        return near

    def log_spread(self, ctx: Arithmetic) -> Number:
        """τ in nats, which adds what each further party can move the log-probabilities by:

        τ = Σ_k 2 log((1+q)/(1−q))/(1−q²), q = e^{−2π²σ²j/(j+1)}, 1 <= k < n.

        j is the largest power of 2 that is not above k.
        """
        square = 2 * (ctx.pi() * ctx.number(self.sigma)) ** 2
        total, first = ctx.number(0), 1
        while first < self.parties:
            deadline.check()
            rate = first * square / (first + 1)
            q, left = ctx.exp(-rate), -ctx.expm1(-rate)
            count = min(first, self.parties - first)
            total = total + 2 * count * ctx.log1p(2 * q / left) / (left * (1 + q))
            first *= 2
        return total


@dataclass(frozen=True)
class SummedNoise(IntegerSums):
    """The sum S of noise of `parties` parties, and S moved by `sensitivity`; S is log-concave.

    S and one discrete Gaussian number of σ√n have log-probabilities within τ of each other
    (docs/proofs/mechanisms.md, Lemma spread), and so P^aQ^{1−a} of both within (|a| + |1−a|)τ.
    """

    sigma: Exact
    parties: int
    sensitivity: int

    @cached_property
    def near(self) -> DiscreteGaussian:
        """The one discrete Gaussian of σ√n whose log-probabilities are within τ of the sum's."""
        return DiscreteGaussian(expression(self.sigma) * sympy.sqrt(self.parties), self.sensitivity)

    def law_latex(self, write: Callable[[Exact], str]) -> tuple[str, tuple[str, ...]]:
        """The law of one draw convolved n times in LaTeX, and how it is read."""
        law, read = DiscreteGaussian(self.sigma).law_latex(write)
        draws = rf"$\ast {self.parties}$ is the sum of {self.parties} draws"
        return rf"{law}^{{\ast {self.parties}}}", (*read, draws)

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ D_α(P‖Q) for α >= 1, in balls or in mpmath."""

        def divergence(alpha: Order) -> Number:
            if alpha == 1:
                return self.expected(ctx, lambda x: ctx.entropy_gap(ctx.number(1), x), 2)
            lam = ctx.number(alpha) - 1
            excess = self.expected(ctx, lambda x: ctx.power_gap(ctx.number(1), x, lam), alpha)
            return ctx.log1p(excess) / lam

        return divergence

    def expected(self, ctx: Arithmetic, value: Callable[[Number], Number], power: Order) -> Number:
        """E_Q[value(log(P/Q))] of 0 <= value <= 1 + power + (P/Q)^power, in balls or in mpmath.

        Certified in balls alone. TypeError for other arithmetics, LimitError for a large spread.
        """
        if isinstance(ctx, BallArithmetic):
            return self.in_balls(value, power, False)
        if not isinstance(ctx, MpmathArithmetic):
            raise TypeError(f"no sums of discrete Gaussian noise for {type(ctx).__name__}")
        kept = self.outcomes(0.0, float_above(power), ctx.bits * math.log(2))
        reach = max(abs(kept[0] - self.sensitivity), abs(kept[-1])) + self.sensitivity
        last, need = _period(
            self.sigma, self.parties, reach, ctx.bits + math.ceil(2 * float(self.spread))
        )
        more = MpmathArithmetic(need)
        turned = [more.mp.cospi(2 * r / more.number(2 * last + 1)) for r in range(2 * last + 1)]
        rate, weights = -1 / (2 * more.number(self.sigma) ** 2), [more.number(1)]
        waves: list[Number] = []
        while more.mp.mag(weights[-1]) > -need:
            deadline.check()
            weights.append(2 * more.exp(rate * len(weights) ** 2))
        while len(waves) < last and (not waves or more.mp.mag(waves[-1]) > -need):
            deadline.check()
            j = len(waves) + 1
            mean = more.mp.fsum(w * turned[j * k % len(turned)] for k, w in enumerate(weights))
            waves.append((mean / more.mp.fsum(weights)) ** self.parties)
        law = [
            (1 + 2 * more.mp.fsum(x * turned[j * k % len(turned)] for j, x in enumerate(waves, 1)))
            / len(turned)
            for k in range(reach + 1)
        ]
        pairs = [(law[abs(k)], law[abs(k - self.sensitivity)]) for k in kept]
        return ctx.mp.fsum(
            ctx.mp.mpf(q) * value(ctx.mp.mpf(more.log(p / q))) for q, p in pairs if p != q
        )

    @property
    def spread(self) -> arb:
        """The spread τ of the log-probabilities in nats, in balls; LimitError from 1000 on."""
        tau: arb = DiscreteGaussianSum(self.sigma, self.parties).log_spread(BALL)
        if not tau < _MOST_SPREAD_NATS:
            raise LimitError(
                f"found a sum of {self.parties:,} discrete Gaussian numbers of "
                f"little noise, far from one number (by {float(tau):.3g} nats), needed at most "
                f"{_MOST_SPREAD_NATS:.0f}",
                where="conversion exact",
                remedy="take more noise, or conversion improved",
            )
        return tau

    def outcomes(self, least: float, most: float, need: float) -> range:
        """The outcomes of one number of the variance nσ², farther by what the spread may add."""
        spare = float(self.spread) * (1 + 2 * max(abs(least), abs(most)))
        return self.near.outcomes(least, most, need + spare)

    def weighted_losses(self, kept: range) -> list[tuple[arb, arb]]:
        """(Q(k), log P(k)/Q(k)) in balls, from masses of the sum that nearby windows share."""
        check_terms(kept)
        reach = max(abs(kept[0] - self.sensitivity), abs(kept[-1])) + self.sensitivity
        block = math.ceil(4 * self.near.in_float)  # windows of about one length share their masses
        law = masses(self.sigma, self.parties, block * math.ceil(reach / block), ctx.prec)
        logs = [(law[abs(k)], law[abs(k - self.sensitivity)]) for k in kept]
        return [(q, (p / q).log()) for q, p in logs]

    def in_floats(self, kept: range) -> tuple[np.ndarray, np.ndarray]:
        """The logarithms of the one number's masses, and its losses: off by up to τ and 2τ."""
        return self.near.in_floats(kept)

    def left_out(self, a: float, kept: range) -> arb:
        """What one number of the variance nσ² leaves out, times e^{spread·(|a| + |1−a|)}."""
        apart = self.spread * (abs(arb(a)) + abs(1 - arb(a)))
        return apart.exp() * self.near.left_out(a, kept)


@lru_cache(16)
def masses(sigma: Exact, parties: int, reach: int, bits: int) -> list[arb]:
    """P(S = k), 0 <= k <= reach, as (1/N) Σ_j φ(2πj/N)^n cos(2πjk/N), N = 2X+1.

    φ is the characteristic function of one. What has another place modulo N lies beyond N − k: by
    P(S >= x) <= e^{−x²/(2nσ²)} that is little. φ falls up to N/2, so that once φ^n is small, so is
    the rest. Both are in the radius. The last 16 lists are remembered.
    """
    last, need = _period(sigma, parties, reach, bits)
    with ctx.workprec(need):
        at = BALL.number(sigma)
        turned = [(arb(2 * r) / (2 * last + 1)).cos_pi() for r in range(2 * last + 1)]
        waves, rest = _waves(at, parties, turned)
        beyond = 2 * (-(arb(2 * last + 1 - reach) ** 2) / (2 * parties * at**2)).exp()
        off, period = within(rest + beyond), 2 * last + 1

        def mass(k: int) -> arb:
            places = (j * k % period for j in range(1, len(waves) + 1))
            total = sum((x * turned[r] for x, r in zip(waves, places, strict=True)), arb(0))
            return (1 + 2 * total) / period + off

        return [mass(k) for k in range(reach + 1)]


def _period(sigma: Exact, parties: int, reach: int, bits: int) -> tuple[int, int]:
    """X of the period N = 2X+1, and the working bits for masses up to `reach` to `bits` bits.

    Chosen in float64: `masses` bounds the error whatever they are.
    """
    width = float(BALL.number(sigma)) * math.sqrt(parties)
    need = (bits + _SPARE_BITS) * math.log(2) + (reach / width) ** 2 / 2 + math.log(2 + reach)
    last = (reach + math.ceil(width * math.sqrt(2 * need))) // 2 + 1
    return last, math.ceil(need / math.log(2)) + _SPARE_BITS


def _waves(sigma: arb, parties: int, turned: list[arb]) -> tuple[list[arb], arb]:
    """φ(2πj/N)^n for j = 1, 2, … as far as they count, and an upper bound of the rest of the mean.

    `turned` are cos(2πr/N). LimitError where more count than the limit "order".
    """
    waves: list[arb] = []
    small, rate, weights = arb(2) ** -ctx.prec, -1 / (2 * sigma**2), [arb(1)]
    while not weights[-1] < small:
        deadline.check()
        weights.append(2 * (rate * len(weights) ** 2).exp())
    count = len(weights)
    left_out = geometric_tail(2 * (rate * count**2).exp(), (rate * (2 * count + 1)).exp())
    total = sum(weights, arb(0)) + up_to(left_out)
    for j in range(1, len(turned) // 2 + 1):
        limits.check("order", j, "nodes of the sum of discrete Gaussians")
        places = (j * k % len(turned) for k in range(count))
        mean = sum((w * turned[r] for w, r in zip(weights, places, strict=True)), within(left_out))
        power = (mean / total) ** parties
        if power < small:
            return waves, power.upper()
        waves.append(power)
    return waves, arb(0)
