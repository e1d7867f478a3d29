"""Answers: enclosures and guarantees to the digits asked for, and how they are rounded."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import mpmath
from flint import arb, fmpq, fmpz
from mpmath.libmp import MPZ

from symacct.kernel import limits, parameters
from symacct.kernel.arithmetic.ball import accuracy, doubled, ends_of, precision
from symacct.kernel.attached import answered
from symacct.kernel.claims import Adjacency, Claim, Kind
from symacct.kernel.errors import (
    DomainError,
    LimitError,
    PrecisionError,
    SoundnessError,
    divided,
)
from symacct.kernel.exact import INFINITY, Numeric, Order, exact, is_infinite, text

if TYPE_CHECKING:
    from symacct.kernel.node import Node
    from symacct.questions import GuaranteeQuestions
else:
    GuaranteeQuestions = object


# --- rounding
#
# A bound is rounded to its safe side, a number that a user stated up, and all others outwards.

#: A format specification: what is before the digits, the digits, and the letter.
_SPEC = re.compile(r"(.*?)(?:\.(\d+))?([eEfFgGn%]?)", re.DOTALL)
#: Digits of a format specification that names none, as for Python's float. Only the text rests on
#: it.
_FORMAT_DIGITS = 6
#: The number of characters up to which a stated number is printed in full, to keep a message short.
#: Only messages rest on it.
_FULL_LENGTH = 24
#: Significant digits of a longer stated number, which tell any two doubles apart. Only messages
#: rest on it.
_STATED_DIGITS = 17
#: Significant digits of a number in a message that was worked out, and not stated. Only messages
#: rest on it.
_WORKED_OUT_DIGITS = 6
#: Significant digits of α and of α − 1 that are printed of an order found by a search. Only the
#: text rests on it.
_ORDER_DIGITS = 4
#: The number of characters up to which such an order is printed in full. Only the text rests on it.
_FULL_ORDER_LENGTH = 6
#: Significant digits that every float64 has. Of more, zeros at the end of a text are kept; only the
#: text rests on it.
_FLOAT_DIGITS = 15
#: The number of decimals up to which a number is printed as a decimal, not as a fraction. Only the
#: text rests on it.
_MOST_DECIMALS = 60
#: Binary exponents below this have logarithms that float64 tells to within 2⁻¹⁰: 2⁴⁰ times some
#: units of 2⁻⁵³. Beyond it balls take the logarithm: of more than 2⁵⁰ the sum would be unsound.
_FLOAT_EXPONENTS = 2**40
#: The rounding of a fraction, by whether it goes up, down, or to the nearest (None).
_ROUNDINGS = {
    True: decimal.ROUND_CEILING,
    False: decimal.ROUND_FLOOR,
    None: decimal.ROUND_HALF_EVEN,
}


def safe(low: mpmath.mpf, high: mpmath.mpf, kind: Kind, digits: int) -> str:
    """The text of a number in [low, high], rounded to `digits` significant digits on its safe side.

    It is at most `low` for a lower bound, and at least `high` for any other kind.
    """
    return format_down(low, digits) if kind is Kind.LOWER else format_up(high, digits)


def safe_float(low: mpmath.mpf, high: mpmath.mpf, kind: Kind) -> float:
    """The largest float64 <= low for a lower bound, else the smallest one >= high."""
    return float_below(low) if kind is Kind.LOWER else float_above(high)


def safe_decimal(low: mpmath.mpf, high: mpmath.mpf, kind: Kind, places: int) -> Decimal:
    """A number in [low, high] rounded to `places` decimals on the safe side of its kind, as `safe`.

    A negative number of places rounds to tens; LimitError for more digits than the limit.
    """
    x = low if kind is Kind.LOWER else high
    if mpmath.isinf(x):
        return Decimal("inf") if x > 0 else Decimal("-inf")
    return Decimal(f"{fmpz(_whole_units(x, places, up=kind is not Kind.LOWER))}e{-places}")


def safe_format(low: mpmath.mpf, high: mpmath.mpf, kind: Kind, spec: str) -> str:
    """A number in [low, high] by a format such as .6g or .2%, rounded to its safe side.

    DomainError for what is no format of a float, LimitError for more digits than the limit.
    """
    match = _SPEC.fullmatch(spec)
    assert match is not None  # noqa: S101  # it takes any text
    front, letter = match[1], match[3]
    precision = int((match[2] or str(_FORMAT_DIGITS))[:_FULL_LENGTH])
    limits.check("digits", precision, "format, digits")
    if letter in ("f", "F", "%"):
        number = safe_decimal(low, high, kind, precision + 2 * (letter == "%"))
    else:
        digits = precision + 1 if letter in ("e", "E") else max(1, precision)
        number = _as_decimal(safe(low, high, kind, digits))
    value: Any = number if number.is_finite() else float(number)
    try:
        return format(value, f"{front}.{precision}{letter}")
    except ValueError:
        raise DomainError(f"format: found {spec!r}, needed one such as .6g, .3f, .2e") from None


def given(x: Fraction) -> str:
    """The text of a stated number: in full where it is short, else rounded up.

    Rounding up is safe, because a guarantee holds for every larger ε or δ.
    """
    texts = (exact_decimal(x), text(x))
    short_texts = [
        candidate for candidate in texts if candidate is not None and len(candidate) <= _FULL_LENGTH
    ]
    return short_texts[0] if short_texts else rational_text(x, _STATED_DIGITS, up=True)


def decimal_exponent(value: Fraction) -> int:
    """⌊log10 value⌋ of a fraction above 0."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    return exponent if value >= Fraction(10) ** exponent else exponent - 1


