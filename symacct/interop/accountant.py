"""An accountant in the place of dp_accounting's, answered by symacct."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from symacct.interop import floats
from symacct.interop.dp_events import (
    NO_PRIVACY,
    PrivacyAccountant,
    Reading,
    UnreadEventError,
    UnreadRelationError,
    from_dp_event,
    relation_named,
    their_relation,
    to_dp_event,
    unread_event,
)
from symacct.interop.floats import scalar
from symacct.kernel import parameters, theorem_registry
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, Guarantee
from symacct.kernel.claims import Kind
from symacct.kernel.conversion import BEST
from symacct.kernel.conversion import named as conversion_named
from symacct.kernel.errors import (
    AdjacencyError,
    DomainError,
    InfiniteError,
    OrderError,
    SymacctError,
    echo,
)
from symacct.kernel.exact import INFINITY, Numeric, is_infinite
from symacct.kernel.node import Node
from symacct.kernel.operation import terms_of
from symacct.kernel.parameters import By, delta_or_one, nonnegative, whole
from symacct.mechanisms import Gaussian
from symacct.operations import Compose, SubsampleWithoutReplacement
from symacct.operations.subsample import Sampling

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent

# --- every event, by the smallest number that is proved

#: An answer has this many significant digits before it is rounded up to a float, which has no more.
#: It is rounded up, so that any number is sound.
_DIGITS = 16
#: dp_accounting lists these orders.
LISTED = (*(1 + Fraction(x, 10) for x in range(1, 100)), *range(11, 64), 128, 256, 512, 1024)
#: Most curves that are finite at all are finite at this order: no loss is infinite then, and δ(∞)
#: is 0. Of another curve δ(∞) is bounded at `_FAR_EPSILON`, so that any order above 1 is sound.
_LOW_ORDER = 2
#: This ε, in nats, is asked in the place of ∞: its δ is above that of ∞, so it stays a bound.
_FAR_EPSILON = 1000


class EventAccountant(PrivacyAccountant):  # type: ignore[misc]  # Any where it is not installed
    """In the place of dp_accounting's RdpAccountant, whose methods it has, with proved answers.

    A dp_accounting.PrivacyAccountant where that is installed. Events are read by `from_dp_event`;
    nodes are taken as they are. The floats that come back are rounded up; ε is ∞ and δ is 1 where
    there is no privacy. By default each is the smallest number that is proved in the time
    `limits(seconds=…)`; `conversion`, any of `symacct.conversions()`, `orders` and `by` pin an
    answer as in `Node.epsilon`. `by` names theorems, each used where what was composed has a part
    that it is about; of what none of them is about the answer is the default one.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> step = PoissonSubsample(Gaussian(4), "0.01")
    >>> EventAccountant().compose(step, 10_000).get_epsilon(1e-5)
    0.9468668007643805
    """

    def __init__(
        self,
        orders: str | Iterable[Numeric] | None = None,
        neighboring_relation: object = "add_remove",
        conversion: str = BEST,
        accountant: Accountant | None = None,
        by: By = None,
    ) -> None:
        searched = parameters.orders(orders)
        self._searched = tuple(map(scalar, searched)) if isinstance(searched, list) else searched
        self._relation = relation_named(neighboring_relation)
        self._conversion = conversion if conversion == BEST else conversion_named(conversion).name
        if accountant is not None and not isinstance(accountant, Accountant):
            raise DomainError(f"accountant: found {echo(accountant)}, needed an Accountant")
        self._accountant = accountant or Accountant(digits=_DIGITS)
        self._by = tuple(theorem.name for theorem in theorem_registry.all_named(by))
        self._composed = Compose()
        self._runs: list[tuple[object, int]] = []

    @property
    def neighboring_relation(self) -> Any:
        """Events are read under this relation: dp_accounting's where installed, else a name."""
        return their_relation(self._relation)

    @property
    def node(self) -> Node:
        """The composition of all that was composed."""
        return self._composed

    @property
    def ledger(self) -> DpEvent:
        """What was composed, as a DpEvent; MissingPackageError where dp_accounting is missing."""
        remedy = "pip install dp-accounting"
        ledger = parameters.package("dp_accounting", "ledger", remedy).DpEventBuilder()
        for event, count in self._runs:
            ledger.compose(to_dp_event(event) if isinstance(event, Node) else event, count)
        return ledger.build()

    # --- composing

    def supports(self, event: object) -> bool:
        """Can this event be composed with what is there?"""
        try:
            self._with(event, 1)
        except SymacctError:
            return False
        return True

    def compose(self, event: object, count: int = 1) -> Self:
        """Add `count` runs of an event or a node; raises as `from_dp_event` if it is not read."""
        runs = whole(scalar(count), "compose, count")
        self._composed = self._with(event, runs)
        if runs:  # for the ledger; equal ones in a row are one: a training run has 10⁵ steps
            if self._runs and self._runs[-1][0] == event:
                runs += self._runs.pop()[1]
            self._runs.append((event, runs))
        return self

    def _maybe_compose(self, event: object, count: int, do_compose: bool) -> Any:
        """Return what is in the way of composing, in dp_accounting's terms; None where nothing is.

        It composes if `do_compose` and nothing is.
        """
        try:
            composed = self._with(event, count)
        except SymacctError as error:
            return self.CompositionErrorDetails(getattr(error, "event", None) or event, str(error))
        if do_compose:
            self._composed = composed
        return None

    def _with(self, event: object, count: int) -> Node:
        """Compose all that was and `count` runs of an event; UnreadRelationError if they clash."""
        node = event if isinstance(event, Node) else self._read(event)
        try:
            return Compose(self._composed, {node: count})
        except AdjacencyError as error:
            raise UnreadRelationError(f"{error}; caused by subevent {echo(event)}") from None

    def _read(self, event: object) -> Node:
        return from_dp_event(event, self._relation)

    # --- asking

    def get_epsilon(self, target_delta: Numeric) -> float:
        """Compute the smallest ε(δ) that is proved, rounded up; ∞ where there is no privacy."""
        return self._epsilon(target_delta)[0]

    def get_epsilon_and_optimal_order(self, target_delta: Numeric) -> tuple[float, float]:
        """Compute ε(δ), rounded up, and the order that gives it; DomainError beyond float64."""
        epsilon, order = self._epsilon(target_delta)
        return epsilon, _float_order(order)

    def get_delta(self, target_epsilon: Numeric) -> float:
        """Compute the smallest δ(ε) that is proved, rounded up; 1 where there is no privacy."""
        return self._delta(target_epsilon)[0]

    def get_delta_and_optimal_order(self, target_epsilon: Numeric) -> tuple[float, float]:
        """Compute δ(ε), rounded up, and the order that gives it; DomainError beyond float64."""
        delta, order = self._delta(target_epsilon)
        return delta, _float_order(order)

    @property
    def orders(self) -> np.ndarray:
        """The orders given, as floats; without any, those that dp_accounting lists."""
        return np.array([float(alpha) for alpha in self._listed()])

    @property
    def rdp(self) -> np.ndarray:
        """ε(α) at each of `orders`, rounded up."""
        return np.array([self._at(alpha) for alpha in self._listed()])

    def _at(self, alpha: Numeric) -> float:
        return self._float(self._accountant.rdp(self._composed, alpha, self._pinned()))

    def _pinned(self) -> By:
        """Name the theorems pinned that are about a part of what was composed; None for none."""
        parts = list(self._composed.walk()) if self._by else []
        about = [
            x
            for x in theorem_registry.all_named(self._by)
            if any(theorem_registry.is_about(x, m) for m in parts)
        ]
        return tuple(theorem.name for theorem in about) or None

    def _listed(self) -> tuple[Numeric, ...]:
        return self._searched if isinstance(self._searched, tuple) else LISTED

    def _epsilon(self, target_delta: Numeric) -> tuple[float, Numeric]:
        """Compute ε(δ) and its order. At δ = 1 it is 0, or ∞ of what hides nothing."""
        delta = delta_or_one(scalar(target_delta), "target_delta")
        if delta == 1:
            return (math.inf if self._hides_nothing else 0.0), INFINITY
        orders = self._searched if delta else None  # ε(0) is the order ∞'s alone
        return self._ask(self._accountant.epsilon, delta, math.inf, orders)

    def _delta(self, target_epsilon: Numeric) -> tuple[float, Numeric]:
        """Compute δ(ε) and its order. At ε = ∞ it bounds the probability of an infinite loss."""
        epsilon = scalar(target_epsilon)
        if is_infinite(epsilon):
            # No loss is infinite where the curve is finite at order 2; a lower bound does not tell.
            is_bound = self._composed.claim.kind is not Kind.LOWER
            with suppress(SymacctError):
                if is_bound and self._at(_LOW_ORDER) < math.inf:
                    return 0.0, INFINITY
            epsilon = _FAR_EPSILON
        target = nonnegative(epsilon, "target_epsilon")
        return self._ask(self._accountant.delta, target, 1.0, self._searched)

    def _float(self, bound: Enclosure) -> float:
        return float(bound)

    @property
    def _hides_nothing(self) -> bool:
        """Was anything composed that tells the dataset?"""
        return NO_PRIVACY in terms_of(self._composed)

    def _ask(
        self,
        question: Callable[..., Guarantee],
        target: Numeric,
        otherwise: float,
        orders: str | Iterable[Numeric] | None,
    ) -> tuple[float, Numeric]:
        """Ask for the answer and its order; it is `otherwise` where nothing smaller is proved."""
        if self._hides_nothing:
            return otherwise, INFINITY
        try:
            answer = question(self._composed, target, self._conversion, orders, self._pinned())
        except InfiniteError:
            return otherwise, INFINITY
        return self._float(answer.asked), answer.alpha


