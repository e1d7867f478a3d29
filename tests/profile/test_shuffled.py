"""Shuffled answers: against all datasets of few people in fractions, and laws that they obey."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy
import pytest
import sympy
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    ZCDP,
    AssumptionError,
    DomainError,
    FiniteMechanism,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    PureDP,
    RandomizedResponse,
    Shuffled,
    baselines,
    from_json,
    limits,
    parse,
    shuffled,
)
from symacct.analysis.coin_counts import Signs, binomial
from symacct.baselines.ways import TOLD as TOLD_PROOF
from symacct.export.description import describe
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import UNKNOWN
from symacct.profile.losses.shuffled import ShuffledLoss, losses, losses_below
from symacct.theory.amplification import shuffled as theory
from symacct.theory.amplification.shuffled import CloneCounts, Clones, Steps, _blocks, clones_of
from tests import independent
from tests.thinning import examples

#: e^ε at which δ is compared.
PLACES = [Fraction(n, 8) for n in (8, 9, 10, 12, 14, 16, 18, 20, 23, 28, 40)]


# --- all datasets of few people, in fractions


def histogram(laws):
    """The law of how many people give each answer."""
    counts = {(0,) * len(laws[0]): Fraction(1)}
    for law in laws:
        more = Counter()
        for known, chance in counts.items():
            for answer, p in enumerate(law):
                if p:
                    place = (*known[:answer], known[answer] + 1, *known[answer + 1 :])
                    more[place] += chance * p
        counts = dict(more)
    return counts


def hockey_stick(P, Q, a):  # noqa: N803
    return sum(max(p - a * Q.get(x, 0), 0) for x, p in P.items())


def true_deltas(laws, n, places=PLACES):
    """The largest δ at each place, over all inputs of n people, of which one is replaced."""
    largest = [Fraction(0)] * len(places)
    for others in itertools.combinations_with_replacement(laws, n - 1):
        all_laws = [histogram([law, *others]) for law in laws]
        for P, Q in itertools.permutations(all_laws, 2):
            largest = [max(x, hockey_stick(P, Q, a)) for x, a in zip(largest, places, strict=True)]
    return largest


def response(k, odds):
    return FiniteMechanism.randomized_response(k, odds)


def stick(loss, a, digits=40):
    """D at log a of a loss, in a ball."""
    with ctx.workprec(4 * digits):
        return loss.hockey_stick((arb(a.numerator) / a.denominator).log(), False)


def off(ball, delta):
    """How far a ball is from a fraction, as a float."""
    with precision(160):
        return float((ball - arb(delta.numerator) / delta.denominator).abs_upper())


def bound(parts, a):
    return max((stick(part, a).upper() for part in parts), default=arb(0))


def least(parts, a):
    return max((stick(part, a).lower() for part in parts), default=arb(0))


RANDOMIZERS = {
    "3 answers": response(3, 3),
    "4 answers": response(4, 3),
    "two laws": FiniteMechanism([["1/2", "1/3", "1/6"], ["1/4", "1/2", "1/4"]]),
    "three laws": FiniteMechanism(
        [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/5", "1/5", "3/5"]]
    ),
    "a common answer": FiniteMechanism(
        [["1/2", "1/10", "2/5"], ["1/10", "1/2", "2/5"], ["3/10", "1/2", "1/5"]]
    ),
}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("name", RANDOMIZERS)
def test_no_dataset_costs_more_than_is_said_and_some_costs_what_is_below(name, n):
    """The pairs themselves, also for one person, whom nobody hides."""
    node = Shuffled(RANDOMIZERS[name], n)
    truth = true_deltas(node.mechanism.laws, n)
    above, below = losses(node), losses_below(node)
    for a, delta in zip(PLACES, truth, strict=True):
        exact = arb(delta.numerator) / delta.denominator
        assert not bound(above, a) < exact, (name, n, a)
        assert not least(below, a) > exact, (name, n, a)


def test_the_answers_of_one_person_are_the_randomizers():
    for m in (response(5, 2), Laplace(2), PureDP("1/2"), RandomizedResponse.of_epsilon(1, k=5)):
        one = shuffled(m, 1)
        assert one.delta("1/4", 20).delta.upper == m.delta("1/4", 20).delta.upper
        assert abs(one.rdp(3, 20).upper - m.rdp(3, 20).upper) < 1e-18


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_total_variation_of_two_peoples_responses_is_exact(k):
    node = Shuffled(response(k, 3), 2)
    (truth,) = true_deltas(node.mechanism.laws, 2, [Fraction(1)])
    assert off(bound(losses(node), Fraction(1)), truth) < 1e-15


# --- two kinds of clones are too few


def two_kinds(n, p, beta, q):
    """The two numbers of the variation-ratio reduction, as laws under both inputs."""
    a = beta / (p - 1)
    r, w = a * p / q, 1 - (p + 1) * a
    others = [[r, r, 1 - 2 * r]] * (n - 1)
    return histogram([[p * a, a, w], *others]), histogram([[a, p * a, w], *others])


def test_numbers_of_two_kinds_of_clones_do_not_dominate():
    """docs/proofs/mechanisms.md, Lemma three-clones, in fractions."""
    p, k = Fraction(3), 4
    node = response(k, p)
    for n, a, truth, counted in (
        (2, Fraction(9, 4), Fraction(1, 16), Fraction(5, 144)),
        (3, Fraction(7, 4), Fraction(1, 12), None),
    ):
        P, Q = two_kinds(n, p, (p - 1) / (p + k - 1), p)
        assert true_deltas(node.laws, n, [a]) == [truth]
        assert hockey_stick(P, Q, a) < truth
        assert counted is None or hockey_stick(P, Q, a) == counted
        assert not bound(losses(Shuffled(node, n)), a) < arb(truth.numerator) / truth.denominator


def test_the_numbers_of_two_kinds_are_below():
    (below,) = losses_below(Shuffled(response(4, 3), 3))
    for a in PLACES:
        delta = hockey_stick(*two_kinds(3, Fraction(3), Fraction(1, 3), Fraction(3)), a)
        assert off(stick(below, a), delta) < 1e-30


# --- any pure randomizer


@st.composite
def pure_randomizers(draw):
    """Three laws of which none is more than p times another: mixtures of extreme ones."""
    p = draw(st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(4)]))
    rows = []
    weights = draw(st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(any))
    patterns = [x for x in itertools.product((1, p), repeat=3) if 1 < sum(x) < 3 * p][:6]
    masses = [[w * x[i] for w, x in zip(weights, patterns, strict=True)] for i in range(3)]
    most = max(map(sum, masses))
    for row in masses:  # what is left of each goes to an answer that all of them give
        rest = most - sum(row)
        rows.append([*row, rest])
    extra = max(row[-1] for row in rows) * p or Fraction(1)
    rows = [[*row[:-1], row[-1] + extra] for row in rows]
    return p, [[x / sum(row) for x in row] for row in rows]


@given(pure_randomizers(), st.integers(1, 3))
@examples(15, 300)
def test_ranges_of_variation_bound_every_pure_randomizer(drawn, n):
    _, rows = drawn
    laws = tuple(dict.fromkeys(map(tuple, rows)))
    ratio = max(
        (x / y for p, q in itertools.permutations(laws, 2) for x, y in zip(p, q, strict=True) if y),
        default=Fraction(1),
    )
    if ratio == 1:
        return
    epsilon = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    pure = Shuffled(PureDP(Fraction(math.ceil(epsilon * 2**20) + 1, 2**20)), n)
    for a, delta in zip(PLACES, true_deltas(laws, n), strict=True):
        assert not bound(losses(pure), a) < arb(delta.numerator) / delta.denominator


@pytest.mark.parametrize("n", [2, 10, 100])
@pytest.mark.parametrize("local", ["1/10", 1, 4])
def test_pure_randomizers_are_between_the_clones_of_response_and_those_of_any(local, n):
    parts = losses(Shuffled(PureDP(local), n))
    for share in (Fraction(1, 50), Fraction(1, 3), Fraction(4, 5)):
        epsilon = share * Fraction(local)
        with ctx.workprec(200):
            y = arb(epsilon.numerator) / epsilon.denominator
            value = max(part.hockey_stick(y, False).upper() for part in parts)
        responses, any_of = (
            clones(epsilon, local, n, 12).delta
            for clones in (baselines.shuffled_responses, baselines.shuffled)
        )
        assert float(responses.lower) <= float(value) <= float(any_of.upper)


# --- the moved counts


@pytest.mark.parametrize("step", [1, 2, 5])
def test_moving_the_third_number_tells_more(step):
    """Against the plain sum over all three numbers, in fractions."""
    n, (own, other, r, s) = 12, (Fraction(3, 8), Fraction(1, 8), Fraction(1, 8), Fraction(1, 4))
    clones = Clones(clones_of(response(6, 3))[0].log_ratio, own, r, s)
    moved = ShuffledLoss(clones, n, Steps(n if step == 1 else 0, float(step)))
    people = [[r, r, s, 1 - 2 * r - s]] * (n - 1)
    rest = 1 - own - other
    P, Q = (histogram([law, *people]) for law in ([own, other, rest, 0], [other, own, rest, 0]))
    for a in PLACES:
        delta = hockey_stick(P, Q, a)
        value = stick(moved, a)
        assert not value < arb(delta.numerator) / delta.denominator
        assert step > 1 or off(value, delta) < 1e-30


def test_moving_counts_together_tells_more_and_little_more():
    (moved,) = losses(shuffled(response(3, 3), 200_000))
    apart = ShuffledLoss(moved.clones, moved.n, Steps(0, 0.5, 0.5, 0.0))
    for y in (0.0, 0.002, 0.006):
        less, more = (float(loss.hockey_stick(arb(y), False)) for loss in (apart, moved))
        assert less < more < less * (1 + 2e-3)
    (below,) = losses_below(shuffled(response(3, 3), 200_000))
    assert below.hockey_stick(arb(0.006), False) < apart.hockey_stick(arb(0.006), False)


def test_counts_that_are_left_out_are_bounded(monkeypatch):
    """Of twelve people's clones only three to seven are summed, which the mass seen says."""
    n, clones = 12, clones_of(response(5, 3))[0]
    own, r = Fraction(3, 7), Fraction(1, 7)
    kept = range(3, 8)
    monkeypatch.setattr(
        theory, "binomial", lambda *coins: (x for x in binomial(*coins) if x[0] in kept)
    )
    with precision(110):  # which no other test has tables of
        counts = CloneCounts(clones, n, Steps(n, 1.0))
    seen = sum(
        (math.comb(n, m) * (2 * r) ** m * (1 - 2 * r) ** (n - m))
        * ((own + r) / (2 * r) * m + (1 - own - r) * (n - m) / (1 - 2 * r))
        for m in kept
    )
    assert off(counts.seen, seen / n) < 1e-25
    people = [[r, r, 3 * r, 1 - 5 * r]] * (n - 1)
    P, Q = (histogram([law, *people]) for law in ([own, r, 3 * r, 0], [r, own, 3 * r, 0]))
    assert sum(P.values()) == 1
    with ctx.workprec(110):
        for a in PLACES:
            delta, y = hockey_stick(P, Q, a), (arb(a.numerator) / a.denominator).log()
            value = ShuffledLoss(clones, n, Steps(n, 1.0)).hockey_stick(y, False)
            assert value.upper() >= arb(delta.numerator) / delta.denominator
        for alpha in (2, 9):
            moment = sum(float(P[x]) * float(P[x] / Q[x]) ** (alpha - 1) for x in P)
            assert theory._moment(clones, n, alpha).upper() >= math.log(moment)


