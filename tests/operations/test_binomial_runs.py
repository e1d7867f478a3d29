"""The best of those of n runs that are made: bounds against plain mpmath and all outcomes."""

import itertools
import random
from fractions import Fraction

import pytest

from symacct import (
    DistributionPair,
    DomainError,
    Either,
    Gaussian,
    Kind,
    Laplace,
    PureDP,
    RandomizedResponse,
    RepeatAndSelect,
    laws,
)
from tests import independent
from tests.support import INFINITY, holds
from tests.thinning import covering, some

MP = independent.context(60)
NAMES = [f"REPEAT-BINOMIAL{end}" for end in ("", "-BEST", "-PURE", "-ALL")]


def number(x):
    return independent.number(MP, x)


def share(rng, most=100):
    return Fraction(rng.randrange(1, most), most)


def trials(rng):
    return laws.Binomial(rng.choice([1, 2, 5, 30]), share(rng))


def chances(runs):
    """P[K = 0], …, P[K = n]."""
    n, theta = int(runs.n), number(runs.theta)
    return [MP.binomial(n, k) * theta**k * (1 - theta) ** (n - k) for k in range(n + 1)]


def divergence(masses, alpha):
    if alpha == INFINITY:
        return max(MP.log(p / q) for p, q in masses if p)
    a = number(alpha)
    if alpha == 1:
        return MP.fsum(p * MP.log(p / q) for p, q in masses if p)
    return MP.log(MP.fsum(p**a * q ** (1 - a) for p, q in masses)) / (a - 1)


# --- the law


@pytest.mark.parametrize("n", [1, 7, 256, 300])
def test_a_pair_of_binomial_laws_count_by_count(n):
    """Up to 256 trials by all outcomes, then in closed form; in mpmath by all."""
    rng = random.Random(n)
    first, second = (laws.Binomial(n, Fraction(1, 4) + share(rng) / 2) for _ in range(2))
    pair = DistributionPair(first, second)
    assert (pair.masses is None) == (n > 256)
    masses = list(zip(chances(first), chances(second), strict=True))
    back = [(q, p) for p, q in masses]
    for alpha in (Fraction(1, 2), 1, Fraction(5, 4), 2, 9, INFINITY):
        for reverse, asked in ((False, masses), (True, back)):
            answer = pair.divergence(alpha, 25, reverse=reverse)
            assert holds(answer, divergence(asked, alpha), 25, trusted=30)
    assert DistributionPair(first, laws.Binomial(n, 1 - first.theta))._swap_symmetric


def test_a_binomial_pair_has_the_profile_of_its_trials():
    pair = DistributionPair(laws.Binomial(20, "1/3"), laws.Binomial(20, "1/2"))
    one = DistributionPair(["1/3", "2/3"], ["1/2", "1/2"], "add_remove", "P")
    both = [a.delta(1, conversion="exact", digits=20).delta for a in (pair, 20 * one)]
    assert both[1].lower <= both[0].upper
    assert both[0].lower > 0


@pytest.mark.parametrize(
    ("made", "needed"),
    [
        (lambda: laws.Binomial(0, "1/2"), "needed a whole number >= 1"),
        (lambda: laws.Binomial("5/2", "1/2"), "needed a whole number >= 1"),
        (lambda: laws.Binomial(5, 1), "0 < probability < 1"),
        (lambda: laws.Binomial(5, 0), "0 < probability < 1"),
        (lambda: DistributionPair(laws.Binomial(2, "1/2"), laws.Binomial(3, "1/2")), "one n"),
        (lambda: RepeatAndSelect(PureDP(1), laws.Bernoulli("1/2")), r"laws.Binomial\(n, theta\)"),
    ],
)
def test_bad_input(made, needed):
    with pytest.raises(DomainError, match=needed):
        made()


# --- the bounds as they are written


def pure_curve(s, alpha):
    return s if alpha == INFINITY else independent.response(MP, alpha, MP.exp(s) / (1 + MP.exp(s)))


