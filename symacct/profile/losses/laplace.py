"""Laplace noise has the loss of P = (1−γ)Q + γ·Lap(s) against Q = Lap(0), of scale 1, s = Δ/b.

Under Q the noise is below 0 with probability ½ and above s with e^{−s}/2: two atoms of the loss;
between them R(x) = 1−γ+γe^{2x−s} rises. With 0 <= x <= s

F(z) = ½R(0)^z + ½e^{−s}R(s)^z + ∫ ½e^{−x}R(x)^z dx (docs/proofs/losses.md, Lemma laplace-moments).
`need` is in nats, and `far` is the largest |Im z|, as in profile/part.py.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Self

import numpy as np
from flint import acb, arb, arb_poly, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import legendre, legendre_floats
from symacct.kernel.claims import Proof
from symacct.kernel.exact import Exact, LazyModule
from symacct.laws.neighbours import LaplaceShift
from symacct.profile.few_laplace import laplace_form
from symacct.profile.float_laws import (
    BITS,
    FEW,
    UNIT,
    Beyond,
    TailsInFloats,
    nearest,
    unsampled,
)
from symacct.profile.losses.summed import End, Sample, SummedLoss
from symacct.profile.part import Floats, OrderLine, Part, loss_for
from symacct.profile.proofs import LAPLACE
from symacct.profile.roots import Value
from symacct.profile.written_laws import Write, WrittenLaws, laplaces, mixed

if TYPE_CHECKING:
    from symacct.profile.losses import allocated, fixed_size
else:  # a question of noise on all of the data needs neither
    allocated, fixed_size = (
        LazyModule(f"symacct.profile.losses.{file}") for file in ("allocated", "fixed_size")
    )

#: Moments that steer are summed over so many of Gauss's nodes on [0, s].
_STEERING_POINTS = 96
#: The ellipse about [0, s] is chosen from these, which rise from above 1, each by its half axes'
#: sum over s/2. Each has its bound; the best one saves nodes.
_ELLIPSES = np.geomspace(1.02, 60.0, 60)
#: Orders z with |Re z − ½| at most this are summed, as the closed form of F cancels near z = ½.
#: Both are enclosures: the closed form's ball is wider there.
_NEAR_HALF = 0.25
#: A value in closed form takes the time of so many products. It steers.
_PRODUCTS_OF_CLOSED_FORM = 32


@dataclass(frozen=True)
class LaplaceLoss(SummedLoss):
    """Laplace noise on a Poisson sample has `shift` = Δ/b and the rate `gamma` in (0, 1]."""

    shift: Exact
    gamma: Exact = Fraction(1)

    ends_in_atoms = True
    decays_slowly = True
    proof = LAPLACE

    @property
    def symmetric(self) -> bool:
        """Does x ↦ s − x exchange the two laws? It does where nothing is sampled."""
        return self.gamma == 1

    def sampled(self, gamma: Exact) -> LaplaceLoss:
        """Mix P once more, at the rate of this loss times γ."""
        return LaplaceLoss(self.shift, self.gamma * gamma)

    def fixed_size_pair(self, gamma: Exact) -> fixed_size.FixedSizeLaplace:
        """Make the loss of what dominates a sample of fixed size both ways, a record replaced."""
        return fixed_size.FixedSizeLaplace(self.sampled(gamma))

    def allocated(self, steps: int) -> Part:
        """Make the pair of a run among so many steps; of a sample as any part does."""
        if self.gamma != 1:
            return super().allocated(steps)
        return allocated.AllocatedLaplace(self.shift, steps)

    # --- closed forms

    @property
    def laplace_shift(self) -> Exact | None:  # type: ignore[override]
        return self.shift if self.gamma == 1 else None

    @classmethod
    def form_of_runs(
        cls, runs: Sequence[tuple[Self, int]], reverse: bool
    ) -> tuple[Value, Proof] | None:
        """Return D of few runs, by a contour that bends where F turns; None of many."""
        form = laplace_form(tuple(runs), reverse)
        return None if form is None else (form, LAPLACE)

    # --- float64: where to look

    def floats(self, lowest_order: float, highest_order: float) -> tuple[Floats, Floats]:
        """Return log of Q's masses, and losses: of two atoms, and at Gauss's nodes between."""
        shift, (nodes, weights) = float(self.shift), legendre_floats(_STEERING_POINTS)
        x = np.concatenate([[0.0, shift], shift * (1 + nodes) / 2])
        mass = np.concatenate([[0.5, 0.5], shift / 4 * weights])
        return np.log(mass) - np.append(0.0, x[1:]), np.log1p(
            float(self.gamma) * np.expm1(2 * x - shift)
        )

    def in_floats(self, reverse: bool, rare: float) -> TailsInFloats:
        """Give the law by tails: between 0 and s the loss log(1−γ+γe^{2x−s}) rises."""
        s, g, rest = nearest(self.shift), nearest(self.gamma), nearest(1 - self.gamma)
        with ctx.workprec(BITS):
            low, high = (
                -float(self.largest(not reverse).mid()),
                float(self.largest(reverse).mid()),
            )

        def beyond(losses: Floats) -> Beyond:
            """Compute the masses beyond some losses, and what float64 loses of them."""
            w, turned = unsampled(-losses if reverse else losses, g, rest)
            x = (s + w) / 2
            inside = np.clip(x, 0.0, s)
            q_mass, shifted_mass = np.exp(-inside) / 2, np.exp(inside - s) / 2
            if reverse:
                q_mass, shifted_mass = 1 - q_mass, shifted_mass
                q_mass, shifted_mass = (
                    np.where(x > s, 1.0, np.where(x <= 0, 0.0, part))
                    for part in (q_mass, shifted_mass)
                )
                p, q = q_mass, rest * q_mass + g * shifted_mass
            else:
                shifted_mass = 1 - shifted_mass
                q_mass, shifted_mass = (
                    np.where(x < 0, 1.0, np.where(x >= s, 0.0, part))
                    for part in (q_mass, shifted_mass)
                )
                p, q = rest * q_mass + g * shifted_mass, q_mass
            short = (26 * turned + 40 * s + FEW) * UNIT
            return Beyond(p, q, short, np.zeros(len(q), dtype=bool))

        return TailsInFloats(low, high, beyond)

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the terms of a value: 32 in closed form, else the nodes and both atoms."""
        if self._is_closed(line.a):
            return _PRODUCTS_OF_CLOSED_FORM
        return 2 + _rule(self, line.a, line.h * line.last, need)[1]

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Compute F on a line of orders, in closed form where it does not cancel, else by sums."""
        if self._is_closed(line.a):
            return [self._closed(acb(line.a, arb(line.h) * n)) for n in line.nodes]
        return super().transform(line, need)

    def modulus(self, a: float, s: float, far: float, need: float) -> arb:
        """Far out Gauss's rule has as many nodes as F has turned by there; `_closed` has none."""
        if self._is_closed(a, s):
            return abs(self._closed(acb(a, s)))
        return super().modulus(a, s, far, need)

    def _is_closed(self, a: float, s: float = 0.0) -> bool:
        """Is F taken by `_closed` at a+is and farther out? It is unsampled, and z is far from ½."""
        return self.gamma == 1 and abs(complex(a - 0.5, s)) > _NEAR_HALF

    def _closed(self, z: acb) -> acb:
        """Compute F(z) = ½(e^{−zs} + e^{(z−1)s} + (e^{(z−1)s} − e^{−zs})/(2z−1)), γ = 1."""
        shift = BALL.number(self.shift)
        low, high = (-z * shift).exp(), ((z - 1) * shift).exp()
        return (low + high + (high - low) / (2 * z - 1)) / 2

    def sample(self, a: float, far: float, need: float) -> Sample:
        """Make nodes for orders a + it by Gauss's rule between both atoms."""
        return _sample(self, a, far, need, ctx.prec)

    # Proved in docs/proofs/losses.md, Lemma laplace-decay.
    def decay_constants(self, a: float, moment: arb) -> list[End]:
        """Bound |F| far out by the atoms A, and by parts C = 2(h(0) + h(s)).

        h = ½e^{−x}R^a/(log R)′ = e^{s−3x}R^{a+1}/(4γ), and (log h)′ = −3 + 2(a+1)γe^{2x−s}/R
        changes its sign at most once, from − to +, so that h varies by at most h(0) + h(s).
        Unsampled it is at most the atoms' share times 1 + 1/|2z−1|.
        """
        shift, order = BALL.number(self.shift), arb(a)
        low, high = self.frequencies()
        atoms = ((order * low).exp() + (order * high - shift).exp()) / 2
        falling = (shift + (order + 1) * low).exp() + ((order + 1) * high - 2 * shift).exp()
        constants = [(atoms, falling / (2 * BALL.number(self.gamma)))]
        return [*constants, (atoms, atoms / 2)] if self.gamma == 1 else constants

    def frequencies(self) -> list[arb]:
        """List the losses of both atoms, at which F turns."""
        return [-self.largest(True), self.largest(False)]

    def amplitude_bounds(self, a: float, t: float, length: int) -> list[arb_poly]:
        """Bound the amplitudes at either end by the atom, and by g(L)e^{aL}/t^{j+1}.

        g is the density of L, κe^{−L/2}(1−(1−γ)e^{−L})^{−3/2} = Σ c_m e^{−(m+½)L}, c_m >= 0: each
        term, integrated against e^{zL}, is c_m e^{(z−m−½)L}/(z−m−½) at the ends, and |z−m−½| >= t.
        """
        shift, scale = BALL.number(self.shift), 1 / (4 * BALL.number(self.gamma))
        bounds = []
        for loss, atom, density in zip(
            self.frequencies(),
            [arb(0.5), (-shift).exp() / 2],
            [shift.exp() * scale, (-2 * shift).exp() * scale],
            strict=True,
        ):
            tilt = (arb(a) * loss).exp()
            tail = [density * loss.exp() * tilt * arb(t) ** (-j - 1) for j in range(length)]
            bounds.append(arb_poly([tilt * atom]) + arb_poly(tail))
        return bounds

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute γ(1−e^{x−s}), x where the loss is y.

        Of (Q, P) it is γe^{y+x−s}(e^x−1), x where the loss is −y. It is 0 beyond the largest loss
        and 1 − e^y before the least, and encloses both sides where balls can't tell.
        """
        shift, gamma = BALL.number(self.shift), BALL.number(self.gamma)
        ratio = (-y if reverse else y).expm1() / gamma + 1
        if not ratio > 0:
            beyond = arb(0) if reverse else -y.expm1()
            return beyond if ratio <= 0 else arb("0.5 +/- 0.5")
        x = (shift + ratio.log()) / 2
        outside = x > shift if reverse else x < 0
        inside = x <= shift if reverse else x >= 0
        if outside:
            return -y.expm1()
        if reverse:
            value = gamma * (y + x - shift).exp() * x.expm1()
        else:
            value = -gamma * (x - shift).expm1()
        value = value.max(arb(0))
        return value if inside else value.union(-y.expm1())

    def largest(self, reverse: bool) -> arb:
        """Enclose log(1−γ+γe^s), or −log(1−γ+γe^{−s}) if `reverse`."""
        shift, gamma = BALL.number(self.shift), BALL.number(self.gamma)
        if self.gamma == 1:
            return shift
        end = (gamma * (-shift if reverse else shift).expm1()).log1p()
        return -end if reverse else end

    def exact_largest(self, reverse: bool) -> Exact | None:
        """Return s = Δ/b, unless the noise is sampled."""
        return self.shift if self.gamma == 1 else None

    def in_latex(self, write: Write) -> WrittenLaws:
        """Write both Laplace laws, mixed where they are sampled."""
        on, off = laplaces(self.shift, write)
        return WrittenLaws(mixed(self.gamma, on, off, write), off)


@lru_cache(16)
def _sample(part: LaplaceLoss, a: float, far: float, need: float, bits: int) -> Sample:
    """Sum over the atoms, and by Gauss's rule between them.

    With J nodes, for a function that is at most m in the ellipse with the foci 0, s and the sum ρ
    of its half-axes over s/2, it is off by at most (s/2)(64/15) m ρ^{−2J}/(1−ρ^{−2}).
    """
    ellipse, count = _rule(part, a, far, need)
    shift, gamma = BALL.number(part.shift), BALL.number(part.gamma)
    half, rho, losses, weights = shift / 2, arb(ellipse), [], []
    points = [(half * (1 + u), half * w) for u, w in legendre(count, bits)]
    for x, length in deadline.each([(arb(0), arb(1)), (shift, arb(1)), *points]):
        loss = (gamma * (2 * x - shift).expm1()).log1p()
        losses.append(loss)
        weights.append(length / 2 * (a * loss - x).exp())
    error = arb(64) / 15 * half * _most(part, a, far, rho) * rho ** (-2 * count) / (1 - rho**-2)
    return Sample(losses, weights, error)


def _most(part: LaplaceLoss, a: float, far: float, rho: arb) -> arb:
    """Bound |½e^{−x}R^{a+it}| in the ellipse for 0 <= t <= far; ∞ where the ellipse is too high.

    There |Im 2x| <= θ <= π/2, so 1−γ+γe^w cos θ <= |R| <= 1−γ+γe^w, and arg R, which grows
    with w and with θ, is largest at the right end.
    """
    gamma, half = BALL.number(part.gamma), BALL.number(part.shift) / 2
    reach, theta = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho)
    if not theta <= arb.pi() / 2:
        return arb.pos_inf()
    left, right = gamma * (-2 * reach).exp(), gamma * (2 * reach).exp()
    largest_log_modulus, smallest_log_modulus = (
        (1 - gamma + right).log(),
        (1 - gamma + left * theta.cos()).log(),
    )
    angle = acb(1 - gamma + right * theta.cos(), right * theta.sin()).arg()
    height = (a * largest_log_modulus).max(a * smallest_log_modulus) + far * angle * (
        1 + arb(2) ** -40
    )
    return (reach - half + height).exp() / 2


def _rule(part: LaplaceLoss, a: float, far: float, need: float) -> tuple[float, int]:
    """Estimate the ellipse and the fewest nodes for an error of about e^{−need} F(a)."""
    shift, gamma = float(part.shift), float(part.gamma)
    log_moment, best = float(part.float_moments(np.array([a]))[0][0]), (math.inf, 1.5)
    for rho in (float(x) for x in _ELLIPSES):
        reach, theta = shift * (rho + 1 / rho) / 4, shift * (rho - 1 / rho) / 2
        if theta > 1.5:
            break
        left, right = -2 * reach, 2 * reach
        top = cmath.log(1 - gamma + gamma * cmath.exp(complex(right, theta)))
        largest_log_modulus = math.log1p(gamma * math.expm1(right))
        smallest_log_modulus = math.log(1 - gamma + gamma * math.exp(left) * math.cos(theta))
        height = (
            max(a * largest_log_modulus, a * smallest_log_modulus)
            + far * top.imag
            + reach
            - shift / 2
            - log_moment
        )
        wanted = need + height + 3 - math.log1p(-(rho**-2))
        best = min(best, (wanted / (2 * math.log(rho)), rho))
    rho = best[1] if best[0] < math.inf else 1 + 1 / (1 + shift)
    count = best[0] if best[0] < math.inf else need * (2 + shift)
    return rho, max(4, math.ceil(count) + 2)


@loss_for(LaplaceShift)
def _(law: LaplaceShift) -> LaplaceLoss:
    return LaplaceLoss(law.shift)
