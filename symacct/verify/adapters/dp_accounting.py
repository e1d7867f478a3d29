# /// script
# requires-python = ">=3.9"
# dependencies = ["dp-accounting"]
# ///
"""Google's dp-accounting: its RdpAccountant over trees of DpEvents; speaks docs/protocol.md.

The noise multiplier of an event is the noise over the sensitivity under the relation asked for,
as the accountant's own functions define it.
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
    "from dp_accounting.dp_event import *",
    "from dp_accounting.privacy_accountant import NeighboringRelation",
    "from dp_accounting.rdp import RdpAccountant",
]
RELATIONS = {"add_remove": "ADD_OR_REMOVE_ONE", "replace_one": "REPLACE_ONE"}
HOW = {
    "count": ["number", "repeat", "nested", "split"],
    "sequence": ["given", "reversed"],
    "nesting": ["flat", "left", "right", "calls"],
    "numbers": ["float", "int", "numpy.float64", "numpy.int64"],
    "alpha": ["float", "int", "numpy.float64", "numpy.int64", "list", "array", "int_array"],
    "sharing": ["copied", "shared"],
    "after": ["fresh", "asked", "twice"],
}
MOST_REPEATS = 2000


class Unsupported(Exception):
    """What the peer does not offer."""


# --- events


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


def base_event(part, how):
    """The mechanism itself, before sampling."""
    from dp_accounting import dp_event as e

    kind = part["mechanism"]
    if kind == "Gaussian":
        return gaussian(part, how)
    if kind == "Laplace":
        return e.LaplaceDpEvent(number(part, "b", how))
    if kind == "ZCDP":
        return e.ZCDpEvent(number(part, "rho", how), number(part, "xi", how))
    if kind == "RandomizedResponse":
        # It keeps its input with probability 1 − noise, else takes one of two at random.
        return e.RandomizedResponseDpEvent(2 * (1 - part["p_float"]), 2)
    raise Unsupported(kind)


def gaussian(part, how):
    """Noise σ; where its type is asked about, inside a sample, the same as four of noise 2σ.

    A sampled composition is where the accountant looks at the type of a multiplier.
    """
    from dp_accounting import dp_event as e

    sigma = number(part, "sigma", how)
    if part["sampling"] == "none" or "numbers" not in how:
        return e.GaussianDpEvent(sigma)
    return e.SelfComposedDpEvent(e.GaussianDpEvent(2 * sigma), 4)


def run(part, how):
    """One run of a part."""
    from dp_accounting import dp_event as e

    event = base_event(part, how)
    if part["sampling"] == "poisson":
        return e.PoissonSampledDpEvent(number(part, "gamma", how), event)
    if part["sampling"] == "without_replacement":
        return e.SampledWithoutReplacementDpEvent(part["dataset_size"], part["sample_size"], event)
    return event


def counted(part, how):
    """A part with its count, as one event."""
    from dp_accounting import dp_event as e

    event, count, way = run(part, how), part["count"], how.get("count", "number")
    if count == 1:
        return event
    if "sharing" in how or way == "repeat":
        if count > MOST_REPEATS:
            raise Unsupported(f"more than {MOST_REPEATS} repetitions one by one")
        if how.get("sharing") == "shared":
            return e.ComposedDpEvent([event] * count)
        return e.ComposedDpEvent([run(part, how) for _ in range(count)])
    if way == "nested":
        inner = next(d for d in (2, 3, 5, 7, 1) if count % d == 0)
        return e.SelfComposedDpEvent(e.SelfComposedDpEvent(event, inner), count // inner)
    return e.SelfComposedDpEvent(event, count)


def calls(ask):
    """[(event, count)]: what is given to compose(), call by call."""
    from dp_accounting import dp_event as e

    how, parts = ask["how"], ask["parts"]
    if how.get("sequence") == "reversed":
        parts = parts[::-1]
    way = how.get("nesting", "flat")
    if how.get("count") == "split":
        halves = [(run(p, how), n) for p in parts for n in (p["count"] // 2, -(-p["count"] // 2))]
        return [(event, n) for event, n in halves if n]
    if len(parts) == 1 and not {"count", "sharing"} & set(how):
        return [(run(parts[0], how), parts[0]["count"])]
    events = [counted(part, how) for part in parts]
    if way == "calls" or len(events) == 1:
        return [(event, 1) for event in events]
    if way == "left":
        first, *rest = events
        for event in rest:
            first = e.ComposedDpEvent([first, event])
        return [(first, 1)]
    if way == "right":
        *rest, last = events
        for event in reversed(rest):
            last = e.ComposedDpEvent([event, last])
        return [(last, 1)]
    return [(e.ComposedDpEvent(events), 1)]


# --- questions


def orders(ask):
    """(the orders as they are passed, the place of the one asked for)"""
    import numpy as np

    x, way = ask["alpha_float"], ask["how"].get("alpha", "float")
    if way == "int":
        return [int(x)], 0
    if way == "numpy.float64":
        return [np.float64(x)], 0
    if way == "numpy.int64":
        return [np.int64(x)], 0
    if way == "list":
        return [(1 + x) / 2, x, 2 * x], 1
    if way == "array":
        return np.array([(1 + x) / 2, x, 2 * x]), 1
    if way == "int_array":
        return np.array([int(x), 2 * int(x)]), 0
    return [x], 0


def answer(ask):
    """The answer's fields."""
    from dp_accounting.privacy_accountant import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    how = ask["how"]
    relation = RELATIONS[ask["adjacency"]]
    given = calls(ask)
    place, named = 0, ask.get("orders_float")
    if ask["ask"] == "rdp":
        named, place = orders(ask)
    accountant = RdpAccountant(named, NeighboringRelation[relation])
    if how.get("after") == "asked":
        accountant.supports(given[0][0])
        accountant.get_epsilon(1e-3), accountant.get_delta(1.0), accountant.rdp
    begun = time.perf_counter()
    for event, count in given:
        accountant.compose(event, count)
    extra: dict = {}
    question = f"a.rdp[{place}]"
    if ask["ask"] == "rdp":
        value = accountant.rdp[place]
        if how.get("after") == "twice":
            value = accountant.rdp[place]
    else:
        asked = "delta" if ask["ask"] == "epsilon" else "epsilon"
        target = ask[asked + "_float"]
        if how.get("after") == "twice":
            getattr(accountant, "get_" + ask["ask"])(target)
        value, best = getattr(accountant, f"get_{ask['ask']}_and_optimal_order")(target)
        question = f"a.get_{ask['ask']}({target!r})"
        extra["alpha"] = repr(float(best))
    extra["seconds"] = time.perf_counter() - begun
    shown = "" if named is None else shown_orders(named)
    lines = [*IMPORTS, f"a = RdpAccountant({shown}, NeighboringRelation.{relation})"]
    if named is None:
        lines[-1] = f"a = RdpAccountant(neighboring_relation=NeighboringRelation.{relation})"
    lines += [f"a.compose({event!r}, {count})" for event, count in given]
    return {
        "value": repr(float(value)),
        "reproduce": [*lines, f"print({question})"],
        **claimed(ask),
        **extra,
    }


