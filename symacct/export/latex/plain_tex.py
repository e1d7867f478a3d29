"""Plain text for TeX: accents, Greek letters and signs as commands, special characters escaped."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

# Signs that the table of the library lacks; and braces, which BibTeX counts even when escaped.
_OURS = {
    "ε": r"{\ensuremath{\epsilon}}",  # as in the formulas
    "′": "'",
    "{": r"{\ensuremath{\lbrace}}",
    "}": r"{\ensuremath{\rbrace}}",
}
_EXPONENT = re.compile(r"\^([A-Za-z0-9]+(?:\.[0-9]+)?|\([A-Za-z0-9 .+*/|-]+\))")
#: Its share of a sum with a power of Euler's number, e/(e + 3) or e^0.5/(e^0.5 + 3); and a power.
_POWERS = re.compile(
    rf"((?<!\w)(e(?:{_EXPONENT.pattern})?)/\(\2 \+ \d+\)|(?<!\w)e{_EXPONENT.pattern})(?!\w)"
)
_GROUPS = _POWERS.groups + 1
#: What stands between these is mathematics; of the signs that Unicode leaves to private use.
_MARKED = re.compile("\ue000([^\ue001]*)\ue001")
_SCRIPTS = {"<super>": "^", "<sub>": "_"}


@cache
def _encoder() -> UnicodeToLatexEncoder:
    from pylatexenc.latexencode import UnicodeToLatexEncoder  # which takes 10 ms

    return UnicodeToLatexEncoder(
        replacement_latex_protection="braces-all",
        unknown_char_policy="replace",
        unknown_char_warning=False,
    )


def plain_tex(text: str) -> str:
    r"""`text` such that TeX and BibTeX set it as it reads.

    >>> print(plain_tex("Rényi, 5 % & ε"))
    R{\'e}nyi, 5 {\%} {\&} {\ensuremath{\epsilon}}
    """
    words = _POWERS.split(text)
    maths = (rf"{{\ensuremath{{{_EXPONENT.sub(_braced, one)}}}}}" for one in words[1::_GROUPS])
    plain = ("".join(map(_sign, one)) for one in words[::_GROUPS])
    return "".join(f"{one}{formula}" for one, formula in zip_longest(plain, maths, fillvalue=""))


def mathematics(tex: str) -> str:
    """LaTeX's mathematics as a part of words, marked for `marked_tex`."""
    return f"\ue000{tex}\ue001"


def marked_tex(text: str) -> str:
    """`plain_tex` of our own words, with the mathematics that is marked in them as it is."""
    words = _MARKED.split(text)
    formulas = (f"${one}$" for one in words[1::2])
    plain = map(plain_tex, words[::2])
    return "".join(f"{one}{formula}" for one, formula in zip_longest(plain, formulas, fillvalue=""))


def by_marks(text: str) -> list[str]:
    """The parts of words, those at odd places mathematics as `mathematics` marks it."""
    return _MARKED.split(text)


def _braced(exponent: re.Match[str]) -> str:
    return f"^{{{exponent[1].removeprefix('(').removesuffix(')')}}}"


def _sign(sign: str) -> str:
    sort, _, code = unicodedata.decomposition(sign).partition(" ")
    if sort in _SCRIPTS:  # of which versions of the library know some
        raised = chr(int(code, 16)).replace("\N{MINUS SIGN}", "-")
        return rf"{{\ensuremath{{{_SCRIPTS[sort]}{raised}}}}}"
    return _OURS.get(sign) or str(_encoder().unicode_to_latex(sign))


def tex_number(shown: str) -> str:
    r"""A number as it is printed, as TeX sets it.

    >>> tex_number("1e-5"), tex_number("2.05e-11"), tex_number("0.837")
    ('\\ensuremath{10^{-5}}', '\\ensuremath{2.05 \\cdot 10^{-11}}', '0.837')
    """
    formula = in_powers(shown)
    return shown if formula == shown else rf"\ensuremath{{{formula}}}"


def in_powers(shown: str) -> str:
    """A number as it is printed, in mathematics."""
    digits, power, exponent = shown.partition("e")
    if not power or not digits:  # a decimal, or the letter e
        return shown
    times = "" if digits == "1" else rf"{digits} \cdot "
    return rf"{times}10^{{{exponent}}}"
