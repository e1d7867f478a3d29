"""E(K − S)₊ of t ratios on a line Re u = c, for so many that hardly any S has atoms left.

S lies in an interval of length L = t(e^s − e^{−s}), so that of the equally spaced sum of step 2π/L
all aliases are known: it has no error but the nodes left out (docs/proofs.md, section 30).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from flint import acb, acb_poly, arb, ctx

from symacct.core import deadline
from symacct.core.forking import cached_property
from symacct.numerics.laplace_sums.ratio import LaplaceRatio
from symacct.numerics.laplace_sums.steering import lowest
from symacct.numerics.sums.refine import within

_BITS, _GUARD = 128, 40  # of what bounds, and of what is summed beyond what is lost
_BLOCK = 32  # nodes that are one polynomial
_PART = 2.0  # nats: what is left out is this much below the error
_FARTHER = 1.01  # than where what is beyond is small
_MOST = 2000  # places at which a bound is worked out


@dataclass(frozen=True, eq=False)
class Straight:
    """One line, laid for a place K₀ to about e^{log_error}; places near it do as well."""

    ratio: LaplaceRatio
    count: int
    place: arb  # exact
    log_error: float

    @property
    def cost(self) -> float:
        """How many values of a transform are summed; ∞ where the sum does not end."""
        return self._left_out[0]

    def value(self, place: arb) -> arb:
        """E(K − S)₊, at flint's current precision at most, te^{−s} <= K <= te^s."""
        t, c = self.count, arb(self.real)
        lost = max(self._log_largest - self.log_error, 0.0) / math.log(2)
        # A box that is turned grows by a factor of √2 at most, at each step of a polynomial.
        with ctx.workprec(math.ceil(lost + 2 * math.log2(t + 1) + _BLOCK / 2) + _GUARD):
            length = t * self.ratio.width
            turn = 2 * arb.pi() * place / length
            total = self._turned(turn) * (c * place).exp() / length
            once = (-c * length).exp()
            aliases = once / (1 - once) * (place - t + length / (1 - once))
        with ctx.workprec(_BITS):
            off = (c * place).exp() * self._left_out[1]
        return total - aliases + within(off)

    def _turned(self, turn: arb) -> arb:
        """Re Σ_n a_n e^{inθ}, by polynomials in e^{iθ} of some terms each."""
        once, total = acb(0, turn).exp(), arb(0)
        for i, block in enumerate(self._blocks):
            total += (block(once) * acb(0, i * _BLOCK * turn).exp()).real
        return total

    @cached_property
    def _blocks(self) -> list[acb_poly]:
        terms = self._terms
        return [acb_poly(terms[i : i + _BLOCK]) for i in range(0, len(terms), _BLOCK)]

    @cached_property
    def _terms(self) -> list[acb]:
        """φ(u)ᵗ/u² at the nodes, those off the axis twice."""
        found = []
        for n in range(int(self.cost) + 1):
            u = acb(arb(self.real), n * self._spacing)
            found.append(self.ratio.transform(u) ** self.count / (u * u) * (2 if n else 1))
        return found

    @property
    def _spacing(self) -> arb:
        return 2 * arb.pi() / (self.count * self.ratio.width)

    @cached_property
    def _log_largest(self) -> float:
        """About log of the largest term."""
        with ctx.workprec(_BITS):
            return self._log_size(math.log(self.real))

    def _log_size(self, log_c: float) -> float:
        """log of e^{cK}φ(c)ᵗ/c."""
        u = arb(log_c).exp()
        found = u * self.place + self.count * self.ratio.transform(u).log() - u.log()
        return float(found.mid())

    @cached_property
    def real(self) -> float:
        """About where that is least, c > 0."""
        with ctx.workprec(_BITS):
            return math.exp(lowest(self._log_size, -math.log(self.count) / 2))

    # --- what is left out

    @cached_property
    def _left_out(self) -> tuple[float, arb]:
        """The last node, and what those beyond it are worth but for e^{cK}.

        |φ|² at c + iv has a second derivative of 2Var·φ(c)² at most, so it is little above its
        values at two places between them; far away it is at most (A + C/v)², by parts.
        """
        with ctx.workprec(_BITS):
            goal = arb(self.log_error - _PART).exp() / (arb(self.real) * self.place).exp()
            far, total = self._beyond(goal)
            if not total < goal:
                return math.inf, total
            last, step = far, self._spacing
            for low, high, most in reversed(self._between(far)):
                more = most**self.count * (high - low + step) / (low * low * arb.pi())
                if not total + more < goal:
                    break
                last, total = low, total + more
            return math.ceil(float(last / step)), total

    def _beyond(self, goal: arb) -> tuple[arb, arb]:
        """A place, and Σ |φ|ᵗ/|u|² 2/L at most beyond: (A + C/v)ᵗ/(πv)."""
        ratio, c = self.ratio, arb(self.real)
        low, high = (-c * ratio.low).exp(), (-c * ratio.high).exp()
        atoms, varies = (low + ratio.low * high) / 2, ratio.high * low / 2
        need = (goal.log() / self.count).exp()  # of |φ|
        if not need > atoms:
            return arb(1), arb("inf")
        v = ((varies / (need - atoms)).max(2 * self._spacing) * _FARTHER).mid()
        return v, (atoms + varies / v) ** self.count / (arb.pi() * (v - self._spacing))

    def _between(self, far: arb) -> list[tuple[arb, arb, arb]]:
        """Places from the second node to a far one, and what |φ| is at most between two."""
        ratio, c = self.ratio, arb(self.real)
        most = ratio.transform(c)
        curved = ratio.variance * (-c * ratio.low).exp() * most  # at least Var·φ(c)²
        place, found = self._spacing.mid(), [(arb(0), most * most)]
        while place < far and len(found) < _MOST:
            deadline.check()
            value = abs(ratio.transform(acb(c, place)))
            found.append((place, value * value))
            missing = (most * most - value * value) / curved
            place = (place + (missing.sqrt() if missing > 0 else place)).mid()
        found.append((far, abs(ratio.transform(acb(c, far))) ** 2))
        return [
            (v, w, (p.max(q) + curved * (w - v) ** 2 / 4).sqrt())
            for (v, p), (w, q) in itertools.pairwise(found[1:])
        ]
