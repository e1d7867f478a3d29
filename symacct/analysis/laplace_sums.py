"""A sum S of likelihood ratios of Laplace noise has E(K − S)₊ and E[S^z] in balls."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from flint import acb, acb_poly, arb, arb_poly, ctx

from symacct.analysis.series import SumMoments
from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import (
    floor,
    geometric_tail,
    lowest,
    rounded_down,
    up_to,
    within,
)
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property

# --- one ratio
#
# The likelihood ratio W of one run of Laplace noise, and its transform φ(u) = E e^{−uW}.
#
# Without the record W = e^{−s} has the probability ½ and W = e^s the probability e^{−s}/2; between
# them the density is ¼e^{−s/2}w^{−3/2}. With H(z) = 1 − √(πz) e^z erfc(√z)
#
# φ(u) = ½(1 + H(ue^{−s})) e^{−ue^{−s}} + ½e^{−s}(1 − H(ue^s)) e^{−ue^s},
#
# and |H(z)| <= H((Re √z)²) <= 1 for |arg z| < π (docs/proofs/allocations.md, Lemma
# laplace-transform).

#: A real or a complex ball.
Ball = TypeVar("Ball", arb, acb)

#: From this |z| on H is bounded by 1/(2z), and erfc of a ball would soon be wide. Both are
#: enclosures.
_FAR_ARGUMENT = 1e4
_HALF = arb(0.5)
#: The first round has so many bits beyond those asked for, and each further round twice as many. It
#: costs time alone.
_EXTRA_BITS = 64
#: Rounds after which moments are given as they are, in wide balls. More would take longer, and no
#: enclosure is false.
_MOST_ROUNDS = 8


def rest(z: Ball) -> Ball:
    """1 − H(z) = √(πz) e^z erfc(√z) = √z U(½, ½, z)."""
    root = z.sqrt()
    if abs(z) > _FAR_ARGUMENT:
        return root * z.hypgeom_u(_HALF, _HALF)
    return arb.pi().sqrt() * root * z.exp() * root.erfc()


def _most(z: arb) -> arb:
    """An upper bound of H(z) for a real z > 0, by H(z) < 1/(2z) for large ones."""
    return 1 - rest(z) if z < _FAR_ARGUMENT else 1 / (2 * z)


@dataclass(frozen=True)
class LaplaceRatio:
    """The ratio W of one run has `shift` s = Δ/b > 0; all is at flint's current precision."""

    shift: Exact

    @property
    def low(self) -> arb:
        """e^{−s}, the least W."""
        return (-BALL.number(self.shift)).exp()

    @property
    def high(self) -> arb:
        """e^s, the largest W."""
        return BALL.number(self.shift).exp()

    @property
    def width(self) -> arb:
        """e^s − e^{−s}."""
        return 2 * BALL.number(self.shift).sinh()

    @property
    def variance(self) -> arb:
        """E W² − 1 = (2e^s + e^{−2s})/3 − 1, as a sum of which no term cancels."""
        s = BALL.number(self.shift)
        return (8 * (s / 2).sinh() ** 2 + (-s).expm1() ** 2) / 3

    def amplitudes(self, u: Ball) -> tuple[Ball, Ball]:
        """The factors of e^{−ue^{−s}} and of e^{−ue^s} in φ(u), |arg u| < π."""
        low, high = self.low, self.high
        return 1 - rest(u * low) / 2, low * rest(u * high) / 2

    def most(self, v: arb) -> tuple[arb, arb]:
        """Upper bounds of both amplitudes' moduli at any u with (Re √u)² >= v > 0."""
        low, high = self.low, self.high
        return (1 + _most(v * low)) / 2, low * (1 + _most(v * high)) / 2

    def transform(self, u: Ball) -> Ball:
        """φ(u), |arg u| < π."""
        first, last = self.amplitudes(u)
        return first * (-u * self.low).exp() + last * (-u * self.high).exp()

    def moments(self, n: int) -> list[arb]:
        """E[W^k], 0 <= k <= n."""
        s = BALL.number(self.shift)
        return [
            (k * ((k - 1) * s).exp() + (k - 1) * (-k * s).exp()) / (2 * k - 1) for k in range(n + 1)
        ]

    def weighted(self, log_u: arb, n: int, bits: int) -> list[arb]:
        """E[W^k e^{−uW}] in balls, 0 <= k <= n, to about so many bits where log u is exact."""
        extra = _EXTRA_BITS
        for _ in range(_MOST_ROUNDS):
            with ctx.workprec(bits + extra):
                moments = self._weighted(log_u.exp(), n)
            if min(x.rel_accuracy_bits() for x in moments) >= bits:
                break
            extra *= 2
        return moments

    def _weighted(self, u: arb, n: int) -> list[arb]:
        """E[W^k e^{−uW}] from both atoms, and ¼e^{−s/2} ∫ w^{k−3/2} e^{−uw} dw between them.

        The integral of k = n+1 is a difference of incomplete gamma functions; by parts each of the
        others follows from the next.
        """
        s = BALL.number(self.shift)
        low, high = (-u * self.low).exp(), (-u * self.high).exp()
        order = n + 1 - _HALF
        over, under = (
            (sign * order * s).exp() * (u * (sign * s).exp()).gamma_lower(order, regularized=2)
            for sign in (1, -1)
        )
        between, moments = order.gamma() * (over - under), []
        for k in range(n, -1, -1):
            order = k - _HALF
            between = u * between + (order * s).exp() * high - (-order * s).exp() * low
            between /= order
            atoms = (-k * s).exp() * low + ((k - 1) * s).exp() * high
            moments.append(atoms / 2 + (-s / 2).exp() * between / 4)
        return moments[::-1]


