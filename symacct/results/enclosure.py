"""Answers: Enclosure, a number between two proven ends, and Guarantee, an (ε, δ) statement."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import mpmath
from flint import arb, fmpq
from mpmath.libmp import MPZ

from symacct.arithmetic.ball import ends_of, precision
from symacct.core import arguments, limits, upward
from symacct.core.claims import Adjacency, Claim, Kind
from symacct.core.errors import PrecisionError, SoundnessError
from symacct.core.exact import INFINITY, Numeric, Order, exact, is_infinite, text
from symacct.results import rounding

if TYPE_CHECKING:
    from symacct.expressions.node import Node

_SHOWN_DIGITS = 10  # of a guarantee in one line
_FAR = 10**6  # bits: of numbers as far from 1 no decimal is written out
_LONGEST = 200  # characters of an expression in a line


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
        """How many significant decimal digits are proven; ∞ for an exact value."""
        return INFINITY if self.exactly is not None else _shared_digits(self.lower, self.upper)

    @property
    def _errs(self) -> Kind:
        """The kind of bound that a rounded value stays."""
        return self.claim.kind

    def __float__(self) -> float:
        return rounding.safe_float(self.lower, self.upper, self._errs)

    def known_to_be(self, value: Fraction | None) -> Self:
        """This enclosure of a number that is the fraction, if that is within its ends."""
        if value is None or mpmath.isinf(self.upper):
            return self
        within = to_fraction(self.lower) <= value <= to_fraction(self.upper)
        return replace(self, exactly=value) if within else self

    def decimal(self, digits: int | None = None) -> Fraction | None:
        """The one number of so many digits between the ends, where there is one."""
        ends = self.lower, self.upper
        if mpmath.isinf(self.upper) or any(abs(end._mpf_[2]) > _FAR for end in ends):
            return None
        up = rounding.rational_text(to_fraction(self.lower), self._shown(digits), up=True)
        found = Fraction(Decimal(up))  # Python reads no integer of more than 4,300 digits
        return found if found <= to_fraction(self.upper) else None

    def __str__(self) -> str:
        if self.exactly is not None:
            return self.rounded()
        return rounding.format_shared(self.lower, self.upper, self.digits_asked)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return rounding.safe_format(self.lower, self.upper, self._errs, spec)

    def __round__(self, places: int | None = None) -> Decimal | int:
        rounded = rounding.safe_decimal(self.lower, self.upper, self._errs, places or 0)
        return int(rounded) if places is None else rounded

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self}, {self.claim})"

    def __lt__(self, other: Enclosure | Numeric) -> bool:
        low, high = _ends(other, rounding.bits(self.lower, self.upper))
        return _decided(self.upper < low, self.lower >= high, self, other)

    def __le__(self, other: Enclosure | Numeric) -> bool:
        low, high = _ends(other, rounding.bits(self.lower, self.upper))
        return _decided(self.upper <= low, self.lower > high, self, other)

    def __gt__(self, other: Enclosure | Numeric) -> bool:
        return not self <= other

    def __ge__(self, other: Enclosure | Numeric) -> bool:
        return not self < other

    def rounded(self, digits: int | None = None) -> str:
        """The number rounded to `digits` significant digits: upwards, a lower bound downwards."""
        if self.exactly is not None:
            up = self._errs is not Kind.LOWER
            return rounding.rational_text(self.exactly, self._shown(digits), up)
        return rounding.safe(self.lower, self.upper, self._errs, digits or self.digits_asked)

    def how_rounded(self, digits: int | None = None) -> str:
        """What `rounded` does: "exactly" where it prints the number itself, else "rounded up"."""
        if self.exactly is not None and Fraction(self.rounded(digits)) == self.exactly:
            return "exactly"
        return "rounded down" if self._errs is Kind.LOWER else "rounded up"

    def rounded_up(self, digits: int | None = None) -> str:
        """The upper end, rounded upwards to `digits` significant digits."""
        if self.exactly is not None:
            return rounding.rational_text(self.exactly, self._shown(digits), up=True)
        return rounding.format_up(self.upper, self._shown(digits))

    def rounded_down(self, digits: int | None = None) -> str:
        """The lower end, rounded downwards to `digits` significant digits."""
        if self.exactly is not None:
            return rounding.rational_text(self.exactly, self._shown(digits), up=False)
        return rounding.format_down(self.lower, self._shown(digits))

    def _shown(self, digits: int | None) -> int:
        return self.digits_asked if digits is None else arguments.digits(digits)

    def _repr_html_(self) -> str:

        return upward.cards.enclosure_card(self)

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
    """An ε or δ to be relied on: `str(x)` too is on the safe side of what is proved."""

    def __str__(self) -> str:
        return self.rounded()


class ErrorBound(Bound):
    """An error of an attacker's test to be relied on: less of it is said than is proved."""

    @property
    def _errs(self) -> Kind:
        return Kind.LOWER


