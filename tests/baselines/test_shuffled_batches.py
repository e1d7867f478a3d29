"""Shuffled batches: the truth of one or two steps, plain events, the authors' program, the card."""

import json
import math

import mpmath
import numpy as np
import pytest
from click.testing import CliRunner

from symacct import AdjacencyError, DomainError, Gaussian, Kind, dp_sgd
from symacct.baselines import gaussian_delta, shuffled_batches, shuffled_batches_epsilon
from symacct.cli import main
from tests.thinning import covering

OTHER = {"add_remove": 1, "replace_one": 0}


def above(c, move, sigma, steps):
    """P[some step > c], in mpmath."""
    below = mpmath.ncdf((c - move) / sigma) * mpmath.ncdf(c / sigma) ** (steps - 1)
    return 1 - below


@pytest.mark.parametrize("relation", OTHER)
@pytest.mark.parametrize(
    ("eps", "sigma", "steps"), [(4, 0.75, 100), (1, 1, 1000), (0, 2, 7), (2, 0.5, 10**6)]
)
def test_one_epoch_is_its_best_event(eps, sigma, steps, relation):
    found = shuffled_batches(eps, sigma, steps, 1, relation, digits=12)
    with mpmath.workdps(40):
        tried = [
            above(c, 2, sigma, steps) - mpmath.exp(eps) * above(c, OTHER[relation], sigma, steps)
            for c in (mpmath.mpf(i) / 50 * sigma for i in range(-100, 600))
        ]
    assert 0.999 * found.lower < max(tried) <= found.lower * 1.0001
    assert found.claim.kind is Kind.LOWER
    assert float(found) <= found.lower


@pytest.mark.parametrize("relation", OTHER)
def test_of_one_step_it_is_gaussian_noise(relation):
    """One batch of all records: the largest step is the step, and each threshold a best test."""
    size = 2 - OTHER[relation]
    for eps in (0, "5/2"):
        truth = gaussian_delta(eps, "3/2", size).delta
        found = shuffled_batches(eps, "3/2", 1, 1, relation)
        assert 0 <= truth.upper - found.lower < 1e-9 * truth.upper
        truth = gaussian_delta(eps, "3/2", size, 4).delta
        found = shuffled_batches(eps, "3/2", 1, 4, relation)
        assert 0.97 * truth.lower < found.lower <= truth.upper


@pytest.mark.parametrize("relation", OTHER)
@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_it_is_below_the_truth_of_two_steps(relation, sigma):
    """The hockey stick of both mixtures, by the trapezoid rule in the plane."""
    h = 0.02 * sigma
    axis = np.arange(-7 * sigma, 2 + 7 * sigma, h)
    one = {m: np.exp(-((axis - m) ** 2) / (2 * sigma**2)) for m in (0, 1, 2)}
    p, q = (
        (np.outer(one[m], one[0]) + np.outer(one[0], one[m])) / (4 * math.pi * sigma**2)
        for m in (2, OTHER[relation])
    )
    for eps in (0.5, 2):
        truth = np.maximum(p - math.exp(eps) * q, 0).sum() * h**2
        found = shuffled_batches(eps, sigma, 2, 1, relation)
        assert 0.3 * truth < found.lower < truth * 1.001


def fine(eps, sigma, steps, epochs, other):
    """As the authors' program: 4,000 slices, their losses on a grid, convolved in float64."""
    slices = sigma * np.linspace(-4, 9, 4000)
    normal = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2)
    below = (
        normal((slices - m) / sigma) * normal(slices / sigma) ** (steps - 1) for m in (2, other)
    )
    p, q = (np.diff(one, prepend=0, append=1) for one in below)
    p, q = ((one[(p > 1e-15) & (q > 1e-15)]) for one in (p, q))
    h = 1e-3
    moved = np.floor(np.log(p / q) / h).astype(int)
    size = 1 << math.ceil(math.log2((moved.max() - moved.min()) * epochs + 2))
    law = np.fft.irfft(np.fft.rfft(np.bincount(moved - moved.min(), p, size)) ** epochs, size)
    losses = (np.arange(size) + moved.min() * epochs) * h
    return (law * np.maximum(-np.expm1(eps - losses), 0)).sum()


