"""The Laplace mechanism, of a vector and of a real number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import SWAPPED, Kind
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order
from symacct.kernel.node import AskedValues, Mechanism
from symacct.kernel.parameters import positive
from symacct.kernel.sources import MIR17, ZW19
from symacct.laws.families import laplace_excess
from symacct.laws.neighbours import LaplaceShift


class LaplacePair(Mechanism):
    """A curve attained by two Laplace laws `pure` scales apart, which is their ε(∞)."""

    kind = Kind.EXACT
    is_cheap = _never_ends = True
    attained = SWAPPED  # z ↦ Δ − z swaps the two Laplace laws
    _steepest_up_to = INFINITY

    @property
    def pure(self) -> Exact:
        """How many scales the two laws are apart, which is ε(∞) in nats."""
        raise NotImplementedError

    def shift(self, ctx: Arithmetic) -> Number:
        """s = `pure`."""
        return ctx.number(self.pure)

    def excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ e^{(α−1)ε(α)} − 1 at the shift s"""
        return laplace_excess(ctx, self.shift(ctx))

    def stable_excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """( α(e^{λs} − 1 − λs) + λ(e^{−αs} − 1 + αs) )/(2α−1), both terms >= 0, λ = α − 1.

        The ±αλs that is added to each cancels in `excess`.
        """
        s = self.shift(ctx)

        def excess(alpha: Order) -> Any:
            alpha = ctx.number(alpha)
            lam = alpha - 1
            rise = alpha * ctx.exp_gap(lam * s) + lam * ctx.exp_gap(-(alpha * s))
            return rise / (alpha + lam)

        return excess

    def at_one(self, ctx: Arithmetic) -> Number:
        """s − 1 + e^{−s}"""
        return ctx.exp_gap(-self.shift(ctx))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """s"""
        return self.shift(ctx)


class VectorLaplace(LaplacePair):
    """The Laplace mechanism on a vector of ℓ1 sensitivity Δ, with noise on every coordinate:

    ε(α) = log( α/(2α−1) e^{(α−1)s} + (α−1)/(2α−1) e^{−αs} ) / (α−1), s = Δ/b.

    The worst case is that one coordinate takes all of Δ (docs/proofs/mechanisms.md, Lemma
    vector-laplace). The curve is therefore that of Laplace, under Poisson sampling too. A sample of
    a fixed size costs more than with Laplace, if a record is replaced. `b` is the scale of the
    noise, and `sensitivity` is Δ. Both are positive, in the units of the query. Raises DomainError
    for other parameters. ε(α) is in nats. Source: ZW19, Remark 19.

    >>> print(VectorLaplace(2).rdp("inf", digits=3))
    0.5
    """

    b: Exact
    sensitivity: Exact
    noise_scale = "b"
    words = "the Laplace mechanism on a vector ($b = {b}$, $ℓ₁$ sensitivity {sensitivity})"
    source = ZW19.at("Remark 19")
    premises = ("one record changes the query by no more than its sensitivity, in the ℓ1 norm",)

    def __new__(cls, b: Numeric, sensitivity: Numeric = 1) -> VectorLaplace:
        return cls._intern(
            b=positive(b, "VectorLaplace, b"),
            sensitivity=positive(sensitivity, "VectorLaplace, sensitivity"),
        )

    @property
    def pure(self) -> Exact:
        """Δ/b"""
        return self.sensitivity / self.b

    @property
    def neighbours(self) -> LaplaceShift:
        """Two Laplace laws Δ/b scales apart: one coordinate takes all of Δ."""
        return LaplaceShift(self.pure, of_query=bool(self.noise_scale))


class Laplace(VectorLaplace):
    """The Laplace mechanism on a real-valued query.

    ε(α) = log( α/(2α−1) e^{(α−1)s} + (α−1)/(2α−1) e^{−αs} ) / (α−1), s = Δ/b.

    The curve is that of VectorLaplace. A sample of a fixed size costs less here if a record is
    replaced, because all neighbours move the query along one line. `b` is the scale of the noise,
    and `sensitivity` is Δ. Both are positive, in the units of the query. Raises DomainError for
    other parameters. ε(α) is in nats. Source: MIR17, Table II.

    >>> print(Laplace(2).rdp("inf", digits=3))
    0.5
    """

    asked = AskedValues(
        called="Laplace noise",
        parameters=("b",),
        values=("1", "2", "0.05", "1000", "0.5", "20", "10000"),
        harmless="10000",
        simple=("1", "2", "10", "0.5", "100", "0.1"),
        typical=(0.4, 20),
        drawn=(0.05, 1e4),
    )
    noise_scale = "b"
    words = "the Laplace mechanism ($b = {b}$, sensitivity {sensitivity})"
    source = MIR17.at("Table II")
    premises = (
        "the query is one number, and one record changes it by no more than its sensitivity",
    )

    def __new__(cls, b: Numeric, sensitivity: Numeric = 1) -> Laplace:
        return cls._intern(
            b=positive(b, "Laplace, b"), sensitivity=positive(sensitivity, "Laplace, sensitivity")
        )

    @property
    def neighbours(self) -> LaplaceShift:
        """All neighbours move the query along one line."""
        return LaplaceShift(self.pure, of_query=bool(self.noise_scale), is_on_line=True)
