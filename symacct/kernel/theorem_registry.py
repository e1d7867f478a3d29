"""Theorem: what is proved about an operation, what it reads, where it holds, which one answers."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import (
    Any,
    Protocol,
    Required,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    Unpack,
    cast,
    overload,
)

import numpy as np
from flint import arb, fmpq

from symacct.kernel import arguments, claims, limits
from symacct.kernel.arguments import By, chosen
from symacct.kernel.arithmetic import Arithmetic, BallArithmetic, Number
from symacct.kernel.arithmetic.ball import BALL, doubled, precision
from symacct.kernel.attached import answered
from symacct.kernel.claims import (
    INTEGER_ORDERS,
    UNSTATED,
    Adjacency,
    Claim,
    Kind,
    Orders,
    Relation,
    Source,
    check_sorts,
    check_stated,
    infer,
)
from symacct.kernel.errors import (
    AssumptionError,
    DomainError,
    OrderError,
    PrecisionError,
    SoundnessError,
    echo,
    suggestion,
)
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, is_real, sympy
from symacct.kernel.memory import HOMES, cached_property
from symacct.kernel.node import Marked, Node, unmarked
from symacct.kernel.sums.binomial_sums import SummedCurve
from symacct.kernel.sums.local import LocalProduct

# --- the register
#
# Theorem: what is proved about an operation, where it holds, and which one answers.

# --- where theorems hold
#
# Where theorems hold, as data: inequalities in any arithmetic, each said in words as well.


@dataclass(frozen=True)
class Inequality:
    """left <= right, or left < right where it is `strict`, of numbers of one arithmetic."""

    #: With the mathematics marked.
    words: str
    left: Number
    right: Number
    strict: bool = False

    def decided(self) -> bool | None:
        """Does it hold? None where balls overlap."""
        margin = self.right - self.left
        if margin > 0 or (margin >= 0 and not self.strict):
            return True
        return False if margin < 0 or (margin <= 0 and self.strict) else None


#: (ctx, …) ↦ inequalities between quantities, those first that make the others defined.
Conditions = Callable[..., Iterator[Inequality]]
#: What an inequality is about: exact numbers, ∞, or expressions.
Quantities = tuple[Exact | float, ...]


@dataclass(frozen=True)
class Regime:
    """The conditions on a mechanism's quantities and rate, and those on the order as well."""

    names: tuple[str, ...]
    quantities: Callable[[Node, Exact], Quantities]
    of_node: Conditions
    of_order: Conditions

    def __str__(self) -> str:
        """All of the conditions, marked as in a template, which are the same for all numbers."""
        given = [arb(1)] * len(self.names)
        asked = [*self.of_node(BALL, *given), *self.of_order(BALL, *given, arb(1))]
        return ", ".join(one.words for one in asked)

    def after(self, why_not: Callable[[Node], str | None]) -> Callable[[Node], str | None]:
        """What a theorem asks of a node: what is asked first, then the conditions on numbers."""
        return lambda node: why_not(node) or self._why_not(node.mechanism, node.gamma)  # type: ignore[attr-defined]

    def _why_not(self, mechanism: Node, gamma: Exact) -> str | None:
        """The condition that fails, and of what; None if all hold, or are the reader's to check."""
        given = self.quantities(mechanism, gamma)
        failed = None if _is_open(given) else _failing(self.of_node, given)
        if failed is None:
            return None
        found = ", ".join(
            f"{n} = {echo(value)}" for n, value in zip(self.names, given, strict=True)
        )
        return f"it needs {failed}, got {found}"

    def require(self, theorem: str, mechanism: Node, gamma: Exact, alpha: Order) -> None:
        """OrderError naming the condition that fails at α, or in an array of orders."""
        given = self.quantities(mechanism, gamma)
        is_number = isinstance(alpha, int | float | Fraction | np.ndarray | np.number)
        if not is_number or _is_open(given) or gamma == 0:
            return
        for one in np.unique(alpha) if isinstance(alpha, np.ndarray) else [alpha]:
            order = Fraction(float(one)) if isinstance(one, np.floating) else one
            failed = _failing(self.of_order, (*given, order))
            if failed is not None:
                raise OrderError(
                    f"{theorem} needs {failed}, which fails at order {echo(one)}",
                    remedy="ask for a lower order, or without by for the default bound",
                )


