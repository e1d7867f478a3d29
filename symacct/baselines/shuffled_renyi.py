"""Shuffled answers of local randomizers at Rényi orders: the divergence of the clones' two laws.

Given C = m − 1 clones the laws are those of k ~ Bin(m, ½), weighed by 2u and 2v, u = px + q(1−x),
v = qx + p(1−x), x = k/m, which k ↦ m − k exchanges; see `shuffle`. More clones tell less.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, fmpz

from symacct.arithmetic import BALL
from symacct.baselines.result import enclose
from symacct.baselines.shuffle import (
    Share,
    crowd,
    local_epsilon,
    of_any,
    of_responses,
    window,
)
from symacct.claims import ABOVE_ONE, REPLACE_ONE, Kind, Source
from symacct.enclosure import Bound
from symacct.errors import DomainError, OrderError, echo
from symacct.exact import INFINITY, Numeric, Order, order
from symacct.sources import FMT21, SYMACCT

_MOST_PEOPLE = 10_000  # their clones and outcomes are summed one by one


def shuffled_rdp(alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10) -> Bound:
    """ε(α) of the shuffled answers of n people, each by an ε₀-DP randomizer; α > 1, n <= 10,000.

    >>> print(shuffled_rdp(4, 1, 1000, digits=6))
    0.00464671
    """
    place = FMT21.at("the two laws of the clones, in the authors' program")
    return _curve(of_any, place, alpha, epsilon_0, n, digits)


def shuffled_responses_rdp(
    alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10
) -> Bound:
    """The same where all answer by randomized response; see `shuffled_responses`.

    >>> print(shuffled_responses_rdp(4, 1, 1000, digits=6))
    0.00317747
    """
    place = SYMACCT.at("docs/proofs.md, section 34")
    return _curve(of_responses, place, alpha, epsilon_0, n, digits)


def _curve(
    share: Share, source: Source, alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int
) -> Bound:
    at, local, count = order(alpha), local_epsilon(epsilon_0), crowd(n)
    if at in (1, INFINITY) or not isinstance(at, int | Fraction):
        raise OrderError(f"shuffled_rdp: found alpha = {echo(alpha)}, needed 1 < alpha < ∞")
    if count > _MOST_PEOPLE:
        raise DomainError(f"n: found {count:,}, needed n <= {_MOST_PEOPLE:,}")

    def value() -> arb:
        return (_mean(count, local, share(local), at) - 1).log1p() / BALL.number(at - 1)

    what = "shuffled answers at a Rényi order"
    return enclose(value, source, digits, what, Kind.UPPER, REPLACE_ONE, ABOVE_ONE)


def _mean(n: int, local: Fraction, kept: arb, alpha: Order) -> arb:
    """Σ_c P[C = c] E[(P/Q)^α | c], C ~ Bin(n−1, kept), with what lies outside of the window."""
    first, last = window(n - 1, kept)
    given = _Given(local, alpha)
    weight = arb(fmpz.bin_uiui(n - 1, first)) * kept**first * (1 - kept) ** (n - 1 - first)
    total, seen = arb(0), arb(0)
    for c in range(first, last + 1):
        total, seen = total + weight * given.moment(c + 1), seen + weight
        weight = weight * kept / (1 - kept) * (n - 1 - c) / (c + 1)
    left = (1 - seen).max(arb(0))
    return (total + left).union(total + left * given.most)


class _Given:
    """E[(P/Q)^α] given the number of clones."""

    def __init__(self, local: Fraction, alpha: Order) -> None:
        self.p = 1 / (1 + (-BALL.number(local)).exp())
        self.q = 1 / (1 + BALL.number(local).exp())
        self.alpha = BALL.number(alpha)
        self.most = self._of(self.p, self.q) + self._of(self.q, self.p)

    def _of(self, u: arb, v: arb) -> arb:
        """u^α v^{1−α}"""
        return v * (self.alpha * (u / v).log()).exp()

    def moment(self, m: int) -> arb:
        """Σ_k C(m, k) 2^{−m} 2u^α v^{1−α}, of k and m − k at once; the tails are at most `most`."""
        low = max(0, math.floor(m / 2 - math.sqrt(m * (BALL.bits + 2) * math.log(2) / 2)))
        mass = arb(fmpz.bin_uiui(m, low)) / arb(2) ** m
        total, seen = arb(0), arb(0)
        for k in range(low, m // 2 + 1):
            x = arb(k) / m
            u, v = self.p * x + self.q * (1 - x), self.q * x + self.p * (1 - x)
            twice = 1 if 2 * k == m else 2
            total += twice * mass * (self._of(u, v) + self._of(v, u))
            seen += twice * mass
            mass = mass * (m - k) / (k + 1)
        left = (1 - seen).max(arb(0))
        return (total + left).union(total + left * self.most)
