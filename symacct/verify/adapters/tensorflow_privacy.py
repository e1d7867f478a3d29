# /// script
# requires-python = ">=3.9"
# dependencies = ["tensorflow-privacy==0.8.0", "numpy", "scipy"]
#
# [tool.symacct]
# no-deps = true
# ///
"""TensorFlow Privacy: its last rdp_accountant (0.8.0), loaded by itself without TensorFlow; speaks
docs/protocol.md. Later versions hand over to dp-accounting.
"""

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
PLACE = "tensorflow_privacy/privacy/analysis/rdp_accountant.py"
# The orders of its compute_dp_sgd_privacy.
DEFAULT_ORDERS = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))
MOST_REPEATS = 2000
HOW = {
    "count": ["number", "repeat", "split"],
    "sequence": ["given", "reversed"],
    "nesting": ["flat", "calls"],
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
        raise ImportError(f"no {PLACE} on sys.path: needed tensorflow-privacy, at most 0.8.0")
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
    if way in ("numpy.float64", "numpy.int64"):
        return (np.float64 if way == "numpy.float64" else np.int64)(x), None
    # Sampling without replacement takes no whole order that is a float: its lists hold ints.
    whole = way == "int" or (x.is_integer() and without_replacement(ask))
    return int(x) if whole else x, None


def without_replacement(ask):
    """Is any part sampled so?"""
    return any(part["sampling"] == "without_replacement" for part in ask["parts"])


def calls(ask):
    """[(function, q, sigma, steps)]"""
    how, given = ask["how"], []
    parts = ask["parts"][::-1] if how.get("sequence") == "reversed" else ask["parts"]
    for part in parts:
        if part["mechanism"] != "Gaussian":
            raise Unsupported(part["mechanism"])
        name = "compute_rdp"
        if part["sampling"] == "without_replacement":
            name = "compute_rdp_sample_without_replacement"
        q = 1.0 if part["sampling"] == "none" else number(part, "gamma", how)
        sigma = number(part, "sigma", how)
        given += [(name, q, sigma, n) for n in counts(part["count"], how)]
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


def total_rdp(peer, ask, given, at):
    """(the RDP, its source); several parts at once where the peer has a function for that"""
    together = ask["how"].get("nesting", "flat") == "flat" and len(ask["parts"]) > 1
    if together and not without_replacement(ask):
        rates, sigmas, steps = ([call[i] for call in given] for i in (1, 2, 3))
        source = f"peer.compute_heterogeneous_rdp({rates!r}, {sigmas!r}, {steps!r}, orders)"
        return peer.compute_heterogeneous_rdp(rates, sigmas, steps, at), source
    source = " + ".join(f"peer.{f}({q!r}, {s!r}, {n!r}, orders)" for f, q, s, n in given)
    return sum(getattr(peer, f)(q, s, n, at) for f, q, s, n in given), source


def answer(peer, ask):
    """The answer's fields."""
    given, way = calls(ask), ask["how"].get("after")
    at, place = ask.get("orders_float"), None
    if at is None:
        at = DEFAULT_ORDERS
    if without_replacement(ask):
        at = [int(order) if float(order).is_integer() else order for order in at]
    if ask["ask"] == "rdp":
        at, place = orders(ask)
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
    lines = [*loading(), f"orders = {shown_orders(at)}", f"rdp = {source}", f"print({question})"]
    return {"value": repr(float(value)), "reproduce": lines, **claimed(ask), **extra}


def shown_orders(at):
    """The orders as source."""
    import numpy as np

    if at is DEFAULT_ORDERS:
        return "[1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))"
    return f"np.array({at.tolist()!r})" if isinstance(at, np.ndarray) else repr(at)


def claimed(ask):
    """The theorem its documentation names: WBK19's Theorem 27 up to order 256."""
    wor = all(part["sampling"] == "without_replacement" for part in ask["parts"])
    alpha = ask.get("alpha_float")
    if not wor or alpha is None or not float(alpha).is_integer():
        return {}
    return {"claims": "WBK19-T27" if alpha <= 256 else "WBK19-T9"}


def hello():
    """Who computes, and what may be asked."""
    rows = [
        ("poisson", "add_remove"),
        ("none", "add_remove"),
        ("without_replacement", "replace_one"),
    ]
    return {
        "peer": "tensorflow-privacy",
        "version": importlib.metadata.version("tensorflow-privacy"),
        "supports": [
            {
                "mechanism": "Gaussian",
                "sampling": sampling,
                "adjacency": adjacency,
                "asks": ["rdp", "epsilon", "delta"],
            }
            for sampling, adjacency in rows
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
