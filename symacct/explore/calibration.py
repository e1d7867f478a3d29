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
from symacct.kernel import exact, parameters
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
    decimal_exponent,
    exact_decimal,
    given,
    rational_float,
    shortened,
    shown,
)
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Adjacency, Kind
from symacct.kernel.conversion import BEST, Conversion, EpsilonDelta, OrderOne, proved
from symacct.kernel.deadline import progress
from symacct.kernel.errors import (
    DomainError,
    InfiniteError,
    PrecisionError,
    SymacctError,
    echo,
)
from symacct.kernel.evaluation import Evaluation, exact_pure
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, sympy
from symacct.kernel.node import Node, as_node
from symacct.kernel.optimal_order import Steering, is_steered, last_order, whole_valley
from symacct.kernel.parameters import By, given_delta, rational
from symacct.kernel.sums import order_search
from symacct.kernel.theorem_registry import theorem_node
from symacct.operations import dp_sgd

# --- the search
#
# The value of a parameter from which on a target is met, between two proofs.


@dataclass(frozen=True)
class _CalibrationSearch:
    """Where values are tried: a proof decides each of them, so these numbers only cost time."""

    #: The search takes at most this many steps from the first value towards the target. Each step
    #: doubles or halves the value, so it reaches 2^±64.
    reach: int = 64
    #: The search takes at most this many steps away from the target, as it lies there if ε is not
    #: monotone.
    reach_back: int = 12
    #: An ε or a risk that fewer digits do not tell from the target is asked to this many
    #: significant digits, and is a PrecisionError if these do not decide either.
    digits: int = 30
    #: ε is asked to this many significant digits more than the parameter: most values are then
    #: decided at once.
    more_digits: int = 4
    #: The next guess goes through at most this many known ε: a polynomial through more swings.
    points: int = 4
    #: After this many guesses the bracket is halved instead, which is sure to end.
    guesses: int = 12


#: The numbers of the search, which no proof rests on.
_SEARCH = _CalibrationSearch()


def number(value: Fraction) -> str:
    """Write a value in full, as a decimal or else as a fraction.

    It is not rounded: a rounded value might be on the other side of the threshold.
    """
    return exact_decimal(value) or exact.text(value)


