# /// script
# requires-python = ">=3.9"
# dependencies = ["prv-accountant"]
# ///
"""The PRVAccountant of prv-accountant: the upper end of its interval; see prv_accountant.py too."""

from __future__ import annotations

import runpy
import sys
import time
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

variables = types.SimpleNamespace(
    **runpy.run_path(str(Path(__file__).with_name("prv_accountant.py")))
)
IMPORTS = [*variables.IMPORTS[:2], "from prv_accountant import PRVAccountant"]
HOW = {key: ways for key, ways in variables.HOW.items() if key != "alpha"}
EPSILON_ERROR, DELTA_SHARE = 0.01, 1e-3


def answer(ask):
    """The answer's fields."""
    from prv_accountant import PRVAccountant

    if ask["ask"] != "epsilon":
        raise line.Unsupported("only ε: of the privacy loss itself")
    found, delta = variables.runs(ask), ask["delta_float"]
    counts = [n for _, _, n in found]
    limits = {"eps_error": EPSILON_ERROR, "delta_error": DELTA_SHARE * delta}
    begun = time.perf_counter()
    accountant = PRVAccountant([v for v, _, _ in found], max_self_compositions=counts, **limits)
    for _ in range(2 if ask["how"].get("after") == "twice" else 1):
        value = accountant.compute_epsilon(delta, counts)[2]
    made = f"[{', '.join(source for _, source, _ in found)}], max_self_compositions={counts!r}"
    shown = ", ".join(f"{key}={value!r}" for key, value in limits.items())
    lines = [f"a = PRVAccountant({made}, {shown})"]
    return {
        "value": repr(float(value)),
        "reproduce": [*IMPORTS, *lines, f"print(a.compute_epsilon({delta!r}, {counts!r})[2])"],
        "seconds": time.perf_counter() - begun,
    }


def hello():
    """Who computes, and what may be asked; imports the peer, so that no answer is slow for that."""
    import prv_accountant  # noqa: F401

    kinds = [(m, s, "add_remove") for m, s in (("Gaussian", "poisson"), ("Gaussian", "none"))]
    kinds += [("Laplace", "none", "add_remove"), ("PureDP", "none", "add_remove")]
    how = {"peer": "prv-accountant (PRVAccountant)", "how": HOW, "conversion": "none"}
    return line.hello_of("prv-accountant", kinds, ["epsilon"], **how)


if __name__ == "__main__":
    line.speak(hello, answer)
