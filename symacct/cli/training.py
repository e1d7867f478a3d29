"""The privacy of a training run: dpsgd."""

from __future__ import annotations

import contextlib
import math
import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import click
import sympy

from symacct.accountant.accountant import asked_of
from symacct.baselines import shuffled_batches_epsilon
from symacct.cli.frame import (
    DIGITS_HELP,
    InputError,
    conversion_option,
    json_option,
    main,
    more_option,
    print_json,
    print_text,
    seconds_option,
)
from symacct.cli.headline import (
    note_citations,
    note_large,
    print_calibrated,
    print_report,
)
from symacct.core import symbols
from symacct.core.claims import Relation
from symacct.core.errors import DomainError, LimitError, ParseError, RoundedWarning, echo
from symacct.core.exact import text
from symacct.explore.calibration import Calibration, calibrate, number
from symacct.explore.grids import grid
from symacct.export.description import describe, neighbours
from symacct.export.spoken import value
from symacct.export.tables import booktabs
from symacct.expressions.formula_reader import parse_formula
from symacct.expressions.node import Node
from symacct.expressions.parameters import rational, whole
from symacct.mechanisms import Gaussian
from symacct.operations import Compose, GroupPrivacy, dp_sgd
from symacct.operations.training import records_of_a_batch, roundings
from symacct.papers import statement
from symacct.papers.report import PrivacyReport
from symacct.results.enclosure import Enclosure, Guarantee
from symacct.results.progress import progress
from symacct.results.rounding import given
from symacct.results.terminal import print_prose, print_table
from symacct.theory import catalogue

_NOISE = sympy.Symbol("noise", positive=True)
_UNITS = "σ and the sensitivity are in units of the norm that each record's gradient is clipped to"
_SHUFFLED = (
    "each epoch has a new permutation, of which the last batch is the short one; the attacker may "
    "know the permutations"
)
_COMPARED = (
    "no gain from shuffling is claimed, because none of the results in docs/theorems.md proves one "
    "for shuffled batches (docs/proofs.md, section 37)"
)
_WHICH = (
    "Report the ε of the first row, which is proved for this run; what the true ε is at least is "
    "no guarantee."
)
_CHEAPER = (
    "--sampling poisson or balls_and_bins, where the trainer can draw its batches so: for these "
    "a gain from sampling is proved"
)
#: Why records are replaced where nothing else was said, by the sampling that is for it.
_REPLACED = (
    "this is the default of --sampling {sampling}, and a replaced record moves the sum over a "
    "batch by up to twice the clipping norm (sensitivity 2)"
)
_ALL_TOLD = (
    "the runs are on the same data, and the results of all of them are released; to release only "
    "the best of a random number of runs costs less (RepeatAndSelect)"
)

_ONE_DRAW = "the parts of a batch are those of one draw, so that no record is in a batch twice"


class SamplingChoice(click.Choice[str]):
    """A sampling by its name, hyphens for underscores or not."""

    def convert(self, value: Any, *about: Any) -> str:
        return super().convert(value.replace("-", "_"), *about)


#: What others call the rate at which records are drawn.
_RATES = ("--sample-rate", "--sampling-rate", "--sampling-probability", "--rate", "--gamma", "--q")


