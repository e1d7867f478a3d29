"""Mironov 2017, Proposition 3: the classic conversion."""

from __future__ import annotations

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.conversion import Conversion, state
from symacct.kernel.sources import MIR17


def epsilon(ctx: Arithmetic, eps: Number, alpha: Number, delta: Number) -> Number:
    """ε = ε(α) + log(1/δ)/(α−1)"""
    return eps - ctx.log(delta) / (alpha - 1)


def log_delta(ctx: Arithmetic, eps: Number, alpha: Number, epsilon: Number) -> Number:
    """log δ = (α−1)(ε(α) − ε)"""
    return (alpha - 1) * (eps - epsilon)


# Both are the CGF's part and something linear in α.
state(
    Conversion(
        name="classic",
        source=MIR17.at("Proposition 3"),
        epsilon=epsilon,
        log_delta=log_delta,
        one_valley=True,
        status="proved",
    )
)
