"""The order that answers an (ε, δ) question best, and the Guarantee there."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

from flint import arb

from symacct.kernel import deadline, parameters, theorem_registry
from symacct.kernel import limits as sizes
from symacct.kernel.answer import GUARD_BITS, Guarantee, first_bits, from_ball, to_digits, undecided
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import accuracy, precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.conversion import EpsilonDelta, proved
from symacct.kernel.deadline import OutOfTimeError
from symacct.kernel.errors import (
    DomainError,
    InfiniteError,
    LimitError,
    OrderError,
    OrderGridWarning,
    PrecisionError,
    SoundnessError,
    SymacctError,
    echo,
    warn,
)
from symacct.kernel.evaluation import Evaluation, NodeCurve, OperationCurve, exact_pure
from symacct.kernel.exact import INFINITY, Numeric, Order, order
from symacct.kernel.memory import Key
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose
from symacct.kernel.parameters import By
from symacct.kernel.sums import order_search
from symacct.kernel.sums.order_search import is_steady
from symacct.kernel.theorem_registry import Theorem

# --- where the search starts


@dataclass(frozen=True)
class _Tuning:
    """The constants that steer the search for the best order; no answer rests on them."""

    #: The number of parts of a composition from which some stand for all where the search starts.
    #: It steers.
    many_parts: int = 128
    #: About how many parts stand for all. It steers.
    few_parts: int = 16
    #: The largest order that a search starts at; it takes growing steps to what lies beyond. It
    #: steers.
    largest_start: int = 2**17
    #: Other valleys are looked for down to orders so many times smaller than the first's bottom. A
    #: larger ratio finds more valleys, and takes longer; each order gives a proved answer.
    valley_ratio: int = 8
    #: Other valleys are looked for up to this order, to which a sum costs little. A larger one
    #: finds more valleys, and takes longer; each order gives a proved answer.
    cheap_order: int = 64
    #: Steps of Newton's method, which has to be right only to a whole order. They steer.
    newton_steps: int = 4
    #: The precision, in bits, at which orders are compared where the answer's own is above the
    #: next. It steers: the answer is computed anew at its own precision.
    search_bits: int = 80
    #: The precision, in bits, up to which a sum costs little more than at the search's. It costs
    #: time alone.
    cheap_bits: int = 256
    #: The precision, in bits, below which an order that is not resolved is evaluated again at twice
    #: the bits. Wide balls from there on are compared as they are: what is found is as sound, and
    #: maybe not proved the best.
    most_bits: int = 4096
    #: A search ends after so many orders that cannot be computed, if none could be. A larger one
    #: takes longer before an error.
    patience: int = 8
    #: Relative bits of λ to which an order is searched for by something else than the curve. It
    #: costs time: the order's own ε is proved.
    steered_bits: int = 24
    #: Relative bits of λ to which such an order is near enough for the curve to go on from there.
    #: It costs time: the order's own ε is proved.
    near_bits: int = 20
    #: Orders tried where a search takes too long: the cheapest, then the likely ones first. Each
    #: gives a proved bound.
    few_orders: tuple[Fraction, ...] = (
        *map(Fraction, (2, 16, 4, 64, 8, 32, 128, 256)),
        Fraction(3, 2),
        Fraction(5, 4),
    )
    #: The share of the time left after the first of the few orders that all others may take. It
    #: costs time alone.
    few_orders_share: Fraction = Fraction(1, 2)
    #: Ratio of the CGF orders of two neighbours up to which no order between them is tried. A
    #: smaller ratio brings the bound nearer to the best, and takes longer.
    gap: float = 1.1
    #: Ratio of the CGF orders of an end of those tried and of the next one beyond it. A larger one
    #: finds farther orders in fewer steps; each gives a proved bound.
    reach: int = 4
    #: The denominator of orders below 2 that are tried between others; those above are whole. A
    #: larger one brings the bound nearer to the best, and writes longer orders.
    denominator: int = 64


#: The numbers that steer the search, which no answer rests on.
_TUNING = _Tuning()
#: The errors of an estimate that cannot be made, without which a search starts elsewhere.
_UNKNOWN = (ArithmeticError, ValueError, OrderError, PrecisionError, LimitError)


class Steering(Evaluation):
    """An evaluation by cheap formulas near a curve, by which orders are compared; none is proved.

    They are a theorem's `steer`, or its rough curve in floats; other theorems stay as they are.
    """

    variant = ("steering",)

    def __init__(self, proved: Evaluation) -> None:
        super().__init__(proved.ctx, proved.goal, proved.by, proved.memo)

    def statement_for(self, theorem: Theorem, node: Node) -> Theorem:
        """The theorem with a rough bound in place of its own, where it has one that steers."""
        rough = theorem_registry.rough_curve(node) if _is_whole_curve(theorem) else None
        if rough is not None:
            return replace(theorem, bound=lambda ctx, eps, alpha, **_: arb(rough(alpha)))
        return replace(theorem, bound=theorem.steer) if theorem.steer else theorem


class SteeringFromBelow(Evaluation):
    """An evaluation by lower bounds of the exact curve, of convex CGF, close to it about `near`.

    They are the `below` of theorems; by such curves an optimum is proved, and no guarantee given.
    """

    def __init__(self, proved: Evaluation, near: Order) -> None:
        self.near = near
        self.variant = ("below", near)
        super().__init__(proved.ctx, proved.goal, proved.by, proved.memo)

    def statement_for(self, theorem: Theorem, node: Node) -> Theorem:
        """The theorem with its lower bound about `near`, where it has one."""
        if theorem.below is None:
            return theorem
        below = functools.partial(theorem.below, near=self.near)
        return replace(theorem, bound=below, kind=Kind.LOWER)

    def supports(self, curve: NodeCurve, alpha: Order) -> bool:
        """Is the curve exact, a lower bound of convex CGF over exact curves, or a sum of these?"""
        if super().supports(curve, alpha):
            return True
        parts = [self.curve(part) for part in curve.node.children]
        if isinstance(curve.node, Compose):
            return all(self.supports(part, alpha) for part in parts)
        offered = isinstance(curve, OperationCurve) and curve.best(alpha).below is not None
        return offered and all(
            super(SteeringFromBelow, self).supports(part, alpha) for part in parts
        )


def _is_whole_curve(theorem: Theorem) -> bool:
    """Is the theorem's bound the exact curve, so that no other theorem can be tighter?"""
    return theorem.tight and theorem.kind is Kind.EXACT


