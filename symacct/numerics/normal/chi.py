"""B(l) = E_Q[(P/Q − 1)^l] of Gaussian noise at even l, by trapezoids (docs/proofs.md, 5).

P/Q − 1 = e^{st} − 1 at z = s/2 + t for z ~ N(0, 1) and s = Δ/σ. The nodes t = (j + ½)h are the
same for every l: a value is Σ e^{l·log|e^{st}−1| − z²/2} over those about its two peaks.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx

from symacct.arithmetic.ball import precision
from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.numerics.sums.refine import ball, geometric_tail, steered_by_floats, up_to, within

_BOUND_BITS = 64
_SPARE = 24  # bits of the exponents' size, and of their sum
_HALVINGS = 8  # of the step
_STRIP = 1 + math.e  # the error is about e^{strip·a²/2 − 2πa/h} at most


class GaussianChi:
    """l ↦ B(l) to so many bits, remembered with what it is made of."""

    def __init__(self, shift: Fraction, bits: int) -> None:
        self.shift, self.bits = shift, bits
        self._float = float(shift)
        self._known: dict[int, arb] = {0: arb(1)}
        self._use(2 * math.pi / math.sqrt(2 * _STRIP * (bits + 8) * math.log(2)))

    def _use(self, step: float) -> None:
        self.step = step
        self._nodes: dict[tuple[int, int], tuple[arb, arb]] = {}

    @steered_by_floats
    def __call__(self, l: int) -> arb:
        """B(l) for even l; PrecisionError where no step is fine enough."""
        for _ in range(_HALVINGS):
            deadline.check()
            if l in self._known:
                return self._known[l]
            with precision(self.bits + l.bit_length() + _SPARE):
                total = self._trapezoids(l)
                off = self._share_off(l, total)
                if off <= arb(2) ** -self.bits:
                    self._known[l] = total + within(total * off / (1 - off))
                else:
                    self._use(self.step / 2)
        raise PrecisionError(
            f"B({l}): found no step that is small enough", remedy="ask for fewer digits"
        )

    def _share_off(self, l: int, total: arb) -> arb:
        """k with T/(1+k) <= B <= T/(1−k), from the strip |Im t| <= a and Minkowski's inequality."""
        with precision(_BOUND_BITS):
            height = arb(2 * math.pi / self.step / _STRIP)
            n, s = l // 2, ball(self.shift)
            mean = (total / 2).root(n)
            turned = ((s * height) ** 2).min(arb(4)) * ((n - 1) * s**2 / 2).exp()
            growth = (height**2 / 2).exp() * (1 + turned / mean) ** n
            off = 2 * growth / (2 * arb.pi() * height / arb(self.step)).expm1()
            return off if off < 1 else arb("inf")

    def _trapezoids(self, l: int) -> arb:
        """h Σ φ(z)(e^{st} − 1)^l"""
        total = self._side(l, -1) + self._side(l, 1)
        return total * arb(self.step) / (2 * arb.pi()).sqrt()

    def _side(self, l: int, side: int) -> arb:
        """Σ over t > 0 or t < 0: a window about the peak of what is log-concave there."""
        reach = math.sqrt(2 * math.log(2) * (self.bits + _SPARE))
        peak = self._peak(l, side)
        first, last = (max(0, math.floor((peak + x * reach) / self.step)) for x in (-1, 1))
        terms = []
        for k in range(first, last + 1):
            log, weight = self._node(k if side > 0 else -1 - k)
            terms.append((log * l + weight).exp())
        beyond = geometric_tail(terms[-1] ** 2 / terms[-2], terms[-1] / terms[-2])
        if first > 0:
            beyond += geometric_tail(terms[0] ** 2 / terms[1], terms[0] / terms[1])
        return sum(terms, arb(0)) + up_to(beyond)

    def _node(self, j: int) -> tuple[arb, arb]:
        """log|e^{st} − 1| and −z²/2 at t = (j + ½)h."""
        if (j, ctx.prec) not in self._nodes:
            s, t = ball(self.shift), arb(self.step) * (2 * j + 1) / 2
            self._nodes[j, ctx.prec] = abs((s * t).expm1()).log(), -((s / 2 + t) ** 2) / 2
        return self._nodes[j, ctx.prec]

    def _peak(self, l: int, side: int) -> float:
        """About how far from 0 on one side t + s/2 = ls/(1 − e^{−st})."""
        s, far = self._float, 1.0

        def lies_ahead(distance: float) -> bool:
            t = side * distance
            slope = l * s / -math.expm1(min(-s * t, 700.0)) - (t + s / 2)
            return slope * side > 0

        while lies_ahead(far):
            deadline.check()
            far *= 2
        low = 0.0
        for _ in range(40):
            middle = (low + far) / 2
            low, far = (middle, far) if lies_ahead(middle) else (low, middle)
        return far
