"""Sums over the whole numbers of terms >= 0, from one of them outwards, with proved tails."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from flint import arb, ctx

from symacct.errors import PrecisionError
from symacct.sums.refine import within

_MOST_TERMS = 200_000
_EVERY = 8  # terms, after which the rest is looked at

Term = Callable[[int], arb]


def both_ways(term: Term, above: Term, below: Term) -> arb:
    """Σ term(k) over all k; above(k) >= Σ_{j>=k} term(j) and below(k) >= Σ_{j<=k} term(j)."""
    upper = upwards(term, above, 0)
    return upper + upwards(lambda k: term(-k), lambda k: below(-k), 1, beside=upper)


def upwards(term: Term, rest: Term, first: int, beside: arb | int = 0) -> arb:
    """Σ_{k>=first} term(k), to what is small against it, what stands beside it, or 2^−prec."""
    total, unit = arb(0), arb(2) ** -ctx.prec
    for k in count(first):
        if (k - first) % _EVERY == 0:
            left_out = rest(k)
            if left_out <= abs(total + beside).max(unit) * unit:
                return total + within(left_out)
        if k - first > _MOST_TERMS:
            break
        total += term(k)
    raise PrecisionError(
        f"a sum over whole numbers: found more than {_MOST_TERMS:,} terms that count, needed "
        "fewer; take less noise, or a smaller order"
    )


def geometric_tail(first: arb, ratio: arb) -> arb:
    """A bound of terms that fall from the first at least by this ratio; ∞ where it is not < 1."""
    return first / (1 - ratio) if ratio < 1 else arb("inf")
