"""The numbers of a formula, which is written by theorems that give a value at every order."""

from __future__ import annotations

from symacct.accountant.accountant import Accountant
from symacct.arithmetic import Arithmetic
from symacct.core.claims import Kind
from symacct.core.pinning import By
from symacct.rdp.evaluation import Evaluation


class FormulaEvaluation(Evaluation):
    """An evaluation in numbers by the theorems that formulas and code are written by."""

    told_apart = ("stating",)

    @property
    def states(self) -> bool:
        return True

    def with_theorem(self, ctx: Arithmetic, by: By) -> Evaluation:
        return FormulaEvaluation(ctx, self.goal, by, self.memo)


class FormulaAccountant(Accountant):
    """Certified values of what formulas and code say, which may lie above `rdp`'s values."""

    def _evaluation(self, ctx: Arithmetic, goal: Kind, by: By) -> Evaluation:
        return FormulaEvaluation(ctx, goal, by, self._table)
