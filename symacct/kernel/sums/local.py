"""Functions e^K of the order about a whole one: polynomials, and products of their powers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly, ctx

from symacct.kernel import deadline
from symacct.kernel.sums.balls import ball, within

#: The largest distance of an order from the whole order in the middle.
REACH = Fraction(1, 2)
#: Bits of accuracy that a polynomial may lack; a theorem aims at half as many.
LOST = 24
#: Bits beyond the precision of a product, for the rounding of some thousand factors.
_ROOM = 24
#: Terms by which a product is lengthened at a time, beyond those of its factors.
_MORE = 8


@dataclass(frozen=True)
class Local:
    """e^K − 1 within `error` of a polynomial in t, at the order n + t for |t| <= ½."""

    polynomial: arb_poly
    error: arb

    def __call__(self, t: arb) -> arb:
        return self.polynomial(t) + self.error

    @property
    def is_accurate(self) -> bool:
        """Has the function about the digits of the precision at t = −½, where it is smallest?"""
        return bool(self(-ball(REACH)).rel_accuracy_bits() > ctx.prec - LOST)

    def times(self, other: Local) -> Local:
        """(1+E)(1+F) − 1 = E + F + EF; what a term left out is at most goes into the error."""
        p, q = self.polynomial, other.polynomial
        everywhere = within(ball(REACH))
        with ctx.workprec(ctx.prec + _ROOM):
            whole, length = p + q + p * q, max(p.length(), q.length())
            negligible = abs(whole[0]) * arb(2) ** (_ROOM - ctx.prec)
            rest, low = _split(whole, length, everywhere)
            while not rest < negligible and length < whole.length():
                deadline.check()
                length += _MORE
                rest, low = _split(whole, length, everywhere)
            error = self.error * (1 + q(everywhere)) + other.error * (1 + p(everywhere))
            return Local(low, error + self.error * other.error + within(rest))


def _split(whole: arb_poly, length: int, everywhere: arb) -> tuple[arb, arb_poly]:
    """A bound of the terms from t^length on, and the polynomial of the terms before."""
    beyond = whole.right_shift(length)
    return beyond(everywhere) / 2**length, whole.truncate(length)


@dataclass(frozen=True, eq=False)
class LocalProduct:
    """e^K = Π (1 + E)^count about one whole order: the last factor, and the product before it."""

    count: int
    factor: Local
    before: LocalProduct | None = None
    #: How many factors have been joined in the last one.
    joined: int = 1

    def __iter__(self) -> Iterator[LocalProduct]:
        """This one and those before it."""
        product: LocalProduct | None = self
        while product is not None:
            yield product
            product = product.before

    def log(self, t: arb) -> arb:
        """K = Σ count·log(1 + E)"""
        return sum((power.count * power.factor(t).log1p() for power in self), arb(0))


def times(before: LocalProduct | None, count: int, factor: Local) -> LocalProduct:
    """The product with one power more, whose factors are joined in powers of 2.

    Factors of one count are joined with as many others, so that a thousand become some ten
    polynomials.
    """
    product = LocalProduct(count, factor, before)
    while (last := product.before) and (last.count, last.joined) == (count, product.joined):
        deadline.check()
        factor = last.factor.times(product.factor)
        if not factor.is_accurate:
            break
        product = LocalProduct(count, factor, last.before, 2 * product.joined)
    return product
