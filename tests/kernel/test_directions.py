"""Which pair attains a curve, and in which direction: against the laws of finite mechanisms.

The laws of an expression are put together from their definitions, in fractions: all pairs that the
two datasets may have, both ways round. "Exact" is their largest divergence, "upper" no less, and a
lower bound no more.
"""

import itertools
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from symacct import (
    AssumptionError,
    Curve,
    DistributionPair,
    DomainError,
    Either,
    FiniteMechanism,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    OrderError,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    SoundnessError,
    SubsampleWithoutReplacement,
    chi_divergence,
    risk,
    sample_with_replacement,
    truncated_poisson,
)
from symacct.kernel.claims import ADDED, ANY_OF_SEVERAL, LARGER, SWAPPED, AttainedBy, Pairs, Way
from tests.thinning import some

MP = mpmath.MPContext()
MP.dps = 40
MASSES = [(Fraction(9, 10), Fraction(1, 2)), (Fraction(1, 10), Fraction(1, 2))]
PAIR = DistributionPair(["9/10", "1/10"], ["1/2", "1/2"], "add_remove", with_record="P")
ORDERS = (1, Fraction(3, 2), 2, Fraction(5, 2), 5, mpmath.inf)


def number(x):
    return MP.mpf(x.numerator) / x.denominator


def divergence(masses, alpha):
    """D_α(P‖Q) of the (p, q)."""
    if any(p and not q for p, q in masses):
        return MP.inf
    both = [(number(p), number(q)) for p, q in masses if p]
    if alpha == 1:
        return MP.fsum(p * MP.log(p / q) for p, q in both)
    if alpha == mpmath.inf:
        return max(MP.log(p / q) for p, q in both)
    a = number(Fraction(alpha))
    return MP.log(MP.fsum(p * (p / q) ** (a - 1) for p, q in both)) / (a - 1)


def turned(masses):
    return [(q, p) for p, q in masses]


def truth(pairs, alpha):
    return max(divergence(way, alpha) for one in pairs for way in (one, turned(one)))


# --- expressions with all of their pairs, the first law that with the record


def drawn_law(draw, size):
    weights = [draw.randint(1, 12) for _ in range(size)]
    return [Fraction(w, sum(weights)) for w in weights]


def leaf(draw):
    """A mechanism, and all pairs that its laws may be."""
    size, sort = draw.randint(2, 3), draw.choice(("P", "P", "either", "response", "laws"))
    if sort == "response":
        p = Fraction(draw.randint(6, 11), 12)
        return RandomizedResponse(p), [[(p, 1 - p), (1 - p, p)]]
    p, q = drawn_law(draw, size), drawn_law(draw, size)
    if p == q:
        p, q = [Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 2), Fraction(1, 2)]
    masses = list(zip(p, q, strict=True))
    if sort == "laws":
        return FiniteMechanism([p, q], "add_remove"), [masses, turned(masses)]
    made = DistributionPair(p, q, "add_remove", with_record=sort)
    return made, [masses] if sort == "P" else [masses, turned(masses)]


def product(one, other):
    return [(p * r, q * s) for (p, q), (r, s) in itertools.product(one, other)]


def expression(draw, depth):
    """Operations up to so many deep, each with all pairs of its laws."""
    if depth == 0:
        return leaf(draw)
    sort = draw.choice(("sum", "sum", "coin", "sample"))
    first, pairs = expression(draw, depth - 1)
    if sort == "sample":
        gamma = Fraction(draw.randint(1, 9), 10)
        mixed = [[(q + gamma * (p - q), q) for p, q in one] for one in pairs]
        return PoissonSubsample(first, gamma), mixed
    second, others = expression(draw, draw.randint(0, depth - 1))
    if sort == "sum":
        return first + second, [product(*both) for both in itertools.product(pairs, others)]
    share = Fraction(draw.randint(1, 9), 10)
    told = [
        [
            *((share * p, share * q) for p, q in one),
            *(((1 - share) * p, (1 - share) * q) for p, q in other),
        ]
        for one, other in itertools.product(pairs, others)
    ]
    return Either(first, second, share), told


@pytest.mark.parametrize("seed", range(some(30, 4000)))
def test_exact_upper_and_lower_are_so_of_finite_laws(seed):
    draw = random.Random(seed)
    node, pairs = expression(draw, draw.randint(1, 3))
    while max(map(len, pairs)) * len(pairs) > 4000:
        node, pairs = expression(draw, 2)
    for alpha in ORDERS:
        true = truth(pairs, alpha)
        near = MP.mpf("1e-12") * max(true, 1)
        found = node.rdp(alpha, digits=15)
        assert MP.mpf(str(found.upper)) >= true - near, (node, alpha)
        if found.claim.kind is Kind.EXACT:
            assert MP.mpf(str(found.lower)) <= true + near, (node, alpha)
        try:
            least = node.lower_bound(alpha, digits=15)
        except (AssumptionError, SoundnessError, OrderError):
            assert found.claim.kind is Kind.UPPER
            continue
        assert MP.mpf(str(least.lower)) <= true + near, (node, alpha)


