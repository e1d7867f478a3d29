"""IntegerNoise: what noise on whole numbers shares, whose worst pair is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import arb

from symacct.arithmetic import Arithmetic, Number
from symacct.exact import Order
from symacct.mechanisms.mechanism import Mechanism


class IntegerNoise(Mechanism):
    """A whole-number query plus symmetric log-concave noise: the worst neighbours are Δ apart.

    Q is the noise and P the noise moved by Δ (docs/proofs.md, section 21).
    """

    sensitivity: int

    def expected(
        self,
        ctx: Arithmetic,
        value: Callable[[Number], Number],
        power: Order,
        above_one: bool = False,
    ) -> Number:
        """E_Q[value(log(P/Q))] of 0 <= value <= 1 + power + (P/Q)^power, or over P/Q > 1 alone."""
        raise NotImplementedError

    @property
    def first_above_one(self) -> int:
        """The least k with P > Q."""
        return self.sensitivity // 2 + 1


class LatticeNoise(IntegerNoise):
    """Noise whose every outcome has a loss of its own, for sums over them in balls."""

    def outcomes(self, least: float, most: float, need: float) -> range:
        """Those beyond which Q(P/Q)^a, a = 0 and least <= a <= most, is about e^{−need}."""
        raise NotImplementedError

    def weighed(self, kept: range) -> list[tuple[arb, arb]]:
        """Q(k) and log(P(k)/Q(k)) for each of them."""
        raise NotImplementedError

    def in_floats(self, kept: range) -> tuple[np.ndarray, np.ndarray]:
        """log Q(k) and log(P(k)/Q(k)) for each of them, in float64, which proves nothing."""
        raise NotImplementedError

    def left_out(self, a: float, kept: range) -> arb:
        """A bound of Σ Q(1 + (P/Q)^a) over the other outcomes."""
        raise NotImplementedError