class _RationalsKept(BallArithmetic):
    """Balls, but of rational numbers only from the first logarithm on: equality is decided."""

    def number(self, value: Numeric) -> arb | fmpq:  # type: ignore[override]
        if isinstance(value, int | Fraction) or (
            isinstance(value, sympy.Expr) and value.is_Rational
        ):
            return fmpq(int(value.numerator), int(value.denominator))
        return BALL.number(value)

    def log(self, x: arb | fmpq) -> arb:
        return arb(x).log()

    def log1p(self, x: arb | fmpq) -> arb:
        return arb(x).log1p()


_DECIDING = _RationalsKept()


def _is_open(given: Quantities) -> bool:
    """Is a symbol left open? Irrational constants are numbers, and the conditions are asked."""
    return any(isinstance(value, sympy.Expr) and value.free_symbols for value in given)


def _failing(conditions: Conditions, given: tuple[Numeric, ...]) -> str | None:
    """The first condition that fails, in words; PrecisionError where no precision decides."""
    words = ""
    for bits in doubled(64):
        with precision(bits):
            for one in conditions(_DECIDING, *map(_DECIDING.number, given)):
                words, holds = unmarked(one.words), one.decided()
                if not holds:
                    break
            else:
                return None
        if holds is False:
            return words
    most = limits.current().bits
    raise PrecisionError(f"{words}: too close to equality to decide within {most} bits")


# --- the register
#
# Theorem: what is proved about an operation; the register of all, and which one applies.

# A condition gives back None where it is proved to hold, else the reason why it is not.
Condition = Callable[[Node], str | None]
ConditionAtOrder = Callable[[Node, Order | np.ndarray], str | None]
Bound: TypeAlias = Callable[..., Number]

PROVED, REFUTED = "proved", "refuted"
ANY_VALUE = range(10**9)  # of an option whose theorem says nothing narrower
STATUSES = (PROVED, "conjecture", "approximation", REFUTED)
#: What is needed where a theorem is named.
LISTED = "a name that theorems lists, such as ZW19-T5"
STATUS_REMEDY = f"status={PROVED!r}, or what else it is of {', '.join(STATUSES[1:])}"
_REMEDIES = {
    "operation": "operation= with the operation's class, or a tuple of them",
    "kind": "kind='exact', 'upper' or 'lower', what it gives for an exact curve",
    "source": "source='work, place'",
    "orders": "orders='integer' or 'real', or a set of symacct.kernel.claims",
    "adjacency": "adjacency='add_remove', 'replace_one' or 'either'",
    "monotone": "monotone=True if it is nondecreasing in every ε(j) that it reads, else False",
    "applies": "applies=always if it holds for every mechanism, else a function of the node that "
    "gives back None, or the reason why it is not proved",
    "status": STATUS_REMEDY,
}

_SORTS = {
    **{"kind": Kind, "source": Source, "orders": Orders, "adjacency": Adjacency},
    **{"monotone": bool, "applies": Callable},
}

#: The first sign of relation in a formula, and what it is where the formula is no exact value.
_RELATION_SIGN = re.compile("<=|>=|[=≤≥<>]")
_SIGNS = {Kind.UPPER: "<=", Kind.LOWER: ">="}


def always(node: Node) -> str | None:
    """The condition of a theorem about every mechanism."""
    return None


