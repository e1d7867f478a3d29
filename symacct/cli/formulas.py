"""What goes into a paper: latex, table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from symacct.accountant.accountant import asked_of
from symacct.cli.frame import (
    DIGITS_HELP,
    EPILOG,
    InputError,
    also_option,
    by_option,
    conversion_option,
    in_numbers,
    json_option,
    listed_orders,
    main,
    print_note,
    print_text,
)
from symacct.core.errors import echo
from symacct.core.pinning import By
from symacct.export.figures import FORMATS, figure, save
from symacct.export.latex.display import latex
from symacct.export.latex.laws import UnwrittenError
from symacct.export.latex.number_formula import number_latex, profile_latex
from symacct.export.tables import table
from symacct.papers.document import paper
from symacct.papers.report import PrivacyReport
from symacct.results.enclosure import Guarantee
from symacct.results.progress import progress
from symacct.text import parse_open
from symacct.theory.conversion import BEST


@main.command("latex", epilog=EPILOG)
@click.argument("expr")
@click.option(
    "--alpha",
    help="The Rényi order. By default the formula holds for all orders. With --document it is "
    "the orders of the table, as in 2,4,8.5.",
)
@by_option
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="SYMBOL=LATEX",
    help="Write a parameter in another way, as in gamma=q. This option can be repeated.",
)
@click.option("--document", is_flag=True, help="Write a whole document, with a table of values.")
@click.option("--delta", help="Print the formula of the ε to report at this δ.")
@click.option("--epsilon", help="Print the formula of the δ to report at this ε.")
@conversion_option
@click.option("--rdp", is_flag=True, help="Print the formula of ε(α) as well, below the other.")
@json_option
def latex_command(
    expr: str,
    alpha: str | None,
    by: By,
    names: tuple[str, ...],
    document: bool,
    delta: str | None,
    epsilon: str | None,
    conversion: str,
    rdp: bool,
    as_json: bool,
) -> None:
    """Print a formula of EXPR in LaTeX: of ε(α), or of the number to report.

    With --delta or --epsilon it is the formula of the number that the commands epsilon, delta and
    statement report. This is δ(ε) of the two laws, or the formula of the Rényi order and the
    conversion that gave the number. The formula needs the package amsmath. The document of
    --document compiles as it is. Its tables need the packages booktabs and siunitx (in Debian:
    texlive-science).

    \b
    Examples:
      symacct latex "PoissonSubsample(Gaussian(sigma), gamma)" --name gamma=q
      symacct latex "100 * PoissonSubsample(Gaussian(2), 1/100)" --delta 1e-5
    """
    if sum(one is not None for one in (alpha, delta, epsilon)) > 1 and not document:
        raise InputError("latex: needed one of --alpha, --delta and --epsilon")
    if document and epsilon is not None:
        raise InputError("found --epsilon with --document, needed --delta: a document is about ε")
    asked = (delta, epsilon) != (None, None)
    if not asked and (conversion != BEST or rdp):
        option = "--rdp" if conversion == BEST else "--conversion"
        raise InputError(f"found {option} without --delta or --epsilon, needed one of them")
    if document and (conversion != BEST or rdp):
        raise InputError(
            "found --conversion or --rdp with --document, needed neither: a document has the "
            "best number that is proved, and the one by Rényi orders"
        )
    m = parse_open(expr)
    if document:
        orders = None if alpha is None else listed_orders([alpha])
        written = paper(m, orders, delta, _named(names), by=by)
    elif not asked:
        written = latex(m, alpha, _named(names), by)
    elif m.free_symbols and (by or conversion not in ("exact", BEST)):
        raise InputError(
            "found a parameter without a value with --conversion or --by, needed a number for it: "
            "the Rényi order is found in numbers"
        )
    elif m.free_symbols:
        written = profile_latex(m, _named(names))
        print_note(f"Note: {_OPEN}")
    else:
        with progress("latex"):
            found = asked_of(m, delta, epsilon, digits=6, conversion=conversion, by=by)
        written = _of_number(found, names, by)
    if rdp:
        written = f"{written}\n{latex(m, None, _named(names), by)}"
    print_text(as_json, {"expression": repr(m), "latex": written}, written)


_OPEN = "EXPR has a parameter without a value, so the formula is printed without its number"


def _of_number(found: Guarantee, names: tuple[str, ...], by: By) -> str:
    """The formula of the number, or ε(α) with a note of how the number is found."""
    try:
        return number_latex(found, _named(names), by)
    except UnwrittenError:
        assert found.mechanism is not None  # noqa: S101  # it was asked of one
        how = PrivacyReport(found).how
        print_note(f"Note: this is the formula of the Rényi curve ε(α). Of the number: {how}")
        return latex(found.mechanism, None, _named(names), by)


@main.command("table", epilog=EPILOG)
@click.argument("expr")
@click.option("--alpha", required=True, help="The Rényi orders, as in 2,4,8.5,64,inf.")
@by_option
@also_option
@click.option("--digits", default=6, show_default=True, help=DIGITS_HELP)
@click.option(
    "--form",
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
    found = table(
        in_numbers(expr),
        listed_orders([alpha] if alpha.strip(", ") else []),
        digits,
        [by or (), *also],
    )
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
