"""Finitely many outcomes: P = (1−γ)Q + γP₀ against Q, all losses atoms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb

from symacct import sizes
from symacct.arithmetic import BALL
from symacct.exact import Exact
from symacct.profile.part import Floats, Line


@dataclass(frozen=True)
class Atoms:
    """The exact masses (p, q) of every outcome, and the sampling rate `gamma` in (0, 1].

    F(z) = Σ q (p/q)^z over the outcomes that both laws have.
    """

    masses: tuple[tuple[Exact, Exact], ...]
    gamma: Exact = Fraction(1)

    @property
    def symmetric(self) -> bool:
        """Does a permutation of the outcomes exchange the two laws?"""
        laws = self.exact_laws()
        return Counter(laws) == Counter((q, p) for p, q in laws)

    @classmethod
    def joint(cls, runs: Iterable[tuple[Atoms, int]]) -> Atoms:
        """All the runs as one experiment; runs of one part are counted by outcome."""
        masses: tuple[tuple[Exact, Exact], ...] = ((Fraction(1), Fraction(1)),)
        for part, count in runs:
            own = part.exact_laws()
            for _ in range(count):
                sizes.check("outcomes", len(masses) * len(own), "outcomes of runs on one sample")
                masses = tuple((p * u, q * v) for p, q in masses for u, v in own)
        return cls(masses)

    def exact_laws(self) -> list[tuple[Exact, Exact]]:
        """(p, q) with p mixed, exactly."""
        return [((1 - self.gamma) * q + self.gamma * p, q) for p, q in self.masses]

    def sampled(self, gamma: Exact) -> Atoms:
        """The same with P mixed once more."""
        return Atoms(self.masses, self.gamma * gamma)

    def laws(self) -> list[tuple[arb, arb]]:
        """(p, q) with p mixed, in balls; one that is exactly 0 stays so."""
        gamma, rest = BALL.number(self.gamma), BALL.number(1 - self.gamma)
        pairs = [(BALL.number(p), BALL.number(q)) for p, q in self.masses]
        return [(rest * q + gamma * p, q) for p, q in pairs]

    def common(self) -> list[tuple[arb, arb]]:
        """(q, log(p/q)) for the outcomes that both laws have."""
        return [(q, (p / q).log()) for p, q in self.laws() if p != 0 and q != 0]

    def steer(self, orders: Floats) -> tuple[Floats, Floats]:
        weights, losses = self._floats()
        exponent = orders[:, None] * losses + np.log(weights)
        top = exponent.max(axis=1)
        share = np.exp(exponent - top[:, None])
        total = share.sum(axis=1)
        mean = share @ losses / total
        spread = share @ losses**2 / total - mean**2
        return np.log(total) + top, np.maximum(spread, 0.0)

    def _floats(self) -> tuple[Floats, Floats]:
        common = self.common()
        return np.array([float(q) for q, _ in common]), np.array([float(l) for _, l in common])

    def log_decay(self, a: float, t: float) -> float:
        return float(self.steer(np.array([a]))[0][0])

    def values(self, line: Line) -> Floats:
        weights, losses = self._floats()
        z = line.a + 1j * line.h * np.arange(line.last + 1)
        return np.asarray(np.exp(z[:, None] * losses) @ weights)

    def transform(self, line: Line, need: float) -> list[acb]:
        common = self.common()
        orders = (acb(arb(line.a), arb(line.h) * n) for n in range(line.last + 1))
        return [sum((q * (z * loss).exp() for q, loss in common), acb(0)) for z in orders]

    def decay(self, a: float, t: float, slack: float) -> arb:
        """log F(a): atoms do not decay, the other parts must."""
        return sum((q * (arb(a) * loss).exp() for q, loss in self.common()), arb(0)).log()

    def hockey_stick(self, y: arb) -> arb:
        """Σ (p − e^y q)₊, in which a term that balls cannot decide the sign of may be near 0."""
        grown = y.exp()
        zero = arb(0)
        return sum(((p - grown * q).max(zero) for p, q in self.laws()), zero)

    def largest(self, reverse: bool) -> arb:
        losses = [-loss if reverse else loss for _, loss in self.common()]
        most = losses[0]
        for loss in losses[1:]:
            most = most.max(loss)
        return most

    def lost(self, reverse: bool) -> arb:
        pairs = [(q, p) if reverse else (p, q) for p, q in self.laws()]
        return sum((p for p, q in pairs if q == 0), arb(0))


def binary_profile(part: Atoms, count: int, y: arb, reverse: bool) -> arb:
    """D(y) of `count` runs of two outcomes with losses l₀ > l₁:

    I_{p₀}(j, k−j+1) − e^y I_{q₀}(j, k−j+1), j the least number of l₀ whose total loss is above y.
    Where y is on an atom either j is right, for D is continuous.
    """
    pairs = [(q, p) if reverse else (p, q) for p, q in part.laws()]
    (p0, q0), (p1, q1) = sorted(pairs, key=lambda pair: -float((pair[0] / pair[1]).log().mid()))
    high, low = (p0 / q0).log(), (p1 / q1).log()
    first = (y - count * low) / (high - low)
    least = math.floor(float(first.mid())) + 1 if not (whole := _floor(first)) else whole + 1
    if least <= 0:
        return -y.expm1()
    if least > count:
        return arb(0)
    return _tail(p0, count, least) - y.exp() * _tail(q0, count, least)


def _floor(x: arb) -> int | None:
    """⌊x⌋, where balls decide it."""
    found = x.floor().unique_fmpz()
    return None if found is None else int(found)


def _tail(p: arb, count: int, least: int) -> arb:
    """P(Binomial(count, p) >= least)."""
    return p.beta_lower(arb(least), arb(count - least + 1), 1)
