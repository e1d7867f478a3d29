"""Forward differences B(l) = Σ_i (−1)^{l−i} C(l,i) e^{K_i}, as certified balls."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

import flint
from flint import arb, arb_poly

from symacct.kernel import deadline, limits
from symacct.kernel.errors import PrecisionError

#: (bits of precision, order i) -> a ball for K_i.
LogMoment = Callable[[int, int], arb]

#: Bits of the first pass beyond those asked: e^K loses log2 K of them, and the sums a few. Where
#: they are too few a second pass has more.
GUARD_BITS = 64
#: Bits that the moments e^K may share with 1. A difference of closer ones is refused, because it
#: would take so many times that precision.
MOST_SHARED_BITS = 1024
#: The number of terms up to which one sum costs less than its share of the product, as measured. It
#: costs time alone.
MAX_WINDOW = 64


# Proved in docs/proofs/sums.md, Lemma forward-differences.
def differences_at(log_moment_at: LogMoment, orders: Iterable[int], bits: int) -> dict[int, arb]:
    """B(l) for the orders asked, each of relative radius at most 2^-bits; precision by doubling.

    >>> response = lambda bits, i: (arb(3) ** i / 4 + 3 / arb(3) ** i / 4).log()  # p = 3/4
    >>> differences_at(response, [3], 40)[3].str(10, radius=False)
    '1.777777778'

    `log_moment_at(p, i)` encloses K_i = (i-1) eps(i), i >= 2, and is called with flint's precision
    set to p, once for each i and p. K_0 = K_1 = 0. Raises PrecisionError at the limit on bits, or
    for moments next to 1, LimitError above the limit on orders, ValueError for a negative order.
    """
    limit = max(limits.current().bits, bits + GUARD_BITS)
    pending = sorted(set(orders))
    if pending and pending[0] < 0:
        raise ValueError(f"a difference has an order >= 0, got {pending[0]}")
    limits.check("order", max(pending, default=0), "order of a difference")
    resolved: dict[int, arb] = {}
    precision = min(bits + GUARD_BITS, limit)
    while pending:
        deadline.check()
        with flint.ctx.workprec(precision):
            _refuse_tiny(log_moment_at(precision, max(pending[-1], 2)), pending[-1])
            moments = _moments(log_moment_at, precision, pending[-1])
            balls = _transform(moments, [order for order in pending if order < len(moments)])
        resolved |= {order: ball for order, ball in balls.items() if is_resolved(ball, bits)}
        pending = [order for order in pending if order not in resolved]
        if pending and precision == limit:
            raise PrecisionError(
                f"B({pending[0]}): found no {bits} bits at a working precision of {limit:,} bits: "
                "it is zero or nearly so",
                remedy="raise the limit bits or leave this order out",
            )
        precision = min(_next_precision(precision, bits, pending), limit)
    return resolved


def _refuse_tiny(log_moment: arb, order: int) -> None:
    """PrecisionError where every e^(K_i) is 1 to so many bits that differences would take ages.

    `log_moment` is K_i at the largest order asked; the others are no larger.
    """
    if order > 1 and 0 < abs(log_moment).upper() < arb(2) ** -MOST_SHARED_BITS:
        raise PrecisionError(
            f"B({order}): found moments within 2^-{MOST_SHARED_BITS:,} of 1, whose differences "
            "would take too long",
            remedy="try another theorem",
        )


def is_resolved(ball: arb, bits: int) -> bool:
    """Whether the radius is at most 2^-bits times the modulus of the midpoint; so 0 +- 0 is."""
    return ball.is_finite() and ball.rel_accuracy_bits() >= bits


def _next_precision(precision: int, bits: int, pending: Sequence[int]) -> int:
    """The bits of the next pass: twice the last ones, or fewer if the loss is linear in l.

    Only speed depends on it. A single order foretells nothing. The precision grows at least by
    5/4, so that the last passes dominate the cost.
    """
    if not pending or pending[0] == pending[-1]:
        return 2 * precision
    foretold = bits + (precision - bits) * pending[-1] * 17 // (16 * max(pending[0], 1))
    return min(2 * precision, max(foretold, precision * 5 // 4))


def _moments(log_moment_at: LogMoment, precision: int, up_to: int) -> list[arb]:
    """e^(K_i), i = 0..up_to, as balls; cut before the first that is not finite at this precision.

    Of the orders that are cut off no difference is found, which the next pass is asked for.
    """
    moments = [arb(1), arb(1)][: up_to + 1]
    for order in range(2, up_to + 1):
        deadline.check()
        moment = log_moment_at(precision, order).exp()
        if not moment.is_finite():
            break
        moments.append(moment)
    return moments


def _transform(moments: Sequence[arb], orders: Sequence[int]) -> dict[int, arb]:
    """B(l) at the orders given: a short window of top terms where that is enough, else a product.

    The terms i < start are omitted where 2^l max_{i<start} e^(K_i) <= 2^-p e^(K_l), the size of
    one rounding, and enter the radius. That leaves a few terms where the moments explode
    (Gaussian, small sigma) and all of them where the sum cancels (Laplace, large sigma).
    """
    if all(moment == 1 for moment in moments):
        return {order: arb(0**order) for order in orders}
    tops = [_exponent(moment) for moment in moments]
    peaks = list(accumulate(tops, max))
    starts = {
        order: bisect_right(peaks, tops[order] - order - flint.ctx.prec, hi=order)
        for order in orders
    }
    long = [order for order in orders if order - starts[order] >= MAX_WINDOW]
    product = _by_product(moments[: max(long) + 1]) if long else []
    balls = {order: product[order] for order in long}
    for order in starts.keys() - balls.keys():
        deadline.check()
        start = starts[order]
        omitted = arb(0, 1) * arb(2) ** (order + peaks[start - 1]) if start else arb(0)
        balls[order] = _window(moments, order, start) + omitted
    return balls


def _exponent(ball: arb) -> int:
    """An integer e, as small as the upper end shows, with |ball| <= 2^e."""
    mantissa, exponent = ball.abs_upper().man_exp()
    return int(exponent) + mantissa.bit_length()


def _window(moments: Sequence[arb], order: int, start: int) -> arb:
    """The terms i >= start of B(order), added up from the top; the others are not bounded here."""
    total, coefficient = arb(0), 1
    for step in range(order - start + 1):
        total += moments[order - step] * coefficient
        coefficient = -coefficient * (order - step) // (step + 1)
    return total


def _by_product(moments: Sequence[arb]) -> list[arb]:
    """All B(l) from sum_l B(l) x^l/l! = e^(-x) sum_i e^(K_i) x^i/i!, one product of polynomials."""
    weights = list(accumulate(range(1, len(moments)), lambda w, i: w / i, initial=arb(1)))
    left = arb_poly([moment * weight for moment, weight in zip(moments, weights, strict=True)])
    right = arb_poly([-weight if i % 2 else weight for i, weight in enumerate(weights)])
    product = left * right
    return [product[i] / weight for i, weight in enumerate(weights)]
