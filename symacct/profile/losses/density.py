"""Two densities have a loss whose moments are certified integrals.

m = (1−γ)q + γp is the density of the first law, L = log(m/q). `need`, `far` and `slack` are in the
units of profile/part.py; sizes and bounds called log are natural logarithms.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import acb, arb, ctx

from symacct.analysis.densities import Side, doublings, integrate, largest_log_ratio
from symacct.analysis.jets import ComplexBalls, Evaluator, Jet, JetsOfBalls
from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, float_above, legendre, up_to, within
from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.exact import INFINITY, Exact, LazyModule, sympy
from symacct.kernel.memory import cached_property
from symacct.laws.law import Law
from symacct.mechanisms.pair import Overlap
from symacct.profile.losses.summed import End, Sample, SummedLoss
from symacct.profile.part import Floats, OrderLine, Part
from symacct.profile.proofs import DENSITIES
from symacct.profile.roots import enclosed
from symacct.profile.written_laws import Write, WrittenLaws, mixed

if TYPE_CHECKING:
    from symacct.profile.losses import normal_pair
else:  # which is made of this loss
    normal_pair = LazyModule("symacct.profile.losses.normal_pair")

# --- charts
#
# Two densities on the line, the second sampled into the first, by pieces on which they are smooth.
#
# On each piece a variable u runs over an interval: the distance T from one end of it, or log T far
# out and next to where a density is singular. log q there is that of the density of u.

#: From this distance T on, in units of the outcome, the variable u is log T. The change of
#: variables is exact: it costs time alone.
_BEND = 64

#: Orders a, each with log of what ∫ q(m/q)^a may be beyond the charts.
Ends = tuple[tuple[float, float], ...]


class ChartLogs(NamedTuple):
    """Logs on a chart are log q and the loss log(m/q), m = (1−γ)q + γp, with derivatives."""

    q: Jet
    loss: Jet


@dataclass(frozen=True)
class Chart:
    """A chart is one side of a piece by u, for distances T from `nearest` to `farthest`.

    u is T, or log T where the chart is `of_logarithm`; log q on it is that of the density of u.
    """

    pair: DensityPair
    side: Side
    of_logarithm: bool
    nearest: Fraction
    farthest: Fraction

    @property
    def low(self) -> arb:
        """The least u, at flint's current precision."""
        return self._place(self.nearest)

    @property
    def high(self) -> arb:
        """The largest u, at flint's current precision."""
        return self._place(self.farthest)

    def _place(self, distance: Fraction) -> arb:
        """Return u at a distance T."""
        return ball(distance).log() if self.of_logarithm else ball(distance)

    @cached_property
    def _evaluators(self) -> list[Evaluator]:
        """Evaluate log p, log q and log(p/q) of the kernels, by u."""
        evaluators = self.side.evaluators_for(None, self.of_logarithm)[:3]
        return [
            evaluator for evaluator in evaluators if evaluator is not None
        ]  # both densities are positive

    def logs(self, u: acb, analytic: bool = False) -> ChartLogs:
        """Compute log q and the loss at u; if `analytic`, not finite where they may not be so."""
        return self._logs(Jet(ComplexBalls(analytic), u, acb(1)))

    def logs_with_curvature(self, u: acb) -> ChartLogs:
        """Compute log q and the loss at u, as jets of jets: with second derivatives."""
        sort = JetsOfBalls()
        return self._logs(Jet(sort, Jet(sort.balls, u, acb(1)), sort.number(1)))

    def loss(self, u: acb) -> Jet:
        """Compute the loss at u alone."""
        return self._loss(Jet(ComplexBalls(), u, acb(1)))

    def _logs(self, x: Jet) -> ChartLogs:
        """Compute log q and the loss of a jet of u."""
        log_q, shift_q = self._evaluators[1], self.pair.shifts()[1]
        return ChartLogs(log_q(x) - x.sort.constant(shift_q), self._loss(x))

    def _loss(self, x: Jet) -> Jet:
        """Compute the loss log(m/q) of a jet of u."""
        shift_p, shift_q = self.pair.shifts()
        return self._mixed(self._evaluators[2](x) + x.sort.constant(shift_q - shift_p))

    def _mixed(self, ratio: Jet) -> Jet:
        """Compute log(1−γ+γe^ratio), the larger part in front."""
        gamma, sort = self.pair.gamma, ratio.sort
        if gamma == 1:
            return ratio
        lead = ratio + sort.constant(BALL.number(gamma).log())
        rest = sort.constant(BALL.number(1 - gamma).log())
        if not sort.leads(lead.value, rest.value):
            lead, rest = rest, lead
        mixed: Jet = lead + (sort.constant(arb(1)) + (rest - lead).exp()).log()
        return mixed

    def densities(self, u: acb, analytic: bool = False) -> tuple[Jet, Jet]:
        """Compute log p and log q at u."""
        x = Jet(ComplexBalls(analytic), u, acb(1))
        logs = [log(x) for log in self._evaluators[:2]]
        shifted = zip(logs, self.pair.shifts(), strict=True)
        p, q = (Jet(x.sort, log.value - shift, log.slope) for log, shift in shifted)
        return p, q

    def logs_over(self, u: acb) -> list[acb]:
        """Enclose log q and the loss over the ball u; not finite where they may not be analytic."""
        return mean_values(self.logs, u)


