"""How numbers are printed: a bound on its safe side, a stated one as stated, all else outwards."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
from flint import arb, fmpz

from symacct.arithmetic.ball import precision
from symacct.core import limits
from symacct.core.claims import Kind
from symacct.core.errors import DomainError, LimitError
from symacct.core.exact import INFINITY, text

_SPEC = re.compile(r"(.*?)(?:\.(\d+))?([eEfFgGn%]?)", re.DOTALL)
_DIGITS = 6  # of a format that names none, as for a float
_SHORT = 24  # signs up to which a number that was stated is printed in full
_STATED_DIGITS = 17
_FOUND_DIGITS, _FOUND_LONG = 4, 6  # of an order, and of one that is printed as it is
_PLACES = 60  # decimals up to which a number is written as a decimal


def safe(low: mpmath.mpf, high: mpmath.mpf, kind: Kind, digits: int) -> str:
    """The number in [low, high] to `digits` digits, on the safe side of what is proved."""
    return format_down(low, digits) if kind is Kind.LOWER else format_up(high, digits)


def safe_float(low: mpmath.mpf, high: mpmath.mpf, kind: Kind) -> float:
    """The number in [low, high] as the nearest float64 on the safe side of what is proved."""
    return float_below(low) if kind is Kind.LOWER else float_above(high)


def safe_decimal(low: mpmath.mpf, high: mpmath.mpf, kind: Kind, places: int) -> Decimal:
    """The number in [low, high] to `places` decimals, on the safe side of what is proved."""
    x = low if kind is Kind.LOWER else high
    if mpmath.isinf(x):
        return Decimal("inf") if x > 0 else Decimal("-inf")
    return Decimal(f"{fmpz(_units(x, places, up=kind is not Kind.LOWER))}e{-places}")


def safe_format(low: mpmath.mpf, high: mpmath.mpf, kind: Kind, spec: str) -> str:
    """The number in [low, high] as e, f, g or % of an f-string print it, on the safe side."""
    match = _SPEC.fullmatch(spec)
    assert match is not None  # noqa: S101  # it takes any text
    front, letter = match[1], match[3]
    precision = int((match[2] or str(_DIGITS))[:_SHORT])
    limits.check("digits", precision, "format, digits")
    if letter in ("f", "F", "%"):
        number = safe_decimal(low, high, kind, precision + 2 * (letter == "%"))
    else:
        digits = precision + 1 if letter in ("e", "E") else max(1, precision)
        number = _as_decimal(safe(low, high, kind, digits))
    shown: Any = number if number.is_finite() else float(number)
    try:
        return format(shown, f"{front}.{precision}{letter}")
    except ValueError:
        raise DomainError(f"format: found {spec!r}, needed one such as .6g, .3f, .2e") from None


def given(x: Fraction) -> str:
    """A stated number, which holds for every larger one: in full where short, else rounded up."""
    full = (exact_decimal(x), text(x))
    short = [one for one in full if one is not None and len(one) <= _SHORT]
    return short[0] if short else rational_text(x, _STATED_DIGITS, up=True)


def exact_decimal(number: Fraction) -> str | None:
    """The decimal that equals the number, 1e-5 for a small power of ten; None if there is none."""
    rest, places = number.denominator, 0
    while places <= _PLACES and (rest % 2 == 0 or rest % 5 == 0):
        rest //= next(factor for factor in (10, 2, 5) if rest % factor == 0)
        places += 1
    if rest != 1 or places > _PLACES:
        return None
    scaled = number * 10**places
    digits, sign = str(fmpz(abs(scaled.numerator))), "-" if number < 0 else ""
    if places == 0:
        return sign + digits
    if len(digits.rstrip("0")) == 1 and places - len(digits) >= 3:
        zeros = len(digits) - len(digits.rstrip("0"))
        return f"{sign}{digits.rstrip('0')}e-{places - zeros}"
    digits = digits.rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


def rational_text(x: Fraction, digits: int, up: bool) -> str:
    """A fraction rounded once, up or down; all its digits where they are fewer.

    >>> rational_text(Fraction(1, 3), 5, up=True), rational_text(Fraction(1, 4), 5, up=True)
    ('0.33334', '0.25')
    """
    rounding = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    wide = decimal.Context(digits, rounding, decimal.MIN_EMIN, decimal.MAX_EMAX)
    found = wide.divide(Decimal(x.numerator), Decimal(x.denominator))
    return f"{found:f}" if -6 < found.adjusted() < digits else f"{found:e}".replace("+", "")


def order_text(alpha: int | float | Fraction, digits: int = 6) -> str:
    """An order to so many digits, which is no bound: the nearest, above where floats end."""
    if alpha == INFINITY:
        return "∞"
    if alpha < 10**300:
        return f"{float(alpha):.{digits}g}"
    return rational_text(Fraction(alpha), digits, up=True)


def found_order(alpha: int | float | Fraction) -> str:
    """An order that a search found: a short decimal as it is, else four digits of α and of α − 1.

    ε is flat about its best order, so its digits settle only half as many of the order.
    """
    if 1 < alpha < 10**_FOUND_LONG:
        full = exact_decimal(Fraction(alpha))
        if full is not None and len(full) <= _FOUND_LONG:
            return full
        ones = -math.floor(math.log10(Fraction(alpha) - 1))
        return order_text(alpha, _FOUND_DIGITS + max(0, ones, -ones - _FOUND_DIGITS + 1))
    return order_text(alpha, _FOUND_DIGITS)


def nearest_float(x: Fraction | float) -> float:
    """The float64 next to x; ±∞ where it is out of range."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def rational_float(x: Fraction) -> float:
    """The smallest float64 >= x."""
    near = nearest_float(x)
    return near if near >= x else math.nextafter(near, math.inf)


