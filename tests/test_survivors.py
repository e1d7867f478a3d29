"""What draws of faults over the package showed to be untested (docs/evidence.md)."""

from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import sympy
from flint import acb, arb

from symacct import (
    Curve,
    DiscreteGaussian,
    DistributionPair,
    Either,
    Gaussian,
    Laplace,
    PoissonSubsample,
    RandomizedResponse,
    laws,
)
from symacct.analysis import triangles
from symacct.analysis.jets import Jet, JetsOfBalls, _positive_factors, evaluator
from symacct.analysis.lognormal import Line, Lognormal
from symacct.analysis.triangles import Triple
from symacct.codegen.constants import in_float64
from symacct.codegen.context import CodeArithmetic
from symacct.codegen.measure import FloatMachine
from symacct.codegen.trace import trace
from symacct.kernel import symbols
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.laws.families import GeometricDirection
from symacct.laws.normal import blend_matrices, matrix
from symacct.mechanisms.pair import MixtureDirection, Overlap
from symacct.profile.losses.fixed_size import Equilateral, FixedSizeGaussian, _Frame
from symacct.profile.losses.sampled_gaussian import SampledFrame
from symacct.verify.asking import questions
from symacct.verify.judging.truth import Truth, _reflected
from symacct.verify.judging.verdict import Judge
from symacct.verify.peer.protocol import Ask, AskedPart
from tests.independent import fraction

mp = mpmath.mp.clone()
mp.dps = 40


def test_the_mirror_image_of_a_bracket_is_a_bracket():
    """δ(−ε) = 1 − e^{−ε}(1 − δ(ε)), of both ends."""
    ask = Ask("delta", (AskedPart("Gaussian", (("sigma", "1"),)),), "-1", "add_remove")
    found = _reflected(ask, Truth(Fraction(1, 4), Fraction(1, 2), False))
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


@pytest.mark.parametrize("epsilon", ["0.3", "0.6", "0.8"])
def test_the_profile_of_either_is_the_mean_of_both(epsilon):
    """1 − e^{(ε − 1/b)/2} of Laplace noise up to its largest loss 1/b, of which one is ½."""
    found = Either(Laplace(1), Laplace(2), "1/2").delta(epsilon, conversion="exact").delta
    known = (max(-mp.expm1((mp.mpf(epsilon) - loss) / 2), 0) for loss in (mp.one, mp.one / 2))
    assert float(found.upper) == pytest.approx(float(sum(known) / 2), rel=1e-12)


@pytest.mark.parametrize("sigma", ["1/4", "1/8"])
@pytest.mark.parametrize("delta", ["1e-5", "1e-2"])
def test_little_noise_has_no_smaller_epsilon_than_its_profile(sigma, delta):
    """δ(ε) of the mixture is at most δ, by the two normal tails beyond where the loss is ε."""
    q, s = mp.mpf(1) / 1000, mp.mpf(Fraction(sigma).numerator) / Fraction(sigma).denominator
    found = PoissonSubsample(Gaussian(sigma), "1/1000").epsilon(delta).epsilon
    epsilon = mp.mpf(float(found.upper)) * (1 + mp.mpf(10) ** -12)
    start = s**2 * mp.log((mp.expm1(epsilon) + q) / q) + mp.mpf(1) / 2
    one, other = (mp.ncdf(-(start - mean) / s) for mean in (0, 1))
    assert (1 - q) * one + q * other - mp.exp(epsilon) * one <= mp.mpf(delta)


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
    bell = triangles.Bell(arb(0), (arb(0), arb(0)))
    rule = triangles.PlaneRule((0.5, 0.0), (1.0, 0.0), 7.5)
    low, high = triangles._span(bell, rule.log_tolerance - 8, 0.5)
    outside = [j for j in range(-200, 201) if not low <= j < high]
    truth = sum(mp.npdf(mp.mpf(j) / 2) / 2 for j in outside)
    bound = triangles._outside(bell, rule, [])
    assert arb(mp.nstr(truth, 30)) < bound
    assert bound < 2 * arb(mp.nstr(truth, 30))
    one, other = (triangles.Bell(arb(0), (arb(c), arb(0))) for c in (0.2, -0.2))
    assert triangles._outside(one, rule, []).overlaps(triangles._outside(other, rule, []))


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


