# /// script
# requires-python = ">=3.9"
# dependencies = ["opacus", "numpy", "scipy"]
#
# [tool.symacct]
# no-deps = true
# ///
"""Opacus: its RDP analysis, loaded by itself without PyTorch; speaks docs/protocol.md."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
from line_protocol import DEFAULT_ORDERS, HOW, by_module, hello_of, module_at, speak

PLACE, NEEDED = "opacus/accountants/analysis/rdp.py", "opacus"
FUNCTIONS = dict.fromkeys(("poisson", "none"), "compute_rdp")


def spent(peer, ask, at, rdp):
    """(ε, its order, the expression that has it)"""
    delta = ask["delta_float"]
    value, best = peer.get_privacy_spent(orders=at, rdp=rdp, delta=delta)
    return value, best, f"peer.get_privacy_spent(orders=orders, rdp=rdp, delta={delta!r})"


def hello():
    """Who computes, and what may be asked; loads the peer, so that no answer is slow for that."""
    module_at(PLACE, NEEDED)
    kinds = [("Gaussian", sampling, "add_remove") for sampling in FUNCTIONS]
    asks = ["rdp", "epsilon"]
    return hello_of("opacus", kinds, asks, default_orders=DEFAULT_ORDERS, order_grid=True, how=HOW)


if __name__ == "__main__":
    speak(hello, by_module(PLACE, NEEDED, FUNCTIONS, spent))
