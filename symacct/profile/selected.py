"""The best of a random number K of runs has a profile between bounds by that of one run.

f(x) = E[x^K] is what the law of K says. Shifts and falls are in nats; bounds are fractions, rounded
to their safe side.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from symacct.kernel import deadline
from symacct.kernel.answer import first_bits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, precision, rational
from symacct.kernel.claims import Kind
from symacct.kernel.errors import InfiniteError, LimitError, PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.halving import golden_least, halved
from symacct.laws.families import Binomial, Poisson, TruncatedNegativeBinomial, log_of_rate
from symacct.operations.repeat import RepeatAndSelect, Runs
from symacct.profile.answer import Profile, ProfileAnswer, directions_of, profile, steered
from symacct.profile.envelopes import are_fractions
from symacct.profile.hulls import FractionMasses, at_smallest, pair_above, pair_below
from symacct.profile.losses.finite import Atoms
from symacct.profile.pairs import BoundedPair, Pair, Product
from symacct.profile.part import Floats
from symacct.profile.proofs import BEST_OF_RUNS
from symacct.profile.solve import CompositionProfile
from symacct.theory.amplification.ps22 import log_mean

# --- selections
#
# What the best of a random number of runs tells at least: where the outputs are best in one order.
#
# The outcomes of large loss are the worst, from some loss on and by rising loss; then come the
# others. Of few outcomes all orders are tried. What is told is rounded to fractions so that its
# profile falls (docs/proofs/selection.md, Lemma ordered-outputs).

#: Chances of outcomes are worked out at 192 bits, and values of a profile at 64. Of fewer the pair
#: is wider; it is sound for any.
_BITS, _KNOWN_BITS = 192, 64
#: Each mass is lowered by 2^{−64} of it, so that what rounding adds elsewhere has room. The pair
#: stays proved for any share below 1; one that is too near to 1 may leave no pair.
_SHARE_KEPT = 1 - Fraction(1, 2**64)
#: Finite laws of so many outcomes at most are taken as they are. Of more a pair of rounded places
#: takes their part, which costs less time and is a bound.
_MOST_OUTCOMES = 512
#: Other laws are made of H at so many places on either side of 0, to 10 digits. The last one is
#: found to 2. More places make the bound nearer.
_PLACES, _FEW_DIGITS, _DIGITS = 160, 2, 10
#: The last place is ε at the first of these δ that the profile gives. The pair is a bound wherever
#: it ends.
_LAST_DELTAS = tuple(Fraction(1, 2**bits) for bits in (66, 40, 26, 20))
#: No place is beyond this loss in nats, whose e^ε is a float. The pair is a bound wherever it ends.
_FARTHEST = 700.0
#: Up to so many outcomes have all their orders tried; of more, so many orders are tried at once.
#: Each order gives a proved bound: more take longer, and one may be smaller.
_OUTCOMES_IN_ALL_ORDERS, _ORDERS_AT_ONCE = 5, 32
#: An order is chosen for this δ where no question is known. It steers: every order gives a bound.
_USUAL_DELTA = Fraction(1, 10**6)


@dataclass(frozen=True)
class Selection:
    """A selection has two laws of one run, the outcomes by rising p/q, and the law of the count K.

    It is `turned` where p is the second law of the pair; `records` as in `Product`.
    """

    masses: tuple[tuple[Exact, Exact], ...]
    runs: Runs
    records: tuple[int, int] | None = None
    turned: bool = False

    def best(self, asks_epsilon: bool, given: Fraction) -> Product:
        """Order the outputs so that ε(δ) or δ(ε) is about the largest, and return the output pair.

        Of few outcomes all orders are tried; of more the worst begin at some loss, which is
        searched. The order is a choice of float64: the pair is a lower bound in any order.
        """

        def about(order: Sequence[int]) -> float:
            return self._about(order, asks_epsilon, float(given))

        size = len(self.masses)
        if size <= _OUTCOMES_IN_ALL_ORDERS:
            return self.output_pair(max(itertools.permutations(range(size)), key=about))
        low, high = 0, size
        while True:
            deadline.check()
            step = max(1, (high - low) // _ORDERS_AT_ONCE)
            first_worst = max(range(low, high, step), key=lambda first: about(self._order(first)))
            if step == 1:
                return self.output_pair(self._order(first_worst))
            low, high = max(0, first_worst - step), min(size, first_worst + step + 1)

    def output_pair(self, order: Sequence[int]) -> Product:
        """Make a pair below that of the best output's two laws, the outcomes from the worst on.

        Its masses are rounded to fractions, or it has no run where rounding hides what they tell.
        """
        with precision(_BITS):
            laws = ([BALL.number(masses[i]) for masses in self.masses] for i in (0, 1))
            p, q = (self._law(law, order) for law in laws)
            masses = rounded_below(zip(p, q, strict=True))
        if self.turned:
            masses = tuple((q, p) for p, q in masses)
        runs = ((Atoms(masses), 1),) if masses else ()
        return Pair(runs, records=self.records)

    def _law(self, law: list[arb], order: Sequence[int]) -> list[arb]:
        """Compute each outcome's chance to be the best of the runs; the best is last in `order`."""
        chances, better = [arb(0)] * len(law), arb(0)
        for i in reversed(order):
            chances[i] = gain(BALL, BALL.number, self.runs, better, law[i])
            better += law[i]
        return chances

    def _order(self, first: int) -> list[int]:
        """Order the outcomes: from the `first` on as they are, then those before it, backwards."""
        return [*range(first, len(self.masses)), *reversed(range(first))]

    @cached_property
    def _floats(self) -> tuple[Floats, Floats]:
        """Both laws in float64."""
        p, q = np.array([(float(p), float(q)) for p, q in self.masses]).T
        return p, q

    @np.errstate(all="ignore")
    def _about(self, order: Sequence[int], asks_epsilon: bool, given: float) -> float:
        """Estimate ε(δ) or δ(ε) in float64 by the events of the largest ratios."""
        output_laws = []
        for law in self._floats:
            share = law[list(order)]
            better = np.append(np.cumsum(share[::-1])[::-1][1:], 0.0)
            output_laws.append(gain(np, _float, self.runs, better, share))
        p, q = output_laws
        by_ratio = np.argsort(-p / q)
        p, q = np.cumsum(p[by_ratio]), np.cumsum(q[by_ratio])
        values = np.log((p - given) / q) if asks_epsilon else p - math.exp(given) * q
        return float(np.max(np.nan_to_num(values, nan=-math.inf)))


