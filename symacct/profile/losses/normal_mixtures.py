"""Two mixtures of normal laws of one variance, no mean of the first below one of the second.

The loss rises with the outcome x, so one run has a difference of normal tails. F(z) = ∫p^z q^{1−z}
is a trapezoidal sum over real x, and lines Im x = ±η bound its error, and F itself far from the
real orders (docs/proofs/directions.md, Lemma mixture-loss). `need` and `slack` are in nats, and
`far` is the largest |Im z|, as in profile/part.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from flint import acb, arb, ctx

from symacct.analysis.normal_tails import RELATIVE_ERROR, upper_tail
from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import normal_tail, tilted_tail, up_to
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.profile import float_laws
from symacct.profile.losses.summed import End, Sample, SummedLoss
from symacct.profile.part import Floats, OrderLine, rounded_down
from symacct.profile.roots import enclosed
from symacct.profile.written_laws import BREAK, MOST_TERMS, Write, WrittenLaws, factor, normal

#: Bounds are worked out at this many bits; of fewer they are wider.
_BITS = 64
#: An even grid that steers has this step, and goes so far beyond the tilted means, in deviations.
_STEERING_STEP, _STEERING_REACH = 1 / 16, 12.0
#: A bound over x is taken on cells of this length in deviations, at their ends. Shorter ones are
#: sharper, and take longer.
_CELL = 1 / 8
#: A line Im x = η is tried at these shares of the highest one. Each share up to 1 has its bound;
#: the best one is taken.
_SHARES = np.array([0.003, 0.01, 0.03, 0.06, 0.1, 0.16, 0.24, 0.34, 0.46, 0.6, 0.75])
#: The highest line turns the farthest means against each other by this angle in radians: at π the
#: laws may have zeros between, and the bound by cos fails.
_LARGEST_TURN = 0.9 * math.pi
#: A fall of log|F| by so many nats is bounded well enough by one line off the real one. Both bounds
#: are proved: the other one takes longer.
_FALL_TOLD_BY_A_LINE = 1.0
#: Nodes are chosen as if no line made the tails more than e^3000 times larger. It steers: what is
#: beyond the nodes is bounded.
_MOST_TURNED_NATS = 3000.0
#: Bounds A + C/t are offered for so many t, each twice the one before. Each is a proved bound; more
#: are sharper.
_DOUBLINGS_OF_TIME = 24
#: The outcome of a loss is looked for up to so many deviations from 0; beyond, D is NaN, and other
#: strategies are asked. It costs time.
_FARTHEST = 2**40  # that a place may be, in deviations
#: log √(2π), of the normal density. It steers.
_LOG_ROOT = math.log(2 * math.pi) / 2

#: (w, j) of each law N(jΔ, σ²), by growing j; the weights add up to 1.
Weights = tuple[tuple[Exact, int], ...]


class Rule(NamedTuple):
    """A rule has the nodes jh, first <= j <= last, and the line Im x = `height` for their error.

    `cells` are the ends of the stretch that is bounded in cells. All but j is in deviations.
    """

    step: float
    first: int
    last: int
    height: float
    cells: tuple[float, float]


class NormalSum:
    """A mixture of normal laws has the density Σ e^{l + dx} over that of N(0, 1).

    x is in deviations, l and d are `logs` and `means` in balls, and `few` has both in float64.
    """

    def __init__(self, weights: Weights, distance: arb) -> None:
        self.means = [j * distance for _, j in weights]
        self.weights = [BALL.number(w) for w, _ in weights]
        self.logs = [w.log() - d**2 / 2 for w, d in zip(self.weights, self.means, strict=True)]
        self.low, self.high = self.means[0], self.means[-1]
        self.few = np.array([[float(x) for x in row] for row in (self.logs, self.means)])
        self.log_weights = np.array([float(w.log()) for w in self.weights])

    def log(self, x: arb) -> arb:
        """Compute the log of the law's density over that of N(0, 1) at x."""
        logs = [l + d * x for l, d in zip(self.logs, self.means, strict=True)]
        top = BALL.maximum(*logs)
        return top + sum(((log - top).exp() for log in logs), arb(0)).log()

    def floats(self, x: Floats) -> Floats:
        """Estimate the log of the law's density over that of N(0, 1) at some x."""
        return np.asarray(np.logaddexp.reduce(self.few[0][:, None] + np.outer(self.few[1], x)))

    def tail(self, x: arb, sign: int) -> arb:
        """Compute the law's mass beyond x, or before it where the sign is −1."""
        terms = zip(self.weights, self.means, strict=True)
        return sum((w * normal_tail(sign * (x - d)) for w, d in terms), arb(0))

    def arg(self, x: arb, height: arb) -> arb:
        """Enclose the argument of the density over that of N(0, 1) at x + i·height.

        It rises with x where the height turns the law's own means by less than π.
        """
        middle = (self.low + self.high) / 2
        total = acb(0)
        for log, d in zip(self.logs, self.means, strict=True):
            total += (acb(log + (d - self.means[0]) * x, height * (d - middle))).exp()
        return total.arg() + height * middle

    def args(self, x: Floats, height: float) -> Floats:
        """Estimate the argument of the density over that of N(0, 1) at some x + i·height."""
        middle = self.few[1][[0, -1]].mean()
        logs = self.few[0][:, None] + np.outer(self.few[1], x)
        terms = np.exp(logs - logs.max(axis=0) + 1j * height * (self.few[1] - middle)[:, None])
        return np.asarray(np.angle(terms.sum(axis=0)) + height * middle)

    def mass(self, left: arb, right: arb) -> arb:
        """Bound the mass of a cell from above: its width times the largest densities."""
        total = arb(0)
        for w, d in zip(self.weights, self.means, strict=True):
            away = (left - d).max(d - right).max(arb(0))
            total += w * (-away * away / 2).exp()
        return total * (right - left) / (2 * arb.pi()).sqrt()

    def log_masses(self, x: Floats) -> Floats:
        """Estimate the logarithms of `mass` between each two places."""
        left, right, d = x[:-1], x[1:], self.few[1][:, None]
        away = np.maximum(np.maximum(left - d, d - right), 0.0)
        logs = np.logaddexp.reduce(self.log_weights[:, None] - away**2 / 2)
        return np.asarray(logs + np.log(right - left) - _LOG_ROOT)

    def growth(self, power: arb, sign: int) -> arb:
        """Return the largest slope of power·log as x → ∞, or the least as x → −∞ if `sign` < 0."""
        return power * (self.high if (power > 0) == (sign > 0) else self.low)

    def shrink(self, height: arb, power: arb) -> arb:
        """Bound |law|^power on the line Im x = height over its value on the real line.

        It is 1 for powers >= 0, as |law| is no larger there.
        """
        return ((self.high - self.low) * height / 2).cos() ** power.min(arb(0))


