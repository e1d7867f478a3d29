"""Published figures and reference values, each with how it was obtained; none by symacct."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from symacct import (
    Accountant,
    Gaussian,
    Laplace,
    OrderGridWarning,
    PoissonSubsample,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    binary,
    parse,
    theorems,
)
from tests import independent
from tests.support import decimal_overlaps, holds
from tests.thinning import covering

REFERENCE = Path(__file__).parent / "reference"
NAMES = {theorem.name for theorem in theorems()}


def read(name):
    return json.loads((REFERENCE / name).read_text())


def only_with(name):
    return pytest.mark.skipif(name not in NAMES, reason=f"needs the theorem {name}")


# --- Abadi et al. 2016 and after: σ, q, steps, and the ε known at δ = 10⁻⁵, classic conversion

PUBLISHED = [
    ("4", "1/100", 10_000, "1.2585747"),
    ("1.3", "256/60000", 3_515, "1.1921300"),
    ("1.1", "256/60000", 14_062, "3.0090995"),
    ("0.7", "256/60000", 10_546, "7.1226217"),
]


def by_mpmath(sigma, q, steps, mp):
    """min over whole orders of steps · log A/(α−1) + log(1/δ)/(α−1), A by the binomial sum."""
    s, rate = (independent.number(mp, Fraction(x)) for x in (sigma, q))

    def value(alpha):
        terms = [
            mp.binomial(alpha, k)
            * (1 - rate) ** (alpha - k)
            * rate**k
            * mp.exp(mp.mpf(k * k - k) / (2 * s**2))
            for k in range(alpha + 1)
        ]
        return (steps * mp.log(mp.fsum(terms)) + mp.log(10) * 5) / (alpha - 1)

    return min(value(alpha) for alpha in range(2, 80))


@pytest.mark.parametrize(("sigma", "q", "steps", "epsilon"), PUBLISHED)
def test_the_moments_accountant_s_figures_come_out(sigma, q, steps, epsilon):
    node = steps * PoissonSubsample(Gaussian(sigma), q)
    guarantee = node.epsilon("1e-5", digits=40, conversion="classic", orders="integer")
    assert guarantee.epsilon.rounded_up(12).startswith(epsilon) or decimal_overlaps(
        guarantee.epsilon, epsilon, shown=8
    )
    assert holds(guarantee.epsilon, by_mpmath(sigma, q, steps, independent.context(120)), 40, 100)
    assert guarantee.optimal
    assert guarantee.conversion == "classic"


def test_the_best_whole_order_is_no_worse_than_any_other():
    node = 10_000 * PoissonSubsample(Gaussian(4), "1/100")
    best = node.epsilon("1e-5", conversion="classic", orders="integer")
    for alpha in range(2, 60):
        with pytest.warns(OrderGridWarning, match="edge"):  # a grid of one order has no inside
            other = node.epsilon("1e-5", conversion="classic", orders=[alpha])
        assert best.epsilon.lower <= other.epsilon.upper
        assert (alpha == best.alpha) == (other.epsilon.lower <= best.epsilon.upper)


# --- randomized response: closed form, outcome by outcome


@covering()
@pytest.mark.parametrize("digits", [1, 15, 50, 300, 1000])
@pytest.mark.parametrize("by", ["ZW19-T8", "ZW19-T6", "PAIR-EXACT"])
@pytest.mark.parametrize(("p", "gamma"), [("3/5", "1/20"), ("9/10", "1/1000"), ("1/7", "1/2")])
def test_sampled_randomized_response_to_every_digit_asked(p, gamma, by, digits):
    mp = independent.context(digits + 60)
    node = PoissonSubsample(RandomizedResponse(p), gamma)
    for alpha in (2, 7, 64):
        value = independent.sampled_pair(mp, None, alpha, node)
        answer = node.rdp(alpha, digits=digits, by=by)
        assert holds(answer, value, digits, trusted=digits + 40)


@covering()
@pytest.mark.parametrize("digits", [15, 1000])
@pytest.mark.parametrize("alpha", ["1", "1.0001", "3/2", "2.5", "17/3", "1000.001"])
@pytest.mark.parametrize(("p", "gamma"), [("3/5", "1/20"), ("9/10", "1/1000")])
def test_the_pair_gives_every_real_order(p, gamma, alpha, digits):
    mp = independent.context(digits + 80)
    node = PoissonSubsample(RandomizedResponse(p), gamma)
    value = independent.sampled_pair(mp, None, Fraction(alpha), node)
    assert holds(node.rdp(alpha, digits=digits, by="PAIR-EXACT"), value, digits, digits + 40)
    assert holds(node.rdp(alpha, digits=digits), value, digits, digits + 40)


# --- the shared reference files

SAMPLED_GAUSSIAN = read("sampled_gaussian_rdp.json")
WHOLE = {key: value for key, value in SAMPLED_GAUSSIAN.items() if key.endswith(".0")}


def parsed(key):
    sigma, q, alpha = (binary(float(x)) for x in key.split(","))
    return PoissonSubsample(Gaussian(sigma), q), alpha


def test_there_are_400_values_of_the_sampled_gaussian():
    assert len(SAMPLED_GAUSSIAN) == 400
    assert len(WHOLE) == 218


@pytest.mark.parametrize("sigma", sorted({key.split(",")[0] for key in WHOLE}))
def test_the_sampled_gaussian_at_whole_orders(sigma):
    accountant = Accountant(55)
    for key, value in WHOLE.items():
        if key.split(",")[0] == sigma:
            node, alpha = parsed(key)
            assert decimal_overlaps(accountant.rdp(node, alpha), value, shown=49), key
            assert decimal_overlaps(accountant.rdp(node, alpha, by="ZW19-T8"), value, shown=49), key


@only_with("MTZ19-EXACT")
@pytest.mark.parametrize("sigma", sorted({key.split(",")[0] for key in SAMPLED_GAUSSIAN}))
def test_the_sampled_gaussian_at_every_order(sigma):
    accountant = Accountant(55)
    for key, value in SAMPLED_GAUSSIAN.items():
        if key.split(",")[0] == sigma:
            node, alpha = parsed(key)
            answer = accountant.rdp(node, alpha, by="MTZ19-EXACT")
            assert decimal_overlaps(answer, value, shown=49), key
            assert answer.digits >= 55


THEOREM_27 = read("without_replacement_thm27.json")


@only_with("WBK19-T27")
@pytest.mark.parametrize("key", [key for key in THEOREM_27 if "gamma" in key])
def test_theorem_27(key):
    mechanism, gamma = key.split(" | gamma ")
    name, parameter = mechanism.split()
    node = SubsampleWithoutReplacement(parse(f"{name}({parameter})"), gamma)
    for alpha, value in THEOREM_27[key].items():
        answer = node.rdp(alpha, digits=45, by="WBK19-T27")
        assert decimal_overlaps(answer, value, shown=39), alpha
        assert answer.digits >= 45


OPTIMA = read("epsilon_optima.json")


def optimum(key):
    mechanism, runs, delta, conversion = key.split(" | ")
    node = int(runs.split()[1]) * parse(mechanism)
    return node, delta.split()[1], conversion


@pytest.mark.parametrize("key", OPTIMA)
def test_the_smallest_epsilon_over_all_real_orders(key):
    node, delta, conversion = optimum(key)
    needed = "PAIR-EXACT" if "RandomizedResponse" in key else "MTZ19-EXACT"
    if needed not in NAMES:
        pytest.skip(f"needs the theorem {needed}")
    guarantee = node.epsilon(delta, digits=30, conversion=conversion)
    assert decimal_overlaps(guarantee.epsilon, OPTIMA[key]["epsilon"], shown=21)
    assert guarantee.optimal
    assert abs(guarantee.alpha - Fraction(OPTIMA[key]["alpha"])) < Fraction(1, 10**6)


# --- the curves themselves, by quadrature of the densities

NOISE = {
    "Gaussian": (Gaussian("3/2", "1/2"), lambda mp, z, c: mp.npdf(z, c, mp.mpf(3))),
    "Laplace": (
        Laplace("3/4", "1/4"),
        lambda mp, z, c: mp.exp(-abs(z - c) / 3) / 6,
    ),
}


@pytest.mark.parametrize("name", NOISE)
def test_the_curve_of_noise_is_the_divergence_of_its_two_densities(name):
    """Both are noise of scale 3 on a sensitivity of 1."""
    node, density = NOISE[name]
    mp = independent.context(60)
    places = [-400, -100, *range(-40, 41, 4), 100, 400]
    places += [mp.mpf(1), mp.mpf(0)]
    places = sorted({mp.mpf(x) for x in places})

    def integral(f):
        return mp.quad(f, places)

    def p(z):
        return density(mp, z, 1)

    def q(z):
        return density(mp, z, 0)

    kl = integral(lambda z: p(z) * mp.log(p(z) / q(z)))
    assert holds(node.rdp(1, digits=20), kl, 20, trusted=25)
    for alpha in (2, Fraction(5, 2), 6):
        a = independent.number(mp, alpha)
        moment = integral(lambda z, a=a: p(z) ** a * q(z) ** (1 - a))
        assert holds(node.rdp(alpha, digits=20), mp.log(moment) / (a - 1), 20, trusted=25)


# --- (ε, δ) of a curve that is a straight line, in closed form


@pytest.mark.parametrize("sigma", ["1/2", "5", "40"])
@pytest.mark.parametrize("delta", ["1e-5", "1e-30", "1/3"])
def test_the_classic_conversion_of_a_gaussian_is_rho_plus_2_sqrt_rho_log(sigma, delta):
    mp = independent.context(120)
    rho = 1 / (2 * independent.number(mp, Fraction(sigma)) ** 2)
    log = -mp.log(independent.number(mp, Fraction(delta)))
    value = rho + 2 * mp.sqrt(rho * log)
    guarantee = Gaussian(sigma).epsilon(delta, digits=50, conversion="classic")
    assert holds(guarantee.epsilon, value, 50, trusted=100)
    assert guarantee.optimal
    best = independent.fraction(1 + mp.sqrt(log / rho))
    assert abs(guarantee.alpha / best - 1) < Fraction(1, 10**20)


@pytest.mark.parametrize("epsilon", ["1/4", "1", "7"])
def test_the_classic_delta_of_a_gaussian_is_that_of_concentrated_dp(epsilon):
    mp = independent.context(120)
    rho = mp.mpf(1) / 50
    value = mp.exp(-((independent.number(mp, Fraction(epsilon)) - rho) ** 2) / (4 * rho))
    guarantee = Gaussian(5).delta(epsilon, digits=50, conversion="classic")
    assert holds(guarantee.delta, value, 50, trusted=100)
    assert guarantee.optimal


def improved_epsilon(mp, eps, delta):
    return lambda a: eps(a) + mp.log((a - 1) / a) - (mp.log(delta) + mp.log(a)) / (a - 1)


def improved_delta(mp, eps, epsilon):
    return lambda a: mp.exp((a - 1) * (eps(a) - epsilon)) / (a - 1) * (1 - 1 / a) ** a


SMOOTH = {
    "Gaussian(2)": lambda mp, a: a / 8,
    "100*Gaussian(50)": lambda mp, a: a / 50,
    "ZCDP(1/50, 1/4)": lambda mp, a: mp.mpf(1) / 4 + a / 50,
    "40*RandomizedResponse(3/5)": lambda mp, a: (
        40
        * mp.log(
            mp.mpf(3) / 5 * mp.mpf("1.5") ** (a - 1) + mp.mpf(2) / 5 * mp.mpf("1.5") ** (1 - a)
        )
        / (a - 1)
    ),
}


@pytest.mark.parametrize("text", SMOOTH)
def test_the_improved_conversion_finds_the_bottom_of_the_valley(text):
    """Golden section on the printed conversion in mpmath, at 150 digits."""
    mp = independent.context(150)
    node = parse(text)

    def eps(a):
        return SMOOTH[text](mp, a)

    value = independent.smallest(mp, improved_epsilon(mp, eps, mp.mpf(10) ** -6), "1.01", 4000)
    guarantee = node.epsilon("1e-6", digits=40, conversion="improved")
    assert holds(guarantee.epsilon, value, 40, trusted=60)
    assert guarantee.optimal
    value = independent.smallest(mp, improved_delta(mp, eps, mp.mpf(3)), "1.01", 4000)
    guarantee = node.delta(3, digits=40, conversion="improved")
    assert holds(guarantee.delta, value, 40, trusted=60)
    assert guarantee.optimal


def test_given_orders_are_the_only_ones_tried():
    mp = independent.context(100)
    grid = [Fraction(3, 2), 4, 8, Fraction(45, 2), 64]

    def value(a):
        return improved_epsilon(mp, lambda a: a / 8, mp.mpf(10) ** -6)(independent.number(mp, a))

    guarantee = Gaussian(2).epsilon("1e-6", digits=40, orders=grid)
    assert holds(guarantee.epsilon, min(map(value, grid)), 40, 90)
    assert guarantee.alpha == min(grid, key=value)
