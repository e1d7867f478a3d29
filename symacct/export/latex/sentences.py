"""Names of symbols, words and the mathematics of sentences in LaTeX.

A user's names are read by a closed grammar.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import sympy

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder


GREEK = (  # noqa: SIM905  # a line of words reads better than a column
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "pi varpi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta "
    "Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
).split()
_ALPHABETS = "mathcal mathrm mathbf mathbb mathsf mathit mathfrak boldsymbol text".split()  # noqa: SIM905
_ACCENTS = "hat tilde bar vec dot widehat widetilde overline underline".split()  # noqa: SIM905
_NAMED_SIGNS = (  # noqa: SIM905
    "ell infty prime star ast dagger circ bullet partial nabla hbar imath jmath Re Im aleph "
    "pm mp times cdot mid to min max langle rangle"
).split()
#: A name given by the user may hold these commands.
NAMING_COMMANDS = frozenset([*GREEK, *_ALPHABETS, *_ACCENTS, *_NAMED_SIGNS])

#: These commands take one argument.
_TAKING = frozenset([*_ALPHABETS, *_ACCENTS])

#: Signs that LaTeX reads as commands, and what prints them.
_ESCAPED = {
    "\\": r"\backslash ",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\wedge ",
    "~": r"\sim ",
    "'": r"\prime ",
    '"': r"\prime\prime ",
    "`": r"\prime ",
    " ": r"\ ",
}
#: A part of a name: letters, or digits.
_PART = re.compile(r"[A-Za-z]+|\d+")
#: A formula without braces, one inside of them: c a command, a any other sign, with scripts.
_NAME = re.compile(r"(?:c*a(?:_a(?:\^a)?|\^a(?:_a)?)?)*")
_GROUP = re.compile(rf"\{{{_NAME.pattern}\}}")
#: Braces in a user's name of a symbol are nested at most this deep.
_DEEPEST = 20
#: The pieces of any LaTeX, and those that a user's name may have.
_ANY_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\[ ,;:!]|[{}^_]|[A-Za-z0-9 .,:;+\-=()|*/]", re.ASCII)


def symbol_latex(name: str) -> str:
    r"""Write a symbol's name in LaTeX's mathematics: a letter with subscripts, or sign by sign.

    Raises DomainError for a character that LaTeX's mathematics lacks.

    >>> symbol_latex("sigma_max"), symbol_latex("x2"), symbol_latex(r"\input{x}%")
    ('\\sigma_{\\mathrm{max}}', 'x_{2}', '\\mathrm{\\backslash input\\{x\\}\\%}')
    """
    head, *subscripts = name.split("_")
    parts = _PART.findall(head)
    if "".join(parts) != head or not 1 <= len(parts) <= 2 or parts[0].isdigit():
        return _spelled(name)
    if not all(part.isascii() and part.isalnum() for part in subscripts):
        return _spelled(name)
    indices = [*parts[1:], *subscripts]
    if not indices:
        return _word(head)
    return f"{_word(parts[0])}_{{{','.join(map(_word, indices))}}}"


def _word(word: str) -> str:
    """Write a Greek letter's name as its command, and a longer word upright."""
    if word in GREEK:
        return f"\\{word}"
    if len(word) == 1 or word.isdigit():
        return word
    return rf"\mathrm{{{word}}}"


def _spelled(name: str) -> str:
    """Write any name sign by sign, Greek letters as their commands; DomainError for others."""
    letter = greek(name)
    if letter is not None:
        return letter
    signs = [_ESCAPED.get(sign) or greek(sign) or sign for sign in name]
    odd = (sign for sign in signs if len(sign) == 1 and not (" " <= sign <= "~"))
    unknown = next(odd, None)
    if unknown is not None or not name:
        raise DomainError(
            f"the symbol {echo(name)} contains the character {echo(unknown)}, which LaTeX's "
            "mathematics lacks; give it a name: latex(names={" + repr(name) + r': r"\xi"})'
        )
    return rf"\mathrm{{{''.join(signs)}}}"


def greek(sign: str) -> str | None:
    """Return a Greek letter's command; None for another sign, or a text of several."""
    letter = None if sign.isascii() else _LETTER.fullmatch(plain_tex(sign))
    return letter[1] if letter and letter[1][1:] in GREEK else None


