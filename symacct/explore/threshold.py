"""The search for the value of a parameter from which on a target is met, between two proofs."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from typing import Any

import mpmath

from symacct.explore.grids import counts_of
from symacct.kernel import exact
from symacct.kernel.answer import Guarantee, exact_decimal
from symacct.kernel.errors import DomainError, PrecisionError, echo
from symacct.kernel.evaluation import exact_pure
from symacct.kernel.exact import INFINITY, Numeric, sympy
from symacct.kernel.node import Node
from symacct.kernel.parameters import rational

_REACH = 64  # steps that are tried towards the target, each twice or half the one before
_REACH_BACK = 12  # and the other way, should ε not be monotone
_DIGITS = 30  # of an ε that fewer do not tell from the target
_MORE = 4  # digits of ε beyond those of the parameter, by which most values are decided
_POINTS = 4  # values of ε that the next guess goes through
_GUESSES = 12  # before the bracket is halved


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
