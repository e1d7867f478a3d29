"""Baselines against published values and against plain mpmath."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import AssumptionError, DomainError, Gaussian, Kind, OrderError, baselines
from symacct.baselines import composition
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import REPLACE_ONE
from symacct.kernel.exact import INFINITY
from tests import independent
from tests.support import holds
from tests.thinning import covering, examples

MP = independent.context(120)
F = Fraction


def number(x):
    return independent.number(MP, x)


# --- composition


def test_naive_and_advanced_are_their_printed_formulas():
    e, d, k, s = F(1, 10), F(1, 10**6), 20, F(1, 10**7)
    plain = baselines.naive(e, d, k)
    assert holds(plain.epsilon, number(2), 25)
    assert holds(plain.delta, number(20 * d), 25)
    root = number(e) * MP.sqrt(2 * k * MP.log(1 / number(s)))
    advanced, strong = baselines.advanced(e, d, k, s), baselines.strong(e, d, k, s)
    assert holds(advanced.epsilon, root + k * number(e) * (MP.exp(number(e)) - 1), 25)
    assert holds(strong.epsilon, root + 2 * k * number(e) ** 2, 25)
    assert holds(advanced.delta, number(k * d + s), 25)
    assert advanced.epsilon.upper < strong.epsilon.lower
    with pytest.raises(AssumptionError):
        baselines.strong("3/2", d, k, s)
    with pytest.raises(DomainError):
        baselines.advanced(e, d, k, 0)


def region(e, d, k, i):
    """Kairouz, Oh, Viswanath's δ at (k−2i)ε, summed as printed."""
    x = MP.exp(number(e))
    total = MP.fsum(MP.binomial(k, l) * (x ** (k - l) - x ** (k - 2 * i + l)) for l in range(i)) / (
        (1 + x) ** k
    )
    return 1 - (1 - number(d)) ** k * (1 - total)


