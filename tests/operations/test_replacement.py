"""Samples drawn with replacement: moments by all tuples of draws, all samples of few records."""

import itertools
import math
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from symacct import (
    AdjacencyError,
    DomainError,
    Either,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    LimitError,
    MatrixMechanism,
    SubsampleWithoutReplacement,
    sample_with_replacement,
)
from symacct.baselines import with_replacement
from symacct.operations.recipes import chances, told_draws
from tests import independent
from tests.support import holds
from tests.thinning import covering, some

MP = independent.context(60)
COARSE = independent.context(20)  # for quadratures


def number(x):
    return independent.number(MP, x)


def exact_chances(n, draws):
    share = Fraction(1, n)
    every = range(draws + 1)
    return [math.comb(draws, j) * share**j * (1 - share) ** (draws - j) for j in every]


def moment(n, draws, square, alpha):
    """E_Q[(P/Q)^α] by all tuples of α numbers of draws: Σ Π p e^{Σ_{a<b} j_a j_b (Δ/σ)²}."""
    weights = [number(w) for w in exact_chances(n, draws)]
    total = MP.mpf(0)
    for chosen in itertools.product(range(draws + 1), repeat=alpha):
        joint = sum(a * b for a, b in itertools.combinations(chosen, 2))
        total += MP.fprod(weights[j] for j in chosen) * MP.exp(joint * number(square))
    return total


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_the_curve_is_the_sum_over_all_draws(seed):
    rng = random.Random(seed)
    n, draws, alpha = rng.randrange(2, 40), rng.randrange(1, 9), rng.choice([2, 3, 4])
    sigma, size = Fraction(rng.randrange(5, 40), 5), Fraction(rng.randrange(1, 9), 4)
    m = sample_with_replacement(Gaussian(sigma, size), n, draws)
    value = MP.log(moment(n, draws, (size / sigma) ** 2, alpha)) / (alpha - 1)
    assert holds(m.rdp(alpha, digits=25), value, 25, 45), (n, draws, sigma, size, alpha)
    assert m.claim.kind is Kind.EXACT


def test_one_draw_is_a_sample_of_one():
    for alpha in (1, Fraction(3, 2), 5):
        drawn = sample_with_replacement(Gaussian(2), 7, 1).rdp(alpha, digits=20)
        taken = SubsampleWithoutReplacement(Gaussian(2), "1/7", "add_remove").rdp(alpha, digits=20)
        assert drawn.lower <= taken.upper
        assert taken.lower <= drawn.upper


def sums(values, draws):
    """The law of the sum of so many draws, each from all values."""
    law = {0: Fraction(1)}
    for _ in range(draws):
        after = {}
        for total, chance in law.items():
            for x in values:
                after[total + x] = after.get(total + x, 0) + chance / len(values)
        law = after
    return law


def divergence(first, second, sigma, alpha):
    """D_α of two mixtures of normal laws, by quadrature."""

    def density(law, z):
        parts = law.items()
        return COARSE.fsum(
            independent.number(COARSE, c) * COARSE.npdf(z, int(x), sigma) for x, c in parts
        )

    whole = COARSE.quad(
        lambda z: density(first, z) ** alpha * density(second, z) ** (1 - alpha),
        range(-40, 41, 8),
    )
    return COARSE.log(whole) / (alpha - 1)


@pytest.mark.parametrize(
    ("others", "draws"),
    [
        ((-1, -1), 1),
        ((-1, 1), 3),
        ((-1, 0, 1), 1),
        *some([], [((-1, -1), 3), ((-1, 1), 1), ((-1, 0, 1), 3)]),
    ],
)
def test_no_dataset_exceeds_it_and_equal_others_attain_it(others, draws):
    """A record of 1 more or less, or replaced, of values in [−1, 1]: replaced it moves 2."""
    noise, n = Gaussian(3, 2), len(others) + 1
    bounds = {
        relation: sample_with_replacement(noise, n, draws, relation).rdp(3, digits=15)
        for relation in ("add_remove", "replace_one")
    }
    law, without, replaced = (sums(x, draws) for x in ((*others, 1), others, (*others, -1)))
    for relation, other in (("add_remove", without), ("replace_one", replaced)):
        most = max(divergence(law, other, 3, 3), divergence(other, law, 3, 3))
        assert most <= bounds[relation].upper * (1 + COARSE.mpf(10) ** -12)
        if relation == "add_remove" and set(others) == {-1}:
            assert most >= bounds[relation].lower * (1 - COARSE.mpf(10) ** -12)


