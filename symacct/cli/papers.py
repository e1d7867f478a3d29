"""What a paper takes along: cite, statement, expand, optimum; and check, for what it prints."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import click
from rich.text import Text

from symacct.accountant.accountant import asked_of
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
from symacct.cli.headline import note_citations, note_large
from symacct.cli.relation import relation_option, under
from symacct.core import limits
from symacct.core.claims import Adjacency, Source
from symacct.core.errors import SymacctError, cut, echo, reason
from symacct.core.pinning import By
from symacct.core.sources import WORKS
from symacct.explore.sweeps.worker import NEEDED
from symacct.export.citation import bibtex, claim_at
from symacct.export.description import about, is_open
from symacct.papers import paper_check, statement
from symacct.papers.report import PrivacyReport
from symacct.results.progress import progress
from symacct.results.terminal import print_prose, print_table
from symacct.text import parse_open
from symacct.theory.conversion import BEST

_LONGEST_PATH = 300  # characters of a file's name in a message
_SHOWN_DIGITS = 6  # of a value beside the printed number


@expression_command("cite")
@click.option("--alpha", help="The Rényi order that is cited. By default it is every whole order.")
@click.option("--delta", help="Cite what the command statement says at this δ.")
@how_options
@click.option(
    "--work",
    multiple=True,
    metavar="KEY",
    help="Add the entry of this work, such as ACG16 for DP-SGD. May be given several times.",
)
def cite_command(
    expr: str,
    alpha: str | None,
    delta: str | None,
    how: dict[str, Any],
    work: tuple[str, ...],
    digits: int,
    as_json: bool,
) -> None:
    """Print BibTeX entries of the works that a result of EXPR rests on.

    The field `note` of each entry names the place in the work, such as a theorem.

    \b
    Example:
      symacct cite "1000 * PoissonSubsample(Gaussian(2), 1/100)" --delta 1e-6
    """
    m = parse_open(expr)
    if delta is not None and alpha is not None:
        raise InputError("found --alpha and --delta, needed one of them")
    if delta is None:
        claim = claim_at(m, alpha, _by_alone(how))
        text, sources = bibtex(claim.sources), claim.sources
    else:
        guarantee = asked_of(m, delta, digits=digits, **how)
        text, sources = guarantee.cite(), guarantee.claim.sources
    unknown = ", ".join(map(echo, (key for key in work if key not in WORKS)))
    if unknown:
        raise InputError(f"--work: found {unknown}, needed keys of works: {', '.join(WORKS)}")
    known = {source.key for source in sources}
    more = bibtex(Source(key, "") for key in work if key not in known)
    text = "\n".join(filter(None, (text, more)))
    print_text(as_json, {"bibtex": text, "sources": list(map(str, sources))}, text)


def _by_alone(how: dict[str, Any]) -> By:
    """The theorems asked for, where no δ is, and so nothing else of how a number is found."""
    for name, default in (("conversion", BEST), ("orders", None)):
        if how[name] != default:
            raise InputError(f"cite: found --{name} and no --delta, needed one, as in --delta 1e-5")
    by: By = how["by"]
    return by


_OPEN = (
    "Note: EXPR does not say which datasets are neighbours; say it by --adjacency replace_one or "
    "--adjacency add_remove"
)


@expression_command("statement")
@click.option("--delta", help="State the best ε at this δ, in [0, 1).")
@click.option("--epsilon", help="State the best δ at this ε, at least 0.")
@click.option(
    "--form",
    default="text",
    show_default=True,
    type=click.Choice(statement.FORMS),
    help="A paragraph, or one short sentence for a model card.",
)
@relation_option
@how_options
def statement_command(
    expr: str,
    delta: str | None,
    epsilon: str | None,
    form: str,
    adjacency: Adjacency | None,
    how: dict[str, Any],
    digits: int,
    as_json: bool,
) -> None:
    """Write a paragraph about EXPR for the privacy section of a paper.

    The paragraph also fits a model card. It states the best ε or δ that is proved.

    \b
    Example:
      symacct statement "1000 * PoissonSubsample(Gaussian(2), 1/100)" --delta 1e-6
    """
    if (delta is None) == (epsilon is None):
        raise InputError(
            "statement: needed --delta or --epsilon, and one of them only, as in --delta 1e-5"
        )
    with progress("statement"):
        g = under(asked_of(in_numbers(expr), delta, epsilon, digits=digits, **how), adjacency)
        text = g.statement(form, digits)
    if is_open(g.claim.adjacency, g.mechanism):
        click.echo(_OPEN, err=True)
    report = PrivacyReport(g)
    note_large(report)
    note_citations(form, expr, delta)
    document = {"statement": text, "form": form, **report.as_dict()}
    print_text(as_json, document, text, print_prose)


@expression_command("expand")
@click.option(
    "--in",
    "variable",
    default="gamma",
    show_default=True,
    help="The parameter in which ε(α) is expanded.",
)
@click.option(
    "--at",
    help="The point of the expansion. By default it is inf for sigma and b, 1 for alpha, and 0 for "
    "others.",
)
@click.option("--order", default=3, show_default=True, help="The power in the last term O(·).")
@click.option("--alpha", help="The Rényi order. By default it is the symbol alpha.")
@by_option
@click.option("--within", help="Prove a remainder up to this distance from the point.")
def expand_command(
    expr: str, variable: str, order: int, digits: int, as_json: bool, **wanted: str
) -> None:
    """Expand ε(α) of EXPR as a power series in one of its parameters.

    \b
    Example:
      symacct expand "PoissonSubsample(Gaussian(5), gamma)" --in gamma --alpha 8
    """
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
@click.option("--delta", help="The δ at which ε is asked for. By default it is the symbol delta.")
@click.option("--epsilon", help="The ε at which δ is asked for.")
@click.option(
    "--conversion",
    metavar="NAME",
    default="classic",
    show_default=True,
    help="How (ε, δ) is found from a Rényi order: by classic, improved or optimal.",
)
def optimum_command(expr: str, digits: int, as_json: bool, **given: str) -> None:
    """Print the best Rényi order of EXPR and its (ε, δ) as formulas.

    If no closed form is known, an error says why.

    \b
    Example:
      symacct optimum "Gaussian(sigma)" --delta 1e-5
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
        ("to report", "epsilon EXPR --delta D prints a smaller number, which is proved too"),
        ("relation", about(m)),
    )


