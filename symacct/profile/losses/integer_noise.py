"""Noise on whole numbers has an atom of the loss at every outcome: P = (1−γ)Q + γP₀ against Q.

`need` and `slack` are in nats, and `far` is the largest |Im z|, as in profile/part.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from flint import arb, ctx

from symacct.analysis.series import log_theta_ratio
from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, ends_of, float_above, floor, up_to, within
from symacct.kernel.claims import Proof
from symacct.kernel.errors import LimitError
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
from symacct.profile.losses.finite import multinomial_laws
from symacct.profile.losses.summed import Sample, SummedLoss
from symacct.profile.part import Floats, LossLattice, OrderLine, Part, Runs, loss_for
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
        """Return log of Q's masses, and losses, of the outcomes that count at these orders."""
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


@loss_for(WholeNumberShift)
def _(law: WholeNumberShift) -> IntegerLoss:
    return IntegerLoss(law.noise)


# --- discrete Gaussian noise
#
# D(y) of several runs of discrete Gaussian noise: their losses add up on one lattice.

#: What a Fourier sum leaves out is e^{−12} of the last bit of the tail. It is bounded, and added.
_FOURIER_NATS = 12.0
#: A Fourier sum is worked out with so many bits more than its terms lose. Where they are too few,
#: the ball is wider.
_FOURIER_BITS = 32


def discrete_gaussian_form(runs: Runs) -> Value | None:
    """Return D of runs of one discrete Gaussian noise, not sampled, alike both ways; else None."""
    if len(runs) > 1 or (noise := runs[0][0].discrete_gaussian) is None:
        return None
    return partial(several_runs, noise, runs[0][1])


# Proved in docs/proofs/mechanisms.md, Lemma gaussian-outputs.
def several_runs(noise: DiscreteGaussian, runs: int, y: arb) -> arb:
    """Compute D(y) = P(S > s) − e^y Q(S > s), S the sum of the outputs.

    The loss (2SΔ−kΔ²)/(2σ²) of s is y. Where balls leave two s open, the larger of both values is
    taken, as D is the largest over all s; NaN where they leave more.
    """
    sigma, size = BALL.number(noise.sigma), noise.sensitivity
    at = y * sigma**2 / size + arb(runs * size) / 2
    first_place, last_place = (floor(end) + 1 for end in ends_of(at))
    if last_place > first_place + 1:
        return arb.nan()
    values = (
        upper_tail(sigma, runs, s - runs * size) - y.exp() * upper_tail(sigma, runs, s)
        for s in {first_place, last_place}
    )
    return BALL.maximum(*values)


def upper_tail(sigma: arb, runs: int, s: int) -> arb:
    """Compute P(S >= s) for the sum S of so many discrete Gaussians, by a finite Fourier sum.

    With the period N = 2X+1 that of s <= r <= X is (1/N) Σ_j φ(2πj/N)^k Σ_r cos(2πjr/N), φ their
    characteristic function; what has another place modulo N, and what lies beyond X, are three
    tails, each at most e^{−(X+1)²/(2kσ²)} since φ(−it) <= e^{σ²t²/2}.
    """
    if s <= 0:
        return 1 - upper_tail(sigma, runs, 1 - s)
    spread = float(sigma) * math.sqrt(runs)
    need = ctx.prec * math.log(2) + (s / spread) ** 2 / 2 + _FOURIER_NATS
    last = math.ceil(spread * math.sqrt(2 * need)) + s
    bits = math.ceil(need / math.log(2)) + last.bit_length() + _FOURIER_BITS
    with ctx.workprec(bits):
        kept = _within_a_period(sigma, runs, s, last)
        beyond = (-(arb(last + 1) ** 2) / (2 * runs * sigma**2)).exp()
        kept += within(3 * beyond)
    return +kept


