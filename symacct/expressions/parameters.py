"""What a parameter may be: each function gives back the exact value or says what was needed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from symacct.arithmetic.ball import decide
from symacct.core import symbols
from symacct.core.errors import DomainError, PrecisionError, echo
from symacct.core.exact import Exact, Numeric, typed_value
from symacct.core.lazy_import import sympy
from symacct.expressions.bounded import bits

#: Of a rational, an expression or a ball; a comparison of balls holds where it is certain.
Condition: TypeAlias = Callable[[Any], Any]
_DECIDED_BITS = 2**12  # of the integers in a formula whose sign SymPy is asked for


def positive(value: Numeric, name: str) -> Exact:
    """A number > 0."""
    return _within(value, name, "> 0", (lambda x: x > 0,))


def nonnegative(value: Numeric, name: str) -> Exact:
    """A number >= 0."""
    return _within(value, name, ">= 0", (lambda x: x >= 0,))


def above_one(value: Numeric, name: str) -> Exact:
    """A number > 1."""
    return _within(value, name, "> 1", (lambda x: x - 1 > 0,))


def above_minus_one(value: Numeric, name: str) -> Exact:
    """A number > −1."""
    return _within(value, name, "> -1", (lambda x: x + 1 > 0,))


def rate(value: Numeric, name: str) -> Exact:
    """A sampling rate in [0, 1]."""
    conditions = (lambda x: x >= 0, lambda x: 1 - x >= 0)
    return _within(value, name, "0 <= rate <= 1", conditions)


def delta_or_one(value: Numeric, name: str) -> Exact:
    """A δ in [0, 1]."""
    return _within(value, name, "0 <= delta <= 1", (lambda x: x >= 0, lambda x: 1 - x >= 0))


def probability(value: Numeric, name: str) -> Exact:
    """A probability strictly between 0 and 1."""
    conditions = (lambda x: x > 0, lambda x: 1 - x > 0)
    return _within(value, name, "0 < probability < 1", conditions)


def whole(value: Numeric, name: str, least: int = 0) -> int:
    """A whole number >= `least`, on which it depends what an expression is made of."""
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
    return int(number)


def number_of_trials(value: Numeric, name: str) -> Fraction:
    """A whole number >= 1."""
    return Fraction(whole(value, name, least=1))


def number_of_records(value: Numeric | None, name: str) -> int | None:
    """How many records there are; None where nothing is said of it."""
    return None if value is None else whole(value, name, least=1)


def _within(value: Numeric, name: str, needed: str, conditions: tuple[Condition, ...]) -> Exact:
    """The exact number, of which the conditions hold."""
    number = typed_value(value, name)
    if not isinstance(number, Fraction) and symbols.alpha in number.free_symbols:
        raise DomainError(
            f"{name}: found {echo(value)}, needed a number or another symbol: alpha is the order"
        )
    for condition in conditions:
        rational = isinstance(number, Fraction)
        if not (condition(number) if rational else _holds(condition, number, name)):
            raise DomainError(f"{name}: found {echo(value)}, needed {needed}")
    return number


def _holds(condition: Condition, number: sympy.Expr, name: str) -> bool:
    """Does it hold of a formula? What symbols leave open is taken as the user's assumption."""
    if number.free_symbols:
        # SymPy takes long over large integers.
        return bits(number) > _DECIDED_BITS or condition(number) is not sympy.false

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
    """No point of the ball satisfies the condition: neither of its ends does."""
    return not condition(x.lower()) and not condition(x.upper()) and not x.contains(0)


def given_delta(delta: Numeric) -> Fraction:
    """A δ in [0, 1)."""
    given = nonnegative(delta, "delta")
    if not isinstance(given, Fraction) or given >= 1:
        raise DomainError(f"delta: found {echo(delta)}, needed 0 <= delta < 1")
    return given


def rational(value: Numeric, name: str) -> Fraction:
    """A rational number >= 0: an ε, a λ, a parameter of a baseline."""
    given = nonnegative(value, name)
    if not isinstance(given, Fraction):
        raise DomainError(f"{name}: found {echo(value)}, needed a rational number >= 0")
    return given
