"""An integral of two halves: what is seen of a record that is zeroed out between its opposites.

A(α) = ∫_0^∞ φ(v+δ/2)[(w+γ)f_α(R) + f_{1−α}(S)] dv, with w = (1−γ)e^{−δ²−δv},
R = (w+γe^{δv})/(w+γ), S = 1−γ+γe^{δv} and f_a(t) = t^a − 1 − a(t−1); φ is the normal density. At
the order 1 it is the limit of A(α)/(α−1), in which f_α(R) is R log R − R + 1 and f_{1−α}(S) is
S − 1 − log S. In balls it is proved, in float64 it steers.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import (
    legendre,
    legendre_floats,
    normal_tail,
    to_relative_accuracy,
    within,
)
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact

#: Half a panel is so long in deviations, or e^{δv} turns over it by so much; the half axes of its
#: ellipse sum to so many halves. The error is bounded whatever they are.
_HALF, _HALF_TURN, _ELLIPSE = 1.0, 0.5, 3.5
#: An end of the integral is looked for up to so many deviations beyond αδ, where e^{−x²/2} is below
#: 2^−700000; a farther one is refused by PrecisionError.
_MOST_DEVIATIONS = 1000
#: Gauss's nodes of a panel in balls are a multiple of this, so that few rules serve all. It costs
#: time alone: the error is bounded for the nodes that there are.
_FEWEST = 8
#: In float64 a panel has so many of Gauss's nodes, is so many deviations long, or so much of δ.
#: They steer.
_POINTS, _PANEL = 16, 1.0
#: Beyond the deviations that the order asks for, the integrand in float64 is cut after so many. It
#: steers.
_REACH = 10.0
#: f_a is a series of so many terms where |a| log t is below this. It steers.
_TERMS, _SMALL = 10, 0.1


# Proved in docs/proofs/triples.md, Lemma zeroed-gaussian.
def halves(order: Exact, gamma: Exact, delta: Exact) -> arb:
    """A(α) in a ball, to the current relative precision, for α >= 1, 0 < γ < 1 and δ > 0."""
    lost = sum(max(0, -math.floor(float(BALL.number(x).log().mid()) * 3)) for x in (gamma, delta))
    return to_relative_accuracy(lambda bits: _halves(order, gamma, delta, bits, bits + lost))


def _halves(order: Exact, gamma: Exact, delta: Exact, bits: int, working: int) -> arb:
    """A(α), to about `bits` bits of its value in float64, summed at `working` bits.

    By Gauss's rule on panels. Where the integrand is at most M on a panel's ellipse, of n nodes the
    error is at most 64/15 M ρ^{−2n}/(1 − ρ^{−2}) times half of the panel.
    """
    with ctx.workprec(working):
        integrand = (HalvesAtOne if order == 1 else TwoHalves)(order, gamma, delta)
        shift = integrand.delta
        about = log_halves(*map(float, (integrand.order, integrand.gamma, shift)))
        least = integrand.gamma**2 * (shift**2).expm1().min(arb(1))
        tolerance = (arb(about).exp() if math.isfinite(about) else least) * arb(2) ** -bits
        top = _top(integrand.bounding_order, shift, tolerance.mid())
        half = arb(min(_HALF, _HALF_TURN / float(shift)))
        panels = math.ceil(float(top / half) / 2)
        ellipse = arb(_ELLIPSE)
        share = tolerance / panels
        root = (2 * arb.pi()).sqrt()
        total, error = arb(0), root * _beyond(integrand.bounding_order, shift, 2 * half * panels)
        for i in range(panels):
            deadline.check()
            middle = half * (2 * i + 1)
            bound = arb(64) / 15 * half * integrand.bound(middle, half, ellipse)
            bound /= 1 - ellipse**-2
            count = _nodes(float((bound / share).log() / ellipse.log()) / 2)
            for node, weight in legendre(count, working):
                total += weight * integrand.at(middle + half * node)
            error += within(bound * ellipse ** (-2 * count))
        return (total * half + within(error)) / root


def _nodes(wanted: float) -> int:
    """A number of nodes that is at least as many, so that few rules serve all panels."""
    return _FEWEST * max(1, math.ceil(wanted / _FEWEST)) if wanted < math.inf else _FEWEST


class TwoHalves:
    """√(2π) times the integrand, in balls."""

    def __init__(self, order: Exact, gamma: Exact, delta: Exact) -> None:
        self.order, self.gamma, self.delta = (BALL.number(x) for x in (order, gamma, delta))
        self.rest = 1 - self.gamma
        #: At this order A bounds what is left out at the ends.
        self.bounding_order = self.order

    def at(self, v: arb) -> arb:
        """The integrand at a point of the line."""
        grown, opposite = (self.delta * v).exp(), self._opposite(v)
        seen = (opposite + self.gamma * grown) / (opposite + self.gamma)
        alone = self.rest + self.gamma * grown
        with_it, without = self._gaps(seen, alone)
        return self._density(v) * ((opposite + self.gamma) * with_it + without)

    def bound(self, middle: arb, half: arb, ellipse: arb) -> arb:
        """Bound the modulus on a panel's ellipse, on which e^{δv} turns by θ < π/2; else ∞.

        |R| is largest at the right end, |S| at least its real part.
        """
        reach, height = half * (ellipse + 1 / ellipse) / 2, half * (ellipse - 1 / ellipse) / 2
        turn = (self.delta * height).cos()
        left, right = middle - reach, middle + reach
        near, far = (self.delta * left).exp(), (self.delta * right).exp()
        if not (self.delta * height < arb.pi() / 2 and 2 * near > turn):
            return arb.pos_inf()
        odds = self.gamma * (self.delta**2).exp()
        seen = (self.rest + odds * far**2) / (self.rest + odds * far * turn)
        least, most = self.rest + self.gamma * near * turn, self.rest + self.gamma * far
        with_it, without = self._largest_gaps(seen, least, most)
        away = (left + self.delta / 2).max(arb(0))
        density = ((height**2 - away**2) / 2).exp()
        return density * ((self._opposite(left) + self.gamma) * with_it + without)

    def _gaps(self, seen: arb, alone: arb) -> tuple[arb, arb]:
        """Return f_α(R) and f_{1−α}(S)."""
        return _gap(seen, self.order), _gap(alone, 1 - self.order)

    def _largest_gaps(self, seen: arb, least: arb, most: arb) -> tuple[arb, arb]:
        """Bound both where |R| <= `seen` and `least` <= |S| <= `most`.

        |f_a(t)| <= |t|^a + 1 + |a|(|t| + 1).
        """
        a = self.order
        with_it = (a * seen.log()).exp() + 1 + a * (seen + 1)
        without = ((1 - a) * least.log()).exp() + 1 + (a - 1) * (most + 1)
        return with_it, without

    def _opposite(self, v: arb) -> arb:
        """w = (1−γ)e^{−δ²−δv}"""
        return (-self.delta * (v + self.delta)).exp() * self.rest

    def _density(self, v: arb) -> arb:
        """√(2π) φ(v+δ/2)"""
        return (-((v + self.delta / 2) ** 2) / 2).exp()


class HalvesAtOne(TwoHalves):
    """√(2π) times the integrand at the order 1, in balls.

    R log R − R + 1 <= (R−1)² and S − 1 − log S <= S, so A(2) bounds what is left out.
    """

    def __init__(self, order: Exact, gamma: Exact, delta: Exact) -> None:
        super().__init__(order, gamma, delta)
        self.bounding_order = arb(2)

    def _gaps(self, seen: arb, alone: arb) -> tuple[arb, arb]:
        """Return R log R − R + 1 and S − 1 − log S."""
        return seen * seen.log() - (seen - 1), alone - 1 - alone.log()

    def _largest_gaps(self, seen: arb, least: arb, most: arb) -> tuple[arb, arb]:
        """Bound both: |log S| is at most that of an end and π.

        |R log R| <= max(1, |R| log|R|) + π|R|.
        """
        with_it = (seen * seen.log()).max(arb(1)) + arb.pi() * seen + seen + 1
        without = most + 1 + abs(least.log()).max(abs(most.log())) + arb.pi()
        return with_it, without


def _gap(t: arb, a: arb) -> arb:
    """f_a(t) = t^a − 1 − a(t−1)"""
    return (t.log() * a).exp() - 1 - (t - 1) * a


def _top(a: arb, delta: arb, tolerance: arb) -> arb:
    """A point beyond which the integral is below the tolerance; PrecisionError if too far off."""
    top = (a * delta + 1).mid()
    for _ in range(_MOST_DEVIATIONS):
        if _beyond(a, delta, top) < tolerance:
            return top
        top = (top + 1).mid()
    raise PrecisionError(f"found no end of an integral within {_MOST_DEVIATIONS} deviations")


def _beyond(a: arb, delta: arb, top: arb) -> arb:
    """Bound the integral from `top` on: f_α(R) <= R^α, f_{1−α}(S) <= (α−1)S; R, S <= e^{δv}."""
    tilted = ((a * a - a) * delta**2 / 2).exp() * normal_tail(top + delta / 2 - a * delta)
    return tilted + (a - 1) * normal_tail(top - delta / 2)


# --- float64: where to look


def log_halves(order: float, gamma: float, delta: float) -> float:
    """About log A(α) in float64, by Gauss's rule on panels; nothing is proved.

    NaN for a rate that is 0 or 1 in float64.
    """
    if not 0 < gamma < 1:
        return math.nan
    v, log_density = normal_nodes(delta, order * delta + _REACH)
    log_rest, log_gamma = math.log1p(-gamma), math.log(gamma)
    log_without = np.logaddexp(log_rest - delta * (delta + v), log_gamma)
    seen = _log_mixed(log_gamma - log_without, delta * v)
    alone = _log_mixed(log_gamma, delta * v)
    if order == 1:
        gaps = _log_gaps_at_one(seen, alone)
    else:
        gaps = _log_gap(seen, order), _log_gap(alone, 1 - order)
    terms = log_without + gaps[0], gaps[1]
    return float(np.logaddexp.reduce(log_density + np.logaddexp(*terms)))


def normal_nodes(
    delta: float, top: float, most_panels: float = math.inf
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes v of Gauss's rule on panels from 0 to `top`, and the logs of their weights · φ(v+δ/2).

    A panel is at most one deviation long and turns e^{δv} by at most e, unless there are too many.
    """
    panels = int(min(math.ceil(top / (_PANEL * min(1.0, 1 / delta))), most_panels))
    nodes, weights = legendre_floats(_POINTS)
    half = top / panels / 2
    v = (half * (2 * np.arange(panels)[:, None] + 1 + nodes)).ravel()
    log_weights = np.log(np.tile(half * weights, panels)) - (v + delta / 2) ** 2 / 2
    return v, log_weights - math.log(2 * math.pi) / 2


