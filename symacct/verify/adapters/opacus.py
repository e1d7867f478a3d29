# /// script
# requires-python = ">=3.9"
# dependencies = ["opacus", "numpy", "scipy"]
#
# [tool.symacct]
# no-deps = true
# ///
"""Opacus: its RDP analysis, loaded by itself without PyTorch; speaks docs/protocol.md."""

from __future__ import annotations

import importlib.metadata
import json
import runpy
import sys
import time
import types
import warnings
from pathlib import Path

ANSWERS = sys.stdout
sys.stdout = sys.stderr  # whatever the peer prints is not an answer
PLACE = "opacus/accountants/analysis/rdp.py"
# The default of opacus.accountants.RDPAccountant, which cannot be imported without PyTorch.
DEFAULT_ORDERS = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))
MOST_REPEATS = 2000
HOW = {
    "count": ["number", "repeat", "split"],
    "sequence": ["given", "reversed"],
    "numbers": ["float", "int", "numpy.float64", "numpy.int64"],
    "alpha": ["float", "int", "numpy.float64", "numpy.int64", "list", "array", "int_array"],
    "after": ["fresh", "asked", "twice"],
}


class Unsupported(Exception):
    """What the peer does not offer."""


def load():
    """The peer's module, from its file."""
    places = [Path(path) / PLACE for path in sys.path]
    place = next((path for path in places if path.exists()), None)
    if place is None:
        raise ImportError(f"no {PLACE} on sys.path: opacus is not installed")
    return types.SimpleNamespace(**runpy.run_path(str(place)))


def loading():
    """The lines that load it, for whoever reproduces a value."""
    found = f"next(str(p) for s in sys.path if (p := Path(s) / {PLACE!r}).exists())"
    return [
        "import runpy, sys, types; from pathlib import Path; import numpy as np",
        f"peer = types.SimpleNamespace(**runpy.run_path({found}))",
    ]


def number(part, name, how):
    """A parameter in the type asked for; whole types only where it is whole."""
    import numpy as np

    x = part[name + "_float"]
    kind = how.get("numbers", "float")
    if kind == "numpy.float64":
        return np.float64(x)
    if kind in ("int", "numpy.int64") and x.is_integer():
        return int(x) if kind == "int" else np.int64(x)
    return x


def orders(ask):
    """(the orders as they are passed, the place of the one asked for; None for a scalar)"""
    import numpy as np

    x, way = ask["alpha_float"], ask["how"].get("alpha", "float")
    if way == "list":
        return [(1 + x) / 2, x, 2 * x], 1
    if way == "array":
        return np.array([(1 + x) / 2, x, 2 * x]), 1
    if way == "int_array":
        return np.array([int(x), 2 * int(x)]), 0
    one = {"int": int, "numpy.float64": np.float64, "numpy.int64": np.int64}.get(way, float)
    return one(x), None


def steps_of(ask):
    """[(q, sigma, steps)]: what is given to compute_rdp, call by call."""
    how, parts = ask["how"], ask["parts"]
    if how.get("sequence") == "reversed":
        parts = parts[::-1]
    given = []
    for part in parts:
        if part["mechanism"] != "Gaussian" or part["sampling"] == "without_replacement":
            raise Unsupported(f"{part['mechanism']}, sampling {part['sampling']}")
        q = 1.0 if part["sampling"] == "none" else number(part, "gamma", how)
        given += [(q, number(part, "sigma", how), n) for n in counts(part["count"], how)]
    return given


def counts(count, how):
    """The count as it is asked for."""
    way = how.get("count", "number")
    if way == "repeat":
        if count > MOST_REPEATS:
            raise Unsupported(f"more than {MOST_REPEATS} repetitions one by one")
        return [1] * count
    if way == "split":
        return [n for n in (count // 2, count - count // 2) if n]
    return [count]


def total_rdp(peer, given, at):
    """The sum of the peer's values over the calls."""
    return sum(peer.compute_rdp(q=q, noise_multiplier=s, steps=n, orders=at) for q, s, n in given)


def answer(peer, ask):
    """The answer's fields."""
    given, way = steps_of(ask), ask["how"].get("after")
    at, place = (ask.get("orders_float", DEFAULT_ORDERS), None)
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
    import numpy as np

    shown = f"np.array({at.tolist()!r})" if isinstance(at, np.ndarray) else repr(at)
    if at is DEFAULT_ORDERS:
        shown = "[1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))"
    lines = [*loading(), f"orders = {shown}"]
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
    """Who computes, and what may be asked."""
    asks = ["rdp", "epsilon"]
    return {
        "peer": "opacus",
        "version": importlib.metadata.version("opacus"),
        "supports": [
            {"mechanism": "Gaussian", "sampling": sampling, "adjacency": "add_remove", "asks": asks}
            for sampling in ("poisson", "none")
        ],
        "compose": True,
        "conversion": "improved",
        "default_orders": DEFAULT_ORDERS,
        "order_grid": True,
        "how": HOW,
    }


def read(line):
    """(its id, the ask) of a line, whatever stands on it; (None, nothing) if it is no ask."""
    try:
        ask = json.loads(line)
    except (ValueError, RecursionError):
        return None, {}
    given = ask.get("id") if isinstance(ask, dict) else None
    return (given, ask) if isinstance(given, int) else (None, {})


def respond(peer, ask):
    """One line of the protocol, whatever happens in the peer."""
    try:
        if "ask" not in ask:
            raise ValueError("the line is no ask")
        return hello() if ask["ask"] == "hello" else answer(peer, ask)
    except Unsupported as what:
        return {"unsupported": str(what)}
    except Exception as error:  # what the peer raises is what is looked for
        return {"error": f"{type(error).__name__}: {error}"[:600]}


def main():
    """Answer line by line; without the peer, with the reason."""
    warnings.simplefilter("ignore")
    try:
        peer, missing = load(), None
    except ImportError as error:
        peer, missing = None, str(error)
    for line in sys.stdin.buffer:
        number, ask = read(line)
        fields = {"error": missing} if missing else respond(peer, ask)
        print(json.dumps({"id": number, **fields}), file=ANSWERS, flush=True)


if __name__ == "__main__":
    main()
