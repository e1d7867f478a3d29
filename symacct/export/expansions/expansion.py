"""The expansion of ε(α) in one of its variables: the theorem that rdp evaluates, as a series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from symacct.export.cards import card
from symacct.export.expansions.series import (
    NoSeriesError,
    Reciprocal,
    Series,
    SeriesArithmetic,
    SeriesNumber,
    TaylorArithmetic,
    TooFewTerms,
    Unproved,
    coefficient_over,
    no_series,
    taylor_precision,
)
from symacct.export.latex.display import typeset
from symacct.kernel import limits
from symacct.kernel.answer import Enclosure, from_ball
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import Number
from symacct.kernel.arithmetic.ball import BALL, precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import DomainError, PrecisionError, SymacctError, echo
from symacct.kernel.evaluation import Evaluation, LeafCurve, NodeCurve, OperationCurve, goal_of
from symacct.kernel.exact import (
    INFINITY,
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
from symacct.kernel.memory import Remembered
from symacct.kernel.node import Mechanism, Node, as_node
from symacct.kernel.questions import question
from symacct.kernel.sums.binomial_sums import Terms, binomial_sum
from symacct.kernel.symbols import alpha as ALPHA
from symacct.kernel.theorem_registry import Theorem, stating
from symacct.mechanisms import Gaussian
from symacct.mechanisms.laplace import LaplacePair
from symacct.mechanisms.response import ResponsePair
from symacct.theory.amplification import triples
from symacct.theory.amplification.pairs import expectation, shape_ratio

#: An order next to 1, and the bits of the balls there, by which two bounds are told apart whose
#: integrals have no sign in SymPy.
_NEAR_ONE, _NEAR_BITS = 1 + Fraction(1, 10**6), 128


class Expanding(Evaluation):
    """An evaluation in series or Taylor balls that notes which theorem it expands."""

    def __init__(
        self,
        ctx: SeriesArithmetic | TaylorArithmetic,
        goal: Kind,
        by: By,
        typical: Fraction | None = None,
        chosen: dict[tuple[Node, Order], Theorem] | None = None,
    ) -> None:
        super().__init__(ctx, goal, by)
        self.typical = typical
        self.chosen: dict[tuple[Node, Order], Theorem] = {} if chosen is None else chosen

    def curve(self, node: Node) -> NodeCurve:
        if node not in self._curves:
            self._curves[node] = (
                ExpandedLeaf(self, node, Remembered())
                if isinstance(node, Mechanism)
                else ExpandedCurve(self, node, Remembered())
            )
        return self._curves[node]

    def default(self) -> Evaluation:
        if self.by is None:
            return self
        return Expanding(self.ctx, self.goal, None, self.typical, self.chosen)


class ExpandedLeaf(LeafCurve):
    """The curve of a mechanism; the values of a user's formula are series, not numbers to check."""

    def compute(self, alpha: Order) -> SeriesNumber:
        ctx, node = self.evaluation.ctx, self.node
        if node.is_of_user and alpha != INFINITY:
            return ctx.number(node.fields()["f"].xreplace({ALPHA: expression(alpha)}))
        if isinstance(alpha, int | float) and alpha in (1, INFINITY):
            return node.at_one(ctx) if alpha == 1 else node.at_infinity(ctx)
        return node.within(ctx, node.curve(ctx))(alpha)


