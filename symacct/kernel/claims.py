"""What is claimed about a curve, the rule that infers it, and what attains the curve."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from symacct.kernel.errors import AdjacencyError, DomainError, SoundnessError, echo
from symacct.kernel.exact import INFINITY, Order, is_real

# --- claims


class Kind(Enum):
    """Whether a curve or a number is exact, an upper bound or a lower bound.

    `exact`: the largest value over everything that fits the description, and it is attained.
    `upper`: at least the truth. `lower`: at most the truth. `neither`: an approximation that bounds
    nothing; no curve and no theorem is of this kind.

    >>> from symacct import Gaussian
    >>> print(Gaussian(5).claim.kind)
    exact
    """

    EXACT = "exact"
    UPPER = "upper"
    LOWER = "lower"
    NEITHER = "neither"

    # Each is one object; Enum's own, by name, is a call in Python at every look into a table.
    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value


def combine(kinds: Iterable[Kind], subject: str) -> Kind:
    """The kind of a sum of curves: exact if all are, else upper or lower.

    Raises SoundnessError for an upper bound together with a lower one, and for an approximation.
    """
    distinct = set(kinds)
    if Kind.NEITHER in distinct:
        raise SoundnessError(
            f"{subject}: found an approximation, which bounds nothing; "
            "needed an exact, an upper or a lower curve"
        )
    if {Kind.UPPER, Kind.LOWER} <= distinct:
        raise SoundnessError(
            f"{subject}: found an upper bound together with a lower one, which bounds nothing; "
            "needed all upper (or exact) or all lower (or exact)"
        )
    return next((kind for kind in (Kind.UPPER, Kind.LOWER) if kind in distinct), Kind.EXACT)


class Relation(Enum):
    """A relation of the field between neighbouring datasets; `EITHER` leaves open which.

    Of add/remove neighbours one has a record that the other lacks; replace-one neighbours differ in
    one record, and have as many. Zero-out neighbours have as many places for records, a public
    number, and in one place one of them has a record where the other has nothing.
    """

    #: The relation that is left open: what is claimed holds for any.
    EITHER = "either"
    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"
    ZERO_OUT = "zero_out"


@dataclass(frozen=True)
class Adjacency:
    """A relation between neighbouring datasets, applied up to `group` >= 1 times.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> print(PoissonSubsample(Gaussian(5), "1/1000").claim.adjacency)
    add_remove
    """

    relation: Relation = Relation.EITHER
    group: int = 1

    def __str__(self) -> str:
        suffix = f", groups of {self.group}" if self.group > 1 else ""
        return self.relation.value + suffix

    def meet(self, other: Adjacency, what: str) -> Adjacency:
        """The pairs of datasets that belong to both relations.

        A curve for groups also holds for smaller groups. Groups of 2 under add/remove contain every
        replace-one pair, which is one removal and one addition, and so do groups of 2 under
        zero-out, where the place is empty in between (docs/proofs/directions.md, Lemma two-steps).
        Raises AdjacencyError, about `what`, if the relations have no pair in common.
        """
        if self == other:
            return self
        group = min(self.group, other.group)
        relations = {self.relation, other.relation} - {Relation.EITHER}
        if len(relations) < 2:
            return Adjacency(next(iter(relations), Relation.EITHER), group)
        by_relation = {side.relation: side for side in (self, other)}
        replaced = by_relation.pop(Relation.REPLACE_ONE, None)
        names = " and ".join(sorted(side.relation.value for side in (self, other)))
        remedy = (
            "name one relation in all parts: a part that reads no number of "
            "records costs the same under both"
        )
        if replaced is not None:
            (absent,) = by_relation.values()
            if absent.group >= 2:
                return Adjacency(Relation.REPLACE_ONE, min(absent.group // 2, replaced.group))
            remedy = (
                f"GroupPrivacy(m, 2) turns an {absent.relation.value} curve into one that covers "
                "replace_one"
            )
        raise AdjacencyError(
            f"{what}: found {names} together, needed one neighbouring relation", remedy=remedy
        )


def common_adjacency(adjacencies: Iterable[Adjacency], what: str) -> Adjacency:
    """The pairs of datasets that belong to all of the relations, in whatever order they come.

    AdjacencyError, about `what`, if they have no pair in common.
    """
    # What leaves the relation open comes last: the others say for which one it is read. A record
    # replaced comes first: groups of either other relation cover it, and not each other.
    ranks = {Relation.REPLACE_ONE: 0, Relation.EITHER: 2}
    ordered = sorted(adjacencies, key=lambda one: ranks.get(one.relation, 1))
    return reduce(lambda met, other: met.meet(other, what), ordered, ordered[0])


#: The relation that is left open, whose claims hold for any, and the three that have a name.
EITHER = Adjacency()
ADD_REMOVE = Adjacency(Relation.ADD_REMOVE)
REPLACE_ONE = Adjacency(Relation.REPLACE_ONE)
ZERO_OUT = Adjacency(Relation.ZERO_OUT)
#: The relations that the records of a sample may differ by, where each has to be named.
NAMED = (ADD_REMOVE, REPLACE_ONE, ZERO_OUT)


def adjacency(value: object) -> Adjacency:
    """The Adjacency a user named: "add_remove", "replace_one", "zero_out" or "either".

    The field's other signs are read as well: "add/remove", "add-or-remove", "replace-one".
    DomainError for others.
    """
    if isinstance(value, Adjacency):
        return value
    name = re.sub("[-/ ]", "_", value) if isinstance(value, str) else ""
    relation = _RELATIONS.get(name) if isinstance(value, str) else value
    if not isinstance(relation, Relation):
        raise DomainError(
            f"adjacency: found {echo(value)}, needed 'add_remove', 'replace_one', 'zero_out' or "
            "'either'"
        )
    return Adjacency(relation)


def of_one_record(value: object, where: str) -> Adjacency:
    """The Adjacency a user named, where one dataset has the record and the other has none.

    AdjacencyError, which says `where`, for one that is not "add_remove" or "zero_out".
    """
    named = adjacency(value)
    if named not in (ADD_REMOVE, ZERO_OUT):
        raise AdjacencyError(f"{where}: found adjacency {named}, needed 'add_remove' or 'zero_out'")
    return named


#: Each relation by its name, and by another one that users write.
_RELATIONS = {one.value: one for one in Relation} | {"add_or_remove": Relation.ADD_REMOVE}


def with_relation(stated: Adjacency, value: object) -> Adjacency:
    """The adjacency `stated`, with the relation that `value` names where it leaves that open.

    Raises AdjacencyError where `stated` has another relation.
    """
    relation = adjacency(value).relation
    if Relation.EITHER in (stated.relation, relation) or stated.relation is relation:
        return stated if relation is Relation.EITHER else replace(stated, relation=relation)
    raise AdjacencyError(
        f"adjacency: found {relation.value}, needed {stated}, which the expression is about",
        remedy=(
            "name another relation in the expression itself, as in PoissonSubsample(Gaussian(5), "
            "'1/100', adjacency='replace_one')"
        ),
    )


def kind(value: object) -> Kind:
    """The Kind a user named: "exact", "upper" or "lower"; DomainError for others."""
    for candidate in (Kind.EXACT, Kind.UPPER, Kind.LOWER):
        if value is candidate or (isinstance(value, str) and value == candidate.value):
            return candidate
    raise DomainError(f"kind: found {echo(value)}, needed 'exact', 'upper' or 'lower'")


@dataclass(frozen=True)
class Orders:
    """A set of orders: all finite real orders, or all whole ones, from `first` on, and perhaps ∞.

    If `above` is true, `first` itself is not in the set.

    >>> print(Orders(first=2, whole=True, infinite=False))
    integer orders >= 2
    >>> 5 in Orders(first=2, whole=True)
    True
    """

    first: float = 1
    above: bool = False
    whole: bool = False
    infinite: bool = True

    def __contains__(self, alpha: Order | np.ndarray) -> bool:
        """Is the order in the set, or are all of an array?

        A whole order is an int, of an array a whole float. A symbol is taken for one that is large
        enough, and for whole unless it is stated to be real.
        """
        if isinstance(alpha, int | Fraction | float):
            if alpha == INFINITY:
                return self.infinite
            reached = alpha > self.first if self.above else alpha >= self.first
            return reached and (not self.whole or isinstance(alpha, int))
        if isinstance(alpha, np.ndarray):
            return all((int(a) if a == np.floor(a) < np.inf else a) in self for a in alpha)
        return self.first < INFINITY and not (self.whole and is_real(alpha))

    def __str__(self) -> str:
        return self.words.replace("$", "").replace("α", "alpha")

    @property
    def words(self) -> str:
        """The set of orders in words, with the mathematics between dollar signs."""
        if self.first == INFINITY:
            return "$α = ∞$"
        sort = "integer" if self.whole else "real"
        comparison = ">" if self.above else ">="
        return f"{sort} orders ${comparison} {self.first}$" + (" and $∞$" if self.infinite else "")


#: Orders from 1 on: all with ∞, without it, above 1, the whole ones from 2 on; ∞ alone; by name.
ALL_ORDERS = Orders()
FINITE_ORDERS = Orders(infinite=False)
ABOVE_ONE = Orders(above=True, infinite=False)
INTEGER_ORDERS = Orders(2, whole=True, infinite=False)
INFINITE_ORDER = Orders(INFINITY)
_ORDERS = {
    **{"integer": INTEGER_ORDERS, "real": FINITE_ORDERS},
    **{str(one): one for one in (ALL_ORDERS, FINITE_ORDERS, ABOVE_ONE, INTEGER_ORDERS)},
}


def orders(value: object) -> Orders:
    """The Orders a user named: "integer" from 2 on, "real" from 1 on, or as they are printed.

    Neither has ∞. DomainError for others.
    """
    named = _ORDERS.get(value) if isinstance(value, str) else value
    if not isinstance(named, Orders):
        raise DomainError(
            f"orders: found {echo(value)}, needed 'integer', 'real' or a set such as INTEGER_ORDERS"
        )
    return named


@dataclass(frozen=True)
class Source:
    """The place of a statement: a key of the bibliography, and a place in that work.

    >>> from symacct import Gaussian
    >>> print(Gaussian(5).claim.sources[0])
    MIR17, Table II
    """

    key: str
    place: str

    def __str__(self) -> str:
        return f"{self.key}, {self.place}" if self.place else self.key


@dataclass(frozen=True)
class Proof:
    """The code and the place of a proof that is no theorem for by=, such as a profile's."""

    code: str
    source: Source