def given_above(x: Fraction) -> str:
    """The text of a number that was worked out, rounded up to few digits."""
    return given(Fraction(rational_text(x, _WORKED_OUT_DIGITS, up=True)))


def exact_decimal(number: Fraction) -> str | None:
    """The decimal that equals the number, of up to _MOST_DECIMALS places; None if there is none.

    A small number of one digit is written as 1e-5.
    """
    twos = (number.denominator & -number.denominator).bit_length() - 1
    rest, fives = number.denominator >> twos, 0
    while rest % 5 == 0 and fives <= _MOST_DECIMALS:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > _MOST_DECIMALS:
        return None
    scaled = abs(number.numerator) * (10**places // number.denominator)
    digits, sign = str(fmpz(scaled)), "-" if number < 0 else ""
    if places == 0:
        return sign + digits
    if len(digits.rstrip("0")) == 1 and places - len(digits) >= 3:
        zeros = len(digits) - len(digits.rstrip("0"))
        return f"{sign}{digits.rstrip('0')}e-{places - zeros}"
    digits = digits.rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


def rational_text(x: Fraction, digits: int, up: bool | None) -> str:
    """The text of a fraction, rounded once, up or down, to at most `digits` significant digits.

    It is rounded to the nearest where `up` is None.

    >>> rational_text(Fraction(1, 3), 5, up=True), rational_text(Fraction(1, 4), 5, up=True)
    ('0.33334', '0.25')
    """
    quotient = divided(x, digits, _ROUNDINGS[up])
    return (
        f"{quotient:f}" if -6 < quotient.adjusted() < digits else f"{quotient:e}".replace("+", "")
    )


def order_text(alpha: int | float | Fraction, digits: int = 6) -> str:
    """The text of an order for a reader, rounded to the nearest to `digits` significant digits.

    Beyond the floats it is rounded up. Of more than _FLOAT_DIGITS digits zeros at the end are kept.
    """
    if alpha == INFINITY:
        return "∞"
    if digits > _FLOAT_DIGITS:
        return rational_text(Fraction(alpha), digits, up=None)
    if alpha < 10**300:
        return f"{float(alpha):.{digits}g}"
    return rational_text(Fraction(alpha), digits, up=True)


def found_order(alpha: int | float | Fraction) -> str:
    """The text of a best order: in full where it is short, else _ORDER_DIGITS of α and of α − 1.

    ε is flat about its best order, so its digits settle only half as many of the order.
    """
    if 1 < alpha < 10**_FULL_ORDER_LENGTH:
        full = exact_decimal(Fraction(alpha))
        if full is not None and len(full) <= _FULL_ORDER_LENGTH:
            return full
        # The power of ten of α − 1, which may be below all floats.
        magnitude = -divided(Fraction(alpha) - 1, 1, decimal.ROUND_FLOOR).adjusted()
        return order_text(alpha, _ORDER_DIGITS + max(0, magnitude, -magnitude - _ORDER_DIGITS + 1))
    return order_text(alpha, _ORDER_DIGITS)


def nearest_float(x: Fraction | float) -> float:
    """The float64 nearest to x, on either side of it; ±∞ where it is out of range."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def rational_float(x: Fraction) -> float:
    """The smallest float64 >= x; ∞ beyond the floats."""
    near = nearest_float(x)
    return near if near >= x else math.nextafter(near, math.inf)


def float_above(x: mpmath.mpf) -> float:
    """The smallest float64 >= x; the global precision of mpmath plays no part."""
    near = mpmath.libmp.to_float(x._mpf_)  # next to x; ±∞ or 0 out of range
    return near if near >= x else math.nextafter(near, math.inf)


def float_below(x: mpmath.mpf) -> float:
    """The largest float64 <= x; the global precision of mpmath plays no part."""
    near = mpmath.libmp.to_float(x._mpf_)
    return near if near <= x else math.nextafter(near, -math.inf)


def format_shared(low: mpmath.mpf, high: mpmath.mpf, digits: int) -> str:
    """The text of the most significant digits that both ends share, truncated or rounded.

    At most `digits` of them. Where they share none it is the interval, rounded outwards.
    """
    if mpmath.isinf(high):
        if low == high:
            return "inf" if high > 0 else "-inf"
        return f"[{format_down(low, 5)}, inf]"
    if high < 0:
        return "-" + format_shared(minus(high), minus(low), digits)
    for count in range(_shared_digits_bound(low, high, digits), 0, -1):
        for rounding in (arb.floor, _nearest):
            a, b = (_rounded(end, count, rounding) for end in (low, high))
            if a == b:
                return _decimal_text(*a)
    return f"[{format_down(low, 3)}, {format_up(high, 3)}]"


def format_up(x: mpmath.mpf, digits: int) -> str:
    """The text of x rounded upwards, towards ∞, to `digits` significant digits."""
    if x < 0:
        return "-" + format_down(minus(x), digits)
    return "inf" if mpmath.isinf(x) else _decimal_text(*_rounded(x, digits, arb.ceil))


def format_down(x: mpmath.mpf, digits: int) -> str:
    """The text of x rounded downwards, towards −∞, to `digits` significant digits."""
    if x < 0:
        return "-" + format_up(minus(x), digits)
    return "inf" if mpmath.isinf(x) else _decimal_text(*_rounded(x, digits, arb.floor))


def _shared_digits_bound(low: mpmath.mpf, high: mpmath.mpf, digits: int) -> int:
    """An upper bound of the digits that two ends share, for low <= high and high >= 0.

    Ends that truncate or round to the same `count` digits are less than a unit of the last one
    apart, or low rounds up to 10^count of its units and high is less than 5.5 away. In each case
    low/(high − low) > 10^{count−1}.
    """
    if low == high:
        return digits
    return min(digits, log_closeness(low, high) + 1) if low > 0 else 0


def log_closeness(low: mpmath.mpf, high: mpmath.mpf) -> int:
    """⌊log₁₀(low/(high − low))⌋ for 0 < low < high < ∞, or −1 where it is below 0."""
    if high > mpmath.ldexp(low, 1):
        return -1
    return _log_ratio(low, mpmath.fsub(high, low, exact=True))


def _rounded(x: mpmath.mpf, digits: int, whole: Callable[[arb], arb]) -> tuple[int, int]:
    """The decimal exponent of a finite x >= 0, and its first `digits` digits as a whole number.

    `whole` fixes the direction of rounding: arb.floor down, arb.ceil up, `_nearest` to the nearest.
    x is about leading·10^{exponent + 1 − digits}; 0 is (0, 0).
    """
    if x == 0:
        return 0, 0
    exponent = _log_ratio(x, mpmath.mpf(1))

    def rounded() -> fmpz | None:
        return whole(_times_ten_to(x, digits - 1 - exponent)).unique_fmpz()

    leading = int(_at_rising_precision(bits(x) + 4 * digits, rounded))
    return (exponent + 1, leading // 10) if leading == 10**digits else (exponent, leading)


def _nearest(x: arb) -> arb:
    """⌊x + ½⌋ of a ball: rounds to the nearest whole number, and halves up."""
    return (x + arb(0.5)).floor()


def _log_ratio(x: mpmath.mpf, unit: mpmath.mpf) -> int:
    """⌊log₁₀(x/unit)⌋ exactly, for finite x, unit > 0."""

    def largest() -> int | None:
        near = _near_log_ratio(x, unit)
        if near is None:
            return None
        left = _times_ten_to(x, -near) / to_ball(unit)
        if left >= 1:
            return near
        return near - 1 if left < 1 else None

    return int(_at_rising_precision(bits(x, unit), largest))


def _near_log_ratio(x: mpmath.mpf, unit: mpmath.mpf) -> int | None:
    """A whole number within ¾ of log₁₀(x/unit), for finite x, unit > 0; None for too few bits."""
    (_, top, power, _), (_, bottom, unit_power, _) = x._mpf_, unit._mpf_
    shift = int(power - unit_power)
    if abs(shift) < _FLOAT_EXPONENTS:
        return round(math.log10(int(top)) - math.log10(int(bottom)) + shift * math.log10(2))
    log = (to_ball(x) / to_ball(unit)).log() / arb(10).log()
    if not log.rad() < 0.25:
        return None
    nearest: Any = (log.mid() + 0.5).floor().unique_fmpz()
    return int(nearest)


def _at_rising_precision(bits: int, question: Callable[[], Any]) -> Any:
    """The answer of `question` at the first precision at which it is not None; it has to come.

    Precisions begin at 2·bits + 64 and double, because exact powers of ten may have millions of
    bits. Ties are decided too: at the bits of the longest mantissa all numbers are exact.
    """
    answer = None
    while answer is None:
        bits = 2 * bits + 64
        with precision(bits):
            answer = question()
    return answer


def _times_ten_to(x: mpmath.mpf, power: int) -> arb:
    """A ball for x·10^power, exact where the precision holds it."""
    ten = arb(10) ** abs(power)
    return to_ball(x) * ten if power >= 0 else to_ball(x) / ten


def bits(*numbers: mpmath.mpf) -> int:
    """The bits of the longest mantissa of some finite mpf."""
    return max(int(x._mpf_[3]) for x in numbers)


def _decimal_text(exponent: int, leading: int) -> str:
    """The text of first digits whose first one stands for 10^exponent: 0.0123, 123.4, 1.234e-8."""
    if leading == 0:
        return "0"
    text = str(fmpz(leading))  # unlike int, fmpz prints any number of digits
    if -5 <= exponent < 0:
        return "0." + "0" * (-exponent - 1) + text
    if 0 <= exponent < len(text):
        whole, decimals = text[: exponent + 1], text[exponent + 1 :]
        return f"{whole}.{decimals}" if decimals else whole
    mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
    return f"{mantissa}e{fmpz(exponent)}"


def _whole_units(x: mpmath.mpf, places: int, up: bool) -> int:
    """A finite x in units of 10^−places, rounded towards ∞ or −∞ to a whole number.

    LimitError where it has more digits than the limit.
    """
    if x < 0:
        return -_whole_units(minus(x), places, not up)
    size = int(x._mpf_[2] + x._mpf_[3])  # 2^size > x
    limits.check("digits", max(0, math.ceil(size * math.log10(2))) + places, "format, digits")
    whole = arb.ceil if up else arb.floor
    return int(_at_rising_precision(bits(x), lambda: whole(_times_ten_to(x, places)).unique_fmpz()))


def _as_decimal(shown: str) -> Decimal:
    """The text of a number as a Decimal; LimitError where its exponent is out of range."""
    try:
        return Decimal(shown)
    except decimal.InvalidOperation:
        raise LimitError(f"format: found {shown}, an exponent beyond what decimals have") from None


def minus(x: mpmath.mpf) -> mpmath.mpf:
    """−x exactly: mpmath's own minus sign rounds to its global precision."""
    return mpmath.fneg(x, exact=True)


# --- enclosures and guarantees

#: Significant digits of the number asked for, in the line that prints a guarantee. Only the text
#: rests on it.
_LINE_DIGITS = 10
#: The largest binary exponent of an enclosure for which a short decimal is looked for. It saves
#: time: only the text rests on it.
_MOST_EXPONENT = 10**6
#: The number of characters up to which an expression stands in a line in full. Only the text rests
#: on it.
_LINE_LENGTH = 200


@answered
@dataclass(frozen=True)
class Enclosure:
    """A number between two proved ends: lower <= the number <= upper.

    The ends are mpf numbers, rounded outwards. `claim` says what the number is. `certified` is
    False if the ends were not proved, as with another engine or a trusted function. `float(x)`,
    `f"{x:.6g}"`, `round(x, 3)` and the value in JSON are rounded to the safe side: not below
    `upper`, or not above `lower` for a lower bound. `str(x)` prints only the digits that both ends
    share. The comparisons <, <=, > and >= raise PrecisionError if the ends do not decide them.

    >>> from symacct import Gaussian
    >>> epsilon = Gaussian(3).rdp(2, digits=5)
    >>> print(epsilon, epsilon.lower <= epsilon.upper, epsilon.certified)
    0.11111 True True
    """

    lower: mpmath.mpf
    upper: mpmath.mpf
    claim: Claim
    certified: bool = True
    digits_asked: int = field(default=30, compare=False)
    #: The number itself, where it is known to be this fraction: 0.02, and not a little above.
    exactly: Fraction | None = field(default=None, compare=False, repr=False)

    @property
    def digits(self) -> float:
        """The number of significant decimal digits that both ends share; ∞ for an exact value.

        They are proved if `certified`. The digits asked for are `digits_asked`.
        """
        return INFINITY if self.exactly is not None else _shared_digits(self.lower, self.upper)

    @property
    def _safe_kind(self) -> Kind:
        """The kind that a rounded value keeps: rounded down for a lower bound, else up."""
        return self.claim.kind

    def __float__(self) -> float:
        return safe_float(self.lower, self.upper, self._safe_kind)

    def known_to_be(self, value: Fraction | None) -> Self:
        """The enclosure with the fraction as its exact value; itself for None or one outside.

        The caller has proved the value: that it lies between the ends alone does not.
        """
        if value is None or mpmath.isinf(self.upper):
            return self
        within = to_fraction(self.lower) <= value <= to_fraction(self.upper)
        return replace(self, exactly=value) if within else self

    def decimal(self, digits: int | None = None) -> Fraction | None:
        """The smallest decimal of `digits` significant digits, or those asked, between the ends.

        It is a candidate for the number itself, and proves nothing. None where there is none, and
        for numbers beyond 2^±_MOST_EXPONENT.
        """
        ends = self.lower, self.upper
        if mpmath.isinf(self.upper) or any(abs(end._mpf_[2]) > _MOST_EXPONENT for end in ends):
            return None
        count = self._digits_shown(digits)
        number = Fraction(divided(to_fraction(self.lower), count, decimal.ROUND_CEILING))
        return number if number <= to_fraction(self.upper) else None

    def __str__(self) -> str:
        """The digits that both ends share, or the number itself where it is known."""
        if self.exactly is not None:
            return self.rounded()
        return format_shared(self.lower, self.upper, self.digits_asked)

    def __format__(self, spec: str) -> str:
        """The number in a format of Python's, rounded to its safe side."""
        if not spec:
            return str(self)
        return safe_format(self.lower, self.upper, self._safe_kind, spec)

    def __round__(self, places: int | None = None) -> Decimal | int:
        rounded = safe_decimal(self.lower, self.upper, self._safe_kind, places or 0)
        return int(rounded) if places is None else rounded

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self}, {self.claim})"

    def __lt__(self, other: Enclosure | Numeric) -> bool:
        low, high = _ends(other, bits(self.lower, self.upper))
        return _decided(self.upper < low, self.lower >= high, self, other)

    def __le__(self, other: Enclosure | Numeric) -> bool:
        low, high = _ends(other, bits(self.lower, self.upper))
        return _decided(self.upper <= low, self.lower > high, self, other)

    def __gt__(self, other: Enclosure | Numeric) -> bool:
        return not self <= other

    def __ge__(self, other: Enclosure | Numeric) -> bool:
        return not self < other

    def rounded(self, digits: int | None = None) -> str:
        """The number rounded to `digits` significant digits: upwards, a lower bound downwards."""
        is_lower = self._safe_kind is Kind.LOWER
        return self.rounded_down(digits) if is_lower else self.rounded_up(digits)

    def how_rounded(self, digits: int | None = None) -> str:
        """The words for what `rounded` does: "exactly", "rounded up" or "rounded down"."""
        if self.exactly is not None and Fraction(self.rounded(digits)) == self.exactly:
            return "exactly"
        return "rounded down" if self._safe_kind is Kind.LOWER else "rounded up"

    def rounded_up(self, digits: int | None = None) -> str:
        """The upper end, rounded upwards to `digits` significant digits."""
        if self.exactly is not None:
            return rational_text(self.exactly, self._digits_shown(digits), up=True)
        return format_up(self.upper, self._digits_shown(digits))

    def rounded_down(self, digits: int | None = None) -> str:
        """The lower end, rounded downwards to `digits` significant digits."""
        if self.exactly is not None:
            return rational_text(self.exactly, self._digits_shown(digits), up=False)
        return format_down(self.lower, self._digits_shown(digits))

    def _digits_shown(self, digits: int | None) -> int:
        """The number of digits to print: `digits`, or those asked for."""
        return self.digits_asked if digits is None else parameters.digits(digits)

    def as_dict(self) -> dict[str, Any]:
        """The enclosure for JSON: the rounded value, the ends rounded outwards, and the claim."""
        width = self.digits_asked + 5
        return {
            "value": self.rounded(),
            "lower": self.rounded_down(width),
            "upper": self.rounded_up(width),
            "digits": None if self.digits == INFINITY else self.digits,
            "certified": self.certified,
            "claim": self.claim.as_dict(),
        }


