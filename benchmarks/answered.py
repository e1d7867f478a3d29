"""How many random questions the exact profile answers soon: shares by kind, and the slow ones.

`python -m benchmarks.answered [--count 500] [--seed 28] [--digits 4] [--limit 6] [--kind pairs]
[--conversion best] [--jobs 1] [--out FILE]`. Every question is asked in a process of its own, which
the kernel ends at `--limit` seconds of its processor time, so a busy machine changes nothing.
"soon" is an answer of the exact profile below 2 s, "other" one of another conversion or of fewer
digits, "refused" an error, both below 2 s as well; "slow" is whatever takes longer. By
`--conversion best`, which has `limits(seconds=…)` for all that it tries, every answer below 2 s is
"soon". A draw of `--count` questions begins with those of a smaller one. It uses the public
contract alone: PYTHONPATH says of which checkout.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import symacct as sa

SOON = 2.0  # seconds of processor time
HEAD = ("soon", "other", "refused", "slow")
Draw = random.Random


@dataclass(frozen=True)
class Question:
    """What one would type, asked for ε at a δ, or for δ at an ε."""

    kind: str
    text: str
    given: str
    asks: str = "epsilon"

    def __str__(self) -> str:
        asked = "delta" if self.asks == "epsilon" else "epsilon"
        return f'{self.asks} "{self.text}" --{asked} {self.given}'


def log_uniform(draw: Draw, low: float, high: float, digits: int = 2) -> str:
    """A decimal number of so many digits."""
    return f"{math.exp(draw.uniform(math.log(low), math.log(high))):.{digits}g}"


def runs(draw: Draw, most: float) -> int:
    return round(float(log_uniform(draw, 1, most)))


def rate(draw: Draw) -> str:
    """10^−8 to 1 − 10^−3: one of three is nearer to 1 than to 0."""
    if draw.random() < 1 / 3:
        return f"{1 - float(log_uniform(draw, 1e-3, 0.5)):.4g}"
    return log_uniform(draw, 1e-8, 0.5)


def delta(draw: Draw) -> str:
    return log_uniform(draw, 1e-15, 1e-2, 1)


def sampled(draw: Draw, low: float = 1e-8) -> str:
    """One sample of noise: of Gaussian noise mostly."""
    base = draw.choice(
        (
            f"Gaussian({log_uniform(draw, 0.5, 30)})",
            f"Gaussian({log_uniform(draw, 0.5, 30)})",
            f"Laplace({log_uniform(draw, 0.5, 10)})",
            f"RandomizedResponse({draw.uniform(0.51, 0.9):.2f})",
        )
    )
    return f"PoissonSubsample({base}, {log_uniform(draw, low, 0.5)})"


def gaussian(draw: Draw) -> str:
    noise = f"Gaussian({log_uniform(draw, 0.3, 1000)})"
    return f"{runs(draw, 1e6)}*PoissonSubsample({noise}, {rate(draw)})"


def mix(draw: Draw) -> str:
    parts = [f"{runs(draw, 1e4)}*{sampled(draw, 1e-5)}" for _ in range(draw.choice((1, 2, 2)))]
    other = (f"{runs(draw, 10)}*RandomizedResponse(0.6)", f"Gaussian({log_uniform(draw, 1, 30)})")
    return " + ".join([*parts, draw.choice((sampled(draw, 1e-5), *other))])


def whole_noise(draw: Draw) -> str:
    """Runs or samples of discrete Gaussian or Skellam noise, or runs of two."""
    noise = (
        lambda: f"DiscreteGaussian({log_uniform(draw, 0.5, 50)})",
        lambda: f"Skellam({log_uniform(draw, 1, 1000)})",
    )
    way = draw.randrange(4)
    if way == 0:
        return f"{runs(draw, 1000)}*{draw.choice(noise)()}"
    if way == 1:
        return f"{runs(draw, 30)}*{draw.choice(noise)()} + {runs(draw, 30)}*{draw.choice(noise)()}"
    sample = f"PoissonSubsample({draw.choice(noise)()}, {log_uniform(draw, 1e-4, 0.5)})"
    return f"{runs(draw, 1e4)}*{sample}"


def pair(draw: Draw) -> str:
    """Two laws of two to six outcomes, each one turned round, or any two."""
    count = draw.randint(2, 6)
    left = [draw.randint(1, 20) for _ in range(count)]
    right = left[::-1] if draw.random() < 0.5 else [draw.randint(1, 20) for _ in range(count)]
    if left == right:
        right = [left[0] + 1, *left[1:]]
    laws = (", ".join(f"{x}/{sum(law)}" for x in law) for law in (left, right))
    return "{}*DistributionPair([{}], [{}])".format(runs(draw, 1e4), *laws)


def mixture(draw: Draw) -> str:
    """Two mechanisms on one sample, one of two by a coin, or mixed normal noise."""
    noise = f"Gaussian({log_uniform(draw, 0.5, 20)})", f"Laplace({log_uniform(draw, 0.5, 20)})"
    way, count = draw.randrange(3), runs(draw, 1000)
    if way == 0:
        return f"{count}*PoissonSubsample({' + '.join(noise)}, {log_uniform(draw, 1e-4, 0.5)})"
    if way == 1:
        return f"{count}*Either({', '.join(noise)}, {draw.randint(1, 9)}/10)"
    variance, weight = log_uniform(draw, 0.3, 30), draw.randint(1, 9)
    mixed = f"NormalMixture([0, 1], [{weight}/10, {10 - weight}/10], {variance})"
    return f"{runs(draw, 100)}*DistributionPair({mixed}, Normal(0, {variance}))"


def laplace(draw: Draw) -> str:
    noise = f"Laplace({log_uniform(draw, 0.2, 50)})"
    if draw.random() < 0.5:
        noise = f"PoissonSubsample({noise}, {log_uniform(draw, 1e-4, 0.5)})"
    return f"{runs(draw, 30)}*{noise}"


def fixed_size(draw: Draw) -> str:
    noise = (
        f"Gaussian({log_uniform(draw, 0.5, 30)})",
        f"Laplace({log_uniform(draw, 0.5, 30)})",
        f"RandomizedResponse({draw.uniform(0.51, 0.9):.2f})",
    )
    share = log_uniform(draw, 1e-4, 0.7)
    return f"{runs(draw, 1e4)}*SubsampleWithoutReplacement({draw.choice(noise)}, {share})"


KINDS: dict[str, tuple[Callable[[Draw], str], int]] = {
    "sampled Gaussian, ε": (gaussian, 30),
    "sampled Gaussian, δ": (gaussian, 10),
    "mixes": (mix, 14),
    "whole-number noise": (whole_noise, 12),
    "pairs": (pair, 10),
    "mixtures": (mixture, 8),
    "Laplace": (laplace, 8),
    "fixed size": (fixed_size, 8),
}


def questions(count: int, seed: int) -> Iterator[Question]:
    for number in range(count):
        draw = Draw(f"{seed} {number}")
        (kind,) = draw.choices(list(KINDS), [share for _, share in KINDS.values()])
        text = KINDS[kind][0](draw)
        if kind.endswith("δ"):
            yield Question(kind, text, log_uniform(draw, 1e-3, 10), "delta")
        else:
            yield Question(kind, text, delta(draw))


def ask(question: Question, digits: int, conversion: str) -> tuple[str, str]:
    """soon, other or refused, and what was said."""
    node, options = sa.parse(question.text), {"conversion": conversion, "digits": digits}
    try:
        found = getattr(node, question.asks)(question.given, **options)
    except sa.InfiniteError as error:  # the truth
        return "soon", str(error)
    except sa.SymacctError as error:
        return "refused", f"{type(error).__name__}: {error}"
    number = getattr(found, question.asks)
    said = f"{number} by {found.conversion}"
    is_whole = found.conversion == "exact" and number.digits >= digits
    is_soon = is_whole or number.upper == 0 or conversion != "exact"
    return "soon" if is_soon else "other", said


def child(question: Question, digits: int, conversion: str, limit: float, out: int) -> None:
    """Answers in a fork of this process, which has imported what it needs."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        said = ask(question, digits, conversion)
    except BaseException as error:  # any other error is what it would be to a user
        said = ("refused", f"UNTYPED {type(error).__name__}: {error}")
    os.write(out, json.dumps(said).encode()[:60_000])
    os._exit(0)


