"""D(y) of some runs of sampled Laplace noise, on a contour that bends where the moment turns.

F(z) = e^{zL₁}A(z) + e^{zL₀}B(z) with A and B next to the two atoms far from the real axis. From
s = c+iT on each term of F^k is integrated along its own ray, to the left where its loss is above
y, else to the right, and so falls exponentially however few runs there are (docs/proofs.md,
section 16).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import acb, acb_mat, acb_poly, arb, arb_series, ctx

from symacct import sizes
from symacct.arithmetic import BALL
from symacct.forking import cached_property
from symacct.profile.laplace import LaplaceLoss, Sample, legendre
from symacct.profile.part import short
from symacct.profile.shape import Moments, shift
from symacct.sums.refine import within

_BOUND_BITS = 64
_SPARE = 24  # bits
_APART, _FARTHEST = 8, 12  # c is a power of 2 between 2^−12 and 2^12
_MATRIX = 8  # times as much as its bits is a number in a matrix
_GUARD = 30  # bits of those asked for that are not needed
_LOST = 30.0  # nats, up to which the terms of F^k may be larger than it
_LOST_BITS = math.ceil(_LOST / math.log(2))
_BOUND_NEED = 30.0
_FAR = 1.1  # times as far as where the terms of a series in 1/z are small enough
_MOST_NODES = 40_000
_MOST_DOUBLINGS = 400
_WIDE = 2.0  # half a panel of the straight part, over the height of its ellipse
_ELLIPSE = 1 / _WIDE + math.sqrt(1 + _WIDE**-2)
_RHO = 4.0  # the half-axes' sum of the ellipses about the rays' panels
_OVER = math.sqrt(((_RHO + 1 / _RHO) ** 2 + (_RHO - 1 / _RHO) ** 2) / 8)  # their reach, up or aside
_FIRST = 12.0  # the most that an exponent falls on a ray's first panel
_HEIGHTS = [0.8 * 2.0**-j for j in range(8)]  # over c


def some_runs(part: LaplaceLoss, count: int, reverse: bool, y: arb) -> arb:
    """D(y) at flint's current precision; not finite where y is next to an atom."""
    if y >= count * part.largest(reverse):
        return arb(0)
    if y <= -count * part.largest(not reverse):
        return -y.expm1()
    saddle = _moments(part, count, reverse).saddle(float(y.mid()))
    chosen = max(-_FARTHEST, min(round(saddle / _APART), _FARTHEST))
    return _path(part, count, reverse, chosen * _APART, ctx.prec).profile(y)


@lru_cache(16)
def _moments(part: LaplaceLoss, count: int, reverse: bool) -> Moments:
    return Moments(((part, count),), reverse)


@lru_cache(8)
def _path(part: LaplaceLoss, count: int, reverse: bool, saddle: int, bits: int) -> Path:
    return Path(part, count, reverse, shift(saddle), bits)


@dataclass(frozen=True)
class End:
    """One end L of the loss: e^{zL}(atom ± Σ c_m e^{−(m+½)L}/(z−m−½)), c_m >= 0, is in F(z).

    `density` is Σ c_m e^{−(m+½)L}; `gap` is 1−x, x = (1−γ)e^{−L}.
    """

    loss: arb
    atom: arb
    density: arb
    gap: arb
    sign: int

    def at(self, z: acb) -> acb:
        """What e^{zL} is multiplied by: far from 0 a series, else 2F1 after Euler."""
        fallen = float((abs(z) * -(1 - self.gap).log()).mid()) / math.log(2)
        if fallen > _FAR * ctx.prec:
            return self.atom + self.sign * self._far(z)
        with ctx.extraprec(math.ceil(fallen)):  # about what cancels
            whole = acb(1 - self.gap).hypgeom_2f1(acb(1), -z, acb(1.5) - z)
        return self.atom + self.sign * self.density * self.gap * whole / (z - 0.5)

    def _far(self, z: acb) -> acb:
        """Σ G_n/z^{n+1}, G_n = Σ c_m (m+½)^n e^{−(m+½)L}, as |z−m−½| >= |Im z|."""
        *series, last = self._slopes
        w = 1 / z
        rest = (last * abs(w) ** len(series) / abs(z.imag)).upper()
        return w * acb_poly(series)(w) + acb(arb(0, rest), arb(0, rest))

    @cached_property
    def _slopes(self) -> list[arb]:
        """G_0, G_1, …: n! times the coefficients in τ of the density at L−τ,

        which is e^{τ/2}((1−xe^τ)/(1−x))^{−3/2} times that at L.
        """
        length, before = ctx.prec * 3 // 4 + 8, ctx.cap
        try:
            ctx.cap = length
            tau = arb_series([0, 1], prec=length)
            fallen = (1 - (1 - self.gap) * tau.exp()) / self.gap
            found = (tau / 2).exp() * (fallen.log() * arb(-1.5)).exp()
        finally:
            ctx.cap = before
        scale, slopes = self.density, []
        for n, coefficient in enumerate(found.coeffs()):
            scale *= max(n, 1)
            slopes.append(scale * coefficient)
        return slopes

    def most(self, height: arb) -> arb:
        """A bound of it for |Im z| >= height."""
        return self.atom + self.density / height


