"""dp_accounting's DpEvents to nodes and back: a whitelist of classes, read by their fields.

Nothing is imported by a name found in data (from_named_tuple does that; it is not used). An event's
noise multiplier is its noise over the bound C on the norm of one record's contribution. Removing a
record moves a sum by C, replacing one by up to 2C: under replace-one the sensitivity is 2. What is
sampled is read for the relation that the samples can differ in: add/remove for Poisson samples of
either relation, replace-one for samples of a fixed size.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING, Any

from symacct import laws
from symacct.interop import floats
from symacct.interop.floats import down, scalar, up
from symacct.kernel import limits, parameters
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.arithmetic.ball import rational as rational_of
from symacct.kernel.claims import EITHER
from symacct.kernel.errors import (
    AdjacencyError,
    DomainError,
    MissingPackageError,
    SymacctError,
    echo,
)
from symacct.kernel.exact import exact, is_infinite
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import (
    above_minus_one,
    delta_or_one,
    nonnegative,
    package,
    positive,
    rate,
    rational,
    whole,
)
from symacct.laws.families import Binomial, Poisson, TruncatedNegativeBinomial
from symacct.mechanisms import (
    ZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributionPair,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    PureDP,
    RandomizedResponse,
    TreeAggregation,
)
from symacct.operations import (
    Compose,
    PoissonSubsample,
    RepeatAndSelect,
    SubsampleWithoutReplacement,
    sample_with_replacement,
    truncated_poisson,
)
from symacct.operations.subsample import Sampling
from symacct.theory.amplification.ps22 import log_mean

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent

# --- dp_accounting's classes where it is installed, so that ours are of them; else stand-ins

PrivacyAccountant: Any = object
UnsupportedEventError: Any = Exception
NeighboringRelation: Any = None
with contextlib.suppress(ImportError):
    from dp_accounting.privacy_accountant import (  # type: ignore[no-redef]
        NeighboringRelation,
        PrivacyAccountant,  # noqa: F401  # a base of ours
        UnsupportedEventError,
    )

#: dp_accounting's neighbouring relations have these names here; in the third a record is replaced
#: with one that adds zero.
RELATIONS = {
    "ADD_OR_REMOVE_ONE": "add_remove",
    "REPLACE_ONE": "replace_one",
    "REPLACE_SPECIAL": "zero_out",
}


class UnreadEventError(DomainError, UnsupportedEventError):  # type: ignore[misc]  # may be Any
    """No reading of an event is known; `event` is that one, however deep it stands."""

    event: Any = None


class UnreadRelationError(AdjacencyError, UnsupportedEventError):  # type: ignore[misc]
    """An event is not read under the relation in use; `event` is that one, however deep."""

    event: Any = None


def relation_named(value: object) -> str:
    """Name the relation, given in our words or as dp_accounting's NeighboringRelation.

    Raises DomainError for any other.
    """
    name = getattr(value, "name", value)
    known = RELATIONS.get(name, name) if isinstance(name, str) else ""
    if known == "replace_special":  # their name in our spelling
        known = "zero_out"
    if known not in RELATIONS.values():
        raise DomainError(
            f"neighbouring relation: found {echo(value)}, needed one of "
            f"{', '.join(RELATIONS.values())} or a dp_accounting.NeighboringRelation"
        )
    return known


def their_relation(relation: str) -> Any:
    """Return the relation as a member of dp_accounting's enum, or as it is without that."""
    if NeighboringRelation is None:
        return relation
    return NeighboringRelation[{ours: theirs for theirs, ours in RELATIONS.items()}[relation]]


# --- mixtures of Gaussians, whose weights are floats that need not sum to 1
#
# Of sensitivities >= 0 the cost grows where weight goes from a smaller to a larger one
# (docs/proofs/sampling.md, Lemma monotone-mixtures): what is rounded goes that way.

#: The name of the event in errors.
_EVENT = "MixtureOfGaussiansDpEvent"
#: The sum of weights in float64 may be off 1 by this much; what is moved makes the cost larger.
_WEIGHT_SLACK = Fraction(1, 2**40)