@dataclass(frozen=True)
class NormalMixtures(SummedLoss):
    """Two mixtures are P = Σ w N(jΔ, σ²) of the `upper` (w, j) against Q of the `lower` ones.

    `ratio` = Δ²/σ² > 0. Both are by growing j, w > 0; the smallest j of P is at least the largest
    of Q, and the largest j of P is more, so that L rises with x. Who makes them sees to that.
    """

    upper: Weights
    lower: Weights
    ratio: Exact

    is_searched = True
    decays_slowly = True

    @property
    def symmetric(self) -> bool:
        """Does a reflection x ↦ c − x exchange the two laws?"""
        centre = self.upper[0][1] + self.lower[-1][1]
        return tuple((w, centre - j) for w, j in reversed(self.lower)) == self.upper

    @property
    def laws(self) -> tuple[NormalSum, NormalSum]:
        """Both laws, P first, at flint's current precision."""
        return _laws(self, ctx.prec)

    @cached_property
    def _rough(self) -> tuple[NormalSum, NormalSum]:
        """Both laws at few bits, for what steers."""
        with ctx.workprec(_BITS):
            return self.laws

    def _loss(self, x: arb) -> arb:
        """Compute log p − log q at x, in deviations."""
        p, q = self.laws
        return p.log(x) - q.log(x)

    # --- float64: where to look

    def floats(self, lowest_order: float, highest_order: float) -> tuple[Floats, Floats]:
        """Return log of Q's masses, and losses, about the tilted means; LimitError for many."""
        p, q = self._rough
        ends = [
            a * d + (1 - a) * e
            for a in (lowest_order, highest_order)
            for d in p.few[1][[0, -1]]
            for e in q.few[1][[0, -1]]
        ]
        step = _STEERING_STEP / max(1.0, (p.few[1][-1] - q.few[1][0]) / 4)
        first, last = min(ends) - _STEERING_REACH, max(ends) + _STEERING_REACH
        limits.check("order", math.ceil((last - first) / step), "nodes of a mixture")
        x = np.arange(first, last, step)
        log_q = q.floats(x)
        return math.log(step) - _LOG_ROOT - x**2 / 2 + log_q, p.floats(x) - log_q

    def _places(self, a: float, need: float) -> Floats:
        """Estimate the ends of cells beyond which there is about e^{−need} F(a)."""
        p, q = self._rough
        goal = float(self.float_moments(np.array([a]))[0][0]) - need - 3

        def end(sign: int) -> float:
            slope = float(_slope((p, q), arb(a), sign))
            x = _CELL * (math.floor(slope / _CELL) + (sign > 0))
            while self._log_beyond(a, x, slope) > goal:
                deadline.check()
                x += sign
            return x

        return np.arange(end(-1), end(1) + _CELL / 2, _CELL)

    def _log_beyond(self, a: float, x: float, slope: float) -> float:
        """Estimate log of `_beyond` at x, for that slope of a log p + (1−a) log q."""
        p, q = (float(law.floats(np.array([x]))[0]) for law in self._rough)
        away = x - slope
        return a * p + (1 - a) * q - slope * x + slope**2 / 2 - away**2 / 2

    def _log_edges(self, a: float, t: float, x: Floats) -> tuple[Floats, Floats]:
        """Estimate log of `_edge` for some heights of a line, and return these heights."""
        p, q = self._rough
        heights = _SHARES * _LARGEST_TURN / (p.few[1][-1] - q.few[1][0])
        losses = p.floats(x) - q.floats(x)
        logs = q.log_masses(x) + a * (losses[1:] if a >= 0 else losses[:-1])
        log_edges = []
        for height in heights:
            over, under = p.args(x, height), q.args(x, height)
            turned = over[1:] - under[:-1] if t >= 0 else np.maximum(over[:-1] - under[1:], 0.0)
            shrunk = sum(
                min(power, 0.0) * math.log(math.cos(height * float(law.high - law.low) / 2))
                for law, power in ((p, a), (q, 1 - a))
            )
            log_edges.append(np.logaddexp.reduce(logs + t * turned) + height**2 / 2 + shrunk)
        return np.array(log_edges), heights

    def in_floats(self, reverse: bool, rare: float) -> float_laws.TailsInFloats | None:
        """Give the law by tails in float64; None where densities are beyond its range."""
        return mixture_tails(self, reverse, rare)

    def log_decay(self, a: float, t: float) -> float:
        """Estimate the bound of log|F(a+is)| for s >= t: by the best line, or a table."""
        far, _ = self._log_edges(a, -t, self._places(a, 40.0))
        log_moment = float(self.float_moments(np.array([a]))[0][0])
        lowest = float(far.min())
        is_told = lowest < log_moment - _FALL_TOLD_BY_A_LINE
        return lowest if is_told else super().log_decay(a, t)

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the nodes of a value."""
        rule = _rule(self, line.a, line.h * line.last, need)
        return rule.last - rule.first + 1

    # --- balls: what is proved

    def sample(self, a: float, far: float, need: float) -> Sample:
        """Make nodes for orders a + it by a trapezoidal sum."""
        return _sample(self, a, far, need, ctx.prec)

    def decay_constants(self, a: float, moment: arb) -> list[End]:
        """Bound |F(a+is)| by F(a) for s < t, and by a line off the real one for s >= t.

        As A + C/s with C = F(a)t, for each of some t.
        """
        start = float(self.float_moments(np.array([a]))[1][0]) ** -0.5
        return [
            (self._decay_bound(a, start * 2.0**j), moment * start * 2.0**j)
            for j in range(_DOUBLINGS_OF_TIME)
        ]

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log|F(a+is)| for s >= t, by one line alone where that shows enough fall."""
        far = self._decay_bound(a, t).log()
        return (
            far
            if far < float(self.float_moments(np.array([a]))[0][0]) - _FALL_TOLD_BY_A_LINE
            else super().decay(a, t, slack)
        )

    def _decay_bound(self, a: float, t: float) -> arb:
        """Bound |F(a+is)| for s >= t by the line of a height that is estimated to be best."""
        x = self._places(a, 40.0)
        logs, heights = self._log_edges(a, -t, x)
        return _edge(self, a, -t, float(heights[logs.argmin()]), tuple(x[[0, -1]]))

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute P(x > t) − e^y Q(x > t), L(t) = y.

        Of (Q, P) it is Q(x < t) − e^y P(x < t), L(t) = −y.
        """
        deadline.check()
        loss, sign = (-y, -1) if reverse else (y, 1)
        above = loss.exp() - (-self.largest(True)).exp()
        if not above > 0:
            off = up_to(above.max(arb(0)) * (1 + y.exp()))
            return off if reverse else off - y.expm1()
        at = self._threshold(loss)
        p, q = self.laws
        first, other = (q, p) if reverse else (p, q)
        value: arb = first.tail(at, sign) - y.exp() * other.tail(at, sign)
        return value.max(arb(0))

    def _threshold(self, loss: arb) -> arb:
        """Search the outcome of a loss, which rises; NaN where none is near.

        The centre of a symmetric pair is known exactly, as no ball is beside it.
        """
        if self.symmetric and loss == 0:
            centre = self.upper[0][1] + self.lower[-1][1]
            return centre * BALL.number(self.ratio).sqrt() / 2
        low, high = arb(-1), arb(1)
        while not self._loss(low) < loss:
            deadline.check()
            low *= 2
            if low < -_FARTHEST:
                return arb.nan()
        while not self._loss(high) > loss:
            deadline.check()
            high *= 2
            if high > _FARTHEST:
                return arb.nan()
        return enclosed(lambda x: (loss - self._loss(x)).exp(), arb(1), (low, high))

    def largest(self, reverse: bool) -> arb:
        """Return ∞; if `reverse`, −L as x → −∞, finite where both laws have the same least mean."""
        if not reverse or self.upper[0][1] > self.lower[0][1]:
            return arb("inf")
        return (BALL.number(self.lower[0][0]) / BALL.number(self.upper[0][0])).log()

    def in_latex(self, write: Write) -> WrittenLaws | None:
        """Write both mixtures in units of the distance of means; None for more than eight laws."""
        if max(len(self.upper), len(self.lower)) > MOST_TERMS:
            return None
        variance = write(1 / self.ratio)

        def mixture(weights: Weights) -> str:
            terms = ((factor(write(w)), normal(str(j), variance)) for w, j in weights)
            return f"{BREAK} + ".join(law if w == "1" else rf"{w} \, {law}" for w, law in terms)

        return WrittenLaws(mixture(self.upper), mixture(self.lower))


@lru_cache(64)
def _laws(part: NormalMixtures, bits: int) -> tuple[NormalSum, NormalSum]:
    """Make both laws, `bits` being flint's current precision."""
    distance = BALL.number(part.ratio).sqrt()
    return NormalSum(part.upper, distance), NormalSum(part.lower, distance)


