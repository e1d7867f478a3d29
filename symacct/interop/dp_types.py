"""dp_accounting's classes where it is installed, so that ours are of them; else stand-ins."""

from __future__ import annotations

import contextlib
from typing import Any

from symacct.kernel.errors import AdjacencyError, DomainError, echo

PrivacyAccountant: Any = object
UnsupportedEventError: Any = Exception
NeighboringRelation: Any = None
with contextlib.suppress(ImportError):
    from dp_accounting.privacy_accountant import (  # type: ignore[no-redef]
        NeighboringRelation,
        PrivacyAccountant,  # noqa: F401  # a base of ours
        UnsupportedEventError,
    )

#: dp_accounting's neighbouring relations; in the third a record is replaced with one adding zero.
RELATIONS = {
    "ADD_OR_REMOVE_ONE": "add_remove",
    "REPLACE_ONE": "replace_one",
    "REPLACE_SPECIAL": "replace_special",
}


class UnreadEventError(DomainError, UnsupportedEventError):  # type: ignore[misc]  # may be Any
    """An event of which no reading is known; `event` is the one, however deep."""

    event: Any = None


class UnreadRelationError(AdjacencyError, UnsupportedEventError):  # type: ignore[misc]
    """An event that is not read under the relation in use; `event` is the one, however deep."""

    event: Any = None


def relation_named(value: object) -> str:
    """The relation, given in our words or as dp_accounting's NeighboringRelation."""
    name = getattr(value, "name", value)
    known = RELATIONS.get(name, name) if isinstance(name, str) else ""
    if known not in RELATIONS.values():
        raise DomainError(
            f"neighbouring relation: found {echo(value)}, needed one of "
            f"{', '.join(RELATIONS.values())} or a dp_accounting.NeighboringRelation"
        )
    return known


def their_relation(relation: str) -> Any:
    """The relation as a member of their enum; its name in our words where they are not here."""
    if NeighboringRelation is None:
        return relation
    return NeighboringRelation[{ours: theirs for theirs, ours in RELATIONS.items()}[relation]]
