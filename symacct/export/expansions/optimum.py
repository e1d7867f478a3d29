"""The best order and its ε in closed form, where the curve is a line: ε(α) = ξ + ρα."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy

from symacct.export.cards import card
from symacct.export.citation import claim_at
from symacct.export.formula import formula
from symacct.export.latex.display import typeset
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.conversion import BEST
from symacct.kernel.conversion import named as named_conversion
from symacct.kernel.errors import DomainError, SoundnessError, echo
from symacct.kernel.exact import Numeric, expression, typed_value, written
from symacct.kernel.node import Node, as_node
from symacct.kernel.questions import question
from symacct.kernel.symbols import alpha as ALPHA


@dataclass(frozen=True, repr=False)
class Optimum:
    """The (ε, δ) that the best order gives, as formulas; `claim` is the curve's."""

    alpha: sympy.Expr
    epsilon: sympy.Expr
    delta: sympy.Expr
    conversion: str
    claim: Claim

    def __repr__(self) -> str:
        numbers = f"ε = {written(self.epsilon)}, δ = {written(self.delta)}"
        how = f"at order {written(self.alpha)}, {self.conversion} conversion"
        return f"Optimum: {numbers} {how}; {self.is_less}"

    @property
    def is_less(self) -> str:
        """Where there is a smaller number: the improved conversion gives less at every order."""
        return "the best conversion gives a smaller number"

    def rows(self, write: Callable[[object], str] = written) -> list[tuple[str, str]]:
        """The order, both numbers and the conversion, formulas by `write`."""
        return [
            ("order α", write(self.alpha)),
            ("ε", write(self.epsilon)),
            ("δ", write(self.delta)),
            ("conversion", self.conversion),
        ]

    def _repr_html_(self) -> str:
        below = [("smaller", self.is_less), ("claim", str(self.claim))]
        return card([*self.rows(typeset), *below])

    def as_dict(self) -> dict[str, Any]:
        """The optimum for JSON, formulas as SymPy's text."""
        return {
            "alpha": written(self.alpha),
            "epsilon": written(self.epsilon),
            "delta": written(self.delta),
            "conversion": self.conversion,
            "claim": self.claim.as_dict(),
        }


@question(Node, "optimum")
def optimum(
    m: Node,
    delta: Numeric | None = None,
    epsilon: Numeric | None = None,
    conversion: str = "classic",
) -> Optimum:
    """The best order, and the ε for a `delta` or the δ for an `epsilon`, in closed form.

    For ε(α) = ξ + ρα (Gaussian noise, zCDP, and n-fold sums of them) the classic conversion has
    α* = 1 + √(log(1/δ)/ρ), ε = ξ + ρ + 2√(ρ log(1/δ)), and for ε >= ξ + ρ
    α* = (ε−ξ+ρ)/(2ρ), δ = e^{−(ε−ξ−ρ)²/(4ρ)}. With neither given, δ is a symbol. The improved
    and the optimal conversion have no closed form. Raises DomainError where there is none.

    >>> from symacct import ZCDP
    >>> from sympy import Symbol
    >>> optimum(ZCDP(Symbol("rho", positive=True))).alpha
    1 + sqrt(log(1/delta))/sqrt(rho)
    """
    as_node(m, "optimum")
    if conversion == BEST or named_conversion(conversion).name != "classic":
        raise DomainError(
            f"optimum: found the conversion {echo(conversion)}, whose best order solves an "
            "equation without a closed form; needed classic, or numbers, which epsilon has"
        )
    if delta is not None and epsilon is not None:
        raise DomainError("optimum: found delta and epsilon, needed one of them")
    claim = claim_at_line(m)
    xi, rho = _line(m)
    if epsilon is None:
        return _for_delta(xi, rho, _given(delta, "delta"), claim)
    return _for_epsilon(xi, rho, _given(epsilon, "epsilon"), claim)


def claim_at_line(m: Node) -> Claim:
    """What is claimed of the curve; a lower bound guarantees nothing."""
    if m.claim.kind is Kind.LOWER:
        raise SoundnessError("optimum: found a lower bound, needed an exact curve or an upper one")
    return m.claim if m.free_symbols else claim_at(m)


def _line(m: Node) -> tuple[sympy.Expr, sympy.Expr]:
    """ξ and ρ."""
    for node in m.walk():
        if not node.has_one_formula:
            raise DomainError(
                f"optimum: found {type(node).__name__}, needed a curve that is a line ξ + ρα, as "
                "Gaussian noise and zCDP have",
                remedy="ask epsilon for numbers",
            )
    curve = sympy.expand(formula(m))
    rho = curve.diff(ALPHA)
    if rho.has(ALPHA):
        raise DomainError(
            f"optimum: found the curve {echo(curve)}, needed a line ξ + ρα",
            remedy="ask epsilon for numbers",
        )
    return sympy.simplify(curve - rho * ALPHA), sympy.factor(rho)


def _given(value: Numeric | None, name: str) -> sympy.Expr:
    if value is None:
        return sympy.Symbol(name, positive=True)
    number = expression(typed_value(value, name))
    if number.is_nonnegative is False or (name == "delta" and (number - 1).is_nonnegative):
        needed = "0 < delta < 1" if name == "delta" else "epsilon >= 0"
        raise DomainError(f"{name}: found {echo(value)}, needed {needed}")
    if name == "delta" and number == 0:
        raise DomainError("delta: found 0, needed 0 < delta < 1")
    return number


def _for_delta(xi: sympy.Expr, rho: sympy.Expr, delta: sympy.Expr, claim: Claim) -> Optimum:
    if rho == 0:  # ε = ξ at every order: the conversion costs nothing as α → ∞
        return Optimum(sympy.oo, xi, delta, "classic", claim)
    cost = sympy.log(1 / delta)
    best = 1 + sympy.sqrt(cost / rho)
    return Optimum(best, xi + rho + 2 * sympy.sqrt(rho * cost), delta, "classic", claim)


def _for_epsilon(xi: sympy.Expr, rho: sympy.Expr, epsilon: sympy.Expr, claim: Claim) -> Optimum:
    if rho == 0 or (epsilon - xi - rho).is_negative:
        raise DomainError(
            f"epsilon: found {echo(epsilon)}, needed at least ξ + ρ = {echo(xi + rho)} with ρ > 0 "
            "for an order above 1 that gives δ < 1"
        )
    best = (epsilon - xi + rho) / (2 * rho)
    delta = sympy.exp(-((epsilon - xi - rho) ** 2) / (4 * rho))
    return Optimum(best, epsilon, delta, "classic", claim)