def test_at_orders_that_are_too_large_the_randomizers_own_curve_bounds():
    """A group's chain asks a curve at orders of as many digits as δ has."""
    response = RandomizedResponse("2/3")
    for alpha in (10**6, 10**40):
        assert shuffled(response, 3).rdp(alpha).upper <= response.rdp(alpha).upper
    group = GroupPrivacy(shuffled(response, 1), 2)
    assert group.epsilon("1e-40", 6, "improved").epsilon.lower <= 2 * response.rdp("inf").upper


def test_moments_are_those_of_all_counts():
    """By mpmath over the three numbers, and by each count alone."""
    n, alpha = 9, Fraction(5, 2)
    node = Shuffled(response(5, 3), n)
    own, other = mpmath.mpf(3) / 7, mpmath.mpf(1) / 7
    total = mpmath.mpf(0)
    with mpmath.workdps(30):
        own, other = mpmath.mpf(3) / 7, mpmath.mpf(1) / 7
        for m in range(1, n + 1):  # m clones of five kinds, of which two count
            chance = mpmath.binomial(n, m) * (5 * other) ** m * (1 - 5 * other) ** (n - m)
            for x in range(m + 1):
                for y in range(m - x + 1):
                    ways = mpmath.binomial(m, x) * mpmath.binomial(m - x, y)
                    mass = chance * ways * mpmath.mpf(3) ** (m - x - y) / mpmath.mpf(5) ** m
                    P = (own * x + other * (m - x)) / (other * n)
                    Q = (own * y + other * (m - y)) / (other * n)
                    total += mass * P ** mpmath.mpf(2.5) * Q ** mpmath.mpf(-1.5)
        truth = mpmath.log(total) / mpmath.mpf(1.5)
    found = node.rdp(alpha, 20, by="SHUFFLED-CLONES")
    assert found.lower <= truth <= found.upper


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize("p", ["3/4", "1/5"])
def test_the_curve_of_one_bit_is_the_plain_sum(p, n):
    node = Shuffled(RandomizedResponse(p), n)
    with mpmath.workdps(30):
        for alpha in (2, Fraction(7, 2), 40):
            found = node.rdp(alpha, 15)
            plain = independent.rdp(mpmath.mp, node, alpha)
            assert found.lower * (1 - mpmath.mpf(10) ** -14) <= plain <= found.upper * (1 + 1e-14)


