"""A map of a peer's accuracy: the largest error in each box of noise, rate and order."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from symacct.verify.peer.protocol import Ask
from symacct.verify.reporting.report import PlottedError, Report, stored

#: The mechanism with its sampling, and the decades (powers of ten) of noise, rate and α − 1.
Box = tuple[str, int, int | None, int]
#: The decade of 0, such as that of α − 1 at the order 1.
_LOWEST_DECADE = -17


def _box(point: PlottedError) -> Box:
    """The box of a point; what is not sampled has no rate."""
    part = point.ask.parts[0]
    rate = None if point.gamma is None else _decade(point.gamma)
    label = f"{part.mechanism}, {part.sampling.replace('_', ' ')}"
    return label, _decade(point.scale), rate, _decade(point.alpha - 1)


def boxes(points: Iterable[PlottedError]) -> dict[Box, PlottedError]:
    """The point of each box with the most ulps, or the first of several; sorted as text by box."""
    worst: dict[Box, PlottedError] = {}
    for point in points:
        kept = worst.setdefault(_box(point), point)
        if point.ulps > kept.ulps:
            worst[_box(point)] = point
    return dict(sorted(worst.items(), key=lambda item: str(item[0])))


def _decade(x: float) -> int:
    """⌊log₁₀ x⌋ for x > 0."""
    return math.floor(math.log10(x)) if x > 0 else _LOWEST_DECADE


def table(report: Report) -> str:
    """The map of this run as a table in Markdown, a row for each box, the worst first."""
    head = "| noise | parameter from | rate from | α − 1 from | largest error, ulp | at |"
    rows = [f"# {report.peer} {report.version}", "", head, "| --- " * 6 + "|"]
    worst_first = sorted(boxes(report.points).items(), key=lambda item: -item[1].ulps)
    for (label, scale, rate, order), worst in worst_first:
        sampled = "" if rate is None else f"1e{rate}"
        where = f"`{worst.ask.expression}`, α = {worst.ask.at}"
        rows.append(f"| {label} | 1e{scale} | {sampled} | 1e{order} | {worst.ulps:.3g} | {where} |")
    return "\n".join(rows)


def replayed(file: str) -> list[PlottedError]:
    """Reads the worst cases that `grown` wrote, or raises StoredError; none without a file."""
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
    """The text of the replay file: the worst of each box, in this run or `before` it."""
    kept = boxes([*before, *report.points]).values()
    rows = [{"ulps": point.ulps, "ask": point.ask.kind, **point.ask.parameters()} for point in kept]
    return json.dumps({"peer": report.peer, "worst": rows}, indent=1, ensure_ascii=False)
