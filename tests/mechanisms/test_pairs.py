"""Pairs of distributions: the curve from the laws themselves, and bounds against the truth."""

import itertools
import random
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Accountant,
    AssumptionError,
    Compose,
    DistributionPair,
    DomainError,
    Gaussian,
    Kind,
    LimitError,
    ParseError,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    SymacctError,
    chi_divergence,
    from_json,
    laws,
    limits,
    parse,
    theorems,
)
from symacct.kernel.arithmetic.ball import log_sign
from symacct.kernel.errors import SoundnessError
from symacct.kernel.theorem_registry import is_about
from symacct.laws.families import GeometricDirection
from symacct.laws.normal import blend_matrices, matrix
from tests import independent
from tests.support import overlap
from tests.thinning import covering, some

INFINITY = float("inf")
DIGITS = 25
MP = independent.context(60)
ORDERS = (1, Fraction(101, 100), Fraction(3, 2), 2, Fraction(13, 4), 7, INFINITY)


def number(x):
    return independent.number(MP, x)


def by_definition(masses, alpha):
    return independent.divergence(MP, alpha, masses)


def holds(enclosure, value, error=Fraction(1, 10**45)):
    if value == MP.inf:
        return enclosure.lower == enclosure.upper == INFINITY
    slack = abs(value) * number(error) + number(error)
    return enclosure.lower <= value + slack and value - slack <= enclosure.upper


def shares(rng, size, most=20, zeros=False):
    counts = [rng.randrange(0 if zeros else 1, most) for _ in range(size)]
    counts[0] += 1
    return [Fraction(count, sum(counts)) for count in counts]


def random_pair(rng, zeros=False):
    size = rng.randrange(2, 6)
    return DistributionPair(shares(rng, size, zeros=zeros), shares(rng, size, zeros=zeros))


def truth(pair, gamma, alpha):
    """The largest divergence of a record's mixture: either law with it, either direction."""
    found = []
    for masses in (pair.masses, [(q, p) for p, q in pair.masses]):
        mixed = [((1 - gamma) * q + gamma * p, q) for p, q in masses]
        found += [by_definition(mixed, alpha), by_definition([(q, m) for m, q in mixed], alpha)]
    return max(found)


RANDOM = [random_pair(random.Random(seed)) for seed in range(some(6, 20))]

# --- finite pairs


@pytest.mark.parametrize("seed", range(12))
def test_both_directions_are_their_definition(seed):
    pair = random_pair(random.Random(seed), zeros=seed % 3 == 0)
    back = [(q, p) for p, q in pair.masses]
    for alpha in ORDERS:
        there, again = by_definition(pair.masses, alpha), by_definition(back, alpha)
        assert holds(pair.divergence(alpha, DIGITS), there)
        assert holds(pair.divergence(alpha, DIGITS, reverse=True), again)
        assert holds(pair.rdp(alpha, DIGITS), max(there, again))
        assert pair.rdp(alpha, DIGITS).claim.kind is Kind.EXACT


def test_equal_laws_tell_nothing_and_disjoint_ones_all():
    same, other = DistributionPair([1, 0], [1, 0]), DistributionPair([1, 0], [0, 1])
    for alpha in ORDERS:
        assert same.rdp(alpha).upper == 0
        assert PoissonSubsample(same, "1/2").rdp(alpha).upper == 0
        assert other.rdp(alpha).lower == INFINITY
        assert PoissonSubsample(other, "1/2").rdp(alpha).lower == INFINITY
    one_sided = DistributionPair(["1/2", "1/2"], [1, 0])
    assert one_sided.divergence(2).lower == INFINITY
    assert str(one_sided.divergence("inf", 8, reverse=True)) == "0.69314718"


def test_probabilities_of_any_accepted_kind_are_one_pair():
    pair = DistributionPair(["1/2", "1/2"], ["1/4", "3/4"])
    assert DistributionPair((0.5, 0.5), [Fraction(1, 4), 0.75]) is pair
    assert DistributionPair(iter(["0.5", "5e-1"]), ["1/4", "3/4"], adjacency="either") is pair
    assert DistributionPair(["1/2", "1/2"], ["1/4", "3/4"], "add_remove") is not pair


