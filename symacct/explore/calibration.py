"""The parameter value at which a target is just met, between two proofs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, overload

import mpmath
from flint import arb

from symacct.accountant.currencies.concentrated import zcdp_in_fractions
from symacct.explore.grids import counts_of
from symacct.explore.risk import Risk
from symacct.export.cards import card, guarantee_card
from symacct.export.citation import source_line
from symacct.export.description import about, sensitivity
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
from symacct.kernel.answer import (
    Bound,
    Guarantee,
    exact_decimal,
    given,
    rational_float,
    shortened,
    shown,
)
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Adjacency, Kind
from symacct.kernel.conversion import BEST, Conversion, OrderOne, proved
from symacct.kernel.deadline import progress
from symacct.kernel.epsilon_delta import EpsilonDelta
from symacct.kernel.errors import DomainError, PrecisionError, SymacctError, echo
from symacct.kernel.evaluation import Evaluation, exact_pure, theorem_node
from symacct.kernel.exact import INFINITY, Numeric, Order, sympy
from symacct.kernel.node import Node, as_node
from symacct.kernel.optimal_order import Steering, is_steered, last_order, whole_valley
from symacct.kernel.parameters import given_delta, rational
from symacct.kernel.sums import order_search
from symacct.operations import dp_sgd

# --- the search
#
# The value of a parameter from which on a target is met, between two proofs.


@dataclass(frozen=True)
class _CalibrationSearch:
    """Where values are tried: each is decided by a proof, and these numbers only cost time."""

    #: Steps from the first value towards the target, each of which doubles or halves it: up to 2⁶⁴.
    reach: int = 64
    #: Steps the other way, where the target lies if ε is not monotone.
    reach_back: int = 12
    #: Significant digits of an ε or a risk that fewer digits do not tell from the target.
    digits: int = 30
    #: Digits of ε beyond those of the parameter: with so many, most values are decided at once.
    more_digits: int = 4
    #: Values of ε that the next guess goes through; a polynomial through more of them swings.
    points: int = 4
    #: Guesses before the bracket is halved instead, which is sure to end.
    guesses: int = 12


_SEARCH = _CalibrationSearch()


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
            fault, remedy = "no parameter without a value", "write a name for the one to be found"
            if free:
                fault = f"the parameters {', '.join(map(str, free))} without values"
                remedy = "write numbers for the others"
            raise DomainError(f"calibrate: found {fault}, needed exactly one", remedy=remedy)
        self.m = m
        self.symbol: sympy.Symbol = free[0]
        self.is_whole = self.symbol.is_integer or self.symbol in counts_of(m)
        self.prepare(rational(epsilon, "epsilon"), delta, digits, how)

    def prepare(self, epsilon: Fraction, delta: Numeric, digits: int, how: dict[str, Any]) -> None:
        """The target, and that nothing has been asked of it."""
        self.epsilon = epsilon
        self.delta = delta
        self.digits = digits + _SEARCH.more_digits
        self.how = how
        self.answers: dict[Fraction, bool] = {}
        #: What was asked at a value, in the digits that decided.
        self.guarantees: dict[Fraction, tuple[Node, Guarantee]] = {}
        self.guesses = 0
        #: log ε at a value, less that of the target.
        self.points: dict[Fraction, float] = {}

    def met(self, value: Fraction) -> bool:
        """Is ε <= the target at this value? Raises DomainError where m does not exist there."""
        if value not in self.answers:
            self.answers[value] = self._met(value, min(self.digits, _SEARCH.digits))
        return self.answers[value]

    def at(self, value: Fraction) -> Node:
        """m at a value of its symbol."""
        return self.m.subs({self.symbol: value})

    def _met(self, value: Fraction, digits: int) -> bool:
        node = self.at(value)
        guarantee = node.epsilon(self.delta, digits, **self.how)
        self.guarantees[value] = node, guarantee
        epsilon = guarantee.epsilon
        self.remember(value, epsilon.upper)
        if epsilon.upper < INFINITY and exact.exact(epsilon.upper) <= self.epsilon:
            return True
        if epsilon.lower == INFINITY or exact.exact(epsilon.lower) > self.epsilon:
            return False
        if guarantee.alpha == INFINITY:
            pure = exact_pure(node, self.how["by"])
            if pure is not None:  # as in a tie such as Laplace(3) at ε = 1/3
                return bool(pure <= self.epsilon)
        if digits < _SEARCH.digits:
            return self._met(value, _SEARCH.digits)
        raise PrecisionError(
            f"{self.symbol} = {number(value)}: found ε in [{epsilon.rounded_down()}, "
            f"{epsilon.rounded_up()}], which does not decide whether it exceeds "
            f"{echo(self.epsilon)}",
            remedy="move the target by a little",
        )

    def remember(self, value: Fraction, about: mpmath.mpf | float) -> None:
        """Remember that ε at `value` is about `found`: the next guess goes through it."""
        if 0 < about < INFINITY and value > 0 and self.epsilon:
            self.points[value] = _log_near_1(Fraction(exact.exact(about)) / self.epsilon)

    def start(self) -> Fraction:
        """1, or where m does not exist there the middle of all probabilities."""
        if not self.is_whole:
            for value in (Fraction(1), Fraction(1, 2)):
                with contextlib.suppress(DomainError):
                    self.met(value)
                    return value
        return Fraction(1)

    def directions(self, start: Fraction) -> tuple[int, int]:
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
        if self.guesses <= _SEARCH.guesses:
            near = sorted(self.points, key=lambda value: abs(self.points[value]))[: _SEARCH.points]
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
    signs = (1,) if target.is_whole else target.directions(start)
    for sign, reach in zip(signs, (_SEARCH.reach, _SEARCH.reach_back), strict=False):
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
    verb = "meets" if first else "does not meet"
    if target.is_whole and not first and start in target.guarantees:
        epsilon = target.guarantees[start][1].epsilon.rounded_up(6)
        raise DomainError(
            f"{target.symbol}: found that already {target.symbol} = {start} has ε = {epsilon}, "
            f"needed at most the target ε = {echo(target.epsilon)}",
            remedy="choose a larger one",
        )
    raise DomainError(
        f"{target.symbol}: found that every value tried {verb} the target "
        f"ε = {echo(target.epsilon)}, needed one on each side",
        remedy="choose another target",
    )


def _decimal_exponent(value: Fraction) -> int:
    """⌊log10 value⌋."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    return exponent if value >= Fraction(10) ** exponent else exponent - 1