def _slope(laws: Sequence[NormalSum], a: arb, sign: int) -> arb:
    """Return the largest slope of a log p + (1−a) log q over N(0, 1) as x → ∞.

    If `sign` < 0 it is the least one as x → −∞.
    """
    p, q = laws
    return p.growth(a, sign) + q.growth(1 - a, sign)


def _beyond(part: NormalMixtures, a: arb, x: arb, sign: int) -> arb:
    """Bound ∫p^a q^{1−a}, and its sums at any step, to the right of x or, by `sign`, to the left.

    There the slope k is not exceeded: N(0, 1) tilted by it, which falls beyond k. ∞ where x is not
    beyond k.
    """
    p, q = part.laws
    slope = _slope((p, q), a, sign)
    away = sign * (x - slope)
    if not away >= 0:
        return arb.pos_inf()
    log_tilt = a * p.log(x) + (1 - a) * q.log(x) - slope * x + slope**2 / 2
    return tilted_tail(log_tilt, away)


class MixtureCells:
    """Both laws at the ends of cells, and on one line off the real one, at `_BITS`, as needed.

    None of it depends on an order: lines of many orders have the same ends.
    """

    def __init__(self, part: NormalMixtures, eta: float) -> None:
        self._laws, self._height = part._rough, arb(eta)
        self.loss, self.mass = cache(self._loss), cache(self._mass)
        self.over, self.under = (cache(self._arg_of(law)) for law in self._laws)

    def _loss(self, j: int) -> arb:
        """Compute log p − log q at an end."""
        p, q = self._laws
        return p.log(_CELL * arb(j)) - q.log(_CELL * arb(j))

    def _mass(self, j: int) -> arb:
        """Bound the second law's mass from the end j to the next."""
        return self._laws[1].mass(_CELL * arb(j), _CELL * arb(j + 1))

    def _arg_of(self, law: NormalSum) -> Callable[[int], arb]:
        """Return what encloses the law's argument on the line above an end."""
        return lambda j: law.arg(_CELL * arb(j), self._height)


