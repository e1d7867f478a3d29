"""The search over orders: one valley is found, and a proved optimum is one."""

import json
import math
import warnings
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    Curve,
    DiscreteGaussian,
    Gaussian,
    Kind,
    Laplace,
    OrderError,
    OrderGridWarning,
    PoissonSubsample,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    RepeatAndSelect,
    Skellam,
    SubsampleWithoutReplacement,
    TreeAggregation,
    laws,
)
from symacct.kernel import optimal_order
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.conversion import EpsilonDelta, named
from symacct.kernel.sums import order_search
from tests import independent
from tests.support import INFINITY, LEAVES, OPERATIONS
from tests.thinning import covering, examples, some

CONVERSIONS = ["classic", "improved"]
OPTIMAL = {**{name: LEAVES[name] for name in ("Gaussian", "Laplace", "PureDP", "ZCDP")},
           "RandomizedResponse": LEAVES["RandomizedResponse"]}  # fmt: skip


def ends(answer):
    return independent.fraction(answer.lower), independent.fraction(answer.upper)


# --- the valley itself


@given(st.integers(2, 5000), st.integers(2, 100), st.integers(2, 20_000))
@examples(40, 100)
def test_the_bottom_of_a_valley_over_whole_orders_is_found(bottom, first, guess):
    asked = []

    def f(n):
        asked.append(n)
        return arb(abs(n - bottom)) / (1 if n < bottom else 7)

    found = order_search.whole_valley(f, first, 10**4, guess)
    assert found == max(first, bottom)
    # Doubling and golden sections: far fewer than all.
    assert len(set(asked)) <= 60


@given(st.integers(2, 3000), st.integers(2, 9000))
@examples(12, 30)
def test_a_valley_with_a_cliff_of_infinity_is_searched_too(bottom, guess):
    def f(n):
        return arb("inf") if n > bottom else arb(1) / n

    assert order_search.whole_valley(f, 2, 10**4, guess) == bottom


def from_a_guess(curve):
    """The order found by the classic conversion, the best one, and how many were asked."""
    question = EpsilonDelta(
        m=Gaussian(1),
        by=None,
        conversion=named("classic"),
        asks_epsilon=True,
        value=Fraction(1, 10**8),
    )
    converted, asked = question.objective, set()

    def counted(alpha):
        asked.add(alpha)
        return curve(alpha)

    found = optimal_order.whole_valley(
        question, counted, lambda alpha: converted(counted(alpha), alpha), 2, 10**4
    )
    best = min(range(2, 500), key=lambda alpha: float(converted(curve(alpha), alpha)))
    return found, best, len(asked)


@pytest.mark.parametrize("growth", [0, 0.001, 0.004])
@pytest.mark.parametrize("size", [0.0003, 0.002, 0.01])
def test_of_a_curve_that_grows_as_supposed_the_bottom_and_its_neighbours_are_asked(size, growth):
    found, best, asked = from_a_guess(
        lambda alpha: arb(size * alpha * math.exp(growth * (alpha - 1)))
    )
    assert found == best
    assert asked <= 5  # with order 2 and the one that its growth is told from


@given(st.integers(-60, 60), st.integers(3, 400), st.integers(1, 9))
@examples(12, 1000)
def test_of_a_curve_that_grows_otherwise_the_bottom_is_found(size, knee, power):
    found, best, asked = from_a_guess(
        lambda alpha: arb(2.0**size * (alpha + max(0, alpha - knee) ** power / 1000))
    )
    assert found == best or best == 499
    assert asked <= 60


def test_a_valley_that_falls_for_ever_ends_at_the_last_order():
    for guess in (2, 3, 50, 777):
        assert order_search.whole_valley(lambda n: arb(1) / n, 2, 777, guess) == 777
        assert order_search.whole_valley(lambda n: arb(n), 3, 777, guess) == 3


@given(st.fractions(-9, 9), st.fractions(Fraction(1, 9), 9), st.fractions(1, 3), st.booleans())
@examples(25, 60)
def test_the_chord_floor_is_below_a_convex_function(shift, scale, middle, perspective):
    """M(λ) = scale · (λ − 2)² + shift, or M(λ)/λ, sampled on a fine grid."""

    def f(x):
        value = scale * (x - 2) ** 2 + shift
        return value / x if perspective else value

    places = (middle - Fraction(1, 2), middle, middle + Fraction(1, 2))
    values = tuple(map(f, places))
    if values[0] < values[1] or values[2] < values[1]:
        return
    with precision(200):

        def ball(x):
            return arb(x.numerator) / x.denominator

        floor = order_search.chord_floor(
            tuple(map(ball, values)), tuple(map(ball, places)), perspective
        )
        low = min(f(places[0] + Fraction(k, 500)) for k in range(501))
        assert floor <= ball(low)
        assert floor.is_finite()


