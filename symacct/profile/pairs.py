"""Products of dominating pairs: what they stand for, what is done with them, and a node's own.

A product's type says what it is: a `Pair` dominates alone, and a `Family` is the worst of several
pairs, each of which has its profile at some ε. Operations on mechanisms are methods, which give the
type that is left, and with it the kind: EXACT where the mechanism has the product's profile, UPPER
where it is dominated.

`products` is asked of nodes, `products_of` of the laws that a leaf declares. Both refuse by an
AssumptionError what no pair is known for; CurveAloneError is one of these.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, Any, ClassVar, Self

from symacct.kernel.claims import ADD_REMOVE, REPLACE_ONE, Kind, Proof, combine
from symacct.kernel.errors import (
    AssumptionError,
    CurveAloneError,
    InfiniteError,
    SoundnessError,
    echo,
)
from symacct.kernel.exact import Exact, LazyModule
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
from symacct.profile.envelopes import adaptive, envelope, in_blocks
from symacct.profile.losses.finite import Atoms, Masses
from symacct.profile.part import Part, Runs, loss_of, merged, no_pair
from symacct.profile.proofs import OF_A_CURVE
from symacct.profile.solve import CompositionProfile

if TYPE_CHECKING:
    from symacct.analysis import worst_triangle
    from symacct.profile import curve_pair
    from symacct.profile.losses import fixed_size, mixed, noisy_sample, pointwise_maximum, zeroed
    from symacct.profile.losses import shuffled as shuffled_answers
    from symacct.profile.losses import two_sided_exponential as two_sided
    from symacct.profile.losses.fixed_size import Equilateral
else:  # of which most questions ask none
    worst_triangle = LazyModule("symacct.analysis.worst_triangle")
    curve_pair = LazyModule("symacct.profile.curve_pair")
    fixed_size, mixed, noisy_sample, pointwise_maximum, shuffled_answers, two_sided, zeroed = (
        LazyModule(f"symacct.profile.losses.{file}")
        for file in (
            *("fixed_size", "mixed", "noisy_sample", "pointwise_maximum", "shuffled"),
            *("two_sided_exponential", "zeroed"),
        )
    )

#: Triangles beside a composition are of at most so many kinds: each takes part of a second to find.
_MOST_TRIANGLES = 8

# --- types of products


@dataclass(frozen=True)
class Product:
    """A product Π (P_i, Q_i)^{k_i} has the profile of some neighbours, or one that bounds it.

    `records` counts the records that the first dataset has beyond the second, and the other way
    round: the same in all runs, or None where the product is for whatever neighbours there are.
    `proofs` are those that a product rests on besides those of its losses. No runs have δ = 0.
    """

    runs: Runs
    kind: Kind = Kind.EXACT
    records: tuple[int, int] | None = None
    proofs: tuple[Proof, ...] = ()

    #: May Rényi orders prove a smaller number?
    may_exceed_curve: ClassVar[bool] = False
    #: Has a record the same pair, in the same direction, whatever it is?
    has_fixed_pair: ClassVar[bool] = True

    @classmethod
    def of(cls, part: Part, kind: Kind = Kind.EXACT) -> Self:
        """Make the product of one run of a loss."""
        return cls(((part, 1),), kind)

    @classmethod
    def side_by_side(cls, choice: Iterable[tuple[Product, int]]) -> Self:
        """Compose all runs of products, losses of one class joined where their class can."""
        counts: Counter[Part] = Counter()
        kinds, records = [], None
        proofs: dict[Proof, None] = {}
        for product, times in choice:
            kinds.append(product.kind)
            records = records or product.records
            proofs |= dict.fromkeys(product.proofs)
            for part, count in product.runs:
                counts[part] += times * count
        runs = merged(tuple(counts.items()), lambda kind, same_class: kind.joined(same_class))
        return cls(tuple(runs), combine(kinds, "Compose"), records, tuple(proofs))

    # --- what is asked of it

    @property
    def part(self) -> Part:
        """Return one loss for the whole product, which one sample or one coin is asked of.

        Finite laws have finite products, LimitError where these have too many outcomes.
        """
        if len(self.runs) == 1 and self.runs[0][1] == 1:
            return self.runs[0][0]
        finite = [(atoms, count) for part, count in self.runs if (atoms := part.finite) is not None]
        if len(finite) == len(self.runs):
            return Atoms.joint(finite)
        return noisy_sample.on_shared_sample(self.runs, Fraction(1))

    @property
    def is_symmetric(self) -> bool:
        """Is every loss one whose two laws a symmetry exchanges? Then so is the profile's."""
        return all(part.symmetric for part, _ in self.runs)

    @property
    def directions(self) -> list[CompositionProfile]:
        """Make the profile in both directions, or in one where a symmetry makes them equal.

        Each has no contour yet; the second one shares those that the first sums.
        """
        if self.is_symmetric:
            return [CompositionProfile(self.runs, False)]
        first = CompositionProfile(self.runs, False, two_ways=True)
        return [first, CompositionProfile(self.runs, True, first)]

    @property
    def size(self) -> int | None:
        """The number of records by which the datasets differ; None for whatever neighbours."""
        return None if self.records is None else sum(self.records)

    @property
    def is_attained(self) -> bool:
        """Have some neighbours this profile in all runs? Then a bound below it is below theirs."""
        return False

    @property
    def tests(self) -> list[Product]:
        """Products whose tests are those of the mechanism; [] where they are not known."""
        return []

    @property
    def smoothed(self) -> Product | None:
        """Another product that dominates, smaller at some ε or not; None where there is none."""
        return None

    @property
    def unsmoothed(self) -> Product:
        """The product without a smoothed one beside it."""
        return self

    @property
    def triangle(self) -> Equilateral | None:
        """The triangle that dominates it beside smooth functions; None where none is known."""
        return None

    @property
    def choices(self) -> Collection[Collection[Any]]:
        """Return the laws of its pairs, if these are finitely many pairs of finite laws.

        Two pairs with the same laws in another order are one collection.
        """
        return frozenset()

    def as_bound(self) -> Self:
        """Return the product as one that dominates the mechanism, of kind UPPER."""
        return replace(self, kind=combine((self.kind, Kind.UPPER), "a bound"))

    def replaced(self, kind: Kind) -> Self:
        """Read the product of a group of two as that of a record replaced, of this kind."""
        return replace(self, kind=kind, records=None)

    # --- what operations make of it

    def sampled(self, gamma: Exact) -> Product:
        """Sample the product pair (P, Q) as one loss: (1−γ)Q + γP against Q.

        No run is left at γ = 0, and γ = 1 changes nothing.
        """
        if gamma == 0 or not self.runs:
            return Pair((), self.kind)
        return self if gamma == 1 else self._mixed(gamma)

    def _mixed(self, gamma: Exact) -> Product:
        """Sample the product pair at a rate 0 < γ < 1."""
        return replace(self, runs=((self.part.sampled(gamma), 1),))

    def beside(self, part: Part) -> Product:
        """Compose all of the runs with one run of another loss."""
        return replace(self, runs=(*self.runs, (part, 1)))

    # Proved in docs/proofs/conversions.md, Lemma failing-pair.
    def failing(self, delta: Exact) -> Product:
        """Compose all of the runs with an outcome that reveals the law with probability δ.

        Where the law is revealed, the runs reveal nothing more.
        """
        zero = Fraction(0)
        return self.beside(Atoms(((delta, zero), (zero, delta), (1 - delta, 1 - delta))))

    def allocated(self, steps: int) -> Product:
        """Average over the runs the laws with the record in one of them, against none.

        What dominates one run may stand for each, chosen by earlier outputs or not
        (docs/proofs/allocations.md, Lemma allocation-pair).
        """
        kind_of_product = BoundedPair if self.may_exceed_curve else Pair
        return kind_of_product.of(self.part.allocated(steps), self.kind) if self.runs else self

    def chosen(self, other: Product, share: Exact) -> Product:
        """Mix one run of this, with probability `share`, and one of the other; the coin is seen.

        0 < share < 1. AssumptionError for a loss that Either can't take.
        """
        first, second = self._may_be_chosen, other._may_be_chosen
        ways = first.finite, second.finite
        if ways[0] is not None and ways[1] is not None:
            weighed = ((share, ways[0].laws), (1 - share, ways[1].laws))
            loss: Part = Atoms(tuple((s * p, s * q) for s, laws in weighed for p, q in laws))
        else:
            loss = mixed.MixedLoss(first, second, share)
        kind, proofs = combine((self.kind, other.kind), "Either"), (*self.proofs, *other.proofs)
        kind_of_product = _widest([self, other])
        records = self.records or other.records
        return kind_of_product(((loss, 1),), kind, records, tuple(dict.fromkeys(proofs)))

    @property
    def _may_be_chosen(self) -> Part:
        """Return the loss of one run, or of none; AssumptionError where Either can't take it."""
        if not self.runs:
            return Atoms(((Fraction(1), Fraction(1)),))
        part = self.part
        if not part.may_be_chosen:
            raise no_pair(
                "found noise on whole numbers, or several mechanisms, in Either, "
                "needed one of continuous noise, or finite laws"
            )
        return part

    @property
    def _single_loss_type(self) -> type[Product]:
        """The type of product that one loss has which is made of this and other products."""
        return Pair