# --- the noise of a training run


@progress("noise")
def noise(
    *,
    n: Numeric,
    batch_size: Numeric,
    epsilon: Numeric,
    delta: Numeric,
    epochs: Numeric | None = None,
    steps: Numeric | None = None,
    sampling: str = "poisson",
    adjacency: str | Adjacency | None = None,
    digits: int = 6,
    conversion: str = BEST,
) -> float:
    """The least noise multiplier for which a DP-SGD run is (ε, δ)-DP, as a float rounded up.

    The noise multiplier is the standard deviation of the noise over the norm that gradients are
    clipped to. `n`, `batch_size`, `epochs` or `steps`, `sampling` and `adjacency` are those of
    `dp_sgd`, and `epsilon`, `delta` and `conversion` those of `Node.epsilon`. The run with one unit
    less in the last of `digits` significant digits is proved to miss the target by the same
    conversion. Raises the errors of `dp_sgd` and `calibrate`. `epsilon` is in nats.

    >>> noise(n=60_000, batch_size=256, epochs=15, epsilon=2, delta="1e-5", digits=3)
    0.8390000000000001
    """
    run = {"n": n, "batch_size": batch_size, "epochs": epochs, "steps": steps}
    how = {"conversion": conversion, "orders": None, "by": None}
    sought = _RunTarget(
        run | {"sampling": sampling, "adjacency": adjacency}, epsilon, delta, digits, how
    )
    meeting = [value for value in neighbours(sought, sought.shown) if sought.met(value)]
    return rational_float(meeting[0])


class _RunTarget(Target):
    """The question whether a run with a noise multiplier is (ε, δ)-DP; no symbol is needed."""

    def __init__(
        self,
        run: dict[str, Any],
        epsilon: Numeric,
        delta: Numeric,
        digits: int,
        how: dict[str, Any],
    ) -> None:
        self.shown = arguments.digits(digits)
        self.run = run
        self.prepare(rational(epsilon, "epsilon"), delta, self.shown, how)
        self.symbol: Any = SimpleNamespace(name="noise_multiplier")
        self.is_whole = False

    def at(self, value: Fraction) -> Node:
        return dp_sgd(noise_multiplier=value, **self.run)


# --- what a calibration is


