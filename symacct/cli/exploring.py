"""Questions over many parameters: sweep, plot, calibrate."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import sympy

from symacct.cli.frame import (
    AXIS_HELP,
    EPILOG,
    InputError,
    also_option,
    ask_option,
    axes_of,
    by_option,
    conversion_option,
    expression_command,
    how_options,
    in_numbers,
    main,
    more_option,
    orders_option,
    print_facts,
    print_json,
    seconds_option,
)
from symacct.cli.headline import print_calibrated
from symacct.cli.relation import print_relation, relation, relation_option
from symacct.core.claims import EITHER, Adjacency, Kind
from symacct.core.errors import ExecutorError
from symacct.core.pinning import By
from symacct.explore.calibration import calibrate, number
from symacct.explore.grids import grid, whole_numbers
from symacct.explore.plots import plot, plot_runs, plot_sweep
from symacct.explore.risk_calibration import RiskCalibration, calibrate_risk
from symacct.explore.sweeps import Sweep, sweep
from symacct.explore.sweeps.worker import NEEDED
from symacct.export.citation import source_line
from symacct.export.description import KIND_LABELS, OWN_CURVE, about
from symacct.export.figures import save
from symacct.expressions.node import Node
from symacct.operations import Compose
from symacct.results.rounding import given
from symacct.results.terminal import print_table
from symacct.text import parse_open
from symacct.theory.conversion import BEST

_ask_option = ask_option(default="epsilon", type=click.Choice(list(NEEDED)))
_SHOWN = 40  # rows of a table on the terminal
_JOBS = click.IntRange(1, 256)  # processes, all of which are started at once


@expression_command("sweep")
@click.option("--over", required=True, multiple=True, metavar="NAME=VALUES", help=AXIS_HELP)
@click.option("--delta", help="The δ of every point, as --over delta=VALUE.")
@_ask_option
@how_options
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    type=_JOBS,
    help="How many processes work at the same time.",
)
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="Keep the results in this JSONL file. An interrupted sweep is resumed from it.",
)
@click.option(
    "--csv", "table", type=click.Path(path_type=Path), help="Write the results to this CSV file."
)
def sweep_command(
    expr: str,
    over: tuple[str, ...],
    delta: str | None,
    ask: str,
    how: dict[str, Any],
    jobs: int,
    file: Path | None,
    table: Path | None,
    digits: int,
    as_json: bool,
) -> None:
    """Ask one question at every point of a grid of parameters.

    \b
    Example:
      symacct sweep "1000*PoissonSubsample(Gaussian(sigma), 1/100)" \\
        --over sigma=1,2,4 --over delta=1e-5
    """
    over = _with_delta(over, delta)
    axes = axes_of("--over", over)
    m = _parsed(expr, axes)
    axes = _with_whole_counts(over, axes, [m])
    with _executor(jobs) as executor:
        swept = sweep(m, axes, ask, digits=digits, executor=executor, file=file, **how)
    if table is not None:
        swept.to_csv(table)
    if as_json:
        print_json(list(swept))
    else:
        _print_sweep(swept, {"rdp": "ε(α)", "epsilon": "ε", "delta": "δ"}[ask])
        print_relation(m)


@main.command("plot", epilog=EPILOG)
@click.argument("exprs", metavar="EXPR...", nargs=-1, required=True)
@click.option(
    "--orders",
    metavar="VALUES",
    help="The orders to draw: a list such as 2,4,8.5, a range such as 2..64, or 2:1000:60:log.",
)
@by_option
@also_option
@click.option(
    "--over",
    multiple=True,
    metavar="NAME=VALUES",
    help="Draw against a parameter of EXPR, or against delta or epsilon. VALUES is that of sweep.",
)
@_ask_option
@click.option(
    "--delta",
    help="Draw ε at this δ: against --over, or against the number of runs, 1 to n, if EXPR is n "
    "runs of a mechanism.",
)
@click.option(
    "--out",
    default="plot.png",
    show_default=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write, which ends in .png, .svg, .pdf or .pgf.",
)
def plot_command(
    exprs: tuple[str, ...],
    orders: str | None,
    by: By,
    also: tuple[str, ...],
    over: tuple[str, ...],
    ask: str,
    delta: str | None,
    out: Path,
) -> None:
    """Draw ε(α) against the order, or ε or δ against a parameter.

    The horizontal axis is the order, or the parameter that --over names. Without --orders it ends
    at about ten times the order that is best at δ = 1e-5. Exact curves, upper bounds and lower
    bounds have different line styles.

    \b
    Example:
      symacct plot "PoissonSubsample(Gaussian(5), 1/1000)" \\
        --orders 2..64 --also ZW19-T5 --out rdp.pdf
    """
    if over:
        over, delta = _with_delta(over, delta), None
    if delta is not None and (orders or by or also or len(exprs) > 1):
        raise InputError(
            "found --delta with --orders, --by, --also or more than one EXPR, needed --delta "
            "alone; with --over NAME=VALUES these are allowed"
        )
    if over and also:
        raise InputError(
            "found --also with --over, needed one of them; --by chooses a theorem for --over"
        )
    if delta is not None:
        figure = plot_runs(in_numbers(exprs[0]), delta)
    elif over:
        axes = axes_of("--over", over)
        nodes = {text: _parsed(text, axes) for text in exprs}
        axes = _with_whole_counts(over, axes, nodes.values())
        chosen = orders_option(orders)
        figure = plot_sweep(nodes, axes, ask, by=by, orders=chosen)
    else:
        nodes = {text: in_numbers(text) for text in exprs}
        figure = plot(nodes, None if orders is None else grid(orders), also, pinned=by)
    click.echo(save(figure, out))


def _with_delta(over: tuple[str, ...], delta: str | None) -> tuple[str, ...]:
    """The axes with a δ of one value, as of any other parameter."""
    if delta is None:
        return over
    if any(text.partition("=")[0].strip() == "delta" for text in over):
        raise InputError("found --delta with --over delta=VALUES, needed one of them")
    return (*over, f"delta={delta}")


@main.command("graph", epilog=EPILOG)
@click.argument("expr")
@click.option(
    "--form",
    default="tree",
    show_default=True,
    type=click.Choice(["tree", "mermaid", "dot", "svg"]),
    help="What is printed.",
)
def graph_command(expr: str, form: str) -> None:
    """Print the parts of EXPR as a tree or as a drawing.

    The drawing is text for Mermaid, text for Graphviz (dot), or an SVG picture for a browser.

    \b
    Example:
      symacct graph "1000 * PoissonSubsample(Gaussian(2), 1/100)" --form mermaid
    """
    graph = parse_open(expr).graph()
    shown = {"tree": graph.__str__, "svg": graph.svg}
    click.echo(shown[form]() if form in shown else getattr(graph, form))


def _parsed(text: str, axes: Iterable[str]) -> Node:
    """The expression, the names of the axes open in it but for the question's own."""
    m = parse_open(text)
    asked = {symbol.name for symbol in m.free_symbols} & set(NEEDED.values()) & set(axes)
    if asked:
        name = asked.pop()
        raise InputError(
            f"found the parameter {name} in EXPR, needed another name, because the question "
            "itself uses this one; rename it"
        )
    return m