class Pair(Product):
    """A pair dominates all neighbours' pairs at once, in either direction, in all of the runs."""

    @property
    def is_attained(self) -> bool:
        """Is the profile of the pair that of the mechanism, and not only above it?"""
        return self.kind is Kind.EXACT

    @property
    def tests(self) -> list[Product]:
        """The pair itself: its tests are the mechanism's."""
        return [self]


class BoundedPair(Pair):
    """A bounded pair is made of bounds at some ε, so that the Rényi curve may know more or less."""

    may_exceed_curve = True

    @classmethod
    def of_curve(cls, part: Part, proof: Proof) -> BoundedPair:
        """Make the bounded pair of a loss that is above all mechanisms of one Rényi curve."""
        return cls(((part, 1),), Kind.UPPER, proofs=(proof,))


class Family(Product):
    """A family is the worst of many pairs, and has at each ε the profile of one of them.

    That is so in one run. Of several runs it is a bound, and a test of it is not one of any pair.
    """

    @property
    def _single_loss_type(self) -> type[Product]:
        """Return the type of product that one loss of a family has: a plain family."""
        return Family

    def allocated(self, steps: int) -> Product:
        """Average over the runs, as a bound: the pairs of the runs may be different ones."""
        return super().allocated(steps).as_bound() if self.runs else self


