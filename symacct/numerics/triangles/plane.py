"""E[m^α n^{1−α}] − 1 by nodes that are equally far apart on a line, or in rows of a plane.

m = κ + γe^{a·x − |a|²/2}, n = κ + γe^{b·x − |b|²/2}, κ = 1 − γ, x ~ N(0, I), with a proved error
(docs/proofs.md, section 15), for every real α > 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from symacct.core import deadline
from symacct.core.errors import LimitError
from symacct.numerics.normal.magnitude import LOG2
from symacct.numerics.sums.refine import (
    ball,
    normal_tail,
    steered_by_floats,
    to_relative_accuracy,
    within,
)
from symacct.numerics.triangles.triple import Floats, Triple

_BOUND_BITS = 64
_MOST_NODES = 500_000
_MOST_WORK = 2**36  # nodes times the square of their bits: some ten seconds
_FLOAT_BITS = 46
_WIDEST_ANGLE = 3.1  # below π, where m and n may vanish
_TRIED = np.geomspace(1e-4, 60, 100)  # heights of the strips


@dataclass(frozen=True)
class PlaneRule:
    """Steps, heights of the strips (0 for a coordinate that is not used), the tolerance's log."""

    steps: tuple[float, float]
    heights: tuple[float, float]
    log_tolerance: float


@steered_by_floats
def line_excess(triple: Triple) -> arb:
    """E[m^α n^{1−α}] − 1 to the current precision, a and b on a line; 0 < γ < 1."""

    def evaluate(bits: int) -> arb:
        rule = plan(triple, bits)
        bound = BellMajorant.best(triple, rule.log_tolerance)
        rows = list(rows_of(rule, bound))
        working = _working_bits(triple, rule, len(rows))
        with ctx.workprec(working):
            moment = _weighted_sum(triple, rule, rows)
        with ctx.workprec(_BOUND_BITS):
            lost = bound.left_out(rule, rows)
            share = discretisation(triple, rule)
            if not share < 1:
                return arb.nan()
            error = (lost + share * abs(moment)) / (1 - share)
        with ctx.workprec(working):
            return moment - 1 + within(error)

    return to_relative_accuracy(evaluate)


@steered_by_floats
def line_log_excess(triple: Triple) -> float:
    """log(E[…] − 1) by the rule of so many digits, in float64: nothing is proved of it.

    What is summed, n(r^α − 1 − α(r−1)) with r = m/n, is at most m^α n^{1−α} + (α−1)n.
    """
    rule = plan(triple, _FLOAT_BITS)
    step, _ = rule.steps
    lam, places = ball(triple.alpha - 1), (arb(0), ball(triple.b))
    shares = (lam * (1 - ball(triple.gamma)), lam * ball(triple.gamma))
    more = (Bell(share.log(), (at, arb(0))) for share, at in zip(shares, places, strict=True))
    bound = BellMajorant((*BellMajorant.best(triple, rule.log_tolerance).bells, *more))
    rows = rows_of(rule, bound)
    z = np.array([i for i, _, _ in rows]) * step
    return triple.floats.log_block(z, np.zeros(1)) + math.log(step / math.sqrt(2 * math.pi))


def plan(triple: Triple, bits: int) -> PlaneRule:
    """The widest step whose bound meets 2^(−bits−3) of the excess."""
    log_excess = triple.floats.log_excess
    log_tolerance = log_excess - (bits + 3) * LOG2
    return widest(triple.floats, max(log_excess, 0.0) + math.log(8) - log_tolerance, log_tolerance)


def widest(f: Floats, need: float, log_tolerance: float) -> PlaneRule:
    """The rule with the fewest nodes whose strips' bound is about e^{−need}."""
    angle = abs(f.b) * _TRIED
    with np.errstate(invalid="ignore"):
        cost = need + _TRIED**2 / 2 - (f.alpha - 1) * np.log(np.cos(angle / 2))
    both = np.maximum(angle, abs(f.a) * _TRIED)
    best = int(np.argmax(np.where(both < _WIDEST_ANGLE, _TRIED / cost, -1.0)))
    height = float(_TRIED[best])
    return PlaneRule((height * 2 * math.pi / float(cost[best]), 1.0), (height, 0.0), log_tolerance)


def discretisation(triple: Triple, rule: PlaneRule) -> arb:
    """ρ with |h₁h₂ Σ f − ∫f| <= ρ ∫f."""
    places = ball(triple.a), ball(triple.b), arb(0)
    return shifted_planes(places, ball(triple.alpha - 1), rule)


