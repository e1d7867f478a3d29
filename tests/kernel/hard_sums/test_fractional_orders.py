"""Sampled curves at fractional orders, by integrals, series and sums."""

import itertools
from fractions import Fraction

import pytest
from flint import ctx as flint_ctx

from symacct import (
    ZCDP,
    Accountant,
    Gaussian,
    Laplace,
    PoissonSubsample,
    RandomizedResponse,
    SubsampleWithoutReplacement,
)
from symacct.kernel.accountant import FormulaAccountant
from tests.kernel.hard_sums.formulas import (
    DIGITS,
    NEAR_ONE,
    RATE,
    SEEDS,
    TINY_RATE,
    ask,
    ends,
    gaussian_by_integral,
    holds,
    moments,
    mp,
    number,
    theorem_8,
)
from tests.thinning import covering


def gaussian_by_erfc(alpha, q, sigma, bits):
    """ε(α) by MTZ19's two erfc series (theory: section 4), summed until nothing is left."""
    with mp.workprec(bits):
        a, q, s = number(alpha), number(q), number(sigma)
        crossing = mp.mpf(1) / 2 + s * s * mp.log(1 / q - 1)
        total, binomial = mp.zero, mp.one
        for i in itertools.count():
            left = (1 - q) ** (a - i) * q**i * mp.exp(mp.mpf(i * i - i) / (2 * s * s))
            left *= mp.erfc((i - crossing) / (mp.sqrt(2) * s))
            b = a - i
            right = (1 - q) ** i * q**b * mp.exp((b * b - b) / (2 * s * s))
            right *= mp.erfc((crossing - b) / (mp.sqrt(2) * s))
            term = binomial * (left + right) / 2
            total += term
            if abs(term) < total * mp.mpf(2) ** -bits and i > 2:
                return mp.log(total) / (a - 1)
            binomial *= (a - i) / (i + 1)


@pytest.mark.parametrize(
    ("alpha", "q", "sigma"),
    [
        ("1.000000000001", "1/1000", 1),
        ("1.000000000001", "1/1000000000000", 10),
        ("1.000001", "999999/1000000", 3),
        ("3/2", "1/100", "3/10"),
        ("5/2", "1/1000000000000", 2),
        ("5/2", "999999/1000000", 2),
        ("5/2", "1/2", 10000),
        ("10.5", "1/100", "1/2"),
        ("63.9", "1/100", 4),
        ("1000.5", "1/1000", 50),
        ("100000", "1/1000", 10000),
    ],
)
def test_sampled_gaussian_by_integral(alpha, q, sigma):
    found = ask(PoissonSubsample(Gaussian(sigma), q), alpha, "MTZ19-EXACT")
    true = gaussian_by_integral(Fraction(alpha), Fraction(q), Fraction(sigma), 600)
    with flint_ctx.workprec(600):
        assert true.rel_accuracy_bits() > 130
        mid, rad = (mp.mpf(x.str(120, radius=False)) for x in (true.mid(), true.rad()))
    low, high = ends(found)
    assert low <= mid + rad * 2
    assert mid - rad * 2 <= high
    assert found.digits >= DIGITS


@pytest.mark.parametrize(
    ("alpha", "q", "sigma"),
    [
        ("99999.5", "1/100", "1/20"),
        ("99999.5", "1/1000000000000", "1/20"),
        ("1000.25", "1/100", "3/10"),
        ("10000.5", "999999/1000000", 1),
        ("64.5", "1/1000", "3/10"),
    ],
)
def test_sampled_gaussian_by_two_series(alpha, q, sigma):
    found = ask(PoissonSubsample(Gaussian(sigma), q), alpha, "MTZ19-EXACT")
    true = gaussian_by_erfc(Fraction(alpha), Fraction(q), Fraction(sigma), 400)
    assert holds(found, true, error=80)


