"""Random allocation: each record is in one step of many, drawn at random."""

from __future__ import annotations

from typing import ClassVar

from symacct.kernel.claims import (
    ADD_REMOVE,
    LARGER,
    UNKNOWN,
    Adjacency,
    AttainedBy,
    of_one_record,
)
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import whole

#: More steps are refused; it only limits sizes, and no bound rests on it.
_MOST_STEPS = 10**9
#: The premise says how records draw their steps.
_DRAWN = (
    "each record draws its one step of the {steps} uniformly at random and independently of all "
    "other records, as a shuffled order does not, and the draws are kept secret"
)
#: The premise of a record that draws several steps.
_DRAWN_TIMES = (
    "each record draws its {times} different steps of the {steps} uniformly at random and "
    "independently of all other records, and the draws are kept secret"
)


def blocks(steps: int, times: int) -> tuple[tuple[int, int], ...]:
    """The sizes of `times` blocks of steps that differ by at most one, with their numbers."""
    size, longer = divmod(steps, times)
    every = (size, times - longer), (size + 1, longer)
    return tuple((steps, count) for steps, count in every if count)


class RandomAllocation(Operation):
    """T = `steps` runs of the mechanism, where each record takes part in few secret random runs.

    Each record draws one run, or `times` different runs, independently of all other records, and
    the draws are kept secret. With one run this is also called balls in bins: an epoch of batches
    in which each record chooses its batch. With k runs the cost is bounded by that of blocks of
    ⌊T/k⌋ and ⌈T/k⌉ runs, of each of which a record draws one (Feldman and Shenfeld 2025).
    An epoch that cuts a shuffled order into batches is none, and may cost much more
    (`baselines.shuffled_batches`).
    The mechanism of a run may be chosen by earlier outputs. n epochs are n of these. The curve of
    Gaussian noise is exact. The result is about add/remove neighbours, and so is the curve of
    `mechanism` that is read; with `adjacency="zero_out"` it is about a record zeroed out, which
    costs as much. `steps` is a whole number from 1 to 10⁹, and `times` one from 1 to `steps`.
    Raises DomainError for another number, and AdjacencyError for another relation. ε(α) is in nats.

    >>> from symacct import Gaussian
    >>> print(RandomAllocation(Gaussian(2), 100).rdp(32, digits=5))
    0.045780
    """

    mechanism: Node
    steps: int
    times: int
    adjacency: Adjacency
    _json_optional: ClassVar[tuple[str, ...]] = ("times", "adjacency")
    _read_adjacency = ADD_REMOVE
    # Proved in docs/proofs/directions.md, Lemma empty-places.
    _theorem_adjacency = ADD_REMOVE

    _says_who_takes_part = True
    _drawing = "each record drawing its batch independently and in secret"

    @property
    def words(self) -> str:  # type: ignore[override]
        """How many runs a record draws, where it is not in all of them."""
        if self.steps == self.times:
            return "{steps:step} of {mechanism}, with each record in every step"
        which = "in one step, which it draws"
        if self.times > 1:
            which = "in {times} steps, which it draws"
        return (
            "{steps:step} of {mechanism}, with each record "
            f"{which} independently of other records and in secret"
        )

    @property
    def premises(self) -> tuple[str, ...]:  # type: ignore[override]
        """How records draw their steps, which a shuffled order does not; none for all steps."""
        if self.steps == self.times:
            return ()
        return (_DRAWN if self.times == 1 else _DRAWN_TIMES,)

    @property
    def _changes_size(self) -> bool:  # type: ignore[override]
        """Has a run fewer records than the data? It has, unless a record is in every step."""
        return self.steps > self.times

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """The sizes of blocks of which a record draws one run each, with their numbers.

        >>> from symacct import Gaussian
        >>> RandomAllocation(Gaussian(2), 17, 5).blocks
        ((3, 3), (4, 2))
        """
        return blocks(self.steps, self.times)

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """In one of the runs the larger direction of the laws' mean against the law without.

        That is for a swapped pair. In all of the runs it is the mechanism's own; else not known.
        """
        inner = self.mechanism.attained
        if self.steps == self.times:
            return inner
        return LARGER if inner.is_swapped and self.times == 1 else UNKNOWN

    def __new__(
        cls,
        mechanism: Node,
        steps: Numeric,
        times: Numeric = 1,
        adjacency: str | Adjacency = "add_remove",
    ) -> RandomAllocation:
        relation = of_one_record(adjacency, "RandomAllocation")
        count = whole(steps, "RandomAllocation, steps", least=1, most=_MOST_STEPS)
        drawn = whole(times, "RandomAllocation, times", least=1)
        if drawn > count:
            raise DomainError(
                f"RandomAllocation, times: found {echo(times)}, needed at most the {count:,} steps"
            )
        node = as_node(mechanism, "RandomAllocation, mechanism")
        return cls._intern(mechanism=node, steps=count, times=drawn, adjacency=relation)
