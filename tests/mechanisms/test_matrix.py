"""The matrix mechanism: its sensitivity by other means, single trees, and what follows."""

import itertools
import math
import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

from symacct import (
    AdjacencyError,
    AssumptionError,
    Compose,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Kind,
    LimitError,
    MatrixMechanism,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    TreeAggregation,
)
from symacct.interop import floats, from_dp_event
from symacct.mechanisms import matrix
from symacct.mechanisms.matrix import squared_sensitivity
from tests import independent
from tests.support import holds

MP = independent.context(60)


def drawn(seed, steps, lowest=-6):
    """A lower triangular strategy of small fractions."""
    draw = random.Random(seed)
    return tuple(
        tuple(
            Fraction(draw.randint(lowest, 6), 6) if j < i else Fraction(i == j)
            for j in range(steps)
        )
        for i in range(steps)
    )


def sets(steps, most, apart):
    """By trying all sets of steps."""
    for size in range(1, most + 1):
        for s in itertools.combinations(range(steps), size):
            if all(b - a >= apart for a, b in itertools.pairwise(s)):
                yield s


def by_signs(rows, most, apart):
    """The largest squared norm of a sum of columns with signs, exact where no entry is < 0."""
    best = Fraction(0)
    for s in sets(len(rows[0]), most, apart):
        for signs in itertools.product((1, -1), repeat=len(s)):
            moved = [sum(sign * row[t] for sign, t in zip(signs, s, strict=True)) for row in rows]
            best = max(best, sum(x * x for x in moved))
    return best


def by_vectors(rows, s):
    """max ‖Σ C_t ⊗ x_t‖² over unit vectors, each turned in its turn, in floating point."""
    gram = np.array(rows, dtype=float).T @ np.array(rows, dtype=float)
    gram = gram[np.ix_(s, s)]
    best = 0.0
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=(len(s), len(s)))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        for _ in range(60):
            for i in range(len(s)):
                pull = gram[i] @ x - gram[i, i] * x[i]
                x[i] = pull / np.linalg.norm(pull) if np.linalg.norm(pull) > 1e-12 else x[i]
        best = max(best, float(np.trace(gram @ x @ x.T)))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_the_sensitivity_is_the_largest_move_of_any_set_of_steps(seed):
    """With entries >= 0 signs change nothing; with others a bound, exact where so stated."""
    most, apart = 1 + seed % 4, 1 + seed % 3
    plain, signed = drawn(seed, 5, lowest=0), drawn(seed, 5)
    assert squared_sensitivity(plain, most, apart) == (by_signs(plain, most, apart), True)
    square, attained = squared_sensitivity(signed, most, apart)
    largest = max(by_vectors(signed, list(s)) for s in sets(5, most, apart))
    assert square >= Fraction(largest) * (1 - Fraction(1, 10**9))
    assert square >= by_signs(signed, most, apart)
    if attained:
        assert square == by_signs(signed, most, apart)


def test_signs_that_do_not_fit_together_leave_a_bound():
    """Three columns at 120° cannot all be pulled the same way by numbers, nor quite by vectors."""
    rows = [[1, "-1/2", "-1/2"], [0, "7/8", "-7/8"]]
    m = MatrixMechanism(rows, 2, participations=3)
    assert m.claim.kind is Kind.UPPER
    assert m.sensitivity**2 > by_vectors([[Fraction(x) for x in row] for row in rows], [0, 1, 2])
    for sampled in (PoissonSubsample(m + m, "1/10"), SubsampleWithoutReplacement(m, "1/10")):
        assert sampled.claim.kind is Kind.UPPER
    assert GroupPrivacy(m, 2).claim.kind is Kind.UPPER
    assert m.epsilon("1e-5", conversion="exact").kind is Kind.UPPER
    assert m.lower_epsilon("1e-5").upper == 0
    assert MatrixMechanism(rows, 2, participations=2).claim.kind is Kind.EXACT


@pytest.mark.parametrize("seed", range(8))
def test_where_there_are_too_many_sets_the_bound_by_rows_is_no_less(seed, monkeypatch):
    rows, most, apart = drawn(seed, 7, lowest=-3), 2 + seed % 3, 1 + seed % 2
    exact, _ = squared_sensitivity(rows, most, apart)
    monkeypatch.setattr(matrix, "_MOST_PATTERNS", 0)
    bound, attained = squared_sensitivity(rows, most, apart)
    assert bound >= exact
    assert bound == exact or not attained


