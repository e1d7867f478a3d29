"""Feldman, Shenfeld 2025: each record in one of T steps, drawn at random once an epoch.

P is the mean over t of N(e_t, σ²I), Q = N(0, σ²I). For whole orders D_α(P‖Q) is what FS25-DIRECT
has of Gaussian noise; the other way round log(Q/P) is at most its mean over the steps, a normal
loss moved by (1 − 1/T)/(2σ²).
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from symacct.arithmetic import BALL
from symacct.baselines.result import Baseline, enclose, noise_of, probability_or_zero
from symacct.core.claims import ABOVE_ONE, ADD_REMOVE, Kind
from symacct.core.errors import DomainError, OrderError, echo
from symacct.core.exact import Exact, Numeric, exact
from symacct.core.sources import FS25
from symacct.expressions.parameters import rational, whole
from symacct.mechanisms import Gaussian
from symacct.numerics.lognormal.moments import LognormalMoments
from symacct.numerics.lognormal.transform import Lognormal
from symacct.operations.allocation import RandomAllocation
from symacct.rdp.each_way import added, best_order, removed
from symacct.rdp.evaluation import Evaluation
from symacct.rdp.question import EpsilonDelta
from symacct.results.enclosure import Bound
from symacct.theory.amplification.fs25 import LAST
from symacct.theory.conversion import named

_MOST = 10**9  # steps and epochs


def allocation_rdp(
    alpha: Numeric, sigma: Numeric, steps: Numeric, digits: int = 30, *, added: bool = False
) -> Bound:
    """D_α of one epoch: of the law with the record from that without, or `added` the reverse.

    Whole orders up to 256 in closed form, others by an integral (docs/proofs.md, section 30).

    >>> print(allocation_rdp(2, 1, 100, digits=7))
    0.01703687
    >>> print(allocation_rdp("5/2", 1, 100, digits=7, added=True))
    0.02073022
    """
    order, noise, count = rational(alpha, "alpha"), noise_of(sigma), _count(steps, "steps")
    if not order > 1:
        raise OrderError(f"alpha: found {echo(alpha)}, needed an order above 1")

    def value() -> arb:
        if not added and order.denominator == 1 and order <= LAST:
            return removed(Evaluation(BALL), {(Gaussian(noise), count): 1}, int(order))
        return _by_moments(1 - order if added else order, noise, count) / BALL.number(order - 1)

    place = FS25.at("the direct bound of the authors' program, removing a record")
    what = "random allocation"
    return enclose(value, place, digits, what, Kind.EXACT, ADD_REMOVE, ABOVE_ONE)


def _by_moments(z: Fraction, noise: Exact, count: int) -> arb:
    """log E[(S/t)^z] of the mean of t ratios of both densities."""
    moments = LognormalMoments(Lognormal(1 / exact(noise * noise)), count, ctx.prec)
    return moments.moment(z).log() - BALL.number(z) * arb(count).log()


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