@given(st.permutations(range(5)), st.permutations(range(5)), st.integers(0, 10**6))
def test_mappings_are_matched_by_outcome(first, second, seed):
    """D_2 = log Σ_x P(x)²/Q(x), summed by name in exact fractions."""
    rng = random.Random(seed)
    weights = [[rng.randint(1, 9) for _ in range(5)] for _ in "PQ"]
    p, q = ([Fraction(w, sum(law)) for w in law] for law in weights)
    names = ["a", 1, None, ("b", 2), Fraction(1, 2)]
    pair = DistributionPair({names[i]: p[i] for i in first}, {names[i]: q[i] for i in second})
    moments = (sum(a**2 / b for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p)))
    with mpmath.workdps(40):
        truth = mpmath.log(max(Fraction(m) for m in moments))
        answer = pair.rdp(2, digits=25)
        assert answer.lower <= truth * (1 + mpmath.mpf(10) ** -35)
        assert truth * (1 - mpmath.mpf(10) ** -35) <= answer.upper
    assert parse(repr(pair)) is pair is from_json(pair.to_json())


def test_the_number_of_outcomes_is_limited():
    with limits(outcomes=3), pytest.raises(LimitError, match=r"entries.*the limit outcomes"):
        DistributionPair(["1/4"] * 4, ["1/4"] * 4)
    with pytest.raises(LimitError):
        DistributionPair(itertools.repeat(0), [1])