class SymbolNames:
    """The LaTeX of every symbol: what the user maps, else what its name says.

    `names` maps symbols, or their names, to LaTeX. Raises DomainError for LaTeX that is not a
    name: commands beyond `NAMING_COMMANDS`, braces that do not match, special signs.
    """

    def __init__(self, names: Mapping[Any, str] | None = None) -> None:
        self._given: dict[str, str] = {}
        if names is not None and not isinstance(names, Mapping):
            raise DomainError(
                f'names: found {echo(names)}, needed a mapping such as {{"gamma": "q"}}'
            )
        for key, tex in (names or {}).items():
            if not isinstance(key, str | sympy.Symbol):
                raise DomainError(f"names: found the key {echo(key)}, needed a symbol or its name")
            self._given[key if isinstance(key, str) else key.name] = checked(tex, str(key))

    def __call__(self, name: str) -> str:
        return self._given.get(name) or symbol_latex(name)


def checked(tex: object, what: str) -> str:
    """Return `tex` if it is LaTeX that names something, and nothing else; DomainError otherwise.

    `what` is the symbol that it is for.
    """
    fault = _fault(tex) if isinstance(tex, str) and tex.strip() else "text"
    if fault is not None:
        raise DomainError(
            f"names: found {echo(tex)} for {what}, needed {fault}",
            remedy=(
                "a name is made of letters, "
                r"digits, _, ^, {} and commands such as \sigma, \hat{x}, \mathcal{M}"
            ),
        )
    return str(tex).strip()


def _shape(tex: str) -> str:
    """Reduce LaTeX to its atoms a, scripts, and commands c that take one.

    Braces that match become an atom, to a depth of 20.
    """
    pieces = (piece for piece in _ANY_TOKEN.findall(tex) if not piece.isspace())
    shape = "".join(
        "c" if piece[1:] in _TAKING else piece if piece in "{}^_" else "a" for piece in pieces
    )
    for _ in range(_DEEPEST):
        shape = _GROUP.sub("a", shape)  # the innermost braces
    return shape


def _fault(tex: str) -> str | None:
    """Say what is needed instead where this is no name = { item }; None where it is one.

    item = atom with at most one "_" atom and one "^" atom behind it,
    atom = letter | sign | "{" name "}" | command [ atom ], no bare command [ atom ] as a script.
    """
    pieces = _TOKEN.findall(tex)
    for piece in pieces:
        if piece[0] == "\\" and piece[1:].isalpha() and piece[1:] not in NAMING_COMMANDS:
            return f"no command {piece}"
    if "".join(pieces) != tex:
        return "no other sign"
    shape = _shape(tex)
    if "{" in shape or "}" in shape:
        return f"matching braces, nested at most {_DEEPEST} deep"
    if _NAME.fullmatch(shape):
        return None
    return "a character before and after each _ and ^, and no _ or ^ twice"


#: The library's table lacks these signs; and BibTeX counts braces even when they are escaped.
_OURS = {
    "ε": r"{\ensuremath{\epsilon}}",  # as in the formulas
    "φ": r"{\ensuremath{\phi}}",
    "′": "'",
    "{": r"{\ensuremath{\lbrace}}",
    "}": r"{\ensuremath{\rbrace}}",
}
#: These signs of mathematics are several characters, or have another command among words.
_SIGNS = {
    "<=": r"\leq ",
    ">=": r"\geq ",
    "−": "-",
    "·": r"\cdot ",
    "×": r"\times ",
    "…": r"\dots ",
    "~": r"\sim ",
    "‖": r"\| ",
    "Σ": r"\sum ",
    "√": r"\surd ",
    "′": r"^{\prime}",
    "ᵀ": r"^{\mathsf{T}}",
    "η*": r"\eta^{\ast}",
    "⁻¹": "^{-1}",
}
#: Functions that are written upright in mathematics.
_FUNCTIONS = ("log", "min", "max", "exp")
_NUMBER = r"\d[\d.]*e-?\d+"  # with an exponent
#: The pieces of a text that are written one by one as mathematics.
_PIECE = re.compile(
    rf"{_NUMBER}|(?<![\^_])[A-Za-z]+|{'|'.join(map(re.escape, _SIGNS))}|.", re.DOTALL
)
#: Signs that need no command.
_PLAIN = re.compile(r"[A-Za-z0-9 +\-*/=<>()\[\],.;:|!^_]")
_SPACE = re.compile(r"(?<=[A-Za-z]) (?=[()\],}^_])")  # that no command needs behind it
_OF_WORDS = re.compile(r"\{\\ensuremath\{(.*)\}\}")  # a formula among words
_LETTER = re.compile(r"\{\\ensuremath\{(\\[a-zA-Z]+)\}\}")  # one letter among words
_SCRIPTS = {"<super>": "^", "<sub>": "_"}  # Unicode's sort of a sign ↦ its script


