"""The best of a random number of runs: bounds against plain mpmath and against all outcomes."""

import random
from fractions import Fraction

import pytest

from symacct import (
    AssumptionError,
    Curve,
    DistributionPair,
    DomainError,
    Gaussian,
    Kind,
    Laplace,
    OrderError,
    PureDP,
    RandomizedResponse,
    RepeatAndSelect,
    laws,
    parse,
)
from symacct.interop.dp_events import gamma_of_mean, mean_above
from tests import independent
from tests.support import INFINITY, holds
from tests.thinning import covering, some

MP = independent.context(80)
BINOMIAL, POISSON = laws.TruncatedNegativeBinomial, laws.Poisson
TRIED = [2**k for k in range(1, 9)]


def number(x):
    return independent.number(MP, x)


def share(rng, most=100):
    return Fraction(rng.randrange(1, most), most)


def base(rng):
    return rng.choice(
        [
            Gaussian(1 + 9 * share(rng)),
            Laplace(1 + 3 * share(rng)),
            RandomizedResponse(Fraction(1, 2) + share(rng) / 2),
        ]
    )


def binomial(rng):
    return BINOMIAL(rng.choice([0, 1, Fraction(-1, 2), -share(rng), 3 * share(rng)]), share(rng))


def poisson(rng):
    return POISSON(20 * share(rng))


def order(rng):
    return rng.choice([1, Fraction(3, 2), 2, 1 + 9 * share(rng), 7, 40, INFINITY])


# --- the laws of the number of runs, count by count


def chances(runs, last):
    """P[K = 0], P[K = 1], …, one from the other."""
    if isinstance(runs, POISSON):
        mu = number(runs.rate)
        return [MP.exp(-mu) * mu**k / MP.factorial(k) for k in range(last)]
    eta, x = number(runs.eta), 1 - number(runs.gamma)
    weights = [MP.mpf(0), x]
    for k in range(2, last):
        weights.append(weights[-1] * x * (k - 1 + eta) / k)
    total = MP.fsum(weights)
    return [w / total for w in weights]


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_a_pair_of_truncated_negative_binomial_laws_count_by_count(seed):
    rng = random.Random(seed)
    eta = rng.choice([0, 1, Fraction(-1, 2), -share(rng), 3 * share(rng)])
    gammas = sorted(Fraction(1, 4) + share(rng) / 2 for _ in range(2))
    pair = DistributionPair(*(BINOMIAL(eta, gamma) for gamma in gammas))
    laws_of_k = [chances(BINOMIAL(eta, gamma), 900) for gamma in gammas]
    masses = list(zip(*laws_of_k, strict=True))[1:]
    back = [(q, p) for p, q in masses]
    for alpha in (1, Fraction(1, 2), Fraction(5, 4), 2):
        for reverse, asked in ((False, masses), (True, back)):
            answer = pair.divergence(alpha, 25, reverse=reverse)
            if answer.upper < INFINITY:
                a = number(alpha)
                found = (
                    MP.fsum(p * MP.log(p / q) for p, q in asked)
                    if alpha == 1
                    else MP.log(MP.fsum(p**a * q ** (1 - a) for p, q in asked)) / (a - 1)
                )
                assert holds(answer, found, 25, trusted=30)
    assert holds(pair.divergence(INFINITY, 25, reverse=True), MP.log(back[0][0] / back[0][1]), 25)


def test_at_its_edge_the_sum_is_finite_where_eta_is_negative():
    """x₁²/x₂ = 1: Σ w_k = A(1) = 2 for η = −1/2, and the sum diverges for η = 0."""
    pair = DistributionPair(BINOMIAL("-1/2", "3/4"), BINOMIAL("-1/2", "15/16"))
    first, second = ((1 - MP.sqrt(number(g))) * 2 for g in (Fraction(3, 4), Fraction(15, 16)))
    assert holds(pair.divergence(2, 30), MP.log(2 * second / first**2), 30, 60)
    assert DistributionPair(BINOMIAL(0, "3/4"), BINOMIAL(0, "15/16")).rdp(2).upper == INFINITY


# --- the bounds as they are printed


def mean(runs):
    g, eta = number(runs.gamma), number(runs.eta)
    if eta == 0:
        return (1 / g - 1) / MP.log(1 / g)
    return eta * (1 - g) / (g * (1 - g**eta))


