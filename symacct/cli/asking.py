"""Questions to one expression: rdp, epsilon, delta, risk."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from symacct.accountant.accountant import ENGINES, Accountant, asked_of
from symacct.cli.frame import (
    ALPHA_HELP,
    by_option,
    expression_command,
    how_options,
    in_numbers,
    listed_orders,
    more_option,
    print_json,
    print_note,
)
from symacct.cli.headline import print_report
from symacct.cli.relation import SAY_WHICH, print_relation, relation, relation_option, under
from symacct.core.claims import Adjacency
from symacct.core.exact import order
from symacct.core.pinning import By
from symacct.export.description import OWN_CURVE, is_open, kind_label, neighbours, sensitivity
from symacct.expressions.node import Node
from symacct.papers.report import PrivacyReport
from symacct.results.enclosure import Bound
from symacct.results.progress import progress
from symacct.results.terminal import print_prose, print_table


@expression_command("rdp")
@click.option("--alpha", required=True, multiple=True, help=ALPHA_HELP)
@by_option
@click.option(
    "--engine",
    default="ball",
    show_default=True,
    type=click.Choice(ENGINES),
    help="The arithmetic to use. Only the digits of ball are proved.",
)
@click.option("--lower", is_flag=True, help="Print the best lower bound.")
@relation_option
def rdp(
    expr: str,
    alpha: tuple[str, ...],
    by: By,
    engine: str,
    lower: bool,
    adjacency: Adjacency | None,
    digits: int,
    as_json: bool,
) -> None:
    """Print the Rényi privacy loss ε(α) of EXPR at orders α.

    \b
    Example:
      symacct rdp "PoissonSubsample(Gaussian(5), 1/1000)" --alpha 2 --alpha 8
    """
    from symacct.export.tables import as_printed  # with all that writes formulas

    alpha, m = listed_orders(alpha), in_numbers(expr)
    said = relation(m, adjacency)
    accountant = Accountant(digits, engine)
    ask = accountant.lower_bound if lower else functools.partial(accountant.rdp, by=by)
    exactly = engine == "ball" and not lower
    with progress("rdp"):
        found = {a: ask(m, a) for a in alpha}
        answers = {a: replace(x, claim=x.claim.under(said)) for a, x in found.items()}
        texts = {
            a: as_printed(x, m, order(a), by, digits) if exactly else x.rounded()
            for a, x in answers.items()
        }
    if as_json:
        rows = [{"alpha": a, **x.as_dict(), "value": texts[a]} for a, x in answers.items()]
        print_json(rows)
        return
    print_table(
        ("order α", "ε(α), rounded safely", "kind", "theorem"),
        (
            (a, texts[a], kind_label(x.claim), ", ".join(x.claim.theorems) or OWN_CURVE)
            for a, x in answers.items()
        ),
    )
    print_relation(m, adjacency)


@expression_command("epsilon")
@click.option("--delta", required=True, help="The δ at which ε is asked for, in [0, 1).")
@how_options
@relation_option
@more_option
def epsilon(
    expr: str,
    delta: str,
    adjacency: Adjacency | None,
    how: dict[str, Any],
    more: bool,
    digits: int,
    as_json: bool,
) -> None:
    """Print the smallest ε that is proved for EXPR at a δ.

    \b
    Example:
      symacct epsilon "1000 * PoissonSubsample(Gaussian(2), 1/100)" --delta 1e-6
    """
    _answer(in_numbers(expr), adjacency, as_json, more, delta=delta, digits=digits, **how)


@expression_command("delta")
@click.option("--epsilon", required=True, help="The ε at which δ is asked for, at least 0.")
@how_options
@relation_option
@more_option
def delta(
    expr: str,
    epsilon: str,
    adjacency: Adjacency | None,
    how: dict[str, Any],
    more: bool,
    digits: int,
    as_json: bool,
) -> None:
    """Print the smallest δ that is proved for EXPR at an ε.

    \b
    Example:
      symacct delta "1000 * PoissonSubsample(Gaussian(2), 1/100)" --epsilon 1
    """
    _answer(in_numbers(expr), adjacency, as_json, more, epsilon=epsilon, digits=digits, **how)


def _answer(
    m: Node, adjacency: Adjacency | None, as_json: bool, more: bool, **question: Any
) -> None:
    relation(m, adjacency)  # another one is refused before anything is computed
    g = under(asked_of(m, **question), adjacency)
    is_said = as_json or not is_open(g.claim.adjacency, m)
    report = PrivacyReport(g, relation_why="" if is_said else SAY_WHICH)
    print_report(report, as_json, more)


@expression_command("risk")
@click.option(
    "--least-error",
    default="1e-10",
    show_default=True,
    help="The least error of a test for which the printed μ holds.",
)
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="Write a picture to this file."
)
@relation_option
def risk_command(
    expr: str,
    least_error: str,
    plot: Path | None,
    adjacency: Adjacency | None,
    digits: int,
    as_json: bool,
) -> None:
    """Print how much an attacker can learn at most: membership, guesses, records.

    TPR at FPR 0.01: an attacker who wrongly accuses at most 1 % of the people who are not in the
    data recognises at most this share of those who are. Reconstruction, baseline 0.1: an attacker
    who would guess a record right with probability 10 % reconstructs it with at most this
    probability. μ: no test tells whether a person is in the data better than the best test tells a
    draw of N(0, 1) from one of N(μ, 1). Regret: by how much this μ overstates how often the best
    guess is right. The table is repeated in words below it.

    \b
    Example:
      symacct risk "1000 * PoissonSubsample(Gaussian(2), 1/100)"
    """
    from symacct.explore.risk import risk  # with all that draws pictures
    from symacct.explore.risk_words import listed
    from symacct.export.figures import save

    m = in_numbers(expr)
    said = relation(m, adjacency)
    with progress("risk"):
        found = risk(m, digits, least_error, adjacency)
        headers, rows = found.cells
    if not any(isinstance(most, Bound) for _, most, _ in found.rows):
        raise click.ClickException(
            f"risk: found no bound on any of the risks; {found.open_ends[0][1]}; needed fewer "
            "runs, or a mechanism of which a Rényi curve bounds them"
        )
    if as_json:
        print_json(found.as_dict() | {"relation": str(said)})
    else:
        print_table(headers, rows)
        print_prose("relation: " + "; ".join(filter(None, [neighbours(said, m), sensitivity(m)])))
        for line in listed(found.words):
            print_prose(line)
        if found.note:
            print_prose(found.note)
        for name, why in found.open_ends:
            print_note(f"{name}: {why}")
    if plot is not None:
        click.echo(save(found.plot(), plot), err=as_json)
