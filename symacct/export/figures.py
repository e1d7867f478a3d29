"""Figures of a table's curves, saved as pgf for a paper, or as pdf, png, svg. Needs matplotlib."""

from __future__ import annotations

import io
import re
import textwrap
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from symacct.export.tables import Table
from symacct.kernel import parameters
from symacct.kernel.errors import DomainError, StorageError, echo, reason
from symacct.kernel.exact import INFINITY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

#: A figure is saved in one of these, by its suffix.
FORMATS = ("pgf", "pdf", "png", "svg")
#: Up to this many orders each have a tick with their number.
_MOST_TICKS = 10
#: A pgf file needs this command, which matplotlib expects of the document.
_DEFAULT_FONT = b"\\providecommand{\\mathdefault}[1]{#1}\n"
#: The end of an error where LaTeX is missing.
_NEEDED = (
    "which matplotlib measures a pgf figure's text with; install Debian's "
    "texlive-latex-recommended and texlive-pictures, or save as .pdf"
)
#: The letters of a legend have the first of these sizes that fits, in points.
_FONT_SIZES = (8, 7, 6, 5)
#: This over their size in points is the number of letters that fill an inch.
_LETTERS_AN_INCH_TIMES_SIZE = 112
#: A line of a legend holds at least this many letters.
_FEWEST_LETTERS = 20
#: A legend takes at most this share of the axes' height, unless the smallest letters need more.
_LEGEND_SHARE = 0.5
#: The curves keep at least this share of it.
_CURVES_SHARE = 0.25
#: This share of the axes' height stays empty between the curves and the legend.
_GAP_SHARE = 0.02
#: A legend has taken a part of these axes: the place they had, and the one they have now.
_LOWERED: WeakKeyDictionary[Axes, tuple[Bbox, Bbox]] = WeakKeyDictionary()
#: Fonts are those of the document that reads the pgf file.
_PGF = {"pgf.texsystem": "pdflatex", "pgf.rcfonts": False}


def figure(table: Table) -> Figure:
    """Draw the columns of a table over the order, as a matplotlib Figure with logarithmic axes.

    Values are float64 rounded in their sound direction; ∞, 0 and open cells are left out. Raises
    DomainError for a column in which nothing is left, MissingPackageError without matplotlib.
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
    if len(finite) <= _MOST_TICKS:
        axes.set_xticks(list(map(float, finite)), list(map(str, finite)))
        axes.set_xticks([], minor=True)
    axes.grid(alpha=0.3)
    legend_above(axes)
    return drawn


def legend_above(axes: Axes, title: str = "") -> None:
    """Draw a legend above the axes, where it hides neither a curve nor a landmark.

    It replaces a legend that they have. It takes its place from the axes where no layout of the
    figure makes room for it.
    """
    root = axes.figure.canvas.figure
    # The place that the axes were given, before a legend of ours took a part of it.
    now, handles = axes.get_position(), axes.get_legend_handles_labels()
    former, low = _LOWERED.get(axes, (now, now))
    whole = former if low.bounds == now.bounds else now
    is_laid_out = root.get_layout_engine() is not None
    room = 1 if is_laid_out else whole.height
    beside = 1 - whole.x0 if len(root.axes) == 1 else whole.width
    for size in _FONT_SIZES:
        an_inch = _LETTERS_AN_INCH_TIMES_SIZE / size
        letters = max(_FEWEST_LETTERS, round(an_inch * beside * root.get_figwidth()))
        wrapper = textwrap.TextWrapper(letters, break_long_words=False)
        shown = ["\n".join(wrapper.wrap(text)) for text in (title, *handles[1])]
        legend = axes.legend(
            handles[0], shown[1:], title=shown[0] or None, title_fontsize=size, alignment="left",
            fontsize=size, loc="lower left", bbox_to_anchor=(0, 1.01), borderaxespad=0,
            frameon=False,
        )  # fmt: skip
        root.draw_without_rendering()
        taken = legend.get_window_extent().height / root.bbox.height
        if taken <= _LEGEND_SHARE * room:
            break
    if not is_laid_out:
        low = whole.shrunk(1, max(_CURVES_SHARE, 1 - taken / whole.height - _GAP_SHARE))
        axes.set_position(low)
        _LOWERED[axes] = whole, low


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file by its suffix, and return the path.

    A .pgf is drawn by LaTeX where it is read, and needs pdflatex here. Raises DomainError for
    another suffix or without pdflatex, and StorageError where the file cannot be written.
    """
    path = parameters.path(path, "figure")
    suffix = path.suffix.removeprefix(".")
    if suffix not in FORMATS:
        needed = " or ".join(map(".{}".format, FORMATS))
        raise DomainError(f"figure: found the suffix {echo(path.suffix)}, needed {needed}")
    content = _pgf(figure) if suffix == "pgf" else _drawn(figure, suffix)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise StorageError(f"figure {path}: {reason(error)}", remedy="name another file") from None
    return path


def _drawn(figure: Figure, suffix: str) -> bytes:
    """Draw the figure in a format of matplotlib's."""
    content = io.BytesIO()
    figure.savefig(content, format=suffix)
    return content.getvalue()


def _pgf(figure: Figure) -> bytes:
    """Draw the figure as LaTeX reads it, with a command that matplotlib expects of the preamble.

    Raises DomainError where there is no pdflatex, or it fails.
    """
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
    """Escape underscores outside of mathematics in the figure, and return each text as it was."""
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
    """Keep of a text what matplotlib reads as no mathematics, and LaTeX as no command."""
    return "".join(sign if sign.isalnum() or sign in " -+=:.," else " " for sign in text)


def picture(size: tuple[float, float]) -> Figure:
    """Make an empty figure of this size in inches, which any notebook shows by itself.

    MissingPackageError without matplotlib.
    """
    matplotlib_module()
    from matplotlib.figure import Figure  # which is an extra

    class Picture(Figure):
        """A figure that notebooks show before pyplot or %matplotlib is met."""

        def _repr_png_(self) -> bytes:
            return _drawn(self, "png")

    return Picture(figsize=size, layout="constrained")


def matplotlib_module() -> Any:
    """Import matplotlib where something is drawn; MissingPackageError without it."""
    for module in ("matplotlib.figure", "matplotlib"):
        package = parameters.package(module, "figure", "pip install 'symacct[plot]'")
    return package
