"""Rows of what people wait for: a start, a calibration, a sweep, generated code."""

from __future__ import annotations

import importlib.util
import logging
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import sympy
from measuring import Row, peak, resident, seconds, whole_process

import symacct as sa
from symacct.codegen.generate import _in_float64
from symacct.kernel.accountant import default_accountant

EXPR = "600000 * PoissonSubsample(Gaussian(5), 1/1000)"
SIGMA = sympy.Symbol("sigma", positive=True)
TARGETS = ("numpy", "python", "c")


def start_rows() -> Iterator[Row]:
    """What comes before the first answer."""
    least = whole_process("-c", "import sympy")
    command = ("-m", "symacct")
    for work, words in (
        ("import symacct", ("-c", "import symacct")),
        ("symacct --help", (*command, "--help")),
        (f"symacct epsilon '{EXPR}' --delta 1e-8", (*command, "epsilon", EXPR, "--delta", "1e-8")),
    ):
        spent = whole_process(*words)
        note = f"{spent:.2f} s, {resident(*words)}"
        yield Row(work, "import sympy", spent / least, "× its time", 1.5, False, note)


def calibrated(m: sa.Node, epsilon: int, conversion: str = "best") -> Any:
    default_accountant().clear()
    return sa.calibrate(m, epsilon, "1e-5", digits=5, conversion=conversion)


def calibrated_by_orders(m: sa.Node, epsilon: int) -> Any:
    """As the peer's accountant of Rényi orders does, which needs 7 % more noise here."""
    return calibrated(m, epsilon, "improved")


def calibration_rows(peers: dict[str, Any]) -> Iterator[Row]:
    sampled = sa.PoissonSubsample(sa.Gaussian(SIGMA), "1/100")
    three = 1000 * sampled + 500 * sa.PoissonSubsample(sa.Laplace(20), "1/100") + sa.Gaussian(10)
    one = 10_000 * sampled
    what = "calibrate σ, 5 digits"
    spent = seconds(lambda: calibrated_by_orders(one, 1))
    note = f"{1e3 * spent:.3g} ms, {peak(lambda: calibrated_by_orders(one, 1))}"
    if "ms" in peers["calibration"]:
        faster = peers["calibration"]["ms"] / 1e3 / spent
        yield Row(
            f"{what} by Rényi orders, 10,000 steps",
            "dp_accounting",
            faster,
            "× faster",
            10,
            True,
            note,
        )
    for name, m, epsilon in (
        ("under GroupPrivacy of 4", sa.GroupPrivacy(1000 * sampled, 4), 3),
        ("of one of three mechanisms", three, 2),
    ):
        yield waited(f"{what}, {name}", lambda m=m, epsilon=epsilon: calibrated(m, epsilon), 0.5)


def waited(work: str, call: Callable[[], Any], target: float) -> Row:
    """A call that is to take no more seconds than this, with its peak."""
    return Row(work, "–", seconds(call), "s", target, False, peak(call))


def long_rows() -> Iterator[Row]:
    """Single questions that took long."""
    near = sa.SubsampleWithoutReplacement(sa.Gaussian(1000), "999/1000")
    yield waited(
        "WBK19-T27 of Gaussian(1000), γ = 0.999, α = 10⁵",
        lambda: sa.Accountant(30).rdp(near, 10**5, by="WBK19-T27"),
        2,
    )
    one = sa.baselines.gaussian_profile(1)
    yield waited(
        "best_over_rounds, 600,000 of σ = 1",
        lambda: sa.baselines.best_over_rounds(one, 600_000, "1e-5"),
        1,
    )
    for name, density in (("logistic", "exp(-{0})/(1+exp(-{0}))**2"), ("Cauchy", "1/(1+({0})**2)")):
        laws = (sa.laws.Density(density.format(x), mass="any") for x in ("x", "(x-1)"))
        step = sa.PoissonSubsample(sa.DistributionPair(*laws), "1/100")
        yield waited(
            f"ε of a sampled pair of {name} densities by Rényi orders, 6 digits",
            lambda m=step: sa.Accountant(6).epsilon(m, "1e-5", "improved"),
            5,
        )


def code_rows() -> Iterator[Row]:
    step = sa.PoissonSubsample(sa.Gaussian(5), "1/1000")

    def written(together: bool) -> None:
        for i, target in enumerate(TARGETS):
            if i == 0 or not together:
                _in_float64.cache_clear()
                default_accountant().clear()
            step.code(target)

    alone, together = (seconds(lambda x=x: written(x)) for x in (False, True))
    work, against = f"code of {step}: {', '.join(TARGETS)}", "each language by itself, as at first"
    note = f"{1e3 * together:.3g} ms, {peak(lambda: written(True))}"
    yield Row(work, against, alone / together, "× faster", 2, True, note)


@contextmanager
def local_dask(workers: int) -> Iterator[Executor]:
    """Dask's scheduler and workers, processes of this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor()


def sweep_rows() -> Iterator[Row]:
    """10,000 points on several processes against one; by the clock, for that is what is won."""
    gamma = sympy.Symbol("gamma", positive=True)
    node = 1000 * sa.PoissonSubsample(sa.Gaussian(SIGMA), gamma)
    grid = {
        "sigma": [f"{i}/10" for i in range(10, 60)],
        "gamma": [f"{i}/1000" for i in range(1, 101)],
        "delta": ["1e-5", "1e-6"],
    }
    start = time.perf_counter()
    one = list(sa.sweep(node, grid))
    alone = time.perf_counter() - start
    makers: list[tuple[str, int, float, Callable[[int], AbstractContextManager[Executor]]]] = [
        ("processes", 2, 1.8, ProcessPoolExecutor),
        ("processes", 4, 3.6, ProcessPoolExecutor),
    ]
    if importlib.util.find_spec("distributed"):
        makers.append(("workers of a local Dask cluster", 4, 3.6, local_dask))
    for name, count, target, made in makers:
        with made(count) as executor:
            sa.sweep(node, {**grid, "sigma": 1, "delta": "1e-5"}, executor=executor)  # all started
            start = time.perf_counter()
            several = list(sa.sweep(node, grid, executor=executor))
            together = time.perf_counter() - start
            most = executor.submit(resource.getrusage, resource.RUSAGE_SELF).result().ru_maxrss
        same = "the same bits" if one == several else "OTHER DIGITS"
        figure = alone / together if one == several else 0.0
        work = f"sweep of {len(one):,} points, {count} {name}"
        note = f"{same}, {alone:.1f} s alone, {most / 1e3:.0f} MB resident at most in one"
        yield Row(work, "one process", figure, "×", target, True, note)


def wait_rows(peers: dict[str, Any]) -> Iterator[Row]:
    yield from start_rows()
    yield from calibration_rows(peers)
    yield from long_rows()
    yield from code_rows()
    yield from sweep_rows()
