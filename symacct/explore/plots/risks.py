"""The picture of an attacker's tests: how many members are found for how many false alarms."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from symacct.explore.plots.drawing import Drawing
from symacct.explore.plots.lines import line
from symacct.kernel.answer import Bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: From one false alarm in a million, three to a power of ten, and then up to nearly all.
FPRS = (
    *(Fraction(x, 10**power) for power in range(6, 0, -1) for x in (1, 2, 5)),
    *(Fraction(x, 100) for x in (65, 80, 99)),
)


def roc(
    tests: Iterable[tuple[str, Iterable[Bound]]],
    fprs: list[Fraction],
    relation: str,
    axes: Axes | None,
) -> Figure:
    """The true positive rate of each of the tests against its false positive rate."""
    drawing = Drawing(axes, "false positive rate", "true positive rate", relation)
    for name, rates in tests:
        drawing.add(line(name, list(zip(fprs, rates, strict=True))))
    blind = list(map(float, fprs))
    drawing.axes.plot(blind, blind, ":", color="0.5", label="a blind guess")
    return drawing.finished()
