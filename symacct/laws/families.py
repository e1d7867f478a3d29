"""The laws of the common families but the normal ones, and closed forms of D_α in a family."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Self

from symacct.analysis.densities import Kernel, Progression
from symacct.kernel import symbols
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.arithmetic.ball import log_sign
from symacct.kernel.arithmetic.expression import digamma, log_gamma
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, Order, expression, sympy, typed_value
from symacct.kernel.parameters import (
    above_minus_one,
    nonnegative,
    number_of_trials,
    positive,
    probability,
)
from symacct.laws.law import (
    ConstantDirection,
    Direction,
    FamilyDirection,
    FiniteDirection,
    Law,
    kernel_of,
    log_x,
)

# --- closed forms (Gil, Alajaji, Linder 2013)
#
# Closed forms of D_α(P‖Q) in a family (Gil, Alajaji, Linder 2013); ∞ is decided exactly.


def converges(value: Any) -> bool:
    """Is a parameter of a law > 0? An expression is taken to be, as an open order makes it one."""
    return isinstance(value, sympy.Expr) or bool(value > 0)


def affine_combination(alpha: Order, first: Any, second: Any) -> Any:
    """α·first + (1−α)·second of two rationals, exactly; an expression for a symbolic order."""
    if isinstance(alpha, sympy.Expr):
        first, second = (sympy.Rational(v.numerator, v.denominator) for v in (first, second))
        return alpha * first + (1 - alpha) * second
    return Fraction(alpha) * first + (1 - Fraction(alpha)) * second


@dataclass(frozen=True)
class RateDirection(FamilyDirection):
    """Exponential laws whose rates have the ratio ρ = base^power, Q's to P's:

    D_α = −log ρ − log(α + (1−α)ρ)/(α−1), ∞ where ρ >= α/(α−1).
    """

    base: Fraction
    power: Fraction

    def _log_ratio(self, ctx: Arithmetic) -> Number:
        return ctx.number(self.power) * ctx.log1p(ctx.number(self.base - 1))

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ −log ρ − log(α + (1−α)ρ)/(α−1), ∞ where ρ >= α/(α−1)"""
        log_ratio = self._log_ratio(ctx)

        def rdp(alpha: Order) -> Any:
            if not self._converges(alpha):
                return ctx.number(INFINITY)
            lam = ctx.number(alpha) - 1
            return -log_ratio - ctx.log1p(-lam * ctx.expm1(log_ratio)) / lam

        return rdp

    def _converges(self, alpha: Order) -> bool:
        """Is ρ < α/(α−1), decided exactly? A symbolic order is taken to make it so."""
        if isinstance(alpha, sympy.Expr) or alpha < 1:
            return True
        edge = Fraction(alpha) / (Fraction(alpha) - 1)
        return log_sign(self.power, self.base, Fraction(-1), edge) < 0

    def at_one(self, ctx: Arithmetic) -> Number:
        """ρ − 1 − log ρ"""
        log_ratio = self._log_ratio(ctx)
        return ctx.expm1(log_ratio) - log_ratio

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """−log ρ, ∞ for ρ > 1"""
        if log_sign(self.power, self.base, Fraction(0), Fraction(1)) > 0:
            return ctx.number(INFINITY)
        return -self._log_ratio(ctx)

    def moment(self, l: int) -> Fraction | None:
        """ρ^{1−l}/(l + (1−l)ρ); None where ρ is irrational or the moment infinite."""
        if self.power.denominator != 1 or not self._converges(l):
            return None
        ratio = self.base ** int(self.power)
        return ratio ** (1 - l) / (l + (1 - l) * ratio)


