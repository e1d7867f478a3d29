"""Shuffled answers by their clones: all counts summed plainly, the authors' program, bad input."""

import itertools
import random
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb

from symacct import AssumptionError, DomainError, Kind, OrderError, PureDP
from symacct.baselines import (
    shuffle,
    shuffled,
    shuffled_closed,
    shuffled_epsilon,
    shuffled_least_rdp,
    shuffled_rdp,
    shuffled_responses,
    shuffled_responses_epsilon,
    shuffled_responses_rdp,
)
from symacct.baselines.shuffle import Signs
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision, rational
from tests import independent
from tests.support import holds
from tests.thinning import some

MP = independent.context(60)


def number(x):
    return independent.number(MP, x)


def share_of_any(epsilon_0):
    return MP.exp(-number(epsilon_0))


def share_of_responses(epsilon_0):
    return 2 / (1 + MP.exp(number(epsilon_0)))


#: δ(ε), ε(δ), ε(α) and the chance of a clone.
KINDS = [
    (shuffled, shuffled_epsilon, shuffled_rdp, share_of_any),
    (
        shuffled_responses,
        shuffled_responses_epsilon,
        shuffled_responses_rdp,
        share_of_responses,
    ),
]


def by_counting(epsilon, epsilon_0, n, kept):
    """Σ_c Σ_a P[C = c] (P(a) − e^ε Q(a))₊, count by count."""
    e, p = MP.exp(number(epsilon)), 1 / (1 + share_of_any(epsilon_0))
    total = MP.mpf(0)
    for c in range(n):
        half = [MP.mpf(0), *(MP.binomial(c, a) / MP.mpf(2) ** c for a in range(c + 1)), MP.mpf(0)]
        stick = MP.fsum(
            max(p * b + (1 - p) * a - e * ((1 - p) * b + p * a), MP.mpf(0))
            for b, a in pairwise(half)
        )
        total += MP.binomial(n - 1, c) * kept**c * (1 - kept) ** (n - 1 - c) * stick
    return total


@pytest.mark.parametrize("seed", range(some(6, 14)))
def test_delta_is_the_sum_over_all_counts(seed):
    rng = random.Random(seed)
    local = Fraction(rng.randrange(1, 40), 10)
    epsilon, n = local * Fraction(rng.randrange(0, 10), 10), rng.choice([1, 2, 3, 9, 40, 70])
    for delta_of, _, _, share in KINDS:
        found, value = delta_of(epsilon, local, n, digits=25), share(local)
        counted = by_counting(epsilon, local, n, value)
        assert holds(found.delta, counted, 25, 40), (epsilon, local, n)
        assert found.delta.claim.kind is Kind.UPPER


#: (n, ε₀, ε): δ by deltacomp with steps of 1, from above and from below, in float64 by SciPy.
THEIRS = {
    (1000, 1, "1/5"): (4.1077830914559854e-07, 2.0580085388936982e-07),
    (1000, 2, "1/2"): (7.730867772060002e-06, 3.923712436503685e-06),
    (10_000, 1, "1/20"): (4.175984930632204e-06, 2.1405934761698394e-06),
    (5000, 3, "3/5"): (1.1585571058070343e-08, 6.256370155547943e-09),
}


@pytest.mark.parametrize("key", THEIRS)
def test_delta_lies_between_the_authors_two(key):
    """They stop where what is left of C is below δ, and add it from above."""
    n, local, epsilon = key
    above, below = THEIRS[key]
    delta = shuffled(epsilon, local, n).delta
    assert below < delta.lower <= delta.upper < above


def test_epsilon_is_the_least_that_keeps_to_delta():
    """Theirs lie at 0.190245 from above, 0.182407 from below, and 0.649538 in closed form."""
    for n, local, delta in ((1000, 1, "1e-6"), (200, 2, "1e-3"), (50, "1/2", 0)):
        for delta_of, epsilon_of, _, _ in KINDS:
            found = epsilon_of(delta, local, n, digits=20).epsilon
            epsilon = independent.fraction(found.upper)
            assert delta_of(epsilon, local, n).delta.upper <= number(Fraction(delta))
            less = epsilon - Fraction(local) / 2**29
            assert delta_of(less, local, n).delta.upper > number(Fraction(delta))
    assert 0.182407 < shuffled_epsilon("1e-6", 1, 1000).epsilon.upper < 0.190245


