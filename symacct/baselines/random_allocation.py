"""Feldman, Shenfeld 2025: each record in one of T steps, drawn at random once an epoch.

P is the mean over t of N(e_t, σ²I), Q = N(0, σ²I). For whole orders D_α(P‖Q) is what FS25-DIRECT
has of Gaussian noise; the other way round log(Q/P) is at most its mean over the steps, a normal
loss moved by (1 − 1/T)/(2σ²).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from symacct.arithmetic import BALL
from symacct.baselines.gaussian import hockey_stick_inverse
from symacct.baselines.result import Baseline, enclose, noise_of, probability_or_zero
from symacct.core.claims import ADD_REMOVE, INTEGER_ORDERS, Kind
from symacct.core.errors import DomainError, OrderError, echo
from symacct.core.exact import Exact, Numeric
from symacct.core.sources import FS25
from symacct.expressions.parameters import whole
from symacct.mechanisms import Gaussian
from symacct.rdp.evaluation import Evaluation
from symacct.results.enclosure import Bound
from symacct.theory.amplification.fs25 import LAST, log_moments

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
        return _divergences(noise, count, [order])[0]

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

    def value() -> arb:
        return _removing(d, noise, count, rounds).max(_adding(d, noise, count, rounds))

    place = FS25.at("the direct bounds of the authors' program")
    return Baseline.of("random allocation", place, digits, Kind.UPPER, value, d)


def _count(number: Numeric, name: str) -> int:
    count = whole(number, name, least=1)
    if count > _MOST:
        raise DomainError(f"{name}: found {echo(number)}, needed {name} <= {_MOST:,}")
    return count


def _divergences(sigma: Exact, steps: int, orders: Sequence[int]) -> list[arb]:
    """D_α(P‖Q) at each of these whole orders."""
    moments = log_moments(BALL, Evaluation(BALL).curve(Gaussian(sigma)), steps, orders)
    return [moment / (a - 1) for a, moment in zip(orders, moments, strict=True)]


def _removing(delta: Fraction, sigma: Exact, steps: int, epochs: int) -> arb:
    """The least ε by the improved conversion at a whole order."""
    log_delta, found, orders = BALL.number(delta).log(), arb("inf"), range(2, LAST + 1)
    for a, divergence in zip(orders, _divergences(sigma, steps, orders), strict=True):
        order = arb(a)
        spent = (order - 1).log() - order.log() - (log_delta + order.log()) / (order - 1)
        found = found.min(epochs * divergence + spent)
    return found.max(arb(0))


def _adding(delta: Fraction, sigma: Exact, steps: int, epochs: int) -> arb:
    """ε of normal noise of σ√(T/epochs), and epochs·(1 − 1/T)/(2σ²)."""
    noise = BALL.number(sigma)
    wide = hockey_stick_inverse(BALL.number(delta), (arb(epochs) / steps).sqrt() / noise)
    return wide + epochs * (1 - arb(1) / steps) / (2 * noise**2)
