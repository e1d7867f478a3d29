"""log Γ and its derivative in each arithmetic, for the few formulas that need them."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import mpmath
import numpy as np
import sympy

from symacct.arithmetic.ball import BallArithmetic
from symacct.arithmetic.float64 import Float64Arithmetic, LogNumber
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


@log_gamma.register
def _(ctx: Float64Arithmetic, x: LogNumber) -> LogNumber:
    return _elementwise(mpmath.fp.loggamma, x)


@digamma.register
def _(ctx: Float64Arithmetic, x: LogNumber) -> LogNumber:
    return _elementwise(mpmath.fp.digamma, x)


def _elementwise(function: Callable[[float], float], x: LogNumber) -> LogNumber:
    values = x.value()
    results = [float(function(float(value))) for value in np.ravel(values)]
    return LogNumber.of(np.reshape(results, np.shape(values)))