# --- on a hyperbola
#
# E(K − S)₊ of t ratios on a hyperbola, φᵗ expanded by how many ratios are the largest.
#
# With `amplitudes` a and b of φ, E(K − S)₊ = Σ_k (1/2πi)∫ C(t, k) a^{t−k} b^k e^{ux_k} u^{−2} du
# over the k of which x_k = K − (t−k)e^{−s} − ke^s is positive; the others are 0. On u = μ(1 − sin(α
# − iθ)) it is a trapezoidal sum, and Re √u >= √(μ(1 − sin α)) bounds all
# (docs/proofs/allocations.md, Lemma laplace-hyperbola).

#: Balls that bound the hyperbola's errors have so many bits; of fewer the bounds are wider.
_HYPERBOLA_BITS = 96
#: The hyperbola's sum has so many bits beyond what its cancellation loses; of fewer its ball is
#: wider.
_HYPERBOLA_GUARD_BITS = 40
#: Multiples of the best vertex between which a strip may lie, on the left and on the right. Each
#: strip has its bound; the best one saves nodes.
_LEFT_SHARES, _RIGHT_SHARES = (0.8, 0.5, 0.3, 0.15, 0.06, 0.02), (1.0, 1.6, 2.5)
#: Each of three errors is aimed so many nats below all of them. What they come to is proved apart.
_PART_NATS = 2.0
#: The end θ of a contour is looked for in steps of the first up to the second, else PrecisionError.
_THETA_STEP, _LAST_THETA = 0.5, 2000.0

#: (Re u, v <= (Re √u)²) ↦ an upper bound of the integrand's modulus times |u|².
Bound = Callable[[arb, arb], arb]


class Plan(NamedTuple):
    """A plan has the vertex μ of the angle 0, the summed and the largest angle, and the nodes.

    Nodes are `step` apart in θ, from 0 to `last`; `log_largest` is about log of the largest term.
    """

    vertex: float
    angle: float
    left: float
    step: float
    last: int
    log_largest: float


