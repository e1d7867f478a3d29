"""Roots of convex functions are enclosed, and comparisons decided, to the digits asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache

from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import BALL, accuracy, doubled, ends_of, within
from symacct.kernel.errors import LimitError, PrecisionError

# --- accuracy
#
# How many digits a ball has, and the precision that so many need.

#: A comparison is tried with values of so many digits, one after the other; what the last ones
#: leave open is not decided. More take longer.
_TELLING = (0.0, 3.0, 12.0, 40.0)
#: A value that refuses up to so many digits raises its error; one that refuses more tells nothing.
#: It chooses between an error and an answer that is open, and decides nothing.
_MOSTLY_TELL = 3.0


def float_of(y: Callable[[], arb]) -> float:
    """Return the middle of a number that is given as a ball, in float64."""
    with ctx.workprec(64):
        return float(y().mid())


def log_float_of(x: Callable[[], arb]) -> float:
    """Return the logarithm of a number that is given as a ball, in float64."""
    return float_of(lambda: x().log())


def bits_for(digits: float) -> int:
    """Return the bits of precision for so many decimal digits, with a reserve of 64."""
    return math.ceil(digits * 3.33) + 64


def precisions(digits: float) -> Iterator[int]:
    """Yield bits at which to try for so many digits, doubled up to the limit."""
    return doubled(bits_for(digits))


def decided(value: arb, most: arb) -> bool | None:
    """Decide if value <= `most`, both of one unit; None where balls can't tell, as of NaN."""
    if value <= most:
        return True
    return False if value > most else None


def decided_by_digits(value: Callable[[float], arb], bound: Callable[[], arb]) -> bool | None:
    """Decide if a value, known to any digits, is at most the bound; None where balls can't.

    PrecisionError or LimitError of the value is raised where few digits already meet it.
    """
    for digits in _TELLING:
        try:
            enclosure = value(digits)
        except (PrecisionError, LimitError):
            if digits <= _MOSTLY_TELL:
                raise
            return None  # of what hardly falls few digits are soon had, and many never
        with ctx.workprec(bits_for(digits) + 64):
            answer = decided(enclosure, most := bound())
        if answer is not None or accuracy(enclosure) > accuracy(most):
            return answer  # of a bound that is as wide no more digits can tell
    return None


def undecided(what: str, digits: float) -> PrecisionError:
    """Make the PrecisionError of digits that were not reached."""
    return PrecisionError(
        f"{what}: {digits:.0f} digits not reached on the exact profile",
        remedy="ask for fewer, or for conversion improved",
    )


def at_digits(value: Callable[[], arb], digits: float, what: Callable[[], str]) -> arb:
    """Compute a value at the precision that so many digits take; PrecisionError if none does."""
    for bits in precisions(digits):
        with ctx.workprec(bits):
            if accuracy(enclosure := value()) >= digits or enclosure.is_exact():
                return enclosure
    raise undecided(what(), digits)


# --- roots
#
# Where a profile crosses δ, in balls: by secants, and what proves how near they came.

# An enclosure is proved whatever these are; they say how long it is sought.
#: Widenings of an estimate, secant steps of one, rounds of a bracket, and halvings of a new one.
#: Both ends of a root are proved: more take longer before none is found.
_WIDENINGS, _NEWTON_STEPS, _HALVINGS, _BRACKETINGS = 12, 40, 240, 60
#: A root that is found by secants first has more digits than these. A root of fewer is looked for
#: in a bracket: it costs time alone.
_FEW_DIGITS = 5.0
#: Halvings up to where balls don't decide: of a bracket, and of an enclosure.
_BRACKET_HALVINGS, _FINAL_HALVINGS = 20, 6
#: A chord ends at least this share of y to the right. Any chord is a bound: a longer one is wider.
_BESIDE = 2.0**-20
#: An end is near where the enclosure is so many times as wide as what balls leave open. Both ends
#: are decided: a smaller ratio takes longer.
_WIDTH_RATIO = 1.01
#: A root is looked for up to so many nats. Beyond, none is found, and the question is refused.
_FARTHEST = 2**40
#: Places so many widths of an estimate apart have values that balls tell apart. Both are
#: enclosures: it steers.
_BLURS = 16

#: Encloses D(y) at flint's current precision; NaN or a wide ball where more is needed.
Value = Callable[[arb], arb]


def convex_root(value: Value, goal: arb, start: arb, slope: arb | None = None) -> arb | None:
    """Enclose where a nonincreasing function that is convex in e^y crosses `goal`.

    To the left of any point it is at least as steep as a chord that begins at y or to the right.
    `slope` is that of log value/goal at `start`, if known. The root is taken to be >= 0. None where
    no chord bounds it.
    """
    seen: list[tuple[arb, arb]] = []

    def noted(y: arb) -> arb:
        # A slope of which balls know nothing leads to no place.
        seen.append((y, value(y) if y.is_finite() else arb.nan()))
        return seen[-1][1]

    y, width = _near_root(noted, goal, start, slope)
    here = noted(y)
    if not any(right > y + _BLURS * width for right, _ in seen):
        noted(y + (abs(y) * _BESIDE).max(_BLURS * width).mid())
    offs = []
    for right, there in seen:
        chord = (there - here) / (right.exp() - y.exp())
        if right > y and chord < 0:
            off = abs((here - goal) / chord).upper()  # exact: a ball about 0 has an end below it
            if y.exp() + off <= right.exp():
                offs.append(off)
    if not offs or not (off := BALL.minimum(*offs)) < y.exp():
        return None
    return (y.exp() + within(off)).log().max(arb(0))


