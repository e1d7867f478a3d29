"""A record in one of t runs of any loss: S/t between two laws of sums of ratios, both proved.

W = P/Q under Q is the ratio of one run, S the sum of t of them, and the pair has the ratio S/t
(docs/proofs/allocations.md, Lemma allocation-pair). Losses, y and `need` are in nats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import arb, ctx

from symacct.analysis import ratio_sums
from symacct.analysis.ratio_sums import Between, Sums
from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ends_of, float_above
from symacct.kernel.arithmetic.within_limits import bits
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact, LazyModule
from symacct.kernel.sums.halving import halved
from symacct.profile.float_laws import UNIT
from symacct.profile.losses.allocated import AllocationLoss
from symacct.profile.part import Floats, Part
from symacct.profile.proofs import ALLOCATIONS
from symacct.profile.written_laws import Write, WrittenLaws, allocated

if TYPE_CHECKING:
    from symacct.profile import grids
else:
    grids = LazyModule("symacct.profile.grids")


class _Fineness(NamedTuple):
    """Up to so many bits of precision a step of the grid is a share of the deviation of log S.

    It is wider where a law would have more than twice as many nodes.
    """

    bits: int
    share: float
    nodes: int


#: The grids from the coarsest on, of which the first that is for the bits of the question is taken.
#: Each has its proof: finer ones take longer, and their two laws are nearer to each other.
_FINENESS = (
    _Fineness(0, 2.0**-6, 2**11),  # which steers alone
    _Fineness(80, 2.0**-8, 2**12),
    _Fineness(160, 2.0**-9, 2**13),
)
#: What is left out at each end is e^{−need}: more is tried where less tells no digit. It is
#: bounded, and added.
_NEEDS = (32.0, 64.0, 128.0, 256.0)
#: Up to so many bits no more is tried: far from a root nothing is asked of tiny values. The ends
#: are proved, and farther apart.
_SHALLOW_BITS = 64
#: An ε is told from what is left out where δ is so many nats larger. It steers.
_TOLD_NATS = 15.0
#: A grid's need counts so many nats for digits that no law has. It chooses the law, each of which
#: is proved.
_NATS_OF_DIGITS = 8.0
#: A value is told where its lower bound is at least this share of the upper one. Both ends are
#: proved: a larger share takes longer.
_TOLD_SHARE = 0.9
#: An ε is estimated by so many halvings. It steers.
_HALVINGS = 40
#: Bounds in float64 are raised by this share, for their roundings. A smaller share is unsound.
_RAISED = 1 + 2.0**-30
#: Losses of one run farther than this are refused by a PrecisionError: products must not overflow.
_FARTHEST = 128.0
#: D falls beyond this loss, where float64 has no e^y: its upper bound there is that at this one. A
#: larger one overflows.
_LARGEST = 512.0
#: The far ends of a loss are estimated by a grid of so many steps, and the near end of a sum of
#: ratios by so many deviations. They steer.
_STEPS_OF_ENDS, _DEVIATIONS = 2**9, 10.0
#: An outcome is taken to be at a node where its ratio is so many bits from it; the law above counts
#: what that moves. Fewer widen it.
_NODE_BITS = 60
#: An outcome is compared with the node that float64 has within so many steps of it. It saves time:
#: balls decide.
_NEAR_NODE = 2.0**-20
#: Masses below are kept that are known to so many bits. The law below may leave out any; it takes
#: those that it keeps for correctly rounded, so that fewer than 54 are unsound.
_FLOAT_BITS = 60
#: The least variance of a ratio that chooses a step. It steers.
_LEAST_VARIANCE = 1e-18


@dataclass(frozen=True)
class AllocatedLaw(AllocationLoss):
    """A record is in one of `steps` > 1 runs of any loss, `run`, drawn at random."""

    run: Part
    steps: int

    proof = ALLOCATIONS
    is_costly = True

    @property
    def of_run(self) -> Part:
        """The loss of one run."""
        return self.run

    def in_latex(self, write: Write) -> WrittenLaws | None:
        """Write both laws of all runs, by those of one; None where these have no formula."""
        law = self.run.in_latex(write)
        return None if law is None else allocated(law.P, law.Q, self.steps)

    # --- float64: where to look

    @property
    def _about(self) -> Between:
        return _between(self.run, self.steps, 0, _NEEDS[0])

    @property
    def spread(self) -> float:
        """Estimate the variance of log S, as if S were lognormal."""
        return math.log1p(_variance(self.run) / self.steps)

    def log_moments(self, z: Floats) -> Floats:
        """Estimate log E[(S/t)^z] on the grid."""
        law = self._about
        kept = law.above.masses > 0
        logs, losses = np.log(law.above.masses[kept]), law.losses[kept]
        return np.array([np.logaddexp.reduce(logs + a * losses) for a in z])

    def about_root(self, log_delta: float, reverse: bool) -> float:
        """About the ε of a δ, by halvings on the grid."""
        need = _depth(_TOLD_NATS - log_delta)
        law, low, high = _between(self.run, self.steps, 0, need), 0.0, 1.0
        value = law.put if reverse else law.call

        def is_above(y: float) -> bool:
            return sum(value(y)) > 2 * math.exp(log_delta)

        while is_above(high) and high < _FARTHEST:
            low, high = high, 2 * high
        return sum(halved(low, high, is_above, _HALVINGS)) / 2

    # --- what is proved

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Enclose D(y) between the two laws. PrecisionError for more digits than some six."""
        fineness = sum(ctx.prec > each.bits for each in _FINENESS)
        if fineness == len(_FINENESS):
            raise PrecisionError(
                f"random allocation of {self.steps} runs: found its profile known to few digits "
                "only, needed fewer"
            )
        left, right = (float(end.mid()) for end in ends_of(y))  # D falls
        high = self._ends(math.nextafter(left, -math.inf), reverse, fineness)[1]
        low = self._ends(math.nextafter(right, math.inf), reverse, fineness)[0]
        value = arb(low).union(arb(high))
        return value if reverse else value + BALL.number(self.run.mass_at_infinity(False))

    def _ends(self, y: float, reverse: bool, fineness: int) -> tuple[float, float]:
        """Bound D(y), less P(L = ∞) of the exchanged pair, from below and from above."""
        if y > _LARGEST:
            return 0.0, self._ends(_LARGEST, reverse, fineness)[1]
        low, high = 0.0, 1.0
        for need in _NEEDS if ctx.prec > _SHALLOW_BITS else _NEEDS[:1]:
            law = _between(self.run, self.steps, fineness, need)
            ends = law.put(y) if reverse else law.call(y)
            low, high = max(low, ends[0]), min(high, ends[1])
            if low > _TOLD_SHARE * high:
                break
        return low, high

    def largest(self, reverse: bool) -> arb:
        """Return the loss of one run, in all of them; or with all others' ratios 0 if reversed."""
        largest = self.run.largest(reverse)
        if reverse and self.run.mass_at_infinity(True) != 0:
            return largest + arb(self.steps).log()
        return largest

    def exact_largest(self, reverse: bool) -> Exact | None:
        """Return the largest loss of one run as an exact number; None where that is not known."""
        if reverse and self.run.mass_at_infinity(True) != 0:
            return None
        return self.run.exact_largest(reverse)

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """Return that of one run; if reversed, that all ratios are 0."""
        lost = self.run.mass_at_infinity(reverse)
        if not reverse or lost == 0:
            return lost
        size = self.steps * bits(lost)
        limits.check("parameter_bits", size, "RandomAllocation, bits of a probability")
        return lost**self.steps


