"""Parameters in words: decimals, roots and powers of e, laws and tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from symacct.kernel.answer import exact_decimal
from symacct.kernel.errors import in_few_digits, is_long
from symacct.kernel.exact import INFINITY, LazyModule, printers, sympy, text
from symacct.kernel.formula import value_text
from symacct.kernel.words import pieces
from symacct.laws.density import Density
from symacct.laws.law import Law

if TYPE_CHECKING:
    from symacct.export.latex import plain_tex, printer, sentences
    from symacct.export.latex.printer import PaperPrinter
else:  # they need libraries that words do without
    plain_tex = LazyModule("symacct.export.latex.plain_tex")
    printer = LazyModule("symacct.export.latex.printer")
    sentences = LazyModule("symacct.export.latex.sentences")

LISTED = 12  # that are named one by one
#: Are formulas written as LaTeX, and by which printer if not by that of displays?
_IN_TEX: ContextVar[tuple[bool, PaperPrinter | None]] = ContextVar("in_tex", default=(False, None))


def in_tex(words: Callable[[], str], by: PaperPrinter | None = None) -> str:
    """What `words` says, in LaTeX: every formula in it by this printer, or by that of displays."""
    before = _IN_TEX.set((True, by))
    try:
        return str(plain_tex.marked_tex(words()))
    finally:
        _IN_TEX.reset(before)


def _is_tex() -> bool:
    return _IN_TEX.get()[0]


def in_words(parameter: object) -> str:
    """A parameter that may be a law or a table, in words and mathematics."""
    if isinstance(parameter, Law):
        return _law(parameter)
    if isinstance(parameter, tuple):
        return _table(parameter)
    is_number = isinstance(parameter, int | Fraction | sympy.Expr)
    return value(parameter) if is_number else value_text(parameter)


def filled(template: str, fields: Mapping[str, str]) -> str:
    """A template with its fields in their places; its mathematics as LaTeX within `in_tex`."""
    return "".join(
        _set(_about(part.format(**fields)), is_maths) for part, is_maths in pieces(template)
    )


def _set(part: str, is_maths: bool) -> str:
    return str(sentences.marked_mathematics(part)) if is_maths and _is_tex() else part


def _about(words: str) -> str:
    """With a number of few digits as readers say it."""
    return words.replace("= ≈", "≈").replace("probability ≈", "probability about")


def _law(law: Law) -> str:
    """A law by its name and its parameters: the Poisson law (rate = 10), or by its density."""
    if isinstance(law, Density):
        ends = (_end(end) for end in (law.cuts[0], law.cuts[-1]))
        on = " < x < ".join(ends)
        where = "" if on == "−∞ < x < ∞" else f" for {on}"
        scaled = "" if law.mass == 1 else ", divided by its integral"
        return f"the law of density {spoken(law.__dict__['formula'])}{where}{scaled}"
    name = " ".join(re.findall("[A-Z][a-z]*", type(law).__name__))
    said = (_of_law(k, in_words(v)) for k, v in law.parameters.items())
    return f"the {_LAWS.get(name, name)} law ({', '.join(said)})"


def _of_law(name: str, given: str) -> str:
    """A parameter of a law, by its letter or its name."""
    letter = _LETTERS.get(name, name)
    equation = f"{letter} = {{given}}"
    return filled(f"${equation}$" if len(letter) == 1 else equation, {"given": given})


def _end(end: object) -> str:
    """An end of a density: −∞, ∞ or a number."""
    return {"-inf": "−∞", "inf": "∞"}.get(str(end)) or in_words(end)


def _table(rows: tuple[object, ...]) -> str:
    """Probabilities in brackets, (1/2, 1/2); of many the first few and how many there are."""
    shown = [in_words(one) for one in rows[:LISTED]]
    more = f", … ({len(rows):,} in all)" if len(rows) > LISTED else ""
    return f"({', '.join(shown)}{more})"


_LETTERS = {"eta": "η", "gamma": "γ", "sigma": "σ", "theta": "θ"}
_LAWS = {"Truncated Negative Binomial": "truncated negative binomial"}


def value(number: object) -> str:
    """A parameter as a reader writes it: a short decimal where it is one, else a fraction."""
    if isinstance(number, Law | tuple):
        return in_words(number)
    if isinstance(number, sympy.Expr):
        return spoken(number)
    if not isinstance(number, Fraction):
        return "∞" if number == INFINITY else str(number)
    decimal = exact_decimal(number)
    if decimal is not None and len(decimal) <= 12:
        return _decimal(decimal)
    is_read = number.denominator == 1 or not is_long(number.numerator, number.denominator)
    return text(number) if is_read else in_few_digits(number)


def _decimal(shown: str) -> str:
    """A decimal, in LaTeX with its power of ten as one."""
    return marked(plain_tex.in_powers(shown)) if _is_tex() and "e" in shown else shown


def spoken(formula: sympy.Expr) -> str:
    """A formula for readers, with √ and e for Euler's number: 3√3, e^2/(e^2 + 1)."""
    long = {x for x in formula.atoms(sympy.Rational) if x.q != 1 and is_long(x.p, x.q)}
    short = {x: _few_digits(abs(x)) * (1 if x > 0 else -1) for x in long}
    return ("≈ " if long else "") + marked(written(formula.xreplace(short)))


def _few_digits(x: sympy.Rational) -> sympy.Symbol:
    """A number of few digits in a formula, for one that is about the same."""
    digits = in_few_digits(Fraction(int(x.p), int(x.q)))
    return sympy.Symbol(re.sub(r"≈ | \(.*", "", digits), positive=True)


def marked(formula: str) -> str:
    return str(plain_tex.mathematics(formula)) if _is_tex() else formula


def written(formula: sympy.Expr) -> str:
    """A formula as plain text, or as LaTeX within `in_tex`."""
    if _is_tex():
        return str(printer.in_text(formula, _IN_TEX.get()[1]))
    return str(_spoken()().doprint(formula))


@cache
def _spoken() -> type[Any]:
    class Spoken(printers()[0]):  # type: ignore[misc]  # made where SymPy is
        def _print_Exp1(self, number: sympy.Expr) -> str:  # noqa: N802
            return "e"

        def _print_Pi(self, number: sympy.Expr) -> str:  # noqa: N802
            return "π"

        def _print_Abs(self, size: sympy.Expr) -> str:  # noqa: N802
            return f"|{self._print(size.args[0])}|"

        def _print_exp(self, power: sympy.Expr) -> str:
            return _power_of_e(power.exp)

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


def _power_of_e(exponent: sympy.Expr) -> str:
    """e, e^2, e^0.5 or e^(x + 1)."""
    if exponent == 1:
        return "e"
    is_rational = isinstance(exponent, sympy.Rational)
    shown = value(Fraction(exponent.p, exponent.q)) if is_rational else written(exponent)
    if _is_tex():
        return f"e^{{{shown}}}"
    return f"e^{shown}" if re.fullmatch(r"[\w.]+", shown) else f"e^({shown})"
