"""What the best of several runs tells at least: against all orders of few outcomes, in mpmath."""

import itertools
import math
import random
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    ZCDP,
    ApproximateDP,
    Compose,
    DistributionPair,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    PureDP,
    RepeatAndSelect,
    laws,
)
from symacct.profile.hulls import pair_below
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.pairs import Pair
from symacct.profile.selected import _quantized, rounded_below, selections
from tests import independent
from tests.profile.test_best_of_runs import (
    COUNTS,
    MP,
    drawn,
    drawn_pair,
    gaussian_delta,
    hockey_stick,
    number,
    told,
    worst_order,
)
from tests.thinning import covering, examples

NEGATIVE = laws.TruncatedNegativeBinomial
TINY = MP.mpf(10) ** -15


def lower(enclosure):
    return number(independent.fraction(enclosure.lower))


def masses_hockey_stick(masses, a):
    return sum((max(p - a * q, 0) for p, q in masses), Fraction(0))


# --- finite laws


@covering()
@pytest.mark.parametrize("runs", COUNTS, ids=repr)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_of_few_outcomes_it_is_the_worst_of_all_orders(runs, size, seed):
    first, second = drawn_pair(size, seed)
    node = RepeatAndSelect(DistributionPair(first, second), runs)
    for epsilon in (Fraction(1, 20), Fraction(1, 3), Fraction(1)):
        found, truth = (
            node.lower_delta(epsilon, digits=20),
            worst_order(first, second, runs, epsilon),
        )
        assert truth - TINY <= lower(found) <= truth + TINY * TINY
        assert found.claim.kind is Kind.LOWER
    delta = Fraction(1, 50)
    most = node.epsilon(delta, conversion="exact").epsilon.upper
    assert node.lower_epsilon(delta, digits=10).lower <= most


def test_outcomes_of_one_ratio_may_be_told_apart():
    first = [Fraction(n, 73) for n in (22, 28, 21, 2)]
    second = [Fraction(n, 6851) for n in (2354, 2688, 1617, 192)]
    assert first[1] / second[1] == first[3] / second[3]
    runs = laws.Binomial(100, "591/1000")
    node = RepeatAndSelect(DistributionPair(first, second), runs)
    truth = worst_order(first, second, runs, Fraction(1, 100))
    assert truth > MP.mpf("0.005")
    assert abs(lower(node.lower_delta("1/100", digits=20)) - truth) < TINY


