"""A_α − 1 of the sampled Gaussian by trapezoids, with a proved error (docs/proofs.md, 8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import TypeAlias

from flint import arb, arb_mat, arb_poly, ctx

from symacct.core import deadline
from symacct.numerics.normal.magnitude import (
    LOG2,
    cgf_order,
    log_gaussian_excess,
    log_mixture,
    reach_of,
)
from symacct.numerics.sums.local import REACH, Local
from symacct.numerics.sums.refine import ball, within
from symacct.results.progress import progress

#: The least and the largest of some orders.
Orders: TypeAlias = tuple[Fraction, Fraction]

_BOUND_BITS = 64
FEW_NODES = 512  # that are kept for the next order
_BLOCK = 128  # nodes summed with as many bits each
_BLOCK_BITS = 20  # lost by the products within one
_LARGEST_ROOT = 16
_MOST_TERMS = 128  # of a polynomial in the order
_TOGETHER = 6  # of its coefficients, found at a time; even
_WIDEST_ANGLE = 3.1415926  # below π, where the branch points of the integrand lie


@dataclass(frozen=True)
class TrapezoidGrid:
    """Nodes jh, first ≤ j < last, and the height θσ² of the strip that bounds the error."""

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
    """The parameters in float64, and the logarithms that steer step, window and precision."""

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
    """float64 parameters with the error aimed at, 2^(−bits−3)(A_α − 1)."""
    log_excess = log_gaussian_excess(alpha, q, sigma)
    lam, rate, rest = cgf_order(alpha), float(q), float(1 - q)
    return Guess(lam, rate, rest, float(sigma), log_excess, log_excess - (bits + 3) * LOG2)


def plan(guessed: Guess) -> TrapezoidGrid:
    """The widest step whose strip bound meets the tolerance, and the nodes that matter."""
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
    """The widest angle, and −log of the e^{…} that has to multiply the strip bound."""
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
    """log(e^a + e^b)."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


class TrapezoidNodes:
    """What the sums over one grid have in common, for all orders low <= α <= high.

    log m, m = 1−q+q e^{(2z−1)/(2σ²)}, and −z²/(2σ²) at the nodes that are summed, and what bounds
    all else. Where low < high both are at least 2.
    """

    def __init__(
        self, orders: Orders, q: Fraction, sigma: Fraction, guessed: Guess, grid: TrapezoidGrid
    ) -> None:
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
        """A_α − 1 = h Σ_j φ(jh)·m(jh)^α − 1 with all errors as a radius."""
        with ctx.workprec(self.bits):
            power, total = ball(alpha), arb(0) if self.logarithms else self.many.total(alpha)
            for log_ratio, log_weight in self.logarithms:
                deadline.check()
                total += (log_ratio * power + log_weight).exp()
            excess = total * self.share - 1 - self.constant - power * self.slope
        return excess + self._error(excess)

    def _error(self, excess: arb) -> arb:
        """What the integral may be off a sum in this ball, nodes left out and the step together."""
        with ctx.workprec(_BOUND_BITS):
            if not self.factor < 1:
                return arb.nan()
            error = self.left_out + self.factor * abs(excess) + self.error
            return within(error / (1 - self.factor))

    def local(self, middle: int) -> Local | None:
        """A_α − 1 by Taylor's formula about n = middle; None where it takes too many terms."""
        with ctx.workprec(self.bits):
            found = _taylor(self.logarithms, middle, arb(self.log_tolerance).exp() / self.share)
            if found is None:
                return None
            polynomial = found[0] * self.share
            polynomial -= arb_poly([1 + self.constant + self.slope * middle, self.slope])
            rest = within(self.share * found[1])
            everywhere = polynomial(within(ball(REACH))) + rest
            return Local(polynomial, rest + self._error(everywhere))


@dataclass(frozen=True)
class Blocks:
    """Nodes too many to keep, summed for one order, a block in the bits that its weight needs."""

    q: Fraction
    sigma: Fraction
    guessed: Guess
    grid: TrapezoidGrid
    kept: list[tuple[int, int]]

    @property
    def nodes(self) -> int:
        """How many are summed."""
        return sum(last - first for first, last in self.kept)

    def total(self, alpha: Fraction) -> arb:
        """Σ_j m(jh)^α e^{−(jh)²/(2σ²)}."""
        total = arb(0)
        with progress("integral, nodes", self.nodes) as advance:
            for start, end in self.kept:
                for first in range(start, end, _BLOCK):
                    deadline.check()
                    last = min(first + _BLOCK, end)
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
        return int(relative + _growth(self.guessed, self.grid)) + _BLOCK_BITS

    def _block(self, alpha: Fraction, first: int, last: int) -> arb:
        """By products alone, but for the power."""
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
    return alpha.denominator <= _LARGEST_ROOT


def _power(alpha: Fraction) -> Callable[[arb], arb]:
    """x ↦ x^α."""
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
    """Σ_j w_j e^{l_j t} = Σ_j e^{l_j n + …} e^{l_j t} as a polynomial, and what bounds the rest.

    In two halves: the first nodes, whose l is small, need fewer terms than the others.
    """
    polynomial, rest, half = arb_poly([]), arb(0), len(logarithms) // 2
    for part in filter(None, (logarithms[:half], logarithms[half:])):
        weights = [(x * middle + weight).exp() for x, weight in part]
        found = _taylor_of([log_ratio for log_ratio, _ in part], weights, negligible / 2)
        if found is None:
            return None
        polynomial, rest = polynomial + found[0], rest + found[1]
    return polynomial, rest


