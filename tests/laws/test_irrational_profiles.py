"""An irrational parameter in text has the exact profile between those of its neighbours."""

from fractions import Fraction
from math import isqrt

import pytest

from symacct import parse
from tests.thinning import covering

NEAR = [Fraction(isqrt(2 * 10**20) + step, 10**10) for step in (-1, 2)]
FORMS = [
    "Gaussian({})",
    "ScalarGaussian({})",
    "Laplace({})",
    "VectorLaplace({})",
    "PureDP({})",
    "RandomizedResponse(({})/2)",
    "DiscreteGaussian({})",
    "DiscreteLaplace({})",
    "Skellam({})",
    "ExponentialMechanism({})",
    "PermuteAndFlip({})",
    "NoisyMax({})",
    "SparseVector({}, 1)",
    "ApproximateDP({}, 1/10000)",
    "ApproximateDP(1, ({})/10000)",
    "DiscreteGaussianSum({}, 4)",
    "10 * PoissonSubsample(Gaussian(2), ({})/3)",
    "PoissonSubsample(Gaussian({0}), ({0})/3, adjacency='replace_one')",
    "SubsampleWithoutReplacement(Gaussian({0}), ({0})/3)",
    "SubsampleWithoutReplacement(Laplace({0}), ({0})/3)",
    "SubsampleWithoutReplacement(Gaussian({0}), ({0})/3, adjacency='add_remove')",
    "GroupPrivacy(PoissonSubsample(Gaussian({0}), ({0})/3), 2)",
    "RandomAllocation(Gaussian({}), 10)",
    "Either(Gaussian({0}), Laplace(2), ({0})/3)",
    "ZCDP(({})/20) + ApproximateDP({}, 1/10000)",
]


@covering()
@pytest.mark.parametrize("form", FORMS)
def test_between_its_neighbours(form):
    found, *others = (
        parse(form.format(x, x)).epsilon("1e-3", 8, "exact").epsilon for x in ("sqrt(2)", *NEAR)
    )
    assert found.lower <= max(one.upper for one in others)
    assert found.upper >= min(one.lower for one in others)
    assert max(one.upper for one in others) < min(one.lower for one in others) * 1.0001
