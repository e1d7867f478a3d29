"""The README's training run by every accountant that is installed: ε at δ = 1e-5, and seconds.

`python benchmarks/one_run.py`, in this environment and in one with the peers; the second time asked
is timed, for the first one imports.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

SIGMA, RATE, STEPS, DELTA = 1.1, 256 / 60000, 3516, 1e-5


def symacct(conversion: str) -> float:
    import symacct as sa

    run = sa.dp_sgd(n=60_000, batch_size=256, noise_multiplier="1.1", epochs=15)
    fresh = sa.Accountant(digits=8)
    return float(fresh.epsilon(run, "1e-5", conversion).epsilon)


def dp_accounting(kind: str, name: str) -> float:
    from dp_accounting import dp_event

    accountant = getattr(importlib.import_module(f"dp_accounting.{kind}"), name)()
    step = dp_event.PoissonSampledDpEvent(RATE, dp_event.GaussianDpEvent(SIGMA))
    return float(accountant.compose(dp_event.SelfComposedDpEvent(step, STEPS)).get_epsilon(DELTA))


def autodp_rdp() -> float:
    from autodp import mechanism_zoo, transformer_zoo

    noise = mechanism_zoo.GaussianMechanism(SIGMA, name="noise")
    noise.neighboring = "add_remove"
    sampled = transformer_zoo.AmplificationBySampling(PoissonSampling=True)
    step = sampled(noise, RATE, improved_bound_flag=True)
    return float(transformer_zoo.Composition()([step], [STEPS]).get_approxDP(DELTA))


def autodp_characteristic() -> float:
    from autodp import mechanism_zoo, transformer_zoo

    noise = mechanism_zoo.GaussianMechanism(SIGMA, phi_off=False, name="noise")
    noise.neighboring = "add_remove"
    step = transformer_zoo.AmplificationBySampling_pld(PoissonSampling=True)(noise, RATE)
    return float(transformer_zoo.ComposeAFA()([step], [STEPS]).get_approxDP(DELTA))


def opacus(mechanism: str) -> float:
    accountant = importlib.import_module("opacus.accountants").create_accountant(mechanism)
    accountant.history = [(SIGMA, RATE, STEPS)]
    return float(accountant.get_epsilon(DELTA))


def prv_accountant() -> float:
    package: Any = importlib.import_module("prv_accountant")
    step = package.PoissonSubsampledGaussianMechanism(
        sampling_probability=RATE, noise_multiplier=SIGMA
    )
    accountant = package.PRVAccountant(
        prvs=step, max_self_compositions=STEPS, eps_error=0.01, delta_error=1e-10
    )
    return float(accountant.compute_epsilon(DELTA, STEPS)[2])


ASKED: dict[str, Callable[[], float]] = {
    "symacct, Rényi orders": lambda: symacct("improved"),
    "symacct, exact": lambda: symacct("exact"),
    "dp_accounting, RdpAccountant": lambda: dp_accounting("rdp", "RdpAccountant"),
    "dp_accounting, PLDAccountant": lambda: dp_accounting("pld", "PLDAccountant"),
    "autodp, Rényi orders": autodp_rdp,
    "autodp, characteristic function": autodp_characteristic,
    "Opacus, rdp": lambda: opacus("rdp"),
    "Opacus, prv": lambda: opacus("prv"),
    "prv-accountant, upper end": prv_accountant,
}


def line(ask: Callable[[], float]) -> str:
    try:
        ask()
        start = time.process_time()
        epsilon = ask()
    except Exception as error:  # a peer may fail in any way; that is its answer
        return f"{type(error).__name__}: {str(error)[:70]}"
    return f"{epsilon:.6f}  {time.process_time() - start:.3f} s"


if __name__ == "__main__":
    for name, ask in ASKED.items():
        print(f"{name:34}{line(ask)}", flush=True)
