"""Risks against closed forms, fractions by hand, sums in floats and what riskcal prints."""

import itertools
import json
import math
import random
import re
from fractions import Fraction
from html import unescape
from statistics import NormalDist

import numpy as np
import pytest
import sympy

from symacct import (
    AssumptionError,
    DistributionPair,
    DomainError,
    Either,
    ExponentialMechanism,
    FiniteMechanism,
    Gaussian,
    Kind,
    Laplace,
    PermuteAndFlip,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomizedResponse,
    Skellam,
    SoundnessError,
    SubsampleWithoutReplacement,
    calibrate_risk,
    limits,
    plot_risk,
    risk,
)
from symacct.kernel.answer import to_fraction
from symacct.kernel.deadline import Budget
from tests import independent
from tests.support import holds
from tests.thinning import some

MP = independent.context(60)
RUN = 2000 * PoissonSubsample(Gaussian("9.4"), "0.328")
SIGMA = sympy.Symbol("sigma", positive=True)


def tail(x):
    return MP.erfc(x / MP.sqrt(2)) / 2


def quantile(p):
    return MP.sqrt(2) * MP.erfinv(1 - 2 * p)


def number(x):
    return independent.number(MP, Fraction(x))


def far_quantile(p):
    """Of a tiny p, by a root."""
    return MP.findroot(lambda z: MP.log(tail(z) / p), MP.sqrt(-2 * MP.log(p)))


def close(shown, value, digits):
    return holds(shown, value, digits, trusted=40)


# --- Gaussian noise, in closed form


@pytest.mark.parametrize("seed", range(some(3, 6)))
def test_of_gaussian_noise_all_are_closed_forms(seed):
    draw = random.Random(seed)
    mu = Fraction(draw.randint(2, 60), 10)
    found, m = risk(Gaussian(1 / mu), digits=12), number(mu)
    assert close(found.advantage, 1 - 2 * tail(m / 2), 12)
    for fpr in ("1/10", "1e-3", "1e-8"):
        value = tail(quantile(number(fpr)) - m)
        assert close(found.tpr(fpr), value, 12)
        assert found.tpr(fpr).claim.kind is Kind.EXACT
        assert close(found.reconstruction(fpr), value, 12)
        assert found.reconstruction(fpr).claim.kind is Kind.UPPER
    prior = Fraction(draw.randint(1, 99), 100)
    odds = MP.log((1 - number(prior)) / number(prior))
    told = number(prior) * tail(odds / m - m / 2) + (1 - number(prior)) * tail(-odds / m - m / 2)
    assert close(found.bayes_success(prior), told, 12)
    assert close(found.mu, m, 12)
    assert found.regret.upper == 0
    assert found.lower is None


@pytest.mark.parametrize("level", ["1e-100", "1e-1000"])
def test_powers_however_small_are_those_of_the_closed_form(level):
    value = tail(far_quantile(number(level)) - 1)
    assert close(risk(Gaussian(1), digits=12).tpr(level), value, 12)
    sampled = risk(PoissonSubsample(Gaussian(1), "1/100")).tpr(level)
    assert close(sampled, value / 100 + number(level) * 99 / 100, 6)


@pytest.mark.parametrize("level", ["1e-500", "1e-530", "1/2"])
def test_small_errors_of_the_second_kind_beside_large_powers(level):
    z = 0 if level == "1/2" else far_quantile(number(level))
    assert close(risk(Gaussian("1/50"), digits=8).tpr(level), tail(z - 50), 8)
    assert close(Gaussian("1/50").tradeoff(level, digits=8), tail(50 - z), 8)


@pytest.mark.parametrize(
    ("m", "kind"),
    [
        (PostProcess(Gaussian(2)), Kind.UPPER),
        (PoissonSubsample(Gaussian(2), 1), Kind.EXACT),
        (SubsampleWithoutReplacement(Gaussian(2), 1), Kind.EXACT),
    ],
)
def test_what_is_gaussian_noise_again_has_its_numbers(m, kind):
    found = risk(m)
    assert found.mu.claim.kind is kind
    assert close(found.mu, MP.mpf(1) / 2, 6)
    assert not found.open_ends


