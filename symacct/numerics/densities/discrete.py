"""The expectations of `expectations` for two laws on 0, 1, 2, …, by sums with proved tails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from operator import sub

from flint import arb, ctx

from symacct.arithmetic import MpmathArithmetic, Number
from symacct.arithmetic.signs import log_sign
from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.core.forking import cached_property
from symacct.core.lazy_import import sympy
from symacct.numerics.densities.jets import constants
from symacct.numerics.densities.stretch import Bounds, DensityLogs, Integrand
from symacct.numerics.sums.refine import ball, within

_MOST_TERMS = 200_000
_FARTHEST = 2**64  # summit of the terms
_ROUNDS = 8
_SPARE = 80  # bits: where some 40 are lost a second round would double the time
_MOST_LOST_BITS = 4096  # of a sum whose first terms cancel


@dataclass(frozen=True)
class Progression:
    """log p_k = log p_0 + k·log(step), − log k! if `factorial`; step > 0."""

    start: sympy.Expr
    step: Fraction
    factorial: bool

    def formula(self, k: int | sympy.Symbol) -> sympy.Expr:
        """log p_k."""
        log = self.start + k * sympy.log(sympy.Rational(self.step.numerator, self.step.denominator))
        return log - sympy.log(sympy.factorial(k)) if self.factorial else log

    @property
    def balls(self) -> tuple[arb, arb]:
        """log p_0 and the logarithm of the step, at flint's current precision."""
        if ctx.prec not in self._balls:
            self._balls[ctx.prec] = constants(self.start).real, ball(self.step).log()
        return self._balls[ctx.prec]

    @cached_property
    def _balls(self) -> dict[int, tuple[arb, arb]]:
        """By precision: to look them up by a step of 10,000 digits takes longer than a term."""
        return {}


