"""Whole training runs as expressions: what is drawn, how often, with which sensitivity."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

from flint import arb

from symacct.kernel import limits, parameters
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ceiling, floor, precision, rational, up_to
from symacct.kernel.claims import (
    ADD_REMOVE,
    NAMED,
    REPLACE_ONE,
    ZERO_OUT,
    Adjacency,
    of_one_record,
)
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import AdjacencyError, DomainError, RoundedWarning, echo, warn
from symacct.kernel.exact import Exact, Numeric, exact, sympy, text
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Compose
from symacct.kernel.parameters import positive, rate, whole
from symacct.laws import Normal, NormalMixture
from symacct.mechanisms import BallsInBins, DistributionPair, Gaussian
from symacct.mechanisms.matrix import rows_of
from symacct.operations.allocation import RandomAllocation
from symacct.operations.either import Either
from symacct.operations.failing import Failing
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement

# --- truncated Poisson batches
#
# Poisson batches that are cut to a largest size, as an expression; docs/proofs/allocations.md,
# Lemma cut-batches.

#: Bits of the balls in which chances are summed. Their radius is rounded to the safe side, so that
#: any number is sound.
_CHANCE_BITS = 256
#: Significant digits of a chance that an expression is written with, rounded to the safe side. Any
#: number is sound, as `_RATE_GROWTH` goes with it: fewer make ε larger.
_CHANCE_DIGITS = 20
#: The relative growth of γ, which pays for rounding the chance of a cut batch up (cut-rounding).
#: Lemma cut-rounding rests on it: a smaller growth is unsound.
_RATE_GROWTH = Fraction(4, 10**_CHANCE_DIGITS)
#: More records are refused: a binomial sum has about the root of their number in terms. They would
#: take too long.
_MOST_RECORDS = 10**7
#: The premise of a batch that is cut.
_CUT = (
    "each of the {n} records is kept independently with probability {gamma}; if more than {batch} "
    "are kept, {batch} of them are drawn at random; each batch is drawn anew, and which records it "
    "has is kept secret (symacct, docs/proofs/allocations.md, Lemma cut-batches)"
)
#: The premise of a batch in which a record may be zeroed out: its place counts all the same.
_EMPTY_COUNTS = _CUT.replace("each of the {n} records", "each of the {n} records, or empty places,")


# Proved in docs/proofs/allocations.md, Lemma cut-zeroing.
def truncated_poisson(
    mechanism: Node,
    gamma: Numeric,
    n: Numeric,
    batch: Numeric,
    adjacency: str | Adjacency = "add_remove",
) -> Node:
    """A Poisson sample of n records that is cut to `batch` random records if it has more.

    The result is an upper bound for add/remove neighbours, where n is the size of the larger
    dataset, for a replaced record, or for one that is zeroed out, whose empty place is kept and
    counted like a record. With the probability that a batch is cut, the bound counts the noise for
    a record that takes another's place, and otherwise the sampled noise. `mechanism` is noise for
    the sensitivity of one record, `gamma` is the rate of the sample, and `adjacency` is
    "add_remove", "replace_one" or "zero_out". No sampling may be put above it. ε(α) is in nats.
    Raises DomainError.

    >>> from symacct import Gaussian
    >>> truncated_poisson(Gaussian(1), "1/2", 4, 4)
    PoissonSubsample(Gaussian(1), '1/2')
    >>> print(truncated_poisson(Gaussian(4), "1/100", 1000, 30).rdp(8, digits=4))
    0.00002589
    """
    noise = as_node(mechanism, "truncated_poisson, mechanism")
    replaced = noise.for_group(2)
    if replaced is None:
        raise DomainError(
            f"truncated_poisson, mechanism: found {echo(mechanism)}, needed noise such as "
            "Gaussian(5), for which the cost of a replaced record is known"
        )
    share = rate(gamma, "truncated_poisson, gamma")
    records = whole(n, "truncated_poisson, n", least=1, most=_MOST_RECORDS)
    most = whole(batch, "truncated_poisson, batch", least=1)
    if not isinstance(share, Fraction) or 1 - _RATE_GROWTH < share < 1:
        raise DomainError(
            f"gamma: found {echo(gamma)}, needed a rational number that is not close to 1"
        )
    relation = named_adjacency(adjacency)
    if relation not in NAMED:
        raise DomainError(
            f"truncated_poisson, adjacency: found {echo(adjacency)}, needed 'add_remove', "
            "'replace_one' or 'zero_out'"
        )
    if most >= records or share == 0:
        return PoissonSubsample(noise, share, relation)
    stated = _EMPTY_COUNTS if relation == ZERO_OUT else _CUT
    premise = stated.format(n=records, gamma=text(share), batch=most)

    def in_a_place(rate_of_place: Exact) -> Node:
        """What a record costs that takes another's place in a batch that is cut."""
        if relation == ADD_REMOVE:
            return PoissonSubsample(replaced, rate_of_place)
        of_place = noise if relation == ZERO_OUT else replaced
        return SubsampleWithoutReplacement(of_place, rate_of_place, relation)

    if share == 1:
        return PostProcess(in_a_place(Fraction(most, records)), records, premise)
    cut, rate_of_cut, grown = _rounded_up(share, records, most)
    sampled = PoissonSubsample(noise, grown, relation)
    return PostProcess(Either(in_a_place(rate_of_cut), sampled, cut), records, premise)


