"""SymPy expressions in LaTeX as papers on privacy print them, long ones over several lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import sympy
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter

from symacct.export.latex.sentences import SymbolNames
from symacct.kernel.exact import text

#: This matches a command, a sign, a brace or a letter of LaTeX.
_PIECE = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\s+|.")
#: These commands are as wide as so many letters; any other command is as wide as one.
_WIDE = {"log": 2.8, "min": 3.6, "max": 3.6, "sum": 2.4, "int": 1.6, "quad": 2, "qquad": 4}
#: These commands have no width of their own.
_WITHOUT_WIDTH = frozenset(  # a line of words reads better than a column
    "left right biggl biggr bigl bigr mathbf mathcal mathrm text displaystyle begin".split()  # noqa: SIM905
)
#: These signs have space on both sides.
_SPACED = frozenset(
    r"+ - = < > \leq \geq \neq \cdot \times \otimes \oplus \ast".split()  # noqa: SIM905
)


def width_of(tex: str) -> float:
    """Estimate the width of a line of mathematics, in the widths of a letter."""
    return _Widths(_PIECE.findall(tex)).row()


class _Widths:
    """A walk over the pieces of a line that adds up their widths; scripts count two thirds."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces
        self.place = 0
        self.depth = 0  # of scripts, within which limits stand beside their sign

    def row(self) -> float:
        """The width of the pieces up to a closing brace or the end."""
        total = 0.0
        while self.place < len(self.pieces) and self.pieces[self.place] != "}":
            total += self.piece_width()
        return total

    def group(self) -> float:
        """The width of the next piece, or of all between its braces."""
        while self.pieces[self.place].isspace():
            self.place += 1
        if self.pieces[self.place] != "{":
            return self.piece_width()
        self.place += 1
        inside = self.row()
        self.place += 1
        return inside

    def piece_width(self) -> float:
        """Return the width of the next piece, with the groups that it takes."""
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
        return 0 if name in _WITHOUT_WIDTH else _WIDE.get(name, 1)

    def script(self) -> float:
        """The width of an exponent or an index, two thirds of that of its letters."""
        self.depth += 1
        width = self.group() * 2 / 3
        self.depth -= 1
        return width

    def limits(self, width: float) -> float:
        """Return the width of a sign with limits above and below it; in a script beside it."""
        beside = width if self.depth else 0
        while self.place < len(self.pieces) and self.pieces[self.place] in ("^", "_"):
            self.place += 1
            width = max(width, beside + self.script())
        return width


#: A line is this wide, in the widths of a letter: the text of an article leaves room for it.
WIDTH = 56
#: A piece that is no wider than this many letters is not left alone on a line.
_STUB_WIDTH = 12
#: Brackets around these grow.
_TALL = re.compile(r"\\(frac|sum|int|binom|begin|sqrt)\b")


def _applied(name: str, place: int = 0) -> Callable[..., str]:
    """Make the method that prints a function of this name and the argument at a place."""
    return lambda self, e, exp=None: f"{name}{bracketed(self._print(e.args[place]))}"


