"""What a draw of 400 faults over the package showed to be untested (docs/evidence.md)."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
import sympy
from flint import arb

from symacct import (
    DiscreteGaussian,
    Either,
    Gaussian,
    PoissonSubsample,
    RandomizedResponse,
)
from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision
from symacct.distributions.closed_forms import GeometricDirection
from symacct.distributions.normal import blend_matrices, matrix
from symacct.numerics.densities.jets import _positive_factors
from symacct.numerics.lognormal.transform import Line, Lognormal
from symacct.numerics.triangles import plane
from symacct.theory.amplification.poisson.s22 import pointwise_gap
from symacct.verify.judging.truth import Oracle, Truth
from symacct.verify.peer.protocol import Ask, AskedPart
from tests.independent import fraction

mp = mpmath.mp.clone()
mp.dps = 40


@pytest.mark.parametrize(("alpha", "gamma"), [(2, "1/10"), (Fraction(7, 2), "1/3"), (9, "9/10")])
def test_the_gap_of_equal_laws_is_0(alpha, gamma):
    """At P = Q the inequality of S22 holds with equality, so that no term of it may be larger."""
    with precision(200):
        gap = pointwise_gap(BALL, alpha, BALL.number(Fraction(gamma)), BALL.number(1))
        assert gap.contains(0)
        assert abs(gap) < arb(2) ** -150


def test_the_mirror_image_of_a_bracket_is_a_bracket(monkeypatch):
    """δ(−ε) = 1 − e^{−ε}(1 − δ(ε)), of both ends."""
    ask = Ask("delta", (AskedPart("Gaussian", (("sigma", "1"),)),), "-1", "add_remove")
    oracle = Oracle()
    known = Truth(Fraction(1, 4), Fraction(1, 2), False)
    monkeypatch.setattr(oracle, "_truth", lambda asked: known if asked.at == "1" else None)
    found = oracle._reflected(replace(ask, at="-1"))
    assert float(found.lower) == pytest.approx(float(1 - mp.exp(-1) * 3 / 4), abs=1e-12)
    assert float(found.upper) == pytest.approx(float(1 - mp.exp(-1) / 2), abs=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_the_largest_loss_of_either_is_that_of_the_worse(turned):
    pair = RandomizedResponse("2/3"), RandomizedResponse("9/10")
    m = Either(*(pair[::-1] if turned else pair), "1/2")
    found = m.epsilon(0, conversion="exact").epsilon
    assert found.lower <= float(mp.log(9)) * (1 + 1e-9)
    assert found.upper >= float(mp.log(9)) * (1 - 1e-9)
    assert float(found.upper) == pytest.approx(float(mp.log(9)), rel=1e-6)


def test_a_symbolic_order_blends_covariances_as_a_number_does():
    one = matrix(((Fraction(2), Fraction(1)), (Fraction(1), Fraction(3))))
    other = matrix(((Fraction(5), Fraction(1)), (Fraction(1), Fraction(4))))
    alpha = sympy.Symbol("alpha")
    found = blend_matrices(alpha, one, other).subs(alpha, sympy.Rational(3, 2))
    known = blend_matrices(Fraction(3, 2), one, other)
    assert [str(x) for x in found] == [str(x) for x in known.entries()]


@pytest.mark.parametrize(("p", "q", "l"), [("1/2", "1/3", 3), ("1/3", "1/2", 2), ("2/5", "2/5", 4)])
def test_the_moment_of_geometric_laws_is_their_series(p, q, l):
    p, q = Fraction(p), Fraction(q)
    found = GeometricDirection(p, q).moment(l)
    terms = ((p * (1 - p) ** k) ** l * (q * (1 - q) ** k) ** (1 - l) for k in range(400))
    assert abs(found - sum(terms)) < Fraction(1, 10**15)


@pytest.mark.parametrize("a", [-3.0, -0.5, 0.5, 2.5])
def test_what_is_left_out_of_discrete_gaussian_noise_is_at_most_its_bound(a):
    """Σ Q(1 + (P/Q)^a) beyond −2 to 2, of laws with much between them."""
    sigma = mp.mpf(1) / 2

    def law(k):
        return mp.exp(-(k**2) / (2 * sigma**2)) / mp.jtheta(3, 0, mp.exp(-1 / (2 * sigma**2)))

    outside = [k for k in range(-60, 61) if not -2 <= k <= 2]
    truth = sum(law(k) * (1 + (law(k - 1) / law(k)) ** mp.mpf(a)) for k in outside)
    bound = DiscreteGaussian("1/2").left_out(a, range(-2, 3))
    assert bound > arb(mp.nstr(truth, 30))


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("sigma", "gamma"), [("1/2", "1/4"), (2, "1/10")])
def test_order_one_by_another_engine(sigma, gamma, adjacency):
    m = PoissonSubsample(Gaussian(sigma), gamma, adjacency=adjacency)
    ball, other = m.rdp(1, digits=15), m.rdp(1, digits=15, engine="mpmath")
    assert abs(fraction(ball.upper) - fraction(other.upper)) < fraction(ball.upper) / 10**13


def test_the_nodes_left_out_of_a_line_are_at_most_their_bound():
    bell = plane.Bell(arb(0), (arb(0), arb(0)))
    rule = plane.PlaneRule((0.5, 0.0), (1.0, 0.0), 7.5)
    low, high = plane._span(bell, rule.log_tolerance - 8, 0.5)
    outside = [j for j in range(-200, 201) if not low <= j < high]
    truth = sum(mp.npdf(mp.mpf(j) / 2) / 2 for j in outside)
    bound = plane._outside(bell, rule, [])
    assert arb(mp.nstr(truth, 30)) < bound
    assert bound < 2 * arb(mp.nstr(truth, 30))
    one, other = (plane.Bell(arb(0), (arb(c), arb(0))) for c in (0.2, -0.2))
    assert plane._outside(one, rule, []).overlaps(plane._outside(other, rule, []))


def test_a_sign_that_is_moved_leaves_the_product():
    x, y = sympy.symbols("x y")
    for f in (-2 * x, -3 * x * y, sympy.Mul(-1, x + 1, y, evaluate=False), x * y):
        assert sympy.expand(sympy.Mul(*_positive_factors(f)) - f) == 0


@pytest.mark.parametrize("w", [0.25, 1.0])
def test_a_line_above_has_the_error_of_its_mirror_image(w):
    """What the transform is off by bounds both strips, e^{(y+w)²/2} and e^{(y−w)²/2}."""
    law = Lognormal(Fraction(1))
    above, below = (law._strip(Line(y, w, 0.5)) for y in (1.5, -1.5))
    assert above.overlaps(below)
    assert above > (arb(1.5 + w) ** 2 / 2).exp() / (4 * arb.pi() * w).exp()
