"""The Skellam mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, singledispatch
from typing import Any

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import geometric_tail, precision, within
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import SWAPPED, Kind
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, sympy
from symacct.kernel.node import AskedValues, order_by_order
from symacct.kernel.parameters import positive, whole
from symacct.kernel.sources import AKL21
from symacct.mechanisms.integer_noise import LatticeNoise, check_terms, float_above, scale_in_float

#: Bits of the balls that masses and losses in float64 are rounded from: all 53 are then right.
#: Error bars rest on it.
_FLOAT_BITS = 128
#: Nats below the largest from which on an outcome does not count in float64: e^{−50} is 2^{−72}. It
#: is left out of the float's error bar, which is no proof.
_FLOAT_NATS = 50.0
#: The relative error that a logarithm in float64 is taken to have, an ulp of 1. Error bars rest on
#: it, which are no proof.
_LOG_ERROR = 2.0**-52
#: Lists of masses grow by so many outcomes, so that windows of about one length share a list. It
#: costs memory, and saves time.
_BLOCK_OUTCOMES = 64

#: A loss log(P/Q) ↦ a number in the arithmetic that is asked.
Value = Callable[[Number], Number]


class Skellam(LatticeNoise):
    """The Skellam mechanism: a whole-number query plus the difference of two Poisson(μ/2) numbers.

    ε(α) = log( e^{−μ} Σ_k I_{k−Δ}(μ)^α I_k(μ)^{1−α} )/(α−1), I the modified Bessel functions.

    The noise has variance μ. A sum of such noises is of the same kind, and its variance is the sum
    of the variances. `mu` is positive. `sensitivity` is Δ, a whole number from 1 on, in the units
    of the query. Raises DomainError for other parameters. ε(α) is in nats. Source: AKL21, the
    Skellam mechanism; SYMACCT, docs/proofs/mechanisms.md, skellam.

    >>> print(Skellam(25).rdp(2, digits=5), Skellam(25).rdp("inf"))
    0.039975 inf
    """

    mu: Exact
    sensitivity: int
    kind = Kind.EXACT
    attained = SWAPPED  # k ↦ Δ − k swaps the two laws
    asked = AskedValues(
        called="Skellam noise",
        parameters=("mu",),
        values=("4", "25", "1", "400"),
        harmless="10000",
        simple=("1", "4", "25", "100"),
        typical=(0.5, 400),
        drawn=(0.5, 1000),
        covered=((0.5, 4), (4, 30), (30, 400), "25"),
        rho=lambda mu: 1 / (2 * mu),
        is_scale=False,
    )
    noise_scale = "mu"
    words = "the Skellam mechanism (variance $μ = {mu}$, sensitivity {sensitivity})"
    source = AKL21.at("the Skellam mechanism; SYMACCT, docs/proofs/mechanisms.md, skellam")

    def __new__(cls, mu: Numeric, sensitivity: Numeric = 1) -> Skellam:
        return cls._intern(
            mu=positive(mu, "Skellam, mu"),
            sensitivity=whole(sensitivity, "Skellam, sensitivity", least=1),
        )

    def excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ E_Q[(1+u)^α − 1 − αu], u = P/Q − 1, which is E_Q[(P/Q)^α] − 1."""
        if isinstance(ctx, SymbolicArithmetic):
            return lambda alpha: (
                self.expected(ctx, lambda x: ctx.exp(ctx.number(alpha) * x), alpha) - 1
            )

        if isinstance(ctx, BallArithmetic):
            return lambda alpha: self.moment(alpha) - 1

        def excess(alpha: Order) -> Number:
            lam = ctx.number(alpha) - 1
            return self.expected(ctx, lambda x: ctx.power_gap(ctx.number(1), x, lam), alpha)

        return order_by_order(ctx, excess)

    def expected(
        self, ctx: Arithmetic, value: Value, power: Order, above_one: bool = False
    ) -> Number:
        """e^{−μ} Σ_k I_k(μ) value(log(I_{k−Δ}(μ)/I_k(μ)))"""
        total: Number = over_differences(ctx, self, value, power, above_one)
        return total

    def at_one(self, ctx: Arithmetic) -> Number:
        """E_Q[r log r − r + 1] over the outcomes, r = p/q; as written in SymPy, E_Q[r log r]."""
        if isinstance(ctx, SymbolicArithmetic):
            return self.expected(ctx, lambda x: ctx.exp(x) * x, 2)
        return self.expected(ctx, lambda x: ctx.entropy_gap(ctx.number(1), x), 2)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """∞: the loss has no bound."""
        return ctx.number(INFINITY)

    def law_latex(self, write: Callable[[Exact], str]) -> tuple[str, tuple[str, ...]]:
        """The law of the noise in LaTeX, and what it is in words."""
        read = r"$\mathrm{Skellam}(0, v)$ is the difference of two Poisson laws of mean $v/2$"
        return rf"\mathrm{{Skellam}}(0, {write(self.mu)})", (read,)

    # --- the outcomes that count, and what bounds the others

    def outcomes(self, least: float, most: float, need: float) -> range:
        """The window by its two ends: k ↦ Δ − k exchanges the orders a and 1 − a."""
        mu, size = scale_in_float(self.mu, "Skellam, mu"), self.sensitivity
        first, last = (_last(mu, size, max(a, 1.0), need) for a in (1 - least, most))
        return range(size - first, last + 1)

    def weighted_losses(self, kept: range) -> list[tuple[arb, arb]]:
        """(Q(k), log P(k)/Q(k)) in balls."""
        return [(q, (p / q).log()) for p, q in self._pairs(kept)]

    def _pairs(self, kept: range) -> list[tuple[arb, arb]]:
        """P(k) and Q(k) in balls for each outcome; LimitError for too many."""
        check_terms(kept)
        reach = max(abs(kept[0] - self.sensitivity), abs(kept[-1])) + self.sensitivity
        reach = _BLOCK_OUTCOMES * math.ceil(reach / _BLOCK_OUTCOMES)
        masses = _masses(self.mu, reach, ctx.prec)
        return [(masses[abs(k - self.sensitivity)], masses[abs(k)]) for k in kept]

    def moment(self, alpha: Order) -> arb:
        """E_Q[(P/Q)^α] for α >= 1, certified in balls: at whole orders it takes no logarithm."""
        most = float_above(alpha)
        kept = self.outcomes(0.0, most, ctx.prec * math.log(2))
        power = alpha if isinstance(alpha, int) else BALL.number(alpha)
        total = sum((q * (p / q) ** power for p, q in deadline.each(self._pairs(kept))), arb(0))
        return total + within(self.left_out(most, kept))

    def in_floats(self, kept: range) -> tuple[np.ndarray, np.ndarray]:
        """(log Q(k), log P(k)/Q(k)) in float64, rounded from balls."""
        with precision(_FLOAT_BITS):
            known = [(float(q.log()), float(x)) for q, x in self.weighted_losses(kept)]
        weights, losses = np.array(known).T
        return weights, losses

    def left_out(self, a: float, kept: range) -> arb:
        """An upper bound of what is not kept of Q and P and of P^a Q^{1−a}, by four tails."""
        above, below = kept[-1] + 1, self.sensitivity - kept[0] + 1
        orders = ((arb(0), above), (arb(a), above), (arb(1), below), (1 - arb(a), below))
        return sum((self._tail(order, k) for order, k in orders), arb(0))

    def _tail(self, a: arb, k: int) -> arb:
        """An upper bound of Σ_{j>=k} P^a Q^{1−a}, k > Δ: by P + Q if 0 < a <= 1, by Q if a <= 0.

        e^{−asinh((n+1)/μ)} < I_{n+1}/I_n < e^{−asinh(n/μ)}: so from one j to the next it falls by
        more than e^{(a−1)asinh((j+1)/μ) − a·asinh((j−Δ)/μ)}, which falls in j.
        """
        mu, moved = BALL.number(self.mu), k - self.sensitivity
        p, q = _mass(mu, moved), _mass(mu, k)
        if a > 1:
            fall = (a - 1) * ((k + 1) / mu).asinh() - a * (moved / mu).asinh()
            return geometric_tail((a * p.log() + (1 - a) * q.log()).exp(), fall.exp())
        tail = geometric_tail(q, (-(k / mu).asinh()).exp())
        return tail if a <= 0 else tail + geometric_tail(p, (-(moved / mu).asinh()).exp())


