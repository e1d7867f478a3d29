# /// script
# requires-python = ">=3.9"
# dependencies = ["dp-accounting"]
#
# [tool.symacct]
# peers = ["dp-accounting", "dp-accounting-pld"]
# ///
"""Google's dp-accounting: its RdpAccountant and PLDAccountant over DpEvents.

The noise is over the sensitivity.
"""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

with contextlib.suppress(ImportError):  # the hello says what is missing
    from dp_accounting import dp_event as e

IMPORTS = [
    "import numpy as np",
    "from dp_accounting.dp_event import *",
    "from dp_accounting.privacy_accountant import NeighboringRelation",
    "from dp_accounting.rdp import RdpAccountant",
]
RELATIONS = {"add_remove": "ADD_OR_REMOVE_ONE", "replace_one": "REPLACE_ONE"}
HOW = {
    **line.HOW,
    "count": ["number", "repeat", "nested", "split"],
    "nesting": ["flat", "left", "right", "calls"],
    "sharing": ["copied", "shared"],
}
MOST_REPEATS = 2000  # events composed one by one: more is unsupported, as it takes long


# --- events


def base_event(part, how):
    """Builds the event of the mechanism itself, before sampling."""
    kind = part["mechanism"]
    if kind == "Gaussian":
        return gaussian(part, how)
    if kind == "Laplace":
        return e.LaplaceDpEvent(line.number(part, "b", how))
    if kind == "ZCDP":
        return e.ZCDpEvent(line.number(part, "rho", how), line.number(part, "xi", how))
    if kind == "RandomizedResponse":
        # It keeps its input with probability 1 − noise, else takes one of two at random.
        return e.RandomizedResponseDpEvent(2 * (1 - part["p_float"]), 2)
    raise line.Unsupported(kind)


def gaussian(part, how):
    """Noise σ; in a sample whose types are asked about, four of noise 2σ, which is the same."""
    sigma = line.number(part, "sigma", how)
    if part["sampling"] == "none" or "numbers" not in how:
        return e.GaussianDpEvent(sigma)
    return e.SelfComposedDpEvent(e.GaussianDpEvent(2 * sigma), 4)


def run(part, how):
    """The event of one run of a part, sampled."""
    event = base_event(part, how)
    if part["sampling"] == "poisson":
        return e.PoissonSampledDpEvent(line.number(part, "gamma", how), event)
    if part["sampling"] == "without_replacement":
        return e.SampledWithoutReplacementDpEvent(part["dataset_size"], part["sample_size"], event)
    return event


def counted(part, how):
    """Builds a part with its count as one event."""
    event, count = run(part, how), part["count"]
    if count == 1:
        return event
    if how.get("count") == "nested":
        inner, outer = line.nested(count)
        return e.SelfComposedDpEvent(e.SelfComposedDpEvent(event, inner), outer)
    shares = line.counts(count, how, MOST_REPEATS)
    if len(shares) == 1:
        return e.SelfComposedDpEvent(event, count)
    if how.get("sharing") == "shared":
        return e.ComposedDpEvent([event] * count)
    return e.ComposedDpEvent([run(part, how) for _ in shares])


def calls(ask):
    """Lists (event, count) as they are given to compose(), call by call."""
    how, parts = ask["how"], line.parts_of(ask)
    way = how.get("nesting", "flat")
    if how.get("count") == "split" or (len(parts) == 1 and not {"count", "sharing"} & set(how)):
        return [(run(p, how), n) for p in parts for n in line.counts(p["count"], how, MOST_REPEATS)]
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


def answer(ask):
    """Computes RDP, ε or δ of the RdpAccountant, with the lines that reproduce it."""
    from dp_accounting.privacy_accountant import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    how = ask["how"]
    relation = RELATIONS[ask["adjacency"]]
    given = calls(ask)
    place, named = 0, ask.get("orders_float")
    if ask["ask"] == "rdp":
        named, place = line.orders(ask)
        named, place = ([named], 0) if place is None else (named, place)
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
        at = "delta" if ask["ask"] == "epsilon" else "epsilon"
        target = ask[at + "_float"]
        if how.get("after") == "twice":
            getattr(accountant, "get_" + ask["ask"])(target)
        value, best = getattr(accountant, f"get_{ask['ask']}_and_optimal_order")(target)
        question = f"a.get_{ask['ask']}({target!r})"
        extra["alpha"] = repr(float(best))
    shown = "" if named is None else line.shown_orders(named)
    lines = [*IMPORTS, f"a = RdpAccountant({shown}, NeighboringRelation.{relation})"]
    if named is None:
        lines[-1] = f"a = RdpAccountant(neighboring_relation=NeighboringRelation.{relation})"
    lines += [f"a.compose({event!r}, {count})" for event, count in given]
    lines.append(f"print({question})")
    return line.answered(value, begun, lines, **line.claimed(ask), **extra)


def or_unsupported(answer):
    """Wraps `answer` so that the peer's own refusal counts as unsupported."""

    def answered(ask):
        try:
            return answer(ask)
        except Exception as error:
            if type(error).__name__ == "UnsupportedEventError":
                raise line.Unsupported(str(error)) from None
            raise

    return answered


def hello():
    """Lists what the RdpAccountant offers; imports the peer, so that no answer is slow for that."""
    from dp_accounting.rdp import rdp_privacy_accountant

    kinds = [
        ("Gaussian", "poisson", "add_remove"),
        ("Gaussian", "without_replacement", "replace_one"),
        ("RandomizedResponse", "none", "replace_one"),
    ]
    for mechanism in ("Gaussian", "Laplace", "ZCDP"):
        kinds += [(mechanism, "none", adjacency) for adjacency in RELATIONS]
    searched = [float(order) for order in rdp_privacy_accountant.DEFAULT_RDP_ORDERS]
    asks, grid = ["rdp", "epsilon", "delta"], {"default_orders": searched, "order_grid": True}
    return line.hello_of("dp-accounting", kinds, asks, how=HOW, **grid)


# --- without RDP


def answer_by_losses(ask):
    """Computes ε or δ of the PLDAccountant, pessimistic by default."""
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.privacy_accountant import NeighboringRelation

    if ask["ask"] == "rdp":
        raise line.Unsupported("no RDP: ε and δ of the privacy loss itself")
    relation, way = RELATIONS[ask["adjacency"]], ask["how"].get("after")
    given = calls(ask)
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
    lines = [*IMPORTS[:3], "from dp_accounting.pld import PLDAccountant"]
    lines.append(f"a = PLDAccountant(NeighboringRelation.{relation})")
    lines += [f"a.compose({event!r}, {count})" for event, count in given]
    return line.answered(value, begun, [*lines, f"print(a.{question}({at!r}))"])


def hello_by_losses():
    """The PLDAccountant, which goes through no RDP."""
    import dp_accounting.pld  # noqa: F401

    kinds = [("Gaussian", s, a) for s in ("none", "poisson") for a in RELATIONS]
    kinds += [("Laplace", sampling, "add_remove") for sampling in ("none", "poisson")]
    kinds += [("RandomizedResponse", "none", "replace_one")]
    asks, how = ["epsilon", "delta"], {key: ways for key, ways in HOW.items() if key != "alpha"}
    peer = "dp-accounting (PLDAccountant)"
    return line.hello_of("dp-accounting", kinds, asks, peer=peer, how=how, conversion="none")


if __name__ == "__main__":
    line.speak(
        ("dp-accounting", hello, or_unsupported(answer)),
        ("dp-accounting-pld", hello_by_losses, or_unsupported(answer_by_losses)),
    )