def plane(first, second, sigma, alpha):
    """D_α of two mixtures of normal laws on the plane, by the trapezoidal rule."""
    x, y = np.meshgrid(np.linspace(-30, 30, 241), np.linspace(-30, 30, 241))

    def density(law):
        squares = ((w, (x - p.real) ** 2 + (y - p.imag) ** 2) for p, w in law.items())
        return sum(float(w) * np.exp(-square / (2 * sigma**2)) for w, square in squares)

    cell = (60 / 240) ** 2 / (2 * math.pi * sigma**2)
    whole = np.sum(density(first) ** alpha * density(second) ** (1 - alpha)) * cell
    return math.log(whole) / (alpha - 1)


def replaced(others, draws, alpha):
    """D_α of sums with a among the others, and with b, a, b and c two apart; noise of 3."""
    at = {"a": 2 + 0j, "b": 1 + math.sqrt(3) * 1j, "c": 0j}
    before, after = (sums([at[x] for x in (*others, last)], draws) for last in "ab")
    return plane(before, after, 3, alpha)


def test_equal_others_attain_one_draw():
    for alpha in (2, 5):
        bound = told_draws(Gaussian(3, 2), chances(3, 1, 1)[0], Fraction(1, 9)).rdp(
            alpha, digits=12
        )
        truth = max(replaced(others, 1, alpha) for others in ("bb", "cc"))
        assert float(bound.lower) == pytest.approx(truth, rel=1e-9)


@covering()
@pytest.mark.parametrize("draws", [1, 2, 4])
@pytest.mark.parametrize("others", [("c", "c"), ("a", "b"), ("b", "c"), ("a", "b", "c", "c")])
def test_no_triangle_of_records_exceeds_the_draws_that_a_coin_tells(others, draws):
    """A record replaced by another, all two apart."""
    weights = chances(len(others) + 1, draws, draws)[0]
    for alpha in (2, 5):
        truth = replaced(others, draws, alpha)
        for spare in (Fraction(1, 1000), Fraction(1, 20)):
            bound = told_draws(Gaussian(3, 2), weights, spare).rdp(alpha, digits=12)
            assert truth <= bound.upper * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(some(4, 8)))
def test_a_coin_that_tells_the_draws_leaves_their_chances(seed):
    """Sums over the parts of λ and of λ(p/λ), and no rate above 1; the coins are few."""
    rng = random.Random(seed)
    n, draws = rng.randrange(2, 40), rng.randrange(1, 30)
    most = min(draws, rng.randrange(1, 12))
    weights = chances(n, draws, most)[0]
    m = told_draws(Gaussian(1), weights, min(Fraction(1, 7), weights[0] / 2))
    parts = [(Fraction(1), m)]
    while any(isinstance(part, Either) for _, part in parts):
        parts = [
            pair
            for share, part in parts
            for pair in (
                ((share * part.share, part.first), (share * (1 - part.share), part.second))
                if isinstance(part, Either)
                else ((share, part),)
            )
        ]
    assert sum(share for share, _ in parts) == 1
    assert tuple(share * part.gamma for share, part in parts) == weights[1:]
    assert [part.mechanism.sensitivity for _, part in parts] == list(range(1, most + 1))


@pytest.mark.parametrize(("n", "size", "draws"), [(3, 2, 3), (8, 2, 1), (5, 4, 2)])
def test_a_group_is_bounded_from_the_size_that_its_last_step_starts_from(n, size, draws):
    """A record of more has a smaller rate; a group leaves by steps of ever larger ones."""
    steps = [sample_with_replacement(Gaussian(4), n - i, draws) for i in range(size)]
    for alpha in (Fraction(3, 2), 3):
        curves = [step.rdp(alpha, digits=12) for step in steps]
        assert all(one.upper < after.lower for one, after in pairwise(curves))
        law = sums((1,) * size + (0,) * (n - size), draws)
        truth = max(divergence(law, {0: 1}, 4, alpha), divergence({0: 1}, law, 4, alpha))
        assert truth <= GroupPrivacy(steps[-1], size).rdp(alpha, digits=12).upper