@lru_cache(64)
def _cells(part: NormalMixtures, eta: float) -> MixtureCells:
    """Make the cells of one line."""
    return MixtureCells(part, eta)


@lru_cache(512)
def _edge(part: NormalMixtures, a: float, t: float, eta: float, ends: tuple[float, float]) -> arb:
    """Bound ∫|p^a q^{1−a}|e^{t arg(p/q)} on the line of a height, in cells.

    Loss and both arguments rise with x: each is taken at the end where it makes most.
    """
    with ctx.workprec(_BITS):
        p, q = part.laws
        order, height, time = arb(a), arb(eta), arb(t)
        cells = _cells(part, eta)
        first, last = (round(x / _CELL) for x in ends)
        total = arb(0)
        for i in range(first, last):
            deadline.check()
            loss = cells.loss(i + 1 if a >= 0 else i)
            near, far = (i + 1, i) if t >= 0 else (i, i + 1)
            turned = (cells.over(near) - cells.under(far)).max(arb(0))
            total += cells.mass(i) * (order * loss + time * turned).exp()
        most = time.max(arb(0))
        left = (most * (cells.over(first) - height * q.low)).exp()
        right = (most * (height * p.high - cells.under(last))).exp()
        total += left * _beyond(part, order, arb(first) * _CELL, -1)
        total += right * _beyond(part, order, arb(last) * _CELL, 1)
        shrunk = p.shrink(height, order) * q.shrink(height, 1 - order)
        return (total * shrunk * (height**2 / 2).exp()).upper()


