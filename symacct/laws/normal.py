"""The normal laws, in one dimension and more, and D_α of one from another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from flint import fmpq, fmpq_mat

from symacct.analysis.densities import Kernel
from symacct.analysis.normal_mixtures import NormalParts
from symacct.kernel import limits, parameters, symbols
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, Exact, Order, expression, sympy, typed_value
from symacct.kernel.parameters import positive
from symacct.laws.law import Direction, FamilyDirection, Law, kernel_of, log_x


@dataclass(frozen=True, repr=False)
class Normal(Law, mean=typed_value, variance=positive):
    """N(mean, variance)."""

    mean: Any
    variance: Any

    @property
    def kernel(self) -> Kernel:
        """e^{−(x−μ)²/(2σ²)}"""
        mean, variance = self.expressions
        return kernel_of(-((symbols.x - mean) ** 2) / (2 * variance))

    @property
    def normal_parts(self) -> NormalParts | None:
        """The law as a mixture of one normal law."""
        return NormalParts((Fraction(1),), (self.mean,), self.variance)

    def log_total(self, ctx: Arithmetic) -> Number:
        """log(2πσ²)/2"""
        return ctx.log(2 * ctx.pi() * ctx.number(self.variance)) / 2

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.variance == other.variance)  # by x ↦ μ₁ + μ₂ − x

    def against(self, other: Self) -> Direction:
        """The direction of two normal laws, of any variances."""
        return _normal_direction(self.mean - other.mean, self.variance, other.variance)


@dataclass(frozen=True, repr=False)
class NormalMixture(Law, variance=positive):
    """N(m, variance) with a mean m drawn by the weights; one weight for each of different means.

    The weights are positive and sum to 1. Raises DomainError, LimitError.
    """

    means: Any
    weights: Any
    variance: Any

    def __post_init__(self) -> None:
        """Refuse means that are not different, and weights that are no law, by DomainError."""
        super().__post_init__()
        means = _row(self.means, "NormalMixture, means")
        weights = _row(self.weights, "NormalMixture, weights")
        self._settle(means=means, weights=weights)
        limits.check("terms", len(means), "NormalMixture, means")
        apart = len(set(means)) == len(means) == len(weights)
        if not apart or min(weights, default=0) <= 0 or sum(weights) != 1:
            raise DomainError(
                f"NormalMixture: found {len(means)} means and the weights {echo(list(weights))}, "
                "needed as many different means as positive weights that sum to 1"
            )

    @property
    def kernel(self) -> Kernel:
        """Σ w e^{−(x−m)²/(2v)}, up to the constant √(2πv)."""
        (variance,) = self.expressions
        pairs = zip(map(expression, self.means), map(expression, self.weights), strict=True)
        total = sum(w * sympy.exp(-((symbols.x - m) ** 2) / (2 * variance)) for m, w in pairs)
        return kernel_of(sympy.log(total))

    @property
    def normal_parts(self) -> NormalParts | None:
        """The weights, the means and the variance."""
        return NormalParts(self.weights, self.means, self.variance)

    log_total = Normal.log_total

    def why_no_closed_form(self, other: Self) -> str | None:
        """ "no mixtures": none is known of any."""
        return "no mixtures"

    def is_swapped_with(self, other: Self) -> bool:
        """Does x ↦ c − x swap both laws, c the sum of the least mean and the other's largest?

        No other reflection can.
        """
        centre = min(self.means) + max(other.means)
        mirrored = {centre - m: w for m, w in zip(other.means, other.weights, strict=True)}
        weights = dict(zip(self.means, self.weights, strict=True))
        return self.variance == other.variance and weights == mirrored


@dataclass(frozen=True, repr=False)
class LogNormal(Normal, mean=typed_value, variance=positive):
    """log X is N(mean, variance)."""

    normal_parts = None

    @property
    def kernel(self) -> Kernel:
        """e^{−(log x − μ)²/(2σ²)}/x on x > 0"""
        mean, variance = self.expressions
        return kernel_of(-log_x() - (log_x() - mean) ** 2 / (2 * variance), 0)


@dataclass(frozen=True, repr=False)
class HalfNormal(Law, sigma=positive):
    """The modulus of a normal law N(0, σ²)."""

    sigma: Any

    @property
    def kernel(self) -> Kernel:
        """e^{−x²/(2σ²)} on x > 0"""
        (sigma,) = self.expressions
        return kernel_of(-(symbols.x**2) / (2 * sigma**2), 0)

    def log_total(self, ctx: Arithmetic) -> Number:
        """log(πσ²/2)/2"""
        return ctx.log(ctx.pi() * ctx.number(self.sigma**2 / 2)) / 2

    def against(self, other: Self) -> Direction:
        # Its sign is independent of it: the pair N(0, σ₁²), N(0, σ₂²), in one dimension.
        return _normal_direction(Fraction(0), self.sigma**2, other.sigma**2)


@dataclass(frozen=True, repr=False)
class MultivariateNormal(Law):
    """N(mean, covariance), a list and a list of rows; the covariance is positive definite."""

    mean: Any
    covariance: Any

    def __post_init__(self) -> None:
        """Refuse a covariance that is not symmetric and positive definite by DomainError."""
        mean = _row(self.mean, "MultivariateNormal, mean")
        limits.check("outcomes", len(mean) ** 2, "MultivariateNormal, entries of the covariance")
        rows = parameters.ordered_members(
            self.covariance, "MultivariateNormal, covariance", "[[1, 0], [0, 1]]"
        )
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
        """ "one dimension for both" where dimensions differ, else None."""
        return None if len(self.mean) == len(other.mean) else "one dimension for both"

    def is_swapped_with(self, other: Self) -> bool:
        return bool(self.covariance == other.covariance)  # by x ↦ μ₁ + μ₂ − x

    def squared_distance(self, other: MultivariateNormal) -> Fraction:
        """δᵀΣ⁻¹δ of the difference δ of the means, in this law's covariance Σ."""
        delta = column(tuple(a - b for a, b in zip(self.mean, other.mean, strict=True)))
        return rational((delta.transpose() * matrix(self.covariance).solve(delta))[0, 0])

    def against(self, other: Self) -> Direction:
        """The direction of two normal laws of one dimension."""
        shift = tuple(a - b for a, b in zip(self.mean, other.mean, strict=True))
        return NormalDirection(shift, self.covariance, other.covariance)