def shifted_planes(places: tuple[arb, arb, arb], power: arb, rule: PlaneRule) -> arb:
    """ρ such that sums over nodes err by at most ρ∫|f|: Poisson's summation over shifted planes."""
    a, b, r = places
    first, second = (arb(h) for h in rule.heights)
    angle = abs(b) * first + r * second
    turned = abs(a) * first + r * second
    if not (angle < arb.pi() and turned < arb.pi()):
        return arb.pos_inf()
    growth = (first**2 + second**2) / 2 - power * (angle / 2).cos().log()
    aliases = arb(0)
    for step, height in zip(rule.steps, (first, second), strict=True):
        if height > 0:
            extra = 2 / (2 * arb.pi() * height / arb(step)).expm1()
            aliases += extra + aliases * extra
    return growth.exp() * aliases


@dataclass(frozen=True)
class Bell:
    """e^c times the normal density about (t₁, t₂) in the coordinates' float64 places."""

    log_factor: arb
    centre: tuple[arb, arb]

    def half_width(self, log_tolerance: float, away: float) -> float | None:
        """How far along a row, `away` from the centre, it exceeds the tolerance, if it does."""
        drop = float(self.log_factor.mid()) - log_tolerance - away * away / 2
        return math.sqrt(2 * drop) if drop > 0 else None


@dataclass(frozen=True)
class BellMajorant:
    """Bells whose sum is at least the integrand everywhere."""

    bells: tuple[Bell, ...]

    @classmethod
    def best(cls, triple: Triple, log_tolerance: float) -> BellMajorant:
        """The one, of some weights w, whose bells reach the least far."""
        alpha, kappa = float(triple.alpha), float(1 - triple.gamma)
        weights = {1 / 2, kappa, 1 - 1 / (2 * alpha), 1 - 1 / (8 * alpha)}
        logs = [math.log(w) for w in weights if 0 < w < 1]
        # Where the tolerance is large, the one at which the first bell is below it.
        logs.append(min(-LOG2, (10 - log_tolerance) / max(triple.floats.lam, 1e-200)))
        with ctx.workprec(_BOUND_BITS):
            found = [cls.weighted(triple, log_w) for log_w in logs]
        return min(found, key=lambda one: one.reach(log_tolerance))

    @classmethod
    def weighted(cls, triple: Triple, log_w: float) -> BellMajorant:
        """m^α <= w^{1−α}κ^α + (1−w)^{1−α}γ^αX^α, and n >= κ, or n >= γY where γ > 1/2."""
        alpha, gamma, r = ball(triple.alpha), ball(triple.gamma), ball(triple.rise).sqrt()
        lam = ball(triple.alpha - 1)
        a, b = (ball(triple.a), r), (ball(triple.b), r)
        flat = alpha * (1 - gamma).log() - lam * log_w
        tilted = alpha * gamma.log() - lam * (-arb(log_w).expm1()).log() - alpha * _square(a) / 2
        tilt = (alpha * a[0], alpha * a[1])
        if triple.gamma > Fraction(1, 2):
            share, back = lam * (_square(b) / 2 - gamma.log()), (-lam * b[0], -lam * b[1])
        else:
            share, back = -lam * (1 - gamma).log(), (arb(0), arb(0))
        ends = (back, (tilt[0] + back[0], tilt[1] + back[1]))
        logs = (flat + share, tilted + share)
        bells = tuple(Bell(c + _square(t) / 2, t) for c, t in zip(logs, ends, strict=True))
        return cls(bells)

    def reach(self, log_tolerance: float) -> float:
        """What grows with the number of nodes that count."""
        return sum(max(0.0, float(bell.log_factor.mid()) - log_tolerance) for bell in self.bells)

    def left_out(self, rule: PlaneRule, rows: list[tuple[int, int, int]]) -> arb:
        """A bound on h₁h₂ Σ f over the nodes that are in no row."""
        return sum((_outside(bell, rule, rows) for bell in self.bells), arb(0))


def _square(t: tuple[arb, arb]) -> arb:
    return t[0] ** 2 + t[1] ** 2


def rows_of(rule: PlaneRule, bound: BellMajorant) -> Iterator[tuple[int, int, int]]:
    """(i, first, last): nodes (i h₁, j h₂), first <= j < last, that may count; on a line one."""
    log_tolerance = rule.log_tolerance - 8
    step, across = rule.steps
    spans = [_span(bell, log_tolerance, step) for bell in bound.bells]
    flat, nodes = rule.heights[1] == 0, 0
    places = sorted({i for low, high in spans for i in range(low, high)} if flat else _hull(spans))
    for i in places:
        deadline.check()
        first, last = 0, 1
        if not flat:
            ends = list(_ends(i * step, bound, log_tolerance))
            if not ends:
                continue
            first = math.floor(min(a for a, _ in ends) / across)
            last = math.ceil(max(b for _, b in ends) / across) + 1
        nodes += last - first
        if nodes > _MOST_NODES:
            raise LimitError(
                f"a sampled Gaussian's integral: found more than {_MOST_NODES:,} nodes, which "
                "take too long",
                remedy="ask for a lower order, or for another theorem",
            )
        yield i, first, last


