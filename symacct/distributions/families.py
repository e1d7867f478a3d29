"""The laws of the common families but the normal ones, for pairs of two laws of one family."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Self

from symacct.analysis.densities import Kernel, Progression
from symacct.distributions.closed_forms import (
    BetaDirection,
    BinomialDirection,
    GammaDirection,
    GeometricDirection,
    LaplaceDirection,
    PoissonDirection,
    RateDirection,
    TruncatedNegativeBinomialDirection,
)
from symacct.distributions.direction import ConstantDirection, Direction
from symacct.distributions.law import Law, kernel_of, log_x
from symacct.kernel import symbols
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.arithmetic.expression import log_gamma
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, expression, sympy, typed_value
from symacct.kernel.parameters import (
    above_minus_one,
    nonnegative,
    number_of_trials,
    positive,
    probability,
)

_MOST_TRIALS, _MOST_BITS = 256, 2**15  # of a binomial law whose outcomes are all listed


@dataclass(frozen=True, repr=False)
class Bernoulli(Law, p=nonnegative):
    """1 with probability p, else 0; 0 <= p <= 1."""

    p: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p > 1:
            raise DomainError(f"Bernoulli, p: found {echo(self.p)}, needed 0 <= p <= 1")

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        return self.p, 1 - self.p


@dataclass(frozen=True, repr=False)
class Binomial(Law, n=number_of_trials, theta=probability):
    """k = 0, …, n with probability C(n,k) θ^k (1−θ)^{n−k}, n >= 1 trials and 0 < θ < 1.

    Both laws of a pair have one n.
    """

    n: Any
    theta: Any

    @property
    def probabilities(self) -> tuple[Fraction, ...] | None:
        """Of few trials; of more the closed form does."""
        if self.n > _MOST_TRIALS or self.n * self.theta.denominator.bit_length() > _MOST_BITS:
            return None
        n, theta = int(self.n), self.theta
        return tuple(math.comb(n, k) * theta**k * (1 - theta) ** (n - k) for k in range(n + 1))

    def why_no_closed_form(self, other: Self) -> str | None:
        return None if self.n == other.n else "one n for both"

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.theta + other.theta == 1)  # by k ↦ n − k

    def against(self, other: Self) -> Direction:
        return BinomialDirection(self.n, self.theta, other.theta)


@dataclass(frozen=True, repr=False)
class Exponential(Law, rate=positive):
    """Density λe^{−λx} on x >= 0, of rate λ > 0."""

    rate: Any

    @property
    def kernel(self) -> Kernel:
        (rate,) = self.expressions
        return kernel_of(-rate * symbols.x, 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        return -ctx.log(ctx.number(self.rate))

    def against(self, other: Self) -> Direction:
        return RateDirection(other.rate / self.rate, Fraction(1))


@dataclass(frozen=True, repr=False)
class Weibull(Law, shape=positive, scale=positive):
    """(X/scale)^shape is Exponential(1); both laws of a pair have one shape."""

    shape: Any
    scale: Any = 1

    @property
    def kernel(self) -> Kernel:
        shape, scale = self.expressions
        return kernel_of((shape - 1) * log_x() - (symbols.x / scale) ** shape, 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        shape, scale = ctx.number(self.shape), ctx.number(self.scale)
        return shape * ctx.log(scale) - ctx.log(shape)

    def why_no_closed_form(self, other: Self) -> str | None:
        return None if self.shape == other.shape else "one shape for both"

    def against(self, other: Self) -> Direction:
        # X^shape is exponential with the rate scale^{−shape}.
        return RateDirection(self.scale / other.scale, self.shape)


@dataclass(frozen=True, repr=False)
class Rayleigh(Law, sigma=positive):
    """Density (x/σ²)e^{−x²/(2σ²)} on x >= 0, so that X² is exponential with the rate 1/(2σ²)."""

    sigma: Any

    @property
    def kernel(self) -> Kernel:
        (sigma,) = self.expressions
        return kernel_of(log_x() - symbols.x**2 / (2 * sigma**2), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        return 2 * ctx.log(ctx.number(self.sigma))

    def against(self, other: Self) -> Direction:
        return RateDirection(self.sigma / other.sigma, Fraction(2))


@dataclass(frozen=True, repr=False)
class Pareto(Law, shape=positive, start=positive):
    """Density a m^a/x^{a+1} on x >= m, shape a and start m; both laws of a pair start at one m."""

    shape: Any
    start: Any = 1

    @property
    def kernel(self) -> Kernel:
        shape, _ = self.expressions
        return kernel_of(-(shape + 1) * log_x(), self.start)

    def log_total(self, ctx: Arithmetic) -> Number:
        shape = ctx.number(self.shape)
        return -(shape * ctx.log(ctx.number(self.start))) - ctx.log(shape)

    def why_no_closed_form(self, other: Self) -> str | None:
        return None if self.start == other.start else "one start for both"

    def against(self, other: Self) -> Direction:
        # log(X/m) is exponential with the rate a.
        return RateDirection(other.shape / self.shape, Fraction(1))


@dataclass(frozen=True, repr=False)
class Gamma(Law, shape=positive, rate=positive):
    """Density β^k x^{k−1}e^{−βx}/Γ(k) on x > 0, shape k and rate β."""

    shape: Any
    rate: Any = 1

    @property
    def kernel(self) -> Kernel:
        shape, rate = self.expressions
        return kernel_of((shape - 1) * log_x() - rate * symbols.x, 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        shape = ctx.number(self.shape)
        return log_gamma(ctx, shape) - shape * ctx.log(ctx.number(self.rate))

    def against(self, other: Self) -> Direction:
        return GammaDirection((self.shape, self.rate), (other.shape, other.rate))


@dataclass(frozen=True, repr=False)
class Chi(Law, degrees=positive, sigma=positive):
    """σ times the length of a standard normal vector of k dimensions; any real k > 0."""

    degrees: Any
    sigma: Any = 1

    @property
    def kernel(self) -> Kernel:
        degrees, sigma = self.expressions
        return kernel_of((degrees - 1) * log_x() - symbols.x**2 / (2 * sigma**2), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        half = ctx.number(self.degrees / 2)
        scale = half * ctx.log(ctx.number(2 * self.sigma**2)) - ctx.log(ctx.number(2))
        return log_gamma(ctx, half) + scale

    def against(self, other: Self) -> Direction:
        # X² is a gamma law of shape k/2 and rate 1/(2σ²).
        return GammaDirection(*((law.degrees / 2, 1 / (2 * law.sigma**2)) for law in (self, other)))


@dataclass(frozen=True, repr=False)
class Beta(Law, a=positive, b=positive):
    """Density ∝ x^{a−1}(1−x)^{b−1} on 0 < x < 1."""

    a: Any
    b: Any

    @property
    def kernel(self) -> Kernel:
        a, b = self.expressions
        return kernel_of((a - 1) * log_x() + (b - 1) * sympy.log(1 - symbols.x), 0, 1)

    def log_total(self, ctx: Arithmetic) -> Number:
        a, b = ctx.number(self.a), ctx.number(self.b)
        return log_gamma(ctx, a) + log_gamma(ctx, b) - log_gamma(ctx, a + b)

    def is_swapped_with(self, other: Self) -> bool:
        return (self.a, self.b) == (other.b, other.a)  # by x ↦ 1 − x

    def against(self, other: Self) -> Direction:
        return BetaDirection((self.a, self.b), (other.a, other.b))


@dataclass(frozen=True, repr=False)
class Uniform(Law, low=typed_value, high=typed_value):
    """Uniform on low <= x <= high."""

    low: Any
    high: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low >= self.high:
            raise DomainError(
                f"Uniform: found {echo(self.low)} and {echo(self.high)}, needed low < high"
            )

    @property
    def kernel(self) -> Kernel:
        return kernel_of(sympy.Integer(0), self.low, self.high)

    def log_total(self, ctx: Arithmetic) -> Number:
        return ctx.log(ctx.number(self.high - self.low))

    def masses_against(self, other: Self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        """On the pieces of the line that the four ends cut out."""
        if not isinstance(other, Uniform):
            return None
        cuts = sorted({self.low, self.high, other.low, other.high})
        pieces = [(b - a, (a + b) / 2) for a, b in pairwise(cuts)]
        shares = [
            tuple(
                width / (law.high - law.low) if law.low < middle < law.high else Fraction(0)
                for law in (self, other)
            )
            for width, middle in pieces
        ]
        return tuple((p, q) for p, q in shares)

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.high - self.low == other.high - other.low)  # by x ↦ low₁ + high₂ − x

    def against(self, other: Self) -> Direction:
        if other.low <= self.low and self.high <= other.high:
            return ConstantDirection((other.high - other.low) / (self.high - self.low))
        return ConstantDirection(INFINITY)


@dataclass(frozen=True, repr=False)
class Poisson(Law, rate=positive):
    """k = 0, 1, … with probability e^{−λ}λ^k/k!."""

    rate: Any

    @property
    def log_progression(self) -> Progression:
        return Progression(-expression(self.rate), self.rate, factorial=True)

    def against(self, other: Self) -> Direction:
        return PoissonDirection(self.rate, other.rate)


@dataclass(frozen=True, repr=False)
class Geometric(Law, p=probability):
    """k = 0, 1, … with probability p(1−p)^k, 0 < p < 1."""

    p: Any

    @property
    def log_progression(self) -> Progression:
        return Progression(sympy.log(expression(self.p)), 1 - self.p, factorial=False)

    def against(self, other: Self) -> Direction:
        return GeometricDirection(self.p, other.p)


@dataclass(frozen=True, repr=False)
class TruncatedNegativeBinomial(Law, eta=above_minus_one, gamma=probability):
    """k = 1, 2, … with probability ∝ (1−γ)^k η(η+1)…(η+k−1)/k!, η > −1 and 0 < γ < 1.

    η = 1 is the geometric law from 1 on; η = 0 the logarithmic one, ∝ (1−γ)^k/k.
    """

    eta: Any
    gamma: Any

    def why_no_closed_form(self, other: Self) -> str | None:
        return None if self.eta == other.eta else "one eta for both"

    def against(self, other: Self) -> Direction:
        return TruncatedNegativeBinomialDirection(self.eta, self.gamma, other.gamma)


@dataclass(frozen=True, repr=False)
class Laplace(Law, mean=typed_value, scale=positive):
    """Density e^{−|x−mean|/scale}/(2·scale)."""

    mean: Any
    scale: Any = 1

    @property
    def kernel(self) -> Kernel:
        mean, scale = self.expressions
        return kernel_of(-sympy.Abs(symbols.x - mean) / scale)

    def log_total(self, ctx: Arithmetic) -> Number:
        return ctx.log(ctx.number(2 * self.scale))

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.scale == other.scale)  # by x ↦ μ₁ + μ₂ − x

    def why_no_closed_form(self, other: Self) -> str | None:
        return None if self.scale == other.scale else "one scale for both"

    def against(self, other: Self) -> Direction:
        return LaplaceDirection(abs(self.mean - other.mean) / self.scale)
