"""Operation: a node made of others; and Compose, mechanisms run on the same data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from symacct.kernel import limits, parameters
from symacct.kernel.claims import (
    ALL_ORDERS,
    EITHER,
    Adjacency,
    AttainedBy,
    Claim,
    Kind,
    combine,
    common_adjacency,
    narrowed_claim,
    together,
    why_no_one_way,
)
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, sympy, typed_value
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node, as_node
from symacct.kernel.theorem_registry import answering_always, bounding

# --- operations

#: The order by which an operation's claim is inferred: theorems about it hold at whole orders >= 2.
#: Claims rest on it: a larger order would leave out theorems that hold below it.
TYPICAL_ORDER = 2


class Operation(Node):
    """A node made of other nodes, whose claim the theorems about it give."""

    _reads_register = "theorems"
    #: The neighbouring relation of the operation's own curve: that of its parameter `adjacency`, or
    #: what the class states; `EITHER` where it fixes none.
    _fixed_adjacency: Adjacency = EITHER
    #: The neighbouring relation for which it reads its mechanism's curve; `EITHER` for any.
    _read_adjacency: Adjacency = EITHER

    @property
    def _theorem_adjacency(self) -> Adjacency:
        """The relation whose theorems are about its laws: its own, unless it has those of another.

        What is proved of the other relation is then claimed for its own.
        """
        return self._fixed_adjacency

    #: How it draws records at random, in few words; empty where it draws none.
    _drawing: str = ""
    #: Does the mechanism below run on another number of records than there are?
    _changes_size: bool = False
    #: Does the mechanism below run? It does not where it only has the same privacy loss.
    _is_run_below: bool = True

    def _is_one_step(self) -> bool:
        """Are the operation's laws on neighbours made of the mechanism's laws on neighbours?

        A theorem that leaves the relation open is about such operations.
        """
        return True

    def _carried(self, premises: Iterable[Claim], what: str) -> list[Claim]:
        """The premises, claims about curves it reads, as claims for the relation of the result.

        AdjacencyError, about `what`, where one is for another relation than the operation reads.
        """
        if self._fixed_adjacency == self._read_adjacency:
            return list(premises)
        what = f"{what}, which reads the mechanism for {self._read_adjacency} neighbours"
        read = [
            narrowed_claim(premise, premise.adjacency.meet(self._read_adjacency, what))
            for premise in premises
        ]
        return [replace(premise, adjacency=self._fixed_adjacency) for premise in read]

    def _refuse_other_sizes(self) -> None:
        """DomainError where the parts hold for different numbers of records."""
        changed = self._below if self._changes_size else ()
        counting = next((node for node in changed if node._counts_records), None)
        if counting is not None:
            raise DomainError(
                f"{type(self).__name__}: found {echo(counting)}, which is stated for a given "
                "number of records, inside an operation that changes this number; needed a "
                "mechanism for any number of records, or one scheme that draws from all of the "
                "records"
            )
        smallest, largest = self.sizes
        if smallest > largest:
            raise DomainError(
                f"{type(self).__name__}: found parts for {largest:,} records and for {smallest:,}, "
                "needed one number of records, as all parts are about the same data"
            )

    def _infer(self) -> Claim:
        """The claim by the first theorem about the operation that has a value at every order.

        It is that of the node of the same curve about which more is proved. DomainError where the
        parts are for different numbers of records, and the errors of `bounding` where nothing is
        proved.
        """
        rewritten = self._rewritten
        if rewritten is not self:
            return rewritten.claim
        self._refuse_other_sizes()
        premises = [child.claim for child in self.children]
        lower = any(claim.kind is Kind.LOWER for claim in premises)
        goal = Kind.LOWER if lower else Kind.UPPER
        theorem = answering_always(bounding(self, TYPICAL_ORDER, goal))
        claim = theorem.infer(self, premises, TYPICAL_ORDER)
        adjacency = claim.adjacency
        if self._fixed_adjacency is not EITHER:
            adjacency = adjacency.meet(self._fixed_adjacency, type(self).__name__)
        return replace(claim, adjacency=adjacency, orders=ALL_ORDERS)


# --- composition

#: A number of runs: a whole number, or a SymPy expression that stands for one.
Count: TypeAlias = int | sympy.Expr
#: A number of runs that is not whole is shown in its error as a decimal of ten digits where it is
#: below this, so that one digit at least is behind the point; else as it was given. Only a message
#: rests on it.
_MOST_SHOWN_RUNS = 10**9


class Compose(Operation):
    """Mechanisms that run one after the other, adaptively, on the same data: their curves add.

    `Compose(m1, m2, ...)`, `Compose({m: count, ...})`, `m1 + m2` and `n * m` all build a
    composition. Equal `parts` are counted and not repeated, so a million runs of a thousand
    mechanisms take a thousand entries. A count may be a SymPy symbol. Raises DomainError,
    AdjacencyError, and SoundnessError if an upper bound meets a lower bound. ε(α) is in nats.

    >>> from symacct import Gaussian, Laplace
    >>> Compose(Gaussian(5), Laplace(2), Gaussian(5))
    2*Gaussian(5) + Laplace(2)
    """

    terms: Mapping[Node, Count]
    _has_one_formula = True

    def __new__(cls, *parts: Node | Mapping[Node, Numeric] | Iterable[Node]) -> Node:  # type: ignore[misc]
        counts: dict[Node, Count] = {}
        for part in parts:
            _add_runs(counts, part, 1)
        return cls._of(counts)

    @classmethod
    def _of(cls, counts: dict[Node, Count]) -> Node:
        """The interned composition; one part run once is that part.

        LimitError where a count has too many bits to be printed and parsed again.
        """
        sizes = (count.bit_length() for count in counts.values() if isinstance(count, int))
        limits.check("parameter_bits", max(sizes, default=0), "Compose, number of runs in bits")
        if len(counts) == 1:
            ((part, count),) = counts.items()
            if count == 1:
                return part
        # The key is a set, because the order of the parts does not matter.
        return cls._intern(frozenset(counts.items()), terms=MappingProxyType(counts))

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The parts, each once."""
        return tuple(self.terms)

    @property
    def parts(self) -> Mapping[Node, Count]:
        """The parts with their counts."""
        return self.terms

    @property
    def _is_local(self) -> bool:
        """Is every part randomized response, by which each person hides an answer?"""
        return bool(self.terms) and all(part._is_local for part in self.terms)

    @property
    def runs(self) -> Count:
        """The number of runs of all parts together."""
        return sum(self.terms.values())

    def _symbolic_parameters(self) -> list[sympy.Expr]:
        """The counts that have a free symbol."""
        return [count for count in self.terms.values() if isinstance(count, sympy.Expr)]

    @cached_property
    def attained(self) -> AttainedBy:
        """The product of the parts' pairs, which dominates; the involutions act side by side."""
        return together(part.attained for part in self.terms)

    @property
    def _steepest_up_to(self) -> Order:  # type: ignore[override]
        """The smallest one of the parts: as long as ε_i(α) <= αε_i(1) for all i, so is the sum."""
        return min((part._steepest_up_to for part in self.terms), default=INFINITY)

    @property
    def convex(self) -> bool:
        """Is the bound's CGF convex in the order, as sums of convex ones are?"""
        return all(part.convex for part in self.terms)

    def _rebuild(self, nodes: Mapping[Node, Node], replace: Callable[[sympy.Expr], Exact]) -> Node:
        """The composition of other nodes in the place of its parts, with counts by `replace`."""
        counts: dict[Node, Count] = {}
        for part, count in self.terms.items():
            times = _parsed_count(replace(count)) if isinstance(count, sympy.Expr) else count
            _add_runs(counts, nodes[part], times)
        return type(self)._of(counts)

    def _infer(self) -> Claim:
        """The claim of a sum of curves; by theorems where the parts' directions conflict.

        DomainError, AdjacencyError or SoundnessError where the parts do not go together.
        """
        self._refuse_other_sizes()
        subject = "Compose"
        adjacency: Adjacency = EITHER
        if self.terms:
            adjacency = common_adjacency({part.claim.adjacency for part in self.terms}, subject)
        if why_no_one_way((part.attained for part in self.terms), TYPICAL_ORDER):
            return super()._infer()
        kind = combine((narrowed_claim(part.claim, adjacency).kind for part in self.terms), subject)
        certified = all(part.claim.certified for part in self.terms)
        return Claim(kind, adjacency, ALL_ORDERS, certified=certified)