@answered
@dataclass(frozen=True, kw_only=True, repr=False)
class Theorem:
    """A statement about one operation, with the formula that computes it.

    `bound(ctx, eps, alpha, ...)` is the formula. `eps` is the curve that it reads: that of the
    operation's mechanism, a tuple of curves for a composition, or the node's own curve if `reads`
    is "itself". `alpha` is the exact order, and the other arguments are the operation's parameters
    by name. Raises SoundnessError if a field that decides the claim is missing.

    >>> [(one.name, str(one.source)) for one in theorems() if one.name == "ZW19-T5"]
    [('ZW19-T5', 'ZW19, Theorem 5')]
    """

    name: str
    bound: Bound
    #: The names of the operations that it is about, whose classes `theorem` is given.
    operation: tuple[str, ...] = UNSTATED
    kind: Kind = UNSTATED
    source: Source = UNSTATED
    orders: Orders = UNSTATED
    adjacency: Adjacency = UNSTATED
    #: Is the bound nondecreasing in every ε(j) that it reads?
    monotone: bool = UNSTATED
    #: "proved"; a "conjecture", an "approximation" or what is "refuted" never gives a guarantee.
    status: str = UNSTATED
    #: With its mathematics between dollar signs.
    assumes: str = "nothing further"
    #: Node → None, or the reason why it is not proved; `always` is about every mechanism.
    applies: Condition = UNSTATED
    #: Node and order → None, or the reason why what is exact otherwise is only an upper bound here.
    why_upper: ConditionAtOrder | None = None
    #: Conditions on numbers: `applies` asks those on the node, the bound those on the order.
    regime: Regime | None = None
    reads: str = "mechanism"
    #: Takes part in the default answer.
    default: bool = True
    #: A cheaper formula near the bound, of convex CGF, to compare orders by; no answer rests on it.
    steer: Bound | None = None
    #: Given an order `near` too, a formula nowhere above the exact curve, of convex CGF, that is
    #: mostly the curve about `near`: by it an optimum is proved.
    below: Bound | None = None
    #: (eps, middle, …) ↦ the bound at all α within ½ of a whole order, a `sums.local.Product` of
    #: balls; None where each order has to be asked by itself.
    local: Callable[..., Any] | None = None
    #: Where it applies no other upper bound is smaller.
    tight: bool = False
    #: May say nothing at an order, and has no formula: the others answer there. In float64 too.
    partial: bool = False
    #: Is given the operation's parameters exactly, and brings them into the arithmetic itself.
    takes_exact: bool = False
    #: What `by=` may set, each with the value it has where it is not set.
    options: tuple[tuple[str, int], ...] = field(default=())
    #: The values that `by=` may give to an option: `ANY_VALUE` where nothing is said.
    option_values: tuple[tuple[str, range], ...] = field(default=())

    def __repr__(self) -> str:
        return f"<Theorem {self.name} ({self.kind}) about {self.about}: {self.source}>"

    def __post_init__(self) -> None:
        check_stated(f"theorem {self.name}", _REMEDIES, vars(self))
        check_status(f"theorem {self.name}", self.status)
        check_sorts(f"theorem {self.name}", _SORTS, _REMEDIES, vars(self))

    @property
    def about(self) -> str:
        """The names of its operations in a line."""
        return ", ".join(self.operation)

    @property
    def statement(self) -> str:
        """The formula, as the docstring of the bound gives it; for a bound its = is <= or >=."""
        text = inspect.getdoc(self.bound) or ""
        sign = _RELATION_SIGN.search(text)
        if sign is None or sign[0] != "=":
            return text
        return text[: sign.start()] + _SIGNS.get(self.kind, "=") + text[sign.end() :]

    @cached_property
    def claim(self) -> Claim:
        """What the theorem yields for exact premises."""
        return Claim(
            self.kind,
            self.adjacency,
            self.orders,
            theorems=(self.name,),
            sources=(self.source,),
            certified=self.status == PROVED,
        )

    def why_not(self, node: Node, alpha: Order | np.ndarray) -> str | None:
        """The reason why the theorem says nothing about `node` at `alpha`; None if it does."""
        if not is_of_operation(self, node):
            return f"{self.name} is about {self.about}, got {type(node).__name__}"
        if not speaks_of_relation(self, node):
            relation = node.fixed_adjacency  # type: ignore[attr-defined]
            return f"{self.name} is about {self.adjacency} neighbours, got {relation}"
        if alpha not in self.orders:
            return order_finding(self, alpha)
        return self.why_unproved(node)

    def why_unproved(self, node: Node) -> str | None:
        """The reason why it is not proved of an operation and a relation that it is about.

        Where it may fall as a value rises that it reads, a value that is only bounded will not do.
        """
        if not self.monotone and self.reads != "itself":
            kinds = {child.claim.kind for child in node.children} - {Kind.EXACT}
            if kinds:
                return (
                    f"{self.name} is not nondecreasing in the values that it reads: it needs an "
                    f"exact curve, got one of kind {', '.join(sorted(map(str, kinds)))}"
                )
        return self.applies(node)

    def arguments(self, ctx: Arithmetic, node: Node) -> dict[str, Any]:
        """What the bound takes by name: the node's parameters, in `ctx` or exact, and options."""
        found = node.parameters()
        if not self.takes_exact:
            found = {
                name: ctx.number(x) if isinstance(x, Fraction | sympy.Expr) else x
                for name, x in found.items()
            }
        return found | dict(self.options)

    def kind_for(self, node: Node, alpha: Order | np.ndarray) -> Kind:
        """What it yields for this node at this order, for exact premises."""
        is_upper = self.why_upper is not None and self.why_upper(node, alpha) is not None
        return Kind.UPPER if is_upper else self.kind

    def is_tight(self, node: Node, alpha: Order | np.ndarray) -> bool:
        """Is no other upper bound smaller for this node at this order, where it applies?"""
        return self.tight and self.kind_for(node, alpha) is self.kind

    def infer(self, node: Node, premises: Iterable[Claim], alpha: Order | np.ndarray) -> Claim:
        """The claim for this node at an order, given what is claimed of the curves it reads."""
        what = f"{self.name} on {type(node).__name__}"
        if self.reads != "itself":
            premises = node.carried(premises, what)  # type: ignore[attr-defined]
        stated = replace(self.claim, kind=self.kind_for(node, alpha))
        found = infer(what, stated, premises, self.monotone)
        # What is refuted bounds nothing, whatever it says of itself.
        return replace(found, kind=Kind.NEITHER) if self.status == REFUTED else found


