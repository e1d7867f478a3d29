"""Noise on whole numbers has an atom of the loss at every outcome: P = (1−γ)Q + γP₀ against Q.

`need` and `slack` are in nats, and `far` is the largest |Im z|, as in profile/part.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from flint import arb, ctx

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import float_above
from symacct.kernel.claims import Proof
from symacct.kernel.exact import Exact, exact
from symacct.laws.neighbours import WholeNumberShift
from symacct.mechanisms.discrete_gaussian import DiscreteGaussian
from symacct.mechanisms.integer_noise import IntegerSums
from symacct.profile.float_laws import (
    BITS,
    FEW,
    UNIT,
    OutcomesInFloats,
    check_nodes,
    nearest,
)
from symacct.profile.lattices import discrete_gaussian_form, integer_form
from symacct.profile.loss_register import loss_of
from symacct.profile.losses.summed import Sample, SummedLoss
from symacct.profile.part import Floats, LossLattice, OrderLine, Part
from symacct.profile.proofs import INTEGERS, LATTICE, SINGLE_INTEGER
from symacct.profile.roots import Value
from symacct.profile.written_laws import Write, WrittenLaws, mixed

#: Moments that steer leave out outcomes of about e^{−40} of both laws.
_STEERING_NATS = 40.0
#: A bound of log|F| is e^{−10} of `slack` above the sum that it is. The bound is proved: more are
#: sharper, and take longer.
_SPARE_NATS = 10.0


class OutcomeMasses(NamedTuple):
    """An outcome has the masses p and q, and the loss log(p/q)."""

    p: arb
    q: arb
    loss: arb


@dataclass(frozen=True)
class IntegerLoss(SummedLoss):
    """Noise on whole numbers is sampled at the rate `gamma` in (0, 1].

    F does not decay, as that of finitely many outcomes: of several runs another part must, or
    they are few, or on a grid.
    """

    noise: IntegerSums
    gamma: Exact = Fraction(1)

    proof = SINGLE_INTEGER
    is_atomic = True
    may_be_chosen = False
    decays_slowly = True

    @property
    def symmetric(self) -> bool:
        """Does k ↦ Δ − k exchange the two laws?"""
        return self.gamma == 1

    @property
    def discrete_gaussian(self) -> DiscreteGaussian | None:  # type: ignore[override]
        is_known = self.gamma == 1 and isinstance(self.noise, DiscreteGaussian)
        return self.noise if is_known else None  # type: ignore[return-value]

    @property
    def lattice(self) -> LossLattice | None:  # type: ignore[override]
        """The lattice of the losses of discrete Gaussian noise, Δ/σ² apart; None of others."""
        if (noise := self.discrete_gaussian) is None:
            return None
        apart = exact(noise.sensitivity / noise.sigma**2)
        return LossLattice(apart, float(noise.in_float), self._lattice_masses)

    def _lattice_masses(self, reverse: bool, bits: int) -> tuple[arb, list[arb]]:
        """Return the least loss that counts and the P-masses; k ↦ Δ − k makes both ways one."""
        known, _ = self.known(False, bits * math.log(2))
        return known[0].loss, [outcome.p for outcome in known]

    @classmethod
    def form_of_runs(
        cls, runs: Sequence[tuple[Self, int]], reverse: bool
    ) -> tuple[Value, Proof] | None:
        """Return D of one discrete Gaussian noise, or a sum over all outcomes if they are few.

        None else.
        """
        if (form := discrete_gaussian_form(tuple(runs))) is not None:
            return form, LATTICE
        form = integer_form(tuple(runs), reverse)
        return None if form is None else (form, INTEGERS)

    def sampled(self, gamma: Exact) -> Part:
        """Mix P once more, at the rate of this loss times γ."""
        return IntegerLoss(self.noise, self.gamma * gamma)

    def floats(self, lowest_order: float, highest_order: float) -> tuple[Floats, Floats]:
        """Return the outcomes that count at these orders."""
        kept = self.noise.outcomes(lowest_order, highest_order, _STEERING_NATS)
        log_weights, log_ratios = self.noise.in_floats(kept)
        if self.gamma == 1:
            return log_weights, log_ratios
        rate = float(self.gamma)
        return log_weights, np.logaddexp(math.log1p(-rate), math.log(rate) + log_ratios)

    def in_floats(self, reverse: bool, rare: float) -> OutcomesInFloats | None:
        """Give discrete Gaussian noise by its outcomes, over the total of those that count.

        None of other noise.
        """
        if not isinstance(self.noise, DiscreteGaussian):
            return None
        kept = self.noise.outcomes(0.0, 1.0, -math.log(rare))
        check_nodes(len(kept))
        with ctx.workprec(BITS):
            left_out = float_above(self.noise.left_out(1.0, kept))
        size, twice = self.noise.sensitivity, 2 * nearest(self.noise.sigma) ** 2
        k = np.arange(kept[0] - size, kept[-1] + 1.0)
        exponents = k * k / twice
        weights = np.exp(-exponents)
        moved, q, losses = weights[:-size], weights[size:], (2 * k[size:] - size) * (size / twice)
        total = min(moved.sum(), q.sum())
        units = 8 * exponents.max() + 2 * len(k) + FEW
        p, off = moved, 6.0 * np.abs(losses).max()
        if self.gamma != 1:
            p = nearest(1 - self.gamma) * q + nearest(self.gamma) * moved
            losses = np.log1p(nearest(self.gamma) * np.expm1(losses))
            off += 12 * np.abs(np.expm1(-losses)).max() + 8 * np.abs(losses).max()
        if reverse:
            p, losses = q, -losses
        return OutcomesInFloats(p / total, losses, left_out + (units + 2 * off) * UNIT)

    def sample(self, a: float, far: float, need: float) -> Sample:
        """Sum over the outcomes that count.

        Of the others (P/Q)^a <= 1 + (P₀/Q)^a, as P/Q is between 1 and P₀/Q.
        """
        kept = self._kept(a, need)
        known = _weighed(self, kept, ctx.prec)
        weights = [q * (arb(a) * x).exp() for q, x in known]
        return Sample([x for _, x in known], weights, self.noise.left_out(a, kept))

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the outcomes that a value sums."""
        return len(self._kept(line.a, need))

    def _kept(self, a: float, need: float) -> range:
        """Choose the outcomes but for about e^{−need} F(a)."""
        return self.noise.outcomes(a, a, need + self._over(a))

    def _over(self, a: float) -> float:
        """Estimate log E_Q[(P₀/Q)^a]/F(a), by which the rest of the outcomes is bounded."""
        every, order = IntegerLoss(self.noise), np.array([a])
        with np.errstate(invalid="ignore"):
            over = float(every.float_moments(order)[0][0] - self.float_moments(order)[0][0])
        return max(over, 0.0) if self.gamma < 1 and over < math.inf else 0.0

    def log_decay(self, a: float, t: float) -> float:
        """Estimate log F(a): atoms do not fall."""
        return float(self.float_moments(np.array([a]))[0][0])

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log|F| by log F(a): a sum over atoms comes near to it again and again."""
        need = _SPARE_NATS - math.log(slack)
        return self.transform(OrderLine(a, 1.0, 0), need)[0].real.log()

    def known(self, reverse: bool, need: float) -> tuple[list[OutcomeMasses], arb]:
        """List the outcomes but for about e^{−need} of both laws, and bound the rest of either."""
        kept, outcomes = self.noise.outcomes(0.0, 1.0, need), []
        for q, loss in _weighed(self, kept, ctx.prec):
            p = q * loss.exp()
            outcomes.append(OutcomeMasses(q, p, -loss) if reverse else OutcomeMasses(p, q, loss))
        return outcomes, self.noise.left_out(1.0, kept)

    def outcomes_but_for(self, need: float, reverse: bool) -> tuple[list[tuple[arb, arb]], arb]:
        """List (p, q) of the outcomes but for e^{−need} of P, and bound that mass."""
        known, left_out = self.known(reverse, need)
        return [(p, q) for p, q, _ in known], left_out

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute E_Q[(m − e^y)₊], or E_Q[(1 − e^y m)₊] if `reverse`, m = 1−γ+γP₀/Q."""
        grown, rate, zero = y.exp(), BALL.number(self.gamma), arb(0)

        def surplus(log_ratio: arb) -> arb:
            m = 1 + rate * log_ratio.expm1()
            value: arb = (1 - grown * m if reverse else m - grown).max(zero)
            return value

        total: arb = self.noise.in_balls(surplus, 1, False)
        return total

    def largest(self, reverse: bool) -> arb:
        """Return ∞, which is also above bounded losses; −log(1−γ) of a sample if `reverse`."""
        if self.gamma == 1 or not reverse:
            return arb("inf")
        return -(-BALL.number(self.gamma)).log1p()

    def in_latex(self, write: Write) -> WrittenLaws | None:
        """Write the noise's law and that moved by the sensitivity; None without a formula."""
        law = self.noise.law_latex(write)
        if law is None:
            return None
        off, read = law
        on = rf"\delta_{{{self.noise.sensitivity}}} \ast {off}"
        words = (r"$\delta_{k} \ast$ moves a law by $k$", *read)
        return WrittenLaws(mixed(self.gamma, on, off, write), off, words)


@lru_cache(8)
def _weighed(part: IntegerLoss, kept: range, bits: int) -> list[tuple[arb, arb]]:
    """List Q and the loss log(1−γ+γP₀/Q) of these outcomes, `bits` flint's current precision."""
    known = part.noise.weighted_losses(kept)
    if part.gamma == 1:
        return known
    rate = BALL.number(part.gamma)
    return [(q, (rate * log_ratio.expm1()).log1p()) for q, log_ratio in known]


@loss_of.register(WholeNumberShift)
def _(law: WholeNumberShift) -> IntegerLoss:
    return IntegerLoss(law.noise)
