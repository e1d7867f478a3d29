"""Divergences of a mixture m = (1−γ)q + γp from q, and moments of p/q, as certified integrals.

With u = γ(p/q − 1), so that m = q(1+u) and E_Q[u] = 0 where p lives on q's support, each value
but χ^l is the integral of a function that is nowhere negative:

    E_Q[m^β/q^β] − 1 = E_Q[(1+u)^β − 1 − βu]   for β > 1, and for β < 0,
    E_Q[(m/q) log(m/q)] = E_Q[(1+u) log(1+u) − u],   E_Q[log(q/m)] = E_Q[u − log(1+u)].

Tails are bounded by ∫ p^a q^b: x^β and x log x are convex, so that m^β q^{1−β} <= (1−γ)q +
γp^β q^{1−β}, and m >= (1−γ)q. docs/proofs.md, section 13.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TypeVar

from flint import acb, arb, ctx
from mpmath.ctx_mp import MPContext

from symacct.arithmetic import BALL, Number
from symacct.core import symbols
from symacct.core.errors import PrecisionError
from symacct.core.forking import cached_property
from symacct.core.lazy_import import sympy
from symacct.numerics.densities.exponents import collected
from symacct.numerics.densities.jets import Jet
from symacct.numerics.densities.sides import Kernel, Side, sides
from symacct.numerics.densities.stretch import Bounds, DensityLogs, Integrand, Stretch
from symacct.numerics.sums.refine import ball, steered_by_floats

Value = TypeVar("Value", Jet, arb)  # of the functions: with a derivative, or alone
_ZERO, _ONE = Fraction(0), Fraction(1)
_ROUNDS = 6
_NEAR = 0.5  # the |u| up to which terms are summed as functions of u
_TILTS = tuple(Fraction(1, 2**k) for k in (3, 8, 16, 32, 64))


@dataclass(frozen=True)
class Mass(Integrand):
    """∫ p"""

    def parts(self, logs: DensityLogs) -> list[Jet]:
        return [logs.p]

    def combine(self, parts: list[acb]) -> acb:
        return parts[0].exp()

    def mp_value(self, mp: MPContext, log_p: Number, log_q: Number) -> Number:
        return mp.exp(log_p)

    def bounds(self, side: Side) -> Bounds:
        return [(arb(1), _ONE, _ZERO)]


@dataclass(frozen=True)
class MixtureIntegrand(Integrand):
    """What the functions of m = (1−γ)q + γp share; 0 < γ <= 1."""

    gamma: Fraction

    def mp_value(self, mp: MPContext, log_p: Number, log_q: Number) -> Number:
        gamma = mp.mpf(self.gamma.numerator) / self.gamma.denominator
        if log_q == -mp.inf:
            return self.plain_beyond(mp, gamma) * mp.exp(log_p)
        u = gamma * mp.expm1(log_p - log_q)
        # Half of the digits are lost to the cancellation of the leading terms where u is small.
        with mp.workprec(2 * mp.prec + (max(0, -2 * mp.mag(u)) if u else 0)):
            log_m = mp.log1p(u) if u > -1 else -mp.inf
            return mp.exp(log_q) * self.function(u, log_m, mp.expm1, mp.mpf)

    def real(self, logs: DensityLogs) -> arb:
        """Where m is next to q, from what the logarithms are apart: the terms cancel to u²."""
        u: arb = ball(self.gamma) * logs.ratio.expm1()
        if not abs(u) < _NEAR:
            return super().real(logs)
        value: arb = logs.q.exp() * self.function(u, u.log1p(), BALL.expm1, arb)
        return value

    def function(
        self,
        u: Number,
        log_m: Number,
        expm1: Callable[[Number], Number],
        whole: Callable[[int], Number],
    ) -> Number:
        """The function of u = γ(p/q − 1) and log(1+u), over q; `whole` makes a number of an int."""
        raise NotImplementedError

    def plain_beyond(self, mp: MPContext, gamma: Number) -> Number:
        """The expectation over p, where q is 0."""
        return mp.inf

    def log_mixture(self, log_ratio: Value) -> Value:
        """log(m/q)"""
        leads, rest = self.log_mean_ratio(log_ratio)
        return log_ratio + rest if leads else rest

    def log_mean_ratio(self, log_ratio: Value) -> tuple[bool, Value]:
        """(does p lead?, log(m/p) if so, else log(m/q)); either continues the real function."""
        if self.gamma == 1:
            return True, constant(log_ratio, 0)
        logs = [_log(share, ctx.prec) for share in self._shares]
        odds = log_ratio + constant(log_ratio, logs[0] - logs[1])
        leads = not middle(odds) < 0
        smaller = (-odds if leads else odds).exp()
        return leads, constant(odds, logs[not leads]) + (constant(odds, 1) + smaller).log()

    @cached_property
    def _shares(self) -> tuple[Fraction, Fraction]:
        """γ and 1 − γ"""
        return self.gamma, 1 - self.gamma


@lru_cache(256)
def _log(x: Fraction, bits: int) -> arb:
    """log x at the current precision, which is `bits`."""
    return ball(x).log()


def constant(like: Value, value: int | arb) -> Value:
    """A constant among such jets or balls."""
    return Jet(like.sort, acb(value), acb(0)) if isinstance(like, Jet) else arb(value)


def middle(one: Value) -> arb:
    """The real middle of a jet's value, or of a ball."""
    value: arb = one.value.real if isinstance(one, Jet) else one
    return value.mid()


