"""Other accountants' events and histories: what is read, what is refused, how it is rounded.

dp_accounting need not be installed: stand-ins have the names and the fields of its events.
"""

from __future__ import annotations

import math
import sys
import types
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symacct import (
    TCDP,
    ZCDP,
    Compose,
    Curve,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributionPair,
    ExponentialMechanism,
    Failing,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    RepeatAndSelect,
    SubsampleWithoutReplacement,
    dp_sgd,
    laws,
    limits,
    parse,
    sample_with_replacement,
)
from symacct.interop import (
    EventAccountant,
    PublishedAccountant,
    floats,
    from_dp_event,
    from_opacus_history,
    register_with_opacus,
    to_dp_event,
    to_opacus_history,
)
from symacct.interop.dp_events import NO_PRIVACY, their_relation
from symacct.kernel.errors import (
    AdjacencyError,
    DomainError,
    LimitError,
    MissingPackageError,
    SoundnessError,
    SymacctError,
)

FIELDS = {
    "NoOpDpEvent": [],
    "NonPrivateDpEvent": [],
    "GaussianDpEvent": ["noise_multiplier"],
    "LaplaceDpEvent": ["noise_multiplier"],
    "DiscreteGaussianDpEvent": ["sigma", "sensitivity", "dimension"],
    "DiscreteLaplaceDpEvent": ["noise_parameter", "sensitivity"],
    "ZCDpEvent": ["rho", "xi"],
    "RandomizedResponseDpEvent": ["noise_parameter", "num_buckets"],
    "SelfComposedDpEvent": ["event", "count"],
    "ComposedDpEvent": ["events"],
    "PoissonSampledDpEvent": ["sampling_probability", "event"],
    "SampledWithoutReplacementDpEvent": ["source_dataset_size", "sample_size", "event"],
    "RepeatAndSelectDpEvent": ["event", "mean", "shape"],
    "SingleEpochTreeAggregationDpEvent": ["noise_multiplier", "step_counts"],
    "SampledWithReplacementDpEvent": ["source_dataset_size", "sample_size", "event"],
    "EpsilonDeltaDpEvent": ["epsilon", "delta"],
    "ExponentialMechanismDpEvent": ["epsilon"],
    "PermuteAndFlipDpEvent": ["epsilon"],
    "UnsupportedDpEvent": [],
}


def _stand_in(name: str, fields: list[str]) -> type:
    return dataclass(frozen=True)(type(name, (), {"__annotations__": dict.fromkeys(fields, Any)}))


e: Any = types.SimpleNamespace(**{name: _stand_in(name, fs) for name, fs in FIELDS.items()})


class NeighboringRelation(Enum):
    """dp_accounting's."""

    ADD_OR_REMOVE_ONE = 1
    REPLACE_ONE = 2
    REPLACE_SPECIAL = 3


@pytest.fixture(params=["stand-in", "dp_accounting"])
def events(request, monkeypatch):
    """The stand-ins in the place of dp_accounting, and the real one where it is installed."""
    if request.param == "dp_accounting":
        return pytest.importorskip("dp_accounting.dp_event", reason="dp-accounting not installed")
    monkeypatch.setitem(sys.modules, "dp_accounting", types.ModuleType("dp_accounting"))
    monkeypatch.setitem(sys.modules, "dp_accounting.dp_event", e)
    return e


# --- from events


def test_each_event_is_read_as_the_mechanism_it_documents():
    step = e.PoissonSampledDpEvent(0.25, e.GaussianDpEvent(1.5))
    whole = e.ComposedDpEvent(
        [e.SelfComposedDpEvent(step, 10), step, e.LaplaceDpEvent(2), e.NoOpDpEvent()]
    )
    sampled = PoissonSubsample(Gaussian("3/2"), "1/4")
    assert from_dp_event(whole) is 11 * sampled + Laplace(2)
    assert from_dp_event(e.ZCDpEvent(0.5, 0.25)) is ZCDP("1/2", "1/4")
    assert from_dp_event(e.NoOpDpEvent()) is Compose()
    assert from_dp_event(e.SelfComposedDpEvent(e.SelfComposedDpEvent(step, 3), 4)) is 12 * sampled


def test_floats_keep_their_binary_value():
    node = from_dp_event(e.PoissonSampledDpEvent(0.1, e.GaussianDpEvent(1)))
    assert node.fields()["gamma"] == Fraction(0.1) != Fraction(1, 10)


@pytest.mark.parametrize("relation", ["replace_one", NeighboringRelation.REPLACE_ONE])
def test_replacing_a_record_moves_a_sum_by_twice_its_bound(relation):
    assert from_dp_event(e.GaussianDpEvent(3.0), relation) is Gaussian(3, 2)
    assert from_dp_event(e.LaplaceDpEvent(3.0), relation) is Laplace(3, 2)
    assert from_dp_event(e.DiscreteLaplaceDpEvent(0.5, 3), relation) is DiscreteLaplace(2, 6)
    scalar = e.DiscreteGaussianDpEvent(0.5, 1.5, 1)
    assert from_dp_event(scalar, relation) is DiscreteGaussian("1/2", 3)
    drawn = e.SampledWithoutReplacementDpEvent(1000, 10, e.GaussianDpEvent(3.0))
    assert from_dp_event(drawn, relation) is SubsampleWithoutReplacement(Gaussian(3, 2), "1/100")


