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
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
from line_protocol import (
    DEFAULT_ORDERS,
    NUMBERS,
    ORDERS,
    Unsupported,
    claimed,
    counts,
    hello_of,
    loading,
    module_at,
    number,
    orders,
    parts_of,
    shown_orders,
    speak,
)

PLACE = "tensorflow_privacy/privacy/analysis/rdp_accountant.py"
NEEDED = "tensorflow-privacy, at most 0.8.0"
MOST_REPEATS = 2000
HOW = {
    "count": ["number", "repeat", "split"],
    "sequence": ["given", "reversed"],
    "nesting": ["flat", "calls"],
    "numbers": NUMBERS,
    "alpha": ORDERS,
    "after": ["fresh", "asked", "twice"],
}


def order_or_orders(ask):
    """Sampling without replacement takes no whole order that is a float: its lists hold ints."""
    at, place = orders(ask)
    if without_replacement(ask) and type(at) is float and at.is_integer():
        at = int(at)
    return at, place


def without_replacement(ask):
    """Is any part sampled so?"""
    return any(part["sampling"] == "without_replacement" for part in ask["parts"])


def calls(ask):
    """[(function, q, sigma, steps)]"""
    how, given = ask["how"], []
    for part in parts_of(ask):
        if part["mechanism"] != "Gaussian":
            raise Unsupported(part["mechanism"])
        name = "compute_rdp"
        if part["sampling"] == "without_replacement":
            name = "compute_rdp_sample_without_replacement"
        q = 1.0 if part["sampling"] == "none" else number(part, "gamma", how)
        sigma = number(part, "sigma", how)
        given += [(name, q, sigma, n) for n in counts(part["count"], how, MOST_REPEATS)]
    return given


def total_rdp(peer, ask, given, at):
    """(the RDP, its source); several parts at once where the peer has a function for that"""
    together = ask["how"].get("nesting", "flat") == "flat" and len(ask["parts"]) > 1
    if together and not without_replacement(ask):
        rates, sigmas, steps = ([call[i] for call in given] for i in (1, 2, 3))
        source = f"peer.compute_heterogeneous_rdp({rates!r}, {sigmas!r}, {steps!r}, orders)"
        return peer.compute_heterogeneous_rdp(rates, sigmas, steps, at), source
    source = " + ".join(f"peer.{f}({q!r}, {s!r}, {n!r}, orders)" for f, q, s, n in given)
    return sum(getattr(peer, f)(q, s, n, at) for f, q, s, n in given), source


def answer(ask):
    """The answer's fields."""
    peer = module_at(PLACE, NEEDED)
    given, way = calls(ask), ask["how"].get("after")
    at, place = ask.get("orders_float", DEFAULT_ORDERS), None
    if without_replacement(ask):
        at = [int(order) if float(order).is_integer() else order for order in at]
    if ask["ask"] == "rdp":
        at, place = order_or_orders(ask)
    if way in ("asked", "twice"):
        total_rdp(peer, ask, given, at if way == "twice" else 3.5)
    begun = time.perf_counter()
    rdp, source = total_rdp(peer, ask, given, at)
    extra: dict = {}
    if ask["ask"] == "rdp":
        value, question = (rdp, "rdp") if place is None else (rdp[place], f"rdp[{place}]")
    else:
        target = {"epsilon": "delta", "delta": "epsilon"}[ask["ask"]]
        named = {"target_delta" if target == "delta" else "target_eps": ask[target + "_float"]}
        spent = peer.get_privacy_spent(at, rdp, **named)
        value = spent[0 if ask["ask"] == "epsilon" else 1]
        extra["alpha"] = repr(float(spent[2]))
        shown = ", ".join(f"{key}={x!r}" for key, x in named.items())
        question = f"peer.get_privacy_spent(orders, rdp, {shown})"
    extra["seconds"] = time.perf_counter() - begun
    lines = [
        *loading(PLACE),
        f"orders = {shown_orders(at)}",
        f"rdp = {source}",
        f"print({question})",
    ]
    return {"value": repr(float(value)), "reproduce": lines, **claimed(ask), **extra}


def hello():
    """Who computes, and what may be asked; loads the peer, so that no answer is slow for that."""
    module_at(PLACE, NEEDED)
    kinds = [
        ("Gaussian", "poisson", "add_remove"),
        ("Gaussian", "none", "add_remove"),
        ("Gaussian", "without_replacement", "replace_one"),
    ]
    asks = ["rdp", "epsilon", "delta"]
    grid = {"default_orders": DEFAULT_ORDERS, "order_grid": True}
    return hello_of("tensorflow-privacy", kinds, asks, how=HOW, **grid)


if __name__ == "__main__":
    speak(hello, answer)
