"""log Γ and its derivative, in the arithmetics of the few formulas that need them."""

from __future__ import annotations

from functools import singledispatch

import sympy
from flint import arb

from symacct.arithmetic.ball import BallArithmetic
from symacct.arithmetic.context import Arithmetic, Number
from symacct.arithmetic.mp import MpmathArithmetic
from symacct.arithmetic.symbolic import SymbolicArithmetic


@singledispatch
def log_gamma(ctx: Arithmetic, x: Number) -> Number:
    """log Γ(x) for x > 0."""
    raise TypeError(f"no gamma function for {type(ctx).__name__}")


@singledispatch
def digamma(ctx: Arithmetic, x: Number) -> Number:
    """ψ(x) = Γ′(x)/Γ(x) for x > 0."""
    raise TypeError(f"no gamma function for {type(ctx).__name__}")


@log_gamma.register
def _(ctx: BallArithmetic, x: arb) -> arb:
    return x.lgamma()


@digamma.register
def _(ctx: BallArithmetic, x: arb) -> arb:
    return x.digamma()


@log_gamma.register
def _(ctx: MpmathArithmetic, x: Number) -> Number:
    return ctx.mp.loggamma(x)


@digamma.register
def _(ctx: MpmathArithmetic, x: Number) -> Number:
    return ctx.mp.digamma(x)


@log_gamma.register
def _(ctx: SymbolicArithmetic, x: sympy.Expr) -> sympy.Expr:
    return sympy.loggamma(x)


@digamma.register
def _(ctx: SymbolicArithmetic, x: sympy.Expr) -> sympy.Expr:
    return sympy.digamma(x)
