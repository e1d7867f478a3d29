"""Mechanism: a leaf of the expression, with a curve of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, ClassVar

import numpy as np

from symacct.arithmetic import Arithmetic, LogNumber, Number
from symacct.core.claims import (
    EITHER,
    Adjacency,
    Claim,
    Kind,
    Source,
    check_sorts,
    check_stated,
    combine,
)
from symacct.core.errors import DomainError, SoundnessError
from symacct.core.exact import INFINITY, Exact, Order, array_order, expression
from symacct.core.lazy_import import sympy
from symacct.expressions.node import Node
from symacct.mechanisms.asked import AskedValues

_CURVE = {"curve", "excess", "at_one", "at_infinity"}
_REMEDIES = {
    "kind": "kind = Kind.EXACT if a pair attains the curve at every order, else Kind.UPPER or "
    "Kind.LOWER",
    "attained": "attained = SWAPPED if one pair attains it at every order and an involution swaps "
    "it, ADDED if it is one pair and its first law is that with the record, LARGER if either law "
    "of it may be the first one, ANY_OF_SEVERAL or UNKNOWN (of symacct.expressions.attained)",
    "convex": "convex = True if λε(λ+1) is proved convex, else False",
    "source": "source = Source(work, place)",
}

#: Of a mechanism that is known by what is said of its privacy alone.
STATED_OF_IT = "what is stated of a mechanism's privacy holds of it"


class Mechanism(Node):
    """A leaf: its kind, its source, the parts of its curve; a class states what they are."""

    kind: Kind
    source: Source
    #: What of it is stated for neighbours, where it is open for which: its parameters or its laws.
    stated_by = "parameters"
    #: Of noise on a query that two records may move the opposite ways, so that its curve for a
    #: group is that for as many times its `sensitivity` (docs/proofs.md, section 18): the name of
    #: its other parameter.
    noise_scale: str = ""
    #: What `verify` asks other accountants about it; of a subclass, what it states itself.
    asked: ClassVar[AskedValues | None] = None
    #: Does a value of the curve cost no more than a few elementary functions? This only steers.
    is_cheap = False
    #: Is the curve a user's, whose values are checked?
    is_of_user = False
    #: The curve is finite below this order, at it if `is_finite_there`, and ∞ beyond, where neither
    #: `curve` nor `excess` is asked. An exact number, or a SymPy expression if it is irrational.
    finite_up_to: Exact | float = INFINITY
    is_finite_there = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _refuse_another_curve(cls)
        if not cls.__dict__.keys() & {*_CURVE, "__new__"}:
            return
        own = _up_to_its_curve(cls)
        stated: dict[str, Any] = {n: True for one in own for n in (*one.constructor, *one.__dict__)}
        needed = _needed(cls, own) | ({"source"} if "__new__" in cls.__dict__ else set())
        stated["source"] = hasattr(cls, "source") or None
        check_stated(
            f"class {cls.__name__}", {k: v for k, v in _REMEDIES.items() if k in needed}, stated
        )
        if isinstance(cls.__dict__.get("kind"), str):  # else it is stated, a field or a property
            check_sorts(f"class {cls.__name__}", {"kind": Kind}, _REMEDIES, vars(cls))

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ ε(α) at exact 1 < α < ∞; a class gives this, or `excess` instead."""
        excess = self.excess_in(ctx)
        if excess is None:
            raise NotImplementedError(f"{type(self).__name__} has neither curve nor excess")
        return lambda alpha: ctx.log1p(excess(alpha)) / (ctx.number(alpha) - 1)

    def excess(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """The function α ↦ e^{(α−1)ε(α)} − 1, where it is the simpler one."""
        return None

    def stable_excess(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """The excess where nothing cancels, for arithmetics that round; `excess` unless given."""
        return self.excess(ctx)

    def sharper(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """A bound that is smaller at some 1 <= α < ∞ and has no formula: in numbers it counts too.

        Where it says nothing it raises a LimitError or a PrecisionError."""
        return None

    def excess_in(self, ctx: Arithmetic) -> Callable[[Order], Number] | None:
        """The form of the excess that this arithmetic needs."""
        return self.stable_excess(ctx) if ctx.rounds else self.excess(ctx)

    def excesses(self, ctx: Arithmetic) -> Iterator[Number]:
        """The excess at 2, 3, … in turn, by its own formula or by that of the curve."""
        direct = self.excess_in(ctx)
        if direct is None:
            curve = self.curve(ctx)
            direct = lambda l: ctx.expm1((l - 1) * curve(l))  # noqa: E731
        return map(self.within(ctx, direct), count(2))

    def is_finite_at(self, alpha: Order) -> Any:
        """Is the curve finite at α? SymPy's condition on what is left open."""
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

    def within(
        self, ctx: Arithmetic, of_order: Callable[[Order], Number]
    ) -> Callable[[Order], Number]:
        """A function of the order, ∞ where the curve is; what is open is taken to lie below."""
        if self.finite_up_to == INFINITY:
            return of_order

        def value(alpha: Order) -> Number:
            beyond = self.is_finite_at(alpha) in (False, sympy.false)
            return ctx.number(INFINITY) if beyond else of_order(alpha)

        return order_by_order(ctx, value)

    def at_one(self, ctx: Arithmetic) -> Number:
        """ε(1), the Kullback–Leibler bound."""
        raise self._unwritten("at_one", "ε(1), the limit of ε(α) at α = 1")

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """ε(∞), the pure-DP bound."""
        raise self._unwritten("at_infinity", "ε(∞), ctx.number(INFINITY) if it is not finite")

    def _unwritten(self, name: str, what: str) -> NotImplementedError:
        return NotImplementedError(
            f"class {type(self).__name__}: found no {name}, needed {name}(self, ctx), {what}"
        )

    def stated_adjacency(self) -> Adjacency:
        """The neighbouring relation the curve is stated for: its parameter, or else it is open."""
        relation: Adjacency = self.fields().get("adjacency", EITHER)
        return relation

    def for_group(self, size: int) -> Node | None:
        """The noise for `size` times the sensitivity, of the class that states `noise_scale`."""
        if not self.noise_scale:
            return None
        kind: Any = next(one for one in type(self).__mro__ if "noise_scale" in vars(one))
        known: Any = self
        grown: Node = kind(getattr(known, self.noise_scale), size * known.sensitivity)
        return grown

    def _infer(self) -> Claim:
        kind = combine([self.kind], type(self).__name__)
        return Claim(kind, self.stated_adjacency(), sources=(self.source,))


def order_by_order(ctx: Arithmetic, curve: Callable[[Order], Number]) -> Callable[[Order], Number]:
    """A curve that decides something exactly at each order, made to take arrays of orders too."""

    def each(alpha: Order) -> Any:
        if isinstance(alpha, np.ndarray):
            parts = [(k, curve(array_order(one))) for k, one in enumerate(alpha)]
            return LogNumber.from_parts(alpha.shape, parts)
        return curve(alpha)

    return each


def _refuse_another_curve(cls: type[Mechanism]) -> None:
    """SoundnessError for a curve of its own in the place of a base's, whose law theorems go by."""
    parts = {*_CURVE, "stable_excess", "excesses"}
    for base in cls.__mro__[1 : cls.__mro__.index(Mechanism)]:
        if cls.__dict__.keys() & parts and base.__dict__.keys() & _CURVE:
            raise SoundnessError(
                f"class {cls.__name__}: found a curve of its own beside that of "
                f"{base.__name__}, whose noise theorems take it to have; needed one curve: "
                "derive from Mechanism, or keep that curve and choose its parameters"
            )


def _up_to_its_curve(cls: type[Mechanism]) -> list[type[Mechanism]]:
    """The class and its bases, up to the first that gives a part of the curve."""
    bases = cls.__mro__[: cls.__mro__.index(Mechanism)]
    gives = (i for i, one in enumerate(bases) if _CURVE & one.__dict__.keys())
    return list(bases[: next(gives, len(bases)) + 1])


def _needed(cls: type[Mechanism], own: list[type[Mechanism]]) -> set[str]:
    """What the classes that make the curve have to state of it."""
    kind = next((one.__dict__["kind"] for one in own if "kind" in one.__dict__), None)
    of_a_base = cls.__mro__[len(own) : cls.__mro__.index(Mechanism)]
    restated = {name for one in of_a_base for name in one.__dict__ if name in _REMEDIES}
    return {"kind"} | restated | (set() if kind is Kind.UPPER else {"attained"})
