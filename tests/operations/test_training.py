"""DP-SGD in one line, and what a notebook shows of its answer."""

import json
import re
import warnings
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import assume, example, given
from hypothesis import strategies as st

from symacct import (
    AdjacencyError,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Kind,
    PoissonSubsample,
    PostProcess,
    RandomAllocation,
    SubsampleWithoutReplacement,
    dp_sgd,
    noise,
    sample_with_replacement,
)
from symacct.cli import main
from symacct.operations.recipes import Batches
from tests.thinning import covering, examples

MNIST = {"n": 60000, "batch_size": 256, "noise_multiplier": "1.1"}


def test_the_expression_says_what_is_run():
    step = PoissonSubsample(Gaussian("1.1"), "256/60000")
    assert dp_sgd(**MNIST, epochs=15) is 3516 * step  # 3515.625 steps, the last one taken whole
    assert dp_sgd(**MNIST, steps=100) is 100 * step
    assert dp_sgd(**MNIST, epochs="1/60000") is 1 * step


def test_the_sensitivity_is_that_of_the_samples():
    """Another record in the place of one moves a sum of clipped records by 2C."""
    for adjacency in (None, "add_remove", "replace_one"):
        run = dp_sgd(**MNIST, steps=2, sampling="without_replacement", adjacency=adjacency)
        relation = adjacency or "replace_one"
        noise = Gaussian("1.1", sensitivity=2)
        assert run is 2 * SubsampleWithoutReplacement(noise, "256/60000", relation)
    run = dp_sgd(**MNIST, steps=2, adjacency="replace_one")
    assert run is 2 * PoissonSubsample(Gaussian("1.1"), "256/60000", "replace_one")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "needed one of the two"),
        ({"epochs": 1, "steps": 1}, "needed one of the two"),
        ({"steps": 0}, "steps: found 0"),
        ({"steps": "5/2"}, "steps: found"),
        ({"epochs": 0}, "epochs: found 0, needed > 0"),
        ({"epochs": 1, "n": 255}, "batch_size: found 256, needed at most the 255 records"),
        ({"epochs": 1, "n": "x"}, "n: found"),
        ({"epochs": 1, "noise_multiplier": 0}, "noise_multiplier: found 0"),
        ({"epochs": 1, "sampling": "shuffle"}, "found 'shuffle'; did you mean shuffled"),
        ({"epochs": 1, "sampling": "x"}, "sampling: found 'x', needed one of poisson, without"),
        ({"epochs": 1, "sampling": []}, "sampling: found"),
    ],
)
def test_what_is_no_training_is_refused(wrong, message):
    with pytest.raises(DomainError, match=message):
        dp_sgd(**{**MNIST, **wrong})
    for told in ({"adjacency": "neighbours"}, {"adjacency": "either", "sampling": "shuffled"}):
        with pytest.raises((AdjacencyError, DomainError), match="adjacency"):
            dp_sgd(**MNIST, epochs=1, **told)


TRAINING = ["dpsgd", "--n", "60000", "--batch-size", "256", "--delta", "1e-5"]


def card(*words):
    return CliRunner().invoke(main, [*TRAINING, *words])


def test_the_command_answers_as_the_function_does():
    run = dp_sgd(**MNIST, epochs=15)
    document = json.loads(card("--noise-multiplier", "1.1", "--epochs", "15", "--json").output)
    assert document["expression"] == repr(run)
    assert document["epsilon"]["value"] == run.epsilon("1e-5", 6).epsilon.rounded()


def test_the_noise_found_meets_the_target_and_a_unit_less_does_not():
    answer = card("--target-epsilon", "1", "--steps", "100", "--digits", "3", "--json").output
    found = json.loads(answer)
    epsilon = [
        dp_sgd(**{**MNIST, "noise_multiplier": found[end]}, steps=100).epsilon("1e-5").epsilon
        for end in ("meets", "fails")
    ]
    assert epsilon[0] <= 1 < epsilon[1]
    assert Fraction(found["meets"]) - Fraction(found["fails"]) == Fraction(1, 1000)


