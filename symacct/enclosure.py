"""Answers: Enclosure, a number between two proven ends, and Guarantee, an (ε, δ) statement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import mpmath
from flint import arb, fmpq, fmpz

from symacct import doors
from symacct.arithmetic.ball import precision
from symacct.claims import Claim, Kind
from symacct.errors import PrecisionError
from symacct.exact import INFINITY, exact, is_infinite


@dataclass(frozen=True)
class Enclosure:
    """lower <= the number <= upper, both mpf, rounded outwards; `claim` says what it is.

    `certified` is False where the ends were not proved (another engine, a trusted callable).
    `float(x)` rounds upwards, or downwards for a lower bound; `str(x)` prints only digits that
    both ends share. Comparing with <, <=, >, >= raises PrecisionError where undecided.
    """

    lower: Any
    upper: Any
    claim: Claim
    certified: bool = True
    digits_asked: int = field(default=30, compare=False)

    @property
    def digits(self) -> float:
        """How many significant decimal digits are proven; ∞ for an exact value."""
        return _shared_digits(self.lower, self.upper)

    def __float__(self) -> float:
        if self.claim.kind is Kind.LOWER:
            return float_below(self.lower)
        return float_above(self.upper)

    def __str__(self) -> str:
        return format_shared(self.lower, self.upper, self.digits_asked)

    def __repr__(self) -> str:
        return f"Enclosure({self}, {self.claim})"

    def __lt__(self, other: Any) -> bool:
        low, high = _ends(other)
        return _decided(self.upper < low, self.lower >= high, self, other)

    def __le__(self, other: Any) -> bool:
        low, high = _ends(other)
        return _decided(self.upper <= low, self.lower > high, self, other)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def rounded_up(self, digits: int | None = None) -> str:
        """The upper end, rounded upwards to `digits` significant digits."""
        return format_up(self.upper, self._shown(digits))

    def rounded_down(self, digits: int | None = None) -> str:
        """The lower end, rounded downwards to `digits` significant digits."""
        return format_down(self.lower, self._shown(digits))

    def _shown(self, digits: int | None) -> int:
        return self.digits_asked if digits is None else doors.digits(digits)

    def as_dict(self) -> dict[str, Any]:
        """The enclosure for JSON: ends as decimal text rounded outwards, and the claim."""
        width = self.digits_asked + 5
        return {
            "value": str(self),
            "lower": format_down(self.lower, width),
            "upper": format_up(self.upper, width),
            "digits": None if self.digits == INFINITY else self.digits,
            "certified": self.certified,
            "claim": claim_as_dict(self.claim),
        }


def claim_as_dict(claim: Claim) -> dict[str, Any]:
    """A claim for JSON."""
    return {
        "kind": str(claim.kind),
        "adjacency": str(claim.adjacency),
        "orders": str(claim.orders),
        "theorems": list(claim.theorems),
        "sources": [str(source) for source in claim.sources],
        "certified": claim.certified,
    }


@dataclass(frozen=True)
class Guarantee:
    """(ε, δ)-DP at the order α: the number asked is an Enclosure, the given one is exact.

    `optimal` says that the enclosure is of the smallest value over all orders allowed; otherwise
    it is the value at `alpha`, which is a sound guarantee all the same.
    """

    epsilon: Any
    delta: Any
    alpha: Any
    conversion: str
    claim: Claim
    optimal: bool
    #: The expression that was asked, for `statement()`.
    mechanism: Any = field(default=None, repr=False, compare=False)

    # What follows asks layers above this one, so each imports its layer when called.

    def cite(self) -> str:
        """BibTeX of the works behind this guarantee: theorems, curves and conversion."""
        from symacct.export.citation import cite_guarantee

        return cite_guarantee(self)

    def statement(self, form: str = "text") -> str:
        """A paragraph for a privacy section, as "text", "markdown" or "latex"."""
        from symacct.export.statement import statement

        return statement(self, form)

    @property
    def asked(self) -> Enclosure:
        """The number that was asked for."""
        return self.epsilon if isinstance(self.epsilon, Enclosure) else self.delta

    def __str__(self) -> str:
        order = "∞" if self.alpha == INFINITY else f"{float(self.alpha):.6g}"
        return (
            f"({_plain(self.epsilon)}, {_plain(self.delta)})-DP at order {order} "
            f"by the {self.conversion} conversion"
        )

    def as_dict(self) -> dict[str, Any]:
        """The guarantee for JSON."""
        return {
            "epsilon": _as_json(self.epsilon),
            "delta": _as_json(self.delta),
            "alpha": "inf" if self.alpha == INFINITY else str(self.alpha),
            "conversion": self.conversion,
            "optimal": self.optimal,
            "claim": claim_as_dict(self.claim),
        }


def from_ball(
    x: arb, claim: Claim, digits_asked: int, certified: bool, signed: bool = False
) -> Enclosure:
    """The Enclosure of a ball; unless `signed` the value is known not to be below 0."""
    bits = 64
    if x.is_finite():
        # A midpoint of few bits may have a radius far below them.
        bits += int(x.mid().bits()) + (0 if x.is_exact() else max(0, x.rel_accuracy_bits()))
    with precision(bits):
        low, high = _mpf(x.lower()), _mpf(x.upper())
    if not signed:
        low = max(low, mpmath.mpf(0))
    return Enclosure(low, high, claim, certified, digits_asked)


def relative_digits(x: arb) -> float:
    """How many significant digits both ends of a ball share; ∞ for an exact one, <= 0 for none."""
    if x.is_exact():
        return INFINITY
    if not x.is_finite():
        return -INFINITY
    return (x.rel_accuracy_bits() - 1) * math.log10(2)  # the width is twice the radius


def float_above(x: Any) -> float:
    """The smallest float64 >= x; the global precision of mpmath plays no part."""
    near = mpmath.libmp.to_float(x._mpf_)  # next to x; ±∞ or 0 out of range
    return near if near >= x else math.nextafter(near, math.inf)


def float_below(x: Any) -> float:
    """The largest float64 <= x."""
    near = mpmath.libmp.to_float(x._mpf_)
    return near if near <= x else math.nextafter(near, -math.inf)


def to_fraction(x: Any) -> Fraction:
    """The exact value of a finite mpf."""
    sign, mantissa, power, _ = x._mpf_
    whole = -int(mantissa) if sign else int(mantissa)
    return Fraction(whole << power) if power >= 0 else Fraction(whole, 1 << -power)


def format_shared(low: Any, high: Any, digits: int) -> str:
    """The number's leading digits, as far as both ends share them, at most `digits`.

    Where a run of 9s in one end meets a run of 0s in the other, the decimal to which both ends
    round is printed.
    """
    if mpmath.isinf(high):
        return "inf" if mpmath.isinf(low) else f"[{format_down(low, 5)}, inf]"
    if high < 0:
        return "-" + format_shared(_minus(high), _minus(low), digits)
    for count in range(_most_shared(low, high, digits), 0, -1):
        for rounding in (arb.floor, _nearest):
            a, b = (_rounded(end, count, rounding) for end in (low, high))
            if a == b:
                return _decimal_text(*a)
    return f"[{format_down(low, 3)}, {format_up(high, 3)}]"


def format_up(x: Any, digits: int) -> str:
    """x rounded upwards to `digits` significant digits."""
    if x < 0:
        return "-" + format_down(_minus(x), digits)
    if mpmath.isinf(x):
        return "inf"
    return _decimal_text(*_rounded(x, digits, arb.ceil))


def format_down(x: Any, digits: int) -> str:
    """x rounded downwards to `digits` significant digits."""
    if x < 0:
        return "-" + format_up(_minus(x), digits)
    if mpmath.isinf(x):
        return "inf"
    return _decimal_text(*_rounded(x, digits, arb.floor))


def _most_shared(low: Any, high: Any, digits: int) -> int:
    """No more than this many digits, at most `digits`, can two ends share, low <= high, high >= 0.

    Ends that truncate or round to the same `count` digits are less than a unit of the last one
    apart, or low rounds up to 10^count of its units and high is less than 5.5 away. In each case
    low/(high − low) > 10^{count−1}.
    """
    if low == high:
        return digits
    return min(digits, _log_closeness(low, high) + 1) if low > 0 else 0


def _log_closeness(low: Any, high: Any) -> int:
    """⌊log₁₀(low/(high − low))⌋ for 0 < low < high < ∞, or −1 where it is below 0."""
    if high > mpmath.ldexp(low, 1):
        return -1
    return _log_ratio(low, mpmath.fsub(high, low, exact=True))


def _rounded(x: Any, digits: int, whole: Callable[[arb], arb]) -> tuple[int, int]:
    """(exponent of ten, `digits` leading digits as a whole number) of x >= 0."""
    if x == 0:
        return 0, 0
    exponent = _log_ratio(x, mpmath.mpf(1))

    def rounded() -> Any:
        return whole(_times_ten_to(x, digits - 1 - exponent)).unique_fmpz()

    leading = int(_first_answer(_bits(x) + 4 * digits, rounded))
    return (exponent + 1, leading // 10) if leading == 10**digits else (exponent, leading)


def _nearest(x: arb) -> arb:
    return (x + arb(0.5)).floor()


def _log_ratio(x: Any, unit: Any) -> int:
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

    return int(_first_answer(max(_bits(x), _bits(unit)), largest))


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


def _times_ten_to(x: Any, power: int) -> arb:
    """x·10^power, exact where that is a short number."""
    ten = arb(10) ** abs(power)
    return _ball(x) * ten if power >= 0 else _ball(x) / ten


def _ball(x: Any) -> arb:
    """A finite mpf >= 0 exactly."""
    _, mantissa, power, _ = x._mpf_
    return arb((int(mantissa), int(power)))


def _bits(x: Any) -> int:
    return int(x._mpf_[3])


def _decimal_text(exponent: int, leading: int) -> str:
    """leading digits at a power of ten, as 0.0123, 123.4 or 1.234e-8."""
    if leading == 0:
        return "0"
    text = str(fmpz(leading))  # unlike int, fmpz prints any number of digits
    if -5 <= exponent < 0:
        return "0." + "0" * (-exponent - 1) + text
    if 0 <= exponent < len(text):
        whole, decimals = text[: exponent + 1], text[exponent + 1 :]
        return f"{whole}.{decimals}" if decimals else whole
    mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
    return f"{mantissa}e{exponent}"


def _shared_digits(low: Any, high: Any) -> float:
    if low == high:
        return INFINITY
    if high < 0:
        low, high = _minus(high), _minus(low)
    if mpmath.isinf(high) or low <= 0:
        return 0
    return max(0, _log_closeness(low, high))


def _minus(x: Any) -> Any:
    """−x exactly: mpmath's own minus sign rounds to its global precision."""
    return mpmath.fneg(x, exact=True)


