"""What is claimed about a curve, the rule that infers it, and what attains the curve."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any

import numpy as np

from symacct.kernel.errors import AdjacencyError, DomainError, SoundnessError, echo
from symacct.kernel.exact import INFINITY, Order, is_real

# --- claims
#
# What is claimed about a curve: adjacency, kind, orders, source; and the rule that infers it.


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


def combine(kinds: Iterable[Kind], what: str) -> Kind:
    """Exact only if all are; upper if none is lower; lower if none is upper; or SoundnessError."""
    found = set(kinds)
    if Kind.NEITHER in found:
        raise SoundnessError(
            f"{what}: found an approximation, which bounds nothing; "
            "needed an exact, an upper or a lower curve"
        )
    if {Kind.UPPER, Kind.LOWER} <= found:
        raise SoundnessError(
            f"{what}: found an upper bound together with a lower one, which bounds nothing; "
            "needed all upper (or exact) or all lower (or exact)"
        )
    return next((kind for kind in (Kind.UPPER, Kind.LOWER) if kind in found), Kind.EXACT)


class Relation(Enum):
    """Which datasets are neighbours."""

    EITHER = "either"
    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"


@dataclass(frozen=True)
class Adjacency:
    """A relation between neighbouring datasets, applied up to `group` times.

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
        replace-one pair, which is one removal and one addition. Raises AdjacencyError if the
        relations have no pair in common.
        """
        if self == other:
            return self
        group = min(self.group, other.group)
        relations = {self.relation, other.relation} - {Relation.EITHER}
        if len(relations) < 2:
            return Adjacency(next(iter(relations), Relation.EITHER), group)
        by_relation = {one.relation: one for one in (self, other)}
        added, replaced = map(by_relation.get, (Relation.ADD_REMOVE, Relation.REPLACE_ONE))
        if added is not None and replaced is not None and added.group >= 2:
            return Adjacency(Relation.REPLACE_ONE, min(added.group // 2, replaced.group))
        both = " and ".join(sorted(one.relation.value for one in (self, other)))
        remedy = "GroupPrivacy(m, 2) turns an add_remove curve into one that covers replace_one"
        raise AdjacencyError(
            f"{what}: found {both} together, needed one neighbouring relation",
            remedy=remedy if added is not None and replaced is not None else "",
        )


EITHER = Adjacency()
ADD_REMOVE = Adjacency(Relation.ADD_REMOVE)
REPLACE_ONE = Adjacency(Relation.REPLACE_ONE)


def adjacency(value: object) -> Adjacency:
    """The Adjacency a user named: "add_remove", "replace_one" or "either".

    The field's other signs are read as well: "add/remove", "add-or-remove", "replace-one".
    """
    if isinstance(value, Adjacency):
        return value
    name = re.sub("[-/ ]", "_", value) if isinstance(value, str) else ""
    relation = _NAMED.get(name) if isinstance(value, str) else value
    if not isinstance(relation, Relation):
        raise DomainError(
            f"adjacency: found {echo(value)}, needed 'add_remove', 'replace_one' or 'either'"
        )
    return Adjacency(relation)


_NAMED = {one.value: one for one in Relation} | {"add_or_remove": Relation.ADD_REMOVE}


def said_of(found: Adjacency, value: object) -> Adjacency:
    """The relation found, or the one that `value` says of what leaves it open.

    Raises AdjacencyError where another relation was found.
    """
    relation = adjacency(value).relation
    if Relation.EITHER in (found.relation, relation) or found.relation is relation:
        return found if relation is Relation.EITHER else replace(found, relation=relation)
    raise AdjacencyError(
        f"adjacency: found {relation.value}, needed {found}, which the expression is about",
        remedy=(
            "name another relation in the expression itself, as in PoissonSubsample(Gaussian(5), "
            "'1/100', adjacency='replace_one')"
        ),
    )


def kind(value: object) -> Kind:
    """The Kind a user named: "exact", "upper" or "lower"."""
    for known in (Kind.EXACT, Kind.UPPER, Kind.LOWER):
        if value is known or (isinstance(value, str) and value == known.value):
            return known
    raise DomainError(f"kind: found {echo(value)}, needed 'exact', 'upper' or 'lower'")


@dataclass(frozen=True)
class Orders:
    """A set of orders: all real orders, or all whole ones, from `first` on.

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
        """Is the order in the set, or are all of an array? A symbol is taken for whole."""
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
        """What it is called, with the mathematics between dollar signs."""
        if self.first == INFINITY:
            return "$α = ∞$"
        sort = "integer" if self.whole else "real"
        comparison = ">" if self.above else ">="
        return f"{sort} orders ${comparison} {self.first}$" + (" and $∞$" if self.infinite else "")


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
    """The Orders a user named: "integer" from 2 on, "real" from 1 on, or as they are printed."""
    found = _ORDERS.get(value) if isinstance(value, str) else value
    if not isinstance(found, Orders):
        raise DomainError(
            f"orders: found {echo(value)}, needed 'integer', 'real' or a set such as INTEGER_ORDERS"
        )
    return found


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
    """What proves a number that no theorem for by= gives: its code, and the place of its proof."""

    code: str
    source: Source