@covering()
@pytest.mark.parametrize("runs", COUNTS[:4] + COUNTS[-3:], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_two_selections_and_a_sample_have_at_least_it(runs, seed):
    """The record is in one of the two datasets in both runs: only orders may be chosen."""
    draw = random.Random(seed)
    first, second = drawn(draw, 3), drawn(draw, 3)
    pair = DistributionPair(first, second, "add_remove", "P")
    node = RepeatAndSelect(pair, runs)
    every = [
        (told(first, order, runs), told(second, order, runs))
        for order in itertools.permutations(range(3))
    ]
    epsilon = draw.choice([Fraction(1, 10), Fraction(1, 2)])
    a = MP.exp(number(epsilon))
    most = MP.mpf(0)
    for (p, q), (u, v) in itertools.combinations_with_replacement(every, 2):
        one = {(x, y): p[x] * u[y] for x in p for y in u}
        other = {(x, y): q[x] * v[y] for x in q for y in v}
        most = max(most, hockey_stick(one, other, a), hockey_stick(other, one, a))
    assert lower((2 * node).lower_delta(epsilon, digits=8)) <= most * (1 + TINY)
    sampled = MP.mpf(0)
    for p, q in every:
        mixed = {y: q[y] + (p[y] - q[y]) / 3 for y in p}
        sampled = max(sampled, hockey_stick(mixed, q, a), hockey_stick(q, mixed, a))
    found = PoissonSubsample(node, "1/3").lower_delta(epsilon, digits=8)
    assert lower(found) <= sampled * (1 + TINY)


# --- laws on the line


@pytest.mark.parametrize(
    ("sigma", "runs", "least", "below"),
    [
        (5, NEGATIVE(1, "1/100"), "1.6019", "1.6042"),
        (2, NEGATIVE(1, "1/10"), "3.2420", "3.2447"),
        (20, NEGATIVE(1, "1/1000"), ".46663", ".4682"),
        (5, laws.Poisson(100), "4.5660", "4.5664"),
        (5, laws.Binomial(100, "1/10"), "1.5672", "1.5691"),
    ],
)
def test_gaussian_noise_is_near_the_best_of_the_orders(sigma, runs, least, below):
    """The best of these orders in float64, in 1,000 to 2,300 cells, is between the two."""
    node = RepeatAndSelect(Gaussian(sigma), runs)
    found = node.lower_epsilon("1e-6", digits=8)
    assert Fraction(least) < independent.fraction(found.lower) < Fraction(below)
    assert found.upper < node.epsilon("1e-6", conversion="exact").epsilon.lower


def test_an_order_of_gaussian_outputs_tells_as_much():
    """Two intervals of the line in their order, in mpmath: what is certified is not below it."""
    mu, g, delta = MP.mpf(1) / 5, MP.mpf(1) / 100, MP.mpf(10) ** -6
    start = MP.mpf(-9) / 5

    def best(x, middle):
        """The chance of an output in [start, x], those above `start` being the worst."""
        share = (MP.erf((x - middle) / MP.sqrt(2)) - MP.erf((start - middle) / MP.sqrt(2))) / 2
        return g * share / (1 - (1 - g) * share)

    whole = [best(MP.inf, middle) for middle in (mu, MP.mpf(0))]

    def tells(x):
        p, q = (total - best(x, middle) for total, middle in zip(whole, (mu, 0), strict=True))
        return MP.log((p - delta) / q)

    event = max(tells(start + MP.mpf(k) / 50) for k in range(220, 330))
    found = lower(RepeatAndSelect(Gaussian(5), NEGATIVE(1, "1/100")).lower_epsilon("1e-6"))
    assert event - MP.mpf("0.0015") < found < event + MP.mpf("0.0015")


def test_the_pair_of_finitely_many_outcomes_is_below_that_of_the_noise():
    masses = _quantized(Pair.of(GaussianLoss(Fraction(1, 25))))
    assert [sum(law) for law in zip(*masses, strict=True)] == [1, 1]
    assert min(map(min, masses)) >= 0
    for k in range(1, 55):
        a = Fraction(1) + Fraction(k * k, 700)
        truth = gaussian_delta(MP.mpf(1) / 5, MP.log(number(a)))
        for laws_of_one in (masses, [(q, p) for p, q in masses]):
            found = number(masses_hockey_stick(laws_of_one, a))
            share = MP.mpf("0.98" if truth > 1e-6 else "0.9")
            assert truth * share <= found <= truth


def test_what_is_told_by_mechanisms_of_many_kinds():
    """From below and from above, by closed forms, contours, finite laws and one another."""
    several, few = NEGATIVE(0, "1/20"), laws.Binomial(9, "1/3")
    for m, runs in (
        (Laplace(3), several),
        (PureDP("1/3"), few),
        (ApproximateDP(1, "1/1000"), several),
        (PoissonSubsample(Gaussian(1), "1/10"), few),
        (50 * PoissonSubsample(Gaussian(2), "1/100"), several),
        (Compose({PureDP("1/10"): 30}), few),
        (RepeatAndSelect(Laplace(2), laws.Poisson(3)), several),
    ):
        node = RepeatAndSelect(m, runs)
        found = node.lower_epsilon("1/50", digits=6)
        assert 0 < found.lower <= node.epsilon("1/50", conversion="exact").epsilon.upper
    unknown = RepeatAndSelect(ZCDP("1/10"), laws.Poisson(4))
    assert unknown.lower_epsilon("1e-5").upper == 0


def test_nothing_is_told_by_nothing():
    for m in (PureDP(0), DistributionPair(["1/3", "2/3"], ["1/3", "2/3"])):
        node = RepeatAndSelect(m, laws.Poisson(4))
        assert node.lower_epsilon("1e-9").upper == node.lower_delta(0).upper == 0


@pytest.mark.parametrize("sigma", ["1e10", "1e15", "1e25"])
def test_of_noise_that_hides_nearly_all_hardly_anything_is_told(sigma):
    """Places that are one float are one place, also where ε of the last of them is 0."""
    node = RepeatAndSelect(Gaussian(sigma), laws.Poisson(3))
    most = node.delta(0, conversion="exact", digits=3).delta.upper
    assert 0 <= node.lower_delta(0, digits=3).lower <= most < 2 / float(sigma)
    assert node.lower_epsilon("1/100", digits=3).upper == 0


# --- below what is enclosed


fractions = st.fractions(0, 1, max_denominator=40)
weights = st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=2, max_size=6).filter(
    lambda rows: all(any(column) for column in zip(*rows, strict=True))
)
places = st.lists(st.fractions("1/9", 9, max_denominator=30), min_size=1, max_size=9, unique=True)