@dataclass(frozen=True, eq=False)
class Bent:
    """A bent line is a hyperbola, laid for a place K₀ to errors of about e^{log_error}.

    Places near it do as well. `place` is an exact ball.
    """

    ratio: LaplaceRatio
    count: int
    place: arb
    log_error: float

    @property
    def ends(self) -> int:
        """How many ratios may be the largest, which is the degree of the sum's polynomial."""
        return max(self._most(self.place) or 0, 0)

    def value(self, place: arb) -> arb:
        """E(K − S)₊ in a ball, at flint's precision at most; NaN where that does not tell k."""
        lost = max(self.plan.log_largest - self.log_error, 0.0) / math.log(2)
        grown = math.log2(1 + self.plan.vertex * float(self.place)) + 2 * math.log2(1 + self.count)
        # A box that is turned grows by a factor of √2 at most, at each of the polynomial's steps.
        with ctx.workprec(math.ceil(lost + grown + self.ends / 2) + _HYPERBOLA_GUARD_BITS):
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
        """The largest k with x_k > 0, below 0 for none; None where the ball does not tell."""
        share = (place - self.count * self.ratio.low) / self.ratio.width
        whole = floor(share)
        return min(whole, self.count) if share < whole + 1 else None

    # --- the sum

    def _summed(self, place: arb, most: int) -> list[arb]:
        """The real part of each term, over the nodes θ >= 0."""
        choices = acb_poly(self._choices(most))
        return [(base * (u * place).exp() * choices(share)).real for u, share, base in self._nodes]

    @cached_property
    def _bits(self) -> int:
        """Bits of the balls that bound errors, more of them where K is next to the least S."""
        with ctx.workprec(4 * ctx.prec + _HYPERBOLA_BITS):
            start = (self.place - self.count * self.ratio.low) / self.place
            return _HYPERBOLA_BITS - min(2 * floor(start.log()), 0)

    @cached_property
    def _nodes(self) -> list[tuple[acb, acb, acb]]:
        """Nodes u, with the quotient of both terms of φ and what K and k don't change."""
        plan, ratio, nodes = self.plan, self.ratio, []
        for n in range(plan.last + 1):
            turned = acb(plan.angle, -arb(plan.step) * n)
            u = arb(plan.vertex) * (1 - turned.sin())
            first, last = ratio.amplitudes(u)
            share = last / first * (-u * ratio.width).exp()
            slope = arb(plan.vertex) * turned.cos()
            base = (first * (-u * ratio.low).exp()) ** self.count * slope / (u * u)
            nodes.append((u, share, base))
        return nodes

    def _choices(self, most: int) -> list[arb]:
        """C(t, k) for k <= most."""
        binomials = [arb(1)]
        for k in range(most):
            binomials.append(binomials[-1] * (self.count - k) / (k + 1))
        return binomials

    # --- what it is off by

    def _off(self, place: arb, most: int) -> arb:
        """An upper bound of the sum's error: the strip's edges, and the nodes beyond the last.

        `most` is the largest number of the largest ratios that is summed.
        """
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
        """The `Bound` of the integrand for this K, with up to `most` largest ratios."""
        choices, ratio = arb_poly(self._choices(most)), self.ratio
        start, width = place - self.count * ratio.low, ratio.width

        def bound(real: arb, v: arb) -> arb:
            first, last = ratio.most(v)
            share = last / first * (-real * width).exp()
            return (real * start).exp() * first**self.count * choices(share)

        return bound

    # --- where: chosen in few bits

    @cached_property
    def plan(self) -> Plan:
        """The hyperbola of the widest step, of some; in few bits, as it only steers.

        PrecisionError where its contour finds no end.
        """
        with ctx.workprec(self._bits):
            bound = self._bound(self.place, self.ends)
            goal = self.log_error - _PART_NATS

            def size(log_v: float) -> float:
                """About log of the integrand's bound at u = e^{log_v}."""
                v = arb(log_v).exp()
                return float(bound(v, v).log().mid()) - log_v

            start = self.place - self.count * self.ratio.low
            best = lowest(size, -float(start.log().mid()))  # e^{vx_k} is at most e there
            plans = [
                self._plan(size, best + math.log(right), best + math.log(left), goal)
                for left in _LEFT_SHARES
                for right in _RIGHT_SHARES
            ]
            steepest = max(plans, key=lambda plan: plan.step)
            theta = _THETA_STEP
            while not (_beyond(steepest, bound, arb(theta)) / steepest.vertex).log() < goal:
                deadline.check()
                theta += _THETA_STEP
                if theta > _LAST_THETA:
                    raise PrecisionError(
                        f"a sum of {self.count} ratios of Laplace noise: found no end of its "
                        "contour, needed fewer digits"
                    )
            return steepest._replace(last=math.ceil(theta / steepest.step))

    def _plan(self, size: Callable[[float], float], right: float, left: float, goal: float) -> Plan:
        """The hyperbola whose strip lies between two vertices, given by their logarithms."""
        vertex = math.exp(right)
        angle = math.asin(1 - math.exp(left - right))
        needs = [max(size(end) - goal, 1.0) for end in (right, left)]
        inner = angle * needs[0] / sum(needs)
        middle = size(math.log(vertex * (1 - math.sin(inner))))
        step = 2 * math.pi * angle / sum(needs)
        return Plan(vertex, inner, angle, step, 0, middle)


