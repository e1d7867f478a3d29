"""Alternating series whose terms are a Hausdorff moment sequence, with a proved remainder."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from flint import arb, fmpq, fmpz, fmpz_poly

from symacct.kernel import deadline
from symacct.kernel.sums.balls import up_to

_BITS_PER_TERM = 2.543  # log2(3 + sqrt 8), rounded down


@lru_cache(maxsize=256)
def acceleration_weights(n: int) -> tuple[fmpz, tuple[fmpz, ...]]:
    """d = T_n(3) and the integer coefficients of (d − T_n(1−2x))/(1+x) (Cohen–RV–Zagier 2000)."""
    shifted = fmpz_poly.chebyshev_t(n)(fmpz_poly([1, -2]))
    d = shifted(-1)
    return d, tuple(((d - shifted) // fmpz_poly([1, 1])).coeffs())


def accelerated_sum(terms: list[arb]) -> arb:
    """Σ_{k≥0} (−1)^k a_k from a_0 … a_{n−1}, where a_k = ∫₀¹ x^k dμ with μ ≥ 0.

    The error of the weighted sum S_n is at most S/T_n(3), hence at most S_n/(T_n(3) − 1)
    (Cohen–Rodriguez Villegas–Zagier 2000, Proposition 1); it is added as a radius.
    """
    d, weights = acceleration_weights(len(terms))
    total = arb(0)
    for weight, term in zip(weights, terms, strict=True):
        total += weight * term
    return total / d * (1 + arb(0, 1 / (arb(d) - 1)))


def alternating_sum(terms: Iterator[arb], tolerance: arb) -> arb:
    """Σ_{k≥0} (−1)^k a_k, a_k = ∫₀¹ x^k dμ, μ ≥ 0, to about the tolerance, plain or faster."""
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
    """An n with a_0/T_n(3) at most the tolerance, since T_n(3) > (3+√8)^n/2, from their ratio."""
    mantissa, exponent = ratio.mid().man_exp()
    return max(2, int((mantissa.bit_length() + int(exponent) + 1) / _BITS_PER_TERM) + 1)


def _plain_sum(terms: list[arb], following: arb) -> arb:
    """Σ_{k<n} (−1)^k a_k with the bound a_n on the rest of a decreasing alternating series."""
    total = arb(0, following)
    for k, term in enumerate(terms):
        total += -term if k % 2 else term
    return total


def binomial_integral(alpha: Fraction, moments: Iterator[arb], reach: arb, tolerance: arb) -> arb:
    """∫(1+x)^α dμ = Σ_i C(α,i) M_i for M_i = ∫x^i dμ, μ ≥ 0 on [0, reach], reach ≤ 1, α > 0.

    For i ≤ α the terms from i on add up to something between 0 and C(α,i) M_i (1+reach)^{α−i}
    (Taylor's remainder). Past α they alternate, and their absolute values are the moments of a
    measure on [0, 1] (docs/proofs.md, section 7).
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
    """|C(α,i)| M_i for i = ⌊α⌋+1, …, from the first of both factors."""
    numerator, denominator = alpha.numerator, alpha.denominator
    i = int(alpha) + 1
    while True:
        deadline.check()
        yield binomial * moment
        binomial = binomial * (i * denominator - numerator) / (denominator * (i + 1))
        moment = next(moments)
        i += 1
