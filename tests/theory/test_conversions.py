"""RDP ⇒ (ε, δ): the optimal conversion of one order, against a search over two-point pairs."""

import functools
import subprocess
import sys
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    DomainError,
    Gaussian,
    Laplace,
    OrderError,
    PoissonSubsample,
    RandomizedResponse,
)
from symacct.baselines import gaussian_epsilon
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.conversion import named, of_one_order
from symacct.theory.conversion import asoodeh21
from tests import independent
from tests.thinning import covering, examples, some

MP = independent.context(40)
F = Fraction

#: (ρ, α, δ) → ε: Asoodeh et al.'s optimum, as sup over p of log((p−δ)/q_min(p)).
CASES = [
    (F(1, 2), F(8), F(1, 10**5)),
    (F(1, 100), F(30), F(1, 10**5)),
    (F(1, 10**6), F(500), F(1, 10**8)),
    (F(3), F(5, 2), F(1, 100)),
    (F(20), F(10), F(1, 10**6)),
    (F(1, 10**10), F(20), F(1, 10**7)),
    (F(1, 2), F(11, 10), F(1, 10**5)),
    (F(1, 100), F(1000), F(1, 2000)),
    (F(2), F(30), F(1, 10)),  # αδ > 1: the worst law is on one answer
]


def least_q(rho, alpha, p):
    """The smallest q with D_α((p, 1−p)‖(q, 1−q)) <= ρ, by bisection."""
    top = MP.exp((alpha - 1) * rho)

    def inside(q):
        second = (1 - p) ** alpha * (1 - q) ** (1 - alpha) if p < 1 else 0
        return p**alpha * q ** (1 - alpha) + second <= top

    low, high = MP.mpf(10) ** -80, p
    for _ in range(170):
        middle = MP.sqrt(low * high)
        low, high = (low, middle) if inside(middle) else (middle, high)
    return high


def widest(rho, alpha, delta):
    """sup_p log((p−δ)/q_min(p)), by a grid of log(p−δ) and golden sections."""
    rho, alpha, delta = (independent.number(MP, x) for x in (rho, alpha, delta))

    def loss(log_v):
        v = MP.exp(log_v)
        return log_v - MP.log(least_q(rho, alpha, min(v + delta, MP.mpf(1))))

    start, end = MP.log(delta) - 12, MP.log(1 - delta)
    places = [start + (end - start) * i / 60 for i in range(61)]
    best = max(range(61), key=lambda i: loss(places[i]))
    low, high = places[max(best - 1, 0)], places[min(best + 1, 60)]
    value = -independent.smallest(MP, lambda x: -loss(x), low, high)
    return max(value, loss(end), MP.mpf(0))


def optimal(rho, alpha, delta, bits=160):
    with precision(bits):
        return asoodeh21.epsilon(BALL, *(BALL.number(x) for x in (rho, alpha, delta)))


@covering(lambda rho, alpha, delta: {rho, alpha})
@pytest.mark.parametrize(("rho", "alpha", "delta"), CASES)
def test_the_optimal_conversion_is_the_supremum_over_two_point_pairs(rho, alpha, delta):
    ball = optimal(rho, alpha, delta)
    expected = independent.fraction(widest(rho, alpha, delta))
    middle = Fraction(str(float(ball.mid())))
    assert ball.rel_accuracy_bits() > 80 or ball == 0
    assert abs(middle - expected) <= abs(expected) * Fraction(1, 10**12)


@pytest.mark.parametrize(("rho", "alpha", "delta"), CASES)
def test_delta_and_epsilon_are_each_others_inverse(rho, alpha, delta):
    with precision(160):
        balls = [BALL.number(x) for x in (rho, alpha, delta)]
        eps = asoodeh21.epsilon(BALL, *balls)
        back = asoodeh21.log_delta(BALL, balls[0], balls[1], eps)
        assert back.overlaps(balls[2].log())
        assert back.rad() < 1e-20


@pytest.mark.parametrize(("rho", "alpha", "delta"), CASES)
def test_few_bits_enclose_what_many_bits_say(rho, alpha, delta):
    """Both ends count: the candidate itself is above the truth as often as below."""
    for bits in range(40, 120, some(12, 4)):
        with precision(bits):
            given = [BALL.number(x).mid() for x in (rho, alpha, delta)]
            ball = asoodeh21.epsilon(BALL, *given)
        with precision(400):
            assert ball.contains(asoodeh21.epsilon(BALL, *given))