@dataclass(frozen=True)
class Consecutive:
    """Two consecutive values of a parameter, of which one meets a target and the other does not."""

    symbol: str
    meets: Fraction
    fails: Fraction
    node: Node

    @property
    def values(self) -> str:
        """Both values, and which of them meets the target."""
        return f"{number(self.meets)} meets the target, {number(self.fails)} does not"

    def as_dict(self) -> dict[str, Any]:
        """Both values for JSON."""
        return {
            "symbol": self.symbol,
            "meets": exact.text(self.meets),
            "fails": exact.text(self.fails),
            "expression": repr(self.node),
        }


# --- a target risk

#: Significant digits of a bound; one that has fewer and may be above the target is taken to be.
_FEW_OF_BOUND = 15
#: What a risk is asked at, by its name.
_ASKED_AT = {"tpr": "fpr", "bayes_success": "prior", "reconstruction": "baseline"}
#: Those that are no probabilities.
_UNBOUNDED = ("mu", "rho")


@dataclass(frozen=True)
class RiskCalibration(Consecutive):
    """Two consecutive values: the risk is at most the target at `meets`, and above it at `fails`.

    >>> import sympy
    >>> from symacct import Gaussian, calibrate_risk
    >>> found = calibrate_risk(Gaussian(sympy.Symbol("sigma")), advantage="1/10", digits=3)
    >>> found.risk, str(found.meets), str(found.fails)
    ('advantage', '199/50', '397/100')
    """

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
        relation = str(self.value.claim.adjacency).replace("either", "either relation")
        reached = f"{self.risk} {shown(self.value)} <= {shown(self.target)} under {relation}"
        return f"{self.symbol} = {self.values}\n  {reached}"

    def _repr_html_(self) -> str:
        return card(self.rows())

    def as_dict(self) -> dict[str, Any]:
        """The calibration for JSON."""
        return {
            **super().as_dict(),
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
    at, reached = target.risks[meets]
    return RiskCalibration(
        target.symbol.name, meets, fails, at, target.words, reached, target.epsilon
    )


def _reachable(name: str, target: Fraction, at: Numeric | None) -> Fraction:
    """The target; DomainError where no noise has it, or all have."""
    blind = Fraction(0) if at is None else rational(at, _ASKED_AT[name])
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
            self.words += f" at {_ASKED_AT[name]} {shown(rational(at, _ASKED_AT[name]))}"
        self.risks: dict[Fraction, tuple[Node, Bound]] = {}

    def _risk(self, node: Node, digits: int) -> Bound:
        if self.name == "rho":
            return node.zcdp(digits)
        risk = getattr(Risk(node, digits), self.name)
        value: Bound = risk if self.asked_at is None else risk(self.asked_at)
        return value

    def _met(self, value: Fraction, digits: int) -> bool:
        node = self.at(value)
        risk = self._risk(node, digits)
        self.risks[value] = node, risk
        self.remember(value, risk.upper)
        if exact.exact(risk.upper) <= self.epsilon:
            return True
        if exact.exact(risk.lower) > self.epsilon:
            return False
        if digits < _SEARCH.digits:
            return self._met(value, _SEARCH.digits)
        known = zcdp_in_fractions(node) if self.name == "rho" else None
        if known is not None:  # a tie
            return known <= self.epsilon
        if risk.claim.kind is Kind.UPPER and risk.digits < _FEW_OF_BOUND:  # no more can be had
            return False
        raise PrecisionError(
            f"{self.symbol} = {number(value)}: found {self.words} in [{risk.rounded_down()}, "
            f"{risk.rounded_up()}], which does not decide whether it exceeds "
            f"{echo(self.epsilon)}",
            remedy="move the target by a little",
        )


# --- about what an ε is
#
# By what orders are compared by: where to begin, and nothing rests on it.

_STEERING_BITS = 80  # of balls that only steer: a float64's 53 and some that sums lose
_LEVEL = Fraction(1, 2**20)  # of α − 1, beside which an ε at its least is level


def steered_epsilon(
    m: Node, delta: Numeric, conversion: str, orders: str | Iterable[Numeric] | None, by: By
) -> float:
    """About ε(δ), in most of float64's digits.

    DomainError where orders are compared by the curve itself, which costs what the answer does,
    PrecisionError where float64 has no number.
    """
    m, made = theorem_node(m, by), proved(conversion)
    per_order = isinstance(made, Conversion) and not isinstance(made, OrderOne)
    if orders is not None or not per_order or not is_steered(m, by):
        raise DomainError(f"{echo(m)}: found no bound that is cheaper to compute than its curve")
    question = EpsilonDelta(m=m, by=by, conversion=made, given="delta", value=given_delta(delta))
    with precision(_STEERING_BITS):
        curve, converted = Steering(Evaluation(BALL, Kind.UPPER, by)).curve(m), question.objective()

        def f(alpha: Order) -> arb:
            return converted(curve.local_value(alpha), alpha)

        whole = whole_valley(question, curve, f, 2, last_order(m))
        places = order_search.places(f, whole, perspective=True)
        best = order_search.real_valley(f, places, (places[1] - 1) * _LEVEL, perspective=True)
        epsilon = float(question.answer(f(best)))
    if not math.isfinite(epsilon):
        raise PrecisionError(f"{echo(m)}: found {epsilon} by float64, needed a number")
    return epsilon


# --- a target (ε, δ)

_FEW_DIGITS = 3  # of a parameter, where all that were asked for take long


@dataclass(frozen=True)
class Calibration(Consecutive):
    """Two consecutive values, of which one meets the target and the other misses it.

    `meets` meets the target, with this `guarantee`, and `fails` misses it, by the conversion of the
    guarantee.

    >>> import sympy
    >>> from symacct import Gaussian, calibrate
    >>> found = calibrate(Gaussian(sympy.Symbol("sigma")), epsilon=1, delta="1e-5", digits=3)
    >>> found.symbol, str(found.meets), str(found.fails)
    ('sigma', '187/50', '373/100')
    """

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

    def _repr_html_(self) -> str:
        rows = [
            (f"{self.symbol} meets the target at", number(self.meets)),
            ("and does not at", number(self.fails)),
        ]
        return card(rows) + guarantee_card(self.guarantee)

    def as_dict(self) -> dict[str, Any]:
        """The calibration for JSON."""
        return {**super().as_dict(), "guarantee": self.guarantee.as_dict()}


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
    choice = best(
        Ways(
            exact=(lambda: ask(TRUE),),
            roughly=lambda: ask(TRUE, min(digits, _FEW_DIGITS)),
            by_orders=lambda: ask(BY_ORDERS),
            by_few_orders=lambda: ask(BY_ORDERS, min(digits, _FEW_DIGITS)),
            closest=lambda: ask(CLOSEST),
            others=lambda has_profile: (),
            against=_against,
            is_less=_is_better,
            is_least=lambda calibration: False,
            shown=lambda calibration: f"{calibration.symbol} = {number(calibration.meets)}",
        )
    )
    guarantee = replace(choice.answer.guarantee, is_best=True, not_exact=choice.not_exact)
    if not choice.in_time:
        guarantee = noted(guarantee, may_be_smaller(guarantee))
    return replace(choice.answer, guarantee=guarantee)


def _calibrate(
    m: Node, goal: tuple[Numeric, Numeric], digits: int, how: dict[str, Any]
) -> Calibration:
    """The two values by one conversion."""
    question = m, *goal, digits, how
    target = Target(*question)
    low, high = _steered_neighbours(_Steered(*question), target, digits) or neighbours(
        target, digits
    )
    meets, fails = (low, high) if target.met(low) else (high, low)
    return Calibration(target.symbol.name, meets, fails, *target.guarantees[meets])


def _against(exact: Calibration, by_orders: Calibration | None) -> str:
    """Why the value by the exact profile is not the better one, or nothing where it is."""
    why = against(exact.guarantee, None)
    if why or by_orders is None:
        return why
    if _is_better(by_orders, exact):
        return f"the dominating pair gives no better than {number(exact.meets)}"
    return ""


def _is_better(new: Calibration, than: Calibration) -> bool:
    """Is less noise needed, or a larger rate or count allowed?"""
    less = than.meets - new.meets
    return less != 0 and (less > 0) == (new.meets > new.fails)  # noise falls, a rate rises


class _Steered(Target):
    """A target judged in float64 where orders are compared by something cheaper than the curve."""

    def _met(self, value: Fraction, digits: int) -> bool:
        epsilon = steered_epsilon(self.m.subs({self.symbol: value}), self.delta, **self.how)
        self.remember(value, epsilon)
        return epsilon <= self.epsilon


def _steered_neighbours(
    steered: _Steered, target: Target, digits: int
) -> tuple[Fraction, Fraction] | None:
    """Where float64 sees the threshold, if it is proved to be there."""
    with contextlib.suppress(SymacctError):
        low, high = neighbours(steered, digits)
        if target.met(low) is not target.met(high):
            return low, high
    return None
