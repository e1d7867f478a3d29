"""Each record in one of T steps at random: all allocations counted, quadrature, the two ends."""

import itertools
import random
from fractions import Fraction

import pytest

from symacct import DomainError, Gaussian, Kind, OrderError, PoissonSubsample
from symacct.baselines import allocation_rdp, gaussian_epsilon, random_allocation
from tests import independent
from tests.support import holds

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


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: allocation_rdp(1, 2, 3), OrderError),
        (lambda: allocation_rdp("5/2", 2, 3), DomainError),
        (lambda: allocation_rdp(257, 2, 3), OrderError),
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
