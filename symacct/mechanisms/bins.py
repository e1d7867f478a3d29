"""Balls in bins: the matrix mechanism, where each record draws one place of all epochs."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpz, fmpz_mat, fmpz_poly

from symacct.analysis.lognormal import Lognormal, LognormalMoments
from symacct.analysis.ring_moments import cost, ring_moments
from symacct.kernel import parameters
from symacct.kernel.arithmetic import BALL, Arithmetic, BallArithmetic, MpmathArithmetic, Number
from symacct.kernel.arithmetic.ball import floor, precision, rational
from symacct.kernel.claims import Adjacency, Kind, Relation, of_one_record
from symacct.kernel.errors import DomainError, LimitError, PrecisionError, echo
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, exact, expression, sympy
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Mechanism
from symacct.kernel.parameters import positive, whole
from symacct.kernel.sources import SYMACCT
from symacct.laws.neighbours import AllocatedNoise, NormalShift
from symacct.mechanisms.matrix import FIXED, UNIT_OF, Rows, rows_of

#: More steps of all epochs are refused; it only limits sizes, and no bound rests on it.
_MOST_STEPS = 10**6
#: The largest whole order at which moments are summed, some of which cost its fourth power. Where
#: a sample helps, the best orders are far smaller.
_LAST_ORDER = 40
#: Products of balls for all moments of one ring, about a tenth of a second. More take longer, and
#: may bound more sharply.
_MOST_PRODUCTS = 150_000
#: The largest reach of a ring, beyond which few orders are within these products. A longer one
#: takes longer, and may bound more sharply.
_LONGEST_REACH = 8
#: A ring that has no moment of this order within these products is not summed. It saves time, and
#: may miss a sharper bound.
_FIRST_LAST_ORDER = 4
#: Bits of a moment beyond those of its logarithm, for the roundings of its sum. Of fewer the ball
#: is wider.
_GUARD_BITS = 16
#: The square of the largest move in units of the noise, in nats: a secret place saves the logarithm
#: of the number of bins, and less noise is accounted for as if the place were revealed.
_MOST_NOISE_UNITS = 500
#: The largest exponent of float64's e^x, which only compares rings. It steers.
_LARGEST_EXPONENT = 700.0
#: The moments of negative orders α − 1 are asked from this order on: those next to it are near 1,
#: and the curve at 1 is no more than here. Any is sound; a larger one bounds less sharply.
_FIRST_ORDER_OF_MEANS = Fraction(9, 8)
#: The premise says how records draw their bins.
_DRAWN = (
    "each record draws its place in the epoch, one of {bins}, uniformly at random and "
    "independently of all other records, once for all epochs, and the draws are kept secret"
)


class BallsInBins(Mechanism):
    """The matrix mechanism in epochs of b = `bins` batches, where a record draws its place once:

    CX + N(0, σ²) in every entry, and the record is in the batches i, i+b, i+2b, … of a secret i.

    Each record draws i uniformly from 0, …, b−1, independently of all other records. `strategy` is
    C, which has a column for each of the b·`epochs` steps, as a list of rows; or the list of the
    numbers on its diagonals from the main one down, if C is lower triangular and each diagonal is
    constant (Toeplitz). If C is lower triangular, what a record adds to a step may depend on all
    earlier outputs. It is a vector of norm at most 1, the unit of `sigma`. The curve is an upper
    bound for a record that is added or removed, or with `adjacency="zero_out"` for one that is
    zeroed out. In numbers it is that of a mean of correlated lognormal variables up to the order
    40; in formulas, code and float64 it is as if i were revealed. conversion="exact" bounds δ by
    another pair. RandomAllocation is this without a matrix, where a record draws a place for each
    epoch anew. Sampling this mechanism means one sample for all steps. Raises DomainError,
    AdjacencyError and LimitError. ε(α) is in nats. Source: docs/proofs/allocations.md, bins-pair,
    bins-removal and bins-addition.

    >>> print(BallsInBins([1, "1/2", "1/4"], 3, bins=10, epochs=10).rdp(4, digits=5))
    1.1664
    """

    strategy: Rows | tuple[Fraction, ...]
    sigma: Exact
    bins: int
    epochs: int
    adjacency: Adjacency
    kind = Kind.UPPER
    _says_who_takes_part = True
    _drawing = "each record drawing its batch independently and in secret"
    _steepest_up_to = INFINITY
    words = (
        "the matrix mechanism (strategy {strategy}, $σ = {sigma}$) over {epochs:epoch} of "
        "{bins:step}, with each record in one step of each, at one place that it draws "
        "independently of other records and in secret"
    )
    source = SYMACCT.at("docs/proofs/allocations.md, bins-pair, bins-removal and bins-addition")

    def __new__(
        cls,
        strategy: Iterable[Numeric] | Iterable[Iterable[Numeric]],
        sigma: Numeric,
        bins: Numeric,
        epochs: Numeric = 1,
        adjacency: str | Adjacency = "add_remove",
    ) -> BallsInBins:
        relation = of_one_record(adjacency, "BallsInBins")
        places = whole(bins, "BallsInBins, bins", least=1)
        passes = whole(epochs, "BallsInBins, epochs", least=1)
        if places * passes > _MOST_STEPS:
            raise DomainError(
                f"BallsInBins: found bins * epochs = {echo(places * passes)}, needed at most "
                f"{_MOST_STEPS:,} steps"
            )
        return cls._intern(
            strategy=_strategy(strategy, places * passes),
            sigma=positive(sigma, "BallsInBins, sigma"),
            bins=places,
            epochs=passes,
            adjacency=relation,
        )

    def _premises_for(self, relation: Relation) -> tuple[str, ...]:
        """The unit of σ, how a record draws its place, and what may not depend on outputs."""
        own = self.adjacency.relation
        drawn = [] if self.bins == 1 else [_DRAWN]
        return (UNIT_OF[own], *drawn, *([] if self._is_lower else [FIXED]))

    @property
    def _is_lower(self) -> bool:
        """Is C lower triangular?"""
        rows = self.strategy
        if not isinstance(rows[0], tuple):
            return True
        return not any(any(row[i + 1 :]) for i, row in enumerate(rows))

    @cached_property
    def shifts(self) -> Shifts:
        """What the means of a record's places have in common, in the square of the unit of σ."""
        if isinstance(self.strategy[0], tuple):
            return _of_rows(self.strategy, self.bins)
        return _of_diagonals(self.strategy, self.bins, self.epochs)

    # Proved in docs/proofs/allocations.md, Lemma bins-pair.
    @cached_property
    def neighbours(self) -> AllocatedNoise | None:
        """Noise on independent places of a ring, beside what any two of them have in common.

        Of all strides it has the smallest second moment in float64. None for symbols.
        """
        if self.free_symbols:
            return None
        if self.bins == 1:
            return AllocatedNoise(None, self._noise_on(self.shifts.within[0]), 1)
        ring = best_ring(self.shifts, exact(self.sigma**2), 1)
        (alone,) = ring.gram
        return AllocatedNoise(self._noise_on(alone), self._noise_on(ring.common), ring.size)

    def _noise_on(self, square: Fraction) -> NormalShift | None:
        """The noise on what a record moves by at most √square; None for 0."""
        if square == 0:
            return None
        length = exact(sympy.sqrt(expression(square)))
        return NormalShift(length, self.sigma, Kind.UPPER, of_query=False)

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        rate = self.at_one(ctx)
        return lambda alpha: ctx.number(alpha) * rate

    def at_one(self, ctx: Arithmetic) -> Number:
        return ctx.number(self.shifts.within[0]) / ctx.number(self.sigma) ** 2 / 2

    def at_infinity(self, ctx: Arithmetic) -> Number:
        return ctx.number(INFINITY)

    def _sharper(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """The larger of what removing and adding cost, in balls and mpmath; None elsewhere.

        None also for one place and for symbols. LimitError above the last order that is summed.
        """
        if self.bins == 1 or self.free_symbols:
            return None
        bound = _Bound(self.shifts, exact(self.sigma**2))
        if isinstance(ctx, BallArithmetic):
            return bound
        if not isinstance(ctx, MpmathArithmetic):
            return None

        def middle(alpha: Order) -> Number:
            with precision(ctx.bits):
                return ctx.number(rational(bound(alpha)))

        return middle


def _strategy(strategy: object, steps: int) -> Rows | tuple[Fraction, ...]:
    """C as rows, or as the numbers on its diagonals; DomainError for another shape."""
    what = "BallsInBins, strategy"
    entries = parameters.ordered_members(strategy, what, "[1, '1/2'] or [[1, 0], ['1/2', 1]]")
    if entries and (isinstance(entries[0], str) or not isinstance(entries[0], Iterable)):
        (column,) = rows_of([entries], what)
        if len(column) > steps:
            raise DomainError(
                f"{what}: found {len(column)} diagonals, needed at most the {steps:,} steps"
            )
        return column
    rows = rows_of(entries, what)
    if len(rows[0]) != steps:
        raise DomainError(
            f"{what}: found rows of {len(rows[0])}, needed a column for each of bins * epochs = "
            f"{steps:,} steps"
        )
    return rows


# --- what the means of two places have in common


@dataclass(frozen=True)
class Shifts:
    """Of the means m_i of b = `bins` places on a ring, ⟨m_i, m_j⟩ in the square of the unit of σ.

    It is at most `within`[d] for places at least d apart, d = 0, …, ⌊b/2⌋. `mean` and `mean_square`
    are the means of |m_i|² over the places and of ⟨m_i, m_j⟩ over all pairs of them.
    """

    bins: int
    within: tuple[Fraction, ...]
    mean: Fraction
    mean_square: Fraction

    @property
    def end(self) -> int:
        """The distance from which places have nothing in common; more than all if there is none."""
        return next((d for d, most in enumerate(self.within) if most == 0), self.bins)


# Proved in docs/proofs/allocations.md, Lemma bins-pair.
def _shifts(largest: Sequence[Fraction], bins: int, mean: Fraction, square: Fraction) -> Shifts:
    """The shifts, by the `largest` ⟨m_i, m_j⟩ at each distance on the ring."""
    falling = itertools.accumulate(reversed(largest), max)
    return Shifts(bins, tuple(falling)[::-1], mean, square)


def _of_rows(rows: Rows, bins: int) -> Shifts:
    """Of any C: m_i is the sum of the columns of |C| of a place, entry by entry."""
    common = math.lcm(*(x.denominator for row in rows for x in row))
    sums = [[sum(abs(x) for x in row[i::bins]) * common for i in range(bins)] for row in rows]
    means = fmpz_mat([[int(x) for x in row] for row in sums])
    gram = [
        [Fraction(int(x), common**2) for x in row] for row in (means.transpose() * means).table()
    ]
    largest = [max(gram[i][(i + d) % bins] for i in range(bins)) for d in range(bins // 2 + 1)]
    diagonal = sum((gram[i][i] for i in range(bins)), Fraction(0))
    every = sum((x for row in gram for x in row), Fraction(0))
    return _shifts(largest, bins, diagonal / bins, every / (bins * bins))


def _of_diagonals(column: Sequence[Fraction], bins: int, epochs: int) -> Shifts:
    """Of C with these diagonals: with h the first of the m_i, the i-th is h moved down by i.

    Rows that h is moved out of count no more, so that ⟨m_i, m_{i+d}⟩ falls in i.
    """
    steps, common = bins * epochs, math.lcm(*(x.denominator for x in column))
    whole_column = [abs(int(x * common)) for x in column]
    passes = [int(step % bins == 0) for step in range(steps)]
    first = (fmpz_poly(whole_column) * fmpz_poly(passes)).coeffs()[:steps]
    first += [fmpz(0)] * (steps - len(first))
    products = fmpz_poly(first) * fmpz_poly(first[::-1])
    apart = [Fraction(int(products[steps - 1 - d]), common**2) for d in range(bins)]
    largest = [max(apart[d], apart[-d]) for d in range(bins // 2 + 1)]
    norms = list(itertools.accumulate(int(x) ** 2 for x in first))
    total = sum(norms[steps - 1 - i] for i in range(bins))
    every = itertools.accumulate(whole_column + [0] * (steps - len(column)))
    square = sum(x**2 for x in every)
    return _shifts(
        largest,
        bins,
        Fraction(total, bins * common**2),
        Fraction(square, bins**2 * common**2),
    )


# --- which rings are summed


@dataclass(frozen=True)
class Ring:
    """Every `stride`-th place is a ring of `size`, with `common` in all pairs and `gram` besides.

    `gram`[j] is for pairs at distance j, and pairs farther apart have no more than `common`.
    """

    size: int
    common: Fraction
    gram: tuple[Fraction, ...]

    def log_second_moment(self, variance: Exact) -> float:
        """log E[W̄²] in float64, by which rings are compared."""
        exponents = [min(float(scaled(g, variance)), _LARGEST_EXPONENT) for g in self.gram]
        counts = [1, *(2 if 2 * j < self.size else 1 for j in range(1, len(self.gram)))]
        near = sum(count * math.expm1(x) for count, x in zip(counts, exponents, strict=True))
        return float(scaled(self.common, variance)) + math.log1p(near / self.size)

    def bits(self, variance: Exact) -> int:
        """The bits of its moments, which are as near to 1 as 1 + (e^{g_0} − 1)/size."""
        spread = scaled(self.gram[0], variance).expm1() / self.size
        lost = -floor(spread.log() / arb.const_log2()) if spread > 0 else 0
        return BALL.bits + max(lost, 0) + _GUARD_BITS

    @property
    def most_moments(self) -> int:
        """The last order up to which its moments are summed; 0 for a ring that costs too much."""
        orders = itertools.takewhile(
            lambda n: cost(len(self.gram), self.size, n) <= _MOST_PRODUCTS,
            range(_FIRST_LAST_ORDER, _LAST_ORDER + 1),
        )
        return max(orders, default=0)


# Proved in docs/proofs/allocations.md, Lemma bins-removal.
def ring_of(shifts: Shifts, stride: int, reach: int) -> Ring:
    """The ring of every `stride`-th place, in which pairs nearer than `reach` are told apart."""
    size = shifts.bins // stride
    reach = min(reach, size // 2 + 1, -(-shifts.end // stride))
    common = shifts.within[stride * reach] if reach <= size // 2 else Fraction(0)
    return Ring(size, common, tuple(shifts.within[stride * j] - common for j in range(reach)))


def scaled(square: Fraction, variance: Exact) -> arb:
    """The square of a length, in units of the noise of this variance."""
    return BALL.number(square) / BALL.number(variance)


def best_ring(shifts: Shifts, variance: Exact, reach: int) -> Ring:
    """The ring of this reach that has the smallest second moment, in float64, which steers."""
    strides = {2**k for k in range(shifts.bins.bit_length())}
    strides |= {-(-shifts.end // parts) for parts in range(1, _LONGEST_REACH + 1)}
    rings = [ring_of(shifts, stride, reach) for stride in strides if 2 * stride <= shifts.bins]
    return min(rings, key=lambda ring: ring.log_second_moment(variance))


class _Bound:
    """α ↦ the larger of what removing and adding cost, for 1 <= α <= 40, in balls."""

    def __init__(self, shifts: Shifts, variance: Exact) -> None:
        self.shifts, self.variance = shifts, variance

    def __call__(self, alpha: Order) -> arb:
        """Take the larger of both directions at an order up to the last one.

        The second bound of the addition is only summed where the first is not small enough.
        LimitError at other orders, and for little noise.
        """
        if not isinstance(alpha, int | Fraction) or alpha > _LAST_ORDER:
            raise LimitError(
                f"BallsInBins: found order {echo(alpha)}, needed at most {_LAST_ORDER}"
            )
        if not scaled(self.shifts.within[0], self.variance) < _MOST_NOISE_UNITS:
            raise LimitError(
                "BallsInBins: found noise so small that a secret place saves next to nothing, "
                f"needed a move of less than √{_MOST_NOISE_UNITS} times the noise"
            )
        removed, added = self.removed(alpha), self.added_in_any_mean(alpha)
        if added <= removed:
            return removed
        with suppress(PrecisionError):  # of one place that is far above the others
            added = added.min(self.added_in_a_ring(alpha))
        return removed.max(added)

    # Proved in docs/proofs/allocations.md, Lemma bins-addition.
    def added_in_any_mean(self, alpha: int | Fraction) -> arb:
        """At least D_α of the law without the record from that with it, by the geometric mean."""
        exponent = self.shifts.mean + (alpha - 1) * self.shifts.mean_square
        return scaled(exponent, self.variance) / 2

    # Proved in docs/proofs/allocations.md, Lemma bins-addition.
    def added_in_a_ring(self, alpha: int | Fraction) -> arb:
        """At least this D_α by the ring of reach 1, a product of two pairs.

        Next to 1 it is that of an order a bit above.
        """
        order = max(Fraction(alpha), _FIRST_ORDER_OF_MEANS)
        moment = self.mean_of_ring.moment(1 - order)
        with precision(self.mean_of_ring.bits):
            log_mean = moment.log() / BALL.number(order - 1) + arb(self.plain_ring.size).log()
        return scaled(self.plain_ring.common, self.variance) * BALL.number(order) / 2 + log_mean

    @cached_property
    def plain_ring(self) -> Ring:
        """The ring of reach 1."""
        return best_ring(self.shifts, self.variance, 1)

    @cached_property
    def mean_of_ring(self) -> LognormalMoments:
        """The moments of the sum over the ring of reach 1, without what all pairs have in common.

        PrecisionError where it has the same value in all places.
        """
        (variance,) = self.plain_ring.gram
        if variance == 0:
            raise PrecisionError("BallsInBins: found places that are all the same, needed others")
        law = Lognormal(exact(variance / self.variance))
        ring = self.plain_ring
        return LognormalMoments(law, ring.size, ring.bits(self.variance))

    # Proved in docs/proofs/allocations.md, Lemma bins-removal.
    def removed(self, alpha: int | Fraction) -> arb:
        """At least D_α of the law with the record from the law without it."""
        below, above = math.floor(alpha), math.ceil(alpha)
        part = Fraction(alpha - below)
        if below == 1:  # log E[W̄] = 0, and the chord from there has one slope
            return self.log_moment(2)
        low, high = (self.log_moment(n) for n in (below, above))
        chord = BALL.number(1 - part) * low + BALL.number(part) * high
        return chord / BALL.number(alpha - 1)

    def log_moment(self, order: int) -> arb:
        """At least log E[W̄^n] at a whole order n >= 2: the least of all rings that have it."""
        values = (
            scaled(ring.common, self.variance) * (order * (order - 1) // 2) + logs[order]
            for ring, logs in self.log_moments.items()
            if order < len(logs)
        )
        return functools.reduce(arb.min, values)

    @cached_property
    def log_moments(self) -> dict[Ring, list[arb]]:
        """The logarithms of the moments of the best ring of each reach.

        What all pairs have in common is left out. They go up to an order that is not too costly.
        """
        found: dict[Ring, list[arb]] = {}
        for reach in range(1, _LONGEST_REACH + 1):
            ring = best_ring(self.shifts, self.variance, reach)
            most = ring.most_moments
            if most and ring not in found:
                with precision(ring.bits(self.variance)):
                    gram = [scaled(g, self.variance) for g in ring.gram]
                    found[ring] = [x.log() for x in ring_moments(gram, ring.size, most)]
        return found
