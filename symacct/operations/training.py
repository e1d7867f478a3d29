"""DP-SGD as an expression: what is run, how often, with which sensitivity."""

from __future__ import annotations

import math
from fractions import Fraction

from symacct.core.claims import Adjacency
from symacct.core.errors import DomainError, echo
from symacct.core.exact import Numeric, ratio
from symacct.expressions.node import Node
from symacct.expressions.parameters import positive, whole
from symacct.mechanisms import Gaussian
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement

#: Each sampling with what two of its samples can move a sum of records clipped to norm 1 by: one
#: holds the record or not, or holds another record in its place.
_SAMPLINGS = {
    "poisson": (PoissonSubsample, 1),
    "without_replacement": (SubsampleWithoutReplacement, 2),
}


def dp_sgd(
    *,
    n: Numeric,
    batch_size: Numeric,
    noise_multiplier: Numeric,
    epochs: Numeric | None = None,
    steps: Numeric | None = None,
    sampling: str = "poisson",
    adjacency: str | Adjacency | None = None,
) -> Node:
    """DP-SGD over `n` records: noise of σ = noise_multiplier · C on sums of gradients clipped to C.

    Each step takes a batch of `batch_size` records, of γ = batch_size/n, at random ("poisson",
    where it is the expected size) or of exactly that size ("without_replacement", of sensitivity
    2C). Give the number of `steps`, or of `epochs`: ⌈epochs·n/batch_size⌉ steps. `adjacency` is
    the sampling's usual one unless named. Raises DomainError.

    >>> step = dp_sgd(n=60000, batch_size=256, noise_multiplier="1.1", epochs=15)
    >>> step
    3516*PoissonSubsample(Gaussian('11/10'), '256/60000')
    """
    records, batch = whole(n, "n", 1), whole(batch_size, "batch_size", 1)
    if batch > records:
        raise DomainError(
            f"batch_size: found {echo(batch)}, needed at most the {records:,} records"
        )
    if steps is not None and epochs is None:
        count = whole(steps, "steps", 1)
    elif epochs is not None and steps is None:
        count = _steps(records, batch, epochs)
    else:
        raise DomainError(
            f"dp_sgd: found epochs={echo(epochs)} and steps={echo(steps)}, needed one of the two"
        )
    if not isinstance(sampling, str) or sampling not in _SAMPLINGS:
        raise DomainError(
            f"sampling: found {echo(sampling)}, needed one of {', '.join(_SAMPLINGS)}"
        )
    kind, sensitivity = _SAMPLINGS[sampling]
    relation = () if adjacency is None else (adjacency,)
    noise = Gaussian(positive(noise_multiplier, "noise_multiplier"), sensitivity)
    return count * kind(noise, ratio(Fraction(batch), Fraction(records)), *relation)


def _steps(records: int, batch: int, epochs: Numeric) -> int:
    """⌈epochs·n/batch_size⌉: a batch begun is a batch taken."""
    passes = positive(epochs, "epochs")
    if not isinstance(passes, Fraction):
        raise DomainError(f"epochs: found {echo(epochs)}, needed a rational number")
    return math.ceil(passes * records / batch)
