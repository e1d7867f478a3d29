"""The number to report, first on the screen, with its relation and how it was found."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from symacct.accountant.accountant import Accountant
from symacct.accountant.reported import TRUE, Reported, asked_letter, says_least
from symacct.cli.frame import print_json
from symacct.core.claims import Kind
from symacct.core.errors import SymacctError
from symacct.explore.calibration import Calibration
from symacct.explore.comparison import ratio
from symacct.expressions.node import Node
from symacct.papers.report import COMPARED, PrivacyReport
from symacct.results.enclosure import Enclosure, Guarantee
from symacct.results.terminal import print_pairs
from symacct.results.time_limit import OutOfTimeError

_PROFILE_DIGITS = 6


def print_reported(
    m: Node,
    found: Reported[Guarantee],
    document: dict[str, Any],
    as_json: bool,
    *,
    first: Mapping[str, str] | None = None,
    last: Iterable[tuple[str, str]] = (),
    compared: Iterable[tuple[str, str]] = (),
    records: int | None = None,
    words: Mapping[str, str] | None = None,
) -> None:
    """The headline, what stands behind it, and then what bounds it from below; or all as JSON.

    In JSON `headline` comes first, and the document's own keys are of the answer by Rényi orders,
    where there is one, which `keys_below` says. `first` are facts of the headline's own, such as
    the noise that was found, and `compared` are those that Rényi orders give. `records` is the size
    of the data, where it is known. `words` are those of the report that the expression does not
    say.
    """
    report, first = as_report(found, records, **(words or {})), first or {}
    if as_json:
        found_first = {"found": "; ".join(map(": ".join, first.items()))} if first else {}
        headline = {**found_first, **report.as_dict()}
        below = document.get("guarantee", document)["conversion"]
        print_json(led(headline, document, below == headline["conversion"]))
        return
    number, *rest = report.headline()
    print_pairs([number, *first.items(), *rest])
    print_pairs([*report.behind(), *last], "what it rests on")
    if rows := [*report.comparison(), *compared]:
        print_pairs(rows, COMPARED)
    sys.stdout.flush()  # the answer waits for nothing more
    if rows := _beside(m, found):
        print_pairs(rows, f"what is known of the true {asked_letter(found.best)}")


def led(headline: Mapping[str, Any], document: Mapping[str, Any], is_same: bool) -> dict[str, Any]:
    """The document after the number to report, so that a reader of the first ε meets that one."""
    which = "the number to report" if is_same else "the answer by Rényi orders; report the headline"
    return {"headline": headline, "keys_below": which, **document}


def as_report(
    found: Reported[Guarantee], records: int | None = None, **words: str
) -> PrivacyReport:
    """What is printed of it, with the option that asks for more."""
    return PrivacyReport(found, more=f"--conversion {TRUE}", records=records, **words)


def note_large(report: PrivacyReport) -> None:
    """The notes on a large δ and a large ε beside a text that does not have them."""
    for note in report.notes:
        click.echo(f"Note: {note}", err=True)


def note_citations(form: str, expr: str, delta: str | None, also: Sequence[str] = ()) -> None:
    """Where the entries are that \\cite in a LaTeX text refers to."""
    if form == "latex":
        ask = "in Python .cite() of the guarantee"
        if delta is not None:
            quoted = shlex.quote(expr) if re.search(r'["$`\\!]', expr) else f'"{expr}"'
            more = [f" --work {key}" for key in also]
            ask = f"symacct cite {quoted} --delta {delta}{''.join((*_asked_how(), *more))}"
        click.echo(f"Note: the BibTeX entries of its \\cite: {ask}", err=True)


def _asked_how() -> Iterator[str]:
    """The options typed that decide by which theorems the number is found, as they were typed."""
    ctx = click.get_current_context()
    for name in ("conversion", "orders", "by", "digits"):
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            value = ctx.params[name]
            for one in value if isinstance(value, tuple) else (value,):
                yield f" --{name} {shlex.quote(str(one))}"


def print_calibrated(
    found: Reported[Calibration],
    digits: int,
    as_json: bool,
    *,
    name: str | None = None,
    more: Mapping[str, Any] | None = None,
    last: Iterable[tuple[str, str]] = (),
    records: int | None = None,
    words: Mapping[str, str] | None = None,
) -> None:
    """What was found, called `name`, and the guarantee there; `more` is added to the JSON."""
    at, by_orders = found.best, found.by_orders or found.best
    epsilon = replace(at.guarantee.epsilon, digits_asked=digits)
    there = replace(at.guarantee, epsilon=epsilon)
    print_reported(
        at.node,
        Reported(there, None, found.not_exact, found.beside, found.in_time),
        {**by_orders.as_dict(), **(more or {})},
        as_json,
        first={name or at.symbol: at.values},
        last=last,
        compared=[] if by_orders is at else [(name or at.symbol, by_orders.values)],
        records=records,
        words=words,
    )


def _beside(m: Node, found: Reported[Guarantee]) -> list[tuple[str, str]]:
    """The true number where another was pinned, or what it is at least where it is not known.

    What takes longer than `limits(beside=…)` allows is left out, and said to be.
    """
    rows: list[tuple[str, str]] = []
    g, beside = found.best, found.beside
    if g.kind is Kind.EXACT or says_least(g):
        return rows
    true = f"true {asked_letter(g)}"
    accountant = Accountant(_PROFILE_DIGITS)  # of its own: what is given up is forgotten
    name, lower = ("epsilon", "lower_epsilon") if g.epsilon is g.asked else ("delta", "lower_delta")
    ask, ask_least = getattr(accountant, name), getattr(accountant, lower)
    if found.by_orders is None and g.conversion != "exact":
        try:
            with contextlib.suppress(SymacctError):
                known = beside.ask(lambda: ask(m, g.given, "exact"))
                if known.kind is Kind.EXACT:
                    return [("exact", _compared(g.asked, known.asked))]
                if known.asked.upper < g.asked.lower:
                    rows.append(("at most", _compared(g.asked, known.asked)))
        except OutOfTimeError:
            rows.append(("exact", beside.left_out("--conversion exact")))
    try:
        with contextlib.suppress(SymacctError):
            least = beside.ask(lambda: ask_least(m, g.given))
            if least.lower > 0:
                ends = f"between {least.rounded(_PROFILE_DIGITS)} and {g.asked.rounded()}"
                times = ratio(g.asked, least)
                loose = "" if times is None else f", a factor of {times:.4g}"
                rows.append((true, f"{ends}{loose}"))
    except OutOfTimeError:
        rows.append((true, beside.left_out()))
    return rows


def _compared(asked: Enclosure, truth: Enclosure) -> str:
    """A number and how many times that was answered."""
    times = ratio(asked, truth)
    loose = "" if times is None else f"; the answer is {times:.4g} times that"
    return f"{truth.rounded(_PROFILE_DIGITS)}{loose}"
