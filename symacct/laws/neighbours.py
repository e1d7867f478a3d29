"""What a leaf declares of its neighbours: the laws that one run has on two neighbouring datasets.

Each kind of laws is one class, and whoever wants more than a Rényi curve reads it: theorems about
samples and groups ask it for the worst pair and its means, the exact profile has a loss for each
kind that has numbers, and what else is asked of neighbours are facts that the classes state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch
from typing import Any, Self

from symacct.analysis.normal_mixtures import sampled_relative_entropy
from symacct.analysis.sampled_gaussian import sampled_gaussian_excess
from symacct.analysis.sampled_laplace import (
    gaussian_upper_half,
    laplace_upper_half,
    sampled_laplace_excess,
    sampled_laplace_kl,
)
from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import rational_ends
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import Kind
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import INFINITY, Exact, Order, exact, expression, sympy
from symacct.kernel.node import Mechanism, Node
from symacct.laws.families import Laplace
from symacct.laws.normal import Normal

#: A loss log(P/Q) ↦ a number in the arithmetic that is asked.
Value = Callable[[Any], Number]
#: The probabilities (p, q) of every outcome, under either law.
Masses = tuple[tuple[Exact, Exact], ...]


class Neighbours:
    """The laws of one run on neighbouring datasets."""

    #: EXACT where some neighbours have these laws, UPPER where theirs are dominated.
    kind: Kind = Kind.EXACT
    #: Is it noise on a query that two records may move in opposite directions? Then a replaced
    #: record costs what one does at twice the sensitivity.
    of_query: bool = False
    #: Δ/σ of one query with normal noise that is fixed beforehand; None if irrational or other.
    side: Fraction | None = None
    #: (Δ/σ)² of normal noise on vectors, of which three may be equally far apart; else 0.
    squared_side: Exact = Fraction(0)
    #: The probabilities of each law that a mechanism may have; None unless all are listed.
    all_laws: tuple[tuple[Exact, ...], ...] | None = None
    #: The laws with a record and without; None unless they are one pair of rational numbers.
    two_laws: tuple[Any, Any] | None = None

    @property
    def worst(self) -> SwappedPair | None:
        """The pair that dominates and has the leaf's curve; None where its means are not known."""
        return None

    @property
    def normal(self) -> NormalShift | None:
        """The worst pair where it is one of normal laws; else None."""
        return self.worst if isinstance(self.worst, NormalShift) else None

    @property
    def line(self) -> StatedLine | None:
        """The line that the leaf's curve is stated to lie below; None where none is stated."""
        return None

    @property
    def fixed(self) -> tuple[Neighbours, ...]:
        """Laws each of which some neighbours have in every run: these, unless a kind has others.

        Each bounds from below what a composition truly costs. Of those without a registered loss,
        as of `CurveAlone`, nothing follows.
        """
        return (self,)

    def for_group(self, size: int) -> Neighbours | None:
        """The laws of datasets `size` steps apart; None where they are not of this kind."""
        return None


def law_of(node: Node) -> Neighbours:
    """The laws that a leaf declares; `CurveAlone` where it declares none, and for operations."""
    law: Neighbours | None = node.neighbours if isinstance(node, Mechanism) else None
    return CurveAlone() if law is None else law


class CurveAlone(Neighbours):
    """Laws of which nothing but a curve is known."""


@dataclass(frozen=True)
class StatedLine(CurveAlone):
    """Any mechanism with ε(α) <= ξ + ρα for 1 < α < ω."""

    rho: Exact
    xi: Exact = Fraction(0)
    omega: Exact | float = INFINITY

    @property
    def line(self) -> StatedLine:
        """The line ε(α) <= ξ + ρα, which this law states itself."""
        return self


@dataclass(frozen=True)
class Unknown(Neighbours):
    """Laws that are not known of this mechanism; a message says what is `needed` of it instead."""

    needed: str


@dataclass(frozen=True)
class Alike(Neighbours):
    """One law: no record changes the answer."""


# --- one pair that dominates