def _float_order(alpha: Any) -> float:
    return alpha if alpha == INFINITY else floats.nearest(Fraction(alpha), "the optimal order")


# --- dp_accounting's RdpAccountant by its own theorems

#: RdpAccountant answers by these theorems for what is sampled or repeated.
THEOREMS = ("MTZ19-EXACT", "WBK19-T27", "PS22-T2-PRINTED", "PS22-T6-PRINTED")
#: It reads these events under these relations alone, though they say something under others.
_RELATIONS: dict[str, tuple[str, ...]] = {
    "PoissonSampledDpEvent": ("add_remove", "zero_out"),
    "SampledWithReplacementDpEvent": (),
    "SampledWithoutReplacementDpEvent": ("replace_one",),
    "SingleEpochTreeAggregationDpEvent": ("zero_out",),
}
#: RdpAccountant joins the whole orders of Theorem 27 by chords up to this one, the last that it
#: lists. Any is sound: chords of fewer orders bound less sharply.
_LAST_CHORD_ORDER = 1024
#: Bounds are rounded up to this many significant digits, which float64 leaves of its formulas. They
#: are what the other accountant prints, and no proof.
_FORMULA_DIGITS = 14


class PublishedAccountant(EventAccountant):
    """An accountant by the theorems that dp_accounting's RdpAccountant evaluates, at its orders.

    For who compares with its numbers, or moves from them by steps: what is published of sampled and
    of repeated mechanisms, proved and rounded up, and no event under a relation for which
    RdpAccountant has none. No answer is smaller than EventAccountant's.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> step = PoissonSubsample(Gaussian(4), "0.01")
    >>> PublishedAccountant().compose(step, 10_000).get_epsilon(1e-5)
    1.0354900660363
    """

    def __init__(
        self,
        orders: str | Iterable[Numeric] | None = None,
        neighboring_relation: object = "add_remove",
    ) -> None:
        searched = LISTED if orders is None else orders
        digits = Accountant(digits=_FORMULA_DIGITS)
        super().__init__(searched, neighboring_relation, accountant=digits, by=THEOREMS)

    def _read(self, event: object) -> Node:
        """Read an event as RdpAccountant does."""
        return _Published(self._relation).node(event, 0)

    def _at(self, alpha: Numeric) -> float:
        """Compute ε(α), rounded up; ∞ where the theorems say nothing, as at the order ∞."""
        try:
            return super()._at(alpha)
        except OrderError:
            return math.inf

    def _float(self, bound: Enclosure) -> float:
        """Round a bound up to the 14 digits that float64 leaves of a formula."""
        return float(bound.rounded_up(_FORMULA_DIGITS))


