"""Adaptive accounting: mechanisms chosen one by one, each from what the earlier ones told.

Curves that were fixed beforehand may be converted at whichever order is best; of curves that were
chosen on the way that order is chosen too, so δ is shared among the orders:
docs/proofs/conversions.md, Lemma filter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Self

from flint import arb

from symacct.accountant.currencies import concentrated
from symacct.kernel import deadline, limits, parameters
from symacct.kernel.accountant import Accountant, certified_number
from symacct.kernel.answer import Enclosure
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import doubled, precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.conversion import Conversion, named
from symacct.kernel.errors import (
    BudgetError,
    DomainError,
    ParseError,
    PrecisionError,
    SoundnessError,
    echo,
)
from symacct.kernel.evaluation import Evaluation, exact_pure
from symacct.kernel.exact import INFINITY, Numeric, Order, exact, order, text
from symacct.kernel.memory import new_lock
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import given_delta, rational
from symacct.kernel.sums.halving import halved_whole
from symacct.kernel.theorem_registry import goal_of
from symacct.operations import Compose
from symacct.text import from_json, to_json
from symacct.text.json_documents import is_format, read_json

#: These orders share δ where none are given; ∞ takes no share, and is always among them. Any list
#: is sound: more orders share δ more thinly, and may answer better.
ORDERS = (Fraction(3, 2), 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)
#: JSON documents have this number of their format. Documents of another number are refused.
_FORMAT = 1
#: A budget is compared by balls of this many bits, and of more if they do not decide. It costs time
#: alone.
_FIRST_BITS = 128
#: ρ is asked to so many significant digits, one after the other, until the budget is decided. What
#: the last ones leave open is refused.
_RHO_DIGITS = (10, 30, 120)


# Proved in docs/proofs/conversions.md, Lemma supermartingale.
class Adaptive:
    """What was run so far, and the orders at which it is looked at.

    δ is divided equally among the finite orders. `spent` is what was run before, or None.
    """

    #: The name of the conversion at each order.
    conversion: str

    def __init__(
        self, delta: Numeric, orders: Iterable[Numeric] | None = None, spent: Node | None = None
    ) -> None:
        self.delta = given_delta(delta)
        self.orders = _orders(ORDERS if orders is None else orders, self.delta)
        self._lock = new_lock()
        self._spent = Compose()
        if spent is not None:
            self._spent = self._with(spent)

    @property
    def spent(self) -> Node:
        """The composition of all that was run."""
        return self._spent

    # Proved in docs/proofs/conversions.md, Lemma total-bound.
    def _with(self, m: Node) -> Node:
        """Compose all that was run and `m`.

        Raises DomainError for open symbols, and SoundnessError without a certified upper bound.
        """
        total = Compose(self._spent, as_node(m, f"{type(self).__name__}, mechanism"))
        if total.free_symbols:
            symbols = ", ".join(sorted(map(str, total.free_symbols)))
            raise DomainError(
                f"{type(self).__name__}: found the free symbol {symbols}, needed a number",
                remedy="put a number in its place",
            )
        claim = total.claim
        if goal_of(total, None) is Kind.LOWER or not claim.certified:
            fault = "a lower bound" if claim.kind is Kind.LOWER else "a curve taken on trust"
            raise SoundnessError(
                f"{type(self).__name__}: found {fault}, needed a certified exact curve or upper "
                "bound"
            )
        return total

    def _converted(self, total: Node, alpha: Order) -> arb:
        """Enclose the ε that the curve gives at α for the order's share of δ.

        At ∞, and where the curve is infinite, it is ε(α) itself.
        """
        value: arb = Evaluation(BALL).curve(total)(alpha)
        if alpha == INFINITY or BALL.is_infinite(value):
            return value
        share = BALL.number(self.delta / (len(self.orders) - 1))
        conversion = named(self.conversion)
        assert isinstance(conversion, Conversion)  # noqa: S101  # one of an order each
        epsilon: arb = conversion.epsilon(BALL, value, BALL.number(alpha), share)
        return epsilon

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of the constructor that make this object again."""
        finite = [alpha for alpha in self.orders if alpha != INFINITY]
        return {"delta": self.delta, "orders": finite, "spent": self._spent}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by JSON: a copy goes on by itself from what was spent so far."""
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        stated = ", ".join(f"{name}={value!r}" for name, value in self._written().items())
        return f"{type(self).__name__}({stated}, spent={self._spent!r})"

    def _written(self) -> dict[str, Any]:
        """Return the arguments as text, but for what was spent."""
        stated = self._arguments()
        fields: dict[str, Any] = {k: text(v) for k, v in stated.items() if isinstance(v, Fraction)}
        if "orders" in stated:
            fields["orders"] = [text(Fraction(alpha)) for alpha in stated["orders"]]
        return fields

    def to_json(self) -> str:
        """Write the budget or meter, with what was spent, as JSON."""
        written = self._written() | {"spent": json.loads(to_json(self._spent))}
        return json.dumps({"symacct": _FORMAT, type(self).__name__: written}, ensure_ascii=False)

    @classmethod
    def _forms(cls) -> tuple[set[str], ...]:
        """List the sets of arguments that a document may state together."""
        return ({"delta", "orders", "spent"},)

    @classmethod
    def from_json(cls, document: str) -> Self:
        """Read what `to_json` wrote; ParseError, LimitError or DomainError for anything else."""
        name = cls.__name__
        if not isinstance(document, str):
            raise ParseError(f"{name}, JSON: found {type(document).__name__}, needed text")
        limits.check_text(document, f"{name}, JSON")
        read = read_json(document, f"{name}, JSON")
        fields = read.get(name) if isinstance(read, dict) else None
        is_one = isinstance(fields, dict) and set(fields) in cls._forms()
        is_one = is_one and read.keys() == {"symacct", name} and is_format(read["symacct"], _FORMAT)
        if not (is_one and isinstance(fields, dict)):
            raise ParseError(f'{name}, JSON: found no {{"symacct": {_FORMAT}, "{name}": …}}')
        fields["spent"] = from_json(json.dumps(fields["spent"]))
        return cls(**fields)


# Proved in docs/proofs/conversions.md, Lemma personal-filters.
class Filter(Adaptive):
    """A budget (ε, δ), or ρ, for mechanisms that are chosen adaptively, each from earlier outputs.

    `admits(m)` says before a run whether the budget still holds with it. `spend(m)` counts the run,
    or raises BudgetError and counts nothing. All admitted runs together are (ε, δ)-DP, whoever
    chooses them and whenever they stop. δ is divided equally among the finite `orders`, and the
    order ∞, which is pure DP, needs none. The budget holds if at one of the orders the sum of the
    curves converts to at most ε at that order's share of δ. `spent` is a Node of what was run
    before. Every comparison is certified, and PrecisionError is raised if one cannot be decided.
    `epsilon` is in nats, and `delta` is a probability. With `rho` in their place all admitted runs
    together are ρ-zCDP: the sum of the curves is at most ρα at every order α, so that no δ is
    shared. A run of which no such ρ is known is an AssumptionError.

    >>> from symacct import Gaussian
    >>> budget = Filter(2, "1e-6", orders=[16])
    >>> budget.spend(Gaussian(5))
    >>> budget.left(Gaussian(5)), budget.admits(Gaussian("1/2"))
    (3, False)
    >>> Filter(rho="1/10").left(Gaussian(5))
    5
    """

    conversion = "improved"

    def __init__(
        self,
        epsilon: Numeric | None = None,
        delta: Numeric | None = None,
        orders: Iterable[Numeric] | None = None,
        spent: Node | None = None,
        *,
        rho: Numeric | None = None,
    ) -> None:
        stated = [
            name for name, value in (("epsilon", epsilon), ("delta", delta)) if value is not None
        ]
        if len(stated) != (2 if rho is None else 0) or (rho is not None and orders is not None):
            budget = " and ".join([*stated, *(["rho"] if rho is not None else [])]) or "no budget"
            with_orders = " with orders" if orders is not None else ""
            raise DomainError(
                f"Filter: found {budget}{with_orders}, needed epsilon and delta, or rho alone"
            )
        self.rho = None if rho is None else rational(rho, "rho")
        self.epsilon = rational(0 if epsilon is None else epsilon, "epsilon")
        super().__init__(0 if delta is None else delta, orders, spent)
        if not self._holds(self._spent):
            raise BudgetError(
                f"Filter: found {echo(self._spent)} spent, which exceeds {self._budget}"
            )

    @property
    def _budget(self) -> str:
        """The budget in words for a message, ρ or (ε, δ)."""
        if self.rho is not None:
            return f"the budget ρ = {echo(self.rho)}"
        return f"the budget ε = {echo(self.epsilon)}, δ = {echo(self.delta)}"

    @classmethod
    def _forms(cls) -> tuple[set[str], ...]:
        """The sets of arguments that a filter has in JSON: for (ε, δ), or for ρ."""
        return {"epsilon", "delta", "orders", "spent"}, {"rho", "spent"}

    def _arguments(self) -> dict[str, Any]:
        """The budget and what is spent of it, as the constructor and JSON name them."""
        if self.rho is not None:
            return {"rho": self.rho, "spent": self._spent}
        return {"epsilon": self.epsilon, **super()._arguments()}

    def admits(self, m: Node) -> bool:
        """Does the budget still hold if m is run as well?"""
        with self._lock:
            return self._holds(self._with(m))

    def spend(self, m: Node) -> None:
        """Count m as run. Raises BudgetError, and counts nothing, if the budget would not hold."""
        with self._lock:
            total = self._with(m)
            if not self._holds(total):
                raise BudgetError(
                    f"Filter: found {echo(m)} after {echo(self._spent)}, which would exceed "
                    f"{self._budget}",
                    remedy="run less, or stop",
                )
            self._spent = total

    def left(self, m: Node) -> int | float:
        """Count how many further runs of m the budget admits now; ∞ if m costs nothing."""
        with self._lock:
            if exact_pure(as_node(m, "Filter, mechanism"), None) == 0:
                return INFINITY
            low, high = 0, 1
            while self._holds_with(m, high):
                deadline.check()
                low, high = high, 2 * high
            return halved_whole(low, high, lambda runs: self._holds_with(m, runs))

    def _holds_with(self, m: Node, runs: int) -> bool:
        return self._holds(self._with(Compose({m: runs})))

    def _holds(self, total: Node) -> bool:
        """Is the ε of the curve at one of the orders proved to be at most the budget?

        The precision is doubled until that is decided; PrecisionError at the limit on bits.
        """
        if self.rho is not None:
            return self._holds_at_all_orders(total, self.rho)
        pure = exact_pure(total, None)
        if pure is not None and pure <= self.epsilon:
            return True
        orders = [alpha for alpha in self.orders if alpha != INFINITY or pure is None]
        for bits in doubled(_FIRST_BITS):
            with precision(bits):
                most = BALL.number(self.epsilon)
                balls = [self._converted(total, alpha) for alpha in orders]
                if any(ball <= most for ball in balls):
                    return True
                if all(ball > most for ball in balls):
                    return False
        raise PrecisionError(
            f"Filter: {echo(total)} against ε = {echo(self.epsilon)}: undecided at "
            f"{limits.current().bits:,} bits",
            remedy="raise the limit bits",
        )

    # Proved in docs/proofs/conversions.md, Lemma rho-filter.
    def _holds_at_all_orders(self, total: Node, rho: Fraction) -> bool:
        """Is ε(α) <= ρα proved at every α? It is then so of all subsets of the runs.

        A ρ that is not of kind exact is no more than an upper bound: it decides against the run.
        """
        for digits in _RHO_DIGITS:
            rho_of_total = concentrated.zcdp(total, digits)
            if exact(rho_of_total.upper) <= rho:
                return True
            if exact(rho_of_total.lower) > rho or rho_of_total.claim.kind is not Kind.EXACT:
                return False
        known = concentrated.zcdp_in_fractions(total)
        if known is not None:  # a tie, as 3 runs of ρ = 1/9 are
            return known <= rho
        raise PrecisionError(
            f"Filter: {echo(total)} against ρ = {echo(rho)}: undecided at {digits} digits"
        )


# Proved in docs/proofs/conversions.md, Lemma odometer.
class Odometer(Adaptive):
    """A running ε that holds at all times, for mechanisms that are chosen adaptively.

    With probability 1 − δ over all runs, the privacy loss is never above the reading. A reader may
    therefore decide by the reading what to run next, or when to stop. ε is in nats. `delta` lies in
    [0, 1). `orders` are the orders that a reading may use, and `spent` is a Node of what was run
    before. Raises DomainError for other parameters, and PrecisionError if a comparison cannot be
    decided.

    >>> from symacct import Gaussian
    >>> meter = Odometer("1e-6")
    >>> meter.add(Gaussian(5))
    >>> print(meter.epsilon(digits=4))
    1.165
    """

    conversion = "classic"

    def add(self, m: Node) -> None:
        """Count m as run."""
        with self._lock:
            self._spent = self._with(m)

    def epsilon(self, digits: int = 30) -> Enclosure:
        """Read the meter: an Enclosure of kind `upper`, the smallest ε over the orders, in nats."""
        total = self._spent

        def reading(_: Accountant) -> tuple[arb, Claim]:
            values = [self._converted(total, alpha) for alpha in self.orders]
            claim = Claim(Kind.UPPER, total.claim.adjacency, sources=total.claim.sources)
            return BALL.minimum(*values), claim

        return certified_number(reading, digits, f"Odometer: {echo(total)}")


def _orders(asked_orders: Iterable[Numeric], delta: Fraction) -> tuple[Order, ...]:
    """Sort the distinct finite orders, which have to be above 1, and add ∞.

    At δ = 0 there is ∞ alone. DomainError for another order.
    """
    listed = [order(one) for one in parameters.members(asked_orders, "orders", "[8, 32]")]
    finite = sorted({alpha for alpha in listed if alpha != INFINITY})
    if finite and not finite[0] > 1:
        raise DomainError(f"orders: found {echo(finite[0])}, needed orders above 1")
    return (*(finite if delta else ()), INFINITY)