ZEROED = ["zero_out", "replace_special", NeighboringRelation.REPLACE_SPECIAL]


@pytest.mark.parametrize("relation", ZEROED)
def test_a_record_that_adds_zero_is_zeroed_out(relation):
    """In a Poisson sample it is as good as none, and in what is sampled again too."""
    step = e.PoissonSampledDpEvent(0.5, e.GaussianDpEvent(3.0))
    assert from_dp_event(step, relation) is PoissonSubsample(Gaussian(3), "1/2", "zero_out")
    twice = e.PoissonSampledDpEvent(0.5, step)
    again = from_dp_event(twice, relation)
    assert again.mechanism is PoissonSubsample(Gaussian(3), "1/2")
    assert again.rdp(3).upper == from_dp_event(twice, "add_remove").rdp(3).upper


@pytest.mark.parametrize("relation", ZEROED)
def test_a_record_zeroed_out_of_a_sample_of_fixed_size_has_one_norm_as_sensitivity(relation):
    drawn = e.SampledWithoutReplacementDpEvent(1000, 10, e.GaussianDpEvent(3.0))
    node = from_dp_event(drawn, relation)
    assert node is SubsampleWithoutReplacement(Gaussian(3), "1/100", "zero_out")


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("relation", ["replace_one", "replace_special"])
def test_randomized_response_is_the_pair_its_probabilities_say(k, relation):
    p, alpha = Fraction(1, 4), 3
    own, other = [1 - p + p / k] + [p / k] * (k - 1), [p / k] * k
    other[1] = 1 - p + p / k
    if relation == "replace_special":
        other = [Fraction(1, k)] * k
    both = (
        sum(a**alpha * b ** (1 - alpha) for a, b in zip(x, y, strict=True))
        for x, y in ((own, other), (other, own))
    )
    truth = math.log(max(both)) / (alpha - 1)
    node = from_dp_event(e.RandomizedResponseDpEvent(0.25, k), relation)
    assert float(node.rdp(alpha, digits=15)) == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("dimension", [None, 2])
def test_discrete_gaussians_on_several_numbers_are_bounded_by_the_gaussian(dimension):
    """Moves of 1 in four coordinates have the norm 2; no curve of a scalar move stands for all."""
    event = e.DiscreteGaussianDpEvent(1.0, 2.0, dimension)
    assert from_dp_event(event) is ZCDP(2)
    assert from_dp_event(e.DiscreteGaussianDpEvent(1.0, 0.5, 1)) is Compose()


def test_an_event_that_is_shared_is_read_once():
    event: Any = e.GaussianDpEvent(1.0)
    for _ in range(50):  # 2^50 runs, 50 events
        event = e.ComposedDpEvent([event, event])
    node = from_dp_event(event)
    # Not in one line: pytest would show the event of a failure, all 2^50 of it.
    assert node is 2**50 * Gaussian(1)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_draws_with_replacement_are_for_noise_that_a_record_replaced_moves(relation):
    event = e.SampledWithReplacementDpEvent(10, 3, e.GaussianDpEvent(4.0))
    node = from_dp_event(event, relation)
    assert node is sample_with_replacement(Gaussian(4, 2), 10, 3, relation)
    with pytest.raises(DomainError, match="needed Gaussian noise"):
        from_dp_event(e.SampledWithReplacementDpEvent(10, 3, e.LaplaceDpEvent(4.0)), relation)


@pytest.mark.parametrize(
    "event",
    [
        e.UnsupportedDpEvent(),
        "GaussianDpEvent",
        None,
        ("module_name", "class_name"),
        types.SimpleNamespace(module_name="os", class_name="system", noise_multiplier=1.0),
    ],
)
def test_what_is_not_on_the_whitelist_is_refused(event):
    with pytest.raises(DomainError, match=r"DpEvent: found .*, needed one of"):
        from_dp_event(event)
    with pytest.raises(DomainError):
        from_dp_event(e.ComposedDpEvent([e.GaussianDpEvent(1.0), event]))


def test_sampling_is_read_under_the_other_relation_too():
    """What is sampled has the sensitivity by which two samples differ: C if Poisson, else 2C."""
    noise = e.ComposedDpEvent([e.GaussianDpEvent(2.0), e.LaplaceDpEvent(3.0)])
    poisson = e.SelfComposedDpEvent(e.PoissonSampledDpEvent(0.25, noise), 3)
    fixed = e.SelfComposedDpEvent(e.SampledWithoutReplacementDpEvent(8, 2, noise), 3)
    plain, double = (Gaussian(2, s) + Laplace(3, s) for s in (1, 2))
    for relation, one, other in (
        ("add_remove", PoissonSubsample(plain, "1/4"),
         SubsampleWithoutReplacement(double, "1/4", "add_remove")),
        ("replace_one", PoissonSubsample(plain, "1/4", "replace_one"),
         SubsampleWithoutReplacement(double, "1/4")),
    ):  # fmt: skip
        assert from_dp_event(poisson, relation) is 3 * one
        assert from_dp_event(fixed, relation) is 3 * other
        mixed = e.ComposedDpEvent([poisson, fixed, e.GaussianDpEvent(2.0)])
        bare = Gaussian(2, 2 if relation == "replace_one" else 1)
        assert from_dp_event(mixed, relation) is 3 * one + 3 * other + bare


