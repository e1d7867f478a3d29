"""DistributionPair: two laws of a mechanism's output, and what sampling makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, singledispatch
from math import isqrt
from typing import Any, ClassVar, TypeAlias

import numpy as np

from symacct.analysis.densities import (
    ChiDivergence,
    Entropy,
    Excess,
    Integrand,
    MixtureIntegrand,
    ProgressionSeries,
    ReverseEntropy,
    Rules,
    Side,
    expectation,
    largest_log_ratio,
    plain_expectation,
    sides,
)
from symacct.analysis.normal_mixtures import NormalParts, power_integral, relative_entropy
from symacct.kernel import parameters, symbols
from symacct.kernel.answer import Enclosure, from_ball, to_digits
from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import (
    ADD_REMOVE,
    ANY_OF_SEVERAL,
    LARGER,
    SWAPPED,
    ZERO_OUT,
    Adjacency,
    AttainedBy,
    Claim,
    Kind,
    Orders,
    Source,
)
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import AdjacencyError, DomainError, PrecisionError, cut, echo
from symacct.kernel.exact import (
    INFINITY,
    Exact,
    Numeric,
    Order,
    directed_order,
    expression,
    sympy,
    typed_value,
)
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Mechanism, Node, order_by_order
from symacct.kernel.parameters import number_of_records, rate
from symacct.kernel.sources import GAL13, VEH14
from symacct.laws.density import Density, interval_of, no_integrals
from symacct.laws.families import Laplace as LaplaceLaw
from symacct.laws.law import Direction, FiniteDirection, Law, RoundedDirection
from symacct.laws.neighbours import FinitePairs, Neighbours, TwoDensities, Unknown
from symacct.laws.normal import LogNormal, MultivariateNormal, Normal
from symacct.mechanisms.gaussian import Gaussian
from symacct.mechanisms.laplace import Laplace

# --- mixtures of two laws
#
# What sampling makes of two laws: D_α of (1−γ)Q + γP from Q, and back, in each arithmetic.


@dataclass(frozen=True)
class Overlap:
    """Two laws P and Q with densities on the line or masses on 0, 1, …, for integrals over both.

    Not normalised: a kernel is a density up to the constant that `log_totals` gives.
    """

    P: Law
    Q: Law

    @cached_property
    def is_equal(self) -> bool:
        """Are the two densities proved to be the same? False where SymPy does not see it."""
        P, Q = self.P.kernel, self.Q.kernel  # noqa: N806
        if P is None or Q is None:
            return self.P == self.Q
        ends = (P.cuts[0], P.cuts[-1]) == (Q.cuts[0], Q.cuts[-1])
        return ends and not sympy.expand(P.log - Q.log).has(symbols.x)

    @cached_property
    def sides(self) -> list[Side]:
        """The halves of the pieces on which a density is positive; both laws need a kernel."""
        assert self.P.kernel is not None and self.Q.kernel is not None  # noqa: S101, PT018
        return sides(self.P.kernel, self.Q.kernel)

    @property
    def has_one_support(self) -> bool:
        """Are both densities positive on the same pieces?"""
        return all(None not in side.logs for side in self.sides)

    @cached_property
    def series(self) -> ProgressionSeries | None:
        """The term-by-term sum over 0, 1, …; None unless both laws live there."""
        first, second = self.P.log_progression, self.Q.log_progression
        return None if first is None or second is None else ProgressionSeries((first, second))

    @cached_property
    def normal_parts(self) -> tuple[NormalParts, NormalParts] | None:
        """Both laws where they are mixtures of normal laws of one variance; else None."""
        first, second = self.P.normal_parts, self.Q.normal_parts
        if first is None or second is None or first.variance != second.variance:
            return None
        return first, second

    @cached_property
    def rules(self) -> Rules | None:
        """Rules in float64 that compare orders and prove nothing.

        None without kernels, with different supports, and for normal mixtures, which are summed.
        """
        if self.P.kernel is None or self.Q.kernel is None or self.normal_parts is not None:
            return None
        return Rules(self.sides) if self.has_one_support else None

    def log_totals(self, ctx: Arithmetic) -> tuple[Any, Any]:
        """log ∫ e^kernel of P and of Q, which are subtracted from the kernels' logarithms."""
        return self.P.log_total(ctx), self.Q.log_total(ctx)

    def in_balls(self, question: Integrand) -> Any:
        """The expectation over Q that is asked, in balls at the current precision; ∞ if proved.

        PrecisionError where neither a finite value nor divergence is proved.
        """
        if self.series is not None:
            return self.series.expectation(question, BALL.bits)
        if self.normal_parts is not None and isinstance(question, MixtureIntegrand):
            return _over_normal_parts(*self.normal_parts, question)
        return expectation(self.sides, question, lambda: self.log_totals(BALL), BALL.bits)


