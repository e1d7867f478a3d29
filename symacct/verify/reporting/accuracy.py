"""A map of a peer's accuracy: the largest error in each box of noise, rate and order."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from symacct.kernel.errors import SymacctError, echo, reason
from symacct.verify.peer.process import PeerError
from symacct.verify.peer.protocol import Ask
from symacct.verify.reporting import page
from symacct.verify.reporting.report import PlottedError, Report

#: A box spans a decade of each; what is not sampled has no rate.
Box = tuple[str, int, int | None, int]
_MOST_BYTES = 2**26
_LEAST = -17  # of α − 1 where α = 1


class ReplayError(SymacctError):
    """A file is not one of worst cases."""


@dataclass(frozen=True)
class Worst:
    """The largest error in a box, in units in the last place of the truth, and where it is."""

    box: Box
    ulps: float
    ask: Ask

    def as_dict(self) -> dict[str, Any]:
        """For a replay file."""
        return {"ulps": self.ulps, "ask": self.ask.kind, **self.ask.parameters()}


def boxes(points: Iterable[PlottedError]) -> list[Worst]:
    """The worst of each box, by mechanism, noise, rate and order."""
    found: dict[Box, Worst] = {}
    for point in points:
        rate = None if point.gamma is None else _decade(point.gamma)
        box = point.label, _decade(point.scale), rate, _decade(point.alpha - 1)
        if box not in found or point.ulps > found[box].ulps:
            found[box] = Worst(box, point.ulps, point.ask)
    return [found[box] for box in sorted(found, key=str)]


def _decade(x: float) -> int:
    return math.floor(math.log10(x)) if x > 0 else _LEAST


def table(report: Report) -> str:
    """The map as a table in Markdown, the worst boxes first."""
    head = "| noise | parameter from | rate from | α − 1 from | largest error, ulp | at |"
    rows = [f"# {report.peer} {report.version}", "", head, "| --- " * 6 + "|"]
    for worst in sorted(boxes(report.points), key=lambda worst: -worst.ulps):
        label, scale, rate, order = worst.box
        sampled = "" if rate is None else f"1e{rate}"
        where = f"`{worst.ask.expression}`, α = {worst.ask.at}"
        rows.append(f"| {label} | 1e{scale} | {sampled} | 1e{order} | {worst.ulps:.3g} | {where} |")
    return "\n".join(rows)


def needs(file: str) -> None:
    """An error unless the map can be a file of that name: a table, or a picture of its kind."""
    if file.endswith(".md"):
        return
    page.needs()
    from matplotlib.figure import Figure

    if Path(file).suffix[1:].lower() not in Figure().canvas.get_supported_filetypes():
        raise PeerError(f"--map: found {echo(file)}, needed .md, .png, .svg or .pdf")


def draw(report: Report, file: str) -> None:
    """The map as a picture: for each noise a field of α − 1 and its parameter, of all rates."""
    from matplotlib.figure import Figure

    worst = boxes(report.points)
    labels = sorted({one.box[0] for one in worst})
    figure = Figure(figsize=(4.6 * max(1, len(labels)), 4.2), layout="constrained")
    axes = figure.subplots(1, max(1, len(labels)), squeeze=False)[0]
    for axis, label in zip(axes, labels, strict=False):
        fields: dict[tuple[int, int], float] = {}
        for one in worst:
            if one.box[0] == label:
                at = one.box[3], one.box[1]
                fields[at] = max(fields.get(at, 0.0), math.log10(max(1.0, one.ulps)))
        colours = axis.scatter(
            *zip(*fields, strict=True), c=[*fields.values()], marker="s", s=180, vmin=0, vmax=16
        )
        axis.set(title=label, xlabel="log₁₀(α − 1)", ylabel="log₁₀ of the parameter")
    if labels:
        figure.colorbar(colours, ax=axes, label="largest error, log₁₀ of ulp")
    figure.suptitle(f"{report.peer} {report.version}")
    figure.savefig(file, dpi=110)


def replayed(file: str) -> list[Worst]:
    """The worst cases of earlier runs; none where there is no file yet."""
    path = Path(file)
    if not path.exists():
        return []
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ReplayError(f"replay {echo(file)}: found more than {_MOST_BYTES >> 20} MiB")
        rows = json.loads(path.read_text(encoding="utf-8"))["worst"]
        return [_read(row) for row in rows]
    except OSError as error:
        raise ReplayError(f"replay {echo(file)}: cannot be read ({reason(error)})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReplayError(
            f"replay {echo(file)}: found {type(error).__name__} {echo(error)}, needed a file that "
            "`symacct verify --replay` wrote"
        ) from None


def _read(row: dict[str, Any]) -> Worst:
    ask, part = Ask.of(row["ask"], row), row["parts"][0]
    label = f"{part['mechanism']}, {part['sampling'].replace('_', ' ')}"
    rate = None if part.get("gamma") is None else _decade(float(Fraction(part["gamma"])))
    scale = _decade(float(Fraction(ask.parts[0].parameters[0][1])))
    box = label, scale, rate, _decade(float(Fraction(ask.at) - 1))
    return Worst(box, float(row["ulps"]), ask)


def grown(before: Sequence[Worst], report: Report) -> str:
    """The replay file with what this run found worse, or in boxes that had nothing yet."""
    kept = {worst.box: worst for worst in before}
    for worst in boxes(report.points):
        if worst.box not in kept or worst.ulps > kept[worst.box].ulps:
            kept[worst.box] = worst
    rows = [kept[box].as_dict() for box in sorted(kept, key=str)]
    return json.dumps({"peer": report.peer, "worst": rows}, indent=1, ensure_ascii=False)
