"""dp_accounting's mixtures of Gaussians, whose weights are floats that need not sum to 1.

Of sensitivities >= 0 the cost grows where weight goes from a smaller to a larger one
(docs/proofs.md, section 29): what is rounded goes that way.
"""

from __future__ import annotations

from fractions import Fraction

from symacct import laws
from symacct.interop import floats
from symacct.kernel import arguments
from symacct.kernel.claims import ADD_REMOVE
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.node import Node
from symacct.kernel.parameters import positive, rational
from symacct.mechanisms import DistributionPair
from symacct.operations import Compose

_EVENT = "MixtureOfGaussiansDpEvent"
_SLACK = Fraction(1, 2**40)  # that weights in float64 are off by


def mixture_of(deviation: object, sensitivities: object, weights: object) -> Node:
    """The pair of the mixture and N(0, σ²), its weights made to sum to 1.

    What they lack of 1 goes to the largest sensitivity, and what they have too much is taken from
    the smallest ones.
    """
    sigma = positive(deviation, f"{_EVENT}, standard_deviation")
    shares = _shares(sensitivities, weights)
    surplus = sum(shares.values(), Fraction(-1))
    if abs(surplus) > _SLACK:
        raise DomainError(f"{_EVENT}, sampling_probs: found {echo(weights)}, needed a sum of 1")
    if surplus < 0:
        shares[max(shares)] -= surplus
    for size in sorted(shares) if surplus > 0 else ():
        taken = min(surplus, shares[size])
        shares[size], surplus = shares[size] - taken, surplus - taken
    kept = {size: share for size, share in sorted(shares.items()) if share}
    if set(kept) == {0}:
        return Compose()
    law = laws.NormalMixture(list(kept), list(kept.values()), sigma**2)
    return DistributionPair(law, laws.Normal(0, sigma**2), ADD_REMOVE, with_record="P")


def _shares(sensitivities: object, weights: object) -> dict[Fraction, Fraction]:
    """The weight of each sensitivity."""
    sizes = _numbers(sensitivities, f"{_EVENT}, sensitivities")
    given = _numbers(weights, f"{_EVENT}, sampling_probs")
    if not sizes or len(sizes) != len(given):
        raise DomainError(
            f"{_EVENT}: found {len(sizes)} sensitivities and {len(given)} sampling_probs, needed "
            "one or more, as many of both"
        )
    shares: dict[Fraction, Fraction] = {}
    for size, share in zip(sizes, given, strict=True):
        shares[size] = shares.get(size, Fraction(0)) + share
    return shares


def _numbers(values: object, what: str) -> list[Fraction]:
    return [
        rational(floats.scalar(x), what) for x in arguments.ordered_members(values, what, "[0, 1]")
    ]


def mixture_parts(node: Node) -> tuple[float, list[float], list[float]] | None:
    """σ, the sensitivities and the weights of a pair of such laws, rounded to what costs more;

    None where either law may be that with the record, which no event says.
    """
    if not isinstance(node, DistributionPair) or not isinstance(node.P, laws.NormalMixture):
        return None
    if len(node.roles) > 1:
        return None
    base, parts = node.Q, dict(zip(node.P.means, node.P.weights, strict=True))
    if base != laws.Normal(0, node.P.variance) or min(parts) < 0:
        return None
    what = "DistributionPair to a DpEvent"
    *smaller, largest = sorted(parts)
    sizes = [floats.float_not_below(size, what) for size in (*smaller, largest)]
    weights = [floats.down(parts[size], what) for size in smaller]
    weights.append(floats.float_not_below(parts[largest], what))
    return floats.root_down(node.P.variance, what), sizes, weights
