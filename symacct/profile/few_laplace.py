"""A few runs of Laplace noise on samples have a profile by contours about the ends of the loss.

s = c + iT is a place of a contour, z = 1 + s the order there, or −s if reversed. What is proved is
balls at the path's precision; an estimate is float64 and steers. Wants and losses are in nats.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import mul
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, acb_mat, arb, arb_poly, ctx, fmpz

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import acb_within, floor, geometric_tail, legendre, within
from symacct.kernel.memory import cached_property
from symacct.profile.losses.summed import Sample
from symacct.profile.part import order_at, rounded_down
from symacct.profile.roots import Value
from symacct.profile.runs import Moments, shift

if TYPE_CHECKING:
    from symacct.profile.losses.laplace import LaplaceLoss


# --- ends of the loss
#
# F of Laplace noise far from the real axis: what is next to the two atoms of its loss.
#
# F(z) = e^{zL₁}A(z) + e^{zL₀}B(z), A and B nearly constant (docs/proofs/losses.md, Lemma
# laplace-ends).

#: A continued fraction of so many terms at most is as quick as a series. Both are enclosures; it
#: costs time alone.
_FEW_TERMS = 64
#: A continued fraction has so many terms at most where the gap is narrow, and where it is not.
#: Values that take more are by a series: it costs time alone.
_MOST_TERMS = {True: 96, False: 1024}
#: A gap below this is narrow: the series falls as its powers. It costs time alone.
_NARROW_GAP = 0.4
#: Numbers of terms are of these, and bits multiples of 32, so that few polynomials serve many z.
#: They cost time alone.
_LENGTHS = frozenset(m * 2**n for m in (2, 3) for n in range(2, 16))
_MULTIPLE_OF_BITS = 32
#: Polynomials have so many bits more than cancel. Where they are too few, the ball is wider.
_END_SPARE_BITS = 16
#: A number that is a divisor in float64 is at least this. It steers.
_TINY = 1e-290
#: Bounds are worked out at this many bits; of fewer they are wider.
_BOUND_BITS = 64

#: N_n and p_n of the n-th convergent of a continued fraction as polynomials, and the norm h_n.
Convergent = tuple[arb_poly, arb_poly, arb]


@dataclass(frozen=True)
class Places:
    """Places are some orders z in a row off the real axis.

    The first of them is mostly the nearest to 0, which costs time alone where it is not.
    """

    orders: list[acb]

    @cached_property
    def ratios(self) -> list[acb]:
        """Γ(½−z)/Γ(−z) at each place."""
        return [(0.5 - z).gamma() * (-z).rgamma() for z in self.orders]


@dataclass(frozen=True)
class LossEnd:
    """An end L of the loss has e^{zL}(atom ± Σ c_m e^{−(m+½)L}/(z−m−½)) in F(z), c_m >= 0.

    `density` is Σ c_m e^{−(m+½)L}; `gap` is 1−x, x = (1−γ)e^{−L}, and 1 where nothing is sampled.
    The sign is that of the sum.
    """

    loss: arb
    atom: arb
    density: arb
    gap: arb
    sign: int

    def at(self, places: Places) -> list[acb]:
        """Compute what e^{zL} is multiplied by at these z, at flint's current precision."""
        scale = self.sign * self.density
        return [self.atom + scale * share for share in self._shares(places)]

    def _shares(self, places: Places) -> list[acb]:
        """Compute Σ w_m/(z−m−½), w_m ∝ c_m e^{−(m+½)L}, by a continued fraction or a series.

        Where nothing is sampled w_0 = 1 is all.
        """
        if self.gap == 1:
            return [1 / (z - 0.5) for z in places.orders]
        terms, lost = self._fewest(places.orders[0])
        if terms > _FEW_TERMS:
            series, cancelled = self._series_length(places)
            if series < 2 * terms or terms > self._most_terms:
                return self._by_series(places, series, cancelled)
        return self._by_fraction(places.orders, terms, ctx.prec + lost)

    @property
    def _most_terms(self) -> int:
        """The most terms of the fraction: more are too many beside the series."""
        return _MOST_TERMS[bool(self.gap < _NARROW_GAP)]

    def _by_series(self, places: Places, terms: int, lost: int) -> list[acb]:
        """Compute 2√π g^{3/2}x^{z−½} Γ(½−z)/Γ(−z) − 2g Σ g^n(−z)_n/(½)_n, g the gap."""
        deadline.check()
        after = self._after(places, terms)
        with ctx.extraprec(lost):
            polynomial, log_x = self._series(terms, ctx.prec), (1 - self.gap).log()
            scale = 2 * (arb.pi() * self.gap).sqrt() * self.gap
            return [
                scale * (log_x * (z - 0.5)).exp() * ratio - 2 * self.gap * polynomial(z) + after
                for z, ratio in zip(places.orders, places.ratios, strict=True)
            ]

    def _after(self, places: Places, terms: int) -> acb:
        """Bound the rest of the series beyond so many terms by a geometric one.

        |n−z| is convex along the row, and so largest at one of its ends. (|z|+n)/(n+½) falls in n
        towards 1, or rises where |z| < ½.
        """
        with ctx.workprec(_BOUND_BITS):
            first, ends = 2 * self.gap, (places.orders[0], places.orders[-1])
            for n in range(terms):
                first *= self.gap * abs(ends[0] - n).max(abs(ends[1] - n)) / (n + 0.5)
            grown = (abs(ends[0]).max(abs(ends[1])) + terms) / (terms + 0.5)
            return acb_within(geometric_tail(first, self.gap * grown.max(arb(1))))

    def _series_length(self, places: Places) -> tuple[int, int]:
        """Estimate how many terms of the series suffice, and how many bits cancel."""
        goal, gap = ctx.prec * math.log(2), max(float(self.gap.mid()), _TINY)
        first, last = complex(places.orders[0]), complex(places.orders[-1])
        far, terms, size = abs(last), 0, math.log(2 * gap)
        while terms not in _LENGTHS or size > -goal or gap * (terms + far) > terms * (1 + gap) / 2:
            deadline.check()
            size += math.log(gap * max(abs(terms - first), abs(terms - last)) / (terms + 0.5))
            terms += 1
        return terms, _rounded(_END_SPARE_BITS - far * math.log1p(-gap) / math.log(2))

    def _series(self, terms: int, bits: int) -> arb_poly:
        """Expand Σ g^n(−z)_n/(½)_n for n < terms as a polynomial in z."""
        if (terms, bits) not in self._known:
            polynomial = arb_poly([1])
            for n in reversed(range(terms - 1)):
                deadline.check()
                share = self.gap / (n + arb(0.5))
                polynomial = polynomial * arb_poly([n * share, -share]) + 1
            self._known[terms, bits] = polynomial
        return self._known[terms, bits]

    @cached_property
    def _known(self) -> dict[tuple[int, int], arb_poly]:
        """The series that were expanded, by terms and bits."""
        return {}

    def _by_fraction(self, places: list[acb], terms: int, bits: int) -> list[acb]:
        """Compute g N_n/p_n at g(z−½), g the gap, off by at most h_n/(|p_n|²|Im z|)."""
        above, below, norm = self._convergent(terms, bits)
        values = []
        for z in places:
            deadline.check()
            with ctx.workprec(bits):
                at = self.gap * (z - 0.5)
                under = below(at)
                value = self.gap * above(at) / under
            values.append(value + acb_within(norm / (abs(under) ** 2 * abs(z.imag))))
        return values

    def _fewest(self, z: acb) -> tuple[int, int]:
        """Estimate how many terms of the fraction suffice at z, and how many bits cancel.

        It stops at more than `_most_terms` where these are not enough.
        """
        goal, x = ctx.prec * math.log(2), max(float((1 - self.gap).mid()), _TINY)
        at = (1 - x) * (complex(z) - 0.5)
        ratio, without_signs, beside = 1 + 0j, 1.0, 0.0
        terms, known, lost = 0, 0.0, 0.0
        while terms <= self._most_terms and (known < goal or terms not in _LENGTHS):
            deadline.check()
            middle = terms + (terms + 1.5) * x
            ratio = at - middle - beside / ratio
            without_signs = abs(at) + middle + beside / without_signs
            terms += 1
            beside = terms * (terms + 0.5) * x
            known += 2 * math.log(abs(ratio)) - math.log(beside)
            lost += math.log(without_signs / abs(ratio))
        return terms, _rounded(_END_SPARE_BITS + lost / math.log(2))

    def _convergent(self, terms: int, bits: int) -> Convergent:
        """Expand N_n and p_n, n = `terms`, in u = g(z−½), g the gap, by Meixner's recurrence.

        p_{k+1} = (u − k − (k+3/2)x)p_k − b_k p_{k−1}, b_k = k(k+½)x, from p_0 = 1, and so N from
        N_0 = 0, N_1 = 1. h_n = Π_{k=1}^n b_k.
        """
        if (terms, bits) not in self._convergents:
            with ctx.workprec(bits):
                x, norm, beside = 1 - self.gap, arb(1), arb(1)
                last, above = arb_poly([-1]), arb_poly([0])
                before, below = arb_poly([0]), arb_poly([1])
                for k in range(terms):
                    deadline.check()
                    step = arb_poly([-(k + (k + arb(1.5)) * x), 1])
                    last, above = above, step * above - beside * last
                    before, below = below, step * below - beside * before
                    beside = (k + 1) * (k + arb(1.5)) * x
                    norm *= beside
            self._convergents[terms, bits] = above, below, norm
        return self._convergents[terms, bits]

    @cached_property
    def _convergents(self) -> dict[tuple[int, int], Convergent]:
        """The convergents that were worked out, by terms and bits."""
        return {}

    def most(self, height: arb) -> arb:
        """Bound the modulus of what e^{zL} is multiplied by for |Im z| >= height."""
        return self.atom + self.density / height


