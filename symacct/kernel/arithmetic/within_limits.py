"""Exact arithmetic within limits: what SymPy is asked to work out is measured first.

SymPy works out at once what it can: 2**(9**9), the factors of a radicand, exp(n·log 2) = 2**n,
and which of two numbers is the larger. Whatever a text or a substitution asks for is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from math import gcd
from typing import Any

from flint import arb

from symacct.kernel import limits
from symacct.kernel.arithmetic.ball import BALL, precision
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.errors import DomainError, PrecisionError, echo
from symacct.kernel.exact import Exact, exact, expression, sympy

#: The precisions, in bits, at which the size of a constant is computed in turn until it is known. A
#: size that none of these tells is refused; higher ones cost time.
_SIZE_PRECISIONS = (64, 256, 1024, 4096)


def added(parts: Iterable[Exact]) -> Exact:
    """Σ parts, exactly; LimitError where SymPy would have to form numbers that are too long."""
    values = list(parts)
    if all(isinstance(value, Fraction) for value in values):
        return reduce(lambda total, value: exact(total + value), values, Fraction(0))
    _check_bits(sum(map(bits, values)), "sum")
    return _checked(sympy.Add(*map(expression, values)))


def multiplied(left: Exact, right: Exact) -> Exact:
    """left · right, exactly; LimitError where SymPy would form or factor too long numbers."""
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
    """base ** exponent, exactly; DomainError for a division by 0, LimitError for a power too long.

    It is measured before SymPy works it out.
    """
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
    """head(values) for a function of SymPy's; LimitError for arguments too long or too many."""
    arguments = list(values)
    if head is sympy.exp:
        return raised(sympy.E, *arguments)
    _check_bits(sum(map(bits, arguments)), getattr(head, "__name__", "function"))
    limits.check("terms", len(arguments), f"{getattr(head, '__name__', 'function')}, arguments")
    return _checked(head(*map(expression, arguments)))


def replaced(formula: sympy.Expr, values: Mapping[Any, Exact]) -> Exact:
    """The formula with symbols replaced by exact values, rebuilt from below within the limits."""
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
    """The exact value of what SymPy made; LimitError for its size, DomainError if not real."""
    if not value.has(sympy.nan, sympy.zoo, sympy.oo, sympy.I):
        _check_bits(bits(value), "result")
        check_magnitude(value)
    return exact(value)


def _check_bits(size: int, what: str) -> None:
    """LimitError for more bits than the limit parameter_bits."""
    limits.check("parameter_bits", size, f"{what}, in bits")


def _check_radicand(bits: int) -> None:
    """LimitError for more bits under a root, where SymPy factors, than the limit root_bits."""
    limits.check("root_bits", bits, "what stands under a root, in bits")


def check_magnitude(value: sympy.Expr) -> None:
    """LimitError for a constant beyond 2^±limit, PrecisionError for one whose size is not found."""
    if value.free_symbols:
        return
    limit = limits.current().parameter_bits
    for bits in _SIZE_PRECISIONS:
        ball = _ball(value, bits)
        if ball.is_finite():
            low, high = ball.abs_lower(), ball.abs_upper()
            if high > 0 and high < arb(2) ** -limit:
                limits.check("parameter_bits", _log2(high), "number, 1/size in bits")
            if low > arb(2) ** limit:
                limits.check("parameter_bits", _log2(low), "number, size in bits")
            return
    raise PrecisionError(f"found {echo(value)}, needed a real number whose size can be decided")


def _log2(x: arb) -> int:
    """About |log₂ x|, rounded up, of a ball x > 0; 10^15 for all that is more."""
    size = abs(x.log() / arb(2).log()).abs_upper()
    return int(float(size)) + 1 if size < 1e15 else 10**15


@lru_cache(maxsize=4096)
def _ball(value: sympy.Expr, bits: int) -> arb:
    """The constant as a ball at this precision, from those of its parts; remembered."""
    parts = {part: _ball(part, bits) for part in value.args if not value.is_Rational}
    with precision(bits):
        ball: arb = evaluate(BALL, value, parts)
    return ball


def bits(value: Exact) -> int:
    """The bits of all numerators and denominators in an exact value together; ±1 has none."""
    if isinstance(value, Fraction):
        return _size(value)
    return _bits_of(value)


@lru_cache(maxsize=4096)
def _bits_of(value: sympy.Expr) -> int:
    """The bits of all rationals in an expression together."""
    if isinstance(value, sympy.Rational):
        return _size(Fraction(int(value.p), int(value.q)))
    return sum(map(_bits_of, value.args))


def _size(value: Fraction) -> int:
    """The bits that its powers multiply: none for 1 and −1."""
    return 0 if abs(value) == 1 else value.numerator.bit_length() + value.denominator.bit_length()


def _largest(value: Exact) -> int:
    """By what a power multiplies bits at most: |exponent|, rounded up, or its largest numerator."""
    if isinstance(value, Fraction):
        return -(-abs(value.numerator) // value.denominator)
    rationals = value.atoms(sympy.Rational)
    return max((abs(int(number.p)) for number in rationals), default=1)


def _radicand(value: Exact) -> int:
    """The bits of the numbers under the roots of a product, which SymPy multiplies and factors."""
    return 0 if isinstance(value, Fraction) else _radicand_of(value)


@lru_cache(maxsize=4096)
def _radicand_of(value: sympy.Expr) -> int:
    """The bits under the roots of an expression that is a power or a product; 0 of another."""
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
