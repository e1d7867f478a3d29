"""What `by=` may be, and what is set beside a theorem's name: "ZW19-T11:tau=50"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from symacct.core.errors import DomainError, echo

#: A theorem's name; several, of which each node is answered by the one that speaks of it; or none.
By: TypeAlias = str | tuple[str, ...] | None


def chosen(text: str, theorem: str, values: Mapping[str, range]) -> dict[str, int]:
    """The options in a text such as "tau=50"; DomainError for what is no option of the theorem."""
    found: dict[str, int] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\w+)\s*=\s*(\d{1,9})\s*", part, re.ASCII)
        if match is None or int(match[2]) not in values.get(match[1], ()):
            needed = ", ".join(
                f"{key}=<whole number> from {some[0]} to {some[-1]}" for key, some in values.items()
            )
            raise DomainError(
                f"by: found option {echo(part)} of {theorem}, needed {needed or 'no option'}"
            )
        if match[1] in found:
            raise DomainError(
                f"by: found {match[1]} twice in {echo(text)}, needed each option once"
            )
        found[match[1]] = int(match[2])
    return found
