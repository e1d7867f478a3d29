"""What a paper takes along: cite, statement, expand, optimum; and check, for what it prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, TypeAlias

import click
from rich.text import Text

from symacct.accountant.reported import reported
from symacct.cli.frame import (
    InputError,
    by_option,
    conversion_option,
    expression_command,
    findings_alone_are_1,
    how_options,
    in_numbers,
    json_option,
    main,
    print_facts,
    print_json,
    print_text,
)
from symacct.cli.headline import headline
from symacct.core import limits
from symacct.core.errors import SymacctError, reason
from symacct.core.pinning import By
from symacct.explore.sweeps.worker import NEEDED
from symacct.export.citation import bibtex, claim_at
from symacct.export.description import about
from symacct.papers import paper_check
from symacct.results.progress import progress
from symacct.results.terminal import print_prose, print_table
from symacct.text import parse_open

_SHOWN_DIGITS = 6  # of a value beside the printed number


@expression_command("cite")
@click.option("--alpha", help="The order asked about; default whole orders.")
@by_option
@click.option("--delta", help="Cite the (ε, δ) guarantee that statement states at this δ.")
@conversion_option
def cite_command(
    expr: str,
    alpha: str | None,
    by: By,
    delta: str | None,
    conversion: str | None,
    digits: int,
    as_json: bool,
) -> None:
    """BibTeX of exactly the works behind EXPR's curve.

    The theorems stand in `note`.
    """
    m = parse_open(expr)
    if delta is not None and alpha is not None:
        raise InputError("found --alpha and --delta, needed one of them")
    if delta is None:
        claim = claim_at(m, alpha, by)
        text, sources = bibtex(claim.sources), claim.sources
    else:
        guarantee = reported(m, delta, digits=digits, conversion=conversion, by=by).best
        text, sources = guarantee.cite(), guarantee.claim.sources
    print_text(as_json, {"bibtex": text, "sources": list(map(str, sources))}, text)


@expression_command("statement")
@click.option("--delta", help="δ in [0, 1): the best ε is stated.")
@click.option("--epsilon", help="ε >= 0: the best δ is stated.")
@click.option(
    "--form", default="text", show_default=True, type=click.Choice(["text", "markdown", "latex"])
)
@how_options
def statement_command(
    expr: str,
    delta: str | None,
    epsilon: str | None,
    form: str,
    how: dict[str, Any],
    digits: int,
    as_json: bool,
) -> None:
    """A paragraph about EXPR for a privacy section.

    It is meant for a paper or a model card, and states the best ε or δ that is proved.
    """
    if (delta is None) == (epsilon is None):
        raise InputError("statement: needed --delta or --epsilon, and one of them only")
    with progress("statement"):
        found = reported(in_numbers(expr), delta, epsilon, digits, **how)
        text = found.best.statement(form, digits)
    if found.not_exact:
        click.echo(f"Note: the true number is {found.not_exact}", err=True)
    document = {"statement": text, "form": form, "headline": headline(found)}
    print_text(as_json, document, text, print_prose)


@expression_command("expand")
@click.option("--in", "variable", default="gamma", show_default=True, help="The variable.")
@click.option("--at", help="The point; default 0, inf for sigma and b, 1 for alpha.")
@click.option("--order", default=3, show_default=True, help="The power in O(·).")
@click.option("--alpha", help="The order; default symbolic.")
@by_option
@click.option("--within", help="How far from the point a remainder is wanted.")
def expand_command(
    expr: str, variable: str, order: int, digits: int, as_json: bool, **wanted: str
) -> None:
    """ε(α) of EXPR as powers of one of its variables."""
    found = parse_open(expr).expansion(variable, order=order, **wanted)
    print_facts(
        as_json,
        found.as_dict(),
        ("ε(α)", found.expression),
        ("leading", found.leading),
        ("remainder", found.remainder or "only O(·): no bound is proved"),
        ("claim", found.claim),
    )


@expression_command("optimum")
@click.option("--delta", help="δ in (0, 1); default a symbol.")
@click.option("--epsilon", help="ε: the best δ instead.")
@click.option("--conversion", default="classic", show_default=True)
def optimum_command(expr: str, digits: int, as_json: bool, **given: str) -> None:
    """The best order of EXPR and its (ε, δ) in closed form.

    Where there is none, an error says why.
    """
    m = parse_open(expr)
    found = m.optimum(**given)
    print_facts(
        as_json,
        found.as_dict(),
        ("order α", found.alpha),
        ("ε", found.epsilon),
        ("δ", found.delta),
        ("conversion", found.conversion),
        ("relation", about(m)),
    )


@main.command("check")
@click.argument("what", metavar="FILE|EXPR")
@click.option("--prints", help="The number that is printed: the argument is an EXPR then.")
@click.option("--delta", help="δ, where ε is printed.")
@click.option("--epsilon", help="ε, where δ is printed.")
@click.option("--alpha", help="The order, where ε(α) is printed.")
@click.option(
    "--direction",
    default="nearest",
    show_default=True,
    type=click.Choice(paper_check.DIRECTIONS),
    help="How the number is meant.",
)
@conversion_option
@by_option
@json_option
@findings_alone_are_1()
def check_command(
    what: str,
    prints: str | None,
    direction: str,
    conversion: str | None,
    by: By,
    as_json: bool,
    **given: str | None,
) -> None:
    """Verify every number of the paper file FILE, or one number of EXPR.

    One number is checked by --prints, with --delta, --epsilon or --alpha. Exit status 1 if a number
    is not true as printed; 2 if an entry is malformed: it is named, and the others are judged.
    """
    asked = {name: number for name, number in given.items() if number is not None}
    try:
        if prints is not None:
            entry = _entry(what, prints, asked, direction, conversion, by)
            checked: list[_Checked] = [paper_check.check_entry(entry)]
        elif asked:
            raise InputError(f"found --{min(asked)} and no --prints, needed the number printed")
        else:
            checked = _checked(_read(Path(what)))
    except SymacctError as error:
        raise InputError(f"{type(error).__name__}: {error}") from None
    if as_json:
        print_json([one.as_dict() for one in checked])
    else:
        _print_table(checked)
    verdicts = {one.verdict for one in checked}
    if paper_check.Verdict.MALFORMED in verdicts:
        sys.exit(2)
    if verdicts != {paper_check.Verdict.TRUE}:
        sys.exit(1)


_ASKED_BY = {number: ask for ask, number in NEEDED.items()}
_Checked: TypeAlias = paper_check.CheckedEntry | paper_check.Malformed


def _entry(
    expr: str, prints: str, asked: dict[str, str], direction: str, conversion: str | None, by: By
) -> paper_check.PaperEntry:
    """The question that one printed number answers, by the best proved if nothing is pinned."""
    if len(asked) != 1:
        raise InputError("check: needed --delta, --epsilon or --alpha with --prints, and one only")
    ((name, number),) = asked.items()
    m = in_numbers(expr)
    if name != "alpha" and conversion is None:
        found = reported(m, **{name: number}, by=by)  # type: ignore[arg-type]
        conversion = found.best.conversion
    pinned = conversion or "improved"
    paper_check.printed_number(prints)
    return paper_check.PaperEntry(
        expr, _ASKED_BY[name], number, prints, "command line", direction, by, pinned
    )


def _read(file: Path) -> str:
    """The text of a file that is not too large and is text; no more is read than is allowed."""
    try:
        with open(file, "rb") as opened:
            content = opened.read(limits.current().text_bytes + 1)
        limits.check("text_bytes", len(content), f"{file}, in bytes (or more)")
        return content.decode()
    except OSError as error:
        raise InputError(f"{file}: {reason(error)}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: no UTF-8 ({error})") from None


def _checked(text: str) -> list[paper_check.CheckedEntry | paper_check.Malformed]:
    checked = []
    with progress("checking", len(paper_check.entries(text))) as advance:
        for one in paper_check.check(text):
            checked.append(one)
            advance(1)
    return checked


_STYLES = {"true": "green", "undecided": "yellow"}


def _print_table(checked: list[paper_check.CheckedEntry | paper_check.Malformed]) -> None:
    print_table(
        ("source", "printed", "value", "verdict", "why"),
        ((*_cells(one), one.reason) for one in checked),
    )
    good = sum(str(one.verdict) == "true" for one in checked)
    click.echo(f"{good} of {len(checked)} numbers are true as printed")


def _cells(one: paper_check.CheckedEntry | paper_check.Malformed) -> tuple[Text, ...]:
    verdict = Text(str(one.verdict), style=_STYLES.get(str(one.verdict), "bold red"))
    if isinstance(one, paper_check.Malformed):
        return Text(f"entry {one.place} {one.source}".rstrip()), Text("–"), Text("–"), verdict
    value = Text(one.value.rounded(_SHOWN_DIGITS))
    return Text(one.entry.source), Text(one.entry.printed), value, verdict
