"""Plain text for TeX: accents, Greek letters and signs as commands, special characters escaped."""

from __future__ import annotations

from functools import cache

from pylatexenc.latexencode import UnicodeToLatexEncoder

# Signs that the table of the library lacks; and braces, which BibTeX counts even when escaped.
_OURS = {
    "′": "'",
    "²": r"{\ensuremath{^2}}",
    "₁": r"{\ensuremath{_1}}",
    "₂": r"{\ensuremath{_2}}",
    "{": r"{\ensuremath{\lbrace}}",
    "}": r"{\ensuremath{\rbrace}}",
}


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
    R{\'e}nyi, 5 {\%} {\&} {\ensuremath{\varepsilon}}
    """
    return "".join(_OURS.get(sign) or _encoder().unicode_to_latex(sign) for sign in text)
