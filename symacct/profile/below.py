"""Products that an expression has at least: what is left of it by post-processing.

Dropping a part of a composition is post-processing; so is asking about one record of a group, where
no pairs of all of it are known. A record may be replaced by one that contributes what all others
do, which is its removal.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING

from symacct.kernel.claims import REPLACE_ONE, Kind
from symacct.kernel.errors import AssumptionError
from symacct.kernel.exact import Exact, LazyModule
from symacct.kernel.node import Mechanism, Node
from symacct.kernel.operation import Compose
from symacct.operations.curves import Convexify
from symacct.operations.either import Either
from symacct.operations.failing import Failing
from symacct.operations.group import GroupPrivacy
from symacct.operations.repeat import RepeatAndSelect
from symacct.operations.subsample import PoissonSubsample, Sampling, SubsampleWithoutReplacement
from symacct.profile import selected
from symacct.profile.pairs import either, law_of, products, products_of
from symacct.profile.products import Pair, Product, are_of_one_group, kind_of

if TYPE_CHECKING:
    from symacct.profile.losses import fixed_size
else:
    fixed_size = LazyModule("symacct.profile.losses.fixed_size")

_MOST_WAYS = 256  # in which runs may lie, each a product to be worked out
_FEW = 16  # runs, which may lie half one way and half the other
_MANY = 20  # runs, of which the moments of three means fall
_NOTHING = Pair(())


def one_run_each(found: list[Product]) -> list[Product]:
    """Each part alone, run once: less than all of them, and in closed form."""
    parts = {part for product in found for part, _ in product.runs}
    return [Pair.of(part) for part in parts]


# Proved in docs/proofs/pairs.md, Lemma lower-profiles.
def products_below(node: Node) -> list[Product]:
    """Products none of which has a larger profile than the node; an empty one says nothing."""
    try:
        found = _below(node)
    except AssumptionError:  # several mechanisms run on one sample
        return [_NOTHING]
    return _of_few_records(found, node.claim.adjacency.group)


def _of_few_records(found: list[Product], most: int) -> list[Product]:
    """The products of at most so many records: an operation about one may read a group's curve."""
    return [one for one in found if (one.size or most) <= most] or [_NOTHING]


def triangles_below(node: Node) -> list[Product]:
    """Pairs below the truth with the two records and all others equally far apart.

    These are three means in a plane, in every run of Gaussian noise on a sample of fixed size; []
    where there are not several, or the answers are no vectors.
    """
    terms = list(node.terms.items()) if isinstance(node, Compose) else []
    triangles = {part: _triangle(part) for part, count in terms if count >= _MANY}
    if not any(triangles.values()):
        return []
    choices = [
        [(product, count) for product in triangles.get(part) or _of_records(node, part)]
        for part, count in terms
    ]
    return [Pair.side_by_side(choice) for choice in itertools.product(*choices)]


def _triangle(node: Node) -> list[Product]:
    if not isinstance(node, SubsampleWithoutReplacement) or node.adjacency != REPLACE_ONE:
        return []
    if not isinstance(node.gamma, Fraction) or node.gamma in (0, 1):
        return []
    if not (square := _squared_side(node.mechanism)):
        return []
    return [Pair.of(fixed_size.Equilateral(fixed_size.below(square), node.gamma))]


def _squared_side(node: Node) -> Exact:
    """Δ²/σ² of all queries with Gaussian noise whose answers are vectors.

    Three of them may be so far apart from each other. Real numbers may not, nor two laws, which are
    those of two records.
    """
    if isinstance(node, Compose):
        return sum((n * _squared_side(part) for part, n in node.terms.items()), Fraction(0))
    return law_of(node).squared_side


@singledispatch
def _below(node: Node) -> list[Product]:
    """The pairs of the node, but for what stands for many pairs: it is above each of them."""
    return [product for product in products(node) if product.is_attained] or [_NOTHING]


@_below.register
def _(node: Mechanism) -> list[Product]:
    """Laws that some neighbours have in all runs."""
    found = [product for law in law_of(node).fixed for product in products_of(law)]
    return [product for product in found if product.is_attained] or [_NOTHING]


@_below.register
def _(node: RepeatAndSelect) -> list[Product]:
    """In one order of the outputs, which are worse the likelier one of the datasets made them."""
    return selected.usual(products_below(node.mechanism), node.runs) or [_NOTHING]


@_below.register
def _(node: Compose) -> list[Product]:
    choices = [_ways(_of_records(node, part), count) for part, count in node.terms.items()]
    if math.prod(map(len, choices)) > _MOST_WAYS:
        choices = [found[-1:] for found in choices]
    every = [[*itertools.chain(*choice)] for choice in itertools.product(*choices)]
    return [
        Pair.side_by_side(choice) for choice in every if are_of_one_group(one for one, _ in choice)
    ]


def _of_records(node: Node, part: Node) -> list[Product]:
    """What says something of the node's neighbours: of a larger group one record."""
    found, group = products_below(part), node.claim.adjacency.group
    if isinstance(part, GroupPrivacy) and any((one.size or group) > group for one in found):
        return products_below(part.mechanism)
    return _of_few_records(found, group)


def _ways(found: list[Product], count: int) -> list[list[tuple[Product, int]]]:
    """One product in all runs; of two of finite laws each in half of them, too."""
    ways = [[(product, count)] for product in found]
    parts = [part for product in found for part, _ in product.runs]
    if len(found) == 2 and 1 < count <= _FEW and all(part.finite is not None for part in parts):
        more, less = count - count // 2, count // 2
        ways += [list(zip(found, halves, strict=True)) for halves in {(more, less), (less, more)}]
    return ways


@_below.register
def _(node: Sampling) -> list[Product]:
    if isinstance(node, PoissonSubsample) and not node.is_one_step():
        with contextlib.suppress(AssumptionError):
            if (found := products(node)) and kind_of(node, found) is Kind.EXACT:
                return found
    return [product.sampled(node.gamma) for product in _of_records(node, node.mechanism)]


@_below.register
def _(node: Either) -> list[Product]:
    """One pair of each of the two, in all runs."""
    return either(node, lambda part: _of_records(node, part))


@_below.register
def _(node: Failing) -> list[Product]:
    below = products_below(node.mechanism)
    return [found.failing(node.parameters()["delta"]) for found in below]


@_below.register
def _(node: GroupPrivacy) -> list[Product]:
    """Pairs of the whole group where these are known, else one record of it."""
    with contextlib.suppress(AssumptionError):
        found = [product for product in products(node) if product.kind is Kind.EXACT]
        if found:
            return found
    return products_below(node.mechanism)


@_below.register
def _(node: Convexify) -> list[Product]:
    return products_below(node.mechanism)