def log_uniform(low, high):
    return st.floats(low, high).map(lambda power: F(10**power))


@examples(15, 2000)
@given(
    log_uniform(-8, 2),
    log_uniform(-3, 4),
    log_uniform(-12, -0.5),
    st.booleans(),
    st.sampled_from([60, 160]),
)
def test_newton_from_the_improved_conversion_meets_what_bisection_starts(
    rho, lam, given_number, asks_epsilon, bits
):
    def asked():
        with precision(bits):
            numbers = [BALL.number(x) for x in (rho, 1 + lam, given_number)]
            ask = asoodeh21.epsilon if asks_epsilon else asoodeh21.log_delta
            return ask(BALL, *numbers)

    found = asked()
    from_floats = asoodeh21.Problem._by_floats
    with pytest.MonkeyPatch.context() as patch:
        # The first start is where bisection ends, too.
        candidate = asoodeh21.Problem._candidate
        patch.setattr(
            asoodeh21.Problem,
            "_candidate",
            lambda one, x, least: candidate(one, from_floats(one, x, least, 30), least),
        )
        slow = asked()
    assert found.overlaps(slow) or slow.is_nan()
    assert found.rel_accuracy_bits() >= min(slow.rel_accuracy_bits() - 8, bits // 2)


def least_excess(alpha, epsilon, delta):
    """min_v p^α q^{1−α} + (1−p)^α (1−q)^{1−α} − 1, p = v+δ, q = ve^{−ε}, by golden sections."""

    def excess(place):
        v = (1 - delta) / (1 + MP.exp(-place))
        p, q = v + delta, v * MP.exp(-epsilon)
        second = (1 - p) ** alpha * (1 - q) ** (1 - alpha) if p < 1 else 0
        return p**alpha * q ** (1 - alpha) + second - 1

    return independent.smallest(MP, excess, MP.log(delta) - 200, MP.mpf(200))


#: (ε(α), α, ε): random draws, then those that once had no answer: the worst law nearly on one
#: answer, 1 − p from 1e-16 down to nothing; δ below the smallest float64.
DELTA_CASES = [
    (F(1, 20), F(3), F(1, 4)),
    (F(7, 10), F(13, 10), F(3, 10)),
    (F(4, 5), F(40), F(1)),
    (F(1, 1000), F(9, 2), F(0)),
    (F("2.98361315185187400009984210330684258151"), F(11, 10), F("0.909")),
    (F(384027, 10**5), F(101582799, 10**8), F(2688189, 10**7)),
    (F(35758957, 10**7), F(1003922881, 10**9), F(0)),
    (F(410993999, 10**8), F(1000319, 10**6), F(0)),
    (F(200567, 12500000), F(1824711, 10**4), F(4)),
    (F(1671941, 5000000), F(11003581, 25000), F(2)),
]


@pytest.mark.parametrize(("rho", "alpha", "epsilon"), DELTA_CASES)
def test_the_optimal_delta_is_where_the_least_moment_meets_the_curve(rho, alpha, epsilon):
    with precision(192):
        ball = asoodeh21.log_delta(BALL, *(BALL.number(x) for x in (rho, alpha, epsilon)))
        delta = ball.exp()
        ends = [MP.mpf(x.mid().str(45, radius=False)) for x in (delta.lower(), delta.upper())]
    assert ball.is_finite()
    assert ball.rad() < 1e-12
    rho, alpha, epsilon = (independent.number(MP, x) for x in (rho, alpha, epsilon))
    target = MP.expm1((alpha - 1) * rho)
    slack = MP.mpf(10) ** -12
    assert least_excess(alpha, epsilon, ends[0] * (1 - slack)) <= target
    assert least_excess(alpha, epsilon, ends[1] * (1 + slack)) >= target


#: (α, ε, δ, v) of the pairs whose moment is differentiated.
PLACES = [
    (F(5, 2), F(1, 2), F(1, 100), F(1, 10)),
    (F(8), F(1, 10), F(1, 50), F(9, 10)),
    (F(11, 10), F(2), F(1, 3), F(1, 2)),
    (F(40), F(3, 10), F(1, 10**6), F(1, 10**4)),
]


def moment(alpha, epsilon, delta, v):
    """H = p^α q^{1−α} + (1−p)^α (1−q)^{1−α}, p = v+δ, q = ve^{−ε}."""
    p, q = v + delta, v * MP.exp(-epsilon)
    return p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)


