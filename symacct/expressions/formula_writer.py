"""Parameters and formulas as text: valid Python with the same meaning."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, singledispatch
from typing import Any

from symacct.core import exact, symbols
from symacct.core.claims import Adjacency
from symacct.core.lazy_import import sympy


@singledispatch
def value_text(value: object) -> str:
    """A field that is no node, as Python with the same meaning."""
    if isinstance(value, sympy.Expr) and value.is_Rational:
        value = Fraction(int(value.p), int(value.q))
    if isinstance(value, sympy.Expr):
        # Only a curve's formula speaks of alpha, and is quoted; a parameter stands bare.
        return repr(formula_text(value)) if value.has(symbols.alpha) else formula_text(value)
    if isinstance(value, Fraction | int) and value.denominator == 1:
        return exact.text(Fraction(value))
    if isinstance(value, tuple):
        return f"[{', '.join(map(value_text, value))}]"
    if callable(value):
        return f"<function {getattr(value, '__name__', '?')}>"
    return repr(plain_text(value))


def plain_text(value: object) -> str:
    """A field that is no node and no formula, as the text that its constructor takes."""
    if isinstance(value, Fraction | sympy.Expr) or type(value) is int:
        return exact.text(value if isinstance(value, sympy.Expr) else Fraction(value))
    if isinstance(value, Adjacency):
        return value.relation.value
    return str(value)


def is_default(value: object, default: object) -> bool:
    if isinstance(default, str):
        return plain_text(value) == default
    return value is default if default is None else value == default


@cache
def _printer() -> Any:
    """SymPy expressions as valid Python: symbols and fractions spelled out, alpha bare."""

    class FormulaPrinter(exact.printer()):  # type: ignore[misc]  # made where SymPy is
        def _print_Symbol(self, symbol: sympy.Symbol) -> str:  # noqa: N802
            if symbol == symbols.alpha:
                return str(symbol.name)
            stated = [f", {k}={v}" for k, v in sorted(symbol._assumptions_orig.items())]
            return f"Symbol('{symbol.name}'{''.join(stated)})"

        def _print_Rational(self, number: sympy.Rational) -> str:  # noqa: N802
            ends = (exact.text(Fraction(int(end))) for end in (number.p, number.q))
            return f"Rational({', '.join(ends)})"

    return FormulaPrinter()


def formula_text(value: sympy.Expr) -> str:
    """A formula as Python with the same meaning."""
    return str(_printer().doprint(value))
