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
    NamedTuple,
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

from symacct.kernel import claims, limits, parameters
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
    check_stated,
    check_types,
    infer,
)
from symacct.kernel.errors import (
    AdjacencyError,
    AssumptionError,
    DomainError,
    OrderError,
    PrecisionError,
    SoundnessError,
    SymacctError,
    echo,
    suggestion,
)
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order, is_real, sympy
from symacct.kernel.memory import HOMES, cached_property
from symacct.kernel.node import Marked, Node, as_node, unmarked
from symacct.kernel.parameters import By, chosen
from symacct.kernel.sums.binomial_sums import SummedCurve
from symacct.kernel.sums.local import LocalProduct

# --- where theorems hold


@dataclass(frozen=True)
class Inequality:
    """left <= right, or left < right where it is `strict`, of numbers of one arithmetic."""

    #: The inequality in words, its mathematics between dollar signs.
    words: str
    left: Number
    right: Number
    strict: bool = False

    def decided(self) -> bool | None:
        """Does it hold, of exact numbers or of all in the balls? None where balls overlap."""
        margin = self.right - self.left
        if margin > 0 or (margin >= 0 and not self.strict):
            return True
        return False if margin < 0 or (margin <= 0 and self.strict) else None


#: (ctx, quantities …) ↦ inequalities, in turn those that make the ones after them defined.
Conditions = Callable[..., Iterator[Inequality]]
#: The two sides of inequalities are computed from these: exact numbers, ∞, or expressions.
Quantities = tuple[Exact | float, ...]


@dataclass(frozen=True)
class Regime:
    """Where a theorem about samples is proved: inequalities between numbers, decided exactly.

    `quantities` gives them of the mechanism and the rate γ, and `names` are their names in words.
    `of_node` are the conditions on them, and `of_order` those on them and the order.
    """

    names: tuple[str, ...]
    quantities: Callable[[Node, Exact], Quantities]
    of_node: Conditions
    of_order: Conditions

    def __str__(self) -> str:
        """All of the conditions in words, as a template; they do not depend on the numbers."""
        ones = [arb(1)] * len(self.names)
        conditions = [*self.of_node(BALL, *ones), *self.of_order(BALL, *ones, arb(1))]
        return ", ".join(condition.words for condition in conditions)

    def after(self, why_not: Callable[[Node], str | None]) -> Callable[[Node], str | None]:
        """A theorem's condition on a node: `why_not` first, then the conditions on numbers."""
        return lambda node: why_not(node) or self._why_not(node.mechanism, node.gamma)  # type: ignore[attr-defined]

    def _why_not(self, mechanism: Node, gamma: Exact) -> str | None:
        """The condition that fails, with its values; None if all hold, or a symbol is left open."""
        quantities = self.quantities(mechanism, gamma)
        if _has_symbols(quantities):
            return None
        condition = _failing_condition(self.of_node, quantities)
        if condition is None:
            return None
        values = ", ".join(
            f"{n} = {echo(value)}" for n, value in zip(self.names, quantities, strict=True)
        )
        return f"it needs {condition}, got {values}"

    def require(self, theorem: str, mechanism: Node, gamma: Exact, alpha: Order) -> None:
        """OrderError if a condition on the order fails at α, or at one of an array of orders.

        Nothing is required of symbols, and of γ = 0.
        """
        quantities = self.quantities(mechanism, gamma)
        is_number = isinstance(alpha, int | float | Fraction | np.ndarray | np.number)
        if not is_number or _has_symbols(quantities) or gamma == 0:
            return
        for value in np.unique(alpha) if isinstance(alpha, np.ndarray) else [alpha]:
            order = Fraction(float(value)) if isinstance(value, np.floating) else value
            condition = _failing_condition(self.of_order, (*quantities, order))
            if condition is not None:
                raise OrderError(
                    f"{theorem} needs {condition}, which fails at order {echo(value)}",
                    remedy="ask for a lower order, or without by for the default bound",
                )


