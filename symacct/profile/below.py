"""Products below an expression's profile are what post-processing leaves of it.

Dropping a part of a composition is post-processing; so is asking about one record of a group, where
no pairs of all of it are known. A record may be replaced by one that contributes what all others
do, which is its removal, unless it is stated that the dataset has one law with any record.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING

from symacct.kernel.claims import REPLACE_ONE, Kind, Relation
from symacct.kernel.errors import AssumptionError
from symacct.kernel.exact import Exact, LazyModule
from symacct.kernel.node import Mechanism, Node
from symacct.kernel.operation import Compose
from symacct.laws.neighbours import law_of
from symacct.operations.curves import Convexify
from symacct.operations.either import Either
from symacct.operations.failing import Failing
from symacct.operations.group import GroupPrivacy
from symacct.operations.repeat import RepeatAndSelect
from symacct.operations.shuffled import Shuffled
from symacct.operations.subsample import PoissonSubsample, Sampling, SubsampleWithoutReplacement
from symacct.profile.pairs import Pair, Product, either, kind_of, products, products_of, share_group

if TYPE_CHECKING:
    from symacct.profile import selected
    from symacct.profile.losses import fixed_size
    from symacct.profile.losses import shuffled as shuffled_answers
else:
    shuffled_answers = LazyModule("symacct.profile.losses.shuffled")
    fixed_size = LazyModule("symacct.profile.losses.fixed_size")
    selected = LazyModule("symacct.profile.selected")

#: Runs may choose of their products in so many ways at most, as each way is a profile to compute.
#: Each profile is a proved lower end: more take longer, and may raise the largest.
_MOST_CHOICES = 256
#: At most so many runs choose also half one way and half the other. More take longer, and may raise
#: the lower end.
_MOST_RUNS_IN_HALVES = 16
#: From so many runs on the moments of three means fall, and a contour serves. Fewer take long; each
#: lower end is proved.
_FEWEST_RUNS_OF_TRIANGLES = 20
#: The product of no run, whose profile is 0 and so below any.
_NOTHING = Pair(())


def single_runs(products: list[Product]) -> list[Product]:
    """Return one product for one run of each part, whose profile is at most that of all runs."""
    parts = {part for product in products for part, _ in product.runs}
    return [Pair.of(part) for part in parts]


# Proved in docs/proofs/pairs.md, Lemma lower-profiles.
def products_below(node: Node) -> list[Product]:
    """Return products of which none has a larger profile than the node, at any ε >= 0.

    The largest of them is the bound; where nothing is known it is the product of no run.
    """
    if node._has_one_law_of_record and _compares_records(node):
        return [_NOTHING]
    try:
        below = _below(node)
    except AssumptionError:  # several mechanisms run on one sample
        return [_NOTHING]
    return _of_few_records(below, node.claim.adjacency.group)


def _compares_records(node: Node) -> bool:
    """Decide if a record has another one in its place, in the data or in a sample of fixed size."""
    relations = [node.claim.adjacency.relation]
    if isinstance(node, SubsampleWithoutReplacement):
        relations.append(node._read_adjacency.relation)
    return Relation.REPLACE_ONE in relations


def _of_few_records(products: list[Product], most: int) -> list[Product]:
    """Keep products of at most `most` records: an operation on one may read a group's curve.

    Without any, the product of no run is left.
    """
    return [product for product in products if (product.size or most) <= most] or [_NOTHING]


def triangles_below(node: Node) -> list[Product]:
    """Return pairs below the truth with the two records and all others equally far apart.

    These are three means in a plane, in every run of Gaussian noise on a sample of fixed size; []
    where there are not several, or the answers are no vectors.
    """
    terms = list(node.terms.items()) if isinstance(node, Compose) else []
    triangles = {
        part: _triangle(part) for part, count in terms if count >= _FEWEST_RUNS_OF_TRIANGLES
    }
    if not any(triangles.values()):
        return []
    products_of_parts = [
        [(product, count) for product in triangles.get(part) or _of_records(node, part)]
        for part, count in terms
    ]
    return [Pair.side_by_side(choice) for choice in itertools.product(*products_of_parts)]


def _triangle(node: Node) -> list[Product]:
    """Return three means for a record replaced in a sample of fixed size of Gaussian noise.

    [] for other nodes, an irrational γ, or answers that are no vectors.
    """
    if not isinstance(node, SubsampleWithoutReplacement) or node.adjacency != REPLACE_ONE:
        return []
    if not isinstance(node.gamma, Fraction) or node.gamma in (0, 1):
        return []
    if not (square := _squared_side(node.mechanism)):
        return []
    return [Pair.of(fixed_size.Equilateral(fixed_size.below(square), node.gamma))]


def _squared_side(node: Node) -> Exact:
    """Return the sum of Δ²/σ² of all queries with Gaussian noise whose answers are vectors.

    Three of these may be Δ apart from each other. Others count 0: of real numbers three can't be,
    and two stated laws are those of two records.
    """
    if isinstance(node, Compose):
        return sum((n * _squared_side(part) for part, n in node.terms.items()), Fraction(0))
    return law_of(node).squared_side


@singledispatch
def _below(node: Node) -> list[Product]:
    """Return the node's products that some neighbours attain; others are above their neighbours."""
    return [product for product in products(node) if product.is_attained] or [_NOTHING]


