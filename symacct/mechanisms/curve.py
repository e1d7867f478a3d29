"""Curve: a curve of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
import numpy as np

from symacct.kernel import symbols
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.arithmetic.float64 import Float64Arithmetic, LogNumber
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic
from symacct.kernel.arithmetic.within_limits import replaced
from symacct.kernel.claims import ADDED, Adjacency, Claim, Kind, Source, check_stated
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.claims import kind as named_kind
from symacct.kernel.errors import AdjacencyError, DomainError, OrderError, SymacctError, echo
from symacct.kernel.exact import (
    INFINITY,
    Numeric,
    Order,
    exact,
    expression,
    is_infinite,
    sympy,
    typed_value,
)
from symacct.kernel.formula import parse_formula
from symacct.kernel.memory import new_lock
from symacct.kernel.node import STATED_OF_IT, Mechanism
from symacct.kernel.parameters import nonnegative

#: The remedy of a curve without a kind says what each kind states.
_KIND_REMEDY = (
    'kind="upper" for a bound, kind="exact" where one pair attains it at every order, '
    'or kind="lower"'
)
#: mpmath's global precision belongs to the process, so one mpmath function runs at a time. In a
#: forked child 53 bits, mpmath's own, are set again where another thread held the lock.
_global_mpmath = new_lock(lambda: setattr(mpmath.mp, "prec", 53))


#: A curve as a user states it.
Form: TypeAlias = Numeric | Callable[..., Number]


class Curve(Mechanism):
    """A curve that the user states, in one of three forms:

    - a SymPy expression in the symbol `alpha`, or its text, such as "alpha/50";
    - a function of (ctx, alpha) that uses the functions of `ctx`: it is certified like our own
      curves;
    - an mpmath function of alpha alone: its digits are taken on trust, and `certified` is False.

    A function runs to its end each time that it is called: the time of a question is looked at
    before and after.

    `f` is the curve in one of these forms. The user also states `kind` ("exact", "upper" or
    "lower"), `adjacency` ("add_remove", "replace_one" or "either"), and `at_infinity`, the value of
    ε(∞), if it is finite and known. Every answer rests on these statements:

    - "upper": ε(α) bounds D_α(P‖Q) and D_α(Q‖P) of every neighbouring pair;
    - "exact": in addition, one pair attains the curve at every order, where P is the law with the
      record and Q the law without it, whatever the other records are; the CGF is then convex;
    - "lower": ε(α) is at most D_α(P‖Q) of such a pair, which is the same at every order.

    ε(α) is in nats. No source is cited for a curve that the user states. Raises DomainError,
    AdjacencyError.

    >>> print(Curve("alpha/50", kind="upper", adjacency="add_remove").rdp(8, digits=3))
    0.160
    """

    _is_of_user = True

    f: Any  # an expression in alpha, or a function
    kind: Kind
    adjacency: Adjacency
    source = Source("user", "")
    premises = (STATED_OF_IT,)
    attained = ADDED  # what the kinds "exact" and "lower" say

    def __new__(
        cls,
        f: Form,
        kind: str | Kind | None = None,
        adjacency: str | Adjacency | None = None,
        at_infinity: Numeric | None = None,
    ) -> Curve:
        if adjacency is None:
            raise AdjacencyError(
                "Curve: found no adjacency, needed the neighbouring relation it is stated for",
                remedy='pass adjacency="add_remove", "replace_one" or "either"',
            )
        check_stated("Curve", {"kind": _KIND_REMEDY}, {"kind": kind})
        if at_infinity is not None:
            at_infinity = (
                INFINITY
                if is_infinite(at_infinity)
                else nonnegative(at_infinity, "Curve, at_infinity")
            )
        return cls._intern(
            f=_form(f),
            kind=named_kind(kind),
            adjacency=named_adjacency(adjacency),
            at_infinity=at_infinity,
        )

    @property
    def words(self) -> str:  # type: ignore[override]
        """A noun phrase that shows the formula, where there is one."""
        stated = "$ε(α) = {f}$" if self._is_formula else "a Python function"
        return f"a mechanism whose Rényi curve was stated by the authors as {stated}"

    @property
    def free_symbols(self) -> frozenset[sympy.Symbol]:
        """The symbols left open; alpha is the formula's variable and no parameter."""
        return super().free_symbols - {symbols.alpha}

    def _infer(self) -> Claim:
        """The claim of the kind and the adjacency that were stated, without a proof of ours."""
        return Claim(
            self.kind,
            self.adjacency,
            sources=(self.source,),
            certified=not self._is_mpmath_callable,
        )

    @property
    def _is_formula(self) -> bool:
        """Was the curve given as a SymPy expression?"""
        return isinstance(self.f, sympy.Expr)

    @property
    def _has_one_formula(self) -> bool:  # type: ignore[override]
        return self._is_formula

    @property
    def _has_formula(self) -> bool:
        """Has the curve a SymPy expression? A function of (ctx, alpha) is tried at a symbol.

        It has none if it decides by numbers, or calls functions outside of ctx.
        """
        if self._is_formula or self._is_mpmath_callable:
            return self._is_formula
        whole = sympy.Symbol(symbols.alpha.name, positive=True, integer=True)
        try:
            value = self.curve(SymbolicArithmetic())(whole)
        except (SymacctError, TypeError, ValueError, AttributeError):
            return False
        return isinstance(value, sympy.Expr)

    @property
    def _is_mpmath_callable(self) -> bool:
        """Was the curve given as an mpmath function of alpha alone, which nothing certifies?"""
        return not self._is_formula and _arity(self.f) == 1

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ the stated formula, or the value of the stated function in the arithmetic."""
        if self._is_formula:
            return lambda alpha: self._formula_at(ctx, ctx.number(alpha))
        if self._is_mpmath_callable:
            return lambda alpha: _trusted(ctx, self.f, alpha)
        return lambda alpha: _in_arithmetic(ctx, self.f(ctx, ctx.number(alpha)), alpha)

    def at_one(self, ctx: Arithmetic) -> Number:
        """The stated curve at 1."""
        return self.curve(ctx)(1)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """The value that was stated; without one ∞ for an upper bound, else OrderError."""
        stated = self._fields["at_infinity"]
        if stated is not None:
            return ctx.number(stated)
        if self.kind is Kind.UPPER:
            return ctx.number(INFINITY)
        raise OrderError(
            f"Curve: its value at alpha = ∞ was not stated, and a curve of kind "
            f"{self.kind} needs one there",
            remedy="pass at_infinity=...",
        )

    def _formula_at(self, ctx: Arithmetic, alpha: Order) -> Number:
        """The formula's value at an order, or the formula itself in the symbolic arithmetic."""
        if isinstance(ctx, SymbolicArithmetic):
            return expression(replaced(self.f, {symbols.alpha: exact(alpha, "order alpha")}))
        return evaluate(ctx, self.f, {symbols.alpha: alpha})


