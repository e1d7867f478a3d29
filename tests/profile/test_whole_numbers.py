"""Several runs of noise on whole numbers, sampled or not: double sums, and grids that hold them."""

import random
from fractions import Fraction

import pytest
from flint import arb, ctx

from symacct import (
    DiscreteGaussian,
    Kind,
    LimitError,
    PoissonSubsample,
    PrecisionError,
    RandomizedResponse,
    Skellam,
)
from symacct.kernel.arithmetic.ball import accuracy
from symacct.profile.grids import Grids
from symacct.profile.losses.integer_noise import integer_form
from symacct.profile.pairs import products
from symacct.profile.runs import DirectedRuns
from symacct.profile.solve import CompositionProfile
from tests import independent
from tests.support import holds
from tests.thinning import covering, some

MP = independent.context(50)


def outcomes(m):
    """(p, q) of all that count, of the noise at its sensitivity, mixed at its rate."""
    sampled = isinstance(m, PoissonSubsample)
    noise, rate = (m.mechanism, independent.number(MP, m.gamma)) if sampled else (m, MP.mpf(1))
    if isinstance(noise, Skellam):
        mu = independent.number(MP, noise.mu)
        reach = 75 + 3 * int(noise.mu)  # for a δ of 10⁻⁸² too
        weights = [MP.besseli(k, mu) for k in range(reach + noise.sensitivity + 1)]
    else:
        sigma = independent.number(MP, noise.sigma)
        reach = 25 * int(noise.sigma + 1)
        weights = [
            MP.exp(-(MP.mpf(k) ** 2) / (2 * sigma**2)) for k in range(reach + noise.sensitivity + 1)
        ]
    total = MP.fsum(weights) * 2 - weights[0]
    found = []
    for k in range(-reach, reach + 1):
        q, p = (weights[abs(k - x)] / total for x in (0, noise.sensitivity))
        found.append(((1 - rate) * q + rate * p, q))
    return found


def two_runs(first, second, epsilon):
    """The larger of both directions of Σ (pu − e^ε qv)₊."""
    grown = MP.exp(independent.number(MP, epsilon))
    pairs = [(p * u, q * v) for p, q in outcomes(first) for u, v in outcomes(second)]
    straight = MP.fsum(max(p - grown * q, 0) for p, q in pairs)
    return max(straight, MP.fsum(max(q - grown * p, 0) for p, q in pairs))


def drawn(seed):
    draw = random.Random(seed)
    noise = (
        lambda: Skellam(Fraction(draw.randint(2, 40), 10), draw.randint(1, 3)),
        lambda: DiscreteGaussian(Fraction(draw.randint(5, 15), 10), draw.randint(1, 3)),
    )
    first, second = draw.choice(noise)(), draw.choice(noise)()
    if draw.random() < 0.7:
        first = PoissonSubsample(first, Fraction(draw.randint(1, 9), 10))
    if draw.random() < 0.5:
        second = first
    return first, second, Fraction(draw.randint(0, 30), 10)


@covering()
@pytest.mark.parametrize("part", [0, 1])
def test_two_runs_are_a_double_sum(part):
    for seed in range(part * 10, part * 10 + some(2, 10)):
        first, second, epsilon = drawn(seed)
        found = (first + second).delta(epsilon, digits=20, conversion="exact")
        assert found.kind is Kind.EXACT
        assert holds(found.delta, two_runs(first, second, epsilon), 20, trusted=22)


@covering()
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "m",
    [
        2 * Skellam(3),
        2 * PoissonSubsample(Skellam(3, 2), "1/5"),
        PoissonSubsample(DiscreteGaussian(1), "1/3") + Skellam(5),
    ],
    ids=repr,
)
def test_a_grid_holds_what_is_summed(m, reverse):
    (product,) = products(m)
    grids = Grids(DirectedRuns(product.runs, reverse))
    for y in (-1.0, 0.0, 0.25):
        with ctx.workprec(120):
            known = CompositionProfile(product.runs, reverse).delta(lambda: arb(y), 20)  # noqa: B023
            found = grids.delta(lambda: arb(y), 3)  # noqa: B023
        assert found.overlaps(known)
        assert accuracy(found) >= 2


def test_beside_finite_laws():
    """What randomized response leaves of two runs: D = p D(y − ℓ) + (1−p) D(y + ℓ), on a grid."""
    y, response = Fraction(1, 2), Fraction(2, 3)
    m = 2 * Skellam(4)
    found = (m + RandomizedResponse(response)).delta(y, digits=10, conversion="exact").delta
    masses = [
        (p * u, q * v)
        for p, q in outcomes(Skellam(4))
        for u, v in outcomes(Skellam(4))
        if min(p * u, q * v) > MP.mpf(10) ** -30
    ]
    share, grown = independent.number(MP, response), MP.exp(independent.number(MP, y))
    known = MP.fsum(
        max(a * p - grown * b * q, 0)
        for p, q in masses
        for a, b in ((share, 1 - share), (1 - share, share))
    )
    assert holds(found, known, 10, trusted=20)


@pytest.mark.parametrize(
    ("m", "says"),
    [(10 * Skellam(4), "about . digits"), (10**6 * Skellam(400), "needed 131,072 of")],
)
def test_digits_out_of_reach_are_said(m, says):
    with pytest.raises(PrecisionError, match=says):
        m.delta(1, digits=20, conversion="exact")


def test_a_sum_over_too_many_outcomes_is_refused():
    """Outcomes are more at more bits, and where D is tiny no precision has its digits."""
    (product,) = products(4 * PoissonSubsample(DiscreteGaussian("3/4"), "1/10"))
    profile = integer_form(product.runs, False)
    with ctx.workprec(1200):
        assert profile(arb(1)).rad() < arb(2) ** -1100
    with ctx.workprec(2400), pytest.raises(LimitError, match=r"2,919,735 outcomes .* 2,400 bits"):
        profile(arb(1))
