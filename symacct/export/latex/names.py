"""Names of symbols in LaTeX as papers write them; a user's by a closed grammar."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import sympy

from symacct.kernel.errors import DomainError, echo

GREEK = (  # noqa: SIM905  # a line of words reads better than a column
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "pi varpi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta "
    "Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
).split()
_ALPHABETS = "mathcal mathrm mathbf mathbb mathsf mathit mathfrak boldsymbol text".split()  # noqa: SIM905
_ACCENTS = "hat tilde bar vec dot widehat widetilde overline underline".split()  # noqa: SIM905
_SIGNS = (  # noqa: SIM905
    "ell infty prime star ast dagger circ bullet partial nabla hbar imath jmath Re Im aleph "
    "pm mp times cdot mid to min max langle rangle"
).split()
#: The commands that a name given by the user may hold.
NAMING_COMMANDS = frozenset([*GREEK, *_ALPHABETS, *_ACCENTS, *_SIGNS])

_TAKING = frozenset([*_ALPHABETS, *_ACCENTS])

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
_PART = re.compile(r"[A-Za-z]+|\d+")
_NAME = re.compile(r"(?:c*a(?:_a(?:\^a)?|\^a(?:_a)?)?)*")
_GROUP = re.compile(rf"\{{{_NAME.pattern}\}}")
_DEEPEST = 20
_TOKEN = re.compile(r"\\[A-Za-z]+|\\[ ,;:!]|[{}^_]|[A-Za-z0-9 .,:;+\-=()|*/]", re.ASCII)


def symbol_latex(name: str) -> str:
    r"""A symbol's name in LaTeX's mathematics.

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
    if word in GREEK:
        return f"\\{word}"
    if len(word) == 1 or word.isdigit():
        return word
    return rf"\mathrm{{{word}}}"


def _spelled(name: str) -> str:
    """Any name, sign by sign; Greek letters as their commands."""
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
    """A Greek letter's command; None for another sign."""
    if len(sign) != 1 or sign.isascii():
        return None
    words = unicodedata.name(sign, "").split()
    if words[:2] not in (["GREEK", "SMALL"], ["GREEK", "CAPITAL"]) or len(words) != 4:
        return None
    name = words[3].lower().replace("lamda", "lambda")
    name = name if words[1] == "SMALL" else name.capitalize()
    return f"\\{name}" if name in GREEK else None


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
    """`tex` if it is LaTeX that names something, and nothing else."""
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


def _fault(tex: str) -> str | None:
    """What is needed instead where this is no name = { item }; None where it is one.

    item = atom with at most one "_" atom and one "^" atom behind it,
    atom = letter | sign | "{" name "}" | command [ atom ], no bare command [ atom ] as a script.
    """
    pieces, shape = _TOKEN.findall(tex), ""
    for piece in pieces:
        if piece[0] == "\\" and piece[1:].isalpha() and piece[1:] not in NAMING_COMMANDS:
            return f"no command {piece}"
        if piece != " ":
            shape += "c" if piece[1:] in _TAKING else piece if piece in "{}^_" else "a"
    if "".join(pieces) != tex:
        return "no other sign"
    for _ in range(_DEEPEST):
        shape = _GROUP.sub("a", shape)  # the innermost braces
    if "{" in shape or "}" in shape:
        return f"matching braces, nested at most {_DEEPEST} deep"
    return (
        None
        if _NAME.fullmatch(shape)
        else ("a character before and after each _ and ^, and no _ or ^ twice")
    )