def _beyond(plan: Plan, bound: Bound, theta: arb) -> arb:
    """An upper bound of 2πμ times the nodes beyond θ on both sides."""
    cosh, sine, mu = theta.cosh(), arb(plan.angle).sin(), arb(plan.vertex)
    real, v = mu * (1 - sine * cosh), mu * (1 - sine) * (theta / 2).cosh() ** 2
    length = ((cosh + sine) / (cosh - sine)).sqrt() * 4 * (-theta).exp() / (1 - sine / cosh)
    return bound(real, v) * length


# --- on a line
#
# E(K − S)₊ of t ratios on a line Re u = c, for so many that hardly any S has atoms left.
#
# S lies in an interval of length L = t(e^s − e^{−s}), so that of the equally spaced sum of step
# 2π/L all aliases are known: it has no error but the nodes left out (docs/proofs/allocations.md,
# Lemma laplace-line).

#: Balls that bound the line's errors have so many bits; of fewer the bounds are wider.
_LINE_BITS = 128
#: The line's sum has so many bits beyond what its cancellation loses; of fewer its ball is wider.
_LINE_GUARD_BITS = 40
#: Nodes that are one polynomial. It costs time: half a bit is lost for each, and added, as a turned
#: box grows by √2.
_BLOCK_NODES = 32
#: A place is taken by this factor farther than where the rest is small. The rest is bounded anew
#: there, so no proof needs it.
_FARTHER_FACTOR = 1.01
#: |φ| is bounded at so many places at most; from the last one to the far one the bound is wide, and
#: sound.
_MOST_PLACES = 2000


