"""The peers' own float64 queries, timed in their own environment; prints one JSON object.

Run by run.py with the interpreter of that environment: it must not import symacct.
"""

from __future__ import annotations

import importlib.util
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIGMA, RATE, STEPS, DELTA = 5.0, 1e-3, 600_000, 1e-8


def median_ms(call: Callable[[], Any], repeats: int) -> float:
    """The median processor time of a call in milliseconds, after one to warm up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e3 * statistics.median(times)


def module_at(place: Path, name: str) -> Any:
    """The module in one file, without the package around it."""
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def dp_accounting() -> tuple[float, float]:
    from dp_accounting import dp_event
    from dp_accounting.rdp import RdpAccountant

    step = dp_event.PoissonSampledDpEvent(RATE, dp_event.GaussianDpEvent(SIGMA))
    event = dp_event.SelfComposedDpEvent(step, STEPS)

    def query() -> float:
        return float(RdpAccountant().compose(event).get_epsilon(DELTA))

    return median_ms(query, 20), query()


def calibration() -> tuple[float, float]:
    """The σ of 10,000 steps at rate 1/100 for (1, 1e-5), to five digits."""
    from dp_accounting import dp_event
    from dp_accounting.mechanism_calibration import LowerEndpointAndGuess, calibrate_dp_mechanism
    from dp_accounting.rdp import RdpAccountant

    def run(sigma: float) -> dp_event.DpEvent:
        step = dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(sigma))
        return dp_event.SelfComposedDpEvent(step, 10_000)

    def query() -> float:
        ends = LowerEndpointAndGuess(0.1, 1.0)
        return float(calibrate_dp_mechanism(RdpAccountant, run, 1.0, 1e-5, ends, tol=1e-4))

    return median_ms(query, 5), query()


#: The noise of 100 epochs of 100 steps at a rate of 1/100, and of 3,000 steps at 1/1000; run.py
#: asks the same, for δ = 1e-5.
EPOCHS = tuple(1 + i / 100 for i in range(100))
DISTINCT = tuple(1 + i / 500 for i in range(3000))


def epochs() -> float:
    """A new σ in each epoch, ε after each, one accountant; the last ε."""
    from dp_accounting import dp_event
    from dp_accounting.rdp import RdpAccountant

    accountant, epsilon = RdpAccountant(), 0.0
    for sigma in EPOCHS:
        step = dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(sigma))
        accountant.compose(dp_event.SelfComposedDpEvent(step, 100))
        epsilon = float(accountant.get_epsilon(1e-5))
    return epsilon


def distinct() -> float:
    """All steps of different σ, and one ε."""
    from dp_accounting import dp_event
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant()
    for sigma in DISTINCT:
        accountant.compose(dp_event.PoissonSampledDpEvent(1e-3, dp_event.GaussianDpEvent(sigma)))
    return float(accountant.get_epsilon(1e-5))


def once(call: Callable[[], float]) -> tuple[float, float]:
    """The processor time of one call in milliseconds, and what it gave."""
    start = time.process_time()
    epsilon = call()
    return 1e3 * (time.process_time() - start), epsilon


def opacus() -> tuple[float, float]:
    """Opacus's accountant module by itself: the package as a whole would want PyTorch."""
    places = [Path(path) / "opacus/accountants/analysis/rdp.py" for path in sys.path]
    place = next((path for path in places if path.exists()), None)
    if place is None:
        raise FileNotFoundError("opacus is not installed in the environment of the peers")
    module = module_at(place, "opacus_rdp")
    orders = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))  # its default

    def query() -> float:
        rdp = module.compute_rdp(q=RATE, noise_multiplier=SIGMA, steps=STEPS, orders=orders)
        return float(module.get_privacy_spent(orders=orders, rdp=rdp, delta=DELTA)[0])

    return median_ms(query, 20), query()