class ExpandedCurve(OperationCurve):
    """The curve of an operation near a point: the bound that is the smallest there."""

    evaluation: Expanding

    def theorems(self, alpha: Order) -> list[Theorem]:
        chosen = self.evaluation.chosen.get((self.node, alpha))
        if chosen is not None:
            return [chosen]
        typical = self.evaluation.typical
        place = typical if typical is not None and isinstance(alpha, sympy.Expr) else alpha
        return super().theorems(place)

    def compute(self, alpha: Order) -> SeriesNumber:
        """The smallest of the bounds that have a series: one that has none only leaves the rest."""
        best: tuple[SeriesNumber, Theorem] | None = None
        for theorem in self.theorems(alpha):
            try:
                value = self._value(theorem, alpha)
            except NoSeriesError as error:
                refused = error
                continue
            if best is None or self._is_better(value, best[0], theorem, best[1]):
                best = value, theorem
        if best is None:
            raise refused  # `theorems` never comes back empty
        self.evaluation.chosen[self.node, alpha] = best[1]
        return best[0]

    def _value(self, theorem: Theorem, alpha: Order) -> SeriesNumber:
        if theorem.reads == "itself" and isinstance(alpha, sympy.Expr):
            typical = self.evaluation.typical
            if theorem.name != "WBK19-C10" or typical is None or typical > 2:
                raise no_series(f"{theorem.name}, which joins the values at whole orders")
            return self(2)  # K(0) = 0 and K(1) = ε(2) make ε(α) = ε(2) on all of (1, 2]
        return self.value_by(theorem, alpha)

    def _is_better(
        self, value: SeriesNumber, best: SeriesNumber, theorem: Theorem, known: Theorem
    ) -> bool:
        """Is this bound the tighter one? None is below 0, so what vanishes faster is the less."""
        ctx, upper = self.evaluation.ctx, self.evaluation.goal is Kind.UPPER
        if not ctx.inner and not ctx.is_infinite(value) and not ctx.is_infinite(best):
            series, other = ctx.series(value), ctx.series(best)
            if series.growth == other.growth == 0 and series.first != other.first:
                return bool((series.first > other.first) is upper)
        try:
            return bool(ctx.is_below(value, best) is upper)
        except DomainError:
            typical = self.evaluation.typical
            if typical is None or typical > 2 or self.node.free_symbols:
                raise
        # An integral has no sign in SymPy, but its number has one close by.
        with precision(_NEAR_BITS):
            near = OperationCurve(Evaluation(BALL, self.evaluation.goal), self.node, Remembered())
            values = near.value_by(theorem, _NEAR_ONE), near.value_by(known, _NEAR_ONE)
            return bool(values[0] < values[1]) is upper

    def best(self, alpha: Order) -> Theorem:
        self(alpha)
        return self.evaluation.chosen[self.node, alpha]

    def inferred(self, alpha: Order) -> tuple[Claim, bool]:
        """What is claimed near a point is not remembered: it may differ elsewhere."""
        theorem, at = self.best(alpha), alpha
        if theorem.reads == "itself" and isinstance(alpha, sympy.Expr):
            at = 2  # the only whole order that it reads
        return self._inferred_by(theorem, at)[0], False


@binomial_sum.register
def _(
    ctx: SeriesArithmetic,
    alpha: Order,
    u: SeriesNumber,
    v: SeriesNumber,
    terms: Terms,
    first: int = 2,
) -> SeriesNumber:
    """Term by term; at a symbolic α where u is no power of t, by the moments of l."""
    whole = isinstance(alpha, int)
    if whole or isinstance(u, Series) or isinstance(v, Series):

        def term(l: int) -> SeriesNumber:
            weight = ctx.binomial(alpha, l) * u**l * v ** (alpha - l)
            if isinstance(weight, Series) and not weight.coefficients:
                return weight  # beyond the terms kept, whatever its factor is
            return weight * terms(l)

        # Where u = O(t) the l-th term is O(t^l), and what comes after the last power is left out.
        powers = isinstance(u, Series) and u.first >= 1
        return ctx.sum(term, first, min(alpha, ctx.terms) if powers and whole else alpha)
    return _by_moments(ctx, alpha, expression(u), expression(v), terms, first)


def _by_moments(
    ctx: SeriesArithmetic, alpha: Order, u: SeriesNumber, v: SeriesNumber, terms: Terms, first: int
) -> SeriesNumber:
    """Σ_l C(α,l) u^l v^{α−l} p(l) = Σ_i a_i (α)_i u^i (u+v)^{α−i}, where p(l) = Σ_i a_i (l)_i."""
    index = sympy.Symbol("l", integer=True, positive=True)
    series = ctx.series(terms(index))

    def mean(coefficient: sympy.Expr) -> SeriesNumber:
        poly = sympy.Poly(sympy.expand(coefficient), index)
        if poly.is_zero:
            return sympy.S.Zero
        total: SeriesNumber = sympy.S.Zero
        for i in range(poly.degree() + 1):
            # The coefficient of (l)_i is the i-th forward difference at 0 over i!.
            difference = sum(
                (-1) ** (i - j) * sympy.binomial(i, j) * poly.eval(j) for j in range(i + 1)
            )
            weight = sympy.expand_func(sympy.ff(alpha, i)) * u**i * (u + v) ** (alpha - i)
            total += difference / sympy.factorial(i) * weight
        for l in range(first):
            total -= ctx.binomial(alpha, l) * u**l * v ** (alpha - l) * poly.eval(l)
        return sympy.expand(total)

    try:
        values = [mean(c) for c in series.coefficients]
    except sympy.PolynomialError:
        raise no_series(f"a sum up to {alpha} of terms that are no polynomials in l") from None
    return Series(ctx, series.first, values, series.last, series.growth)