def _rounded(bits: float) -> int:
    """Round bits up to a multiple of 32."""
    return _MULTIPLE_OF_BITS * math.ceil(bits / _MULTIPLE_OF_BITS)


def ends(part: LaplaceLoss) -> tuple[LossEnd, LossEnd]:
    """Make both ends L₀ and L₁ of the loss at flint's current precision."""
    s, gamma = BALL.number(part.shift), BALL.number(part.gamma)
    loss_ends = []
    for sign, atom, log_density in ((-1, arb(0.5), s), (1, (-s).exp() / 2, -2 * s)):
        grown = (sign * s).exp()
        ratio = 1 - gamma + gamma * grown
        density = (log_density).exp() * ratio / (4 * gamma)
        gap = arb(1) if part.gamma == 1 else gamma * grown / ratio
        loss_ends.append(LossEnd(ratio.log(), atom, density, gap, sign))
    return loss_ends[0], loss_ends[1]


# --- sides
#
# Π (low_i + high_i)^{k_i}, as far as its terms' total losses lie on one side of some place.

#: e^{zL₀}B(z) and e^{zL₁}A(z) of each F at one z.
Terms = list[tuple[acb, acb]]


def ways(counts: Sequence[int]) -> int:
    """Count the sums of terms at a node: one for each way in which all kinds but one fall.

    That is the kind that is run most often.
    """
    return math.prod(k + 1 for k in sorted(counts)[:-1])


