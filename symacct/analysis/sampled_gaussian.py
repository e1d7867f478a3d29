"""The sampled Gaussian mechanism has A_α − 1 at every real order, certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from operator import mul
from typing import Any, TypeAlias

from flint import arb, arb_mat, arb_poly, ctx, fmpz, fmpz_mat, fmpz_poly

from symacct.analysis.series import binomial_integral
from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import (
    LOG2,
    ball,
    cgf_order,
    crossing,
    geometric_tail,
    log_gaussian_excess,
    log_mixture,
    precision,
    reach_of,
    steered_by_floats,
    to_relative_accuracy,
    up_to,
    within,
)
from symacct.kernel.deadline import progress
from symacct.kernel.errors import PrecisionError
from symacct.kernel.sums.local import LOST_BITS, REACH, Local

# --- trapezoids
#
# A_α − 1 of the sampled Gaussian by trapezoids, with a proved error (docs/proofs/sampling.md, Lemma
# gaussian-trapezoids).

#: The least and the largest of some orders.
Orders: TypeAlias = tuple[Fraction, Fraction]

#: Bits of the balls that bound errors: they need few digits, and are upper bounds in any.
_BOUND_BITS = 64
#: Up to so many nodes are kept for the next order; more are summed in blocks, for one order each.
#: It costs memory, and saves time.
FEW_NODES = 512
#: Of nodes that are kept, so many are summed between two looks at the time, which cost as much as a
#: node at few bits each; at 10⁵ bits a node takes milliseconds.
_NODES_A_LOOK = 16
#: Nodes of a block, which are summed by products in as many bits as the block needs. The products
#: lose `_BLOCK_LOST_BITS` over its length, which goes with this number. It costs time alone.
_BLOCK_NODES = 128
#: Bits that a block's products lose at most, some 2·log₂(128) and a few, so that none is missing;
#: where it is too small the ball is wider.
_BLOCK_LOST_BITS = 20
#: The largest denominator of an order whose powers are taken by a root. Both ways are enclosures;
#: it costs time alone.
_LARGEST_ROOT_INDEX = 16
#: Terms of a polynomial in the order; where it needs more each order is computed alone. It costs
#: time alone.
_MOST_TAYLOR_TERMS = 128
#: Coefficients of it that one product of matrices finds; even, as the remainder's proof needs. An
#: odd number is unsound; a larger one saves time.
_COEFFICIENTS_AT_ONCE = 6
#: The widest angle of a strip in radians, below π, where the branch points of the integrand lie. A
#: wider one is unsound, a narrower one takes more nodes.
_WIDEST_ANGLE = 3.1415926


@dataclass(frozen=True)
class TrapezoidGrid:
    """A grid has nodes jh, first ≤ j < last, and the height θσ² of the strip for its error."""

    step: float
    angle: float
    first: int
    last: int

    @property
    def nodes(self) -> int:
        """The number of nodes before negligible ones are left out."""
        return self.last - self.first


@dataclass(frozen=True)
class Guess:
    """A guess has the parameters in float64, and logarithms that steer step, window and bits.

    `rate` and `rest` are q and 1 − q, `log_tolerance` is that of the absolute error aimed at.
    """

    lam: float
    rate: float
    rest: float
    sigma: float
    log_excess: float
    log_tolerance: float

    def log_weight(self, z: float) -> float:
        """log of m(z)^α e^{−z²/(2σ²)}."""
        return self.log_power(z) - z * z / (2 * self.sigma**2)

    def log_power(self, z: float) -> float:
        """log of m(z)^α, a convex function of z."""
        log_ratio = (z - 0.5) / self.sigma**2
        return (1 + self.lam) * log_mixture(log_ratio, self.rate, self.rest)


def guess(alpha: Fraction, q: Fraction, sigma: Fraction, bits: int) -> Guess:
    """The parameters in float64 with the error aimed at, 2^(−bits−3)(A_α − 1); 0 < q < 1, α > 1."""
    log_excess = log_gaussian_excess(alpha, q, sigma)
    lam, rate, rest = cgf_order(alpha), float(q), float(1 - q)
    return Guess(lam, rate, rest, float(sigma), log_excess, log_excess - (bits + 3) * LOG2)


def plan(guessed: Guess) -> TrapezoidGrid:
    """The grid of the widest step whose strip bound meets the tolerance, in float64: it steers."""
    angle_limit, need = _strip_need(guessed)
    sigma = guessed.sigma
    if 2 * (math.pi * sigma) ** 2 >= need * (2 * math.pi / angle_limit) ** 2:
        step = math.pi * sigma * math.sqrt(2 / need)
        angle = 2 * math.pi / step
    else:
        angle = angle_limit
        step = 2 * math.pi * angle * sigma**2 / (need + (angle * sigma) ** 2 / 2)
    left = sigma * reach_of(guessed.log_power(0.0) - guessed.log_tolerance)
    peak = 1 + guessed.lam
    right = peak + sigma * reach_of(guessed.log_weight(peak) - guessed.log_tolerance)
    return TrapezoidGrid(step, angle, math.floor(-left / step), math.ceil(right / step) + 1)


def _strip_need(guessed: Guess) -> tuple[float, float]:
    """The widest angle in radians, and the nats by which the strip has to make its bound small."""
    lam, rate = guessed.lam, guessed.rate
    alpha = 1 + lam
    pole_free = guessed.log_excess - guessed.log_tolerance
    product = alpha * lam * rate
    constant = math.log(4 * product) + math.log(rate) - guessed.log_excess
    need = pole_free + LOG2 + _log_sum(math.log1p(2 * product), constant)
    if alpha >= 2:
        return _WIDEST_ANGLE, need
    slack = min(1.0, 2 / need)
    return _WIDEST_ANGLE - slack, need - (1 - lam) * math.log(slack / 2)


def _log_sum(a: float, b: float) -> float:
    """log(e^a + e^b) in float64."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


