"""The picture: axes that read well, a style for each kind of statement."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from itertools import cycle, pairwise, product
from typing import TYPE_CHECKING, Any, cast

from symacct.explore.plots.lines import PlotLine
from symacct.export.figures import legend_above, matplotlib_module, picture
from symacct.kernel.claims import Kind
from symacct.kernel.errors import DomainError, GapWarning, echo, warn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

# Okabe and Ito's colours, told apart by every eye, neighbours in the list also in grey; then by
# the sign of an exact curve, and by how the sign of a bound is filled.
_COLOURS = ("#0072B2", "#E69F00", "#000000", "#D55E00", "#56B4E9", "#009E73")
_SIGNS = ("", "o", "s", "D", "P", "*")
_FILLS = ("full", "none", "left", "top", "right", "bottom")
_STYLES: dict[Kind, dict[str, Any]] = {
    Kind.EXACT: {"linestyle": "-", "linewidth": 2.4},
    Kind.UPPER: {"linestyle": "-", "linewidth": 1.2, "marker": "v"},
    Kind.LOWER: {"linestyle": "--", "linewidth": 1.2, "marker": "^"},
    Kind.NEITHER: {"linestyle": ":", "linewidth": 1.2, "marker": "x"},
}
_MARKERS = 12  # on a line
_WIDE = 10  # an axis whose ends have a larger ratio is logarithmic
_LETTERS = 14  # of a legend, in an inch
_ROWS, _ROW = 4, 0.15  # where names of landmarks may begin, in heights of the axes
_EVEN = 1.25  # the largest step of a grid that is even, over its smallest one
_SHORT = 100  # and holds at least two powers of ten from this ratio on
_FACTOR = 1000  # matplotlib writes a factor beside a linear axis of larger numbers, or smaller


class Drawing:
    """Lines, bands and landmarks on one pair of axes; `about` is what holds of all lines."""

    def __init__(self, axes: Axes | None, across: str, up: str, about: str) -> None:
        self.axes = _new_axes() if axes is None else axes
        if not hasattr(self.axes, "set_xlabel"):
            raise DomainError(f"plot, axes: found {echo(axes)}, needed the axes of a figure")
        self.axes.set_xlabel(across)
        self.axes.set_ylabel(up)
        self._about = about
        self._looks = cycle(zip(_COLOURS, _SIGNS, _FILLS, strict=True))
        self._lines: list[PlotLine] = []
        self._marks: set[tuple[float, str]] = set()

    def add(self, line: PlotLine) -> str:
        """Draw a line, and give its colour back."""
        colour, sign, fill = next(self._looks)
        if line.drawn:
            style = {"marker": sign, "fillstyle": fill} | _STYLES[line.kind]
            if line.kind is Kind.EXACT:
                style["fillstyle"] = "full"
            if not line.certified:
                style["linestyle"] = ":"
            every = max(1, len(line.points) // _MARKERS)
            x, y = zip(*line.points, strict=True)
            self.axes.plot(
                x,
                y,
                label=self._wrapped(line.label),
                color=colour,
                markersize=4,
                markevery=every,
                **style,
            )
            self._isolated(line, colour, style["marker"] or "o")
            self._lines.append(line)
        if line.why:
            gaps = len(line.points) - len(line.drawn)
            warn(
                f"plot: {line.name}: {gaps:,} of {len(line.points):,} points are gaps; {line.why}",
                GapWarning,
            )
        return colour

    def _isolated(self, line: PlotLine, colour: str, marker: str) -> None:
        """Points between gaps, which a line does not show."""
        drawn = [False, *(not math.isnan(y) for _, y in line.points), False]
        triples = zip(drawn, drawn[1:], drawn[2:], line.points, strict=False)
        alone = [point for *three, point in triples if three == [False, True, False]]
        for x, y in alone:
            self.axes.plot([x], [y], color=colour, marker=marker, markersize=4, linestyle="none")

    def band(self, below: PlotLine, above: PlotLine, colour: str) -> None:
        """Shade what is not decided between two bounds."""
        low, high = dict(below.points), dict(above.points)
        x = sorted(low.keys() & high.keys())
        if x:
            low_values, high_values = [low[at] for at in x], [high[at] for at in x]
            self.axes.fill_between(
                x, low_values, high_values, color=colour, alpha=0.15, linewidth=0
            )
            self._lines.append(below)

    def _wrapped(self, label: str) -> str:
        """The label in lines that are no wider than the picture, or than axes beside others."""
        figure, place = self.axes.figure.canvas.figure, self.axes.get_position()
        share = 1 - place.x0 if len(figure.axes) == 1 else place.width
        letters = max(20, round(_LETTERS * share * figure.get_figwidth()))
        return "\n".join(textwrap.wrap(_plain(label), letters, break_long_words=False))

    def mark(self, x: float, text: str) -> None:
        """A landmark on the horizontal axis."""
        self._marks.add((x, text))

    def _draw_marks(self) -> None:
        """The landmarks, each named where it hides nothing, or in the legend for want of room."""
        curves, beside = list(self.axes.lines), []
        for x, text in sorted(self._marks):
            line = self.axes.axvline(x, color="0.5", ls=":", lw=1)
            if self._named_beside(x, text, curves):
                beside.append((x, text))
            else:
                line.set_label(f"{text} ({x:g})")
        if len(beside) < len(self._marks):
            legend_above(self.axes, self._wrapped(self._about))  # which makes the axes lower
            for name in list(self.axes.texts):
                name.remove()
            for x, text in beside:
                if not self._named_beside(x, text, curves):
                    self._name(x, text, 0, True, True)

    def _named_beside(self, x: float, text: str, curves: Sequence[Line2D]) -> bool:
        """Was there room beside the landmark's line, off the curves, the names, and the lines?"""
        self.axes.figure.canvas.figure.draw_without_rendering()  # all else has its place before
        inside = self.axes.get_window_extent()
        paths = [one.get_transform().transform_path(one.get_path()) for one in curves]
        taken = [name.get_window_extent() for name in self.axes.texts]
        others = [self.axes.transData.transform((at, 1))[0] for at, _ in self._marks if at != x]

        def is_free(box: Any) -> bool:
            return (
                inside.x0 <= box.x0
                and box.x1 <= inside.x1
                and inside.y0 <= box.y0
                and box.y1 <= inside.y1
                and not any(one.overlaps(box) for one in taken)
                and not any(box.x0 < other < box.x1 for other in others)
                and not any(path.intersects_bbox(box, filled=False) for path in paths)
            )

        for row, left, above in product(range(_ROWS), (True, False), (True, False)):
            name = self._name(x, text, row, left, above)
            if is_free(name.get_window_extent()):
                return True
            name.remove()
        return False

    def _name(self, x: float, text: str, row: int, left: bool, above: bool) -> Annotation:
        """A landmark's name beside its line, in a row from the top or from the bottom."""
        inward = _ROW * row + 0.02
        return self.axes.annotate(
            text, (x, 1 - inward if above else inward), xycoords=("data", "axes fraction"),
            rotation=90, fontsize=8, xytext=(-2 if left else 3, 0), textcoords="offset points",
            color="0.4", ha="right" if left else "left", va="top" if above else "bottom",
        )  # fmt: skip

    def finished(self, on_a_grid: bool = False) -> Figure:
        """The figure, with its scales and its legend. DomainError if nothing was drawn.

        A grid of somebody's own with even steps has a linear axis, however far it goes.
        """
        points = [point for line in self._lines for point in line.drawn]
        if not points:
            raise DomainError("plot: found no finite value, needed at least one to draw")
        is_even = on_a_grid and _is_even([x for x, _ in self._lines[0].points])
        is_wide = _is_wide([x for x, _ in points]) and not is_even
        self.axes.set_xscale("log" if is_wide else "linear")
        self.axes.set_yscale("log" if _is_wide([y for _, y in points]) else "linear")
        for axis in (self.axes.xaxis, self.axes.yaxis):
            _name_few(axis)
        self.axes.grid(alpha=0.3)
        legend_above(self.axes, self._wrapped(self._about))
        if self._marks:
            self._draw_marks()
        return cast("Figure", self.axes.figure)  # the axes were made on a figure


