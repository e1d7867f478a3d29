"""Two densities on the line, the second sampled into the first, by pieces on which they are smooth.

On each piece a variable u runs over an interval: the distance T from one end of it, or log T far
out and next to where a density is singular. log q there is that of the density of u.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from flint import acb, arb, ctx

from symacct.analysis.densities import Side, doublings
from symacct.analysis.jets import ComplexBalls, Evaluator, Jet, JetsOfBalls
from symacct.kernel.arithmetic import BALL
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import ball
from symacct.mechanisms.pair import Overlap

_BEND = 64  # from this T on its logarithm is the variable


Ends = tuple[tuple[float, float], ...]


class ChartLogs(NamedTuple):
    """log q and the loss log(m/q), m = (1−γ)q + γp, each with its derivative."""

    q: Jet
    loss: Jet


@dataclass(frozen=True)
class Chart:
    """u on one side of a piece, T from `nearest` to `farthest`."""

    pair: DensityPair
    side: Side
    of_logarithm: bool
    nearest: Fraction
    farthest: Fraction

    @property
    def low(self) -> arb:
        """The least u, at flint's current precision."""
        return self._place(self.nearest)

    @property
    def high(self) -> arb:
        """The largest."""
        return self._place(self.farthest)

    def _place(self, distance: Fraction) -> arb:
        return ball(distance).log() if self.of_logarithm else ball(distance)

    @cached_property
    def _evaluators(self) -> list[Evaluator]:
        found = self.side.evaluators_for(None, self.of_logarithm)[:3]
        return [one for one in found if one is not None]  # both densities are positive

    def logs(self, u: acb, analytic: bool = False) -> ChartLogs:
        """At u; not finite where they are not known to be analytic, if `analytic`."""
        return self._logs(Jet(ComplexBalls(analytic), u, acb(1)))

    def logs_with_curvature(self, u: acb) -> ChartLogs:
        """At u, as jets whose values and slopes are jets: with second derivatives."""
        sort = JetsOfBalls()
        return self._logs(Jet(sort, Jet(sort.balls, u, acb(1)), sort.number(1)))

    def loss(self, u: acb) -> Jet:
        """The loss at u, alone."""
        return self._loss(Jet(ComplexBalls(), u, acb(1)))

    def _logs(self, x: Jet) -> ChartLogs:
        log_q, shift_q = self._evaluators[1], self.pair.shifts()[1]
        return ChartLogs(log_q(x) - x.sort.constant(shift_q), self._loss(x))

    def _loss(self, x: Jet) -> Jet:
        shift_p, shift_q = self.pair.shifts()
        return self._mixed(self._evaluators[2](x) + x.sort.constant(shift_q - shift_p))

    def _mixed(self, ratio: Jet) -> Jet:
        """log(1−γ+γe^ratio), the larger part in front."""
        gamma, sort = self.pair.gamma, ratio.sort
        if gamma == 1:
            return ratio
        lead = ratio + sort.constant(BALL.number(gamma).log())
        rest = sort.constant(BALL.number(1 - gamma).log())
        if not sort.leads(lead.value, rest.value):
            lead, rest = rest, lead
        mixed: Jet = lead + (sort.constant(arb(1)) + (rest - lead).exp()).log()
        return mixed

    def densities(self, u: acb, analytic: bool = False) -> tuple[Jet, Jet]:
        """log p and log q."""
        x = Jet(ComplexBalls(analytic), u, acb(1))
        found = [log(x) for log in self._evaluators[:2]]
        shifted = zip(found, self.pair.shifts(), strict=True)
        p, q = (Jet(x.sort, log.value - shift, log.slope) for log, shift in shifted)
        return p, q

    def logs_over(self, u: acb) -> list[acb]:
        """log q and the loss over the ball u, in mean value form where that is narrower."""
        return mean_values(self.logs, u)