class Target:
    """The question whether m at a value of its one free symbol is (ε, δ)-DP; it keeps answers.

    Raises DomainError where m has not exactly one free symbol. `how` is passed on to
    `Node.epsilon`.
    """

    #: What the target bounds, in an error's words.
    letter = "ε"

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
        """Set the target ε and δ, with empty memories of what was asked and answered."""
        self.epsilon = epsilon
        self.delta = delta
        self.digits = digits + _SEARCH.more_digits
        self.how = how
        self.answers: dict[Fraction, bool] = {}
        #: What was asked at a value, in the digits that decided.
        self.guarantees: dict[Fraction, tuple[Node, Guarantee]] = {}
        self.guesses = 0
        #: Why ε was infinite at the first value where it was.
        self.infinite: InfiniteError | None = None
        #: log ε at a value, less that of the target.
        self.points: dict[Fraction, float] = {}

    def met(self, value: Fraction) -> bool:
        """Is ε(δ) at most the target ε at this value? The answer is proved, and remembered.

        Raises DomainError where m does not exist there, and PrecisionError where the digits do
        not tell ε from the target.
        """
        if value not in self.answers:
            self.answers[value] = self._met(value, min(self.digits, _SEARCH.digits))
        return self.answers[value]

    def exists(self, value: Fraction) -> bool:
        """Can the target be asked at this value? What was asked is remembered."""
        try:
            self.met(value)
        except DomainError:
            return False
        return True

    def at(self, value: Fraction) -> Node:
        """m at a value of its symbol."""
        return self.m.subs({self.symbol: value})

    def _met(self, value: Fraction, digits: int) -> bool:
        """Decide the value with this many digits of ε, then with `_SEARCH.digits` of them.

        An infinite ε misses the target. Where both ends of ε enclose the target, an ε that is known
        as a number decides a tie, else PrecisionError is raised.
        """
        asked = self.ask(value, self.at(value), digits)
        if asked is None:
            return False
        self.remember(value, asked.upper)
        if asked.upper < INFINITY and exact.exact(asked.upper) <= self.epsilon:
            return True
        if asked.lower == INFINITY or exact.exact(asked.lower) > self.epsilon:
            return False
        known = self.known(value, digits)
        if known is not None:  # as in a tie such as Laplace(3) at ε = 1/3
            return bool(known <= self.epsilon)
        if digits < _SEARCH.digits:
            return self._met(value, _SEARCH.digits)
        raise PrecisionError(
            f"{self.symbol} = {number(value)}: found {self.letter} in [{asked.rounded_down()}, "
            f"{asked.rounded_up()}], which does not decide whether it exceeds "
            f"{echo(self.epsilon)}",
            remedy="move the target by a little",
        )

    def ask(self, value: Fraction, node: Node, digits: int) -> Bound | None:
        """Ask for the number that the target bounds, of m at the value, and keep it; None for ∞."""
        try:
            guarantee = node.epsilon(self.delta, digits, **self.how)
        except InfiniteError as error:  # m exists, and no finite ε meets the target δ
            self.infinite = self.infinite or error
            return None
        self.guarantees[value] = node, guarantee
        epsilon: Bound = guarantee.epsilon
        return epsilon

    def known(self, value: Fraction, digits: int) -> Exact | None:
        """Return the number that was asked to so many digits, where more than its ends is known."""
        node, guarantee = self.guarantees[value]
        if guarantee.epsilon.exactly is None and guarantee.alpha == INFINITY:
            return exact_pure(node, self.how["by"])
        return guarantee.epsilon.exactly

    def remember(self, value: Fraction, about: mpmath.mpf | float) -> None:
        """Remember log(ε/target) at `value`, where ε is `about`: it steers the next guess.

        Nothing is remembered of an ε, a value or a target that is 0, and of an ε that is infinite.
        """
        if 0 < about < INFINITY and value > 0 and self.epsilon:
            self.points[value] = _log_near_1(Fraction(exact.exact(about)) / self.epsilon)

    def start(self) -> Fraction:
        """Return the first value tried: 1, or 1/2 where m exists there and not at 1."""
        if not self.is_whole:
            for value in (Fraction(1), Fraction(1, 2)):
                if self.exists(value):
                    return value
        return Fraction(1)

    def directions(self, start: Fraction) -> tuple[int, int]:
        """Return (1, −1) for up before down, or (−1, 1): the first one moves ε to the target.

        Two values of ε say which way that is. It steers, so the other way is tried as well.
        """
        meets, other = self.met(start), start * 2
        if not self.exists(other):
            other = start / 2
            self.exists(other)
        is_more = self.points.get(other, math.inf) > self.points.get(start, math.inf)
        rises = is_more is (other > start)
        return (1, -1) if rises is meets else (-1, 1)

    def guess(self, low: Fraction, high: Fraction) -> Fraction:
        """Guess the value at which ε is the target, by interpolation, or halve the bracket.

        The guess steers: it is a float's, and may lie outside the bracket.
        """
        self.guesses += 1
        if self.guesses <= _SEARCH.guesses:
            near = sorted(self.points, key=lambda value: abs(self.points[value]))[: _SEARCH.points]
            with contextlib.suppress(ZeroDivisionError, OverflowError, ValueError, IndexError):
                steps = [(self.points[value], _log_near_1(value / near[0])) for value in near]
                return near[0] * (1 + Fraction(math.expm1(_through(steps, 0.0))))
        return (low + high) / 2


def _log_near_1(x: Fraction) -> float:
    """Compute log x in float64 of a rational x > 0, also next to 1 and beyond float64's range."""
    if 2 * abs(x - 1) < 1:
        return math.log1p(x - 1)
    return math.log(x.numerator) - math.log(x.denominator)


def _through(points: list[tuple[float, float]], x: float) -> float:
    """Evaluate the polynomial through the points at x, by Neville's scheme; it only steers.

    Raises ZeroDivisionError where two points have one abscissa.
    """
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    for step in range(1, len(xs)):
        ys = [
            ((x - xs[i]) * ys[i + 1] - (x - xs[i + step]) * ys[i]) / (xs[i + step] - xs[i])
            for i in range(len(xs) - step)
        ]
    return ys[0]


