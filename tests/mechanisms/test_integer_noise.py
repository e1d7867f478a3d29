"""Noise on whole numbers: its curves against plain sums over the outcomes, and what follows."""

import itertools
import operator
import random
from fractions import Fraction

import pytest
from flint import arb

from symacct import (
    Accountant,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    GroupPrivacy,
    LimitError,
    OrderError,
    PoissonSubsample,
    PrecisionError,
    PureDP,
    Skellam,
    baselines,
    parse,
)
from symacct.codegen.constants import in_float64
from symacct.codegen.context import CodeArithmetic
from symacct.codegen.measure import FloatMachine
from symacct.codegen.trace import trace
from symacct.kernel.arithmetic.ball import precision
from symacct.profile.losses.integer_noise import IntegerLoss
from tests import independent
from tests.support import INFINITY, holds, overlap
from tests.thinning import covering, some

MP = independent.context(60)


def law(weight, size, reach):
    """(p, q) of the outcomes from −reach to reach, of weights that are summed as they are."""
    weights = {k: weight(k) for k in range(-reach - size, reach + 1)}
    total = MP.fsum(weights.values())
    return [(weights[k - size] / total, weights[k] / total) for k in range(-reach, reach + 1)]


def rdp(masses, alpha):
    return independent.divergence(MP, alpha, masses, MP.mpf)


def mixed(masses, gamma):
    g = independent.number(MP, gamma)
    return [((1 - g) * q + g * p, q) for p, q in masses]


def convolved(first, second):
    whole = [MP.mpf(0)] * (len(first) + len(second) - 1)
    for i, x in enumerate(first):
        for j, y in enumerate(second):
            whole[i + j] += x * y
    return whole


def hockey_stick(masses, epsilon):
    grown = MP.exp(independent.number(MP, epsilon))
    return MP.fsum(max(p - grown * q, 0) for p, q in masses)


def two_sided(b, size):
    return law(lambda k: MP.exp(-abs(k) / independent.number(MP, b)), size, 220 * int(b + 1))


def bell(sigma, size):
    s = independent.number(MP, sigma)
    return law(lambda k: MP.exp(-(MP.mpf(k) ** 2) / (2 * s**2)), size, 60 + 40 * int(sigma + 1))


def differences(mu, size):
    """The weights of the difference of two Poisson numbers, each from its own factorials."""
    rate, reach = independent.number(MP, mu) / 2, 80 + 4 * int(mu)
    poisson = [rate**k / MP.factorial(k) for k in range(2 * reach)]
    at = [MP.fsum(map(operator.mul, poisson, poisson[k:])) for k in range(reach + size + 1)]
    return law(lambda k: at[abs(k)], size, reach)


#: A noise, and its outcomes by a plain sum.
DRAWN = {
    DiscreteGaussian: (bell, lambda draw: Fraction(draw.randint(2, 50), 10)),
    Skellam: (differences, lambda draw: Fraction(draw.randint(2, 200), 10)),
    DiscreteLaplace: (two_sided, lambda draw: Fraction(draw.randint(2, 40), 10)),
}


def cases(kind, count):
    outcomes, scale = DRAWN[kind]
    draw = random.Random(kind.__name__)
    for _ in range(count):
        of, size = scale(draw), draw.randint(1, 4)
        yield kind(of, size), outcomes(of, size), Fraction(draw.randint(11, 90), 10)


def in_code(node, order):
    """The value of the code for float64 at an order, by the interpreter that measures it."""
    program = trace(node, None, {}, CodeArithmetic, 12)
    return FloatMachine(in_float64(program)).epsilon(order, {})


@pytest.mark.parametrize("sigma", [Fraction(tenths, 10) for tenths in range(3, 18, some(2, 1))])
def test_code_for_the_discrete_gaussian_is_a_plain_sum(sigma):
    """Of few outcomes and of many, where y = αΔ's distance from the whole numbers is what is next

    below and what is next above; σ in tenths, ten of which are a whole number.
    """
    for size, order in ((1, 1.125), (1, 2.7), (3, 1.4), (3, 2.25), (3, 3.0)):
        value = rdp(bell(sigma, size), Fraction(order))
        found = in_code(DiscreteGaussian(sigma, size), order)
        assert found == pytest.approx(float(value), rel=1e-13)
    value = rdp(mixed(bell(sigma, 1), Fraction(1, 7)), Fraction(9, 4))
    found = in_code(PoissonSubsample(DiscreteGaussian(sigma), "1/7"), 2.25)
    assert found == pytest.approx(float(value), rel=1e-11)