class ThresholdFamily(Family):
    """A threshold family has no test by a threshold that is not one of some of its pairs."""

    @property
    def tests(self) -> list[Product]:
        """The family itself: each of its tests is a test of some pair."""
        return [self]

    def beside(self, part: Part) -> Product:
        """Compose with another loss, as a plain family: what is told beside is no threshold."""
        return Family(*_fields(self)).beside(part)


@dataclass(frozen=True)
class FiniteFamily(Family):
    """A finite family is the worst of finitely many finite pairs, whose runs can be enumerated."""

    pairs: tuple[Atoms, ...] = ()

    has_fixed_pair = False

    @property
    def tests(self) -> list[Product]:
        """Each of the pairs."""
        return [Pair.of(pair, self.kind) for pair in self.pairs]

    @property
    def choices(self) -> Collection[Collection[Any]]:
        """Return the laws of each pair."""
        return frozenset(frozenset(pair.laws) for pair in self.pairs)

    def _mixed(self, gamma: Exact) -> Product:
        """Sample the envelope, and each pair besides."""
        pairs = tuple(pair.sampled(gamma) for pair in self.pairs)
        return replace(self, runs=((self.part.sampled(gamma), 1),), pairs=pairs)

    def beside(self, part: Part) -> Product:
        """Compose with another loss, as a plain family: the pairs are no longer all there is."""
        return Family(*_fields(self)).beside(part)


@dataclass(frozen=True)
class TriangleFamily(Family):
    """A triangle family is a sample of fixed size, of which a pair of three means may be known.

    `corners`, their loss, dominates the sample beside functions that are smooth enough
    (`Product.smoothed`); None where none is known.
    """

    corners: Equilateral | None = None

    @property
    def triangle(self) -> Equilateral | None:
        """Return the corners of the triangle."""
        return self.corners

    def _mixed(self, gamma: Exact) -> Product:
        """Sample the pair without its triangle, which is known of the sample itself alone."""
        return Family(*_fields(self))._mixed(gamma)

    def beside(self, part: Part) -> Product:
        """Compose with another loss, without the triangle: what is told beside is not smooth."""
        return Family(*_fields(self)).beside(part)