def _over_normal_parts(p: NormalParts, q: NormalParts, question: MixtureIntegrand) -> Any:
    """E_q[(m/q)^β] − 1, D_1(m‖q) or D_1(q‖m), m = (1−γ)q + γp, by sums over normal mixtures."""
    mixed = p.mixed(q, question.gamma)
    if isinstance(question, Excess):
        return power_integral(mixed, q, question.power, BALL.bits) - 1
    pair = (mixed, q) if isinstance(question, Entropy) else (q, mixed)
    return relative_entropy(*pair, BALL.bits)


@dataclass(frozen=True)
class MixtureDirection(Direction):
    """D_α(m‖Q), m = (1−γ)Q + γP, or D_α(Q‖m) if `reverse`; 0 < γ <= 1, and γ < 1 if `reverse`."""

    overlap: Overlap
    gamma: Exact = Fraction(1)
    reverse: bool = False

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ log E_Q[(m/q)^β]/(α−1), by the excess over 1; 0 for equal laws"""
        if self.overlap.is_equal:
            return lambda alpha: ctx.number(0)

        def rdp(alpha: Order) -> Any:
            return ctx.log1p(_ask(ctx, self, self.power(alpha))) / ctx.number(alpha - 1)

        return rdp

    def power(self, alpha: Any) -> Any:
        """The exponent β of m/Q whose mean over Q gives D_α: α, or 1 − α if `reverse`."""
        return 1 - alpha if self.reverse else alpha

    def float_divergence(self, alpha: Fraction) -> float:
        """D_α at one order α > 1 in float64, which steers; ∞ only where divergence is proved.

        `overlap.rules` has to be there. Its `finite_to` is raised to the power proved finite here.
        """
        power, rules = self.power(alpha), self.overlap.rules
        assert rules is not None  # noqa: S101  # it is asked of pairs that have them
        if power > rules.finite_to:
            if any(self.question(power).diverges(side) for side in self.overlap.sides):
                return INFINITY
            rules.finite_to = power
        log_excess = rules.log_excess(float(self.gamma), float(power))
        return float(np.logaddexp(0.0, log_excess)) / float(alpha - 1)

    def at_one(self, ctx: Arithmetic) -> Number:
        """The Kullback–Leibler divergence, 0 for equal laws."""
        return ctx.number(0) if self.overlap.is_equal else _ask(ctx, self, None)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """sup log(P/Q), for γ = 1 and P first alone; else NotImplementedError.

        A sample's callers make log(1−γ+γe^s) of the unsampled pair's s.
        """
        if self.gamma != 1 or self.reverse:
            raise NotImplementedError("order ∞ is answered by the pair itself")
        if self.overlap.is_equal:
            return ctx.number(0)
        parts = self.overlap.normal_parts
        if parts is not None and parts[0].reaches_beyond(parts[1]):
            return ctx.number(INFINITY)
        return _largest(ctx, self.overlap)

    def chi(self, l: int) -> Any:
        """E_Q[(P/Q − 1)^l] in balls."""
        return BALL.number(0) if self.overlap.is_equal else self.overlap.in_balls(ChiDivergence(l))

    def question(self, power: Fraction | None) -> Integrand:
        """The integrand of E_Q[(m/Q)^power] − 1; of D_1(m‖Q), or D_1(Q‖m), where power is None.

        DomainError for an irrational γ.
        """
        gamma = self.gamma
        if isinstance(gamma, sympy.Expr):
            raise DomainError(
                f"found the rate {gamma}, needed a rational number",
                remedy="put a number in its place, or ask for the formula",
            )
        if power is None:
            return ReverseEntropy(gamma) if self.reverse else Entropy(gamma)
        return Excess(gamma, power)


def has_closed_form(P: Law, Q: Law) -> bool:  # noqa: N803
    """Are both laws of one family, and not given by formulas, with a closed form of D_α?"""
    return type(P) is type(Q) and not isinstance(P, Density) and P.why_no_closed_form(Q) is None


def between(P: Law, Q: Law) -> Direction:  # noqa: N803
    """P against Q: in closed form within a family that has one, else by quadrature."""
    if has_closed_form(P, Q):
        return P.against(Q)
    return MixtureDirection(Overlap(P, Q))


def mixed(P: Law, Q: Law, gamma: Exact) -> list[MixtureDirection]:  # noqa: N803
    """D_α(m‖Q) and D_α(Q‖m) of the mixture m = (1−γ)Q + γP, 0 < γ < 1, in this order.

    `why_not_mixed` has to be None.
    """
    overlap = Overlap(*one_dimensional(P, Q))
    return [MixtureDirection(overlap, gamma, reverse) for reverse in (False, True)]


def noise(P: Any, Q: Any) -> Gaussian | Laplace | None:  # noqa: N803
    """The Gaussian or Laplace mechanism with this pair of laws; None where it is no such pair.

    None also for equal laws, and where σ/Δ is irrational.
    """
    if type(P) is not type(Q) or P == Q or not P.is_swapped_with(Q):
        return None
    if isinstance(P, LaplaceLaw):
        return Laplace(P.scale / abs(P.mean - Q.mean))
    P, Q = one_dimensional(P, Q)  # noqa: N806
    if isinstance(P, Normal):
        variance = P.variance / (P.mean - Q.mean) ** 2
        roots = isqrt(variance.numerator), isqrt(variance.denominator)
        if (roots[0] ** 2, roots[1] ** 2) == (variance.numerator, variance.denominator):
            return Gaussian(Fraction(*roots))
    return None


def one_dimensional(P: Any, Q: Any) -> tuple[Any, Any]:  # noqa: N803
    """Two laws on the line with the same likelihood ratio; the laws themselves for other pairs.

    Of log-normal laws these are the normal ones, of multivariate normal laws of one covariance Σ
    and means δ apart N(d, d) and N(0, d), d = δᵀΣ⁻¹δ.
    """
    if isinstance(P, LogNormal) and isinstance(Q, LogNormal):
        return Normal(P.mean, P.variance), Normal(Q.mean, Q.variance)
    if isinstance(P, MultivariateNormal) and P.is_swapped_with(Q):
        distance = P.squared_distance(Q)
        if distance:
            return Normal(distance, distance), Normal(0, distance)
    return P, Q


def why_not_mixed(P: Law, Q: Law) -> str | None:  # noqa: N803
    """What a message says two laws need so that `mixed` can integrate or sum; None if they do."""
    P, Q = one_dimensional(P, Q)  # noqa: N806
    if P.kernel is not None and Q.kernel is not None:
        return None
    if type(P) is type(Q) and P.log_progression is not None:
        return None
    return "two densities on the line, or two Poisson or two geometric laws"


# --- in each arithmetic


@singledispatch
def _ask(ctx: Arithmetic, direction: MixtureDirection, power: Any) -> Number:
    """E_Q[(m/Q)^power] − 1 in this arithmetic, or D_1 where power is None.

    DomainError for an arithmetic that has no integrals.
    """
    raise no_integrals(ctx)


@_ask.register
def _(ctx: BallArithmetic, direction: MixtureDirection, power: Any) -> Number:
    """A certified enclosure; ∞ where divergence is proved."""
    power = None if power is None else Fraction(power)
    return direction.overlap.in_balls(direction.question(power))


@_ask.register
def _(ctx: Float64Arithmetic, direction: MixtureDirection, power: Any) -> Number:
    """The certified value, rounded."""
    power = None if power is None else Fraction(power)
    return ctx.from_balls(lambda: direction.overlap.in_balls(direction.question(power)))


@_ask.register
def _(ctx: MpmathArithmetic, direction: MixtureDirection, power: Any) -> Number:
    """By mpmath's sum or quadrature, certified nowhere; ∞ where divergence is proved exactly."""
    overlap = direction.overlap
    question = direction.question(None if power is None else Fraction(power))
    if overlap.series is not None:
        if question.diverges(overlap.series):  # type: ignore[arg-type]
            return ctx.number(INFINITY)
        return overlap.series.plain(ctx, question)
    if any(question.diverges(side) for side in overlap.sides):
        return ctx.number(INFINITY)
    return plain_expectation(ctx, overlap.sides, question, overlap.log_totals(ctx))


