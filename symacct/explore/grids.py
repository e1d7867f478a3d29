"""Grids: the values of one axis, written as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import flint

from symacct.kernel import arguments, exact, limits
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import sympy
from symacct.kernel.node import Node
from symacct.operations import Compose

_WHOLE = re.compile(r"(\d+)\.\.(\d+)", re.ASCII)
_SPACED = re.compile(r"([^:]+):([^:]+)(?::(\d+)(:log)?)?", re.ASCII)
_MANY, _WIDE = 20, 10  # places from end to end where none are counted, in logs from this ratio on
_LOG_DIGITS = 6  # significant digits of logarithmically spaced values, which are decimals


def grid(text: str) -> list[str]:
    """The values of a grid: "1,2,5", "1..10", "0.5:2:4" evenly or "1e-4:1e-1:20:log" in logs.

    "1:1000" alone is about 20 places, by logarithms if the ends are far from each other. Raises
    DomainError for anything else, LimitError for too many values.

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
            is_wide = min(ends) > 0 and max(ends) >= _WIDE * min(ends)
            return _by_logs(low, high, _MANY) if is_wide else _evenly(low, high, _MANY + 1)
        count = _counted(int(exact.exact(match[3], "grid")), text)
        if count < 2:
            raise DomainError(f"grid: found {echo(text)}, needed at least 2 values from end to end")
        return (_by_logs if match[4] else _evenly)(low, high, count)
    return [part.strip() for part in text.split(",") if part.strip()]


def axis_values(values: object, name: str) -> list[Any]:
    """The values of an axis, or the curves of a plot, of which there may be one alone."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    return arguments.members(values, name, "[1, 2]")


def whole_numbers(values: list[str]) -> list[str]:
    """The values rounded to whole numbers, each once: what a grid of counts is.

    >>> whole_numbers(grid("1:100:6:log"))
    ['1', '3', '6', '16', '40', '100']
    """
    return list(dict.fromkeys(exact.text(Fraction(round(exact.exact(x, "grid")))) for x in values))


def counts_of(m: Node) -> set[sympy.Symbol]:
    """The symbols of m that say how many times something is run."""
    composed = (node for node in m.walk() if isinstance(node, Compose))
    return {
        symbol
        for node in composed
        for count in node.symbolic_parameters()
        for symbol in count.free_symbols
    }


def _counted(count: int, text: str) -> int:
    if count < 1:
        raise DomainError(f"grid: found {echo(text)}, needed the smaller end first")
    limits.check("points", count, f"grid {echo(text)}, values")
    return count


def _evenly(low: str, high: str, count: int) -> list[str]:
    start, end = (exact.exact(x, "grid") for x in (low, high))
    return [exact.text(start + (end - start) * i / (count - 1)) for i in range(count)]


def _by_logs(low: str, high: str, count: int) -> list[str]:
    """Decimals of six digits nearest to evenly spaced logarithms, the ends as they are."""
    ends = [exact.exact(end, "grid") for end in (low, high)]
    if min(ends) <= 0:
        raise DomainError(f"grid: found the ends {low} and {high}, needed both > 0 for :log")
    with precision(64):
        start, end = (flint.arb(flint.fmpq(x.numerator, x.denominator)).log() for x in ends)
        inner = [(start + (end - start) * i / (count - 1)).exp() for i in range(1, count - 1)]
        return [low, *(_decimal(x.str(_LOG_DIGITS, radius=False)) for x in inner), high]


def _decimal(text: str) -> str:
    """The decimal without the zeros that end its mantissa."""
    mantissa, e, exponent = text.partition("e")
    return (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + e + exponent
