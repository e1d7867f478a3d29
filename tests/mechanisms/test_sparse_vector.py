"""Comparisons with noise: the sparse vector technique and the noisy maximum, by their own laws."""

import functools
import itertools
import operator
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    AssumptionError,
    DomainError,
    ExponentialMechanism,
    FiniteMechanism,
    GaussianNoisyMax,
    GaussianSparseVector,
    Kind,
    LimitError,
    NoisyMax,
    PermuteAndFlip,
    PureDP,
    SparseVector,
)
from tests import independent
from tests.support import holds
from tests.thinning import covering, examples, some

MP = independent.context(15)
WIDE = independent.context(60)


def laplace_above(x):
    """P(noise of scale 1 > x)."""
    return MP.exp(-x) / 2 if x > 0 else 1 - MP.exp(x) / 2


def gaussian_above(x):
    return MP.erfc(x / MP.sqrt(2)) / 2


def patterns(queries, count):
    """The answers that can be given: as many as there are queries, or up to the last one above."""
    for told in itertools.product((False, True), repeat=queries):
        if sum(told) <= count:
            last = max((i for i, t in enumerate(told) if t), default=-1)
            if sum(told) < count:
                yield told
            elif not any(told[last + 1 :]):
                yield told[: last + 1]


def vector_law(queries, noise, threshold, query, count):
    """The chances of all patterns, integrated over the noise on the threshold 0."""
    above = {"Laplace": laplace_above, "Gaussian": gaussian_above}[noise]
    density = {"Laplace": lambda z: MP.exp(-abs(z)) / 2, "Gaussian": MP.npdf}[noise]

    def chance(told, z):
        chances = (above((threshold * z - q) / query) for q in queries[: len(told)])
        parts = [p if t else 1 - p for p, t in zip(chances, told, strict=True)]
        return density(z) * functools.reduce(operator.mul, parts)

    corners = [-30, -8, 0, 8, 30] + [q / threshold for q in queries]
    places = sorted({MP.mpf(x) for x in corners})
    return [
        MP.quad(functools.partial(chance, told), places) for told in patterns(len(queries), count)
    ]


def divergence(alpha, P, Q):  # noqa: N803
    return independent.divergence(MP, alpha, zip(P, Q, strict=True), MP.mpf)


@covering(lambda seed: {seed % 2})
@pytest.mark.parametrize("seed", range(4))
def test_no_sparse_vector_exceeds_its_bound(seed):
    """Three queries, each moved by at most 1, the chances of all answers by quadrature."""
    draw = random.Random(seed)
    count = 1 + seed % 2
    threshold, query = Fraction(draw.randint(2, 12), 4), Fraction(draw.randint(2, 16), 4)
    queries = [draw.uniform(-3, 3) for _ in range(3)]
    moved = [q + draw.choice((-1, 1)) for q in queries]
    for noise, m in (
        ("Laplace", SparseVector(threshold, query, count)),
        ("Gaussian", GaussianSparseVector(threshold, query, 3, count)),
    ):
        scales = [independent.number(MP, x) for x in (threshold, query)]
        laws = [vector_law(q, noise, *scales, count) for q in (queries, moved)]
        assert all(abs(MP.fsum(law) - 1) < 1e-8 for law in laws)
        for alpha in (Fraction(11, 10), 3, 12):
            bound = m.rdp(alpha).upper
            for P, Q in (laws, laws[::-1]):
                assert divergence(alpha, P, Q) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(some(3, 12)))
def test_the_curves_are_their_formulas(seed):
    draw = random.Random(seed)
    a, b = (Fraction(draw.randint(3, 60), 12) for _ in range(2))
    n, alpha = draw.randint(3, 500), Fraction(draw.randint(11, 200), 10)
    for m, formula in (
        (SparseVector(a, b, 1 + seed % 5), independent.sparse_vector),
        (GaussianSparseVector(a, b, n, 1 + seed % 3), independent.gaussian_vector),
        (NoisyMax(a), independent.noisy_max),
        (GaussianNoisyMax(4 * a, n), independent.gaussian_max),
        (GaussianNoisyMax(a / 12, 10**3), independent.gaussian_max),  # smallest near the order 1
        (GaussianSparseVector(a / 12, b / 6, 10**6), independent.gaussian_vector),
    ):
        for order in (1, alpha):
            assert holds(m.rdp(order), formula(WIDE, order, **m.fields()), 30, trusted=50)


