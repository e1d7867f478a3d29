"""What a notebook completes: the parameters and the questions, and a name that is like one."""

import pytest
import sympy

import symacct
from symacct import DistributionPair, Gaussian, PoissonSubsample, RandomizedResponse

QUESTIONS = {
    "adjacency", "cite", "code", "delta", "epsilon", "explain", "formula", "graph", "latex",
    "lower_epsilon", "paper", "plot", "rdp", "report", "statement", "subs", "to_json", "tradeoff",
    "zcdp",
}  # fmt: skip


@pytest.mark.parametrize(
    ("node", "own"),
    [
        (Gaussian(sympy.Symbol("s")), {"sigma", "sensitivity"}),
        (1000 * PoissonSubsample(Gaussian(2), "1/100"), {"terms", "runs"}),
        (PoissonSubsample(Gaussian(2), "1/100"), {"mechanism", "gamma"}),
        (RandomizedResponse("3/4"), {"of_epsilon"}),
        (DistributionPair(["1/2", "1/2"], ["1/4", "3/4"], "replace_one"), {"divergence"}),
    ],
    ids=lambda x: type(x).__name__,
)
def test_an_expression_completes_its_parameters_and_its_questions(node, own):
    shown = dir(node)
    assert own | QUESTIONS <= set(shown)
    assert all(hasattr(node, name) for name in shown if not name.startswith("_"))


@pytest.mark.parametrize(
    ("name", "meant"), [("Gausian", "Gaussian"), ("plott", "plot"), ("PoissonSubsampel", "Poisson")]
)
def test_a_misspelt_name_of_the_package_is_answered_with_the_name_that_is_meant(name, meant):
    with pytest.raises(AttributeError, match=f"did you mean {meant}"):
        getattr(symacct, name)


def test_a_name_that_is_like_none_and_a_private_one_have_no_remedy():
    for name in ("qqqqqq", "_Gausian", "__wrapped__"):
        with pytest.raises(AttributeError) as raised:
            getattr(symacct, name)
        assert "did you mean" not in str(raised.value)