def is_steered(node: Node, by: By) -> bool:
    """Are orders compared by a rough curve or a theorem's `steer`, and not by the node's curve?

    Remembered with the node, under `by` and the state of the register.
    """
    memo: dict[object, bool] = node._derived("is steered")
    key = by, theorem_registry.register.revision
    if key not in memo:
        if any(map(theorem_registry.rough_curve, node.walk())):
            memo[key] = all(map(_is_whole_curve, theorem_registry.all_named(by)))
        else:
            memo[key] = any(_has_steer(below, by) for below in node.walk())
    return memo[key]


def _has_steer(node: Node, by: By) -> bool:
    """Has a theorem about the node itself a `steer`? Remembered with it, as parts of many nodes."""
    memo: dict[object, bool] = node._derived("has steer")
    register = theorem_registry.register
    key = by, register.revision
    if key not in memo:
        default = by is None
        about = register.defaults(type(node)) if default else theorem_registry.named_about(by, node)
        memo[key] = any(
            theorem_registry.holds_for_relation(theorem, node) and theorem.applies(node) is None
            for theorem in about
            if theorem.steer is not None
        )
    return memo[key]


def below_near(proved: Evaluation, near: Order, node: Node) -> NodeCurve | None:
    """A lower bound of a node's curve, of convex CGF, that is close to it about the order `near`.

    None where no theorem about a node below offers one.
    """
    offering = [theorem for theorem in theorem_registry.theorems() if theorem.below is not None]
    pairs = product(offering, node.walk())
    if any(theorem_registry.is_about(theorem, descendant) for theorem, descendant in pairs):
        return SteeringFromBelow(proved, near).curve(node)
    return None


def representative_part(node: Node) -> Node | None:
    """A composition of few of the parts of one of very many, each run so many times more.

    It stands for all where a search starts. None for other nodes, and for open symbols.
    """
    many = isinstance(node, Compose) and len(node.terms) >= _TUNING.many_parts
    if not isinstance(node, Compose) or not many or node.free_symbols:
        return None
    step = math.ceil(len(node.terms) / _TUNING.few_parts)
    return Compose(
        {part: step * count for part, count in islice(node.terms.items(), 0, None, step)}
    )


