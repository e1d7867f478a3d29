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

from symacct.profile.part import Line, short
from symacct.profile.power_sums import real_power_sums
from symacct.profile.sampled_frame import Frame, Rule

if TYPE_CHECKING:
    from symacct.profile.sampled_gaussian import SampledGaussian

_BITS = 64
_SHARES = [0.004, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7]
_ANGLES = np.array([*_SHARES, 0.8, 0.9, 0.95, 0.98, 0.995])[:, None] * math.pi
_TILTS = np.array([0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
# Of θ and the tilt alone, as in `log_edge`.
_MIDDLE = (1 + np.cos(_ANGLES)) / _TILTS - np.cos(_ANGLES)
_LAST = _MIDDLE + np.sqrt(_MIDDLE**2 - 1)
_SLOPE = np.tan(_ANGLES / 2) * _TILTS / 2
_ARG_FIRST, _ARG_LAST = (np.angle(1 + u * np.exp(1j * _ANGLES)) for u in (1 / _LAST, _LAST))
_LOG_SINE = np.log(np.sin(_ANGLES))


@dataclass(frozen=True)
class Strip(Rule):
    """Real nodes, and what bounds their error: the strip |Im x| <= θσ², and a tilt in (0, 1)."""

    angle: float
    tilt: float


def strip(part: SampledGaussian, a: float, t: float, need: float) -> Strip:
    """The widest step for an error of about e^{−need} F(a) at every |Im z| <= t; float64."""
    variance, log_gamma, log_rest = float(part.variance), part.log_gamma, part.log_rest
    want, beta = max(need, 1.0), _SLOPE * t
    far = t * (_ARG_LAST - _SLOPE * (np.log(_LAST) + log_rest - log_gamma))
    far += (beta * beta - beta) / (2 * variance)
    if a < 0:
        near, far = t * _ARG_FIRST + a * (log_rest + _LOG_SINE), far + a * (log_rest + _LOG_SINE)
    else:
        grown = log_gamma + max(a - 1, 0.0) / (2 * variance)
        near = t * _ARG_FIRST + a * np.logaddexp(log_rest, grown)
        far += a * np.logaddexp(log_rest, grown + beta / variance)
    log_moment = part.log_moment(a)
    fall = np.logaddexp(near, far) + _ANGLES**2 * variance / 2 - log_moment + want + 2
    steps = np.nan_to_num(2 * math.pi * variance * _ANGLES / fall, nan=0.0)
    i, j = np.unravel_index(int(np.argmax(steps)), steps.shape)
    step = short(max(float(steps[i, j]), 2.0**-40 * math.sqrt(variance)))
    first, last = part.ends(a, want + 2 - log_moment, step)
    return Strip(0.0, step, first, last, float(_ANGLES[i, 0]), float(_TILTS[j]))


def transform(part: SampledGaussian, line: Line, rule: Strip) -> list[acb]:
    """F on a line of orders."""
    frame = Frame(part, line.a)
    weights, losses = nodes(frame, rule)
    h = arb(line.h)
    radius = arb(0, error(frame, rule, line.h * line.last).upper())
    disc = acb(radius, radius)
    sums = real_power_sums(weights, [h * loss for loss in losses], line.first, line.last)
    return [value + disc for value in sums]


def nodes(frame: Frame, rule: Strip) -> tuple[list[arb], list[arb]]:
    """κQR^a and log R at each node."""
    step, first = arb(rule.step), rule.first
    weighed = frame.gamma * ((2 * step * first - 1) * frame.half).exp()
    growth, fall = (2 * step * frame.half).exp(), step * step * frame.half
    scale, a, rest = frame.density * step, frame.a, frame.rest
    weights, losses = [], []
    for j in range(first, rule.last + 1):
        loss = (weighed + rest).log()
        losses.append(loss)
        weights.append((a * loss - fall * (j * j)).exp() * scale)
        weighed *= growth
    return weights, losses


def error(frame: Frame, rule: Strip, t: float) -> arb:
    """A bound, for |Im z| <= t, of what the trapezoidal sum over the nodes is off by."""
    with ctx.workprec(_BITS):
        edge = log_edge(frame, rule, t).exp()
        decay = (2 * arb.pi() * arb(rule.angle) * frame.variance / arb(rule.step)).expm1()
        return frame.outside(rule) + 2 * edge / decay


def log_edge(frame: Frame, rule: Strip, t: float) -> arb:
    """log of a bound of e^{θ²σ²/2} E_Q[|R_θ|^a e^{t arg R_θ}], and so with −θ, for a whole line.

    With u = γe^w/(1−γ) the slope of arg R_θ in w is u sin θ/(1 + 2u cos θ + u²), at most
    tan(θ/2)/2 and symmetric about w(1); it is above β/t, β = tilt·t·tan(θ/2)/2, for u₁ < u < u₂.
    So e^{t arg} is at most e^{t arg(u₁)} below u₁, and e^{t arg(u₂) + β(w − w(u₂))} from there on.
    e^{βw} tilts Q to N(β, σ²); E_Q[R^a] is at most (1−γ+γe^{(a−1)/2σ²})^a for a >= 1 by Minkowski,
    (E R)^a for 0 <= a < 1; and |R_θ| >= (1−γ) sin θ.
    """
    theta, tilt = arb(rule.angle), arb(rule.tilt)
    middle = (1 + theta.cos()) / tilt - theta.cos()
    u = middle + (middle * middle - 1).sqrt()
    slope = tilt * (theta / 2).tan() / 2
    beta = slope * t
    near = t * _arg(1 / u, theta)
    far = t * (_arg(u, theta) - slope * (u * frame.rest / frame.gamma).log())
    far += (beta * beta - beta) * frame.half
    if frame.negative:
        least = frame.a * (frame.rest * theta.sin()).log()
        near, far = near + least, far + least
    else:
        grown = frame.gamma * ((frame.a - 1).max(arb(0)) * frame.half).exp()
        near += frame.a * (frame.rest + grown).log()
        far += frame.a * (frame.rest + grown * (2 * beta * frame.half).exp()).log()
    return theta * theta * frame.variance / 2 + (near.exp() + far.exp()).log()


def _arg(u: arb, theta: arb) -> arb:
    return acb(1 + u * theta.cos(), u * theta.sin()).arg()
