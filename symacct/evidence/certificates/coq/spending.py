"""Σ n ε(α) + conversion <= ε with room to spare, worked out so that Coq need not search.

Nothing rests on a number found here: Coq works all of it out again, and fails where one is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, floor, log2

from flint import arb

from symacct.evidence.certificates.coq.terms import Terms
from symacct.evidence.certificates.rounding import upper
from symacct.kernel.answer import rational_text, to_fraction
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.node import Node
from symacct.kernel.sums.balls import ball
from symacct.mechanisms import Gaussian, Laplace, PureDP, RandomizedResponse, ScalarGaussian
from symacct.operations import PoissonSubsample

_BITS, _DIGITS = 512, 60
_STEEPEST = Fraction(5, 2)  # shift in units of the noise, beyond which Coq's integrals take minutes
_PLACES = 12  # decimals of an order at most, before it is taken as it is
#: Whose Poisson samples have a curve at every real order.
AT_REAL_ORDERS = (Gaussian, ScalarGaussian, Laplace, PureDP, RandomizedResponse)
#: What each adds to a curve, by its name in coq/FiniteLaws.v.
CONVERSIONS: dict[str, Callable[[arb, arb], arb]] = {
    "improved": lambda a, delta: ((a - 1) / a).log() - (delta.log() + a.log()) / (a - 1),
    "classic": lambda a, delta: -delta.log() / (a - 1),
}


def orders(terms: Terms, best: Fraction, longest_sum: int) -> Iterator[Fraction]:
    """Orders near the best one: those first that are whole, then those of few decimals."""
    sums = any(needs_sum(part) for _, part in terms)
    whole = [Fraction(n) for n in dict.fromkeys((floor(best), ceil(best))) if n >= 2]
    yield from (n for n in whole if n <= longest_sum or not sums)
    if not sums:
        yield from (a for a in (round(best, places) for places in range(1, _PLACES)) if a > 1)
        yield best


def needs_sum(part: Node) -> bool:
    """Is its curve in Coq a sum at whole orders and nothing else?"""
    if not isinstance(part, PoissonSubsample):
        return False
    noise = part.mechanism
    return type(noise) not in AT_REAL_ORDERS or (
        isinstance(noise, Gaussian | Laplace) and shift(noise) > _STEEPEST
    )


def shift(noise: Gaussian | Laplace) -> Fraction:
    """How far a record moves the law, in units of its scale."""
    scale = noise.sigma if isinstance(noise, Gaussian) else noise.b
    return Fraction(noise.sensitivity) / Fraction(scale)


def short_above(x: Fraction, room: Fraction) -> Fraction:
    """A number of few digits in x + room/2 … x + room."""
    digits = 1
    while (found := Fraction(rational_text(x + room / 2, digits, up=True))) > x + room:
        digits += 1
    return found


class Spending:
    """A mechanism's parts, the claimed ε and δ, the order, and what each part costs there."""

    def __init__(
        self,
        mechanism: Node,
        terms: Terms,
        epsilon: Fraction,
        delta: Fraction,
        alpha: Fraction,
        conversion: str,
    ) -> None:
        self.mechanism, self.terms = mechanism, terms
        self.epsilon, self.delta, self.alpha, self.conversion = epsilon, delta, alpha, conversion
        self.runs = sum(count for count, _ in terms)
        self.curves = [self._curve(part) for _, part in terms]
        with precision(_BITS):
            added = upper(CONVERSIONS[conversion](ball(alpha), ball(delta)))
        spent = sum(count * cost for (count, _), cost in zip(terms, self.curves, strict=True))
        #: What the claimed ε leaves.
        self.room = epsilon - spent - added

    def _curve(self, part: Node) -> Fraction:
        by = "S22-POISSON" if needs_sum(part) else None
        return to_fraction(part.rdp(self.alpha, digits=_DIGITS, by=by).upper)

    @property
    def spare(self) -> Fraction:
        """What each run may cost more than it does, a half of the room in all."""
        return self.room / (2 * self.runs)

    @property
    def costs(self) -> list[Fraction]:
        """Short numbers above the curves, of the parts in their order."""
        return [short_above(curve, self.spare) for curve in self.curves]

    @property
    def bits(self) -> int:
        """The precision at which Coq sees that there is room."""
        return max(64, 48 + ceil(log2(self.runs * (1 + self.alpha) / self.room)))