@dataclass(frozen=True)
class NaturalDirection(FamilyDirection):
    """Laws of density ∝ e^{η·T} with the log-normalizer Z, η* = αη₁ + (1−α)η₂:

    D_α = Z(η₂) − Z(η₁) + (Z(η*) − Z(η₁))/(α−1), ∞ where an entry of η* is not positive and η* is
    no parameter, so that Z is infinite.
    """

    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]

    def normalizer(self, ctx: Arithmetic, eta: tuple[Any, ...]) -> Number:
        """The log-normalizer Z(η) = log ∫ e^{η·T}, η > 0."""
        raise NotImplementedError

    def means(self, ctx: Arithmetic, eta: tuple[Any, ...]) -> tuple[Any, ...]:
        """E_η[T], the gradient of Z at η."""
        raise NotImplementedError

    def peak(self, ctx: Arithmetic, slopes: tuple[Fraction, ...]) -> Number:
        """sup slopes·T over the support, ∞ where there is none, for slopes that are not all 0."""
        raise NotImplementedError

    def _numbers(self, ctx: Arithmetic) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return tuple(map(ctx.number, self.first)), tuple(map(ctx.number, self.second))

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ Z(η₂) − Z(η₁) + (Z(η*) − Z(η₁))/(α−1), ∞ where η* is no parameter"""
        log_total, other_log_total = (self.normalizer(ctx, eta) for eta in self._numbers(ctx))

        def rdp(alpha: Order) -> Any:
            eta = [
                affine_combination(alpha, a, b)
                for a, b in zip(self.first, self.second, strict=True)
            ]
            if not all(map(converges, eta)):
                return ctx.number(INFINITY)
            between = self.normalizer(ctx, tuple(map(ctx.number, eta)))
            return other_log_total - log_total + (between - log_total) / (ctx.number(alpha) - 1)

        return rdp

    def at_one(self, ctx: Arithmetic) -> Number:
        """Z(η₂) − Z(η₁) + (η₁ − η₂)·E_{η₁}[T]"""
        first, second = self._numbers(ctx)
        total = self.normalizer(ctx, second) - self.normalizer(ctx, first)
        for a, b, mean in zip(first, second, self.means(ctx, first), strict=True):
            total = total + (a - b) * mean
        return total

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """Z(η₂) − Z(η₁) + sup (η₁ − η₂)·T over the support"""
        slopes = tuple(a - b for a, b in zip(self.first, self.second, strict=True))
        if not any(slopes):
            return ctx.number(0)
        first, second = self._numbers(ctx)
        top = self.peak(ctx, slopes)
        if ctx.is_infinite(top):
            return top
        return self.normalizer(ctx, second) - self.normalizer(ctx, first) + top


class GammaDirection(NaturalDirection):
    """Gamma laws of shape k and rate β, η = (k, β), T = (log x, −x), Z = log Γ(k) − k log β."""

    def normalizer(self, ctx: Arithmetic, eta: tuple[Any, ...]) -> Number:
        """log Γ(shape) − shape·log(rate)"""
        shape, rate = eta
        return log_gamma(ctx, shape) - shape * ctx.log(rate)

    def means(self, ctx: Arithmetic, eta: tuple[Any, ...]) -> tuple[Any, ...]:
        """ψ(shape) − log(rate) and −shape/rate, those of log x and −x"""
        shape, rate = eta
        return digamma(ctx, shape) - ctx.log(rate), -(shape / rate)

    def peak(self, ctx: Arithmetic, slopes: tuple[Fraction, ...]) -> Number:
        """s log x − tx is largest at x = s/t; at 0 where s = 0 <= t."""
        s, t = slopes
        if s < 0 or t < 0 or (t == 0 and s > 0):
            return ctx.number(INFINITY)
        return ctx.number(s) * (ctx.log(ctx.number(s / t)) - 1) if s else ctx.number(0)


class BetaDirection(NaturalDirection):
    """Beta laws, η = (a, b), T = (log x, log(1−x)), Z = log B(a, b)."""

    def normalizer(self, ctx: Arithmetic, eta: tuple[Any, ...]) -> Number:
        """log B(a, b)"""
        a, b = eta
        return log_gamma(ctx, a) + log_gamma(ctx, b) - log_gamma(ctx, a + b)

    def means(self, ctx: Arithmetic, eta: tuple[Any, ...]) -> tuple[Any, ...]:
        """ψ(a) − ψ(a+b) and ψ(b) − ψ(a+b), those of log x and log(1−x)"""
        a, b = eta
        return digamma(ctx, a) - digamma(ctx, a + b), digamma(ctx, b) - digamma(ctx, a + b)

    def peak(self, ctx: Arithmetic, slopes: tuple[Fraction, ...]) -> Number:
        """s log x + t log(1−x) is largest at x = s/(s+t)."""
        if min(slopes) < 0:
            return ctx.number(INFINITY)
        logs = [
            ctx.number(s) * ctx.log(ctx.number(s / (slopes[0] + slopes[1]))) for s in slopes if s
        ]
        return sum(logs, ctx.number(0))


def laplace_excess(ctx: Arithmetic, s: Number) -> Callable[[Order], Number]:
    """α ↦ e^{(α−1)D_α} − 1 of two Laplace laws s scales apart, for α > ½:

    ( α(e^{(α−1)s} − 1) + (α−1)(e^{−αs} − 1) )/(2α−1).
    """

    def excess(alpha: Order) -> Any:
        alpha = ctx.number(alpha)
        # The weights α/(2α−1) and (α−1)/(2α−1) sum to 1: expm1 keeps what exceeds 1.
        rise = alpha * ctx.expm1((alpha - 1) * s) + (alpha - 1) * ctx.expm1(-alpha * s)
        return rise / (2 * alpha - 1)

    return excess


@dataclass(frozen=True)
class LaplaceDirection(Direction):
    """Laplace laws of one scale, shift = |μ₁ − μ₂|/b: the curve of Laplace noise."""

    shift: Fraction

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ log(1 + excess of Laplace noise at s)/(α−1)"""
        excess = laplace_excess(ctx, ctx.number(self.shift))
        return lambda alpha: ctx.log1p(excess(alpha)) / (ctx.number(alpha) - 1)

    def at_one(self, ctx: Arithmetic) -> Number:
        """s − 1 + e^{−s}"""
        s = ctx.number(self.shift)
        return s + ctx.expm1(-s)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """s"""
        return ctx.number(self.shift)