def _log_mixed(log_rate: np.ndarray | float, x: np.ndarray) -> np.ndarray:
    """log(1 + γ(e^x − 1)) for x >= 0, by e^{−x} where e^x is large."""
    near = np.log1p(np.exp(log_rate) * np.expm1(np.minimum(x, 1)))
    far = log_rate + x + np.log1p((np.exp(-log_rate) - 1) * np.exp(-x))
    mixed: np.ndarray = np.where(x < 1, near, far)
    return mixed


def _log_gap(x: np.ndarray, a: float) -> np.ndarray:
    """log f_a(e^x) for x >= 0, by its series where that is small."""
    series = np.zeros_like(x)
    small = np.minimum(x, _SMALL / max(abs(a), 1.0))
    for k in range(_TERMS + 1, 1, -1):
        series = series * small + (a**k - a) / math.factorial(k)
    most = max(a, 1.0)
    scaled = np.exp((a - most) * x) - (1 - a) * np.exp(-most * x) - a * np.exp((1 - most) * x)
    with np.errstate(divide="ignore"):
        far = most * x + np.log(np.maximum(scaled, 0))
        gaps: np.ndarray = np.where(x <= small, np.log(series) + 2 * np.log(x), far)
    return gaps


def _log_gaps_at_one(seen: np.ndarray, alone: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log(R log R − R + 1) and log(S − 1 − log S) for the logs of R, S >= 1, by series if small."""
    series = [np.zeros_like(x) for x in (seen, alone)]
    for k in range(_TERMS + 1, 1, -1):
        for total, x, weight in zip(series, (seen, alone), (k - 1, 1), strict=True):
            total *= np.minimum(x, _SMALL)
            total += weight / math.factorial(k)
    with np.errstate(divide="ignore"):
        near = [
            np.log(total) + 2 * np.log(x) for total, x in zip(series, (seen, alone), strict=True)
        ]
        with_it = seen + np.log(np.maximum(seen - 1 + np.exp(-seen), 0))
        without = alone + np.log(np.maximum(1 - (1 + alone) * np.exp(-alone), 0))
    return np.where(seen <= _SMALL, near[0], with_it), np.where(alone <= _SMALL, near[1], without)