@covering()
@pytest.mark.parametrize("kind", DRAWN)
def test_poisson_samples_are_plain_sums(kind):
    for m, masses, alpha in cases(kind, some(3, 10)):
        sampled = PoissonSubsample(m, "1/7")
        for order in (1, alpha, 3):
            value = rdp(mixed(masses, Fraction(1, 7)), order)
            assert holds(sampled.rdp(order, digits=25), value, 25, trusted=40)
            for engine in ("float64", "mpmath"):
                rounded = float(Accountant(engine=engine).rdp(sampled, order))
                assert rounded == pytest.approx(float(value), rel=1e-11)


@pytest.mark.parametrize("kind", DRAWN)
def test_the_exact_profile_is_a_plain_sum(kind):
    for m, masses, _ in cases(kind, 10):
        for epsilon in ("0", "1/5"):
            found = m.delta(epsilon, digits=20, conversion="exact").delta
            assert holds(found, hockey_stick(masses, Fraction(epsilon)), 20, trusted=40)
        for node, laws in ((PoissonSubsample(m, "1/7"), mixed(masses, Fraction(1, 7))),):
            back = [(q, p) for p, q in laws]
            known = max(hockey_stick(one, Fraction(1, 20)) for one in (laws, back))
            found = node.delta("1/20", digits=20, conversion="exact").delta
            assert holds(found, known, 20, trusted=40)


@pytest.mark.parametrize("kind", [DiscreteGaussian, Skellam])
@pytest.mark.parametrize("gamma", ["1", "1/7"])
def test_both_directions_of_a_profile_are_plain_sums(kind, gamma):
    """The smaller direction is no answer, but tells that it is the smaller one."""
    m, masses, _ = next(cases(kind, 1))
    part, forward = IntegerLoss(m, Fraction(gamma)), mixed(masses, Fraction(gamma))
    for reverse, laws in ((False, forward), (True, [(q, p) for p, q in forward])):
        known = hockey_stick(laws, Fraction(1, 20))
        with precision(150):
            found = part.hockey_stick(arb(1) / 20, reverse)
            assert abs(found - arb(MP.nstr(known, 40))) < arb(10) ** -38
            largest = part.largest(reverse)
            assert largest.is_finite() == (reverse and gamma != "1")
            assert not largest.is_finite() or abs(largest - (arb(7) / 6).log()) < arb(10) ** -40


@pytest.mark.parametrize("kind", [DiscreteGaussian, Skellam])
@pytest.mark.parametrize("a", [-2.5, 0.0, 0.5, 1.0, 4.0])
def test_what_is_left_out_is_bounded_and_not_by_much(kind, a):
    """Σ Q(1 + (P/Q)^a) beyond a window, summed one by one."""
    m, masses, _ = next(cases(kind, 1))
    reach = len(masses) // 2
    for kept in (m.outcomes(min(a, 0.0), max(a, 0.0), nats) for nats in (2.0, 20.0, 60.0)):
        others = [pair for k, pair in enumerate(masses, -reach) if k not in kept]
        rest = MP.fsum(q + p**a * q ** (1 - a) for p, q in others)
        with precision(128):
            bound = m.left_out(a, kept)
            assert arb(MP.nstr(rest, 30)) < bound * 1.0000001
            assert bound < 30 * arb(MP.nstr(rest, 30))