NOISE, RESPONSE = e.GaussianDpEvent(1.0), e.RandomizedResponseDpEvent(0.5, 2)


@pytest.mark.parametrize(
    ("event", "relation", "error"),
    [
        (e.PoissonSampledDpEvent(0.1, RESPONSE), "replace_one", AdjacencyError),
        (
            e.PoissonSampledDpEvent(0.1, e.SelfComposedDpEvent(RESPONSE, 3)),
            "replace_special",
            AdjacencyError,
        ),
        (RESPONSE, "add_remove", AdjacencyError),
        (NOISE, "zeroed", DomainError),
        (e.SampledWithReplacementDpEvent(9, 1, NOISE), "zero_out", AdjacencyError),
        (NOISE, None, DomainError),
        (e.SingleEpochTreeAggregationDpEvent(1.0, 3), "add_remove", AdjacencyError),
        (e.SingleEpochTreeAggregationDpEvent(1.0, [3, -1]), "replace_special", DomainError),
        (e.EpsilonDeltaDpEvent(1.0, 1.5), "add_remove", DomainError),
        (e.ExponentialMechanismDpEvent(-1.0), "add_remove", DomainError),
        (e.GaussianDpEvent(-1.0), "add_remove", DomainError),
        (e.GaussianDpEvent(float("nan")), "add_remove", DomainError),
        (e.GaussianDpEvent("__import__('os')"), "add_remove", SymacctError),
        (e.SelfComposedDpEvent(NOISE, 2.5), "add_remove", DomainError),
        (e.SelfComposedDpEvent(NOISE, -1), "add_remove", DomainError),
        (e.ComposedDpEvent(NOISE), "add_remove", DomainError),
        (e.PoissonSampledDpEvent(1.5, NOISE), "add_remove", DomainError),
        (e.SampledWithoutReplacementDpEvent(9, 10, NOISE), "replace_one", DomainError),
        (e.SampledWithoutReplacementDpEvent(0, 0, NOISE), "replace_one", DomainError),
        (e.RandomizedResponseDpEvent(1.5, 2), "replace_one", DomainError),
        (e.RandomizedResponseDpEvent(0.5, 0), "replace_one", DomainError),
    ],
)
def test_what_cannot_be_is_one_clear_error(event, relation, error):
    with pytest.raises(error) as raised:
        from_dp_event(event, relation)
    assert "found" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_field_and_a_deep_tree_are_refused():
    bare = type("GaussianDpEvent", (), {})()
    with pytest.raises(DomainError, match="found no field 'noise_multiplier'"):
        from_dp_event(bare)
    event: Any = e.GaussianDpEvent(1.0)
    for _ in range(10):
        event = e.SelfComposedDpEvent(event, 1)
    with limits(depth=9), pytest.raises(LimitError, match="nesting depth"):
        from_dp_event(event)


def test_nested_samples_with_replacement_are_counted():
    event: Any = e.GaussianDpEvent(1.0)
    for _ in range(10):
        event = e.SampledWithReplacementDpEvent(9, 1, event)
    with limits(depth=9), pytest.raises(LimitError, match="nesting depth"):
        from_dp_event(event, "replace_one")


@pytest.mark.parametrize(
    ("event", "node"),
    [
        (e.NonPrivateDpEvent(), NO_PRIVACY),
        (e.GaussianDpEvent(0.0), NO_PRIVACY),
        (e.GaussianDpEvent(math.inf), Compose()),
        (e.LaplaceDpEvent(0), NO_PRIVACY),
        (e.DiscreteLaplaceDpEvent(math.inf, 1), NO_PRIVACY),
        (e.DiscreteGaussianDpEvent(0.0, 1.0, 1), NO_PRIVACY),
        (e.DiscreteGaussianDpEvent(0.0, 1.0, 2), NO_PRIVACY),
        (e.ZCDpEvent(math.inf, 0.0), NO_PRIVACY),
        (e.EpsilonDeltaDpEvent(math.inf, 0.25), NO_PRIVACY),
        (e.EpsilonDeltaDpEvent(0.5, 0), PureDP("1/2")),
        (e.EpsilonDeltaDpEvent(0.0, 0), Compose()),
        (e.ExponentialMechanismDpEvent(0.5), ExponentialMechanism("1/2")),
        (e.ExponentialMechanismDpEvent(0.0), Compose()),
        (e.PermuteAndFlipDpEvent(0.5), PermuteAndFlip("1/2")),
        (e.PermuteAndFlipDpEvent(math.inf), NO_PRIVACY),
        (e.PoissonSampledDpEvent(0, e.NonPrivateDpEvent()), PoissonSubsample(NO_PRIVACY, 0)),
    ],
)
def test_the_ends_of_a_parameter_are_no_privacy_or_nothing_said(event, node):
    assert from_dp_event(event) is node