@main.command("check")
@click.argument("what", metavar="FILE|EXPR")
@click.option("--prints", help="One printed number, which is checked for EXPR.")
@click.option("--delta", help="The δ at which the printed number is ε.")
@click.option("--epsilon", help="The ε at which the printed number is δ.")
@click.option("--alpha", help="The Rényi order at which the printed number is ε(α).")
@click.option(
    "--direction",
    default=paper_check.SAFE,
    show_default=True,
    type=click.Choice(paper_check.DIRECTIONS),
    help="How the paper rounds the number: safe is up, as a guarantee is rounded, and down for a "
    "lower bound.",
)
@conversion_option
@by_option
@json_option
@findings_alone_are_1()
def check_command(
    what: str,
    prints: str | None,
    direction: str,
    conversion: str,
    by: By,
    as_json: bool,
    **given: str | None,
) -> None:
    """Check the printed numbers of a paper, or one number of EXPR.

    FILE is a JSON file of the numbers that a paper prints, or a file whose name ends in .csv, of
    lines EXPR,delta,printed. With --prints, one number is checked, and --delta, --epsilon or
    --alpha says which question it answers. A guarantee that is rounded down is not true as printed,
    even if its digits are right. A guarantee that is larger than the value rounded up is true but
    loose. The exit status is 1 if a number is not true as printed. It is 2 if an entry of FILE
    cannot be read. The other entries are still checked.

    \b
    Examples:
      symacct check examples/papers.json
      symacct check "Gaussian(5)" --alpha 2 --prints 0.04
    """
    asked = {name: number for name, number in given.items() if number is not None}
    try:
        if prints is not None:
            entry = _entry(what, prints, asked, direction, conversion, by)
            checked: list[_Checked] = [paper_check.check_entry(entry)]
        elif given_with_file := _given_of_one():
            raise InputError(
                f"found {given_with_file} and no --prints: in a FILE each entry has a field for "
                "it; for one number of EXPR add --prints, as in --prints 0.73"
            )
        elif asked:
            raise InputError(
                f"found --{min(asked)} and no --prints, needed the number printed, as in "
                "--prints 0.73"
            )
        else:
            form = "csv" if what.lower().endswith(".csv") else "json"
            checked = _checked(_read(Path(what)), form)
    except SymacctError as error:
        raise InputError(f"{type(error).__name__}: {error}") from None
    if as_json:
        print_json([one.as_dict() for one in checked])
    else:
        _print_table(checked)
        if prints is not None and checked[0].verdict is not paper_check.Verdict.TRUE:
            _print_others(entry)
    verdicts = {one.verdict for one in checked}
    if paper_check.Verdict.MALFORMED in verdicts:
        sys.exit(2)
    if not verdicts <= {paper_check.Verdict.TRUE, paper_check.Verdict.LOOSE}:
        sys.exit(1)


