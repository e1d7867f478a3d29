"""Each operation's products of dominating pairs follow from those of its mechanisms."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING

from symacct.kernel.claims import REPLACE_ONE, Kind
from symacct.kernel.errors import (
    AssumptionError,
    CurveAloneError,
    InfiniteError,
    SoundnessError,
    echo,
)
from symacct.kernel.exact import LazyModule
from symacct.kernel.node import Mechanism, Node
from symacct.kernel.operation import Compose, Count
from symacct.laws.neighbours import (
    Alike,
    CurveAlone,
    Dominated,
    FinitePairs,
    Neighbours,
    TwoDensities,
    Unknown,
    Worst,
    law_of,
)
from symacct.operations.allocation import RandomAllocation
from symacct.operations.curves import Convexify
from symacct.operations.either import Either
from symacct.operations.failing import Failing
from symacct.operations.group import GroupPrivacy
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement, one_query
from symacct.profile.loss_register import loss_of
from symacct.profile.part import Part
from symacct.profile.products import (
    BoundedPair,
    Family,
    OneWay,
    Pair,
    Product,
    ThresholdFamily,
    TriangleFamily,
    any_of,
    composed,
    joint_choices,
    maximal_product,
    pairs_of_each_run,
)
from symacct.profile.proofs import OF_A_CURVE

if TYPE_CHECKING:
    from symacct.profile import curve_pair
    from symacct.profile.losses import fixed_size
else:  # of which most questions ask neither
    curve_pair = LazyModule("symacct.profile.curve_pair")
    fixed_size = LazyModule("symacct.profile.losses.fixed_size")

#: Of a group on Poisson samples: the largest of which each way is asked, and pairs of a larger one.
_EACH_WAY, _BLOCKS = 12, 4


# Proved in docs/proofs/pairs.md, Lemmas convex-divergences, poisson-pair and fixed-size-removal.
@singledispatch
def products(node: Node) -> list[Product]:
    """Return the products whose largest profile, over both directions of each, is that of the node.

    More than one where either of two densities may be the law with the record, in one run: a leaf
    whose two laws no symmetry swaps, and whose query may move either way, gives both. Sums of it,
    of which each run may move its own way, are then refused.

    CurveAloneError where no pair is known.
    """
    raise CurveAloneError(type(node).__name__)


@products.register
def _(node: Mechanism) -> list[Product]:
    """Of the laws that a leaf declares."""
    law = law_of(node)
    if isinstance(law, CurveAlone):
        raise CurveAloneError(type(node).__name__)
    if isinstance(law, Unknown):
        raise AssumptionError(
            f"found {echo(node)}, needed {law.needed}",
            where="conversion exact",
            remedy="use conversion improved",
        )
    return products_of(law)


@singledispatch
def products_of(law: Neighbours) -> list[Product]:
    """Return the products of the laws that a leaf declares."""
    return [Pair.of(loss_of(law), law.kind)]


@products_of.register
def _(law: Alike) -> list[Product]:
    return [Pair(())]


@products_of.register
def _(law: FinitePairs) -> list[Product]:
    """Any pair may be that of the neighbours, in each run another."""
    return [any_of(law.pairs)]


@products_of.register
def _(law: TwoDensities) -> list[Product]:
    """Either way round unless it is stated, or a symmetry exchanges the two."""
    part = loss_of(law)
    exchanged = part.exchanged if law.either_way and not part.symmetric else None
    return [Pair.of(loss) for loss in (part, exchanged) if loss is not None]


@products_of.register
def _(law: Worst) -> list[Product]:
    return [ThresholdFamily.of(loss_of(law.of), law.kind)]


@products_of.register
def _(law: Dominated) -> list[Product]:
    return [Pair.of(loss_of(law.above), law.kind)]


@products.register
def _(node: Compose) -> list[Product]:
    """Of parts of which only a curve is known one pair, beside all others."""
    counts, every = [], []
    alone: dict[Node, Count] = {}
    for part, count in node.terms.items():
        try:
            every.append(pairs_of_each_run(products(part)))
            counts.append(count)
        except AssumptionError as error:
            alone[part], unknown = count, error
    if alone and not every:
        raise unknown
    if alone:
        every.append(_by_curve(Compose(alone), unknown))
        counts.append(1)
    runs = [composed(list(zip(way, counts, strict=True))) for way in joint_choices(node, every)]
    if sum(alone.values()) > 1:  # between which triangles may stand: no one pair is all of them
        return [product.unsmoothed for product in runs]
    return runs


# Proved in docs/proofs/currencies.md, Lemma beside-curve.
def _by_curve(node: Node, unknown: AssumptionError) -> list[Product]:
    """Make a pair that dominates all mechanisms of the node's Rényi curve."""
    try:
        pair = curve_pair.pair_of_curve(node)
    except (InfiniteError, SoundnessError):  # it says nothing, or is a lower bound
        raise unknown from None
    return [BoundedPair.of_curve(pair, OF_A_CURVE)]


@products.register
def _(node: PoissonSubsample) -> list[Product]:
    """On all of the data a record replaced is one removed and one added."""
    if node.gamma == 1 and not node.is_one_step():
        return _replaced(node.mechanism)
    if not node.is_one_step() and (noise := gaussian_query_noise(node)):
        return [Pair.of(noise.in_groups(node.gamma, 1, 1))]
    if node.adjacency != node.read_adjacency and node.gamma != 0:
        raise AssumptionError(
            f"found {type(node).__name__} with adjacency {node.adjacency} of "
            f"{type(node.mechanism).__name__}, needed {node.read_adjacency}, or one Gaussian "
            "query, for which a dominating pair is known",
            where="conversion exact",
            remedy="use conversion improved",
        )
    return [product.sampled(node.gamma) for product in products(node.mechanism)]


