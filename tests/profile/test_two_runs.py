"""Two runs of sampled Gaussian noise against quadrature in plain mpmath, at rare jumps too."""

import math
from fractions import Fraction

import mpmath
from flint import arb
from hypothesis import assume, example, given
from hypothesis import strategies as st

from symacct.kernel.arithmetic.ball import accuracy
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.solve import CompositionProfile
from tests.thinning import examples

MP = mpmath.mp.clone()
MP.dps = 20


def logs(low, high):
    """Log-uniform fractions of three digits."""
    places = st.floats(math.log10(low), math.log10(high))
    return places.map(lambda x: Fraction(f"{10.0**x:.3g}"))


def one_run(sigma, gamma, y, reverse=False):
    """H of (P, Q), or of (Q, P), of one run."""
    ratio = MP.expm1(-y if reverse else y) + gamma
    if ratio <= 0:
        return MP.mpf(0) if reverse else -MP.expm1(y)
    x = sigma**2 * MP.log(ratio / gamma) + MP.mpf(1) / 2
    if reverse:
        own = ratio * MP.ncdf(x / sigma) - gamma * MP.ncdf((x - 1) / sigma)
        return MP.exp(y) * own
    return gamma * MP.ncdf((1 - x) / sigma) - ratio * MP.ncdf(-x / sigma)


def two_runs(sigma, gamma, y, reverse):
    """D₂(y) = E_P[D(y − L)], or E_Q[D′(y + L)], and about the error of the quadrature."""
    s, rate = (MP.mpf(x.numerator) / x.denominator for x in (sigma, gamma))

    def integrand(x):
        ratio = 1 - rate + rate * MP.exp((2 * x - 1) / (2 * s**2))
        loss, base = MP.log(ratio), MP.npdf(x, 0, s)
        if reverse:
            return base * one_run(s, rate, y + loss, True)
        return base * ratio * one_run(s, rate, y - loss)

    places = [s * i for i in range(-12, 13, 4)]
    return MP.quad(integrand, sorted({*places, *(1 + x for x in places)}), error=True)


@examples(2, 100)
@example(Fraction(300), Fraction(1, 100), -5.0, False)
@example(Fraction(20), Fraction(1, 1000), -9.0, False)
@given(logs(0.4, 300), logs(1e-9, 0.5), st.floats(-12, -1), st.booleans())
def test_two_runs(sigma, gamma, log_delta, reverse):
    """Log-uniform parameters: where D is δ, quadrature gives δ on either side."""
    part = SampledGaussian(sigma**2, gamma)
    at_0 = float(2 * part.hockey_stick(arb(0), False))
    delta = Fraction(f"{at_0 * 0.4 * 10.0 ** (log_delta / 2):.3g}")
    root = CompositionProfile(((part, 2),), reverse).epsilon(delta, 5.0)
    assert accuracy(root) >= 4
    for end, sign in ((root.lower(), 1), (root.upper(), -1)):
        y = MP.mpf(end.str(25, radius=False)) * (1 - sign * MP.mpf(10) ** -15)
        true, error = two_runs(sigma, gamma, y, reverse)
        goal = MP.mpf(delta.numerator) / delta.denominator
        assume(error < goal * 1e-8)
        assert sign * (true - goal) >= -error - goal * MP.mpf(10) ** -9