def _plain(label: str) -> str:
    """The label without the signs that matplotlib or, in a pgf file, LaTeX gives a meaning.

    An underscore stays, but in the first place, by which matplotlib hides a line.
    """
    return label.translate(dict.fromkeys(map(ord, "$#&\\{}^~%"), " ")).lstrip("_")


def _is_wide(values: list[float]) -> bool:
    return min(values) > 0 and max(values) > _WIDE * min(values)


def _is_even(grid: list[float]) -> bool:
    """Are three numbers or more about equally far apart, as those of a rounded grid are?"""
    steps = [abs(y - x) for x, y in pairwise(grid)]
    return len(steps) > 1 and max(steps) < _EVEN * min(steps)


def _name_few(axis: Axis) -> None:
    """Of the numbers between the powers of ten of a short logarithmic axis, 2 and 5 alone.

    matplotlib writes four of them where there is one power of ten, which run into each other. It
    writes a common factor of small or large numbers in the place of the legend.
    """
    low, high = axis.get_view_interval()
    ticker = matplotlib_module().ticker
    plain = ticker.FuncFormatter(lambda x, _: f"{x:g}")
    if axis.get_scale() == "log" and high < _SHORT * low:
        axis.set_minor_locator(ticker.LogLocator(subs=(2, 5)))
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(plain)
    elif axis.get_scale() == "linear" and not 1 / _FACTOR < max(-low, high) < _FACTOR:
        axis.set_major_formatter(plain)


def _new_axes() -> Axes:
    axes: Axes = picture((6.4, 4.2)).add_subplot()
    return axes
