"""Gaussian queries on samples: the noise of a Poisson one, the triangle of one of fixed size."""

from __future__ import annotations

from fractions import Fraction

from symacct.kernel.claims import Kind
from symacct.kernel.exact import exact
from symacct.kernel.node import Node
from symacct.mechanisms import Gaussian
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement, one_query
from symacct.profile.losses.fixed_size.equilateral import Equilateral
from symacct.profile.losses.gaussian import GaussianLoss


def one_gaussian(node: Node) -> GaussianLoss | None:
    """The noise of an exact Gaussian query on Poisson samples of some of the records."""
    if not isinstance(node, PoissonSubsample) or node.gamma in (0, 1):
        return None
    noise = one_query(node.mechanism)
    if not isinstance(noise, Gaussian) or noise.kind is not Kind.EXACT:
        return None
    return GaussianLoss(exact((noise.sensitivity / noise.sigma) ** 2))


def triangle_of(node: SubsampleWithoutReplacement) -> Equilateral | None:
    """The triangle that may be the worst for smooth functions: of one query, fixed beforehand."""
    noise = node.mechanism
    if not isinstance(noise, Gaussian) or not noise.is_one_query:
        return None
    delta = noise.sensitivity / noise.sigma
    is_rational = isinstance(delta, Fraction) and isinstance(node.gamma, Fraction)
    return Equilateral(delta, node.gamma) if is_rational else None