def without_pure(eps, alpha, runs):
    lam, theta = max(number(alpha), number(2)), number(runs.theta)
    kappa, others, t = -MP.log(1 - theta), number(runs.n) - 1, eps(INFINITY)
    e = MP.exp(-t)
    p, q = 1 - theta * e / (1 + e), 1 - theta / (1 + e)
    excesses = [max(MP.mpf(0), lam * MP.log(p) - (lam - 1) * MP.log(q))]
    for j in (2, 4):
        growth = MP.exp((j - 1) * eps(j))
        c = ((1 - 1 / lam) * (1 - MP.mpf(1) / j) * kappa / theta) ** j
        excesses.append(lam * theta / (j - 1) * c * growth)
        excesses.append((lam - 1) * ((1 - MP.mpf(1) / j) * eps(j) + kappa / j))
    order = independent.fraction(lam)
    rise = MP.expm1((lam - 1) * eps(order))
    factor = MP.exp(others * min(excesses))
    return MP.log1p(number(runs.n) * theta * factor * rise) / (lam - 1)


def pure(eps, alpha, runs):
    t, rest = eps(INFINITY), 1 - number(runs.theta)
    if t == MP.inf:
        return t
    e = MP.exp(t)
    return pure_curve(t + (number(runs.n) - 1) * MP.log((rest + e) / (1 + rest * e)), alpha)


def every_run_told(eps, alpha, runs):
    n, theta = number(runs.n), number(runs.theta)
    if alpha == 1:
        return n * theta * eps(1)
    lam = number(alpha) - 1
    return n * MP.log(1 - theta + theta * MP.exp(lam * eps(alpha))) / lam


