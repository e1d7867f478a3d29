"""Which triangle of fixed-size sampling is the worst, and a proof of it.

Balls of few bits prove where G is the largest (docs/proofs/triples.md, Lemma triangle-walk): about
each place that may be it there is a cell on which nothing is larger, as G rises up to the end B =
δ², or is concave; on what is left G is walked along from cell to cell, and stays below.

Where that proves nothing, G − 1 exceeds that of the larger end by a stated share at most.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, ctx

from symacct.analysis.triangles import (
    OnAPiece,
    Triangles,
    Triple,
    derivatives_of_slope,
    lattice_of,
    on_a_piece,
    slope_at,
    slopes,
    triple_log_excess,
)
from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import ball, rounded_down
from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.sums.order_search import crossing, golden_valley


@dataclass(frozen=True)
class TriangleSearch:
    """The search for a maximum has these constants, which also say when it gives up.

    No bound rests on them: they decide what is tried, and what is proved of it holds anyway.
    """

    #: Bits of a place that is tried: as many as the cell that is proved about it needs.
    bits: int = 24
    #: Bits of a place that are right when the rest of them are looked for, half of `bits`.
    sure_bits: int = 12
    #: Bits of a place beyond half of those of G, which is flat there.
    guard_bits: int = 8
    #: Bits of G in float64, where places are only compared.
    look_bits: int = 20
    #: Bits of α − 1: one look serves all orders that agree in them.
    order_bits: int = 12
    #: Bits to which a place seen at an order close by is that of this order.
    nearby_bits: int = 3
    #: Bits of G in balls: a place inside may be higher than an end by very little.
    value_bits: int = 48
    #: Two logarithms of G − 1 in float64, in nats, that differ by more differ beyond doubt.
    apart: float = 1e-6
    #: Pieces of [0, δ²] that are walked along before the proof is given up.
    pieces: int = 200
    #: Pieces of [0, δ²] that are walked along where the proof is of a share, so that giving up
    #: loses no more than a share.
    pieces_of_share: int = 48
    #: Pieces whose slope is found by integrals: together they take about a second.
    integrated_pieces: int = 240
    #: Nodes of one value of G, which is asked for again and again; of more it is not asked.
    nodes: int = 400_000
    #: The shortest piece that is tried, as a share of δ².
    shortest: Fraction = Fraction(1, 2**14)
    #: A share of δ²: a way on that is shorter is worth no more than an integral costs.
    worthwhile: Fraction = Fraction(1, 2**6)
    #: What is kept of a way on that proved to be too far.
    kept: Fraction = Fraction(5, 8)
    #: The fewest and the most places at which G is looked at in float64; αδ²/2 between.
    fewest_squares: int = 8
    most_squares: int = 32
    #: Nats below the highest G that was looked at in float64, from which on a place is no
    #: candidate.
    lower: float = 0.02
    #: Parts into which golden sections cut what lies between two of these.
    sections: int = 16


@dataclass(frozen=True)
class EquilateralSearch:
    """The search for the largest order with the equilateral triangle worst has these constants.

    They steer: at the order that is found it is proved.
    """

    #: Bits of float64, in which the two ends are compared.
    bits: int = 53
    #: Bits of an order that is tried: 1 in 512.
    order_bits: int = 9
    #: The orders between which it is looked for.
    smallest: float = 1.5
    largest: float = 4096.0
    #: δ = Δ/σ from which on an order near 1 would take seconds.
    little_noise: int = 4
    #: The share of the order to which float64 finds where the ends change places.
    tolerance: float = 2.0**-8
    #: Shares of that order for which a proof is tried, from the largest on.
    shares: tuple[float, ...] = (1.0, 0.98, 0.95, 0.9, 0.8, 0.6)


#: The numbers of both searches, which no bound rests on.
_SEARCH, _EQUILATERAL = TriangleSearch(), EquilateralSearch()
_ZERO = Fraction(0)
#: Shares of G − 1 by which the maximum may exceed the larger end, rising: all but the last are
#: proved at each order, and smaller ones are sharper. Lemma half-share rests on the last.
SHARES = (Fraction(1, 1000), Fraction(1, 50), Fraction(3, 20), Fraction(1, 2))


@dataclass(frozen=True)
class TriangleEnd:
    """An end may be the maximum, and on its cell from B = low to high nothing is larger."""

    triple: Triple
    low: Fraction
    high: Fraction

    def refined(self, bits: int) -> tuple[Triple, arb]:
        """The triple, and 0: nothing is above it."""
        return self.triple, arb(0)


@dataclass(frozen=True)
class Summit:
    """A summit is a maximum inside the cell from B = low to high, on which G″ <= −bend < 0."""

    triangles: Triangles
    low: Fraction
    high: Fraction
    bend: arb

    def refined(self, bits: int) -> tuple[Triple, arb]:
        """A triple next to the maximum, and an upper bound of the share by which it is below it.

        The share is of its G − 1, and G′²/(2 bend) as much as a parabola rises on from there.
        """
        half = bits // 2 + _SEARCH.guard_bits
        place = turning(self.triangles, self.low, self.high, half)
        with ctx.workprec(bits):
            above = slope_at(self.triangles, place, half) ** 2 / (2 * self.bend)
            return self.triangles.at(place), above / self.triangles.excess(place)


#: A place that may be the maximum, with a cell on which nothing is larger.
Place = TriangleEnd | Summit


def turning(triangles: Triangles, low: Fraction, high: Fraction, bits: int) -> Fraction:
    """About a B from low to high, and above 0, where dG/dB crosses 0 falling, to so many bits.

    It steers: what is proved of the place is proved afterwards.
    """
    if bits > _SEARCH.bits:
        place, reach = (
            turning(triangles, low, high, _SEARCH.bits),
            (high - low) / 2**_SEARCH.sure_bits,
        )
        low, high = max(place - reach, low), min(place + reach, high)

    @functools.cache
    def slope(square: Fraction) -> arb:
        return slope_at(triangles, square, bits)

    with ctx.workprec(bits):
        return crossing(slope, lambda square: arb(0), max(low, high / 2**_SEARCH.sure_bits), high)


def is_far_beyond(triangles: Triangles, bits: int) -> bool:
    """Is B = 0 proved to be the maximum to `bits` bits of G − 1, no triangle being looked at?"""
    rise = ball(triangles.delta**2) * triangles.steepest(triangles.delta**2)
    return bool(rise * arb(2) ** bits <= triangles.excess(Fraction(0)))


def worst(triangles: Triangles) -> tuple[Place, ...] | None:
    """Places of which one is proved to be the maximum of G; None where nothing is proved.

    LimitError where values of G take too many nodes.
    """
    ends = RiseBounds(triangles).worst_ends()
    if ends is not None or not _is_quick(triangles):
        return ends
    return MeasuredRiseBounds(triangles).worst()


@functools.lru_cache(maxsize=256)
def equilateral_order(gamma: Fraction, delta: Fraction) -> Fraction | None:
    """About the largest order at which B = δ² is proved to be the worst; None where none is found.

    Nothing rests on where it is looked for: at some share of the order from which on float64 sees
    the other end above. Of little noise it would take seconds to find an order near 1.
    """
    if delta > _EQUILATERAL.little_noise:
        return None

    def is_above(alpha: float) -> bool:
        with suppress(PrecisionError, LimitError):
            first, last = Triangles(_cut(alpha), gamma, delta).ends_in_floats
            return last > first
        return False

    with ctx.workprec(_EQUILATERAL.bits):
        low, high = _EQUILATERAL.smallest, _EQUILATERAL.largest
        if is_above(high):
            low = high
        while high > low * (1 + _EQUILATERAL.tolerance):
            deadline.check()
            middle = math.sqrt(low * high)
            low, high = (middle, high) if is_above(middle) else (low, middle)
        for share in _EQUILATERAL.shares:
            alpha = _cut(low * share)
            if alpha < _EQUILATERAL.smallest:
                break
            with suppress(PrecisionError, LimitError):
                triangles = Triangles(alpha, gamma, delta)
                places = worst(triangles)
                if places is not None and all(_is_equilateral(place) for place in places):
                    return alpha
    return None


def _is_equilateral(place: Place) -> bool:
    """Is the place the end B = δ², the equilateral triangle?"""
    return isinstance(place, TriangleEnd) and place.high > 0


def _cut(alpha: float) -> Fraction:
    """An order rounded down to 9 bits, 1 in 512."""
    return Fraction(rounded_down(alpha, _EQUILATERAL.order_bits))


def _is_quick(triangles: Triangles) -> bool:
    """Has one value of G few enough nodes to be asked for again and again?"""
    return lattice_of(triangles.ends[1], _SEARCH.bits).nodes <= _SEARCH.nodes


# Proved in docs/proofs/triples.md, Lemma half-share.
def raised_end(triangles: Triangles) -> tuple[Triple, Fraction]:
    """The larger end, and the smallest share of its G − 1 by which the maximum is above it at most.

    Of `SHARES`, the last of which needs no search. PrecisionError if no end is told the larger.
    """
    bounds = [
        RiseBounds(triangles),
        *([MeasuredRiseBounds(triangles)] if _is_quick(triangles) else []),
    ]
    first, last = triangles.end_excesses
    best, most = (1, last) if last > first else (0, first)
    top = triangles.delta**2
    for share in SHARES[:-1]:
        spare = most * (1 + ball(share)) - first
        if any(bound.stays_below(_ZERO, top, spare, _SEARCH.pieces_of_share) for bound in bounds):
            return triangles.ends[best], share
    if not (last > first or first > last):
        raise PrecisionError(
            f"TRIPLE-GAUSSIAN-NEAR at order {triangles.alpha}: found two ends that cannot be told "
            "apart, needed another order, or another theorem"
        )
    return triangles.ends[best], SHARES[-1]


class RiseBounds:
    """Bounds of G's rise along B are by a sum of exponentials, or else by the steepest rise.

    All of them are proved.
    """

    def __init__(self, triangles: Triangles) -> None:
        self.triangles = triangles
        self.top = triangles.delta**2
        self.width = self.top / 4  # of a piece that is tried first
        self.exponentials = slopes(triangles.alpha, triangles.gamma, triangles.delta)
        self.factor = triangles.factor / ball((1 - triangles.gamma) ** 2)

    def worst_ends(self) -> tuple[Place, ...] | None:
        """The ends of which one is proved to be the maximum, one or both; None if none is."""
        first, last = self.triangles.ends_in_floats
        if last <= first and self.stays_below(_ZERO, self.top, arb(0)):
            return (self.line,)
        if last < first - _SEARCH.apart:
            return None
        rise = self.triangles.end_excesses[1] - self.triangles.end_excesses[0]
        rises = self.equilateral()
        if not self.stays_below(_ZERO, rises.low, rise.lower().max(arb(0))):
            return None
        return (rises,) if rise > 0 else (self.line, rises)

    @property
    def line(self) -> TriangleEnd:
        """The end B = 0."""
        return TriangleEnd(self.triangles.ends[0], _ZERO, _ZERO)

    def equilateral(self) -> TriangleEnd:
        """The end B = δ², with the cell on which G is proved to rise to it, which may be empty."""
        high, width = self.top, self.width
        for _ in range(_SEARCH.pieces):
            if high <= 0 or width < _SEARCH.shortest * self.top:
                break
            low = max(high - width, _ZERO)
            if self.bounds(low, high)[0] > 0:
                high = low
            else:
                width /= 2
        return TriangleEnd(self.triangles.ends[1], high, self.top)

    def bounds(self, low: Fraction, high: Fraction) -> tuple[arb, arb]:
        """A lower and an upper bound of dG/dB on the piece; −∞ below without a sum."""
        if self.exponentials is None:
            return arb("-inf"), self.triangles.steepest(high)
        low_mean, high_mean = self.exponentials.over(low, high)
        return self.factor * low_mean, self.factor * high_mean

    def rise(self, low: Fraction, high: Fraction) -> arb:
        """An upper bound of G(B) − G(low) at any B of the piece, at least 0."""
        return (ball(high - low) * self.bounds(low, high)[1]).max(arb(0))

    def rise_between(self, low: Fraction, high: Fraction) -> arb:
        """An upper bound of G(high) − G(low)."""
        if self.exponentials is None:
            return self.rise(low, high)
        return self.factor * self.exponentials.rise_between(low, high)

    def stays_below(
        self, low: Fraction, high: Fraction, spare: arb, pieces: int = _SEARCH.pieces
    ) -> bool:
        """Is G − G(low) on the piece proved to be at most `spare`, in so many steps?

        False where nothing is proved.
        """
        width = min(self.width, high - low)
        for _ in range(pieces):
            if low >= high or width < _SEARCH.shortest * self.top:
                break
            width = min(width, high - low)
            if self.rise(low, low + width) <= spare:
                spare -= self.rise_between(low, low + width)
                low, width = low + width, 2 * width
            else:
                width /= 4
        return low >= high


class MeasuredRiseBounds(RiseBounds):
    """Measured bounds look with G itself from place to place, and with balls of its slope.

    The width of a piece and the number of integrals are kept from one question to the next.
    """

    def __init__(self, triangles: Triangles) -> None:
        """Choose the first width so that the drift changes little on it."""
        super().__init__(triangles)
        drift, derivatives = derivatives_of_slope(triangles.alpha)
        steepest = min(drift.minimum(power) for powers in derivatives for power in powers)
        if steepest:
            self.width = min(self.width, -1 / steepest)
        self.integrated_pieces = 0

        @functools.cache
        def value(square: Fraction) -> arb:
            return triangles.excess(square, _SEARCH.value_bits)

        self.value = value

    def worst(self) -> tuple[Place, ...] | None:
        """The places of which one is proved to be the maximum; None where nothing is proved."""
        squares = self.candidates()
        places = [place for square in squares if (place := self.place(square))]
        if len(places) < len(squares):
            return None
        most = functools.reduce(arb.max, (self.value(square).lower() for square in squares))
        edges = [_ZERO, *(edge for place in places for edge in (place.low, place.high)), self.top]
        for low, high in zip(edges[::2], edges[1::2], strict=True):
            spare = most - self.value(low)
            if low in squares:  # so that G there is no more than what the places hold
                spare = spare.max(arb(0))
            if not self.stays_below(low, high, spare):
                return None
        return tuple(places)

    def candidates(self) -> list[Fraction]:
        """The B at which G is the largest, as far as float64 tells, rising: they steer."""
        known = heights(self.triangles)
        best = max(known.values())
        return sorted(square for square, height in known.items() if height > best - _SEARCH.apart)

    def place(self, square: Fraction) -> Place | None:
        """The cell about B = `square` on which nothing is proved larger; None where that fails."""
        if square == 0:
            return self.line
        rises = self.equilateral()
        if square == rises.high and rises.low < rises.high:
            return rises
        width = self.width
        while width >= _SEARCH.shortest * self.top:
            deadline.check()
            low, high = max(square - width / 2, _ZERO), min(square + width / 2, self.top)
            piece = self.piece(low, high)
            if square == self.top and piece.slope > 0:
                return TriangleEnd(rises.triple, low, high)
            if square < self.top and piece.bend < 0:
                return Summit(self.triangles, low, high, -piece.bend.upper())
            width /= 2
        return None

    def piece(self, low: Fraction, high: Fraction) -> OnAPiece:
        """dG/dB and d²G/dB² by integrals; NaN after 240 of these, which take about a second."""
        self.integrated_pieces += 1
        if self.integrated_pieces > _SEARCH.integrated_pieces:
            return OnAPiece(arb.nan(), arb.nan())
        return on_a_piece(self.triangles, low, high)

    def stays_below(
        self, low: Fraction, high: Fraction, spare: arb, pieces: int = _SEARCH.pieces
    ) -> bool:
        """Is G − G(low) proved to be at most `spare`, by G itself where a sum shows no way on?"""
        measured, most = low, self.value(low) + spare
        for _ in range(pieces):
            if low >= high:
                break
            right = self.proved_end(low, high, spare)
            if right == low and measured != low:
                measured, spare = low, most - self.value(low)
                right = self.proved_end(low, high, spare)
            if right > low:
                spare -= self.rise_between(low, right)
            else:
                right, rise = self.by_slope(low, high, spare)
                spare -= rise
            if right == low:
                break
            low = right
        return low >= high

    def proved_end(self, low: Fraction, high: Fraction, spare: arb) -> Fraction:
        """The B up to which a sum proves a rise of at most `spare`; low if that is not far."""
        right = high
        while right == high or right - low > _SEARCH.worthwhile * self.top:
            deadline.check()
            if self.rise(low, right) <= spare:
                return right
            right = low + (right - low) * _SEARCH.kept
        return low

    def by_slope(self, low: Fraction, high: Fraction, spare: arb) -> tuple[Fraction, arb]:
        """The end of a piece on which an integral proves a rise of at most `spare`, and its bound.

        (low, 0) where that fails. The width of the next piece is changed.
        """
        while self.width >= _SEARCH.shortest * self.top:
            deadline.check()
            right = min(low + self.width, high)
            rise = ball(right - low) * self.piece(low, right).slope
            if rise.max(arb(0)) <= spare:
                self.width *= 2
                return right, rise.upper()
            if rise > spare:
                break
            self.width /= 4
        return low, arb(0)


# --- float64: where it may be, of which nothing is proved


def highest(triangles: Triangles, bits: int) -> Fraction:
    """About the B at which G is the largest, to so many bits, by what an order close by shows.

    It proves nothing.
    """
    first, last = triangles.ends_in_floats
    top = triangles.delta**2
    ends = {_ZERO: first, top: last}
    if _is_quick(triangles):
        ends |= _measured(triangles, _tops(replace(triangles, alpha=_close(triangles.alpha))))
    square = max(ends, key=ends.__getitem__)
    reach = min(square, top - square) / 2**_SEARCH.nearby_bits
    return turning(triangles, square - reach, square + reach, bits) if reach else square


def heights(triangles: Triangles) -> dict[Fraction, float]:
    """B ↦ log(G − 1) in float64 at the ends and at the highest maxima inside."""
    ends = dict(zip((_ZERO, triangles.delta**2), triangles.ends_in_floats, strict=True))
    return ends | _measured(triangles, _tops(triangles))


def _measured(triangles: Triangles, squares: Iterable[Fraction]) -> dict[Fraction, float]:
    """B ↦ log(G − 1) in float64."""
    return {square: triple_log_excess(triangles.at(square)) for square in squares}


@functools.lru_cache(maxsize=1024)
def _tops(triangles: Triangles) -> tuple[Fraction, ...]:
    """About the B inside where G turns from rising to falling, next to the peaks of a table.

    The table is in float64, and its peaks that are more than `_SEARCH.lower` nats below the highest
    are left out. All of it steers. The last 1024 families are remembered.
    """
    top = triangles.delta**2
    count = min(
        max(_SEARCH.fewest_squares, math.ceil(triangles.alpha * top / 2)), _SEARCH.most_squares
    )
    squares = [top * k / count for k in range(count + 1)]
    values = [triple_log_excess(triangles.at(square), _SEARCH.look_bits) for square in squares]
    places = (
        _turning_between(triangles, squares[k - 1], squares[k + 1])
        for k in range(1, count)
        if values[k] >= max(values[k - 1], values[k + 1], max(values) - _SEARCH.lower)
    )
    return tuple(square for square in places if 0 < square < top)


def _turning_between(triangles: Triangles, low: Fraction, high: Fraction) -> Fraction:
    """A maximum of G between, by golden sections in float64 and then secants of its slope."""
    width = (high - low) / _SEARCH.sections

    def depth(square: Fraction) -> arb:
        return arb(-triple_log_excess(triangles.at(square), _SEARCH.look_bits))

    near = golden_valley(depth, low, high, width)
    return turning(triangles, max(near - width, low), min(near + width, high), _SEARCH.bits)


def _close(alpha: Fraction) -> Fraction:
    """The order with α − 1 rounded to 12 bits, at which G is looked at for all orders like it."""
    step = Fraction(2) ** (math.frexp(alpha - 1)[1] - _SEARCH.order_bits)
    return 1 + round((alpha - 1) / step) * step
