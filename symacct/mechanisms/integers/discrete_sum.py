"""Sums of discrete Gaussian noise, a part of it from each of many parties."""

from __future__ import annotations

from collections.abc import Callable

from symacct.arithmetic import Arithmetic, Number
from symacct.core.claims import Kind
from symacct.core.errors import DomainError, echo
from symacct.core.exact import INFINITY, Exact, Numeric, Order
from symacct.core.sources import KLS21
from symacct.expressions.parameters import positive, whole
from symacct.mechanisms.mechanism import Mechanism

_MOST_PARTIES = 10**9


class DiscreteGaussianSum(Mechanism):
    """A vector of d whole numbers plus the discrete Gaussian noise of σ of each of n parties:

    ε(α) <= min{ αΔ²/(2σ²), αΔ²/(2nσ²) + dτ, α(Δ/(σ√n) + τ√d)²/2 }, Δ in Euclidean norm,

    where τ bounds how far log-probabilities of the sum are from those of one discrete Gaussian of
    σ√n: for a party or a record as the neighbours are, where all n add their noise, on both
    datasets: a party that is left out adds it still, and `parties` counts who is sure to. `sigma`
    and `sensitivity` are positive, `parties` (n, up to 10⁹) and `dimension` (d) whole numbers from
    1 on; DomainError otherwise. ε(α) is in nats. Source: KLS21, Proposition 14; the constants here:
    docs/proofs.md, section 32.

    >>> print(DiscreteGaussianSum(1, 100).rdp(8, digits=5))
    0.040181
    """

    sigma: Exact
    parties: int
    sensitivity: Exact
    dimension: int
    kind = Kind.UPPER
    steepest_up_to = INFINITY  # every one of the three falls when divided by α
    source = KLS21.at("Proposition 14; the constants here: docs/proofs.md, section 32")

    def __new__(
        cls,
        sigma: Numeric,
        parties: Numeric,
        sensitivity: Numeric = 1,
        dimension: Numeric = 1,
    ) -> DiscreteGaussianSum:
        count = whole(parties, "DiscreteGaussianSum, parties", least=1)
        if count > _MOST_PARTIES:
            raise DomainError(
                f"DiscreteGaussianSum, parties: found {echo(parties)}, needed parties <= "
                f"{_MOST_PARTIES:,}"
            )
        return cls._intern(
            sigma=positive(sigma, "DiscreteGaussianSum, sigma"),
            parties=count,
            sensitivity=positive(sensitivity, "DiscreteGaussianSum, sensitivity"),
            dimension=whole(dimension, "DiscreteGaussianSum, dimension", least=1),
        )

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        alone = (ctx.number(self.sensitivity) / ctx.number(self.sigma)) ** 2 / 2
        apart = self.log_spread(ctx)
        together, far = alone / self.parties, apart * self.dimension
        root = (ctx.sqrt(together) + ctx.sqrt(ctx.number(self.dimension) / 2) * apart) ** 2

        def rdp(alpha: Order) -> Number:
            order = ctx.number(alpha)
            return ctx.minimum(order * alone, order * together + far, order * root)

        return rdp

    def at_one(self, ctx: Arithmetic) -> Number:
        return self.curve(ctx)(1)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        return ctx.number(INFINITY)

    def log_spread(self, ctx: Arithmetic) -> Number:
        """τ = Σ_k 2 log((1+q)/(1−q))/(1−q²), q = e^{−2π²σ²j/(j+1)}, 1 <= k < n.

        j is the largest power of 2 that is not above k.
        """
        square = 2 * (ctx.pi() * ctx.number(self.sigma)) ** 2
        total, first = ctx.number(0), 1
        while first < self.parties:
            rate = first * square / (first + 1)
            q, left = ctx.exp(-rate), -ctx.expm1(-rate)
            count = min(first, self.parties - first)
            total = total + 2 * count * ctx.log1p(2 * q / left) / (left * (1 + q))
            first *= 2
        return total
