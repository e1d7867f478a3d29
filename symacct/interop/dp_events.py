"""dp_accounting's DpEvents to nodes: a whitelist of classes, read by their fields.

Nothing is imported by a name found in data (from_named_tuple does that; it is not used). An event's
noise multiplier is its noise over the bound C on the norm of one record's contribution. Removing a
record moves a sum by C, replacing one by up to 2C: under replace-one the sensitivity is 2. What is
sampled is read for the relation that the samples can differ in: add/remove for Poisson samples of
either relation, replace-one for samples of a fixed size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symacct.interop.dp_types import UnreadEventError, UnreadRelationError, relation_named
from symacct.interop.floats import scalar
from symacct.interop.mixtures import mixture_of
from symacct.interop.runs import gamma_of_mean
from symacct.kernel import limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.arithmetic.ball import rational as ball_number
from symacct.kernel.claims import ADD_REMOVE
from symacct.kernel.errors import DomainError, SymacctError, echo
from symacct.kernel.exact import exact, is_infinite
from symacct.kernel.node import Node
from symacct.kernel.parameters import (
    above_minus_one,
    delta_or_one,
    nonnegative,
    positive,
    rate,
    rational,
    whole,
)
from symacct.laws.families import Poisson, TruncatedNegativeBinomial
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

if TYPE_CHECKING:
    pass

_BITS = 128
#: Nothing is hidden: the outcome tells which of the two datasets it was.
NO_PRIVACY = DistributionPair([1, 0], [0, 1])


def from_dp_event(event: object, relation: object = "add_remove") -> Node:
    """The node that a dp_accounting DpEvent describes; floats keep their exact binary value.

    `relation` is "add_remove", "replace_one", "replace_special" or a NeighboringRelation: a sum
    of records clipped to norm C has sensitivity C under the first and 2C under the second. Raises
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
        self._read: dict[int, tuple[object, Node]] = {}

    def node(self, event: object, depth: int) -> Node:
        known = self._read.get(id(event))
        if known is None:
            limits.check("depth", depth, "DpEvent, nesting depth")
            # The event is kept, so that its id stays its own.
            known = self._read[id(event)] = (event, _reader(event)(self, event, depth))
        return known[1]

    def only_under(self, event: object, *relations: str) -> None:
        """UnreadRelationError where the event says something under other relations alone."""
        if self.relation not in relations:
            raise unread_event(
                UnreadRelationError,
                event,
                f"found {self.relation}, needed {' or '.join(relations)}",
            )

    def reading(self, relation: str) -> Reading:
        """One for the relation that samples can differ in."""
        return self if self.relation == relation else type(self)(relation)

    @property
    def sensitivity(self) -> int:
        """By how much one record moves a sum of records of norm at most 1."""
        return 2 if self.relation == "replace_one" else 1

    def noise(self, event: object, law: Callable[[Any, int], Node]) -> Node:
        """The law of this scale, and of this sensitivity; without noise there is no privacy."""
        scale = _field(event, "noise_multiplier")
        if is_infinite(scale):
            return Compose()
        known = nonnegative(scale, f"{type(event).__name__}, non-negative Noise multiplier")
        return law(known, self.sensitivity) if known else NO_PRIVACY

    def discrete_laplace(self, event: object, depth: int) -> Node:
        """Noise of the parameter a = 1/b on whole numbers, records of ℓ1 norm at most C."""
        if is_infinite(_field(event, "noise_parameter")):
            return NO_PRIVACY
        inverse = positive(_field(event, "noise_parameter"), "noise_parameter")
        what = "DiscreteLaplaceDpEvent, sensitivity"
        size = whole(_field(event, "sensitivity"), what, least=1)
        return DiscreteLaplace(1 / inverse, self.sensitivity * size)

    def discrete_gaussian(self, event: object, depth: int) -> Node:
        """Noise on one whole number; on several each coordinate moves by less, so ρ = Δ²/(2σ²)."""
        name = "DiscreteGaussianDpEvent"
        sigma = nonnegative(_field(event, "sigma"), f"{name}, sigma")
        size = self.sensitivity * positive(_field(event, "sensitivity"), f"{name}, sensitivity")
        one_number = _field(event, "dimension") == 1
        if one_number and size < 1:
            return Compose()
        if not sigma:
            return NO_PRIVACY
        return (
            DiscreteGaussian(sigma, math.floor(size))
            if one_number
            else ZCDP((size / sigma) ** 2 / 2)
        )

    def response(self, event: object, depth: int) -> Node:
        """With probability p one of k answers at random, else the true one."""
        p = exact(_field(event, "noise_parameter"), "RandomizedResponseDpEvent, noise_parameter")
        k = whole(_field(event, "num_buckets"), "RandomizedResponseDpEvent, num_buckets", least=1)
        self.only_under(event, "replace_one", "replace_special")
        if self.sampled:  # no answer is not one at random
            raise unread_event(
                UnreadRelationError,
                event,
                (
                    "found it in a Poisson sample, needed noise on a sum: a record outside the "
                    "sample gives no answer, and anyone can see that"
                ),
            )
        if not isinstance(p, int | Fraction) or not 0 <= p <= 1:
            raise DomainError(f"noise_parameter: found {echo(p)}, needed 0 <= noise_parameter <= 1")
        if k == 1 or p == 1:
            return Compose()
        other = Fraction(p) / k
        own = 1 - p + other
        if self.relation == "replace_one":
            rest = [(k - 2) * other] if k > 2 else []
            return DistributionPair([own, other, *rest], [other, own, *rest])
        uniform = Fraction(1, k)
        told, special = [own, 1 - own], [uniform, 1 - uniform]
        return DistributionPair(told, special, ADD_REMOVE, with_record="P")

    def concentrated(self, event: object, depth: int) -> Node:
        """(ξ, ρ)-zCDP is said of the relation in use, whichever that is."""
        rho, xi = _field(event, "rho"), _field(event, "xi")
        return NO_PRIVACY if is_infinite(rho) or is_infinite(xi) else ZCDP(rho, xi)

    def approximate(self, event: object, depth: int) -> Node:
        """(ε, δ): with δ it all comes out, else a coin of odds e^ε:1 does; any such is no worse."""
        delta = delta_or_one(_field(event, "delta"), "EpsilonDeltaDpEvent, delta")
        if not delta or is_infinite(_field(event, "epsilon")):
            return _pure(event, PureDP)
        odds = _exp_above(rational(_field(event, "epsilon"), "EpsilonDeltaDpEvent, epsilon"))
        more, less = ((1 - delta) * x / (1 + odds) for x in (odds, 1))
        return DistributionPair([delta, more, less, 0], [0, less, more, delta])

    def tree(self, event: object, depth: int) -> Node:
        """A record in one step of one tree: of several, the deepest counts."""
        self.only_under(event, "replace_special", "replace_one")
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
        events = _field(event, "events")
        if not isinstance(events, list | tuple):
            raise DomainError(
                f"ComposedDpEvent, events: found {echo(events)}, needed a list of events"
            )
        counts: dict[Node, int] = {}
        for one in events:
            node = self.node(one, depth + 1)
            counts[node] = counts.get(node, 0) + 1
        return Compose(counts)

    def poisson(self, event: object, depth: int) -> Node:
        """A record that adds zero to a sum is as good as one not in the sample."""
        gamma = rate(_field(event, "sampling_probability"), "Sampling rate")
        inner = _field(event, "event")
        if self.relation == "replace_one":  # the samples differ in either record, or in both
            sampled = self.reading("add_remove").node(inner, depth + 1)
            return PoissonSubsample(sampled, gamma, "replace_one")
        within = type(self)(self.relation, sampled=True)
        return PoissonSubsample(within.node(inner, depth + 1), gamma)

    def repeated(self, event: object, depth: int) -> Node:
        """Of γ below the one with this mean, where that is no rational number: no bound falls."""
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
        """A batch that is cut, for a record more or less."""
        self.only_under(event, "add_remove")
        noise = Gaussian(_field(event, "noise_multiplier"))
        numbers = ("sampling_probability", "dataset_size", "truncated_batch_size")
        return truncated_poisson(noise, *(_field(event, one) for one in numbers))

    def mixture(self, event: object, depth: int) -> Node:
        """N(0, σ²) without the record, a mixture of N(c, σ²) with it."""
        self.only_under(event, "add_remove", "replace_special")
        return mixture_of(
            _field(event, "standard_deviation"),
            _field(event, "sensitivities"),
            _field(event, "sampling_probs"),
        )

    def without_replacement(self, event: object, depth: int) -> Node:
        """Of n records or of n − 1: at the rate of n, the larger one for n + 1 too."""
        self.only_under(event, "replace_one", "add_remove")
        name = "SampledWithoutReplacementDpEvent"
        size = whole(_field(event, "source_dataset_size"), f"{name}, source_dataset_size", least=1)
        sample = whole(_field(event, "sample_size"), f"{name}, sample_size")
        inner = self.reading("replace_one").node(_field(event, "event"), depth + 1)
        return SubsampleWithoutReplacement(inner, Fraction(sample, size), self.relation)

    def with_replacement(self, event: object, depth: int) -> Node:
        """A sample in which one record may be drawn several times."""
        self.only_under(event, "replace_one", "add_remove")
        inner = self.reading("replace_one").node(_field(event, "event"), depth + 1)
        size, draws = _field(event, "source_dataset_size"), _field(event, "sample_size")
        return sample_with_replacement(inner, size, draws, self.relation)


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
    """By the name of its class, or of one that it inherits from."""
    for kind in type(event).__mro__:
        if kind.__name__ in _READERS:
            return _READERS[kind.__name__]
    found = f"found {type(event).__name__}, needed one of {', '.join(_READERS)}"
    raise unread_event(UnreadEventError, event, found)


def unread_event(
    kind: type[UnreadEventError | UnreadRelationError], event: object, found: str
) -> SymacctError:
    """The error for an event that is not read."""
    error = kind(f"DpEvent: {found}; caused by subevent {echo(event)}")
    error.event = event
    return error


def _pure(event: object, law: Callable[[Any], Node]) -> Node:
    """The ε-DP law; at ε = ∞ there is no privacy, at ε = 0 nothing is said."""
    epsilon = _field(event, "epsilon")
    if is_infinite(epsilon):
        return NO_PRIVACY
    what = f"{type(event).__name__}, epsilon"
    return law(epsilon) if nonnegative(epsilon, what) else Compose()


def _exp_above(epsilon: Fraction) -> Fraction:
    """A rational number a little above e^ε."""
    with precision(_BITS):
        return ball_number(BALL.exp(BALL.number(epsilon)).upper())


def _field(event: object, name: str) -> Any:
    try:
        return scalar(getattr(event, name))
    except AttributeError:
        raise DomainError(f"{type(event).__name__}: found no field {echo(name)}") from None
