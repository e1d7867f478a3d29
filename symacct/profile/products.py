"""Products of dominating pairs, and what composition and sampling make of them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symacct.analysis.worst_triangle import equilateral_order
from symacct.kernel.claims import Kind, combine
from symacct.kernel.errors import AssumptionError, echo
from symacct.kernel.exact import Exact
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose
from symacct.operations.either import Either
from symacct.profile.envelopes import adaptive, in_blocks
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.fixed_size import Equilateral
from symacct.profile.losses.mixed import MixedLoss
from symacct.profile.losses.noisy_sample import on_one_sample
from symacct.profile.losses.pointwise_maximum import PointwiseMaximum
from symacct.profile.losses.two_sided_exponential import TwoSidedExponential
from symacct.profile.part import Part, merged

_MOST_TRIANGLES = 8  # kinds of them, each of which takes part of a second


@dataclass(frozen=True)
class PairProduct:
    """Π (P_i, Q_i)^{k_i}; `kind` is EXACT where the mechanism has it, UPPER where it dominates.

    `one_way` where only the profile of (P, Q) at ε >= 0 is that of the mechanism; `of_many` where
    (P, Q) stands for many pairs, each of which has its profile at some ε: one run has it, several
    are dominated, and then it `may_exceed_curve`: what the Rényi curve tells may be more or less.
    `each_test` where every test of (P, Q) by a threshold is one of some of the pairs. `pairs` are
    these, where they are finitely many of finite laws; `triangle` is what dominates smoothly where
    they are triangles, and `smoothed` another product that dominates several runs.
    `records` are how many one dataset has that the other lacks, and lacks: the same in all runs.
    `of_curve` where one of the pairs is above all mechanisms of one Rényi curve.
    """

    runs: tuple[tuple[Part, int], ...]
    kind: Kind
    one_way: bool = False
    of_many: bool = False
    may_exceed_curve: bool = False
    each_test: bool = False
    pairs: tuple[Atoms, ...] = ()
    triangle: Equilateral | None = None
    smoothed: PairProduct | None = None
    records: tuple[int, int] | None = None
    of_curve: bool = False

    @property
    def tests(self) -> list[PairProduct]:
        """Products whose tests are those of the mechanism; [] where they are not known."""
        if self.each_test or not self.of_many:
            return [self]
        return [PairProduct(((pair, 1),), self.kind) for pair in self.pairs]


def kind_of(node: Node, found: Sequence[PairProduct]) -> Kind:
    """What the largest profile of the node's products is: a bound where they are of more records.

    An operation that is about one record reads the mechanism of a larger group as a bound.
    """
    kinds = [product.kind for product in found]
    size = node.claim.adjacency.group
    if any(sum(product.records or (size,)) != size for product in found):
        kinds.append(Kind.UPPER)
    return combine(kinds, "conversion exact")


def joint_choices(
    node: Compose | Either, every: Sequence[list[PairProduct]]
) -> Iterator[tuple[PairProduct, ...]]:
    """One product of each part, in all ways that two datasets can have.

    Groups differ by the same records in all parts. Where some parts are for smaller groups so is
    the node, and what holds of larger ones is a bound.
    """
    sizes = {sum(one.records) for found in every for one in found if one.records}
    if len(sizes) > 1:
        raise AssumptionError(
            f"found groups of {echo(min(sizes))} and of {echo(max(sizes))} "
            f"records in one {type(node).__name__}, needed groups of one size",
            where="conversion exact",
            remedy="use conversion improved",
        )
    kind = Kind.UPPER if sizes - {node.claim.adjacency.group} else Kind.EXACT
    for way in itertools.product(*every):
        if len({one.records for one in way if one.records}) <= 1:
            yield tuple(replace(one, kind=combine((one.kind, kind), "groups")) for one in way)


def either_product(one: PairProduct, other: PairProduct, share: Exact) -> PairProduct:
    first, second = (_chosen(product) for product in (one, other))
    kind = combine((one.kind, other.kind), "Either")
    of_many = one.of_many or other.of_many
    records = one.records or other.records
    of_curve = one.of_curve or other.of_curve
    ways = first.finite, second.finite
    if ways[0] is not None and ways[1] is not None:
        weighed = ((share, ways[0].laws), (1 - share, ways[1].laws))
        masses = tuple((s * p, s * q) for s, laws in weighed for p, q in laws)
        return PairProduct(((Atoms(masses), 1),), kind, of_many=of_many, of_curve=of_curve)
    told, one_way = ((MixedLoss(first, second, share), 1),), one.one_way or other.one_way
    return PairProduct(told, kind, one_way, of_many, records=records, of_curve=of_curve)


def _chosen(product: PairProduct) -> Part:
    """One run of one mechanism, or none."""
    if not product.runs:
        return Atoms(((Fraction(1), Fraction(1)),))
    part = one_part(product)
    if not part.may_be_chosen:
        raise AssumptionError(
            "found noise on whole numbers, or several mechanisms, in Either, "
            "needed one of continuous noise, or finite laws",
            where="conversion exact",
            remedy="use conversion improved",
        )
    return part


def failing_product(product: PairProduct, delta: Exact) -> PairProduct:
    """All of the runs, and beside them an outcome that tells which law it is with probability δ.

    Where that is told, what the runs tell is nothing more.
    """
    zero = Fraction(0)
    telling = Atoms(((delta, zero), (zero, delta), (1 - delta, 1 - delta)))
    runs = (*product.runs, (telling, 1))
    return replace(product, runs=runs, each_test=False, pairs=(), triangle=None, smoothed=None)


def product_of_runs(choice: Iterable[tuple[PairProduct, int]]) -> PairProduct:
    """All runs side by side, those that are one loss as one."""
    counts: Counter[Part] = Counter()
    kinds, records, of_curve = [], None, False
    for product, times in choice:
        kinds.append(product.kind)
        of_curve |= product.of_curve
        records = records or product.records
        for part, count in product.runs:
            counts[part] += times * count
    runs = merged(tuple(counts.items()), lambda kind, own: kind.joined(own))
    return PairProduct(tuple(runs), combine(kinds, "Compose"), records=records, of_curve=of_curve)


def allocated(product: PairProduct, steps: int) -> PairProduct:
    """The mean over the runs of the laws with the record in one of them, against none.

    What dominates one run may stand for each, chosen by what was told before or not
    (docs/proofs.md, section 30).
    """
    if not product.runs:
        return product
    kind = Kind.UPPER if product.of_many else product.kind
    return PairProduct(((one_part(product).allocated(steps), 1),), kind)


def sampled_once(product: PairProduct, gamma: Exact) -> PairProduct:
    """One mixture (1−γ)Q + γP against Q, of the product pair (P, Q)."""
    if gamma == 0 or not product.runs:
        return PairProduct((), product.kind)
    if gamma == 1:
        return product
    pairs = tuple(pair.sampled(gamma) for pair in product.pairs)
    runs = ((one_part(product).sampled(gamma), 1),)
    return replace(product, runs=runs, pairs=pairs, triangle=None, smoothed=None)


def product_of_many_pairs(choice: Sequence[tuple[PairProduct, int]]) -> PairProduct:
    """What stands for many pairs dominates them one by one, and so all of them together.

    One run of these has its profile beside all others: it may come last, its pair chosen by what
    they told. Several have that of the worst choices where these can be gone through.
    """
    found = product_of_runs(choice)
    many = [(product, times) for product, times in choice if product.of_many]
    if many and any(product.one_way for product, _ in choice):
        raise AssumptionError(
            "found several runs with samples of fixed size and "
            "densities, needed one run, or noise or finite laws",
            where="conversion exact",
            remedy="use conversion improved",
        )
    if sum(times for _, times in many) < 2:
        may_exceed_curve = any(product.may_exceed_curve for product, _ in choice)
        return replace(found, of_many=bool(many), may_exceed_curve=may_exceed_curve)
    kinds: Counter[Collection[Collection[Any]]] = Counter()
    for product, times in many:  # the same laws written the other way round are one kind
        kinds[frozenset(frozenset(pair.laws) for pair in product.pairs)] += times
    others = [(product, times) for product, times in choice if not product.pairs]
    chosen = adaptive(kinds)
    if chosen is not None:
        worst = PairProduct(((Atoms(chosen), 1),), found.kind)
        return replace(product_of_runs([*others, (worst, 1)]), of_many=True)
    blocks = [block for kind, times in kinds.items() if kind for block in in_blocks(kind, times)]
    runs = [(PairProduct(((Atoms(tuple(pair)), 1),), Kind.UPPER), times) for pair, times in blocks]
    every = product_of_runs([*others, *runs])
    smooth = _smoothed(choice)
    return replace(every, kind=Kind.UPPER, of_many=True, may_exceed_curve=True, smoothed=smooth)


def _smoothed(choice: Sequence[tuple[PairProduct, int]]) -> PairProduct | None:
    """By triangles that are the worst for functions as smooth as what stands beside them makes all.

    For many kinds of triangles these would be long looked for.
    """
    if sum(product.triangle is not None for product, _ in choice) > _MOST_TRIANGLES:
        return None
    known, others, orders = [], [], []
    for product, times in choice:
        triangle = product.triangle
        order = triangle and equilateral_order(triangle.gamma, triangle.delta)
        if triangle and order:
            known.append((PairProduct(((triangle, 1),), Kind.UPPER), times))
            orders.append(order)
        else:
            others.append((product, times))
    if not orders:
        return None
    found = product_of_many_pairs([*known, *others])
    smoothing = TwoSidedExponential(min(orders))
    return replace(found, runs=(*found.runs, (smoothing, 1)), kind=Kind.UPPER)


def at_once(found: list[PairProduct]) -> list[PairProduct]:
    """One pair of each run, but for groups, whose records are the same in all runs."""
    return found if len(found) == 1 or found[0].records else [of_one_run(found)]


def of_one_run(found: list[PairProduct]) -> PairProduct:
    """The pair that has the largest of their profiles, each of one run."""
    if len(found) == 1:
        return found[0]
    if found[0].records:
        raise AssumptionError(
            "found groups of records on Poisson samples that are sampled "
            "again, needed these samples themselves",
            where="conversion exact",
            remedy="use conversion improved",
        )
    largest = PointwiseMaximum(frozenset(one_part(product) for product in found))
    kind = combine((product.kind for product in found), "several pairs")
    return PairProduct(((largest, 1),), kind, any(x.one_way for x in found), of_many=True)


def one_part(product: PairProduct) -> Part:
    """One part for several run on one sample: finite laws have finite products."""
    if len(product.runs) == 1 and product.runs[0][1] == 1:
        return product.runs[0][0]
    finite = [(own, count) for part, count in product.runs if (own := part.finite) is not None]
    if len(finite) == len(product.runs):
        return Atoms.joint(finite)
    return on_one_sample(product.runs, Fraction(1))
