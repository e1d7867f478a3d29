"""Each record in one of T steps at random: all allocations counted, quadrature, the two ends."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from symacct import (
    DomainError,
    Gaussian,
    Kind,
    OrderError,
    PoissonSubsample,
    PrecisionError,
)
from symacct.baselines import allocation_rdp, gaussian_epsilon, random_allocation
from symacct.numerics.lognormal.moments import LognormalMoments
from symacct.numerics.lognormal.transform import Lognormal
from tests import independent
from tests.support import holds
from tests.thinning import covering

MP = independent.context(60)


def by_counting(alpha, sigma, steps):
    """E_Q of the product of α ratios, each of a step: the mean of e^{pairs in one step/σ²}."""
    total = MP.mpf(0)
    for chosen in itertools.product(range(steps), repeat=alpha):
        pairs = sum(a == b for a, b in itertools.combinations(chosen, 2))
        total += MP.exp(pairs / sigma**2)
    return MP.log(total / MP.mpf(steps) ** alpha) / (alpha - 1)


@pytest.mark.parametrize("seed", range(12))
def test_the_divergence_is_the_mean_over_all_allocations(seed):
    rng = random.Random(seed)
    alpha, steps, sigma = rng.randint(2, 5), rng.randint(1, 5), Fraction(rng.randint(3, 40), 10)
    value = by_counting(alpha, independent.number(MP, sigma), steps)
    found = allocation_rdp(alpha, sigma, steps, digits=25)
    assert holds(found, value, 25, trusted=50)
    assert found.claim.kind is Kind.EXACT


def test_one_step_is_the_noise_and_many_are_less_than_a_poisson_sample_of_each():
    assert abs(allocation_rdp(9, 2, 1, digits=20).upper - Gaussian(2).rdp(9).upper) < 1e-18
    values = [allocation_rdp(4, 1, steps).upper for steps in (1, 3, 10, 100, 10**6)]
    assert values == sorted(values, reverse=True)
    sampled = (100 * PoissonSubsample(Gaussian(1), "1/100")).rdp(4)
    assert allocation_rdp(4, 1, 100).upper < sampled.lower


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize(("alpha", "sigma"), [("3/2", "1"), ("9/2", "2"), ("6", "1/2")])
def test_two_steps_by_a_double_sum(alpha, sigma, added):
    """E[((W₁+W₂)/2)^z] in float64: the trapezoidal sum of what is smooth and falls."""
    order, s = float(Fraction(alpha)), 1 / float(Fraction(sigma))
    z = 1 - order if added else order
    x = np.arange(-10, 22, 1 / 16)
    w, share = np.exp(s * x - s * s / 2), np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) / 16
    mean = share @ ((w[:, None] + w) / 2) ** z @ share
    found = allocation_rdp(alpha, sigma, 2, digits=15, added=added)
    assert abs(float(found) - np.log(mean) / (order - 1)) < 1e-10
    assert found.claim.kind is Kind.EXACT


def test_orders_in_closed_form_are_those_of_the_integral():
    """Of one step both ways; at whole orders of many."""
    assert abs(allocation_rdp("7/2", 2, 1, digits=20).upper - MP.mpf(7) / 16) < 1e-19
    assert abs(allocation_rdp("7/2", 2, 1, digits=20, added=True).upper - MP.mpf(7) / 16) < 1e-19
    law = Lognormal(Fraction(1, 4))
    for steps, order in ((10, 2), (1000, 5)):
        with ctx.workprec(100):
            moment = LognormalMoments(law, steps, 100).moment(Fraction(order))
            exact = allocation_rdp(order, 2, steps, digits=20)
            value = (moment.log() - order * arb(steps).log()) / (order - 1)
            assert abs(value - arb(MP.nstr(exact.upper, 30))) < 1e-19


def test_at_two_of_a_thousand_steps_both_directions_are_alike():
    """The record added falls with the steps, too."""
    both = [allocation_rdp(2, 1, 1000, digits=9, added=x) for x in (False, True)]
    assert [str(one) for one in both] == ["0.00171680728", "0.00171189561"]


def test_the_larger_of_both_directions():
    """Of much noise: removed it costs what the orders say, added at least (1 − 1/T)/(2σ²)."""
    found = random_allocation("1e-5", 2, 100, digits=12)
    wide = gaussian_epsilon("1e-5", 20, digits=20).epsilon
    added = MP.mpf(99) / 100 / 8 + independent.number(MP, independent.fraction(wide.upper))
    removed = min(
        allocation_rdp(a, 2, 100).upper
        + MP.log(MP.mpf(a - 1) / a)
        - (MP.log(a) - 5 * MP.log(10)) / (a - 1)
        for a in range(2, 257)
    )
    assert abs(found.epsilon.upper - max(added, removed)) < 1e-11
    one, three = (random_allocation("1e-5", 2, 100, k).epsilon.upper for k in (1, 3))
    assert one < three < 3 * one


def of_all_orders(sigma, doublings):
    """D_2 … D_256 of 2^doublings steps: the power series squared as often."""
    weights = (MP.exp(MP.mpf(k * (k - 1)) / (2 * sigma**2)) / MP.factorial(k) for k in range(257))
    series = np.array(list(weights), dtype=object)
    for _ in range(doublings):
        series = np.convolve(series, series)[:257]
    for alpha in range(2, 257):
        moment = series[alpha] * MP.factorial(alpha) / MP.mpf(2) ** (doublings * alpha)
        yield alpha, MP.log(moment) / (alpha - 1)


def gaussian_root(delta, mu):
    """ε with Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = δ, by halving."""
    low, high = MP.mpf(0), MP.mpf(60)
    for _ in range(150):
        middle = (low + high) / 2
        left, right = MP.ncdf(mu / 2 - middle / mu), MP.ncdf(-mu / 2 - middle / mu)
        keeps = left - MP.exp(middle) * right <= delta
        low, high = (low, middle) if keeps else (middle, high)
    return high


@covering(lambda seed: {seed % 2})
@pytest.mark.parametrize("seed", range(12))
def test_epsilon_is_the_larger_of_a_minimum_and_a_root(seed):
    """Removed: by the best of all orders; added: by normal noise and half a square."""
    rng = random.Random(seed)
    doublings, epochs = rng.randint(1, 4), rng.randint(1, 3)
    sigma, delta = Fraction(rng.randint(8, 40), 10), Fraction(1, 10 ** rng.randint(2, 9))
    noise, d, steps = independent.number(MP, sigma), independent.number(MP, delta), 2**doublings
    removed = min(
        epochs * spent + MP.log(MP.mpf(a - 1) / a) - (MP.log(a) + MP.log(d)) / (a - 1)
        for a, spent in of_all_orders(noise, doublings)
    )
    added = epochs * (1 - MP.mpf(1) / steps) / (2 * noise**2)
    added += gaussian_root(d, MP.sqrt(MP.mpf(epochs) / steps) / noise)
    found = random_allocation(delta, sigma, steps, epochs, digits=25).epsilon
    assert holds(found, max(removed, added, MP.mpf(0)), 25, trusted=35)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: allocation_rdp(1, 2, 3), OrderError),
        (lambda: allocation_rdp("1/2", 2, 3), OrderError),
        (lambda: allocation_rdp("1999/2", 2, 3), PrecisionError),
        (lambda: allocation_rdp(2, 0, 3), DomainError),
        (lambda: allocation_rdp(2, 1, 0), DomainError),
        (lambda: allocation_rdp(2, 1, 10**10), DomainError),
        (lambda: random_allocation(0, 1, 3), DomainError),
        (lambda: random_allocation("1e-5", "1e-4", 3), DomainError),
        (lambda: random_allocation("1e-5", 1, 3, 10**10), DomainError),
        (lambda: random_allocation("1e-5", 1, 3, 0), DomainError),
    ],
)
def test_bad_input_is_one_typed_error(ask, error):
    with pytest.raises(error):
        ask()