def test_steps_whose_columns_do_not_meet_are_added_one_by_one(monkeypatch):
    """A band no wider than the separation: the bound by rows is attained, whatever the number."""
    draw = random.Random(5)
    column = [Fraction(draw.randint(1, 9), 9) for _ in range(40)]
    rows = [[column[j] if 0 <= i - j < 4 else 0 for j in range(40)] for i in range(40)]
    monkeypatch.setattr(matrix, "_MOST_PATTERNS", 0)
    m = MatrixMechanism(rows, 1, participations=5, separation=4)
    norms = [sum(row[j] ** 2 for row in rows) for j in range(40)]
    assert m.claim.kind is Kind.EXACT
    assert m.sensitivity**2 == max(sum(norms[t] for t in s) for s in spread(40, 5, 4))


def spread(steps, count, apart):
    """The sets of so many steps, by the room that is left between them."""
    for s in itertools.combinations(range(steps - (count - 1) * (apart - 1)), count):
        yield [t + i * (apart - 1) for i, t in enumerate(s)]


def toeplitz(coefficients):
    """Lower triangular, with these on its diagonals."""
    n = range(len(coefficients))
    return tuple(tuple(coefficients[i - j] if j <= i else Fraction(0) for j in n) for i in n)


@pytest.mark.parametrize("seed", range(12))
def test_of_one_response_to_each_step_the_worst_need_not_be_the_first(seed):
    """Toeplitz, coefficients >= 0: later pairs count for less, farther ones may count for more."""
    draw = random.Random(seed)
    column = [Fraction(draw.choice((0, 0, 1, 2, 3)), 3) for _ in range(6)]
    column[0] = Fraction(1)
    most, apart = 2 + seed % 2, 1 + seed % 3
    found = squared_sensitivity(toeplitz(column), most, apart)
    assert found == (by_signs(toeplitz(column), most, apart), True)


def test_by_rows_one_direction_for_all_steps_is_exact(monkeypatch):
    """C of one row: any set of k steps moves it by its sum, here k − 1 ones and the last, a two."""
    monkeypatch.setattr(matrix, "_MOST_PATTERNS", 0)
    for most in (1, 2, 3, 5):
        rows = ((*[Fraction(1)] * 11, Fraction(2)),)
        assert squared_sensitivity(rows, most, 2) == ((most + 1) ** 2, True)


def test_falling_coefficients_have_their_worst_steps_first():
    """Roots of the matrix of all ones: C(2k, k)/4^k; the set 0, b, 2b, … is the worst."""
    root = [Fraction(math.comb(2 * k, k), 4**k) for k in range(60)]
    rows = [[root[i - j] if j <= i else 0 for j in range(60)] for i in range(60)]
    m = MatrixMechanism(rows, 1, participations=6, separation=9)
    moved = [sum(root[i - t] for t in range(0, 54, 9) if t <= i) for i in range(60)]
    assert m.claim.kind is Kind.EXACT
    assert m.sensitivity**2 == sum(x * x for x in moved)


@pytest.mark.parametrize("seed", range(4))
def test_the_curve_against_the_gaussian_of_that_norm(seed):
    draw = random.Random(seed)
    sigma, alpha = Fraction(draw.randint(3, 40), 7), Fraction(draw.randint(11, 90), 10)
    rows = drawn(seed, 4)
    m = MatrixMechanism(rows, sigma, 2, 2)
    value = independent.matrix(MP, alpha, rows, sigma, 2, 2)
    assert holds(m.rdp(alpha), value, 30, trusted=50)
    steps = draw.randint(1, 10**6)
    value = independent.number(MP, alpha * len(bin(steps)[2:])) / (
        2 * independent.number(MP, sigma) ** 2
    )
    assert holds(TreeAggregation(sigma, steps).rdp(alpha), value, 30, trusted=50)


@pytest.mark.parametrize("steps", [*range(1, 10), 16, 17])
def test_a_tree_is_the_matrix_of_its_nodes(steps):
    """A row for each whole node of the binary tree over the steps."""
    nodes = [
        [int(start <= t < start + size) for t in range(steps)]
        for size in (2**k for k in range(steps.bit_length()))
        for start in range(0, steps - size + 1, size)
    ]
    assert TreeAggregation(3, steps).sensitivity == MatrixMechanism(nodes, 3).sensitivity


def test_no_strategy_is_composition_of_steps():
    """The identity, one step: one Gaussian; n steps of one record: n of them."""
    identity = [[int(i == j) for j in range(4)] for i in range(4)]
    assert MatrixMechanism(identity, 5).sensitivity == 1
    assert MatrixMechanism(identity, 5, 4).sensitivity == 2


