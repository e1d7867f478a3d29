"""Binomial sums to a low order: all of their terms, as one polynomial in u/v or v/u."""

from __future__ import annotations

from functools import cache
from operator import mul

from flint import arb, arb_poly, ctx, fmpz_poly

from symacct.numerics.sums.terms import Terms
from symacct.numerics.sums.weights import Rates, guarded

LOW = 64  # up to this order cheap terms are summed faster than most of them are proved small


@cache
def _binomials(alpha: int, first: int) -> list[arb]:
    """C(α,l) for first <= l <= α."""
    return list(map(arb, (fmpz_poly([1, 1]) ** alpha).coeffs()[first:]))


def dense_sum(terms: Terms, alpha: int, rates: Rates, first: int) -> arb | None:
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} t_l at positive rates; None unless cheap and finite."""
    u, v = rates
    if not (first <= alpha <= LOW and u > 0 and v > 0):
        return None
    with ctx.workprec(guarded(LOW)):  # whatever the order, so that the terms serve the next one
        values = terms.dense(range(first, alpha + 1))
        if values is None:
            return None
        weighed = list(map(mul, values, _binomials(alpha, first)))
        if u > v:  # what is uncertain of a small v counts little in its powers
            total = u**alpha * arb_poly(weighed[::-1])(v / u)
        else:
            total = u**first * v ** (alpha - first) * arb_poly(weighed)(u / v)
    return total if total.is_finite() else None