def enclosed(value: Value, goal: arb, bracket: tuple[arb, arb]) -> arb:
    """Enclose where a nonincreasing function crosses `goal`, with both ends proved.

    value(low) > goal > value(high) is known; secants bring the ends near, and the bracket is halved
    where a secant leaves it or does not shrink it.
    """
    low, high = bracket
    for _ in range(_HALVINGS):
        deadline.check()
        before = high - low
        y, width = _near_root(value, goal, ((low + high) / 2).mid())
        for _ in range(_WIDENINGS):
            left, right = (y - width).mid(), (y + width).mid()
            if left > low and value(left) > goal:
                low = left
            if right < high and right > low and value(right) < goal:
                high = right
            if high - low <= 4 * width:
                break
            width *= 8
        middle = ((low + high) / 2).mid()
        if (there := value(middle)) > goal:
            low = middle
        elif there < goal:
            high = middle
        if not high - low < before * 3 / 4:
            break
    low, high = _until_unknown(value, goal, low, ((low + high) / 2).mid(), high, _FINAL_HALVINGS)
    return low.union(high)


def before_the_end(value: Value, goal: arb, known: arb | None, end: arb) -> arb | None:
    """Enclose where a nonincreasing function, at most `goal` from `end` on, crosses it.

    Near the end it falls like a power of end − y: secants and halvings are of v = −log(1 − y/end).
    `known` is an earlier enclosure. Where balls do not tell how near the end is, the root is
    between the last place that they tell and the end. None where they tell none. 0 < end < ∞.
    """

    @cache
    def turned(v: arb) -> arb:
        return value(-end * (-v).expm1())

    ends = None
    if known is not None:
        low, high = (-(-place / end).log1p() for place in ends_of(known))
        ends = (low.lower().max(arb(0)), high.upper()) if high.is_finite() else None
    ends = ends or bracket(turned, goal)
    if ends is not None:
        return -end * (-enclosed(turned, goal, ends)).expm1()
    low = arb(1)
    while turned(2 * low) > goal:
        deadline.check()
        low *= 2
    return (-end * (-low).expm1()).union(end) if turned(low) > goal else None


def bracket(value: Value, goal: arb) -> tuple[arb, arb] | None:
    """Bracket the root: 0 <= low < high with D(low) > δ > D(high), an eighth apart if possible.

    The caller knows that D(0) > δ. None where no place up to `_FARTHEST` is certainly below δ.
    """
    low, high = arb(0), arb(1)
    while not (there := value(high)) < goal:
        deadline.check()
        if not there > goal or high > _FARTHEST:
            return None
        low, high = high, 2 * high
    for _ in range(_BRACKETINGS):
        deadline.check()
        middle = ((low + high) / 2).mid()
        if low > 0 and (high - low) <= low / 8:
            break
        if (there := value(middle)) > goal:
            low = middle
        elif there < goal:
            high = middle
        else:
            return _until_unknown(value, goal, low, middle, high, _BRACKET_HALVINGS)
    return low, high


def _until_unknown(
    value: Value, goal: arb, low: arb, middle: arb, high: arb, halvings: int
) -> tuple[arb, arb]:
    """Bring both ends near to a place at which balls may not decide, by some halvings.

    Every end that is returned is decided, or one that was given.
    """
    unknown = (middle, middle)
    for _ in range(halvings):
        below, above = ((low + unknown[0]) / 2).mid(), ((unknown[1] + high) / 2).mid()
        low, left = (below, unknown[0]) if value(below) > goal else (low, below)
        high, right = (above, unknown[1]) if value(above) < goal else (high, above)
        unknown = left, right
        if high - low <= _WIDTH_RATIO * (right - left):
            break
    return low, high


def _near_root(value: Value, goal: arb, start: arb, slope: arb | None = None) -> tuple[arb, arb]:
    """Estimate where value(y) = goal by secants of its logarithm, and how far off that is.

    Both are exact numbers that prove nothing. `slope` is that of log value/goal, if known.
    """

    def height(y: arb) -> arb:
        deadline.check()
        return (value(y) / goal).log()

    y, new = start.mid(), height(start.mid())
    step = abs(y) * arb(2) ** -20 if slope is None else -(new / slope).mid()
    for _ in range(_NEWTON_STEPS):
        before, y, old = y, (y + step).mid(), new
        new = height(y)
        if (new - old).mid() == 0 or y == before:
            break
        slope, last = ((new - old) / (y - before)).mid(), step
        step = -(new / slope).mid()
        blur = abs(new.rad() / slope) * 2 + abs(y) * arb(2) ** (8 - ctx.prec)
        left = abs(step * (last + step) / y)  # how far off both points are: so is the next step
        if not step.is_finite():
            break
        if left <= blur:
            return (y + step).mid(), blur + left
    slope = arb(-1) if slope is None else slope
    return y, abs(new / slope) * 2 + abs(y) * arb(2) ** (8 - ctx.prec)


def crossing(
    value: Value, goal: arb, known: arb | None, about: Callable[[float], float]
) -> arb | None:
    """Enclose the root by secants from an estimate, or where these go astray by a bracket.

    `known` is an earlier enclosure; `about` estimates ε for a log δ. D is convex in e^y, and
    D(0) > δ. None where there is no bracket.
    """
    if known is None:
        guess = about(float(goal.log()))
        root = convex_root(value, goal, arb(guess)) if 0 < guess < math.inf else None
        if root is not None and accuracy(root) > _FEW_DIGITS:
            return root
    ends = ends_of(known) if known is not None else bracket(value, goal)
    if ends is None:
        return None
    root = convex_root(value, goal, ((ends[0] + ends[1]) / 2).mid())
    if root is not None and accuracy(root) > (
        2 * accuracy(known) if known is not None else _FEW_DIGITS
    ):
        return root
    return enclosed(value, goal, ends)