# Proved in docs/proofs/allocations.md, Lemma cut-rounding.
def _rounded_up(gamma: Fraction, n: int, batch: int) -> tuple[Fraction, Fraction, Fraction]:
    """P[J >= B], γ̄ = B P[Bin(n, γ) > B]/(n P[J >= B]), J ~ Bin(n−1, γ), and γ, all rounded up.

    To 20 digits; what rounding the first adds to one part of the coin, the growth of γ gives the
    other. Needs 0 < γ < 1 and B < n. LimitError for a chance of more bits than "parameter_bits".
    """
    with precision(_CHANCE_BITS):
        cut, kept = tails(n - 1, gamma, batch)
        bits = floor(-cut.min(kept).log() / arb.const_log2())
        limits.check("parameter_bits", bits, "truncated_poisson, chance of a cut batch in bits")
        more, _ = tails(n, gamma, batch + 1)
        rate_of_cut = (batch * more / (n * cut)).min(arb(1))
        step = _unit(rational(cut.min(kept).lower()))
        share = _up(cut, step)
        grown = gamma * (1 + _RATE_GROWTH)
        return min(share, Fraction(1)), _up(rate_of_cut, _unit(rational(rate_of_cut))), grown


def _unit(x: Fraction) -> Fraction:
    """A power of 10 of at most x/10²⁰, x > 0: the unit of its last digit, or a tenth of it."""
    return Fraction(10) ** (math.floor(_log10(x) - 1e-6) - _CHANCE_DIGITS)


def _log10(x: Fraction) -> float:
    """log₁₀ x in float64 of a fraction x > 0, which may lie beyond the range of floats."""
    return math.log10(x.numerator) - math.log10(x.denominator)


def _up(x: arb, unit: Fraction) -> Fraction:
    """The least multiple of the unit that is not below any number of the ball."""
    return math.ceil(rational(x.upper()) / unit) * unit


def tails(count: int, gamma: Fraction, first: int) -> tuple[arb, arb]:
    """P[Bin(count, γ) >= first] and P[Bin(count, γ) < first] in balls, 0 < γ < 1.

    The tail beyond the mean is summed, whose quotients fall, and the other is 1 less it.
    """
    odds = BALL.number(gamma / (1 - gamma))
    if first > count * gamma:
        mass, steps = binomial_mass(count, gamma, first), range(first, count + 1)
        above = _summed(mass, (odds * (count - k) / (k + 1) for k in steps))
        return above, 1 - above
    mass, steps = binomial_mass(count, gamma, first - 1), range(first - 1, -1, -1)
    below = _summed(mass, (arb(k) / ((count - k + 1) * odds) for k in steps))
    return 1 - below, below


def binomial_mass(count: int, gamma: Fraction, k: int) -> arb:
    """C(count, k) γ^k (1−γ)^{count−k} in a ball, 0 < γ < 1 and 0 <= k <= count."""
    log_choices = arb(count + 1).lgamma() - arb(k + 1).lgamma() - arb(count - k + 1).lgamma()
    rate_log, kept_log = BALL.number(gamma).log(), BALL.number(1 - gamma).log()
    return (log_choices + k * rate_log + (count - k) * kept_log).exp()


def _summed(mass: arb, quotients: Iterable[arb]) -> arb:
    """The sum of terms whose quotients fall, the first being `mass`; 0 for no quotients.

    Once terms are negligible, what is left is bounded by a geometric series and in the radius.
    """
    total, negligible = arb(0), arb(2) ** -_CHANCE_BITS
    for quotient in quotients:
        total += mass
        if quotient < 1 and mass < total * negligible:
            return total + up_to(mass * quotient / (1 - quotient))
        mass *= quotient
    return total


# --- DP-SGD and BandMF
#
# DP-SGD and BandMF as expressions: what is run, how often, with which sensitivity.