def test_a_tree_has_a_gaussian_for_each_level_of_its_deepest_one():
    """Of n leaves ⌈log₂(n+1)⌉ nodes hold a record: 1, 2, 2, 3, …, by hand."""
    for steps, levels in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), ([2, 7, 8, 3], 4), ([], 0)]:
        event = e.SingleEpochTreeAggregationDpEvent(2.0, steps)
        found = from_dp_event(event, "replace_special").rdp(3)
        assert found.lower <= 3 * levels / 8 <= found.upper
        assert found.digits > 29


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.25), (1.0, 0.125), (3.0, 1e-6)])
def test_epsilon_delta_dominates_every_such_mechanism(epsilon, delta):
    """δ′(ε′) = δ + (1−δ)(e^ε − e^ε′)/(1 + e^ε) for ε′ <= ε: Kairouz, Oh and Viswanath 2015."""
    node = from_dp_event(e.EpsilonDeltaDpEvent(epsilon, delta))
    for share in (0.0, 0.5, 1.0):
        at = share * epsilon
        odds = math.exp(epsilon)
        expected = delta + (1 - delta) * (odds - math.exp(at)) / (1 + odds)
        found = float(node.delta(at, conversion="exact", digits=15).delta)
        assert found >= expected * (1 - 1e-15)
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_class_that_inherits_from_an_event_is_read_as_that_event():
    class Mine(e.GaussianDpEvent):
        pass

    assert from_dp_event(Mine(2.0)) is Gaussian(2)


@pytest.mark.filterwarnings("ignore::symacct.OrderGridWarning")
def test_scalars_of_numpy_and_arrays_without_dimensions_are_numbers():
    event = e.PoissonSampledDpEvent(np.array(0.25), e.GaussianDpEvent(np.float32(1.5)))
    node = from_dp_event(e.SelfComposedDpEvent(event, np.array(3)))
    assert node is 3 * PoissonSubsample(Gaussian("3/2"), "1/4")
    accountant = EventAccountant([np.array(2.0), np.int64(8)]).compose(event, np.array(3))
    assert accountant.node is node
    assert accountant.get_epsilon(np.array(1e-5)) == accountant.get_epsilon(1e-5)


# --- to events


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Gaussian(5)", "add_remove"),
        ("100 * PoissonSubsample(Gaussian(5), 1/8) + 3 * Laplace(1/2)", "add_remove"),
        ("ZCDP(1/2, 1/4) + Gaussian(3/2)", "add_remove"),
        ("PoissonSubsample(2 * Gaussian(4), 1/8)", "add_remove"),
        ("DiscreteGaussian(1/4, sensitivity=3)", "add_remove"),
        ("DiscreteLaplace(1/4, sensitivity=3)", "add_remove"),
        ("DiscreteLaplace(1/4, sensitivity=2)", "replace_special"),
        ("TreeAggregation(5/2, 7)", "replace_special"),
        ("PoissonSubsample(Gaussian(5), 1/8, adjacency=zero_out)", "zero_out"),
        ("3*SubsampleWithoutReplacement(Gaussian(5), 1/8, adjacency=zero_out)", "zero_out"),
        ("PoissonSubsample(PureDP(1/2), 1/8) + 3 * ExponentialMechanism(1/4)", "add_remove"),
        ("2 * PermuteAndFlip(1/2)", "replace_one"),
        ("Compose()", "add_remove"),
    ],
)
def test_there_and_back(events, text, relation):
    node = parse(text)
    assert from_dp_event(to_dp_event(node), relation) is node


def test_to_events_have_the_values_that_dp_accounting_takes(events):
    node = parse("10 * SubsampleWithoutReplacement(Gaussian(5, sensitivity=2), 3/100)")
    event = to_dp_event(node)
    assert (event.count, event.event.source_dataset_size, event.event.sample_size) == (10, 100, 3)
    assert event.event.event.noise_multiplier == 2.5
    response = to_dp_event(RandomizedResponse("3/4"))
    assert (response.noise_parameter, response.num_buckets) == (0.5, 2)
    assert to_dp_event(RandomizedResponse("1/4")).noise_parameter == 0.5


def test_numbers_round_to_less_noise_and_more_sampling(events):
    event = to_dp_event(parse("PoissonSubsample(Gaussian(1/3), 1/3)"))
    assert Fraction(event.sampling_probability) > Fraction(1, 3)
    assert Fraction(event.event.noise_multiplier) < Fraction(1, 3)
    again = from_dp_event(event)
    assert again.rdp(8, digits=40) > parse("PoissonSubsample(Gaussian(1/3), 1/3)").rdp(8, digits=40)
    zcdp = to_dp_event(ZCDP("1/10", "1/3"))
    assert Fraction(zcdp.rho) > Fraction(1, 10)
    assert Fraction(zcdp.xi) > Fraction(1, 3)


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(7), 5])
def test_directed_floats_are_next_to_the_number(x):
    below, above = floats.down(x, "x"), floats.up(x, "x")
    assert Fraction(below) <= x <= Fraction(above)
    assert above in (below, math.nextafter(below, math.inf))
    assert (below == above) == (Fraction(float(x)) == x)


