"""The expansion of ε(α) in one of its variables: the theorem that rdp evaluates, as a series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from symacct.export.cards import card
from symacct.export.expansions import taylor
from symacct.export.expansions.evaluating import Expanding
from symacct.export.expansions.series import Series, SeriesArithmetic, TooFewTerms, no_series
from symacct.export.latex.display import typeset
from symacct.kernel import limits
from symacct.kernel.answer import Enclosure, from_ball
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import BALL, Number
from symacct.kernel.claims import Claim
from symacct.kernel.errors import DomainError, PrecisionError, SymacctError, echo
from symacct.kernel.evaluation import Evaluation, goal_of
from symacct.kernel.exact import (
    Numeric,
    Order,
    expression,
    is_infinite,
    text,
    typed_value,
    without_long_numbers,
    written,
)
from symacct.kernel.exact import order as checked_order
from symacct.kernel.node import Mechanism, Node, as_node
from symacct.kernel.symbols import alpha as ALPHA
from symacct.kernel.theorem_registry import stating
from symacct.mechanisms.curve import Curve

_MORE_TERMS = 8  # looked at beyond those asked for, until the leading one is found
_EXACT = 10**9  # the exponent of the O of a series that is 0 itself
_REMAINDER_BITS = 256
_REMAINDER_DIGITS = 10
_PIECES = 16  # of the interval that a remainder is enclosed over
_LONG = 250  # operations of a coefficient that is left as it came
_LARGEST_ORDER = 400  # at which a remainder is tried: its series cost α operations


@dataclass(frozen=True)
class Remainder:
    """ε(α) − (the terms) = c·h^n, c enclosed for 0 <= h <= `until`; 1/h = σ where that is ∞."""

    coefficient: Enclosure
    until: Fraction
    power: int

    def __str__(self) -> str:
        ends = f"[{self.coefficient.rounded_down(4)}, {self.coefficient.rounded_up(4)}]"
        return f"c·h^{self.power} with c in {ends} for 0 <= h <= {text(self.until)}"


@dataclass(frozen=True)
class Expansion:
    """ε(α) near a point: terms and an O(·), the first term, a remainder where one is proved."""

    variable: sympy.Symbol
    at: sympy.Expr
    alpha: Order
    expression: sympy.Expr
    leading: sympy.Expr
    remainder: Remainder | None
    claim: Claim

    @property
    def terms(self) -> sympy.Expr:
        """The expression without its O(·)."""
        return self.expression.removeO()

    def __str__(self) -> str:
        rest = str(self.remainder) if self.remainder else "only O(·), not bounded"
        return f"{written(self.expression)}\n  remainder: {rest}\n  claim: {self.claim}"

    def __repr__(self) -> str:
        return f"Expansion: {self}"

    def rows(self, write: Callable[[object], str] = written) -> list[tuple[str, str]]:
        """The series, its first term, the remainder and the claim, formulas by `write`."""
        return [
            ("ε(α)", write(self.expression)),
            ("leading", write(self.leading)),
            ("remainder", str(self.remainder or "only O(·): no bound is proved")),
            ("claim", str(self.claim)),
        ]

    def _repr_html_(self) -> str:
        return card(self.rows(typeset))

    def as_dict(self) -> dict[str, Any]:
        """The expansion for JSON, formulas as SymPy's text."""
        rest = self.remainder
        return {
            "variable": str(self.variable),
            "at": "inf" if self.at is sympy.oo else written(self.at),
            "alpha": written(self.alpha),
            "expression": written(self.expression),
            "leading": written(self.leading),
            "remainder": rest
            and {
                "coefficient": rest.coefficient.as_dict(),
                "until": text(rest.until),
                "power": rest.power,
            },
            "claim": self.claim.as_dict(),
        }


def expansion(
    m: Node,
    variable: str | sympy.Symbol = "gamma",
    at: Numeric | None = None,
    order: int = 3,
    alpha: Numeric | None = None,
    by: By = None,
    within: Numeric | None = None,
) -> Expansion:
    """ε(α) of `m` as powers of a variable near a point, up to O(·) of the `order`-th.

    `variable` is "alpha", a symbol of `m`, or the name of a parameter ("gamma", "sigma") that has
    one value in `m` and is set free. The point is 0 by default, ∞ for sigma and b, 1 for alpha.
    `alpha` is the order, symbolic by default. At a whole order and with numbers elsewhere a
    remainder is enclosed for distances up to `within`, by default up to the value that `m` has.
    Raises OrderError where no expansion exists, DomainError for a variable that is not there.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> from sympy import symbols
    >>> sigma, gamma = symbols("sigma gamma", positive=True)
    >>> expansion(PoissonSubsample(Gaussian(sigma), gamma)).expression
    alpha*gamma**2*(exp(sigma**(-2)) - 1)/2 + O(gamma**3)
    """
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= 64:
        raise DomainError(f"order of the expansion: found {echo(order)}, needed 1 <= order <= 64")
    given = Evaluation(BALL, by=by).theorem_node(as_node(m, "expansion"))
    opened, symbol, own = _with_free_variable(given, variable)
    _refuse_functions(opened)
    point = _point(symbol, at)
    if symbol != ALPHA and point not in (0, sympy.oo):
        opened.subs({symbol: point})  # DomainError where the parameter cannot be that
    asked = _asked_order(symbol, alpha)
    inner = point is not sympy.oo and point != 0 and symbol != ALPHA
    if point is sympy.oo and own is not None:
        own = 1 / own
    problem = _Problem(opened, symbol, point, asked, by, inner)
    series, chosen, claim = problem.expanded(order)
    until = _until(own if within is None else within, point)
    coefficients, numbers = without_long_numbers(sympy.Tuple(*series.coefficients))
    series.coefficients = list(coefficients)
    found = _as_expression(series, symbol, point, order)
    leading = _term(series, series.first, symbol, point) if coefficients else sympy.S.Zero
    with sympy.evaluate(not numbers):  # to put e^(10^9999) in takes as long as to work it out
        found, leading = found.xreplace(numbers), leading.xreplace(numbers)
    return Expansion(
        variable=symbol,
        at=point,
        alpha=asked,
        expression=found,
        leading=leading,
        remainder=problem.remainder(chosen, until, order, claim),
        claim=claim,
    )


