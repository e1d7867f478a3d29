"""To and from dp_accounting's events and Opacus's histories; an accountant in their place."""

from symacct.interop.accountant import EventAccountant, PublishedAccountant
from symacct.interop.dp_events import from_dp_event, to_dp_event
from symacct.interop.opacus import from_opacus_history, register_with_opacus, to_opacus_history

__all__ = [
    "EventAccountant",
    "PublishedAccountant",
    "from_dp_event",
    "from_opacus_history",
    "register_with_opacus",
    "to_dp_event",
    "to_opacus_history",
]