# --- round trips


@covering()
@pytest.mark.parametrize("conversion", CONVERSIONS)
@pytest.mark.parametrize("leaf", OPTIMAL)
@given(data=st.data())
def test_delta_of_epsilon_of_delta_comes_back(leaf, conversion, data):
    node = data.draw(st.integers(1, 200)) * data.draw(OPTIMAL[leaf])
    delta = data.draw(st.sampled_from([Fraction(1, 10**k) for k in (2, 5, 9)]))
    there = node.epsilon(delta, digits=25, conversion=conversion)
    low, high = ends(there.epsilon)
    if there.alpha == INFINITY or low == 0 or not there.optimal:
        return
    below, above = (node.delta(e, digits=25, conversion=conversion) for e in (high, low))
    if below.optimal and below.alpha != INFINITY:
        assert independent.fraction(below.delta.lower) <= delta
    if above.optimal and above.alpha != INFINITY:
        assert delta <= independent.fraction(above.delta.upper)
    assert abs(ends(below.delta)[1] / delta - 1) < Fraction(1, 10**10)


@pytest.mark.parametrize("conversion", CONVERSIONS)
@pytest.mark.parametrize("base", ["PoissonSubsample", "SubsampleWithoutReplacement"])
@given(data=st.data())
def test_every_guarantee_is_sound_at_its_own_order(base, conversion, data):
    """What is reported is the conversion of ε(α) at the order named, by mpmath.

    At more digits another theorem may answer, where the best one takes too long.
    """
    node = 50 * data.draw(OPERATIONS[base](LEAVES["Gaussian"]))
    mp = independent.context(60)
    guarantee = node.epsilon("1e-6", digits=20, conversion=conversion, orders="integer")
    a, delta = independent.number(mp, guarantee.alpha), mp.mpf(10) ** -6
    stated = node.rdp(guarantee.alpha, digits=40)
    if stated.claim.theorems != guarantee.claim.theorems:
        stated = node.rdp(guarantee.alpha, digits=20)

    def converted(eps):
        value = eps - mp.log(delta) / (a - 1)
        if conversion == "improved":
            value = eps + mp.log((a - 1) / a) - (mp.log(delta) + mp.log(a)) / (a - 1)
        return independent.fraction(max(value, mp.mpf(0)))

    least, most = (mp.mpf(0) + mp.make_mpf(end._mpf_) for end in (stated.lower, stated.upper))
    if guarantee.conversion == "total-variation":
        assert guarantee.alpha == 1
        assert guarantee.epsilon.upper == 0
        assert min(-mp.expm1(-most), most / 2) <= delta**2
        return
    low, high = ends(guarantee.epsilon)
    least, most = converted(least), converted(most)
    assert low - most / 10**30 <= most
    assert least <= high + most / 10**30


# --- edges


def test_a_pure_bound_answers_delta_0_and_few_compositions():
    node = PureDP("1/2")
    assert node.epsilon(0).alpha == INFINITY
    # The truth is log((p−δ)/(1−p)), p = e^{1/2}/(1+e^{1/2}): 0.4999999999983934693… in mpmath.
    assert "0.49999999999839346" < str(node.epsilon("1e-12").epsilon) < "0.49999999999839347"
    assert node.epsilon("1e-12", conversion="classic").alpha == INFINITY
    assert node.delta("1/2").delta.upper == 0
    assert node.delta(3).delta.upper == 0
    many = 10_000 * PureDP("1/100")
    assert many.epsilon("1e-6").epsilon.upper < 100
    assert many.epsilon("1e-6").alpha < INFINITY


def test_epsilon_is_never_negative_and_delta_never_above_1():
    tiny = Gaussian(10**6)
    assert tiny.epsilon("1/2").epsilon.upper == 0
    assert tiny.epsilon("1/2", conversion="classic").epsilon.lower >= 0
    assert Gaussian("1/100").delta(0, orders=[2, 3]).delta.upper == 1
    assert Gaussian("1/100").delta("1/10").delta.upper <= 1


def test_a_truncated_curve_stops_before_its_end():
    guarantee = TCDP("1/50", 9).epsilon("1e-6", orders="integer")
    assert guarantee.alpha == 8
    assert TCDP("1/50", 9).epsilon("1e-6").alpha < 9