@pytest.mark.parametrize("by", ["MTZ19-EXACT", "PAIR-EXACT"])
@pytest.mark.parametrize("order", [2, 3, 7, 64])
def test_no_jump_at_whole_orders(order, by):
    """At n ± 1e−40 the values differ from that of the binomial sum at n by the slope alone."""
    step = Fraction(1, 10**40)
    bases = {"MTZ19-EXACT": ("Gaussian(5)", "Gaussian(1)")}.get(by, ("Laplace(2)", "Laplace(1/2)"))
    for name in bases:
        base, eps = SEEDS[name]
        node = PoissonSubsample(base, RATE)
        below, above = (ends(ask(node, order + sign * step, by, 60)) for sign in (-1, 1))
        true = theorem_8(order, RATE, moments(eps, order))
        assert below[1] < true < above[0]
        assert abs(below[0] + above[1] - 2 * true) < true * mp.mpf(10) ** -55
        assert above[1] - below[0] < true * mp.mpf(10) ** -36
        assert holds(ask(node, order, by), true)


def laplace_by_quadrature(alpha, gamma, b):
    """ε(α) from the two atoms of the ratio and mpmath's quadrature between them."""
    with mp.workdps(120):
        a, g, s = number(alpha), number(gamma), 1 / number(b)

        def power(w):
            return (1 - g + g * mp.exp(w)) ** a

        middle = (1 + mp.log((1 - g) / g) / s) / 2
        places = [0, *([middle] if 0 < middle < 1 else []), 1]
        inside = mp.quad(lambda z: s * mp.exp(-s * z) * power(s * (2 * z - 1)), places)
        total = (power(-s) + mp.exp(-s) * power(s) + inside) / 2
        return mp.log(total) / (a - 1)


@covering()
@pytest.mark.parametrize("b", ["1/10", 1, 20])
@pytest.mark.parametrize("gamma", ["1/1000000", "1/20", "999999/1000000"])
@pytest.mark.parametrize("alpha", ["1.000001", "3/2", "31/3", "100.5"])
def test_sampled_laplace_by_quadrature(alpha, gamma, b):
    found = ask(PoissonSubsample(Laplace(b), gamma), alpha, "PAIR-EXACT")
    assert holds(found, laplace_by_quadrature(alpha, gamma, b), error=60)


@pytest.mark.parametrize("p", ["0.6", "0.9", "0.1"])
@pytest.mark.parametrize("gamma", [TINY_RATE, RATE, NEAR_ONE], ids=str)
@pytest.mark.parametrize("alpha", ["1.000000000001", "5/2", "1000.5", "100000"])
def test_sampled_response_outcome_by_outcome(alpha, gamma, p):
    node = PoissonSubsample(RandomizedResponse(p), gamma)
    g, a = number(gamma), number(alpha)
    outcomes = ((number(p), 1 - number(p)), (1 - number(p), number(p)))
    total = mp.fsum(((1 - g) * y + g * x) ** a * y ** (1 - a) for x, y in outcomes)
    assert holds(ask(node, alpha, "PAIR-EXACT"), mp.log(total) / (a - 1))


@covering()
@pytest.mark.parametrize(
    "node",
    [
        PoissonSubsample(Gaussian(5), RATE),
        PoissonSubsample(Laplace("1/2"), "1/10"),
        PoissonSubsample(RandomizedResponse("0.9"), "1/10"),
        PoissonSubsample(ZCDP("1/50"), "1/10"),
        SubsampleWithoutReplacement(Laplace(2), "1/100"),
        1000 * PoissonSubsample(Gaussian(2), "1/50") + Laplace(20),
        SubsampleWithoutReplacement(RandomizedResponse("0.6"), "1/10").convexify(40),
    ],
    ids=repr,
)
@pytest.mark.parametrize("alpha", [1, 2, "5/2", 33])
def test_the_three_engines_agree(node, alpha):
    assert_engines_agree(node, alpha)


def test_the_three_engines_agree_on_an_integral_over_the_plane():
    assert_engines_agree(SubsampleWithoutReplacement(Gaussian(5), "1/100"), "5/2")


def assert_engines_agree(node, alpha):
    ball = Accountant(25).rdp(node, alpha)
    other = Accountant(25, engine="mpmath").rdp(node, alpha)
    middle = sum(ends(other)) / 2
    assert abs(middle - ends(ball)[0]) <= abs(middle) * mp.mpf(10) ** -23
    quick = Accountant(engine="float64").rdp(node, alpha)
    stated = sum(ends(FormulaAccountant(25).rdp(node, alpha))) / 2  # it waits for no proofs
    assert abs(sum(ends(quick)) / 2 - stated) <= abs(stated) * mp.mpf(10) ** -10
