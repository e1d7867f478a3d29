"""What an answer shows: on a screen, as data, a table, rows, a tree, a note; in a notebook, a text.

A sentence is a str.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

# --- parts of a screen

#: A text, or a text and its style as rich names it, such as "bold red".
Cell: TypeAlias = str | tuple[str, str]


@dataclass(frozen=True)
class Tabled:
    """Rows below their headers."""

    headers: Sequence[str]
    rows: Iterable[Iterable[Cell]]


@dataclass(frozen=True)
class Labelled:
    """Names and what belongs to them, below a title if there is one."""

    rows: Iterable[tuple[str, str]]
    title: str = ""


@dataclass(frozen=True)
class Branch:
    """A heading, what is said of it, and what is below it."""

    title: str
    rows: Sequence[tuple[str, str]]
    branches: Sequence[Branch]


@dataclass(frozen=True)
class Note:
    """A line beside the answer, on standard error."""

    text: str


@dataclass(frozen=True)
class Verbatim:
    """A text whose lines are not wrapped, such as LaTeX or code; faint if `is_dim`."""

    text: str
    is_dim: bool = False


def aligned(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Write a table as lines of text, columns as wide as their widest cell and two spaces apart."""
    lines = [headers, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


#: A part of a screen; a cell is a sentence, which is wrapped between words.
Part: TypeAlias = Tabled | Labelled | Branch | Note | Verbatim | Cell

# --- texts and documents that a notebook shows as they read

#: HTML of a text that wraps between words.
_BOX = '<pre style="white-space:pre-wrap;max-width:56em">{}</pre>'


class Written(str):
    """A str of which a notebook and IPython show the lines, and not the quoted text.

    >>> Written("two\\nlines")._repr_html_()
    '<pre style="white-space:pre-wrap;max-width:56em">two\\nlines</pre>'
    """

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return _BOX.format(escape(self))


class Document(dict[str, Any]):
    """A dict of JSON types that a notebook shows as JSON text with one space of indentation."""

    def _repr_html_(self) -> str:
        return _BOX.format(escape(json.dumps(self, indent=1, ensure_ascii=False)))
