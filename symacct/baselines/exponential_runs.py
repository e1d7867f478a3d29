"""Exponential mechanisms that are all chosen beforehand: the exact (ε, δ) of k of them.

Of all mechanisms of bounded range ε the worst have losses t and t − ε, all with the same t, and the
best t is t_l = (ε′ + (l+1)ε)/(k+1) for one count l of the lower losses (docs/proofs/selection.md,
Lemma fixed-choices). Chosen by the answers before, k of them may cost more: k *
ExponentialMechanism(ε).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, expm1, log

from flint import arb, fmpz

from symacct.baselines.result import Baseline, falling_sum, least_epsilon, probability_or_zero
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import Kind
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import positive, rational, whole
from symacct.kernel.sources import SYMACCT

#: The bound's name in tables.
_NAME = "exponential mechanisms, chosen beforehand"
#: More runs are refused, because a sum for each count would take long.
_MOST_RUNS = 1000
#: The ε of one run lies between these, in nats, so that floats can steer.
_SMALLEST_RANGE, _LARGEST_RANGE = Fraction(1, 10**9), 100
_PLACE = SYMACCT.at("docs/proofs/selection.md, fixed-choices")  # of the proof, which answers cite


def exponential_runs(epsilon: Numeric, each: Numeric, runs: Numeric, digits: int = 10) -> Baseline:
    """δ(ε) of `runs` exponential mechanisms, each ε-DP by itself with ε = `each`; at most 1,000.

    The largest over all scores, if no mechanism is chosen by the answers of those before. ε >= 0 is
    rational, in nats. Raises DomainError.

    >>> print(exponential_runs(2, "1/2", 10).delta.rounded_up(5))
    0.0038846
    """
    eps = rational(epsilon, "epsilon")
    if eps < 0:
        raise DomainError(f"epsilon: found {echo(epsilon)}, needed epsilon >= 0")
    worst = BoundedRangeRuns(*_setting(each, runs))
    return Baseline.of(_NAME, _PLACE, digits, Kind.EXACT, eps, lambda: worst.delta(eps, arb(0)))


def exponential_runs_epsilon(
    delta: Numeric, each: Numeric, runs: Numeric, digits: int = 10
) -> Baseline:
    """The least multiple of kε/2³⁰ at which the δ(ε) of `exponential_runs` is proved at most δ.

    >>> print(exponential_runs_epsilon("1e-6", "1/10", 100).epsilon.rounded_up(5))
    2.2461
    """
    d, (size, count) = probability_or_zero(delta, "delta"), _setting(each, runs)
    least = least_epsilon(d, size * count, BoundedRangeRuns(size, count).delta)
    return Baseline.of(_NAME, _PLACE, digits, Kind.UPPER, least, d)


def _setting(each: Numeric, runs: Numeric) -> tuple[Fraction, int]:
    """The ε of one run and the number of runs; DomainError outside of what is summed."""
    size = rational(positive(each, "each"), "each")
    if not _SMALLEST_RANGE <= size <= _LARGEST_RANGE:
        raise DomainError(f"each: found {echo(each)}, needed 1e-9 <= each <= {_LARGEST_RANGE}")
    return size, whole(runs, "runs", least=1, most=_MOST_RUNS)


class BoundedRangeRuns:
    """δ(ε′) of k mechanisms of bounded range, all chosen beforehand, with ε = `size` each."""

    def __init__(self, size: Fraction, runs: int) -> None:
        self.size, self.runs = size, runs

    def delta(self, eps: Fraction, known: arb) -> arb:
        """δ(ε′) in a ball, the largest G_l over the counts l, where that is above `known`.

        With a `known` > 0 some G_l above it, or some number up to it, may be returned instead.
        """
        last = ceil((self.runs * self.size - eps) / self.size) - 1
        if last < 0:
            return arb(0)
        order = self._order(eps)
        start = min(last, max(0, self._best_count(eps, order)))
        largest = self._sum(start, eps)
        for counts in (range(start + 1, last + 1), range(start - 1, -1, -1)):
            before = self.log_most(start, eps, order)
            for count in counts:
                most = self.log_most(count, eps, order)
                # It is concave in the count, so that it falls from here on.
                if most < before and most.exp() < BALL.maximum(largest, known):
                    break
                largest, before = BALL.maximum(largest, self._sum(count, eps)), most
                if known > 0 and largest > known:
                    return largest
        return largest

    def _loss(self, count: int, eps: Fraction) -> Fraction:
        """t_l, the larger loss that is best for the count l, exact."""
        return (eps + (count + 1) * self.size) / (self.runs + 1)

    def _sum(self, count: int, eps: Fraction) -> arb:
        """G_l(t_l) = Σ_{i <= l} C(k,i) a^i (1−a)^{k−i} (1 − e^{ε′ + iε − kt}) in a ball.

        a is the probability of the lower loss; it is summed from i = l down.
        """
        k, size, loss = self.runs, BALL.number(self.size), self._loss(count, eps)
        low, high = BALL.number(loss).expm1(), -BALL.number(loss - self.size).expm1() * size.exp()
        against, shrink = high / low, (-size).exp()
        mass = arb(fmpz.bin_uiui(k, count)) * low**count * high ** (k - count) / size.expm1() ** k

        def terms() -> Iterator[tuple[arb, arb]]:
            less = BALL.number(eps + count * self.size - k * loss).exp()
            for i in range(count, -1, -1):
                yield 1 - less, against * i / (k - i + 1)
                less *= shrink

        return falling_sum(mass, terms())

    def log_most(self, count: int, eps: Fraction, order: Fraction) -> arb:
        """log of E[x^α] c^{1−α} (α−1)^{α−1}/α^α at t_l, an upper bound of G_l; c = e^ε′."""
        size, t, a = (BALL.number(x) for x in (self.size, self._loss(count, eps), order))
        both = -(t - size).expm1() + (-a * size).exp() * t.expm1()
        each = (a - 1) * t + (both / -(-size).expm1()).log()
        bound: arb = self.runs * each + (a - 1) * ((a - 1) / a).log() - a.log()
        return bound - (a - 1) * BALL.number(eps)

    def _order(self, eps: Fraction) -> Fraction:
        """The order α > 1 at which the largest of these bounds over t is about least: it steers."""
        size, most = float(self.size), float(eps)

        def log_bound(order: float) -> float:
            high, low = (x * _log_sinch(x * size / 2) for x in (order, order - 1))
            share = (order - 1) * log((order - 1) / order) - log(order)
            return self.runs * (high - low - _log_sinch(size / 2)) - (order - 1) * most + share

        return Fraction(min((1 + 2 ** (i / 2) for i in range(-12, 30)), key=log_bound))

    def _best_count(self, eps: Fraction, order: Fraction) -> int:
        """The l whose t_l is about the t that is worst at this order; it only starts a search."""
        size, a = float(self.size), float(order)
        worst = size / 2 + _log_sinch(a * size / 2) - _log_sinch((a - 1) * size / 2)
        return round(((self.runs + 1) * worst - float(eps)) / size) - 1


def _log_sinch(x: float) -> float:
    """log(sinh(x)/x) in float64 for x >= 0."""
    return x + log(-expm1(-2 * x) / (2 * x)) if x > 1e-6 else x * x / 6
