"""Noisy iterations of which the last is told: linear maps, shifts by hand, walks between walls."""

import random
from fractions import Fraction

import numpy as np
import pytest

from symacct import (
    AssumptionError,
    Gaussian,
    Kind,
    NoisyDescent,
    NoisyPass,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    TreeAggregation,
)
from tests import independent
from tests.support import holds

MP = independent.context(160)
TINY = Fraction(1, 10**80)


def linear(contraction, pushes):
    """What x ← cx + push + noise has moved to, and the variance: the mean shift squared over it."""
    moved, variance = MP.mpf(0), MP.mpf(0)
    for push in pushes:
        moved, variance = contraction * moved + push, contraction**2 * variance + 1
    return moved**2 / variance


@pytest.mark.parametrize("seed", range(12))
def test_linear_maps_attain_it(seed):
    rng = random.Random(seed)
    steps, sigma = rng.choice([1, 2, 7, 50, 900]), Fraction(rng.randint(3, 40), 7)
    c = Fraction(rng.randint(1, 30), 30) if seed % 3 else Fraction(1)
    each, once = NoisyDescent(sigma, steps, c), NoisyPass(sigma, steps, c)
    ratio = independent.number(MP, c)
    for m, pushes in ((each, [1] * steps), (once, [1] + [0] * (steps - 1))):
        value = 3 * linear(ratio, pushes) / (2 * independent.number(MP, sigma) ** 2)
        if value > MP.mpf(10) ** -90:
            assert holds(m.rdp(3, digits=30), value, 30, trusted=80)
            assert m.claim.kind is Kind.EXACT or steps > 40


@pytest.mark.parametrize("seed", range(12))
def test_no_number_of_last_steps_does_better(seed):
    """Every number of steps tried; and the shifts that prove it are never negative."""
    rng = random.Random(seed)
    steps, diameter = rng.randint(1, 60), Fraction(rng.randint(0, 60), 6)
    c = Fraction(rng.randint(20, 30), 30)
    m = NoisyDescent(2, steps, c, diameter)
    assert holds(m.rdp(5, digits=30), independent.rdp(MP, m, 5), 30, trusted=100)
    for last in range(1, steps + 1):
        geometric = [c ** (last - t) for t in range(1, last + 1)]
        total = c**last * diameter + sum(c**j for j in range(last))
        scale, apart = total / sum(x**2 for x in geometric), diameter
        for x in geometric:
            apart = c * apart + 1 - scale * x
            assert apart >= 0
        assert apart == 0


def test_the_number_of_steps_next_above_is_tried_too():
    m = NoisyDescent(2, 20, 1, "23/6")
    assert m.sensitivity**2 == (Fraction(23, 6) + 4) ** 2 / 4


@pytest.mark.parametrize(("c", "diameter"), [("29/30", "inf"), ("99/100", 5), ("1/5", "1/7")])
def test_powers_that_are_rounded_are_rounded_to_the_safe_side(c, diameter):
    steps, ratio = 170, Fraction(c)
    apart = independent.INFINITY if diameter == "inf" else Fraction(diameter)
    truth = independent.moved_by_all(steps, ratio, apart)
    assert truth <= NoisyDescent(2, steps, c, diameter).sensitivity ** 2 <= truth * (1 + TINY)
    assert NoisyDescent(2, steps, c).claim.kind is Kind.UPPER
    once = independent.moved_by_one(steps, ratio)
    assert once <= NoisyPass(2, steps, c).sensitivity ** 2 <= once * (1 + TINY) + TINY


def walked(pushes, sigma, cells=400):
    """The law of a walk on [0, 1] with noise, stopped at the walls, from the middle, by cells."""
    x = (np.arange(cells) + 0.5) / cells
    law = (np.abs(x - 0.5) < 0.5 / cells * 2).astype(float)
    law /= law.sum()
    for push in pushes:
        apart = x[None, :] - np.clip(x + push, 0, 1)[:, None]
        kernel = np.exp(-(apart**2) / (2 * sigma**2))
        below = kernel.sum(axis=1) / (sigma * np.sqrt(2 * np.pi) * cells)
        kernel /= (sigma * np.sqrt(2 * np.pi)) * cells
        # What leaves is stopped at the wall that it is nearer to.
        side = (x > 0.5).astype(int)
        kernel[np.arange(cells), np.where(side, cells - 1, 0)] += np.maximum(0, 1 - below)
        law = law @ kernel
    return law


