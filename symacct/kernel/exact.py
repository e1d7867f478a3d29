"""Any accepted number → Fraction, or a SymPy expression where it is not rational.

SymPy is imported where a formula is first met: its import takes longer than most answers.
"""

from __future__ import annotations

import math
import numbers
import re
import sys
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import flint
import mpmath
import numpy as np

from symacct.kernel import limits
from symacct.kernel.errors import DomainError, echo, formulas

# --- SymPy, when it is needed


class _Kind(type):
    """A class of a module that is not imported, and then nothing is an instance of it."""

    later: LazyModule

    def __instancecheck__(cls, value: object) -> bool:
        return cls.later.__name__ in sys.modules and isinstance(value, cls._itself())

    def __call__(cls, *given: Any, **named: Any) -> Any:
        return cls._itself()(*given, **named)

    def _itself(cls) -> Any:
        return getattr(cls.later.imported(), cls.__name__)


class LazyModule(ModuleType):
    """A module that is imported when it is first asked for more than whether a value is its own.

    `kinds` names the classes that values are asked about: for each another stands until then.
    """

    def __init__(self, name: str, kinds: tuple[str, ...] = ()) -> None:
        super().__init__(name)
        vars(self).update({kind: _Kind(kind, (), {"later": self}) for kind in kinds})
        self._is_open = False

    def imported(self) -> ModuleType:
        """The module; from now on this is as quick as the module itself."""
        module = import_module(self.__name__)
        if not self._is_open:
            vars(self).update(vars(module))
            self._is_open = True
        return module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.imported(), name)


if TYPE_CHECKING:
    import sympy as sympy
else:
    sympy = LazyModule("sympy", ("Basic", "Expr", "Integer", "Rational", "Symbol"))


# --- exact numbers

#: An exact number: rational, or an expression, which may have symbols.
Exact: TypeAlias = Fraction | sympy.Expr
#: An order: an int where it is whole, `INFINITY`, an expression where a formula is written.
Order: TypeAlias = int | Fraction | float | sympy.Expr
#: What a caller may give for a number; `exact` says how each is read.
Numeric: TypeAlias = (
    int | float | str | Fraction | Decimal | sympy.Basic | np.number | mpmath.mpf | flint.arb
)
#: Orders that float64 takes together.
OrderArray: TypeAlias = np.ndarray | list[Any] | tuple[Any, ...] | range
#: ∞, the only order and number that is a float.
INFINITY = math.inf
_Rational = TypeVar("_Rational", int, Fraction)


#: A decimal as text: its whole part, decimals and exponent.
_DECIMAL = r"(\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?"
#: No space is given back: of two runs of them each could take what the other leaves.
_RATIONAL = re.compile(rf"\s*+([+-]?)\s*+{_DECIMAL}\s*+(?:/\s*+{_DECIMAL}\s*+)?", re.ASCII)
_INFINITE_TEXT = frozenset({"inf", "+inf", "oo", "+oo", "infinity", "∞"})  # in small letters
#: Bits of the mantissa of a float64. A SymPy Float of this precision is taken for a double, and
#: read as the decimal that was typed: the values of formulas rest on it.
_FLOAT_BITS = 53
#: The largest whole number that SymPy gets to simplify or to order; longer ones become symbols. It
#: saves time alone, as SymPy factors what it gets.
_LARGEST_SHORT = 2**128


