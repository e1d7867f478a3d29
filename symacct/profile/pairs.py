"""The pair of laws that dominates a mechanism."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import singledispatch

from symacct.kernel.claims import REPLACE_ONE, Kind
from symacct.kernel.errors import (
    AssumptionError,
    CurveAloneError,
    InfiniteError,
    SoundnessError,
    echo,
)
from symacct.kernel.exact import Exact, exact, expression, sympy
from symacct.kernel.node import Mechanism, Node
from symacct.kernel.operation import Compose, Count
from symacct.mechanisms import (
    ApproximateDP,
    DiscreteGaussianSum,
    DiscreteLaplace,
    DistributionPair,
    ExponentialMechanism,
    FiniteMechanism,
    Gaussian,
    NoisyMax,
    PermuteAndFlip,
    PureDP,
    RandomizedResponse,
    SparseVector,
    VectorLaplace,
)
from symacct.mechanisms.discrete_sum import SummedNoise
from symacct.mechanisms.integer_noise import LatticeNoise
from symacct.mechanisms.pair import Overlap, noise, one_dimensional
from symacct.operations.allocation import RandomAllocation
from symacct.operations.curves import Convexify
from symacct.operations.either import Either
from symacct.operations.failing import Failing
from symacct.operations.group import GroupPrivacy
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement, one_query
from symacct.profile.curve_pair import pair_of_curve
from symacct.profile.losses.bounded_range import bounded_range
from symacct.profile.losses.density import DensityLoss, DensityPair
from symacct.profile.losses.finite import Atoms, Masses
from symacct.profile.losses.fixed_size import Equilateral
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.normal_pair import normal_pair
from symacct.profile.part import Part
from symacct.profile.products import (
    BoundedPair,
    Family,
    FiniteFamily,
    OneWay,
    Pair,
    Product,
    ThresholdFamily,
    TriangleFamily,
    at_once,
    composed,
    joint_choices,
    of_one_run,
)
from symacct.profile.proofs import OF_A_CURVE

# --- queries on one sample
#
# Gaussian queries on samples: the noise of a Poisson one, the triangle of one of fixed size.


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


# --- pairs by mechanism
#
# The pairs (P, Q) behind an expression: what a record changes in each run of each mechanism.

#: Of a group on Poisson samples: the largest of which each way is asked, and pairs of a larger one.
_EACH_WAY, _BLOCKS = 12, 4


@singledispatch
def products(node: Node) -> list[Product]:
    """Products whose largest profile, over both directions of each, is that of the node.

    More than one where either of two densities may be the law with the record, in one run: a leaf
    whose two laws no symmetry swaps, and whose query may move either way, gives both. Sums of it,
    of which each run may move its own way, are then refused.

    CurveAloneError where no pair is known.
    """
    raise CurveAloneError(type(node).__name__)


@products.register
def _(node: Gaussian) -> list[Product]:
    part = GaussianLoss(_square(node.sensitivity) / _square(node.sigma))
    return [Pair.of(part, node.kind)]


@products.register
def _(node: VectorLaplace) -> list[Product]:
    return _one(LaplaceLoss(node.pure))


@products.register
def _(node: LatticeNoise) -> list[Product]:
    return _one(IntegerLoss(node))


@products.register
def _(node: DiscreteGaussianSum) -> list[Product]:
    """One whole number, moved by as many as the sensitivity has."""
    if node.dimension > 1:
        raise AssumptionError(
            f"found {echo(node)}, needed dimension=1, for which the worst two laws are known",
            where="conversion exact",
            remedy="use conversion improved",
        )
    if (size := math.floor(node.sensitivity)) == 0:
        return [Pair(())]
    return _one(IntegerLoss(SummedNoise(node.sigma, node.parties, size)))


@products.register
def _(node: DiscreteLaplace) -> list[Product]:
    return _one(Atoms(node.masses, pure=node.sensitivity / node.b))


@products.register
def _(node: RandomizedResponse) -> list[Product]:
    return _one(_binary(node.p))


@products.register
def _(node: PureDP) -> list[Product]:
    return _of_pure(node.parameters()["epsilon"], Kind.EXACT)


@products.register
def _(node: ApproximateDP) -> list[Product]:
    """With probability δ it tells which law it is."""
    epsilon, delta = (node.parameters()[name] for name in ("epsilon", "delta"))
    p = 1 / (1 + sympy.exp(-expression(epsilon))) if epsilon else Fraction(1, 2)
    told = ((delta, Fraction(0)), (Fraction(0), delta))
    rest = (((1 - delta) * p, (1 - delta) * q) for p, q in _binary(p).masses)
    return _one(Atoms((*told, *rest)))


@products.register
def _(node: ExponentialMechanism) -> list[Product]:
    return [ThresholdFamily.of(bounded_range(node.pure))]


@products.register
def _(node: FiniteMechanism) -> list[Product]:
    return _any_of(node.pairs)


@products.register
def _(node: PermuteAndFlip) -> list[Product]:
    """Laplace noise has the largest of the profiles of two candidates."""
    return [ThresholdFamily.of(LaplaceLoss(node.pure))]


@products.register
def _(node: NoisyMax) -> list[Product]:
    return [Pair.of(LaplaceLoss(node.pure), Kind.UPPER)]


@products.register
def _(node: SparseVector) -> list[Product]:
    return _of_pure(node.pure, Kind.UPPER)


def _of_pure(pure: Exact, kind: Kind) -> list[Product]:
    """The pair that dominates every ε-DP mechanism."""
    p = 1 / (1 + sympy.exp(-expression(pure)))
    return [Pair.of(Atoms(_binary(p).masses, pure=pure), kind)]


@products.register
def _(node: DistributionPair) -> list[Product]:
    masses = node.masses
    if masses is None:
        known = noise(node.P, node.Q)
        return _densities(node) if known is None else products(known)
    return _any_of([role.masses or () for role in node.roles])


def _any_of(every: Sequence[Masses]) -> list[Product]:
    """Finite laws of which any pair may be that of the neighbours, in each run another."""
    pairs = tuple(map(Atoms, every))
    if len({frozenset(pair.laws) for pair in pairs}) == 1:
        return _one(pairs[0])
    return [FiniteFamily.of_pairs(every)]


def _densities(node: DistributionPair) -> list[Product]:
    """Two densities, either way round unless it is stated."""
    overlap = Overlap(*one_dimensional(node.P, node.Q))
    if overlap.P.kernel is None or overlap.Q.kernel is None or not overlap.has_one_support:
        raise AssumptionError(
            f"found {echo(node)}, needed finitely many outcomes, or two "
            "densities on the same part of the line",
            where="conversion exact",
            remedy="use conversion improved",
        )
    found = [DensityLoss(DensityPair(overlap))]
    if len(node.roles) == 1 and (ordered := normal_pair(found[0].pair)):
        return _one(ordered)
    if len(node.roles) > 1 and not found[0].symmetric:
        found.append(DensityLoss(found[0].pair.exchanged))
    return [product for part in found for product in _one(part)]


@products.register
def _(node: Compose) -> list[Product]:
    """Of parts of which only a curve is known one pair, beside all others."""
    counts, every = [], []
    alone: dict[Node, Count] = {}
    for part, count in node.terms.items():
        try:
            every.append(at_once(products(part)))
            counts.append(count)
        except AssumptionError as error:
            alone[part], unknown = count, error
    if alone and not every:
        raise unknown
    if alone:
        every.append(_by_curve(Compose(alone), unknown))
        counts.append(1)
    found = [composed(list(zip(way, counts, strict=True))) for way in joint_choices(node, every)]
    if sum(alone.values()) > 1:  # between which triangles may stand: no one pair is all of them
        return [product.unsmoothed for product in found]
    return found


def _by_curve(node: Node, unknown: AssumptionError) -> list[Product]:
    """A pair that all mechanisms of the node's curve have above them."""
    try:
        pair = pair_of_curve(node)
    except (InfiniteError, SoundnessError):  # it says nothing, or is a lower bound
        raise unknown from None
    return [BoundedPair.of_curve(pair, OF_A_CURVE)]