def test_what_is_stated_for_one_relation_has_no_event(events):
    """It would be read under any."""
    for kind in (PureDP, ExponentialMechanism, PermuteAndFlip):
        with pytest.raises(DomainError, match="needed adjacency='either'"):
            to_dp_event(kind(1, adjacency="replace_one"))


@pytest.mark.parametrize("node", [TCDP(1, 2), DistributionPair(["1/2", "1/2"], ["1/4", "3/4"])])
def test_what_has_no_event_is_refused(events, node):
    with pytest.raises(DomainError, match="dp_accounting has no event for it"):
        to_dp_event(node + Gaussian(1))


def test_a_sensitivity_that_is_no_float64_is_rounded_up(events):
    assert to_dp_event(DiscreteGaussian(1, 2**53 + 1)).sensitivity == 2**53 + 2


def test_a_binomial_number_of_runs_has_no_event(events):
    node = RepeatAndSelect(Gaussian(1), laws.Binomial(9, "1/3"))
    with pytest.raises(DomainError, match="no event for laws"):
        to_dp_event(node)


def test_parameters_that_are_open_or_beyond_float64_are_refused(events):
    with pytest.raises(DomainError, match="within float64"):
        to_dp_event(Gaussian("1e400"))
    with pytest.raises(DomainError, match="within float64"):
        to_dp_event(DiscreteGaussian(1, 10**400))
    for text in (
        "Gaussian(x)", "Gaussian(1, x)", "Laplace(x)", "Laplace(1, x)", "DiscreteGaussian(x)",
        "DiscreteLaplace(x)", "ZCDP(x)", "ZCDP(1, x)", "RandomizedResponse(x)",
        "PoissonSubsample(Gaussian(1), x)", "SubsampleWithoutReplacement(Gaussian(1), x)",
    ):  # fmt: skip
        with pytest.raises(DomainError, match="found x"):
            to_dp_event(parse(text, ["x"]))


@pytest.mark.parametrize(
    ("module", "asked"),
    [
        ("dp_accounting.dp_event", lambda: to_dp_event(Gaussian(1))),
        ("dp_accounting", lambda: EventAccountant().ledger),
        ("opacus.accountants", register_with_opacus),
    ],
    ids=["event", "ledger", "opacus"],
)
def test_without_the_other_library_its_name_is_said(module, asked, monkeypatch):
    monkeypatch.setitem(sys.modules, module.partition(".")[0], None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match=module.partition(".")[0].replace("_", "-")):
        asked()
    assert EventAccountant().compose(Gaussian(1)).get_epsilon(1e-5) > 0


# --- Opacus


def test_histories_there_and_back():
    history = [(1.5, 0.25, 100), (2.0, 0.25, 50), (3.0, 1.0, 1)]
    node = from_opacus_history(history)
    text = "100*PoissonSubsample(Gaussian(3/2), 1/4) + 50*PoissonSubsample(Gaussian(2), 1/4)"
    assert node is parse(text) + PoissonSubsample(Gaussian(3), 1)
    assert from_opacus_history({"history": history, "mechanism": "rdp"}) is node
    assert to_opacus_history(node) == history
    assert to_opacus_history(2 * Gaussian(4, 2)) == [(2.0, 1.0, 2)]
    assert from_opacus_history([]) is Compose()
    assert to_opacus_history(Compose()) == []


def test_histories_round_to_less_noise_and_more_sampling():
    ((sigma, rate, steps),) = to_opacus_history(7 * PoissonSubsample(Gaussian("1/3"), "1/3"))
    assert Fraction(sigma) < Fraction(1, 3) < Fraction(rate)
    assert steps == 7


@pytest.mark.parametrize(
    "history",
    [
        "abc", 5, None, [(1.0, 0.1)], [1.0], ["abc"], [(1.0, 0.1, 2.5)], [(-1.0, 0.1, 5)],
        {"mechanism": "rdp"}, {"history": [(1.0, 0.1)]}, [(1.0, 1.1, 5)], [(1.0, 0.1, -5)],
    ],
)  # fmt: skip
def test_malformed_histories_are_refused(history):
    with pytest.raises(DomainError):
        from_opacus_history(history)


@pytest.mark.parametrize(
    "node", [SubsampleWithoutReplacement(Gaussian(1), "1/2"), PoissonSubsample(Laplace(1), "1/2")]
)
def test_what_a_history_cannot_say_is_refused(node):
    with pytest.raises(DomainError, match="to_opacus_history: found"):
        to_opacus_history(node)


# --- the accountant


def test_accountant_answers_with_the_proved_epsilon_rounded_up():
    step = e.PoissonSampledDpEvent(0.25, e.GaussianDpEvent(4.0))
    accountant = EventAccountant(conversion="improved").compose(step, 600).compose(step, 400)
    node = 1000 * PoissonSubsample(Gaussian(4), "1/4")
    assert accountant.node is node
    truth = node.epsilon("1e-5", digits=25, conversion="improved")
    epsilon, order = accountant.get_epsilon_and_optimal_order("1e-5")
    assert accountant.get_epsilon("1e-5") == epsilon
    assert Fraction(epsilon) >= Fraction(str(truth.epsilon)) - Fraction(1, 10**20)
    assert epsilon == pytest.approx(float(truth.epsilon), rel=1e-13)
    assert order == pytest.approx(float(truth.alpha), rel=1e-4)
    delta, _ = accountant.get_delta_and_optimal_order(epsilon)
    assert delta == accountant.get_delta(epsilon)
    assert delta == pytest.approx(1e-5, rel=1e-10)
    assert delta <= 1e-5 * (1 + 1e-12)