# Proved in docs/proofs/allocations.md, Lemma ratio-composition.
def laid(allocation: AllocationLoss, count: int, reverse: bool, need: float) -> grids.LaidLaw:
    """Lay the law above and the law below of an allocation, each by its outcomes."""
    law = _between(allocation.of_run, allocation.steps, 1, _depth(need - _NATS_OF_DIGITS))
    (q, losses), (p_below, q_below, losses_below) = (
        law.outcomes_above(),
        law.outcomes_below(not reverse),
    )
    lost = float(BALL.number(allocation.mass_at_infinity(reverse)).lower())
    left_out = law.left_out(not reverse, lost)
    if reverse:
        above, below = _Outcomes(q, -losses), _Outcomes(q_below, -losses_below)
    else:
        above, below = _Outcomes(q * np.exp(losses), losses), _Outcomes(p_below, losses_below)
    ends = arb(float(above.losses.min())), arb(float(above.losses.max()))
    return grids.LaidLaw(
        count,
        ends,
        partial(above.on_nodes, law.blur, left_out),
        below=partial(below.on_nodes, law.blur, None),
    )


class _Outcomes(NamedTuple):
    """Outcomes have P-masses and losses in float64."""

    masses: Floats
    losses: Floats

    # Proved in docs/proofs/allocations.md, Lemma ratio-composition.
    def on_nodes(self, blur: float, left_out: float | None, step: arb) -> grids.DottedLaw:
        """Share each mass between the nodes on either side, all raised; or lowered without a rest.

        `blur` bounds by how much losses are off, and masses by which share.
        """
        h = float(step.mid())
        rows = np.floor(self.losses / h)
        first = int(rows.min())
        places, at = np.clip(self.losses - rows * h, 0.0, h), (rows - first).astype(np.int64)
        up = self.masses * (np.expm1(-places) / math.expm1(-h))
        off = 4 * self.masses * blur * (1 - 1 / math.expm1(-h))
        off = off if left_out is not None else -off
        down = np.maximum(self.masses - up + off, 0.0)
        up = np.maximum(up + off, 0.0)
        count = int(at.max()) + 2
        raised = 1 + 2 * (int(np.bincount(at).max()) + 8) * UNIT
        raised = raised if left_out is not None else 1 / raised
        masses = (np.bincount(at, down, count) + np.bincount(at + 1, up, count)) * raised
        # Each mass has a Q-mass, of which the shares' parallel is at most a quarter of the step.
        widths = self.masses * np.exp(-self.losses) * np.exp((rows + 1) * h) * -math.expm1(-h) / 4
        excess = np.bincount(at + 1, widths, count) * _RAISED * (1 + blur)
        return grids.DottedLaw(
            step * first,
            step,
            [arb(x) for x in masses.tolist()],
            [arb(x) for x in excess.tolist()],
            arb(left_out or 0.0),
            arb(0),
            2,
        )