def _within_a_period(sigma: arb, runs: int, s: int, last: int) -> arb:
    """Compute the Fourier sum of the mass between s and the last place of one period.

    (1/N) Σ_{|j| <= (N−1)/2} φ(2πj/N)^k Σ_{r=s}^{last} cos(2πjr/N), N = 2·last + 1. By Poisson's sum
    φ(2πx) = Θ̂(x)/Θ̂(0) for the deviation 1/(2πσ), which falls up to x = ½: once it is small, so is
    the rest. LimitError where more nodes are needed than the limit "order" has.
    """
    period, width, dual = 2 * last + 1, last + 1 - s, 1 / (2 * arb.pi() * sigma)
    total, small = arb(width), arb(2) ** -ctx.prec
    for j in range(1, last + 1):
        limits.check("order", j, "nodes of the sum of discrete Gaussians")
        power = (-runs * log_theta_ratio(dual, Fraction(j, period))).exp()
        if power < small:
            total += within(power * width * period)
            break
        x = ball(Fraction(j, period))
        wave = (x * width).sin_pi() * (x * (s + last)).cos_pi() / x.sin_pi()
        total += 2 * power * wave
    return total / period


# --- few runs of noise on whole numbers
#
# D(y) of few runs of noise on whole numbers: a sum over all of their outcomes that count.

IntegerRuns: TypeAlias = tuple[tuple[IntegerLoss, int], ...]

#: A sum over the outcomes of at most so many runs, and so many in all, is sooner had than a grid.
#: It costs time alone.
_MOST_RUNS, _MOST_OUTCOMES = 4, 20_000
#: The number of outcomes is counted but for e^{−100} of both laws, whatever precision is asked. It
#: chooses the strategy, and no bound rests on it.
_USUAL_NATS = 100.0
#: Outcomes of all runs are so many at most at any precision: more are refused by LimitError, as the
#: sum would take too long, and too much memory.
_MOST_SUMMED = 2**20


def integer_form(runs: IntegerRuns, reverse: bool) -> Value | None:
    """Return D of few runs of noise on whole numbers, if its outcomes are few; else None."""
    if sum(k for _, k in runs) > _MOST_RUNS:
        return None
    outcome_counts = ((len(part.noise.outcomes(0.0, 1.0, _USUAL_NATS)), k) for part, k in runs)
    is_short = math.prod(math.comb(n + k - 1, k) for n, k in outcome_counts) <= _MOST_OUTCOMES
    return partial(_profile, runs, reverse) if is_short else None


def _profile(runs: IntegerRuns, reverse: bool, y: arb) -> arb:
    """Sum (p − e^y q)₊ over the outcomes of all runs that count.

    The others make D larger by at most their P-mass, which widens the ball.
    """
    every, left_out = _every(runs, reverse, ctx.prec)
    grown, zero = y.exp(), arb(0)
    return sum(((p - grown * q).max(zero) for p, q in every), up_to(left_out))


@lru_cache(8)
def _every(runs: IntegerRuns, reverse: bool, bits: int) -> tuple[list[tuple[arb, arb]], arb]:
    """List (p, q) of every combination of outcomes, and bound the P-mass that is left out.

    `bits` is flint's current precision: about 2^{−bits} of each run is left out. LimitError for too
    many.
    """
    every = [(part.known(reverse, bits * math.log(2)), k) for part, k in runs]
    size = math.prod(math.comb(len(known) + k - 1, k) for (known, _), k in every)
    if size > _MOST_SUMMED:
        raise LimitError(
            f"found {size:,} outcomes of all runs at {bits:,} bits, needed at most "
            f"{_MOST_SUMMED:,}",
            where="conversion exact",
            remedy="ask for fewer digits, or for conversion improved",
        )
    products, left_out = [(arb(1), arb(1))], arb(0)
    for (known, rest), k in every:
        left_out += k * rest
        run_laws = multinomial_laws([(p, q) for p, q, _ in known], k)
        products = [(p * u, q * v) for p, q in deadline.each(products) for u, v in run_laws]
    return products, left_out