class _RationalsKept(BallArithmetic):
    """Fractions up to the first logarithm and balls from it on, so that equality is decided.

    Conditions use + − × ÷, powers and logarithms; other functions take no fractions.
    """

    def number(self, value: Numeric) -> arb | fmpq:  # type: ignore[override]
        """The number as an exact fraction where it is one, else as a ball."""
        if isinstance(value, int | Fraction) or (
            isinstance(value, sympy.Expr) and value.is_Rational
        ):
            return fmpq(int(value.numerator), int(value.denominator))
        return BALL.number(value)

    def log(self, x: arb | fmpq) -> arb:
        return arb(x).log()

    def log1p(self, x: arb | fmpq) -> arb:
        return arb(x).log1p()


#: The arithmetic in which conditions are decided: fractions where numbers are, else balls.
_DECIDING_BALLS = _RationalsKept()


def _has_symbols(quantities: Quantities) -> bool:
    """Does a quantity have a free symbol? An irrational constant such as e has none."""
    return any(isinstance(value, sympy.Expr) and value.free_symbols for value in quantities)


def _failing_condition(conditions: Conditions, quantities: tuple[Numeric, ...]) -> str | None:
    """The words of the first condition that certainly fails; None where all hold.

    PrecisionError where balls decide it at no precision up to the limit.
    """
    condition = ""
    for bits in doubled(64):
        with precision(bits):
            for inequality in conditions(_DECIDING_BALLS, *map(_DECIDING_BALLS.number, quantities)):
                condition, holds = unmarked(inequality.words), inequality.decided()
                if not holds:
                    break
            else:
                return None
        if holds is False:
            return condition
    limit = limits.current().bits
    raise PrecisionError(f"{condition}: too close to equality to decide within {limit} bits")


# --- the register

#: node ↦ None where the condition is proved to hold, else the reason why it is not.
Condition = Callable[[Node], str | None]
#: (node, α) ↦ None where the condition is proved to hold, else the reason why it is not.
ConditionAtOrder = Callable[[Node, Order | np.ndarray], str | None]
#: (ctx, curve or curves, α, parameters …) ↦ the bound at α in the arithmetic, in nats.
Bound: TypeAlias = Callable[..., Number]

#: What a theorem's status says; other statuses are words of their own.
PROVED, REFUTED = "proved", "refuted"
#: The values of an option whose theorem states no narrower range; 10⁹ terms would take hours.
#: Larger ones are refused.
ANY_VALUE = range(10**9)
#: The statuses of a theorem or a conversion; the first alone gives guarantees.
STATUSES = (PROVED, "conjecture", "approximation", REFUTED)
#: The end of an error about a theorem's name: what the name has to be.
LISTED = "a name that theorems lists, such as ZW19-T5"
#: What to write for a theorem's status.
STATUS_REMEDY = f"status={PROVED!r}, or what else it is of {', '.join(STATUSES[1:])}"


class Needed(NamedTuple):
    """What a field of a theorem has to be: what to write for it, its type, how a word is read."""

    remedy: str
    type: Any = object
    read: Callable[[object], Any] = lambda value: value


#: The fields that an author has to state, because they decide the claim.
_NEEDED = {
    "operation": Needed("operation= with the operation's class, or a tuple of them"),
    "kind": Needed(
        "kind='exact', 'upper' or 'lower', what it gives for an exact curve", Kind, claims.kind
    ),
    "source": Needed("source='work, place'", Source, claims.source),
    "orders": Needed(
        "orders='integer' or 'real', or a set of symacct.kernel.claims", Orders, claims.orders
    ),
    "adjacency": Needed(
        "adjacency='add_remove', 'replace_one', 'zero_out' or 'either'",
        Adjacency,
        claims.adjacency,
    ),
    "monotone": Needed(
        "monotone=True if it is nondecreasing in every ε(j) that it reads, else False", bool
    ),
    "applies": Needed(
        "applies=always if it holds for every mechanism, else a function of the node that gives "
        "back None, or the reason why it is not proved",
        Callable,
    ),
    "status": Needed(STATUS_REMEDY, str, partial(parameters.one_of, name="status", names=STATUSES)),
}
#: What an error proposes for each statement of a theorem that is missing; the type it has to have.
_REMEDIES = {name: needed.remedy for name, needed in _NEEDED.items()}
_TYPES = {name: needed.type for name, needed in _NEEDED.items()}

