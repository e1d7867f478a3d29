"""Finitely many outcomes make a loss of atoms: P = (1−γ)Q + γP₀ against Q.

`need` and `slack` are in nats, as in profile/part.py: sums over atoms serve any need.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb, arb_poly, ctx

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import decide, ends_of, float_above, floor
from symacct.kernel.errors import PrecisionError, echo
from symacct.kernel.exact import Exact, LazyModule, exact
from symacct.kernel.memory import cached_property
from symacct.laws.neighbours import FiniteMasses
from symacct.profile.part import Floats, LossLattice, OrderLine, Part, log_turning, loss_for
from symacct.profile.proofs import FINITE
from symacct.profile.sums import sums_on_a_line

if TYPE_CHECKING:
    from symacct.profile import float_laws, written_laws
else:  # which grids and printers read
    float_laws = LazyModule("symacct.profile.float_laws")
    written_laws = LazyModule("symacct.profile.written_laws")

#: An exponential takes the time of so many products. It steers.
_PRODUCTS_OF_EXPONENTIAL = 16

#: (p, q) of every outcome, exact, of two laws with the total 1 each.
Masses = tuple[tuple[Exact, Exact], ...]


@dataclass(frozen=True)
class Atoms(Part):
    """Atoms have the exact masses (p, q) of every outcome, and the sampling rate `gamma` in (0, 1].

    F(z) = Σ q (p/q)^z over the outcomes that both laws have. An outcome of q = 0 has the loss ∞,
    and one of p = 0 and γ < 1 the loss log(1−γ).
    """

    masses: Masses
    gamma: Exact = Fraction(1)
    #: The largest loss of (P₀, Q) both ways in nats, where that is exact and no logarithm. The leaf
    #: that states it answers for losses from −pure to pure, equally far apart.
    pure: Exact | None = None

    @cached_property
    def laws(self) -> Masses:
        """Return (p, q) with p mixed, without (0, 0), outcomes of one likelihood ratio merged."""
        merged: dict[Exact | None, tuple[Exact, Exact]] = {}
        for p, q in deadline.each(self.masses):
            mixed = (1 - self.gamma) * q + self.gamma * p
            ratio = None if q == 0 else mixed / q
            if mixed != 0 or q != 0:
                known = merged.get(ratio, (Fraction(0), Fraction(0)))
                merged[ratio] = (known[0] + mixed, known[1] + q)
        return tuple(merged.values())

    decays_slowly = True

    @cached_property
    def symmetric(self) -> bool:
        """Does a permutation of the outcomes exchange the two laws?"""
        return Counter(self.laws) == Counter((q, p) for p, q in self.laws)

    proof = FINITE
    is_atomic = True

    @property
    def exchanged(self) -> Part | None:
        """The atoms of (Q, P), where nothing is sampled; None else."""
        if self.symmetric or self.gamma != 1:
            return super().exchanged
        return Atoms(tuple((q, p) for p, q in self.masses))

    @property
    def finite(self) -> Atoms:  # type: ignore[override]
        return self

    @property
    def lattice(self) -> LossLattice | None:  # type: ignore[override]
        """The lattice from −pure to pure, as the leaf that states `pure` answers for."""
        steps = len(self.laws) - 1
        if self.gamma != 1 or self.pure is None or not steps:
            return None
        return LossLattice(exact(2 * self.pure / steps), steps / 2, self._lattice_masses)

    def _lattice_masses(self, reverse: bool, bits: int) -> tuple[arb, list[arb]]:
        """Return the least loss, and the P-masses by rising loss, at flint's current precision."""
        known = [((p / q).log(), p) for p, q in self.common(reverse)]
        known.sort(key=lambda row: float(row[0].mid()))
        return known[0][0], [p for _, p in known]

    @property
    def exact_total_variation(self) -> Fraction | None:  # type: ignore[override]
        """Σ (p − q)₊, where all masses are fractions."""
        surplus = [p - q for p, q in self.laws]
        if not all(isinstance(x, Fraction) for x in surplus):
            return None
        return sum((max(x, Fraction(0)) for x in surplus), Fraction(0))

    @property
    def is_binary(self) -> bool:
        """Are there two finite losses?"""
        return len([1 for p, q in self.laws if p and q]) == 2

    def outcomes(self, count: int) -> int:
        """Count the ways to distribute `count` runs over the finite losses; 0 if none is finite."""
        losses = sum(p != 0 and q != 0 for p, q in self.laws)
        return math.comb(count + losses - 1, losses - 1) if losses else 0

    @classmethod
    def joint(cls, runs: Iterable[tuple[Atoms, int]]) -> Atoms:
        """Make all the runs one experiment, equal likelihood ratios merged.

        LimitError where there are too many outcomes. The rates of the parts are mixed in.
        """
        joint = cls(((Fraction(1), Fraction(1)),))
        for part, count in runs:
            for _ in range(count):
                size = len(joint.laws) * len(part.laws)
                limits.check("outcomes", size, "outcomes of runs on one sample")
                joint = cls(tuple((p * u, q * v) for p, q in joint.laws for u, v in part.laws))
        return joint

    def sampled(self, gamma: Exact) -> Atoms:
        """Mix P once more, at the rate of these atoms times γ."""
        return Atoms(self.masses, self.gamma * gamma, self.pure)

    # Proved in docs/proofs/allocations.md, Lemma allocated-laws.
    def allocated(self, steps: int) -> Part:
        """Average over the steps by how often each outcome occurs; what only P has reveals all.

        Equal ratios may stay apart until `laws`. Where there are too many ways the ratios are
        summed on a grid.
        """
        shared = [(p / q, q) for p, q in self.laws if q != 0]
        if math.comb(steps + len(shared) - 1, steps) > limits.current().outcomes:
            return super().allocated(steps)
        masses: list[tuple[Exact, Exact]] = [(p, q) for p, q in self.laws if q == 0]
        for counts in deadline.each(_counts(steps, len(shared))):
            q, mean = Fraction(math.factorial(steps)), Fraction(0)
            for (ratio, q_mass), k in zip(shared, counts, strict=True):
                q *= q_mass**k / Fraction(math.factorial(k))
                mean += Fraction(k, steps) * ratio
            masses.append((q * mean, q))
        return Atoms(tuple(masses))

    # Proved in docs/proofs/pairs.md, Lemma glued-pair.
    def fixed_size_pair(self, gamma: Exact) -> Atoms:
        """Glue (1−γ)q + γp against q where p > q to p against (1−γ)p + γq where p < q.

        What is left of both laws, equally much, is one outcome that says nothing.
        """
        masses = []
        for p, q in self.laws:
            if is_positive(p - q):
                masses.append(((1 - gamma) * q + gamma * p, q))
            elif is_positive(q - p):
                masses.append((p, (1 - gamma) * p + gamma * q))
        rest = 1 - sum((p for p, _ in masses), Fraction(0))
        return Atoms((*masses, (rest, rest)))

    def common(self, reverse: bool = False) -> list[tuple[arb, arb]]:
        """List (p, q) for the losses that are finite, exchanged if `reverse`.

        They are balls at flint's current precision, remembered for each precision.
        """
        balls = self._balls.get(ctx.prec)
        if balls is None:
            finite = ((p, q) for p, q in self.laws if p != 0 and q != 0)
            balls = [(BALL.number(p), BALL.number(q)) for p, q in deadline.each(finite)]
            self._balls[ctx.prec] = balls
        return [(q, p) for p, q in balls] if reverse else balls

    @cached_property
    def _balls(self) -> dict[int, list[tuple[arb, arb]]]:
        """(p, q) of the losses that are finite, by the precision at which they were asked."""
        return {}

    def outcomes_but_for(self, need: float, reverse: bool) -> tuple[list[tuple[arb, arb]], arb]:
        """List all of them, whatever the need."""
        return self.common(reverse), arb(0)

    def weighted_losses(self) -> list[tuple[arb, arb]]:
        """List (q, log(p/q)) for the losses that are finite, in balls."""
        return [(q, (p / q).log()) for p, q in self.common()]

    # --- float64: where to look

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log F and the variance of L at real orders by sums over the outcomes."""
        weights, losses = self._floats
        exponent = orders[:, None] * losses + np.log(weights)
        top = exponent.max(axis=1)
        share = np.exp(exponent - top[:, None])
        total = share.sum(axis=1)
        mean = share @ losses / total
        spread = share @ losses**2 / total - mean**2
        return np.log(total) + top, np.maximum(spread, 0.0)

    @cached_property
    def _floats(self) -> tuple[Floats, Floats]:
        """Q-masses and losses in float64, for what steers."""
        weighed = self.weighted_losses()
        return np.array([float(q) for q, _ in weighed]), np.array([float(x) for _, x in weighed])

    def in_floats(self, reverse: bool, rare: float) -> float_laws.OutcomesInFloats:
        """Give the finite losses by their outcomes; what falls short is P(L = ∞) and rounding."""
        with ctx.workprec(float_laws.BITS):
            outcomes = [
                (float_above(p), float((p / q).log().mid())) for p, q in self.common(reverse)
            ]
            lost = float_above(self.mass_at_infinity_in_balls(reverse))
        masses, losses = np.array(outcomes).reshape(-1, 2).T
        off = 4 * np.abs(losses).max(initial=0.0) + float_laws.FEW if outcomes else 0.0
        return float_laws.OutcomesInFloats(masses, losses, lost + off * float_laws.UNIT)

    def log_decay(self, a: float, t: float) -> float:
        """Estimate log F(a): atoms do not fall."""
        return float(self.float_moments(np.array([a]))[0][0])

    def log_values(self, line: OrderLine) -> Floats:
        """Estimate log F on a line of orders by sums over the outcomes."""
        weights, losses = self._floats
        return log_turning(np.log(weights) + line.a * losses, losses, line)

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the products that a value takes."""
        return _PRODUCTS_OF_EXPONENTIAL * len(self.laws)

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Sum F over the outcomes on a line of orders, without an error but the balls' own."""
        weighed = self.weighted_losses()
        weights = [q * (arb(line.a) * loss).exp() for q, loss in weighed]
        return sums_on_a_line(weights, [loss for _, loss in weighed], line, arb(0))

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log|F| by log F(a): atoms do not decay, the other parts must."""
        return sum((q * (arb(a) * loss).exp() for q, loss in self.weighted_losses()), arb(0)).log()

    def frequencies(self) -> list[arb]:
        """List the losses, at which F turns."""
        return [loss for _, loss in self.weighted_losses()]

    def amplitude_bounds(self, a: float, t: float, length: int) -> list[arb_poly]:
        """Return the constants q e^{aℓ}, of which no derivative is left."""
        return [arb_poly([q * (arb(a) * loss).exp()]) for q, loss in self.weighted_losses()]

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Sum (p − e^y q)₊; a term of which balls cannot decide the sign is near 0."""
        grown, zero = y.exp(), arb(0)
        terms = ((p - grown * q).max(zero) for p, q in self.common(reverse))
        return sum(terms, self.mass_at_infinity_in_balls(reverse))

    def largest(self, reverse: bool) -> arb:
        """Compute the largest loss over outcomes of both laws, exactly 0 where both are alike."""
        if (known := self.exact_largest(reverse)) is not None:
            return BALL.number(known)
        are_alike = (p == q for p, q in self.laws if p != 0 and q != 0)  # which no ball proves
        most = arb("-inf")
        for is_alike, (_, loss) in zip(are_alike, self.weighted_losses(), strict=True):
            most = most.max(arb(0) if is_alike else -loss if reverse else loss)
        return most

    def exact_largest(self, reverse: bool) -> Exact | None:
        """Return the largest loss that the leaf stated, unless the laws are sampled."""
        return self.pure if self.gamma == 1 else None

    def in_latex(self, write: written_laws.Write) -> written_laws.WrittenLaws | None:
        """Write the probabilities of all outcomes; None for more than eight."""
        if len(self.laws) > written_laws.MOST_TERMS:
            return None
        P, Q = (  # noqa: N806
            f", {written_laws.BREAK}".join(write(written_laws.simplified(x)) for x in law)
            for law in zip(*self.laws, strict=True)
        )
        words = ("(the probabilities of all outcomes)",)
        return written_laws.WrittenLaws(rf"\bigl( {P} \bigr)", rf"\bigl( {Q} \bigr)", words)

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """Compute the P-mass of outcomes with Q = 0, exactly."""
        pairs = ((q, p) if reverse else (p, q) for p, q in self.laws)
        return sum((p for p, q in pairs if q == 0), Fraction(0))

    def mass_at_infinity_in_balls(self, reverse: bool) -> arb:
        """Compute P(L = ∞) at flint's current precision."""
        return BALL.number(self.mass_at_infinity(reverse))