def source(value: object) -> Source:
    """The Source a user named, as in "my draft, Theorem 1": the work before the first comma.

    DomainError for what is no text, or an empty one.
    """
    if isinstance(value, Source):
        return value
    if not isinstance(value, str) or not value.strip():
        raise DomainError(f"source: found {echo(value)}, needed text such as 'my draft, Theorem 1'")
    work, _, place = value.partition(",")
    return Source(work.strip(), place.strip())


@dataclass(frozen=True)
class Claim:
    """The properties of a curve, or of one of its values.

    `kind` says whether the number is exact, an upper or a lower bound. `adjacency` and `orders` say
    for which neighbours and orders it holds; `orders` is None for a number that no order gave.
    `theorems` and `sources` say what it rests on. `certified` is False if its digits are not
    proved.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> print(PoissonSubsample(Gaussian(5), "1/1000").rdp(2).claim)
    exact (add_remove; integer orders >= 2) by ZW19-T8
    """

    kind: Kind
    adjacency: Adjacency = EITHER
    orders: Orders | None = ALL_ORDERS
    theorems: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    certified: bool = True

    def __str__(self) -> str:
        """The kind, the relation, the orders, the theorems, and whether it is uncertified."""
        names = ", ".join(self.theorems)
        trust = "" if self.certified else ", not certified"
        by = f" by {names}" if names else ""
        where = "; ".join(str(part) for part in (self.adjacency, self.orders) if part is not None)
        return f"{self.kind} ({where}){by}{trust}"

    def by(self, *proofs: Proof) -> Claim:
        """The claim, with the codes and places of further proofs that it rests on, each once."""
        codes = dict.fromkeys((*self.theorems, *(proof.code for proof in proofs)))
        places = dict.fromkeys((*self.sources, *(proof.source for proof in proofs)))
        return replace(self, theorems=(*codes,), sources=(*places,))

    def under(self, adjacency: object) -> Claim:
        """The claim with a relation where it leaves that open; AdjacencyError if it has another."""
        return replace(self, adjacency=with_relation(self.adjacency, adjacency))

    def as_dict(self) -> dict[str, Any]:
        """The claim for JSON."""
        return {
            "kind": str(self.kind),
            "adjacency": str(self.adjacency),
            "orders": None if self.orders is None else str(self.orders),
            "theorems": list(self.theorems),
            "sources": [str(source) for source in self.sources],
            "certified": self.certified,
        }


