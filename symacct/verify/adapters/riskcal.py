# /// script
# requires-python = ">=3.11"
# dependencies = ["riskcal"]
# ///
"""ε, the largest advantage and the noise of DP-SGD in riskcal, on a grid of privacy losses."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

IMPORTS = ["import numpy as np", "from riskcal.calibration import core, dpsgd"]
HOW = {"numbers": line.NUMBERS}
ASKS = ["epsilon", "noise", "advantage"]


def question(ask):
    """(rate, runs, σ or None) of the one part."""
    part = line.the_part(ask, ASKS)
    if part["mechanism"] != "Gaussian" or part["sampling"] == "without_replacement":
        raise line.Unsupported(f"{part['mechanism']}, sampling {part['sampling']}")
    how = ask["how"]
    rate = 1.0 if part["sampling"] == "none" else line.number(part, "gamma", how)
    sigma = None if ask["ask"] == "noise" else line.number(part, "sigma", how)
    return rate, part["count"], sigma


def noise(rate, runs, epsilon, delta):
    """Returns (the least noise from 0.1 to 100 for an (ε, δ), its source)."""
    from riskcal.calibration import core, dpsgd

    evaluator = dpsgd.create_dpsgd_epsilon_evaluator(rate, runs, delta)
    target = core.CalibrationTarget("epsilon_delta", epsilon=epsilon, delta=delta)
    search = core.CalibrationConfig(increasing=False, param_min=0.1, param_max=100.0)
    value = core.calibrate_parameter(evaluator, target, search).parameter_value
    shown = (
        f"core.calibrate_parameter(dpsgd.create_dpsgd_epsilon_evaluator({rate!r}, {runs}, "
        f"{delta!r}), core.CalibrationTarget('epsilon_delta', epsilon={epsilon!r}, "
        f"delta={delta!r}), core.CalibrationConfig(increasing=False, param_min=0.1, "
        "param_max=100.0)).parameter_value"
    )
    return value, shown


def answer(ask):
    """Computes ε, the advantage or the noise, with the lines that reproduce it."""
    from riskcal.calibration import dpsgd

    rate, runs, sigma = question(ask)
    begun = time.perf_counter()
    if ask["ask"] == "noise":
        value, shown = noise(rate, runs, ask["epsilon_float"], ask["delta_float"])
    elif ask["ask"] == "advantage":
        value = dpsgd.get_advantage_for_dpsgd(sigma, rate, runs)
        shown = f"dpsgd.get_advantage_for_dpsgd({sigma!r}, {rate!r}, {runs})"
    else:
        delta = ask["delta_float"]
        value = dpsgd.create_dpsgd_epsilon_evaluator(rate, runs, delta)(sigma).epsilon
        evaluator = f"dpsgd.create_dpsgd_epsilon_evaluator({rate!r}, {runs}, {delta!r})"
        shown = f"{evaluator}({sigma!r}).epsilon"
    return line.answered(value, begun, [*IMPORTS, f"print({shown})"])


def hello():
    """Who computes, and what may be asked; imports the peer, so that no answer is slow for that."""
    import riskcal.calibration  # noqa: F401

    kinds = [("Gaussian", sampling, "add_remove") for sampling in ("poisson", "none")]
    more = {"compose": False, "conversion": "none", "how": HOW}
    return line.hello_of("riskcal", kinds, ASKS, **more)


if __name__ == "__main__":
    line.speak(("riskcal", hello, answer))