def float_above(x: mpmath.mpf) -> float:
    """The smallest float64 >= x; the global precision of mpmath plays no part."""
    near = mpmath.libmp.to_float(x._mpf_)  # next to x; ±∞ or 0 out of range
    return near if near >= x else math.nextafter(near, math.inf)


def float_below(x: mpmath.mpf) -> float:
    """The largest float64 <= x."""
    near = mpmath.libmp.to_float(x._mpf_)
    return near if near <= x else math.nextafter(near, -math.inf)


def format_shared(low: mpmath.mpf, high: mpmath.mpf, digits: int) -> str:
    """The digits that both ends share, at most `digits`; or the decimal that 9s and 0s round to."""
    if mpmath.isinf(high):
        return "inf" if mpmath.isinf(low) else f"[{format_down(low, 5)}, inf]"
    if high < 0:
        return "-" + format_shared(minus(high), minus(low), digits)
    for count in range(_most_shared(low, high, digits), 0, -1):
        for rounding in (arb.floor, _nearest):
            a, b = (_rounded(end, count, rounding) for end in (low, high))
            if a == b:
                return _decimal_text(*a)
    return f"[{format_down(low, 3)}, {format_up(high, 3)}]"


def format_up(x: mpmath.mpf, digits: int) -> str:
    """x rounded upwards to `digits` significant digits."""
    if x < 0:
        return "-" + format_down(minus(x), digits)
    return "inf" if mpmath.isinf(x) else _decimal_text(*_rounded(x, digits, arb.ceil))


def format_down(x: mpmath.mpf, digits: int) -> str:
    """x rounded downwards to `digits` significant digits."""
    if x < 0:
        return "-" + format_up(minus(x), digits)
    return "inf" if mpmath.isinf(x) else _decimal_text(*_rounded(x, digits, arb.floor))


def _most_shared(low: mpmath.mpf, high: mpmath.mpf, digits: int) -> int:
    """No more than this many digits, at most `digits`, can two ends share, low <= high, high >= 0.

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
    """(exponent of ten, `digits` leading digits as a whole number) of x >= 0."""
    if x == 0:
        return 0, 0
    exponent = _log_ratio(x, mpmath.mpf(1))

    def rounded() -> fmpz | None:
        return whole(_times_ten_to(x, digits - 1 - exponent)).unique_fmpz()

    leading = int(_first_answer(bits(x) + 4 * digits, rounded))
    return (exponent + 1, leading // 10) if leading == 10**digits else (exponent, leading)


def _nearest(x: arb) -> arb:
    return (x + arb(0.5)).floor()


def _log_ratio(x: mpmath.mpf, unit: mpmath.mpf) -> int:
    """⌊log₁₀(x/unit)⌋ for x, unit > 0."""

    def largest() -> int | None:
        log = (_ball(x) / _ball(unit)).log() / arb(10).log()
        if not log.rad() < 0.25:
            return None
        nearest: Any = (log.mid() + 0.5).floor().unique_fmpz()
        near = int(nearest)
        left = _times_ten_to(x, -near) / _ball(unit)
        if left >= 1:
            return near
        return near - 1 if left < 1 else None

    return int(_first_answer(bits(x, unit), largest))


def _first_answer(bits: int, question: Callable[[], Any]) -> Any:
    """What balls of growing precision answer first; None is no answer.

    As few bits are used as the answer needs: exact powers of ten may have millions. Ties are
    decided too, for then all the numbers are exact at the bits of the longest mantissa.
    """
    answer = None
    while answer is None:
        bits = 2 * bits + 64
        with precision(bits):
            answer = question()
    return answer


def _times_ten_to(x: mpmath.mpf, power: int) -> arb:
    """x·10^power, exact where that is a short number."""
    ten = arb(10) ** abs(power)
    return _ball(x) * ten if power >= 0 else _ball(x) / ten


def _ball(x: mpmath.mpf) -> arb:
    """A finite mpf >= 0 exactly."""
    _, mantissa, power, _ = x._mpf_
    return arb((int(mantissa), int(power)))


def bits(*numbers: mpmath.mpf) -> int:
    """The bits of the longest mantissa."""
    return max(int(x._mpf_[3]) for x in numbers)


def _decimal_text(exponent: int, leading: int) -> str:
    """Leading digits at a power of ten, as 0.0123, 123.4 or 1.234e-8."""
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


def _units(x: mpmath.mpf, places: int, up: bool) -> int:
    """x in units of 10^−places, rounded up or down to a whole number."""
    if x < 0:
        return -_units(minus(x), places, not up)
    size = int(x._mpf_[2] + x._mpf_[3])  # 2^size > x
    limits.check("digits", max(0, math.ceil(size * math.log10(2))) + places, "format, digits")
    whole = arb.ceil if up else arb.floor
    return int(_first_answer(bits(x), lambda: whole(_times_ten_to(x, places)).unique_fmpz()))


def _as_decimal(shown: str) -> Decimal:
    try:
        return Decimal(shown)
    except decimal.InvalidOperation:
        raise LimitError(f"format: found {shown}, an exponent beyond what decimals have") from None


def minus(x: mpmath.mpf) -> mpmath.mpf:
    """−x exactly: mpmath's own minus sign rounds to its global precision."""
    return mpmath.fneg(x, exact=True)