@dataclass(frozen=True)
class PoissonDirection(FamilyDirection):
    """Poisson laws: D_α = ( λ₁^α λ₂^{1−α} − αλ₁ − (1−α)λ₂ )/(α−1), always finite."""

    first: Fraction
    second: Fraction

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ λ₁(e^{(α−1) log(λ₁/λ₂)} − 1)/(α−1) − (λ₁ − λ₂)"""
        rate, rise, log_ratio = self._constants(ctx)

        def rdp(alpha: Order) -> Any:
            lam = ctx.number(alpha) - 1
            # λ₁^α λ₂^{1−α} − λ₁ = λ₁(e^{(α−1) log(λ₁/λ₂)} − 1).
            return rate * ctx.expm1(lam * log_ratio) / lam - rise

        return rdp

    def _constants(self, ctx: Arithmetic) -> tuple[Any, Any, Any]:
        """λ₁, λ₁ − λ₂ and log(λ₁/λ₂)."""
        rise = self.first - self.second
        log_ratio = ctx.log1p(ctx.number(rise / self.second))
        return ctx.number(self.first), ctx.number(rise), log_ratio

    def at_one(self, ctx: Arithmetic) -> Number:
        """λ₁ log(λ₁/λ₂) − (λ₁ − λ₂)"""
        rate, rise, log_ratio = self._constants(ctx)
        return rate * log_ratio - rise

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """λ₂ − λ₁, the log-ratio k log(λ₁/λ₂) + λ₂ − λ₁ at k = 0; ∞ for λ₁ > λ₂, where it grows."""
        if self.first > self.second:
            return ctx.number(INFINITY)
        return ctx.number(self.second - self.first)


@dataclass(frozen=True)
class GeometricDirection(FamilyDirection):
    """One geometric law from another, with x = 1−p.

    D_α = log(p₁/p₂) + ( log p₁ − log(1 − x₁^α x₂^{1−α}) )/(α−1), ∞ where x₁^α x₂^{1−α} >= 1.
    """

    first: Fraction
    second: Fraction

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ D_α of the two laws, ∞ where the sum Σ p^α q^{1−α} diverges"""
        gain, log_p, log_x, log_y = self._constants(ctx)

        def rdp(alpha: Order) -> Any:
            if not self._converges(alpha):
                return ctx.number(INFINITY)
            lam = ctx.number(alpha) - 1
            exponent = log_x + lam * (log_x - log_y)
            return gain + (log_p - ctx.log(-ctx.expm1(exponent))) / lam

        return rdp

    def _constants(self, ctx: Arithmetic) -> tuple[Any, Any, Any, Any]:
        """log(p₁/p₂), log p₁, log x₁, log x₂."""
        p, q = self.first, self.second
        gain = ctx.log1p(ctx.number((p - q) / q))
        logs = [ctx.log(ctx.number(value)) for value in (p, 1 - p, 1 - q)]
        return gain, logs[0], logs[1], logs[2]

    def _converges(self, alpha: Order) -> bool:
        """Is x₁^α x₂^{1−α} < 1, decided exactly? A symbolic order is taken to make it so."""
        if isinstance(alpha, sympy.Expr):
            return True
        a = Fraction(alpha)
        return log_sign(a, 1 - self.first, 1 - a, 1 - self.second) < 0

    def at_one(self, ctx: Arithmetic) -> Number:
        """log(p₁/p₂) + (1−p₁)/p₁ · log((1−p₁)/(1−p₂))"""
        gain, _, log_x, log_y = self._constants(ctx)
        return gain + ctx.number((1 - self.first) / self.first) * (log_x - log_y)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """log(p₁/p₂), the log-ratio at 0, a line in the outcome; ∞ for p₁ < p₂, where it grows."""
        if self.first < self.second:
            return ctx.number(INFINITY)
        return self._constants(ctx)[0]

    def moment(self, l: int) -> Fraction | None:
        """p₁^l p₂^{1−l}/(1 − x₁^l x₂^{1−l}); None where the moment is infinite."""
        if not self._converges(l):
            return None
        p, q = self.first, self.second
        return p**l * q ** (1 - l) / (1 - (1 - p) ** l * (1 - q) ** (1 - l))