def mean_values(logs: Callable[[acb, bool], Iterable[Jet]], u: acb) -> list[acb]:
    """Enclose functions over the ball u, by mean values where that is narrower.

    Not finite where they are not known to be analytic.
    """
    middle = acb(u.real.mid(), u.imag.mid())
    values = []
    for over, centre in zip(logs(u, True), logs(middle, False), strict=True):
        mean = centre.value + over.slope * (u - middle)
        narrow = mean.is_finite() and mean.real.rad() < over.value.real.rad()
        values.append(mean if narrow and over.value.is_finite() else over.value)
    return values


@dataclass(frozen=True)
class DensityPair:
    """A pair of densities is (1−γ)Q + γP against Q, both positive on the same set, 0 < γ <= 1."""

    overlap: Overlap
    gamma: Exact = Fraction(1)

    @property
    def sides(self) -> list[Side]:
        """The halves of the pieces of the line, each with a variable of its own."""
        return self.overlap.sides

    def shifts(self) -> tuple[arb, arb]:
        """Compute the logarithms of the integrals of both kernels, to flint's precision at least.

        Those known to more bits serve: an integral costs seconds where it has hundreds.
        """
        known = self._shifts
        sufficient = [bits for bits in known if bits >= ctx.prec]
        if not sufficient:
            known[ctx.prec] = self.overlap.log_totals(BALL)
            return known[ctx.prec]
        return known[min(sufficient)]

    @cached_property
    def _shifts(self) -> dict[int, tuple[arb, arb]]:
        """The logarithms of the integrals by the bits at which they were worked out."""
        return {}

    @cached_property
    def exchanged(self) -> DensityPair:
        """The two densities exchanged, at the rate 1: what is sampled is not."""
        return DensityPair(Overlap(self.overlap.Q, self.overlap.P))

    def charts(self, ends: Ends) -> tuple[list[Chart], arb]:
        """Lay charts beyond which ∫ q(m/q)^a is below e^{log_tail}, for each of `ends`.

        That is so at either end of the line. The second value bounds what is beyond all of them.
        PrecisionError where no tail is known to fall so far.
        """
        charts, left_out = [], arb(0)
        for side in self.sides:
            if side.is_regular:
                charts.append(Chart(self, side, False, Fraction(0), Fraction(side.extent)))
                continue
            start = self._cut(side, ends)
            left_out += sum((self._tail(side, a, ball(start)) for a, _ in ends), arb(0))
            charts.extend(self._up_to(side, start))
        return charts, left_out

    def _up_to(self, side: Side, start: Fraction) -> Iterator[Chart]:
        """Yield the charts of a side up to T = start, or from 1/start on towards a singular end."""
        if not side.is_infinite:
            yield Chart(self, side, True, 1 / start, Fraction(side.extent))
            return
        bend = min(start, Fraction(_BEND))
        yield Chart(self, side, False, Fraction(0), bend)
        if start > bend:
            yield Chart(self, side, True, bend, start)

    def _cut(self, side: Side, ends: Ends) -> Fraction:
        """Choose a power of 2 beyond which every tail is small enough; PrecisionError for none."""
        nearest = 1 if side.is_infinite else max(1, math.ceil(2 / side.extent))
        for doubling in doublings(nearest.bit_length()):
            start = arb(2) ** doubling
            if all(self._tail(side, a, start) < arb(log_tail).exp() for a, log_tail in ends):
                return Fraction(2) ** doubling
        raise PrecisionError(
            f"the exact profile: found no bound of the moment at order {ends[0][0]:.6g} that "
            "falls fast enough at an end, needed one"
        )

    def _tail(self, side: Side, a: float, start: arb) -> arb:
        """Bound ∫ q(m/q)^a beyond a place by powers of p and q.

        (1−γ)q + γp^a q^{1−a} for a >= 1, (1−γ)^a q for a <= 0, γ < 1, and (1−γ)^a q + γ^a p^a
        q^{1−a} between.
        """
        order, gamma = Fraction(a), BALL.number(self.gamma)
        rest = 1 - gamma
        if self.gamma == 1:
            bounds = [(arb(1), order, 1 - order)]
        elif a <= 0:
            bounds = [(rest ** arb(a), Fraction(0), Fraction(1))]
        else:
            power = arb(min(a, 1.0))
            bounds = [
                (rest**power, Fraction(0), Fraction(1)),
                (gamma**power, order, 1 - order),
            ]
        shift_p, shift_q = self.shifts()
        total = arb(0)
        for coefficient, b, c in bounds:
            scale = (-ball(b) * shift_p - ball(c) * shift_q).exp()
            total += coefficient * scale * side.tail(side.blend(b, c), start)
        return total


# --- crossings
#
# One run of a pair of densities: H_a(P‖Q) = ∫(p − aq)₊ between the places where p = aq.

#: An integral of (p − e^y q)₊ is asked to so many bits less than flint's precision. Fewer widen D's
#: ball less, and take longer.
_SPARE_BITS = 30