@dataclass(frozen=True)
class _Problem:
    """What is expanded: a node with the variable free in it."""

    m: Node
    variable: sympy.Symbol
    point: sympy.Expr
    alpha: Order
    by: By
    inner: bool

    def expanded(self, order: int) -> tuple[Any, dict[Any, Any], Claim]:
        """The series to O(t^order) and its leading term, the theorems chosen, the claim."""
        typical = None if self.variable != ALPHA else Fraction(3 if self.point == 1 else 5, 2)
        for terms in range(order, order + _MORE_TERMS + 1):
            # Some formulas divide by t, or by t²: more terms are carried than are asked for.
            ctx = SeriesArithmetic(self.variable, self.point, terms + 3, self.inner)
            evaluation = Expanding(ctx, goal_of(self.m, self.by), self.by, typical)
            try:
                curve = evaluation.curve(self.m)
                series = curve(self.alpha)
                if not isinstance(series, Series):
                    series = ctx.series(series)
                    if not series.coefficients:
                        series.last = _EXACT
                elif series.growth != 0:
                    raise no_series("a value that grows or falls faster than every power")
                if series.last >= order and (series.coefficients or series.last == _EXACT):
                    return series, evaluation.chosen, curve.claim(self.alpha)
            except TooFewTerms:
                continue
            except SymacctError:
                raise
            except (ValueError, ZeroDivisionError):  # flint's word for a quotient without a series
                raise no_series("a quotient that has no series there") from None
        raise no_series(f"nothing but 0 in the first {order + _MORE_TERMS} powers")

    def remainder(
        self, chosen: dict[Any, Any], until: Fraction | None, order: int, claim: Claim
    ) -> Remainder | None:
        """The enclosure of the remainder's coefficient, where Taylor's formula proves one."""
        numbers = isinstance(self.alpha, int) and self.m.free_symbols <= {self.variable}
        if until is None or not numbers or self.alpha > _LARGEST_ORDER or not claim.certified:
            return None
        if self.variable == ALPHA or self.point not in (0, sympy.oo):
            return None
        if self.by is None and self._has_other_bounds():
            return None  # beyond the point another theorem may give the smaller bound

        def value(ctx: taylor.TaylorArithmetic) -> Number:
            evaluation = Expanding(ctx, goal_of(self.m, self.by), self.by, chosen=dict(chosen))
            found = evaluation.curve(self.m)(self.alpha)
            if isinstance(found, taylor.Reciprocal):
                raise taylor.Unproved
            return found

        try:
            with taylor.taylor_precision(_REMAINDER_BITS, order + 1):
                ball = taylor.coefficient_over(
                    value, self.variable, until, order, self.point is sympy.oo, _PIECES
                )
        except (taylor.Unproved, TypeError, ValueError, ZeroDivisionError, PrecisionError):
            return None
        enclosure = from_ball(ball, claim, _REMAINDER_DIGITS, claim.certified, signed=True)
        return Remainder(enclosure, until, order)

    def _has_other_bounds(self) -> bool:
        """Is the default answer the smallest of several theorems anywhere in the node?"""
        goal = goal_of(self.m, None)
        operations = (node for node in self.m.walk() if not isinstance(node, Mechanism))
        return any(len(stating(node, self.alpha, goal)) > 1 for node in operations)


# --- what is asked


