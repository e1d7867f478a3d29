"""A record in one step of many has a loss by the sum S of the steps' likelihood ratios.

W is the ratio of both densities in one run, and t the number of runs. D is in balls; what says
"estimate" is float64 and steers. Losses, y, log δ and errors are natural logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx

from symacct.analysis.laplace_sums import Bent, LaplaceRatio, Straight
from symacct.analysis.lognormal import Lognormal, Shortfall, hyperbola
from symacct.analysis.normal_tails import hockey_stick
from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import accuracy, normal_tail, up_to
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact, LazyModule
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.halving import halved
from symacct.profile.part import Floats, Part, ProfileOnly, no_pair
from symacct.profile.written_laws import Write, WrittenLaws, allocated, laplaces, normals

if TYPE_CHECKING:
    from symacct.profile.grids import LaidLaw
    from symacct.profile.losses import allocated_law, gaussian, laplace
else:  # which several epochs alone need
    allocated_law, gaussian, laplace = (
        LazyModule(f"symacct.profile.losses.{file}")
        for file in ("allocated_law", "gaussian", "laplace")
    )

# --- Gaussian noise
#
# Each record in one of t runs of Gaussian noise, drawn at random: dP/dQ = S/t, S a lognormal sum.
#
# H_a(P‖Q) = E(S/t − a)₊ and H_a(Q‖P) = E(1 − aS/t)₊: the expected shortfall of S below a place
# gives both, as E S = t (docs/proofs/allocations.md, Lemma lognormal-profile).

#: A value has so many bits less than flint's precision, as callers ask with a reserve; 10 at least.
#: It costs time: the ball says what it has.
_RESERVE_BITS, _FEWEST_BITS = 56, 10
#: An error is asked to be e^{−3} of what is wanted, and a guess of log δ is lowered by as much. It
#: costs time: errors are bounded apart.
_SPARE_NATS = 3.0
#: Errors are rounded to multiples of so many nats, so that nearby questions share a contour. It
#: costs time alone.
_ROUNDED_NATS = 4.0
#: Beyond this s = Δ/σ no contour is short, and bounds of one run answer alone. These are proved,
#: and wide.
_LARGEST_RATIO_OF_CONTOURS = 6.5
#: Where only bounds of one run answer, more bits than these tell no more, and are refused by a
#: PrecisionError.
_MOST_BITS_OF_BOUNDS = 192
#: The others' ratios are bounded at K to one of these powers, whichever bounds best. Each is a
#: proved bound; more are sharper.
_POWERS_OF_PLACE = np.linspace(0.4, 0.9, 11).tolist()
#: Places within half a deviation of the loss share a contour, but no farther apart than 0.25 nats.
#: It costs time alone.
_CELL_IN_DEVIATIONS, _WIDEST_CELL = 0.5, 0.25
#: A contour is laid again at most so often, for a smaller δ or more bits. More take longer, and the
#: ball holds D whatever they are.
_ATTEMPTS = 5
#: A guess of ε is halved so often, from at most 10^4 nats. It steers.
_HALVINGS, _FARTHEST = 60, 1e4
#: Below this a float64 counts as lost, and an asymptotic formula serves. It steers.
_TINY = 1e-300
#: About so many bits do for what steers.
_FEW_BITS = 64
#: Orders λ at which E[(S/t)^{−λ}] steers.
_ORDERS = np.geomspace(0.1, 1e6, 120)
#: The second derivative of log E[(S/t)^z] is a difference over so much of an order on either side.
#: It steers.
_ORDER_STEP = 1e-3


class AllocationLoss(ProfileOnly):
    """An allocation's loss is log(S/t), finite, of two laws that no symmetry exchanges.

    Its moments are estimates; D alone is proved, of one run.
    """

    symmetric = False
    steps: int

    @property
    def of_run(self) -> Part:
        """The loss of one run."""
        raise NotImplementedError

    def on_grid(self, count: int, reverse: bool, need: float) -> LaidLaw:
        """Lay the law of the sum of ratios on a grid: several epochs ask few digits of each."""
        return allocated_law.laid(self, count, reverse, need)

    def allocated(self, steps: int) -> Part:
        """Make the loss of a record in one of all runs: a mean of means of ratios is their mean."""
        return replace(self, steps=self.steps * steps)  # type: ignore[type-var]

    def sampled(self, gamma: Exact) -> Part:
        """Raise AssumptionError: no pair is known of an allocation on a sample."""
        raise no_pair("found RandomAllocation on a sample, needed it on all of the data")

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log E[(S/t)^z] and the variance of L under the tilted law, at real orders.

        The variance is a difference of second order, and at least a quarter of `spread`: it may be
        far off where the estimates of log E[(S/t)^z] pass from one formula to another.
        """
        offsets = (0.0, _ORDER_STEP, -_ORDER_STEP)
        here, right, left = (self.log_moments(orders + x) for x in offsets)
        curved = (right - 2 * here + left) / _ORDER_STEP**2
        return here, np.maximum(curved, self.spread / 4)

    @property
    def spread(self) -> float:
        """Estimate the variance of log S, as if S were lognormal."""
        raise NotImplementedError

    def log_moments(self, z: Floats) -> Floats:
        """Estimate log E[(S/t)^z] at real orders z."""
        raise NotImplementedError