@pytest.mark.parametrize("seed", range(some(12, 1000)))
def test_sums_and_coins_of_pairs_are_exact(seed):
    """With the record stated, of two to four different pairs and samples of these."""
    draw = random.Random(f"pairs {seed}")
    node = pairs = None
    for _ in range(draw.randint(2, 3)):
        p, q = drawn_law(draw, 2), drawn_law(draw, 2)
        if p == q:
            continue
        part, masses = (
            DistributionPair(p, q, "add_remove", with_record="P"),
            list(zip(p, q, strict=True)),
        )
        if draw.random() < 0.4:
            gamma = Fraction(draw.randint(1, 9), 10)
            part, masses = (
                PoissonSubsample(part, gamma),
                [(y + gamma * (x - y), y) for x, y in masses],
            )
        if node is None:
            node, pairs = part, masses
        elif draw.random() < 0.6:
            node, pairs = node + part, product(pairs, masses)
        else:
            node = Either(node, part, "1/3")
            pairs = [(x / 3, y / 3) for x, y in pairs] + [(x * 2 / 3, y * 2 / 3) for x, y in masses]
    if node is None:
        return
    for alpha in ORDERS:
        found = node.rdp(alpha, digits=15)
        assert found.claim.kind is Kind.EXACT
        assert abs(MP.mpf(str(found.lower)) - truth([pairs], alpha)) < MP.mpf("1e-12")
        assert (
            MP.mpf(str(node.lower_bound(alpha, digits=15).lower)) <= truth([pairs], alpha) + 1e-12
        )
    with_mpmath = node.rdp(5, engine="mpmath")
    assert abs(MP.mpf(str(with_mpmath.lower)) - truth([pairs], 5)) < MP.mpf("1e-12")
    assert node.rdp(5, engine="float64").upper >= float(truth([pairs], 5)) * (1 - 1e-9)


def test_parts_with_opposite_larger_directions():
    """The larger directions of both parts summed exceed the truth by a tenth."""
    allocated, sampled = RandomAllocation(Laplace(1), 3), PoissonSubsample(Laplace(1), "1/3")
    m = allocated + sampled
    found = m.rdp(5, digits=6)
    assert (str(found), found.claim.kind) == ("0.777149", Kind.EXACT)
    assert str(m.lower_bound(5, digits=6)) == "0.777149"
    added, removed = laplace_directions(5)
    assert added < removed
    assert abs(MP.mpf(str(allocated.rdp(5).lower)) - removed) < 1e-12
    mixed = MP.log(laplace_mean(lambda r: (1 + (r - 1) / 3) ** 5)) / 4
    turned_round = MP.log(laplace_mean(lambda r: (1 + (r - 1) / 3) ** -4)) / 4
    assert abs(MP.mpf(str(sampled.rdp(5).lower)) - mixed) < 1e-12
    assert abs(MP.mpf(str(m.rdp(5).lower)) - max(added + mixed, removed + turned_round)) < 1e-12
    assert removed + mixed > 1.1 * max(added + mixed, removed + turned_round)


def laplace_mean(of_ratio):
    """The mean of a function of e^{|x|−|x−1|} under Laplace noise at 0."""
    density = lambda x: of_ratio(MP.exp(abs(x) - abs(x - 1))) * MP.exp(-abs(x)) / 2  # noqa: E731
    ends = (of_ratio(MP.exp(-1)) / 2, of_ratio(MP.exp(1)) * MP.exp(-1) / 2)
    return sum(ends) + MP.quad(density, [0, 1])


def laplace_directions(alpha):
    """Both directions of a record in one run of three, by three atoms and densities of the ratio.

    E[S^z] of the mean S of three ratios, over all ways in which each lies at an end or between.
    """

    def moment(z):
        # The ratio is e^{−1} with probability 1/2, e with probability e^{−1}/2, else e^{2x−1}.
        nodes, weights = np.polynomial.legendre.leggauss(24)
        nodes, weights = (nodes + 1) / 2, weights / 2
        between = [
            (MP.exp(2 * x - 1), w * MP.exp(-x) / 2) for x, w in zip(nodes, weights, strict=True)
        ]
        law = [(MP.exp(-1), MP.mpf(1) / 2), (MP.exp(1), MP.exp(-1) / 2), *between]
        return MP.fsum(
            p * q * r * ((a + b + c) / 3) ** z
            for (a, p), (b, q), (c, r) in itertools.product(law, repeat=3)
        )

    return MP.log(moment(alpha)) / (alpha - 1), MP.log(moment(1 - alpha)) / (alpha - 1)