@dataclass(frozen=True)
class Excess(MixtureIntegrand):
    """E_Q[(m/q)^β] − 1 for β > 1, or for β < 0 and γ < 1."""

    power: Fraction

    @property
    def powers(self) -> tuple[Fraction, Fraction]:  # type: ignore[override]
        return self.power, 1 - self.power

    def parts(self, logs: DensityLogs) -> list[Jet]:
        if logs.ratio is None:
            return [logs.p or logs.q] * (2 if logs.q is None else 1)
        # Where p leads, q(m/q)^β = p^β q^{1−β} (m/p)^β: near a pole of the moment this exponent
        # is a small rest of log p and log q, which balls do not cancel.
        leads, rest = self.log_mean_ratio(logs.ratio)
        raised = constant(logs.q, ball(self.power)) * rest
        return [(logs.blend if leads else logs.q) + raised, logs.q, logs.p]

    def combine(self, parts: list[acb]) -> acb:
        linear = ball(self.power * self.gamma)
        values = [part.exp() for part in parts]
        if len(values) == 1:  # q alone
            rest = ball(1 - self.gamma)
            return values[0] * ((rest ** ball(self.power) if rest > 0 else 0) - 1 + linear)
        if len(values) == 2:  # p alone lowers E_Q[u]; only β < 0 gets here
            return -linear * values[0]
        return values[0] - (1 - linear) * values[1] - linear * values[2]

    def function(
        self,
        u: Number,
        log_m: Number,
        expm1: Callable[[Number], Number],
        whole: Callable[[int], Number],
    ) -> Number:
        beta = whole(self.power.numerator) / whole(self.power.denominator)
        return (expm1(beta * log_m) if u > -1 else -1) - beta * u

    def plain_beyond(self, mp: MPContext, gamma: Number) -> Number:
        return -gamma * mp.mpf(self.power.numerator) / self.power.denominator

    def bounds(self, side: Side) -> Bounds:
        rest, linear = ball(1 - self.gamma), abs(ball(self.power * self.gamma))
        if side.logs[1] is None:
            return [(linear, _ONE, _ZERO)]
        if side.logs[0] is None:
            return [(1 + linear + (0 if self.power > 0 else rest ** ball(self.power)), _ZERO, _ONE)]
        if self.power < 0:
            return [(rest ** ball(self.power), _ZERO, _ONE), (linear, _ONE, _ZERO)]
        return [(rest + linear, _ZERO, _ONE), (ball(self.gamma), self.power, 1 - self.power)]

    def covers(self, side: Side) -> list[Bounds]:
        """Of β > 1 another too: (a + b)^β <= θ^{1−β} a^β + (1−θ)^{1−β} b^β for θ = 1/β."""
        if self.power < 1 or self.gamma == 1 or None in side.logs:
            return [self.bounds(side)]
        beta, gamma = ball(self.power), ball(self.gamma)
        rest = (beta * (1 - gamma)) ** beta / beta
        lead = gamma**beta * (1 - 1 / beta) ** (1 - beta)
        small = [(rest + beta * gamma, _ZERO, _ONE), (lead, self.power, 1 - self.power)]
        return [self.bounds(side), small]

    def diverges(self, side: Side) -> bool:
        return (self.power > 0 and side.logs[1] is None) or super().diverges(side)


