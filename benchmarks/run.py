"""Measure symacct against named alternatives: ratios within one run, a line each as they come.

`make bench` runs it, and writes a JSON file and a plot. The peers live in an environment of their
own (out/peers), made on first use; without it their rows say so. What is waited for by people has
targets in seconds, all else is a ratio or a count.
Times are processor time, which other work on the machine does not lengthen: all that is compared
runs in one thread.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tracemalloc
import venv
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from fractions import Fraction
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from flint import arb
from measuring import Row, peak, seconds
from waits import wait_rows

import symacct as sa
from symacct.analysis import worst_triangle as worst_triangles
from symacct.analysis.triangles import Triangles, triple_excess
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.sums.differences import differences_at
from symacct.theory.amplification import triples as triangles

HERE = Path(__file__).parent
OUT = Path("out")
PEERS = ("dp-accounting", "prv-accountant", "autodp", "dp-accelerator==0.1.0", "scipy", "opacus")
GAMMA = "1/1000"
BY_ORDERS = "improved"  # the conversion of what is measured as an answer by Rényi orders
SEEDS = (
    sa.Gaussian(5),
    sa.Gaussian(1),
    sa.Laplace(2),
    sa.Laplace("1/2"),
    sa.RandomizedResponse("0.6"),
    sa.RandomizedResponse("0.9"),
    sa.Gaussian(50),
)


def cold_rdp(m: sa.Node, alpha: Any, digits: int) -> sa.Accountant:
    accountant = sa.Accountant(digits=digits)
    accountant.rdp(m, alpha)
    return accountant


# --- the alternatives


def plain_moment(mp: Any, mechanism: sa.Node) -> Callable[[int], Any]:
    """e^{(l−1)ε(l)} in mpmath, by the textbook formula."""
    values = [mp.mpf(x.numerator) / x.denominator for x in mechanism.fields().values()]
    if isinstance(mechanism, sa.Gaussian):
        return lambda l: mp.exp(l * (l - 1) / (2 * values[0] ** 2))
    if isinstance(mechanism, sa.Laplace):
        s = 1 / values[0]
        return lambda l: (l * mp.exp((l - 1) * s) + (l - 1) * mp.exp(-l * s)) / (2 * l - 1)
    p = values[0]
    return lambda l: p**l * (1 - p) ** (1 - l) + (1 - p) ** l * p ** (1 - l)


def mpmath_loop(mechanism: sa.Node, alpha: int, digits: int) -> Any:
    """Theorem 8 as a plain loop over all terms."""
    mp = mpmath.mp.clone()
    mp.dps = digits
    gamma, moment = mp.mpf(1) / 1000, plain_moment(mp, mechanism)
    total = sum(
        mp.binomial(alpha, l) * (1 - gamma) ** (alpha - l) * gamma**l * moment(l)
        for l in range(2, alpha + 1)
    )
    total += (1 - gamma) ** (alpha - 1) * (alpha * gamma - gamma + 1)
    return mp.log(total) / (alpha - 1)


def float_log_moment(mechanism: sa.Node, l: np.ndarray) -> np.ndarray:
    value = float(next(iter(mechanism.fields().values())))
    if isinstance(mechanism, sa.Gaussian):
        return l * (l - 1) / (2 * value**2)
    if isinstance(mechanism, sa.Laplace):
        weights = np.log(l / (2 * l - 1)), np.log((l - 1) / (2 * l - 1))
        return np.logaddexp(weights[0] + (l - 1) / value, weights[1] - l / value)
    odds = math.log(value / (1 - value))
    return np.logaddexp(math.log(value) + (l - 1) * odds, math.log(1 - value) - (l - 1) * odds)


def numpy_log_sum_exp(mechanism: sa.Node, alpha: int) -> float:
    """Theorem 8 in float64, all terms at once."""
    l = np.arange(2, alpha + 1, dtype=float)
    ratios = np.log((alpha - l + 1) / l)
    log_binomial = math.log(alpha) + np.cumsum(ratios)
    logs = log_binomial + l * math.log(1e-3) + (alpha - l) * math.log1p(-1e-3)
    logs += float_log_moment(mechanism, l)
    top = logs.max()
    head = (alpha - 1) * math.log1p(-1e-3) + math.log((alpha - 1) * 1e-3 + 1)
    return float(np.logaddexp(top + math.log(np.exp(logs - top).sum()), head)) / (alpha - 1)


def mpmath_difference_table(mechanism: sa.Node, up_to: int) -> int:
    """All B(ε, l) by a difference table, precision doubled until 30 digits agree; the bits used."""
    found: list[Any] = []
    bits = 165
    while True:
        mp = mpmath.mp.clone()
        mp.prec = bits
        moment = plain_moment(mp, mechanism)
        row = [mp.mpf(1), mp.mpf(1), *(moment(l) for l in range(2, up_to + 1))]
        new = [row[0]]
        for _ in range(up_to):
            row = [b - a for a, b in pairwise(row)]
            new.append(row[0])
        if found and all(
            abs(a - b) <= abs(b) * mp.mpf(10) ** -30 for a, b in zip(found, new, strict=True)
        ):
            return bits
        found, bits = new, 2 * bits


def mpmath_series(sigma: float, q: float, alpha: float, terms: int = 2000) -> Any:
    """The two erfc series of MTZ19, a fixed number of terms at 50 digits."""
    mp = mpmath.mp.clone()
    mp.dps = 50
    s, q, a = mp.mpf(sigma), mp.mpf(q), mp.mpf(alpha)
    z = mp.mpf(1) / 2 + s**2 * mp.log(1 / q - 1)
    total, binomial = mp.mpf(0), mp.mpf(1)
    for i in range(terms):
        left = (1 - q) ** (a - i) * q**i * mp.exp((i * i - i) / (2 * s**2))
        right = (1 - q) ** i * q ** (a - i) * mp.exp(((a - i) ** 2 - (a - i)) / (2 * s**2))
        left *= mp.erfc((i - z) / (mp.sqrt(2) * s))
        right *= mp.erfc((z - a + i) / (mp.sqrt(2) * s))
        total += binomial * (left + right) / 2
        binomial *= (a - i) / (i + 1)
    return mp.log(total) / (a - 1)


# --- the rows


def poisson_rows() -> Iterator[Row]:
    for mechanism in SEEDS:
        step = sa.PoissonSubsample(mechanism, GAMMA)
        ours = seconds(lambda step=step: cold_rdp(step, 10**4, 50))
        theirs = seconds(lambda m=mechanism: mpmath_loop(m, 10**4, 50))
        yield Row(
            f"{mechanism}: ε(10⁴), 50 certified digits",
            "mpmath loop, 50 digits",
            theirs / ours,
            "× faster",
            1000,
            True,
            f"{1e3 * ours:.3g} ms",
        )
    for mechanism in SEEDS:
        step = sa.PoissonSubsample(mechanism, GAMMA)
        ours = seconds(lambda step=step: cold_rdp(step, 10**6, 50))
        theirs = seconds(lambda m=mechanism: numpy_log_sum_exp(m, 10**6))
        yield Row(
            f"{mechanism}: ε(10⁶), 50 certified digits",
            "numpy float64 log-sum-exp",
            theirs / ours,
            "× faster",
            5,
            True,
            f"{1e3 * ours:.3g} ms",
        )


def oracle_rows() -> Iterator[Row]:
    for alpha, most in ((10**4, 300), (10**5, 1000), (10**6, 3000)):
        calls = {
            m: cold_rdp(sa.PoissonSubsample(m, GAMMA), alpha, 50).oracle_calls(m) for m in SEEDS
        }
        worst = max(calls, key=lambda m: calls[m])
        yield Row(
            f"oracle calls at α = {alpha:,}, 50 digits",
            "–",
            calls[worst],
            "calls",
            most,
            False,
            f"worst: {worst}",
        )


def difference_rows() -> Iterator[Row]:
    curves = (
        sa.Gaussian(1),
        sa.Gaussian(5),
        sa.Gaussian(20),
        sa.Gaussian(100),
        sa.Laplace(2),
        sa.Laplace("1/2"),
        sa.RandomizedResponse("0.6"),
        sa.RandomizedResponse("0.9"),
    )
    for mechanism in curves:

        def ours(up_to: int, mechanism: sa.Node = mechanism) -> None:
            table: dict[int, Any] = {}

            def log_moment_at(bits: int, i: int) -> arb:
                if bits not in table:
                    table[bits] = sa.Accountant().curve(mechanism)
                return (i - 1) * table[bits](i)

            differences_at(log_moment_at, range(up_to + 1), 101)

        thousand = seconds(lambda: ours(1000), most=3)
        table = seconds(lambda m=mechanism: mpmath_difference_table(m, 1000), most=1)
        yield Row(
            f"{mechanism}: all B(ε,l), l <= 1000, 30 certified digits",
            "mpmath difference table",
            table / thousand,
            "× faster",
            5,
            True,
            f"{1e3 * thousand:.3g} ms",
        )
        yield Row(
            f"{mechanism}: l <= 3000",
            "l <= 1000 of this run",
            seconds(lambda: ours(3000), most=1) / thousand,
            "× its time",
            20,
            False,
        )


def fractional_rows() -> Iterator[Row]:
    ratios = {}
    for sigma in (0.3, 0.5, 1.0, 4.0):
        for q, alpha in ((0.01, 1.5), (0.1, 10.9), (0.001, 63.9)):
            step = sa.PoissonSubsample(sa.Gaussian(sigma), q)
            ours = seconds(lambda s=step, a=alpha: cold_rdp(s, a, 50), least=0.05)
            theirs = seconds(lambda s=sigma, q=q, a=alpha: mpmath_series(s, q, a), most=1)
            ratios[sigma, q, alpha] = theirs / ours
    worst = min(ratios, key=lambda case: ratios[case])
    yield Row(
        "fractional sampled Gaussian, 50 certified digits, 12 cases",
        "2,000 terms of the series, mpmath",
        ratios[worst],
        "× faster",
        50,
        True,
        f"worst: σ, q, α = {worst}",
    )


def query_rows(peers: dict[str, Any]) -> Iterator[Row]:
    run = 600_000 * sa.PoissonSubsample(sa.Gaussian(5), GAMMA)

    def query(digits: int, orders: Any = None) -> Any:
        return sa.Accountant(digits=digits).epsilon(run, "1e-8", BY_ORDERS, orders)

    known = {name: peers[name]["ms"] / 1e3 for name in peers if "ms" in peers[name]}
    float64 = {name: known[name] for name in ("dp_accounting", "opacus") if name in known}
    cold = seconds(lambda: query(50, "integer"), least=1)
    what = "ε of 600,000 × Poisson(Gaussian(5)), cold"
    if float64:
        best = min(float64, key=lambda name: float64[name])
        yield Row(
            f"{what}: whole orders, 50 digits",
            f"{best}, the faster of {sorted(float64)}",
            float64[best] / cold,
            "× faster",
            8,
            True,
            f"{1e3 * cold:.3g} ms",
        )
        real = seconds(lambda: query(30), least=1)
        yield Row(
            f"{what}: all real orders, optimum to 30 digits",
            best,
            float64[best] / real,
            "× faster",
            6,
            True,
            f"{1e3 * real:.3g} ms, {peak(lambda: query(30))}",
        )
    if "dp_accelerator" in known:
        thirty = seconds(lambda: query(30, "integer"), least=1)
        yield Row(
            f"{what}: whole orders, 30 digits",
            "dp-accelerator 0.1.0 (Rust, float64)",
            thirty / known["dp_accelerator"],
            "× its time",
            1,
            False,
            f"{1e3 * thirty:.3g} ms, {peak(lambda: query(30, 'integer'))}",
        )

    def converted(name: str) -> Any:
        return sa.Accountant(30).epsilon(run, "1e-8", name)

    improved, optimal = (
        seconds(lambda name=name: converted(name), least=0.5) for name in ("improved", "optimal")
    )
    yield Row(
        f"{what}: all real orders, the optimal conversion",
        "the improved one",
        optimal / improved,
        "× its time",
        5,
        False,
        f"{1e3 * optimal:.3g} ms, {peak(lambda: converted('optimal'))}",
    )
    accountant = sa.Accountant(digits=50)
    accountant.epsilon(run, "1e-8", BY_ORDERS)
    warm = seconds(lambda: accountant.epsilon(run, "1e-8", BY_ORDERS))
    first = seconds(lambda: query(50), least=0.5)
    yield Row("the same, warm", "cold", first / warm, "× faster", 20, True)
    if "autodp" in known:
        wor = 600_000 * sa.SubsampleWithoutReplacement(sa.Gaussian(5), GAMMA)
        improved = seconds(
            lambda: sa.Accountant(30).epsilon(
                wor, "1e-8", by="WBK19-T27", orders="integer", conversion="classic"
            )
        )
        yield Row(
            "the WBK19-T27 version, 30 certified digits",
            "autodp's improved bound",
            known["autodp"] / improved,
            "× faster",
            1,
            True,
            f"{1e3 * improved:.3g} ms",
        )


def composition_rows() -> Iterator[Row]:
    steps = [sa.PoissonSubsample(sa.Gaussian(Fraction(1000 + i, 200)), GAMMA) for i in range(1000)]
    tracemalloc.start()
    total = sa.Compose(*(steps[i % 1000] for i in range(10**6)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    accountant = sa.Accountant(digits=30)
    accountant.epsilon(total, "1e-8", orders="integer")
    asked = accountant.oracle_calls(total)
    calls = sum(accountant.oracle_calls(step) for step in steps) / len(steps)
    yield Row(
        "10⁶ compositions of 1,000 mechanisms: values of curves for one ε",
        "one of each mechanism at each order asked of the whole",
        calls / asked,
        "× as many",
        1.05,
        False,
        f"{len(total.terms):,} entries, {asked} orders, {most / 1e6:.1f} MB at most",
    )


def epochs(accountant: sa.Accountant) -> float:
    """100 epochs, a new σ each, ε after each: the last one."""
    total, epsilon = sa.Compose(), 0.0
    for i in range(100):
        total += 100 * sa.PoissonSubsample(sa.Gaussian(1 + Fraction(i, 100)), "1/100")
        epsilon = float(accountant.epsilon(total, "1e-5", BY_ORDERS).epsilon)
    return epsilon


def distinct(accountant: sa.Accountant) -> sa.Node:
    """3,000 steps of different σ, of which ε has been asked for δ = 1e-5."""
    noise = (sa.Gaussian(1 + Fraction(i, 500)) for i in range(3000))
    total = sa.Compose(sa.PoissonSubsample(one, GAMMA) for one in noise)
    accountant.epsilon(total, "1e-5", BY_ORDERS)
    return total


def many_rows(peers: dict[str, Any]) -> Iterator[Row]:
    """Compositions of many different parts, against dp_accounting's RdpAccountant."""
    for name, work, ask, goal in (
        ("epochs", "100 epochs, a new σ each, ε after each, 30 digits, cold", epochs, 3),
        ("distinct", "3,000 distinct σ in one composition, 30 digits, cold", distinct, 30),
    ):
        ours = seconds(lambda: ask(sa.Accountant()))  # noqa: B023
        if "ms" in peers[name]:
            note = f"{ours:.3g} s, {peak(lambda: ask(sa.Accountant()))}"  # noqa: B023
            figure = peers[name]["ms"] / 1e3 / ours
            yield Row(work, "dp_accounting", figure, "× faster", goal, True, note)
    accountant = sa.Accountant()
    total = distinct(accountant)
    deltas = (Fraction(1, 10**5 + i) for i in range(1, 10**6))
    second = seconds(lambda: accountant.epsilon(total, next(deltas), BY_ORDERS))
    note = peak(lambda: accountant.epsilon(total, next(deltas), BY_ORDERS))
    yield Row("the same, a second δ", "the first", ours / second, "× faster", 20, True, note)


