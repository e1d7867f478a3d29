"""Formulas in LaTeX, in the papers' own notation: a display, or inline for a notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from symacct.export.formula import REAL, WHOLE, named_formulas
from symacct.export.latex.printer import WIDTH, PaperPrinter, bracketed, width_of
from symacct.export.latex.sentences import SymbolNames
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic
from symacct.kernel.attached import question
from symacct.kernel.claims import Kind
from symacct.kernel.errors import DomainError, SymacctError
from symacct.kernel.evaluation import Evaluation
from symacct.kernel.exact import INFINITY, Numeric
from symacct.kernel.node import Node
from symacct.kernel.parameters import By
from symacct.kernel.symbols import alpha as ALPHA
from symacct.results.screen import Written

#: A notebook shows the formula of an expression of at most this many nodes.
NOTEBOOK_NODES = 24

#: A line of words has at most this many letters.
_TEXT_WIDTH = 66

#: A display without an order is at whole orders, at the real ones between, and at ∞.
_ALL_ORDERS = (WHOLE, REAL, INFINITY)
#: The sign between a curve and its formula.
_RELATIONS = {Kind.EXACT: "=", Kind.UPPER: r"\leq", Kind.LOWER: r"\geq", Kind.NEITHER: r"\approx"}


@question(Node, "latex")
def latex(
    m: Node,
    alpha: Numeric | None = None,
    names: Mapping[str | sympy.Symbol, str] | None = None,
    by: By = None,
) -> str:
    r"""Write ε(α) of `m` as a LaTeX display, what it reads defined below it; needs amsmath.

    Without an order, it is at all orders: whole ones, the real ones between and ∞ if they differ.
    `names` maps symbols, or their names, to LaTeX: {"gamma": "q"}. Raises as `formula` does, and
    DomainError for LaTeX that is no name, or for symbols that would look alike.

    >>> import sympy
    >>> from symacct import Gaussian
    >>> print(latex(Gaussian(sympy.Symbol("sigma", positive=True)), names={"sigma": r"\sigma_0"}))
    \begin{align*}
    \epsilon_{\mathcal{M}}(\alpha) &= \frac{\alpha}{2 \sigma_0^{2}}
    \end{align*}
    """
    rows = list(Display(m, alpha, names, by).rows())
    if Evaluation(SymbolicArithmetic(), by=by).theorem_node(m) is not m:
        remark = f"(rewritten: {'; '.join(m._rewrites)})"
        rows += (rf"&\quad \text{{{line}}}" for line in textwrap.wrap(remark, _TEXT_WIDTH))
    return displayed(rows)


def displayed(rows: Iterable[str]) -> str:
    """Write the rows as one display."""
    return Written("\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}")


@question(Node, "_repr_latex_")
def inline(m: Node) -> str | None:
    r"""Write the formula as $\displaystyle …$ for a notebook; None if it is long, or none."""
    if sum(1 for _ in zip(m.walk(), range(NOTEBOOK_NODES + 1), strict=False)) > NOTEBOOK_NODES:
        return None
    try:
        rows = list(Display(m).rows())
    except SymacctError:
        return None  # the expression itself is shown
    return r"$\displaystyle \begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}$"


def typeset(value: sympy.Expr) -> str:
    r"""Write one formula as $\displaystyle …$ for a notebook, its O(·) last."""
    printer, rest = PaperPrinter(SymbolNames()), value.getO()
    parts = [value] if rest is None else [value.removeO(), rest]
    return rf"$\displaystyle {' + '.join(printer.doprint(part) for part in parts)}$"


@dataclass(frozen=True)
class Equation:
    """A left side, a relation, and the right sides with the orders that each is for.

    The orders are empty where they need not be said. A user's function has no right side.
    """

    left: sympy.Expr | str
    relation: str
    rights: tuple[tuple[sympy.Expr, str], ...]


class Display:
    """The equations that say what ε(α) of a node is.

    `alpha` is the order, or None for all; `names` are LaTeX for symbols. Raises as `latex` does.
    """

    def __init__(
        self,
        m: Node,
        alpha: Numeric | None = None,
        names: Mapping[Any, str] | None = None,
        by: By = None,
    ) -> None:
        self.printer = PaperPrinter(SymbolNames(names))
        self.formulas = named_formulas(m, _ALL_ORDERS if alpha is None else [alpha], by)
        if alpha is None and len(self.formulas) > 1:  # that ε(∞) = ∞ goes without saying
            self.formulas = [
                f for f in self.formulas if f.order != INFINITY or f.expression != sympy.oo
            ]
        self._check_names()

    def rows(self, width: float = WIDTH) -> Iterator[str]:
        """Yield the lines of an align environment, of at most `width` letters where it can be."""
        yield from self._lines(self._main(), width)
        for equation in self._definitions():
            yield from self._lines(equation, width)

    def _main(self) -> Equation:
        """Make the equation of ε_M(α); its relation is ≤ where the orders differ in kind."""
        kinds = {formula.claim.kind for formula in self.formulas}
        relation = _RELATIONS[kinds.pop() if len(kinds) == 1 else Kind.UPPER]
        at = self.formulas[0].order
        order = ALPHA if at in (WHOLE, REAL) else sympy.oo if at == INFINITY else sympy.sympify(at)
        left = rf"\epsilon_{{\mathcal{{M}}}}{bracketed(self.printer.doprint(order))}"
        rights = {formula.order: formula.expression for formula in self.formulas}
        return Equation(left, relation, _distinguished(rights))

    def _definitions(self) -> Iterator[Equation]:
        """Yield what is named in any of the formulas, by orders where the meanings differ."""
        by_name: dict[sympy.Expr, dict[Any, Any]] = {}
        for formula in self.formulas:
            for definition in formula.definitions:
                by_name.setdefault(definition.name, {})[formula.order] = definition.expression
        shown = {formula.order: formula.expression for formula in self.formulas}
        for name, rights in by_name.items():
            if name.func.__name__ == "epsilon_M" and set(rights.values()) == {shown.get(WHOLE)}:
                continue  # that is the equation at whole orders itself
            if None in rights.values():
                yield Equation(self.printer.doprint(name), "", ())
            else:
                differ = _distinguished(rights) if len(set(rights.values())) > 1 else ()
                some = next(iter(rights.values()))
                yield Equation(self.printer.doprint(name), "=", differ or ((some, ""),))

    def _lines(self, equation: Equation, width: float) -> Iterator[str]:
        """Yield all right sides in one brace where each fits on a line, else an equation each."""
        if not equation.rights:
            yield rf"{equation.left} &\quad \text{{as stated by the user}}"
        start = f"{equation.left} &{equation.relation} "
        room = width - width_of(start)
        if len(equation.rights) > 1:
            cases = [(self.printer.doprint(right), orders) for right, orders in equation.rights]
            if all(width_of(right + orders) + 4 <= room for right, orders in cases):
                body = r" \\ ".join(f"{right} & {orders}" for right, orders in cases)
                yield rf"{start}\begin{{cases}} {body} \end{{cases}}"
                return
        for right, orders in equation.rights:
            lines = self.printer.lines(right, room)
            condition = rf"\qquad \text{{for }} {orders}" if orders else ""
            if width_of(lines[-1] + condition) <= room:
                lines[-1] = f"{lines[-1]} {condition}".rstrip()
            elif orders:
                lines.append(condition)
            yield start + lines[0]
            yield from (rf"&\quad {line}" for line in lines[1:])

    def _check_names(self) -> None:
        """DomainError where two symbols would be printed alike."""
        expressions = [formula.expression for formula in self.formulas]
        expressions += [
            definition.expression for f in self.formulas for definition in f.definitions
        ]
        symbols = set().union(*(e.atoms(sympy.Symbol) for e in expressions if e is not None))
        printed: dict[str, sympy.Symbol] = {}
        for symbol in sorted(symbols, key=lambda symbol: symbol.name):
            tex = self.printer.doprint(symbol)
            other = printed.setdefault(tex, symbol)
            if other.name != symbol.name:
                raise DomainError(
                    f"the symbols {other} and {symbol} are both printed {tex}",
                    remedy=(
                        f"give one of them another name: latex(names={{{symbol.name!r}: ...}})"
                    ),
                )


def _distinguished(rights: Mapping[Any, sympy.Expr]) -> tuple[tuple[sympy.Expr, str], ...]:
    """Give each right side its orders in mathematics, where they need saying."""
    rights = dict(rights)
    distinct: list[tuple[sympy.Expr, str]] = []
    if WHOLE in rights and REAL in rights and rights[WHOLE] == rights[REAL]:
        del rights[WHOLE]
    several = len(rights) > 1
    for at, right in rights.items():
        if at == WHOLE:
            distinct.append((right, r"\alpha = 2, 3, \dots"))
        elif at == REAL:
            orders = r"\text{other } \alpha > 1" if WHOLE in rights else r"1 < \alpha < \infty"
            distinct.append((right, orders if several else ""))
        else:
            distinct.append((right, r"\alpha = \infty" if several else ""))
    return tuple(distinct)
