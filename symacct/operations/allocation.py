"""Random allocation: each record is in one step of many, drawn at random."""

from __future__ import annotations

from symacct.kernel.claims import ADD_REMOVE, LARGER, UNKNOWN, AttainedBy
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


class RandomAllocation(Operation):
    """T = `steps` runs of the mechanism, where each record takes part in one secret random run.

    Each record draws its run independently of all other records, and the draws are kept secret.
    This is also called balls in bins: an epoch of batches in which each record chooses its batch.
    An epoch that cuts a shuffled order into batches is none, and may cost much more
    (`baselines.shuffled_batches`).
    The mechanism of a run may be chosen by earlier outputs. n epochs are n of these. The curve of
    Gaussian noise is exact. The result is about add/remove neighbours, and so is the curve of
    `mechanism` that is read. `steps` is a whole number from 1 to 10⁹. Raises DomainError for
    another number, and AdjacencyError if the mechanism's curve is about replace-one. ε(α) is in
    nats.

    >>> from symacct import Gaussian
    >>> print(RandomAllocation(Gaussian(2), 100).rdp(32, digits=5))
    0.045780
    """

    mechanism: Node
    steps: int
    fixed_adjacency = ADD_REMOVE
    read_adjacency = ADD_REMOVE

    says_who_takes_part = True
    drawing = "each record drawing its batch independently and in secret"
    words = (
        "{steps:step} of {mechanism}, with each record in one step, which it draws "
        "independently of other records and in secret"
    )

    @property
    def premises(self) -> tuple[str, ...]:  # type: ignore[override]
        """How records draw their steps, which a shuffled order does not; none for one step."""
        return (_DRAWN,) if self.steps > 1 else ()

    @property
    def changes_size(self) -> bool:  # type: ignore[override]
        """Has a run fewer records than the data? It has, unless there is one step."""
        return self.steps > 1

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """The mean of the laws with the record in one run, and the law without it.

        Their larger direction attains it, at each order; for one step the mechanism's own pair.
        """
        inner = self.mechanism.attained
        return inner if self.steps == 1 else LARGER if inner.is_swapped else UNKNOWN

    def __new__(cls, mechanism: Node, steps: Numeric) -> RandomAllocation:
        count = whole(steps, "RandomAllocation, steps", least=1)
        if count > _MOST_STEPS:
            raise DomainError(
                f"RandomAllocation, steps: found {echo(steps)}, needed steps <= {_MOST_STEPS:,}"
            )
        return cls._intern(mechanism=as_node(mechanism, "RandomAllocation, mechanism"), steps=count)
