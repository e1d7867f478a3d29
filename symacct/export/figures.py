"""Figures of a table's curves, saved as pgf for a paper, or as pdf, png, svg. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

from symacct import doors
from symacct.errors import DomainError, StorageError, echo
from symacct.exact import INFINITY
from symacct.export.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("pgf", "pdf", "png", "svg")
#: Orders up to which each has a tick with its number.
_LABELLED = 10
_DEFAULT_FONT = "\\providecommand{\\mathdefault}[1]{#1}\n"
#: Fonts are those of the document that reads the pgf file.
_PGF = {"pgf.texsystem": "pdflatex", "pgf.rcfonts": False}


def figure(table: Table) -> Figure:
    """The columns of a table over the order, as a matplotlib Figure with logarithmic axes.

    Values are float64 rounded in their sound direction; ∞ and open cells are left out. Raises
    DomainError where nothing finite and positive is left, MissingPackageError without matplotlib.
    """
    drawn: Figure = matplotlib_module().figure.Figure(figsize=(4.5, 3), layout="constrained")
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
    axes.legend()
    return drawn


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure by its suffix: .pgf is drawn by LaTeX where it is read, and needs pdflatex."""
    path = Path(path)
    suffix = path.suffix.removeprefix(".")
    if suffix not in FORMATS:
        raise DomainError(f"figure: found the suffix {echo(path.suffix)}, needed one of {FORMATS}")
    if suffix == "pgf" and which("pdflatex") is None:
        raise DomainError(
            "figure: found no pdflatex, which matplotlib measures a pgf figure's text with; "
            "install Debian's texlive-latex-recommended and texlive-pictures, or save as .pdf"
        )
    with matplotlib_module().rc_context(_PGF):
        try:
            figure.savefig(path)
            if suffix == "pgf":  # a command that matplotlib expects of the document's preamble
                path.write_text(_DEFAULT_FONT + path.read_text(encoding="utf-8"), encoding="utf-8")
        except OSError as error:
            raise StorageError(f"figure {path}: {error.strerror}; name another file") from None
    return path


def _literal(text: str) -> str:
    """Text that matplotlib reads as no mathematics, and LaTeX as no command."""
    return "".join(sign if sign.isalnum() or sign in " -+=:.," else " " for sign in text)


def matplotlib_module() -> Any:
    """matplotlib, imported where something is drawn. MissingPackageError without it."""
    for module in ("matplotlib.figure", "matplotlib"):
        found = doors.package(module, "figure", "pip install 'symacct[plot]'")
    return found