def test_of_what_is_nearly_gaussian_fewer_digits_are_told():
    """At (a, a) the curve is that far below the middle, and μ is 2Φ⁻¹(1 − a) at least."""
    m = Gaussian(1) + RandomizedResponse("51/100")
    mu, middle = risk(m).mu, risk(m).advantage.lower
    middle = 2 * quantile((1 - independent.number(MP, independent.fraction(middle))) / 2)
    assert middle <= independent.number(MP, independent.fraction(mu.upper)) < MP.mpf("1.003")


# --- few outcomes, in fractions


@pytest.mark.parametrize("seed", range(some(4, 8)))
def test_of_finite_laws_the_best_guess_is_a_sum(seed):
    draw = random.Random(seed)
    weights = [[draw.randint(1, 20) for _ in range(4)] for _ in range(2)]
    p, q = ([Fraction(w, sum(law)) for w in law] for law in weights)
    found = risk(DistributionPair(p, q), digits=12)
    prior = Fraction(draw.randint(1, 99), 100)

    def right(a, b):
        return sum(max(prior * x, (1 - prior) * y) for x, y in zip(a, b, strict=True))

    assert close(found.bayes_success(prior), number(max(right(p, q), right(q, p))), 12)
    assert close(found.advantage, number(sum(max(x - y, 0) for x, y in zip(p, q, strict=True))), 12)


# --- Gaussian DP


def apart(m, alpha, digits=25):
    """The μ of the Gaussian curve through (α, f(α))."""
    missed = independent.fraction(m.tradeoff(alpha, digits=digits).lower)
    return quantile(number(alpha)) - quantile(1 - number(missed))


RUNS = [RUN, Laplace(1) + Gaussian(2), 3 * Laplace(1)]


@pytest.mark.parametrize("m", RUNS, ids=repr)
def test_mu_is_the_largest_on_a_grid_of_errors(m):
    least = Fraction(1, 10**6)
    shown = m.gdp(8, least_error=least)
    centre = (1 - independent.fraction(m.delta(0, conversion="exact").delta.upper)) / 2
    between = [float(least) * float(centre / least) ** (k / 24) for k in range(1, 24)]
    values = [apart(m, alpha, 15) for alpha in (least, *map(Fraction, between), centre)]
    assert shown.claim.kind is Kind.EXACT
    assert max(values) <= shown.upper * (1 + MP.mpf(10) ** -12)
    assert max(values) >= shown.lower * (1 - MP.mpf(10) ** -6)


def test_the_run_of_gdpnum_whose_documentation_prints_1_5685621993():
    """Four of its digits are those of μ for errors from 1e-10: f there, by its own search."""
    shown = RUN.gdp(20, least_error="1e-10")
    assert abs(apart(RUN, "1e-10") - MP.mpf(shown.upper)) < MP.mpf(10) ** -19
    assert str(shown)[:12] == "1.5684711633"
    assert RUN.gdp().claim.kind is Kind.EXACT
    assert close(RUN.gdp(), MP.sqrt(2000) / MP.mpf("9.4"), 25)


def test_without_a_least_error_the_tail_of_a_sample_needs_the_mu_of_all_of_the_data():
    mus = [RUN.gdp(6, least_error=Fraction(1, 10**k)).upper for k in (3, 10, 60)]
    assert mus == sorted(mus)
    assert mus[-1] < RUN.gdp().lower
    sampled = SubsampleWithoutReplacement(Gaussian(2), "1/10")
    assert (2 * sampled).gdp().claim.kind is Kind.EXACT


