"""Steinke 2022: the bound of Zhu and Wang's Theorem 8 without its condition, for every mechanism.

The proof is written down step by step in docs/theorems.md; the pointwise inequality that it rests
on is put to numbers by tests/theory/test_more_theorems.py.
"""

from __future__ import annotations

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import INTEGER_ORDERS, Kind
from symacct.kernel.exact import Order
from symacct.kernel.sources import S22
from symacct.kernel.theorem_registry import RDPCurve, always
from symacct.theory.amplification.samples import of_a_record
from symacct.theory.amplification.zw19 import log_moment


@of_a_record(
    "S22-POISSON",
    kind=Kind.UPPER,
    source=S22.at("tight subsampled RDP; SYMACCT, docs/theorems.md"),
    orders=INTEGER_ORDERS,
    assumes="$ε$ bounds both directions, as it does for add/remove neighbours",
    applies=always,
)
def every_mechanism(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log A(α)/(α−1),
    A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)}"""
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)
