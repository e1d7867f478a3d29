"""E[S^z] of a sum S of t independent copies of a variable W > 0, at every real z, in balls.

With θ = n − z > 0 it is Γ(θ)^{−1} ∫ u^{θ−1} E[Sⁿ e^{−uS}] du, and E[Sⁿ e^{−uS}] is n! times the
n-th coefficient of (Σ_k E[W^k e^{−uW}] x^k/k!)^t. In log u the trapezoidal rule has a *relative*
error (docs/proofs.md, section 30).
"""

from __future__ import annotations

import math
from typing import ClassVar

from flint import arb, arb_series, ctx

from symacct.kernel.arithmetic import BALL
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact

_SPARE, FEW_BITS = 8.0, 64  # nats; places are worked out with more
_LEAST = 4  # what θ is at least
_LONGEST = 96
_MOST_WHOLE, _DIFFERENCES = 2048, 48  # an order in closed form, and those beyond it


class SumMoments:
    """Of `count` variables, to so many bits."""

    called: ClassVar[str]  # what is summed, in words
    count: int
    bits: int

    def moments_of_one(self, n: int) -> list[arb]:
        """E[W^k], 0 <= k <= n."""
        raise NotImplementedError

    def _integral(self, n: int, theta: arb) -> arb:
        """∫ e^{θx} E[Sⁿ e^{−e^x S}] dx, by a sum whose terms are all positive."""
        raise NotImplementedError

    def moment(self, z: Exact) -> arb:
        """E[S^z], z not 0.

        In closed form at whole z > 0, between them where their differences tell; else an integral.
        """
        if z > 0 and (known := self._by_whole_orders(math.floor(z), z - math.floor(z))) is not None:
            return known
        n = max(0, math.floor(z) + _LEAST)
        if n > _LONGEST:
            raise PrecisionError(
                f"a moment of {self.count} {self.called}: found the order {float(z):.6g}, "
                f"needed one up to {_LONGEST - _LEAST}"
            )
        with ctx.workprec(max(self.bits, FEW_BITS)):
            theta = n - BALL.number(z)
            return self._integral(n, theta) / theta.gamma()

    def _by_whole_orders(self, n: int, part: Exact) -> arb | None:
        """E[S^{n+part}], 0 <= part < 1, between two polynomials in x = S/c − 1 under the weight Sⁿ.

        Of odd degree Taylor's of (1+x)^part is nowhere below it, and 1+x times that of
        (1+x)^{part−1} nowhere above.
        """
        if n + (_DIFFERENCES if part else 0) > _MOST_WHOLE:
            return None
        if part == 0:
            with ctx.workprec(max(self.bits, FEW_BITS)):
                return self._powers(n, self.moments_of_one(n))[0]
        with ctx.workprec(3 * self.bits + FEW_BITS):
            whole = self._powers(n, self.moments_of_one(n + _DIFFERENCES))
            centre, exponent = whole[1] / whole[0], BALL.number(part)
            differences = [x / (whole[0] * centre**i) for i, x in enumerate(whole)]
            for j in range(1, _DIFFERENCES + 1):  # E xⁱ for i < j stand before
                for i in range(_DIFFERENCES, j - 1, -1):
                    differences[i] -= differences[i - 1]
            high, low, share, less = arb(0), arb(0), arb(1), arb(1)
            for j in range(_DIFFERENCES):
                high += share * differences[j]
                low += less * (differences[j] + differences[j + 1])
                share *= (exponent - j) / (j + 1)
                less *= (exponent - 1 - j) / (j + 1)
                if j % 2:
                    between = low.union(high)
                    if between.rel_accuracy_bits() >= self.bits:
                        return whole[0] * centre**exponent * between
        return None

    @property
    def _need(self) -> float:
        return self.bits * math.log(2) + _SPARE

    def _powers(self, first: int, terms: list[arb]) -> list[arb]:
        """k! times the k-th coefficient of (Σ a_k x^k/k!)^t, k from the first on."""
        series = [term / arb.fac_ui(k) for k, term in enumerate(terms)]
        before, ctx.cap = ctx.cap, len(terms)
        try:
            coefficients = (arb_series(series) ** self.count).coeffs()
        finally:
            ctx.cap = before
        return [coefficients[k] * arb.fac_ui(k) for k in range(first, len(terms))]