#: A sign of relation in a formula.
_RELATION_SIGN = re.compile("<=|>=|[=≤≥<>]")
#: The sign that stands for = in the statement of a bound, by its kind.
_SIGNS = {Kind.UPPER: "<=", Kind.LOWER: ">="}


def always(node: Node) -> str | None:
    """None, that nothing is needed: the condition of a theorem about every mechanism."""
    return None


@answered
@dataclass(frozen=True, kw_only=True, repr=False)
class Theorem:
    """A statement about one operation, with the formula that computes it.

    `bound(ctx, eps, alpha, ...)` is the formula. `eps` is the curve that it reads: that of the
    operation's mechanism, a tuple of curves for a composition, or the node's own curve if `reads`
    is "itself". `alpha` is the exact order, and the other arguments are the operation's parameters
    by name. Raises SoundnessError if a field that decides the claim is missing.

    >>> [(t.name, str(t.source)) for t in theorems() if t.name == "ZW19-T5"]
    [('ZW19-T5', 'ZW19, Theorem 5')]
    """

    name: str
    bound: Bound
    #: The names of the classes of operations that it is about.
    operation: tuple[str, ...] = UNSTATED
    #: The same classes by their full names, because two modules may each have a class of one name.
    classes: frozenset[str] = frozenset()
    kind: Kind = UNSTATED
    source: Source = UNSTATED
    orders: Orders = UNSTATED
    adjacency: Adjacency = UNSTATED
    #: Is the bound nondecreasing in every ε(j) that it reads?
    monotone: bool = UNSTATED
    #: "proved"; a "conjecture", an "approximation" or what is "refuted" never gives a guarantee.
    status: str = UNSTATED
    #: What it assumes in words, with its mathematics between dollar signs.
    assumes: str = "nothing further"
    #: Node → None, or the reason why it is not proved; `always` is about every mechanism.
    applies: Condition = UNSTATED
    #: Node and order → None, or the reason why what is exact otherwise is only an upper bound here.
    why_upper: ConditionAtOrder | None = None
    #: Conditions on numbers: `applies` asks those on the node, the bound those on the order.
    regime: Regime | None = None
    #: Whose curve the bound reads: "mechanism", or "itself" for the node's own at other orders.
    reads: str = "mechanism"
    #: Does it take part in the default answer, or only where `by` names it?
    default: bool = True
    #: A cheaper formula near the bound, of convex CGF, to compare orders by; no answer rests on it.
    steer: Bound | None = None
    #: A formula nowhere above the exact curve, of convex CGF, which takes an order `near` as well
    #: and is close to the curve about that order: by it an optimum is proved.
    below: Bound | None = None
    #: (eps, middle, …) ↦ e^{(α−1)ε(α)} at all α within ½ of the whole order `middle` in balls, a
    #: `sums.local.LocalProduct` or None; None where each order has to be asked by itself.
    local: Callable[..., Any] | None = None
    #: Is no other upper bound smaller where it applies, so that no other is asked?
    tight: bool = False
    #: May it have no value at an order, so that it has no formula and others answer there?
    partial: bool = False
    #: Does the bound take the operation's parameters as exact numbers, in any arithmetic?
    takes_exact: bool = False
    #: The options that `by=` may set, each with its default value.
    options: tuple[tuple[str, int], ...] = field(default=())
    #: The values that `by=` may give to an option: `ANY_VALUE` where none are stated.
    option_values: tuple[tuple[str, range], ...] = field(default=())

    def __repr__(self) -> str:
        return f"<Theorem {self.name} ({self.kind}) about {self.about}: {self.source}>"

    def __post_init__(self) -> None:
        """Check what is stated, its status and its types; DomainError otherwise."""
        check_stated(f"theorem {self.name}", _REMEDIES, vars(self))
        check_status(f"theorem {self.name}", self.status)
        check_types(f"theorem {self.name}", _TYPES, _REMEDIES, vars(self))

    @property
    def about(self) -> str:
        """The names of the theorem's operations, with commas."""
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
        """The claim that the theorem yields for exact premises; certified if it is proved."""
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
        if not holds_for_relation(self, node):
            relation = node._fixed_adjacency  # type: ignore[attr-defined]
            return f"{self.name} is about {self.adjacency} neighbours, got {relation}"
        if alpha not in self.orders:
            return order_finding(self, alpha)
        return self.why_unproved(node)

    def why_unproved(self, node: Node) -> str | None:
        """The reason why the theorem does not hold for a node that it is about; None if it does.

        A theorem that is not nondecreasing in the values that it reads needs exact values.
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
        """The bound's keyword arguments: the node's parameters in `ctx`, and options.

        With `takes_exact` the parameters stay exact numbers.
        """
        fields = node.parameters()
        if not self.takes_exact:
            fields = {
                name: ctx.number(x) if isinstance(x, Fraction | sympy.Expr) else x
                for name, x in fields.items()
            }
        return fields | dict(self.options)

    def kind_for(self, node: Node, alpha: Order | np.ndarray) -> Kind:
        """The kind of the theorem's value for a node at an order, for exact premises.

        It is `upper` where `why_upper` gives a reason.
        """
        is_upper = self.why_upper is not None and self.why_upper(node, alpha) is not None
        return Kind.UPPER if is_upper else self.kind

    def is_tight(self, node: Node, alpha: Order | np.ndarray) -> bool:
        """Is no other upper bound smaller for the node at the order, where the theorem applies?"""
        return self.tight and self.kind_for(node, alpha) is self.kind

    def infer(self, node: Node, premises: Iterable[Claim], alpha: Order | np.ndarray) -> Claim:
        """The claim about the node at an order, from the claims about the curves it reads.

        Raises SoundnessError or AdjacencyError where these premises yield none.
        """
        subject = f"{self.name} on {type(node).__name__}"
        if self.reads != "itself":
            premises = node._carried(premises, subject)  # type: ignore[attr-defined]
        adjacency = self.adjacency
        if adjacency == node._theorem_adjacency:  # type: ignore[attr-defined]
            adjacency = node._fixed_adjacency  # type: ignore[attr-defined]
        own_claim = replace(self.claim, kind=self.kind_for(node, alpha), adjacency=adjacency)
        claim = infer(subject, own_claim, premises, self.monotone)
        # A refuted statement bounds nothing, whatever kind it states.
        return replace(claim, kind=Kind.NEITHER) if self.status == REFUTED else claim


class Register:
    """The theorems by their names; those of the package are imported at the first reading."""

    def __init__(self) -> None:
        self._theorems: dict[str, Theorem] = {}
        #: The default theorems about a class of operations.
        self._defaults: dict[type, tuple[Theorem, ...]] = {}
        #: Grows with each change, and is part of the key of each value that depends on theorems.
        self.revision = 0

    def names(self) -> Mapping[str, Theorem]:
        """All theorems, in the order in which they were stated."""
        HOMES["theorems"].open()
        return self._theorems

    def add(self, theorem: Theorem) -> None:
        """Registers a theorem; DomainError for a name that is taken."""
        if theorem.name in self._theorems:
            raise DomainError(f"theorem {theorem.name}: already registered, needed a new name")
        self._theorems[theorem.name] = theorem
        self._changed()

    def remove(self, name: str) -> None:
        """Unregisters a theorem by name; DomainError for a name that no theorem has."""
        if self._theorems.pop(name, None) is None:
            names_meant = suggestion(name, self._theorems, LISTED)
            raise DomainError(f"theorem: found {echo(name)}{names_meant}")
        self._changed()

    def _changed(self) -> None:
        self.revision += 1
        self._defaults.clear()

    def defaults(self, kind: type) -> tuple[Theorem, ...]:
        """The default theorems about a class of operations or a base class of it, remembered."""
        answering = self._defaults.get(kind)
        if answering is None:
            theorems, names = self.names().values(), full_names(kind.__mro__)
            answering = tuple(t for t in theorems if t.default and t.classes & names)
            self._defaults[kind] = answering
        return answering


register = Register()


def forget(name: str) -> None:
    """Unregister a theorem, such as one of your own that you want to restate.

    DomainError for a name that no theorem has.
    """
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
    operations = _operations(name, operation)
    statement = _parsed_statement(f"theorem {name}", operations, statement)

    def state(bound: Bound) -> Bound:
        statement.setdefault("default", statement.get("status") == PROVED)
        fields = cast(dict[str, Any], statement)
        names = tuple(kind.__name__ for kind in operations)
        classes = full_names(operations)
        entry = Theorem(name=name, bound=bound, operation=names, classes=classes, **fields)
        if entry.default and entry.status != PROVED:
            raise SoundnessError(
                f"theorem {name}: found a {entry.status} among the default answers, needed "
                "default=False for what is not proved"
            )
        register.add(entry)
        return bound

    return state


def _parsed_statement(subject: str, operations: Any, statement: Statement) -> Statement:
    """The statement with its words as kinds, sources and orders; one error lists all faults."""
    fields: dict[str, Any] = dict(statement)
    errors = []
    for name, needed in _NEEDED.items():
        if fields.get(name) is not UNSTATED:
            try:
                fields[name] = needed.read(fields[name])
            except DomainError as error:
                errors.append(str(error))
    if "assumes" in fields:
        fields["assumes"] = Marked(parameters.text(fields["assumes"], f"{subject}, assumes"))
    try:
        check_stated(subject, _REMEDIES, fields | {"operation": operations})
    except SoundnessError as error:
        raise SoundnessError("; ".join([str(error), *errors])) from None
    if errors:
        raise DomainError(f"{subject}, {'; '.join(errors)}")
    return cast(Statement, fields)


def _operations(name: str, operation: Any) -> Any:
    """One or several classes of nodes as a tuple, or UNSTATED; DomainError for anything else."""
    if operation is UNSTATED:
        return operation
    kinds = operation if isinstance(operation, tuple) else (operation,)
    if not kinds or not all(isinstance(kind, type) and issubclass(kind, Node) for kind in kinds):
        raise DomainError(
            f"theorem {name}, operation: found {echo(operation)}, needed a class such as "
            "PoissonSubsample, or a tuple of them"
        )
    return kinds


def full_names(kinds: Iterable[type]) -> frozenset[str]:
    """The modules and names of classes: a cell of a notebook that runs again keeps them."""
    return frozenset(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)


def check_status(subject: str, status: object) -> None:
    """DomainError unless the status is one of STATUSES."""
    parameters.one_of(status, f"{subject}, status", STATUSES)


@answered
class Theorems(list[Theorem]):
    """A list of theorems, shown as a table in a notebook and as lines in a terminal."""

    def __repr__(self) -> str:
        return "\n".join(f"{theorem.name}: {theorem.source}" for theorem in self) or "[]"

    @overload
    def __getitem__(self, place: SupportsIndex) -> Theorem: ...
    @overload
    def __getitem__(self, place: slice) -> Theorems: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Theorem | Theorems:
        item = super().__getitem__(place)
        return item if isinstance(item, Theorem) else Theorems(item)


def theorems() -> Theorems:
    """Every registered theorem, with its source, assumptions, adjacency and orders.

    >>> [t.name for t in theorems() if t.source.key == "ACG16"]
    ['ACG16-L3']
    """
    return Theorems(register.names().values())


def registered(name: str) -> Theorem | None:
    """The theorem registered under exactly this name, without options; None for none."""
    return register.names().get(name)


@functools.singledispatch
def rough_curve(node: Node) -> Callable[[Order], float] | None:
    """The node's curve in floats, roughly, to compare orders by; None where no theorem offers it.

    A theorem whose exact formula takes long registers one here for its operations.
    """
    return None


def named(name: str, argument: str = "by") -> Theorem:
    """The theorem called `name`, with options after a colon, as in "ZW19-T11:tau=50".

    DomainError, about the argument called `argument`, for an unknown name or option.
    """
    if not isinstance(name, str):
        needed = f"{LISTED}, or a tuple of such names"
        raise DomainError(f"{argument}: found {echo(name)}, needed {needed}")
    key, colon, options = name.partition(":")
    theorem = register.names().get(key)
    if theorem is None:
        names_meant = suggestion(key, register.names(), LISTED)
        raise DomainError(f"{argument}: found {echo(name)}{names_meant}")
    return _with_options(theorem, options) if colon else theorem


def all_named(by: By) -> tuple[Theorem, ...]:
    """The theorems that the argument `by` names; DomainError for an unknown name."""
    if by is None:
        return ()
    return tuple(map(named, by)) if isinstance(by, tuple) else (named(by),)


def named_about(by: By, node: Node) -> tuple[Theorem, ...]:
    """The theorems among those that `by` names that are about the node itself."""
    return tuple(theorem for theorem in all_named(by) if is_about(theorem, node))


def check_proved(subject: str, status: str, remedy: str) -> None:
    """SoundnessError unless the status is PROVED, as a guarantee needs."""
    if status != PROVED:
        raise SoundnessError(
            f"{subject}: found the status {echo(status)}, needed {PROVED!r} for a guarantee",
            remedy=remedy,
        )


def is_of_operation(theorem: Theorem, node: Node) -> bool:
    """Is the node of a class that the theorem is about, or of a subclass of one?

    A theorem about a class holds for the objects of its subclasses. The author of a subclass claims
    that it does what its parent does with the same fields. If it does something else, or overrides
    `parameters`, `children` or `_fixed_adjacency`, the parent's theorems are its author's claim. An
    operation for which they do not hold is derived from `Operation`.
    """
    return bool(theorem.classes & full_names(type(node).__mro__))


def is_about(theorem: Theorem, node: Node) -> bool:
    """Is the theorem about the node's operation and its neighbouring relation?"""
    return is_of_operation(theorem, node) and holds_for_relation(theorem, node)


