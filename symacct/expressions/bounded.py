"""Arithmetic on exact numbers that refuses a result before it could grow past the limits.

SymPy works out at once what it can: 2**(9**9), the factors of a radicand, exp(n·log 2) = 2**n, and
which of two numbers is the larger. Whatever a text or a substitution asks for is measured first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from math import gcd
from typing import Any

from flint import arb

from symacct.arithmetic.ball import BALL, precision
from symacct.arithmetic.expression import evaluate
from symacct.core import limits
from symacct.core.errors import DomainError, PrecisionError, echo
from symacct.core.exact import Exact, exact, expression
from symacct.core.lazy_import import sympy

_PRECISIONS = (64, 256, 1024, 4096)  # bits at which the size of a constant is looked for


def added(parts: Iterable[Exact]) -> Exact:
    """Σ parts."""
    values = list(parts)
    if all(isinstance(value, Fraction) for value in values):
        return reduce(lambda total, one: exact(total + one), values, Fraction(0))
    _check_bits(sum(map(bits, values)), "sum")
    return _checked(sympy.Add(*map(expression, values)))


def multiplied(left: Exact, right: Exact) -> Exact:
    """left · right."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return exact(left * right)
    _check_bits(bits(left) + bits(right), "product")
    # Radicands under one root are multiplied, and the product is factored.
    _check_radicand(_radicand(left) + _radicand(right))
    return _checked(expression(left) * expression(right))


def divided(left: Exact, right: Exact) -> Exact:
    """left / right; DomainError for a division by 0."""
    return multiplied(left, raised(right, Fraction(-1)))


def raised(base: Exact, exponent: Exact) -> Exact:
    """base ** exponent."""
    whole = isinstance(exponent, Fraction) and exponent.denominator == 1
    if base == 0 and isinstance(exponent, Fraction) and exponent < 0:
        raise DomainError("found a division by 0")
    content = bits(base)
    if not whole and expression(exponent).has(sympy.log):
        content += bits(exponent)  # exp(c·log(x)) is worked out as x**c
    _check_bits(max(content, 1) * _largest(exponent), "power")
    if isinstance(base, Fraction) and whole:
        return base ** int(exponent)
    if not whole:
        _check_radicand(max(content, _under_root(expression(base), exponent)))
    return _checked(expression(base) ** expression(exponent))


def called(head: Callable[..., Any], values: Iterable[Exact]) -> Exact:
    """head(values), `head` being a function of SymPy's."""
    arguments = list(values)
    if head is sympy.exp:
        return raised(sympy.E, *arguments)
    _check_bits(sum(map(bits, arguments)), getattr(head, "__name__", "function"))
    limits.check("terms", len(arguments), f"{getattr(head, '__name__', 'function')}, arguments")
    return _checked(head(*map(expression, arguments)))


def replaced(formula: sympy.Expr, values: Mapping[Any, Exact]) -> Exact:
    """The formula with symbols replaced, rebuilt from below."""
    if formula in values:
        return values[formula]
    if not formula.args or not formula.free_symbols:
        return exact(formula)
    arguments = [replaced(argument, values) for argument in formula.args]
    if formula.func is sympy.Add:
        return added(arguments)
    if formula.func is sympy.Mul:
        return reduce(multiplied, arguments)
    if formula.func is sympy.Pow:
        return raised(*arguments)
    return called(formula.func, arguments)


# --- sizes


def _checked(value: sympy.Expr) -> Exact:
    """The value, if it is real and its size within the limits."""
    if not value.has(sympy.nan, sympy.zoo, sympy.oo, sympy.I):
        _check_bits(bits(value), "result")
        check_magnitude(value)
    return exact(value)


def _check_bits(found: int, what: str) -> None:
    limits.check("parameter_bits", found, f"{what}, in bits")


def _check_radicand(bits: int) -> None:
    limits.check("root_bits", bits, "what stands under a root, in bits")


def check_magnitude(value: sympy.Expr) -> None:
    """LimitError for a constant beyond 2^±limit, PrecisionError for one whose size is not found."""
    if value.free_symbols:
        return
    most = limits.current().parameter_bits
    for bits in _PRECISIONS:
        ball = _ball(value, bits)
        if ball.is_finite():
            low, high = ball.abs_lower(), ball.abs_upper()
            if high > 0 and high < arb(2) ** -most:
                limits.check("parameter_bits", _log2(high), "number, 1/size in bits")
            if low > arb(2) ** most:
                limits.check("parameter_bits", _log2(low), "number, size in bits")
            return
    raise PrecisionError(f"found {echo(value)}, needed a real number whose size can be decided")


def _log2(x: arb) -> int:
    """About |log₂ x|, as far as it is of interest."""
    size = abs(x.log() / arb(2).log()).abs_upper()
    return int(float(size)) + 1 if size < 1e15 else 10**15


@lru_cache(maxsize=4096)
def _ball(value: sympy.Expr, bits: int) -> arb:
    """The constant as a ball at this precision, from those of its parts."""
    parts = {part: _ball(part, bits) for part in value.args if not value.is_Rational}
    with precision(bits):
        found: arb = evaluate(BALL, value, parts)
    return found


def bits(value: Exact) -> int:
    """The bits of all numerators and denominators in it."""
    if isinstance(value, Fraction):
        return _size(value)
    return _bits_of(value)


@lru_cache(maxsize=4096)
def _bits_of(value: sympy.Expr) -> int:
    if isinstance(value, sympy.Rational):
        return _size(Fraction(int(value.p), int(value.q)))
    return sum(map(_bits_of, value.args))


def _size(value: Fraction) -> int:
    """The bits that its powers multiply: none for 1 and −1."""
    return 0 if abs(value) == 1 else value.numerator.bit_length() + value.denominator.bit_length()


def _largest(value: Exact) -> int:
    """The largest numerator in an exponent, rounded up where it is a fraction."""
    if isinstance(value, Fraction):
        return -(-abs(value.numerator) // value.denominator)
    rationals = value.atoms(sympy.Rational)
    return max((abs(int(one.p)) for one in rationals), default=1)


def _radicand(value: Exact) -> int:
    """The bits of the numbers under its roots."""
    return 0 if isinstance(value, Fraction) else _radicand_of(value)


@lru_cache(maxsize=4096)
def _radicand_of(value: sympy.Expr) -> int:
    if isinstance(value, sympy.Pow) and not isinstance(value.exp, sympy.Integer):
        return _under_root(value.base, exact(value.exp))
    return sum(map(_radicand_of, value.args)) if isinstance(value, sympy.Mul) else 0


def _under_root(base: sympy.Expr, exponent: Exact) -> int:
    """The bits of the base, or of what SymPy leaves under one root of base^{p/q} if that is more.

    It is factored again; a base that is too long is not factored here to find that out.
    """
    content = _bits_of(base)
    if content > limits.current().root_bits or not isinstance(exponent, Fraction):
        return content
    numbers = base.atoms(sympy.Rational)
    return max(content, sum(_left(n.p, exponent) + _left(n.q, -exponent) for n in numbers))


def _left(n: int, exponent: Fraction) -> int:
    """The bits of Π f^{r/g}, r = ep mod q, over the factors f^e of n and the r's common divisor."""
    factors = sympy.Integer(abs(n)).factors(limit=2**15) if n else {}  # as SymPy does
    rest = {f: e * exponent.numerator % exponent.denominator for f, e in factors.items() if f > 1}
    common = gcd(*rest.values()) or 1
    return sum(int(f).bit_length() * r // common for f, r in rest.items())
