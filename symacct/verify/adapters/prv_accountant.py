# /// script
# requires-python = ">=3.9"
# dependencies = ["prv-accountant"]
#
# [tool.symacct]
# peers = ["prv-accountant", "prv-accountant-interval"]
# ///
"""Microsoft's prv-accountant: the RDP of its random variables, and ε by RDP and by its interval."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

IMPORTS = [
    "import numpy as np",
    "from prv_accountant.privacy_random_variables import *",
    "from prv_accountant.other_accountants import RDP",
]
MOST_REPEATS = 200  # variables composed one by one: more is unsupported, as it takes long
HOW = {**line.HOW, "alpha": [*line.NUMBERS, "list"], "sharing": ["copied", "shared"]}
EPSILON_ERROR, DELTA_SHARE = 0.01, 1e-3  # errors allowed it, of ε (in nats) and as a share of δ


def build(part, how):
    """Returns (the privacy random variable, its source) of one run."""
    import prv_accountant.privacy_random_variables as prvs

    kind = part["mechanism"]
    if part["sampling"] == "poisson" and kind == "Gaussian":
        values = {"sampling_probability": line.number(part, "gamma", how)}
        values["noise_multiplier"] = line.number(part, "sigma", how)
        name = "PoissonSubsampledGaussianMechanism"
    elif part["sampling"] != "none":
        raise line.Unsupported(f"{kind}, sampling {part['sampling']}")
    elif kind == "Gaussian":
        name, values = "GaussianMechanism", {"noise_multiplier": line.number(part, "sigma", how)}
    elif kind == "Laplace":
        b = line.number(part, "b", how)
        name, values = "LaplaceMechanism", {"mu": 1 / b}
    elif kind == "PureDP":
        name, values = "PureDPMechanism", {"eps": line.number(part, "epsilon", how)}
    else:
        raise line.Unsupported(kind)
    shown = ", ".join(f"{key}={value!r}" for key, value in values.items())
    return getattr(prvs, name)(**values), f"{name}({shown})"


def runs(ask):
    """[(privacy random variable, its source, how many times)]"""
    how, variables = ask["how"], []
    for part in line.parts_of(ask):
        first = build(part, how)
        for n in line.counts(part["count"], how, MOST_REPEATS):
            variables.append((*(first if how.get("sharing") == "shared" else build(part, how)), n))
    return variables


def rdp(ask, variables):
    """Returns (the RDP of a composition, the expression that has it)."""
    import numpy as np

    alpha, way = line.order(ask), ask["how"].get("after")
    if way in ("asked", "twice"):
        for prv, _, _ in variables:
            prv.rdp(alpha if way == "twice" else 3.5)
    if ask["how"].get("alpha") == "list":
        from prv_accountant.other_accountants import RDP

        named = [(1 + alpha) / 2, alpha, 2 * alpha]
        table = RDP([prv for prv, _, _ in variables], orders=named)
        sources = ", ".join(source for _, source, _ in variables)
        counts = [n for _, _, n in variables]
        shown = f"np.dot({counts}, [r[1] for r in RDP([{sources}], orders={named}).rdps])"
        return np.dot(counts, [values[1] for values in table.rdps]), shown
    shown = " + ".join(f"{n} * {source}.rdp({alpha!r})" for _, source, n in variables)
    return sum(n * prv.rdp(alpha) for prv, _, n in variables), shown


def answer(ask):
    """Computes RDP, or ε by RDP, with the lines that reproduce it."""
    from prv_accountant.other_accountants import RDP

    variables = runs(ask)
    begun = time.perf_counter()
    if ask["ask"] == "rdp":
        value, shown = rdp(ask, variables)
    else:
        delta, counts = ask["delta_float"], [n for _, _, n in variables]
        named = ask.get("orders_float")
        accountant = RDP([prv for prv, _, _ in variables], orders=named)
        for _ in range(2 if ask["how"].get("after") == "twice" else 1):
            value = accountant.compute_epsilon(delta, counts)[2]
        sources = ", ".join(source for _, source, _ in variables)
        grid = "" if named is None else f", orders={named!r}"
        shown = f"RDP([{sources}]{grid}).compute_epsilon({delta!r}, {counts!r})"
    return line.answered(value, begun, [*IMPORTS, f"print({shown})"])


def hello():
    """Who computes, and what may be asked; imports the peer, so that no answer is slow for that."""
    import prv_accountant.other_accountants  # noqa: F401

    kinds = [("Gaussian", "poisson"), ("Gaussian", "none"), ("Laplace", "none"), ("PureDP", "none")]
    grid = {"default_orders": line.DEFAULT_ORDERS, "order_grid": True}
    under = [(*kind, "add_remove") for kind in kinds]
    return line.hello_of("prv-accountant", under, ["rdp", "epsilon"], how=HOW, **grid)


# --- without RDP


def answer_by_interval(ask):
    """Computes the upper end of the PRVAccountant's interval for ε."""
    from prv_accountant import PRVAccountant

    if ask["ask"] != "epsilon":
        raise line.Unsupported("only ε: of the privacy loss itself")
    variables, delta = runs(ask), ask["delta_float"]
    counts = [n for _, _, n in variables]
    limits = {"eps_error": EPSILON_ERROR, "delta_error": DELTA_SHARE * delta}
    begun = time.perf_counter()
    accountant = PRVAccountant([v for v, _, _ in variables], max_self_compositions=counts, **limits)
    for _ in range(2 if ask["how"].get("after") == "twice" else 1):
        value = accountant.compute_epsilon(delta, counts)[2]
    made = f"[{', '.join(source for _, source, _ in variables)}], max_self_compositions={counts!r}"
    shown = ", ".join(f"{key}={value!r}" for key, value in limits.items())
    imported = [*IMPORTS[:2], "from prv_accountant import PRVAccountant"]
    lines = [f"a = PRVAccountant({made}, {shown})"]
    lines.append(f"print(a.compute_epsilon({delta!r}, {counts!r})[2])")
    return line.answered(value, begun, [*imported, *lines])


def hello_by_interval():
    """The PRVAccountant, which goes through no RDP."""
    import prv_accountant  # noqa: F401

    kinds = [(m, s, "add_remove") for m, s in (("Gaussian", "poisson"), ("Gaussian", "none"))]
    kinds += [("Laplace", "none", "add_remove"), ("PureDP", "none", "add_remove")]
    ways = {key: known for key, known in HOW.items() if key != "alpha"}
    how = {"peer": "prv-accountant (PRVAccountant)", "how": ways, "conversion": "none"}
    return line.hello_of("prv-accountant", kinds, ["epsilon"], **how)


if __name__ == "__main__":
    line.speak(
        ("prv-accountant", hello, answer),
        ("prv-accountant-interval", hello_by_interval, answer_by_interval),
    )