def holds_for_relation(theorem: Theorem, node: Any) -> bool:
    """Is the theorem about the node's neighbouring relation?

    A theorem that leaves the relation open holds for operations of one step, and where it reads the
    node's own curve. An operation that has the laws of another relation has its theorems too.
    """
    if theorem.adjacency.relation is Relation.EITHER:
        return theorem.reads == "itself" or bool(node._is_one_step())
    own = node._fixed_adjacency.relation, node._theorem_adjacency.relation
    return own[0] is Relation.EITHER or theorem.adjacency.relation in own


def order_finding(theorem: Theorem, alpha: Order | np.ndarray) -> str:
    """The finding of an error: the orders at which a theorem holds, and α, which is not one."""
    shown = str(alpha) if isinstance(alpha, sympy.Basic) else echo(alpha)
    return f"{theorem.name} holds at {theorem.orders}, got {shown}"


def remedy_for_order(theorem: Theorem) -> str:
    """The remedy where a theorem holds at whole orders alone; empty for other theorems."""
    if not theorem.orders.whole:
        return ""
    if theorem.kind is Kind.LOWER:
        return "ask for a whole order"
    return "convexify gives an upper bound"


def _with_options(theorem: Theorem, text: str) -> Theorem:
    """The theorem with options set from a text such as "tau=50"; DomainError for other options."""
    ranges = dict(theorem.option_values)
    values = {key: ranges.get(key, ANY_VALUE) for key, _ in theorem.options}
    options = {**dict(theorem.options), **chosen(text, theorem.name, values)}
    label = ",".join(f"{key}={options[key]}" for key in options if options[key] in values[key])
    return replace(theorem, name=f"{theorem.name}:{label}", options=tuple(options.items()))


