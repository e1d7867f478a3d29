"""∫ m log(m/n) of two sampled normal laws by their moments, where the rate is small."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx

from symacct.numerics.sums.refine import ball, within

_TERMS = 31  # the most that are tried
_SPARE_BITS = 16


def terms(gamma: Fraction, ratio: Fraction, bits: int) -> int | None:
    """An odd n whose moments n + 1 are below the second ones by so many bits, or None."""
    falls = math.log2(gamma.denominator) - math.log2(gamma.numerator)
    for n in range(3, _TERMS + 1, 2):
        left = (n - 1) * falls - math.log2(math.factorial(n + 1)) - bits - _SPARE_BITS
        if left > Fraction(3 * n * (n + 1), 4) / ratio**2:
            return n
    return None


def relative_entropy(gamma: Fraction, ratio: Fraction, other: int, n: int, bits: int) -> arb:
    """∫ m log(m/n), m = (1−γ)N(0) + γN(1), n = (1−γ)N(0) + γN(other), of standard deviation ratio.

    Under N(0), u = m/N(0) − 1 and v alike, it is E[(1+u)log(1+u) − u] less
    E[(1+u)log(1+v) − v], by Taylor's series up to order n, odd (docs/proofs.md, section 29).
    """
    with ctx.workprec(2 * bits + _SPARE_BITS):
        rate, square = ball(gamma), ball(1 / ratio**2)

        def moment(i: int, j: int) -> arb:
            """E[u^i v^j]"""
            total = arb(0)
            for a in range(i + 1):
                for b in range(j + 1):
                    mean = (a + b * other) ** 2 - a - b * other**2
                    sign = (-1) ** (i + j - a - b)
                    total += sign * math.comb(i, a) * math.comb(j, b) * (square * mean / 2).exp()
            return rate ** (i + j) * total

        total = sum(((-1) ** k * moment(k, 0) / (k * (k - 1)) for k in range(2, n + 1)), arb(0))
        left_out = moment(n + 1, 0) / n
        if other:
            total += sum(((-1) ** k * moment(0, k) / k for k in range(2, n + 1)), arb(0))
            total += sum(((-1) ** k * moment(1, k) / k for k in range(1, n)), arb(0))
            left_out += moment(n + 1, 0) / n + 2 * moment(0, n + 1) / n
        return total + within(left_out / (1 - rate) ** (n + 1))
