"""Accountant: remembers curve values, finds the precision, and the order that answers best."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import mpmath
import numpy as np
from flint import arb

from symacct import doors, search, sizes
from symacct import theory as register
from symacct.arithmetic import (
    BALL,
    FLOAT64,
    LogNumber,
    MpmathArithmetic,
    UpwardMpmathArithmetic,
)
from symacct.arithmetic.ball import precision
from symacct.claims import Claim, Kind
from symacct.conversion import proved as proved_conversion
from symacct.conversion.conversion import Conversion
from symacct.disk_memo import DiskMemo, StoredTable
from symacct.domains import nonnegative
from symacct.enclosure import Enclosure, Guarantee, from_ball, relative_digits
from symacct.errors import (
    DomainError,
    LimitError,
    OrderError,
    OrderGridWarning,
    PrecisionError,
    SoundnessError,
    SymacctError,
    echo,
)
from symacct.evaluation import KEY_LENGTH, Evaluation, NodeCurve, exact_pure, goal_of
from symacct.exact import INFINITY, order
from symacct.expr import Node, as_node
from symacct.forking import new_lock
from symacct.operations.subsample import Sampling
from symacct.remembering import Remembered

ENGINES = ("ball", "mpmath", "float64")
_SEARCH_BITS = 80
_FEW_BITS = 256  # up to which a sum costs little more than at the search precision
_GUARD_BITS = 32
_FLOAT_ERROR = 2.0**-40  # of float64, however few operations there were
_PATIENCE = 8  # so many orders that cannot be computed, and none that can, end a search
_FAR = 2**17  # an order from which a search takes growing steps to what lies beyond
# Values of the curve and of its moments are oracle calls; what was derived from them is not.
_COUNTED = ((), ("excess",))


class Accountant:
    """Answers questions about expressions and remembers every curve value it has computed.

    `digits` is the default number of significant digits; `engine` is "ball" (certified),
    "mpmath" (independent, not certified) or "float64". What is remembered is keyed by all that
    changes a value, so an answer never depends on what was asked before. `memo` names a file in
    which certified curve values are kept for other processes and other days; StorageError where
    it cannot be used.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> accountant = Accountant(digits=12)
    >>> print(accountant.rdp(PoissonSubsample(Gaussian(5), "1/1000"), 100))
    2.04884750703e-6
    """

    def __init__(
        self, digits: int = 30, engine: str = "ball", memo: str | Path | None = None
    ) -> None:
        self.digits = doors.digits(digits)
        self.engine = doors.one_of(engine, "engine", ENGINES)
        self._memo: WeakKeyDictionary[Node, dict[Any, Remembered]] = WeakKeyDictionary()
        self._lock = new_lock()
        self._here = threading.local()  # a question within a question forgets nothing
        self._touched: dict[int, tuple[Remembered, str]] = {}
        self._disk = None if memo is None else DiskMemo(memo)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or what a pickle gives back: the same settings, and nothing remembered but

        what is on the disk.
        """
        file = None if self._disk is None else str(self._disk.path.absolute())
        return type(self), (self.digits, self.engine, file)

    # --- remembering

    def oracle_calls(self, m: Node) -> int:
        """The number of distinct orders at which m's curve was evaluated, of those remembered."""
        with self._lock:
            tables = self._memo.get(as_node(m, "oracle_calls"), {}).items()
            asked = [
                t for key, t in tables if len(key) >= KEY_LENGTH and key[KEY_LENGTH:] in _COUNTED
            ]
            orders = {(alpha, _was_read(t, alpha)) for t in asked for alpha in t.all()}
            return len({alpha for alpha, read in orders if not read})

    def clear(self) -> None:
        """Forget everything but what is on the disk."""
        with self._asking():
            self._memo.clear()

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """One question at a time, between what the disk has and what it is then given."""
        with self._lock:
            outermost, self._here.asking = not hasattr(self._here, "asking"), True
            try:
                with contextlib.nullcontext() if self._disk is None else self._on(self._disk):
                    yield
            finally:
                if outermost:
                    del self._here.asking
                    self._forget()

    @contextlib.contextmanager
    def _on(self, disk: DiskMemo) -> Iterator[None]:
        """What is on the disk is known here, and what is found is written there."""
        if disk.is_inherited:
            disk = self._disk = disk.opened_again()
            self._memo.clear()
        disk.refresh()
        try:
            yield
        finally:
            disk.save()

    def _forget(self) -> None:
        """Keep no more of what the question has touched than the limits allow."""
        allowed = sizes.current()
        for table, limit in self._touched.values():
            table.forget(getattr(allowed, limit))
        self._touched.clear()

    def _evaluation(self, ctx: Any, goal: Kind, by: str | None) -> Evaluation:
        return Evaluation(ctx, goal, by, self._table)

    def _table(self, node: Node, key: Any, limit: str = "values") -> Remembered:
        """What is remembered of a node's curve under a key of all that changes a value."""
        tables = self._memo.get(node)
        if tables is None:
            tables = self._memo[node] = {}
        if key not in tables:
            disk = self._disk if len(key) == KEY_LENGTH else None
            stored = None if disk is None else disk.table(node, key)
            tables[key] = Remembered() if stored is None else stored
        table = tables[key]
        self._touched[id(table)] = table, limit
        return table

    def curve(self, m: Node, by: str | None = None) -> NodeCurve:
        """m's curve in balls at flint's current precision, its values remembered."""
        return self._evaluation(BALL, goal_of(m, by), by).curve(m)

    # --- questions about the curve

    def rdp(self, m: Node, alpha: Any, by: str | None = None, digits: int | None = None) -> Any:
        """ε(α) in nats as an Enclosure; with engine "float64" `alpha` may be an array of orders."""
        goal = goal_of(m, by)
        if self.engine == "float64" and isinstance(alpha, np.ndarray | list | tuple | range):
            return self._array(m, alpha, goal, by)
        return self._enclose(m, order(alpha), goal, by, digits)

    def cgf(self, m: Node, lam: Any, by: str | None = None, digits: int | None = None) -> Enclosure:
        """K(λ) = λ ε(λ+1) as an Enclosure; λ >= 0."""
        lam = nonnegative(lam, "lam")
        if not isinstance(lam, Fraction):
            raise DomainError(f"lam: found {echo(lam)}, needed a rational number")
        return self._enclose(m, order(lam + 1), goal_of(m, by), by, digits, factor=lam)

    def lower_bound(self, m: Node, alpha: Any, digits: int | None = None) -> Enclosure:
        """The largest proved lower bound of ε(α), of kind `lower` where it is the value too."""
        as_node(m, "lower_bound")
        found = self._enclose(m, order(alpha), Kind.LOWER, None, digits)
        return replace(found, claim=replace(found.claim, kind=Kind.LOWER))

    def _enclose(
        self,
        m: Node,
        alpha: Any,
        goal: Kind,
        by: str | None,
        digits: int | None,
        factor: Fraction | int = 1,
    ) -> Enclosure:
        """factor · ε(α), at a precision that is doubled until the digits are there."""
        _refuse_symbols(m, alpha)
        digits = self.digits if digits is None else doors.digits(digits)
        ask = {"ball": self._by_balls, "mpmath": self._by_mpmath, "float64": self._by_float64}
        with self._asking():
            return ask[self.engine](m, alpha, goal, by, digits, factor)

    def _by_balls(
        self, m: Node, alpha: Any, goal: Kind, by: str | None, digits: int, factor: Any
    ) -> Enclosure:
        def value() -> tuple[arb, Claim]:
            curve = self._evaluation(BALL, goal, by).curve(m)
            ball = curve(alpha) if factor else arb(0)  # K(0) = 0, whatever ε(1) is
            return (ball if factor == 1 else ball * BALL.number(factor)), curve.claim(alpha)

        ball, claim, _ = _to_digits(value, digits, lambda: f"{_name(m)} at order {echo(alpha)}")
        return from_ball(ball, claim, digits, claim.certified)

    def _by_mpmath(
        self, m: Node, alpha: Any, goal: Kind, by: str | None, digits: int, factor: Any
    ) -> Enclosure:
        """Two precisions that agree to the digits asked; not a proof."""
        bits = _first_bits(digits)
        coarse: Any = None
        # In turn, for what is lost in a rounding downwards is not in one upwards.
        directions = itertools.cycle((MpmathArithmetic, UpwardMpmathArithmetic))
        while bits <= sizes.current().bits:
            ctx = next(directions)(bits)
            curve = self._evaluation(ctx, goal, by).curve(m)
            fine = curve(alpha) if factor else ctx.number(0)
            if ctx.is_infinite(fine):
                return _uncertified(fine, fine, curve.claim(alpha), digits)
            fine = fine * ctx.number(factor)
            if coarse is not None and fine >= 0:
                error = abs(fine - coarse)
                if fine == coarse or error <= abs(fine) * ctx.number(Fraction(1, 10**digits)) / 2:
                    return _uncertified(fine - error, fine + error, curve.claim(alpha), digits)
            coarse = fine
            bits *= 2
        raise _undecided(f"{_name(m)} at order {alpha}", digits)

    def _by_float64(
        self, m: Node, alpha: Any, goal: Kind, by: str | None, digits: int, factor: Any
    ) -> Enclosure:
        """About 12 digits less what cancels, whatever was asked; not a proof."""
        curve = self._evaluation(FLOAT64, goal, by).curve(m)
        value = curve(alpha) if factor else FLOAT64.number(0)
        if not FLOAT64.is_infinite(value):
            value = value * FLOAT64.number(factor)
        return _uncertified(*_ends(value), curve.claim(alpha), digits)

    def _array(self, m: Node, alphas: Any, goal: Kind, by: str | None) -> np.ndarray:
        _refuse_symbols(m, 2)
        orders = np.asarray(alphas, dtype=np.float64)
        if orders.size == 0 or np.isnan(orders).any() or (orders < 1).any():
            raise DomainError("order alpha: found NaN, an order below 1 or none, needed 1 <= alpha")
        with self._lock:
            curve = self._evaluation(FLOAT64, goal, by).curve(m)
            return np.asarray(curve(orders.ravel()).known()).reshape(orders.shape)

    # --- (ε, δ)

    def epsilon(
        self,
        m: Node,
        delta: Any,
        conversion: str = "improved",
        orders: Any = None,
        by: str | None = None,
        digits: int | None = None,
    ) -> Guarantee:
        """The Guarantee with the smallest ε for δ ∈ [0, 1); see `Node.epsilon`."""
        converter = proved_conversion(conversion)
        given = nonnegative(delta, "delta")
        if not isinstance(given, Fraction) or given >= 1:
            raise DomainError(f"delta: found {echo(delta)}, needed 0 <= delta < 1")
        return self._guarantee(_Question(m, by, converter, "delta", given), orders, digits)

    def delta(
        self,
        m: Node,
        epsilon: Any,
        conversion: str = "improved",
        orders: Any = None,
        by: str | None = None,
        digits: int | None = None,
    ) -> Guarantee:
        """The Guarantee with the smallest δ for ε >= 0; see `Node.delta`."""
        converter = proved_conversion(conversion)
        given = nonnegative(epsilon, "epsilon")
        if not isinstance(given, Fraction):
            raise DomainError(f"epsilon: found {echo(epsilon)}, needed a rational number >= 0")
        return self._guarantee(_Question(m, by, converter, "epsilon", given), orders, digits)

    def _guarantee(self, question: _Question, orders: Any, digits: int | None) -> Guarantee:
        m = as_node(question.m, "epsilon")
        _refuse_symbols(m, 2)
        if goal_of(m, question.by) is Kind.LOWER:
            raise SoundnessError(
                f"{_name(m)}: found only a lower bound, which guarantees nothing; "
                "needed an exact curve or an upper bound"
            )
        register.refuse_unproved(question.by)
        if self.engine != "ball":
            raise DomainError(
                f"engine: found {echo(self.engine)}, needed 'ball': a guarantee has to be certified"
            )
        digits = self.digits if digits is None else doors.digits(digits)
        with self._asking():
            if orders is not None and not isinstance(orders, str):
                return replace(_Search(self, question, digits).answer(orders), mechanism=m)
            key = ("guarantees", sizes.current(), register.revision())
            answers, asked = self._table(m, key, "answers"), (*question.key, orders, digits)
            try:
                found = answers[asked]
            except KeyError:
                found = answers[asked] = _Search(self, question, digits).answer(orders)
            # What is remembered of a node must not keep it alive.
            return replace(found, mechanism=m)


