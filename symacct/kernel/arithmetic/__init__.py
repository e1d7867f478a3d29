"""The contexts that give a formula its meaning: balls, mpmath, float64, SymPy."""

from __future__ import annotations

from symacct.kernel.arithmetic.ball import BALL, BallArithmetic
from symacct.kernel.arithmetic.context import Arithmetic, Number, RuledArithmetic
from symacct.kernel.arithmetic.float64 import FLOAT64, Float64Arithmetic, LogNumber
from symacct.kernel.arithmetic.mp import MpmathArithmetic, UpwardMpmathArithmetic
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic

__all__ = [
    "BALL",
    "FLOAT64",
    "Arithmetic",
    "BallArithmetic",
    "Float64Arithmetic",
    "LogNumber",
    "MpmathArithmetic",
    "Number",
    "RuledArithmetic",
    "SymbolicArithmetic",
    "UpwardMpmathArithmetic",
]
