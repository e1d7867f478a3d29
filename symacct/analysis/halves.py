"""An integral of two halves: what is seen of a record that is zeroed out between its opposites.

A(α) = ∫_0^∞ φ(v+δ/2)[(w+γ)f_α(R) + f_{1−α}(S)] dv, with w = (1−γ)e^{−δ²−δv},
R = (w+γe^{δv})/(w+γ), S = 1−γ+γe^{δv} and f_a(t) = t^a − 1 − a(t−1); φ is the normal density. In
balls it is proved, in float64 it steers.
"""

from __future__ import annotations

import math

import numpy as np
from flint import acb, arb, ctx

from symacct.kernel.arithmetic import BALL
from symacct.kernel.exact import Exact
from symacct.kernel.sums.balls import (
    integral,
    legendre_floats,
    normal_tail,
    to_relative_accuracy,
    up_to,
)

#: In float64 a panel has so many of Gauss's nodes, is so many deviations long, or so much of δ.
_POINTS, _PANEL = 16, 1.0
#: Beyond the deviations that the order asks for, the integrand in float64 is cut after so many.
_REACH = 10.0
#: f_a is a series of so many terms where |a| log t is below this.
_TERMS, _SMALL = 10, 0.1


# Proved in docs/proofs/triples.md, Lemma zeroed-gaussian.
def halves(order: Exact, gamma: Exact, delta: Exact) -> arb:
    """A(α) in a ball, to the current relative precision, for α > 1, 0 < γ < 1 and δ > 0."""
    lost = sum(max(0, -math.floor(float(BALL.number(x).log().mid()) * 3)) for x in (gamma, delta))
    return to_relative_accuracy(lambda bits: _halves(order, gamma, delta, bits, bits + lost))


def _halves(order: Exact, gamma: Exact, delta: Exact, bits: int, working: int) -> arb:
    """A(α), to about `bits` bits of γ²(e^{δ²}−1), summed at `working` bits."""
    with ctx.workprec(working):
        a, rate, shift = (BALL.number(x) for x in (order, gamma, delta))
        rest = 1 - rate
        tolerance = (rate**2 * (shift**2).expm1().min(arb(1)) * arb(2) ** -bits).mid()
        top = _top(a, shift, tolerance)

        def integrand(v: acb, analytic: bool) -> acb:
            grown = (shift * v).exp()
            opposite = rest * (-shift * (shift + v)).exp()
            seen = (opposite + rate * grown).log(analytic) - (opposite + rate).log(analytic)
            alone = (rest + rate * grown).log(analytic)
            density = (-((v + shift / 2) ** 2) / 2).exp()
            return density * ((opposite + rate) * _gap(seen, a) + _gap(alone, 1 - a))

        total: arb = integral(integrand, 0, top, abs_tol=tolerance, rel_tol=arb(2) ** -bits).real
        return total / (2 * arb.pi()).sqrt() + up_to(_beyond(a, shift, top))


def _gap(log_ratio: acb, a: arb) -> acb:
    """f_a(t) by log t."""
    return (a * log_ratio).exp() - 1 - a * (log_ratio.exp() - 1)


def _top(a: arb, delta: arb, tolerance: arb) -> arb:
    """A point beyond which the integral is below the tolerance."""
    top = (a * delta + 1).mid()
    while not _beyond(a, delta, top) < tolerance:
        top = (top + 1).mid()
    return top


def _beyond(a: arb, delta: arb, top: arb) -> arb:
    """Bound the integral from `top` on: f_α(R) <= R^α, f_{1−α}(S) <= (α−1)S; R, S <= e^{δv}."""
    tilted = ((a * a - a) * delta**2 / 2).exp() * normal_tail(top + delta / 2 - a * delta)
    return tilted + (a - 1) * normal_tail(top - delta / 2)


# --- float64: where to look


def log_halves(order: float, gamma: float, delta: float) -> float:
    """About log A(α) in float64, by Gauss's rule on panels; nothing is proved."""
    top = order * delta + _REACH
    panels = math.ceil(top / (_PANEL * min(1.0, 1 / delta)))
    nodes, weights = legendre_floats(_POINTS)
    half = top / panels / 2
    v = (half * (2 * np.arange(panels)[:, None] + 1 + nodes)).ravel()
    log_rest, log_gamma = math.log1p(-gamma), math.log(gamma)
    log_density = np.log(np.tile(half * weights, panels)) - (v + delta / 2) ** 2 / 2
    log_density -= math.log(2 * math.pi) / 2
    log_without = np.logaddexp(log_rest - delta * (delta + v), log_gamma)
    seen = np.log1p(np.exp(log_gamma - log_without) * np.expm1(delta * v))
    alone = np.log1p(gamma * np.expm1(delta * v))
    terms = log_without + _log_gap(seen, order), _log_gap(alone, 1 - order)
    return float(np.logaddexp.reduce(log_density + np.logaddexp(*terms)))


def _log_gap(x: np.ndarray, a: float) -> np.ndarray:
    """log f_a(e^x) for x >= 0, by its series where that is small."""
    series = np.zeros_like(x)
    for k in range(_TERMS + 1, 1, -1):
        series = series * x + (a**k - a) / math.factorial(k)
    most = max(a, 1.0)
    scaled = np.exp((a - most) * x) - (1 - a) * np.exp(-most * x) - a * np.exp((1 - most) * x)
    with np.errstate(divide="ignore"):
        return np.where(
            max(abs(a), 1.0) * x < _SMALL, np.log(series) + 2 * np.log(x), most * x + np.log(scaled)
        )
