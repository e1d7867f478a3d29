"""Law: what a family of laws says of itself; and D_α(P‖Q), one direction of a pair of laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import singledispatch
from typing import Any, ClassVar, Self, TypeAlias, cast

from symacct.analysis.densities import Kernel, Progression
from symacct.analysis.normal_mixtures import NormalParts
from symacct.kernel import symbols
from symacct.kernel.arithmetic import BALL, Arithmetic, Float64Arithmetic, Number
from symacct.kernel.errors import DomainError, OrderError, echo
from symacct.kernel.exact import INFINITY, Exact, Order, expression, sympy
from symacct.kernel.formula import value_text

# --- one direction of a pair
#
# D_α(P‖Q), one direction of a pair, and its closed form for finitely many outcomes.


class Direction:
    """D_α(P‖Q) in nats at every order, in any arithmetic; certified in balls alone."""

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """The function α ↦ D_α(P‖Q) for 1 < α < ∞; ∞ where the integral diverges."""
        raise NotImplementedError

    def at_one(self, ctx: Arithmetic) -> Number:
        """The Kullback–Leibler divergence E_P[log(P/Q)]."""
        raise NotImplementedError

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """The essential supremum of log(P/Q)."""
        raise NotImplementedError

    def below_one(self, ctx: Arithmetic, alpha: Order) -> Number:
        """D_α(P‖Q) for 0 <= α < 1, −log Q(P > 0) at 0: finite where the laws overlap.

        OrderError where no closed form is known, which a subclass gives.
        """
        raise OrderError(
            f"order alpha: found {echo(alpha)}, needed alpha >= 1; orders below 1 are known for "
            "finitely many outcomes, and for normal and other exponential families"
        )

    def moment(self, l: int) -> Fraction | None:
        """E_Q[(P/Q)^l] for whole l >= 2; None unless it is finite and known to be rational."""
        return None

    def at(self, ctx: Arithmetic, alpha: Order) -> Number:
        """D_α(P‖Q) at any order α ∈ [0, ∞]; the orders 1 and ∞ are an int and a float.

        Orders below 1 are Fractions, and raise OrderError where nothing is known of them.
        """
        if isinstance(alpha, Fraction) and alpha < 1:
            return self.below_one(ctx, alpha)
        if isinstance(alpha, int | float) and alpha in (1, INFINITY):
            return self.at_one(ctx) if alpha == 1 else self.at_infinity(ctx)
        return self.curve(ctx)(alpha)


class FamilyDirection(Direction):
    """Two laws of an exponential family with one support: `curve` holds for 0 < α < 1 as well.

    At order 0 the divergence is 0.
    """

    def below_one(self, ctx: Arithmetic, alpha: Order) -> Number:
        """D_α for α < 1 by the same formula, 0 at 0."""
        return self.curve(ctx)(alpha) if alpha else ctx.number(0)


@dataclass(frozen=True)
class FiniteDirection(Direction):
    """Finitely many outcomes: D_α = log( Σ p (p/q)^{α−1} )/(α−1), ∞ where p > 0 = q somewhere.

    `masses` are the (p, q) of every outcome, exact, and sum to 1; an irrational one is a mixture,
    and positive.
    """

    masses: Sequence[tuple[Exact, Exact]]

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ log(1 + Σ q((p/q)^α − 1))/(α−1), without cancelling where the arithmetic rounds"""
        excess = self.stable_excess(ctx) if ctx.rounds else self.excess(ctx)
        return lambda alpha: ctx.log1p(excess(alpha)) / (ctx.number(alpha) - 1)

    def excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ Σ p ((p/q)^{α−1} − 1): as Σ p = 1, what Σ p (p/q)^{α−1} exceeds 1."""
        if not self._is_dominated():
            return lambda alpha: ctx.number(INFINITY)
        parts = [(ctx.number(p), log) for p, log in self._logs(ctx) if p != 0]

        def excess(alpha: Order) -> Any:
            lam = ctx.number(alpha - 1)
            return sum((p * ctx.expm1(lam * log) for p, log in parts), ctx.number(0))

        return excess

    def stable_excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ Σ q ((1+u)^α − 1 − αu), u = p/q − 1, which equals the excess, as Σ qu = 0."""
        if not self._is_dominated():
            return lambda alpha: ctx.number(INFINITY)
        one, mean = ctx.number(1), expected(ctx, self)

        def excess(alpha: Order) -> Any:
            lam = ctx.number(alpha) - 1
            return mean(lambda x: ctx.power_gap(one, x, lam))

        return excess

    def at_one(self, ctx: Arithmetic) -> Number:
        """Σ p log(p/q), or Σ q ((1+u) log(1+u) − u)."""
        if not self._is_dominated():
            return ctx.number(INFINITY)
        if ctx.rounds:
            return expected(ctx, self)(lambda x: ctx.entropy_gap(ctx.number(1), x))
        logs = self._logs(ctx)
        return sum((ctx.number(p) * log for p, log in logs if p != 0), ctx.number(0))

    def below_one(self, ctx: Arithmetic, alpha: Order) -> Number:
        """log( Σ p^α q^{1−α} )/(α−1) over the outcomes of both laws; ∞ where they share none."""
        both = [(p, q) for p, q in self.masses if p != 0 and q != 0]
        if not both:
            return ctx.number(INFINITY)
        # Σ p^α q^{1−α} − 1: what Q lacks of 1, and Σ q((p/q)^α − 1).
        lacking = sum((q for _, q in both), Fraction(0)) - 1
        order = ctx.number(alpha)
        rise = sum(
            (ctx.number(q) * ctx.expm1(order * log_ratio(ctx, p, q)) for p, q in both),
            ctx.number(lacking),
        )
        return ctx.log1p(rise) / (order - 1)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """The largest log(p/q) over outcomes with p > 0; ∞ where one has q = 0."""
        if not self._is_dominated():
            return ctx.number(INFINITY)
        return ctx.maximum(*(log for p, log in self._logs(ctx) if p != 0))

    def _is_dominated(self) -> bool:
        """Is q > 0 wherever p > 0?"""
        return all(p == 0 or q != 0 for p, q in self.masses)

    def _logs(self, ctx: Arithmetic) -> list[tuple[Exact, Any]]:
        """(p, log(p/q)) for every outcome of Q; where p = q the logarithm is exactly 0."""
        return [(p, log_ratio(ctx, p, q)) for p, q in self.masses if q != 0]