def profile_rows(peers: dict[str, Any]) -> Iterator[Row]:
    """The exact ε(δ) against float64 accountants on grids: time, and how far off they are."""
    cases = (
        (600_000, sa.Gaussian(5), GAMMA, "1e-8"),
        (14_062, sa.Gaussian("1.1"), "256/60000", "1e-5"),
        (10_000, sa.Gaussian(4), "1/100", "1e-5"),
        (1000, sa.Gaussian("1.1"), "1/100", "1e-5"),
    )
    for count, noise, rate, delta in cases:
        run = count * sa.PoissonSubsample(noise, rate)
        cold = seconds(lambda: sa.Accountant(30).epsilon(run, delta, "exact"))  # noqa: B023
        what = f"exact ε of {count:,} × Poisson({noise!r}), 30 digits"
        yield Row(f"{what}, cold", "processor time", 1e3 * cold, "ms", 15, False)
        true = float(sa.Accountant(20).epsilon(run, delta, "exact").epsilon)
        for name in ("pld", "prv"):
            peer = peers["profiles"][f"{name} {count}"]
            if "ms" in peer:
                off = f"its ε is {peer['epsilon'] / true - 1:+.2%} off"
                yield Row(what, name, peer["ms"] / 1e3 / cold, "× faster", 10, True, off)
        accountant = sa.Accountant(30)
        accountant.epsilon(run, delta, "exact")
        near = (Fraction(delta) * (1 + Fraction(i, 1000)) for i in range(1, 10**6))
        warm = seconds(lambda: accountant.epsilon(run, next(near), "exact"))  # noqa: B023
        yield Row(f"{what}, a second δ", "processor time", 1e3 * warm, "ms", 0.2, False)


