"""The sparse vector technique: which of many queries exceed a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from symacct.kernel import limits
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import Kind
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import Exact, Numeric, Order
from symacct.kernel.node import Mechanism
from symacct.kernel.parameters import positive, whole
from symacct.kernel.sources import SYMACCT
from symacct.laws.neighbours import AnyPure, Dominated, TwoAnswers
from symacct.mechanisms.gaussian import Gaussian
from symacct.mechanisms.laplace import Laplace
from symacct.mechanisms.noisy_max import GaussianComparison, which_leads
from symacct.mechanisms.response import PureDP

#: The premises of a sparse vector, whatever its noise.
_PREMISES = (
    "one record changes each query by no more than its sensitivity",
    "only which queries exceed the noisy threshold is released, and neither a noise nor an answer",
    "the noise of the threshold is drawn once, and that of each query anew",
    "the run ends once so many queries have exceeded the threshold as are stated",
)


# Proved in docs/proofs/selection.md, Lemmas one-outcome and same-direction.
class SparseVector(Mechanism):
    """The sparse vector technique with Laplace noise: which queries exceed a threshold.

    The run ends when `count` queries have exceeded the threshold. The noise of the threshold is
    drawn once, with scale b₁ = `b_threshold`, and each query has noise of scale b₂ = `b_query`.
    ε(α) is at most the curve of all ε-DP mechanisms for ε = Δ/b₁ + 2·count·Δ/b₂, and at most ε₁(α)
    + 2·count·Δ/b₂, where ε₁ is the curve of the threshold.

    The number of queries is not limited, and each query may be chosen from earlier answers. If a
    record moves all queries in the same direction, give twice b_query but the full sensitivity,
    because the threshold costs no less. Scales and `sensitivity` are positive, in the units of the
    queries. Raises DomainError for other parameters. ε(α) is in nats. Source:
    docs/proofs/selection.md, sparse-vector; pure DP: Lyu, Su and Li 2017.

    >>> print(SparseVector(2, 4).rdp("inf", digits=3))
    1
    """

    b_threshold: Exact
    b_query: Exact
    count: int
    sensitivity: Exact
    kind = Kind.UPPER
    words = (
        "the sparse vector technique (Laplace noise with $b = {b_threshold}$ on the threshold "
        "and $b = {b_query}$ on each query of sensitivity {sensitivity}, with at most "
        "{count:answer} above the threshold)"
    )
    source = SYMACCT.at("docs/proofs/selection.md, sparse-vector; pure DP: Lyu, Su and Li 2017")
    premises = _PREMISES

    def __new__(
        cls,
        b_threshold: Numeric,
        b_query: Numeric,
        count: Numeric = 1,
        sensitivity: Numeric = 1,
    ) -> SparseVector:
        return cls._intern(
            b_threshold=positive(b_threshold, "SparseVector, b_threshold"),
            b_query=positive(b_query, "SparseVector, b_query"),
            count=whole(count, "SparseVector, count", least=1),
            sensitivity=positive(sensitivity, "SparseVector, sensitivity"),
        )

    @property
    def pure(self) -> Exact:
        """Δ/b₁ + 2·count·Δ/b₂, the ε(∞) of the whole run in nats."""
        return self.sensitivity / self.b_threshold + self.above_threshold

    @property
    def above_threshold(self) -> Exact:
        """2·count·Δ/b₂, what the queries above the threshold cost in nats."""
        return 2 * self.count * self.sensitivity / self.b_query

    @property
    def neighbours(self) -> Dominated:
        """Laws that those of the worst `pure`-DP mechanism dominate."""
        return Dominated(AnyPure(self.pure, is_worst=False), self._of_one_query)

    def _of_one_query(self) -> TwoAnswers:
        """The laws of one query, Δ/2 above the threshold on one dataset and below on the other."""
        return which_leads(self.b_threshold, self.b_query, self.sensitivity / 2)

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ the smaller of ε-DP's and of the threshold's Laplace noise plus the answers' ε"""
        every = PureDP(self.pure).curve(ctx)
        threshold, answers = (
            Laplace(self.b_threshold, self.sensitivity).curve(ctx),
            self.above_threshold,
        )
        return lambda alpha: ctx.minimum(every(alpha), threshold(alpha) + ctx.number(answers))

    def at_one(self, ctx: Arithmetic) -> Number:
        """The smaller of both bounds at the order 1."""
        threshold = Laplace(self.b_threshold, self.sensitivity).at_one(ctx)
        return ctx.minimum(
            PureDP(self.pure).at_one(ctx), threshold + ctx.number(self.above_threshold)
        )

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """ε"""
        return ctx.number(self.pure)