@pytest.mark.filterwarnings("ignore::symacct.OrderGridWarning")
def test_accountant_takes_nodes_orders_relations_and_a_conversion():
    grid = EventAccountant(orders=[2, 4], conversion="classic").compose(Gaussian(2), 3)
    assert grid.get_epsilon_and_optimal_order(1e-5)[1] == 4.0
    # 3·4/(2·4) + log(10^5)/3
    assert grid.get_epsilon(1e-5) == pytest.approx(1.5 + math.log(1e5) / 3, rel=1e-14)
    replaced = EventAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    assert replaced.neighboring_relation == their_relation("replace_one")
    assert replaced.compose(e.GaussianDpEvent(2.0)).node is Gaussian(2, 2)


def test_accountant_without_events_spends_nothing_and_compose_returns_itself():
    accountant = EventAccountant()
    assert accountant.get_epsilon(1e-5) == 0.0
    assert accountant.compose(e.NoOpDpEvent()) is accountant
    assert accountant.compose(Gaussian(1), 0).get_epsilon(1e-5) == 0.0


def test_supports_says_what_compose_would_take():
    accountant = EventAccountant().compose(e.PoissonSampledDpEvent(0.5, e.GaussianDpEvent(1.0)))
    before = accountant.node
    assert accountant.supports(e.LaplaceDpEvent(1.0))
    assert accountant.supports(e.NonPrivateDpEvent())
    assert not accountant.supports(e.UnsupportedDpEvent())
    assert not accountant.supports(SubsampleWithoutReplacement(Gaussian(1), "1/2"))
    assert accountant.node is before
    with pytest.raises(DomainError):
        accountant.compose(e.UnsupportedDpEvent())
    with pytest.raises(DomainError, match="compose, count"):
        accountant.compose(Gaussian(1), 1.5)


@pytest.mark.parametrize("conversion", ["improved", "exact"])
@pytest.mark.parametrize("orders", [None, [2.0, 8.0]])
def test_the_ends_of_delta_and_epsilon_have_answers(conversion, orders):
    """Nothing said is (0, 0)-DP; what has no privacy is told by ∞ and 1, wherever one asks."""
    if conversion == "exact" and orders:
        return  # it reads no orders
    deltas, epsilons = (0, 1e-12, 0.5, 1), (0, 1, math.inf)
    nothing = EventAccountant(orders, conversion=conversion)
    assert {nothing.get_epsilon(delta) for delta in deltas} == {0.0}
    assert {nothing.get_delta(epsilon) for epsilon in epsilons} == {0.0}
    for event in (e.NonPrivateDpEvent(), e.ComposedDpEvent([e.GaussianDpEvent(0)])):
        none = EventAccountant(orders, conversion=conversion).compose(Gaussian(3)).compose(event)
        assert {none.get_epsilon(delta) for delta in deltas} == {math.inf}
        assert {none.get_delta(epsilon) for epsilon in epsilons} == {1.0}
        assert none.get_epsilon_and_optimal_order(0.5) == (math.inf, math.inf)
    finite = EventAccountant(orders, conversion=conversion).compose(Gaussian(3))
    assert (finite.get_epsilon(0), finite.get_epsilon(1)) == (math.inf, 0.0)
    assert finite.get_delta(math.inf) == 0.0
    pure = EventAccountant(orders, conversion=conversion).compose(Laplace(2))
    assert pure.get_epsilon(0) == 0.5
    for bad in (-1e-9, 1.5, math.nan, "x"):
        with pytest.raises(SymacctError):
            finite.get_epsilon(bad)


def test_what_is_sampled_and_has_no_privacy_is_told_by_the_chance_that_it_is_drawn():
    event = e.PoissonSampledDpEvent(0.25, e.NonPrivateDpEvent())
    by_orders, exact = (
        EventAccountant(conversion=name).compose(event) for name in ("improved", "exact")
    )
    assert (by_orders.get_epsilon(0.5), by_orders.get_delta(1)) == (math.inf, 1.0)
    assert (exact.get_epsilon(0.125), exact.get_epsilon(0.25)) == (math.inf, 0.0)
    assert exact.get_delta(1) == 0.25


def test_delta_at_an_infinite_epsilon_is_the_chance_of_an_infinite_loss():
    """Drawn once in two samples of 1/4 or told with probability 1/8, all is told."""
    drawn = 2 * PoissonSubsample(NO_PRIVACY, "1/4")
    for node, chance in ((drawn, 7 / 16), (Failing(Gaussian(3), "1/8"), 1 / 8)):
        accountant = EventAccountant().compose(node)
        assert chance <= accountant.get_delta(math.inf) <= math.nextafter(chance, 1)
        assert accountant.get_epsilon(1) == 0


