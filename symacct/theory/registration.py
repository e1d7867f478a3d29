"""A theorem of somebody's own: put on the register, and compared with those that are there."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple, Unpack, overload

from flint import arb

from symacct.kernel import deadline, theorem_registry
from symacct.kernel.arithmetic import BALL, Arithmetic
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import UNSTATED, Kind
from symacct.kernel.errors import EqualTheoremWarning, NoNumberError, SymacctError, warn
from symacct.kernel.evaluation import Evaluation, OperationCurve
from symacct.kernel.exact import Order
from symacct.kernel.node import Node, kinds
from symacct.kernel.theorem_registry import Bound, Statement, Theorem
from symacct.mechanisms import Gaussian, RandomizedResponse

#: Seconds of processor time in which a new theorem is compared with all others, and with one.
_ALL_SECONDS, _ONE_SECONDS = 1.0, 0.25
#: Bits of the balls in which two theorems are compared: more than the digits that are printed. What
#: they leave open is undecided.
_BITS = 200
#: The remedy for a bound that returns no number of the arithmetic.
_WRITE = "what it returns by eps, ctx.number and functions of ctx, such as ctx.log1p"
#: The orders at which two theorems are compared; 60 is above the terms that some begin with. A
#: user's theorem is tested there, and not proved.
_ORDERS: tuple[Order, ...] = (2, 3, Fraction(5, 2), 60)


@overload
def theorem(name: str) -> Theorem: ...
@overload
def theorem(
    name: str,
    *,
    operation: type[Node] | tuple[type[Node], ...] = ...,
    **statement: Unpack[Statement],
) -> Callable[[Bound], Bound]: ...
def theorem(
    name: str,
    *,
    operation: type[Node] | tuple[type[Node], ...] = UNSTATED,
    **statement: Any,
) -> Theorem | Callable[[Bound], Bound]:
    """Find a registered theorem by its name; or, with keywords, register a function as a theorem.

    With keywords the result is a decorator. The decorated function is the bound of the theorem
    `name` about `operation`, and `statement` are the other fields of `Theorem`. These decide the
    claim, and have to be there:

    - `kind`: "exact", "upper" or "lower", what it gives for an exact curve;
    - `orders`: "integer" (from 2 on) or "real" (from 1 on), or a set of symacct.kernel.claims;
    - `adjacency`: "add_remove", "replace_one", "zero_out" or "either";
    - `source`: a text such as "my draft, Theorem 1";
    - `status`: "proved", "conjecture", "approximation" or "refuted";
    - `monotone`: True if the bound is nondecreasing in every ε(j) (nats) that it reads, else False;
    - `applies`: a function of the node that gives back None, or the reason why it is not proved.

    Raises SoundnessError if one is missing, and DomainError for a name that is taken. An
    EqualTheoremWarning names a registered theorem that has the same values at random arguments, if
    there is one. The function is called for this when it is registered, and later for each value.
    The time of a question is looked at before such a call and where it reads a curve at a new
    order; what else it does runs to its end.

    >>> print(theorem("ZW19-T8").orders)
    integer orders >= 2
    >>> from symacct import Gaussian, PoissonSubsample
    >>> from symacct.kernel.theorem_registry import forget
    >>> @theorem("MINE", operation=PoissonSubsample, kind="upper", orders="integer",
    ...          adjacency="add_remove", source="my draft, Theorem 1", status="conjecture",
    ...          monotone=True, applies=lambda node: None)
    ... def bound(ctx, eps, alpha, gamma):
    ...     "ε′(α) <= 2γ ε(α)"
    ...     return 2 * gamma * eps(alpha)
    >>> print(PoissonSubsample(Gaussian(5), "1/100").rdp(2, by="MINE", digits=3))
    0.000800
    >>> forget("MINE")
    """
    if operation is UNSTATED and not statement:
        return theorem_registry.named(name, "theorem")
    register = theorem_registry.theorem(name, operation=operation, **statement)

    def checked(bound: Bound) -> Bound:
        register(_in_the_arithmetic(name, bound))
        if other := equal_to(theorem_registry.named(name)):
            warn(
                (
                    f"theorem {name}: found the values of {other.name} at all arguments that were "
                    f"tried; needed another theorem; pin {other.name} for the registered one"
                ),
                EqualTheoremWarning,
            )
        return bound

    return checked


def _in_the_arithmetic(name: str, bound: Bound) -> Bound:
    """The bound, which has to return a number of `ctx`: a whole number or a fraction is made one.

    It raises NoNumberError for a float, which has lost digits, and for anything that is no number.
    """

    @functools.wraps(bound)
    def checked(ctx: Arithmetic, *positional: Any, **named: Any) -> Any:
        value = bound(ctx, *positional, **named)
        if isinstance(value, int | Fraction) and not isinstance(value, bool):
            return ctx.number(value)
        if value is not None and not isinstance(value, bool | float | complex | str):
            return value
        names = getattr(getattr(bound, "__code__", None), "co_names", ())
        meant = [f"ctx.{name}" for name in names if hasattr(math, name) and hasattr(ctx, name)]
        kind = "None" if value is None else f"a {type(value).__name__}"
        raise NoNumberError(
            f"{name} returned {kind}", remedy=f"write {' and '.join(meant) or _WRITE}"
        )

    return checked


class _Question(NamedTuple):
    """A node and an order that theorems are asked about, and the new one's value there."""

    node: Node
    alpha: Order
    value: arb