class Register:
    """The theorems by their names. Those of the package are imported when they are first read."""

    def __init__(self) -> None:
        self._theorems: dict[str, Theorem] = {}
        #: Of a class of operations, those about it that answer by default.
        self._defaults: dict[type, tuple[Theorem, ...]] = {}
        #: Part of the key of all that depends on the register: it grows whenever that changes.
        self.revision = 0

    def names(self) -> Mapping[str, Theorem]:
        """All theorems, in the order in which they were stated."""
        HOMES["theorems"].open()
        return self._theorems

    def add(self, theorem: Theorem) -> None:
        """DomainError for a name that is taken."""
        if theorem.name in self._theorems:
            raise DomainError(f"theorem {theorem.name}: already registered, needed a new name")
        self._theorems[theorem.name] = theorem
        self._changed()

    def remove(self, name: str) -> None:
        """DomainError for a name that no theorem has."""
        if self._theorems.pop(name, None) is None:
            meant = suggestion(name, self._theorems, LISTED)
            raise DomainError(f"theorem: found {echo(name)}{meant}")
        self._changed()

    def _changed(self) -> None:
        self.revision += 1
        self._defaults.clear()

    def defaults(self, kind: type) -> tuple[Theorem, ...]:
        """The theorems that answer by default about a class of operations, or one it is made of."""
        known = self._defaults.get(kind)
        if known is None:
            every = self.names().values()
            classes = {base.__name__ for base in kind.__mro__}
            known = tuple(t for t in every if t.default and not classes.isdisjoint(t.operation))
            self._defaults[kind] = known
        return known


register = Register()


def forget(name: str) -> None:
    """Take a theorem out of the register, such as one of your own that you want to restate."""
    register.remove(name)


class Statement(TypedDict, total=False):
    """The fields of a `Theorem` that its author writes; what decides a claim has to be there."""

    kind: Required[Kind | str]
    source: Required[Source | str]
    orders: Required[Orders | str]
    adjacency: Required[Adjacency | str]
    monotone: Required[bool]
    status: Required[str]
    applies: Required[Condition]
    why_upper: ConditionAtOrder | None
    assumes: str
    regime: Regime | None
    reads: str
    default: bool
    steer: Bound | None
    below: Bound | None
    local: Callable[..., Any] | None
    tight: bool
    partial: bool
    takes_exact: bool
    options: tuple[tuple[str, int], ...]
    option_values: tuple[tuple[str, range], ...]


def theorem(
    name: str,
    *,
    operation: type[Node] | tuple[type[Node], ...] = UNSTATED,
    **statement: Unpack[Statement],
) -> Callable[[Bound], Bound]:
    """Register the decorated function as the bound of the theorem `name` about `operation`.

    `statement` are the other fields of `Theorem`; SoundnessError where one that decides the claim
    is left out, DomainError for a name that is taken. Left out, `default` is whether it is proved.

    >>> theorem("EXAMPLE", operation=Node)(lambda ctx, eps, alpha: 0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    symacct.kernel.errors.SoundnessError: theorem EXAMPLE: ...
    """
    about = _names(name, operation)
    statement = _read(f"theorem {name}", about, statement)

    def state(bound: Bound) -> Bound:
        statement.setdefault("default", statement.get("status") == PROVED)
        made = Theorem(name=name, bound=bound, operation=about, **cast(dict[str, Any], statement))
        if made.default and made.status != PROVED:
            raise SoundnessError(
                f"theorem {name}: found a {made.status} among the default answers, needed "
                "default=False for what is not proved"
            )
        register.add(made)
        return bound

    return state


