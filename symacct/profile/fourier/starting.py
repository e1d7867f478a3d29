"""About where a profile is δ, in float64: where a contour is laid first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb, ctx

from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.sums.balls import ball
from symacct.profile.accuracy import log_float_of
from symacct.profile.fourier.alternatives import smoothed
from symacct.profile.fourier.contour import float_nodes
from symacct.profile.fourier.shape import Moments
from symacct.profile.runs import DirectedRuns
from symacct.profile.strategy import Number

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

Roughly = Callable[[Number, Number, float], arb]  # D(y), to so many digits of a bound


def about_root(runs: DirectedRuns, roughly: Roughly, delta: Fraction) -> float:
    """About the ε with D(ε) = δ > D(largest); by a saddle point where there are many runs.

    Not of many kinds, where a contour costs more than to be sure, nor of three means, of which
    the nodes tell what would take too long.
    """
    is_many = sum(k for _, k in runs.runs) > _FEW_RUNS and len(runs.runs) <= _FEW_KINDS
    is_plain = not any(part.refuses_far_orders for part, _ in runs.runs)
    is_sampled = all(part.jumps_rarely for part, _ in runs.runs)
    if is_many and is_plain and runs.mass_at_infinity == 0:
        most = runs.moments.saddle_epsilon(log_float_of(lambda: ball(delta)))
        if not is_sampled or _by_spread(runs.moments, delta) >= _TOO_FAR * most:
            return most
        plain = _of_samples(runs, delta, most)
        return plain if 0 < plain < _TOO_FAR * most else most
    try:
        return nearer_root(runs, roughly, delta)
    except (PrecisionError, LimitError):
        if not is_sampled:
            raise
        most = runs.moments.renyi_epsilon(log_float_of(lambda: ball(delta)))
        return _of_samples(runs, delta, most)


def other_roots(runs: DirectedRuns, roughly: Roughly, delta: Fraction) -> Iterator[float]:
    """More guesses, where that is no good."""
    with suppress(PrecisionError, LimitError):
        yield nearer_root(runs, roughly, delta)
    yield valued_root(runs, roughly, delta)


def nearer_root(runs: DirectedRuns, roughly: Roughly, delta: Fraction) -> float:
    """About where D is δ, by Newton steps from nodes to nodes.

    Where D is lost in what float64 leaves of them, few runs have rare jumps of their loss.
    """
    log_delta, lost = log_float_of(lambda: ball(delta)), float(runs.mass_at_infinity.mid())
    y = runs.moments.renyi_epsilon(log_delta)
    for _ in range(_ATTEMPTS):
        guess = runs.moments.log_delta(y)
        moments, chosen = smoothed(runs.moments, y, guess, _STEER_DIGITS)
        rough = float_nodes(moments.representatives, runs.reverse, chosen)
        least = guess - _STEER_DIGITS * math.log(10)
        if not rough.log_value(y) > least and sum(k for _, k in runs.runs) <= _FEW_RUNS:
            is_rare = _sum_of_ones(runs.moments, 0.0) < _RARE
            return (
                min(y, _by_one_jump(runs.moments, delta, y))
                if is_rare
                else valued_root(runs, roughly, delta)
            )
        old, (y, slope) = y, rough.root(y, log_delta, lost)
        y = y if slope < 0 else 0.9 * y
        if abs(y - old) <= 1e-4 * abs(old):
            break
    return y


def valued_root(runs: DirectedRuns, roughly: Roughly, delta: Fraction) -> float:
    """About where D is δ, by values of D to few digits of it: below float64, too."""
    goal = log_float_of(lambda: ball(delta))
    low, high = (0.0, math.inf), (runs.moments.renyi_epsilon(goal), -math.inf)
    for _ in range(_HALVINGS):
        share = (low[1] / (low[1] - high[1])) if math.isfinite(low[1] - high[1]) else 0.5
        y = low[0] + min(max(share, _ASIDE), 1 - _ASIDE) * (high[0] - low[0])
        value = roughly(partial(arb, y), lambda: ball(delta), _VALUED_DIGITS)
        over = log_float_of(value.mid) - goal
        if abs(over) < 1:
            break
        low, high = ((y, over), high) if over > 0 else (low, (y, over))
    return y


def _by_one_jump(moments: Moments, delta: Fraction, most: float) -> float:
    """About ε where jumps are rare: up to which Σ k_i D_i(ε) is above δ, D_i of one run."""
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        with ctx.workprec(64):
            is_above = _sum_of_ones(moments, middle) > ball(delta)
        low, high = (middle, high) if is_above else (low, middle)
    return (low + high) / 2


def _of_samples(runs: DirectedRuns, delta: Fraction, most: float) -> float:
    """About where D is δ of small samples: by what they spread, or by one that jumps."""
    moments = runs.moments
    return max(_by_spread(moments, delta), _by_one_jump(moments, delta, most))


def _by_spread(moments: Moments, delta: Fraction) -> float:
    """About where D is δ of a normal loss, mean 0 and Q's variance: σ(φ(x) − xΦ̄(x)) = δ at xσ."""
    spread = math.sqrt(
        sum(k * part.float_moments(np.zeros(1))[1][0] for part, k in moments.representatives)
    )
    low, high, goal = 0.0, _FARTHEST, float(delta)
    for _ in range(_HALVINGS):
        x = (low + high) / 2
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        above = density - x * math.erfc(x / math.sqrt(2)) / 2
        low, high = (x, high) if spread * above > goal else (low, x)
    return low * spread


def about_log_delta(moments: Moments, y: float) -> float:
    """About log D(y): by a moment, or by one run where one large loss is likelier than two.

    The moments of rare large losses are mostly those of the others, and tell little. Of many runs
    all together make the loss, and so they do where those of others hardly reach so far.
    """
    are_sampled = all(part.jumps_rarely for part, _ in moments.runs)
    if not are_sampled or sum(k for _, k in moments.runs) > _FEW_RUNS:
        return moments.log_delta(y)
    one, half = (log_float_of(lambda: _sum_of_ones(moments, at)) for at in (y, y / 2))  # noqa: B023
    return one if 2 * half < one < math.inf else moments.log_delta(y)


def _sum_of_ones(moments: Moments, y: float) -> arb:
    """About Σ k_i D_i(y), D_i of one run."""
    with ctx.workprec(64):
        ones = (
            k * part.hockey_stick(arb(y), moments.reverse) for part, k in moments.representatives
        )
        return sum(ones, arb(0)).mid()


def next_guess(moments: Moments, y: float, log_delta: float, value: arb) -> float:
    """About log D(y), guessed to be `log_delta` by a contour that gave this value.

    Where that is not above 0, D is less: of rare large losses about what one run has of it, far
    below what moments say.
    """
    if not value.is_finite():
        return log_delta
    most = min(log_delta, float(value.upper().log()))
    if value > 0:
        return most
    ones = log_float_of(lambda: _sum_of_ones(moments, y))
    return min(most - _LOWER, max(_FARTHER * most, ones))