def exact(value: Numeric, name: str = "number") -> Exact:
    """The exact value of `value`; symbols are kept.

    int, Fraction, Decimal and text ("1/1000", "0.001", "1e-8") are exact, a float or mpf is its
    binary value, as a computed number has to be, and a SymPy expression stays what it is. What a
    person types is read by `stated`. Raises DomainError for anything else, for NaN and for
    infinities, LimitError for numbers of absurd size.

    >>> exact("1e-3") == exact("1/1000") == Fraction(1, 1000)
    True
    """
    if isinstance(value, Fraction):
        return _bounded(value, name)
    if isinstance(value, str):
        return _from_text(value, name)
    if isinstance(value, bool | np.bool_):
        raise DomainError(f"{name}: found {echo(value)}, needed a number")
    if isinstance(value, int | np.integer):
        return _bounded(Fraction(int(value)), name)
    if isinstance(value, sympy.Basic):
        return _from_sympy(value, name)
    if isinstance(value, Decimal):
        return _from_decimal(value, name)
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            raise DomainError(f"{name}: found {echo(value)}, needed a finite number")
        return Fraction(*value.as_integer_ratio())
    if isinstance(value, flint.arb) and not value.is_exact():
        raise DomainError(f"{name}: found the ball {value}, needed one number")
    if hasattr(value, "_mpf_"):
        return _from_mpf(value, name)
    if isinstance(value, numbers.Rational):
        return _bounded(Fraction(int(value.numerator), int(value.denominator)), name)
    raise DomainError(
        f"{name}: found {echo(value)} of type {type(value).__name__}, needed a number: "
        "int, Fraction, Decimal, text, float, mpf or a SymPy expression"
    )


def typed_value(value: Numeric, name: str = "number") -> Exact:
    """The exact value of what a person typed: a float is the shortest decimal that it prints as.

    So 1.1 is 11/10, where the float next to it is 2476979795053773/2251799813685248; `binary` gives
    that. All else is read as by `exact`; so is a float in a SymPy expression, at float64's
    precision.

    >>> typed_value(1.1), typed_value(1e-5) == typed_value("1e-5") == Fraction(1, 10**5)
    (Fraction(11, 10), True)
    """
    if isinstance(value, float | np.floating):
        return exact(str(value) if np.isfinite(value) else value, name)
    if isinstance(value, sympy.Basic):
        _check_shape(value, name)
        floats = [x for x in value.atoms(sympy.Float) if x._prec == _FLOAT_BITS]
        typed = {x: str(float(x)) for x in floats if float(x) == x}
        value = value.xreplace({x: expression(exact(text, name)) for x, text in typed.items()})
    return exact(value, name)


def binary(value: float | np.floating[Any]) -> Fraction:
    """The exact binary value of a float, for a number that a machine computed or ran with.

    Raises DomainError for NaN, for infinities, and for anything that is no float.

    >>> binary(0.5), binary(1.1)
    (Fraction(1, 2), Fraction(2476979795053773, 2251799813685248))
    """
    if not isinstance(value, float | np.floating):
        raise DomainError(f"binary: found {echo(value)}, needed a float")
    number = exact(value, "binary")
    assert isinstance(number, Fraction)  # noqa: S101  # of a float
    return number


def order(value: Numeric) -> Order:
    """A Rényi order α ∈ [1, ∞]: int where it is whole, else Fraction; `INFINITY`; or symbolic.

    A float is the decimal that it prints as. DomainError below 1 and for NaN, LimitError for
    numbers of absurd size.
    """
    name = "order alpha"
    if type(value) is int:
        alpha: Order = _bounded(value, name)
    elif is_infinite(value):
        return INFINITY
    else:
        alpha = typed_value(value, name)
    if isinstance(alpha, int | Fraction):
        if alpha < 1:
            raise DomainError(f"{name}: found {echo(value)}, needed 1 <= alpha <= ∞")
        return int(alpha) if alpha.denominator == 1 else alpha
    return alpha


def array_order(value: float | np.floating[Any]) -> Order:
    """The order that a float64 of an array is: its exact binary value, or `INFINITY`."""
    return INFINITY if is_infinite(value) else order(binary(value))


def directed_order(value: Numeric) -> Order:
    """An order α ∈ [0, ∞] of the divergence of two laws in one direction, which may be below 1."""
    alpha = typed_value(value, "order alpha") if not is_infinite(value) else INFINITY
    return alpha if isinstance(alpha, Fraction) and 0 <= alpha < 1 else order(value)


def is_real(alpha: sympy.Expr) -> bool:
    """Does a symbolic order stand for real orders that are not whole?

    It does where it, or a symbol in it, is stated not to be an integer; nothing stated is whole.
    """
    if alpha.is_integer is None:
        return any(symbol.is_integer is False for symbol in alpha.free_symbols)
    return not alpha.is_integer


