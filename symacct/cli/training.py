"""The privacy of a training run: dpsgd."""

from __future__ import annotations

from typing import Annotated, Any

import click
import sympy

from symacct.cli.asking import reported
from symacct.cli.exploring import shown_to
from symacct.cli.frame import Like, Reply, command, one_of, refuse
from symacct.cli.group import InputError
from symacct.cli.writing import stated
from symacct.explore.calibration import Calibration, calibrate, number
from symacct.explore.grids import grid
from symacct.export.description import describe, neighbours
from symacct.export.latex.sentences import plain_tex
from symacct.export.tables import booktabs
from symacct.kernel import symbols
from symacct.kernel.accountant import asked_of
from symacct.kernel.answer import Guarantee, given
from symacct.kernel.deadline import progress
from symacct.kernel.errors import ParseError, echo
from symacct.kernel.exact import exact
from symacct.kernel.formula import parse_formula
from symacct.operations import dp_sgd
from symacct.papers import statement as statements
from symacct.papers.training_run import TrainingRun
from symacct.results.screen import Part, Tabled, Verbatim

#: The noise multiplier that is looked for where none is given.
_NOISE = sympy.Symbol("noise", positive=True)


@command(
    "dpsgd",
    "n batch_size epochs steps sampling times adjacency accumulation quantile_noise "
    "conversion seconds digits more",
    dp_sgd,
)
def dpsgd_command(
    conversion: str,
    digits: int,
    more: bool,
    delta: str,
    noise_multiplier: str | None = None,
    epsilon: Annotated[str | None, Like(names=("--epsilon", "--target-epsilon"))] = None,
    group: str = "1",
    runs: str = "1",
    statement: Annotated[str | None, click.Choice(statements.FORMS)] = None,
    form: Annotated[str, click.Choice(["screen", "latex"])] = "screen",
    **run: Any,
) -> Reply:
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
    \f
    n: How many records the data have.
    batch_size: How many records a batch has: those whose clipped gradients are summed before noise
        is added once. With Poisson sampling this is the mean.
    accumulation: How many sums of --batch-size records are accumulated before noise is added once.
        A batch has so many times the records.
    noise_multiplier: The standard deviation of the noise, divided by the norm to which gradients
        are clipped.
    epsilon: The ε to be met at the δ of --delta. The least noise that meets it is found; for a list
        such as 2,4,8, that of each.
    epochs: How many passes over the data. An incomplete last batch counts as a batch.
    steps: How many times noise is added in all, once to a batch, in place of --epochs.
    sampling: How batches are drawn: poisson, without_replacement, with_replacement, balls_and_bins
        or shuffled.
    times: With balls_and_bins, how many different batches of so many epochs a record draws.
    adjacency: Which datasets are neighbours: add_remove, replace_one or zero_out. The default
        follows from --sampling.
    quantile_noise: If the clipping norm is adapted, the noise on the count of gradients below it,
        divided by what one record moves the count: 1, or 1/2 if the summands are -1/2 and 1/2.
    group: How many records a person has at most. The guarantee is for all of them together.
    runs: How many such runs on the same data are released, as in a search for parameters.
    statement: Print a paragraph for a privacy section, or one short sentence for a model card.
    form: How the table of several ε is printed; for LaTeX it needs the package booktabs.
    """
    one_of("dpsgd", noise_multiplier=noise_multiplier, epsilon=epsilon)
    one_of("dpsgd", epochs=run["epochs"], steps=run["steps"])
    noise: Any = _NOISE
    try:
        if noise_multiplier is not None:
            noise = exact(parse_formula(noise_multiplier, symbols.alpha))
    except ParseError as error:
        wrong = f"--noise-multiplier: found {echo(noise_multiplier)}, needed a number > 0"
        raise InputError(wrong) from error
    training = TrainingRun(group=group, runs=runs, **run)
    m = training.expression(noise)
    how: Any = {"digits": digits, "conversion": conversion}
    if epsilon is None:
        if form == "latex":
            raise InputError("--form latex: found no --epsilon, needed one or several, as 2,4,8")
        with progress("dpsgd"):
            g = asked_of(m, delta, **how)
        if statement is None:
            return _reported(training, g, noise, more, {"expression": repr(m)})
        text = g.statement(statement, digits, training.preface(statement, str(noise_multiplier)))
        return stated(
            training.report(g, noise), text, statement, repr(m), given(g.given), _DEFINING
        )
    refuse("with --epsilon, needed --noise-multiplier", "statement")
    targets = grid(epsilon)
    calibrations = [calibrate(m, target, delta, **how) for target in targets]
    if len(calibrations) > 1 or form == "latex":
        return _several(targets, delta, calibrations, form, digits)
    calibration = shown_to(calibrations[0], digits)
    values = {"noise multiplier": calibration.values}
    meets = calibration.meets
    return _reported(training, calibration.guarantee, meets, more, calibration.as_dict(), values)


#: The options of `cite` for the works that define the terms.
_DEFINING = "".join(f" --work {key}" for key in statements.DEFINING)


def _reported(
    training: TrainingRun,
    g: Guarantee,
    noise: Any,
    more: bool,
    document: dict[str, Any],
    first: dict[str, str] | None = None,
) -> Reply:
    """Make the reply of a report on the run with that noise multiplier, with what it rests on.

    `document` is added to its JSON, and `first` to its headline.
    """
    first = dict(first or {})
    if rounded := training.rounded:
        document["rounded"] = rounded
    if (lower := training.at_least(g, noise)) is not None:
        document["at_least"] = lower.as_dict()
        first["at least"] = f"ε = {lower.as_dict()['value']}  (rounded down)"
    return reported(training.report(g, noise), more, document, first.items(), training.facts(g))


def _several(
    targets: list[str], delta: str, calibrations: list[Calibration], form: str, digits: int
) -> Reply:
    """Reply with the noise multipliers that meet several ε at one δ, and the ε of each."""
    pairs = list(zip(targets, calibrations, strict=True))
    cells = [
        (target, number(at.meets), at.guarantee.epsilon.rounded(digits)) for target, at in pairs
    ]

    def screen() -> list[Part]:
        """Make the table of the noise multipliers, for a terminal or in LaTeX."""
        if form == "latex":
            relation = neighbours(calibrations[0].guarantee.claim.adjacency, calibrations[0].node)
            caption = (
                f"Noise multipliers of a DP-SGD run for targets ε at δ = {delta}, where {relation}."
            )
            heads = (r"target $\varepsilon$", "noise multiplier", r"$\varepsilon$ (rounded up)")
            return [Verbatim(booktabs(heads, cells, plain_tex(caption)))]
        headers = ("target ε", "noise multiplier", f"ε at δ = {delta} (rounded up)")
        return [
            Tabled(headers, cells),
            "Each noise multiplier meets its target, and one unit less in its last digit does not. "
            f"The last row is of {describe(calibrations[-1].node)}.",
        ]

    return Reply(lambda: [{"target": target, **at.as_dict()} for target, at in pairs], screen)