@pytest.mark.parametrize(("m", "runs"), [(RandomizedResponse("3/5"), 10), (PureDP("1/2"), 4)])
def test_mu_of_few_answers_is_that_of_the_worst_corner(m, runs):
    """The corners of the trade-off curve of a binomial law, summed in mpmath."""
    p = MP.mpf(3) / 5 if runs == 10 else 1 / (1 + MP.exp(MP.mpf(-1) / 2))
    law = [MP.binomial(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(runs + 1)]
    mus = []
    for k in range(1, runs + 1):  # yes is said from k of the answers on
        power = sum(law[k:])
        alarm = sum(law[runs - j] for j in range(k, runs + 1))
        if 0 < alarm < 1:
            mus.append(quantile(alarm) - quantile(power))
    assert close((runs * m).gdp(12), max(mus), 12)


def test_regret_is_the_largest_difference_on_a_fine_grid():
    """H of Laplace noise is 1 − √x e^{−s/2}; of a Gaussian by the error function."""
    mu, s = float(Laplace(2).gdp().upper), 0.5
    worst = 0.0
    for epsilon in np.linspace(0, 8, 20_001):
        x = math.exp(epsilon)
        mine = max(0.0, 1 - math.exp((epsilon - s) / 2)) if epsilon < s else 0.0
        at = epsilon / mu
        theirs = math.erfc((at - mu / 2) / 2**0.5) / 2 - x * math.erfc((at + mu / 2) / 2**0.5) / 2
        worst = max(worst, (theirs - mine) / (1 + x))
    shown = risk(Laplace(2)).regret
    assert worst * (1 - 1e-6) <= shown.upper <= worst * (1 + 1e-5)


# --- a sampled run, by a Fourier transform in float64


def test_a_sampled_run_by_a_transform_of_the_loss_in_floats():
    """The loss of removal on a grid of 2⁻¹², 200 times convolved; rates at thresholds."""
    sigma, gamma, runs, step = 1.0, 0.02, 200, 2.0**-12
    x = np.linspace(-12, 14, 2_000_001)
    ratio = np.log1p(gamma * np.expm1((2 * x - 1) / (2 * sigma**2)))
    density = np.exp(-(x**2) / (2 * sigma**2)) / math.sqrt(2 * math.pi) / sigma * (x[1] - x[0])
    size = 1 << 17
    laws = []
    for weights in (density * np.exp(ratio), density):
        mass = np.bincount(np.rint(ratio / step).astype(int) % size, weights, size)
        laws.append(np.fft.ifft(np.fft.fft(mass) ** runs).real)
    order = np.roll(np.arange(size), size // 2)
    tpr, fpr = (np.cumsum(law[order][::-1]) for law in laws)
    found = risk(runs * PoissonSubsample(Gaussian(1), "0.02"))
    assert abs(float(found.advantage) - np.max(tpr - fpr)) < 2e-5
    for level in (1e-1, 1e-2, 1e-3):
        assert abs(float(found.tpr(str(level))) / np.interp(level, fpr, tpr) - 1) < 1e-4


# --- where the profile is not known


def test_bounds_from_both_sides_where_the_profile_is_not_known():
    m = 20_000 * SubsampleWithoutReplacement(Gaussian(2), "1/1000")
    found = risk(m, digits=4)
    assert found.kind is Kind.UPPER
    assert found.lower.kind is Kind.LOWER
    for ask in (lambda r: r.advantage, lambda r: r.bayes_success("1/3"), lambda r: r.tpr("1/10")):
        low, high = ask(found.lower), ask(found)
        assert low.claim.kind is Kind.LOWER
        assert 0 < low.lower <= high.upper < 1
        assert Fraction(low.rounded()) <= independent.fraction(low.lower)
    with pytest.raises(SoundnessError, match="reconstruction"):
        found.lower.reconstruction("1/10")
    with pytest.raises(SoundnessError, match="regret"):
        found.lower.regret
    with limits(seconds=1):
        headers, rows = found.lower.cells
    assert headers == ("risk", "at least", "kind")
    assert len(rows) > 0
    assert found.lower.words == ()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: risk(Gaussian(SIGMA)),
        lambda: risk(Gaussian(1), least_error=0),
        lambda: risk(Gaussian(1)).tpr(2),
        lambda: Gaussian(1).gdp(least_error="3/4"),
        lambda: Laplace("1/90").gdp(least_error="0.4"),
        lambda: plot_risk({}),
    ],
)
def test_what_cannot_be_answered_is_refused(wrong):
    with pytest.raises((AssumptionError, DomainError)):
        wrong()