def is_infinite(value: object) -> bool:
    """Is this +∞, in any of the forms a user writes it?"""
    if isinstance(value, int | Fraction):
        return False
    if isinstance(value, str):
        return value.strip().lower() in _INFINITE_TEXT
    if isinstance(value, sympy.Basic):
        return value is sympy.oo
    if isinstance(value, Decimal):
        return value.is_infinite() and value > 0
    if isinstance(value, float | np.floating):
        return bool(value == math.inf)
    return hasattr(value, "_mpf_") and bool(mpmath.isinf(value) and mpmath.mpf(value) > 0)


@cache
def printers() -> tuple[type[Any], type[Any]]:
    """Two printers of SymPy expressions, for a reader and for a text that is read back.

    Neither has Python's limit on the digits of an integer.
    """

    class Numbers(formulas()):  # type: ignore[misc]  # made where SymPy is
        def _print_Rational(self, number: sympy.Rational) -> str:  # noqa: N802
            return text(Fraction(int(number.p), int(number.q)))

        _print_Integer = _print_Rational  # noqa: N815

    class ExactPrinter(Numbers):
        def _print_Mul(self, product: sympy.Mul) -> str:  # noqa: N802
            """(x+y)/z·(p/q), the fraction last: read back, p(x+y) would be multiplied out."""
            share, rest = product.as_coeff_Mul()
            factors = sympy.Mul.make_args(rest)
            over = not share.is_Integer and any(x.is_Pow and x.base.is_Add for x in factors)
            if share == 1 or not share.is_Rational or not (over or any(x.is_Add for x in factors)):
                return str(super()._print_Mul(product))
            return f"{self._print(rest)}*({self._print(share)})"

    return Numbers, ExactPrinter


def without_long_numbers(value: sympy.Expr) -> tuple[sympy.Expr, dict[sympy.Expr, sympy.Expr]]:
    """The value with a symbol for each long whole number, and what each symbol stands for.

    SymPy works e^(10^9999) out to all of its digits, to simplify or to order what it stands in.
    """
    numbers = value.atoms(sympy.Rational)
    ends = {end for x in numbers for end in (abs(x.p), x.q) if end > _LARGEST_SHORT}
    names = {end: sympy.Dummy(positive=True) for end in ends}
    put = {x: names.get(abs(x.p), abs(x.p)) / names.get(x.q, sympy.S(x.q)) for x in numbers}
    put = {x: -size if x < 0 else size for x, size in put.items() if size.free_symbols}
    return value.xreplace(put), {name: sympy.Integer(end) for end, name in names.items()}


def printer() -> type[Any]:
    """SymPy's text of an expression such that it is read back as the same one."""
    return printers()[1]


def text(value: Exact) -> str:
    """`value` as text that is read back as the same number: 5, 1/1000, or a formula."""
    if isinstance(value, Fraction):
        # flint's integers have no cap on the digits of a conversion, Python's do.
        numerator = str(flint.fmpz(value.numerator))
        if value.denominator == 1:
            return numerator
        return f"{numerator}/{flint.fmpz(value.denominator)}"
    return str(printer()().doprint(value))


def written(value: object) -> str:
    """`value` as str gives it; numbers in formulas may have any number of digits."""
    if not isinstance(value, sympy.Expr):
        return str(value)
    plain, numbers = without_long_numbers(value)
    named = {
        name: sympy.Symbol(text(Fraction(int(x))), positive=True) for name, x in numbers.items()
    }
    return str(printers()[0]().doprint(plain.xreplace(named)))


def expression(value: Exact | int) -> sympy.Expr:
    """The number as an expression of SymPy."""
    if isinstance(value, sympy.Expr):
        return value
    return sympy.Rational(value.numerator, value.denominator)


def _bounded(value: _Rational, name: str) -> _Rational:
    """The rational number; LimitError where it has more bits than the limit parameter_bits."""
    size = max(value.numerator.bit_length(), value.denominator.bit_length())
    limits.check("parameter_bits", size, f"{name} in bits")
    return value