def test_balls_and_bins_are_epochs_of_whole_bins():
    """⌊n/batch_size⌋ bins, as fewer cost more, and an epoch that is begun counts."""
    run = {**MNIST, "sampling": "balls_and_bins"}
    assert dp_sgd(**run, epochs=2) == 2 * RandomAllocation(Gaussian("11/10"), 60000 // 256)
    assert dp_sgd(**run, epochs="5/2") == dp_sgd(**run, epochs=3)
    assert dp_sgd(**run, steps=235) == dp_sgd(**run, epochs=2)
    assert dp_sgd(**run, steps=234) == dp_sgd(**run, epochs=1)
    with pytest.raises(AdjacencyError, match="balls_and_bins"):
        dp_sgd(**run, epochs=1, adjacency="replace_one")
    one = RandomAllocation(Gaussian(1), 10).epsilon("1e-5", 6, conversion="exact").epsilon
    more = RandomAllocation(Gaussian(1), 9).epsilon("1e-5", 6, conversion="exact").epsilon
    assert one < more
    noise = ("--noise-multiplier", "1.1", "--epochs", "1", "--json")
    asked = [json.loads(card(*noise, "--sampling", f"balls{x}and{x}bins").output) for x in "-_"]
    assert asked[0] == asked[1]
    assert asked[0]["expression"] == "RandomAllocation(Gaussian('11/10'), 234)"


# --- what a batch is


SAMPLINGS = ["poisson", "without_replacement", "balls_and_bins", "shuffled"]


@given(
    n=st.integers(1, 3000),
    load=st.integers(1, 100),
    accumulation=st.integers(1, 20),
    how=st.sampled_from([{"epochs": "5/2"}, {"epochs": 3}, {"steps": 7}]),
    sampling=st.sampled_from(SAMPLINGS),
)
@examples(25, 1000)
def test_accumulated_loads_are_one_batch(n, load, accumulation, how, sampling):
    """What is summed before noise is added once is one batch, whatever it is loaded by."""
    assume(load * accumulation <= n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = dp_sgd(n, load, 2, sampling=sampling, accumulation=accumulation, **how)
        assert run is dp_sgd(n, load * accumulation, 2, sampling=sampling, **how)


def test_more_records_in_a_batch_than_there_are_is_refused():
    with pytest.raises(DomainError, match="found 24, needed at most the 20 records"):
        dp_sgd(20, 6, 1, steps=1, accumulation=4)
    with pytest.raises(DomainError, match="accumulation: found 0"):
        dp_sgd(20, 6, 1, steps=1, accumulation=0)


# --- a large δ


def headline_of(*words):
    answer = CliRunner().invoke(main, [*words, "--json"])
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


@pytest.mark.parametrize(
    ("n", "delta", "said"),
    [
        (60_000, "1e-5", ""),
        (60_000, "1/60000", "publishes about 1 record."),
        (60_000, "1/60001", ""),
        (60, "1/100", "publishes about 0.6 records"),
        (60, "9e-3", ""),
    ],
)
def test_a_delta_that_is_not_below_one_over_n_says_what_it_means(n, delta, said):
    run = ["--n", str(n), "--batch-size", "6", "--steps", "9", "--delta", delta]
    found = headline_of("dpsgd", *run, "--noise-multiplier", "1", "--conversion", "improved")
    assert ("large_delta" in found) == bool(said)
    assert said in found.get("large_delta", "")


@pytest.mark.parametrize("delta", ["1e-9", "1e-5", "0.0099", "0.01", "0.5", "0.999"])
@pytest.mark.parametrize("size", [1, 3])
def test_what_is_said_of_a_large_delta_is_true(delta, size):
    """To publish each record with this probability shows one of the group with 1 − (1−p)^size."""
    m = GroupPrivacy(Gaussian(5), size)
    note = m.report(delta).large_delta
    assert bool(note) == (Fraction(delta) >= Fraction(1, 100))
    if note:
        (chance,) = re.findall(r"each record with probability ([\d.]+(?:/\d+)?) meets it", note)
        top, _, bottom = chance.partition("/")
        p = Fraction(top) / int(bottom or 1)
        assert 1 - (1 - p) ** size <= Fraction(delta)


# --- batches drawn with replacement


def test_few_draws_are_all_told_apart():
    for relation in (None, "add_remove", "replace_one"):
        run = dp_sgd(500, 3, 4, steps=7, sampling="with_replacement", adjacency=relation)
        step = sample_with_replacement(Gaussian(4, 2), 500, 3, relation or "add_remove")
        assert run is 7 * step


@covering()
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("n", "batch"), [(1000, 20), (40, 40), (60, 30)])
def test_many_draws_cost_hardly_more_than_if_all_are_told_apart(n, batch, relation):
    """Beside the exact law of all draws, which Lemma replacement-mixture gives."""
    run = dp_sgd(n, batch, 9, steps=1, sampling="with_replacement", adjacency=relation)
    every = sample_with_replacement(Gaussian(9, 2), n, batch, relation)
    delta = Fraction(1, 10**6)
    found, truth = (m.epsilon(delta, digits=6, conversion="exact").epsilon for m in (run, every))
    assert truth.lower <= found.upper <= truth.upper * Fraction(100001, 100000)
    assert run.epsilon(delta, digits=6).kind is Kind.UPPER


def test_a_run_of_a_thousand_batches_with_replacement():
    """Beside a transform of the losses (tests/profile/test_many_parts.py); noise and steps."""
    run = {"n": 60_000, "batch_size": 256, "sampling": "with_replacement"}
    found = dp_sgd(**run, noise_multiplier=2, steps=1000).epsilon("1e-5", digits=6)
    assert float(found.epsilon.upper) == pytest.approx(0.7406012, rel=5e-5)
    more = dp_sgd(**run, noise_multiplier=3, steps=1000).epsilon("1e-5", digits=4).epsilon
    fewer = dp_sgd(**run, noise_multiplier=2, steps=500).epsilon("1e-5", digits=4).epsilon
    assert max(more.upper, fewer.upper) < found.epsilon.upper
    drawn_once = dp_sgd(60_000, 256, 2, steps=1000, sampling="without_replacement")
    assert drawn_once.epsilon("1e-5", digits=4).epsilon.lower > found.epsilon.upper


def test_what_is_said_of_draws_with_replacement():
    asked = ["dpsgd", *SHORT_RUN, "--noise-multiplier", "4", "--sampling", "with_replacement"]
    answer = CliRunner().invoke(main, [*asked, "--accumulation", "3", "--more"], terminal_width=999)
    said = " ".join(answer.output.replace("│", " ").split())
    assert "18 (3 · 6) draws" in said
    assert "drawn from all 600 records" in said
    assert "each record of a batch is a draw of its own" in said
    refused = CliRunner().invoke(main, [*asked, "--group", "2"])
    assert refused.exit_code
    assert "group: found 2 with sampling with_replacement, needed 1" in refused.output


# --- a clipping norm that is adapted


@covering()
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("sigma", "other"), [("1", "8/5"), ("3/4", "1"), ("2", "25.6")])
def test_two_noises_cost_what_both_cost_on_one_sample(sigma, other, adjacency):
    run = dp_sgd(600, 6, sigma, steps=9, quantile_noise=other, adjacency=adjacency)
    both = PoissonSubsample(Gaussian(sigma) + Gaussian(other), "1/100", adjacency)
    found, known = (m.epsilon("1e-5", digits=8).epsilon for m in (run, 9 * both))
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert run.claim.kind is (Kind.UPPER if adjacency == "replace_one" else both.claim.kind)


