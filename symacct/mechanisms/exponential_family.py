"""Mechanisms that sample from an exponential family (WBK19 Appendix I)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symacct.kernel import symbols
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import Adjacency, Kind
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import (
    INFINITY,
    Exact,
    Numeric,
    Order,
    exact,
    expression,
    is_infinite,
    sympy,
    typed_value,
)
from symacct.kernel.formula import parse_formula
from symacct.kernel.node import Mechanism
from symacct.kernel.parameters import nonnegative, positive
from symacct.kernel.sources import WBK19
from symacct.mechanisms.curve import Curve


class ExponentialFamily(Mechanism):
    """An output of density ∝ e^{η·T} with log-partition A, where a record moves η by at most Δ:

    ε(α) <= min( αLΔ²/2, 2BΔ ) for 1 <= α <= κ/Δ + 1, ∞ beyond.

    The assumptions are A(η′) <= A(η) + ∇A(η)·(η′−η) + L|η′−η|²/2 and A(η′) <= A(η) + B|η′−η|, for
    the η of every dataset and every η′ within κ of it, in the norm in which η has sensitivity Δ. If
    `B` or `L` is "inf", the assumption with it is not made. If `kappa` is "inf", every η′ is
    allowed. Nothing is known beyond the order κ/Δ + 1, where A may be infinite, so ε(∞) = 2BΔ holds
    only for κ = ∞. Δ is the `sensitivity`, for the neighbours that `adjacency` names. Raises
    DomainError unless κ >= Δ. ε(α) is in nats. Source: WBK19, Proposition 38.

    >>> family = ExponentialFamily("1/25", "1/2", kappa=10)
    >>> print(family.rdp(4, digits=4), family.rdp(11, digits=4), family.rdp(12))
    0.08000 0.2200 inf
    """

    L: Exact | float
    B: Exact | float
    kappa: Exact | float
    sensitivity: Exact
    adjacency: Adjacency
    kind = Kind.UPPER
    is_finite_there = True
    words = (
        "a mechanism of an exponential family ($L = {L}$, $B = {B}$, $κ = {kappa}$, "
        "sensitivity {sensitivity})"
    )
    source = WBK19.at("Proposition 38")

    @property
    def premises(self) -> tuple[str, ...]:  # type: ignore[override]
        """The premises on the log-partition function A, without those whose constant is ∞."""
        bounded = {
            "L": "its log-partition function A lies above its tangent by at most {L}|η′ − η|²/2",
            "B": "A(η′) exceeds A(η) by at most {B}|η′ − η|",
        }
        made = [premise for name, premise in bounded.items() if self.fields()[name] != INFINITY]
        which = "both" if len(made) > 1 else "this"
        within = f"{which} for the η of every dataset and all η′ within κ = {{kappa}} of it"
        return (
            "one record moves the parameter η of the family by no more than its sensitivity",
            *((*made, within) if made else ()),
        )

    _makers = ("over_radii",)

    def __new__(
        cls,
        L: Numeric,  # noqa: N803
        B: Numeric = "inf",  # noqa: N803
        kappa: Numeric = "inf",
        sensitivity: Numeric = 1,
        adjacency: str | Adjacency = "either",
    ) -> ExponentialFamily:
        delta = positive(sensitivity, "ExponentialFamily, sensitivity")
        reach = _or_infinite(kappa, "ExponentialFamily, kappa")
        if reach != INFINITY:
            _check_reach(reach, delta)
        return cls._intern(
            L=_or_infinite(L, "ExponentialFamily, L"),
            B=_or_infinite(B, "ExponentialFamily, B"),
            kappa=reach,
            sensitivity=delta,
            adjacency=named_adjacency(adjacency),
        )

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ min(α·per order, flat), the two branches of the bound"""
        per_order, flat = self.branches(ctx)

        if ctx.is_infinite(per_order):
            return lambda alpha: flat
        return lambda alpha: ctx.minimum(ctx.number(alpha) * per_order, flat)

    def branches(self, ctx: Arithmetic) -> tuple[Any, Any]:
        """LΔ²/2, by which ε(α) grows per order, and the flat bound 2BΔ; ∞ where not assumed."""
        delta = ctx.number(self.sensitivity)
        infinite = ctx.number(INFINITY)
        smooth = infinite if self.L == INFINITY else ctx.number(self.L) * delta**2 / 2
        flat = infinite if self.B == INFINITY else 2 * ctx.number(self.B) * delta
        return smooth, flat

    @property
    def finite_up_to(self) -> Exact | float:  # type: ignore[override]
        """The order κ/Δ + 1, beyond which the curve is ∞; ∞ for κ = ∞."""
        return self.kappa if self.kappa == INFINITY else exact(self.kappa / self.sensitivity + 1)

    def at_one(self, ctx: Arithmetic) -> Number:
        """The smaller of both branches at 1."""
        return ctx.minimum(*self.branches(ctx))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """2BΔ, the limit, for κ = ∞, and 0 if also L = 0; ∞ for a finite κ."""
        if self.kappa != INFINITY:
            return ctx.number(INFINITY)
        smooth, flat = self.branches(ctx)
        return ctx.number(0) if ctx.is_zero(smooth) else flat

    @classmethod
    def over_radii(
        cls,
        L: Numeric | None = None,  # noqa: N803
        B: Numeric | None = None,  # noqa: N803
        sensitivity: Numeric = 1,
        adjacency: str | Adjacency = "either",
        at_infinity: Numeric | None = None,
    ) -> Curve:
        """The best bound if L and B are known as functions of the radius `kappa` (Remark 39):

        ε(α) <= min( ((α−1)L((α−1)Δ) + L(Δ))Δ²/2, (B((α−1)Δ) + B(Δ))Δ ).

        The proof of Proposition 38 uses A only at the distances (α−1)Δ and Δ, so each constant is
        taken at its own radius. `L` and `B` are expressions in the symbol kappa, or their text.
        None means that the assumption is not made; DomainError if neither is. `at_infinity` is
        ε(∞) if it is known, else ∞. The result is a Curve of kind upper.

        >>> ExponentialFamily.over_radii(L="exp(kappa)", sensitivity="1/2").rdp(3).digits > 29
        True
        """
        delta = expression(positive(sensitivity, "ExponentialFamily.over_radii, sensitivity"))
        far = (symbols.alpha - 1) * delta
        bounds = []
        if L is not None:
            smooth = _of_radius(L, "L")
            bounds.append(((symbols.alpha - 1) * smooth(far) + smooth(delta)) * delta**2 / 2)
        if B is not None:
            lipschitz = _of_radius(B, "B")
            bounds.append((lipschitz(far) + lipschitz(delta)) * delta)
        if not bounds:
            raise DomainError("ExponentialFamily.over_radii: found neither L nor B, needed one")
        return Curve(sympy.Min(*bounds), "upper", adjacency, at_infinity)


def _or_infinite(value: Numeric, name: str) -> Exact | float:
    """The exact number >= 0, or ∞; DomainError for others."""
    return INFINITY if is_infinite(value) else nonnegative(value, name)


def _check_reach(kappa: Exact, delta: Exact) -> None:
    """Raise DomainError unless κ >= Δ."""
    try:
        nonnegative(expression(kappa) - expression(delta), "kappa − sensitivity")
    except DomainError:
        raise DomainError(
            f"ExponentialFamily, kappa: found {echo(kappa)}, needed kappa >= sensitivity "
            f"= {echo(delta)}: "
            "the proposition evaluates the log-partition at the neighbour's parameter"
        ) from None


def _of_radius(value: Numeric, name: str) -> Callable[[Any], sympy.Expr]:
    """The function of the radius that an expression in the symbol kappa, or its text, states."""
    if isinstance(value, str):
        value = parse_formula(value, symbols.kappa)
    formula = expression(typed_value(value, f"ExponentialFamily.over_radii, {name}"))
    named = {s: symbols.kappa for s in formula.free_symbols if s.name == symbols.kappa.name}
    formula = formula.xreplace(named)
    return lambda radius: formula.xreplace({symbols.kappa: radius})
