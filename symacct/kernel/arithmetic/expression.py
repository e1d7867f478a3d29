"""A SymPy expression in any arithmetic, by walking a closed set of heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import add, mul
from types import MappingProxyType

from symacct.kernel.arithmetic.context import Arithmetic, Number
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import sympy

# --- log Γ and its derivative
#
# log Γ and its derivative, in the arithmetics of the few formulas that need them.


def log_gamma(ctx: Arithmetic, x: Number) -> Number:
    """log Γ(x) for x > 0; TypeError in an arithmetic without it, as in float64."""
    return _function(ctx, "log_gamma")(x)


def digamma(ctx: Arithmetic, x: Number) -> Number:
    """ψ(x) = Γ′(x)/Γ(x) for x > 0; TypeError in an arithmetic without it, as in float64."""
    return _function(ctx, "digamma")(x)


def _function(ctx: Arithmetic, name: str) -> Callable[[Number], Number]:
    """The method of this name of balls, mpmath or SymPy; TypeError where there is none."""
    function: Callable[[Number], Number] | None = getattr(ctx, name, None)
    if function is None:
        raise TypeError(f"no gamma function for {type(ctx).__name__}")
    return function


# --- expressions
#
# A SymPy expression evaluated in any arithmetic, by walking a closed set of heads.

#: The values of an expression without free symbols.
NO_VALUES: Mapping[sympy.Expr, Number] = MappingProxyType({})


def evaluate(
    ctx: Arithmetic, expression: sympy.Expr, values: Mapping[sympy.Expr, Number] = NO_VALUES
) -> Number:
    """The value of an expression in `ctx`, with `values` in the places of symbols or of parts.

    DomainError for a symbol that is left free, and for a head that no arithmetic evaluates.
    """
    if expression in values:
        return values[expression]
    if isinstance(expression, sympy.Rational):
        return ctx.number(expression)
    head = expression.func
    if head is sympy.Symbol or head is sympy.Dummy:
        raise DomainError(
            f"found the free symbol {expression}, needed a number",
            remedy="put a number in its place, or ask for the formula",
        )
    if expression is sympy.E:
        return ctx.exp(ctx.number(1))
    if expression is sympy.oo:
        return ctx.number(float("inf"))
    if expression is sympy.pi:
        return ctx.pi()
    arguments = [evaluate(ctx, argument, values) for argument in expression.args]
    if head is sympy.Pow:
        return _power(ctx, expression, arguments)
    if head is sympy.Add or head is sympy.Mul:
        return reduce(add if head is sympy.Add else mul, arguments)
    # By the line of classes: our Min and Max are kinds of SymPy's.
    functions = _functions()
    function = next((functions[kind] for kind in head.__mro__ if kind in functions), None)
    if function is not None:
        return function(ctx, *arguments)
    raise DomainError(f"found {head.__name__} in {expression}, needed one of {_known()}")


def _power(ctx: Arithmetic, expression: sympy.Expr, arguments: list[Number]) -> Number:
    """The power of a base and an exponent that are evaluated: whole, a root, e^x, or x^y."""
    base, exponent = expression.args
    if isinstance(exponent, sympy.Integer):
        return arguments[0] ** int(exponent)
    if exponent == sympy.Rational(1, 2):
        return ctx.sqrt(arguments[0])
    if base is sympy.E:
        return ctx.exp(arguments[1])
    return ctx.power(*arguments)


@cache
def _functions() -> dict[object, Callable[..., Number]]:
    """The function of an arithmetic for each of SymPy's functions."""
    return {
        sympy.exp: lambda ctx, x: ctx.exp(x),
        sympy.log: lambda ctx, x: ctx.log(x),
        sympy.Min: lambda ctx, *xs: ctx.minimum(*xs),
        sympy.Max: lambda ctx, *xs: ctx.maximum(*xs),
        sympy.Abs: lambda ctx, x: ctx.maximum(x, -x),
        sympy.cosh: lambda ctx, x: (ctx.exp(x) + ctx.exp(-x)) / 2,
        sympy.sinh: lambda ctx, x: (ctx.expm1(x) - ctx.expm1(-x)) / 2,
        sympy.tanh: lambda ctx, x: ctx.expm1(2 * x) / (ctx.expm1(2 * x) + 2),
        sympy.gamma: lambda ctx, x: ctx.exp(log_gamma(ctx, x)),
    }


def _known() -> str:
    """The names of all heads that are evaluated, with commas, for a message."""
    heads = [sympy.Add, sympy.Mul, sympy.Pow, *_functions()]
    return ", ".join(sorted(head.__name__ for head in heads))