@dataclass(frozen=True)
class Path:
    """From c up to c+iT, and from there slantwise to either side."""

    part: LaplaceLoss
    count: int
    reverse: bool
    c: float
    bits: int

    def profile(self, y: arb) -> arb:
        """D(y); not finite where y is next to an atom."""
        with ctx.workprec(self.work):
            below = self._atoms_below(y)
            if below is None or not 0 < below <= self.count:
                return arb.nan()
            rays = self._ray(y, below, aside=-1) + self._ray(y, below, aside=1)
            return (self._straight(y) + rays) / arb.pi()

    def _atoms_below(self, y: arb) -> int | None:
        """How many of the k+1 atoms (k−j)l + jh of the total loss are below y."""
        low, high = self._losses
        found = [(self.count - j) * low + j * high for j in range(self.count + 1)]
        if not all(loss < y or loss > y for loss in found):
            return None
        return sum(bool(loss < y) for loss in found)

    # --- float64: where to look

    @property
    def a(self) -> float:
        """Re z where Re s = c."""
        return self._order(self.c)

    def _order(self, shift: float) -> float:
        return -shift if self.reverse else 1 + shift

    def _log_moment(self, order: float) -> float:
        return self.count * float(self.part.steer(np.array([order]))[0][0])

    @cached_property
    def _want(self) -> float:
        return max(self.bits - _GUARD, _GUARD) * math.log(2)

    @cached_property
    def top(self) -> float:
        """About T, from which on the terms cancel few digits."""
        height = 1.0
        while self._log_lost(height) > _LOST and height < _MOST_NODES:
            height *= 1.25
        return short(height)

    @cached_property
    def _lost(self) -> float:
        """How many nats cancel."""
        return max(self._log_lost(self.top), 0.0)

    def _log_lost(self, height: float) -> float:
        """log of the terms' bound at this height over F(a)^k; float64."""
        with ctx.workprec(_BOUND_BITS):
            terms = sum(
                ((arb(self.a) * end.loss).exp() * end.most(arb(height)) for end in self._ends),
                arb(0),
            )
            return self.count * float(terms.log().mid()) - self._log_moment(self.a)

    @cached_property
    def work(self) -> int:
        """Bits at which all is worked out."""
        return math.ceil((self._want + self._lost) / math.log(2)) + _SPARE

    @cached_property
    def panels(self) -> tuple[int, float, int]:
        """Of the straight part: how many, the height of their ellipses, and nodes on each."""
        found = [(self._nodes(share * self.c), share * self.c) for share in _HEIGHTS]
        count, height = min(found, key=lambda one: one[0] / one[1])
        panels = math.ceil(self.top / (2 * _WIDE * height))
        return panels, short(self.top / (2 * _WIDE * panels)), count

    @property
    def corner(self) -> float:
        """Im s where the panels end and the rays begin: about T, and without rounding."""
        panels, height, _ = self.panels
        return 2 * _WIDE * height * panels

    def _nodes(self, height: float) -> int:
        """On a panel whose ellipse is so high: about the saddle M(s)e^{−ys} grows evenly."""
        middle, left, right = map(self._log_moment, (self.c, self.c - height, self.c + height))
        grown = max((left + right) / 2 - middle, 0.0) - 2 * math.log(self.c - height)
        return max(4, math.ceil((self._want + grown + 6) / (2 * math.log(_ELLIPSE))) + 2)

    # --- balls: what is proved

    @cached_property
    def _ends(self) -> tuple[End, End]:
        """L₀ and L₁."""
        with ctx.workprec(3 * (self.bits + _SPARE + _LOST_BITS)):
            return ends(self.part)

    @cached_property
    def _losses(self) -> tuple[arb, arb]:
        """What e^s is raised to at either end, the lower first."""
        low, high = (end.loss for end in self._ends)
        return (-high, -low) if self.reverse else (low, high)

    def _z(self, s: acb) -> acb:
        return -s if self.reverse else 1 + s

    def _moment(self, shift: float) -> arb:
        """M at a real shift, to a few digits."""
        with ctx.workprec(_BOUND_BITS):
            sample = Sample(self.part, self._order(shift), 0.0, _BOUND_NEED)
            return sample.total(sample.weights) ** self.count

    # --- from c to c+iT, where M is a sum over nodes

    def _straight(self, y: arb) -> arb:
        """∫ Re M(s)e^{−ys}/(s(s+1)) dt."""
        panels, height, count = self.panels
        half = _WIDE * arb(height)
        rows = acb_mat(1, panels, [acb(0, -y * half * (2 * i + 1)).exp() for i in range(panels)])
        columns = [acb(0, -y * half * u).exp() * w for u, w in legendre(count, self.work)]
        total = (rows * self._nodes_of_panels * acb_mat(count, 1, columns))[0, 0]
        value = total.real * half * (-arb(self.c) * y).exp()
        return value + within(panels * self._off(y))

    @cached_property
    def _nodes_of_panels(self) -> acb_mat:
        """M(s)/(s(s+1)) at the nodes of Gauss's rule, a row for each panel."""
        panels, height, count = self.panels
        half, c = _WIDE * arb(height), arb(self.c)
        need = self._want + math.log(self.count) + 4
        sample = Sample(self.part, self.a, self.top, need)
        bits = (panels + count) * len(sample.losses) * _MATRIX * self.work
        sizes.check("contour", bits, f"the profile of {self.count} runs, bits of its terms")
        sign = -1 if self.reverse else 1
        middles = [half * (2 * i + 1) for i in range(panels)]
        places = [half * u for u, _ in legendre(count, self.work)]
        outer = [[acb(0, sign * t * loss).exp() for loss in sample.losses] for t in middles]
        inner = [
            [w * acb(0, sign * t * loss).exp() for t in places]
            for w, loss in zip(sample.weights, sample.losses, strict=True)
        ]
        off = arb(0, sample.error.upper())
        disc, found = acb(off, off), (acb_mat(outer) * acb_mat(inner)).tolist()
        for row, middle in zip(found, middles, strict=True):
            for i, place in enumerate(places):
                s = acb(c, middle + place)
                row[i] = (row[i] + disc) ** self.count / (s * (s + 1))
        return acb_mat(found)

    def _off(self, y: arb) -> arb:
        """What Gauss's rule is off by on a panel, as in `laplace.Sample`.

        In its ellipse |M(s)e^{−ys}| is at most what it is at one end of the real parts.
        """
        _, height, count = self.panels
        with ctx.workprec(_BOUND_BITS):
            least, rho = arb(self.c) - arb(height), arb(_ELLIPSE)
            low, high = self._at_heights
            most = (low * (-least * y).exp()).max(high * (-(arb(self.c) + arb(height)) * y).exp())
            most /= least * (least + 1)
            return arb(64) / 15 * _WIDE * height * most * rho ** (-2 * count) / (1 - rho**-2)

    @cached_property
    def _at_heights(self) -> tuple[arb, arb]:
        height = self.panels[1]
        return self._moment(self.c - height), self._moment(self.c + height)

    # --- from c+iT on, a ray for the atoms on either side of y

    def _ray(self, y: arb, below: int, aside: int) -> arb:
        """∫ Im of the terms whose atoms lie below y, on the right, or of the others, on the left.

        By panels, each twice as long as all before it, up to where the terms are small enough.
        """
        low, high = self._losses
        near = y - ((self.count - below + 1) * low + (below - 1) * high)
        far = y - self.count * low
        if aside < 0:
            near, far = (self.count - below) * low + below * high - y, self.count * high - y
        total = arb(0)
        small = self._moment(self.c) * (-arb(self.c) * y - arb(self._want)).exp()
        for i in range(_MOST_DOUBLINGS):
            for s, value in self._on_ray(below, aside, i):
                total += (value * (-s * y).exp()).imag
            total += within(self._off_ray(y, i, near, far))
            left = self._beyond(y, i, near)
            if left < small:
                return total + within(left)
        return arb.nan()

    def _panel(self, i: int) -> tuple[float, float]:
        """Where the i-th panel of a ray starts and ends."""
        low, high = self._losses
        first = short(min(self.corner / 2, _FIRST / (self.count * float((high - low).mid()))))
        return (first * 2.0 ** (i - 1) if i else 0.0), first * 2.0**i

    @cached_property
    def _on_rays(self) -> dict[tuple[int, int, int], list[tuple[acb, acb]]]:
        return {}

    def _on_ray(self, below: int, aside: int, i: int) -> list[tuple[acb, acb]]:
        """(s, the terms of M/(s(s+1)) without e^{−ys}) at the nodes of a panel, weighed."""
        key = below, aside, i
        if key not in self._on_rays:
            self._on_rays[key] = list(self._terms(below, aside, *self._panel(i)))
        return self._on_rays[key]

    def _terms(self, below: int, aside: int, start: float, end: float) -> Iterator[tuple[acb, acb]]:
        for s, weight in self._slanted(aside, start, end):
            yield s, weight * self._side(s, below, aside) / (s * (s + 1))

    def _slanted(self, aside: int, start: float, end: float) -> list[tuple[acb, acb]]:
        """Gauss's nodes, precise enough for `End.at`."""
        with ctx.workprec(3 * self.work):
            turn, corner = acb(aside, 1) * arb(0.5).sqrt(), acb(self.c, self.corner)
            middle, half = (arb(end) + start) / 2, (arb(end) - start) / 2
            rule = legendre(self._ray_nodes, ctx.prec)
            return [(corner + turn * (middle + half * u), turn * half * w) for u, w in rule]

    def _side(self, s: acb, below: int, aside: int) -> acb:
        """Σ C(k,j) (e^{zL}-terms of either end)^{k−j, j} over the j on one side."""
        count = self.count
        with ctx.workprec(3 * self.work):
            z = self._z(s)
        low, high = ((z * end.loss).exp() * end.at(z) for end in self._ends)
        if self.reverse:
            low, high = high, low
        first, ratio, steps = low**count, high / low, below - 1
        if aside < 0:
            first, ratio, steps = high**count, low / high, count - below
        total = term = first
        for j in range(steps):
            term *= ratio * (count - j) / (j + 1)
            total += term
        return total

    @property
    def _ray_nodes(self) -> int:
        most = self._want + self._lost + _FIRST
        return math.ceil(most / (2 * math.log(_RHO))) + 2

    def _scale(self, y: arb, height: arb) -> arb:
        """A bound of all the terms' moduli on Re s = c, at this height or above, times e^{−cy}."""
        a = arb(self.a)
        terms = ((a * end.loss).exp() * end.most(height) for end in self._ends)
        return sum(terms, arb(0)) ** self.count * (-arb(self.c) * y).exp()

    def _off_ray(self, y: arb, i: int, near: arb, far: arb) -> arb:
        """What Gauss's rule is off by on a panel, whose ellipse reaches `_OVER` halves aside."""
        start, end = self._panel(i)
        with ctx.workprec(_BOUND_BITS):
            middle, half = (arb(start) + end) / 2, (arb(end) - start) / 2
            away = middle * arb(0.5).sqrt() - half * arb(_OVER)
            height, rho = arb(self.corner) + away, arb(_RHO)
            fallen = (-away * (near if away > 0 else far)).exp()
            most = self._scale(y, height) * fallen / height**2
            return arb(64) / 15 * half * most * rho ** (-2 * self._ray_nodes) / (1 - rho**-2)

    def _beyond(self, y: arb, i: int, near: arb) -> arb:
        """A bound of what lies beyond the i-th panel."""
        with ctx.workprec(_BOUND_BITS):
            aside = arb(self._panel(i)[1]) * arb(0.5).sqrt()
            height = arb(self.corner) + aside
            return self._scale(y, height) * (-aside * near).exp() * arb(2).sqrt() / height


def ends(part: LaplaceLoss) -> tuple[End, End]:
    """L₀ and L₁ at flint's current precision."""
    s, gamma = BALL.number(part.shift), BALL.number(part.gamma)
    found = []
    for sign, atom, log_density in ((-1, arb(0.5), s), (1, (-s).exp() / 2, -2 * s)):
        grown = (sign * s).exp()
        ratio = 1 - gamma + gamma * grown
        density = (log_density).exp() * ratio / (4 * gamma)
        found.append(End(ratio.log(), atom, density, gamma * grown / ratio, sign))
    return found[0], found[1]