@dataclass(frozen=True)
class BinomialDirection(FamilyDirection):
    """Binomial laws of n trials each: n times D_α of one trial."""

    n: Fraction
    first: Fraction
    second: Fraction

    @property
    def _trial(self) -> FiniteDirection:
        return FiniteDirection(((self.first, self.second), (1 - self.first, 1 - self.second)))

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ n times that of one trial"""
        n, trial = ctx.number(self.n), self._trial.curve(ctx)
        return lambda alpha: n * trial(alpha)

    def at_one(self, ctx: Arithmetic) -> Number:
        """n times that of one trial."""
        return ctx.number(self.n) * self._trial.at_one(ctx)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """n times that of one trial."""
        return ctx.number(self.n) * self._trial.at_infinity(ctx)

    def below_one(self, ctx: Arithmetic, alpha: Order) -> Number:
        """n times that of one trial."""
        return ctx.number(self.n) * self._trial.below_one(ctx, alpha)


def log_of_rate(ctx: Arithmetic, gamma: Fraction) -> Number:
    """log γ, by log1p(γ−1) for γ > ½, because arithmetics that round may make γ 1.

    γ may also be an array of floats, as in the search for counterexamples; its logarithm is taken.
    """
    if isinstance(gamma, Fraction) and 2 * gamma > 1:
        return ctx.log1p(ctx.number(gamma - 1))
    return ctx.log(ctx.number(gamma))


@dataclass(frozen=True)
class TruncatedNegativeBinomialDirection(FamilyDirection):
    """Truncated negative binomial laws of one η, x = 1−γ, with A(x) = Σ_{k>=1} w_k x^k:

    D_α = ( log A(x₁^α x₂^{1−α}) − α log A(x₁) − (1−α) log A(x₂) )/(α−1), ∞ where the sum diverges.
    """

    eta: Fraction
    first: Fraction
    second: Fraction

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ log(A(y)/A(x)) + log(A(xe^{(α−1) log(x/y)})/A(x))/(α−1), ∞ where A is"""
        log_x, log_y, total, other = self._constants(ctx)
        gain = ctx.log(other / total)

        def rdp(alpha: Order) -> Any:
            sign = self._sign(alpha)
            if sign > 0 or (sign == 0 and self.eta >= 0):
                return ctx.number(INFINITY)
            lam = ctx.number(alpha) - 1
            exponent = log_x + lam * (log_x - log_y)
            if sign == 0:
                return gain + ctx.log(ctx.number(-1 / self.eta) / total) / lam  # A(1) = −1/η
            few = 2 * self.first > 1 and 2 * self.second > 1
            rest = ctx.log1p(-ctx.exp(exponent)) if few else ctx.log(-ctx.expm1(exponent))
            return gain + ctx.log(self._total(ctx, rest) / total) / lam

        return rdp

    def _constants(self, ctx: Arithmetic) -> tuple[Any, Any, Any, Any]:
        """log x₁, log x₂, A(x₁), A(x₂)."""
        gammas = self.first, self.second
        log_x, log_y = (log_of_rate(ctx, 1 - gamma) for gamma in gammas)
        total, other = (self._total(ctx, log_of_rate(ctx, gamma)) for gamma in gammas)
        return log_x, log_y, total, other

    def _total(self, ctx: Arithmetic, log_gamma: Number) -> Number:
        """A(1−γ) = (γ^{−η} − 1)/η from log γ, log(1/γ) for η = 0."""
        if self.eta == 0:
            return -log_gamma
        eta = ctx.number(self.eta)
        return ctx.expm1(-(eta * log_gamma)) / eta

    def _sign(self, alpha: Order) -> int:
        """The sign of log(x₁^α x₂^{1−α}), exactly; −1 for a symbolic order, as if it converged."""
        if isinstance(alpha, sympy.Expr):
            return -1
        a = Fraction(alpha)
        return log_sign(a, 1 - self.first, 1 - a, 1 - self.second)

    def at_one(self, ctx: Arithmetic) -> Number:
        """log(A(y)/A(x)) + E[K] log(x/y), E[K] = xγ^{−η−1}/A(x)"""
        log_x, log_y, total, other = self._constants(ctx)
        gamma = ctx.number(self.first)
        # E[K] = x γ^{−η−1}/A(x)
        power = ctx.exp(-ctx.number(self.eta + 1) * ctx.log(gamma))
        mean = ctx.number(1 - self.first) * power / total
        return ctx.log(other / total) + mean * (log_x - log_y)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """The log-ratio at k = 1, as it is a line in k; ∞ for γ₁ < γ₂, where it grows."""
        if self.first < self.second:
            return ctx.number(INFINITY)
        log_x, log_y, total, other = self._constants(ctx)
        return ctx.log(other / total) + log_x - log_y


