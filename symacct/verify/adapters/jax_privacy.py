# /// script
# requires-python = ">=3.11"
# dependencies = ["jax-privacy"]
# ///
"""JAX Privacy: the ε of its DpsgdTrainingAccountant through RDP, and the noise it calibrates."""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

IMPORTS = ["import numpy as np", "from jax_privacy import accounting as a"]
HOW = {"numbers": line.NUMBERS, "after": ["fresh", "twice"]}
ASKS = ["epsilon", "noise"]
CONFIG = "RdpAccountantConfig"
SAMPLINGS = {"poisson": "POISSON", "none": "POISSON", "without_replacement": "FIXED_BATCH_SIZE"}


def batches(part):
    """(batch size, size of the data): whole numbers whose quotient is the rate."""
    rate = Fraction(part.get("gamma", 1))
    return rate.numerator, rate.denominator


def answer_by(config):
    """answer(ask) with the accountant of this configuration."""

    def answer(ask):
        from jax_privacy import accounting

        part = line.the_part(ask, ASKS)
        if part["mechanism"] != "Gaussian":
            raise line.Unsupported(part["mechanism"])
        accountant = accounting.DpsgdTrainingAccountant(getattr(accounting, config)())
        made = f"a.DpsgdTrainingAccountant(a.{config}())"
        (batch, samples), runs = batches(part), part["count"]
        delta, begun = ask["delta_float"], time.perf_counter()
        if ask["ask"] == "noise":
            if part["sampling"] == "without_replacement":
                raise line.Unsupported("noise of batches of a fixed size")
            named = {
                "target_epsilon": ask["epsilon_float"], "batch_sizes": batch, "num_updates": runs,
                "num_samples": samples, "target_delta": delta,
            }  # fmt: skip
            value = accounting.calibrate_noise_multiplier(accountant=accountant, **named)
            given = ", ".join(f"{name}={x!r}" for name, x in named.items())
            shown = f"a.calibrate_noise_multiplier(accountant={made}, {given})"
        else:
            named = {
                "noise_multipliers": line.number(part, "sigma", ask["how"]), "delta": delta,
                "num_samples": samples, "batch_size": batch,
            }  # fmt: skip
            method = SAMPLINGS[part["sampling"]]
            chosen = getattr(accounting.SamplingMethod, method)
            params = accounting.DpParams(sampling_method=chosen, **named)
            for _ in range(2 if ask["how"].get("after") == "twice" else 1):
                value = accountant.compute_epsilon(runs, params)
            given = ", ".join(f"{name}={x!r}" for name, x in named.items())
            params = f"a.DpParams({given}, sampling_method=a.SamplingMethod.{method})"
            shown = f"{made}.compute_epsilon({runs}, {params})"
        seconds = time.perf_counter() - begun
        reproduce = [*IMPORTS, f"print({shown})"]
        return {"value": repr(float(value)), "seconds": seconds, "reproduce": reproduce}

    return answer


def hello_by(**more):
    """Who computes, and what may be asked; imports the peer, so that no answer is slow for that."""
    import jax_privacy.accounting  # noqa: F401

    added = [("Gaussian", sampling, "add_remove") for sampling in ("poisson", "none")]
    said = line.hello_of("jax-privacy", added, ASKS, how=HOW, compose=False, **more)
    fixed = {"mechanism": "Gaussian", "sampling": "without_replacement"}
    said["supports"].append({**fixed, "adjacency": "replace_one", "asks": ["epsilon"]})
    return said


def hello():
    """The accountant through RDP, with the orders that it searches."""
    from jax_privacy.accounting import RdpAccountantConfig

    searched = [float(order) for order in RdpAccountantConfig().orders]
    return hello_by(default_orders=searched)


if __name__ == "__main__":
    line.speak(hello, answer_by(CONFIG))
