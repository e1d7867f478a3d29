"""A lower bound for sampled Gaussian noise when a record is replaced: three points at distance 1.

Let every record but one contribute nothing, let a record a move the query to a point at distance 1,
and its replacement b to another at distance 1 from both. That is allowed: no replacement moves the
query by more than 1. The laws are (1−γ)N(0, σ²) + γN(a, σ²) and (1−γ)N(0, σ²) + γN(b, σ²) in the
plane. Grouping outcomes into cells is a post-processing, so Σ P(C)^α Q(C)^{1−α} over any disjoint
cells C, each term being positive, is at most the moment.
"""

from __future__ import annotations

import functools
from fractions import Fraction

from flint import arb

from symacct.kernel.arithmetic.ball import BALL, precision, rational
from symacct.verify.peer.protocol import Ask, AskedPart

_BITS = 80
_ACROSS = 28  # cells along the axis on which a and b agree
_ALONG = 90  # cells along the axis on which they differ
_MAX_ORDER = 64


def renyi_lower(part: AskedPart, ask: Ask) -> Fraction:
    """A certified lower bound of the part's ε(α) under replacement; 0 where it does not speak."""
    sampled = part.sampling != "none" and part.mechanism == "Gaussian" and ask.is_plain
    if ask.kind != "rdp" or ask.adjacency != "replace_one" or not sampled:
        return Fraction(0)
    alpha = Fraction(ask.at)
    if alpha > _MAX_ORDER:
        return Fraction(0)
    return part.count * _one_run(Fraction(dict(part.parameters)["sigma"]), part.rate, alpha)


@functools.lru_cache(maxsize=1024)
def _one_run(sigma: Fraction, gamma: Fraction, alpha: Fraction) -> Fraction:
    with precision(_BITS):
        order, rate = BALL.number(alpha), BALL.number(gamma)
        height = arb(3).sqrt() / 2
        s = BALL.number(sigma)
        across = _cells(s, height, float(sigma), -0.5, 1.5, _ACROSS)
        # P^α Q^{1−α} sits as far out as αa − (α−1)b.
        along = _cells(s, arb(1) / 2, float(sigma), -1.0, float(alpha), _ALONG)
        total = arb(0)
        for zero_x, height_x, _ in across:
            for zero_y, above_y, below_y in along:
                common = (1 - rate) * zero_x * zero_y
                p = common + rate * height_x * above_y
                q = common + rate * height_x * below_y
                if q > 0 and p > 0:
                    total += p * ((order - 1) * (p / q).log()).exp()
        if not total > 1:
            return Fraction(0)
        low = (total.log() / (order - 1)).lower()
        return rational(low) if low > 0 else Fraction(0)


def _cells(
    sigma: arb, shift: arb, size: float, first: float, last: float, count: int
) -> list[tuple[arb, arb, arb]]:
    """The probabilities of cells under N(0), N(shift) and N(−shift), out to 6σ past both ends."""
    start, end = first - 6 * size, last + 6 * size
    edges = [arb(start + (end - start) * i / count) for i in range(count + 1)]

    def masses(mean: arb) -> list[arb]:
        scale = sigma * arb(2).sqrt()
        # The difference of two values of one tail: no cancellation far out.
        tails = [((edge - mean) / scale).erfc() for edge in edges]
        heads = [((mean - edge) / scale).erfc() for edge in edges]
        return [
            (tails[i] - tails[i + 1] if edges[i] > mean else heads[i + 1] - heads[i]) / 2
            for i in range(count)
        ]

    return list(zip(masses(arb(0)), masses(shift), masses(-shift), strict=True))
