"""Sums of the likelihood ratios of Laplace noise, on few nodes."""

import sys
from fractions import Fraction

from flint import arb

from tests.remainders.rows import mp, row


def one_ratio(place):
    """E(K − W)₊ of the ratio W of one run, s = 1."""
    between = mp.quad(
        lambda x: mp.exp(-x) / 2 * max(place - mp.exp(2 * x - 1), 0), [0, (1 + mp.log(place)) / 2]
    )
    return between + (place - mp.exp(-1)) / 2


@row("analysis.laplace_sums:on a hyperbola")
def laplace_on_few_nodes(m):
    ratio = sys.modules["symacct.analysis.laplace_sums"].LaplaceRatio(Fraction(1))
    for place in (0.5, 1, 2):
        for log_error in (1.0, 0.0, -1.0, -2.0, -4.0):
            yield m.Bent(ratio, 1, arb(place), log_error).value(arb(place)), one_ratio(place)


@row("analysis.laplace_sums:on a line")
def laplace_on_a_short_line(m):
    """Against the hyperbola, which has a row of its own."""
    ratio = sys.modules["symacct.analysis.laplace_sums"].LaplaceRatio(Fraction(1))
    bent = sys.modules["symacct.analysis.laplace_sums"]
    for place in (20, 30, 40):
        truth = bent.Bent(ratio, 30, arb(place), -40.0).value(arb(place))
        for log_error in (2.0, 0.0, -2.0, -4.0):
            line = m.Straight(ratio, 30, arb(place), log_error)
            yield line.value(arb(place)), mp.mpf(truth.mid().str(20, radius=False))
