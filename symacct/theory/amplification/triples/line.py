"""Symmetric log-concave noise on a real-valued query: the record replaced is the third one."""

from __future__ import annotations

from typing import Any

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import FINITE_ORDERS, INTEGER_ORDERS, REPLACE_ONE, Kind
from symacct.kernel.exact import Exact, Order
from symacct.kernel.node import Node
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import theorem
from symacct.mechanisms import Laplace, ScalarGaussian
from symacct.operations.subsample import SubsampleWithoutReplacement
from symacct.theory.amplification.pairs import from_pair, rising_in_rate
from symacct.theory.amplification.zw19 import log_moment
from symacct.theory.rdp_curve import RDPCurve

_SHARED: dict[str, Any] = {
    "operation": SubsampleWithoutReplacement,
    "kind": Kind.EXACT,
    "source": SYMACCT.at("docs/proofs.md, section 14, Theorem L"),
    "adjacency": REPLACE_ONE,
    "assumes": "a real-valued query with Laplace or Gaussian noise; it is attained if "
    "$0 < γ < 1$ and there is a third record",
    "monotone": True,
    "default": True,
    "tight": True,
    "status": "proved",
}


def is_on_the_line(node: Node) -> str | None:
    """Laplace noise, or Gaussian noise that is declared to be of one dimension."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if isinstance(mechanism, Laplace | ScalarGaussian):
        return None
    return (
        "it is about noise on a real-valued query: Laplace(b), or ScalarGaussian(sigma) for "
        f"Gaussian noise, got {type(mechanism).__name__}"
    )


@theorem("TRIPLE-LINE", orders=FINITE_ORDERS, applies=is_on_the_line, takes_exact=True, **_SHARED)
@rising_in_rate
def on_the_line(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log E_Q[ (1−γ+γP/Q)^α ]/(α−1), where Q is the noise and P is Q moved by Δ"""
    return from_pair(ctx, eps, alpha, gamma)


@theorem("TRIPLE-LINE-WHOLE", orders=INTEGER_ORDERS, applies=is_on_the_line, **_SHARED)
def at_whole_orders(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) = log A(α)/(α−1),
    A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)}"""
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)
