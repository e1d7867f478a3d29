"""A record in one step of many has a loss by the sum S of the steps' likelihood ratios."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from symacct.analysis.laplace_sums import Bent, LaplaceRatio, Straight
from symacct.analysis.lognormal import Lognormal, Shortfall, hyperbola
from symacct.analysis.normal_tails import hockey_stick
from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.errors import AssumptionError, PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import normal_tail, up_to
from symacct.profile.part import Floats, Part, ProfileOnly
from symacct.profile.roots import accuracy
from symacct.profile.written_laws import Write, WrittenLaws, allocated, laplaces, normals

# --- Gaussian noise
#
# Each record in one of t runs of Gaussian noise, drawn at random: dP/dQ = S/t, S a lognormal sum.
#
# H_a(P‖Q) = E(S/t − a)₊ and H_a(Q‖P) = E(1 − aS/t)₊: the expected shortfall of S below a place
# gives both, as E S = t (docs/proofs/allocations.md, Lemma lognormal-profile).

_GUARD, _FEWEST_BITS = 56, 10  # bits of those asked for that are not needed, and those that are
_SPARE, _ROUNDED = 3.0, 4.0  # nats
_FAR, _MOST_BITS = 6.5, 192  # s beyond which no contour is short, and bits that tell all there is
_PARTS = np.linspace(0.4, 0.9, 11).tolist()  # of log K
_CELL, _WIDEST = 0.5, 0.25  # of the loss's deviation, and losses: places that share a contour
_ATTEMPTS, _HALVINGS, _FARTHEST, _TINY = 5, 60, 1e4, 1e-300
_FEW_BITS = 64
_ORDERS = np.geomspace(0.1, 1e6, 120)
_NEAR = 1e-3  # of an order, for differences


class AllocationLoss(ProfileOnly):
    """No symmetry exchanges the two laws, and no loss is infinite, whatever the noise."""

    symmetric = False

    def sampled(self, gamma: Exact) -> Part:
        """Not known."""
        raise AssumptionError(
            "found RandomAllocation on a sample, needed it on all of the data",
            where="conversion exact",
            remedy="use conversion improved",
        )

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log E[(S/t)^z] and its second derivative at real orders, in float64."""
        here, right, left = (self.log_moments(orders + x) for x in (0.0, _NEAR, -_NEAR))
        curved = (right - 2 * here + left) / _NEAR**2
        return here, np.maximum(curved, self.spread / 4)

    @property
    def spread(self) -> float:
        """About the variance of log S."""
        raise NotImplementedError

    def log_moments(self, z: Floats) -> Floats:
        """About log E[(S/t)^z]; float64."""
        raise NotImplementedError

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """None."""
        return Fraction(0)