class _Published(Reading):
    """A reading as RdpAccountant's: fewer relations, and chords between whole orders.

    The chords join the curve of a sample of fixed size.
    """

    def node(self, event: object, depth: int) -> Node:
        """Read an event as RdpAccountant does, under the relations that its theorems hold for.

        UnreadEventError for an event that none of them is about.
        """
        for kind in type(event).__mro__:
            if not _RELATIONS.get(kind.__name__, ("any",)):
                needed = "found no theorem of RdpAccountant's for it; EventAccountant reads it"
                raise unread_event(UnreadEventError, event, needed)
            if kind.__name__ in _RELATIONS:
                self.only_under(event, *_RELATIONS[kind.__name__])
        node = super().node(event, depth)
        return self._sampled(event, node) if isinstance(node, Sampling) else node

    def _sampled(self, event: object, sample: Sampling) -> Node:
        """Read a sample of Gaussian noise; UnreadEventError for a sample of anything else."""
        if not sample.gamma:
            return Compose()
        if sample.mechanism is NO_PRIVACY:
            return NO_PRIVACY
        if not all(isinstance(part, Gaussian | Compose) for part in sample.mechanism.walk()):
            needed = f"found a sample of {echo(sample.mechanism)}, needed one of Gaussian noise"
            raise unread_event(UnreadEventError, event, needed)
        is_fixed = isinstance(sample, SubsampleWithoutReplacement)
        return sample.convexify(_LAST_CHORD_ORDER) if is_fixed else sample
