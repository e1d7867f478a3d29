"""What a parameter, an order or another argument may be.

Each function gives the value back, or raises an error about its name: a DomainError where nothing
else is said, with what was found and what was needed.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from flint import arb

from symacct.kernel import limits, symbols
from symacct.kernel.arithmetic.ball import decide
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.arithmetic.within_limits import bits
from symacct.kernel.errors import DomainError, MissingPackageError, PrecisionError, echo, suggestion
from symacct.kernel.exact import Exact, Numeric, Order, sympy, typed_value

# --- orders


def floor_order(alpha: Order | np.ndarray) -> Order | np.ndarray:
    """⌊α⌋ for an exact finite order, a symbol, or an array of orders."""
    if isinstance(alpha, np.ndarray):
        return np.floor(alpha)
    return sympy.floor(alpha) if isinstance(alpha, sympy.Expr) else math.floor(alpha)


def at_least_two(alpha: Order | np.ndarray) -> Order | np.ndarray:
    """max(α, 2); a symbol for whole orders is taken to be at least 2."""
    if isinstance(alpha, np.ndarray):
        return np.maximum(alpha, 2)
    if isinstance(alpha, sympy.Expr):
        return alpha if alpha.is_integer else written.Max(alpha, 2)
    return max(alpha, 2)


# --- parameters
#
# Of a formula with symbols only what is certainly out of the domain is refused.

#: A rational, an expression or a ball ↦ whether the condition holds; of a ball, certainly.
Condition: TypeAlias = Callable[[Any], Any]
#: Bits of all integers in a formula with symbols up to which SymPy decides its sign. It would take
#: long beyond, and the condition is taken as the user's assumption. A larger number decides more,
#: and takes longer.
_MOST_DECIDED_BITS = 2**12


@dataclass(frozen=True)
class Interval:
    """An interval of numbers: what an error says is needed, and the conditions for it.

    Called with a value and a name, it gives the exact value, or an error about the name.
    """

    needed: str
    conditions: tuple[Condition, ...]

    def __call__(self, value: Numeric, name: str) -> Exact:
        """The exact number, of which all conditions hold; DomainError with what is needed if not.

        DomainError also where it has the symbol α; PrecisionError where no ball decides a
        condition.
        """
        number = typed_value(value, name)
        if not isinstance(number, Fraction) and symbols.alpha in number.free_symbols:
            raise DomainError(
                f"{name}: found {echo(value)}, needed a number or another symbol: alpha is the "
                "order"
            )
        for condition in self.conditions:
            rational = isinstance(number, Fraction)
            if not (condition(number) if rational else _holds(condition, number, name)):
                raise DomainError(f"{name}: found {echo(value)}, needed {self.needed}")
        return number


positive = Interval("> 0", (lambda x: x > 0,))
nonnegative = Interval(">= 0", (lambda x: x >= 0,))
above_one = Interval("> 1", (lambda x: x - 1 > 0,))
above_minus_one = Interval("> -1", (lambda x: x + 1 > 0,))
#: A sampling rate, which may be 0 or 1.
rate = Interval("0 <= rate <= 1", (lambda x: x >= 0, lambda x: 1 - x >= 0))
delta_or_one = Interval("0 <= delta <= 1", (lambda x: x >= 0, lambda x: 1 - x >= 0))
#: A probability strictly between 0 and 1.
probability = Interval("0 < probability < 1", (lambda x: x > 0, lambda x: 1 - x > 0))


def whole(value: Numeric, name: str, least: int = 0, most: int | None = None) -> int:
    """A whole number from `least` on, up to `most` if that is given.

    DomainError, about `name`, for others and for open symbols.

    What an expression is made of depends on it, so that it has to be a number.
    """
    number = typed_value(value, name)
    if isinstance(number, sympy.Expr) and number.free_symbols:
        raise DomainError(
            f"{name}: found {echo(value)}, a parameter without a value, needed a whole number >= "
            f"{least}",
            remedy=(
                "write a number, and one expression for each number, because the expression "
                "is made of other parts for each"
            ),
        )
    if not isinstance(number, Fraction) or number.denominator != 1 or number < least:
        raise DomainError(f"{name}: found {echo(value)}, needed a whole number >= {least}")
    if most is not None and number > most:
        raise DomainError(f"{name}: found {echo(value)}, needed a whole number <= {most:,}")
    return int(number)


def number_of_trials(value: Numeric, name: str) -> Fraction:
    """A whole number >= 1, as a Fraction."""
    return Fraction(whole(value, name, least=1))


def number_of_records(value: Numeric | None, name: str) -> int | None:
    """How many records there are; None where nothing is said of it."""
    return None if value is None else whole(value, name, least=1)


def _holds(condition: Condition, number: sympy.Expr, name: str) -> bool:
    """Does it hold of a formula? What symbols leave open is taken as the user's assumption.

    PrecisionError for a constant too close to the edge.
    """
    if number.free_symbols:
        # SymPy takes long over large integers.
        return bits(number) > _MOST_DECIDED_BITS or condition(number) is not sympy.false

    def ball_holds(x: arb) -> bool | None:
        # A ball comparison is True only where it is certain.
        return True if condition(x) else (False if _certainly_not(condition, x) else None)

    answer = decide(ball_holds, number)
    if answer is None:
        raise PrecisionError(
            f"{name}: found {echo(number)}, too close to the edge of its domain to decide",
            remedy="write it as a rational number",
        )
    return answer


def _certainly_not(condition: Condition, x: arb) -> bool:
    """Does no point of a ball without 0 satisfy a monotone condition, because neither end does?"""
    return not condition(x.lower()) and not condition(x.upper()) and not x.contains(0)


def given_delta(delta: Numeric) -> Fraction:
    """A rational δ in [0, 1), for which ε is asked; DomainError for others."""
    value = nonnegative(delta, "delta")
    if not isinstance(value, Fraction) or value >= 1:
        raise DomainError(f"delta: found {echo(delta)}, needed 0 <= delta < 1")
    return value


def signed_rational(value: Numeric, name: str) -> Fraction:
    """A rational number of either sign; DomainError for others."""
    number = typed_value(value, name)
    if not isinstance(number, Fraction):
        raise DomainError(f"{name}: found {echo(value)}, needed a rational number")
    return number


def rational(value: Numeric, name: str) -> Fraction:
    """A rational number >= 0: an ε, a λ, a parameter of a baseline; DomainError for others."""
    number = nonnegative(value, name)
    if not isinstance(number, Fraction):
        raise DomainError(f"{name}: found {echo(value)}, needed a rational number >= 0")
    return number


# --- words and digits

#: The largest number of characters of a file's path, which a message has to name. A longer one is
#: refused.
_MOST_PATH_LENGTH = 1000


def one_of(value: object, name: str, names: Iterable[str]) -> str:
    """The value, if it is one of these texts; else DomainError."""
    names_known = tuple(names)
    if not isinstance(value, str) or value not in names_known:
        needed = f"one of {', '.join(names_known)}"
        raise DomainError(f"{name}: found {echo(value)}{suggestion(value, names_known, needed)}")
    return value


def text(value: object, name: str) -> str:
    """The value, if it is a text, such as a name."""
    if not isinstance(value, str):
        raise DomainError(f"{name}: found {echo(value)}, needed text")
    return value


def members(value: object, name: str, example: str, limit: str = "points") -> list[Any]:
    """The members of any iterable but a text or a mapping, counted as they come: it may not end.

    LimitError for more than the limit called `limit`; `example` is a list that an error shows.
    """
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        with contextlib.suppress(TypeError):  # an array without dimensions cannot be iterated
            items = list(islice(value, getattr(limits.current(), limit) + 1))
            limits.check(limit, len(items), f"{name}, {limit} or entries")
            return items
    raise DomainError(f"{name}: found {echo(value)}, needed a list such as {example}")


def orders(value: Any) -> str | list[Any] | None:
    """What `orders=` may be, and can be read again: None, a text, or the members of an iterable.

    What they are is not looked at here.
    """
    if value is None or isinstance(value, str):
        return value
    return members(value, "orders", "[2, 4, 8]")


def ordered_members(value: object, name: str, example: str) -> list[Any]:
    """The members in their order, which a set does not have: of a law or of a matrix.

    LimitError for more than the limit on outcomes.
    """
    if isinstance(value, Set):
        raise DomainError(f"{name}: found {echo(value)}, needed a list such as {example}")
    return members(value, name, example, "outcomes")


def mapping(value: object, name: str, example: str) -> Mapping[Any, Any]:
    """The value, if it is a mapping; None is an empty one; else DomainError."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise DomainError(f"{name}: found {echo(value)}, needed a mapping such as {example}")
    return value


