"""The parameter value at which a target (ε, δ) is just met, between two proofs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

import mpmath

from symacct.explore.grids import counts_of
from symacct.explore.steered import steered_epsilon
from symacct.export.cards import card, guarantee_card
from symacct.export.description import sensitivity
from symacct.kernel import arguments, exact, upward
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
from symacct.kernel.answer import Guarantee, exact_decimal, shortened
from symacct.kernel.arguments import By
from symacct.kernel.claims import Adjacency, Kind
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, PrecisionError, SymacctError, echo
from symacct.kernel.evaluation import exact_pure
from symacct.kernel.exact import INFINITY, Numeric, sympy
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import rational

_REACH = 64  # steps that are tried towards the target, each twice or half the one before
_REACH_BACK = 12  # and the other way, should ε not be monotone
_DIGITS = 30  # of an ε that fewer do not tell from the target
_MORE = 4  # digits of ε beyond those of the parameter, by which most values are decided
_FEW_DIGITS = 3  # of a parameter, where all that were asked for take long
_POINTS = 4  # values of ε that the next guess goes through
_GUESSES = 12  # before the bracket is halved


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
def calibrate(
    m: Node, *, rho: Numeric, digits: int = 6
) -> upward.risk_calibration.RiskCalibration: ...
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
) -> Calibration | upward.risk_calibration.RiskCalibration:
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
        return upward.risk_calibration.calibrate_risk(m, rho=rho, digits=digits)
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


def number(value: Fraction) -> str:
    """A value in full, for another digit may be on the other side: a decimal where it is one."""
    return exact_decimal(value) or exact.text(value)


class Target:
    """The question whether m at a value of its symbol is (ε, δ)-DP, each value asked once."""

    def __init__(
        self, m: Node, epsilon: Numeric, delta: Numeric, digits: int, how: dict[str, Any]
    ) -> None:
        free = sorted(m.free_symbols, key=str)
        if len(free) != 1:
            found, remedy = "no parameter without a value", "write a name for the one to be found"
            if free:
                found = f"the parameters {', '.join(map(str, free))} without values"
                remedy = "write numbers for the others"
            raise DomainError(f"calibrate: found {found}, needed exactly one", remedy=remedy)
        self.m = m
        self.symbol: sympy.Symbol = free[0]
        self.is_whole = self.symbol.is_integer or self.symbol in counts_of(m)
        self.prepare(rational(epsilon, "epsilon"), delta, digits, how)

    def prepare(self, epsilon: Fraction, delta: Numeric, digits: int, how: dict[str, Any]) -> None:
        """The target, and that nothing has been asked of it."""
        self.epsilon = epsilon
        self.delta = delta
        self.digits = digits + _MORE
        self.how = how
        self.answers: dict[Fraction, bool] = {}
        #: What was asked at a value, in the digits that decided.
        self.asked: dict[Fraction, tuple[Node, Guarantee]] = {}
        self.guesses = 0
        #: log ε at a value, less that of the target.
        self.points: dict[Fraction, float] = {}

    def met(self, value: Fraction) -> bool:
        """Is ε <= the target at this value? Raises DomainError where m does not exist there."""
        if value not in self.answers:
            self.answers[value] = self._met(value, min(self.digits, _DIGITS))
        return self.answers[value]

    def at(self, value: Fraction) -> Node:
        """m at a value of its symbol."""
        return self.m.subs({self.symbol: value})

    def _met(self, value: Fraction, digits: int) -> bool:
        node = self.at(value)
        guarantee = node.epsilon(self.delta, digits, **self.how)
        self.asked[value] = node, guarantee
        found = guarantee.epsilon
        self.remember(value, found.upper)
        if found.upper < INFINITY and exact.exact(found.upper) <= self.epsilon:
            return True
        if found.lower == INFINITY or exact.exact(found.lower) > self.epsilon:
            return False
        if guarantee.alpha == INFINITY:
            pure = exact_pure(node, self.how["by"])
            if pure is not None:  # as in a tie such as Laplace(3) at ε = 1/3
                return bool(pure <= self.epsilon)
        if digits < _DIGITS:
            return self._met(value, _DIGITS)
        raise PrecisionError(
            f"{self.symbol} = {number(value)}: found ε in [{found.rounded_down()}, "
            f"{found.rounded_up()}], which does not decide whether it exceeds "
            f"{echo(self.epsilon)}",
            remedy="move the target by a little",
        )

    def remember(self, value: Fraction, found: mpmath.mpf | float) -> None:
        """Remember that ε at `value` is about `found`: the next guess goes through it."""
        if 0 < found < INFINITY and value > 0 and self.epsilon:
            self.points[value] = _log_near_1(Fraction(exact.exact(found)) / self.epsilon)

    def start(self) -> Fraction:
        """1, or where m does not exist there the middle of all probabilities."""
        if not self.is_whole:
            for value in (Fraction(1), Fraction(1, 2)):
                with contextlib.suppress(DomainError):
                    self.met(value)
                    return value
        return Fraction(1)

    def ways(self, start: Fraction) -> tuple[int, int]:
        """Up and down from there, first that way which moves ε towards the target."""
        meets, other = self.met(start), start * 2
        try:
            self.met(other)
        except DomainError:
            other = start / 2
            with contextlib.suppress(DomainError):
                self.met(other)
        is_more = self.points.get(other, math.inf) > self.points.get(start, math.inf)
        rises = is_more is (other > start)
        return (1, -1) if rises is meets else (-1, 1)

    def guess(self, low: Fraction, high: Fraction) -> Fraction:
        """Where ε may be the target: by the values of ε nearest to it, or in the middle."""
        self.guesses += 1
        if self.guesses <= _GUESSES:
            near = sorted(self.points, key=lambda value: abs(self.points[value]))[:_POINTS]
            with contextlib.suppress(ZeroDivisionError, OverflowError, ValueError, IndexError):
                steps = [(self.points[value], _log_near_1(value / near[0])) for value in near]
                return near[0] * (1 + Fraction(math.expm1(_through(steps, 0.0))))
        return (low + high) / 2


class _Steered(Target):
    """A target judged in float64 where orders are compared by something cheaper than the curve."""

    def _met(self, value: Fraction, digits: int) -> bool:
        found = steered_epsilon(self.m.subs({self.symbol: value}), self.delta, **self.how)
        self.remember(value, found)
        return found <= self.epsilon


def _log_near_1(x: Fraction) -> float:
    """log x, of all floats' digits where x is next to 1."""
    if 2 * abs(x - 1) < 1:
        return math.log1p(x - 1)
    return math.log(x.numerator) - math.log(x.denominator)


