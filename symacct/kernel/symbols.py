"""The symbols that formulas are written in.

>>> from symacct import Gaussian, symbols
>>> Gaussian(5).formula().subs(symbols.alpha, 2)
1/25
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symacct.kernel.exact import sympy

if TYPE_CHECKING:
    #: The Rényi order α.
    alpha: sympy.Symbol
    #: The variable of a density, its distance from an end, the distance of two outputs.
    x: sympy.Symbol
    t: sympy.Symbol
    kappa: sympy.Symbol

__all__ = ["alpha"]
#: What is assumed of each symbol, which decides how SymPy simplifies and which symbols are equal.
_ASSUMED = {"alpha": "positive", "x": "real", "t": "positive", "kappa": "positive"}


def __getattr__(name: str) -> sympy.Symbol:
    """The symbol of this name, made where it is first asked for."""
    if name not in _ASSUMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    symbol = globals()[name] = sympy.Symbol(name, **{_ASSUMED[name]: True})
    return symbol