def narrowed_claim(claim: Claim, adjacency: Adjacency) -> Claim:
    """The claim of a curve for groups, read for smaller groups: exact becomes upper.

    The claim keeps its own adjacency, which the caller replaces. It is unchanged where the groups
    are no smaller. Raises SoundnessError for a lower bound, which is none for smaller groups.
    """
    if claim.adjacency.group <= adjacency.group or claim.kind is Kind.NEITHER:
        return claim
    subject = f"a curve for {claim.adjacency}, read for {adjacency}"
    return replace(claim, kind=combine([claim.kind, Kind.UPPER], subject))


#: The default of a field that decides a claim, so that its author has to state it.
UNSTATED: Any = None


def check_stated(subject: str, remedies: Mapping[str, str], stated: Mapping[str, Any]) -> None:
    """SoundnessError if fields that decide a claim are UNSTATED; it names all of them.

    `remedies` has for each such field what to write; `stated` are the fields' values.
    """
    missing = [name for name in remedies if stated.get(name) is UNSTATED]
    if missing:
        needed = "; ".join(remedies[name] for name in missing)
        raise SoundnessError(
            f"{subject}: found no {' and no '.join(missing)}, needed its author to state what "
            f"decides its claim",
            remedy=f"write {needed}",
        )


def check_types(
    subject: str, types: Mapping[str, Any], remedies: Mapping[str, str], values: Mapping[str, Any]
) -> None:
    """DomainError if a field has another type than the stated one, as kind="lower" has."""
    for name, expected in types.items():
        value = values[name]
        if not isinstance(value, expected):
            raise DomainError(f"{subject}, {name}: found {echo(value)}, needed {remedies[name]}")