@products.register
def _(node: PoissonSubsample) -> list[Product]:
    """On all of the data a record replaced is one removed and one added."""
    if node.gamma == 1 and not node.is_one_step():
        return _replaced(node.mechanism)
    if not node.is_one_step() and (noise := one_gaussian(node)):
        return _one(noise.in_groups(node.gamma, 1, 1))
    if node.adjacency != node.read_adjacency and node.gamma != 0:
        raise AssumptionError(
            f"found {type(node).__name__} with adjacency {node.adjacency} of "
            f"{type(node.mechanism).__name__}, needed {node.read_adjacency}, or one Gaussian "
            "query, for which a dominating pair is known",
            where="conversion exact",
            remedy="use conversion improved",
        )
    return [product.sampled(node.gamma) for product in products(node.mechanism)]


def _replaced(mechanism: Node) -> list[Product]:
    """A record replaced on all of the data is a group of two of which one is removed, one added."""
    found = products(GroupPrivacy(mechanism, 2))
    both = [one for one in found if one.records and one.records[0] == one.records[1]]
    kind = Kind.EXACT if _is_of_noise(mechanism) else Kind.UPPER
    return [one.replaced(kind) for one in both or found]


def _is_of_noise(mechanism: Node) -> bool:
    """Is it noise, whose query any two records may move the opposite ways, or sums of such?"""
    if isinstance(mechanism, Compose):
        return all(map(_is_of_noise, mechanism.terms))
    if isinstance(mechanism, Mechanism) and mechanism.noise_scale:
        return all(one.kind is Kind.EXACT for one in products(mechanism))
    return one_gaussian(mechanism) is not None


