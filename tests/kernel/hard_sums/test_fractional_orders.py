"""Sampled curves at fractional orders, by integrals, series and sums."""

import itertools
from fractions import Fraction

import pytest

from symacct import (
    Gaussian,
    Laplace,
    PoissonSubsample,
)
from tests.kernel.hard_sums.formulas import (
    RATE,
    SEEDS,
    ask,
    ends,
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