def mixture_of(
    deviation: object, sensitivities: object, weights: object, adjacency: str = "add_remove"
) -> Node:
    """Make the pair of the mixture and N(0, σ²), with weights that sum to 1.

    What they lack of 1 goes to the largest sensitivity, and what they have too much is taken from
    the smallest ones. DomainError for weights that are off by more than rounding is.
    """
    sigma = positive(deviation, f"{_EVENT}, standard_deviation")
    shares = _shares(sensitivities, weights)
    surplus = sum(shares.values(), Fraction(-1))
    if abs(surplus) > _WEIGHT_SLACK:
        raise DomainError(f"{_EVENT}, sampling_probs: found {echo(weights)}, needed a sum of 1")
    if surplus < 0:
        shares[max(shares)] -= surplus
    for size in sorted(shares) if surplus > 0 else ():
        taken = min(surplus, shares[size])
        shares[size], surplus = shares[size] - taken, surplus - taken
    kept = {size: share for size, share in sorted(shares.items()) if share}
    if set(kept) == {0}:
        return Compose()
    law = laws.NormalMixture(list(kept), list(kept.values()), sigma**2)
    return DistributionPair(law, laws.Normal(0, sigma**2), adjacency, with_record="P")


def _shares(sensitivities: object, weights: object) -> dict[Fraction, Fraction]:
    """Add up the weight of each sensitivity; DomainError for lists of unequal lengths."""
    sizes = _numbers(sensitivities, f"{_EVENT}, sensitivities")
    numbers = _numbers(weights, f"{_EVENT}, sampling_probs")
    if not sizes or len(sizes) != len(numbers):
        raise DomainError(
            f"{_EVENT}: found {len(sizes)} sensitivities and {len(numbers)} sampling_probs, needed "
            "one or more, as many of both"
        )
    shares: dict[Fraction, Fraction] = {}
    for size, share in zip(sizes, numbers, strict=True):
        shares[size] = shares.get(size, Fraction(0)) + share
    return shares


def _numbers(values: object, what: str) -> list[Fraction]:
    """Read a list of rational numbers >= 0, floats by their exact binary value."""
    return [
        rational(floats.scalar(x), what) for x in parameters.ordered_members(values, what, "[0, 1]")
    ]


def mixture_parts(node: Node) -> tuple[float, list[float], list[float]] | None:
    """Return σ, the sensitivities and the weights of a pair of such laws, rounded to cost more.

    None stands for another node, and for a pair of which either law may be that with the record,
    which no event says.
    """
    if not isinstance(node, DistributionPair) or not isinstance(node.P, laws.NormalMixture):
        return None
    if len(node.roles) > 1:
        return None
    base, parts = node.Q, dict(zip(node.P.means, node.P.weights, strict=True))
    if base != laws.Normal(0, node.P.variance) or min(parts) < 0:
        return None
    what = "DistributionPair to a DpEvent"
    *smaller, largest = sorted(parts)
    sizes = [up(size, what) for size in (*smaller, largest)]
    weights = [*(down(parts[size], what) for size in smaller), up(parts[largest], what)]
    return floats.root_down(node.P.variance, what), sizes, weights


# --- numbers of runs by their mean, as other accountants state them, and by γ

#: Balls for e^ε and for the mean of a number of runs have this many bits. Ends are rounded to what
#: costs more, so that any number is sound.
_BITS = 128
#: γ is found to this share of it, and rounded down: more runs are more likely then. Any share is
#: sound: a larger one costs more privacy.
_GAMMA_SHARE = Fraction(1, 2**60)


def mean_above(runs: TruncatedNegativeBinomial) -> Fraction:
    """Compute a rational number a little above E[K]; for η = 1 it is 1/γ itself."""
    if runs.eta == 1:
        return Fraction(1 / runs.gamma)
    with precision(_BITS):
        return rational_of(log_mean(BALL, runs).exp().upper())


def gamma_of_mean(eta: Fraction, expected: Fraction) -> Fraction:
    """Find the γ whose law has this mean > 1, or one below it by at most 2^−60 of it.

    More runs are more likely then, and every bound is larger.
    """
    if eta == 1:
        return 1 / expected
    low, high = Fraction(0), Fraction(1)
    with precision(_BITS):
        target = BALL.number(expected).log()
        while high - low > low * _GAMMA_SHARE:
            middle = (low + high) / 2
            if log_mean(BALL, TruncatedNegativeBinomial(eta, middle)) >= target:
                low = middle
            else:
                high = middle
    return low


