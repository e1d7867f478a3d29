"""The best of a random number of runs, by profiles: against all outcomes in every order."""

from __future__ import annotations

import functools
import itertools
import random
from fractions import Fraction

import pytest

from symacct import (
    ZCDP,
    AssumptionError,
    DistributionPair,
    DomainError,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    PureDP,
    RepeatAndSelect,
    laws,
    risk,
)
from symacct.profile import profile
from tests import independent
from tests.thinning import covering

MP = independent.context(40)
BINOMIAL, POISSON = laws.TruncatedNegativeBinomial, laws.Poisson


def number(x):
    return independent.number(MP, x)


def generating(runs):
    """x ↦ E[x^K], in mpmath."""
    if isinstance(runs, POISSON):
        return lambda x: MP.exp(number(runs.rate) * (x - 1))
    if isinstance(runs, laws.Binomial):
        return lambda x: (1 + number(runs.theta) * (x - 1)) ** int(runs.n)
    eta, rest = number(runs.eta), 1 - number(runs.gamma)
    if eta == 0:
        return lambda x: MP.log1p(-rest * x) / MP.log1p(-rest)
    return lambda x: ((1 - rest * x) ** -eta - 1) / ((1 - rest) ** -eta - 1)


def best(law, order, f):
    """What is told, from the worst outcome to the best."""
    below, found = MP.mpf(0), {}
    for outcome in order:
        found[outcome] = f(below + law[outcome]) - f(below)
        below += law[outcome]
    return found


def hockey_stick(p, q, a):
    return MP.fsum(max(p[y] - a * q[y], 0) for y in p)


@functools.cache
def in_every_order(first, second, runs):
    """What both laws are of what is told, for each order of the outcomes."""
    f = generating(runs)
    return [
        tuple(best([number(x) for x in law], order, f) for law in (first, second))
        for order in itertools.permutations(range(len(first)))
    ]


def worst_order(first, second, runs, epsilon):
    """The largest δ of all orders of the outcomes, both ways round."""
    a, every = MP.exp(number(epsilon)), in_every_order(tuple(first), tuple(second), runs)
    return max(max(hockey_stick(p, q, a), hockey_stick(q, p, a)) for p, q in every)


def drawn(draw, size):
    weights = [draw.randint(1, 30) for _ in range(size)]
    return tuple(Fraction(w, sum(weights)) for w in weights)


def near(draw, law):
    weights = [p * Fraction(draw.randint(70, 130), 100) for p in law]
    return tuple(w / sum(weights) for w in weights)


def drawn_pair(size, seed):
    """Two laws of so many outcomes, of every other seed near each other."""
    draw = random.Random(100 * size + seed)
    first = drawn(draw, size)
    return first, near(draw, first) if seed % 2 else drawn(draw, size)


COUNTS = [
    BINOMIAL(1, "1/10"),
    BINOMIAL(0, "1/20"),
    BINOMIAL("-1/2", "1/100"),
    BINOMIAL(3, "1/3"),
    POISSON("1/2"),
    POISSON(4),
    POISSON(20),
    laws.Binomial(1, "1/3"),
    laws.Binomial(4, "9/10"),
    laws.Binomial(40, "1/2"),
]


@covering()
@pytest.mark.parametrize("runs", COUNTS, ids=repr)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(6))
def test_no_order_of_the_outcomes_tells_more(runs, size, seed):
    first, second = drawn_pair(size, seed)
    node = RepeatAndSelect(DistributionPair(first, second), runs)
    for epsilon in (Fraction(1, 20), Fraction(1)):
        found = node.delta(epsilon, conversion="exact", digits=6)
        truth = worst_order(first, second, runs, epsilon)
        assert truth <= number(independent.fraction(found.delta.upper)) * (1 + MP.mpf(10) ** -20)
        assert found.kind is Kind.UPPER


GEOMETRIC = [("1/10", "1/20"), ("1/10", "1/5"), ("1/3", "1/100"), ("1", "1/10")]


@pytest.mark.parametrize(("pure", "gamma"), GEOMETRIC)
def test_two_answers_attain_it_to_a_part(pure, gamma):
    """At δ = 0 it is t + 2 log (e^t+γ)/(1+γe^t), which REPEAT-PURE has: so at most 1/1000 more."""
    node = RepeatAndSelect(PureDP(pure), BINOMIAL(1, gamma))
    t, g = number(Fraction(pure)), number(Fraction(gamma))
    truth = t + 2 * MP.log((MP.exp(t) + g) / (1 + g * MP.exp(t)))
    found = node.epsilon("1e-30", conversion="exact")
    assert abs(number(independent.fraction(found.epsilon.upper)) / truth - 1) < 1e-3