def _given_of_one() -> str:
    """An option that is of one number, where it was given; nothing where none was."""
    ctx = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    names = ("direction", "conversion", "by")
    return next((f"--{name}" for name in names if ctx.get_parameter_source(name) is typed), "")


_ASKED_BY = {number: ask for ask, number in NEEDED.items()}
_Checked: TypeAlias = paper_check.CheckedEntry | paper_check.Malformed


def _entry(
    expr: str, prints: str, asked: dict[str, str], direction: str, conversion: str, by: By
) -> paper_check.PaperEntry:
    """The question that one printed number answers, by the best proved if nothing is pinned."""
    if len(asked) != 1:
        raise InputError(
            "check: needed --delta, --epsilon or --alpha with --prints, and one only, as in "
            "--delta 1e-5"
        )
    ((name, number),) = asked.items()
    in_numbers(expr)  # a parameter without a value is refused before anything is computed
    paper_check.printed_number(prints)
    return paper_check.PaperEntry(
        expr, _ASKED_BY[name], number, prints, "command line", direction, by, conversion
    )


def _read(file: Path) -> str:
    """The text of a file that is not too large and is text; no more is read than is allowed."""
    try:
        with open(file, "rb") as opened:
            content = opened.read(limits.current().text_bytes + 1)
        limits.check("text_bytes", len(content), f"{file}, in bytes (or more)")
        return content.decode()
    except OSError as error:
        of_expr = "; for an EXPR add --delta 1e-5 --prints 0.73, for example" * ("(" in str(file))
        name = cut(str(file), _LONGEST_PATH)
        raise InputError(f"{name}: {reason(error)}{of_expr}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{cut(str(file), _LONGEST_PATH)}: no UTF-8 ({error})") from None


def _checked(text: str, form: str) -> list[paper_check.CheckedEntry | paper_check.Malformed]:
    checked = []
    with progress("checking", len(paper_check.entries(text, form))) as advance:
        for one in paper_check.check(text, form):
            checked.append(one)
            advance(1)
    return checked


#: The conversions by a Rényi order that papers print numbers by.
_USUAL = ("improved", "classic")
_STYLES = {
    "true": "green",
    "true but loose": "yellow",
    "rounded to the unsafe side": "yellow",
    "undecided": "yellow",
}


def _print_table(checked: list[paper_check.CheckedEntry | paper_check.Malformed]) -> None:
    print_table(
        ("source", "printed", "value", "verdict", "why"),
        ((*_cells(one), one.reason) for one in checked),
    )
    click.echo(_summary(checked))


def _summary(checked: list[_Checked]) -> str:
    """The verdict of one number, or how many numbers have which."""
    if len(checked) == 1 and isinstance(checked[0], paper_check.CheckedEntry):
        return f"{checked[0].entry.printed} is {checked[0].verdict}"
    counts = Counter(one.verdict for one in checked)
    good = counts.pop(paper_check.Verdict.TRUE, 0)
    others = (f"{counts[verdict]} {verdict}" for verdict in paper_check.Verdict if counts[verdict])
    return ", ".join([f"{good} of {len(checked)} numbers are true as printed", *others])


def _print_others(entry: paper_check.PaperEntry) -> None:
    """What the usual conversions give for a number that is not what the asked one gives."""
    given = []
    for conversion in dict.fromkeys((entry.conversion, *_USUAL)) if entry.ask != "rdp" else ():
        with contextlib.suppress(SymacctError):
            other = paper_check.check_entry(replace(entry, conversion=conversion))
            true = " (true as printed)" if other.verdict is paper_check.Verdict.TRUE else ""
            given.append(f"{conversion} gives {other.value.rounded(_SHOWN_DIGITS)}{true}")
    if given:
        print_prose(f"by --conversion: {', '.join(given)}")


def _cells(one: paper_check.CheckedEntry | paper_check.Malformed) -> tuple[Text, ...]:
    verdict = Text(str(one.verdict), style=_STYLES.get(str(one.verdict), "bold red"))
    if isinstance(one, paper_check.Malformed):
        return Text(f"entry {one.place} {one.source}".rstrip()), Text("–"), Text("–"), verdict
    value = Text(one.value.rounded(_SHOWN_DIGITS))
    return Text(one.entry.source), Text(one.entry.printed), value, verdict
