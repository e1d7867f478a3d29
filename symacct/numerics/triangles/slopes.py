"""The slope along the triangles of fixed-size sampling, without an integral.

dG/dB = ½α(α−1)γ²κ H(B), H(B) = E[Y(Y−X) n^{−2} (1+s)^{α−1}], s = (m−n)/n (docs/proofs.md, section
14). To a degree K in x = γ/κ it is a sum of exponentials in B. What is left out is bounded for all
B at once, and of that which may be large, far from where the laws are, the sign is known.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from symacct.core.forking import cached_property
from symacct.numerics.sums.refine import ball, within

_BITS = 128
_DEGREES = range(1, 26, 2)
_FINE = Fraction(1, 2**24)  # of δ², the size of H: what is left out so decides nothing
_COARSE = Fraction(1, 16)
_MOST_TERMS = 4096
_TAYLOR = 4  # terms of H about the middle of a piece


@dataclass(frozen=True)
class Slopes:
    """Σ weight e^{rate·B} − below <= κ²H(B) <= Σ weight e^{rate·B} + above, on all of [0, δ²]."""

    weights: dict[Fraction, arb]
    below: arb
    above: arb
    bits: int

    def over(self, low: Fraction, high: Fraction) -> tuple[arb, arb]:
        """At least and at most what κ²H(B) is at all these B, by Taylor's formula."""
        with ctx.workprec(self.bits):
            whole, middle = ball(low).union(ball(high)), ball((low + high) / 2)
            half, reach = ball((high - low) / 2), arb(1)
            total = self._derivative(0, middle)
            for n in range(1, _TAYLOR + 1):
                reach *= half / n
                place = middle if n < _TAYLOR else whole
                total += self._derivative(n, place) * within(reach)
            return (total - self.below).lower(), (total + self.above).upper()

    def rise_between(self, low: Fraction, high: Fraction) -> arb:
        """At most the integral of κ²H from the one B to the other."""
        with ctx.workprec(self.bits):
            ends = ball(low), ball(high)
            before, after = (self._derivative(-1, end) for end in ends)
            return after - before + self.above * (ends[1] - ends[0])

    def _derivative(self, n: int, square: arb) -> arb:
        """The n-th of the sum, whose rates are positive; for −1 an integral of it."""
        terms = (
            weight * ball(rate**n) * (ball(rate) * square).exp()
            for rate, weight in self.weights.items()
        )
        return sum(terms, arb(0))


@lru_cache(maxsize=256)
def slopes(alpha: Fraction, gamma: Fraction, delta: Fraction) -> Slopes | None:
    """By the first degree that leaves out little, or the best; None where that is too much."""
    # What is left of 1 is of the size δ².
    lost = 2 * max(0, delta.denominator.bit_length() - delta.numerator.bit_length())
    with ctx.workprec(_BITS + lost):
        expansion = SlopeSeries(alpha - 1, gamma / (1 - gamma), delta**2)
        fine, coarse = (ball(share * delta**2) for share in (_FINE, _COARSE))
        best, left = 0, coarse
        for degree in _DEGREES:
            found = expansion.left_out(degree)
            if found < left:
                best, left = degree, found
            if left < fine:
                break
        return expansion.cut(best, left) if best else None


class SlopeSeries:
    """κ²H to some degree in x; p = α − 1."""

    def __init__(self, power: Fraction, x: Fraction, top: Fraction) -> None:
        self.power, self.top = power, ball(top)
        self.x, self.p = ball(x), ball(power)

    @cached_property
    def binomials(self) -> list[arb]:
        """C(p, k)"""
        found = [arb(1)]
        for k in range(max(_DEGREES)):
            found.append(found[-1] * (self.p - k) / (k + 1))
        return found

    def moment(self, i: arb | int, j: int) -> arb:
        """E[X^i Y^j] at B = δ², where it is the largest."""
        i = arb(i)
        return ((i * (i - 1) + j * (j - 1) + i * j) * self.top / 2).exp()

    def left_out(self, degree: int) -> arb:
        """Of n^{−k−2} from x^{K−k} on, for all k < K: |X−Y|^{k+1} <= X^{k+1} + Y^{k+1}."""
        total = arb(0)
        for k in range(degree):
            rest = degree - k
            size = self.moment(k + 1, rest + 1) + self.moment(0, degree + 2)
            total += abs(self.binomials[k]) * math.comb(degree + 1, rest) * size
        return total * self._power_of_x(degree)

    def cut(self, degree: int, error: arb) -> Slopes:
        """The sum to this degree, and between what the truth lies."""
        last, binomial = self._last(degree), self.binomials[degree]
        below = arb(0) if binomial < 0 else last
        above = arb(0) if binomial >= 0 else last
        return Slopes(self._weights(degree), error + below, error + above, ctx.prec)

    def _weights(self, degree: int) -> dict[Fraction, arb]:
        """−Σ C(p,k) C(−k−2,j) x^{k+j} E[Y^{j+1}(X−Y)^{k+1}], k + j < K, by their rates in B."""
        found: dict[Fraction, arb] = defaultdict(arb)
        for k in range(degree):
            for j in range(degree - k):
                factor = self.binomials[k] * self._power_of_x(k + j) * math.comb(k + j + 1, j)
                for i in range(k + 2):
                    other = j + k + 2 - i
                    sign = (-1) ** other
                    weight = factor * math.comb(k + 1, i) * (i * (i - 1) * self.top / 2).exp()
                    found[Fraction(other * (other - 1) + i * other, 2)] += sign * weight
        return found

    def _last(self, degree: int) -> arb:
        """|C(p,K)| x^K E[Y(X^{K+1}+Y^{K+1})(1+xX)^q], q = max{0, p−K}.

        By the binomial series up to ⌊q⌋ and (1+xX)^f <= 1 + (xX)^f for the rest f of q.
        """
        q = max(Fraction(0), self.power - degree)
        whole = math.floor(q)
        if whole > _MOST_TERMS:
            return arb("inf")
        total, weight = arb(0), abs(self.binomials[degree]) * self._power_of_x(degree)
        for i in range(whole + 1):
            total += weight * self._both(degree, arb(i))
            if i < whole:
                weight *= self.x * (ball(q) - i) / (i + 1)
        if q > whole:
            total += weight * (ball(q - whole) * self.x.log()).exp() * self._both(degree, ball(q))
        return total

    def _both(self, degree: int, i: arb) -> arb:
        """E[Y(X^{K+1} + Y^{K+1})X^i]"""
        return self.moment(i + degree + 1, 1) + self.moment(i, degree + 2)

    def _power_of_x(self, k: int) -> arb:
        return self.x**k if k else arb(1)
