"""The adversary: wrong claims are refuted by a witness, theorems are not."""

import functools
import json
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from click.testing import CliRunner
from flint import arb

from symacct import DomainError, Kind, Theorem, falsify, theorems
from symacct.adversary.candidates import Candidates
from symacct.adversary.claims import CLAIMS, conjectured
from symacct.adversary.schemes.noise import NOISES, NoisyAnswer, _beyond, _zeroed_moment
from symacct.adversary.schemes.operations import Allocated
from symacct.adversary.schemes.samplings import SkewedRight
from symacct.adversary.search import Ruler, Search, samples, tasks
from symacct.cli import main
from symacct.kernel.arithmetic.ball import ball, precision, rational
from symacct.kernel.claims import ALL_ORDERS, INFINITE_ORDER, Orders, Source
from symacct.kernel.conversion import of_one_order
from symacct.kernel.exact import INFINITY
from symacct.mechanisms import Gaussian, Laplace, RandomizedResponse
from symacct.operations import PoissonSubsample, SubsampleWithoutReplacement
from symacct.theory.amplification.zeroed import as_if_told
from symacct.theory.amplification.zw19 import log_moment, sampled_pure
from tests import independent
from tests.thinning import covering, some

#: Sound, only looser: nothing can refute them. Their docstrings say so.
SOUND = {"IMPROVED-FLIPPED", "IMPROVED-FORGOTTEN", "IMPROVED-DELTA-FLIPPED"}
#: What Steinke 2022 states for every mechanism, so that no search should refute it.
STATED = {"T6-AS-UPPER"}

WRONG = sorted(set(CLAIMS) - SOUND - STATED)
PROVED = [t for t in theorems() if t.status == "proved"]
#: An integral over triangles for each candidate, which tests/soak tries hundreds of.
#: No scheme makes the noise that it speaks of: tests/analysis/test_random_allocation.py holds it.
NOT_ATTACKED = {"ALLOCATION-GAUSSIAN", "ALLOCATION-LAPLACE"}
#: It says that a curve is infinite; tests/operations/test_failing.py holds what is said of δ.
NOT_ATTACKED |= {"FAILING"}
#: Of mechanisms with two directions, which no scheme makes: tests/kernel/test_directions.py draws
#: them.
NOT_ATTACKED |= {"SAMPLE-DIRECTIONS", "ZW19-T6-ADDITION"}
COSTLY = {"TRIPLE-GAUSSIAN", "TRIPLE-GAUSSIAN-NEAR", "TRIPLE-GAUSSIAN-POISSON"}


MP = mpmath.MPContext()
MP.dps = 60


def number(x):
    return independent.number(MP, x)


def renyi(p, q, alpha):
    """D_α(P‖Q) by its definition, at 60 digits."""
    if alpha == float("inf"):
        return MP.log(max(number(a / b) for a, b in zip(p, q, strict=True)))
    if alpha == 1:
        return MP.fsum(number(a) * MP.log(number(a / b)) for a, b in zip(p, q, strict=True))
    a = number(Fraction(alpha))
    total = MP.fsum(number(x) ** a * number(y) ** (1 - a) for x, y in zip(p, q, strict=True))
    return MP.log(total) / (a - 1)


def larger(p, q, alpha):
    return max(renyi(p, q, alpha), renyi(q, p, alpha))


def mixture(rate, p, q):
    return [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]


@functools.cache
def planned(theorem):
    """What attacks a theorem: found once for the tests that ask of it."""
    return list(tasks(theorem, None))


@functools.cache
def witness_of(name, budget=5000):
    attack = falsify(name, budget=budget)
    assert attack.refuted, str(attack)
    laws = [law for _, law in attack.witness.laws]
    return attack.witness, laws, dict(attack.witness.numbers)


