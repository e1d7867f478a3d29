"""What sampling makes of a pair of densities, in float64 on nodes that all orders share.

Orders are compared by it, and no answer rests on it: nothing is said of how far it is off.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from symacct.arithmetic import FLOAT64, LogNumber
from symacct.arithmetic.ball import precision
from symacct.numerics.densities.jets import real_value
from symacct.numerics.densities.sides import Side

_BITS = 64
_REACH = 5.0  # of the double exponential rule, on both sides of 0
_FIRST, _LAST = 64, 4096  # steps of the coarsest and of the finest rule
_NOTHING = np.array([[-np.inf], [-np.inf], [0.0]])  # where a logarithm is not known
_ALIKE = 1e-13  # the difference of two logarithms of which the finer one is taken


@dataclass(frozen=True)
class DensityNodes:
    """log(p/q) and the logarithms of q's weights, both densities summing to 1."""

    log_ratio: np.ndarray
    log_weight: np.ndarray

    def log_excess(self, gamma: float, power: float) -> float:
        """log(E_Q[(m/q)^β] − 1), m = (1−γ)q + γp, for β > 1 or β < 0."""
        numbers = (FLOAT64.number(np.asarray(x)) for x in (gamma, self.log_ratio, power - 1))
        gap = FLOAT64.power_gap(*numbers)
        return float((LogNumber(1.0, self.log_weight) * gap).total().log)


class Rules:
    """Rules of more and more nodes over the sides of two densities that are positive together."""

    def __init__(self, sides: Iterable[Side]) -> None:
        self.sides = list(sides)
        #: Up to which power of p/q its mean is known to be finite.
        self.finite_to = Fraction(1)
        self._known: dict[int, DensityNodes] = {}

    def log_excess(self, gamma: float, power: float) -> float:
        """By the first rule that says the same as the one before it, or by the last."""
        before = math.nan
        for steps in (2**k for k in range(_FIRST.bit_length() - 1, _LAST.bit_length())):
            value = self.nodes(steps).log_excess(gamma, power)
            if abs(value - before) <= _ALIKE * max(1.0, abs(value)):
                break
            before = value
        return value

    def nodes(self, steps: int) -> DensityNodes:
        """The rule of so many steps on each side."""
        if steps not in self._known:
            with precision(_BITS):
                parts = [_on(side, steps) for side in self.sides]
            log_p, log_q, log_ratio = np.concatenate(parts, axis=1)
            off = _log_total(log_p) - _log_total(log_q)
            self._known[steps] = DensityNodes(log_ratio - off, log_q - _log_total(log_q))
        return self._known[steps]


def _log_total(logs: np.ndarray) -> float:
    """log Σ e^x"""
    top = logs.max()
    return float(top + np.log(np.exp(logs - top).sum()))


def _on(side: Side, steps: int) -> np.ndarray:
    """log p and log q with the rule's weights, and log(p/q), at its nodes."""
    s = _REACH * ((2 * np.arange(steps) + 1) / steps - 1)
    if side.is_infinite:
        log_place = np.pi / 2 * np.sinh(s)
        log_weight = log_place + np.log(np.pi / 2 * np.cosh(s))
    else:
        away = np.pi * np.sinh(s)
        log_place = math.log(side.extent) - np.logaddexp(0.0, -away)
        log_weight = log_place - np.logaddexp(0.0, away) + np.log(np.pi * np.cosh(s))
    places = [arb(x).exp() for x in log_place]
    logs = np.array([[float(real_value(at, y)) for y in places] for at in side.evaluators if at])
    logs[:2] += log_weight
    return np.where(np.isfinite(logs).all(axis=0), logs, _NOTHING)