def _float(x: Fraction) -> float:
    """Round a fraction to float64, to ∞ where it is above all floats."""
    try:
        return float(x)
    except OverflowError:
        return math.inf


def gain(lib: Any, number: Any, runs: Runs, better: Any, share: Any) -> Any:
    """Compute f(1 − better) − f(1 − better − share), f(x) = E[x^K]: the chance to be the best.

    `share` is an outcome's chance in one run, `better` that of those better than it. `lib` has the
    functions and `number` makes the numbers of an arithmetic: balls or float64.
    """
    if isinstance(runs, Poisson):
        rate = number(runs.rate)
        return lib.exp(-rate * better) * -lib.expm1(-rate * share)
    if isinstance(runs, Binomial):
        n, theta = number(runs.n), number(runs.theta)
        fall = lib.log1p(-theta * share / (1 - theta * better))
        return lib.exp(n * lib.log1p(-theta * better)) * -lib.expm1(n * fall)
    gamma, rest = number(runs.gamma), number(1 - runs.gamma)
    last = gamma + rest * better
    rise, most = lib.log1p(rest * share / last), -lib.log(gamma)
    if runs.eta == 0:
        return rise / most
    eta = number(runs.eta)
    return lib.exp(-eta * lib.log(last)) * -lib.expm1(-eta * rise) / lib.expm1(eta * most)


def selections(products: Iterable[Product], runs: Runs) -> list[Selection]:
    """Make the selections of one run's products, both ways unless a symmetry swaps them.

    A product without runs, or whose profile is refused, has none.
    """
    selections_ = []
    for product in products:
        with suppress(PrecisionError, LimitError, InfiniteError):
            masses = sorted(_laws(product), key=_ratio)
            if not masses:
                continue
            selections_.append(Selection(tuple(masses), runs, product.records))
            if not product.is_symmetric:
                turned = tuple((q, p) for p, q in reversed(masses))
                selections_.append(Selection(turned, runs, product.records, True))
    return selections_


