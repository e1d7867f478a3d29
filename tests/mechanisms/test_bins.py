"""Balls in bins: the pair by other means, adversaries that adapt, and what follows."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from symacct import (
    AdjacencyError,
    BallsInBins,
    DomainError,
    Gaussian,
    Kind,
    MatrixMechanism,
    PoissonSubsample,
    RandomAllocation,
    from_json,
    limits,
    parse,
)
from symacct.export.description import describe
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.errors import LimitError
from symacct.mechanisms import bins
from tests import independent

MP = independent.context(40)
HALVES = (1, "1/2", "1/4", "1/8")
#: HALVES with columns of norm 1, and the noise 3.
NOISE = 3 * sympy.sqrt(sympy.Rational(85, 64))


def agree(found, truth):
    """Are these the same digits, all but the last few of an enclosure?"""
    return abs(found.upper - truth.upper) <= truth.upper * MP.mpf(10) ** -20


def toeplitz(column, steps):
    """Lower triangular, with these on its diagonals."""
    numbers = [Fraction(x) for x in column] + [Fraction(0)] * steps
    return [[numbers[i - j] if j <= i else Fraction(0) for j in range(steps)] for i in range(steps)]


def means_of(rows, count):
    """The means of the places, by adding up the columns of |C|."""
    columns = [[abs(Fraction(x)) for x in column] for column in zip(*rows, strict=True)]
    return [
        [sum(entries, Fraction(0)) for entries in zip(*columns[i::count], strict=True)]
        for i in range(count)
    ]


def gram_of(rows, count):
    means = means_of(rows, count)
    return [[sum(x * y for x, y in zip(a, b, strict=True)) for b in means] for a in means]


SHAPES = [(HALVES, 10, 3), (HALVES, 3, 4), (HALVES, 5, 1), ((1, "-1/3", 0, "2/5"), 6, 2)]
SHAPES += [((1, "1/2", "3/8", "5/16", "35/128"), 5, 1), ((2, "1/5"), 1, 4), (("1/7",), 4, 2)]


@pytest.mark.parametrize(("column", "count", "epochs"), SHAPES)
def test_the_shifts_are_those_of_the_added_columns(column, count, epochs):
    """By a row's largest entries at each distance or more, and the means over all places."""
    rows = toeplitz(column, count * epochs)
    gram = gram_of(rows, count)
    shifts = BallsInBins(column, 2, count, epochs).shifts
    pairs = list(itertools.product(range(count), repeat=2))
    for d, most in enumerate(shifts.within):
        apart = (p for p in pairs if min(abs(p[0] - p[1]), count - abs(p[0] - p[1])) >= d)
        assert most == max(gram[i][j] for i, j in apart)
    assert len(shifts.within) == count // 2 + 1
    assert shifts.mean == sum(gram[i][i] for i in range(count)) / Fraction(count)
    assert shifts.mean_square == sum(map(sum, gram)) / Fraction(count) ** 2
    assert BallsInBins(rows, 2, count, epochs).shifts == shifts


@pytest.mark.parametrize("alpha", [2, 3, "7/2", 8, 30])
def test_without_a_matrix_it_is_random_allocation(alpha):
    alone, allocated = BallsInBins([1], 2, 100), RandomAllocation(Gaussian(2), 100)
    whole = Fraction(alpha).denominator == 1
    truth, found = allocated.rdp(alpha), alone.rdp(alpha)
    assert agree(found, truth) if whole else truth.lower <= found.upper <= truth.upper * 1.1


def test_without_a_matrix_it_has_the_profile_of_random_allocation():
    found, truth = (
        m.epsilon("1e-5", conversion="exact")
        for m in (BallsInBins([1], 2, 100), RandomAllocation(Gaussian(2), 100))
    )
    assert agree(found.epsilon, truth.epsilon)
    assert found.kind is Kind.UPPER


