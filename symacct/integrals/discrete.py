"""The same expectations for two laws on 0, 1, 2, …, by sums with proved tails."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy
from flint import acb, arb, ctx

from symacct.arithmetic import MpmathArithmetic, Number
from symacct.arithmetic.signs import log_sign
from symacct.errors import PrecisionError
from symacct.integrals.jets import ComplexBalls, Jet, constants
from symacct.integrals.stretch import Integrand, Logs
from symacct.sums.refine import ball, within

_MOST_TERMS = 200_000
_ROUNDS = 8
_MOST_LOST_BITS = 4096  # of a sum whose first terms cancel
_NO_SHIFTS = (arb(0), arb(0))


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


@dataclass(frozen=True)
class Series:
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

    def goes(self, powers: tuple[Fraction, Fraction]) -> bool:
        """Is Σ p^a q^b finite?"""
        first, second = self.logs
        if first.factorial:
            return True
        return log_sign(powers[0], first.step, powers[1], second.step) < 0

    def tail(self, powers: tuple[Fraction, Fraction], start: int) -> arb:
        """A bound of Σ p^a q^b over k >= start; ∞ where the quotients are not below 1 yet."""
        (first, second), (a, b) = self.logs, (ball(powers[0]), ball(powers[1]))
        quotient = (a * ball(first.step).log() + b * ball(second.step).log()).exp()
        if first.factorial:
            quotient /= start + 1
        if not quotient < 1:
            return arb("inf")
        log_p, log_q = (self._log(one, start) for one in self.logs)
        return (a * log_p + b * log_q).exp() / (1 - quotient)

    def _log(self, one: Progression, k: int) -> arb:
        log = _start(one) + k * ball(one.step).log()
        return log - arb(k + 1).lgamma() if one.factorial else log

    def expectation(self, integrand: Integrand, bits: int) -> arb:
        """Σ of the integrand to a relative accuracy of `bits` bits; ∞ where it is."""
        if integrand.diverges(self):  # type: ignore[arg-type]
            return arb("inf")
        working, most = bits + 40, 16 * bits + _MOST_LOST_BITS
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
            f"a sum: {bits} bits wanted, {max(reached, 0)} reached at {working}; the value may be 0"
        )

    def _total(self, integrand: Integrand, bits: int) -> arb:
        """Terms from k = 0 on, until the rest is proved to be small beside their sum."""
        if self.logs[0].factorial and min(one.step for one in self.logs) > _MOST_TERMS:
            raise _too_long()  # both laws still rise there
        steps = [ball(one.step).log() for one in self.logs]
        logs = [_start(one) for one in self.logs]
        total = arb(0)
        for k in range(_MOST_TERMS):
            total += _term(integrand, *logs)
            common = arb(k + 1).log() if self.logs[0].factorial else arb(0)
            logs = [log + step - common for log, step in zip(logs, steps, strict=True)]
            if k % 16 == 0:
                rest = integrand.tail(self, _NO_SHIFTS, k + 1)  # type: ignore[arg-type]
                # Where the sum is lost in its own rounding, more terms add nothing.
                if rest <= abs(total).upper() * arb(2) ** -(bits + 4):
                    return total + within(rest)
        raise _too_long()

    def plain(self, ctx: MpmathArithmetic, integrand: Integrand) -> Number:
        """The sum in mpmath's arithmetic, to the last term that counts there."""
        starts = [ctx.number(one.start) for one in self.logs]
        steps = [ctx.log(ctx.number(one.step)) for one in self.logs]
        with ctx.mp.workprec(3 * ctx.bits):
            total, k = ctx.mp.mpf(0), 0
            while True:
                shared = ctx.mp.loggamma(k + 1) if self.logs[0].factorial else 0
                p, q = (a + k * b - shared for a, b in zip(starts, steps, strict=True))
                term = integrand.plainly(ctx.mp, p, q)
                total += term
                k += 1
                if k > 64 and abs(term) * k <= abs(total) * ctx.mp.mpf(2) ** -(2 * ctx.bits):
                    return total
                if k > _MOST_TERMS:
                    raise PrecisionError("a sum: found too many terms, needed fewer")


def _too_long() -> PrecisionError:
    return PrecisionError(
        f"a sum: found more than {_MOST_TERMS:,} terms that count, needed fewer; "
        "take laws of smaller means"
    )


def _start(one: Progression) -> arb:
    return constants(one.start).real


def _term(integrand: Integrand, log_p: arb, log_q: arb) -> arb:
    a, b = integrand.powers or (Fraction(0), Fraction(0))
    logs = (log_p, log_q, log_p - log_q, ball(a) * log_p + ball(b) * log_q)
    jets = (Jet(ComplexBalls(), acb(log), acb(0)) for log in logs)
    return integrand.combine([part.value for part in integrand.parts(Logs(*jets))]).real
