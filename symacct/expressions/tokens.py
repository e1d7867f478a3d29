"""The tokens of a formula's text."""

from __future__ import annotations

import re
from typing import NamedTuple

from symacct.core import limits


class Token(NamedTuple):
    """A part of the text that has a meaning of its own."""

    sort: str  # "number", "text", "name", "end", or the operator itself
    text: str
    column: int

    @property
    def end(self) -> int:
        """The column behind it."""
        return self.column + len(self.text)


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>(?:laws\.)?[^\W\d]\w*(?:\.[a-z_]\w*)?)"
    r"|(?P<text>'[^'\\\n]*'|\"[^\"\\\n]*\")"
    r"|(?P<operator>\*\*|[-+*/^(),=\[\]]))",
    re.ASCII,
)


def tokens_of(text: str) -> list[Token]:
    """What the text is made of, up to the first sign that cannot be read, and the end."""
    tokens: list[Token] = []
    place, depth, last = 0, 0, len(text.rstrip())
    while place < last:
        match = _TOKEN.match(text, place)
        if match is None:
            # What follows cannot be read; the reader says so if it gets as far.
            column = place + len(text[place:]) - len(text[place:].lstrip())
            return [*tokens, Token("unknown", text[column], column)]
        sort = match.lastgroup or ""
        found = match[sort]
        column = match.start(sort)
        depth += (found == "(") - (found == ")")
        limits.check("depth", depth // 2, "text, nesting depth")
        tokens.append(Token(found if sort == "operator" else sort, found, column))
        place = match.end()
    return [*tokens, Token("end", "the end", len(text))]