@pytest.mark.parametrize(
    "m", [MatrixMechanism([[1, 0], ["1/2", 1]], 4), TreeAggregation(4, 5)], ids=repr
)
def test_exact_profile_and_sampling(m):
    same = Gaussian(4, m.sensitivity)
    found, expected = (one.delta(1, conversion="exact").delta for one in (m, same))
    assert (found.lower, found.upper) == (expected.lower, expected.upper)
    whole = PoissonSubsample(m, "1/9").rdp("5/2")
    assert whole.upper == PoissonSubsample(same, "1/9").rdp("5/2").upper
    batch = SubsampleWithoutReplacement(m, "1/9")
    assert batch.rdp("5/2").lower >= SubsampleWithoutReplacement(same, "1/9").rdp("5/2").lower
    with pytest.raises(AssumptionError, match="one query, fixed beforehand"):
        batch.rdp("5/2", by="TRIPLE-GAUSSIAN")


def test_dp_accounting_s_single_trees():
    event = SimpleNamespace
    tree = type("SingleEpochTreeAggregationDpEvent", (event,), {})
    for counts in (7, [3, 7], (7, 7)):
        read = from_dp_event(tree(noise_multiplier=2.5, step_counts=counts), "replace_special")
        assert read is TreeAggregation("5/2", 7)
    twice = from_dp_event(tree(noise_multiplier=2.5, step_counts=7), "replace_one")
    assert twice is TreeAggregation("5/4", 7)
    with pytest.raises(AdjacencyError, match="found add_remove"):
        from_dp_event(tree(noise_multiplier=2.5, step_counts=7))
    for counts in ([], 0):
        nothing = tree(noise_multiplier=2.5, step_counts=counts)
        assert from_dp_event(nothing, "replace_special") is Compose()
    for counts in ([3, -1], "x", 2.5):
        with pytest.raises(DomainError, match="step_counts"):
            from_dp_event(tree(noise_multiplier=2.5, step_counts=counts), "replace_special")


@pytest.mark.parametrize("square", [2, 3, Fraction(1, 7), 10**30 + 1, Fraction(1, 10**40 + 3)])
def test_a_root_is_rounded_to_the_float_below(square):
    """Of a sensitivity that is a root: the event's noise is the largest float that is no more."""
    found = floats.noise_multiplier(Fraction(5), sympy.sqrt(sympy.Rational(square)), "test")
    root = Fraction(25) / square
    assert Fraction(found) ** 2 <= root < Fraction(math.nextafter(found, math.inf)) ** 2


def test_large_matrices_are_refused():
    with pytest.raises(LimitError, match="entries"):
        MatrixMechanism([[1] * 101] * 101, 1)


def test_compositions_stay_within_their_kind():
    upper = MatrixMechanism([[1, "-1/2", "-1/2"], [0, "7/8", "-7/8"]], 2, 3)
    assert Compose(upper, Gaussian(1)).claim.kind is Kind.UPPER


def test_the_second_step_may_choose_another_triangle():
    """Of two steps on one sample of a fixed size, by the trapezoid rule in the plane: no one query

    of both costs as much as means of the second that are chosen by what the first told.
    """
    alpha, gamma, h = 5, Fraction(1, 320), 0.4
    plane = np.stack(np.meshgrid(np.arange(-6, 11, h), np.arange(-7, 8, h)), -1).reshape(-1, 2)
    weights = np.exp(-(plane**2).sum(axis=1) / 2) * h**2 / (2 * math.pi)
    ahead, aside, still = np.array([1, 0]), np.array([0.5, math.sqrt(0.75)]), np.zeros(2)

    def ratio(mean):
        return np.exp(plane @ mean - mean @ mean / 2)

    def largest(x, y):
        """E[m^α n^{1−α}] − 1 after the ratios x and y, where the other record stays or goes."""
        m = 1 + float(gamma) * (x * ratio(8 / 7 * ahead) - 1)
        others = (1 + float(gamma) * (y * ratio(8 / 7 * b) - 1) for b in (still, aside))
        return max(weights @ ((m / n) ** alpha * n - 1) for n in others)

    first = zip(ratio(6 / 7 * ahead), ratio(6 / 7 * aside), strict=True)
    chosen = weights @ [largest(x, y) for x, y in first]
    fixed, steps = (
        SubsampleWithoutReplacement(m, gamma)
        for m in (Gaussian("7/10"), MatrixMechanism([[3, 0], [0, 4]], "7/2", 2))
    )
    assert fixed.rdp(alpha).claim.kind is Kind.EXACT
    assert math.expm1(4 * float(fixed.rdp(alpha).upper)) < 0.95 * chosen
    assert chosen < math.expm1(4 * float(steps.rdp(alpha).upper))
