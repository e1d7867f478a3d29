"""Questions over many parameters: sweep, plot, calibrate, reference."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import click
import sympy

from symacct.cli.asking import relation, reported
from symacct.cli.frame import (
    HOW,
    Axes,
    Expressions,
    File,
    InputError,
    Like,
    Reply,
    axes_of,
    command,
    in_numbers,
    orders_option,
    print_note,
    write_to,
)
from symacct.explore.calibration import Calibration, calibrate
from symacct.explore.grids import grid, whole_numbers
from symacct.explore.plots import plot, plot_runs, plot_sweep
from symacct.explore.reference import reference_table
from symacct.explore.risk_calibration import calibrate_risk
from symacct.explore.sweeps import Sweep, sweep
from symacct.explore.sweeps.worker import NEEDED
from symacct.export.figures import save
from symacct.kernel.arguments import By
from symacct.kernel.claims import EITHER, Adjacency
from symacct.kernel.conversion import BEST
from symacct.kernel.errors import ExecutorError
from symacct.kernel.node import Node
from symacct.operations import Compose
from symacct.papers.report import PrivacyReport
from symacct.results.screen import Labelled
from symacct.text import parse_open


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
    over = _with_delta(over, delta)
    axes = axes_of("--over", over)
    m = _parsed(expr, axes)
    axes = _with_whole_counts(over, axes, [m])
    with _executor(jobs) as executor:
        swept = sweep(m, axes, executor=executor, file=file, **how)
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
    orders: Annotated[str | None, Like(metavar="VALUES")] = None,
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
        chosen = None if orders is None else orders_option(orders)
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
            print_note(f"{name} is a count, taken at {', '.join(values)}")
    return axes | rounded


def _counts(m: Node) -> set[str]:
    """The symbols that say how many times something is run."""
    composed = (node for node in m.walk() if isinstance(node, Compose))
    runs = (count for node in composed for count in node.symbolic_parameters())
    return {symbol.name for count in runs for symbol in count.free_symbols}


def _executor(jobs: int) -> AbstractContextManager[Executor | None]:
    try:
        return nullcontext() if jobs == 1 else ProcessPoolExecutor(jobs)
    except (OSError, ImportError) as error:  # there are no semaphores here
        raise ExecutorError(
            f"--jobs: found {jobs}, and no processes to be had ({error}); needed --jobs 1"
        ) from None


@command(
    "calibrate",
    "epsilon delta advantage tpr fpr mu rho bayes_success reconstruction baseline conversion by "
    "seconds digits adjacency more",
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
    prior: str | None = None,
    **risks: str | None,
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
    prior: The probability of membership before the output is seen, for --bayes-success. The
        default is 1/2.
    """
    m = parse_open(expr)
    counts = _counts(m)
    m = m.subs({one: _count(one.name) for one in m.free_symbols if whole or one.name in counts})
    relation(m, adjacency)  # another one is refused before anything is computed
    said, risks = adjacency or EITHER, risks | {"prior": prior}
    if any(risks.values()):
        if epsilon or delta or conversion != BEST or by:
            raise InputError(
                "found --rho or a risk with --epsilon, --delta, --conversion or --by, needed one "
                "target; leave these options out"
            )
        asked: Any = {name: at for name, at in risks.items() if at is not None}
        at_risk = calibrate_risk(m, digits=digits, **asked).under(said)
        shown = replace(at_risk, value=replace(at_risk.value, digits_asked=digits))
        return Reply(at_risk.as_dict, lambda: [Labelled(shown.rows())])
    if epsilon is None or delta is None:
        if epsilon or delta:
            found, missing = (
                ("--epsilon", "--delta 1e-5") if epsilon else ("--delta", "--epsilon 1")
            )
            raise InputError(f"found {found} alone, needed an ε and a δ; add {missing}")
        raise InputError(
            "needed a target, such as --epsilon 1 --delta 1e-5, --rho 0.5, --advantage 0.1, or "
            "--tpr, --mu, --bayes-success or --reconstruction"
        )
    answer = calibrate(m, epsilon, delta, digits=digits, conversion=conversion, by=by).under(said)
    answer = to_digits(answer, digits)
    values = [(answer.symbol, answer.values)]
    return reported(PrivacyReport(answer.guarantee), more, answer.as_dict(), values)


def to_digits(found: Calibration, digits: int) -> Calibration:
    """The calibration, its ε printed to so many digits."""
    epsilon = replace(found.guarantee.epsilon, digits_asked=digits)
    return replace(found, guarantee=replace(found.guarantee, epsilon=epsilon))


def _count(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, integer=True, positive=True)


_EXPRESSION = "PoissonSubsample(Gaussian(sigma), gamma)"
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
    if json is not None:
        write_to(json, table.to_json() + "\n")
    if csv is not None or json is None:
        write_to(csv or "-", table.to_csv())
    errors = [row["error"] for row in table.rows if "error" in row]
    if errors:
        counted = f"{len(errors):,} of {len(table.rows):,} rows have"
        print_note(f"{counted} an error in place of a value, such as {errors[0]}")
        raise SystemExit(1)