@pytest.mark.parametrize(
    "target",
    [
        {},
        {"tpr": "1/10"},
        {"mu": 1, "advantage": "1/2"},
        {"reconstruction": "1/2"},
        {"bayes_success": "1/3"},
        {"tpr": "1/10", "fpr": "1/10"},
        {"advantage": 1},
        {"mu": 0},
    ],
    ids=str,
)
def test_a_target_that_is_none_is_refused(target):
    with pytest.raises(DomainError):
        calibrate_risk(Gaussian(SIGMA), **target)


def test_noise_whose_tail_is_beyond_all_digits():
    """Skellam's H at 2⁸ is of 10⁻²⁵⁰⁰; the best test by hand, of the largest ratios."""
    law = [MP.exp(-10) * MP.besseli(abs(k), 10) for k in range(-60, 61)]
    moved, level = [MP.mpf(0), *law[:-1]], number("1e-6")
    power, alarm = MP.mpf(0), MP.mpf(0)
    for p, q in sorted(zip(moved, law, strict=True), key=lambda x: -(x[0] / x[1])):
        share = min(1, (level - alarm) / q)
        power, alarm = power + share * p, alarm + share * q
        if share < 1:
            break
    assert close(risk(Skellam(10)).tpr("1e-6"), power, 6)


# --- calibration


def test_noise_for_a_risk_is_the_closed_form_of_gaussian_noise():
    apart = quantile(number("1/100")) - quantile(number("1/20"))
    noise = [
        ({"advantage": "1/10"}, 1 / (2 * quantile(number("0.45")))),
        ({"tpr": "1/20", "fpr": "1/100"}, 1 / apart),
        ({"mu": "3/4"}, number("4/3")),
        ({"bayes_success": "11/20"}, 1 / (2 * quantile(number("0.45")))),
        ({"reconstruction": "1/20", "baseline": "1/100"}, 1 / apart),
    ]
    for target, value in noise:
        found = calibrate_risk(Gaussian(SIGMA), digits=8, **target)
        assert number(found.fails) < value <= number(found.meets)
        assert found.value.upper <= independent.number(MP, found.target)


@pytest.mark.parametrize("mu", ["1/5", "1/7", "2/3"])
def test_a_target_that_a_value_just_meets_is_decided(mu):
    """μ = Δ/σ is a fraction, which balls do not tell from the target."""
    found = calibrate_risk(Gaussian(SIGMA), mu=mu, digits=3)
    assert found.meets == 1 / Fraction(mu)


def test_a_risk_that_no_value_changes_is_named_in_the_error():
    with pytest.raises(DomainError, match="meets the target tpr at fpr 0 = 1/2"):
        calibrate_risk(Laplace(SIGMA), tpr="1/2", fpr=0)


def test_both_ends_of_a_sampled_run_are_what_they_say():
    m = 1000 * PoissonSubsample(Gaussian(SIGMA), "1/100")
    found = calibrate_risk(m, tpr="1/20", fpr="1/100", digits=4)
    at = {SIGMA: found.meets}, {SIGMA: found.fails}
    rates = [risk(m.subs(one)).tpr("1/100") for one in at]
    assert rates[0].upper <= 0.05 < rates[1].lower
    assert "tpr at fpr 0.01" in str(found)
    assert "tpr at fpr 0.01" in found._repr_html_()


