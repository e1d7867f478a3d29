"""Groups of records: from the curve of a step to that of several."""

from __future__ import annotations

import functools
from typing import cast

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ALL_ORDERS, EITHER, Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.kernel.parameters import at_least_two
from symacct.kernel.sources import MIR17, SYMACCT
from symacct.kernel.theorem_registry import RDPCurve, always, theorem
from symacct.laws.neighbours import law_of
from symacct.operations.group import GroupPrivacy

#: The largest number of records of a chain, which reads a value of the curve for each of them.
#: Longer ones are refused: it saves time.
LONGEST_CHAIN = 32

#: The decorator of what is proved of a group of records, whatever the relation.
of_a_group = functools.partial(
    theorem,
    operation=GroupPrivacy,
    orders=ALL_ORDERS,
    adjacency=EITHER,
    monotone=True,
    status="proved",
)


def is_noise(node: Node) -> str | None:
    """None if for a group the mechanism has the laws of a larger sensitivity; else the reason."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if mechanism.for_group(1) is not None:
        return None
    return f"needed Gaussian or Laplace noise, got {type(mechanism).__name__}"


def is_short(node: Node) -> str | None:
    """None if the records, with all groups below, are at most LONGEST_CHAIN; else the reason."""
    group = node.mechanism.claim.adjacency.group * node.size  # type: ignore[attr-defined]
    return None if group <= LONGEST_CHAIN else f"needed size <= {LONGEST_CHAIN}, got {group}"


@of_a_group(
    "GROUP-SENSITIVITY",
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs/directions.md, group-noise"),
    assumes="Gaussian or Laplace noise",
    applies=is_noise,
    tight=True,
)
def sensitivity(ctx: Arithmetic, eps: RDPCurve, alpha: Order, size: int) -> Number:
    """ε′(α) = ε(α) of the same noise with the sensitivity size·Δ"""
    return eps.of(cast(Node, eps.node.for_group(size)))(alpha)


@of_a_group(
    "GROUP-CHAIN",
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs/directions.md, group-chain"),
    assumes=f"size $<= {LONGEST_CHAIN}$",
    applies=is_short,
)
def chain(ctx: Arithmetic, eps: RDPCurve, alpha: Order, size: int) -> Number:
    """ε′(α) <= Σ_{i=0}^{size−1} a/(a−i) ε(a−i), a = size·α; it is size·ε(∞) at ∞"""
    if isinstance(alpha, float) and alpha == INFINITY:
        return size * eps(INFINITY)
    top = size * alpha
    total = eps(top)
    for i in range(1, size):
        total = total + ctx.number(top) / ctx.number(top - i) * eps(top - i)
    return total


def is_concentrated(node: Node) -> str | None:
    """None if a line ξ + ρα is stated above the mechanism's whole curve; else the reason."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    line = law_of(mechanism).line
    if line is not None and line.omega == INFINITY:
        return None
    return f"needed ZCDP, got {type(mechanism).__name__}"


@of_a_group(
    "GROUP-ZCDP",
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs/directions.md, concentrated-groups"),
    assumes="($ξ$, $ρ$)-zCDP",
    applies=is_concentrated,
)
def concentrated(ctx: Arithmetic, eps: RDPCurve, alpha: Order, size: int) -> Number:
    """ε′(α) <= size²ρα + ξ(a/b + a log(a/b)), a = size·α, b = a−size+1;
    it is size·ε(∞) at ∞"""
    value = size * eps(size * alpha)
    line = law_of(eps.node).line  # curves that are drawn to attack it have none
    xi = 0 if line is None else line.xi
    if xi == 0 or (isinstance(alpha, float) and alpha == INFINITY):
        return value
    top, last = ctx.number(size * alpha), ctx.number(size * alpha - (size - 1))
    return value + ctx.number(xi) * (top / last + top * ctx.log1p((size - 1) / last) - size)


@of_a_group(
    "GROUP-PURE",
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs/directions.md, pure-groups"),
    assumes="a finite $ε(∞)$; otherwise the bound is infinite",
    applies=always,
)
def pure(ctx: Arithmetic, eps: RDPCurve, alpha: Order, size: int) -> Number:
    """ε′(α) <= log( (e^{αt} + e^{(1−α)t})/(1 + e^t) )/(α−1), t = size·ε(∞); it is t at ∞"""
    return of_pure(ctx, size * eps(INFINITY), alpha)


def of_pure(ctx: Arithmetic, t: Number, alpha: Order) -> Number:
    """log( (e^{αt} + e^{(1−α)t})/(1 + e^t) )/(α−1), the largest curve of what is t-DP.

    It is that of randomized response of log-odds t >= 0: t tanh(t/2) at α = 1, and t at ∞. An
    infinite t is given back.
    """
    if ctx.is_infinite(t) or (isinstance(alpha, float) and alpha == INFINITY):
        return t
    share = 1 / (ctx.exp(-t) + 1)
    other = 1 / (ctx.exp(t) + 1)
    if isinstance(alpha, int) and alpha == 1:
        return t * share * -ctx.expm1(-t)
    lam = ctx.number(alpha) - 1
    if ctx.rounds:
        unit = ctx.number(1)
        gap = other * ctx.power_gap(unit, t, lam) + share * ctx.power_gap(unit, -t, lam)
    else:
        gap = share * ctx.expm1(lam * t) + other * ctx.expm1(-lam * t)
    return ctx.log1p(gap) / lam


@of_a_group(
    "MIR17-P2",
    kind=Kind.UPPER,
    source=MIR17.at("Proposition 2"),
    applies=always,
)
def doublings(ctx: Arithmetic, eps: RDPCurve, alpha: Order, size: int) -> Number:
    """ε′(α) <= 3^c ε(2^c α) for α >= 2, c = ⌈log₂ size⌉; below 2 it is the value at 2;
    at ∞ it is size·ε(∞)"""
    if isinstance(alpha, float) and alpha == INFINITY:
        return size * eps(INFINITY)
    c = (size - 1).bit_length()
    return 3**c * eps(2**c * at_least_two(alpha))