def side(terms: Terms, counts: list[int], below: list[int], aside: int) -> acb:
    """Sum the terms Π_i C(k_i,j_i) low_i^{k_i−j_i} high_i^{j_i} on one side of a place.

    For each way in which the kinds before the last fall, its j are `below` some number, or the
    others if `aside` is −1.
    """
    *others, (low, high) = terms
    *before, count = counts
    if aside < 0:
        low, high, below = high, low, [count + 1 - n for n in below]
    if not others:
        return low**count * _first_ways(count, below[0])(high / low)
    firsts = [acb(1)]
    for (first, last), k in zip(others, before, strict=True):
        run_powers = _powers(first, last, k, k + 1)
        firsts = [x * term for x in firsts for term in run_powers]
    sums = list(itertools.accumulate(_powers(low, high, count, max(below)), initial=acb(0)))
    return sum((x * sums[n] for x, n in zip(firsts, below, strict=True)), acb(0))


def _powers(first: acb, second: acb, count: int, length: int) -> list[acb]:
    """Compute C(k,j) x^{k−j} y^j for j < length <= k+1."""
    down = list(itertools.accumulate(itertools.repeat(first, count), mul, initial=acb(1)))
    up = itertools.accumulate(itertools.repeat(second, length - 1), mul, initial=acb(1))
    ways = _binomials(count)[:length]
    return [n * x * y for n, x, y in zip(ways, reversed(down), up, strict=False)]


@lru_cache(64)
def _binomials(count: int) -> list[fmpz]:
    """Return C(k, j) for 0 <= j <= k."""
    return [fmpz(math.comb(count, j)) for j in range(count + 1)]


@lru_cache(64)
def _first_ways(count: int, length: int) -> arb_poly:
    """Return the polynomial Σ C(k,j) x^j over j < length."""
    return arb_poly(_binomials(count)[:length])


