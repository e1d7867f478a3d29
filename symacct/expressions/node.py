"""Node: a record of what was done, and the questions that it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, overload

import numpy as np

from symacct.core import limits, upward
from symacct.core.claims import Adjacency, Claim, Kind, Relation
from symacct.core.errors import DomainError, echo
from symacct.core.exact import INFINITY, Exact, Numeric, Order, OrderArray, typed_value
from symacct.core.forking import cached_property
from symacct.core.interning import Interned
from symacct.core.lazy_import import sympy
from symacct.core.pinning import By
from symacct.expressions.attained import UNKNOWN, AttainedBy
from symacct.expressions.bounded import replaced
from symacct.expressions.currencies import Currencies
from symacct.expressions.paper_output import PaperOutput
from symacct.expressions.pictures import Pictures
from symacct.results.enclosure import Enclosure, Guarantee
from symacct.results.progress import progress


class Node(Currencies, PaperOutput, Pictures, Interned):
    """A mechanism or an operation. The fields are the parameters of the constructor.

    A subclass writes a constructor `__new__(cls, field, ...)`, which brings each field to its exact
    form and ends in `cls._intern(field=value, ...)`. The method `_infer` infers the claim. Every ε
    and every curve of a node is in nats.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> m = PoissonSubsample(Gaussian(5), "1/1000")
    >>> isinstance(m, Node), m.children
    (True, (Gaussian(5),))
    """

    claim: Claim
    depth: int
    #: Arguments that JSON leaves out where they are at their default, as documents of before do.
    json_optional: ClassVar[tuple[str, ...]] = ()
    #: Those that documents of before have in place of others, with what to write now.
    json_former: ClassVar[Mapping[str, str]] = {}
    #: Its other constructors by their names, which a text may call as well.
    makers: ClassVar[tuple[str, ...]] = ()
    #: Which pair of laws attains the curve, and in which direction.
    attained: AttainedBy = UNKNOWN
    #: The order up to which ε(α)/α is proved to be at most ε(1), and so is zCDP's ρ (proofs, 26).
    steepest_up_to: Order = 1
    #: Is it stated for a number of records, so that it holds where there are so many?
    counts_records: bool = False
    #: The rate γ at which it draws records at random, if it does.
    sampling_rate: Exact | None = None
    #: The order up to which the curve is read at whole orders alone, and is their hull between.
    hull_up_to: Order = 0
    #: Is it 0-DP by its statement?
    tells_nothing: bool = False
    #: What it is called in a sentence: a noun phrase with the fields in their places, and with
    #: mathematics between dollar signs, as in "noise of $σ = {sigma}$". {steps:step} counts steps.
    words: str = ""
    #: What has to be true of the program that ran, in sentences with the fields in their places,
    #: as in "at most {steps} steps"; `premises_for` says what depends on the neighbours.
    premises: tuple[str, ...] = ()
    #: Are they about which records take part in what is run? What `PostProcess(premise=)` says of
    #: that stands in their place.
    says_who_takes_part: bool = False

    def _settle(self, fields: dict[str, Any]) -> None:
        """Depth and claim of a new node; errors of adjacency and soundness are raised here."""
        # PureDP's parameter epsilon must not hide the question .epsilon(delta), and so on.
        hidden = {name for name in fields if hasattr(type(self), name)} - {"adjacency"}
        self.__dict__.update({k: v for k, v in fields.items() if k not in hidden})
        depth = 1 + max((child.depth for child in self.children), default=0)
        limits.check("depth", depth, f"{type(self).__name__}, nesting depth")
        self.__dict__["depth"] = depth
        self.__dict__["claim"] = self._infer()

    def _infer(self) -> Claim:
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:

        return upward.text.from_json, (self.to_json(),)

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The nodes this one was made of."""
        return tuple(value for value in self.fields().values() if isinstance(value, Node))

    @cached_property
    def adjacency(self) -> Adjacency:
        """The relation between neighbouring datasets that this is about.

        It is `either` where the parameters were stated for one of the two relations, as those of
        noise are.

        >>> from symacct import Gaussian, PoissonSubsample
        >>> print(Gaussian(5).adjacency, PoissonSubsample(Gaussian(5), "1/1000").adjacency)
        either add_remove
        """
        return self.claim.adjacency

    def is_one_step(self) -> bool:
        """Are the laws on neighbours made of laws that are neighbours of the relation read?

        A theorem that leaves the relation open is about such operations.
        """
        return True

    def premises_for(self, relation: Relation) -> tuple[str, ...]:
        """The premises for neighbours of this relation."""
        return self.premises

    def for_group(self, size: int) -> Node | None:
        """The mechanism whose laws are this one's for groups of so many records, where it is known.

        Such is noise for as many times the sensitivity.
        """
        return None

    @property
    def convex(self) -> bool:
        """Is the curve's CGF, as evaluated at integer orders, proved convex? True ones are."""
        return self.claim.kind is Kind.EXACT

    @cached_property
    def sizes(self) -> tuple[int, float]:
        """The least and the largest number of records that it is stated for: 1 and ∞ for any."""
        every = [child.sizes for child in self.children]
        least = max((low for low, _ in every), default=1)
        return least, min((high for _, high in every), default=INFINITY)

    def parameters(self) -> dict[str, Any]:
        """The fields that are not nodes: what a theorem about this node may read."""
        return {name: v for name, v in self.fields().items() if not isinstance(v, Node)}

    def walk(self) -> Iterator[Node]:
        """Every distinct node below and including this one, children before parents."""
        return chain(self._below, (self,))

    @cached_property
    def _below(self) -> tuple[Node, ...]:
        """The nodes below this one: a node that kept itself would stay when nobody has it."""
        return tuple(dict.fromkeys(node for child in self.children for node in child.walk()))

    @cached_property
    def free_symbols(self) -> frozenset[sympy.Symbol]:
        """The SymPy symbols left open in any parameter below."""
        own = [value.free_symbols for value in self.symbolic_parameters()]
        return frozenset().union(*own, *(child.free_symbols for child in self.children))

    def symbolic_parameters(self) -> list[sympy.Expr]:
        """The parameters kept as SymPy expressions."""
        return [v for v in self.parameters().values() if isinstance(v, sympy.Expr)]

    def subs(self, replacements: Mapping[str | sympy.Symbol, Numeric]) -> Node:
        """The node with symbols replaced by numbers or expressions.

        A symbol is given itself or by name. Raises DomainError for a name that no free symbol has.

        >>> import sympy
        >>> from symacct import Gaussian
        >>> sigma = sympy.Symbol("sigma", positive=True)
        >>> Gaussian(sigma).subs({sigma: "5/2"})
        Gaussian('5/2')
        """
        if not isinstance(replacements, Mapping):
            raise DomainError(
                f"subs: found {echo(replacements)}, needed a mapping such as {{'sigma': 5}}"
            )
        table: dict[Any, Any] = {}
        for key, value in replacements.items():
            table.update(
                dict.fromkeys(self._symbols_named(key), typed_value(value, f"subs, {key}"))
            )
        done: dict[Node, Node] = {}
        for node in self.walk():
            done[node] = node.rebuild(done, lambda x: replaced(x, table))
        return done[self]

    def _symbols_named(self, name: object) -> list[sympy.Symbol]:
        """The free symbols of this name; symbols of other assumptions are other symbols."""
        if isinstance(name, sympy.Symbol):
            return [name]
        if not isinstance(name, str):
            raise DomainError(f"subs: found the key {echo(name)}, needed a symbol or its name")
        found = [symbol for symbol in self.free_symbols if symbol.name == name]
        if not found:
            free = ", ".join(sorted(symbol.name for symbol in self.free_symbols)) or "none"
            raise DomainError(
                f"subs: found the name {echo(name)}, needed one of the free symbols: {free}"
            )
        return found

    def rebuild(self, nodes: Mapping[Node, Node], replace: Callable[[sympy.Expr], Exact]) -> Node:
        """A copy of this node with other children and other symbolic parameters."""
        fields = self.fields()
        for name, value in fields.items():
            if isinstance(value, Node):
                fields[name] = nodes[value]
            elif isinstance(value, sympy.Expr):
                fields[name] = replace(value)
        return type(self)(**fields)

    def _of_same_curve(self) -> tuple[Node, str]:
        """A mechanism of the same curve, its parts being so, and why it is one; itself for none."""
        return self, ""

    @property
    def rewritten(self) -> Node:
        """A mechanism of the same curve, of which more is known; what was written is printed."""
        return self._same_curve[0] or self

    @property
    def rewrites(self) -> tuple[str, ...]:
        """By what the one that was written has the curve of that, in words."""
        return self._same_curve[1]

    @cached_property
    def _same_curve(self) -> tuple[Node | None, tuple[str, ...]]:
        """A node that kept itself would stay when nobody has it: None for itself."""
        found: dict[Node, Node] = {}
        reasons: dict[str, None] = {}
        for node in self.walk():
            parts = any(found[child] is not child for child in node.children)
            found[node], why = (
                node.rebuild(found, lambda x: x) if parts else node
            )._of_same_curve()
            reasons |= {why: None} if why else {}
        return None if found[self] is self else found[self], tuple(reasons)

    def __add__(self, other: object) -> Node:
        """Both mechanisms run on the same data: adaptive composition."""
        return kinds()["Compose"](self, other) if isinstance(other, Node) else NotImplemented

    def __radd__(self, other: object) -> Node:
        """0 + m, with which sum([…]) begins: the sum of mechanisms is their composition."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __mul__(self, count: object) -> Node:
        """The mechanism run `count` times."""
        return NotImplemented if isinstance(count, Node) else kinds()["Compose"]({self: count})

    __rmul__ = __mul__

    def convexify(self, max_order: int) -> Node:
        """The lower convex hull of this bound's CGF up to `max_order`; see `Convexify`."""
        return kinds()["Convexify"](self, max_order)

    # What follows asks the rooms above this one.

    @overload
    def rdp(
        self, alpha: Numeric, digits: int = 30, by: By = None, engine: str = "ball"
    ) -> Enclosure: ...
    @overload
    def rdp(
        self, alpha: OrderArray, digits: int = 30, by: By = None, engine: str = "ball"
    ) -> np.ndarray: ...
    @progress("rdp")
    def rdp(
        self,
        alpha: Numeric | OrderArray,
        digits: int = 30,
        by: By = None,
        engine: str = "ball",
    ) -> Enclosure | np.ndarray:
        """The Rényi privacy loss ε(α) in nats as an Enclosure, for one order α ∈ [1, ∞].

        `by` names a theorem, such as "ZW19-T5", to use in place of the best one. A tuple names
        several, and each is used for the parts to which it applies. `engine` is "ball" (certified),
        "mpmath" or "float64". With engine="float64", `alpha` may also be an array of orders, and
        the answer is an array. Raises OrderError, AssumptionError, SoundnessError, PrecisionError.

        >>> from symacct import Gaussian
        >>> print(Gaussian(5).rdp(8, digits=3))
        0.16
        """
        return upward.accountant.default_accountant(engine).rdp(self, alpha, by=by, digits=digits)

    def cgf(self, lam: Numeric, digits: int = 30, by: By = None, engine: str = "ball") -> Enclosure:
        """The CGF K(λ) = λ ε(λ+1) as an Enclosure, for λ >= 0, or for λ = −1 if ε(1) is finite."""
        return upward.accountant.default_accountant(engine).cgf(self, lam, by=by, digits=digits)

    def lower_bound(self, alpha: Numeric, digits: int = 30, engine: str = "ball") -> Enclosure:
        """The best known lower bound of ε(α); never a guarantee."""
        return upward.accountant.default_accountant(engine).lower_bound(self, alpha, digits=digits)

    @progress("epsilon")
    def epsilon(
        self,
        delta: Numeric,
        digits: int | None = None,
        conversion: str = "best",
        orders: str | Iterable[Numeric] | None = None,
        by: By = None,
    ) -> Guarantee:
        """The Guarantee (ε, δ) with the smallest ε for this δ that is proved in time.

        `delta` is the δ at which ε is asked for, in [0, 1).
        The time is `limits(seconds=…)`. Where it is short, the `note` says that more may prove a
        smaller ε. Another `conversion` ("exact", "improved", "optimal", "classic") answers alone
        and runs to its end. `orders`, "integer" or an iterable of orders, or a theorem named by
        `by` pin an answer by Rényi orders, by the conversion "improved" if none is named. `digits`
        is 30 by default; if fewer are had in time, the guarantee has those. Raises DomainError for
        δ outside [0, 1), and SoundnessError if only a lower bound is known.

        >>> from symacct import Gaussian
        >>> g = Gaussian(5).epsilon("1e-5", digits=6)
        >>> print(g.epsilon, g.conversion, Gaussian(5).epsilon("1e-5", 6, "improved").epsilon)
        0.725522 exact 0.794315
        """
        return upward.accountant.default_accountant().epsilon(
            self, delta, conversion=conversion, orders=orders, by=by, digits=digits
        )

    @progress("delta")
    def delta(
        self,
        epsilon: Numeric,
        digits: int | None = None,
        conversion: str = "best",
        orders: str | Iterable[Numeric] | None = None,
        by: By = None,
    ) -> Guarantee:
        """The Guarantee (ε, δ) with the smallest δ for this ε; see `epsilon`.

        `epsilon` is the ε at which δ is asked for, at least 0.
        """
        return upward.accountant.default_accountant().delta(
            self, epsilon, conversion=conversion, orders=orders, by=by, digits=digits
        )

    def lower_epsilon(self, delta: Numeric, digits: int = 30) -> Enclosure:
        """A proved lower bound of the true ε(δ), which is never a guarantee.

        The bound is the exact profile of a post-processing of the mechanism. The answer is 0 if no
        two output laws are known.

        >>> from symacct import Gaussian, SubsampleWithoutReplacement
        >>> m = 100 * SubsampleWithoutReplacement(Gaussian(2), "1/10")
        >>> print(m.lower_epsilon("1e-5", digits=6))
        2.33739
        """
        return upward.accountant.default_accountant().lower_epsilon(self, delta, digits)

    def lower_delta(self, epsilon: Numeric, digits: int = 30) -> Enclosure:
        """A proved lower bound of the true δ(ε); see `lower_epsilon`."""
        return upward.accountant.default_accountant().lower_delta(self, epsilon, digits)

    @progress("report")
    def report(
        self,
        delta: Numeric | None = None,
        epsilon: Numeric | None = None,
        digits: int = 6,
        adjacency: str | None = None,
    ) -> upward.report.PrivacyReport:
        """The number to report: the smallest proved ε for `delta`, or δ for `epsilon`.

        It is the number of `epsilon` or `delta`, printed with its relation, what it is of and how
        it was found. Its `guarantee` is the Guarantee; `details()` has what it rests on and what
        Rényi orders give. `adjacency`, "add_remove" or "replace_one", says for which neighbours the
        parameters were stated, if the expression leaves that open. Raises DomainError unless one of
        `delta` and `epsilon` is given, AdjacencyError if the relation does not hold, and
        SoundnessError if only a lower bound is known.

        >>> from symacct import Gaussian
        >>> print(Gaussian(5).report("1e-5").epsilon, Gaussian(5).epsilon("1e-5", digits=6).epsilon)
        0.725522 0.725522
        """
        return upward.report.report(self, delta, epsilon, digits, adjacency)

    def to_json(self) -> str:
        """The expression as JSON text, which `symacct.from_json` reads.

        A node that occurs several times is written once.
        """
        return upward.text.to_json(self)

    def __repr__(self) -> str:

        return upward.text.to_text(self)


def kinds() -> dict[str, Callable[..., Node]]:
    """The constructor of every kind of node by its name: the only names a text may use."""
    return dict(Node._kinds)


def as_node(value: object, what: str) -> Node:
    """`value` if it is a Node; DomainError otherwise."""
    if not isinstance(value, Node):
        raise DomainError(
            f"{what}: found {echo(value)}, needed a mechanism such as Gaussian(5)",
            remedy="symacct.parse() turns text into one",
        )
    return value
