"""The parameter value at which a target (ε, δ) is just met, between two proofs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

from symacct.explore.risk_calibration import RiskCalibration, calibrate_risk
from symacct.explore.steered import steered_epsilon
from symacct.explore.threshold import Target, neighbours, number
from symacct.export.cards import card, guarantee_card
from symacct.export.description import sensitivity
from symacct.kernel import arguments, exact
from symacct.kernel.accountant import (
    BY_ORDERS,
    CLOSEST,
    TRUE,
    Ways,
    against,
    best,
    may_be_smaller,
    noted,
    pinned_conversion,
)
from symacct.kernel.answer import Guarantee, shortened
from symacct.kernel.arguments import By
from symacct.kernel.claims import Adjacency, Kind
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, SymacctError
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node, as_node

_FEW_DIGITS = 3  # of a parameter, where all that were asked for take long


@dataclass(frozen=True)
class Calibration:
    """Two consecutive values, of which one meets the target and the other misses it.

    `meets` meets the target, with this `guarantee`, and `fails` misses it, by the conversion of the
    guarantee.

    >>> import sympy
    >>> from symacct import Gaussian, calibrate
    >>> found = calibrate(Gaussian(sympy.Symbol("sigma")), epsilon=1, delta="1e-5", digits=3)
    >>> found.symbol, str(found.meets), str(found.fails)
    ('sigma', '187/50', '373/100')
    """

    symbol: str
    meets: Fraction
    fails: Fraction
    node: Node
    guarantee: Guarantee

    def under(self, adjacency: str | Adjacency) -> Calibration:
        """The calibration, with the relation said that m leaves open."""
        return replace(self, guarantee=self.guarantee.under(adjacency))

    def __str__(self) -> str:
        return f"{self.symbol} = {self.values}\n  {self.guarantee}"

    def __repr__(self) -> str:
        what = filter(None, (shortened(repr(self.node)), sensitivity(self.node)))
        return f"Calibration: {self}\n  of: {', '.join(what)}"

    @property
    def kind(self) -> Kind:
        """Exact where the true ε decided, else upper: other proofs may find a better value."""
        return self.guarantee.kind

    @property
    def values(self) -> str:
        """Both values, and which of them meets the target."""
        return f"{number(self.meets)} meets the target, {number(self.fails)} does not"

    def _repr_html_(self) -> str:
        rows = [
            (f"{self.symbol} meets the target at", number(self.meets)),
            ("and does not at", number(self.fails)),
        ]
        return card(rows) + guarantee_card(self.guarantee)

    def as_dict(self) -> dict[str, Any]:
        """The calibration for JSON."""
        return {
            "symbol": self.symbol,
            "meets": exact.text(self.meets),
            "fails": exact.text(self.fails),
            "expression": repr(self.node),
            "guarantee": self.guarantee.as_dict(),
        }


@overload
def calibrate(
    m: Node,
    epsilon: Numeric,
    delta: Numeric,
    *,
    digits: int = 6,
    conversion: str = BEST,
    orders: str | Iterable[Numeric] | None = None,
    by: By = None,
) -> Calibration: ...
@overload
def calibrate(m: Node, *, rho: Numeric, digits: int = 6) -> RiskCalibration: ...
@progress("calibrate")
def calibrate(
    m: Node,
    epsilon: Numeric | None = None,
    delta: Numeric | None = None,
    *,
    rho: Numeric | None = None,
    digits: int = 6,
    conversion: str = BEST,
    orders: str | Iterable[Numeric] | None = None,
    by: By = None,
) -> Calibration | RiskCalibration:
    """Find the smallest noise, or the largest rate or count, for which m is (ε, δ)-DP or ρ-zCDP.

    The target is `epsilon` and `delta`, or `rho` alone, for which the answer is a RiskCalibration.
    m has exactly one free symbol, which is searched. The answer is two adjacent values: one that
    meets the target, and one that misses it. Certified enclosures decide both, so ε need not be
    monotone in the symbol; if it is, the threshold lies between the two values. The values are
    decimals that differ by one unit of the last of `digits` significant digits, or adjacent whole
    numbers if the symbol is an integer or a count of runs. `epsilon` is in nats. `delta`,
    `conversion`, `orders` and `by` are those of `Node.epsilon`: by default the value is the best
    that is proved in `limits(seconds=…)`, to fewer digits where all of them take longer, and a
    conversion that is named runs to its end. Raises DomainError if no such values are found or if m
    has not exactly one free symbol, and PrecisionError if an ε cannot be told from the target.

    >>> import sympy
    >>> from symacct import Gaussian, calibrate
    >>> print(calibrate(Gaussian(sympy.Symbol("sigma")), epsilon=1, delta="1e-5", digits=3).meets)
    187/50
    """
    digits, m = arguments.digits(digits), as_node(m, "calibrate")
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise DomainError("calibrate: found rho with epsilon or delta, needed one target")
        return calibrate_risk(m, rho=rho, digits=digits)
    if epsilon is None or delta is None:
        raise DomainError("calibrate: needed a target, epsilon and delta, or rho alone")
    conversion = pinned_conversion(conversion, orders, by)

    def ask(conversion: str, digits: int = digits) -> Calibration:
        how = {"conversion": conversion, "orders": arguments.orders(orders), "by": by}
        return _calibrate(m, (epsilon, delta), digits, how)

    if conversion != BEST:
        return ask(conversion)
    found = best(
        Ways(
            exact=(lambda: ask(TRUE),),
            roughly=lambda: ask(TRUE, min(digits, _FEW_DIGITS)),
            by_orders=lambda: ask(BY_ORDERS),
            by_few_orders=lambda: ask(BY_ORDERS, min(digits, _FEW_DIGITS)),
            closest=lambda: ask(CLOSEST),
            others=lambda has_profile: (),
            against=_against,
            is_less=_is_better,
            shown=lambda one: f"{one.symbol} = {number(one.meets)}",
        )
    )
    guarantee = replace(found.answer.guarantee, is_best=True, not_exact=found.not_exact)
    if not found.in_time:
        guarantee = noted(guarantee, may_be_smaller(guarantee))
    return replace(found.answer, guarantee=guarantee)


def _calibrate(
    m: Node, goal: tuple[Numeric, Numeric], digits: int, how: dict[str, Any]
) -> Calibration:
    """The two values by one conversion."""
    asked = m, *goal, digits, how
    target = Target(*asked)
    low, high = _steered_neighbours(_Steered(*asked), target, digits) or neighbours(target, digits)
    meets, fails = (low, high) if target.met(low) else (high, low)
    return Calibration(target.symbol.name, meets, fails, *target.asked[meets])


def _against(exact: Calibration, by_orders: Calibration | None) -> str:
    """Why the value by the exact profile is not the better one, or nothing where it is."""
    why = against(exact.guarantee, None)
    if why or by_orders is None:
        return why
    if _is_better(by_orders, exact):
        return f"the dominating pair gives no better than {number(exact.meets)}"
    return ""


def _is_better(one: Calibration, than: Calibration) -> bool:
    """Is less noise needed, or a larger rate or count allowed?"""
    less = than.meets - one.meets
    return less != 0 and (less > 0) == (one.meets > one.fails)  # noise falls, a rate rises


class _Steered(Target):
    """A target judged in float64 where orders are compared by something cheaper than the curve."""

    def _met(self, value: Fraction, digits: int) -> bool:
        found = steered_epsilon(self.m.subs({self.symbol: value}), self.delta, **self.how)
        self.remember(value, found)
        return found <= self.epsilon


def _steered_neighbours(
    steered: _Steered, target: Target, digits: int
) -> tuple[Fraction, Fraction] | None:
    """Where float64 sees the threshold, if it is proved to be there."""
    with contextlib.suppress(SymacctError):
        low, high = neighbours(steered, digits)
        if target.met(low) is not target.met(high):
            return low, high
    return None