def hockey_stick(pair: DensityPair, y: arb, reverse: bool) -> arb:
    """Compute H_{e^y}((1−γ)Q + γP‖Q), or with the laws exchanged, from that of P and Q alone:

    γH_b(P‖Q) with b = (e^y−1+γ)/γ; exchanged (1−e^y(1−γ))H_c(Q‖P), c = γe^y/(1−e^y(1−γ)).
    """
    gamma, grown = BALL.number(pair.gamma), y.exp()
    scale = 1 - grown * (1 - gamma) if reverse else y.expm1() + gamma
    if not scale > 0:
        beyond = arb(0) if reverse else -y.expm1()
        return beyond if scale <= 0 else arb("0.5 +/- 0.5")
    if reverse:
        return scale * _surplus(pair.exchanged, (gamma * grown / scale).log())
    return gamma * _surplus(DensityPair(pair.overlap), (scale / gamma).log())


def _surplus(pair: DensityPair, y: arb) -> arb:
    """Integrate (p − e^y q)₊ of an unsampled pair; beyond the charts it is between 0 and ∫p."""
    tolerance = arb(2) ** (_SPARE_BITS - ctx.prec)
    charts, left_out = pair.charts(((1.0, float(tolerance.log().mid())),))
    total = up_to(left_out)
    for chart in charts:
        for low, high in _positive(chart, y, chart.low, chart.high, 0):
            total += _between(chart, y, low, high, tolerance)
    return total


def _between(chart: Chart, y: arb, low: arb, high: arb, tolerance: arb) -> arb:
    """Integrate p − e^y q from one exact point to another.

    What is left next to them is at most as long as their radii, times e^y q times how far p is from
    e^y q there.
    """

    def surplus(u: acb, analytic: bool) -> acb:
        if analytic:
            log_p, log_q = mean_values(chart.densities, u)
        else:
            log_p, log_q = (jet.value for jet in chart.densities(u))
        return log_p.exp() - (log_q + y).exp()

    value = integrate(surplus, low.mid(), high.mid(), tolerance)
    for end in (low, high):
        value += within(end.rad() * abs(surplus(acb(end), False)))
    return value


def _positive(chart: Chart, y: arb, low: arb, high: arb, depth: int) -> Iterator[tuple[arb, arb]]:
    """Yield the intervals on which log(p/q) > y; an undecided one is an end with a radius.

    After as many halvings as flint has bits, an interval is given up as undecided.
    """
    loss = chart.logs(acb(low.union(high))).loss
    value, slope = loss.value.real - y, loss.slope.real
    if value > 0:
        yield low, high
    elif value < 0:
        return
    elif slope > 0 or slope < 0:
        yield from _monotone(chart, y, low, high, bool(slope > 0))
    elif depth >= ctx.prec:
        yield low.union(high), low.union(high)
    else:
        middle = ((low + high) / 2).mid()
        yield from _positive(chart, y, low, middle, depth + 1)
        yield from _positive(chart, y, middle, high, depth + 1)


def _monotone(chart: Chart, y: arb, low: arb, high: arb, rises: bool) -> Iterator[tuple[arb, arb]]:
    """Yield the part above y of an interval on which the loss is monotone."""
    first, last = (_side(chart, y, end) for end in (low, high))
    if first == last == 1:
        yield low, high
    elif not first == last == -1:
        sign = 1 if rises else -1

        def falling(u: arb) -> arb:
            ratio: arb = (sign * (y - chart.loss(acb(u)).value.real)).exp()
            return ratio

        place = enclosed(falling, arb(1), (low, high))
        yield (place, high) if rises else (low, place)


def _side(chart: Chart, y: arb, u: arb) -> int:
    """Return 1 where the loss is above y, −1 where it is below, 0 where balls can't decide it."""
    value = chart.loss(acb(u)).value.real - y
    return 1 if value > 0 else -1 if value < 0 else 0


# --- monotone mixtures
#
# One run of normal laws mixed to the right of one of them: the loss rises with the outcome.
#
# M = (1−γ)Q + γP over Q is R(x) = Σ w e^{dx − d²/2}, d >= 0 the distances in deviations: what is
# above a loss is a half-line, and D a difference of normal tails (docs/proofs/sampling.md, Lemma
# monotone-mixtures).

#: A grid that steers has this step, and goes so far beyond the tilted means, in deviations.
_STEERING_STEP, _STEERING_REACH = 1 / 16, 12.0