def _read(what: str, about: Any, statement: Statement) -> Statement:
    """The statement with its words read; one error names all that is missing or wrong."""
    read: dict[str, Any] = dict(statement)
    wrong = []
    for name, reader in _READERS.items():
        if read.get(name) is not UNSTATED:
            try:
                read[name] = reader(read[name])
            except DomainError as error:
                wrong.append(str(error))
    if "assumes" in read:
        read["assumes"] = Marked(arguments.text(read["assumes"], f"{what}, assumes"))
    try:
        check_stated(what, _REMEDIES, read | {"operation": about})
    except SoundnessError as error:
        raise SoundnessError("; ".join([str(error), *wrong])) from None
    if wrong:
        raise DomainError(f"{what}, {'; '.join(wrong)}")
    return cast(Statement, read)


def _names(name: str, operation: Any) -> Any:
    """The names of one class of operations, or of a tuple of them, if they are stated."""
    if operation is UNSTATED:
        return operation
    kinds = operation if isinstance(operation, tuple) else (operation,)
    if not kinds or not all(isinstance(kind, type) and issubclass(kind, Node) for kind in kinds):
        raise DomainError(
            f"theorem {name}, operation: found {echo(operation)}, needed a class such as "
            "PoissonSubsample, or a tuple of them"
        )
    return tuple(kind.__name__ for kind in kinds)


def check_status(what: str, status: object) -> None:
    """DomainError for what is no status."""
    arguments.one_of(status, f"{what}, status", STATUSES)


_READERS: dict[str, Callable[[object], Any]] = {
    **{"kind": claims.kind, "source": claims.source, "orders": claims.orders},
    **{
        "adjacency": claims.adjacency,
        "status": partial(arguments.one_of, name="status", names=STATUSES),
    },
}


@answered
class Theorems(list[Theorem]):
    """A list of theorems, which a notebook shows as a table and a terminal a line for each."""

    def __repr__(self) -> str:
        return "\n".join(f"{one.name}: {one.source}" for one in self) or "[]"

    @overload
    def __getitem__(self, place: SupportsIndex) -> Theorem: ...
    @overload
    def __getitem__(self, place: slice) -> Theorems: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Theorem | Theorems:
        found = super().__getitem__(place)
        return found if isinstance(found, Theorem) else Theorems(found)


def theorems() -> Theorems:
    """Every registered theorem, with its source, assumptions, adjacency and orders.

    >>> [one.name for one in theorems() if one.source.key == "ACG16"]
    ['ACG16-L3']
    """
    return Theorems(register.names().values())


def known_as(name: str) -> Theorem | None:
    """The theorem that is registered under this very name, if there is one."""
    return register.names().get(name)


@functools.singledispatch
def rough_curve(node: Node) -> Callable[[Order], float] | None:
    """About the node's curve by floats, where its exact formula takes long to compare orders by.

    The theorem that states the formula registers it for its operations; None of all others.
    """
    return None


def named(name: str, what: str = "by") -> Theorem:
    """The theorem called `name`, with options where it has any: "ZW19-T11:tau=50".

    `what` is the argument that an error is about.
    """
    if not isinstance(name, str):
        needed = f"{LISTED}, or a tuple of such names"
        raise DomainError(f"{what}: found {echo(name)}, needed {needed}")
    key, colon, options = name.partition(":")
    found = register.names().get(key)
    if found is None:
        meant = suggestion(key, register.names(), LISTED)
        raise DomainError(f"{what}: found {echo(name)}{meant}")
    return _with_options(found, options) if colon else found


def all_named(by: By) -> tuple[Theorem, ...]:
    """The theorems that `by=` names."""
    if by is None:
        return ()
    return tuple(map(named, by)) if isinstance(by, tuple) else (named(by),)