def bound(x: Enclosure, kind: Kind) -> Bound:
    """An enclosed number as a Bound of this kind."""
    if isinstance(x, Bound) and x.claim.kind is kind:
        return x
    claim = x.claim if x.claim.kind is kind else replace(x.claim, kind=kind)
    return Bound(x.lower, x.upper, claim, x.certified, x.digits_asked, x.exactly)


def error_bound(x: Enclosure) -> ErrorBound:
    """An enclosed number as an ErrorBound."""
    return ErrorBound(x.lower, x.upper, x.claim, x.certified, x.digits_asked, x.exactly)


@dataclass(frozen=True)
class Guarantee:
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

    epsilon: Bound | Any  # the number asked; what was given is a Fraction
    delta: Bound | Any
    alpha: Order
    conversion: str
    kind: Kind
    claim: Claim
    optimal: bool
    #: Why the number is not final, in words: fewer digits than asked, or no exact profile in time.
    note: str = ""
    #: Is it the profile itself, which is no conversion of one order?
    needs_no_order: bool = field(default=False, repr=False, compare=False)
    #: The expression that was asked, for `statement()`.
    mechanism: Node | None = field(default=None, repr=False, compare=False)
    #: Was the smallest number asked for that is proved, by whichever conversion?
    is_best: bool = field(default=False, repr=False, compare=False)
    #: Why the exact profile does not give it, in words, where that was asked.
    not_exact: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        if Kind.LOWER in (self.kind, self.claim.kind):
            raise SoundnessError("Guarantee: found a lower bound, which guarantees nothing")
        name = "epsilon" if isinstance(self.epsilon, Enclosure) else "delta"
        asked = bound(getattr(self, name), self.kind)
        if name == "delta" and asked.upper > 1:  # what was worked out may exceed it, δ does not
            most = mpmath.mpf(1)
            asked = replace(asked, lower=min(asked.lower, most), upper=most)
        object.__setattr__(self, name, asked)

    def __float__(self) -> float:
        return float(self.asked)

    def of(self, mechanism: Node) -> Guarantee:
        """This guarantee for the expression that was asked."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, mechanism=mechanism)
        return made

    # What follows asks the rooms above this one.

    def cite(self) -> str:
        """BibTeX of the works behind this guarantee: theorems, curves and conversion."""
        return upward.citation.bibtex(upward.citation.sources_of(self))

    def _repr_html_(self) -> str:
        return upward.cards.guarantee_card(self)

    def statement(self, form: str = "text", digits: int = 6, preface: str = "") -> str:
        """A paragraph for a privacy section, as "text", "markdown" or "latex"; or one "short" line.

        `preface` is put first: sentences of your own about the run.
        """
        return upward.statement.statement(self, form, digits, preface)

    def latex(self) -> str:
        """The formula of this number as a LaTeX display: δ(ε) of its laws, or of its order."""
        return upward.number_formula.number_latex(self)

    def under(self, adjacency: str | Adjacency) -> Guarantee:
        """This guarantee, with the relation said for which the parameters were stated.

        `adjacency` is "add_remove" or "replace_one". Raises AdjacencyError where the mechanism's
        own relation is another one.
        """
        return replace(self, claim=self.claim.under(adjacency))

    def certificate(self) -> dict[str, Any]:
        """A JSON document from which `checker/check.py` proves this guarantee again.

        Raises DomainError, "no certificate yet for …", if the checker knows no such proof.
        """
        return upward.certificates.certificate(self)

    def _best(self) -> str:
        if self.needs_no_order:
            return str(self.kind)
        best = "no order does better" if self.optimal else "another order may do better"
        return "; ".join(filter(None, [str(self.kind), best, self.may_be_less]))

    @property
    def asked(self) -> Bound:
        """The number that was asked for."""
        return self.epsilon if isinstance(self.epsilon, Bound) else self.delta

    @property
    def letter(self) -> str:
        """ε or δ: the one that was asked for."""
        return "ε" if self.epsilon is self.asked else "δ"

    @property
    def given(self) -> Fraction:
        """The number that was given."""
        number: Fraction
        (number,) = (x for x in (self.epsilon, self.delta) if not isinstance(x, Bound))
        return number

    def __str__(self) -> str:
        return self._pair(shown(self.asked))

    def _pair(self, asked: str) -> str:
        """What is guaranteed, the number asked printed so, and how."""
        given = shown(self.given)
        pair = f"{asked}, {given}" if self.epsilon is self.asked else f"{given}, {asked}"
        relation = str(self.claim.adjacency).replace("either", "either relation")
        note = f"; {self.note}" if self.note else ""
        return f"({pair})-DP under {relation}{self._by}{note}"

    @property
    def _by(self) -> str:
        """By what it is proved; what is only an upper bound is never called exact."""
        if not self.needs_no_order:
            order = rounding.found_order(self.alpha)
            return f" at order {order} by the {self.conversion} conversion"
        if self.kind is Kind.EXACT:
            return f" by the {self.conversion} conversion"
        return ", an upper bound by the profile of a dominating pair"

    def __format__(self, spec: str) -> str:
        """As `str`, the number asked as the format says, on its safe side."""
        return self._pair(format(self.asked, spec)) if spec else str(self)

    @property
    def may_be_less(self) -> str:
        """How a smaller number may be had, in words; nothing if this is the number to report."""
        if self.needs_no_order or self.is_best:
            return ""
        question = "epsilon" if self.epsilon is self.asked else "delta"
        given = rounding.given(self.given)
        return f"m.{question}('{given}') may give a smaller {self.letter}"

    def __repr__(self) -> str:
        lines = [f"Guarantee: {self}", self._best(), f"of the curve: {self.claim}"]
        if self.mechanism is not None:
            what = (shortened(repr(self.mechanism)), upward.description.sensitivity(self.mechanism))
            lines += [
                f"of: {', '.join(filter(None, what))}",
                upward.description.float_note(self.mechanism),
            ]
        return "\n  ".join(filter(None, lines))

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


def from_ball(
    x: arb, claim: Claim, digits_asked: int, certified: bool, signed: bool = False
) -> Enclosure:
    """The Enclosure of a ball; unless `signed` the value is known not to be below 0."""
    bits = 64
    if x.is_finite():
        # A midpoint of few bits may have a radius far below them.
        close = 0 if x.is_exact() else max(0, x.rel_accuracy_bits())
        bits += x.bits() + min(close, limits.current().bits)
    with precision(bits):
        low, high = ends_of(x)
    if low < 0 and not signed:
        low = arb(0)
    return Enclosure(_mpf(low), _mpf(high), claim, certified, digits_asked)


def relative_digits(x: arb) -> float:
    """How many significant digits both ends of a ball share; ∞ for an exact one, <= 0 for none."""
    if x.is_exact():
        return INFINITY
    if not x.is_finite():
        return -INFINITY
    return (x.rel_accuracy_bits() - 1) * math.log10(2)  # the width is twice the radius


def to_fraction(x: mpmath.mpf) -> Fraction:
    """The exact value of a finite mpf."""
    sign, mantissa, power, _ = x._mpf_
    whole = -int(mantissa) if sign else int(mantissa)
    return Fraction(whole << power) if power >= 0 else Fraction(whole, 1 << -power)


def to_ball(x: mpmath.mpf) -> arb:
    """The exact value as a ball: a tail of e^(−10¹⁰) has no fraction that memory holds."""
    if not mpmath.isfinite(x):
        return arb("inf") if x > 0 else arb.nan()
    sign, mantissa, power, _ = x._mpf_
    return arb((-int(mantissa) if sign else int(mantissa), int(power)))


def _shared_digits(low: mpmath.mpf, high: mpmath.mpf) -> float:
    if low == high:
        return INFINITY
    if high < 0:
        low, high = rounding.minus(high), rounding.minus(low)
    if mpmath.isinf(high) or low <= 0:
        return 0
    return max(0, rounding.log_closeness(low, high))


def _mpf(x: arb) -> mpmath.mpf:
    if not x.is_finite():
        return mpmath.inf
    mantissa, power = x.man_exp()
    whole = MPZ(int(mantissa))  # odd, as mpmath has it, or 0
    return mpmath.mp.make_mpf((int(whole < 0), abs(whole), int(power), whole.bit_length()))


def _ends(other: Enclosure | Numeric, bits: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Both ends of what is compared with numbers of so many bits.

    A number m/2^k that is not p/q differs from it by 1/(q 2^k) at least.
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
    if not yes and not no:
        raise PrecisionError(
            f"cannot decide how {left} compares with {right}: the enclosures overlap",
            remedy="ask for more digits",
        )
    return yes


def shown(x: Enclosure | Fraction, digits: int = _SHOWN_DIGITS) -> str:
    """A number asked to a few digits on its safe side, or a number given."""
    return x.rounded(digits) if isinstance(x, Enclosure) else rounding.given(x)


def shortened(expression: str) -> str:
    """The head of a long expression: whole terms of a sum, or at least whole numbers."""
    if len(expression) <= _LONGEST:
        return expression
    head = expression[:_LONGEST]
    terms, plus, _ = head.rpartition(" + ")
    return f"{terms} + …" if plus else f"{head.rpartition(' ')[0]} …"


def _as_json(x: Bound | Fraction) -> dict[str, Any] | str:
    return x.as_dict() if isinstance(x, Enclosure) else text(x)
