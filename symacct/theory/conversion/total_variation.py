"""What the order 1 says of δ: the total variation, which is δ(0) and the largest, is small."""

from __future__ import annotations

from flint import arb

from symacct.kernel.arithmetic import Arithmetic
from symacct.kernel.conversion import OrderOne, state
from symacct.kernel.sources import SYMACCT

#: An ε of which nothing is known, because balls do not decide.
_UNKNOWN = arb(0, "inf")


def epsilon(ctx: Arithmetic, eps: arb, alpha: arb, delta: arb) -> arb:
    """ε = 0 where δ² >= min(1 − e^{−ε(1)}, ε(1)/2), and ∞, which says nothing, elsewhere.

    [0, ∞] where balls do not decide. `eps` is ε(1); `alpha` is not read.
    """
    square = _square(eps)
    if square <= delta * delta:
        return arb(0)
    return arb("inf") if square > delta * delta else _UNKNOWN


def log_delta(ctx: Arithmetic, eps: arb, alpha: arb, epsilon: arb) -> arb:
    """log δ = ½ log min(1 − e^{−ε(1)}, ε(1)/2), whatever ε"""
    if eps == 0:  # the two laws are one, and δ = 0
        return arb("-inf")
    return _square(eps).log() / 2


def _square(eps: arb) -> arb:
    """min(1 − e^{−ε(1)}, ε(1)/2), which bounds the square of the total variation from above."""
    square: arb = (-(-eps).expm1()).min(eps / 2)
    return square


state(
    OrderOne(
        name="total-variation",
        source=SYMACCT.at("docs/proofs/conversions.md, total-variation"),
        epsilon=epsilon,
        log_delta=log_delta,
        one_valley=False,
        status="proved",
    )
)