def neighbours(target: Target, digits: int) -> tuple[Fraction, Fraction]:
    """Find two values, low < high, of which one meets the target and the other does not.

    They are one apart where the symbol is a whole number, and otherwise one unit of the last of
    `digits` significant digits of the bracket's lower end, or of more digits where m does not exist
    at the bracket rounded outwards, as next to a probability of 1. Raises the errors of `_bracket`,
    and DomainError where rounding the bracket outwards shows that ε is not monotone.
    """
    low, high = _bracket(target)
    unit = Fraction(1) if target.is_whole else Fraction(10) ** (decimal_exponent(low) - digits + 1)
    below, above = math.floor(low / unit), math.ceil(high / unit)
    # It ends: the ends of a bracket of real numbers are finite decimals at which m exists.
    while not (target.exists(below * unit) and target.exists(above * unit)):
        unit /= 10
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
    """Find two values of which one meets the target, by doubling and halving.

    Where m does not exist at the next value, the step to it is halved. Whole numbers are only
    doubled, from 1 on. Raises DomainError where every value tried is on one side of the target, and
    InfiniteError where ε is infinite at all of them.
    """
    start = target.start()
    first = target.met(start)
    if target.is_whole and target.infinite:
        raise target.infinite
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
    if target.infinite and not target.guarantees:
        raise target.infinite
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
        f"{target.letter} = {echo(target.epsilon)}, needed one on each side",
        remedy="choose another target",
    )


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
    quantile_noise: Numeric | None = None,
    digits: int = 6,
    conversion: str = BEST,
) -> float:
    """The least noise multiplier for which a DP-SGD run is (ε, δ)-DP, as a float rounded up.

    The noise multiplier is the standard deviation of the noise over the norm that gradients are
    clipped to. `n`, `batch_size`, `epochs` or `steps`, `sampling`, `adjacency` and `quantile_noise`
    are those of `dp_sgd`, and `epsilon`, `delta` and `conversion` those of `Node.epsilon`. The run
    with one unit less in the last of `digits` significant digits is proved to miss the target by
    the same conversion. Raises the errors of `dp_sgd` and `calibrate`. `epsilon` is in nats.

    >>> noise(n=60_000, batch_size=256, epochs=15, epsilon=2, delta="1e-5", digits=3)
    0.8390000000000001
    """
    run: dict[str, Any] = {"n": n, "batch_size": batch_size, "epochs": epochs, "steps": steps}
    how = {"conversion": conversion, "orders": None, "by": None}
    run |= {"sampling": sampling, "adjacency": adjacency, "quantile_noise": quantile_noise}
    sought = _RunTarget(run, epsilon, delta, digits, how)
    meeting = [value for value in neighbours(sought, sought.shown) if sought.met(value)]
    return rational_float(meeting[0])


class _RunTarget(Target):
    """The question whether a DP-SGD run with a noise multiplier is (ε, δ)-DP.

    `run` has the other arguments of `dp_sgd`. No symbol is free: its name only serves messages.
    """

    def __init__(
        self,
        run: dict[str, Any],
        epsilon: Numeric,
        delta: Numeric,
        digits: int,
        how: dict[str, Any],
    ) -> None:
        self.shown = parameters.digits(digits)
        self.run = run
        self.prepare(rational(epsilon, "epsilon"), delta, self.shown, how)
        self.symbol: Any = SimpleNamespace(name="noise_multiplier")
        self.is_whole = False

    def at(self, value: Fraction) -> Node:
        """The training run with this noise multiplier."""
        return dp_sgd(noise_multiplier=value, **self.run)


# --- what a calibration is


@dataclass(frozen=True)
class Consecutive:
    """Two consecutive values of a parameter, of which one meets a target and the other does not.

    `node` is the expression with the value that meets the target.
    """

    symbol: str
    meets: Fraction
    fails: Fraction
    node: Node

    @property
    def values(self) -> str:
        """Say both values in full, and which of them meets the target."""
        return f"{number(self.meets)} meets the target, {number(self.fails)} does not"

    def as_dict(self) -> dict[str, Any]:
        """Return the symbol, both values as exact text and the expression, for JSON."""
        return {
            "symbol": self.symbol,
            "meets": exact.text(self.meets),
            "fails": exact.text(self.fails),
            "expression": repr(self.node),
        }


# --- a target risk

