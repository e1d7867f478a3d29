"""Each operation's products of dominating pairs follow from those of its mechanisms.

`products` is asked of nodes, `products_of` of the laws that a leaf declares. Both refuse by an
AssumptionError what no pair is known for; CurveAloneError is one of these.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING

from symacct.kernel.claims import ADD_REMOVE, REPLACE_ONE, Kind
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
    AllocatedNoise,
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
from symacct.operations.shuffled import Shuffled
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement, one_query
from symacct.profile.part import Part, loss_of, no_pair
from symacct.profile.products import (
    BoundedOneWay,
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
    from symacct.profile.losses import fixed_size, zeroed
    from symacct.profile.losses import shuffled as shuffled_answers
else:  # of which most questions ask neither
    curve_pair = LazyModule("symacct.profile.curve_pair")
    fixed_size = LazyModule("symacct.profile.losses.fixed_size")
    shuffled_answers = LazyModule("symacct.profile.losses.shuffled")
    zeroed = LazyModule("symacct.profile.losses.zeroed")

#: A group on Poisson samples of at most so many records has a pair for each number of them removed.
#: Each pair is proved to dominate; more take longer.
_LARGEST_GROUP_IN_FULL = 12
#: A larger group on Poisson samples has so many pairs besides that of none removed, each a bound
#: for a range of numbers. More bring the bound nearer, and take longer.
_RANGES_OF_REMOVALS = 4


# Proved in docs/proofs/pairs.md, Lemmas convex-divergences, poisson-pair and fixed-size-removal.
@singledispatch
def products(node: Node) -> list[Product]:
    """Return the products whose largest profile, over both directions of each, is that of the node.

    It is a bound where `kind_of` says UPPER. There is more than one where either of two densities
    may be the law with the record, or for groups of records. CurveAloneError where no pair is
    known, and AssumptionError where that needs something else of the node.
    """
    raise CurveAloneError(type(node).__name__)


@products.register
def _(node: Mechanism) -> list[Product]:
    """Make the products of the laws that a leaf declares; AssumptionError where these are Unknown.

    CurveAloneError where it declares a Rényi curve and no law.
    """
    law = law_of(node)
    if isinstance(law, CurveAlone):
        raise CurveAloneError(type(node).__name__)
    if isinstance(law, Unknown):
        raise no_pair(f"found {echo(node)}, needed {law.needed}")
    return products_of(law)


@singledispatch
def products_of(law: Neighbours) -> list[Product]:
    """Return the products of the laws that a leaf declares, by their registered loss."""
    return [Pair.of(loss_of(law), law.kind)]


@products_of.register
def _(law: Alike) -> list[Product]:
    """Take no run: nothing depends on the record, and δ is 0."""
    return [Pair(())]


@products_of.register
def _(law: FinitePairs) -> list[Product]:
    """Take the worst of all pairs: any may be that of the neighbours, in each run another."""
    return [any_of(law.pairs)]


@products_of.register
def _(law: TwoDensities) -> list[Product]:
    """Take the two laws both ways round, unless the way is stated or a symmetry exchanges them."""
    part = loss_of(law)
    exchanged = part.exchanged if law.either_way and not part.symmetric else None
    return [Pair.of(loss) for loss in (part, exchanged) if loss is not None]


# Proved in docs/proofs/allocations.md, Lemma bins-pair.
@products_of.register
def _(law: AllocatedNoise) -> list[Product]:
    """Take noise that is allocated to independent places, and noise beside it, as a bound."""
    noises = [law.beside, law.allocated]
    products = [Pair((), Kind.UPPER) if x is None else Pair.of(loss_of(x), x.kind) for x in noises]
    first, second = products
    return [BoundedPair.side_by_side([(first, 1), (second.allocated(law.places), 1)]).as_bound()]


@products_of.register
def _(law: Worst) -> list[Product]:
    """Take the pair that has at each ε the profile of some neighbours."""
    return [ThresholdFamily.of(loss_of(law.above), law.kind)]


@products_of.register
def _(law: Dominated) -> list[Product]:
    """Take the pair above the laws."""
    return [Pair.of(loss_of(law.above), law.kind)]


@products.register
def _(node: Compose) -> list[Product]:
    """Compose the parts' products; all parts of which only a curve is known are one pair of it.

    AssumptionError where no part has a pair, or where that curve says nothing.
    """
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
    """Make a pair that dominates all mechanisms of the node's Rényi curve.

    Raises `unknown`, why no pair is known, where the curve is infinite or a lower bound.
    """
    try:
        pair = curve_pair.pair_of_curve(node)
    except (InfiniteError, SoundnessError):  # it says nothing, or is a lower bound
        raise unknown from None
    return [BoundedPair.of_curve(pair, OF_A_CURVE)]


@products.register
def _(node: PoissonSubsample) -> list[Product]:
    """Sample the mechanism's pair, where a record is added or removed.

    A record replaced is one removed and one added: known at γ = 1, and of one Gaussian query.
    """
    if node.gamma == 1 and not node.is_one_step():
        return _replaced(node.mechanism)
    if not node.is_one_step() and (noise := gaussian_query_noise(node)):
        return [Pair.of(noise.in_groups(node.gamma, 1, 1))]
    if not node.is_one_step() and node.gamma != 0:
        raise no_pair(
            f"found {type(node).__name__} with adjacency {node.adjacency} of "
            f"{type(node.mechanism).__name__}, needed {node.read_adjacency}, or one Gaussian "
            "query, for which a dominating pair is known"
        )
    return [product.sampled(node.gamma) for product in products(node.mechanism)]


# Proved in docs/proofs/directions.md, Lemma group-mixtures.
def _replaced(mechanism: Node) -> list[Product]:
    """Return the products of a record replaced on all of the data: one removed and one added.

    They are pairs of a group of two. The kind is EXACT for noise of a query, which two records may
    move in opposite ways, and UPPER otherwise.
    """
    group_pairs = products(GroupPrivacy(mechanism, 2))
    both = [
        product
        for product in group_pairs
        if product.records and product.records[0] == product.records[1]
    ]
    kind = Kind.EXACT if _is_of_noise(mechanism) else Kind.UPPER
    return [product.replaced(kind) for product in both or group_pairs]


def _is_of_noise(mechanism: Node) -> bool:
    """Decide if two records may move its query in opposite ways: noise of a query, or sums of such.

    So may Poisson samples of Gaussian noise.
    """
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
    """Take Poisson's mixture where the mechanism's record is one that is added or removed.

    Where it is replaced, the loss's `fixed_size_pair` dominates both ways; a loss without one has
    that mixture one way, which is not composed. AssumptionError for a product that no symmetry
    exchanges. Gaussian noise on vectors has three means beside it, at a rational γ.
    """
    if not node.is_one_step() and node.gamma not in (0, 1):
        return [_zeroed(node)]
    if node.adjacency == ADD_REMOVE or not node.is_one_step():
        return [product.sampled(node.gamma) for product in products(node.mechanism)]
    pair = maximal_product(products(node.mechanism))
    if not pair.is_symmetric:
        raise no_pair(
            f"found {type(node.mechanism).__name__} on a sample of fixed size, "
            "needed two laws that a symmetry exchanges"
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


# Proved in docs/proofs/triples.md, Lemmas zeroed-triples and zeroed-noise.
def _zeroed(node: SubsampleWithoutReplacement) -> Product:
    """Return the product of a record zeroed out of a sample of fixed size, 0 < γ < 1.

    Where the loss's `zeroed_pair` is known, it is the worst of one run; else a bound of what one
    record and two tell, which is not composed. AssumptionError for a product that no symmetry
    exchanges.
    """
    pair = maximal_product(products(node.mechanism))
    if not pair.runs:
        return pair
    if not pair.is_symmetric:
        raise no_pair(
            f"found {type(node.mechanism).__name__} on a sample of fixed size, "
            "needed two laws that a symmetry exchanges"
        )
    worst = pair.part.zeroed_pair(node.gamma)
    if worst is not None:
        return Family.of(worst, pair.kind)
    two = maximal_product(products(GroupPrivacy(node.mechanism, 2)))
    if not two.is_symmetric:
        raise no_pair("found a group of two without a symmetry, needed two laws that one exchanges")
    loss = zeroed.ZeroedBound(pair.part, two.part, node.gamma)
    return BoundedOneWay.of(loss, Kind.UPPER)


# Proved in docs/proofs/allocations.md, Lemmas allocation-pair and blocks.
@products.register
def _(node: RandomAllocation) -> list[Product]:
    """Take the mean of the ratios of all runs, the record in one of them; one run is that run.

    A record in several runs draws one of each block, as a bound.
    """
    pairs = products(node.mechanism)
    if node.steps == 1:
        return pairs
    every = []
    for product in pairs_of_each_run(pairs):
        blocks = [
            (product if steps == 1 else product.allocated(steps), count)
            for steps, count in node.blocks
        ]
        runs = blocks[0][0] if node.times == 1 else composed(blocks)
        every.append(runs if node.times in (1, node.steps) else runs.as_bound())
    return every


@products.register
def _(node: Shuffled) -> list[Product]:
    """Take the counts of other people's clones, for each two inputs: a bound of the answers.

    One person's answer is as the randomizer gives it.
    """
    if node.n == 1:
        return products(node.mechanism)
    losses = shuffled_answers.losses(node)
    return [Pair.of(loss, Kind.UPPER) for loss in losses] or [Pair((), Kind.UPPER)]


@products.register
def _(node: GroupPrivacy) -> list[Product]:
    """Take noise of k times the sensitivity; on Poisson samples i records more, k − i less.

    k records replaced are k removed and k added: a bound, as their answers may be less far apart.
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
    """List how many records of a group are removed, from 0 to half of them, as ranges (few, many).

    In a group of at most 12 each number is a range. Of others the pair of `size − few` added and
    `many` removed dominates all between, as a record's answer may be 0.
    """
    half = size // 2
    if size <= _LARGEST_GROUP_IN_FULL:
        return [(j, j) for j in range(half + 1)]
    ends = [half * i // _RANGES_OF_REMOVALS for i in range(_RANGES_OF_REMOVALS + 1)]
    return [(0, 0), *((few + 1, many) for few, many in itertools.pairwise(ends))]


def _for_group(node: GroupPrivacy) -> list[Product]:
    """Return the products of datasets `size` steps apart: of laws that the leaf declares for them.

    Else of the mechanism that it names for a group. AssumptionError where there is neither.
    """
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
    """Take the coin and the run that it chose, which is seen."""
    return either(node, products)


def either(node: Either, of: Callable[[Node], list[Product]]) -> list[Product]:
    """Return the products of a coin between two mechanisms, by the products `of` either.

    At a share of 0 or 1 they are those of the one mechanism that is run.
    """
    if node.share in (0, 1):
        return of(node.first if node.share == 1 else node.second)
    ways = joint_choices(node, [of(node.first), of(node.second)])
    return [product.chosen(other, node.share) for product, other in ways]


@products.register
def _(node: Failing) -> list[Product]:
    """Compose each product with an outcome that reveals the data with probability δ."""
    delta = node.parameters()["delta"]
    return [product.failing(delta) for product in products(node.mechanism)]


@products.register
def _(node: PostProcess) -> list[Product]:
    """Take the mechanism's products as bounds."""
    return [product.as_bound() for product in products(node.mechanism)]


@products.register
def _(node: Convexify) -> list[Product]:
    """Take the mechanism's products: its curve alone is changed."""
    return products(node.mechanism)
