"""What somebody who is new types first: names that agree, near misses, numbers as they are."""

import json
from fractions import Fraction

import mpmath
import pytest
from click.testing import CliRunner

import symacct
from symacct import (
    DomainError,
    FiniteMechanism,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    compare,
    dp_sgd,
    theorem,
    theorems,
)
from symacct.cli import main
from symacct.theory import catalogue


def run(*words):
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, list(words))


def test_a_theorem_is_had_by_its_name_and_a_near_miss_is_told():
    assert theorem("ZW19-T8") is next(one for one in theorems() if one.name == "ZW19-T8")
    with pytest.raises(DomainError, match="theorem: found 'ZW19-T88'; did you mean ZW19-T8"):
        theorem("ZW19-T88")
    with pytest.raises(DomainError, match="theorem: found 5"):
        theorem(5)
    assert len(repr(theorems()).splitlines()) == len(theorems())


def test_the_table_of_theorems_is_asked_for_a_code_or_a_word():
    (row,) = json.loads(run("theorems", "zw19-t8", "--json").output)
    assert row["call"] == "ZW19-T8"
    about = json.loads(run("theorems", "Laplace", "--json").output)
    assert 0 < len(about) < len(catalogue.rows())
    assert all("laplace" in json.dumps(row).lower() for row in about)
    assert "did you mean ZW19-T8" in run("theorems", "ZW19-T88").stderr
    assert "needed a code or a word" in run("theorems", "xyzzy").stderr


def test_a_verb_that_is_none_has_one_that_is_like_it():
    wrong = run("epsilonn", "Gaussian(5)")
    assert wrong.exit_code == 2
    assert "No such command 'epsilonn'; did you mean epsilon?" in wrong.stderr


def test_a_target_is_called_epsilon_in_every_verb():
    words = ["dpsgd", "--n", "1000", "--batch-size", "10", "--steps", "9", "--delta", "1e-5"]
    documents = [
        json.loads(run(*words, name, "1", "--digits", "2", "--json").output)
        for name in ("--epsilon", "--target-epsilon")
    ]
    assert documents[0] == documents[1]


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
    shown = run("epsilon", "50*Laplace(50)", "--delta", "0").output
    assert "ε = 1 at δ = 0  (exactly)" in shown
    assert "by Rényi orders │ 1  (the same)" in shown
    assert float(Laplace(50).epsilon(0).epsilon) >= Fraction(1, 50)


def test_what_is_near_a_fraction_is_not_taken_for_it():
    value = Gaussian(5).rdp(1)
    assert value.known_to_be(Fraction(1, 49)) is value
    assert value.known_to_be(None) is value
    assert value.known_to_be(Fraction(1, 50)).rounded(3) == "0.02"
