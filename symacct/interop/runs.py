"""Numbers of runs by their mean, as other accountants state them, and by γ."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.laws.families import TruncatedNegativeBinomial
from symacct.theory.amplification.ps22 import log_mean

_BITS = 128
_WIDTH = Fraction(1, 2**60)  # of what γ is known to, relatively


def mean(runs: TruncatedNegativeBinomial) -> arb:
    """E[K] as a ball."""
    value: arb = log_mean(BALL, runs).exp()
    return value


def mean_above(runs: TruncatedNegativeBinomial) -> Fraction:
    """A rational number a little above E[K]; for η = 1 it is 1/γ itself."""
    if runs.eta == 1:
        return Fraction(1 / runs.gamma)
    with precision(_BITS):
        return rational(mean(runs).upper())


def gamma_of_mean(eta: Fraction, wanted: Fraction) -> Fraction:
    """The γ whose law has this mean > 1, or one below it by at most 2^−60 of it.

    More runs are more likely then, and every bound is larger.
    """
    if eta == 1:
        return 1 / wanted
    low, high = Fraction(0), Fraction(1)
    with precision(_BITS):
        least = BALL.number(wanted)
        while high - low > low * _WIDTH:
            middle = (low + high) / 2
            if mean(TruncatedNegativeBinomial(eta, middle)) >= least:
                low = middle
            else:
                high = middle
    return low