# --- events to nodes

#: The outcome tells which of the two datasets it was. An event without noise is read as this pair:
#: its ε is ∞, and no smaller bound would be sound.
NO_PRIVACY = DistributionPair([1, 0], [0, 1])


def from_dp_event(event: object, relation: object = "add_remove") -> Node:
    """Read a dp_accounting DpEvent as a node; floats keep their exact binary value.

    `relation` is "add_remove", "replace_one", "zero_out" or a NeighboringRelation: a sum of
    records clipped to norm C has sensitivity 2C under the second and C under the others. Raises
    DomainError for an event that is not on the whitelist, and AdjacencyError for one that says
    nothing of this relation; both are dp_accounting's UnsupportedEventError too.

    >>> from types import SimpleNamespace
    >>> class GaussianDpEvent(SimpleNamespace): "a stand-in for dp_accounting's"
    >>> from_dp_event(GaussianDpEvent(noise_multiplier=5.0))
    Gaussian(5)
    >>> from_dp_event(GaussianDpEvent(noise_multiplier=5.0), "replace_one")
    Gaussian(5, sensitivity=2)
    """
    return Reading(relation_named(relation)).node(event, 0)


class Reading:
    """One reading of a tree of events; an event that is shared is read once."""

    def __init__(self, relation: str, sampled: bool = False) -> None:
        self.relation = relation
        #: Is a record perhaps in none of this, being in no sample?
        self.sampled = sampled
        #: The relation of what is read: in a Poisson sample a zeroed record is one that is absent.
        self.adjacency = "add_remove" if sampled and relation == "zero_out" else relation
        self._read: dict[int, tuple[object, Node]] = {}

    def node(self, event: object, depth: int) -> Node:
        """Read an event that lies `depth` events deep, by its class, or give what was read of it.

        Readers call it for the events inside, one deeper. LimitError beyond the limit "depth", and
        UnreadEventError for a class that is not on the whitelist.
        """
        known = self._read.get(id(event))
        if known is None:
            limits.check("depth", depth, "DpEvent, nesting depth")
            # The event is kept, so that its id stays its own.
            known = self._read[id(event)] = (event, _reader(event)(self, event, depth))
        return known[1]

    def only_under(self, event: object, *relations: str) -> None:
        """Refuse an event that says something under other relations: UnreadRelationError."""
        if self.relation not in relations:
            finding = f"found {self.relation}, needed {' or '.join(relations)}"
            raise unread_event(UnreadRelationError, event, finding)

    def reading(self, relation: str) -> Reading:
        """Return the reading under the relation that samples can differ in."""
        return self if self.relation == relation else type(self)(relation)

    @property
    def sensitivity(self) -> int:
        """One record moves a sum of records of norm at most 1 by at most this."""
        return 2 if self.relation == "replace_one" else 1

    def noise(self, event: object, law: Callable[[Any, int], Node]) -> Node:
        """Read noise of this law; without noise there is no privacy, with ∞ nothing is told."""
        scale = _field(event, "noise_multiplier")
        if is_infinite(scale):
            return Compose()
        known = nonnegative(scale, f"{type(event).__name__}, non-negative Noise multiplier")
        return law(known, self.sensitivity) if known else NO_PRIVACY

    def discrete_laplace(self, event: object, depth: int) -> Node:
        """Read noise of the parameter a = 1/b on whole numbers, records of ℓ1 norm at most C."""
        if is_infinite(_field(event, "noise_parameter")):
            return NO_PRIVACY
        inverse = positive(_field(event, "noise_parameter"), "noise_parameter")
        what = "DiscreteLaplaceDpEvent, sensitivity"
        size = whole(_field(event, "sensitivity"), what, least=1)
        return DiscreteLaplace(1 / inverse, self.sensitivity * size)

    def discrete_gaussian(self, event: object, depth: int) -> Node:
        """Read noise on one whole number; on several it is Δ²/(2σ²)-zCDP.

        A single number that moves by less than 1 does not move.
        """
        name = "DiscreteGaussianDpEvent"
        sigma = nonnegative(_field(event, "sigma"), f"{name}, sigma")
        size = self.sensitivity * positive(_field(event, "sensitivity"), f"{name}, sensitivity")
        is_scalar = _field(event, "dimension") == 1
        if is_scalar and size < 1:
            return Compose()
        if not sigma:
            return NO_PRIVACY
        if is_scalar:
            return DiscreteGaussian(sigma, math.floor(size))
        return ZCDP((size / sigma) ** 2 / 2)

    def response(self, event: object, depth: int) -> Node:
        """Read an answer that is at random of k with probability p, and else the true one.

        Not in a Poisson sample, nor under add/remove: no answer is not one at random.
        """
        p = exact(_field(event, "noise_parameter"), "RandomizedResponseDpEvent, noise_parameter")
        k = whole(_field(event, "num_buckets"), "RandomizedResponseDpEvent, num_buckets", least=1)
        self.only_under(event, "replace_one", "zero_out")
        if self.sampled:  # no answer is not one at random
            finding = (
                "found it in a Poisson sample, needed noise on a sum: a record outside the sample "
                "gives no answer, and anyone can see that"
            )
            raise unread_event(UnreadRelationError, event, finding)
        if not isinstance(p, int | Fraction) or not 0 <= p <= 1:
            raise DomainError(f"noise_parameter: found {echo(p)}, needed 0 <= noise_parameter <= 1")
        if k == 1 or p == 1:
            return Compose()
        other = Fraction(p) / k
        truth = 1 - p + other
        if self.relation == "replace_one":
            rest = [(k - 2) * other] if k > 2 else []
            return DistributionPair([truth, other, *rest], [other, truth, *rest])
        uniform = Fraction(1, k)
        response, special = [truth, 1 - truth], [uniform, 1 - uniform]
        return DistributionPair(response, special, "zero_out", with_record="P")

    def concentrated(self, event: object, depth: int) -> Node:
        """Read (ξ, ρ)-zCDP, which is said of the relation in use, whichever that is."""
        rho, xi = _field(event, "rho"), _field(event, "xi")
        return NO_PRIVACY if is_infinite(rho) or is_infinite(xi) else ZCDP(rho, xi)

    def approximate(self, event: object, depth: int) -> Node:
        """Read (ε, δ) as the worst pair that has it: with δ it all comes out, else a coin does.

        The coin has the odds e^ε:1, rounded up. Without δ, or for ε = ∞, it is read by ε alone.
        """
        delta = delta_or_one(_field(event, "delta"), "EpsilonDeltaDpEvent, delta")
        if not delta or is_infinite(_field(event, "epsilon")):
            return _pure(event, PureDP)
        epsilon = rational(_field(event, "epsilon"), "EpsilonDeltaDpEvent, epsilon")
        with precision(_BITS):
            odds = rational_of(BALL.number(epsilon).exp().upper())
        more, less = ((1 - delta) * x / (1 + odds) for x in (odds, 1))
        return DistributionPair([delta, more, less, 0], [0, less, more, delta])

    def tree(self, event: object, depth: int) -> Node:
        """Read trees of which a record is in one step of one: of several, the deepest counts."""
        self.only_under(event, "zero_out", "replace_one")
        counts = _field(event, "step_counts")
        listed = counts if isinstance(counts, list | tuple) else [counts]
        what = "SingleEpochTreeAggregationDpEvent, non-negative step_counts"
        steps = max((whole(count, what) for count in map(scalar, listed)), default=0)
        if not steps:
            return Compose()  # nothing is told
        return self.noise(event, lambda sigma, size: TreeAggregation(sigma / size, steps))

    def self_composed(self, event: object, depth: int) -> Node:
        return Compose({self.node(_field(event, "event"), depth + 1): _field(event, "count")})

    def composed(self, event: object, depth: int) -> Node:
        """Read a list of events as a composition; equal parts are one part, run several times."""
        events = _field(event, "events")
        if not isinstance(events, list | tuple):
            raise DomainError(
                f"ComposedDpEvent, events: found {echo(events)}, needed a list of events"
            )
        counts: dict[Node, int] = {}
        for part in events:
            node = self.node(part, depth + 1)
            counts[node] = counts.get(node, 0) + 1
        return Compose(counts)

    def poisson(self, event: object, depth: int) -> Node:
        """Read a Poisson sample; a record that adds zero is as good as one not in the sample."""
        gamma = rate(_field(event, "sampling_probability"), "Sampling rate")
        inner = _field(event, "event")
        if self.relation == "replace_one":  # the samples differ in either record, or in both
            sampled = self.reading("add_remove").node(inner, depth + 1)
            return PoissonSubsample(sampled, gamma, "replace_one")
        within = type(self)(self.relation, sampled=True)
        return PoissonSubsample(within.node(inner, depth + 1), gamma, self.adjacency)

    def repeated(self, event: object, depth: int) -> Node:
        """Read the best of several runs, of a γ at or a little below that with this mean.

        No bound is smaller for it. DomainError for a mean below 1.
        """
        what = "RepeatAndSelectDpEvent"
        mean = exact(_field(event, "mean"), f"{what}, mean")
        shape = _field(event, "shape")
        inner = self.node(_field(event, "event"), depth + 1)
        if not isinstance(mean, Fraction) or mean < 1:
            raise DomainError(f"{what}, mean: found {echo(mean)}, needed a number >= 1")
        if is_infinite(shape):
            return RepeatAndSelect(inner, Poisson(mean))
        eta = above_minus_one(shape, f"{what}, shape")
        if not isinstance(eta, Fraction):
            raise DomainError(f"{what}, shape: found {echo(shape)}, needed a rational number")
        if mean == 1:
            return inner  # one run for certain
        return RepeatAndSelect(inner, TruncatedNegativeBinomial(eta, gamma_of_mean(eta, mean)))

    def truncated(self, event: object, depth: int) -> Node:
        """Read a Poisson batch that is cut to a size, for a record more or less."""
        self.only_under(event, "add_remove", "zero_out")
        noise = Gaussian(_field(event, "noise_multiplier"))
        names = ("sampling_probability", "dataset_size", "truncated_batch_size")
        gamma, records, batch = (_field(event, name) for name in names)
        return truncated_poisson(noise, gamma, records, batch, self.relation)

    def mixture(self, event: object, depth: int) -> Node:
        """Read N(0, σ²) without the record, and a mixture of N(c, σ²) with it."""
        self.only_under(event, "add_remove", "zero_out")
        return mixture_of(
            _field(event, "standard_deviation"),
            _field(event, "sensitivities"),
            _field(event, "sampling_probs"),
            self.adjacency,
        )

    def without_replacement(self, event: object, depth: int) -> Node:
        """Read a sample of fixed size, at the rate of n records, which is above that of n + 1."""
        name = "SampledWithoutReplacementDpEvent"
        size = whole(_field(event, "source_dataset_size"), f"{name}, source_dataset_size", least=1)
        sample = whole(_field(event, "sample_size"), f"{name}, sample_size")
        within = "zero_out" if self.adjacency == "zero_out" else "replace_one"
        inner = self.reading(within).node(_field(event, "event"), depth + 1)
        return SubsampleWithoutReplacement(inner, Fraction(sample, size), self.adjacency)

    def with_replacement(self, event: object, depth: int) -> Node:
        """Read a sample in which one record may be drawn several times."""
        self.only_under(event, "replace_one", "add_remove")
        inner = self.reading("replace_one").node(_field(event, "event"), depth + 1)
        size, draws = _field(event, "source_dataset_size"), _field(event, "sample_size")
        return sample_with_replacement(inner, size, draws, self.relation)