def _depth(need: float) -> float:
    """Choose how little is left out: e^{−need} at most, where that is known."""
    return next((depth for depth in _NEEDS if depth > need), _NEEDS[-1])


@dataclass(frozen=True, eq=False)
class _Steps:
    """Steps of sums of ratios whose logarithms lie between two ends; all are powers of two."""

    low: float
    high: float
    variance: float
    fineness: _Fineness

    def __post_init__(self) -> None:
        """Refuse losses beyond 128 by a PrecisionError."""
        if not max(-self.low, self.high) <= _FARTHEST:
            raise PrecisionError(
                f"found losses of one run beyond {_FARTHEST:.0f}, needed smaller ones"
            )

    def of(self, count: int) -> float:
        """Choose the step of a sum of so many ratios, which does not rise with their number."""
        deviation = math.sqrt(math.log1p(self.variance / count))
        reach = min(-self.low, _DEVIATIONS * deviation) + math.log1p(math.exp(self.high) / count)
        widest = max(self.fineness.share * deviation, reach / self.fineness.nodes)
        return 2.0 ** math.floor(math.log2(widest))


def _between(run: Part, steps: int, fineness: int, need: float) -> Between:
    """Enclose the sum of all ratios."""
    return _sums(run, fineness, need).of(steps)


@lru_cache(8)
def _sums(run: Part, fineness: int, need: float) -> Sums:
    """Make the sums of any number of one run's ratios, but for masses of e^{−need}.

    `fineness` counts up in `_FINENESS`.
    """
    steps_of = partial(_Steps, variance=_variance(run), fineness=_FINENESS[fineness])
    make = _of_outcomes if run.is_atomic else _of_profile
    with ctx.workprec(math.ceil(3 * need / math.log(2)) + 128):
        start, laws, chosen = make(run, need, steps_of)
    return Sums(start, laws, chosen.of, math.exp(-need))


