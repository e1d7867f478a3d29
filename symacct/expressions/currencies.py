"""The questions asked of a node in other currencies than ε(α) and (ε, δ)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from symacct.core import upward
from symacct.core.exact import Numeric
from symacct.results.enclosure import Bound, ErrorBound

if TYPE_CHECKING:  # of which this is a part
    from symacct.expressions.node import Node


class Currencies:
    """What a node is asked about tests, Gaussian and concentrated differential privacy."""

    def tradeoff(self, alpha: Numeric, digits: int = 30) -> ErrorBound:
        """f(α), the least error of the second kind of a test of level α of who was in the data.

        The largest trade-off function that holds for either of two neighbours, from their exact
        privacy profile. Rounded downwards: an attacker does no better. Raises DomainError for α
        outside [0, 1], AssumptionError where no dominating pair is known.

        >>> from symacct import Laplace
        >>> print(Laplace(2).tradeoff("1/20", digits=6))
        0.917563
        """

        return upward.tradeoff.tradeoff(cast("Node", self), alpha, digits)

    def gdp(self, digits: int = 30) -> Bound:
        """A μ for which the mechanism is μ-GDP: as hard to tell as N(μ, 1) from N(0, 1).

        The smallest for sums of Gaussian noise, for Laplace noise and for pure DP, and then of
        kind `exact`. Raises AssumptionError where none is known.

        >>> from symacct import Gaussian, PureDP
        >>> print((3 * Gaussian(5) + PureDP("1/10")).gdp(digits=6))
        0.368378
        """

        return upward.gdp.gdp(cast("Node", self), digits)

    def zcdp(self, digits: int = 10) -> Bound:
        """The smallest ρ with ε(α) <= ρα for every α > 1: ρ-zCDP.

        It is ε(1), to any digits, for most noise and its sums; else the largest ε(α)/α is searched
        for, and proved. Raises AssumptionError where no finite one is known; `tcdp` is for them.

        >>> from symacct import Gaussian, Laplace
        >>> print((Gaussian(5) + Laplace(2)).zcdp())
        0.1265306598
        """

        return upward.concentrated.zcdp(cast("Node", self), digits)

    def tcdp(self, omega: Numeric, digits: int = 10) -> Bound:
        """The smallest ρ with ε(α) <= ρα for 1 < α <= ω: (ρ, ω)-tCDP; ω > 1 is rational.

        Raises AssumptionError where ε(ω) is infinite.

        >>> from symacct import Gaussian, PoissonSubsample
        >>> print(PoissonSubsample(Gaussian(1), "1/100").tcdp(4))
        0.00009078851223
        """

        return upward.concentrated.tcdp(cast("Node", self), omega, digits)
