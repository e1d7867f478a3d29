"""DP-SGD in one line, and what a notebook shows of its answer."""

import json
import re
import warnings
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import assume, given
from hypothesis import strategies as st

from symacct import (
    AdjacencyError,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    RandomAllocation,
    SubsampleWithoutReplacement,
    dp_sgd,
)
from symacct.cli import main
from symacct.operations.recipes import roundings
from tests.thinning import examples

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


def test_the_sum_of_a_list_is_a_composition():
    assert sum([Gaussian(5), Laplace(2)]) is Gaussian(5) + Laplace(2)
    with pytest.raises(TypeError, match="unsupported operand"):
        1 + Gaussian(5)


def test_cards_show_the_numbers_on_the_safe_side():
    asked = dp_sgd(**MNIST, epochs=15).epsilon("1e-5")
    card = asked._repr_html_()
    assert asked.epsilon.rounded(6) in card
    assert Fraction(asked.epsilon.rounded(6)) >= Fraction(str(asked.epsilon.upper))
    assert "0.00001" in card or "1e-5" in card
    assert "PoissonSubsample(Gaussian(&#x27;11/10&#x27;)" in card
    value = Gaussian(5).rdp(8)
    assert "0.16" in value._repr_html_()
    assert "exact" in value._repr_html_()


TRAINING = ["dpsgd", "--n", "60000", "--batch-size", "256", "--delta", "1e-5"]


def card(*words):
    return CliRunner().invoke(main, [*TRAINING, *words])


def test_noise_may_be_irrational():
    document = json.loads(card("--noise-multiplier", "sqrt(2)", "--steps", "9", "--json").output)
    assert "Gaussian(sqrt(2))" in document["expression"]


def test_the_command_answers_as_the_function_does():
    run = dp_sgd(**MNIST, epochs=15)
    shown = card("--noise-multiplier", "1.1", "--epochs", "15").output
    assert f"ε = {run.epsilon('1e-5', 6, 'exact').epsilon.rounded()} at" in shown.splitlines()[1]
    by_orders = run.epsilon("1e-5", 6, "improved").epsilon.rounded()
    shown = card("--noise-multiplier", "1.1", "--epochs", "15", "--more").output
    assert f"{by_orders}  (1.130 times" in shown
    assert repr(run) in shown
    for said in ("adding or removing one record", "3,516 batches", "MTZ19-EXACT", "clipped"):
        assert said in shown
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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--epochs", "1"], "needed --noise-multiplier or --epsilon"),
        (["--noise-multiplier", "1", "--target-epsilon", "1", "--steps", "1"], "one of them only"),
        (["--noise-multiplier", "1"], "needed --epochs or --steps, and one of them only"),
        (
            ["--noise-multiplier", "x", "--steps", "1"],
            "found 'x', needed a number > 0",
        ),
        (["--noise-multiplier", "sqrt(-2)", "--steps", "1"], "needed a real number"),
        (["--noise-multiplier", "1", "--steps", "1", "--adjacency", "y"], "adjacency"),
    ],
)
def test_what_is_no_training_is_one_line(words, says):
    refused = card(*words)
    assert refused.exit_code == 2
    assert says in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


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
    more = (*noise[:-1], "--sampling", "balls-and-bins", "--more")
    shown = " ".join(card(*more).output.split())
    rounded = "234 batches an epoch, down from 60000/256, as fewer cost more"
    assert rounded in re.sub("[ │]+", " ", shown)


# --- what a batch is


SAMPLINGS = ["poisson", "without_replacement", "balls_and_bins", "shuffled"]


