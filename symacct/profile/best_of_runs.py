"""The profile of the best of a random number of runs, from that of one run.

With f(x) = E[x^K] and c at most f′(x′)/f′(x) for the chances x, x′ of one event under two
neighbours, H_a of the best is at most f′(1) H_{ac} of one run (docs/proofs.md, section 40).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

from flint import arb

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision, rational
from symacct.core.errors import LimitError, PrecisionError
from symacct.distributions.families import Poisson
from symacct.numerics.sums.refine import ball
from symacct.operations.repeat import Runs
from symacct.theory.amplification.ps22 import log_mean

_BITS = 64
_HALVINGS, _NEAR = 200, 16  # of a bracket: until it holds the least ratio, and then

#: ε >= 0 ↦ δ(ε) of one run, in a ball.
Delta = Callable[[Fraction], arb]


def mean(runs: Runs) -> arb:
    """E[K] = f′(1)."""
    return BALL.number(runs.rate) if isinstance(runs, Poisson) else log_mean(BALL, runs).exp()


def shift(runs: Runs, delta: Delta) -> Fraction:
    """A rational number that −log c is at most.

    Poisson: μ times the total variation. Else (1+η) log R of any R > 1 with
    H_R <= (R−1)γ/(1−γ), and the least one is about the best.
    """
    with precision(_BITS):
        if isinstance(runs, Poisson):
            return _above(BALL.number(runs.rate) * delta(Fraction(0)))
        odds = BALL.number(runs.gamma) / BALL.number(1 - runs.gamma)

        def is_enough(log_ratio: Fraction) -> bool:
            with suppress(PrecisionError, LimitError):
                return bool(delta(log_ratio) <= odds * ball(log_ratio).expm1())
            return False

        high = _above(-BALL.number(runs.gamma).log())  # there H_R <= 1 is
        low = Fraction(0)
        for _ in range(_HALVINGS):
            if not is_enough(high / 2):
                low = high / 2
                break
            high /= 2
        for _ in range(_NEAR):
            middle = (low + high) / 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return _above((1 + BALL.number(runs.eta)) * ball(high))


def _above(x: arb) -> Fraction:
    return rational(x.upper())