@pytest.mark.parametrize("at", ["0.3", "0.9", "1.7", "3.1"])
def test_a_jet_of_jets_has_the_second_derivative_of_the_larger(at):
    expression = sympy.Max(symbols.x**3, sympy.sqrt(symbols.x) + 1) * sympy.Abs(symbols.x - 2)
    expression -= sympy.Min(sympy.log(symbols.x), symbols.x / 3)
    sort = JetsOfBalls()
    place = Jet(sort, Jet(sort.balls, acb(arb(at)), acb(1)), sort.number(1))
    found = evaluator(expression)(place)
    calls = {"Max": max, "Min": min, "Abs": abs, "log": mp.log, "sqrt": mp.sqrt}
    function = sympy.lambdify(symbols.x, expression, modules=[calls])
    jets = (found.value.value, found.value.slope, found.slope.value, found.slope.slope)
    for derivative, value in zip((0, 1, 1, 2), jets, strict=True):
        known = mp.diff(function, mp.mpf(at), derivative)
        assert float(value.real.mid()) == pytest.approx(float(known), rel=1e-12)


@pytest.mark.parametrize("gamma", ["1/5", "4/5"])
@pytest.mark.parametrize(("z", "y"), [(0, 1), (1, 2), (-2, "1/2"), (3, -1)])
def test_the_bells_of_a_triple_touch_what_they_bound(gamma, z, y):
    """Where w is the share of the rest in m, the convexity of m^α loses nothing."""
    gamma, z, y = Fraction(gamma), Fraction(z), Fraction(y)
    a, b, r = Fraction(2, 3), Fraction(-1, 2), Fraction(5, 4)
    z, y, share = (mp.mpf(x.numerator) / x.denominator for x in (z, y, gamma))
    m, n = (share * mp.exp(t * z + r * y - (t * t + r * r) / 2) for t in map(mp.mpf, (2 / 3, -0.5)))
    triple = Triple(Fraction(3), gamma, a, b, r * r)
    bells = triangles.BellMajorant.weighted(
        triple, float(mp.log((1 - share) / (1 - share + m)))
    ).bells
    found = sum(
        mp.exp(float(bell.log_factor.mid()) - ((z - t) ** 2 + (y - u) ** 2) / 2)
        for bell in bells
        for t, u in [[float(x.mid()) for x in bell.centre]]
    )
    least = n if gamma > Fraction(1, 2) else 1 - share
    known = (1 - share + m) ** 3 / least**2 * mp.exp(-(z * z + y * y) / 2)
    assert float(found) == pytest.approx(float(known), rel=1e-9)


@pytest.mark.parametrize("a", [1.5, 3.0])
def test_what_lies_under_chords_is_no_more_than_is_said(a):
    """∫QR^a between two points beyond the peak of the integrand."""
    frame = SampledFrame(arb(1), arb(0.25), arb(0.75), a)

    def at(x):
        return mp.npdf(x) * (mp.mpf("0.75") + mp.exp(x - mp.mpf("0.5")) / 4) ** mp.mpf(a)

    for start in (a + 0.5, a + 2):
        truth = mp.quad(at, [start, start + 2, start + 6])
        bound = frame._under_chords(arb(start), arb(start + 6))
        assert arb(mp.nstr(truth, 30)) < bound
        assert bound < 3 * arb(mp.nstr(truth, 30))


@pytest.mark.parametrize("ellipse", [1.5, 2.5])
@pytest.mark.parametrize("count", [2, 5])
def test_gauss_rule_on_a_panel_is_off_by_as_much_as_the_theorem_says(ellipse, count):
    """64M/15 · ρ^{−2n}/(1 − ρ^{−2}), M the largest modulus on the ellipse of a narrow panel."""
    part, a, middle, half = FixedSizeGaussian(Fraction(1), Fraction(1, 3)), 2, 1.0, 0.01

    def at(v):
        ratio = (2 + mp.exp(v)) / 3
        return mp.npdf(v + mp.mpf("0.5")) * (abs(ratio**a) + abs(ratio ** (1 - a)))

    turns = (mp.expjpi(mp.mpf(k) / 32) * ellipse for k in range(64))
    most = max(abs(at(middle + half * (u + 1 / u) / 2)) for u in turns)
    share = mp.mpf(ellipse) ** -2
    known = 64 * half * most * share**count / (1 - share) / 15
    frame = _Frame(part, float(a), 0.0)
    found = frame.quadrature_error(arb(middle), arb(half), arb(ellipse), count)
    assert float(known) <= float(found.mid()) <= 1.05 * float(known)