class Bound(Enclosure):
    """An ε or δ of a guarantee; its `str` is rounded to the safe side, as all other texts are."""

    def __str__(self) -> str:
        return self.rounded()


class ErrorBound(Bound):
    """An error of an attacker's test, which is rounded down: a smaller one is safe to report."""

    @property
    def _safe_kind(self) -> Kind:
        """LOWER: it is rounded down when it is printed, as a smaller error is safe to report."""
        return Kind.LOWER


def bound(x: Enclosure, kind: Kind) -> Bound:
    """The enclosed number as a Bound of the given kind, by which it is rounded from now on.

    The caller knows that it is of this kind.
    """
    if isinstance(x, Bound) and x.claim.kind is kind:
        return x
    claim = x.claim if x.claim.kind is kind else replace(x.claim, kind=kind)
    return Bound(x.lower, x.upper, claim, x.certified, x.digits_asked, x.exactly)


def error_bound(x: Enclosure) -> ErrorBound:
    """The enclosed number as an ErrorBound, which is rounded down whatever its claim's kind."""
    return ErrorBound(x.lower, x.upper, x.claim, x.certified, x.digits_asked, x.exactly)


@answered
@dataclass(frozen=True, repr=False)
class Guarantee(GuaranteeQuestions):
    """An (ε, δ) guarantee: the number that was asked for is an Enclosure, the given one is exact.

    `kind` is the kind of the number that was asked for: `exact` if it is the smallest true number,
    and otherwise `upper`. A conversion from a Rényi order is `upper`, even for an exact curve.
    `claim` is about the curve. `alpha` is the Rényi order. `optimal` says that no allowed order
    gives a smaller number; if it is False, the number at `alpha` is still a sound guarantee. If δ
    is near the total variation, `alpha` is 1 and `conversion` is "total-variation", also if the
    improved or the optimal conversion was asked for. `float(g)` is the number asked for, rounded
    to the safe side. Raises SoundnessError for a lower bound. ε is in nats.

    >>> from symacct import Gaussian
    >>> guarantee = Gaussian(5).epsilon("1e-5", digits=5)
    >>> print(guarantee.epsilon.rounded_up(5), guarantee.delta, guarantee.kind)
    0.72553 1/100000 exact
    >>> by_orders = Gaussian(5).epsilon("1e-5", digits=5, conversion="improved")
    >>> print(by_orders.epsilon.rounded_up(5), by_orders.kind)
    0.79432 upper
    """

    epsilon: Bound | Any  # a Bound if it was asked for, a Fraction if it was given
    delta: Bound | Any
    alpha: Order
    conversion: str
    kind: Kind
    claim: Claim
    optimal: bool
    #: Why the number is not final, in words: fewer digits than asked, or no exact profile in time.
    note: str = ""
    #: Is it by the privacy profile, which reads no Rényi order? Then `alpha` says nothing.
    needs_no_order: bool = field(default=False, repr=False, compare=False)
    #: The expression that was asked, for `statement()`.
    mechanism: Node | None = field(default=None, repr=False, compare=False)
    #: Is it the smallest number proved by any conversion, because none was named?
    is_best: bool = field(default=False, repr=False, compare=False)
    #: Why the exact profile does not give the number, in words, where it was asked.
    not_exact: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a lower bound by SoundnessError, and bring δ down to 1 at most."""
        if Kind.LOWER in (self.kind, self.claim.kind):
            raise SoundnessError("Guarantee: found a lower bound, which guarantees nothing")
        name = "epsilon" if isinstance(self.epsilon, Enclosure) else "delta"
        number = bound(getattr(self, name), self.kind)
        if (
            name == "delta" and number.upper > 1
        ):  # a computed bound may exceed 1, which δ never does
            one = mpmath.mpf(1)
            number = replace(number, lower=min(number.lower, one), upper=one)
        object.__setattr__(self, name, number)

    def __float__(self) -> float:
        return float(self.asked)

    def of(self, mechanism: Node) -> Guarantee:
        """A copy with the expression that it is about, which `statement()` and others need."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, mechanism=mechanism)
        return copy

    def under(self, adjacency: str | Adjacency) -> Guarantee:
        """The guarantee with the neighbouring relation for which the parameters were stated.

        `adjacency` is "add_remove" or "replace_one". Raises AdjacencyError where the mechanism's
        own relation is another one.
        """
        return replace(self, claim=self.claim.under(adjacency))

    @property
    def asked(self) -> Bound:
        """The number that was asked for, ε or δ: the one that is a Bound."""
        return self.epsilon if isinstance(self.epsilon, Bound) else self.delta

    @property
    def letter(self) -> str:
        """The letter of the number that was asked for, ε or δ."""
        return "ε" if self.epsilon is self.asked else "δ"

    @property
    def given(self) -> Fraction:
        """The number that was given, δ or ε, exactly as it was stated."""
        number: Fraction
        (number,) = (x for x in (self.epsilon, self.delta) if not isinstance(x, Bound))
        return number

    def __str__(self) -> str:
        return self._line(shown(self.asked))

    def _line(self, asked_text: str) -> str:
        """The guarantee in a line, with a text of the number asked for."""
        given_text = shown(self.given)
        pair = (
            f"{asked_text}, {given_text}"
            if self.epsilon is self.asked
            else f"{given_text}, {asked_text}"
        )
        relation = str(self.claim.adjacency).replace("either", "either relation")
        note = f"; {self.note}" if self.note else ""
        return f"({pair})-DP under {relation}{self._proof_words}{note}"

    @property
    def _proof_words(self) -> str:
        """The words for what proves the number; an upper bound is never called exact."""
        if not self.needs_no_order:
            order = found_order(self.alpha)
            return f" at order {order} by the {self.conversion} conversion"
        if self.kind is Kind.EXACT:
            return f" by the {self.conversion} conversion"
        return ", an upper bound by the profile of a dominating pair"

    def __format__(self, spec: str) -> str:
        """The text of `str`, with the number asked for in a format and on its safe side."""
        return self._line(format(self.asked, spec)) if spec else str(self)

    @property
    def may_be_less(self) -> str:
        """A sentence that names a question which may give a smaller number.

        It is empty for the number of the exact profile, and for the smallest of all conversions.
        """
        if self.needs_no_order or self.is_best:
            return ""
        question = "epsilon" if self.epsilon is self.asked else "delta"
        value = given(self.given)
        return f"m.{question}('{value}') may give a smaller {self.letter}"

    def as_dict(self) -> dict[str, Any]:
        """The guarantee for JSON; `alpha` and `optimal` are null where no order gave it."""
        alpha = "inf" if self.alpha == INFINITY else text(Fraction(self.alpha))
        return {
            "epsilon": _as_json(self.epsilon),
            "delta": _as_json(self.delta),
            "alpha": None if self.needs_no_order else alpha,
            "optimal": None if self.needs_no_order else self.optimal,
            "conversion": self.conversion,
            "kind": str(self.kind),
            **({"note": self.note} if self.note else {}),
            "claim": self.claim.as_dict(),
        }