def shown_orders(named):
    """The orders as source."""
    import numpy as np

    return f"np.array({named.tolist()!r})" if isinstance(named, np.ndarray) else repr(named)


def claimed(ask):
    """The theorem its documentation names: WBK19's Theorem 27 up to order 256."""
    wor = all(part["sampling"] == "without_replacement" for part in ask["parts"])
    alpha = ask.get("alpha_float")
    if not wor or alpha is None or not float(alpha).is_integer():
        return {}
    return {"claims": "WBK19-T27" if alpha <= 256 else "WBK19-T9"}


def hello():
    """Who computes, and what may be asked; imports the peer, so that no answer is slow for that."""
    from dp_accounting.rdp import rdp_privacy_accountant

    both = {"orders": "real", "asks": ["rdp", "epsilon", "delta"]}
    rows = [{"mechanism": "Gaussian", "sampling": "poisson", "adjacency": "add_remove"}]
    rows.append(
        {"mechanism": "Gaussian", "sampling": "without_replacement", "adjacency": "replace_one"}
    )
    rows.append({"mechanism": "RandomizedResponse", "adjacency": "replace_one"})
    for mechanism in ("Gaussian", "Laplace", "ZCDP"):
        rows += [{"mechanism": mechanism, "adjacency": adjacency} for adjacency in RELATIONS]
    return {
        "peer": "dp-accounting",
        "version": importlib.metadata.version("dp-accounting"),
        "supports": [{**row, **both} for row in rows],
        "compose": True,
        "conversion": "improved",
        "default_orders": [float(order) for order in rdp_privacy_accountant.DEFAULT_RDP_ORDERS],
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
        name = type(error).__name__
        if name == "UnsupportedEventError":
            return {"unsupported": str(error)[:300]}
        return {"error": f"{name}: {error}"[:600]}


def main():
    """Answer line by line."""
    warnings.simplefilter("ignore")
    for line in sys.stdin.buffer:
        number, ask = read(line)
        print(json.dumps({"id": number, **respond(ask)}), file=ANSWERS, flush=True)


if __name__ == "__main__":
    main()
