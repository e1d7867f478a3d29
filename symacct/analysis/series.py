"""Series, theta sums and moments of sums are computed with proved remainders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from flint import arb, arb_series, ctx, fmpq, fmpz, fmpz_poly

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, steered_by_floats, up_to, within
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact

# --- alternating series
#
# Alternating series whose terms are a Hausdorff moment sequence, with a proved remainder.

#: Bits that one more term gives an accelerated sum: log₂(3 + √8), rounded down. It steers the
#: number of terms, for any of which the remainder is bounded.
_BITS_PER_TERM = 2.543


@lru_cache(maxsize=256)
def acceleration_weights(n: int) -> tuple[fmpz, tuple[fmpz, ...]]:
    """d = T_n(3) and the integer coefficients of (d − T_n(1−2x))/(1+x) (Cohen–RV–Zagier 2000)."""
    shifted = fmpz_poly.chebyshev_t(n)(fmpz_poly([1, -2]))
    d = shifted(-1)
    return d, tuple(((d - shifted) // fmpz_poly([1, 1])).coeffs())


# Proved in docs/proofs/sums.md, Lemma acceleration.
def accelerated_sum(terms: list[arb]) -> arb:
    """Σ_{k≥0} (−1)^k a_k in a ball, from a_0 … a_{n−1}, where a_k = ∫₀¹ x^k dμ with μ ≥ 0.

    The error of the weighted sum S_n is at most S/T_n(3), hence at most S_n/(T_n(3) − 1)
    (Cohen–Rodriguez Villegas–Zagier 2000, Proposition 1); it is added as a radius.
    """
    d, weights = acceleration_weights(len(terms))
    total = arb(0)
    for weight, term in zip(weights, terms, strict=True):
        total += weight * term
    return total / d * (1 + arb(0, 1 / (arb(d) - 1)))


def alternating_sum(terms: Iterator[arb], tolerance: arb) -> arb:
    """Σ_{k≥0} (−1)^k a_k in a ball to about the tolerance, where a_k = ∫₀¹ x^k dμ with μ ≥ 0.

    Plainly where a term falls below the tolerance, else by Chebyshev weights.
    """
    first = next(terms)
    needed = _terms_needed(first / tolerance)
    taken = [first]
    while len(taken) < needed:
        deadline.check()
        term = next(terms)
        if term < tolerance:
            return _plain_sum(taken, term)
        taken.append(term)
    return accelerated_sum(taken)


def _terms_needed(ratio: arb) -> int:
    """About the n with a_0/T_n(3) at most the tolerance, from their ratio, as T_n(3) > (3+√8)^n/2.

    It steers: `accelerated_sum` bounds its error for any n.
    """
    mantissa, exponent = ratio.mid().man_exp()
    return max(2, int((mantissa.bit_length() + int(exponent) + 1) / _BITS_PER_TERM) + 1)


def _plain_sum(terms: list[arb], following: arb) -> arb:
    """Σ_{k≥0} (−1)^k a_k of falling terms in a ball: those below n, and a_n bounds the rest."""
    total = arb(0, following)
    for k, term in enumerate(terms):
        total += -term if k % 2 else term
    return total


def binomial_integral(alpha: Fraction, moments: Iterator[arb], reach: arb, tolerance: arb) -> arb:
    """∫(1+x)^α dμ = Σ_i C(α,i) M_i in a ball, M_i = ∫x^i dμ, μ ≥ 0 on [0, reach], reach ≤ 1, α > 0.

    For i ≤ α the terms from i on add up to something between 0 and C(α,i) M_i (1+reach)^{α−i}
    (Taylor's remainder). Past α they alternate, and their absolute values are the moments of a
    measure on [0, 1] (docs/proofs/sums.md, Lemma power-moments).
    """
    numerator, denominator = alpha.numerator, alpha.denominator
    base = 1 + reach
    total, binomial, power = arb(0), arb(1), base ** arb(fmpq(numerator, denominator))
    moment = next(moments)
    for i in range(int(alpha) + 1):
        deadline.check()
        term = binomial * moment
        if (rest := term * power) < tolerance:
            return total + up_to(rest)
        total += term
        binomial = binomial * (numerator - i * denominator) / (denominator * (i + 1))
        power /= base
        moment = next(moments)
    return total + alternating_sum(_beyond(alpha, binomial, moment, moments), tolerance)


def _beyond(alpha: Fraction, binomial: arb, moment: arb, moments: Iterator[arb]) -> Iterator[arb]:
    """|C(α,i)| M_i for i = ⌊α⌋+1, …, from the first of both factors.

    It has no end, so who reads it looks at the time.
    """
    numerator, denominator = alpha.numerator, alpha.denominator
    i = int(alpha) + 1
    while True:
        yield binomial * moment
        binomial = binomial * (i * denominator - numerator) / (denominator * (i + 1))
        moment = next(moments)
        i += 1


# --- theta sums
#
# log Θ(0)/Θ(x), Θ(x) = Σ_k e^{−(k−x)²/(2σ²)} over all whole numbers k, with a proved tail.

_HALF = Fraction(1, 2)


def log_theta_ratio(sigma: arb, x: Fraction) -> arb:
    """log Θ(0)/Θ(x) >= 0 in a ball, of period 1 in x and 0 at whole x, to all digits near them.

    By the sum itself where σ < ½, else by Poisson's, Θ(x)/Θ(0) = 1 − 4 Σ_{n>=1} h(n) sin²(πnx)/Θ̂
    with h(n) = e^{−2π²σ²n²} and Θ̂ = 1 + 2 Σ h(n).
    """
    x = abs(x - round(x))
    if x == 0:
        return arb(0)
    if sigma < ball(_HALF):
        return _directly(sigma, x)
    rate = 2 * (arb.pi() * sigma) ** 2
    waves = _sum(rate, lambda n: (n * ball(x)).sin_pi() ** 2, ball(x).sin_pi() ** 2)
    return -(-4 * waves / _whole(rate)).log1p()


def theta_at_0(sigma: arb) -> arb:
    """Θ(0) in a ball, by the sum itself where σ < ½, else by Poisson's, σ√(2π) Θ̂."""
    if sigma < ball(_HALF):
        return _whole(1 / (2 * sigma**2))
    return sigma * (2 * arb.pi()).sqrt() * _whole(2 * (arb.pi() * sigma) ** 2)


def _directly(sigma: arb, x: Fraction) -> arb:
    """log Θ(0)/Θ(x) in a ball by the sum over whole numbers; 0 < x <= ½, and 0 < σ <= ½ for `_sum`.

    x²/(2σ²) − log(1 + Σ_{k>=1} e^{−k²/(2σ²)} (2 cosh(kx/σ²) − 2)/Θ(0))

    As 2 cosh y − 2 <= y² e^y and kx <= k/2, a term is at most (x/σ²)² k² e^{−(k²−k)/(2σ²)}.
    """
    rate, tilt = 1 / (2 * sigma**2), ball(x) / sigma**2

    def wave(k: int) -> arb:
        return 4 * (k * tilt / 2).sinh() ** 2

    pairs = _sum(rate, wave, tilt**2 * rate.exp(), lost=1)
    return ball(x) ** 2 * rate - (pairs / _whole(rate)).log1p()


def _whole(rate: arb) -> arb:
    """1 + 2 Σ_{n>=1} e^{−rate·n²} in a ball, rate >= 2."""
    return 1 + 2 * _sum(rate, lambda n: arb(1), arb(1))


def _sum(rate: arb, wave: Callable[[int], arb], most: arb, lost: int = 0) -> arb:
    """Σ_{n>=1} e^{−rate·n²} wave(n) in a ball, for rate >= 2.

    0 <= wave(n) <= most·n² e^{rate·lost(n−1)}.

    What bounds the terms falls by e^{−rate(2n+1−lost)}(1+1/n)² from one to the next, by half at
    least for rate >= 2: so the rest is at most twice its first bound. Where balls
    tell nothing of the total it ends as well, and more bits are needed.
    """
    total, n = arb(0), 1
    while True:
        deadline.check()
        total += (-rate * n * n).exp() * wave(n)
        n += 1
        rest = 2 * most * n * n * (-rate * (n * n - lost * (n - 1))).exp()
        if not rest > abs(total) * arb(2) ** -ctx.prec:
            return total + within(rest)


# --- moments of sums
#
# E[S^z] of a sum S of t independent copies of a variable W > 0, at every real z, in balls.
#
# With θ = n − z > 0 it is Γ(θ)^{−1} ∫ u^{θ−1} E[Sⁿ e^{−uS}] du, and E[Sⁿ e^{−uS}] is n! times the
# n-th coefficient of (Σ_k E[W^k e^{−uW}] x^k/k!)^t. In log u the trapezoidal rule has a *relative*
# error (docs/proofs/allocations.md, Lemmas lognormal-moments and laplace-ratio-moments).

#: Nats by which the sum's error is aimed below 2^−bits; bounds do not rest on it.
_SPARE_NATS = 8.0
#: Bits of exponents and places where few bits of a moment are asked. Of fewer the balls are wider.
FEW_BITS = 64
#: The least θ = n − z: a smaller one makes the integrand fall slowly for u → 0. A larger one costs
#: differences.
_SMALLEST_THETA = 4
#: The largest n of an integral, whose cost grows with it; PrecisionError beyond.
_LARGEST_WHOLE_ORDER = 96
#: The largest whole order whose moment is asked of the closed form. A fractional order takes those
#: of 48 whole orders beyond its own, and so has a closed form below 2001. At the largest one
#: a moment takes about half a second; beyond, the integral refuses it.
_LARGEST_CLOSED_ORDER = 2048
#: The whole orders beyond its own by which a fractional order is enclosed. The rest is bounded:
#: more take longer, and narrow the enclosure.
_MOST_DIFFERENCES = 48


class SumMoments:
    """Moments of a sum are E[S^z] in balls, S of `count` copies of W > 0, to a relative 2^−bits."""

    #: What is summed, as a noun in the plural for messages.
    called: ClassVar[str]
    count: int
    bits: int

    def variable_moments(self, n: int) -> list[arb]:
        """E[W^k] in balls for 0 <= k <= n."""
        raise NotImplementedError

    def _integral(self, n: int, theta: arb) -> arb:
        """∫ e^{θx} E[Sⁿ e^{−e^x S}] dx in a ball for θ > 0, by a sum of positive terms."""
        raise NotImplementedError

    @steered_by_floats
    def moment(self, z: Exact) -> arb:
        """E[S^z] in a ball for a real z that is not 0.

        In closed form at whole z > 0, between them where their differences tell; else an integral,
        with PrecisionError for z >= 93.
        """
        if z > 0 and (known := self._by_whole_orders(math.floor(z), z - math.floor(z))) is not None:
            return known
        n = max(0, math.floor(z) + _SMALLEST_THETA)
        if n > _LARGEST_WHOLE_ORDER:
            raise PrecisionError(
                f"a moment of {self.count} {self.called}: found the order {float(z):.6g}, "
                f"needed one below {_LARGEST_WHOLE_ORDER - _SMALLEST_THETA + 1}"
            )
        with ctx.workprec(max(self.bits, FEW_BITS)):
            theta = n - BALL.number(z)
            return self._integral(n, theta) / theta.gamma()

    def _by_whole_orders(self, n: int, part: Exact) -> arb | None:
        """E[S^{n+part}] in a ball, 0 <= part < 1, between the means of two polynomials.

        In x = S/c − 1, under the weight Sⁿ. Of odd degree Taylor's of (1+x)^part is nowhere below
        it, and 1+x times that of (1+x)^{part−1} nowhere above. None where they leave too few bits.
        """
        if n + (_MOST_DIFFERENCES if part else 0) > _LARGEST_CLOSED_ORDER:
            return None
        if part == 0:
            with ctx.workprec(max(self.bits, FEW_BITS)):
                return self._powers(n, self.variable_moments(n))[0]
        with ctx.workprec(3 * self.bits + FEW_BITS):
            whole = self._powers(n, self.variable_moments(n + _MOST_DIFFERENCES))
            centre, exponent = whole[1] / whole[0], BALL.number(part)
            differences = [x / (whole[0] * centre**i) for i, x in enumerate(whole)]
            for j in range(1, _MOST_DIFFERENCES + 1):  # E xⁱ for i < j stand before
                for i in range(_MOST_DIFFERENCES, j - 1, -1):
                    differences[i] -= differences[i - 1]
            high, low, high_share, low_share = arb(0), arb(0), arb(1), arb(1)
            for j in range(_MOST_DIFFERENCES):
                high += high_share * differences[j]
                low += low_share * (differences[j] + differences[j + 1])
                high_share *= (exponent - j) / (j + 1)
                low_share *= (exponent - 1 - j) / (j + 1)
                if j % 2:
                    between = low.union(high)
                    if between.rel_accuracy_bits() >= self.bits:
                        return whole[0] * centre**exponent * between
        return None

    @property
    def _need(self) -> float:
        """Nats below the value at which the sum's error is aimed."""
        return self.bits * math.log(2) + _SPARE_NATS

    def _powers(self, first: int, terms: list[arb]) -> list[arb]:
        """k! times the k-th coefficient of (Σ a_k x^k/k!)^t, k from `first` on, a_k the terms."""
        series = [term / arb.fac_ui(k) for k, term in enumerate(terms)]
        before, ctx.cap = ctx.cap, len(terms)
        try:
            coefficients = (arb_series(series) ** self.count).coeffs()
        finally:
            ctx.cap = before
        return [coefficients[k] * arb.fac_ui(k) for k in range(first, len(terms))]
