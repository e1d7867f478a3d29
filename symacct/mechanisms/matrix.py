"""The matrix mechanism: sums of what many steps bring in, with Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from operator import itemgetter
from typing import TypeAlias

from symacct.kernel import deadline, limits, parameters
from symacct.kernel.claims import Relation
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.memory import cached_property
from symacct.kernel.node import AskedValues, Pressing
from symacct.kernel.parameters import positive, whole
from symacct.kernel.sources import SYMACCT
from symacct.laws.normal import matrix
from symacct.mechanisms.gaussian import ComputedGaussian

# --- records that take part in several steps
#
# How far a record that takes part in several steps can move what a matrix makes of them.

#: A matrix as its rows.
Rows: TypeAlias = tuple[tuple[Fraction, ...], ...]
#: A symmetric matrix of whole numbers.
Whole: TypeAlias = list[list[int]]
#: Up to so many sets of steps are tried one by one, in about a second; of more a bound is given. It
#: costs time: both are proved.
_MOST_PATTERNS = 10_000


def squared_sensitivity(rows: Rows, most: int, apart: int) -> tuple[Fraction, bool]:
    """max ‖Σ_{t∈S} C_t ⊗ x_t‖² over |x_t| ≤ 1 and sets S of at most `most` steps that are at least

    `apart` from each other, and whether it is attained; else an upper bound and False
    (docs/proofs/mechanisms.md, Lemma largest-shift).
    """
    gram, scale = _gram(rows)
    sizes = [[abs(x) for x in row] for row in gram]
    most = min(most, -(-len(gram) // apart))
    limit = 0
    if _falls(sizes):
        worst = list(range(0, len(gram), apart))[:most]
    elif _how_many(len(gram), most, apart) <= _MOST_PATTERNS:
        worst = max(_patterns(len(gram), most, apart), key=lambda steps: _total(sizes, steps))
    else:
        worst, limit = _by_rows(sizes, most, apart)
    total = _total(sizes, worst)
    attained = limit <= total and _one_sign(gram, worst)
    return Fraction(max(total, limit), scale), attained


def _gram(rows: Rows) -> tuple[Whole, int]:
    """G and D with CᵀC = G/D, in whole numbers."""
    c = matrix(rows)
    numerators, denominator = (c.transpose() * c).numer_denom()
    return [[int(x) for x in row] for row in numerators.table()], int(denominator)


def _total(sizes: Whole, steps: Sequence[int]) -> int:
    """Σ |G_st| over the steps s and t."""
    return sum(sizes[s][t] for s in steps for t in steps)


def _falls(sizes: Whole) -> bool:
    """Is no |G_st| below |G_{s+1,t+1}|, nor for s <= t−2 above |G_{s+1,t}|?

    Then the first steps, each `apart` from the last, are the worst set.
    """
    n = range(len(sizes))
    later = all(sizes[s][t] >= sizes[s + 1][t + 1] for t in n[:-1] for s in n[: t + 1])
    return later and all(sizes[s][t] <= sizes[s + 1][t] for t in n for s in n[: max(t - 1, 0)])


def _patterns(steps: int, most: int, apart: int) -> Iterator[list[int]]:
    """Every set of 1 to `most` steps that are at least `apart` from each other, each rising."""
    for count in range(1, most + 1):
        spare = (count - 1) * (apart - 1)
        for chosen in combinations(range(steps - spare), count):
            yield [step + i * (apart - 1) for i, step in enumerate(chosen)]


def _how_many(steps: int, most: int, apart: int) -> int:
    """The number of sets that `_patterns` yields; `most` is at most ⌈steps/apart⌉."""
    rooms = (steps - (count - 1) * (apart - 1) for count in range(1, most + 1))
    return sum(math.comb(room, count) for count, room in enumerate(rooms, start=1))


def _by_rows(sizes: Whole, most: int, apart: int) -> tuple[list[int], int]:
    """A set of steps, and an upper bound of Σ |G_st| over every allowed set.

    Each step counts the most that it can have with any others of a set; the bound is the largest
    sum of these, and the set the one that has it.
    """
    worth = []
    for s, row in enumerate(sizes):
        others = [0 if abs(s - t) < apart else size for t, size in enumerate(row)]
        worth.append(row[s] + _heaviest(others, most - 1, apart)[1])
    return _heaviest(worth, most, apart)


def _heaviest(worth: Sequence[int], most: int, apart: int) -> tuple[list[int], int]:
    """The set of at most `most` steps, `apart` from each other, of the largest sum of worths.

    With that sum, exactly, by dynamic programming over the last step; worths are >= 0.
    """
    best: list[tuple[int, list[int]]] = [(0, [])] * (len(worth) + 1)
    for _ in range(most):
        fewer, best = best, [(0, [])]
        for step, weight in enumerate(worth):
            before, steps = fewer[max(step + 1 - apart, 0)]
            best.append(max(best[-1], (before + weight, [*steps, step]), key=itemgetter(0)))
    total, steps = best[-1]
    return steps, total


def _one_sign(gram: Whole, steps: Sequence[int]) -> bool:
    """Can signs σ be given to the steps with σ_s σ_t G_st >= 0 throughout?

    Then vectors x_t = ±x attain Σ |G_st|.
    """
    sign: dict[int, int] = {}
    for start in steps:
        waiting = [(start, 1)]
        while waiting:
            deadline.check()
            s, of_s = waiting.pop()
            if s not in sign:
                sign[s] = of_s
                waiting += [(t, of_s if gram[s][t] > 0 else -of_s) for t in steps if gram[s][t]]
    return all(gram[s][t] * sign[s] * sign[t] >= 0 for s in steps for t in steps)


# --- the mechanism
#
# The matrix mechanism: sums of what many steps bring in, with Gaussian noise.

#: The premise about what neighbours may differ by in a step, which is the unit of σ, by relation.
UNIT_OF = {
    Relation.EITHER: "neighbouring datasets differ in the steps of one record alone, in each by a "
    "vector of Euclidean norm at most 1, the unit of σ",
    Relation.ADD_REMOVE: "a record adds a vector of Euclidean norm at most 1, the unit of σ, to "
    "each step that it is in, and changes no other step",
    Relation.ZERO_OUT: "a record adds a vector of Euclidean norm at most 1, the unit of σ, to "
    "each step that it is in, and where it is zeroed out adds nothing there",
    Relation.REPLACE_ONE: Pressing(
        "a replaced record stays in its steps, and changes each of them by a vector of Euclidean "
        "norm at most 1, the unit of σ, which is twice the norm that the vectors of records are "
        "clipped to"
    ),
}
#: The premise of a strategy that is not lower triangular.
FIXED = "what a record brings to a step does not depend on outputs"


class MatrixMechanism(ComputedGaussian):
    """The matrix mechanism, as in DP-FTRL: CX + N(0, σ²) in every entry, for a strategy C.

    The rows of X = (x_t) are the steps. Neighbours differ in up to `participations` steps of one
    record, which are at least `separation` steps apart, and in each of them by a vector of norm at
    most 1, the unit of `sigma`. For a record that is added or removed this is the norm that its
    vectors are clipped to; for a replaced one, which has to stay in its steps, it is twice that
    norm. This is the Gaussian mechanism of the sensitivity that these steps can have together; if
    only an upper bound of that sensitivity is known, `claim.kind` says so. If C is lower
    triangular, x_t may depend on all earlier outputs. Sampling this mechanism means one sample for
    all steps, because the steps of fresh samples would not be independent. `strategy` is a list of
    rows of rational numbers, and `sigma` is positive. Raises DomainError, LimitError. ε(α) is in
    nats. Source: docs/proofs/mechanisms.md, one-gaussian.

    >>> rows = [[1, 0, 0], ["1/2", 1, 0], ["3/8", "1/2", 1]]
    >>> MatrixMechanism(rows, 5).sensitivity
    sqrt(89)/8
    >>> print(MatrixMechanism(rows, 5, participations=2, separation=2).rdp(2, digits=5))
    0.12562
    """

    strategy: Rows
    participations: int
    separation: int
    is_of_vectors = True
    asked = AskedValues(
        called="the matrix mechanism",
        parameters=("sigma",),
        values=("5", "1", "50", "0.5"),
        harmless="10000",
        simple=("1", "2", "5", "10"),
        typical=(0.4, 20),
        drawn=(0.2, 1000),
        is_stream=True,
    )
    words = (
        "the matrix mechanism (strategy {strategy}, $σ = {sigma}$, at most "
        "{participations:participation} of a record, at least {separation:step} apart)"
    )
    source = SYMACCT.at("docs/proofs/mechanisms.md, one-gaussian")

    def __new__(
        cls,
        strategy: Iterable[Iterable[Numeric]],
        sigma: Numeric,
        participations: Numeric = 1,
        separation: Numeric = 1,
    ) -> MatrixMechanism:
        return cls._intern(
            strategy=rows_of(strategy, "MatrixMechanism, strategy"),
            sigma=positive(sigma, "MatrixMechanism, sigma"),
            participations=whole(participations, "MatrixMechanism, participations", least=1),
            separation=whole(separation, "MatrixMechanism, separation", least=1),
        )

    def _premises_for(self, relation: Relation) -> tuple[str, ...]:
        """The unit of σ; and if C is not lower triangular, that the steps are fixed beforehand."""
        is_lower = not any(x for i, row in enumerate(self.strategy) for x in row[i + 1 :])
        return (UNIT_OF[relation], *([] if is_lower else [FIXED]))

    @cached_property
    def _squared_sensitivity(self) -> tuple[Fraction, bool]:
        """Δ² of CX, and whether it is attained; else an upper bound."""
        return squared_sensitivity(self.strategy, self.participations, self.separation)


class TreeAggregation(ComputedGaussian):
    """Tree aggregation: sums of steps by the nodes of a binary tree, each with noise N(0, σ²).

    It costs what the Gaussian mechanism of sensitivity √⌈log₂(n+1)⌉ costs, for n steps.

    A record is in one step only. If a record is in one of several trees, `steps` is that of the
    largest tree. `sigma` is positive, in units of the most by which neighbours differ in that step.
    This is the norm that a record's vector is clipped to, or twice that norm if a record is
    replaced, which has to stay in its step. `steps` is a whole number from 1 on. Raises DomainError
    for other parameters. Sampling this mechanism means one sample for all steps. ε(α) is in nats.
    Source: docs/proofs/mechanisms.md, binary-trees.

    >>> print(TreeAggregation(5, 1000).rdp(2, digits=3))
    0.400
    """

    steps: int
    is_of_vectors = True
    asked = AskedValues(
        called="tree aggregation",
        parameters=("sigma", "steps"),
        values=("5", "1", "50", "0.5"),
        harmless="10000",
        simple=("1", "2", "5", "10"),
        typical=(0.4, 20),
        drawn=(0.2, 1000),
        rest=("1000",),
        rest_covered=("1", "2", "7", "8", "1000"),
        is_stream=True,
    )
    words = (
        "binary tree aggregation over {steps:step} ($σ = {sigma}$), with each record in one of them"
    )
    source = SYMACCT.at("docs/proofs/mechanisms.md, binary-trees")

    def __new__(cls, sigma: Numeric, steps: Numeric) -> TreeAggregation:
        return cls._intern(
            sigma=positive(sigma, "TreeAggregation, sigma"),
            steps=whole(steps, "TreeAggregation, steps", least=1),
        )

    def _premises_for(self, relation: Relation) -> tuple[str, ...]:
        """The unit of σ."""
        return (UNIT_OF[relation],)

    @property
    def _squared_sensitivity(self) -> tuple[Fraction, bool]:
        """⌈log₂(n+1)⌉, how many nodes of the tree the first step is in, attained."""
        return Fraction(self.steps.bit_length()), True


def rows_of(strategy: object, what: str) -> Rows:
    """Rows of one length, of rational numbers that are not all 0; DomainError for others.

    LimitError for more entries than the limit "outcomes".
    """
    example = "[[1, 0], ['1/2', 1]]"
    rows = [
        parameters.ordered_members(row, what, example)
        for row in parameters.ordered_members(strategy, what, example)
    ]
    limits.check("outcomes", sum(map(len, rows)), f"{what}, entries")
    entries = tuple(tuple(parameters.signed_rational(x, what) for x in row) for row in rows)
    if len({len(row) for row in rows}) != 1 or not any(map(any, entries)):
        raise DomainError(f"{what}: found {echo(strategy)}, needed rows of one length, not all 0")
    return entries