def log_ratio(ctx: Arithmetic, p: Exact, q: Exact) -> Number:
    """log(p/q) for q > 0, −∞ where p = 0; by log1p of (p−q)/q where that loses no digits."""
    if p == 0:
        return -ctx.number(INFINITY)
    # An arithmetic that rounds has the logarithm of a fraction to full precision.
    if isinstance(p / q, Fraction) and (ctx.rounds or not q < 2 * p < 4 * q):
        return ctx.log(ctx.number(p / q))
    return ctx.log1p(ctx.number((p - q) / q))


#: gap ↦ Σ q gap(log(p/q)), of a function of the log-ratio.
Mean = Callable[[Callable[[Order], Number]], Any]


@singledispatch
def expected(ctx: Arithmetic, direction: FiniteDirection) -> Mean:
    """gap ↦ Σ q gap(log(p/q)), for a gap with gap(0) = 0; where p = 0 it is asked at −∞.

    Outcomes with q = 0 are left out: callers have checked that p is 0 there.
    """
    outcomes = [
        (ctx.number(q), log_ratio(ctx, p, q)) for p, q in direction.masses if p != q and q != 0
    ]
    return lambda gap: sum((q * gap(log) for q, log in outcomes), ctx.number(0))


@dataclass(frozen=True)
class RoundedDirection(Direction):
    """Another direction in float64, by its certified values: its closed form cancels there.

    Only for a Float64Arithmetic.
    """

    of: Direction

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ D_α in balls, rounded to float64 with their radius as its error."""
        return lambda alpha: cast(Float64Arithmetic, ctx).from_balls(
            lambda: self.of.at(BALL, alpha)
        )

    def at_one(self, ctx: Arithmetic) -> Number:
        """D_1 in balls, rounded to float64."""
        return cast(Float64Arithmetic, ctx).from_balls(lambda: self.of.at_one(BALL))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """D_∞ in balls, rounded to float64."""
        return cast(Float64Arithmetic, ctx).from_balls(lambda: self.of.at_infinity(BALL))


@dataclass(frozen=True)
class ConstantDirection(Direction):
    """D_α = log(ratio) at every order: Q restricted to an event of probability 1/ratio, or ∞."""

    ratio: Fraction | float

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ log of the ratio at every order"""
        value = self.at_infinity(ctx)
        return lambda alpha: value

    def at_one(self, ctx: Arithmetic) -> Number:
        """log of the ratio, as at every order."""
        return self.at_infinity(ctx)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """log of the ratio, which is that at every order."""
        if self.ratio == INFINITY:
            return ctx.number(INFINITY)
        return ctx.log(ctx.number(self.ratio))

    def moment(self, l: int) -> Fraction | None:
        """ratio^{l−1}; None for an infinite one."""
        return None if self.ratio == INFINITY else Fraction(self.ratio) ** (l - 1)


