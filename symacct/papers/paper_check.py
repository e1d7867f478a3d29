"""A paper file: every ε that a paper prints, a line `EXPR, delta, printed` each, verified.

It is CSV. Every digit that is printed counts. Nothing is executed, and sizes are bounded.
"""

from __future__ import annotations

import contextlib
import csv
import decimal
import io
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy

from symacct.explore.sweeps import NEEDED
from symacct.export.formula import formula
from symacct.kernel import limits
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, to_fraction
from symacct.kernel.claims import Kind
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import progress
from symacct.kernel.errors import (
    ParseError,
    StorageError,
    SymacctError,
    cut,
    divided,
    echo,
    reason,
)
from symacct.kernel.exact import INFINITY, order, typed_value
from symacct.kernel.parameters import By
from symacct.results.screen import Part, Tabled
from symacct.text import parse

#: The first line of a file may name its columns.
COLUMNS = ("EXPR", "delta", "printed")
#: A number of this direction is rounded up, or down if it is a lower bound.
SAFE = "safe"
#: A paper may mean one of these by a printed number, see `judged`.
DIRECTIONS = (SAFE, "nearest", "upper", "lower", "at most", "at least")
#: The value is asked to so many significant digits more than are printed, until they decide.
_MORE_DIGITS = (6, 30, 120)
#: A file's name in a message has at most this many characters.
_LONGEST_PATH = 300
#: This matches a printed number: its whole part, decimals and exponent.
_PRINTED = re.compile(r"(?=\.?\d)(\d{0,400})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,4}))?", re.ASCII)


class Verdict(Enum):
    """What is found of a printed number, or of a line that is none."""

    TRUE = "true"
    LOOSE = "true but loose"
    UNSAFE = "rounded to the unsafe side"
    WRONG = "wrong"
    UNDECIDED = "undecided"
    MALFORMED = "malformed"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class PaperEntry:
    """One number of a paper, and the question that it answers.

    `given` is the α, δ or ε of the question `ask`, and `source` says where the number stands.
    """

    expression: str
    ask: str
    given: str
    printed: str
    source: str
    direction: str = SAFE
    by: By = None
    conversion: str = BEST


@dataclass(frozen=True)
class CheckedEntry:
    """An entry, the certified value, the verdict and its reason."""

    entry: PaperEntry
    value: Enclosure
    verdict: Verdict
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {
            "expression": self.entry.expression,
            "ask": self.entry.ask,
            NEEDED[self.entry.ask]: self.entry.given,
            "printed": self.entry.printed,
            "direction": self.entry.direction,
            "source": self.entry.source,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "value": self.value.as_dict(),
        }


@dataclass(frozen=True)
class Malformed:
    """An entry that is none, or whose question cannot be asked; `place` counts entries from 1."""

    place: int
    source: str
    reason: str
    verdict: Verdict = Verdict.MALFORMED

    def as_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {
            "entry": self.place,
            "source": self.source,
            "verdict": str(self.verdict),
            "reason": self.reason,
        }


#: The colour of each verdict on a terminal.
_STYLES = {
    Verdict.TRUE: "green",
    Verdict.LOOSE: "yellow",
    Verdict.UNSAFE: "yellow",
    Verdict.UNDECIDED: "yellow",
}
#: Papers print numbers by these conversions of a Rényi order.
_USUAL = ("improved", "classic")
#: A value beside the printed number has this many significant digits.
_SHOWN_DIGITS = 6