# --- the families
#
# The laws of the common families but the normal ones, for pairs of two laws of one family.

#: A binomial law of more trials does not list its probabilities: its closed form answers. Both are
#: exact: it costs time and memory.
_MOST_TRIALS = 256
#: A binomial law of which a probability would have more bits than this does not list them: its
#: closed form answers. Both are exact: it costs time and memory.
_MOST_PROBABILITY_BITS = 2**15


@dataclass(frozen=True, repr=False)
class Bernoulli(Law, p=nonnegative):
    """1 with probability p, else 0; 0 <= p <= 1."""

    p: Any

    def __post_init__(self) -> None:
        """Refuse a p above 1 by DomainError."""
        super().__post_init__()
        if self.p > 1:
            raise DomainError(f"Bernoulli, p: found {echo(self.p)}, needed 0 <= p <= 1")

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """p and 1 − p."""
        return self.p, 1 - self.p


@dataclass(frozen=True, repr=False)
class Binomial(Law, n=number_of_trials, theta=probability):
    """k = 0, …, n with probability C(n,k) θ^k (1−θ)^{n−k}, n >= 1 trials and 0 < θ < 1.

    Both laws of a pair have one n.
    """

    n: Any
    theta: Any
    _shared = "n"

    @property
    def probabilities(self) -> tuple[Fraction, ...] | None:
        """The probabilities of 0, …, n; None for many trials, where the closed form answers."""
        bits = self.n * self.theta.denominator.bit_length()
        if self.n > _MOST_TRIALS or bits > _MOST_PROBABILITY_BITS:
            return None
        n, theta = int(self.n), self.theta
        return tuple(math.comb(n, k) * theta**k * (1 - theta) ** (n - k) for k in range(n + 1))

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.theta + other.theta == 1)  # by k ↦ n − k

    def against(self, other: Self) -> Direction:
        """The direction of two binomial laws of one n."""
        return BinomialDirection(self.n, self.theta, other.theta)