@dataclass(frozen=True, eq=False)
class Straight:
    """A straight line is laid for a place K₀ to about e^{log_error}; places near it do as well.

    `place` is an exact ball.
    """

    ratio: LaplaceRatio
    count: int
    place: arb
    log_error: float

    @property
    def cost(self) -> float:
        """How many values of φ are summed; ∞ where no end of the sum is proved."""
        return self._left_out[0]

    def value(self, place: arb) -> arb:
        """E(K − S)₊ in a ball, at flint's current precision at most, for te^{−s} <= K <= te^s.

        `cost` has to be finite.
        """
        t, c = self.count, arb(self.real)
        lost = max(self._log_largest - self.log_error, 0.0) / math.log(2)
        # A box that is turned grows by a factor of √2 at most, at each step of a polynomial.
        working = math.ceil(lost + 2 * math.log2(t + 1) + _BLOCK_NODES / 2) + _LINE_GUARD_BITS
        with ctx.workprec(working):
            length = t * self.ratio.width
            turn = 2 * arb.pi() * place / length
            total = self._turned(turn) * (c * place).exp() / length
            once = (-c * length).exp()
            aliases = once / (1 - once) * (place - t + length / (1 - once))
        with ctx.workprec(_LINE_BITS):
            off = (c * place).exp() * self._left_out[1]
        return total - aliases + within(off)

    def _turned(self, turn: arb) -> arb:
        """Re Σ_n a_n e^{inθ}, θ = `turn`, by polynomials in e^{iθ} of some terms each."""
        once, total = acb(0, turn).exp(), arb(0)
        for i, block in enumerate(self._blocks):
            total += (block(once) * acb(0, i * _BLOCK_NODES * turn).exp()).real
        return total

    @cached_property
    def _blocks(self) -> list[acb_poly]:
        """The terms a_n in polynomials of `_BLOCK_NODES` each."""
        terms = self._terms
        return [acb_poly(terms[i : i + _BLOCK_NODES]) for i in range(0, len(terms), _BLOCK_NODES)]

    @cached_property
    def _terms(self) -> list[acb]:
        """φ(u)ᵗ/u² at the nodes, those off the axis twice."""
        terms = []
        for n in range(int(self.cost) + 1):
            u = acb(arb(self.real), n * self._spacing)
            terms.append(self.ratio.transform(u) ** self.count / (u * u) * (2 if n else 1))
        return terms

    @property
    def _spacing(self) -> arb:
        """2π/L, the distance of two nodes, L the length of the interval that holds S."""
        return 2 * arb.pi() / (self.count * self.ratio.width)

    @cached_property
    def _log_largest(self) -> float:
        """About log of the largest term."""
        with ctx.workprec(_LINE_BITS):
            return self._log_size(math.log(self.real))

    def _log_size(self, log_c: float) -> float:
        """About log of e^{cK}φ(c)ᵗ/c at a real c > 0."""
        u = arb(log_c).exp()
        size = u * self.place + self.count * self.ratio.transform(u).log() - u.log()
        return float(size.mid())

    @cached_property
    def real(self) -> float:
        """The c > 0 of the line, about where e^{cK}φ(c)ᵗ/c is least; any c gives a bound."""
        with ctx.workprec(_LINE_BITS):
            return math.exp(lowest(self._log_size, -math.log(self.count) / 2))

    # --- what is left out

    @cached_property
    def _left_out(self) -> tuple[float, arb]:
        """The number of the last node, ∞ for none, and a bound of those beyond it but for e^{cK}.

        |φ|² at c + iv has a second derivative of 2Var·φ(c)² at most, so it is little above its
        values at two places between them; far away it is at most (A + C/v)², by parts.
        """
        with ctx.workprec(_LINE_BITS):
            goal = arb(self.log_error - _PART_NATS).exp() / (arb(self.real) * self.place).exp()
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
        """A place v, and an upper bound (A + C/v)ᵗ/(πv) of Σ |φ|ᵗ/|u|² 2/L beyond it.

        The bound is ∞ where |φ| stays above what `goal` asks.
        """
        ratio, c = self.ratio, arb(self.real)
        low, high = (-c * ratio.low).exp(), (-c * ratio.high).exp()
        atoms, varies = (low + ratio.low * high) / 2, ratio.high * low / 2
        need = (goal.log() / self.count).exp()  # of |φ|
        if not need > atoms:
            return arb(1), arb("inf")
        v = ((varies / (need - atoms)).max(2 * self._spacing) * _FARTHER_FACTOR).mid()
        return v, (atoms + varies / v) ** self.count / (arb.pi() * (v - self._spacing))

    def _between(self, far: arb) -> list[tuple[arb, arb, arb]]:
        """(v, w, bound of |φ| from v to w) from the second node to a far place."""
        ratio, c = self.ratio, arb(self.real)
        most = ratio.transform(c)
        curved = ratio.variance * (-c * ratio.low).exp() * most  # at least Var·φ(c)²
        place, places = self._spacing.mid(), [(arb(0), most * most)]
        while place < far and len(places) < _MOST_PLACES:
            deadline.check()
            value = abs(ratio.transform(acb(c, place)))
            places.append((place, value * value))
            missing = (most * most - value * value) / curved
            place = (place + (missing.sqrt() if missing > 0 else place)).mid()
        places.append((far, abs(ratio.transform(acb(c, far))) ** 2))
        return [
            (v, w, (p.max(q) + curved * (w - v) ** 2 / 4).sqrt())
            for (v, p), (w, q) in itertools.pairwise(places[1:])
        ]