def profile_cost_rows() -> Iterator[Row]:
    """What an exact ε costs by digits, runs, kinds of parts."""

    def cost(m: sa.Node, delta: str, digits: int = 30) -> float:
        return seconds(lambda: sa.Accountant(digits).epsilon(m, delta, "exact"))

    sampled, parts = sa.PoissonSubsample, range(1000, 2000)
    step = sampled(sa.Gaussian(5), GAMMA)
    distinct = sa.Compose(*(sampled(sa.Gaussian(Fraction(i, 200)), GAMMA) for i in parts))
    for what, goal, m, delta, digits in (
        ("600,000 × Poisson(Gaussian(5)), 100 digits", 100, 600_000 * step, "1e-8", 100),
        (
            "14,062 × Poisson(Gaussian(1.1)), 100 digits",
            100,
            14_062 * sampled(sa.Gaussian("1.1"), "256/60000"),
            "1e-5",
            100,
        ),
        (
            "1,000 × Poisson(Gaussian(1.1), 1/100), 100 digits",
            100,
            1000 * sampled(sa.Gaussian("1.1"), "1/100"),
            "1e-5",
            100,
        ),
        ("10 × Poisson(Gaussian(1), 1/10)", 200, 10 * sampled(sa.Gaussian(1), "1/10"), "1e-5", 30),
        ("2 × Poisson(Laplace(2), 1/10)", 1000, 2 * sampled(sa.Laplace(2), "1/10"), "1e-5", 30),
        ("1,000 distinct Poisson(Gaussian)", 3000, distinct, "1e-8", 30),
    ):
        spent = 1e3 * cost(m, delta, digits)
        yield Row(f"exact ε of {what}, cold", "processor time", spent, "ms", goal, False)
    many = cost(10**8 * step, "1e-8") / cost(600_000 * step, "1e-8")
    yield Row("exact ε of 10⁸ runs", "of 600,000", many, "× its time", 1.5, False)