@pytest.mark.parametrize(("n", "draws", "most"), [(9, 4, 2), (100, 30, 5), (60000, 256, 4)])
def test_what_is_rounded_goes_to_more_draws(n, draws, most):
    exactly = exact_chances(n, draws)
    kept, (found, lost) = sum(exactly[: most + 1]), chances(n, draws, most)
    above = Fraction(0)
    for share, chance in list(zip(found, exactly, strict=False))[:0:-1]:
        above += share - chance / kept
        assert 0 <= above <= exactly[most] / kept / 10**18
    assert sum(found) == 1
    assert 1 - kept <= lost <= (1 - kept) * (1 + Fraction(1, 10**5))


def one_step(n, draws, sigma, epsilon):
    """δ(ε) of the mixture against noise, P/Q rising, and of noise against the mixture."""
    weights, e = [number(w) for w in exact_chances(n, draws)], MP.exp(epsilon)

    def ratio(x):
        return MP.fsum(w * MP.exp((j * x - MP.mpf(j) ** 2 / 2) / sigma**2) for j, w in
                       enumerate(weights))  # fmt: skip

    def crossing(level):
        low, high = MP.mpf(-200), MP.mpf(200)
        for _ in range(160):
            middle = (low + high) / 2
            low, high = (middle, high) if ratio(middle) < level else (low, middle)
        return low

    def below(x):
        return MP.fsum(w * MP.ncdf((x - j) / sigma) for j, w in enumerate(weights))

    removed = 1 - below(crossing(e)) - e * MP.ncdf(-crossing(e) / sigma)
    if weights[0] * e >= 1:  # noise is never e^ε times as likely
        return removed
    x = crossing(1 / e)
    return max(removed, MP.ncdf(x / sigma) - e * below(x))


@pytest.mark.parametrize(("n", "draws", "sigma"), [(50, 4, 2), (200, 12, 1), (9, 6, 3)])
def test_what_it_spends_covers_a_step_by_all_of_its_draws(n, draws, sigma):
    for delta in ("1e-3", "1e-6"):
        found = with_replacement(delta, sigma, n, draws, digits=12).epsilon
        assert found.claim.kind is Kind.UPPER
        truth = one_step(n, draws, sigma, number(independent.fraction(found.upper)))
        assert truth <= number(Fraction(delta))
        assert one_step(n, draws, sigma, found.upper / 6) > number(Fraction(delta))


def test_steps_and_relations():
    """About as dear as samples of fixed size; the curve of all draws asks for far more."""
    spent = with_replacement("1e-6", 4, 60_000, 256, 20_000).epsilon
    fixed = 20_000 * SubsampleWithoutReplacement(Gaussian(4), Fraction(256, 60_000), "add_remove")
    bound = fixed.epsilon("1e-6", digits=6, conversion="improved").epsilon
    assert bound.lower <= spent.lower <= spent.upper <= bound.upper * 1.01
    drawn = sample_with_replacement(Gaussian(2), 1000, 15)
    all_draws = drawn.epsilon("1e-6", digits=4, conversion="improved")
    assert with_replacement("1e-6", 2, 1000, 15).epsilon.upper < all_draws.epsilon.lower / 2


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        (lambda: sample_with_replacement(Laplace(1), 9, 3), DomainError, "needed Gaussian noise"),
        (
            lambda: sample_with_replacement(MatrixMechanism([[1]], 2), 9, 3),
            DomainError,
            "one query",
        ),
        (lambda: sample_with_replacement(Gaussian(1), 1, 3), DomainError, "n: found 1"),
        (lambda: sample_with_replacement(Gaussian(1), 9, 0), DomainError, "batch: found 0"),
        (lambda: sample_with_replacement(Gaussian(1), 9, 10**30), LimitError, "terms"),
        (lambda: sample_with_replacement(Gaussian(1), 9, 3, "either"), AdjacencyError, "needed"),
        (lambda: with_replacement(0, 1, 9, 3), DomainError, "delta > 0"),
        (lambda: with_replacement("1e-6", 1, 9, 10**9), DomainError, "needed fewer"),
        (lambda: with_replacement("1e-6", 1, 9, 3, 0), DomainError, "steps: found 0"),
        (lambda: with_replacement("1e-6", 1, 10**13, 3), DomainError, "n, batch: found"),
        (lambda: with_replacement("1e-6", 1, 9, 10**300), DomainError, "n, batch: found"),
        (lambda: with_replacement("1e-6", 1, 10**6, 10**12), DomainError, "needed fewer"),
    ],
)
def test_bad_input_is_one_typed_error(asked, error, said):
    with pytest.raises(error, match=said):
        asked()