def _variance(run: Part) -> float:
    """Estimate the variance of the ratio of one run."""
    log_square = float(run.float_moments(np.array([2.0]))[0][0])
    return max(math.expm1(min(log_square, _FARTHEST)), _LEAST_VARIANCE)


#: The logarithm of the first node, the laws above and below, and the steps.
_Laid = tuple[float, tuple[ratio_sums.Above, ratio_sums.Below], _Steps]


# Proved in docs/proofs/allocations.md, Lemma ratio-laws.
def _of_outcomes(run: Part, need: float, steps: Callable[[float, float], _Steps]) -> _Laid:
    """Share each outcome between the nodes beside its loss; PrecisionError if near to one."""
    outcomes, left_out = run.outcomes_but_for(need, False)
    losses = [float((p / q).log().mid()) for p, q in outcomes]
    chosen = steps(min(losses), max(losses))
    start, step, first = losses[0], chosen.of(1), arb(losses[0]).exp()
    node, near = arb(step).exp(), arb(2) ** -_NODE_BITS
    nodes: list[tuple[int, float]] = []
    for (p, q), loss in zip(outcomes, losses, strict=True):
        deadline.check()
        place = (loss - start) / step
        k = round(place) if abs(place - round(place)) < _NEAR_NODE else math.floor(place)
        ratio = p / q / (first * node**k)
        if ratio < 1 - near:
            k, ratio = k - 1, ratio * node
        if not (ratio > 1 - near and ratio < node):
            raise PrecisionError("found an outcome too close to a node of a grid of ratios")
        up, down = ((ratio - 1) / (node - 1)).max(arb(0)), (node - ratio) / (node - 1)
        if not ratio > 1 + near:
            up, down = near / (node - 1), arb(1)
            nodes.append((k - 1, float_above(q * near / (1 - 1 / node))))
        nodes += [(k, float_above(q * down)), (k + 1, float_above(q * up))]
    zero = (1 - sum((q for _, q in outcomes), arb(0))).max(arb(0))
    ends = float_above(zero), float_above(left_out), 0.0
    return start, ratio_sums.single(start, step, nodes, ends, _floats_of(outcomes)), chosen


# Proved in docs/proofs/allocations.md, Lemma ratio-laws.
def _of_profile(run: Part, need: float, steps: Callable[[float, float], _Steps]) -> _Laid:
    """Lay the profile's chords above, and the groups of its law below."""
    (law,) = grids.laws_of(run, 1, False, need, _STEPS_OF_ENDS)
    chosen = steps(*(float(end.mid()) for end in law.ends))
    step = arb(chosen.of(1))
    dotted = law.laid(step)
    places = (dotted.first + k * step for k in range(len(dotted.masses)))
    masses = [(p * (-y).exp()).max(arb(0)) for p, y in zip(dotted.masses, places, strict=True)]
    zero = (1 - sum(masses, arb(0))).max(arb(0))
    short = (sum(dotted.masses, dotted.left_out) - 1).max(arb(0))
    start, nodes = float(dotted.first.mid()), [(k, float_above(q)) for k, q in enumerate(masses)]
    ends = float_above(zero), float_above(dotted.left_out), float_above(short)
    groups = _floats_of(law.groups(step) if law.groups else [])
    return start, ratio_sums.single(start, float(step), nodes, ends, groups), chosen


def _floats_of(groups: list[tuple[arb, arb]]) -> list[tuple[float, float, float]]:
    """Return masses, moments and logarithms of the groups whose masses are known to float64."""
    return [
        (float(q.mid()), float(p.mid()), float((p / q).log().mid()))
        for p, q in groups
        if p.rel_accuracy_bits() > _FLOAT_BITS and q.rel_accuracy_bits() > _FLOAT_BITS
    ]
