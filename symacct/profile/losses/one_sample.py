"""Several mechanisms run on one sample: (1−γ)Q + γP against Q, (P, Q) the product of their pairs.

For a > 1−γ it has H_a = γH_b(P‖Q), b = (a−1+γ)/γ, and exchanged, for a(1−γ) < 1,
H_a = (1−a(1−γ))H_c(Q‖P), c = γa/(1−a(1−γ)); else what is known of any pair, 1−a and 0. So one run
has the digits that the product has, several are laid on a grid (docs/proofs.md, section 16).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from symacct.kernel.arithmetic import BALL
from symacct.kernel.exact import Exact
from symacct.kernel.sums.balls import up_to
from symacct.profile.losses.summed import float_moments_of_atoms
from symacct.profile.part import Floats, Part, ProfileOnly, Runs
from symacct.profile.solve import CompositionProfile
from symacct.profile.written_laws import Write, WrittenLaws, mixed, product

_BITS = 128  # for what steers
_STEERING, _FARTHEST = 128, 64.0  # places on either side, and losses
_LOST_BITS, _FEW_DIGITS = 24, 3.0  # of a value, by a place that is known to as many bits as it


@dataclass(frozen=True)
class OneSample(ProfileOnly):
    """The runs, and the sampling rate `gamma` in (0, 1)."""

    runs: Runs
    gamma: Exact

    symmetric = False
    is_costly = True
    may_be_chosen = False

    def sampled(self, gamma: Exact) -> Part:
        """This loss in a sample, where P is mixed once more."""
        return type(self)(self.runs, self.gamma * gamma)

    # --- float64: where to look

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """On chords of the product's profile, whose tilted mean and variance are near its own."""
        return float_moments_of_atoms(orders, *_steering(self))

    # --- balls: what is proved

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        rate, a = BALL.number(self.gamma), y.exp()
        if reverse:
            left = 1 - a * (1 - rate)
            if not left > 0:
                return up_to(left.max(arb(0)))
            return left * self._stick(rate * a / left, True)
        b = 1 + y.expm1() / rate
        if not b > 0:  # from 1 − a to what is more at the largest b
            return 1 - a + up_to(rate * b.max(arb(0)))
        return rate * self._stick(b, False)

    def _stick(self, b: arb, reverse: bool) -> arb:
        """H_b of the product; below 1 by the pair exchanged, 1 − b + bH_{1/b}(Q‖P)"""
        is_below = bool(b < 1)
        direction, y = _direction(self.runs, reverse != is_below), abs(b.log())
        value = direction.value_without_contour(y)
        if not value.is_finite():
            digits = max(_FEW_DIGITS, (ctx.prec - _LOST_BITS) / 3.33)
            value = direction.delta(lambda: y, digits)
        return 1 - b + b * value if is_below else value

    def largest(self, reverse: bool) -> arb:
        rate, most = BALL.number(self.gamma), _direction(self.runs, reverse).runs.largest
        if reverse:
            return -(rate * (-most).expm1()).log1p()
        return (rate * most.expm1()).log1p()

    def in_latex(self, write: Write) -> WrittenLaws | None:
        inner: list[tuple[WrittenLaws, int]] = []
        for part, count in self.runs:
            if (laws := part.in_latex(write)) is None:
                return None
            inner.append((laws, count))
        P = product((laws.P, count) for laws, count in inner)  # noqa: N806
        Q = product((laws.Q, count) for laws, count in inner)  # noqa: N806
        words = dict.fromkeys(line for laws, _ in inner for line in laws.words)
        return WrittenLaws(mixed(self.gamma, P, Q, write), Q, tuple(words))

    def mass_at_infinity(self, reverse: bool) -> Exact:
        if reverse:
            return Fraction(0)
        kept: Exact = Fraction(1)
        for part, count in self.runs:
            kept *= (1 - part.mass_at_infinity(False)) ** count
        return self.gamma * (1 - kept)


@lru_cache(16)
def _direction(runs: Runs, reverse: bool) -> CompositionProfile:
    """The product, with the contours that it has summed."""
    return CompositionProfile(runs, reverse)


@lru_cache(16)
def _steering(part: OneSample) -> tuple[Floats, Floats]:
    """log of Q's masses, and the losses, of chords of the product's profile; float64."""
    with ctx.workprec(_BITS):
        most = min(_FARTHEST, float(_direction(part.runs, False).runs.largest))
        ratios = np.exp(np.linspace(-most, most, 2 * _STEERING + 1))
        values = [float(part._stick(arb(float(a)), False)) for a in ratios]
    places, heights = np.concatenate([[0.0], ratios]), np.array([1.0, *values])
    slopes = np.concatenate([[-1.0], np.diff(heights) / np.diff(places), [0.0]])
    weights = np.maximum(np.diff(slopes)[1:], np.finfo(float).tiny)
    rate = float(part.gamma)
    return np.log(weights), np.log1p(rate * np.expm1(np.log(ratios)))