@pytest.mark.parametrize("place", PLACES)
def test_the_derivatives_are_those_of_the_moment(place):
    alpha, epsilon, delta, v = (independent.number(MP, x) for x in place)
    with precision(120):
        *parameters, at = (BALL.number(x) for x in place)
        pair = asoodeh21.TwoPointPairs(*parameters)
        found = {
            "excess": pair.excess(at),
            "slope": pair.slope(at),
            "curvature": pair.slope(at) / pair.newton_step(at),
            "epsilon": pair.per_epsilon(at),
            "log delta": pair.per_log_delta(at),
        }
    true = {
        "excess": moment(alpha, epsilon, delta, v) - 1,
        "slope": MP.diff(lambda x: moment(alpha, epsilon, delta, x), v),
        "curvature": MP.diff(lambda x: moment(alpha, epsilon, delta, x), v, 2),
        "epsilon": MP.diff(lambda x: moment(alpha, x, delta, v), epsilon),
        "log delta": MP.diff(lambda x: moment(alpha, epsilon, MP.exp(x), v), MP.log(delta)),
    }
    for name, value in true.items():
        ball = MP.mpf(found[name].mid().str(30, radius=False))
        assert abs(ball - value) < MP.mpf(10) ** -12 * abs(value), name


@pytest.mark.parametrize("place", PLACES)
def test_the_minimum_is_between_two_places_only_where_the_slope_changes_sign(place):
    alpha, epsilon, delta, _ = (independent.number(MP, x) for x in place)

    def rises(v):
        return MP.diff(lambda x: moment(alpha, epsilon, delta, x), v) > 0

    low, high = MP.mpf(10) ** -12, 1 - delta - MP.mpf(10) ** -12
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if rises(middle) else (middle, high)
    with precision(120):
        pair = asoodeh21.TwoPointPairs(*(BALL.number(x) for x in place[:3]))
        least, end = BALL.number(independent.fraction(low)), 1 - pair.delta
        near, far = least * (1 - BALL.number(F(1, 10**6))), least * (1 + BALL.number(F(1, 10**6)))
        before, past = least * BALL.number(F(1, 2)), (least + end) / 2
        holds = pair._holds_minimum
        assert holds(near, far)
        assert holds(before, past)
        assert holds(near, end * (1 + BALL.number(F(1, 10**6))))  # past p = 1, where v ends
        assert not holds(before, near)
        assert not holds(far, past)
        assert not holds(far, end)
        assert not holds(BALL.number(0), past)  # H has no slope there
        assert not holds(-before, past)


@pytest.mark.parametrize("place", PLACES)
def test_the_tangents_bound_is_below_the_least_moment(place):
    """At every place that is near enough to the minimum to give one; at a good one it is sharp."""
    true = least_excess(*(independent.number(MP, x) for x in place[:3]))
    found = []
    for bits in (32, 120):
        with precision(bits):
            pair = asoodeh21.TwoPointPairs(*(BALL.number(x) for x in place[:3]))
            v = asoodeh21.float_argmin(pair)
            places = [v * BALL.number(F(k, 1000)) for k in (700, 900, 960, 999, 1001, 1040, 1100)]
            for at in (asoodeh21.newton_refined(pair, v), v, *places):
                bound = pair.least_excess(at)
                if bound is not None:
                    found.append(MP.mpf(bound.lower().str(35, radius=False)))
                    assert found[-1] <= true * (1 + MP.mpf(10) ** -25)
    assert len(found) >= 6
    assert max(found) > true * (1 - MP.mpf(10) ** -20)