@pytest.mark.parametrize("kind", [DiscreteGaussian, DiscreteLaplace])
def test_two_runs_are_a_plain_double_sum(kind):
    m, masses, _ = next(cases(kind, 1))
    likely = [(p, q) for p, q in masses if q > MP.mpf(10) ** -32 or p > MP.mpf(10) ** -32]
    twice = [(p * u, q * v) for p, q in likely for u, v in likely]
    found = (2 * m).delta("1/3", digits=20, conversion="exact").delta
    assert holds(found, hockey_stick(twice, Fraction(1, 3)), 20, trusted=28)


@pytest.mark.parametrize(("sigma", "size", "runs"), [("1/2", 1, 3), ("2", 3, 5), ("3", 1, 8)])
def test_many_discrete_gaussians_are_a_convolution(sigma, size, runs):
    """The law of their sum from the weights, then the hockey stick."""
    masses = bell(Fraction(sigma), 1)
    once, summed = [q for _, q in masses if q > MP.mpf(10) ** -45], [MP.mpf(1)]
    for _ in range(runs):
        summed = convolved(summed, once)
    reach = len(summed) // 2
    weights = {k - reach: w for k, w in enumerate(summed)}
    moved = [
        (weights.get(k - runs * size, MP.mpf(0)), weights.get(k, MP.mpf(0)))
        for k in range(-reach, reach + runs * size + 1)
    ]
    m = DiscreteGaussian(sigma, size)
    epsilon = (runs * m).epsilon("1e-6", digits=20, conversion="exact").epsilon
    for y in (Fraction(1, 3), Fraction(str(epsilon))):
        found = (runs * m).delta(y, digits=20, conversion="exact").delta
        assert holds(found, hockey_stick(moved, y), 20, trusted=28)
    assert abs(Fraction(str(found)) - Fraction(1, 10**6)) < Fraction(1, 10**20)


@pytest.mark.parametrize("kind", DRAWN)
def test_groups_are_the_noise_at_that_many_times_the_sensitivity(kind):
    for alpha in (Fraction(3, 2), 4):
        group, alone = GroupPrivacy(kind(2, 2), 3).rdp(alpha), kind(2, 6).rdp(alpha)
        assert (group.lower, group.upper) == (alone.lower, alone.upper)


def test_discrete_laplace_of_sensitivity_1_is_randomized_response():
    for alpha in (1, Fraction(5, 4), 3, INFINITY):
        ours, known = DiscreteLaplace(2).rdp(alpha), PureDP("1/2").rdp(alpha)
        assert ours.lower <= known.upper
        assert known.lower <= ours.upper


