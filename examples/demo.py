"""`make demo`: ε of WBK19's and ZW19's mechanisms, tables and a picture.

First ε(k) by Rényi orders to 30 digits, and in the end the numbers to report.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import click

from symacct.export.description import neighbours_short
from symacct.export.figures import legend_above
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Guarantee, order_text
from symacct.kernel.claims import Kind
from symacct.kernel.deadline import progress
from symacct.kernel.node import Node
from symacct.mechanisms import Gaussian, Laplace, RandomizedResponse
from symacct.operations import PoissonSubsample, SubsampleWithoutReplacement
from symacct.results.terminal import print_table

RATE = "1/1000"
DELTA = "1e-8"
RUNS = (1, 10, 100, 1_000, 10_000, 100_000, 600_000)
PICTURE = Path("out") / "demo.png"
# What composition and interpolation add is not what a reader asks: which theorem bounds a step?
_PLUMBING = {"MIR17-P1", "WBK19-C10"}


@dataclass(frozen=True)
class Setting:
    """One mechanism of the papers, subsampled in one way."""

    privacy: str
    scheme: str
    step: Node

    @property
    def mechanism(self) -> Node:
        return self.step.children[0]


@dataclass(frozen=True)
class Answer:
    """The guarantee of k runs in one setting."""

    setting: Setting
    runs: int
    guarantee: Guarantee

    @property
    def theorem(self) -> str:
        """The theorem that bounds one step."""
        return ", ".join(t for t in self.guarantee.claim.theorems if t not in _PLUMBING)

    @property
    def order(self) -> str:
        return order_text(self.guarantee.alpha)


def settings() -> Iterator[Setting]:
    """WBK19 section 4: three mechanisms, high and low privacy, each sampled in both ways."""
    high = (Gaussian(5), Laplace(2), RandomizedResponse("0.6"))
    low = (Gaussian(1), Laplace("1/2"), RandomizedResponse("0.9"))
    for privacy, mechanisms in (("high", high), ("low", low)):
        for mechanism in mechanisms:
            yield Setting(privacy, "Poisson", PoissonSubsample(mechanism, RATE))
            yield Setting(
                privacy, "without replacement", SubsampleWithoutReplacement(mechanism, RATE)
            )


def answers() -> list[Answer]:
    """ε(k) in every setting."""
    accountant = Accountant(digits=30)
    found = []
    cases = [(setting, runs) for setting in settings() for runs in RUNS]
    with progress("certifying", len(cases)) as advance:
        for setting, runs in cases:
            guarantee = accountant.epsilon(runs * setting.step, DELTA, "improved")
            found.append(Answer(setting, runs, guarantee))
            advance(1)
    return found


def print_best() -> None:
    """The number to report in every setting, after the most runs."""
    click.echo(f"\nThe ε to report of {RUNS[-1]:,} runs at γ = {RATE}, δ = {DELTA}, rounded up")
    rows = []
    for setting in settings():
        g = (RUNS[-1] * setting.step).epsilon(DELTA, digits=6)
        kind = "no smaller ε is true" if g.kind is Kind.EXACT else "a proved bound"
        where = f"{setting.scheme}, {setting.step.claim.adjacency}"
        rows.append((repr(setting.mechanism), where, g.epsilon.rounded(), kind))
    print_table(("mechanism", "sampling", "ε to report", "what it is"), rows)


def print_tables(found: list[Answer]) -> None:
    """The answers of each setting below its name and its relation, ε rounded up."""
    click.echo(
        f"ε of k runs by Rényi orders at γ = {RATE}, δ = {DELTA}: 30 certified digits, rounded up"
    )
    for setting, group in groupby(found, lambda answer: answer.setting):
        click.echo(f"\n{setting.mechanism}, {setting.scheme}, {setting.step.claim.adjacency}")
        print_table(
            ("k", "ε by Rényi orders", "order α", "theorem"),
            ((f"{a.runs:,}", a.guarantee.epsilon.rounded(), a.order, a.theorem) for a in group),
        )


def picture(found: list[Answer], path: Path) -> Path:
    """ε against k, both axes logarithmic: one panel for each mechanism."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(13, 6.8), sharex=True, layout="constrained")
    for panel, mechanism in zip(
        axes.flat, dict.fromkeys(a.setting.mechanism for a in found), strict=True
    ):
        # The curves of most mechanisms are so near that a thin line would hide the other.
        wide = {"linewidth": 7, "alpha": 0.4, "solid_capstyle": "round"}
        thin = {"linewidth": 1.2, "marker": "o", "markersize": 3}
        for scheme, style in (("Poisson", wide), ("without replacement", thin)):
            line = [
                a for a in found if a.setting.mechanism is mechanism and a.setting.scheme == scheme
            ]
            panel.loglog(
                [a.runs for a in line],
                [float(a.guarantee.epsilon) for a in line],
                label=f"{scheme}, {_relation(line)} ({line[-1].theorem})",
                **style,
            )
        panel.grid(alpha=0.3)
        legend_above(panel, f"{mechanism!r}, {line[0].setting.privacy} privacy")
    for panel in axes[-1]:
        panel.set_xlabel("compositions k")
    for panel in axes[:, 0]:
        panel.set_ylabel(f"ε at δ = {DELTA}")
    figure.suptitle(f"Certified ε(k) by Rényi orders at γ = {RATE}", fontsize=12)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return path


def _relation(line: list[Answer]) -> str:
    return neighbours_short(line[0].setting.step.claim.adjacency)


def main() -> None:
    """Print the tables, write the picture."""
    started = time.monotonic()
    found = answers()
    print_tables(found)
    proved = sum(answer.guarantee.optimal for answer in found)
    click.echo(
        f"\nAll {len(found)} guarantees by Rényi orders are proved; in {proved} of them "
        f"the order is also proved to be the best. They took {time.monotonic() - started:.1f} s."
    )
    click.echo(f"ε against k: {picture(found, PICTURE)}")
    print_best()


if __name__ == "__main__":
    main()
