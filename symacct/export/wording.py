"""Words with mathematics, numbers, code and citations in them, as text, Markdown or LaTeX.

Words are made once, by templates with fields in their places. What is no word in them is marked
where it is written, and `written` escapes all the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from symacct.kernel.answer import exact_decimal
from symacct.kernel.errors import in_few_digits, is_long
from symacct.kernel.exact import INFINITY, LazyModule, printers, sympy, text
from symacct.kernel.node import Counted, Marked, pieces
from symacct.kernel.sources import WORKS
from symacct.laws.density import Density
from symacct.laws.law import Law

if TYPE_CHECKING:
    from symacct.export.latex import printer, sentences
    from symacct.export.latex.printer import PaperPrinter
else:  # they need libraries that words do without
    printer = LazyModule("symacct.export.latex.printer")
    sentences = LazyModule("symacct.export.latex.sentences")

LISTED = 12  # that are named one by one
#: Between these stands what is written as it is, of the signs that Unicode leaves to private use;
#: mathematics between dollar signs.
_MARK = "\ue000{}\ue001"
_MARKED = re.compile("\ue000([^\ue001]*)\ue001")
_OF_FLOAT = " (as float64)"  # what is said of a number, and is no part of it


@dataclass(frozen=True)
class Form:
    """How words are escaped, and whether formulas, code and citations are LaTeX or Markdown."""

    name: str
    escaped: Callable[[str], str] = str
    printer: PaperPrinter | None = None  # of formulas, where it is not that of displays

    @property
    def is_tex(self) -> bool:
        """Are formulas written as LaTeX?"""
        return self.name == "latex"


_FORMS = {
    "text": Form("text"),
    "markdown": Form("markdown", lambda words: re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", words)),
    "latex": Form("latex", lambda words: str(sentences.words(words))),
}
FORMS = tuple(_FORMS)
_FORM: ContextVar[Form] = ContextVar("form", default=_FORMS["text"])


def written(form: str, words: Callable[[], str], by: PaperPrinter | None = None) -> str:
    """What `words` makes, in this form; formulas in LaTeX by this printer, if one is given."""
    kept = _FORMS[form]
    before = _FORM.set(Form(kept.name, kept.escaped, by))
    try:
        parts = _MARKED.split(words())
        return "".join(part if i % 2 else kept.escaped(part) for i, part in enumerate(parts))
    finally:
        _FORM.reset(before)


def code(text: str) -> str:
    """Code or a hash, as such."""
    match _FORM.get().name:
        case "latex":
            return _MARK.format(rf"\texttt{{{sentences.plain_tex(text)}}}")
        case "markdown":
            return _MARK.format(f"`{text}`")
    return text


def cited(key: str, place: str) -> str:
    """A work by its key and the place in it: by its authors, and in LaTeX by \\cite."""
    if _FORM.get().is_tex:
        where = f"[{{{sentences.words(place)}}}]" if place else ""
        return _MARK.format(rf"\cite{where}{{{sentences.cite_key(key)}}}")
    work = WORKS[key].named if key in WORKS else key
    return f"[{work}, {place}]" if place else f"[{work}]"


def shown(fields: Mapping[str, object]) -> dict[str, Counted]:
    """What stands in the places of a template: text as it is, parameters as `value` has them."""
    return {k: Counted(v if isinstance(v, str) else value(v)) for k, v in fields.items()}


def filled(template: str, /, **fields: object) -> str:
    """A template with its fields in their places; between dollar signs it is mathematics."""
    given = shown(fields)
    return "".join(
        _set(_about(part.format(**given)), is_maths) for part, is_maths in pieces(template)
    )


def sentence(words: str) -> str:
    """A sentence of a theorem's or of a user's, with its mathematics where that is marked.

    >>> print(written("latex", lambda: sentence(Marked("a rate $γ <= 1/5$, and 100% of it"))))
    a rate $\\gamma \\leq 1/5$, and 100{\\%} of it
    """
    parts = pieces(words.template) if isinstance(words, Marked) else [(words, False)]
    # Signs that are ours are none of a user's.
    return "".join(_set(_MARKED.sub(r"\1", part), is_maths) for part, is_maths in parts)


def _set(part: str, is_maths: bool) -> str:
    """A part of a template; in LaTeX mathematics, with formulas among it, as one formula."""
    if not is_maths or not _FORM.get().is_tex:
        return part
    number, of_float, _ = part.partition(_OF_FLOAT)
    parts = _MARKED.split(number)
    plain = [sentences.mathematics(one) if one else "" for one in parts[::2]]
    if None in plain:
        return part
    parts[::2] = [one or "" for one in plain]
    parts[1::2] = [one.strip("$") for one in parts[1::2]]
    formula = " ".join(filter(None, parts))
    left, _, right = formula.partition("=")
    same = left.strip() == right.strip()  # a letter for a symbol that is that letter
    return maths(left.strip() if same else formula) + of_float


def _about(words: str) -> str:
    """With a number of few digits as readers say it."""
    return words.replace("= ≈", "≈").replace("probability ≈", "probability about")


def maths(tex: str) -> str:
    """A formula in LaTeX as a part of words."""
    return _MARK.format(f"${tex}$")


# --- parameters


def value(x: object) -> str:
    """A parameter as a reader writes it: a short decimal where it is one, else a fraction.

    A law or a table is told in words and mathematics.
    """
    if isinstance(x, Law):
        return _law(x)
    if isinstance(x, tuple):
        return _table(x)
    if isinstance(x, sympy.Expr):
        return _spoken(x)
    if not isinstance(x, Fraction):
        return "∞" if x == INFINITY else str(x)
    decimal = exact_decimal(x)
    if decimal is not None and len(decimal) <= 12:
        is_power = _FORM.get().is_tex and "e" in decimal
        return maths(sentences.in_powers(decimal)) if is_power else decimal
    is_read = x.denominator == 1 or not is_long(x.numerator, x.denominator)
    return text(x) if is_read else in_few_digits(x)


def _law(law: Law) -> str:
    """A law by its name and its parameters: the Poisson law (rate = 10), or by its density."""
    if isinstance(law, Density):
        ends = (_END.get(str(end)) or value(end) for end in (law.cuts[0], law.cuts[-1]))
        on = " < x < ".join(ends)
        where = "" if on == "−∞ < x < ∞" else f" for {on}"
        scaled = "" if law.mass == 1 else ", divided by its integral"
        return f"the law of density {_spoken(law.__dict__['formula'])}{where}{scaled}"
    name = " ".join(re.findall("[A-Z][a-z]*", type(law).__name__))
    letters = {_LETTERS.get(name, name): x for name, x in law.parameters.items()}
    given = (
        filled(f"${letter} = {{x}}$" if len(letter) == 1 else f"{letter} = {{x}}", x=x)
        for letter, x in letters.items()
    )
    return f"the {_LAWS.get(name, name)} law ({', '.join(given)})"


_END = {"-inf": "−∞", "inf": "∞"}
_LETTERS = {"eta": "η", "gamma": "γ", "sigma": "σ", "theta": "θ"}
_LAWS = {"Truncated Negative Binomial": "truncated negative binomial"}


def _table(rows: tuple[object, ...]) -> str:
    """Probabilities in brackets, (1/2, 1/2); of many the first few and how many there are."""
    more = f", … ({len(rows):,} in all)" if len(rows) > LISTED else ""
    return f"({', '.join(map(value, rows[:LISTED]))}{more})"


def _spoken(formula: sympy.Expr) -> str:
    """A formula for readers, with √ and e for Euler's number: 3√3, e^2/(e^2 + 1)."""
    long = {x for x in formula.atoms(sympy.Rational) if x.q != 1 and is_long(x.p, x.q)}
    short = {x: _few_digits(abs(x)) * (1 if x > 0 else -1) for x in long}
    about, brief = "≈ " if long else "", formula.xreplace(short)
    if _FORM.get().is_tex:
        return about + maths(printer.in_text(brief, _FORM.get().printer))
    return about + str(_spoken_printer()().doprint(brief))