#: The function that reads each event, by the name of its class.
_READERS: dict[str, Callable[[Reading, object, int], Node]] = {
    "MixtureOfGaussiansDpEvent": Reading.mixture,
    "NoOpDpEvent": lambda reading, event, depth: Compose(),
    "NonPrivateDpEvent": lambda reading, event, depth: NO_PRIVACY,
    "GaussianDpEvent": lambda reading, event, depth: reading.noise(event, Gaussian),
    "LaplaceDpEvent": lambda reading, event, depth: reading.noise(event, Laplace),
    "DiscreteGaussianDpEvent": Reading.discrete_gaussian,
    "DiscreteLaplaceDpEvent": Reading.discrete_laplace,
    "ZCDpEvent": Reading.concentrated,
    "EpsilonDeltaDpEvent": Reading.approximate,
    "ExponentialMechanismDpEvent": lambda reading, event, depth: _pure(event, ExponentialMechanism),
    "PermuteAndFlipDpEvent": lambda reading, event, depth: _pure(event, PermuteAndFlip),
    "RandomizedResponseDpEvent": Reading.response,
    "SelfComposedDpEvent": Reading.self_composed,
    "ComposedDpEvent": Reading.composed,
    "PoissonSampledDpEvent": Reading.poisson,
    "SampledWithoutReplacementDpEvent": Reading.without_replacement,
    "SampledWithReplacementDpEvent": Reading.with_replacement,
    "RepeatAndSelectDpEvent": Reading.repeated,
    "SingleEpochTreeAggregationDpEvent": Reading.tree,
    "TruncatedSubsampledGaussianDpEvent": Reading.truncated,
}