@pytest.mark.parametrize("k", [1, 2, 7, 30])
@pytest.mark.parametrize("d", [F(0), F(1, 1000)])
def test_kairouz_is_the_printed_sum(k, d):
    for i in range(k // 2 + 1):
        found = baselines.kairouz("1/4", d, k, i)
        assert holds(found.epsilon, number(F(k - 2 * i, 4)), 25)
        expected = region(F(1, 4), d, k, i)
        assert holds(found.delta, expected, 25) or expected == 0 == found.delta.upper


def hockey_stick_of_product(e, k, target):
    """E[(P − e^target Q)₊] of k rounds of randomized response, answer by answer."""
    p = MP.exp(number(e)) / (1 + MP.exp(number(e)))
    return MP.fsum(
        MP.binomial(k, l)
        * max(p ** (k - l) * (1 - p) ** l - MP.exp(target) * p**l * (1 - p) ** (k - l), MP.mpf(0))
        for l in range(k + 1)
    )


@covering()
@pytest.mark.parametrize("k", [1, 2, 3, 10, 41])
@pytest.mark.parametrize("allowed", [F(1, 10**8), F(1, 1000), F(1, 20)])
def test_optimal_is_the_root_of_the_exact_hockey_stick_divergence(k, allowed):
    e, d = F(3, 10), allowed / (3 * k)
    found = baselines.optimal(e, d, k, allowed)
    rest = 1 - (1 - number(allowed)) / (1 - number(d)) ** k
    low, high = MP.mpf(0), number(k * e)
    for _ in range(250):
        middle = (low + high) / 2
        if hockey_stick_of_product(e, k, middle) > rest:
            low = middle
        else:
            high = middle
    # The bisection is good to 70 digits.
    ends = [independent.fraction(x) for x in (found.epsilon.lower, found.epsilon.upper)]
    value = independent.fraction(high)
    assert ends[0] - F(1, 10**60) <= value <= ends[1] + F(1, 10**60)
    assert found.epsilon.digits >= 25


def test_optimal_refuses_rounds_that_cost_more_than_the_whole():
    with pytest.raises(DomainError):
        baselines.optimal("1/10", "1e-3", 100, "1e-3")


@given(st.fractions("1/1000000", "9/10"), st.integers(1, 40), st.integers(9, 400))
@examples(20, 400)
def test_a_total_delta_next_to_that_of_the_rounds_is_decided(delta, k, places):
    """However near: at the δ of the rounds itself ε′ is kε, and below it there is none."""
    total, near = 1 - (1 - delta) ** k, Fraction(1, 10**places)
    for allowed in (total, total + near * (1 - total)):
        found = baselines.optimal(1, delta, k, allowed, digits=8).epsilon
        assert k - 1 < found.lower <= k
        assert found.upper >= k or allowed > total
    with pytest.raises(DomainError, match="exceed"):
        baselines.optimal(1, delta, k, total - near, digits=8)


def test_many_runs_at_a_tiny_delta_are_quick_and_positive():
    found = baselines.kairouz("1/100", 0, 600_000, 200_000)
    assert found.delta.upper > 0
    assert independent.fraction(found.delta.upper) < F(1, 10**14000)


@pytest.mark.parametrize("k", [1, 100])
def test_the_best_per_round_delta_beats_fixed_shares(k):
    profile, gamma, allowed = baselines.gaussian_profile(5), F(1, 1000), F(1, 10**8)
    best = baselines.best_over_rounds(profile, k, allowed, gamma)
    assert independent.fraction(best.delta.upper) >= allowed
    for share in (F(1, 100), F(1, 2), F(9, 10)):
        first = share * allowed / (k * gamma)
        base = baselines.gaussian_epsilon(first, 5).epsilon
        eps, d = baselines.subsampled_dp(base.upper, first, gamma)
        fixed = baselines.optimal(eps.upper, d.upper, k, allowed, digits=12)
        assert best.epsilon.lower <= fixed.epsilon.upper


@pytest.mark.parametrize(
    ("sigma", "gamma", "k", "best"),
    [  # by halving and golden sections in balls alone
        (1, 1, 600_000, "4088002.653"),
        (5, F(1, 1000), 600_000, "6.640608152"),
        (5, F(1, 1000), 3, "0.001307284026"),
    ],
)
def test_floats_find_the_region_and_the_share(sigma, gamma, k, best, monkeypatch):
    monkeypatch.setattr(
        composition.BinomialRounds, "region", lambda *_: pytest.fail("searched in balls")
    )
    found = baselines.best_over_rounds(baselines.gaussian_profile(sigma), k, "1e-5", gamma)
    assert found.epsilon.rounded() == best


@covering()
@pytest.mark.parametrize("k", [1, 2, 5, 40, 1001])
@pytest.mark.parametrize("eps", [F(1, 1000), F(1, 3), 5])
@pytest.mark.parametrize("allowed", [F(1, 10**9), F(1, 50)])
def test_a_wrong_region_is_not_believed(k, eps, allowed, monkeypatch):
    right = baselines.optimal(eps, 0, k, allowed)
    monkeypatch.setattr(composition, "_roughly", lambda *_: (0.0, k // 7))
    assert baselines.optimal(eps, 0, k, allowed).epsilon == right.epsilon


def test_a_profile_is_a_function():
    with pytest.raises(DomainError, match="gaussian_profile"):
        baselines.best_over_rounds(5, 10, "1e-6")


def test_pure_rounds_need_no_delta_of_their_own():
    best = baselines.best_over_rounds(lambda delta: BALL.number(F(1, 2)), 50, "1e-6", "1/10")
    pure = baselines.subsampled_dp("1/2", 0, "1/10")[0]
    ideal = baselines.optimal(pure.upper, 0, 50, "1e-6")
    assert ideal.epsilon.lower <= best.epsilon.upper
    assert float(best.epsilon) < float(ideal.epsilon) * 1.0001


# --- the Gaussian mechanism


def balle_wang(eps, sigma):
    """δ(ε) of Gaussian noise, by Theorem 8 of Balle and Wang 2018."""
    e, s = number(eps), 1 / number(sigma)
    return MP.ncdf(s / 2 - e / s) - MP.exp(e) * MP.ncdf(-s / 2 - e / s)


@pytest.mark.parametrize("sigma", [F(1, 2), F(1), F(5), F(40)])
@pytest.mark.parametrize("eps", [F(0), F(1, 100), F(1), F(6)])
def test_gaussian_delta_is_the_formula(eps, sigma):
    found = baselines.gaussian_delta(eps, sigma).delta
    assert holds(found, balle_wang(eps, sigma), 25)
    assert found.claim.kind is Kind.EXACT


@given(
    st.fractions(F(1, 2), 50, max_denominator=10),
    st.integers(1, 30).map(lambda n: F(1, 10**n)),
    st.integers(1, 1000),
)
def test_gaussian_epsilon_inverts_delta(sigma, delta, k):
    found = baselines.gaussian_epsilon(delta, sigma, k=k, digits=25).epsilon
    noise = independent.fraction(number(sigma) / MP.sqrt(k))
    if found.upper == 0:
        assert balle_wang(0, noise) <= number(delta)
        return
    low, high = (independent.fraction(x) for x in (found.lower, found.upper))
    assert balle_wang(high, noise) <= number(delta) <= balle_wang(low, noise)
    assert found.digits >= 25


def test_sensitivity_and_runs_only_scale_the_noise():
    one = baselines.gaussian_delta(2, 3, sensitivity=2, k=4).delta
    assert one.lower <= baselines.gaussian_delta(2, "3/4").delta.upper
    assert baselines.gaussian_delta(2, "3/4").delta.lower <= one.upper


def normal_divergence(alpha, mean, vp, vq):
    mixed = alpha * vq + (1 - alpha) * vp
    logs = MP.log(mixed) - (1 - alpha) * MP.log(vp) - alpha * MP.log(vq)
    return alpha * mean**2 / (2 * mixed) - logs / (2 * (alpha - 1))


@pytest.mark.parametrize("alpha", [F(3, 2), F(4), F(60)])
def test_the_gaussian_approximations_are_the_divergence_of_their_normal_laws(alpha):
    gamma, sigma, n = F(1, 10), F(5), 1001
    a, m = number(alpha), number(gamma * n)
    vq = number(sigma) ** 2 / m**2
    bad = normal_divergence(a, number(F(1, n)), vq + number(F(n - 1, n**2)) / m, vq)
    v = vq + (1 - number(F(1, n**2))) / (4 * m)
    good = normal_divergence(a, number(F(1, n)), v, v)
    for found, expected in (
        (baselines.bad_data(alpha, gamma, sigma, n), bad),
        (baselines.good_data(alpha, gamma, sigma, n), good),
    ):
        assert holds(found, expected, 25)
        assert not found.certified
        assert found.claim.kind is Kind.NEITHER
        assert found.claim.adjacency == REPLACE_ONE
        assert [a in found.claim.orders for a in (1, alpha, INFINITY)] == [False, True, False]
        assert "approximation" in str(found.claim.sources[0])


def test_the_approximations_at_and_beyond_their_ends():
    # α* = 1 + σ²n/(γ(n−1)) = 1 + 4·2/(1·1) = 9.
    assert baselines.bad_data(9, 1, 2, 2).upper == float("inf")
    assert baselines.bad_data("17/2", 1, 2, 2).upper < float("inf")
    with pytest.raises(DomainError):
        baselines.good_data(4, "1/2", 2, 10)
    with pytest.raises(OrderError):
        baselines.bad_data(1, "1/2", 2, 10)


# --- the blog's routes


def test_route_two_is_the_classic_conversion_of_the_gaussian_mechanism():
    found = baselines.route_two(2, 5, 7)
    gap = number(2) * 5 / MP.sqrt(7) - MP.sqrt(7) / 10
    assert holds(found.delta, MP.exp(-(gap**2) / 2), 25)
    classic = (7 * Gaussian(5)).delta(2, conversion="classic")
    assert found.delta.lower <= classic.delta.upper
    assert classic.delta.lower <= found.delta.upper
    assert baselines.route_two("1/1000", 5, 7).delta.upper == 1


@pytest.mark.parametrize("tail", ["exact", "chernoff"])
def test_route_one_is_its_formula_at_some_step_and_no_worse_than_a_coarse_grid(tail):
    eps, sigma, r, k = F(1), F(5), F(1, 100), 1
    found = baselines.route_one(eps, sigma, r, k, tail)
    steps = number(F(k) / r)

    def value(small):
        mean = small * min(MP.exp(small) - 1, 1)
        rest = number(eps) - steps * mean
        if rest <= 0:
            return MP.mpf(1)
        base = MP.log(1 + (MP.exp(small) - 1) / number(r))
        gap = max(base * 5 - MP.mpf(1) / 10, 0)
        exact = tail == "exact"
        last = balle_wang(independent.fraction(base), 5) if exact else MP.exp(-(gap**2) / 2)
        return min(MP.exp(-(rest**2) / (2 * steps * (small + mean) ** 2)) + k * last, MP.mpf(1))

    best = min(value(MP.mpf(2) ** (-MP.mpf(i) / 8)) for i in range(200))
    assert found.delta.lower <= best
    assert found.delta.upper >= best / 2


def test_route_one_can_beat_route_two():
    """The blog finds route 2 'most likely' better; at one epoch of small batches it is not."""
    one, two = baselines.route_one(1, 5, "1/100", 1), baselines.route_two(1, 5, 1)
    assert one.delta.upper < two.delta.lower / 50


def test_route_three_is_a_conjecture_and_says_so():
    found = baselines.route_three(1, 5, 1)
    assert found.status == "conjecture"
    assert {found.epsilon.claim.kind, found.delta.claim.kind} == {Kind.NEITHER}
    assert not found.delta.certified
    assert "conjecture" in str(found)
    assert holds(found.delta, MP.exp(-MP.mpf(25) / 2), 25)


# --- what a claim says of a baseline, against the worst (ε, δ)-DP mechanism itself


def leaky_response(e, d):
    """P and Q: the record is given away with probability δ, else randomized response."""
    x, keep = MP.exp(number(e)), 1 - number(d)
    p = [number(d), keep * x / (1 + x), keep / (1 + x), MP.mpf(0)]
    return p, p[::-1]


def hockey_stick(p, q, epsilon):
    return MP.fsum(max(a - MP.exp(epsilon) * b, MP.mpf(0)) for a, b in zip(p, q, strict=True))


def runs(pair, k):
    """P^k and Q^k, outcome by outcome."""
    p, q = [MP.mpf(1)], [MP.mpf(1)]
    for _ in range(k):
        p, q = ([a * b for a in law for b in one] for law, one in zip((p, q), pair, strict=True))
    return p, q


@pytest.mark.parametrize("d", [F(0), F(1, 100)])
@pytest.mark.parametrize("e", [F(1, 10), F(1)])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_a_composition_is_of_the_kind_it_says(e, d, k):
    laws = runs(leaky_response(e, d), k)
    slack, total = F(1, 1000), 1 - (1 - d) ** k * F(99, 100)
    found = [baselines.naive(e, d, k), baselines.optimal(e, d, k, total)]
    found += [make(e, d, k, slack) for make in (baselines.advanced, baselines.strong)]
    found += [baselines.kairouz(e, d, k, i) for i in range(k // 2 + 1)]
    for one in found:
        epsilon, delta = (MP.make_mpf(x.upper._mpf_) for x in (one.epsilon, one.delta))
        truth = hockey_stick(*laws, epsilon)
        assert truth <= delta * (1 + MP.mpf(10) ** -25) + MP.mpf(10) ** -40
        kinds = {one.epsilon.claim.kind, one.delta.claim.kind}
        exact = one.name.startswith("optimal")
        assert kinds == {Kind.EXACT if exact else Kind.UPPER}
        assert not exact or truth >= delta * (1 - MP.mpf(10) ** -25) or epsilon == 0


@pytest.mark.parametrize("gamma", [F(1, 50), F(1, 2), F(1)])
@pytest.mark.parametrize("d", [F(0), F(1, 100)])
def test_sampling_of_epsilon_and_delta_is_attained(gamma, d):
    """With the record the law is γP + (1−γ)Q, without it Q; under a smaller ε′, δ′ is larger."""
    p, q = leaky_response(2, d)
    mixed = [number(gamma) * a + (1 - number(gamma)) * b for a, b in zip(p, q, strict=True)]
    epsilon, delta = baselines.subsampled_dp(2, d, gamma)
    assert epsilon.claim.kind is delta.claim.kind is Kind.EXACT
    for end, factor, above in ((epsilon.upper, 0, False), (epsilon.lower, MP.mpf(10) ** -20, True)):
        truth = hockey_stick(mixed, q, MP.make_mpf(end._mpf_) * (1 - factor))
        assert (truth > MP.make_mpf(delta.upper._mpf_) + MP.mpf(10) ** -24) is above


@pytest.mark.parametrize("orders", [(1, 2, False), (F(3, 2), F(3, 2), True), (INFINITY, 2, False)])
def test_statements_at_one_order_are_about_the_orders_they_hold_at(orders):
    asked, given, holds_there = orders
    for found in (
        baselines.chi_to_delta(2, given, 3),
        baselines.bad_data(given, "1/10", 5, 1001),
        baselines.good_data(given, "1/10", 5, 1001),
    ):
        assert (asked in found.claim.orders) is holds_there
    assert INFINITY not in baselines.reverse_moment_bound(given, "1/10").claim.orders


# --- statements about (ε, δ) and the reverse direction


def test_lemma_31_as_printed_is_refuted_and_its_repair_holds():
    p, q = (F(19, 100), F(81, 100)), (F(1, 100), F(99, 100))
    xi_square = sum((x - y) ** 2 / y for x, y in zip(p, q, strict=True))
    back = sum((x - y) ** 2 / x for x, y in zip(p, q, strict=True))
    assert back < xi_square
    delta = p[0] - 10 * q[0]
    assert delta > xi_square / 81  # (ξ/(e^ε−1))² at e^ε = 10
    xi, epsilon = MP.sqrt(number(xi_square)), MP.log(10)
    found = baselines.chi_to_delta(
        independent.fraction(xi * (1 + MP.mpf(10) ** -50)), 2, independent.fraction(epsilon)
    )
    assert independent.fraction(found.upper) >= delta
    assert independent.fraction(found.upper) < delta * F(11, 10)


@given(
    st.lists(st.integers(1, 10**4), min_size=8, max_size=8),
    st.integers(2, 6),
    st.fractions(F(1, 50), 4, max_denominator=50),
)
def test_the_repaired_lemma_31_holds_for_random_pairs(weights, alpha, epsilon):
    p = [F(w, sum(weights[:4])) for w in weights[:4]]
    q = [F(w, sum(weights[4:])) for w in weights[4:]]
    power = sum(abs(x - y) ** alpha / y ** (alpha - 1) for x, y in zip(p, q, strict=True))
    if power == 0:
        return
    xi = independent.fraction(MP.root(number(power), alpha) * (1 + MP.mpf(10) ** -60))
    found = baselines.chi_to_delta(xi, alpha, epsilon)
    top = MP.exp(number(epsilon))
    delta = MP.fsum(max(number(x) - top * number(y), MP.mpf(0)) for x, y in zip(p, q, strict=True))
    assert delta <= MP.make_mpf(found.upper._mpf_)


@given(
    st.fractions(1, 20, max_denominator=6),
    st.fractions(F(1, 50), F(49, 50), max_denominator=50),
    st.fractions(F(1, 20), F(19, 20), max_denominator=20),
)
def test_the_reverse_moment_of_randomized_response_is_below_both_bounds(alpha, gamma, p):
    a, g, x = number(alpha), number(gamma), number(p)
    truth = MP.fsum(v * ((1 - g) + g * u / v) ** (1 - a) for u, v in ((x, 1 - x), (1 - x, x)))
    pure = abs(MP.log(x / (1 - x))) * (1 + MP.mpf(10) ** -60)
    plain = baselines.reverse_moment_bound(alpha, gamma)
    finer = baselines.reverse_moment_bound(alpha, gamma, independent.fraction(pure))
    assert truth <= MP.make_mpf(finer.upper._mpf_) * (1 + MP.mpf(10) ** -50)
    assert finer.lower <= plain.upper
    assert holds(plain, (1 - g) ** (1 - a), 25) or alpha == 1


def test_the_reverse_moment_refuses_what_has_no_bound():
    with pytest.raises(DomainError):
        baselines.reverse_moment_bound(3, 1)
    with pytest.raises(OrderError):
        baselines.reverse_moment_bound("inf", "1/2")
    assert holds(baselines.reverse_moment_bound(3, 1, 1), MP.exp(2), 25)


@pytest.mark.parametrize("runs", [1, 2, 1000])
def test_runs_that_lose_nothing_lose_nothing_together(runs):
    """At ε = 0 and δ = 0 the sums are equal, which no balls decide."""
    found = baselines.optimal(0, 0, runs, 0).epsilon
    assert found.lower == found.upper == 0
