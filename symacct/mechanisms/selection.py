"""Choosing one of many candidates by their scores: the exponential mechanism, permute-and-flip."""

from __future__ import annotations

from collections.abc import Callable

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ANY_OF_SEVERAL, Adjacency, Kind
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.exact import Exact, Numeric, Order, expression, sympy
from symacct.kernel.node import Mechanism
from symacct.kernel.parameters import positive
from symacct.kernel.sources import DDR20, MS20
from symacct.laws.neighbours import AnyOfRange, LaplaceShift, TwoAnswers, Worst
from symacct.mechanisms.laplace import LaplacePair
from symacct.mechanisms.response import RandomizedResponse

#: The premise of any choice among candidates.
CHOSEN_ALONE = (
    "only the candidate that was chosen is released, without its score, and which candidates there "
    "are does not depend on the data"
)


class ExponentialMechanism(Mechanism):
    """The exponential mechanism: a candidate of score u has probability ∝ e^{εu/(2Δ)}.

    ε(α) = ( α g(αε/2) − (α−1) g((α−1)ε/2) − g(ε/2) )/(α−1), g(x) = log(sinh(x)/x).

    A record moves each score by at most Δ, so any two log-ratios of the probabilities are at most ε
    apart. The formula is the worst case over all mechanisms of such a bounded range, for any
    scores. Report-noisy-max with Gumbel noise of scale 2Δ/ε is the same mechanism. If a record
    moves all scores in the same direction, the curve is that of ε/2. `epsilon` is positive, in
    nats. `adjacency` says for which neighbours Δ holds. Raises DomainError for other parameters.
    Source: DDR20, bounded range; SYMACCT, docs/proofs/selection.md, bounded-range-curve.

    >>> from symacct import PureDP
    >>> print(ExponentialMechanism(1).rdp(2, digits=5), PureDP(1).rdp(2, digits=5))
    0.24022 0.73532
    """

    adjacency: Adjacency
    kind = Kind.EXACT
    attained = ANY_OF_SEVERAL  # how the two losses lie about 0 depends on the order
    words = "the exponential mechanism ($ε = {epsilon}$)"
    source = DDR20.at("bounded range; SYMACCT, docs/proofs/selection.md, bounded-range-curve")
    _makers = ("of_noise",)
    premises = (
        "one record changes each score by no more than the sensitivity that ε is stated for",
        CHOSEN_ALONE,
    )

    def __new__(
        cls, epsilon: Numeric, adjacency: str | Adjacency = "either"
    ) -> ExponentialMechanism:
        return cls._intern(
            epsilon=positive(epsilon, "ExponentialMechanism, epsilon"),
            adjacency=named_adjacency(adjacency),
        )

    @classmethod
    def of_noise(
        cls, scale: Numeric, sensitivity: Numeric = 1, adjacency: str | Adjacency = "either"
    ) -> ExponentialMechanism:
        """Report-noisy-max with Gumbel noise of this scale: ε = 2Δ/scale.

        The k best in their order, from one draw of the noise, cost as k of these
        (docs/proofs/selection.md, Lemma k-best).

        >>> ExponentialMechanism.of_noise(4)
        ExponentialMechanism('1/2')
        """
        return cls(_epsilon_of(scale, sensitivity, "ExponentialMechanism.of_noise"), adjacency)

    @property
    def pure(self) -> Exact:
        """ε in nats; the attribute `epsilon` is the question."""
        value: Exact = self._fields["epsilon"]
        return value

    @property
    def neighbours(self) -> Worst:
        """Any two laws whose log-ratios lie at most ε apart."""
        return Worst(AnyOfRange(self.pure), self._of_two)

    def _of_two(self) -> TwoAnswers:
        """Two candidates that exchange their probabilities, in the ratio e^{ε/2}."""
        return RandomizedResponse(1 / (1 + sympy.exp(-expression(self.pure) / 2))).neighbours

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ (α s(αε/2) − (α−1) s((α−1)ε/2) − s(ε/2))/(α−1), s(x) = log(sinh(x)/x)

        Where the arithmetic rounds it is the sum of the class above, in which nothing cancels.
        """
        if ctx.rounds:
            return super().curve(ctx)
        half = ctx.number(self.pure) / 2

        def spread(x: Number) -> Number:
            """log(sinh(x)/x)"""
            return ctx.log((ctx.exp(x) - ctx.exp(-x)) / (2 * x))

        def rdp(alpha: Order) -> Number:
            order = ctx.number(alpha)
            lam = order - 1
            rest = lam * spread(lam * half) + spread(half)
            return (order * spread(order * half) - rest) / lam

        return rdp

    def stable_excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """Σ Q(ℓ)(e^{αℓ} − 1 − α(e^ℓ − 1)) for the worst losses ε − s and −s at this order,

        e^s = α(1−e^{−(α−1)ε})/((α−1)(1−e^{−αε})): it is stationary in s, whose error costs little.
        """
        pure, one = ctx.number(self.pure), ctx.number(1)

        def excess(alpha: Order) -> Number:
            order = ctx.number(alpha)
            lam = order - 1
            s = ctx.log(order * ctx.expm1(-(lam * pure)) / (lam * ctx.expm1(-(order * pure))))
            up, whole = pure - s, ctx.expm1(-pure)
            high = ctx.exp(-up) * (ctx.expm1(-s) / whole) * ctx.power_gap(one, up, lam)
            return high + ctx.expm1(-up) / whole * ctx.power_gap(one, -s, lam)

        return excess

    def at_one(self, ctx: Arithmetic) -> Number:
        """x − 1 − log x, x = ε/(1 − e^{−ε})"""
        pure = ctx.number(self.pure)
        return ctx.exp_gap(ctx.log(pure / -ctx.expm1(-pure)))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """ε"""
        return ctx.number(self.pure)


class PermuteAndFlip(LaplacePair):
    """Permute-and-flip: candidates in random order, each accepted or rejected by a coin.

    ε(α) <= log( α/(2α−1) e^{(α−1)ε} + (α−1)/(2α−1) e^{−αε} ) / (α−1).

    A candidate of score u is taken with probability e^{ε(u−max u)/(2Δ)}. Permute-and-flip is
    report-noisy-max with exponential noise. Its datasets are no easier to tell apart than those of
    Laplace noise with ε(∞) = ε. The (ε, δ) of one run is exactly that of Laplace noise: two
    candidates attain it, with another gap between their scores for each δ. If a record moves all
    scores in the same direction, the curve is that of ε/2. `epsilon` is positive, in nats.
    `adjacency` says for which neighbours a score moves by at most Δ. Raises DomainError for other
    parameters. Source: MS20, permute-and-flip; SYMACCT, docs/proofs/selection.md, hazard-rate.

    >>> from symacct import PureDP
    >>> print(PermuteAndFlip(1).rdp(2, digits=5), PureDP(1).rdp(2, digits=5))
    0.61912 0.73532
    """

    adjacency: Adjacency
    kind = Kind.UPPER
    words = "the permute-and-flip mechanism ($ε = {epsilon}$)"
    source = MS20.at("permute-and-flip; SYMACCT, docs/proofs/selection.md, hazard-rate")
    _makers = ("of_noise",)
    premises = (
        "one record changes each score by no more than the sensitivity that ε is stated for",
        CHOSEN_ALONE,
    )

    def __new__(cls, epsilon: Numeric, adjacency: str | Adjacency = "either") -> PermuteAndFlip:
        return cls._intern(
            epsilon=positive(epsilon, "PermuteAndFlip, epsilon"),
            adjacency=named_adjacency(adjacency),
        )

    @property
    def pure(self) -> Exact:
        """ε in nats; the attribute `epsilon` is the question."""
        value: Exact = self._fields["epsilon"]
        return value

    @property
    def neighbours(self) -> Worst:
        """Two Laplace laws ε scales apart, whose profile is the largest of two candidates."""
        return Worst(LaplaceShift(self.pure), self._of_two)

    def _of_two(self) -> TwoAnswers:
        """Two candidates, each of which leads by Δ on one of the datasets."""
        return RandomizedResponse(1 - sympy.exp(-expression(self.pure) / 2) / 2).neighbours

    def for_group(self, size: int) -> PermuteAndFlip:
        """Permute-and-flip of `size`·ε, because a group moves scores `size` times as far."""
        return PermuteAndFlip(size * self.pure, self.adjacency)

    @classmethod
    def of_noise(
        cls, scale: Numeric, sensitivity: Numeric = 1, adjacency: str | Adjacency = "either"
    ) -> PermuteAndFlip:
        """Report-noisy-max with exponential noise of this mean: ε = 2Δ/scale.

        >>> PermuteAndFlip.of_noise(4)
        PermuteAndFlip('1/2')
        """
        return cls(_epsilon_of(scale, sensitivity, "PermuteAndFlip.of_noise"), adjacency)


def _epsilon_of(scale: Numeric, sensitivity: Numeric, what: str) -> Exact:
    """ε = 2Δ/scale in nats; DomainError unless both are positive."""
    return 2 * positive(sensitivity, f"{what}, sensitivity") / positive(scale, f"{what}, scale")
