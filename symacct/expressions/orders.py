"""What is done with an order, whatever it is: a number, a symbol, or an array of numbers."""

from __future__ import annotations

import math

import numpy as np

from symacct.arithmetic.symbolic import written
from symacct.core.exact import Order
from symacct.core.lazy_import import sympy


def floor_order(alpha: Order | np.ndarray) -> Order | np.ndarray:
    """⌊α⌋ for an exact order, a symbol, or an array of orders."""
    if isinstance(alpha, np.ndarray):
        return np.floor(alpha)
    return sympy.floor(alpha) if isinstance(alpha, sympy.Expr) else math.floor(alpha)


def larger_order(alpha: Order | np.ndarray, least: int) -> Order | np.ndarray:
    """max(α, least); a symbol for whole orders is taken to be the larger."""
    if isinstance(alpha, np.ndarray):
        return np.maximum(alpha, least)
    if isinstance(alpha, sympy.Expr):
        return alpha if alpha.is_integer else written.Max(alpha, least)
    return max(alpha, least)


def is_real(alpha: sympy.Expr) -> bool:
    """Does a symbolic order stand for the real ones between the whole ones, or for real ones?"""
    if alpha.is_integer is None:
        return any(symbol.is_integer is False for symbol in alpha.free_symbols)
    return not alpha.is_integer
