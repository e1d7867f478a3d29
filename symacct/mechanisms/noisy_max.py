"""Report-noisy-max, and what Gaussian noise costs where only comparisons are told."""

from __future__ import annotations

from collections.abc import Callable

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import Kind
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, expression, sympy
from symacct.kernel.node import Mechanism
from symacct.kernel.parameters import positive, whole
from symacct.kernel.sources import SYMACCT
from symacct.laws.neighbours import Dominated, LaplaceShift, TwoAnswers
from symacct.mechanisms.gaussian import Gaussian
from symacct.mechanisms.laplace import LaplacePair
from symacct.mechanisms.response import RandomizedResponse
from symacct.mechanisms.selection import CHOSEN_ALONE

# --- comparisons of noisy numbers
#
# What Gaussian noise on numbers costs where only comparisons of them are told.


class GaussianComparison(Mechanism):
    """ε(α) <= min{α·`every`, `bound_by_outcomes`(α)}: every noisy number told, or the outcomes."""

    kind = Kind.UPPER

    def every(self, ctx: Arithmetic) -> Number:
        """ε(α)/α in nats if every noisy number were told, which does not depend on α."""
        raise NotImplementedError

    def bound_by_outcomes(self, ctx: Arithmetic) -> Callable[[Number], Number]:
        """α ↦ an upper bound of ε(α) by the number of outcomes, for α >= 1; it rises in α."""
        raise NotImplementedError

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ the smaller of α·`every` and the bound by the outcomes"""
        every, bound = self.every(ctx), self.bound_by_outcomes(ctx)
        return lambda alpha: ctx.minimum(ctx.number(alpha) * every, bound(ctx.number(alpha)))

    def at_one(self, ctx: Arithmetic) -> Number:
        """The smaller of both bounds at 1."""
        return ctx.minimum(self.every(ctx), self.bound_by_outcomes(ctx)(ctx.number(1)))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """∞: neither bound is finite there."""
        return ctx.number(INFINITY)


# --- noisy max
#
# Report-noisy-max: which of many noisy scores is the largest.

#: The premises of any noisy maximum.
_PREMISES = ("one record changes each score by no more than its sensitivity", CHOSEN_ALONE)


class NoisyMax(LaplacePair):
    """The candidate with the largest score, where each score has Laplace noise of scale b:
    (2Δ/b)-DP.

    The curve is that of `Laplace(b, 2*sensitivity)`: the choice tells no more than one score of
    sensitivity 2Δ with that noise. With Gumbel noise the choice is the exponential mechanism
    (`ExponentialMechanism.of_noise`), and with exponential noise it is permute-and-flip
    (`PermuteAndFlip.of_noise`). If a record moves all scores in the same direction, the scores
    count as scores of half the sensitivity. `b` and `sensitivity` are positive, in the units of the
    scores. Raises DomainError for other parameters. ε is in nats. Source: docs/proofs/selection.md,
    hazard-rate.

    >>> print(NoisyMax(4).rdp("inf", digits=3))
    0.5
    """

    b: Exact
    sensitivity: Exact
    kind = Kind.UPPER
    noise_scale = "b"
    words = (
        "noisy-max selection from scores with Laplace noise ($b = {b}$, sensitivity {sensitivity})"
    )
    source = SYMACCT.at("docs/proofs/selection.md, hazard-rate")
    premises = _PREMISES

    def __new__(cls, b: Numeric, sensitivity: Numeric = 1) -> NoisyMax:
        return cls._intern(
            b=positive(b, "NoisyMax, b"), sensitivity=positive(sensitivity, "NoisyMax, sensitivity")
        )

    @property
    def pure(self) -> Exact:
        """2Δ/b"""
        return 2 * self.sensitivity / self.b

    @property
    def neighbours(self) -> Dominated:
        """Laws that those of one score of twice the sensitivity dominate."""
        return Dominated(LaplaceShift(self.pure), self._of_two)

    def _of_two(self) -> TwoAnswers:
        """The choice between two candidates, each of which leads by Δ on one of the datasets."""
        return which_leads(self.b, self.b, self.sensitivity)


def which_leads(b: Exact, other: Exact, lead: Exact) -> TwoAnswers:
    """The laws of which of two numbers is the larger, with Laplace noise of scales b and `other`.

    One leads by `lead` > 0 on one dataset, and lags by as much on the neighbouring one.
    """
    first, second = (expression(scale) for scale in (b, other))
    x = expression(lead)
    if b == other:
        surprise = sympy.exp(-x / first) * (2 + x / first) / 4
    else:
        far, near = (scale**2 * sympy.exp(-x / scale) for scale in (first, second))
        surprise = (far - near) / (2 * (first**2 - second**2))
    return RandomizedResponse(1 - surprise).neighbours


class GaussianNoisyMax(GaussianComparison):
    """The candidate with the largest of k scores, each with noise N(0, σ²):

    ε(α) <= min{ kαΔ²/(2σ²), 2βΔ²/σ² + log(k)/(β−1) }, k = `candidates`,

    where β is α, or the order at which the second term is smallest if that order is larger. If a
    record moves all scores by the same amount and in the same direction, the scores count as scores
    of half the sensitivity. `sigma` and `sensitivity` are positive, in the units of the scores, and
    `candidates` is a whole number from 2 on. Raises DomainError for other parameters. ε(α) is in
    nats. Source: docs/proofs/selection.md, noisy-maximum.

    >>> print(GaussianNoisyMax(10, 1000).rdp(64, digits=5))
    1.3896
    """

    sigma: Exact
    candidates: int
    sensitivity: Exact
    words = (
        "noisy-max selection from {candidates} scores with Gaussian noise ($σ = {sigma}$, "
        "sensitivity {sensitivity})"
    )
    source = SYMACCT.at("docs/proofs/selection.md, noisy-maximum")
    premises = _PREMISES

    def __new__(
        cls, sigma: Numeric, candidates: Numeric, sensitivity: Numeric = 1
    ) -> GaussianNoisyMax:
        return cls._intern(
            sigma=positive(sigma, "GaussianNoisyMax, sigma"),
            candidates=whole(candidates, "GaussianNoisyMax, candidates", least=2),
            sensitivity=positive(sensitivity, "GaussianNoisyMax, sensitivity"),
        )

    def every(self, ctx: Arithmetic) -> Number:
        """kΔ²/(2σ²): as if every noisy score were told."""
        return self.candidates * Gaussian(self.sigma, self.sensitivity).at_one(ctx)

    def bound_by_outcomes(self, ctx: Arithmetic) -> Callable[[Number], Number]:
        """α ↦ 2βΔ²/σ² + log(k)/(β−1) at β = max(α, β₀), β₀ where it is smallest."""
        rate = Gaussian(self.sigma, 2 * self.sensitivity).at_one(ctx)
        log_count = ctx.log(ctx.number(self.candidates))
        lowest = ctx.sqrt(log_count / rate)

        def bound_by_outcomes(alpha: Number) -> Number:
            lam = ctx.maximum(alpha - 1, lowest)
            return (lam + 1) * rate + log_count / lam

        return bound_by_outcomes