def pure_curve(s, alpha):
    if alpha == INFINITY:
        return s
    return independent.response(MP, alpha, MP.exp(s) / (1 + MP.exp(s)))


def log_ratio(eps, gamma, j):
    return (1 - 1 / number(j)) * eps(j) + MP.log(1 / number(gamma)) / number(j)


def pure_ratio(eps, gamma):
    e, g = MP.exp(eps(INFINITY)), number(gamma)
    return MP.log((g + e) / (1 + g * e)) if e < MP.inf else MP.log(1 / g)


def read_at(eps, runs, lam):
    rest = 0 if lam == INFINITY else MP.log(mean(runs)) / (number(lam) - 1)
    return eps(lam) + rest


def theorem_2(eps, alpha, runs):
    least = min(pure_ratio(eps, runs.gamma), *(log_ratio(eps, runs.gamma, j) for j in TRIED))
    return read_at(eps, runs, max(alpha, 2)) + (1 + number(runs.eta)) * least


def binomial_pure(eps, alpha, runs):
    t = eps(INFINITY)
    if t == MP.inf:
        return t
    return pure_curve(t + (1 + number(runs.eta)) * pure_ratio(eps, runs.gamma), alpha)


def binomial_all(eps, alpha, runs):
    """Σ P[K = k] e^{(α−1)ε(α)k}, the series itself where it converges well."""
    if alpha == 1:
        return mean(runs) * eps(1)
    x = MP.exp((number(alpha) - 1) * eps(alpha))
    if (1 - number(runs.gamma)) * x > MP.mpf("0.7"):
        return None
    sum_of_it = MP.fsum(p * x**k for k, p in enumerate(chances(runs, 700)))
    return MP.log(sum_of_it) / (number(alpha) - 1)


def excess(eps, lam, j):
    a, b = number(lam), number(j)
    return a / (b - 1) * ((1 - 1 / a) * (1 - 1 / b)) ** b * MP.exp((b - 1) * eps(j))


def poisson_value(eps, lam, runs, exponent):
    a, mu = number(lam), number(runs.rate)
    return MP.log1p(mu * MP.exp(mu * exponent) * MP.expm1((a - 1) * eps(lam))) / (a - 1)


def pure_excess(eps, lam):
    e, a = MP.exp(eps(INFINITY)), number(lam)
    return max(MP.mpf(0), ((a - 1) * e - a) / (e + 1)) if e < MP.inf else a - 1


def theorem_6(eps, alpha, runs):
    lam = max(alpha, 2)
    return poisson_value(
        eps, lam, runs, min(pure_excess(eps, lam), *(excess(eps, lam, j) for j in TRIED[:2]))
    )


def poisson_pure(eps, alpha, runs):
    t = eps(INFINITY)
    return t if t == MP.inf else pure_curve(t + number(runs.rate) * MP.tanh(t / 2), alpha)


def poisson_all(eps, alpha, runs):
    if alpha == 1:
        return number(runs.rate) * eps(1)
    lam = number(alpha) - 1
    return number(runs.rate) * MP.expm1(lam * eps(alpha)) / lam


PRINTED = {
    "PS22-T2": (theorem_2, binomial),
    "REPEAT-PURE": (binomial_pure, binomial),
    "REPEAT-ALL": (binomial_all, binomial),
    "PS22-T6": (theorem_6, poisson),
    "REPEAT-POISSON-PURE": (poisson_pure, poisson),
    "REPEAT-POISSON-ALL": (poisson_all, poisson),
}
FINITE_ONLY = {"REPEAT-ALL", "PS22-T6", "REPEAT-POISSON-ALL"}


def curve_of(mechanism):
    return lambda alpha: independent.rdp(MP, mechanism, alpha)


@pytest.mark.parametrize("name", PRINTED)
def test_the_bounds_are_their_printed_formulas(name):
    formula, runs_of = PRINTED[name]
    for seed in range(some(6, 15)):
        rng = random.Random(f"{name} {seed}")
        mechanism, runs, alpha = base(rng), runs_of(rng), order(rng)
        if alpha == INFINITY and name in FINITE_ONLY:
            alpha = 3
        value = formula(curve_of(mechanism), alpha, runs)
        if value is not None:
            answer = RepeatAndSelect(mechanism, runs).rdp(alpha, digits=30, by=name)
            assert holds(answer, value, 30, 60), (mechanism, runs, alpha)
            assert answer.claim.kind is Kind.UPPER


