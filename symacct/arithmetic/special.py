"""log Γ and its derivative, in the arithmetics of the few formulas that need them."""

from __future__ import annotations

from flint import arb

from symacct.arithmetic.ball import BallArithmetic
from symacct.arithmetic.context import Arithmetic, Number
from symacct.arithmetic.mp import MpmathArithmetic
from symacct.arithmetic.symbolic import SymbolicArithmetic
from symacct.core.lazy_import import sympy


def log_gamma(ctx: Arithmetic, x: Number) -> Number:
    """log Γ(x) for x > 0."""
    return _function(ctx, x, "lgamma", "loggamma")


def digamma(ctx: Arithmetic, x: Number) -> Number:
    """ψ(x) = Γ′(x)/Γ(x) for x > 0."""
    return _function(ctx, x, "digamma", "digamma")


def _function(ctx: Arithmetic, x: Number, of_balls: str, name: str) -> Number:
    """By what flint calls it, and mpmath and SymPy."""
    if isinstance(ctx, BallArithmetic):
        return getattr(arb, of_balls)(x)
    if isinstance(ctx, MpmathArithmetic):
        return getattr(ctx.mp, name)(x)
    if isinstance(ctx, SymbolicArithmetic):
        return getattr(sympy, name)(x)
    raise TypeError(f"no gamma function for {type(ctx).__name__}")