# --- which theorems answer


def order_class(alpha: Order | np.ndarray) -> str | float:
    """The class of an order, within which the same theorems apply.

    It is 1, ∞, "whole", "below 2", "fractional" (above 2), "symbolic" or "symbolic real". The
    orders of an array are of one class, as `NodeCurve` groups them.
    """
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


def bounding(
    node: Node, alpha: Order | np.ndarray, goal: Kind, with_partial: bool = True
) -> list[Theorem]:
    """The theorems of the default answer, of the kind `goal` or exact: of these the best counts.

    A tight one stands alone. Otherwise partial ones come first, and of these the tight ones; a
    formula cannot state partial ones, and is made without them. Remembered with the node. Raises
    OrderError, SoundnessError or AssumptionError, which says why there is none.
    """
    key = order_class(alpha), goal, with_partial, register.revision
    memo: dict[object, list[Theorem]] = node._derived("bounding")
    if key in memo:
        return memo[key]
    candidates = [t for t in register.defaults(type(node)) if with_partial or not t.partial]
    at_order = [t for t in candidates if alpha in t.orders and holds_for_relation(t, node)]
    if alpha in INTEGER_ORDERS:
        # A theorem that reads the node's own curve derives other orders from the whole ones.
        at_order = [t for t in at_order if t.reads != "itself"]
    kinds = [(t, t.kind_for(node, alpha)) for t in at_order]
    of_kind = [t for t, kind in kinds if kind in (Kind.EXACT, goal)]
    tight = {t.name for t, kind in kinds if t.tight and kind is t.kind}
    # Among theorems that give the same value, the one stated for whole orders goes first.
    whole_first = sorted(of_kind, key=lambda t: not t.orders.whole)
    alone = (t for t in whole_first if t.name in tight and not t.partial)
    first = next((t for t in alone if t.why_unproved(node) is None), None)
    proved = [first] if first else [t for t in of_kind if t.why_unproved(node) is None]
    if not proved:
        _raise_unanswered(node, alpha, goal, candidates)
    memo[key] = sorted(proved, key=lambda t: (not t.partial, t.name not in tight))
    return memo[key]


