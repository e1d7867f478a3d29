"""Nodes to dp_accounting's DpEvents, whose floats are rounded to the sound side."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from symacct.interop import floats
from symacct.interop.mixtures import mixture_parts
from symacct.interop.runs import mean_above
from symacct.kernel.arguments import package
from symacct.kernel.claims import EITHER
from symacct.kernel.errors import DomainError, MissingPackageError, echo
from symacct.kernel.node import Node, as_node
from symacct.laws.families import Binomial, TruncatedNegativeBinomial
from symacct.mechanisms import (
    ZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
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
)
from symacct.operations.subsample import Sampling

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent

#: The events of an ε, by their names, with what they are told beside it.
_OF_EPSILON: dict[type[Node], tuple[Any, ...]] = {
    ExponentialMechanism: ("ExponentialMechanismDpEvent",),
    PermuteAndFlip: ("PermuteAndFlipDpEvent",),
    PureDP: ("EpsilonDeltaDpEvent", 0.0),
}


def to_dp_event(node: Node) -> DpEvent:
    """dp_accounting's DpEvent for a node; its floats are rounded to the sound side."""
    events = package("dp_accounting.dp_event", "to_dp_event", "pip install dp-accounting")
    made: dict[Node, DpEvent] = {}
    for one in as_node(node, "to_dp_event").walk():
        made[one] = _event(one, made, events)
    return made[node]


def _event(node: Node, made: dict[Node, DpEvent], events: ModuleType) -> DpEvent:
    what = f"{type(node).__name__} to a DpEvent"
    mixed = mixture_parts(node)
    if mixed is not None:
        return events.MixtureOfGaussiansDpEvent(*mixed)
    if isinstance(node, TreeAggregation):
        noise = floats.down(node.sigma, what)
        return events.SingleEpochTreeAggregationDpEvent(noise, node.steps)
    if isinstance(node, Gaussian):
        noise = floats.noise_multiplier(node.sigma, node.sensitivity, what)
        return events.GaussianDpEvent(noise)
    if isinstance(node, Laplace):
        noise = floats.noise_multiplier(node.b, node.sensitivity, what)
        return events.LaplaceDpEvent(noise)
    if isinstance(node, DiscreteGaussian):
        sigma = floats.down(node.sigma, what)
        return _newer(events, "DiscreteGaussianDpEvent")(sigma, float(node.sensitivity), 1)
    if isinstance(node, DiscreteLaplace):
        rate = floats.float_not_below(1 / floats.rational(node.b, what), what)
        return events.DiscreteLaplaceDpEvent(rate, node.sensitivity)
    if isinstance(node, ZCDP):
        return events.ZCDpEvent(
            floats.float_not_below(node.rho, what), floats.float_not_below(node.xi, what)
        )
    if isinstance(node, tuple(_OF_EPSILON)):
        if node.claim.adjacency != EITHER:
            raise DomainError(
                f"{what}: found {node.claim.adjacency}, needed adjacency='either': an event is "
                "read under the relation of the accountant that it is given to"
            )
        name, *rest = next(_OF_EPSILON[kind] for kind in type(node).__mro__ if kind in _OF_EPSILON)
        return _newer(events, name)(floats.float_not_below(node.fields()["epsilon"], what), *rest)
    if isinstance(node, RandomizedResponse):
        p = floats.rational(node.p, what)
        noise = floats.down(2 * min(p, 1 - p), what)
        return events.RandomizedResponseDpEvent(noise, 2)
    if isinstance(node, Sampling) and node.fixed_adjacency != node.read_adjacency:
        raise DomainError(
            f"{what}: found {node.fixed_adjacency}, needed {node.read_adjacency}: dp_accounting "
            "has one relation for the noise and the sampling together"
        )
    if isinstance(node, PoissonSubsample):
        rate = floats.float_not_below(node.gamma, what)
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
    """dp_accounting's shape is η >= 0, its mean is in place of γ; a Poisson mean is at least 1."""
    runs, inner = node.runs, made[node.mechanism]
    if isinstance(runs, TruncatedNegativeBinomial):
        if runs.eta < 0:
            raise DomainError(f"{what}: found eta = {runs.eta}, needed eta >= 0")
        shape = floats.exactly(runs.eta, f"{what}, eta")
        return events.RepeatAndSelectDpEvent(
            inner, floats.float_not_below(mean_above(runs), what), shape
        )
    if isinstance(runs, Binomial):
        raise DomainError(f"{what}: dp_accounting has no event for {echo(runs)} runs")
    if runs.rate < 1:
        raise DomainError(f"{what}: found the mean {echo(runs.rate)}, needed a mean >= 1")
    return events.RepeatAndSelectDpEvent(
        inner, floats.float_not_below(runs.rate, what), float("inf")
    )


def _newer(events: ModuleType, name: str) -> Any:
    """A class of events that versions of before do not have."""
    try:
        return getattr(events, name)
    except AttributeError:
        raise MissingPackageError(
            f"to_dp_event: needed a dp-accounting with {name}",
            remedy="install a newer one with pip",
        ) from None


def _composed(node: Compose, made: dict[Node, DpEvent], events: ModuleType) -> DpEvent:
    runs = []
    for part, count in node.terms.items():
        if not isinstance(count, int):
            raise DomainError(f"Compose to a DpEvent: found the count {count}, needed a number")
        runs.append(made[part] if count == 1 else events.SelfComposedDpEvent(made[part], count))
    if not runs:
        return events.NoOpDpEvent()
    return runs[0] if len(runs) == 1 else events.ComposedDpEvent(runs)