def test_the_entries_of_a_matrix_are_limited_and_never_cut_short():
    with limits(outcomes=4):
        kept = laws.MultivariateNormal([0, 1], [[1, 0], [0, 1]])
        assert len(kept.mean) == len(kept.covariance) == 2
        with pytest.raises(LimitError, match="entries of the covariance: found 9, the limit is 4"):
            laws.MultivariateNormal([0] * 3, [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        with pytest.raises(
            LimitError, match=r"covariance, outcomes or entries: found 5, the limit is 4"
        ):
            laws.MultivariateNormal([0, 0], [[1, 0]] * 5)
        with pytest.raises(DomainError, match="a covariance of 4 rows"):
            laws.MultivariateNormal([0, 0], [[1, 0]] * 4)
        with pytest.raises(LimitError, match="mean"):
            laws.MultivariateNormal(itertools.count(), [[1]])
        with pytest.raises(LimitError, match="covariance"):
            laws.MultivariateNormal([0], [itertools.repeat(1)])


@given(st.permutations(range(5)), st.integers(0, 10**6))
def test_a_permutation_that_swaps_the_laws_is_found(order, seed):
    P = shares(random.Random(seed), 5)
    involution = dict(itertools.chain(*(((a, b), (b, a)) for a, b in [order[:2], order[2:4]])))
    Q = [P[involution.get(i, i)] for i in range(5)]
    assert DistributionPair(P, Q)._swap_symmetric


def test_equal_probabilities_in_another_order_are_no_symmetry():
    # A permutation of three outcomes turns P into Q, but none exchanges them.
    pair = DistributionPair(["1/2", "1/3", "1/6"], ["1/3", "1/6", "1/2"])
    assert not pair._swap_symmetric
    assert DistributionPair(["1/2", "1/3", "1/6"], ["1/3", "1/2", "1/6"])._swap_symmetric


# --- text


@pytest.mark.parametrize(
    "pair",
    [
        *RANDOM[:3],
        DistributionPair([1, 0], [0, 1], adjacency="replace_one"),
        DistributionPair(laws.Poisson("3/2"), laws.Poisson(2), "add_remove"),
        DistributionPair(laws.Weibull("3/2", 2), laws.Weibull("3/2")),
        DistributionPair(laws.Normal(-1, 2), laws.Normal("-1/3", 1)),
        DistributionPair(
            laws.MultivariateNormal([0, "1/2"], [[2, 1], [1, 2]]),
            laws.MultivariateNormal([-1, 0], [[1, 0], [0, 1]]),
        ),
    ],
    ids=repr,
)
def test_a_pair_is_read_back_as_the_same_object(pair):
    scope = {"DistributionPair": DistributionPair, "laws": laws}
    assert eval(repr(pair), {"__builtins__": {}}, scope) is pair  # noqa: S307
    for node in (pair, PoissonSubsample(pair, "1/10") if "replace" not in repr(pair) else pair):
        assert parse(repr(node)) is node
        assert from_json(node.to_json()) is node


def test_laws_are_read_without_their_prefix_and_lists_without_quotes():
    assert parse("DistributionPair(Poisson(3/2), laws.Poisson(2))") is DistributionPair(
        laws.Poisson("3/2"), laws.Poisson(2)
    )
    assert parse("DistributionPair([1/2, 0.5], [0, 1])") is DistributionPair([0.5, 0.5], [0, 1])


@pytest.mark.parametrize(
    "text",
    ["[1]", "2*[1]", "[1] + [2]", "-[1]", "2**[1]", "DistributionPair([1, [0, 1])",
     "DistributionPair([Gaussian(1)], [1])", "DistributionPair([1, 0], [laws.Poisson(1), 0])",
     "laws.Poisson(1)", "laws.Gaussian(1)", "laws.Poisson(1) + laws.Poisson(2)",
     "2*laws.Poisson(1)", "Gaussian(laws.Poisson(1) / 2)", "[1 for x in y]"],
)  # fmt: skip
def test_anything_else_in_brackets_is_refused(text):
    with pytest.raises(ParseError):
        parse(text)


@pytest.mark.parametrize(
    "fields",
    [
        '"P": ["1/2", 1], "Q": ["1/2", "1/2"]',
        '"P": {"law": "Gaussian(1)"}, "Q": {"law": "laws.Poisson(1)"}',
        '"P": {"law": 5}, "Q": {"law": 5}',
    ],
)
def test_json_that_holds_no_laws_is_refused(fields):
    node = f'{{"type": "DistributionPair", {fields}, "adjacency": "either"}}'
    with pytest.raises(ParseError):
        from_json(f'{{"symacct": 1, "nodes": [{node}]}}')


# --- sampling


def test_the_sampled_pair_is_the_mixture():
    pair = DistributionPair(["1/2", "1/2"], ["1/10", "9/10"])
    assert pair.sampled("1/4") is DistributionPair(["1/5", "4/5"], ["1/10", "9/10"])
    assert pair.swapped() is DistributionPair(["1/10", "9/10"], ["1/2", "1/2"])
    assert pair.sampled(0).rdp(5).upper == 0
    assert pair.sampled(1) is pair
    for bad in (pair.sampled, DistributionPair(laws.Poisson(1), laws.Poisson(2)).sampled):
        with pytest.raises(DomainError):
            bad("x" if bad == pair.sampled else "1/2")


@covering()
@pytest.mark.parametrize("pair", RANDOM, ids=repr)
@pytest.mark.parametrize("gamma", [Fraction(1, 100), Fraction(1, 3), Fraction(19, 20)])
def test_the_sampled_curve_is_the_worse_role_both_ways_round(pair, gamma):
    node = PoissonSubsample(pair, gamma)
    for alpha in ORDERS:
        answer = node.rdp(alpha, DIGITS)
        assert answer.claim.kind is Kind.EXACT
        assert holds(answer, truth(pair, gamma, alpha))
        roles = [pair.sampled(gamma).rdp(alpha, DIGITS), pair.swapped().sampled(gamma).rdp(alpha)]
        assert any(holds(role, truth(pair, gamma, alpha)) for role in roles)


@covering()
@pytest.mark.parametrize("pair", RANDOM, ids=repr)
@pytest.mark.parametrize("kind", [PoissonSubsample, SubsampleWithoutReplacement])
def test_no_bound_is_on_the_wrong_side_of_the_truth(pair, kind):
    """Each registered theorem on twenty random mechanisms; without replacement the datasets are

    those of WBK19 Proposition 11, so that the truth there is at least this.
    """
    accountant, asked = Accountant(DIGITS), set()
    for gamma in (Fraction(1, 50), Fraction(1, 2)):
        node = kind(pair, gamma)
        for alpha in (1, Fraction(3, 2), 2, Fraction(7, 3), 3, 6, INFINITY):
            value = truth(pair, gamma, alpha)
            slack = number(Fraction(1, 10**40))
            for theorem in theorems():
                if not is_about(theorem, node) or theorem.status != "proved":
                    continue
                try:
                    answer = accountant.rdp(node, alpha, by=theorem.name)
                except SymacctError:
                    continue
                asked.add(theorem.name)
                if theorem.kind is not Kind.LOWER:
                    assert answer.upper >= value - slack, (theorem.name, alpha)
                elif kind is PoissonSubsample:
                    assert answer.lower <= value + slack, (theorem.name, alpha)
                default = accountant.rdp(node, alpha)
                if theorem.kind is Kind.LOWER:
                    assert answer.lower <= default.upper, (theorem.name, alpha)
    needed = {"PAIR-FINITE", "ZW19-T5", "S22-POISSON", "VEH14-T13", "ZW19-L4"}
    if kind is SubsampleWithoutReplacement:
        needed = {"PAIR-FINITE-WOR", "WBK19-T9", "BLOG-C24", "WBK19-L3"}
    assert needed <= asked


def test_a_lower_bound_from_the_larger_of_two_directions_would_be_wrong():
    """Theorem 6's formula with ε(l) from either direction exceeds the truth here."""
    pair = DistributionPair(["11/18", "1/3", "1/18"], ["3/20", "11/20", "3/10"])
    node, g, alpha = PoissonSubsample(pair, "1/10"), MP.mpf(1) / 10, 6
    back = [(q, p) for p, q in pair.masses]
    total = MP.mpf(0)
    for l in range(alpha + 1):
        weight = MP.binomial(alpha, l) * g**l * (1 - g) ** (alpha - l)
        largest = max(by_definition(pair.masses, l), by_definition(back, l)) if l > 1 else MP.mpf(0)
        total += weight * MP.exp((l - 1) * largest)
    assert MP.log(total) / (alpha - 1) > truth(pair, Fraction(1, 10), alpha) * MP.mpf("1.03")
    for by, sampled in (
        ("ZW19-T6", node),
        ("ZW19-T6", PoissonSubsample(Compose(pair, Gaussian(5)), "1/2")),
        ("ZW19-T6", PoissonSubsample(node, "1/2")),
        ("WBK19-P11", SubsampleWithoutReplacement(pair, "1/2")),
    ):
        with pytest.raises(AssumptionError, match="larger of two"):
            sampled.rdp(alpha, by=by)
    with pytest.raises(SoundnessError, match="larger of two"):
        chi_divergence(pair, 3)


def test_a_pair_of_normal_laws_is_the_gaussian_mechanism():
    pair, gaussian = DistributionPair(laws.Normal(3, 4), laws.Normal(2, 4)), Gaussian(2)
    for alpha in (1, "3/2", 2, 9):
        assert overlap(pair.rdp(alpha), gaussian.rdp(alpha))
    for kind in (PoissonSubsample, SubsampleWithoutReplacement):
        mine, known = kind(pair, "1/20"), kind(gaussian, "1/20")
        by = "WBK19-T27" if kind is SubsampleWithoutReplacement else None
        assert str(mine.rdp(8, by=by)) == str(known.rdp(8, by=by))
        assert str(mine.lower_bound(8)) == str(known.lower_bound(8))
    assert str(pair.epsilon("1e-5", 20).epsilon) == str(gaussian.epsilon("1e-5", 20).epsilon)


# --- families: the integral or the sum itself


def normal(mp, x, mean, variance):
    return mp.exp(-((x - mean) ** 2) / (2 * variance)) / mp.sqrt(2 * mp.pi * variance)


def gamma_density(mp, x, k, rate):
    return rate**k * x ** (k - 1) * mp.exp(-rate * x) / mp.gamma(k)


def chi_density(mp, x, k, sigma=1):
    y = x / sigma
    return y ** (k - 1) * mp.exp(-y * y / 2) / (2 ** (k / 2 - 1) * mp.gamma(k / 2) * sigma)


def weibull(mp, x, shape, scale):
    return shape / scale * (x / scale) ** (shape - 1) * mp.exp(-((x / scale) ** shape))


def rayleigh(mp, x, sigma):
    return x / sigma**2 * mp.exp(-x * x / (2 * sigma**2))


#: family: (density, where to cut the integral; None for a sum over 0, 1, …), pairs of parameters
CONTINUOUS = {
    "Exponential": (lambda mp, x, r: r * mp.exp(-r * x), [0, 1, 5, 20, 90], [("1", "5/4")]),
    "Gamma": (gamma_density, [0, 0.01, 1, 5, 20, 90], [("2 1", "9/4 5/4"), ("3 1", "5/2 1")]),
    "Weibull": (weibull, [0, 0.1, 1, 3, 9, 30], [("3/2 2", "3/2 3"), ("2 1", "2 5/4")]),
    "Rayleigh": (rayleigh, [0, 1, 3, 9, 40], [("1", "5/4")]),
    "Chi": (chi_density, [0, 0.1, 1, 3, 9, 40], [("3 1", "7/2 5/4"), ("2", "5/2")]),
    "HalfNormal": (lambda mp, x, s: 2 * normal(mp, x, 0, s**2), [0, 1, 3, 9, 40], [("1", "5/4")]),
    "Beta": (
        lambda mp, x, a, b: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b),
        [0, 0.01, 0.5, 0.99, 1],
        [("4 5", "9/2 4")],
    ),
    "Normal": (normal, [-40, -9, -3, 0, 3, 9, 40], [("0 1", "1 5/4"), ("-1 2", "1/2 2")]),
    "Uniform": (lambda mp, x, a, b: mp.mpf(a <= x <= b) / (b - a), [0, 1, 2], [("0 1", "0 2")]),
}


def pair_of(family, first, second):
    law = getattr(laws, family)
    return DistributionPair(law(*first.split()), law(*second.split()))


def read(text):
    return [number(x) for x in text.split()]


def integral(density, cuts, one, other, alpha):
    """D_α of two densities, of these parameters, by quadrature."""
    mp, a = independent.context(30), number(alpha)

    def value(x):
        p, q = density(mp, x, *one), density(mp, x, *other)
        if p == 0:
            return mp.mpf(0)
        return p * mp.log(p / q) if alpha == 1 else p * (p / q) ** (a - 1)

    total = mp.quad(value, cuts)
    return total if alpha == 1 else mp.log(total) / (a - 1)


@covering()
@pytest.mark.parametrize(
    ("family", "first", "second"),
    [(name, *pair) for name, (_, _, pairs) in CONTINUOUS.items() for pair in pairs],
)
@pytest.mark.parametrize("alpha", [Fraction(1), Fraction(11, 10), Fraction(5, 2), Fraction(3)])
def test_the_closed_form_is_the_integral(family, first, second, alpha):
    density, cuts, _ = CONTINUOUS[family]
    pair, checked = pair_of(family, first, second), 0
    for reverse in (False, True):
        answer = pair.divergence(alpha, DIGITS, reverse=reverse)
        if answer.upper == INFINITY:
            continue
        laws_of = (second, first) if reverse else (first, second)
        value = integral(density, cuts, *map(read, laws_of), alpha)
        assert abs(value - answer.upper) < 1e-9 * abs(value)
        checked += 1
    assert checked


@pytest.mark.parametrize("alpha", [Fraction(1), Fraction(11, 10), Fraction(5, 2), Fraction(3)])
@pytest.mark.parametrize(
    ("family", "first", "second"),
    [("LogNormal", "0 1", "1 5/4"), ("Pareto", "2 3", "9/4 3")],
)
def test_laws_of_a_logarithm_are_integrated_in_it(family, first, second, alpha):
    densities = {
        "LogNormal": (lambda mp, y, m, v: normal(mp, y, m, v), [-40, -9, 0, 9, 40]),
        # x = 3e^y has the density a e^{−ay} in y.
        "Pareto": (lambda mp, y, a, _: a * mp.exp(-a * y), [0, 1, 5, 20, 80]),
    }
    density, cuts = densities[family]
    pair = pair_of(family, first, second)
    for reverse, pairs in ((False, (first, second)), (True, (second, first))):
        answer = pair.divergence(alpha, DIGITS, reverse=reverse)
        if answer.upper < INFINITY:
            value = integral(density, cuts, *map(read, pairs), alpha)
            assert abs(value - answer.upper) < 1e-9


@pytest.mark.parametrize("alpha", [1, Fraction(11, 10), Fraction(5, 2), 3])
@pytest.mark.parametrize(
    ("family", "first", "second"),
    [("Poisson", "3", "7/2"), ("Geometric", "1/3", "2/5"), ("Bernoulli", "1/3", "2/5")],
)
def test_the_closed_form_is_the_sum(family, first, second, alpha):
    probability = {
        "Poisson": lambda k, r: MP.exp(-r) * r**k / MP.factorial(k),
        "Geometric": lambda k, p: p * (1 - p) ** k,
        "Bernoulli": lambda k, p: (1 - p, p)[k],
    }[family]
    count, a = (2 if family == "Bernoulli" else 800), number(alpha)
    pair = pair_of(family, first, second)
    for reverse, (x, y) in ((False, (first, second)), (True, (second, first))):
        x, y = number(x), number(y)
        masses = [(probability(k, x), probability(k, y)) for k in range(count)]
        value = MP.fsum(p * MP.log(p / q) for p, q in masses) if alpha == 1 else None
        if alpha != 1:
            value = MP.log(MP.fsum(p * (p / q) ** (a - 1) for p, q in masses)) / (a - 1)
        assert abs(pair.divergence(alpha, DIGITS, reverse=reverse).upper - value) < 1e-20


@pytest.mark.parametrize("alpha", [Fraction(1), Fraction(3, 2), Fraction(7, 4)])
def test_two_dimensional_normals_are_integrated_in_the_plane(alpha):
    """Both covariances are diagonal in one rotated basis, so the integral is a product."""
    first = laws.MultivariateNormal([1, 0], [["3/2", "1/2"], ["1/2", "3/2"]])  # 2 and 1
    second = laws.MultivariateNormal([0, "1/2"], [["7/4", "-1/4"], ["-1/4", "7/4"]])  # 3/2 and 2
    pair = DistributionPair(first, second)
    # Along (1, 1)/√2 the means are 1/√2 and 1/(2√2); along (1, −1)/√2, 1/√2 and −1/(2√2).
    mean = 1 / MP.sqrt(2)
    along = (mean, 2), (mean / 2, MP.mpf(3) / 2)
    across = (mean, 1), (-mean / 2, 2)
    for reverse, turn in ((False, 1), (True, -1)):
        axes = (axis[::turn] for axis in (along, across))
        total = sum(integral(normal, [-30, -9, -3, 0, 3, 9, 30], *axis, alpha) for axis in axes)
        assert abs(pair.divergence(alpha, DIGITS, reverse=reverse).upper - total) < 1e-12


#: Laws, and the order from which on the integral diverges.
EDGES = [
    (laws.Exponential(1), laws.Exponential(2), 2),
    (laws.Rayleigh(2), laws.Rayleigh(1), Fraction(4, 3)),
    (laws.HalfNormal(2), laws.HalfNormal(1), Fraction(4, 3)),
    (laws.Weibull(2, 3), laws.Weibull(2, 2), Fraction(9, 5)),
    (laws.Weibull("1/2", 4), laws.Weibull("1/2", 1), 2),
    (laws.Pareto(3), laws.Pareto(4), 4),
    (laws.Gamma(2, 3), laws.Gamma(2, 4), 4),
    (laws.Gamma(1, 3), laws.Gamma(2, 3), 2),
    (laws.Chi(2), laws.Chi(3), 3),
    (laws.Beta(3, 1), laws.Beta(1, 2), 2),
    (laws.Geometric("1/2"), laws.Geometric("3/4"), 2),
    (laws.Normal(0, 2), laws.Normal(1, 1), 2),
    (laws.LogNormal(0, 3), laws.LogNormal(0, 2), 3),
    (
        laws.MultivariateNormal([0, 0], [[2, 0], [0, 1]]),
        laws.MultivariateNormal([0, 0], [[1, 0], [0, 5]]),
        2,
    ),
]


@pytest.mark.parametrize(("one", "other", "edge"), EDGES, ids=repr)
def test_the_divergence_is_infinite_from_the_exact_order_on(one, other, edge):
    pair = DistributionPair(one, other)
    tiny = Fraction(1, 10**40)
    for alpha in (edge, edge + tiny, edge + 1, 50, INFINITY):
        assert pair.divergence(alpha).lower == INFINITY
        assert pair.rdp(alpha).lower == INFINITY
    near, nearer = (pair.divergence(edge - step) for step in (Fraction(1, 10**6), tiny))
    # The integral has a pole, so that every factor 10 adds a constant.
    assert near.upper + 1 < nearer.lower
    assert nearer.upper < INFINITY


def test_the_integral_does_diverge_at_the_edge():
    """∫ p^α q^{1−α} over doubling ranges grows without bound: exponential, normal, beta at 0."""
    integrands = [
        lambda t: MP.exp(-t) ** 2 * (2 * MP.exp(-2 * t)) ** -1,
        lambda t: normal(MP, t, 0, 2) ** 2 / normal(MP, t, 0, 1),
        # x = e^{−t}, a = 1 against a = 2: x^0·x^{−1} dx = dt.
        lambda t: (MP.exp(-t) ** -1) * MP.exp(-t),
    ]
    for integrand in integrands:
        parts = [MP.quad(integrand, [2**k, 2 ** (k + 1)]) for k in range(2, 7)]
        assert all(later >= earlier for earlier, later in itertools.pairwise(parts))


#: Laws with a bounded log-ratio, and points among which its supremum is found.
BOUNDED = [
    (laws.Exponential(2), laws.Exponential(1), lambda x: MP.log(2) - x, [0]),
    (laws.Rayleigh(1), laws.Rayleigh(2), lambda x: MP.log(4) - 3 * x * x / 8, [0]),
    (laws.Normal(0, 1), laws.Normal(1, 2), None, None),
    (laws.Gamma(3, 2), laws.Gamma(2, 1), lambda x: MP.log(4 * x) - x, [1]),
    (laws.Beta(3, 4), laws.Beta(2, 2), lambda x: MP.log(10 * x * (1 - x) ** 2), [Fraction(1, 3)]),
    (laws.Poisson(2), laws.Poisson(3), lambda k: k * MP.log(MP.mpf(2) / 3) + 1, [0]),
    (laws.Geometric("2/3"), laws.Geometric("1/2"), None, None),
]


@pytest.mark.parametrize(
    ("one", "other", "log_ratio", "peak"), BOUNDED, ids=[repr(law) for law, *_ in BOUNDED]
)
def test_order_infinity_is_the_largest_log_ratio_and_the_limit(one, other, log_ratio, peak):
    pair = DistributionPair(one, other)
    top = pair.divergence("inf", DIGITS)
    if log_ratio is not None:
        assert holds(top, log_ratio(number(peak[0])))
    far = [pair.divergence(10**k, DIGITS) for k in (3, 6, 9)]
    gaps = [top.lower - answer.upper for answer in far]
    assert all(gap > 0 for gap in gaps)
    assert gaps[0] > 100 * gaps[1] > 10**4 * gaps[2]


def test_order_one_is_the_limit():
    for P, Q, _ in EDGES:
        pair = DistributionPair(P, Q)
        for reverse in (False, True):
            near = pair.divergence(1 + Fraction(1, 10**25), 20, reverse=reverse)
            kl = pair.divergence(1, 20, reverse=reverse)
            if kl.upper < INFINITY:
                assert abs(near.upper - kl.upper) < 1e-15
            else:
                assert near.lower == INFINITY


def test_singular_differences_of_covariances():
    """Σ₂ − Σ₁ of rank one: ε(∞) is finite only along its range."""
    one, other = [[1, 0], [0, 1]], [[2, 0], [0, 1]]
    along = DistributionPair(
        laws.MultivariateNormal([1, 0], one), laws.MultivariateNormal([0, 0], other)
    )
    across = DistributionPair(
        laws.MultivariateNormal([0, 1], one), laws.MultivariateNormal([0, 0], other)
    )
    assert holds(along.divergence("inf"), (1 + MP.log(2)) / 2, Fraction(1, 10**25))
    assert across.divergence("inf").lower == INFINITY
    assert across.divergence(5).upper < INFINITY


def test_one_dimension_is_the_univariate_law():
    flat = DistributionPair(laws.Normal(0, 1), laws.Normal(1, 2))
    wide = DistributionPair(
        laws.MultivariateNormal([0], [[1]]), laws.MultivariateNormal([1], [[2]])
    )
    for alpha in (1, "3/2", 4, "inf"):
        for reverse in (False, True):
            assert str(flat.divergence(alpha, reverse=reverse)) == str(
                wide.divergence(alpha, reverse=reverse)
            )


@pytest.mark.parametrize(
    ("one", "other", "symmetric"),
    [
        (laws.Normal(0, 1), laws.Normal(5, 1), True),
        (laws.Normal(0, 1), laws.Normal(0, 2), False),
        (laws.LogNormal(0, 1), laws.LogNormal(5, 1), True),
        (laws.Beta(2, 3), laws.Beta(3, 2), True),
        (laws.Beta(2, 3), laws.Beta(2, 4), False),
        (laws.Bernoulli("1/3"), laws.Bernoulli("2/3"), True),
        (laws.Bernoulli("1/3"), laws.Bernoulli("1/2"), False),
        (laws.Poisson(3), laws.Poisson(3), True),
        (laws.Poisson(3), laws.Poisson(4), False),
        (laws.Uniform(0, 1), laws.Uniform(3, 4), True),
        (laws.MultivariateNormal([0], [[2]]), laws.MultivariateNormal([1], [[2]]), True),
    ],
    ids=repr,
)
def test_a_symmetric_family_has_one_curve_both_ways_round(one, other, symmetric):
    pair = DistributionPair(one, other)
    assert pair._swap_symmetric == symmetric
    there, back = pair.divergence(Fraction(7, 5)), pair.divergence(Fraction(7, 5), reverse=True)
    assert (there.lower <= back.upper and back.lower <= there.upper) == symmetric


@given(
    st.fractions(Fraction(1, 9), 9, max_denominator=9),
    st.integers(-6, 6),
    st.integers(-6, 6),
    st.integers(0, 3),
)
def test_signs_of_logarithms_are_exact(t, a, b, off):
    """x = t^b, y = t^{−a} cancel; a nudge of x decides."""
    x, y = t**b, t**-a
    nudged = x * (1 + Fraction(off, 10**30))
    expected = 0 if off == 0 else (a > 0) - (a < 0)
    assert log_sign(Fraction(a, 7), nudged, Fraction(b, 7), y) == expected


def test_huge_exponents_are_compared_without_forming_powers():
    x, y = Fraction(3, 2), Fraction(2, 3) + Fraction(1, 10**50)
    big = Fraction(2**60 + 1)
    assert log_sign(big, x, big, y) == 1
    assert log_sign(big, x, big + 1, Fraction(2, 3)) == -1


def test_a_symbolic_order_blends_covariances_as_a_number_does():
    one = matrix(((Fraction(2), Fraction(1)), (Fraction(1), Fraction(3))))
    other = matrix(((Fraction(5), Fraction(1)), (Fraction(1), Fraction(4))))
    alpha = sympy.Symbol("alpha")
    found = blend_matrices(alpha, one, other).subs(alpha, sympy.Rational(3, 2))
    known = blend_matrices(Fraction(3, 2), one, other)
    assert [str(x) for x in found] == [str(x) for x in known.entries()]


@pytest.mark.parametrize(("p", "q", "l"), [("1/2", "1/3", 3), ("1/3", "1/2", 2), ("2/5", "2/5", 4)])
def test_the_moment_of_geometric_laws_is_their_series(p, q, l):
    p, q = Fraction(p), Fraction(q)
    found = GeometricDirection(p, q).moment(l)
    terms = ((p * (1 - p) ** k) ** l * (q * (1 - q) ** k) ** (1 - l) for k in range(400))
    assert abs(found - sum(terms)) < Fraction(1, 10**15)