class SwappedPair(Neighbours):
    """Two laws (P, Q) that an involution swaps, with means over Q."""

    #: Does it dominate every neighbouring pair, and is its curve the leaf's? Two laws that are
    #: given say nothing of a third record.
    is_worst: bool = True
    #: Is the query one number, so that all neighbours move it along one line?
    is_on_line: bool = False
    #: Does the mechanism stand for all those that the pair dominates?
    is_whole_class = False
    #: Are there but two outcomes, whose sum is written as it stands?
    has_two_outcomes = False

    @property
    def worst(self) -> SwappedPair | None:
        """The pair itself."""
        return self if self.is_worst else None

    def mean(
        self, ctx: Arithmetic, value: Value, alpha: Order | None, above_one: bool = False
    ) -> Number:
        """E_Q[value(log(P/Q))], over the outcomes with P > Q alone if `above_one`.

        The caller guarantees 0 <= value <= 1 + α + (P/Q)^α, and the same for α = 2 if `alpha` is
        None; with `above_one` also value(0) = 0.
        """
        raise NotImplementedError


# --- noise that a record moves


class Shift(SwappedPair):
    """Noise with a density, and that noise moved by Δ: only the noise over Δ matters."""

    @property
    def ratio(self) -> Exact:
        """The scale of the noise over Δ."""
        raise NotImplementedError

    def sampled_in_balls(
        self, gamma: Fraction, alpha: Order | None, near: dict[Any, Any]
    ) -> Number:
        """E_Q[m^α] − 1, or E_Q[m log m] where α is None, m = 1−γ+γP/Q, certified; 0 < γ < 1.

        What is kept in `near`, a dict of the caller's, of one order serves the next one.
        """
        raise NotImplementedError

    def upper_half_in_balls(self, gamma: Fraction, alpha: Order | None) -> Number:
        """E_Q[(m^α − 1)(1 − m^{1−α}); P > Q], or E_Q[(m−1) log m; P > Q] where α is None.

        Certified; 0 < γ <= 1, m = 1−γ+γP/Q.
        """
        raise NotImplementedError

    def mean(
        self, ctx: Arithmetic, value: Value, alpha: Order | None, above_one: bool = False
    ) -> Number:
        """Sum or integrate in an arithmetic that is not BALL, which proves nothing.

        Order 1, for None, only says how far the integrand reaches. Arithmetics with rules have no
        `above_one`.
        """
        return _mean(ctx, self, value, 1 if alpha is None else alpha, above_one)

    def summed(self, ctx: Any, value: Value, alpha: Order) -> Number:
        """The mean over all outcomes by the rules that an arithmetic has (RuledArithmetic)."""
        raise NotImplementedError

    def integrated(
        self, ctx: MpmathArithmetic, value: Value, alpha: Order, above_one: bool
    ) -> Number:
        """The mean by mpmath's quadrature, of values that are not negative: nothing cancels."""
        raise NotImplementedError

    def written(
        self, value: Value, above_one: bool = False, z: sympy.Symbol | None = None
    ) -> sympy.Expr:
        """The mean as a formula, an integral over the noise's shape, in z if it is given."""
        raise NotImplementedError


@singledispatch
def _mean(ctx: Any, shift: Shift, value: Value, alpha: Order, above_one: bool) -> Number:
    """E_Q[value(log(P/Q))] over all outcomes, by an arithmetic's rules; `above_one` is False."""
    return shift.summed(ctx, value, alpha)


@_mean.register
def _(ctx: MpmathArithmetic, shift: Shift, value: Value, alpha: Order, above_one: bool) -> Number:
    """By mpmath's quadrature, uncertified."""
    return shift.integrated(ctx, value, alpha, above_one)


@_mean.register
def _(
    ctx: SymbolicArithmetic, shift: Shift, value: Value, alpha: Order, above_one: bool
) -> sympy.Expr:
    """As an integral, in which the order does not occur beside `value`."""
    return shift.written(value, above_one)


# Proved in docs/proofs/triples.md, Lemma irrational-rates and docs/proofs/directions.md, Lemma
# irrational-ratio.
def falling_in(ratio: Exact, value: Callable[[Fraction], Number]) -> Number:
    """The certified value at `ratio`, of a function that falls in the ratio.

    For an irrational ratio it is the union of the values at two rational ones next to it.
    """
    first, *other = map(value, rational_ends(ratio, BALL.bits))
    return first.union(*other) if other else first