# Proved in docs/proofs/certificates.md, Lemma slack.
def infer(subject: str, stated: Claim, premises: Iterable[Claim], monotone: bool) -> Claim:
    """The claim that a statement yields from the claims of the curves that it reads.

    `stated` is its claim for exact premises. If it is nondecreasing in every value that it reads
    (`monotone`), upper premises give an upper bound and lower premises a lower one; if not, it
    needs exact premises. The adjacencies are met, and one uncertified premise makes the claim
    uncertified. Raises SoundnessError or AdjacencyError, about `subject`, where nothing follows.
    """
    premises = tuple(premises)
    # A statement that leaves the relation open is about the relation of its premises.
    relations = [premise.adjacency for premise in premises]
    if stated.adjacency.relation is not Relation.EITHER or not relations:
        relations.append(stated.adjacency)
    adjacency = common_adjacency(relations, subject)
    premises = tuple(narrowed_claim(premise, adjacency) for premise in premises)
    kinds = [stated.kind, *(p.kind for p in premises)]
    # A claim that rests on a refuted statement bounds nothing either.
    kind = Kind.NEITHER if Kind.NEITHER in kinds else combine(kinds, subject)
    if not monotone and any(p.kind is not Kind.EXACT for p in premises):
        raise SoundnessError(
            f"{subject}: found a curve that is only an {kind} bound, needed an exact one, "
            "because the bound of this theorem may fall where the curve that it reads rises"
        )
    certified = stated.certified and all(p.certified for p in premises)
    return replace(stated, kind=kind, adjacency=adjacency, certified=certified)


# --- what attains a curve


class Pairs(IntEnum):
    """How many pairs of laws attain a curve, and of which kind; the larger value says less."""

    #: One pair, which dominates the mechanism, and which a measure-preserving involution swaps.
    SWAPPED = 0
    #: One pair, whatever the other records are: a law with the record and a law without it.
    ONE = 1
    #: Different pairs at different orders, or pairs that depend on the other records.
    SEVERAL = 2