def terms_of(node: Node) -> Mapping[Node, Count]:
    """The parts of a composition and how often each runs; of any other node itself, once."""
    return node.terms if isinstance(node, Compose) else {node: 1}


def _add_runs(counts: dict[Node, Count], part: object, times: Count, depth: int = 0) -> None:
    """Adds `times` runs of a part to `counts`: of a node, a mapping of counts, or an iterable.

    Compositions are taken apart. DomainError for anything else, LimitError for too much of it.
    """
    if times == 0 and isinstance(part, Node):
        pass  # a mechanism that is run 0 times is no part
    elif isinstance(part, Compose):
        for node, count in part.terms.items():
            counts[node] = counts.get(node, 0) + times * count
    elif isinstance(part, Node):
        counts[part] = counts.get(part, 0) + times
    elif isinstance(part, Mapping):
        for node, count in part.items():
            _add_runs(counts, as_node(node, "Compose"), times * _parsed_count(count))
    elif isinstance(part, Iterable) and not isinstance(part, str | bytes):
        limits.check("depth", depth, "Compose, lists in lists")
        for member in parameters.members(part, "Compose", "[Gaussian(5), Laplace(2)]"):
            _add_runs(counts, member, times, depth + 1)
    else:
        raise DomainError(f"Compose: found {echo(part)}, needed mechanisms such as Gaussian(5)")
    limits.check("nodes", len(counts), "Compose, distinct mechanisms")


def _parsed_count(count: Numeric) -> Count:
    """The number of runs, a whole number >= 0 or an expression, whose symbols are not checked."""
    name = "Compose, number of runs"
    try:
        number = typed_value(count, name)
        if isinstance(number, sympy.Expr) and number.free_symbols:
            if number.is_integer is False or number.is_negative:
                raise DomainError(f"{name}: found {echo(count)}, needed a whole number >= 0")
            return number
        if isinstance(number, Fraction) and number.denominator == 1 and number >= 0:
            return int(number)
        if (
            isinstance(number, Fraction)
            and number.denominator > 1
            and 0 < number < _MOST_SHOWN_RUNS
        ):
            # A run begun is a run: epochs·n/batch is not rounded for the user, but said to be.
            decimal = f"{float(number):,.10g}"
            seems_whole = decimal.replace(",", "").isdigit()
            raise DomainError(
                f"{name}: found {echo(count) if seems_whole else decimal}, needed a whole number "
                f">= 0: round up to {math.ceil(number):,}"
            )
        raise DomainError(f"{name}: found {echo(count)}, needed a whole number >= 0")
    except DomainError as error:
        raise DomainError(
            f"{error}", remedy="Scale(m, c) multiplies a curve by any c >= 0"
        ) from None
