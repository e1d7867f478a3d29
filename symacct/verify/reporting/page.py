"""The report as one self-contained HTML page: tables, and plots of the error; all text escaped."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symacct.kernel import parameters
from symacct.verify.judging.verdict import ALLOWANCE
from symacct.verify.reporting.defects import Defect
from symacct.verify.reporting.document import ReportDocument
from symacct.verify.reporting.report import PlottedError, Report, finding_as_dict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Relative errors between which points are drawn; smaller and larger ones are drawn at these.
_FLOOR, _TOP = 1e-17, 1e12
#: The size of a dot in points, and how many times as large it is in the legend.
_DOT, _LEGEND = 6, 2

#: The Jinja template beside this file.
_TEMPLATE = Path(__file__).with_suffix(".html")


def needs() -> None:
    """MissingPackageError unless the packages that a page needs are here."""
    for module in ("jinja2", "matplotlib"):
        parameters.package(module, "--html", "pip install 'symacct[plot]'")


def page(documents: Sequence[ReportDocument], absent: Sequence[tuple[str, str]] = ()) -> str:
    """The HTML text of one page for all peers; `absent` are (name, why it was not run)."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    reports = [document.report for document in documents]
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        title="symacct verify: " + (reports[0].peer if len(reports) == 1 else "all peers"),
        allowance=f"{float(reports[0].allowance if reports else ALLOWANCE):g}",
        verdicts=sorted({verdict for report in reports for verdict in report.counts}),
        documents=documents,
        absent=absent,
        findings=_findings,
        plot=plot,
    )


def _findings(defect: Defect, report: Report) -> list[dict[str, Any]]:
    """The findings of a defect, the one that every report shows before the others."""
    first = defect.worst
    ordered = [first, *(cluster for cluster in defect.clusters if cluster is not first)]
    return [finding_as_dict(cluster, report.command) for cluster in ordered]


def plot(points: Sequence[PlottedError]) -> str:
    """The relative error against α − 1, the noise and the rate: a PNG in base64."""
    image = io.BytesIO()
    figure(points).savefig(image, format="png", dpi=110)
    return base64.b64encode(image.getvalue()).decode()


def figure(points: Sequence[PlottedError]) -> Figure:
    """Draws the relative error of each point against order, noise and rate."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(13, 4.2), layout="constrained")
    axes = drawn.subplots(1, 3, sharey=True)
    across: list[tuple[str, Callable[[PlottedError], float | None]]] = [
        ("order, α − 1", lambda p: p.alpha - 1),
        ("parameter of the noise (σ, b, p, ε, ρ)", lambda p: p.scale),
        ("sampling rate", lambda p: p.gamma),
    ]
    for axis, (name, of) in zip(axes, across, strict=True):
        _scatter(axis, points, of)
        axis.set_xlabel(name)
        axis.axhline(float(ALLOWANCE), color="0.6", linewidth=0.8)
    axes[0].set_ylabel("|value / truth − 1|")
    names = axes[0].get_legend_handles_labels()
    drawn.legend(*names, loc="outside upper left", ncols=3, markerscale=_LEGEND)
    return drawn


def _scatter(
    axis: Axes, points: Sequence[PlottedError], of: Callable[[PlottedError], float | None]
) -> None:
    """Draws the points over one number, coloured by their side of the truth."""
    sides: dict[str, tuple[str, Callable[[float], bool]]] = {
        "below the truth": ("#b00020", lambda error: error < 0),
        "above the truth": ("#1f5fa8", lambda error: error > 0),
        "in the enclosure": ("0.6", lambda error: error == 0),
    }
    for name, (colour, chosen) in sides.items():
        drawn = [(x, p.error) for p in points if chosen(p.error) and (x := of(p)) is not None]
        xs = [x for x, _ in drawn]
        ys = [min(max(abs(error), _FLOOR), _TOP) for _, error in drawn]
        axis.plot(xs, ys, ".", markersize=_DOT, color=colour, label=name, alpha=0.6)
    axis.set_xscale("log")
    axis.set_yscale("log")
    top = max([10.0, *(3 * abs(p.error) for p in points if abs(p.error) < _TOP)])
    axis.set_ylim(_FLOOR / 3, top)
