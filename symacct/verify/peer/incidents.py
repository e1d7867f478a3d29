"""What a peer did beside answering."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from symacct.verify.peer.reading import printable

_QUOTES = 5
_DIGITS = re.compile(r"\d+")


@dataclass
class Incidents:
    """What a peer did beside answering; the first of each kind are quoted, once."""

    noise: int = 0
    out_of_order: int = 0
    malformed: int = 0
    ends: int = 0
    timeouts: int = 0
    quotes: list[str] = field(default_factory=list)

    def add(self, kind: str, quote: str) -> None:
        """Count one, and quote it if it is among the first."""
        setattr(self, kind, getattr(self, kind) + 1)
        said = f"{kind.replace('_', ' ')}: {printable(quote, 200)}"
        alike = {_DIGITS.sub("", quote) for quote in self.quotes}
        if getattr(self, kind) <= _QUOTES and _DIGITS.sub("", said) not in alike:
            self.quotes.append(said)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))