class Way(IntEnum):
    """The direction of a pair that attains a curve; the larger value says less.

    P is the law with the record, and Q the law without it.
    """

    #: Either direction: both have the same largest D_α.
    EITHER = 0
    #: D_α(P‖Q).
    ADDITION = 1
    #: D_α(P‖Q) from order 2 on, and the larger of the two directions below.
    ADDITION_FROM_TWO = 2
    #: The larger of the two directions, at each order.
    LARGER = 3


@dataclass(frozen=True)
class AttainedBy:
    """The pairs of laws and the direction that attain an exact curve or a lower bound.

    An upper bound is the curve of such pairs; a `SWAPPED` pair then dominates the mechanism.

    >>> from symacct import Gaussian, Laplace, PoissonSubsample, RandomAllocation
    >>> (Gaussian(1) + PoissonSubsample(Laplace(1), "1/3")).attained == ADDED
    True
    >>> RandomAllocation(Laplace(1), 3).attained.way.name
    'LARGER'
    """

    pairs: Pairs
    way: Way

    @property
    def is_swapped(self) -> bool:
        """Does one pair dominate that an involution swaps (ZW19 Prop. 10, MTZ19 Thm 5)?"""
        return self.pairs is Pairs.SWAPPED

    # Proved in docs/proofs/directions.md, Lemma one-pair.
    @property
    def by_one_pair(self) -> bool:
        """Is the curve D_α(P‖Q) of one pair at every order, P the law with the record?"""
        return self.pairs <= Pairs.ONE and self.way <= Way.ADDITION

    def way_at(self, alpha: Order | np.ndarray) -> Way:
        """The direction at an order, or at all orders of an array.

        It is LARGER for a symbol, and for an array that reaches below 2, if it depends on that.
        """
        if self.way is not Way.ADDITION_FROM_TWO:
            return self.way
        if isinstance(alpha, np.ndarray):
            return Way.ADDITION if bool(np.min(alpha) >= 2) else Way.LARGER
        is_number = isinstance(alpha, int | float | Fraction)
        return Way.ADDITION if is_number and alpha >= 2 else Way.LARGER

    # Proved in docs/proofs/directions.md, Lemma directions.
    def sampled(self) -> AttainedBy:
        """The pairs and the direction of a sample: (1−γ)Q + γP against Q.

        For a swapped pair, and for several from order 2 on, the addition is the larger direction.
        """
        pairs = max(self.pairs, Pairs.ONE)
        if self.way is not Way.EITHER:
            return AttainedBy(pairs, self.way)
        return AttainedBy(pairs, Way.ADDITION if self.is_swapped else Way.ADDITION_FROM_TWO)


#: One pair that dominates, swapped by an involution, as of most noise.
SWAPPED = AttainedBy(Pairs.SWAPPED, Way.EITHER)
#: One pair at every order, in the direction of the addition, as of samples of such noise.
ADDED = AttainedBy(Pairs.ONE, Way.ADDITION)
#: One pair, in the direction that is larger at the order, as of two laws of which one is stated to
#: be that with the record.
LARGER = AttainedBy(Pairs.ONE, Way.LARGER)
#: One of several pairs, among which is the exchanged pair of each.
ANY_OF_SEVERAL = AttainedBy(Pairs.SEVERAL, Way.EITHER)
#: Pairs and directions of which nothing is known.
UNKNOWN = AttainedBy(Pairs.SEVERAL, Way.LARGER)


# Proved in docs/proofs/directions.md, Lemma exact-sums.
def together(parts: Iterable[AttainedBy]) -> AttainedBy:
    """The pairs and the direction of a composition, or of a coin's choice: products of pairs.

    They say as little as the part that says least; of no parts they say all.
    """
    parts = tuple(parts)
    pairs = max((part.pairs for part in parts), default=Pairs.SWAPPED)
    return AttainedBy(pairs, max((part.way for part in parts), default=Way.EITHER))


def why_no_one_way(parts: Iterable[AttainedBy], alpha: Order | np.ndarray) -> str | None:
    """The reason why no one direction is the larger one in all parts at an order; None if one is.

    All parts see the same two datasets, and one of these is the one with the record.
    """
    ways = [part.way_at(alpha) for part in parts]
    if Way.LARGER not in ways or sum(way is not Way.EITHER for way in ways) < 2:
        return None
    return (
        "the parts may have their larger values in opposite directions, of a record added and of "
        "one removed, which no two datasets have at once"
    )
