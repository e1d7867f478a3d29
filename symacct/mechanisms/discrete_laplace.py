"""The discrete Laplace (two-sided geometric) mechanism."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symacct.kernel import limits
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import SWAPPED, Kind
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, expression, sympy
from symacct.kernel.memory import cached_property
from symacct.kernel.node import AskedValues
from symacct.kernel.parameters import positive, whole
from symacct.kernel.sources import SYMACCT
from symacct.laws.neighbours import LatticePair
from symacct.mechanisms.integer_noise import IntegerNoise


# Proved in docs/proofs/mechanisms.md, Lemma vector-discrete-laplace.
class DiscreteLaplace(IntegerNoise):
    """The discrete Laplace mechanism: a whole-number query plus k with probability ∝ e^{−|k|/b}.

    ε(α) = log( (sinh(αt) e^{(α−1)Δt} + sinh((α−1)t) e^{−αΔt}) / (sinh(αt) + sinh((α−1)t)) )/(α−1)
    with t = 1/b.

    The curve is also that of a vector of ℓ1 sensitivity Δ with noise on every coordinate, under
    Poisson sampling too. `b` is positive. `sensitivity` is Δ, a whole number from 1 on, in the
    units of the query. Raises DomainError for other parameters. ε(α) is in nats. Source:
    docs/proofs/mechanisms.md, discrete-laplace.

    >>> print(DiscreteLaplace(2).rdp("inf", digits=3))
    0.5
    """

    b: Exact
    sensitivity: int
    kind = Kind.EXACT
    attained = SWAPPED  # k ↦ Δ − k swaps the two laws
    _steepest_up_to = INFINITY
    asked = AskedValues(
        called="discrete Laplace noise",
        parameters=("b",),
        values=("1", "2", "0.5", "20", "0.1"),
        harmless="1000",
        simple=("1", "2", "10", "0.5"),
        typical=(0.4, 20),
        drawn=(0.05, 1000),
        covered=((0.4, 1), (1, 3), (3, 20), "2"),
    )
    noise_scale = "b"
    words = "the discrete Laplace mechanism ($b = {b}$, sensitivity {sensitivity})"
    source = SYMACCT.at("docs/proofs/mechanisms.md, discrete-laplace")

    def __new__(cls, b: Numeric, sensitivity: Numeric = 1) -> DiscreteLaplace:
        return cls._intern(
            b=positive(b, "DiscreteLaplace, b"),
            sensitivity=whole(sensitivity, "DiscreteLaplace, sensitivity", least=1),
        )

    def excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """w (e^{(α−1)Δt} − 1) + (1−w)(e^{−αΔt} − 1), w = sinh(αt)/(sinh(αt) + sinh((α−1)t))"""
        t = 1 / ctx.number(self.b)

        def excess(alpha: Order) -> Any:
            order = ctx.number(alpha)
            up, down = (ctx.exp(x * t) - ctx.exp(-x * t) for x in (order, order - 1))
            rise = up * ctx.expm1((order - 1) * self.sensitivity * t)
            return (rise + down * ctx.expm1(-order * self.sensitivity * t)) / (up + down)

        return excess

    def stable_excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """Σ Q(ℓ) (e^{αℓ} − 1 − α(e^ℓ − 1)) over the losses ℓ, whose terms are all >= 0.

        LimitError for a sensitivity above the limit "outcomes".
        """
        one = ctx.number(1)

        def excess(alpha: Order) -> Any:
            lam = ctx.number(alpha) - 1
            return self.expected(ctx, lambda x: ctx.power_gap(one, x, lam), alpha)

        return excess

    def expected(
        self,
        ctx: Arithmetic,
        value: Callable[[Number], Number],
        power: Order,
        above_one: bool = False,
    ) -> Number:
        """( value(−Δt) + e^{−Δt} value(Δt) + (1−e^{−t}) Σ_{k=1}^{Δ−1} e^{−kt} value((2k−Δ)t) )

        / (1+e^{−t}): there are finitely many losses, so that `power` is not read. LimitError for a
        sensitivity above the limit "outcomes".
        """
        t, size = 1 / ctx.number(self.b), self.sensitivity
        limits.check("outcomes", size, "DiscreteLaplace, losses that are summed")

        def term(k: Any) -> Any:
            return ctx.exp(-(k * t)) * value((2 * k - size) * t)

        total = term(size) - ctx.expm1(-t) * ctx.sum(
            term, size // 2 + 1 if above_one else 1, size - 1
        )
        return (total if above_one else total + value(-(size * t))) / (1 + ctx.exp(-t))

    @property
    def neighbours(self) -> LatticePair:
        """The noise and that noise moved by Δ: the losses go from −Δt to Δt, 2t apart."""
        return LatticePair(self, of_query=bool(self.noise_scale), pure=self.sensitivity / self.b)

    @cached_property
    def masses(self) -> tuple[tuple[Exact, Exact], ...]:
        """The probabilities (P, Q) of every loss, from −Δt to Δt, as SymPy expressions.

        LimitError for a sensitivity above the limit "outcomes".
        """
        limits.check("outcomes", self.sensitivity, "DiscreteLaplace, losses")
        t = 1 / expression(self.b)
        first = 1 / (1 + sympy.exp(-t))
        inside = (sympy.exp(t) - 1) / (sympy.exp(t) + 1)
        every = [
            first,
            *(inside * sympy.exp(-k * t) for k in range(1, self.sensitivity)),
            first * sympy.exp(-self.sensitivity * t),
        ]
        return tuple(zip(reversed(every), every, strict=True))

    def at_one(self, ctx: Arithmetic) -> Number:
        """Δt − t(1 − e^{−Δt})/sinh(t)"""
        if ctx.rounds:
            return self.expected(ctx, lambda x: ctx.entropy_gap(ctx.number(1), x), 1)
        t = 1 / ctx.number(self.b)
        apart = self.sensitivity * t
        return apart + 2 * t * ctx.expm1(-apart) / (ctx.exp(t) - ctx.exp(-t))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """Δ/b"""
        return ctx.number(Fraction(self.sensitivity)) / ctx.number(self.b)