class TrapezoidNodes:
    """Trapezoid nodes hold what sums over one grid share, for all orders low <= α <= high.

    log m, m = 1−q+q e^{(2z−1)/(2σ²)}, and −z²/(2σ²) at the nodes that are summed, and what bounds
    all else. Where low < high both are at least 2.
    """

    def __init__(
        self, orders: Orders, q: Fraction, sigma: Fraction, guessed: Guess, grid: TrapezoidGrid
    ) -> None:
        """Compute the logarithms at up to 512 nodes, and bound nodes cut and the step's error."""
        kept, dropped = split(guessed, grid)
        self.log_tolerance = guessed.log_tolerance
        self.bits = _working_bits(guessed, grid)
        self.many = Blocks(q, sigma, guessed, grid, kept)
        self.logarithms: list[tuple[arb, arb]] = []
        with ctx.workprec(self.bits):
            if self.many.nodes <= FEW_NODES:
                runs = (_logarithms(q, sigma, grid.step, *span) for span in kept)
                self.logarithms = [pair for run in runs for pair in run]
            self.share = arb(grid.step) / (ball(sigma) * (2 * arb.pi()).sqrt())
            self.constant, shift = _theta_excess(grid.step, ball(sigma))
            self.slope = ball(q) * (shift - self.constant)
        with ctx.workprec(_BOUND_BITS):
            rim = Rim(orders, q, sigma)
            self.left_out = rim.outside(grid)
            for first, last in dropped:
                self.left_out += rim.block(grid.step, first, last)
            self.factor, self.error = strip_bound(orders[1], q, ball(sigma), grid)

    def excess(self, alpha: Fraction) -> arb:
        """A_α − 1 in a ball, by h Σ_j φ(jh)·m(jh)^α − 1; `alpha` is one of the orders."""
        with ctx.workprec(self.bits):
            power, total = ball(alpha), arb(0) if self.logarithms else self.many.total(alpha)
            for first in range(0, len(self.logarithms), _NODES_A_LOOK):
                deadline.check()
                for log_ratio, log_weight in self.logarithms[first : first + _NODES_A_LOOK]:
                    total += (log_ratio * power + log_weight).exp()
            excess = total * self.share - 1 - self.constant - power * self.slope
        return excess + self._error(excess)

    def _error(self, excess: arb) -> arb:
        """A ball about 0 of what the integral may be off a sum in `excess`; NaN for a wide step."""
        with ctx.workprec(_BOUND_BITS):
            if not self.factor < 1:
                return arb.nan()
            error = self.left_out + self.factor * abs(excess) + self.error
            return within(error / (1 - self.factor))

    def local(self, middle: int) -> Local | None:
        """A_α − 1 as a polynomial in α − middle with a rest, within ½; None for too many terms.

        The nodes have to be few.
        """
        with ctx.workprec(self.bits):
            expansion = _taylor(self.logarithms, middle, arb(self.log_tolerance).exp() / self.share)
            if expansion is None:
                return None
            polynomial = expansion[0] * self.share
            polynomial -= arb_poly([1 + self.constant + self.slope * middle, self.slope])
            rest = within(self.share * expansion[1])
            everywhere = polynomial(within(ball(REACH))) + rest
            return Local(polynomial, rest + self._error(everywhere))


@dataclass(frozen=True)
class Blocks:
    """Blocks are nodes too many to keep, summed for one order in the bits that each block needs."""

    q: Fraction
    sigma: Fraction
    guessed: Guess
    grid: TrapezoidGrid
    kept: list[tuple[int, int]]

    @property
    def nodes(self) -> int:
        """The number of nodes that are summed."""
        return sum(last - first for first, last in self.kept)

    def total(self, alpha: Fraction) -> arb:
        """Σ_j m(jh)^α e^{−(jh)²/(2σ²)} in a ball, without h/(σ√(2π))."""
        total = arb(0)
        with progress("integral, nodes", self.nodes) as advance:
            for start, end in self.kept:
                for first in range(start, end, _BLOCK_NODES):
                    deadline.check()
                    last = min(first + _BLOCK_NODES, end)
                    with ctx.workprec(min(ctx.prec, self._bits(first, last))):
                        block = self._block(alpha, first, last)
                    total += block
                    advance(last - first)
        return total

    def _bits(self, first: int, last: int) -> int:
        """Bits for an absolute error of each term far below the tolerance."""
        step = self.grid.step
        above = _log_chord_bound(self.guessed, first * step, last * step)
        relative = max(0.0, above - self.guessed.log_tolerance) / LOG2
        return int(relative + _growth(self.guessed, self.grid)) + _BLOCK_LOST_BITS

    def _block(self, alpha: Fraction, first: int, last: int) -> arb:
        """The sum of one block by products from node to node, and one power a node."""
        h, variance = Fraction(self.grid.step), self.sigma * self.sigma
        rest, power = ball(1 - self.q), _power(alpha)
        weighed = ball(self.q) * ball((2 * first * h - 1) / (2 * variance)).exp()
        weight = ball(-((first * h) ** 2) / (2 * variance)).exp()
        fall = ball(-(2 * first + 1) * h * h / (2 * variance)).exp()
        ratio, faster = ball(h / variance).exp(), ball(-h * h / variance).exp()
        total = arb(0)
        for _ in range(first, last):
            total += power(weighed + rest) * weight
            weighed *= ratio
            weight *= fall
            fall *= faster
        return total


def is_root(alpha: Fraction) -> bool:
    """Is a power found sooner by a root than by a logarithm, at thousands of bits?"""
    return alpha.denominator <= _LARGEST_ROOT_INDEX


