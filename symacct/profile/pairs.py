"""The pairs (P, Q) behind an expression: what a record changes in each run of each mechanism."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import sympy

from symacct import sizes
from symacct.claims import Kind, combine
from symacct.errors import AssumptionError
from symacct.exact import Exact, expression
from symacct.expr import Node
from symacct.mechanisms import DistributionPair, Gaussian, Laplace, PureDP, RandomizedResponse
from symacct.mechanisms.mixtures import noise
from symacct.operations.compose import Compose
from symacct.operations.convexify import Convexify
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import PoissonSubsample
from symacct.profile.atoms import Atoms
from symacct.profile.gaussian import GaussianLoss
from symacct.profile.laplace import LaplaceLoss
from symacct.profile.part import Part


@dataclass(frozen=True)
class Product:
    """Π (P_i, Q_i)^{k_i}; `kind` is EXACT where the mechanism has it, UPPER where it dominates."""

    runs: tuple[tuple[Part, int], ...]
    kind: Kind


@singledispatch
def products(node: Node) -> list[Product]:
    """Products whose largest profile, over both directions of each, is that of the node.

    More than one where a mechanism's two laws may lie either way round. AssumptionError where no
    pair is known.
    """
    raise AssumptionError(
        f"conversion='exact': found {type(node).__name__}, of which only a Rényi curve is known, "
        "needed the two output laws; use conversion='improved' for the bound from the curve"
    )


@products.register
def _(node: Gaussian) -> list[Product]:
    return _one(GaussianLoss(_square(node.sensitivity) / _square(node.sigma)))


@products.register
def _(node: Laplace) -> list[Product]:
    return _one(LaplaceLoss(node.sensitivity / node.b))


@products.register
def _(node: RandomizedResponse) -> list[Product]:
    return _one(_binary(node.p))


@products.register
def _(node: PureDP) -> list[Product]:
    odds = sympy.exp(-expression(node.parameters()["epsilon"]))
    return _one(_binary(1 / (1 + odds)))


@products.register
def _(node: DistributionPair) -> list[Product]:
    masses = node.masses
    if masses is None:
        known = noise(node.P, node.Q)
        return products.dispatch(object)(node) if known is None else products(known)
    if node.swap_symmetric:
        return _one(Atoms(masses))
    return [*_one(Atoms(masses)), *_one(Atoms(tuple((q, p) for p, q in masses)))]


@products.register
def _(node: Compose) -> list[Product]:
    choices = [
        [(product, count) for product in products(part)] for part, count in node.terms.items()
    ]
    sizes.check("outcomes", math.prod(map(len, choices)), "conversion='exact', orientations")
    return [_composed(choice) for choice in itertools.product(*choices)]


@products.register
def _(node: PoissonSubsample) -> list[Product]:
    return [_sampled(product, node.gamma) for product in products(node.mechanism)]


@products.register
def _(node: PostProcess) -> list[Product]:
    return [Product(product.runs, Kind.UPPER) for product in products(node.mechanism)]


@products.register
def _(node: Convexify) -> list[Product]:
    return products(node.mechanism)


def _one(part: Part) -> list[Product]:
    return [Product(((part, 1),), Kind.EXACT)]


def _binary(p: Exact) -> Atoms:
    """Randomized response: the first answer with probability p, or 1 − p."""
    return Atoms(((p, 1 - p), (1 - p, p)))


def _square(x: Exact) -> Exact:
    """x², a fraction wherever it is one."""
    square = x**2
    return Fraction(square.p, square.q) if isinstance(square, sympy.Rational) else square


def _composed(choice: Iterable[tuple[Product, int]]) -> Product:
    """All runs side by side; Gaussian ones are one Gaussian."""
    counts: Counter[Part] = Counter()
    ratio: Exact = Fraction(0)
    kinds = []
    for product, times in choice:
        kinds.append(product.kind)
        for part, count in product.runs:
            if isinstance(part, GaussianLoss):
                ratio += times * count * part.ratio
            else:
                counts[part] += times * count
    if ratio:
        counts[GaussianLoss(ratio)] = 1
    return Product(tuple(counts.items()), combine(kinds, "Compose"))


def _sampled(product: Product, gamma: Exact) -> Product:
    """One mixture (1−γ)Q + γP against Q, of the product pair (P, Q)."""
    if gamma == 0 or not product.runs:
        return Product((), product.kind)
    if gamma == 1:
        return product
    parts = [part for part, count in product.runs for _ in range(min(count, 2))]
    if len(parts) > 1:
        parts = [_joint(product)]
    return Product(((parts[0].sampled(gamma), 1),), product.kind)


def _joint(product: Product) -> Part:
    """One part for several run on one sample: finite laws have finite products."""
    if not all(isinstance(part, Atoms) for part, _ in product.runs):
        raise AssumptionError(
            "conversion='exact': found several mechanisms run on one Poisson sample, needed one, "
            "or Gaussian ones alone, or finite ones alone; use conversion='improved'"
        )
    return Atoms.joint(product.runs)  # type: ignore[arg-type]
