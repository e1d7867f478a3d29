"""Sampling as a functional of three laws: the exact curves against numbers found otherwise."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb
from mpmath.ctx_mp import MPContext
from numpy.polynomial.hermite_e import hermegauss

from symacct import (
    Accountant,
    AdjacencyError,
    AssumptionError,
    DomainError,
    FiniteMechanism,
    Gaussian,
    Kind,
    Laplace,
    LimitError,
    OrderError,
    PoissonSubsample,
    PrecisionError,
    PureDP,
    RandomizedResponse,
    ScalarGaussian,
    SubsampleWithoutReplacement,
    softmax_bounds,
)
from symacct.analysis import triangles
from symacct.analysis import worst_triangle as worst_triangles
from symacct.analysis.triangles import Triangles, Triple, on_a_piece, slopes, triple_log_excess
from symacct.analysis.worst_triangle import RiseBounds
from symacct.interop.opacus import to_opacus_history
from symacct.kernel.arithmetic.ball import ball, precision
from symacct.kernel.claims import INTEGER_ORDERS
from symacct.kernel.evaluation import OperationCurve
from symacct.theory.amplification import triples
from tests import independent
from tests.support import MP, answers, decimal_overlaps, overlap, stated
from tests.thinning import covering, some

DIGITS = 22

# --- Gaussian noise: values of a two-dimensional rule in 37 digits, by another program; those of
# the triangles once more by sums of integrals over the line, Σ_l C(α,l)κ^{α−l}γ^l e^{l(l−1)A/2}
# E[(κ+γe^V)^{1−α}], V ~ N(lc − B/2, B), in mpmath.
COLLINEAR = {
    (5, "1/1000", 8): "1.632835809696055654234565e-7",
    (1, "1/1000", 3): "2.584381409368696577719659e-6",
    (2, "1/10", 4): "6.003282964489648101884316e-3",
}
EQUILATERAL = {
    (5, "1/1000", 8): "1.648635318226014036067896e-7",
    (1, "1/1000", 3): "3.193384557610008419492906e-6",
    (2, "1/10", 4): "5.792367847909567469283172e-3",
}
OPPOSITE = {
    (5, "1/1000", 8): "6.401441322149678201751764e-7",
    (1, "1/1000", 3): "7.029527724478696582784671e-6",
    (2, "1/10", 4): "1.984184206123273643030926e-2",
}


@pytest.mark.parametrize("setting", COLLINEAR)
def test_the_worst_triples_of_gaussian_noise_to_twenty_digits(setting):
    sigma, gamma, alpha = setting
    fixed = SubsampleWithoutReplacement(Gaussian(sigma), gamma)
    worst = max(COLLINEAR[setting], EQUILATERAL[setting], key=Fraction)
    for by in ("TRIPLE-GAUSSIAN", "TRIPLE-GAUSSIAN-LOWER"):
        assert decimal_overlaps(fixed.rdp(alpha, by=by, digits=DIGITS), worst, 22)
    assert fixed.rdp(alpha, by="TRIPLE-GAUSSIAN").claim.kind is Kind.EXACT
    line = SubsampleWithoutReplacement(ScalarGaussian(sigma), gamma).rdp(alpha, digits=DIGITS)
    assert line.claim.kind is Kind.EXACT
    assert decimal_overlaps(line, COLLINEAR[setting], 22)
    poisson = PoissonSubsample(Gaussian(sigma), gamma, "replace_one").rdp(alpha, digits=DIGITS)
    assert poisson.claim.kind is Kind.EXACT
    assert decimal_overlaps(poisson, OPPOSITE[setting], 22)


@pytest.mark.parametrize(
    ("node", "delta", "epsilon"),
    [
        (SubsampleWithoutReplacement(PureDP(1), "1/1000"), "1e-8", "5.193620728"),
        (SubsampleWithoutReplacement(PureDP("1/2"), "1/1000"), "1e-8", "2.202728146"),
        (SubsampleWithoutReplacement(Laplace(2), "1/1000"), "1e-8", "2.043969207"),
    ],
)
def test_600_000_runs(node, delta, epsilon):
    guarantee = (600_000 * node).epsilon(delta, digits=9)
    assert decimal_overlaps(guarantee.epsilon, epsilon, 10)
    assert guarantee.claim.kind is Kind.EXACT


# --- random triples

SETTINGS = [(1, "1/10", 3), (2, "1/3", 4), (5, "1/50", 9)]


def log_moment(alpha, gamma, a, b):
    """log E[m^α n^{1−α}] over the plane by a sum over a grid of its own."""
    z = np.linspace(-14, 14 + alpha * max(a[0], 0), 700)
    y = np.linspace(-14, 14 + alpha * max(a[1], 0), 700)
    grid = np.meshgrid(z, y, indexing="ij")
    x, w = (t[0] * grid[0] + t[1] * grid[1] - (t[0] ** 2 + t[1] ** 2) / 2 for t in (a, b))
    u, v = gamma * np.expm1(x), gamma * np.expm1(w)
    s = (u - v) / (1 + v)
    gap = (1 + v) * (np.expm1(alpha * np.log1p(s)) - alpha * s)
    weights = np.exp(-(grid[0] ** 2 + grid[1] ** 2) / 2) / (2 * np.pi)
    return np.log1p(np.sum(weights * gap) * (z[1] - z[0]) * (y[1] - y[0]))


def exact_moment(mixed, alpha):
    return sum(m**alpha * n ** (1 - alpha) for m, n in mixed)


def favouring(answer, odds, answers):
    return [Fraction(odds if i == answer else 1, odds + answers - 1) for i in range(answers)]


@covering(lambda gamma, odds, alpha: {(gamma, odds), alpha})
@pytest.mark.parametrize("gamma", [Fraction(1, 1000), Fraction(1, 10), Fraction(9, 10)])
@pytest.mark.parametrize("odds", [2, 3, 20])
@pytest.mark.parametrize("alpha", [2, 5, 30])
def test_two_or_three_answers_attain_theorem_2_in_exact_fractions(gamma, odds, alpha):
    found = []
    for answers_, triple in ((2, (0, 1, 1)), (3, (0, 1, 2))):
        p, other, q = (favouring(i, odds, answers_) for i in triple)
        mixed = [
            (c + gamma * (a - c), c + gamma * (b - c)) for a, b, c in zip(p, other, q, strict=True)
        ]
        found.append(exact_moment(mixed, alpha))
    node = SubsampleWithoutReplacement(PureDP(sympy.log(odds)), gamma)
    value = Accountant(30).cgf(node, alpha - 1)
    expected = MP.log(independent.number(MP, max(found)))
    assert value.lower <= expected * (1 + MP.mpf(10) ** -28)
    assert expected * (1 - MP.mpf(10) ** -28) <= value.upper
    if odds == 2:  # up to ε₀ = log 2 two answers are always the worse
        assert found[0] >= found[1]
    elif gamma == Fraction(1, 1000):  # beyond, three are for small rates
        assert found[1] > found[0]


@pytest.mark.parametrize("odds", [2, 20])
@pytest.mark.parametrize("alpha", [2, 7])
def test_opposite_answers_attain_theorem_3_in_exact_fractions(odds, alpha):
    gamma, w = Fraction(1, 7), Fraction(1, odds + 1)
    q = [w, w, 1 - 2 * w]
    p = [odds * w, w / odds, (1 - 2 * w) / odds]
    mixed = [
        (c + gamma * (a - c), c + gamma * (b - c))
        for a, b, c in zip(p, p[1::-1] + p[2:], q, strict=True)
    ]
    node = PoissonSubsample(PureDP(sympy.log(odds)), gamma, "replace_one")
    value = Accountant(30).cgf(node, alpha - 1)
    expected = MP.log(independent.number(MP, exact_moment(mixed, alpha)))
    assert abs(value.upper - expected) < MP.mpf(10) ** -25
    assert sum(p) == sum(q) == 1


# --- against everything else that is proved


@pytest.mark.parametrize(
    "node",
    [
        SubsampleWithoutReplacement(PureDP(1), "1/100"),
        SubsampleWithoutReplacement(Laplace(2), "1/10"),
        SubsampleWithoutReplacement(RandomizedResponse("3/5"), "1/10"),
        SubsampleWithoutReplacement(ScalarGaussian(2), "1/10"),
        PoissonSubsample(Gaussian(2), "1/10", "replace_one"),
        PoissonSubsample(PureDP("1/2"), "1/3", "replace_one"),
    ],
    ids=repr,
)
def test_every_published_bound_is_above_the_exact_curve_and_every_lower_one_below(node):
    for alpha in (2, Fraction(7, 2), 12, float("inf")):
        exact = node.rdp(alpha, digits=25)
        if alpha != float("inf"):
            assert exact.claim.kind is Kind.EXACT
        for name, answer in answers(node, alpha).items():
            if answer.claim.kind is not Kind.LOWER:
                assert exact.lower <= answer.upper, name
            if answer.claim.kind is not Kind.UPPER:
                assert answer.lower <= exact.upper, name


@pytest.mark.parametrize("setting", [*SETTINGS, ("1/2", "3/10", 5), (2, "9/10", Fraction(3, 2))])
def test_one_triangle_is_above_all(setting):
    """At places along B, both ends among them, by another rule; its own value too."""
    sigma, gamma, alpha = setting
    d, g = 1 / float(Fraction(sigma)), float(Fraction(gamma))
    node = SubsampleWithoutReplacement(Gaussian(sigma), gamma)
    bound = float(node.rdp(alpha, by="TRIPLE-GAUSSIAN-UPPER").upper) * float(alpha - 1)
    for square in np.linspace(0, d * d, some(5, 17)):
        a = d - square / (2 * d)
        rise = np.sqrt(max(0.0, d * d - a * a))
        assert log_moment(float(alpha), g, (a, rise), (a - d, rise)) <= bound
    gram = np.array([[(161 / 144) ** 2, 0.5], [0.5, 1]]) * d * d
    a, b = np.linalg.cholesky(gram)
    assert bound == pytest.approx(log_moment(float(alpha), g, a, b), rel=1e-8)


def places_of(triangles):
    """The triples of which one is proved to be the worst."""
    return [place.refined(24)[0] for place in worst_triangles.worst(triangles)]


def test_an_end_is_proved_where_the_steepest_rise_is_far_too_steep():
    """At σ = 1/4 it is e^B; G falls by a quarter."""
    triangles = Triangles(Fraction(8, 5), Fraction(1, 1000), Fraction(4))
    with precision(53):
        assert places_of(triangles) == [triangles.ends[0]]


def test_600_000_runs_of_gaussian_noise_prove_the_triangle_at_one_order(monkeypatch):
    """0.84083608317476 by an independent two-dimensional rule over real orders."""
    decided = []
    worst = triples.worst
    monkeypatch.setattr(triples, "worst", lambda t: decided.append(t) or worst(t))
    triples._worst.cache_clear()
    node = 600_000 * SubsampleWithoutReplacement(Gaussian(5), "1/1000")
    guarantee = Accountant().epsilon(node, "1e-8", by="TRIPLE-GAUSSIAN", digits=12)
    assert decimal_overlaps(guarantee.epsilon, "0.84083608317476", 12)
    assert guarantee.claim.kind is Kind.EXACT
    assert abs(guarantee.alpha - Fraction("35.65")) < Fraction("0.01")
    assert guarantee.optimal
    assert len(decided) <= 2  # at 2 too, which the order 1 is weighed by


def test_a_theorem_that_may_say_nothing_stands_aside_there(monkeypatch):
    """Where it answers, being tight, no other is asked; where not, and in formulas, the others."""
    asked = []
    value_by = OperationCurve.value_by

    def counted(curve, theorem, alpha):
        asked.append(theorem.name)
        return value_by(curve, theorem, alpha)

    def at_even_orders(ctx, eps, alpha, gamma):
        """ε′(α) = γ² ε(α)/1000"""
        if alpha % 2:
            raise {3: OrderError, 5: PrecisionError, 7: LimitError}[alpha]("nothing here")
        return gamma**2 * eps(alpha) / 1000

    node = SubsampleWithoutReplacement(2 * Gaussian(7), "1/300")
    other = {alpha: node.rdp(alpha) for alpha in (3, 5, 7)}
    by_formula = node.formula()
    monkeypatch.setattr(OperationCurve, "value_by", counted)
    statement = {"orders": INTEGER_ORDERS, "default": True, "tight": True, "partial": True}
    with stated("TEST-EVEN", at_even_orders, "TRIPLE-GAUSSIAN", **statement):
        node.__dict__.pop("_claim", None)
        even = Accountant().rdp(node, 4)
        assert even.claim.kind is Kind.EXACT
        assert even.claim.theorems[0] == "TEST-EVEN"
        assert set(asked) == {"TEST-EVEN", "MIR17-P1"}  # and the mechanism's own
        for alpha, known in other.items():
            found = Accountant().rdp(node, alpha)
            assert (found.lower, found.claim) == (known.lower, known.claim)
        several = Accountant(engine="float64").rdp(node, np.array([3.0, 4.0, 6.0, 7.0]))
        alone = [Accountant(engine="float64").rdp(node, alpha).upper for alpha in (3, 4, 6, 7)]
        assert several == pytest.approx([float(x) for x in alone], rel=1e-12)
        assert node.formula() == by_formula
        # A curve that is exact at some orders only is no premise for what needs it at all.
        whole, _ = Accountant().curve(node).inferred(2, throughout=True)
        assert whole.kind is Kind.UPPER


def test_where_nothing_is_proved_the_exact_theorem_stands_aside(monkeypatch):
    """Inside [0, δ²] G − 1 is larger by 1.6 %: there is an upper bound, by another name."""
    node = SubsampleWithoutReplacement(Gaussian("100000000/70710678"), "3.16e-6")
    with monkeypatch.context() as patched:
        few = replace(worst_triangles._SEARCH, integrated_pieces=2)  # more prove it: test_worst.py
        patched.setattr(worst_triangles, "_SEARCH", few)
        triples._worst.cache_clear()
        with pytest.raises(PrecisionError, match="-NEAR"):
            node.rdp(50, by="TRIPLE-GAUSSIAN", digits=6)
    triples._worst.cache_clear()
    found = node.rdp(50, by="TRIPLE-GAUSSIAN-NEAR", digits=6)
    assert found.claim.kind is Kind.UPPER
    inside = 0.740293 * 50 * 49 / 2 * 3.16e-6**2
    assert inside / 1.0001 < 49 * float(found.upper) < 1.03 * inside


SPANS = {
    (8, "1/10", "1/2"): ("1/8", "5/32"),
    (Fraction(3, 2), "3/10", "1/20"): ("1/1600", "1/400"),
    (3, "9/10", "1/500"): ("0", "1/1000000"),
    (6, "1/1000", "1"): ("7/8", "15/16"),
    (Fraction(7, 3), "1/50", "1/2"): ("1/16", "1/8"),
    (Fraction(5, 4), "1/1000", "1"): ("1/2", "5/8"),
    (Fraction(81, 2), "1/1000", "1/5"): ("0", "1/500"),
}


def slope_by_differences(triangles, low, high):
    """dG/dB by central differences of G, in mpmath by Hermite's nodes."""
    mp = MPContext()
    mp.dps = 40
    gamma, alpha, d = (
        independent.number(mp, x) for x in (triangles.gamma, triangles.alpha, triangles.delta)
    )
    rule = [(mp.mpf(float(x)), mp.mpf(float(w))) for x, w in zip(*hermegauss(60), strict=True)]

    def moment(square):
        a, b = d - square / (2 * d), -square / (2 * d)
        rise, total = mp.sqrt(d * d - a * a), mp.mpf(0)
        for (z, v), (y, w) in itertools.product(rule, rule):
            x = gamma * mp.exp(a * z + rise * y - d * d / 2) + 1 - gamma
            other = gamma * mp.exp(b * z + rise * y - square / 2) + 1 - gamma
            total += v * w * x**alpha * other ** (1 - alpha)
        return total / (2 * mp.pi)

    middle = independent.number(mp, (low + high) / 2)
    step = independent.number(mp, (high - low) / 1000)
    return float((moment(middle + step) - moment(middle - step)) / (2 * step))