def _through(points: list[tuple[float, float]], x: float) -> float:
    """The polynomial through the points, at x (Neville): a guess, on which no claim rests."""
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    for step in range(1, len(xs)):
        ys = [
            ((x - xs[i]) * ys[i + 1] - (x - xs[i + step]) * ys[i]) / (xs[i + step] - xs[i])
            for i in range(len(xs) - step)
        ]
    return ys[0]


def _steered_neighbours(
    steered: _Steered, target: Target, digits: int
) -> tuple[Fraction, Fraction] | None:
    """Where float64 sees the threshold, if it is proved to be there."""
    with contextlib.suppress(SymacctError):
        low, high = neighbours(steered, digits)
        if target.met(low) is not target.met(high):
            return low, high
    return None


def neighbours(target: Target, digits: int) -> tuple[Fraction, Fraction]:
    """Two values next to each other of which one meets the target and the other does not."""
    low, high = _bracket(target)
    unit = Fraction(1) if target.is_whole else Fraction(10) ** (_decimal_exponent(low) - digits + 1)
    below, above = math.floor(low / unit), math.ceil(high / unit)
    first = target.met(below * unit)
    if target.met(above * unit) is first:
        raise DomainError(
            f"{target.symbol}: found no single threshold between {low} and {high}: ε is not "
            "monotone there",
            remedy="plot it against the symbol",
        )
    while above - below > 1:
        between = min(max(target.guess(below * unit, above * unit) // unit, below + 1), above - 1)
        if target.met(between * unit) is first:
            below = between
        else:
            above = between
    return below * unit, above * unit


def _bracket(target: Target) -> tuple[Fraction, Fraction]:
    """Two values of which one meets the target: powers of two, or such as near a domain's end."""
    start = target.start()
    first = target.met(start)
    ways = (1,) if target.is_whole else target.ways(start)
    for sign, reach in zip(ways, (_REACH, _REACH_BACK), strict=False):
        before, out = start, None
        for _ in range(reach):
            value = before * Fraction(2) ** sign if out is None else (before + out) / 2
            try:
                met = target.met(value)
            except DomainError:
                if target.is_whole:
                    break
                out = value
                continue
            if met is not first:
                return min(before, value), max(before, value)
            before = value
    said = "meets" if first else "does not meet"
    if target.is_whole and not first and start in target.asked:
        least = target.asked[start][1].epsilon.rounded_up(6)
        raise DomainError(
            f"{target.symbol}: found that already {target.symbol} = {start} has ε = {least}, "
            f"needed at most the target ε = {echo(target.epsilon)}",
            remedy="choose a larger one",
        )
    raise DomainError(
        f"{target.symbol}: found that every value tried {said} the target "
        f"ε = {echo(target.epsilon)}, needed one on each side",
        remedy="choose another target",
    )


def _decimal_exponent(value: Fraction) -> int:
    """⌊log10 value⌋."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    return exponent if value >= Fraction(10) ** exponent else exponent - 1