@dataclass(frozen=True)
class MonotoneMixture:
    """A monotone mixture M has the weight of Q itself, and (w, d) of normal laws to its right.

    d > 0 is in deviations, and the weights add up to 1.
    """

    base_weight: arb
    others: list[tuple[arb, arb]]

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute M(x > t) − e^y Q(x > t), R(t) = e^y.

        Of (Q, M) it is Q(x < t) − e^y M(x < t), R(t) = e^{−y}. Where R is always above that, or
        never below it, the value is 1 − e^y or 0.
        """
        loss, sign = (-y, -1) if reverse else (y, 1)
        above = loss.exp() - self.base_weight
        if not above > 0:  # R is never below `base_weight`
            off = up_to(above.max(arb(0)) * (1 + y.exp()))
            return off if reverse else off - y.expm1()
        at = self._threshold(loss)
        tails = [(self.base_weight, arb(0)), *self.others]
        mixed = sum((w * _tail(sign * (at - d)) for w, d in tails), arb(0))
        q = _tail(sign * at)
        value: arb = q - y.exp() * mixed if reverse else mixed - y.exp() * q
        return value.max(arb(0))

    def floats(self, lowest_order: float, highest_order: float) -> tuple[Floats, Floats]:
        """Estimate log of Q's masses, and the losses, on an even grid; LimitError for too many."""
        tails = [(self.base_weight, arb(0)), *self.others] if self.base_weight > 0 else self.others
        logs = np.array([float(w.log()) for w, _ in tails])[:, None]
        apart = np.array([float(d) for _, d in tails])[:, None]
        first, last = (
            apart.max() * min(lowest_order, 0.0) - _STEERING_REACH,
            apart.max() * max(highest_order, 0.0) + _STEERING_REACH,
        )
        limits.check("order", math.ceil((last - first) / _STEERING_STEP), "nodes of a mixture")
        x = np.arange(first, last, _STEERING_STEP)
        losses = np.logaddexp.reduce(logs + apart * (x - apart / 2))
        return math.log(_STEERING_STEP / math.sqrt(2 * math.pi)) - x**2 / 2, losses

    def largest(self, reverse: bool) -> arb:
        """Return ∞; if `reverse`, −log w of the weight w of Q itself, where that is not 0."""
        return -self.base_weight.log() if reverse and self.base_weight > 0 else arb("inf")

    def _threshold(self, loss: arb) -> arb:
        """Enclose the x where log R is the loss, between where one term alone would be as much.

        And where each of them has an equal share of it.
        """
        ends = [(loss - w.log() + d**2 / 2) / d for w, d in self.others]
        log_share = ((loss.exp() - self.base_weight) / len(ends) / loss.exp()).log()
        lows = [end + log_share / d for end, (_, d) in zip(ends, self.others, strict=True)]
        low, high = BALL.minimum(*lows) - 1, BALL.minimum(*ends) + 1
        return enclosed(lambda x: loss.exp() / self._ratio(x), arb(1), (low.mid(), high.mid()))

    def _ratio(self, x: arb) -> arb:
        """Compute R(x) = M/Q at x, in deviations from Q's mean."""
        return sum((w * (d * x - d**2 / 2).exp() for w, d in self.others), self.base_weight)


def monotone_mixture(pair: DensityPair) -> MonotoneMixture | None:
    """Make the mixture of a pair, mirrored where all lie to the left; None for other pairs.

    It takes normal laws of one variance, Q a single one, none of P's on the other side of it.
    """
    parts = pair.overlap.normal_parts
    if parts is None:
        return None
    p, q = parts
    apart = [mean - q.means[0] for mean in p.means]
    if p.variance != q.variance or len(q.means) > 1 or min(apart) < 0 < max(apart):
        return None
    gamma, deviation = BALL.number(pair.gamma), BALL.number(p.variance).sqrt()
    base_weight, others = 1 - gamma, []
    for weight, distance in zip(p.weights, apart, strict=True):
        share = gamma * BALL.number(weight)
        if distance == 0:
            base_weight += share
        else:
            others.append((share, BALL.number(abs(distance)) / deviation))
    return MonotoneMixture(base_weight, others) if others else None


def _tail(x: arb) -> arb:
    """Compute P(Z > x) for a standard normal Z."""
    tail: arb = (x / arb(2).sqrt()).erfc() / 2
    return tail


# --- bounds by parts
#
# |F(a+it)| <= A + C/t for a pair of densities, by parts wherever the loss is not level.
#
# With g = q(m/q)^a and ψ = g/L′, the density of the tilted loss, ∫ge^{itL} is
# ([ψe^{itL}] − ∫ψ′e^{itL})/(it) where L′ is not 0; next to where it is, A has all of ∫g
# (docs/proofs/losses.md, Lemma density-decay).

# A bound is sound whatever these are; narrower cells make it nearer and take longer.
#: A cell on which ψ is not known to be monotone is kept where ψ varies by this share at most. A
#: smaller share bounds more sharply, and takes longer.
_EVEN_SHARE = 2.0**-7
#: A cell on which the loss is constant is kept where the ball of g is this share wide at most. A
#: smaller share bounds more sharply, and takes longer.
_LEVEL_SHARE = 1 / 16
#: A cell is kept, too, where ψ varies by this share of F(a) at most, or has this mass of it.
#: Smaller ones bound more sharply, and take longer.
_LITTLE_VARIATION, _LITTLE_MASS = 2.0**-10, 2.0**-24
#: The cells over which ψ is bounded are about so many at most. More bound more sharply, and take
#: longer.
_MOST_CELLS = 4000
#: Bounds A + C/t are made that are good at one of these t each.
_TIMES = [2.0**j for j in range(20)]


class ChartInterval(NamedTuple):
    """An interval of a chart has bounds of ∫g, `mass`, and of ∫|ψ′|, `variation`.

    The variation is ∞ where it is not known.
    """

    chart: Chart
    low: arb
    high: arb
    mass: arb
    variation: arb


def ends(charts: list[Chart], a: float, left_out: arb, moment: arb) -> list[End]:
    """List (A, C) with |F(a+it)| <= A + C/t for every t > 0, each good at some t.

    `left_out` bounds ∫g beyond the charts. `moment` is about F(a), and steers.
    """
    cells = _cells(charts, a, moment)
    bounds = []
    for t in _TIMES:
        is_bounded = [cell.variation < t * cell.mass for cell in cells]
        rest = (cell.mass for cell, bounded in zip(cells, is_bounded, strict=True) if not bounded)
        apart, falling = _falling(cells, is_bounded, a)
        bounds.append((sum(rest, left_out + apart), falling))
    return bounds