def usual(products: Iterable[Product], runs: Runs) -> list[Product]:
    """Return the output pairs in the orders that are about the best for a usual δ."""
    return [selection.best(True, _USUAL_DELTA) for selection in selections(products, runs)]


def _ratio(masses: tuple[Exact, Exact]) -> Fraction | float:
    """Return p/q to sort by: a fraction, or a float; ∞ for q = 0."""
    p, q = masses
    ratio = math.inf if q == 0 else p / q
    return ratio if isinstance(ratio, Fraction) else float(ratio)


def _laws(product: Product) -> Sequence[tuple[Exact, Exact]]:
    """Return the laws of few outcomes, or else a finite pair below the product's; () of no run."""
    parts = [(atoms, count) for part, count in product.runs if (atoms := part.finite) is not None]
    if not product.runs:
        return ()
    if len(parts) == len(product.runs):
        few = math.prod(part.outcomes(count) for part, count in parts) <= _MOST_OUTCOMES
        if few and sum(n for _, n in parts) == 1 and len(parts[0][0].masses) <= _MOST_OUTCOMES:
            return _outcomes(parts[0][0])
        if few and are_fractions(atoms.laws for atoms, _ in parts):
            return Atoms.joint(parts).laws
    return _quantized(product)


def _outcomes(part: Atoms) -> Sequence[tuple[Exact, Exact]]:
    """List all outcomes apart: of equal likelihood ratios one may be better than another."""
    mixed = (((1 - part.gamma) * q + part.gamma * p, q) for p, q in part.masses)
    return [(p, q) for p, q in mixed if p != 0 or q != 0]


def _quantized(product: Product) -> FractionMasses:
    """Make a finite pair whose profile is at most the product's, in both directions."""
    ways = [
        CompositionProfile(product.runs, way) for way in (False, True)[: 2 - product.is_symmetric]
    ]
    forward, back = [_known(way) for way in (ways * 2)[:2]]
    turned = [(1 / x, 1 - (1 - low) / x, 1 - (1 - high) / x) for x, low, high in back if x != 1]
    return pair_below([*turned, *forward])