def named_about(by: By, node: Node) -> tuple[Theorem, ...]:
    """The theorems named by the user that are about the node itself."""
    if by is None:
        return ()
    return tuple(theorem for theorem in all_named(by) if is_about(theorem, node))


def refuse_unproved(by: By) -> None:
    """SoundnessError if a pinned theorem is no theorem: it must never become a guarantee."""
    for theorem in all_named(by):
        remedy = "ask without by, or ask rdp for the number"
        check_proved(theorem.name, theorem.status, remedy)


def check_proved(what: str, status: str, remedy: str) -> None:
    """SoundnessError for what a guarantee must not rest on."""
    if status != PROVED:
        raise SoundnessError(
            f"{what}: found the status {echo(status)}, needed {PROVED!r} for a guarantee",
            remedy=remedy,
        )


def is_of_operation(theorem: Theorem, node: Node) -> bool:
    """Is the node an operation that the theorem is about, or of a class made from one?

    A theorem about a class holds for every object of it, and so for those of its subclasses. Who
    writes a subclass claims that it is what its parent is with the same fields: where it does
    something else, or overrides `parameters`, `children` or `fixed_adjacency`, what is proved of
    the parent is its author's claim. An operation for which the parent's theorems do not hold is
    made from `Operation`.
    """
    return not {kind.__name__ for kind in type(node).__mro__}.isdisjoint(theorem.operation)


def is_about(theorem: Theorem, node: Node) -> bool:
    """Is the node an operation of the kind, under the relation, that the theorem is about?"""
    return is_of_operation(theorem, node) and speaks_of_relation(theorem, node)


def speaks_of_relation(theorem: Theorem, node: Any) -> bool:
    """Is the theorem about this relation, or open and about laws of neighbouring laws?"""
    if theorem.adjacency.relation is Relation.EITHER:
        return theorem.reads == "itself" or bool(node.is_one_step())
    return node.fixed_adjacency.relation in (Relation.EITHER, theorem.adjacency.relation)


def order_finding(theorem: Theorem, alpha: Order | np.ndarray) -> str:
    """The orders at which a theorem holds, and the one at which it was asked."""
    shown = str(alpha) if isinstance(alpha, sympy.Basic) else echo(alpha)
    return f"{theorem.name} holds at {theorem.orders}, got {shown}"


def order_remedy(theorem: Theorem) -> str:
    """What to ask at an order at which a theorem does not hold, if anything."""
    if not theorem.orders.whole:
        return ""
    if theorem.kind is Kind.LOWER:
        return "ask for a whole order"
    return "convexify gives an upper bound"


def _with_options(theorem: Theorem, text: str) -> Theorem:
    """The theorem with its options set from "tau=50"; DomainError for what is no option of it."""
    stated = dict(theorem.option_values)
    values = {key: stated.get(key, ANY_VALUE) for key, _ in theorem.options}
    options = {**dict(theorem.options), **chosen(text, theorem.name, values)}
    label = ",".join(f"{key}={options[key]}" for key in options if options[key] in values[key])
    return replace(theorem, name=f"{theorem.name}:{label}", options=tuple(options.items()))


# --- which theorems answer
#
# Which of the registered theorems answer for a node at an order.


def order_class(alpha: Order | np.ndarray) -> str | float:
    """What decides which theorems speak of an order: 1, ∞, whole, between those, or symbolic."""
    if isinstance(alpha, int):
        return 1 if alpha == 1 else "whole"
    if isinstance(alpha, Fraction):
        return "fractional" if alpha.numerator > 2 * alpha.denominator else "below 2"
    if isinstance(alpha, float) and alpha == INFINITY:
        return INFINITY
    if isinstance(alpha, np.ndarray):
        whole = alpha[0] == np.floor(alpha[0])
        return "whole" if whole else order_class(Fraction(np.min(alpha)))
    return "symbolic real" if is_real(alpha) else "symbolic"


def bounding(node: Node, alpha: Order | np.ndarray, goal: Kind) -> list[Theorem]:
    """The theorems that give the default answer: a tight one alone, else all whose best counts.

    First those that may say nothing, the tight one of them before all. Raises where there is none.
    """
    key = order_class(alpha), goal, register.revision
    known: dict[object, list[Theorem]] = node._derived("bounding")
    if key not in known:
        known[key] = _applying(node, alpha, goal, register.defaults(type(node)))
    return known[key]