@expectation.register
def _(
    ctx: SeriesArithmetic, mechanism: Mechanism, gamma: SeriesNumber, alpha: Order
) -> SeriesNumber:
    """E_Q[m^α] − 1 (E_Q[m log m] where alpha is None), m = 1−γ+γP/Q."""
    order = None if alpha is None else ctx.number(alpha)
    if not isinstance(order, Series):
        return _by_chi(ctx, mechanism, ctx.number(gamma), order)
    if order.first == 0:
        return _near_one(ctx, mechanism, gamma)
    if isinstance(mechanism, LaplacePair):
        return _far_laplace(ctx, mechanism, ctx.number(gamma), order)
    # The last term of the sum, up to a factor 1 + O(α e^{−αΔ²/σ²}).
    rate = mechanism.at_one(ctx)
    return ctx.exp(order * sympy.log(ctx.number(gamma)) + order * (order - 1) * rate)


def _by_chi(
    ctx: SeriesArithmetic, mechanism: Mechanism, gamma: SeriesNumber, order: SeriesNumber
) -> SeriesNumber:
    """Σ_{k>=2} C(α,k) γ^k χ^k, or Σ_{k>=2} (−1)^k γ^k χ^k/(k(k−1)), χ^k = E_Q[(P/Q−1)^k].

    Either γ or P/Q − 1 is O(t), the latter in every moment, so that the k-th term is O(t^k); the
    remainders of the Taylor formula are too, for all moments of P/Q are finite.
    """
    total: SeriesNumber = sympy.S.Zero
    for k in range(2, ctx.terms + 1):
        weight = sympy.Rational((-1) ** k, k * (k - 1)) if order is None else ctx.binomial(order, k)
        total = total + weight * (gamma**k * chi(ctx, mechanism, k))
    return total


def chi(ctx: SeriesArithmetic, mechanism: Mechanism, k: int) -> SeriesNumber:
    """χ^k = Σ_{i=2}^{k} (−1)^{k−i} C(k,i) (e^{(i−1)ε(i)} − 1), k >= 1."""
    direct, curve = mechanism.excess(ctx), mechanism.curve(ctx)
    moment = direct or (lambda i: ctx.expm1((i - 1) * curve(i)))
    total: SeriesNumber = sympy.S.Zero
    for i in range(2, k + 1):
        total = total + (-1) ** (k - i) * sympy.binomial(k, i) * moment(i)
    return total


def _near_one(ctx: SeriesArithmetic, mechanism: Mechanism, gamma: SeriesNumber) -> SeriesNumber:
    """Σ_{k>=1} t^k E_Q[m log^k m]/k!, at α = 1 + t: the moments are analytic there."""
    z = sympy.Symbol("z", real=True)
    scale, gamma = expression(shape_ratio(mechanism)), expression(gamma)

    def mean(k: int) -> SeriesNumber:
        def value(log_ratio: SeriesNumber) -> SeriesNumber:
            m = 1 - gamma + gamma * sympy.exp(log_ratio)
            return m * sympy.log(m) ** k

        if isinstance(mechanism, Gaussian):
            density = sympy.exp(-(z**2) / (2 * scale**2)) / (sympy.sqrt(2 * sympy.pi) * scale)
            whole = (z, -sympy.oo, sympy.oo)
            return sympy.Integral(density * value((2 * z - 1) / (2 * scale**2)), whole)
        s = 1 / scale
        inside = sympy.Integral(sympy.exp(-s * z) * value(s * (2 * z - 1)), (z, 0, 1))
        return (value(-s) + sympy.exp(-s) * value(s) + s * inside) / 2

    values = [ctx.name(mean(k)) / sympy.factorial(k) for k in range(1, ctx.terms)]
    return Series(ctx, 1, values, ctx.terms)


@triples.expectation.register
def _(
    ctx: SeriesArithmetic, mechanism: Mechanism, alpha: Order, gamma: SeriesNumber
) -> SeriesNumber:
    """Σ_{k>=1} t^k E_Q[m L^k + (−L)^k; P > Q]/k!, L = log m, m = 1−γ+γP/Q, at α = 1 + t."""
    order = None if alpha is None else ctx.number(alpha)
    if isinstance(mechanism, ResponsePair):
        return triples.of_answers(ctx, mechanism, alpha, gamma)
    if not isinstance(order, Series) or order.first != 0:
        raise no_series("an expectation over the outcomes where P > Q")

    def mean(k: int) -> sympy.Expr:
        return triples.above_one_of(
            mechanism, gamma, lambda m: m * sympy.log(m) ** k + (-sympy.log(m)) ** k
        )

    values = [ctx.name(mean(k)) / sympy.factorial(k) for k in range(1, ctx.terms)]
    return Series(ctx, 1, values, ctx.terms)