@lru_cache(64)
def _rule(part: NormalMixtures, a: float, far: float, need: float) -> Rule:
    """Choose the widest step that is estimated to be narrow enough, and the line that shows it."""
    ends = part._places(a, need)[[0, -1]]
    # On a line off the real one the tails are larger by what is turned there.
    x = part._places(a, need + min(far * _LARGEST_TURN, _MOST_TURNED_NATS))
    logs, heights = part._log_edges(a, far, x)
    log_moment = float(part.float_moments(np.array([a]))[0][0])
    falls = np.maximum(logs - log_moment, 0.0) + max(need, 1.0) + 2
    steps = 2 * math.pi * heights / falls
    best = int(np.argmax(steps))
    step = rounded_down(float(steps[best]))
    nodes = math.floor(ends[0] / step), math.ceil(ends[1] / step)
    return Rule(step, *nodes, float(heights[best]), (float(x[0]), float(x[-1])))


@lru_cache(32)
def _sample(part: NormalMixtures, a: float, far: float, need: float, bits: int) -> Sample:
    """Sum by trapezoids; for |Im z| <= t at most 2∫/(e^{2πη/h} − 1) off, ∫ as in `_edge`."""
    rule = _rule(part, a, far, need)
    edge = _edge(part, a, far, rule.height, rule.cells)
    error: arb = 2 * edge / (2 * arb.pi() * arb(rule.height) / arb(rule.step)).expm1()
    order, step = arb(a), arb(rule.step)
    for j, sign in ((rule.first, -1), (rule.last, 1)):
        error += _beyond(part, order, step * j, sign)
    losses, weights, scale = [], [], step / (2 * arb.pi()).sqrt()
    p, q = part.laws
    for j in range(rule.first, rule.last + 1):
        deadline.check()
        place = step * j
        log_q = q.log(place)
        loss = p.log(place) - log_q
        losses.append(loss)
        weights.append(scale * (order * loss + log_q - place**2 / 2).exp())
    return Sample(losses, weights, error)