def best(objective, low=1):
    """The least of a function with one valley, over all real orders > low."""
    return independent.smallest(MP, objective, low + MP.mpf(10) ** -6, 600)


@pytest.mark.parametrize("seed", range(some(2, 6)))
def test_the_searched_orders_of_theorem_2_are_near_the_best(seed):
    rng = random.Random(seed)
    mechanism, runs, alpha = Gaussian(1 + 9 * share(rng)), binomial(rng), 1 + 30 * share(rng)
    slope = number(1 / (2 * mechanism.sigma**2))
    eps = lambda a: slope * a  # noqa: E731
    told = best(lambda a: eps(a) + MP.log(mean(runs)) / (a - 1), low=number(alpha))
    told = min(told, read_at(eps, runs, alpha))
    least = best(lambda j: (1 - 1 / j) * eps(j) + MP.log(1 / number(runs.gamma)) / j)
    least = min(least, MP.log(1 / number(runs.gamma)))
    value = told + (1 + number(runs.eta)) * least
    for name in ("PS22-T2-BEST", "PS22-T2-PRINTED"):  # 1/γ is all that ε(∞) = ∞ allows
        answer = RepeatAndSelect(mechanism, runs).rdp(alpha, by=name)
        assert value * (1 - MP.mpf(10) ** -20) <= answer.upper
        assert answer.upper <= value * MP.mpf("1.0001"), (mechanism, runs, alpha)


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_where_no_order_that_is_searched_for_counts_theorem_2_is_its_formula(seed):
    """λ = α, as none above 512 is tried, and for γ < 1e-9 ε(∞) is below log(1/γ)/j + …, any j."""
    rng = random.Random(seed)
    mechanism = Laplace(Fraction(1, 2) + 3 * share(rng))
    runs = BINOMIAL(rng.choice([0, 1, Fraction(-1, 2), 3 * share(rng)]), share(rng) / 10**9)
    alpha, eps = rng.randint(600, 2000), curve_of(mechanism)
    for name, ratio in (
        ("PS22-T2-BEST", pure_ratio(eps, runs.gamma)),
        ("PS22-T2-PRINTED", eps(INFINITY)),
    ):
        value = read_at(eps, runs, alpha) + (1 + number(runs.eta)) * ratio
        answer = RepeatAndSelect(mechanism, runs).rdp(alpha, digits=30, by=name)
        assert holds(answer, value, 30, 60), (mechanism, runs, alpha)


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_where_no_run_can_stand_out_theorem_6_is_its_formula(seed):
    """(α−1)e^t <= α, t = ε(∞): nothing is left of the excess, and no order is searched for."""
    rng = random.Random(seed)
    alpha, runs = rng.randint(600, 2000), POISSON(1 + 20 * share(rng))
    pure = share(rng) / alpha
    mechanism = PureDP(pure)
    eps, t = curve_of(mechanism), number(pure)
    value = eps(alpha) + MP.log(number(runs.rate)) / (alpha - 1)
    printed = RepeatAndSelect(mechanism, runs).rdp(alpha, digits=30, by="PS22-T6-PRINTED")
    assert holds(printed, value, 30, 60)
    even = independent.fraction(1 / (1 - MP.exp(-t)))  # from this order on one can
    told = min(poisson_value(eps, lam, runs, 0) for lam in (alpha, even))
    answer = RepeatAndSelect(mechanism, runs).rdp(alpha, digits=30, by="PS22-T6-BEST")
    assert holds(answer, told, 30, 20)  # the order is found to 80 bits


@pytest.mark.parametrize("eta", ["-1/2", 0, 1, 5])
def test_theorem_2_as_printed_is_corollary_3_where_the_runs_are_many(eta):
    """(2+η)ε(∞) at α = ∞, the ratio (1+η)ε(∞) being that of the order ∞."""
    m = RepeatAndSelect(Laplace(1), BINOMIAL(eta, "1e-9"))
    assert abs(m.rdp(INFINITY, by="PS22-T2-PRINTED").upper - (2 + number(eta))) < 1e-30
    assert m.rdp(INFINITY, by="PS22-T2-BEST").upper < 2 + number(eta)