@dataclass(frozen=True)
class AllocatedGaussian(AllocationLoss):
    """Gaussian noise has `ratio` = (Δ/σ)² > 0 of a run, and t = `steps` > 1."""

    ratio: Exact
    steps: int

    @property
    def of_run(self) -> Part:
        """The loss of Gaussian noise of one run."""
        return gaussian.GaussianLoss(self.ratio)

    def in_latex(self, write: Write) -> WrittenLaws:
        """Write both laws of all runs, by those of one."""
        return allocated(*normals(1 / self.ratio, write), self.steps)

    # --- float64: where to look

    @cached_property
    def law(self) -> Lognormal:
        """The law of W, the ratio of both densities in one run."""
        return _lognormal(self.ratio)

    @property
    def spread(self) -> float:
        """Compute log(1 + Var W/t), the variance of log S as if S were lognormal."""
        return math.log1p(self.law.variance / self.steps)

    def log_moments(self, z: Floats) -> Floats:
        """Estimate log E[(S/t)^z]: below 0 by Mellin's integral, above as if S were lognormal.

        For z > 1 the moment as if one W were all of S is added.
        """
        square, t = self.law.s**2, self.steps
        even = z * (z - 1) / 2 * self.spread
        jump = z * (z - 1) / 2 * square - (z - 1) * math.log(t)
        log_moments = np.where(z > 1, np.logaddexp(even, jump), even)
        below = z < -_ORDER_STEP
        if below.any():
            log_moments[below] = self.law.log_negative_moments(-z[below], t)
        return np.asarray(log_moments)

    def about_root(self, log_delta: float, reverse: bool) -> float:
        """About the ε of a δ, as if log S were normal, or one W far from 1."""
        return _halved(lambda y: self._log_about(y, reverse) - log_delta)

    def _log_about(self, y: float, reverse: bool) -> float:
        """Estimate log D(y), as if log S were normal or one W far from 1; of (Q, P) by moments."""
        if reverse:
            orders, log_moments = self._below
            kernel = orders * np.log(orders) - (1 + orders) * np.log1p(orders)
            return min(float((log_moments - orders * y + kernel).min()), 0.0)
        even = _log_stick(y, math.sqrt(self.spread))
        place = self.steps * math.expm1(y) + 1
        jump = _log_stick(math.log(place), self.law.s) if place > 0 else 0.0
        return float(np.logaddexp(even, jump))

    @cached_property
    def _below(self) -> tuple[Floats, Floats]:
        """Orders λ > 0, and log E[(S/t)^{−λ}] at them."""
        return _ORDERS, self.law.log_negative_moments(_ORDERS, self.steps)

    @property
    def _cell(self) -> float:
        """The length in nats of a cell of y, all of which share a contour."""
        return min(_CELL_IN_DEVIATIONS * math.sqrt(self.spread), _WIDEST_CELL)

    # --- balls: what is proved

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) by bounds of one run, or by contours, to flint's precision less a reserve.

        Where s is so large that no contour is short the bounds answer alone, with a PrecisionError
        above 192 bits. Else the ball may be wide where contours do not reach the bits.
        """
        about, wanted = float(y.mid()), max(ctx.prec - _RESERVE_BITS, _FEWEST_BITS)
        alone = self._run_bounds(y, reverse)
        if alone.rel_accuracy_bits() >= wanted:
            return alone
        if self.law.s > _LARGEST_RATIO_OF_CONTOURS:
            if ctx.prec > _MOST_BITS_OF_BOUNDS:
                raise PrecisionError(
                    f"random allocation of {self.steps} runs at σ/Δ = {1 / self.law.s:.4g}: found "
                    "its profile known to few digits only, needed fewer, or more noise"
                )
            return alone
        log_delta, before = self._log_about(about, reverse), -math.inf
        needed = wanted
        for _ in range(_ATTEMPTS):
            value = self._by_a_contour(y, reverse, log_delta, needed)
            bits = value.rel_accuracy_bits()
            if bits >= wanted or (bits > 0 and not accuracy(value) > before):
                break
            if not accuracy(value) > before:
                needed *= 2  # what tells no digit is asked for more of them
            before = accuracy(value)
            log_delta = min(log_delta, _log_size(value)) - _SPARE_NATS
        return value

    # Proved in docs/proofs/allocations.md, Lemma far-run.
    def _run_bounds(self, y: arb, reverse: bool) -> arb:
        """Bound D(y) as if the record's run were known: narrow where that run's ratio is large.

        The sum R of the others only makes D larger, and hardly where R <= a. Of a record added D is
        between 0 and what the mean of the losses says.
        """
        t, square = self.steps, self.law.square
        s = square.sqrt()
        if reverse:
            moved, back = y - square * (t - 1) / (2 * t), arb(t).log() - y
            lower = 1 - y.exp() * (1 - hockey_stick(back, s))  # what is removed, at −y
            upper = hockey_stick(moved, (square / t).sqrt())
            return lower.lower().max(arb(0)).union(upper.upper().max(arb(0)))
        place = t * y.exp()
        low, high = hockey_stick(place.log(), s).lower().max(arb(0)), arb(1)
        for power in _POWERS_OF_PLACE:
            a = (place.log() * power).exp()
            far = arb(t - 1) * normal_tail((a / (t - 1)).log() / s + s / 2)
            rest = far.min((t - 1) / a)
            if a < place:
                high = high.min(hockey_stick((place - a).log(), s) + rest)
        return low.union(high.upper())

    def _by_a_contour(self, y: arb, reverse: bool, log_delta: float, wanted: int) -> arb:
        """Compute D(y) of about e^{log_delta} to so many bits, on a contour for nearby places."""
        t, index = self.steps, round(float(y.mid()) / self._cell)
        shift = index * self._cell
        log_error = log_delta - wanted * math.log(2) - _SPARE_NATS + math.log(t)
        at_place = log_error - (shift if reverse else 0.0)
        rounded = _ROUNDED_NATS * math.floor(at_place / _ROUNDED_NATS)
        contour = _laid(self, -index if reverse else index, rounded)
        lost = math.ceil(max(abs(shift) - log_delta, 0.0) / math.log(2))
        with ctx.workprec(ctx.prec + lost):
            a = y.exp()
            if reverse:
                value = a * contour.value(t / a) / t
            else:
                value = (contour.value(t * a) - t * y.expm1()) / t
        return +value


@lru_cache(16)
def _lognormal(ratio: Exact) -> Lognormal:
    """Make the law of one run's ratio, one for all numbers of steps."""
    return Lognormal(ratio)


