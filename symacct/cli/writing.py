"""What goes into a paper: statement, cite, latex, table, code, expand, optimum."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import click

from symacct.cli.asking import answer
from symacct.cli.frame import (
    HOW,
    Like,
    Reply,
    command,
    in_numbers,
    one_of,
    pairs_of,
    refuse,
    text_reply,
    typed,
)
from symacct.cli.group import InputError, print_note
from symacct.explore.grids import grid
from symacct.export.citation import bibtex, claim_at
from symacct.export.description import about, is_open
from symacct.export.expansions import Expansion, Optimum
from symacct.export.figures import FORMATS, save
from symacct.export.figures import figure as drawn
from symacct.export.latex.display import latex
from symacct.export.latex.number_formula import UnwrittenError, number_latex, profile_latex
from symacct.export.tables import table
from symacct.kernel.accountant import asked_of
from symacct.kernel.answer import Guarantee
from symacct.kernel.claims import Source
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import progress
from symacct.kernel.errors import echo
from symacct.kernel.node import Node
from symacct.kernel.parameters import By
from symacct.kernel.sources import WORKS
from symacct.papers import statement
from symacct.papers.document import paper
from symacct.papers.report import PrivacyReport
from symacct.results.screen import Labelled
from symacct.text import parse_open


@command("statement", f"delta epsilon {HOW} adjacency")
def statement_command(
    expr: str,
    /,
    form: Annotated[str, click.Choice(statement.FORMS)] = "text",
    **question: Any,
) -> Reply:
    """Write a paragraph about EXPR for the privacy section of a paper.

    The paragraph also fits a model card. It states the best ε or δ that is proved.

    \b
    Example:
      symacct statement "1000 * PoissonSubsample(Gaussian(2), 1/100)" --delta 1e-6
    \f
    form: A paragraph, or one short sentence for a model card.
    """
    one_of("statement", delta=question["delta"], epsilon=question["epsilon"])
    with progress("statement"):
        g = answer(expr, **question)
        text = g.statement(form, question["digits"])
    if is_open(g.claim.adjacency, g.mechanism):
        print_note(
            "Note: EXPR does not say which datasets are neighbours; say it by --adjacency "
            "replace_one, zero_out or add_remove"
        )
    return stated(PrivacyReport(g), text, form, expr, question["delta"])


def stated(
    report: PrivacyReport, text: str, form: str, expr: str, delta: str | None, works: str = ""
) -> Reply:
    """Make the reply of a statement, and print notes on what it does not say and what it cites.

    `works` are the options of `cite` for works that the number does not rest on.
    """
    for note in report.notes:
        print_note(f"Note: {note}")
    if form == "latex":
        ask = "in Python .cite() of the guarantee"
        if delta is not None:
            quoted = shlex.quote(expr) if re.search(r'["$`\\!]', expr) else f'"{expr}"'
            ask = f"symacct cite {quoted} --delta {delta}{''.join(_typed_options())}{works}"
        print_note(f"Note: the BibTeX entries of its \\cite: {ask}")
    return Reply(lambda: {"statement": text, "form": form, **report.as_dict()}, lambda: [text])


def _typed_options() -> Iterator[str]:
    """Yield the options typed that decide how the number is found, as they were typed."""
    for name in filter(typed, ("conversion", "orders", "by", "digits")):
        value = click.get_current_context().params[name]
        if isinstance(value, list):  # of orders, which one option lists
            value = ",".join(map(str, value))
        for item in value if isinstance(value, tuple) else (value,):
            yield f" --{name} {shlex.quote(str(item))}"


@command("cite", f"delta {HOW}")
def cite_command(
    expr: str,
    /,
    delta: str | None,
    alpha: str | None = None,
    work: Annotated[tuple[str, ...], Like(metavar="KEY")] = (),
    **how: Any,
) -> Reply:
    """Print BibTeX entries of the works that a result of EXPR rests on.

    The field `note` of each entry names the place in the work, such as a theorem.

    \b
    Example:
      symacct cite "1000 * PoissonSubsample(Gaussian(2), 1/100)" --delta 1e-6
    \f
    alpha: The Rényi order that is cited. By default it is every whole order.
    work: Add the entry of this work, such as ACG16 for DP-SGD. May be given several times.
    """
    m = parse_open(expr)
    if delta is None:
        refuse("and no --delta, needed one, as in --delta 1e-5", "conversion", "orders")
        sources = claim_at(m, alpha, how["by"]).sources
        text = bibtex(sources)
    else:
        refuse("with --delta, needed one of them", "alpha")
        guarantee = asked_of(m, delta, **how)
        text, sources = guarantee.cite(), guarantee.claim.sources
    unknown = ", ".join(map(echo, (key for key in work if key not in WORKS)))
    if unknown:
        raise InputError(f"--work: found {unknown}, needed keys of works: {', '.join(WORKS)}")
    known = {source.key for source in sources}
    more = bibtex(Source(key, "") for key in work if key not in known)
    text = "\n".join(filter(None, (text, more)))
    return text_reply(text, bibtex=text, sources=list(map(str, sources)))


@command("latex", "delta epsilon conversion by")
def latex_command(
    expr: str,
    /,
    delta: str | None,
    epsilon: str | None,
    conversion: str,
    by: By,
    alpha: str | None = None,
    name: Annotated[tuple[str, ...], Like(metavar="SYMBOL=LATEX")] = (),
    document: bool = False,
    rdp: bool = False,
) -> Reply:
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
    \f
    alpha: The Rényi order. By default the formula holds for all orders. With --document it is the
        orders of the table, as in 2,4,8.5.
    name: Write a parameter in another way, as in gamma=q. This option can be repeated.
    document: Write a whole document, with a table of values.
    rdp: Print the formula of ε(α) as well, below the other.
    """
    is_of_number = (delta, epsilon) != (None, None)
    if document:
        refuse("with --document, needed one of them", "epsilon", "conversion", "rdp")
    elif is_of_number or alpha is not None:
        one_of("latex", alpha=alpha, delta=delta, epsilon=epsilon)
    if not is_of_number:
        refuse("without --delta or --epsilon, needed one of them", "conversion", "rdp")
    m = parse_open(expr)
    names = dict(pairs_of("--name", name, "SYMBOL=LATEX such as gamma=q"))
    if document:
        written = paper(m, None if alpha is None else grid(alpha), delta, names, by=by)
    elif not is_of_number:
        written = latex(m, alpha, names, by)
    elif m.free_symbols and (by or conversion not in ("exact", BEST)):
        raise InputError(
            "found a parameter without a value with --conversion or --by, needed a number for it: "
            "the Rényi order is found in numbers"
        )
    elif m.free_symbols:
        written = profile_latex(m, names)
        print_note(
            "Note: EXPR has a parameter without a value, so the formula is printed without its "
            "number"
        )
    else:
        with progress("latex"):
            guarantee = asked_of(m, delta, epsilon, digits=6, conversion=conversion, by=by)
        written = _of_number(m, guarantee, names, by)
    if rdp:
        written = f"{written}\n{latex(m, None, names, by)}"
    return text_reply(written, expression=repr(m), latex=written)