def _raise_unanswered(
    node: Node, alpha: Order | np.ndarray, goal: Kind, candidates: list[Theorem]
) -> None:
    """Raises the error that says why no theorem bounds the node: the order, or a premise."""
    of_relation = [t for t in candidates if holds_for_relation(t, node)]
    of_kind = [t for t in of_relation if t.kind_for(node, alpha) in (Kind.EXACT, goal)]
    # Those that read the node's own curve derive orders from others that have to be answered.
    if all(t.reads == "itself" for t in of_kind):
        raise SoundnessError(
            f"{type(node).__name__}: no {goal} bound is proved", remedy="ask rdp instead"
        )
    reasons = [t.why_not(node, alpha) or "" for t in of_kind]
    if all(alpha not in t.orders for t in of_kind):
        raise OrderError(reasons[0], remedy=remedy_for_order(of_kind[0]))
    if goal is Kind.LOWER and all(t.kind is Kind.EXACT for t in of_kind):
        raise SoundnessError(
            f"{type(node).__name__}: no {goal} bound is proved: {'; '.join(reasons)}",
            remedy="ask rdp instead",
        )
    raise AssumptionError(f"{type(node).__name__} at order {alpha}: {'; '.join(reasons)}")


def answering_always(theorems: list[Theorem]) -> Theorem:
    """The first theorem that is not partial; the first of all where all are."""
    return next((theorem for theorem in theorems if not theorem.partial), theorems[0])