@pytest.mark.parametrize("n", [2, 40, 700])
def test_rare_moments_and_series_agree(n):
    node = Shuffled(RandomizedResponse("3/4"), n)
    (clones,) = clones_of(node.mechanism)
    with precision(128):
        counts = CloneCounts(clones, n, Steps(n, 1.0))
        signs = Signs(3)
        series, alone = counts.by_powers(signs, 100), counts.one_by_one(signs)
    assert series is None or (series.overlaps(alone) and float(series.rad()) < 1e-20)


@pytest.mark.parametrize("kept", [1, 2, 4])
def test_a_series_of_few_powers_bounds_the_others(kept, monkeypatch):
    (clones,) = clones_of(response(3, 3))
    with precision(128):
        counts, signs = CloneCounts(clones, 40, Steps(40, 1.0)), Signs(3)
        monkeypatch.setattr(counts, "_terms", lambda _: kept)
        series, alone = counts.by_powers(signs, 100), counts.one_by_one(signs)
    assert series.overlaps(alone)
    assert series.rad() > 2 * alone.rad()


# --- several rounds


def squared(P, Q):  # noqa: N803
    """Two rounds of a pair."""
    twice = [Counter(), Counter()]
    for law, two in zip((P, Q), twice, strict=True):
        for (x, p), (y, q) in itertools.product(law.items(), repeat=2):
            two[x, y] += p * q
    return twice


