"""Sums by key that are released above a threshold."""

import itertools
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    DiscreteGaussian,
    DiscreteLaplace,
    DomainError,
    Failing,
    Gaussian,
    GroupPrivacy,
    InfiniteError,
    Kind,
    Laplace,
    PoissonSubsample,
    PureDP,
    ScalarGaussian,
    Skellam,
    VectorLaplace,
    calibrate_thresholded,
    from_json,
    limits,
    parse,
    thresholded,
)
from symacct.export.description import premises
from symacct.kernel.answer import to_fraction
from symacct.kernel.claims import ADD_REMOVE
from symacct.operations import least_threshold
from tests import independent
from tests.thinning import covering, examples

MP = independent.context(60)
NOISES = [
    Gaussian(2),
    ScalarGaussian("3/2"),
    Laplace(2),
    VectorLaplace("1/2"),
    DiscreteGaussian("3/2"),
    DiscreteGaussian("1/5"),
    DiscreteLaplace(2),
    Skellam(4),
]
WHOLE = (DiscreteGaussian, DiscreteLaplace, Skellam)


def failure(m):
    """The probability of failing that the expression is written with."""
    return m.mechanism.fields()["delta"]


def tail(noise, x, strict):
    """P[Z > x], or with >=, in sixty digits: closed forms of the laws, or a plain sum."""
    scale = independent.number(MP, next(iter(noise.fields().values())))
    if isinstance(noise, Gaussian):
        return MP.erfc(independent.number(MP, x) / (scale * MP.sqrt(2))) / 2
    if isinstance(noise, VectorLaplace):
        half = MP.exp(-abs(independent.number(MP, x)) / scale) / 2
        return half if x >= 0 else 1 - half
    masses = {
        DiscreteGaussian: lambda k: MP.exp(-(k**2) / (2 * scale**2)),
        DiscreteLaplace: lambda k: MP.exp(-abs(k) / scale),
        Skellam: lambda k: MP.besseli(abs(k), scale),
    }[type(noise)]
    far = range(-320, 321)
    passing = [k for k in far if (k > x if strict else k >= x)]
    return MP.fsum(map(masses, passing)) / MP.fsum(map(masses, far))


@covering()
@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize(("keys", "contribution"), [(1, 1), (3, 2), (40, 1)])
@pytest.mark.parametrize("threshold", ["5", "0", "-1", "7/2", "25"])
@pytest.mark.parametrize("strict", [True, False])
def test_the_probability_of_failing_is_rounded_up_at_its_40th_digit(
    noise, keys, contribution, threshold, strict
):
    p = tail(noise, Fraction(threshold) - contribution, strict)
    true = -MP.expm1(keys * MP.log1p(-p))
    try:
        found = failure(thresholded(noise, threshold, keys, contribution, strict))
    except DomainError:
        assert 1 - true < MP.mpf(10) ** -38
        return
    found = independent.number(MP, found)
    assert true * (1 - MP.mpf(10) ** -50) <= found <= true * (1 + MP.mpf(10) ** -38)


def test_the_values_of_noise_on_whole_numbers():
    """Threshold 5, scale 1: e^{−4}/(1+e^{−1}) where 5 passes, else a tail from 5 on."""
    for strict, least in ((False, 4), (True, 5)):
        true = MP.exp(-least) / (1 + MP.exp(-1))
        found = independent.number(MP, failure(thresholded(DiscreteLaplace(1), 5, strict=strict)))
        assert 0 <= found - true < MP.mpf(10) ** -40
    told = thresholded(DiscreteLaplace(1), 5, strict=False)
    with pytest.raises(InfiniteError, match=r"needed at least 0\.0133899"):
        told.epsilon("1/100")
    assert told.delta(1).delta.rounded(6) == "0.0133899"


SMALL = range(-60, 61)


def of_one_key(b, count, threshold, strict):
    """The law of what is released of a key: a number that passes, or None, in 30 digits."""
    t = mpmath.exp(-1 / mpmath.mpf(b))
    law = {None: mpmath.mpf(0)}
    for k in SMALL:
        value, mass = count + k, (1 - t) / (1 + t) * t ** abs(k)
        passes = value > threshold if strict else value >= threshold
        key = value if passes else None
        law[key] = law.get(key, 0) + mass
    return law


