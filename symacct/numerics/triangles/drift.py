"""How E[T] changes along B, T = X^p Y^q m^μ n^{−ν} x^a y^b, x = γX/m, y = γY/n.

log X ~ N(−A/2, A), log Y ~ N(−B/2, B), covariance B/2: by the heat equation dE[T]/dB = E[LT], L =
½(Y²∂²/∂Y² + XY∂²/∂X∂Y) = ½((Y∂_Y)² − Y∂_Y + X∂_X Y∂_Y).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from symacct.numerics.triangles.lattice import Power

#: Σ factor·T
Powers = dict[Power, Fraction]


@dataclass(frozen=True)
class Drift:
    """L, for one μ and ν."""

    mu: Fraction
    nu: Fraction

    def of(self, powers: Powers) -> Powers:
        """L of the sum."""
        once = _gathered(self._along_y(powers))
        halved = {power: factor / 2 for power, factor in once.items()}
        back = {power: -factor for power, factor in halved.items()}
        return _gathered([*self._along_y(halved), *back.items(), *self._along_x(halved)])

    def _along_x(self, powers: Powers) -> Iterator[tuple[Power, Fraction]]:
        """By X∂_X T = (p + a + (μ−a)x)T."""
        for power, factor in powers.items():
            yield power, (power.p + power.a) * factor
            yield power._replace(a=power.a + 1), (self.mu - power.a) * factor

    def _along_y(self, powers: Powers) -> Iterator[tuple[Power, Fraction]]:
        """By Y∂_Y T = (q + b − (ν+b)y)T."""
        for power, factor in powers.items():
            yield power, (power.q + power.b) * factor
            yield power._replace(b=power.b + 1), -(self.nu + power.b) * factor

    def least(self, power: Power) -> Fraction:
        """At most LT/T everywhere, and at most 0."""
        return _least(self.mu, self.nu, power)


@lru_cache(maxsize=1024)
def _least(mu: Fraction, nu: Fraction, power: Power) -> Fraction:
    """At most LT/T for one power, and at most 0, from its formula in z and s.

    With z = (Y∂_Y T)/T = j − ky, s = (X∂_X T)/T, LT/T is ½(z² − z − ky(1−y) + sz), that is
    ½(z²(1+1/k) + z(s − 2j/k) − j + j²/k): convex in z, linear in s.
    """
    p, q, a, b = power
    ends = (Fraction(p + a), p + mu)
    return min(Fraction(0), *(_least_along_z(s, q + b, nu + b) for s in ends))


def _gathered(parts: Iterable[tuple[Power, Fraction]]) -> Powers:
    found: Powers = defaultdict(Fraction)
    for power, factor in parts:
        found[power] += factor
    return {power: factor for power, factor in found.items() if factor}


def _least_along_z(s: Fraction, j: int, k: Fraction) -> Fraction:
    bend, tilt = 1 + 1 / k, s - 2 * j / k
    z = min(max(-tilt / (2 * bend), j - k), Fraction(j))
    return (z * z * bend + z * tilt - j + j * j / k) / 2
