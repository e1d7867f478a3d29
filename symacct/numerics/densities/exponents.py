"""The exponents of densities in the distance T from an end, as functions of balls and of germs."""

from __future__ import annotations

from functools import lru_cache

from flint import acb, arb, ctx

from symacct.core import symbols
from symacct.core.lazy_import import sympy
from symacct.numerics.densities.jets import (
    ComplexBalls,
    Evaluator,
    Jet,
    constants,
    evaluator,
    log_of,
    log_parts,
)

#: The distance from a finite end of a piece, or towards an infinite one.
REMEMBERED = 4096  # exponents, of which each order of a pair has a few
_FAR = arb(2) ** 10  # where a sum shows which of its terms leads


def multiplied_out(expression: sympy.Expr) -> sympy.Expr:
    """The terms multiplied out, so that equal ones cancel; what stands in functions is left."""
    return sympy.Add(*(term.expand(deep=False) for term in sympy.Add.make_args(expression)))


def collected(expression: sympy.Expr) -> sympy.Expr:
    """Multiplied out, the multiples of each exponential together: what cancels is gone."""
    flat = sympy.expand(expression)
    heads = flat.atoms(sympy.exp)
    return sympy.collect(flat, sorted(heads, key=str)) if heads else flat


def _leading_apart(log: sympy.Expr, infinite: bool) -> sympy.Expr:
    """A logarithm, each log Σ t in it as log t of the term that leads far out and of a rest."""
    far = Jet(ComplexBalls(), acb(_FAR if infinite else 1 / _FAR), acb(1))

    def apart(node: sympy.log) -> sympy.Expr:
        total = node.args[0]
        if not isinstance(total, sympy.Add):
            return node
        values = [(evaluator(term, symbols.t)(far).value.real, term) for term in total.args]
        value, lead = max(values, key=lambda one: abs(one[0]).mid())
        if not value > 0:
            return node
        return log_of(lead) + sympy.log(sympy.expand(sympy.Add(*(t / lead for t in total.args))))

    return log.replace(lambda node: isinstance(node, sympy.log), apart)


def leading_exponent(log: sympy.Expr) -> sympy.Expr:
    """The logarithm for all T, what leads in logarithms of exponentials added up: it may cancel."""
    sums = log.atoms(sympy.log)
    led = {one: _leading_apart(one, infinite=True) for one in sums if log_parts(one.args[0])}
    return multiplied_out(log.xreplace(led)) if led else log


def over_logarithm(log: sympy.Expr, weight: int, infinite: bool) -> Evaluator:
    """Of X = log T, the weight times X added: what cancels is gone before balls see it."""
    apart = _leading_apart(log, infinite).xreplace({symbols.t: sympy.exp(symbols.x)})
    return evaluator(sympy.expand(apart, deep=False) + weight * symbols.x)


def in_balls(log: sympy.Expr) -> Evaluator:
    """As `evaluator`; a polynomial of degree 2 as a(T + h)² + c, sharp over a wide ball."""
    polynomial = log.as_poly(symbols.t)
    if polynomial is None or not 1 <= polynomial.degree() <= 2 or not log.is_real:
        return evaluator(log, symbols.t)
    a, b, c = (polynomial.coeff_monomial(symbols.t**k) for k in (2, 1, 0))
    if a:
        return _polynomial(a, b / (2 * a), c - b**2 / (4 * a))
    return _polynomial(a, b, c)


def _polynomial(a: sympy.Expr, b: sympy.Expr, c: sympy.Expr) -> Evaluator:
    """a(T + b)² + c, or bT + c where a is 0, of jets of balls."""
    known: dict[int, tuple[acb, ...]] = {}

    def at(x: Jet) -> Jet:
        if ctx.prec not in known:
            known[ctx.prec] = tuple(constants(one) for one in (a, b, c))
        zero = x.sort.number(0)
        first, second, third = (Jet(x.sort, x.sort.number(c), zero) for c in known[ctx.prec])
        if not a:
            return second * x + third
        return first * (x + second).whole_power(2) + third

    return at


@lru_cache(REMEMBERED)
def in_distance(exponent: sympy.Expr) -> Evaluator:
    return evaluator(exponent, symbols.t)


@lru_cache(REMEMBERED)
def at_end(expression: sympy.Expr, infinite: bool, density: bool) -> tuple[Evaluator, ...]:
    """The expression in y, what leads at the end set apart, and as it is.

    A density takes dT = dy/y² in at a finite end, where T = 1/y.
    """
    turned = expression if infinite else collected(expression.xreplace({symbols.t: 1 / symbols.t}))
    if density and not infinite:
        turned -= 2 * sympy.log(symbols.t)
    apart = collected(_leading_apart(turned, infinite=True))
    return tuple(evaluator(one, symbols.t) for one in dict.fromkeys((apart, turned)))
