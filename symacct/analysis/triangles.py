"""Expectations over three normal laws give the triangles of fixed-size sampling."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from flint import arb, arb_poly, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import (
    LOG2,
    ball,
    normal_tail,
    steered_by_floats,
    to_relative_accuracy,
    up_to,
    within,
)
from symacct.kernel.errors import LimitError
from symacct.kernel.memory import cached_property

# --- three normal laws
#
# The numbers of E[m^α n^{1−α}], m = κ + γe^{a·x − |a|²/2}, n = κ + γe^{b·x − |b|²/2}, x ~ N(0, I).
#
# κ = 1 − γ; a and b lie on a line or in a plane. In float64 the excess over 1 is a sum over a grid,
# which steers and proves nothing.

#: Nodes of the sum at order 1 in float64; more are refused by LimitError.
_MOST_ENTROPY_NODES = 2**24


class Gram(NamedTuple):
    """A Gram matrix is |a|², a·b and |b|²: variances and covariance of a·x and b·x."""

    first: Fraction
    mixed: Fraction
    second: Fraction

    @property
    def determinant(self) -> Fraction:
        """|a|²|b|² − (a·b)²"""
        return self.first * self.second - self.mixed**2


@dataclass(frozen=True)
class Triple:
    """A triple is α, γ, and the means a = (a₁, r), b = (b₁, r); r = 0 on a line.

    The fields `a`, `b` and `rise` are a₁, b₁ and the rational r², in units of σ.
    """

    alpha: Fraction
    gamma: Fraction
    a: Fraction
    b: Fraction
    rise: Fraction = Fraction(0)

    @property
    def on_a_line(self) -> bool:
        """Is the second coordinate 0?"""
        return self.rise == 0

    @cached_property
    def floats(self) -> Floats:
        """The triple in float64, which steers."""
        rates = float(self.gamma), float(1 - self.gamma)
        return Floats(float(self.alpha - 1), rates, float(self.a), float(self.b), self.height)

    @property
    def gram(self) -> Gram:
        """|a|², a·b and |b|²"""
        a, b, rise = self.a, self.b, self.rise
        return Gram(a * a + rise, a * b + rise, b * b + rise)

    @property
    def height(self) -> float:
        """r in float64."""
        return math.sqrt(float(self.rise))


@dataclass(frozen=True)
class Floats:
    """A triple in float64: λ = α − 1, (γ, κ), a₁, b₁ and r; nothing proved rests on it."""

    lam: float
    rates: tuple[float, float]
    a: float
    b: float
    r: float

    @property
    def alpha(self) -> float:
        """λ + 1"""
        return self.lam + 1

    @property
    def squares(self) -> tuple[float, float]:
        """|a|² and |b|²"""
        return self.a**2 + self.r**2, self.b**2 + self.r**2

    @cached_property
    def peak(self) -> float:
        """α times what is largest of |a| and |b|, the reach of the integrand's maximum."""
        return self.alpha * math.sqrt(max(self.squares))

    @cached_property
    def log_excess(self) -> float:
        """About log(E[…] − 1), by the largest term of a grid that is fine near both ends; α > 1."""
        far, across = max(0.0, self.alpha * self.a), self.alpha * self.r
        z = _tried(far, 200 if self.r else 4000)
        y = _tried(across, 200) if self.r else np.zeros(1)
        return float(np.max(self._log_terms(z[:, None], y[None, :]))) - 0.9

    def log_entropy(self) -> float:
        """log E[m log(m/n)] for a pair on a line (α = 1, r = 0), by trapezoids in float64.

        Around the means of 1, X² and Y²: what is summed rises in X at most as its square does, and
        so in Y (as it does for small γ). Nothing is proved. LimitError for too many nodes.
        """
        step, reach = min(0.1, 0.4 / max(abs(self.a), abs(self.b))), 9.0
        places = 0.0, 2 * self.a, 2 * self.b
        low, high = min(places) - reach, max(places) + reach
        if (high - low) / step > _MOST_ENTROPY_NODES:
            raise LimitError(
                "a sampled Gaussian's integral: found more than "
                f"{_MOST_ENTROPY_NODES:,} nodes, which take too long",
                remedy="ask for more noise, or for an order above 1",
            )
        z = np.arange(low, high, step)
        return self.log_block(z, np.zeros(1)) + math.log(step / math.sqrt(2 * math.pi))

    def log_block(self, z: np.ndarray, y: np.ndarray) -> float:
        """log Σ of the integrand over the nodes (z, y), without the steps and 1/√(2π)."""
        return log_total(self._log_terms(z, y))

    def _log_terms(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """log of n(r^α − 1 − α(r−1)) e^{−(z²+y²)/2}, r = m/n, at the nodes (z, y)."""
        first, second = self.squares
        log_gap = log_gap_of(
            self.lam,
            self.rates,
            self.a * z + self.r * y - first / 2,
            self.b * z + self.r * y - second / 2,
        )
        return np.asarray(log_gap - (z * z + y * y) / 2)


def log_total(logs: np.ndarray) -> float:
    """log Σ e^l, from its largest term: one logarithm rounds, not one for each term."""
    top = np.max(logs)
    return float(top + np.log(np.sum(np.exp(logs - top))))


def _tried(far: float, most: int) -> np.ndarray:
    """Places near 0, near `far` and at most `most` between, half a deviation apart if these do."""
    near = np.arange(-9, 9.1, 0.5)
    between = np.linspace(0.0, far, min(most, math.ceil(min(2 * far, most)) + 1))
    return np.unique(np.concatenate([near, far + near, between]))


def log_gap_of(
    lam: float, rates: tuple[float, float], log_x: np.ndarray, log_y: np.ndarray
) -> np.ndarray:
    """log( n (r^α − 1 − α(r−1)) ), r = m/n and α = λ + 1 >= 1, in float64 without cancellation.

    `rates` are γ and κ = 1 − γ, m = κ + γX and n = κ + γY from log X and log Y. At α = 1 it is
    log( n (r log r − r + 1) ). The first is n (r(r^λ − 1) − λ(r−1)), and the second its quotient by
    λ as λ → 0.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        log_m, log_n = (_log_mixture(rates, x) for x in (log_x, log_y))
        u, w = (rates[0] * np.expm1(np.minimum(x, 700.0)) for x in (log_x, log_y))
        s = (u - w) / (1 + w)
        alpha, slope = lam + 1, lam or 1.0
        gap = np.empty(s.shape)
        near = alpha * np.abs(s) < 2e-3  # each node takes the logarithms of its own formula alone
        x = s[near]
        series = 1 + (alpha - 2) * x / 3 * (1 + (alpha - 3) * x / 4 * (1 + (alpha - 4) * x / 5))
        gap[near] = np.log(alpha * slope / 2 * series) + 2 * np.log(np.abs(x))
        log_r = log_m - log_n
        moderate = np.abs(s) < 0.5
        log_r[moderate] = np.log1p(s[moderate])
        more = (log_r > 0) & ~near
        x = log_r[more]
        growth = np.expm1(np.minimum(lam * x, 700.0)) if lam else x
        above = x + np.log(growth + slope * np.expm1(-x))
        gap[more] = np.where(lam * x < 700, above, alpha * x)
        less = ~(more | near)
        x = log_r[less]
        growth = np.expm1(lam * x) if lam else x
        gap[less] = np.log(np.exp(x) * growth - slope * s[less])
        return np.asarray(np.fmax(log_n + gap, -1e300))


def _log_mixture(rates: tuple[float, float], log_ratio: np.ndarray) -> np.ndarray:
    """log(κ + γX) from log X, in float64."""
    gamma, rest = rates
    if rest == 0:
        return log_ratio
    return np.logaddexp(math.log(rest), math.log(gamma) + log_ratio)


# --- slopes
#
# The slope along the triangles of fixed-size sampling, without an integral.
#
# dG/dB = ½α(α−1)γ²κ H(B), H(B) = E[Y(Y−X) n^{−2} (1+s)^{α−1}], s = (m−n)/n (docs/proofs/triples.md,
# Lemma slope-series). To a degree K in x = γ/κ it is a sum of exponentials in B. What is left out
# is bounded for all B at once, and of that which may be large, far from where the laws are, the
# sign is known.

#: The sum of exponentials, whose terms cancel, has so many bits beyond those that δ² takes from 1;
#: of fewer its ball is wider.
_EXPONENTIALS_BITS = 128
#: The degrees K in γ/κ that are tried, odd ones. What a degree leaves out is bounded for odd ones
#: alone: an even one is unsound. Higher ones take longer.
_DEGREES = range(1, 26, 2)
#: The share of δ², the size of H, below which what is left out decides nothing: no higher degree.
#: The degree that it chooses is proved like any other; it costs time alone.
_FINE_SHARE = Fraction(1, 2**24)
#: The share of δ² above which what is left out makes the sum useless. Then none is used, which
#: costs time alone.
_COARSE_SHARE = Fraction(1, 16)
#: Terms of the binomial series that bounds the rest; for more the bound is ∞. It saves time.
_MOST_BINOMIAL_TERMS = 4096
#: Terms of H about the middle of a piece, the last of them over the whole piece. More narrow the
#: bounds, and take longer.
_TAYLOR_TERMS = 4


@dataclass(frozen=True)
class Slopes:
    """Slopes bound κ²H(B) between Σ weight e^{rate·B} − below and the sum + above, on [0, δ²]."""

    weights: dict[Fraction, arb]
    below: arb
    above: arb
    bits: int

    @cached_property
    def _terms(self) -> list[tuple[arb, arb]]:
        """The rates and the weights, at the sum's own bits."""
        with ctx.workprec(self.bits):
            return [(ball(rate), weight) for rate, weight in self.weights.items()]

    def over(self, low: Fraction, high: Fraction) -> tuple[arb, arb]:
        """A lower and an upper bound of κ²H(B) at all B from low to high, by Taylor's formula."""
        with ctx.workprec(self.bits):
            whole, middle = ball(low).union(ball(high)), ball((low + high) / 2)
            half, reach, total = ball((high - low) / 2), arb(1), arb(0)
            rates = [rate for rate, _ in self._terms]
            derivative = [weight * (rate * middle).exp() for rate, weight in self._terms]
            for n in range(_TAYLOR_TERMS):
                total += sum(derivative, arb(0)) * within(reach) if n else sum(derivative, arb(0))
                derivative = [x * rate for x, rate in zip(derivative, rates, strict=True)]
                reach *= half / (n + 1)
            last = (
                weight * rate**_TAYLOR_TERMS * (rate * whole).exp() for rate, weight in self._terms
            )
            total += sum(last, arb(0)) * within(reach)
            return (total - self.below).lower(), (total + self.above).upper()

    def rise_between(self, low: Fraction, high: Fraction) -> arb:
        """An upper bound of the integral of κ²H from B = low to high."""
        with ctx.workprec(self.bits):
            first, last = ball(low), ball(high)
            terms = (
                weight / rate * ((rate * last).exp() - (rate * first).exp())
                for rate, weight in self._terms
            )
            return sum(terms, self.above * (last - first))


@lru_cache(maxsize=256)
def slopes(alpha: Fraction, gamma: Fraction, delta: Fraction) -> Slopes | None:
    """κ²H as a sum of exponentials to the first degree that leaves out little, or to the best.

    None where even that leaves out 1/16 of δ². 0 < γ < 1; δ = Δ/σ. The last 256 are remembered.
    """
    # What is left of 1 is of the size δ².
    lost = 2 * max(0, delta.denominator.bit_length() - delta.numerator.bit_length())
    with ctx.workprec(_EXPONENTIALS_BITS + lost):
        expansion = SlopeSeries(alpha - 1, gamma / (1 - gamma), delta**2)
        fine, coarse = (ball(share * delta**2) for share in (_FINE_SHARE, _COARSE_SHARE))
        best, left = 0, coarse
        for degree in _DEGREES:
            rest = expansion.left_out(degree)
            if rest < left:
                best, left = degree, rest
            if left < fine:
                break
        return expansion.cut(best, left) if best else None


class SlopeSeries:
    """The series is κ²H to some degree in x = γ/κ; `power` is p = α − 1, and `top` δ²."""

    def __init__(self, power: Fraction, x: Fraction, top: Fraction) -> None:
        self.power, self.top = power, ball(top)
        self.x, self.p = ball(x), ball(power)

    @cached_property
    def binomials(self) -> list[arb]:
        """C(p, k) for k from 0 to the largest degree."""
        coefficients = [arb(1)]
        for k in range(max(_DEGREES)):
            coefficients.append(coefficients[-1] * (self.p - k) / (k + 1))
        return coefficients

    def moment(self, i: arb | int, j: int) -> arb:
        """E[X^i Y^j] at B = δ², where it is the largest."""
        i = arb(i)
        return ((i * (i - 1) + j * (j - 1) + i * j) * self.top / 2).exp()

    def left_out(self, degree: int) -> arb:
        """An upper bound of what n^{−k−2} leaves out from x^{K−k} on, for all k < K = `degree`.

        |X−Y|^{k+1} <= X^{k+1} + Y^{k+1}.
        """
        total = arb(0)
        for k in range(degree):
            rest = degree - k
            size = self.moment(k + 1, rest + 1) + self.moment(0, degree + 2)
            total += abs(self.binomials[k]) * math.comb(degree + 1, rest) * size
        return total * self._power_of_x(degree)

    def cut(self, degree: int, error: arb) -> Slopes:
        """The series cut at a degree; `error` is `left_out` there, and the last term has a sign."""
        last, binomial = self._last(degree), self.binomials[degree]
        below = arb(0) if binomial < 0 else last
        above = arb(0) if binomial >= 0 else last
        return Slopes(self._weights(degree), error + below, error + above, ctx.prec)

    def _weights(self, degree: int) -> dict[Fraction, arb]:
        """−Σ C(p,k) C(−k−2,j) x^{k+j} E[Y^{j+1}(X−Y)^{k+1}], k + j < K, as rate in B ↦ weight."""
        weights: dict[Fraction, arb] = defaultdict(arb)
        for k in range(degree):
            for j in range(degree - k):
                factor = self.binomials[k] * self._power_of_x(k + j) * math.comb(k + j + 1, j)
                for i in range(k + 2):
                    other = j + k + 2 - i
                    sign = (-1) ** other
                    weight = factor * math.comb(k + 1, i) * (i * (i - 1) * self.top / 2).exp()
                    weights[Fraction(other * (other - 1) + i * other, 2)] += sign * weight
        return weights

    def _last(self, degree: int) -> arb:
        """An upper bound of |C(p,K)| x^K E[Y(X^{K+1}+Y^{K+1})(1+xX)^q], q = max{0, p−K}.

        ∞ for a q above 4096. By the binomial series up to ⌊q⌋, and (1+xX)^f <= 1 + (xX)^f for the
        rest f of q.
        """
        q = max(Fraction(0), self.power - degree)
        whole = math.floor(q)
        if whole > _MOST_BINOMIAL_TERMS:
            return arb("inf")
        total, weight = arb(0), abs(self.binomials[degree]) * self._power_of_x(degree)
        for i in range(whole + 1):
            total += weight * self._both(degree, arb(i))
            if i < whole:
                weight *= self.x * (ball(q) - i) / (i + 1)
        if q > whole:
            total += weight * (ball(q - whole) * self.x.log()).exp() * self._both(degree, ball(q))
        return total

    def _both(self, degree: int, i: arb) -> arb:
        """E[Y(X^{K+1} + Y^{K+1})X^i] at B = δ², K = `degree`."""
        return self.moment(i + degree + 1, 1) + self.moment(i, degree + 2)

    def _power_of_x(self, k: int) -> arb:
        """x^k, exactly 1 for k = 0."""
        return self.x**k if k else arb(1)


# --- nodes of a line or a plane
#
# E[m^α n^{1−α}] − 1 by nodes that are equally far apart on a line, or in rows of a plane.
#
# m = κ + γe^{a·x − |a|²/2}, n = κ + γe^{b·x − |b|²/2}, κ = 1 − γ, x ~ N(0, I), with a proved error
# (docs/proofs/triples.md, Lemma plane-rows), for every real α > 1.

#: Bits of the balls that bound errors: they need few digits, and are upper bounds in any.
_BOUND_BITS = 64
#: Nodes of a sum; more are refused by LimitError.
_MOST_PLANE_NODES = 500_000
#: Nodes times the square of their bits, some ten seconds; more is refused by LimitError.
_MOST_PLANE_WORK = 2**36
#: Bits for which a sum in float64 has its nodes: a few less than float64 has. They steer, and
#: answers of the engine float64 rest on them, without a proof.
_FLOAT_BITS = 46
#: The widest angle of a strip in radians, below π, where m and n may vanish. A wider one has no
#: bound.
_WIDEST_ANGLE = 3.1
#: Heights of the strips that are tried, in units of σ. The one of the fewest nodes is taken: it
#: saves time.
_HEIGHTS_TRIED = np.geomspace(1e-4, 60, 100)


@dataclass(frozen=True)
class PlaneRule:
    """A rule has steps, heights of the strips (0 for an unused coordinate), and a tolerance.

    It is chosen in float64, by log of the absolute error aimed at.
    """

    steps: tuple[float, float]
    heights: tuple[float, float]
    log_tolerance: float


@steered_by_floats
def line_excess(triple: Triple) -> arb:
    """E[m^α n^{1−α}] − 1 to the current precision, a and b on a line, by a trapezoidal sum.

    α > 1 and 0 < γ < 1. LimitError where the nodes or their bits are too many.
    """

    def evaluate(bits: int) -> arb:
        """Sum over the nodes, and solve for the integral by the relative error."""
        rule = plan(triple, bits)
        bound = BellMajorant.best(triple, rule.log_tolerance)
        rows = list(rows_of(rule, bound))
        working = _working_bits(triple, rule, len(rows))
        with ctx.workprec(working):
            moment = _weighted_sum(triple, rule, rows)
        with ctx.workprec(_BOUND_BITS):
            lost = bound.left_out(rule, rows)
            share = discretisation(triple, rule)
            if not share < 1:
                return arb.nan()
            error = (lost + share * abs(moment)) / (1 - share)
        with ctx.workprec(working):
            return moment - 1 + within(error)

    return to_relative_accuracy(evaluate)


@steered_by_floats
def line_log_excess(triple: Triple) -> float:
    """About log(E[m^α n^{1−α}] − 1) of a triple on a line, in float64, to compare triples.

    α > 1 and 0 < γ < 1. Nothing is proved of it. LimitError for too many nodes. What is summed,
    n(r^α − 1 − α(r−1)) with r = m/n, is at most m^α n^{1−α} + (α−1)n.
    """
    rule = plan(triple, _FLOAT_BITS)
    step, _ = rule.steps
    lam, places = ball(triple.alpha - 1), (arb(0), ball(triple.b))
    shares = (lam * (1 - ball(triple.gamma)), lam * ball(triple.gamma))
    more = (Bell(share.log(), (at, arb(0))) for share, at in zip(shares, places, strict=True))
    bound = BellMajorant((*BellMajorant.best(triple, rule.log_tolerance).bells, *more))
    rows = rows_of(rule, bound)
    z = np.array([i for i, _, _ in rows]) * step
    return triple.floats.log_block(z, np.zeros(1)) + math.log(step / math.sqrt(2 * math.pi))


def plan(triple: Triple, bits: int) -> PlaneRule:
    """The rule on a line of the widest step for an error of 2^(−bits−3) of the excess."""
    log_excess = triple.floats.log_excess
    log_tolerance = log_excess - (bits + 3) * LOG2
    return widest(triple.floats, max(log_excess, 0.0) + math.log(8) - log_tolerance, log_tolerance)


def widest(f: Floats, need: float, log_tolerance: float) -> PlaneRule:
    """The rule on a line of the fewest nodes whose strip's bound is about e^{−need}, in float64."""
    angle = abs(f.b) * _HEIGHTS_TRIED
    with np.errstate(invalid="ignore"):
        cost = need + _HEIGHTS_TRIED**2 / 2 - (f.alpha - 1) * np.log(np.cos(angle / 2))
    both = np.maximum(angle, abs(f.a) * _HEIGHTS_TRIED)
    best = int(np.argmax(np.where(both < _WIDEST_ANGLE, _HEIGHTS_TRIED / cost, -1.0)))
    height = float(_HEIGHTS_TRIED[best])
    return PlaneRule((height * 2 * math.pi / float(cost[best]), 1.0), (height, 0.0), log_tolerance)


def discretisation(triple: Triple, rule: PlaneRule) -> arb:
    """ρ with |h₁h₂ Σ f − ∫f| <= ρ ∫f for a triple on a line, proved; ∞ where no strip bounds it."""
    places = ball(triple.a), ball(triple.b), arb(0)
    return shifted_planes(places, ball(triple.alpha - 1), rule)


def shifted_planes(places: tuple[arb, arb, arb], power: arb, rule: PlaneRule) -> arb:
    """ρ, an upper bound of the share of ∫f that sums over nodes err by; ∞ for too wide an angle.

    By Poisson's sum and shifted planes. `places` are a₁, b₁ and r, and `power` is α − 1.
    """
    a, b, r = places
    first, second = (arb(h) for h in rule.heights)
    angle = abs(b) * first + r * second
    turned = abs(a) * first + r * second
    if not (angle < arb.pi() and turned < arb.pi()):
        return arb.pos_inf()
    growth = (first**2 + second**2) / 2 - power * (angle / 2).cos().log()
    aliases = arb(0)
    for step, height in zip(rule.steps, (first, second), strict=True):
        if height > 0:
            extra = 2 / (2 * arb.pi() * height / arb(step)).expm1()
            aliases += extra + aliases * extra
    return growth.exp() * aliases


@dataclass(frozen=True)
class Bell:
    """A bell is e^c times the normal density about (t₁, t₂)."""

    log_factor: arb
    centre: tuple[arb, arb]

    def half_width(self, log_tolerance: float, away: float) -> float | None:
        """How far along a row, `away` from the centre, it exceeds the tolerance; None for not."""
        drop = float(self.log_factor.mid()) - log_tolerance - away * away / 2
        return math.sqrt(2 * drop) if drop > 0 else None


# Proved in docs/proofs/triples.md, Lemma bells.
@dataclass(frozen=True)
class BellMajorant:
    """A majorant is bells whose sum is at least the integrand everywhere."""

    bells: tuple[Bell, ...]

    @classmethod
    def best(cls, triple: Triple, log_tolerance: float) -> BellMajorant:
        """The majorant, of some weights w, whose bells reach the least far; each is proved."""
        alpha, kappa = float(triple.alpha), float(1 - triple.gamma)
        weights = {1 / 2, kappa, 1 - 1 / (2 * alpha), 1 - 1 / (8 * alpha)}
        logs = [math.log(w) for w in weights if 0 < w < 1]
        # Where the tolerance is large, the one at which the first bell is below it.
        logs.append(min(-LOG2, (10 - log_tolerance) / max(triple.floats.lam, 1e-200)))
        with ctx.workprec(_BOUND_BITS):
            majorants = [cls.weighted(triple, log_w) for log_w in logs]
        return min(majorants, key=lambda majorant: majorant.reach(log_tolerance))

    @classmethod
    def weighted(cls, triple: Triple, log_w: float) -> BellMajorant:
        """m^α <= w^{1−α}κ^α + (1−w)^{1−α}γ^αX^α, and n^{1−α} by n >= κ, or n >= γY for γ > ½.

        0 < w < 1, given by its logarithm; 0 < γ < 1.
        """
        alpha, gamma, r = ball(triple.alpha), ball(triple.gamma), ball(triple.rise).sqrt()
        lam = ball(triple.alpha - 1)
        a, b = (ball(triple.a), r), (ball(triple.b), r)
        flat = alpha * (1 - gamma).log() - lam * log_w
        tilted = alpha * gamma.log() - lam * (-arb(log_w).expm1()).log() - alpha * _square(a) / 2
        tilt = (alpha * a[0], alpha * a[1])
        if triple.gamma > Fraction(1, 2):
            share, back = lam * (_square(b) / 2 - gamma.log()), (-lam * b[0], -lam * b[1])
        else:
            share, back = -lam * (1 - gamma).log(), (arb(0), arb(0))
        ends = (back, (tilt[0] + back[0], tilt[1] + back[1]))
        logs = (flat + share, tilted + share)
        bells = tuple(Bell(c + _square(t) / 2, t) for c, t in zip(logs, ends, strict=True))
        return cls(bells)

    def reach(self, log_tolerance: float) -> float:
        """Nats by which the bells exceed the tolerance: they grow with the nodes that count."""
        return sum(max(0.0, float(bell.log_factor.mid()) - log_tolerance) for bell in self.bells)

    def left_out(self, rule: PlaneRule, rows: list[tuple[int, int, int]]) -> arb:
        """An upper bound of h₁h₂ Σ f over the nodes that are in no row."""
        return sum((_outside(bell, rule, rows) for bell in self.bells), arb(0))


def _square(t: tuple[arb, arb]) -> arb:
    """|t|²"""
    return t[0] ** 2 + t[1] ** 2


def rows_of(rule: PlaneRule, bound: BellMajorant) -> Iterator[tuple[int, int, int]]:
    """(i, first, last), i rising: nodes (i h₁, j h₂), first <= j < last, that may count.

    On a line a row has one node. LimitError where there are too many.
    """
    log_tolerance = rule.log_tolerance - 8
    step, across = rule.steps
    spans = [_span(bell, log_tolerance, step) for bell in bound.bells]
    flat, nodes = rule.heights[1] == 0, 0
    places = sorted({i for low, high in spans for i in range(low, high)} if flat else _hull(spans))
    for i in places:
        deadline.check()
        first, last = 0, 1
        if not flat:
            ends = list(_ends(i * step, bound, log_tolerance))
            if not ends:
                continue
            first = math.floor(min(a for a, _ in ends) / across)
            last = math.ceil(max(b for _, b in ends) / across) + 1
        nodes += last - first
        if nodes > _MOST_PLANE_NODES:
            raise LimitError(
                "a sampled Gaussian's integral: found more than "
                f"{_MOST_PLANE_NODES:,} nodes, which take too long",
                remedy="ask for a lower order, or for another theorem",
            )
        yield i, first, last


def _span(bell: Bell, log_tolerance: float, step: float) -> tuple[int, int]:
    """The nodes low <= i < high on a line at which the bell may count; (0, 0) for none."""
    reach, centre = bell.half_width(log_tolerance, 0.0), float(bell.centre[0].mid())
    if reach is None:
        return 0, 0
    low, high = math.floor((centre - reach) / step), math.ceil((centre + reach) / step) + 1
    if high - low > _MOST_PLANE_NODES:
        return low, low + _MOST_PLANE_NODES + 1  # too many: refused when they are counted
    return low, high


def _hull(spans: list[tuple[int, int]]) -> range:
    """From the first to the last node of any span."""
    counted = [span for span in spans if span[0] < span[1]]
    return range(min(low for low, _ in counted), max(high for _, high in counted))


def _ends(z: float, bound: BellMajorant, log_tolerance: float) -> Iterator[tuple[float, float]]:
    """Where each bell that counts in the row at z begins and ends."""
    for bell in bound.bells:
        reach = bell.half_width(log_tolerance, z - float(bell.centre[0].mid()))
        if reach is not None:
            centre = float(bell.centre[1].mid())
            yield centre - reach, centre + reach


def _outside(bell: Bell, rule: PlaneRule, rows: list[tuple[int, int, int]]) -> arb:
    """An upper bound of h₁h₂ Σ of a bell over the nodes in no row."""
    step, across = arb(rule.steps[0]), arb(rule.steps[1])
    if rule.heights[1] == 0:
        low, high = _span(bell, rule.log_tolerance - 8, rule.steps[0])
        if low == high:
            return bell.log_factor.exp() * (1 + step)
        sides = _tail(bell.centre[0] - step * low, step)
        return bell.log_factor.exp() * (sides + _tail(step * (high - 1) - bell.centre[0], step))
    whole, present = 1 + across, {i for i, _, _ in rows}
    first, last = rows[0][0], rows[-1][0]
    total = _tail(bell.centre[0] - step * first, step) * whole
    total += _tail(step * last - bell.centre[0], step) * whole
    for i in range(first, last + 1):
        if i not in present:
            total += step * _density(step * i - bell.centre[0]) * whole
    for i, low, high in rows:
        deadline.check()
        sides = _tail(bell.centre[1] - across * low, across)
        sides += _tail(across * (high - 1) - bell.centre[1], across)
        total += step * _density(step * i - bell.centre[0]) * sides
    return bell.log_factor.exp() * total


def _density(x: arb) -> arb:
    """The standard normal density."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _tail(x: arb, step: arb) -> arb:
    """An upper bound of h Σ of the normal density over nodes from x + h on, 1 + h for x <= 0."""
    return normal_tail(x) if x > 0 else 1 + step


def _working_bits(triple: Triple, rule: PlaneRule, nodes: int) -> int:
    """Bits for an absolute error of about the tolerance; LimitError for too much work."""
    f = triple.floats
    exponent = f.alpha * (1 + (f.peak + 40) * math.sqrt(max(f.squares))) + (f.peak + 40) ** 2
    scale = max(f.log_excess, 0.0) - rule.log_tolerance
    bits = int(scale / LOG2 + math.log2(exponent * (nodes + 4))) + 10
    if nodes * bits**2 > _MOST_PLANE_WORK:
        raise LimitError(
            f"a sampled Gaussian's integral: found {nodes:,} nodes of {bits:,} bits, which take "
            "too long",
            remedy="ask for a lower order, or for another theorem",
        )
    return bits


def _weighted_sum(triple: Triple, rule: PlaneRule, rows: list[tuple[int, int, int]]) -> arb:
    """h Σ f over the nodes of a line, in a ball."""
    step, gamma, rest = Fraction(rule.steps[0]), ball(triple.gamma), ball(1 - triple.gamma)
    alpha, lam = ball(triple.alpha), ball(triple.alpha - 1)
    starts = [-(ball(t**2)) / 2 for t in (triple.a, triple.b)]
    slopes = [ball(t * step) for t in (triple.a, triple.b)]
    bend, total = ball(step * step / 2), arb(0)
    for i, _, _ in rows:
        deadline.check()
        m, n = (
            rest + gamma * (start + slope * i).exp()
            for start, slope in zip(starts, slopes, strict=True)
        )
        total += (alpha * m.log() - lam * n.log() - bend * (i * i)).exp()
    return total * ball(step) / (2 * arb.pi()).sqrt()


# --- nodes of a lattice
#
# Expectations over the nodes (hi, kj) of u = a·x and v = b·x, x ~ N(0, I), a and b independent.
#
# m is a function of i and n one of j, and what ties i to j in the density is e^{ijchk/D}, c = a·b,
# D = |a|²|b|² − c². As 2ij = i² + j² − (i−j)², the sum is a product of polynomials
# (docs/proofs/triples.md, Lemma plane-lattice).

#: Nodes of a lattice in balls; more are refused by LimitError.
_MOST_LATTICE_NODES = 4_000_000
#: Nodes of a lattice in float64, which takes an array of them; more are refused by LimitError.
_MOST_FLOAT_NODES = 1_000_000
#: Nodes times the square of their bits, some ten seconds; more is refused by LimitError.
_MOST_LATTICE_WORK = 2**39


class Power(NamedTuple):
    """A power is X^p Y^q x^a y^b, x = γX/m and y = γY/n."""

    p: int = 0
    q: int = 0
    a: int = 0
    b: int = 0


class LatticeBell(NamedTuple):
    """A bell on the lattice is e^c times the density of u and v about other means."""

    log_factor: arb
    centre: tuple[arb, arb]


@steered_by_floats
def triple_excess(triple: Triple) -> arb:
    """E[m^α n^{1−α}] − 1 to the current precision; α > 1 and 0 < γ < 1.

    LimitError where the nodes or their bits are too many.
    """
    if triple.on_a_line:
        return line_excess(triple)

    def evaluate(bits: int) -> arb:
        return lattice_of(triple, bits).expectations()[Power()] - 1

    return to_relative_accuracy(evaluate)


@steered_by_floats
def triple_log_excess(triple: Triple, bits: int = _FLOAT_BITS) -> float:
    """About log(E[m^α n^{1−α}] − 1) by the nodes of so many bits, in float64, to compare triangles.

    α > 1 and 0 < γ < 1. Nothing is proved of it. LimitError for too many nodes. What is summed,
    n(r^α − 1 − α(r−1)) with r = m/n, is at most m^α n^{1−α} + (α−1)n.
    """
    if triple.on_a_line:
        return line_log_excess(triple)
    lattice = lattice_of(triple, bits)
    lattice.refuse_above(_MOST_FLOAT_NODES)
    box = lattice.reached_by([*lattice.bells[0, 0], *lattice.denominator])
    u, v = (np.array(nodes) * step for nodes, step in zip(box, lattice.steps, strict=True))
    log_density = lattice.log_density(u[:, None], v[None, :])
    first, _, second = map(float, triple.gram)
    f = triple.floats
    log_gap = log_gap_of(f.lam, f.rates, u[:, None] - first / 2, v[None, :] - second / 2)
    return log_total(log_gap + log_density)


def lattice_of(triple: Triple, bits: int) -> Lattice:
    """The lattice of the fewest nodes for an error of 2^(−bits−3) of the excess, not on a line."""
    alpha, log_excess = triple.alpha, triple.floats.log_excess
    tolerance, size = log_excess - (bits + 3) * LOG2, max(log_excess, 0.0)
    return Lattice(triple.gram, triple.gamma, alpha, alpha - 1, (Power(),), size, tolerance)


@dataclass(frozen=True)
class Lattice:
    """A lattice has nodes for expectations of powers times m^μ n^{−ν}, of the size e^{log_size}.

    Their errors are about e^{log_tolerance}, and in the balls whatever they are. 0 < γ < 1, and the
    Gram matrix has a determinant > 0.
    """

    gram: Gram
    gamma: Fraction
    mu: Fraction
    nu: Fraction
    powers: tuple[Power, ...]
    log_size: float
    log_tolerance: float

    # --- float64: where the nodes are

    @cached_property
    def heights(self) -> tuple[float, float]:
        """Heights of the strips of u and v, for which the steps are chosen."""
        return self._widest[0]

    @cached_property
    def steps(self) -> tuple[float, float]:
        """The distances h and k of nodes of u and of v."""
        return self._widest[1]

    @cached_property
    def _widest(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Heights, and the steps of the fewest nodes whose bound is about the tolerance."""
        need = self.log_size + math.log(8) - self.log_tolerance
        first, mixed, second = map(float, self.gram)
        sizes = math.sqrt(first), math.sqrt(second)
        d, e = _HEIGHTS_TRIED[:, None], _HEIGHTS_TRIED[None, :]
        tie = mixed / (sizes[0] * sizes[1])
        turned, angle = sizes[0] * d, sizes[1] * e
        with np.errstate(invalid="ignore"):
            cost = need + (d * d + 2 * abs(tie) * d * e + e * e) / (2 * (1 - tie * tie))
            for power, by in zip(self._turns, (turned, angle), strict=True):
                cost = cost - float(power) * np.log(np.cos(by / 2))
        size = np.where(np.maximum(turned, angle) < _WIDEST_ANGLE, d * e / cost**2, -1.0)
        best = np.unravel_index(np.argmax(size), size.shape)
        heights = float(d[best[0], 0] * sizes[0]), float(e[0, best[1]] * sizes[1])
        factor = 2 * math.pi / float(cost[best])
        return heights, (heights[0] * factor, heights[1] * factor)

    @cached_property
    def _turns(self) -> tuple[Fraction, Fraction]:
        """The largest powers to which m and n stand in a denominator."""
        most = max(power.a for power in self.powers), max(power.b for power in self.powers)
        return max(Fraction(0), most[0] - self.mu), self.nu + most[1]

    @property
    def nodes(self) -> int:
        """The number of nodes in the box."""
        return len(self.box[0]) * len(self.box[1])

    def refuse_above(self, most: int) -> None:
        """LimitError where more nodes than these are to be summed."""
        if self.nodes > most:
            raise LimitError(
                f"a sampled Gaussian's integral: found more than {most:,} nodes, which take too "
                "long",
                remedy="ask for a lower order, or for another theorem",
            )

    @cached_property
    def box(self) -> tuple[range, range]:
        """The numbers i and j of the nodes that are summed."""
        return self.reached_by([bell for bells in self.bells.values() for bell in bells])

    def reached_by(self, bells: list[LatticeBell]) -> tuple[range, range]:
        """The smallest box of nodes that holds all at which one of the bells may count."""
        ranges = []
        for axis, (step, square) in enumerate(zip(self.steps, self.gram[::2], strict=True)):
            spans = [self._span(bell, axis, math.sqrt(square)) for bell in bells]
            low, high = min(low for low, _ in spans), max(high for _, high in spans)
            ranges.append(range(math.floor(low / step), math.ceil(high / step) + 1))
        return ranges[0], ranges[1]

    def _span(self, bell: LatticeBell, axis: int, deviation: float) -> tuple[float, float]:
        """Where along u (axis 0) or v (1) the bell may count, of this standard deviation."""
        drop = max(0.0, float(bell.log_factor.mid()) - self.log_tolerance + 8)
        centre, reach = float(bell.centre[axis].mid()), deviation * math.sqrt(2 * drop)
        return centre - reach, centre + reach

    @cached_property
    def bits(self) -> int:
        """Bits with which rounding leaves the tolerance; LimitError for too much work."""
        self.refuse_above(_MOST_LATTICE_NODES)
        ends = [k * max(-r[0], r[-1]) for k, r in zip(self.steps, self.box, strict=True)]
        squares = (end * end / float(s) for end, s in zip(ends, self.gram[::2], strict=True))
        exponent = (float(self._turns[1]) + 2) * (1 + sum(ends)) + 4 * sum(squares)
        scale = (self.log_size - self.log_tolerance) / LOG2
        bits = int(scale + math.log2(exponent * (self.nodes + 4))) + 10
        if self.nodes * bits**2 > _MOST_LATTICE_WORK:
            raise LimitError(
                f"a sampled Gaussian's integral: found {self.nodes:,} nodes of {bits:,} bits, "
                "which take too long",
                remedy="ask for a lower order, or for another theorem",
            )
        return bits

    def log_density(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """log of hk times the density of (u, v), in float64."""
        (first, mixed, second), determinant = map(float, self.gram), float(self.gram.determinant)
        bend = (second * u * u - 2 * mixed * u * v + first * v * v) / (2 * determinant)
        scale = math.prod(self.steps) / (2 * math.pi * math.sqrt(determinant))
        return np.asarray(math.log(scale) - bend)

    # --- balls: what is proved

    def expectations(self) -> dict[Power, arb]:
        """E of each power times m^μ n^{−ν}, in balls; NaN where no strip bounds the error."""
        with ctx.workprec(self.bits):
            sums = self._sums()
            return {power: total + self._error(power, total) for power, total in sums.items()}

    def _sums(self) -> dict[Power, arb]:
        """hk Σ over the box for every power, in balls, by a product of polynomials."""
        (h, k), (across, along) = map(arb, self.steps), self.box
        first, mixed, second = map(ball, self.gram)
        double = 2 * ball(self.gram.determinant)
        tie = mixed * h * k / double  # half of what ij is multiplied by
        falls = second * h * h / double - tie, first * k * k / double - tie
        rows = self._values(across, h, first, ball(self.mu), falls[0])
        columns = self._values(along, k, second, -ball(self.nu), falls[1])
        apart = range(across[0] - along[-1], across[-1] - along[0] + 1)
        kernel = arb_poly([(-tie * (d * d)).exp() for d in apart])
        met = {
            key: (kernel * arb_poly(columns(*key))).coeffs()[len(along) - 1 : len(apart)]
            for key in {(power.q, power.b) for power in self.powers}
        }
        scale = h * k / (arb.pi() * (2 * double).sqrt())
        return {
            power: scale * _dot(rows(power.p, power.a), met[power.q, power.b])
            for power in self.powers
        }

    def _values(
        self, nodes: range, step: arb, variance: arb, power: arb, fall: arb
    ) -> Callable[[int, int], list[arb]]:
        """(p, a) ↦ m^μ X^p x^a e^{−fall i²} at each node of one axis, μ = `power`."""
        rate, rest = ball(self.gamma), ball(1 - self.gamma)
        ratios = [step * i - variance / 2 for i in nodes]
        parts = [rate * ratio.exp() for ratio in ratios]
        wholes = [rest + part for part in parts]
        weights = [
            power * whole.log() - fall * (i * i) for i, whole in zip(nodes, wholes, strict=True)
        ]
        shares = [part / whole for part, whole in zip(parts, wholes, strict=True)]
        return lambda p, a: [
            (weight + p * ratio).exp() * share**a
            for weight, ratio, share in zip(weights, ratios, shares, strict=True)
        ]

    def _error(self, power: Power, total: arb) -> arb:
        """A ball about 0 of what the sum over the box is off by; x and y are below 1."""
        share, lost = self._shifted, self._lost[power.p, power.q]
        if not share < 1:
            return arb.nan()
        return within((lost + share * abs(total)) / (1 - share))

    @cached_property
    def _lost(self) -> dict[tuple[int, int], arb]:
        """(p, q) ↦ an upper bound of hk Σ |f| over the nodes outside of the box."""
        with ctx.workprec(_BOUND_BITS):
            return {
                key: sum((self._outside(bell) for bell in bells), arb(0))
                for key, bells in self.bells.items()
            }

    @cached_property
    def _shifted(self) -> arb:
        """ρ, an upper bound of the share of ∫f that sums over nodes err by.

        By Poisson's sum and shifted planes.
        """
        with ctx.workprec(_BOUND_BITS):
            first, second = (
                2 / (2 * arb.pi() * arb(height) / arb(step)).expm1()
                for step, height in zip(self.steps, self.heights, strict=True)
            )
            return self.growth() * (first + second + first * second)

    def growth(self) -> arb:
        """A bound of ∫|f| on the planes moved by the heights over ∫f; ∞ for too wide an angle."""
        first, mixed, second = map(ball, self.gram)
        turned, angle = (arb(height) for height in self.heights)
        if not (turned < arb.pi() and angle < arb.pi()):
            return arb.pos_inf()
        moved = second * turned**2 + 2 * abs(mixed) * turned * angle + first * angle**2
        growth = moved / (2 * ball(self.gram.determinant))
        for turn, by in zip(self._turns, (turned, angle), strict=True):
            growth -= ball(turn) * (by / 2).cos().log()
        return growth.exp()

    def _outside(self, bell: LatticeBell) -> arb:
        """An upper bound of hk Σ of a bell over the nodes outside of the box."""
        h, k = (arb(step) for step in self.steps)
        sizes = [ball(square).sqrt() for square in self.gram[::2]]
        density = 1 / (2 * arb.pi() * ball(self.gram.determinant)).sqrt()
        total = arb(0)
        # Across a row of nodes a sum is at most the integral and the largest term.
        for axis, across in enumerate((1 + k * sizes[0] * density, 1 + h * sizes[1] * density)):
            step, nodes, centre = arb(self.steps[axis]), self.box[axis], bell.centre[axis]
            for away in (centre - step * nodes[0], step * nodes[-1] - centre):
                total += _tail(away / sizes[axis], step / sizes[axis]) * across
        return bell.log_factor.exp() * total

    @cached_property
    def bells(self) -> dict[tuple[int, int], list[LatticeBell]]:
        """(p, q) ↦ bells whose sum is above X^p Y^q m^μ n^{−ν}, those that reach least far."""
        size = max(float(self.mu), 1.0)
        weights = {1 / 2, float(1 - self.gamma), 1 - 1 / (2 * size), 1 - 1 / (8 * size)}
        logs = [math.log(w) for w in weights if 0 < w < 1]
        # Where the tolerance is large, the one at which the first bell is below it.
        logs.append(min(-LOG2, (10 - self.log_tolerance) / max(size - 1, 1e-200)))
        with ctx.workprec(_BOUND_BITS):
            return {
                (p, q): min((self._bells(p, q, log_w) for log_w in logs), key=self._reach)
                for p, q in {(power.p, power.q) for power in self.powers}
            }

    @property
    def denominator(self) -> list[LatticeBell]:
        """The bells whose sum is νn times the density."""
        nu, rate = ball(self.nu), ball(self.gamma)
        with ctx.workprec(_BOUND_BITS):
            return [
                self._bell((nu * share).log(), arb(0), arb(q))
                for q, share in enumerate((1 - rate, rate))
            ]

    def _reach(self, bells: Iterable[LatticeBell]) -> float:
        """Nats by which the bells exceed the tolerance: they grow with the nodes that count."""
        return sum(max(0.0, float(bell.log_factor.mid()) - self.log_tolerance) for bell in bells)

    def _bells(self, p: int, q: int, log_w: float) -> list[LatticeBell]:
        """Two bells whose sum is above X^p Y^q m^μ n^{−ν}, for a weight 0 < w < 1.

        n >= κ, or n >= γY where γ > 1/2; for μ >= 1 m^μ is at most w^{1−μ}κ^μ + (1−w)^{1−μ}(γX)^μ;
        without the factors in w for μ <= 1.
        """
        rest, rate = (1 - ball(self.gamma)).log(), ball(self.gamma).log()
        mu, nu, back = ball(self.mu), ball(self.nu), arb(0)
        spare = (mu - 1).max(arb(0))
        share = -nu * rest
        if self.gamma > Fraction(1, 2):
            share, back = -nu * rate, nu
        far = -spare * (-arb(log_w).expm1()).log()
        return [
            self._bell(share + mu * rest - spare * log_w, arb(p), q - back),
            self._bell(share + mu * rate + far, p + mu, q - back),
        ]

    def _bell(self, log_factor: arb, p: arb, q: arb) -> LatticeBell:
        """The bell e^c X^p Y^q times the density, c = `log_factor`."""
        first, mixed, second = map(ball, self.gram)
        log_factor += (p * (p - 1) * first + q * (q - 1) * second) / 2 + p * q * mixed
        return LatticeBell(log_factor, (p * first + q * mixed, p * mixed + q * second))


def _dot(xs: list[arb], ys: list[arb]) -> arb:
    """Σ x_i y_i, of lists as long as each other: a term lost would be a bound too low."""
    return sum((x * y for x, y in zip(xs, ys, strict=True)), arb(0))


# --- drift
#
# How E[T] changes along B, T = X^p Y^q m^μ n^{−ν} x^a y^b, x = γX/m, y = γY/n.
#
# log X ~ N(−A/2, A), log Y ~ N(−B/2, B), covariance B/2: by the heat equation dE[T]/dB = E[LT], L =
# ½(Y²∂²/∂Y² + XY∂²/∂X∂Y) = ½((Y∂_Y)² − Y∂_Y + X∂_X Y∂_Y).

#: Power ↦ its factor, of a sum Σ factor·T.
Powers = dict[Power, Fraction]


@dataclass(frozen=True)
class Drift:
    """The drift L gives dE[T]/dB = E[LT], for one μ and ν."""

    mu: Fraction
    nu: Fraction

    def of(self, powers: Powers) -> Powers:
        """L of the sum, as a sum of powers."""
        once = _gathered(self._along_y(powers))
        halved = {power: factor / 2 for power, factor in once.items()}
        back = {power: -factor for power, factor in halved.items()}
        return _gathered([*self._along_y(halved), *back.items(), *self._along_x(halved)])

    def _along_x(self, powers: Powers) -> Iterator[tuple[Power, Fraction]]:
        """X∂_X of the sum, by X∂_X T = (p + a + (μ−a)x)T."""
        for power, factor in powers.items():
            yield power, (power.p + power.a) * factor
            yield power._replace(a=power.a + 1), (self.mu - power.a) * factor

    def _along_y(self, powers: Powers) -> Iterator[tuple[Power, Fraction]]:
        """Y∂_Y of the sum, by Y∂_Y T = (q + b − (ν+b)y)T."""
        for power, factor in powers.items():
            yield power, (power.q + power.b) * factor
            yield power._replace(b=power.b + 1), -(self.nu + power.b) * factor

    def minimum(self, power: Power) -> Fraction:
        """A lower bound of LT/T for one power that is at most 0, exact."""
        return _minimum_drift(self.mu, self.nu, power)


@lru_cache(maxsize=1024)
def _minimum_drift(mu: Fraction, nu: Fraction, power: Power) -> Fraction:
    """A lower bound of LT/T for one power that is at most 0, from its formula in z and s.

    With z = (Y∂_Y T)/T = j − ky, s = (X∂_X T)/T, LT/T is ½(z² − z − ky(1−y) + sz), that is
    ½(z²(1+1/k) + z(s − 2j/k) − j + j²/k): convex in z, linear in s.
    """
    p, q, a, b = power
    ends = (Fraction(p + a), p + mu)
    return min(Fraction(0), *(_minimum_along_z(s, q + b, nu + b) for s in ends))


def _gathered(parts: Iterable[tuple[Power, Fraction]]) -> Powers:
    """The sum with equal powers joined, and those of factor 0 left out."""
    totals: Powers = defaultdict(Fraction)
    for power, factor in parts:
        totals[power] += factor
    return {power: factor for power, factor in totals.items() if factor}


def _minimum_along_z(s: Fraction, j: int, k: Fraction) -> Fraction:
    """The least ½(z²(1+1/k) + z(s − 2j/k) − j + j²/k) over j − k <= z <= j, k > 0."""
    bend, tilt = 1 + 1 / k, s - 2 * j / k
    z = min(max(-tilt / (2 * bend), j - k), Fraction(j))
    return (z * z * bend + z * tilt - j + j * j / k) / 2


# --- families of triangles
#
# The triangles that fixed-size sampling leaves, and how G = E[m^α n^{1−α}] changes along them.
#
# |a| = |a − b| = δ, |b|² = B in [0, δ²] (docs/proofs/triples.md, Lemma gaussian-triangles).

#: Bits of a value G − 1 that decides, beyond those that the difference of two values loses. Where
#: they are too few nothing is decided, and more are tried: it costs time alone.
_EXCESS_BITS = 24
#: Bits of the integrals for the slope on a piece, of which the sign or a bound counts. Where they
#: are too few the piece is cut, which takes longer.
_PIECE_BITS = 30
#: Derivatives of the slope that are taken by integrals, the last of them as a bound. More narrow
#: the bounds, and take longer.
_DERIVATIVES = 2
#: A rational number just above √5/2, as Lemma gram-order needs. A smaller one is unsound.
WIDE = Fraction(161, 144)


@dataclass(frozen=True)
class Triangles:
    """A family of triangles has α > 1, 0 < γ < 1 and δ = Δ/σ; B runs from 0 to δ²."""

    alpha: Fraction
    gamma: Fraction
    delta: Fraction

    def at(self, square: Fraction) -> Triple:
        """The triple with |b|² = B."""
        a = self.delta - square / (2 * self.delta)
        return Triple(self.alpha, self.gamma, a, -square / (2 * self.delta), self.delta**2 - a**2)

    @property
    def ends(self) -> tuple[Triple, Triple]:
        """p′ = q on a line, and the equilateral triangle."""
        return self.at(Fraction(0)), self.at(self.delta**2)

    @property
    def opposite(self) -> Triple:
        """a = δ and b = −δ on a line: what a record replaced in a Poisson sample leaves."""
        return Triple(self.alpha, self.gamma, self.delta, -self.delta)

    # Proved in docs/proofs/triples.md, Lemma gram-order.
    @property
    def dominating(self) -> Triple:
        """|a|² = |a − b|² = (161/144)²δ², |b| = δ: at no B is G larger."""
        return self.isosceles(WIDE * self.delta, self.delta**2)

    def isosceles(self, apart: Fraction, square: Fraction) -> Triple:
        """|a| = |a − b| = apart, |b|² = square"""
        b = -square / (2 * apart)
        return Triple(self.alpha, self.gamma, apart + b, b, square - b**2)

    @cached_property
    def ends_in_floats(self) -> tuple[float, float]:
        """log(G − 1) at both ends; nothing rests on them."""
        first, last = (triple_log_excess(end) for end in self.ends)
        return first, last

    @cached_property
    def end_excesses(self) -> tuple[arb, arb]:
        """G − 1 at both ends, in balls of few bits."""
        return self.excess(Fraction(0)), self.excess(self.delta**2)

    def excess(self, square: Fraction, bits: int = _EXCESS_BITS) -> arb:
        """G(B) − 1 in a ball of few bits: along B it changes by about a share δ² of itself.

        LimitError where the nodes are too many.
        """
        lost = 2 * max(0, self.delta.denominator.bit_length() - self.delta.numerator.bit_length())
        with ctx.workprec(bits + lost):
            return triple_excess(self.at(square))

    @property
    def factor(self) -> arb:
        """½α(α−1)γ²κ, the quotient of dG/dB and H."""
        alpha, gamma = self.alpha, self.gamma
        return ball(alpha * (alpha - 1) * gamma**2 * (1 - gamma) / 2)

    # Proved in docs/proofs/triples.md, Lemma slope-bound.
    def steepest(self, square: Fraction) -> arb:
        """u(B) = ½α(α−1)γ²/κ · E[Y(Y−X)⁺] in a ball, an upper bound of dG/dB that rises in B."""
        delta, b = ball(self.delta), ball(square)
        exchange = b.exp() * normal_tail(-(b + delta**2) / (2 * delta))
        exchange -= (b / 2).exp() * normal_tail((delta**2 - b) / (2 * delta))
        return self.factor / ball((1 - self.gamma) ** 2) * exchange


class OnAPiece(NamedTuple):
    """On a piece of B balls hold dG/dB and d²G/dB²; NaN where nothing is known."""

    slope: arb
    bend: arb


# Proved in docs/proofs/triples.md, Lemma slope-pieces.
def on_a_piece(triangles: Triangles, low: Fraction, high: Fraction) -> OnAPiece:
    """dG/dB and d²G/dB² over the piece low to high, in balls, by Taylor's formula at B = high > 0.

    H = E[Y(Y−X)m^{α−1}n^{−α−1}], and E[T] at B is at most e^{c(high−B)} times its value there,
    −c <= LT/T everywhere.
    """
    drift, derivatives = derivatives_of_slope(triangles.alpha)
    lattice = _lattice(triangles, high, derivatives, _PIECE_BITS)
    means = lattice.expectations()
    with ctx.workprec(lattice.bits):
        value, first = (_sum(powers, means) for powers in derivatives[:-1])
        width = ball(high - low)
        most = largest_moduli(drift, derivatives[-1], means, width)
        slope = value + -first * up_to(width) + within(most * width**2 / 2)
        factor = triangles.factor
        return OnAPiece(factor * slope, factor * (first + within(most * width)))


def slope_at(triangles: Triangles, square: Fraction, bits: int) -> arb:
    """dG/dB at one B > 0 in a ball, to so many bits of the size of its two parts."""
    _, (powers, *_) = derivatives_of_slope(triangles.alpha)
    lattice = _lattice(triangles, square, [powers], bits)
    with ctx.workprec(lattice.bits):
        return triangles.factor * _sum(powers, lattice.expectations())


def _sum(powers: Powers, means: dict[Power, arb]) -> arb:
    """Σ factor·E[T]."""
    return sum((ball(factor) * means[power] for power, factor in powers.items()), arb(0))


def largest_moduli(drift: Drift, powers: Powers, means: dict[Power, arb], width: arb) -> arb:
    """An upper bound of Σ|factor|E[T] on a piece of this width, by the means at its last B."""
    moduli = (
        abs(ball(factor)) * means[power] * (-ball(drift.minimum(power)) * width).exp()
        for power, factor in powers.items()
    )
    return sum(moduli, arb(0))


@lru_cache(maxsize=64)
def derivatives_of_slope(alpha: Fraction) -> tuple[Drift, list[Powers]]:
    """The drift, and H with its first two derivatives along B as sums of powers."""
    drift = Drift(alpha - 1, alpha + 1)
    derivatives: list[Powers] = [{Power(q=2): Fraction(1), Power(p=1, q=1): Fraction(-1)}]
    for _ in range(_DERIVATIVES):
        derivatives.append(drift.of(derivatives[-1]))
    return drift, derivatives


def _lattice(
    triangles: Triangles, square: Fraction, derivatives: Iterable[Powers], bits: int
) -> Lattice:
    """The lattice at B = `square` for all powers in the derivatives, to so many bits of G − 1."""
    powers = tuple(
        dict.fromkeys(
            power for powers_of_derivative in derivatives for power in powers_of_derivative
        )
    )
    alpha, gram = triangles.alpha, triangles.at(square).gram
    size = max(triangles.ends_in_floats) - float(triangles.factor.log().mid())
    spread = 2 * max(0.0, -math.log(triangles.delta))
    tolerance = size - bits * LOG2
    return Lattice(gram, triangles.gamma, alpha - 1, alpha + 1, powers, size + spread, tolerance)