def max_law(scores, noise, scale):
    """The chance of each score to be the largest."""
    above = {"Laplace": laplace_above, "Gaussian": gaussian_above}[noise]
    density = {"Laplace": lambda z: MP.exp(-abs(z)) / 2, "Gaussian": MP.npdf}[noise]

    def chance(i, z):
        others = [1 - above(z + (scores[i] - s) / scale) for j, s in enumerate(scores) if j != i]
        return density(z) * functools.reduce(operator.mul, others)

    places = sorted(
        {*map(MP.mpf, (-30, -8, 0, 8, 30)), *((s - t) / scale for s in scores for t in scores)}
    )
    return [MP.quad(functools.partial(chance, i), places) for i in range(len(scores))]


@covering(lambda seed: {seed % 2})
@pytest.mark.parametrize("seed", range(4))
def test_no_noisy_maximum_exceeds_its_bound(seed):
    draw = random.Random(seed)
    scale = Fraction(draw.randint(2, 20), 4)
    scores = [draw.uniform(-2, 2) for _ in range(2 + seed % 3)]
    moved = [s + draw.choice((-1, 1)) for s in scores]
    size = independent.number(MP, scale)
    gaussian = GaussianNoisyMax(scale, len(scores))
    for noise, m in (("Laplace", NoisyMax(scale)), ("Gaussian", gaussian)):
        laws = [max_law(s, noise, size) for s in (scores, moved)]
        assert all(abs(MP.fsum(law) - 1) < 1e-8 for law in laws)
        for alpha in (Fraction(11, 10), 3, 12):
            most = max(divergence(alpha, P, Q) for P, Q in (laws, laws[::-1]))
            assert most <= m.rdp(alpha).upper * (1 + 1e-9)


def test_exponential_and_gumbel_noise_are_what_is_known():
    assert ExponentialMechanism.of_noise(4, 2) is ExponentialMechanism(1)
    assert PermuteAndFlip.of_noise("1/2", adjacency="add_remove") is PermuteAndFlip(4, "add_remove")
    for kind in (ExponentialMechanism, PermuteAndFlip):
        with pytest.raises(DomainError, match=r"of_noise, scale: found 0"):
            kind.of_noise(0)


@pytest.mark.parametrize("seed", range(some(4, 10)))
def test_permute_and_flip_of_few_candidates(seed):
    """By all orders of the candidates; below the class that it is in, and exponential noise's."""
    draw = random.Random(seed)
    rows = [[draw.randint(-2, 2) for _ in range(3)] for _ in range(2)]
    rows[1] = [s + draw.choice((-1, 1)) for s in rows[0]]
    base = Fraction(draw.randint(11, 30), 10)
    laws = []
    for row in rows:
        coins, law = [base ** (s - max(row)) for s in row], [Fraction(0)] * 3
        for order in itertools.permutations(range(3)):
            left = Fraction(1, 6)
            for i in order:
                law[i] += left * coins[i]
                left *= 1 - coins[i]
        laws.append(law)
    assert [sum(law) for law in laws] == [1, 1]
    if laws[0] == laws[1]:
        return
    m = FiniteMechanism.permute_and_flip(rows, base)
    assert m is FiniteMechanism(laws)
    for alpha in (1, Fraction(draw.randint(11, 90), 10), independent.INFINITY):
        assert holds(m.rdp(alpha), independent.finite_laws(WIDE, alpha, laws), 30, trusted=50)
    epsilon = independent.fraction(2 * WIDE.log(independent.number(WIDE, base)))
    for alpha in (1, 3, "inf"):
        found, bound = m.rdp(alpha).lower, PermuteAndFlip(epsilon).rdp(alpha).upper
        assert independent.fraction(found) <= independent.fraction(bound) * (
            1 + Fraction(1, 10**20)
        )


