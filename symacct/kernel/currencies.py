"""The questions asked of a node in other currencies than ε(α) and (ε, δ)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from symacct.kernel import upward
from symacct.kernel.answer import Bound, ErrorBound
from symacct.kernel.exact import Numeric

if TYPE_CHECKING:
    from symacct.kernel.node import Node


class Currencies:
    """What a node is asked about tests, Gaussian and concentrated differential privacy."""

    def tradeoff(self, alpha: Numeric, digits: int = 30) -> ErrorBound:
        """f(α), the least error of the second kind of a test of level α of who was in the data.

        Either of two neighbours may be the one that is tested for; f-DP's trade-off function is
        the convex hull of f. From the exact privacy profile, or a bound of kind `upper` where no
        one pair is known to have the best test. Rounded downwards: an attacker does no better.
        Raises DomainError for α outside [0, 1], AssumptionError where no dominating pair is known.

        >>> from symacct import Laplace
        >>> print(Laplace(2).tradeoff("1/20", digits=6))
        0.917563
        """

        return upward.tradeoff.tradeoff(cast("Node", self), alpha, digits)

    def gdp(self, digits: int | None = None, least_error: Numeric = 0) -> Bound:
        """A μ for which the mechanism is μ-GDP: as hard to tell as N(μ, 1) from N(0, 1).

        The smallest, and then of kind `exact`, for sums of Gaussian noise and samples of it, and
        for what has an exact profile and a finite ε(∞). No sample of Gaussian noise has a smaller
        one than all of the data: that is seen by tests of tiny errors alone. `least_error` a says
        how tiny: the smallest μ for all tests of which both errors are at least a, so that no
        guess of who was in the data is right more often than under μ-GDP by more than a. `digits`
        are 30, or 10 where μ is searched for. Raises AssumptionError where none is known.

        >>> from symacct import Gaussian, PoissonSubsample, PureDP
        >>> print((3 * Gaussian(5) + PureDP("1/10")).gdp(digits=6))
        0.368378
        >>> run = 2000 * PoissonSubsample(Gaussian("9.4"), "0.328")
        >>> print(run.gdp(digits=6), run.gdp(digits=6, least_error="1e-10"))
        4.75760 1.56848
        """

        return upward.gdp.gdp(cast("Node", self), digits, least_error)

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