@dataclass(frozen=True)
class NormalDirection(FamilyDirection):
    """Normal laws of mean vectors μ and covariances Σ, Σ_α = αΣ₂ + (1−α)Σ₁, δ = μ₁ − μ₂:

    D_α = (α/2) δᵀΣ_α⁻¹δ − log( |Σ_α| / (|Σ₁|^{1−α}|Σ₂|^α) )/(2(α−1)), ∞ where Σ_α is not
    positive definite (WBK19 Appendix I). The quadratic form and determinants are exact.
    """

    shift: tuple[Fraction, ...]
    first: tuple[tuple[Fraction, ...], ...]
    second: tuple[tuple[Fraction, ...], ...]

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ D_α of two normal laws, ∞ where (1−α)Σ₁ + αΣ₂ is not positive definite"""
        first, second = matrix(self.first), matrix(self.second)
        gain = self._gain(ctx, first, second)

        def rdp(alpha: Order) -> Any:
            order = ctx.number(alpha)
            between = blend_matrices(alpha, first, second)
            if between is None:
                return ctx.number(INFINITY)
            square, volume = self._form_and_volume(between, first)
            # |Σ_α|/(|Σ₁|^{1−α}|Σ₂|^α) = (|Σ_α|/|Σ₁|) (|Σ₁|/|Σ₂|)^α.
            rest = ctx.log(ctx.number(volume)) / (order - 1)
            return (order * ctx.number(square) - rest + order / (order - 1) * gain) / 2

        return rdp

    def _form_and_volume(self, between: Any, first: Any) -> tuple[Any, Any]:
        """δᵀΣ_α⁻¹δ and |Σ_α|/|Σ₁| as Fractions; as SymPy's expressions for a symbolic order."""
        if isinstance(between, sympy.MatrixBase):
            delta = sympy.Matrix([sympy.Rational(d.numerator, d.denominator) for d in self.shift])
            form = (delta.T * between.adjugate() * delta)[0] / between.det()
            return form, between.det() / sympy.Rational(str(first.det()))
        delta = column(self.shift)
        return rational((delta.transpose() * between.solve(delta))[0, 0]), rational(
            between.det() / first.det()
        )

    def _gain(self, ctx: Arithmetic, first: Any, second: Any) -> Number:
        """log(|Σ₂|/|Σ₁|), of an exact ratio."""
        return ctx.log1p(ctx.number(rational(second.det() / first.det()) - 1))

    def at_one(self, ctx: Arithmetic) -> Number:
        """½( tr(Σ₂⁻¹Σ₁) − d + δᵀΣ₂⁻¹δ + log(|Σ₂|/|Σ₁|) )"""
        first, second, delta = matrix(self.first), matrix(self.second), column(self.shift)
        product, form = second.solve(first), (delta.transpose() * second.solve(delta))[0, 0]
        trace = sum((product[i, i] for i in range(len(self.shift))), fmpq(0))
        exact = rational(trace - len(self.shift) + form)
        return (ctx.number(exact) + self._gain(ctx, first, second)) / 2

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """½( δᵀw + log(|Σ₂|/|Σ₁|) ), (Σ₂ − Σ₁)w = δ; ∞ unless Σ₁ ⪯ Σ₂ and there is such a w."""
        first, second = matrix(self.first), matrix(self.second)
        form = form_of_pseudoinverse(second - first, self.shift)
        if form is None:
            return ctx.number(INFINITY)
        return (ctx.number(form) + self._gain(ctx, first, second)) / 2