@pytest.mark.parametrize("seed", range(some(4, 10)))
def test_the_exponential_mechanism_of_few_candidates(seed):
    """Chances in proportion to base^score, of three datasets."""
    draw = random.Random(seed)
    rows = [[draw.randint(-2, 2), draw.randint(-2, 2), place] for place in range(3)]
    base = Fraction(draw.randint(11, 30), 10)
    weights = [[base**score for score in row] for row in rows]
    laws = [[weight / sum(row) for weight in row] for row in weights]
    m = FiniteMechanism.exponential(rows, base)
    for alpha in (1, Fraction(draw.randint(11, 90), 10), independent.INFINITY):
        assert holds(m.rdp(alpha), independent.finite_laws(WIDE, alpha, laws), 30, trusted=50)


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_what_is_pure_has_the_profile_of_two_answers(seed):
    """(e^ε₀ − e^ε)/(1 + e^ε₀): answers of odds e^ε₀:1, by hand."""
    draw = random.Random(seed)
    b, size = (Fraction(draw.randint(3, 60), 12) for _ in range(2))
    m, pure = SparseVector(b, 3 * b, 2, size), size / b + 4 * size / (3 * b)
    epsilon = pure * Fraction(draw.randint(0, 19), 20)
    most, grown = (WIDE.exp(independent.number(WIDE, x)) for x in (pure, epsilon))
    found = m.delta(epsilon, digits=25, conversion="exact")
    assert holds(found.delta, (most - grown) / (1 + most), 25, trusted=50)
    assert found.kind is Kind.UPPER


@covering(lambda seed: {seed % 3})
@pytest.mark.parametrize("seed", range(24))
def test_no_noisy_maximum_tells_more_than_laplace_noise(seed):
    """The laws of two to four scores by quadrature: H_a <= 1 − √(a e^{−ε₀}), ε₀ = 2Δ/b."""
    draw = random.Random(seed)
    scale, size = Fraction(draw.randint(4, 20), 4), 2 + seed % 3
    scores = [draw.uniform(-2, 2) for _ in range(size)]
    moved = [s + draw.choice((-1, 1, draw.uniform(-1, 1))) for s in scores]
    laws = [max_law(row, "Laplace", independent.number(MP, scale)) for row in (scores, moved)]
    m = NoisyMax(scale)
    for share in (0, Fraction(1, 5), Fraction(3, 5)):
        epsilon = share * 2 / scale
        found = m.delta(epsilon, digits=12, conversion="exact")
        most = 1 - WIDE.exp(independent.number(WIDE, epsilon / 2 - 1 / scale))
        assert holds(found.delta, most, 12, trusted=50)
        assert found.kind is Kind.UPPER
        a = MP.exp(independent.number(MP, epsilon))
        for P, Q in (laws, laws[::-1]):
            told = MP.fsum(max(p - a * q, 0) for p, q in zip(P, Q, strict=True))
            assert told <= most * (1 + 1e-9)


def test_only_noise_of_known_laws_has_an_exact_profile():
    found = SparseVector(2, 4).delta("1/2", conversion="exact")
    same = PureDP(1).delta("1/2", conversion="exact")
    assert (found.delta.lower, found.delta.upper) == (same.delta.lower, same.delta.upper)
    for m in (GaussianSparseVector(3, 6, 20), GaussianNoisyMax(3, 20)):
        with pytest.raises(AssumptionError, match="only a Rényi curve"):
            m.delta(1, conversion="exact")


def test_too_many_ways_to_count():
    with pytest.raises(LimitError, match="count"):
        GaussianSparseVector(1, 1, 10**6, 65)


def told_of_scores(scores, scale):
    """The laws of all that chooses the largest score, for noise of one scale, and what it is."""
    weights = [MP.exp(s / scale) for s in scores]
    yield "Gumbel", [w / MP.fsum(weights) for w in weights]
    for noise in ("Laplace", "Gaussian"):
        yield noise, max_law(scores, noise, scale)
    law = [MP.mpf(0)] * len(scores)
    orders = [*itertools.permutations(range(len(scores)))]
    for order in orders:
        left = MP.mpf(1) / len(orders)
        for i in order:
            coin = MP.exp((scores[i] - max(scores)) / scale)
            law[i] += left * coin
            left *= 1 - coin
    yield "exponential", law