@dataclass(frozen=True)
class AllocatedGaussian(AllocationLoss):
    """Gaussian noise has `ratio` = (Δ/σ)² > 0 of a run, and t = `steps` > 1."""

    ratio: Exact
    steps: int

    def in_latex(self, write: Write) -> WrittenLaws:
        return allocated(*normals(1 / self.ratio, write), self.steps)

    # --- float64: where to look

    @cached_property
    def law(self) -> Lognormal:
        """Of W, the ratio of both densities in one run."""
        return _lognormal(self.ratio)

    @property
    def spread(self) -> float:
        return math.log1p(self.law.variance / self.steps)

    def log_moments(self, z: Floats) -> Floats:
        """Estimate log E[(S/t)^z]: below 0 by Mellin's integral, above as if S were lognormal.

        Or one W all of it.
        """
        square, t = self.law.s**2, self.steps
        even = z * (z - 1) / 2 * self.spread
        jump = z * (z - 1) / 2 * square - (z - 1) * math.log(t)
        log_moments = np.where(z > 1, np.logaddexp(even, jump), even)
        below = z < -_NEAR
        if below.any():
            log_moments[below] = self.law.log_negative_moments(-z[below], t)
        return np.asarray(log_moments)

    def about_root(self, log_delta: float, reverse: bool) -> float:
        """About the ε of a δ, as if log S were normal, or one W far from 1."""
        return _halved(lambda y: self._log_about(y, reverse) - log_delta)

    def _log_about(self, y: float, reverse: bool) -> float:
        """Estimate log D(y) as if log S were normal, or one W far from 1; added by a moment."""
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
        """Orders λ, and log E[(S/t)^{−λ}]."""
        return _ORDERS, self.law.log_negative_moments(_ORDERS, self.steps)

    @property
    def _cell(self) -> float:
        """Places so near share a contour."""
        return min(_CELL * math.sqrt(self.spread), _WIDEST)

    # --- balls: what is proved

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) by bounds of one run, or by contours; NaN where more bits are needed."""
        about, wanted = float(y.mid()), max(ctx.prec - _GUARD, _FEWEST_BITS)
        alone = self._run_bounds(y, reverse)
        if alone.rel_accuracy_bits() >= wanted:
            return alone
        if self.law.s > _FAR:
            if ctx.prec > _MOST_BITS:
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
            log_delta = min(log_delta, _log_size(value)) - _SPARE
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
        for part in _PARTS:
            a = (place.log() * part).exp()
            far = arb(t - 1) * normal_tail((a / (t - 1)).log() / s + s / 2)
            rest = far.min((t - 1) / a)
            if a < place:
                high = high.min(hockey_stick((place - a).log(), s) + rest)
        return low.union(high.upper())

    def _by_a_contour(self, y: arb, reverse: bool, log_delta: float, wanted: int) -> arb:
        """Compute D(y) of about e^{log_delta} to so many bits, on a contour for nearby places."""
        t, index = self.steps, round(float(y.mid()) / self._cell)
        shift = index * self._cell
        log_error = log_delta - wanted * math.log(2) - _SPARE + math.log(t)
        rounded = _ROUNDED * math.floor((log_error - (shift if reverse else 0.0)) / _ROUNDED)
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
    """One for all numbers of steps."""
    return Lognormal(ratio)


@lru_cache(64)
def _laid(part: AllocatedGaussian, index: int, log_error: float) -> Shortfall:
    """The contour for all places within half a cell of te^{y}, y the index's."""
    place = part.steps * math.exp(index * part._cell)
    return Shortfall(part.law, part.steps, place, hyperbola(part.law, place, part.steps, log_error))


def _log_stick(y: float, spread: float) -> float:
    """log E(e^X − e^y)₊, X normal with this deviation and E e^X = 1; float64."""
    if spread == 0:
        return -math.inf
    low, high = y / spread - spread / 2, y / spread + spread / 2
    log_first, log_second = _log_tail(low), y + _log_tail(high)
    return log_first + math.log(max(-math.expm1(log_second - log_first), _TINY))


def _log_tail(x: float) -> float:
    """log P(Z > x)."""
    tail = math.erfc(x / math.sqrt(2)) / 2
    return math.log(tail) if tail > _TINY else -x * x / 2 - math.log(x * math.sqrt(2 * math.pi))


def _log_size(value: arb) -> float:
    """log of the most that it may be."""
    with ctx.workprec(_FEW_BITS):
        return float(abs(value).upper().log()) if value.is_finite() else math.inf


def _halved(above: Callable[[float], float]) -> float:
    """Where a falling function crosses 0."""
    low, high = 0.0, 1.0
    while above(high) > 0 and high < _FARTHEST:
        deadline.check()
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) > 0 else (low, middle)
    return (low + high) / 2


# --- Laplace noise
#
# Each record in one of t runs of Laplace noise, drawn at random: dP/dQ = S/t, S a sum of ratios.
#
# H_a(P‖Q) = E(S/t − a)₊ and H_a(Q‖P) = E(1 − aS/t)₊ by the expected shortfall of S, in balls
# (docs/proofs/allocations.md, Lemma laplace-allocation).

_LAPLACE_GUARD, _LAPLACE_FEWEST_BITS = (
    32,
    10,
)  # bits of those asked for that are not needed, and those that are
_LAPLACE_SPARE, _LAPLACE_ATTEMPTS = 3.0, 6  # nats
_NATS = 2.0  # for each bit: what is smaller is told with more bits only
_TRIED = (
    (500, 100),
    (5000, 500),
    (20_000, 3000),
)  # nodes of a line, ratios that may be the largest on the other
_LAPLACE_ORDERS = 1 + np.geomspace(1e-3, 1e6, 200)
_WIDE, _LAPLACE_ROUNDED = 1.0, 4.0  # of log S's deviation, and nats: what shares a line
_SMALL = 1e-9


