"""Feldman, Shenfeld 2025: each record in one of T steps, drawn at random once an epoch.

P is the mean over t of N(e_t, σ²I), Q = N(0, σ²I). For whole orders D_α(P‖Q) is what FS25-DIRECT
has of Gaussian noise; the other way round log(Q/P) is at most its mean over the steps, a normal
loss moved by (1 − 1/T)/(2σ²).
"""

from __future__ import annotations

from flint import arb

from symacct.arithmetic import BALL
from symacct.baselines.result import Baseline, enclose, noise_of, probability_or_zero
from symacct.core.claims import ADD_REMOVE, INTEGER_ORDERS, Kind
from symacct.core.errors import DomainError, OrderError, echo
from symacct.core.exact import Numeric
from symacct.core.sources import FS25
from symacct.expressions.parameters import whole
from symacct.mechanisms import Gaussian
from symacct.operations.allocation import RandomAllocation
from symacct.rdp.each_way import added, best_order, removed
from symacct.rdp.evaluation import Evaluation
from symacct.rdp.question import EpsilonDelta
from symacct.results.enclosure import Bound
from symacct.theory.amplification.fs25 import LAST
from symacct.theory.conversion import named

_MOST = 10**9  # steps and epochs


def allocation_rdp(alpha: Numeric, sigma: Numeric, steps: Numeric, digits: int = 30) -> Bound:
    """D_α(P‖Q) of one epoch: of the law with the record from that without; α whole, 2 to 256.

    >>> print(allocation_rdp(2, 1, 100, digits=7))
    0.01703687
    """
    order, noise, count = whole(alpha, "alpha"), noise_of(sigma), _count(steps, "steps")
    if not 2 <= order <= LAST:
        raise OrderError(f"alpha: found {echo(alpha)}, needed a whole order from 2 to {LAST}")

    def value() -> arb:
        return removed(Evaluation(BALL), {(Gaussian(noise), count): 1}, order)

    place = FS25.at("the direct bound of the authors' program, removing a record")
    what = "random allocation"
    return enclose(value, place, digits, what, Kind.EXACT, ADD_REMOVE, INTEGER_ORDERS)


def random_allocation(
    delta: Numeric, sigma: Numeric, steps: Numeric, epochs: Numeric = 1, digits: int = 10
) -> Baseline:
    """ε(δ) of so many epochs, a record more or less: the larger of both directions' bounds.

    >>> print(random_allocation("1e-5", 4, 1000).epsilon.rounded_up(5))
    0.052160
    """
    d, noise = probability_or_zero(delta, "delta"), noise_of(sigma)
    count, rounds = _count(steps, "steps"), _count(epochs, "epochs")
    if d == 0:
        raise DomainError("delta: found 0, needed delta > 0")

    runs = {(Gaussian(noise), count): rounds}
    question = EpsilonDelta(
        m=rounds * RandomAllocation(Gaussian(noise), count),
        by=None,
        conversion=named("improved"),
        given="delta",
        value=d,
    )

    def value() -> arb:
        evaluation, converted = Evaluation(BALL), question.objective()
        order = best_order(evaluation, question, runs)
        spent = converted(removed(evaluation, runs, order), order)
        return question.answer(spent).max(added(question, runs))

    place = FS25.at("the direct bounds of the authors' program")
    return Baseline.of("random allocation", place, digits, Kind.UPPER, value, d)


def _count(number: Numeric, name: str) -> int:
    count = whole(number, name, least=1)
    if count > _MOST:
        raise DomainError(f"{name}: found {echo(number)}, needed {name} <= {_MOST:,}")
    return count
