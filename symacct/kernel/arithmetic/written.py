"""Extrema, sums and integrals that stay as they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import sympy
from mpmath.libmp import prec_to_dps
from sympy.core.evalf import EvalfMixin

from symacct.kernel.exact import Numeric


class _Extremum:
    """The smallest or largest of several expressions, left as it is written.

    SymPy's own compares its arguments whenever one changes, which takes minutes for the bounds
    of theorems. Here only rationals, their logarithms and ∞ are compared, and what can never be
    the answer is left out.
    """

    #: SymPy's own, for rationals.
    plain: Callable[..., sympy.Expr]
    #: The value that is never the answer, and the one that always is (∞ and −∞); SymPy's names.
    identity: sympy.Expr
    zero: sympy.Expr
    args: tuple[sympy.Expr, ...]

    def __new__(cls, *arguments: Numeric, **_: object) -> sympy.Expr:  # SymPy passes evaluate=
        kept: dict[sympy.Expr, None] = {}
        numbers: list[sympy.Expr] = []
        logs: list[sympy.Expr] = []  # of rationals, which are in the order of the rationals
        for argument in map(sympy.sympify, arguments):
            for part in argument.args if isinstance(argument, cls) else (argument,):
                if part.is_Rational or part in (cls.identity, cls.zero):
                    numbers.append(part)
                elif isinstance(part, sympy.log) and part.args[0].is_Rational:
                    logs.append(part.args[0])
                else:
                    kept[part] = None
        best, argument = cls.plain(*numbers), cls.plain(*logs)
        if logs and best == 0:  # log r against 0 is r against 1
            best = sympy.log(cls.plain(argument, 1))
        elif logs:
            kept[sympy.log(argument)] = None
        if best == cls.zero:
            return best
        if best != cls.identity or not kept:
            kept[best] = None
        return sympy.Expr.__new__(cls, *kept) if len(kept) > 1 else next(iter(kept))

    #: SymPy's Min and Max have one that calls the constructor, which would not choose here.
    evalf = n = EvalfMixin.evalf

    def _eval_evalf(self, prec: int) -> sympy.Expr:
        """The extremum of the numbers to `prec` bits; of what is left symbolic it stays one."""
        values = [argument._evalf(prec) for argument in self.args]
        return (self.plain if all(v.is_Number for v in values) else type(self))(*values)


class Min(_Extremum, sympy.Min):  # type: ignore[misc, unused-ignore]
    """min(…), left as it is written."""

    plain = sympy.Min


class Max(_Extremum, sympy.Max):  # type: ignore[misc, unused-ignore]
    """max(…), left as it is written."""

    plain = sympy.Max


class Sum(sympy.Sum):  # type: ignore[misc, unused-ignore]
    """Σ, left as it is written: SymPy's own lifts the cases of an inner sum out of that sum."""

    def __new__(cls, function: Numeric, *limits: Iterable[Numeric], **_: object) -> sympy.Expr:
        e = sympy.Expr.__new__(cls, sympy.sympify(function), *(sympy.Tuple(*x) for x in limits))
        e.is_commutative = True
        return e

    is_number = False  # what compares and sorts would add up thousands of terms


class Integral(sympy.Integral):  # type: ignore[misc, unused-ignore]
    """∫, left as it is written: SymPy's own is worked out whenever it is compared or sorted."""

    is_number = False

    def _eval_evalf(self, prec: int) -> sympy.Expr:
        """The number by SymPy's own quadrature, to `prec` bits."""
        return sympy.Integral(*self.args).evalf(prec_to_dps(prec))