#: The most pieces of mpmath's quadrature, each of which takes some milliseconds; beyond it
#: PrecisionError is raised.
_MOST_PIECES = 1 << 9


@dataclass(frozen=True)
class NormalShift(Shift):
    """N(Δ, σ²) against N(0, σ²), Δ = `sensitivity`; means are of N(1, r²) and N(0, r²), r = σ/Δ."""

    sensitivity: Exact
    sigma: Exact
    kind: Kind = Kind.EXACT
    of_query: bool = True
    #: Is all of the query fixed beforehand?
    is_one_query: bool = False
    #: May records move the answer in any direction?
    is_of_vectors: bool = False
    is_on_line: bool = False
    is_worst: bool = True

    @property
    def ratio(self) -> Exact:
        """σ/Δ"""
        return exact(self.sigma / self.sensitivity)

    @property
    def squared_ratio(self) -> Exact:
        """(Δ/σ)², the square of GDP's μ, as a fraction of any length wherever it is one."""
        square = (self.sensitivity / self.sigma) ** 2
        return square if isinstance(square, Fraction) else exact(square)

    @property
    def side(self) -> Fraction | None:  # type: ignore[override]
        """Δ/σ of one query where it is rational, else None."""
        apart = self.sensitivity / self.sigma
        return apart if self.is_one_query and isinstance(apart, Fraction) else None

    @property
    def squared_side(self) -> Exact:  # type: ignore[override]
        """(Δ/σ)² of exact noise on vectors, else 0."""
        return self.squared_ratio if self.is_of_vectors and self.kind is Kind.EXACT else Fraction(0)

    @property
    def two_laws(self) -> tuple[Any, Any] | None:  # type: ignore[override]
        """N(1, r²) and N(0, r²); None where r² is irrational."""
        variance = exact(self.ratio**2)
        if not isinstance(variance, Fraction):
            return None
        return Normal(1, variance), Normal(0, variance)

    def of_two_laws(self) -> Self:
        """This pair as two given laws of no query, which say nothing of a third record."""
        return replace(
            self, of_query=False, is_one_query=False, is_of_vectors=False, is_worst=False
        )

    def sampled_in_balls(
        self, gamma: Fraction, alpha: Order | None, near: dict[Any, Any]
    ) -> Number:
        """E_Q[(m/q)^α] − 1 of a sample of normal laws, or its KL divergence where α is None.

        It falls in σ/Δ, so that a ball of that is taken at both ends.
        """

        def value(ratio: Fraction) -> Number:
            if alpha is None:
                return sampled_relative_entropy(gamma, ratio)
            return sampled_gaussian_excess(Fraction(alpha), gamma, ratio, near)

        return falling_in(self.ratio, value)

    def upper_half_in_balls(self, gamma: Fraction, alpha: Order | None) -> Number:
        """The part of the mean above 0 of a sample of normal laws, in balls; it falls in σ/Δ."""
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
        """The mean by mpmath's quadrature over standard deviations, up to e^{−bits}, uncertified.

        PrecisionError for more than 512 pieces, as of very little noise.
        """
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
        if steps > _MOST_PIECES:
            raise PrecisionError(
                f"an integral in mpmath: found {steps:,} steps for noise so small, needed at most "
                f"{_MOST_PIECES:,}",
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

    def written(
        self, value: Value, above_one: bool = False, z: sympy.Symbol | None = None
    ) -> sympy.Expr:
        """E_Q[value(log p/q)] as an integral in SymPy, or its part above 0 if `above_one`."""
        z, scale = z or sympy.Dummy("z", real=True), expression(self.ratio)
        if above_one:
            s = 1 / scale
            density = sympy.exp(-(z**2) / 2) / sympy.sqrt(2 * sympy.pi)
            return written.Integral(density * value(s * z - s**2 / 2), (z, s / 2, sympy.oo))
        density = sympy.exp(-(z**2) / (2 * scale**2)) / (sympy.sqrt(2 * sympy.pi) * scale)
        log_ratio = (2 * z - 1) / (2 * scale**2)
        return written.Integral(density * value(log_ratio), (z, -sympy.oo, sympy.oo))


@dataclass(frozen=True)
class AllocatedNoise(Neighbours):
    """Normal noise allocated to one of `places`, and normal noise beside it, that bound all pairs.

    `allocated` is noise on an answer that the record moves in one place, which it draws uniformly
    and in secret; None where it moves none. `beside` is noise on one more answer; None for none.
    """

    allocated: NormalShift | None
    beside: NormalShift | None
    places: int
    kind: Kind = Kind.UPPER

    @property
    def fixed(self) -> tuple[Neighbours, ...]:
        """None: no neighbours need have these laws."""
        return ()


# A mass of Q of ½ has the smallest ratio P/Q = e^{−s}, and one of ½e^{−s} the largest, e^s;
# between the centres it has a density.
@dataclass(frozen=True)
class LaplaceShift(Shift):
    """Laplace laws of scale 1 that are `shift` = Δ/b apart.

    Means are of the densities e^{−|x−1|/r}/(2r) and e^{−|x|/r}/(2r), r = b/Δ.
    """

    shift: Exact
    of_query: bool = True
    is_on_line: bool = False
    is_worst: bool = True

    @property
    def ratio(self) -> Exact:
        """b/Δ"""
        return exact(1 / self.shift)

    @property
    def two_laws(self) -> tuple[Any, Any] | None:  # type: ignore[override]
        """Laplace laws of scale r about 1 and 0; None where r is irrational."""
        if not isinstance(self.shift, Fraction):
            return None
        return Laplace(1, 1 / self.shift), Laplace(0, 1 / self.shift)

    def of_two_laws(self) -> Self:
        """This pair as two given laws of no query, which say nothing of a third record."""
        return replace(self, of_query=False, is_worst=False)

    def sampled_in_balls(
        self, gamma: Fraction, alpha: Order | None, near: dict[Any, Any]
    ) -> Number:
        """E_Q[(m/q)^α] − 1 of a sample of Laplace laws, or its KL divergence where α is None.

        It falls in b/Δ, so that a ball of that is taken at both ends.
        """

        def value(ratio: Fraction) -> Number:
            if alpha is None:
                return sampled_laplace_kl(gamma, ratio)
            return sampled_laplace_excess(Fraction(alpha), gamma, ratio)

        return falling_in(self.ratio, value)

    def upper_half_in_balls(self, gamma: Fraction, alpha: Order | None) -> Number:
        """The part of the mean above 0 of a sample of Laplace laws, in balls; it falls in b/Δ."""
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
        """E_Q[value(log p/q)] by mpmath's quadrature between the atoms, or its part above 0."""
        mp, s = ctx.mp, 1 / ctx.number(self.ratio)
        places = [0, mp.mpf(1) / 2, 1]
        if above_one:
            inside = quadrature(mp, lambda y: value(s * y) * mp.exp(-s * (1 + y) / 2), places)
            return inside * s / 4 + value(s) * mp.exp(-s) / 2
        inside = quadrature(mp, lambda z: mp.exp(-s * z) * value(s * (2 * z - 1)), places)
        return (value(-s) + mp.exp(-s) * value(s) + s * inside) / 2

    def written(
        self, value: Value, above_one: bool = False, z: sympy.Symbol | None = None
    ) -> sympy.Expr:
        """E_Q[value(log p/q)] as two atoms and an integral in SymPy, or its part above 0."""
        z, s = z or sympy.Dummy("z", real=True), 1 / expression(self.ratio)
        if above_one:
            inside = written.Integral(sympy.exp(-s * (1 + z) / 2) * value(s * z), (z, 0, 1))
            return s * inside / 4 + value(s) * sympy.exp(-s) / 2
        inside = written.Integral(sympy.exp(-s * z) * value(s * (2 * z - 1)), (z, 0, 1))
        return (value(-s) + sympy.exp(-s) * value(s) + s * inside) / 2


@dataclass(frozen=True)
class WholeNumberShift(SwappedPair):
    """Symmetric log-concave `noise` on whole numbers, and that noise moved by its sensitivity.

    The noise gives its masses and the means over them (mechanisms/integer_noise.py); SummedNoise
    has no means over P > Q alone.
    """

    noise: Any
    of_query: bool = True
    is_worst: bool = True

    def mean(
        self, ctx: Arithmetic, value: Value, alpha: Order | None, above_one: bool = False
    ) -> Number:
        """E_Q[value(log p/q)] as the noise sums it over its outcomes, or its part above 0."""
        mean: Number = self.noise.expected(ctx, value, 2 if alpha is None else alpha, above_one)
        return mean


# --- finitely many outcomes


class FiniteMasses(Neighbours):
    """Two laws by their masses; `pure` where all losses are equally far apart, from −ε to ε."""

    masses: Masses
    pure: Exact | None = None


@dataclass(frozen=True)
class FinitePair(FiniteMasses):
    """Two laws by their masses, of which nothing else is known."""

    masses: Masses


@dataclass(frozen=True)
class LatticePair(FiniteMasses, WholeNumberShift):
    """Noise on whole numbers that has finitely many losses, from −ε to ε, ε = `pure`."""

    pure: Exact | None = None

    @property
    def masses(self) -> Masses:  # type: ignore[override]
        """The masses of both laws as the noise lists them, at each question anew."""
        masses: Masses = self.noise.masses
        return masses


@dataclass(frozen=True)
class FinitePairs(Neighbours):
    """Some pairs of finite laws, of which each run may have another one."""

    pairs: tuple[Masses, ...]
    all_laws: tuple[tuple[Exact, ...], ...] | None = None

    @property
    def fixed(self) -> tuple[Neighbours, ...]:
        """Each of the pairs, as if all runs had that one."""
        return tuple(map(FinitePair, self.pairs))


# Proved in docs/proofs/sampling.md, Lemma sampled-response.
class ResponseLaws(FiniteMasses, SwappedPair):
    """Randomized response: P = (p, 1−p) and Q = (1−p, p), in terms of p and t = log(p/(1−p))."""

    has_two_outcomes = True

    def truth_probability(self, ctx: Arithmetic) -> Number:
        """The probability p of the first answer under the first law."""
        raise NotImplementedError

    def lie_probability(self, ctx: Arithmetic) -> Number:
        """1 − p."""
        return 1 - self.truth_probability(ctx)

    def log_odds(self, ctx: Arithmetic) -> Number:
        """t = log(p/(1−p)), of either sign."""
        raise NotImplementedError

    def odds_apart(self, ctx: Arithmetic) -> Number:
        """|log(p/(1−p))|, of log-odds of either sign."""
        t = self.log_odds(ctx)
        return ctx.maximum(t, -t)

    def over_answers(self, ctx: Arithmetic, gap: Callable[[Order], Number]) -> Number:
        """(1−p) gap(t) + p gap(−t): the mean of gap(log(P/Q)) over Q."""
        t = self.log_odds(ctx)
        return self.lie_probability(ctx) * gap(t) + self.truth_probability(ctx) * gap(-t)

    def mean(
        self, ctx: Arithmetic, value: Value, alpha: Order | None, above_one: bool = False
    ) -> Number:
        """(1−p) value(t) + p value(−t), or value(|t|)/(e^{|t|} + 1) if `above_one`."""
        if above_one:
            pure = self.odds_apart(ctx)
            return value(pure) / (ctx.exp(pure) + 1)
        if ctx.rounds:
            return self.over_answers(ctx, value)
        p, t = self.truth_probability(ctx), self.log_odds(ctx)
        return (1 - p) * value(t) + p * value(-t)


@dataclass(frozen=True)
class TwoAnswers(ResponseLaws):
    """Randomized response that tells the truth with probability p."""

    p: Exact

    @property
    def masses(self) -> Masses:  # type: ignore[override]
        """(p, 1−p) of the first answer, and (1−p, p) of the second."""
        return two_answers(self.p)

    @property
    def all_laws(self) -> tuple[tuple[Exact, ...], ...]:  # type: ignore[override]
        """The laws for either value of the bit, which read as the masses do."""
        return self.masses

    @property
    def two_laws(self) -> tuple[Any, Any] | None:  # type: ignore[override]
        """Both laws' probabilities where p is rational, else None."""
        first, second = self.masses
        return (first, second) if isinstance(self.p, Fraction) else None

    def truth_probability(self, ctx: Arithmetic) -> Number:
        """The probability p with which one law gives the first answer."""
        return ctx.number(self.p)

    def log_odds(self, ctx: Arithmetic) -> Number:
        """log(p/(1−p)), of either sign."""
        if isinstance(self.p, Fraction):
            return ctx.log(ctx.number(self.p / (1 - self.p)))
        odds, rest = sympy.fraction(self.p)
        if rest == odds + 1:  # of e^ε/(1 + e^ε) it is ε, exactly
            return ctx.number(sympy.log(odds))
        if ctx.rounds:  # exact near p = 1/2
            return ctx.log1p(ctx.number((2 * self.p - 1) / (1 - self.p)))
        p = ctx.number(self.p)
        return ctx.log(p / (1 - p))


def two_answers(p: Exact) -> Masses:
    """The masses (P, Q) of both answers of randomized response: (p, 1−p) and (1−p, p)."""
    return ((p, 1 - p), (1 - p, p))


# --- densities


@dataclass(frozen=True)
class TwoDensities(Neighbours):
    """Two densities, and whether either may be that with the record.

    `overlap` is what is integrated over both (`Overlap` of mechanisms/pair.py).
    """

    overlap: Any
    either_way: bool


# --- what is stated of a mechanism's privacy


@dataclass(frozen=True)
class AnyPure(ResponseLaws):
    """Any ε-DP mechanism, ε = `pure`: randomized response is the worst one, p = e^ε/(1+e^ε)."""

    pure: Exact
    is_worst: bool = True

    is_whole_class = True

    @property
    def masses(self) -> Masses:  # type: ignore[override]
        """The masses of randomized response with p = e^ε/(1 + e^ε), as SymPy expressions."""
        p, q = (1 / (1 + sympy.exp(x)) for x in (-expression(self.pure), expression(self.pure)))
        return (p, q), (q, p)  # 1 − p would take as many bits as e^ε has

    def truth_probability(self, ctx: Arithmetic) -> Number:
        """e^ε/(1+e^ε)"""
        return 1 / (1 + ctx.exp(-ctx.number(self.pure)))

    def lie_probability(self, ctx: Arithmetic) -> Number:
        """1/(1+e^ε)"""
        return 1 / (1 + ctx.exp(ctx.number(self.pure)))

    def log_odds(self, ctx: Arithmetic) -> Number:
        """ε"""
        return ctx.number(self.pure)

    def odds_apart(self, ctx: Arithmetic) -> Number:
        """ε, which is never below 0"""
        return self.log_odds(ctx)

    def for_group(self, size: int) -> AnyPure:
        """An (ε·size)-DP mechanism."""
        return AnyPure(size * self.pure)


@dataclass(frozen=True)
class AnyApproximate(FiniteMasses):
    """Any (ε, δ)-DP mechanism: the worst one tells with probability δ which law it is."""

    epsilon: Exact
    delta: Exact

    @property
    def masses(self) -> Masses:  # type: ignore[override]
        """(δ, 0) and (0, δ) of what tells the law, and 1−δ times those of randomized response."""
        epsilon, delta = self.epsilon, self.delta
        p = 1 / (1 + sympy.exp(-expression(epsilon))) if epsilon else Fraction(1, 2)
        rest = (((1 - delta) * p, (1 - delta) * q) for p, q in two_answers(p))
        return ((delta, Fraction(0)), (Fraction(0), delta), *rest)


@dataclass(frozen=True)
class AnyOfRange(Neighbours):
    """Any mechanism of bounded range: its log-ratios lie at most ε = `pure` apart."""

    pure: Exact


# --- many laws under one


@dataclass(frozen=True)
class Under(Neighbours):
    """Many laws under those of `above`; some neighbours have those of `least` in every run."""

    above: Neighbours
    least: Callable[[], Neighbours]

    @property
    def worst(self) -> SwappedPair | None:
        """The worst pair of `above`; None where that has none."""
        return self.above.worst

    @property
    def fixed(self) -> tuple[Neighbours, ...]:
        """The laws of `least` alone."""
        return (self.least(),)


class Dominated(Under):
    """Laws that those of `above` dominate."""

    kind = Kind.UPPER


class Worst(Under):
    """Laws of which each test of `above` by a threshold is a test of some of them.

    So one run has the profile of `above`.
    """
