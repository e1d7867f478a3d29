"""What a text that cannot be read was most likely meant to be: one that can be read is proposed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from typing import Any

from symacct.core.errors import LimitError
from symacct.core.mistyped import corrected, proposed
from symacct.expressions.tokens import tokens_of

_TRIES = 48  # texts that are read at most: each may take as long as the one that was found wrong


def remedy(text: str, heads: Iterable[str], read: Callable[[str], Any]) -> str:
    """The end of a message about `text`: one or two texts near it that `read` gives a value of.

    Tried are its numbers as they may be meant, a `*` wherever one is left out, and one bracket more
    or less. Texts of the same value count once.
    """
    known = frozenset(heads)
    left = _TRIES
    for base in corrected(text):
        for near in (_itself, _with_stars, _with_brackets):
            found: dict[Any, str] = {}
            with contextlib.suppress(LimitError):
                for other in islice((one for one in near(base, known) if one != text), left):
                    left -= 1
                    if (value := read(other)) is not None:
                        found.setdefault(value, other.strip())
            if found:
                return proposed([*found.values()])
    return ""


def _itself(text: str, heads: frozenset[str]) -> Iterator[str]:
    yield text


def _with_stars(text: str, heads: frozenset[str]) -> Iterator[str]:
    """A `*` between a factor that has ended and one that begins."""
    starred, done = "", 0
    for left, right in pairwise(tokens_of(text)):
        ends = left.sort in ("number", ")") or (left.sort == "name" and left.text not in heads)
        begins = right.sort in ("number", "name") or (right.sort == "(" and left.sort != "name")
        if ends and begins:
            starred += text[done : left.end] + "*"
            done = right.column
        # A letter that stands before the name of a mechanism, as in nGaussian(5).
        if left.sort == "name" and left.text not in heads and left.text[1:] in heads:
            starred += f"{text[done : left.end - len(left.text) + 1]}*{left.text[1:]}"
            done = left.end
    yield starred + text[done:]


def _with_brackets(text: str, heads: frozenset[str]) -> Iterator[str]:
    """One bracket put in or left out, and those that are open at the end closed."""
    (text,) = _with_stars(text, heads)
    *tokens, _ = tokens_of(text)
    still_open = text.count("(") - text.count(")")
    if still_open > 0:
        for token in reversed(tokens):
            yield f"{text[: token.end]}){text[token.end :]}" + ")" * (still_open - 1)
    if still_open < 0:
        for token in tokens:
            if token.sort == ")":
                yield text[: token.column] + text[token.end :]
        for token in tokens:
            for place in (token.column, *_after_heads(token.text, token.column, heads)):
                yield f"{text[:place]}({text[place:]}"


def _after_heads(name: str, column: int, heads: frozenset[str]) -> Iterator[int]:
    """Where a name that begins with the name of a mechanism may go on with its arguments."""
    return (column + len(head) for head in heads if name.startswith(head))