def _form(f: Form) -> sympy.Expr | Callable[..., Number]:
    """The SymPy expression in alpha, read from text too, or the function that states a curve.

    DomainError for a function that needs no or more than two arguments.
    """
    if isinstance(f, str):
        f = parse_formula(f, symbols.alpha)
    if isinstance(f, sympy.Basic) or not callable(f):  # a SymPy symbol can be called
        f = expression(typed_value(f, "Curve"))
        named = {s: symbols.alpha for s in f.free_symbols if s.name == symbols.alpha.name}
        return f.xreplace(named)
    if _arity(f) not in (1, 2):
        raise DomainError(
            f"Curve: found {echo(f)}, needed a SymPy expression in alpha, a function of (ctx, "
            "alpha), or an mpmath function of alpha"
        )
    return f


def _in_arithmetic(ctx: Arithmetic, value: Any, alpha: Order) -> Number:
    """What a function of (ctx, alpha) gave back, with ints and fractions made numbers of ctx.

    DomainError for a float in an arithmetic other than float64, because it would be rounded.
    """
    if isinstance(value, float) and not isinstance(ctx, Float64Arithmetic):
        raise DomainError(
            f"Curve: found the float {value} at order {alpha}, needed a number of the arithmetic "
            "that was given",
            remedy="write the curve with ctx's functions and ctx.number('1/4')",
        )
    return ctx.number(value) if isinstance(value, int | float | Fraction) else value


def _arity(f: Callable[..., Number]) -> int:
    """The number of positional arguments that f requires; 1 for one without a signature."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is p.empty for p in parameters)


def _trusted(ctx: Arithmetic, f: Callable[[Order], Number], alpha: Order) -> Number:
    """The value of an mpmath function in nats, uncertified: its digits are taken on trust.

    It runs at ctx's bits in mpmath's global context, which is locked and put back; for float64 at
    53 bits. DomainError in the symbolic arithmetic.
    """
    if isinstance(ctx, SymbolicArithmetic):
        raise DomainError(
            "Curve: found a Python function, which has no formula",
            remedy="state the curve as a SymPy expression in alpha",
        )
    if isinstance(ctx, Float64Arithmetic):
        orders = alpha.value() if isinstance(alpha, LogNumber) else np.asarray(alpha, dtype=float)
        values = [float(f(mpmath.mpf(float(a)))) for a in np.atleast_1d(orders)]
        return LogNumber.of(np.reshape(values, np.shape(orders)))
    with _global_mpmath, mpmath.workprec(ctx.bits):
        numerator, denominator = exact(alpha).as_integer_ratio()
        value = f(mpmath.mpf(numerator) / denominator)
        if is_infinite(value):
            return ctx.number(INFINITY)
        return ctx.number(exact(value, f"Curve, value at order {alpha}"))
