# /// script
# requires-python = ">=3.9"
# dependencies = ["dp-accounting"]
# ///
"""The PLDAccountant of dp-accounting, pessimistic by default; events as in dp_accounting.py."""

from __future__ import annotations

import runpy
import sys
import time
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

events = types.SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("dp_accounting.py"))))
IMPORTS = [*events.IMPORTS[:3], "from dp_accounting.pld import PLDAccountant"]
HOW = {key: ways for key, ways in events.HOW.items() if key != "alpha"}


def answer(ask):
    """The answer's fields."""
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.privacy_accountant import NeighboringRelation

    if ask["ask"] == "rdp":
        raise line.Unsupported("no RDP: ε and δ of the privacy loss itself")
    relation, way = events.RELATIONS[ask["adjacency"]], ask["how"].get("after")
    given = events.calls(ask)
    accountant = PLDAccountant(NeighboringRelation[relation])
    if way == "asked":
        accountant.supports(given[0][0])
    begun = time.perf_counter()
    for event, count in given:
        accountant.compose(event, count)
    question = f"get_{ask['ask']}"
    at = ask["delta_float" if ask["ask"] == "epsilon" else "epsilon_float"]
    for _ in range(2 if way == "twice" else 1):
        value = getattr(accountant, question)(at)
    lines = [*IMPORTS, f"a = PLDAccountant(NeighboringRelation.{relation})"]
    lines += [f"a.compose({event!r}, {count})" for event, count in given]
    return {
        "value": repr(float(value)),
        "reproduce": [*lines, f"print(a.{question}({at!r}))"],
        "seconds": time.perf_counter() - begun,
    }


def hello():
    """Who computes, and what may be asked; imports the peer, so that no answer is slow for that."""
    import dp_accounting.pld  # noqa: F401

    kinds = [("Gaussian", s, a) for s in ("none", "poisson") for a in events.RELATIONS]
    kinds += [("Laplace", sampling, "add_remove") for sampling in ("none", "poisson")]
    kinds += [("RandomizedResponse", "none", "replace_one")]
    asks = ["epsilon", "delta"]
    peer = "dp-accounting (PLDAccountant)"
    return line.hello_of("dp-accounting", kinds, asks, peer=peer, how=HOW, conversion="none")


if __name__ == "__main__":
    line.speak(hello, events.or_unsupported(answer))