@given(
    n=st.integers(1, 3000),
    load=st.integers(1, 100),
    accumulation=st.integers(1, 20),
    how=st.sampled_from([{"epochs": "5/2"}, {"epochs": 3}, {"steps": 7}]),
    sampling=st.sampled_from(SAMPLINGS),
)
@examples(60, 1000)
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


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_screen_says_what_a_batch_is_in_the_numbers_given(sampling):
    words = ["dpsgd", "--n", "600", "--steps", "9", "--delta", "1e-5", "--sampling", sampling]
    words += ["--noise-multiplier", "4", "--conversion", "improved"]

    def told(*size):
        shown = CliRunner().invoke(main, [*words, *size]).output
        return re.sub("[ │]+", " ", " ".join(shown.split()))

    one, loads = told("--batch-size", "12"), told("--batch-size", "3", "--accumulation", "4")
    steps = 50 if sampling == "balls_and_bins" else 9
    assert f"{steps} batches of" in one
    assert "noise (σ = 4) added once to each" in one
    assert "12 (4 · 3)" in loads
    assert (
        loads.replace("12 (4 · 3)", "12").replace(
            "the parts of a batch are those of one draw, so that no record is in a batch twice; ",
            "",
        )
        == one
    )
    assert ("12/600" in one) == (sampling == "poisson")
    statement = told("--batch-size", "3", "--accumulation", "4", "--statement", "text")
    assert statement == told("--batch-size", "12", "--statement", "text")
    assert "added once to each coordinate" in statement


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
        (60_000, "1e-4", "publishes about 6 records"),
        (60, "1/100", "publishes about 0.6 records"),
        (60, "9e-3", ""),
    ],
)
def test_a_delta_that_is_not_below_one_over_n_says_what_it_means(n, delta, said):
    run = ["--n", str(n), "--batch-size", "6", "--steps", "9", "--delta", delta]
    for noise in (["--noise-multiplier", "1"], ["--epsilon", "2", "--digits", "2"]):
        found = headline_of("dpsgd", *run, *noise)
        assert ("large_delta" in found) == bool(said)
        assert said in found.get("large_delta", "")
        assert "needed" not in found.get("large_delta", "")
    told = CliRunner().invoke(
        main, ["dpsgd", *run, "--noise-multiplier", "1", "--statement", "short"]
    )
    assert (said in told.stderr, "Note: δ" in told.stderr) == (True, bool(said))
    assert "Note" not in told.stdout


@pytest.mark.parametrize("delta", ["1e-9", "1e-5", "0.0099", "0.01", "0.5", "0.999"])
@pytest.mark.parametrize("size", [1, 3])
def test_what_is_said_of_a_large_delta_is_true(delta, size):
    """To publish each record with this probability shows one of the group with 1 − (1−p)^size."""
    m = GroupPrivacy(Gaussian(5), size)
    note = m.report(delta).large_delta
    assert bool(note) == (Fraction(delta) >= Fraction(1, 100))
    assert bool(note) == ("large_delta" in headline_of("epsilon", repr(m), "--delta", delta))
    if note:
        (chance,) = re.findall(r"each record with probability ([\d.]+(?:/\d+)?) meets it", note)
        top, _, bottom = chance.partition("/")
        p = Fraction(top) / int(bottom or 1)
        assert 1 - (1 - p) ** size <= Fraction(delta)
        assert note in m.report(delta)._repr_html_()
        assert note in " ".join(str(m.report(delta)).split())


def test_a_delta_that_is_found_is_looked_at_too():
    assert "large" in Gaussian(1).report(epsilon="1/2").large_delta
    assert Gaussian(1).report(epsilon=20).large_delta == ""
    told = CliRunner().invoke(main, ["statement", "Gaussian(1)", "--epsilon", "1/2"])
    assert "Note: δ = 0.2" in told.stderr


# --- a person with several records, and several runs


SHORT_RUN = ["--n", "600", "--batch-size", "6", "--steps", "9", "--delta", "1e-5"]


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(("group", "runs"), [(1, 1), (3, 1), (1, 5), (2, 4)])
def test_groups_and_runs_are_those_of_python(sampling, group, runs):
    words = ["--sampling", sampling, "--group", str(group), "--runs", str(runs)]
    asked = ["dpsgd", *SHORT_RUN, "--noise-multiplier", "4", "--conversion", "improved", *words]
    found = CliRunner().invoke(main, [*asked, "--json"])
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    m = GroupPrivacy(runs * dp_sgd(600, 6, 4, steps=9, sampling=sampling), group)
    assert document["expression"] == repr(m)
    known = m.epsilon("1e-5", digits=6, conversion="improved").epsilon
    assert document["epsilon"]["value"] == known.rounded()
    shown = CliRunner().invoke(main, [*asked, "--more", "--seconds", "1"]).output
    told = " ".join(re.sub("[│]", " ", shown).split())
    assert (f"up to {group} records" in told) == (group > 1)
    assert (f"a person has at most {group} of the records" in told) == (group > 1)
    assert ("the results of all of them are released" in told) == (runs > 1)