class GaussianSparseVector(GaussianComparison):
    """The sparse vector technique with Gaussian noise: which queries exceed a threshold.

    ε(α) <= min{ nαΔ²/(2σ₂²), βΔ²/(2σ₁²) + log( Σ_j C(n, j) e^{2jβ(β−1)Δ²/σ₂²} )/(β−1) },

    The run ends when `count` queries have exceeded the threshold. The threshold has noise N(0, σ₁²)
    with σ₁ = `sigma_threshold`, and each query has noise N(0, σ₂²) with σ₂ = `sigma_query`. There
    are at most n = `queries` queries, and j runs from 0 to `count`. β is α, or the order from which
    on the second bound rises if that order is larger. If a record moves all queries in the same
    direction, the second bound holds with twice σ₂, and the first bound stays as it is; to have
    both, give twice sigma_query and four times as many `queries`. Scales and `sensitivity` are
    positive, in the units of the queries. Raises DomainError for other parameters. ε(α) is in nats.
    Source: docs/proofs/selection.md, sparse-vector, after Zhu and Wang 2020.

    >>> print(GaussianSparseVector(10, 20, 1000).rdp(64, digits=5))
    0.74964
    """

    sigma_threshold: Exact
    sigma_query: Exact
    queries: int
    count: int
    sensitivity: Exact
    words = (
        "the sparse vector technique (Gaussian noise with $σ = {sigma_threshold}$ on the "
        "threshold and $σ = {sigma_query}$ on each of at most {queries} queries of "
        "sensitivity {sensitivity}, with at most {count:answer} above the threshold)"
    )
    source = SYMACCT.at("docs/proofs/selection.md, sparse-vector, after Zhu and Wang 2020")
    premises = _PREMISES

    def __new__(
        cls,
        sigma_threshold: Numeric,
        sigma_query: Numeric,
        queries: Numeric,
        count: Numeric = 1,
        sensitivity: Numeric = 1,
    ) -> GaussianSparseVector:
        most, above = (
            whole(number, f"GaussianSparseVector, {name}", least=1)
            for number, name in ((queries, "queries"), (count, "count"))
        )
        limits.check("terms", above, "GaussianSparseVector, count")
        if above > most:
            raise DomainError(
                f"GaussianSparseVector: found count {above} of {most} queries, needed no more"
            )
        return cls._intern(
            sigma_threshold=positive(sigma_threshold, "GaussianSparseVector, sigma_threshold"),
            sigma_query=positive(sigma_query, "GaussianSparseVector, sigma_query"),
            queries=most,
            count=above,
            sensitivity=positive(sensitivity, "GaussianSparseVector, sensitivity"),
        )

    def every(self, ctx: Arithmetic) -> Number:
        """nΔ²/(2σ₂²): as if every noisy query were told."""
        return self.queries * Gaussian(self.sigma_query, self.sensitivity).at_one(ctx)

    def bound_by_outcomes(self, ctx: Arithmetic) -> Callable[[Number], Number]:
        """α ↦ the second bound of the class at β = max(α, β₀), from which order β₀ on it rises.

        See docs/proofs/selection.md, Lemma rising-orders.
        """
        threshold = Gaussian(self.sigma_threshold, self.sensitivity).at_one(ctx)
        shift = Gaussian(self.sigma_query, 2 * self.sensitivity).at_one(ctx)
        subsets = [math.comb(self.queries, j) for j in range(self.count + 1)]
        mean = Fraction(sum(j * number for j, number in enumerate(subsets)), sum(subsets))
        log_subsets = ctx.log(ctx.number(Fraction(sum(subsets))))
        lowest = ctx.sqrt(log_subsets / (threshold + ctx.number(mean) * shift))

        def bound_by_outcomes(alpha: Number) -> Number:
            lam = ctx.maximum(alpha - 1, lowest)
            each = lam * ((lam + 1) * shift)
            total = ctx.number(1)
            for j, number in enumerate(subsets[1:], start=1):
                total = total + ctx.number(Fraction(number)) * ctx.exp(j * each)
            return (lam + 1) * threshold + ctx.log(total) / lam

        return bound_by_outcomes
