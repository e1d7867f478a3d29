"""The matrix mechanism: sums of what many steps bring in, with Gaussian noise."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symacct.kernel import arguments, limits
from symacct.kernel.claims import Relation
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric, typed_value
from symacct.kernel.memory import cached_property
from symacct.kernel.node import AskedValues
from symacct.kernel.parameters import positive, whole
from symacct.kernel.sources import SYMACCT
from symacct.mechanisms.computed_gaussian import ComputedGaussian
from symacct.mechanisms.participation import Rows, squared_sensitivity

#: What neighbours may differ by in a step, which is what σ is measured in.
UNIT_OF = {
    Relation.EITHER: "neighbouring datasets differ in the steps of one record alone, in each by a "
    "vector of Euclidean norm at most 1, the unit of σ",
    Relation.ADD_REMOVE: "a record adds a vector of Euclidean norm at most 1, the unit of σ, to "
    "each step that it is in, and changes no other step",
    Relation.REPLACE_ONE: "a replaced record stays in its steps, and changes each of them by a "
    "vector of Euclidean norm at most 1, the unit of σ, which is twice the norm that the vectors "
    "of records are clipped to",
}
_FIXED = "what a record brings to a step does not depend on outputs"


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
    nats. Source: docs/proofs.md, section 25.

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
    source = SYMACCT.at("docs/proofs.md, section 25")

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

    def premises_for(self, relation: Relation) -> tuple[str, ...]:
        """The unit of σ; and if C is not lower triangular, that the steps are fixed beforehand."""
        is_lower = not any(x for i, row in enumerate(self.strategy) for x in row[i + 1 :])
        return (UNIT_OF[relation], *([] if is_lower else [_FIXED]))

    @cached_property
    def squared_sensitivity(self) -> tuple[Fraction, bool]:
        """Δ² of CX, and whether it is attained."""
        return squared_sensitivity(self.strategy, self.participations, self.separation)


class TreeAggregation(ComputedGaussian):
    """Tree aggregation: sums of steps by the nodes of a binary tree, each with noise N(0, σ²).

    It costs what the Gaussian mechanism of sensitivity √⌈log₂(n+1)⌉ costs, for n steps.

    A record is in one step only. If a record is in one of several trees, `steps` is that of the
    largest tree. `sigma` is positive, in units of the most by which neighbours differ in that step.
    This is the norm that a record's vector is clipped to, or twice that norm if a record is
    replaced, which has to stay in its step. `steps` is a whole number from 1 on. Raises DomainError
    for other parameters. Sampling this mechanism means one sample for all steps. ε(α) is in nats.
    Source: docs/proofs.md, section 25.

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
        is_stream=True,
    )
    words = (
        "binary tree aggregation over {steps:step} ($σ = {sigma}$), with each record in one of them"
    )
    source = SYMACCT.at("docs/proofs.md, section 25")

    def __new__(cls, sigma: Numeric, steps: Numeric) -> TreeAggregation:
        return cls._intern(
            sigma=positive(sigma, "TreeAggregation, sigma"),
            steps=whole(steps, "TreeAggregation, steps", least=1),
        )

    def premises_for(self, relation: Relation) -> tuple[str, ...]:
        """The unit of σ."""
        return (UNIT_OF[relation],)

    @property
    def squared_sensitivity(self) -> tuple[Fraction, bool]:
        """How many nodes the first step is in."""
        return Fraction(self.steps.bit_length()), True


def rows_of(strategy: object, what: str) -> Rows:
    """Rows of one length, of rational numbers that are not all 0."""
    example = "[[1, 0], ['1/2', 1]]"
    rows = [
        arguments.ordered_members(row, what, example)
        for row in arguments.ordered_members(strategy, what, example)
    ]
    limits.check("outcomes", sum(map(len, rows)), f"{what}, entries")
    entries = tuple(tuple(typed_value(x, what) for x in row) for row in rows)
    if len({len(row) for row in rows}) != 1 or not any(map(any, entries)):
        raise DomainError(f"{what}: found {echo(strategy)}, needed rows of one length, not all 0")
    for x in (x for row in entries for x in row):
        if not isinstance(x, Fraction):
            raise DomainError(f"{what}: found {echo(x)}, needed rational numbers")
    return entries
