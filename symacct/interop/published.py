"""dp_accounting's RdpAccountant by its own theorems: its numbers, before those that are smaller."""

from __future__ import annotations

import math
from collections.abc import Iterable

from symacct.interop.accountant import LISTED, EventAccountant
from symacct.interop.dp_events import NO_PRIVACY, Reading, unread_event
from symacct.interop.dp_types import UnreadEventError
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure
from symacct.kernel.errors import OrderError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node
from symacct.mechanisms import Gaussian
from symacct.operations import Compose, SubsampleWithoutReplacement
from symacct.operations.subsample import Sampling

#: By what RdpAccountant answers for what is sampled or repeated.
THEOREMS = ("MTZ19-EXACT", "WBK19-T27", "PS22-T2-PRINTED", "PS22-T6-PRINTED")
#: The relations under which it reads an event that says something under others too, if any.
_RELATIONS: dict[str, tuple[str, ...]] = {
    "PoissonSampledDpEvent": ("add_remove", "replace_special"),
    "SampledWithReplacementDpEvent": (),
    "SampledWithoutReplacementDpEvent": ("replace_one",),
    "SingleEpochTreeAggregationDpEvent": ("replace_special",),
}
_LAST = 1024  # of the orders that it lists, up to which it joins those of Theorem 27 by chords
_DIGITS = 14  # what float64 leaves of its formulas: bounds are rounded up at them


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
        digits = Accountant(digits=_DIGITS)
        super().__init__(searched, neighboring_relation, accountant=digits, by=THEOREMS)

    def _read(self, event: object) -> Node:
        return _Published(self._relation).node(event, 0)

    def _at(self, alpha: Numeric) -> float:
        """∞ where the theorems say nothing, as at the order ∞."""
        try:
            return super()._at(alpha)
        except OrderError:
            return math.inf

    def _float(self, bound: Enclosure) -> float:
        return float(bound.rounded_up(_DIGITS))


class _Published(Reading):
    """Fixed sizes are joined by chords between whole orders; fewer relations are read."""

    def node(self, event: object, depth: int) -> Node:
        for kind in type(event).__mro__:
            if not _RELATIONS.get(kind.__name__, ("any",)):
                needed = "found no theorem of RdpAccountant's for it; EventAccountant reads it"
                raise unread_event(UnreadEventError, event, needed)
            if kind.__name__ in _RELATIONS:
                self.only_under(event, *_RELATIONS[kind.__name__])
        found = super().node(event, depth)
        return self._sampled(event, found) if isinstance(found, Sampling) else found

    def _sampled(self, event: object, found: Sampling) -> Node:
        if not found.gamma:
            return Compose()
        if found.mechanism is NO_PRIVACY:
            return NO_PRIVACY
        if not all(isinstance(part, Gaussian | Compose) for part in found.mechanism.walk()):
            needed = f"found a sample of {echo(found.mechanism)}, needed one of Gaussian noise"
            raise unread_event(UnreadEventError, event, needed)
        is_fixed = isinstance(found, SubsampleWithoutReplacement)
        return found.convexify(_LAST) if is_fixed else found