def test_what_shuffled_batches_cost_at_least_counts_the_runs_and_not_the_group():
    """N runs of E epochs are NE epochs; what one record costs, a group costs at least."""
    common = ["--n", "60", "--batch-size", "6", "--noise-multiplier", "2", "--delta", "1e-5"]

    def least(*words):
        asked = ["dpsgd", *common, "--sampling", "shuffled", "--json", *words]
        found = json.loads(CliRunner().invoke(main, asked).stdout)
        return found["at_least"]["value"]

    assert least("--epochs", "2", "--runs", "3") == least("--epochs", "6")
    assert least("--epochs", "2", "--group", "2") == least("--epochs", "2")


@pytest.mark.parametrize("sampling", ["poisson", "shuffled"])
@pytest.mark.parametrize("asked", [["--noise-multiplier", "4"], ["--epsilon", "2"]])
def test_which_of_two_numbers_to_report_is_said_once_beside_them(sampling, asked):
    """On the first screen of shuffled batches, which shows what they cost at least, and nowhere."""
    words = ["dpsgd", *SHORT_RUN, *asked, "--digits", "2", "--conversion", "improved"]

    def told(*more):
        shown = CliRunner().invoke(main, [*words, "--sampling", sampling, *more])
        assert shown.exit_code == 0, shown.output
        return " ".join(re.sub("[│┌┐└┘─]", " ", shown.stdout).split())

    for shown in (told(), told("--more")):
        assert shown.count("Report the ε of the first row") == (sampling == "shuffled")
        assert " to report " not in shown


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


def test_a_statement_says_how_many_models_were_trained():
    words = [*SHORT_RUN, "--noise-multiplier", "4", "--statement", "text", "--runs", "3"]
    words += ["--conversion", "improved"]
    told = CliRunner().invoke(main, ["dpsgd", *words, "--group", "2"]).stdout
    said = " ".join(told.split())
    assert said.startswith("3 models were trained by DP-SGD on 600 records, each for 9 steps.")
    assert "up to 2 records" in said


@pytest.mark.parametrize("option", ["--group", "--runs"])
@pytest.mark.parametrize("value", ["0", "-1", "2.5", "x"])
def test_a_group_and_runs_are_whole_numbers(option, value):
    words = [*SHORT_RUN, "--noise-multiplier", "4", option, value]
    refused = CliRunner().invoke(main, ["dpsgd", *words])
    assert refused.exit_code == 2
    assert f"{option[2:]}: found" in refused.output


@given(
    n=st.integers(1, 3000),
    batch=st.integers(1, 3000),
    epochs=st.none() | st.fractions(min_value="1/20", max_value=20, max_denominator=20),
    steps=st.integers(1, 3000),
    sampling=st.sampled_from(["poisson", "balls_and_bins", "shuffled"]),
)
@examples(60, 2000)
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
    said = roundings(n, batch, epochs, None if epochs else steps, sampling)
    down = [one for one in said if "down from" in one]
    assert bool(down) == (sampling == "balls_and_bins" and n % batch > 0)
    assert [f"{runs:,} " in one for one in said if one not in down] == [True] * (runs != exact)
    assert len(caught) == (sampling != "poisson" and epochs is not None and runs != exact)


def test_the_command_says_what_is_rounded():
    words = "dpsgd --n 600 --batch-size 7 --noise-multiplier 2 --epochs 2.5 --delta 1e-5"
    more = ["--sampling", "balls_and_bins", "--conversion", "improved", "--more"]
    ended = CliRunner(env={"COLUMNS": "200"}).invoke(main, [*words.split(), *more])
    assert ended.exit_code == 0
    assert "85 batches an epoch, down from 600/7, as fewer cost more; 3 epochs, up from 2.5" in (
        ended.stdout
    )
    assert ended.stderr == ""
    found = CliRunner().invoke(main, [*words.split(), *more, "--json"])
    assert len(json.loads(found.stdout)["rounded"]) == 2


def test_a_number_of_steps_that_is_left_open_is_told_how_to_be_written():
    line = ["calibrate", "--epsilon", "2", "--delta", "1e-5"]
    ended = CliRunner().invoke(main, [*line, "dp_sgd(60000, 256, 1.1, steps=T)"])
    [meant] = re.findall(r"write for example (.*\))$", ended.output, re.MULTILINE)
    assert CliRunner().invoke(main, [*line, meant]).exit_code == 0
    ended = CliRunner().invoke(main, [*line, "dp_sgd(60000, 256, 1.1, epochs=E)"])
    assert "E is read as e, the base of the logarithm" in ended.output
