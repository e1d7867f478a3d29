"""Grids: the values of one axis, written as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import flint

from symacct.kernel import exact, limits, parameters
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import sympy
from symacct.kernel.node import Node
from symacct.operations import Compose

#: A grid as text: whole numbers LOW..HIGH, or LOW:HIGH, LOW:HIGH:COUNT and LOW:HIGH:COUNT:log.
_WHOLE = re.compile(r"(\d+)\.\.(\d+)", re.ASCII)
_SPACED = re.compile(r"([^:]+):([^:]+)(?::(\d+)(:log)?)?", re.ASCII)
#: A grid whose text counts no values has this many, or one more where they are evenly spaced.
_USUAL_VALUES = 20
#: A grid whose text counts no values is spaced by logarithms from this ratio of its ends on.
_LOG_RATIO = 10
#: Values inside a grid by logarithms are rounded to decimals of this many significant digits.
_LOG_DIGITS = 6


def grid(text: str) -> list[str]:
    """List the values of a grid: "1,2,5", "1..10", "0.5:2:4" evenly, "1e-4:1e-1:20:log" in logs.

    The count includes both ends. "1:1000" alone has about 20 values, by logarithms if the larger
    end is at least ten times the smaller one. What has neither ".." nor ":" is a list, whose
    values are not read here. Raises DomainError for a grid that is none, or has fewer than 2
    values between two ends, and LimitError for too many values.

    >>> grid("0.5:2:4")
    ['1/2', '1', '3/2', '2']
    >>> grid("1e-4:1e-1:4:log")
    ['1e-4', '0.001', '0.01', '1e-1']
    """
    if match := _WHOLE.fullmatch(text):
        first, last = (int(exact.exact(end, "grid")) for end in match.groups())
        _counted(last - first + 1, text)
        return [exact.text(Fraction(n)) for n in range(first, last + 1)]
    if match := _SPACED.fullmatch(text):
        low, high = match[1].strip(), match[2].strip()
        if match[3] is None:
            ends = [exact.exact(end, "grid") for end in (low, high)]
            is_wide = min(ends) > 0 and max(ends) >= _LOG_RATIO * min(ends)
            if is_wide:
                return _by_logs(low, high, _USUAL_VALUES)
            return _evenly(low, high, _USUAL_VALUES + 1)
        count = _counted(int(exact.exact(match[3], "grid")), text)
        if count < 2:
            raise DomainError(f"grid: found {echo(text)}, needed at least 2 values from end to end")
        return (_by_logs if match[4] else _evenly)(low, high, count)
    return [part.strip() for part in text.split(",") if part.strip()]


def axis_values(values: object, name: str) -> list[Any]:
    """List the values of an axis, or the curves of a plot; a text or one value is a list of one.

    `name` is what an error calls them.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    return parameters.members(values, name, "[1, 2]")


def whole_numbers(values: list[str]) -> list[str]:
    """Round the values of a grid of counts to whole numbers, half to even, and keep each once.

    >>> whole_numbers(grid("1:100:6:log"))
    ['1', '3', '6', '16', '40', '100']
    """
    return list(dict.fromkeys(exact.text(Fraction(round(exact.exact(x, "grid")))) for x in values))


def counts_of(m: Node) -> set[sympy.Symbol]:
    """Find the symbols of m in the numbers of runs of its compositions."""
    composed = (node for node in m.walk() if isinstance(node, Compose))
    return {
        symbol
        for node in composed
        for count in node._symbolic_parameters()
        for symbol in count.free_symbols
    }


def _counted(count: int, text: str) -> int:
    """Return the number of values of a grid; DomainError below 1, LimitError for too many."""
    if count < 1:
        raise DomainError(f"grid: found {echo(text)}, needed the smaller end first")
    limits.check("points", count, f"grid {echo(text)}, values")
    return count


def _evenly(low: str, high: str, count: int) -> list[str]:
    """Space `count` >= 2 values evenly, both ends among them, as exact text."""
    start, end = (exact.exact(x, "grid") for x in (low, high))
    return [exact.text(start + (end - start) * i / (count - 1)) for i in range(count)]


def _by_logs(low: str, high: str, count: int) -> list[str]:
    """Space `count` >= 2 values by logarithms, as decimals of six digits; the ends are exact.

    Raises DomainError for an end that is not > 0.
    """
    ends = [exact.exact(end, "grid") for end in (low, high)]
    if min(ends) <= 0:
        raise DomainError(f"grid: found the ends {low} and {high}, needed both > 0 for :log")
    with precision(64):
        start, end = (flint.arb(flint.fmpq(x.numerator, x.denominator)).log() for x in ends)
        inner = [(start + (end - start) * i / (count - 1)).exp() for i in range(1, count - 1)]
        return [low, *(_decimal(x.str(_LOG_DIGITS, radius=False)) for x in inner), high]


def _decimal(text: str) -> str:
    """Remove the zeros that end the mantissa of a decimal."""
    mantissa, e, exponent = text.partition("e")
    return (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + e + exponent