WRITTEN = {
    "REPEAT-BINOMIAL": without_pure,
    "REPEAT-BINOMIAL-PURE": pure,
    "REPEAT-BINOMIAL-ALL": every_run_told,
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_bounds_are_their_written_formulas(name):
    for seed in range(some(5, 15)):
        rng = random.Random(f"{name} {seed}")
        mechanism = rng.choice(
            [
                Gaussian(1 + 9 * share(rng)),
                Laplace(1 + 3 * share(rng)),
                RandomizedResponse(Fraction(1, 2) + share(rng) / 2),
            ]
        )
        orders = [1, Fraction(3, 2), 2, 1 + 9 * share(rng), 7, 40]
        runs, alpha = trials(rng), rng.choice(orders)
        alpha = INFINITY if name.endswith("PURE") and seed % 3 == 0 else alpha
        value = WRITTEN[name](lambda a, m=mechanism: independent.rdp(MP, m, a), alpha, runs)
        answer = RepeatAndSelect(mechanism, runs).rdp(alpha, digits=30, by=name)
        assert holds(answer, value, 30, 45), (mechanism, runs, alpha)
        assert answer.claim.kind is Kind.UPPER


@pytest.mark.parametrize("name", WRITTEN)
def test_code_is_the_bound(name):
    node = RepeatAndSelect(Laplace(3), laws.Binomial(20, "1/10"))
    space = {}
    exec(node.code("python", name, max_order=12, points=20), space)  # noqa: S102  # our own
    for alpha in (2, 3, 12):
        bound = float(node.rdp(alpha, by=name).upper)
        assert bound <= space["epsilon_with_margin"](alpha) <= bound * (1 + 1e-9)


# --- brute force: every number of runs, every outcome


def told(law, runs):
    """The chances of no outcome and of each as the best: Σ_k P[K = k] (F^k − F_before^k)."""
    counts = chances(runs)
    found, before = [counts[0]], MP.mpf(0)
    for p in law:
        after = before + number(p)
        found.append(MP.fsum(c * (after**k - before**k) for k, c in enumerate(counts) if k))
        before = after
    return found


@covering()
@pytest.mark.parametrize("n", [1, 2, 6, 40])
@pytest.mark.parametrize("theta", ["1/50", "1/2", "19/20"])
@pytest.mark.parametrize("seed", range(4))
def test_no_bound_is_below_the_law_of_what_is_told(n, theta, seed):
    rng = random.Random(f"{n} {theta} {seed}")
    size, runs = rng.randrange(2, 5), laws.Binomial(n, theta)
    weights = [[rng.randrange(1, 12) for _ in range(size)] for _ in range(2)]
    P, Q = ([Fraction(w, sum(row)) for w in row] for row in weights)
    node = RepeatAndSelect(DistributionPair(P, Q), runs)
    for alpha in (1, Fraction(3, 2), 2, 5, 30, INFINITY):
        truth = MP.mpf(0)
        for order in itertools.permutations(range(size)):
            p, q = (told([law[i] for i in order], runs) for law in (P, Q))
            masses = list(zip(p, q, strict=True))
            truth = max(truth, divergence(masses, alpha))
            truth = max(truth, divergence([(b, a) for a, b in masses], alpha))
        assert truth <= number(independent.fraction(node.rdp(alpha).upper)) * (
            1 + MP.mpf(10) ** -40
        )
        for name in NAMES if alpha != INFINITY else ["REPEAT-BINOMIAL-PURE"]:
            bound = number(independent.fraction(node.rdp(alpha, by=name).upper))
            assert truth <= bound * (1 + MP.mpf(10) ** -40), (name, alpha)


# --- limits


@pytest.mark.parametrize("m", [Gaussian(5), Laplace(2)])
def test_many_runs_each_seldom_made_are_poisson_runs(m):
    """At n = 10⁹ by the formulas within 10⁻⁶ of it, by profiles too."""
    many = RepeatAndSelect(m, laws.Binomial(10**9, "1/100000000"))
    poisson = RepeatAndSelect(m, laws.Poisson(10))
    others = ("PS22-T6", "PS22-T6-BEST", "REPEAT-POISSON-PURE", "REPEAT-POISSON-ALL")
    for (one, other), alpha in itertools.product(zip(NAMES, others, strict=True), (1, 2, 7)):
        a, b = many.rdp(alpha, 12, by=one).upper, poisson.rdp(alpha, 12, by=other).upper
        near = 1e-4 if one.endswith("BEST") else 1e-6  # the orders are searched for apart
        assert a == b == INFINITY or abs(a / b - 1) < near, (one, alpha)
    for kind in ("improved", "exact"):
        a, b = (x.epsilon("1e-6", conversion=kind, digits=9).epsilon for x in (many, poisson))
        assert abs(a.upper / b.upper - 1) < 1e-4
    assert abs(many.delta("1/2", conversion="exact").delta.upper
               / poisson.delta("1/2", conversion="exact").delta.upper - 1) < 1e-3  # fmt: skip


@pytest.mark.parametrize("m", [Gaussian(3), Laplace(1)])
def test_what_is_seldom_made_tells_little(m):
    """To first order in θ every finite order and δ are what nθ runs told by coins cost."""
    small, tiny = (RepeatAndSelect(m, laws.Binomial(9, Fraction(1, 10**k))) for k in (6, 12))
    for alpha in (1, 2, 9):
        a, b = small.rdp(alpha, 12).upper, tiny.rdp(alpha, 12).upper
        assert b * 10**6 <= a * Fraction(101, 100)
        assert b < 1e-8
    assert tiny.delta(0, conversion="exact").delta.upper < 1e-10
    assert tiny.epsilon("1e-9", conversion="exact").epsilon.upper == 0


@pytest.mark.parametrize("theta", ["1/100", "1/3", "99/100"])
@pytest.mark.parametrize("m", [Gaussian(3), Laplace(1), PureDP("1/2")])
def test_one_run_that_may_be_made_is_a_coin_that_is_told(m, theta):
    """f is linear, so that H_a of what is told is θ H_a of one run for a >= 1."""
    node = RepeatAndSelect(m, laws.Binomial(1, theta))
    coin = Either(m, PureDP(0), theta)
    for alpha in (2, Fraction(7, 2), 20):
        assert node.rdp(alpha, 20).lower <= coin.rdp(alpha, 20).upper
        assert node.rdp(alpha).upper <= m.rdp(alpha).upper
    for epsilon in ("1/10", "3/10"):
        one, whole = (x.delta(epsilon, conversion="exact", digits=20).delta for x in (node, m))
        value = number(independent.fraction(whole.upper)) * number(Fraction(theta))
        assert abs(number(independent.fraction(one.upper)) / value - 1) < 1e-15
    one, whole = (x.epsilon("1e-3", conversion="exact").epsilon for x in (node, m))
    assert one.upper <= whole.upper


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("name", [None, *NAMES])
def test_what_only_one_law_has_costs_infinitely_much(name, n):
    """Also where no run is beside the one that is made, whose power is 0."""
    pair = DistributionPair(["1/3", "2/3"], [0, 1], "add_remove", "P")
    for alpha in (1, Fraction(9, 8), 2, 20):
        bound = RepeatAndSelect(pair, laws.Binomial(n, "2/3")).rdp(alpha, 6, by=name)
        assert bound.upper == INFINITY