def dp_accelerator() -> tuple[float, float]:
    from dp_accelerator import DPSGDAccountant

    accountant = DPSGDAccountant(noise_multiplier=SIGMA, batch_size=1, dataset_size=1000)

    def query() -> float:
        return float(accountant.get_epsilon(steps=STEPS, delta=DELTA))

    return median_ms(query, 50), query()


def autodp() -> tuple[float, float]:
    """Its subsampling without replacement with the improved bound, a fresh accountant each time."""
    from autodp import rdp_acct, rdp_bank

    def query() -> float:
        accountant = rdp_acct.anaRDPacct(m=300)
        accountant.compose_subsampled_mechanism(
            lambda alpha: rdp_bank.RDP_gaussian({"sigma": SIGMA}, alpha),
            RATE,
            coeff=STEPS,
            improved_bound_flag=True,
        )
        return float(accountant.get_eps(DELTA))

    return median_ms(query, 3), query()


def fsrdp() -> tuple[float, float]:
    """Birrell et al.'s program, which is no package: its one file has to lie in out/peers.

    Four terms, the orders 2 to 64, the improved conversion; its σ is that of a clipped sum whose
    sensitivity doubles where a record is replaced.
    """
    place = Path("out/peers/fs_rdp_bounds.py")
    if not place.exists():
        raise FileNotFoundError(f"{place} is not there; put the file of their repository there")
    bounds = module_at(place, "fs_rdp_bounds")

    def query() -> float:
        return min(
            STEPS * float(bounds.FSwoR_RDP_ro(a, 2 * SIGMA, 4, RATE))
            + math.log1p(-1 / a)
            - math.log(DELTA * a) / (a - 1)
            for a in range(2, 65)
        )

    return median_ms(query, 1), query()


#: (runs, σ, rate, δ) of the questions about the exact profile; run.py asks the same.
PROFILES = (
    (600_000, 5.0, 1e-3, 1e-8),
    (14_062, 1.1, 256 / 60_000, 1e-5),
    (10_000, 4.0, 0.01, 1e-5),
    (1000, 1.1, 0.01, 1e-5),
)


def pld(runs: int, sigma: float, rate: float, delta: float) -> float:
    """dp_accounting's pessimistic ε at its interval of 1e-4."""
    from dp_accounting.pld import privacy_loss_distribution as distributions

    one = distributions.from_gaussian_mechanism(
        sigma, value_discretization_interval=1e-4, sampling_prob=rate
    )
    return float(one.self_compose(runs).get_epsilon_for_delta(delta))


def prv(runs: int, sigma: float, rate: float, delta: float) -> float:
    """prv-accountant's upper end, with its own errors asked to be 1 % of ε and of δ."""
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    accountant = PRVAccountant(
        prvs=[
            PoissonSubsampledGaussianMechanism(noise_multiplier=sigma, sampling_probability=rate)
        ],
        max_self_compositions=[runs],
        eps_error=0.01,
        delta_error=delta / 100,
    )
    return float(accountant.compute_epsilon(delta, [runs])[2])


def profiles() -> dict[str, Any]:
    """Each peer's time and ε for each question, or why it has none."""
    found: dict[str, Any] = {}
    for peer in (pld, prv):
        for case in PROFILES:
            name = f"{peer.__name__} {case[0]}"
            try:
                found[name] = {"ms": median_ms(lambda: peer(*case), 3), "epsilon": peer(*case)}  # noqa: B023
            except Exception as error:  # a peer that fails is reported, not hidden
                found[name] = {"error": f"{type(error).__name__}: {error}"}
    return found


def main() -> None:
    found: dict[str, Any] = {"profiles": profiles()}
    long = {"epochs": lambda: once(epochs), "distinct": lambda: once(distinct)}
    single = (dp_accounting, calibration, opacus, dp_accelerator, autodp, fsrdp)
    for name, peer in {**{peer.__name__: peer for peer in single}, **long}.items():
        try:
            milliseconds, epsilon = peer()
            found[name] = {"ms": milliseconds, "epsilon": epsilon}
        except Exception as error:  # a peer that fails is reported, not hidden
            found[name] = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
