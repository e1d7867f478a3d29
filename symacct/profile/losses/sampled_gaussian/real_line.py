"""The sampled Gaussian's moments by trapezoidal sums over real x, one grid for a line of orders.

log R and the weights κQR^a are real there and do not depend on Im z; a strip |Im x| <= θσ², θ < π,
bounds the error for all |Im z| <= t at once (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb, ctx

from symacct.profile.losses.sampled_gaussian.frame import LineRule, SampledFrame
from symacct.profile.part import Floats, OrderLine, rounded_down
from symacct.profile.sums.power_sums import sums_on_a_line

if TYPE_CHECKING:
    from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian

_BITS = 64
_WIDEST = 0.99 * math.pi  # R has zeros at π
_SHARES = [0.004, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7]
_ANGLES = np.array([*_SHARES, 0.8, 0.9, 0.95, 0.98, 0.995])[:, None] * math.pi
_NEAR_0 = [0.03, 0.1, 0.25, 0.5]  # where arg R_θ rises fast for θ near π
_PLACES = np.array(
    [*np.arange(-18.0, -0.5, 0.5), *(-v for v in _NEAR_0[::-1]), 0.0, *_NEAR_0, 1.0, 2.0, 4.0]
)  # v = log(γe^w/(1−γ))
_ZERO = int(np.flatnonzero(_PLACES == 0)[0])
_SPARE = 3.0  # e^{−this} of the bound is what a part may come to that is not looked at closely
# Of θ and v alone, as in `log_edge`.
_ARG = np.angle(1 + np.exp(_PLACES + 1j * _ANGLES))
_RISE = np.sin(_ANGLES) / (2 * np.cosh(_PLACES) + 2 * np.cos(_ANGLES))
_LOG_SINE = np.log(np.sin(_ANGLES))
_LOG_GROWTH = np.logaddexp(0, _PLACES)
_SHARE = np.append(1 / (1 + np.exp(-_PLACES[1:])), 1.0)  # p at the next place


@dataclass(frozen=True)
class Strip(LineRule):
    """Real nodes, and what bounds their error: the strip |Im x| <= θσ², and places v_0 < … < v_m.

    v = log(γe^w/(1−γ)); 0 is one of them.
    """

    angle: float
    places: tuple[float, ...]

    def transform(self, part: SampledGaussian, line: OrderLine) -> list[acb]:
        return transform(part, line, self)


def edge(angle: float) -> Strip:
    """No nodes, and all places: what bounds what is |Im w| <= an angle."""
    return Strip(0.0, 1.0, 0, 0, angle, tuple(_PLACES))


def strip(part: SampledGaussian, a: float, t: float, need: float) -> Strip:
    """The widest step for an error of about e^{−need} F(a) at every |Im z| <= t; float64."""
    variance, want = float(part.variance), max(need, 1.0)
    heights = t * _ARG + a * (part.log_rest + (_LOG_SINE if a < 0 else _LOG_GROWTH))
    edges = _log_edges(part, a, t, heights)
    log_moment = part.log_moment(a)
    fall = edges + math.log(2) + _ANGLES[:, 0] ** 2 * variance / 2 - log_moment + want + 2
    steps = np.nan_to_num(2 * math.pi * variance * _ANGLES[:, 0] / fall, nan=0.0)
    i = int(np.argmax(steps))
    step = rounded_down(max(float(steps[i]), 2.0**-40 * math.sqrt(variance)))
    first, last = part.ends(a, want + 2 - log_moment, step)
    places = _few_places(part, a, t, heights[i], float(edges[i]))
    return Strip(0.0, step, first, last, float(_ANGLES[i, 0]), places)


def _few_places(
    part: SampledGaussian, a: float, t: float, heights: Floats, edge: float
) -> tuple[float, ...]:
    """Places from where the exponent matters up to where one chord to 0 no longer does."""
    low = np.flatnonzero((heights <= edge) & (_PLACES < 0))
    first = int(low[-1]) if low.size else 0
    below = np.arange(first, _ZERO)
    slopes = (heights[_ZERO] - heights[below]) / -_PLACES[below]
    small = _log_masses(part, _PLACES[below], slopes, 0.0) + heights[below] < edge - _SPARE
    last = int(below[small.argmax()]) if small.any() else _ZERO
    return tuple(_PLACES[[*range(first, last + 1), *range(max(last + 1, _ZERO), len(_PLACES))]])


def _log_edges(part: SampledGaussian, a: float, t: float, heights: Floats) -> Floats:
    """About `log_edge` for each angle, but for θ²σ²/2."""
    slopes = t * _RISE + max(a, 0.0) * _SHARE
    slopes[:, :_ZERO] = (np.diff(heights) / np.diff(_PLACES))[:, :_ZERO]
    logs = heights + _log_masses(part, _PLACES, slopes, np.append(_PLACES[1:], math.inf))
    return np.asarray(np.logaddexp(heights[:, 0], np.logaddexp.reduce(logs, axis=1)))


def _log_masses(
    part: SampledGaussian, left: Floats, slopes: Floats, right: Floats | float
) -> Floats:
    """About log E_Q[e^{s(v − v_i)}] between places."""
    variance, log_odds = float(part.variance), part.log_gamma - part.log_rest
    x, end = (variance * (v - log_odds) + 0.5 for v in (left, right))
    beyond = np.maximum(np.maximum(x - slopes, slopes - end), 0.0)
    tilts = slopes * (slopes - 1) - beyond**2
    return np.asarray(tilts / (2 * variance) - slopes * (left - log_odds))


def transform(part: SampledGaussian, line: OrderLine, rule: Strip) -> list[acb]:
    """F on a line of orders."""
    frame = part.frame(line.a)
    off = error(frame, rule, line.h * line.last)
    weights, losses = nodes(frame, arb(rule.step), rule.first, rule.last)
    return sums_on_a_line(weights, losses, line, off)


def nodes(frame: SampledFrame, step: arb, first: int, last: int) -> tuple[list[arb], list[arb]]:
    """κQR^a and log R at the multiples of a step κ."""
    weighed = frame.gamma * ((2 * step * first - 1) * frame.half).exp()
    growth, fall = (2 * step * frame.half).exp(), step * step * frame.half
    scale, a, rest = frame.density * step, frame.a, frame.rest
    weights, losses = [], []
    for j in range(first, last + 1):
        loss = (weighed + rest).log()
        losses.append(loss)
        weights.append((a * loss - fall * (j * j)).exp() * scale)
        weighed *= growth
    return weights, losses


def error(frame: SampledFrame, rule: Strip, t: float) -> arb:
    """A bound, for |Im z| <= t, of what the trapezoidal sum over the nodes is off by."""
    with ctx.workprec(_BITS):
        edge = log_edge(frame, rule, t).exp()
        decay = (2 * arb.pi() * arb(rule.angle) * frame.variance / arb(rule.step)).expm1()
        return frame.outside_sum(rule, arb(0)) + 2 * edge / decay


def log_edge(frame: SampledFrame, rule: Strip, t: float) -> arb:
    """log of a bound of e^{θ²σ²/2} E_Q[|R_θ|^a e^{t arg R_θ}], and so with −θ, for a whole line.

    With v = log(γe^w/(1−γ)) the exponent t arg R_θ + a log R rises with v, convex up to v = 0.
    Below v_0 it is at most what it is there; between two places up to 0 at most its chord; from
    another on it rises by at most t arg′ at the place and a at most, ap at the next one.
    """
    theta, log_odds = arb(rule.angle), (frame.gamma / frame.rest).log()
    growths = [arb(v).exp() for v in rule.places]
    heights = [_height(frame, theta, u, t) for u in growths]
    total = heights[0].exp()
    for i, v in enumerate(rule.places):
        following = slice(i + 1, i + 2)
        [*right] = (place - log_odds for place in rule.places[following])
        if v < 0:
            slope = (heights[i + 1] - heights[i]) / (rule.places[i + 1] - arb(v))
        else:
            slope = _rise(frame, theta, growths[i], growths[following], t)
        left = v - log_odds
        total += (heights[i] - slope * left).exp() * frame.tilted_mass(slope, left, right)
    base = frame.rest * theta.sin() if frame.negative else frame.rest
    return theta * theta * frame.variance / 2 + frame.a * base.log() + total.log()


def _height(frame: SampledFrame, theta: arb, u: arb, t: float) -> arb:
    """t arg R_θ + a log R, less a log(1−γ); without the second for a < 0, |R_θ| >= (1−γ) sin θ."""
    arg = acb(1 + u * theta.cos(), u * theta.sin()).arg()
    return t * arg if frame.negative else t * arg + frame.a * u.log1p()


def _rise(frame: SampledFrame, theta: arb, u: arb, following: list[arb], t: float) -> arb:
    """A bound of the slope of that in log u, from u >= 1 on to the following place or to ∞."""
    arg = t * u * theta.sin() / (1 + 2 * u * theta.cos() + u * u)
    if frame.negative:
        return arg
    return arg + sum((frame.a * (v / (1 + v) - 1) for v in following), frame.a)