@examples(24, 2000)
@given(rows=weights, at=places, slack=st.integers(0, 60), draw=st.randoms(use_true_random=False))
def test_a_pair_below_what_is_enclosed_is_below_what_is(rows, at, slack, draw):
    """H of a finite pair in fractions, known at a few places and not quite: at every place."""
    totals = [sum(column) for column in zip(*rows, strict=True)]
    masses = [(Fraction(p, totals[0]), Fraction(q, totals[1])) for p, q in rows]

    def width():
        return Fraction(draw.randrange(slack + 1), 10_000)

    known = [(x, h - width(), h + width()) for x in at for h in [masses_hockey_stick(masses, x)]]
    found = pair_below(known)
    if found:
        assert [sum(law) for law in zip(*found, strict=True)] == [1, 1]
        assert min(map(min, found)) >= 0
    for k in range(1, 300, 7):
        x = Fraction(k, 30)
        assert masses_hockey_stick(found, x) <= masses_hockey_stick(masses, x)


@examples(24, 2000)
@given(rows=weights, bits=st.integers(4, 60), draw=st.randoms(use_true_random=False))
def test_rounded_laws_are_below_all_laws_in_the_balls(rows, bits, draw):
    """Both ways round, at every place: fractions against fractions somewhere in the balls."""
    totals = [sum(column) for column in zip(*rows, strict=True)]
    masses = [(Fraction(p, totals[0]), Fraction(q, totals[1])) for p, q in rows]

    def around(x):
        radius = draw.choice([0, 1, 1]) * math.ldexp(draw.random(), -bits)
        middle = arb(x.numerator) / x.denominator
        return middle + arb(0, radius) if x else middle

    found = rounded_below([(around(p), around(q)) for p, q in masses])
    if not found:
        return
    assert [sum(law) for law in zip(*found, strict=True)] == [1, 1]
    assert min(map(min, found)) >= 0
    for exact, rounded in (
        (masses, found),
        *[([(q, p) for p, q in masses], [(q, p) for p, q in found])],
    ):
        for k in range(1, 200, 7):
            x = Fraction(k, 30)
            assert masses_hockey_stick(rounded, x) <= masses_hockey_stick(exact, x)


def test_rounding_costs_nothing_that_is_seen():
    masses = [(Fraction(1, 7), Fraction(3, 7)), (Fraction(6, 7), Fraction(4, 7))]
    found = rounded_below((arb(p.numerator) / 7, arb(q.numerator) / 7) for p, q in masses)
    for x in (Fraction(1), Fraction(5, 4)):
        lost = masses_hockey_stick(masses, x) - masses_hockey_stick(found, x)
        assert 0 <= lost < Fraction(1, 10**15)


def test_a_pair_that_no_symmetry_exchanges_is_asked_both_ways_round():
    masses = (Fraction(1, 3), Fraction(1, 2)), (Fraction(2, 3), Fraction(1, 2))
    product = Pair.of(Atoms(masses))
    one, other = selections([product], laws.Poisson(3))
    assert (one.turned, other.turned) == (False, True)
    assert other.masses == tuple((q, p) for p, q in reversed(one.masses))
