"""Taylor's formula for sampled Gaussian noise, as its authors' program has it; the exact curve."""

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
from symacct.claims import REPLACE_ONE

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
    with pytest.raises(OrderError, match="1 < alpha <= 996"):
        bound(1000, "1/10", 5)
    for gamma in (0, 1):
        with pytest.raises(DomainError, match=r"\(0, 1\)"):
            bound(8, gamma, 5)
    with pytest.raises(DomainError, match="terms"):
        bound(8, "1/10", 5, terms=2)