class TrainingCommand(click.Command):
    """The command, which says how a sampling rate is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)  # click takes them away
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name not in _RATES:
                raise
            raise InputError(_batches_of(error.option_name, given)) from None


def _batches_of(option: str, words: list[str]) -> str:
    """A rate was found: the batch size that stands for it, or an expression where none does."""
    values = dict(pairwise(word for part in words for word in part.split("=", 1)))
    alone = (
        "where n is not known, write for example epsilon "
        '"3525 * PoissonSubsample(Gaussian(1.1), 1/235)" --delta 1e-5'
    )
    with contextlib.suppress(DomainError, LimitError, KeyError):
        batch = whole(values["--n"], "n", 1) * rational(values[option], option)
        if batch.denominator == 1:
            return f"found {option}, needed --batch-size {batch}, which is the rate times n"
    return f"found {option}, needed --batch-size, which is the rate times n; {alone}"


@main.command("dpsgd", cls=TrainingCommand)
@click.option("--n", required=True, help="How many records the data have.")
@click.option(
    "--batch-size",
    required=True,
    help="How many records a batch has: those whose clipped gradients are summed before noise is "
    "added once. With Poisson sampling this is the mean.",
)
@click.option(
    "--accumulation",
    default="1",
    show_default=True,
    help="How many sums of --batch-size records are accumulated before noise is added once. A "
    "batch has so many times the records.",
)
@click.option(
    "--noise-multiplier",
    help="The standard deviation of the noise, divided by the norm to which gradients are clipped.",
)
@click.option(
    "--epsilon",
    "--target-epsilon",
    "target_epsilon",
    help="The ε to be met at the δ of --delta. The least noise that meets it is found; for a list "
    "such as 2,4,8, that of each.",
)
@click.option(
    "--epochs", help=("How many passes over the data. An incomplete last batch counts as a batch.")
)
@click.option(
    "--steps", help="How many times noise is added in all, once to a batch, in place of --epochs."
)
@click.option(
    "--sampling",
    default="poisson",
    show_default=True,
    type=SamplingChoice(["poisson", "without_replacement", "balls_and_bins", "shuffled"]),
    help="How batches are drawn.",
)
@click.option(
    "--adjacency",
    help="Which datasets are neighbours: add_remove or replace_one. The default follows from "
    "--sampling.",
)
@click.option(
    "--group",
    default="1",
    show_default=True,
    help="How many records a person has at most. The guarantee is for all of them together.",
)
@click.option(
    "--runs",
    default="1",
    show_default=True,
    help="How many such runs on the same data are released, as in a search for parameters.",
)
@click.option("--delta", required=True, help="The δ of the guarantee, in [0, 1).")
@conversion_option
@seconds_option
@more_option
@click.option(
    "--statement",
    "form",
    type=click.Choice(statement.FORMS),
    help="Print a paragraph for a privacy section, or one short sentence for a model card.",
)
@click.option(
    "--form",
    "table_form",
    default="screen",
    show_default=True,
    type=click.Choice(["screen", "latex"]),
    help="How the table of several ε is printed; for LaTeX it needs the package booktabs.",
)
@click.option("--digits", default=6, show_default=True, help=DIGITS_HELP)
@json_option
def dpsgd_command(
    noise_multiplier: str | None,
    target_epsilon: str | None,
    delta: str,
    conversion: str,
    form: str | None,
    group: str,
    runs: str,
    more: bool,
    table_form: str,
    digits: int,
    as_json: bool,
    **run: str,
) -> None:
    """Print the ε of a DP-SGD training run, or the noise that it needs.

    The answer also says in words what is assumed of the run. With --group it is for a person who
    has several records, and with --runs it is for several runs on the same data. A batch is all
    records whose clipped gradients are summed before noise is added once: if a trainer accumulates
    K loads of --batch-size records before it adds noise, give --accumulation K. The sampling rate
    is the records of a batch over n. The rate of Opacus is one over the number of batches, which
    Opacus rounds up (docs/drop_in.md).

    \b
    Examples:
      symacct dpsgd --n 60000 --batch-size 256 --epochs 15 --delta 1e-5 \\
        --noise-multiplier 1.1
      symacct dpsgd --n 60000 --batch-size 256 --epochs 15 --delta 1e-5 \\
        --epsilon 1
      symacct dpsgd --n 60000 --batch-size 256 --epochs 15 --delta 1e-5 \\
        --epsilon 2,4,8 --form latex
    """
    if (noise_multiplier is None) == (target_epsilon is None):
        raise InputError(
            "needed --noise-multiplier or --epsilon, and one of them only, as in "
            "--noise-multiplier 1"
        )
    if (run["epochs"] is None) == (run["steps"] is None):
        raise InputError("needed --epochs or --steps, and one of them only, as in --epochs 15")
    noise: Any = _NOISE
    if noise_multiplier is not None:
        try:
            noise = parse_formula(noise_multiplier, symbols.alpha)
        except ParseError as error:
            if noise_multiplier.strip().isidentifier():
                wrong = f"--noise-multiplier: found {echo(noise_multiplier)}, needed a number > 0"
                raise InputError(wrong) from error
            raise InputError(f"--noise-multiplier: {error}") from error
    records, together = whole(run["n"], "n"), (whole(group, "group", 1), whole(runs, "runs", 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoundedWarning)  # which is a row of the answer
        m = _together(dp_sgd(noise_multiplier=noise, **run), *together)
    if table_form == "latex" and target_epsilon is None:
        raise InputError("--form latex: found no --epsilon, needed one or several, as 2,4,8")
    if target_epsilon is None:
        with progress("dpsgd"):
            g = asked_of(m, delta, digits=digits, conversion=conversion)
        if form is not None:
            _print_statement(m, g, form, digits, as_json, noise_multiplier, run, together[1])
            return
        document, last = _more(run, m, g, digits, *together)
        report = PrivacyReport(g, records, **_words(run, m, together[1]))
        document = {"expression": repr(m), **document}
        print_report(
            report, as_json, more, document=document, first=_least_row(document), last=last
        )
    else:
        if form is not None:
            raise InputError("--statement: found no --noise-multiplier, needed one")
        targets = grid(target_epsilon)

        def least(target: str) -> Calibration:
            return calibrate(m, target, delta, digits=digits, conversion=conversion)

        if len(targets) > 1 or table_form == "latex":
            _print_several(targets, delta, list(map(least, targets)), table_form, digits, as_json)
            return
        found = least(target_epsilon)
        document, last = _more(run, found.node, found.guarantee, digits, *together)
        print_calibrated(
            found,
            digits,
            as_json,
            more,
            name="noise multiplier",
            document=document,
            first=_least_row(document),
            last=last,
            records=records,
            **_words(run, found.node, together[1]),
        )


def _least_row(document: dict[str, Any]) -> dict[str, str]:
    """The row of what a run of shuffled batches costs at least, where that is known."""
    least = document.get("at_least")
    return {} if least is None else {"at least": f"ε = {least['value']}  (rounded down)"}


def _print_several(
    targets: list[str],
    delta: str,
    found: list[Calibration],
    form: str,
    digits: int,
    as_json: bool,
) -> None:
    """The noise multipliers that meet several ε at one δ, and the ε that each of them has."""
    if as_json:
        print_json(
            [{"target": one, **at.as_dict()} for one, at in zip(targets, found, strict=True)]
        )
        return
    reached = [at.guarantee.epsilon.rounded(digits) for at in found]
    cells = list(zip(targets, (number(at.meets) for at in found), reached, strict=True))
    if form == "latex":
        relation = neighbours(found[0].guarantee.claim.adjacency, found[0].node)
        caption = (
            f"Noise multipliers of a DP-SGD run for targets ε at δ = {delta}, where {relation}."
        )
        heads = (r"target $\varepsilon$", "noise multiplier", r"$\varepsilon$ (rounded up)")
        click.echo(booktabs(heads, cells, caption), nl=False)
        return
    print_table(("target ε", "noise multiplier", f"ε at δ = {delta} (rounded up)"), cells)
    print_prose(
        "Each noise multiplier meets its target, and one unit less in its last digit does not. "
        f"The last row is of {describe(found[-1].node)}."
    )


def _together(run: Node, group: int, runs: int) -> Node:
    """So many runs, for groups of so many records."""
    every = run if runs == 1 else runs * run
    return every if group == 1 else GroupPrivacy(every, group)


def _print_statement(
    m: Node,
    g: Guarantee,
    form: str,
    digits: int,
    as_json: bool,
    noise: str | None,
    run: dict[str, str],
    runs: int,
) -> None:
    n, batch = _size(run)
    steps = _steps(run)
    if form == statement.SHORT:
        words = "Trained with DP-SGD"
    else:
        words = statement.training(
            n, batch, str(noise), steps, run["epochs"] or "", run["sampling"], runs
        )
    text = g.statement(form, digits, words)
    report = PrivacyReport(g, n, **_words(run, m, runs))
    note_large(report)
    note_citations(form, repr(m), given(g.given), statement.DEFINING)
    document = {"statement": text, "form": form, **report.as_dict()}
    print_text(as_json, document, text, print_prose)


def _more(
    run: dict[str, str], m: Node, guarantee: Guarantee, digits: int, group: int, runs: int
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """What is said of a run beside its answer, in JSON and on the screen."""
    more: dict[str, Any] = {}
    assumed = [
        *([_ALL_TOLD] if runs > 1 else []),
        *([_ONE_DRAW] if whole(run["accumulation"], "accumulation") > 1 else []),
        *([f"a person has at most {text(Fraction(group))} of the records"] if group > 1 else []),
        _UNITS,
    ]
    rows = _checked(guarantee)
    if rounded := roundings(*_size(run), run["epochs"], run["steps"], run["sampling"]):
        more["rounded"] = rounded
        rows.insert(0, ("rounded", "; ".join(rounded)))
    if run["sampling"] == "shuffled":
        assumed.append(_SHUFFLED)
        rows += [("compared", _COMPARED), ("cheaper", _CHEAPER)]
        if least := _least(run, m, text(guarantee.given), digits, runs):
            more["at_least"] = least.as_dict()
    return more, [("assumed", "; ".join(assumed)), *rows, ("expression", repr(m))]


def _size(run: dict[str, str]) -> tuple[int, int]:
    """How many records the data have, and a batch."""
    return whole(run["n"], "n"), records_of_a_batch(run["batch_size"], run["accumulation"])


def _steps(run: dict[str, str]) -> int:
    """How many batches are taken in all."""
    n, batch = _size(run)
    taken = dp_sgd(n, batch, 1, run["epochs"], steps=run["steps"])
    steps = taken.runs if isinstance(taken, Compose) else 1
    if run["sampling"] == "balls_and_bins":  # whole epochs of ⌊n/B⌋ batches
        steps = n // batch * -(-steps // -(-n // batch))
    return int(steps)


def _words(run: dict[str, str], m: Node, runs: int) -> dict[str, Any]:
    """What a report says of a run and the expression does not."""
    words: dict[str, Any] = {"of": _batches(run, m, runs)}
    if m.claim.adjacency.relation is Relation.REPLACE_ONE and run["adjacency"] is None:
        words["relation_why"] = _REPLACED.format(sampling=run["sampling"])
    if run["sampling"] == "shuffled":
        words["also"] = (_WHICH,)
    return words


#: How the records of a batch are drawn, by the sampling.
_DRAWN = {
    "poisson": "{records} records on average, noise ({noise}) added once to each; each of the "
    "{n:,} records is in a batch with probability {batch}/{n}, independently",
    "without_replacement": "exactly {records} of the {n:,} records, drawn without replacement, "
    "noise ({noise}) added once to each",
    "balls_and_bins": "about {records} records, noise ({noise}) added once to each; in an epoch "
    "each of the {n:,} records draws one of {bins:,} batches, independently",
    "shuffled": "{records} records, noise ({noise}) added once to each; each epoch cuts a new "
    "order of the {n:,} records into batches, and costs no more than one run of the Gaussian "
    "mechanism on all of them",
}


def _batches(run: dict[str, str], m: Node, runs: int) -> str:
    """What was run, by what was given: batches, their records, and the noise added to each."""
    n, batch = _size(run)
    (noise,) = (x for x in m.walk() if isinstance(x, Gaussian))
    loads = whole(run["accumulation"], "accumulation")
    records = f"{batch:,}" if loads == 1 else f"{batch:,} ({loads:,} · {run['batch_size']})"
    steps = _steps(run)
    drawn = _DRAWN[run["sampling"]].format(
        records=records, n=n, batch=batch, bins=n // batch, noise=f"σ = {value(noise.sigma)}"
    )
    such = f"; {runs:,} such trainings" if runs > 1 else ""
    return f"{steps:,} batch{'es' * (steps != 1)} of {drawn}{such}"


def _least(run: dict[str, str], m: Node, delta: str, digits: int, runs: int) -> Enclosure | None:
    """What the whole epochs of shuffled batches cost one record at least."""
    n, batch = _size(run)
    steps = -(-n // batch)
    epochs = math.floor(rational(run["epochs"] or f"{run['steps']}/{steps}", "epochs"))
    (noise,) = {one.sigma for one in m.walk() if isinstance(one, Gaussian)}
    try:
        one = replace(m.claim.adjacency, group=1)
        return shuffled_batches_epsilon(delta, noise, steps, runs * epochs, one, digits)
    except DomainError:
        return None  # less than an epoch, δ = 0, or next to no noise


def _checked(guarantee: Guarantee) -> list[tuple[str, str]]:
    """What the theorems ask of the run, which was checked."""
    asked = {name: catalogue.assumed(name) for name in guarantee.claim.theorems}
    stated = [f"{name}: {assumed}" for name, assumed in asked.items() if assumed]
    return [("checked", "; ".join(stated))] if stated else []
