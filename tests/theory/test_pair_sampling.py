"""Sampled pairs of laws: certified values against sums and quadratures that are not ours."""

import itertools
import random
from fractions import Fraction

import mpmath
import pytest
import sympy
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Accountant,
    AssumptionError,
    DistributionPair,
    DomainError,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    PrecisionError,
    SubsampleWithoutReplacement,
    laws,
)
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.mechanisms import pair as mixtures
from symacct.theory.amplification import pairs
from symacct.theory.amplification.pairs import _largest_of as largest_of
from tests.support import overlap
from tests.thinning import covering, examples, some

INFINITY = float("inf")
MP = mpmath.mp.clone()
MP.dps = 40
GAMMA = Fraction(1, 10)


def number(x):
    x = Fraction(x)
    return MP.mpf(x.numerator) / x.denominator


def normal(mean, variance):
    return lambda x: MP.exp(-((x - mean) ** 2) / (2 * variance)) / MP.sqrt(2 * MP.pi * variance)


def exponential(rate):
    return lambda x: rate * MP.exp(-rate * x)


def gamma(k, rate):
    return lambda x: rate**k * x ** (k - 1) * MP.exp(-rate * x) / MP.gamma(k)


def beta(a, b):
    return lambda x: x ** (a - 1) * (1 - x) ** (b - 1) / MP.beta(a, b)


def integral(points):
    return lambda f: MP.quad(f, points)


def series(f):
    return MP.fsum(f(k) for k in range(400))


TENTH = MP.mpf(1) / 10
#: the pair, its two densities or probabilities, how to integrate or sum them
PAIRS = {
    "exponential": (
        DistributionPair(laws.Exponential(1), laws.Exponential("5/4")),
        (exponential(1), exponential(MP.mpf(5) / 4)),
        integral([0, 1, 4, 10, 30, 100, 400]),
    ),
    "gamma": (
        DistributionPair(laws.Gamma(2, 1), laws.Gamma(3, "5/4")),
        (gamma(2, 1), gamma(3, MP.mpf(5) / 4)),
        integral([0, TENTH, 1, 4, 10, 30, 100, 400]),
    ),
    "beta": (
        DistributionPair(laws.Beta(4, 5), laws.Beta(5, 4)),
        (beta(4, 5), beta(5, 4)),
        integral([0, TENTH, MP.mpf(1) / 2, 1 - TENTH, 1]),
    ),
    "normal": (
        DistributionPair(laws.Normal(0, 2), laws.Normal(1, "9/4")),
        (normal(0, 2), normal(1, MP.mpf(9) / 4)),
        integral([-60, -20, -8, -4, -2, 0, 2, 4, 8, 20, 60]),
    ),
    "irrational": (
        DistributionPair(laws.Normal(0, 3), laws.Normal(1, 3)),
        (normal(0, 3), normal(1, 3)),
        integral([-60, -20, -8, -4, -2, 0, 2, 4, 8, 20, 60]),
    ),
    "tilt": (
        DistributionPair(laws.Density("2*(1 + x)/3", [0, 1]), laws.Uniform(0, 1)),
        (lambda x: 2 * (1 + x) / 3, lambda x: MP.mpf(1)),
        integral([0, 1]),
    ),
    "Poisson": (
        DistributionPair(laws.Poisson(3), laws.Poisson("7/2")),
        tuple(
            lambda k, r=r: MP.exp(-r) * MP.mpf(r) ** k / MP.factorial(k)
            for r in (MP.mpf(3), MP.mpf(7) / 2)
        ),
        series,
    ),
    "geometric": (
        DistributionPair(laws.Geometric("1/3"), laws.Geometric("2/5")),
        tuple(lambda k, p=p: p * (1 - p) ** k for p in (MP.mpf(1) / 3, MP.mpf(2) / 5)),
        series,
    ),
}


def divergence(one, other, total, alpha):
    """D_α of two functions that are integrated or summed."""

    def term(x):
        p, q = one(x), other(x)
        if p == 0 or q == 0:
            return MP.mpf(0)
        return p * MP.log(p / q) if alpha == 1 else p * (p / q) ** (number(alpha) - 1)

    value = total(term)
    return value if alpha == 1 else MP.log(value) / (number(alpha) - 1)


def truth(densities, total, g, alpha):
    """The largest of the four divergences, each from its definition."""
    found = []
    for p, q in (densities, densities[::-1]):

        def mixed(x, p=p, q=q):
            return (1 - number(g)) * q(x) + number(g) * p(x)

        found += [divergence(mixed, q, total, alpha), divergence(q, mixed, total, alpha)]
    return max(found)