def cold_triangle(node: sa.Node, ask: Callable[[sa.Accountant], Any]) -> Any:
    """An answer with nothing remembered of which triangle is the worst."""
    triangles._worst.cache_clear()
    triangles._square_of.cache_clear()
    triangles._raised_end.cache_clear()
    worst_triangles._tops.cache_clear()
    return ask(sa.Accountant(30))


def triple_rows(peers: dict[str, Any]) -> Iterator[Row]:
    """The exact curves of sampling: one triple, the proof that it is the worst, one ε."""
    for sigma, rate, alpha in (
        (5, GAMMA, Fraction(64)),
        (5, GAMMA, Fraction(36)),
        (1, GAMMA, Fraction(61, 10)),
        (2, "1/10", Fraction(15, 2)),
    ):
        step = sa.SubsampleWithoutReplacement(sa.Gaussian(sigma), rate)
        shape = Triangles(alpha, Fraction(rate), Fraction(1, sigma))
        what = f"fixed size, Gaussian({sigma}), {rate}: ε({alpha}), 30 digits, cold"
        with precision(120):
            one = max(seconds(lambda t=t: triple_excess(t)) for t in shape.ends)
        yield Row(f"{what}, one triple", "processor time", 1e3 * one, "ms", 50, False)
        proved = seconds(
            lambda m=step, a=alpha: cold_triangle(
                m, lambda accountant: accountant.rdp(m, a, by="TRIPLE-GAUSSIAN")
            )
        )
        yield Row(f"{what}, the worst, proved", "processor time", 1e3 * proved, "ms", 500, False)
    run = 600_000 * sa.SubsampleWithoutReplacement(sa.Gaussian(5), GAMMA)

    def epsilon(accountant: sa.Accountant) -> Any:
        return accountant.epsilon(run, "1e-8", by="TRIPLE-GAUSSIAN")

    what = "exact ε of 600,000 × fixed-size Gaussian(5), all real orders, 30 digits, cold"
    true = float(cold_triangle(run, epsilon).epsilon)
    ours = seconds(lambda: cold_triangle(run, epsilon), least=1)
    yield Row(what, "processor time", 1e3 * ours, "ms", 2000, False, f"ε = {true:.9f}")
    for name in ("fsrdp", "autodp"):
        if "ms" in peers[name]:
            off = f"its ε is {peers[name]['epsilon'] / true - 1:+.2%} off"
            yield Row(what, name, peers[name]["ms"] / 1e3 / ours, "× faster", 1, True, off)
    pure = sa.PureDP(1)
    schemes = sa.SubsampleWithoutReplacement(pure, GAMMA), sa.PoissonSubsample(pure, GAMMA)
    for alpha in (8, Fraction(15, 2), 64):
        exact, poisson = (seconds(lambda m=m, a=alpha: cold_rdp(m, a, 30)) for m in schemes)
        yield Row(
            f"TRIPLE-PURE: ε({alpha}) of PureDP(1), 30 digits, cold",
            "Poisson sampling of PureDP(1)",
            exact / poisson,
            "× its time",
            1,
            False,
            f"{1e3 * exact:.3g} ms",
        )