class _Question:
    """An (ε, δ) question: the node, how to convert, and the number given."""

    def __init__(
        self, m: Node, by: str | None, conversion: Conversion, given: str, value: Fraction
    ) -> None:
        self.m = m
        self.by = by
        self.conversion = conversion
        self.given = given
        self.value = value
        self.asks_epsilon = given == "delta"

    def by_conversion(self, name: str) -> _Question:
        """The same question with another conversion."""
        return _Question(self.m, self.by, proved_conversion(name), self.given, self.value)

    @property
    def key(self) -> tuple[Any, ...]:
        """All that the answer depends on, beside the node, the orders and the digits."""
        return self.by, self.conversion, self.given, self.value

    def objective(self, eps: arb, alpha: Any) -> arb:
        """What the conversion makes of ε(α): an ε, or a log δ; ∞ where that is."""
        if BALL.is_infinite(eps):
            return arb("inf")
        given = BALL.number(self.value)
        formula = self.conversion.epsilon if self.asks_epsilon else self.conversion.log_delta
        return formula(BALL, eps, BALL.number(alpha), given)

    def answer(self, ball: arb) -> arb:
        """The number asked, from the objective: clamped to ε >= 0 and δ <= 1."""
        if self.asks_epsilon:
            return arb(0) if ball < 0 else ball
        return arb(1) if ball > 0 else ball.exp()


