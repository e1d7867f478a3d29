"""Composition of (ε, δ)-DP: naive, advanced in two printed forms, optimal homogeneous."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb

from symacct.baselines.result import Baseline, falling_sum, probability_or_zero
from symacct.kernel import limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, precision, up_to
from symacct.kernel.claims import Kind
from symacct.kernel.errors import AssumptionError, DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import rational, whole
from symacct.kernel.sources import DKM06, DRV10, KOV15, WBK19
from symacct.kernel.sums.halving import golden_least, halved_whole

#: Bits of the balls by which the δ₀ of a round is looked for, any outcome of which is sound.
_SEARCH_BITS = 128
#: Golden sections of log₂ of a share between −40 and 0: after 40 it is known to 2e−7. More could
#: make the ε found smaller, and no proof needs any.
_GOLDEN_STEPS = 40
#: Standard deviations from the mean number of lies beyond which floats have no mass. They steer.
_SPREAD_DEVIATIONS = 40
#: Nats beyond which e^ε is no float. It steers.
_LARGEST_EXPONENT = 700.0


def naive(epsilon: Numeric, delta: Numeric, k: Numeric, digits: int = 30) -> Baseline:
    """(kε, min(kδ, 1)): k runs of an (ε, δ)-DP mechanism (WBK19 Theorem 12).

    ε >= 0 in nats and 0 <= δ < 1 are rational. Raises DomainError.

    >>> print(naive("1/10", "1e-6", 20).epsilon)
    2.00000000000000000000000000000
    """
    eps, d, k = rational(epsilon, "epsilon"), probability_or_zero(delta, "delta"), _runs(k)
    source = DKM06.at("WBK19, Theorem 12")
    return Baseline.of("naive", source, digits, Kind.UPPER, k * eps, min(k * d, Fraction(1)))


def advanced(
    epsilon: Numeric, delta: Numeric, k: Numeric, slack: Numeric, digits: int = 30
) -> Baseline:
    """(ε√(2k log(1/δ*)) + kε(e^ε−1), kδ+δ*) with δ* = `slack` > 0 (Dwork, Rothblum, Vadhan).

    The δ is at most 1. Raises DomainError.
    """
    eps, k, source = rational(epsilon, "epsilon"), _runs(k), DRV10.at("advanced composition")
    total, free = _with_slack(delta, k, slack)

    def value() -> arb:
        e = ball(eps)
        return e * (2 * k * -ball(free).log()).sqrt() + k * e * e.expm1()

    return Baseline.of("advanced", source, digits, Kind.UPPER, value, total)


def strong(
    epsilon: Numeric, delta: Numeric, k: Numeric, slack: Numeric, digits: int = 30
) -> Baseline:
    """(ε√(2k log(1/δ*)) + 2kε², kδ+δ*), WBK19 Theorem 13 as printed; AssumptionError for ε > 1."""
    eps, k, source = rational(epsilon, "epsilon"), _runs(k), WBK19.at("Theorem 13")
    if eps > 1:
        raise AssumptionError(
            f"strong: found epsilon = {echo(eps)}, needed <= 1", remedy="use advanced()"
        )
    total, free = _with_slack(delta, k, slack)

    def value() -> arb:
        e = ball(eps)
        return e * (2 * k * -ball(free).log()).sqrt() + 2 * k * e**2

    return Baseline.of("strong", source, digits, Kind.UPPER, value, total)


def kairouz(epsilon: Numeric, delta: Numeric, k: Numeric, i: Numeric, digits: int = 30) -> Baseline:
    """((k−2i)ε, 1−(1−δ)^k(1−δ_i)), 0 <= i <= k/2, the i-th of the regions of k (ε, δ)-DP runs.

    It is exact for the worst such runs. Raises DomainError for another i.

    δ_i = Σ_{l<i} C(k,l)(e^{(k−l)ε} − e^{(k−2i+l)ε})/(1+e^ε)^k (Kairouz, Oh, Viswanath).
    """
    eps, d, k = rational(epsilon, "epsilon"), probability_or_zero(delta, "delta"), _runs(k)
    i, source = whole(i, "kairouz, i"), KOV15.at("Theorem 3.3")
    if 2 * i > k:
        raise DomainError(f"kairouz, i: found {echo(i)}, needed 2i <= k = {k}")

    def total() -> arb:
        runs = BinomialRounds(ball(eps), k)
        return -(k * (-ball(d)).log1p() + (-runs.delta(i)).log1p()).expm1()

    return Baseline.of(f"optimal, region {i}", source, digits, Kind.EXACT, (k - 2 * i) * eps, total)


def optimal(
    epsilon: Numeric, delta: Numeric, k: Numeric, total_delta: Numeric, digits: int = 30
) -> Baseline:
    """The least ε′ such that k runs of any (ε, δ)-DP mechanism are (ε′, `total_delta`)-DP.

    Between the regions of `kairouz` too: e^{ε′} Σ_{l<=i} C(k,l)e^{lε}/(1+e^ε)^k =
    Σ_{l<=i} C(k,l)e^{(k−l)ε}/(1+e^ε)^k − δ′, δ′ = 1 − (1−δ_total)/(1−δ)^k. Raises DomainError where
    (1−δ)^k < 1 − δ_total: then the δ of the rounds alone is more than is allowed.
    """
    eps, d, k = rational(epsilon, "epsilon"), probability_or_zero(delta, "delta"), _summed(k)
    allowed, source = probability_or_zero(total_delta, "total_delta"), KOV15.at("Theorem 3.3")

    def value() -> arb:
        rest = arb(0) if _is_used_up(d, k, allowed) else _left(ball(d), k, ball(allowed))
        return composed_epsilon(ball(eps), k, rest)

    return Baseline.of("optimal", source, digits, Kind.EXACT, value, allowed)


def best_over_rounds(
    profile: Callable[[arb], arb],
    k: Numeric,
    total_delta: Numeric,
    gamma: Numeric = 1,
    digits: int = 10,
) -> Baseline:
    """WBK19 Fig. 2's strong composition: `optimal` with the per-round δ chosen best for this k.

    `profile(δ₀)` is a ball holding (or above) an ε₀ such that the mechanism is (ε₀, δ₀)-DP. Sampled
    at rate γ a round is (log(1+γ(e^{ε₀}−1)), γδ₀)-DP; δ₀ is found by a search, of which any
    outcome is sound. For pure ε₀-DP give `profile = lambda δ: ε₀` (then δ₀ = 0 is best). Raises
    DomainError, LimitError.
    """
    k, allowed = _summed(k), probability_or_zero(total_delta, "total_delta")
    rate = rational(gamma, "gamma")
    if not callable(profile):
        raise DomainError(
            f"best_over_rounds, profile: found {echo(profile)}, needed a function δ₀ ↦ ε₀ in "
            "balls, such as gaussian_profile(sigma)"
        )
    if k == 0 or allowed == 0 or not 0 < rate <= 1:
        raise DomainError("best_over_rounds: needed k >= 1, total_delta > 0 and 0 < gamma <= 1")
    # (1−γδ₀)^k >= 1 − δ_total holds wherever kγδ₀ <= δ_total.
    per_round = allowed / (k * rate)
    source = KOV15.at("Theorem 3.3; WBK19, Figure 2")

    def round_of(share: Fraction) -> tuple[arb, arb]:
        first = min(share * per_round, Fraction(1))
        return (ball(rate) * profile(ball(first)).expm1()).log1p(), ball(rate * first)

    def value() -> arb:
        first, delta = round_of(best)
        return composed_epsilon(first, k, _left(delta, k, ball(allowed)))

    def share(place: Fraction) -> Fraction:
        return Fraction(2.0 ** float(place)).limit_denominator(2**64)

    def roughly(place: Fraction) -> float:
        with precision(_SEARCH_BITS):
            eps, delta = round_of(share(place))
            rest = _left(delta, k, ball(allowed))
            return _roughly(float(eps), k, float(rest))[0] if eps.is_finite() else math.inf

    # A share from 2^−40 to 1, exclusive: it proves no minimum, and needs none.
    best = share(golden_least(Fraction(-40), Fraction(0), roughly, _GOLDEN_STEPS)[0])
    name = "optimal, best per-round δ"
    return Baseline.of(name, source, digits, Kind.UPPER, value, allowed)


def composed_epsilon(eps: arb, k: int, rest: arb) -> arb:
    """The least ε′ of k runs of pure ε-DP at δ′ = `rest`, in a ball; 0 where δ(0) is at most δ′.

    NaN for a `rest` that is not known; from 0 to kε where the root's region is not proved.
    """
    if not rest.is_finite():
        return arb.nan()
    if eps == 0:  # nothing is lost, and balls would not tell the sums from δ′ = 0
        return arb(0)
    runs = BinomialRounds(eps, k)
    near = _roughly(float(eps), k, float(rest))[1] if eps.is_finite() else 0
    root = runs.largest_root(near, rest)
    if root is None:
        root = runs.largest_root(runs.region(rest), rest)
    return up_to(k * eps) if root is None else root


def _left(delta: arb, k: int, allowed: arb) -> arb:
    """δ′ = 1 − (1−δ_total)/(1−δ)^k, what k rounds leave of the total δ; NaN if maybe below 0.

    DomainError if it is below 0.
    """
    rest = -((-allowed).log1p() - k * (-delta).log1p()).expm1()
    if rest < 0:
        raise DomainError(
            "optimal: found rounds whose δ together exceed the total δ",
            remedy="lower the δ of each",
        )
    return rest if rest >= 0 else arb.nan()


def _is_used_up(delta: Fraction, k: int, allowed: Fraction) -> bool:
    """Is (1−δ)^k = 1 − δ_total, which no balls decide? In lowest terms, multiplied out if short."""
    kept, total = 1 - delta, 1 - allowed
    fewest_bits = k * (kept.denominator.bit_length() - 1)
    return fewest_bits < total.denominator.bit_length() and bool(kept**k == total)


def _roughly(eps: float, k: int, rest: float) -> tuple[float, int]:
    """The largest root of `BinomialRounds` and its region i, in floats: they only steer."""
    wrong = 1 / (1 + math.exp(min(eps, _LARGEST_EXPONENT)))  # the probability of a lie
    reach = _SPREAD_DEVIATIONS * (1 + math.sqrt(k * wrong))
    first, last = max(0, int(k * wrong - reach)), min(k // 2, int(k * wrong + reach))
    l = np.arange(first, last + 1)
    start = math.lgamma(k + 1) - math.lgamma(first + 1) - math.lgamma(k - first + 1)
    start -= first * eps + k * math.log1p(math.exp(-eps))
    logs = start + np.concatenate(([0.0], np.cumsum(np.log((k - l[:-1]) / l[1:]) - eps)))
    with np.errstate(divide="ignore", invalid="ignore"):
        above, below = np.cumsum(np.exp(logs)), np.logaddexp.accumulate(logs + (2 * l - k) * eps)
        roots = np.nan_to_num(np.log(above - rest) - below, nan=0.0)
    best = int(np.argmax(roots))
    return max(0.0, float(roots[best])), first + best


class BinomialRounds:
    """Sums in balls over the binomial law of k rounds with truth probability e^ε/(1+e^ε)."""

    def __init__(self, eps: arb, k: int) -> None:
        self.eps = eps
        self.k = k
        self.log_other = -eps.exp().log1p()  # log of 1/(1+e^ε)

    def delta(self, i: int) -> arb:
        """δ_i = Σ_{l<i} C(k,l)(e^{(k−l)ε} − e^{(k−2i+l)ε})/(1+e^ε)^k."""
        if i == 0:
            return arb(0)
        return self._sum(i - 1, lambda l: -(-2 * (i - l) * self.eps).expm1())

    def region(self, rest: arb) -> int:
        """About the last i with δ_i <= rest, by middles of balls: `largest_root` proves it."""
        return halved_whole(0, self.k // 2 + 1, lambda i: self.delta(i).mid() <= rest.mid())

    def largest_root(self, i: int, rest: arb) -> arb | None:
        """The largest root ε′ in a ball, if its region is proved to be i or next to it; else None.

        Any answers l <= i bound δ(ε′) from below, and the right ones attain it.
        """
        first, last = max(i - 1, 0), min(i + 1, self.k // 2)
        if first > 0 and not self.delta(first) <= rest:
            return None
        if last < self.k // 2 and not self.delta(last + 1) >= rest:
            return None
        largest: arb = BALL.maximum(*(self.root(i, rest) for i in range(first, last + 1)))
        return largest

    def root(self, i: int, rest: arb) -> arb:
        """The ε′ >= 0 with Σ_{l<=i} C(k,l)(e^{(k−l)ε} − e^{ε′+lε})/(1+e^ε)^k = rest; else 0.

        From 0 to kε where balls tell no more.
        """
        above = self._sum(i, lambda l: arb(1))
        below = self._sum(i, lambda l: ((2 * l - self.k) * self.eps).exp())
        if above <= rest:
            return arb(0)
        epsilon = ((above - rest) / below).log()
        return epsilon.max(arb(0)) if epsilon.is_finite() else up_to(self.k * self.eps)

    def _sum(self, last: int, factor: Callable[[int], arb]) -> arb:
        """Σ_{l<=last} C(k,l)e^{(k−l)ε}/(1+e^ε)^k · factor(l), factor in [0, 1], downwards.

        Weights fall at least like powers of the quotient of two of them from there on.
        """
        k, odds = self.k, self.eps.exp()
        log_first = arb(k + 1).lgamma() - arb(last + 1).lgamma() - arb(k - last + 1).lgamma()
        weight = (log_first + (k - last) * self.eps + k * self.log_other).exp()
        terms = ((factor(l), odds * l / (k - l + 1)) for l in range(last, -1, -1))
        return falling_sum(weight, terms)


def _with_slack(delta: Numeric, k: int, slack: Numeric) -> tuple[Fraction, Fraction]:
    """(min(kδ+δ*, 1), δ*), exact; DomainError unless 0 < δ* < 1."""
    free = probability_or_zero(slack, "slack")
    if free == 0:
        raise DomainError("slack: found 0, needed 0 < δ* < 1")
    return min(k * probability_or_zero(delta, "delta") + free, Fraction(1)), free


def _runs(k: Numeric) -> int:
    """A whole number of runs >= 0; DomainError for another."""
    return whole(k, "k, the number of runs")


def _summed(k: Numeric) -> int:
    """A number of runs over whose outcomes a sum is taken; LimitError above the limit "order"."""
    limits.check("order", runs := _runs(k), "k, runs whose outcomes are summed")
    return runs