def _reader(event: object) -> Callable[[Reading, object, int], Node]:
    """Find the reader by the name of an event's class, or of one that it inherits from.

    UnreadEventError for any other.
    """
    for kind in type(event).__mro__:
        if kind.__name__ in _READERS:
            return _READERS[kind.__name__]
    finding = f"found {type(event).__name__}, needed one of {', '.join(_READERS)}"
    raise unread_event(UnreadEventError, event, finding)


def unread_event(
    kind: type[UnreadEventError | UnreadRelationError], event: object, finding: str
) -> SymacctError:
    """Make the error for an event that is not read; it keeps the event."""
    error = kind(f"DpEvent: {finding}; caused by subevent {echo(event)}")
    error.event = event
    return error


def _pure(event: object, law: Callable[[Any], Node]) -> Node:
    """Read an ε-DP mechanism; at ε = ∞ there is no privacy, and at ε = 0 nothing is told."""
    epsilon = _field(event, "epsilon")
    if is_infinite(epsilon):
        return NO_PRIVACY
    what = f"{type(event).__name__}, epsilon"
    return law(epsilon) if nonnegative(epsilon, what) else Compose()


def _field(event: object, name: str) -> Any:
    """Read a field of an event; a float is its exact binary value. DomainError for none."""
    try:
        return scalar(getattr(event, name))
    except AttributeError:
        raise DomainError(f"{type(event).__name__}: found no field {echo(name)}") from None