def _mpf(x: arb) -> Any:
    if not x.is_finite():
        return mpmath.inf
    mantissa, power = x.man_exp()
    return mpmath.mp.make_mpf(mpmath.libmp.from_man_exp(int(mantissa), int(power)))


def _ends(other: Any) -> tuple[Any, Any]:
    if isinstance(other, Enclosure):
        return other.lower, other.upper
    if is_infinite(other):
        return mpmath.inf, mpmath.inf
    value = exact(other)
    if not isinstance(value, Fraction):
        raise PrecisionError(f"found {other}, needed a rational number to compare with")
    bits = value.numerator.bit_length() + value.denominator.bit_length() + 64
    with precision(bits):
        ball = arb(fmpq(value.numerator, value.denominator))
        return _mpf(ball.lower()), _mpf(ball.upper())


def _decided(yes: bool, no: bool, left: Any, right: Any) -> bool:
    if not yes and not no:
        raise PrecisionError(
            f"cannot decide how {left} compares with {right}: the enclosures overlap; "
            "ask for more digits"
        )
    return yes


def _plain(x: Any) -> str:
    return x.rounded_up(10) if isinstance(x, Enclosure) else f"{float(x):.10g}"


def _as_json(x: Any) -> Any:
    return x.as_dict() if isinstance(x, Enclosure) else str(x)