def _mass(mu: arb, k: int) -> arb:
    """e^{−μ} I_k(μ)"""
    return mu.bessel_i(arb(k), scaled=True)


@lru_cache(16)
def _masses(mu: Exact, reach: int, bits: int) -> list[arb]:
    """e^{−μ} I_k(μ) for 0 <= k <= reach, from the last by I_{k−1} = I_{k+1} + (2k/μ) I_k.

    All terms are positive: nothing cancels. The last 16 lists are remembered.
    """
    with ctx.workprec(bits + 2 * reach.bit_length() + 20):
        variance = BALL.number(mu)
        masses = [_mass(variance, reach + 1), _mass(variance, reach)]
        for k in range(reach, 0, -1):
            masses.append(masses[-2] + 2 * k / variance * masses[-1])
    return masses[:0:-1]


@lru_cache(256)
def _last(mu: float, size: int, a: float, need: float) -> int:
    """About the last k >= Δ where P^a Q^{1−a} is e^{−need} of its largest; a >= 1.

    In float64, which steers. LimitError where more outcomes than are summed would count.
    """
    reach = 16 + 2 * size
    while True:
        deadline.check()
        k = np.arange(float(reach))
        logs = a * _log_mass(mu, np.abs(k - size)) + (1 - a) * _log_mass(mu, k)
        within_need = logs > logs.max() - need
        if not within_need[-1] and logs.argmax() < reach - 1:
            return max(int(np.flatnonzero(within_need)[-1]), size) + 2
        reach *= 2
        check_terms(range(reach // 2))


def _log_mass(mu: float, k: np.ndarray) -> np.ndarray:
    """log e^{−μ} I_k(μ) in float64, by the first term of its uniform expansion: it steers.

    The 1 under the last logarithm keeps it finite at k = μ = 0.
    """
    root = np.hypot(k, mu)
    logs: np.ndarray = root - mu - k * np.arcsinh(k / mu) - np.log(2 * math.pi * (1 + root)) / 2
    return logs


# --- E_Q[value(log(P/Q))] in each arithmetic


@singledispatch
def over_differences(
    ctx: Any, noise: Skellam, value: Value, power: Order, above_one: bool
) -> Number:
    """E_Q[value(log(P/Q))], over P > Q alone if `above_one`; certified in balls alone."""
    raise TypeError(f"no Bessel functions for {type(ctx).__name__}")


@over_differences.register
def _(ctx: BallArithmetic, noise: Skellam, value: Value, power: Order, above_one: bool) -> arb:
    """A sum over the outcomes that count, with a proved bound of the others."""
    return noise.in_balls(value, power, above_one)


@over_differences.register
def _(
    ctx: Float64Arithmetic, noise: Skellam, value: Value, power: Order, above_one: bool
) -> Number:
    """Certified masses and losses, rounded; where a loss is 0 the value has to be 0.

    Outcomes beyond 50 nats are left out, and not bounded.
    """
    kept = noise.outcomes(0.0, float_above(power), _FLOAT_NATS)
    logs, losses = noise.in_floats(kept)
    place = 2 * np.array(kept) - noise.sensitivity
    counted = place > 0 if above_one else place != 0
    logs, losses = logs[counted], losses[counted]
    masses = LogNumber(np.ones_like(logs), logs, _LOG_ERROR * np.abs(logs))
    return (masses * value(ctx.near(losses))).total()


@over_differences.register
def _(ctx: MpmathArithmetic, noise: Skellam, value: Value, power: Order, above_one: bool) -> Number:
    """By mpmath's Bessel functions at twice the bits; where a loss is 0 the value has to be 0."""
    mp, size = ctx.mp, noise.sensitivity
    kept = noise.outcomes(0.0, float_above(power), ctx.bits * math.log(2))
    reach = max(abs(kept[0] - size), abs(kept[-1])) + size
    with mp.workprec(2 * ctx.bits):
        mu = ctx.number(noise.mu)
        falling = [mp.besseli(reach + 1, mu), mp.besseli(reach, mu)]
        for k in range(reach, 0, -1):
            falling.append(falling[-2] + 2 * k / mu * falling[-1])
        masses = falling[:0:-1]
        total = mp.fsum(
            masses[abs(k)] * value(mp.log(masses[abs(k - size)] / masses[abs(k)]))
            for k in kept
            if 2 * k != size and (2 * k > size or not above_one)
        ) * mp.exp(-mu)
    return +total


@over_differences.register
def _(
    ctx: SymbolicArithmetic, noise: Skellam, value: Value, power: Order, above_one: bool
) -> sympy.Expr:
    """The sum over all whole k, or all from the first k with P > Q on."""
    k, mu = sympy.Dummy("k", integer=True), ctx.number(noise.mu)
    p, q = (sympy.besseli(at, mu) for at in (k - noise.sensitivity, k))
    first = noise.first_above_one if above_one else -sympy.oo
    return written.Sum(sympy.exp(-mu) * q * value(sympy.log(p / q)), (k, first, sympy.oo))