# --- the sum
#
# D(y) of some runs of Laplace noise, sampled or not, on a contour that bends where F turns.
#
# F(z) = e^{zL₁}A(z) + e^{zL₀}B(z) with A and B next to the two atoms far from the real axis. From s
# = c+iT on each term of the product Π F_i^{k_i} is integrated along its own ray, to the left where
# its loss is above y, else to the right, and so falls exponentially however few runs there are
# (docs/proofs/losses.md, Lemma laplace-rays).

if TYPE_CHECKING:
    LaplaceRuns = tuple[tuple[LaplaceLoss, int], ...]

#: A path is worked out with so many bits more than are wanted and cancel. Where they are too few,
#: the ball is wider.
_SPARE_BITS = 24
#: c is a power of 2 between 2^{−12} and 2^{12}: every second of the shifts 2^{j/2}, so that nearby
#: y share a path. c steers.
_SHIFTS_APART, _FARTHEST = 2, 12
#: A number in a matrix takes so many times its bits of memory. It foresees what is refused by the
#: limit "contour".
_MEMORY_OF_A_BIT = 8
#: A value has so many bits less than flint's precision, as callers ask with a reserve. More of them
#: widen the ball, and save nodes.
_RESERVE_BITS = 30
#: The terms of Π F^k may be e^30 times larger than it where rays begin, or more at `_FARTHEST_TOP`;
#: the bits that this loses are added. It costs time alone.
_MOST_NATS_LOST = 30.0
#: `_MOST_NATS_LOST` in bits, which the ends of losses have besides: of fewer balls are wider.
_MOST_BITS_LOST = math.ceil(_MOST_NATS_LOST / math.log(2))
#: Moments in bounds are off by e^{−30} of them. The balls say so, and an error's bound needs few
#: digits.
_BOUND_NEED = 30.0
#: T, in units of an order, is at most about so much. It saves panels; farther rays would lose fewer
#: bits.
_FARTHEST_TOP = 40_000
#: More runs than these have moments that fall by themselves. It saves time: contours answer for
#: them.
_MOST_RUNS = 300
#: Ways in which all kinds but one fall are so many at most. Of more other strategies cost less
#: time.
_MOST_CHOICES = 1000
#: A ray has so many blocks at most, else its value is NaN; each has 16 nodes, worked out together.
#: More take longer before it refuses.
_MOST_BLOCKS, _BLOCK = 400, 16
#: Half the height of the strip about u, in radians; the proof needs it below π/4. A narrower strip
#: takes more nodes.
_SLANT = 0.7
#: The bounds of that strip are taken to be e^12 times larger than what is summed. The step steers,
#: and the error is bounded.
_NATS_OF_STRIP = 12.0
#: Half a panel of the straight part, over the height of its ellipse. It costs time alone.
_WIDE = 2.0
#: The half axes' sum of that ellipse over half a panel, rounded down: a wider one would leave the
#: strip that is bounded, and is unsound.
_ELLIPSE = rounded_down(1 / _WIDE + math.sqrt(1 + _WIDE**-2))
#: An exponent grows by at most so many nats in the disc about c+iT. It steers the disc, in which
#: all is bounded.
_MOST_GROWTH_IN_DISC = 12.0
#: The height of the ellipse is chosen from these shares of c. Each share below 1 has its bound;
#: more of them save nodes.
_HEIGHTS = [0.8 * 2.0**-j for j in range(8)]


def laplace_form(runs: LaplaceRuns, reverse: bool) -> Value | None:
    """Return D of few runs of Laplace noise alone; None of many.

    The kind that is run most often is put last, as a `Path` wants it.
    """
    counts = [k for _, k in runs]
    if sum(counts) > _MOST_RUNS or ways(counts) > _MOST_CHOICES:
        return None
    return partial(some_runs, tuple(sorted(runs, key=lambda run: run[1])), reverse)


def some_runs(runs: LaplaceRuns, reverse: bool, y: arb) -> arb:
    """Compute D(y) of some runs of Laplace noise to flint's precision less a reserve.

    NaN where more bits are needed, or the rays are too long. LimitError for too many terms.
    """
    if y >= _largest(runs, reverse):
        return arb(0)
    if y <= -_largest(runs, not reverse):
        return -y.expm1()
    saddle = _moments(runs, reverse).saddle(float(y.mid()))
    chosen = max(-_FARTHEST, min(round(saddle / _SHIFTS_APART), _FARTHEST))
    return _path(runs, reverse, chosen * _SHIFTS_APART, ctx.prec).profile(y)


def _largest(runs: LaplaceRuns, reverse: bool) -> arb:
    """Enclose the largest loss of all runs."""
    return sum((k * part.largest(reverse) for part, k in runs), arb(0))