#: Each sampling with its operation and the sensitivity of a sum of records clipped to norm 1: a
#: sample holds the record or not, or holds another record in its place.
_SAMPLINGS = {
    "poisson": (PoissonSubsample, 1),
    "without_replacement": (SubsampleWithoutReplacement, 2),
}
#: A sentence for each sampling says how the `records` of a batch are drawn.
BATCHES = {
    "poisson": "{records} records on average{noise}; each of the {n:,} records is in a batch with "
    "probability {batch}/{n}, independently",
    "without_replacement": "exactly {records} of the {n:,} records, drawn without "
    "replacement{noise}",
    "balls_and_bins": "about {records} records{noise}; in {epochs} each of the {n:,} records draws "
    "{times} of {bins:,} batches, independently",
    "with_replacement": "{records} draws{noise}; each draw is from all of the {n:,} records, so "
    "that a record may be in a batch more than once, and then counts as often",
    "shuffled": "{records} records{noise}; each epoch cuts a new order of the {n:,} records into "
    "batches, of which neighbouring datasets have the same number, and costs no more than one run "
    "of the Gaussian mechanism on all of them, even if it is published which batch each record "
    "was in",
}
#: A run with one of these samplings has the steps that are asked for, and no whole epochs.
_OF_STEPS = (*_SAMPLINGS, "with_replacement")
#: More draws of one record in a batch are not told apart where their chance is below this. It is
#: bounded, and added: a larger chance makes ε larger.
_RARE_DRAWS = Fraction(1, 10**20)
#: The premise of a batch that is drawn with replacement.
_DRAWN = (
    "each of the {batch} records of a batch is drawn from all {n} records, each of these with the "
    "same probability, independently of the other draws, and counts as often as it is drawn; which "
    "records are drawn is kept secret (symacct, docs/proofs/allocations.md, Lemma few-draws)"
)
#: Significant digits of the rate of "min_sep", which is rounded up. Any number is sound: fewer make
#: ε larger.
_RATE_DIGITS = 8
#: Bits of the ball that this rate is rounded up from, beyond those of its power. Any number is
#: sound: fewer make ε larger.
_RATE_BITS = 128
#: The premise of "min_sep".
_APART = (
    "the strategy has at most {bands} diagonals; of {steps} steps, a record that was in a "
    "batch rests in the next {rest}, and enters each other one with probability {p}, by a coin "
    "of its own; which records are in which batch is kept secret (symacct, "
    "docs/proofs/allocations.md, Lemma min-sep)"
)


