"""The pair that dominates all mechanisms of bounded range ε: losses on [−ε, ε], P ∝ e^{ℓ/2}.

Its profile is the largest one of all of them, (e^{ε/2} − e^{y/2})²/(e^ε − 1) for |y| <= ε
(docs/proofs/selection.md, Lemma bounded-range-profile).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Self

from flint import arb, ctx

from symacct.kernel import symbols
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import Proof
from symacct.kernel.exact import Exact, exact, expression, sympy
from symacct.laws.density import Density
from symacct.laws.neighbours import AnyOfRange
from symacct.mechanisms.pair import Overlap
from symacct.profile.losses.density import DensityLoss, DensityPair
from symacct.profile.part import loss_for
from symacct.profile.proofs import BOUNDED_RANGE
from symacct.profile.roots import Value
from symacct.profile.written_laws import Write, WrittenLaws

#: The alternating sum loses about so many bits a run, and is worked out with as many more. Where
#: they are too few, the ball is wider.
_BITS_LOST_PER_RUN = 3
#: The sum answers for at most so many runs; grids do for more. It saves time.
_MOST_RUNS = 100


@dataclass(frozen=True)
class BoundedRange(DensityLoss):
    """A bounded range ε = `pure` > 0 has the densities e^{±εx/2} on −1 <= x <= 1, and L = εx."""

    pure: Exact

    symmetric = True
    proof = BOUNDED_RANGE

    @classmethod
    def form_of_runs(
        cls, runs: Sequence[tuple[Self, int]], reverse: bool
    ) -> tuple[Value, Proof] | None:
        """Return D of at most 100 runs of one ε, alike both ways; None of others."""
        (part, count), *more = runs
        if more or count > _MOST_RUNS:
            return None
        return partial(several_runs, part.pure, count), BOUNDED_RANGE

    def in_latex(self, write: Write) -> WrittenLaws:
        """Write both densities, e^{±x/2}/(2(e^{ε/2} − e^{−ε/2})) on [−ε, ε]."""
        half, pure = expression(self.pure) / 2, write(self.pure)
        total = write(exact(2 * (sympy.exp(half) - sympy.exp(-half))))
        P, Q = (rf"e^{{{sign}x/2}} / ({total}) \, dx" for sign in ("", "-"))  # noqa: N806
        return WrittenLaws(P, Q, (rf"(for $-{pure} \leq x \leq {pure}$)",))

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) of one run in closed form, either way round."""
        return several_runs(self.pure, 1, y)

    def largest(self, reverse: bool) -> arb:
        """Return ε, the range."""
        return BALL.number(self.pure)

    def exact_largest(self, reverse: bool) -> Exact | None:
        """Return ε, the range."""
        return self.pure


@lru_cache(64)
def bounded_range(pure: Exact) -> BoundedRange:
    """Make the loss for ε = `pure` > 0, its densities by SymPy."""
    half = expression(pure) * symbols.x / 2
    P, Q = (Density(sympy.exp(log), (-1, 1), "any") for log in (half, -half))  # noqa: N806
    return BoundedRange(DensityPair(Overlap(P, Q)), pure)


# Proved in docs/proofs/selection.md, Lemma bounded-range-runs.
def several_runs(pure: Exact, runs: int, y: arb) -> arb:
    """Compute D(y) = Σ_j (−1)^j C(k,j) G(b_j) / (4 sinh(ε/2))^k over b_j = (k−2j)ε > y.

    G(b) = ∫_y^b (b−L)^{k−1}/(k−1)! (e^{L/2} − e^{y−L/2}) dL: the law of the sum of k losses is
    that of k uniform ones, tilted.
    """
    with ctx.workprec(ctx.prec + _BITS_LOST_PER_RUN * runs):
        size, total = BALL.number(pure), arb(0)
        for j in range(runs + 1):
            end = (runs - 2 * j) * size
            width = (end - y).max(arb(0))  # 0 gives 0, and so may be where balls can't decide
            if width == 0:
                break
            share = (-1) ** j * arb(runs).bin(j)
            total += share * _beyond(end, width, y, runs)
        value = total / (4 * (size / 2).sinh()) ** runs
    return (+value).max(arb(0))


def _beyond(end: arb, width: arb, y: arb, runs: int) -> arb:
    """Compute G(b) = w^k/k! (e^{b/2} M(k, k+1, −w/2) − e^{y−b/2} M(k, k+1, w/2)), w = b − y.

    M is Kummer's function 1F1, k the number of runs.
    """
    falling, rising = ((sign * width / 2).hypgeom_1f1(arb(runs), arb(runs + 1)) for sign in (-1, 1))
    return (
        width**runs / arb(runs).fac() * ((end / 2).exp() * falling - (y - end / 2).exp() * rising)
    )


@loss_for(AnyOfRange)
def _(law: AnyOfRange) -> BoundedRange:
    return bounded_range(law.pure)