# --- unequal weights


def weighted_sums(values, draws):
    """The law of the sum of so many draws of values with weights, which need not sum to 1."""
    whole = sum(weight for _, weight in values)
    law = {0: Fraction(1)}
    for _ in range(draws):
        after = {}
        for total, chance in law.items():
            for x, weight in values:
                after[total + x] = after.get(total + x, 0) + chance * Fraction(weight) / whole
        law = after
    return law


@covering()
@pytest.mark.parametrize("draws", [1, 3])
@pytest.mark.parametrize("weight", [1, 3])
@pytest.mark.parametrize("others", [((-1, 2), (-1, 1)), ((-1, 3), (1, 1))])
def test_no_record_exceeds_the_most_likely_one(others, weight, draws):
    """A record of any weight up to the largest, removed, or replaced by one of another weight."""
    with_it = [*others, (1, weight)]
    share = max(Fraction(w, sum(w for _, w in with_it)) for _, w in with_it)
    replacing = [*others, (-1, 1)]
    larger = max(share, *(Fraction(w, sum(w for _, w in replacing)) for _, w in replacing))
    laws = [weighted_sums(x, draws) for x in (with_it, others, replacing)]
    for relation, other, most in (("add_remove", laws[1], share), ("replace_one", laws[2], larger)):
        bound = sample_with_replacement(Gaussian(3, 2), 3, draws, relation, largest_share=most)
        truth = max(divergence(laws[0], other, 3, 3), divergence(other, laws[0], 3, 3))
        assert truth <= bound.rdp(3, digits=15).upper * (1 + COARSE.mpf(10) ** -12)


def test_the_most_likely_record_attains_it():
    others, draws = ((-1, 1), (-1, 1)), 3
    laws = [weighted_sums(x, draws) for x in ((*others, (1, 3)), others)]
    bound = sample_with_replacement(Gaussian(3, 2), 3, draws, largest_share="3/5")
    assert bound.claim.kind is Kind.EXACT
    truth = max(divergence(*laws, 3, 3), divergence(*laws[::-1], 3, 3))
    assert abs(bound.rdp(3, digits=15).lower / truth - 1) <= COARSE.mpf(10) ** -12


def test_a_share_is_that_of_equal_weights_or_costs_more():
    equal = sample_with_replacement(Gaussian(3), 50, 4)
    assert sample_with_replacement(Gaussian(3), 50, 4, largest_share="1/50") is equal
    shares = [sample_with_replacement(Gaussian(3), 50, 4, largest_share=f"{k}/50") for k in (2, 9)]
    values = [m.rdp(5, digits=10) for m in (equal, *shares)]
    assert all(less.upper < more.lower for less, more in pairwise(values))


@pytest.mark.parametrize("wrong", ["1/51", 0, 1, "sqrt(2)/9", "x"])
def test_a_share_that_no_largest_one_is(wrong):
    with pytest.raises(DomainError, match="largest_share"):
        sample_with_replacement(Gaussian(3), 50, 4, largest_share=wrong)


def test_a_record_that_hardly_ever_is_not_drawn():
    """P[J = 0] is far below the last digit of the other chances, and rounded down to 0."""
    kept, lost = chances(2000, 104_000, 53)
    assert kept[0] == 0
    assert sum(kept) == 1
    assert lost < Fraction(1, 2)
    assert with_replacement("1/2", 200, 2000, 104_000).epsilon.lower > 0