# --- nodes to events, whose floats are rounded to the sound side


def _noise(leaf: Any, what: str) -> float:
    """Compute the noise over the sensitivity, rounded down: less noise costs more."""
    return floats.noise_multiplier(getattr(leaf, leaf.noise_scale), leaf.sensitivity, what)


def _epsilon(leaf: Any, what: str) -> float:
    """Compute the ε of a mechanism, rounded up; DomainError where it says for which neighbours."""
    if leaf.claim.adjacency != EITHER:
        raise DomainError(
            f"{what}: found {leaf.claim.adjacency}, needed adjacency='either': an event is "
            "read under the relation of the accountant that it is given to"
        )
    return up(leaf.pure, what)


def _random_answer(leaf: Any, what: str) -> float:
    """Compute the probability of an answer at random, rounded down.

    Such an answer is the true one half of the time.
    """
    p = floats.rational(leaf.p, what)
    return down(2 * min(p, 1 - p), what)


#: A leaf of these classes has an event: its name and fields, rounded to what costs more.
_LEAVES: dict[type[Node], Callable[[Any, str], tuple[Any, ...]]] = {
    TreeAggregation: lambda m, of: (
        "SingleEpochTreeAggregationDpEvent",
        down(m.sigma, of),
        m.steps,
    ),
    Gaussian: lambda m, of: ("GaussianDpEvent", _noise(m, of)),
    Laplace: lambda m, of: ("LaplaceDpEvent", _noise(m, of)),
    DiscreteGaussian: lambda m, of: (
        "DiscreteGaussianDpEvent",
        down(m.sigma, of),
        up(m.sensitivity, of),
        1,
    ),
    DiscreteLaplace: lambda m, of: (
        "DiscreteLaplaceDpEvent",
        up(1 / floats.rational(m.b, of), of),
        m.sensitivity,
    ),
    ZCDP: lambda m, of: ("ZCDpEvent", up(m.rho, of), up(m.xi, of)),
    RandomizedResponse: lambda m, of: ("RandomizedResponseDpEvent", _random_answer(m, of), 2),
    ExponentialMechanism: lambda m, of: ("ExponentialMechanismDpEvent", _epsilon(m, of)),
    PermuteAndFlip: lambda m, of: ("PermuteAndFlipDpEvent", _epsilon(m, of)),
    PureDP: lambda m, of: ("EpsilonDeltaDpEvent", _epsilon(m, of), 0.0),
}