def _known(way: CompositionProfile) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Enclose H at some x = e^ε >= 1: triples of x, a lower bound and an upper bound."""
    with precision(_KNOWN_BITS):
        last = _last_place(way)
        enclosures = []
        # Of a tiny loss some places are one float.
        for x in sorted({Fraction(math.exp(last * i / _PLACES)) for i in range(_PLACES + 1)}):
            h = way.delta(lambda x=x: ball(x).log(), _DIGITS)  # type: ignore[misc]
            enclosures.append((x, rational(h.lower()), rational(h.upper())))
        return enclosures


def _last_place(way: CompositionProfile) -> float:
    """Estimate the largest loss worth a place, in nats: ε at the smallest δ that has one."""
    epsilon = at_smallest(lambda delta: float(way.epsilon(delta, _FEW_DIGITS).mid()), _LAST_DELTAS)
    return min(_FARTHEST, epsilon)


def rounded_below(output_laws: Iterable[tuple[arb, arb]]) -> FractionMasses:
    """Round two laws to fractions, so that their profile falls at every ε in both directions.

    Where p > q the first is rounded downwards and the second upwards, where p < q the other way;
    what both then have left is one outcome. () where no outcome tells anything, or rounding leaves
    no two laws.
    """
    up, down = [], []
    for p, q in output_laws:
        if p > q:
            up.append([_SHARE_KEPT * rational(p.lower()), _SHARE_KEPT * rational(q.upper())])
        elif p < q:
            down.append([_SHARE_KEPT * rational(p.upper()), _SHARE_KEPT * rational(q.lower())])
    if not up or not down:
        return ()
    total = [sum((masses[i] for masses in (*up, *down)), Fraction(0)) for i in (0, 1)]
    more = total[0] - total[1]
    if more > 0:
        max(up, key=_apart)[1] += more
    else:
        max(down, key=_apart)[0] -= more
    rest = 1 - max(total)
    is_valid = all(a >= b for a, b in up) and all(a <= b for a, b in down) and rest >= 0
    return tuple((a, b) for a, b in (*up, *down, [rest, rest])) if is_valid else ()


def _apart(masses: list[Fraction]) -> Fraction:
    """Return |p − q|."""
    return abs(masses[0] - masses[1])


# --- bounds of the best run
#
# The profile of the best of a random number of runs, from that of one run.
#
# With f(x) = E[x^K] and c at most f′(x′)/f′(x) for the chances x, x′ of one event under two
# neighbours, H_a of the best is at most f′(1) H_{ac} of one run (docs/proofs/selection.md, Lemma
# selected-profile).

# A bound is sound whatever these are; they say how near the best one is found.
#: Shifts are worked out at this many bits. Of fewer a bound is wider.
_BEST_BITS = 64
#: A bracket of the least ratio is halved so often at most, and then so often more, to be nearer.
#: More take longer.
_HALVINGS, _MORE_HALVINGS = 200, 16
#: Events of probability below e^{−fall} of one K are left out, for one of these falls in nats. Each
#: gives a bound, of which the least is taken.
_FALLS = tuple(map(Fraction, (7, 14, 28, 56, 84)))
#: The best fall is at most so many nats, and is found by so many halvings. More take longer.
_MOST_FALL, _HALVINGS_OF_FALL = 200, 10

#: Encloses δ(ε) of one run, at an ε >= 0.
Delta = Callable[[Fraction], arb]


@dataclass(frozen=True)
class ShiftedBound:
    """A shifted bound is δ(ε) <= E[K] δ₁(ε − shift) + left for every ε, δ₁ that of one run."""

    shift: Fraction
    left: Fraction = Fraction(0)


def mean(runs: Runs) -> arb:
    """Compute E[K] = f′(1)."""
    if isinstance(runs, TruncatedNegativeBinomial):
        value: arb = log_mean(BALL, runs).exp()
    else:
        value = BALL.number(runs.rate if isinstance(runs, Poisson) else runs.n * runs.theta)
    return value


def falls(runs: Runs) -> arb:
    """Compute log f(1)/f(0) = −log P[K = 0] of the number K of runs; ∞ where K is never 0."""
    if isinstance(runs, TruncatedNegativeBinomial):
        return arb("inf")
    if isinstance(runs, Poisson):
        return BALL.number(runs.rate)
    value: arb = BALL.number(-runs.n) * log_of_rate(BALL, 1 - runs.theta)
    return value


def share(runs: Runs, delta: Fraction) -> Fraction:
    """Round δ/E[K] down to a fraction: the δ₁ of one run that is asked for; below 0 for a δ < 0."""
    return rational((ball(delta) / mean(runs)).lower())


def for_delta(runs: Runs, delta: Delta, most: Fraction) -> Iterator[ShiftedBound]:
    """Yield bounds, any of which may give the least ε where δ is to be at most `most`."""
    with precision(_BEST_BITS):
        yield _of_any(runs, delta)
        if not isinstance(runs, TruncatedNegativeBinomial) and most:
            fall = _above((2 / ball(most)).log())
            if ball(fall) < falls(runs):
                yield ShiftedBound(_of_most(runs, delta, fall), most / 2)


def for_epsilon(runs: Runs, delta: Delta, epsilon: Fraction) -> Iterator[ShiftedBound]:
    """Yield bounds, any of which may give the least δ at this ε."""
    with precision(_BEST_BITS):
        yield _of_any(runs, delta)
        if not isinstance(runs, TruncatedNegativeBinomial):
            yield from _balanced(runs, delta, epsilon)


def for_all(runs: Runs, delta: Delta) -> Iterator[ShiftedBound]:
    """Yield bounds, of which any may be the smallest, whatever ε is."""
    with precision(_BEST_BITS):
        yield _of_any(runs, delta)
        if not isinstance(runs, TruncatedNegativeBinomial):
            for fall in _FALLS:
                if ball(fall) < falls(runs):
                    yield ShiftedBound(_of_most(runs, delta, fall), _above((-ball(fall)).exp()))


def _of_any(runs: Runs, delta: Delta) -> ShiftedBound:
    """Shift by log of about the smallest c that bounds all events, so that nothing is left out."""
    if isinstance(runs, Poisson):
        return ShiftedBound(_above(BALL.number(runs.rate) * delta(Fraction(0))))
    if isinstance(runs, TruncatedNegativeBinomial):
        power, gamma = runs.eta + 1, runs.gamma
    else:
        power, gamma = runs.n - 1, 1 - runs.theta
    shift = BALL.number(power) * ball(_log_ratio(gamma, delta)) if power else arb(0)
    return ShiftedBound(_above(shift))


# Proved in docs/proofs/selection.md, Lemmas poisson-shift and binomial-shift.
def _of_most(runs: Poisson | Binomial, delta: Delta, fall: Fraction) -> Fraction:
    """Bound log f′(x)/f′(x′) over the events with f(x) >= e^{−fall}."""
    if isinstance(runs, Poisson):
        rate = BALL.number(runs.rate)
        return _above(rate * _gap(delta, ball(fall) / rate))
    n, theta = BALL.number(runs.n), BALL.number(runs.theta)
    y = -(-ball(fall) / n).expm1() / theta
    gap = _gap(delta, y)
    y = y.min(1 - gap)  # y′ is at most 1
    return _above((n - 1) * (theta * gap / (1 - theta * (y + gap))).log1p())


def _balanced(runs: Poisson | Binomial, delta: Delta, epsilon: Fraction) -> Iterator[ShiftedBound]:
    """Yield bounds whose fall nears that at which both terms of δ are about equal.

    What is left out falls with it, and what the rest has rises.
    """
    rate = mean(runs)
    low, high = Fraction(0), min(Fraction(_MOST_FALL), rational(falls(runs).lower()))
    for _ in range(_HALVINGS_OF_FALL):
        fall = (low + high) / 2
        part = ShiftedBound(_of_most(runs, delta, fall), _above((-ball(fall)).exp()))
        rest = epsilon - part.shift
        exceeds_left_out = rest < 0 or bool(rate * delta(rest) > ball(part.left))
        low, high = (low, fall) if exceeds_left_out else (fall, high)
        if not exceeds_left_out:
            yield part


# Proved in docs/proofs/selection.md, Lemma negative-binomial-shift.
def _log_ratio(gamma: Fraction, delta: Delta) -> Fraction:
    """Search log R of about the smallest R > 1 with H_R <= (R−1)γ/(1−γ): any such R is a bound.

    H is that of one run. R = 1/γ is one without a question, and a value that is refused is none.
    """
    odds = BALL.number(gamma) / BALL.number(1 - gamma)

    def is_bound(log_ratio: Fraction) -> bool:
        with suppress(PrecisionError, LimitError):
            return bool(delta(log_ratio) <= odds * ball(log_ratio).expm1())
        return False

    high = _above(-log_of_rate(BALL, gamma))  # H_R is at most 1, the right side of this R
    low = Fraction(0)
    for _ in range(_HALVINGS):
        if not is_bound(high / 2):
            low = high / 2
            break
        high /= 2
    return halved(low, high, lambda log_ratio: not is_bound(log_ratio), _MORE_HALVINGS)[1]


def _gap(delta: Delta, most: arb) -> arb:
    """Bound y′ − y for the chances y <= `most` and y′ of one event: by (R−1)y + H_R for any R.

    R is looked for by golden sections; the least bound that was met is taken. 0 < `most` < 1.
    """

    def at(log_ratio: float) -> arb:
        return (most * arb(log_ratio).expm1() + delta(Fraction(log_ratio))).upper()

    _, least = golden_least(0.0, float(-most.log()), at, _MORE_HALVINGS)
    return arb(1).min(least)


def _above(x: arb) -> Fraction:
    """Round a ball up to a fraction."""
    return rational(x.upper())


# --- the profile of the best
#
# What the best of several runs costs at most, by the profile of one run.

#: A pair that dominates the best of runs is made of δ(ε) at so many places, at so many bits. More
#: places make it a nearer bound.
_PAIR_BITS, _PAIR_PLACES = 96, 192
#: The last place of the pair is the ε of one run at the first of these δ, over E[K], that the
#: profile gives. The pair is a bound wherever it ends.
_LAST_PAIR_DELTAS = tuple(Fraction(1, 2**bits) for bits in (100, 50, 33, 20))


class BestOfRuns(Profile):
    """The profile of the best of a random number K of runs is bounded by that of one run.

    It is of kind UPPER, and the Rényi curve may know less or more.
    """

    def __init__(self, node: RepeatAndSelect) -> None:
        self.may_exceed_curve, self.smoothed, self.has_fixed_pair = True, None, True
        self.run_profile, self.runs = profile(node.mechanism), node.runs
        self.claim = replace(self.run_profile.claim, kind=Kind.UPPER).by(BEST_OF_RUNS)

    @cached_property
    def pair(self) -> Atoms:
        """Make a finite pair that dominates the two laws of the best output, in both directions."""
        with precision(_PAIR_BITS):
            return Atoms(pair_above(self._bounds()))

    @cached_property
    def directions(self) -> list[CompositionProfile]:
        """The one direction of the pair, which exchanging its laws leaves alone."""
        return directions_of([BoundedPair.of(self.pair, Kind.UPPER)])

    @property
    def tests(self) -> list[CompositionProfile]:
        """The pair's direction: its tests are at least as good as any of the mechanism's."""
        return self.directions

    def _bounds(self) -> Iterator[tuple[Fraction, Fraction]]:
        """Bound δ of the best of runs at some ε >= 0, as pairs (e^ε, δ), both rounded up.

        Places of one run lie on either side of 0, before they are shifted.
        """
        runs_expected = mean(self.runs)
        parts = list(for_all(self.runs, self._run_delta))
        for place in self._places():
            delta_there = self._run_delta(place)
            exchanged = ball(-place).exp() * delta_there - ball(-place).expm1()
            for part, (at, run_delta) in itertools.product(
                parts, [(place, delta_there), (-place, exchanged)]
            ):
                if (shifted := at + part.shift) >= 0:
                    delta = (runs_expected * run_delta + ball(part.left)).upper()
                    yield rational(ball(shifted).exp().upper()), rational(delta)

    def _places(self) -> list[Fraction]:
        """List the ε at which one run is asked: any are sound, and more bring the pair nearer."""
        largest = BALL.maximum(*(way.runs.largest for way in self.run_profile.directions))
        ends = [rational(largest.upper())] if largest.is_finite() else []

        def run_epsilon(delta: Fraction) -> Fraction:
            delta_of_run = share(self.runs, delta)
            return rational(self.run_profile.answer(True, delta_of_run, _FEW_DIGITS)[0].upper())

        with suppress(PrecisionError, LimitError, InfiniteError):
            last = at_smallest(run_epsilon, _LAST_PAIR_DELTAS)
            return [*(last * i / _PAIR_PLACES for i in range(_PAIR_PLACES + 1)), *ends]
        return [Fraction(0), *ends]

    def _run_delta(self, epsilon: Fraction) -> arb:
        """Enclose δ of one run at ε >= 0, to 2 digits."""
        return self.run_profile.answer(False, epsilon, _FEW_DIGITS)[0]

    @steered
    def answer(self, asks_epsilon: bool, given: Fraction, digits: int) -> ProfileAnswer:
        """Answer by the smallest of the bounds that the number of runs allows at this question."""
        of, ask = (for_delta, self._epsilon_by) if asks_epsilon else (for_epsilon, self._delta_by)
        with precision(first_bits(digits)):
            parts = of(self.runs, self._run_delta, given)
            return min((ask(part, given, digits) for part in parts), key=lambda x: float(x[0]))

    def _epsilon_by(self, part: ShiftedBound, given: Fraction, digits: int) -> ProfileAnswer:
        """Bound ε(δ) by ε₁((δ − left)/E[K]) + shift, ε₁ that of one run; 0 where δ(0) <= δ."""
        at_0 = self._delta_by(part, Fraction(0), _FEW_DIGITS)
        if at_0.value <= ball(given):
            return at_0._replace(value=arb(0))
        delta_of_run = share(self.runs, given - part.left)
        answer = self.run_profile.answer(True, delta_of_run, digits)
        return answer._replace(value=answer.value + ball(part.shift))

    def _delta_by(self, part: ShiftedBound, given: Fraction, digits: int) -> ProfileAnswer:
        """Bound δ(ε) by one shifted bound: E[K] δ₁(ε − shift) + left, at most 1."""
        left = given - part.shift
        answer = self.run_profile.answer(False, abs(left), digits)
        value = answer.value
        if left < 0:  # of the pairs exchanged
            value = ball(left).exp() * value - ball(left).expm1()
        value = mean(self.runs) * value + ball(part.left)
        return answer._replace(value=value.min(arb(1)))
