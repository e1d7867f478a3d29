"""The order that answers an (ε, δ) question best, and the Guarantee there."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from flint import arb

from symacct.kernel import arguments, deadline, theorem_registry
from symacct.kernel import limits as sizes
from symacct.kernel.answer import (
    GUARD_BITS,
    Guarantee,
    first_bits,
    from_ball,
    relative_digits,
    to_digits,
    undecided,
)
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.conversion import proved
from symacct.kernel.deadline import OutOfTimeError
from symacct.kernel.epsilon_delta import EpsilonDelta
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
from symacct.kernel.sums import order_search
from symacct.kernel.theorem_registry import Theorem

# --- where the search starts
#
# What orders are compared by, where the search over them starts, and what proves an optimum.

_VERY_MANY, _A_FEW = 128, 16  # parts of a composition
_FAR = 2**17  # an order from which a search takes growing steps to what lies beyond
_SCALE = 8  # times further down, other valleys are looked for
_CHEAP = 64  # and as far up as a sum to the order costs little
_STEPS = 4  # of Newton's method, which is to be right to an order
_UNKNOWN = (ArithmeticError, ValueError, OrderError, PrecisionError, LimitError)


class Steering(Evaluation):
    """An evaluation by what the theorems offer to compare orders by; nothing rests on it."""

    variant = ("steering",)

    def __init__(self, proved: Evaluation) -> None:
        super().__init__(proved.ctx, proved.goal, proved.by, proved.memo)

    def statement_for(self, theorem: Theorem, node: Node) -> Theorem:
        rough = theorem_registry.rough_curve(node) if _says_all(theorem) else None
        if rough is not None:
            return replace(theorem, bound=lambda ctx, eps, alpha, **_: arb(rough(alpha)))
        return replace(theorem, bound=theorem.steer) if theorem.steer else theorem


class SteeringFromBelow(Evaluation):
    """By what theorems offer below the exact curve, of convex CGF; mostly the curve at `near`."""

    def __init__(self, proved: Evaluation, near: Order) -> None:
        self.near = near
        self.variant = ("below", near)
        super().__init__(proved.ctx, proved.goal, proved.by, proved.memo)

    def statement_for(self, theorem: Theorem, node: Node) -> Theorem:
        if theorem.below is None:
            return theorem
        below = functools.partial(theorem.below, near=self.near)
        return replace(theorem, bound=below, kind=Kind.LOWER)

    def supports(self, curve: NodeCurve, alpha: Order) -> bool:
        """By what a theorem offers over exact curves, or by a sum of such and of exact ones."""
        if super().supports(curve, alpha):
            return True
        parts = [self.curve(part) for part in curve.node.children]
        if isinstance(curve.node, Compose):
            return all(self.supports(part, alpha) for part in parts)
        offered = isinstance(curve, OperationCurve) and curve.best(alpha).below is not None
        return offered and all(
            super(SteeringFromBelow, self).supports(part, alpha) for part in parts
        )


def _says_all(theorem: Theorem) -> bool:
    """Is it the curve itself of what it is about?"""
    return theorem.tight and theorem.kind is Kind.EXACT


def is_steered(node: Node, by: By) -> bool:
    """Are orders compared by what a theorem about something in the node offers, or by floats?"""
    known: dict[object, bool] = node._derived("is steered")
    key = by, theorem_registry.register.revision
    if key not in known:
        asked = theorem_registry.theorems() if by is None else theorem_registry.all_named(by)
        if any(map(theorem_registry.rough_curve, node.walk())):
            known[key] = by is None or all(map(_says_all, asked))
        else:
            known[key] = any(
                theorem_registry.is_about(theorem, below) and theorem.applies(below) is None
                for theorem in asked
                if theorem.steer is not None
                for below in node.walk()
            )
    return known[key]


def below_near(proved: Evaluation, near: Order, node: Node) -> NodeCurve | None:
    """What is offered below a node's curve, mostly it about an order; None if nothing is."""
    offer = [theorem for theorem in theorem_registry.theorems() if theorem.below is not None]
    if any(theorem_registry.is_about(theorem, below) for below in node.walk() for theorem in offer):
        return SteeringFromBelow(proved, near).curve(node)
    return None