def above(x):
    return MP.erfc(x / MP.sqrt(2)) / 2


def gaussian_delta(mu, epsilon):
    return above(epsilon / mu - mu / 2) - MP.exp(epsilon) * above(epsilon / mu + mu / 2)


def told_by_size(mu, runs, last):
    """Both laws of the best of normal outcomes, in cells: the last ones first, then by size."""
    f = generating(runs)
    ends = [MP.mpf(k) / 8 for k in range(-64, 65)]
    for middle in (mu, 0):
        tails = [MP.mpf(1), *(above(x - middle) for x in ends), MP.mpf(0)]
        heads = [MP.mpf(0), *(above(middle - x) for x in ends), MP.mpf(1)]
        cells = [
            min(a - b, d - c)
            for (a, b), (c, d) in zip(
                itertools.pairwise(tails), itertools.pairwise(heads), strict=True
            )
        ]
        order = [*range(last, len(cells)), *reversed(range(last))]
        yield best([c / MP.fsum(cells) for c in cells], order, f)


@pytest.mark.parametrize(
    ("sigma", "gamma", "last"), [(5, "1/100", 52), (2, "1/10", 60), (20, "1/1000", 44)]
)
def test_gaussian_noise_by_the_formula_and_near_the_truth(sigma, gamma, last):
    """2 log R + ε₁(δγ), by roots in mpmath; of the worst outcomes first, then the best by size,

    at a tenth less the δ is larger than asked for: what is answered is near the truth."""
    mu, g, delta = 1 / MP.mpf(sigma), number(Fraction(gamma)), MP.mpf(10) ** -6
    ratio = MP.findroot(
        lambda r: gaussian_delta(mu, MP.log(r)) - (r - 1) * g / (1 - g),
        (1.0001, 1 / g),
        solver="anderson",
    )
    base = MP.findroot(
        lambda e: MP.log(gaussian_delta(mu, e) / (delta * g)), (0.001, 8), solver="anderson"
    )
    node = RepeatAndSelect(Gaussian(sigma), BINOMIAL(1, gamma))
    found = node.epsilon("1e-6", conversion="exact", digits=12)
    value = number(independent.fraction(found.epsilon.upper))
    formula = 2 * MP.log(ratio) + base
    assert formula * (1 - MP.mpf(10) ** -10) <= value <= formula * 1.001
    assert found.epsilon < node.epsilon("1e-6", conversion="improved").epsilon
    p, q = told_by_size(mu, node.runs, last)
    assert hockey_stick(p, q, MP.exp(value * Fraction(9, 10))) > delta
    assert hockey_stick(p, q, MP.exp(value)) <= delta


@pytest.mark.parametrize(("sigma", "rate", "delta"), [(5, 100, "1e-6"), (20, 1000, "1e-4")])
def test_a_poisson_number_of_runs_of_gaussian_noise_by_the_formula(sigma, rate, delta):
    """μ((R−1)y + δ₁(log R)) + ε₁(δ/2μ), the least of R, for μy = log 2/δ; in mpmath."""
    mu, most = 1 / MP.mpf(sigma), number(Fraction(delta))
    y = MP.log(2 / most) / rate
    r = MP.findroot(
        lambda r: MP.diff(lambda x: x * y + gaussian_delta(mu, MP.log(x)), r), (1.01, 1.2)
    )
    shift = rate * ((r - 1) * y + gaussian_delta(mu, MP.log(r)))
    base = MP.findroot(
        lambda e: MP.log(gaussian_delta(mu, e) / (most / 2 / rate)), (0.001, 8), solver="anderson"
    )
    found = RepeatAndSelect(Gaussian(sigma), POISSON(rate)).epsilon(delta, conversion="exact")
    value = number(independent.fraction(found.epsilon.upper))
    assert (shift + base) * (1 - MP.mpf(10) ** -10) <= value <= (shift + base) * 1.001


