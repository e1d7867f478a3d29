"""What is not defined between mechanisms and numbers, and what to write in its place."""

from __future__ import annotations

from typing import Any

from symacct.core.errors import echo
from symacct.core.mistyped import proposed
from symacct.core.operators import NoNumber


class Mechanical(NoNumber):
    """A mechanism: sums of such and whole multiples are defined."""

    __slots__ = ()

    def _refusal(self, sign: str, left: Any, right: Any) -> str:
        return refusal(sign, left, right)


_NAMES = {"+": "plus", "-": "minus", "*": "times", "/": "divided by", "**": "to the power"}


def refusal(sign: str, left: Any, right: Any) -> str:
    """The message about `left sign right`, of which one at least is a mechanism.

    >>> from symacct import Gaussian
    >>> refusal("**", Gaussian(5), 2).partition(", ")[2]
    'needed a number of runs times a mechanism; did you mean 2*Gaussian(5)?'
    """
    found = f"found {_noun(left)} {_NAMES[sign]} {_noun(right)}"
    both = isinstance(left, Mechanical) and isinstance(right, Mechanical)
    if sign == "+":
        return f"{found}, needed two mechanisms; n*m runs the mechanism m n times"
    if sign == "-":
        return f"{found}, needed a sum; a run cannot be taken back, so leave it out of the sum"
    needed = f"{found}, needed a number of runs times a mechanism"
    if sign == "/":
        return f"{needed}; Scale(m, c) multiplies the curve of m by any number c >= 0"
    meant = f"{left!r} + {right!r}" if both else f"{right}*{left!r}"
    return needed + proposed([meant] if both or _is_count(right) else [])


def _noun(value: object) -> str:
    return "a mechanism" if isinstance(value, Mechanical) else echo(value)


def _is_count(value: Any) -> bool:
    return getattr(value, "denominator", 0) == 1 and value > 0
