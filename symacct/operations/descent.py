"""Noisy descent on samples of which the last iterate is told.

See docs/proofs/mechanisms.md, Lemma sampled-steps.
"""

from __future__ import annotations

import bisect
from fractions import Fraction

from symacct.kernel.errors import DomainError, OrderError, echo
from symacct.kernel.exact import INFINITY, Numeric
from symacct.kernel.exact import order as named_order
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import nonnegative, rational, whole
from symacct.mechanisms import Gaussian, NoisyPass
from symacct.mechanisms.iteration import MOST_STEPS, contraction_factor
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement

#: The function's name in errors.
_NAME = "sampled_descent"
#: Shares of σ whose squares sum to 1, rational by Pythagoras: the first noise hides the samples,
#: and the second the start. The best one of these is taken; each gives a bound.
_SPLITS = tuple(
    (Fraction(a, c), Fraction(b, c)) for a, b, c in ((21, 20, 29), (4, 3, 5), (12, 5, 13))
)
#: The premise of `sampled_descent`.
_LAST_ALONE = (
    "only the last of {steps} noisy iterates is released; each step, before its noise, is "
    "Lipschitz with the constant {contraction} whatever its sample is; every iterate is projected "
    "to a convex set of diameter {diameter}, in the unit of the noise, or stays in one; the sample "
    "of each step is drawn anew and at random, and is kept secret (symacct, "
    "docs/proofs/mechanisms.md, Lemma sampled-steps)"
)


def sampled_descent(
    step: Node,
    steps: Numeric,
    diameter: Numeric,
    contraction: Numeric = 1,
    order: Numeric = 2,
) -> Node:
    """The last of T = `steps` noisy iterates f(x) + N(0, σ²), where each f uses a sample.

    `step` is one step: the sampled Gaussian mechanism. For every sample, f is Lipschitz with
    the constant `contraction`, as gradient steps on convex losses are. All
    iterates are projected to a convex set of the given `diameter`, in the unit of σ. Instead of a
    projection, it is enough that the diameter is 1/(1 − contraction) times the largest move by one
    sample. The bound uses some of the last steps with a part of their noise, and the rest of the
    noise hides where these steps start. How many steps, and which part of the noise, are chosen at
    `order`, but the bound holds at all orders. ε(α) is in nats. Raises DomainError.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> step = PoissonSubsample(Gaussian(5), "1/100")
    >>> print(sampled_descent(step, 10**6, 1).rdp(2, digits=3), (10**6 * step).rdp(2, digits=3))
    0.00163 4.08
    """
    sampled = as_node(step, f"{_NAME}, step")
    if not isinstance(sampled, PoissonSubsample | SubsampleWithoutReplacement) or not (
        isinstance(sampled.mechanism, Gaussian) and sampled.mechanism.is_one_query
    ):
        raise DomainError(f"{_NAME}, step: found {echo(step)}, needed samples of Gaussian noise")
    count = whole(steps, f"{_NAME}, steps", least=1, most=MOST_STEPS)
    apart = rational(nonnegative(diameter, f"{_NAME}, diameter"), f"{_NAME}, diameter")
    at = named_order(order)
    if at in (1, INFINITY) or not isinstance(at, int | Fraction):
        raise OrderError(f"{_NAME}, order: found {echo(order)}, needed 1 < order < ∞")
    factor = contraction_factor(contraction, f"{_NAME}, contraction")
    sigma = rational(sampled.mechanism.sigma, f"{_NAME}, sigma")
    premise = _LAST_ALONE.format(steps=count, contraction=echo(factor), diameter=echo(apart))
    if apart == 0:
        return PostProcess(sampled, premise=premise)
    candidates: list[Node] = [count * sampled]
    for kept, spent in _SPLITS:
        noise = type(sampled.mechanism)(kept * sigma, sampled.mechanism.sensitivity)
        part = type(sampled)(noise, sampled.gamma, sampled.adjacency)
        start = spent * sigma / (factor * apart)
        price = Fraction(float(part.rdp(at, digits=6)))
        last = _best_end(price, start, factor, count, at)
        candidates.append(last * part + NoisyPass(start, last, factor))
    best = min(candidates, key=lambda node: float(node.rdp(at, digits=6)))
    return PostProcess(best, premise=premise)


def _best_end(
    price: Fraction, sigma: Fraction, factor: Fraction, steps: int, order: int | Fraction
) -> int:
    """About the number m <= `steps` of last steps of the least m·price + αΔ²/(2σ²).

    Δ² is that of m steps, and the sum is convex in m. It steers: each m gives a bound.
    """

    def square(m: int) -> Fraction:
        """Δ² of a record in the first of the last m steps."""
        return NoisyPass(sigma, m, factor)._squared_sensitivity[0]

    def rises(m: int) -> bool:
        """Does one more step than m cost at least as much as it hides?"""
        return price >= order / (2 * sigma**2) * (square(m) - square(m + 1))

    return bisect.bisect_left(range(1, steps), True, key=rises) + 1