def agrees(enclosure, value):
    """Does the enclosure hold the independent value (whose own error is far below)?"""
    low, high = MP.make_mpf(enclosure.lower._mpf_), MP.make_mpf(enclosure.upper._mpf_)
    error = abs(value) * MP.mpf(10) ** -40
    return low - error <= value <= high + error


def stick(laws, ratio):
    """δ of two laws at e^ε, the larger of both directions, as a fraction."""
    return max(
        sum(max(0, a - ratio * b) for a, b in zip(*pair, strict=True))
        for pair in (laws, laws[::-1])
    )


def sampled_moment(eps, alpha, rate, shift=0):
    """log A(α)/(α−1), A = (1−γ)^{α−1}(αγ−γ+1) + Σ b_l e^{(l−1)ε(l−shift)}"""
    g = number(rate)
    total = (1 - g) ** (alpha - 1) * (alpha * g - g + 1)
    for l in range(2, alpha + 1):
        weight = MP.binomial(alpha, l) * g**l * (1 - g) ** (alpha - l)
        total += weight * MP.exp((l - 1) * eps(l - shift))
    return MP.log(total) / (alpha - 1)


# --- what must be refuted, each witness computed again without our code


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_claim_is_refuted_by_a_witness(name):
    witness, laws, _ = witness_of(name)
    if CLAIMS[name].theorem.kind is Kind.LOWER:
        assert witness.bound.lower > witness.truth.upper
    else:
        assert witness.truth.lower > witness.bound.upper
    assert all(sum(law) == 1 for law in laws if len(law) > 1)


def test_a_finite_bound_at_order_infinity_is_refuted_where_the_truth_is_infinite():
    """Gaussian noise has no largest loss; in float64 a truth may also overflow, which is none."""

    def thousand(ctx, eps, alpha, gamma):
        return ctx.number(1000)

    stated = conjectured(
        "thousand", thousand, "PoissonSubsample", Kind.UPPER, Source("user", ""), ALL_ORDERS
    )
    named = [
        task for task in tasks(stated, None) if task.scheme.name == "Poisson, Gaussian noise itself"
    ]
    search = Search(
        [task for task in named if task.alpha == INFINITY], 50, np.random.default_rng(0)
    )
    search.run()
    assert search.witness.truth.lower == search.witness.truth.upper == mpmath.inf
    assert search.witness.bound.upper < 1001
    finite = Search([task for task in named if task.alpha == 8], 50, np.random.default_rng(0))
    finite.run()
    assert finite.witness is None


def test_the_average_of_closer_pairs_may_be_farther_apart():
    witness, (p1, p2, q1, q2, mu1, mu2, nu1, nu2), _ = witness_of("BLOG-CONJECTURE-1")
    alpha, half = witness.alpha, Fraction(1, 2)
    assert renyi(p1, q1, alpha) <= renyi(mu1, nu1, alpha)
    assert renyi(p2, q2, alpha) <= renyi(mu2, nu2, alpha)
    ours = renyi(mixture(half, p1, p2), mixture(half, q1, q2), alpha)
    theirs = renyi(mixture(half, mu1, mu2), mixture(half, nu1, nu2), alpha)
    assert ours > theirs
    assert agrees(witness.truth, ours)


def test_the_poisson_formula_does_not_hold_without_replacement():
    witness, (p, q, r), numbers = witness_of("T8-WITHOUT-REPLACEMENT")
    rate, alpha = numbers["gamma"], witness.alpha
    truth = larger(mixture(rate, p, r), mixture(rate, q, r), alpha)
    bound = sampled_moment(
        lambda l: max(larger(p, q, l), larger(p, r, l), larger(q, r, l)), alpha, rate
    )
    assert truth > bound
    assert agrees(witness.truth, truth)
    assert agrees(witness.bound, bound)


