"""Curves in series: which theorem is expanded, and the sums and expectations that need thought."""

from __future__ import annotations

from fractions import Fraction

import sympy

from symacct.export.expansions.series import (
    NoSeriesError,
    Series,
    SeriesArithmetic,
    SeriesNumber,
    no_series,
)
from symacct.export.expansions.taylor import TaylorArithmetic
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic.ball import BALL, precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import DomainError
from symacct.kernel.evaluation import Evaluation, LeafCurve, NodeCurve, OperationCurve
from symacct.kernel.exact import INFINITY, Order, expression
from symacct.kernel.memory import Remembered
from symacct.kernel.node import Mechanism, Node
from symacct.kernel.sums.binomial_sums import Terms, binomial_sum
from symacct.kernel.symbols import alpha as ALPHA
from symacct.kernel.theorem_registry import Theorem
from symacct.mechanisms import Gaussian
from symacct.mechanisms.curve import Curve
from symacct.mechanisms.laplace import LaplacePair
from symacct.mechanisms.response import ResponsePair
from symacct.theory.amplification import triples
from symacct.theory.amplification.pairs import expectation, shape_ratio

_NEAR_ONE = 1 + Fraction(1, 10**6)
_NEAR_BITS = 128


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
        if isinstance(node, Curve) and alpha != INFINITY:
            return ctx.number(node.f.xreplace({ALPHA: expression(alpha)}))
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
        asked = typical if typical is not None and isinstance(alpha, sympy.Expr) else alpha
        return super().theorems(asked)

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
            one, other = ctx.series(value), ctx.series(best)
            if one.growth == other.growth == 0 and one.first != other.first:
                return bool((one.first > other.first) is upper)
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

    def _claimed_of(self, theorem: Theorem, alpha: Order) -> list[tuple[NodeCurve, Order]]:
        if theorem.reads == "itself" and isinstance(alpha, sympy.Expr):
            return [(self.evaluation.default().curve(self.node), 2)]
        return super()._claimed_of(theorem, alpha)

    def claim(self, alpha: Order) -> Claim:
        return self._claim_by(
            self.best(alpha), alpha
        )  # what is settled at a point is not so elsewhere: not remembered


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