@covering(lambda setting: {setting[1] if setting[1] != "1/50" else "1/1000"})
@pytest.mark.parametrize("setting", SPANS)
def test_the_slope_along_b_is_enclosed(setting):
    """By an integral, and by the sum of exponentials, where there is one."""
    low, high = map(Fraction, SPANS[setting])
    triangles = Triangles(*map(Fraction, setting))
    found = slope_by_differences(triangles, low, high)
    with precision(53):
        looks = RiseBounds(triangles)
        least, most = looks.bounds(low, high)
        held = on_a_piece(triangles, low, high).slope
    assert held.lower() < found < held.upper()
    assert least < found < most
    summed = looks.exponentials is not None
    assert summed == (setting[1] not in ("3/10", "9/10") and setting[0] != 8)
    assert not summed or most - least < triangles.factor * ball(triangles.delta**2) / 2


def test_a_sum_of_exponentials_loses_no_more_than_it_leaves_out():
    found = slopes(Fraction(8), Fraction(1, 1000), Fraction(1, 5))
    place = Fraction(1, 50)
    least, most = found.over(place, place)
    assert 0 < most - least < (found.below + found.above) * 1.01


def test_far_below_and_at_the_jump_an_end_is_proved_without_an_integral_of_the_slope(monkeypatch):
    """G falls and rises again along B; at 344.45 the larger end is the line, hardly."""

    def never(*args):
        raise AssertionError("an integral of the slope was asked for")

    monkeypatch.setattr(worst_triangles, "on_a_piece", never)
    for alpha, end in ((36, 1), (200, 1), (300, 0), (Fraction("344.45"), 0), (400, 0)):
        triangles = Triangles(Fraction(alpha), Fraction(1, 1000), Fraction(1, 5))
        with precision(53):
            assert places_of(triangles) == [triangles.ends[end]]
            places = [triangles.delta**2 * k / 8 for k in range(9)]
            values = [triple_log_excess(triangles.at(square)) for square in places]
        assert max(values) == values[-end]


