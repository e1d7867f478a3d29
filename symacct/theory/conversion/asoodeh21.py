"""Asoodeh, Liao, Calmon, Kosut, Sankar 2021: all that one order says about (ε, δ).

The set {P > e^ε Q} is a binary statistic that keeps δ and does not raise D_α, so among all pairs
with D_α <= ρ two-point ones are the worst. With v = p − δ and q = v e^{−ε} the least moment is
min_v H(v), H = p^α q^{1−α} + (1−p)^α (1−q)^{1−α}, and (ε, δ) holds for every pair with D_α <= ρ
if and only if it is >= e^{(α−1)ρ}. It grows with ε and with δ, so one unknown is solved for.

H is convex in v. Floats and Newton steps find a candidate; balls prove it: the tangent at the
candidate bounds min H from below, any value of H bounds it from above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL, Arithmetic
from symacct.kernel.arithmetic.ball import precision, up_to, within
from symacct.kernel.conversion import Conversion, state
from symacct.kernel.errors import PrecisionError
from symacct.kernel.memory import cached_property
from symacct.kernel.sources import ALCKS21
from symacct.theory.conversion import bbghs20


@dataclass(frozen=True)
class ConversionSearch:
    """How the x of a conversion is looked for; no proof of a candidate rests on it."""

    #: Bits to which floats find where Newton steps start: the given end itself first, which is
    #: mostly near, then nearer.
    starts: tuple[int, ...] = (0, 6, 30)
    #: Steps of a bisection, or of chords, in float64, whose 53 bits take no more.
    float_steps: int = 80
    #: Relative width at which chords in float64 end, a few units above its last bit.
    float_width: float = 2.0**-44
    #: Newton steps for x, each of which doubles the digits, from few and from a bad start.
    newton_steps: int = 30
    #: Newton steps for the minimum's place, which starts from what floats find.
    polishing_steps: int = 6
    #: Times that the width about a candidate is made four times as large, and sixteen times at the
    #: end where the worst law is on one answer, until an enclosure is proved.
    widenings: int = 48
    end_widenings: int = 8
    #: The largest of the numbers that floats start from: beyond it float64 has no digits behind 1.
    largest: float = 1e15
    #: (|power| + 1)·|u| below which a power of 1 + u is so nearly linear that the rest cancels.
    linear: float = 2.0**-8


#: The numbers of the search, which no proof rests on.
_SEARCH = ConversionSearch()
#: An answer of which nothing is known, because bits are missing.
_UNKNOWN = arb(0, "inf")


def epsilon(ctx: Arithmetic, eps: arb, alpha: arb, delta: arb) -> arb:
    """The least ε >= 0 such that D_α <= ε(α) implies (ε, δ)-DP, in certified balls.

    It is never above the improved conversion's. A wide ball says that bits are missing;
    PrecisionError for numbers beyond the floats that find a candidate.
    """
    if eps == 0:  # the two laws are one
        return arb(0)
    most: arb = bbghs20.epsilon(ctx, eps, alpha, delta)
    if not most.is_finite():
        return most
    if most <= 0:
        return arb(0)
    if alpha * delta >= 1:
        # The worst first law is on one answer: q^{1−α} = e^{(α−1)ρ} with q = (1−δ)e^{−ε}.
        return (eps + (-delta).log1p()).max(arb(0))
    problem = Problem(alpha, (alpha - 1) * eps, lambda x: TwoPointPairs(alpha, x, delta))
    problem.refuse_extremes(-delta.log())
    if problem.is_enough(arb(0)):
        return arb(0)
    enclosure = problem.solve_at_end(eps + (-delta).log1p()) or problem.solve(most, arb(0))
    return up_to(most) if enclosure is None else enclosure.max(arb(0)).min(most)


def log_delta(ctx: Arithmetic, eps: arb, alpha: arb, epsilon: arb) -> arb:
    """The least log δ such that D_α <= ε(α) implies (ε, δ)-DP, in certified balls.

    −∞ for ε(α) = 0; never above the improved conversion's. A wide ball says that bits are missing;
    PrecisionError for numbers beyond the floats that find a candidate.
    """
    if eps == 0:  # the two laws are one, and δ = 0
        return arb("-inf")
    most: arb = bbghs20.log_delta(ctx, eps, alpha, epsilon)
    if not most.is_finite():
        return most
    if not eps > 0:
        return _UNKNOWN
    single = -(epsilon - eps).expm1()  # δ where the worst first law is on one answer
    if alpha * single >= 1:
        return single.log().min(most)
    problem = Problem(alpha, (alpha - 1) * eps, lambda x: TwoPointPairs(alpha, epsilon, x.exp()))
    problem.refuse_extremes(-most)
    # From δ = 1/α on the worst law is on one answer, so the δ sought is smaller.
    ceiling = most.min(-alpha.log())
    enclosure = problem.solve_at_end(single.log()) or problem.solve(ceiling, None)
    return _UNKNOWN if enclosure is None else enclosure.min(most)


state(
    Conversion(
        name="optimal",
        source=ALCKS21.at("the exact conversion of one order"),
        epsilon=epsilon,
        log_delta=log_delta,
        one_valley=False,
        improves_on="improved",
        at_one="total-variation",
        status="proved",
    )
)


@dataclass(frozen=True)
class TwoPointPairs:
    """The two-point pairs (p, 1−p), (q, 1−q) with p − e^ε q = δ, by v = p − δ; αδ < 1."""

    alpha: arb
    epsilon: arb
    delta: arb

    def excess(self, v: arb) -> arb:
        """H(v) − 1."""
        q, up, down = self.gaps(v)
        return q * power_gap(self.alpha, up) + (1 - q) * power_gap(self.alpha, down)

    def gaps(self, v: arb) -> tuple[arb, arb, arb]:
        """q, p/q − 1 and (1−p)/(1−q) − 1, of which both are small where the laws are near."""
        growth, fall, share = self._powers
        q = v * fall
        return q, (self.delta / v + share) * growth, -(self.delta + share * v) / (1 - q)

    @cached_property
    def _powers(self) -> tuple[arb, arb, arb]:
        """e^ε, e^{−ε} and 1 − e^{−ε}, at the precision that the pairs are made at."""
        return self.epsilon.exp(), (-self.epsilon).exp(), -(-self.epsilon).expm1()

    def slope(self, v: arb) -> arb:
        """H′(v), by what H′ is without powers: nothing cancels where p/q is large, or near 1.

        It is as small as α − 1 where that is small, and so is its radius.
        """
        _, up, down = self.gaps(v)
        lam, share = self.alpha - 1, self._powers[2]
        if up > 1 and lam < 1:
            near = (1 + up) ** lam * self.delta / v
            far = (1 + down) ** lam * (share - (1 - share) * down)
            return self._rise(lam, up, down) - lam * (near + far)
        if up > 1:
            near = (1 + up) ** lam * (1 - lam * self.delta / v)
            return near - (1 + down) ** lam * (1 + lam * (share - (1 - share) * down))
        bent = [self.alpha * power_gap(lam, u) - lam * power_gap(self.alpha, u) for u in (up, down)]
        return bent[0] - bent[1] + lam * share * self._rise(self.alpha, up, down)

    def newton_step(self, v: arb) -> arb:
        """H′(v)/H″(v), of which H″ = α(α−1)(x^{α−2}(1−sx)²/q + y^{α−2}(1−sy)²/(1−q)) >= 0."""
        q, up, down = self.gaps(v)
        lam, share = self.alpha - 1, self._powers[2]
        x, y = 1 + up, 1 + down
        bend = x ** (lam - 1) * (self.delta / v) ** 2 / q
        bend += y ** (lam - 1) * (share - (1 - share) * down) ** 2 / (1 - q)
        return self.slope(v) / (self.alpha * lam * bend)

    def per_epsilon(self, v: arb) -> arb:
        """∂H/∂ε at fixed v."""
        q, up, down = self.gaps(v)
        return (self.alpha - 1) * q * self._rise(self.alpha, up, down)

    def per_log_delta(self, v: arb) -> arb:
        """∂H/∂log δ at fixed v."""
        _, up, down = self.gaps(v)
        return self.delta * self.alpha * self._rise(self.alpha - 1, up, down)

    @staticmethod
    def _rise(power: arb, up: arb, down: arb) -> arb:
        """(1+up)^power − (1+down)^power."""
        return (power * up.log1p()).expm1() - (power * down.log1p()).expm1()

    def least_excess(self, v: arb) -> arb | None:
        """A lower bound of min H − 1 from the tangent at v; None if v is not near the minimum.

        The nearer the minimum is known to be, the better: where p is close to 1 the curvature has
        no bound, and an eighth of v is too far to go along a tangent.
        """
        slope = self.slope(v)
        for reach in (4 * abs(self.newton_step(v)), v / 8):
            if reach.is_finite() and self._holds_minimum(v - reach, v + reach):
                return self.excess(v) - abs(slope) * reach
        return None

    def least_at_end(self) -> arb | None:
        """A lower bound of min H − 1 where p is all but 1 at the minimum; None if it is not.

        H′ < 0 until shortly before the end v = 1 − δ, and from there on H is at least its first
        part, which is convex and so above its tangent at p = 1.
        """
        end = 1 - self.delta
        rest = end * arb(2) ** -(BALL.bits // 2)
        if not self.slope(end - rest) < 0:
            return None
        lam, log_q = self.alpha - 1, end.log() - self.epsilon
        tangent = (-lam * log_q).exp() * (1 - lam * self.delta / end)
        return (-lam * log_q).expm1() - abs(tangent) * rest

    def _holds_minimum(self, left: arb, right: arb) -> bool:
        """Is the minimum proved to lie between them? p = 1 at v = 1 − δ, where v ends."""
        if not left > 0 or not self.slope(left) < 0:
            return False
        return bool(right >= 1 - self.delta or self.slope(right) > 0)


@dataclass(frozen=True)
class Problem:
    """The least x with min_v H >= e^target for the pairs `at(x)`; x is ε, or log δ."""

    alpha: arb
    target: arb
    at: Callable[[arb], TwoPointPairs]

    def refuse_extremes(self, log_delta: arb) -> None:
        """PrecisionError where α − 1, the target or −log δ is beyond what floats search with."""
        for number in (self.alpha - 1, self.target, log_delta):
            _in_range(number)

    def is_enough(self, x: arb) -> bool:
        """Is min H >= e^target proved at x? False also where it is not decided."""
        pair, goal = self.at(x), self.target.expm1()
        # A value below the goal says that the minimum is: any place may do, and then the best one.
        if pair.excess((1 - pair.delta) / 2) < goal or pair.excess(v := float_argmin(pair)) < goal:
            return False
        excess = pair.least_excess(newton_refined(pair, v))
        return excess is not None and bool(excess >= goal)

    def solve(self, most: arb, lower: arb | None) -> arb | None:
        """An enclosure of the x asked for, below `most` (and above `lower`); None if not proved.

        `most` is mostly near it; where Newton steps from there go astray, floats come nearer first,
        and still nearer where that does not help.
        """
        for bits in _SEARCH.starts:
            start = most.mid() if bits == 0 else self._by_floats(most.mid(), lower, bits)
            enclosure = self._proved(*self._candidate(start, lower))
            if enclosure is not None and enclosure.rel_accuracy_bits() > BALL.bits // 2:
                break
        return enclosure

    def _proved(self, x: arb, v: arb) -> arb | None:
        """The enclosure about a candidate x, with v about the minimum's; None if there is none."""
        goal = self.target.expm1()
        if not goal.is_finite() or not x.is_finite() or not v > 0:
            return None
        width = abs(x) * arb(2) ** (4 - BALL.bits) + 4 * self.target.rad() + x.rad()
        for _ in range(_SEARCH.widenings):
            enough = self.at(x + width).least_excess(v)
            if enough is not None and enough >= goal and self.at(x - width).excess(v) <= goal:
                return x + within(width)
            width *= 4
        return None

    def solve_at_end(self, x: arb) -> arb | None:
        """The solution where the worst law is all but on one answer; x is what p = 1 asks for.

        That pair has D_α = ε(α), so nothing below x is enough.
        """
        if not x.is_finite():
            return None
        goal, width = self.target.expm1(), (1 + abs(x)) * arb(2) ** (8 - BALL.bits // 2)
        for _ in range(_SEARCH.end_widenings):
            excess = self.at(x + width).least_at_end()
            if excess is None:
                return None
            if excess >= goal:
                return x + up_to(width)
            width *= 16
        return None

    def _candidate(self, x: arb, lower: arb | None) -> tuple[arb, arb]:
        """Midpoints of x and of the minimum's v by Newton steps for log(H−1); NaN beyond an end."""
        pair, goal = self.middle(x), self.target.mid().expm1()
        v = newton_refined(pair, float_argmin(pair))
        derivative = TwoPointPairs.per_log_delta if lower is None else TwoPointPairs.per_epsilon
        for _ in range(_SEARCH.newton_steps):
            excess = pair.excess(v)
            # log(H − 1) is nearly linear in log δ where the laws are near, as is log H elsewhere.
            step = ((excess / goal).log() * excess / derivative(pair, v)).mid()
            x = (x - step).mid()
            if lower is not None and not x > lower:
                return arb.nan(), v
            old, pair = pair, self.middle(x)
            v = newton_step(pair, carried(old, pair, v))
            # What is then missing is about the square of the step.
            if not step.is_finite() or not abs(step) > abs(x) * arb(2) ** (-2 * BALL.bits // 3):
                break
        return x, v

    def _by_floats(self, most: arb, lower: arb | None, bits: int) -> arb:
        """An x a little above the solution, to `bits` bits, by bisection in floats; no proof.

        It is between `lower`, which is looked for if None, and `most`.
        """
        high = most
        low = lower if lower is not None else most - 1
        if lower is None:
            while self._float_enough(low) and low > -(2**40):
                deadline.check()
                low = most - 2 * (most - low)
        for _ in range(_SEARCH.float_steps):
            middle = ((low + high) / 2).mid()
            if not low < middle < high or high - low < abs(high) * arb(2) ** -bits:
                break
            if self._float_enough(middle):
                high = middle
            else:
                low = middle
        return high

    def middle(self, x: arb) -> TwoPointPairs:
        """The pairs at x, with the midpoints of their parameters."""
        pair = self.at(x)
        return TwoPointPairs(pair.alpha.mid(), pair.epsilon.mid(), pair.delta.mid())

    def _float_enough(self, x: arb) -> bool:
        """Is min H >= e^target at x, as far as midpoints tell?"""
        pair = self.middle(x)
        return bool(pair.excess(float_argmin(pair)).mid() >= self.target.expm1().mid())


def power_gap(power: arb, u: arb) -> arb:
    """(1+u)^power − 1 − power·u; where the three cancel, at the middles with as many more bits."""
    if not (abs(power) + 1) * abs(u) < _SEARCH.linear:
        if power > 1:  # in the form that is as small as power − 1
            return (1 + u) * ((power - 1) * u.log1p()).expm1() - (power - 1) * u
        return (power * u.log1p()).expm1() - power * u
    p, x = power.mid(), u.mid()
    cancelled = -math.log2(max(abs(float(p - 1) * float(x)), 1e-300))
    with precision(BALL.bits + math.ceil(cancelled)):
        middle = (p * x.log1p()).expm1() - p * x
    # The derivatives are power((1+u)^{power−1} − 1) and (1+u)^power log(1+u) − u.
    size = abs(u)
    moved = 2 * abs(power * (power - 1)) * size * u.rad()
    return +middle + within(moved + (2 * abs(power) + 1) * size**2 * power.rad())


def float_argmin(pair: TwoPointPairs) -> arb:
    """About where H is least: v = (α−1)δ(1+t), t/(1+t) = (y/x)^{α−1}(α−(α−1)sy), in floats."""
    lam, log_d = _in_range(pair.alpha - 1), -_in_range(-pair.delta.log())
    epsilon = _in_range(pair.epsilon, smallest=0.0)
    log_lowest = math.log(lam) + log_d  # of v, at t = 0
    log_most = _log_expm1(math.log(-math.expm1(log_d)) - log_lowest)

    def rise(log_t: float) -> float:
        """Of what sign H′ is."""
        more = math.log1p(math.exp(-abs(log_t)))
        log_v = log_lowest + max(log_t, 0.0) + more  # the last two are log(1+t)
        v = math.exp(log_v)
        p, q = v + math.exp(log_d), v * math.exp(-epsilon)
        if p >= 1:
            return math.inf
        log_x = math.log1p(math.exp(log_d - log_v)) + epsilon
        gap = (math.exp(log_d) - v * math.expm1(-epsilon)) / (1 - q)  # 1 − y
        log_y = math.log1p(-gap) if gap < 0.5 else math.log1p(-p) - math.log1p(-q)
        rest = math.log1p(-lam * math.expm1(log_y - epsilon))
        return min(log_t, 0.0) - more + lam * (log_x - log_y) - rest

    high, low = log_most, log_most - 1
    while low > -1e6 and rise(low) > 0:
        deadline.check()
        high, low = low, low - 2 * (log_most - low)
    grown = 1 + arb(_crossing(rise, low, high)).exp().mid()
    return _within(pair.delta, ((pair.alpha - 1) * pair.delta * grown).mid())


def _crossing(f: Callable[[float], float], low: float, high: float) -> float:
    """About where f, <= 0 below and > 0 above, is 0: by chords, an end that stays being halved.

    By halving where it is not so, or not finite.
    """
    below, above, place, side = f(low), f(high), high, 0
    for _ in range(_SEARCH.float_steps):
        has_chord = -math.inf < below <= 0 < above < math.inf
        share = below / (below - above) if has_chord else 0.5
        before, place = place, low + share * (high - low)
        if (value := f(place)) > 0:
            below = below / 2 if side > 0 else below
            high, above, side = place, value, 1
        else:
            above = above / 2 if side < 0 else above
            low, below, side = place, value, -1
        if abs(place - before) <= _SEARCH.float_width * (1 + abs(place)):
            break
    return place


def _in_range(x: arb, smallest: float = 1e-60) -> float:
    """The midpoint as a float between `smallest` and 10¹⁵; PrecisionError beyond."""
    value = float(x.mid())
    if not smallest <= value <= _SEARCH.largest:
        raise PrecisionError(
            f"the optimal conversion: found {x.mid().str(5, radius=False)} among α − 1, (α − "
            f"1)·ε(α), −log δ and ε, needed numbers from {smallest:g} to {_SEARCH.largest:g}",
            remedy="the improved conversion takes any numbers",
        )
    return value


def _log_expm1(x: float) -> float:
    """log(e^x − 1), and that of nearly nothing where x <= 0."""
    return x + math.log(-math.expm1(-x)) if x > 1e-30 else -70.0


def newton_refined(pair: TwoPointPairs, v: arb) -> arb:
    """v after a few Newton steps towards the minimum."""
    for _ in range(_SEARCH.polishing_steps):
        old, v = v, newton_step(pair, v)
        if abs(v - old) <= v * arb(2) ** -(BALL.bits // 4):
            break
    return v


def carried(old: TwoPointPairs, new: TwoPointPairs, v: arb) -> arb:
    """v for the new pairs: p is kept where it is nearly 1, for it must not pass 1."""
    rest = 1 - old.delta - v
    return (1 - new.delta - rest).mid() if rest < v / 8 else v


def newton_step(pair: TwoPointPairs, v: arb) -> arb:
    """v after a Newton step for H′ = 0; in log(1−p) where p is nearly 1: H′ is linear in it."""
    bend, rest = pair.newton_step(v).mid(), (1 - pair.delta - v).mid()
    if not rest < v / 8:
        return _inside(pair, v, v - bend)
    return _inside(pair, v, 1 - pair.delta - rest * (bend / rest).exp())


def _inside(pair: TwoPointPairs, old: arb, new: arb) -> arb:
    """The midpoint of the new place, or a place half way to the end of [0, 1−δ) it passed."""
    new = new.mid()
    if not new.is_finite():
        return old
    if not new > old / 2:
        return (old / 2).mid()
    return _within(pair.delta, new)


def _within(delta: arb, v: arb) -> arb:
    """v, kept below 1 − δ by more than rounding."""
    most = (1 - delta).mid() * (1 - arb(2) ** -(BALL.bits // 2))
    return v if v < most else most.mid()
