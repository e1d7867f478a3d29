"""Zero-concentrated and truncated concentrated privacy: the largest ε(α)/α of a curve."""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from symacct.kernel.accountant import (
    Accountant,
    FormulaEvaluation,
    certified_number,
    refuse_symbols,
)
from symacct.kernel.answer import Bound, bound
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, precision, rational
from symacct.kernel.attached import question
from symacct.kernel.claims import Claim, Kind, combine
from symacct.kernel.deadline import one_question
from symacct.kernel.errors import AssumptionError, DomainError, SoundnessError, echo
from symacct.kernel.evaluation import NodeCurve, as_decimal, in_fractions
from symacct.kernel.exact import INFINITY, Numeric, Order
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Compose
from symacct.kernel.parameters import above_one
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import Sampling
from symacct.profile.tradeoff import is_narrow

#: ε(α)/α is looked at this many orders before the search ends with an upper bound. More take
#: longer, and may make it smaller.
_MOST_ORDERS = 5_000
#: The search computes with this many times the bits of the answer: K = (α−1)ε(α) at orders next to
#: 1, and chords of cells next to a maximum, lose some. Balls stay sound whatever it is.
_BITS_FACTOR = 4


@question(Node, "zcdp")
@one_question("zcdp")
def zcdp(m: Node, digits: int = 10) -> Bound:
    """Find the smallest ρ with ε(α) <= ρα for every α > 1: ρ-zCDP, rounded up.

    It is ε(1), to any digits, for most noise and its sums; else the largest ε(α)/α is searched
    for, and proved. It is of kind `upper` for a sum or a sample that is bounded by its parts, and
    where orders without number would have to be tried for the digits.
    Raises AssumptionError where no finite one is known, for which `tcdp` is, and SoundnessError for
    a lower bound.

    >>> from symacct import Gaussian, Laplace
    >>> print((Gaussian(5) + Laplace(2)).zcdp())
    0.1265306598
    """
    return _answer(m, "zcdp", INFINITY, digits, functools.partial(_everywhere, digits=digits))


def zcdp_at_once(m: Node, digits: int = 10) -> Bound | None:
    """Find the ρ of the node where it is ε(1); None where it would have to be searched for."""
    return zcdp(m, digits) if m._rewritten._steepest_up_to == INFINITY else None


def zcdp_in_fractions(m: Node) -> Fraction | None:
    """Find the ρ of the node where it is ε(1) and a rational number, which no ball shows.

    None stands for any other.
    """
    node = m._rewritten
    return in_fractions(node, 1, Kind.UPPER, None) if node._steepest_up_to == INFINITY else None


@question(Node, "tcdp")
@one_question("tcdp")
def tcdp(m: Node, omega: Numeric, digits: int = 10) -> Bound:
    """Find the smallest ρ with ε(α) <= ρα for 1 < α <= ω, rounded up: (ρ, ω)-tCDP.

    `omega` is a rational number > 1. Raises AssumptionError where ε(ω) is infinite, and
    SoundnessError for a lower bound.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> print(PoissonSubsample(Gaussian(1), "1/100").tcdp(4))
    0.00009078851223
    """
    last = above_one(omega, "tcdp, omega")
    if not isinstance(last, Fraction):
        raise DomainError(f"tcdp, omega: found {echo(omega)}, needed a rational number > 1")

    def search(node: Node, accountant: Accountant) -> tuple[arb, Kind]:
        curve = accountant.curve(node)
        value_at_last = curve(last)
        if BALL.is_infinite(value_at_last):
            raise AssumptionError(f"tcdp: found ε({last}) = ∞ of {echo(m)}, needed a smaller omega")
        if not value_at_last.is_finite():  # more bits may tell
            return arb.nan(), Kind.EXACT
        if last <= node._steepest_up_to:
            return _at_one(node), Kind.EXACT
        return _largest(curve, last - 1, digits)

    return _answer(m, "tcdp", last, digits, search)


def _answer(
    m: Node,
    name: str,
    last: Order,
    digits: int,
    search: Callable[[Node, Accountant], tuple[arb, Kind]],
) -> Bound:
    """Certify the largest ε(α)/α up to the order `last`, by `search` in the node of m's curve.

    It is a decimal where it is ε(1) and that is one. Raises DomainError for open symbols, and
    SoundnessError for a lower bound.
    """
    node = as_node(m, name)._rewritten
    refuse_symbols(m)
    claim = node.claim
    if claim.kind is Kind.LOWER:
        raise SoundnessError(f"{name}: found only a lower bound of {echo(m)}, needed an upper one")

    def value(accountant: Accountant) -> tuple[arb, Claim]:
        with precision(_BITS_FACTOR * BALL.bits):
            rho, kind = search(node, accountant)
        return rho, replace(claim, kind=combine([kind, claim.kind], name))

    found = certified_number(value, digits, f"{name} of {echo(m)}")
    kind, is_at_one = found.claim.kind, last <= node._steepest_up_to
    return bound(as_decimal(found, node, 1, Kind.UPPER, None) if is_at_one else found, kind)


