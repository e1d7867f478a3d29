"""Taylor's formula for sampled Gaussian noise, as its authors' program has it; the exact curve."""

import math
import random
from fractions import Fraction

import pytest

from symacct import (
    DomainError,
    Gaussian,
    Kind,
    OrderError,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    baselines,
)
from symacct.kernel.claims import REPLACE_ONE
from tests import independent
from tests.support import holds
from tests.thinning import covering, some

MP = independent.context(50)

# FSwoR_RDP_ro at twice the noise and Poisson_RDP_ro of the authors' fs_rdp_bounds.py, in float64.
PRINTED = {
    (5, "1/1000", "8", 3): ("1.6742799166077562e-07", "6.427218509210486e-07"),
    (1, "1/1000", "3", 6): ("3.394527225472475e-06", "7.237011862293474e-06"),
    (2, "1/10", "4", 8): ("0.01837064046771965", "0.03152166170845626"),
    (5, "1/1000", "64", 4): ("1.354599571788212e-06", "5.156181473784209e-06"),
    (2, "1/10", "15/2", 4): ("0.10361443908275265", "0.11660223647206969"),
    (1, "1/1000", "61/10", 8): ("0.08899012734655921", "0.08899509001708325"),
}
BOTH = (baselines.fixed_size_taylor, baselines.poisson_taylor)


@pytest.mark.parametrize("setting", PRINTED)
def test_it_is_what_the_authors_program_gives(setting):
    sigma, gamma, alpha, terms = setting
    for bound, printed in zip(BOTH, PRINTED[setting], strict=True):
        found = bound(alpha, gamma, sigma, terms)
        assert float(found.upper) == pytest.approx(float(printed), rel=1e-9)
        assert (found.claim.kind, found.claim.adjacency) == (Kind.UPPER, REPLACE_ONE)
        scaled = bound(alpha, gamma, 3 * sigma, terms, sensitivity=3)
        assert (scaled.lower, scaled.upper) == (found.lower, found.upper)


def moments(sigma):
    """k ↦ E|e^{Z/σ − 1/(2σ²)} − 1|^k for even k, geometric means for odd k: equal steps in z."""
    step, s = MP.mpf(1) / 8, 1 / number(sigma)
    points = [step * i for i in range(-360, 361)]
    values = [(step * MP.npdf(z), MP.expm1(s * z - s**2 / 2)) for z in points]

    def moment(k):
        return MP.fsum(w * x**k for w, x in values)

    return lambda k: moment(k) if k % 2 == 0 else MP.sqrt(moment(k - 1) * moment(k + 1))


def derivative(alpha, k):
    """What is at most |E[∂ᵏ/∂γᵏ]| over B_k at γ = 0."""
    middle = (alpha - 1) * alpha ** (k - 1)
    both = (
        MP.binomial(k, j) * abs(MP.ff(alpha, j) * MP.rf(alpha - 1, k - j) - middle)
        for j in range(k + 1)
    )
    return middle * (4 - k % 2) + MP.fsum(both)


def remainder(alpha, gamma, m, moment):
    """γᵐ/m! Σ_j C(m, j) |(α)_j| (α−1)^{(m−j)} (1−γ)^{1−α−m+j} W_j, W_j integrated over u."""

    def weight(power):
        if power <= 0:
            return (1 - gamma) ** power * moment(m)
        top = int(MP.ceil(power))
        mean = [MP.binomial(top, i) * gamma**i * moment(m + i) for i in range(top + 1)]
        return moment(m) + MP.quad(
            lambda u: m * (1 - u) ** (m - 1) * MP.polyval(mean[::-1], u), [0, 1]
        )

    terms = (
        MP.binomial(m, j) * abs(MP.ff(alpha, j)) * MP.rf(alpha - 1, m - j)
        * (1 - gamma) ** (1 - alpha - m + j) * weight(alpha - j)
        for j in range(m + 1)
    )  # fmt: skip
    return gamma**m / MP.factorial(m) * MP.fsum(terms)


def number(x):
    return independent.number(MP, x)


@pytest.mark.parametrize("seed", range(some(5, 12)))
def test_it_is_the_formula_with_moments_by_quadrature(seed):
    """At orders, rates, noise and numbers of terms at random; the second moments as they are."""
    rng = random.Random(seed)
    alpha, gamma = Fraction(rng.randint(11, 60), 10), Fraction(rng.randint(1, 90), 100)
    sigma, m = Fraction(rng.randint(10, 80), 10), rng.randint(3, 6)
    a, g, moment = number(alpha), number(gamma), moments(sigma)
    for bound, correlation in zip(BOTH, (MP.mpf(1) / 2, MP.mpf(-1)), strict=True):
        s = 1 / number(sigma) ** 2
        total = a * (a - 1) * g**2 * (MP.exp(s) - MP.exp(correlation * s))
        for k in range(3, m):
            total += derivative(a, k) * g**k / math.factorial(k) * moment(k)
        value = MP.log1p(total + remainder(a, g, m, moment)) / (a - 1)
        found = bound(alpha, gamma, sigma, m, digits=25)
        assert holds(found, value, 25, trusted=35), (alpha, gamma, sigma, m)


@covering()
@pytest.mark.parametrize("sigma", ["1/2", 1, 5])
@pytest.mark.parametrize("gamma", ["1/1000", "1/20", "9/10"])
@pytest.mark.parametrize("alpha", [Fraction(3, 2), 2, 7])
def test_it_is_above_the_exact_curve(sigma, gamma, alpha):
    fixed = SubsampleWithoutReplacement(Gaussian(sigma), gamma)
    poisson = PoissonSubsample(Gaussian(sigma), gamma, "replace_one")
    below = fixed.rdp(alpha, digits=12, by="TRIPLE-GAUSSIAN-LOWER"), poisson.rdp(alpha, digits=12)
    for bound, exact in zip(BOTH, below, strict=True):
        assert min(bound(alpha, gamma, sigma, m).lower for m in (3, 4, 6)) > exact.upper


@pytest.mark.parametrize("bound", BOTH)
def test_what_it_is_not_stated_for(bound):
    with pytest.raises(OrderError):
        bound(1000, "1/10", 5)
    for gamma in (0, 1):
        with pytest.raises(DomainError):
            bound(8, gamma, 5)
    with pytest.raises(DomainError):
        bound(8, "1/10", 5, terms=2)
