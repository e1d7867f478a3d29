"""Pairs of densities on the line, sampled or not: moments by Gauss's rule on charts.

F(z) = ∫ q(m/q)^z, m = (1−γ)q + γp (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from flint import acb, arb, ctx

from symacct.analysis.densities import largest_log_ratio
from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import float_above
from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.exact import INFINITY, Exact, sympy
from symacct.kernel.sums.balls import legendre, up_to
from symacct.laws.law import Law
from symacct.profile.losses.density import by_parts
from symacct.profile.losses.density.charts import Chart, DensityPair
from symacct.profile.losses.density.crossings import hockey_stick
from symacct.profile.losses.density.monotone_mixture import monotone_mixture
from symacct.profile.losses.summed import Sample, SummedLoss
from symacct.profile.part import Floats, OrderLine, Part
from symacct.profile.proofs import DENSITIES
from symacct.profile.sums.tail_maximum import End
from symacct.profile.written_laws import Write, WrittenLaws, mixed

_BOUND_BITS = 64
RHO = 2.5  # half-axes' sum of a panel's ellipse
_AXES = (RHO + 1 / RHO) / 2, (RHO - 1 / RHO) / 2
_ARCS = 8  # of half of it
_GROWTH = 48.0  # nats of what is integrated, in the ellipse of a panel, else it is halved
_MOST_PANELS = 1500
_NEAR = 2.0**-10  # t that nothing has fallen at
_FALLEN = 1.0  # nats, of which F by parts is told well enough
_STEER_NEED = 20.0
_SPARE = 6.0
_NOTHING = -1e9  # log of it
_STEP_OF_REACH = 16  # beyond which orders are told apart coarsely


@dataclass(frozen=True)
class Panel:
    """An interval of a chart; log of a bound of the integrand in its ellipse, over its size."""

    chart: Chart
    low: arb
    high: arb
    log_most: float

    def nodes(self, need: float) -> int:
        """How many Gauss's rule takes for an error of e^{−need} of the integral, about."""
        half = float(((self.high - self.low) / 2).mid())
        drop = self.log_most + math.log(5 * half / (1 - RHO**-2)) + need
        return max(2, math.ceil(drop / (2 * math.log(RHO))))

    @property
    def ends(self) -> tuple[arb, arb]:
        """Low and high, those of the chart at flint's current precision; the others are exact."""
        low = self.low if self.low.is_exact() else self.chart.low
        return low, self.high if self.high.is_exact() else self.chart.high

    def most(self, size: float) -> arb:
        """The bound itself."""
        return (arb(self.log_most) + size + arb(2) ** -20).exp()

    def most_of_loss(self) -> arb:
        """A bound of |L| in the ellipse."""
        return abs(self.chart.logs_over(_box(*self.ends))[1])

    def quadrature_error(self, count: int, size: float) -> arb:
        """What it is off by with so many nodes, as in `laplace._sample`."""
        rho, most = arb(RHO), self.most(size)
        half = (self.high - self.low) / 2
        return arb(64) / 15 * half * most * rho ** (-2 * count) / (1 - rho**-2)


class Pieces(NamedTuple):
    """Panels, a bound of what is left out beyond them, and the size that their bounds are over."""

    panels: list[Panel]
    left_out: arb
    size: float


