"""Pure DP: the triples whose ratios are as far from each other as ε₀ allows.

With e = e^{ε₀}, u = 1−γ+γe, v = 1−γ+γ/e the largest moment is that of two or three answers, in
closed form at every real order (docs/proofs.md, section 14).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symacct.kernel.arithmetic import Arithmetic, Number, SymbolicArithmetic
from symacct.kernel.claims import ALL_ORDERS, REPLACE_ONE, Kind
from symacct.kernel.exact import INFINITY, Exact, Order
from symacct.kernel.node import Node
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import theorem
from symacct.mechanisms import PureDP
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement
from symacct.theory.amplification.triples.careful import carefully
from symacct.theory.rdp_curve import RDPCurve


def is_pure(node: Node) -> str | None:
    """The mechanism is any ε₀-DP one."""
    if isinstance(node.mechanism, PureDP):  # type: ignore[attr-defined]
        return None
    return "what is largest over all ε₀-DP mechanisms need not be attained by this one"


def is_no_class(node: Node) -> str | None:
    """The mechanism is one of the ε₀-DP mechanisms, not all of them."""
    return "for all ε₀-DP mechanisms there is an exact theorem" if is_pure(node) is None else None


def _states(name: str, operation: type[Node], place: str, reads: str) -> Callable[[Order], Number]:
    """Register the bound as exact for all ε₀-DP mechanisms, and as an upper one for each."""

    def register(bound: Any) -> Any:
        shared: dict[str, Any] = {
            "operation": operation,
            "source": SYMACCT.at(f"docs/proofs.md, section 14, {place}"),
            "orders": ALL_ORDERS,
            "adjacency": REPLACE_ONE,
            "monotone": True,  # with ε₀ the class of mechanisms grows
            "takes_exact": True,
            "status": "proved",
        }
        theorem(
            name,
            kind=Kind.EXACT,
            assumes=f"all $ε₀$-DP mechanisms, for {reads} neighbours; it is attained for "
            "$0 < γ < 1$",
            applies=is_pure,
            tight=True,
            default=True,
            **shared,
        )(bound)
        theorem(
            f"{name}-UPPER",
            kind=Kind.UPPER,
            assumes=f"a finite $ε(∞)$, for {reads} neighbours; otherwise there is no bound",
            applies=is_no_class,
            tight=False,
            default=True,
            **shared,
        )(bound)
        return bound

    return register


@_states("TRIPLE-PURE", SubsampleWithoutReplacement, "Theorem 2", "replace-one")
def of_fixed_size(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """(α−1) ε′(α) = log max{ (u^α + e v^α)/(e+1), (u^α + u^{1−α} + e(1−γ) + γ)/(e+2) },
    e = e^{ε(∞)}, u = 1−γ+γe, v = 1−γ+γ/e"""
    return _value(ctx, eps, alpha, gamma, _FIXED_SIZE)


@_states("TRIPLE-PURE-POISSON", PoissonSubsample, "Theorem 3", "add/remove")
def of_poisson(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """(α−1) ε′(α) = log( (u^α v^{1−α} + v^α u^{1−α} + (e−1)v)/(e+1) ),
    e = e^{ε(∞)}, u = 1−γ+γe, v = 1−γ+γ/e"""
    return _value(ctx, eps, alpha, gamma, _POISSON)


class FixedSize:
    """The largest of the moment of two answers and that of three."""

    def excess(self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
        """max{ u^α − 1 + e(v^α − 1), (e+1)/(e+2) (u^α − 1)(u^α − u)/u^α }/(e+1)"""
        e, step, log_u, log_v = numbers(ctx, eps, gamma)
        order = ctx.number(alpha)
        rise = ctx.expm1(order * log_u)
        two = (rise + e * ctx.expm1(order * log_v)) / (e + 1)
        three = rise * (rise - step) / ((rise + 1) * (e + 2))
        return ctx.maximum(two, three)

    def moment(self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
        """max{ (u^α + e v^α)/(e+1), (u^α + u^{1−α} + e(1−γ) + γ)/(e+2) }, as it is printed."""
        e, u, v = printed(ctx, eps, gamma)
        order = ctx.number(alpha)
        two = (u**order + e * v**order) / (e + 1)
        three = (u**order + u ** (1 - order) + e * (1 - gamma) + gamma) / (e + 2)
        return ctx.maximum(two, three)

    def relative_entropy(
        self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number
    ) -> Number:
        """max{ (u log u + e v log v)/(e+1), (u−1) log u/(e+2) }"""
        e, step, log_u, log_v = numbers(ctx, eps, gamma)
        two = (ctx.exp(log_u) * log_u + e * ctx.exp(log_v) * log_v) / (e + 1)
        return ctx.maximum(two, step * log_u / (e + 2))

    def largest_ratio(self, ctx: Arithmetic, eps: RDPCurve, gamma: Number) -> Number:
        """log u"""
        return numbers(ctx, eps, gamma)[2]


class AntitheticCoupling:
    """The antithetic coupling: the one ratio is e where the other is 1/e."""

    def excess(self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
        """v (1 − t^{1−α})(t^α − 1)/(e+1), t = u/v"""
        e, _, log_u, log_v = numbers(ctx, eps, gamma)
        order, log_t = ctx.number(alpha), log_u - log_v
        rise = -(ctx.expm1((1 - order) * log_t) * ctx.expm1(order * log_t))
        return ctx.exp(log_v) * rise / (e + 1)

    def moment(self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
        """(u^α v^{1−α} + v^α u^{1−α} + (e−1)v)/(e+1), as it is printed."""
        e, u, v = printed(ctx, eps, gamma)
        order = ctx.number(alpha)
        there, back = u**order * v ** (1 - order), v**order * u ** (1 - order)
        return (there + back + (e - 1) * v) / (e + 1)

    def relative_entropy(
        self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number
    ) -> Number:
        """(u − v) log(u/v)/(e+1)"""
        e, _, log_u, log_v = numbers(ctx, eps, gamma)
        log_t = log_u - log_v
        return ctx.exp(log_v) * ctx.expm1(log_t) * log_t / (e + 1)

    def largest_ratio(self, ctx: Arithmetic, eps: RDPCurve, gamma: Number) -> Number:
        """log(u/v)"""
        _, _, log_u, log_v = numbers(ctx, eps, gamma)
        return log_u - log_v


_FIXED_SIZE, _POISSON = FixedSize(), AntitheticCoupling()


def numbers(ctx: Arithmetic, eps: RDPCurve, gamma: Exact) -> tuple[Any, Any, Any, Any]:
    """e, u − 1, log u and log v, without cancellation for small γ or ε₀."""
    if isinstance(ctx, SymbolicArithmetic):
        e, u, v = printed(ctx, eps, gamma)
        return e, u - 1, ctx.log(u), ctx.log(v)
    pure = eps(INFINITY)
    rise = ctx.expm1(pure)
    e, step = rise + 1, ctx.number(gamma) * rise
    # Where γ = 1 the other is −ε₀, which 1 + (e^{−ε₀} − 1) would lose.
    return e, step, ctx.log1p(step), -pure if gamma == 1 else ctx.log1p(-step / e)


def printed(ctx: Arithmetic, eps: RDPCurve, gamma: Exact) -> tuple[Any, Any, Any]:
    """e, u and v."""
    e, rate = ctx.exp(eps(INFINITY)), ctx.number(gamma)
    return e, 1 - rate + rate * e, 1 - rate + rate / e


def _value(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact, worst: Any) -> Number:
    """ε′(α) of the worst triple."""
    if gamma == 0:
        return ctx.number(0)
    if ctx.is_infinite(eps(INFINITY)):
        return ctx.number(INFINITY)
    if isinstance(alpha, float) and alpha == INFINITY:
        return worst.largest_ratio(ctx, eps, gamma)
    if isinstance(alpha, int) and alpha == 1:
        return carefully(ctx, worst.relative_entropy, eps, alpha, gamma)
    if isinstance(ctx, SymbolicArithmetic):
        log_moment = ctx.log(worst.moment(ctx, eps, alpha, ctx.number(gamma)))
    else:
        log_moment = ctx.log1p(carefully(ctx, worst.excess, eps, alpha, gamma))
    return log_moment / (ctx.number(alpha) - 1)