def test_the_optimum_of_an_upper_bound_with_kinks_is_not_called_proved():
    node = 1000 * SubsampleWithoutReplacement(ZCDP("1/8"), "1/100")
    guarantee = node.epsilon("1e-6", digits=15)
    assert not guarantee.optimal
    assert guarantee.claim.kind is Kind.UPPER
    assert (
        guarantee.epsilon.lower <= node.epsilon("1e-6", digits=15, orders="integer").epsilon.upper
    )


@pytest.mark.parametrize(
    ("m", "delta", "orders"),
    [
        # One theorem ends at order 256, and what goes on has a valley of its own.
        (RandomAllocation(TreeAggregation(8, 1), 2), "1e-300", range(200, 320)),
        (
            RepeatAndSelect(
                PoissonSubsample(TreeAggregation(7, 4), "1/2"),
                laws.TruncatedNegativeBinomial(1, "11/14"),
            ),
            "1e-3",
            range(2, 60),
        ),
    ],
)
def test_of_several_valleys_the_lowest_is_found(m, delta, orders):
    """By asking every order."""
    found = m.epsilon(delta, digits=6, orders="integer")
    assert found.alpha == m.epsilon(delta, digits=6, orders=orders).alpha


_SAMPLED = st.builds(
    lambda sigma, rate, count: count * PoissonSubsample(Gaussian(sigma), Fraction(rate, 10**6)),
    st.fractions(1, 300, max_denominator=1000),
    st.integers(1, 1000),
    st.sampled_from([1, 100, 10**6]),
)


@given(
    st.one_of(_SAMPLED, st.builds(Laplace, st.fractions("1/1000", 100, max_denominator=1000))),
    st.integers(2, 10**12),
    st.sampled_from([6, 10, 25]),
    st.sampled_from(CONVERSIONS),
)
@example(Laplace("1/500"), 2, 6, "improved")  # two orders of one height, the first fit between
@example(Laplace(1), 10**11, 10, "improved")  # flatter than balls tell apart
@example(PoissonSubsample(Gaussian("1077/200"), "1/250000"), 29539701, 6, "classic")  # narrow
@example(PoissonSubsample(Gaussian("28589/500"), "33/1000000"), 32922008, 30, "classic")
@examples(10, 1000)
def test_of_an_exact_curve_the_order_is_proved_the_best(m, inverse, digits, conversion):
    with warnings.catch_warnings(record=True) as limited:
        warnings.simplefilter("always")
        found = m.epsilon(Fraction(1, inverse), digits, conversion=conversion)
    assert found.optimal or found.alpha == INFINITY or limited


def test_delta_is_answered_at_the_best_order_too():
    reference = json.loads(
        (Path(__file__).parents[1] / "reference" / "epsilon_optima.json").read_text()
    )
    key = "PoissonSubsample(RandomizedResponse(3/4), 1/50) | k 1000 | delta 1.0e-6 | improved"
    node = 1000 * PoissonSubsample(RandomizedResponse("3/4"), "1/50")
    epsilon = Fraction(reference[key]["epsilon"])
    guarantee = node.delta(epsilon, digits=20, conversion="improved")
    low, high = ends(guarantee.delta)
    assert abs(low * 10**6 - 1) < Fraction(1, 10**18)
    assert abs(high * 10**6 - 1) < Fraction(1, 10**18)


# --- trust


def test_a_plain_mpmath_curve_is_answered_but_not_certified():
    trusted = Curve(lambda alpha: alpha / 50, kind="exact", adjacency="either", at_infinity="inf")
    proved = Curve("alpha/50", kind="exact", adjacency="either", at_infinity="inf")
    function = Curve(
        lambda ctx, alpha: alpha / 50, kind="exact", adjacency="either", at_infinity="inf"
    )
    for wrap in (lambda m: m, lambda m: PoissonSubsample(m, "1/9"), lambda m: 3 * m + Laplace(2)):
        one, two, three = (Accountant().rdp(wrap(m), 7) for m in (trusted, proved, function))
        assert not one.certified
        assert not one.claim.certified
        assert two.certified
        assert three.certified
        assert one.lower <= two.upper
        assert two.lower <= one.upper
        assert two.lower <= three.upper
        assert three.lower <= two.upper
    guarantee = PoissonSubsample(trusted, "1/9").epsilon("1e-5", orders="integer")
    assert not guarantee.epsilon.certified
    assert not guarantee.claim.certified
    assert "not certified" in str(guarantee.claim)
    assert PoissonSubsample(proved, "1/9").epsilon("1e-5", orders="integer").epsilon.certified


