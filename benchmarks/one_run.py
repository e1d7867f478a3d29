"""The README's table by every accountant that is installed: ε at δ = 1e-5, seconds, yes and no.

`python benchmarks/one_run.py`, in this environment and in one with the peers; the second time asked
is timed, for the first one imports. A yes is something that was had: the ε of other noise, or a
name in the package that trains, or that tells what a number rests on.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator
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


def laplace_dp_accounting() -> float:
    from dp_accounting import dp_event

    package: Any = importlib.import_module("dp_accounting.pld")
    step = dp_event.PoissonSampledDpEvent(0.01, dp_event.LaplaceDpEvent(2.0))
    event = dp_event.SelfComposedDpEvent(step, 100)
    return float(package.PLDAccountant().compose(event).get_epsilon(DELTA))


def laplace_autodp() -> float:
    from autodp import mechanism_zoo, transformer_zoo

    noise = mechanism_zoo.LaplaceMechanism(b=2.0, name="noise")
    noise.neighboring = "add_remove"
    sampled = transformer_zoo.AmplificationBySampling(PoissonSampling=True)
    step = sampled(noise, 0.01, improved_bound_flag=True)
    return float(transformer_zoo.Composition()([step], [100]).get_approxDP(DELTA))


def laplace_opacus() -> float:
    accountant = importlib.import_module("opacus.accountants").create_accountant("rdp")
    accountant.step(noise_multiplier=2.0, sample_rate=0.01, mechanism="laplace")
    return float(accountant.get_epsilon(DELTA))


def laplace_prv() -> float:
    """Not sampled: that is not among its laws."""
    package: Any = importlib.import_module("prv_accountant")
    accountant = package.PRVAccountant(
        prvs=package.LaplaceMechanism(mu=0.5),
        max_self_compositions=100,
        eps_error=0.01,
        delta_error=1e-10,
    )
    return float(accountant.compute_epsilon(DELTA, 100)[2])


def laplace_symacct() -> float:
    import symacct as sa

    run = 100 * sa.PoissonSubsample(sa.Laplace(2), "1/100")
    return float(run.epsilon("1e-5", conversion="improved").epsilon)


LAPLACE: dict[str, Callable[[], float]] = {
    "symacct": laplace_symacct,
    "dp_accounting": laplace_dp_accounting,
    "autodp": laplace_autodp,
    "opacus": laplace_opacus,
    "prv_accountant": laplace_prv,
}
_SAYS = ("cite", "theorem", "statement", "latex", "explain", "formula")
_TRAINS = ("make_private", "privacyengine")


def names(package: str) -> Iterator[str]:
    """The public names of a package, of its modules and of its classes."""
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        try:
            module = importlib.import_module(found.name)
        except Exception:  # noqa: S112  # an extra that is not installed
            continue
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", "").startswith(package):
                yield name
                yield from (one for one in dir(value) if not one.startswith("_"))


def named(package: str, words: tuple[str, ...]) -> str:
    try:
        found = sorted({one for one in names(package) if any(w in one.lower() for w in words)})
    except ImportError as error:
        return str(error)
    return f"yes: {', '.join(found[:4])}" if found else "no"


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
    for package, ask in LAPLACE.items():
        print(f"{package}, 100 times Laplace noise: {line(ask)}", flush=True)
        print(f"{package}, says what a number rests on: {named(package, _SAYS)}")
        print(f"{package}, trains: {named(package, _TRAINS)}", flush=True)
