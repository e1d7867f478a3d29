"""E(K − S)₊ of t ratios on a hyperbola, φᵗ expanded by how many ratios are the largest.

With `amplitudes` a and b of φ, E(K − S)₊ = Σ_k (1/2πi)∫ C(t, k) a^{t−k} b^k e^{ux_k} u^{−2} du over
the k of which x_k = K − (t−k)e^{−s} − ke^s is positive; the others are 0. On u = μ(1 − sin(α − iθ))
it is a trapezoidal sum, and Re √u >= √(μ(1 − sin α)) bounds all (docs/proofs.md, section 30).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from flint import acb, acb_poly, arb, arb_poly, ctx

from symacct.arithmetic.ball import floor
from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.core.forking import cached_property
from symacct.numerics.laplace_sums.ratio import LaplaceRatio
from symacct.numerics.laplace_sums.steering import lowest
from symacct.numerics.sums.refine import within

_BITS, _GUARD = 96, 40  # of what bounds, and of what is summed beyond what is lost
_LEFT, _RIGHT = (0.8, 0.5, 0.3, 0.15, 0.06, 0.02), (1.0, 1.6, 2.5)  # of the best vertex
_PART = 2.0  # nats: each error is this much below all of them
_THETA, _FARTHEST = 0.5, 2000.0

Bound = Callable[[arb, arb], arb]


class Plan(NamedTuple):
    """The vertex μ of the angle 0, the angle that is summed and the largest, and the nodes."""

    vertex: float
    angle: float
    left: float
    step: float
    last: int
    log_largest: float


@dataclass(frozen=True, eq=False)
class Bent:
    """One hyperbola, laid for a place K₀ to about e^{log_error}; places near it do as well."""

    ratio: LaplaceRatio
    count: int
    place: arb  # exact
    log_error: float

    @property
    def ends(self) -> int:
        """How many of the ratios may be the largest: the sum is a polynomial of this degree."""
        return max(self._most(self.place) or 0, 0)

    def value(self, place: arb) -> arb:
        """E(K − S)₊, at flint's current precision at most; NaN where that does not tell k."""
        lost = max(self.plan.log_largest - self.log_error, 0.0) / math.log(2)
        grown = math.log2(1 + self.plan.vertex * float(self.place)) + 2 * math.log2(1 + self.count)
        # A box that is turned grows by a factor of √2 at most, at each of the polynomial's steps.
        with ctx.workprec(math.ceil(lost + grown + self.ends / 2) + _GUARD):
            most = self._most(place)
            if most is None:
                return arb.nan()
            if most < 0:
                return arb(0)
            first, *others = self._summed(place, most)
            total = (first / 2 + sum(others, arb(0))) * arb(self.plan.step) / arb.pi()
        with ctx.workprec(self._bits):
            off = self._off(place, most)
        return total + within(off)

    def _most(self, place: arb) -> int | None:
        """The largest k with x_k > 0."""
        share = (place - self.count * self.ratio.low) / self.ratio.width
        found = floor(share)
        return min(found, self.count) if share < found + 1 else None

    # --- the sum

    def _summed(self, place: arb, most: int) -> list[arb]:
        ways = acb_poly(self._ways(most))
        return [(base * (u * place).exp() * ways(share)).real for u, share, base in self._nodes]

    @cached_property
    def _bits(self) -> int:
        """Bits of what bounds, more of them next to the least S."""
        with ctx.workprec(4 * ctx.prec + _BITS):
            start = (self.place - self.count * self.ratio.low) / self.place
            return _BITS - min(2 * floor(start.log()), 0)

    @cached_property
    def _nodes(self) -> list[tuple[acb, acb, acb]]:
        """u, the quotient of both terms of φ, and all that depends on neither K nor k."""
        plan, ratio, found = self.plan, self.ratio, []
        for n in range(plan.last + 1):
            turned = acb(plan.angle, -arb(plan.step) * n)
            u = arb(plan.vertex) * (1 - turned.sin())
            first, last = ratio.amplitudes(u)
            share = last / first * (-u * ratio.width).exp()
            slope = arb(plan.vertex) * turned.cos()
            base = (first * (-u * ratio.low).exp()) ** self.count * slope / (u * u)
            found.append((u, share, base))
        return found

    def _ways(self, most: int) -> list[arb]:
        """C(t, k) for k <= most."""
        found = [arb(1)]
        for k in range(most):
            found.append(found[-1] * (self.count - k) / (k + 1))
        return found

    # --- what it is off by

    def _off(self, place: arb, most: int) -> arb:
        """Both edges of the strip, and the nodes beyond the last."""
        plan = self.plan
        bound = self._bound(place, most)
        angle, step, mu = arb(plan.angle), arb(plan.step), arb(plan.vertex)
        edges = [(arb(0), angle), (arb(plan.left), arb(plan.left) - angle)]
        total = arb(0)
        for edge, apart in edges:
            sine, v = edge.sin(), mu * (1 - edge.sin())
            length = ((1 + sine) / (1 - sine)).sqrt() * (arb.pi() + 2 * edge) / edge.cos()
            total += bound(v, v) * length / (2 * arb.pi() * apart / step).expm1()
        return (total + _beyond(plan, bound, step * plan.last)) / (2 * arb.pi() * mu)

    def _bound(self, place: arb, most: int) -> Bound:
        """Of what is integrated, times u², by Re u and a number that (Re √u)² is at least."""
        ways, ratio = arb_poly(self._ways(most)), self.ratio
        start, width = place - self.count * ratio.low, ratio.width

        def bound(real: arb, v: arb) -> arb:
            first, last = ratio.most(v)
            share = last / first * (-real * width).exp()
            return (real * start).exp() * first**self.count * ways(share)

        return bound

    # --- where: chosen in few bits

    @cached_property
    def plan(self) -> Plan:
        """The widest step of some."""
        with ctx.workprec(self._bits):
            bound = self._bound(self.place, self.ends)
            goal = self.log_error - _PART

            def size(log_v: float) -> float:
                v = arb(log_v).exp()
                return float(bound(v, v).log().mid()) - log_v

            start = self.place - self.count * self.ratio.low
            best = lowest(size, -float(start.log().mid()))  # e^{vx_k} is at most e there
            plans = [
                self._plan(size, best + math.log(right), best + math.log(left), goal)
                for left in _LEFT
                for right in _RIGHT
            ]
            found = max(plans, key=lambda plan: plan.step)
            theta = _THETA
            while not (_beyond(found, bound, arb(theta)) / found.vertex).log() < goal:
                deadline.check()
                theta += _THETA
                if theta > _FARTHEST:
                    raise PrecisionError(
                        f"a sum of {self.count} ratios of Laplace noise: found no end of its "
                        "contour, needed fewer digits"
                    )
            return found._replace(last=math.ceil(theta / found.step))

    def _plan(self, size: Callable[[float], float], right: float, left: float, goal: float) -> Plan:
        vertex = math.exp(right)
        angle = math.asin(1 - math.exp(left - right))
        needs = [max(size(end) - goal, 1.0) for end in (right, left)]
        inner = angle * needs[0] / sum(needs)
        middle = size(math.log(vertex * (1 - math.sin(inner))))
        step = 2 * math.pi * angle / sum(needs)
        return Plan(vertex, inner, angle, step, 0, middle)


def _beyond(plan: Plan, bound: Bound, theta: arb) -> arb:
    """2πμ times what the nodes beyond θ on both sides are worth."""
    cosh, sine, mu = theta.cosh(), arb(plan.angle).sin(), arb(plan.vertex)
    real, v = mu * (1 - sine * cosh), mu * (1 - sine) * (theta / 2).cosh() ** 2
    length = ((cosh + sine) / (cosh - sine)).sqrt() * 4 * (-theta).exp() / (1 - sine / cosh)
    return bound(real, v) * length
