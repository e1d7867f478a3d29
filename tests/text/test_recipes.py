"""Functions that write an expression, in the text of one."""

import pytest

import symacct as sa
from symacct.kernel.errors import DomainError, LimitError, ParseError
from symacct.text import parse_open

STEP = sa.PoissonSubsample(sa.Gaussian(4), "1/10")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("dp_sgd(60000, 256, 1.1, epochs=15)", sa.dp_sgd(60_000, 256, 1.1, epochs=15)),
        (
            "2*dp_sgd(n=60000, batch_size=256, noise_multiplier=11/10, steps=9, "
            "sampling=balls-and-bins) + Laplace(2)",
            2 * sa.dp_sgd(60_000, 256, 1.1, steps=9, sampling="balls_and_bins") + sa.Laplace(2),
        ),
        (
            "dp_sgd(600, 6, 2, steps=9, adjacency=replace_one)",
            sa.dp_sgd(600, 6, 2, steps=9, adjacency="replace_one"),
        ),
        (
            "band_mf(10000, 7, 2, bands=2, steps=9, strategy=[1, 1/2], sampling=min_sep)",
            sa.band_mf(10_000, 7, 2, bands=2, steps=9, strategy=[1, "1/2"], sampling="min_sep"),
        ),
        (
            "truncated_poisson(Gaussian(4), 1/100, 1000, 30)",
            sa.truncated_poisson(sa.Gaussian(4), "1/100", 1000, 30),
        ),
        (
            "sample_with_replacement(Gaussian(4), 1000, 3)",
            sa.sample_with_replacement(sa.Gaussian(4), 1000, 3),
        ),
        (
            "sampled_descent(PoissonSubsample(Gaussian(4), 1/10), 1000, 1)",
            sa.sampled_descent(STEP, 1000, 1),
        ),
        (
            "2*thresholded(DiscreteLaplace(2), 9, keys=3, strict=False)",
            2 * sa.thresholded(sa.DiscreteLaplace(2), 9, 3, strict=False),
        ),
    ],
)
def test_a_recipe_is_read_as_what_it_writes(text, node):
    assert sa.parse(text) is node
    assert sa.parse(repr(node)) is node


def test_a_recipe_may_leave_a_parameter_open():
    m = parse_open("dp_sgd(60000, 256, sigma, epochs=15)")
    assert m.subs({"sigma": "1.1"}) is sa.dp_sgd(60_000, 256, 1.1, epochs=15)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dp_sgd(60000, 256, 1.1)", "epochs"),
        (
            "dp_sgd(60000, 256, 1.1, epoch=15)",
            r"found .*epoch=…\), needed dp_sgd\(n, ",
        ),
        ("dp_sgd(60000, 256, 1.1, epochs=15, sampling=poison)", "did you mean poisson"),
        ("dp_sdg(60000, 256, 1.1, epochs=15)", "did you mean dp_sgd"),
        ("dp_sgd", r"dp_sgd\(…\)"),
    ],
)
def test_a_recipe_that_cannot_be_read_is_an_error_that_says_why(text, told):
    with pytest.raises((ParseError, DomainError), match=told):
        sa.parse(text)


def test_a_chance_of_too_many_digits_is_refused_before_it_is_written():
    for gamma in ("1e-300", "1e-9999", "1/1000"):
        with pytest.raises(LimitError, match="chance of a cut batch"):
            sa.truncated_poisson(sa.Gaussian(4), gamma, 10**7, 10**6)
