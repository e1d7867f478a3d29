"""The number to report, with its relation and how it was found; and with --more all behind it."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import click

from symacct.accountant.accountant import Accountant
from symacct.accountant.best import late, says_least
from symacct.cli.frame import print_json
from symacct.core import limits
from symacct.core.claims import Kind
from symacct.core.deadline import Budget
from symacct.core.errors import SymacctError
from symacct.explore.calibration import Calibration
from symacct.explore.comparison import ratio
from symacct.papers.report import COMPARED, PrivacyReport
from symacct.results.enclosure import Enclosure, Guarantee
from symacct.results.terminal import print_pairs

_PROFILE_DIGITS = 6
_HALF = Fraction(1, 2)
Row = tuple[str, str]


def print_report(
    report: PrivacyReport,
    as_json: bool,
    more: bool,
    *,
    document: Mapping[str, Any] | None = None,
    first: Mapping[str, str] | None = None,
    last: Iterable[Row] = (),
) -> None:
    """The four rows of a report and its notes, with `more` all that stands behind them; or JSON.

    `first` are rows of the headline's own, such as the noise that was found, `last` are facts that
    the number rests on, and `document` is added to the JSON.
    """
    if as_json:
        by_orders = report.by_orders if more else None
        below = {} if by_orders is None else {"by_orders": by_orders.as_dict()}
        print_json({**report.as_dict(), **(document or {}), **below})
        return
    number, *rest = report.headline()
    print_pairs([number, *(first or {}).items(), *rest])
    if not more:
        return
    print_pairs([*report.behind(), *report.further(), *last], "what it rests on")
    if rows := list(report.comparison()):
        print_pairs(rows, COMPARED)
    sys.stdout.flush()  # the answer waits for nothing more
    if rows := _beside(report.guarantee):
        print_pairs(rows, f"what is known of the true {report.guarantee.letter}")


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
    found: Calibration,
    digits: int,
    as_json: bool,
    more: bool,
    *,
    name: str | None = None,
    document: Mapping[str, Any] | None = None,
    first: Mapping[str, str] | None = None,
    last: Iterable[Row] = (),
    **words: Any,
) -> None:
    """What was found, called `name`, and the guarantee there; `document` is added to the JSON.

    `first` are rows that stand below the number.
    """
    epsilon = replace(found.guarantee.epsilon, digits_asked=digits)
    found = replace(found, guarantee=replace(found.guarantee, epsilon=epsilon))
    report = PrivacyReport(found.guarantee, **words)
    value = {name or found.symbol: found.values, **(first or {})}
    document = {**found.as_dict(), **(document or {})}
    print_report(report, as_json, more, document=document, first=value, last=last)


def _beside(g: Guarantee) -> list[Row]:
    """The true number where another was pinned, or what it is at least where it is not known.

    What takes longer than the question's time is left out, and said to be.
    """
    if g.kind is Kind.EXACT or says_least(g) or g.mechanism is None:
        return []
    return list(_known_of_the_truth(g, Budget(limits.current().seconds)))


def _known_of_the_truth(g: Guarantee, budget: Budget) -> Iterator[Row]:
    name, lower = ("epsilon", "lower_epsilon") if g.epsilon is g.asked else ("delta", "lower_delta")
    accountant = Accountant(_PROFILE_DIGITS)
    if not g.is_best and not g.needs_no_order:
        with contextlib.suppress(SymacctError):
            ask = getattr(accountant, name)
            known = budget.ask(_HALF, lambda: ask(g.mechanism, g.given, "exact"))
            if known is None:
                yield "exact", f"not {late()}"
            elif known.kind is Kind.EXACT:
                yield "exact", _compared(g.asked, known.asked)
                return
            elif known.asked.upper < g.asked.lower:
                yield "at most", _compared(g.asked, known.asked)
    with contextlib.suppress(SymacctError):
        ask_least = getattr(accountant, lower)
        least = budget.ask(1, lambda: ask_least(g.mechanism, g.given))
        if least is None:
            yield f"true {g.letter}", f"its lower bound was not {late()}"
        elif least.lower > 0:
            ends = f"between {least.rounded(_PROFILE_DIGITS)} and {g.asked.rounded()}"
            times = ratio(g.asked, least)
            loose = "" if times is None else f", a factor of {times:.4g}"
            yield f"true {g.letter}", f"{ends}{loose}"


def _compared(asked: Enclosure, truth: Enclosure) -> str:
    """A number and how many times that was answered."""
    times = ratio(asked, truth)
    loose = "" if times is None else f"; the answer is {times:.4g} times that"
    return f"{truth.rounded(_PROFILE_DIGITS)}{loose}"