@dataclass(frozen=True)
class ProgressionSeries:
    """Two such laws, both with factorials or both without.

    p^a q^b with a + b = 1 has the quotients step_p^a step_q^b, over k + 1 with factorials: they
    do not rise, so that what follows a term is at most a geometric series. To an integrand it is
    the one side of a piece, y being k.
    """

    logs: tuple[Progression, Progression]
    is_regular = False

    def blend(self, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
        """p^a q^b"""
        return a, b

    def converges(self, powers: tuple[Fraction, Fraction]) -> bool:
        """Is Σ p^a q^b finite?"""
        first, second = self.logs
        if first.factorial:
            return True
        return log_sign(powers[0], first.step, powers[1], second.step) < 0

    def tail(self, powers: tuple[Fraction, Fraction], start: int) -> arb:
        """A bound of Σ p^a q^b over k >= start; ∞ where the quotients are not below 1 yet."""
        quotient = self._rate(powers)
        if self.logs[0].factorial:
            quotient /= start + 1
        return self._term(powers, start) / (1 - quotient) if quotient < 1 else arb("inf")

    def head(self, powers: tuple[Fraction, Fraction], end: int) -> arb:
        """A bound of Σ p^a q^b over k < end; ∞ where the quotients are not above 1 there."""
        quotient = self._rate(powers)
        if self.logs[0].factorial:
            quotient /= end
        return self._term(powers, end) / (quotient - 1) if quotient > 1 else arb("inf")

    def _rate(self, powers: tuple[Fraction, Fraction]) -> arb:
        """The quotient of two terms of p^a q^b, times k + 1 with factorials."""
        (_, first), (_, second) = (one.balls for one in self.logs)
        return (ball(powers[0]) * first + ball(powers[1]) * second).exp()

    def _term(self, powers: tuple[Fraction, Fraction], k: int) -> arb:
        log_p, log_q = self._logs(k)
        return (ball(powers[0]) * log_p + ball(powers[1]) * log_q).exp()

    def _logs(self, k: int) -> list[arb]:
        """log p_k and log q_k."""
        shared = arb(k + 1).lgamma() if self.logs[0].factorial else arb(0)
        return [start + k * step - shared for start, step in (one.balls for one in self.logs)]

    def expectation(self, integrand: Integrand, bits: int) -> arb:
        """Σ of the integrand to a relative accuracy of `bits` bits; ∞ where it is."""
        if integrand.diverges(self):  # type: ignore[arg-type]
            return arb("inf")
        working, most = bits + _SPARE, 16 * bits + _MOST_LOST_BITS
        for _ in range(_ROUNDS):
            with ctx.workprec(working):
                value = self._total(integrand, bits)
            reached = max(-bits, value.rel_accuracy_bits())
            if reached >= bits:
                return value
            if working == most:
                break
            working = min(working + max(bits - reached, working // 2), most)
        raise PrecisionError(
            f"a sum: found {max(reached, 0)} bits at a working precision of {working}, needed "
            f"{bits}; the value may be 0"
        )

    def _total(self, integrand: Integrand, bits: int) -> arb:
        """Terms from k = 0 on, but for stretches that are proved to be small beside the sum."""
        steps = [one.balls[1] for one in self.logs]
        summits = self._summits(integrand)
        highest = max((abs(_at(integrand, self._logs(k)).mid()) for k in summits), default=arb(0))
        starts = [_before(summit, bits) for summit in summits]
        if sum(map(sub, summits, starts)) > _MOST_TERMS:
            raise _too_long()
        total, left_out, k, logs = arb(0), arb(0), 0, self._logs(0)
        for taken in range(_MOST_TERMS):
            if taken % 16 == 0:
                small = max(abs(total.mid()), highest) * arb(2) ** -(bits + 6)
                rest = self._between(integrand, k, None)
                if rest <= small:
                    return total + within(left_out + rest)
                # Where the sum is lost in its own rounding, more terms add nothing.
                for start in starts:
                    if start > k and (gap := self._between(integrand, k, start)) <= small:
                        left_out, k, logs = left_out + gap, start, self._logs(start)
                        break
            total += _at(integrand, logs)
            common = arb(k + 1).log() if self.logs[0].factorial else arb(0)
            logs = [log + step - common for log, step in zip(logs, steps, strict=True)]
            k += 1
        raise _too_long()

    def _summits(self, integrand: Integrand) -> list[int]:
        """Where what bounds the integrand is largest, the farthest first."""
        if not self.logs[0].factorial:
            return []
        rates = [self._rate((a, b)) for _, a, b in integrand.bounds(self)]  # type: ignore[arg-type]
        if not all(rate < _FARTHEST for rate in rates):
            raise _too_long()
        return sorted({int(rate.mid().floor().fmpz()) for rate in rates}, reverse=True)

    def _between(self, integrand: Integrand, start: int, end: int | None) -> arb:
        """A bound of the integrand's sum over start <= k < end, to ∞ without an end."""

        def power(a: Fraction, b: Fraction) -> arb:
            after = self.tail((a, b), start)
            return after if end is None else after.min(self.head((a, b), end))

        def total(bounds: Bounds) -> arb:
            return sum((c * power(a, b) for c, a, b in bounds), arb(0))

        first, *others = map(total, integrand.covers(self))  # type: ignore[arg-type]
        for other in others:
            first = first.min(other)
        return abs(first)

    def plain(self, ctx: MpmathArithmetic, integrand: Integrand) -> Number:
        """The sum in mpmath's arithmetic, to the last term that counts there."""
        starts = [ctx.number(one.start) for one in self.logs]
        steps = [ctx.log(ctx.number(one.step)) for one in self.logs]
        with ctx.mp.workprec(3 * ctx.bits):
            total, k = ctx.mp.mpf(0), 0
            while True:
                deadline.check()
                shared = ctx.mp.loggamma(k + 1) if self.logs[0].factorial else 0
                p, q = (a + k * b - shared for a, b in zip(starts, steps, strict=True))
                term = integrand.mp_value(ctx.mp, p, q)
                total += term
                k += 1
                if k > 64 and abs(term) * k <= abs(total) * ctx.mp.mpf(2) ** -(2 * ctx.bits):
                    return total
                if k > _MOST_TERMS:
                    raise PrecisionError("a sum: found too many terms, needed fewer")


def _too_long() -> PrecisionError:
    return PrecisionError(
        f"a sum: found more than {_MOST_TERMS:,} terms that count, needed fewer",
        remedy="take laws of smaller means",
    )


def _before(summit: int, bits: int) -> int:
    """From where on a law of Poisson's kind with this mean has all but 2^−bits of its mass."""
    return max(0, summit - 2 - math.isqrt(2 * (bits + 24) * (summit + 1)))


def _at(integrand: Integrand, logs: list[arb]) -> arb:
    """The integrand where log p and log q are these."""
    (log_p, log_q), (a, b) = logs, integrand.powers or (Fraction(0), Fraction(0))
    blend = ball(a) * log_p + ball(b) * log_q
    return integrand.real(DensityLogs(log_p, log_q, log_p - log_q, blend))
