"""A DP-SGD run by what its trainer knows of it, and what its number rests on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symacct.baselines import shuffled_batches_epsilon
from symacct.export.description import value
from symacct.kernel.answer import Enclosure, Guarantee
from symacct.kernel.claims import Relation
from symacct.kernel.errors import DomainError, RoundedWarning
from symacct.kernel.exact import text
from symacct.kernel.node import Node
from symacct.kernel.parameters import rational, whole
from symacct.operations import Compose, GroupPrivacy, dp_sgd
from symacct.operations.recipes import Batches, records_of_a_batch
from symacct.papers import statement
from symacct.papers.report import PrivacyReport, Row
from symacct.theory import catalogue

#: A note on what σ is in units of.
_UNITS = "σ and the sensitivity are in units of the norm that each record's gradient is clipped to"
_SHUFFLED = (
    "each epoch has a new permutation, of which the last batch is the short one; the attacker may "
    "know the permutations"
)
#: Why no gain from shuffling is claimed, for a report.
_COMPARED = (
    "no gain from shuffling is claimed, because none of the results in docs/theorems.md proves one "
    "for shuffled batches (docs/proofs/allocations.md, Lemma shuffled-above)"
)
#: What to report where several rows are proved of a shuffled run.
_WHICH = (
    "Report the ε of the first row, which is proved for this run; what the true ε is at least is "
    "no guarantee."
)
#: What would cost less than shuffling, for a report.
_CHEAPER = (
    "--sampling poisson or balls_and_bins, where the trainer can draw its batches so: for these "
    "a gain from sampling is proved"
)
#: This says why records are replaced where nothing else was said, by the sampling.
_REPLACED = (
    "this is the default of --sampling {sampling}, and a replaced record moves the sum over a "
    "batch by up to twice the clipping norm (sensitivity 2)"
)
#: What several runs assume, for a report.
_ALL_TOLD = (
    "the runs are on the same data, and the results of all of them are released; to release only "
    "the best of a random number of runs costs less (RepeatAndSelect)"
)
#: These say of accumulated loads what a batch is, by the sampling.
_ONE_DRAW = "the parts of a batch are those of one draw, so that no record is in a batch twice"
_OWN_DRAWS = "each record of a batch is a draw of its own, in whichever of its parts it is"
_COUNTED = (
    "each step also releases how many gradients of its batch are below the clipping norm, with "
    "noise of {noise} times what one record moves that count"
)


@dataclass(frozen=True)
class TrainingRun:
    """The parameters of `dp_sgd` but the noise, how many such runs, and a person's records.

    They are text as they were typed: `runs` is the number of such runs, and `group` the largest
    number of records of one person.
    """

    n: str
    batch_size: str
    epochs: str | None
    steps: str | None
    sampling: str
    adjacency: str | None
    accumulation: str
    times: str
    quantile_noise: str | None
    group: str
    runs: str

    def expression(self, noise: Any) -> Node:
        """Make the expression of all runs with this noise multiplier, for all records of a person.

        What is rounded is no warning here, but a row of the answer. Raises as `dp_sgd` does.
        """
        run = dict(vars(self))
        group, runs = whole(run.pop("group"), "group", 1), whole(run.pop("runs"), "runs", 1)
        if group > 1 and self.sampling == "with_replacement":
            raise DomainError(
                f"group: found {group} with sampling with_replacement, needed 1",
                remedy="write sample_with_replacement with largest_share=k/n for k records of n",
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RoundedWarning)  # which is a row of the answer
            once = dp_sgd(noise_multiplier=noise, **run)
        every = once if runs == 1 else runs * once
        return every if group == 1 else GroupPrivacy(every, group)

    def report(self, g: Guarantee, noise: Any) -> PrivacyReport:
        """Report a number of this run with that noise multiplier, in the words of a trainer."""
        why, claim = "", g.claim.adjacency
        if claim.relation is Relation.REPLACE_ONE and self.adjacency is None:
            why = _REPLACED.format(sampling=self.sampling)
        also = (_WHICH,) if self.sampling == "shuffled" else ()
        return PrivacyReport(g, whole(self.n, "n"), why, self._batches(noise), also)

    def at_least(self, g: Guarantee, noise: Any) -> Enclosure | None:
        """Bound from below what the whole epochs of shuffled batches cost one record.

        None stands for another sampling, for less than an epoch, δ = 0, and next to no noise.
        """
        if self.sampling != "shuffled":
            return None
        steps = self._drawn.count
        epochs = math.floor(rational(self.epochs or f"{self.steps}/{steps}", "epochs"))
        record, count = replace(g.claim.adjacency, group=1), whole(self.runs, "runs") * epochs
        digits = g.epsilon.digits_asked if isinstance(g.epsilon, Enclosure) else 6
        try:
            return shuffled_batches_epsilon(text(g.given), noise, steps, count, record, digits)
        except DomainError:
            return None  # less than an epoch, δ = 0, or next to no noise

    @property
    def rounded(self) -> list[str]:
        """Sentences on what was rounded of the run, and in which direction."""
        return self._drawn.roundings(self.epochs, self.steps)

    def facts(self, g: Guarantee) -> Iterator[Row]:
        """Yield what is assumed of the run, what was rounded and checked, and its expression."""
        group = whole(self.group, "group")
        of_one_draw = _OWN_DRAWS if self.sampling == "with_replacement" else _ONE_DRAW
        several = f"a person has at most {text(Fraction(group))} of the records"
        assumed = [
            _ALL_TOLD if whole(self.runs, "runs") > 1 else "",
            of_one_draw if whole(self.accumulation, "accumulation") > 1 else "",
            _COUNTED.format(noise=self.quantile_noise) if self.quantile_noise else "",
            several if group > 1 else "",
            _UNITS,
            _SHUFFLED if self.sampling == "shuffled" else "",
        ]
        yield "assumed", "; ".join(filter(None, assumed))
        if rounded := self.rounded:
            yield "rounded", "; ".join(rounded)
        premises = {name: catalogue.assumed(name) for name in g.claim.theorems}
        if stated := [f"{name}: {premise}" for name, premise in premises.items() if premise]:
            yield "checked", "; ".join(stated)
        if self.sampling == "shuffled":
            yield "compared", _COMPARED
            yield "cheaper", _CHEAPER
        yield "expression", repr(g.mechanism)

    def preface(self, form: str, noise: str) -> str:
        """Write how a statement of this form begins, with this noise multiplier."""
        if form == statement.SHORT:
            return "Trained with DP-SGD"
        runs, drawn = whole(self.runs, "runs"), self._drawn
        epochs = self.epochs or ""
        return statement.training(
            drawn.n, drawn.batch, noise, self._steps, epochs, self.sampling, runs, drawn.times
        )

    @property
    def _drawn(self) -> Batches:
        """The batches that the sampling draws."""
        n, batch = whole(self.n, "n"), records_of_a_batch(self.batch_size, self.accumulation)
        return Batches(n, batch, self.sampling, whole(self.times, "times", 1))

    @property
    def _steps(self) -> int:
        """The number of batches that one run takes in all."""
        drawn = self._drawn
        if self.sampling == "balls_and_bins":  # whole epochs, k of ⌊kn/B⌋ batches together
            return drawn.count * (drawn.passes(self.epochs, self.steps) // drawn.times)
        taken = dp_sgd(drawn.n, drawn.batch, 1, self.epochs, steps=self.steps)
        return int(taken.runs if isinstance(taken, Compose) else 1)

    def _batches(self, noise: Any) -> str:
        """Describe what was run: the batches, their records, and the noise added to each."""
        batch = self._drawn.batch
        loads, runs = whole(self.accumulation, "accumulation"), whole(self.runs, "runs")
        records = f"{batch:,}" if loads == 1 else f"{batch:,} ({loads:,} · {self.batch_size})"
        steps, added = self._steps, f", noise (σ = {value(noise)}) added once to each"
        drawn = self._drawn.described(records, added)
        such = f"; {runs:,} such trainings" if runs > 1 else ""
        return f"{steps:,} batch{'es' * (steps != 1)} of {drawn}{such}"