def _power(alpha: Fraction) -> Callable[[arb], arb]:
    """x ↦ x^α for x > 0 at the current precision, by a root where α has a small denominator."""
    if not is_root(alpha):
        exponent = ball(alpha)
        return lambda x: (x.log() * exponent).exp()
    whole, part = divmod(alpha.numerator, alpha.denominator)
    if not part:
        return lambda x: x**whole
    return lambda x: x**whole * x.root(alpha.denominator) ** part


def _taylor(
    logarithms: list[tuple[arb, arb]], middle: int, negligible: arb
) -> tuple[arb_poly, arb] | None:
    """Σ_j w_j e^{l_j t} as a polynomial in t, and an upper bound of the rest for |t| <= ½.

    In two halves: the first nodes, whose l is small, need fewer terms than the others. None where
    they are too many to leave less than `negligible`.
    """
    polynomial, rest, half = arb_poly([]), arb(0), len(logarithms) // 2
    for part in filter(None, (logarithms[:half], logarithms[half:])):
        weights = [(x * middle + weight).exp() for x, weight in part]
        expansion = _taylor_of([log_ratio for log_ratio, _ in part], weights, negligible / 2)
        if expansion is None:
            return None
        polynomial, rest = polynomial + expansion[0], rest + expansion[1]
    return polynomial, rest


def _taylor_of(logs: list[arb], terms: list[arb], negligible: arb) -> tuple[arb_poly, arb] | None:
    """Taylor's coefficients by a matrix of first powers of l_j and terms w_j l_j^k, and the rest.

    Σ_{k>=N} w abs(l t)^k/k! <= w l^N/(2^N N!) e^{abs(l)/2} for an even N; `logs` are monotone.
    """
    growth = (abs(logs[0]).max(abs(logs[-1])) * ball(REACH)).exp()
    ones, repeated = [arb(1)] * len(logs), [logs] * _COEFFICIENTS_AT_ONCE
    *rows, power = accumulate(repeated, _products, initial=ones)
    table = arb_mat(rows)
    coefficients: list[arb] = []
    while len(coefficients) < _MOST_TAYLOR_TERMS:
        deadline.check()
        for moment in (table * arb_mat(len(terms), 1, terms)).entries():
            coefficients.append(moment / math.factorial(len(coefficients)))
        ahead = growth * abs(coefficients[-2]) / (1 << len(coefficients) - 2)
        if ahead < negligible:
            return arb_poly(coefficients[:-2]), ahead
        terms = _products(terms, power)
    return None


def _products(some: list[arb], others: list[arb]) -> list[arb]:
    """The products of two lists, entry by entry."""
    return list(map(mul, some, others))


def _working_bits(guessed: Guess, grid: TrapezoidGrid) -> int:
    """Bits for an absolute error of the sum at the tolerance."""
    scale = _log_sum(max(guessed.log_excess, 0.0), 0.0)
    return int((scale - guessed.log_tolerance) / LOG2 + _growth(guessed, grid)) + 4


def _growth(guessed: Guess, grid: TrapezoidGrid) -> float:
    """Bits that the roundings of exponents and of the sum add up to, about."""
    top = max(guessed.log_weight(grid.first * grid.step), guessed.log_weight(1 + guessed.lam), 0)
    exponent = (abs(guessed.log_weight(grid.last * grid.step)) + abs(top) + 1) * 4
    return math.log2((1 + guessed.lam) * (grid.nodes + 4) + exponent)


def _logarithms(
    q: Fraction, sigma: Fraction, step: float, first: int, last: int
) -> Iterator[tuple[arb, arb]]:
    """log m(jh) and −(jh)²/(2σ²) in balls over first ≤ j < last."""
    h, variance, rest = Fraction(step), sigma * sigma, ball(1 - q)
    weighed = ball(q) * ball((2 * first * h - 1) / (2 * variance)).exp()
    ratio = ball(h / variance).exp()
    decay = ball(-h * h / (2 * variance))
    for j in range(first, last):
        yield (weighed + rest).log(), decay * (j * j)
        weighed *= ratio


def _theta_excess(step: float, sigma: arb) -> tuple[arb, arb]:
    """h Σ φ(jh) − 1 and h Σ φ(jh−1) − 1 in balls, by Poisson's summation formula."""
    h = arb(step)
    exponent = -2 * (arb.pi() * sigma / h) ** 2
    constant, shift = arb(0), arb(0)
    k = 1
    while (term := 2 * (exponent * k * k).exp()) > arb(2) ** (-ctx.prec):
        deadline.check()
        constant += term
        shift += term * (2 * k / h).cos_pi()
        k += 1
    rest = within(term / (1 - exponent.exp()))
    return constant + rest, shift + rest


def strip_bound(alpha: Fraction, q: Fraction, sigma: arb, grid: TrapezoidGrid) -> tuple[arb, arb]:
    """(c₁, c₂) with |h Σ f(jh) − ∫f| ≤ c₁(A_α − 1) + c₂ for f = φ·(m^α − 1 − α(m − 1)), proved.

    From order 2 on both grow with α.
    """
    angle = arb(grid.angle)
    period = (2 * arb.pi() * angle * sigma**2 / arb(grid.step)).expm1()
    scale = 2 * ((angle * sigma) ** 2 / 2).exp() / period
    if alpha >= 2:
        return scale * (1 + ball(2 * alpha * (alpha - 1) * q)), scale * ball(
            4 * alpha * (alpha - 1) * q * q
        )
    scale *= (angle / 2).cos() ** ball(alpha - 2)
    return scale, scale * ball(4 * (alpha - 1) * q * q)