def test_no_answer_rests_on_what_steers():
    """A steer that is far too small moves the order found, never what is claimed there."""
    node = 1000 * SubsampleWithoutReplacement(Gaussian(2), "1/9")

    def far_too_small(ctx, eps, alpha, gamma):
        return eps(alpha) * ctx.number(Fraction(1, 10**9))

    def of_the_mechanism(ctx, eps, alpha, gamma):
        return eps(alpha)

    statement = {"monotone": True, "steer": far_too_small}
    with stated("TEST-STEERED", of_the_mechanism, "TRIPLE-DOMINATED", **statement):
        for orders in (None, "integer", [2, 4]):
            found = Accountant().epsilon(node, "1e-5", by="TEST-STEERED", orders=orders)
            truth = (1000 * Gaussian(2)).epsilon("1e-5", orders=[found.alpha])
            assert found.alpha != 1
            assert overlap(found.epsilon, truth.epsilon)


def test_one_dimension_is_claimed_only_where_it_is_declared():
    node = SubsampleWithoutReplacement(Gaussian(2), "1/10")
    with pytest.raises(AssumptionError, match="ScalarGaussian"):
        node.rdp(3, by="TRIPLE-LINE")
    with pytest.raises(AssumptionError, match="on a line there is no triangle"):
        SubsampleWithoutReplacement(ScalarGaussian(2), "1/10").rdp(3, by="TRIPLE-GAUSSIAN-LOWER")


