"""Every error symacct raises: what was found, what was needed, the remedy.

>>> from symacct import Gaussian, errors
>>> try:
...     Gaussian(-1)
... except errors.DomainError as error:
...     print(error)
Gaussian, sigma: found -1, needed > 0
"""

from __future__ import annotations

import contextlib
import decimal
import difflib
import reprlib
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from types import FrameType, TracebackType
from typing import Any

#: The number of characters of a value that a message shows. Only messages rest on it.
_SHOWN_LENGTH = 120
#: The smallest whole number that is too long for a person to read in a fraction. Only messages rest
#: on it: longer fractions are shown as decimals.
_LEAST_LONG = 10**9
#: Digits up to which a decimal is printed in full, and those of a longer one.
_FULL_DIGITS, _ABOUT_DIGITS = 17, 6
#: Bits of the mantissa of a float64. Only messages rest on it.
_FLOAT_BITS = 53
#: Binary places up to which a fraction may have been stated by hand, as 0.375 has three. Only
#: messages rest on it.
_STATED_PLACES = 40
_SHORT = reprlib.Repr()  # writes what `echo` shows of objects
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = _SHOWN_LENGTH
#: Packages whose frames a notebook leaves out, because they say nothing about the user's call.
_INSIDE = {"symacct", "mpmath", "contextlib", "IPython"}


def echo(value: object) -> str:
    """`value` as a message shows it: in one short line, whatever it is and however large."""
    text = f"a value of type {type(value).__name__}"
    # A value of any class has any repr; Python writes no integer of more than 4,300 digits.
    with contextlib.suppress(Exception):
        shown = _written(value)
        text = " ".join(shown.split())
    # What no encoding can write is spelled out.
    text = text.encode("utf-8", "backslashreplace").decode()
    return cut(text, _SHOWN_LENGTH)


