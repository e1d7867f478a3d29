"""Trade-off curves, GDP, zCDP and tCDP, against closed forms and the curve itself."""

import random
from fractions import Fraction

import pytest
import sympy

from symacct import (
    TCDP,
    ZCDP,
    AssumptionError,
    Curve,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributionPair,
    DomainError,
    ExponentialMechanism,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    PermuteAndFlip,
    PoissonSubsample,
    PostProcess,
    PrecisionError,
    PureDP,
    RandomizedResponse,
    Scale,
    Skellam,
    SoundnessError,
    SubsampleWithoutReplacement,
    risk,
)
from symacct.accountant.currencies.gdp import no_looser
from symacct.kernel import deadline
from symacct.kernel.answer import bound
from tests import independent
from tests.support import holds
from tests.thinning import some

MP = independent.context(80)


def normal_tail(x):
    return MP.erfc(x / MP.sqrt(2)) / 2


def normal_quantile(p):
    """The x with P(Z > x) = p."""
    return MP.sqrt(2) * MP.erfinv(1 - 2 * p)


def number(x):
    return independent.number(MP, Fraction(x))


def below(m, alpha, digits=25):
    """A fraction that is at most ε(α)/α."""
    return independent.fraction(m.rdp(alpha, digits=digits).lower) / Fraction(alpha)


# --- the trade-off curve


def gaussian(alpha, mu):
    return normal_tail(mu - normal_quantile(alpha))


def laplace(alpha, s):
    if alpha < MP.exp(-s) / 2:
        return 1 - MP.exp(s) * alpha
    return MP.exp(-s) / (4 * alpha) if alpha <= MP.mpf(1) / 2 else MP.exp(-s) * (1 - alpha)


def response(alpha, odds):
    return max(MP.mpf(0), 1 - odds * alpha, (1 - alpha) / odds)


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_the_curves_of_noise_are_their_closed_forms(seed):
    draw = random.Random(seed)
    scale, times = Fraction(draw.randint(3, 60), 10), draw.randint(1, 9)
    for alpha in (Fraction(draw.randint(1, 999), 1000), Fraction(1, 10 ** draw.randint(3, 12))):
        a, s = number(alpha), 1 / number(scale)
        shown = (times * Gaussian(scale)).tradeoff(alpha, digits=25)
        assert holds(shown, gaussian(a, MP.sqrt(times) * s), 25, trusted=60)
        assert holds(Laplace(scale).tradeoff(alpha, digits=25), laplace(a, s), 25, trusted=60)
        pure = PureDP(1 / scale).tradeoff(alpha, digits=25)
        assert holds(pure, response(a, MP.exp(s)), 25, trusted=60)


def best_tests(masses, alpha):
    """The least error of the second kind, the outcomes taken by their ratios."""
    left, missed = alpha, Fraction(1)
    for p, q in sorted(masses, key=lambda x: x[0] / x[1], reverse=True):
        share = min(Fraction(1), left / q)
        left, missed = left - share * q, missed - share * p
    return missed


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_of_few_outcomes_it_is_that_of_the_best_test(seed):
    """Two laws that an involution swaps, so that one curve is that of both directions."""
    draw = random.Random(seed)
    weights = [draw.randint(1, 20) for _ in range(4)]
    p = [Fraction(w, sum(weights)) for w in weights]
    masses = list(zip(p, reversed(p), strict=True))
    for alpha in (Fraction(draw.randint(1, 99), 100), masses[0][1]):
        shown = DistributionPair(*zip(*masses, strict=True)).tradeoff(alpha, digits=20)
        assert holds(shown, number(best_tests(masses, alpha)), 20, trusted=60)


def test_of_two_laws_it_is_the_lesser_of_both_directions():
    """(9/10, 1/10) against (1/2, 1/2): chords (0, 1) to (1/10, 1/2), or (1/2, 1/10), to (1, 0)."""
    pair = DistributionPair(["9/10", "1/10"], ["1/2", "1/2"])
    for alpha, value in (("1/20", "3/4"), ("3/10", "7/18"), ("3/4", "1/20")):
        assert holds(pair.tradeoff(alpha), number(value), 30, trusted=60)


def test_a_sample_has_the_mixture_of_its_curve_and_of_no_test_at_all():
    """f of (1−γ)Q + γP from Q at α is γf(α) + (1−γ)(1−α); its inverse is the other direction."""
    step = PoissonSubsample(Gaussian(1), "1/10")
    a = number("1/100")
    # Left of the point where the mixture's slope is −1 the curve is the mixture's own.
    value = (gaussian(a, MP.mpf(1)) + 9 * (1 - a)) / 10
    assert holds(step.tradeoff("1/100"), value, 30, trusted=60)
    swapped = step.tradeoff(Fraction(99, 100))
    assert step.tradeoff(independent.fraction(swapped.lower)).lower <= Fraction(99, 100) + 10**-9