def test_a_sample_of_runs_whose_larger_direction_is_the_removal():
    pair = DistributionPair(["9/10", "1/10"], ["1/2", "1/2"], "add_remove", with_record="P")
    m = PoissonSubsample(2 * pair, "1/3")
    found = m.rdp("inf", digits=6)
    assert (str(found), found.claim.kind) == ("0.557709", Kind.EXACT)
    assert found.claim.theorems[0] == "SAMPLE-DIRECTIONS"
    assert str(m.epsilon(0, conversion="exact", digits=6).epsilon.rounded_up(6)) == "0.557710"
    assert m.rdp("inf", by="ZW19-L4").claim.kind is Kind.UPPER


def test_no_lower_bound_from_a_curve_of_the_removal():
    m = PoissonSubsample(RandomAllocation(Laplace(1), 3), "1/10")
    assert str(m.lower_bound(20, digits=6)) == "0.0315043"
    with pytest.raises(SoundnessError, match="upper bound together with a lower one"):
        m.rdp(20, by="ZW19-T6")
    pair = PoissonSubsample(2 * PAIR, "1/10")
    with pytest.raises(AssumptionError, match="larger of two"):
        pair.rdp(20, by="ZW19-T6")
    added = pair.rdp(20, by="ZW19-T6-ADDITION", digits=15)
    masses = [(y + (x - y) / 10, y) for x, y in product(*[MASSES] * 2)]
    assert abs(MP.mpf(str(added.lower)) - divergence(masses, 20)) < 1e-13


@pytest.mark.parametrize(
    "inner",
    [
        PoissonSubsample(Gaussian(1), "1/2", "replace_one"),
        SubsampleWithoutReplacement(PureDP("12/5"), "1/5") + PureDP("1e-12"),
    ],
)
def test_no_lower_bound_where_other_records_matter(inner):
    """The datasets of WBK19's Proposition 11 have one law without the record, whatever is drawn."""
    with pytest.raises(AssumptionError, match="larger of two"):
        SubsampleWithoutReplacement(inner, "2/3").rdp(2, by="WBK19-P11")
    with pytest.raises(SoundnessError, match="larger of two"):
        chi_divergence(SubsampleWithoutReplacement(PureDP(5), "1/10"), 3)


ADDITIONS = Curve("alpha/50", kind="exact", adjacency="add_remove", at_infinity="inf")


@pytest.mark.parametrize(
    ("node", "attained"),
    [
        (Gaussian(1) + PureDP(1), SWAPPED),
        (PoissonSubsample(Gaussian(1), "1/2"), ADDED),
        (PoissonSubsample(Gaussian(1), "1/2") + ADDITIONS + Laplace(1), ADDED),
        (PoissonSubsample(2 * PoissonSubsample(Gaussian(1), "1/2"), "1/3"), ADDED),
        (RandomAllocation(Laplace(1), 3), LARGER),
        (RandomAllocation(Laplace(1), 1), SWAPPED),
        (PAIR + Gaussian(1), LARGER),
        (PoissonSubsample(PAIR, "1/2"), LARGER),
        (FiniteMechanism([["1/2", "1/2"], ["1/3", "2/3"]]), ANY_OF_SEVERAL),
        (DistributionPair(["1/2", "1/2"], ["1/3", "2/3"]), ANY_OF_SEVERAL),
        (
            PoissonSubsample(DistributionPair(["1/2", "1/2"], ["1/3", "2/3"]), "1/2"),
            AttainedBy(Pairs.SEVERAL, Way.ADDITION_FROM_TWO),
        ),
        (SubsampleWithoutReplacement(Gaussian(1), "1/2"), ANY_OF_SEVERAL),
        (PostProcess(Gaussian(1)), SWAPPED),
        (GroupPrivacy(Gaussian(1), 2), ANY_OF_SEVERAL),
    ],
    ids=repr,
)
def test_what_attains(node, attained):
    assert node.attained == attained


# --- tests of who was in the data


def errors_of_tests(masses):
    """The corners of Neyman and Pearson's curve: errors of the first and of the second kind."""
    by_ratio = sorted(masses, key=lambda one: -one[0] / one[1] if one[1] else -(10**9))
    first, second, corners = Fraction(0), Fraction(1), [(Fraction(0), Fraction(1))]
    for p, q in by_ratio:
        first, second = first + q, second - p
        corners.append((first, second))
    return corners


def least_error(corners, alpha):
    for (a, b), (c, d) in itertools.pairwise(corners):
        if a <= alpha <= c and a < c:
            return b + (d - b) * (alpha - a) / (c - a)
    raise AssertionError


