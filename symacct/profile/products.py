"""Products of dominating pairs: what they stand for, and what may be done with them.

A product's type says what it is: a `Pair` dominates alone, and a `Family` is the worst of several
pairs, each of which has its profile at some ε. Operations on mechanisms are methods, which give the
type that is left, and with it the kind: EXACT where the mechanism has the product's profile, UPPER
where it is dominated.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from symacct.kernel.claims import Kind, Proof, combine
from symacct.kernel.errors import echo
from symacct.kernel.exact import Exact, LazyModule
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose
from symacct.operations.either import Either
from symacct.profile.envelopes import adaptive, envelope, in_blocks
from symacct.profile.losses.finite import Atoms, Masses
from symacct.profile.part import Part, Runs, merged, no_pair
from symacct.profile.solve import CompositionProfile

if TYPE_CHECKING:
    from symacct.analysis import worst_triangle
    from symacct.profile.losses import mixed, noisy_sample, pointwise_maximum
    from symacct.profile.losses import two_sided_exponential as two_sided
    from symacct.profile.losses.fixed_size import Equilateral
else:  # losses of several products together, which most questions have no use for
    worst_triangle = LazyModule("symacct.analysis.worst_triangle")
    mixed, noisy_sample, pointwise_maximum, two_sided = (
        LazyModule(f"symacct.profile.losses.{file}")
        for file in ("mixed", "noisy_sample", "pointwise_maximum", "two_sided_exponential")
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
