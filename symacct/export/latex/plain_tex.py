"""Plain text for TeX: accents, Greek letters and signs as commands, special characters escaped."""

from __future__ import annotations

import unicodedata
from functools import cache

from pylatexenc.latexencode import UnicodeToLatexEncoder

# Signs that the table of the library lacks; and braces, which BibTeX counts even when escaped.
_OURS = {
    "ε": r"{\ensuremath{\epsilon}}",  # as in the formulas
    "′": "'",
    "{": r"{\ensuremath{\lbrace}}",
    "}": r"{\ensuremath{\rbrace}}",
}
_SCRIPTS = {"<super>": "^", "<sub>": "_"}


@cache
def _encoder() -> UnicodeToLatexEncoder:
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
    return "".join(_sign(sign) for sign in text)


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
    digits, power, exponent = shown.partition("e")
    if not power:
        return shown
    times = "" if digits == "1" else rf"{digits} \cdot "
    return rf"\ensuremath{{{times}10^{{{exponent}}}}}"
