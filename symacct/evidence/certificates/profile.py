"""The proof of an (ε, δ) guarantee by the profile itself: a sum over answers, or a contour."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from symacct.evidence.certificates.expression import (
    LAWS,
    LEAVES,
    above,
    end_as_fraction,
    no_certificate,
    parts_of,
    upper,
    written,
)
from symacct.evidence.certificates.renyi import claimed_digits
from symacct.kernel.answer import Bound, Guarantee
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import rounded_down
from symacct.kernel.claims import ADD_REMOVE, SWAPPED, ZERO_OUT
from symacct.kernel.errors import DomainError
from symacct.kernel.node import Node
from symacct.operations.subsample import PoissonSubsample
from symacct.profile.answer import profile
from symacct.profile.pairs import products
from symacct.profile.part import Part
from symacct.profile.runs import log_kernel

# --- where a contour runs
#
# Floats choose it, and the checker proves what it sums to. With L the logarithm of a share of what
# is left between δ(ε) and the δ claimed, c, h and N are such that each error of
# docs/proofs/contours.md, Lemma complex-sum, is below it: the aliases on the left 1/(e^{2πc/h}−1),
# those on the right C(λ)M(λ)e^{−λy}/(e^{2π(λ−c)/h}−1) for some λ > c, and the nodes left out.


@dataclass(frozen=True)
class ContourSteering:
    """How a contour is chosen: the checker proves whatever is."""

    #: A contour has at most this many nodes, each of which the checker proves by itself.
    nodes: int = 4000
    #: What is left is cut into this many equal parts, of which each error gets one.
    shares: int = 10
    #: These places of c are tried, as shares of the saddle.
    places: np.ndarray = field(default_factory=lambda: np.geomspace(1 / 8, 2, 17))
    #: Orders λ that bound the aliases on the right, as multiples of c.
    beyond: np.ndarray = field(default_factory=lambda: np.geomspace(1.05, 16, 24))
    #: Moments are summed over this many standard deviations; beyond, e^{−72} is left out.
    reach: float = 12.0
    #: The checker adds in units of 2^−768 at its finest, and sums a sampled moment to 2^(−.7·768).
    #: An error of the size e^16 of these, relative to a largest number, has to be within a share.
    room: float = 768 * math.log(2) - 16
    room_of_sums: float = 0.7 * 768 * math.log(2) - 16


#: The numbers that choose a contour, which no proof rests on.
STEERING = ContourSteering()


class ContourLine(NamedTuple):
    """The nodes c + inh, |n| <= N, of a contour."""

    c: Fraction
    step: Fraction
    nodes: int


def _sampled_decay(sigma: float, rate: float, a: float, t: float) -> float:
    """Estimate the checker's bound of log|F(a+it)| of a sampled Gaussian.

    It is F(a) with the tilted means p₁ and p₂ of p = γe^w/R and of p², by a line at the angle θ off
    the real one.
    """
    step = min(sigma / 3, sigma**2 / 3)
    lowest, highest = -STEERING.reach * sigma, max(a, 0.0) + STEERING.reach * sigma
    x = np.arange(lowest, highest + step, step)
    w = (2 * x - 1) / (2 * sigma**2) + math.log(rate)
    loss = np.logaddexp(math.log1p(-rate), w)
    logs = a * loss - x**2 / (2 * sigma**2)
    weights, p = np.exp(logs - logs.max()), np.exp(w - loss)
    total = float(weights.sum())
    log_moment = float(logs.max()) + math.log(total * step / (sigma * math.sqrt(2 * math.pi)))
    p1, p2 = float(weights @ p) / total, float(weights @ p**2) / total
    theta = min(2.0, t * p1 / (sigma**2 + t**2 * p2), t / (1 + 4 * max(-a, 0.0)))
    moved = t * (theta - theta**3 / 6) - 1.25 * max(-a, 0.0) * theta**2
    return log_moment + (sigma * theta) ** 2 / 2 + math.log(1 - moved * p1 + moved**2 * p2 / 2)


def _steered(node: Node) -> tuple[Part, Callable[[float, float], float], float]:
    """Return the loss of a part, the checker's bound of log|F(a+it)| in floats, and its room.

    DomainError for laws in numbers, which have no contour.
    """
    leaf: Any = node.mechanism if isinstance(node, PoissonSubsample) else node
    if type(leaf) in LAWS:
        raise no_certificate(f"{leaf!r} beside Gaussian noise by the exact profile")
    ((part, _),) = products(node)[0].runs
    rate = float(node.gamma) if isinstance(node, PoissonSubsample) else 1.0
    if leaf.noise_scale and rate < 1:
        decay = partial(_sampled_decay, float(leaf.sigma / leaf.sensitivity), rate)
        return part, decay, STEERING.room_of_sums
    return part, part.log_decay, STEERING.room


def plan(parts: Sequence[tuple[Node, int]], y: float, log_left: float, added: bool) -> ContourLine:
    """Choose the contour of the fewest nodes that leaves e^{log_left} to all its errors together.

    It is for δ at e^y, in floats; `added` exchanges the pair. DomainError for too many nodes, and
    for moments too large beside what is left.
    """
    counted = [(*_steered(part), count) for part, count in parts]
    goal = log_left - math.log(STEERING.shares)

    def cgf(s: float) -> float:
        """log M(s), M(s) = F(1+s), or F(−s) of the pair exchanged."""
        order = np.array([-s if added else 1 + s])
        return sum(count * float(part.float_moments(order)[0][0]) for part, *_, count in counted)

    def is_enough(c: float, step: float, nodes: int) -> bool:
        t, a = (nodes + 1) * step, -c if added else 1 + c
        rest = sum(count * decay(a, t) for _, decay, _, count in counted)
        return rest - c * y - math.log(math.pi * step * nodes) <= goal

    lines: list[ContourLine] = []
    grid = np.geomspace(1e-3, 1e5, 161)
    saddle = float(min(grid, key=lambda c: cgf(c) - c * y - math.log(c * (c + 1))))
    room = min(room for *_, room, _ in counted)
    places = [c for c in saddle * STEERING.places if cgf(c) - goal <= room]
    if not places:
        raise _too_fine()
    for c in places:
        right = [
            (lam - c) / (log_kernel(lam) + cgf(lam) - lam * y - goal + 1)
            for lam in c * STEERING.beyond
            if log_kernel(lam) + cgf(lam) - lam * y > goal
        ]
        step = 2 * math.pi * min(c / (1 - goal), max(right, default=math.inf))
        most = lines[0].nodes if lines else STEERING.nodes
        if step > 0 and is_enough(c, step, most):
            low, high = 0, most
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if is_enough(c, step, middle) else (middle, high)
            start, width = Fraction(rounded_down(c)), Fraction(rounded_down(step))
            lines.insert(0, ContourLine(start, width, high + 1))
    if not lines:
        raise no_certificate(
            f"a contour of more than {STEERING.nodes} nodes", "more runs or another conversion"
        )
    return min(lines, key=lambda line: line.nodes)


def _too_fine() -> DomainError:
    """Make the refusal of numbers whose sum the checker's 768 bits do not tell from δ."""
    return no_certificate("numbers too far apart for the checker's 768 bits", "more noise")