@pytest.mark.parametrize("steps", [1, 5, 40, 200])
def test_a_walk_between_walls_is_below_it(steps):
    """Pushed one way and the other, by 1/10 a step apart: the unit; noise of 4 of them."""
    unit = 0.1
    p, q = (walked([sign * unit / 2] * steps, 4 * unit) for sign in (1, -1))
    for alpha in (2, 6):
        truth = np.log(np.sum(p**alpha * q ** (1 - alpha))) / (alpha - 1)
        bound = float(NoisyDescent(4, steps, 1, 10).rdp(alpha).upper)
        assert truth <= bound
        assert steps == 1 or truth > bound / 40


def test_more_steps_cost_less_and_never_more_than_a_bound():
    values = [NoisyDescent(5, steps, 1, 10).rdp(2).upper for steps in (1, 9, 10, 40, 10**9)]
    assert values == sorted(values)
    assert values[-1] == values[-2]
    assert NoisyDescent(5, 10**9, "9/10").rdp(2).upper <= 2 * 19 / 50 * 1.0000001
    hidden = [NoisyPass(5, steps).rdp(2).upper for steps in (1, 2, 50)]
    assert hidden == sorted(hidden, reverse=True)
    assert NoisyPass(5, 1).rdp(2).upper == Gaussian(5).rdp(2).upper


def test_it_is_a_gaussian_mechanism():
    m = NoisyDescent(4, 9)
    same = Gaussian(4, 3)
    assert m.epsilon("1e-5", conversion="exact").epsilon.upper == (
        same.epsilon("1e-5", conversion="exact").epsilon.upper
    )
    sampled, other = (PoissonSubsample(one, "1/9").rdp(3) for one in (m, same))
    assert sampled.upper == other.upper
    assert NoisyDescent(4, 9, "1/3", "5/2").claim.kind is Kind.UPPER
    assert NoisyDescent(4, 9, "1/3").claim.kind is Kind.EXACT


def test_which_gaussians_are_one_query_fixed_beforehand():
    assert [cls.__name__ for cls in Gaussian.__subclasses__() if cls.is_one_query] == [
        "ScalarGaussian"
    ]


@pytest.mark.parametrize(
    "m", [NoisyDescent(2, 4), NoisyDescent(2, 9, 1, 9), NoisyPass(1, 4), TreeAggregation(2, 8)]
)
def test_in_a_sample_of_a_fixed_size_no_triangle_is_known_to_be_the_worst(m):
    node = SubsampleWithoutReplacement(m, "1/10")
    for by in ("TRIPLE-GAUSSIAN", "TRIPLE-GAUSSIAN-NEAR", "TRIPLE-GAUSSIAN-UPPER"):
        with pytest.raises(AssumptionError, match="one query, fixed beforehand"):
            node.rdp(3, by=by)
    assert node.claim.kind is Kind.UPPER
    same = SubsampleWithoutReplacement(Gaussian(m.sigma, m.sensitivity), "1/10")
    assert same.rdp(3).upper < node.rdp(3).lower
    if m.kind is Kind.EXACT:
        assert node.rdp(3, by="TRIPLE-GAUSSIAN-LOWER").upper <= same.rdp(3).upper


def test_numbers_far_out_are_bounded_too():
    assert NoisyDescent(5, 10, 1, "1e400").sensitivity == NoisyDescent(5, 10).sensitivity
    assert NoisyPass(5, 1, "1e-150").sensitivity == 1
    assert NoisyPass(5, 1, "1e-150").claim.kind is Kind.EXACT
    assert 0 < NoisyPass(5, 9, "1e-150").sensitivity < TINY
    assert NoisyDescent(5, 10**9, "1/2", "1e-400").sensitivity <= 1 + TINY