def _far_laplace(
    ctx: SeriesArithmetic, mechanism: LaplacePair, gamma: SeriesNumber, order: Series
) -> SeriesNumber:
    """m^α ( e^{−s}/2 + m e^{−2s}/(4γ) Σ_k (3/2)_k (m e^{−s}/γ)^k / (α+1)_{k+1} ), the largest m.

    Half of Q's mass beyond the second centre is an atom of the largest ratio m = 1−γ+γe^s; with
    y = 1−γ+γe^{s(2z−1)} the part between the centres is ∫ y^α (y−1+γ)^{−3/2} dy √γ e^{−s/2}/4,
    integrated by parts at its upper end. What is left out is smaller by a power e^{−cα}.
    """
    s = mechanism.shift(ctx)
    m = 1 - gamma + gamma * sympy.exp(s)
    ratio, total, factor = m * sympy.exp(-s) / gamma, ctx.series(sympy.exp(-s) / 2), sympy.S.One
    below: SeriesNumber = sympy.S.One
    for k in range(ctx.terms):
        below = below * (order + 1 + k)
        total = total + m * sympy.exp(-2 * s) / (4 * gamma) * factor / below
        factor *= (sympy.Rational(3, 2) + k) * ratio
    return ctx.exp(order * sympy.log(m)) * total


_MORE_TERMS = 8  # looked at beyond those asked for, until the leading one is found
_EXACT = 10**9  # the exponent of the O of a series that is 0 itself
_REMAINDER_BITS = 256  # of the balls that enclose a remainder's coefficient
_REMAINDER_DIGITS = 10  # significant digits of its ends
_PIECES = 16  # of the interval that a remainder is enclosed over: on each of them the hull is wide
_LONG = 250  # operations of a coefficient that is left as it came: its factors take minutes
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


@question(Node, "expansion")
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
    one value in `m` and is set free. `at` is the point of the expansion, by default inf for sigma
    and b, 1 for alpha, and 0 for others. `order` is the power in the last term O(·). `alpha` is the
    Rényi order, by default the symbol alpha. `within` is the distance from the point up to which a
    remainder is proved. By default it goes up to the value that `m` has. There is a remainder at a
    whole order with numbers elsewhere. Raises OrderError where no expansion exists, and DomainError
    for a variable that is not there.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> from sympy import symbols
    >>> sigma, gamma = symbols("sigma gamma", positive=True)
    >>> expansion(PoissonSubsample(Gaussian(sigma), gamma)).expression
    alpha*gamma**2*(exp(sigma**(-2)) - 1)/2 + O(gamma**3)
    """
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= 64:
        raise DomainError(f"order of the expansion: found {echo(order)}, needed 1 <= order <= 64")
    node = Evaluation(BALL, by=by).theorem_node(as_node(m, "expansion"))
    opened, symbol, former = _with_free_variable(node, variable)
    _refuse_functions(opened)
    point = _point(symbol, at)
    if symbol != ALPHA and point not in (0, sympy.oo):
        opened.subs({symbol: point})  # DomainError where the parameter cannot be that
    order_asked = _asked_order(symbol, alpha)
    inner = point is not sympy.oo and point != 0 and symbol != ALPHA
    if point is sympy.oo and former is not None:
        former = 1 / former
    problem = _Problem(opened, symbol, point, order_asked, by, inner)
    series, chosen, claim = problem.expanded(order)
    until = _until(former if within is None else within, point)
    coefficients, numbers = without_long_numbers(sympy.Tuple(*series.coefficients))
    series.coefficients = list(coefficients)
    formula = _as_expression(series, symbol, point, order)
    leading = _term(series, series.first, symbol, point) if coefficients else sympy.S.Zero
    with sympy.evaluate(not numbers):  # to put e^(10^9999) in takes as long as to work it out
        formula, leading = formula.xreplace(numbers), leading.xreplace(numbers)
    return Expansion(
        variable=symbol,
        at=point,
        alpha=order_asked,
        expression=formula,
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

        def value(ctx: TaylorArithmetic) -> Number:
            evaluation = Expanding(ctx, goal_of(self.m, self.by), self.by, chosen=dict(chosen))
            coefficient = evaluation.curve(self.m)(self.alpha)
            if isinstance(coefficient, Reciprocal):
                raise Unproved
            return coefficient

        try:
            with taylor_precision(_REMAINDER_BITS, order + 1):
                ball = coefficient_over(
                    value, self.variable, until, order, self.point is sympy.oo, _PIECES
                )
        except (Unproved, TypeError, ValueError, ZeroDivisionError, PrecisionError):
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
        fault = "no such parameter" if not values else f"{len(values)} values of it"
        known = sorted({"alpha", *(s.name for s in m.free_symbols), *_parameter_names(m)})
        raise DomainError(
            f"expansion in {echo(name)}: found {fault} in the expression, needed one of "
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
        if isinstance(node, Mechanism) and node.is_of_user and not node.has_one_formula:
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
    at = ALPHA if alpha is None else checked_order(alpha)
    if isinstance(at, int):
        limits.check("order", at, "order alpha")
    return at


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