class OneWay(Family):
    """A one-way pair has the profile of the mechanism at ε >= 0 alone, and not exchanged.

    Several runs of it are refused, as nothing is known to dominate them.
    """

    @property
    def directions(self) -> list[CompositionProfile]:
        """Make the profile of P against Q alone."""
        return [CompositionProfile(self.runs, False)]

    @property
    def _single_loss_type(self) -> type[Product]:
        """Return the type of product that one loss of one direction has."""
        return OneWay


@dataclass(frozen=True)
class ChosenRuns(Family):
    """Chosen runs have pairs that depend on earlier outputs, and are dominated together.

    The curve may know more. `smooth` is another product that dominates them.
    """

    smooth: Product | None = None

    may_exceed_curve = True

    @property
    def smoothed(self) -> Product | None:
        """Return the smoothed product, which dominates as well; None for none."""
        return self.smooth

    @property
    def unsmoothed(self) -> Product:
        """Return the product without the smoothed one beside it."""
        return replace(self, smooth=None)

    def _mixed(self, gamma: Exact) -> Product:
        """Sample the loss of one run at a rate; no smoothed product is then known."""
        return replace(self, runs=((self.part.sampled(gamma), 1),), smooth=None)

    def beside(self, part: Part) -> Product:
        """Compose with another loss, without the smooth product: that dominates no such runs."""
        return replace(self, runs=(*self.runs, (part, 1)), smooth=None)


class BoundedOneWay(OneWay):
    """A bounded one-way pair is made of bounds at some ε, so that the curve may know more."""

    may_exceed_curve = True


#: One loss that is made of several products has the last of these types that one of them asks for.
_WIDER: list[type[Product]] = [Pair, Family, OneWay]
#: The types in their place if one of the products may exceed the curve: else bounds would be exact.
_BOUNDED: dict[type[Product], type[Product]] = {
    Pair: BoundedPair,
    Family: ChosenRuns,
    OneWay: BoundedOneWay,
}
#: Runs side by side have a type by two facts: a family is among them, one may exceed the curve.
_SIDE_BY_SIDE: dict[tuple[bool, bool], type[Product]] = {
    (False, False): Pair,
    (False, True): BoundedPair,
    (True, False): Family,
    (True, True): ChosenRuns,
}


def _widest(products: Sequence[Product], least: type[Product] = Pair) -> type[Product]:
    """Return the type of one loss that is made of these products, at least as wide as `least`."""
    types = [least, *(product._single_loss_type for product in products)]
    widest = max(types, key=_WIDER.index)
    may_exceed_curve = any(product.may_exceed_curve for product in products)
    return _BOUNDED[widest] if may_exceed_curve else widest


def _fields(product: Product) -> tuple[Runs, Kind, tuple[int, int] | None, tuple[Proof, ...]]:
    """Return the fields that every product has, to make another type of it."""
    return product.runs, product.kind, product.records, product.proofs


# --- several products


# Proved in docs/proofs/pairs.md, Lemma either-way.
def any_of(every: Collection[Masses]) -> Product:
    """Make the product of neighbours with any of these finite pairs, in each run another."""
    pairs = tuple(map(Atoms, every))
    if len({frozenset(pair.laws) for pair in pairs}) == 1:
        return Pair.of(pairs[0])
    return FiniteFamily(((Atoms(envelope(every)), 1),), pairs=pairs)


# Proved in docs/proofs/pairs.md, Lemma attained-products.
def kind_of(node: Node, products: Sequence[Product]) -> Kind:
    """Return the kind of a node's largest profile, of kinds that are combined.

    It is UPPER where a product is for a larger group than the node's neighbours differ by.
    """
    kinds = [product.kind for product in products]
    if any(product.size not in (None, node.claim.adjacency.group) for product in products):
        kinds.append(Kind.UPPER)
    return combine(kinds, "conversion exact")


def joint_choices(
    node: Compose | Either, every: Sequence[list[Product]]
) -> Iterator[tuple[Product, ...]]:
    """Choose one product of each part, in all ways that two datasets can have.

    Groups differ by the same records in all parts; AssumptionError where their sizes are different.
    Where the node is about a smaller group, the products are taken as bounds.
    """
    sizes = {product.size for products in every for product in products if product.size is not None}
    if len(sizes) > 1:
        raise no_pair(
            f"found groups of {echo(min(sizes))} and of {echo(max(sizes))} "
            f"records in one {type(node).__name__}, needed groups of one size"
        )
    is_larger = bool(sizes - {node.claim.adjacency.group})
    for way in itertools.product(*every):
        if share_group(way):
            yield tuple(product.as_bound() for product in way) if is_larger else way