@pytest.mark.parametrize("n", [2, 3])
def test_two_rounds_are_the_squared_distribution(n):
    """Of the pair itself, and not less than of two rounds of any inputs of all people."""
    randomizer = response(3, 3)
    own, r = Fraction(3, 5), Fraction(1, 5)
    people = [[r, r, r, 1 - 3 * r]] * (n - 1)
    P, Q = squared(histogram([[own, r, r, 0], *people]), histogram([[r, own, r, 0], *people]))
    worst = squared(
        *(histogram([law, *[randomizer.laws[0]] * (n - 1)]) for law in randomizer.laws[:2])
    )
    for a in (Fraction(5, 4), Fraction(3), Fraction(6)):
        epsilon = Fraction(str(sympy.log(sympy.Rational(a.numerator, a.denominator)).evalf(30)))
        found = (2 * shuffled(randomizer, n)).delta(epsilon, 2, "exact").delta
        delta = hockey_stick(P, Q, a)
        assert float(found.lower) <= delta <= float(found.upper)
        assert hockey_stick(*worst, a) <= float(found.upper)


@pytest.mark.parametrize(("k", "n", "near"), [(2, 60, 1e-6), (10, 300, 2e-2), (3, 200_000, 1e-3)])
def test_the_law_in_floats_is_above_and_near(k, n, near):
    """On a fine grid; of many people with numbers of clones together."""
    (loss,) = losses(shuffled(RandomizedResponse.of_epsilon(1, k=k), n))
    step = 2.0**-14
    first, masses, short = loss.in_floats(False, 1e-14).on_nodes(step, 1e-14)
    nodes = float(first) + step * numpy.arange(len(masses))
    assert 0 <= short < 1e-10
    for y in (0.0, math.sqrt(loss.spread), 3 * math.sqrt(loss.spread)):
        truth = float(loss.hockey_stick(arb(y), False))
        found = float((masses * numpy.maximum(-numpy.expm1(y - nodes), 0)).sum())
        assert truth - short - 1e-15 <= found <= truth * (1 + near) + 1e-9