# Proved in docs/proofs/certificates.md, Lemma balls.
def from_ball(
    x: arb, claim: Claim, digits_asked: int, certified: bool, signed: bool = False
) -> Enclosure:
    """The enclosure of a ball with its claim, of exact ends that lose nothing of the ball.

    Unless it is `signed`, the number is known to be at least 0, and so is the lower end. Of a ball
    that is NaN nothing is known, up to ∞. `certified` says whether the ball is proved.
    """
    bits = 64
    if x.is_finite():
        # A midpoint of few bits may have a radius far below them.
        close = 0 if x.is_exact() else max(0, x.rel_accuracy_bits())
        bits += x.bits() + min(close, limits.current().bits)
    with precision(bits):
        low, high = ends_of(x)
    if x.is_nan():  # nothing is known
        low, high = arb("-inf"), arb("inf")
    if low < 0 and not signed:
        low = arb(0)
    return Enclosure(_mpf(low), _mpf(high), claim, certified, digits_asked)


def to_fraction(x: mpmath.mpf) -> Fraction:
    """The exact value of a finite mpf; the caller knows that its exponent fits into memory.

    OverflowError for ∞ and NaN, as of a float.
    """
    sign, mantissa, power, _ = x._mpf_
    if power and not mantissa:
        raise OverflowError(f"found {x}, needed a finite number")
    whole = -int(mantissa) if sign else int(mantissa)
    return Fraction(whole << power) if power >= 0 else Fraction(whole, 1 << -power)