def measured(
    asked: list[Question], digits: int, conversion: str, limit: float, jobs: int
) -> Iterator[tuple[Question, str, float, str]]:
    """Each question with what came of it, its processor time and what was said, as they end."""
    running: dict[int, tuple[Question, int]] = {}
    waiting = collections.deque(asked)
    while waiting or running:
        while waiting and len(running) < jobs:
            question = waiting.popleft()
            read, write = os.pipe()
            if (pid := os.fork()) == 0:
                child(question, digits, conversion, limit, write)
            os.close(write)
            running[pid] = question, read
        pid, _, usage = os.wait3(0)
        question, read = running.pop(pid)
        with os.fdopen(read, "rb") as pipe:
            text = pipe.read()
        spent = usage.ru_utime + usage.ru_stime
        came, said = json.loads(text) if text else ("slow", f"ended at {limit:g} s")
        yield question, "slow" if spent > SOON else came, spent, said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=28)
    parser.add_argument("--digits", type=int, default=4)
    parser.add_argument("--limit", type=float, default=6.0)
    parser.add_argument("--kind", default="", help="only kinds whose name has this in it")
    parser.add_argument("--conversion", choices=("exact", "best"), default="exact")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a file for a line of JSON for each question")
    options = parser.parse_args()
    sa.parse("3*PoissonSubsample(Gaussian(2), 1/9)").epsilon("1e-5", conversion="exact", digits=4)
    asked = [q for q in questions(options.count, options.seed) if options.kind in q.kind]
    counts = {kind: collections.Counter[str]() for kind in KINDS}
    lines, written, total = [], [], 0.0
    started = time.monotonic()
    how = (options.digits, options.conversion, options.limit, options.jobs)
    for question, came, spent, said in measured(asked, *how):
        counts[question.kind][came] += 1
        total += spent
        written.append({"question": str(question), "came": came, "seconds": spent, "said": said})
        if options.out:
            options.out.write_text("\n".join(map(json.dumps, written)) + "\n")
        if came != "soon":
            lines.append(f"{came:8} {spent:5.1f} s  {question}\n{'':17}{said[:200]}")
    print(f"{'':24}{'asked':>7}" + "".join(f"{name:>9}" for name in HEAD))
    counts["in all"] = sum(counts.values(), collections.Counter())
    for kind, of in counts.items():
        if many := of.total():
            shares = "".join(f"{100 * of[name] / many:8.1f}%" for name in HEAD)
            print(f"{kind:24}{many:7}{shares}")
    print(f"{total:.0f} s of processor time, {time.monotonic() - started:.0f} s in all\n")
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