def test_many_rounds_are_had_in_a_minute():
    """As a rule in five seconds: on a slow machine, less is proved in that time."""
    crowd = 1000 * shuffled(RandomizedResponse("3/4"), 10**6)
    with limits(seconds=60):
        assert 0.168 < float(crowd.epsilon("1e-6", 4)) < 0.1686


# --- laws


def test_more_people_less_local_privacy_and_fewer_answers_cost_what_they_must():
    def delta(m, n):
        return shuffled(m, n).delta("1/20", 8, "exact").delta.upper

    by_people = [delta(RandomizedResponse.of_epsilon(1, k=4), n) for n in (10, 50, 200, 600)]
    by_epsilon = [delta(RandomizedResponse.of_epsilon(e, k=4), 80) for e in ("1/4", "1/2", 1, 2)]
    by_answers = [delta(RandomizedResponse.of_epsilon(1, k=k), 80) for k in (2, 3, 5, 20)]
    assert by_people == sorted(by_people, reverse=True)
    assert by_epsilon == sorted(by_epsilon)
    assert by_answers == sorted(by_answers, reverse=True)


def test_two_descriptions_of_one_randomizer_agree():
    one = shuffled(RandomizedResponse.of_epsilon(sympy.log(3), k=4), 60)
    other = shuffled(response(4, 3), 60)
    first, second = (m.delta("1/9", 20, "exact").delta.upper for m in (one, other))
    assert abs(first - second) < 1e-20
    assert one.rdp(3, 15).upper == pytest.approx(other.rdp(3, 15).upper, rel=1e-12)


def test_a_bit_tells_as_much_by_either_answer():
    """Also where which of both is more likely is told by its root."""
    for p in ("3/4", sympy.sqrt(2) / 2):
        one, other = (shuffled(RandomizedResponse(x), 5) for x in (p, 1 - sympy.sympify(p)))
        assert one.rdp(3, 15).lower > 0
        assert one.rdp(3, 15).upper == pytest.approx(other.rdp(3, 15).upper, rel=1e-14)
        deltas = [m.delta("1/20", 15, "exact").delta.upper for m in (one, other)]
        assert deltas[0] == pytest.approx(deltas[1], rel=1e-14)


def test_no_answer_is_above_the_baselines():
    for n in (30, 1000):
        of_any = shuffled(PureDP(1), n).epsilon("1e-5", 6, "exact").epsilon
        assert of_any.upper <= baselines.shuffled_epsilon("1e-5", 1, n).epsilon.upper
        two = shuffled(RandomizedResponse.of_epsilon(1), n).epsilon("1e-5", 6, "exact").epsilon
        assert two.lower <= baselines.shuffled_responses_epsilon("1e-5", 1, n).epsilon.upper
        for m, rdp in (
            (PureDP(1), baselines.shuffled_rdp),
            (RandomizedResponse.of_epsilon(1), baselines.shuffled_responses_rdp),
        ):
            assert shuffled(m, n).rdp(4, 6).lower <= rdp(4, 1, n).upper