def _taylor_of(logs: list[arb], terms: list[arb], negligible: arb) -> tuple[arb_poly, arb] | None:
    """Taylor coefficients by products of a matrix of first powers of l_j with terms w_j l_j^k.

    Σ_{k>=N} w abs(l t)^k/k! <= w l^N/(2^N N!) e^{abs(l)/2} for an even N.
    """
    growth = (abs(logs[0]).max(abs(logs[-1])) * ball(REACH)).exp()
    *rows, power = accumulate([logs] * _TOGETHER, _products, initial=[arb(1)] * len(logs))
    table = arb_mat(rows)
    coefficients: list[arb] = []
    while len(coefficients) < _MOST_TERMS:
        deadline.check()
        for moment in (table * arb_mat(len(terms), 1, terms)).entries():
            coefficients.append(moment / math.factorial(len(coefficients)))
        ahead = growth * abs(coefficients[-2]) / (1 << len(coefficients) - 2)
        if ahead < negligible:
            return arb_poly(coefficients[:-2]), ahead
        terms = _products(terms, power)
    return None


def _products(some: list[arb], others: list[arb]) -> list[arb]:
    """One of each with one of each."""
    return list(map(mul, some, others))


def _working_bits(guessed: Guess, grid: TrapezoidGrid) -> int:
    """Bits for an absolute error of the sum at the tolerance."""
    scale = _log_sum(max(guessed.log_excess, 0.0), 0.0)
    return int((scale - guessed.log_tolerance) / LOG2 + _growth(guessed, grid)) + 4


def _growth(guessed: Guess, grid: TrapezoidGrid) -> float:
    """Bits that the roundings of exponents and of the sum add up to."""
    top = max(guessed.log_weight(grid.first * grid.step), guessed.log_weight(1 + guessed.lam), 0)
    exponent = (abs(guessed.log_weight(grid.last * grid.step)) + abs(top) + 1) * 4
    return math.log2((1 + guessed.lam) * (grid.nodes + 4) + exponent)


def _logarithms(
    q: Fraction, sigma: Fraction, step: float, first: int, last: int
) -> Iterator[tuple[arb, arb]]:
    """log m(jh) and −(jh)²/(2σ²) over first ≤ j < last."""
    h, variance, rest = Fraction(step), sigma * sigma, ball(1 - q)
    weighed = ball(q) * ball((2 * first * h - 1) / (2 * variance)).exp()
    ratio = ball(h / variance).exp()
    decay = ball(-h * h / (2 * variance))
    for j in range(first, last):
        yield (weighed + rest).log(), decay * (j * j)
        weighed *= ratio


def _theta_excess(step: float, sigma: arb) -> tuple[arb, arb]:
    """h Σ φ(jh) − 1 and h Σ φ(jh−1) − 1, by Poisson's summation formula."""
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
    """(c₁, c₂) with |h Σ f(jh) − ∫f| ≤ c₁(A_α − 1) + c₂ for f = φ·(m^α − 1 − α(m − 1)).

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
    """Index ranges to sum, and ranges whose terms are all negligible by a chord bound."""
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
    """Blocks from left to right, each negligible, or short and not shown to be."""
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
    """Maximum over [left, right] of (chord of log m^α) − z²/(2σ²)."""
    variance = guessed.sigma**2
    start = guessed.log_power(left)
    slope = (guessed.log_power(right) - start) / (right - left)
    z = min(max(slope * variance, left), right)
    return start + slope * (z - left) - z * z / (2 * variance)


class Rim:
    """Bounds in balls on the nodes that are not summed, for all orders low <= α <= high."""

    def __init__(self, orders: Orders, q: Fraction, sigma: Fraction) -> None:
        self.low, self.high = map(ball, orders)
        self.q, self.sigma = ball(q), ball(sigma)
        self.density = 1 / (self.sigma * (2 * arb.pi()).sqrt())

    def log_power(self, z: arb) -> arb:
        """The largest log of m(z)^α, at one of the two ends; a convex function of z."""
        log_ratio = (1 - self.q + self.q * ((z - 0.5) / self.sigma**2).exp()).log()
        return (self.low * log_ratio).max(self.high * log_ratio)

    def outside(self, grid: TrapezoidGrid) -> arb:
        """h Σ φ m^α over j < first and j ≥ last: Mills' ratio at 0 and, tilted, at α."""
        left, right = arb(grid.step) * grid.first, arb(grid.step) * (grid.last - 1)
        return self._mills(left, -left) + self._mills(right, right - self.high)

    def _mills(self, z: arb, distance: arb) -> arb:
        """m(z)^α φ(z) σ²/distance, for a distance > 0."""
        if not distance > 0:
            return arb.pos_inf()
        exponent = self.log_power(z) - (z / self.sigma) ** 2 / 2
        return exponent.exp() * self.density * self.sigma**2 / distance

    def block(self, step: float, first: int, last: int) -> arb:
        """h Σ φ m^α over first ≤ j < last, with log m^α replaced by its chord."""
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