def pinned(
    named_theorems: tuple[Theorem, ...], node: Node, alpha: Order | np.ndarray
) -> list[Theorem]:
    """A list of the one of the named theorems that holds for the node at the order.

    DomainError where several hold; where none does, the error says why the first does not.
    """
    holding = [theorem for theorem in named_theorems if theorem.why_not(node, alpha) is None]
    if len(holding) > 1:
        names = ", ".join(theorem.name for theorem in holding)
        raise DomainError(f"by: found {names}, which all apply to {echo(node)}, needed one of them")
    return [_required((holding or named_theorems)[0], node, alpha)]


def _required(theorem: Theorem, node: Node, alpha: Order | np.ndarray) -> Theorem:
    """The theorem, if it holds for the node at the order; OrderError or AssumptionError if not."""
    if alpha not in theorem.orders:
        raise OrderError(order_finding(theorem, alpha), remedy=remedy_for_order(theorem))
    theorem.infer(node, [child.claim for child in node.children], alpha)
    reason = theorem.why_not(node, alpha)
    if reason is not None:
        raise AssumptionError(
            reason, where=theorem.name, remedy="ask without by for the default bound"
        )
    return theorem


def theorem_node(node: Node, by: By) -> Node:
    """The node of the same curve that theorems are asked about: the rewritten one, mostly.

    It is the node itself where pinned theorems are about parts of it, and one holds for each.
    """
    rewritten = node._rewritten
    if by is None or rewritten is node:
        return rewritten
    pinned = [(below, named_about(by, below)) for below in node.walk()]
    relevant = [(below, theorems) for below, theorems in pinned if theorems]
    holds = relevant and all(
        any(theorem.applies(below) is None for theorem in theorems) for below, theorems in relevant
    )
    return node if holds else rewritten


