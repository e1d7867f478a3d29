"""Orders at which the curve of a sampled mechanism changes its character."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from symacct.kernel.accountant import Accountant
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import whole
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement

_LARGEST = 2**17
_DIGITS = 6


def phase_transition(m: Node, largest: int = _LARGEST) -> int | None:
    """The first whole order α with γ α e^{ε(α)} >= 1, where ε is the curve that is sampled in m.

    Up to about this order ε′(α) = O(αγ²(e^{ε(2)} − 1)) (WBK19, section 1). The order is computed in
    floats. The answer is None if m does not sample exactly one mechanism, or if there is no such
    order up to `largest`. ε is in nats. Raises DomainError if m is no mechanism.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> phase_transition(PoissonSubsample(Gaussian(5), "1/1000"))
    111
    """
    return _first_order(m, largest, lambda alpha, log_rate, eps: log_rate + math.log(alpha) + eps)


def takeover(m: Node, largest: int = _LARGEST) -> int | None:
    """The first whole order α with γ e^{ε(α)} >= 1, from which on sampling no longer helps.

    From there on the last term γ^α e^{(α−1)ε(α)} of the sum dominates, and ε′(α) is near ε(α) + log
    γ. `m` and `largest` are those of `phase_transition`. ε is in nats. Raises DomainError if m is
    no mechanism.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> takeover(PoissonSubsample(Gaussian(5), "1/1000"))
    346
    """
    return _first_order(m, largest, lambda alpha, log_rate, eps: log_rate + eps)


def _first_order(
    m: Node, largest: int, log_ratio: Callable[[int, float, float], float]
) -> int | None:
    """The first whole order at which a quantity that grows with the order is >= 0."""
    as_node(m, "landmark")
    largest = whole(largest, "largest", least=1)
    schemes = (PoissonSubsample, SubsampleWithoutReplacement)
    sampled = [node for node in m.walk() if isinstance(node, schemes)]
    if len(sampled) != 1 or sampled[0].gamma == 0:
        return None
    [step] = sampled
    accountant, rate = Accountant(_DIGITS), step.gamma
    log_rate = (
        math.log(rate.numerator) - math.log(rate.denominator)  # which may be beyond the floats
        if isinstance(rate, Fraction)
        else math.log(rate)
    )

    def is_beyond(alpha: int) -> bool:
        eps = float(accountant.rdp(step.mechanism, alpha).upper)
        return log_ratio(alpha, log_rate, eps) >= 0

    below, beyond = 1, 2
    while not is_beyond(beyond):
        below, beyond = beyond, 2 * beyond
        if below >= largest:
            return None
    while beyond - below > 1:
        middle = (below + beyond) // 2
        below, beyond = (below, middle) if is_beyond(middle) else (middle, beyond)
    return beyond