#: dp_accounting 0.6.0's privacy loss distributions: δ at ε of one run, ε at δ = 10⁻⁶ of so many,
#: rounded up on its grid of 10⁻⁵ (discrete Laplace, and sampled) or 10⁻⁴, and what that may cost.
RECORDED = [
    ("DiscreteLaplace(2)", "1/10", "0.2052123636553142", "4.999885471110101", 10, "1e-4"),
    ("DiscreteLaplace(4, 3)", "1/10", "0.2821845380888742", "7.499682793558537", 10, "1e-4"),
    ("DiscreteGaussian(2)", "1/2", "0.054007223694154435", "2.275793151438104", 1, "1e-4"),
    ("DiscreteGaussian(2, 3)", "1/2", "0.42951102727702073", "7.8052281384288795", 1, "1e-4"),
    ("1000*DiscreteGaussian(20, 3)", "1/2", "0.9779052815676802", "33.15685496426803", 1, "0.1"),
    (
        "PoissonSubsample(DiscreteGaussian(2), 1/10)",
        "1/20", "0.006805729527436501", "0.4991606572508892", 1, "1e-5",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at", "delta", "epsilon", "runs", "grid"), RECORDED)
def test_dp_accounting_s_values_are_just_above_ours(text, at, delta, epsilon, runs, grid):
    """Where their losses are on the grid they are ours to float64's digits."""
    m = parse(text)
    found = Fraction(str(m.delta(at, conversion="exact").delta))
    assert found < Fraction(delta) * (1 + Fraction(1, 10**12))
    assert Fraction(delta) < found + Fraction(grid)
    least = Fraction(str((runs * m).epsilon("1e-6", conversion="exact").epsilon))
    assert least < Fraction(epsilon) * (1 + Fraction(1, 10**12))
    assert Fraction(epsilon) < least + Fraction(grid)


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_the_published_bound_of_skellam_noise_is_above_its_curve(seed):
    """AKL21's bound, and how much it leaves: at most what it adds to the Gaussian's line."""
    draw = random.Random(seed)
    mu, size, alpha = Fraction(draw.randint(1, 900), 10), draw.randint(1, 4), draw.randint(2, 40)
    exact = Skellam(mu, size).rdp(alpha)
    bound = baselines.skellam_bound(alpha, mu, size, size, digits=20)
    by_hand = Fraction(alpha * size**2, 2) / mu + min(
        ((2 * alpha - 1) * size**2 + 6 * size) / (4 * mu**2), Fraction(3 * size, 2) / mu
    )
    assert holds(bound, MP.mpf(by_hand.numerator) / by_hand.denominator, 20, trusted=50)
    assert exact.upper <= bound.lower


@pytest.mark.parametrize("alpha", [1, "3/2", "inf"])
def test_the_published_bound_is_about_whole_orders(alpha):
    with pytest.raises(OrderError, match="order"):
        baselines.skellam_bound(alpha, 3)


def test_noise_on_whole_numbers_approaches_the_continuous_one():
    """CKS20: at whole αΔ the Gaussian's curve, elsewhere less; AKL21: but for a share of 1/μ²."""
    for sigma in ("1/4", "1/2", "1"):
        assert overlap(DiscreteGaussian(sigma).rdp(3), Gaussian(sigma).rdp(3))
        assert DiscreteGaussian(sigma).rdp("5/2").upper < Gaussian(sigma).rdp("5/2").lower
    gaps = [abs(Skellam(mu).rdp(2).upper * mu - 1) for mu in (10, 100, 1000)]
    assert all(50 * after < before for before, after in itertools.pairwise(gaps))


@pytest.mark.parametrize(
    ("text", "alpha", "error", "says"),
    [
        ("Skellam(1e-400)", 2, PrecisionError, "Skellam, mu: found"),
        ("Skellam(1e20)", 2, LimitError, "outcomes that count"),
        ("Skellam(3)", "1e400", LimitError, "orders of a sum over whole numbers"),
        ("Skellam(2, 1000000)", 2, LimitError, "outcomes that count"),
        ("PoissonSubsample(DiscreteGaussian(1e-400), 1/2)", "3/2", PrecisionError, "sigma: found"),
        ("PoissonSubsample(DiscreteGaussian(1e9), 1/2)", "3/2", LimitError, "outcomes"),
        ("PoissonSubsample(DiscreteLaplace(1, 1e9), 1/2)", "3/2", LimitError, "losses"),
    ],
)
def test_what_is_too_much_is_refused_in_words(text, alpha, error, says):
    with pytest.raises(error, match=says):
        parse(text).rdp(alpha)


def test_extreme_scales_have_values_where_nothing_is_summed():
    for scale in ("1e-400", "1e400"):
        assert DiscreteGaussian(scale).rdp("3/2").lower <= Gaussian(scale).rdp("3/2").upper
        pure = PureDP(1 / Fraction(scale)).rdp("inf")
        assert DiscreteLaplace(scale).rdp("3/2").lower <= pure.upper


@pytest.mark.parametrize("a", [-3.0, -0.5, 0.5, 2.5])
def test_what_is_left_out_of_discrete_gaussian_noise_is_at_most_its_bound(a):
    """Σ Q(1 + (P/Q)^a) beyond −2 to 2, of laws with much between them."""
    sigma = MP.mpf(1) / 2

    def law(k):
        return MP.exp(-(k**2) / (2 * sigma**2)) / MP.jtheta(3, 0, MP.exp(-1 / (2 * sigma**2)))

    outside = [k for k in range(-60, 61) if not -2 <= k <= 2]
    truth = sum(law(k) * (1 + (law(k - 1) / law(k)) ** MP.mpf(a)) for k in outside)
    bound = DiscreteGaussian("1/2").left_out(a, range(-2, 3))
    assert bound > arb(MP.nstr(truth, 30))
