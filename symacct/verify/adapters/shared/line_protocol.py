"""docs/verification.md for the bundled adapters: what an ask names, and the loop of answers."""

from __future__ import annotations

import functools
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
NUMBERS = ["float", "int", "numpy.float64", "numpy.int64", "numpy.float32"]
ORDERS = [*NUMBERS, "list", "array", "int_array"]
# What most peers can be asked in another way; an adapter lists what its own can.
HOW = {
    "count": ["number", "repeat", "split"],
    "sequence": ["given", "reversed"],
    "numbers": NUMBERS,
    "alpha": ORDERS,
    "after": ["fresh", "asked", "twice"],
}
# The default of Opacus, of prv-accountant's RDP and of TensorFlow Privacy's compute_dp_sgd_privacy.
DEFAULT_ORDERS = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))
_DTYPES = ("float64", "int64", "float32")
_MOST_REPEATS = 2000  # of a module's functions one by one: more is unsupported, as it takes long
_DEFAULT_ORDERS = "[1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))"


class Unsupported(Exception):
    """What the peer does not offer, answered as such: never a finding."""


# --- what an ask names


def the_part(ask, asks):
    """The one part of a question of these kinds; Unsupported for another kind."""
    if ask["ask"] not in asks:
        raise Unsupported(f"{ask['ask']}: only {', '.join(asks)}")
    (part,) = ask["parts"]
    return part


def parts_of(ask):
    """The parts in the sequence asked for."""
    return ask["parts"][::-1] if ask["how"].get("sequence") == "reversed" else ask["parts"]


def number(part, name, how):
    """A parameter in the type asked for, else a float; whole types only where it is whole."""
    x, way = part[name + "_float"], how.get("numbers", "float")
    return x if "int" in way and not x.is_integer() else _typed(x, way)


def order(ask):
    """The order in the type asked for; a float where a list is asked for."""
    return _typed(ask["alpha_float"], ask["how"].get("alpha"))


def orders(ask):
    """Returns (the orders as they are passed, the place of the order asked for or None)."""
    import numpy as np

    x, way = ask["alpha_float"], ask["how"].get("alpha")
    around = [(1 + x) / 2, x, 2 * x]
    if way == "list":
        return around, 1
    if way == "array":
        return np.array(around), 1
    if way == "int_array":
        return np.array([int(x), 2 * int(x)]), 0
    return order(ask), None


def _typed(x, way):
    """The number in a type of Python or NumPy by its name, a float for any other name."""
    import numpy as np

    kinds = {"int": int} | {f"numpy.{name}": getattr(np, name) for name in _DTYPES}
    return kinds.get(way, float)(x)