@covering(lambda seed: {0})
@pytest.mark.parametrize("seed", range(12))
def test_scores_that_move_the_same_way_are_of_half_the_sensitivity(seed):
    """By quadrature, and as the docstrings say."""
    draw = random.Random(seed)
    scale, up = Fraction(draw.randint(2, 20), 4), draw.choice((-1, 1))
    scores = [draw.uniform(-2, 2) for _ in range(2 + seed % 3)]
    moved = [s + up * draw.choice((0, 1)) for s in scores]
    half = {
        "Gumbel": ExponentialMechanism.of_noise(scale, "1/2"),
        "exponential": PermuteAndFlip.of_noise(scale, "1/2"),
        "Laplace": NoisyMax(scale, "1/2"),
        "Gaussian": GaussianNoisyMax(scale, len(scores), "1/2"),
    }
    size = independent.number(MP, scale)
    for (noise, P), (_, Q) in zip(
        told_of_scores(scores, size), told_of_scores(moved, size), strict=True
    ):
        assert "the same direction" in " ".join(type(half[noise]).__doc__.split())
        for alpha in (Fraction(11, 10), 3, 12):
            most = max(divergence(alpha, *both) for both in ((P, Q), (Q, P)))
            assert most <= half[noise].rdp(alpha).upper * (1 + 1e-9)


@covering(lambda seed: {0})
@pytest.mark.parametrize("seed", range(8))
def test_queries_that_move_the_same_way_are_as_the_docstrings_say(seed):
    draw = random.Random(seed)
    count, up = 1 + seed % 2, draw.choice((-1, 1))
    threshold, query = Fraction(draw.randint(1, 12), 4), Fraction(draw.randint(2, 16), 4)
    queries = [draw.uniform(-3, 3) for _ in range(2)]
    moved = [q + up * draw.choice((0, 1)) for q in queries]
    for noise, m in (
        ("Laplace", SparseVector(threshold, 2 * query, count)),
        ("Gaussian", GaussianSparseVector(threshold, 2 * query, 4 * 2, count)),
    ):
        assert "in the same direction" in " ".join(type(m).__doc__.split())
        scales = [independent.number(MP, x) for x in (threshold, query)]
        laws = [vector_law(q, noise, *scales, count) for q in (queries, moved)]
        for alpha in (Fraction(11, 10), 3, 12):
            bound = m.rdp(alpha).upper
            assert all(divergence(alpha, *way) <= bound * (1 + 1e-9) for way in (laws, laws[::-1]))


parts = st.integers(2, 40).map(lambda k: Fraction(k, 8))


def at_the_place_that_tells_most(variance, alpha):
    """The larger D_α of whether normal noise exceeds a number, and the number 1 less, by erfc."""
    shift = 1 / WIDE.sqrt(independent.number(WIDE, variance))
    start = (alpha - 1) * shift
    law, other = (
        (above, 1 - above)
        for above in (WIDE.erfc(x / WIDE.sqrt(2)) / 2 for x in (start, start + shift))
    )
    return max(divergence(alpha, *way) for way in ((law, other), (other, law)))


@examples(30, 300)
@given(parts, parts, st.integers(3, 60))
def test_one_query_and_two_scores_at_the_place_that_tells_most(threshold, query, alpha):
    most = at_the_place_that_tells_most(threshold**2 + query**2, alpha)
    assert most <= GaussianSparseVector(threshold, 2 * query, 4).rdp(alpha).upper
    most = at_the_place_that_tells_most(2 * query**2, alpha)
    assert most <= GaussianNoisyMax(query, 2, "1/2").rdp(alpha).upper


def test_noise_counted_twice_for_as_many_queries_would_say_less_than_the_truth():
    """A quarter of what one told number costs: so four times as many are to be given."""
    most = at_the_place_that_tells_most(Fraction(1, 16) + 4, 40)
    assert GaussianSparseVector("1/4", 4, 1).rdp(40).upper < most
    assert most > GaussianNoisyMax(2, 2, "1/4").rdp(40).upper
