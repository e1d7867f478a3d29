"""The larger of what a record removed and one added cost, where both are less than the curve says.

Random allocation's curve is the larger of two. That of a record added is a normal loss's, of which
the profile is known: no conversion of a curve comes as near (docs/proofs.md, section 30).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from flint import arb

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision
from symacct.core.claims import Claim
from symacct.core.errors import PrecisionError
from symacct.core.sources import SYMACCT
from symacct.expressions.node import Node
from symacct.mechanisms import Gaussian
from symacct.numerics import order_search
from symacct.numerics.normal.hockey_stick import hockey_stick, hockey_stick_inverse
from symacct.operations.allocation import RandomAllocation
from symacct.operations.compose import Compose
from symacct.rdp.evaluation import Evaluation
from symacct.rdp.optimal_order import BestOrder
from symacct.rdp.question import EpsilonDelta
from symacct.results.enclosure import Guarantee, from_ball
from symacct.results.precision import to_digits
from symacct.theory.amplification.fs25 import LAST, log_moments

_SOURCE = SYMACCT.at("docs/proofs.md, section 30: a record added by the law of its loss")

#: How often noise is run, each record in one of so many steps.
Allocated = dict[tuple[Gaussian, int], int]


def no_larger_each_way(found: Guarantee, search: BestOrder) -> Guarantee:
    """What the search found, or the larger of both ways where that is smaller."""
    question, runs = search.question, allocated(search.question.m)
    if not runs or not found.asked.upper or (question.asks_epsilon and question.value == 0):
        return found
    most = arb(found.asked.upper)
    with precision(search.search_bits):
        if not added(question, runs) < most:
            return found
        order = best_order(search.evaluation(), question, runs)

    def value() -> tuple[arb, Claim]:
        spent = removed(search.evaluation(), runs, order)
        one = question.answer(question.objective()(spent, order))
        claim = search.curve().claim(order)
        return one.max(added(question, runs)), replace(claim, sources=(*claim.sources, _SOURCE))

    try:
        ball, claim, _ = to_digits(value, search.digits + 1, lambda: "each way")
    except PrecisionError:
        return found
    number = from_ball(ball, claim, search.digits, claim.certified)
    if not number.upper < found.asked.upper:
        return found
    epsilon, delta = (number, found.given) if question.asks_epsilon else (found.given, number)
    return replace(found, epsilon=epsilon, delta=delta, alpha=order, claim=claim, optimal=False)


def allocated(m: Node) -> Allocated:
    """What is run, where that is Gaussian noise and some of it allocated; else nothing."""
    runs: Allocated = Counter()
    for part, count in (m.terms if isinstance(m, Compose) else {m: 1}).items():
        steps = part.steps if isinstance(part, RandomAllocation) else 1
        noise = part.mechanism if isinstance(part, RandomAllocation) else part
        if not isinstance(noise, Gaussian):
            return {}
        runs[noise, steps] += count
    return runs if any(steps > 1 for _, steps in runs) else {}


def best_order(evaluation: Evaluation, question: EpsilonDelta, runs: Allocated) -> int:
    """The whole order that says least of a record removed."""
    converted = question.objective()
    return order_search.whole_valley(
        lambda alpha: converted(removed(evaluation, runs, int(alpha)), alpha), 2, LAST, 2
    )


def removed(evaluation: Evaluation, runs: Allocated, order: int) -> arb:
    """D_α of the law with the record from that without, at a whole order."""
    total = arb(0)
    for (noise, steps), count in runs.items():
        (log_moment,) = log_moments(BALL, evaluation.curve(noise), steps, (order,))
        total += count * log_moment / (order - 1)
    return total


def added(question: EpsilonDelta, runs: Allocated) -> arb:
    """ε(δ) or δ(ε) by a normal loss of variance Σ s²/T that is moved by Σ (1 − 1/T)s²/2."""
    square, moved, given = arb(0), arb(0), BALL.number(question.value)
    for (noise, steps), count in runs.items():
        ratio = count * (BALL.number(noise.sensitivity) / BALL.number(noise.sigma)) ** 2
        square += ratio / steps
        moved += ratio * (steps - 1) / (2 * steps)
    if question.asks_epsilon:
        return hockey_stick_inverse(given, square.sqrt()) + moved
    return hockey_stick(given - moved, square.sqrt())
