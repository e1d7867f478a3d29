"""A mechanism that may fail: its Rényi curve is infinite, and its δ(ε) is known."""

from __future__ import annotations

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ALL_ORDERS, EITHER, Kind
from symacct.kernel.exact import INFINITY, Exact, Order
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import always, theorem
from symacct.operations.failing import Failing
from symacct.theory.rdp_curve import RDPCurve


@theorem(
    "FAILING",
    operation=Failing,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs.md, section 43"),
    orders=ALL_ORDERS,
    adjacency=EITHER,
    applies=always,
    monotone=True,
    status="proved",
)
def failing(ctx: Arithmetic, eps: RDPCurve, alpha: Order, delta: Exact) -> Number:
    """ε′(α) = ∞, while 1 − δ′(ε) = (1−δ)(1 − δ(ε)) in every composition, whatever gives δ(ε)"""
    return ctx.number(INFINITY)
