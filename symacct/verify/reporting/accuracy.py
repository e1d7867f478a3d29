"""A map of a peer's accuracy: the largest error in each box of noise, rate and order."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from symacct.verify.peer.protocol import Ask
from symacct.verify.reporting.report import PlottedError, Report, stored

#: A box spans a decade of each; what is not sampled has no rate.
Box = tuple[str, int, int | None, int]
_LOWEST_DECADE = -17  # of α − 1 where α = 1


def _box(point: PlottedError) -> Box:
    part = point.ask.parts[0]
    rate = None if point.gamma is None else _decade(point.gamma)
    label = f"{part.mechanism}, {part.sampling.replace('_', ' ')}"
    return label, _decade(point.scale), rate, _decade(point.alpha - 1)


def boxes(points: Iterable[PlottedError]) -> dict[Box, PlottedError]:
    """The worst point of each box, by mechanism, noise, rate and order."""
    worst: dict[Box, PlottedError] = {}
    for point in points:
        kept = worst.setdefault(_box(point), point)
        if point.ulps > kept.ulps:
            worst[_box(point)] = point
    return dict(sorted(worst.items(), key=lambda item: str(item[0])))


def _decade(x: float) -> int:
    return math.floor(math.log10(x)) if x > 0 else _LOWEST_DECADE


def table(report: Report) -> str:
    """The map as a table in Markdown, the worst boxes first."""
    head = "| noise | parameter from | rate from | α − 1 from | largest error, ulp | at |"
    rows = [f"# {report.peer} {report.version}", "", head, "| --- " * 6 + "|"]
    worst_first = sorted(boxes(report.points).items(), key=lambda item: -item[1].ulps)
    for (label, scale, rate, order), worst in worst_first:
        sampled = "" if rate is None else f"1e{rate}"
        where = f"`{worst.ask.expression}`, α = {worst.ask.at}"
        rows.append(f"| {label} | 1e{scale} | {sampled} | 1e{order} | {worst.ulps:.3g} | {where} |")
    return "\n".join(rows)


def replayed(file: str) -> list[PlottedError]:
    """Reads the worst cases of earlier runs; none where there is no file yet."""
    if not Path(file).exists():
        return []
    return stored(
        file,
        "--replay",
        lambda row: [
            PlottedError(Ask.of(case["ask"], case), 0.0, float(case["ulps"]))
            for case in row["worst"]
        ],
    )


def grown(before: Sequence[PlottedError], report: Report) -> str:
    """The replay file with what this run found worse, or in boxes that had nothing yet."""
    kept = boxes([*before, *report.points]).values()
    rows = [{"ulps": point.ulps, "ask": point.ask.kind, **point.ask.parameters()} for point in kept]
    return json.dumps({"peer": report.peer, "worst": rows}, indent=1, ensure_ascii=False)
