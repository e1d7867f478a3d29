"""log Γ and its derivative, in the arithmetics of the few formulas that need them."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import sympy

from symacct.arithmetic.ball import BallArithmetic
from symacct.arithmetic.mp import MpmathArithmetic
from symacct.arithmetic.symbolic import SymbolicArithmetic


@singledispatch
def log_gamma(ctx: Any, x: Any) -> Any:
    """log Γ(x) for x > 0."""
    raise TypeError(f"no gamma function for {type(ctx).__name__}")


@singledispatch
def digamma(ctx: Any, x: Any) -> Any:
    """ψ(x) = Γ′(x)/Γ(x) for x > 0."""
    raise TypeError(f"no gamma function for {type(ctx).__name__}")


@log_gamma.register
def _(ctx: BallArithmetic, x: Any) -> Any:
    return x.lgamma()


@digamma.register
def _(ctx: BallArithmetic, x: Any) -> Any:
    return x.digamma()


@log_gamma.register
def _(ctx: MpmathArithmetic, x: Any) -> Any:
    return ctx.mp.loggamma(x)


@digamma.register
def _(ctx: MpmathArithmetic, x: Any) -> Any:
    return ctx.mp.digamma(x)


@log_gamma.register
def _(ctx: SymbolicArithmetic, x: Any) -> Any:
    return sympy.loggamma(x)


@digamma.register
def _(ctx: SymbolicArithmetic, x: Any) -> Any:
    return sympy.digamma(x)
