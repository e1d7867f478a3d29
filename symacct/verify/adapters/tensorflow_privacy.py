# /// script
# requires-python = ">=3.9"
# dependencies = ["tensorflow-privacy==0.8.0", "numpy", "scipy"]
#
# [tool.symacct]
# no-deps = true
# ///
"""TensorFlow Privacy: its last rdp_accountant (0.8.0), loaded by itself without TensorFlow."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

PLACE = "tensorflow_privacy/privacy/analysis/rdp_accountant.py"
NEEDED = "tensorflow-privacy, at most 0.8.0"
FUNCTIONS = {
    "poisson": "compute_rdp",
    "none": "compute_rdp",
    "without_replacement": "compute_rdp_sample_without_replacement",
}
HOW = {**line.HOW, "nesting": ["flat", "calls"]}


def taken(ask, at):
    """The orders; without replacement whole floats as int, but for a type that RDP asks about."""
    if not without_replacement(ask) or (ask["ask"] == "rdp" and type(at) is not float):
        return at
    listed = [int(x) if float(x).is_integer() else x for x in (at if type(at) is list else [at])]
    return listed if type(at) is list else listed[0]


def without_replacement(ask):
    """Is any part sampled so?"""
    return any(part["sampling"] == "without_replacement" for part in ask["parts"])


def summed(peer, ask, given, at):
    """(the RDP, its source); several parts at once where the peer has a function for that"""
    together = ask["how"].get("nesting", "flat") == "flat" and len(ask["parts"]) > 1
    if not together or without_replacement(ask):
        return line.total_rdp(peer, ask, given, at)
    rates, sigmas, steps = ([call[i] for call in given] for i in (1, 2, 3))
    source = f"peer.compute_heterogeneous_rdp({rates!r}, {sigmas!r}, {steps!r}, orders)"
    return peer.compute_heterogeneous_rdp(rates, sigmas, steps, at), source


def spent(peer, ask, at, rdp):
    """(ε or δ, its order, the expression that has it)"""
    of_epsilon = ask["ask"] == "epsilon"
    name, given = ("target_delta", "delta_float") if of_epsilon else ("target_eps", "epsilon_float")
    epsilon, delta, best = peer.get_privacy_spent(at, rdp, **{name: ask[given]})
    source = f"peer.get_privacy_spent(orders, rdp, {name}={ask[given]!r})"
    return epsilon if of_epsilon else delta, best, source


ANSWER = line.by_module(PLACE, NEEDED, FUNCTIONS, spent, taken, summed)


def hello():
    """Lists what the module offers; loads it, so that no answer is slow for that."""
    line.module_at(PLACE, NEEDED)
    kinds = [
        ("Gaussian", "poisson", "add_remove"),
        ("Gaussian", "none", "add_remove"),
        ("Gaussian", "without_replacement", "replace_one"),
    ]
    asks = ["rdp", "epsilon", "delta"]
    grid = {"default_orders": line.DEFAULT_ORDERS, "order_grid": True}
    return line.hello_of("tensorflow-privacy", kinds, asks, how=HOW, **grid)


if __name__ == "__main__":
    line.speak(
        ("tensorflow-privacy", hello, lambda ask: {**ANSWER(ask), **line.claimed(ask)}),
    )