def _few_digits(x: sympy.Rational) -> sympy.Symbol:
    """A number of few digits in a formula, for one that is about the same."""
    digits = in_few_digits(Fraction(int(x.p), int(x.q)))
    return sympy.Symbol(re.sub(r"≈ | \(.*", "", digits), positive=True)


@cache
def _spoken_printer() -> type[Any]:
    class Spoken(printers()[0]):  # type: ignore[misc]  # made where SymPy is
        def _print_Symbol(self, symbol: sympy.Symbol) -> str:  # noqa: N802
            return "α" if symbol.name == "alpha" else str(super()._print_Symbol(symbol))

        def _print_Exp1(self, number: sympy.Expr) -> str:  # noqa: N802
            return "e"

        def _print_Pi(self, number: sympy.Expr) -> str:  # noqa: N802
            return "π"

        def _print_Abs(self, size: sympy.Expr) -> str:  # noqa: N802
            return f"|{self._print(size.args[0])}|"

        def _print_exp(self, power: sympy.Expr) -> str:
            """e^2, e^0.5 or e^(x + 1)."""
            exponent = power.exp
            is_rational = isinstance(exponent, sympy.Rational)
            number = Fraction(exponent.p, exponent.q) if is_rational else None
            shown = self._print(exponent) if number is None else value(number)
            return f"e^{shown}" if re.fullmatch(r"[\w.]+", shown) else f"e^({shown})"

        def _print_Mul(self, product: sympy.Expr) -> str:  # noqa: N802
            text = str(super()._print_Mul(product))
            return re.sub(r"(?<=\d)\*(?=√)", "", text).replace("*", "·")

        def _print_Pow(self, power: sympy.Expr, rational: bool = False) -> str:  # noqa: N802
            base, exponent = power.as_base_exp()
            if abs(exponent) != sympy.S.Half or rational:
                return str(super()._print_Pow(power, rational)).replace("**", "^")
            inside = self._print(base)
            root = f"√{inside}" if base.is_Atom and base.is_nonnegative else f"√({inside})"
            return root if exponent > 0 else f"1/{root}"

    return Spoken
