"""The noise and the threshold together, for which sums released by key are (ε, δ)-DP."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symacct.explore.calibration import calibrate, number
from symacct.kernel import deadline, parameters
from symacct.kernel.answer import Guarantee, to_fraction
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, InfiniteError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node
from symacct.kernel.parameters import given_delta, probability, rational
from symacct.kernel.sums.halving import golden_least
from symacct.operations import Failing, least_threshold, thresholded
from symacct.operations.thresholded import noise_of_keys, of_one_sum

#: The function's name in errors.
_NAME = "calibrate_thresholded"
#: The share of δ is looked for by golden sections of log(share/(1−share)) between these, about 1
#: in 10⁴ and all but 1 in 1000; so many of them. They steer: each share gives a proved answer.
_SHARES = (-9.0, 7.0)
_SECTIONS = 12
#: Significant digits of the noise and the threshold while the share is looked for, and of it.
_FEW_DIGITS = 4
_SHARE_DIGITS = 3


@dataclass(frozen=True)
class ThresholdCalibration:
    """The noise of one sum and the threshold that meet (ε, δ), with what is proved of both.

    `m` is the `thresholded` expression.
    """

    noise: Node
    threshold: Fraction
    m: Node
    guarantee: Guarantee

    def __str__(self) -> str:
        return f"{self.noise}, threshold {number(self.threshold)}\n  {self.guarantee}"

    def as_dict(self) -> dict[str, Any]:
        """The noise, the threshold and the guarantee for JSON."""
        return {
            "noise": repr(self.noise),
            "threshold": number(self.threshold),
            "expression": repr(self.m),
            "guarantee": self.guarantee.as_dict(),
        }


@progress("threshold")
def calibrate_thresholded(
    noise: Node,
    epsilon: Numeric,
    delta: Numeric,
    *,
    keys: Numeric = 1,
    contribution: Numeric = 1,
    strict: bool = True,
    share: Numeric | None = None,
    digits: int = 6,
    conversion: str = "exact",
) -> ThresholdCalibration:
    """Find the least threshold, with its noise, for which sums released by key are (ε, δ)-DP.

    `noise` is that of one sum, and `keys`, `contribution` and `strict` are those of `thresholded`.
    If its scale is left open, as in `Gaussian(sympy.Symbol("sigma"))`, the noise is found too: a
    `share` of `delta` is for keys of one user, and the rest for the noise. Less of it asks for a
    larger threshold, more of it for more noise. By default the share is looked for at which the
    threshold is smallest, which it nearly is; what is proved holds for any. The noise is the least
    for its part, as `calibrate` finds it. Both have `digits` significant digits, and ε is proved by
    the `conversion`. Raises InfiniteError if the noise alone costs more than (ε, δ), and the errors
    of `calibrate` and of `thresholded`. `epsilon` is in nats.

    >>> import sympy
    >>> from symacct import Laplace
    >>> found = calibrate_thresholded(Laplace(sympy.Symbol("b")), 1, "1e-6", share="1/2", digits=3)
    >>> print(found.noise, float(found.threshold), found.guarantee.epsilon)
    Laplace(1) 14.82 1.00
    """
    sums, moved = of_one_sum(noise, keys, contribution, _NAME)
    symbols, target, total = noise.free_symbols, rational(epsilon, "epsilon"), given_delta(delta)
    if len(symbols) > 1 or total == 0:
        raise DomainError(
            f"{_NAME}: found {echo(noise)} and delta = {echo(delta)}, needed at most one scale "
            'left open, such as Laplace(sympy.Symbol("b")), and a δ above 0'
        )
    digits = parameters.digits(digits)

    def threshold_of(summed: Node, most: Fraction, digits: int) -> Fraction:
        """The threshold that keys of one user pass with probability at most `most`."""
        return least_threshold(summed, most, sums, moved, strict, digits)

    def at(share: Fraction, digits: int) -> tuple[Node, Fraction]:
        """The noise and the threshold for this share of δ."""
        deadline.check()
        m = Failing(noise_of_keys(noise, sums, moved), share * total)
        scale = calibrate(m, target, total, digits=digits, conversion=conversion).meets
        summed = noise.subs(dict.fromkeys(symbols, scale))
        return summed, threshold_of(summed, share * total, digits)

    if not symbols:
        left = _left(noise_of_keys(noise, sums, moved), target, total, conversion)
        summed, tau = noise, threshold_of(noise, left, digits)
    elif share is None:
        part = _least(lambda share: at(share, min(digits, _FEW_DIGITS))[1])
        summed, tau = at(part, digits)
    else:
        given = rational(probability(share, f"{_NAME}, share"), f"{_NAME}, share")
        summed, tau = at(given, digits)
    m = thresholded(summed, tau, sums, moved, strict)
    return ThresholdCalibration(summed, tau, m, m.epsilon(total, digits, conversion))


def _left(m: Node, epsilon: Fraction, delta: Fraction, conversion: str) -> Fraction:
    """The part of δ that m leaves at ε: 1 − (1−δ)/(1−δ₀), δ₀ its own δ(ε), rounded up.

    InfiniteError where it leaves none.
    """
    spent = to_fraction(m.delta(epsilon, conversion=conversion).delta.upper)
    if spent >= delta:
        raise InfiniteError(
            f"{_NAME}: found noise that costs more than ε = {echo(epsilon)} at δ = {echo(delta)} "
            "without any threshold, needed more noise"
        )
    return 1 - (1 - delta) / (1 - spent)


def _least(threshold: Callable[[Fraction], Fraction]) -> Fraction:
    """About the share at which the threshold is least, by golden sections; it steers."""

    def share(x: float) -> Fraction:
        return Fraction(f"{1 / (1 + math.exp(-x)):.{_SHARE_DIGITS}g}")

    return share(golden_least(*_SHARES, lambda x: threshold(share(x)), _SECTIONS)[0])