def _everywhere(node: Node, accountant: Accountant, digits: int) -> tuple[arb, Kind]:
    """Enclose the largest ε(α)/α over all orders, or bound it from above by the parts of the node.

    The kind says which of the two. Raises AssumptionError where neither is known.
    """
    curve = accountant.curve(node)
    if node._steepest_up_to == INFINITY:
        return _at_one(node), Kind.EXACT
    pure = curve(INFINITY)
    if pure.is_finite():
        if not curve(2) > 0:
            return pure.union(arb(0)), Kind.EXACT
        # From the last λ on ε(∞)/(λ+1) is below ε(2)/2, which chords of a mere bound may be below.
        last = rational((2 * pure / curve(2)).upper())
        largest, kind = _largest(curve, last, digits)
        return largest.max(curve(2) / 2), kind
    if isinstance(node, Compose):
        parts = [
            (count, _everywhere(part, accountant, digits)) for part, count in node.terms.items()
        ]
        return sum((count * rho for count, (rho, _) in parts), arb(0)), Kind.UPPER
    if isinstance(node, PostProcess) or (isinstance(node, Sampling) and node._is_one_step()):
        return _everywhere(node.mechanism, accountant, digits)[0], Kind.UPPER
    raise AssumptionError(
        f"zcdp: found {echo(node)}, for which no ρ is known at all orders; needed a finite "
        "ε(∞), or noise with a known ρ",
        remedy="tcdp(omega) answers for the orders up to omega",
    )


def _at_one(node: Node) -> arb:
    """Enclose ε(1) by the curve's formula, whose slope is proved, and not by a sharper bound."""
    value: arb = FormulaEvaluation(BALL).curve(node)(1)
    return value


class _Point(NamedTuple):
    """ε(1+λ)/(1+λ), and K(λ) = λε(1+λ)."""

    lam: Fraction
    ratio: arb
    cgf: arb


def _largest(curve: NodeCurve, last: Fraction, digits: int) -> tuple[arb, Kind]:
    """Enclose the largest ε(1+λ)/(1+λ) over 0 < λ <= last, by halving cells where it may be.

    It is enclosed to `digits` + 2 digits, or as balls can tell; after `_MOST_ORDERS` orders it is
    bounded from above by the largest cell.
    """

    def point(lam: Fraction) -> _Point:
        value = curve(1 + lam)
        return _Point(lam, value / ball(1 + lam), value * ball(lam))

    start, end = point(Fraction(0)), point(last)
    best, cells = start.ratio.max(end.ratio), [_ChordCell(start, end)]
    for _ in range(_MOST_ORDERS):
        widest = heapq.heappop(cells)
        if widest.most <= best or is_narrow(best, widest.most, best * arb(10) ** -(digits + 2)):
            return best.union(best.max(widest.most)), Kind.EXACT
        middle = point(widest.middle)
        best = best.max(middle.ratio)
        for cell in (_ChordCell(widest.left, middle), _ChordCell(middle, widest.right)):
            heapq.heappush(cells, cell)
    return best.max(cells[0].most).upper(), Kind.UPPER


class _ChordCell:
    """An interval of λ with a bound `most` on ε(α)/α there, sorted by the largest bound first.

    K(λ) lies below its chord, and ε(α) rises: from λ = 0 on that alone bounds the cell.
    """

    def __init__(self, left: _Point, right: _Point) -> None:
        self.left, self.right = left, right
        self.most = self._by_chord() if left.lam else right.ratio * ball(1 + right.lam)
        self.height = rational(self.most.upper()) if self.most.is_finite() else Fraction(2) ** 64

    def __lt__(self, other: _ChordCell) -> bool:
        return self.height > other.height

    def _by_chord(self) -> arb:
        """Bound (sλ − c)/(λ(λ+1)) over the cell; it is s/(2u+1) at u = (c + √(c² + sc))/s.

        At a u outside of the cell the larger end bounds it.
        """
        (a, first, low), (b, second, high) = self.left, self.right
        s = (high - low) / ball(b - a)
        c = (s * ball(a) - low).max(arb(0))
        most = first.max(second)
        if not s > 0:
            return most.max(high / ball(a * (a + 1)))
        u = (c + (c * (c + s)).sqrt()) / s
        return most if u < ball(a) or u > ball(b) else most.max(s / (2 * u + 1))

    @property
    def middle(self) -> Fraction:
        """The place at which the cell is cut: nearer to 0, where orders matter by their ratio."""
        a, b = self.left.lam, self.right.lam
        if b <= 4 * a:
            return (a + b) / 2
        return 2 * a if a else b / 4