@dataclass(frozen=True)
class DensityLoss(SummedLoss):
    """The pair and its rate."""

    pair: DensityPair

    is_density = True
    decays_slowly = True
    proof = DENSITIES

    @property
    def symmetric(self) -> bool:
        """Does a known involution exchange the two laws?"""
        P, Q = self.pair.overlap.P, self.pair.overlap.Q  # noqa: N806
        return self.pair.gamma == 1 and type(P) is type(Q) and P.is_swapped_with(Q)

    @property
    def exchanged(self) -> Part | None:
        """(Q, P), where nothing is sampled."""
        if self.symmetric or self.pair.gamma != 1:
            return super().exchanged
        return DensityLoss(self.pair.exchanged)

    def sampled(self, gamma: Exact) -> DensityLoss:
        return DensityLoss(DensityPair(self.pair.overlap, self.pair.gamma * gamma))

    def density_pairs(self, reverse: bool) -> Sequence[tuple[DensityLoss, tuple[bool, ...]]]:
        return [(self, (reverse,))]

    # --- float64: where to look

    def floats(self, least: float, most: float) -> tuple[Floats, Floats]:
        known = monotone_mixture(self.pair)
        return (
            known.floats(least, most) if known else _floats(self, (_coarse(least), _coarse(most)))
        )

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        return sum(
            panel.nodes(need + _SPARE)
            for panel in _panels(self, (line.a,), line.h * line.last, need)[0]
        )

    def sample(self, a: float, far: float, need: float) -> Sample:
        return _sample(self, a, far, need, ctx.prec)

    def decay_constants(self, a: float, moment: arb) -> list[End]:
        return _ends(self, a)

    def log_decay(self, a: float, t: float) -> float:
        log_moment, (constants, falling) = _log_size(self, a), _float_ends(self, a)
        far = math.log(float((constants + falling / max(t, _NEAR)).min()))
        return far if far < log_moment - _FALLEN else super().log_decay(a, t)

    def decay(self, a: float, t: float, slack: float) -> arb:
        """As for all sums; by parts alone, where that shows that much has fallen."""
        if t > _NEAR:
            far: arb = min((near + falling / arb(t) for near, falling in _ends(self, a)), key=float)
            if far.log() < _log_size(self, a) - _FALLEN:
                return far.log()
        return super().decay(a, t, slack)

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        if known := monotone_mixture(self.pair):
            return known.hockey_stick(y, reverse)
        left = self.largest(reverse) - y
        if left > 0:
            return hockey_stick(self.pair, y, reverse)
        return up_to(left.max(arb(0)))  # for −D′ <= 1

    def largest(self, reverse: bool) -> arb:
        known = monotone_mixture(self.pair)
        return known.largest(reverse) if known else _largest(self, reverse, ctx.prec)

    def in_latex(self, write: Write) -> WrittenLaws | None:
        on, off = (_written(law, write) for law in (self.pair.overlap.P, self.pair.overlap.Q))
        if on is None or off is None:
            return None
        words = (r"$c$ stands for what makes the total of each law 1",)
        return WrittenLaws(mixed(self.pair.gamma, on, off, write), off, words)

    def mass_at_infinity(self, reverse: bool) -> Exact:
        return Fraction(0)


def _written(law: Law, write: Write) -> str | None:
    if law.kernel is None or law.kernel.cuts[0] != -INFINITY or law.kernel.cuts[-1] != INFINITY:
        return None
    return rf"c \, {write(sympy.exp(law.kernel.log))} \, dx"


@lru_cache(64)
def _largest(part: DensityLoss, reverse: bool, bits: int) -> arb:
    """log(1−γ+γe^s), s the supremum of log(p/q); ∞ where none is proved.

    Exchanged −log(1−γ+γe^{−s}), s that of log(q/p), which is at most −log(1−γ).
    """
    pair = part.pair.exchanged if reverse else part.pair
    gamma = BALL.number(part.pair.gamma)
    most = -(1 - gamma).log() if reverse and part.pair.gamma != 1 else arb("inf")
    try:
        with ctx.workprec(2 * bits):  # limits at the ends are found to `bits`
            found = largest_log_ratio(pair.sides, bits)
    except PrecisionError:
        return up_to(most) if most.is_finite() else most
    if not found.is_finite():
        return most
    shift_p, shift_q = pair.shifts()
    found += shift_q - shift_p
    if reverse:
        return -(gamma * (-found).expm1()).log1p()
    return (gamma * found.expm1()).log1p()


@lru_cache(256)
def _log_size(part: DensityLoss, a: float) -> float:
    """About log F(a): the largest T q(m/q)^a at some places."""
    with ctx.workprec(_BOUND_BITS):
        return max(q + a * loss for q, loss in _places(part.pair))


@lru_cache(32)
def _places(pair: DensityPair) -> list[tuple[float, float]]:
    """log(Tq) and the loss at T = 2^{k/4}, on all sides."""
    found = []
    for side in pair.sides:
        chart = Chart(pair, side, False, Fraction(0), Fraction(0))
        for k in range(-40, 48):
            if 2 ** (k / 4) <= side.extent:
                logs = chart.logs(acb(2.0 ** (k / 4)))
                q, loss = float(logs.q.value.real.mid()), float(logs.loss.value.real.mid())
                if math.isfinite(q) and math.isfinite(loss):
                    found.append((q + k / 4 * math.log(2), loss))
    return found


@lru_cache(16)
def pieces(part: DensityLoss, need: float) -> Pieces:
    """Panels beyond which m and q have masses of about e^{−need}."""
    panels, left_out = _panels(part, (0.0, 1.0), 0.0, need)
    with ctx.workprec(_BOUND_BITS):
        sizes = tuple((a, _log_size(part, a)) for a in (0.0, 1.0))
        found = [
            replace(one, log_most=_log_most(one.chart, sizes, 0.0, one.low, one.high))
            for one in panels
        ]
    return Pieces(found, left_out, max(size for _, size in sizes))


