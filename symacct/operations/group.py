"""Group privacy: datasets that differ in up to `size` records."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from symacct.kernel.claims import ANY_OF_SEVERAL, UNKNOWN, Adjacency, AttainedBy, Claim
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Mechanism, Node, as_node
from symacct.kernel.operation import Compose, Operation
from symacct.kernel.parameters import whole

#: Larger groups are refused; it only limits sizes, and no bound rests on it.
_MOST_RECORDS = 2**30


class GroupPrivacy(Operation):
    """The curve of a mechanism for datasets that are up to `size` neighbouring steps apart.

    Groups of 2 under add/remove cover every replace-one pair. The group of a composition is built
    as the composition of the groups, and a group of a group is built as one group. `size` is a
    whole number. Raises DomainError for another size. ε(α) is in nats. The `mechanism` is a Node.

    >>> from symacct import Gaussian
    >>> print(GroupPrivacy(Gaussian(5), 2).rdp(4, digits=3))
    0.32
    """

    mechanism: Node
    size: int
    json_former: ClassVar[dict[str, str]] = {
        "c": "c meant groups of 2^c records; write the number of records as size, 8 for c = 3"
    }
    words = "{mechanism}, for groups of {size} records"

    def __new__(cls, mechanism: Node, size: Numeric) -> Node:  # type: ignore[misc]
        mechanism = as_node(mechanism, "GroupPrivacy, mechanism")
        records = whole(size, "GroupPrivacy, size", least=1)
        if isinstance(mechanism, Compose):
            return Compose({cls(part, records): n for part, n in mechanism.terms.items()})
        if isinstance(mechanism, GroupPrivacy):
            records *= mechanism.parameters()["size"]
            mechanism = mechanism.children[0]
        if records > _MOST_RECORDS:
            raise DomainError(
                f"GroupPrivacy, size: found {echo(records)}, needed size <= {_MOST_RECORDS}"
            )
        return mechanism if records == 1 else cls._intern(mechanism=mechanism, size=records)

    @property
    def is_local(self) -> bool:
        """Is the mechanism randomized response, by which each person hides an answer?"""
        return self.mechanism.is_local

    @property
    def sizes(self) -> tuple[int, float]:
        """The smallest and the largest dataset that the result holds for.

        The mechanism is stated for the last step, which may have size − 1 records fewer.
        """
        low, high = super().sizes
        return low, high + self.size - 1

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """Noise for `size` times the sensitivity attains it, in either direction; else unknown."""
        noise = isinstance(self.mechanism, Mechanism) and self.mechanism.noise_scale
        return ANY_OF_SEVERAL if noise else UNKNOWN

    def _infer(self) -> Claim:
        """The claim of a theorem about groups, for `size` times the mechanism's records."""
        claim = super()._infer()
        base = self.mechanism.claim.adjacency
        return replace(claim, adjacency=Adjacency(base.relation, base.group * self.size))
