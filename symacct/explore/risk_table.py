"""The rows of the table of risks: what is asked, and what was had of it in time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from symacct.kernel import limits
from symacct.kernel.accountant import late
from symacct.kernel.answer import Bound, given
from symacct.kernel.claims import Kind
from symacct.kernel.deadline import Budget
from symacct.kernel.errors import AssumptionError, SymacctError
from symacct.kernel.exact import INFINITY, typed_value

if TYPE_CHECKING:
    from symacct.explore.risk import Risk

_FPRS, _PRIORS, _BASELINES = ("1/10", "1/100", "1/1000", "1e-6"), ("1/2", "1/10"), ("1/10", "1e-3")
_NO_REGRET = "the μ above is from the Rényi curve, which does not say how good a test is at least"
#: What a Rényi curve bounds from above.
_BOUNDED = ("advantage", "tpr", "bayes_success", "reconstruction", "mu")


class Row(NamedTuple):
    """One risk: what it is called, by which name and of what it is asked, and the answers.

    In the place of a number that was not had stands the reason.
    """

    what: str
    name: str
    argument: str | None
    most: Bound | str
    least: Bound | str | None
    of_curve: bool  # had from the Rényi curve, in the place of the profile


def rows_of(found: Risk) -> list[Row]:
    """The rows, which have half of `limits(seconds=…)` by the profile and the rest by the curve."""
    rows = []
    half = limits.current().seconds / 2
    budget = Budget(half)
    for what, name, argument, has_lower in _questions(found):
        least = _told(budget, found.lower, name, argument) if has_lower and found.lower else None
        # ρ is read from the curve, whatever the profile has taken.
        most = _told(Budget(half) if name == "rho" else budget, found, name, argument)
        rows.append(Row(what, name, argument, most, least, False))
    return _filled(rows, found, Budget(half)) if found.has_curve_beside else rows


def _told(budget: Budget, of: Risk, name: str, argument: str | None) -> Bound | str:
    """The number, or why there is none; that is also where the time is over."""
    found = budget.ask(1, lambda: _or_why(of, name, argument))
    return f"not {late()}" if found is None else found


def _filled(rows: list[Row], found: Risk, budget: Budget) -> list[Row]:
    """The rows, those without a number filled with what the Rényi curve implies."""

    def has_number(row: Row) -> bool:
        return isinstance(row.most, Bound) or row.name not in _BOUNDED

    curve = None if all(map(has_number, rows)) else budget.ask(1, lambda: found.by_curve)
    if curve is None:
        return rows

    def filled(row: Row) -> Row:
        if has_number(row):
            return row
        most = _told(budget, curve, row.name, row.argument)
        return row if isinstance(most, str) else row._replace(most=most, of_curve=True)

    rows = list(map(filled, rows))
    is_of_curve = {row.name for row in rows if row.of_curve}
    return [
        row._replace(most=_NO_REGRET) if row.name == "regret" and "mu" in is_of_curve else row
        for row in rows
    ]


def note_of(rows: list[Row], digits: int) -> str:
    """Which numbers come from the Rényi curve though there is a profile; empty if none does."""
    taken = [row for row in rows if row.of_curve]
    if not taken:
        return ""
    others = [row.most for row in rows if not row.of_curve and isinstance(row.most, Bound)]
    is_marked = not any(most.claim.kind is Kind.UPPER for most in others)
    which = "Rows marked upper" if is_marked else "These rows"
    named = "" if is_marked else ": " + "; ".join(row.what for row in taken)
    return (
        f"{which} come from the Rényi curve, because the exact profile was not had to "
        f"{digits} digits within {limits.current().seconds} s{named}"
    ) + "." * is_marked


def _questions(of: Risk) -> Iterator[tuple[str, str, str | None, bool]]:
    """What is asked, by which name and of what, and whether it is from below too."""
    yield "advantage, TPR − FPR", "advantage", None, True
    for fpr in _FPRS:
        yield f"TPR at FPR {_shown(fpr)}", "tpr", fpr, True
    for prior in _PRIORS:
        yield f"best guess right, prior {_shown(prior)}", "bayes_success", prior, True
    for baseline in _BASELINES:
        yield f"reconstruction, baseline {_shown(baseline)}", "reconstruction", baseline, False
    yield f"μ of GDP, errors from {given(of.least_error)}", "mu", None, True
    yield "regret of that μ", "regret", None, False
    yield "μ of GDP, all tests", "mu_of_all", None, False
    if of.node.rewritten.steepest_up_to == INFINITY:
        yield "ρ of zCDP", "rho", None, False


def _shown(share: str) -> str:
    return given(Fraction(typed_value(share)))


def _or_why(of: Risk, name: str, argument: str | None) -> Bound | str:
    """The number, or why there is none."""
    try:
        found: Bound = getattr(of, name) if argument is None else getattr(of, name)(argument)
    except SymacctError as error:
        if isinstance(error, AssumptionError) and name == "mu_of_all" and not of.is_of_curve:
            least = given(of.least_error)
            return f"not known for this noise; the μ above is for errors from {least}"
        return str(error).removeprefix(f"{name}: ").removeprefix("gdp: ")
    return found
