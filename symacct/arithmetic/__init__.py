"""The contexts that give a formula its meaning: balls, mpmath, float64, SymPy."""

from symacct.arithmetic.ball import BALL, BallArithmetic
from symacct.arithmetic.context import Arithmetic, Number, RuledArithmetic
from symacct.arithmetic.float64 import FLOAT64, Float64Arithmetic, LogNumber
from symacct.arithmetic.mp import MpmathArithmetic, UpwardMpmathArithmetic
from symacct.arithmetic.symbolic import SymbolicArithmetic

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
