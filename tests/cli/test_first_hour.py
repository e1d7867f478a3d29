"""What somebody who is new types first: names that agree, near misses, numbers as they are."""

import json
import re
from fractions import Fraction

import mpmath
import pytest
import sympy
from click.testing import CliRunner

import symacct
from symacct import (
    ApproximateDP,
    DomainError,
    FiniteMechanism,
    Gaussian,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    compare,
    dp_sgd,
    risk,
    theorems,
)
from symacct.cli import main
from symacct.theory import catalogue


def run(*words):
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, list(words))


@pytest.mark.parametrize("words", ["poisson gaussian", "shuffled lower", "gaussian POISSON"])
def test_the_rows_of_several_words_have_each_of_them(words):
    """In one argument or in several, in any order, and in other forms of the words."""
    found = json.loads(run("theorems", words, "--json").output)
    assert found == json.loads(run("theorems", *words.split(), "--json").output)
    own = catalogue.rows()[0].as_dict()  # a row that is shown in full says more
    texts = {json.dumps({k: row[k] for k in own}, ensure_ascii=False).lower() for row in found}
    every = [json.dumps(row.as_dict(), ensure_ascii=False).lower() for row in catalogue.rows()]
    wanted = words.lower().split()
    assert len(texts) > 0
    assert texts >= {text for text in every if all(word in text for word in wanted)}
    assert "poisson subsampling" not in " ".join(every)
    assert len(json.loads(run("theorems", "poisson subsampling", "--json").output)) > 1


@pytest.mark.parametrize("verb", ["rdp", "compare"])
def test_several_orders_are_given_in_one_option_or_in_several(verb):
    sampled = "PoissonSubsample(Gaussian(5), 1/1000)"
    at_once = run(verb, sampled, "--alpha", "8,16", "--json")
    apart = run(verb, sampled, "--alpha", "8", "--alpha", "16", "--json")
    assert at_once.exit_code == 0
    assert json.loads(at_once.output) == json.loads(apart.output)


def test_a_target_is_called_epsilon_in_every_verb():
    names = [set(option.opts) for option in main.get_command(None, "dpsgd").params]
    assert {"--epsilon", "--target-epsilon"} in names


def test_a_run_takes_its_numbers_in_their_order():
    named = dp_sgd(n=60_000, batch_size=256, noise_multiplier="1.1", epochs=15)
    assert dp_sgd(60_000, 256, 1.1, 15) is dp_sgd(60_000, 256, 1.1, epochs=15) is named


