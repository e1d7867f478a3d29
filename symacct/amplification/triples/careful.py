"""A formula whose leading terms cancel, evaluated in each arithmetic to all of its digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from symacct import sizes
from symacct.arithmetic import (
    BALL,
    Arithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
)
from symacct.arithmetic.ball import precision
from symacct.exact import Order, order
from symacct.rdp_curve import RDPCurve
from symacct.sums.differences import GUARD_BITS, is_resolved

#: (arithmetic, the mechanism's curve in it, α) → a number >= 0.
Formula = Callable[[Any, Any, Any], Any]


@singledispatch
def carefully(ctx: Arithmetic, formula: Formula, eps: RDPCurve, alpha: Order) -> Number:
    """The formula itself: a ball says how many digits it lost, and an expression loses none."""
    return formula(ctx, eps, alpha)


@carefully.register
def _(ctx: MpmathArithmetic, formula: Formula, eps: RDPCurve, alpha: Order) -> Number:
    """With digits to spare: a value that is the square of what it is made of loses half of them."""
    finer = MpmathArithmetic(4 * ctx.bits)
    return ctx.mp.mpf(1) * ctx.mp.make_mpf(formula(finer, eps.using(finer), alpha)._mpf_)


@carefully.register
def _(ctx: Float64Arithmetic, formula: Formula, eps: RDPCurve, alpha: Order) -> LogNumber:
    """float64 has no digits to lose: certified values, rounded."""
    if isinstance(alpha, np.ndarray):
        found = [_rounded(formula, eps, order(one)) for one in alpha.ravel()]
        return LogNumber(*(np.reshape(part, alpha.shape) for part in zip(*found, strict=True)))
    return LogNumber(*_rounded(formula, eps, alpha))


def _rounded(formula: Formula, eps: RDPCurve, alpha: Order) -> tuple[float, float]:
    """Sign and logarithm of the value in balls."""
    limit, bits = sizes.current().bits, Float64Arithmetic.bits + GUARD_BITS
    while True:
        with precision(bits):
            value = formula(BALL, eps.using(BALL), alpha)
        if is_resolved(value, Float64Arithmetic.bits) or bits >= limit:
            break
        bits = min(2 * bits, limit)
    return (0.0, -np.inf) if value == 0 else (1.0, float(value.log().mid()))
