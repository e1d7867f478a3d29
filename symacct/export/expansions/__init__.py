"""Expansions of a curve near a point, with remainders where they are proved; closed-form optima."""

from symacct.export.expansions.expansion import Expansion, Remainder, expansion
from symacct.export.expansions.optimum import Optimum, optimum

__all__ = ["Expansion", "Optimum", "Remainder", "expansion", "optimum"]
