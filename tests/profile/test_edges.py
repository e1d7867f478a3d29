"""The exact profile at its edges, each against a sum over every outcome or a closed form."""

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    DistributionPair,
    DomainError,
    Gaussian,
    InfiniteError,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
)
from symacct.kernel.answer import to_fraction
from symacct.kernel.arithmetic.ball import precision
from symacct.profile.closed_form import Tails, profile_for, proved_form
from symacct.profile.losses.finite import Atoms, binary_profile
from tests.profile.laws import MP, contains, mp
from tests.profile.laws import SampledGaussian as Normal
from tests.thinning import covering, examples


def ends(x):
    return to_fraction(x.lower), to_fraction(x.upper)


def every_outcome(laws, count):
    """(p, q) of every outcome of all runs, in fractions; equal ratios together."""
    total = {}
    for outcome in itertools.combinations_with_replacement(range(len(laws)), count):
        ways = math.factorial(count)
        for i in range(len(laws)):
            ways //= math.factorial(outcome.count(i))
        p = ways * math.prod((laws[i][0] for i in outcome), start=Fraction(1))
        q = ways * math.prod((laws[i][1] for i in outcome), start=Fraction(1))
        total[outcome] = (p, q)
    return list(total.values())


def largest_delta(laws, count, grown):
    """max over both directions of Σ (p − e^ε q)₊, e^ε a fraction."""
    both = every_outcome(laws, count)
    forward = sum((max(p - grown * q, 0) for p, q in both), Fraction(0))
    return max(forward, sum((max(q - grown * p, 0) for p, q in both), Fraction(0)))


# --- ε on an atom: e^ε is then a fraction, and so is δ

RESPONSE = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]


@covering()
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("atom", [1, 2, 3])
def test_next_to_an_atom(count, atom):
    """ε = atom·log 3 is a loss of 3^atom; from either side δ tends to the sum there."""
    m = count * RandomizedResponse("3/4")
    exactly = largest_delta(RESPONSE, count, Fraction(3) ** atom)
    for shift in (-1, 1):
        at = _log(3, atom) + Fraction(shift, 10**45)
        low, high = ends(m.delta(at, digits=20, conversion="exact").delta)
        slack = Fraction(1, 10**40)
        assert low - slack <= exactly <= high + slack


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=2, max_size=3),
    st.integers(1, 3),
    st.integers(0, 5),
)
def test_balls_that_hold_an_atom(pairs, count, which):
    """y is a ball around a loss, its logarithm not to be known exactly: both sides are held."""
    totals = [sum(column) for column in zip(*pairs, strict=True)]
    laws = [(Fraction(p, totals[0]), Fraction(q, totals[1])) for p, q in pairs]
    losses = sorted({p / q for p, q in every_outcome(laws, count)})
    ratio = losses[which % len(losses)]
    both = every_outcome(laws, count)
    for reverse in (False, True):
        grown = 1 / ratio if reverse else ratio
        known = sum(
            (max((q - grown * p) if reverse else (p - grown * q), 0) for p, q in both), Fraction(0)
        )
        profile, _ = proved_form(((Atoms(tuple(laws)), count),), reverse)
        with precision(150):
            y = (arb(grown.numerator) / grown.denominator).log()
            assert contains(profile(y), mp(known), 38)


# --- ε = 0

ZERO = [
    (Gaussian(2), lambda: MP.erf(1 / (4 * MP.sqrt(2)))),
    (Laplace(2), lambda: 1 - MP.exp(-MP.mpf(1) / 4)),
    (PoissonSubsample(Gaussian(2), "1/10"), lambda: MP.erf(1 / (4 * MP.sqrt(2))) / 10),
    (PoissonSubsample(Laplace(2), "1/10"), lambda: (1 - MP.exp(-MP.mpf(1) / 4)) / 10),
    (9 * Gaussian(3), lambda: MP.erf(1 / (2 * MP.sqrt(2)))),
    (5 * RandomizedResponse("3/4"), lambda: mp(largest_delta(RESPONSE, 5, Fraction(1)))),
]