def cut(text: str, limit: int) -> str:
    """The text, or where it is longer than `limit` its first half and the last third of `limit`."""
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[-limit // 3 :]}"


def _written(value: object) -> str:
    """The value as text for a message, with whatever error its own repr raises."""
    if isinstance(value, list | tuple | set | frozenset | dict | str | bytes):
        return _SHORT.repr(value)
    if getattr(value, "__sympy__", False):
        return str(formulas()().doprint(value))
    if isinstance(value, Fraction):
        is_read = value.denominator == 1 or not is_long(value.numerator, value.denominator)
        return str(value) if is_read else in_few_digits(value)
    return repr(value)


def is_long(*ends: int) -> bool:
    """Is one of these whole numbers, the ends of a fraction, too long to be read?"""
    return max(map(abs, ends)) >= _LEAST_LONG


def in_few_digits(x: Fraction) -> str:
    """The decimal that x is, the float64 that it is, or else the six first digits after a ≈.

    >>> in_few_digits(Fraction(1.1)), in_few_digits(Fraction("0.12345678901"))
    ('1.1 (as float64)', '0.12345678901')
    >>> in_few_digits(Fraction(10**10, 3 * 10**10 + 1))
    '≈ 0.333333'
    """
    if is_float(x):
        return f"{_plain(Decimal(repr(float(x))))} (as float64)"
    whole = divided(x, _FULL_DIGITS)
    return (
        _plain(whole.normalize())
        if Fraction(whole) == x
        else f"≈ {_plain(divided(x, _ABOUT_DIGITS))}"
    )


def is_float(x: Fraction) -> bool:
    """Is this a float64 of many binary places, as 0.1 is and 0.375 is not?"""
    places = x.denominator.bit_length() - 1
    is_small = abs(x) < 1 << _FLOAT_BITS - _STATED_PLACES  # as of so many places all floats are
    return is_small and x.denominator == 1 << places and places > _STATED_PLACES and float(x) == x


def divided(x: Fraction, digits: int, rounding: str = decimal.ROUND_HALF_EVEN) -> Decimal:
    """The fraction as a decimal of at most `digits` digits, rounded once by a mode of `decimal`."""
    wide = decimal.Context(digits, rounding, decimal.MIN_EMIN, decimal.MAX_EMAX)
    return wide.divide(Decimal(x.numerator), Decimal(x.denominator))


def _plain(x: Decimal) -> str:
    """The text of a decimal, with an exponent only where it is far from 1."""
    return f"{x:f}" if -6 < x.adjusted() < _FULL_DIGITS else f"{x:e}".replace("+", "")


@cache
def formulas() -> type[Any]:
    """SymPy's printer of text, with exp(1) for its E, which a reader takes for a symbol."""
    from sympy.printing.str import StrPrinter

    class Formulas(StrPrinter):  # type: ignore[misc]  # SymPy ships no types
        def _print_Exp1(self, number: Any) -> str:  # noqa: N802
            return "exp(1)"

    return Formulas


def reason(error: OSError) -> str:
    """The words of the system for an OSError, or the name of its class where it has none."""
    return error.strerror or str(error) or type(error).__name__


def nearest(name_given: object, names: Iterable[str]) -> str | None:
    """The known name most like the one found, whatever the case; None if none is like it."""
    names = list(names)
    lowered = {candidate.lower(): candidate for candidate in names}
    name = name_given[:_SHOWN_LENGTH].lower() if isinstance(name_given, str) else ""
    near = difflib.get_close_matches(name, lowered, n=1)
    return lowered[near[0]] if near else None


def suggestion(name_given: object, names: Iterable[str], needed: str) -> str:
    """The end of a message about a name: the known one that is most like it, or what was needed."""
    near = nearest(name_given, names)
    return f"; did you mean {near}?" if near else f", needed {needed}"


def ipython_shell() -> Any:
    """The shell of the IPython session or Jupyter kernel that runs, or None."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


class SymacctError(Exception):
    """The base class of all errors of symacct, whose messages take one line.

    `where` is what the error is about, where the rest does not say so, `finding` what was found
    and what was needed, and `remedy` what to ask instead, if anything. The message is these three,
    in words that are true in Python and on the command line alike.

    IPython and Jupyter show your own lines and the message. After `%xmode Verbose` they show every
    frame. The traceback itself keeps all of them, for `%debug` and for a log.
    """

    def __init__(self, *finding: object, where: str = "", remedy: str = "") -> None:
        super().__init__(*finding)
        self.where, self.remedy = where, remedy

    @property
    def finding(self) -> str:
        """What was found and what was needed."""
        return super().__str__()

    def __str__(self) -> str:
        """The place, what was found and needed, and the remedy, in one line."""
        where = f"{self.where}: " if self.where else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{where}{self.finding}{remedy}"

    def _render_traceback_(self) -> list[str]:
        """What IPython shows; it asks an error for this by that name."""
        shell = ipython_shell()
        if shell is None:
            return traceback.format_exception(self)
        if shell.InteractiveTB.mode == "Verbose":
            lines: list[str] = shell.InteractiveTB.structured_traceback(
                type(self), self, self.__traceback__
            )
            return lines
        with _only_frames_outside(self):
            lines = shell.InteractiveTB.structured_traceback(
                type(self), self, self.__traceback__, tb_offset=0
            )
        return lines


@contextlib.contextmanager
def _only_frames_outside(error: BaseException | None) -> Iterator[None]:
    """For a while the error, and what it came from, have no frame of ours in their tracebacks."""
    whole: dict[int, tuple[BaseException, TracebackType | None]] = {}
    while error is not None and id(error) not in whole:
        whole[id(error)] = error, error.__traceback__
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    try:
        for chained, entries in whole.values():
            chained.__traceback__ = _outside(entries)
        yield
    finally:
        for chained, entries in whole.values():
            chained.__traceback__ = entries


def _outside(entries: TracebackType | None) -> TracebackType | None:
    """The traceback without our frames; a function of the caller's own that we call stays."""
    kept = []
    while entries is not None:
        if not _is_inside(entries.tb_frame):
            kept.append(entries)
        entries = entries.tb_next
    shown: TracebackType | None = None
    for entry in reversed(kept):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown


def _is_inside(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in _INSIDE


def warn(message: str, kind: type[UserWarning]) -> None:
    """Warn at the caller's own line, however deep in the package the reason is found."""
    level, frame = 1, sys._getframe()
    while _is_inside(frame) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)


class DomainError(SymacctError, ValueError):
    """A parameter, count or name lies outside what it can be."""


class NoNumberError(DomainError):
    """A function of a user's returned something that is no number of the arithmetic."""


class AdjacencyError(SymacctError):
    """Two statements are about different neighbouring relations, and cannot be combined."""


class OrderError(SymacctError, ValueError):
    """A theorem or a curve gives no value at this order."""


class InfiniteError(OrderError, DomainError):
    """No finite answer exists: the only true guarantee is ε = ∞, or δ = 1."""


class SoundnessError(SymacctError):
    """A lower bound would have become a guarantee, or an upper bound a lower one."""


class AssumptionError(SymacctError):
    """A theorem was asked for, but its assumptions are not proved."""


class CurveAloneError(AssumptionError):
    """Of the mechanism a bound on the Rényi curve is known, and not its two output laws."""

    def __init__(self, name: str) -> None:
        remedy = "use conversion improved for the bound from the curve"
        super().__init__(name, where="conversion exact", remedy=remedy)
        self.name = name

    @property
    def finding(self) -> str:
        """What was found and what was needed, of the mechanism of this name."""
        return (
            f"found {self.name}, for which only a Rényi curve is known, needed its two output laws"
        )


class BudgetError(SymacctError):
    """A mechanism does not fit into the budget, and was not counted."""


class PrecisionError(SymacctError, ArithmeticError):
    """The digits that were asked for, or a comparison, could not be decided within the limits."""


class ParseError(SymacctError, ValueError):
    """A text or a JSON document could not be read as an expression."""


class LimitError(SymacctError):
    """An input is larger than the limits in force; `symacct.limits(...)` raises them."""


class StorageError(SymacctError):
    """A file of ours cannot be read or written, is corrupt, or belongs to another program."""


class ExecutorError(SymacctError):
    """The executor of a sweep died or refused work; `sweep` holds the finished points."""

    sweep: Any = None


class MissingPackageError(SymacctError, ImportError):
    """An optional package is not installed."""


class OrderGridWarning(UserWarning):
    """The best of the given orders is at the edge of the grid; a better one may lie beyond it."""


class GapWarning(UserWarning):
    """Some points of a picture have no finite value, and the line has gaps there."""


class RoundedWarning(UserWarning):
    """A number of epochs was rounded up to whole ones."""


class EqualTheoremWarning(UserWarning):
    """A theorem that was registered has the values of one that there is."""