@dataclass(frozen=True)
class AllocatedLaplace(AllocationLoss):
    """Laplace noise has `shift` = Δ/b > 0 of a run, and t = `steps` > 1."""

    shift: Exact
    steps: int

    has_an_end = True
    is_costly = True

    def in_latex(self, write: Write) -> WrittenLaws:
        return allocated(*laplaces(self.shift, write), self.steps)

    # --- float64: where to look

    @property
    def spread(self) -> float:
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
        x = np.maximum(np.abs(2 * z - 1) * s / 2, _SMALL)
        fallen = -np.expm1(-2 * x)
        return np.asarray(x - s / 2 + np.log1p(-fallen / 2 + s * fallen / (4 * x)))

    def _log_about(self, y: float, reverse: bool) -> float:
        """At least about log D(y), by the best moment."""
        log_moments = self.log_moments(1 - _LAPLACE_ORDERS if reverse else _LAPLACE_ORDERS)
        above = _LAPLACE_ORDERS - 1
        kernel = above * np.log(above) - _LAPLACE_ORDERS * np.log(_LAPLACE_ORDERS)
        return min(float((log_moments - above * y + kernel).min()), 0.0)

    # --- balls: what is proved

    @cached_property
    def ratio(self) -> LaplaceRatio:
        """The law of W."""
        return LaplaceRatio(self.shift)

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) by expected shortfalls; NaN where more bits are needed."""
        wanted, floor = max(ctx.prec - _LAPLACE_GUARD, _LAPLACE_FEWEST_BITS), -_NATS * ctx.prec
        log_delta, before = self._log_about(float(y.mid()), reverse), -math.inf
        for _ in range(_LAPLACE_ATTEMPTS):
            log_delta = max(log_delta, floor)
            value = self._within(y, reverse, log_delta, wanted)
            bits = value.rel_accuracy_bits()
            if bits >= wanted or bits <= before or log_delta == floor:
                break
            before = bits
            log_delta = min(log_delta, float(abs(value).upper().log())) - _LAPLACE_SPARE
        return value

    def _within(self, y: arb, reverse: bool, log_delta: float, wanted: int) -> arb:
        """Compute D(y) of about e^{log_delta} to so many bits."""
        t, about = self.steps, float(y.mid())
        log_error = log_delta - wanted * math.log(2) - _LAPLACE_SPARE + math.log(t)
        lost = math.ceil(max(abs(about) - log_delta, 0.0) / math.log(2))
        with ctx.workprec(ctx.prec + lost):
            if reverse:
                a = y.exp()
                value = a * self._shortfall(t / a, log_error - about) / t
            else:
                value = (self._shortfall(t * y.exp(), log_error) - t * y.expm1()) / t
        return +value

    def _shortfall(self, place: arb, log_error: float) -> arb:
        """Compute E(K − S)₊ to an error of about e^{log_error}."""
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
        """Choose the line or the hyperbola, whichever sum is short enough."""
        rounded = _LAPLACE_ROUNDED * (
            math.floor(log_error / _LAPLACE_ROUNDED) - 1
        )  # less what a place far off loses
        straight = _laplace_laid(self, self._cell(place), rounded)
        if straight.real * abs(float(place - straight.place)) > _LAPLACE_ROUNDED:
            straight = Straight(self.ratio, self.steps, place, log_error)
        bent = Bent(self.ratio, self.steps, place, log_error)
        for nodes, ends in _TRIED:
            if straight.cost <= nodes:
                return straight
            if bent.ends <= ends:
                return bent
        raise PrecisionError(
            f"random allocation of {self.steps} runs at b/Δ = {1 / float(self.shift):.4g}: "
            "found its profile too long a sum, needed fewer digits, or fewer runs"
        )

    def _cell(self, place: arb) -> int:
        """Places that share a line: their logarithms are about so many deviations."""
        return round(math.log(float(place) / self.steps) / (_WIDE * math.sqrt(self.spread)))

    def largest(self, reverse: bool) -> arb:
        """s, either way round: where all runs have the largest ratio, or all the least."""
        return BALL.number(self.shift)

    def exact_largest(self, reverse: bool) -> Exact | None:
        return self.shift


@lru_cache(64)
def _laplace_laid(part: AllocatedLaplace, cell: int, log_error: float) -> Straight:
    """The line for all places of a cell."""
    place = part.steps * math.exp(cell * _WIDE * math.sqrt(part.spread))
    return Straight(part.ratio, part.steps, arb(place), log_error)
