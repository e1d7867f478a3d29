"""The Laplace mechanism, of a vector and of a real number."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symacct.analysis.sampled_laplace import (
    laplace_upper_half,
    sampled_laplace_excess,
    sampled_laplace_kl,
)
from symacct.kernel.arithmetic import (
    Arithmetic,
    MpmathArithmetic,
    Number,
)
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import SWAPPED, Kind
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, exact, expression, sympy
from symacct.kernel.node import AskedValues, Mechanism
from symacct.kernel.parameters import positive
from symacct.kernel.sources import MIR17, ZW19
from symacct.laws.families import Laplace as LaplaceLaw
from symacct.laws.families import laplace_excess
from symacct.laws.neighbours import LaplaceShift
from symacct.mechanisms.known_laws import Shift, Value, falling_in, two_laws, worst_pair


class LaplacePair(Mechanism):
    """A curve attained by two Laplace laws `pure` scales apart, which is their ε(∞)."""

    kind = Kind.EXACT
    is_cheap = True
    attained = SWAPPED  # z ↦ Δ − z swaps the two Laplace laws
    steepest_up_to = INFINITY

    @property
    def pure(self) -> Exact:
        """How many scales they are apart."""
        raise NotImplementedError

    def shift(self, ctx: Arithmetic) -> Number:
        """s = `pure`."""
        return ctx.number(self.pure)

    def excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        return laplace_excess(ctx, self.shift(ctx))

    def stable_excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """( α(e^{λs} − 1 − λs) + λ(e^{−αs} − 1 + αs) )/(2α−1): what cancels is αλs."""
        s = self.shift(ctx)

        def excess(alpha: Order) -> Any:
            alpha = ctx.number(alpha)
            lam = alpha - 1
            rise = alpha * ctx.exp_gap(lam * s) + lam * ctx.exp_gap(-(alpha * s))
            return rise / (alpha + lam)

        return excess

    def at_one(self, ctx: Arithmetic) -> Number:
        return ctx.exp_gap(-self.shift(ctx))

    def at_infinity(self, ctx: Arithmetic) -> Number:
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
        """One coordinate that takes all of Δ."""
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


# --- its laws
#
# Two Laplace laws s = Δ/b scales apart, and means over Q in each arithmetic. A mass of Q of ½ has
# the smallest ratio P/Q = e^{−s}, and one of ½e^{−s} the largest, e^s; between the centres it has a
# density.


class LaplaceMeans(Shift):
    """P and Q of densities e^{−|x−1|/r}/(2r) and e^{−|x|/r}/(2r), r = b/Δ."""

    @property
    def ratio(self) -> Exact:
        """b/Δ"""
        return exact(1 / self.mechanism.pure)

    def sampled_in_balls(
        self, gamma: Fraction, alpha: Order | None, near: dict[Any, Any]
    ) -> Number:
        def value(ratio: Fraction) -> Number:
            if alpha is None:
                return sampled_laplace_kl(gamma, ratio)
            return sampled_laplace_excess(Fraction(alpha), gamma, ratio)

        return falling_in(self.ratio, value)

    def upper_half_in_balls(self, gamma: Fraction, alpha: Order | None) -> Number:
        order = None if alpha is None else Fraction(alpha)
        return falling_in(self.ratio, lambda ratio: laplace_upper_half(order, gamma, 1 / ratio))

    def summed(self, ctx: Any, value: Value, alpha: Order) -> Number:
        """½ value(−s) + ½ e^{−s} value(s) + (s/2) ∫_0^1 e^{−sz} value(s(2z−1)) dz"""
        s, order = 1 / ctx.number(self.ratio), ctx.number(alpha)
        pieces = s * (order + 1) // 3 + 1
        inside = ctx.integral(lambda z: ctx.exp(-(s * z)) * value(s * (2 * z - 1)), pieces)
        return (value(-s) + ctx.exp(-s) * value(s) + s * inside) / 2

    def integrated(
        self, ctx: MpmathArithmetic, value: Value, alpha: Order, above_one: bool
    ) -> Number:
        mp, s = ctx.mp, 1 / ctx.number(self.ratio)
        places = [0, mp.mpf(1) / 2, 1]
        if above_one:
            inside = quadrature(mp, lambda y: value(s * y) * mp.exp(-s * (1 + y) / 2), places)
            return inside * s / 4 + value(s) * mp.exp(-s) / 2
        inside = quadrature(mp, lambda z: mp.exp(-s * z) * value(s * (2 * z - 1)), places)
        return (value(-s) + mp.exp(-s) * value(s) + s * inside) / 2

    def written(self, value: Value, above_one: bool = False) -> sympy.Expr:
        z, s = sympy.Dummy("z", real=True), 1 / expression(self.ratio)
        if above_one:
            inside = written.Integral(sympy.exp(-s * (1 + z) / 2) * value(s * z), (z, 0, 1))
            return s * inside / 4 + value(s) * sympy.exp(-s) / 2
        inside = written.Integral(sympy.exp(-s * z) * value(s * (2 * z - 1)), (z, 0, 1))
        return (value(-s) + sympy.exp(-s) * value(s) + s * inside) / 2


@worst_pair.register
def _(mechanism: LaplacePair) -> LaplaceMeans:
    return LaplaceMeans(mechanism)


@worst_pair.register
def _(mechanism: Laplace) -> LaplaceMeans:
    return LaplaceMeans(mechanism, is_on_line=True)


@two_laws.register
def _(mechanism: VectorLaplace) -> tuple[LaplaceLaw, LaplaceLaw] | None:
    if not isinstance(mechanism.pure, Fraction):
        return None
    scale = 1 / mechanism.pure
    return LaplaceLaw(1, scale), LaplaceLaw(0, scale)