def standing_for_all(node: Node) -> Node | None:
    """A few parts of a composition of very many, run as often as all; None of any other node."""
    if not isinstance(node, Compose) or len(node.terms) < _VERY_MANY or node.free_symbols:
        return None
    step = math.ceil(len(node.terms) / _A_FEW)
    return Compose(
        {part: step * count for part, count in islice(node.terms.items(), 0, None, step)}
    )


def last_order(node: Node) -> int:
    """The largest whole order to try: where it is found by a sum, one that takes no minutes."""
    limits = sizes.current()
    last = limits.search_order
    for below in node.walk():
        if below.sampling_rate is not None:
            is_convex = all(part.convex for part in below.children)
            last = min(last, limits.search_sum if is_convex else limits.hull)
    return last


def whole_valley(
    question: EpsilonDelta, curve: NodeCurve, f: order_search.Objective, first: int, last: int
) -> int:
    """The whole order at the bottom of f's valley, f what the conversion makes of the curve.

    The search starts where it would be if K were quadratic and the conversion classic, a little
    below, as most curves grow faster, or where the growth between says.
    """
    guess = 2
    with contextlib.suppress(*_UNKNOWN):
        given, eps = BALL.number(question.value), float(curve(2))
        square = -2 * float(given.log()) / eps if question.asks_epsilon else float(given) / eps
        guess = 1 + round(min(math.sqrt(square) if question.asks_epsilon else square, _FAR))
    guess = max(first, guess)
    near = guess - max(1, guess // 8)
    if not (question.asks_epsilon and first < near <= last):
        return order_search.whole_valley(f, first, last, guess)
    found = _if_exponential(curve, f, first, near)
    if 2 * found > near:
        return order_search.whole_valley_near(f, first, last, min(max(first, found), last))
    return order_search.whole_valley(f, first, last, near)


def lowest_whole_valley(
    question: EpsilonDelta, curve: NodeCurve, f: order_search.Objective, first: int, last: int
) -> int:
    """The lowest of several valleys of a curve over whole orders, by some places next to them.

    A curve may have several where one theorem ends and another goes on.
    """
    found = whole_valley(question, curve, f, first, last)
    if curve.shape is not None:
        return found
    least, most = max(first, found // _SCALE), min(last, max(found, _CHEAP))
    places = (lead << twice for twice in range(most.bit_length()) for lead in (2, 3))
    start = order_search.lowest(f, (found, *(place for place in places if least <= place <= most)))
    return found if start == found else order_search.whole_valley_near(f, first, last, start)


def _if_exponential(curve: NodeCurve, f: order_search.Objective, first: int, near: int) -> int:
    """The best order if K = kλ(λ+1)e^{gλ} and λf − K = c + t log λ, by two orders; 0 for none.

    There λK′ − K = kλ²(1 + g(λ+1))e^{gλ} is what c + t log λ exceeds its derivative by, times λ.
    """
    with contextlib.suppress(*_UNKNOWN):
        low, lam = first - 1.0, near - 1.0
        (k1, c1), (k2, c2) = (
            (x * float(eps := curve(alpha)), x * float(f(alpha) - eps))  # K(λ) and λf − K
            for x, alpha in ((low, first), (lam, near))
        )
        growth = math.log(k2 * low * (low + 1) / (k1 * lam * (lam + 1))) / (lam - low)
        rise = (c2 - c1) / math.log(lam / low)
        size = math.log(k1 / (low * (low + 1))) - growth * low
        for _ in range(_STEPS):
            bend = 1 + growth * (lam + 1)
            paid = c2 + rise * (math.log(lam / (near - 1)) - 1)
            off = size + growth * lam + math.log(lam * lam * bend / paid)
            lam = max(lam / 4, lam - off / (2 / lam + growth + growth / bend - rise / (lam * paid)))
        return 1 + round(lam)
    return 0


# --- the search
#
# The order that answers an (ε, δ) question best, and the Guarantee there.

_SEARCH_BITS = 80
_MOST_BITS = 4096  # at which an order is looked at that fewer bits do not tell
_FEW_BITS = 256  # up to which a sum costs little more than at the search precision
_PATIENCE = 8  # so many orders that cannot be computed, and none that can, end a search
_STEERED = 24  # bits of an order that is found by what steers
#: Orders that are tried where a search takes too long: the cheapest, then the likely ones first.
_FEW_ORDERS = (*map(Fraction, (2, 16, 4, 64, 8, 32, 128, 256)), Fraction(3, 2), Fraction(5, 4))
_OF_FEW = Fraction(1, 2)  # of the time that is left after the first of them, for all others
_APART = 1.1  # times as far from 1 are orders between which none is tried
_BEYOND = 4  # times as far from 1 as the last one, or as near as the first one, is the next
_PLACES = 64  # of an order below 2, by which others are whole
_NEAR = 20  # bits of an order that what steers is trusted with, for the curve to go on from


class BestOrder:
    """The order that answers a question best."""

    def __init__(
        self, question: EpsilonDelta, digits: int, evaluation: Callable[[], Evaluation]
    ) -> None:
        self.question = question
        #: In balls at the precision now current.
        self.evaluation = evaluation
        self.digits = digits
        self._curves: dict[int, NodeCurve] = {}
        self._objectives: dict[tuple[int, Key], order_search.Objective] = {}
        #: Why the first order that could not be computed was left out.
        self._skipped: SymacctError | None = None
        self._patience = _PATIENCE
        #: Has f one valley where the CGF is convex?
        self._is_one_valley = question.per_order.one_valley
        #: The best order by the conversion that this one improves on, where it is known.
        self._start: Order = INFINITY
        final = first_bits(digits + 1)
        self.search_bits = final if final <= _FEW_BITS else _SEARCH_BITS
        #: Are orders compared by something else than the curve?
        self._is_steered = is_steered(question.m, question.by)
        #: For the bottom of a valley, or the answer where its digits cost more than the search.
        self._valley_bits = (
            final if self._is_steered else 2 * math.ceil(1.7 * (digits + 6)) + GUARD_BITS // 2
        )

    def asking(self, question: EpsilonDelta) -> BestOrder:
        """The search for another question, to as many digits."""
        return BestOrder(question, self.digits, self.evaluation)

    def answer(self, orders: str | Iterable[Numeric] | None) -> Guarantee:
        """The Guarantee over the orders given; no larger than by what the conversion improves."""
        other, near = self.question.per_order.improves_on, None
        if other is not None and (orders is None or isinstance(orders, str)):
            question = replace(self.question, conversion=proved(other))
            near = self.asking(question).answer(orders).alpha
            self._start = near if near == INFINITY else round(near)
        if orders is None:
            found = self._over_all_orders()
        elif not isinstance(orders, str):
            found = self._over_grid(orders)
        elif orders == "integer":
            found = self._over_whole_orders()
        else:
            raise DomainError(f"orders: found {echo(orders)}, needed 'integer' or an iterable")
        if near is None:
            return found
        try:
            at_near = self.at(near, False, bits=self._valley_bits)
        except (PrecisionError, LimitError, InfiniteError):
            return found
        return min(found, at_near, key=lambda guarantee: guarantee.asked.upper)

    # --- the curve and the objective, at the current precision

    def curve(self) -> NodeCurve:
        curve = self._curves.get(BALL.bits)
        if curve is None:
            curve = self._curves[BALL.bits] = self.evaluation().curve(self.question.m)
        return curve

    def objective(self) -> order_search.Objective:
        """f(α) at the current precision, for finite α > 1; each order is asked once."""
        return self._objective_of(self.curve())

    def steering(self) -> order_search.Objective:
        """What the search compares orders by: f, or what the theorems offer in its place."""
        return self._objective_of(self._steering_curve())

    def _steering_curve(self) -> NodeCurve:
        m = self.question.m
        return Steering(self.evaluation()).curve(m) if self._is_steered else self.curve()

    def _objective_of(self, curve: NodeCurve) -> order_search.Objective:
        key = BALL.bits, curve.evaluation.variant
        if key not in self._objectives:
            known: dict[Order, arb] = {}
            converted = self.question.objective()

            def objective(alpha: Order) -> arb:
                value = known.get(alpha)
                if value is None:
                    value = known[alpha] = self._converted(curve, converted, alpha)
                return value

            self._objectives[key] = objective
        return self._objectives[key]

    def _converted(self, curve: NodeCurve, converted: Callable[..., arb], alpha: Order) -> arb:
        """f(α); ∞ where the curve cannot be computed, if there are orders at which it can."""
        try:
            value = converted(curve.local_value(alpha), alpha)
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
        # A log δ next to 0 is δ to its digits, if it is not known from 0.
        known = any(map(order_search.is_steady, (value, self.question.answer(value))))
        if not known and BALL.bits < _MOST_BITS and curve is self._curves.get(BALL.bits):
            with precision(2 * BALL.bits):  # what is left may have cancelled
                return self.objective()(alpha)
        if not (value.is_finite() or value > 0 or value < 0):
            self._skipped = self._skipped or undecided(echo(self.question.m), self.digits)
        self._patience = -1  # it has an answer, and gives up no more
        return value

    def at_infinity(self) -> arb | None:
        """ε(∞) where it is finite."""
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
        if self._valley_bits <= _FEW_BITS:  # what the search has been at is not computed twice
            self.search_bits = self._valley_bits
        with precision(self.search_bits):
            pure = self.at_infinity()
            if pure is not None and self.question.is_answered_by(pure):
                return self.at(INFINITY, optimal=True)
            whole = self._whole_minimum(pure)
        if whole is None:
            return self.at(INFINITY, optimal=bool(pure == 0))
        return self._around(whole, pure)

    def _over_whole_orders(self) -> Guarantee:
        with precision(self.search_bits):
            whole = self._whole_minimum(None)
            assert whole is not None  # noqa: S101  # without ε(∞) the search ends at a whole order
            if not self.objective()(whole).is_finite():
                raise self._infinite("whole order")
            # The search has been at the neighbours: its balls usually decide.
            optimal = self._is_whole_optimum(whole)
        if not optimal:
            with precision(first_bits(self.digits + 1)):
                optimal = self._is_whole_optimum(whole)
        return self.at(whole, optimal)

    def _over_grid(self, orders: Iterable[Numeric]) -> Guarantee:
        given = arguments.members(orders, "orders", "[2, 4, 8], or 'integer'")
        grid = sorted({order(alpha) for alpha in given})
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
        """The best of some orders, as many as are had in a share of the time, one at least.

        A few that are far apart, and then others between the best of them and those beside it.
        """
        tried: dict[Fraction, Guarantee | None] = {}
        self.question.refuse_delta_zero()
        waiting = iter(_FEW_ORDERS)
        for alpha in waiting:
            tried[alpha] = self._finite_at(alpha)
            if tried[alpha] is not None:
                break
        with suppress(OutOfTimeError), deadline.within(float(_OF_FEW) * deadline.remaining()):
            for alpha in waiting:
                tried[alpha] = self._finite_at(alpha)
            last = last_order(self.question.m)
            while (near := _beside(_best_of(tried), sorted(tried), last)) is not None:
                tried[near] = self._finite_at(near)
        best = _best_of(tried)
        found = None if best is None else tried[best]
        if found is None:
            raise self._skipped or self._infinite("order")
        return found

    def _finite_at(self, alpha: Fraction) -> Guarantee | None:
        """The Guarantee at one order; None where there is none."""
        try:
            found = self.at(alpha, optimal=False)
        except (PrecisionError, LimitError, OrderError) as error:
            self._skipped = self._skipped or error
            return None
        return found if found.asked.upper < INFINITY else None

    def _infinite(self, what: str) -> SymacctError:
        return self._skipped or InfiniteError(
            f"{echo(self.question.m)}: its curve is infinite at every {what} tried, "
            "so none gives a finite guarantee"
        )

    def _whole_minimum(self, pure: arb | None) -> int | None:
        """The best whole order; None if none beats a finite ε(∞)."""
        self.question.refuse_delta_zero()
        first, last = 2, last_order(self.question.m)
        f, converted = self.steering(), self.question.objective()
        if pure is not None and self.question.asks_epsilon:
            # Below some order the conversion alone, of a curve that is 0, costs more than ε(∞).
            if pure == 0 or not order_search.below(converted(arb(0), last), pure):
                return None
            while not order_search.below(converted(arb(0), first), pure):
                deadline.check()
                first = 2 * first - 1
            first = max(2, (first + 1) // 2)
        best = self._whole_valley(f, first, last)
        if pure is not None and self.question.asks_epsilon and pure <= f(best):
            return None
        self._warn_of_the_end(best, last)
        return best

    def _whole_valley(self, f: order_search.Objective, first: int, last: int) -> int:
        """The bottom over whole orders; of many parts next to that of some, which stand for all."""
        if self._start != INFINITY:
            near = min(max(first, int(self._start)), last)
            return order_search.whole_valley_near(f, first, last, near)
        few = standing_for_all(self.question.m)
        if few is None:
            return lowest_whole_valley(self.question, self._steering_curve(), f, first, last)
        some = self.asking(replace(self.question, m=few))
        near = some._whole_valley(some.steering(), first, last)
        return order_search.whole_valley_near(f, first, last, near)

    def _warn_of_the_end(self, best: int, last: int) -> None:
        """OrderGridWarning where orders beyond those that could be tried may do better."""
        beyond = best + order_search.whole_step(best)
        limited = isinstance(self._skipped, LimitError) and not self.objective()(beyond).is_finite()
        if beyond > last or limited:
            warn(
                f"the best order, {best}, is next to the largest that was tried; "
                "the limits search_order and search_sum allow larger ones",
                OrderGridWarning,
            )

    # Proved in docs/proofs/certificates.md, Lemma whole-orders.
    def _is_whole_optimum(self, whole: int) -> bool:
        """Do the neighbours prove that no whole order does better? Needs a convex CGF."""
        if self.curve().shape is None or not self._is_one_valley:
            return False
        f, least = self.objective(), max(2, whole - 1)
        return all(f(alpha) >= f(whole) for alpha in {least, whole + 1} - {whole})

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
        """The best real order next to a whole one; proved optimal where the CGF is convex."""
        with precision(self.search_bits):
            places = order_search.places(self.steering(), whole, self.question.asks_epsilon)
            # What steers in the place of the curve has one valley where the curve has.
            f, beyond = self.objective(), (places[1] + places[2]) / 2
            convex = self._is_steered or self._convex_at(beyond, self.curve())
            smooth = self._is_one_valley and not self._is_steered and convex
            smooth = smooth and all(f(alpha).is_finite() for alpha in places)
        bits, width, floor = self._valley_bits, (places[1] - 1) / 10 ** (self.digits // 2 + 3), None
        with precision(bits):
            f = self.objective()
            if smooth:
                valley = places, width, self.question.asks_epsilon, self.digits
                floor_at = functools.partial(self._floor, self.curve())
                best, floor = order_search.proved_valley(f, floor_at, *valley)
            else:
                # Many orders are asked about kinks; of a smooth valley some have been.
                with precision(self.search_bits if convex else min(bits, _SEARCH_BITS)):
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
        """From the order that was steered to, the best one, and a floor of f over all orders.

        By what is nowhere above the curve: a valley, or one that falls beyond where another rises.
        """
        width = (best - 1) / 10 ** (self.digits // 2 + 2)
        step = max((best - 1) / 2**_NEAR, 2 * width)  # at which the floor is asked too
        places, asks_epsilon = (best - step, best, best + step), self.question.asks_epsilon
        curves = [self._below(near) for near in places[::2]]
        left, right = map(self._objective_of, curves)
        convex = all(self._convex_at(alpha, curve) for curve in curves for alpha in places)
        if not (convex and self._is_one_valley):
            return best, None
        if left(places[0]).overlaps(right(places[0])):
            found = order_search.real_valley(left, places, width, asks_epsilon)
            return found, self._floor(curves[0], found, width)
        saddle = order_search.saddle(
            lambda near: self._objective_of(self._below(near)), best, width, asks_epsilon
        )
        if saddle is not None:
            return saddle, self._floor(self._below(saddle), saddle, width)
        found = order_search.crossing(left, right, places[0], places[2])
        falls = left(places[2]) < left(found) and right(places[0]) < right(found)
        return found, left(found).min(right(found)) if falls else None

    # Proved in docs/proofs/certificates.md, Lemma two-mechanisms.
    def _below(self, near: Fraction) -> NodeCurve:
        """What is nowhere above the curve, and mostly it about an order; or itself."""
        return below_near(self.evaluation(), near, self.question.m) or self.curve()

    def _near_the_best(
        self, places: tuple[Fraction, Fraction, Fraction], width: Fraction, convex: bool
    ) -> Fraction:
        """The best order between three by what steers; a smooth valley if the CGF is convex."""
        f = self.steering()
        if convex and all(f(alpha).is_finite() for alpha in places):
            bits = _STEERED if self._is_steered else order_search.UNPROVED
            width = max(width, (places[1] - places[0]) / 2**bits)
            return order_search.real_valley(f, places, width, self.question.asks_epsilon)
        return order_search.edged_valley(f, places, convex and self._is_one_valley)

    def _floor(self, curve: NodeCurve, best: Fraction, width: Fraction) -> arb | None:
        """A proved lower bound of f over all orders, from three orders around the best."""
        f = self._objective_of(curve)
        for times in order_search.WIDER:
            orders = (best - times * width, best, best + times * width)
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
        """The Guarantee at one order; down to `floor` where it is proved, from `bits` on."""
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

        def what() -> str:
            return f"{echo(question.m)} with {question.given} = {echo(question.value)}"

        if self._skipped is not None:
            optimal, floor = False, None
        ball, claim, bits = to_digits(value, self.digits + 1, what, bits)
        if claim.kind is Kind.LOWER:
            raise SoundnessError(f"{what()}: found a lower bound, needed an upper one")
        enclosure = from_ball(ball, claim, self.digits, claim.certified)
        if alpha == INFINITY and question.asks_epsilon:
            enclosure = enclosure.known_to_be(exact_pure(question.m, question.by))
        if floor is not None:
            with precision(bits):
                both = question.answer(floor).union(ball)
                joined = from_ball(both, claim, self.digits, True)
            if relative_digits(both) > self.digits or joined.digits >= self.digits:
                enclosure = replace(joined, certified=claim.certified)
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
    """The order of the smallest number, if there is one."""
    known = {alpha: g.asked.upper for alpha, g in tried.items() if g is not None}
    return min(known, key=lambda alpha: known[alpha]) if known else None


def _beside(best: Fraction | None, tried: list[Fraction], last: int) -> Fraction | None:
    """An order in the wider gap beside the best one of those tried; None where all are near."""
    if best is None:
        return None
    i = tried.index(best)
    below = tried[i - 1] - 1 if i else (best - 1) / _BEYOND**2
    above = tried[i + 1] - 1 if i + 1 < len(tried) else (best - 1) * _BEYOND**2
    gaps = {below: (best - 1) / below, above: above / (best - 1)}
    for end in sorted(gaps, key=lambda end: -gaps[end]):
        middle = 1 + math.sqrt(end * (best - 1))
        places = 1 if middle > 2 else _PLACES
        near = Fraction(round(places * middle), places)
        if gaps[end] > _APART and near not in tried and 1 < near <= last:
            return near
    return None