def test_the_ends_of_a_long_history_are_answered_without_its_profile(monkeypatch):
    long = EventAccountant().compose(PoissonSubsample(Gaussian(1), "1/100"), 10**6)
    for name in ("epsilon", "delta"):
        monkeypatch.setattr(long._accountant, name, None)
    assert (long.get_epsilon(1), long.get_delta(math.inf)) == (0.0, 0.0)


def test_an_accountant_lists_its_curve_and_answers_by_a_theorem():
    listed = EventAccountant([1, 2, math.inf]).compose(Laplace(1))
    assert listed.orders.tolist() == [1.0, 2.0, math.inf]
    # e^{−1}, log((2e + e^{−2})/3) and 1, of Mironov 2017
    expected = [math.exp(-1), math.log((2 * math.e + math.exp(-2)) / 3), 1.0]
    assert listed.rdp.tolist() == pytest.approx(expected, rel=1e-15)
    assert len(EventAccountant().rdp) == len(EventAccountant().orders) == 156
    step = PoissonSubsample(Gaussian(4), "1/100")
    named = EventAccountant(range(2, 64), by="ZW19-T5").compose(step, 100)
    assert named.get_epsilon(1e-5) == float(
        (100 * step).epsilon(1e-5, orders=range(2, 64), by="ZW19-T5", digits=16).epsilon
    )


def test_the_published_accountant_answers_by_what_theirs_evaluates():
    """At whole orders, by the theorem of each; no bound of EventAccountant's is larger."""
    sampled = e.PoissonSampledDpEvent(0.01, e.GaussianDpEvent(2.0))
    fixed = e.SampledWithoutReplacementDpEvent(100, 1, e.GaussianDpEvent(2.0))
    often = e.RepeatAndSelectDpEvent(e.LaplaceDpEvent(1.0), 4, 1)
    at = [2, 5, 16]
    for event, by, relation in [
        (sampled, "MTZ19-EXACT", "add_remove"),
        (fixed, "WBK19-T27", "replace_one"),
        (often, "PS22-T2-PRINTED", "add_remove"),
    ]:
        node = from_dp_event(event, relation)
        found = PublishedAccountant(at, relation).compose(event, 3)
        assert found.rdp.tolist() == pytest.approx([3 * float(node.rdp(a, by=by)) for a in at])
        best = EventAccountant(at, relation).compose(event, 3)
        assert (best.rdp <= found.rdp).all()
        assert best.get_epsilon(1e-5) <= found.get_epsilon(1e-5) < math.inf


@pytest.mark.parametrize(
    ("event", "relations"),
    [
        (e.PoissonSampledDpEvent(0.01, e.GaussianDpEvent(2.0)), "add_remove replace_special"),
        (e.PoissonSampledDpEvent(0.01, e.LaplaceDpEvent(2.0)), ""),
        (e.SampledWithoutReplacementDpEvent(9, 1, e.GaussianDpEvent(2.0)), "replace_one"),
        (e.SampledWithReplacementDpEvent(9, 1, e.GaussianDpEvent(2.0)), ""),
        (e.SingleEpochTreeAggregationDpEvent(2.0, 4), "replace_special"),
    ],
)
def test_the_published_accountant_reads_under_the_relations_of_theirs(event, relations):
    nested = e.ComposedDpEvent([e.SelfComposedDpEvent(event, 3)])
    for one in ("add_remove", "replace_one", "replace_special"):
        assert PublishedAccountant([2], one).supports(nested) == (one in relations.split())


def test_the_published_accountant_knows_the_ends():
    nothing = PublishedAccountant([1.5, math.inf])
    nothing.compose(e.PoissonSampledDpEvent(0, e.GaussianDpEvent(0.0)))
    assert nothing.rdp.tolist() == [0.0, 0.0]
    open_ended = PublishedAccountant([1.5, math.inf])
    open_ended.compose(e.PoissonSampledDpEvent(0.5, e.GaussianDpEvent(1.0)))
    assert open_ended.rdp[0] < open_ended.rdp[1] == math.inf
    revealed = PublishedAccountant([2])
    revealed.compose(e.PoissonSampledDpEvent(0.5, e.GaussianDpEvent(0.0)))
    assert (revealed.get_epsilon(1e-5), revealed.get_delta(1)) == (math.inf, 1.0)


def test_maybe_compose_says_which_event_is_in_the_way():
    class Ours(EventAccountant):  # stand-in for what a PrivacyAccountant of theirs brings along
        CompositionErrorDetails = staticmethod(lambda event, message: (event, message))

    bad = e.UnsupportedDpEvent()
    accountant = Ours().compose(Gaussian(1))
    found, message = accountant._maybe_compose(
        e.ComposedDpEvent([e.SelfComposedDpEvent(bad, 2)]), 1, True
    )
    assert found is bad
    assert "caused by subevent" in message
    assert accountant.node is Gaussian(1)
    other = SubsampleWithoutReplacement(Gaussian(1), "1/2")
    sampled = Ours().compose(e.PoissonSampledDpEvent(0.5, e.GaussianDpEvent(1.0)))
    assert sampled._maybe_compose(other, 1, True)[0] is other
    assert accountant._maybe_compose(e.GaussianDpEvent(2.0), 2, False) is None
    assert accountant.node is Gaussian(1)
    assert accountant._maybe_compose(e.GaussianDpEvent(2.0), 2, True) is None
    assert accountant.node is Gaussian(1) + 2 * Gaussian(2)