@pytest.mark.parametrize(
    "m",
    [
        Laplace(1) + Gaussian(2),
        20 * RandomizedResponse("3/5"),
        SubsampleWithoutReplacement(Gaussian(2), "1/10"),
        2 * PoissonSubsample(Gaussian(1), "1/10"),
        DiscreteGaussian(2),
        DistributionPair(["1/2", "1/2", 0], ["1/4", "1/4", "1/2"]),
    ],
)
def test_no_line_of_the_profile_is_above_it(m):
    for alpha in ("1/50", "3/10"):
        shown = m.tradeoff(alpha, digits=12)
        assert 0 <= shown.lower <= shown.upper <= 1 - number(alpha) + MP.mpf(10) ** -12
        for epsilon in ("1/10", "1"):
            delta = independent.fraction(
                m.delta(epsilon, conversion="exact", digits=12).delta.upper
            )
            grown = MP.exp(number(epsilon))
            lines = 1 - number(delta) - grown * number(alpha), (1 - number(delta) - number(alpha))
            assert max(lines[0], lines[1] / grown) <= shown.upper


def test_the_ends_and_what_only_one_law_has():
    lossy = DistributionPair(["1/2", "1/2", 0], ["1/2", 0, "1/2"])
    assert (lossy.tradeoff(0).lower, lossy.tradeoff("1/2").upper) == (Fraction(1, 2), 0)
    assert Gaussian(1).tradeoff(0).lower == 1
    assert Gaussian(1).tradeoff(1).upper == 0
    assert PureDP(0).tradeoff("1/4").upper >= 0.75


def test_it_is_rounded_downwards_and_says_so():
    shown = Laplace(2).tradeoff("1/20")
    assert shown.claim.kind is Kind.EXACT
    lower = independent.fraction(shown.lower)
    for said in (f"{shown:.3f}", shown.rounded(3), str(shown), float(shown), round(shown, 4)):
        assert lower * (1 - Fraction(1, 1000)) < Fraction(said) <= lower
    assert Fraction(shown.as_dict()["value"]) <= lower
    assert PostProcess(Laplace(2)).tradeoff("1/20").claim.kind is Kind.UPPER


# --- Gaussian differential privacy


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_mu_in_closed_form(seed):
    """At α = f(α) the curves touch: e^{−s/2}/2 and 1/(1+e^s); of Gaussian noise μ² adds."""
    draw = random.Random(seed)
    s, runs = Fraction(draw.randint(1, 60), 10), draw.randint(1, 99)
    touch = {Laplace(1 / s): MP.exp(-number(s) / 2) / 2, PureDP(s): 1 / (1 + MP.exp(number(s)))}
    for m, place in touch.items():
        assert holds(m.gdp(digits=25), 2 * normal_quantile(place), 25, trusted=60)
    both = (runs * Gaussian(s) + Gaussian(7, 3)).gdp(digits=25)
    assert holds(both, MP.sqrt(runs / number(s) ** 2 + MP.mpf(9) / 49), 25, trusted=60)


def test_mu_of_sums_samples_and_groups():
    both = 3 * Gaussian(5) + PureDP("1/10")
    pure = 2 * normal_quantile(1 / (1 + MP.exp(number("1/10"))))
    assert holds(both.gdp(), MP.sqrt(MP.mpf(3) / 25 + pure**2), 30, trusted=60)
    assert both.gdp().claim.kind is Kind.UPPER
    with pytest.raises(PrecisionError, match="digits: found 0"):
        both.gdp(digits=0)
    assert holds((3 * Gaussian(5) + Gaussian(2)).gdp(), MP.sqrt(MP.mpf(37) / 100), 30, trusted=60)
    assert (3 * Gaussian(5) + Gaussian(2)).gdp().claim.kind is Kind.EXACT
    sampled = PoissonSubsample(Gaussian(2), "1/10").gdp()
    assert (sampled.lower, sampled.claim.kind) == (Fraction(1, 2), Kind.EXACT)
    assert GroupPrivacy(Laplace(2) + Gaussian(2), 3).gdp().claim.kind is Kind.UPPER
    assert PermuteAndFlip(2).gdp().claim.kind is Kind.EXACT  # its profile is Laplace's
    assert PermuteAndFlip(2).gdp() == Laplace("1/2").gdp()
    assert PureDP(0).gdp().upper == 0


# --- concentrated differential privacy

