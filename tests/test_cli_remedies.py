"""An answer of the command says what to do next in the words of what was typed."""

import re

import pytest
from click.testing import CliRunner

from symacct import ArgumentError, Gaussian, theorems
from symacct.accountant.best import _as_bound, says_least
from symacct.cli import main
from symacct.cli.headline import _beside


def said(*words):
    """All that the command prints, on one line."""
    ended = CliRunner().invoke(main, list(words), terminal_width=200)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return " ".join(re.sub("[│┃]", " ", ended.output).split())


ONLY_CURVES = [
    "ZCDP(1/10)",
    "TCDP(1/50, 10)",
    "3*ZCDP(1/10)",
    "Curve(alpha/50, kind='upper', adjacency='either')",
]


@pytest.mark.parametrize("expr", ONLY_CURVES)
def test_of_a_curve_alone_no_conversion_is_advised_that_was_taken(expr):
    name = re.search(r"[A-Z]\w+", expr)[0]
    known = (
        f"not known: {name} fixes only a bound on the Rényi curve; "
        "the number to report is a bound that follows from it"
    )
    assert known in said("epsilon", expr, "--delta", "1e-10", "--more")
    asked = said("epsilon", expr, "--delta", "1e-10", "--conversion", "exact")
    assert asked.endswith("use --conversion improved for the bound from the curve")


@pytest.mark.parametrize(
    ("expr", "least"),
    [
        ("ApproximateDP(1, 1e-5)", "1e-5"),
        ("Gaussian(5) + ApproximateDP(1, 1e-5)", "1e-5"),
        ("PoissonSubsample(ApproximateDP(1, 1e-5), 1/10)", "1e-6"),
        ("2000*ApproximateDP(1, 1e-5)", "0.0198015"),  # 1 - (1 - 1e-5)^2000 = 0.019801424…
    ],
)
def test_the_least_delta_of_a_mechanism_is_said_where_no_order_gives_any(expr, least):
    needed = f"delta: found 1e-10, needed at least {least}, the probability of outcomes that only"
    assert needed in said("epsilon", expr, "--delta", "1e-10")


STEP = "PoissonSubsample(Gaussian(2), 1/10)"


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (
            ["plot", STEP, "--over", "gamma=0.1:1:5"],
            "; write gamma in the place of a number in the expression, as in "
            "PoissonSubsample(Gaussian(2), gamma); add --over delta=1e-5",
        ),
        (
            ["plot", STEP, "--over", "sigma=1,2", "--delta", "1e-5"],
            "; write sigma in the place of a number in the expression, as in Gaussian(sigma)",
        ),
        (
            ["sweep", STEP, "--over", "sigma=1,2"],
            "; write sigma in the place of a number in the expression, as in Gaussian(sigma); "
            "add --over delta=1e-5",
        ),
        (["sweep", "Gaussian(sigma)", "--over", "sigma=1,2"], "; add --over delta=1e-5"),
        (
            ["sweep", "Laplace(3)", "--over", "sigma=1", "--over", "delta=1", "--over", "alpha=2"],
            "; leave out alpha, which is for another question; write sigma in the place of a "
            "number in the expression",
        ),
    ],
)
def test_values_of_what_is_no_parameter_are_told_where_its_name_goes(words, remedy):
    assert said(*words).endswith(remedy)


def test_a_run_whose_digits_took_too_long_says_once_what_it_costs_at_least():
    """Few digits are exact here and all of them take long: nothing is said of a second search."""
    guarantee = Gaussian(5).epsilon("1e-5", digits=6)
    few = _as_bound(guarantee, 6)
    assert says_least(few)
    assert not says_least(guarantee)
    assert "no ε below 0.725 is true" in few.note
    assert _beside(few) == []


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (
            ["calibrate", "k*ZCDP(0.1)", "--epsilon", "2", "--delta", "1e-10"],
            "k: found that already k = 1 has ε = 2.88183, needed at most the target ε = 2; "
            "choose a larger one",
        ),
        (["rdp", "Laplace(eps=1)", "--alpha", "2"], "; b is the sensitivity over ε"),
        (["rdp", "DiscreteLaplace(eps=1)", "--alpha", "2"], "; b is the sensitivity over ε"),
        (
            ["rdp", "DiscreteGaussian(sigma2=27)", "--alpha", "2"],
            "; sigma is the square root of sigma2, as in sqrt(27) for 27",
        ),
        (
            ["rdp", "RandomizedResponse(3/4, 4)", "--alpha", "2"],
            "needed RandomizedResponse(p) or RandomizedResponse.of_epsilon(epsilon, k=2); "
            "answers of other probabilities are FiniteMechanism",
        ),
        (["zcdp", "DiscreteGaussian(5)"], "write symacct epsilon 'ZCDP(RHO)' --delta D"),
        (["gdp", "Gaussian(5)"], "; the μ of Gaussian DP is printed by symacct risk"),
    ],
)
def test_what_was_meant_is_told(words, remedy):
    assert said(*words).endswith(remedy)


def test_a_source_is_named_once():
    shown = said("epsilon", "Skellam(100) + 5*DiscreteLaplace(b=3)", "--delta", "1e-6")
    tables = shown.partition("by Rényi orders, for comparison")
    for table in (tables[0], tables[2]):
        assert table.count("SYMACCT, docs/proofs.md, section 21") <= 1


def test_the_reason_of_a_risk_that_is_not_known_has_one_label():
    shown = said("risk", "ZCDP(2.56)")
    assert "regret of that μ: found ZCDP('64/25'), of which only a bound on the Rényi" in shown
    assert "μ of GDP, all tests: found ZCDP('64/25'), needed Gaussian noise" in shown


def test_one_theorem_is_asked_for_by_its_name():
    with pytest.raises(ArgumentError, match=r"; one of them is symacct.theorem\(name\)"):
        theorems("MTZ19-EXACT")
