"""Verification of any accountant, in any language, against certified enclosures."""

from symacct.verify.peers import Adapter, adapters
from symacct.verify.process import Peer, PeerError
from symacct.verify.questions import FULL, QUICK
from symacct.verify.reading import ProtocolError
from symacct.verify.report import Report
from symacct.verify.run import verify

__all__ = [
    "FULL",
    "QUICK",
    "Adapter",
    "Peer",
    "PeerError",
    "ProtocolError",
    "Report",
    "adapters",
    "verify",
]