# --- the proof

#: A sum over answers has at most this many terms. More are refused, as the checker would take
#: minutes.
_MOST_TERMS = 20_000
#: Floats that choose a contour are between these: the least and the largest normal one.
_FLOATS = sys.float_info.min, sys.float_info.max
#: The profile is computed to this many digits more than are claimed. Where they are too few, no
#: certificate is proved and an error is raised.
_MORE_DIGITS = 8


def by_profile(
    guarantee: Guarantee, m: Node
) -> tuple[Fraction, Fraction, set[str], dict[str, Any]]:
    """Return ε and δ that are claimed, the theorems, and the proof for both directions.

    DomainError for what the checker does not know.
    """
    parts = parts_of(m)
    leaves: list[Any] = [
        part.mechanism if isinstance(part, PoissonSubsample) else part for part, _ in parts
    ]
    theorems: set[str] = set()
    for (part, _), leaf in zip(parts, leaves, strict=True):
        text = written(part)[1]
        replaced = part is not leaf and part.claim.adjacency not in (ADD_REMOVE, ZERO_OUT)
        names = LEAVES[type(leaf)].profile if type(leaf) in LEAVES else None
        if type(leaf) in LAWS:
            names = ("ZDW22",)
        if names is None or replaced:
            raise no_certificate(f"{text} by the exact profile")
        theorems |= {*names}
    if sum(count for _, count in parts) > 1:
        for leaf in leaves:
            if leaf.attained != SWAPPED:
                raise no_certificate(f"several runs of {leaf!r}, of which no one pair is the worst")
    digits = claimed_digits(guarantee)
    answer = above(end_as_fraction(guarantee.asked.upper), digits)
    is_epsilon = isinstance(guarantee.epsilon, Bound)
    epsilon, delta = (answer, guarantee.given) if is_epsilon else (guarantee.given, answer)
    if not 0 < delta < 1:
        raise no_certificate(f"δ = {delta}")
    left = delta - upper(profile(m).largest_delta(epsilon, digits + _MORE_DIGITS)[0])
    if not any(leaf.noise_scale for leaf in leaves):
        outcomes = zip(parts, map(_outcomes, leaves), strict=True)
        if math.prod(math.comb(count + m - 1, m - 1) for (_, count), m in outcomes) > _MOST_TERMS:
            raise no_certificate(f"a sum of more than {_MOST_TERMS} terms")
        most = max(float(epsilon), *(-_log_least(leaf) for leaf in leaves))
        if not left > 0 or most - _log(left) > STEERING.room:
            raise _too_fine()
        return epsilon, delta, theorems, {"method": "sum"}
    if not _FLOATS[0] < left or not epsilon < _FLOATS[1]:
        raise no_certificate("a contour for numbers beyond the range of float64")
    proof: dict[str, Any] = {"method": "contour"}
    for direction, added in (("removed", False), ("added", True)):
        line = plan(parts, float(epsilon), math.log(left), added)
        proof[direction] = {name: str(value) for name, value in line._asdict().items()}
    return epsilon, delta, theorems, proof


def _outcomes(leaf: Node) -> int:
    """Count the outcomes that tell different things, in the largest of the leaf's pairs."""
    if type(leaf) not in LAWS:
        return 2
    pairs = LAWS[type(leaf)].pairs(leaf)
    return max(len({p / (p + q) for p, q in pair if p + q}) for pair in pairs)


def _log_least(leaf: Any) -> float:
    """Compute the logarithm of the least probability of an outcome that a law can give."""
    if type(leaf) in LAWS:
        masses = {x for pair in LAWS[type(leaf)].pairs(leaf) for outcome in pair for x in outcome}
        return min(_log(x) for x in masses if x)
    law = leaf.neighbours
    return float(law.truth_probability(BALL).min(law.lie_probability(BALL)).log().mid())


def _log(x: Fraction) -> float:
    """Compute the logarithm of a fraction > 0, however small it is."""
    return math.log(x.numerator) - math.log(x.denominator)
