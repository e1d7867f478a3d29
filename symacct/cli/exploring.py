"""Commands that ask over orders, theorems and parameters, as compare and sweep do."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import click
import sympy

from symacct.cli.asking import answer, relation, reported
from symacct.cli.frame import (
    HOW,
    Axes,
    Expressions,
    File,
    Like,
    Orders,
    Reply,
    axes_of,
    command,
    in_numbers,
    one_of,
    orders_option,
    refuse,
    show,
    write,
)
from symacct.cli.group import InputError, print_note
from symacct.explore.calibration import Calibration, calibrate, calibrate_risk
from symacct.explore.comparison import Comparison, compare, compare_epsilon
from symacct.explore.grids import counts_of, whole_numbers
from symacct.explore.plots import plot, plot_runs, plot_sweep
from symacct.explore.reference import reference_table
from symacct.explore.risk import risk
from symacct.explore.sweeps import NEEDED, Sweep, sweep
from symacct.export.description import about
from symacct.export.figures import save
from symacct.export.tables import as_printed
from symacct.export.theorem_sheets import ListedTheorems
from symacct.kernel.accountant import Accountant, asked_of
from symacct.kernel.answer import Bound
from symacct.kernel.claims import EITHER, Adjacency
from symacct.kernel.deadline import progress
from symacct.kernel.errors import ExecutorError
from symacct.kernel.exact import order
from symacct.kernel.node import Node
from symacct.kernel.parameters import By
from symacct.papers.report import PrivacyReport
from symacct.results.screen import Labelled, Tabled
from symacct.text import parse_open
from symacct.theory import catalogue


@command("sweep", f"ask {HOW}", sweep)
def sweep_command(
    expr: str,
    /,
    over: Axes,
    delta: str | None = None,
    jobs: Annotated[int, click.IntRange(1, 256)] = 1,
    file: Path | None = None,
    csv: Path | None = None,
    **how: Any,
) -> Sweep:
    """Ask one question at every point of a grid of parameters.

    \b
    Example:
      symacct sweep "1000*PoissonSubsample(Gaussian(sigma), 1/100)" \\
        --over sigma=1,2,4 --over delta=1e-5
    \f
    delta: The δ of every point, as --over delta=VALUE.
    jobs: How many processes work at the same time.
    file: Keep the results in this JSONL file. An interrupted sweep is resumed from it.
    csv: Write the results to this CSV file.
    """
    (m,), axes = _gridded([expr], over, delta)
    executor: AbstractContextManager[Executor | None]
    try:
        executor = nullcontext() if jobs == 1 else ProcessPoolExecutor(jobs)
    except (OSError, ImportError) as error:  # there are no semaphores here
        raise ExecutorError(
            f"--jobs: found {jobs}, and no processes to be had ({error}); needed --jobs 1"
        ) from None
    with executor as processes:
        swept = sweep(m, axes, executor=processes, file=file, **how)
    if csv is not None:
        swept.to_csv(csv)
    return swept


@command("plot", "by also ask", plot_sweep, prints_json=False)
def plot_command(
    exprs: Expressions,
    /,
    by: By,
    also: tuple[str, ...],
    ask: str,
    orders: Annotated[Any, Like(metavar="VALUES", read=orders_option)] = None,
    over: Annotated[tuple[str, ...], Like(metavar="NAME=VALUES")] = (),
    delta: str | None = None,
    out: Path = Path("plot.png"),
) -> None:
    """Draw ε(α) against the order, or ε or δ against a parameter.

    The horizontal axis is the order, or the parameter that --over names. Without --orders it ends
    at about ten times the order that is best at δ = 1e-5. Exact curves, upper bounds and lower
    bounds have different line styles.

    \b
    Example:
      symacct plot "PoissonSubsample(Gaussian(5), 1/1000)" \\
        --orders 2..64 --also ZW19-T5 --out rdp.pdf
    \f
    orders: The orders to draw: a list such as 2,4,8.5, a range such as 2..64, or 2:1000:60:log.
    over: Draw against a parameter of EXPR, or against delta or epsilon. VALUES is that of sweep.
    delta: Draw ε at this δ: against --over, or against the number of runs, 1 to n, if EXPR is n
        runs of a mechanism.
    out: The file to write, which ends in .png, .svg, .pdf or .pgf.
    """
    if over:
        refuse("with --over, needed one of them; --by chooses a theorem for --over", "also")
        nodes, axes = _gridded(exprs, over, delta)
        curves = dict(zip(exprs, nodes, strict=True))
        figure = plot_sweep(curves, axes, ask, by=by, orders=orders)
    elif delta is not None:
        refuse("with --delta and no --over, needed one of them", "orders", "by", "also")
        if len(exprs) > 1:
            raise InputError("--delta: found more than one EXPR and no --over, needed one EXPR")
        figure = plot_runs(in_numbers(exprs[0]), delta)
    else:
        figure = plot({text: in_numbers(text) for text in exprs}, orders, also, pinned=by)
    click.echo(save(figure, out))


def _gridded(
    exprs: Iterable[str], over: tuple[str, ...], delta: str | None
) -> tuple[list[Node], dict[str, list[str]]]:
    """Read the expressions, and the values by name; a δ is one more of these.

    Values spaced over a count of runs are rounded to whole numbers, which a note says.
    """
    if delta is not None:
        over = (*over, f"delta={delta}")
    nodes, axes = list(map(parse_open, exprs)), axes_of("--over", over)
    counts = {symbol.name for m in nodes for symbol in counts_of(m)}
    spaced = {text.partition("=")[0].strip() for text in over if ":" in text}
    for name in [name for name in axes if name in counts & spaced]:
        whole = whole_numbers(axes[name])
        if whole != axes[name]:
            print_note(f"{name} is a count, taken at {', '.join(whole)}")
        axes[name] = whole
    return nodes, axes


@command(
    "calibrate",
    "epsilon delta advantage tpr fpr mu rho bayes_success prior reconstruction baseline "
    "conversion by seconds digits adjacency more",
    calibrate_risk,
)
def calibrate_command(
    expr: str,
    /,
    epsilon: str | None,
    delta: str | None,
    conversion: str,
    by: By,
    digits: int,
    adjacency: Adjacency | None,
    more: bool,
    whole: bool = False,
    **risks: Any,
) -> Reply:
    """Find the least noise, or the largest rate or count, that meets a target.

    EXPR has one parameter without a value, which this command finds. The target is an (ε, δ), or
    --rho of zCDP, or a bound on what an attacker can do: --advantage, --tpr with --fpr, --mu,
    --bayes-success, or --reconstruction with --baseline.

    \b
    Examples:
      symacct calibrate "1000*PoissonSubsample(Gaussian(sigma), 1/100)" \\
        --epsilon 2 --delta 1e-6
      symacct calibrate "Gaussian(sigma)" --tpr 0.05 --fpr 0.01
      symacct calibrate "ZCDP(rho)" --epsilon 17.14 --delta 1e-5
    \f
    epsilon: The ε to be met at the δ of --delta.
    delta: The δ to be met, together with --epsilon.
    whole: Search whole numbers only, as a count of runs always is.
    """
    m = parse_open(expr)
    if whole:
        m = m.subs({x: sympy.Symbol(x.name, integer=True, positive=True) for x in m.free_symbols})
    relation(m, adjacency)  # another one is refused before anything is computed
    neighbours = adjacency or EITHER
    risks = {name: at for name, at in risks.items() if at is not None}
    if risks.keys() - {"prior"}:
        refuse("with --rho or a risk, needed one target", "epsilon", "delta", "conversion", "by")
        calibration = calibrate_risk(m, digits=digits, **risks).under(neighbours)
        shown = replace(calibration, value=replace(calibration.value, digits_asked=digits))
        return Reply(calibration.as_dict, lambda: [Labelled(shown.rows())])
    if (epsilon is None) != (delta is None):
        alone, rest = ("--epsilon", "--delta 1e-5") if delta is None else ("--delta", "--epsilon 1")
        raise InputError(f"found {alone} alone; add {rest}")
    if epsilon is None:
        raise InputError(
            "needed a target, such as --epsilon 1 --delta 1e-5, --rho 0.5, --advantage 0.1, or "
            "--tpr, --mu, --bayes-success or --reconstruction"
        )
    answer = calibrate(m, epsilon, delta, digits=digits, conversion=conversion, by=by).under(
        neighbours
    )
    answer = shown_to(answer, digits)
    values = [(answer.symbol, answer.values)]
    return reported(PrivacyReport(answer.guarantee), more, answer.as_dict(), values)


def shown_to(calibration: Calibration, digits: int) -> Calibration:
    """Return the calibration, with its ε printed to so many digits."""
    epsilon = replace(calibration.guarantee.epsilon, digits_asked=digits)
    return replace(calibration, guarantee=replace(calibration.guarantee, epsilon=epsilon))


#: The table of `reference` is of this expression where none is given.
_EXPRESSION = "PoissonSubsample(Gaussian(sigma), gamma)"
#: It has these values of what --grid does not name.
_GRID = (
    "sigma=0.5,1,2,5,20,100",
    "gamma=1e-6,1e-4,0.001,0.01,0.1,0.5",
    "alpha=1.1,1.5,2,2.5,4,8,10.5,16,32,64,256,1024",
)


@command("reference", "ask conversion", reference_table, prints_json=False)
def reference_command(
    expr: str = _EXPRESSION,
    /,
    *,
    ask: str,
    conversion: str,
    grid: Axes = (),
    digits: Annotated[int, Like("How many significant digits each end has.")] = 50,
    json: File = None,
    csv: File = None,
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
    \f
    json: Write the table as JSON to FILE, or print it if FILE is -.
    csv: Write the table as CSV to FILE, or print it if FILE is -.
    """
    values, usual = axes_of("--grid", grid), axes_of("--grid", _GRID)
    node = parse_open(expr)
    needed = {symbol.name for symbol in node.free_symbols} | {NEEDED[ask]}
    if set(values) <= needed:
        values = {name: usual[name] for name in usual if name in needed} | values
    table = replace(reference_table(node, values, ask, digits, conversion), expression=expr)
    files = ((json, f"{table.to_json()}\n"), (csv if json or csv else "-", table.to_csv()))
    for file, text in files:
        if file == "-":
            click.echo(text, nl=False)
        elif file is not None:
            write(file, text)
    errors = [row["error"] for row in table.rows if "error" in row]
    if errors:
        counted = f"{len(errors):,} of {len(table.rows):,} rows have"
        print_note(f"{counted} an error in place of a value, such as {errors[0]}")
        raise SystemExit(1)


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
        risks = risk(m, **question)
        rows = risks.rows
    if not any(isinstance(most, Bound) for _, most, _ in rows):
        raise click.ClickException(
            f"risk: found no bound on any of the risks; {risks.open_ends[0][1]}; needed fewer "
            "runs, or a mechanism of which a Rényi curve bounds them"
        )
    show(risks, as_json)
    if plot is not None:
        click.echo(save(risks.plot(), plot), err=as_json)


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
    if delta is not None:
        reports = {m: PrivacyReport(asked_of(m, delta, digits=digits)) for m in nodes}
        headers = [f"ε to report at δ = {delta}", "how"]
        cells = {m: [x.epsilon.rounded(), x.how] for m, x in reports.items()}
        documents = {m: x.as_dict() for m, x in reports.items()}
    else:
        accountant = Accountant(digits)
        values = {m: [accountant.rdp(m, a) for a in alpha] for m in nodes}
        headers = [f"ε({a})" for a in alpha]
        orders = [order(a) for a in alpha]
        cells = {
            m: [as_printed(x, m, at, None, digits) for x, at in zip(row, orders, strict=True)]
            for m, row in values.items()
        }
        documents = {m: {"values": [x.as_dict() for x in row]} for m, row in values.items()}
    return Reply(
        lambda: [{"expression": repr(m), **document} for m, document in documents.items()],
        lambda: [
            Tabled(
                ("expression", *headers, "relation"),
                [(repr(m), *row, about(m)) for m, row in cells.items()],
            )
        ],
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
        show(parse_open(expr).explain(alpha), as_json)
        if alpha is None and not as_json:
            show("This is about ε(2); --delta explains the number to report.")
        return
    one_of("explain", alpha=alpha, **{name: question[name] for name in ("delta", "epsilon")})
    with progress("explain"):
        guarantee = answer(expr, **question)
    show(PrivacyReport(guarantee).explain(), as_json)


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