def source(value: object) -> Source:
    """The Source a user named, as in "my draft, Theorem 1": the work before the first comma."""
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
        names = ", ".join(self.theorems)
        trust = "" if self.certified else ", not certified"
        by = f" by {names}" if names else ""
        where = "; ".join(str(one) for one in (self.adjacency, self.orders) if one is not None)
        return f"{self.kind} ({where}){by}{trust}"

    def by(self, *proofs: Proof) -> Claim:
        """The claim, with the codes and the places of what else it rests on."""
        codes = dict.fromkeys((*self.theorems, *(proof.code for proof in proofs)))
        places = dict.fromkeys((*self.sources, *(proof.source for proof in proofs)))
        return replace(self, theorems=(*codes,), sources=(*places,))

    def under(self, adjacency: object) -> Claim:
        """The claim, with the relation said that it leaves open."""
        return replace(self, adjacency=said_of(self.adjacency, adjacency))

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
    """The claim of the same curve for these pairs: exact becomes upper, lower is refused."""
    if claim.adjacency.group <= adjacency.group or claim.kind is Kind.NEITHER:
        return claim
    what = f"a curve for {claim.adjacency}, read for {adjacency}"
    return replace(claim, kind=combine([claim.kind, Kind.UPPER], what))


#: A field that decides a claim, which its author states: nothing stands in for it.
UNSTATED: Any = None


def check_stated(what: str, remedies: Mapping[str, str], stated: Mapping[str, Any]) -> None:
    """SoundnessError naming all that decides a claim and was left out, with what to write."""
    missing = [name for name in remedies if stated.get(name) is UNSTATED]
    if missing:
        needed = "; ".join(remedies[name] for name in missing)
        raise SoundnessError(
            f"{what}: found no {' and no '.join(missing)}, needed its author to state what "
            f"decides its claim",
            remedy=f"write {needed}",
        )


def check_sorts(
    what: str, sorts: Mapping[str, Any], remedies: Mapping[str, str], of: Mapping[str, Any]
) -> None:
    """DomainError for what is stated as something else, as kind="lower", which is no Kind."""
    for name, sort in sorts.items():
        value = of[name]
        if not isinstance(value, sort):
            raise DomainError(f"{what}, {name}: found {echo(value)}, needed {remedies[name]}")


# Proved in docs/proofs/certificates.md, Lemma slack.
def infer(what: str, stated: Claim, premises: Iterable[Claim], monotone: bool) -> Claim:
    """The one rule: what a statement yields when its premises are replaced by what is known.

    `stated` is what it yields for exact premises. If it is nondecreasing in every value that it
    reads (`monotone`), upper premises give an upper bound and lower premises a lower one; if not,
    only exact premises will do. Adjacencies must meet, certificates are lost once for all.
    """
    premises = tuple(premises)
    # A statement that leaves the relation open takes over what its premises are about.
    spoken = [premise.adjacency for premise in premises]
    if stated.adjacency.relation is not Relation.EITHER or not spoken:
        spoken.append(stated.adjacency)
    adjacency = spoken[0]
    for other in spoken[1:]:
        adjacency = adjacency.meet(other, what)
    premises = tuple(narrowed_claim(premise, adjacency) for premise in premises)
    kinds = [stated.kind, *(p.kind for p in premises)]
    # What rests on what is refuted bounds as little.
    kind = Kind.NEITHER if Kind.NEITHER in kinds else combine(kinds, what)
    if not monotone and any(p.kind is not Kind.EXACT for p in premises):
        raise SoundnessError(
            f"{what}: found a curve that is only an {kind} bound, needed an exact one, "
            "because the bound of this theorem may fall where the curve that it reads rises"
        )
    certified = stated.certified and all(p.certified for p in premises)
    return replace(stated, kind=kind, adjacency=adjacency, certified=certified)