@lru_cache(64)
def _laid(part: AllocatedGaussian, index: int, log_error: float) -> Shortfall:
    """Lay the contour for all places te^y with y within half a cell of `index` cells.

    `log_error` is log of the error of E(K − S)₊ that is wanted.
    """
    place = part.steps * math.exp(index * part._cell)
    return Shortfall(part.law, part.steps, place, hyperbola(part.law, place, part.steps, log_error))


def _log_stick(y: float, spread: float) -> float:
    """Estimate log E(e^X − e^y)₊, X normal with the deviation `spread` and E e^X = 1."""
    if spread == 0:
        return -math.inf
    low, high = y / spread - spread / 2, y / spread + spread / 2
    log_first, log_second = _log_tail(low), y + _log_tail(high)
    return log_first + math.log(max(-math.expm1(log_second - log_first), _TINY))


def _log_tail(x: float) -> float:
    """Estimate log P(Z > x) for a standard normal Z."""
    tail = math.erfc(x / math.sqrt(2)) / 2
    return math.log(tail) if tail > _TINY else -x * x / 2 - math.log(x * math.sqrt(2 * math.pi))


def _log_size(value: arb) -> float:
    """Return log of the largest modulus in the ball; ∞ where that is not finite."""
    with ctx.workprec(_FEW_BITS):
        return float(abs(value).upper().log()) if value.is_finite() else math.inf


