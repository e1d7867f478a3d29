"""Node: a record of what was done; and Mechanism, a leaf, with a curve of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from symacct.kernel import limits
from symacct.kernel.answer import Enclosure, Guarantee
from symacct.kernel.arithmetic import Arithmetic, LogNumber, Number
from symacct.kernel.arithmetic.within_limits import replaced
from symacct.kernel.attached import answered
from symacct.kernel.claims import (
    EITHER,
    UNKNOWN,
    Adjacency,
    AttainedBy,
    Claim,
    Kind,
    Relation,
    Source,
    check_stated,
    check_types,
    combine,
)
from symacct.kernel.deadline import one_question, progress
from symacct.kernel.errors import DomainError, SoundnessError, echo
from symacct.kernel.exact import (
    INFINITY,
    Exact,
    LazyModule,
    Numeric,
    Order,
    OrderArray,
    array_order,
    expression,
    sympy,
    typed_value,
)
from symacct.kernel.memory import HOMES, Interned, cached_property
from symacct.kernel.parameters import By

# --- sentences with marked mathematics
#
# A mechanism, an operation or a theorem states sentences such as "noise of $σ = {sigma}$". In text
# the mathematics reads as it stands, and in LaTeX `symacct.export.description` writes a formula.

#: The sign before and after the mathematics in a template, as in LaTeX.
_MATH_MARK = "$"


def pieces(template: str) -> list[tuple[str, bool]]:
    """The parts of a template that are not empty, each with whether it is mathematics.

    >>> pieces("a rate $γ <= 1/5$ of it")
    [('a rate ', False), ('γ <= 1/5', True), (' of it', False)]
    """
    parts = template.split(_MATH_MARK)
    if len(parts) % 2 == 0:
        return [(template, False)]  # a sign that is not closed marks nothing
    return [(part, place % 2 == 1) for place, part in enumerate(parts) if part]


def unmarked(template: str) -> str:
    """The template as plain text, without the signs about its mathematics."""
    return "".join(part for part, _ in pieces(template))


class Marked(str):
    """A sentence as plain text, with the template that marks its mathematics.

    >>> sentence = Marked("a rate $γ <= 1/5$")
    >>> print(sentence)
    a rate γ <= 1/5
    >>> sentence.template
    'a rate $γ <= 1/5$'
    """

    template: str

    def __new__(cls, template: str) -> Marked:
        sentence = super().__new__(cls, unmarked(template))
        sentence.template = template.template if isinstance(template, Marked) else template
        return sentence


class Pressing(str):
    """A premise that is stated beside the number itself, because many runs do not meet it."""

    __slots__ = ()

    def format(self, *values: object, **fields: object) -> Pressing:
        return Pressing(super().format(*values, **fields))


class Counted(str):
    """A count in words, to which {steps:step} in a template gives its noun: one step, 16 steps."""

    __slots__ = ()

    def __format__(self, noun: str) -> str:
        """The number with a noun, in the plural but for 1."""
        if not noun:
            return str(self)
        return f"one {noun}" if self == "1" else f"{self} {noun}s"


if TYPE_CHECKING:
    from symacct.kernel import accountant
    from symacct.questions import NodeQuestions
else:  # the accountant evaluates nodes, and the package attaches the other questions
    accountant = LazyModule("symacct.kernel.accountant")
    NodeQuestions = object

# --- nodes


@answered
class Node(Interned, NodeQuestions):
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
    #: The arguments that JSON leaves out where they are at their default, as older documents do.
    _json_optional: ClassVar[tuple[str, ...]] = ()
    #: The arguments of older documents that others have replaced, with what to write now.
    _json_former: ClassVar[Mapping[str, str]] = {}
    #: The names of its other constructors, which a text may call as well.
    _makers: ClassVar[tuple[str, ...]] = ()
    #: Which pair of laws attains the curve, and in which direction.
    attained: AttainedBy = UNKNOWN
    #: The order up to which ε(α)/α is proved to be at most ε(1), and so is zCDP's ρ
    #: (docs/proofs/currencies.md, Lemma concentrated).
    _steepest_up_to: Order = 1
    #: Does it hold only for the number of records that it states, so that no sample may change it?
    _counts_records: bool = False
    #: The rate γ ∈ [0, 1] at which it draws records at random; None where it draws none.
    sampling_rate: Exact | None = None
    #: The order up to which the curve between whole orders is the lower convex hull of its CGF's
    #: values at these; 0 where it is none.
    _hull_up_to: Order = 0
    #: Is the curve proved finite at every order 1 <= α < ∞?
    _never_ends: bool = False
    #: Is it 0-DP by its statement?
    _tells_nothing: bool = False
    #: What it is called in a sentence: a noun phrase with the fields in their places, and with
    #: mathematics between dollar signs, as in "noise of $σ = {sigma}$". {steps:step} counts steps.
    words: str = ""
    #: What has to be true of the program that ran, in sentences with the fields in their places,
    #: as in "at most {steps} steps"; `_premises_for` says what depends on the neighbours.
    premises: tuple[str, ...] = ()
    #: Are the premises about which records take part? `PostProcess(premise=)` replaces such ones.
    _says_who_takes_part: bool = False
    #: The noun for what its author stated for an open relation: its parameters, or its laws.
    _stated_by: str = "parameters"

    def _settle(self, fields: dict[str, Any]) -> None:
        """Sets the fields, the depth and the claim of a new node.

        LimitError for a nesting too deep; errors of adjacency and soundness are raised here, too.
        """
        # PureDP's parameter epsilon must not hide the question .epsilon(delta), and so on.
        hidden = {name for name in fields if hasattr(type(self), name)} - {"adjacency"}
        self.__dict__.update({k: v for k, v in fields.items() if k not in hidden})
        if "adjacency" in fields:  # an operation is about the relation that is given
            self.__dict__["_fixed_adjacency"] = fields["adjacency"]
        depth = 1 + max((child.depth for child in self.children), default=0)
        limits.check("depth", depth, f"{type(self).__name__}, nesting depth")
        self.__dict__["depth"] = depth
        self.__dict__["claim"] = self._infer()

    def _infer(self) -> Claim:
        """The claim about the node's curve."""
        raise NotImplementedError

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The nodes this one was made of."""
        return tuple(value for value in self._fields.values() if isinstance(value, Node))

    #: Does the formula of its curve hold at every order 1 < α < ∞?
    _has_one_formula: bool = False

    @property
    def _has_formula(self) -> bool:
        """Can its own curve be written down? A Python function of the user's may not."""
        return True

    @property
    def parts(self) -> Mapping[Node, Any]:
        """The nodes this one was made of, and how often each is run: a number or an expression."""
        return dict.fromkeys(self.children, 1)

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

    def _premises_for(self, relation: Relation) -> tuple[str, ...]:
        """The premises for neighbours of this relation."""
        return self.premises

    def _premises_in_sample(self, relation: Relation) -> tuple[str, ...]:
        """The premises where it is run on a sample, and read for neighbours of this relation."""
        return self._premises_for(relation)

    def _word_fields(self) -> Mapping[str, Any]:
        """The values in the places of `words`: the fields, in words of their own where needed."""
        return self.fields()

    @property
    def _is_local(self) -> bool:
        """Is all that is run randomized response, by which each person hides an answer?"""
        return False

    @property
    def _has_one_law_of_record(self) -> bool:
        """Has the dataset one law with any record somewhere in it, so that none changes nothing?"""
        return any(child._has_one_law_of_record for child in self.children)

    def for_group(self, size: int) -> Node | None:
        """The mechanism whose laws are this one's for groups of `size` >= 1 records; None for none.

        For noise it is the noise with `size` times the sensitivity.
        """
        return None

    @property
    def convex(self) -> bool:
        """Is the CGF of the curve, as evaluated at integer orders, proved convex?

        That of an exact curve is convex.
        """
        return self.claim.kind is Kind.EXACT

    @cached_property
    def sizes(self) -> tuple[int, float]:
        """The smallest and largest number of records that it is stated for: 1 and ∞ for any."""
        children_sizes = [child.sizes for child in self.children]
        smallest = max((low for low, _ in children_sizes), default=1)
        return smallest, min((high for _, high in children_sizes), default=INFINITY)

    def parameters(self) -> dict[str, Any]:
        """The fields that a theorem about this node may read: neither nodes nor the relation.

        That decides which theorems apply.
        """
        fields = self._fields.items()
        return {k: v for k, v in fields if k != "adjacency" and not isinstance(v, Node)}

    def walk(self) -> Iterator[Node]:
        """Every distinct node below this one and this one, each once, children before parents."""
        return chain(self._below, (self,))

    @cached_property
    def _below(self) -> tuple[Node, ...]:
        """The nodes below this one; a node that kept itself too would never be freed."""
        return tuple(dict.fromkeys(node for child in self.children for node in child.walk()))

    @cached_property
    def free_symbols(self) -> frozenset[sympy.Symbol]:
        """The SymPy symbols left open in any parameter below."""
        symbols = [value.free_symbols for value in self._symbolic_parameters()]
        return frozenset().union(*symbols, *(child.free_symbols for child in self.children))

    def _symbolic_parameters(self) -> list[sympy.Expr]:
        """The parameters kept as SymPy expressions."""
        return [v for v in self._fields.values() if isinstance(v, sympy.Expr)]

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
            done[node] = node._rebuild(done, lambda x: replaced(x, table))
        return done[self]

    def _symbols_named(self, name: object) -> list[sympy.Symbol]:
        """The free symbols of a name, several of different assumptions; DomainError for no name."""
        if isinstance(name, sympy.Symbol):
            return [name]
        if not isinstance(name, str):
            raise DomainError(f"subs: found the key {echo(name)}, needed a symbol or its name")
        symbols = [symbol for symbol in self.free_symbols if symbol.name == name]
        if not symbols:
            free = ", ".join(sorted(symbol.name for symbol in self.free_symbols)) or "none"
            raise DomainError(
                f"subs: found the name {echo(name)}, needed one of the free symbols: {free}"
            )
        return symbols

    def _rebuild(self, nodes: Mapping[Node, Node], replace: Callable[[sympy.Expr], Exact]) -> Node:
        """A copy with other children, one for each in `nodes`, and other symbolic parameters.

        `replace` gives the exact value of each expression.
        """
        fields = self.fields()
        for name, value in fields.items():
            if isinstance(value, Node):
                fields[name] = nodes[value]
            elif isinstance(value, sympy.Expr):
                fields[name] = replace(value)
        return type(self)(**fields)

    def _of_same_curve(self) -> tuple[Node, str]:
        """A node with the same curve, about which more is proved, and the reason in words.

        Itself and "" for none. The children are taken to be rewritten already. A class that
        overrides it guarantees that the curve is the same.
        """
        return self, ""

    @property
    def _rewritten(self) -> Node:
        """A node with the same curve about which more is proved; the node itself for none."""
        return self._same_curve[0] or self

    @property
    def _rewrites(self) -> tuple[str, ...]:
        """The reasons in words why the node has the curve of `_rewritten`."""
        return self._same_curve[1]

    @cached_property
    def _same_curve(self) -> tuple[Node | None, tuple[str, ...]]:
        """The rewritten node, None for itself, and the reasons why its curve is the same.

        A node that kept itself would never be freed.
        """
        parts = {child: child._same_curve[0] or child for child in self.children}
        is_changed = any(rewritten_child is not child for child, rewritten_child in parts.items())
        node = self._rebuild(parts, lambda x: x) if is_changed else self
        rewritten, why = node._of_same_curve()
        reasons = dict.fromkeys(chain(*(child._same_curve[1] for child in self.children), [why]))
        return None if rewritten is self else rewritten, tuple(filter(None, reasons))

    def __add__(self, other: object) -> Node:
        """Both mechanisms run on the same data: adaptive composition."""
        return kinds()["Compose"](self, other) if isinstance(other, Node) else NotImplemented

    def __radd__(self, other: object) -> Node:
        """0 + m, with which sum([…]) begins: the sum of mechanisms is their composition."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __mul__(self, count: object) -> Node:
        """The mechanism run `count` times, a whole number >= 0 or an expression for one."""
        return NotImplemented if isinstance(count, Node) else kinds()["Compose"]({self: count})

    __rmul__ = __mul__

    def convexify(self, max_order: int) -> Node:
        """The lower convex hull of this bound's CGF up to `max_order`; see `Convexify`."""
        return kinds()["Convexify"](self, max_order)

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
        return accountant.default_accountant(engine).rdp(self, alpha, by=by, digits=digits)

    def cgf(self, lam: Numeric, digits: int = 30, by: By = None, engine: str = "ball") -> Enclosure:
        """The CGF K(λ) = λ ε(λ+1) as an Enclosure, for λ >= 0, or for λ = −1 if ε(1) is finite."""
        return accountant.default_accountant(engine).cgf(self, lam, by=by, digits=digits)

    def lower_bound(self, alpha: Numeric, digits: int = 30, engine: str = "ball") -> Enclosure:
        """The best known lower bound of ε(α); never a guarantee."""
        return accountant.default_accountant(engine).lower_bound(self, alpha, digits=digits)

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
        return accountant.default_accountant().epsilon(
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
        return accountant.default_accountant().delta(
            self, epsilon, conversion=conversion, orders=orders, by=by, digits=digits
        )

    @one_question("lower_epsilon")
    def lower_epsilon(self, delta: Numeric, digits: int = 30) -> Enclosure:
        """A proved lower bound of the true ε(δ), which is never a guarantee.

        The bound is the exact profile of a post-processing of the mechanism. The answer is 0 if no
        two output laws are known.

        >>> from symacct import Gaussian, SubsampleWithoutReplacement
        >>> m = 100 * SubsampleWithoutReplacement(Gaussian(2), "1/10")
        >>> print(m.lower_epsilon("1e-5", digits=6))
        2.33739
        """
        return accountant.default_accountant().lower_epsilon(self, delta, digits)

    @one_question("lower_delta")
    def lower_delta(self, epsilon: Numeric, digits: int = 30) -> Enclosure:
        """A proved lower bound of the true δ(ε); see `lower_epsilon`."""
        return accountant.default_accountant().lower_delta(self, epsilon, digits)


def kinds() -> dict[str, Callable[..., Node]]:
    """The constructor of every kind of node by its name, users' too: the only names of a text."""
    HOMES["nodes"].open()
    return dict(Node._kinds)


def as_node(value: object, subject: str) -> Node:
    """`value` if it is a Node; DomainError otherwise."""
    if not isinstance(value, Node):
        raise DomainError(
            f"{subject}: found {echo(value)}, needed a mechanism such as Gaussian(5)",
            remedy="symacct.parse() turns text into one",
        )
    return value


# --- what verify asks

#: A parameter's value as exact text, or two ends between which it is drawn log-uniformly.
Size = str | tuple[float, float]
#: Noise from almost none to very much, in units of the sensitivity. Only the questions that
#: `verify` draws rest on them.
_NOISE_SCALES: tuple[Size, ...] = (
    (0.3, 0.6), (0.6, 1), (1, 2), (2, 4.5), (4.5, 12), (12, 60), (60, 3000), "1", "2",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AskedValues:
    """Values of a mechanism's first parameter that are worth a question; numbers are exact text.

    An ask of docs/verification.md names the mechanism by its class, and gives the `parameters`.
    """

    #: The noun of a report, such as Gaussian noise.
    called: str
    parameters: tuple[str, ...]
    #: Values from harmless to extreme, of which `--quick` asks the first ones.
    values: tuple[str, ...]
    #: A value at which a run has almost no privacy loss.
    harmless: str
    #: Values that replace one that shows a fault if they show it too, the simplest first.
    simple: tuple[str, ...]
    #: The ends of the values that are usual in training.
    typical: tuple[float, float]
    #: The ends between which values are drawn log-uniformly at random.
    drawn: tuple[float, float]
    #: Levels of the value, each of which is asked once with each level of the other factors.
    covered: tuple[Size, ...] = _NOISE_SCALES
    #: The value ↦ zCDP's ρ of one run, roughly.
    rho: Callable[[float], float] = lambda scale: 1 / (2 * scale**2)
    #: Values of the parameters beyond the first, where no level gives another.
    rest: tuple[str, ...] = ()
    #: Levels of the second parameter, each asked with each level of the other factors.
    rest_covered: tuple[str, ...] = ()
    #: Is the first parameter the scale of the noise, in the unit of the query?
    is_scale: bool = True
    #: Is the first parameter a probability, whose distance from 1 is drawn?
    is_probability: bool = False
    #: Is the mechanism a sum over many steps, of which a record is in one?
    is_stream: bool = False


# --- leaves

#: The methods of which one at least makes a class one with a curve of its own.
_CURVE = {"curve", "excess", "at_one", "at_infinity"}
#: What to write for an attribute of a mechanism that its class leaves out.
_REMEDIES = {
    "kind": "kind = Kind.EXACT if a pair attains the curve at every order, else Kind.UPPER or "
    "Kind.LOWER",
    "attained": "attained = SWAPPED if one pair attains it at every order and an involution swaps "
    "it, ADDED if it is one pair and its first law is that with the record, LARGER if either law "
    "of it may be the first one, ANY_OF_SEVERAL or UNKNOWN (of symacct.kernel.claims)",
    "convex": "convex = True if λε(λ+1) is proved convex, else False",
    "source": "source = Source(work, place)",
}

#: The premise of a mechanism of which only a statement about its privacy is known.
STATED_OF_IT = "what is stated of a mechanism's privacy holds of it"


class Mechanism(Node):
    """A leaf, whose class states the kind, the source and the parts of its curve."""

    kind: Kind
    source: Source
    #: The name of the parameter beside `sensitivity` of noise whose curve for a group of k records
    #: is that for k times the sensitivity, because two records may move the query in opposite
    #: directions (docs/proofs/directions.md, Lemma group-noise). It is empty for other mechanisms.
    noise_scale: str = ""
    #: The values that `verify` asks other accountants about. A subclass does not inherit them.
    asked: ClassVar[AskedValues | None] = None
    #: Does a value of the curve cost no more than a few elementary functions? This only steers.
    is_cheap = False
    #: Is the curve a user's, whose values are checked?
    _is_of_user = False
    #: The curve is finite below this order, at it if `is_finite_there`, and ∞ beyond, where neither
    #: `curve` nor `excess` is asked. An exact number, or a SymPy expression if it is irrational.
    finite_up_to: Exact | float = INFINITY
    is_finite_there = False
    #: A leaf is rewritten as no other node.
    _same_curve = (None, ())

    def __init_subclass__(cls, **options: Any) -> None:
        """Check that a leaf states what its curve needs, when its class is made."""
        super().__init_subclass__(**options)
        _refuse_second_curve(cls)
        if not cls.__dict__.keys() & {*_CURVE, "__new__"}:
            return
        classes = _classes_of_curve(cls)
        stated: dict[str, Any] = {
            n: True for base in classes for n in (*base._constructor, *base.__dict__)
        }
        needed = _statements_needed(cls, classes)
        if "__new__" in cls.__dict__:
            needed.add("source")
        stated["source"] = hasattr(cls, "source") or None
        check_stated(
            f"class {cls.__name__}", {k: v for k, v in _REMEDIES.items() if k in needed}, stated
        )
        if isinstance(cls.__dict__.get("kind"), str):  # else it is stated, a field or a property
            check_types(f"class {cls.__name__}", {"kind": Kind}, _REMEDIES, vars(cls))

    @property
    def neighbours(self) -> Any:
        """The laws of one run on neighbouring datasets; None where only the curve is known."""
        return None

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ ε(α) in nats at exact 1 < α < ∞, or at an array of floats in float64.

        A class gives this, or `excess` instead. It is not asked where `finite_up_to` says ∞.
        """
        excess = self._excess_in(ctx)
        if excess is None:
            raise NotImplementedError(f"{type(self).__name__} has neither curve nor excess")
        return lambda alpha: ctx.log1p(excess(alpha)) / (ctx.number(alpha) - 1)

    def excess(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """α ↦ e^{(α−1)ε(α)} − 1 at 1 < α < ∞, where it is the simpler formula; else None."""
        return None

    def stable_excess(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """The excess by a formula in which nothing cancels, for arithmetics that round; or None."""
        return self.excess(ctx)

    def _sharper(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """α ↦ a bound in numbers, without a formula, that is smaller than the curve at some orders.

        It raises LimitError or PrecisionError at an order where it has no value.
        """
        return None

    def _excess_in(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """The excess in the form for the arithmetic: the stable one where it rounds; or None."""
        return self.stable_excess(ctx) if ctx.rounds else self.excess(ctx)

    def excesses(self, ctx: Arithmetic) -> Iterator[Number]:
        """The excess at 2, 3, … in turn, by its own formula or by that of the curve."""
        direct = self._excess_in(ctx)
        if direct is None:
            curve = self.curve(ctx)
            direct = lambda l: ctx.expm1((l - 1) * curve(l))  # noqa: E731
        return map(self._within_orders(ctx, direct), count(2))

    def _is_finite_at(self, alpha: Order) -> Any:
        """Is the curve finite at α, as `finite_up_to` states?

        With free symbols the answer is SymPy's condition on them. DomainError for a float as the
        end.
        """
        end = self.finite_up_to
        if end == INFINITY:
            return True
        if isinstance(end, float):
            raise DomainError(
                f"class {type(self).__name__}, finite_up_to: found the float {end}, needed an "
                "exact number, as a Fraction, or a SymPy expression such as 1 + sympy.exp(s)"
            )
        if isinstance(alpha, sympy.Expr) or isinstance(end, sympy.Expr):
            alpha, end = expression(alpha), expression(end)
        return alpha <= end if self.is_finite_there else alpha < end

    def _within_orders(
        self, ctx: Arithmetic, of_order: Callable[[Order], Number]
    ) -> Callable[[Order], Number]:
        """The function of the order, but ∞ where the curve is stated to be infinite.

        Symbolic orders for which that is open count as finite.
        """
        if self.finite_up_to == INFINITY:
            return of_order

        def value(alpha: Order) -> Number:
            beyond = self._is_finite_at(alpha) in (False, sympy.false)
            return ctx.number(INFINITY) if beyond else of_order(alpha)

        return order_by_order(ctx, value)

    def at_one(self, ctx: Arithmetic) -> Number:
        """ε(1) in nats, the Kullback–Leibler divergence, which may be ∞."""
        raise self._unwritten("at_one", "ε(1), the limit of ε(α) at α = 1")

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """ε(∞) in nats, the pure-DP ε, which may be ∞."""
        raise self._unwritten("at_infinity", "ε(∞), ctx.number(INFINITY) if it is not finite")

    def _unwritten(self, name: str, meaning: str) -> NotImplementedError:
        """The error of a class that lacks a method of its curve."""
        return NotImplementedError(
            f"class {type(self).__name__}: found no {name}, needed {name}(self, ctx), {meaning}"
        )

    def for_group(self, size: int) -> Node | None:
        """The noise for `size` times the sensitivity, of the class that states `noise_scale`.

        None where none states it.
        """
        if not self.noise_scale:
            return None
        family: Any = next(base for base in type(self).__mro__ if "noise_scale" in vars(base))
        noise: Any = self
        noise_of_group: Node = family(getattr(noise, self.noise_scale), size * noise.sensitivity)
        return noise_of_group

    def _infer(self) -> Claim:
        """The claim that the class states, about the relation that a parameter `adjacency` names.

        SoundnessError for a curve that bounds nothing.
        """
        kind = combine([self.kind], type(self).__name__)
        return Claim(kind, self._fields.get("adjacency", EITHER), sources=(self.source,))


def order_by_order(ctx: Arithmetic, curve: Callable[[Order], Number]) -> Callable[[Order], Number]:
    """A curve that decides something at each exact order, for flat arrays of orders as well.

    In float64 each order of an array is asked by itself.
    """

    def each(alpha: Order) -> Any:
        if isinstance(alpha, np.ndarray):
            parts = [(place, curve(array_order(order))) for place, order in enumerate(alpha)]
            return LogNumber.from_parts(alpha.shape, parts)
        return curve(alpha)

    return each


def _refuse_second_curve(cls: type[Mechanism]) -> None:
    """SoundnessError where a class overrides the curve of a base class.

    Theorems about the base class rely on its law, and the new curve would belong to another law.
    """
    parts = {*_CURVE, "stable_excess", "excesses"}
    for base in cls.__mro__[1 : cls.__mro__.index(Mechanism)]:
        if cls.__dict__.keys() & parts and base.__dict__.keys() & _CURVE:
            raise SoundnessError(
                f"class {cls.__name__}: found a curve of its own beside that of "
                f"{base.__name__}, whose noise theorems take it to have; needed one curve: "
                "derive from Mechanism, or keep that curve and choose its parameters"
            )


def _classes_of_curve(cls: type[Mechanism]) -> list[type[Mechanism]]:
    """The class and its bases, up to the first one that defines a part of the curve."""
    bases = cls.__mro__[: cls.__mro__.index(Mechanism)]
    places = (i for i, base in enumerate(bases) if _CURVE & base.__dict__.keys())
    return list(bases[: next(places, len(bases)) + 1])


def _statements_needed(cls: type[Mechanism], classes: list[type[Mechanism]]) -> set[str]:
    """The attributes that the classes which define a curve have to state of it.

    Those that a base class beyond them states are stated anew, as the curve is another one.
    """
    kind = next((base.__dict__["kind"] for base in classes if "kind" in base.__dict__), None)
    bases = cls.__mro__[len(classes) : cls.__mro__.index(Mechanism)]
    restated = {name for base in bases for name in base.__dict__ if name in _REMEDIES}
    return {"kind"} | restated | (set() if kind is Kind.UPPER else {"attained"})
