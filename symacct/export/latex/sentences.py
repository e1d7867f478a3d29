"""Sentences whose mathematics is marked, "$ε(α) <= ρα$ for $α < ω$", as LaTeX."""

from __future__ import annotations

import re

from symacct.export.latex.names import greek
from symacct.export.latex.plain_tex import by_marks, in_powers, plain_tex
from symacct.export.latex.plain_tex import mathematics as mark
from symacct.kernel.words import Marked, pieces

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
    "ℓ": r"\ell ",
    "≈": r"\approx ",
}
_FUNCTIONS = ("log", "min", "max", "exp")
_PLAIN = re.compile(r"[A-Za-z0-9 +\-*/=<>()\[\],.;:|!]")
_SPACE = re.compile(r"(?<=[A-Za-z]) (?=[()\],}^_])")  # that no command needs behind it
_LETTER = re.compile(r"\{\\ensuremath\{(\\[a-zA-Z]+)\}\}")
_OF_FLOAT = " (as float64)"  # what is said of a number, and is no part of it
_NUMBER = re.compile(r"\d[\d.]*e-?\d+")


def tex(sentence: str) -> str:
    r"""LaTeX of a sentence; of mathematics that we do not know, as it reads.

    >>> print(tex(Marked("a rate $γ <= 1/5$, and 100% of it")))
    a rate $\gamma \leq 1/5$, and 100{\%} of it
    """
    template = sentence.template if isinstance(sentence, Marked) else ""
    parts = pieces(template) if template else [(sentence, False)]
    return "".join(formula(part) if is_maths else words(part) for part, is_maths in parts)


def words(text: str) -> str:
    r"""Words without marks, letters among them as formulas."""
    return _LETTER.sub(r"$\1$", plain_tex(text))


def formula(text: str) -> str:
    """Mathematics as a formula in a text; as it reads where it has signs that we do not know."""
    found = mathematics(text)
    return words(text) if found is None else f"${found.strip()}$"


def marked_mathematics(text: str) -> str:
    """Mathematics, formulas in LaTeX among it, as one formula that is marked as such."""
    number, of_float, _ = text.partition(_OF_FLOAT)
    parts = by_marks(number)
    plain = [mathematics(part) if part else "" for part in parts[::2]]
    if None in plain:
        return text
    parts[::2] = [part or "" for part in plain]
    left, _, right = "".join(parts).partition(" = ")
    same = left.strip() == right.strip()  # a letter for a symbol that is that letter
    return mark(left.strip() if same else "".join(parts).strip()) + of_float


def mathematics(text: str) -> str | None:
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
    return _SPACE.sub("", re.sub(" +", " ", "".join(out)))


def _piece(text: str, place: int) -> tuple[str | None, int]:
    """The LaTeX of the sign or word at a place, and how long that is."""
    if number := _NUMBER.match(text, place):
        return in_powers(number[0]), len(number[0])
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