@pytest.mark.parametrize(("m", "known"), ZERO, ids=[repr(m) for m, _ in ZERO])
def test_at_zero_it_is_the_total_variation(m, known):
    low, high = (mp(x) for x in ends(m.delta(0, digits=20, conversion="exact").delta))
    assert low * (1 - MP.mpf(10) ** -30) <= known() <= high * (1 + MP.mpf(10) ** -30)


@covering()
@pytest.mark.parametrize(("m", "known"), ZERO, ids=[repr(m) for m, _ in ZERO])
@pytest.mark.parametrize("power", [3, 9, 18])
def test_near_the_total_variation(m, known, power):
    """Just above it ε is 0; just below ε is small and not 0, and goes back to δ."""
    apart = Fraction(1, 10**power)
    variation = Fraction(int(known() * MP.mpf(10) ** 40), 10**40)
    assert m.epsilon(variation * (1 + apart), conversion="exact").epsilon.upper == 0
    below = variation * (1 - apart)
    low, high = ends(m.epsilon(below, digits=8, conversion="exact").epsilon)
    assert 0 < low <= high < 10 * apart
    back = [m.delta(x, digits=power + 12, conversion="exact").delta for x in (low, high)]
    assert ends(back[1])[0] <= below <= ends(back[0])[1]


# --- δ near 0


@pytest.mark.parametrize("power", [30, 100, 300])
def test_a_tiny_delta_of_gaussian_noise(power):
    """By the normal distribution function's tail, with the digits that it loses to spare."""
    m, delta = 4 * Gaussian(2), Fraction(1, 10**power)
    low, high = (mp(x) for x in ends(m.epsilon(delta, digits=12, conversion="exact").epsilon))

    def profile(y):
        with MP.workdps(80):
            above = [MP.erfc((y + sign / MP.mpf(2)) / MP.sqrt(2)) / 2 for sign in (-1, 1)]
            return above[0] - MP.exp(y) * above[1]

    assert profile(high) <= mp(delta) <= profile(low)


@pytest.mark.parametrize("power", [20, 60])
def test_a_tiny_delta_of_one_sampled_run(power):
    m, law = PoissonSubsample(Gaussian(1), "1/10"), Normal(1, Fraction(1, 10))
    delta = Fraction(1, 10**power)
    low, high = (mp(x) for x in ends(m.epsilon(delta, digits=10, conversion="exact").epsilon))
    with MP.workdps(120):
        assert law.one_run_closed(high, False) <= mp(delta) <= law.one_run_closed(low, False)


@pytest.mark.parametrize("count", [1, 3, 10])
def test_a_tiny_delta_of_finite_laws_is_below_the_largest_loss(count):
    """Between the two largest losses D is p₀ − e^ε q₀: ε is known in closed form."""
    m, delta = count * RandomizedResponse("3/4"), Fraction(1, 10**50)
    p, q = Fraction(3, 4) ** count, Fraction(1, 4) ** count
    low, high = (mp(x) for x in ends(m.epsilon(delta, digits=30, conversion="exact").epsilon))
    with MP.workdps(90):
        known = MP.log((mp(p) - mp(delta)) / mp(q))
    assert low * (1 - MP.mpf(10) ** -40) <= known <= high * (1 + MP.mpf(10) ** -40)
    whole = m.epsilon(0, digits=20, conversion="exact").epsilon
    assert abs(mp(to_fraction(whole.upper)) - count * MP.log(3)) < 1e-18


# --- a mass at infinity

LOSSY = [
    (Fraction(1, 10), Fraction(0)),
    (Fraction(3, 10), Fraction(1, 2)),
    (Fraction(6, 10), Fraction(1, 2)),
]


