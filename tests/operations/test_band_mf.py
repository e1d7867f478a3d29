"""BandMF: the divergence of all patterns of samples, JAX Privacy's rounds, bad input."""

import itertools
import random
import re
from collections import Counter
from fractions import Fraction

import pytest

import symacct
from symacct import (
    AdjacencyError,
    BallsInBins,
    DomainError,
    Gaussian,
    Kind,
    LimitError,
    PoissonSubsample,
    PostProcess,
    band_mf,
)
from symacct.kernel.errors import RoundedWarning
from tests import independent
from tests.support import holds
from tests.thinning import covering, some

MP = independent.context(50)
RUN = {"n": 100, "batch_size": 10, "noise_multiplier": 2}


def drawn(seed, steps, bands):
    """A lower triangular strategy with so many diagonals."""
    draw = random.Random(seed)
    return [
        [Fraction(draw.randint(-3, 6), 4) if 0 <= i - j < bands else 0 for j in range(steps)]
        for i in range(steps)
    ]


def divergence(alpha, rows, gamma, sigma, steps):
    """D_α of the mixture over all samples of a record in these steps, α whole, by all tuples."""

    def number(x):
        return MP.mpf(x.numerator) / x.denominator

    means = [
        (
            MP.fprod(number(gamma if bit else 1 - gamma) for bit in bits),
            [sum(b * row[t] for b, t in zip(bits, steps, strict=True)) for row in rows],
        )
        for bits in itertools.product((0, 1), repeat=len(steps))
    ]
    total = MP.mpf(0)
    for chosen in itertools.product(means, repeat=alpha):
        inner = sum(
            (
                x * y
                for (_, a), (_, b) in itertools.combinations(chosen, 2)
                for x, y in zip(a, b, strict=True)
            ),
            Fraction(0),
        )
        total += MP.fprod(c for c, _ in chosen) * MP.exp(number(inner / sigma**2))
    return MP.log(total) / (alpha - 1)


@pytest.mark.parametrize("seed", range(some(4, 8)))
def test_no_part_costs_more_than_all_patterns_of_its_samples(seed):
    """The mixture of all patterns, by the whole matrix and not by its bands."""
    bands, steps, alpha = 2 + seed % 2, 5, 2 + seed % 2
    rows, gamma = drawn(seed, steps, bands), Fraction(bands * 10, 100)
    m = band_mf(**RUN, bands=bands, steps=steps, strategy=rows)
    found = m.rdp(alpha, digits=20)
    parts = [
        divergence(alpha, rows, gamma, Fraction(2), range(r, steps, bands)) for r in range(bands)
    ]
    assert float(found.upper) >= float(max(parts)) * (1 - 1e-14)
    if m.claim.kind is Kind.EXACT:
        assert holds(found, max(parts), 20, trusted=40)


def test_a_wider_matrix_may_cost_more_and_is_refused():
    rows = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]  # three diagonals, and steps two apart
    banded = [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    full = divergence(2, rows, Fraction(1, 5), Fraction(2), [0, 2])
    runs = PoissonSubsample(Gaussian(2, symacct.MatrixMechanism(rows, 1).sensitivity), "1/5")
    assert full > float((runs + PoissonSubsample(Gaussian(2), "1/5")).rdp(2).upper)
    assert band_mf(**RUN, bands=2, steps=3, strategy=banded).claim.kind is Kind.EXACT
    for wrong in (rows, [[1, 1], [0, 1]]):
        with pytest.raises(DomainError, match="off the first 2 diagonals"):
            band_mf(**RUN, bands=2, steps=len(wrong), strategy=wrong)


@covering()
@pytest.mark.parametrize("steps", [1, 3, 4, 6, 7, 9])
@pytest.mark.parametrize("column", [[1], [1, "1/2"], ["1/2", "-1", 2], [0, 0, 1]])
def test_one_number_on_each_diagonal_is_the_matrix_of_them(column, steps):
    rows = [
        [column[i - j] if 0 <= i - j < len(column) else 0 for j in range(steps)]
        for i in range(steps)
    ]
    told = {**RUN, "bands": 3, "steps": steps}
    if not any(Fraction(x) for x in column[:steps]):
        return
    assert band_mf(**told, strategy=column) is band_mf(**told, strategy=rows)


def test_where_no_part_has_the_largest_columns_it_is_a_bound():
    rows = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 3, 1, 0], [0, 0, 5, 2]]  # squares 2, 26 and 10, 4
    one, two = Gaussian(2, sensitivity=symacct.MatrixMechanism(rows, 1).sensitivity), Gaussian(2, 2)
    m = band_mf(**RUN, bands=2, steps=4, strategy=rows)
    assert m is PostProcess(PoissonSubsample(one, "1/5") + PoissonSubsample(two, "1/5"))
    assert m.claim.kind is Kind.UPPER
    assert m.lower_epsilon("1e-5").upper == 0