# --- the table, the picture and the command


def test_the_picture_has_the_rates_and_the_blind_guess():
    figure = plot_risk({"run": RUN, "noise": Gaussian(1)}, ["1e-4", "1e-2", "0.3"])
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("false positive rate", "true positive rate")
    labels = [line.get_label() for line in axes.lines]
    assert labels == ["run (exact)", "noise (exact)", "a blind guess"]
    rates = [float(risk(RUN).tpr(x)) for x in ("1e-4", "1e-2", "0.3")]
    assert list(axes.lines[0].get_ydata()) == pytest.approx(rates, rel=1e-5)


def test_one_test_is_of_one_pair_and_direction():
    """By hand: both curves of P = (1/2, 1/2), Q = (0, 1) at a false positive rate of 1/3."""
    pair = DistributionPair(["1/2", "1/2"], [0, 1], "add_remove", with_record="P")
    one_way, other = Fraction(1, 2) + Fraction(1, 3) / 2, min(Fraction(1), 2 * Fraction(1, 3))
    found = risk(pair, digits=10).tpr("1/3")
    assert found.claim.kind is Kind.EXACT
    assert found.lower <= float(max(one_way, other)) + 1e-12
    assert abs(float(found.upper) - max(one_way, other)) < 1e-9
    either = risk(FiniteMechanism([["1/2", "1/2"], [0, 1]]), digits=10).tpr("1/3")
    assert either.claim.kind is Kind.EXACT
    assert (either.lower, either.upper) == (found.lower, found.upper)


def best_power(p, q, level):
    """The power of the best randomized test of q against p, over all vertices of the tests.

    Those of one level have at most one outcome at which a coin is tossed.
    """
    best = Fraction(0)
    for told in itertools.product((0, 1), repeat=len(p)):
        power, left = (
            sum(x for x, is_in in zip(law, told, strict=True) if is_in) for law in (p, q)
        )
        left = level - left
        if left < 0:
            continue
        best = max(best, power)
        for x, y, is_in in zip(p, q, told, strict=True):
            if not is_in and y >= left and y:
                best = max(best, power + left / y * x)
    return best


def drawn_laws(draw, count, outcomes):
    """Laws of which some outcomes have no mass."""
    every = [[draw.choice([0, 1, 1, 2, 3, 7, 30]) for _ in range(outcomes)] for _ in range(count)]
    return [[Fraction(w, sum(law)) for w in law] for law in every if sum(law)]


@pytest.mark.parametrize("seed", range(some(6, 12)))
def test_the_best_of_all_tests_of_finite_laws_one_by_one(seed):
    """Each of three laws may be that of either dataset, on all of the data or on a sample."""
    draw = random.Random(seed)
    laws = drawn_laws(draw, 3, draw.randint(2, 6))
    gamma = draw.choice([Fraction(1), Fraction(1, 3)])
    level = draw.choice([Fraction(1, 50), Fraction(1, 7), Fraction(2, 3), Fraction(0)])
    node = FiniteMechanism(laws)
    node = node if gamma == 1 else PoissonSubsample(node, gamma)
    truth = Fraction(0)
    for p, q in itertools.permutations(laws, 2):
        mixed = [gamma * x + (1 - gamma) * y for x, y in zip(p, q, strict=True)]
        truth = max(truth, best_power(mixed, q, level), best_power(q, mixed, level))
    found = risk(node, digits=9).tpr(level)
    assert found.claim.kind is Kind.EXACT
    assert close(found, number(truth), 9) if truth else found.upper == 0