# --- what attains a curve
#
# What attains a curve: which pair of laws, and in which direction.


class Pairs(IntEnum):
    """How many pairs of laws it takes, from what says the most to what says the least."""

    #: One, which dominates the mechanism, and which a measure-preserving involution swaps.
    SWAPPED = 0
    #: One, whatever the other records are: a law with the record and a law without it.
    ONE = 1
    #: Another one at another order, or one of datasets whose other records matter.
    SEVERAL = 2


class Way(IntEnum):
    """Which direction of a record added or removed it takes, likewise."""

    #: Either: D_α is as large of the law with the record from the one without it as the other way.
    EITHER = 0
    #: The law with the record, from the one without it.
    ADDITION = 1
    #: That from order 2 on, and the larger direction below.
    ADDITION_FROM_TWO = 2
    #: The larger direction, at each order.
    LARGER = 3


@dataclass(frozen=True)
class AttainedBy:
    """The pairs and the way by which a curve is attained, where it is exact or a lower bound.

    Of an upper bound it says whose curve it is; a `SWAPPED` pair then dominates the mechanism.

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
        """Is it D_α(P‖Q) of one pair at every order, P the law with the record?"""
        return self.pairs <= Pairs.ONE and self.way <= Way.ADDITION

    def way_at(self, alpha: Order | np.ndarray) -> Way:
        """The direction at an order, or at the orders of an array."""
        if self.way is not Way.ADDITION_FROM_TWO:
            return self.way
        if isinstance(alpha, np.ndarray):
            return Way.ADDITION if bool(np.min(alpha) >= 2) else Way.LARGER
        known = isinstance(alpha, int | float | Fraction)
        return Way.ADDITION if known and alpha >= 2 else Way.LARGER

    # Proved in docs/proofs/directions.md, Lemma directions.
    def sampled(self) -> AttainedBy:
        """Of a sample that holds the record or not: (1−γ)Q + γP against Q.

        Of a swapped pair, and of several from order 2 on, the addition is the larger direction.
        """
        pairs = max(self.pairs, Pairs.ONE)
        if self.way is not Way.EITHER:
            return AttainedBy(pairs, self.way)
        return AttainedBy(pairs, Way.ADDITION if self.is_swapped else Way.ADDITION_FROM_TWO)


#: One pair that dominates, swapped by an involution: most noise.
SWAPPED = AttainedBy(Pairs.SWAPPED, Way.EITHER)
#: One pair at every order, in the direction of the addition: samples of such noise.
ADDED = AttainedBy(Pairs.ONE, Way.ADDITION)
#: One pair, in the direction that is the larger one at the order: two laws of which one is stated
#: to be that with the record.
LARGER = AttainedBy(Pairs.ONE, Way.LARGER)
#: One of several pairs, each of which may be that of either direction.
ANY_OF_SEVERAL = AttainedBy(Pairs.SEVERAL, Way.EITHER)
#: Nothing is known.
UNKNOWN = AttainedBy(Pairs.SEVERAL, Way.LARGER)


# Proved in docs/proofs/directions.md, Lemma exact-sums.
def together(parts: Iterable[AttainedBy]) -> AttainedBy:
    """What attains a sum, or a mean by a coin: the products of the parts' pairs."""
    parts = tuple(parts)
    pairs = max((part.pairs for part in parts), default=Pairs.SWAPPED)
    return AttainedBy(pairs, max((part.way for part in parts), default=Way.EITHER))


def why_no_one_way(parts: Iterable[AttainedBy], alpha: Order | np.ndarray) -> str | None:
    """None if one direction is the larger one in all parts at this order, else the reason.

    All parts see the same two datasets, and one of these is the one with the record.
    """
    ways = [part.way_at(alpha) for part in parts]
    if Way.LARGER not in ways or sum(way is not Way.EITHER for way in ways) < 2:
        return None
    return (
        "the parts may have their larger values in opposite directions, of a record added and of "
        "one removed, which no two datasets have at once"
    )
