"""To and from other accountants: dp_accounting's events, Opacus's histories, and an accountant to
put in the place of dp_accounting's. Neither need be installed, except to make an event of theirs.

A mechanism that crosses is never read as less noise than either side may have meant.
"""

from symacct.interop.accountant import EventAccountant
from symacct.interop.dp_events import from_dp_event, to_dp_event
from symacct.interop.opacus import from_opacus_history, to_opacus_history

__all__ = [
    "EventAccountant",
    "from_dp_event",
    "from_opacus_history",
    "to_dp_event",
    "to_opacus_history",
]