def test_rounds_as_jax_privacy_counts_them():
    """amplified_bandmf_event: ⌈iterations/bands⌉ sampled runs; one band and no more is DP-SGD."""
    m = band_mf(n=60000, batch_size=150, noise_multiplier=2, bands=4, steps=1002)
    assert m is 251 * PoissonSubsample(Gaussian(2), "1/100")
    assert m.epsilon("1e-6", 6, "exact").kind is Kind.EXACT
    whole = band_mf(n=600, batch_size=150, noise_multiplier=2, bands=4, epochs=3)
    assert whole is 3 * PoissonSubsample(Gaussian(2), 1)
    told = {"n": 60000, "batch_size": 256, "noise_multiplier": "1.1", "epochs": 15}
    for relation in ("add_remove", "replace_one"):
        dp_sgd = symacct.dp_sgd(**told, adjacency=relation)
        assert band_mf(**told, bands=1, strategy=[1], adjacency=relation) is dp_sgd


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"bands": 0}, "bands: found 0"),
        ({"bands": 11}, "bands \\* batch_size at most the 100 records"),
        ({"steps": None}, "needed one of the two"),
        ({"epochs": 1}, "needed one of the two"),
        ({"strategy": []}, "found \\[\\], needed rows"),
        ({"strategy": [1, "x"]}, "found 'x'"),
        ({"strategy": [0, 0]}, "not all 0"),
        ({"strategy": [1, 1, 1]}, "found 3 diagonals, needed at most 2"),
        ({"strategy": [[1]]}, "found 1 rows of 1, needed 4 rows of 4 entries"),
        ({"strategy": 5}, "needed a list"),
    ],
)
def test_what_is_no_banded_run_is_refused(wrong, message):
    with pytest.raises(symacct.SymacctError, match=message):
        band_mf(**{**RUN, "bands": 2, "steps": 4, **wrong})
    with pytest.raises(LimitError, match="entries"):
        band_mf(**RUN, bands=2, steps=101, strategy=[[1] * 101] * 101)


@pytest.mark.parametrize(
    ("bands", "batch", "steps"), [(1, 30, 6), (2, 20, 9), (3, 9, 11), (4, 20, 12), (5, 15, 13)]
)
def test_steps_apart_are_candidates_that_a_coin_takes(bands, batch, steps):
    """All patterns of a record by its own rule, and as candidates with coins, in fractions."""
    n = 100
    p = Fraction(batch, n - (bands - 1) * batch)
    sparse = (1 - p) ** bands * Fraction((bands - 1) ** (bands - 1), bands**bands)
    q, weights = p / (p + sparse), [Fraction(1)]
    for m in range(1, steps + bands):
        before = weights[m - bands] if m >= bands else 0
        weights.append((1 - p) * weights[-1] - sparse * before)
    assert min(weights) >= 0
    direct, taken = Counter(), Counter()

    def by_rule(step, pattern, weight):
        if step > steps:
            direct[pattern] += weight
            return
        by_rule(step + 1, pattern, weight * (1 - p))
        by_rule(step + bands, (*pattern, step), weight * p)

    def by_candidates(last, pattern, weight):
        left = Fraction(1)
        for gap in range(bands, steps - last + 1):
            share = p / q * weights[gap - bands]
            left -= share
            by_candidates(last + gap, pattern, weight * share * (1 - q))
            by_candidates(last + gap, (*pattern, last + gap), weight * share * q)
        taken[pattern] += weight * left

    by_rule(1, (), Fraction(1))
    by_candidates(1 - bands, (), Fraction(1))
    assert {k: v for k, v in direct.items() if v} == {k: v for k, v in taken.items() if v}
    found = band_mf(n, batch, 2, bands=bands, steps=steps, sampling="min_sep")
    rate = Fraction(re.search(r"Gaussian\(2\), '(.*?)'", repr(found))[1])
    assert q <= rate <= min(q * (1 + Fraction(1, 10**7)), 1)


@pytest.mark.parametrize("seed", range(4))
def test_no_law_of_steps_apart_costs_more_than_the_bound(seed):
    """The divergence of the mixture over all patterns, at a whole order, from below."""
    draw = random.Random(seed)
    bands, steps, sigma, alpha = (*draw.choice([(2, 5), (3, 6)]), draw.choice([1, 2]), 2)
    n, batch = 100, draw.choice([5, 20])
    p, patterns = Fraction(batch, n - (bands - 1) * batch), Counter()

    def by_rule(step, pattern, weight):
        if step > steps:
            patterns[pattern] += weight
            return
        by_rule(step + 1, pattern, weight * (1 - p))
        by_rule(step + bands, (*pattern, step), weight * p)

    by_rule(1, (), Fraction(1))
    rows = drawn(seed, steps, bands)
    means = {x: [sum((row[j - 1] for j in x), Fraction(0)) for row in rows] for x in patterns}
    total = MP.fsum(
        independent.number(MP, v * w)
        * MP.exp(
            independent.number(MP, sum(a * b for a, b in zip(means[x], means[y], strict=True)))
            / sigma**2
        )
        for (x, v), (y, w) in itertools.product(patterns.items(), repeat=2)
    )
    m = band_mf(n, batch, sigma, bands=bands, steps=steps, strategy=rows, sampling="min_sep")
    assert m.claim.kind is Kind.UPPER
    assert 0 < MP.log(total) / (alpha - 1) <= m.rdp(alpha).upper


