"""F of Laplace noise far from the real axis: what is next to the two atoms of its loss.

F(z) = e^{zL₁}A(z) + e^{zL₀}B(z), A and B nearly constant (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb, arb_poly, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import acb_within, geometric_tail

if TYPE_CHECKING:
    from symacct.profile.losses.laplace import LaplaceLoss

_FEW_TERMS = 64  # of a continued fraction, up to which it is as quick as a series
_MOST_TERMS = {True: 96, False: 1024}  # where the gap is narrow, or not
_NARROW = 0.4
_LENGTHS = frozenset(m * 2**n for m in (2, 3) for n in range(2, 16))
_ROUND_BITS = 32  # few polynomials serve many places
_SPARE = 16  # bits
_TINY = 1e-290
_BOUND_BITS = 64

Fraction = tuple[arb_poly, arb_poly, arb]


@dataclass(frozen=True)
class Places:
    """Some z in a row off the real axis, the first of them mostly the nearest to 0."""

    orders: list[acb]

    @cached_property
    def ratios(self) -> list[acb]:
        """Γ(½−z)/Γ(−z)."""
        return [(0.5 - z).gamma() * (-z).rgamma() for z in self.orders]


@dataclass(frozen=True)
class LossEnd:
    """One end L of the loss: e^{zL}(atom ± Σ c_m e^{−(m+½)L}/(z−m−½)), c_m >= 0, is in F(z).

    `density` is Σ c_m e^{−(m+½)L}; `gap` is 1−x, x = (1−γ)e^{−L}.
    """

    loss: arb
    atom: arb
    density: arb
    gap: arb
    sign: int

    def at(self, places: Places) -> list[acb]:
        """What e^{zL} is multiplied by at these z."""
        scale = self.sign * self.density
        return [self.atom + scale * share for share in self._shares(places)]

    def _shares(self, places: Places) -> list[acb]:
        """Σ w_m/(z−m−½), w_m ∝ c_m e^{−(m+½)L}; where nothing is sampled w_0 = 1 is all."""
        if self.gap == 1:
            return [1 / (z - 0.5) for z in places.orders]
        terms, lost = self._fewest(places.orders[0])
        if terms > _FEW_TERMS:
            series, cancelled = self._enough(places)
            if series < 2 * terms or terms > self._most_terms:
                return self._by_series(places, series, cancelled)
        return self._by_fraction(places.orders, terms, ctx.prec + lost)

    @property
    def _most_terms(self) -> int:
        """Of the fraction: more are too many beside the series, which falls as the gap's powers."""
        return _MOST_TERMS[bool(self.gap < _NARROW)]

    def _by_series(self, places: Places, terms: int, lost: int) -> list[acb]:
        """2√π g^{3/2}x^{z−½} Γ(½−z)/Γ(−z) − 2g Σ g^n(−z)_n/(½)_n, g the gap."""
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
        """A ball of what the series is beyond so many terms, by a geometric one.

        |n−z| is convex along the row, and so largest at one of its ends.
        """
        with ctx.workprec(_BOUND_BITS):
            first, ends = 2 * self.gap, (places.orders[0], places.orders[-1])
            for n in range(terms):
                first *= self.gap * abs(ends[0] - n).max(abs(ends[1] - n)) / (n + 0.5)
            ratio = self.gap * (abs(ends[0]).max(abs(ends[1])) + terms) / (terms + 0.5)
            return acb_within(geometric_tail(first, ratio))

    def _enough(self, places: Places) -> tuple[int, int]:
        """How many terms of the series do, and how many bits cancel; float64."""
        goal, gap = ctx.prec * math.log(2), max(float(self.gap.mid()), _TINY)
        first, last = complex(places.orders[0]), complex(places.orders[-1])
        far, terms, size = abs(last), 0, math.log(2 * gap)
        while terms not in _LENGTHS or size > -goal or gap * (terms + far) > terms * (1 + gap) / 2:
            deadline.check()
            size += math.log(gap * max(abs(terms - first), abs(terms - last)) / (terms + 0.5))
            terms += 1
        return terms, _rounded(_SPARE - far * math.log1p(-gap) / math.log(2))

    def _series(self, terms: int, bits: int) -> arb_poly:
        """Σ g^n(−z)_n/(½)_n for n < terms, as a polynomial in z."""
        if (terms, bits) not in self._known:
            found = arb_poly([1])
            for n in reversed(range(terms - 1)):
                deadline.check()
                share = self.gap / (n + arb(0.5))
                found = found * arb_poly([n * share, -share]) + 1
            self._known[terms, bits] = found
        return self._known[terms, bits]

    @cached_property
    def _known(self) -> dict[tuple[int, int], arb_poly]:
        return {}

    def _by_fraction(self, places: list[acb], terms: int, bits: int) -> list[acb]:
        """N_n/p_n at z−½, which is off by h_n/(|p_n|²|Im z|) at most."""
        above, below, norm = self._fraction(terms, bits)
        found = []
        for z in places:
            deadline.check()
            with ctx.workprec(bits):
                at = self.gap * (z - 0.5)
                under = below(at)
                value = self.gap * above(at) / under
            found.append(value + acb_within(norm / (abs(under) ** 2 * abs(z.imag))))
        return found

    def _fewest(self, z: acb) -> tuple[int, int]:
        """How many terms do at z, or more than are worth while; bits that cancel; float64."""
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
        return terms, _rounded(_SPARE + lost / math.log(2))

    def _fraction(self, terms: int, bits: int) -> Fraction:
        """N_n, p_n and h_n, of gap·t: Meixner's p_{k+1} = (t−a_k)p_k − b_k p_{k−1}, so N_{k+1}."""
        if (terms, bits) not in self._fractions:
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
            self._fractions[terms, bits] = above, below, norm
        return self._fractions[terms, bits]

    @cached_property
    def _fractions(self) -> dict[tuple[int, int], Fraction]:
        return {}

    def most(self, height: arb) -> arb:
        """A bound of it for |Im z| >= height."""
        return self.atom + self.density / height


def _rounded(bits: float) -> int:
    return _ROUND_BITS * math.ceil(bits / _ROUND_BITS)


def ends(part: LaplaceLoss) -> tuple[LossEnd, LossEnd]:
    """L₀ and L₁ at flint's current precision."""
    s, gamma = BALL.number(part.shift), BALL.number(part.gamma)
    found = []
    for sign, atom, log_density in ((-1, arb(0.5), s), (1, (-s).exp() / 2, -2 * s)):
        grown = (sign * s).exp()
        ratio = 1 - gamma + gamma * grown
        density = (log_density).exp() * ratio / (4 * gamma)
        gap = arb(1) if part.gamma == 1 else gamma * grown / ratio
        found.append(LossEnd(ratio.log(), atom, density, gap, sign))
    return found[0], found[1]