#: An upper bound of a risk with fewer significant digits than this, whose ends enclose the target,
#: counts as above it: more digits are not to be had. The value that meets the target stays proved.
_LEAST_BOUND_DIGITS = 15
#: These risks are asked at a second number, which has the name on the right.
_ASKED_AT = {"tpr": "fpr", "bayes_success": "prior", "reconstruction": "baseline"}
#: These risks are no probabilities: their target may be 1 or more.
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
        """Return the calibration stated for `adjacency`, which m leaves open."""
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
        """Write the parameter's values, and the risk beside its target."""
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
    digits, node = parameters.digits(digits), as_node(m, "calibrate_risk")
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
    """Return the target, where some noise meets it and another one misses it.

    `at` is the number that the risk is asked at, or None. Raises DomainError for a target that is
    not above what a blind guess has, and for a probability that is not below 1.
    """
    blind = Fraction(0) if at is None else rational(at, _ASKED_AT[name])
    if name == "bayes_success":
        blind = max(blind, 1 - blind)
    is_told = target > blind or (name == "bayes_success" and target == blind)
    is_bounded = name not in _UNBOUNDED
    if not is_told or (is_bounded and target >= 1):
        needed = f"more than {shown(blind)}, which a blind guess has"
        needed += ", and less than 1" if is_bounded else ""
        raise DomainError(f"{name}: found {echo(target)}, needed {needed}")
    return target


class _RiskTarget(Target):
    """The question whether a risk of m at a value of its symbol is at most the target.

    `name` is the name of the risk, and `at` the number that it is asked at, or None.
    """

    def __init__(
        self, m: Node, name: str, target: Fraction, at: Numeric | None, digits: int
    ) -> None:
        super().__init__(m, target, 0, digits, {})
        self.name, self.asked_at = name, at
        self.words = name.replace("_", " ")
        if at is not None:
            self.words += f" at {_ASKED_AT[name]} {shown(rational(at, _ASKED_AT[name]))}"
        self.letter = self.words
        self.risks: dict[Fraction, tuple[Node, Bound]] = {}

    def ask(self, value: Fraction, node: Node, digits: int) -> Bound:
        """Ask for the risk of m at the value, certified to this many significant digits."""
        if self.name == "rho":
            risk = node.zcdp(digits)
        else:
            risk = getattr(Risk(node, digits), self.name)
            risk = risk if self.asked_at is None else risk(self.asked_at)
        self.risks[value] = node, risk
        return risk

    def known(self, value: Fraction, digits: int) -> Exact | None:
        """Return a known ρ or risk, as μ = 1/3 of Gaussian(3), where more digits do not tell.

        An upper bound of few digits whose ends enclose the target counts as a miss, ∞.
        """
        node, risk = self.risks[value]
        if digits < _SEARCH.digits:
            return None
        known = zcdp_in_fractions(node) if self.name == "rho" else risk.exactly
        is_short = risk.claim.kind is Kind.UPPER and risk.digits < _LEAST_BOUND_DIGITS
        return INFINITY if known is None and is_short else known


# --- about what an ε is
#
# An ε about as large as the true one tells where to begin, and nothing rests on it.

#: Balls that only steer have this many bits: the 53 of a float64, and some that sums lose.
_STEERING_BITS = 80
#: The best order is looked for to this share of α − 1: ε is level that close to its least value.
_ORDER_SHARE = Fraction(1, 2**20)


def steered_epsilon(
    m: Node, delta: Numeric, conversion: str, orders: str | Iterable[Numeric] | None, by: By
) -> float:
    """Compute ε(δ) to most of float64's digits, which steers and proves nothing.

    Raises DomainError where `orders` are given, where the conversion is not of one Rényi order (as
    "best" and "exact"), and where orders are compared by the curve itself, which costs what the
    answer does; PrecisionError where float64 has no finite number, as at δ = 0.
    """
    m, made = theorem_node(m, by), proved(conversion)
    per_order = isinstance(made, Conversion) and not isinstance(made, OrderOne)
    if orders is not None or not per_order or not is_steered(m, by):
        raise DomainError(f"{echo(m)}: found no bound that is cheaper to compute than its curve")
    question = EpsilonDelta(
        m=m, by=by, conversion=made, asks_epsilon=True, value=given_delta(delta)
    )
    with precision(_STEERING_BITS):
        curve, converted = Steering(Evaluation(BALL, Kind.UPPER, by)).curve(m), question.objective

        def f(alpha: Order) -> arb:
            return converted(curve.local_value(alpha), alpha)

        whole = whole_valley(question, curve, f, 2, last_order(m))
        places = order_search.places(f, whole, perspective=True)
        best = order_search.real_valley(f, places, (places[1] - 1) * _ORDER_SHARE, perspective=True)
        epsilon = float(question.answer(f(best)))
    if not math.isfinite(epsilon):
        raise PrecisionError(f"{echo(m)}: found {epsilon} by float64, needed a number")
    return epsilon


# --- a target (ε, δ)

