"""No baseline says less than the mechanism or operation that it stands for, at random arguments."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symacct
from symacct import (
    DiscreteGaussianSum,
    ExponentialMechanism,
    Gaussian,
    PoissonSubsample,
    PureDP,
    Skellam,
    SubsampleWithoutReplacement,
    baselines,
    sample_with_replacement,
)
from tests.thinning import examples

DIGITS = 10
NOISE = st.integers(5, 80).map(lambda x: Fraction(x, 10))
SIZES = st.integers(2, 30).map(lambda x: Fraction(x, 10))
RUNS = st.sampled_from([1, 2, 30])
RATES = st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000)])
#: A thousand runs have a δ of 10⁻¹⁰⁰⁰ at much noise: contours take 20 s, or refuse it.
SOME_RATES = st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)])
DELTAS = st.integers(1, 9).map(lambda x: Fraction(1, 10**x))
ORDERS = st.integers(2, 40)


def by_the_laws(m, delta):
    return m.epsilon(delta, DIGITS, "exact").epsilon


#: What is drawn, the baseline's number and that of the expression that it stands for.
BESIDE = {
    "gaussian_epsilon": (
        (DELTAS, NOISE, SIZES, RUNS),
        lambda *asked: baselines.gaussian_epsilon(*asked).epsilon,
        lambda d, sigma, size, runs: by_the_laws(runs * Gaussian(sigma, size), d),
    ),
    "gaussian_delta": (
        (SIZES, NOISE, SIZES, RUNS),
        lambda *asked: baselines.gaussian_delta(*asked).delta,
        lambda epsilon, sigma, size, runs: (
            (runs * Gaussian(sigma, size)).delta(epsilon, DIGITS, "exact").delta
        ),
    ),
    "naive": (
        (SIZES, RUNS),
        lambda epsilon, runs: baselines.naive(epsilon, 0, runs).epsilon,
        lambda epsilon, runs: (runs * PureDP(epsilon)).epsilon(0, DIGITS).epsilon,
    ),
    "advanced": (
        (SIZES, RUNS, DELTAS),
        lambda epsilon, runs, d: baselines.advanced(epsilon, 0, runs, d).epsilon,
        lambda epsilon, runs, d: by_the_laws(runs * PureDP(epsilon), d),
    ),
    "strong": (
        (SIZES.filter(lambda x: x <= 1), RUNS, DELTAS),
        lambda epsilon, runs, d: baselines.strong(epsilon, 0, runs, d).epsilon,
        lambda epsilon, runs, d: by_the_laws(runs * PureDP(epsilon), d),
    ),
    "optimal": (
        (SIZES, RUNS, DELTAS),
        lambda epsilon, runs, d: baselines.optimal(epsilon, 0, runs, d).epsilon,
        lambda epsilon, runs, d: by_the_laws(runs * PureDP(epsilon), d),
    ),
    "discrete_sum_rdp": (
        (ORDERS, NOISE, RUNS, SIZES),
        baselines.discrete_sum_rdp,
        lambda alpha, *noise: DiscreteGaussianSum(*noise).rdp(alpha, DIGITS),
    ),
    "skellam_bound": (
        (ORDERS, NOISE),
        baselines.skellam_bound,
        lambda alpha, mu: Skellam(mu).rdp(alpha, DIGITS),
    ),
    "fixed_size_taylor": (
        (ORDERS, RATES, NOISE, st.integers(3, 6), SIZES),
        baselines.fixed_size_taylor,
        lambda alpha, gamma, sigma, _, size: SubsampleWithoutReplacement(
            Gaussian(sigma, size), gamma
        ).rdp(alpha, DIGITS),
    ),
    "poisson_taylor": (
        (ORDERS, RATES, NOISE, st.integers(3, 6), SIZES),
        baselines.poisson_taylor,
        lambda alpha, gamma, sigma, _, size: PoissonSubsample(
            Gaussian(sigma, size), gamma, "replace_one"
        ).rdp(alpha, DIGITS),
    ),
    "exponential_runs_epsilon": (
        (DELTAS, SIZES),
        lambda d, each: baselines.exponential_runs_epsilon(d, each, 1).epsilon,
        lambda d, each: by_the_laws(ExponentialMechanism(each), d),
    ),
    "route_one": (
        (SIZES, NOISE, SOME_RATES, RUNS),
        lambda *asked: baselines.route_one(*asked).delta,
        lambda epsilon, sigma, r, k: (
            (int(k / r) * PoissonSubsample(Gaussian(sigma), r))
            .delta(epsilon, DIGITS, "exact")
            .delta
        ),
    ),
    "route_two": (
        (SIZES, NOISE, RUNS),
        lambda *asked: baselines.route_two(*asked).delta,
        lambda epsilon, sigma, k: (k * Gaussian(sigma)).delta(epsilon, DIGITS).delta,
    ),
    "with_replacement": (
        (DELTAS, NOISE, st.integers(20, 3000), st.integers(2, 12)),
        lambda *asked: baselines.with_replacement(*asked).epsilon,
        lambda d, sigma, n, draws: by_the_laws(
            sample_with_replacement(Gaussian(sigma), n, draws), d
        ),
    ),
    "subsampled_dp": (
        (SIZES, RATES),
        lambda epsilon, rate: baselines.subsampled_dp(epsilon, 0, rate)[0],
        lambda epsilon, rate: PoissonSubsample(PureDP(epsilon), rate).rdp("inf", DIGITS),
    ),
}

#: Why another number has no expression beside it that should say less.
ALONE = {
    "no guarantee, or of no mechanism": {
        "Baseline", "MomentConstant", "bad_data", "chi_to_delta", "good_data", "moment_constant",
        "route_three",
    },
    "one way round alone": {"reverse_moment_bound"},
    "of what no expression says": {
        "best_over_rounds", "exponential_runs", "kairouz", "shuffled", "shuffled_batches",
        "shuffled_batches_epsilon", "shuffled_closed",
        "shuffled_epsilon", "shuffled_least_rdp", "shuffled_rdp", "shuffled_responses",
        "shuffled_responses_epsilon", "shuffled_responses_rdp",
    },
    "the laws are found by the baseline": {"gaussian_profile"},
}  # fmt: skip


def test_every_baseline_stands_beside_an_expression_or_is_alone():
    assert set(baselines.__all__) == set(BESIDE).union(*ALONE.values())


@pytest.mark.filterwarnings("ignore::symacct.kernel.errors.OrderGridWarning")
@pytest.mark.parametrize("name", BESIDE)
@examples(2, 40)
@given(st.data())
def test_no_baseline_says_less(name, data):
    drawn, baseline, expression = BESIDE[name]
    asked = [data.draw(one) for one in drawn]
    try:
        known = baseline(*asked)
    except symacct.SymacctError:
        return  # of these it says nothing
    assert expression(*asked).lower <= known.upper, (name, asked)