# --- families of laws
#
# Law: what every family of distributions says of itself, for pairs of two of its laws.

#: (value, name) ↦ the exact value of a parameter, or DomainError, which names it.
Domain: TypeAlias = Callable[[Any, str], Exact]

#: A message says by this how a law of no family is written.
OTHER_LAWS = (
    "a law such as laws.Normal(0, 1), or one of your own by its density in x, as in "
    "laws.Density('exp(-Abs(x))/2')"
)


def log_x() -> sympy.Expr:
    """log x of the symbol x in which densities are written."""
    return sympy.log(symbols.x)


class Law:
    """A distribution: its family and its parameters, which are rational numbers.

    A subclass names the domain of each parameter that is one number, as in `Law, rate=positive`.
    """

    #: Every family by its name.
    families: ClassVar[dict[str, type[Law]]] = {}

    #: The check of each parameter that is one number, by its name.
    domains: ClassVar[dict[str, Domain]] = {}

    #: The parameter that both laws of a pair share, where its closed form needs that; else empty.
    _shared: ClassVar[str] = ""

    def __init_subclass__(cls, **domains: Domain) -> None:
        """Register a family under its name, with the domains of its parameters."""
        super().__init_subclass__()
        cls.domains = domains
        Law.families[cls.__name__] = cls

    def __post_init__(self) -> None:
        """Bring each parameter to an exact number of its domain, or raise DomainError."""
        self._settle(
            **{
                name: domain(getattr(self, name), f"{type(self).__name__}, {name}")
                for name, domain in self.domains.items()
            }
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments, in order, in their exact form."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def expressions(self) -> tuple[sympy.Expr, ...]:
        """The parameters that are one number, for SymPy."""
        return tuple(expression(getattr(self, name)) for name in self.domains)

    @property
    def probabilities(self) -> tuple[Fraction, ...] | None:
        """The probabilities of the outcomes in a fixed order; None unless they are listed."""
        return None

    def masses_against(self, other: Self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        """(p, q) of this law and another of its family for finitely many events; None for more.

        The likelihood ratio is constant on each event.
        """
        if self.probabilities is None or other.probabilities is None:
            return None
        return tuple(zip(self.probabilities, other.probabilities, strict=True))

    @property
    def kernel(self) -> Kernel | None:
        """The density on the line up to its constant; None where there is none."""
        return None

    def log_total(self, ctx: Arithmetic) -> Number:
        """log ∫ e^kernel, of a law with a kernel."""
        raise NotImplementedError

    @property
    def normal_parts(self) -> NormalParts | None:
        """The normal laws of one variance that it is a mixture of; None for other laws."""
        return None

    @property
    def log_progression(self) -> Progression | None:
        """log p_k for k = 0, 1, 2, … of a law that lives there; None for others."""
        return None

    def why_no_closed_form(self, other: Self) -> str | None:
        """What a pair of this law and another of its family lacks for a closed form; None if none.

        It completes the words "found …, needed".
        """
        if self._shared and getattr(self, self._shared) != getattr(other, self._shared):
            return f"one {self._shared} for both"
        return None

    def is_swapped_with(self, other: Self) -> bool:
        """Is an involution of the outcomes known that preserves the measure and swaps both laws?

        `other` is of the same family. False where none is known.
        """
        return False

    def against(self, other: Self) -> Direction:
        """D_α of this law from another of its family, where `why_no_closed_form` is None."""
        raise NotImplementedError

    def __repr__(self) -> str:
        arguments = ", ".join(map(value_text, self.parameters.values()))
        return f"laws.{type(self).__name__}({arguments})"

    def _settle(self, **values: Any) -> None:
        """Keep the checked values of the parameters; DomainError for one that is not rational."""
        for name, value in values.items():
            _refuse_irrational(value, f"{type(self).__name__}, {name}")
            object.__setattr__(self, name, value)


value_text.register(Law, repr)


def _refuse_irrational(value: Any, what: str) -> None:
    """Raise DomainError for a number, or a number in nested tuples, that is not rational."""
    for part in value if isinstance(value, tuple) else [value]:
        if isinstance(part, tuple):
            _refuse_irrational(part, what)
        elif not isinstance(part, Fraction):
            raise DomainError(f"{what}: found {echo(part)}, needed a rational number")


def kernel_of(
    log: sympy.Expr, low: Exact | float = -INFINITY, high: Exact | float = INFINITY
) -> Kernel:
    """The density ∝ e^log from low to high, 0 elsewhere; the ends are rational or ±∞."""
    return Kernel(log, (low, high) if isinstance(low, float) else (Fraction(low), high))
