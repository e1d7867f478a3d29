"""What goes into a paper: latex, table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from symacct.cli.frame import (
    EPILOG,
    InputError,
    by_option,
    in_numbers,
    json_option,
    main,
    print_text,
)
from symacct.core.errors import echo
from symacct.core.pinning import By
from symacct.export.figures import FORMATS, figure, save
from symacct.export.latex.display import latex
from symacct.export.tables import table
from symacct.papers.document import paper
from symacct.text import parse_open


@main.command("latex", epilog=EPILOG)
@click.argument("expr")
@click.option("--alpha", help="The order; by default all orders at once.")
@by_option
@click.option("--name", "names", multiple=True, metavar="SYMBOL=LATEX", help="gamma=q; repeatable.")
@click.option("--document", is_flag=True, help="A whole document, with values at EXPR's numbers.")
@click.option("--delta", help="With --document: ε at this δ as well.")
@json_option
def latex_command(
    expr: str,
    alpha: str | None,
    by: By,
    names: tuple[str, ...],
    document: bool,
    delta: str | None,
    as_json: bool,
) -> None:
    """The formula of EXPR's curve in LaTeX.

    It is a display for amsmath, or with --document a document that compiles; its
    tables of values need booktabs and siunitx (Debian: texlive-science).
    """
    if document and alpha is not None:
        raise InputError("found --alpha with --document, needed one: a document is for all orders")
    if delta is not None and not document:
        raise InputError("found --delta without --document, needed both")
    m = parse_open(expr)
    if document:
        written = paper(m, delta=delta, names=_named(names), by=by)
    else:
        written = latex(m, alpha, _named(names), by)
    print_text(as_json, {"expression": repr(m), "latex": written}, written)


@main.command("table", epilog=EPILOG)
@click.argument("expr")
@click.option("--alpha", required=True, help="Orders, e.g. 2,4,8.5,64,inf.")
@click.option("--by", multiple=True, help="A column for this theorem, e.g. ZW19-T5; repeatable.")
@click.option("--digits", default=6, show_default=True, help="Significant digits, all proven.")
@click.option(
    "--format", "form", default="latex", show_default=True, type=click.Choice(["latex", "csv"])
)
@click.option("--caption", help="With latex: the caption, as plain text.")
@click.option(
    "--figure",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Draw the columns as well: a file ending in .{', .'.join(FORMATS)}.",
)
def table_command(
    expr: str,
    alpha: str,
    by: tuple[str, ...],
    digits: int,
    form: str,
    caption: str | None,
    file: Path | None,
) -> None:
    """A table of ε(α) of EXPR for a paper, rounded soundly.

    It is LaTeX for booktabs and siunitx, or CSV.
    """
    orders = [part.strip() for part in alpha.split(",") if part.strip()]
    found = table(in_numbers(expr), orders, digits, by)
    if file is not None:
        save(figure(found), file)
    click.echo(found.csv() if form == "csv" else found.latex(caption), nl=False)


def _named(pairs: Iterable[str]) -> dict[str, str]:
    """The mapping that --name gamma=q gives."""
    names = {}
    for pair in pairs:
        symbol, equals, tex = pair.partition("=")
        if not equals:
            raise InputError(f"--name: found {echo(pair)}, needed SYMBOL=LATEX such as gamma=q")
        names[symbol.strip()] = tex
    return names