@examples(4, 60)
@given(
    counts=st.lists(st.integers(1, 4), min_size=2, max_size=2),
    own=st.integers(0, 2),
    threshold=st.integers(1, 6),
    strict=st.booleans(),
    epsilon=st.sampled_from(["1/10", "1/2", "1", "2"]),
    shown=st.sampled_from([1, -1]),
)
def test_no_table_of_two_keys_is_above_it(counts, own, threshold, strict, epsilon, shown):
    """All outputs with and without a user who has two keys, `own` of them alone, in both orders."""
    b, a = 2, mpmath.exp(mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
    m = thresholded(DiscreteLaplace(b), threshold, 2, 1, strict)
    most = to_fraction(m.delta(epsilon, 10).delta.upper)
    with mpmath.workdps(30):
        alone = of_one_key(b, 1, threshold, strict)
        shows = 1 - alone[None] ** own
        p, q = ({(): mpmath.mpf(1)} for _ in range(2))
        for count in counts[own:]:
            one, none = (of_one_key(b, c, threshold, strict) for c in (count + shown, count))
            p = {(*k, x): v * w for k, v in p.items() for x, w in one.items()}
            q = {(*k, x): v * w for k, v in q.items() for x, w in none.items()}
        every = {*p, *q}
        hidden = 1 - shows
        forth = shows + sum(max(0, hidden * p.get(k, 0) - a * q.get(k, 0)) for k in every)
        back = sum(max(0, q.get(k, 0) - a * hidden * p.get(k, 0)) for k in every)
        assert max(forth, back) <= mpmath.mpf(most.numerator) / most.denominator + 1e-12


def test_it_is_the_failing_noise_of_all_keys():
    for noise, keys, same in (
        (Gaussian(3), 4, Gaussian(3, 2)),
        (Laplace(3), 4, 4 * Laplace(3)),
        (DiscreteGaussian(3), 2, 2 * DiscreteGaussian(3)),
        (VectorLaplace(3), 1, Laplace(3)),
    ):
        m = thresholded(noise, 40, keys)
        by_hand = Failing(same, failure(m))
        for conversion in ("exact", "improved"):
            found, other = (x.epsilon("1e-2", 6, conversion) for x in (m, by_hand))
            assert found.epsilon.rounded() == other.epsilon.rounded()
            assert found.kind is Kind.UPPER
        assert found.claim.adjacency == ADD_REMOVE
    one_move = Failing(Laplace(3, 4), failure(thresholded(Laplace(3), 40, 4)))
    assert (
        thresholded(Laplace(3), 40, 4).epsilon("1e-2", 6).epsilon.upper
        < one_move.epsilon("1e-2", 6).epsilon.upper
    )


def test_it_rises_with_keys_and_contributions_and_falls_with_the_threshold():
    for noise in NOISES:
        by_keys = [failure(thresholded(noise, 12, keys)) for keys in (1, 2, 5, 50)]
        by_size = [failure(thresholded(noise, 12, 3, c)) for c in (1, 2, 5)]
        by_threshold = [failure(thresholded(noise, t, 3)) for t in (12, 8, 5)]
        for every in (by_keys, by_size, by_threshold):
            steps = itertools.pairwise(every)
            assert all(x < y or y == Fraction(1, 10**300) for x, y in steps)
        at_least = failure(thresholded(noise, 13, 3, strict=False))
        above = failure(thresholded(noise, 12, 3))
        assert (at_least == above) is isinstance(noise, WHOLE)
    assert failure(thresholded(Gaussian(1), 10**6)) == Fraction(1, 10**300)


def test_its_text_its_premise_and_what_is_above_it():
    m = thresholded(Laplace(2), 30, 2, "3/2")
    assert parse(repr(m)) is from_json(m.to_json()) is m
    assert parse("thresholded(Laplace(2), 30, keys=2, contribution=3/2)") is m
    stated = " ".join(premises(m))
    for said in ("at most 2 keys", "at most 3/2 to the sum", "above 30", "noise of its own"):
        assert said in stated
    assert "fails" not in stated  # which depends on who takes part
    assert "at least 30" in " ".join(premises(thresholded(Laplace(2), 30, strict=False)))
    sampled = PoissonSubsample(m, "1/10").epsilon("1e-3", 6)
    assert sampled.epsilon.upper < m.epsilon("1e-3", 6).epsilon.upper
    with pytest.raises(InfiniteError):
        GroupPrivacy(m, 2).epsilon("1e-2")
    many = (10 * m).epsilon("1e-2", 6)
    assert many.epsilon.upper <= 10 * m.epsilon("1e-3", 6).epsilon.upper


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("thresholded(PureDP(1), 5)", "noise: found PureDP.*needed noise of one sum"),
        ("thresholded(Gaussian(2, 3), 5)", "noise of one sum at sensitivity 1"),
        ("thresholded(2*Gaussian(2), 5)", "noise of one sum"),
        ("thresholded(Gaussian(2), sqrt(2))", "threshold: found .*needed a rational"),
        (
            "thresholded(DiscreteLaplace(2), 5, contribution=1/2)",
            "thresholded, contribution: found 1/2, needed a whole number",
        ),
        ("thresholded(Gaussian(2), 5, keys=0)", "keys: found 0"),
        ("thresholded(Gaussian(2), 5, contribution=0)", "contribution: found 0"),
        ("thresholded(Gaussian(2), -100)", "surely pass"),
        ("thresholded(Gaussian(2), 5, strict=1)", "strict: found 1"),
    ],
)
def test_what_is_refused(text, told):
    with pytest.raises(DomainError, match=told):
        parse(text)