def _counts(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways in which `total` runs fall on `kinds` > 0 kinds of outcomes."""
    if kinds == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for others in _counts(total - first, kinds - 1):
            yield (first, *others)


def is_positive(x: Exact) -> bool:
    """Decide whether an exact number is above 0; PrecisionError where balls can't."""
    if isinstance(x, Fraction) or x == 0:
        return bool(x > 0)
    sign = decide(lambda ball: True if ball > 0 else False if ball < 0 else None, x)
    if sign is None:
        raise PrecisionError(f"found {echo(x)}, which cannot be told from 0; needed another number")
    return sign


def multinomial_laws(laws: list[tuple[arb, arb]], count: int) -> list[tuple[arb, arb]]:
    """List (p, q) of every way to distribute `count` runs over the outcomes: multinomial laws.

    Without any outcome there is none. Nobody counts them first: the caller knows that they are few.
    """
    if not laws:
        return []
    shares = [
        [(p**k / arb.fac_ui(k), q**k / arb.fac_ui(k)) for k in range(count + 1)] for p, q in laws
    ]
    ways, products = arb.fac_ui(count), []

    def extend(first: int, left: int, p: arb, q: arb) -> None:
        """Append (p, q) of every way in which `left` runs fall on the outcomes from `first` on.

        `p` and `q` are count! times the shares of what fell before. Calls are nested as deep as
        outcomes occur: all outcomes may be more than the stack holds.
        """
        if not left:
            products.append((p, q))
            return
        u, v = shares[-1][left]
        products.append((p * u, q * v))
        for i in range(len(shares) - 2, first - 1, -1):
            deadline.check()
            for k in range(1, left + 1):
                u, v = shares[i][k]
                extend(i + 1, left - k, p * u, q * v)

    extend(0, count, ways, ways)
    return products


def binary_profile(part: Atoms, count: int, y: arb, reverse: bool) -> arb:
    """Compute D(y) of `count` runs with two losses l₀ > l₁, less P(L = ∞).

    p^k I(p₀/p; j, k−j+1) − e^y q^k I(q₀/q; j, k−j+1), p = p₀+p₁, q = q₀+q₁, I the incomplete beta
    function and j the smallest number of l₀ whose total loss is above y.
    """
    (p0, q0), (p1, q1) = losses(part, reverse)
    return profile_by_tails(
        y,
        count,
        ((p0 / q0).log(), (p1 / q1).log()),
        partial(_tail, p0, p1, count),
        partial(_tail, q0, q1, count),
    )


def losses(part: Atoms, reverse: bool) -> tuple[tuple[arb, arb], tuple[arb, arb]]:
    """Return (p, q) of a binary part's two losses, the larger loss first.

    They are in either order where balls can't tell which is larger.
    """
    first, second = part.common(reverse)
    return (second, first) if first[0] * second[1] < second[0] * first[1] else (first, second)


#: Encloses the sum of the masses from some count of the larger loss on, at most all runs.
Tail = Callable[[int], arb]


def profile_by_tails(
    y: arb, count: int, both_losses: tuple[arb, arb], p_tail: Tail, q_tail: Tail
) -> arb:
    """Compute the largest of P(j) − e^y Q(j) and 0, P and Q the tails from j of the larger loss on.

    The best j is the first with which the loss of `count` runs exceeds y. Where balls leave open
    more than two numbers, the loss of all runs is known to be at most `count` times the larger one,
    so that D is between (P − e^y Q)₊ and P(1 − e^{y − kl₀})₊ of all outcomes.
    """
    larger, smaller = both_losses
    grown, zero = y.exp(), arb(0)
    first = (y - count * smaller) / (larger - smaller)
    if larger > smaller and first.is_finite():
        lowest, highest = (min(max(floor(end) + 1, 0), count + 1) for end in ends_of(first))
        if highest <= lowest + 1:
            places = {lowest, highest} - {count + 1}
            return BALL.maximum(zero, *(p_tail(j) - grown * q_tail(j) for j in places))
    whole = p_tail(0)
    smallest = (whole - grown * q_tail(0)).max(zero)
    return smallest.union(whole * (-(y - count * larger.max(smaller)).expm1()).max(zero))


def _tail(first: arb, second: arb, count: int, lowest: int) -> arb:
    """Compute Σ_{i>=lowest} C(k,i) p₀^i p₁^{k−i}."""
    total = first + second
    whole = total**count
    if lowest <= 0:
        return whole
    return whole * (first / total).beta_lower(arb(lowest), arb(count - lowest + 1), 1)


@loss_for(FiniteMasses)
def _(law: FiniteMasses) -> Atoms:
    return Atoms(law.masses, pure=law.pure)
