"""Certified numbers on a grid, for those who only want numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from symacct.cli.frame import (
    AXIS_HELP,
    EPILOG,
    ask_option,
    axes_of,
    conversion_option,
    main,
)
from symacct.core.errors import DomainError, echo, reason
from symacct.explore.reference import reference_table
from symacct.explore.sweeps.worker import NEEDED
from symacct.text import parse_open

_EXPRESSION = "PoissonSubsample(Gaussian(sigma), gamma)"
_GRID = (
    "sigma=0.5,1,2,5,20,100",
    "gamma=1e-6,1e-4,0.001,0.01,0.1,0.5",
    "alpha=1.1,1.5,2,2.5,4,8,10.5,16,32,64,256,1024",
)


@main.command("reference", epilog=EPILOG)
@click.argument("expr", default=_EXPRESSION)
@click.option("--grid", "axes", multiple=True, metavar="NAME=VALUES", help=AXIS_HELP)
@ask_option(default="rdp", type=click.Choice(list(NEEDED)))
@click.option(
    "--digits", default=50, show_default=True, help="How many significant digits each end has."
)
@conversion_option
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="Write the table as JSON to FILE, or print it if FILE is -.",
)
@click.option(
    "--csv",
    "csv_file",
    metavar="FILE",
    help="Write the table as CSV to FILE, or print it if FILE is -.",
)
def reference_command(
    expr: str,
    axes: tuple[str, ...],
    ask: str,
    digits: int,
    conversion: str,
    json_file: str | None,
    csv_file: str | None,
) -> None:
    """Print a table of certified lower and upper ends.

    The value lies between the two ends. It is the true one where its kind is exact, and otherwise a
    proved bound. The table is printed as CSV unless a file is named.
    Without EXPR, the table is ε(α) of the Poisson-sampled Gaussian mechanism. What --grid does not
    name (sigma, gamma, alpha) has common values. The exit status is 1 if a row has an error in
    place of a value.

    \b
    Example:
      symacct reference "Gaussian(sigma)" --grid sigma=1,2 --grid alpha=2,8 \\
        --digits 20
    """
    values, usual = axes_of("--grid", axes), axes_of("--grid", _GRID)
    node = parse_open(expr)
    needed = {symbol.name for symbol in node.free_symbols} | {NEEDED[ask]}
    if set(values) <= needed:
        values = {name: usual[name] for name in usual if name in needed} | values
    table = reference_table(node, values, ask, digits, conversion)
    table = replace(table, expression=expr)
    _write(json_file, table.to_json() + "\n")
    _write("-" if json_file is csv_file is None else csv_file, table.to_csv())
    errors = [row["error"] for row in table.rows if "error" in row]
    if errors:
        counted = f"{len(errors):,} of {len(table.rows):,} rows have"
        click.echo(f"{counted} an error in place of a value, such as {errors[0]}", err=True)
        raise SystemExit(1)


def _write(file: str | None, text: str) -> None:
    if file is None:
        return
    if file == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DomainError(f"file: {echo(file)} cannot be written ({reason(error)})") from None