def test_a_callable_s_own_precision_is_the_one_asked_for():
    seen = []

    def curve(alpha):
        seen.append(mpmath.mp.dps)
        return mpmath.log(alpha)

    node = Curve(curve, kind="upper", adjacency="either")
    answer = Accountant(50).rdp(node, 3)
    mp = independent.context(80)
    assert min(seen) >= 50
    assert abs(independent.fraction(answer.upper) - independent.fraction(mp.log(3))) < Fraction(
        1, 10**50
    )
    assert mpmath.mp.dps == 15


@pytest.mark.filterwarnings("ignore::symacct.kernel.errors.OrderGridWarning")
@pytest.mark.parametrize(
    ("m", "delta"),
    [
        (PoissonSubsample(Gaussian(2), "1e-4"), "1e-12"),
        (1000 * PoissonSubsample(Gaussian(1), "1e-6"), "1e-12"),
        (PoissonSubsample(Gaussian(5), "1e-3"), "1e-8"),
    ],
)
def test_the_best_real_order_is_found_beside_a_cliff(m, delta):
    # Next to the phase transition a fit through far orders repeats itself; the search goes on.
    found = m.epsilon(delta)
    assert found.optimal
    for step in range(-20, 21, 5):
        alpha = found.alpha + Fraction(step, 50)
        assert m.epsilon(delta, orders=[alpha]).epsilon.upper >= found.epsilon.lower


def test_orders_at_which_the_curve_is_infinite_give_no_guarantee():
    with pytest.raises(OrderError, match="infinite at every order tried"):
        TCDP("1/50", 12).epsilon("1/100", orders=[20, 30])
    with pytest.warns(OrderGridWarning):
        assert TCDP("1/50", 12).epsilon("1/100", orders=[6, 20]).alpha == 6
    assert TCDP("1/50", 12).delta("1/100", orders=[20, 30]).delta.upper == 1


@pytest.mark.parametrize("orders", [None, "integer", [2, 8]])
def test_an_order_at_which_the_curve_is_0_gives_delta_0(orders):
    """Its log δ is −∞, which is the smallest of all."""
    m = Curve("Max(0, alpha - 5)", kind="upper", adjacency="either")
    found = m.delta("1/2", conversion="classic", orders=orders)
    assert (found.delta.upper, found.optimal) == (0, True)


def test_an_order_whose_value_wants_more_bits_is_asked_with_more():
    """At 6 digits' bits nothing is known of this ε(17), and all of it at twice as many."""
    m = SubsampleWithoutReplacement(DiscreteGaussian(3, sensitivity=2), "1/1000000")
    few, many = (m.epsilon("1e-3", d, "classic", orders=[17]).epsilon for d in (6, 12))
    assert few.lower <= many.upper
    assert many.lower <= few.upper


@pytest.mark.parametrize("digits", some([3, 60], [3, 6, 20, 60]))
def test_the_best_order_does_not_hang_on_the_digits_asked(digits):
    """Where nearly all of a sum cancels, few bits tell nothing of it: they pointed at order 21."""
    m = 100_000 * SubsampleWithoutReplacement(Skellam(1), "1/1000")
    found = Accountant(digits).epsilon(m, "1e-300", "classic", orders="integer")
    values = {a: m.rdp(a, digits=6).upper + 300 * mpmath.log(10) / (a - 1) for a in (60, 95)}
    here = m.rdp(80, digits=6).upper + 300 * mpmath.log(10) / 79
    assert here < min(values.values())
    assert 70 < found.alpha < 90
    assert found.epsilon.upper <= here * (1 + mpmath.mpf(10) ** (1 - digits))


@pytest.mark.parametrize("last", [2 * 10**5, 10**6, 10**9])
@pytest.mark.parametrize("conversion", ["improved", "classic"])
def test_a_cliff_far_from_where_the_search_begins_is_not_all_that_is_tried(last, conversion):
    """ρ is all but 0, so that f falls up to ω; the first guess of an order lies beyond it."""
    m, delta = TCDP("1e-300", last), mpmath.mpf(10) ** -300
    found = m.epsilon("1e-300", digits=8, conversion=conversion).epsilon
    lam = last - 1
    with mpmath.workdps(60):
        log_rest = -mpmath.log(delta)
        if conversion == "improved":
            log_rest += lam * mpmath.log(mpmath.mpf(lam) / last) - mpmath.log(last)
        least = log_rest / lam
        assert least <= found.upper <= least * (1 + mpmath.mpf(10) ** -4)


@pytest.mark.parametrize("omega", ["3/2", 2, "9/4", 5])
@pytest.mark.parametrize("epsilon", [0, "1e-10", 1])
def test_a_curve_that_is_0_below_an_order_has_delta_0(omega, epsilon):
    found = TCDP(0, omega).delta(epsilon)
    assert found.delta.lower == found.delta.upper == 0
    assert 1 < found.alpha < Fraction(omega)