@dataclass(frozen=True)
class CheckedNumbers:
    """The verdicts on the numbers of a paper, or on one number; there is at least one.

    `is_one` says that the number was asked for by itself, and not in a file.
    """

    checked: Sequence[CheckedEntry | Malformed]
    is_one: bool = False

    @property
    def verdicts(self) -> Counter[Verdict]:
        """Count the numbers of each verdict."""
        return Counter(entry.verdict for entry in self.checked)

    @property
    def status(self) -> int:
        """The exit status is 2 for an entry that is none, 1 for a number that is not true, else 0.

        A true but loose number is true.
        """
        if Verdict.MALFORMED in self.verdicts:
            return 2
        return int(not set(self.verdicts) <= {Verdict.TRUE, Verdict.LOOSE})

    def as_dict(self) -> list[dict[str, Any]]:
        """Return the results for JSON."""
        return [entry.as_dict() for entry in self.checked]

    def __str__(self) -> str:
        """Say the verdict of one number, or how many numbers have which."""
        first, counts = self.checked[0], self.verdicts
        if len(self.checked) == 1 and isinstance(first, CheckedEntry):
            return f"{first.entry.printed} is {first.verdict}"
        good = counts.pop(Verdict.TRUE, 0)
        others = (f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
        return ", ".join([f"{good} of {len(self.checked)} numbers are true as printed", *others])

    def _screen_(self) -> Iterator[Part]:
        """Show a table, a summary, and of one false number what other conversions give."""
        headers = ("source", "printed", "value", "verdict", "why")
        yield Tabled(headers, map(_cells, self.checked))
        yield str(self)
        first = self.checked[0]
        if not self.is_one or isinstance(first, Malformed) or first.verdict is Verdict.TRUE:
            return
        if others := list(_by_others(first.entry)):
            yield f"by --conversion: {', '.join(others)}"


def _cells(checked: CheckedEntry | Malformed) -> tuple[str | tuple[str, str], ...]:
    """Write a row of the table; the verdict is a pair of its text and its style."""
    verdict = str(checked.verdict), _STYLES.get(checked.verdict, "bold red")
    if isinstance(checked, Malformed):
        return f"entry {checked.place} {checked.source}", "–", "–", verdict, checked.reason
    value = checked.value.rounded(_SHOWN_DIGITS)
    return checked.entry.source, checked.entry.printed, value, verdict, checked.reason


def _by_others(entry: PaperEntry) -> Iterator[str]:
    """Yield what the asked and each usual conversion gives, and if that is the printed number.

    There is nothing for ε(α), which needs no conversion.
    """
    for conversion in dict.fromkeys((entry.conversion, *_USUAL)) if entry.ask != "rdp" else ():
        with contextlib.suppress(SymacctError):
            other = check_entry(replace(entry, conversion=conversion))
            true = " (true as printed)" if other.verdict is Verdict.TRUE else ""
            yield f"{conversion} gives {other.value.rounded(_SHOWN_DIGITS)}{true}"


def check_file(path: Path, **how: Any) -> Iterator[CheckedEntry | Malformed]:
    """Judge every line of a file, as `check` does with its text and `how`.

    Raises StorageError for a file that cannot be read, ParseError for one that is no UTF-8, and
    LimitError for one that is too long.
    """
    name = cut(str(path), _LONGEST_PATH)
    try:
        with open(path, "rb") as opened:  # no more is read than is allowed
            content = opened.read(limits.current().text_bytes + 1)
        limits.check("text_bytes", len(content), f"{path}, in bytes (or more)")
        text = content.decode()
    except OSError as error:
        raise StorageError(f"{name}: {reason(error)}") from None
    except UnicodeDecodeError as error:
        raise ParseError(f"{name}: no UTF-8 ({error})") from None
    return check(text, **how)


def check(text: str, **how: Any) -> Iterator[CheckedEntry | Malformed]:
    """Judge every line of a paper file in turn; one that cannot be asked is Malformed.

    `how` has what is the same for all lines: their `direction`, `conversion` and `by`. Warnings
    name their entry. Raises the errors of `entries`.
    """
    listed = entries(text, **how)
    with progress("checking", len(listed)) as advance:
        for place, entry in enumerate(listed, 1):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    checked = entry if isinstance(entry, Malformed) else check_entry(entry)
                except SymacctError as error:
                    checked = Malformed(place, entry.source, f"{type(error).__name__}: {error}")
            for warning in caught:
                place_and_source = f"entry {place} {entry.source}"
                warnings.warn(
                    f"{place_and_source}: {warning.message}", warning.category, stacklevel=2
                )
            yield checked
            advance(1)


# --- reading


def entries(text: str, **how: Any) -> list[PaperEntry | Malformed]:
    """Read the entries of a paper file: lines EXPR,delta,printed, each an ε of a paper.

    Commas of an expression need no quotes: the last two cells are δ and the number. Empty lines and
    a header are left out, and a line that is none is Malformed. `how` has the other fields of every
    entry. Raises ParseError for no CSV or no line, and LimitError for a text or list too long.
    """
    limits.check_text(text, "paper file")
    listed: list[PaperEntry | Malformed] = []
    try:
        reader = csv.reader(io.StringIO(text), skipinitialspace=True)
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and cells != [*COLUMNS]:
                listed.append(_entry(cells, len(listed) + 1, f"line {reader.line_num}", how))
    except csv.Error as error:
        raise ParseError(f"paper file: no CSV: {error}") from None
    if not listed:
        raise ParseError(f"paper file: found no line {','.join(COLUMNS)}, needed at least one")
    limits.check("outcomes", len(listed), "paper file, entries")
    return listed


def _entry(
    cells: list[str], place: int, source: str, how: dict[str, Any]
) -> PaperEntry | Malformed:
    """Read the entry of one line, whose last two cells are δ and the number as it is printed.

    A line of fewer cells, with signs that cannot be shown, or without a number is Malformed. The
    expression is not read here.
    """
    is_shown = all(sign.isprintable() or sign == "\n" for cell in cells for sign in cell)
    if len(cells) < len(COLUMNS) or not is_shown:
        why = f"found {echo(','.join(cells))}, needed {','.join(COLUMNS)}"
        return Malformed(place, source, why)
    *expression, delta, printed = cells
    try:
        printed_number(printed)
    except ParseError as error:
        return Malformed(place, source, str(error))
    return PaperEntry(", ".join(expression), "epsilon", delta, printed, source, **how)


def printed_number(text: str) -> tuple[Fraction, Fraction]:
    """Read a printed number and the unit of its last digit, both exact; ParseError for none.

    >>> printed_number("1.20e-3")
    (Fraction(3, 2500), Fraction(1, 100000))
    """
    match = _PRINTED.fullmatch(text)
    if match is None:
        raise ParseError(f"found printed {echo(text)}, needed a number such as 1.26 or 3e-5")
    whole, decimals, power = match[1], match[2] or "", int(match[3] or 0)
    unit = Fraction(10) ** (power - len(decimals))
    return int(whole + decimals) * unit, unit


# --- verifying


def check_entry(entry: PaperEntry) -> CheckedEntry:
    """Judge one number, at as many digits of the value as it takes.

    Where 120 digits more than printed do not decide, a value that is a known fraction does; else
    the number is undecided. Raises the errors of its question, and ParseError.
    """
    printed, unit = printed_number(entry.printed)
    shown = max(1, len(str(printed / unit)))
    answer = _asking(entry)
    for more in _MORE_DIGITS:
        value = answer(shown + more)
        ends = value.lower, value.upper
        low, high = (INFINITY if x == INFINITY else to_fraction(x) for x in ends)
        judgement = judged(entry.direction, printed, unit, low, high, value.claim.kind)
        if judgement is not None:
            is_short = value.decimal(_MORE_DIGITS[0]) is not None  # which is exact, or no accident
            value = value.known_to_be(_exactly(entry)) if is_short else value
            return CheckedEntry(entry, value, *judgement)
    known = _exactly(entry)
    if known is not None:
        judgement = judged(entry.direction, printed, unit, known, known, value.claim.kind)
        if judgement is not None:
            return CheckedEntry(entry, value.known_to_be(known), *judgement)
    reason = f"the value agrees with a rounding boundary to {shown + more} digits"
    return CheckedEntry(entry, value, Verdict.UNDECIDED, reason)


def judged(
    direction: str,
    printed: Fraction,
    unit: Fraction,
    low: Fraction | float,
    high: Fraction | float,
    kind: Kind,
) -> tuple[Verdict, str] | None:
    """Judge `printed` for a value in [low, high]; None where that does not decide.

    `unit` is that of the last printed digit. A number is true as printed if it is the value rounded
    in the safe direction: upwards, but downwards for a lower bound, or "nearest" if the paper means
    that, or if the value is "at most" or "at least" that and the paper says so. It is true but
    loose if it is a bound and no rounding of the value. It is rounded to the unsafe side if its
    digits are right, but rounded in the other direction, so that it is no bound. Else it is wrong.
    """
    if isinstance(low, float) or isinstance(high, float):  # infinite
        return (Verdict.WRONG, "the value is infinite") if low == high else None
    verdicts = {_verdict(direction, printed, unit, end, kind) for end in (low, high)}
    if len(verdicts) > 1:
        return None
    (verdict,) = verdicts
    down = _downwards(direction, kind)
    if verdict is Verdict.UNSAFE:  # it was rounded to the other side of the value
        side, right = ("down", printed + unit) if printed < low else ("up", printed - unit)
        safe = "guarantee" if side == "down" else "lower bound"
        called = "nearest number" if direction == "nearest" else safe
        return verdict, (
            f"its digits are right, but rounded {side}; the {called} is {_decimal(right, unit)}"
        )
    if verdict is Verdict.LOOSE:  # so many places have a better bound
        best = (math.floor(low / unit) if down else math.ceil(high / unit)) * unit
        name, side = ("lower bound", "least") if down else ("guarantee", "most")
        return verdict, (
            f"it is a valid {name}, but {_decimal(best, unit)} is proved; as a number of direction "
            f'"at {side}" it is true'
        )
    difference = low - printed
    side = "above" if difference > 0 else "below"
    if difference == 0:
        return verdict, "the value is the printed number"
    return verdict, f"the value is {_size(abs(difference))} {side} the printed number"


def _verdict(
    direction: str, printed: Fraction, unit: Fraction, value: Fraction, kind: Kind
) -> Verdict:
    """Judge the printed number for one value, as `judged` says."""
    up, down = value <= printed < value + unit, printed <= value < printed + unit
    if direction in ("at most", "at least"):
        holds = value <= printed if direction == "at most" else value >= printed
        return Verdict.TRUE if holds else Verdict.WRONG
    safe = down if _downwards(direction, kind) else up
    nearest = direction == "nearest" and 2 * abs(value - printed) <= unit
    if safe or nearest:
        return Verdict.TRUE
    if up or down:
        return Verdict.UNSAFE
    return Verdict.LOOSE if _is_bound(direction, printed, value, kind) else Verdict.WRONG


def _downwards(direction: str, kind: Kind) -> bool:
    """Is the safe side below the value? It is for "lower", and for a lower bound printed safely."""
    return direction == "lower" or (direction in (SAFE, "nearest") and kind is Kind.LOWER)


def _is_bound(direction: str, printed: Fraction, value: Fraction, kind: Kind) -> bool:
    """Does the printed number hold as a bound of the truth, however loose?

    A number below an upper bound, or above a lower one, may be on either side of the truth.
    """
    if direction not in (SAFE, "upper", "lower"):
        return False
    if _downwards(direction, kind):
        return printed <= value and kind is not Kind.UPPER
    return printed >= value and kind is not Kind.LOWER


def _decimal(number: Fraction, unit: Fraction) -> str:
    """Write a multiple >= 0 of the unit, which is a power of ten, with all its digits.

    >>> _decimal(Fraction(276, 100), Fraction(1, 100))
    '2.76'
    """
    bits = unit.numerator.bit_length() - unit.denominator.bit_length()
    power = round(bits * math.log10(2))  # Python writes no integer of more than 4,300 digits
    digits = tuple(map(int, str(int(number / unit))))
    return str(decimal.Decimal((0, digits, power))).lower()


def _size(x: Fraction) -> str:
    """Write x > 0 to two digits, whatever its size.

    >>> _size(Fraction(10) ** 999)
    '1.0e+999'
    """
    return f"{divided(x, 2):.2g}"


def _asking(entry: PaperEntry) -> Callable[[int], Enclosure]:
    """Make the entry's question a function of the digits asked; ParseError for no expression."""
    m, accountant = parse(entry.expression), Accountant()
    if entry.ask == "rdp":
        return lambda digits: accountant.rdp(m, entry.given, by=entry.by, digits=digits)
    ask = accountant.epsilon if entry.ask == "epsilon" else accountant.delta
    how = (entry.conversion, None, entry.by)
    return lambda digits: ask(m, entry.given, *how, digits).asked


def _exactly(entry: PaperEntry) -> Fraction | None:
    """Return the value where its formula is a rational number, else None.

    Balls do not tell it from its neighbours. Only ε(α), and ε at δ = 0, have such a formula here.
    """
    m = parse(entry.expression)
    if entry.ask == "rdp":
        alpha = order(entry.given)
    elif entry.ask == "epsilon" and typed_value(entry.given) == 0:
        alpha = INFINITY
    else:
        return None
    try:
        value = sympy.simplify(formula(m, alpha, entry.by))
    except (SymacctError, NotImplementedError):
        return None
    return Fraction(int(value.p), int(value.q)) if isinstance(value, sympy.Rational) else None