@products.register
def _(node: SubsampleWithoutReplacement) -> list[Product]:
    """One sample of fixed size, the pair that dominates all of them where a record is replaced.

    A record added or removed is in the sample or another is in its place: Poisson's mixture.
    """
    if node.adjacency != node.read_adjacency:
        return [product.sampled(node.gamma) for product in products(node.mechanism)]
    found = of_one_run(products(node.mechanism))
    if not found.is_symmetric:
        raise AssumptionError(
            f"found {type(node.mechanism).__name__} on a sample of fixed size, "
            "needed two laws that a symmetry exchanges",
            where="conversion exact",
            remedy="use conversion improved",
        )
    if not found.runs or node.gamma in (0, 1):
        return [found.sampled(node.gamma)]
    part = found.part
    both_ways = part.fixed_size_pair(node.gamma)
    if both_ways is None:
        return [OneWay.of(part.sampled(node.gamma), found.kind)]
    if triangle := triangle_of(node):
        return [TriangleFamily(((both_ways, 1),), found.kind, corners=triangle)]
    return [Family.of(both_ways, found.kind)]


@products.register
def _(node: RandomAllocation) -> list[Product]:
    """One record in a run that is drawn: the mean of the ratios of all runs."""
    found = products(node.mechanism)
    return found if node.steps == 1 else [product.allocated(node.steps) for product in found]


@products.register
def _(node: GroupPrivacy) -> list[Product]:
    """Noise for as many times the sensitivity; on Poisson samples i records more, others less.

    Of records replaced as many are removed as are added: a bound, where fewer may be asked about.
    """
    if noise := one_gaussian(node.mechanism):
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
    return [Pair(found.runs, Kind.UPPER) for found in products(_for_group(node))]


def _removals(size: int) -> list[tuple[int, int]]:
    """How many records of a group are removed, at most half; of large groups from few to many.

    The pair of `size − few` and `many` dominates all between: a vector may be 0.
    """
    half = size // 2
    if size <= _EACH_WAY:
        return [(j, j) for j in range(half + 1)]
    ends = [half * i // _BLOCKS for i in range(_BLOCKS + 1)]
    return [(0, 0), *((few + 1, many) for few, many in itertools.pairwise(ends))]


def _for_group(node: GroupPrivacy) -> Node:
    """The mechanism whose pair is that of datasets `size` steps apart."""
    mechanism = node.mechanism
    if isinstance(mechanism, PureDP):
        return PureDP(node.size * mechanism.parameters()["epsilon"])
    noise = mechanism.for_group(node.size)
    if noise is None:
        raise AssumptionError(
            f"found GroupPrivacy of {type(mechanism).__name__}, needed noise "
            "or PureDP, or sums of them",
            where="conversion exact",
            remedy="use conversion improved for the bound from the curve",
        )
    return noise


@products.register
def _(node: Either) -> list[Product]:
    """The coin and what it chose: finite laws are one finite law, others are averaged."""
    return either(node, products)


def either(node: Either, of: Callable[[Node], list[Product]]) -> list[Product]:
    """The pairs of a coin between two mechanisms, by what is known of either."""
    if node.share in (0, 1):
        return of(node.first if node.share == 1 else node.second)
    ways = joint_choices(node, [of(node.first), of(node.second)])
    return [one.chosen(other, node.share) for one, other in ways]


@products.register
def _(node: Failing) -> list[Product]:
    delta = node.parameters()["delta"]
    return [found.failing(delta) for found in products(node.mechanism)]


@products.register
def _(node: PostProcess) -> list[Product]:
    return [found.as_bound() for found in products(node.mechanism)]


@products.register
def _(node: Convexify) -> list[Product]:
    return products(node.mechanism)


def _one(part: Part) -> list[Product]:
    return [Pair.of(part)]


def _binary(p: Exact) -> Atoms:
    """Randomized response: the first answer with probability p, or 1 − p."""
    return Atoms(((p, 1 - p), (1 - p, p)))


def _square(x: Exact) -> Exact:
    """x², a fraction wherever it is one."""
    return exact(x**2)