def _halved(above: Callable[[float], float]) -> float:
    """Estimate by halvings where a falling function crosses 0, from 0 to about 10^4."""
    high = 1.0
    while above(high) > 0 and high < _FARTHEST:
        deadline.check()
        high *= 2
    return sum(halved(0.0, high, lambda y: above(y) > 0, _HALVINGS)) / 2


# --- Laplace noise
#
# Each record in one of t runs of Laplace noise, drawn at random: dP/dQ = S/t, S a sum of ratios.
#
# H_a(P‖Q) = E(S/t − a)₊ and H_a(Q‖P) = E(1 − aS/t)₊ by the expected shortfall of S, in balls
# (docs/proofs/allocations.md, Lemma laplace-allocation).

#: A value has so many bits less than flint's precision, as callers ask with a reserve; 10 at least.
#: It costs time: the ball says what it has.
_LAPLACE_RESERVE_BITS, _LAPLACE_FEWEST_BITS = 32, 10
#: A δ below e^{−2·bits} is known with more bits only: of fewer its ball is wide, and sound.
_NATS_PER_BIT = 2.0
#: A contour is laid again at most so often, for a smaller δ. More take longer, and the ball holds D
#: whatever they are.
_LAPLACE_ATTEMPTS = 6
#: The line is taken with so many nodes at most, else the hyperbola where so many ratios at most may
#: be the largest; then with more of both, and beyond these a PrecisionError refuses.
_NODES_AND_ENDS = ((500, 100), (5000, 500), (20_000, 3000))
#: Orders α > 1 at which moments estimate D. They steer.
_LAPLACE_ORDERS = 1 + np.geomspace(1e-3, 1e6, 200)
#: Places within one deviation of log S share a line. It costs time alone.
_LINE_CELL_IN_DEVIATIONS = 1.0
#: Next to order ½ the formula of E[W^z] is taken at this |2z−1|s/2, where it does not cancel. It
#: steers.
_LEAST_ARGUMENT = 1e-9


