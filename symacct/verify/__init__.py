"""Verification of any accountant, in any language, against certified enclosures."""

from symacct.verify.asking.questions import FULL, QUICK
from symacct.verify.asking.session import verify
from symacct.verify.peer.peers import Adapter, adapters
from symacct.verify.peer.process import Peer, PeerError
from symacct.verify.peer.reading import ProtocolError
from symacct.verify.reporting.report import Report

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