def _cells(charts: list[Chart], a: float, moment: arb) -> list[ChartInterval]:
    """Halve the charts until ψ is bounded well on each interval, or has hardly any mass there.

    They end at about `_MOST_CELLS`, where a bound is wider.
    """
    pending = [(chart, chart.low, chart.high) for chart in reversed(charts)]
    cells: list[ChartInterval] = []
    while pending:
        deadline.check()
        chart, low, high = pending.pop()
        cell, is_settled = _cell(chart, a, low, high, moment * _LITTLE_VARIATION)
        if (
            is_settled
            or cell.mass < moment * _LITTLE_MASS
            or len(cells) + len(pending) > _MOST_CELLS
        ):
            cells.append(cell)
        else:
            middle = ((low + high) / 2).mid()
            pending += [(chart, middle, high), (chart, low, middle)]
    return cells


def _cell(chart: Chart, a: float, low: arb, high: arb, little: arb) -> tuple[ChartInterval, bool]:
    """Bound ∫g and ∫|ψ′| on an interval, and decide if its halves would tell little more.

    ψ′ = ψ((log q)′ + aL′ − L″/L′).
    """
    log_q, loss = chart.logs_with_curvature(acb(low.union(high)))
    g = (log_q.value.value + arb(a) * loss.value.value).real.exp()
    width, slope = high - low, loss.slope.value.real
    mass = (width * g).upper()
    if not (slope > 0 or slope < 0):
        is_settled = slope == 0 and g.rad() < _LEVEL_SHARE * g
        return ChartInterval(chart, low, high, mass, arb("inf")), bool(is_settled)
    steep = (log_q.slope.value.real + arb(a) * slope) - loss.slope.slope.real / slope
    if steep > 0 or steep < 0:
        change = abs(_psi(chart, a, high) - _psi(chart, a, low))
        return ChartInterval(chart, low, high, mass, change), True
    psi = g / abs(slope)
    variation = (width * psi * abs(steep)).upper()
    is_even = variation < _EVEN_SHARE * psi or variation < little
    return ChartInterval(chart, low, high, mass, variation), bool(is_even)


def _falling(cells: list[ChartInterval], is_bounded: list[bool], a: float) -> tuple[arb, arb]:
    """Bound C by ∫|ψ′| where it is bounded, and by |ψ| at both ends of each stretch of it.

    The first value is what A has for joints of two charts, the second is C. `cells` are in order
    of their charts.
    """
    total, joints = arb(0), defaultdict[tuple[object, ...], list[tuple[arb, arb]]](list)
    bounded = zip(cells, is_bounded, strict=True)
    for _, same in itertools.groupby(bounded, key=lambda entry: id(entry[0].chart)):
        chart_cells, was_bounded = list(same), False
        chart = chart_cells[0][0].chart
        for i, (cell, has_bound) in enumerate(chart_cells):
            if has_bound:
                total += cell.variation
            if has_bound != was_bounded:
                if i == 0:
                    joints[_joint(chart, False)].append(_end(chart, a, cell.low, -1))
                else:
                    total += abs(_psi(chart, a, cell.low))
            was_bounded = has_bound
        if was_bounded:
            joints[_joint(chart, True)].append(_end(chart, a, chart_cells[-1][0].high, 1))
    shares = [_joined(each) for each in joints.values()]
    return sum((x for x, _ in shares), arb(0)), total + sum((x for _, x in shares), arb(0))


def _joined(brackets: list[tuple[arb, arb]]) -> tuple[arb, arb]:
    """Return the shares in A and C of both brackets ±ψe^{itL} at a place.

    |xe^{itL} + ye^{itM}| <= |x + y| + |y||e^{it(L−M)} − 1|: where balls don't tell L and M apart
    the second is little for each unit of t.
    """
    if len(brackets) == 2:
        (x, loss), (y, other) = brackets
        if loss.overlaps(other):
            return abs(y) * abs(loss - other), abs(x + y)
    return arb(0), sum((abs(x) for x, _ in brackets), arb(0))


def _psi(chart: Chart, a: float, u: arb) -> arb:
    """Compute ψ = g/L′ at u."""
    log_q, loss = chart.logs(acb(u))
    value: arb = (log_q.value + arb(a) * loss.value).real.exp() / loss.slope.real
    return value


def _end(chart: Chart, a: float, u: arb, sign: int) -> tuple[arb, arb]:
    """Compute ±ψ at an end of a chart, and L there."""
    return sign * _psi(chart, a, u), chart.logs(acb(u)).loss.value.real