def _with_free_variable(m: Node, variable: str | sympy.Symbol) -> tuple[Node, sympy.Symbol, Any]:
    """The node with the variable free, the symbol, and the value that the variable had in it."""
    name = variable.name if isinstance(variable, sympy.Symbol) else variable
    if not isinstance(name, str):
        raise DomainError(f"expansion: found {echo(variable)}, needed a symbol or its name")
    if name == ALPHA.name:
        return m, ALPHA, None
    free = [s for s in m.free_symbols if s.name == name]
    if free:
        return m, free[0], None
    values = {
        node.fields()[name]
        for node in m.walk()
        if isinstance(node.fields().get(name), Fraction | sympy.Expr)
    }
    if len(values) != 1:
        found = "no such parameter" if not values else f"{len(values)} values of it"
        known = sorted({"alpha", *(s.name for s in m.free_symbols), *_parameter_names(m)})
        raise DomainError(
            f"expansion in {echo(name)}: found {found} in the expression, needed one of "
            f"{', '.join(known)} with one value",
            remedy="put a SymPy symbol where it is meant",
        )
    symbol = sympy.Symbol(name, positive=True)
    done: dict[Node, Node] = {}
    for node in m.walk():
        fields = {k: done.get(v, v) if isinstance(v, Node) else v for k, v in node.fields().items()}
        if isinstance(fields.get(name), Fraction | sympy.Expr):
            done[node] = type(node)(**{**fields, name: symbol})
        else:
            done[node] = node.rebuild(done, lambda x: x)
    return done[m], symbol, values.pop()


def _parameter_names(m: Node) -> set[str]:
    return {
        name
        for node in m.walk()
        for name, value in node.fields().items()
        if isinstance(value, Fraction)
    }


def _refuse_functions(m: Node) -> None:
    """A function of the user's own has no derivatives that are known."""
    for node in m.walk():
        if isinstance(node, Curve) and not node.is_formula:
            raise DomainError(
                "expansion: found a curve made of a Python function, needed one that is stated "
                "as a SymPy expression in alpha"
            )


#: Parameters of scale, at whose ∞ nothing is told.
_SCALES = {"sigma", "b", "scale"}


def _point(symbol: sympy.Symbol, at: Numeric | None) -> sympy.Expr:
    if at is None:
        if symbol == ALPHA:
            return sympy.S.One
        return sympy.oo if symbol.name in _SCALES else sympy.S.Zero
    if is_infinite(at):
        return sympy.oo
    point = expression(typed_value(at, "expansion, at"))
    if symbol == ALPHA and point != 1:
        raise DomainError(f"expansion in alpha: found the point {at}, needed 1 or inf")
    return point


def _asked_order(symbol: sympy.Symbol, alpha: Numeric | None) -> Order:
    if symbol == ALPHA:
        if alpha is not None:
            raise DomainError("expansion in alpha: found an order too, needed none")
        return ALPHA
    asked = ALPHA if alpha is None else checked_order(alpha)
    if isinstance(asked, int):
        limits.check("order", asked, "order alpha")
    return asked


def _until(value: Numeric | None, point: sympy.Expr) -> Fraction | None:
    if value is None or (point != 0 and point is not sympy.oo):
        return None
    until = typed_value(value, "expansion, within")
    if not isinstance(until, Fraction):
        return None
    if until <= 0:
        raise DomainError(f"expansion, within: found {echo(value)}, needed a distance > 0")
    return until


# --- what is said


def _as_expression(
    series: Series, symbol: sympy.Symbol, point: sympy.Expr, order: int
) -> sympy.Expr:
    """The terms below t^order, and O(t^order) unless all of them are 0 for ever."""
    if series.last == _EXACT:
        return sympy.S.Zero
    terms = [_term(series, k, symbol, point) for k in range(min(series.first, 0), order)]
    return sympy.Add(*terms) + sympy.Order(_power(symbol, point, order), (symbol, point))


def _power(symbol: sympy.Symbol, point: sympy.Expr, k: int) -> sympy.Expr:
    return (1 / symbol if point is sympy.oo else symbol - point) ** k


def _term(series: Series, k: int, symbol: sympy.Symbol, point: sympy.Expr) -> sympy.Expr:
    """The k-th term as a person would write it; the same number."""
    value, power = series[k], _power(symbol, point, k)
    if value.count_ops() > _LONG:
        return (value * power).xreplace(series.ctx.named)  # factors would take minutes to find
    value, bases = _polynomial_in_exponentials(sympy.expand_log(sympy.expand(value), force=True))
    value = sympy.factor(sympy.cancel(value))
    if value.has(sympy.log) and not value.free_symbols - set(bases):
        value = sympy.logcombine(value.xreplace(bases), force=True)
    return (value * power).xreplace(bases).xreplace(series.ctx.named)


def _polynomial_in_exponentials(
    value: sympy.Expr,
) -> tuple[sympy.Expr, dict[sympy.Expr, sympy.Expr]]:
    """The value with e^{ka}, e^{−a} … as powers of one symbol for e^a: factors are found fast."""
    bases: dict[sympy.Expr, list[sympy.exp]] = {}
    for power in value.atoms(sympy.exp):
        known = next((b for b in bases if (power.args[0] / b).is_Rational), power.args[0])
        bases.setdefault(known, []).append(power)
    back: dict[sympy.Expr, sympy.Expr] = {}
    for base, powers in bases.items():
        ratios = [sympy.Rational(power.args[0] / base) for power in powers]
        step = sympy.gcd_list(ratios)
        symbol = sympy.Dummy(positive=True)
        back[symbol] = sympy.exp(step * base)
        value = value.xreplace(
            {power: symbol ** (r / step) for power, r in zip(powers, ratios, strict=True)}
        )
    return value, back
