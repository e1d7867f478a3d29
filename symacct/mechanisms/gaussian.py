"""The Gaussian mechanism, and what is one of a sensitivity that is worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import SWAPPED, Kind
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, expression, sympy
from symacct.kernel.memory import cached_property
from symacct.kernel.node import AskedValues, Mechanism
from symacct.kernel.parameters import positive
from symacct.kernel.sources import MIR17
from symacct.laws.neighbours import NormalShift

# --- given sensitivity
#
# The Gaussian mechanism.


class Gaussian(Mechanism):
    """The Gaussian mechanism: a query of sensitivity Δ plus N(0, σ²), with ε(α) = αΔ²/(2σ²).

    The query has any number of dimensions, and Δ bounds its change in the Euclidean norm. For a
    query of one dimension ScalarGaussian costs less, if a record of a sample is replaced. `sigma`
    and `sensitivity` are positive, in the units of the query. Raises DomainError for other
    parameters. ε(α) is in nats. Source: MIR17, Table II.

    >>> print(Gaussian(5).rdp(2, digits=3))
    0.04
    """

    sigma: Exact
    sensitivity: Exact
    asked = AskedValues(
        called="Gaussian noise",
        parameters=("sigma",),
        values=("1", "5", "0.05", "10000", "50", "0.5", "2", "0.25", "1000"),
        harmless="10000",
        simple=("1", "2", "5", "10", "0.5", "100", "0.1"),
        typical=(0.4, 20),
        drawn=(0.05, 1e6),
    )
    noise_scale = "sigma"
    words = "the Gaussian mechanism ($σ = {sigma}$, sensitivity {sensitivity})"
    _has_one_formula = True
    source = MIR17.at("Table II")
    premises: tuple[str, ...] = (
        "one record changes the query by no more than its sensitivity, in the Euclidean norm",
    )
    kind = Kind.EXACT
    is_cheap = _never_ends = True
    attained = SWAPPED  # z ↦ Δ − z swaps N(Δ, σ²) and N(0, σ²)
    _steepest_up_to = INFINITY
    #: Is all of the query fixed beforehand? Else what a record moves may follow what came before:
    #: a subclass that writes something of its own and does not say so is not.
    is_one_query = True
    #: May records move the answer in any direction, so that three of them make a triangle, as
    #: lower bounds take them to? Such a subclass that does not say so has answers on a line.
    is_of_vectors = True

    def __init_subclass__(cls, **stated: Any) -> None:
        """Take from a subclass that changes anything what holds of plain Gaussian noise."""
        super().__init_subclass__(**stated)
        if all(name.startswith("__") and name != "__new__" for name in cls.__dict__):
            return  # a plain subclass is what its parent is
        for name in ("is_one_query", "is_of_vectors"):
            setattr(cls, name, cls.__dict__.get(name, False))

    def __new__(cls, sigma: Numeric, sensitivity: Numeric = 1) -> Gaussian:
        return cls._intern(
            sigma=positive(sigma, "Gaussian, sigma"),
            sensitivity=positive(sensitivity, "Gaussian, sensitivity"),
        )

    @cached_property
    def neighbours(self) -> NormalShift:
        """N(Δ, σ²) against N(0, σ²), the worst pair along the line of the change."""
        return NormalShift(
            self.sensitivity,
            self.sigma,
            self.kind,
            of_query=self.kind is Kind.EXACT and bool(self.noise_scale),
            is_one_query=self.is_one_query,
            is_of_vectors=self.is_of_vectors,
        )

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ αΔ²/(2σ²)"""
        rate = self.at_one(ctx)
        return lambda alpha: ctx.number(alpha) * rate

    def excesses(self, ctx: Arithmetic) -> Iterator[Number]:
        """E_l = e^{l(l−1)ρ} − 1 for l = 2, 3, …, ρ = ε(1), by sums of positive terms.

        E_{l+1} = E_l + D_l + D_l E_l, and D_l = e^{2lρ} − 1 likewise.
        """
        excess = step = first = ctx.expm1(2 * self.at_one(ctx))
        growth = 1 + first
        while True:
            yield excess
            step = step * growth + first
            excess = excess + step + step * excess

    def at_one(self, ctx: Arithmetic) -> Number:
        """Δ²/(2σ²)"""
        return (ctx.number(self.sensitivity) / ctx.number(self.sigma)) ** 2 / 2

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """∞: the loss has no bound."""
        return ctx.number(INFINITY)


class ScalarGaussian(Gaussian):
    """The Gaussian mechanism on a real-valued query.

    The curve is that of Gaussian. A sample of a fixed size costs less here if a record is replaced,
    because all neighbours move the query along one line. `sigma` and `sensitivity` are positive, in
    the units of the query. Raises DomainError for other parameters. ε(α) is in nats. Source: MIR17,
    Table II.

    >>> print(ScalarGaussian(5).rdp(2, digits=3))
    0.04
    """

    is_one_query = True
    noise_scale = "sigma"
    words = "the Gaussian mechanism on one number ($σ = {sigma}$, sensitivity {sensitivity})"
    premises = (
        "the query is one number, and one record changes it by no more than its sensitivity",
    )

    def __new__(cls, sigma: Numeric, sensitivity: Numeric = 1) -> ScalarGaussian:
        return cls._intern(
            sigma=positive(sigma, "ScalarGaussian, sigma"),
            sensitivity=positive(sensitivity, "ScalarGaussian, sensitivity"),
        )

    @cached_property
    def neighbours(self) -> NormalShift:
        """All neighbours move the query along one line."""
        return replace(super().neighbours, is_on_line=True)


# --- computed sensitivity
#
# What is a Gaussian mechanism of a sensitivity that is worked out and not given.


class ComputedGaussian(Gaussian):
    """Gaussian noise of σ on what one record moves by at most Δ, where a subclass computes Δ²."""

    attained = SWAPPED  # as of any Gaussian

    @property
    def _squared_sensitivity(self) -> tuple[Fraction, bool]:
        """An upper bound of Δ² in the unit of σ, and whether some neighbours attain it.

        If none is known to, the curve's kind is UPPER.
        """
        raise NotImplementedError

    @property
    def sensitivity(self) -> Exact:  # type: ignore[override]
        """Δ, a fraction wherever it is one."""
        root = sympy.sqrt(expression(self._squared_sensitivity[0]))
        return Fraction(int(root.p), int(root.q)) if isinstance(root, sympy.Rational) else root

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return Kind.EXACT if self._squared_sensitivity[1] else Kind.UPPER

    def _symbolic_parameters(self) -> list[sympy.Expr]:
        """σ and Δ, those that are no fractions; other parameters do not enter the pair."""
        return [x for x in (self.sigma, self.sensitivity) if isinstance(x, sympy.Expr)]
