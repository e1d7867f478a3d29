"""Figures of a table's curves, saved as pgf for a paper, or as pdf, png, svg. Needs matplotlib."""

from __future__ import annotations

import io
import re
import textwrap
from functools import cache
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from symacct.export.tables import Table
from symacct.kernel import arguments
from symacct.kernel.errors import DomainError, StorageError, echo, reason
from symacct.kernel.exact import INFINITY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

FORMATS = ("pgf", "pdf", "png", "svg")
#: Orders up to which each has a tick with its number.
_LABELLED = 10
_DEFAULT_FONT = b"\\providecommand{\\mathdefault}[1]{#1}\n"
_NEEDED = (
    "which matplotlib measures a pgf figure's text with; install Debian's "
    "texlive-latex-recommended and texlive-pictures, or save as .pdf"
)
_SIZES = (8, 7, 6, 5)  # of the letters of a legend, in points, the first that fits
_LETTERS, _FEWEST = 112, 20  # over their size so many letters fill an inch; at least in a line
_MOST, _LEAST, _GAP = 0.5, 0.25, 0.02  # shares of axes: for a legend, for curves, between the two
#: Axes that a legend has taken a part of: the place they had, and the one they have now.
_LOWERED: WeakKeyDictionary[Axes, tuple[Bbox, Bbox]] = WeakKeyDictionary()
#: Fonts are those of the document that reads the pgf file.
_PGF = {"pgf.texsystem": "pdflatex", "pgf.rcfonts": False}


def figure(table: Table) -> Figure:
    """The columns of a table over the order, as a matplotlib Figure with logarithmic axes.

    Values are float64 rounded in their sound direction; ∞ and open cells are left out. Raises
    DomainError where nothing finite and positive is left, MissingPackageError without matplotlib.
    """
    drawn = picture((4.5, 3))
    axes = drawn.add_subplot(xscale="log", yscale="log", xlabel=r"order $\alpha$")
    axes.set_ylabel(r"$\epsilon(\alpha)$")
    for column in table.columns:
        points = [
            (float(at), float(cell.value))
            for at, cell in zip(table.orders, column.cells, strict=True)
            if at != INFINITY and cell is not None and 0 < float(cell.value) < INFINITY
        ]
        if not points:
            raise DomainError(
                f"figure: found no finite, positive value of {column.heading}, needed one at least"
            )
        name = r"$\epsilon(\alpha)$" if column.heading == "ε(α)" else _literal(column.heading)
        axes.plot(*zip(*points, strict=True), marker=".", label=name)
    finite = [at for at in table.orders if at != INFINITY]
    if len(finite) <= _LABELLED:
        axes.set_xticks(list(map(float, finite)), list(map(str, finite)))
        axes.set_xticks([], minor=True)
    axes.grid(alpha=0.3)
    legend_above(axes)
    return drawn


def legend_above(axes: Axes, title: str = "") -> None:
    """A legend above the curves, where it hides neither one of them nor a landmark.

    It takes its place from the axes where no layout of the figure makes room for it.
    """
    root = axes.figure.canvas.figure
    whole, handles = _box_of(axes), axes.get_legend_handles_labels()
    is_laid_out = root.get_layout_engine() is not None
    room = 1 if is_laid_out else whole.height
    beside = 1 - whole.x0 if len(root.axes) == 1 else whole.width
    for size in _SIZES:
        letters = max(_FEWEST, round(_LETTERS / size * beside * root.get_figwidth()))
        shown = [_wrapped(text, letters) for text in (title, *handles[1])]
        legend = axes.legend(
            handles[0], shown[1:], title=shown[0] or None, title_fontsize=size, alignment="left",
            fontsize=size, loc="lower left", bbox_to_anchor=(0, 1.01), borderaxespad=0,
            frameon=False,
        )  # fmt: skip
        root.draw_without_rendering()
        taken = legend.get_window_extent().height / root.bbox.height
        if taken <= _MOST * room:
            break
    if not is_laid_out:
        low = whole.shrunk(1, max(_LEAST, 1 - taken / whole.height - _GAP))
        axes.set_position(low)
        _LOWERED[axes] = whole, low


def _box_of(axes: Axes) -> Bbox:
    """The place that the axes were given, which a legend before may have taken a part of."""
    now = axes.get_position()
    whole, low = _LOWERED.get(axes, (now, now))
    return whole if (low.bounds == now.bounds) else now


def _wrapped(text: str, letters: int) -> str:
    return "\n".join(textwrap.wrap(text, letters, break_long_words=False))


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure by its suffix: .pgf is drawn by LaTeX where it is read, and needs pdflatex."""
    path = arguments.path(path, "figure")
    suffix = path.suffix.removeprefix(".")
    if suffix not in FORMATS:
        needed = " or ".join(f".{suffix_name}" for suffix_name in FORMATS)
        raise DomainError(f"figure: found the suffix {echo(path.suffix)}, needed {needed}")
    content = _pgf(figure) if suffix == "pgf" else _drawn(figure, suffix)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise StorageError(f"figure {path}: {reason(error)}", remedy="name another file") from None
    return path


def _drawn(figure: Figure, suffix: str) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format=suffix)
    return content.getvalue()


def _pgf(figure: Figure) -> bytes:
    """The figure as LaTeX reads it, with a command that matplotlib expects of the preamble."""
    if which("pdflatex") is None:
        raise DomainError(f"figure: found no pdflatex, {_NEEDED}")
    with matplotlib_module().rc_context(_PGF):
        texts = _as_latex(figure)
        try:
            return _DEFAULT_FONT + _drawn(figure, "pgf")
        except Exception as error:  # of any kind: it is another program that failed
            former = echo(" ".join(str(error).split()) or type(error).__name__)
            raise DomainError(
                f"figure: found a pdflatex that fails ({former}), {_NEEDED}"
            ) from error
        finally:
            for text, former in texts:
                text.set_text(former)


def _as_latex(figure: Figure) -> list[tuple[Text, str]]:
    """Escape underscores outside of mathematics, and give back what each such text said."""
    from matplotlib.text import Text

    texts = [
        (artist, artist.get_text()) for artist in figure.findobj(Text) if "_" in artist.get_text()
    ]
    for artist, former in texts:
        parts = former.split("$")
        parts[::2] = [re.sub(r"(?<!\\)_", r"\\_", part) for part in parts[::2]]
        artist.set_text("$".join(parts))
    return texts


def _literal(text: str) -> str:
    """Text that matplotlib reads as no mathematics, and LaTeX as no command."""
    return "".join(sign if sign.isalnum() or sign in " -+=:.," else " " for sign in text)


def picture(size: tuple[float, float]) -> Figure:
    """An empty figure of this size in inches, which any notebook shows by itself."""
    matplotlib_module()
    return _picture()(figsize=size, layout="constrained")


@cache
def _picture() -> type[Figure]:
    """A Figure that is a picture also before pyplot or %matplotlib is met."""
    from matplotlib.figure import Figure  # which is an extra

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            return _drawn(self, "png")

    return Picture


def matplotlib_module() -> Any:
    """The package matplotlib, imported where something is drawn. MissingPackageError without it."""
    for module in ("matplotlib.figure", "matplotlib"):
        package = arguments.package(module, "figure", "pip install 'symacct[plot]'")
    return package
