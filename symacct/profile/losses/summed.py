"""A summed loss has moments that are sums over nodes, Σ w_j e^{itℓ_j} on a whole line at once.

`need` and `slack` are in nats, `far` is the largest |t|, and t = Im z is in units of an order, as
in profile/part.py. Nodes with their error are proved; what is of float64 steers.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import acb, arb

from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import within
from symacct.kernel.errors import LimitError
from symacct.kernel.exact import Exact
from symacct.profile.part import Floats, OrderLine, Part, log_turning, no_pair
from symacct.profile.sums import sums_on_a_line

# --- the largest of a tail
#
# The largest |F(a+is)| from some s on, where F is known value by value and far away by a bound.
#
# Between two places G(s) = e^{−iμs}F(a+is) is off its chord by at most |G″|d²λ(1−λ)/2, and |G″| <=
# E_Q[(L−μ)²e^{aL}] is bounded by three real moments (docs/proofs/losses.md, Lemma between-places).

#: A tail is walked by so many steps at most; then F(a) is its bound. More take longer, and bound a
#: slow tail.
_MOST_STEPS = 1200
#: A goal is walked to if at most so many steps are foreseen, each a sum over all nodes; else it is
#: raised. More take longer, and bound more sharply.
_FORESEEN_STEPS = 200
#: A bound may be e^{f/20} times the value at the start, f the nats that |F| has fallen there. A
#: larger divisor bounds more sharply, and takes longer.
SHARE = 20
#: A goal that takes more steps is raised by that share of the fall that is left, so often at most.
#: Every bound is proved.
_RAISES = 100

#: (A, C) with |F(a+is)| <= A + C/s for every s > 0.
End = tuple[arb, arb]


@dataclass(frozen=True)
class TransformOnLine:
    """A transform on a line Re z = a is known by values |F(a+is)| and three bounds.

    `at` bounds a value from above, `moment` is F(a), `bend` bounds |G″|. For every s > 0 it is at
    most A + C/s, for each (A, C) of `ends`.
    """

    at: Callable[[float], arb]
    moment: arb
    bend: arb
    ends: list[End]

    def largest_beyond(self, start: float) -> arb:
        """Bound |F(a+is)| for all s >= start > 0, within a share of what it has fallen there.

        Where that would take too many steps it is the least that few steps show, F(a) at most.
        """
        most = self.moment
        for constant, falling in self.ends:
            if (far := constant + falling / arb(start)) < most:
                most = far
        return most.min(self._walked(start, most))

    def _walked(self, start: float, most: arb) -> arb:
        """Bound |F(a+is)| from `start` on by steps between values, up to where `ends` serve.

        `most` where no walk of few steps is foreseen to show less.
        """
        if not self._may_arrive(start, most):
            return most
        place, here, step = start, self.at(start), start
        fall = (self.moment / here).log()
        slack, goal = (fall / SHARE).expm1().mid(), self._lowest_goal(start, fall, most)
        if goal is None:
            return most
        for _ in range(_MOST_STEPS):
            deadline.check()
            if any(constant + falling / place <= goal for constant, falling in self.ends):
                return goal
            next_place = place + step
            there = self.at(next_place)
            bent = self.bend * (arb(next_place) - arb(place)) ** 2 / 2
            highest = _highest(here, there, bent)
            if not highest <= goal:
                if not bent <= slack * goal:
                    step /= 2
                    continue
                goal = goal.max(highest * (1 + slack))
            # Where the chord goes on, twice the step bends four times as much.
            next_there = (there + 2 * (there - here)).max(arb(0))
            may_double = _highest(there, next_there, 4 * bent) <= goal
            place, here, step = next_place, there, 2 * step if may_double else step
        return most

    def _lowest_goal(self, start: float, fall: arb, most: arb) -> arb | None:
        """Estimate the lowest goal from `start` on that a walk of few steps may show.

        It is a share of the fall in nats above the value there, or of what is left again and again.
        None where there is no fall, or no such goal below `most`.
        """
        for _ in range(_RAISES if fall > 0 else 0):
            fall *= 1 - arb(1) / SHARE
            goal = self.moment * (-fall).exp()
            if not goal < most:
                break
            if self._may_arrive(start, goal):
                return goal
        return None

    def _may_arrive(self, start: float, goal: arb) -> bool:
        """Estimate if few steps from `start` lead to where A + C/s is below the goal.

        No step d is longer than |G″|d²/8 <= goal allows.
        """
        last = arb(start) + _FORESEEN_STEPS * (8 * goal / self.bend).sqrt()
        return not all(constant + falling / last > goal for constant, falling in self.ends)


def _highest(here: arb, there: arb, bent: arb) -> arb:
    """Bound (1−λ)·here + λ·there + λ(1−λ)·bent from above for all 0 <= λ <= 1, bent >= 0."""
    rise = there - here
    if bent <= abs(rise):
        return here.max(there)
    return (here + (rise + bent) ** 2 / (4 * bent)).max(here).max(there)


def second_moment_bound(moments: list[arb], mean: float, apart: float) -> arb:
    """Bound E_Q[(L−μ)²e^{aL}] by the moments F(a−h), F(a), F(a+h), h = `apart`, for any μ = `mean`.

    As h²x² <= e^{hx} + e^{−hx} − 2.
    """
    below, middle, above = moments
    turn = (arb(mean) * arb(apart)).exp()
    return (below * turn + above / turn - 2 * middle) / arb(apart) ** 2


# --- the loss

#: Three moments are taken as far apart as they tell the variance of L to this factor at most. The
#: bound is proved for any three moments; nearer ones take more bits.
_LARGEST_VARIANCE_RATIO = 1.1
#: Moments are brought nearer together at most so often, each time by half. It steers.
_HALVINGS = 20
#: |F| is looked at for so many t between these, over the deviation of L, to estimate its fall. They
#: steer.
_NEAREST_TIME, _FARTHEST_TIME, _TIMES = 0.02, 2e4, 120
#: A fall of |F|/F(a) below this is not told by float64. It steers.
_SMALLEST_FALL = 1e-12
#: A variance is at least this share of E[L²], where all of it cancels in float64. It steers.
_LEAST_VARIANCE = 2.0**-50
#: A grid of nodes reaches at least so far beyond the orders 0 and 1, unless moments end before. It
#: steers.
_LEAST_REACH = 2.0**-6
#: A value of |F| is asked to be off by e^{−5} of what it has fallen at t, by e^{−1} beyond it. The
#: error is part of the bound: more are sharper, and take longer.
_SPARE_NATS, _ROUGH_NATS = 5.0, 1.0


#: Log of Q's masses, and the losses of the nodes, in float64.
Grid = tuple[Floats, Floats]


@dataclass(frozen=True)
class Sample:
    """A sample has |Σ w e^{itℓ} − F(a+it)| <= `error` for every |t| that it was made for.

    Weights and error hold a, which they were made for: w is Q e^{aℓ}.
    """

    losses: list[arb]
    weights: list[arb]
    error: arb

    @property
    def moment(self) -> arb:
        """Enclose F(a)."""
        return sum(self.weights, within(self.error))


class SummedLoss(Part):
    """A summed loss has moments summed over nodes, and a pair that an involution swaps.

    A subclass says `floats`, `sample` and `decay_constants`, and that it is not symmetric where it
    is not. It is asked at no order below `lowest_order`.
    """

    lowest_order = -math.inf

    @property
    def symmetric(self) -> bool:
        """Does an involution swap the two laws? So it does unless a subclass says otherwise."""
        return True

    def floats(self, lowest_order: float, highest_order: float) -> Grid:
        """Return log of Q's masses, and the losses, for orders between two; float64.

        LimitError where they would be too many, or a moment is infinite.
        """
        raise NotImplementedError

    def sample(self, a: float, far: float, need: float) -> Sample:
        """Make nodes for orders a + it, |t| <= far, with an error of about e^{−need} F(a)."""
        raise NotImplementedError

    def decay_constants(self, a: float, moment: arb) -> list[End]:
        """List pairs (A, C), each with |F(a+it)| <= A + C/t for every t > 0; F(a) is given.

        F(a) may be given by an estimate alone where it steers.
        """
        raise NotImplementedError

    def sampled(self, gamma: Exact) -> Part:
        """Raise AssumptionError: no pair of a sample is known."""
        raise no_pair(
            "found a sample of fixed size sampled again, needed a sample of the mechanism itself"
        )

    # --- float64: where to look

    def _grid(self, order: float) -> Grid | None:
        """Return nodes for orders about as far out, or for nearer ones where moments end before.

        None where no grid reaches the order.
        """
        shift = max(order - 1, -order)
        width = 2.0 ** math.ceil(math.log2(max(shift, 1.0)))
        while width >= max(shift, _LEAST_REACH):
            if (grid := _grid(self, order > 0.5, width)) is not None:
                return grid
            width /= 2
        return None

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log F and the variance of L, orders of about one size on one grid.

        log F is ∞, and the variance 1, where the grid would be too long or a moment is infinite.
        """
        log_moments, variances = np.full(len(orders), np.inf), np.ones(len(orders))
        grids = [self._grid(float(order)) for order in orders]
        for grid in {id(grid): grid for grid in grids if grid is not None}.values():
            shared = np.array([order_grid is grid for order_grid in grids])
            log_moments[shared], variances[shared] = float_moments_of_atoms(orders[shared], *grid)
        return log_moments, variances

    def log_decay(self, a: float, t: float) -> float:
        """Estimate the bound of log|F| beyond t by a table; like a square before its first t."""
        log_moment, times, falls = _falling(self, a)
        if t < times[0]:  # all runs together have fallen far before one has: as a square there
            return log_moment + float(falls[0] * (t / times[0]) ** 2)
        return log_moment + float(np.interp(math.log(t), np.log(times), falls))

    def log_values(self, line: OrderLine) -> Floats:
        """Estimate log F on a line of orders by nodes in float64."""
        log_weights, losses = _known(self, line.a)
        return log_turning(log_weights + line.a * losses, losses, line)

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the nodes of a value."""
        return len(self.sample(line.a, line.h * line.last, need).losses)

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Compute F on a line of orders by the nodes, with their error."""
        sample = self.sample(line.a, line.h * line.last, need)
        return sums_on_a_line(sample.weights, sample.losses, line, sample.error)

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log|F(a+is)| for s >= t, by `TransformOnLine`."""

        def at(s: float) -> arb:
            """Bound |F(a+is)| from above, to a share of what it has fallen there."""
            deadline.check()
            far = 2.0 ** (math.ceil(2 * math.log2(s)) / 2)  # for all up to there
            fallen = 1 - _height(self, a, s)
            spare = _SPARE_NATS if s == t else _ROUGH_NATS
            need = spare + math.ceil(-2 * math.log(max(fallen, slack))) / 2
            return self.modulus(a, s, far, need)

        bend, moment = self._bend(a, _SPARE_NATS - math.log(slack))
        return (
            TransformOnLine(at, moment, bend, self.decay_constants(a, moment))
            .largest_beyond(t)
            .log()
        )

    def modulus(self, a: float, s: float, far: float, need: float) -> arb:
        """Bound |F(a+is)| to about e^{−need} F(a), by the nodes that serve all |s| <= far."""
        sample = self.sample(a, far, need)
        turn = acb(0, arb(s))
        total = sum(
            (w * (turn * x).exp() for w, x in zip(sample.weights, sample.losses, strict=True)),
            acb(0),
        )
        return abs(total) + sample.error

    def _bend(self, a: float, need: float) -> tuple[arb, arb]:
        """Bound E_Q[(L−μ)²e^{aL}] by three real moments, and compute F(a)."""
        apart, mean, share = self._apart(a)
        moments = [
            self.transform(OrderLine(order, 1.0, 0), 8 + max(need, -math.log(share)))[0].real
            for order in (a - apart, a, a + apart)
        ]
        return second_moment_bound(moments, mean, apart), moments[1]

    def _apart(self, a: float) -> tuple[float, float, float]:
        """Choose the widest h at which three moments tell the variance V; h, μ and h²V."""
        variance = float(self.float_moments(np.array([a]))[1][0])
        apart = min(0.5 / math.sqrt(variance), (a - self.lowest_order) / 2)
        for _ in range(_HALVINGS):
            below, middle, above = self.float_moments(a + apart * np.array([-1.0, 0.0, 1.0]))[0]
            if below + above - 2 * middle < _LARGEST_VARIANCE_RATIO * apart**2 * variance:
                break
            apart /= 2
        return apart, (above - below) / (2 * apart), apart**2 * variance


def float_moments_of_atoms(
    orders: Floats, log_weights: Floats, losses: Floats
) -> tuple[Floats, Floats]:
    """Estimate log F and the variance of L of atoms at real orders, in float64."""
    exponent = orders[:, None] * losses + log_weights
    top = exponent.max(axis=1)
    share = np.exp(exponent - top[:, None])
    total = share.sum(axis=1)
    mean, square = (np.einsum("ij,j", share, x) / total for x in (losses, losses**2))  # no threads
    return np.log(total) + top, np.maximum(square - mean**2, _LEAST_VARIANCE * square)


@lru_cache(32)
def _grid(part: SummedLoss, is_above: bool, width: float) -> Grid | None:
    """Return nodes for orders from 0 to 1 + width if `is_above`, else from −width to 1.

    None where the loss refuses them by a LimitError.
    """
    with contextlib.suppress(LimitError):
        return part.floats(0.0, 1 + width) if is_above else part.floats(-width, 1.0)
    return None


def _known(part: SummedLoss, order: float) -> Grid:
    """Return the nodes at an order where `float_moments` is finite."""
    grid = part._grid(order)
    assert grid is not None  # noqa: S101  # no other order is chosen
    return grid


@lru_cache(64)
def _weighed(part: SummedLoss, a: float) -> tuple[Floats, Floats, float]:
    """Estimate the weights Q e^{aL}/F(a), the losses and log F(a) on a grid."""
    log_weights, losses = _known(part, a)
    log_moment = float(part.float_moments(np.array([a]))[0][0])
    return np.exp(log_weights + a * losses - log_moment), losses, log_moment


def _height(part: SummedLoss, a: float, t: float) -> float:
    """Estimate |F(a+it)|/F(a)."""
    weights, losses, _ = _weighed(part, a)
    return abs(complex(np.exp(1j * t * losses) @ weights))


@lru_cache(64)
def _falling(part: SummedLoss, a: float) -> tuple[float, Floats, Floats]:
    """Tabulate what `decay` may prove of log|F(a+is)|/F(a) for s >= t, over times t.

    It estimates log F(a), the times and the logarithms at them.
    """
    variance = float(part.float_moments(np.array([a]))[1][0])
    times = np.geomspace(_NEAREST_TIME, _FARTHEST_TIME, _TIMES) / math.sqrt(variance)
    heights = np.array([_height(part, a, t) for t in times])
    log_moment = _weighed(part, a)[2]
    moment = arb(log_moment).exp()
    smallest = min(float(constant / moment) for constant, _ in part.decay_constants(a, moment))
    heights = np.maximum.accumulate(heights[::-1])[::-1]
    heights = np.clip(heights, min(max(_SMALLEST_FALL, smallest), 1.0), 1.0)
    return log_moment, times, np.log(heights) * (1 - 1 / SHARE)


def fixed_size_hockey_stick(mixture: Part, y: arb) -> arb:
    """Compute D(y) of the pair that is glued of a mixture against Q and its mirror image.

    For y >= 0 it is that of the mixture; below 0 by reversal, D(y) = 1−e^y+e^yD(−y).
    """
    if y >= 0:
        return mixture.hockey_stick(y, False)
    return y.exp() * mixture.hockey_stick(-y, False) - y.expm1()
