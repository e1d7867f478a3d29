"""Descent on samples of which the last iterate is told: iterates on a grid, all ends, bad input."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from symacct import (
    DomainError,
    Gaussian,
    Kind,
    NoisyPass,
    OrderError,
    PoissonSubsample,
    ScalarGaussian,
    SubsampleWithoutReplacement,
    sampled_descent,
)
from tests.thinning import some


def iterates(steps, rate, sigma, diameter, contraction, moved):
    """The law of the last iterate on a line: cx, or cx + moved, of x brought into [0, diameter]."""
    x = np.linspace(-10 * sigma, diameter + 10 * sigma, 700)
    width = x[1] - x[0]

    def kernel(to):
        return np.exp(-((x[:, None] - to) ** 2) / (2 * sigma**2)) / math.sqrt(2 * math.pi) / sigma

    still = contraction * np.clip(x, 0, diameter)[None, :]
    step = (1 - rate) * kernel(still) + rate * kernel(still + moved)
    law = kernel(np.zeros((1, 1)))[:, 0] * (1 - rate) + rate * kernel(np.full((1, 1), moved))[:, 0]
    for _ in range(steps - 1):
        law = step @ law * width
    return law, width


def apart(first, second, width, alpha):
    return math.log(np.sum(first**alpha * second ** (1 - alpha)) * width) / (alpha - 1)


@pytest.mark.parametrize("seed", range(some(5, 12)))
def test_no_iterates_on_a_line_exceed_it(seed):
    rng = random.Random(seed)
    steps, rate = rng.choice([2, 9, 40]), Fraction(rng.randrange(1, 10), 10)
    sigma, diameter = Fraction(rng.randrange(4, 16), 4), Fraction(rng.randrange(1, 12), 2)
    factor, alpha = rng.choice([Fraction(1, 2), Fraction(9, 10), 1]), rng.choice([2, 3, 6])
    given = (steps, float(rate), float(sigma), float(diameter), float(factor))
    (without, width), (with_one, _), (other, _) = (iterates(*given, x) for x in (0, 1, -1))
    for relation, pair in (("add_remove", (with_one, without)), ("replace_one", (with_one, other))):
        step = PoissonSubsample(Gaussian(sigma), rate, relation)
        bound = sampled_descent(step, steps, diameter, factor, alpha)
        for first, second in (pair, pair[::-1]):
            truth = apart(first, second, width, alpha)
            assert truth <= float(bound.rdp(alpha, digits=10)) * (1 + 1e-9)
    one = sampled_descent(PoissonSubsample(Gaussian(sigma), rate), 1, diameter, factor, alpha)
    pair = [iterates(1, *given[1:], x)[0] for x in (1, 0)]
    assert float(one.rdp(alpha, digits=10)) == pytest.approx(apart(*pair, width, alpha), rel=1e-6)


@pytest.mark.parametrize("factor", [1, Fraction(9, 10)])
@pytest.mark.parametrize("alpha", [2, Fraction(9, 2), 30])
def test_it_is_near_the_best_of_all_ends(factor, alpha):
    """m ε₁(α) + α(cD)²c^{2m−2}/(2σ₂² Σc^{2j}) over m and the three splits, in plain numbers."""
    sigma, rate, diameter, steps = 4, Fraction(1, 20), 3, 300
    found = sampled_descent(
        PoissonSubsample(Gaussian(sigma), rate), steps, diameter, factor, alpha
    ).rdp(alpha, digits=8)
    every = []
    for a, b, c in ((21, 20, 29), (4, 3, 5), (12, 5, 13)):
        part = PoissonSubsample(Gaussian(Fraction(a, c) * sigma), rate)
        price = float(part.rdp(alpha, digits=8))
        f, squares = float(factor), 0.0
        for m in range(1, steps + 1):
            squares += f ** (2 * m - 2)
            moved = (f**m * diameter) ** 2 / squares / (sigma * b / c) ** 2
            every.append(m * price + float(alpha) * moved / 2)
    assert float(found) == pytest.approx(min(every), rel=1e-6)


def test_it_ends_to_grow():
    step = PoissonSubsample(Gaussian(5), "1/100")
    less, more = (sampled_descent(step, steps, 1) for steps in (10**5, 10**9))
    assert less.mechanism is more.mechanism
    assert sampled_descent(step, 20, 1).mechanism is 20 * step
    assert sampled_descent(step, 20, 0).mechanism is step


def test_samples_and_claims():
    for noise in (Gaussian(5), ScalarGaussian(5)):
        m = sampled_descent(SubsampleWithoutReplacement(noise, "1/100"), 10**5, 1, "9/10")
        sampled, told = sorted(m.mechanism.terms, key=lambda part: isinstance(part, NoisyPass))
        assert isinstance(told, NoisyPass)
        assert type(sampled.mechanism) is type(noise)
        assert (str(m.claim.adjacency), m.claim.kind) == ("replace_one", Kind.UPPER)


STEP = PoissonSubsample(Gaussian(5), "1/100")


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        (lambda: sampled_descent(Gaussian(1), 9, 1), DomainError, "needed samples of Gaussian"),
        (
            lambda: sampled_descent(PoissonSubsample(NoisyPass(1, 2), "1/9"), 9, 1),
            DomainError,
            "of",
        ),
        (lambda: sampled_descent(STEP, 0, 1), DomainError, "steps: found 0"),
        (lambda: sampled_descent(STEP, 10**10, 1), DomainError, "needed a whole number <="),
        (lambda: sampled_descent(STEP, 9, -1), DomainError, "diameter: found -1"),
        (lambda: sampled_descent(STEP, 9, 1, 2), DomainError, "contraction: found 2"),
        (lambda: sampled_descent(STEP, 9, 1, 1, 1), OrderError, "order: found 1"),
        (lambda: sampled_descent(STEP, 9, 1, 1, "inf"), OrderError, "needed 1 < order"),
    ],
)
def test_bad_input_is_one_typed_error(asked, error, said):
    with pytest.raises(error, match=said):
        asked()
