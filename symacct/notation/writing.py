"""Expressions as text: valid Python with the same meaning."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from operator import itemgetter

import sympy
from sympy.printing.str import StrPrinter

from symacct import exact, sizes
from symacct.claims import Adjacency
from symacct.expr import Node
from symacct.mechanisms.law import Law
from symacct.operations.compose import Compose, Count
from symacct.symbols import alpha as ALPHA


def to_text(node: Node) -> str:
    """The expression as valid Python with the same meaning; `parse` reads it back.

    A text that would pass the limit on bytes (shared nodes are written out each time) is cut
    with "…"; to_json writes each node once.
    """
    budget = sizes.current().text_bytes // 64

    def write(node: Node) -> str:
        nonlocal budget
        budget -= 1
        if budget < 0:
            return "…"
        if isinstance(node, Compose):
            return _sum_text(node, write)
        arguments = []
        for name, default in node.constructor.items():
            value = node.fields()[name]
            if default is inspect.Parameter.empty:
                arguments.append(write(value) if isinstance(value, Node) else value_text(value))
            elif not is_default(value, default):
                arguments.append(f"{name}={value_text(value)}")
        return f"{type(node).__name__}({', '.join(arguments)})"

    return write(node)


def _sum_text(node: Compose, write: Callable[[Node], str]) -> str:
    if not node.terms:
        return "Compose()"
    parts = sorted(((write(part), count) for part, count in node.terms.items()), key=itemgetter(0))
    return " + ".join(
        text if count == 1 else f"{_count_text(count)}*{text}" for text, count in parts
    )


def _count_text(count: Count) -> str:
    """A number of runs as a factor; an open one may be a sum."""
    text = value_text(count)
    return f"({text})" if isinstance(count, sympy.Add) else text


def stated_parameters(node: Node) -> dict[str, str]:
    """The parameters as text, but for parts of the expression and for what the defaults say."""
    fields = node.fields()
    return {
        name: value_text(fields[name]).replace("'", "")
        for name, default in node.constructor.items()
        if not isinstance(fields[name], Node) and not is_default(fields[name], default)
    }


def value_text(value: object) -> str:
    """A field that is no node, as Python with the same meaning."""
    if isinstance(value, sympy.Rational):
        value = Fraction(int(value.p), int(value.q))
    if isinstance(value, sympy.Expr):
        # Only a curve's formula speaks of alpha, and is quoted; a parameter stands bare.
        return repr(formula_text(value)) if value.has(ALPHA) else formula_text(value)
    if isinstance(value, Fraction | int) and value.denominator == 1:
        return exact.text(Fraction(value))
    if isinstance(value, tuple):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, Law):
        arguments = ", ".join(map(value_text, value.parameters.values()))
        return f"laws.{type(value).__name__}({arguments})"
    if callable(value):
        return f"<function {getattr(value, '__name__', '?')}>"
    return repr(plain_text(value))


def plain_text(value: object) -> str:
    """A field that is no node and no formula, as the text that its constructor takes."""
    if isinstance(value, Fraction | sympy.Expr):
        return exact.text(value)
    if isinstance(value, Adjacency):
        return value.relation.value
    return str(value)


def is_default(value: object, default: object) -> bool:
    if isinstance(default, str):
        return plain_text(value) == default
    return value is default if default is None else value == default


class _Printer(StrPrinter):  # type: ignore[misc]  # SymPy ships no types
    """SymPy expressions as valid Python: symbols and fractions spelled out, alpha bare."""

    def _print_Symbol(self, symbol: sympy.Symbol) -> str:  # noqa: N802
        if symbol == ALPHA:
            return str(symbol.name)
        stated = [f", {k}={v}" for k, v in sorted(symbol._assumptions_orig.items())]
        return f"Symbol('{symbol.name}'{''.join(stated)})"

    def _print_Rational(self, number: sympy.Rational) -> str:  # noqa: N802
        ends = (exact.text(Fraction(int(end))) for end in (number.p, number.q))
        return f"Rational({', '.join(ends)})"

    def _print_Integer(self, number: sympy.Integer) -> str:  # noqa: N802
        return exact.text(Fraction(int(number)))


_PRINTER = _Printer()


def formula_text(value: sympy.Expr) -> str:
    """A formula as Python with the same meaning."""
    return str(_PRINTER.doprint(value))