@_ask.register
def _(ctx: SymbolicArithmetic, direction: MixtureDirection, power: Any) -> Number:
    """The integral or the sum as it is written; DomainError for laws on different intervals."""
    P: Any = direction.overlap.P  # noqa: N806
    Q: Any = direction.overlap.Q  # noqa: N806
    gamma = expression(direction.gamma)
    if direction.overlap.series is not None:
        k = sympy.Symbol("k", integer=True, nonnegative=True)
        p, q = (sympy.exp(law.log_progression.formula(k)) for law in (P, Q))
        span = (k, 0, sympy.oo)
        whole: Any = sympy.Sum
    else:
        if P.kernel.cuts[0] != Q.kernel.cuts[0] or P.kernel.cuts[-1] != Q.kernel.cuts[-1]:
            raise DomainError(
                f"formula: found {echo(P)} and {echo(Q)}, needed laws on the same interval"
            )
        p, q = (sympy.exp(law.kernel.log - law.log_total(ctx)) for law in (P, Q))
        span = interval_of(P.kernel)
        whole = written.Integral
    ratio = p / q if gamma == 1 else 1 - gamma + gamma * p / q
    if power is not None:
        return whole(q * ratio**power, span) - 1
    value = -q * sympy.log(ratio) if direction.reverse else q * ratio * sympy.log(ratio)
    return whole(value, span)