@pytest.mark.parametrize("seed", range(some(2, 4)))
def test_the_searched_orders_of_theorem_6_are_no_worse_than_a_grid(seed):
    rng = random.Random(seed)
    mechanism, runs, alpha = base(rng), poisson(rng), rng.choice([2, 5, 20])
    eps = curve_of(mechanism)
    grid = [lam for lam in (alpha, 2, 3, 5, 9, 14, 30, 60) if lam >= alpha]
    least = min(
        poisson_value(eps, lam, runs, min(excess(eps, lam, j) for j in [*TRIED, 3, 6, 12, 24]))
        for lam in grid
    )
    answer = RepeatAndSelect(mechanism, runs).rdp(alpha, by="PS22-T6-BEST")
    assert answer.upper <= least * MP.mpf("1.001"), (mechanism, runs, alpha)


@pytest.mark.parametrize("mean", ["1/10", 1, 1000])
@pytest.mark.parametrize("t", [200, 10**6])
def test_the_order_1_is_answered_where_the_order_from_which_on_runs_stand_out_is_next_to_it(
    t, mean
):
    """e^t/(e^t−1) is 1 to all bits that are searched; all outputs told cost μD₁ < μt there."""
    m, mu = RepeatAndSelect(PureDP(t), POISSON(mean)), number(Fraction(mean))
    assert m.rdp(1).upper <= min(mu * t, t + mu) * (1 + MP.mpf(10) ** -25)
    assert m.rdp(1).upper <= m.rdp(1, by="PS22-T6-BEST").upper < INFINITY


def test_no_privacy_is_lost_where_there_is_nothing_to_tell():
    for runs in (BINOMIAL(0, "1/50"), BINOMIAL(2, "1/3"), POISSON("1/3")):
        for alpha in (1, 2, "7/2", INFINITY):
            assert RepeatAndSelect(PureDP(0), runs).rdp(alpha).upper == 0


# --- brute force: every number of runs, every outcome


def told(law, runs, last):
    """The chances of no outcome and of each as the best: Σ_k P[K = k] (F^k − F_before^k)."""
    counts = chances(runs, last)
    found, before = [counts[0]] if counts[0] else [], MP.mpf(0)
    for p in law:
        after = before + number(p)
        found.append(MP.fsum(c * (after**k - before**k) for k, c in enumerate(counts) if k))
        before = after
    return found


@covering()
@pytest.mark.parametrize("runs_of", [binomial, poisson])
@pytest.mark.parametrize("seed", range(some(6, 12)))
def test_no_bound_is_below_the_law_of_what_is_told(runs_of, seed):
    rng = random.Random(f"{runs_of.__name__} {seed}")
    size = rng.randrange(2, 5)
    counts = [[rng.randrange(1, 12) for _ in range(size)] for _ in range(2)]
    P, Q = ([Fraction(c, sum(row)) for c in row] for row in counts)
    runs = runs_of(rng) if runs_of is poisson else BINOMIAL(rng.choice([0, 1, "-1/2"]), "1/5")
    node = RepeatAndSelect(DistributionPair(P, Q), runs)
    p, q = (told(law, runs, 400) for law in (P, Q))
    names = [n for n, (_, of) in PRINTED.items() if of is runs_of]
    code = "PS22-T2" if runs_of is binomial else "PS22-T6"
    names += [f"{code}-BEST", f"{code}-PRINTED"]
    for alpha in (1, Fraction(3, 2), 2, 5, 30, INFINITY):
        truth = max(
            independent.divergence(
                MP,
                alpha,
                [*zip(map(independent.fraction, a), map(independent.fraction, b), strict=True)],
            )
            for a, b in ((p, q), (q, p))
        )
        assert truth <= node.rdp(alpha).upper
        for name in names:
            try:
                assert truth <= node.rdp(alpha, by=name).upper, (name, alpha)
            except OrderError:
                assert name in FINITE_ONLY | {"PS22-T6-BEST", "PS22-T6-PRINTED"}


# --- dp_accounting 0.6: its values at orders 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256