@dataclass(frozen=True)
class Batches:
    """Batches of so many of the n records, which a `sampling` draws.

    With "balls_and_bins" a record draws so many `times` of those of as many epochs together.
    """

    n: int
    batch: int
    sampling: str
    times: int = 1

    @property
    def count(self) -> int:
        """The number of batches in an epoch, or in `times` epochs, where each record is in one.

        Of balls and bins there are ⌊kn/batch⌋ in k epochs: fewer of them cost more.
        """
        if self.sampling == "balls_and_bins":
            return self.times * self.n // self.batch
        return -(-self.n // self.batch)

    def described(self, records: str, noise: str = "") -> str:
        """A sentence that says how the `records` of a batch are drawn."""
        one = self.times == 1
        return BATCHES[self.sampling].format(
            records=records,
            n=self.n,
            batch=self.batch,
            bins=self.times * self.n // self.batch,
            noise=noise,
            epochs="an epoch" if one else f"{self.times:,} epochs",
            times="one" if one else f"{self.times:,}",
        )

    # Proved in docs/proofs/allocations.md, Lemma fewer-steps.
    def passes(self, epochs: Numeric | None, steps: Numeric | None) -> int:
        """The number of epochs, rounded up, where each record is in one batch of every epoch.

        Where it draws `times` batches of so many epochs it is a multiple of `times`. Exactly one of
        `epochs` and `steps` is given, which `_count` has checked.
        """
        if epochs is not None:
            return self.times * math.ceil(_passes(epochs) / self.times)
        return self.times * -(-whole(steps, "steps", 1) // self.count)

    def stated_passes(self, of: str, epochs: Numeric | None, steps: Numeric | None) -> int:
        """The `passes` of the recipe `of`, with a RoundedWarning where they are more than asked."""
        passes, one = self.passes(epochs, steps), self.times == 1
        if epochs is not None and passes != _passes(epochs):
            warn(
                f"{of}: epochs={echo(epochs)} are counted as {passes:,}, because each record is "
                f"in {'one batch' if one else f'{self.times:,} batches'} of every "
                f"{'epoch' if one else f'{self.times:,} epochs'} with sampling={self.sampling!r}",
                RoundedWarning,
            )
        return passes

    def roundings(self, epochs: Numeric | None, steps: Numeric | None) -> list[str]:
        """Sentences that say what was rounded of a run of `dp_sgd`, and in which direction.

        Exactly one of `epochs` and `steps` is given.

        >>> Batches(1000, 300, "poisson").roundings("2.5", None)
        ['9 steps, up from 2.5 · 1000/300']
        """
        notes, (n, batch, times) = [], (self.n, self.batch, self.times)
        a_time, share = ("an epoch", "") if times == 1 else (f"in {times:,} epochs", f"{times} · ")
        if self.sampling == "balls_and_bins" and times * n % batch:
            notes.append(
                f"{self.count:,} batches {a_time}, down from {share}{n}/{batch}, as fewer cost more"
            )
        if self.sampling in _OF_STEPS:
            if epochs is not None and (_passes(epochs) * n / batch).denominator != 1:
                taken = _steps(n, batch, epochs)
                notes.append(f"{taken:,} step{'s' * (taken > 1)}, up from {epochs} · {n}/{batch}")
            return notes
        passes = self.passes(epochs, steps)
        counted = f"{passes:,} epoch{'s' * (passes > 1)}, up from"
        if epochs is not None and passes != _passes(epochs):
            notes.append(f"{counted} {epochs}")
        elif steps is not None and passes // times * self.count != whole(steps, "steps", 1):
            notes.append(f"{counted} {steps} steps of {self.count:,} {a_time}")
        return notes


def dp_sgd(
    n: Numeric,
    batch_size: Numeric,
    noise_multiplier: Numeric,
    epochs: Numeric | None = None,
    *,
    steps: Numeric | None = None,
    sampling: str = "poisson",
    adjacency: str | Adjacency | None = None,
    accumulation: Numeric = 1,
    quantile_noise: Numeric | None = None,
    times: Numeric = 1,
) -> Node:
    """DP-SGD over `n` records: noise of σ = noise_multiplier · C on sums of gradients clipped to C.

    A batch is all records whose clipped gradients are summed before noise is added once, in one
    step. If a trainer loads `batch_size` records at a time and accumulates K of these sums before
    it adds noise, give accumulation=K: a batch then has K · batch_size records. It has to be drawn
    as one batch, so that no record is in it twice, unless it is drawn with replacement.

    `sampling` says how a batch is drawn. With "poisson" each record is in a batch independently,
    and the size is the expected one. With "without_replacement" a batch has exactly so many
    records, and the sensitivity is 2C, or C for a record zeroed out. With "with_replacement" each
    record of a batch is drawn from all of the data, a record that is drawn twice counts twice, and
    neighbours differ by a record that is added or removed; the result is an upper bound, in which a
    record that is drawn very often may tell all (`sample_with_replacement`). With "balls_and_bins"
    each record draws its batch of an epoch: there are ⌊n/(K·batch_size)⌋ batches, and neighbours
    differ by one record that is added or removed, or zeroed out. With times=k it draws k different
    batches of ⌊kn/(K·batch_size)⌋, for k epochs at a time. With "shuffled" each epoch cuts a fresh
    permutation into batches; this is accounted for as if the permutation were published, without
    amplification (docs/proofs/allocations.md, Lemma shuffled-above), and
    `baselines.shuffled_batches` gives a lower bound of its cost. For this, neighbouring datasets
    must have the same number of batches, so a trainer must publish the last batch's output even if
    that batch is empty.

    Give the number of `steps`, or of `epochs`, which are ⌈epochs·n/(K·batch_size)⌉ steps. With
    "balls_and_bins" and "shuffled" the epochs are rounded up to whole ones, and a RoundedWarning
    says so if `epochs` is not whole. `adjacency` is by default the usual relation of the sampling.

    If the clipping norm is adapted to a quantile of the gradients' norms, a step also releases how
    many gradients of the batch are below the norm, with noise. `quantile_noise` is the standard
    deviation of that noise over how much one record moves the count: ½ if the summands are −½ and
    ½, and 1 if they are 0 and 1. For a record that is replaced or drawn with replacement the result
    is called an upper bound: if the summands are 0 and 1, it is no more. A record that is zeroed
    out has to add 0 to the count, although a gradient of 0 is below the norm. Both noises together
    are one of σ^−2 + quantile_noise^−2 (docs/proofs/allocations.md, Lemma two-noises).

    For a person who has up to k of the records write `GroupPrivacy(run, k)`, and for N runs on the
    same data N·`run`. If such records are added or removed, and batches have a fixed size or are
    drawn with replacement, n is the number of records at the last step, k − 1 fewer. Raises
    DomainError. ε(α) is in nats.

    >>> run = dp_sgd(1_281_167, 1024, 1.1, epochs=15)
    >>> run is dp_sgd(n=1281167, batch_size=1024, noise_multiplier="1.1", epochs=15)
    True
    >>> run
    18768*PoissonSubsample(Gaussian('11/10'), '1024/1281167')
    """
    records, batch = whole(n, "n", 1), records_of_a_batch(batch_size, accumulation)
    if batch > records:
        raise DomainError(
            f"batch_size: found {echo(batch)}, needed at most the {records:,} records"
        )
    count = _count(records, batch, epochs, steps, "dp_sgd")
    noise = _both(positive(noise_multiplier, "noise_multiplier"), quantile_noise)
    scheme = parameters.one_of(sampling, "sampling", (*_OF_STEPS, "shuffled", "balls_and_bins"))
    drawn = whole(times, "times", 1)
    if drawn > 1 and scheme != "balls_and_bins":
        raise DomainError(
            f"times: found {echo(times)} with sampling={scheme!r}, needed sampling='balls_and_bins'"
        )
    if scheme not in _OF_STEPS:
        batches = Batches(records, batch, scheme, drawn)
        passes = batches.stated_passes("dp_sgd", epochs, steps)
        if scheme == "shuffled":
            return _shuffled(noise, passes, adjacency or REPLACE_ONE)
        own = of_one_record(adjacency or ADD_REMOVE, f"dp_sgd, sampling={scheme!r}")
        return passes // drawn * RandomAllocation(Gaussian(noise), batches.count, drawn, own)
    if scheme == "with_replacement":
        run = count * _drawn(Gaussian(noise, 2), records, batch, adjacency or ADD_REMOVE)
        return run if quantile_noise is None else PostProcess(run)
    kind, sensitivity = _SAMPLINGS[scheme]
    relation = () if adjacency is None else (adjacency,)
    if adjacency is not None and named_adjacency(adjacency) == ZERO_OUT:
        sensitivity = 1
    run = count * kind(Gaussian(noise, sensitivity), Fraction(batch, records), *relation)
    # A count of summands 0 and 1 is moved in one direction, by whatever record replaces another.
    is_attained = scheme == "poisson" and run.claim.adjacency in (ADD_REMOVE, ZERO_OUT)
    return run if quantile_noise is None or is_attained else PostProcess(run)


# Proved in docs/proofs/allocations.md, Lemma two-noises.
def _both(noise: Exact, quantile_noise: Numeric | None) -> Exact:
    """The σ of one Gaussian noise that costs what two cost, of a sum and of a count beside it."""
    if quantile_noise is None:
        return noise
    other = positive(quantile_noise, "quantile_noise")
    return exact(sympy.sqrt(1 / (sympy.sympify(noise) ** -2 + sympy.sympify(other) ** -2)))


# Proved in docs/proofs/allocations.md, Lemma few-draws.
def _drawn(noise: Node, records: int, batch: int, adjacency: str | Adjacency) -> Node:
    """Noise on a sum over `batch` draws from the records; by an upper bound where these are many.

    Draws of one record that are so many that they hardly ever occur may tell all.
    """
    relation, most = named_adjacency(adjacency), 1
    whole(records, "n", least=2)
    while (lost := chances(records, batch, most)[1]) > _RARE_DRAWS:
        most += 1
    step = moved_by_draws(noise, chances(records, batch, most)[0], relation, records)
    if not lost:
        return step
    return PostProcess(Failing(step, lost), premise=_DRAWN.format(n=records, batch=batch))


def records_of_a_batch(batch_size: Numeric, accumulation: Numeric = 1) -> int:
    """The number of records summed before noise is added once: batch_size · accumulation."""
    return whole(batch_size, "batch_size", 1) * whole(accumulation, "accumulation", 1)


def _shuffled(noise: Exact, epochs: int, adjacency: str | Adjacency) -> Node:
    """Passes over all of the data, a bound of epochs whose permutation is published.

    A replaced record moves one sum by 2 clipping norms, and one that is zeroed out by 1. Into the
    place of a removed one moves the last record, which is √5 in all. AdjacencyError for other
    relations.
    """
    if named_adjacency(adjacency) == REPLACE_ONE:
        all_of_it: Node = SubsampleWithoutReplacement(Gaussian(noise, 2), 1)
    elif named_adjacency(adjacency) == ADD_REMOVE:
        all_of_it = PoissonSubsample(Gaussian(noise, sympy.sqrt(5)), 1)
    elif named_adjacency(adjacency) == ZERO_OUT:
        all_of_it = PoissonSubsample(Gaussian(noise), 1, ZERO_OUT)
    else:
        raise AdjacencyError(
            f"dp_sgd: found adjacency {named_adjacency(adjacency)}, needed 'add_remove', "
            "'replace_one' or 'zero_out'"
        )
    return PostProcess(epochs * all_of_it)


def band_mf(
    n: Numeric,
    batch_size: Numeric,
    noise_multiplier: Numeric,
    *,
    bands: Numeric,
    epochs: Numeric | None = None,
    steps: Numeric | None = None,
    strategy: Iterable[Numeric] | Iterable[Iterable[Numeric]] | None = None,
    sampling: str = "cyclic",
    adjacency: str | Adjacency = "add_remove",
) -> Node:
    """Matrix factorization with a banded strategy C on samples of records (DP-BandMF).

    The output is Cx + N(0, σ²), where the rows of x are the steps and σ = noise_multiplier. Each of
    the `n` records is put into one of b = `bands` parts, independently of the other records. Step t
    takes each record of part t mod b with probability γ = b·batch_size/n. C is lower triangular
    with at most b diagonals. For one record the mechanism is then a composition of sampled Gaussian
    mechanisms, one for each column of its part, with the norm of that column as sensitivity.
    `strategy` is C as a list of rows, or the list of the numbers on its diagonals if each diagonal
    is constant (Toeplitz), or None, for any such matrix whose columns have norm at most 1. Give the
    number of `steps` or of `epochs`, as for `dp_sgd`. With `adjacency="replace_one"` the new record
    is put into the part of the old one. With `sampling="min_sep"` there are no parts: a record
    rests for b−1 steps after it was used, and enters each other step with probability p =
    batch_size/(n − (b−1)·batch_size). The result is then an upper bound: ⌈steps/b⌉ samples at a
    rate q, with q/(1−q) = p·b^b/((b−1)^{b−1}(1−p)^b), or q = 1 − (1−p)^steps if steps ≤ b.
    `batch_size` is the expected size, for "min_sep" after many steps. With
    `sampling="balls_and_bins"` an epoch has ⌊n/batch_size⌋ batches, and each record draws its place
    in the epoch once for all epochs; these are rounded up to whole ones, with a RoundedWarning,
    `strategy` has to be given, and the result is a `BallsInBins`. Raises DomainError, LimitError.
    Source: docs/proofs/allocations.md, banded-matrix, min-sep, few-steps and bins-pair. ε(α) is in
    nats.

    >>> band_mf(n=10_000, batch_size=7, noise_multiplier=2, bands=3, steps=900)
    300*PoissonSubsample(Gaussian(2), '21/10000')
    """
    records, batch = whole(n, "n", 1), whole(batch_size, "batch_size", 1)
    parts = whole(bands, "bands", 1)
    if parts * batch > records:
        raise DomainError(
            f"bands: found {echo(parts)}, needed bands * batch_size at most the {records:,} records"
        )
    count = _count(records, batch, epochs, steps, "band_mf")
    noise = positive(noise_multiplier, "noise_multiplier")
    drawn = parameters.one_of(sampling, "sampling", ("cyclic", "min_sep", "balls_and_bins"))
    if drawn == "balls_and_bins":
        batches = Batches(records, batch, drawn)
        passes = batches.stated_passes("band_mf", epochs, steps)
        return _in_bins(strategy, noise, batches.count, passes, parts, adjacency)
    squares, attained = Counter({Fraction(1): -(-count // parts)}), True
    if strategy is not None:
        squares, attained = _columns(strategy, count, parts)
    gamma: Exact = Fraction(parts * batch, records)
    premise = None
    if drawn == "min_sep" and parts > 1:  # one part is no rest
        p = Fraction(batch, records - (parts - 1) * batch)
        gamma = _thinning(p, parts, count)
        squares, attained = Counter({max(squares): -(-count // parts)}), count == 1
        stated = {"bands": parts, "steps": count, "rest": parts - 1, "p": p}
        premise = _APART.format(**{name: echo(number) for name, number in stated.items()})
    run = Compose(
        *(
            runs * PoissonSubsample(Gaussian(noise, sympy.sqrt(square)), gamma, adjacency)
            for square, runs in squares.items()
            if square
        )
    )
    return run if attained else PostProcess(run, premise=premise)


def _in_bins(
    strategy: Iterable[Numeric] | Iterable[Iterable[Numeric]] | None,
    noise: Exact,
    bins: int,
    epochs: int,
    bands: int,
    adjacency: str | Adjacency,
) -> Node:
    """Balls in bins with a banded C; DomainError without one, or with more diagonals."""
    if strategy is None:
        raise DomainError(
            "band_mf, strategy: found None with sampling='balls_and_bins', needed the matrix, as "
            "it says what near places have in common"
        )
    given = parameters.ordered_members(strategy, "band_mf, strategy", "[1, '1/2']")
    _columns(given, bins * epochs, bands)
    return BallsInBins(given, noise, bins, epochs, adjacency)


def _thinning(p: Fraction, bands: int, steps: int) -> Fraction:
    """The rate q >= p of samples that bound "min_sep", rounded up to 8 digits and at most 1.

    It is p itself for one step; for more than `bands` steps `bands` has to be 2 or more.
    """
    if steps == 1:
        return p
    with precision(_RATE_BITS + (bands * p.denominator).bit_length()):
        one, entered = BALL.number(1), BALL.number(p)
        if steps <= bands:
            q = one - (one - entered) ** steps
        else:
            q = entered / (entered + ((one - entered) * (one - one / bands)) ** bands / (bands - 1))
        scale = 10 ** (_RATE_DIGITS - floor(q.log() / BALL.number(10).log()))
        return min(Fraction(ceiling(q * scale), scale), Fraction(1))


def _count(records: int, batch: int, epochs: Numeric | None, steps: Numeric | None, of: str) -> int:
    """The number of steps, from `steps` or from `epochs`, rounded up.

    DomainError unless exactly one of the two is given; `of` names the recipe in its message.
    """
    if steps is not None and epochs is None:
        if isinstance(steps, sympy.Symbol) and of == "dp_sgd":
            raise DomainError(
                f"steps: found {echo(steps)}, a parameter without a value, needed a whole number "
                f">= 1",
                remedy=(
                    f"with Poisson sampling write for example {steps} * "
                    f"PoissonSubsample(Gaussian(1.1), {batch}/{records})"
                ),
            )
        return whole(steps, "steps", 1)
    if epochs is not None and steps is None:
        return _steps(records, batch, epochs)
    raise DomainError(
        f"{of}: found epochs={echo(epochs)} and steps={echo(steps)}, needed one of the two"
    )


def _steps(records: int, batch: int, epochs: Numeric) -> int:
    """⌈epochs·n/batch_size⌉: a batch that is begun counts as a whole one."""
    return math.ceil(_passes(epochs) * records / batch)


def _passes(epochs: Numeric) -> Fraction:
    """The rational number > 0 of epochs; DomainError for another."""
    passes = positive(epochs, "epochs")
    if not isinstance(passes, Fraction):
        is_e = "; E is read as e, the base of the logarithm" if passes == sympy.E else ""
        raise DomainError(f"epochs: found {echo(epochs)}, needed a rational number{is_e}")
    return passes


def _columns(strategy: object, steps: int, bands: int) -> tuple[Counter[Fraction], bool]:
    """Squared norms ↦ how many columns of a part have them, and whether a part has just these.

    Ranked by size they are, rank by rank, the largest over all parts, so an upper bound for each
    part. DomainError for a strategy of another shape, or with more diagonals than `bands`.
    """
    what = "band_mf, strategy"
    entries = parameters.ordered_members(strategy, what, "[1, '1/2'] or [[1, 0], ['1/2', 1]]")
    if entries and (isinstance(entries[0], str) or not isinstance(entries[0], Iterable)):
        (column,) = rows_of([entries], what)
        if len(column) > bands:
            raise DomainError(f"{what}: found {len(column)} diagonals, needed at most {bands}")
        runs = -(-steps // bands)
        last = column[: steps - (runs - 1) * bands]  # of the first part: cut by the end
        return Counter({_square(column): runs - 1}) + Counter([_square(last)]), True
    rows = rows_of(entries, what)
    if (len(rows), len(rows[0])) != (steps, steps):
        raise DomainError(
            f"{what}: found {len(rows)} rows of {len(rows[0])}, needed {steps} rows of {steps} "
            "entries"
        )
    if any(x and not 0 <= i - j < bands for i, row in enumerate(rows) for j, x in enumerate(row)):
        raise DomainError(
            f"{what}: found an entry other than 0 off the first {bands} diagonals from the main "
            "one down, needed none"
        )
    squares = [_square(column) for column in zip(*rows, strict=True)]
    parts = [sorted(squares[i::bands], reverse=True) for i in range(min(bands, steps))]
    largest = [max(ranked) for ranked in zip_longest(*parts, fillvalue=Fraction(0))]
    return Counter(largest), largest in parts


def _square(column: Iterable[Fraction]) -> Fraction:
    """The squared norm of a column."""
    return sum((x * x for x in column), Fraction(0))


# --- samples with replacement
#
# Samples drawn with replacement, as a pair of mixtures; docs/proofs/allocations.md, Lemma
# replacement-mixture.

#: Decimal places of the chances that a coin has, which every premise prints: rounded up, which
#: tells more of the draws. Any number is sound: fewer make ε larger.
_COIN_PLACES = 9
_NAME = "sample_with_replacement"


# Proved in docs/proofs/allocations.md, Lemma batch-moves.
def sample_with_replacement(
    mechanism: Node,
    n: Numeric,
    batch: Numeric,
    adjacency: str | Adjacency = "add_remove",
    *,
    largest_share: Numeric | None = None,
) -> Node:
    """The mechanism on a sample that is drawn with replacement: `batch` draws from n records.

    A record that is drawn j times, with j ~ Bin(batch, 1/n), moves the query by jΔ. `mechanism` is
    Gaussian noise with the sensitivity of replacing one record of the batch. The result is exact
    for add/remove neighbours, where n is the size of the larger dataset, and a bound for
    replace-one neighbours. It is no smaller for fewer records: GroupPrivacy wants the size at the
    start of its last step, and no sampling, which leaves fewer records, may be put above it. The
    possible numbers of draws are told apart up to the limit "terms". For (ε, δ), conversion="exact"
    gives the truth, because Rényi orders also pay for numbers of draws that never occur.
    `baselines.with_replacement` is a bound for many steps, for larger batches and for a replaced
    record. If the records are drawn with unequal weights, `largest_share` is the probability that a
    draw is the most likely record, by which all are bounded; no record's weight may depend on the
    others, and the share holds for the larger dataset, of each step of a group too, as without the
    most likely record all others are more likely (Lemma heaviest-record). `adjacency` names the
    neighbours. ε(α) is in nats. Raises DomainError, LimitError.

    >>> from symacct import Gaussian
    >>> print(sample_with_replacement(Gaussian(4), 1000, 10).rdp(2, digits=6))
    6.45318e-6
    """
    noise = as_node(mechanism, f"{_NAME}, mechanism")
    draws = whole(batch, f"{_NAME}, batch", least=1)
    records = whole(n, f"{_NAME}, n", least=2)
    share = Fraction(1, records) if largest_share is None else _share(largest_share, records)
    limits.check("terms", draws + 1, f"{_NAME}, numbers of times that a record may be drawn")
    return moved_by_draws(noise, chances(1 / share, draws, draws)[0], adjacency, records)


# Proved in docs/proofs/allocations.md, Lemma heaviest-record.
def _share(largest_share: Numeric, records: int) -> Fraction:
    """The largest share of a draw that a record has; DomainError unless 1/n <= share < 1."""
    share = rate(largest_share, f"{_NAME}, largest_share")
    if not isinstance(share, Fraction) or not Fraction(1, records) <= share < 1:
        raise DomainError(
            f"{_NAME}, largest_share: found {echo(largest_share)}, needed a rational number from "
            f"1/{records} on, as the most likely of {records:,} records has at least that, and "
            "below 1"
        )
    return share


# Proved in docs/proofs/allocations.md, Lemma replacement-mirror.
def moved_by_draws(
    noise: Node,
    weights: tuple[Fraction, ...],
    adjacency: str | Adjacency,
    records: int | None = None,
) -> Node:
    """Noise moved by jΔ with the j-th weight, against the noise or its mirror image.

    For add/remove it is exact, and P is the law with the record; for a replaced record it is a
    bound. The weights sum to 1, and some may be rounded down to 0. DomainError for other noise than
    Gaussian on one query, AdjacencyError for another relation.
    """
    if not isinstance(noise, Gaussian) or not noise.is_one_query:
        raise DomainError(
            f"{_NAME}, mechanism: found {echo(noise)}, needed Gaussian noise on one query"
        )
    relation = named_adjacency(adjacency)
    if relation not in (ADD_REMOVE, REPLACE_ONE):
        raise AdjacencyError(
            f"{_NAME}: found adjacency {relation}, needed 'add_remove' or 'replace_one'"
        )
    variance = exact(noise.sigma**2)
    moves = [j * noise.sensitivity for j, weight in enumerate(weights) if weight]
    positive_weights = [weight for weight in weights if weight]
    P = NormalMixture(moves, positive_weights, variance)  # noqa: N806
    if relation == ADD_REMOVE:
        return DistributionPair(P, Normal(0, variance), ADD_REMOVE, "P", records)
    other = NormalMixture([-x for x in moves], positive_weights, variance)
    return PostProcess(DistributionPair(P, other, REPLACE_ONE, records=records))


# Proved in docs/proofs/allocations.md, Lemma revealed-draws.
def told_draws(noise: Gaussian, weights: tuple[Fraction, ...], spare: Fraction) -> Node:
    """What a batch tells of a record replaced, by a coin that tells j >= 1 with probability λ_j.

    The record is then drawn j times with probability p_j/λ_j, else never; p_j are the `weights`.
    λ_j is about P[J = j | J >= 1], less a share `spare`, at most P[J = 0], that goes to more draws
    than one. λ_j are rounded up for j > 1. DomainError where p_1 would exceed λ_1.
    """
    unit, drawn = 10**_COIN_PLACES, 1 - weights[0]
    probabilities = [
        Fraction(math.ceil(unit * ((1 - spare) * p / drawn + spare / 2**j)), unit)
        for j, p in enumerate(weights[2:], 1)
    ]
    shares = (1 - sum(probabilities, Fraction(0)), *probabilities)
    moved = (Gaussian(noise.sigma, j * noise.sensitivity) for j in range(1, len(weights)))
    parts = zip(shares, weights[1:], moved, strict=True)
    return _by_a_coin([(s, SubsampleWithoutReplacement(m, p / s)) for s, p, m in parts])


def _by_a_coin(parts: Sequence[tuple[Fraction, Node]]) -> Node:
    """One of the nodes with its chance, by coins nested as little as can be."""
    if len(parts) == 1:
        return parts[0][1]
    middle = len(parts) // 2
    first, every = (sum(share for share, _ in some) for some in (parts[:middle], parts))
    return Either(_by_a_coin(parts[:middle]), _by_a_coin(parts[middle:]), first / every)


def chances(n: Fraction | int, draws: int, most: int) -> tuple[tuple[Fraction, ...], Fraction]:
    """P[J = j | J <= most], 0 <= j <= most, J ~ Bin(draws, 1/n), and at least P[J > most].

    Exact where `most` >= `draws`. Else all but the last are rounded down, and the last one has the
    rest: more draws cost no less.
    """
    share = Fraction(1, n)
    if most >= draws:
        every = range(draws + 1)
        exactly = (math.comb(draws, j) * share**j * (1 - share) ** (draws - j) for j in every)
        return tuple(exactly), Fraction(0)
    with precision(_CHANCE_BITS):
        lost, kept = tails(draws, share, most + 1)
        parts = [binomial_mass(draws, share, j) / kept for j in range(most + 1)]
        last = math.floor(float(parts[-1].log()) / math.log(10))
        unit = Fraction(1, 10 ** (_CHANCE_DIGITS - last))
        lower = [math.floor(rational(part.lower()) / unit) * unit for part in parts[:-1]]
        above = math.ceil(rational(lost.upper()) / unit) * unit
    return (*lower, 1 - sum(lower, Fraction(0))), above