def counts(count, how, most):
    """Counts that add up to this one: itself, two halves, or ones (Unsupported beyond `most`)."""
    way = how.get("count")
    if way == "repeat" or "sharing" in how:
        if count > most:
            raise Unsupported(f"more than {most} repetitions one by one")
        return [1] * count
    if way == "split":
        return [n for n in (count // 2, count - count // 2) if n]
    return [count]


def nested(count):
    """(inner, outer): two counts of which this one is the product, the inner 2, 3, 5, 7 or 1."""
    inner = next(d for d in (2, 3, 5, 7, 1) if count % d == 0)
    return inner, count // inner


# --- what is answered


def shown_orders(named):
    """Orders as source."""
    import numpy as np

    if named is DEFAULT_ORDERS:
        return _DEFAULT_ORDERS
    return f"np.array({named.tolist()!r})" if isinstance(named, np.ndarray) else repr(named)


def claimed(ask):
    """What dp-accounting's and TensorFlow Privacy's pages name: Theorem 27 up to order 256."""
    fixed_size = all(part["sampling"] == "without_replacement" for part in ask["parts"])
    alpha = ask.get("alpha_float")
    if not fixed_size or alpha is None or not float(alpha).is_integer():
        return {}
    return {"claims": "WBK19-T27" if alpha <= 256 else "WBK19-T9"}


def answered(value, begun, lines, **more):
    """The fields of a value: its digits, the seconds since `begun`, the lines that print it."""
    seconds = time.perf_counter() - begun
    return {"value": repr(float(value)), "seconds": seconds, "reproduce": lines, **more}


def hello_of(distribution, kinds, asks, **more):
    """Builds the hello of an installed package from `kinds`, (mechanism, sampling, adjacency).

    It composes and converts by "improved" unless `more`, its other fields, says otherwise.
    """
    return {
        "peer": distribution,
        "version": importlib.metadata.version(distribution),
        "supports": [
            {"mechanism": mechanism, "sampling": sampling, "adjacency": adjacency, "asks": asks}
            for mechanism, sampling, adjacency in kinds
        ],
        "compose": True,
        "conversion": "improved",
        **more,
    }


# --- a peer's module without the package around it


@functools.lru_cache
def module_at(place, needed):
    """The module at a place below sys.path, run from its file once; ImportError without one."""
    places = [Path(path) / place for path in sys.path]
    file = next((path for path in places if path.exists()), None)
    if file is None:
        raise ImportError(f"no {place} on sys.path: needed {needed}")
    return types.SimpleNamespace(**runpy.run_path(str(file)))


def loading(place):
    """The lines that load it, for whoever reproduces a value."""
    source = f"next(str(p) for s in sys.path if (p := Path(s) / {place!r}).exists())"
    return [
        "import runpy, sys, types; from pathlib import Path; import numpy as np",
        f"peer = types.SimpleNamespace(**runpy.run_path({source}))",
    ]


def by_module(place, needed, functions, spent, taken=lambda ask, at: at, summed=None):
    """Returns answer(ask) of a module with compute_rdp and get_privacy_spent.

    `functions` are those for the samplings; `taken` gives the orders as the module has them;
    `spent(peer, ask, at, rdp)` has (value, order, source), `summed` as `total_rdp` (RDP, source).
    """

    def answer(ask):
        """Computes RDP, or ε or δ by RDP, with the lines that reproduce it."""
        peer, given, way = module_at(place, needed), steps_of(ask, functions), after(ask)
        at, index = ask.get("orders_float", DEFAULT_ORDERS), None
        if ask["ask"] == "rdp":
            at, index = orders(ask)
        at, total = taken(ask, at), summed or total_rdp
        if way in ("asked", "twice"):
            total(peer, ask, given, at if way == "twice" else 3.5)
        begun, extra = time.perf_counter(), {}
        rdp, source = total(peer, ask, given, at)
        if ask["ask"] == "rdp":
            value, item = (rdp, "") if index is None else (rdp[index], f"[{index}]")
            whole = source.replace("orders=orders", f"orders={shown_orders(at)}")
            lines = [f"print(({whole}){item})"]
        else:
            value, best, question = spent(peer, ask, at, rdp)
            extra = {"alpha": repr(float(best))}
            lines = [f"orders = {shown_orders(at)}", f"rdp = {source}", f"print({question})"]
        return answered(value, begun, [*loading(place), *lines], **extra)

    return answer


def after(ask):
    """Which way of `how`'s "after" is asked for, None for a fresh accountant."""
    return ask["how"].get("after")


def steps_of(ask, functions):
    """[(function, q, sigma, steps)]: what is asked of the module, call by call."""
    how, given = ask["how"], []
    for part in parts_of(ask):
        if part["mechanism"] != "Gaussian" or part["sampling"] not in functions:
            raise Unsupported(f"{part['mechanism']}, sampling {part['sampling']}")
        q = 1.0 if part["sampling"] == "none" else number(part, "gamma", how)
        sigma, name = number(part, "sigma", how), functions[part["sampling"]]
        given += [(name, q, sigma, n) for n in counts(part["count"], how, _MOST_REPEATS)]
    return given


def total_rdp(peer, ask, given, at):
    """(the sum of the module's values over the calls, its source)"""
    source = " + ".join(
        f"peer.{name}(q={q!r}, noise_multiplier={s!r}, steps={n!r}, orders=orders)"
        for name, q, s, n in given
    )
    values = (
        getattr(peer, name)(q=q, noise_multiplier=s, steps=n, orders=at) for name, q, s, n in given
    )
    return sum(values), source


# --- line by line


def speak(*peers):
    """Answers line by line as the peer that the command names, or the first.

    Each is a name, a hello() and an answer(ask), which give an answer's fields or raise. Returns
    at the end of the input.
    """
    named = {name: (hello, answer) for name, hello, answer in peers}
    hello, answer = named[sys.argv[1] if len(sys.argv) > 1 else peers[0][0]]
    warnings.simplefilter("ignore")
    for line in sys.stdin.buffer:
        given, ask = _read(line)
        print(json.dumps({"id": given, **_answered(hello, answer, ask)}), file=ANSWERS, flush=True)


def _read(line):
    """(its id, the ask) of a line, whatever stands on it; (None, nothing) if it is no ask."""
    try:
        ask = json.loads(line)
    except (ValueError, RecursionError):
        return None, {}
    given = ask.get("id") if isinstance(ask, dict) else None
    return (given, ask) if isinstance(given, int) else (None, {})


def _answered(hello, answer, ask):
    """The fields of one answer, whatever happens in the peer: what it raises is an error's text."""
    try:
        if "ask" not in ask:
            raise ValueError("the line is no ask")
        return hello() if ask["ask"] == "hello" else answer(ask)
    except Unsupported as what:
        return {"unsupported": str(what)[:300]}
    except Exception as error:  # what the peer raises is what is looked for
        return {"error": f"{type(error).__name__}: {error}"[:600]}