def test_mechanisms_are_compared_side_by_side():
    answer = run("compare", "Gaussian(3)", "Laplace(2)", "--delta", "1e-5")
    for node in (Gaussian(3), Laplace(2)):
        true = node.epsilon("1e-5", 6, "exact").epsilon.rounded()
        assert any(repr(node) in line and true in line for line in answer.output.splitlines())
    rows = json.loads(run("compare", "Gaussian(3)", "Laplace(2)", "--alpha", "2", "--json").output)
    assert [row["expression"] for row in rows] == ["Gaussian(3)", "Laplace(2)"]
    assert Fraction(rows[0]["values"][0]["upper"]) >= Fraction(1, 9)


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [1, "1/3"])
def test_k_answers_by_epsilon_have_the_divergences_of_their_laws(k, epsilon):
    node = RandomizedResponse.of_epsilon(epsilon, k)
    mp = mpmath.mp.clone()
    mp.dps = 30
    odds = mp.exp(mp.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
    p, q = odds / (odds + k - 1), 1 / (odds + k - 1)
    for alpha in (2, Fraction(7, 2), 9):
        a = mp.mpf(alpha.numerator) / alpha.denominator
        moment = p**a * q ** (1 - a) + q**a * p ** (1 - a) + (k - 2) * q
        truth = mp.log(moment) / (a - 1)
        assert abs(node.rdp(alpha, 20).upper / truth - 1) < 1e-18
    y = odds / 2
    delta = (p - q * mp.sqrt(y)) if mp.log(y) > 0 else None
    if delta is not None:  # only the true answer is likelier than √y times
        found = node.delta(str(mp.log(y) / 2), 10, "exact").delta
        assert abs(found.upper / delta - 1) < 1e-8
    assert node.epsilon(0).epsilon.exactly == Fraction(epsilon)


def test_two_answers_of_rational_odds_agree_with_all_the_laws():
    three = FiniteMechanism.randomized_response(5, 3).rdp(4, 20)
    node = RandomizedResponse.of_epsilon(symacct.parse("PureDP(log(3))").fields()["epsilon"], 5)
    assert abs(node.rdp(4, 20).upper / three.upper - 1) < 1e-18
    for wrong in ({"k": 1}, {"k": "3/2"}, {"epsilon": -1}):
        with pytest.raises(DomainError):
            RandomizedResponse.of_epsilon(**{"epsilon": 1, "k": 2, **wrong})


def test_a_number_that_is_a_fraction_is_printed_as_it_is():
    assert str(PureDP("1/10").epsilon(0).epsilon) == "0.1"
    assert str(Laplace(50).epsilon(0, conversion="exact").epsilon) == "0.02"
    assert str(PureDP("1/3").epsilon(0, digits=4).epsilon) == "0.3334"  # on the safe side
    (row,) = compare(Gaussian(5), [1])
    assert row.values[0].rounded(6) == "0.02"
    assert row.ratios[0].rounded(5) == "1"
    shown = run("epsilon", "50*Laplace(50)", "--delta", "0", "--more").output
    assert "ε = 1 at δ = 0  (exactly)" in shown
    assert "│ ε          │ 1  (the same)" in shown.partition("by Rényi orders, for comparison")[2]
    assert "0.333334 at δ = 0  (rounded up)" in run("epsilon", "PureDP(1/3)", "--delta", "0").output
    assert float(Laplace(50).epsilon(0).epsilon) >= Fraction(1, 50)


@pytest.mark.parametrize(
    ("m", "mu"),
    [
        (Gaussian(5), "1/5"),
        (Gaussian("1/3", sympy.sqrt(5)) * 5, "15"),
        (9 * Gaussian(5) + 16 * Gaussian(5, 2) + 27 * Gaussian("10"), None),
        (16 * Gaussian(5) + Gaussian("5/3"), "1"),
        (2 * Gaussian(5), None),
        (PoissonSubsample(Gaussian(5), "1/9"), None),  # it is 1/5, but is not summed here
    ],
)
def test_the_mu_of_gaussian_noise_is_printed_as_it_is_where_it_is_rational(m, mu):
    found = m.gdp(6)
    assert found.exactly == (None if mu is None else Fraction(mu))
    if mu is not None:
        assert Fraction(found.rounded()) == Fraction(mu)


def test_the_epsilon_that_a_mechanism_is_stated_to_have_is_printed_as_it_is():
    m = ApproximateDP("1/3", "1/10")
    assert m.epsilon("1/10", conversion="exact").epsilon.exactly == Fraction(1, 3)
    above = m.epsilon("1/9", conversion="exact").epsilon
    assert above.exactly is None
    assert above < Fraction(1, 3)
    shown = run("epsilon", "ApproximateDP(1, 1/10)", "--delta", "0.1").output
    assert "ε = 1 at δ = 0.1  (exactly)" in shown


def test_what_is_near_a_fraction_is_not_taken_for_it():
    # The best guess against Gaussian noise is right a little more often than 9 times in 10.
    assert Fraction(risk(Gaussian(5)).bayes_success("1/10").rounded()) > Fraction(9, 10)
    value = Gaussian(5).rdp(1)
    assert value.known_to_be(Fraction(1, 49)) is value
    assert value.known_to_be(None) is value
    assert value.known_to_be(Fraction(1, 50)).rounded(3) == "0.02"


#: A word that one searches by, and a theorem that has to be among the first.
SEARCHED = {
    "amplification": "ZW19-T8", "subsampling": "ZW19-T8", "composition": "MIR17-P1",
    "gaussian": "TRIPLE-GAUSSIAN", "tuning": "PS22-T2", "conversion": "conversion:classic",
    "shuffling": "symacct.baselines.shuffled", "poisson subsampling": "MTZ19-EXACT",
}  # fmt: skip


@pytest.mark.parametrize(("word", "code"), SEARCHED.items())
def test_an_ordinary_word_finds_theorems_and_the_best_first(word, code):
    found = json.loads(run("theorems", *word.split(), "--json").output)
    assert code in [row["call"] for row in found[:8]]


def test_the_index_names_every_paper_and_every_theorem_in_a_line():
    shown = run("theorems").output
    assert len(shown.splitlines()) < 250
    for theorem_listed in theorems():
        assert re.search(rf"│ {re.escape(theorem_listed.name)} ", shown)
    for row in catalogue.rows():
        assert row.paper in shown
    assert "symacct theorems CODE" in shown
    assert len(json.loads(run("theorems", "--json").output)) == len(catalogue.rows())
