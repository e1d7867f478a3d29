"""About where a profile is δ, in float64: where a contour is laid first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx

from symacct.core.errors import LimitError, PrecisionError
from symacct.numerics.sums.refine import ball
from symacct.profile.accuracy import accuracy, bits_for, log_of, precisions
from symacct.profile.fourier.rough import sketched
from symacct.profile.fourier.shape import Moments
from symacct.profile.fourier.smoothed import planned
from symacct.profile.losses.fixed_size.equilateral import Equilateral
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from symacct.profile.roots import before_the_end, crossing

if TYPE_CHECKING:  # which asks it
    from symacct.profile.solve import CompositionProfile

_ATTEMPTS, _HALVINGS = 8, 60
_STEER_DIGITS = 3.0  # with fewer the order is so large that three means are refused
_LOWER, _FARTHER = 12.0, 3.0  # of log δ, where it was guessed too large
_VALUED_DIGITS = 3.0
_ASIDE = 0.1  # of a bracket, that is always cut off
_FEW_KINDS = 8
_FEW_RUNS = 64  # of which one makes the loss, where it jumps rarely
_TOO_FAR = 0.5  # of what moments say
_FARTHEST = 16.0  # deviations
_RARE = 1.0  # of Σ k_i D_i(0)


def about_root(direction: CompositionProfile, delta: Fraction) -> float:
    """About the ε with D(ε) = δ > D(largest); by a saddle point where there are many runs.

    Not of many kinds, where a contour costs more than to be sure, nor of three means, of which
    the nodes tell what would take too long.
    """
    is_many = sum(k for _, k in direction.runs) > _FEW_RUNS and len(direction.runs) <= _FEW_KINDS
    is_plain = not any(isinstance(part, Equilateral) for part, _ in direction.runs)
    is_sampled = all(isinstance(part, SampledGaussian) for part, _ in direction.runs)
    if is_many and is_plain and direction.lost == 0:
        most = direction.moments.saddle_epsilon(log_of(lambda: ball(delta)))
        plain = _of_samples(direction, delta, most) if is_sampled else most
        return plain if 0 < plain < _TOO_FAR * most else most
    try:
        return nearer_root(direction, delta)
    except (PrecisionError, LimitError):
        if not is_sampled:
            raise
        most = direction.moments.renyi_epsilon(log_of(lambda: ball(delta)))
        return _of_samples(direction, delta, most)


def other_roots(direction: CompositionProfile, delta: Fraction) -> Iterator[float]:
    """More guesses, where that is no good."""
    with suppress(PrecisionError, LimitError):
        yield nearer_root(direction, delta)
    yield valued_root(direction, delta)


def nearer_root(direction: CompositionProfile, delta: Fraction) -> float:
    """About where D is δ, by Newton steps from nodes to nodes.

    Where D is lost in what float64 leaves of them, few runs have rare jumps of their loss.
    """
    log_delta, lost = log_of(lambda: ball(delta)), float(direction.lost.mid())
    y = direction.moments.renyi_epsilon(log_delta)
    for _ in range(_ATTEMPTS):
        guess = direction.moments.log_delta(y)
        moments, chosen = planned(direction.moments, y, guess, _STEER_DIGITS)
        rough = sketched(moments.alike, direction.reverse, chosen)
        least = guess - _STEER_DIGITS * math.log(10)
        if not rough.log_value(y) > least and sum(k for _, k in direction.runs) <= _FEW_RUNS:
            is_rare = _sum_of_ones(direction.moments, 0.0) < _RARE
            return (
                min(y, by_one_jump(direction.moments, delta, y))
                if is_rare
                else (valued_root(direction, delta))
            )
        old, (y, slope) = y, rough.root(y, log_delta, lost)
        y = y if slope < 0 else 0.9 * y
        if abs(y - old) <= 1e-4 * abs(old):
            break
    return y


def valued_root(direction: CompositionProfile, delta: Fraction) -> float:
    """About where D is δ, by values of D to few digits of δ, where it is too small for float64."""
    goal = log_of(lambda: ball(delta))
    low, high = (0.0, math.inf), (direction.moments.renyi_epsilon(goal), -math.inf)
    for _ in range(_HALVINGS):
        share = (low[1] / (low[1] - high[1])) if math.isfinite(low[1] - high[1]) else 0.5
        y = low[0] + min(max(share, _ASIDE), 1 - _ASIDE) * (high[0] - low[0])
        value = direction.roughly(partial(arb, y), lambda: ball(delta), _VALUED_DIGITS)
        over = log_of(value.mid) - goal
        if abs(over) < 1:
            break
        low, high = ((y, over), high) if over > 0 else (low, (y, over))
    return y


def by_one_jump(moments: Moments, delta: Fraction, most: float) -> float:
    """About ε where jumps are rare: up to which Σ k_i D_i(ε) is above δ, D_i of one run."""
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        with ctx.workprec(64):
            is_above = _sum_of_ones(moments, middle) > ball(delta)
        low, high = (middle, high) if is_above else (low, middle)
    return (low + high) / 2


def _of_samples(direction: CompositionProfile, delta: Fraction, most: float) -> float:
    """About where D is δ of small samples: by what they spread, or by one that jumps."""
    moments = direction.moments
    return max(_by_spread(moments, delta), by_one_jump(moments, delta, most))


def _by_spread(moments: Moments, delta: Fraction) -> float:
    """About where D is δ of a normal loss, mean 0 and Q's variance: σ(φ(x) − xΦ̄(x)) = δ at xσ."""
    spread = math.sqrt(sum(k * part.steer(np.zeros(1))[1][0] for part, k in moments.alike))
    low, high = 0.0, _FARTHEST
    for _ in range(_HALVINGS):
        x = (low + high) / 2
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        above = density - x * math.erfc(x / math.sqrt(2)) / 2
        low, high = (x, high) if spread * above > delta else (low, x)
    return low * spread


def _sum_of_ones(moments: Moments, y: float) -> arb:
    """About Σ k_i D_i(y), D_i of one run."""
    with ctx.workprec(64):
        ones = (k * part.hockey_stick(arb(y), moments.reverse) for part, k in moments.alike)
        return sum(ones, arb(0)).mid()


def next_guess(direction: CompositionProfile, y: float, log_delta: float, value: arb) -> float:
    """About log D(y), guessed to be `log_delta` by a contour that gave this value.

    Where that is not above 0, D is less: of rare large losses about what one run has of it, far
    below what moments say.
    """
    if not value.is_finite():
        return log_delta
    most = min(log_delta, float(value.upper().log()))
    if value > 0:
        return most
    ones = log_of(lambda: _sum_of_ones(direction.moments, y))
    return min(most - _LOWER, max(_FARTHER * most, ones))


def closed_root(
    direction: CompositionProfile, has_end: bool, delta: Fraction, digits: float
) -> arb | None:
    """The root of a closed form, between points at which balls decide, at growing precision."""
    assert direction.closed is not None  # noqa: S101  # asked where it is
    found = None
    # A moment of densities costs more than a value of D.
    is_bounded = has_end and bool(direction.largest.is_finite())
    for bits in (bits_for(0), *precisions(digits)):  # at few first: many are asked for seldom
        with ctx.workprec(bits):
            if is_bounded:
                found = before_the_end(direction.closed, ball(delta), direction.largest)
            else:
                found = crossing(
                    direction.closed, ball(delta), found, direction.moments.saddle_epsilon
                )
        if found is not None and accuracy(found) >= digits:
            return found
    return None