def test_theorem_8_with_shifted_orders_fails_under_its_own_condition():
    witness, (p, q), numbers = witness_of("T8-SHIFTED")
    rate, alpha = numbers["gamma"], witness.alpha
    for l in range(3, alpha + 1, 2):
        assert sum(b * (a / b - 1) ** l for a, b in zip(p, q, strict=True)) >= 0
        assert sum(a * (b / a - 1) ** l for a, b in zip(p, q, strict=True)) >= 0
    truth = larger(mixture(rate, p, q), q, alpha)
    bound = sampled_moment(lambda l: larger(p, q, l), alpha, rate, shift=1)
    assert truth > bound
    assert agrees(witness.truth, truth)
    assert agrees(witness.bound, bound)


def test_theorem_9_needs_the_4_of_its_second_term():
    witness, (p, q, r), numbers = witness_of("T9-WITHOUT-THE-4")
    rate, alpha = numbers["gamma"], witness.alpha

    def eps(l):
        return max(larger(p, q, l), larger(p, r, l), larger(q, r, l))

    def spread(j):
        return min(MP.mpf(2), MP.expm1(eps(float("inf"))) ** j)

    g = number(rate)
    total = 1 + g**2 * MP.binomial(alpha, 2) * min(MP.expm1(eps(2)), MP.exp(eps(2)) * spread(2))
    for j in range(3, alpha + 1):
        total += g**j * MP.binomial(alpha, j) * MP.exp((j - 1) * eps(j)) * spread(j)
    truth = larger(mixture(rate, p, r), mixture(rate, q, r), alpha)
    assert truth > MP.log(total) / (alpha - 1)
    assert agrees(witness.truth, truth)
    assert agrees(witness.bound, MP.log(total) / (alpha - 1))


