"""The formula of a curve: the evaluation itself, in the symbolic arithmetic."""

from __future__ import annotations

from typing import Any

import sympy

from symacct.arithmetic import SymbolicArithmetic
from symacct.evaluation import Evaluation, goal_of
from symacct.exact import order
from symacct.expr import Node
from symacct.symbols import alpha as ALPHA


def formula(m: Node, alpha: Any = None, by: str | None = None) -> sympy.Expr:
    """ε(α) as a SymPy expression, sums and binomials kept.

    Without an order the formula is in `symacct.symbols.alpha`, which stands for a whole order
    wherever the theorem used holds at whole orders. Raises as `rdp` does.
    """
    evaluation = Evaluation(SymbolicArithmetic(), goal_of(m, by), by)
    return evaluation.curve(m)(ALPHA if alpha is None else order(alpha))
