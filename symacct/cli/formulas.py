"""What goes into a paper: latex, table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from symacct.cli.frame import (
    DIGITS_HELP,
    EPILOG,
    InputError,
    also_option,
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
@click.option("--alpha", help="The Rényi order. By default the formula holds for all orders.")
@by_option
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="SYMBOL=LATEX",
    help="Write a parameter in another way, as in gamma=q. This option can be repeated.",
)
@click.option("--document", is_flag=True, help="Write a whole document, with a table of values.")
@click.option("--delta", help="With --document, also give ε at this δ.")
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
    """Print the formula of ε(α) of EXPR in LaTeX.

    The formula needs the package amsmath. The document of --document compiles as it is; its tables
    need the packages booktabs and siunitx (in Debian: texlive-science).

    \b
    Example:
      symacct latex "PoissonSubsample(Gaussian(sigma), gamma)" --name gamma=q
    """
    if document and alpha is not None:
        raise InputError(
            "found --alpha with --document, needed one of them: a document is about all orders"
        )
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
@click.option("--alpha", required=True, help="The Rényi orders, as in 2,4,8.5,64,inf.")
@by_option
@also_option
@click.option("--digits", default=6, show_default=True, help=DIGITS_HELP)
@click.option(
    "--format",
    "form",
    default="latex",
    show_default=True,
    type=click.Choice(["latex", "csv"]),
    help="The form of the table.",
)
@click.option("--caption", help="The caption of a LaTeX table, as plain text.")
@click.option(
    "--figure",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Also draw the columns to this file, which ends in .{', .'.join(FORMATS)}.",
)
def table_command(
    expr: str,
    alpha: str,
    by: By,
    also: tuple[str, ...],
    digits: int,
    form: str,
    caption: str | None,
    file: Path | None,
) -> None:
    """Print a table of ε(α) of EXPR for a paper.

    Every number is rounded to the safe side. A LaTeX table needs the packages booktabs and siunitx.

    \b
    Example:
      symacct table "PoissonSubsample(Gaussian(5), 1/1000)" --alpha 2,4,8 \\
        --also ZW19-T5
    """
    orders = [part.strip() for part in alpha.split(",") if part.strip()]
    found = table(in_numbers(expr), orders, digits, [by or (), *also])
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
