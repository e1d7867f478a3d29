"""α ↦ ε(α) of one node in one evaluation, its values remembered."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from symacct.arithmetic import Arithmetic, Number
from symacct.arithmetic.float64 import LogNumber
from symacct.core import deadline
from symacct.core.claims import Claim, Kind
from symacct.core.errors import (
    DomainError,
    LimitError,
    OrderError,
    PrecisionError,
    SoundnessError,
    SymacctError,
)
from symacct.core.exact import INFINITY, Order
from symacct.core.forking import cached_property
from symacct.core.lazy_import import sympy
from symacct.core.lru_table import Remembered
from symacct.expressions.node import Node
from symacct.mechanisms.mechanism import Mechanism
from symacct.numerics.binomial_sums import EXPONENTIALS, ExponentialSum, over_run
from symacct.numerics.local import LocalProduct

if TYPE_CHECKING:  # which makes the curves
    from symacct.rdp.evaluation import Evaluation

_NEXT = 3  # orders beyond the largest asked, of a run of cheap ones


class NodeCurve:
    """α ↦ ε(α) of one node in one evaluation."""

    def __init__(self, evaluation: Evaluation, node: Node, values: Remembered) -> None:
        self.evaluation = evaluation
        self.node = node
        self.values = values

    def __call__(self, alpha: Order) -> Number:
        try:
            value = self.values[alpha]
        except TypeError:  # arrays of orders have no hash, and are not remembered
            return self._array(np.asarray(alpha))
        if value is None:
            deadline.check()
            if type(alpha) is not int:
                alpha = _normal(alpha)
            value = self.values[alpha] = self.compute(alpha)
        return value

    def among(self, alpha: Order) -> Number:
        """ε(α) where orders about it are asked too: by what is found of all of them at once."""
        if type(alpha) is int or not isinstance(alpha, Fraction) or alpha.denominator == 1:
            return self(alpha)
        middle = round(alpha)
        local = self.local(middle) if middle > 1 else None
        if local is None:
            return self(alpha)
        at = self.evaluation.ctx.number(alpha)
        return local.log(at - middle) / (at - 1)

    @cached_property
    def shape(self) -> str | None:
        """What is proved of its CGF at whole orders: "convex", or nothing."""
        return "convex" if self.node.convex and not self.evaluation.pins(self.node) else None

    def using(self, ctx: Arithmetic) -> NodeCurve:
        """This curve in another arithmetic, or in balls at the precision now current."""
        return self.evaluation.using(ctx).curve(self.node)

    def of(self, node: Node) -> NodeCurve:
        """The curve of another node in the same evaluation."""
        return self.evaluation.curve(node)

    def remember(self, what: str) -> Remembered:
        """A table for what else is computed from this curve, kept as long as its values."""
        return self.evaluation.memo(self.node, self.evaluation.key._replace(derived=what))

    def excesses(self) -> Callable[[Order], Number]:
        """l ↦ e^{(l−1)ε(l)} − 1 at whole orders, remembered; directly where there is a formula."""
        ctx, values = self.evaluation.ctx, self.remember("excess")
        mechanism = self.node
        direct = mechanism.excess_in(ctx) if isinstance(mechanism, Mechanism) else None
        compute = direct or (lambda l: ctx.expm1((l - 1) * self(l)))
        if isinstance(mechanism, Mechanism):
            compute = mechanism.within(ctx, compute)

        def moment(l: Order) -> Number:
            try:
                value = values[l]
            except TypeError:  # an array of orders
                return compute(l)
            if value is None:
                value = values[l] = compute(l)
            return value

        return moment

    def exponentials(self) -> Callable[[range], ExponentialSum | None] | None:
        """The moments over a run of orders in balls; None where the moment has no formula."""
        mechanism = self.node
        if not isinstance(mechanism, Mechanism) or mechanism.excess(EXPONENTIALS) is None:
            return None
        if mechanism.finite_up_to != INFINITY:
            return None

        def over(orders: range) -> ExponentialSum | None:
            asked = self.using(EXPONENTIALS).remember("excess")
            asked.update(dict.fromkeys(orders))  # the formula is evaluated at each of them
            return over_run(mechanism.excess, orders)

        return over

    def dense(self, orders: range) -> list[Number] | None:
        """The excesses at each order of a run, if the leaf says that they are cheap."""
        if not (isinstance(self.node, Mechanism) and self.node.is_cheap):
            return None
        known = self._run
        if known[orders[-1]] is not None:
            values = [known[l] for l in orders]
            if all(value is not None for value in values):
                return values
        # All anew, so that none depends on which were asked before, and the next few too.
        run = range(2, orders.stop + _NEXT)
        known.update(zip(run, self.node.excesses(self.evaluation.ctx), strict=False))
        return [known[l] for l in orders]

    @cached_property
    def _run(self) -> Remembered:
        """The excesses of a leaf that says that they are cheap."""
        return self.remember("dense")

    def local(self, middle: int) -> LocalProduct | None:
        """e^{(α−1)ε(α)} for all α within ½ of a whole order, in balls; None if not offered."""
        return None

    def compute(self, alpha: Order) -> Number:
        """ε(α), not looked up."""
        raise NotImplementedError

    def claim(self, alpha: Order) -> Claim:
        """What is claimed of ε(α)."""
        raise NotImplementedError

    def claim_throughout(self, alpha: Order) -> Claim:
        """What is claimed of ε at every order of the kind of α."""
        return self.claim(alpha)

    def _array(self, alpha: np.ndarray) -> LogNumber:
        """A whole array of orders, group by group: whole, fractional, 1 and ∞ differ in theorem."""
        whole = (alpha == np.floor(alpha)) & (alpha > 1) & np.isfinite(alpha)
        between = ~whole & np.isfinite(alpha) & (alpha > 1)
        parts = [(alpha == one, self(one)) for one in (1, INFINITY) if np.any(alpha == one)]
        parts += [
            (chosen, self.compute(alpha[chosen]))
            for chosen in (whole, between & (alpha < 2), between & (alpha > 2))
            if np.any(chosen)
        ]
        return LogNumber.from_parts(alpha.shape, parts)


class LeafCurve(NodeCurve):
    """The curve of a mechanism: its own formula."""

    node: Mechanism

    def __init__(self, evaluation: Evaluation, node: Mechanism, values: Remembered) -> None:
        super().__init__(evaluation, node, values)
        opposite = Kind.LOWER if evaluation.goal is Kind.UPPER else Kind.UPPER
        if node.claim.kind is opposite:
            raise SoundnessError(
                f"{type(node).__name__}: found a curve of kind {opposite}, needed an exact or "
                f"{evaluation.goal} one for a bound of kind {evaluation.goal}"
            )
        self._inner: Callable[[Order], Number] = self._start

    def compute(self, alpha: Order) -> Number:
        stated = self._stated(alpha)
        if self._sharper is None or alpha == INFINITY:
            return stated
        try:
            return self.evaluation.ctx.minimum(stated, self._sharper(alpha))
        except (LimitError, PrecisionError):
            return stated

    @cached_property
    def _sharper(self) -> Callable[[Order], Number] | None:
        """What has no formula, where none is written."""
        return None if self.evaluation.states else self.node.sharper(self.evaluation.ctx)

    def _stated(self, alpha: Order) -> Number:
        """ε(α) by the formula; an error that is none of ours is one of the formula."""
        if isinstance(alpha, int | float) and alpha in (1, INFINITY):
            ctx = self.evaluation.ctx
            if alpha == INFINITY and self.node.finite_up_to != INFINITY:
                return ctx.number(INFINITY)
            value = self.node.at_one(ctx) if alpha == 1 else self.node.at_infinity(ctx)
            return _possible(value, alpha) if self.node.is_of_user else value
        try:
            value = self._inner(alpha)
        except (TypeError, ValueError) as error:
            if isinstance(error, SymacctError):
                raise
            raise self._no_number(alpha, error) from error
        if hasattr(value, "_mpc_"):
            raise self._no_number(alpha, value)
        return value

    def _no_number(self, alpha: Order, found: object) -> DomainError:
        return DomainError(
            f"{type(self.node).__name__} at order {alpha}: found {found}, needed a number",
            remedy=(
                "bring the order in by ctx.number(alpha) before it meets a number, and state "
                "finite_up_to where the curve is infinite from some order on"
            ),
        )

    def _start(self, alpha: Order) -> Number:
        """The first value at an order inside (1, ∞); the constants are computed only then."""
        ctx = self.evaluation.ctx
        function = self.node.within(ctx, self.node.curve(ctx))
        if self.node.is_of_user:
            # What a user's function gives back is looked at each time.
            self._inner = lambda alpha: _possible(function(alpha), alpha)
        else:
            self._inner = function
        return self._inner(alpha)

    def claim(self, alpha: Order) -> Claim:
        return self.node.claim


def _normal(alpha: Order) -> Order:
    """Whole orders as int, so that 5/1 and 5 are one question."""
    if isinstance(alpha, Fraction | float):
        return int(alpha) if isinstance(alpha, Fraction) and alpha.denominator == 1 else alpha
    if isinstance(alpha, sympy.Basic) and alpha.is_Integer:
        return int(alpha)
    return alpha


def _possible(value: Number, alpha: Order) -> Number:
    """The value of a user's curve, unless it is wrong: no Rényi divergence is negative or NaN."""
    if isinstance(value, sympy.Expr | LogNumber):
        return value
    try:
        undefined = value.is_nan() if hasattr(value, "is_nan") else value != value
        negative = bool(value < 0)
    except TypeError:
        raise DomainError(
            f"Curve: found a value of type {type(value).__name__} at order {alpha}, needed a "
            "number of the arithmetic that was given",
            remedy="write the curve with ctx's functions",
        ) from None
    if undefined:
        raise OrderError(f"Curve: undefined at order {alpha}", remedy="ask for another order")
    if negative:
        raise DomainError(f"Curve: found the value {value} at order {alpha}, needed >= 0")
    return value