def _of_number(m: Node, guarantee: Guarantee, names: dict[str, str], by: By) -> str:
    """Write the formula of the number, or ε(α) with a note of how the number is found."""
    try:
        return number_latex(guarantee, names, by)
    except UnwrittenError:
        how = PrivacyReport(guarantee).how
        print_note(f"Note: this is the formula of the Rényi curve ε(α). Of the number: {how}")
        return latex(m, None, names, by)


@command("table", "by also digits", prints_json=False)
def table_command(
    expr: str,
    /,
    alpha: str,
    by: By,
    also: tuple[str, ...],
    digits: int,
    form: Annotated[str, click.Choice(["latex", "csv"])] = "latex",
    caption: str | None = None,
    figure: Annotated[
        Path | None,
        Like(f"Also draw the columns to this file, which ends in .{', .'.join(FORMATS)}."),
    ] = None,
) -> None:
    """Print a table of ε(α) of EXPR for a paper.

    Every number is rounded to the safe side. A LaTeX table needs the packages booktabs and siunitx.

    \b
    Example:
      symacct table "PoissonSubsample(Gaussian(5), 1/1000)" --alpha 2,4,8 \\
        --also ZW19-T5
    \f
    alpha: The Rényi orders, as in 2,4,8.5,64,inf.
    form: The form of the table.
    caption: The caption of a LaTeX table, as plain text.
    """
    values = table(in_numbers(expr), grid(alpha), digits, [by or (), *also])
    if figure is not None:
        save(drawn(values), figure)
    click.echo(values.csv() if form == "csv" else values.latex(caption), nl=False)


@command("code", "by max_order accuracy points", Node.code)
def code_command(expr: str, /, form: str, **how: Any) -> Reply:
    """Print a function in another language that computes ε(α) of EXPR.

    The function needs no other file of symacct. Its error is first measured against certified
    values, and the function is not printed if the error is too large.

    \b
    Example:
      symacct code "PoissonSubsample(Gaussian(5), 1/1000)" --form python
    \f
    form: The language: numpy, mpmath, python, c.
    """
    text = parse_open(expr).code(form, **how)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return text_reply(text, expression=expr, target=form, sha256=digest, code=text)


@command("expand", "at order alpha by within", Node.expansion)
def expand_command(
    expr: str, /, variable: Annotated[str, Like(names=("--in",))] = "gamma", **how: Any
) -> Expansion:
    """Expand ε(α) of EXPR as a power series in one of its parameters.

    \b
    Example:
      symacct expand "PoissonSubsample(Gaussian(5), gamma)" --in gamma --alpha 8
    \f
    variable: The parameter in which ε(α) is expanded.
    """
    return parse_open(expr).expansion(variable, **how)


@command("optimum", "delta epsilon", Node.optimum)
def optimum_command(
    expr: str,
    /,
    conversion: Annotated[
        str,
        Like(
            metavar="NAME",
            help="How (ε, δ) is found from a Rényi order: by classic, improved or optimal.",
        ),
    ] = "classic",
    **question: Any,
) -> Reply:
    """Print the best Rényi order of EXPR and its (ε, δ) as formulas.

    If no closed form is known, an error says why.

    \b
    Example:
      symacct optimum "Gaussian(sigma)" --delta 1e-5
    """
    m = parse_open(expr)
    best: Optimum = m.optimum(conversion=conversion, **question)
    below = [
        ("to report", "epsilon EXPR --delta D prints a smaller number, which is proved too"),
        ("relation", about(m)),
    ]
    return Reply(best.as_dict, lambda: [Labelled([*best.rows(), *below])])
