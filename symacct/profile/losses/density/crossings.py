"""One run of a pair of densities: H_a(P‖Q) = ∫(p − aq)₊ between the places where p = aq."""

from __future__ import annotations

from collections.abc import Iterator

from flint import acb, arb, ctx

from symacct.analysis.densities import integrate
from symacct.kernel.arithmetic import BALL
from symacct.kernel.sums.balls import up_to, within
from symacct.profile.losses.density.charts import Chart, DensityPair, mean_values
from symacct.profile.roots import enclosed

_SPARE_BITS = 30  # of those asked for, for what cancels


def hockey_stick(pair: DensityPair, y: arb, reverse: bool) -> arb:
    """H_{e^y}((1−γ)Q + γP‖Q), or with the laws exchanged, from that of P and Q alone.

    γH_b(P‖Q) with b = (e^y−1+γ)/γ; exchanged (1−e^y(1−γ))H_c(Q‖P), c = γe^y/(1−e^y(1−γ)).
    """
    gamma, grown = BALL.number(pair.gamma), y.exp()
    scale = 1 - grown * (1 - gamma) if reverse else y.expm1() + gamma
    if not scale > 0:
        beyond = arb(0) if reverse else -y.expm1()
        return beyond if scale <= 0 else arb("0.5 +/- 0.5")
    if reverse:
        return scale * _surplus(pair.exchanged, (gamma * grown / scale).log())
    return gamma * _surplus(DensityPair(pair.overlap), (scale / gamma).log())


def _surplus(pair: DensityPair, y: arb) -> arb:
    """∫(p − e^y q)₊, at most ∫p beyond the charts."""
    tolerance = arb(2) ** (_SPARE_BITS - ctx.prec)
    charts, left_out = pair.charts(((1.0, float(tolerance.log().mid())),))
    total = up_to(left_out)
    for chart in charts:
        for low, high in _positive(chart, y, chart.low, chart.high, 0):
            total += _between(chart, y, low, high, tolerance)
    return total


def _between(chart: Chart, y: arb, low: arb, high: arb, tolerance: arb) -> arb:
    """∫(p − e^y q) from one exact point to another.

    What is left next to them is at most as long as their radii, times e^y q times how far p is from
    e^y q there.
    """

    def surplus(u: acb, analytic: bool) -> acb:
        if analytic:
            log_p, log_q = mean_values(chart.densities, u)
        else:
            log_p, log_q = (jet.value for jet in chart.densities(u))
        return log_p.exp() - (log_q + y).exp()

    value = integrate(surplus, low.mid(), high.mid(), tolerance)
    for end in (low, high):
        value += within(end.rad() * abs(surplus(acb(end), False)))
    return value


def _positive(chart: Chart, y: arb, low: arb, high: arb, depth: int) -> Iterator[tuple[arb, arb]]:
    """The intervals on which log(p/q) > y; what is not decided is an end of its own radius."""
    loss = chart.logs(acb(low.union(high))).loss
    value, slope = loss.value.real - y, loss.slope.real
    if value > 0:
        yield low, high
    elif value < 0:
        return
    elif slope > 0 or slope < 0:
        yield from _monotone(chart, y, low, high, bool(slope > 0))
    elif depth >= ctx.prec:
        yield low.union(high), low.union(high)
    else:
        middle = ((low + high) / 2).mid()
        yield from _positive(chart, y, low, middle, depth + 1)
        yield from _positive(chart, y, middle, high, depth + 1)


def _monotone(chart: Chart, y: arb, low: arb, high: arb, rises: bool) -> Iterator[tuple[arb, arb]]:
    """Of an interval on which the loss is monotone."""
    first, last = (_side(chart, y, end) for end in (low, high))
    if first == last == 1:
        yield low, high
    elif not first == last == -1:
        sign = 1 if rises else -1

        def falling(u: arb) -> arb:
            ratio: arb = (sign * (y - chart.loss(acb(u)).value.real)).exp()
            return ratio

        place = enclosed(falling, arb(1), (low, high))
        yield (place, high) if rises else (low, place)


def _side(chart: Chart, y: arb, u: arb) -> int:
    """1 where the loss is above y, −1 where it is below, 0 where balls can't decide it."""
    value = chart.loss(acb(u)).value.real - y
    return 1 if value > 0 else -1 if value < 0 else 0