#: A parameter is found to at most this many significant digits where those asked for take long.
_FEW_DIGITS = 3


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
        """Return the calibration stated for `adjacency`, which m leaves open."""
        return replace(self, guarantee=self.guarantee.under(adjacency))

    def __str__(self) -> str:
        return f"{self.symbol} = {self.values}\n  {self.guarantee}"

    def __repr__(self) -> str:
        what = filter(None, (shortened(repr(self.node)), sensitivity(self.node)))
        return f"Calibration: {self}\n  of: {', '.join(what)}"

    @property
    def kind(self) -> Kind:
        """The kind is exact where the true ε decided, else upper: another proof may do better."""
        return self.guarantee.kind

    def _repr_html_(self) -> str:
        """Lay both values of the parameter and the guarantee in a card for a notebook."""
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
    decimals that differ by one unit of the last of `digits` significant digits (of more digits
    next to a value at which m does not exist, as p = 1), or adjacent whole numbers if the symbol is
    an integer or a count of runs. `epsilon` is in nats. `delta`,
    `conversion`, `orders` and `by` are those of `Node.epsilon`: by default the value is the best
    that is proved in `limits(seconds=…)`, to fewer digits where all of them take longer, and a
    conversion that is named runs to its end. Raises DomainError if no such values are found or if m
    has not exactly one free symbol, and PrecisionError if an ε cannot be told from the target.

    >>> import sympy
    >>> from symacct import Gaussian, calibrate
    >>> print(calibrate(Gaussian(sympy.Symbol("sigma")), epsilon=1, delta="1e-5", digits=3).meets)
    187/50
    """
    digits, m = parameters.digits(digits), as_node(m, "calibrate")
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise DomainError("calibrate: found rho with epsilon or delta, needed one target")
        return calibrate_risk(m, rho=rho, digits=digits)
    if epsilon is None or delta is None:
        raise DomainError("calibrate: needed a target, epsilon and delta, or rho alone")
    conversion = pinned_conversion(conversion, orders, by)

    def ask(conversion: str, digits: int = digits) -> Calibration:
        how = {"conversion": conversion, "orders": parameters.orders(orders), "by": by}
        question = m, epsilon, delta, digits, how
        return _calibrate(Target(*question), _Steered(*question), digits)

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
            is_below_orders=lambda calibration: (
                calibration.guarantee.needs_no_order and calibration.guarantee.optimal
            ),
            shown=lambda calibration: f"{calibration.symbol} = {number(calibration.meets)}",
        )
    )
    guarantee = replace(choice.answer.guarantee, is_best=True, not_exact=choice.not_exact)
    if not choice.in_time:
        guarantee = noted(guarantee, may_be_smaller(guarantee))
    return replace(choice.answer, guarantee=guarantee)


def _calibrate(target: Target, steered: _Steered, digits: int) -> Calibration:
    """Find the two values by one conversion.

    The digits are looked for by a cheaper ε first. What it finds counts if it is proved.
    """
    ends = None
    with contextlib.suppress(SymacctError):  # float64 does not see the threshold
        low, high = neighbours(steered, digits)
        ends = (low, high) if target.met(low) is not target.met(high) else None
    low, high = ends or neighbours(target, digits)
    meets, fails = (low, high) if target.met(low) else (high, low)
    return Calibration(target.symbol.name, meets, fails, *target.guarantees[meets])


def _against(exact: Calibration, by_orders: Calibration | None) -> str:
    """Say why the value by the exact profile is not the best one; empty where it is."""
    why = against(exact.guarantee, None)
    if why or by_orders is None:
        return why
    if _is_better(by_orders, exact):
        return f"the dominating pair gives no better than {number(exact.meets)}"
    return ""


def _is_better(new: Calibration, than: Calibration) -> bool:
    """Does `new` need less noise than `than`, or allow a larger rate or count?

    Which of the two a symbol is shows in `meets` > `fails`: more of it helps.
    """
    less = than.meets - new.meets
    return less != 0 and (less > 0) == (new.meets > new.fails)


class _Steered(Target):
    """A target that `steered_epsilon` judges, which proves nothing and raises its errors."""

    def _met(self, value: Fraction, digits: int) -> bool:
        """Is ε at a value of the parameter estimated to be within the target? It steers."""
        epsilon = steered_epsilon(self.m.subs({self.symbol: value}), self.delta, **self.how)
        self.remember(value, epsilon)
        return epsilon <= self.epsilon