def test_a_replaced_record_costs_less_where_a_count_has_no_opposite_summands():
    """At σ = 3/2, τ = 1/2, all of the data: moves of 2Δ and of c, and not of 2Δ and 2c."""
    run = dp_sgd(6, 6, "3/2", steps=1, quantile_noise="1/2", adjacency="replace_one")
    of_bits = Gaussian("3/2", 2) + Gaussian("1/2")
    assert of_bits.epsilon("1e-5", 6).epsilon.upper < run.epsilon("1e-5", 6).epsilon.lower
    assert run.epsilon("1e-5", 6).kind is Kind.UPPER


def test_two_noises_that_are_one_number():
    """3² and 4²: 1/(1/9 + 1/16) is (12/5)²."""
    for sampling in ("poisson", "balls_and_bins", "shuffled"):
        two = dp_sgd(600, 6, 3, steps=100, sampling=sampling, quantile_noise=4)
        assert two is dp_sgd(600, 6, "12/5", steps=100, sampling=sampling)


@pytest.mark.parametrize(
    "how",
    [
        {"sampling": "poisson", "adjacency": "replace_one"},
        {"sampling": "without_replacement"},
        {"sampling": "without_replacement", "adjacency": "zero_out"},
        {"sampling": "with_replacement"},
        {"sampling": "with_replacement", "adjacency": "replace_one"},
    ],
    ids=lambda how: " ".join(how.values()),
)
def test_two_noises_are_a_bound_where_another_record_takes_the_place(how):
    two = dp_sgd(600, 6, 3, steps=9, quantile_noise=4, **how)
    one = dp_sgd(600, 6, "12/5", steps=9, **how)
    assert two is PostProcess(one)
    assert two.claim.kind is Kind.UPPER


