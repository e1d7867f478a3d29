"""The laws of the common families, for pairs of two laws of one family."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Self

import sympy

from symacct import doors, sizes
from symacct.arithmetic import Arithmetic, Number
from symacct.arithmetic.special import log_gamma
from symacct.domains import nonnegative, positive, probability
from symacct.errors import DomainError, echo
from symacct.exact import INFINITY, Exact, exact, expression
from symacct.integrals.discrete import Progression
from symacct.integrals.jets import X
from symacct.integrals.sides import Kernel
from symacct.mechanisms.closed_forms import (
    BetaDirection,
    GammaDirection,
    GeometricDirection,
    LaplaceDirection,
    NormalDirection,
    PoissonDirection,
    RateDirection,
    column,
    is_positive_definite,
    matrix,
    rational,
)
from symacct.mechanisms.direction import ConstantDirection, Direction


class Law:
    """A distribution: its family and its parameters, which are rational numbers."""

    #: Every family by its name.
    families: ClassVar[dict[str, type[Law]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Law.families[cls.__name__] = cls

    @property
    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments, in order, in their exact form."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def probabilities(self) -> tuple[Fraction, ...] | None:
        """Those of its outcomes, where there are finitely many."""
        return None

    def masses_against(self, other: Self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        """(p, q) of this law and another for finitely many events that tell the two apart."""
        if self.probabilities is None or other.probabilities is None:
            return None
        return tuple(zip(self.probabilities, other.probabilities, strict=True))

    @property
    def kernel(self) -> Kernel | None:
        """The density on the line up to its constant; None where there is none."""
        return None

    def log_total(self, ctx: Arithmetic) -> Number:
        """The logarithm of the integral of e^kernel."""
        raise NotImplementedError

    @property
    def log_progression(self) -> Progression | None:
        """The probabilities of 0, 1, 2, … where the law lives there."""
        return None

    def why_no_closed_form(self, other: Self) -> str | None:
        """What a pair of this law and another of its family needs beyond that, if it lacks it."""
        return None

    def is_swapped_with(self, other: Self) -> bool:
        """Does an involution of the outcomes that preserves the measure swap the two laws?"""
        return False

    def against(self, other: Self) -> Direction:
        """D_α of this law from another of its family."""
        raise NotImplementedError

    def __repr__(self) -> str:
        from symacct.notation import value_text

        return value_text(self)

    def _settle(self, **values: Any) -> None:
        """Keep the checked values of the parameters; they have to be rational."""
        for name, value in values.items():
            _refuse_irrational(value, f"{type(self).__name__}, {name}")
            object.__setattr__(self, name, value)

    def _positive(self, name: str) -> Exact:
        return positive(getattr(self, name), f"{type(self).__name__}, {name}")

    def _number(self, name: str) -> Exact:
        return exact(getattr(self, name), f"{type(self).__name__}, {name}")


def _refuse_irrational(value: Any, what: str) -> None:
    for one in value if isinstance(value, tuple) else [value]:
        if isinstance(one, tuple):
            _refuse_irrational(one, what)
        elif not isinstance(one, Fraction):
            raise DomainError(f"{what}: found {echo(one)}, needed a rational number")


@dataclass(frozen=True, repr=False)
class Bernoulli(Law):
    """1 with probability p, else 0; 0 <= p <= 1."""

    p: Any

    def __post_init__(self) -> None:
        self._settle(p=nonnegative(self.p, "Bernoulli, p"))
        if self.p > 1:
            raise DomainError(f"Bernoulli, p: found {echo(self.p)}, needed 0 <= p <= 1")

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        return self.p, 1 - self.p


@dataclass(frozen=True, repr=False)
class Exponential(Law):
    """Density λe^{−λx} on x >= 0, of rate λ > 0."""

    rate: Any

    def __post_init__(self) -> None:
        self._settle(rate=self._positive("rate"))

    @property
    def kernel(self) -> Kernel:
        return _kernel(-_of(self.rate) * X, 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        return -ctx.log(ctx.number(self.rate))

    def against(self, other: Self) -> Direction:
        return RateDirection(other.rate / self.rate, Fraction(1))


@dataclass(frozen=True, repr=False)
class Weibull(Law):
    """(X/scale)^shape is Exponential(1); both laws of a pair have one shape."""

    shape: Any
    scale: Any = 1

    def __post_init__(self) -> None:
        self._settle(shape=self._positive("shape"), scale=self._positive("scale"))

    @property
    def kernel(self) -> Kernel:
        return _kernel((_of(self.shape) - 1) * _LOG - (X / _of(self.scale)) ** _of(self.shape), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        shape, scale = ctx.number(self.shape), ctx.number(self.scale)
        return shape * ctx.log(scale) - ctx.log(shape)

    def why_no_closed_form(self, other: Self) -> str | None:
        return None if self.shape == other.shape else "one shape for both"

    def against(self, other: Self) -> Direction:
        # X^shape is exponential with the rate scale^{−shape}.
        return RateDirection(self.scale / other.scale, self.shape)


@dataclass(frozen=True, repr=False)
class Rayleigh(Law):
    """Density (x/σ²)e^{−x²/(2σ²)} on x >= 0, so that X² is exponential with the rate 1/(2σ²)."""

    sigma: Any

    def __post_init__(self) -> None:
        self._settle(sigma=self._positive("sigma"))

    @property
    def kernel(self) -> Kernel:
        return _kernel(_LOG - X**2 / (2 * _of(self.sigma) ** 2), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        return 2 * ctx.log(ctx.number(self.sigma))

    def against(self, other: Self) -> Direction:
        return RateDirection(self.sigma / other.sigma, Fraction(2))


@dataclass(frozen=True, repr=False)
class Pareto(Law):
    """Density a m^a/x^{a+1} on x >= m, shape a and start m; both laws of a pair start at one m."""

    shape: Any
    start: Any = 1

    def __post_init__(self) -> None:
        self._settle(shape=self._positive("shape"), start=self._positive("start"))

    @property
    def kernel(self) -> Kernel:
        return _kernel(-(_of(self.shape) + 1) * _LOG, self.start)

    def log_total(self, ctx: Arithmetic) -> Number:
        shape = ctx.number(self.shape)
        return -(shape * ctx.log(ctx.number(self.start))) - ctx.log(shape)

    def why_no_closed_form(self, other: Self) -> str | None:
        return None if self.start == other.start else "one start for both"

    def against(self, other: Self) -> Direction:
        # log(X/m) is exponential with the rate a.
        return RateDirection(other.shape / self.shape, Fraction(1))


@dataclass(frozen=True, repr=False)
class Gamma(Law):
    """Density β^k x^{k−1}e^{−βx}/Γ(k) on x > 0, shape k and rate β."""

    shape: Any
    rate: Any = 1

    def __post_init__(self) -> None:
        self._settle(shape=self._positive("shape"), rate=self._positive("rate"))

    @property
    def kernel(self) -> Kernel:
        return _kernel((_of(self.shape) - 1) * _LOG - _of(self.rate) * X, 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        shape = ctx.number(self.shape)
        return log_gamma(ctx, shape) - shape * ctx.log(ctx.number(self.rate))

    def against(self, other: Self) -> Direction:
        return GammaDirection((self.shape, self.rate), (other.shape, other.rate))


@dataclass(frozen=True, repr=False)
class Chi(Law):
    """σ times the length of a standard normal vector of k dimensions; any real k > 0."""

    degrees: Any
    sigma: Any = 1

    def __post_init__(self) -> None:
        self._settle(degrees=self._positive("degrees"), sigma=self._positive("sigma"))

    @property
    def kernel(self) -> Kernel:
        return _kernel((_of(self.degrees) - 1) * _LOG - X**2 / (2 * _of(self.sigma) ** 2), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        half = ctx.number(self.degrees / 2)
        scale = half * ctx.log(ctx.number(2 * self.sigma**2)) - ctx.log(ctx.number(2))
        return log_gamma(ctx, half) + scale

    def against(self, other: Self) -> Direction:
        # X² is a gamma law of shape k/2 and rate 1/(2σ²).
        return GammaDirection(*((law.degrees / 2, 1 / (2 * law.sigma**2)) for law in (self, other)))


@dataclass(frozen=True, repr=False)
class HalfNormal(Law):
    """The modulus of a normal law N(0, σ²)."""

    sigma: Any

    def __post_init__(self) -> None:
        self._settle(sigma=self._positive("sigma"))

    @property
    def kernel(self) -> Kernel:
        return _kernel(-(X**2) / (2 * _of(self.sigma) ** 2), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        return ctx.log(ctx.pi() * ctx.number(self.sigma**2 / 2)) / 2

    def against(self, other: Self) -> Direction:
        # Its sign is independent of it: the pair N(0, σ₁²), N(0, σ₂²), in one dimension.
        return _normal_direction(Fraction(0), self.sigma**2, other.sigma**2)


@dataclass(frozen=True, repr=False)
class Beta(Law):
    """Density ∝ x^{a−1}(1−x)^{b−1} on 0 < x < 1."""

    a: Any
    b: Any

    def __post_init__(self) -> None:
        self._settle(a=self._positive("a"), b=self._positive("b"))

    @property
    def kernel(self) -> Kernel:
        return _kernel((_of(self.a) - 1) * _LOG + (_of(self.b) - 1) * sympy.log(1 - X), 0, 1)

    def log_total(self, ctx: Arithmetic) -> Number:
        a, b = ctx.number(self.a), ctx.number(self.b)
        return log_gamma(ctx, a) + log_gamma(ctx, b) - log_gamma(ctx, a + b)

    def is_swapped_with(self, other: Self) -> bool:
        return (self.a, self.b) == (other.b, other.a)  # by x ↦ 1 − x

    def against(self, other: Self) -> Direction:
        return BetaDirection((self.a, self.b), (other.a, other.b))


@dataclass(frozen=True, repr=False)
class Uniform(Law):
    """Uniform on low <= x <= high."""

    low: Any
    high: Any

    def __post_init__(self) -> None:
        self._settle(low=self._number("low"), high=self._number("high"))
        if self.low >= self.high:
            raise DomainError(
                f"Uniform: found {echo(self.low)} and {echo(self.high)}, needed low < high"
            )

    @property
    def kernel(self) -> Kernel:
        return _kernel(sympy.Integer(0), self.low, self.high)

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
class Poisson(Law):
    """k = 0, 1, … with probability e^{−λ}λ^k/k!."""

    rate: Any

    def __post_init__(self) -> None:
        self._settle(rate=self._positive("rate"))

    @property
    def log_progression(self) -> Progression:
        return Progression(-_of(self.rate), self.rate, factorial=True)

    def against(self, other: Self) -> Direction:
        return PoissonDirection(self.rate, other.rate)


@dataclass(frozen=True, repr=False)
class Geometric(Law):
    """k = 0, 1, … with probability p(1−p)^k, 0 < p < 1."""

    p: Any

    def __post_init__(self) -> None:
        self._settle(p=probability(self.p, "Geometric, p"))

    @property
    def log_progression(self) -> Progression:
        return Progression(sympy.log(_of(self.p)), 1 - self.p, factorial=False)

    def against(self, other: Self) -> Direction:
        return GeometricDirection(self.p, other.p)


@dataclass(frozen=True, repr=False)
class Normal(Law):
    """N(mean, variance)."""

    mean: Any
    variance: Any

    def __post_init__(self) -> None:
        self._settle(mean=self._number("mean"), variance=self._positive("variance"))

    @property
    def kernel(self) -> Kernel:
        return _kernel(-((X - _of(self.mean)) ** 2) / (2 * _of(self.variance)))

    def log_total(self, ctx: Arithmetic) -> Number:
        return ctx.log(2 * ctx.pi() * ctx.number(self.variance)) / 2

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.variance == other.variance)  # by x ↦ μ₁ + μ₂ − x

    def against(self, other: Self) -> Direction:
        return _normal_direction(self.mean - other.mean, self.variance, other.variance)


@dataclass(frozen=True, repr=False)
class LogNormal(Law):
    """log X is N(mean, variance)."""

    mean: Any
    variance: Any

    def __post_init__(self) -> None:
        self._settle(mean=self._number("mean"), variance=self._positive("variance"))

    @property
    def kernel(self) -> Kernel:
        return _kernel(-_LOG - (_LOG - _of(self.mean)) ** 2 / (2 * _of(self.variance)), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        return ctx.log(2 * ctx.pi() * ctx.number(self.variance)) / 2

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.variance == other.variance)

    def against(self, other: Self) -> Direction:
        return _normal_direction(self.mean - other.mean, self.variance, other.variance)


@dataclass(frozen=True, repr=False)
class MultivariateNormal(Law):
    """N(mean, covariance), a list and a list of rows; the covariance is positive definite."""

    mean: Any
    covariance: Any

    def __post_init__(self) -> None:
        mean = _row(self.mean, "MultivariateNormal, mean")
        sizes.check("outcomes", len(mean) ** 2, "MultivariateNormal, entries of the covariance")
        rows = doors.ordered(self.covariance, "MultivariateNormal, covariance", "[[1, 0], [0, 1]]")
        covariance = tuple(_row(row, "MultivariateNormal, covariance") for row in rows)
        self._settle(mean=mean, covariance=covariance)
        if not mean or len(rows) != len(mean) or any(len(row) != len(mean) for row in covariance):
            raise DomainError(
                f"MultivariateNormal: found a mean of {len(mean)} entries and a covariance of "
                f"{len(rows)} rows, needed d entries and d rows of d"
            )
        if covariance != tuple(zip(*covariance, strict=True)):
            raise DomainError(
                f"MultivariateNormal: found {echo(self)}, needed a symmetric covariance"
            )
        if not is_positive_definite(matrix(covariance)):
            raise DomainError(
                f"MultivariateNormal: found {echo(self)}, needed a positive definite covariance"
            )

    def why_no_closed_form(self, other: Self) -> str | None:
        return None if len(self.mean) == len(other.mean) else "one dimension for both"

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.covariance == other.covariance)  # by x ↦ μ₁ + μ₂ − x

    def squared_distance(self, other: MultivariateNormal) -> Fraction:
        """δᵀΣ⁻¹δ of the difference δ of the means, in this law's covariance Σ."""
        delta = column(tuple(a - b for a, b in zip(self.mean, other.mean, strict=True)))
        return rational((delta.transpose() * matrix(self.covariance).solve(delta))[0, 0])

    def against(self, other: Self) -> Direction:
        shift = tuple(a - b for a, b in zip(self.mean, other.mean, strict=True))
        return NormalDirection(shift, self.covariance, other.covariance)


