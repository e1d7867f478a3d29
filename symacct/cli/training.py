"""The privacy of a training run: dpsgd."""

from __future__ import annotations

import math
from typing import Any

import click
import sympy

from symacct.accountant.reported import Reported, reported
from symacct.baselines import shuffled_batches_epsilon
from symacct.cli.frame import InputError, conversion_option, json_option, main, print_text
from symacct.cli.headline import calibrated, headline, print_calibrated, print_reported
from symacct.core import symbols
from symacct.core.errors import DomainError, ParseError
from symacct.core.exact import text
from symacct.expressions.formula_reader import parse_formula
from symacct.expressions.node import Node
from symacct.expressions.parameters import rational, whole
from symacct.expressions.theorem_registry import named as named_theorem
from symacct.mechanisms import Gaussian
from symacct.operations import Compose, dp_sgd
from symacct.papers.statement import training
from symacct.results.enclosure import Enclosure, Guarantee
from symacct.results.progress import progress
from symacct.results.terminal import print_prose

_NOISE = sympy.Symbol("noise", positive=True)
_UNITS = "σ and the sensitivity are in units of the norm that each record's gradient is clipped to"
_SHUFFLED = (
    "shuffled batches: a new permutation in each epoch, its last batch the short one; the answer "
    "takes the places of the records for told, as no amplification is proved of them"
)
_EPILOG = (
    "For example --n 60000 --batch-size 256 --noise-multiplier 1.1 --epochs 15 --delta 1e-5; "
    "or, to find the noise, --epsilon 1 in place of --noise-multiplier."
)


class SamplingChoice(click.Choice[str]):
    """A sampling by its name, hyphens for underscores or not."""

    def convert(self, value: Any, *about: Any) -> str:
        return super().convert(value.replace("-", "_"), *about)


@main.command("dpsgd", epilog=_EPILOG)
@click.option("--n", required=True, help="Records in the data.")
@click.option("--batch-size", required=True, help="Records in a batch; the mean with Poisson.")
@click.option("--noise-multiplier", help="σ over the norm that gradients are clipped to.")
@click.option(
    "--epsilon",
    "--target-epsilon",
    "target_epsilon",
    help="The target ε: find the least noise for it instead.",
)
@click.option("--epochs", help="Passes over the data; a batch begun is a batch taken.")
@click.option("--steps", help="Batches in all, in place of --epochs.")
@click.option(
    "--sampling",
    default="poisson",
    show_default=True,
    type=SamplingChoice(["poisson", "without_replacement", "balls_and_bins", "shuffled"]),
)
@click.option("--adjacency", help="add_remove or replace_one; default the sampling's own.")
@click.option("--delta", required=True, help="δ in [0, 1).")
@conversion_option
@click.option(
    "--statement",
    "form",
    type=click.Choice(["text", "markdown", "latex"]),
    help="Print a paragraph for a privacy section, in the words of a training run.",
)
@click.option("--digits", default=6, show_default=True, help="Significant digits, rounded safely.")
@json_option
def dpsgd_command(
    noise_multiplier: str | None,
    target_epsilon: str | None,
    delta: str,
    conversion: str | None,
    form: str | None,
    digits: int,
    as_json: bool,
    **run: str,
) -> None:
    """The ε of a DP-SGD training run, or the noise it needs.

    With what is assumed of the run, in words.
    """
    if (noise_multiplier is None) == (target_epsilon is None):
        raise InputError("needed --noise-multiplier or --epsilon, and one of them only")
    if (run["epochs"] is None) == (run["steps"] is None):
        raise InputError("needed --epochs or --steps, and one of them only")
    noise: Any = _NOISE
    if noise_multiplier is not None:
        try:
            noise = parse_formula(noise_multiplier, symbols.alpha)
        except ParseError as error:
            raise InputError(f"--noise-multiplier: {error}") from error
    m = dp_sgd(noise_multiplier=noise, **run)
    if target_epsilon is None:
        with progress("dpsgd"):
            found = reported(m, delta, digits=digits, conversion=conversion)
        if form is not None:
            _print_statement(m, found, form, digits, as_json, noise_multiplier, run)
            return
        document = {"expression": repr(m), **(found.by_orders or found.best).as_dict()}
        more, last = _more(run, m, found.best, digits)
        print_reported(m, found, {**document, **more}, as_json, last=last)
    else:
        if form is not None:
            raise InputError("--statement: found no --noise-multiplier, needed one")
        noise_found = calibrated(m, target_epsilon, delta, digits, conversion)
        at = noise_found.best
        more, last = _more(run, at.node, at.guarantee, digits)
        name = "noise multiplier"
        print_calibrated(noise_found, digits, as_json, name=name, more=more, last=last)


def _print_statement(
    m: Node,
    found: Reported[Guarantee],
    form: str,
    digits: int,
    as_json: bool,
    noise: str | None,
    run: dict[str, str],
) -> None:
    n, batch = whole(run["n"], "n"), whole(run["batch_size"], "batch_size")
    taken = dp_sgd(n, batch, 1, run["epochs"], steps=run["steps"])
    steps = taken.runs if isinstance(taken, Compose) else 1
    if run["sampling"] == "balls_and_bins":  # whole epochs of ⌊n/B⌋ batches
        steps = n // batch * -(-steps // -(-n // batch))
    words = training(n, batch, str(noise), steps, run["epochs"] or "", run["sampling"])
    text = found.best.statement(form, digits, words)
    document = {"statement": text, "form": form, "headline": headline(found)}
    print_text(as_json, document, text, print_prose)


def _more(
    run: dict[str, str], m: Node, guarantee: Guarantee, digits: int
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """What is said of a run beside its answer, in JSON and on the screen."""
    more: dict[str, Any] = {}
    rows = _conditions(guarantee)
    if run["sampling"] == "shuffled":
        rows.append(("assumed", _SHUFFLED))
        if least := _least(run, m, text(guarantee.given), digits):
            more["at_least"] = least.as_dict()
            rows.insert(0, ("at least", f"{least.rounded(digits)}  (rounded down)"))
    return more, [*rows, ("expression", repr(m))]


def _least(run: dict[str, str], m: Node, delta: str, digits: int) -> Enclosure | None:
    """What the whole epochs of shuffled batches cost at least."""
    steps = -(-whole(run["n"], "n") // whole(run["batch_size"], "batch_size"))
    epochs = math.floor(rational(run["epochs"] or f"{run['steps']}/{steps}", "epochs"))
    (noise,) = {one.sigma for one in m.walk() if isinstance(one, Gaussian)}
    try:
        return shuffled_batches_epsilon(delta, noise, steps, epochs, m.claim.adjacency, digits)
    except DomainError:
        return None  # less than an epoch, δ = 0, or next to no noise


def _conditions(guarantee: Guarantee) -> list[tuple[str, str]]:
    """What has to be true of the run, and what the theorems ask of it, which was checked."""
    theorems = map(named_theorem, guarantee.claim.theorems)
    stated = [f"{t.name}: {t.assumes}" for t in theorems if t.assumes != "nothing further"]
    return [("assumed", _UNITS), *(("checked", one) for one in stated)]
