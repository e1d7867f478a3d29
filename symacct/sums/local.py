"""Functions e^K of the order about a whole one: polynomials, and products of their powers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly

from symacct.sums.refine import ball

#: How far from the whole order in the middle the others are.
REACH = Fraction(1, 2)


@dataclass(frozen=True)
class Local:
    """e^K − 1 within `error` of a polynomial in t, at the order n + t for |t| <= ½."""

    polynomial: arb_poly
    error: arb

    def __call__(self, t: arb) -> arb:
        return self.polynomial(t) + self.error


class Product:
    """e^K = Π (1 + E)^count about one whole order, the factors of one count together."""

    def __init__(self, powers: Mapping[int, Iterable[Local]]) -> None:
        self.powers = {count: list(factors) for count, factors in powers.items()}

    def log(self, t: Fraction) -> arb:
        """K = Σ count·log Π (1 + E); the product less 1 has only terms that are not negative."""
        at, total = ball(t), arb(0)
        for count, factors in self.powers.items():
            excess = arb(0)
            for factor in factors:
                one = factor(at)
                excess += one + one * excess
            total += count * excess.log1p()
        return total


def product(parts: Iterable[tuple[int, Product]]) -> Product:
    """Π e^{count·K} of some products, each so often."""
    powers: dict[int, list[Local]] = {}
    for times, part in parts:
        for count, factors in part.powers.items():
            powers.setdefault(times * count, []).extend(factors)
    return Product(powers)