# --- moments
#
# E[S^z] of a sum S of t independent likelihood ratios of Laplace noise, at every real z, in balls.
#
# No ratio is below e^{−s}, so that e^{−uS} falls at least like e^{−ute^{−s}}; and at a complex u
# nothing is larger than at its real part (docs/proofs/allocations.md, Lemma laplace-ratio-moments).

#: Half the heights of a strip in radians that are tried, below π/2, where |φ| has its bound. The
#: best one saves time.
_STRIP_ANGLES = np.linspace(0.01, 1.0, 100) * 1.55
#: The sum has so many points at most, some seconds; more are refused by PrecisionError.
_MOST_NODES = 20_000


@dataclass(frozen=True, eq=False)
class LaplaceMoments(SumMoments):
    """Moments of a sum of `count` ratios of Laplace noise are computed to so many bits."""

    called = "ratios of Laplace noise"
    ratio: LaplaceRatio
    count: int
    bits: int

    def variable_moments(self, n: int) -> list[arb]:
        """E[W^k] of one ratio for k <= n, in balls."""
        return self.ratio.moments(n)

    def _integral(self, n: int, theta: arb) -> arb:
        """∫ e^{θx} E[Sⁿ e^{−e^x S}] dx by trapezoids in log u, until the rest is negligible.

        The sum's relative error is bounded by the strip. PrecisionError for too many points.
        """
        about, need = float(theta), self.bits + math.ceil(math.log2(self.count))
        widest, turned = max((self._spacing(d, about), d) for d in _STRIP_ANGLES.tolist())
        spacing = rounded_down(widest)
        h = arb(spacing)

        def term(j: int) -> arb:
            (power,) = self._powers(n, self.ratio.weighted(h * j, n, need))
            return (theta * h * j).exp() * power

        first = last = round(math.log(about / self.count) / spacing)
        total = end = term(first)
        (whole,) = self._powers(n, self.variable_moments(n))  # E[Sⁿ], which E[Sⁿe^{−uS}] is at most
        smallest = self.count * self.ratio.low
        while True:
            deadline.check()
            left = whole * geometric_tail((theta * h * (first - 1)).exp(), (-theta * h).exp())
            ratio = (theta * h - smallest * (h * last).exp() * h.expm1()).exp()
            right, rest = geometric_tail(end * ratio, ratio), arb(2) ** -self.bits * total
            if left < rest and right < rest:
                break
            if last - first > _MOST_NODES:
                raise PrecisionError(
                    f"a moment of {self.count} {self.called}: found more than {_MOST_NODES} "
                    "points to sum over, needed fewer digits, or more noise"
                )
            if not left < rest:
                total += term(first := first - 1)
            if not right < rest:
                total += (end := term(last := last + 1))
        off = 2 / (arb(turned).cos() ** theta * (2 * arb.pi() * arb(turned) / h).expm1())
        return h * (total + up_to(left) + up_to(right)) / (1 + within(off))

    def _spacing(self, turned: float, theta: float) -> float:
        """The spacing at which the sum is off by about as much as is wanted, in float64."""
        return 2 * math.pi * turned / (self._need - theta * math.log(math.cos(turned)))