@singledispatch
def _largest(ctx: Arithmetic, overlap: Overlap) -> Number:
    """ess sup log(P/Q) of two laws with kernels, by branch and bound in balls."""
    raise no_integrals(ctx)


@_largest.register
def _(ctx: BallArithmetic, overlap: Overlap) -> Number:
    """The enclosure, ∞ where it is proved; PrecisionError where nothing is."""
    bits = ctx.bits
    with precision(2 * bits):
        largest = largest_log_ratio(overlap.sides, bits)
        if largest.is_nan():
            raise PrecisionError(
                "order ∞: found no value of the log-ratio of the densities at some point, needed "
                "its supremum",
                remedy="ask at a finite order",
            )
        if not largest.is_finite():
            return ctx.number(INFINITY)
        first, second = overlap.log_totals(ctx)
        return largest - first + second


@_largest.register
def _(ctx: Float64Arithmetic, overlap: Overlap) -> Number:
    """The certified value, rounded."""
    return ctx.from_balls(lambda: _largest(BALL, overlap))


@_largest.register
def _(ctx: MpmathArithmetic, overlap: Overlap) -> Number:
    """The middle of the certified ball, as the search is the same in every arithmetic."""
    with precision(ctx.bits):
        value = _largest(BALL, overlap)
        if not value.is_finite():
            return ctx.number(INFINITY)
        return ctx.number(rational(value))


@_largest.register
def _(ctx: SymbolicArithmetic, overlap: Overlap) -> Number:
    """DomainError: a supremum that is searched for has no formula."""
    raise DomainError(
        "formula: found order ∞ of a pair of densities, which has no formula",
        remedy="ask for its value",
    )


# --- the mechanism
#
# DistributionPair: the two laws of a mechanism's output on neighbouring datasets.

#: The probabilities (p, q) of every outcome under P and under Q.
Masses = tuple[tuple[Fraction, Fraction], ...]
#: A message shows this many characters of a formula, about a line. Only messages rest on it.
_SHOWN_CHARACTERS = 120
#: Probabilities as a user gives them.
Given: TypeAlias = Iterable[Numeric] | Mapping[Hashable, Numeric]

