# /// script
# requires-python = ">=3.9"
# dependencies = ["prv-accountant"]
# ///
"""Microsoft's prv-accountant: the RDP of its privacy random variables, and the ε that its RDP class
draws from them; speaks docs/protocol.md.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
import warnings

ANSWERS = sys.stdout
sys.stdout = sys.stderr  # whatever the peer prints is not an answer
IMPORTS = [
    "import numpy as np",
    "from prv_accountant.privacy_random_variables import *",
    "from prv_accountant.other_accountants import RDP",
]
# The default of prv_accountant.other_accountants.RDP.
DEFAULT_ORDERS = [1.0 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))
MOST_REPEATS = 200
HOW = {
    "count": ["number", "repeat", "split"],
    "sequence": ["given", "reversed"],
    "numbers": ["float", "int", "numpy.float64", "numpy.int64"],
    "alpha": ["float", "int", "numpy.float64", "numpy.int64", "list"],
    "sharing": ["copied", "shared"],
    "after": ["fresh", "asked", "twice"],
}


class Unsupported(Exception):
    """What the peer does not offer."""


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


def build(part, how):
    """(the privacy random variable, its source)"""
    import prv_accountant.privacy_random_variables as prvs

    kind = part["mechanism"]
    if part["sampling"] == "poisson" and kind == "Gaussian":
        values = {"sampling_probability": number(part, "gamma", how)}
        values["noise_multiplier"] = number(part, "sigma", how)
        name = "PoissonSubsampledGaussianMechanism"
    elif part["sampling"] != "none":
        raise Unsupported(f"{kind}, sampling {part['sampling']}")
    elif kind == "Gaussian":
        name, values = "GaussianMechanism", {"noise_multiplier": number(part, "sigma", how)}
    elif kind == "Laplace":
        b = number(part, "b", how)
        name, values = "LaplaceMechanism", {"mu": 1 / b}
    elif kind == "PureDP":
        name, values = "PureDPMechanism", {"eps": number(part, "epsilon", how)}
    else:
        raise Unsupported(kind)
    shown = ", ".join(f"{key}={value!r}" for key, value in values.items())
    return getattr(prvs, name)(**values), f"{name}({shown})"


def runs(ask):
    """[(privacy random variable, its source, how many times)]"""
    how, found = ask["how"], []
    parts = ask["parts"][::-1] if how.get("sequence") == "reversed" else ask["parts"]
    for part in parts:
        counts = counted(part["count"], how)
        first = build(part, how)
        for n in counts:
            found.append((*(first if how.get("sharing") == "shared" else build(part, how)), n))
    return found


def counted(count, how):
    """The count as it is asked for."""
    way = how.get("count", "number")
    if way == "repeat" or "sharing" in how:
        if count > MOST_REPEATS:
            raise Unsupported(f"more than {MOST_REPEATS} repetitions one by one")
        return [1] * count
    if way == "split":
        return [n for n in (count // 2, count - count // 2) if n]
    return [count]


def order(ask):
    """The order in the type asked for."""
    import numpy as np

    kinds = {"int": int, "numpy.float64": np.float64, "numpy.int64": np.int64}
    return kinds.get(ask["how"].get("alpha"), float)(ask["alpha_float"])


def rdp(ask, found):
    """(value, the expression that has it)"""
    import numpy as np

    alpha, way = order(ask), ask["how"].get("after")
    if way in ("asked", "twice"):
        for prv, _, _ in found:
            prv.rdp(alpha if way == "twice" else 3.5)
    if ask["how"].get("alpha") == "list":
        from prv_accountant.other_accountants import RDP

        named = [(1 + alpha) / 2, alpha, 2 * alpha]
        table = RDP([prv for prv, _, _ in found], orders=named)
        sources = ", ".join(source for _, source, _ in found)
        counts = [n for _, _, n in found]
        shown = f"np.dot({counts}, [r[1] for r in RDP([{sources}], orders={named}).rdps])"
        return np.dot(counts, [values[1] for values in table.rdps]), shown
    shown = " + ".join(f"{n} * {source}.rdp({alpha!r})" for _, source, n in found)
    return sum(n * prv.rdp(alpha) for prv, _, n in found), shown


def answer(ask):
    """The answer's fields."""
    from prv_accountant.other_accountants import RDP

    found = runs(ask)
    begun = time.perf_counter()
    if ask["ask"] == "rdp":
        value, shown = rdp(ask, found)
    else:
        delta, counts = ask["delta_float"], [n for _, _, n in found]
        named = ask.get("orders_float")
        accountant = RDP([prv for prv, _, _ in found], orders=named)
        for _ in range(2 if ask["how"].get("after") == "twice" else 1):
            value = accountant.compute_epsilon(delta, counts)[2]
        sources = ", ".join(source for _, source, _ in found)
        grid = "" if named is None else f", orders={named!r}"
        shown = f"RDP([{sources}]{grid}).compute_epsilon({delta!r}, {counts!r})"
    seconds = time.perf_counter() - begun
    reproduce = [*IMPORTS, f"print({shown})"]
    return {"value": repr(float(value)), "seconds": seconds, "reproduce": reproduce}


def hello():
    """Who computes, and what may be asked; imports the peer, so that no answer is slow for that."""
    import prv_accountant.other_accountants  # noqa: F401

    asks = ["rdp", "epsilon"]
    kinds = [("Gaussian", "poisson"), ("Gaussian", "none"), ("Laplace", "none"), ("PureDP", "none")]
    return {
        "peer": "prv-accountant",
        "version": importlib.metadata.version("prv-accountant"),
        "supports": [
            {"mechanism": kind, "sampling": sampling, "adjacency": "add_remove", "asks": asks}
            for kind, sampling in kinds
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


def respond(ask):
    """One line of the protocol, whatever happens in the peer."""
    try:
        if "ask" not in ask:
            raise ValueError("the line is no ask")
        return hello() if ask["ask"] == "hello" else answer(ask)
    except Unsupported as what:
        return {"unsupported": str(what)}
    except Exception as error:  # what the peer raises is what is looked for
        return {"error": f"{type(error).__name__}: {error}"[:600]}


def main():
    """Answer line by line."""
    warnings.simplefilter("ignore")
    for line in sys.stdin.buffer:
        number, ask = read(line)
        print(json.dumps({"id": number, **respond(ask)}), file=ANSWERS, flush=True)


if __name__ == "__main__":
    main()
