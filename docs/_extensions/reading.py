"""A Sphinx extension: our plain formulas, e^{(l−1)ε(l)}, and tables, for readers of any width."""

import re

from docutils import nodes
from sphinx.addnodes import desc_signature

_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
#: A sign, a number or what stands in braces, above or below what it follows; no part of a name.
_SIGN = r"(?:[−-]?\d+|[−-]?[^\W\d_]′?|[*∞])(?![A-Za-z_])"
_SCRIPT = re.compile(rf"(?<=[^\s_])([\^_])({_BRACED}|{_SIGN})")
_AS_IT_IS = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
_SIGNS = {"<=": "≤", ">=": "≥"}
_COLUMN, _PAGE = 24, 110  # characters of a column that wraps, and of all of them side by side
_SMALL = 350  # of all that none wraps, up to which small print has room for them


def scripted(text: str) -> list[nodes.Node]:
    """The text with what is written above and below the line set there."""
    found: list[nodes.Node] = []
    place = 0
    for script in _SCRIPT.finditer(text):
        found.append(nodes.Text(text[place : script.start()]))
        kind = nodes.superscript if script[1] == "^" else nodes.subscript
        inner = script[2][1:-1] if script[2].startswith("{") else script[2]
        found.append(kind("", "", *scripted(inner)))
        place = script.end()
    return [*found, nodes.Text(text[place:])]


def _is_code(node: nodes.Node | None) -> bool:
    """Does it stand in something that is shown as it is written?"""
    while node is not None and not isinstance(node, (*_AS_IT_IS, desc_signature)):
        node = node.parent
    return node is not None


def set_formulas(app: object, doctree: nodes.document) -> None:
    for text in list(doctree.findall(nodes.Text)):
        if _is_code(text):
            continue
        words = str(text)
        for sign, shown in _SIGNS.items():
            words = words.replace(sign, shown)
        if words != str(text) or _SCRIPT.search(words):
            text.parent.replace(text, scripted(words))


def label_cells(app: object, doctree: nodes.document) -> None:
    """Each cell knows the head of its column: where a row has no room, its cells are listed."""
    for table in doctree.findall(nodes.table):
        rows = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
        head = [cell.astext() for cell in rows[0]]
        columns = zip(*([cell.astext() for cell in row] for row in rows), strict=True)
        widths = [max(map(len, column)) for column in columns]
        if sum(min(_COLUMN, width) for width in widths) > _PAGE:
            table["classes"].append("small" if sum(widths) < _SMALL else "wide")
        for row in rows[1:]:
            for cell, name in zip(row, head, strict=True):
                cell.insert(0, nodes.paragraph("", name, classes=["label"]))


def setup(app: object) -> dict[str, bool]:
    app.connect("doctree-read", label_cells)
    app.connect("doctree-read", set_formulas)
    return {"parallel_read_safe": True}