@covering()
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(1, 3)])
@pytest.mark.parametrize("grown", [Fraction(1), Fraction(11, 10), Fraction(3), Fraction(10**6)])
def test_a_mass_at_infinity(count, gamma, grown):
    pair = DistributionPair(*zip(*LOSSY, strict=True), "add_remove", with_record="P")
    m = count * (pair if gamma == 1 else PoissonSubsample(pair, gamma))
    mixed = [((1 - gamma) * q + gamma * p, q) for p, q in LOSSY]
    both = [largest_delta(one, count, grown) for one in (mixed, [(q, m) for m, q in mixed])]
    at = Fraction(0) if grown == 1 else _log(grown, 1)
    low, high = ends(m.delta(at, digits=20, conversion="exact").delta)
    slack = Fraction(1, 10**35)
    assert low - slack <= max(both) <= high + slack
    lost = 1 - (1 - gamma / 10) ** count
    with pytest.raises(DomainError, match="needed at least"):
        m.epsilon(lost * Fraction(999, 1000), conversion="exact")
    assert m.epsilon(lost + Fraction(1, 10**6), conversion="exact").epsilon.upper < 20


# --- a negative ε


@pytest.mark.parametrize("m", [Gaussian(1), 3 * RandomizedResponse("3/5")], ids=repr)
def test_a_negative_epsilon_is_refused_by_every_door(m):
    for ask in (m.delta, m.lower_delta):
        with pytest.raises(DomainError, match="epsilon"):
            ask("-1/10") if ask == m.lower_delta else ask("-1/10", conversion="exact")


# --- tables of binomial tails


@examples(24, 60)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 60), st.sampled_from([8, 20, 60]))
def test_binomial_tails_are_sums(a, b, count, bits):
    """At few bits most terms are in the bounds of the rest."""
    first, second = Fraction(a, 20), Fraction(b, 20)
    with ctx.workprec(bits):
        tails = Tails(_ball(first), _ball(second), count)
        for j in range(-1, count + 1):
            known = sum(
                (
                    math.comb(count, i) * first**i * second ** (count - i)
                    for i in range(max(j, 0), count + 1)
                ),
                Fraction(0),
            )
            assert contains(tails.above(j), mp(known), 45)


@examples(16, 40)
@given(st.integers(1, 9), st.integers(1, 30), st.fractions(0, 2), st.booleans())
def test_many_values_are_those_of_incomplete_betas(p, count, y, reverse):
    part = Atoms(((Fraction(p, 20), Fraction(1, 2)), (1 - Fraction(p, 20), Fraction(1, 2))))
    with ctx.workprec(90):
        many = profile_for(part, count, reverse, 100)
        assert many(_ball(y)).overlaps(binary_profile(part, count, _ball(y), reverse))


def _log(base, times):
    """times·log(base), to 60 digits."""
    with MP.workdps(80):
        return Fraction(int(MP.log(mp(Fraction(base))) * times * MP.mpf(10) ** 60), 10**60)


def _ball(x):
    x = Fraction(x)
    return arb(x.numerator) / x.denominator


@pytest.mark.parametrize("at", ["1e-5000", "1e-400", "123456789e-4400"])
def test_arguments_of_thousands_of_digits_are_answered(at):
    """mpmath's hockey stick of the Gaussian at the ε found, and at ε next to 0."""
    found = Gaussian(1).epsilon(at, digits=12, conversion="exact").epsilon
    with mpmath.workdps(30):
        epsilon = mpmath.mpf(found.upper)
        above, below = (mpmath.ncdf(-epsilon + half) for half in (0.5, -0.5))
        delta = above - mpmath.exp(epsilon) * below
        assert abs(mpmath.log(delta) - mpmath.log(mpmath.mpf(at))) < 1e-7
    near_0 = Gaussian(1).delta(at, digits=12, conversion="exact").delta
    assert abs(mpmath.mpf(near_0.upper) - mpmath.erf(1 / mpmath.sqrt(8))) < 1e-10