def equal_to(new: Theorem) -> Theorem | None:
    """The first registered theorem of its kind and status that no ball tells apart from it.

    They are compared at random nodes, two at least, of which both say something; None where there
    is none, or the time of the comparison was over. Equal values there are no proof.
    """

    def answer_in_time(question: Callable[[], Any]) -> Any:
        """The answer in _ONE_SECONDS; None where time runs out, and where anything is raised."""
        try:
            with deadline.within(_ONE_SECONDS):
                deadline.check()
                return question()
        except (deadline.OutOfTimeError, Exception):
            return None  # a function of somebody's own is asked where nobody has asked it yet

    with precision(_BITS), deadline.within(_ALL_SECONDS):
        questions = answer_in_time(lambda: list(_questions(new))) or []
        for other in theorem_registry.theorems():
            alike = other.kind is new.kind and other.status == new.status
            if alike and other.name != new.name and other.reads != "itself":
                is_equal = answer_in_time(functools.partial(_is_equal, other, questions))
                if is_equal:
                    return other
    return None


def _is_equal(other: Theorem, questions: list[_Question]) -> bool:
    """Has a theorem a value at each of the questions, two at least, that overlaps the new one's?"""
    values = [_value(other, node, alpha) for node, alpha, _ in questions]
    return len(values) > 1 and all(
        value is not None and value.overlaps(mine)
        for value, (_, _, mine) in zip(values, questions, strict=True)
    )


def _questions(new: Theorem) -> Iterator[_Question]:
    """Nodes with random parameters at orders where the theorem's value is finite and above 0.

    They are drawn by its name, so that they are the same each time.
    """
    draw = random.Random(new.name)  # noqa: S311 (the same each time)
    for operation in new.operation:
        for alpha in _ORDERS:
            for base in (Gaussian(_fraction(draw) * 4), RandomizedResponse(_fraction(draw) / 3)):
                node = _built(operation, new, base, draw)
                value = None if node is None else _value(new, node, alpha)
                if node is not None and value is not None and value > 0:
                    yield _Question(node, alpha, value)


def _built(operation: str, new: Theorem, base: Node, draw: random.Random) -> Node | None:
    """An operation on the base, its parameters drawn by their types; None if that makes none."""
    kind: Any = kinds()[operation]
    drawn: dict[str, Callable[[], Any]] = {
        "Node": lambda: base,
        "int": lambda: draw.randint(2, 5),
        "Exact": lambda: _fraction(draw),
        "Adjacency": lambda: new.adjacency,
    }
    stated = {
        k: v
        for parent in reversed(kind.__mro__)
        for k, v in vars(parent).get("__annotations__", {}).items()
    }
    try:
        made: Node = kind(**{name: drawn[stated[name]]() for name in kind._constructor})
    except (KeyError, SymacctError, TypeError):
        return None
    return made


def _fraction(draw: random.Random) -> Fraction:
    """A fraction from 1/5 to 79/100."""
    return Fraction(draw.randint(20, 79), 100)


def _value(theorem: Theorem, node: Node, alpha: Order) -> arb | None:
    """The theorem's bound in balls at the current precision; None where it has no finite value."""
    if theorem.why_not(node, alpha) is not None:
        return None
    goal = Kind.LOWER if theorem.kind is Kind.LOWER else Kind.UPPER
    curve = Evaluation(BALL, goal).curve(node)
    try:
        value = curve.value_by(theorem, alpha) if isinstance(curve, OperationCurve) else None
    except SymacctError:
        return None
    return value if value is not None and value.is_finite() else None