def test_steps_apart_of_long_rests_and_bad_names():
    m = band_mf(10**7, 10, 2, bands=10**5, steps=10**5, sampling="min_sep")
    assert m.epsilon("1e-6").epsilon.upper < Gaussian(2).epsilon("1e-6").epsilon.lower
    told = {"n": 1000, "batch_size": 10, "noise_multiplier": 2, "steps": 30}
    assert band_mf(**told, bands=1, sampling="min_sep") is band_mf(**told, bands=1)
    for wrong in ("poisson", 5, None, ["min_sep"], b"min_sep"):
        with pytest.raises(DomainError, match=r"sampling: found .* cyclic, min_sep"):
            band_mf(**told, bands=2, sampling=wrong)


def test_one_band_is_no_rest_whatever_its_columns_are():
    """The largest norm for all of the columns would be no exact result."""
    told = {**RUN, "bands": 1, "steps": 3, "strategy": [[1, 0, 0], [0, 2, 0], [0, 0, 3]]}
    assert band_mf(**told, sampling="min_sep") is band_mf(**told)
    assert len(band_mf(**told).children) == 3


@pytest.mark.parametrize(("bands", "steps"), [(2, 1), (2, 2), (3, 2), (5, 4), (10, 7)])
def test_no_more_steps_than_a_rest_are_one_sample_of_the_rate_of_use(bands, steps):
    p = Fraction(10, 100 - (bands - 1) * 10)
    m = band_mf(**RUN, bands=bands, steps=steps, sampling="min_sep")
    rate = Fraction(re.search(r"PoissonSubsample\(Gaussian\(2\), '?(.*?)'?\)", repr(m))[1])
    used = 1 - (1 - p) ** steps
    assert used <= rate <= min(used * (1 + Fraction(1, 10**7)), 1)
    assert m.claim.kind is (Kind.EXACT if steps == 1 else Kind.UPPER)


@covering()
@pytest.mark.parametrize("n", [10**40, 10**40 + 1, 10**400])
@pytest.mark.parametrize("share", [1, 2, 10])
@pytest.mark.parametrize("steps", [1, 4])
def test_rates_of_huge_counts_lie_between_use_and_all_of_it(n, share, steps):
    """A record of n rests n/share steps; of 10^41 bands, balls of few digits know nothing."""
    bands = n // share
    m = band_mf(n, 1, 2, bands=bands, steps=steps, sampling="min_sep")
    rate = Fraction(re.search(r"PoissonSubsample\(Gaussian\(2\), '?(.*?)'?\)", repr(m))[1])
    p = Fraction(1, n - bands + 1)
    used = 1 - (1 - p) ** steps
    assert used <= rate <= min(used * (1 + Fraction(1, 10**7)), 1)


@pytest.mark.parametrize("wrong", ["", "x" * 1001, "a 'quote'", "two\nlines", "a\\b", 5])
def test_a_premise_is_a_line_that_can_be_quoted(wrong):
    with pytest.raises(DomainError, match=r"^PostProcess, premise: found .*, needed"):
        PostProcess(Gaussian(1), premise=wrong)


def test_numbers_of_many_digits_stand_shortened_in_a_statement():
    m = band_mf(10**5000, 3, 1, bands=10, steps=10**400, sampling="min_sep")
    assert "…" in m.premise
    assert m.rdp(2).upper < 1


def test_balls_and_bins_are_a_matrix_in_bins():
    """⌊n/batch⌋ places, whole epochs, and the matrix as it is given, as numbers or as rows."""
    told = {"n": 105, "batch_size": 10, "noise_multiplier": 2, "bands": 2}
    told |= {"sampling": "balls_and_bins"}
    m = band_mf(**told, epochs=2, strategy=[1, "1/2"])
    assert m is BallsInBins([1, "1/2"], 2, 10, 2)
    assert band_mf(**told, steps=11, strategy=iter([1, "1/2"])) is m
    with pytest.warns(RoundedWarning, match="band_mf: epochs='3/2' are counted as 2"):
        assert band_mf(**told, epochs="3/2", strategy=[1, "1/2"]) is m
    rows = [[int(i == j) for j in range(10)] for i in range(10)]
    zeroed = band_mf(**told, epochs=1, strategy=rows, adjacency="zero_out")
    assert zeroed is BallsInBins(rows, 2, 10, adjacency="zero_out")
    for wrong, match in (
        ({"strategy": None}, "found None with sampling"),
        ({"strategy": [1, 1, 1]}, "found 3 diagonals, needed at most 2"),
        ({"strategy": [[1, 0], [0, 1]]}, "needed 20 rows"),
    ):
        with pytest.raises(DomainError, match=match):
            band_mf(**told, epochs=2, **wrong)
    with pytest.raises(AdjacencyError):
        band_mf(**told, epochs=2, strategy=[1], adjacency="replace_one")