def flag(value: object, name: str) -> bool:
    """The value, if it is True or False; 0 and 1 are not."""
    if not isinstance(value, bool):
        raise DomainError(f"{name}: found {echo(value)}, needed True or False")
    return value


def path(value: object, name: str) -> Path:
    """The path of a file; DomainError unless UTF-8 writes it, without NUL."""
    try:
        text = str(Path(value)) if isinstance(value, str | PathLike) else None
    except TypeError:  # a path of bytes
        text = None
    too_long = text is not None and len(text) > _MOST_PATH_LENGTH
    if (
        not text
        or too_long
        or "\0" in text
        or any("\ud800" <= letter <= "\udfff" for letter in text)
    ):
        raise DomainError(f"{name}: found {echo(value)}, needed the path of a file")
    return Path(text)


def package(module: str, what: str, remedy: str) -> Any:
    """An optional package's module, imported where `what` needs it.

    MissingPackageError, with the remedy, where it is not installed; where it cannot be imported,
    with what it says.
    """
    try:
        return import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        name = root.replace("_", "-")
        if isinstance(error, ModuleNotFoundError) and error.name in (root, module):
            raise MissingPackageError(
                f"{what}: found no {name}, needed it", remedy=remedy
            ) from None
        raise MissingPackageError(
            f"{what}: found a {name} that cannot be imported ({error}), needed one that can",
            remedy=remedy,
        ) from error