def split(
    guessed: Guess, grid: TrapezoidGrid
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The ranges of nodes that are summed, and those negligible by a chord bound in float64.

    Both together are the grid; `Rim.block` bounds what is dropped.
    """
    if 1 + guessed.lam < 8 * guessed.sigma:
        return [(grid.first, grid.last)], []
    kept: list[tuple[int, int]] = []
    dropped: list[tuple[int, int]] = []
    for first, last, negligible in _blocks(guessed, grid, grid.first, grid.last):
        deadline.check()
        if negligible:
            dropped.append((first, last))
        elif kept and kept[-1][1] == first:
            kept[-1] = (kept[-1][0], last)
        else:
            kept.append((first, last))
    return kept, dropped


def _blocks(
    guessed: Guess, grid: TrapezoidGrid, first: int, last: int
) -> Iterator[tuple[int, int, bool]]:
    """(first, last, negligible?) from left to right, each block negligible, or short and not so."""
    left, right = first * grid.step, last * grid.step
    threshold = guessed.log_tolerance - math.log(64 * grid.nodes * grid.step / guessed.sigma)
    if _log_chord_bound(guessed, left, right) < threshold:
        yield first, last, True
    elif right - left < guessed.sigma or last - first < 16:
        yield first, last, False
    else:
        middle = (first + last) // 2
        yield from _blocks(guessed, grid, first, middle)
        yield from _blocks(guessed, grid, middle, last)


def _log_chord_bound(guessed: Guess, left: float, right: float) -> float:
    """The maximum over [left, right] of (chord of log m^α) − z²/(2σ²), in float64."""
    variance = guessed.sigma**2
    start = guessed.log_power(left)
    slope = (guessed.log_power(right) - start) / (right - left)
    z = min(max(slope * variance, left), right)
    return start + slope * (z - left) - z * z / (2 * variance)


class Rim:
    """The rim bounds in balls the nodes that are not summed, for all orders low <= α <= high."""

    def __init__(self, orders: Orders, q: Fraction, sigma: Fraction) -> None:
        self.low, self.high = map(ball, orders)
        self.q, self.sigma = ball(q), ball(sigma)
        self.density = 1 / (self.sigma * (2 * arb.pi()).sqrt())

    def log_power(self, z: arb) -> arb:
        """The largest log of m(z)^α, at one of the two ends; a convex function of z."""
        log_ratio = (1 - self.q + self.q * ((z - 0.5) / self.sigma**2).exp()).log()
        return (self.low * log_ratio).max(self.high * log_ratio)

    def outside(self, grid: TrapezoidGrid) -> arb:
        """An upper bound of h Σ φ m^α over j < first and j ≥ last, by Mills' ratio.

        On the right it is tilted by the largest order; ∞ where a side begins too near.
        """
        left, right = arb(grid.step) * grid.first, arb(grid.step) * (grid.last - 1)
        return self._mills(left, -left) + self._mills(right, right - self.high)

    def _mills(self, z: arb, distance: arb) -> arb:
        """m(z)^α φ(z) σ²/distance; ∞ unless the distance is proved > 0."""
        if not distance > 0:
            return arb.pos_inf()
        exponent = self.log_power(z) - (z / self.sigma) ** 2 / 2
        return exponent.exp() * self.density * self.sigma**2 / distance

    def block(self, step: float, first: int, last: int) -> arb:
        """An upper bound of h Σ φ m^α over first ≤ j < last, log m^α replaced by its chord."""
        left, right = arb(step) * first, arb(step) * last
        variance = self.sigma**2
        start, end = self.log_power(left), self.log_power(right)
        slope = (end - start) / (right - left)
        if slope * variance <= left:
            top = start - left**2 / (2 * variance)
        elif slope * variance >= right:
            top = end - right**2 / (2 * variance)
        else:
            top = start - slope * left + slope**2 * variance / 2
        return (last - first) * arb(step) * self.density * top.exp()


# --- Newton's series
#
# A_α − 1 of a sampled pair by Newton's series in the order, about a whole one
# (docs/proofs/sampling.md, Lemma local-orders).
#
# With u = γ(P/Q − 1), A_α = E_Q[(1+u)^α] = Σ_k C(α,k) E_Q[u^k], which converges at no order and
# yet has a remainder far below the digits asked where γ^k e^{k²/(2σ²)} gets small enough.

#: Terms up to which the series costs less than an integral.
_MOST_NEWTON_TERMS = 96
#: Tables that are remembered, one for an order, each of some thousand whole numbers. They cost
#: memory, and save time.
_TABLES_KEPT = 32
#: Bits for what rounding adds up; where they are too few the ball is wider.
_ROUNDING_BITS = 24


def log_second_term(middle: int, rate: float, slope: float) -> float:
    """log(C(α,2) E_Q[u²]) in float64 at α = middle − ½: about log of the sum, or less.

    `slope` is 1/(2σ²), by which log E_Q[(P/Q)^i] = slope·i(i−1).
    """
    log_square = 2 * (math.log(rate) + slope) + math.log(-math.expm1(-2 * slope))
    return log_square + math.log((middle - 0.5) * (middle - 1.5) / 2)


def newton_length(middle: int, rate: float, slope: float, log_tolerance: float) -> int | None:
    """The even number of terms that leave less than the tolerance, in float64; None without one.

    log E_Q[u^k] is taken to be k log γ + slope·k(k−1), above which it seldom is: it steers.
    """
    if not 0 < rate < 1:
        return None  # beyond floats
    last, log_rate, log_rest = _even_beyond(middle), math.log(rate), math.log1p(-rate)
    beyond = last * (log_rate + slope * (last - 1))
    log_term = 0.0  # of |C(α,k)| at most, over the orders about the middle
    for k in range(_MOST_NEWTON_TERMS):
        if k > 0 and k % 2 == 0:
            tail = k * (log_rate + slope * (k - 1))
            if k < last:
                tail = max(tail, beyond) + (last - k) * LOG2
            else:
                tail += (middle - 1 - k) * log_rest
            if log_term + tail < log_tolerance:
                return k
        if k > middle and log_rate + 2 * slope * k > 0:
            return None  # from here on the terms grow
        log_term += math.log((abs(middle - k) + 0.5) / (k + 1))
    return None


def _even_beyond(middle: int) -> int:
    """The first even number above all orders within ½ of the middle."""
    return middle + 2 - middle % 2


def newton_local(middle: int, rate: Fraction, growth: Fraction, length: int) -> Local:
    """E_Q[(1+u)^α] − 1 as a polynomial in α − middle with a proved rest, within ½.

    log E_Q[(P/Q)^i] = growth·i(i−1), 0 < γ < 1, and `length` is even.
    """
    with ctx.workprec(ctx.prec + _guard(middle, ball(rate), ball(growth))):
        gamma, slope = ball(rate), ball(growth)
        differences = _differences(gamma, slope, length)
        table, most = _falling_factorials(middle, length)
        row = arb_mat(1, length, differences[:length]) * table
        rest = most * _remainder(differences[length], middle, gamma, slope, length)
        return Local(arb_poly(row.entries()), within(rest))


def _remainder(difference: arb, middle: int, gamma: arb, slope: arb, length: int) -> arb:
    """An upper bound of E_Q[abs((1+u)^α − Σ_{k<N} C(α,k) u^k)] over N! abs(C(α,N)).

    E_Q[u^N]/N! is the difference. For α <= N it is multiplied by (1−γ)^{α−N}, as u >= −γ; else
    with an even L >= α it is 2^{L−N} (E_Q[u^N] + E_Q[u^L])/N!, and u^L <= γ^L (1 + (P/Q)^L).
    """
    last = _even_beyond(middle)
    bound: arb = difference / (1 - gamma) ** max(0, length + 1 - middle)
    if length < last:
        top = gamma**last * (1 + (slope * (last * (last - 1))).exp())
        bound += 2 ** (last - length) * (difference + top / math.factorial(length))
    return bound


def _guard(middle: int, gamma: arb, slope: arb) -> int:
    """Bits that the differences cancel, of a sum that is about slope·γ² at least."""
    lost = middle * (1 + 2 * gamma).log() - slope.log().min(arb(0))
    return _ROUNDING_BITS + int(float(lost) / LOG2) if lost.is_finite() else _ROUNDING_BITS


def _differences(gamma: arb, slope: arb, length: int) -> list[arb]:
    """E_Q[u^k]/k!, u = γ(P/Q − 1), for 1 <= k <= length, and 0 for k = 0.

    They are the coefficients of e^{−γx} Σ (m_i − 1)(γx)^i/i!, m_i = E_Q[(P/Q)^i].
    """
    growth = (2 * slope).exp()
    weights, moments, moment, ratio = [arb(1), gamma], [arb(0), arb(0)], arb(1), arb(1)
    for i in range(2, length + 1):
        deadline.check()
        ratio *= growth
        moment *= ratio
        weights.append(weights[-1] * gamma / i)
        moments.append((moment - 1) * weights[-1])
    decay = arb_poly([-weight if i % 2 else weight for i, weight in enumerate(weights)])
    return (arb_poly(moments) * decay).truncate(length + 1).coeffs()


@lru_cache(_TABLES_KEPT)
def _falling_factorials(middle: int, length: int) -> tuple[arb_mat, fmpz]:
    """The coefficients of (n+t)(n+t−1)…(n+t−k+1) in t, a row for each k < N.

    And an upper bound of the modulus of the product for k = N and |t| <= ½; n = middle.
    """
    rows, product, most = [], fmpz_poly([1]), 1
    for k in range(length):
        rows.append(product.coeffs() + [0] * (length - k - 1))
        product *= fmpz_poly([middle - k, 1])
        most *= 2 * abs(middle - k) + 1
    return arb_mat(fmpz_mat(rows)), -(-fmpz(most) // 2**length)


# --- small rates
#
# ∫ m log(m/n) of two sampled normal laws by their moments, where the rate is small.

#: The largest n of `terms` that is tried; where none does, trapezoids are summed. It costs time
#: alone.
_MOST_MOMENTS = 31
#: Bits by which moments are aimed below what is asked, and of the sums beyond twice that. Where
#: they are too few, the ball is wider.
_SPARE_BITS = 16


def terms(gamma: Fraction, ratio: Fraction, bits: int) -> int | None:
    """The least odd n whose moments n + 1 are below the second ones by so many bits, or None.

    It steers: `relative_entropy` bounds what n leaves out.
    """
    falls = math.log2(gamma.denominator) - math.log2(gamma.numerator)
    for n in range(3, _MOST_MOMENTS + 1, 2):
        left = (n - 1) * falls - math.log2(math.factorial(n + 1)) - bits - _SPARE_BITS
        if left > Fraction(3 * n * (n + 1), 4) / ratio**2:
            return n
    return None


def relative_entropy(gamma: Fraction, ratio: Fraction, other: int, n: int, bits: int) -> arb:
    """∫ m log(m/n) of two sampled normal laws in a ball, by a series in the rate γ of n moments.

    m = (1−γ)N(0) + γN(1) and n = (1−γ)N(0) + γN(other), of standard deviation ratio. Under N(0),
    u = m/N(0) − 1 and v alike, it is E[(1+u)log(1+u) − u] less E[(1+u)log(1+v) − v], by Taylor's
    series up to order n, odd (docs/proofs/sampling.md, Lemma small-rates).
    """
    with ctx.workprec(2 * bits + _SPARE_BITS):
        rate, square = ball(gamma), ball(1 / ratio**2)

        def moment(i: int, j: int) -> arb:
            """E[u^i v^j]"""
            total = arb(0)
            for a in range(i + 1):
                for b in range(j + 1):
                    mean = (a + b * other) ** 2 - a - b * other**2
                    sign = (-1) ** (i + j - a - b)
                    total += sign * math.comb(i, a) * math.comb(j, b) * (square * mean / 2).exp()
            return rate ** (i + j) * total

        total = sum(((-1) ** k * moment(k, 0) / (k * (k - 1)) for k in range(2, n + 1)), arb(0))
        left_out = moment(n + 1, 0) / n
        if other:
            total += sum(((-1) ** k * moment(0, k) / k for k in range(2, n + 1)), arb(0))
            total += sum(((-1) ** k * moment(1, k) / k for k in range(1, n)), arb(0))
            left_out += moment(n + 1, 0) / n + 2 * moment(0, n + 1) / n
        return total + within(left_out / (1 - rate) ** (n + 1))


# --- even χ-moments
#
# B(l) = E_Q[(P/Q − 1)^l] of Gaussian noise at even l, by trapezoids (docs/proofs/sums.md, Lemma
# gaussian-differences).
#
# P/Q − 1 = e^{st} − 1 at z = s/2 + t for z ~ N(0, 1) and s = Δ/σ. The nodes t = (j + ½)h are the
# same for every l: a value is Σ e^{l·log|e^{st}−1| − z²/2} over those about its two peaks.

#: Bits for the size of the exponents, and for their sum; too few widen the ball.
_EXPONENT_BITS = 24
#: Halvings of the step, before PrecisionError is raised.
_MOST_HALVINGS = 8
#: The error is about e^{ca²/2 − 2πa/h} at most with this c, so that a = 2π/(ch) is the best height.
#: Errors are bounded whatever it is; another one takes more nodes.
_STRIP_GROWTH = 1 + math.e


class GaussianChi:
    """The even χ-moments l ↦ B(l) to a relative 2^−bits, in balls that are kept; `shift` = Δ/σ."""

    def __init__(self, shift: Fraction, bits: int) -> None:
        self.shift, self.bits = shift, bits
        self._float = float(shift)
        self._known: dict[int, arb] = {0: arb(1)}
        self._use(2 * math.pi / math.sqrt(2 * _STRIP_GROWTH * (bits + 8) * math.log(2)))

    def _use(self, step: float) -> None:
        """Take this step from now on, and forget the nodes of another one."""
        self.step = step
        self._nodes: dict[tuple[int, int], tuple[arb, arb]] = {}

    @steered_by_floats
    def __call__(self, l: int) -> arb:
        """B(l) for even l >= 0; PrecisionError where no step is fine enough."""
        for _ in range(_MOST_HALVINGS):
            deadline.check()
            if l in self._known:
                return self._known[l]
            with precision(self.bits + l.bit_length() + _EXPONENT_BITS):
                total = self._trapezoids(l)
                off = self._share_off(l, total)
                if off <= arb(2) ** -self.bits:
                    self._known[l] = total + within(total * off / (1 - off))
                else:
                    self._use(self.step / 2)
        raise PrecisionError(
            f"B({l}): found no step that is small enough", remedy="ask for fewer digits"
        )

    def _share_off(self, l: int, total: arb) -> arb:
        """k with T/(1+k) <= B <= T/(1−k), from the strip |Im t| <= a by Minkowski; ∞ if not < 1."""
        with precision(_BOUND_BITS):
            height = arb(2 * math.pi / self.step / _STRIP_GROWTH)
            n, s = l // 2, ball(self.shift)
            mean = (total / 2).root(n)
            turned = ((s * height) ** 2).min(arb(4)) * ((n - 1) * s**2 / 2).exp()
            growth = (height**2 / 2).exp() * (1 + turned / mean) ** n
            off = 2 * growth / (2 * arb.pi() * height / arb(self.step)).expm1()
            return off if off < 1 else arb("inf")

    def _trapezoids(self, l: int) -> arb:
        """h Σ φ(z)(e^{st} − 1)^l over all nodes, in a ball."""
        total = self._side(l, -1) + self._side(l, 1)
        return total * arb(self.step) / (2 * arb.pi()).sqrt()

    def _side(self, l: int, side: int) -> arb:
        """The sum over t > 0 (side 1) or t < 0 (−1): a window about its peak, and what is beyond.

        The terms are log-concave on a side, so that the rest is at most geometric.
        """
        reach = math.sqrt(2 * math.log(2) * (self.bits + _EXPONENT_BITS))
        peak = self._peak(l, side)
        first, last = (max(0, math.floor((peak + x * reach) / self.step)) for x in (-1, 1))
        terms = []
        for k in range(first, last + 1):
            log, weight = self._node(k if side > 0 else -1 - k)
            terms.append((log * l + weight).exp())
        beyond = geometric_tail(terms[-1] ** 2 / terms[-2], terms[-1] / terms[-2])
        if first > 0:
            beyond += geometric_tail(terms[0] ** 2 / terms[1], terms[0] / terms[1])
        return sum(terms, arb(0)) + up_to(beyond)

    def _node(self, j: int) -> tuple[arb, arb]:
        """log|e^{st} − 1| and −z²/2 at t = (j + ½)h, remembered by j and the precision."""
        if (j, ctx.prec) not in self._nodes:
            s, t = ball(self.shift), arb(self.step) * (2 * j + 1) / 2
            self._nodes[j, ctx.prec] = abs((s * t).expm1()).log(), -((s / 2 + t) ** 2) / 2
        return self._nodes[j, ctx.prec]

    def _peak(self, l: int, side: int) -> float:
        """About how far from 0 on one side t + s/2 = ls/(1 − e^{−st}), the peak, in float64."""
        s, far = self._float, 1.0

        def lies_ahead(distance: float) -> bool:
            t = side * distance
            slope = l * s / -math.expm1(min(-s * t, 700.0)) - (t + s / 2)
            return slope * side > 0

        while lies_ahead(far):
            deadline.check()
            far *= 2
        low = 0.0
        for _ in range(40):
            middle = (low + far) / 2
            low, far = (middle, far) if lies_ahead(middle) else (low, middle)
        return far


# --- every order
#
# A_α − 1 of the sampled Gaussian mechanism for every real order α > 1, certified.

# Costs are measured in trapezoidal nodes, each a logarithm and an exponential, at 60 to 4,000 bits.
# They choose between proved ways.
#: What a sum by trapezoids costs before its first node, in nodes.
_TRAPEZOID_START_COST = 40
#: What an erfc of the series costs, in nodes.
_ERFC_COST = 4.5
#: Bits at which a node by a square root costs half of one by a logarithm.
_ROOT_BITS = 500
#: What a term of the binomial sum costs, in nodes.
_BINOMIAL_COST = 0.4
#: Nats between A_α − 1 at the ends of an interval of orders, up to which one grid serves both. It
#: steers.
_ALIKE_NATS = 3.0
#: Nats between them where many orders are going to be asked, so that a finer grid pays. It steers.
_ALIKE_LOCALLY_NATS = 12.0

#: (⌈α⌉, q, σ, bits) ↦ the nodes for the orders ⌈α⌉ − 1 to ⌈α⌉; None where each has its own.
Known: TypeAlias = dict[Any, TrapezoidNodes | None]


@steered_by_floats
def sampled_gaussian_excess(
    alpha: Fraction, q: Fraction, sigma: Fraction, known: Known | None = None
) -> arb:
    """A_α − 1 to the current precision, by whichever proved way takes the least time.

    A_α = E_{N(0,σ²)}[(1−q+q e^{(2z−1)/(2σ²)})^α], α > 1, 0 < q < 1 (Mironov–Talwar–Zhang 2019).
    What is `known`, a dict that is changed here, of one interval between whole orders serves the
    next order in it.
    """
    known = {} if known is None else known

    def evaluate(bits: int) -> arb:
        nodes = None
        if alpha.denominator > 1:
            key = math.ceil(alpha), q, sigma, bits
            if key not in known:
                if len(known) > 1:  # an irrational σ is between two
                    known.clear()
                known[key] = shared_nodes(*key)
            nodes = known[key]
        return _cheapest(alpha, q, sigma, bits) if nodes is None else nodes.excess(alpha)

    return to_relative_accuracy(evaluate)


# Proved in docs/proofs/sampling.md, Lemma gaussian-grids.
def shared_nodes(top: int, q: Fraction, sigma: Fraction, bits: int) -> TrapezoidNodes | None:
    """The nodes for all orders from top − 1 to top; None where each order needs its own."""
    if top < 3:
        return None
    return _nodes_over((Fraction(top - 1), Fraction(top)), q, sigma, bits, _ALIKE_NATS)


def _nodes_over(
    orders: Orders, q: Fraction, sigma: Fraction, bits: int, alike: float
) -> TrapezoidNodes | None:
    """The nodes for all orders between two; None where they are many, or a series costs less.

    None also where log(A_α − 1) differs by more than `alike` nats.
    """
    low, high = (guess(alpha, q, sigma, bits) for alpha in orders)
    if high.log_excess - low.log_excess > alike:
        return None
    guessed = replace(high, log_tolerance=low.log_tolerance)
    grid = plan(guessed)
    cost = _trapezoid_cost(guessed, grid, bits)
    if grid.nodes > FEW_NODES or _ERFC_COST * _series_length(guessed, bits) < cost:
        return None
    return TrapezoidNodes(orders, q, sigma, guessed, grid)


@steered_by_floats
def sampled_gaussian_local(middle: int, q: Fraction, sigma: Fraction) -> Local | None:
    """A_α − 1 for all α within ½ of a whole order, as a polynomial with a proved rest.

    None where that is not accurate, and each order needs its own.
    """
    orders = middle - REACH, middle + REACH
    bits = ctx.prec - LOST_BITS // 2
    slope = 1 / (2 * sigma * sigma)
    steering = middle, float(q), float(slope)
    length = newton_length(*steering, log_second_term(*steering) - (bits + 3) * LOG2)
    if length is not None:
        local: Local | None = newton_local(middle, q, slope, length)
    else:
        nodes = None if orders[0] < 2 else _nodes_over(orders, q, sigma, bits, _ALIKE_LOCALLY_NATS)
        local = None if nodes is None else nodes.local(middle)
    return local if local is not None and local.is_accurate else None


def _cheapest(alpha: Fraction, q: Fraction, sigma: Fraction, bits: int) -> arb:
    """A_α − 1 by whichever of the three proved ways should take the least time."""
    guessed = guess(alpha, q, sigma, bits)
    grid = plan(guessed)
    cost = _trapezoid_cost(guessed, grid, bits)
    if alpha.denominator == 1 and _BINOMIAL_COST * float(alpha) < cost:
        return excess_by_binomial(alpha, q, sigma, guessed)
    erfc_cost = _ERFC_COST
    if grid.nodes > FEW_NODES and is_root(alpha):  # whose nodes cost products and a root
        erfc_cost *= 1 + bits / (_ROOT_BITS * alpha.denominator)
    if erfc_cost * _series_length(guessed, bits) < cost:
        return excess_by_series(alpha, q, sigma, guessed)
    return TrapezoidNodes((alpha, alpha), q, sigma, guessed, grid).excess(alpha)


def _trapezoid_cost(guessed: Guess, grid: TrapezoidGrid, bits: int) -> float:
    """What a sum by trapezoids costs in nodes, without those far from both peaks."""
    window = 2 * math.sqrt(2 * bits * LOG2) * guessed.sigma / grid.step
    return _TRAPEZOID_START_COST + min(grid.nodes, 2 * window)


def _series_length(guessed: Guess, bits: int) -> float:
    """About how many erfc the two series take together."""
    alpha = 1 + guessed.lam
    middle = crossing(guessed.rate, guessed.rest, guessed.sigma)
    most = alpha + 0.4 * bits
    left = _side_length(guessed, middle, guessed.log_weight(min(0.0, middle)))
    right = _side_length(guessed, alpha - middle, guessed.log_weight(max(alpha, middle)))
    return min(left, most) + min(right, most)


def _side_length(guessed: Guess, distance: float, log_weight: float) -> float:
    """About the terms until one is below 2^{i−α} of the tolerance; ∞ where they fall too slowly."""
    alpha, variance = 1 + guessed.lam, guessed.sigma**2
    fall = log_weight + alpha * LOG2 - guessed.log_tolerance
    decay = distance / variance - math.log(alpha)
    if fall <= 0:
        return 1.0
    if decay <= 0 or decay * decay * variance <= 2 * fall:
        return math.inf
    return 2 + variance * (decay - math.sqrt(decay * decay - 2 * fall / variance))


# Proved in docs/proofs/sampling.md, Lemma gaussian-whole-orders.
def excess_by_binomial(alpha: Fraction, q: Fraction, sigma: Fraction, guessed: Guess) -> arb:
    """A_α − 1 in a ball, for whole α ≥ 2, by a binomial sum of positive terms:

    Σ_{k=2}^α C(α,k)(1−q)^{α−k}q^k (e^{(k²−k)/(2σ²)} − 1).
    """
    order = int(alpha)
    relative = guessed.log_excess - guessed.log_tolerance
    lost = 2 * math.log2(max(1.0, guessed.sigma)) + 2 * math.log2(order)
    with ctx.workprec(int(relative / LOG2 + lost) + 12):
        odds, growth = ball(q / (1 - q)), ball(1 / (sigma * sigma)).exp()
        weight = ball(1 - q) ** (order - 2) * ball(q * q) * (order * (order - 1) // 2)
        factor = power = growth
        total = arb(0)
        for k in range(2, order + 1):
            deadline.check()
            total += weight * (power - 1)
            factor *= growth
            power *= factor
            weight = weight * odds * (order - k) / (k + 1)
        return total


# Proved in docs/proofs/sampling.md, Lemma accelerated-series.
def excess_by_series(alpha: Fraction, q: Fraction, sigma: Fraction, guessed: Guess) -> arb:
    """A_α − 1 in a ball by the erfc series on both sides of z₁ = ½ + σ² log((1−q)/q) (MTZ19).

    Each is ∫(1+x)^α dμ on [0, 1].
    """
    with ctx.workprec(_series_bits(guessed)):
        tolerance = arb(guessed.log_tolerance).exp()
        left, right = _left_moments(alpha, q, sigma), _right_moments(alpha, q, sigma)
        below = binomial_integral(alpha, left, arb(1), tolerance)
        return below + binomial_integral(alpha, right, arb(1), tolerance) - 1


def _series_bits(guessed: Guess) -> int:
    """Bits for an absolute error of the series at about the tolerance."""
    scale = max(guessed.log_excess, 0.0) - guessed.log_tolerance
    terms = 1 + guessed.lam + scale
    exponent = (terms / guessed.sigma) ** 2 + (guessed.sigma * math.log(guessed.rate)) ** 2
    return int(scale / LOG2 + math.log2(terms * terms * (exponent + 1))) + 12


def _left_moments(alpha: Fraction, q: Fraction, sigma: Fraction) -> Iterator[arb]:
    """(1−q)^{α−i} q^i e^{(i²−i)/(2σ²)} erfc((i−z₁)/(√2σ))/2, z₁ = `crossing`, for i = 0, 1, …"""
    variance, odds = ball(sigma * sigma), ball(q / (1 - q))
    crossing = 0.5 - variance * odds.log()
    return _erfc_progression(ball(1 - q) ** ball(alpha), odds, -crossing, variance)


def _right_moments(alpha: Fraction, q: Fraction, sigma: Fraction) -> Iterator[arb]:
    """(1−q)^i q^{α−i} e^{((α−i)²−(α−i))/(2σ²)} erfc((z₁−α+i)/(√2σ))/2, z₁ = `crossing`, i >= 0"""
    variance, odds, order = ball(sigma * sigma), ball(q / (1 - q)), ball(alpha)
    crossing = 0.5 - variance * odds.log()
    factor = ball(q) ** order * (ball(alpha * (alpha - 1)) / (2 * variance)).exp()
    ratio = (ball(1 - alpha) / variance).exp() / odds
    return _erfc_progression(factor, ratio, crossing - order, variance)


def _erfc_progression(factor: arb, ratio: arb, start: arb, variance: arb) -> Iterator[arb]:
    """factor·ratio^i·e^{(i²−i)/(2σ²)}·erfc((start+i)/(√2σ))/2 for i = 0, 1, …"""
    growth, scale = (1 / variance).exp(), 1 / (2 * variance).sqrt()
    factor = factor / 2
    i = 0
    while True:
        deadline.check()
        yield factor * ((start + i) * scale).erfc()
        factor *= ratio
        ratio *= growth
        i += 1