def peers_answer() -> dict[str, Any]:
    """The peers' figures from their own environment, made on first use."""
    home = OUT / "peers"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *PEERS[:-1]], check=True)
        subprocess.run([*pip, "--no-deps", PEERS[-1]], check=True)
    answer = subprocess.run(
        [str(python), str(HERE / "peers.py")], check=True, capture_output=True, text=True
    )
    return dict(json.loads(answer.stdout.splitlines()[-1]))


# --- the report


def cost_plot(path: Path) -> None:
    """Time and oracle calls against α, and time against digits."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4), layout="constrained")
    orders = [int(10**k) for k in np.arange(1, 7.01, 0.5)]
    digits = [5, 15, 30, 50, 100, 200, 500, 1000]
    for mechanism in SEEDS:
        step = sa.PoissonSubsample(mechanism, GAMMA)
        times = [1e3 * seconds(lambda s=step, a=a: cold_rdp(s, a, 50), 0.02) for a in orders]
        axes[0].loglog(orders, times, ".-", label=repr(mechanism))
        calls = [max(1, cold_rdp(step, a, 50).oracle_calls(mechanism)) for a in orders]
        axes[1].loglog(orders, calls, ".-")
        times = [1e3 * seconds(lambda s=step, d=d: cold_rdp(s, 1000, d), 0.02) for d in digits]
        axes[2].loglog(digits, times, ".-")
    for axis, title, label in zip(
        axes,
        ("time at 50 certified digits", "oracle calls at 50 digits", "time at α = 1000"),
        ("order α", "order α", "certified digits"),
        strict=True,
    ):
        axis.set_title(title)
        axis.set_xlabel(label)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("milliseconds, cold")
    axes[1].set_ylabel("distinct orders asked of the mechanism")
    axes[2].set_ylabel("milliseconds, cold")
    axes[0].legend(fontsize=7)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def printed(group: Callable[..., Iterable[Row]], *given: Any) -> list[Row]:
    """The rows, each printed when it has been measured."""
    rows = []
    for row in group(*given):
        print(row, flush=True)
        rows.append(row)
    return rows


def main() -> int:
    OUT.mkdir(exist_ok=True)
    rows: list[Row] = []
    peers = peers_answer()
    for group, *given in (
        (query_rows, peers),
        (wait_rows, peers),
        (poisson_rows,),
        (oracle_rows,),
        (difference_rows,),
        (fractional_rows,),
        (composition_rows,),
        (many_rows, peers),
        (profile_rows, peers),
        (profile_cost_rows,),
        (triple_rows, peers),
    ):
        # In a process of its own, as each peer is: what other rows leave behind slows a heap.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            rows += alone.submit(printed, group, *given).result()
    cost_plot(OUT / "bench.png")
    for name, answer in peers.items():
        aside = "its rows stand aside, " if "error" in answer else ""
        print(f"{name}: {aside}{answer}")
    print(f"{sum(row.met for row in rows)} of {len(rows)} rows met")
    report = {"rows": [{**asdict(row), "met": row.met} for row in rows], "peers": peers}
    (OUT / "bench.json").write_text(json.dumps(report, indent=2, default=str) + "\n")
    print(f"written: {OUT / 'bench.json'}, {OUT / 'bench.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
