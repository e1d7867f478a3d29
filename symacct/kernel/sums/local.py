"""Functions e^K of the order about a whole one: polynomials, and products of their powers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import ball, within

#: The largest distance |t| of a real order from the whole order in the middle. The proof of a
#: polynomial's error holds up to it: a larger one is unsound.
REACH = Fraction(1, 2)
#: Bits of accuracy that a polynomial may lack where it is smallest; a theorem aims at half as many.
#: Of a product that lacks more, the factors stay apart. Fewer cost time, as factors stay apart more
#: often.
LOST_BITS = 24
#: Bits beyond the precision at which products are formed, for the roundings of thousands of them.
#: Where they are too few, the ball is wider.
_GUARD_BITS = 24
#: The number of terms by which a product is lengthened at a time, beyond those of its factors. It
#: costs time: what is cut off is bounded.
_ADDED_TERMS = 8


@dataclass(frozen=True)
class Local:
    """e^K − 1 at the order n + t, within `error` of a polynomial in t for |t| <= REACH.

    `error` is a ball about 0. Called with t, it gives a ball that encloses the function there.
    """

    polynomial: arb_poly
    error: arb

    def __call__(self, t: arb) -> arb:
        return self.polynomial(t) + self.error

    @property
    def is_accurate(self) -> bool:
        """Has the ball at t = −½, where the function is smallest, all bits but LOST_BITS?"""
        return bool(self(-ball(REACH)).rel_accuracy_bits() > ctx.prec - LOST_BITS)

    def times(self, other: Local) -> Local:
        """(1+E)(1+F) − 1 = E + F + EF, for the product of two moments about one whole order.

        Terms are left out once their bound is below the last bits of the value at n; the bound
        enters the error.
        """
        p, q = self.polynomial, other.polynomial
        everywhere = within(ball(REACH))
        with ctx.workprec(ctx.prec + _GUARD_BITS):
            whole, length = p + q + p * q, max(p.length(), q.length())
            negligible = abs(whole[0]) * arb(2) ** (_GUARD_BITS - ctx.prec)
            rest, low = _split(whole, length, everywhere)
            while not rest < negligible and length < whole.length():
                deadline.check()
                length += _ADDED_TERMS
                rest, low = _split(whole, length, everywhere)
            error = self.error * (1 + q(everywhere)) + other.error * (1 + p(everywhere))
            return Local(low, error + self.error * other.error + within(rest))


def _split(whole: arb_poly, length: int, everywhere: arb) -> tuple[arb, arb_poly]:
    """A ball for the terms from t^length on over all |t| <= ½, and the polynomial before them.

    `everywhere` is the ball of these t.
    """
    beyond = whole.right_shift(length)
    return beyond(everywhere) / 2**length, whole.truncate(length)


@dataclass(frozen=True, eq=False)
class LocalProduct:
    """e^K = Π (1 + E)^count about one whole order: the last factor, and the product before it.

    A linked list, so that compositions that begin alike share their beginning.
    """

    count: int
    factor: Local
    before: LocalProduct | None = None
    #: The number of factors that have been joined in the last one, a power of 2.
    joined: int = 1

    def __iter__(self) -> Iterator[LocalProduct]:
        """The powers of the product, from the last one back to the first."""
        product: LocalProduct | None = self
        while product is not None:
            yield product
            product = product.before

    def log(self, t: arb) -> arb:
        """K = Σ count·log(1 + E) at the order n + t, |t| <= ½."""
        return sum((power.count * power.factor(t).log1p() for power in self), arb(0))


def times(before: LocalProduct | None, count: int, factor: Local) -> LocalProduct:
    """The product with one power (1 + E)^count more, whose factors are joined in powers of 2.

    Factors of one count are joined with as many others, so that a thousand become some ten
    polynomials; those whose product would not be accurate stay apart.
    """
    product = LocalProduct(count, factor, before)
    while (last := product.before) and (last.count, last.joined) == (count, product.joined):
        deadline.check()
        factor = last.factor.times(product.factor)
        if not factor.is_accurate:
            break
        product = LocalProduct(count, factor, last.before, 2 * product.joined)
    return product