def test_open_symbols_are_refused_and_told_where_to_go():
    open_noise = Gaussian(sympy.Symbol("sigma", positive=True))
    with pytest.raises(DomainError, match="calibrate_thresholded"):
        thresholded(open_noise, 5)
    two_names = Gaussian(sympy.prod(sympy.symbols("a b", positive=True)))
    with pytest.raises(DomainError, match="one scale left open"):
        calibrate_thresholded(two_names, 1, "1e-5")
    with pytest.raises(DomainError, match="above 0"):
        calibrate_thresholded(open_noise, 1, 0)
    with pytest.raises(DomainError, match="at least 1e-300"):
        least_threshold(Gaussian(2), "1e-301")


@covering()
@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("delta", ["1e-6", "1/3", "9/10"])
@pytest.mark.parametrize("strict", [True, False])
def test_the_least_threshold_is_the_least(noise, delta, strict):
    tau = least_threshold(noise, delta, 3, 2, strict, digits=4)
    assert failure(thresholded(noise, tau, 3, 2, strict)) <= Fraction(delta)
    less = 1 if isinstance(noise, WHOLE) else max(abs(tau), 1) / 1000
    assert failure(thresholded(noise, tau - less, 3, 2, strict)) > Fraction(delta)
    if isinstance(noise, WHOLE):
        assert tau.denominator == 1


@pytest.mark.parametrize(
    ("noise", "keys", "at_most"),
    [(Gaussian, 1, "18.1525"), (Laplace, 8, "104.275"), (DiscreteLaplace, 1, "12")],
)
def test_noise_and_threshold_together(noise, keys, at_most):
    open_noise = noise(sympy.Symbol("s", positive=True))
    found = calibrate_thresholded(open_noise, 1, "1e-5", keys=keys)
    assert found.threshold <= Fraction(at_most)
    assert found.m is thresholded(found.noise, found.threshold, keys)
    assert to_fraction(found.guarantee.epsilon.upper) <= 1
    assert found.guarantee.delta == Fraction(1, 10**5)
    assert str(found).startswith(repr(found.noise))
    assert found.as_dict()["expression"] == repr(found.m)
    for share in ("1/100", "1/2", "99/100"):
        fixed = calibrate_thresholded(open_noise, 1, "1e-5", keys=keys, share=share)
        assert fixed.threshold >= found.threshold - Fraction(1, 1000)
        assert failure(fixed.m) <= Fraction(share) / 10**5


def test_the_threshold_of_noise_that_is_given():
    for noise, delta in ((Gaussian(4), "1e-5"), (Laplace("3/2"), "1e-6"), (Skellam(60), "1e-3")):
        found = calibrate_thresholded(noise, 1, delta, digits=5)
        assert found.noise is noise
        assert to_fraction(found.guarantee.epsilon.upper) <= 1
        less = 1 if isinstance(noise, WHOLE) else found.threshold / 10**4
        missed = thresholded(noise, found.threshold - less)
        assert to_fraction(missed.delta(1, 10).delta.upper) > Fraction(delta)
    with pytest.raises(InfiniteError, match="costs more than"):
        calibrate_thresholded(Gaussian(2), 1, "1e-5")


def test_a_pure_mechanism_is_no_noise_of_a_sum():
    with pytest.raises(DomainError, match="least_threshold, noise"):
        least_threshold(PureDP(1), "1e-5")
    with pytest.raises(DomainError, match="least_threshold, contribution: found 1/2"):
        least_threshold(Skellam(4), "1e-5", contribution="1/2")


@pytest.mark.parametrize("noise", [Skellam(1), Skellam("1/1000"), DiscreteGaussian(3)], ids=repr)
def test_a_threshold_far_out_costs_nothing(noise):
    """No masses are summed up to there, of which Skellam noise would have a thousand million."""
    with limits(seconds=5):
        for keys in (1, 10**30):
            assert failure(thresholded(noise, 10**9, keys)) == Fraction(1, 10**300)
        with pytest.raises(DomainError, match="surely pass"):
            thresholded(noise, -(10**9))