def matrix(rows: tuple[tuple[Fraction, ...], ...]) -> fmpq_mat:
    """The exact matrix with these rows."""
    entries = [fmpq(x.numerator, x.denominator) for row in rows for x in row]
    return fmpq_mat(len(rows), len(rows[0]), entries)


def column(values: tuple[Fraction, ...]) -> fmpq_mat:
    """The exact column vector."""
    return matrix(tuple((value,) for value in values))


def rational(value: fmpq) -> Fraction:
    """A flint rational as Python's."""
    return Fraction(int(value.p), int(value.q))


def blend_matrices(alpha: Order, first: fmpq_mat, second: fmpq_mat) -> Any:
    """αΣ₂ + (1−α)Σ₁, exactly; None unless it is positive definite.

    For a symbolic order it is SymPy's matrix, which is not tested.
    """
    if isinstance(alpha, sympy.Expr):
        exact_first, exact_second = (
            sympy.Matrix(m.nrows(), m.ncols(), [sympy.Rational(str(x)) for x in m.entries()])
            for m in (first, second)
        )
        return alpha * exact_second + (1 - alpha) * exact_first
    order = fmpq(*Fraction(alpha).as_integer_ratio())
    between = second * order + first * (1 - order)
    return between if is_positive_definite(between) else None


def is_positive_definite(m: fmpq_mat) -> bool:
    """Are all pivots of the symmetric matrix positive?"""
    rows = [[m[i, j] for j in range(m.ncols())] for i in range(m.nrows())]
    for k, pivot_row in enumerate(rows):
        if pivot_row[k] <= 0:
            return False
        _eliminate(rows, k)
    return True


def form_of_pseudoinverse(m: fmpq_mat, shift: tuple[Fraction, ...]) -> Fraction | None:
    """vᵀw with m w = v, v = `shift`, exactly by elimination.

    None unless the symmetric matrix m is positive semidefinite and v is in its range.
    """
    rows = [[m[i, j] for j in range(m.ncols())] for i in range(m.nrows())]
    rest = [fmpq(v.numerator, v.denominator) for v in shift]
    total = fmpq(0)
    for k, pivot_row in enumerate(rows):
        pivot = pivot_row[k]
        if pivot < 0:
            return None
        if pivot == 0:
            # A semidefinite matrix has nothing beside a 0 on its diagonal; nor then has v.
            if any(x != 0 for x in pivot_row[k:]) or rest[k] != 0:
                return None
            continue
        total += rest[k] ** 2 / pivot
        for i in range(k + 1, len(rows)):
            rest[i] -= rows[i][k] / pivot * rest[k]
        _eliminate(rows, k)
    return rational(total)


def _eliminate(rows: list[list[fmpq]], k: int) -> None:
    """Clear column k below the pivot of row k, which is not 0; the rows are changed."""
    for i in range(k + 1, len(rows)):
        factor = rows[i][k] / rows[k][k]
        if factor != 0:
            for j in range(k, len(rows)):
                rows[i][j] -= factor * rows[k][j]


def _normal_direction(shift: Fraction, first: Fraction, second: Fraction) -> Direction:
    """D_α of N(shift, first) from N(0, second), in one dimension."""
    return NormalDirection((shift,), ((first,),), ((second,),))


def _row(values: Any, what: str) -> tuple[Exact, ...]:
    """The exact numbers of a list; DomainError, which names `what`, for another value."""
    return tuple(
        typed_value(value, what) for value in parameters.ordered_members(values, what, "[0, 1]")
    )