def test_the_noise_beside_that_of_a_count():
    """Much noise on the count costs nothing, little is a target that no noise meets."""
    run = {"n": 600, "batch_size": 6, "steps": 9, "epsilon": 1, "delta": "1e-5", "digits": 4}
    alone, beside, far = (noise(**run, quantile_noise=x) for x in (None, "2", "1000"))
    assert alone <= far < alone * 1.001 < beside
    assert dp_sgd(600, 6, beside, steps=9, quantile_noise=2).epsilon("1e-5").epsilon.upper <= 1
    words = ["--epsilon", "1", "--quantile-noise", "2", "--digits", "4"]
    said = CliRunner().invoke(main, ["dpsgd", *SHORT_RUN, *words, "--more"]).output
    assert f"{beside:.4g} meets the target" in said
    assert f"noise (σ = {beside:.4g}) added" in " ".join(said.replace("│", " ").split())


@pytest.mark.parametrize("wrong", [0, -1, "x"])
def test_noise_on_a_count_is_positive(wrong):
    with pytest.raises(DomainError, match="quantile_noise: found"):
        dp_sgd(600, 6, 1, steps=9, quantile_noise=wrong)


# --- a person with several records, and several runs


SHORT_RUN = ["--n", "600", "--batch-size", "6", "--steps", "9", "--delta", "1e-5"]


@covering()
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(("group", "runs"), [(1, 1), (3, 1), (1, 5), (2, 4)])
def test_groups_and_runs_are_those_of_python(sampling, group, runs):
    words = ["--sampling", sampling, "--group", str(group), "--runs", str(runs)]
    asked = ["dpsgd", *SHORT_RUN, "--noise-multiplier", "4", "--conversion", "improved", *words]
    document = headline_of(*asked)
    m = GroupPrivacy(runs * dp_sgd(600, 6, 4, steps=9, sampling=sampling), group)
    assert document["expression"] == repr(m)
    known = m.epsilon("1e-5", digits=6, conversion="improved").epsilon
    assert document["epsilon"]["value"] == known.rounded()


def test_what_shuffled_batches_cost_at_least_counts_the_runs_and_not_the_group():
    """N runs of E epochs are NE epochs; what one record costs, a group costs at least."""
    common = ["--n", "60", "--batch-size", "6", "--noise-multiplier", "2", "--delta", "1e-5"]

    def least(*words):
        asked = ["dpsgd", *common, "--sampling", "shuffled", "--json", *words]
        found = json.loads(CliRunner().invoke(main, asked).stdout)
        return found["at_least"]["value"]

    assert least("--epochs", "2", "--runs", "3") == least("--epochs", "6")
    assert least("--epochs", "2", "--group", "2") == least("--epochs", "2")


def test_the_noise_of_several_runs_for_a_person_meets_the_target():
    words = ["--group", "2", "--runs", "3", "--epsilon", "2", "--digits", "3", "--json"]
    words += ["--conversion", "improved"]
    found = json.loads(CliRunner().invoke(main, ["dpsgd", *SHORT_RUN, *words]).stdout)
    assert "up to 2 records" in found["report"]
    meets, fails = (
        GroupPrivacy(3 * dp_sgd(600, 6, sigma, steps=9), 2)
        .epsilon("1e-5", digits=6, conversion="improved")
        .epsilon
        for sigma in (found["meets"], found["fails"])
    )
    assert meets <= 2
    assert fails > 2


@given(
    n=st.integers(1, 3000),
    batch=st.integers(1, 3000),
    epochs=st.none() | st.fractions(min_value="1/20", max_value=20, max_denominator=20),
    steps=st.integers(1, 3000),
    sampling=st.sampled_from(["poisson", "balls_and_bins", "shuffled"]),
)
@example(n=2, batch=2, epochs=None, steps=1, sampling="shuffled")
@examples(30, 2000)
def test_what_is_rounded_of_a_run_is_said_and_nothing_else(n, batch, epochs, steps, sampling):
    """Of the run that is accounted for, and so that it costs no less than what was asked."""
    assume(batch <= n)
    how = {"epochs": epochs} if epochs is not None else {"steps": steps}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = dp_sgd(n, batch, 2, sampling=sampling, **how)
    inner = m.mechanism if sampling == "shuffled" else m
    runs = getattr(inner, "runs", 1)
    batches = {"balls_and_bins": n // batch, "shuffled": -(-n // batch)}.get(sampling)
    asked = Fraction(epochs or steps)
    if sampling == "poisson":
        exact = asked * Fraction(n, batch) if epochs else asked
    else:
        exact = asked if epochs else asked / batches
    assert 0 <= runs - exact < 1
    said = Batches(n, batch, sampling).roundings(epochs, None if epochs else steps)
    down = [one for one in said if "down from" in one]
    assert bool(down) == (sampling == "balls_and_bins" and n % batch > 0)
    assert [f"{runs:,} " in one for one in said if one not in down] == [True] * (runs != exact)
    assert len(caught) == (sampling != "poisson" and epochs is not None and runs != exact)
