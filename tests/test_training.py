"""DP-SGD in one line, and what a notebook shows of its answer."""

from fractions import Fraction

import pytest

from symacct import (
    AdjacencyError,
    DomainError,
    Gaussian,
    Laplace,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    dp_sgd,
)

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
        ({"epochs": 1, "sampling": "shuffle"}, "sampling: found 'shuffle', needed one of poisson"),
        ({"epochs": 1, "sampling": []}, "sampling: found"),
    ],
)
def test_what_is_no_training_is_refused(wrong, message):
    with pytest.raises(DomainError, match=message):
        dp_sgd(**{**MNIST, **wrong})
    with pytest.raises((AdjacencyError, DomainError), match="adjacency"):
        dp_sgd(**MNIST, epochs=1, adjacency="neighbours")


def test_the_sum_of_a_list_is_a_composition():
    assert sum([Gaussian(5), Laplace(2)]) is Gaussian(5) + Laplace(2)
    with pytest.raises(TypeError):
        1 + Gaussian(5)


def test_cards_show_the_numbers_on_the_safe_side():
    asked = dp_sgd(**MNIST, epochs=15).epsilon("1e-5")
    card = asked._repr_html_()
    assert asked.epsilon.rounded(6) in card
    assert Fraction(asked.epsilon.rounded(6)) >= Fraction(str(asked.epsilon.upper))
    assert "upper, by the improved conversion" in card
    assert "0.00001" in card or "1e-5" in card
    assert "PoissonSubsample(Gaussian(&#x27;11/10&#x27;)" in card
    value = Gaussian(5).rdp(8)
    assert "0.16" in value._repr_html_()
    assert "exact" in value._repr_html_()
