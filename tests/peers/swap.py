"""Our accountants in the place of theirs, for their own tests: `pytest -p tests.peers.swap`."""

from __future__ import annotations

import importlib.util
import os

import dp_accounting
import numpy as np
from dp_accounting.rdp import rdp_privacy_accountant

from symacct.interop import EventAccountant, PublishedAccountant

#: Is it answered by the theorems that theirs evaluates, not by the best here?
PUBLISHED = os.environ.get("PUBLISHED") == "1"
#: Does the exact profile stand in the place of their PLD accountant?
PLD = os.environ.get("PLD") == "1"


class Rdp(PublishedAccountant if PUBLISHED else EventAccountant):
    """Their tests read under private names what `rdp` and `orders` say in public."""

    @property
    def _rdp(self) -> np.ndarray:
        return self.rdp

    @property
    def _orders(self) -> np.ndarray:
        return self.orders


class Pld(EventAccountant):
    """Made with the arguments of theirs; the exact profile has no grid."""

    def __init__(self, neighboring_relation="add_remove", value_discretization_interval=None):
        super().__init__(None, neighboring_relation, "exact")


rdp_privacy_accountant.RdpAccountant = dp_accounting.rdp.RdpAccountant = Rdp
if PLD:
    dp_accounting.pld.PLDAccountant = Pld

if importlib.util.find_spec("opacus"):
    from opacus import accountants
    from opacus.accountants import registry

    from symacct.interop.opacus_accountant import ExactAccountant, SymacctAccountant

    class OpacusRdp(SymacctAccountant):
        """At the orders of theirs, whose answers their tests expect."""

        alphas = accountants.RDPAccountant.DEFAULT_ALPHAS

    accountants.RDPAccountant = registry._ACCOUNTANTS["rdp"] = OpacusRdp
    accountants.PRVAccountant = registry._ACCOUNTANTS["prv"] = ExactAccountant