@lru_cache(64)
def _panels(
    part: DensityLoss, orders: tuple[float, ...], far: float, need: float
) -> tuple[list[Panel], arb]:
    """Panels on which some nodes do at every order, |t| <= far, and what they leave out."""
    with ctx.workprec(_BOUND_BITS):
        sizes = tuple((a, _log_size(part, a)) for a in orders)
        ends = tuple((a, size - need - 4) for a, size in sizes)
        charts, left_out = part.pair.charts(ends)
        pending, found = [(chart, chart.low, chart.high) for chart in charts], []
        while pending:
            deadline.check()
            chart, low, high = pending.pop()
            panel = Panel(chart, low, high, _log_most(chart, sizes, far, low, high))
            if panel.log_most <= _GROWTH:
                found.append(panel)
                continue
            if len(pending) + len(found) > _MOST_PANELS:
                raise LimitError(
                    f"the exact profile: found more than {_MOST_PANELS} pieces of a density to "
                    "integrate over, needed fewer digits or smoother laws"
                )
            middle = ((low + high) / 2).mid()
            pending += [(chart, middle, high), (chart, low, middle)]  # the lower one first
        return found, left_out


def _log_most(
    chart: Chart, sizes: tuple[tuple[float, float], ...], far: float, low: arb, high: arb
) -> float:
    """log of a bound of q|m/q|^a e^{t|Im|} in the ellipse over the integral, for all the orders.

    Within a box about it both logarithms are analytic, so the largest value is on its edge, and
    the lower half is the conjugate of the upper one.
    """
    middle, half = (low + high) / 2, (high - low) / 2
    flat, steep = _AXES
    if not all(part.is_finite() for part in chart.logs_over(_box(low, high))):
        return math.inf
    most = _NOTHING
    for arc in range(_ARCS):
        angle = arb.pi() * arb(arc).union(arb(arc + 1)) / _ARCS
        place = acb(middle + half * flat * angle.cos(), half * steep * angle.sin())
        log_q, loss = chart.logs_over(place)
        turned = abs(loss.imag) * far
        for a, size in sizes:
            found = float_above(log_q.real + a * loss.real + turned - size)
            if math.isnan(found):
                return math.inf
            most = max(most, found)
    return most


def _box(low: arb, high: arb) -> acb:
    """About the ellipse over an interval."""
    middle, half = (low + high) / 2, (high - low) / 2
    return acb(middle + half * arb(0, _AXES[0]), half * arb(0, _AXES[1]))


@lru_cache(16)
def _sample(part: DensityLoss, a: float, far: float, need: float, bits: int) -> Sample:
    panels, left_out = _panels(part, (a,), far, need)
    size, error = _log_size(part, a), left_out
    losses, weights = [], []
    for panel in panels:
        count = panel.nodes(need + _SPARE)
        error += panel.quadrature_error(count, size)
        for log_q, loss, weight in _nodes(panel, count):
            losses.append(loss)
            weights.append(weight * (log_q + arb(a) * loss).exp())
    return Sample(losses, weights, error)


def _nodes(panel: Panel, count: int) -> Iterator[tuple[arb, arb, arb]]:
    """log q, the loss and the weight at each node, at flint's current precision."""
    low, high = panel.ends
    middle, half = (low + high) / 2, (high - low) / 2
    for u, weight in legendre(count, ctx.prec):
        logs = panel.chart.logs(acb(middle + half * u))
        yield logs.q.value.real, logs.loss.value.real, half * weight


def _coarse(order: float) -> float:
    """One further out, by powers of some size."""
    if abs(order) <= _STEP_OF_REACH:
        return order
    reach = float(_STEP_OF_REACH) ** math.ceil(math.log(abs(order), _STEP_OF_REACH))
    return math.copysign(reach, order)


@lru_cache(32)
def _floats(part: DensityLoss, ends: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Nodes for the orders from one to another, 0 and 1 between them."""
    orders = tuple(sorted({0.0, 1.0, *ends}))
    try:
        panels, _ = _panels(part, orders, 0.0, _STEER_NEED)
    except PrecisionError as error:
        raise LimitError(error.finding, remedy=error.remedy) from error
    with ctx.workprec(_BOUND_BITS):
        rows = [
            (float((log_q + weight.log()).mid()), float(loss.mid()))
            for panel in panels
            for log_q, loss, weight in _nodes(panel, panel.nodes(_STEER_NEED))
        ]
    log_weights, losses = np.array(rows).T
    return log_weights, losses


@lru_cache(32)
def _ends(part: DensityLoss, a: float) -> list[End]:
    """(A, C) with |F(a+it)| <= A + C/t."""
    with ctx.workprec(_BOUND_BITS):
        size = _log_size(part, a)
        charts, left_out = part.pair.charts(((a, size - _STEER_NEED - 4),))
        return by_parts.ends(charts, a, left_out, arb(size).exp())


@lru_cache(32)
def _float_ends(part: DensityLoss, a: float) -> tuple[Floats, Floats]:
    """All A and all C of `_ends`, in float64."""
    constants, falling = zip(*_ends(part, a), strict=True)
    return np.array([float(x) for x in constants]), np.array([float(x) for x in falling])