#: The premise of a pair whose first law is stated to be that with the record.
_WITH_RECORD = "the law P is that of the dataset with the record, and Q that of the one without it"
#: The premise of a pair whose laws the datasets may have either way round.
_IN_ANY_ORDER = (
    "any two neighbouring datasets have these two laws, one each; which has which may change from "
    "run to run"
)


class DistributionPair(Mechanism):
    """A mechanism whose output has the law P or Q on any two neighbouring datasets:

    ε(α) = max( D_α(P‖Q), D_α(Q‖P) ), D_α(P‖Q) = log( E_Q[(P/Q)^α] )/(α−1).

    P and Q are two lists of exact probabilities of the same outcomes, or two mappings {outcome:
    probability}, which are matched by outcome; each probability is at least 0, and their sum is 1.
    P and Q may also be two of `symacct.laws`: laws of one family, or densities on the line, which
    are integrated. ε(∞) is the larger essential supremum of the log-ratio. If one law has outcomes
    that the other lacks, ε = ∞.

    Neighbours are unordered: which of the two datasets has the law P may change from run to run and
    depend on earlier outputs, and in a sample either dataset may be the one with the record. The
    curves of several runs still add exactly, because at each order one direction is the larger in
    every run. `with_record="P"` states that P is the law of the dataset with the record in every
    run, and Q the law of the dataset without it; it needs adjacency="add_remove" or
    "zero_out".

    `adjacency` says for which neighbours the pair holds. `records` is the size of the larger
    dataset, if the laws hold for that size only; then no sampling may be put above the pair. Raises
    DomainError, LimitError, AdjacencyError, and PrecisionError if an integral is not proved to be
    finite or infinite. ε(α) is in nats. No source is needed for the definition, VEH14's; if a
    family of laws has a closed form, `cite` names its source.

    >>> print(DistributionPair(["1/2", "1/2"], ["1/3", "2/3"]).rdp("inf", digits=10))
    0.4054651081
    """

    P: Any  # a Law, or the tuple of its probabilities
    Q: Any
    adjacency: Adjacency
    #: The law of the dataset with the record, in every run: "P", or "either".
    with_record: str
    records: int | None
    _json_optional: ClassVar[tuple[str, ...]] = ("with_record", "records")
    kind = Kind.EXACT
    _stated_by = "laws"

    @property
    def words(self) -> str:  # type: ignore[override]
        """A noun phrase that says which dataset has which law, where `with_record` states it."""
        on = (
            ("the dataset with the record", "the one without it")
            if self.with_record == "P"
            else ("one of two neighbouring datasets", "the other, in either order")
        )
        return (
            f"a mechanism whose answer is distributed as {{P}} on {on[0]} and as {{Q}} on {on[1]}"
        )

    @property
    def premises(self) -> tuple[str, ...]:  # type: ignore[override]
        """Which dataset has which law, and for which number of records."""
        sized = ("the larger of two neighbouring datasets has {records} records",)
        laws = _WITH_RECORD if self.with_record == "P" else _IN_ANY_ORDER
        return (laws, *(sized if self._counts_records else ()))

    def __new__(
        cls,
        P: Law | Given,  # noqa: N803
        Q: Law | Given,  # noqa: N803
        adjacency: str | Adjacency = "either",
        with_record: str = "either",
        records: Numeric | None = None,
    ) -> DistributionPair:
        relation = named_adjacency(adjacency)
        with_record = parameters.one_of(
            with_record, "DistributionPair, with_record", ("either", "P")
        )
        if with_record == "P" and relation not in (ADD_REMOVE, ZERO_OUT):
            raise AdjacencyError(
                f"DistributionPair: found with_record='P' with adjacency {relation}, needed "
                "'add_remove' or 'zero_out': with replace_one both datasets have a record in that "
                "place"
            )
        if isinstance(P, Law) or isinstance(Q, Law):
            _check_laws(P, Q)
        else:
            _check_no_formula(P, Q)
            P, Q = _matched(P, Q)  # noqa: N806
            P = probabilities(P, "DistributionPair, P")  # noqa: N806
            Q = probabilities(Q, "DistributionPair, Q")  # noqa: N806
            if len(P) != len(Q):
                raise DomainError(
                    f"DistributionPair: found {len(P)} outcomes of P and {len(Q)} of Q, needed "
                    "the same outcomes in both",
                    remedy="give those that one law lacks the probability 0",
                )
        return cls._intern(
            P=P,
            Q=Q,
            adjacency=relation,
            with_record=with_record,
            records=number_of_records(records, "DistributionPair, records"),
        )

    @property
    def _counts_records(self) -> bool:  # type: ignore[override]
        """Does the pair hold for `records` records alone, so that nothing may sample above it?"""
        return self.records is not None

    @property
    def sizes(self) -> tuple[int, float]:
        """The number of records where it was stated."""
        return super().sizes if self.records is None else (self.records, self.records)

    @property
    def source(self) -> Source:  # type: ignore[override]
        """The definition, or the closed forms of the families."""
        if isinstance(self.P, Law) and has_closed_form(self.P, self.Q):
            return GAL13.at("closed forms of the univariate and the normal families")
        return VEH14.at("Definition 2")

    @property
    def _never_ends(self) -> bool:  # type: ignore[override]
        """Is the curve proved finite at every order, as for normal mixtures of one variance?"""
        return self.masses is None and Overlap(self.P, self.Q).normal_parts is not None

    @property
    def _has_one_law_of_record(self) -> bool:
        """Is P stated to be the law of the dataset with the record, whatever that is?"""
        return self.with_record == "P"

    @cached_property
    def masses(self) -> Masses | None:
        """(p, q) for every outcome; None unless there are finitely many events that count."""
        if isinstance(self.P, Law):
            return self.P.masses_against(self.Q)
        return tuple(zip(self.P, self.Q, strict=True))

    @cached_property
    def neighbours(self) -> Neighbours:
        """The two laws, either way round unless `with_record` states one.

        `Unknown` for laws that have neither finitely many masses nor densities of one support.
        """
        if self.masses is not None:
            return FinitePairs(tuple(role.masses or () for role in self.roles))
        if (known := noise(self.P, self.Q)) is not None:
            return known.neighbours.of_two_laws()
        overlap = Overlap(*one_dimensional(self.P, self.Q))
        if overlap.P.kernel is None or overlap.Q.kernel is None or not overlap.has_one_support:
            return Unknown("finitely many outcomes, or two densities on the same part of the line")
        return TwoDensities(overlap, either_way=len(self.roles) > 1)

    @cached_property
    def _swap_symmetric(self) -> bool:
        """Is an involution known that swaps P and Q, so that both directions have one curve?

        False where none is found, though one may exist.
        """
        masses = self.masses
        if masses is None:
            one_family = type(self.P) is type(self.Q)
            return self.P == self.Q or (one_family and self.P.is_swapped_with(self.Q))
        return Counter(masses) == Counter((q, p) for p, q in masses)

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """Either way round, unless P is stated to have the record or a symmetry swaps the laws."""
        if self._swap_symmetric:
            return SWAPPED
        return LARGER if self.with_record == "P" else ANY_OF_SEVERAL

    def direction(self, reverse: bool = False) -> Direction:
        """D_α(P‖Q) as a function of the order, or D_α(Q‖P) if `reverse`."""
        masses = self.masses
        if masses is None:
            return between(self.Q, self.P) if reverse else between(self.P, self.Q)
        return FiniteDirection([(q, p) for p, q in masses] if reverse else masses)

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ the larger D_α of both directions"""
        curves = [direction.curve(ctx) for direction in self._directions(ctx)]

        def rdp(alpha: Order) -> Number:
            return largest_of(ctx, (partial(curve, alpha) for curve in curves))

        # Whether the integral of two laws converges is decided exactly, order by order.
        return order_by_order(ctx, rdp) if self.masses is None else rdp

    def stable_excess(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """α ↦ e^{(α−1)ε(α)} − 1 without cancelling, for finite laws; None for others"""
        if self.masses is None:
            return None
        directions: list[Any] = self._directions(ctx)
        curves = [direction.stable_excess(ctx) for direction in directions]
        return lambda alpha: ctx.maximum(*(excess(alpha) for excess in curves))

    def at_one(self, ctx: Arithmetic) -> Number:
        """The larger Kullback–Leibler divergence of both directions."""
        return largest_of(ctx, (partial(d.at_one, ctx) for d in self._directions(ctx)))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """The larger D_∞ of both directions."""
        return largest_of(ctx, (partial(d.at_infinity, ctx) for d in self._directions(ctx)))

    def _directions(self, ctx: Arithmetic) -> list[Direction]:
        """The directions whose larger value is the curve: one where a symmetry swaps the laws."""
        both = (False,) if self._swap_symmetric else (False, True)
        directions = [self.direction(reverse) for reverse in both]
        if self.masses is None and isinstance(ctx, Float64Arithmetic):
            return [RoundedDirection(direction) for direction in directions]
        return directions

    def divergence(self, alpha: Order, digits: int = 30, reverse: bool = False) -> Enclosure:
        """D_α(P‖Q) in nats as an Enclosure, or D_α(Q‖P) if `reverse`, for one order α ∈ [0, ∞].

        Orders below 1 need finitely many outcomes or an exponential family (WBK19 Appendix I), else
        OrderError. Raises DomainError for an irrational order, and PrecisionError.

        >>> pair = DistributionPair(["1/2", "1/2"], ["1/4", "3/4"])
        >>> print(pair.divergence(2, digits=5), pair.divergence(2, digits=5, reverse=True))
        0.28768 0.22314
        """
        at, direction = directed_order(alpha), self.direction(parameters.flag(reverse, "reverse"))
        if not isinstance(at, int | float | Fraction):
            raise DomainError(f"order alpha: found {echo(at)}, needed a rational number or ∞")
        claim = Claim(self.kind, self.adjacency, Orders(0), sources=(self.source,))
        places = parameters.digits(digits)
        ball, _, _ = to_digits(
            lambda: (direction.at(BALL, at), claim),
            places,
            lambda: f"D({'Q‖P' if reverse else 'P‖Q'}) at order {echo(at)}",
        )
        return from_ball(ball, claim, places, claim.certified)

    def swapped(self) -> DistributionPair:
        """The pair (Q, P)."""
        return type(self)(self.Q, self.P, self.adjacency, self.with_record, self.records)

    @property
    def roles(self) -> tuple[DistributionPair, ...]:
        """The pairs whose first law may be that with the record: this one, and (Q, P) if needed.

        It is one pair where `with_record` states it, or a symmetry swaps the laws.
        """
        is_one = self.with_record == "P" or self._swap_symmetric
        return (self,) if is_one else (self, self.swapped())

    def sampled(self, gamma: Number) -> DistributionPair:
        """((1−γ)Q + γP, Q): what sampling at a rational rate γ makes of a finite pair.

        P is the law with the record. DomainError for a pair that is not finite.

        >>> DistributionPair([1, 0], [0, 1]).sampled("1/4")
        DistributionPair(['1/4', '3/4'], [0, 1])
        """
        gamma = rate(gamma, "DistributionPair.sampled, gamma")
        if not isinstance(gamma, Fraction) or self.masses is None:
            raise DomainError(
                f"DistributionPair.sampled: found {echo(self)} at the rate {gamma}, needed "
                "finitely many outcomes and a rational rate",
                remedy="PoissonSubsample bounds the others",
            )
        mixed = mixture(self.masses, gamma)
        laws = [m for m, _ in mixed], [q for _, q in mixed]
        return type(self)(*laws, self.adjacency, self.with_record, self.records)


@singledispatch
def stated_pair(mechanism: Node) -> DistributionPair | None:
    """The pair of laws that the mechanism is given by; None where it is given otherwise."""
    return None


@stated_pair.register
def _(mechanism: DistributionPair) -> DistributionPair:
    """The pair itself."""
    return mechanism


@singledispatch
def as_noise(mechanism: Node) -> Node:
    """The Gaussian or Laplace mechanism with the curve of this node; the node itself for others."""
    return mechanism


@as_noise.register
def _(mechanism: DistributionPair) -> Node:
    """The noise of two laws that are not finite; the pair itself for others."""
    if mechanism.masses is not None:
        return mechanism
    return noise(mechanism.P, mechanism.Q) or mechanism


def largest_of(ctx: Arithmetic, questions: Iterable[Callable[[], Number]]) -> Number:
    """The largest answer: ∞ as soon as one is, whether or not the others can be computed.

    Raises the first PrecisionError of an answer where none is ∞.
    """
    answers, failed = [], None
    for question in questions:
        try:
            answer = question()
        except PrecisionError as error:
            failed = failed or error
            continue
        if ctx.is_infinite(answer):
            return answer
        answers.append(answer)
    if failed is not None:
        raise failed
    return ctx.maximum(*answers)


def mixture(masses: Iterable[tuple[Any, Any]], gamma: Number) -> list[tuple[Any, Any]]:
    """((1−γ)q + γp, q) for every outcome; γ may be a SymPy expression."""
    return [(q + gamma * (p - q), q) for p, q in masses]


def _matched(P: object, Q: object) -> tuple[Any, Any]:  # noqa: N803
    """P's and Q's probabilities in P's order of outcomes, which mappings give by name.

    Lists are left as they are. DomainError for one mapping alone, or different outcomes.
    """
    if not isinstance(P, Mapping) and not isinstance(Q, Mapping):
        return P, Q
    if not isinstance(P, Mapping) or not isinstance(Q, Mapping):
        raise DomainError(
            f"DistributionPair: found {type(P).__name__} for P and {type(Q).__name__} for Q, "
            "needed two mappings {outcome: probability}, or two lists"
        )
    apart = {"P": [key for key in P if key not in Q], "Q": [key for key in Q if key not in P]}
    for name, keys in apart.items():
        if keys:
            known = ", ".join(map(echo, keys[:3])) + (", …" if len(keys) > 3 else "")
            raise DomainError(
                f"DistributionPair: found the outcomes {known} in {name} alone, needed the same "
                "outcomes in both",
                remedy="give those that one law lacks the probability 0",
            )
    return list(P.values()), [Q[key] for key in P]


def probabilities(values: object, what: str) -> tuple[Fraction, ...]:
    """The exact rational probabilities >= 0 that sum to exactly 1; DomainError for others."""
    example = "['1/3', '2/3'], a mapping {outcome: probability}, or one of symacct.laws"
    numbers = tuple(
        typed_value(value, what) for value in parameters.ordered_members(values, what, example)
    )
    for number in numbers:
        if not isinstance(number, Fraction):
            raise DomainError(f"{what}: found {echo(number)}, needed rational probabilities")
        if number < 0:
            raise DomainError(f"{what}: found {echo(number)}, needed probabilities >= 0")
    total = sum(numbers)
    if total != 1:
        raise DomainError(
            f"{what}: found probabilities that sum to {echo(total)}, needed exactly 1; "
            "write them as fractions, as '1/3': a float is the decimal that it prints as"
        )
    return numbers


def _check_no_formula(*laws: object) -> None:
    """Raise DomainError for a formula or a text, of which `laws.Density` makes a law."""
    for name, law in zip("PQ", laws, strict=True):
        if isinstance(law, str | sympy.Expr):
            shown = cut(law, _SHOWN_CHARACTERS) if isinstance(law, str) else echo(law)
            written = shown if shown.startswith("laws.") else f"laws.Density('{shown}')"
            raise DomainError(
                f"DistributionPair, {name}: found {echo(law)}, needed a law or a list of "
                f"probabilities",
                remedy=f"a density is a law, written {written}",
            )


def _check_laws(P: object, Q: object) -> None:  # noqa: N803
    """Raise DomainError unless D_α of both laws has a closed form, or both have densities."""
    if not isinstance(P, Law) or not isinstance(Q, Law):
        raise DomainError(
            f"DistributionPair: found {echo(P)} and {echo(Q)}, needed two laws, "
            "or two lists of probabilities"
        )
    if has_closed_form(P, Q) or (P.kernel is not None and Q.kernel is not None):
        return
    reason = P.why_no_closed_form(Q) if type(P) is type(Q) else None
    raise DomainError(
        f"DistributionPair: found {echo(P)} and {echo(Q)}, needed "
        f"{reason or 'two laws of one family, or two densities on the line'}"
    )
