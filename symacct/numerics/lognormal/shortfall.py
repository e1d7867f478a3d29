"""E(K − S)₊ of a sum S of t independent lognormal variables of mean 1, in balls.

It is (1/2πi)∫ e^{uK} φ(u)^t u^{−2} du on a line Re u = c > 0, which is bent into a hyperbola and
summed by the trapezoidal rule (docs/proofs.md, section 30).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import acb, arb, ctx

from symacct.arithmetic.ball import ends_of
from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.core.forking import cached_property
from symacct.numerics.lognormal.plan import Hyperbola, places
from symacct.numerics.lognormal.transform import Lognormal
from symacct.numerics.sums.refine import within

_BOUND_BITS = 96
_PIECE, _SIDES = 0.1, 4  # θ of a piece of an edge, and pieces of a side
_SLACK, _HALVINGS = 2.0, 8  # nats that a piece's bound may be above its middle's
_GUARD = 40  # bits
_FARTHER, _FARTHEST = 0.5, 60.0  # θ beyond the strip's end
_ABOVE = 1.001  # of the least y whose bound falls along an edge
_SPARE = 10.0  # nats below the error of all, from which on a piece does not count


class Piece(NamedTuple):
    """On a piece of an edge |e^{uK}φ(u)^t u^{−2} du| is at most e^{log_bound + (K − K₀) Re u}."""

    log_bound: arb
    real: arb
    share: arb  # of the error, per unit of the bound


@dataclass(frozen=True, eq=False)
class Shortfall:
    """One hyperbola, laid for a place K₀; other places near it do as well."""

    law: Lognormal
    count: int
    place: float
    plan: Hyperbola

    @cached_property
    def bits(self) -> int:
        """Bits at which all is worked out."""
        lost = self.plan.log_largest - self.plan.log_error + math.log(self.count)
        grown = self._steepest
        return math.ceil((max(lost, 0.0) + grown) / math.log(2)) + _GUARD

    @property
    def _steepest(self) -> float:
        """About log of |u|K and of t at the nodes, whose roundings the exponent makes larger."""
        return math.log1p(self.place * self.plan.scale) + 2 * math.log1p(self.count)

    def value(self, place: arb) -> arb:
        """E(K − S)₊, at flint's current precision at most."""
        with ctx.workprec(self.bits):
            first, *others = (term * (u * place).exp() for u, term in self._terms)
            total = first.real / 2 + sum((x.real for x in others), arb(0))
            value = total * arb(self.plan.step) / arb.pi()
        with ctx.workprec(_BOUND_BITS):
            off = self._off(place)
        return value + within(off)

    @cached_property
    def _terms(self) -> list[tuple[acb, acb]]:
        """u and φ(u)^t u^{−2} du/(i dθ)."""
        nodes = [self._place(arb(self.plan.angle), arb(self.plan.step) * n) for n in self._numbers]
        values = self.law.values([u for u, _ in nodes], self._needs)
        return [
            (u, value**self.count * slope / (u * u))
            for (u, slope), value in zip(nodes, values, strict=True)
        ]

    @property
    def _numbers(self) -> range:
        return range(self.plan.last + 1)

    def _place(self, angle: arb, theta: arb) -> tuple[acb, acb]:
        """u and du/(i dθ)."""
        turned = acb(angle, -theta)
        scale = arb(self.plan.scale)
        return scale * (1 - turned.sin()), scale * turned.cos()

    @cached_property
    def _needs(self) -> list[float]:
        """The nats that φ is needed to at each node."""
        plan, t = self.plan, self.count
        u, log_weights = places(plan.scale, plan.angle, plan.step * np.arange(plan.last + 1))
        bounds, _ = self.law.log_bounds(u, self.place, t)
        log_phi = (bounds - self.place * u.real) / t
        off = plan.log_error - math.log(plan.step * (plan.last + 1) * t)
        needs = log_weights + bounds - log_phi - off
        least = _SLACK + math.log(t) - log_phi  # for the power not to grow what φ is off by
        return [max(pair) for pair in zip(needs, least, strict=True)]

    # --- what the sum is off by

    def _off(self, place: arb) -> arb:
        """Both edges of the strip, its ends, and what is beyond them."""
        moved = place - arb(self.place)
        total = arb(0)
        for piece in self._pieces:
            total += piece.share * (piece.log_bound + piece.real * moved).exp()
        return total / arb.pi()

    @cached_property
    def _pieces(self) -> list[Piece]:
        plan = self.plan
        end, h = arb(plan.end), arb(plan.step)
        found: list[Piece] = []
        for edge in (plan.left, plan.right):
            apart = abs(arb(edge) - arb(plan.angle))
            share = 1 / (2 * arb.pi() * apart / h).expm1()
            count = math.ceil(plan.end / _PIECE)
            for i in range(count):
                low, high = end * i / count, end * (i + 1) / count
                found += self._along(arb(edge), arb(edge), low, high, share * (high - low))
        width = arb(plan.left) - arb(plan.right)
        for i in range(_SIDES):
            low = arb(plan.right) + width * i / _SIDES
            high = arb(plan.right) + width * (i + 1) / _SIDES
            found += self._along(low, high, end, end, 2 * (high - low))
        return [*found, *self._farther()]

    def _along(
        self, low: arb, high: arb, first: arb, last: arb, share: arb, halvings: int = 0
    ) -> Iterator[Piece]:
        """The bound over angles or θ between two, halved where it is much above the middle's."""
        piece = self._piece(low.union(high), first.union(last), share)
        middle = self._piece((low + high) / 2, (first + last) / 2, share)
        enough = (middle.log_bound + _SLACK).max(self.plan.log_error - share.log() - _SPARE)
        if halvings == _HALVINGS or piece.log_bound < enough:
            if not piece.log_bound.is_finite():
                raise self._unknown()
            yield piece
            return
        centre, between = (low + high) / 2, (first + last) / 2
        yield from self._along(low, centre, first, between, share / 2, halvings + 1)
        yield from self._along(centre, high, between, last, share / 2, halvings + 1)

    def _piece(self, angle: arb, theta: arb, share: arb) -> Piece:
        deadline.check()
        u, slope = self._place(angle, theta)
        weight = abs(slope).upper() / abs(u).lower() ** 2
        return Piece(self._log_most(u) + weight.log(), u.real, share)

    def _tilt(self, u: acb) -> float:
        x, y = u.real, u.imag
        corners = [complex(float(a), float(b)) for a in ends_of(x) for b in ends_of(y)]
        return self.law.tilt_for_all(np.array(corners), self.place, self.count)

    def _log_most(self, u: acb) -> arb:
        """At least log|e^{uK₀}φ(u)^t| over the ball u."""
        s = self.law.square.sqrt()
        y = arb(self._tilt(u))
        turn = acb(0, -s * y).exp()
        rho = (u * turn).real
        if not rho > 0:
            return arb("inf")
        start, height, slope = self.law.chord(rho.lower(), rho.upper())
        bent = (u * (arb(self.place) + self.count * slope * turn)).real
        return (bent + self.count * (height - slope * start + y * y / 2)).upper()

    def _farther(self) -> Iterator[Piece]:
        """From the strip's end on, up to where all three factors fall."""
        edge, low = arb(self.plan.tail), arb(self.plan.end)
        while True:
            deadline.check()
            beyond = self._beyond(low)
            if beyond.log_bound + beyond.share.log() < self.plan.log_error - _SPARE:
                yield beyond
                return
            if low > _FARTHEST:
                raise self._unknown()
            high = low + _FARTHER
            yield from self._along(edge, edge, low, high, high - low)
            low = high

    def _beyond(self, end: arb) -> Piece:
        """What is beyond θ at the last angle, where e^{uK} falls, and φ's bound with one y."""
        angle, s = arb(self.plan.tail), self.law.square.sqrt()
        u, _ = self._place(angle, end)
        share = 1 / (arb(self.plan.scale) * angle.cos() ** 2 * end.sinh())
        y = arb(max(self._tilt(u), _ABOVE * self.plan.tail / self.law.s))
        rho = (u * acb(0, -s * y).exp()).real.lower()
        if not (rho > 0 and s * y >= angle and s * y <= arb.pi()):
            return Piece(arb("inf"), u.real, share)
        most = arb(self.place) * u.real + self.count * (y * y / 2 + self.law.log_above(rho))
        return Piece(most.upper(), u.real, share)

    def _unknown(self) -> PrecisionError:
        return PrecisionError(
            f"a sum of {self.count} lognormal variables: found no bound of its transform, "
            "needed fewer digits, or a point nearer to its mean"
        )