# --- the relation


def test_an_open_relation_is_no_relation():
    with pytest.raises(AdjacencyError, match="needed 'add_remove', 'replace_one' or 'zero_out'"):
        PoissonSubsample(Gaussian(5), "1/10", "either")


def test_what_knows_one_relation_alone_refuses_the_other():
    crossed = PoissonSubsample(Gaussian(5), "1/10", "replace_one")
    with pytest.raises(DomainError, match="for add_remove neighbours"):
        to_opacus_history(crossed)
    with pytest.raises(AssumptionError):
        softmax_bounds(crossed, 4)


# --- finitely many laws


def test_k_ary_randomized_response_and_the_exponential_mechanism():
    three = FiniteMechanism.randomized_response(3, 2)
    assert three.laws[0] == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    scored = FiniteMechanism.exponential([[0, 1, 2], [1, 1, 1], [2, 1, 0]], "3/2")
    assert scored.laws[1] == (Fraction(1, 3),) * 3
    assert three._swap_symmetric
    assert not scored._swap_symmetric
    assert overlap(
        FiniteMechanism.randomized_response(2, 3).rdp(5), RandomizedResponse("3/4").rdp(5)
    )


@pytest.mark.parametrize(
    "bad", [[["1/2", "1/2"]], [["1/2", "1/2"], ["1/3", "1/3", "1/3"]], "laws", [["1/2", "1/3"]] * 2]
)
def test_laws_that_are_none_are_refused(bad):
    with pytest.raises(DomainError):
        FiniteMechanism(bad)


