"""The blog's C(c₁, c₂), enclosed: branch and bound over the noise, and a proof for its tail.

C = sup G_λ(rμ₁+(1−r)μ₀‖μ₀) over r <= min(1, c₁/σ), 1 <= λ <= c₂σ², μ_i = N(i, σ²). With s = 1/σ²
and M_s = e^{√s Z − s/2}, Z standard normal, G = E[(1−r+rM_s)^λ] is nondecreasing and convex in
each of λ, r and s:

- in λ, as m^λ is, with log G = 0 at λ = 1; in r, with the slope λE[M−1] = 0 at r = 0;
- in s, since dE[f(M_s)]/ds = E[(Lf)(M_s)], L = ½m²d²/dm², and Lf and L²f are >= 0 for
  f = (1−r+rm)^λ: with v = rm/(1−r+rm), L²f has the sign of 2 + 4(λ−2)v + (λ−2)(λ−3)v², which is
  positive on [0, 1]: it has no real root for 1 < λ < 2, is concave with ends 2 and λ(λ−1) for
  2 <= λ <= 3, and has no negative term from there on.

So C is the supremum over σ alone, at λ = c₂σ² and r = min(1, c₁/σ).
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from symacct.analysis.sampled_gaussian import sampled_gaussian_excess
from symacct.kernel import deadline
from symacct.kernel.answer import Enclosure, from_ball
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, normal_tail, precision
from symacct.kernel.claims import ADD_REMOVE, FINITE_ORDERS, Claim, Kind
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import rational, whole
from symacct.kernel.sources import BLOG

#: The claim of log C.
_CLAIM = Claim(Kind.EXACT, ADD_REMOVE, FINITE_ORDERS, sources=(BLOG.at("Claim 26, part 2"),))


@dataclass(frozen=True)
class MomentSteering:
    """Where C is looked for, and how long: each value that is enclosed is proved."""

    #: Blocks of σ that are halved before what is proved by then is given back.
    blocks: int = 2000
    #: Blocks that are halved before it is asked whether `blocks` could do. It costs time alone.
    tried: int = 250
    #: σ² at the right end of a first block over that at its left: bounds miss by its square. Each
    #: block is bounded; a smaller ratio takes longer.
    growth: Fraction = Fraction(5, 4)
    #: The order λ from which on no further block is added, whatever of the tail is proved.
    last_order: int = 10**12
    #: The tail's integral is bounded by the least value of h on [Y, y], which is bounded on so many
    #: intervals of equal length: more of them give a nearer bound and take longer.
    cells: int = 64
    #: Y, at which tz of the tail's second part ends, and B less the slope, where the first one
    #: ends: where they meet is free, and the least bound counts.
    ends: tuple[Fraction, ...] = tuple(Fraction(2) ** k for k in (-4, -2, -1, 0, 1))
    beyond: tuple[int, ...] = (2, 4, 6, 8, 12, 20)


#: The numbers of the search for C, which no proof rests on.
STEERING = MomentSteering()
#: The largest c₂ and c₁²c₂: beyond, log C is about c₁²c₂e^{c₂−1}/2, and enclosing it takes long.
#: Larger ones are refused.
_LARGEST_C2, _LARGEST_PRODUCT = 20, 10**5
#: c₁ and c₂ are no smaller, since the search steers by floats. Smaller ones are refused.
_SMALLEST_CONSTANT = Fraction(1, 10**30)


@dataclass(frozen=True)
class MomentConstant:
    """C(c₁, c₂) by its logarithm: `log_value` is an Enclosure of log C.

    Its lower end is met at the noise `sigma` and the order `order` = c₂σ²; both are None where it
    is `log_limit` = c₁²c₂²/2, the limit as σ → ∞.
    """

    log_value: Enclosure
    sigma: Fraction | None
    order: Fraction | None
    log_limit: Fraction

    def __str__(self) -> str:
        where = "as σ → ∞" if self.sigma is None else f"at σ = {float(self.sigma):.6g}"
        return f"log C = {self.log_value}, met {where}"


def moment_constant(c1: Numeric, c2: Numeric, digits: int = 8) -> MomentConstant:
    """log C(c₁, c₂), C = sup G_λ(rμ₁+(1−r)μ₀‖μ₀) over r <= c₁/σ, λ <= c₂σ² (BLOG Claim 26).

    Over all noise σ > 0, rates r <= 1 and real orders λ >= 1, certified. There are fewer digits
    than asked for where the maximum is too flat for a few thousand blocks of σ, which only a small
    c₁√c₂ makes it. The blog's limit 0 for σ → ∞ is a slip (every G is at least 1): it is
    e^{c₁²c₂²/2}, and the largest value is met near σ = c₁e^{(c₂−1)/2}, where the last term
    r^λ e^{λ(λ−1)/(2σ²)} alone makes log C about c₁²c₂e^{c₂−1}/2: C is doubly exponential in c₂.
    DomainError unless c₁, c₂ > 0.

    >>> print(moment_constant(1, 2, digits=6).log_value)
    3.53164
    """
    c1, c2 = rational(c1, "moment_constant, c1"), rational(c2, "moment_constant, c2")
    if c1 == 0 or c2 == 0:
        raise DomainError(f"moment_constant: found c1 = {c1}, c2 = {c2}, needed both > 0")
    if c2 > _LARGEST_C2 or c1**2 * c2 > _LARGEST_PRODUCT:
        raise DomainError(
            f"moment_constant: found c1 = {c1}, c2 = {c2}, needed c2 <= {_LARGEST_C2} and "
            f"c1²c2 <= {_LARGEST_PRODUCT}; beyond, log C is about c1²c2e^(c2−1)/2"
        )
    if min(c1, c2) < _SMALLEST_CONSTANT:
        raise DomainError("moment_constant: found c1 or c2 below 1e-30, needed a larger one")
    digits = whole(digits, "moment_constant, digits", least=1)
    region, log_limit = Region(c1, c2), (c1 * c2) ** 2 / 2
    small = max(0, -2 * math.frexp(float(log_limit))[1])  # log G is then lost in G − 1 otherwise
    with precision(40 + 4 * digits + small):
        search = _NoiseSearch(region, log_limit, digits)
        search.run()
        value = from_ball(search.enclosed(), _CLAIM, digits, True)
    order = None if search.place is None else region.order(search.place)
    return MomentConstant(value, search.place, order, log_limit)


class _NoiseSearch:
    """Blocks of σ, the one with the largest bound first, until no bound is above what was met."""

    def __init__(self, region: Region, log_limit: Fraction, digits: int) -> None:
        self.region = region
        self.digits = digits
        self.best: arb = ball(log_limit).lower()
        self.place: Fraction | None = None
        self.tail = arb("inf")
        #: (−most, left, right, most): log G <= most for all σ between, the largest comes first.
        self._heap: list[tuple[float, Fraction, Fraction, arb]] = []

    def run(self) -> None:
        """Cover σ up to where the tail is proved, then halve the blocks that may hold more.

        Until the digits are there, or `STEERING.blocks` are halved: `enclosed` is proved any time.
        """
        for left, right in pairwise(self._ends()):
            self._add(left, right)
        for halved in range(STEERING.blocks):
            _, left, right, most = self._heap[0]
            if most <= self._enough():
                return
            # Are the blocks too few, as a bound misses by the square of a width? It steers.
            reach = (self._enough() - self.best) * 4 * (STEERING.blocks / STEERING.tried) ** 2
            if halved == STEERING.tried and most - self.best > reach:
                return
            heapq.heappop(self._heap)
            middle = between(left, right)
            self._meet(middle)
            self._add(left, middle)
            self._add(middle, right)

    def enclosed(self) -> arb:
        """log C: from the best value met to the largest bound of a block, or that of the tail."""
        largest = self.tail.max(self.best)
        for *_, most in self._heap:
            largest = largest.max(most)
        return self.best.union(largest)

    def _ends(self) -> list[Fraction]:
        """The rising ends of the first blocks, where values are met and the tail's bound is kept.

        They go on up to the first σ from which on the tail is bounded well enough, or whose λ is
        beyond `STEERING.last_order`, where that bound may be larger, or ∞.
        """
        ends = [self.region.first()]
        while True:
            deadline.check()
            self._meet(ends[-1])
            self.tail = self.region.log_tail(ends[-1])
            if self.tail <= self._enough() or self.region.order(ends[-1]) > STEERING.last_order:
                return ends
            ends.append(between(ends[-1], ends[-1] * STEERING.growth))

    def _enough(self) -> arb:
        """The log C up to which bounds are as good as the best value met, to the digits asked."""
        return self.best + abs(self.best) * arb(10) ** -(self.digits + 1)

    def _meet(self, sigma: Fraction) -> None:
        """Keep the proved value at this σ and its place, if it is above the best one."""
        value = self.region.log_moment(sigma).lower()
        if value.is_finite() and value > self.best:
            self.best, self.place = value, sigma

    def _add(self, left: Fraction, right: Fraction) -> None:
        """Bound a block of σ, and put it on the heap by that bound, the largest first."""
        most = self.region.over_block(left, right, self._enough())
        most = most if most.is_finite() else arb("inf")
        heapq.heappush(self._heap, (-float(most), left, right, most))


@dataclass(frozen=True)
class Region:
    """G along the curve λ = c₂σ², r = min(1, c₁/σ), and bounds on it."""

    c1: Fraction
    c2: Fraction

    def first(self) -> Fraction:
        """A σ below which G is nowhere larger: r = 1 before c₁, λ < 1 before 1/√c₂.

        With r = 1, log G = c₂(λ−1)/2 grows with σ.
        """
        root = Fraction(math.isqrt(2**80 * self.c2.denominator // self.c2.numerator), 2**40)
        return max(self.c1, root)

    def order(self, sigma: Fraction) -> Fraction:
        """λ = c₂σ², at least 1."""
        return max(Fraction(1), self.c2 * sigma**2)

    def rate(self, sigma: Fraction) -> Fraction:
        """r = min(1, c₁/σ)."""
        return min(Fraction(1), self.c1 / sigma)

    def log_moment(self, sigma: Fraction) -> arb:
        """log G at this σ, in a ball."""
        return log_moment(self.order(sigma), self.rate(sigma), sigma)

    def over_block(self, left: Fraction, right: Fraction, enough: arb) -> arb:
        """An upper bound of log G between two σ; below `enough` nothing better is looked for.

        At once, the corner with the largest λ, r and s. Better, for it misses by the square of the
        width: on the box G is at most the trilinear function of its corner values. Where λ has gone
        the share u of its way, at most 1−u of that of r and s is left, since both are convex in λ;
        and G does not fall in either. So G is at most a cubic in u, and that at most its largest
        Bernstein coefficient, the mean over the corners with k of λ, r, s at the right end.
        """
        last = log_moment(self.order(right), self.rate(left), left)
        if last <= enough:
            return last
        corners: list[list[arb]] = [[], [last], [], []]
        for ends in itertools.product((left, right), repeat=3):
            if ends != (right, left, left):
                of_order, of_rate, sigma = ends
                value = log_moment(self.order(of_order), self.rate(of_rate), sigma)
                corners[ends.count(right)].append(value)
        largest: arb = BALL.maximum(*map(_log_mean, corners))
        return largest

    def log_tail(self, sigma: Fraction) -> arb:
        """An upper bound of log G at every σ from this one on; ∞ where none is proved.

        With t = 1/σ, λt² = c₂ and λrt = c₁c₂, G = E[(1+r(e^{tZ−t²/2}−1))^λ] is split into three:
        Z <= B, where log(1+x) <= x; Z > B and tZ <= Y; tZ > Y. Each part's bound falls as σ grows.
        """
        if self.c1 > sigma:
            return arb("inf")
        smallest = arb("inf")
        for end in STEERING.ends:
            far = self.tail_integral(sigma, end)
            slope = ball(self.c1 * self.c2 / end) * ball(end).expm1()
            for beyond in STEERING.beyond:
                total = self.centre(sigma, slope + beyond) + _above(slope, slope + beyond) + far
                if total.is_finite():
                    smallest = smallest.min(total.log())
        return smallest

    def centre(self, sigma: Fraction, reach: arb) -> arb:
        """An upper bound of the part Z <= B = `reach`; ∞ where it has none.

        e^{p}/√(1−2b), p = −c₁c₂(t/2−t³/8) + (c₁c₂)²/(2(1−2b)), b = c₁c₂te^{tB}/2.
        For e^{tz} <= 1 + tz + t²z²e^{tB}/2 and e^{−t²/2} <= 1 − t²/2 + t⁴/8 leave a normal integral
        of e^{c₁c₂z + bz²}. It grows with t: b′ >= c₁c₂/2 outweighs the first term.
        """
        t, a = ball(1 / sigma), ball(self.c1 * self.c2)
        room = 1 - a * t * (t * reach).exp()
        if not room > 0:
            return arb("inf")
        return (a * (t**3 / 8 - t / 2) + a**2 / (2 * room)).exp() / room.sqrt()

    def tail_integral(self, sigma: Fraction, end: Fraction) -> arb:
        """An upper bound of the part tZ > Y = `end`; ∞ where it is not proved to fall.

        √(λ/(2πc₂)) ∫_Y^∞ e^{−λh(y)} dy, h(y) = y²/(2c₂) − log(1+r(e^y−1)).
        From y = 4c₂ on h >= y²/(2c₂) − y >= y²/(4c₂). As σ grows r falls and h rises; with a least
        h of η >= 1/(2λ), √λ e^{−λη} falls.
        """
        order, rate = ball(self.order(sigma)), ball(self.rate(sigma))
        last, c2 = max(4 * self.c2, end + 1), ball(self.c2)
        lowest = ball(last) ** 2 / (4 * c2)
        for i in range(STEERING.cells):
            left, right = (end + (last - end) * Fraction(k, STEERING.cells) for k in (i, i + 1))
            lowest = lowest.min(ball(left) ** 2 / (2 * c2) - (rate * ball(right).expm1()).log1p())
        if not lowest * 2 * order >= 1:
            return arb("inf")
        inside = (order / (2 * arb.pi() * c2)).sqrt() * ball(last - end) * (-order * lowest).exp()
        outside = (ball(last) * (order / (4 * c2)).sqrt()).erfc() / arb(2).sqrt()
        return inside + outside


def log_moment(order: Fraction, rate: Fraction, sigma: Fraction) -> arb:
    """log G = log E_{z~N(0,σ²)}[(1−r+re^{(2z−1)/(2σ²)})^λ] in a ball, λ >= 1 and 0 < r <= 1."""
    if order == 1:
        return arb(0)
    if rate == 1:
        return ball(order * (order - 1) / (2 * sigma**2))
    return sampled_gaussian_excess(order, rate, sigma).log1p()


def between(left: Fraction, right: Fraction) -> Fraction:
    """A short fraction between left and right, near √(left·right)."""
    width = float((right - left) / right)
    shift = max(0, 4 - math.frexp(width)[1] - math.frexp(float(right))[1])
    root = math.isqrt(math.floor(left * right * 4**shift))
    middle = Fraction(root, 2**shift)
    return middle if left < middle < right else (left + right) / 2


def _above(slope: arb, start: arb) -> arb:
    """An upper bound E[e^{aZ}; Z > B] of the part Z > B = `start`, tZ <= Y.

    a = `slope` = c₁c₂(e^Y−1)/Y >= c₁c₂(e^{tZ}−1)/(tZ).
    """
    return (slope**2 / 2).exp() * normal_tail(start - slope)


def _log_mean(logs: list[arb]) -> arb:
    """log of the mean of e^x over the list, in a ball."""
    most: arb = BALL.maximum(*logs)
    return most + (sum(((x - most).exp() for x in logs), arb(0)) / len(logs)).log()