def gaussian_mu(alpha, beta):
    """μ of the Gaussian trade-off curve through a place."""
    quantile = lambda p: MP.sqrt(2) * MP.erfinv(2 * p - 1)  # noqa: E731
    return quantile(1 - number(alpha)) - quantile(number(beta))


def directed_pair(draw):
    """A pair in which neither direction's tests are the better ones, or one's are."""
    while True:
        p, q = drawn_law(draw, 3), drawn_law(draw, 3)
        gamma = Fraction(draw.randint(2, 9), 10)
        masses = [(y + gamma * (x - y), y) for x, y in zip(p, q, strict=True)]
        if sum(abs(x - y) for x, y in masses) > Fraction(1, 20):
            return PoissonSubsample(
                DistributionPair(p, q, "add_remove", with_record="P"), gamma
            ), masses


@pytest.mark.parametrize("seed", range(some(5, 400)))
def test_the_best_tests_are_those_of_one_direction(seed):
    node, masses = directed_pair(random.Random(seed))
    ways = [errors_of_tests(way) for way in (masses, turned(masses))]
    for alpha in (Fraction(1, 10), Fraction(3, 10), Fraction(7, 10)):
        true = number(min(least_error(way, alpha) for way in ways))
        found = node.tradeoff(alpha, digits=10)
        assert found.claim.kind is Kind.EXACT
        assert abs(MP.mpf(str(found.lower)) - true) < MP.mpf("1e-9")
        power = risk(node, digits=10).tpr(alpha)
        assert abs(MP.mpf(str(power.upper)) + true - 1) < MP.mpf("1e-8")


@pytest.mark.parametrize("seed", range(some(5, 400)))
def test_mu_is_of_the_tests_with_larger_errors(seed):
    """The corners of both directions, and the two places where an error is the least."""
    node, masses = directed_pair(random.Random(seed))
    least = Fraction(1, 5)
    mus = []
    for way in (masses, turned(masses)):
        corners = errors_of_tests(way)
        places = [*corners, (least, least_error(corners, least))]
        mus += [gaussian_mu(a, b) for a, b in places if a >= least and b >= least]
    found = node.gdp(6, least_error=least)
    assert found.claim.kind is Kind.EXACT
    assert abs(MP.mpf(str(found.upper)) / max(mus) - 1) < MP.mpf("1e-5")


def test_a_test_of_a_sample_and_its_mu():
    """With the record added the ratio rises in the output, so that a test is a threshold."""
    node = PoissonSubsample(Gaussian("3/10"), "1/2")
    sigma = MP.mpf(3) / 10
    threshold = sigma * MP.sqrt(2) * MP.erfinv(MP.mpf(1) / 2)  # of the level 1/4
    second = (MP.ncdf(threshold / sigma) + MP.ncdf((threshold - 1) / sigma)) / 2
    mu = MP.sqrt(2) * (MP.erfinv(MP.mpf(1) / 2) - MP.erfinv(2 * second - 1))
    found = node.gdp(least_error="1/4")
    assert found.claim.kind is Kind.EXACT
    assert abs(MP.mpf(str(found.upper)) - mu) < MP.mpf("1e-9")
    assert str(node.tradeoff("3/10", digits=6)) == "0.351242"
    assert str(risk(node).tpr("3/10")) == "0.648758"


# --- parts that contradict each other


def drawn_of(n, **relation):
    return sample_with_replacement(Gaussian(4), n, 10, **relation)


@pytest.mark.parametrize(
    "build",
    [
        lambda: drawn_of(1000) + drawn_of(10**6),
        lambda: Either(drawn_of(1000), drawn_of(10**6), "1/2"),
        lambda: (
            truncated_poisson(Gaussian(4), "1/100", 1000, 30)
            + truncated_poisson(Gaussian(4), "1/100", 10**4, 300)
        ),
        lambda: PostProcess(Gaussian(1), records=10**6) + drawn_of(1000),
        lambda: PostProcess(drawn_of(1000), records=10**6),
        lambda: GroupPrivacy(drawn_of(1000), 3) + drawn_of(10**6),
        lambda: PostProcess(drawn_of(1000) + Gaussian(1)) + 2 * drawn_of(10**6),
    ],
)
def test_parts_of_other_numbers_of_records_are_refused(build):
    with pytest.raises(
        DomainError, match=r"found parts for 1,00\d.* records and for 1.*,000, needed one"
    ):
        build()


def test_parts_of_one_number_of_records_compose():
    (drawn_of(1000) + PostProcess(Gaussian(1), records=1000)).rdp(2)
    (GroupPrivacy(drawn_of(998), 3) + drawn_of(1000)).rdp(2)
    (GroupPrivacy(drawn_of(1000), 2) + drawn_of(1000, adjacency="replace_one")).rdp(2)
