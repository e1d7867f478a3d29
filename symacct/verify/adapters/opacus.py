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
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
from line_protocol import (
    DEFAULT_ORDERS,
    NUMBERS,
    ORDERS,
    Unsupported,
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

PLACE = "opacus/accountants/analysis/rdp.py"
MOST_REPEATS = 2000
HOW = {
    "count": ["number", "repeat", "split"],
    "sequence": ["given", "reversed"],
    "numbers": NUMBERS,
    "alpha": ORDERS,
    "after": ["fresh", "asked", "twice"],
}


def steps_of(ask):
    """[(q, sigma, steps)]: what is given to compute_rdp, call by call."""
    how, given = ask["how"], []
    for part in parts_of(ask):
        if part["mechanism"] != "Gaussian" or part["sampling"] == "without_replacement":
            raise Unsupported(f"{part['mechanism']}, sampling {part['sampling']}")
        q = 1.0 if part["sampling"] == "none" else number(part, "gamma", how)
        sigma = number(part, "sigma", how)
        given += [(q, sigma, n) for n in counts(part["count"], how, MOST_REPEATS)]
    return given


def total_rdp(peer, given, at):
    """The sum of the peer's values over the calls."""
    return sum(peer.compute_rdp(q=q, noise_multiplier=s, steps=n, orders=at) for q, s, n in given)


def answer(ask):
    """The answer's fields."""
    peer = module_at(PLACE, "opacus")
    given, way = steps_of(ask), ask["how"].get("after")
    at, place = ask.get("orders_float", DEFAULT_ORDERS), None
    if ask["ask"] == "rdp":
        at, place = orders(ask)
    if way == "asked":
        total_rdp(peer, given, 3.5)
    if way == "twice":
        total_rdp(peer, given, at)
    begun = time.perf_counter()
    rdp = total_rdp(peer, given, at)
    extra: dict = {}
    if ask["ask"] == "rdp":
        value = rdp if place is None else rdp[place]
    else:
        value, best = peer.get_privacy_spent(orders=at, rdp=rdp, delta=ask["delta_float"])
        extra["alpha"] = repr(float(best))
    extra["seconds"] = time.perf_counter() - begun
    return {"value": repr(float(value)), "reproduce": reproduce(ask, given, at, place), **extra}


def reproduce(ask, given, at, place):
    """Lines that print the value in the peer alone."""
    lines = [*loading(PLACE), f"orders = {shown_orders(at)}"]
    called = [
        f"peer.compute_rdp(q={q!r}, noise_multiplier={s!r}, steps={n!r}, orders=orders)"
        for q, s, n in given
    ]
    lines.append(f"rdp = {' + '.join(called)}")
    if ask["ask"] == "rdp":
        return [*lines, "print(rdp)" if place is None else f"print(rdp[{place}])"]
    spent = f"peer.get_privacy_spent(orders=orders, rdp=rdp, delta={ask['delta_float']!r})"
    return [*lines, f"print({spent})"]


def hello():
    """Who computes, and what may be asked; loads the peer, so that no answer is slow for that."""
    module_at(PLACE, "opacus")
    kinds = [("Gaussian", sampling, "add_remove") for sampling in ("poisson", "none")]
    asks = ["rdp", "epsilon"]
    return hello_of("opacus", kinds, asks, default_orders=DEFAULT_ORDERS, order_grid=True, how=HOW)


if __name__ == "__main__":
    speak(hello, answer)