def share_group(way: Iterable[Product]) -> bool:
    """Decide whether one group of records may be that of every product, where it is for a group."""
    return len({product.records for product in way if product.records}) <= 1


# Proved in docs/proofs/pairs.md, Lemma adaptive-composition.
def composed(choice: Sequence[tuple[Product, int]]) -> Product:
    """Compose products, each with its count, into one that dominates all runs.

    With one run of a family at most, the product is exact where its factors are: that run may come
    last. Several runs have the profile of the worst choices where these can be enumerated, and else
    are UPPER. AssumptionError for a `OneWay`.
    """
    if any(isinstance(product, OneWay) for product, _ in choice):
        raise no_pair(
            "found several runs with samples of fixed size and "
            "densities, needed one run, or noise or finite laws"
        )
    families = [(product, times) for product, times in choice if isinstance(product, Family)]
    if sum(times for _, times in families) < 2:
        may_exceed_curve = any(product.may_exceed_curve for product, _ in choice)
        return _SIDE_BY_SIDE[bool(families), may_exceed_curve].side_by_side(choice)
    kinds: Counter[Collection[Collection[Any]]] = Counter()
    for product, times in families:
        kinds[product.choices] += times
    others = [(product, times) for product, times in choice if not product.choices]
    chosen = adaptive(kinds)
    if chosen is not None:
        kind = combine((product.kind for product, _ in families), "Compose")
        return Family.side_by_side([*others, (Pair.of(Atoms(chosen), kind), 1)])
    blocks = [block for kind, times in kinds.items() if kind for block in in_blocks(kind, times)]
    runs = [(Pair.of(Atoms(tuple(pair)), Kind.UPPER), times) for pair, times in blocks]
    every = ChosenRuns.side_by_side([*others, *runs]).as_bound()
    return replace(every, smooth=_smoothed(choice))


def _smoothed(choice: Sequence[tuple[Product, int]]) -> Product | None:
    """Compose with triangles, the worst for functions as smooth as what stands beside them.

    None where no triangle of a proved order is known, or for more than `_MOST_TRIANGLES` of them.
    """
    if sum(product.triangle is not None for product, _ in choice) > _MOST_TRIANGLES:
        return None
    known, others, orders = [], [], []
    for product, times in choice:
        triangle = product.triangle
        order = triangle and worst_triangle.equilateral_order(triangle.gamma, triangle.delta)
        if triangle and order:
            known.append((Pair.of(triangle, Kind.UPPER), times))
            orders.append(order)
        else:
            others.append((product, times))
    if not orders:
        return None
    return composed([*known, *others]).beside(two_sided.TwoSidedExponential(min(orders))).as_bound()


def pairs_of_each_run(products: list[Product]) -> list[Product]:
    """Reduce products to one that dominates each run; keep those of groups, alike in all runs."""
    return products if len(products) == 1 or products[0].records else [maximal_product(products)]


def maximal_product(products: list[Product]) -> Product:
    """Make one product of one run whose profile is the largest of these, a family of several.

    AssumptionError for several products of groups.
    """
    if len(products) == 1:
        return products[0]
    if products[0].records:
        raise no_pair(
            "found groups of records on Poisson samples that are sampled "
            "again, needed these samples themselves"
        )
    largest = pointwise_maximum.largest_of(frozenset(product.part for product in products))
    kind = combine((product.kind for product in products), "several pairs")
    return _widest(products, Family).of(largest, kind)


# --- the products of a node
#
# Those of an operation follow from those of its mechanisms.

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
    if node.gamma == 1 and not node._is_one_step():
        return _replaced(node.mechanism)
    if not node._is_one_step() and (noise := gaussian_query_noise(node)):
        return [Pair.of(noise.in_groups(node.gamma, 1, 1))]
    if not node._is_one_step() and node.gamma != 0:
        raise no_pair(
            f"found {type(node).__name__} with adjacency {node.adjacency} of "
            f"{type(node.mechanism).__name__}, needed {node._read_adjacency}, or one Gaussian "
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
    if not node._is_one_step() and node.gamma not in (0, 1):
        return [_zeroed(node)]
    if node.adjacency == ADD_REMOVE or not node._is_one_step():
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