@pytest.mark.parametrize("gamma", ["1/2", "99/100"])
@pytest.mark.parametrize("t", [0.0, 1000.0])
def test_the_curvature_off_the_line_is_at_most_its_bound(gamma, t):
    """∫|f_zz| and ∫|f_yy| of f = φ m² n^{−1} (m/n)^{it}, by differences on a grid."""
    part, a = Equilateral(Fraction(1, 4), Fraction(gamma)), 2.0
    step = 2.0**-8
    places, little = np.arange(-6, 7, 0.125), step * np.arange(-1, 2)
    z, y = (places[:, None, None, None] + little[:, None], places[:, None, None] + little)
    log_m, log_n = part._log_laws(z, y)
    log_f = a * log_m + (1 - a) * log_n - (z * z + y * y) / 2 + 1j * t * (log_m - log_n)
    f = np.exp(log_f) / (2 * np.pi)
    bends = (
        (f[..., 0, 1] - 2 * f[..., 1, 1] + f[..., 2, 1]),
        (f[..., 1, 0] - 2 * f[..., 1, 1] + f[..., 1, 2]),
    )
    for bend, bound in zip(bends, part.curvature_bounds(a, t), strict=True):
        assert np.abs(bend).sum() * 0.125**2 / step**2 <= float(bound.mid())


@pytest.mark.parametrize(("first", "second"), [("3.03", 3), (3, "3.03")])
def test_of_directions_that_are_nearly_equal_the_larger_is_taken(first, second):
    """E[(1 − γ + γP/Q)^α] of two normal laws, whose two roles a chord hardly tells apart."""
    alpha, gamma = mp.mpf("4.9"), mp.mpf(1) / 10
    laws_of = [(mp.mpf(i), mp.sqrt(v)) for i, v in enumerate((first, second))]

    def moment(p, q):
        def at(x):
            ratio = mp.npdf(x, *p) / mp.npdf(x, *q)
            return mp.npdf(x, *q) * (1 - gamma + gamma * ratio) ** alpha

        return mp.quad(at, range(-60, 61, 4))

    known = max(mp.log(moment(*roles)) for roles in (laws_of, laws_of[::-1])) / (alpha - 1)
    pair = DistributionPair(laws.Normal(0, first), laws.Normal(1, second))
    found = PoissonSubsample(pair, "1/10").rdp("4.9", digits=15)
    assert float(found.upper) == pytest.approx(float(known), rel=1e-12)


@pytest.mark.parametrize("formula", ["2 - exp(-alpha/9)", "1 - exp(-alpha/10**8)"])
def test_code_of_a_number_less_an_exponential(formula):
    node = Curve(formula, kind="upper", adjacency="either")
    machine = FloatMachine(in_float64(trace(node, None, {}, CodeArithmetic, 40)))
    for alpha in (1.0, 2.5, 40.0):
        known = node.rdp(Fraction(alpha), digits=20).upper
        assert machine.epsilon(alpha, {}) == pytest.approx(float(known), rel=1e-15)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("half", "whole"),
    [("exp(-x)", "exp(-Abs(x))/2"), ("1/(1 + x)**2", "1/(1 + Abs(x))**2/2")],
)
def test_a_law_on_half_the_line_is_twice_the_one_on_the_whole(half, whole, reverse):
    """m/Q is 1 + γ on one side and 1 − γ on the other, where P is 0 up to infinity."""
    first = laws.Density(half, [0, "inf"])
    overlap = Overlap(first, laws.Density(whole, ["-inf", 0, "inf"]))
    power = -2 if reverse else 3
    moment = (mp.mpf("0.75") ** power + mp.mpf("1.25") ** power) / 2
    with precision(53):
        found = MixtureDirection(overlap, Fraction(1, 4), reverse).curve(BALL)(3)
    assert float(found.mid()) == pytest.approx(float(mp.log(moment) / 2), rel=1e-13)


@pytest.mark.parametrize(("value", "short"), [("1/2", True), ("3/2", False)])
def test_what_is_less_than_the_theorem_that_it_names_is_short(value, short):
    """And what is more is not; the theorem says 1."""
    judge = SimpleNamespace(_claimed=lambda case: (Fraction(1), Fraction(1)))
    case = SimpleNamespace(
        value=Fraction(value),
        answer=SimpleNamespace(claims="a theorem"),
        below_upper=False,
        truth=SimpleNamespace(exact=True),
        finding=lambda verdict, right, **said: (verdict, right, said["short"]),
    )
    assert Judge._not_as_claimed(judge, case) == ("wrong-formula", Fraction(1), short)


@pytest.mark.parametrize(
    ("name", "value", "moved"),
    [("sigma", "3", {"2.7"}), ("p", "3/4", {"0.825"}), ("p", "0.95", set())],
)
def test_a_twin_has_less_noise_and_is_a_mechanism(name, value, moved):
    """Whatever σ is, and a p as long as it is below 1."""
    twins = questions._moved(AskedPart("a mechanism", ((name, value),)), Decimal("0.1"))
    assert {twin.parameters for twin in twins} == {((name, text),) for text in moved}