def to_ball(x: mpmath.mpf) -> arb:
    """An mpf as an exact ball, also where its fraction would not fit into memory.

    ∞ stays ∞; NaN and −∞ become NaN.
    """
    sign, mantissa, power, _ = x._mpf_
    if power and not mantissa:  # no number
        return arb("inf") if x > 0 else arb.nan()
    return arb((-int(mantissa) if sign else int(mantissa), int(power)))


def _shared_digits(low: mpmath.mpf, high: mpmath.mpf) -> float:
    """The significant decimal digits that two ends share; ∞ if they are equal, 0 about 0."""
    if low == high:
        return INFINITY
    if high < 0:
        low, high = minus(high), minus(low)
    if mpmath.isinf(high) or low <= 0:
        return 0
    return max(0, log_closeness(low, high))


def _mpf(x: arb) -> mpmath.mpf:
    """The end of an enclosure, an exact ball, as an mpf; ∞ and −∞ stay what they are."""
    if not x.is_finite():
        return -mpmath.inf if x < 0 else mpmath.inf
    mantissa, power = x.man_exp()
    whole = MPZ(int(mantissa))  # odd, as mpmath has it, or 0
    return mpmath.mp.make_mpf((int(whole < 0), abs(whole), int(power), whole.bit_length()))


def _ends(other: Enclosure | Numeric, bits: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """The ends of an enclosure or of a rational number, close enough to decide a comparison.

    It is with numbers m/2^k of so many bits: one that is not p/q differs from it by at least
    1/(q 2^k). PrecisionError for an irrational number.
    """
    if isinstance(other, Enclosure):
        return other.lower, other.upper
    if is_infinite(other):
        return mpmath.inf, mpmath.inf
    value = exact(other)
    if not isinstance(value, Fraction):
        raise PrecisionError(f"found {other}, needed a rational number to compare with")
    bits += value.numerator.bit_length() + value.denominator.bit_length() + 64
    with precision(bits):
        ball = arb(fmpq(value.numerator, value.denominator))
        low, high = ends_of(ball)
        return _mpf(low), _mpf(high)


def _decided(yes: bool, no: bool, left: Enclosure, right: Enclosure | Numeric) -> bool:
    """The result of a comparison; PrecisionError where it is proved neither true nor false."""
    if not yes and not no:
        raise PrecisionError(
            f"cannot decide how {left} compares with {right}: the enclosures overlap",
            remedy="ask for more digits",
        )
    return yes


def shown(x: Enclosure | Fraction, digits: int = _LINE_DIGITS) -> str:
    """The text of a number: an enclosure rounded to its safe side, a given one as `given` does."""
    return x.rounded(digits) if isinstance(x, Enclosure) else given(x)


def shortened(expression: str) -> str:
    """The text of an expression, cut to _LINE_LENGTH characters after a term or a word."""
    if len(expression) <= _LINE_LENGTH:
        return expression
    head = expression[:_LINE_LENGTH]
    terms, plus, _ = head.rpartition(" + ")
    return f"{terms} + …" if plus else f"{head.rpartition(' ')[0]} …"


def _as_json(x: Bound | Fraction) -> dict[str, Any] | str:
    return x.as_dict() if isinstance(x, Enclosure) else text(x)


# --- the digits asked for

#: Bits beyond those of the digits asked, which mostly cover the rounding of one evaluation; where
#: they do not, the bits are doubled. It costs time alone.
GUARD_BITS = 32


def to_digits(
    value: Callable[[], tuple[arb, Claim]], digits: int, subject: Callable[[], str], bits: int = 0
) -> tuple[arb, Claim, int]:
    """A ball with `digits` relative digits, its claim, and the bits at which it was found.

    `value` is asked at `bits`, or at those that the digits need, which are doubled until its ball
    has them. PrecisionError about `subject` where the limit on bits ends that; a value of 0 that no
    ball shows to be exact never has digits.
    """
    ball = arb(0)
    for working in doubled(bits or first_bits(digits)):
        with precision(working):
            ball, claim = value()
            if ball.is_exact() or accuracy(ball) >= digits:
                return ball, claim, working
    raise undecided(subject(), digits, ball.is_nan())


def undecided(subject: str, digits: int, is_none: bool = False) -> PrecisionError:
    """The error of digits that the limit on bits does not reach; `is_none` of a value of NaN."""
    remedy = "ask for fewer digits, or raise the limit bits"
    if is_none:
        remedy = "the formula gave no number at all; in a class of your own state finite_up_to, in "
        remedy += "a theorem of your own orders that leave out those at which it divides by 0 or ∞"
    at = f"at {limits.current().bits:,} bits"
    return PrecisionError(f"{subject}: {digits} digits not reached {at}", remedy=remedy)


def first_bits(digits: int) -> int:
    """The bits at which a number of so many decimal digits is first computed."""
    return math.ceil(digits * math.log2(10)) + GUARD_BITS
