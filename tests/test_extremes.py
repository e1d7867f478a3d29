"""Parameters outside the range of floats, moments that are 0 or ∞, and orders without a limit."""

import os
import warnings
from fractions import Fraction

import mpmath
import pytest
import sympy
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    Compose,
    Curve,
    DistributionPair,
    ExponentialFamily,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    calibrate,
    laws,
    limits,
    theorems,
)
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.errors import OrderGridWarning, PrecisionError, SymacctError
from symacct.kernel.sums import order_search
from symacct.kernel.theorem_registry import is_about
from symacct.theory.conversion import asoodeh21
from tests import extremes
from tests.support import INFINITY
from tests.thinning import covering, every, examples, some

mp = mpmath.mp.clone()
mp.dps = 60


# --- the matrix: few of its cases, in a soak half of them, by SOAK_SEED

BLOCKS = some(4, 100)
CASES = extremes.selection(
    some(48, len(extremes.cases()) // 2), int(os.environ.get("SOAK_SEED", "1"))
)


@covering(every)
@pytest.mark.filterwarnings("ignore::symacct.kernel.errors.OrderGridWarning")
@pytest.mark.parametrize("block", range(BLOCKS))
def test_extreme_parameters_are_answered_or_refused_with_a_typed_error(block):
    failed = []
    for name, make, question in CASES[block::BLOCKS]:
        try:
            found = extremes.answer(make, question)
        except Exception as error:  # the others are tried all the same
            failed.append((name, question, error))
        else:
            if not isinstance(found, SymacctError) and not extremes.is_ordered(found):
                failed.append((name, question, found))
    assert not failed


@pytest.mark.parametrize("power", [324, 400, 5000])
def test_the_closed_forms_hold_far_outside_the_floats(power):
    far = Fraction(10) ** power
    assert Gaussian(far).rdp(2).upper * far * far <= 1 + mpmath.mpf(10) ** -29
    assert Gaussian(1 / far).rdp(2).lower / far / far >= 1 - mpmath.mpf(10) ** -29
    assert PureDP(far).rdp("inf").upper == ZCDP(0, far).rdp(7).upper
    # K(λ) of tiny randomized response is λ(λ+1)ε₀²/2, so that its curve is αε₀²/2.
    tiny = PureDP(1 / far).rdp(3)
    assert abs(tiny.upper * far * far / mpmath.mpf("1.5") - 1) < mpmath.mpf(10) ** -14


def test_laws_of_numbers_that_python_does_not_write_are_sampled():
    for p in (Fraction(1, 10**5000), 1 - Fraction(1, 10**5000)):
        node = SubsampleWithoutReplacement(RandomizedResponse(p), "1/100")
        assert extremes.is_ordered(node.rdp(5, digits=5))


# --- the search looks at every order


def least_epsilon(rho, cost):
    """min (λ+1)ρ + log(λ/(λ+1)) + (cost − log(λ+1))/λ, where λ² ρ = cost − log(λ+1)."""
    lam = mp.sqrt(cost / rho)
    for _ in range(200):
        lam = mp.sqrt((cost - mp.log(lam + 1)) / rho)
    return (lam + 1) * rho - mp.log1p(1 / lam) + (cost - mp.log(lam + 1)) / lam


@pytest.mark.parametrize("sigma", ["10000", "1e20", "1e90"])
def test_the_best_order_of_much_noise_is_found_wherever_it_is(sigma):
    found = Gaussian(sigma).epsilon("1e-300", conversion="improved")
    assert found.optimal
    value = least_epsilon(1 / (2 * mp.mpf(sigma) ** 2), 300 * mp.log(10))
    assert abs(value / mp.mpf(found.epsilon.upper) - 1) < mp.mpf(10) ** -28


def test_the_best_order_next_to_1_is_found_too():
    found = Gaussian("1e-9").epsilon("1e-5", conversion="improved")
    value = least_epsilon(mp.mpf(10) ** 18 / 2, 5 * mp.log(10))
    assert found.alpha < 1 + Fraction(1, 2**20)
    assert 0 <= mp.mpf(found.epsilon.upper) / value - 1 < mp.mpf(10) ** -25


def test_a_search_that_meets_a_limit_says_so():
    with limits(search_order=1000), pytest.warns(OrderGridWarning, match="1000"):
        assert not Gaussian(10_000).epsilon("1e-300", conversion="improved").optimal
    with limits(search_sum=64), pytest.warns(OrderGridWarning, match="64"):
        PoissonSubsample(Gaussian(5), "1/1000").epsilon("1e-300", conversion="improved")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Gaussian(10_000).epsilon("1e-300", conversion="improved")


def test_few_orders_are_asked_on_the_way_to_a_far_one():
    accountant, node = Accountant(), Gaussian("1e60")
    accountant.epsilon(node, "1e-10")
    assert accountant.oracle_calls(node) < 300  # 10⁶¹ is 2²⁰³


@pytest.mark.parametrize("conversion", ["improved", "optimal"])
@pytest.mark.parametrize(
    "node",
    [1000 * PoissonSubsample(Gaussian("1/2"), "1/2"), PoissonSubsample(Gaussian("1/80"), "1/2"),
     1000 * PoissonSubsample(Laplace("1/2"), "1/2"), 1000 * Gaussian("1/2")],
    ids=repr,
)  # fmt: skip
def test_a_delta_next_to_1_is_told_by_few_orders(node, conversion):
    """The bottom lies beyond any order: λ was halved 400 times, by as many bits."""
    accountant = Accountant()
    found = accountant.delta(node, "1/10", conversion=conversion).delta
    assert 0 <= 1 - found.upper < mpmath.mpf(10) ** -9
    assert accountant.oracle_calls(node) <= 100


@given(st.integers(0, 399), st.booleans())
@examples(20, 400)
def test_a_bottom_next_to_1_is_found_by_few_orders(halvings, perspective):
    lam, asked = Fraction(1, 2**halvings), set()

    def f(order):
        asked.add(order)
        return BALL.number((order - 1) / lam + lam / (order - 1))

    low, middle, high = order_search.places(f, 2, perspective)
    assert (low - 1, middle - 1, high - 1) == (lam / 2, lam, 2 * lam)
    assert len(asked) <= 40


# --- rates 0 and 1, moments that are infinite, laws that are one

MECHANISMS = [
    Gaussian(5),
    Laplace(2),
    PureDP(1),
    PureDP(0),
    RandomizedResponse("1/2"),
    ZCDP("1/50"),
    TCDP("1/50", 4),
    ExponentialFamily("1/2", "inf", 5),
    DistributionPair(["1/2", "1/2"], ["1/3", "2/3"]),
    DistributionPair(["1/2", "1/2", 0], [0, "1/2", "1/2"]),
    DistributionPair([1, 0], [0, 1]),
    DistributionPair(["1/2", "1/2"], ["1/2", "1/2"]),
    DistributionPair(laws.Normal(0, 1), laws.Normal(0, 3)),
    DistributionPair(laws.Normal(0, 1), laws.Normal(0, 1)),
    DistributionPair(laws.Exponential(1), laws.Exponential(3)),
    DistributionPair(laws.Uniform(0, 1), laws.Uniform(2, 3)),
    Curve("alpha/50", "exact", "either", "inf"),
    Curve("alpha/50", "upper", "either"),
    Curve("alpha/50", "lower", "either", "inf"),
]
ORDERS = [1, "5/4", 2, "5/2", 3, 6, 30, "inf"]
SAMPLERS = [PoissonSubsample, SubsampleWithoutReplacement]


def told(node, alpha, by=None):
    """The answer; None where the theorem does not apply. A PrecisionError is raised."""
    try:
        return node.rdp(alpha, digits=12, by=by)
    except PrecisionError:
        raise
    except SymacctError:
        return None


@covering()
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("base", MECHANISMS, ids=repr)
def test_at_rate_0_every_theorem_gives_0(base, sampler):
    node = sampler(base, 0)
    for by in [None, *(t.name for t in theorems() if is_about(t, node))]:
        for alpha in ORDERS:
            answer = told(node, alpha, by)
            assert answer is None or answer.lower == answer.upper == 0, (by, alpha)


@covering()
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("base", MECHANISMS, ids=repr)
def test_at_rate_1_the_curve_is_that_of_the_base_and_no_theorem_gives_less(base, sampler):
    node = sampler(base, 1)
    for alpha in ORDERS:
        below = told(base, alpha)
        answer = told(node, alpha)
        assert answer is None or (answer.lower, answer.upper) == (below.lower, below.upper)
        for theorem in theorems():
            if is_about(theorem, node) and str(theorem.kind) != "lower":
                answer = told(node, alpha, theorem.name)
                assert answer is None or answer.upper >= below.lower


@covering()
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("base", MECHANISMS, ids=repr)
def test_infinite_moments_and_equal_laws_are_answered_by_every_theorem(base, sampler):
    """∞ where the mechanism's moment is infinite, 0 where its laws are one; never an error."""
    node = sampler(base, "1/100")
    for by in [None, *(t.name for t in theorems() if is_about(t, node))]:
        for alpha in (2, 3, 6, 30):
            below, answer = told(base, alpha), told(node, alpha, by)
            if answer is None or by in ("VEH14-T3-CAP", "BLOG-C24", "BDRS18-T11"):
                continue
            if below.lower == INFINITY:
                assert answer.upper == INFINITY, (by, alpha)
            if below.upper == 0 and by is None:
                assert answer.upper == 0, alpha


def test_the_cgf_is_0_at_0_even_where_the_curve_is_infinite_at_1():
    node = GroupPrivacy(TCDP("1/10", "3/2"), 8)
    assert node.rdp(1).lower == INFINITY
    for engine in ("ball", "mpmath", "float64"):
        assert node.cgf(0, engine=engine).upper == 0


def test_one_order_says_that_a_curve_of_0_is_private_with_delta_0():
    found = Compose().delta(0, conversion="optimal", orders=[2])
    assert found.delta.upper == 0
    assert Compose().epsilon("1e-9", conversion="optimal", orders=[2]).epsilon.upper == 0


@pytest.mark.parametrize("count", [1, 3])
def test_a_tie_with_the_target_is_met(count):
    found = calibrate(count * Laplace(sympy.Symbol("b", positive=True)), "1/3", 0, digits=3)
    assert found.meets == 3 * count


# --- the optimal conversion at its edges, against two-point pairs tried one by one


def divergence(alpha, p, q):
    ratios = (p / q) ** (alpha - 1), ((1 - p) / (1 - q)) ** (alpha - 1)
    return mp.log(p * ratios[0] + (1 - p) * ratios[1]) / (alpha - 1)


def worst_gain(alpha, rho, eps, t):
    """p − e^ε q for q = 1/(1+e^t) and the largest p with D_α((p, 1−p)‖(q, 1−q)) <= ρ."""
    q = 1 / (1 + mp.e**t)
    low, high = q, 1 - mp.mpf(10) ** -40
    while high - low > mp.mpf(10) ** -28 and divergence(alpha, high, q) > rho:
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(alpha, middle, q) <= rho else (low, middle)
    return (high if divergence(alpha, high, q) <= rho else low) - mp.e**eps * q


def worst_delta(alpha, rho, eps):
    """The largest gain over q: a grid, then ever smaller steps."""
    gain = lambda t: worst_gain(alpha, rho, eps, t)  # noqa: E731
    best = max((mp.mpf(k) for k in range(-6, 54, 2)), key=gain)
    step = mp.mpf(2)
    while step > mp.mpf(10) ** -7:
        step /= 2
        best = max((best - step, best, best + step), key=gain)
    return gain(best)


EDGES = [  # α, ε(α), ε: ε = 0, α next to 1, α large, a curve next to 0, δ next to 1, ε > ε(α)
    ("2", "1/2", "0"),
    ("1.000001", "3/10", "1/10"),
    ("50", "1e-6", "0"),
    ("300", "1/50", "1/60"),
    ("2", "1e-20", "1e-10"),
    ("2", "20", "1/2"),
    ("5", "3", "4"),
]


@pytest.mark.parametrize(("alpha", "rho", "eps"), EDGES)
def test_the_optimal_conversion_is_what_two_point_pairs_reach(alpha, rho, eps):
    exactly = [Fraction(x) for x in (alpha, rho, eps)]
    reached = worst_delta(*(mp.mpf(x.numerator) / x.denominator for x in exactly))
    with precision(300):
        a, r, e = map(BALL.number, exactly)
        delta = asoodeh21.log_delta(BALL, r, a, e).exp()
        least, most = (mp.mpf(end.str(40, radius=False)) for end in (delta.lower(), delta.upper()))
        assert reached * (1 - mp.mpf(10) ** -30) <= most
        assert least <= reached * (1 + mp.mpf(10) ** -10)
        # A little less δ costs a little more ε.
        assert asoodeh21.epsilon(BALL, r, a, delta * (1 - arb(2) ** -40)).upper() > e


def test_the_optimal_conversion_of_a_curve_that_is_0_or_next_to_it():
    for alpha in ("1.0001", 2, 10**6):
        a, e = BALL.number(Fraction(alpha)), arb(0.25)
        assert asoodeh21.epsilon(BALL, arb(0), a, arb(1e-9)) == 0
        assert asoodeh21.log_delta(BALL, arb(0), a, e).exp() == 0
        unknown = asoodeh21.log_delta(BALL, arb(0, 1e-30), a, e)
        assert not unknown.is_finite()
    with pytest.raises(PrecisionError, match="improved conversion"):
        Gaussian("1e400").epsilon("1e-5", conversion="optimal", orders=[2])


def test_the_optimal_conversion_loses_no_digits_next_to_order_1():
    """What it is at 1 is nearer by as much as the order is."""
    with precision(256):
        found = {
            power: asoodeh21.log_delta(
                BALL, arb(0.5), BALL.number(1 + Fraction(1, 2**power)), arb(0.25)
            )
            for power in (8, 20, 60, 126, 190)
        }
        for power, log_delta in found.items():
            assert log_delta.rel_accuracy_bits() > 220
            assert abs(log_delta - found[190]) <= arb(2) ** -power


@covering()
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("end", [3, "1/3", "inf"])
@pytest.mark.parametrize("f", ["alpha/50", "Min(alpha/50, 3)", "1 - 1/(1 + alpha)", "3"])
def test_the_formula_of_a_curve_with_a_stated_end_is_printed(f, end, sampler):
    for kind in some(["exact"], ["exact", "upper"]):
        node = sampler(Curve(f, kind, "either", end), "1/100")
        for alpha in (None, 3):
            formula = node.formula(alpha)
            assert str(formula)
            assert sympy.latex(formula)
            assert node.latex(alpha)
