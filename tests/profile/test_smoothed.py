"""Runs beside a little noise, against closed forms and a transform of masses on a fine grid."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct import DiscreteGaussian, Laplace, PoissonSubsample, RandomizedResponse
from symacct.kernel.errors import LimitError
from symacct.profile.contours import SmoothedContour, contour, plan, smoothed
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.runs import Moments
from tests.profile.laws import MP
from tests.thinning import examples

RESPONSE = Atoms(((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))))
PARTS = {
    "response": RESPONSE,
    "sampled response": RESPONSE.sampled(Fraction(1, 10)),
    "laplace": LaplaceLoss(Fraction(1)),
    "sampled laplace": LaplaceLoss(Fraction(2), Fraction(1, 3)),
    "sampled gaussian": SampledGaussian(Fraction(1), Fraction(1, 10)),
    "gaussian": GaussianLoss(Fraction(1, 4)),
}


@examples(24, 600)
@given(
    st.sampled_from(sorted(PARTS)), st.integers(1, 14), st.sampled_from([-0.08, 0.05, 0.1]),
    st.booleans(),
)  # fmt: skip
def test_any_noise_leaves_the_profile_of_one_run(name, halvings, y, reverse):
    """However much of it: only the width tells whether it was little."""
    runs = ((PARTS[name], 1),)
    plain = Moments(runs, reverse)
    noisy = plain.with_noise(GaussianLoss(Fraction(1, 2**halvings)))
    made = contour(noisy, plan(noisy, y, -2.0, 6.0), y, plain)
    assert isinstance(made, SmoothedContour)
    with ctx.workprec(made.plan.bits):
        found, known = made.delta(arb(y)), PARTS[name].hockey_stick(arb(y), reverse)
        assert found.overlaps(known)
        assert found.rad() < 3 * 2.0 ** (-halvings / 2)


@pytest.mark.parametrize("grown", [1.25, 2.0])
@pytest.mark.parametrize("u", [-3.0, -0.02, 0.0, 0.001, 1.0])
def test_what_more_noise_adds_bounds_what_the_first_of_it_adds(u, grown):
    """ψ_μ <= e^{r²μ²/8}(ψ_{rμ} − ψ_μ)/(r−1), ψ_μ the profile of noise less (1−e^u)₊."""

    def added(mu):
        tail = MP.ncdf(-u / mu + mu / 2) - MP.exp(u) * MP.ncdf(-u / mu - mu / 2)
        return tail - max(1 - MP.exp(u), 0)

    for mu in (MP.mpf(2) ** j for j in range(-9, 4)):
        most = MP.exp((grown * mu) ** 2 / 8) / (grown - 1) * (added(grown * mu) - added(mu))
        assert added(mu) <= most + MP.mpf(10) ** (8 - MP.dps)


STEP, SIZE = 2.0**-12, 2**19


def split(p, q):
    """The losses log(p/q) moved to nodes on both sides, so that both laws keep their masses."""
    places = np.floor(np.log(p / q) / STEP).astype(int)
    low, high = np.exp(STEP * places), np.exp(STEP * (places + 1))
    found = np.zeros(SIZE)
    np.add.at(found, places % SIZE, low * (high * q - p) / (high - low))
    np.add.at(found, (places + 1) % SIZE, high * (p - low * q) / (high - low))
    return found


def discrete_gaussian(sigma, gamma):
    k = np.arange(-10 * sigma, 10 * sigma + 1)
    q, p = (np.exp(-((k - x) ** 2) / (2 * sigma**2)) for x in (0, 1))
    return (1 - gamma) * q / q.sum() + gamma * p / p.sum(), q / q.sum()


@pytest.mark.parametrize(
    ("m", "parts", "y", "digits"),
    [
        (
            100 * PoissonSubsample(DiscreteGaussian(2), "1/10"),
            [(discrete_gaussian(2, 0.1), 100)],
            0.5,
            4,
        ),
        (
            30 * PoissonSubsample(DiscreteGaussian(2), "1/10") + 10 * RandomizedResponse("2/3"),
            [
                (discrete_gaussian(2, 0.1), 30),
                ((np.array([2, 1]) / 3, np.array([1, 2]) / 3), 10),
            ],
            1.0,
            4,
        ),
    ],
)
def test_many_runs_whose_moments_do_not_fall(m, parts, y, digits):
    """By Fourier transforms of masses on a grid, which says at most a share of 1/1000 too much."""
    found = m.delta(Fraction(y), digits=digits, conversion="exact").delta
    known, losses = [], STEP * ((np.arange(SIZE) + SIZE // 2) % SIZE - SIZE // 2)
    for reverse in (False, True):
        spectrum = 1
        for (p, q), k in parts:
            spectrum = spectrum * np.fft.rfft(split(q, p) if reverse else split(p, q)) ** k
        masses = np.fft.irfft(spectrum, SIZE)
        known.append(float(masses[losses > y] @ -np.expm1(y - losses[losses > y])))
    assert float(found.upper) <= max(known) * (1 + 10**-digits)
    assert float(found.lower) >= max(known) * (1 - 1e-3)


def test_few_digits_do_with_few_nodes_and_many_are_refused():
    """Counted, not timed: the number of nodes is about that of 10^{digits/2}."""
    runs = Moments(((PARTS["sampled response"], 100), (PARTS["laplace"], 3)), False)
    lasts = [smoothed(runs, 1.0, -3.0, digits)[1].last for digits in (3.0, 5.0)]
    assert lasts[0] < lasts[1] < 30_000
    with pytest.raises(LimitError, match="fewer digits"):
        smoothed(runs, 1.0, -3.0, 31.0)


def test_more_digits_agree_with_fewer():
    m = 3 * Laplace(1) + 10 * DiscreteGaussian(2)
    few, more = (m.epsilon("1e-5", digits=d, conversion="exact").epsilon for d in (2, 4))
    assert few.lower <= more.lower <= more.upper <= few.upper
    assert math.isclose(float(few.lower), float(more.upper), rel_tol=2e-2)