@dataclass(frozen=True, repr=False)
class Exponential(Law, rate=positive):
    """Density λe^{−λx} on x >= 0, of rate λ > 0."""

    rate: Any

    @property
    def kernel(self) -> Kernel:
        """e^{−rate·x} on x > 0"""
        (rate,) = self.expressions
        return kernel_of(-rate * symbols.x, 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        """−log(rate)"""
        return -ctx.log(ctx.number(self.rate))

    def against(self, other: Self) -> Direction:
        """The direction of two exponential laws, by the ratio of their rates."""
        return RateDirection(other.rate / self.rate, Fraction(1))


@dataclass(frozen=True, repr=False)
class Weibull(Law, shape=positive, scale=positive):
    """(X/scale)^shape is Exponential(1); both laws of a pair have one shape."""

    shape: Any
    scale: Any = 1
    _shared = "shape"

    @property
    def kernel(self) -> Kernel:
        """x^{shape−1} e^{−(x/scale)^shape} on x > 0"""
        shape, scale = self.expressions
        return kernel_of((shape - 1) * log_x() - (symbols.x / scale) ** shape, 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        """shape·log(scale) − log(shape)"""
        shape, scale = ctx.number(self.shape), ctx.number(self.scale)
        return shape * ctx.log(scale) - ctx.log(shape)

    def against(self, other: Self) -> Direction:
        # X^shape is exponential with the rate scale^{−shape}.
        return RateDirection(self.scale / other.scale, self.shape)


@dataclass(frozen=True, repr=False)
class Rayleigh(Law, sigma=positive):
    """Density (x/σ²)e^{−x²/(2σ²)} on x >= 0, so that X² is exponential with the rate 1/(2σ²)."""

    sigma: Any

    @property
    def kernel(self) -> Kernel:
        """x e^{−x²/(2σ²)} on x > 0"""
        (sigma,) = self.expressions
        return kernel_of(log_x() - symbols.x**2 / (2 * sigma**2), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        """log σ²"""
        return 2 * ctx.log(ctx.number(self.sigma))

    def against(self, other: Self) -> Direction:
        """X² is exponential with the rate 1/(2σ²)."""
        return RateDirection(self.sigma / other.sigma, Fraction(2))


@dataclass(frozen=True, repr=False)
class Pareto(Law, shape=positive, start=positive):
    """Density a m^a/x^{a+1} on x >= m, shape a and start m; both laws of a pair start at one m."""

    shape: Any
    start: Any = 1
    _shared = "start"

    @property
    def kernel(self) -> Kernel:
        """x^{−shape−1} on x > start"""
        shape, _ = self.expressions
        return kernel_of(-(shape + 1) * log_x(), self.start)

    def log_total(self, ctx: Arithmetic) -> Number:
        """−shape·log(start) − log(shape)"""
        shape = ctx.number(self.shape)
        return -(shape * ctx.log(ctx.number(self.start))) - ctx.log(shape)

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
        """x^{shape−1} e^{−rate·x} on x > 0"""
        shape, rate = self.expressions
        return kernel_of((shape - 1) * log_x() - rate * symbols.x, 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        """log Γ(shape) − shape·log(rate)"""
        shape = ctx.number(self.shape)
        return log_gamma(ctx, shape) - shape * ctx.log(ctx.number(self.rate))

    def against(self, other: Self) -> Direction:
        """The direction of two gamma laws, of the exponential family."""
        return GammaDirection((self.shape, self.rate), (other.shape, other.rate))


@dataclass(frozen=True, repr=False)
class Chi(Law, degrees=positive, sigma=positive):
    """σ times the length of a standard normal vector of k dimensions; any real k > 0."""

    degrees: Any
    sigma: Any = 1

    @property
    def kernel(self) -> Kernel:
        """x^{k−1} e^{−x²/(2σ²)} on x > 0, k the degrees"""
        degrees, sigma = self.expressions
        return kernel_of((degrees - 1) * log_x() - symbols.x**2 / (2 * sigma**2), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        """log ∫ x^{k−1} e^{−x²/(2σ²)} dx = log(Γ(k/2) (2σ²)^{k/2}/2)"""
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
        """x^{a−1} (1−x)^{b−1} on (0, 1)"""
        a, b = self.expressions
        return kernel_of((a - 1) * log_x() + (b - 1) * sympy.log(1 - symbols.x), 0, 1)

    def log_total(self, ctx: Arithmetic) -> Number:
        """log B(a, b)"""
        a, b = ctx.number(self.a), ctx.number(self.b)
        return log_gamma(ctx, a) + log_gamma(ctx, b) - log_gamma(ctx, a + b)

    def is_swapped_with(self, other: Self) -> bool:
        return (self.a, self.b) == (other.b, other.a)  # by x ↦ 1 − x

    def against(self, other: Self) -> Direction:
        """The direction of two beta laws, of the exponential family."""
        return BetaDirection((self.a, self.b), (other.a, other.b))


@dataclass(frozen=True, repr=False)
class Uniform(Law, low=typed_value, high=typed_value):
    """Uniform on low <= x <= high."""

    low: Any
    high: Any

    def __post_init__(self) -> None:
        """Refuse an empty interval by DomainError."""
        super().__post_init__()
        if self.low >= self.high:
            raise DomainError(
                f"Uniform: found {echo(self.low)} and {echo(self.high)}, needed low < high"
            )

    @property
    def kernel(self) -> Kernel:
        """1 on (low, high)"""
        return kernel_of(sympy.Integer(0), self.low, self.high)

    def log_total(self, ctx: Arithmetic) -> Number:
        """log(high − low)"""
        return ctx.log(ctx.number(self.high - self.low))

    def masses_against(self, other: Self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        """(p, q) of the pieces that the four ends cut the line into; None for another family."""
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
        """The constant ratio of the lengths where this interval lies in the other one, else ∞."""
        if other.low <= self.low and self.high <= other.high:
            return ConstantDirection((other.high - other.low) / (self.high - self.low))
        return ConstantDirection(INFINITY)


@dataclass(frozen=True, repr=False)
class Poisson(Law, rate=positive):
    """k = 0, 1, … with probability e^{−λ}λ^k/k!."""

    rate: Any

    @property
    def log_progression(self) -> Progression:
        """log of e^{−λ} λ^k/k!, by its first term and the ratio of terms."""
        return Progression(-expression(self.rate), self.rate, factorial=True)

    def against(self, other: Self) -> Direction:
        """The direction of two Poisson laws."""
        return PoissonDirection(self.rate, other.rate)


@dataclass(frozen=True, repr=False)
class Geometric(Law, p=probability):
    """k = 0, 1, … with probability p(1−p)^k, 0 < p < 1."""

    p: Any

    @property
    def log_progression(self) -> Progression:
        """log of p(1−p)^k, by its first term and the ratio of terms."""
        return Progression(sympy.log(expression(self.p)), 1 - self.p, factorial=False)

    def against(self, other: Self) -> Direction:
        """The direction of two geometric laws."""
        return GeometricDirection(self.p, other.p)


@dataclass(frozen=True, repr=False)
class TruncatedNegativeBinomial(Law, eta=above_minus_one, gamma=probability):
    """k = 1, 2, … with probability ∝ (1−γ)^k η(η+1)…(η+k−1)/k!, η > −1 and 0 < γ < 1.

    η = 1 is the geometric law from 1 on; η = 0 the logarithmic one, ∝ (1−γ)^k/k.
    """

    eta: Any
    gamma: Any
    _shared = "eta"

    def against(self, other: Self) -> Direction:
        """The direction of two such laws of one η."""
        return TruncatedNegativeBinomialDirection(self.eta, self.gamma, other.gamma)


@dataclass(frozen=True, repr=False)
class Laplace(Law, mean=typed_value, scale=positive):
    """Density e^{−|x−mean|/scale}/(2·scale)."""

    mean: Any
    scale: Any = 1
    _shared = "scale"

    @property
    def kernel(self) -> Kernel:
        """e^{−|x−μ|/b}"""
        mean, scale = self.expressions
        return kernel_of(-sympy.Abs(symbols.x - mean) / scale)

    def log_total(self, ctx: Arithmetic) -> Number:
        """log(2b)"""
        return ctx.log(ctx.number(2 * self.scale))

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.scale == other.scale)  # by x ↦ μ₁ + μ₂ − x

    def against(self, other: Self) -> Direction:
        """The direction of two Laplace laws of one scale, by their distance."""
        return LaplaceDirection(abs(self.mean - other.mean) / self.scale)