def test_lower_bounds_are_below_and_near():
    node = shuffled(RandomizedResponse.of_epsilon(1, k=10), 1000)
    below, above = node.lower_epsilon("1e-6", 6), node.epsilon("1e-6", 6, "exact").epsilon
    assert 0.999 * above.upper < below.lower <= below.upper < above.lower
    laplace = shuffled(Laplace(1), 1000)
    assert (
        0
        < laplace.lower_epsilon("1e-6", 4).upper
        < laplace.epsilon("1e-6", 4, "exact").epsilon.lower
    )


# Two-kind numbers of a program of the authors of arXiv:2304.05007 are .0232517 and .0071833.
@pytest.mark.parametrize(
    ("k", "low", "high"), [(10, 0.02325, 0.023254), (100, 0.007183, 0.0071834)]
)
def test_ten_thousand_people(k, low, high):
    found = shuffled(RandomizedResponse.of_epsilon(1, k=k), 10**4).epsilon("1e-6", 6, "exact")
    assert low < float(found) < high
    assert found.kind.value == "upper"


def test_what_tells_nothing_costs_nothing():
    for m in (RandomizedResponse("1/2"), PureDP(0)):
        assert shuffled(m, 9).epsilon("1e-6").epsilon.upper == 0
        assert shuffled(m, 9).rdp(3).upper == 0


# --- premises and errors


def test_a_pair_is_known_of_one_person_alone():
    """Else a sample of shuffled answers would have a lower bound that reads that pair."""
    assert shuffled(RandomizedResponse("3/4"), 1).attained == RandomizedResponse("3/4").attained
    assert shuffled(RandomizedResponse("3/4"), 2).attained is UNKNOWN


def test_text_and_json():
    node = shuffled(RandomizedResponse.of_epsilon(1, k=10), 10_000)
    assert parse(repr(node)) is node
    assert from_json(node.to_json()) is node
    assert "in an order drawn uniformly at random" in describe(node)


@pytest.mark.parametrize("n", [0, -1, "1/2", 10**7 + 1])
def test_numbers_of_people_that_are_none(n):
    with pytest.raises(DomainError, match="shuffled, n"):
        shuffled(PureDP(1), n)


def test_what_is_not_known_is_refused_in_one_line():
    with pytest.raises(AssumptionError, match="needed RandomizedResponse") as found:
        shuffled(ZCDP(1), 9).epsilon("1e-6", conversion="exact")
    assert "\n" not in str(found.value)
    with pytest.raises(AssumptionError, match="only some of its laws"):
        shuffled(FiniteMechanism([[1, 0], ["1/2", "1/2"]]), 9).epsilon("1e-6", conversion="exact")
    assert shuffled(Gaussian(1), 9).rdp(2).upper == Gaussian(1).rdp(2).upper


# --- numbers next to 0 and 1


@pytest.mark.parametrize("pure", ["1e-8", "1e-10", "1e-20", "1e-40", 1, 5, 2000])
def test_clones_of_laplace_noise_reach_its_largest_total_variation(pure):
    """Of the ranges of total variations, the first one ends at 1 − e^{−Δ/2b} or above."""
    with mpmath.workdps(80):
        largest, p = -mpmath.expm1(-mpmath.mpf(pure) / 2), mpmath.exp(mpmath.mpf(pure))
        own = mpmath.mpf(sympy.N(sympy.sympify(clones_of(Laplace(1 / Fraction(pure)))[0].own), 70))
        assert own * (1 - 1 / p) >= largest * (1 - mpmath.mpf(10) ** -60)


@pytest.mark.parametrize("pure", ["1e-17", "1e-40"])
def test_two_bits_next_to_fair_ones_cost_what_two_kinds_of_clones_do(pure):
    """ε(2) is nearly that of 2/(1+e^ε) clones, which are almost sure to be there."""
    node = shuffled(RandomizedResponse.of_epsilon(pure), 2)
    assert math.isclose(node.rdp(2, 20).upper, float(pure) ** 2 / 2, rel_tol=1e-9)


