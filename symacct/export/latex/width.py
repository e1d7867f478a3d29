"""How wide a line of mathematics is, in the widths of a letter."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\s+|.")
_WIDE = {"log": 2.8, "min": 3.6, "max": 3.6, "sum": 2.4, "int": 1.6, "quad": 2, "qquad": 4}
_NONE = {
    "left",
    "right",
    "biggl",
    "biggr",
    "bigl",
    "bigr",
    "mathbf",
    "mathcal",
    "mathrm",
    "text",
    "displaystyle",
    "begin",
}
_SPACED = set("+-=<>") | {
    r"\leq",
    r"\geq",
    r"\neq",
    r"\cdot",
    r"\times",
    r"\otimes",
    r"\oplus",
    r"\ast",
}


def width_of(tex: str) -> float:
    """The width of a line of mathematics, in the widths of a letter; scripts count two thirds."""
    return _Widths(_PIECE.findall(tex)).row()


class _Widths:
    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces
        self.place = 0
        self.depth = 0  # of scripts, within which limits stand beside their sign

    def row(self) -> float:
        total = 0.0
        while self.place < len(self.pieces) and self.pieces[self.place] != "}":
            total += self.one()
        return total

    def group(self) -> float:
        while self.pieces[self.place].isspace():
            self.place += 1
        if self.pieces[self.place] != "{":
            return self.one()
        self.place += 1
        inside = self.row()
        self.place += 1
        return inside

    def one(self) -> float:
        piece = self.pieces[self.place]
        if piece == "{":
            return self.group()
        self.place += 1
        if piece.isspace():
            return 0
        if piece in ("^", "_"):
            return self.script()
        name = piece[1:] if piece[0] == "\\" else ""
        if name == "frac":
            return max(self.group(), self.group()) + 0.5
        if name == "binom":
            return max(self.group(), self.group()) * 0.8 + 1.6
        if name in ("sum", "int"):
            return self.limits(_WIDE[name])
        if piece in _SPACED:
            return 2.2
        return 0 if name in _NONE else _WIDE.get(name, 1)

    def script(self) -> float:
        self.depth += 1
        width = self.group() * 2 / 3
        self.depth -= 1
        return width

    def limits(self, width: float) -> float:
        """A sign with limits above and below it; in a script both beside it."""
        beside = width if self.depth else 0
        while self.place < len(self.pieces) and self.pieces[self.place] in ("^", "_"):
            self.place += 1
            width = max(width, beside + self.script())
        return width