class Builder:
    """Stands in for dp_accounting's DpEventBuilder."""

    def __init__(self):
        self.runs = []

    def compose(self, event, count):
        self.runs.append((event, count))

    def build(self):
        return self.runs


def test_the_ledger_is_what_was_composed_and_equal_runs_are_one_entry(monkeypatch):
    module = types.ModuleType("dp_accounting")
    monkeypatch.setattr(module, "DpEventBuilder", Builder, raising=False)
    monkeypatch.setitem(sys.modules, "dp_accounting", module)
    monkeypatch.setitem(sys.modules, "dp_accounting.dp_event", e)
    step, other = e.GaussianDpEvent(2.0), e.LaplaceDpEvent(0)
    accountant = EventAccountant().compose(step, 3).compose(step).compose(step, 0).compose(other)
    ours = e.GaussianDpEvent(5.0)
    assert accountant.compose(Gaussian(5)).ledger == [(step, 4), (other, 1), (ours, 1)]


def test_a_history_without_noise_has_no_privacy():
    node = from_opacus_history([(0.0, 0.25, 2)])
    assert node is 2 * PoissonSubsample(NO_PRIVACY, "1/4")
    by_orders = EventAccountant(conversion="improved").compose(node)
    assert by_orders.get_epsilon(0.5) == math.inf
    # What is drawn in one of two samples of 1/4 is seen: with 7/16, whatever ε is.
    best = EventAccountant().compose(node)
    assert (best.get_epsilon(0.43), best.get_epsilon(0.44)) == (math.inf, 0)


def test_real_calibration_takes_the_accountant():
    """Their search for the noise that meets a target runs on our answers."""
    real = pytest.importorskip("dp_accounting", reason="dp-accounting not installed")

    def event(sigma):
        step = real.PoissonSampledDpEvent(0.25, real.GaussianDpEvent(sigma))
        return real.SelfComposedDpEvent(step, 10)

    start = real.ExplicitBracketInterval(1.0, 8.0)
    sigma = real.calibrate_dp_mechanism(EventAccountant, event, 1.0, 1e-5, start, tol=1e-3)
    assert EventAccountant().compose(event(sigma)).get_epsilon(1e-5) <= 1.0
    assert EventAccountant().compose(event(sigma - 0.01)).get_epsilon(1e-5) > 1.0


@pytest.mark.filterwarnings("ignore::symacct.OrderGridWarning")
def test_real_events_are_answered_no_looser_than_by_their_accountant():
    """dp_accounting on integer orders of one run: the same numbers, ours at least as tight."""
    rdp = pytest.importorskip("dp_accounting.rdp", reason="dp-accounting not installed")
    real = pytest.importorskip("dp_accounting.dp_event")
    event = real.SelfComposedDpEvent(
        real.PoissonSampledDpEvent(0.01, real.GaussianDpEvent(1.0)), 1000
    )
    theirs = rdp.RdpAccountant(list(range(2, 64))).compose(event).get_epsilon(1e-5)
    same = EventAccountant(orders=range(2, 64)).compose(event).get_epsilon(1e-5)
    assert same == pytest.approx(theirs, rel=1e-9)
    assert EventAccountant().compose(event).get_epsilon(1e-5) <= same


def test_the_best_order_may_be_beyond_float64():
    accountant = EventAccountant(orders=[10**400]).compose(Gaussian(5))
    assert accountant.get_epsilon("1e-5") == math.inf
    with pytest.raises(DomainError, match="within float64"):
        accountant.get_epsilon_and_optimal_order("1e-5")


def test_orders_that_can_be_read_once_serve_every_question():
    accountant = EventAccountant(orders=iter([2, 8, 32])).compose(Gaussian(5))
    assert accountant.get_epsilon("1e-5") == accountant.get_epsilon("1e-5") < math.inf


def test_the_page_says_how_opacus_samples():
    """Its loader has ⌈n/B⌉ batches, its rate is one over that, and an epoch int(1/rate) steps."""
    page = (Path(__file__).parents[2] / "docs" / "drop_in.md").read_text(encoding="utf-8")
    batches = -(-60_000 // 256)
    steps = 15 * int(1 / (1 / batches))
    said = f"{batches} batches. So 15 epochs of Opacus are {steps:,} steps at the rate 1/{batches}"
    assert said in page
    assert next(n for n in range(1, 100) if int(1 / (1 / n)) < n) == 93
    assert "for 93 batches" in page
    theirs = from_opacus_history([(1.1, 1 / batches, steps)])
    for m, said in ((theirs, "1.13208"), (dp_sgd(60_000, 256, 1.1, epochs=15), "1.13388")):
        assert m.report("1e-5").epsilon.rounded() == said
        assert f"\n{said}\n" in page


def test_a_finite_lower_bound_does_not_say_that_no_loss_is_infinite():
    """δ(∞) = 0 was answered of a curve that is only a lower bound, which guarantees nothing."""
    below = Curve(lambda alpha: alpha / 2, kind="lower", adjacency="add_remove")
    with pytest.raises(SoundnessError):
        EventAccountant().compose(below).get_delta(math.inf)
