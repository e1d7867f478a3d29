"""χ-divergences and the ternary bound."""

import itertools
from fractions import Fraction

import pytest

from symacct import (
    ZCDP,
    Curve,
    Gaussian,
    GroupPrivacy,
    PostProcess,
    RandomizedResponse,
    SoundnessError,
    chi_divergence,
    ternary_bound,
)
from tests.kernel.hard_sums.formulas import (
    DIGITS,
    FULL,
    INFINITY,
    WIDE,
    difference_table,
    ends,
    holds,
    moments,
    mp,
    number,
    spread,
)
from tests.thinning import covering


@covering()
@pytest.mark.parametrize("l", [0, 1, 2, 3, 10, 101, 1000])
@pytest.mark.parametrize("p", ["0.6", "0.2"])
def test_chi_divergence_of_randomized_response_as_asked(p, l):
    found = chi_divergence(RandomizedResponse(p), l)
    q = max(Fraction(p), 1 - Fraction(p))  # the curve does not tell p from 1 − p
    true = (1 - q) * ((2 * q - 1) / (1 - q)) ** l + q * ((1 - 2 * q) / q) ** l
    assert holds(found, number(true))
    assert found.digits >= DIGITS


def test_chi_divergence_needs_an_exact_curve():
    for base in (ZCDP("1/50"), PostProcess(Gaussian(5)), GroupPrivacy(Gaussian(5), 2)):
        with pytest.raises(SoundnessError):
            chi_divergence(base, 4)


@FULL
def test_ternary_bound_is_the_smallest_of_the_proved_ones(name):
    base, eps = WIDE[name]
    values = moments(eps, 82)
    table = difference_table(values)
    for l in (2, 3, 4, 17, 80, 81):
        by_differences = 4 * mp.sqrt(table[2 * (l // 2)] * table[2 * ((l + 1) // 2)])
        power = min(by_differences, values[l] * spread(eps(INFINITY), l))
        found = ternary_bound(base, l)
        assert holds(found, power ** (mp.one / l), error=100), l
        # What it bounds, at one choice of three mutually adjacent laws: R = Q.
        if l % 2 == 0:
            assert ends(found)[1] ** l >= table[l]


@pytest.mark.parametrize("p", ["0.6", "0.9"])
def test_ternary_divergence_of_three_laws_is_below_its_bound(p):
    """The laws of two answers: E_R[(|P−Q|/R)^l] for every choice among the pair and between."""
    p = number(p)
    laws = [(x, 1 - x) for x in (p, 1 - p)]
    for l in (2, 3, 8, 21):
        top = ends(ternary_bound(RandomizedResponse(Fraction(str(float(p)))), l))[1]
        for first, second, third in itertools.product(laws, repeat=3):
            parts = zip(first, second, third, strict=True)
            divergence = mp.fsum(abs(a - b) ** l / c ** (l - 1) for a, b, c in parts)
            assert divergence <= top**l


@pytest.mark.parametrize("f", [lambda a: a / 50, lambda ctx, a: ctx.number(a) / 50])
@pytest.mark.parametrize("adjacency", ["either", "add_remove"])
def test_what_is_made_from_a_curve_is_as_certified_as_the_curve(f, adjacency):
    for kind, ask in (
        ("exact", chi_divergence),
        ("exact", ternary_bound),
        ("upper", ternary_bound),
    ):
        m = Curve(f, kind=kind, adjacency=adjacency, at_infinity=9)
        found = ask(m, 4)
        assert found.certified is found.claim.certified is m.claim.certified
        assert found.claim.adjacency == m.claim.adjacency


def test_ternary_bound_of_an_upper_bound_uses_no_differences():
    base = ZCDP("1/50")
    for l in (3, 4, 9):
        true = (2 * mp.exp((l - 1) * number(l) / 50)) ** (mp.one / l)
        assert holds(ternary_bound(base, l), true)
    assert holds(ternary_bound(base, 2), mp.sqrt(4 * mp.expm1(number(2) / 50)))
    with pytest.raises(SoundnessError):
        ternary_bound(Curve("alpha/50", kind="lower", adjacency="either"), 4)