@dataclass(frozen=True, repr=False)
class Laplace(Law):
    """Density e^{−|x−mean|/scale}/(2·scale)."""

    mean: Any
    scale: Any = 1

    def __post_init__(self) -> None:
        self._settle(mean=self._number("mean"), scale=self._positive("scale"))

    @property
    def kernel(self) -> Kernel:
        return _kernel(-sympy.Abs(X - _of(self.mean)) / _of(self.scale))

    def log_total(self, ctx: Arithmetic) -> Number:
        return ctx.log(ctx.number(2 * self.scale))

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.scale == other.scale)  # by x ↦ μ₁ + μ₂ − x

    def why_no_closed_form(self, other: Self) -> str | None:
        return None if self.scale == other.scale else "one scale for both"

    def against(self, other: Self) -> Direction:
        return LaplaceDirection(abs(self.mean - other.mean) / self.scale)


_LOG = sympy.log(X)
_of = expression


def _kernel(log: sympy.Expr, low: Any = -INFINITY, high: Any = INFINITY) -> Kernel:
    """e^log from low to high."""
    return Kernel(log, (low, high) if isinstance(low, float) else (Fraction(low), high))


def _normal_direction(shift: Fraction, first: Fraction, second: Fraction) -> Direction:
    """One dimension."""
    return NormalDirection((shift,), ((first,),), ((second,),))


def _row(values: Any, what: str) -> tuple[Exact, ...]:
    return tuple(exact(value, what) for value in doors.ordered(values, what, "[0, 1]"))