def _joint(chart: Chart, is_far: bool) -> tuple[object, ...]:
    """Identify an end of a chart, one for both charts that end there."""
    side, sides = chart.side, chart.pair.sides
    i = next(i for i, other in enumerate(sides) if other is side)
    distance = chart.farthest if is_far else chart.nearest
    if distance == (0 if side.is_infinite else side.extent):
        return "middle", i // 2
    return ("cut", (i + 1) // 2) if distance == 0 else ("within", i, distance)


# --- the loss
#
# Pairs of densities on the line, sampled or not: moments by Gauss's rule on charts.
#
# F(z) = ∫ q(m/q)^z, m = (1−γ)q + γp (docs/proofs/losses.md, Lemma density-moments).

#: Bounds and panels are worked out at this many bits; of fewer bounds are wider.
_BOUND_BITS = 64
#: The half axes' sum of a panel's ellipse, over half the panel. The error's bound is proved for any
#: above 1; a larger one takes fewer nodes and more panels.
RHO = 2.5
#: The half axes of that ellipse, over half the panel. The proof needs them to be those of `RHO`.
_AXES = (RHO + 1 / RHO) / 2, (RHO - 1 / RHO) / 2
#: Half the ellipse is covered by so many arcs. More are sharper, and take longer.
_ARCS = 8
#: A panel is halved where what is integrated grows by more than so many nats in its ellipse. It
#: costs time: each panel's error is bounded.
_MOST_GROWTH = 48.0
#: More panels than these are refused by a LimitError. They take some seconds.
_MOST_PANELS = 1500
#: Up to this t hardly anything has fallen, and no bound by parts is asked. F(a) is the bound then.
_LEAST_TIME = 2.0**-10
#: A fall of log|F| by so many nats is bounded well enough by parts alone. Both bounds are proved:
#: the other one takes longer.
_FALL_TOLD_BY_PARTS = 1.0
#: Moments that steer are off by about e^{−20} F(a).
_STEERING_NEED = 20.0
#: Each panel is asked to be off by e^{−6} of what is needed, as many add up. What they come to is
#: proved apart.
_SPARE_NATS = 6.0
#: A bound of a logarithm is never taken to be below this, so that it is finite: any number is
#: sound.
_LOG_OF_NOTHING = -1e9
#: Orders up to this one have a grid of their own; one beyond shares that of the next power of it.
#: It costs time alone.
_ORDER_OF_SHARED_GRIDS = 16


@dataclass(frozen=True)
class Panel:
    """A panel is an interval of a chart with a bound of the integrand in its ellipse.

    `log_most` is log of the bound over the integrand's `size`, which is a logarithm too.
    """

    chart: Chart
    low: arb
    high: arb
    log_most: float

    def nodes(self, need: float) -> int:
        """Estimate how many nodes Gauss's rule takes for an error of e^{−need} of the integral."""
        half = float(((self.high - self.low) / 2).mid())
        drop = self.log_most + math.log(5 * half / (1 - RHO**-2)) + need
        return max(2, math.ceil(drop / (2 * math.log(RHO))))

    @property
    def ends(self) -> tuple[arb, arb]:
        """Low and high: an end of the chart at flint's current precision, or an exact number."""
        low = self.low if self.low.is_exact() else self.chart.low
        return low, self.high if self.high.is_exact() else self.chart.high

    def most(self, size: float) -> arb:
        """Bound the integrand in the ellipse, for log of its size."""
        return (arb(self.log_most) + size + arb(2) ** -20).exp()

    def most_of_loss(self) -> arb:
        """Bound |L| in the ellipse."""
        return abs(self.chart.logs_over(_box(*self.ends))[1])

    def quadrature_error(self, count: int, size: float) -> arb:
        """Bound what Gauss's rule is off by with `count` nodes, as in `laplace._sample`."""
        rho, most = arb(RHO), self.most(size)
        half = (self.high - self.low) / 2
        return arb(64) / 15 * half * most * rho ** (-2 * count) / (1 - rho**-2)


class Pieces(NamedTuple):
    """Pieces are panels, a bound of the mass beyond them, and log of the integrand's size."""

    panels: list[Panel]
    left_out: arb
    size: float


@dataclass(frozen=True)
class DensityLoss(SummedLoss):
    """The loss of two densities, sampled or not, is log(m/q) of its `pair`."""

    pair: DensityPair

    is_density = True
    decays_slowly = True
    proof = DENSITIES

    @property
    def symmetric(self) -> bool:
        """Does a known involution exchange the two laws?"""
        P, Q = self.pair.overlap.P, self.pair.overlap.Q  # noqa: N806
        return self.pair.gamma == 1 and type(P) is type(Q) and P.is_swapped_with(Q)

    @property
    def exchanged(self) -> Part | None:
        """The loss of (Q, P), where nothing is sampled; None else."""
        if self.symmetric or self.pair.gamma != 1:
            return super().exchanged
        return DensityLoss(self.pair.exchanged)

    @property
    def either_way(self) -> Part | None:
        """Return the loss of either law first, by `normal_pair` where laws are normal."""
        return normal_pair.either_way(self)

    def sampled(self, gamma: Exact) -> DensityLoss:
        """Sample the pair: the rates multiply."""
        return DensityLoss(DensityPair(self.pair.overlap, self.pair.gamma * gamma))

    def density_pairs(self, reverse: bool) -> Sequence[tuple[DensityLoss, tuple[bool, ...]]]:
        """List this pair alone, in the direction that is asked."""
        return [(self, (reverse,))]

    # --- float64: where to look

    def floats(self, lowest_order: float, highest_order: float) -> tuple[Floats, Floats]:
        """List log-weights and losses at nodes for orders between two, which steer."""
        known = monotone_mixture(self.pair)
        return (
            known.floats(lowest_order, highest_order)
            if known
            else _floats(self, (_coarse(lowest_order), _coarse(highest_order)))
        )

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the nodes of all panels that a line of orders takes."""
        return sum(
            panel.nodes(need + _SPARE_NATS)
            for panel in _panels(self, (line.a,), line.h * line.last, need)[0]
        )

    def sample(self, a: float, far: float, need: float) -> Sample:
        """Make nodes for orders a + it by Gauss's rule on panels."""
        return _sample(self, a, far, need, ctx.prec)

    def decay_constants(self, a: float, moment: arb) -> list[End]:
        """List pairs (A, C) by parts, by bounds on cells of the loss."""
        return _ends(self, a)

    def log_decay(self, a: float, t: float) -> float:
        """Estimate the bound of log|F(a+is)| for s >= t: by parts, or by a table if not told."""
        log_moment, (constants, falling) = _log_size(self, a), _float_ends(self, a)
        far = math.log(float((constants + falling / max(t, _LEAST_TIME)).min()))
        return far if far < log_moment - _FALL_TOLD_BY_PARTS else super().log_decay(a, t)

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log|F(a+is)| by parts alone where that shows enough fall, else as for all sums."""
        if t > _LEAST_TIME:
            far: arb = min((near + falling / arb(t) for near, falling in _ends(self, a)), key=float)
            if far.log() < _log_size(self, a) - _FALL_TOLD_BY_PARTS:
                return far.log()
        return super().decay(a, t, slack)

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) = ∫(p − e^y q)₊, at most y's distance beyond the largest loss."""
        if known := monotone_mixture(self.pair):
            return known.hockey_stick(y, reverse)
        left = self.largest(reverse) - y
        if left > 0:
            return hockey_stick(self.pair, y, reverse)
        return up_to(left.max(arb(0)))  # for −D′ <= 1

    def largest(self, reverse: bool) -> arb:
        """Compute the largest loss, ∞ for none; that of a monotone mixture is known."""
        known = monotone_mixture(self.pair)
        return known.largest(reverse) if known else _largest(self, reverse, ctx.prec)

    def in_latex(self, write: Write) -> WrittenLaws | None:
        """Write both densities; None where one has no formula."""
        on, off = (_written(law, write) for law in (self.pair.overlap.P, self.pair.overlap.Q))
        if on is None or off is None:
            return None
        words = (r"$c$ stands for what makes the total of each law 1",)
        return WrittenLaws(mixed(self.pair.gamma, on, off, write), off, words)


def _written(law: Law, write: Write) -> str | None:
    """Write a density on the whole line, but for its total; None of other laws."""
    if law.kernel is None or law.kernel.cuts[0] != -INFINITY or law.kernel.cuts[-1] != INFINITY:
        return None
    return rf"c \, {write(sympy.exp(law.kernel.log))} \, dx"


# Proved in docs/proofs/losses.md, Lemma largest-loss.
@lru_cache(64)
def _largest(part: DensityLoss, reverse: bool, bits: int) -> arb:
    """Compute log(1−γ+γe^s), s the supremum of log(p/q); ∞ where none is proved.

    Exchanged −log(1−γ+γe^{−s}), s that of log(q/p), which is at most −log(1−γ).
    """
    pair = part.pair.exchanged if reverse else part.pair
    gamma = BALL.number(part.pair.gamma)
    most = -(1 - gamma).log() if reverse and part.pair.gamma != 1 else arb("inf")
    try:
        with ctx.workprec(2 * bits):  # limits at the ends are found to `bits`
            supremum = largest_log_ratio(pair.sides, bits)
    except PrecisionError:
        return up_to(most) if most.is_finite() else most
    if not supremum.is_finite():
        return most
    shift_p, shift_q = pair.shifts()
    supremum += shift_q - shift_p
    if reverse:
        return -(gamma * (-supremum).expm1()).log1p()
    return (gamma * supremum.expm1()).log1p()


@lru_cache(256)
def _log_size(part: DensityLoss, a: float) -> float:
    """Estimate log F(a) as log of the largest T q(m/q)^a at some places; it need be near only."""
    with ctx.workprec(_BOUND_BITS):
        return max(q + a * loss for q, loss in _places(part.pair))


@lru_cache(32)
def _places(pair: DensityPair) -> list[tuple[float, float]]:
    """List log(Tq) and the loss at T = 2^{k/4}, on all sides, in float64."""
    places = []
    for side in pair.sides:
        chart = Chart(pair, side, False, Fraction(0), Fraction(0))
        for k in range(-40, 48):
            if 2 ** (k / 4) <= side.extent:
                logs = chart.logs(acb(2.0 ** (k / 4)))
                q, loss = float(logs.q.value.real.mid()), float(logs.loss.value.real.mid())
                if math.isfinite(q) and math.isfinite(loss):
                    places.append((q + k / 4 * math.log(2), loss))
    return places


@lru_cache(16)
def pieces(part: DensityLoss, need: float) -> Pieces:
    """Lay panels beyond which m and q have masses of about e^{−need}."""
    panels, left_out = _panels(part, (0.0, 1.0), 0.0, need)
    with ctx.workprec(_BOUND_BITS):
        sizes = tuple((a, _log_size(part, a)) for a in (0.0, 1.0))
        panels_over_sizes = [
            replace(panel, log_most=_log_most(panel.chart, sizes, 0.0, panel.low, panel.high))
            for panel in panels
        ]
    return Pieces(panels_over_sizes, left_out, max(size for _, size in sizes))


@lru_cache(64)
def _panels(
    part: DensityLoss, orders: tuple[float, ...], far: float, need: float
) -> tuple[list[Panel], arb]:
    """Lay panels on which some nodes suffice at every order, |t| <= far; bound what is beyond.

    LimitError where that takes too many panels.
    """
    with ctx.workprec(_BOUND_BITS):
        sizes = tuple((a, _log_size(part, a)) for a in orders)
        ends = tuple((a, size - need - 4) for a, size in sizes)
        charts, left_out = part.pair.charts(ends)
        pending, panels = [(chart, chart.low, chart.high) for chart in charts], []
        while pending:
            deadline.check()
            chart, low, high = pending.pop()
            panel = Panel(chart, low, high, _log_most(chart, sizes, far, low, high))
            if panel.log_most <= _MOST_GROWTH:
                panels.append(panel)
                continue
            if len(pending) + len(panels) > _MOST_PANELS:
                raise LimitError(
                    f"the exact profile: found more than {_MOST_PANELS} pieces of a density to "
                    "integrate over, needed fewer digits or smoother laws"
                )
            middle = ((low + high) / 2).mid()
            pending += [(chart, middle, high), (chart, low, middle)]  # the lower one first
        return panels, left_out


def _log_most(
    chart: Chart, sizes: tuple[tuple[float, float], ...], far: float, low: arb, high: arb
) -> float:
    """Bound log q|m/q|^a e^{t|Im|} in the ellipse over the integral, for all the orders.

    Within a box about it both logarithms are analytic, so the largest value is on its edge, and
    the lower half is the conjugate of the upper one. ∞ where they are not known to be analytic.
    """
    middle, half = (low + high) / 2, (high - low) / 2
    flat, steep = _AXES
    if not all(part.is_finite() for part in chart.logs_over(_box(low, high))):
        return math.inf
    most = _LOG_OF_NOTHING
    for arc in range(_ARCS):
        angle = arb.pi() * arb(arc).union(arb(arc + 1)) / _ARCS
        place = acb(middle + half * flat * angle.cos(), half * steep * angle.sin())
        log_q, loss = chart.logs_over(place)
        turned = abs(loss.imag) * far
        for a, size in sizes:
            log_size = float_above(log_q.real + a * loss.real + turned - size)
            if math.isnan(log_size):
                return math.inf
            most = max(most, log_size)
    return most


def _box(low: arb, high: arb) -> acb:
    """Make a box about the ellipse over an interval."""
    middle, half = (low + high) / 2, (high - low) / 2
    return acb(middle + half * arb(0, _AXES[0]), half * arb(0, _AXES[1]))


@lru_cache(16)
def _sample(part: DensityLoss, a: float, far: float, need: float, bits: int) -> Sample:
    """Sum by Gauss's rule on all panels, with the rule's error and what is beyond."""
    panels, left_out = _panels(part, (a,), far, need)
    size, error = _log_size(part, a), left_out
    losses, weights = [], []
    for panel in panels:
        count = panel.nodes(need + _SPARE_NATS)
        error += panel.quadrature_error(count, size)
        for log_q, loss, weight in _nodes(panel, count):
            losses.append(loss)
            weights.append(weight * (log_q + arb(a) * loss).exp())
    return Sample(losses, weights, error)


def _nodes(panel: Panel, count: int) -> Iterator[tuple[arb, arb, arb]]:
    """Yield log q, the loss and the weight at each node, at flint's current precision."""
    low, high = panel.ends
    middle, half = (low + high) / 2, (high - low) / 2
    for u, weight in legendre(count, ctx.prec):
        logs = panel.chart.logs(acb(middle + half * u))
        yield logs.q.value.real, logs.loss.value.real, half * weight


def _coarse(order: float) -> float:
    """Return the order itself up to 16, else the next power of 16 beyond it, of the same sign."""
    base = _ORDER_OF_SHARED_GRIDS
    if abs(order) <= base:
        return order
    reach = float(base) ** math.ceil(math.log(abs(order), base))
    return math.copysign(reach, order)


@lru_cache(32)
def _floats(part: DensityLoss, ends: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return nodes that steer for the orders from one to another, and for 0 and 1.

    LimitError where there are none, as of an infinite moment.
    """
    orders = tuple(sorted({0.0, 1.0, *ends}))
    try:
        panels, _ = _panels(part, orders, 0.0, _STEERING_NEED)
    except PrecisionError as error:
        raise LimitError(error.finding, remedy=error.remedy) from error
    with ctx.workprec(_BOUND_BITS):
        rows = [
            (float((log_q + weight.log()).mid()), float(loss.mid()))
            for panel in panels
            for log_q, loss, weight in _nodes(panel, panel.nodes(_STEERING_NEED))
        ]
    log_weights, losses = np.array(rows).T
    return log_weights, losses


@lru_cache(32)
def _ends(part: DensityLoss, a: float) -> list[End]:
    """List (A, C) with |F(a+it)| <= A + C/t, at few bits."""
    with ctx.workprec(_BOUND_BITS):
        size = _log_size(part, a)
        charts, left_out = part.pair.charts(((a, size - _STEERING_NEED - 4),))
        return ends(charts, a, left_out, arb(size).exp())


@lru_cache(32)
def _float_ends(part: DensityLoss, a: float) -> tuple[Floats, Floats]:
    """Return all A and all C of `_ends` in float64."""
    constants, falling = zip(*_ends(part, a), strict=True)
    return np.array([float(x) for x in constants]), np.array([float(x) for x in falling])