@pytest.mark.parametrize(
    ("eps", "sigma", "steps", "epochs", "relation"),
    [
        (4, 0.75, 100, 5, "add_remove"),
        (8, 0.75, 100, 20, "add_remove"),
        (2, 1.0, 1000, 4, "replace_one"),
    ],
)
def test_several_epochs_as_many_fine_slices_have_it(eps, sigma, steps, epochs, relation):
    found = shuffled_batches(eps, sigma, steps, epochs, relation, digits=4)
    known = fine(eps, sigma, steps, epochs, OTHER[relation])
    assert 0.93 * known < found.lower < 1.005 * known


@pytest.mark.parametrize("relation", OTHER)
def test_more_epochs_say_more_and_both_ways_agree(relation):
    told = ("4/5", 100)
    values = [shuffled_batches(3, *told, epochs, relation).lower for epochs in (1, 3)]
    assert values == sorted(values)
    for epochs in (1, 4):
        eps = shuffled_batches_epsilon("1e-4", *told, epochs, relation)
        assert eps.claim.kind is Kind.LOWER
        back = shuffled_batches(str(eps.lower), *told, epochs, relation)
        assert 0.7e-4 < back.lower < 1.4e-4


@pytest.mark.parametrize("relation", OTHER)
@pytest.mark.parametrize("told", [{"steps": 21}, {"epochs": "5/2"}])
def test_what_is_answered_is_not_below_it(relation, told):
    run = {"n": 95, "batch_size": 10, "noise_multiplier": 2, "sampling": "shuffled", **told}
    m = dp_sgd(**run, adjacency=relation)
    size = {"replace_one": 2, "add_remove": math.sqrt(5)}[relation]
    answer = m.epsilon("1e-5", conversion="exact")
    assert answer.kind is m.claim.kind is Kind.UPPER
    assert str(m.claim.adjacency) == relation
    assert m.lower_epsilon("1e-5").upper == 0
    assert float(answer.epsilon.upper) == pytest.approx(
        float(Gaussian(f"{2 / math.sqrt(3)}", f"{size}").epsilon("1e-5", 8, "exact").epsilon.upper)
    )
    for epochs in (1, 3):
        least = shuffled_batches_epsilon("1e-5", 2, 10, epochs, relation)
        assert least.lower < answer.epsilon.lower


def test_the_command_gives_the_least_epsilon_beside_what_is_proved():
    words = ["dpsgd", "--n", "1000", "--batch-size", "10", "--noise-multiplier", "0.8",
             "--delta", "1e-5", "--sampling", "shuffled", "--adjacency", "add_remove"]  # fmt: skip
    least = shuffled_batches_epsilon("1e-5", "0.8", 100, 2, digits=6)
    for told in (["--epochs", "2"], ["--steps", "299"]):
        document = json.loads(CliRunner().invoke(main, [*words, *told, "--json"]).output)
        assert document["at_least"]["value"] == least.rounded()
        assert document["kind"] == "upper"
    document = json.loads(CliRunner().invoke(main, [*words, "--steps", "99", "--json"]).output)
    assert "at_least" not in document


@covering()
@pytest.mark.parametrize("sampling", ["shuffled", "without_replacement", "poisson"])
@pytest.mark.parametrize("told", [None, "replace-one", "add_remove"])
def test_a_relation_that_nobody_asked_for_is_explained_in_the_headline(sampling, told):
    words = ["dpsgd", "--n", "1000", "--batch-size", "10", "--noise-multiplier", "2", "--steps",
             "100", "--delta", "1e-5", "--sampling", sampling, "--json"]  # fmt: skip
    said = CliRunner().invoke(main, [*words, *(["--adjacency", told] if told else [])]).output
    document = json.loads(said)
    silent = told is not None or sampling == "poisson"
    assert ("relation_why" in document) == (not silent)


@pytest.mark.parametrize(
    ("baseline", "arguments", "error"),
    [
        (shuffled_batches, (1, "1/100", 10), DomainError),
        (shuffled_batches, (1, 10**7, 10), DomainError),
        (shuffled_batches, (1, 1, 0), DomainError),
        (shuffled_batches, (1, 1, 10**10), DomainError),
        (shuffled_batches, (1, 1, 10, 10**6), DomainError),
        (shuffled_batches, (1, 1, 10, 1, "either"), AdjacencyError),
        (shuffled_batches_epsilon, (0, 1, 10), DomainError),
        (shuffled_batches_epsilon, (1, 1, 10), DomainError),
    ],
)
def test_bad_input(baseline, arguments, error):
    with pytest.raises(error):
        baseline(*arguments)