@pytest.mark.parametrize("delta", [4, 10, 12])
def test_float64_at_order_1_where_what_is_summed_is_a_square(delta):
    """γ = 10⁻¹⁵⁰: ½γ²E[(X−Y)²] = γ²(e^{δ²} − e^{−δ²}) but for a share of γe^{2δ²}."""
    node = PoissonSubsample(Gaussian(Fraction(1, delta)), Fraction(1, 10**150), "replace_one")
    found = Accountant(engine="float64").rdp(node, 1)
    assert float(found.lower) <= 2e-300 * math.sinh(delta**2) <= float(found.upper)


def test_float64_at_order_1_with_more_nodes_than_memory_is_a_limit():
    node = PoissonSubsample(Gaussian("1e-5"), "1/100", "replace_one")
    with pytest.raises(LimitError, match="more than 16,777,216 nodes"):
        Accountant(engine="float64").rdp(node, 1)


def test_a_row_of_a_line_has_one_node():
    bell = triangles.Bell(arb(0), (arb(0), arb(0)))
    rule = triangles.PlaneRule((0.5, 1.0), (1.0, 0.0), 7.5)
    rows = list(triangles.rows_of(rule, triangles.BellMajorant((bell,))))
    assert rows == [(i, 0, 1) for i in range(*triangles._span(bell, -0.5, 0.5))]
    assert len(rows) > 1