def test_theorem_27_is_unsound_on_a_curve_that_is_only_an_upper_bound():
    witness, laws, numbers = witness_of("T27-ON-AN-UPPER-BOUND")
    p, r, *raises = laws
    orders = [int(name.split()[-1]) for name, _ in witness.laws[2:]]
    raised = {l: number(x[0]) for l, x in zip(orders, raises, strict=True)}
    assert all(x > 0 for x in raised.values())
    rate, alpha = numbers["gamma"], witness.alpha
    curve = {l: larger(p, r, l) + raised.get(l, 0) for l in range(2, alpha + 1)}
    assert all(curve[l] <= curve[l + 1] for l in range(2, alpha))

    def difference(l):
        terms = [(l - 1) * curve[l] if l > 1 else 0 for l in range(l + 1)]
        return MP.fsum((-1) ** (l - i) * MP.binomial(l, i) * MP.exp(terms[i]) for i in range(l + 1))

    pure, total = larger(p, r, float("inf")), MP.mpf(1)
    for j in range(2, alpha + 1):
        root = 4 * MP.sqrt(difference(2 * (j // 2)) * difference(2 * (j - j // 2)))
        plain = MP.exp((j - 1) * curve[j]) * min(MP.mpf(2), MP.expm1(pure) ** j)
        total += number(rate) ** j * MP.binomial(alpha, j) * min(root, plain)
    truth = larger(mixture(rate, p, r), r, alpha)
    assert truth > MP.log(total) / (alpha - 1)
    assert agrees(witness.truth, truth)
    assert agrees(witness.bound, MP.log(total) / (alpha - 1))


def test_theorem_6_is_no_lower_bound_where_the_removal_attains_the_curve():
    """ZW19's proof puts the law with the record first; the other way round it fails."""
    witness, (p, q), numbers = witness_of("T6-FROM-A-REMOVAL")
    rate, alpha = numbers["gamma"], witness.alpha
    assert all(renyi(q, p, l) >= renyi(p, q, l) for l in range(2, alpha + 1))
    truth = larger(mixture(rate, p, q), q, alpha)
    assert truth < sampled_moment(lambda l: renyi(q, p, l), alpha, rate)
    assert agrees(witness.truth, truth)


def test_proposition_11_is_no_upper_bound():
    witness, (p, q, r), numbers = witness_of("P11-AS-UPPER")
    rate, alpha = number(numbers["gamma"]), witness.alpha
    odds = rate / (1 - rate)
    total = 1 + alpha * odds
    for l in range(2, alpha + 1):
        eps = max(larger(p, q, l), larger(p, r, l), larger(q, r, l))
        total += MP.binomial(alpha, l) * odds**l * MP.exp((l - 1) * eps)
    bound = (alpha * MP.log(1 - rate) + MP.log(total)) / (alpha - 1)
    truth = larger(mixture(numbers["gamma"], p, r), mixture(numbers["gamma"], q, r), alpha)
    assert truth > bound
    assert agrees(witness.truth, truth)
    assert agrees(witness.bound, bound)


def test_theorem_6_from_one_direction_of_the_curve_is_no_upper_bound():
    witness, (p, q), numbers = witness_of("T6-AS-UPPER-ONE-SIDED")
    rate, alpha = numbers["gamma"], witness.alpha
    truth = larger(mixture(rate, p, q), q, alpha)
    assert truth > sampled_moment(lambda l: renyi(p, q, l), alpha, rate)
    assert agrees(witness.truth, truth)


def test_lemma_4_is_not_attained_where_the_removal_attains_the_curve():
    witness, (p, q), numbers = witness_of("L4-FROM-A-REMOVAL")
    rate, infinity = numbers["gamma"], float("inf")
    assert renyi(q, p, infinity) >= renyi(p, q, infinity)
    truth = larger(mixture(rate, p, q), q, infinity)
    bound = MP.log1p(number(rate) * MP.expm1(renyi(q, p, infinity)))
    assert truth < bound
    assert agrees(witness.truth, truth)
    assert agrees(witness.bound, bound)


def test_the_value_at_the_next_lower_order_is_no_upper_bound():
    witness, (p, q), _ = witness_of("T3-AS-UPPER")
    truth, bound = larger(p, q, witness.alpha), larger(p, q, int(witness.alpha))
    assert truth > bound
    assert agrees(witness.truth, truth)
    assert agrees(witness.bound, bound)


def test_the_improved_delta_with_the_wrong_factor_is_refuted():
    witness, laws, numbers = witness_of("IMPROVED-DELTA-TIMES")
    ratio, alpha = numbers["e^epsilon"], number(Fraction(witness.alpha))
    truth = stick(laws, ratio)
    growth = MP.exp((alpha - 1) * (larger(*laws, witness.alpha) - MP.log(number(ratio))))
    bound = growth * (alpha - 1) * (1 - 1 / alpha) ** alpha
    assert number(truth) > bound
    assert agrees(witness.truth, number(truth))
    assert agrees(witness.bound, bound)


@pytest.mark.parametrize("name", ["IMPROVED-TWICE", "IMPROVED-PLUS"])
def test_a_conversion_with_a_wrong_sign_is_refuted(name):
    witness, laws, numbers = witness_of(name)
    ratio, alpha = numbers["e^epsilon"], number(Fraction(witness.alpha))
    eps, sign = larger(*laws, witness.alpha), {"IMPROVED-TWICE": 2, "IMPROVED-PLUS": 1}[name]
    rest = (MP.log(number(stick(laws, ratio))) + MP.log(alpha)) / (alpha - 1)
    rest = rest if name == "IMPROVED-PLUS" else -rest
    bound = eps + sign * MP.log((alpha - 1) / alpha) + rest
    assert bound < MP.log(number(ratio))
    assert agrees(witness.bound, bound)


@pytest.mark.parametrize("name", sorted(SOUND | STATED))
def test_what_is_only_looser_is_not_refuted(name):
    assert not falsify(name, budget=some(2000, 5000)).refuted


def test_the_conjecture_of_the_blog_fails_for_gaussian_noise_in_the_plane():
    """BLOG-C26 under replace-one: three normal laws, their means a triangle of equal sides."""
    attack = falsify("BLOG-C26", budget=5000)
    assert attack.refuted, str(attack)
    numbers, alpha = dict(attack.witness.numbers), attack.witness.alpha
    g, side = number(numbers["gamma"]), 1 / number(numbers["sigma"])

    def mixed(product):
        """1 − γ + γ times the ratio to R of a normal law whose mean is at this product with z."""
        return 1 - g + g * MP.exp(side * product - side**2 / 2)

    def at(x, y):
        p, q = mixed(x), mixed((x + MP.sqrt(3) * y) / 2)
        return p**alpha * q ** (1 - alpha) * MP.exp(-(x * x + y * y) / 2)

    # The trapezoidal rule is exact to e^{−2π²/h²} for normal laws; here h = 2/5.
    grid = [MP.mpf(2 * k) / 5 for k in range(-40, 56)]
    total = MP.fsum(at(x, y) for x in grid for y in grid) * MP.mpf(4) / 25 / (2 * MP.pi)
    truth = MP.log(total) / (alpha - 1)
    powers = range(alpha + 1)
    terms = (MP.binomial(alpha, l) * (1 - g) ** (alpha - l) * g**l for l in powers)
    base = MP.fsum(
        t * MP.exp(l * (l - 1) * side**2 / 2) for l, t in zip(powers, terms, strict=True)
    )
    bound = MP.log(base) / (alpha - 1)
    assert truth > bound
    assert agrees(attack.witness.truth, truth)
    assert agrees(attack.witness.bound, bound)


# --- what must not be


def claimed_sides(theorem):
    return {Kind.UPPER, Kind.LOWER} if theorem.kind is Kind.EXACT else {theorem.kind}


@pytest.mark.parametrize("theorem", theorems(), ids=lambda t: t.name)
def test_every_theorem_is_attacked_on_each_side_it_claims_for_each_operation(theorem):
    if theorem.name in NOT_ATTACKED:
        assert not falsify(theorem.name, budget=50).attacked
        return
    found = {(task.scheme.about, task.side) for task in planned(theorem)}
    needed = {(op, side) for op in theorem.operation for side in claimed_sides(theorem)}
    assert needed <= found, f"add a scheme to explore/attacks for {needed - found}"


@pytest.mark.parametrize("theorem", theorems(), ids=lambda t: t.name)
def test_every_law_of_noise_that_a_theorem_speaks_of_attacks_it(theorem):
    """Where a theorem is about some mechanisms only, each of them has a scheme of its own."""
    operations = {op.__name__: op for op in (PoissonSubsample, SubsampleWithoutReplacement)}
    for name in set(theorem.operation) & set(operations):
        wanted = {
            type(base)
            for base in (Gaussian(5), Laplace(2), RandomizedResponse("3/5"))
            if theorem.why_not(operations[name](base, "1/1000"), spoken_order(theorem)) is None
        }
        schemes = {task.scheme for task in planned(theorem) if task.scheme.about == name}
        found = {type(scheme.premise(first_candidate(scheme))) for scheme in schemes}
        if theorem.reads != "itself":
            assert wanted <= found, theorem.name


def spoken_order(theorem):
    return next(a for a in (2, float("inf")) if a in theorem.orders)


def first_candidate(scheme):
    return samples(scheme, 1).rounded(0, 100)


def test_condition_4_is_asked_of_the_odd_moments_in_both_directions():
    """At order 3: of ratios 2 and ⅔ they are ¼ − 1/36 and 0, of 1/10 and 11/10 one is below 0."""

    def laws(p, q):
        return Candidates(tuple(np.array([[x, 1 - x]], dtype=object) for x in (p, q)), {})

    right, left = (laws(Fraction(1, x), Fraction(1, y)) for x, y in ((2, 4), (100, 10)))
    assert SkewedRight().admits(right, 3).all()
    assert not SkewedRight().admits(left, 3).any()


def test_the_law_of_an_allocation_of_fractions_is_exact():
    """One of three steps at random, where a third is no float."""
    half, law = Fraction(1, 2), (Fraction(1, 5), Fraction(4, 5))
    laws = tuple(np.array([p], dtype=object) for p in (law, (half, half)))
    ((mixed, plain), _) = Allocated(3).result(Candidates(laws, {}))
    assert {type(x) for x in mixed[0]} == {Fraction}
    assert mixed.sum() == plain.sum() == 1
    assert mixed[0][0] == half**2 * law[0]


@covering(lambda theorem: {(theorem.operation, theorem.kind, theorem.orders)})
@pytest.mark.parametrize(
    "theorem", [t for t in PROVED if t.name not in COSTLY | NOT_ATTACKED], ids=lambda t: t.name
)
def test_no_theorem_is_refuted(theorem):
    attack = falsify(theorem.name, budget=900)
    assert not attack.refuted, f"a certified witness against a theorem:\n{attack}"
    assert set(attack.sides) == claimed_sides(theorem)


@pytest.mark.parametrize("conversion", of_one_order(), ids=lambda c: c.name)
def test_no_conversion_is_refuted(conversion):
    attack = falsify(conversion, budget=1500)
    assert attack.attacked
    assert not attack.refuted, str(attack)


def stated_otherwise(theorem, kind, factor):
    def bound(*args, **parameters):
        return theorem.bound(*args, **parameters) * factor.numerator / factor.denominator

    return of_bound(theorem, bound, kind=kind)


def of_bound(theorem, bound, **changed):
    """The theorem with another bound."""
    fields = {**vars(theorem), "bound": bound, **changed}
    fields.pop("claim", None)
    return Theorem(**fields)


@covering()
@pytest.mark.parametrize("kind", [Kind.UPPER, Kind.LOWER])
@pytest.mark.parametrize(
    "theorem",
    [t for t in PROVED if t.kind is Kind.EXACT and t.name not in NOT_ATTACKED],
    ids=lambda t: t.name,
)
def test_an_exact_value_off_by_a_tenth_is_refuted_from_either_side(theorem, kind):
    """The search is not blind: what is attained survives neither shrinking nor growing."""
    factor = Fraction(9, 10) if kind is Kind.UPPER else Fraction(11, 10)
    assert falsify(stated_otherwise(theorem, kind, factor), budget=1500).refuted


def as_poisson(ctx, eps, alpha, gamma):
    """What a sample of fixed size would cost if all other places were empty."""
    if alpha == INFINITY:
        return sampled_pure(ctx, eps(INFINITY), ctx.number(gamma))
    return log_moment(ctx, eps, alpha, ctx.number(gamma)) / (ctx.number(alpha) - 1)


def as_replaced(ctx, eps, alpha, gamma):
    """As a record replaced by one that is no further from it than from nothing."""
    return eps.of(SubsampleWithoutReplacement(eps.node, gamma))(alpha)


def of_squared_rate(ctx, eps, alpha, gamma):
    """As if a small rate counted as its square, as it does where the laws are near each other."""
    return as_if_told(ctx, eps, alpha, gamma * gamma)


_WHOLE = Orders(2, whole=True)


@pytest.mark.parametrize(
    ("name", "bound", "orders"),
    [
        ("ZERO-OUT-TOLD", of_squared_rate, _WHOLE),
        ("ZERO-OUT-PURE", as_poisson, INFINITE_ORDER),
        ("ZERO-OUT-TWO-STEPS", as_replaced, _WHOLE),
        ("ZERO-OUT-GAUSSIAN", as_poisson, _WHOLE),
    ],
)
def test_a_wrong_upper_bound_of_a_record_zeroed_out_is_refuted(name, bound, orders):
    """Of samples of fixed size; most of these bounds forget that another record is seen instead."""
    theorem = next(t for t in PROVED if t.name == name)
    assert falsify(of_bound(theorem, bound, orders=orders), budget=1500).refuted


@covering()
@pytest.mark.parametrize("shift", [Fraction(1, 3), Fraction(2)])
@pytest.mark.parametrize("alpha", [Fraction(5, 4), 2, Fraction(9, 2)])
@pytest.mark.parametrize("y", [-1, Fraction(1, 2), 0])
def test_the_truth_about_a_record_zeroed_out_is_the_definition(shift, alpha, y):
    """∫ p^α q^{1−α} of the two mixtures of normal laws by mpmath's quadrature, in either order."""
    rate = Fraction(1, 7)
    g, d, a = number(rate), number(shift), number(Fraction(alpha))
    means = [-14 + 4 * k for k in range(13)]

    def mixture(z, centre):
        return (1 - g) * MP.npdf(z - number(y) * d) + g * MP.npdf(z - centre * d)

    for is_removed in (False, True):
        first, second = (0, 1) if is_removed else (1, 0)
        with MP.workdps(30):
            moment = MP.quad(
                lambda z, p=first, q=second: mixture(z, p) ** a * mixture(z, q) ** (1 - a), means
            )
        with precision(128):
            found = _zeroed_moment(*map(ball, (Fraction(alpha), rate, shift, y)), is_removed)
        low, high = (number(rational(end)) for end in (found.lower(), found.upper()))
        assert low - MP.mpf(10) ** -20 <= moment - 1 <= high + MP.mpf(10) ** -20
        assert high - low <= high * MP.mpf(10) ** -10


@pytest.mark.parametrize(
    "name",
    [
        "SCALE",
        "ZW19-T6",
        "WBK19-P11",
        "PAIR-FINITE-WOR",
        "VEH14-T3",
        "ZERO-OUT-LOWER",
        "ZERO-OUT-GAUSSIAN-LOWER",
    ],
)
def test_a_bound_that_is_attained_is_refuted_off_by_a_tenth(name):
    theorem = next(t for t in PROVED if t.name == name)
    factor = Fraction(9, 10) if theorem.kind is Kind.UPPER else Fraction(11, 10)
    assert falsify(stated_otherwise(theorem, theorem.kind, factor), budget=1500).refuted


@covering()
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
@pytest.mark.parametrize("alpha", [1, Fraction(3, 2), 2, Fraction(13, 2)])
def test_the_truth_about_noise_is_the_definition(noise, alpha):
    """E_Q of the sampled pair by mpmath's quadrature, in either direction."""
    rate, scale = Fraction(1, 7), Fraction(4, 3)
    c = Candidates(
        (np.array([[Fraction(1, 2)] * 2], dtype=object),),
        {"gamma": cell(rate), noise.scale: cell(scale)},
    )
    g, s = number(rate), number(scale)
    if isinstance(noise.mechanism(scale), Gaussian):
        weight, points = lambda z: MP.npdf(z, 0, s), [-30, -3, 0.5, 4, 12, 40]
        log_ratio = lambda z: (2 * z - 1) / (2 * s**2)  # noqa: E731
    else:
        weight, points = lambda z: MP.exp(-abs(z) / s) / (2 * s), [-180, -20, 0, 1, 20, 180]
        log_ratio = lambda z: (abs(z) - abs(z - 1)) / s  # noqa: E731

    def mean(f):
        return MP.quad(lambda z: weight(z) * f(1 - g + g * MP.exp(log_ratio(z))), points)

    with MP.workdps(30):
        a = number(Fraction(alpha))
        if alpha == 1:
            expected = max(mean(lambda m: m * MP.log(m)), mean(lambda m: -MP.log(m)))
        else:
            expected = MP.log(max(mean(lambda m: m**a), mean(lambda m: m ** (1 - a)))) / (a - 1)
    with precision(128):
        found = NoisyAnswer(noise).truth(c, alpha)
    assert found.rel_accuracy_bits() > 60
    assert abs(MP.mpf(found.mid().str(40, radius=False)) / expected - 1) < MP.mpf(10) ** -15
    floats = Candidates(c.laws, {name: x.astype(float) for name, x in c.numbers.items()})
    (in_float,) = NoisyAnswer(noise).array_truth(floats, alpha)
    assert abs(in_float / float(expected) - 1) < 1e-9


def cell(x):
    return np.array([[x]], dtype=object)


# --- what it says


def test_the_same_seed_makes_the_same_search():
    assert str(falsify("ZW19-T5", 1000, seed=3)) == str(falsify("ZW19-T5", 1000, seed=3))
    assert str(falsify("ZW19-T5", 1000, seed=3)) != str(falsify("ZW19-T5", 1000, seed=4))


def test_an_attack_says_what_it_tried_and_how_near_it_came():
    attack = falsify("WBK19-T9", budget=3000)
    assert attack.candidates >= 3000
    assert attack.closest.ratio.lower >= 1
    assert "closest" in str(attack)
    shown = attack.as_dict()
    assert shown["witness"] is None
    assert shown["closest"]["verdict"] == "holds"
    assert sum(shown["schemes"].values()) == shown["candidates"]


def test_a_function_of_the_users_is_attacked_too():
    def too_good(ctx, eps, alpha, gamma):
        """ε′(α) <= γ² ε(α)"""
        return gamma**2 * eps(alpha)

    assert falsify(too_good, budget=2000, about="PoissonSubsample").refuted


@pytest.mark.parametrize("wrong", [5, "NO-SUCH", None, lambda ctx, eps, alpha: eps(alpha)])
def test_what_is_no_statement_is_refused(wrong):
    with pytest.raises(DomainError):
        falsify(wrong)


@covering(lambda name: {CLAIMS[name].theorem.kind})
@pytest.mark.parametrize("name", WRONG)
def test_the_command_refutes_every_wrong_claim(name):
    shown = CliRunner().invoke(main, ["falsify", name, "--budget", "5000", "--json"])
    assert shown.exit_code == 0
    witness = json.loads(shown.output)["witness"]
    assert witness["verdict"] == "refuted"
    assert str(witness_of(name)[0].laws[0][1][0]) == next(iter(witness["laws"].values()))[0]


@pytest.mark.parametrize("theorem", theorems(), ids=lambda theorem: theorem.name)
def test_every_ruler_measures_in_floats_at_orders_that_are_fractions(theorem):
    for task in planned(theorem):
        ruler = Ruler(task) if isinstance(task.alpha, Fraction) else None
        if ruler is not None and ruler.vectorised:
            assert ruler(samples(task.scheme, 3)).dtype == float, (task.scheme.name, task.alpha)


@pytest.mark.parametrize(
    ("rate", "shift", "order"), [(1 / 3, 2, 1), (1 / 3, 2, 3), (0.9, 0.5, 2.5), (0.01, 3, 8)]
)
def test_what_an_integral_of_opposite_normals_leaves_out_is_bounded(rate, shift, order):
    """Its bound is above the two tails, here from a near place on."""
    rate, shift, order, reach = map(MP.mpf, (rate, shift, order, shift + 1.5))

    def integrand(z):
        m, n = (1 + rate * MP.expm1(s * shift * z - shift**2 / 2) for s in (1, -1))
        r = m / n
        rise = r * MP.log(r) - r + 1 if order == 1 else r**order - 1 - order * (r - 1)
        return n * rise * MP.npdf(z)

    stretches = [MP.linspace(*ends, 9) for ends in ((reach, reach + 40), (-reach - 40, -reach))]
    with MP.workdps(20):
        left_out = sum(MP.quad(integrand, stretch) for stretch in stretches)
    power = 2 if order == 1 else order
    bound = _beyond(*(arb(str(x)) for x in (power, rate, shift, reach)))
    assert 0 < left_out < MP.mpf(bound.lower().str(20, radius=False))