def digits(value: object) -> int:
    """A number of significant digits from 1 to the limit; PrecisionError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        is_word = isinstance(value, str) and value.replace("-", "").isalpha()
        meant = f"; write conversion={value!r} for a conversion" if is_word else ""
        raise PrecisionError(f"digits: found {echo(value)}, needed a whole number >= 1{meant}")
    allowed = limits.current().digits
    if value > allowed:
        raise PrecisionError(
            f"digits: found {echo(value)}, needed at most {allowed:,}",
            remedy="raise the limit digits",
        )
    return value


# --- theorems asked for by name

#: The argument by=: a theorem's name; several, of which each node uses the one about it; or none.
By: TypeAlias = str | tuple[str, ...] | None


def chosen(text: str, theorem: str, values: Mapping[str, range]) -> dict[str, int]:
    """The options in a text such as "tau=50", with their values; `values` are those allowed.

    DomainError for what is no option of the theorem, another value, or an option given twice.
    """
    options: dict[str, int] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\w+)\s*=\s*(\d{1,9})\s*", part, re.ASCII)
        if match is None or int(match[2]) not in values.get(match[1], ()):
            needed = ", ".join(
                f"{key}=<whole number> from {some[0]} to {some[-1]}" for key, some in values.items()
            )
            raise DomainError(
                f"by: found option {echo(part)} of {theorem}, needed {needed or 'no option'}"
            )
        if match[1] in options:
            raise DomainError(
                f"by: found {match[1]} twice in {echo(text)}, needed each option once"
            )
        options[match[1]] = int(match[2])
    return options