@pytest.mark.parametrize("alpha", [1, "5/2", 7])
def test_one_bin_is_the_matrix_mechanism_with_the_record_in_all_steps(alpha):
    rows = toeplitz(HALVES, 9)
    in_all = MatrixMechanism(rows, 3, participations=9)
    for strategy in (rows, HALVES):
        assert agree(BallsInBins(strategy, 3, 1, 9).rdp(alpha), in_all.rdp(alpha))
    found = BallsInBins(HALVES, 3, 1, 9).epsilon("1e-5", conversion="exact")
    assert agree(found.epsilon, in_all.epsilon("1e-5", conversion="exact").epsilon)


@pytest.mark.parametrize(
    ("column", "count", "epochs", "sigma"),
    [
        (HALVES, 5, 2, 3),
        ((1, "1/2"), 6, 1, 1),
        ((1, "1/2", "3/8", "5/16"), 4, 1, 2),
        ((1, "-1/2", "1/3"), 5, 1, 2),
    ],
)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_moments_bound_the_mean_over_all_draws_of_places(column, count, epochs, sigma, n):
    """E[W̄^n] of the places' own means, each n places drawn one by one; nearly attained."""
    gram = gram_of(toeplitz(column, count * epochs), count)
    total = sum(
        MP.exp(
            sum(independent.number(MP, gram[i][j]) for i, j in itertools.combinations(draw, 2))
            / sigma**2
        )
        for draw in itertools.product(range(count), repeat=n)
    )
    truth = MP.log(total / count**n)
    with precision(100):
        bound = bins._Bound(BallsInBins(column, sigma, count, epochs).shifts, Fraction(sigma) ** 2)
        value = float(bound.log_moment(n).upper())
    assert float(truth) <= value * (1 + 1e-12)
    assert value <= 1.3 * float(truth)


# --- two places, in the plane

#: The trapezoidal rule of this step on [−9, 9]² is right to many digits for noise of 1.
STEP = 0.06
LINE = np.arange(-9, 9 + STEP / 2, STEP)
MASS = np.exp(-(LINE**2) / 2) * STEP / math.sqrt(2 * math.pi)


def ratio_of(moves, y0, y1):
    """N(moves, 1) to N(0, 1) at the two rows."""
    return np.exp(moves[0] * y0 + moves[1] * y1 - (moves[0] ** 2 + moves[1] ** 2) / 2)


def mean_ratio(first, second):
    y0, y1 = LINE[:, None], LINE[None, :]
    return (ratio_of(first, y0, y1) + ratio_of(second, y0, y1)) / 2


def expected(values):
    return float(MASS @ values @ MASS)


@pytest.mark.parametrize(("own", "later"), [(1, "1/2"), ("3/2", "1"), (1, "0")])
def test_of_two_places_both_directions_by_quadrature(own, later):
    """The curve and the profile are above D_α and H of the pair, either way round."""
    m = BallsInBins([own, later], 1, 2)
    a, c = float(Fraction(own)), float(Fraction(later))
    ratio = mean_ratio((a, c), (0, a))
    for alpha in (1.5, 2, 3, 6):
        removed, added = (
            math.log(expected(ratio**power)) / (alpha - 1) for power in (alpha, 1 - alpha)
        )
        found = float(m.rdp(Fraction(alpha), digits=8).upper)
        assert max(removed, added) <= found * (1 + 1e-9)
        assert found <= 1.7 * max(removed, added)
    for epsilon in (0.25, 1.0, 2.0):
        top = math.exp(epsilon)
        truth = max(expected(np.maximum(f, 0)) for f in (ratio - top, 1 - top * ratio))
        for conversion in ("exact", "improved"):
            found = m.delta(Fraction(epsilon), 3, conversion).delta
            assert truth <= float(found.upper) * (1 + 1e-6)
            assert float(found.upper) <= 8 * truth