@dataclass(frozen=True)
class AllocatedLaplace(AllocationLoss):
    """Laplace noise has `shift` = Δ/b > 0 of a run, and t = `steps` > 1."""

    shift: Exact
    steps: int

    has_an_end = True
    is_costly = True

    @property
    def of_run(self) -> Part:
        """The loss of Laplace noise of one run."""
        return laplace.LaplaceLoss(self.shift)

    def in_latex(self, write: Write) -> WrittenLaws:
        """Write both laws of all runs, by those of one."""
        return allocated(*laplaces(self.shift, write), self.steps)

    # --- float64: where to look

    @property
    def spread(self) -> float:
        """Compute log(1 + Var W/t), the variance of log S as if S were lognormal."""
        s = float(self.shift)
        variance = (2 * math.expm1(s) + math.expm1(-2 * s)) / 3
        return math.log1p(variance / self.steps)

    def log_moments(self, z: Floats) -> Floats:
        """Estimate log E[(S/t)^z], S lognormal or one W all of it; at most log E[W^z]."""
        even, run_moments = z * (z - 1) / 2 * self.spread, self._log_run_moments(z)
        jump = np.where(z > 1, run_moments - (z - 1) * math.log(self.steps), -np.inf)
        outside = np.minimum(np.logaddexp(even, jump), run_moments)
        return np.asarray(np.where((z > 0) & (z < 1), np.maximum(even, run_moments), outside))

    def _log_run_moments(self, z: Floats) -> Floats:
        """Compute log E[W^z] in float64."""
        s = float(self.shift)
        x = np.maximum(np.abs(2 * z - 1) * s / 2, _LEAST_ARGUMENT)
        fallen = -np.expm1(-2 * x)
        return np.asarray(x - s / 2 + np.log1p(-fallen / 2 + s * fallen / (4 * x)))

    def _log_about(self, y: float, reverse: bool) -> float:
        """Estimate log D(y) from above, by the best moment of either direction."""
        log_moments = self.log_moments(1 - _LAPLACE_ORDERS if reverse else _LAPLACE_ORDERS)
        above = _LAPLACE_ORDERS - 1
        kernel = above * np.log(above) - _LAPLACE_ORDERS * np.log(_LAPLACE_ORDERS)
        return min(float((log_moments - above * y + kernel).min()), 0.0)

    # --- balls: what is proved

    @cached_property
    def ratio(self) -> LaplaceRatio:
        """The law of W in balls."""
        return LaplaceRatio(self.shift)

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) by expected shortfalls, to flint's precision less a reserve.

        The ball is wide where D is below e^{−2·bits}. PrecisionError where the sums are too long.
        """
        wanted = max(ctx.prec - _LAPLACE_RESERVE_BITS, _LAPLACE_FEWEST_BITS)
        floor = -_NATS_PER_BIT * ctx.prec
        log_delta, before = self._log_about(float(y.mid()), reverse), -math.inf
        for _ in range(_LAPLACE_ATTEMPTS):
            log_delta = max(log_delta, floor)
            value = self._within(y, reverse, log_delta, wanted)
            bits = value.rel_accuracy_bits()
            if bits >= wanted or bits <= before or log_delta == floor:
                break
            before = bits
            log_delta = min(log_delta, float(abs(value).upper().log())) - _SPARE_NATS
        return value

    def _within(self, y: arb, reverse: bool, log_delta: float, wanted: int) -> arb:
        """Compute D(y) of about e^{log_delta} to so many bits."""
        t, about = self.steps, float(y.mid())
        log_error = log_delta - wanted * math.log(2) - _SPARE_NATS + math.log(t)
        lost = math.ceil(max(abs(about) - log_delta, 0.0) / math.log(2))
        with ctx.workprec(ctx.prec + lost):
            if reverse:
                a = y.exp()
                value = a * self._shortfall(t / a, log_error - about) / t
            else:
                value = (self._shortfall(t * y.exp(), log_error) - t * y.expm1()) / t
        return +value

    def _shortfall(self, place: arb, log_error: float) -> arb:
        """Compute E(K − S)₊, K = `place`, to an error of about e^{log_error}.

        Where K is hardly above the least S, or below the largest one, it is so without a sum.
        """
        t, ratio = self.steps, self.ratio
        low, high = place - t * ratio.low, t * ratio.high - place
        tolerance = arb(log_error).exp()
        if not low > tolerance:
            return up_to(low.max(arb(0)))
        if not high > tolerance:
            return place - t + up_to(high.max(arb(0)))
        value = self._way(place.mid(), log_error).value(place)
        trivial = up_to(low)
        return trivial if value.rad() > trivial.rad() else value

    def _way(self, place: arb, log_error: float) -> Straight | Bent:
        """Choose the line or the hyperbola, whichever sum is short enough.

        PrecisionError where neither is.
        """
        # One multiple less makes up for what a place far off in the cell loses.
        rounded = _ROUNDED_NATS * (math.floor(log_error / _ROUNDED_NATS) - 1)
        straight = _laplace_laid(self, self._cell(place), rounded)
        if straight.real * abs(float(place - straight.place)) > _ROUNDED_NATS:
            straight = Straight(self.ratio, self.steps, place, log_error)
        bent = Bent(self.ratio, self.steps, place, log_error)
        for nodes, ends in _NODES_AND_ENDS:
            if straight.cost <= nodes:
                return straight
            if bent.ends <= ends:
                return bent
        raise PrecisionError(
            f"random allocation of {self.steps} runs at b/Δ = {1 / float(self.shift):.4g}: "
            "found its profile too long a sum, needed fewer digits, or fewer runs"
        )

    def _cell(self, place: arb) -> int:
        """Number the cell of a place K: log(K/t) is about so many deviations of log S."""
        width = _LINE_CELL_IN_DEVIATIONS * math.sqrt(self.spread)
        return round(math.log(float(place) / self.steps) / width)

    def largest(self, reverse: bool) -> arb:
        """Return s, either way round: where all runs have the largest ratio, or all the least."""
        return BALL.number(self.shift)

    def exact_largest(self, reverse: bool) -> Exact | None:
        """Return s = Δ/b, either way round."""
        return self.shift


@lru_cache(64)
def _laplace_laid(part: AllocatedLaplace, cell: int, log_error: float) -> Straight:
    """Lay the line for all places of a cell; `log_error` as in `_shortfall`."""
    width = _LINE_CELL_IN_DEVIATIONS * math.sqrt(part.spread)
    place = part.steps * math.exp(cell * width)
    return Straight(part.ratio, part.steps, arb(place), log_error)