FALLING = [
    Laplace("1/3"),
    Laplace(5),
    PureDP(4),
    RandomizedResponse("3/4"),
    DiscreteLaplace(2),
    DiscreteLaplace("1/2", 5),
    DiscreteGaussian("1/2"),
    DiscreteGaussian(3, 2),
    ZCDP("1/50", "1/4"),
    2 * Laplace(2) + Gaussian(3),
    PostProcess(Laplace(1)),
    Scale(Laplace(1), "1/3"),
]


@pytest.mark.parametrize("m", FALLING, ids=repr)
def test_where_it_is_said_to_the_curve_over_its_order_is_largest_at_1(m):
    shown = m.zcdp(digits=20)
    assert abs(shown.upper - m.rdp(1, digits=20).upper) <= shown.upper * MP.mpf(10) ** -20
    for alpha in ("1.001", "3/2", "5", "1000"):
        assert below(m, alpha) <= independent.fraction(shown.upper)


@pytest.mark.parametrize("seed", range(some(4, 10)))
def test_rho_in_closed_form(seed):
    epsilon = Fraction(random.Random(seed).randint(1, 80), 16)
    e = number(epsilon)
    assert holds(PureDP(epsilon).zcdp(digits=25), e * MP.tanh(e / 2), 25, trusted=60)
    assert holds(Laplace(1 / epsilon).zcdp(digits=25), e + MP.exp(-e) - 1, 25, trusted=60)


SEARCHED = {
    "two laws": DistributionPair(["1/2", "1/2"], ["1/3", "2/3"]),
    "bounded range": ExponentialMechanism(3),
    "a sample": PoissonSubsample(Laplace("1/4"), "1/10"),
    "a sample of fixed size": SubsampleWithoutReplacement(PureDP(1), "1/10"),
    "rare": DistributionPair(["1/1000", "999/1000"], ["1/10", "9/10"]),
    "a bound": PermuteAndFlip(1) + ExponentialMechanism(1),
}


@pytest.mark.parametrize("name", SEARCHED)
def test_rho_that_is_searched_for_is_the_largest_quotient_on_a_grid(name):
    m = SEARCHED[name]
    shown = m.zcdp()
    orders = [1, *(1 + Fraction(2) ** k for k in range(-12, 8))]
    values = [below(m, a) for a in orders]
    assert max(values) <= independent.fraction(shown.upper)

    def less(log):
        return -number(below(m, 1 + independent.fraction(MP.exp(log))))

    best = max(range(1, len(orders)), key=values.__getitem__)
    middle = MP.log(number(orders[best] - 1))
    top = max(-independent.smallest(MP, less, middle - 1, middle + 1), number(values[0]))
    assert abs(shown.upper - top) <= top * MP.mpf(10) ** -9


def sampled_gaussian(sigma, rate, alpha):
    """ε(α) of a whole order, by how often the record is in."""
    s, g = number(sigma), number(rate)
    moment = MP.fsum(
        MP.binomial(alpha, j) * g**j * (1 - g) ** (alpha - j) * MP.exp(j * (j - 1) / (2 * s**2))
        for j in range(alpha + 1)
    )
    return MP.log(moment) / (alpha - 1)


@pytest.mark.parametrize("seed", range(some(4, 10)))
def test_rho_up_to_a_late_order_is_that_of_the_order(seed):
    """After its valley ε(α)/α of a sample rises: no whole order before has more."""
    draw = random.Random(seed)
    sigma, rate = Fraction(draw.randint(5, 12), 10), Fraction(1, draw.randint(20, 400))
    omega = draw.randint(20, 60)
    ratios = [sampled_gaussian(sigma, rate, alpha) / alpha for alpha in range(2, omega + 1)]
    assert max(ratios) == ratios[-1]
    found = PoissonSubsample(Gaussian(sigma), rate).tcdp(omega, digits=22)
    assert holds(found, ratios[-1], 22, trusted=50)


def test_sampled_gaussian_noise_is_concentrated_up_to_an_order():
    """ε(α)/α of Poisson(Gaussian(1), 1/100) rises after a valley: at ω = 4 it is at the end."""
    step = PoissonSubsample(Gaussian(1), "1/100")
    for omega in ("3/2", 4, 16, 64):
        grid = [1, *(1 + (Fraction(omega) - 1) * Fraction(k, 16) for k in range(1, 17))]
        top = max(below(step, a) for a in grid)
        assert top <= independent.fraction(step.tcdp(omega).upper) <= top * (1 + Fraction(1, 10**6))
    assert (step.zcdp().upper, step.zcdp().claim.kind) == (Fraction(1, 2), Kind.UPPER)
    assert TCDP("1/50", 9).tcdp(8).lower == ZCDP("1/50").zcdp().lower
    assert Skellam(5).tcdp(8).claim.kind is Kind.EXACT