@lru_cache(16)
def _moments(runs: LaplaceRuns, reverse: bool) -> Moments:
    """Make the moments of these runs, which are remembered."""
    return Moments(runs, reverse)


@lru_cache(8)
def _path(runs: LaplaceRuns, reverse: bool, saddle: int, bits: int) -> Path:
    """Make the path of c = 2^{saddle/2}, `bits` being flint's current precision."""
    return Path(runs, reverse, shift(saddle), bits)


@dataclass(frozen=True)
class Split:
    """A split parts the atoms of the total loss by `place`: y, or an atom `moved` from y.

    In each way in which all kinds but the last fall, so many of the last one's k+1 are `below` it
    or at it; `near` says how far off is the next atom of those on the left ray (−1) and the right.
    """

    place: arb
    moved: arb
    below: list[int]
    near: dict[int, arb]


@dataclass(frozen=True)
class Path:
    """A path goes from c up to c+iT, and from there slantwise to either side.

    It keeps what it has summed of the runs, for every y that is asked at `bits` of precision.
    """

    runs: LaplaceRuns
    reverse: bool
    c: float
    bits: int

    def profile(self, y: arb) -> arb:
        """Compute D(y); where y may be on an atom, by D there: it changes by at most 1 per unit.

        NaN where balls don't tell the next atom on the left from the place.
        """
        with ctx.workprec(self.work):
            split = self._split(y)
            if not split.near.get(-1, arb(1)) > 0:
                return arb.nan()
            rays = self._ray(split, aside=-1) + self._ray(split, aside=1)
            value = (self._straight(split.place) + rays) / arb.pi()
            return value + within(split.moved)

    def _split(self, y: arb) -> Split:
        """Split the atoms at y, or at the largest atom that balls don't tell from y."""
        low, high = self._losses[-1]
        below = [self._below((y - first) / (high - low)) for first in self._firsts]
        tops = list(zip(self._firsts, (upper_count for _, upper_count in below), strict=True))
        left = [first + n * (high - low) for first, n in tops if n <= self._counts[-1]]
        right = [first + (n - 1) * (high - low) for first, n in tops if n > 0]
        is_moved = any(lower_count < upper_count for lower_count, upper_count in below)
        place = functools.reduce(arb.max, right) if is_moved else y
        near = {}
        if left:
            near[-1] = functools.reduce(arb.min, left) - place
        if right:
            near[1] = (place - functools.reduce(arb.max, right)).max(arb(0))
        return Split(place, place - y if is_moved else arb(0), [n for _, n in tops], near)

    def _below(self, at: arb) -> tuple[int, int]:
        """Count the j of 0, …, k certainly below a number, and those not certainly above it."""
        count = self._counts[-1]
        inside = at.max(arb(-1)).min(arb(count + 1))
        return max(0, -floor(-inside.lower())), max(0, min(count, floor(inside.upper())) + 1)

    @cached_property
    def _firsts(self) -> list[arb]:
        """List the total loss in each way of all kinds but the last, the last at its smallest."""
        *others, (_, count) = self.runs
        *losses, (lowest_loss, _) = self._losses
        with ctx.workprec(self._end_bits):
            total_losses = [count * lowest_loss]
            for (_, k), (low, high) in zip(others, losses, strict=True):
                total_losses = [
                    loss + (k - j) * low + j * high for loss in total_losses for j in range(k + 1)
                ]
            return total_losses

    @cached_property
    def _counts(self) -> list[int]:
        """How often each kind is run."""
        return [k for _, k in self.runs]

    # --- float64: where to look

    @property
    def a(self) -> float:
        """The real part of the order z where Re s = c."""
        return order_at(self.c, self.reverse)

    def _log_moment(self, order: float) -> float:
        """Estimate log M at a real order."""
        return sum(k * float(part.float_moments(np.array([order]))[0][0]) for part, k in self.runs)

    @cached_property
    def _want(self) -> float:
        """The nats by which an error is to be below D: the bits less a reserve, 30 at least."""
        return max(self.bits - _RESERVE_BITS, _RESERVE_BITS) * math.log(2)

    @cached_property
    def top(self) -> float:
        """Estimate T, from which on the terms cancel few digits."""
        height = 1.0
        while self._log_lost(height) > _MOST_NATS_LOST and height < _FARTHEST_TOP:
            deadline.check()
            height *= 1.25
        return rounded_down(height)

    @cached_property
    def _lost(self) -> float:
        """How many nats cancel on the rays."""
        return max(self._log_lost(self.top), 0.0)

    def _log_lost(self, height: float) -> float:
        """Estimate log of the terms' bound at this height over M(c)."""
        with ctx.workprec(_BOUND_BITS):
            return float(self._terms_bound(arb(height)).log().mid()) - self._log_moment(self.a)

    @cached_property
    def work(self) -> int:
        """The bits at which all is worked out."""
        return math.ceil((self._want + self._lost) / math.log(2)) + _SPARE_BITS

    @cached_property
    def panels(self) -> tuple[int, float, int]:
        """Choose panels of the straight part: their count, ellipses' height, and nodes on each."""
        rules = [(self._nodes(share * self.c), share * self.c) for share in _HEIGHTS]
        count, height = min(rules, key=lambda rule: rule[0] / rule[1])
        panels = math.ceil(self.top / (2 * _WIDE * height))
        return panels, rounded_down(self.top / (2 * _WIDE * panels)), count

    @property
    def corner(self) -> float:
        """Im s where the panels end and the rays begin: about T, and without rounding."""
        panels, height, _ = self.panels
        return 2 * _WIDE * height * panels

    def _nodes(self, height: float) -> int:
        """Estimate the nodes of a panel whose ellipse is so high, as many at any y.

        About the saddle M(s)e^{−ys} grows evenly.
        """
        middle, left, right = map(self._log_moment, (self.c, self.c - height, self.c + height))
        grown = max((left + right) / 2 - middle, 0.0) - 2 * math.log(self.c - height)
        return max(4, math.ceil((self._want + grown + 6) / (2 * math.log(_ELLIPSE))) + 2)

    # --- balls: what is proved

    @property
    def _end_bits(self) -> int:
        """The bits of the ends of the loss, which serve places of twice the path's bits."""
        return 3 * (self.bits + _SPARE_BITS + _MOST_BITS_LOST)

    @cached_property
    def _ends(self) -> list[tuple[LossEnd, LossEnd]]:
        """The end of each kind at which the loss is least, and that at which it is largest."""
        with ctx.workprec(self._end_bits):
            kind_ends = [ends(part) for part, _ in self.runs]
            return [(high, low) if self.reverse else (low, high) for low, high in kind_ends]

    @cached_property
    def _losses(self) -> list[tuple[arb, arb]]:
        """What e^s is raised to at these ends: the losses of the direction that is asked."""
        sign = -1 if self.reverse else 1
        return [(sign * low.loss, sign * high.loss) for low, high in self._ends]

    @cached_property
    def _extremes(self) -> tuple[arb, arb]:
        """The least and the largest total loss, in the direction that is asked."""
        low, high = (
            sum((k * loss for k, loss in zip(self._counts, losses, strict=True)), arb(0))
            for losses in zip(*self._losses, strict=True)
        )
        return low, high

    def _moment(self, shift: float) -> arb:
        """Enclose M at a real shift, to a few digits."""
        with ctx.workprec(_BOUND_BITS):
            moment = arb(1)
            for part, k in self.runs:
                moment *= part.sample(order_at(shift, self.reverse), 0.0, _BOUND_NEED).moment ** k
            return moment

    # --- from c to c+iT, where M is a sum over nodes

    def _straight(self, y: arb) -> arb:
        """Integrate Re M(s)e^{−ys}/(s(s+1)) over the straight part, error included."""
        panels, height, count = self.panels
        half = _WIDE * arb(height)
        rows = acb_mat(1, panels, [acb(0, -y * half * (2 * i + 1)).exp() for i in range(panels)])
        columns = [acb(0, -y * half * u).exp() * w for u, w in legendre(count, self.work)]
        total = (rows * self._nodes_of_panels * acb_mat(count, 1, columns))[0, 0]
        value = total.real * half * (-arb(self.c) * y).exp()
        return value + within(panels * self._off(y))

    @cached_property
    def _nodes_of_panels(self) -> acb_mat:
        """Compute M(s)/(s(s+1)) at the nodes of Gauss's rule, a row for each panel."""
        panels, height, count = self.panels
        self._check(panels * count)
        half, c = _WIDE * arb(height), arb(self.c)
        middles = [half * (2 * i + 1) for i in range(panels)]
        places = [half * u for u, _ in legendre(count, self.work)]
        rows = [[acb(c, middle + place) for place in places] for middle in middles]
        moments = [[1 / (s * (s + 1)) for s in row] for row in rows]
        need = self._want + math.log(sum(k for _, k in self.runs)) + 4
        for part, k in self.runs:
            sample = part.sample(self.a, self.top, need)
            self._check((panels + count) * len(sample.losses))
            values = self._moments_at(sample, middles, places)
            moments = [
                [x * value**k for x, value in zip(*both, strict=True)]
                for both in zip(moments, values, strict=True)
            ]
        return acb_mat(moments)

    def _check(self, terms: int) -> None:
        """Raise LimitError for matrices of so many terms that are more bits than "contour" has."""
        runs, bits = sum(self._counts), terms * _MEMORY_OF_A_BIT * self.work
        limits.check("contour", bits, f"the profile of {runs} runs, bits of its terms")

    def _moments_at(self, sample: Sample, middles: list[arb], places: list[arb]) -> list[list[acb]]:
        """Compute F at a+it, t the sum of a middle and a place, by one product of matrices."""
        sign, off = -1 if self.reverse else 1, within(sample.error)
        outer = [[acb(0, sign * t * loss).exp() for loss in sample.losses] for t in middles]
        inner = [
            [w * acb(0, sign * t * loss).exp() for t in places]
            for w, loss in zip(sample.weights, sample.losses, strict=True)
        ]
        disc = acb(off, off)
        return [[x + disc for x in row] for row in (acb_mat(outer) * acb_mat(inner)).tolist()]

    def _off(self, y: arb) -> arb:
        """Bound the error of Gauss's rule on a panel, as in `laplace._sample`.

        In its ellipse |M(s)e^{−ys}| is at most what it is at one end of the real parts.
        """
        _, height, count = self.panels
        with ctx.workprec(_BOUND_BITS):
            lowest_shift, rho = arb(self.c) - arb(height), arb(_ELLIPSE)
            low, high = self._at_heights
            most = (low * (-lowest_shift * y).exp()).max(
                high * (-(arb(self.c) + arb(height)) * y).exp()
            )
            most /= lowest_shift * (lowest_shift + 1)
            return arb(64) / 15 * _WIDE * height * most * rho ** (-2 * count) / (1 - rho**-2)

    @cached_property
    def _at_heights(self) -> tuple[arb, arb]:
        """M at the least and the largest real part of the panels' ellipses."""
        height = self.panels[1]
        return self._moment(self.c - height), self._moment(self.c + height)

    # --- from c+iT on, a ray for the atoms on either side of y

    def _ray(self, split: Split, aside: int) -> arb:
        """Integrate Im of the terms below y on the right ray, or of the others on the left.

        `aside` is 1 for the right ray and −1 for the left one. It is a trapezoidal sum over u, by
        blocks up to where the terms are small enough; NaN where 400 blocks are not enough.
        """
        total, y = arb(0), split.place
        if aside not in split.near:
            return total
        low, high = self._extremes
        near, far = split.near[aside], (y - low if aside > 0 else high - y)
        small = self._moment(self.c) * (-arb(self.c) * y - arb(self._want)).exp()
        for i in range(_MOST_BLOCKS):
            for s, value in self._summed(split.below, aside, i):
                total += (value * (-s * y).exp()).imag
            left = self._beyond(y, i, near)
            if left < small:
                return total + within(left + self._off_ray(y, far))
        return arb.nan()

    @cached_property
    def _step(self) -> float:
        """The step of u, for about the error that is wanted."""
        return rounded_down(2 * math.pi * _SLANT / (self._want + self._lost + _NATS_OF_STRIP))

    @cached_property
    def _disc(self) -> tuple[float, arb]:
        """Choose the scale of v = scale·e^{u−e^{−u}}, and the radius of the disc about c+iT.

        v lies within the radius where it is not on the ray's side.
        """
        low, high = self._extremes
        slanted = (math.pi / 4 - _SLANT) / math.sin(_SLANT)
        grown = math.exp(-slanted * math.cos(_SLANT)) / slanted
        reach = min(self.corner / 2, _MOST_GROWTH_IN_DISC / float((high - low).mid()))
        with ctx.workprec(_BOUND_BITS):
            scale, slant = rounded_down(reach / grown), arb(_SLANT)
            turned = (arb.pi() / 4 - slant) / slant.sin()
            return scale, scale * (-turned * slant.cos()).exp() / turned

    def _summed(self, below: list[int], aside: int, i: int) -> list[tuple[acb, acb]]:
        """Sum the terms of M/(s(s+1)) without e^{−ys} at the nodes of a block, weighed."""
        key = aside, i
        if key not in self._sums or self._sums[key][0] != below:
            if key not in self._on_rays:
                self._on_rays[key] = list(self._nodes_on(aside, i))
            weighed = [
                (s, weight * side(terms, self._counts, below, aside))
                for s, weight, terms in self._on_rays[key]
            ]
            self._sums[key] = below, weighed
        return self._sums[key][1]

    @cached_property
    def _sums(self) -> dict[tuple[int, int], tuple[list[int], list[tuple[acb, acb]]]]:
        """The sums of each block by ray and block, with the split that was asked for last."""
        return {}

    @cached_property
    def _on_rays(self) -> dict[tuple[int, int], list[tuple[acb, acb, Terms]]]:
        """The nodes of each block that was asked for, by ray and block."""
        return {}

    def _nodes_on(self, aside: int, i: int) -> Iterator[tuple[acb, acb, Terms]]:
        """Yield s, the weight over s(s+1) and the two terms of each F on a ray."""
        with ctx.workprec(2 * self.work):
            turn, corner = acb(aside, 1) * arb(0.5).sqrt(), acb(self.c, self.corner)
            along = [self._along(n) for n in range(i * _BLOCK, (i + 1) * _BLOCK)]
            places = [corner + turn * v for v, _ in along]
            orders = Places([order_at(s, self.reverse) for s in places])
        ends = [[self._term(end, orders) for end in both] for both in self._ends]
        for j, (s, (_, rate)) in enumerate(zip(places, along, strict=True)):
            weight = turn * rate * self._step / (s * (s + 1))
            yield s, weight, [(low[j], high[j]) for low, high in ends]

    def _term(self, end: LossEnd, places: Places) -> list[acb]:
        """Compute e^{zL}A(z), one of the two terms of an F, at each place."""
        deadline.check()
        values = zip(places.orders, end.at(places), strict=True)
        return [(z * end.loss).exp() * value for z, value in values]

    def _along(self, n: int) -> tuple[arb, arb]:
        """Compute v = scale·e^{u−e^{−u}} and dv/du at the n-th node, counted from the first."""
        deadline.check()
        u = arb(self._step) * (n + self._first_node)
        fallen = (-u).exp()
        v = self._disc[0] * (u - fallen).exp()
        return v, v * (1 + fallen)

    @cached_property
    def _first_node(self) -> int:
        """The multiple of the step at the first node: before it all is too near c+iT to count."""
        most = self._want + self._lost + _NATS_OF_STRIP
        return -math.floor(math.log(most) / self._step)

    def _scale(self, y: arb, height: arb) -> arb:
        """Bound all the terms' moduli on Re s = c, at this height or above, times e^{−cy}."""
        return self._terms_bound(height) * (-arb(self.c) * y).exp()

    def _terms_bound(self, height: arb) -> arb:
        """Bound Π (|e^{zL₀}B| + |e^{zL₁}A|)^k on Re s = c, at this height or above."""
        bound, a = arb(1), arb(self.a)
        for (_, k), (low, high) in zip(self.runs, self._ends, strict=True):
            first, last = ((a * end.loss).exp() * end.most(height) for end in (low, high))
            bound *= (first + last) ** k
        return bound

    def _off_ray(self, y: arb, far: arb) -> arb:
        """Bound the error of a ray's sum, and what is left out before the first node.

        `far` is the largest distance in nats from y to a loss that the ray sums. Both edges of the
        sum's strip lie in the quarter or in the disc.
        """
        with ctx.workprec(_BOUND_BITS):
            radius, corner, slant = self._disc[1], arb(self.corner), arb(_SLANT)
            reach = abs(acb(self.c, self.corner)) + 1
            near = self._scale(y, corner - radius) * (radius * far).exp() / (corner - radius) ** 2
            aside = self._scale(y, corner) * (2 * reach / corner**2 + 1 / reach)
            edges = 2 * (radius * near + aside) / slant.cos()
            before, _ = self._along(0)
            return edges / (2 * arb.pi() * slant / arb(self._step)).expm1() + before * near

    def _beyond(self, y: arb, i: int, near: arb) -> arb:
        """Bound what lies beyond the i-th block: dv/du <= 2v, and v grows by e^h at least.

        ∞ where dv/du may be more than 2v. `near` is how far off the next atom is.
        """
        with ctx.workprec(_BOUND_BITS):
            v, rate = self._along((i + 1) * _BLOCK - 1)
            if not rate <= 2 * v:
                return arb.pos_inf()
            aside = v * arb(0.5).sqrt()
            return 4 * self._scale(y, arb(self.corner) + aside) * (-aside * near).exp() / v