# --- δ is at most 1


@covering()
@pytest.mark.parametrize("conversion", ["exact", "improved", "optimal", "classic"])
@pytest.mark.parametrize(
    "m",
    [
        10**5 * Gaussian(1),
        1000 * PoissonSubsample(Gaussian("1/2"), "1/2"),
        10**5 * PoissonSubsample(Laplace(1), "1/2"),
        10**4 * RandomizedResponse("9/10"),
        40 * Gaussian(2),
    ],
    ids=str,
)
def test_no_delta_is_printed_above_1(m, conversion):
    for digits in (3, 30):
        found = m.delta("1/10", conversion=conversion, digits=digits).delta
        assert found.lower <= found.upper <= 1
        assert found.upper > 0.8
        assert Fraction(str(found)) <= 1
        assert Fraction(found.rounded_up(digits)) <= 1


def test_no_run_has_the_profile_of_one_law_against_itself():
    """(1 − e^y)₊ at every y, also below 0."""
    form, _ = proved_form((), False)
    assert form(arb(0)) == form(arb(2)) == 0
    assert form(arb(-1)).overlaps(1 - arb(-1).exp())
    assert form(arb("-inf")) == 1


# --- δ = D(0) = P(L = ∞): nothing but what reveals the data tells the laws apart


@pytest.mark.parametrize("count", [2, 5, 40])
@pytest.mark.parametrize(
    ("p", "q"),
    [
        (["1/3", "1/3", "1/3"], ["1/2", "1/2", "0"]),
        (["3/4", "1/4"], ["1", "0"]),
        (["1/2", "1/3", "1/6"], ["1/3", "1/3", "1/3"]),  # no loss is infinite
        (["1/6", "1/3", "1/2"], ["1/3", "2/3", "0"]),
        (["1/3", "1/3", "1/3"], ["1/3", "2/3", "0"]),  # one loss is 0
    ],
)
def test_epsilon_is_0_from_the_total_variation_on(p, q, count):
    """Where all finite losses are at most 0; elsewhere δ is above P(L = ∞)."""
    laws = [(Fraction(a), Fraction(b)) for a, b in zip(p, q, strict=True)]
    whole = largest_delta(laws, count, 1)
    runs = count * DistributionPair(p, q, "add_remove", with_record="P")
    if all(b == 0 or a <= b for a, b in laws):
        assert runs.epsilon(whole, 10, conversion="exact").epsilon.upper == 0
    below = whole - Fraction(1, 10**9)
    try:
        assert runs.epsilon(below, 10, conversion="exact").epsilon.lower > 0
    except InfiniteError:
        assert whole == 1 - sum(a for a, b in laws if b) ** count


@pytest.mark.parametrize("power", [26, 100, 300])
@pytest.mark.parametrize(
    ("node", "share"),
    [
        (lambda tiny: PureDP(tiny, "add_remove"), "1/2"),
        (lambda tiny: 3 * PureDP(tiny, "add_remove"), "3/4"),
        (lambda tiny: Laplace(1 / tiny), "1/2"),
        (lambda tiny: 3 * RandomizedResponse((1 + tiny) / 2), "3/2"),
        (lambda tiny: PoissonSubsample(PureDP(tiny, "add_remove"), "1/2"), "1/4"),
    ],
    ids=["pure", "pure-runs", "laplace", "responses", "sampled"],
)
def test_a_law_of_nearly_no_loss_has_its_digits(node, share, power):
    """δ(0) is this share of the tiny loss, and not the width of the balls that tell it from 0."""
    tiny = Fraction(1, 10**power)
    m = node(tiny)
    low, high = ends(m.delta(0, digits=6, conversion="exact").delta)
    least = Fraction(share) * tiny
    assert least * (1 - Fraction(1, 10**6)) <= low <= high <= least * (1 + Fraction(1, 10**6))