# --- the law in float64
#
# A law on nodes, of which a grid for many parts is made (docs/proofs/grids.md, Lemma
# mixture-tails). Here x and the means are from the mean of Q's heaviest law, in deviations.

#: No set of outcomes is told from one that begins so far beyond all means, in deviations. Lemma
#: mixture-tails takes what is beyond for rounding: a smaller one is unsound.
_FAR = 13.0
#: Places are first read off a table of so many losses, then made nearer by so many Newton steps.
#: They steer: how far each place is off is bounded.
_TABLE, _NEWTON_STEPS = 2**13, 2
#: Exponents above this are refused, as e^t has to be far from overflow: balls answer for means that
#: need them.
_LARGEST_EXPONENT = 600.0
#: Losses farther than this are not told apart, in nats. Both ends of the loss steer.
_FARTHEST_LOSS = 256.0
#: An exponent d(x − d/2) is off by so many units of |d|(|x| + |d|), a term by so many of itself.
#: Lemma mixture-tails rests on both: smaller ones are unsound.
_EXPONENT_UNITS, _TERM_UNITS = 8, 16


class FloatMixture(NamedTuple):
    """A mixture in float64 has `weights` and `means`, without rare laws that have `lost` in all."""

    weights: Floats
    means: Floats
    lost: float

    def log(self, x: Floats) -> tuple[Floats, Floats]:
        """Compute the log of the density over that of N(0, 1), and its error in units.

        By log(1+S) with S = Σ w(e^t − 1) where S is not near −1, as S is small next to 1 where the
        heaviest law has the mean 0.
        """
        change, total = np.full_like(x, -self.lost), np.zeros_like(x)
        size, moved = np.full_like(x, self.lost), np.zeros_like(x)
        for weight, d in zip(self.weights, self.means, strict=True):
            deadline.check()
            exponent = d * (x - d / 2)
            grown, term = weight * np.expm1(exponent), weight * np.exp(exponent)
            change += grown
            size += np.abs(grown)
            total += term
            moved += term * (abs(d) * (np.abs(x) + abs(d)))
        is_near = change > -0.5
        log = np.where(is_near, np.log1p(np.maximum(change, -0.5)), np.log(total))
        units = (_TERM_UNITS + len(self.weights)) * np.where(is_near, size, total)
        error = (_EXPONENT_UNITS * moved + units) / np.where(is_near, 1 + change, total)
        return log, error + _TERM_UNITS * np.abs(log)

    def slope(self, x: Floats) -> Floats:
        """Estimate the derivative of `log`."""
        total, risen = np.zeros_like(x), np.zeros_like(x)
        for weight, d in zip(self.weights, self.means, strict=True):
            term = weight * np.exp(d * (x - d / 2))
            total += term
            risen += d * term
        slope: Floats = risen / total
        return slope

    def tail(self, x: Floats, sign: int) -> Floats:
        """Compute the mass beyond x, or before it where the sign is −1."""
        mass = np.zeros_like(x)
        for weight, d in zip(self.weights, self.means, strict=True):
            mass += weight * upper_tail(sign * (x - d))
        return mass


class FloatPair(NamedTuple):
    """Two mixtures in float64 have a loss that rises between two places."""

    p: FloatMixture
    q: FloatMixture
    low: float
    high: float

    def loss(self, x: Floats) -> tuple[Floats, Floats]:
        """Compute log p − log q, and its error in nats."""
        (first, first_units), (other, other_units) = self.p.log(x), self.q.log(x)
        return first - other, (first_units + other_units + np.abs(first - other)) * float_laws.UNIT

    def places(self, losses: Floats) -> tuple[Floats, Floats]:
        """Search the places of some losses, and bound how far the loss at each is from it.

        The places are −∞ and ∞ where the losses are not between those at both ends.
        """
        table = np.linspace(self.low, self.high, _TABLE)
        known, off = self.loss(table)
        known = np.maximum.accumulate(known)
        x = np.interp(losses, known, table)
        for _ in range(_NEWTON_STEPS):
            with np.errstate(all="ignore"):
                step = (losses - self.loss(x)[0]) / (self.p.slope(x) - self.q.slope(x))
            x = np.clip(x + np.where(np.isfinite(step), step, 0.0), self.low, self.high)
        value, error = self.loss(x)
        is_inside = (losses > known[0]) & (losses < known[-1])
        is_low = losses <= known[0]
        away = np.where(
            is_inside, np.abs(value - losses) + error, np.where(is_low, off[0], off[-1])
        )
        return np.where(is_inside, x, np.where(is_low, -math.inf, math.inf)), away


