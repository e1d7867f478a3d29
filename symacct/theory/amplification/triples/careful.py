"""A formula whose leading terms cancel, evaluated in each arithmetic to all of its digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
)
from symacct.kernel.exact import Exact, Order, array_order
from symacct.theory.rdp_curve import RDPCurve

#: (arithmetic, the mechanism's curve in it, α, γ) → a number >= 0.
Formula = Callable[[Any, Any, Any, Any], Any]


def carefully(
    ctx: Arithmetic, formula: Formula, eps: RDPCurve, alpha: Order, gamma: Exact
) -> Number:
    """The formula itself: a ball says how many digits it lost, and an expression loses none."""
    if isinstance(ctx, MpmathArithmetic):
        return _with_digits_to_spare(ctx, formula, eps, alpha, gamma)
    if isinstance(ctx, Float64Arithmetic):
        return _rounded(ctx, formula, eps, alpha, gamma)
    return formula(ctx, eps, alpha, gamma)


def _with_digits_to_spare(
    ctx: MpmathArithmetic, formula: Formula, eps: RDPCurve, alpha: Order, gamma: Exact
) -> Number:
    """A value that is the square of what it is made of loses half of its digits."""
    finer = MpmathArithmetic(4 * ctx.bits)
    return ctx.mp.mpf(1) * ctx.mp.make_mpf(formula(finer, eps.using(finer), alpha, gamma)._mpf_)


def _rounded(
    ctx: Float64Arithmetic, formula: Formula, eps: RDPCurve, alpha: Order, gamma: Exact
) -> LogNumber:
    """Certified values: float64 has no digits to lose."""
    if isinstance(alpha, np.ndarray):
        found = [_rounded(ctx, formula, eps, array_order(one), gamma) for one in alpha.ravel()]
        parts = zip(*((one.sign, one.log, one.error) for one in found), strict=True)
        return LogNumber(*(np.reshape(part, alpha.shape) for part in parts))
    return ctx.from_balls(lambda: formula(BALL, eps.using(BALL), alpha, gamma))