@covering()
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("alpha", [1, Fraction(5, 2)])
def test_the_sampled_curve_is_the_largest_of_four_divergences(name, alpha):
    pair, densities, total = PAIRS[name]
    answer = PoissonSubsample(pair, GAMMA).rdp(alpha, 17, by="PAIR-EXACT")
    assert answer.claim.kind is Kind.EXACT
    assert str(answer.claim.adjacency) == "add_remove"
    assert answer.digits >= 17
    assert abs(answer.upper - truth(densities, total, GAMMA, alpha)) < 1e-17


#: Pairs of which neither mean is 0, and two laws on the line with their likelihood ratios.
SHIFTED = {
    "log-normal": (
        laws.LogNormal(3, 2),
        laws.LogNormal(2, 2),
        (normal(3, 2), normal(2, 2)),
    ),
    "second of two": (
        laws.MultivariateNormal([1, 2], [[2, 0], [0, 3]]),
        laws.MultivariateNormal([1, 1], [[2, 0], [0, 3]]),
        (normal(2, 3), normal(1, 3)),
    ),
    # On the axis of the eigenvector (1, 1), whose variance is 3, the means are 3/√2 and 1/√2.
    "along an axis": (
        laws.MultivariateNormal([2, 1], [[2, 1], [1, 2]]),
        laws.MultivariateNormal([1, 0], [[2, 1], [1, 2]]),
        (normal(3 / MP.sqrt(2), 3), normal(1 / MP.sqrt(2), 3)),
    ),
}


#: Between whole orders by an integral, and at whole ones by moments.
SHIFTED_AT = [Fraction(3, 2), Fraction(7, 3), 3]


@pytest.mark.parametrize(
    ("name", "alpha"),
    some(list(zip(SHIFTED, SHIFTED_AT, strict=True)), list(itertools.product(SHIFTED, SHIFTED_AT))),
)
def test_only_the_difference_of_the_means_counts(name, alpha):
    P, Q, densities = SHIFTED[name]
    total = integral([-40, -12, -4, 0, 1, 2, 4, 8, 16, 40])
    answer = PoissonSubsample(DistributionPair(P, Q), GAMMA).rdp(alpha, 15, by="PAIR-EXACT")
    assert abs(answer.upper - truth(densities, total, GAMMA, alpha)) < 1e-14


@pytest.mark.parametrize("seed", range(some(4, 6)))
def test_the_squared_distance_of_two_means(seed):
    """δᵀΣ⁻¹δ by mpmath's LU decomposition."""
    chance = random.Random(seed)
    size = 1 + seed % 4
    root = [[Fraction(chance.randrange(-4, 5), 2) for _ in range(size)] for _ in range(size)]
    covariance = [
        [
            sum(a * b for a, b in zip(one, other, strict=True)) + (i == j)
            for j, other in enumerate(root)
        ]
        for i, one in enumerate(root)
    ]
    means = [[Fraction(chance.randrange(-9, 10), 3) for _ in range(size)] for _ in range(2)]
    P, Q = (laws.MultivariateNormal(mean, covariance) for mean in means)
    delta = MP.matrix([number(a) - number(b) for a, b in zip(*means, strict=True)])
    solved = MP.lu_solve(MP.matrix([[number(x) for x in row] for row in covariance]), delta)
    true = (delta.T * solved)[0]
    assert abs(number(P.squared_distance(Q)) - true) < 1e-30
    assert P.squared_distance(Q) == Q.squared_distance(P)


@covering()
@pytest.mark.parametrize("name", ["tilt", "Poisson", "normal", "gamma"])
@pytest.mark.parametrize("alpha", [1, Fraction(5, 2), 9])
def test_each_direction_is_its_definition(name, alpha):
    """The removal D_α(Q‖m) too, which no pair was found for where it is the largest."""
    pair, (p, q), total = PAIRS[name]

    def mixed(x):
        return (1 - number(GAMMA)) * q(x) + number(GAMMA) * p(x)

    with precision(70):
        there, back = (one.at(BALL, alpha) for one in mixtures.mixed(pair.P, pair.Q, GAMMA))
    if there.is_finite():
        assert (
            abs(MP.mpf(there.mid().str(20, radius=False)) - divergence(mixed, q, total, alpha))
            < 1e-15
        )
    assert (
        abs(MP.mpf(back.mid().str(20, radius=False)) - divergence(q, mixed, total, alpha)) < 1e-15
    )