class _Search:
    """The order that answers a question best."""

    def __init__(self, accountant: Accountant, question: _Question, digits: int) -> None:
        self.accountant = accountant
        self.question = question
        self.digits = digits
        self._curves: dict[int, NodeCurve] = {}
        self._objectives: dict[int, Callable[[Any], arb]] = {}
        #: Why the first order that could not be computed was left out.
        self._skipped: SymacctError | None = None
        self._patience = _PATIENCE
        #: The best order by a rival conversion, where it is known.
        self._start: Any = INFINITY
        # At few digits the search may as well be at the precision of the answer.
        final = _first_bits(digits + 1)
        self.search_bits = final if final <= _FEW_BITS else _SEARCH_BITS

    def answer(self, orders: Any) -> Guarantee:
        """The Guarantee over the orders given; no larger than that of a rival conversion."""
        rival = self.question.conversion.rival
        if rival is None or not (orders is None or isinstance(orders, str)):
            return self._over(orders)
        other = _Search(self.accountant, self.question.by_conversion(rival), self.digits)
        near = other.answer(orders).alpha
        self._start = near if near == INFINITY else int(near)
        found = self._over(orders)
        return min(
            found,
            self._at(near, optimal=False),
            key=lambda guarantee: guarantee.asked.upper,
        )

    def _over(self, orders: Any) -> Guarantee:
        if orders is None:
            return self._over_all_orders()
        if isinstance(orders, str):
            if orders != "integer":
                raise DomainError(f"orders: found {echo(orders)}, needed 'integer' or an iterable")
            return self._over_whole_orders()
        return self._over_grid(orders)

    # --- the curve and the objective, at the current precision

    def curve(self) -> NodeCurve:
        curve = self._curves.get(BALL.bits)
        if curve is None:
            evaluation = self.accountant._evaluation(BALL, Kind.UPPER, self.question.by)
            curve = self._curves[BALL.bits] = evaluation.curve(self.question.m)
        return curve

    def objective(self) -> Callable[[Any], arb]:
        """f(α) at the current precision, for finite α > 1; each order is asked once."""
        bits = BALL.bits
        if bits not in self._objectives:
            curve, question = self.curve(), self.question

            def objective(alpha: Any) -> arb:
                try:
                    value = question.objective(curve(alpha), alpha)
                except OrderError:
                    if question.by is None:
                        raise
                    return arb("inf")  # a pinned theorem says nothing there: another order may do
                except (PrecisionError, LimitError) as error:
                    self._patience -= 1
                    self._skipped = self._skipped or error
                    if self._patience == 0:
                        raise self._skipped from None
                    return arb("inf")  # any other order is as sound, if not proved the best
                if value.is_nan() or not (value.is_finite() or value > 0 or value < 0):
                    self._skipped = self._skipped or _undecided(_name(question.m), self.digits)
                self._patience = -1  # it has an answer, and gives up no more
                return value

            self._objectives[bits] = functools.cache(objective)
        return self._objectives[bits]

    def without_curve(self, alpha: int) -> arb:
        """f(α) if the curve were 0: no curve gives less."""
        return self.question.objective(arb(0), alpha)

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
        with precision(self.search_bits):
            pure = self.at_infinity()
            if pure is not None and self._pure_suffices(pure):
                return self._at(INFINITY, optimal=True)
            whole = self._whole_minimum(pure)
        if whole is None:
            return self._at(INFINITY, optimal=bool(pure == 0))
        return self._around(whole, pure)

    def _over_whole_orders(self) -> Guarantee:
        self._refuse_delta_zero()
        with precision(self.search_bits):
            whole = self._whole_minimum(None)
            assert whole is not None  # noqa: S101  # without ε(∞) the search ends at a whole order
            if not self.objective()(whole).is_finite():
                raise self._infinite("whole order")
        return self._at(whole, optimal=self._is_whole_optimum(whole))

    def _over_grid(self, orders: Any) -> Guarantee:
        if not isinstance(orders, Iterable):
            raise DomainError(f"orders: found {echo(orders)}, needed 'integer' or an iterable")
        grid = sorted({order(alpha) for alpha in orders})
        finite = [alpha for alpha in grid if alpha not in (1, INFINITY)]
        if not finite and INFINITY not in grid:
            raise OrderError("orders: found none above 1, needed at least one order > 1")
        if finite and self.question.value == 0 and self.question.asks_epsilon:
            self._refuse_delta_zero()
        best = self._best_of([alpha for alpha in grid if alpha != 1])
        if finite and best.alpha in (finite[0], finite[-1]) and best.asked.upper != 0:
            warnings.warn(
                f"the best order, {best.alpha}, is at the edge of the grid given "
                f"[{finite[0]}, {finite[-1]}]; orders beyond it, or orders=None, may do better",
                OrderGridWarning,
                stacklevel=5,
            )
        return best

    def _best_of(self, orders: list[Any]) -> Guarantee:
        """The best answer at the orders given, less those that cannot be computed."""
        answers = []
        for alpha in orders:
            try:
                answers.append(self._at(alpha, optimal=True))
            except (PrecisionError, LimitError) as error:
                self._skipped = self._skipped or error
        if not answers:
            assert self._skipped is not None  # noqa: S101  # one of the two for each order
            raise self._skipped
        best = min(answers, key=lambda g: g.asked.upper)
        if best.asked.upper == INFINITY:
            raise self._infinite("order")
        return replace(best, optimal=best.optimal and self._skipped is None)

    def _pure_suffices(self, pure: arb) -> bool:
        """Is ε(∞) already all that was asked: δ = 0 given, or ε >= ε(∞) given?"""
        if self.question.asks_epsilon:
            return self.question.value == 0
        given = BALL.number(self.question.value)
        if pure <= given or pure > given:
            return bool(pure <= given)
        # Balls never decide an equality such as ε = ε₀ for PureDP(ε₀); exact numbers do.
        exact = exact_pure(self.question.m, self.question.by)
        return exact is not None and exact <= self.question.value

    def _infinite(self, what: str) -> SymacctError:
        return self._skipped or OrderError(
            f"{_name(self.question.m)}: its curve is infinite at every {what} tried, "
            "so none gives a finite guarantee"
        )

    def _refuse_delta_zero(self) -> None:
        if self.question.asks_epsilon and self.question.value == 0:
            raise DomainError(
                "delta: found 0, needed delta > 0 (only a finite ε(∞) answers delta = 0)"
            )

    def _whole_minimum(self, pure: arb | None) -> int | None:
        """The best whole order; None if none beats a finite ε(∞)."""
        self._refuse_delta_zero()
        last = self._last_order()
        first = 2
        f = self.objective()
        if pure is not None and self.question.asks_epsilon:
            # Below some order the conversion alone costs more than ε(∞).
            if pure == 0 or not search.below(self.without_curve(last), pure):
                return None
            while not search.below(self.without_curve(first), pure):
                first = 2 * first - 1
            first = (first + 1) // 2 if first > 2 else first
        best = search.whole_valley(f, first, last, max(first, self._guess()))
        if pure is not None and self.question.asks_epsilon and pure <= f(best):
            return None
        self._warn_of_the_end(best, last)
        return best

    def _last_order(self) -> int:
        """The largest whole order to try: where it is found by a sum, one that takes no minutes."""
        limits = sizes.current()
        last = limits.search_order
        for node in self.question.m.walk():
            if isinstance(node, Sampling):
                last = min(last, limits.search_sum if node.mechanism.convex else limits.hull)
        return last

    def _guess(self) -> int:
        """The best order if K were quadratic and the conversion the classic one, from ε(2).

        No more than `_FAR`, from where growing steps find what lies beyond.
        """
        if self._start != INFINITY:
            return int(self._start)
        with contextlib.suppress(OrderError, PrecisionError, LimitError):
            given, eps = BALL.number(self.question.value), self.curve()(2)
            lam = (-2 * given.log() / eps).sqrt() if self.question.asks_epsilon else given / eps
            if lam.is_finite():
                return 1 + search.nearest(lam.min(arb(_FAR)))
        return 2

    def _warn_of_the_end(self, best: int, last: int) -> None:
        """OrderGridWarning where orders beyond those that could be tried may do better."""
        beyond = best + search.whole_step(best)
        limited = isinstance(self._skipped, LimitError) and not self.objective()(beyond).is_finite()
        if beyond > last or limited:
            warnings.warn(
                f"the best order, {best}, is next to the largest that was tried; "
                "symacct.limits(search_order=..., search_sum=...) allows larger ones",
                OrderGridWarning,
                stacklevel=6,
            )

    def _is_whole_optimum(self, whole: int) -> bool:
        """Do the neighbours prove that no whole order does better? Needs a convex CGF."""
        if self.curve().shape is None or not self.question.conversion.one_valley:
            return False
        # The search has been at the neighbours: its balls usually decide.
        for bits in (self.search_bits, _first_bits(self.digits + 1)):
            with precision(bits):
                f = self.objective()
                middle = f(whole)
                below = whole == 2 or bool(f(whole - 1) >= middle)
                if below and bool(f(whole + 1) >= middle):
                    return True
        return False

    def _convex_at(self, alpha: Any) -> bool:
        """Is f's valley around α known to be one: that of a convex CGF, exact or stated so?"""
        if not self.question.conversion.one_valley:
            return False
        try:
            if self.curve().claim(alpha).kind is Kind.EXACT:
                return True
        except OrderError:  # a pinned theorem says nothing between the whole orders
            return False
        return self.question.m.convex and not any(
            isinstance(node, Sampling) for node in self.question.m.walk()
        )

    # --- the real orders around the best whole one

    def _around(self, whole: int, pure: arb | None) -> Guarantee:
        """The best real order next to a whole one; proved optimal where the CGF is convex."""
        with precision(self.search_bits):
            places = search.places(self.objective(), whole)
            convex = self._convex_at(places[1] + (places[2] - places[1]) / 2)
            smooth = convex and all(self.objective()(alpha).is_finite() for alpha in places)
        width = (places[1] - 1) / 10 ** (self.digits // 2 + 3)
        floor = None
        bits = 2 * math.ceil(1.7 * (self.digits + 6)) + _GUARD_BITS
        with precision(bits):
            f = self.objective()
            if smooth:
                best = search.real_valley(f, places, width, self.question.asks_epsilon)
                floor = self._floor(f, best, width)
            else:
                with precision(min(bits, _SEARCH_BITS)):
                    best = self._best_in_segments(self.objective(), places, one_valley=convex)
                if not f(best).is_finite():
                    best = places[1]  # beside a pole fewer bits may do than the answer needs
                if not f(best).is_finite() and (pure is None or not self.question.asks_epsilon):
                    raise self._infinite("order")
            if pure is not None and self.question.asks_epsilon and not f(best) < pure:
                return self._at(INFINITY, optimal=False)
        return self._at(order(best), optimal=floor is not None, floor=floor, bits=bits)

    def _best_in_segments(
        self, f: Callable[[Any], arb], places: Sequence[Fraction], one_valley: bool = False
    ) -> Any:
        """The best order in the two segments between three; the curve may have kinks.

        In the one to which f falls, where it is known to have one valley.
        """
        low, middle, high = places
        segments = [(low, middle), (middle, high)]
        if one_valley:
            falls = f(middle + (high - middle) / 2**20) < f(middle)
            segments = segments[1:] if falls else segments[:1]
        width = (middle - low) / 2**30
        found = [search.golden_valley(f, low, high, width) for low, high in segments]
        return search.lowest(f, (middle, *found))

    def _floor(self, f: Callable[[Any], arb], best: Fraction, width: Fraction) -> arb | None:
        """A proved lower bound of f over all orders, from three orders around the best."""
        for spread in (2 * width, 8 * width, 64 * width):
            orders = (best - spread, best, best + spread)
            if orders[0] <= 1:
                return None
            left, middle, right = (f(alpha) for alpha in orders)
            if self._skipped is not None:
                return None
            if left >= middle and right >= middle:
                lams = tuple(BALL.number(alpha - 1) for alpha in orders)
                return search.chord_floor(
                    (left, middle, right),
                    lams,
                    perspective=self.question.asks_epsilon,
                )
        return None

    # --- the answer

    def _at(self, alpha: Any, optimal: bool, floor: arb | None = None, bits: int = 0) -> Guarantee:
        """The Guarantee at one order, to the digits asked; down to `floor` where it is proved.

        `bits` is a precision at which the curve is known there already.
        """
        question = self.question

        def value() -> tuple[arb, Claim]:
            if alpha != INFINITY:
                ball = question.answer(self.objective()(alpha))
                if self._skipped is not None and not ball.is_finite():
                    raise self._skipped
            elif question.asks_epsilon:
                ball = self.curve()(alpha)
            else:
                ball = arb(0 if self._pure_suffices(self.curve()(alpha)) else 1)
            return ball, self.curve().claim(alpha)

        def what() -> str:
            return f"{_name(question.m)} with {question.given} = {echo(question.value)}"

        if self._skipped is not None:
            optimal, floor = False, None
        ball, claim, bits = _to_digits(value, self.digits + 1, what, bits)
        if claim.kind is Kind.LOWER:
            raise SoundnessError(f"{what()}: found a lower bound, needed an upper one")
        enclosure = from_ball(ball, claim, self.digits, claim.certified)
        if floor is not None:
            with precision(bits):
                joined = from_ball(question.answer(floor).union(ball), claim, self.digits, True)
            if joined.digits >= self.digits:
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


def certified_number(
    accountant: Accountant,
    value: Callable[[Accountant], tuple[arb, Claim]],
    digits: int,
    what: str,
    signed: bool = False,
) -> Enclosure:
    """The Enclosure of a number computed from an accountant's curves, to the digits asked."""
    digits = doors.digits(digits)
    with accountant._asking():
        ball, claim, _ = _to_digits(lambda: value(accountant), digits, lambda: what)
    return from_ball(ball, claim, digits, claim.certified, signed)


def _was_read(table: Any, alpha: Any) -> bool:
    """Does this value come from the disk?"""
    return isinstance(table, StoredTable) and alpha in table.read


def default_accountant(engine: str) -> Accountant:
    """The accountant that the questions asked of a node go to, one for each engine."""
    return _default_accountant(doors.one_of(engine, "engine", ENGINES))


@functools.cache
def _default_accountant(engine: str) -> Accountant:
    return Accountant(engine=engine)


def _to_digits(
    value: Callable[[], tuple[arb, Claim]], digits: int, what: Callable[[], str], bits: int = 0
) -> tuple[arb, Claim, int]:
    """A ball with the digits asked, at a precision doubled until it has them."""
    bits = bits or _first_bits(digits)
    while bits <= sizes.current().bits:
        with precision(bits):
            ball, claim = value()
            if ball.is_exact() or relative_digits(ball) >= digits:
                return ball, claim, bits
        bits *= 2
    raise _undecided(what(), digits)


def _undecided(what: str, digits: int) -> PrecisionError:
    return PrecisionError(
        f"{what}: {digits} digits not reached at {sizes.current().bits:,} bits; "
        "ask for fewer digits, or raise symacct.limits(bits=...)"
    )


def _first_bits(digits: int) -> int:
    return math.ceil(digits * math.log2(10)) + _GUARD_BITS


def _refuse_symbols(m: Node, alpha: Any) -> None:
    symbols = sorted(map(str, as_node(m, "expression").free_symbols))
    if not isinstance(alpha, int | float | Fraction):
        symbols += sorted(map(str, alpha.free_symbols)) or [str(alpha)]
    if symbols:
        raise DomainError(
            f"found the free symbol {', '.join(symbols)}, needed a number; "
            "replace it with m.subs({...}) or ask for m.formula()"
        )


def _uncertified(low: Any, high: Any, claim: Claim, digits: int) -> Enclosure:
    low, high = (mpmath.mp.make_mpf(x._mpf_) for x in (low, high))
    return Enclosure(max(low, mpmath.mpf(0)), high, replace(claim, certified=False), False, digits)


def _ends(x: LogNumber) -> tuple[Any, Any]:
    """Between what numbers a LogNumber >= 0 lies, by its own bound; 0 and ∞ if it knows nothing."""
    mp = MpmathArithmetic(_FEW_BITS).mp
    log, error = mp.mpf(float(x.log)), mp.mpf(max(float(x.error), _FLOAT_ERROR))
    if not mp.isfinite(float(x.error)) or x.sign < 0:
        return mp.zero, mp.inf
    return mp.exp(log - error), mp.exp(log + error)


def _name(m: Node) -> str:
    text = repr(m)
    return text if len(text) <= 80 else f"{text[:77]}…"
