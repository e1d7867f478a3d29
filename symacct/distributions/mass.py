"""The integral of a density that is given by its formula, in each arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any

from symacct.analysis.densities import Kernel, mass, plain_mass
from symacct.kernel import symbols
from symacct.kernel.arithmetic import (
    Arithmetic,
    BallArithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import expression, sympy


def log_mass(ctx: Arithmetic, kernel: Kernel) -> Number:
    """log ∫ e^log of a density given by its formula."""
    if isinstance(ctx, BallArithmetic):
        return _log_mass(kernel, ctx.bits)
    if isinstance(ctx, MpmathArithmetic):
        return ctx.log(plain_mass(ctx, kernel))
    if isinstance(ctx, SymbolicArithmetic):
        return sympy.log(written.Integral(sympy.exp(kernel.log), interval_of(kernel)))
    raise no_integrals(ctx)


def interval_of(kernel: Kernel) -> tuple[sympy.Symbol, sympy.Expr, sympy.Expr]:
    """x and the ends of what a formula integrates over."""
    ends = (kernel.cuts[0], kernel.cuts[-1])
    low, high = (expression(Fraction(c)) if isfinite(c) else c * sympy.oo for c in ends)
    return symbols.x, low, high


def no_integrals(ctx: Arithmetic) -> DomainError:
    return DomainError(
        f"a pair of laws: found the arithmetic {type(ctx).__name__}, which cannot integrate",
        remedy="ask for the value, or for the formula",
    )


@lru_cache(256)
def _log_mass(kernel: Kernel, bits: int) -> Any:
    """Every order of a pair asks for it at the same few precisions."""
    return mass(kernel, bits).log()