@cache
def _encoder() -> UnicodeToLatexEncoder:
    """Make the library's encoder, which replaces a sign that it does not know."""
    from pylatexenc.latexencode import UnicodeToLatexEncoder  # which takes 10 ms

    return UnicodeToLatexEncoder(
        replacement_latex_protection="braces-all",
        unknown_char_policy="replace",
        unknown_char_warning=False,
    )


def plain_tex(text: str) -> str:
    r"""Escape a text such that TeX and BibTeX set it as it reads.

    >>> print(plain_tex("Rényi, 5 % & ε"))
    R{\'e}nyi, 5 {\%} {\&} {\ensuremath{\epsilon}}
    """
    return "".join(map(_of_word, text))


def _of_word(sign: str) -> str:
    """Escape one sign among words; a raised or lowered one becomes a script."""
    sort, _, code = unicodedata.decomposition(sign).partition(" ")
    if sort in _SCRIPTS:  # of which versions of the library know some
        raised = chr(int(code, 16)).replace("\N{MINUS SIGN}", "-")
        return rf"{{\ensuremath{{{_SCRIPTS[sort]}{{{raised}}}}}}}"
    return _OURS.get(sign) or str(_encoder().unicode_to_latex(sign))


def words(text: str) -> str:
    r"""Escape words without marks, Greek letters among them as formulas."""
    return _LETTER.sub(r"$\1$", plain_tex(text))


def mathematics(text: str) -> str | None:
    """Write a text as mathematics; None for unknown signs, or scripts that do not match."""
    out: list[str] = []
    closing: list[str] = []
    for piece in _PIECE.findall(text):
        tex: str | None = piece
        if piece == "{":
            is_script = bool(out) and out[-1] in ("^", "_")
            closing.append("}" if is_script else r"\}")
            tex = "{" if is_script else r"\{"
        elif piece == "}":
            tex = closing.pop() if closing else None
        else:
            tex = _of_mathematics(piece)
        if tex is None:
            return None
        out.append(tex)
    formula = _SPACE.sub("", re.sub(" +", " ", "".join(out))).strip()
    return formula if not closing and _NAME.fullmatch(_shape(formula)) else None


def _of_mathematics(piece: str) -> str | None:
    """Write a number, a word or a sign in mathematics; None for a sign that we do not know."""
    if piece in _SIGNS:
        return _SIGNS[piece]
    if re.fullmatch(_NUMBER, piece):
        return in_powers(piece)
    if piece in _FUNCTIONS:
        return rf"\{piece} "
    if len(piece) > 2:
        return rf"\mathrm{{{piece}}}"
    if len(piece) == 2 or _PLAIN.fullmatch(piece):
        return piece
    known = _OF_WORDS.fullmatch(_of_word(piece))
    return f"{known[1]} " if known else None


def cite_key(key: str) -> str:
    """Replace the signs of a key that \\cite and BibTeX do not take by hyphens."""
    return re.sub(r"[^A-Za-z0-9.:_-]", "-", key)


def tex_number(shown: str) -> str:
    r"""Write a printed number for TeX, within words or mathematics.

    >>> tex_number("1e-5"), tex_number("2.05e-11"), tex_number("0.837")
    ('\\ensuremath{10^{-5}}', '\\ensuremath{2.05 \\cdot 10^{-11}}', '0.837')
    """
    formula = in_powers(shown)
    return shown if formula == shown else rf"\ensuremath{{{formula}}}"


def in_powers(shown: str) -> str:
    """Write a printed number in mathematics, its exponent as a power of ten."""
    digits, power, exponent = shown.partition("e")
    if not power or not digits:  # a decimal, or the letter e
        return shown
    times = "" if digits == "1" else rf"{digits} \cdot "
    return rf"{times}10^{{{exponent}}}"