def last_order(node: Node) -> int:
    """The largest whole order to try, by the limits search_order, search_sum and hull.

    The second is for samples, which take a sum at each order, and the third where the sum is over a
    curve not known to be convex.
    """
    limits = sizes.current()
    last = limits.search_order
    for descendant in node.walk():
        if descendant.sampling_rate is not None:
            is_convex = all(part.convex for part in descendant.children)
            last = min(last, limits.search_sum if is_convex else limits.hull)
    return last


def whole_valley(
    question: EpsilonDelta, curve: NodeCurve, f: order_search.Objective, first: int, last: int
) -> int:
    """The whole order in [first, last] at the bottom of f's valley, f the conversion of the curve.

    The search starts at the bottom for a quadratic K and the classic conversion, or a little below
    it, as most curves grow faster, or at the estimate for an exponential K.
    """
    guess = 2
    with contextlib.suppress(*_UNKNOWN):
        value, eps = BALL.number(question.value), float(curve(2))
        square = -2 * float(value.log()) / eps if question.asks_epsilon else float(value) / eps
        lam = math.sqrt(square) if question.asks_epsilon else square
        guess = 1 + round(min(lam, _TUNING.largest_start))
    guess = max(first, guess)
    near = guess - max(1, guess // 8)
    if not (question.asks_epsilon and first < near <= last):
        return order_search.whole_valley(f, first, last, guess)
    estimate = min(max(first, _if_exponential(curve, f, first, near)), last)
    if 2 * estimate > near and f(estimate).is_finite():  # from ∞ no step would lead down
        return order_search.whole_valley_near(f, first, last, estimate)
    return order_search.whole_valley(f, first, last, near)


def _if_exponential(curve: NodeCurve, f: order_search.Objective, first: int, near: int) -> int:
    """The best order if K = kλ(λ+1)e^{gλ} and λf − K = c + t log λ; 0 where that has none.

    The constants are those of two orders. There λK′ − K = kλ²(1 + g(λ+1))e^{gλ} is equal to
    c + t log λ − t, which Newton's method solves for λ in logarithms.
    """
    with contextlib.suppress(*_UNKNOWN):
        low, lam = first - 1.0, near - 1.0
        (k1, c1), (k2, c2) = (
            (x * float(eps := curve(alpha)), x * float(f(alpha) - eps))  # K(x) and xf − K
            for x, alpha in ((low, first), (lam, near))
        )
        growth = math.log(k2 * low * (low + 1) / (k1 * lam * (lam + 1))) / (lam - low)
        rise = (c2 - c1) / math.log(lam / low)
        size = math.log(k1 / (low * (low + 1))) - growth * low
        for _ in range(_TUNING.newton_steps):
            bend = 1 + growth * (lam + 1)
            cost = c2 + rise * (math.log(lam / (near - 1)) - 1)
            excess = size + growth * lam + math.log(lam * lam * bend / cost)
            derivative = 2 / lam + growth + growth / bend - rise / (lam * cost)
            lam = max(lam / 4, lam - excess / derivative)
        return 1 + round(lam)
    return 0


# --- the search


class BestOrder:
    """The search for the order at which a conversion proves the smallest ε or δ.

    Objectives are ε, or log δ. Whatever order is found, the guarantee there is sound; `optimal` is
    stated only where balls prove it. Curves and values are kept by their precision for this search.
    """

    def __init__(
        self, question: EpsilonDelta, digits: int, evaluation: Callable[[], Evaluation]
    ) -> None:
        self.question = question
        #: Makes an evaluation in balls at the precision now current.
        self.evaluation = evaluation
        self.digits = digits
        self._curves: dict[int, NodeCurve] = {}
        self._objectives: dict[tuple[int, Key], order_search.Objective] = {}
        #: Why the first order that could not be computed was left out.
        self._skipped: SymacctError | None = None
        self._patience = _TUNING.patience
        #: Has f one valley where the CGF is convex?
        self._is_one_valley = question.per_order.one_valley
        #: The best order by the conversion that this one improves on, where it is known.
        self._start: Order = INFINITY
        final = first_bits(digits + 1)
        self.search_bits = final if final <= _TUNING.cheap_bits else _TUNING.search_bits
        #: Are orders compared by something else than the curve?
        self._is_steered = is_steered(question.m, question.by)
        #: Bits at which the bottom of a valley is looked for, and from which the answer begins.
        self._valley_bits = (
            final if self._is_steered else 2 * math.ceil(1.7 * (digits + 6)) + GUARD_BITS // 2
        )

    def asking(self, question: EpsilonDelta) -> BestOrder:
        """A new search for another question, to the same number of digits."""
        return BestOrder(question, self.digits, self.evaluation)

    def answer(self, orders: str | Iterable[Numeric] | None) -> Guarantee:
        """The best guarantee over listed orders, over "integer" ones, or over all for None.

        Unless orders are listed, it is no larger than that of the conversion which this one
        improves on. InfiniteError where the curve is infinite at every order tried, the first
        refusal where none can be computed, DomainError for other `orders`.
        """
        improved, near = self.question.per_order.improves_on, None
        if improved is not None and (orders is None or isinstance(orders, str)):
            question = replace(self.question, conversion=proved(improved))
            near = self.asking(question).answer(orders).alpha
            self._start = near if near == INFINITY else round(near)
        if orders is None:
            best = self._over_all_orders()
        elif not isinstance(orders, str):
            best = self._over_grid(orders)
        elif orders == "integer":
            best = self._over_whole_orders()
        else:
            raise DomainError(f"orders: found {echo(orders)}, needed 'integer' or an iterable")
        if near is None:
            return best
        try:
            at_near = self.at(near, False, bits=self._valley_bits)
        except (PrecisionError, LimitError, InfiniteError):
            return best
        return min(best, at_near, key=lambda guarantee: guarantee.asked.upper)

    # --- the curve and the objective, at the current precision

    def curve(self) -> NodeCurve:
        """The curve of the question's node at the current precision."""
        curve = self._curves.get(BALL.bits)
        if curve is None:
            curve = self._curves[BALL.bits] = self.evaluation().curve(self.question.m)
        return curve

    def steering_curve(self) -> NodeCurve:
        """The curve by whose conversion the search compares orders: the node's, or one near it."""
        m = self.question.m
        return Steering(self.evaluation()).curve(m) if self._is_steered else self.curve()

    def objective(self, curve: NodeCurve | None = None) -> order_search.Objective:
        """α ↦ f(α), the conversion of a curve at the current precision, remembered.

        The curve is that of the question's node if none is given.
        """
        curve = curve or self.curve()
        key = BALL.bits, curve.evaluation.variant
        if key not in self._objectives:
            self._objectives[key] = functools.cache(functools.partial(self._converted, curve))
        return self._objectives[key]

    def _converted(self, curve: NodeCurve, alpha: Order) -> arb:
        """f(α); ∞ where the curve cannot be computed, as long as there is patience left.

        The first refusal is kept: the answer is then not called optimal, and it is raised once no
        order of _TUNING.patience could be computed. What bits do not resolve is asked with more.
        """
        try:
            value = self.question.objective(curve.local_value(alpha), alpha)
        except OrderError:
            if self.question.by is None:
                raise
            return arb("inf")  # a pinned theorem says nothing there: another order may do
        except (PrecisionError, LimitError) as error:
            self._patience -= 1
            self._skipped = self._skipped or error
            if self._patience == 0:
                raise self._skipped from None
            return arb("inf")  # any other order is as sound, if not proved the best
        # A log δ next to 0 need not be told from 0, if δ has its digits.
        is_resolved = is_steady(value) or is_steady(self.question.answer(value))
        if not is_resolved and self._can_have_more_bits(curve):
            with precision(2 * BALL.bits):  # what is left may have cancelled
                return self.objective()(alpha)
        if not (value.is_finite() or value > 0 or value < 0):
            self._skipped = self._skipped or undecided(echo(self.question.m), self.digits)
        self._patience = -1  # negative: one order has a value, so that the search never gives up
        return value

    def _can_have_more_bits(self, curve: NodeCurve) -> bool:
        """Is it the node's own curve, at a precision that may be doubled?"""
        return BALL.bits < _TUNING.most_bits and curve is self._curves.get(BALL.bits)

    def at_infinity(self) -> arb | None:
        """ε(∞) where it is known and finite; else None."""
        try:
            value = self.curve()(INFINITY)
        except OrderError:
            return None
        except (PrecisionError, LimitError) as error:
            self._skipped = self._skipped or error
            return None
        return value if value.is_finite() else None

    # --- three sets of orders

    def _over_all_orders(self) -> Guarantee:
        """The best guarantee over all real orders and ∞, by the best whole order and about it."""
        if self._valley_bits <= _TUNING.cheap_bits:  # the valley then reads the search's values
            self.search_bits = self._valley_bits
        with precision(self.search_bits):
            pure = self.at_infinity()
            if pure is not None and self.question.is_answered_by(pure):
                return self.at(INFINITY, optimal=True)
            whole = self._whole_minimum(pure)
            is_zero = whole is not None and self._is_zero_at_two()
        if whole is None:
            return self.at(INFINITY, optimal=bool(pure == 0))
        return self.at(2, optimal=True) if is_zero else self._around(whole, pure)

    def _is_zero_at_two(self) -> bool:
        """Is a δ asked for, and the curve 0 at order 2? The δ is then 0, and no order proves less.

        Where a curve that rises with the order is 0 anywhere, it is 0 there.
        """
        asks_delta = not self.question.asks_epsilon
        return asks_delta and order_search.is_least(self.objective()(2))

    def _over_whole_orders(self) -> Guarantee:
        """The best guarantee over whole orders, proved optimal where the CGF is convex."""
        with precision(self.search_bits):
            whole = self._whole_minimum(None)
            assert whole is not None  # noqa: S101  # without ε(∞) the search ends at a whole order
            if self._is_zero_at_two():
                return self.at(2, optimal=True)
            if not self.objective()(whole).is_finite():
                raise self._infinite("whole order")
            # The search has been at the neighbours: its balls usually decide.
            optimal = self._is_whole_optimum(whole)
        if not optimal:
            with precision(first_bits(self.digits + 1)):
                optimal = self._is_whole_optimum(whole)
        return self.at(whole, optimal)

    def _over_grid(self, orders: Iterable[Numeric]) -> Guarantee:
        """The best guarantee over listed orders, of which 1 is left out.

        Warns with OrderGridWarning where it is at an end of the list. Orders that cannot be
        computed are left out, and then it is not optimal. OrderError for a list without an order
        above 1.
        """
        listed = parameters.members(orders, "orders", "[2, 4, 8], or 'integer'")
        grid = sorted({order(alpha) for alpha in listed})
        finite = [alpha for alpha in grid if alpha not in (1, INFINITY)]
        if not finite and INFINITY not in grid:
            raise OrderError("orders: found none above 1, needed at least one order > 1")
        if finite:
            self.question.refuse_delta_zero()
        answers = []
        for alpha in grid:
            if alpha != 1:
                try:
                    answers.append(self.at(alpha, optimal=True))
                except (PrecisionError, LimitError) as error:
                    self._skipped = self._skipped or error
        if not answers:
            assert self._skipped is not None  # noqa: S101  # one of the two for each order
            raise self._skipped
        best = min(answers, key=lambda g: g.asked.upper)
        if best.asked.upper == INFINITY:
            raise self._infinite("order")
        best = replace(best, optimal=best.optimal and self._skipped is None)
        if finite and best.alpha in (finite[0], finite[-1]) and best.asked.upper != 0:
            edges = f"[{echo(finite[0])}, {echo(finite[-1])}]"
            warn(
                f"the best order, {echo(best.alpha)}, is at the edge of the grid given {edges}; "
                "orders beyond it, or all orders, may do better",
                OrderGridWarning,
            )
        return best

    def over_few_orders(self) -> Guarantee:
        """The best guarantee over ∞ and some orders, one at least, in a share of the time.

        It is not optimal. After ∞, which costs little, orders come that are far apart, and then
        others beside the best of them. The first that has a finite number may take all the time
        where ∞ has none.
        """
        tried: dict[Fraction, Guarantee | None] = {}
        pure = self._by_pure()
        if self.question.asks_epsilon and not self.question.value and pure is not None:
            return pure
        self.question.refuse_delta_zero()
        waiting = iter(_TUNING.few_orders)
        while pure is None and (alpha := next(waiting, None)) is not None:
            tried[alpha] = self._finite_at(alpha)
            if tried[alpha] is not None:
                break
        with (
            suppress(OutOfTimeError),
            deadline.within(float(_TUNING.few_orders_share) * deadline.remaining()),
        ):
            for alpha in waiting:
                tried[alpha] = self._finite_at(alpha)
            last = last_order(self.question.m)
            while (near := _beside(_best_of(tried), sorted(tried), last)) is not None:
                tried[near] = self._finite_at(near)
        guarantees = [g for g in (pure, *tried.values()) if g is not None]
        if not guarantees:
            raise self._skipped or self._infinite("order")
        return min(guarantees, key=lambda guarantee: guarantee.asked.upper)

    def _by_pure(self) -> Guarantee | None:
        """The guarantee by ε(∞); None where it says nothing, or not in a share of the time."""
        pure = None
        with (
            suppress(OutOfTimeError),
            deadline.within(float(_TUNING.few_orders_share) * deadline.remaining()),
        ):
            pure = self._finite_at(INFINITY)
        says_all = pure is not None and (self.question.asks_epsilon or pure.asked.upper == 0)
        return pure if says_all else None

    def _finite_at(self, alpha: Order) -> Guarantee | None:
        """The guarantee at one order; None where it is infinite or cannot be computed."""
        try:
            guarantee = self.at(alpha, optimal=False)
        except (PrecisionError, LimitError, OrderError) as error:
            self._skipped = self._skipped or error
            return None
        return guarantee if guarantee.asked.upper < INFINITY else None

    def _infinite(self, orders: str) -> SymacctError:
        """The error of a curve that has no finite value at the orders tried."""
        return self._skipped or InfiniteError(
            f"{echo(self.question.m)}: its curve is infinite at every {orders} tried, "
            "so none gives a finite guarantee"
        )

    def _whole_minimum(self, pure: arb | None) -> int | None:
        """The best whole order; None if none is better than `pure`, a finite ε(∞).

        InfiniteError for δ = 0. Warns with OrderGridWarning where orders beyond those that were
        tried may be better.
        """
        self.question.refuse_delta_zero()
        first, last = 2, last_order(self.question.m)
        curve, converted = self.steering_curve(), self.question.objective
        f = self.objective(curve)
        if pure is not None and self.question.asks_epsilon:
            # The search starts where the conversion of a curve that is 0 is below ε(∞).
            if pure == 0 or not order_search.below(converted(arb(0), last), pure):
                return None
            while not order_search.below(converted(arb(0), first), pure):
                deadline.check()
                first = 2 * first - 1
            first = max(2, (first + 1) // 2)
        best = self._whole_valley(curve, first, last)
        if pure is not None and self.question.asks_epsilon and pure <= f(best):
            return None
        beyond = best + order_search.whole_step(best)
        limited = isinstance(self._skipped, LimitError) and not self.objective()(beyond).is_finite()
        if beyond > last or limited:
            warn(
                f"the best order, {best}, is next to the largest that was tried; "
                "the limits search_order and search_sum allow larger ones",
                OrderGridWarning,
            )
        return best

    def _whole_valley(self, curve: NodeCurve, first: int, last: int) -> int:
        """The whole order at the bottom of the valley of f, the conversion of a steering curve.

        It is looked for next to a known one, if there is one, or to that of some of many parts. Of
        several the lowest one found counts: f has several where one theorem ends and another goes
        on, but not for a curve of convex CGF. They are looked for at orders 2^i and 3·2^i.
        """
        f, near = self.objective(curve), None
        if self._start != INFINITY:
            near = min(max(first, int(self._start)), last)
        elif (representative := representative_part(self.question.m)) is not None:
            search = self.asking(replace(self.question, m=representative))
            near = search._whole_valley(search.steering_curve(), first, last)
        if near is not None:
            return order_search.whole_valley_near(f, first, last, near)
        bottom = whole_valley(self.question, curve, f, first, last)
        if curve.shape is not None:
            return bottom
        low = max(first, bottom // _TUNING.valley_ratio)
        high = min(last, max(bottom, _TUNING.cheap_order))
        places = (lead << exponent for exponent in range(high.bit_length()) for lead in (2, 3))
        start = order_search.lowest(
            f, (bottom, *(place for place in places if low <= place <= high))
        )
        if start == bottom:
            return bottom
        return order_search.whole_valley_near(f, first, last, start)

    # Proved in docs/proofs/certificates.md, Lemma whole-orders.
    def _is_whole_optimum(self, whole: int) -> bool:
        """Do f's values at the neighbours prove that no whole order is better?

        That needs a convex CGF, and a conversion that then has one valley.
        """
        if self.curve().shape is None or not self._is_one_valley:
            return False
        f, left = self.objective(), max(2, whole - 1)
        return all(f(alpha) >= f(whole) for alpha in {left, whole + 1} - {whole})

    # Proved in docs/proofs/certificates.md, Lemma convex-objectives.
    def _convex_at(self, alpha: Order, curve: NodeCurve) -> bool:
        """Is the CGF around α known to be convex, and nowhere above the true one?"""
        try:
            if curve.evaluation.supports(curve, alpha):
                return True
        except (OrderError, SoundnessError):  # a pinned theorem says nothing between whole orders
            return False
        return self.question.m.convex and not any(
            node.sampling_rate is not None for node in self.question.m.walk()
        )

    # --- the real orders around the best whole one

    def _around(self, whole: int, pure: arb | None) -> Guarantee:
        """The guarantee at the best real order next to a whole one, or at ∞ if ε(∞) is no larger.

        `pure` is a finite ε(∞), or None. It is proved optimal where the CGF is convex.
        """
        with precision(self.search_bits):
            steering = self.objective(self.steering_curve())
            places = order_search.places(steering, whole, self.question.asks_epsilon)
            # A steering function has one valley where the curve's f has.
            f, beyond = self.objective(), (places[1] + places[2]) / 2
            # A δ, where the curve is 0 below order 2; proved, which may take many integrals.
            is_zero = order_search.is_least(steering(places[1]))
            is_zero = is_zero and order_search.is_least(f(places[1]))
            convex = self._is_steered or self._convex_at(beyond, self.curve())
            smooth = self._is_one_valley and not self._is_steered and convex
            smooth = smooth and all(f(alpha).is_finite() for alpha in places)
        if is_zero:
            return self.at(order(places[1]), optimal=True)
        bits, width, floor = self._valley_bits, (places[1] - 1) / 10 ** (self.digits // 2 + 3), None
        with precision(bits):
            f = self.objective()
            if smooth:
                valley = places, width, self.question.asks_epsilon, self.digits
                floor_at = functools.partial(self._floor, self.curve())
                best, floor = order_search.proved_valley(f, floor_at, *valley)
            else:
                # A kink needs many orders; of a smooth valley the search has evaluated some.
                kink_bits = min(bits, _TUNING.search_bits)
                with precision(self.search_bits if convex else kink_bits):
                    best = self._near_the_best(places, width, convex)
                if self._is_steered:
                    best, floor = self._proved_near(best)
                if not f(best).is_finite():  # beside a pole fewer bits may do than are needed
                    best, floor = places[1], None
                if not f(best).is_finite() and (pure is None or not self.question.asks_epsilon):
                    raise self._infinite("order")
            if pure is not None and self.question.asks_epsilon and not f(best) < pure:
                return self.at(INFINITY, optimal=False)
        return self.at(order(best), optimal=floor is not None, floor=floor, bits=bits)

    def _proved_near(self, best: Fraction) -> tuple[Fraction, arb | None]:
        """The best order near one that was steered to, and a lower bound of f over all orders.

        Both are by curves nowhere above the true one: the bottom of one valley, or the point where
        one that rises crosses one that falls. The bound is None where none is proved.
        """
        width = (best - 1) / 10 ** (self.digits // 2 + 2)
        step = max((best - 1) / 2**_TUNING.near_bits, 2 * width)  # at which the floor is asked too
        places, asks_epsilon = (best - step, best, best + step), self.question.asks_epsilon
        curves = [self._below(near) for near in places[::2]]
        left, right = map(self.objective, curves)
        convex = all(self._convex_at(alpha, curve) for curve in curves for alpha in places)
        if not (convex and self._is_one_valley):
            return best, None
        if left(places[0]).overlaps(right(places[0])):
            crossing = order_search.real_valley(left, places, width, asks_epsilon)
            return crossing, self._floor(curves[0], crossing, width)
        saddle = order_search.saddle(
            lambda near: self.objective(self._below(near)), best, width, asks_epsilon
        )
        if saddle is not None:
            return saddle, self._floor(self._below(saddle), saddle, width)
        crossing = order_search.crossing(left, right, places[0], places[2])
        falls = left(places[2]) < left(crossing) and right(places[0]) < right(crossing)
        return crossing, left(crossing).min(right(crossing)) if falls else None

    # Proved in docs/proofs/certificates.md, Lemma two-mechanisms.
    def _below(self, near: Fraction) -> NodeCurve:
        """A curve nowhere above the true one and close to it about an order; or the curve."""
        return below_near(self.evaluation(), near, self.question.m) or self.curve()

    def _near_the_best(
        self, places: tuple[Fraction, Fraction, Fraction], width: Fraction, convex: bool
    ) -> Fraction:
        """The best order by the steering function, unproved, between the outer two of three."""
        f = self.objective(self.steering_curve())
        if convex and all(f(alpha).is_finite() for alpha in places):
            bits = _TUNING.steered_bits if self._is_steered else order_search.UNPROVED_BITS
            width = max(width, (places[1] - places[0]) / 2**bits)
            return order_search.real_valley(f, places, width, self.question.asks_epsilon)
        return order_search.edged_valley(f, places, convex and self._is_one_valley)

    def _floor(self, curve: NodeCurve, best: Fraction, width: Fraction) -> arb | None:
        """A lower bound of the true f over all orders, proved by f of `curve` about the best order.

        None where the curve is not known to be convex and below the true one at the orders asked,
        where an order could not be computed, or balls do not prove a valley.
        """
        f = self.objective(curve)
        for multiple in order_search.WIDTH_MULTIPLES:
            orders = (best - multiple * width, best, best + multiple * width)
            if orders[0] <= 1:
                return None
            left, middle, right = (f(alpha) for alpha in orders)
            convex = all(self._convex_at(alpha, curve) for alpha in orders)
            if self._skipped is not None or not convex:
                return None
            if left >= middle and right >= middle:
                first, second, third = (BALL.number(alpha - 1) for alpha in orders)
                values, places = (left, middle, right), (first, second, third)
                return order_search.chord_floor(values, places, self.question.asks_epsilon)
        return None

    # --- the answer

    def at(self, alpha: Order, optimal: bool, floor: arb | None = None, bits: int = 0) -> Guarantee:
        """The guarantee at one order, to the search's digits; precision begins at `bits`.

        Where `floor` is a proved lower bound of f over all orders, the enclosure reaches down to
        it, unless digits are lost by that: then it is not `optimal`. It is not either where an
        order could not be computed. SoundnessError where the curve is a lower bound.
        """
        question = self.question

        def value() -> tuple[arb, Claim]:
            if alpha != INFINITY:
                ball = question.answer(self.objective()(alpha))
                if self._skipped is not None and ball == arb("inf"):  # NaN may be for want of bits
                    raise self._skipped
            elif question.asks_epsilon:
                ball = self.curve()(alpha)
            else:
                ball = arb(0 if self.question.is_answered_by(self.curve()(alpha)) else 1)
            return ball, self.curve().claim(alpha)

        def subject() -> str:
            return f"{echo(question.m)} with {question.given} = {echo(question.value)}"

        if self._skipped is not None:
            optimal, floor = False, None
        ball, claim, bits = to_digits(value, self.digits + 1, subject, bits)
        if claim.kind is Kind.LOWER:
            raise SoundnessError(f"{subject()}: found a lower bound, needed an upper one")
        enclosure = from_ball(ball, claim, self.digits, claim.certified)
        if alpha == INFINITY and question.asks_epsilon:
            enclosure = enclosure.known_to_be(exact_pure(question.m, question.by))
        if floor is not None:
            with precision(bits):
                hull = question.answer(floor).union(ball)
                proved_enclosure = from_ball(hull, claim, self.digits, True)
            if accuracy(hull) > self.digits or proved_enclosure.digits >= self.digits:
                enclosure = replace(proved_enclosure, certified=claim.certified)
            else:
                optimal = False
        return Guarantee(
            epsilon=enclosure if question.asks_epsilon else question.value,
            delta=question.value if question.asks_epsilon else enclosure,
            alpha=alpha,
            conversion=question.conversion.name,
            kind=Kind.UPPER,  # of ε(δ) and δ(ε), however exact the curve
            claim=claim,
            optimal=optimal,
        )


def _best_of(tried: dict[Fraction, Guarantee | None]) -> Fraction | None:
    """The order tried whose guarantee has the smallest upper end; None where no order has one."""
    bounds = {alpha: g.asked.upper for alpha, g in tried.items() if g is not None}
    return min(bounds, key=lambda alpha: bounds[alpha]) if bounds else None


def _beside(best: Fraction | None, tried: list[Fraction], last: int) -> Fraction | None:
    """An order up to `last` to try next, in the wider gap beside the best of those tried.

    `tried` are ascending. None where both gaps are below _TUNING.gap in λ, or there is no best one.
    """
    if best is None:
        return None
    i = tried.index(best)
    below = tried[i - 1] - 1 if i else (best - 1) / _TUNING.reach**2
    above = tried[i + 1] - 1 if i + 1 < len(tried) else (best - 1) * _TUNING.reach**2
    gaps = {below: (best - 1) / below, above: above / (best - 1)}
    for end in sorted(gaps, key=lambda end: -gaps[end]):
        middle = 1 + math.sqrt(end * (best - 1))
        denominator = 1 if middle > 2 else _TUNING.denominator
        near = Fraction(round(denominator * middle), denominator)
        if gaps[end] > _TUNING.gap and near not in tried and 1 < near <= last:
            return near
    return None