# Proved in docs/proofs/grids.md, Lemma mixture-tails.
def mixture_tails(
    part: NormalMixtures, reverse: bool, rare: float
) -> float_laws.TailsInFloats | None:
    """Give two mixtures by tails in float64, without laws that are rare.

    Beyond a place the loss is larger; exchanged it is so before it. None for means that are so far
    apart, or so near, that densities are beyond the range of float64.
    """
    base = max(part.lower, key=_weight)[1]
    s = math.sqrt(float_laws.nearest(part.ratio))
    p, q = (_kept_laws(law, base, s, rare) for law in (part.upper, part.lower))
    means = np.concatenate([p.means, q.means])
    low, high = float(means.min()) - _FAR, float(means.max()) + _FAR
    apart = high - low
    if not np.abs(means).max() * apart <= _LARGEST_EXPONENT or not s:
        return None
    pair = FloatPair(p, q, low, high)
    first, other, sign = (q, p, -1) if reverse else (p, q, 1)
    count = len(means)

    def beyond(losses: Floats) -> float_laws.Beyond:
        """Compute the masses beyond some losses, and what float64 loses of them."""
        places, off = pair.places(-losses if reverse else losses)
        inside = np.clip(places, low, high)
        every, none = (places == -sign * math.inf), (places == sign * math.inf)
        masses = (
            np.where(every, float(law.weights.sum()), np.where(none, 0.0, law.tail(inside, sign)))
            for law in (first, other)
        )
        p_masses, q_masses = masses
        unknown = (q_masses == 0) & ~none
        units = 2 * (3 * apart + 2 * count) + float_laws.FEW
        short = _misplaced(losses, p_masses, off) + first.lost
        short += 4 * RELATIVE_ERROR + units * float_laws.UNIT
        return float_laws.Beyond(p_masses, q_masses, short, unknown)

    smallest, largest = _ends(pair, first, sign, rare)
    return float_laws.TailsInFloats(smallest, largest, beyond)


def _misplaced(losses: Floats, beyond: Floats, off: Floats) -> float:
    """Bound what nodes lose that are `off` their losses: at one of them, and at all that stand by.

    What is on the wrong side of a place is beyond the node before, where no place is off by half a
    step, so that places rise as their losses do.
    """
    lost = np.expm1(2 * off)
    if not (len(losses) > 1 and 2 * off.max() <= losses[1] - losses[0]):
        return float(2 * lost.max())
    before = np.concatenate([[1.0], beyond[:-1]])
    return float((lost * before).max() + lost @ np.maximum(before - beyond, 0.0))


def _kept_laws(law: Weights, base: int, distance: float, rare: float) -> FloatMixture:
    """Make a mixture about a mean in float64, without the lightest laws, of `rare` in all."""
    by_weight, lost = sorted(law, key=_weight), 0.0
    while len(by_weight) > 1 and lost + _weight(by_weight[0]) <= rare:
        lost += _weight(by_weight.pop(0))
    by_mean = sorted((j, _weight((w, j))) for w, j in by_weight)
    means, weights = zip(*((float(j - base), w) for j, w in by_mean), strict=True)
    return FloatMixture(np.array(weights), distance * np.array(means), lost)


def _weight(law: tuple[Exact, int]) -> float:
    """Round a law's weight to the nearest float, or one next to it."""
    return float_laws.nearest(law[0])


def _ends(pair: FloatPair, first: FloatMixture, sign: int, rare: float) -> tuple[float, float]:
    """Estimate two losses of which about the mass `rare` of a law lies beyond each."""
    table = np.linspace(pair.low, pair.high, _TABLE)[::sign]
    losses = np.clip(sign * pair.loss(table)[0], -_FARTHEST_LOSS, _FARTHEST_LOSS)
    beyond = first.tail(table, sign)
    start = np.count_nonzero(beyond >= first.weights.sum() - rare)
    end = np.count_nonzero(beyond >= rare)
    return float(losses[max(start - 1, 0)]), float(losses[min(end, _TABLE - 1)])
