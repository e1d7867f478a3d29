"""Group privacy: datasets that differ in up to `size` records."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from symacct.kernel.claims import (
    ANY_OF_SEVERAL,
    UNKNOWN,
    Adjacency,
    AttainedBy,
    Claim,
    Relation,
)
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Mechanism, Node, as_node
from symacct.kernel.operation import Compose, Operation
from symacct.kernel.parameters import whole
from symacct.operations.postprocess import PostProcess

#: Larger groups are refused; it only limits sizes, and no bound rests on it.
_MOST_RECORDS = 2**30
#: The premise of a mechanism that is stated for a number of records.
_OF_LAST_STEP = (
    "of a group, whose records are added or removed one by one, each number or share of records is "
    "that of the last step; the steps before it, with more records, cost no more"
)


class GroupPrivacy(Operation):
    """The curve of a mechanism for datasets that are up to `size` neighbouring steps apart.

    Groups of 2 under add/remove cover every replace-one pair. The group of a composition is built
    as the composition of the groups, and a group of a group is built as one group. `size` is a
    whole number. The steps of a group that is added or removed have different numbers of records:
    of samples of a fixed size or with replacement the last step costs most, and the mechanism is
    stated for that one. What holds for one number of records alone, as batches that are cut, has no
    such groups. Raises DomainError for these and for another size. ε(α) is in nats.

    >>> from symacct import Gaussian
    >>> print(GroupPrivacy(Gaussian(5), 2).rdp(4, digits=3))
    0.32
    """

    mechanism: Node
    size: int
    _json_former: ClassVar[dict[str, str]] = {
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
    def _is_local(self) -> bool:
        """Is the mechanism randomized response, by which each person hides an answer?"""
        return self.mechanism._is_local

    @property
    def _changes_number(self) -> bool:
        """May the datasets of a group have different numbers of records?"""
        relation = self.mechanism.claim.adjacency.relation
        return relation in (Relation.ADD_REMOVE, Relation.EITHER)

    @property
    def premises(self) -> tuple[str, ...]:  # type: ignore[override]
        """Which step of the group is the one that a number of records is stated for."""
        is_stated = any(node._counts_records for node in self.walk())
        return (_OF_LAST_STEP,) if is_stated and self._changes_number else ()

    @property
    def sizes(self) -> tuple[int, float]:
        """The smallest and the largest dataset that the result holds for.

        The mechanism is stated for the last step, which may have size − 1 records fewer.
        """
        low, high = super().sizes
        return low, high + self.size - 1 if self._changes_number else high

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """Noise for `size` times the sensitivity attains it, in either direction; else unknown."""
        noise = isinstance(self.mechanism, Mechanism) and self.mechanism.noise_scale
        return ANY_OF_SEVERAL if noise else UNKNOWN

    def _infer(self) -> Claim:
        """The claim of a theorem about groups, for `size` times the mechanism's records.

        DomainError where a step has another number of records than the mechanism is for.
        """
        for node in self.walk() if self._changes_number else ():
            if isinstance(node, PostProcess) and node._counts_records:
                raise DomainError(
                    f"GroupPrivacy: found {echo(node)}, which holds for {node.records:,} records "
                    "alone, and steps of a group with other numbers of records; needed a mechanism "
                    "for any number, or neighbours that have as many"
                )
        claim = super()._infer()
        base = self.mechanism.claim.adjacency
        return replace(claim, adjacency=Adjacency(base.relation, base.group * self.size))
