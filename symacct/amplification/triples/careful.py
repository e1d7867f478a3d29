"""A formula whose leading terms cancel, evaluated in each arithmetic to all of its digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from symacct.arithmetic import (
    BALL,
    Arithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
)
from symacct.exact import Order, order
from symacct.rdp_curve import RDPCurve

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
        found = [carefully(ctx, formula, eps, order(one)) for one in alpha.ravel()]
        parts = zip(*((one.sign, one.log, one.error) for one in found), strict=True)
        return LogNumber(*(np.reshape(part, alpha.shape) for part in parts))
    return ctx.from_balls(lambda: formula(BALL, eps.using(BALL), alpha))