@pytest.mark.parametrize(("n", "theta"), [(2000, "1/20"), (10, "1/2")])
def test_a_binomial_number_of_runs_of_gaussian_noise_by_the_formula(n, theta):
    """(n−1) log R + ε₁(δ/nθ), or what the events of few of many runs say, in mpmath."""
    mu, most, t = MP.mpf(1) / 5, MP.mpf(10) ** -6, number(Fraction(theta))

    def one_run(delta):
        return MP.findroot(
            lambda e: MP.log(gaussian_delta(mu, e) / delta), (0.001, 8), solver="anderson"
        )

    ratio = MP.findroot(
        lambda r: t * gaussian_delta(mu, MP.log(r)) - (r - 1) * (1 - t),
        (1.0001, 1 / (1 - t)),
        solver="anderson",
    )
    formula = (n - 1) * MP.log(ratio) + one_run(most / (n * t))
    y = (1 - (most / 2) ** (MP.mpf(1) / n)) / t
    if y < 1:
        r = MP.findroot(
            lambda r: MP.diff(lambda x: x * y + gaussian_delta(mu, MP.log(x)), r), (1.01, 1.2)
        )
        gap = (r - 1) * y + gaussian_delta(mu, MP.log(r))
        shift = (n - 1) * MP.log((1 - t * y) / (1 - t * (y + gap)))
        formula = min(formula, shift + one_run(most / 2 / (n * t)))
    assert (y < 1) == (n == 2000)
    node = RepeatAndSelect(Gaussian(5), laws.Binomial(n, theta))
    found = node.epsilon("1e-6", conversion="exact", digits=12).epsilon
    value = number(independent.fraction(found.upper))
    assert formula * (1 - MP.mpf(10) ** -10) <= value <= formula * 1.001


def test_samples_and_several_runs():
    m = 1000 * PoissonSubsample(Gaussian(2), "1/100")
    made = laws.Binomial(200, "1/20")
    for runs in (BINOMIAL(1, "1/100"), BINOMIAL(0, "1/100"), POISSON(100), made):
        node = RepeatAndSelect(m, runs)
        found = node.epsilon("1e-6", conversion="exact", digits=6)
        assert found.epsilon < node.epsilon("1e-6", digits=6, conversion="improved").epsilon
        assert m.epsilon("1e-6", conversion="exact").epsilon < found.epsilon
        back = node.delta(found.epsilon.upper, conversion="exact", digits=6)
        assert float(back.delta) <= 1.001e-6
        assert "Lemma selected-profile" in found.cite()


def test_the_curve_answers_where_it_is_smaller():
    node = RepeatAndSelect(Laplace(10), POISSON(100))
    found, curve = (node.epsilon("1e-6", conversion=one) for one in ("exact", "improved"))
    assert found.epsilon.upper == curve.epsilon.upper
    assert "gives no less than" in found.note


def test_what_is_not_known_is_refused():
    node = RepeatAndSelect(ZCDP("1/10"), BINOMIAL(1, "1/10"))
    with pytest.raises(AssumptionError, match="found ZCDP, for which only"):
        node.epsilon("1e-6", conversion="exact")
    with pytest.raises(AssumptionError, match="found ZCDP, for which only"):
        (2 * node).epsilon("1e-6", conversion="exact")
    assert "Only a Rényi curve is known" in risk(node).note


def told(law, order, runs):
    """The chances of what is told; None is that nothing is."""
    f = generating(runs)
    return {None: f(MP.mpf(0))} | best([number(x) for x in law], order, f)


