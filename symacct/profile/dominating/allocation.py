"""The pair of a mechanism run many times, each record in one of the runs, drawn at random."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from symacct.kernel import limits
from symacct.kernel.claims import Kind
from symacct.kernel.errors import AssumptionError
from symacct.kernel.exact import Exact
from symacct.profile.dominating.products import PairProduct, one_part
from symacct.profile.losses.allocated import AllocatedGaussian
from symacct.profile.losses.allocated_laplace import AllocatedLaplace
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.laplace import LaplaceLoss


def allocated(product: PairProduct, steps: int) -> PairProduct:
    """The mean over the runs of the laws with the record in one of them, against none.

    What dominates one run may stand for each, chosen by what was told before or not
    (docs/proofs.md, section 30).
    """
    if not product.runs:
        return product
    part = one_part(product)
    kind = Kind.UPPER if product.of_many else product.kind
    if isinstance(part, GaussianLoss):
        return PairProduct(((AllocatedGaussian(part.ratio, steps), 1),), kind)
    if isinstance(part, LaplaceLoss) and part.gamma == 1:
        return PairProduct(((AllocatedLaplace(part.shift, steps), 1),), kind)
    if isinstance(part, Atoms):
        return PairProduct(((_of_atoms(part, steps), 1),), kind)
    raise AssumptionError(
        "found RandomAllocation of noise that is not Gaussian, Laplace or "
        "of finitely many outcomes, needed one of these",
        where="conversion exact",
        remedy="use conversion improved",
    )


def _of_atoms(part: Atoms, steps: int) -> Atoms:
    """By how often each outcome occurs in all runs; what only the record gives tells all."""
    shared = [(p, q) for p, q in part.laws if q != 0]
    ways = math.comb(steps + len(shared) - 1, steps)
    limits.check("outcomes", ways, "outcomes of all the runs that a record may be in")
    found: list[tuple[Exact, Exact]] = [(p, q) for p, q in part.laws if q == 0]
    for counts in _counts(steps, len(shared)):
        q, mean = Fraction(math.factorial(steps)), Fraction(0)
        for (one, other), k in zip(shared, counts, strict=True):
            q *= other**k / Fraction(math.factorial(k))
            mean += Fraction(k, steps) * (one / other)
        found.append((q * mean, q))
    return Atoms(tuple(found))


def _counts(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """All ways in which so many runs fall on so many kinds."""
    if kinds == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for others in _counts(total - first, kinds - 1):
            yield (first, *others)
