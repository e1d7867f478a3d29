"""Several mechanisms run on one sample: (1−γ)Q + γP against Q, (P, Q) the product of their pairs.

For a > 1−γ it has H_a = γH_b(P‖Q), b = (a−1+γ)/γ, and exchanged, for a(1−γ) < 1,
H_a = (1−a(1−γ))H_c(Q‖P), c = γa/(1−a(1−γ)); else what is known of any pair, 1−a and 0. So one run
has the digits that the product has, several are laid on a grid (docs/proofs.md, section 16).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

from flint import acb, arb, arb_poly, ctx

from symacct.arithmetic import BALL
from symacct.core.errors import PrecisionError
from symacct.core.exact import Exact
from symacct.numerics.sums.refine import up_to
from symacct.profile.losses.mixed import Averaged, Member
from symacct.profile.part import OrderLine, Part
from symacct.profile.solve import CompositionProfile

_LOST_BITS, _FEW_DIGITS = 24, 3.0  # of a value, by a place that is known to as many bits as it

Runs = tuple[tuple[Part, int], ...]


@dataclass(frozen=True)
class OneSample(Averaged):
    """The runs, and the sampling rate `gamma` in (0, 1)."""

    runs: Runs
    gamma: Exact

    symmetric = False
    hardly_falls = True
    is_dear = True

    def sampled(self, gamma: Exact) -> Part:
        """The same with P mixed once more."""
        return type(self)(self.runs, self.gamma * gamma)

    @property
    def _members(self) -> list[Member]:
        self._refuse()

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """No moment is known."""
        self._refuse()

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """No moment is known."""
        self._refuse()

    def decay(self, a: float, t: float, slack: float) -> arb:
        """No moment is known."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise PrecisionError(
            "conversion='exact': found several runs of mechanisms that share a sample, whose "
            "moments are not summed, needed fewer digits or conversion='improved'"
        )

    def turns(self) -> list[arb]:
        return []

    def slow(self, a: float, t: float, length: int) -> list[arb_poly]:
        return []

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
        value = direction.easily(y)
        if not value.is_finite():
            digits = max(_FEW_DIGITS, (ctx.prec - _LOST_BITS) / 3.33)
            value = direction.delta(lambda: y, digits)
        return 1 - b + b * value if is_below else value

    def largest(self, reverse: bool) -> arb:
        rate, most = BALL.number(self.gamma), _direction(self.runs, reverse).runs.largest
        if reverse:
            return -(rate * (-most).expm1()).log1p()
        return (rate * most.expm1()).log1p()

    def exact_largest(self, reverse: bool) -> Exact | None:
        return None

    def lost(self, reverse: bool) -> Exact:
        if reverse:
            return Fraction(0)
        kept: Exact = Fraction(1)
        for part, count in self.runs:
            kept *= (1 - part.lost(False)) ** count
        return self.gamma * (1 - kept)


@lru_cache(16)
def _direction(runs: Runs, reverse: bool) -> CompositionProfile:
    """The product, with the contours that it has summed."""
    return CompositionProfile(runs, reverse)