def _with_whole_counts(
    over: Iterable[str], axes: dict[str, list[str]], nodes: Iterable[Node]
) -> dict[str, list[str]]:
    """The axes, those spaced over a count of runs rounded to whole numbers, and that said."""
    counts = {name for m in nodes for name in _counts(m)}
    spaced = {text.partition("=")[0].strip() for text in over if ":" in text}
    rounded = {name: whole_numbers(axes[name]) for name in counts & spaced if name in axes}
    for name, values in rounded.items():
        if values != axes[name]:
            click.echo(f"{name} is a count, taken at {', '.join(values)}", err=True)
    return axes | rounded


def _counts(m: Node) -> set[str]:
    """The symbols that say how many times something is run."""
    composed = (node for node in m.walk() if isinstance(node, Compose))
    runs = (count for node in composed for count in node.symbolic_parameters())
    return {symbol.name for count in runs for symbol in count.free_symbols}


@expression_command("calibrate")
@click.option(
    "--whole", is_flag=True, help="Search whole numbers only, as a count of runs always is."
)
@click.option("--epsilon", help="The ε to be met at the δ of --delta.")
@click.option("--delta", help="The δ to be met, together with --epsilon.")
@click.option(
    "--advantage", help="A target: the largest TPR − FPR that a membership test may have."
)
@click.option(
    "--tpr", help="A target: the largest true positive rate of a test at the rate of --fpr."
)
@click.option("--fpr", help="The false positive rate of the test that --tpr bounds.")
@click.option("--mu", help="A target: the μ of Gaussian DP, for tests with errors from 1e-10.")
@click.option("--rho", help="A target: the ρ of zero-concentrated differential privacy.")
@click.option("--bayes-success", help="A target: how often a guess of membership may be right.")
@click.option(
    "--prior",
    help=(
        "The probability of membership before the output is seen, for "
        "--bayes-success. The default is 1/2."
    ),
)
@click.option("--reconstruction", help="A target: how often a record may be reconstructed.")
@click.option("--baseline", help="How often --reconstruction succeeds without the output.")
@conversion_option
@by_option
@seconds_option
@more_option
@relation_option
def calibrate_command(
    expr: str,
    whole: bool,
    epsilon: str | None,
    delta: str | None,
    conversion: str,
    by: By,
    more: bool,
    adjacency: Adjacency | None,
    digits: int,
    as_json: bool,
    **risks: str | None,
) -> None:
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
    """
    m = parse_open(expr)
    counts = _counts(m)
    m = m.subs({one: _count(one.name) for one in m.free_symbols if whole or one.name in counts})
    relation(m, adjacency)  # another one is refused before anything is computed
    if any(risks.values()):
        if epsilon or delta or conversion != BEST or by:
            raise InputError(
                "found --rho or a risk with --epsilon, --delta, --conversion or --by, needed one "
                "target; leave these options out"
            )
        asked = {name: value for name, value in risks.items() if value is not None}
        at_risk = calibrate_risk(m, digits=digits, **asked)
        claim = at_risk.value.claim.under(adjacency or EITHER)
        at_risk = replace(at_risk, value=replace(at_risk.value, claim=claim))
        _print_risk_calibration(at_risk, digits, as_json)
    elif epsilon is None or delta is None:
        if epsilon or delta:
            found, missing = (
                ("--epsilon", "--delta 1e-5") if epsilon else ("--delta", "--epsilon 1")
            )
            raise InputError(f"found {found} alone, needed an ε and a δ; add {missing}")
        raise InputError(
            "needed a target, such as --epsilon 1 --delta 1e-5, --rho 0.5, --advantage 0.1, or "
            "--tpr, --mu, --bayes-success or --reconstruction"
        )
    else:
        answer = calibrate(m, epsilon, delta, digits=digits, conversion=conversion, by=by)
        print_calibrated(answer.under(adjacency or EITHER), digits, as_json, more)


def _print_risk_calibration(found: RiskCalibration, digits: int, as_json: bool) -> None:
    print_facts(
        as_json,
        found.as_dict(),
        (f"{found.symbol}, meets the target", number(found.meets)),
        (f"{found.symbol}, does not", number(found.fails)),
        (found.risk, f"{found.value.rounded(digits)}  (rounded up)"),
        ("target", given(found.target)),
        ("relation", about(found.node, found.value.claim.adjacency)),
        ("sources", source_line(found.value.claim.sources)),
    )


def _count(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, integer=True, positive=True)


def _executor(jobs: int) -> AbstractContextManager[Executor | None]:
    try:
        return nullcontext() if jobs == 1 else ProcessPoolExecutor(jobs)
    except (OSError, ImportError) as error:  # there are no semaphores here
        raise ExecutorError(
            f"--jobs: found {jobs}, and no processes to be had ({error}); needed --jobs 1"
        ) from None


def _print_sweep(swept: Sweep, asked: str) -> None:
    print_table(
        (*swept.axes, f"{asked} (rounded safely)", "kind", "how"),
        (_cells(swept, record) for record in swept[:_SHOWN]),
    )
    if len(swept) > _SHOWN:
        click.echo(f"… and {len(swept) - _SHOWN:,} more; --csv or --file keeps them all")
    if swept.errors:
        click.echo(f"{len(swept.errors):,} points have no answer; their error says why")


def _cells(swept: Sweep, record: dict[str, Any]) -> tuple[str, ...]:
    point = tuple(record[name] for name in swept.axes)
    if "error" in record:
        return (*point, record["error"], "", "")
    return (*point, record["value"], KIND_LABELS[Kind(record["kind"])], _how(record))


def _how(record: dict[str, Any]) -> str:
    """How a number was found; of a curve by which theorems."""
    return record.get("how") or record["theorems"] or OWN_CURVE
