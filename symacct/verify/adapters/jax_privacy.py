# /// script
# requires-python = ">=3.11"
# dependencies = ["jax-privacy"]
#
# [tool.symacct]
# peers = ["jax-privacy", "jax-privacy-pld"]
# ///
"""JAX Privacy's DpsgdTrainingAccountant by RDP and on losses: ε; noise, rate and runs for an ε."""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

IMPORTS = ["import numpy as np", "from jax_privacy import accounting as a"]
HOW = {"numbers": line.NUMBERS, "after": ["fresh", "twice"]}
ASKS = ["epsilon", "noise", "rate", "runs"]
#: A rate is a batch of so many records: those that are asked about have no more digits.
RECORDS = 10**8
SAMPLINGS = {"poisson": "POISSON", "none": "POISSON", "without_replacement": "FIXED_BATCH_SIZE"}


def batches(part):
    """(batch size, size of the data): whole numbers whose quotient is the rate, 1 without one."""
    rate = Fraction(part.get("gamma", 1))
    return rate.numerator, rate.denominator


def calibrated(ask, part, samples, batch):
    """Returns (function, arguments, divisor of its value) to search a noise, a rate or the runs."""
    if part["sampling"] == "without_replacement":
        raise line.Unsupported(f"{ask['ask']} of batches of a fixed size")
    named = {
        "target_epsilon": ask["epsilon_float"], "target_delta": ask["delta_float"],
        "num_samples": samples, "batch_sizes": batch, "num_updates": part.get("count"),
    }  # fmt: skip
    if ask["ask"] == "noise":
        return "calibrate_noise_multiplier", named, 1
    named["noise_multipliers"] = line.number(part, "sigma", ask["how"])
    if ask["ask"] == "runs":
        del named["num_updates"]
        return "calibrate_num_updates", named, 1
    del named["batch_sizes"]
    return "calibrate_batch_size", {**named, "num_samples": RECORDS}, RECORDS


def answer_by(config):
    """Returns answer(ask) with the accountant of this configuration."""

    def answer(ask):
        """Computes ε, noise, rate or runs, with the lines that reproduce it."""
        from jax_privacy import accounting

        part = line.the_part(ask, ASKS)
        if part["mechanism"] != "Gaussian":
            raise line.Unsupported(part["mechanism"])
        accountant = accounting.DpsgdTrainingAccountant(getattr(accounting, config)())
        made = f"a.DpsgdTrainingAccountant(a.{config}())"
        (batch, samples), runs = batches(part), part.get("count")
        delta, begun = ask["delta_float"], time.perf_counter()
        if ask["ask"] != "epsilon":
            function, named, per = calibrated(ask, part, samples, batch)
            try:
                value = getattr(accounting, function)(accountant=accountant, **named) / per
            except ValueError as error:
                if "initial_min" not in str(error):
                    raise
                raise line.Unsupported("a target that one run, or one record, misses") from error
            given = ", ".join(f"{name}={x!r}" for name, x in named.items())
            shown = f"a.{function}(accountant={made}, {given})"
            if per > 1:
                shown += f" / {per}"
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
        return line.answered(value, begun, [*IMPORTS, f"print({shown})"])

    return answer


def hello_by(**more):
    """Who computes, and what may be asked; imports the peer, so that no answer is slow for that."""
    import jax_privacy.accounting  # noqa: F401

    added = [("Gaussian", sampling, "add_remove") for sampling in ("poisson", "none")]
    fields = line.hello_of("jax-privacy", added, ASKS, how=HOW, compose=False, **more)
    fields["supports"][1]["asks"] = [kind for kind in ASKS if kind != "rate"]
    fixed = {"mechanism": "Gaussian", "sampling": "without_replacement"}
    fields["supports"].append({**fixed, "adjacency": "replace_one", "asks": ["epsilon"]})
    return fields


def hello():
    """The accountant through RDP, with the orders that it searches."""
    from jax_privacy.accounting import RdpAccountantConfig

    searched = [float(order) for order in RdpAccountantConfig().orders]
    return hello_by(default_orders=searched)


def hello_by_losses():
    """The accountant that goes through no RDP."""
    return hello_by(peer="jax-privacy (PLD)", conversion="none")


if __name__ == "__main__":
    line.speak(
        ("jax-privacy", hello, answer_by("RdpAccountantConfig")),
        ("jax-privacy-pld", hello_by_losses, answer_by("PldAccountantConfig")),
    )