@pytest.mark.parametrize(
    ("key", "theirs"),
    [((1000, 1, "1e-6"), "0.6495375524107758"), ((10_000, 2, "1e-6"), "0.5235509772345485")],
)
def test_the_closed_form_is_theirs(key, theirs):
    n, local, delta = key
    closed = shuffled_closed(delta, local, n).epsilon
    assert abs(closed.upper - MP.mpf(theirs)) < 1e-14
    assert shuffled_epsilon(delta, local, n).epsilon.upper < closed.lower


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_the_closed_form_is_its_formula(seed):
    """Beyond ε₀ = log(n/(16 log(4/δ))) it is refused."""
    rng = random.Random(seed)
    n, delta = rng.randrange(2000, 10**7), Fraction(1, 10 ** rng.randint(2, 12))
    log = MP.log(4 / number(delta))
    last = MP.log(n / (16 * log))
    local = independent.fraction(MP.mpf(MP.nstr(last, 6))) * Fraction(rng.randint(1, 19), 20)
    grown = MP.exp(number(local))
    s = 8 * MP.sqrt(grown * log / n) + 8 * grown / n
    value = MP.log(1 + (1 - 1 / grown) / (1 + 1 / (grown * (1 + s))) * s)
    assert holds(shuffled_closed(delta, local, n).epsilon, value, 30, trusted=45)
    with pytest.raises(AssumptionError, match="needed at most"):
        shuffled_closed(delta, independent.fraction(last) + Fraction(1, 10**9), n)


def test_the_edges():
    assert shuffled(1, 1, 100).delta.upper == 0
    assert shuffled(2, 1, 100).delta.upper == 0
    alone = shuffled(0, 1, 1).delta  # nobody else: the total variation of randomized response
    assert holds(alone, MP.tanh(MP.mpf(1) / 2), 10, 40)
    with pytest.raises(AssumptionError, match="needed at most"):
        shuffled_closed("1e-6", 5, 1000)


@pytest.mark.parametrize(
    ("baseline", "arguments", "error"),
    [
        (shuffled, (1, 0, 10), DomainError),
        (shuffled, (-1, 1, 10), DomainError),
        (shuffled, (1, 1, 0), DomainError),
        (shuffled, (1, 1, "5/2"), DomainError),
        (shuffled, (1, 1, 10**8), DomainError),
        (shuffled_epsilon, (1, 1, 10), DomainError),
        (shuffled_closed, (0, 1, 10), DomainError),
        (shuffled_responses, (1, 0, 10), DomainError),
        (shuffled_responses_epsilon, (1, 1, 10), DomainError),
        (shuffled_responses_rdp, (2, 1, 0), DomainError),
        (shuffled_rdp, (1, 1, 9), OrderError),
        (shuffled_rdp, ("inf", 1, 9), OrderError),
        (shuffled_rdp, (2, 0, 9), DomainError),
        (shuffled_rdp, (2, 1, 10**7 + 1), DomainError),
        (shuffled_rdp, (102, 1, 10_001), DomainError),
    ],
)
def test_bad_input(baseline, arguments, error):
    with pytest.raises(error):
        baseline(*arguments)


def moment_by_counting(alpha, epsilon_0, n, kept):
    """Σ_c Σ_a P[C = c] P(a)^α Q(a)^{1−α}, count by count."""
    p, order, total = 1 / (1 + share_of_any(epsilon_0)), number(alpha), MP.mpf(0)
    for c in range(n):
        half = [MP.mpf(0), *(MP.binomial(c, a) / MP.mpf(2) ** c for a in range(c + 1)), MP.mpf(0)]
        laws = [(p * b + (1 - p) * a, (1 - p) * b + p * a) for b, a in pairwise(half)]
        given = MP.fsum(one**order * other ** (1 - order) for one, other in laws)
        total += MP.binomial(n - 1, c) * kept**c * (1 - kept) ** (n - 1 - c) * given
    return total


@pytest.mark.parametrize("seed", range(some(6, 12)))
def test_the_divergence_is_that_of_the_two_laws(seed):
    rng = random.Random(seed)
    local, alpha = Fraction(rng.randrange(1, 40), 10), Fraction(rng.randrange(11, 120), 10)
    n = rng.choice([1, 2, 3, 9, 40, 70])
    for _, _, curve, share in KINDS:
        value = MP.log(moment_by_counting(alpha, local, n, share(local))) / (number(alpha) - 1)
        assert holds(curve(alpha, local, n, digits=25), value, 25, 35), (alpha, local, n)


def shuffled_law(rows):
    """The law of the multiset of one answer by each row, all of them enumerated."""
    law = {(0,) * len(rows[0]): MP.mpf(1)}
    for row in rows:
        after = {}
        for counts, chance in law.items():
            for place, p in enumerate(row):
                key = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
                after[key] = after.get(key, 0) + chance * p
        law = after
    return law


