"""Remarks, footnotes and appendices of the papers, each against a method that is not ours."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from symacct import (
    ZCDP,
    Accountant,
    AssumptionError,
    Curve,
    DistributionPair,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Laplace,
    OrderError,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    VectorLaplace,
    laws,
)
from symacct.kernel.claims import Kind
from symacct.kernel.exact import INFINITY
from tests import independent
from tests.support import holds
from tests.thinning import covering, examples

MP = independent.context(60)
F = Fraction


def number(x):
    return independent.number(MP, F(x))


# --- WBK19, Appendix I: one direction, orders below 1


def normal(mean, variance):
    mean, variance = number(mean), number(variance)
    return lambda x: MP.exp(-((x - mean) ** 2) / (2 * variance)) / MP.sqrt(2 * MP.pi * variance)


def gamma_law(shape, rate):
    shape, rate = number(shape), number(rate)
    return lambda x: rate**shape * x ** (shape - 1) * MP.exp(-rate * x) / MP.gamma(shape)


def beta_law(a, b):
    a, b = number(a), number(b)
    return lambda x: x ** (a - 1) * (1 - x) ** (b - 1) / MP.beta(a, b)


FAMILIES = {
    "normal": (laws.Normal, normal, (F(1, 2), F(3)), (F(-1), F(2)), [-30, -4, 0, 4, 30]),
    "gamma": (laws.Gamma, gamma_law, (F(3), F(2)), (F(5), F(1)), [0, 2, 6, 20, 120]),
    "beta": (laws.Beta, beta_law, (F(2), F(3)), (F(4), F(2)), [0, F(1, 2), 1]),
    "exponential": (
        laws.Exponential,
        lambda rate: lambda x: number(rate) * MP.exp(-number(rate) * x),
        (F(5),),
        (F(1, 2),),
        [0, 1, 4, 20, 200],
    ),
}


@covering()
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("alpha", [F(1, 10), F(1, 2), F(9, 10), F(3, 2)])
@pytest.mark.parametrize("reverse", [False, True])
def test_one_direction_below_and_above_order_1_is_its_integral(family, alpha, reverse):
    law, density, *parameters, places = FAMILIES[family]
    first, second = reversed(parameters) if reverse else parameters
    pair = DistributionPair(*(law(*values) for values in parameters))
    p, q = density(*first), density(*second)
    power = number(alpha)
    integral = MP.quad(lambda x: p(x) ** power * q(x) ** (1 - power), list(map(number, places)))
    found = pair.divergence(alpha, 18, reverse=reverse)
    if alpha > 1 and found.upper == INFINITY:  # this integral diverges
        return
    assert holds(found, MP.log(integral) / (power - 1), 16, trusted=18)
    assert alpha in found.claim.orders


@given(
    st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any),
    st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any),
    st.fractions(0, F(99, 100), max_denominator=100),
)
@examples(20, 60)
def test_finite_laws_below_order_1_are_their_sum(p, q, alpha):
    p, q = ([F(x, sum(law)) for x in law] for law in (p, q))
    found = DistributionPair(p, q).divergence(alpha, 20)
    both = [(number(x), number(y)) for x, y in zip(p, q, strict=True) if x and y]
    if not both:
        assert found.lower == INFINITY
        return
    power = number(alpha)
    total = MP.fsum(x**power * y ** (1 - power) for x, y in both)
    assert abs(MP.log(total) / (power - 1) - MP.make_mpf(found.upper._mpf_)) < MP.mpf(10) ** -18
    # Skew symmetry: (1−α) D_α(P‖Q) = α D_{1−α}(Q‖P).
    if alpha:
        again = DistributionPair(p, q).divergence(1 - alpha, 20, reverse=True)
        ends = (number(1 - alpha) * MP.make_mpf(found.upper._mpf_),
                power * MP.make_mpf(again.upper._mpf_))  # fmt: skip
        assert abs(ends[0] - ends[1]) < MP.mpf(10) ** -18


def test_order_0_is_the_mass_where_the_other_law_is():
    pair = DistributionPair(["1/2", "1/2", 0], ["1/4", "1/4", "1/2"])
    assert holds(pair.divergence(0, 20), MP.log(2), 19)
    assert pair.divergence(0, 20, reverse=True).upper == 0
    assert DistributionPair(laws.Normal(0, 1), laws.Normal(3, 1)).divergence(0).upper == 0


def test_what_is_known_from_order_1_on_alone():
    mixed = DistributionPair(laws.Laplace(0, 1), laws.Laplace(1, 1))
    with pytest.raises(OrderError, match="alpha >= 1"):
        mixed.divergence("1/2")
    for bad in (-1, "-1/2"):
        with pytest.raises(DomainError):
            mixed.divergence(bad)


# --- K(−1) = 0


@pytest.mark.parametrize("m", [Gaussian(5), PoissonSubsample(PureDP(1), "1/10"), ZCDP("1/8"),
                               1000 * RandomizedResponse("3/5")], ids=repr)  # fmt: skip
def test_the_cgf_is_0_at_minus_1(m):
    for node in (m, 3 * m):
        found = node.cgf(-1)
        assert found.lower == found.upper == 0
        assert found.claim.kind is Kind.EXACT


def test_it_is_not_said_of_a_loss_that_may_be_infinite():
    with pytest.raises(AssumptionError, match="not known to be 0"):
        DistributionPair([1, 0], ["1/2", "1/2"]).cgf(-1)
    with pytest.raises(DomainError):
        Gaussian(5).cgf("-1/2")


# --- ZW19, Remark 7: Theorem 5 gives at most 3δ* where the exact curve would give δ*


@covering()
@pytest.mark.parametrize("m", [Gaussian(1), Gaussian(5), Laplace("1/2"), RandomizedResponse("9/10"),
                               PureDP(2)], ids=repr)  # fmt: skip
@pytest.mark.parametrize("gamma", ["1/1000", "1/20", "1/2", "9/10"])
def test_theorem_5_costs_at_most_three_times_the_delta_for_one_run(m, gamma):
    step = PoissonSubsample(m, gamma)
    orders = [2, 3, 4, 7, 20]
    upper, lower = ([step.cgf(a - 1, by=by) for a in orders] for by in ("ZW19-T5", "ZW19-T6"))
    for high, low in zip(upper, lower, strict=True):
        assert MP.make_mpf(high.lower._mpf_) <= MP.make_mpf(low.upper._mpf_) + MP.log(3)
    for epsilon in ("1/10", 1, 4):
        delta, star = (
            min(MP.exp(MP.make_mpf(k.upper._mpf_) - (a - 1) * number(epsilon))
                for a, k in zip(orders, ks, strict=True)) for ks in (upper, lower)
        )  # fmt: skip
        assert delta <= 3 * star


# --- ZW19, Remark 19: Laplace noise on a vector under l1 sensitivity


def laplace_hockey_stick(log_a, shift):
    """H_a of Laplace noise of scale 1 that is moved by `shift`, in closed form."""
    if log_a >= shift:
        return MP.mpf(0)
    if log_a <= -shift:
        return 1 - MP.exp(log_a)
    return 1 - MP.exp((log_a - shift) / 2)


def two_coordinates(log_a, first, second):
    """H_a of noise on two coordinates, by integrating over the loss of the first."""
    inner = [p for p in (log_a - second, log_a + second) if -first < p < first]

    def inside(loss):  # of the first coordinate, between its two atoms
        density = MP.exp((loss - first) / 2) / 4
        return density * laplace_hockey_stick(log_a - loss, second)

    total = MP.quad(inside, sorted([-first, *inner, first]))
    for loss, mass in ((first, MP.mpf(1) / 2), (-first, MP.exp(-first) / 2)):
        total += mass * laplace_hockey_stick(log_a - loss, second)
    return total


@given(st.floats(0.01, 4), st.floats(0.01, 4), st.floats(-10, 10))
@examples(20, 60)
def test_one_coordinate_is_the_worst_under_l1_sensitivity(first, second, log_a):
    first, second, log_a = (MP.mpf(x) for x in (first, second, log_a))
    found = two_coordinates(log_a, first, second)
    assert found <= laplace_hockey_stick(log_a, first + second) + MP.mpf(10) ** -20


def test_in_the_plane_theorem_l_is_false():
    """Means (1/2, 1/2), (1/2, −1/2) and 0 are at l1 distances of 1: worse than any on a line."""
    gamma, alpha, half = MP.mpf(1) / 1000, 3, MP.mpf(1) / 2

    def cross(*shifts):
        """E of the product of the likelihood ratios of these shifts, in one coordinate"""
        return MP.quad(
            lambda x: MP.exp(sum(abs(x) - abs(x - t) for t in shifts) - abs(x)) / 2,
            sorted({-40, 0, 40, *shifts}),
        )

    square = cross(half, half) ** 2
    triangle = 2 * square - 2 * cross(half, half) * cross(half, -half)  # E(X−Y)²
    assert triangle > MP.mpf("1.07") * (cross(1, 1) - 1)
    leading = alpha * (alpha - 1) * gamma**2 / 2
    node = SubsampleWithoutReplacement(VectorLaplace(1), "1/1000")
    on_line = SubsampleWithoutReplacement(Laplace(1), "1/1000").cgf(alpha - 1)
    assert MP.make_mpf(on_line.upper._mpf_) < leading * triangle * MP.mpf("0.95")
    for by in (None, "TRIPLE-DOMINATED", "TRIPLE-PURE-UPPER", "WBK19-T27"):
        assert MP.make_mpf(node.cgf(alpha - 1, by=by).lower._mpf_) > leading * triangle
    with pytest.raises(AssumptionError, match="real-valued"):
        node.rdp(alpha, by="TRIPLE-LINE")
    assert node.claim.kind is Kind.UPPER


WHERE_ONE_PAIR_DOMINATES = (
    lambda noise: noise,
    lambda noise: GroupPrivacy(noise, 3),
    lambda noise: PoissonSubsample(noise, "1/10"),
    lambda noise: SubsampleWithoutReplacement(noise, "1/10", adjacency="add_remove"),
)


@pytest.mark.parametrize("made", WHERE_ONE_PAIR_DOMINATES)
def test_where_one_pair_dominates_a_vector_costs_what_a_number_does(made):
    vector, on_a_line = made(VectorLaplace("3/2")), made(Laplace("3/2"))
    assert vector.claim.kind is Kind.EXACT
    for alpha in (1, 2, "7/2", "inf"):
        assert vector.rdp(alpha).upper == on_a_line.rdp(alpha).upper


@pytest.mark.parametrize("made", WHERE_ONE_PAIR_DOMINATES[:3])
def test_so_it_does_in_other_currencies(made):
    vector, on_a_line = made(VectorLaplace("3/2")), made(Laplace("3/2"))
    both = [m.delta("1/10", conversion="exact").delta.upper for m in (vector, on_a_line)]
    assert both[0] == both[1]
    assert VectorLaplace(2).gdp(5) == Laplace(2).gdp(5)


# --- ZW19, footnote 2: a rate for each person


@given(
    st.lists(st.integers(1, 12), min_size=24, max_size=24),
    st.lists(st.fractions(F(1, 10), F(9, 10), max_denominator=20), min_size=3, max_size=3),
    st.integers(2, 6),
)
@examples(12, 40)
def test_each_person_is_protected_by_their_own_rate(counts, rates, alpha):
    """Three persons, a law of three answers for each of the eight samples; person 0 leaves."""
    tables = [counts[3 * i : 3 * i + 3] for i in range(8)]
    answer = [[F(x, sum(row)) for x in row] for row in tables]

    def output(present):
        law = [F(0)] * 3
        for sample in itertools.product((0, 1), repeat=3):
            weight, mask = F(1), sum(bit << i for i, bit in enumerate(sample))
            for i, bit in enumerate(sample):
                rate = rates[i] if i in present else F(0)
                weight *= rate if bit else 1 - rate
            law = [x + weight * y for x, y in zip(law, answer[mask], strict=True)]
        return law

    def moment(one, other):
        return sum(x**alpha * y ** (1 - alpha) for x, y in zip(one, other, strict=True))

    # ε₀ of the mechanism for the neighbours that differ in person 0.
    odds = max(max(x / y, y / x) for mask in range(0, 8, 2)
               for x, y in zip(answer[mask + 1], answer[mask], strict=True))  # fmt: skip
    with_zero, without = output({0, 1, 2}), output({1, 2})
    truth = max(moment(with_zero, without), moment(without, with_zero))
    pure = F(str(MP.nstr(MP.log(number(odds)) * (1 + MP.mpf(10) ** -30) + MP.mpf(10) ** -40, 45)))
    bound = Accountant(20).cgf(PoissonSubsample(PureDP(pure), rates[0]), alpha - 1)
    assert number(truth) <= MP.exp(MP.make_mpf(bound.upper._mpf_)) * (1 + MP.mpf(10) ** -17)


# --- BLOG, Claim 26 with other exponents


@pytest.mark.parametrize("power", [F(1, 4), F(1, 2), F(3, 4)])
def test_a_rate_that_falls_more_slowly_leaves_no_bounded_moment(power):
    """G_λ >= 1 + C(λ,2)r²(e^{1/σ²}−1), which grows like σ^{2−2d} for λ = σ², r = σ^{−d}, d < 1."""
    grown = []
    for sigma in (4, 16, 64):
        rate = 1 / MP.mpf(sigma) ** number(power)
        exact_rate = F(str(MP.nstr(rate, 20)))
        found = PoissonSubsample(Gaussian(sigma), exact_rate).cgf(sigma**2 - 1, 12)
        order = sigma**2
        least = 1 + MP.binomial(order, 2) * number(exact_rate) ** 2 * MP.expm1(MP.mpf(sigma) ** -2)
        moment = MP.exp(MP.make_mpf(found.lower._mpf_))
        assert moment * (1 + MP.mpf(10) ** -10) >= least
        assert least > MP.mpf(sigma) ** (2 - 2 * number(power)) / 4
        grown.append(moment)
    assert grown[0] < grown[1] < grown[2]
    assert grown[2] > 4 ** (2 - 2 * float(power)) * grown[0] / 2


def test_curves_of_ones_own_say_whether_the_cgf_is_known_at_minus_1():
    infinite = Curve(
        lambda alpha: INFINITY, kind="upper", adjacency="add_remove", at_infinity="inf"
    )
    with pytest.raises(AssumptionError):
        infinite.cgf(-1)


# --- the Poisson bound for any mechanism, between whole orders too


@pytest.mark.parametrize(
    ("base", "rho"),
    [
        (ZCDP("1/50"), "1/50"),
        (2 * ZCDP("1/100"), "1/50"),
        (ZCDP("1/50") + ZCDP("1/7"), "57/350"),
    ],
)
def test_what_lies_between_whole_orders_reads_the_bound_for_any_mechanism(base, rho):
    """K(3/2) <= (K(1) + K(2))/2 from Σ C(α,l)(1−γ)^{α−l}γ^l e^{ρl(l−1)}, not Theorem 5's triple."""
    gamma, rho, mp = Fraction(1, 10), Fraction(rho), MPContext()
    mp.dps = 30

    def cgf(alpha):
        rate, slope = (mp.mpf(x.numerator) / x.denominator for x in (gamma, rho))
        return mp.log(
            mp.fsum(
                mp.binomial(alpha, l)
                * (1 - rate) ** (alpha - l)
                * rate**l
                * mp.exp(slope * l * (l - 1))
                for l in range(alpha + 1)
            )
        )

    node = PoissonSubsample(base, gamma)
    truth = (cgf(2) + cgf(3)) / 2 / mp.mpf(3) * 2
    for found in (node.rdp("5/2"), node.rdp("5/2", by="WBK19-C10"), node.convexify(9).rdp("5/2")):
        assert abs(found.upper - truth) < 1e-25 * truth
        assert "S22-POISSON" in found.claim.theorems
    assert float(node.rdp(3, by="ZW19-T5").lower) > float(node.rdp(3).upper) * 1.1