@pytest.mark.parametrize(
    ("m", "power"),
    [
        (PermuteAndFlip(1), lambda a: MP.e * a if 2 * MP.e * a < 1 else 1 - 1 / (4 * MP.e * a)),
        (ExponentialMechanism(1), lambda a: MP.e * a / (1 - a + MP.e * a)),
    ],
)
def test_two_candidates_have_the_best_test_at_every_rate(m, power):
    """Laplace's curve is that of two exponential ones; odds e times as large are bounded range's.

    That they are had: two candidates with a gap of their scores, by the laws' own formulas."""
    for level in ("1/1000", "1/10", "3/10"):
        found, a = risk(m, digits=12).tpr(level), number(level)
        assert found.claim.kind is Kind.EXACT
        assert close(found, power(a), 12)
    assert m.gdp().claim.kind is Kind.EXACT


def test_of_many_pairs_without_one_test_a_bound_is_what_is_known():
    """By the coin one pair of three laws is told, and which of them is the worse depends on ε."""
    three = FiniteMechanism([["1/2", "1/2"], ["1/4", "3/4"], ["1/9", "8/9"]])
    found = risk(Either(three, RandomizedResponse("3/4"), "1/2"))
    assert found.kind is Kind.EXACT
    assert found.advantage.claim.kind is Kind.EXACT
    assert found.tpr("1/10").claim.kind is Kind.UPPER
    assert risk(three).tpr("1/10").claim.kind is Kind.EXACT


def test_each_direction_of_a_sample_has_its_own_curve():
    """By the two tests that look at a half-line: Q against (Q + P)/2, and back."""
    sigma, level = 0.3, 0.3
    normal = NormalDist(0, sigma)

    def mixed(x):
        return (normal.cdf(x) + NormalDist(1, sigma).cdf(x)) / 2

    removed = 1 - mixed(normal.inv_cdf(1 - level))
    low, high = -9.0, 9.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if mixed(middle) < level else (low, middle)
    added = normal.cdf(low)
    node = PoissonSubsample(Gaussian("3/10"), "1/2")
    found = risk(node, digits=10).tpr("3/10")
    assert found.claim.kind is Kind.EXACT
    assert abs(float(found.upper) - max(removed, added)) < 1e-8


def test_no_probability_is_above_one():
    assert str(risk(Gaussian("1/20")).tpr("1/2")) == "1.00000"
    assert risk(Laplace("1/100")).tpr("1/2").upper <= 1


def test_what_a_table_has_no_time_for_is_said_and_asked_for_alone(monkeypatch):
    monkeypatch.setattr(Budget, "ask", out_of_time)
    found = risk(SubsampleWithoutReplacement(Gaussian(2), "1/10"))
    names = dict(found.open_ends)
    assert names.keys() == {name for name, _, _ in found.rows}
    assert set(names.values()) == {"not computed within 5 s"}
    twice = risk(2 * SubsampleWithoutReplacement(Gaussian(2), "1/10"))
    least = {name: low for name, _, low in twice.rows}
    assert least["TPR at FPR 0.1"] == "not computed within 5 s"
    monkeypatch.undo()
    for answer in (found.advantage, found.tpr("1/10"), found.mu, found.bayes_success("1/2")):
        assert answer.upper > 0


def out_of_time(self, share, question):
    return None


def test_each_number_is_said_in_plain_words_on_its_safe_side():
    found = risk(PoissonSubsample(Gaussian(5), "1/10"))
    assert json.loads(json.dumps(found.as_dict()))["relation"] == "add_remove"
    words, rows = found.words, [row for row in found.rows if not isinstance(row[1], str)]
    assert len(words) == len(rows)
    for sentence, (name, most, _) in zip(words, rows, strict=True):
        assert sentence.endswith(".")
        shown = [Fraction(one) for one in re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", sentence)]
        size = to_fraction(most.upper) * (1 if name.startswith("μ") else 100)
        assert any(size <= one <= size * Fraction(102, 100) for one in shown), (name, sentence)
    (told,) = (one for one in words if "wrongly accuses at most 1 %" in one)
    assert f"recognises at most {float(found.tpr('1/100')) * 100:.2f}"[:-1] in told
    assert words[0] in unescape(found._repr_html_())