# --- bad input

LOWER = Curve("alpha/50", kind="lower", adjacency="either", at_infinity="inf")
OPEN = Gaussian(sympy.Symbol("sigma", positive=True))


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda: Gaussian(1).tradeoff("3/2"), DomainError, "0 <= alpha <= 1"),
        (lambda: Gaussian(1).tradeoff(-1), DomainError, ">= 0"),
        (lambda: ZCDP(1).tradeoff("1/2"), AssumptionError, "no dominating pair"),
        (lambda: OPEN.tradeoff("1/2"), DomainError, "free symbol"),
        (lambda: OPEN.gdp(), DomainError, "free symbol"),
        (lambda: OPEN.zcdp(), DomainError, "free symbol"),
        (lambda: ZCDP(1).gdp(), AssumptionError, "from a Rényi curve alone no μ is known"),
        (
            lambda: PoissonSubsample(Gaussian(1), "1/2", "replace_one").gdp(),
            AssumptionError,
            "no μ",
        ),
        (lambda: LOWER.gdp(), SoundnessError, "lower bound"),
        (lambda: LOWER.zcdp(), SoundnessError, "lower bound"),
        (lambda: LOWER.tcdp(3), SoundnessError, "lower bound"),
        (lambda: Skellam(5).zcdp(), AssumptionError, "tcdp"),
        (lambda: TCDP(1, 4).zcdp(), AssumptionError, "tcdp"),
        (lambda: TCDP(1, 4).tcdp(4), AssumptionError, "smaller omega"),
        (lambda: Gaussian(1).tcdp(1), DomainError, "> 1"),
        (lambda: Gaussian(1).tcdp("inf"), DomainError, "omega"),
        (lambda: Gaussian(1).zcdp(digits=0), PrecisionError, "digits"),
    ],
)
def test_bad_input_is_one_typed_error(ask, error, said):
    with pytest.raises(error, match=said):
        ask()


@pytest.mark.parametrize("scale", ["1e-30", "1e-300"])
def test_a_rho_that_few_bits_do_not_tell_is_not_said_to_be_infinite(scale):
    """e^{Δ/b} is then no number that balls of few bits hold; ε(1) = Δ/b − 1 + e^{−Δ/b}."""
    found = Laplace(scale).tcdp(2)
    loss = 1 / Fraction(scale)
    assert loss - 1 <= Fraction(found.rounded_up()) <= loss * (1 + Fraction(1, 10**8))


@pytest.mark.parametrize("epsilon", ["1e-3", "1e-30"])
def test_a_rho_that_orders_without_number_would_tell_is_an_upper_bound(epsilon):
    """ε(α)/α is nearly ε²/8 at all orders up to 1/ε, and never above it."""
    for found in (ExponentialMechanism(epsilon).zcdp(), ExponentialMechanism(epsilon).tcdp(4)):
        assert found.claim.kind is Kind.UPPER
        square = Fraction(epsilon) ** 2
        assert (
            Fraction("0.12499") * square
            < independent.fraction(found.upper)
            < Fraction(".1251") * square
        )


def test_answers_of_a_great_loss_keep_their_digits():
    """f(a) = e^{−ε}(1 − a), as δ(0) = 1 − 2/(1 + e^ε) has no digit less than 1 of some bits."""
    error = PureDP(10_000).tradeoff("1e-6", digits=9)
    assert str(error) == "1.13548272e-4343"
    assert holds(error, MP.exp(-10_000) * (1 - number("1e-6")), 9)


def test_a_test_of_a_slope_beyond_all_bits_is_refused_in_one_line():
    for m in (PureDP(10**6), Gaussian("1e-3"), DiscreteGaussian("1e-3")):
        with pytest.raises(PrecisionError, match="the best test at a slope beyond 2\\^-262144"):
            m.tradeoff("1e-6")


def test_a_mu_of_some_tests_is_no_larger_than_that_of_all():
    m = PoissonSubsample(Gaussian(1), "0.999999999")
    assert str(m.gdp(6)) == str(risk(m).mu) == str(m.gdp(6, "1e-10")) == "1.00000"


def test_a_mu_that_is_known_is_kept_where_the_time_is_over():
    m = PoissonSubsample(Gaussian(1), "1/2")
    known = m.gdp(3)
    known = bound(known, Kind.UPPER)  # which that of all tests may be below
    with deadline.within(0):
        assert no_looser(lambda: known, m, 6) is known
