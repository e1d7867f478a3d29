"""The supremum of log(p/q) by branch and bound, with what happens at the ends proved."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from flint import acb, arb

from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.numerics.densities.germs import Germs
from symacct.numerics.densities.jets import ComplexBalls, Evaluator, Jet, real_value
from symacct.numerics.densities.sides import Side, doublings
from symacct.numerics.sums.refine import ball, steered_by_floats

_BOXES = 40_000  # looked at before it is given up
_FARTHEST = 2**12  # 2^_FARTHEST is where a limit at an end is read off


@steered_by_floats
def largest_log_ratio(sides: list[Side], bits: int) -> arb:
    """sup log(p/q) without constants to `bits` bits; ∞ where proved, else PrecisionError."""
    sides = [side for side in sides if side.logs[0] is not None]
    if any(side.logs[1] is None for side in sides):
        return arb("inf")
    ends = [_end(side, bits) for side in sides]
    if any(top == arb("inf") for _, top in ends):
        return arb("inf")
    least = arb("-inf")
    boxes = []
    for side, (start, top) in zip(sides, ends, strict=True):
        least = least.max(top)
        ratio = side.evaluators[2]
        assert ratio is not None  # noqa: S101  # both densities are positive here
        boxes.append((ratio, *_middle_part(side, start)))
    return _branch_and_bound(boxes, least, bits)


def _middle_part(side: Side, start: arb) -> tuple[arb, arb]:
    """What lies before y = start, as an interval of T."""
    if side.is_infinite:
        return arb(0), start
    low = arb(0) if side.is_regular else 1 / start
    return low, ball(Fraction(side.extent))


def _end(side: Side, bits: int) -> tuple[arb, arb]:
    """(Y, the supremum over y >= Y): −∞ where it is that at Y, ∞ where there is none."""
    if side.is_regular:
        return arb(1), arb("-inf")
    ratio = side.blend(Fraction(1), Fraction(-1))
    evaluate = side.at_end(ratio)
    for doubling in doublings(0 if side.is_infinite else max(0, (2 / side.extent).__ceil__())):
        if doubling > _FARTHEST:
            break
        start = arb(2) ** doubling
        jet = evaluate(Germs(start).variable())
        if jet.slope.power >= 0 and jet.slope.low > 0:
            return start, arb("inf")
        if jet.slope.high <= 0:
            return start, arb("-inf")
        top = jet.value.most()
        here = side.value(ratio, start)
        if top - here < arb(2) ** -bits:
            return start, here.union(top)
    raise PrecisionError(
        "order ∞: found no proof of how the log-ratio of the densities goes on at an end of the "
        "support, needed one",
        remedy="ask at a finite order",
    )


def _branch_and_bound(boxes: Iterable[tuple[Evaluator, arb, arb]], least: arb, bits: int) -> arb:
    """The largest value over the boxes and the candidate `least`, which is attained or a limit."""
    tolerance = arb(2) ** -bits
    pending, looked = [], 0
    for ratio, low, high in boxes:
        for end in (low, high):
            least = least.max(real_value(ratio, end))
        pending.append((ratio, low, high))
    over = least
    while pending:
        deadline.check()
        ratio, low, high = pending.pop()
        looked += 1
        if looked > _BOXES:
            raise PrecisionError(
                f"order ∞: the supremum of the log-ratio was not found within {_BOXES:,} boxes",
                remedy="ask for fewer digits, or at a finite order",
            )
        middle = arb(((low + high) / 2).mid())
        least = least.max(real_value(ratio, middle))
        wide = ratio(Jet(ComplexBalls(), acb(low.union(high)), acb(1)))
        slope = wide.slope.real
        if slope >= 0 or slope <= 0:
            continue  # the largest value is at an end, which was looked at
        top = wide.value.real
        sharp = real_value(ratio, middle) + slope * (low.union(high) - middle)
        if not sharp.is_nan():
            top = sharp if top.is_nan() else top.min(sharp)
        if top <= least:
            continue
        if top <= least + tolerance:
            over = over.max(top)
            continue
        pending += [(ratio, low, middle), (ratio, middle, high)]
    return least.union(over.max(least))
