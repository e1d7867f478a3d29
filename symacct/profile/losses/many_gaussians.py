"""Many sampled Gaussians of one rate have their moments interpolated in s = 1/σ.

F(z; s) = E[R^z], R = 1−γ+γe^w, w = sZ − s²/2, Z standard normal. The trapezoidal sum over one
grid of Z is analytic in s: few Chebyshev points give it at every s between
(docs/proofs/losses.md, Lemma many-sigmas). Steps are in deviations of Z, angles in radians; t
bounds |Im z|. `need`, `drop` and `slack` are in nats, as in profile/part.py.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import acb, acb_mat, arb, arb_mat, ctx, fmpq

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import acb_within, float_above, normal_tail
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.profile import sums
from symacct.profile.losses.sampled_gaussian import SampledFrame, SampledGaussian, nodes
from symacct.profile.part import Factor, Floats, OrderLine, rounded_down
from symacct.profile.sums import powers, sums_on_a_line

#: Bounds are worked out at this many bits; of fewer they are wider.
_BITS = 64
#: A strip turns w by this angle in radians at most: R has zeros at π. A wider one has no bound.
_WIDEST_ANGLE = 0.99 * math.pi
#: Fewer different noises than these are summed one by one: no interpolation costs less. Both are
#: enclosures: it costs time alone.
_MANY_RUNS = 33
#: The interval of s = 1/σ is this share wider on either side than the noises are. The
#: interpolation's error is bounded on that interval: a wider one takes more points.
_MARGIN = 2.0**-6
#: One bound of the decay serves noises whose s differ by this ratio at most. A larger ratio is
#: quicker, and less sharp.
_RATIO_OF_ONE_DECAY = 1 + 2.0**-6
#: Noises whose s differ by this ratio at most are interpolated together. It costs time alone.
_RATIO_OF_ONE_GRID = 2.0
#: So many nodes of a line are interpolated by one product of matrices. It costs memory alone.
_ROWS = 256
#: A strip's height is chosen from these shares of the highest one. Each share up to 1 has its
#: bound; the best one saves nodes.
_MANY_SHARES = np.array([0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
#: A strip may end so much farther in Z, a standard normal, than where nodes are small. What is
#: beyond is bounded.
_FURTHER_ENDS = np.arange(0.0, 6.0)
#: An ellipse is chosen from these, each by its half axes' sum over half the interval. Each has its
#: bound; the best one saves points.
_RATIOS = 1.2 ** np.arange(1, 22)
#: Half an ellipse is covered by so many arcs, an even number so that no arc goes over the top. More
#: are sharper, and take longer.
_ARCS = 16
#: Cells of Z begin so far below 0, and are so long, in deviations. The decay is bounded on each:
#: shorter ones are sharper, and take longer.
_FIRST_CELL, _CELL_OF_Z = 16.0, 0.25
#: An estimate of Chebyshev points ends here, where no grid is worth while. It steers.
_MOST_POINTS_OF_GRID = 1e6
#: A term of the interpolation takes the time of this part of a term of a sum. It steers.
_TERMS_OF_ONE = 8

#: A loss with the count of its runs.
Run: TypeAlias = "tuple[SampledGaussian, int]"


@dataclass(frozen=True)
class RealLineGrid:
    """A grid has nodes Z = jκ, first <= j <= last; the strip |Im Z| <= `height` bounds their error.

    It has `points` Chebyshev points in s, and an ellipse with the half axes' sum `ratio` bounds
    their error. κ is `step`; all lengths are in deviations of Z.
    """

    step: float
    first: int
    last: int
    height: float
    points: int
    ratio: float

    @property
    def nodes(self) -> Floats:
        """The places Z of the nodes."""
        return self.step * np.arange(self.first, self.last + 1)


@dataclass(frozen=True, eq=False)
class ManyGaussians(Factor):
    """Many runs of one rate γ < 1, by growing s = 1/σ, have their moments interpolated together.

    s is over Δ, so that s² = Δ²/σ². All stand within one ratio (`merged_runs`).
    """

    runs: tuple[Run, ...]

    stands_for_many = True

    @cached_property
    def low(self) -> float:
        """An exact number below every s."""
        return rounded_down(float(self.runs[0][0].variance) ** -0.5 * (1 - _MARGIN))

    @cached_property
    def high(self) -> float:
        """An exact number above every s, as the margin is wider than what rounding takes off."""
        return rounded_down(float(self.runs[-1][0].variance) ** -0.5 * (1 + _MARGIN))

    @cached_property
    def _steepest(self) -> SampledGaussian:
        """The sampled Gaussian of the largest s, which need be none of the runs."""
        return replace(self.runs[-1][0], variance=1 / Fraction(self.high) ** 2)

    def largest(self, reverse: bool) -> arb:
        """Enclose the largest loss of all runs together, ∞ unless reversed."""
        return sum((k * part.largest(reverse) for part, k in self.runs), arb(0))

    # --- float64: where to look

    def grid(self, line: OrderLine, need: float) -> RealLineGrid | None:
        """Choose a grid for errors of about e^{−need} F(a; s); None where none is found.

        Choices are remembered; no bound rests on them.
        """
        if (line, need) not in self._grids:
            self._grids[line, need] = self._grid(line.a, line.h * line.last, max(need, 1.0) + 2)
        return self._grids[line, need]

    @cached_property
    def _grids(self) -> dict[tuple[OrderLine, float], RealLineGrid | None]:
        """The grids that were chosen, by line and need."""
        return {}

    def _grid(self, a: float, t: float, want: float) -> RealLineGrid | None:
        """Choose the grid of the fewest nodes, and Chebyshev points for it, of which 10⁶ are most.

        For |Im z| <= t, with errors of about e^{−want} F(a; s), by estimates in float64. None where
        every strip leaves out too much beyond its last node.
        """
        drop = want - self.runs[0][0].log_moment(a)
        cell = _CELL_OF_Z
        left, right = (cell * j for j in self._steepest.ends(a, drop, cell / self.high))
        nearest_end = max(right, self.high, -left if a < 0 else 0.0)
        strips = [
            ((end - left) / step, end, height, step)
            for end in nearest_end + _FURTHER_ENDS
            for height, step in self._strips(a, t, end, drop)
        ]
        if not strips:
            return None
        _, end, height, step = min(strips)
        step = rounded_down(step)
        first, last = math.floor(left / step), math.ceil(end / step)
        sizes = self._sizes(a, t, step * np.arange(first, last + 1)) + math.log(step) + drop
        counts = sums.point_counts(sizes, _RATIOS)
        j = int(np.nanargmin(counts))
        points = max(2, math.ceil(min(counts[j], _MOST_POINTS_OF_GRID)))
        return RealLineGrid(step, first, last, float(height), points, float(_RATIOS[j]))

    def _strips(self, a: float, t: float, end: float, drop: float) -> Iterator[tuple[float, float]]:
        """Yield heights of strips whose last node leaves out little, and the steps they allow."""
        heights = _WIDEST_ANGLE / self.high * _MANY_SHARES
        places = np.array(list(_places(end)))
        u = np.exp(np.minimum(self._log_odds + self._steepest_log(places), 700.0))
        most = _about_most(a, t, u, self.high * heights[:, None]) + a * self._log_rest
        inner = np.minimum(np.abs(places[1:]), np.abs(places[:-1]))
        edges = np.logaddexp.reduce(most[:, 1:] - inner**2 / 2, axis=1) + heights**2 / 2
        steps = 2 * math.pi * heights / (np.maximum(edges + drop, 1.0) + math.log(2))
        is_small = np.log(heights) + most[:, -1] - end**2 / 2 < -drop
        yield from zip(heights[is_small], steps[is_small], strict=True)

    def _steepest_log(self, z: Floats) -> Floats:
        """Compute the largest w = sz − s²/2 for s between low and high, in float64."""
        s = np.clip(z, self.low, self.high)
        return np.asarray(s * z - s * s / 2)

    def _sizes(self, a: float, t: float, z: Floats) -> Floats:
        """Estimate log of the largest Σ|QR^z| on each ellipse, for Re z = a, |Im z| <= t."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        angle = np.linspace(0, math.pi, _ARCS + 1)
        wide, tall = half * (_RATIOS + 1 / _RATIOS) / 2, half * (_RATIOS - 1 / _RATIOS) / 2
        real = middle + wide[:, None] * np.cos(angle)
        imag = tall[:, None] * np.maximum(np.sin(angle)[1:], np.sin(angle)[:-1])
        left, right = real[:, 1:, None], real[:, :-1, None]
        s = np.clip(z, left, right)
        u = np.exp(np.minimum(self._log_odds + s * z - s * s / 2 + imag[..., None] ** 2 / 2, 700))
        theta = imag[..., None] * np.maximum(np.abs(z - left), np.abs(z - right))
        logs = np.logaddexp.reduce(_about_most(a, t, u, theta) - z * z / 2, axis=2)
        return np.asarray(logs.max(axis=1) + a * self._log_rest)

    @property
    def _log_rest(self) -> float:
        """log(1−γ)."""
        return self._steepest.log_rest

    @property
    def _log_odds(self) -> float:
        """log(γ/(1−γ))."""
        return self._steepest.log_gamma - self._steepest.log_rest

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the terms of a value, by interpolation or, where that costs more, one by one."""
        grid = self._worth_while(line, need)
        if grid is None:
            return sum(factor.terms(line, need) for factor, _ in self._apart)
        return self._cost(grid)

    def _worth_while(self, line: OrderLine, need: float) -> RealLineGrid | None:
        """Return a grid that costs less than each part by itself, if there is one."""
        grid = self.grid(line, need)
        alone = self.runs[len(self.runs) // 2][0].terms(line, need)
        return grid if grid and self._cost(grid) < len(self.runs) * alone else None

    def _cost(self, grid: RealLineGrid) -> int:
        """Estimate the terms that a node of the line costs on a grid."""
        return grid.points * (len(grid.nodes) + len(self.runs) // _TERMS_OF_ONE)

    @cached_property
    def _apart(self) -> Sequence[tuple[Factor, int]]:
        """Return the halves of the runs as factors, or all runs one by one where these are few."""
        half = len(self.runs) // 2
        if half < _MANY_RUNS:
            return self.runs
        return [(ManyGaussians(self.runs[:half]), 1), (ManyGaussians(self.runs[half:]), 1)]

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Compute Π F_i^{k_i} on a line, each F_i to an error of about e^{−need} F_i(a)."""
        grid = self._worth_while(line, need)
        if grid is None:
            columns, counts = zip(
                *((x.transform(line, need), k) for x, k in self._apart), strict=True
            )
            return [_product(row, counts) for row in zip(*columns, strict=True)]
        return self.interpolated_transform(grid, line)

    def interpolated_transform(self, grid: RealLineGrid, line: OrderLine) -> list[acb]:
        """Compute Π F_i^{k_i} on a line by values of F(z; s) at a grid's points, error included."""
        disc = acb_within(self._error(grid, line))
        columns = [self._sums(grid, line, s) for s in self._points(grid)]
        rows = [list(row) for row in zip(*columns, strict=True)]
        places = acb_mat(sums.shares(grid.points) * self._at_places(grid))
        products: list[acb] = []
        for first in range(0, len(rows), _ROWS):
            values = (acb_mat(rows[first : first + _ROWS]) * places).tolist()
            products.extend(_product((x + disc for x in row), self._counts) for row in values)
        return products

    @property
    def _counts(self) -> list[int]:
        """How often each noise is run."""
        return [k for _, k in self.runs]

    def _points(self, grid: RealLineGrid) -> list[arb]:
        """Return Chebyshev's points in s."""
        middle, half = self._interval()
        return [middle + half * x for x in sums.points(grid.points)]

    def _interval(self) -> tuple[arb, arb]:
        """Return the middle of the interval of s, and half its length."""
        low, high = arb(self.low), arb(self.high)
        return (low + high) / 2, (high - low) / 2

    def _at_places(self, grid: RealLineGrid) -> arb_mat:
        """Compute T_k at each run's s, a column for each run."""
        middle, half = self._interval()
        places = [(self._s(part) - middle) / half for part, _ in self.runs]
        columns = [_polynomials(x, grid.points) for x in places]
        return arb_mat(columns).transpose()

    @staticmethod
    def _s(part: SampledGaussian) -> arb:
        """Compute s = Δ/σ."""
        return BALL.number(part.variance).rsqrt()

    def _sums(self, grid: RealLineGrid, line: OrderLine, s: arb) -> list[acb]:
        """Sum κφR^z over the grid at each node of the line, for one s, without an error."""
        frame = self.frame(s, line.a)
        step = arb(grid.step) * frame.sigma
        return sums_on_a_line(*nodes(frame, step, grid.first, grid.last), line, arb(0))

    def frame(self, s: arb, a: float) -> SampledFrame:
        """Make the frame of noise of 1/s at the common rate."""
        return self._steepest.frame(a, 1 / (s * s))

    def _error(self, grid: RealLineGrid, line: OrderLine) -> arb:
        """Bound what an interpolated value is off by, for every s between low and high."""
        with ctx.workprec(_BITS):
            frame, t = self.frame(arb(self.high), line.a), line.h * line.last
            return self._off_the_integral(grid, frame, t) + self._off_the_sum(grid, frame, t)

    def _off_the_integral(self, grid: RealLineGrid, frame: SampledFrame, t: float) -> arb:
        """Bound the nodes left out, and the error of the others; ∞ where the last node is too near.

        R grows with s to the right and falls with it to the left: QR^a is largest at the largest s
        for a >= 0, and for a < 0 at either end.
        """
        right = arb(grid.step) * grid.last
        if not right >= self.high:
            return arb.pos_inf()
        ends = (self.high, self.low) if frame.negative else (self.high,)
        left_out = arb(0)
        for s in map(arb, ends):
            left, last, step = (grid.step * n / s for n in (grid.first, grid.last, 1))
            left_out += self.frame(s, float(frame.a)).tail_sum(left, last, step, arb(0))
        return left_out + self.strip_error(grid, frame, t)

    def strip_error(self, grid: RealLineGrid, frame: SampledFrame, t: float) -> arb:
        """Bound what the sum up to the last node is off by from the integral half a step farther.

        By both edges of the strip, and by its end there; ∞ where height·step > 4π.
        """
        step, height = arb(grid.step), arb(grid.height)
        end = step * (grid.last + 0.5)
        if not height * step <= 4 * arb.pi():
            return arb.pos_inf()
        decay = (2 * arb.pi() * height / step).expm1()
        density = (-end * end / 2).exp() / (2 * arb.pi()).sqrt()
        side = height * density * self._most(frame, end, arb(self.high) * height, t)
        return 2 * self.edge(frame, float_above(end), height, t) / decay + 2 * side

    def edge(self, frame: SampledFrame, end: float, height: arb, t: float) -> arb:
        """Bound ∫|QR^z| on |Im Z| = height, Re Z <= end, for |Im z| <= t.

        For every s between low and high, cell by cell of Re Z, with which the bound of |R^z| grows.
        """
        theta, places = arb(self.high) * height, [arb(z) for z in _places(end)]
        most = [self._most(frame, z, theta, t) for z in places]
        total = normal_tail(-places[0]) * most[0]
        for (left, right), bound in zip(itertools.pairwise(places), most[1:], strict=True):
            total += normal_tail(left if left >= 0 else -right) * bound
        return total * (height**2 / 2).exp()

    def _most(self, frame: SampledFrame, z: arb, theta: arb, t: float) -> arb:
        """Bound |R^z| at Re Z = z, |Im w| <= θ, |Im z| <= t, for every s between low and high."""
        s = z.max(arb(self.low)).min(arb(self.high))
        return _power_most(frame, s * z - s * s / 2, theta, t)

    def _off_the_sum(self, grid: RealLineGrid, frame: SampledFrame, t: float) -> arb:
        """Bound the interpolation's error 4Mρ^{1−m}/(ρ−1) by the largest sum M on the ellipse.

        M is bounded on boxes of s, which cover the ellipse.
        """
        ratio = arb(grid.ratio)
        most = functools.reduce(
            arb.max, (self.largest_sum(grid, frame, t, *box) for box in self._boxes(ratio))
        )
        return sums.interpolation_error(most, ratio, grid.points)

    def _boxes(self, ratio: arb) -> Iterator[tuple[arb, arb, arb]]:
        """Yield Re s from, Re s to, the largest |Im s|, by arcs of half the ellipse."""
        middle, half = self._interval()
        wide, tall = half * (ratio + 1 / ratio) / 2, half * (ratio - 1 / ratio) / 2
        ends = [arb.sin_cos_pi_fmpq(fmpq(i, _ARCS)) for i in range(_ARCS + 1)]
        for (y, x), (next_y, next_x) in itertools.pairwise(ends):
            yield middle + wide * next_x, middle + wide * x, tall * y.max(next_y)

    def largest_sum(
        self, grid: RealLineGrid, frame: SampledFrame, t: float, left: arb, right: arb, imag: arb
    ) -> arb:
        """Bound Σ κφ(Z)|R^z| over the grid's nodes Z, for left <= Re s <= right, |Im s| <= imag.

        The bound holds for every order z with |Im z| <= t, whose real part is the frame's a.
        """
        total = arb(0)
        for j in range(grid.first, grid.last + 1):
            place = arb(grid.step) * j
            s = place.max(left).min(right)
            log_growth = s * place - s * s / 2 + imag * imag / 2
            theta = imag * abs(place - left).max(abs(place - right))
            total += (-place * place / 2).exp() * _power_most(frame, log_growth, theta, t)
        return total * arb(grid.step) / (2 * arb.pi()).sqrt()

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log Π |F_i(a+is)|^{k_i} for all |s| >= t, with one bound for those of near s."""
        each = slack / sum(self._counts)
        cells = _within(_RATIO_OF_ONE_DECAY, self.runs)
        return sum((self._cell_decay(cell, a, t, each) for cell in cells), arb(0))

    @staticmethod
    def _cell_decay(cell: Sequence[Run], a: float, t: float, slack: float) -> arb:
        """Bound log Π |F_i|^{k_i} of some runs by one bound for the ball of all their variances."""
        middle = cell[len(cell) // 2][0]
        angle, _, fallen = middle.best_angle(a, t)
        ends = (BALL.number(cell[i][0].variance) for i in (0, -1))
        frame = middle.frame(a, next(ends).union(next(ends)))
        count = sum(k for _, k in cell)
        return count * frame.decay(angle, t, 2 - math.log(slack) + max(fallen, 0.0))


def merged_runs(runs: Sequence[Run]) -> tuple[tuple[Factor, int], ...]:
    """Merge `_MANY_RUNS` or more of one rate, their σ within `_RATIO_OF_ONE_GRID`; keep others."""
    factors: list[tuple[Factor, int]] = []
    rates: dict[Exact, list[Run]] = defaultdict(list)
    for part, k in runs:
        rates[part.gamma].append((part, k))
    for alike in rates.values():
        by_growing_s = sorted(alike, key=lambda run: -run[0].variance)
        for some in _within(_RATIO_OF_ONE_GRID, by_growing_s):
            factors.extend(some if len(some) < _MANY_RUNS else [(ManyGaussians(tuple(some)), 1)])
    return tuple(factors)


def _within(ratio: float, runs: Sequence[Run]) -> Iterator[Sequence[Run]]:
    """Cut runs of falling variance into stretches, within which s grows by at most a ratio."""
    first = 0
    for i, (part, _) in enumerate(runs):
        if float(runs[first][0].variance) > ratio**2 * float(part.variance):
            yield runs[first:i]
            first = i
    yield runs[first:]


def log_most(a: arb, t: float, u: arb, theta: arb) -> arb:
    """Bound log|(1+ve^{iφ})^z|, 0 <= v <= u, |φ| <= θ, Re z = a, |Im z| <= t.

    |arg| grows with v, and with φ up to π/2 or for v >= 1; for v < 1 it is at most arcsin v. The
    modulus is at most 1 + u, and at least 1 up to π/2, 1 − u for u < 1, sin θ. ∞ for u >= 1 and
    θ >= π, where there may be a zero.
    """
    u, theta = u.upper(), theta.upper()
    turned = acb(1 + u * theta.cos(), u * theta.sin())
    if theta <= arb.pi() / 2:
        arg, smallest_modulus = turned.arg(), arb(1)
    elif u < 1:
        arg, smallest_modulus = u.asin(), 1 - u
    elif theta < arb.pi():
        arg, smallest_modulus = turned.arg(), theta.sin()
    else:
        return arb.pos_inf()
    return t * arg + a * (smallest_modulus.log() if a < 0 else u.log1p())


def _power_most(frame: SampledFrame, log_growth: arb, theta: arb, t: float) -> arb:
    """Bound |R^z|, Re z = a, for Re w <= log_growth, |Im w| <= θ, |Im z| <= t."""
    u = frame.gamma / frame.rest * log_growth.exp()
    return (log_most(frame.a, t, u, theta) + frame.a * frame.rest.log()).exp()


def _about_most(a: float, t: float, u: Floats, theta: Floats) -> Floats:
    """Estimate the bound `log_most` in float64."""
    u, theta = np.broadcast_arrays(u, theta)
    is_small, is_below = theta <= math.pi / 2, u < 1
    arg = np.where(is_small | ~is_below, np.angle(1 + u * np.exp(1j * theta)), np.arcsin(u % 1))
    smallest_modulus = np.where(is_small, 1, np.where(is_below, 1 - u, np.sin(theta)))
    size = np.log(np.abs(smallest_modulus)) if a < 0 else np.log1p(u)
    return np.where(is_small | is_below | (theta < math.pi), t * arg + a * size, np.inf)


def _places(end: float) -> Iterator[float]:
    """Yield the ends of cells of Z from −16 up to `end`."""
    count = math.ceil((end + _FIRST_CELL) / _CELL_OF_Z)
    yield from (min(-_FIRST_CELL + _CELL_OF_Z * i, end) for i in range(count + 1))


def _polynomials(x: arb, count: int) -> list[arb]:
    """Compute T_0(x) … T_{count−1}(x), |x| < 1: the real parts of e^{ik arccos x}."""
    return [turn.real for turn in powers(acb(x, (1 - x * x).sqrt()), count)]


def _product(values: Iterable[acb], counts: Iterable[int]) -> acb:
    """Multiply values, each to the power of its count."""
    return math.prod(map(pow, values, counts), start=acb(1))
