"""Part: one mechanism's pair (P, Q), by the law of its privacy loss L = log dP/dQ."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NoReturn, Protocol

import numpy as np
from flint import acb, arb, arb_poly

from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.sums import balls

# What a Rényi curve is at real orders, F(z) = E_Q[(P/Q)^z] is at complex ones.
Floats = np.ndarray


@dataclass(frozen=True)
class OrderLine:
    """The orders z = a + inh, first <= n <= last; a and h are exact binary numbers."""

    a: float
    h: float
    last: int
    first: int = 0

    @property
    def nodes(self) -> range:
        """The n."""
        return range(self.first, self.last + 1)


#: The orders and steps of a line have 24 bits, so that its nodes are exact at few.
rounded_down = functools.partial(balls.rounded_down, bits=24)


def log_turning(log_weights: Floats, losses: Floats, line: OrderLine) -> Floats:
    """log Σ_j w_j e^{inhℓ_j} for each node of a line, in complex128: a product of two matrices."""
    top = log_weights.real.max()
    weights = np.exp(log_weights - top)
    small = math.isqrt(line.last) + 1
    turn = 1j * line.h * losses
    inner = np.exp(turn[:, None] * np.arange(small))
    outer = np.exp(np.arange(0, line.last + 1, small)[:, None] * turn) * weights
    with np.errstate(divide="ignore"):
        return np.asarray(np.log((outer @ inner).ravel()[: line.last + 1]) + top)


class Factor(Protocol):
    """A factor of a composition's moments: what a contour sums, in balls at flint's precision."""

    def terms(self, line: OrderLine, need: float) -> int:
        """How many are summed for each node of `transform`."""

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """F on a line, each to an absolute error of about e^{−need} F(a)."""

    def decay(self, a: float, t: float, slack: float) -> arb:
        """An upper bound of log|F(a+is)| for all |s| >= t, within about `slack` of the best."""

    def largest(self, reverse: bool) -> arb:
        """ess sup of the finite L under P; of −L under Q if `reverse`; ∞ where there is none."""


class Part(Factor, Protocol):
    """A pair (P, Q) that one run of a mechanism has.

    Over the outcomes that both laws have F(z) = E_Q[(P/Q)^z]. `symmetric` where an involution that
    keeps the measure exchanges P and Q. What steers is float64 and proves nothing; the rest is
    balls at flint's current precision.
    """

    @property
    def symmetric(self) -> bool:
        """Has (Q, P) the same profile?"""

    @property
    def decays_slowly(self) -> bool:
        """May its moments not fall, or too slowly for a contour of few runs?"""

    def sampled(self, gamma: Exact) -> Part:
        """(1−γ)Q + γP against Q, 0 < γ < 1."""

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """log F and the variance of L under the tilted law, at real orders; float64."""

    def log_decay(self, a: float, t: float) -> float:
        """About `decay`; float64."""

    def log_values(self, line: OrderLine) -> Floats:
        """About log of `transform`, on a line from 0 on; complex128."""

    def frequencies(self) -> list[arb]:
        """The losses ℓ at which F turns, F(a+iu) = Σ e^{iuℓ} f(u); [] where f would not be slow."""

    def amplitude_bounds(self, a: float, t: float, length: int) -> list[arb_poly]:
        """Bounds of |f^{(j)}(u)|/j! for all u >= t > 0 and j < length, for each of these losses."""

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """H_{e^y}(P‖Q) = P(L > y) − e^y Q(L > y) in closed form; of (Q, P) if `reverse`."""

    def exact_largest(self, reverse: bool) -> Exact | None:
        """The largest loss as an exact number, where one is known."""

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """P(L = ∞); Q(L = −∞) if `reverse`."""


class UsualPart:
    """What many pairs have: no largest loss that is known, and none where F turns.

    All of it is on the safe side; how much has an infinite loss each pair says for itself.
    """

    def frequencies(self) -> list[arb]:
        """None."""
        return []

    def amplitude_bounds(self, a: float, t: float, length: int) -> list[arb_poly]:
        """None."""
        return []

    def largest(self, reverse: bool) -> arb:
        """No loss is the largest."""
        return arb("inf")

    def exact_largest(self, reverse: bool) -> Exact | None:
        """None is known."""
        return None


class ProfileOnly(UsualPart):
    """What parts share of which D(y) is known, and mostly no moment at a complex order.

    They are laid on a grid.
    """

    decays_slowly = True
    has_moments = False  # at complex orders; but some have
    is_costly = False  # a value of D
    has_an_end = False  # a largest loss, next to which D falls like a power of what is left

    def about_root(self, log_delta: float, reverse: bool) -> float | None:
        """About where D is e^{log_delta}, in float64, where that is told without moments."""
        return None

    def log_decay(self, a: float, t: float) -> float:
        """No moment is known."""
        self._refuse()

    def log_values(self, line: OrderLine) -> Floats:
        """No moment is known."""
        self._refuse()

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
            "found several runs of mechanisms that share a sample, or of laws in either "
            "direction, whose moments are not summed, needed fewer digits",
            where="conversion exact",
            remedy="ask for fewer, or for conversion improved",
        )
