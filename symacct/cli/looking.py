"""What is known of an expression, and of theorems: risk, compare, explain, graph, theorems."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import click

from symacct.cli.asking import answer
from symacct.cli.frame import (
    Expressions,
    InputError,
    Like,
    Orders,
    Reply,
    command,
    in_numbers,
    one_of,
    print_note,
    show,
)
from symacct.explore.comparison import Comparison, compare, compare_epsilon
from symacct.explore.risk import risk
from symacct.export.description import about
from symacct.export.explanation import explain
from symacct.export.figures import save
from symacct.export.tables import as_printed
from symacct.export.theorem_sheets import ListedTheorems
from symacct.kernel.accountant import Accountant, asked_of
from symacct.kernel.answer import Bound
from symacct.kernel.deadline import progress
from symacct.kernel.exact import order
from symacct.kernel.node import Node
from symacct.papers.report import PrivacyReport
from symacct.results.screen import Tabled
from symacct.text import parse_open
from symacct.theory import catalogue


@command("risk", "digits adjacency least_error", risk)
def risk_command(
    expr: str, /, plot: Path | None = None, as_json: bool = False, **question: Any
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
    \f
    plot: Write a picture to this file.
    """
    m = in_numbers(expr)
    with progress("risk"):
        found = risk(m, **question)
        rows = found.rows
    if not any(isinstance(most, Bound) for _, most, _ in rows):
        raise click.ClickException(
            f"risk: found no bound on any of the risks; {found.open_ends[0][1]}; needed fewer "
            "runs, or a mechanism of which a Rényi curve bounds them"
        )
    show(found, as_json)
    if plot is not None:
        click.echo(save(found.plot(), plot), err=as_json)


@command("compare", "delta digits")
def compare_command(
    exprs: Expressions, /, delta: str | None, digits: int, alpha: Orders = ()
) -> Reply | Comparison[Any]:
    """Compare the theorems that apply to EXPR, or several expressions.

    For one EXPR and --alpha, each row is a theorem. Lower bounds come first, and each value is
    followed by its ratio to the best known value. With --delta, each row is an ε by one conversion
    and theorem. The smallest proved ε comes first. If the true ε is not known, its best lower bound
    comes last. For several EXPR, each row is the best proved value of one of them.

    \b
    Examples:
      symacct compare "PoissonSubsample(Gaussian(5), 1/1000)" --alpha 8
      symacct compare "Gaussian(2)" "Laplace(2)" --delta 1e-5
    """
    one_of("compare", alpha=alpha or None, delta=delta)
    nodes = list(map(in_numbers, exprs))
    if len(nodes) == 1:
        (m,) = nodes
        return compare(m, alpha, digits) if delta is None else compare_epsilon(m, delta, digits)
    return _curves(nodes, alpha, digits) if delta is None else _reports(nodes, delta, digits)


def _curves(nodes: list[Node], alpha: tuple[str, ...], digits: int) -> Reply:
    """The curve of each of several expressions."""
    accountant = Accountant(digits)
    values = {m: [accountant.rdp(m, a) for a in alpha] for m in nodes}

    def cells() -> Iterator[tuple[str, ...]]:
        for m, row in values.items():
            pairs = zip(row, alpha, strict=True)
            shown = (as_printed(x, m, order(a), None, digits) for x, a in pairs)
            yield repr(m), *shown, about(m)

    headers = ("expression", *(f"ε({a})" for a in alpha), "relation")
    return Reply(
        lambda: [
            {"expression": repr(m), "values": [x.as_dict() for x in row]}
            for m, row in values.items()
        ],
        lambda: [Tabled(headers, cells())],
    )


def _reports(nodes: list[Node], delta: str, digits: int) -> Reply:
    """The number to report of each of several expressions."""
    found = {m: PrivacyReport(asked_of(m, delta, digits=digits)) for m in nodes}
    headers = ("expression", f"ε to report at δ = {delta}", "how", "relation")
    cells = ((repr(m), x.epsilon.rounded(), x.how, about(m)) for m, x in found.items())
    return Reply(
        lambda: [{"expression": repr(m), **x.as_dict()} for m, x in found.items()],
        lambda: [Tabled(headers, cells)],
    )


@command("explain", "delta epsilon digits")
def explain_command(
    expr: str, /, alpha: str | None = None, as_json: bool = False, **question: Any
) -> None:
    """Describe EXPR, and name the theorem that bounds each of its parts.

    With --delta or --epsilon the number is the one that the commands epsilon and delta report. It
    may come from the exact privacy profile.

    \b
    Examples:
      symacct explain "1000 * PoissonSubsample(Gaussian(2), 1/100)" --alpha 8
      symacct explain "1000 * PoissonSubsample(Gaussian(2), 1/100)" --delta 1e-6
    \f
    alpha: Explain ε(α) at this Rényi order. The default order is 2.
    """
    if question["delta"] is None and question["epsilon"] is None:
        show(explain(parse_open(expr), alpha), as_json)
        if alpha is None and not as_json:
            show("This is about ε(2); --delta explains the number to report.")
        return
    if alpha is not None:
        raise InputError("explain: needed one of --alpha, --delta and --epsilon")
    with progress("explain"):
        found = answer(expr, **question)
    show(PrivacyReport(found).explain(), as_json)


@command("graph", prints_json=False)
def graph_command(
    expr: str, /, form: Annotated[str, click.Choice(["tree", "mermaid", "dot", "svg"])] = "tree"
) -> None:
    """Print the parts of EXPR as a tree or as a drawing.

    The drawing is text for Mermaid, text for Graphviz (dot), or an SVG picture for a browser.

    \b
    Example:
      symacct graph "1000 * PoissonSubsample(Gaussian(2), 1/100)" --form mermaid
    \f
    form: What is printed.
    """
    graph = parse_open(expr).graph()
    shown = {"tree": graph.__str__, "svg": graph.svg}
    click.echo(shown[form]() if form in shown else getattr(graph, form))


@command("theorems", epilog=None)
def theorems_command(
    words: Annotated[tuple[str, ...], Like(metavar="[NAME]")] = (), /
) -> ListedTheorems:
    """List the theorems of the papers, or those that match NAME.

    NAME is the code of a theorem, such as ZW19-T8, or words of its row. A row is listed if it has
    each of the words, and the rows that are about the words come first. If no row has all of the
    words, the rows that have the most of them are listed. If none has one, the rows of a similar
    word are listed. Without NAME, or if many rows match, each row has one line. Otherwise the
    command shows what a theorem says, what it assumes, where its proof is, and a command and a line
    of Python that compute it.

    \b
    Examples:
      symacct theorems ZW19-T8
      symacct theorems shuffle
      symacct theorems poisson gaussian
    """
    rows, instead = catalogue.matching(" ".join(words)) if words else (catalogue.rows(), "")
    if instead:
        print_note(f"Note: {instead}")
    return ListedTheorems(rows, bool(words))