@_below.register
def _(node: Mechanism) -> list[Product]:
    """Take the laws that the leaf states some neighbours to have in all runs."""
    fixed = [product for law in law_of(node).fixed for product in products_of(law)]
    return [product for product in fixed if product.is_attained] or [_NOTHING]


@_below.register
def _(node: RepeatAndSelect) -> list[Product]:
    """Take the best output in an order of the outputs that is about the worst at a usual δ."""
    return selected.usual(products_below(node.mechanism), node.runs) or [_NOTHING]


@_below.register
def _(node: Compose) -> list[Product]:
    """Compose the parts' products in all ways that one group of records may have.

    Of too many ways the last choice of each part is taken alone.
    """
    choices = [_ways(_of_records(node, part), count) for part, count in node.terms.items()]
    if math.prod(map(len, choices)) > _MOST_CHOICES:
        choices = [ways[-1:] for ways in choices]
    every = [[*itertools.chain(*choice)] for choice in itertools.product(*choices)]
    return [
        Pair.side_by_side(choice)
        for choice in every
        if share_group(product for product, _ in choice)
    ]


def _of_records(node: Node, part: Node) -> list[Product]:
    """Return the products below a part that are about the node's neighbours, or one record's."""
    below, group = products_below(part), node.claim.adjacency.group
    if isinstance(part, GroupPrivacy) and any((product.size or group) > group for product in below):
        return products_below(part.mechanism)
    return _of_few_records(below, group)


def _ways(products: list[Product], count: int) -> list[list[tuple[Product, int]]]:
    """List how `count` runs may choose of products: one in all, or of two finite ones each in half.

    Halves are listed for at most 16 runs.
    """
    ways = [[(product, count)] for product in products]
    parts = [part for product in products for part, _ in product.runs]
    are_finite = all(part.finite is not None for part in parts)
    if len(products) == 2 and 1 < count <= _MOST_RUNS_IN_HALVES and are_finite:
        more_runs, fewer_runs = count - count // 2, count // 2
        ways += [
            list(zip(products, halves, strict=True))
            for halves in {(more_runs, fewer_runs), (fewer_runs, more_runs)}
        ]
    return ways


@_below.register
def _(node: Sampling) -> list[Product]:
    """Sample the products below the mechanism; a Poisson sample's own pair where it is exact.

    A record replaced may be one that is removed, so that the mixture of one record is below.
    """
    if isinstance(node, PoissonSubsample) and not node._is_one_step():
        with contextlib.suppress(AssumptionError):
            if (pairs := products(node)) and kind_of(node, pairs) is Kind.EXACT:
                return pairs
    return [product.sampled(node.gamma) for product in _of_records(node, node.mechanism)]


@_below.register
def _(node: Either) -> list[Product]:
    """Take the coin and one product below each of the two mechanisms."""
    return either(node, lambda part: _of_records(node, part))


@_below.register
def _(node: Failing) -> list[Product]:
    """Compose the products below the mechanism with the outcome that reveals the data."""
    below = products_below(node.mechanism)
    return [product.failing(node.parameters()["delta"]) for product in below]


@_below.register
def _(node: Shuffled) -> list[Product]:
    """Take the answers of others who all have a third value; of one person the randomizer's."""
    if node.n == 1:
        return products_below(node.mechanism)
    return [Pair.of(loss) for loss in shuffled_answers.losses_below(node)] or [_NOTHING]


@_below.register
def _(node: GroupPrivacy) -> list[Product]:
    """Take exact pairs of the whole group where these are known, else what one record has."""
    with contextlib.suppress(AssumptionError):
        exact = [product for product in products(node) if product.kind is Kind.EXACT]
        if exact:
            return exact
    return products_below(node.mechanism)


@_below.register
def _(node: Convexify) -> list[Product]:
    """Take the products below the mechanism: its curve alone is changed."""
    return products_below(node.mechanism)
