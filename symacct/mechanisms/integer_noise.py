"""IntegerNoise: what noise on whole numbers shares, whose worst pair is known."""

from __future__ import annotations

from collections.abc import Callable

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