class PaperPrinter(LatexPrinter):  # type: ignore[misc]  # SymPy ships no types
    """Prints the LaTeX of an expression on one line (`doprint`), or on several (`lines`).

    `names` gives the LaTeX of each symbol.
    """

    def __init__(self, names: SymbolNames) -> None:
        super().__init__()
        self.names = names
        self._in_script = False

    # --- atoms and functions

    def _print_Symbol(self, symbol: sympy.Symbol, style: str | None = None) -> str:  # noqa: N802
        return self.names(symbol.name)

    _print_Dummy = _print_Symbol  # noqa: N815

    def _print_Rational(self, number: sympy.Rational) -> str:  # noqa: N802
        """Print a fraction with its sign in front, flat within an exponent or an index."""
        top, bottom = (text(Fraction(int(end))) for end in (number.p, number.q))
        if number.q == 1:
            return top
        if self._in_script:
            return f"{top}/{bottom}"
        sign = "- " if number.p < 0 else ""
        return rf"{sign}\frac{{{top.lstrip('-')}}}{{{bottom}}}"

    def _print_AppliedUndef(self, e: sympy.Expr) -> str:  # noqa: N802
        """Print a curve of a mechanism, such as ε_M(α), by the name of its function."""
        letter, _, number = e.func.__name__.partition("_")
        name = rf"\{letter}" if len(letter) > 1 else letter
        number = r"\mathcal{M}" if number == "M" else number
        return f"{name}_{{{number}}}{bracketed(self._print(e.args[0]))}"

    def _print_Function(self, e: sympy.Expr, exp: str | None = None) -> str:  # noqa: N802
        return self._print_AppliedUndef(e)

    _print_log = _applied(r"\log")
    _print_loggamma = _applied(r"\log\Gamma")
    _print_polygamma = _applied(r"\psi", 1)

    def _print_exp(self, e: sympy.Expr, exp: str | None = None) -> str:
        base, exponent = as_power(e)
        return f"{'e' if base is sympy.E else self._base(base)}^{{{self.script(exponent)}}}"

    _print_ExpBase = _print_exp  # noqa: N815

    def _print_binomial(self, e: sympy.Expr, exp: str | None = None) -> str:
        """Print a binomial coefficient, raised to an exponent if there is one."""
        upper, lower = map(self.script, e.args)
        plain = rf"\binom{{{upper}}}{{{lower}}}"
        return plain if exp is None else f"{plain}^{{{exp}}}"

    def _add_parens(self, s: str) -> str:
        return bracketed(s)

    def _print_Min(self, e: sympy.Expr, exp: str | None = None) -> str:  # noqa: N802
        listed = r",\, ".join(map(self._print, in_order(e.args)))
        return f"{self._choice(e)}{bracketed(listed, '{')}"

    _print_Max = _print_Min  # noqa: N815

    @staticmethod
    def _choice(e: sympy.Expr) -> str:
        return r"\max" if isinstance(e, sympy.Max) else r"\min"

    def _print_Piecewise(self, e: sympy.Expr) -> str:  # noqa: N802
        """Print the cases below each other, the last as "otherwise" where it holds for all."""
        rows = [
            rf"{self._print(value)} & "
            + (r"\text{otherwise}" if condition == True else self._print(condition))  # noqa: E712
            for value, condition in e.args
        ]
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"

    # --- sums and integrals

    def _print_Sum(self, e: sympy.Expr) -> str:  # noqa: N802
        return f"{self.sum_sign(e)} {self._factor(e.function)}"

    def sum_sign(self, e: sympy.Expr) -> str:
        """Print the sign of a sum with its index and both ends."""
        ((index, first, last),) = e.limits
        first, last = self._print(first), self.script(last)
        return rf"\sum_{{{self._print(index)}={first}}}^{{{last}}}"

    def _print_Integral(self, e: sympy.Expr) -> str:  # noqa: N802
        variable = self._print(e.limits[0][0])
        return rf"{self.integral_sign(e)} {self._factor(e.function)} \, d{variable}"

    def integral_sign(self, e: sympy.Expr) -> str:
        ((_, first, last),) = e.limits
        return rf"\int_{{{self.script(first)}}}^{{{self.script(last)}}}"

    # --- powers, products, sums of terms

    def _print_Pow(self, e: sympy.Expr) -> str:  # noqa: N802
        """Print a power, e^x and √x by their own signs, 1/x as a fraction."""
        base, exponent = e.args
        if base is sympy.E:
            return f"e^{{{self.script(exponent)}}}"
        if exponent == sympy.Rational(1, 2):
            return rf"\sqrt{{{self._print(base)}}}"
        if exponent.is_Rational and exponent < 0:
            return self._print_Mul(e)
        return f"{self._base(base)}^{{{self.script(exponent)}}}"

    def _base(self, base: sympy.Expr) -> str:
        """Print the base of a power, in brackets but for a symbol or a whole number."""
        plain = base.is_Symbol or (base.is_Integer and base >= 0)
        text = self._print(base)
        return text if plain else bracketed(text)

    def _print_Mul(self, e: sympy.Expr) -> str:  # noqa: N802
        """Print a product: its sign, a fraction of its small factors, then the tall ones."""
        sign, small, tall, below = self.parts(e)
        if self._in_script:
            over = self._juxtaposed([*small, *tall]) or "1"
            if not below:
                return sign + over
            under = self._juxtaposed(below)
            return f"{sign}{over}/{under if len(below) == 1 else f'({under})'}"
        if not below:
            return sign + self._juxtaposed([*small, *tall])
        fraction = rf"\frac{{{self._alone(small) or 1}}}{{{self._alone(below)}}}"
        return f"{sign}{fraction} {self._juxtaposed(tall)}".rstrip()

    def parts(
        self, e: sympy.Expr
    ) -> tuple[str, list[sympy.Expr], list[sympy.Expr], list[sympy.Expr]]:
        """Split a product: its sign, the numerator, the factors beside it, the denominator.

        Without a denominator all factors stand beside.
        """
        number, rest = e.as_coeff_Mul(rational=True)
        factors = list(sympy.Mul.make_args(rest)) if rest != 1 else []
        over: list[sympy.Expr] = []
        below: list[sympy.Expr] = []
        for factor in factors:
            base, exponent = factor.as_base_exp() if factor.is_Pow else (factor, sympy.S.One)
            if base is not sympy.E and not base.is_Rational and _is_negative(exponent):
                below.append(base if exponent == -1 else sympy.Pow(base, -exponent))
            else:
                over.append(factor)
        number, over, below = _with_root_of_two_pi(number, over, below)
        sign = "- " if number < 0 else ""
        below = ([sympy.Integer(number.q)] if number.q != 1 else []) + in_order(below)
        over = ([sympy.Integer(abs(number.p))] if abs(number.p) != 1 else []) + in_order(over)
        small, tall = self._split(over) if below else ([], over)
        return sign, small, tall, below

    def _split(self, over: list[sympy.Expr]) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
        """Split off the factors of a numerator that read better beside the fraction."""
        high = sympy.Sum, sympy.Integral, sympy.log, sympy.Min, sympy.Max, sympy.binomial
        small = [factor for factor in over if not factor.has(*high)]
        if not self._in_script and width_of(self._alone(small)) > WIDTH / 2:
            small = [factor for factor in small if _rank(factor) < 2]
        return small, [factor for factor in over if factor not in small]

    def _juxtaposed(self, factors: Sequence[sympy.Expr]) -> str:
        """Print factors side by side, each in brackets where it needs them there."""
        return " ".join(
            self._factor(factor, last=place == len(factors) - 1)
            for place, factor in enumerate(factors)
        )

    def _alone(self, factors: Sequence[sympy.Expr]) -> str:
        """Print a numerator or denominator, where a sum alone needs no brackets."""
        return self._print(factors[0]) if len(factors) == 1 else self._juxtaposed(factors)

    def _factor(self, e: sympy.Expr, last: bool = True) -> str:
        """Print a factor, in brackets if it is a sum, has a sign, or would swallow the rest."""
        text = self._print(e)
        swallows = isinstance(e, sympy.Sum | sympy.Integral | sympy.Piecewise) and not last
        return bracketed(text) if e.is_Add or swallows or text.startswith("-") else text

    def _print_Add(self, e: sympy.Expr, order: str | None = None) -> str:  # noqa: N802
        return "".join(self.terms(e)).removeprefix(" + ")

    def terms(self, e: sympy.Expr) -> list[str]:
        """List the terms in the order in which they are read, each with its sign before it."""
        return [self.signed(self._print(term)) for term in in_order(e.args, adding=True)]

    @staticmethod
    def signed(text: str) -> str:
        return f" - {text[1:].lstrip()}" if text.startswith("-") else f" + {text}"

    def script(self, e: sympy.Expr) -> str:
        """Print an expression as in a script or an exponent, where fractions are slashes."""
        before, self._in_script = self._in_script, True
        try:
            return str(self._print(e))
        finally:
            self._in_script = before

    # --- several lines

    def lines(self, e: sympy.Expr, width: float = WIDTH, first: float | None = None) -> list[str]:
        """Print on lines no wider than `width`, the first no wider than `first`, where it can be.

        An atom that is wider stays on its line.
        """
        first = width if first is None else first
        text = self._print(e)
        if width_of(text) <= first:
            return [text]
        if e.is_Add:
            return self._lines_of_terms(e, width, first)
        if isinstance(e, sympy.Min | sympy.Max):
            return self._lines_of_choice(e, width, first)
        if isinstance(e, sympy.log):
            return self._inside(r"\log", e.args[0], width, first)
        if isinstance(e, sympy.Sum):
            return self._after(self.sum_sign(e), e.function, width, first)
        if isinstance(e, sympy.Integral):
            lines = self._after(self.integral_sign(e), e.function, width - 3, first)
            return [*lines[:-1], rf"{lines[-1]} \, d{self._print(e.limits[0][0])}"]
        base, exponent = as_power(e)
        if base is sympy.E and exponent != 1:
            return self._inside(r"\exp", exponent, width, first)
        if base.is_Add and exponent != 1:
            lines = self._inside("", base, width, first)
            return [*lines[:-1], f"{lines[-1]}^{{{self.script(exponent)}}}"]
        if e.is_Mul:
            return self._lines_of_product(e, width, first)
        return [text]

    def _lines_of_terms(self, e: sympy.Expr, width: float, first: float) -> list[str]:
        """Put as many terms on a line as it holds; a long one starts a line of its own."""
        rows = [""]
        for term in in_order(e.args, adding=True):
            room = (first if len(rows) == 1 else width) - width_of(rows[-1])
            signed = self.signed(self._print(term)) if rows != [""] else self._print(term)
            if width_of(signed) <= room:
                rows[-1] += signed
            elif width_of(signed) <= width:
                rows.append(signed)
            else:
                if width_of(rows[-1]) > _STUB_WIDTH:
                    rows.append("")
                    room = width
                begun, *rest = self.lines(term, width, room - 3)
                rows[-1] += begun if rows == [""] else self.signed(begun)
                rows += rest
        return [line.strip() for line in rows]

    def _lines_of_choice(self, e: sympy.Expr, width: float, first: float) -> list[str]:
        """Print min{ … } with as many of its arguments on a line as it holds."""
        rows = [rf"{self._choice(e)} \biggl\{{ "]
        last = in_order(e.args)[-1]
        for argument in in_order(e.args):
            mark = r" \biggr\}" if argument is last else ",\\; "
            whole = self._print(argument) + mark
            room = (first if len(rows) == 1 else width - 2) - width_of(rows[-1])
            if width_of(whole) <= room:
                rows[-1] += whole
                continue
            if width_of(rows[-1]) > _STUB_WIDTH or width_of(whole) <= width - 2:
                rows.append(r"\quad ")
                room = width - 2
            begun, *rest = self.lines(argument, width - 4, room - 1)
            rows += [rows.pop() + begun, *(rf"\quad {line}" for line in rest)]
            rows[-1] += mark
        return [line.strip() for line in rows]

    def _inside(self, name: str, e: sympy.Expr, width: float, first: float) -> list[str]:
        """Print name( … ) with the brackets around several lines."""
        opening = rf"{name} \biggl( ".lstrip()
        begun, *rest = self.lines(e, width - 3, first - width_of(opening) - 1)
        lines = [opening + begun, *(rf"\quad {line}" for line in rest)]
        lines[-1] += r" \biggr)"
        return lines

    def _lines_of_product(self, e: sympy.Expr, width: float, first: float) -> list[str]:
        """Print a product over lines: the widest factor where half a line is enough for the rest.

        Else each factor has a line of its own. A fraction wider than a line is broken first.
        """
        sign, small, tall, below = self.parts(e)
        if not (tall or below):
            return [self._print(e)]
        fraction = rf"\frac{{{self._alone(small) or 1}}}{{{self._alone(below)}}}" if below else ""
        start = sign + fraction
        if below and width_of(start) > first:
            return self._lines_of_quotient(sign, [*small, *tall], below, width, first)
        if not tall:
            return [self._print(e)]
        widest = max(tall, key=lambda factor: width_of(self._print(factor)))
        others = " ".join(
            self._factor(factor, last=False) for factor in tall if factor is not widest
        )
        if width_of(start + others) <= first / 2:
            return self._after(f"{start} {others}".strip(), widest, width, first)
        return self._lines_of_factors(start, tall, width, first)

    def _lines_of_quotient(
        self,
        sign: str,
        over: list[sympy.Expr],
        below: list[sympy.Expr],
        width: float,
        first: float,
    ) -> list[str]:
        """Print the widest factor of a wide denominator as a power of −1, over lines."""
        widest = max(below, key=lambda factor: width_of(self._print(factor)))
        rest = [factor for factor in below if factor is not widest]
        before = rf"{sign}\frac{{1}}{{{self._alone(rest)}}}" if rest else sign
        base, exponent = as_power(widest)
        lines = self._inside(before.strip(), base, width, first)
        lines[-1] += f"^{{{self.script(-exponent)}}}"
        if not over:
            return lines
        return lines + self._after(r"\cdot", sympy.Mul(*over, evaluate=False), width, width)

    def _lines_of_factors(
        self, start: str, factors: Sequence[sympy.Expr], width: float, first: float
    ) -> list[str]:
        """Put as many factors on a line as it holds, each further line after a dot."""
        rows = [start]
        for factor in factors:
            text = self._factor(factor, last=False)
            room = (first if len(rows) == 1 else width) - width_of(rows[-1])
            if width_of(text) <= room:
                rows[-1] = f"{rows[-1]} {text}".strip()
            elif not rows[-1].strip():
                rows = self._after("", factor, width, first)
            elif width_of(text) <= width - 2:
                rows.append(rf"\cdot {text}")
            else:
                rows += self._after(r"\cdot", factor, width, width)
        return [line for line in rows if line]

    def _after(self, before: str, e: sympy.Expr, width: float, first: float) -> list[str]:
        """Print a product whose last factor is broken over lines."""
        if e.is_Add:
            return self._inside(before, e, width, first)
        begun, *rest = self.lines(e, width, first - width_of(before))
        return [f"{before} {begun}".strip(), *rest]


