"""The profile of the best of a random number of runs, from that of one run.

With f(x) = E[x^K] and c at most f′(x′)/f′(x) for the chances x, x′ of one event under two
neighbours, H_a of the best is at most f′(1) H_{ac} of one run (docs/proofs.md, section 40).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.sums.balls import ball
from symacct.laws.families import Binomial, Poisson, TruncatedNegativeBinomial
from symacct.operations.repeat import Runs
from symacct.theory.amplification.ps22 import log_mean, log_of

_BITS = 64
_HALVINGS, _NEAR = 200, 16  # of a bracket: until it holds the least ratio, and then
_GOLDEN = (math.sqrt(5) - 1) / 2
_FALLS = tuple(map(Fraction, (7, 14, 28, 56, 84)))
_MOST_FALL, _STEPS = 200, 10  # nats, that what is left out may be below 1, and how it is sought

#: ε >= 0 ↦ δ(ε) of one run, in a ball.
Delta = Callable[[Fraction], arb]


@dataclass(frozen=True)
class ShiftedBound:
    """A bound δ <= E[K] δ₁(ε − shift) + left, δ₁ that of one run."""

    shift: Fraction
    left: Fraction = Fraction(0)


def mean(runs: Runs) -> arb:
    """E[K] = f′(1)."""
    if isinstance(runs, TruncatedNegativeBinomial):
        value: arb = log_mean(BALL, runs).exp()
    else:
        value = BALL.number(runs.rate if isinstance(runs, Poisson) else runs.n * runs.theta)
    return value


def falls(runs: Runs) -> arb:
    """log 1/f(0), by how much f falls from 1 to 0; ∞ where there is some run always."""
    if isinstance(runs, TruncatedNegativeBinomial):
        return arb("inf")
    if isinstance(runs, Poisson):
        return BALL.number(runs.rate)
    value: arb = BALL.number(-runs.n) * log_of(BALL, 1 - runs.theta)
    return value


def share(runs: Runs, delta: Fraction) -> Fraction:
    """A rational number, at most δ/E[K]."""
    return rational((ball(delta) / mean(runs)).lower())


def for_delta(runs: Runs, delta: Delta, most: Fraction) -> Iterator[ShiftedBound]:
    """Bounds, any of which may be the best one where δ is to be at most so much."""
    with precision(_BITS):
        yield _of_any(runs, delta)
        if not isinstance(runs, TruncatedNegativeBinomial) and most:
            fall = _above((2 / ball(most)).log())
            if ball(fall) < falls(runs):
                yield ShiftedBound(_of_most(runs, delta, fall), most / 2)


def for_epsilon(runs: Runs, delta: Delta, epsilon: Fraction) -> Iterator[ShiftedBound]:
    """Bounds, any of which may be the best one at this ε."""
    with precision(_BITS):
        yield _of_any(runs, delta)
        if not isinstance(runs, TruncatedNegativeBinomial):
            yield from _balanced(runs, delta, epsilon)


def for_all(runs: Runs, delta: Delta) -> Iterator[ShiftedBound]:
    """Bounds, of which the smallest may be any one, whatever ε is."""
    with precision(_BITS):
        yield _of_any(runs, delta)
        if not isinstance(runs, TruncatedNegativeBinomial):
            for fall in _FALLS:
                if ball(fall) < falls(runs):
                    yield ShiftedBound(_of_most(runs, delta, fall), _above((-ball(fall)).exp()))


def _of_any(runs: Runs, delta: Delta) -> ShiftedBound:
    """By the least c of all events."""
    if isinstance(runs, Poisson):
        return ShiftedBound(_above(BALL.number(runs.rate) * delta(Fraction(0))))
    if isinstance(runs, TruncatedNegativeBinomial):
        power, gamma = runs.eta + 1, runs.gamma
    else:
        power, gamma = runs.n - 1, 1 - runs.theta
    shift = BALL.number(power) * ball(_log_ratio(gamma, delta)) if power else arb(0)
    return ShiftedBound(_above(shift))


def _of_most(runs: Poisson | Binomial, delta: Delta, fall: Fraction) -> Fraction:
    """log f′(x)/f′(x′) at most, of the events with f(x) >= e^{−fall}."""
    if isinstance(runs, Poisson):
        rate = BALL.number(runs.rate)
        return _above(rate * _gap(delta, ball(fall) / rate))
    n, theta = BALL.number(runs.n), BALL.number(runs.theta)
    y = -(-ball(fall) / n).expm1() / theta
    gap = _gap(delta, y)
    y = y.min(1 - gap)  # y′ is at most 1
    return _above((n - 1) * (theta * gap / (1 - theta * (y + gap))).log1p())


def _balanced(runs: Poisson | Binomial, delta: Delta, epsilon: Fraction) -> Iterator[ShiftedBound]:
    """Where what is left out, which falls, is about what the rest has, which rises."""
    rate = mean(runs)
    low, high = Fraction(0), min(Fraction(_MOST_FALL), rational(falls(runs).lower()))
    for _ in range(_STEPS):
        fall = (low + high) / 2
        part = ShiftedBound(_of_most(runs, delta, fall), _above((-ball(fall)).exp()))
        rest = epsilon - part.shift
        is_much = rest < 0 or bool(rate * delta(rest) > ball(part.left))
        low, high = (low, fall) if is_much else (fall, high)
        if not is_much:
            yield part


def _log_ratio(gamma: Fraction, delta: Delta) -> Fraction:
    """log R of about the least R > 1 with H_R <= (R−1)γ/(1−γ): any such R is a bound."""
    odds = BALL.number(gamma) / BALL.number(1 - gamma)

    def is_enough(log_ratio: Fraction) -> bool:
        with suppress(PrecisionError, LimitError):
            return bool(delta(log_ratio) <= odds * ball(log_ratio).expm1())
        return False

    high = _above(-log_of(BALL, gamma))  # H_R is at most 1, the right side of this R
    low = Fraction(0)
    for _ in range(_HALVINGS):
        if not is_enough(high / 2):
            low = high / 2
            break
        high /= 2
    for _ in range(_NEAR):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _gap(delta: Delta, most: arb) -> arb:
    """At least y′ − y for the chances y <= `most` and y′ of one event: (R−1)y + H_R for any R.

    R is looked for by golden sections, in floats.
    """
    found = arb(1)

    def at(log_ratio: float) -> float:
        nonlocal found
        value = most * arb(log_ratio).expm1() + delta(Fraction(log_ratio))
        found = found.min(value.upper())
        return float(value.mid())

    low, high = 0.0, float(-most.log())
    first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    one, other = at(first), at(second)
    for _ in range(_NEAR):
        if one < other:
            high, second, other = second, first, one
            first = high - _GOLDEN * (high - low)
            one = at(first)
        else:
            low, first, one = first, second, other
            second = low + _GOLDEN * (high - low)
            other = at(second)
    return found


def _above(x: arb) -> Fraction:
    return rational(x.upper())