def goal_of(m: Node, by: By) -> Kind:
    """The kind of bound that a question about a node asks for: upper, or lower.

    It is lower where a pinned theorem or the node's own claim is. DomainError for pinned theorems
    of both kinds, AssumptionError or AdjacencyError for one that is about no part of the node.
    """
    as_node(m, "expression")
    pinned = all_named(by)
    for theorem in pinned:
        if not any(is_about(theorem, node) for node in m.walk()):
            raise _inapplicable(theorem, m)
    kinds = [theorem.kind for theorem in pinned]
    if Kind.LOWER in kinds and Kind.UPPER in kinds:
        raise DomainError(f"by: found upper and lower bounds in {by}, needed one kind")
    return Kind.LOWER if m.claim.kind is Kind.LOWER or Kind.LOWER in kinds else Kind.UPPER


def _inapplicable(theorem: Theorem, m: Node) -> SymacctError:
    """The error of a pinned theorem that is about no part of m, or not in its relation."""
    if any(is_of_operation(theorem, node) for node in m.walk()):
        return AdjacencyError(
            f"{theorem.name} is about {theorem.about} under {theorem.adjacency}, and "
            f"{type(m).__name__} contains it under another relation only"
        )
    return AssumptionError(
        f"{theorem.name} is about {theorem.about}, and {type(m).__name__} contains none"
    )


# --- what a theorem reads


class RDPCurve(SummedCurve, Protocol):
    """α ↦ ε(α) in nats of one node in one arithmetic, which a theorem reads of a mechanism."""

    node: Node

    def remember(self, what: str) -> dict[Any, Any]:
        """A table of values derived from this curve, kept as long as the curve's own values.

        A missing key gives None in the kernel's own tables.
        """

    def local(self, middle: int) -> LocalProduct | None:
        """e^{(α−1)ε(α)} for all α within ½ of a whole order, in balls; None if not offered."""

    def using(self, ctx: Arithmetic) -> RDPCurve:
        """This curve in another arithmetic, or in balls at the precision now current."""

    def of(self, node: Node) -> RDPCurve:
        """The curve of another node in the same evaluation."""