@dataclass(frozen=True)
class Entropy(MixtureIntegrand):
    """E_Q[(m/q) log(m/q)], the Kullback–Leibler divergence of m from q."""

    def parts(self, logs: DensityLogs) -> list[Jet]:
        if logs.p is None:
            return [logs.q]
        return [logs.q, logs.p, self.log_mixture(logs.ratio)]

    def combine(self, parts: list[acb]) -> acb:
        gamma, q = ball(self.gamma), parts[0].exp()
        if len(parts) == 1:  # q alone
            rest = 1 - gamma
            return q * ((rest * rest.log() if self.gamma < 1 else 0) + gamma)
        p = parts[1].exp()
        return ((1 - gamma) * q + gamma * p) * parts[2] - gamma * (p - q)

    def function(self, u: Number, log_m: Number, *_: Callable[..., Number]) -> Number:
        return ((1 + u) * log_m if u > -1 else 0) - u

    def bounds(self, side: Side) -> Bounds:
        """γ p log⁺(p/q) + γq, log r <= r^η/(eη); without a proof of that, see `tail`."""
        gamma = ball(self.gamma)
        plain = [(gamma, _ZERO, _ONE)]
        if side.logs[0] is None:
            return plain
        tilt = self._tilt(side)
        if tilt is None:
            return plain
        return [*plain, (gamma / (ball(tilt) * arb(1).exp()), 1 + tilt, -tilt)]

    def _tilt(self, side: Side) -> Fraction | None:
        """An η for which p^{1+η} q^{−η} has a finite integral."""
        return next((eta for eta in _TILTS if side.converges(side.blend(1 + eta, -eta))), None)

    def diverges(self, side: Side) -> bool:
        if side.logs[1] is None:
            return True
        if side.is_regular or side.logs[0] is None or self._tilt(side) is not None:
            return False
        # Where log(p/q) < 0, p log(q/p) <= q/e: then this is finite, and not proved infinite.
        ratio = sympy.log(side.blend(_ONE, -_ONE))
        return not side.converges(collected(side.blend(_ONE, _ZERO) + ratio))

    def tail(self, side: Side, shifts: tuple[arb, arb], start: arb) -> arb:
        total = super().tail(side, shifts, start)
        if side.logs[0] is None or self._tilt(side) is not None:
            return total
        # |dw/d(log y)| <= h y^k gives |w(y)| <= |w(Y)| + (h/k) y^k <= c y^k, w = log(p/q).
        ratio = side.blend(_ONE, -_ONE)
        power, scale = side.growth(ratio, start)
        at_start = abs(side.value(ratio, start) - shifts[0] + shifts[1])
        scale = scale / ball(power) + at_start * start ** -ball(power)
        sign = 1 if side.is_infinite else -1
        rising = sign * sympy.Rational(str(power)) * sympy.log(symbols.t)
        exponent = side.blend(_ONE, _ZERO) + rising
        weight = ball(self.gamma) * scale * (-shifts[0]).exp()
        return total + weight * side.tail(exponent, start)


