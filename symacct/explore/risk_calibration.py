"""The parameter value at which a target risk is just met, between two proofs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symacct.accountant.currencies.concentrated import zcdp_in_fractions
from symacct.explore.risk import Risk
from symacct.explore.threshold import Target, neighbours, number
from symacct.export.cards import card
from symacct.export.citation import source_line
from symacct.export.description import about
from symacct.kernel import arguments, exact
from symacct.kernel.answer import Bound, given, shown
from symacct.kernel.claims import Adjacency, Kind
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, PrecisionError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import rational

_DIGITS = 30  # of a risk that fewer do not tell from the target
_FEW = 15  # below which a bound that may be above the target is taken to be
#: What a risk is asked at, by its name.
_AT = {"tpr": "fpr", "bayes_success": "prior", "reconstruction": "baseline"}
#: Those that are no probabilities.
_UNBOUNDED = ("mu", "rho")


@dataclass(frozen=True)
class RiskCalibration:
    """Two consecutive values: the risk is at most the target at `meets`, and above it at `fails`.

    >>> import sympy
    >>> from symacct import Gaussian, calibrate_risk
    >>> found = calibrate_risk(Gaussian(sympy.Symbol("sigma")), advantage="1/10", digits=3)
    >>> found.risk, str(found.meets), str(found.fails)
    ('advantage', '199/50', '397/100')
    """

    symbol: str
    meets: Fraction
    fails: Fraction
    node: Node
    risk: str
    value: Bound
    target: Fraction

    def under(self, adjacency: str | Adjacency) -> RiskCalibration:
        """The calibration, with the relation said that m leaves open."""
        return replace(self, value=replace(self.value, claim=self.value.claim.under(adjacency)))

    def rows(self) -> list[tuple[str, str]]:
        """Both values, the risk and its target, the relation and the sources."""
        return [
            (f"{self.symbol}, meets the target", number(self.meets)),
            (f"{self.symbol}, does not", number(self.fails)),
            (self.risk, f"{self.value.rounded()}  (rounded up)"),
            ("target", given(self.target)),
            ("relation", about(self.node, self.value.claim.adjacency)),
            ("sources", source_line(self.value.claim.sources)),
        ]

    def __str__(self) -> str:
        values = f"{number(self.meets)} meets the target, {number(self.fails)} does not"
        relation = str(self.value.claim.adjacency).replace("either", "either relation")
        reached = f"{self.risk} {shown(self.value)} <= {shown(self.target)} under {relation}"
        return f"{self.symbol} = {values}\n  {reached}"

    def _repr_html_(self) -> str:
        return card(self.rows())

    def as_dict(self) -> dict[str, Any]:
        """The calibration for JSON."""
        return {
            "symbol": self.symbol,
            "meets": exact.text(self.meets),
            "fails": exact.text(self.fails),
            "expression": repr(self.node),
            "risk": self.risk,
            "target": exact.text(self.target),
            "reached": self.value.as_dict(),
        }


@progress("calibrate")
def calibrate_risk(
    m: Node,
    *,
    advantage: Numeric | None = None,
    tpr: Numeric | None = None,
    fpr: Numeric | None = None,
    mu: Numeric | None = None,
    rho: Numeric | None = None,
    bayes_success: Numeric | None = None,
    prior: Numeric = "1/2",
    reconstruction: Numeric | None = None,
    baseline: Numeric | None = None,
    digits: int = 6,
) -> RiskCalibration:
    """Find the smallest noise, or the largest rate or count, for which m meets a target risk.

    m has exactly one free symbol, which is searched. The target is one of these, as they are in
    `Risk`. `advantage` is the largest TPR − FPR that a test of membership may have. `tpr` is the
    largest true positive rate that a test may have at the rate `fpr`. `fpr` is the false positive
    rate of the test that `tpr` bounds. `mu` is the μ of Gaussian DP, for tests with errors from
    1e-10. `rho` is the ρ of zero-concentrated differential privacy. `bayes_success` is how often a
    guess of membership may be right. `prior` is the probability of membership before the output is
    seen, for `bayes_success`. `reconstruction` is how often a record may be reconstructed.
    `baseline` is how often `reconstruction` succeeds without the output. The answer is two adjacent
    values as in `calibrate`, decided by certified enclosures, with `digits` significant digits.
    Raises the errors of `calibrate` and `risk`.

    >>> import sympy
    >>> from symacct import Gaussian, PoissonSubsample
    >>> run = 1000 * PoissonSubsample(Gaussian(sympy.Symbol("sigma")), "1/100")
    >>> print(calibrate_risk(run, tpr="1/20", fpr="1/100", digits=4))
    sigma = 0.7778 meets the target, 0.7777 does not
      tpr at fpr 0.01 0.04998945391 <= 0.05 under add_remove
    """
    digits, node = arguments.digits(digits), as_node(m, "calibrate_risk")
    named = {
        "advantage": (advantage, None),
        "mu": (mu, None),
        "rho": (rho, None),
        "tpr": (tpr, fpr),
        "bayes_success": (bayes_success, prior),
        "reconstruction": (reconstruction, baseline),
    }
    risks = [(name, *of) for name, of in named.items() if of[0] is not None]
    if (
        len(risks) != 1
        or (tpr is None) is not (fpr is None)
        or (reconstruction is None) is not (baseline is None)
    ):
        raise DomainError(
            "calibrate_risk: needed one target: advantage, or mu, or rho, or tpr and fpr "
            "together, or bayes_success, with another prior than 1/2 if so, or reconstruction and "
            "baseline together"
        )
    ((name, value, at),) = risks
    target = _RiskTarget(node, name, _reachable(name, rational(value, name), at), at, digits)
    low, high = neighbours(target, digits)
    meets, fails = (low, high) if target.met(low) else (high, low)
    at, found = target.found[meets]
    return RiskCalibration(
        target.symbol.name, meets, fails, at, target.words, found, target.epsilon
    )


def _reachable(name: str, target: Fraction, at: Numeric | None) -> Fraction:
    """The target; DomainError where no noise has it, or all have."""
    blind = Fraction(0) if at is None else rational(at, _AT[name])
    if name == "bayes_success":
        blind = max(blind, 1 - blind)
    is_told = target > blind or (name == "bayes_success" and target == blind)
    is_bounded = name not in _UNBOUNDED
    if not is_told or (is_bounded and target >= 1):
        raise DomainError(
            (
                f"{name}: found {echo(target)}, needed more than {shown(blind)}, which a blind "
                "guess has"
            )
            + (", and less than 1" if is_bounded else "")
        )
    return target


class _RiskTarget(Target):
    """The question whether a risk of m at a value of its symbol is at most the target."""

    def __init__(
        self, m: Node, name: str, target: Fraction, at: Numeric | None, digits: int
    ) -> None:
        super().__init__(m, target, 0, digits, {})
        self.name, self.asked_at = name, at
        self.words = name.replace("_", " ")
        if at is not None:
            self.words += f" at {_AT[name]} {shown(rational(at, _AT[name]))}"
        self.found: dict[Fraction, tuple[Node, Bound]] = {}

    def _risk(self, node: Node, digits: int) -> Bound:
        if self.name == "rho":
            return node.zcdp(digits)
        asked = getattr(Risk(node, digits), self.name)
        found: Bound = asked if self.asked_at is None else asked(self.asked_at)
        return found

    def _met(self, value: Fraction, digits: int) -> bool:
        node = self.at(value)
        risk = self._risk(node, digits)
        self.found[value] = node, risk
        self.remember(value, risk.upper)
        if exact.exact(risk.upper) <= self.epsilon:
            return True
        if exact.exact(risk.lower) > self.epsilon:
            return False
        if digits < _DIGITS:
            return self._met(value, _DIGITS)
        known = zcdp_in_fractions(node) if self.name == "rho" else None
        if known is not None:  # a tie
            return known <= self.epsilon
        if risk.claim.kind is Kind.UPPER and risk.digits < _FEW:  # no more can be had
            return False
        raise PrecisionError(
            f"{self.symbol} = {number(value)}: found {self.words} in [{risk.rounded_down()}, "
            f"{risk.rounded_up()}], which does not decide whether it exceeds "
            f"{echo(self.epsilon)}",
            remedy="move the target by a little",
        )