def mean_values(logs: Callable[[acb, bool], Iterable[Jet]], u: acb) -> list[acb]:
    """Functions over the ball u, not finite where they are not known to be analytic."""
    middle = acb(u.real.mid(), u.imag.mid())
    values = []
    for over, centre in zip(logs(u, True), logs(middle, False), strict=True):
        mean = centre.value + over.slope * (u - middle)
        narrow = mean.is_finite() and mean.real.rad() < over.value.real.rad()
        values.append(mean if narrow and over.value.is_finite() else over.value)
    return values


@dataclass(frozen=True)
class DensityPair:
    """(1−γ)Q + γP against Q, of two densities that are positive on the same set."""

    overlap: Overlap
    gamma: Exact = Fraction(1)

    @property
    def sides(self) -> list[Side]:
        """The halves of the pieces."""
        return self.overlap.sides

    def shifts(self) -> tuple[arb, arb]:
        """The logarithms of the integrals of both kernels, to flint's current precision at least.

        Those known to more bits serve: an integral costs seconds where it has hundreds.
        """
        known = self._shifts
        enough = [bits for bits in known if bits >= ctx.prec]
        if not enough:
            known[ctx.prec] = self.overlap.log_totals(BALL)
            return known[ctx.prec]
        return known[min(enough)]

    @cached_property
    def _shifts(self) -> dict[int, tuple[arb, arb]]:
        return {}

    @cached_property
    def exchanged(self) -> DensityPair:
        """The two densities exchanged, at the rate 1."""
        return DensityPair(Overlap(self.overlap.Q, self.overlap.P))

    def charts(self, ends: Ends) -> tuple[list[Chart], arb]:
        """Charts beyond which at either end ∫ q(m/q)^a is below e^{log_tail}, for each of `ends`.

        a bound of what is beyond all of them.
        """
        found, left_out = [], arb(0)
        for side in self.sides:
            if side.is_regular:
                found.append(Chart(self, side, False, Fraction(0), Fraction(side.extent)))
                continue
            start = self._cut(side, ends)
            left_out += sum((self._tail(side, a, ball(start)) for a, _ in ends), arb(0))
            found.extend(self._up_to(side, start))
        return found, left_out

    def _up_to(self, side: Side, start: Fraction) -> Iterator[Chart]:
        if not side.is_infinite:
            yield Chart(self, side, True, 1 / start, Fraction(side.extent))
            return
        bend = min(start, Fraction(_BEND))
        yield Chart(self, side, False, Fraction(0), bend)
        if start > bend:
            yield Chart(self, side, True, bend, start)

    def _cut(self, side: Side, ends: Ends) -> Fraction:
        least = 1 if side.is_infinite else max(1, math.ceil(2 / side.extent))
        for doubling in doublings(least.bit_length()):
            start = arb(2) ** doubling
            if all(self._tail(side, a, start) < arb(log_tail).exp() for a, log_tail in ends):
                return Fraction(2) ** doubling
        raise PrecisionError(
            f"the exact profile: found no bound of the moment at order {ends[0][0]:.6g} that "
            "falls fast enough at an end, needed one"
        )

    def _tail(self, side: Side, a: float, start: arb) -> arb:
        """∫ q(m/q)^a beyond: (1−γ)q + γp^a q^{1−a} for a >= 1, (1−γ)^a q for a <= 0, γ < 1,

        (1−γ)^a q + γ^a p^a q^{1−a} between.
        """
        order, gamma = Fraction(a), BALL.number(self.gamma)
        rest = 1 - gamma
        if self.gamma == 1:
            bounds = [(arb(1), order, 1 - order)]
        elif a <= 0:
            bounds = [(rest ** arb(a), Fraction(0), Fraction(1))]
        else:
            power = arb(min(a, 1.0))
            bounds = [
                (rest**power, Fraction(0), Fraction(1)),
                (gamma**power, order, 1 - order),
            ]
        shift_p, shift_q = self.shifts()
        total = arb(0)
        for coefficient, b, c in bounds:
            scale = (-ball(b) * shift_p - ball(c) * shift_q).exp()
            total += coefficient * scale * side.tail(side.blend(b, c), start)
        return total