# Proved in docs/proofs/directions.md, Lemma group-mixtures.
def _replaced(mechanism: Node) -> list[Product]:
    """Return the products of a record replaced on all of the data: one removed and one added."""
    group_pairs = products(GroupPrivacy(mechanism, 2))
    both = [
        product
        for product in group_pairs
        if product.records and product.records[0] == product.records[1]
    ]
    kind = Kind.EXACT if _is_of_noise(mechanism) else Kind.UPPER
    return [product.replaced(kind) for product in both or group_pairs]


def _is_of_noise(mechanism: Node) -> bool:
    """Decide if it is noise whose query two records may move in opposite ways, or sums of such."""
    if isinstance(mechanism, Compose):
        return all(map(_is_of_noise, mechanism.terms))
    return law_of(mechanism).of_query or gaussian_query_noise(mechanism) is not None


def gaussian_query_noise(node: Node) -> Part | None:
    """Return the loss of an exact Gaussian query on Poisson samples, 0 < γ < 1; else None."""
    if not isinstance(node, PoissonSubsample) or node.gamma in (0, 1):
        return None
    law = law_of(one_query(node.mechanism))
    if not law.of_query:
        return None
    noise = loss_of(law)
    return noise if noise.gaussian_ratio is not None else None


@products.register
def _(node: SubsampleWithoutReplacement) -> list[Product]:
    """One sample of fixed size, the pair that dominates all of them where a record is replaced.

    A record added or removed is in the sample or another is in its place: Poisson's mixture.
    """
    if node.adjacency != node.read_adjacency:
        return [product.sampled(node.gamma) for product in products(node.mechanism)]
    pair = maximal_product(products(node.mechanism))
    if not pair.is_symmetric:
        raise AssumptionError(
            f"found {type(node.mechanism).__name__} on a sample of fixed size, "
            "needed two laws that a symmetry exchanges",
            where="conversion exact",
            remedy="use conversion improved",
        )
    if not pair.runs or node.gamma in (0, 1):
        return [pair.sampled(node.gamma)]
    part = pair.part
    both_ways = part.fixed_size_pair(node.gamma)
    if both_ways is None:
        return [OneWay.of(part.sampled(node.gamma), pair.kind)]
    side = law_of(node.mechanism).side  # of the triangle that may be the worst for smooth functions
    if side is not None and isinstance(node.gamma, Fraction):
        triangle = fixed_size.Equilateral(side, node.gamma)
        return [TriangleFamily(((both_ways, 1),), pair.kind, corners=triangle)]
    return [Family.of(both_ways, pair.kind)]


@products.register
def _(node: RandomAllocation) -> list[Product]:
    """One record in a run that is drawn: the mean of the ratios of all runs."""
    pairs = products(node.mechanism)
    return pairs if node.steps == 1 else [product.allocated(node.steps) for product in pairs]


@products.register
def _(node: GroupPrivacy) -> list[Product]:
    """Noise for as many times the sensitivity; on Poisson samples i records more, others less.

    Of records replaced as many are removed as are added: a bound, where fewer may be asked about.
    """
    if noise := gaussian_query_noise(node.mechanism):
        rate, k = node.mechanism.parameters()["gamma"], node.size
        if node.mechanism.claim.adjacency == REPLACE_ONE:
            return [Pair.of(noise.in_groups(rate, k, k), Kind.UPPER)]
        return [
            Pair(
                ((noise.in_groups(rate, k - few, many), 1),),
                Kind.EXACT if few == many else Kind.UPPER,
                records=(k - few, few),
            )
            for few, many in _removals(k)
        ]
    return [Pair(product.runs, Kind.UPPER) for product in _for_group(node)]


# Proved in docs/proofs/directions.md, Lemma large-groups.
def _removals(size: int) -> list[tuple[int, int]]:
    """List how many records of a group are removed, at most half, as ranges (few, many).

    Of small groups each number is a range. The pair of `size − few` and `many` dominates all
    between: a vector may be 0.
    """
    half = size // 2
    if size <= _EACH_WAY:
        return [(j, j) for j in range(half + 1)]
    ends = [half * i // _BLOCKS for i in range(_BLOCKS + 1)]
    return [(0, 0), *((few + 1, many) for few, many in itertools.pairwise(ends))]


def _for_group(node: GroupPrivacy) -> list[Product]:
    """Return the products of datasets `size` steps apart, where the mechanism declares them."""
    mechanism = node.mechanism
    if (law := law_of(mechanism).for_group(node.size)) is not None:
        return products_of(law)
    noise = mechanism.for_group(node.size)
    if noise is None:
        raise AssumptionError(
            f"found GroupPrivacy of {type(mechanism).__name__}, needed noise "
            "or PureDP, or sums of them",
            where="conversion exact",
            remedy="use conversion improved for the bound from the curve",
        )
    return products(noise)


@products.register
def _(node: Either) -> list[Product]:
    """The coin and what it chose: finite laws are one finite law, others are averaged."""
    return either(node, products)


def either(node: Either, of: Callable[[Node], list[Product]]) -> list[Product]:
    """Return the products of a coin between two mechanisms, by what `of` knows of either."""
    if node.share in (0, 1):
        return of(node.first if node.share == 1 else node.second)
    ways = joint_choices(node, [of(node.first), of(node.second)])
    return [product.chosen(other, node.share) for product, other in ways]


@products.register
def _(node: Failing) -> list[Product]:
    delta = node.parameters()["delta"]
    return [product.failing(delta) for product in products(node.mechanism)]


@products.register
def _(node: PostProcess) -> list[Product]:
    return [product.as_bound() for product in products(node.mechanism)]


@products.register
def _(node: Convexify) -> list[Product]:
    return products(node.mechanism)