#: (mechanism, mean, shape), then their values at the orders 2, 8 and 64, by RdpAccountant.
THEIRS = {
    (Gaussian(5), 10, 0): (0.970572, 0.970572, 1.837795),
    (Gaussian(5), 10, 1): (1.27309, 1.27309, 2.140313),
    (Gaussian(5), 50, Fraction(1, 2)): (1.453165, 1.453165, 2.214459),
    (Laplace(2), 10, 2): (2.013069, 2.013069, 2.013069),
    (Gaussian(5), 10, INFINITY): (2.343465, 1.07973, 2.444583),
    (Laplace(2), 2, INFINITY): (0.893451, 0.879379, 0.994016),
}


@pytest.mark.parametrize("key", THEIRS)
def test_dp_accounting_tries_fewer_orders(key):
    mechanism, average, shape = key
    poisson_runs = shape == INFINITY
    runs = POISSON(average) if poisson_runs else BINOMIAL(shape, gamma_of_mean(shape, average))
    for alpha, theirs in zip((2, 8, 64), THEIRS[key], strict=True):
        assert RepeatAndSelect(mechanism, runs).rdp(alpha).upper <= theirs


def test_dp_accounting_leaves_out_that_there_may_be_no_run():
    """Its 0.377179 at α = 8 is log(2)/7 + …: true of means from 1 on, and false of some below."""
    m = RepeatAndSelect(Gaussian(5), POISSON(2))
    assert 0.376 < m.rdp(8, by="PS22-T6-PRINTED").upper < 0.377179  # at the best j, not of a list
    assert m.rdp(8, by="PS22-T6-BEST").upper < 0.335
    with pytest.raises(AssumptionError, match="mean of at least 1"):
        RepeatAndSelect(Gaussian(5), POISSON("9/10")).rdp(8, by="PS22-T6-PRINTED")


def test_a_mean_is_met_from_above():
    for eta in (Fraction(0), Fraction(1, 2), Fraction(-1, 3), Fraction(2)):
        for average in (Fraction(3, 2), Fraction(10), Fraction(10**6)):
            gamma = gamma_of_mean(eta, average)
            found = mean(BINOMIAL(eta, gamma))
            assert number(average) <= found <= number(average) * (1 + MP.mpf(10) ** -15)
            assert independent.fraction(found) <= mean_above(BINOMIAL(eta, gamma)) + Fraction(
                1, 10**60
            )
    assert gamma_of_mean(Fraction(1), Fraction(10)) == Fraction(1, 10)


# --- an operation as any other


def test_a_curve_that_does_not_say_its_value_at_infinity():
    curve = Curve("alpha/50", kind="exact", adjacency="either")
    for runs in (BINOMIAL(0, "1/10"), POISSON(10)):
        known, same = (RepeatAndSelect(m, runs).rdp(8) for m in (curve, Gaussian(5)))
        assert known.lower <= same.upper
        assert same.lower <= known.upper


@pytest.mark.parametrize(
    ("made", "needed"),
    [
        (lambda: RepeatAndSelect(Gaussian(5), 10), "needed laws.Poisson"),
        (lambda: RepeatAndSelect(Gaussian(5), laws.Geometric("1/2")), "eta = 1 is geometric"),
        (lambda: RepeatAndSelect(5, POISSON(2)), "mechanism"),
        (lambda: BINOMIAL(-1, "1/2"), "needed > -1"),
        (lambda: BINOMIAL(0, 0), "0 < probability < 1"),
        (lambda: BINOMIAL(0, 1), "0 < probability < 1"),
        (lambda: BINOMIAL(0, 1).sampled, "0 < probability < 1"),
        (
            lambda: DistributionPair(BINOMIAL(0, "1/2"), BINOMIAL(1, "1/2")),
            "one eta for both",
        ),
        (lambda: parse("RepeatAndSelect(Gaussian(5), Gaussian(5))"), "needed laws.Poisson"),
    ],
)
def test_bad_input(made, needed):
    with pytest.raises(DomainError, match=needed):
        made()


def test_a_theorem_about_other_numbers_of_runs():
    with pytest.raises(AssumptionError, match="needed a Poisson number of runs"):
        RepeatAndSelect(Gaussian(5), BINOMIAL(0, "1/2")).rdp(2, by="PS22-T6")
    with pytest.raises(OrderError, match="needed < 1"):
        RepeatAndSelect(Gaussian(1), BINOMIAL(0, "1/2")).rdp(9, by="REPEAT-ALL")