def in_text(e: sympy.Expr, printer: PaperPrinter | None = None) -> str:
    r"""Print a formula within a line of words, with slashes for fractions: 3\sqrt{3}/2."""
    written: str = (printer or PaperPrinter(SymbolNames())).script(e)
    return re.sub(r"(\d) (?=\\)", r"\1", written)


def _with_root_of_two_pi(
    number: sympy.Rational, over: list[sympy.Expr], below: list[sympy.Expr]
) -> tuple[sympy.Rational, list[sympy.Expr], list[sympy.Expr]]:
    """Write √2/√π as 2/√(2π), as the normal density has it; other factors stay."""
    two, pi = sympy.sqrt(2), sympy.sqrt(sympy.pi)
    if two not in over or pi not in below:
        return number, over, below
    root = sympy.Pow(sympy.Mul(2, sympy.pi, evaluate=False), sympy.Rational(1, 2), evaluate=False)
    over = [factor for factor in over if factor != two]
    return 2 * number, over, [root, *(factor for factor in below if factor != pi)]


def as_power(e: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Return base and exponent of a power; e^{k log x} is x^k."""
    if not isinstance(e, sympy.exp):
        base, exponent = e.as_base_exp()
        return base, exponent
    logs = [factor for factor in sympy.Mul.make_args(e.args[0]) if isinstance(factor, sympy.log)]
    return (logs[0].args[0], e.args[0] / logs[0]) if len(logs) == 1 else (sympy.E, e.args[0])


def in_order(es: Iterable[sympy.Expr], adding: bool = False) -> list[sympy.Expr]:
    """Sort factors or terms as they are read: plain ones first; no sum begins with a minus sign.

    `adding` says that they are terms.
    """
    listed = sorted(es, key=sympy.default_sort_key)
    if not adding:
        return sorted(listed, key=_rank)
    long = any(_rank(part) > 1 or _is_negative(part) for part in listed if not part.is_number)

    def place(term: sympy.Expr) -> tuple[int, int]:
        if term.is_Rational:
            return (-1 if term > 0 and long else 9, 0)
        return (_rank(term), int(_is_negative(term)))

    ordered = sorted(listed, key=place)
    if _is_negative(ordered[0]):  # a sum does not start with a minus sign if it need not
        first = next((part for part in ordered if not _is_negative(part)), ordered[0])
        ordered.remove(first)
        ordered.insert(0, first)
    return ordered


def _is_negative(e: sympy.Expr) -> bool:
    return bool(e.as_coeff_Mul(rational=True)[0] < 0)


def _rank(e: sympy.Expr) -> int:
    """Rank a factor or term: numbers, symbols, binomials, powers, brackets, sums."""
    if e.is_Rational:
        return 0
    for rank, heads in _LONG.items():
        if e.has(*heads):
            return rank
    if e.is_Symbol or (e.is_Pow and e.args[0].is_Rational):
        return 1
    if e.has(sympy.binomial):
        return 2
    if e.is_Pow:
        return 4 if e.args[0].is_Add else 3
    return 5


#: Factors with these in them come after others, by this rank.
_LONG = {
    10: (sympy.Integral, sympy.Sum),
    9: (sympy.log,),
    8: (sympy.Min, sympy.Max),
    7: (sympy.exp,),
    6: (AppliedUndef,),
}


def bracketed(text: str, opening: str = "(") -> str:
    """Put the text in brackets as high as it is."""
    left, right = {"(": ("(", ")"), "{": (r"\{", r"\}")}[opening]
    if _TALL.search(text):
        return rf"\left{left} {text} \right{right}"
    return f"{left}{text}{right}"