@pytest.mark.parametrize("later", [0.5, 1.0, -0.7])
@pytest.mark.parametrize("top", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("is_added", [False, True])
def test_no_adversary_that_adapts_does_better_than_one_vector(later, top, is_added):
    """A record's second vector may depend on the first output, here on each point of the rule.

    Both vectors are numbers of a grid; the best choice at each output is taken, for any C of two
    rows. The one vector is of the pair with |C|.
    """

    def stick(ratio):
        return np.maximum(1 - top * ratio if is_added else ratio - top, 0)

    choices = np.linspace(-1, 1, 9)
    best = 0.0
    for first in choices:
        of_first = ratio_of((first, later * first), LINE[:, None], LINE[None, :])
        given = [stick((of_first + ratio_of((0, x), 0, LINE)[None, :]) / 2) @ MASS for x in choices]
        best = max(best, float(MASS @ np.max(given, axis=0)))
    fixed = expected(stick(mean_ratio((1, abs(later)), (0, 1))))
    assert best <= fixed * (1 + 1e-9)
    if later > 0:
        assert best >= fixed * (1 - 1e-9)


def float_gram(column, count, epochs):
    """The means' products in float64, of numbers >= 0 on the diagonals."""
    steps = count * epochs
    strategy = sum(float(Fraction(x)) * np.eye(steps, k=-d) for d, x in enumerate(column))
    means = np.stack([strategy[:, i::count].sum(axis=1) for i in range(count)])
    return means @ means.T


def losses(gram, sigma, draws, seed):
    """Losses of the pair: of draws with the record, and the negative ones of draws without it."""
    chosen = np.random.default_rng(seed)
    gram = gram / sigma**2
    w, v = np.linalg.eigh(gram)
    x = chosen.normal(size=(draws, len(gram))) @ (v * np.sqrt(np.maximum(w, 0))).T
    x -= np.diag(gram) / 2
    moved = x + gram[chosen.integers(len(gram), size=draws)]
    return [
        sign * (np.logaddexp.reduce(each, axis=1) - math.log(len(gram)))
        for each, sign in ((moved, 1), (x, -1))
    ]


@pytest.mark.parametrize(
    ("count", "delta", "simulated", "most"),
    [(10, 1e-3, 1.769, 2.14), (10, 1e-5, 2.74, 3.11), (100, 1e-3, 0.507, 0.80)],
)
def test_ten_epochs_of_four_bands(count, delta, simulated, most):
    """Less than half way from the simulated pair to what is known without a secret place."""
    m = BallsInBins(HALVES, NOISE, count, 10)
    with limits(seconds=60):
        found = m.epsilon(str(delta), 4)
    assert simulated < found.epsilon.lower
    assert found.epsilon.upper < most
    assert found.kind is Kind.UPPER
    of_pair = losses(float_gram(HALVES, count, 10), float(NOISE), 20_000, 1)
    epsilon = float(found.epsilon.upper)
    assert all(np.mean(np.maximum(1 - np.exp(epsilon - x), 0)) < delta for x in of_pair)


def test_the_curve_rises_in_the_order_and_falls_in_the_noise_and_the_bins():
    orders = [1, "33/32", "9/8", "3/2", 2, "5/2", 3, "11/2", 9, 40, 41, 100]
    curve = [BallsInBins(HALVES, NOISE, 20, 4).rdp(alpha, digits=5).upper for alpha in orders]
    assert curve == sorted(curve)
    for several in (
        [BallsInBins(HALVES, sigma, 20, 4) for sigma in ("1/2", 2, 4, 40)],
        [BallsInBins(HALVES, 3, count, 4) for count in (1, 4, 40, 400)],
        [BallsInBins(HALVES, 3, 20, epochs) for epochs in (9, 4, 1)],
    ):
        values = [m.rdp(4, digits=5).upper for m in several]
        assert values == sorted(values, reverse=True)


def test_no_value_is_above_that_with_the_place_revealed():
    for m in (BallsInBins(HALVES, "1/10", 8, 3), BallsInBins([[1] * 4] * 3, 2, 4)):
        for alpha in (1, 2, 7, 39, 40, "81/2", 1000):
            told = Fraction(alpha) * m.shifts.within[0] / m.sigma**2 / 2
            assert float(m.rdp(alpha).upper) <= told * (1 + 1e-12)


def test_places_that_are_all_the_same_are_one_gaussian():
    """C of one row of ones: whatever the place, the sum moves by the same."""
    m = BallsInBins([[1] * 6], 2, 3, 2)
    same = Gaussian(2, 2)
    assert agree(m.rdp(3), same.rdp(3))
    found = m.epsilon("1e-5", conversion="exact").epsilon
    assert agree(found, same.epsilon("1e-5", conversion="exact").epsilon)


def test_dense_matrices_and_wide_bands():
    """√-Toeplitz: far places have something in common, and all of it is in the answer."""
    root = [Fraction(math.comb(2 * k, k), 4**k) for k in range(64)]
    m = BallsInBins(root, 4, 64)
    assert float(m.rdp(4).upper) < 0.6 * float(m.shifts.within[0]) * 4 / 32
    epsilon = float(m.epsilon("1e-3", 4).epsilon.upper)
    of_pair = losses(float_gram(root, 64, 1), 4, 20_000, 2)
    assert all(np.mean(np.maximum(1 - np.exp(epsilon - x), 0)) < 1e-3 for x in of_pair)


def test_a_sum_with_other_mechanisms_and_a_sample():
    m = BallsInBins(HALVES, NOISE, 10, 2)
    both = m + Gaussian(3)
    parts = [one.rdp(3, digits=8) for one in (m, Gaussian(3))]
    assert parts[0].upper < both.rdp(3, digits=8).lower <= sum(part.upper for part in parts)
    assert both.epsilon("1e-5", 4).epsilon.upper < (
        m.epsilon("1e-5", 4).epsilon.upper + Gaussian(3).epsilon("1e-5", 4).epsilon.upper
    )
    assert PoissonSubsample(m, "1/10").rdp(3, digits=8).upper < parts[0].upper


def test_a_record_zeroed_out_costs_what_one_removed_costs():
    removed, zeroed = (
        BallsInBins(HALVES, 3, 10, 2, adjacency) for adjacency in ("add_remove", "zero_out")
    )
    assert removed.rdp(4).upper == zeroed.rdp(4).upper
    assert str(zeroed.adjacency) == "zero_out"
    assert "zeroed out" in " ".join(zeroed._premises_for(zeroed.adjacency.relation))
    with pytest.raises(AdjacencyError, match="found adjacency replace_one"):
        BallsInBins(HALVES, 3, 10, 2, "replace_one")


@pytest.mark.parametrize(
    "m",
    [
        BallsInBins(HALVES, 3, 10, 2),
        BallsInBins([[1, 0], ["1/2", 1]], sympy.sqrt(2), 2, adjacency="zero_out"),
        BallsInBins([2], "1/3", 7),
    ],
    ids=repr,
)
def test_text_and_json_give_it_back(m):
    assert parse(repr(m)) is m
    assert from_json(m.to_json()) is m
    assert f"of {m.bins} steps" in describe(m)


@pytest.mark.parametrize(
    ("told", "match"),
    [
        (([], 1, 2), "strategy"),
        (([1, 2, 3], 1, 2), "found 3 diagonals, needed at most the 2 steps"),
        (([[1, 0, 0]], 1, 2), "found rows of 3"),
        (([[1, 0], [1]], 1, 2), "rows of one length"),
        (([0], 1, 2), "not all 0"),
        (([sympy.sqrt(2)], 1, 2), "rational"),
        (([1], 0, 2), "sigma"),
        (([1], 1, 0), "bins"),
        (([1], 1, 2, 0), "epochs"),
        (([1], 1, 10**4, 10**4), "steps"),
        ((5, 1, 2), "strategy"),
    ],
)
def test_other_parameters_are_refused(told, match):
    with pytest.raises(DomainError, match=match):
        BallsInBins(*told)


def test_symbols_have_the_formula_as_if_the_place_were_revealed():
    sigma, alpha = sympy.Symbol("sigma", positive=True), sympy.Symbol("alpha", positive=True)
    m = BallsInBins([1, "1/2"], sigma, 4)
    formula = m.formula(alpha)
    assert sympy.simplify(formula - alpha * sympy.Rational(5, 8) / sigma**2) == 0
    assert m.subs({"sigma": 2}) is BallsInBins([1, "1/2"], 2, 4)


def test_orders_beyond_the_last_one_are_refused_by_the_moments():
    bound = bins._Bound(BallsInBins([1], 2, 4).shifts, Fraction(4))
    for alpha in (41, Fraction(81, 2)):
        with pytest.raises(LimitError, match="needed at most 40"):
            bound(alpha)
