"""The Gaussian mechanism, and what is one of a sensitivity that is worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from symacct.analysis.normal_mixtures import sampled_relative_entropy
from symacct.analysis.sampled_gaussian import sampled_gaussian_excess
from symacct.analysis.sampled_laplace import gaussian_upper_half
from symacct.kernel.arithmetic import (
    Arithmetic,
    MpmathArithmetic,
    Number,
)
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import SWAPPED, Kind
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, exact, expression, sympy
from symacct.kernel.node import AskedValues, Mechanism, Node
from symacct.kernel.parameters import positive
from symacct.kernel.sources import MIR17
from symacct.laws.neighbours import NormalShift
from symacct.laws.normal import Normal
from symacct.mechanisms.known_laws import Shift, Value, falling_in, two_laws, worst_pair

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
    has_one_formula = True
    source = MIR17.at("Table II")
    premises: tuple[str, ...] = (
        "one record changes the query by no more than its sensitivity, in the Euclidean norm",
    )
    kind = Kind.EXACT
    is_cheap = True
    attained = SWAPPED  # z ↦ Δ − z swaps N(Δ, σ²) and N(0, σ²)
    steepest_up_to = INFINITY
    #: Is all of the query fixed beforehand? Else what a record moves may follow what came before:
    #: a subclass that writes something of its own and does not say so is not.
    is_one_query = True
    #: May records move the answer in any direction, so that three of them make a triangle, as
    #: lower bounds take them to? Such a subclass that does not say so has answers on a line.
    is_of_vectors = True

    def __init_subclass__(cls, **stated: Any) -> None:
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

    @property
    def neighbours(self) -> NormalShift:
        """Δ moves the query along one line."""
        return NormalShift(
            self.sensitivity,
            self.sigma,
            self.kind,
            of_query=self.kind is Kind.EXACT and bool(self.noise_scale),
            is_one_query=self.is_one_query,
            is_of_vectors=self.is_of_vectors,
        )

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        rate = self.at_one(ctx)
        return lambda alpha: ctx.number(alpha) * rate

    def excesses(self, ctx: Arithmetic) -> Iterator[Number]:
        """E_l = e^{l(l−1)ρ} − 1 by E_{l+1} = E_l + D_l + D_l E_l, D_l = e^{2lρ} − 1 likewise."""
        excess = step = first = ctx.expm1(2 * self.at_one(ctx))
        growth = 1 + first
        while True:
            yield excess
            step = step * growth + first
            excess = excess + step + step * excess

    def at_one(self, ctx: Arithmetic) -> Number:
        return (ctx.number(self.sensitivity) / ctx.number(self.sigma)) ** 2 / 2

    def at_infinity(self, ctx: Arithmetic) -> Number:
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


# --- its laws
#
# N(Δ, σ²) against N(0, σ²), and means over the latter in each arithmetic.

#: The steps of mpmath's quadrature, each of which takes some milliseconds.
_MOST_STEPS = 1 << 9


class NormalMeans(Shift):
    """P = N(1, r²) and Q = N(0, r²), r = σ/Δ."""

    @property
    def ratio(self) -> Exact:
        """σ/Δ"""
        return exact(self.mechanism.sigma / self.mechanism.sensitivity)

    def sampled_in_balls(
        self, gamma: Fraction, alpha: Order | None, near: dict[Any, Any]
    ) -> Number:
        def value(ratio: Fraction) -> Number:
            if alpha is None:
                return sampled_relative_entropy(gamma, ratio)
            return sampled_gaussian_excess(Fraction(alpha), gamma, ratio, near)

        return falling_in(self.ratio, value)

    def upper_half_in_balls(self, gamma: Fraction, alpha: Order | None) -> Number:
        order = None if alpha is None else Fraction(alpha)
        return falling_in(self.ratio, lambda ratio: gaussian_upper_half(order, gamma, 1 / ratio))

    def summed(self, ctx: Any, value: Value, alpha: Order) -> Number:
        """E_{z~N(0,σ²)}[value((2z−1)/(2σ²))], a sum over the grid −Rσ, −Rσ + σ/k, … α + Rσ.

        With T nats of precision, R = √(2T). The integrand is analytic up to |Im z| < πσ², so that
        the sum over a grid of step σ/k errs by e^{−2π²σk + π²σ²/2} or e^{−2π²k²}, whichever is
        larger.
        """
        sigma, order = ctx.number(self.ratio), ctx.number(alpha)
        nats, square = ctx.grid_nats(), 2 * ctx.pi() ** 2
        per_sigma = ctx.sqrt(nats / square) + nats / square / sigma
        reach, step = ctx.sqrt(2 * nats) * sigma, sigma / per_sigma

        def term(i: Any) -> Any:
            z = step * i - reach
            half = z / sigma
            return ctx.exp(-(half * half / 2)) * value((2 * z - 1) / (2 * sigma**2))

        total = ctx.long_sum(term, (order + 2 * reach) // step)
        return total / (per_sigma * ctx.sqrt(2 * ctx.pi()))

    def integrated(
        self, ctx: MpmathArithmetic, value: Value, alpha: Order, above_one: bool
    ) -> Number:
        mp, scale, order = ctx.mp, ctx.number(self.ratio), ctx.number(alpha)
        if above_one:
            s = 1 / scale
            high = order * s + mp.sqrt(2 * ctx.bits)
            places = mp.linspace(s / 2, high, int(high * (1 + s) / 4) + 4)
            total = quadrature(
                mp,
                lambda x: value(s * x - s * s / 2) * mp.exp(-x * x / 2),
                places,
                method="gauss-legendre",
            )
            return total / mp.sqrt(2 * mp.pi)
        reach = mp.sqrt(2 * ctx.bits) * scale
        last = reach + order
        steps = int(mp.ceil((reach + last) / (2 * scale)))
        if steps > _MOST_STEPS:
            raise PrecisionError(
                f"an integral in mpmath: found {steps:,} steps for noise so small, needed at most "
                f"{_MOST_STEPS:,}",
                remedy="ask the engine ball, or a whole order",
            )
        points = [-reach + (reach + last) * k / steps for k in range(steps + 1)]
        half_square = 2 * scale**2
        total = quadrature(
            mp,
            lambda z: mp.exp(-z * z / half_square) * value((2 * z - 1) / half_square),
            points,
            method="gauss-legendre",
        )
        return total / (scale * mp.sqrt(2 * mp.pi))

    def written(self, value: Value, above_one: bool = False) -> sympy.Expr:
        z, scale = sympy.Dummy("z", real=True), expression(self.ratio)
        if above_one:
            s = 1 / scale
            density = sympy.exp(-(z**2) / 2) / sympy.sqrt(2 * sympy.pi)
            return written.Integral(density * value(s * z - s**2 / 2), (z, s / 2, sympy.oo))
        density = sympy.exp(-(z**2) / (2 * scale**2)) / (sympy.sqrt(2 * sympy.pi) * scale)
        log_ratio = (2 * z - 1) / (2 * scale**2)
        return written.Integral(density * value(log_ratio), (z, -sympy.oo, sympy.oo))


@worst_pair.register
def _(mechanism: Gaussian) -> NormalMeans:
    return NormalMeans(mechanism)


@worst_pair.register
def _(mechanism: ScalarGaussian) -> NormalMeans:
    return NormalMeans(mechanism, is_on_line=True)


@two_laws.register
def _(mechanism: Gaussian) -> tuple[Normal, Normal] | None:
    variance = exact((mechanism.sigma / mechanism.sensitivity) ** 2)
    if not isinstance(variance, Fraction):
        return None
    return Normal(1, variance), Normal(0, variance)


def normal_shift(mechanism: Node) -> NormalMeans | None:
    """The pair of a Gaussian mechanism; None for any other."""
    pair = worst_pair(mechanism)
    return pair if isinstance(pair, NormalMeans) else None


def squared_ratio(mechanism: Node) -> Exact | None:
    """(Δ/σ)² of Gaussian noise, which is the square of its μ; None of anything else."""
    if not isinstance(mechanism, Gaussian):
        return None
    square = (mechanism.sensitivity / mechanism.sigma) ** 2
    return square if isinstance(square, Fraction) else exact(square)  # a fraction of any length


# --- computed sensitivity
#
# What is a Gaussian mechanism of a sensitivity that is worked out and not given.


class ComputedGaussian(Gaussian):
    """Gaussian noise of σ on what one record moves by at most Δ."""

    attained = SWAPPED  # as of any Gaussian

    @property
    def squared_sensitivity(self) -> tuple[Fraction, bool]:
        """Δ², and whether it is attained."""
        raise NotImplementedError

    @property
    def sensitivity(self) -> Exact:  # type: ignore[override]
        """Δ, a fraction wherever it is one."""
        root = sympy.sqrt(expression(self.squared_sensitivity[0]))
        return Fraction(int(root.p), int(root.q)) if isinstance(root, sympy.Rational) else root

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return Kind.EXACT if self.squared_sensitivity[1] else Kind.UPPER

    def symbolic_parameters(self) -> list[sympy.Expr]:
        """The numbers of the pair that are no fractions; what is computed is one of them."""
        return [x for x in (self.sigma, self.sensitivity) if isinstance(x, sympy.Expr)]
