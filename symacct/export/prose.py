"""Our own words with formulas in them, "ε(α) <= ρα for α < ω", as LaTeX text with mathematics."""

from __future__ import annotations

import re

from symacct.export.latex.names import greek
from symacct.export.latex.plain_tex import plain_tex

_SIGNS = {
    "<=": r"\leq ",
    ">=": r"\geq ",
    "−": "-",
    "·": r"\cdot ",
    "×": r"\times ",
    "∞": r"\infty ",
    "⌊": r"\lfloor ",
    "⌋": r"\rfloor ",
    "⌈": r"\lceil ",
    "⌉": r"\rceil ",
    "~": r"\sim ",
    "‖": r"\| ",
    "Σ": r"\sum ",
    "√": r"\surd ",
    "′": r"^{\prime}",
    "²": "^{2}",
    "₀": "_{0}",
    "₁": "_{1}",
    "₂": "_{2}",
    "…": r"\dots ",
    "∇": r"\nabla ",
    "η*": r"\eta^{\ast}",
    "∝": r"\propto ",
    "⪯": r"\preceq ",
    "⁻¹": "^{-1}",
    "ᵀ": r"^{\mathsf{T}}",
}
_FUNCTIONS = ("log", "min", "max", "exp")
#: What makes a word mathematics, and what may stand in mathematics beside one.
_MATHEMATICS = re.compile(r"[Α-Ωα-ω]|[_^<>={}√Σ∞⌊⌋⌈⌉‖′²₀₁₂−·×∇∝]|\b[a-zA-Z]\(")
_NAME = re.compile(r"[a-zA-Z]{2,}_[a-zA-Z]{2,}")  # of a parameter, and no subscript
_BESIDE = re.compile(r"[\d/+\-().,\[\]{}]+|\(?[a-zA-Z]\)?|log|min|max|\(?[A-Za-z]/[A-Za-z]\)?")
_PLAIN = re.compile(r"[A-Za-z0-9 +\-*/=<>()\[\],.;:|!]")


def prose(text: str) -> str:
    r"""LaTeX of a sentence; what is no mathematics that we know is set as it reads.

    >>> print(prose("a rate γ <= 1/5, and 100% of it"))
    a rate $\gamma \leq 1/5$, and 100{\%} of it
    """
    return " ".join(_chunk(words, is_maths) for words, is_maths in _chunks(text.split()))


def _chunks(words: list[str]) -> list[tuple[list[str], bool]]:
    """Runs of words that are mathematics, and runs that are not."""
    marks = [bool(_MATHEMATICS.search(word)) and not _NAME.search(word) for word in words]
    for step in (1, -1):  # numbers and letters beside mathematics belong to it
        order = range(len(words)) if step == 1 else range(len(words) - 1, -1, -1)
        for place in order:
            before = place - step
            if 0 <= before < len(words) and marks[before] and _may_join(words, place, step):
                marks[place] = True
    runs: list[tuple[list[str], bool]] = []
    for word, is_maths in zip(words, marks, strict=True):
        ended = is_maths and runs and runs[-1][0][-1][-1] in ",;:." and _is_closed(runs[-1][0])
        if runs and runs[-1][1] == is_maths and not ended:
            runs[-1][0].append(word)
        else:
            runs.append(([word], is_maths))
    return runs


def _is_closed(words: list[str]) -> bool:
    """Does every bracket that opens in these words close in them?"""
    text = "".join(words)
    return all(text.count(a) <= text.count(b) for a, b in ("()", "{}", "[]"))


def _may_join(words: list[str], place: int, step: int) -> bool:
    """A number, letter or function next to mathematics, with no comma in between."""
    left = words[place - 1] if step == 1 else words[place]
    if left[-1] in ",;:.":
        return False
    word = words[place].rstrip(",;:.")
    return word not in ("a", "A", "I") and _BESIDE.fullmatch(word) is not None


def _chunk(words: list[str], is_maths: bool) -> str:
    text = " ".join(words)
    if not is_maths:
        return plain_tex(text)
    end = len(text.rstrip(",;:."))
    converted = _mathematics(text[:end])
    if converted is None:
        return plain_tex(text)
    return f"${converted.strip()}${plain_tex(text[end:])}"


def _mathematics(text: str) -> str | None:
    """The text as mathematics; None for signs that we do not know, or scripts that do not match."""
    out: list[str] = []
    closing: list[tuple[str, set[str]]] = []
    scripts: set[str] = set()  # those of the sign at hand: each at most once
    place = 0
    while place < len(text):
        piece, length = _piece(text, place)
        is_script = bool(out) and out[-1] in ("^", "_")
        if piece is None or (is_script and piece[0] in "^_"):
            return None
        if piece[0] in "^_":
            if not out or piece[0] in scripts:
                return None
            scripts.add(piece[0])
        elif piece == "{":
            closing.append(("}" if is_script else r"\}", scripts))
            scripts = set()
            piece = "{" if is_script else r"\{"
        elif piece == "}":
            if not closing:
                return None
            piece, scripts = closing.pop()
        elif not is_script:
            scripts = set()
        if piece.startswith(r"\mathrm") and out and out[-1] == "-":
            out[-1] = r"\text{-}"
        out.append(piece)
        place += length
    if closing or out[-1] in ("^", "_"):
        return None
    return re.sub(" +", " ", "".join(out))


def _piece(text: str, place: int) -> tuple[str | None, int]:
    """The LaTeX of the sign or word at a place, and how long that is."""
    word = re.match(r"[A-Za-z]+", text[place:])
    if word and text[place - 1 : place] not in ("^", "_"):
        if word[0] in _FUNCTIONS:
            return rf"\{word[0]} ", len(word[0])
        if len(word[0]) > 2:
            return rf"\mathrm{{{word[0]}}}", len(word[0])
    for length in (2, 1):
        sign = text[place : place + length]
        if sign in _SIGNS:
            return _SIGNS[sign], length
    if sign in "{}^_" or _PLAIN.fullmatch(sign):
        return sign, 1
    letter = greek(sign)
    return (f"{letter} " if letter else None), 1
