"""Texts and documents that a notebook shows as they read."""

from __future__ import annotations

import json
from html import escape
from typing import Any

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