def stating(node: Node, alpha: Order | np.ndarray, goal: Kind) -> list[Theorem]:
    """The theorems that bound and give a value at every order, so that a formula can say them."""
    among = register.defaults(type(node))
    return _applying(node, alpha, goal, [t for t in among if not t.partial])


def _applying(
    node: Node, alpha: Order | np.ndarray, goal: Kind, among: Iterable[Theorem]
) -> list[Theorem]:
    kinds = [(t, t.kind_for(node, alpha)) for t in among if speaks_of_relation(t, node)]
    wanted = [t for t, kind in kinds if kind in (Kind.EXACT, goal)]
    tight = {t.name for t, kind in kinds if t.tight and kind is t.kind}
    here = [t for t in wanted if alpha in t.orders]
    if alpha in INTEGER_ORDERS:
        # A theorem that reads the node's own curve derives other orders from the whole ones.
        here = [t for t in here if t.reads != "itself"]
    # Among theorems that give the same value, the one stated for whole orders goes first.
    for theorem in sorted(here, key=lambda t: not t.orders.whole):
        if theorem.name in tight and not theorem.partial and theorem.why_unproved(node) is None:
            return [theorem]
    found = [t for t in here if t.why_unproved(node) is None]
    if not found:
        _raise_unanswered(node, alpha, goal, wanted)
    return sorted(found, key=lambda t: (not t.partial, t.name not in tight))


def _raise_unanswered(
    node: Node, alpha: Order | np.ndarray, goal: Kind, wanted: list[Theorem]
) -> None:
    """Say why there is no bound of this kind: the order, or nothing is proved at all."""
    if not wanted:
        raise SoundnessError(
            f"{type(node).__name__}: no {goal} bound is proved", remedy="ask rdp instead"
        )
    reasons = [t.why_not(node, alpha) or "" for t in wanted]
    if all(alpha not in t.orders for t in wanted):
        raise OrderError(reasons[0], remedy=order_remedy(wanted[0]))
    if goal is Kind.LOWER and all(t.kind is Kind.EXACT for t in wanted):
        raise SoundnessError(
            f"{type(node).__name__}: no {goal} bound is proved: {'; '.join(reasons)}",
            remedy="ask rdp instead",
        )
    raise AssumptionError(f"{type(node).__name__} at order {alpha}: {'; '.join(reasons)}")


def answering_always(theorems: list[Theorem]) -> Theorem:
    """The first theorem that gives a value at every order; the first of all where none does."""
    return next((theorem for theorem in theorems if not theorem.partial), theorems[0])


def pinned(among: tuple[Theorem, ...], node: Node, alpha: Order | np.ndarray) -> list[Theorem]:
    """The one of the theorems named by the user whose assumptions are proved here."""
    holding = [theorem for theorem in among if theorem.why_not(node, alpha) is None]
    if len(holding) > 1:
        both = ", ".join(theorem.name for theorem in holding)
        raise DomainError(f"by: found {both}, which all apply to {echo(node)}, needed one of them")
    return [_checked((holding or among)[0], node, alpha)]


def _checked(theorem: Theorem, node: Node, alpha: Order | np.ndarray) -> Theorem:
    """The theorem, or what is in its way."""
    if alpha not in theorem.orders:
        raise OrderError(order_finding(theorem, alpha), remedy=order_remedy(theorem))
    theorem.infer(node, [child.claim for child in node.children], alpha)
    reason = theorem.why_not(node, alpha)
    if reason is not None:
        raise AssumptionError(
            reason, where=theorem.name, remedy="ask without by for the default bound"
        )
    return theorem


# --- what a theorem reads
#
# RDPCurve: what a theorem reads of the mechanism below, in whatever arithmetic.


class RDPCurve(SummedCurve, Protocol):
    """α ↦ ε(α) of one node, evaluated in one arithmetic."""

    node: Node

    def remember(self, what: str) -> dict[Any, Any]:
        """A table for what else is computed from this curve, kept as long as its values."""

    def local(self, middle: int) -> LocalProduct | None:
        """e^{(α−1)ε(α)} for all α within ½ of a whole order, in balls; None if not offered."""

    def using(self, ctx: Arithmetic) -> RDPCurve:
        """This curve in another arithmetic, or in balls at the precision now current."""

    def of(self, node: Node) -> RDPCurve:
        """The curve of another node in the same evaluation."""