@pytest.mark.parametrize("name", ["tilt", "Poisson"])
def test_without_replacement_it_is_a_lower_bound(name):
    pair, densities, total = PAIRS[name]
    answer = SubsampleWithoutReplacement(pair, GAMMA).lower_bound(Fraction(3, 2), 15)
    assert answer.claim.kind is Kind.LOWER
    assert abs(answer.upper - truth(densities, total, GAMMA, Fraction(3, 2))) < 1e-14
    assert "PAIR-WOR" in answer.claim.theorems


@pytest.mark.parametrize("name", ["tilt", "Poisson"])
def test_every_engine_agrees(name):
    node = PoissonSubsample(PAIRS[name][0], "1/20")
    for alpha in (1, Fraction(5, 2)):
        ball = node.rdp(alpha, 12)
        assert abs(node.rdp(alpha, 12, engine="mpmath").upper / ball.upper - 1) < 1e-11
        assert abs(node.rdp(alpha, 12, engine="float64").upper / ball.upper - 1) < 1e-11


# --- laws of one shape: the mechanisms that they are


@covering()
@pytest.mark.parametrize(
    ("pair", "mechanism"),
    [
        (DistributionPair(laws.Normal(0, 4), laws.Normal("3/2", 4)), Gaussian("4/3")),
        (DistributionPair(laws.LogNormal(1, 9), laws.LogNormal(0, 9)), Gaussian(3)),
        (
            DistributionPair(
                laws.MultivariateNormal([3, 4], [[4, 0], [0, 4]]),
                laws.MultivariateNormal([0, 0], [[4, 0], [0, 4]]),
            ),
            Gaussian("2/5"),
        ),
        (DistributionPair(laws.Laplace(0, 2), laws.Laplace("1/2", 2)), Laplace(4)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("gamma", [0, Fraction(1, 10**12), Fraction(1, 100), "0.999999", 1])
def test_laws_of_one_shape_are_the_mechanism(pair, mechanism, gamma):
    for alpha in (1, Fraction(5, 4), 2, 100, Fraction(20001, 2), INFINITY):
        mine, known = PoissonSubsample(pair, gamma), PoissonSubsample(mechanism, gamma)
        assert overlap(mine.rdp(alpha), known.rdp(alpha))
        theorems = mine.rdp(alpha).claim.theorems
        assert theorems == known.rdp(alpha).claim.theorems


@pytest.mark.parametrize("alpha", [1, Fraction(7, 3)])
def test_the_integrals_are_the_proved_formulas(alpha):
    """The same pair of normal laws as densities, beside MTZ19-EXACT."""
    densities = [laws.Density(f"exp(-(x - {c})**2/8)/sqrt(8*pi)") for c in (0, 1)]
    mine = PoissonSubsample(DistributionPair(*densities), "1/100")
    known = PoissonSubsample(Gaussian(2), "1/100").rdp(alpha, by="MTZ19-EXACT")
    answer = mine.rdp(alpha, 20, by="PAIR-EXACT")
    assert overlap(answer, known)
    assert answer.digits >= 20


def test_a_covariance_that_is_irrational_along_the_shift():
    """N(δ, Σ) with δᵀΣ⁻¹δ = 1/3 is N(1, 3) against N(0, 3)."""
    wide = DistributionPair(
        laws.MultivariateNormal([1, 0], [[3, 0], [0, 1]]),
        laws.MultivariateNormal([0, 0], [[3, 0], [0, 1]]),
    )
    flat = PAIRS["irrational"][0]
    for alpha in (Fraction(5, 2), 3):
        one, other = (PoissonSubsample(pair, "1/50").rdp(alpha, 15) for pair in (wide, flat))
        assert str(one) == str(other)


# --- edges


def test_what_is_infinite_stays_so():
    """D_α(P‖Q) = ∞ makes that of every mixture infinite; the sampled one is no larger before."""
    pair = DistributionPair(laws.Exponential(1), laws.Exponential(2))
    for gamma in ("1e-12", "1/2"):
        assert PoissonSubsample(pair, gamma).rdp(2).lower == INFINITY
        assert PoissonSubsample(pair, gamma).rdp("19/10", 12).upper < INFINITY
        assert PoissonSubsample(pair, gamma).rdp(INFINITY).lower == INFINITY
    apart = DistributionPair(laws.Uniform(0, 1), laws.Uniform(2, 3))
    assert PoissonSubsample(apart, "1/9").rdp(1).lower == INFINITY


def test_a_law_on_a_part_of_the_support():
    """U(0, 1) in U(0, 2): two pieces, so a finite pair."""
    inner = DistributionPair(laws.Uniform(0, 1), laws.Uniform(0, 2))
    finite = DistributionPair([1, 0], ["1/2", "1/2"])
    for alpha in (1, 2, Fraction(5, 2), INFINITY):
        for reverse in (False, True):
            ours = inner.divergence(alpha, reverse=reverse)
            assert str(ours) == str(finite.divergence(alpha, reverse=reverse))


def test_what_cannot_be_sampled_exactly_says_so():
    tilted = DistributionPair(
        laws.MultivariateNormal([0, 0], [[1, 0], [0, 1]]),
        laws.MultivariateNormal([1, 0], [[2, 0], [0, 1]]),
    )
    with pytest.raises(AssumptionError, match="two densities on the line"):
        PoissonSubsample(tilted, "1/10").rdp(3, by="PAIR-EXACT")
    with pytest.raises(AssumptionError):
        PoissonSubsample(PAIRS["tilt"][0] + Gaussian(1), "1/10").rdp(3, by="PAIR-EXACT")
    symbolic = PoissonSubsample(PAIRS["tilt"][0], sympy.Symbol("g", positive=True))
    with pytest.raises(DomainError, match="found the free symbol g, needed a number"):
        symbolic.rdp(3, by="PAIR-EXACT")
    assert sympy.Symbol("g", positive=True) in symbolic.formula(3).free_symbols


def test_the_formula_is_the_value():
    pair = PAIRS["tilt"][0]
    value = PoissonSubsample(pair, "1/10").formula(Fraction(5, 2)).evalf(20)
    assert abs(value - sympy.Float(str(PoissonSubsample(pair, "1/10").rdp("5/2")), 30)) < 1e-15


# --- whole orders by moments, orders beside a pole, searches


def by_integration(pair, g, alpha, bits=80):
    """The largest of the four divergences, none by the moments at whole orders."""
    with precision(bits):
        found = [
            direction.at(BALL, alpha)
            for one in (pair, pair.swapped())
            for direction in mixtures.mixed(one.P, one.Q, g)
        ]
        return BALL.maximum(*found)


@covering()
@pytest.mark.parametrize("name", ["exponential", "gamma", "beta", "normal", "Poisson", "geometric"])
@pytest.mark.parametrize("g", [Fraction(1, 976), Fraction(2, 3)])
@pytest.mark.parametrize("alpha", [2, 3, 7])
def test_the_sum_of_moments_is_the_integral(name, g, alpha):
    """Two ways to one number, each certified: a finite sum, and an integral or a series."""
    pair = PAIRS[name][0]
    one = PoissonSubsample(pair, g).rdp(alpha, 18, by="PAIR-EXACT")
    other = by_integration(pair, g, alpha)
    if not other.is_finite():
        assert one.lower == INFINITY
        return
    with precision(80):
        mid = MP.mpf(other.str(30, radius=False))
        assert abs(one.upper / mid - 1) < MP.mpf(10) ** -17
        assert other.rel_accuracy_bits() > 60


@pytest.mark.parametrize("alpha", [300, 1000, 44_283])
def test_moments_beyond_all_floats(alpha):
    """The last term is all: (α−1)ε′ = α log γ + (α−1)D_α(Q‖P) up to e^{−K/17}, K its size."""
    a, b, g = MP.mpf(16) / 5, MP.mpf(3), MP.mpf(1) / 976
    with MP.workdps(60):
        top = a * (a / b) ** (alpha - 1) - alpha * a + (alpha - 1) * b
        value = (alpha * MP.log(g) + top) / (alpha - 1)
        pair = DistributionPair(laws.Poisson(3), laws.Poisson("16/5"))
        answer = PoissonSubsample(pair, "1/976").rdp(alpha, by="PAIR-EXACT")
        assert abs(MP.mpf(answer.upper) / value - 1) < MP.mpf(10) ** -29


@pytest.mark.parametrize(("name", "pole"), [("exponential", 5), ("gamma", 3)])
def test_beside_a_pole_the_moment_of_the_pair_is_nearly_all(name, pole):
    """m^α lies between γ^α(P/Q)^α and that plus α(1−γ)m^{α−1}, whose mean is of order α − 1."""
    pair = PAIRS[name][0]
    pair = pair if pair.divergence(pole).lower == INFINITY else pair.swapped()
    alpha = pole - Fraction(1, 2000)
    with MP.workdps(30):
        moment = MP.exp(number(alpha - 1) * pair.divergence(alpha).upper)
        low = number(GAMMA) ** number(alpha) * moment
        total = MP.exp(number(alpha - 1) * PoissonSubsample(pair, GAMMA).rdp(alpha, 20).upper)
        rest = PoissonSubsample(pair, GAMMA).rdp(alpha - 1, 20).upper
        high = low + number(alpha) * (1 - number(GAMMA)) * MP.exp(number(alpha - 2) * rest)
        assert low < total < high


def test_an_order_that_cannot_be_computed_is_left_out(monkeypatch):
    """Others answer, and the best of them is not called the best; where none does, it is said."""
    node = PoissonSubsample(PAIRS["Poisson"][0], "1/50")
    known = node.epsilon("1e-5", orders=[8], digits=10)
    assert node.epsilon("1e-5", orders="integer", digits=10).alpha > 8
    plain = pairs.largest_divergence

    def failing(ctx, eps, alpha, gamma):
        if alpha > 8:
            raise PrecisionError("not at this order")
        return plain(ctx, eps, alpha, gamma)

    monkeypatch.setattr(pairs, "largest_divergence", failing)
    for orders in ([4, 8, 9], "integer"):
        found = Accountant(10).epsilon(node, "1e-5", orders=orders, by="PAIR-EXACT")
        assert (found.alpha, found.optimal) == (8, False)
        assert found.epsilon.upper == known.epsilon.upper
    with pytest.raises(PrecisionError, match="not at this order"):
        Accountant(10).epsilon(node, "1e-5", orders=[9, 12], by="PAIR-EXACT")


# --- laws that every curve obeys, over random pairs of the new kinds

some_rates = st.fractions(Fraction(1, 2), 4, max_denominator=12)
some_laws = st.sampled_from([laws.Poisson, laws.Exponential])


@examples(4, 40)
@given(some_laws, some_rates, some_rates, st.sampled_from(["1/1000", "1/7", "9/10"]))
def test_the_sampled_curve_obeys_the_laws(law, first, second, g):
    """0 <= ε′ <= ε, nondecreasing in the order, convex CGF, below S22-POISSON; both roles alike."""
    pair = DistributionPair(law(first), law(second))
    node, swapped = PoissonSubsample(pair, g), PoissonSubsample(pair.swapped(), g)
    accountant = Accountant(15)
    orders = (Fraction(5, 4), 2, Fraction(11, 4), Fraction(7, 2))
    values = [accountant.rdp(node, alpha) for alpha in orders]
    for alpha, value in zip(orders, values, strict=True):
        assert value.lower >= 0
        assert value.lower <= accountant.rdp(pair, alpha).upper
        assert overlap(value, accountant.rdp(swapped, alpha))
    for low, high in itertools.pairwise(values):
        assert low.lower <= high.upper
    # K(λ) = λε at λ = 1, 7/4, 5/2: the middle is at most the mean of the ends.
    _, one, middle, end = values
    assert middle.lower * MP.mpf(7) / 4 <= (one.upper + end.upper * MP.mpf(5) / 2) / 2
    assert values[1].lower <= accountant.rdp(node, 2, by="S22-POISSON").upper


class Told:
    """A direction whose divergence is told, and how often it was asked."""

    def __init__(self, *values):
        self.values = list(values)

    def at(self, ctx, alpha):
        return self.values.pop(0)


def test_the_largest_is_infinite_where_one_is_and_the_others_are_not_asked():
    unasked = Told()
    assert not largest_of(BALL, [Told(arb("inf")), unasked], Fraction(3, 2)).is_finite()


def test_what_few_bits_leave_open_is_not_called_infinite():
    answer = largest_of(BALL, [Told(arb("nan"), arb(2)), Told(arb(1), arb(1))], Fraction(3, 2))
    assert answer == 2


@pytest.mark.parametrize(("first", "second"), [("3.03", 3), (3, "3.03")])
def test_of_directions_that_are_nearly_equal_the_larger_is_taken(first, second):
    """E[(1 − γ + γP/Q)^α] of two normal laws, whose two roles a chord hardly tells apart."""
    alpha, gamma = MP.mpf("4.9"), MP.mpf(1) / 10
    laws_of = [(MP.mpf(i), MP.sqrt(v)) for i, v in enumerate((first, second))]

    def moment(p, q):
        def at(x):
            ratio = MP.npdf(x, *p) / MP.npdf(x, *q)
            return MP.npdf(x, *q) * (1 - gamma + gamma * ratio) ** alpha

        return MP.quad(at, range(-60, 61, 4))

    known = max(MP.log(moment(*roles)) for roles in (laws_of, laws_of[::-1])) / (alpha - 1)
    pair = DistributionPair(laws.Normal(0, first), laws.Normal(1, second))
    found = PoissonSubsample(pair, "1/10").rdp("4.9", digits=15)
    assert float(found.upper) == pytest.approx(float(known), rel=1e-12)