@pytest.mark.parametrize("values", [2, 3, 4])
@pytest.mark.parametrize("local", ["1/2", 2])
def test_no_dataset_of_randomized_response_exceeds_the_bound_for_it(values, local):
    """Those of five people, the first of whom has one value or another."""
    p = MP.exp(number(Fraction(local)))
    rows = [[p / (p + values - 1) if y == o else 1 / (p + values - 1) for o in range(values)]
            for y in range(values)]  # fmt: skip
    nearest = MP.mpf(0)
    for others in itertools.combinations_with_replacement(range(values), 4):
        first, second = (shuffled_law([rows[x], *(rows[y] for y in others)]) for x in (0, 1))
        for share in ("0", "1/5", "1/2", "9/10"):
            epsilon = Fraction(share) * Fraction(local)
            e = MP.exp(number(epsilon))
            delta = MP.fsum(max(first[k] - e * second[k], MP.mpf(0)) for k in first)
            bound = number(independent.fraction(shuffled_responses(epsilon, local, 5).delta.upper))
            assert delta <= bound
            nearest = max(nearest, delta / bound)
    assert nearest > 1 - MP.mpf(10) ** -8 or values > 2  # attained by two values


def test_one_person_has_the_curve_of_the_randomizer_and_more_people_less():
    alone = shuffled_rdp(3, 2, 1, digits=20)
    assert abs(alone.upper - PureDP(2).rdp(3, digits=20).upper) < 1e-18
    values = [shuffled_rdp(3, 2, n).upper for n in (1, 10, 100, 1000)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(("m", "alpha"), [(700, "5/2"), (900, 7), (800, "101/100")])
def test_a_power_series_of_many_signs_is_their_sum(m, alpha):
    alpha, d = Fraction(alpha), Fraction(3, 5)
    with precision(150):
        signs = Signs(alpha)
        found = signs.moment(m, BALL.number(d))
        ends = [number(rational(end)) for end in (found.lower(), found.upper())]
    assert signs.even[2:]  # asked, and not the outcomes one by one
    z, order = [number(d) * (2 * k - m) / m for k in range(m + 1)], number(alpha)
    value = MP.fsum(
        MP.binomial(m, k) * (1 + x) ** order * (1 - x) ** (1 - order) for k, x in enumerate(z)
    )
    low, high = (end - value / MP.mpf(2) ** m for end in ends)
    assert -1e-30 < low <= 0 <= high < 1e-30


def test_ten_million_people():
    """Some 1/n times what ten thousand cost."""
    for curve in (shuffled_rdp, shuffled_responses_rdp):
        few, many = (curve(3, 2, n, digits=6).upper for n in (10**4, 10**6))
        assert 100 < few / many < 100.5


def divergence(first, second, alpha):
    return MP.log(MP.fsum(first[k] ** alpha * second[k] ** (1 - alpha) for k in first)) / (
        alpha - 1
    )


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("local", ["1/2", 2])
def test_the_least_is_that_of_two_or_three_values(n, local):
    """All of whose answers are enumerated; and no bound is below."""
    p = MP.exp(number(Fraction(local)))
    for alpha in (Fraction(3, 2), 4):
        truths = []
        for values in (2, 3):
            rows = [[(p if y == o else 1) / (p + values - 1) for o in range(values)]
                    for y in range(values)]  # fmt: skip
            laws = [shuffled_law([rows[x], *[rows[-1]] * (n - 1)]) for x in (0, 1)]
            truths += [divergence(*pair, number(alpha)) for pair in (laws, laws[::-1])]
        found = shuffled_least_rdp(alpha, local, n, digits=20)
        assert holds(found, max(truths), 20, 35)
        assert found.claim.kind is Kind.LOWER
        for bound in (shuffled_responses_rdp, shuffled_rdp):
            most = bound(alpha, local, n, digits=20).upper
            assert max(truths) < number(independent.fraction(most)) + MP.mpf(10) ** -30


@pytest.mark.parametrize(("n", "local"), [(100, "1/10"), (1000, 2), (10_000, 4)])
def test_the_bounds_are_within_a_factor_of_the_least(n, local):
    for alpha in (2, "9/2"):
        least = shuffled_least_rdp(alpha, local, n).lower
        assert least < shuffled_responses_rdp(alpha, local, n).upper < 1.3 * least
        assert least < shuffled_rdp(alpha, local, n).upper < 2.05 * least


@pytest.mark.parametrize(
    ("moment", "people", "kept"),
    [
        (lambda n: shuffle._with_one_other_value(n, Fraction(2), Fraction(7, 2)), 1, (0, 0)),
        (lambda n: shuffle._with_one_other_value(n, Fraction(2), Fraction(-5, 2)), 1, (1, 1)),
        (lambda n: shuffle._with_a_third_value(n, Fraction(2), Fraction(7, 2)), 1, (0, 0)),
        (lambda n: shuffle._mean(n, Fraction(2), arb(1) / 3, Fraction(7, 2)), 2, (1, 1)),
    ],
    ids=["above", "below", "told", "clones"],
)
def test_counts_outside_of_the_window_take_at_most_what_is_said(monkeypatch, moment, people, kept):
    """The one count that is left out has the largest value that any can have."""
    with precision(100):
        truth = moment(people)
        monkeypatch.setattr(shuffle, "window", lambda n, share: kept)
        found = moment(people)
        assert found.contains(truth)
        assert found.upper() - truth < abs(truth) / 2**20