@dataclass(frozen=True)
class ReverseEntropy(MixtureIntegrand):
    """E_Q[log(q/m)], the Kullback–Leibler divergence of q from m; γ < 1."""

    def parts(self, logs: DensityLogs) -> list[Jet]:
        if logs.ratio is None:
            return [logs.p or logs.q] * (2 if logs.q is None else 1)
        return [logs.q, logs.p, self.log_mixture(logs.ratio)]

    def combine(self, parts: list[acb]) -> acb:
        gamma, q = ball(self.gamma), parts[0].exp()
        if len(parts) == 1:  # q alone
            return -q * ((1 - gamma).log() + gamma)
        if len(parts) == 2:  # p alone
            return gamma * q
        return gamma * (parts[1].exp() - q) - q * parts[2]

    def function(self, u: Number, log_m: Number, *_: Callable[..., Number]) -> Number:
        return u - log_m

    def plain_beyond(self, mp: MPContext, gamma: Number) -> Number:
        return gamma

    def bounds(self, side: Side) -> Bounds:
        gamma = ball(self.gamma)
        return [
            (coefficient, a, b)
            for coefficient, a, b, log in (
                (-(1 - gamma).log(), _ZERO, _ONE, side.logs[1]),
                (gamma, _ONE, _ZERO, side.logs[0]),
            )
            if log is not None
        ]


@dataclass(frozen=True)
class ChiDivergence(Integrand):
    """E_Q[(p/q − 1)^l] for a whole l >= 2."""

    l: int

    def parts(self, logs: DensityLogs) -> list[Jet]:
        return [logs.q] if logs.p is None else [logs.q, logs.ratio]

    def combine(self, parts: list[acb]) -> acb:
        step = parts[1].expm1() if len(parts) == 2 else acb(-1)
        return parts[0].exp() * step**self.l

    def bounds(self, side: Side) -> Bounds:
        plain = [(arb(1), _ZERO, _ONE)]
        if side.logs[0] is None:
            return plain
        return [*plain, (arb(1), Fraction(self.l), Fraction(1 - self.l))]

    def diverges(self, side: Side) -> bool:
        return side.logs[1] is None or super().diverges(side)


LogTotals = Callable[[], tuple[arb, arb]]


@steered_by_floats
def expectation(pieces: list[Side], integrand: Integrand, log_totals: LogTotals, bits: int) -> arb:
    """The integral to a relative accuracy of `bits` bits; ∞ where it is proved to be.

    `log_totals` are the logarithms of ∫p and ∫q at the current precision. PrecisionError where
    the accuracy is not reached: the value may be 0.
    """
    if any(integrand.diverges(side) for side in pieces):
        return arb("inf")
    working, size = bits + 40, None
    for _ in range(_ROUNDS):
        with ctx.workprec(working):
            shifts = log_totals()
            stretches = [Stretch(side, integrand, shifts) for side in pieces]
            if size is None:
                size = sum((one.rough_size() for one in stretches), arb(0))
            value = _total(stretches, integrand, size * arb(2) ** -(bits + 4))
        reached = max(-bits, value.rel_accuracy_bits()) if value.is_finite() else -bits
        if reached >= bits:
            return value
        size = abs(value.mid()) if reached > 4 else None
        working += max(bits - reached, working // 2)
    raise PrecisionError(
        f"an integral: found {max(reached, 0)} bits at a working precision of {working}, needed "
        f"{bits}; the value may be 0, or give the points where the densities are not smooth as "
        "cuts"
    )


@steered_by_floats
def mass(kernel: Kernel, bits: int) -> arb:
    """∫ e^log between the cuts, to a relative accuracy of `bits` bits; ∞ where that is proved."""
    zero = arb(0)
    return expectation(sides(kernel, kernel), Mass(), lambda: (zero, zero), bits)


def _total(stretches: list[Stretch], integrand: Integrand, tolerance: arb) -> arb:
    total = arb(0)
    for one in stretches:
        envelope = partial(integrand.tail, one.side, one.shifts)
        total += one.integral(envelope, tolerance)
    return total