@covering()
@pytest.mark.parametrize("runs", COUNTS, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_a_pair_dominates_what_is_told_once_and_twice(runs, seed):
    """All orders of three outcomes: both laws of two runs, in two orders, are their products."""
    draw = random.Random(seed)
    first = drawn(draw, 3)
    second = near(draw, first) if seed % 2 else drawn(draw, 3)
    node = RepeatAndSelect(DistributionPair(first, second), runs)
    pair = profile(node).pair
    assert [sum(law) for law in zip(*pair.laws, strict=True)] == [1, 1]
    assert pair.symmetric
    orders = list(itertools.permutations(range(3)))
    laws_told = [(told(first, order, runs), told(second, order, runs)) for order in orders]
    epsilon = draw.choice([Fraction(1, 10), Fraction(1), Fraction(2)])
    a, twice = MP.exp(number(epsilon)), number(0)
    once = max(hockey_stick(*way, a) for p, q in laws_told for way in ((p, q), (q, p)))
    for (p, q), (u, v) in itertools.combinations_with_replacement(laws_told, 2):
        both = [{(x, y): one[x] * other[y] for x in one for y in other} for one, other in
                ((p, u), (q, v))]  # fmt: skip
        twice = max(twice, hockey_stick(*both, a), hockey_stick(*both[::-1], a))
    assert once <= MP.fsum(max(number(p) - a * number(q), 0) for p, q in pair.laws)
    found = (2 * node).delta(epsilon, conversion="exact", digits=6)
    assert twice <= number(independent.fraction(found.delta.upper))
    assert found.kind is Kind.UPPER
    power = max(hockey_stick(p, q, 1) for p, q in laws_told)
    assert power <= number(independent.fraction(risk(node).advantage.upper))


@pytest.mark.parametrize("epsilon", ["1/2", "1", "5/4"])
def test_a_pair_dominates_what_few_of_many_runs_tell(epsilon):
    """Of 100 runs the chance that none is good is e^{−100y}, about which ε may be large."""
    laws_of_one = [(y, 1 - y) for y in map(Fraction, ("3/25", "133/1000"))]
    node = RepeatAndSelect(DistributionPair(*laws_of_one), POISSON(100))
    first, second = (told(law, (1, 0), node.runs) for law in laws_of_one)
    a = MP.exp(number(Fraction(epsilon)))
    truth = max(hockey_stick(first, second, a), hockey_stick(second, first, a))
    assert truth > MP.mpf(10) ** -7
    pair = profile(node).pair
    assert min(map(min, pair.laws)) >= 0
    assert truth <= MP.fsum(max(number(p) - a * number(q), 0) for p, q in pair.laws)
    assert truth <= number(
        independent.fraction(node.delta(epsilon, conversion="exact").delta.upper)
    )


def test_selections_in_a_composition():
    """A selection and a training run, and ten selections, are less than by curves."""
    node = RepeatAndSelect(Gaussian(5), BINOMIAL(1, "1/100"))
    one = node.epsilon("1e-6", conversion="exact", digits=6).epsilon.upper
    pair = profile(node).largest_epsilon(Fraction(1, 10**6), 6)[0]
    assert one <= float(pair.upper()) <= 1.001 * float(one)
    run = 1000 * PoissonSubsample(Gaussian(2), "1/100")
    for m in (node + run, 2 * node, 10 * node, PoissonSubsample(node, "1/10")):
        found = m.epsilon("1e-6", conversion="exact", digits=4)
        assert found.conversion == "exact"
        assert found.kind is Kind.UPPER
        by_orders = m.epsilon("1e-6", digits=4, conversion="improved")
        assert found.epsilon.upper < by_orders.epsilon.upper
    both = (node + run).epsilon("1e-6", conversion="exact", digits=4).epsilon
    assert both.lower > one
    weak = 10 * RepeatAndSelect(Gaussian(5), POISSON(10))
    found = weak.epsilon("1e-6", conversion="exact", digits=4)
    assert (
        found.epsilon.upper == weak.epsilon("1e-6", digits=4, conversion="improved").epsilon.upper
    )


@pytest.mark.parametrize("count", [2, 20])
def test_a_number_in_the_place_of_its_law(count):
    with pytest.raises(DomainError, match=rf"found {count}, .*Binomial\(1, '1/{count}'\)") as told:
        RepeatAndSelect(Laplace(1), count)
    assert f"{count}*m" in str(told.value)
    RepeatAndSelect(Laplace(1), BINOMIAL(1, f"1/{count}"))


LACKING = [
    (("1", "0"), ("1/44", "43/44"), laws.Binomial(1, "1/100"), "99/100"),
    (("43/65", "2/65", "4/13"), ("41/42", "1/42", "0"), laws.Binomial(2, "999/1000"), "1/3"),
    (("2/3", "1/3"), ("1", "0"), POISSON(1), "2/3"),
]


@pytest.mark.parametrize(("first", "second", "runs", "level"), LACKING)
def test_a_test_next_to_what_only_one_law_has_is_bounded(first, second, runs, level):
    """Neyman and Pearson's test of what is told, in every order; two digits of H do not do."""
    first, second = (tuple(map(Fraction, law)) for law in (first, second))
    bound = risk(RepeatAndSelect(DistributionPair(first, second), runs)).tpr(level).upper
    f = generating(runs)
    for order in itertools.permutations(range(len(first))):
        p, q = (best([number(x) for x in law], order, f) for law in (first, second))
        for one, other in ((p, q), (q, p)):
            pairs = [(f(MP.mpf(0)), f(MP.mpf(0))), *((one[y], other[y]) for y in order)]
            power, left = MP.mpf(0), number(Fraction(level))
            for gain, cost in sorted(pairs, key=lambda x: x[1] / x[0] if x[0] else MP.inf):
                taken = min(MP.mpf(1), left / cost) if cost else MP.mpf(1)
                power, left = power + taken * gain, left - taken * cost
            assert power <= number(independent.fraction(bound)) * (1 + MP.mpf(10) ** -20)