def _from_text(value: str, name: str) -> Fraction:
    """The fraction of a text such as 5, 1/1000, 0.001 or 1e-8; DomainError for other texts."""
    limits.check("parameter_bits", len(value), f"{name} in characters")
    match = _RATIONAL.fullmatch(value)
    if match is None:
        raise DomainError(f"{name}: found {echo(value)}, needed a number such as 5, 1/1000 or 1e-8")
    sign, digits, exponent, divisor, divisor_exponent = match.groups()
    result = _decimal(digits, exponent, name)
    if divisor is not None:
        bottom = _decimal(divisor, divisor_exponent, name)
        if bottom == 0:
            raise DomainError(f"{name}: found {echo(value)}, needed a denominator other than 0")
        result /= bottom
    return _bounded(-result if sign == "-" else result, name)


def _decimal(digits: str, exponent: str | None, name: str) -> Fraction:
    """The fraction digits · 10^exponent, of a decimal's digits."""
    whole, _, decimals = digits.replace("_", "").partition(".")
    power = -len(decimals)
    if exponent is not None:
        # A power of ten beyond this cannot pass the limit on bits, so do not build it.
        if len(exponent) > 9:
            limits.check("parameter_bits", 10**9, f"{name}, exponent of ten")
        power += int(exponent)
    limits.check("parameter_bits", 3 * abs(power), f"{name} in bits")
    mantissa = int(flint.fmpz(whole + decimals))
    return Fraction(mantissa * 10**power) if power >= 0 else Fraction(mantissa, 10**-power)


def _from_decimal(value: Decimal, name: str) -> Fraction:
    """The fraction that a Decimal is; DomainError for NaN and infinities, LimitError for size."""
    if not value.is_finite():
        raise DomainError(f"{name}: found {echo(value)}, needed a finite number")
    limits.check("parameter_bits", 3 * abs(value.adjusted()), f"{name} in bits")
    return _bounded(Fraction(value), name)


def _from_mpf(value: mpmath.mpf | sympy.Float, name: str) -> Fraction:
    """The binary fraction that an mpf is; DomainError for NaN and infinities, else LimitError."""
    sign, mantissa, power, _ = value._mpf_
    if not mantissa and power:
        raise DomainError(f"{name}: found {echo(value)}, needed a finite number")
    limits.check("parameter_bits", abs(int(power)), f"{name} in bits")
    magnitude = Fraction(int(mantissa)) * Fraction(2) ** int(power)
    return _bounded(-magnitude if sign else magnitude, name)


def _check_shape(value: sympy.Basic, name: str) -> None:
    """LimitError for a formula too deep or too large to walk, counted without recursion."""
    shape: dict[int, tuple[int, int]] = {}  # of each part: its height, its operations as a tree
    stack = [value]
    while stack:
        parts = [part for part in stack[-1].args if id(part) not in shape]
        if parts:
            stack.extend(parts)
            continue
        formula = stack.pop()
        below = [shape[id(part)] for part in formula.args]
        height = 1 + max((height for height, _ in below), default=0)
        size = 1 + sum(size for _, size in below)
        limits.check("depth", height // 2, f"{name}, nesting depth of the formula")
        limits.check("nodes", size, f"{name}, operations of the formula")
        shape[id(formula)] = height, size


def _from_sympy(value: sympy.Basic, name: str) -> Exact:
    """The fraction of a rational SymPy number, or the expression, its floats made exact.

    DomainError for what is known not to be real or finite, LimitError for one too large to walk.
    """
    if isinstance(value, sympy.Rational):
        return _bounded(Fraction(int(value.p), int(value.q)), name)
    if isinstance(value, sympy.Float):
        return _from_mpf(value, name)
    _check_shape(value, name)
    if not isinstance(value, sympy.Expr) or value.has(sympy.nan, sympy.oo, sympy.zoo):
        raise DomainError(f"{name}: found {echo(value)}, needed a finite number or expression")
    # Floats inside an expression are exact binary values too.
    value = value.xreplace({f: expression(_from_mpf(f, name)) for f in value.atoms(sympy.Float)})
    if value.is_Rational:
        return _from_sympy(value, name)
    if value.is_extended_real is False:
        raise DomainError(f"{name}: found {echo(value)}, needed a real number")
    return value
