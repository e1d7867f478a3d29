"""Large groups on Poisson samples: few pairs that dominate all ways to be in the group."""

from fractions import Fraction
from math import comb

import mpmath
import pytest

from symacct import Gaussian, GroupPrivacy, Kind, PoissonSubsample
from symacct.profile.pairs import _removals, products

MP = mpmath.mp.clone()
MP.dps = 20


@pytest.mark.parametrize("size", [1, 2, 7, 12, 13, 14, 25, 40, 1000])
def test_each_way_to_be_in_the_group_is_in_a_pair(size):
    """i added and j removed, j <= i, are in the pair of those at most and those at least."""
    ways = _removals(size)
    assert ways[0] == (0, 0)
    assert ways[-1][1] == size // 2
    assert [few for few, _ in ways[1:]] == [many + 1 for _, many in ways[:-1]]
    assert all(few <= many for few, many in ways)
    assert len(ways) <= 7
    if 1 < size < 100:
        found = products(GroupPrivacy(PoissonSubsample(Gaussian(2), "1/10"), size))
        exact = [few == many for few, many in ways]
        assert [one.kind is Kind.EXACT for one in found] == exact


def delta(added, removed, epsilon, gamma, sigma):
    """The hockey stick of both mixtures beyond the one place where they meet: normal tails."""

    def law(n, sign):
        return [
            (MP.mpf(comb(n, k)) * gamma**k * (1 - gamma) ** (n - k), sign * k) for k in range(n + 1)
        ]

    p, q = law(added, 1), law(removed, -1)

    def log_ratio(x):
        def density(of):
            return sum(w * MP.exp(-((x - d) ** 2) / (2 * sigma**2)) for w, d in of)

        return MP.log(density(p)) - MP.log(density(q)) - epsilon

    place = MP.findroot(log_ratio, (-200, 200), solver="anderson", tol=1e-15)

    def tail(of):
        return sum(w * MP.ncdf((d - place) / sigma) for w, d in of)

    return tail(p) - MP.exp(epsilon) * tail(q)


def test_one_run_of_a_large_group_is_bounded_and_nearly_attained():
    """Every way one by one, by normal tails; and the way in which all are added."""
    size, sigma, gamma = 16, 8, Fraction(1, 10)
    m = GroupPrivacy(PoissonSubsample(Gaussian(sigma), gamma), size)
    found = m.delta(1, 6, "exact")
    assert found.kind is Kind.UPPER
    rate = MP.mpf(1) / 10
    every = [delta(size - j, j, MP.mpf(1), rate, sigma) for j in range(size // 2 + 1)]
    assert max(every) <= found.delta.upper
    assert found.delta.upper < 1.6 * max(every)
    assert m.lower_delta(1, 6).lower <= max(every)
    assert m.lower_delta(1, 6).upper > every[0] * (1 - MP.mpf("1e-15"))  # all are added
    small = GroupPrivacy(PoissonSubsample(Gaussian(sigma), gamma), 12).delta(1, 6, "exact")
    assert small.kind is Kind.EXACT