@pytest.mark.parametrize("bits", [24, 32, 48, 64])
def test_the_bound_from_the_end_is_below_the_least_moment(bits):
    """At few bits what it leaves out, 2^{−bits/2}, is large."""
    alpha, epsilon, delta = F(100319, 10**5), F(1, 3), F(98, 100)
    with precision(bits):
        pair = asoodeh21.TwoPointPairs(*(BALL.number(x) for x in (alpha, epsilon, delta)))
        least = pair.least_at_end()
        assert least is not None
        bound = MP.mpf(least.upper().str(30, radius=False))
    true = least_excess(*(independent.number(MP, x) for x in (alpha, epsilon, delta)))
    assert bound <= true
    assert bound > true / 2 - MP.mpf(2) ** (2 - bits // 2)


@pytest.mark.parametrize("conversion", [c.name for c in of_one_order()])
def test_conversions_at_the_edges(conversion):
    m = Laplace(2)

    def delta(epsilon, orders):
        return m.delta(epsilon, digits=8, conversion=conversion, orders=orders).delta

    def epsilon(delta, orders):
        return m.epsilon(delta, digits=8, conversion=conversion, orders=orders).epsilon

    assert epsilon(0, None).upper == 0.5  # the pure one
    assert epsilon(0, ["inf"]).upper == 0.5
    near_one = epsilon("0.99999999", [2]).upper
    assert float(m.rdp(2)) < near_one < 0.201 if conversion == "classic" else near_one == 0
    assert delta(10**5, ["inf"]).upper == 0
    assert 0 < delta(10**5, [2]).upper < 1e-300
    assert delta(0, [2]).upper <= 1
    for question in (epsilon, delta):
        with pytest.raises(OrderError, match="above 1"):
            question("1/10", [1])
    with pytest.raises(DomainError, match="delta > 0"):
        epsilon(0, [2])
    with pytest.raises(DomainError, match="< 1"):
        epsilon(1, [2])


losses = st.fractions(F(1, 10**4), 5, max_denominator=10**4)
orders = st.one_of(st.integers(2, 200).map(F), st.fractions(F(10, 9), 60, max_denominator=9))
deltas = st.integers(1, 12).map(lambda n: F(1, 10**n))


@given(losses, orders, deltas)
def test_it_is_never_worse_than_the_others(rho, alpha, delta):
    with precision(128):
        rho, alpha, delta = (BALL.number(x) for x in (rho, alpha, delta))
        best = asoodeh21.epsilon(BALL, rho, alpha, delta)  # never negative, as theirs may be
        for name in ("improved", "classic"):
            other = named(name).epsilon(BALL, rho, alpha, delta).upper()
            assert best.lower() <= other.max(arb(0))
        small = asoodeh21.log_delta(BALL, rho, alpha, rho)
        for name in ("improved", "classic"):
            assert small.lower() <= named(name).log_delta(BALL, rho, alpha, rho).upper()


@given(losses, orders, deltas, st.fractions(F(1, 100), F(99, 100), max_denominator=100))
def test_no_two_point_pair_within_the_curve_exceeds_it(rho, alpha, delta, p):
    """Soundness by itself: for the pair with D_α = ρ at this p, P(1) − e^ε Q(1) <= δ."""
    with precision(160):
        eps = optimal(rho, alpha, delta)
    r, a, x = (independent.number(MP, v) for v in (rho, alpha, p))
    q = least_q(r, a, x)
    upper = MP.mpf(str(eps.upper().str(30, radius=False))) * (1 + MP.mpf(10) ** -25)
    assert x - MP.exp(upper) * q <= independent.number(MP, delta) * (1 + MP.mpf(10) ** -20)


@pytest.mark.parametrize("conversion", [c.name for c in of_one_order()])
def test_a_guarantee_by_each_conversion(conversion):
    for m in (5 * Gaussian(5), 1000 * PoissonSubsample(Gaussian(5), "1/1000"), 3 * Laplace(2)):
        found = m.epsilon("1e-5", digits=12, conversion=conversion)
        improved = m.epsilon("1e-5", digits=12, conversion="improved")
        if conversion == "optimal":
            assert not found.optimal
            assert found.epsilon.lower <= improved.epsilon.upper
        again = m.delta(found.epsilon.upper, digits=12, conversion=conversion, orders=[found.alpha])
        assert independent.fraction(again.delta.lower) <= Fraction(1, 10**5)


def test_the_optimal_conversion_stays_above_the_exact_privacy_of_the_gaussian_mechanism():
    exact = gaussian_epsilon("1e-5", 5).epsilon
    found = Gaussian(5).epsilon("1e-5", conversion="optimal")
    improved = Gaussian(5).epsilon("1e-5", conversion="improved")
    assert exact.upper < found.epsilon.lower < improved.epsilon.lower


def test_only_a_conversion_proved_to_have_one_valley_claims_the_best_order():
    assert {c.name: c.one_valley for c in of_one_order()} == {
        "classic": True,
        "improved": True,
        "optimal": False,
    }
    m = 5 * RandomizedResponse("3/5")
    assert m.epsilon("1e-3", conversion="improved", orders="integer").optimal
    assert not m.epsilon("1e-3", conversion="optimal", orders="integer").optimal


def test_where_the_total_variation_is_below_delta_epsilon_is_0():
    assert optimal(F(1, 10**6), F(3), F(1, 1000)) == 0
    assert optimal(F(1, 50), F(60), F(1, 50)) == 0


def test_an_order_where_the_optimal_conversion_has_no_digits_does_not_end_the_question():
    """The best one by the improved is nearer to 1 than the floats that steer can follow."""
    node = 10**6 * PoissonSubsample(Laplace(1), "1/3")
    found = node.delta(F(1, 2), conversion="optimal", digits=20)
    assert abs(found.delta.upper - 1) < 1e-19


@pytest.mark.parametrize(
    ("rho", "lam"),
    [(F(1, 10**k), F(1)) for k in (10, 17, 20, 30, 55)]
    + [(F(1, 50), F(1, 2**k)) for k in (20, 60, 180)]
    + [(F(1, 10**20), F(10**3)), (F(1, 10**20), F(1, 10**5))],
)
@pytest.mark.parametrize("epsilon", [F(0), F(1, 10**40)])
def test_where_two_laws_are_near_no_bits_are_doubled_in_vain(monkeypatch, rho, lam, epsilon):
    """δ from α, ε(α) and ε: found with half the bits that are left of 1 + λ, in few starts."""
    starts, candidate = [], asoodeh21.Problem._candidate

    def counted(problem, x, least):
        starts.append(x)
        return candidate(problem, x, least)

    monkeypatch.setattr(asoodeh21.Problem, "_candidate", counted)
    bits = 58 + lam.denominator.bit_length()
    with precision(bits):
        numbers = [BALL.number(x) for x in (rho, 1 + lam, epsilon)]
        found = asoodeh21.log_delta(BALL, *numbers)
    assert found.rel_accuracy_bits() >= 24
    assert len(starts) <= 2
    with MP.workdps(150):
        number = functools.partial(independent.number, MP)
        log_delta = MP.mpf(found.mid().str(60, radius=False))
        rises = [
            least_excess(number(1 + lam), number(epsilon), MP.exp(log_delta + step))
            - MP.expm1(number(lam * rho))
            for step in (-(MP.mpf(10) ** -6), MP.mpf(10) ** -6)
        ]
    assert rises[0] < 0 < rises[1]


@examples(20, 2000)
@given(
    st.sampled_from([2.0, 1.0, 1 + 2.0**-60, 1 - 2.0**-40, 2.0**-60, 0.5, 37.25, 1e6]),
    st.sampled_from([2.0**-9, 2.0**-20, 2.0**-300]),
    st.sampled_from([-8, -3, 0, 5, 8]),
    st.sampled_from(["power", "base", "both"]),
    st.booleans(),
)
def test_a_power_of_a_ball_near_1_less_its_tangent_holds_every_power_in_it(p, u, i, wide, negative):
    power, small = arb(p), (arb(-u if negative else u) / (p + 1)).mid()
    widths = [arb(0, 2.0**-70 if wide in (which, "both") else 0) for which in ("power", "base")]
    with precision(256):
        found = asoodeh21.power_gap(power * (1 + widths[0]), small * (1 + widths[1]))
        assert asoodeh21.power_gap(power, small).rel_accuracy_bits() > 240 or p == 1
    with precision(2000):
        shares = [1 + arb(i) / 8 * width.rad() for width in widths]
        q, v = power * shares[0], small * shares[1]
        assert found.contains((q * v.log1p()).expm1() - q * v)


def test_a_name_of_the_package_s_own_is_refused_before_any_question():
    """A conversion of one's own comes after those that open when they are first asked for."""
    program = """
from symacct.kernel.conversion import Conversion, named, register
from symacct import DomainError, Source
for name in ("improved", "exact"):
    try:
        register(Conversion(name=name, source=Source("me", "here"), epsilon=max, log_delta=max,
                            one_valley=False, status="proved"))
    except DomainError as error:
        print(error, named(name).source.key != "me")
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert ended.stdout.splitlines() == [
        f"conversion {name}: already registered, needed a new name True"
        for name in ("improved", "exact")
    ]