def _span(bell: Bell, log_tolerance: float, step: float) -> tuple[int, int]:
    """The nodes on a line at which the bell may count, from one to before another."""
    reach, centre = bell.half_width(log_tolerance, 0.0), float(bell.centre[0].mid())
    if reach is None:
        return 0, 0
    low, high = math.floor((centre - reach) / step), math.ceil((centre + reach) / step) + 1
    if high - low > _MOST_NODES:
        return low, low + _MOST_NODES + 1  # too many: refused when they are counted
    return low, high


def _hull(spans: list[tuple[int, int]]) -> range:
    """From the first to the last node of any span."""
    counted = [span for span in spans if span[0] < span[1]]
    return range(min(low for low, _ in counted), max(high for _, high in counted))


def _ends(z: float, bound: BellMajorant, log_tolerance: float) -> Iterator[tuple[float, float]]:
    for bell in bound.bells:
        reach = bell.half_width(log_tolerance, z - float(bell.centre[0].mid()))
        if reach is not None:
            centre = float(bell.centre[1].mid())
            yield centre - reach, centre + reach


def _outside(bell: Bell, rule: PlaneRule, rows: list[tuple[int, int, int]]) -> arb:
    """h₁h₂ Σ of a bell over the nodes in no row."""
    step, across = arb(rule.steps[0]), arb(rule.steps[1])
    if rule.heights[1] == 0:
        low, high = _span(bell, rule.log_tolerance - 8, rule.steps[0])
        if low == high:
            return bell.log_factor.exp() * (1 + step)
        sides = _tail(bell.centre[0] - step * low, step)
        return bell.log_factor.exp() * (sides + _tail(step * (high - 1) - bell.centre[0], step))
    whole, present = 1 + across, {i for i, _, _ in rows}
    first, last = rows[0][0], rows[-1][0]
    total = _tail(bell.centre[0] - step * first, step) * whole
    total += _tail(step * last - bell.centre[0], step) * whole
    for i in range(first, last + 1):
        if i not in present:
            total += step * _density(step * i - bell.centre[0]) * whole
    for i, low, high in rows:
        deadline.check()
        sides = _tail(bell.centre[1] - across * low, across)
        sides += _tail(across * (high - 1) - bell.centre[1], across)
        total += step * _density(step * i - bell.centre[0]) * sides
    return bell.log_factor.exp() * total


def _density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _tail(x: arb, step: arb) -> arb:
    """A bound on h Σ of the normal density over nodes from x + h on, at most 1 + h."""
    return normal_tail(x) if x > 0 else 1 + step


def _working_bits(triple: Triple, rule: PlaneRule, nodes: int) -> int:
    """Bits for an absolute error of the sum at the tolerance."""
    f = triple.floats
    exponent = f.alpha * (1 + (f.peak + 40) * math.sqrt(max(f.squares))) + (f.peak + 40) ** 2
    scale = max(f.log_excess, 0.0) - rule.log_tolerance
    bits = int(scale / LOG2 + math.log2(exponent * (nodes + 4))) + 10
    if nodes * bits**2 > _MOST_WORK:
        raise LimitError(
            f"a sampled Gaussian's integral: found {nodes:,} nodes of {bits:,} bits, which take "
            "too long",
            remedy="ask for a lower order, or for another theorem",
        )
    return bits


def _weighted_sum(triple: Triple, rule: PlaneRule, rows: list[tuple[int, int, int]]) -> arb:
    """h Σ f over the nodes of a line."""
    step, gamma, rest = Fraction(rule.steps[0]), ball(triple.gamma), ball(1 - triple.gamma)
    alpha, lam = ball(triple.alpha), ball(triple.alpha - 1)
    starts = [-(ball(t**2)) / 2 for t in (triple.a, triple.b)]
    slopes = [ball(t * step) for t in (triple.a, triple.b)]
    bend, total = ball(step * step / 2), arb(0)
    for i, _, _ in rows:
        deadline.check()
        m, n = (
            rest + gamma * (start + slope * i).exp()
            for start, slope in zip(starts, slopes, strict=True)
        )
        total += (alpha * m.log() - lam * n.log() - bend * (i * i)).exp()
    return total * ball(step) / (2 * arb.pi()).sqrt()
