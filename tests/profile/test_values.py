"""Known values, and the same numbers by other means: closed forms, integrals, every outcome."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import DistributionPair, Gaussian, PoissonSubsample, PureDP, RandomizedResponse, parse
from symacct.kernel.answer import to_fraction
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.profile.closed_form import profile_for
from symacct.profile.losses.finite import Atoms, binary_profile
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian import SampledFrame, SampledGaussian
from symacct.profile.solve import CompositionProfile
from tests.profile.laplace_runs import two_runs
from tests.profile.laws import (
    MP,
    SampledLaplace,
    contains,
    finite_profile,
    mp,
    plain_contour,
    rare_jumps,
)
from tests.profile.laws import SampledGaussian as Normal
from tests.thinning import covering, examples

# By mpmath's sum over another line with another step (`plain_contour`), solved to 50 digits; an
# independent prototype gave the same. The last by normal distribution functions.
SHEET = [
    (600_000, 5, "1/1000", "1e-8", False, "0.789128620400076327747536360823926703739620468227462"),
    (600_000, 5, "1/1000", "1e-8", True, "0.788024899962938492355248192172521024104728542"),
    (10, 1, "1/10", "1e-5", False, "2.854518927967457486420657197436219891227990"),
    (10, 1, "1/10", "1e-5", True, "0.745502437747218334644202355353824561044766976"),
    (1, 1, "1/2", "1e-5", False, "3.5339979854489548906159105884611845879828327501476"),
]


@pytest.mark.parametrize(("k", "sigma", "gamma", "delta", "reverse", "known"), SHEET)
def test_the_sheets_values(k, sigma, gamma, delta, reverse, known):
    digits = len(known) - 2 if k > 10 else 34  # ten runs take thousands of nodes
    part = SampledGaussian(Fraction(sigma) ** 2, Fraction(gamma))
    with precision(64):
        found = CompositionProfile(((part, k),), reverse).epsilon(Fraction(delta), digits)
    assert contains(found, MP.mpf(known), 42)
    with ctx.workprec(300):
        assert found.rel_accuracy_bits() > 3.3 * digits


@pytest.mark.parametrize(("c", "h"), [(30, "1.5"), (36, "1.7")])
def test_the_value_of_the_other_direction_by_another_contour(c, h):
    law = Normal(5, Fraction(1, 1000))
    found = plain_contour(law, 600_000, MP.mpf(SHEET[1][-1]), c, MP.mpf(h), 110)
    assert abs(found / MP.mpf("1e-8") - 1) < MP.mpf(10) ** -40


@pytest.mark.parametrize("digits", [3, 10, 45])
def test_the_larger_direction_is_the_answer(digits):
    m = parse("600000 * PoissonSubsample(Gaussian(5), 1/1000)")
    found = m.epsilon("1e-8", digits=digits, conversion="exact")
    assert found.epsilon.digits >= digits
    known = Fraction(SHEET[0][-1])
    assert to_fraction(found.epsilon.lower) - Fraction(1, 10**49) <= known
    assert known <= to_fraction(found.epsilon.upper) + Fraction(1, 10**49)


# dp_accounting's pessimistic PLD at interval 1e-5 gives 9.12003187108, which is below the truth.
def test_sampled_laplace_above_a_pessimistic_float_accountant():
    m = 1000 * parse("PoissonSubsample(Laplace(2), 1/10)")
    found = m.epsilon("1e-8", digits=12, conversion="exact").epsilon
    assert f"{float(found):.11f}" == "9.12003224332"


PARTS = {
    "gaussian": (SampledGaussian(Fraction(1), Fraction(1, 2)), Normal(1, Fraction(1, 2))),
    "little": (
        SampledGaussian(Fraction(1, 4), Fraction(1, 10)),
        Normal(0.5, Fraction(1, 10)),
    ),
    "rare": (SampledGaussian(Fraction(4), Fraction(1, 1000)), Normal(2, Fraction(1, 1000))),
    "laplace": (LaplaceLoss(Fraction(1, 2), Fraction(1, 3)), SampledLaplace("0.5", Fraction(1, 3))),
    "much": (LaplaceLoss(Fraction(2), Fraction(1, 10)), SampledLaplace(2, Fraction(1, 10))),
    "all": (LaplaceLoss(Fraction(1)), SampledLaplace(1, 1)),
}


@covering()
@pytest.mark.parametrize(
    "y", [Fraction(y) for y in ("1/100", "1/10", "1/2", "-1/3", "-2")], ids=str
)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", PARTS)
def test_one_run_is_an_integral(name, reverse, y):
    part, law = PARTS[name]
    with ctx.workprec(200):
        found = part.hockey_stick(BALL.number(y), reverse)
        assert contains(found, law.one_run_closed(mp(y), reverse), 18)
        assert abs(mp(found.mid()) - law.one_run(mp(y), reverse)) < 1e-15
        assert found.rad() < 1e-40 or found == 0


@covering()
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("name", "y"),
    [
        ("gaussian", "0.1"),
        ("little", "0.15"),
        ("laplace", "0.2"),
        ("much", "0.15"),
    ],
)
def test_two_runs_are_an_integral(name, y, reverse):
    """Of Laplace noise by its own integral too."""
    part, law = PARTS[name]
    known = law.two_runs(MP.mpf(y), reverse)
    direction = CompositionProfile(((part, 2),), reverse)
    direction.closed = None
    with precision(64):
        found = direction.delta(lambda: BALL.number(Fraction(y)), 24)
    assert name == "gaussian" or direction.contours.known[0].plan.taper is not None
    assert contains(found, known, 15)
    if name in ("laplace", "much"):
        with ctx.workprec(150):
            alone = two_runs(part, reverse, BALL.number(Fraction(y)))
            assert alone.rad() < 1e-35
            assert contains(alone, known, 15)
            assert alone.overlaps(found)


def test_the_epsilon_of_two_runs_of_laplace_noise():
    """So near the largest loss D is that of the largest atom: p²(1 − e^{y−2L₁})."""
    m, delta = 2 * parse("PoissonSubsample(Laplace(2), 1/10)"), Fraction(1, 10**25)
    found = m.epsilon(delta, conversion="exact").epsilon
    assert found.digits >= 30
    with MP.workdps(70):
        loss = MP.log(MP.mpf(9) / 10 + MP.exp(MP.mpf(1) / 2) / 10)
        mass = MP.exp(2 * loss - 1) / 4
        known = 2 * loss + MP.log(1 - mp(delta) / mass)
        assert MP.mpf(found.lower) - MP.mpf(10) ** -45 <= known
        assert known <= MP.mpf(found.upper) + MP.mpf(10) ** -45


@examples(1, 60)
@example(21, 1.0457, 1584, 2.916)  # no taper where it is looked for
@given(
    st.integers(2, 50),
    st.floats(0.7, 5),
    st.integers(100, 10_000),
    st.floats(0.3, 4.5),
)
def test_few_runs_of_which_one_rarely_jumps(count, sigma, rate, power):
    """Where the loss next to always is that of a record left out, and δ next to the largest."""
    variance, gamma = Fraction(round(100 * sigma**2), 100), Fraction(1, rate)
    most, is_near = rare_jumps(variance, gamma, count)
    delta = Fraction(most / 10**power)
    direction = CompositionProfile(((SampledGaussian(variance, gamma), count),), False)
    with np.errstate(all="ignore"):
        found = direction.epsilon(delta, 6)
    assert found.rel_accuracy_bits() > 19
    assert is_near(float(found), float(delta))


@pytest.mark.parametrize(
    ("part", "y", "reverse", "digits"),
    [
        (GaussianLoss(Fraction(2)), Fraction(1, 2), False, 30),
        (GaussianLoss(Fraction(2)), Fraction(3), True, 30),
        (SampledGaussian(Fraction(1), Fraction(1, 5)), Fraction(1, 50), False, 4),
        (SampledGaussian(Fraction(1), Fraction(1, 5)), Fraction(1, 6), True, 4),
    ],
)
def test_one_run_by_its_closed_form_and_by_contour(part, y, reverse, digits):
    closed, other = (CompositionProfile(((part, 1),), reverse) for _ in range(2))
    other.closed = None
    with precision(64):
        known = closed.delta(lambda: BALL.number(y), 30)
        found = other.delta(lambda: BALL.number(y), digits)
    assert found.overlaps(known)
    assert other.contours.known


masses = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(any), min_size=1, max_size=4
).filter(lambda pairs: all(sum(column) > 0 for column in zip(*pairs, strict=True)))


def laws_of(pairs):
    totals = [sum(column) for column in zip(*pairs, strict=True)]
    return tuple((Fraction(p, totals[0]), Fraction(q, totals[1])) for p, q in pairs)


@given(
    st.lists(st.tuples(masses, st.integers(1, 3)), min_size=1, max_size=2),
    st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 10)]),
    st.fractions(-3, 3, max_denominator=20),
    st.booleans(),
)
def test_finite_laws_are_sums_over_every_outcome(drawn, gamma, y, reverse):
    """Below 0 too, where compositions ask for D, which is 1 − e^y and more."""
    runs = tuple((Atoms(laws_of(pairs), gamma), k) for pairs, k in drawn)
    every = [
        [((1 - gamma) * q + gamma * p, q) for p, q in part.masses]
        for part, k in runs
        for _ in range(k)
    ]
    known = finite_profile(every, y, reverse)
    direction = CompositionProfile(runs, reverse)
    with precision(200):
        found = direction.runs.beyond_largest_loss(BALL.number(y))
        found = direction.closed.formula(BALL.number(y)) if found is None else found
        assert contains(found, known)
        assert found.rad() < arb(10) ** -40


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 8), st.fractions(0, 3), st.booleans())
def test_two_outcomes_by_incomplete_betas(p, q, k, y, reverse):
    laws = ((Fraction(p, 20), Fraction(q, 20)), (Fraction(10 - p, 20), Fraction(11 - q, 20)))
    if laws[0][0] / laws[0][1] == laws[1][0] / laws[1][1]:
        return
    with precision(200):
        found = binary_profile(Atoms(laws), k, BALL.number(y), reverse)
    assert contains(found, finite_profile([laws] * k, y, reverse))


@pytest.mark.parametrize("bits", [64, 80, 200, 1000])
@pytest.mark.parametrize("exponent", [-17, -20, -40, -400])
@pytest.mark.parametrize("times", [1, 100], ids=["one by one", "by a table"])
def test_two_losses_that_no_float_tells_apart(bits, exponent, times):
    """D is enclosed where balls leave open which is larger, and how many of it exceed y."""
    apart, k = Fraction(10) ** exponent, 5
    for first in (Fraction(1, 2) + apart, Fraction(1, 2) - apart):
        laws = ((Fraction(1, 3), first), (Fraction(1, 3), 1 - first), (Fraction(1, 3), Fraction(0)))
        for reverse in (False, True):
            for y in (Fraction(-3), Fraction(-2), Fraction(0), Fraction(2), Fraction(3)):
                lost = 0 if reverse else 1 - Fraction(2, 3) ** k
                known = finite_profile([laws] * k, y, reverse)
                with precision(bits):
                    profile = profile_for(Atoms(laws), k, reverse, times)
                    found = profile(BALL.number(y)) + BALL.number(Fraction(lost))
                    assert contains(found, known)
                    assert found.rad() < arb(2) ** (8 - bits)


@pytest.mark.parametrize("sign", [-1, 1])
def test_many_runs_of_two_losses_that_no_float_tells_apart(sign):
    """Beside randomized response most of D(0) is of runs whose losses are all about −2.5."""
    apart, lost, k = sign * Fraction(10) ** -20, Fraction(1, 1000), 2500
    left, half = (1 - lost) / 2, Fraction(1, 2)
    pair = DistributionPair(
        [left, left, lost], [half + apart, half - apart, 0], "add_remove", with_record="P"
    )
    found = (k * pair + RandomizedResponse("99/100")).delta(0, 10, conversion="exact").delta
    kept = (1 - lost) ** k  # of P: what is apart of the two losses changes D by less than 1e-16
    known = 1 - kept + kept * Fraction(99, 100) - Fraction(1, 100)
    assert abs(known - Fraction(found.rounded_up())) < Fraction(1, 10**9)


def test_an_epsilon_beside_a_loss_of_any_size_is_found():
    """δ(ε) = tanh(s/2) − (e^ε − 1)/(1 + e^s): bits are lost before δ(0) shows."""
    found = PureDP("1e-100").epsilon("1e-101", digits=8, conversion="exact").epsilon
    assert abs(to_fraction(found.upper) / Fraction("8e-101") - 1) < Fraction(1, 10**7)


@pytest.mark.parametrize("sigma", ["1/4", "1/8"])
@pytest.mark.parametrize("delta", ["1e-5", "1e-2"])
def test_little_noise_has_no_smaller_epsilon_than_its_profile(sigma, delta):
    """δ(ε) of the mixture is at most δ, by the two normal tails beyond where the loss is ε."""
    q, s = mp(Fraction(1, 1000)), mp(Fraction(sigma))
    found = PoissonSubsample(Gaussian(sigma), "1/1000").epsilon(delta).epsilon
    epsilon = MP.mpf(float(found.upper)) * (1 + MP.mpf(10) ** -12)
    start = s**2 * MP.log((MP.expm1(epsilon) + q) / q) + MP.mpf(1) / 2
    one, other = (MP.ncdf(-(start - mean) / s) for mean in (0, 1))
    assert (1 - q) * one + q * other - MP.exp(epsilon) * one <= MP.mpf(delta)


@pytest.mark.parametrize("a", [1.5, 3.0])
def test_what_lies_under_chords_is_no_more_than_is_said(a):
    """∫QR^a between two points beyond the peak of the integrand."""
    frame = SampledFrame(arb(1), arb(0.25), arb(0.75), a)

    def at(x):
        return MP.npdf(x) * (MP.mpf("0.75") + MP.exp(x - MP.mpf("0.5")) / 4) ** MP.mpf(a)

    for start in (a + 0.5, a + 2):
        truth = MP.quad(at, [start, start + 2, start + 6])
        bound = frame._under_chords(arb(start), arb(start + 6))
        assert arb(MP.nstr(truth, 30)) < bound
        assert bound < 3 * arb(MP.nstr(truth, 30))