@pytest.mark.parametrize(("size", "least"), [(1, 10), (2, 11), (8, 10), (7, 14), (9, 1)])
def test_the_least_of_counts_that_are_moved_together_falls(size, least):
    """Others are counted for each, from few of them to many."""
    counts = [(m, arb(1) / 40) for m in range(40, -1, -1)]
    blocks = list(_blocks(counts, size, least))
    lows = [ends[-1][0] for _, ends in blocks]
    assert lows == sorted(lows, reverse=True)
    assert all(m <= least + size for m, ends in blocks if len(ends) == 1) or size == 1
    mean = sum((e * chance for _, ends in blocks for e, chance in ends), arb(0))
    assert abs(mean - sum((m * chance for m, chance in counts), arb(0))) < 1e-12


@pytest.mark.parametrize("k", [2, 3])
def test_an_outcome_whose_loss_is_hardly_above_epsilon_counts(k):
    """All answer the first value, which a float64 does not tell from the edge."""
    odds = 2 + Fraction(1, 10**30)
    node = Shuffled(response(k, odds), 3)
    (truth,) = true_deltas(node.mechanism.laws, 3, [Fraction(2)])
    assert truth > 0
    with precision(500):
        exact = arb(truth.numerator) / truth.denominator
        assert not max(loss.hockey_stick(arb(2).log(), False) for loss in losses(node)) < exact


TOLD = {
    "response of tiny cost": (RandomizedResponse.of_epsilon("1e-10", k=4), 1000, 1),
    "response": (RandomizedResponse.of_epsilon(1, k=4), 3000, 3),
    "noise": (Laplace(1), 10**5, 3),
    "any": (PureDP("1/2"), 50, 2),
}


@pytest.mark.parametrize("delta", ["1e-100", "1/100"])
@pytest.mark.parametrize("name", TOLD)
def test_answers_cost_no_more_shuffled_than_not_where_time_is_short(name, delta):
    """The exact profile is late for some; ε(∞) and the randomizers' own profile are had at once."""
    randomizer, n, rounds = TOLD[name]
    with limits(seconds=1):
        answer = (rounds * shuffled(randomizer, n)).epsilon(delta, digits=6)
        told = (rounds * randomizer).epsilon(delta, digits=6)
    assert answer.epsilon.lower <= told.epsilon.upper


@pytest.mark.parametrize("name", ["any", "noise"])
@pytest.mark.parametrize("alpha", [1, Fraction(3, 2), 2, 40, math.inf])
def test_curves_are_no_higher_shuffled_than_not(name, alpha):
    randomizer, _, rounds = TOLD[name]
    answers = rounds * shuffled(randomizer, 30)
    assert answers.rdp(alpha, 8).lower <= (rounds * randomizer).rdp(alpha, 8).upper


def test_the_randomizers_own_profile_bounds_what_is_shuffled():
    """By its ways alone, as it is asked where nothing else is in time."""
    answers = shuffled(Laplace(1), 20) + 2 * shuffled(PureDP(1), 30) + Laplace(2)
    (way,) = (way for way in answers._ways() if way.proof is TOLD_PROOF)
    told = 2 * PureDP(1) + Laplace(1) + Laplace(2)
    bound = way.epsilon(answers, Fraction(1, 1000), 6)
    assert bound.epsilon.upper == told.epsilon("1/1000", 6, "exact").epsilon.upper
    assert bound.kind is bound.epsilon.claim.kind is Kind.UPPER
    assert str(bound.claim.adjacency) == "replace_one"
    assert "SHUFFLED-TOLD" in bound.claim.theorems
    at = way.delta(answers, Fraction(1), 6)
    assert at.delta.upper == told.delta(1, 6, "exact").delta.upper
    assert way.proof.code not in {way.proof.code for way in (3 * Laplace(2))._ways()}


@pytest.mark.parametrize("rounds", [1, 3])
def test_what_some_datasets_cost_is_said_in_time(rounds):
    """Of a million people, to few digits at least; several rounds cost no less than one does."""
    answers = shuffled(RandomizedResponse.of_epsilon(1, k=10), 10**6)
    with limits(seconds=60):
        one = answers.lower_epsilon("1e-6", 6)
    with limits(seconds=30):
        bound = (rounds * answers).lower_epsilon("1e-6", 30)
    assert 0.999 * one.lower < bound.lower
