"""WBK19 Appendix G: the sums of Theorems 8 and 9 between their largest item and α+1 times it.

The largest item is found in O(log α) oracle calls where the items' logs are proved to have at
most two local maxima. That is so for the Gaussian: x_{l+1} − x_l = log((α−l)/(l+1)) + c + lΔ²/σ²
falls, rises and falls again in l, as its derivative has the sign of
(α−l)(l+1)Δ² − (α+1)σ². The appendix claims it for every mechanism, which is not so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb

from symacct.kernel.accountant import Accountant, certified_number
from symacct.kernel.answer import Enclosure
from symacct.kernel.claims import INTEGER_ORDERS, Claim, Kind
from symacct.kernel.errors import AssumptionError, OrderError, echo
from symacct.kernel.evaluation import as_decimal
from symacct.kernel.exact import Numeric
from symacct.kernel.exact import order as exact_order
from symacct.kernel.node import Node
from symacct.kernel.sources import WBK19
from symacct.kernel.sums.halving import halved_whole
from symacct.laws.neighbours import law_of
from symacct.operations import PoissonSubsample
from symacct.operations.subsample import Sampling


def softmax_bounds(m: Node, alpha: Numeric, digits: int = 30) -> tuple[Enclosure, Enclosure]:
    """Simple lower and upper bounds of the value of ZW19-T8 or WBK19-T9, by its largest term.

    max_l x_l/(α−1) and (max_l x_l + log(α+1))/(α−1)

    m is a Poisson-subsampled Gaussian mechanism, or a Gaussian mechanism sampled without
    replacement. For Poisson sampling T8 is exact, so the two numbers are a lower and an upper bound
    of ε. Without replacement T9 is an upper bound of ε, so the first number is below the value of
    T9, bounds ε neither way, and has the kind `neither`. If only one term is not 0, as for γ = 0,
    or for Poisson sampling with γ = 1, both numbers are the value. `alpha` is the order α, a whole
    number from 2 on, and `digits` are significant digits. Both bounds are in nats. Raises
    AssumptionError for another mechanism, OrderError.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> low, high = softmax_bounds(PoissonSubsample(Gaussian(5), "1/1000"), 10**6)
    >>> print(low.rounded_down(9), high.rounded_up(9))
    19993.0922 19993.0923
    """
    sampled, order = _sampled_gaussian(m), exact_order(alpha)
    if not isinstance(order, int) or order not in INTEGER_ORDERS:
        raise OrderError(
            f"softmax_bounds: found order {order}, needed {INTEGER_ORDERS}",
            remedy="ask rdp instead",
        )
    is_poisson = isinstance(sampled, PoissonSubsample)
    name, below = ("ZW19-T8", Kind.LOWER) if is_poisson else ("WBK19-T9", Kind.NEITHER)
    source = WBK19.at(f"Appendix G, about {name}")
    # The upper end is above the theorem's value, at whole orders.
    claim = Claim(Kind.UPPER, sampled.claim.adjacency, INTEGER_ORDERS, (name,), (source,))

    def largest(accountant: Accountant) -> tuple[arb, int]:
        """Enclose the log of the largest item, and bound how many items are not 0."""
        if sampled.gamma == 0:
            return arb(0), 1
        if sampled.gamma == 1 and is_poisson:
            return (order - 1) * accountant.curve(sampled.mechanism)(order), 1
        items = _Items(accountant, sampled, order)
        # The ball maximum: where two items are too close to tell, it covers both.
        return functools.reduce(arb.max, (items(l) for l in items.candidates())), order + 1

    def lower(accountant: Accountant) -> tuple[arb, Claim]:
        return largest(accountant)[0] / (order - 1), replace(claim, kind=below)

    def upper(accountant: Accountant) -> tuple[arb, Claim]:
        item, count = largest(accountant)
        return (item + arb(count).log()) / (order - 1), claim

    what = f"Appendix G at order {echo(order)}"
    ends = certified_number(lower, digits, what, signed=True), certified_number(upper, digits, what)
    if sampled.gamma == 1 and is_poisson:  # both ends are its ε(α)
        first, last = (as_decimal(x, sampled.mechanism, order, Kind.UPPER, None) for x in ends)
        return first, last
    return ends


def _sampled_gaussian(m: object) -> Sampling:
    """Return the sample of Gaussian noise that the bounds are about.

    Raises AssumptionError for another mechanism, for a relation other than the scheme's own (add
    or remove for Poisson samples, replace without replacement), and for a (σ/Δ)² that is not
    rational: the two local maxima are decided by it.
    """
    noise = law_of(m.mechanism).normal if isinstance(m, Sampling) else None
    if not isinstance(m, Sampling) or noise is None:
        raise AssumptionError(
            f"softmax_bounds: found {echo(m)}, needed a subsampled Gaussian: for other "
            "mechanisms two local maxima are not proved",
            remedy="ask rdp instead, by a theorem",
        )
    if m._fixed_adjacency != m._read_adjacency:
        raise AssumptionError(
            f"softmax_bounds: found {type(m).__name__} for the relation {m._fixed_adjacency}, "
            f"needed {m._read_adjacency}: the bounds are about that relation's theorem",
            remedy="ask rdp instead, by a theorem",
        )
    if not isinstance(noise.squared_ratio, Fraction):
        raise AssumptionError(
            f"softmax_bounds: found {echo(m.mechanism)}, needed a rational "
            "(sigma/sensitivity)^2: it decides where the local maxima are",
            remedy="ask rdp instead, by a theorem",
        )
    return m


class _Items:
    """The logs x_l of the items of the sum of ZW19-T8 or WBK19-T9, from the mechanism's curve.

    Items are balls, and the sample is one that `_sampled_gaussian` returns, with 0 < γ, and γ < 1
    for Poisson sampling.
    """

    def __init__(self, accountant: Accountant, m: Sampling, alpha: int) -> None:
        self.alpha = alpha
        self.eps = accountant.curve(m.mechanism)
        rate = accountant.curve(m).evaluation.ctx.number(m.gamma)
        self.poisson = isinstance(m, PoissonSubsample)
        self.log_u, self.log_v = rate.log(), ((1 - rate) if self.poisson else arb(1)).log()
        noise: Any = law_of(m.mechanism).normal  # of a rational ratio: `_sampled_gaussian`
        self.variance = 1 / noise.squared_ratio

    def __call__(self, l: int) -> arb:
        """Enclose x_l = log(C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)}), or the log of Theorem 9's item.

        Theorem 9 has no item at l = 1; what is returned there is that of l = 0, which is log 1.
        """
        alpha = self.alpha
        log_binomial = arb(alpha + 1).lgamma() - arb(l + 1).lgamma() - arb(alpha - l + 1).lgamma()
        weight: arb = log_binomial + l * self.log_u + (alpha - l) * self.log_v
        if l < 2:
            return weight if self.poisson else arb(0)
        cgf: arb = (l - 1) * self.eps(l)
        if self.poisson:
            return weight + cgf
        if l == 2:
            return weight + (4 * cgf.expm1()).min(2 * cgf.exp()).log()
        return weight + cgf + arb(2).log()

    def candidates(self) -> set[int]:
        """List orders among which the largest item is: both ends, and the top of each concave part.

        Where two neighbouring items are too close to tell, either may be listed: the largest ball
        of those listed covers both.
        """
        first, last = (0, self.alpha) if self.poisson else (3, self.alpha)
        if last < first:
            return {0, 2}
        turn = _first(lambda l: not self._is_concave_at(l), first, self.alpha // 2)
        back = _first(self._is_concave_at, max(first, self.alpha // 2), last)
        orders = {first, last, turn, min(turn + 1, last), max(back - 1, first), back}
        orders |= {_first(lambda l: not self._rises(l), first, turn)}
        orders |= {_first(lambda l: not self._rises(l), back, last)}
        return orders if self.poisson else orders | {0, 2}

    def _is_concave_at(self, l: int) -> bool:
        """Is x_{l+1} − x_l falling at l, (α−l)(l+1) < (σ/Δ)²(α+1)? It is decided exactly."""
        return bool((self.alpha - l) * (l + 1) < self.variance * (self.alpha + 1))

    def _rises(self, l: int) -> bool:
        """Is x_{l+1} > x_l? Items that the balls do not tell apart count as no."""
        return l < self.alpha and bool(self(l + 1) > self(l))


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Find the first order in [low, high] at which a condition that stays true holds, by halving.

    It is `high` where the condition holds at none below it; `high` itself is not asked.
    """
    return halved_whole(low - 1, high, lambda order: not holds(order)) + 1
