"""Many values of the profile of a binary pair: its binomial tails as one table of sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.sums.balls import up_to
from symacct.profile.losses.finite import Atoms, binary_profile, first_crossing, losses

_MOST_TERMS = 2**17
_SPARE_BITS = 16
_MANY = 8


def profile_for(part: Atoms, count: int, reverse: bool, times: int) -> Callable[[arb], arb]:
    """`binary_profile` as a function of y at the current precision, asked for so many y."""
    if times < _MANY or _width(part, count) > _MOST_TERMS:
        return partial(binary_profile, part, count, reverse=reverse)
    return partial(_tabled, part, count, reverse)


def _width(part: Atoms, count: int) -> float:
    """About how many terms there are above the least that matters."""
    (p, _), _ = losses(part, False)
    share = float(p)
    return 2 * math.sqrt(2 * (ctx.prec + _SPARE_BITS) * count * share * (1 - share)) + 40


def _tabled(part: Atoms, count: int, reverse: bool, y: arb) -> arb:
    high, low, p, q = _tables(part, count, reverse, ctx.prec)
    least = first_crossing(y, count, high, low)
    return arb(0) if least > count else p.above(least) - y.exp() * q.above(least)


@lru_cache(16)
def _tables(part: Atoms, count: int, reverse: bool, bits: int) -> tuple[arb, arb, Tails, Tails]:
    """Both losses and both laws' tails, at this precision."""
    (p0, q0), (p1, q1) = losses(part, reverse)
    tails = Tails(p0, p1, count), Tails(q0, q1, count)
    return (p0 / q0).log(), (p1 / q1).log(), *tails


class Tails:
    """Σ_{i>=j} C(k,i) a^i b^{k−i} for every j, terms below 2^{−bits} of the whole in one bound."""

    def __init__(self, a: arb, b: arb, count: int) -> None:
        self.whole = (a + b) ** count
        share, odds = a / (a + b), a / b
        mode = min(count, int(float(share.mid()) * (count + 1)))
        largest = self.whole * _term(count, mode, share)
        least = self.whole * arb(2) ** -(ctx.prec + _SPARE_BITS)
        rising, above = _terms(largest, least, count, mode, odds)
        falling, below = _terms(largest, least, count, count - mode, 1 / odds)
        self.first = mode - len(falling)
        self.below = self.whole - below
        self.sums, total = [above], above
        for term in [*reversed(rising), largest, *falling]:
            total += term
            self.sums.append(total)
        self.sums.reverse()

    def above(self, j: int) -> arb:
        """The sum from j on."""
        if j < self.first:
            return self.below if j > 0 else self.whole
        return self.sums[min(j - self.first, len(self.sums) - 1)]


def _term(count: int, j: int, share: arb) -> arb:
    """C(k, j) s^j (1−s)^{k−j}"""
    with ctx.extraprec(2 * count.bit_length() + 10):
        log = arb(count + 1).lgamma() - arb(j + 1).lgamma() - arb(count - j + 1).lgamma()
        return (log + j * share.log() + (count - j) * (-share).log1p()).exp()


def _terms(term: arb, least: arb, count: int, j: int, odds: arb) -> tuple[list[arb], arb]:
    """The terms after the j-th, C(k, j+1)/C(k, j) = (k−j)/(j+1), and a bound of the rest."""
    found: list[arb] = []
    while j < count:
        deadline.check()
        ratio = odds * (count - j) / (j + 1)
        if ratio < 1 and term < least:
            return found, up_to(term * ratio / (1 - ratio))
        term *= ratio
        j += 1
        found.append(term)
    return found, arb(0)