def test_the_nodes_left_out_of_a_line_are_at_most_their_bound():
    bell = triangles.Bell(arb(0), (arb(0), arb(0)))
    rule = triangles.PlaneRule((0.5, 0.0), (1.0, 0.0), 7.5)
    low, high = triangles._span(bell, rule.log_tolerance - 8, 0.5)
    outside = [j for j in range(-200, 201) if not low <= j < high]
    truth = sum(MP.npdf(MP.mpf(j) / 2) / 2 for j in outside)
    bound = triangles._outside(bell, rule, [])
    assert arb(MP.nstr(truth, 30)) < bound
    assert bound < 2 * arb(MP.nstr(truth, 30))
    one, other = (triangles.Bell(arb(0), (arb(c), arb(0))) for c in (0.2, -0.2))
    assert triangles._outside(one, rule, []).overlaps(triangles._outside(other, rule, []))


@pytest.mark.parametrize("gamma", ["1/5", "4/5"])
@pytest.mark.parametrize(("z", "y"), [(0, 1), (1, 2), (-2, "1/2"), (3, -1)])
def test_the_bells_of_a_triple_touch_what_they_bound(gamma, z, y):
    """Where w is the share of the rest in m, the convexity of m^α loses nothing."""
    gamma, z, y = Fraction(gamma), Fraction(z), Fraction(y)
    a, b, r = Fraction(2, 3), Fraction(-1, 2), Fraction(5, 4)
    z, y, share = (MP.mpf(x.numerator) / x.denominator for x in (z, y, gamma))
    m, n = (share * MP.exp(t * z + r * y - (t * t + r * r) / 2) for t in map(MP.mpf, (2 / 3, -0.5)))
    triple = Triple(Fraction(3), gamma, a, b, r * r)
    bells = triangles.BellMajorant.weighted(
        triple, float(MP.log((1 - share) / (1 - share + m)))
    ).bells
    found = sum(
        MP.exp(float(bell.log_factor.mid()) - ((z - t) ** 2 + (y - u) ** 2) / 2)
        for bell in bells
        for t, u in [[float(x.mid()) for x in bell.centre]]
    )
    least = n if gamma > Fraction(1, 2) else 1 - share
    known = (1 - share + m) ** 3 / least**2 * MP.exp(-(z * z + y * y) / 2)
    assert float(found) == pytest.approx(float(known), rel=1e-9)