def to_dp_event(node: Node) -> DpEvent:
    """Make dp_accounting's DpEvent for a node; its floats are rounded to the sound side.

    Raises DomainError for a node that no event says, and MissingPackageError without a
    dp_accounting that has its event.
    """
    events = package("dp_accounting.dp_event", "to_dp_event", "pip install dp-accounting")
    made: dict[Node, DpEvent] = {}
    for part in as_node(node, "to_dp_event").walk():
        made[part] = _event(part, made, events)
    return made[node]


def _event(node: Node, made: dict[Node, DpEvent], events: ModuleType) -> DpEvent:
    """Make the event of a node, of the events `made` of its parts; DomainError if it has none."""
    what = f"{type(node).__name__} to a DpEvent"
    mixed = mixture_parts(node)
    if mixed is not None:
        return events.MixtureOfGaussiansDpEvent(*mixed)
    leaf = next((kind for kind in type(node).__mro__ if kind in _LEAVES), None)
    if leaf is not None:
        name, *numbers = _LEAVES[leaf](node, what)
        if not hasattr(events, name):
            raise MissingPackageError(
                f"to_dp_event: needed a dp-accounting with {name}",
                remedy="install a newer one with pip",
            )
        return getattr(events, name)(*numbers)
    if isinstance(node, Sampling) and node._theorem_adjacency != node._read_adjacency:
        raise DomainError(
            f"{what}: found {node._fixed_adjacency}, needed {node._read_adjacency}: dp_accounting "
            "has one relation for the noise and the sampling together"
        )
    if isinstance(node, PoissonSubsample):
        rate = up(node.gamma, what)
        return events.PoissonSampledDpEvent(rate, made[node.mechanism])
    if isinstance(node, SubsampleWithoutReplacement):
        share = floats.rational(node.gamma, what)
        size, sample = share.denominator, share.numerator
        return events.SampledWithoutReplacementDpEvent(size, sample, made[node.mechanism])
    if isinstance(node, RepeatAndSelect):
        return _repeated(node, made, events, what)
    if isinstance(node, Compose):
        return _composed(node, made, events)
    raise DomainError(f"{what}: dp_accounting has no event for it")


def _repeated(
    node: RepeatAndSelect, made: dict[Node, DpEvent], events: ModuleType, what: str
) -> DpEvent:
    """Make the event of repeated runs: its shape is η >= 0, and its mean E[K], rounded up.

    DomainError for η < 0, a binomial number of runs, and a Poisson mean below 1.
    """
    runs, inner = node.runs, made[node.mechanism]
    if isinstance(runs, TruncatedNegativeBinomial):
        if runs.eta < 0:
            raise DomainError(f"{what}: found eta = {runs.eta}, needed eta >= 0")
        shape = floats.exactly(runs.eta, f"{what}, eta")
        return events.RepeatAndSelectDpEvent(inner, up(mean_above(runs), what), shape)
    if isinstance(runs, Binomial):
        raise DomainError(f"{what}: dp_accounting has no event for {echo(runs)} runs")
    if runs.rate < 1:
        raise DomainError(f"{what}: found the mean {echo(runs.rate)}, needed a mean >= 1")
    return events.RepeatAndSelectDpEvent(inner, up(runs.rate, what), float("inf"))


def _composed(node: Compose, made: dict[Node, DpEvent], events: ModuleType) -> DpEvent:
    """Make the event of a composition; DomainError for a number of runs that is open."""
    runs = []
    for part, count in node.terms.items():
        if not isinstance(count, int):
            raise DomainError(f"Compose to a DpEvent: found the count {count}, needed a number")
        runs.append(made[part] if count == 1 else events.SelfComposedDpEvent(made[part], count))
    if not runs:
        return events.NoOpDpEvent()
    return runs[0] if len(runs) == 1 else events.ComposedDpEvent(runs)
