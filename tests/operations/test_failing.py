"""Mechanisms that may fail: δ of all of them, by that of what is left."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import (
    ZCDP,
    ApproximateDP,
    Curve,
    DistributionPair,
    DomainError,
    Either,
    ExponentialMechanism,
    Failing,
    FiniteMechanism,
    Gaussian,
    GroupPrivacy,
    InfiniteError,
    Kind,
    Laplace,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    RepeatAndSelect,
    SubsampleWithoutReplacement,
    SymacctError,
    dp_sgd,
    from_json,
    limits,
    parse,
    thresholded,
)
from symacct.kernel.answer import to_fraction
from symacct.kernel.conversion import EpsilonDelta, failures, named
from symacct.kernel.exact import expression
from symacct.laws.families import Binomial, Poisson, TruncatedNegativeBinomial
from tests import independent
from tests.support import holds
from tests.thinning import covering, examples

MP = independent.context(60)
ODDS = st.lists(st.integers(1, 9), min_size=2, max_size=3)
FAILS = st.fractions(Fraction(0), Fraction(9, 10), max_denominator=50)
LOSSES = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)])


def laws(odds):
    """Two laws on few outcomes, of these odds and of their reverse."""
    return tuple([Fraction(x, sum(odds)) for x in one] for one in (odds, odds[::-1]))


def failing_laws(pair, fails):
    """The two laws with the outcome that tells the dataset, which comes first."""
    p, q = ([(1 - fails) * x for x in law] for law in pair)
    return [fails, Fraction(0), *p], [Fraction(0), fails, *q]


def delta_of(pairs, power):
    """Σ (P − e^ε Q)₊ over all outcomes of all of the pairs, e^ε a fraction."""
    total = Fraction(0)
    for way in itertools.product(*(zip(*pair, strict=True) for pair in pairs)):
        p, q = (math.prod(one) for one in zip(*way, strict=True))
        total += max(Fraction(0), p - power * q)
    return total


@examples(8, 300)
@given(parts=st.lists(st.tuples(ODDS, FAILS), min_size=1, max_size=3), epsilon=LOSSES)
def test_it_is_what_the_outcomes_say_that_are_counted_one_by_one(parts, epsilon):
    known = [(laws(odds), fails) for odds, fails in parts]
    m = sum((Failing(DistributionPair(*pair), fails) for pair, fails in known), start=0)
    found = m.delta(epsilon, 12, "exact")
    power = Fraction(math.exp(epsilon)).limit_denominator(10**12)
    true = delta_of([failing_laws(*one) for one in known], power)
    assert found.kind is Kind.EXACT
    assert to_fraction(found.delta.lower) - Fraction(1, 10**9) <= true
    assert true <= to_fraction(found.delta.upper) + Fraction(1, 10**9)
    if epsilon == 0:
        assert to_fraction(found.delta.lower) <= true <= to_fraction(found.delta.upper)
    least = m.lower_delta(epsilon, 12)
    assert to_fraction(least.lower) <= to_fraction(found.delta.upper)


@examples(8, 200)
@given(first=ODDS, second=st.lists(ODDS, min_size=5, max_size=5), fails=FAILS, later=FAILS)
def test_the_second_may_depend_on_what_the_first_told_and_on_whether_it_failed(
    first, second, fails, later
):
    """All outcomes in fractions, at ε = 0: one of three laws, chosen by the first's outcome."""
    last = [laws(odds) for odds in second]
    total = Fraction(0)
    for i, (p, q) in enumerate(zip(*failing_laws(laws(first), fails), strict=True)):
        for x, y in zip(*failing_laws(last[i], later), strict=True):
            total += max(Fraction(0), p * x - q * y)
    every = {tuple(law): law for pair in last for law in pair}
    size = max(map(len, every))
    known = [[*law, *[Fraction(0)] * (size - len(law))] for law in every.values()]
    second = FiniteMechanism([*known, known[0][::-1], [1, *[Fraction(0)] * (size - 1)]])
    m = Failing(DistributionPair(*laws(first)), fails) + Failing(second, later)
    assert total <= to_fraction(m.delta(0, 12, "exact").delta.upper)


@covering()
@pytest.mark.parametrize(
    ("m", "delta", "most"),
    [
        (10 * ExponentialMechanism("1/2") + ApproximateDP(0, "1e-7"), "1e-6", "3.64470"),
        (ZCDP("1/10") + ApproximateDP("1/2", "1e-5"), "1e-3", "1.78807"),
        (ZCDP("1/2") + ApproximateDP(0, "5e-6"), "1e-5", "4.88227"),
        (Failing(ZCDP("1/2"), "5e-6"), "1e-5", "4.88227"),
        (
            ZCDP("1/10") + ApproximateDP(0, "1e-6") + 10 * ExponentialMechanism("1/10"),
            "1e-5",
            "2.05460",
        ),
    ],
)
def test_it_is_at_most_what_other_programs_print(m, delta, most):
    for conversion in ("improved", "best"):
        found = m.epsilon(delta, 6, conversion)
        assert Fraction(found.epsilon.rounded()) <= Fraction(most)
        assert found.mechanism is m
        assert found.delta == Fraction(delta)
        assert "FAILING" in found.claim.theorems


def test_δ_of_zcdp_that_may_fail_is_the_least_over_orders_of_what_is_left():
    """By the formula of Canonne, Kamath and Steinke in mpmath, its least place by the slope."""
    rho, fails, epsilon = MP.mpf(1) / 2, MP.mpf(5) / 10**6, MP.mpf(4)

    def log_delta(alpha):
        lam = alpha - 1
        return lam * (rho * alpha - epsilon) + alpha * MP.log(lam / alpha) - MP.log(lam)

    alpha = MP.findroot(lambda a: MP.diff(log_delta, a), 4)
    true = fails + (1 - fails) * MP.exp(log_delta(alpha))
    found = Failing(ZCDP("1/2"), "5e-6").delta(4, 12, "improved").delta
    assert abs(found.upper - true) < true * MP.mpf(10) ** -10


LEAVES = [
    Gaussian(2),
    Laplace(2),
    3 * RandomizedResponse("3/4"),
    20 * PoissonSubsample(Gaussian(1), "1/100"),
    5 * ExponentialMechanism("1/2"),
    ZCDP("1/20"),
    Curve("alpha/30", "upper", "either"),
    PoissonSubsample(Gaussian(1), "1/100") + ZCDP("1/100"),
    SubsampleWithoutReplacement(Gaussian(1), "1/50"),
    GroupPrivacy(Laplace(2), 2),
]
CONVERSIONS = ("classic", "improved", "optimal", "exact")


@covering()
@pytest.mark.parametrize("m", LEAVES, ids=repr)
@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_one_rule_for_every_conversion(m, conversion):
    """δ′ = 1 − (1−d)(1−δ) and ε at the δ that is left, the same for a part and for all."""
    fails = Fraction(1, 1000)
    whole, beside = Failing(m, fails), m + ApproximateDP(0, fails)
    try:
        rest = m.delta(1, 12, conversion)
    except SymacctError as error:
        for one in (whole, beside):
            with pytest.raises(type(error)):
                one.delta(1, 12, conversion)
        return
    for one in (whole, beside):
        found = one.delta(1, 12, conversion)
        assert found.kind is rest.kind
        for end in ("lower", "upper"):
            true = 1 - (1 - fails) * (1 - to_fraction(getattr(rest.delta, end)))
            assert abs(to_fraction(getattr(found.delta, end)) - true) < Fraction(1, 10**12)
        assert to_fraction(found.delta.upper) >= 1 - (1 - fails) * (
            1 - to_fraction(rest.delta.upper)
        )
        given = Fraction(1, 400)
        left = 1 - (1 - given) / (1 - fails)
        assert (
            one.epsilon(given, 8, conversion).epsilon.rounded()
            == m.epsilon(left, 8, conversion).epsilon.rounded()
        )
        assert one.lower_epsilon(given, 8).rounded() == m.lower_epsilon(left, 8).rounded()


@pytest.mark.parametrize(
    ("epsilon", "fails", "k"), [("1/10", "1e-7", 2000), ("1/50", "1/10**3", 700)]
)
def test_a_probability_that_is_too_long_to_be_a_fraction_is_rounded_to_either_side(
    epsilon, fails, k
):
    """Runs of (ε, δ)-DP by the formula of Kairouz, Oh and Viswanath, in sixty digits."""
    fails = Fraction(1, 10**3) if "**" in fails else Fraction(fails)
    m, e, d = k * ApproximateDP(epsilon, fails), independent.number(MP, Fraction(epsilon)), fails
    for i in (k // 2 - 1, k // 2 - 20):
        terms = (
            MP.binomial(k, l) * (MP.exp((k - l) * e) - MP.exp((k - 2 * i + l) * e))
            for l in range(i)
        )
        lost = MP.fsum(terms) / (1 + MP.exp(e)) ** k
        true = 1 - (1 - independent.number(MP, d)) ** k * (1 - lost)
        found = m.delta((k - 2 * i) * Fraction(epsilon), digits=12, conversion="exact")
        assert found.kind is Kind.EXACT
        assert holds(found.delta, true, 12, trusted=30)
        back = m.epsilon(to_fraction(found.delta.upper), 10, "exact").epsilon
        assert back.lower <= (k - 2 * i) * e
        assert abs(back.upper - (k - 2 * i) * e) < MP.mpf(10) ** -6


def test_where_the_probability_of_failing_is_all_there_is():
    m = 2 * Failing(PureDP("1/3"), "1/10") + Failing(PureDP("1/2"), "1/5")
    least = 1 - Fraction(9, 10) ** 2 * Fraction(4, 5)
    assert m.epsilon(least, conversion="exact").epsilon.exactly == Fraction(7, 6)
    assert m.delta("7/6", conversion="exact").delta.exactly == least
    for conversion in CONVERSIONS:
        with pytest.raises(InfiniteError, match=r"needed at least 0\.352, the probability"):
            m.epsilon(least - Fraction(1, 10**20), conversion=conversion)
    with pytest.raises(InfiniteError, match=r"needed more than 0\.01, the probability"):
        Failing(Gaussian(2), "1/100").epsilon("1/100", conversion="exact")
    tiny = Failing(Gaussian(2), "1/100").delta("1e5", 6, "exact").delta
    assert Fraction(1, 100) <= to_fraction(tiny.upper) < Fraction(1, 100) + Fraction(1, 10**15)


def test_what_may_fail_of_what_is_post_processed_or_fails_again():
    twice = Failing(Failing(Laplace(2), "1/10"), "1/10")
    once = Failing(Laplace(2), 1 - Fraction(9, 10) ** 2)
    assert str(twice.delta("1/5", 12, "exact").delta) == str(once.delta("1/5", 12, "exact").delta)
    told = PostProcess(2 * once + Gaussian(1)).delta(1, 12, "exact")
    assert told.kind is Kind.UPPER
    assert told.delta.upper == (2 * once + Gaussian(1)).delta(1, 12, "exact").delta.upper


@pytest.mark.parametrize(
    "hidden",
    [
        PostProcess(Failing(Gaussian(1), "1/10")),
        PostProcess(ApproximateDP(1, "1/10")),
        thresholded(Laplace(1), 5),
        dp_sgd(100, 100, 10, steps=1, sampling="with_replacement"),
    ],
    ids=["of noise", "of a stated one", "thresholded", "of draws"],
)
@pytest.mark.parametrize(
    "above",
    [
        lambda m: m,
        lambda m: 2 * m + RandomizedResponse("3/4"),
        lambda m: Either(m, RandomizedResponse("3/4"), "1/2"),
        lambda m: Failing(m, "1/7"),
        lambda m: RandomAllocation(m, 2, 2),
        lambda m: PoissonSubsample(m, 1),
        lambda m: GroupPrivacy(m, 2),
    ],
    ids=["alone", "runs", "coin", "failing", "in all steps", "on all", "group"],
)
@covering()
def test_a_function_of_the_output_may_hide_a_failure(hidden, above):
    """A function that tells nothing is one: no lower bound exceeds what is beside it."""
    nothing = above(PureDP(0))
    for epsilon in ("1/2", 20):
        least = above(hidden).lower_delta(epsilon, 6)
        assert least.lower <= nothing.delta(epsilon, 8).delta.upper
    delta = Fraction(1, 10**9)
    if to_fraction(nothing.delta(20, 8).delta.upper) <= delta:
        assert above(hidden).lower_epsilon(delta, 6).lower <= 20


@pytest.mark.parametrize("gamma", ["1/100", "1/2", "9/10"])
def test_on_a_sample_it_fails_for_those_who_are_in_it(gamma):
    """Beside the sample's own δ: d where the record is in it, of a failure."""
    rate, d = Fraction(gamma), Fraction(1, 1000)
    m = PoissonSubsample(Laplace(2), gamma)
    found = PoissonSubsample(Failing(Laplace(2), d), gamma)
    for epsilon in ("1/1000", "1/10", "1"):
        base = m.delta(epsilon, 15, "exact").delta
        low, high = (1 - d) * to_fraction(base.lower), (1 - d) * to_fraction(base.upper)
        told = found.delta(epsilon, 10, "exact")
        other = max(0, 1 - Fraction(math.exp(float(Fraction(epsilon)))) * (1 - rate))
        assert told.kind is Kind.EXACT
        assert to_fraction(told.delta.upper) >= low + d * min(rate, other)
        assert to_fraction(told.delta.lower) <= high + d * rate


def test_a_group_fails_where_the_mechanism_does_by_itself_and_not_where_pairs_do():
    group = GroupPrivacy(Failing(Gaussian(2), "1e-5"), 3)
    found = group.epsilon("1e-2", 6, "exact")
    same = Failing(GroupPrivacy(Gaussian(2), 3), "1e-5").epsilon("1e-2", 6, "exact")
    assert (found.kind, str(found.epsilon)) == (same.kind, str(same.epsilon))
    assert group.lower_epsilon("1e-2", 6).upper <= found.epsilon.upper
    stated = PostProcess(Failing(Gaussian(2), "1e-5"), premise="its pairs are those of a failure")
    for conversion in ("improved", "exact", "best"):
        with pytest.raises(SymacctError):
            GroupPrivacy(stated, 3).epsilon("1e-2", 6, conversion)
    found = Failing(GroupPrivacy(Laplace(2), 3), "1e-5").epsilon("1e-2", 6, "exact")
    assert found.claim.adjacency.group == 3
    assert found.kind is GroupPrivacy(Laplace(2), 3).epsilon("1e-2", 6, "exact").kind
    beside = GroupPrivacy(PureDP(1), 3) + ApproximateDP(0, "1e-5")
    assert beside.epsilon("1e-2", 6, "exact").claim.adjacency.group == 1
    assert beside.epsilon("1e-2", 6, "exact").kind is Kind.UPPER


# --- below samples, allocations, groups and repetitions


def mixed(weights, *every):
    """The mixture of laws on the same outcomes."""
    return [
        sum(w * x for w, x in zip(weights, column, strict=True))
        for column in zip(*every, strict=True)
    ]


def products_of(every):
    """The law of independent outcomes."""
    return [math.prod(way) for way in itertools.product(*every)]


def bound_by_failures(m, epsilon):
    """An upper bound of δ(ε) by the failures of the expression and its rest."""
    parts = failures(m, bounded=True)
    return 1 - parts.survival * (
        1 - to_fraction(parts.rest.delta(epsilon, 15, "exact").delta.upper)
    )


LAW = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(
    lambda odds: [Fraction(x, sum(odds)) for x in odds]
)
SHARE = st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=20)


@examples(12, 400)
@given(pair=st.tuples(LAW, LAW), told=st.tuples(LAW, LAW), fails=FAILS, rate=SHARE)
def test_no_sample_or_allocation_of_two_mixtures_is_above_its_failures(pair, told, fails, rate):
    """P = (1−d)P₀ + dR and Q = (1−d)Q₀ + dT of any laws, as δ-approximate zCDP has them."""
    p, q = (mixed((1 - fails, fails), *laws) for laws in zip(pair, told, strict=True))
    base = DistributionPair(*pair, "add_remove")
    sampled = PoissonSubsample(Failing(base, fails), rate)
    with_record = mixed((rate, 1 - rate), p, q)
    compared, runs = [(sampled, with_record, q)], 3
    nowhere = products_of([q] * runs)
    for times in (1, 2, 3):
        drawn = list(itertools.combinations(range(runs), times))
        places = [products_of([p if i in some else q for i in range(runs)]) for some in drawn]
        anywhere = mixed([Fraction(1, len(drawn))] * len(drawn), *places)
        compared.append((RandomAllocation(Failing(base, fails), runs, times), anywhere, nowhere))
    for m, first, second in compared:
        if fails == 0:
            continue
        for a, epsilon in ((1, 0), (Fraction(3, 2), Fraction(405465108108, 10**12))):
            # e^ε <= a, so that δ(ε) is at least H_a
            true = max(delta_of([one], a) for one in ((first, second), (second, first)))
            assert true <= bound_by_failures(m, epsilon)


ONE_LAW = [Fraction(1, 3)] * 3
TELLING = ([Fraction(1), Fraction(0), Fraction(0)], [Fraction(0), Fraction(0), Fraction(1)])


@examples(8, 300)
@example(  # a coin attains it
    pairs=[(ONE_LAW, ONE_LAW)] * 2,
    told=[TELLING] * 2,
    fails=[Fraction(1, 10), Fraction(1, 3)],
    rate=Fraction(1, 2),
    share=Fraction(1, 4),
)
@given(
    pairs=st.lists(st.tuples(LAW, LAW), min_size=2, max_size=2),
    told=st.lists(st.tuples(LAW, LAW), min_size=2, max_size=2),
    fails=st.lists(FAILS.filter(bool), min_size=2, max_size=2),
    rate=SHARE,
    share=SHARE,
)
def test_no_sample_of_two_runs_or_of_a_coin_is_above_its_failures(pairs, told, fails, rate, share):
    """Both parts are mixtures of any laws, and the sample is of their product or of either."""
    laws = [
        [mixed((1 - d, d), *both) for both in zip(pair, tells, strict=True)]
        for pair, tells, d in zip(pairs, told, fails, strict=True)
    ]
    first, second = (
        Failing(DistributionPair(*pair, "add_remove"), d)
        for pair, d in zip(pairs, fails, strict=True)
    )
    runs = [products_of(side) for side in zip(*laws, strict=True)]
    coin = [
        [*(share * x for x in one), *((1 - share) * x for x in other)]
        for one, other in zip(*laws, strict=True)
    ]
    for m, (p, q) in ((first + second, runs), (Either(first, second, share), coin)):
        with_record = mixed((rate, 1 - rate), p, q)
        true = max(delta_of([(with_record, q)], 1), delta_of([(q, with_record)], 1))
        assert true <= bound_by_failures(PoissonSubsample(m, rate), 0)


@examples(12, 300)
@given(
    every=st.lists(LAW, min_size=3, max_size=3, unique_by=tuple),
    told=st.lists(LAW, min_size=3, max_size=3),
    fails=FAILS.filter(bool),
    rate=SHARE,
)
def test_no_record_replaced_on_a_sample_is_above_what_fails_by_itself(every, told, fails, rate):
    """The three datasets of a replacement in fractions, of a mechanism that tells if it fails."""
    neither, one, other = (
        [*((1 - fails) * x for x in law), *(fails * x for x in tells)]
        for law, tells in zip(every, told, strict=True)
    )
    first, second = (mixed((rate, 1 - rate), law, neither) for law in (one, other))
    true = max(delta_of([(first, second)], 1), delta_of([(second, first)], 1))
    pairs = FiniteMechanism(every, "replace_one")
    assert true <= bound_by_failures(SubsampleWithoutReplacement(Failing(pairs, fails), rate), 0)


@pytest.mark.parametrize(
    ("runs", "law"),
    [
        (Binomial(2, "1/3"), {0: Fraction(4, 9), 1: Fraction(4, 9), 2: Fraction(1, 9)}),
        (TruncatedNegativeBinomial(1, "1/2"), None),
        (TruncatedNegativeBinomial(0, "1/2"), None),
        (TruncatedNegativeBinomial("1/2", "1/2"), None),
        (Poisson(2), None),
    ],
)
def test_the_best_of_runs_fails_where_some_run_does(runs, law):
    """1 − E[s^K] by the law's probabilities, and K given that none of its runs fails."""
    d = Fraction(1, 50)
    parts = failures(RepeatAndSelect(Failing(Laplace(2), d), runs), bounded=True)
    if law is None:
        law = masses(runs)
    left = {k: p * (1 - d) ** k for k, p in law.items()}
    with MP.workdps(40):
        fails = MP.mpf(1)
        for delta, count in parts.parts:
            fails *= (1 - MP.mpf(str(expression(delta).evalf(40)))) ** count
        assert abs(sum(map(number, left.values())) - fails) < MP.mpf(10) ** -20
    given_none = masses(parts.rest.runs)
    for k in (1, 2):
        assert abs(number(left[k]) / fails - number(given_none[k])) < MP.mpf(10) ** -20


@examples(10, 200)
@given(pair=st.tuples(LAW, LAW), fails=FAILS.filter(bool), chance=SHARE, trials=st.integers(1, 4))
def test_no_best_of_runs_is_above_its_failures(pair, fails, chance, trials):
    """A failure is the best output, which tells the data; by the generating function of K."""

    def selected(law):
        """The law of the best, of outputs in falling order, and of no output."""
        left = [sum(law[i:]) for i in range(len(law))]
        f = [(1 - chance + chance * x) ** trials for x in (*left, 0)]
        return [*(x - y for x, y in itertools.pairwise(f)), f[-1]]

    p, q = (selected([fails, *((1 - fails) * x for x in law)]) for law in pair)
    first, second = [p[0], Fraction(0), *p[1:]], [Fraction(0), q[0], *q[1:]]
    true = max(delta_of([(first, second)], 1), delta_of([(second, first)], 1))
    m = RepeatAndSelect(Failing(DistributionPair(*pair), fails), Binomial(trials, chance))
    assert true <= bound_by_failures(m, 0)


def number(x):
    """A number in mpmath."""
    return MP.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else MP.mpf(x)


def masses(runs):
    """The first probabilities of a law of a number of runs, by its definition."""
    if isinstance(runs, Binomial):
        return dict(enumerate(runs.probabilities))
    if isinstance(runs, Poisson):
        rate = number(runs.rate)
        return {k: MP.exp(-rate) * rate**k / MP.factorial(k) for k in range(100)}
    eta, left = runs.eta, 1 - runs.gamma
    weight, weights = number(left), {}
    for k in range(1, 400):
        weights[k] = weight
        weight *= number(left) * (k + number(eta)) / (k + 1)
    total = sum(weights.values())
    return {k: w / total for k, w in weights.items()}


@pytest.mark.parametrize("k", [2, 3, 50])
def test_a_group_by_a_chain_of_neighbours(k):
    """δ(1 + e^ε + … + e^{(k−1)ε}) at kε, in mpmath, and kδ of what tells by failing alone."""
    found = GroupPrivacy(ApproximateDP("1/10", "1e-9"), k).delta(Fraction(k, 10), 12, "exact")
    true = MP.fsum(MP.exp(MP.mpf(i) / 10) for i in range(k)) / 10**9
    assert abs(found.delta.upper - true) < true / 10**11
    assert found.delta.upper >= true * (1 - MP.mpf(10) ** -50)
    assert found.kind is Kind.UPPER
    told = GroupPrivacy(ApproximateDP(0, "1e-9"), k).delta(0, 12, "exact").delta
    assert told.exactly == Fraction(k, 10**9)
    with pytest.raises(SymacctError):
        GroupPrivacy(ApproximateDP(1, "1/10"), 4).epsilon("1/2", 6)


def test_a_group_on_a_sample_fails_if_one_of_it_is_drawn():
    m = GroupPrivacy(PoissonSubsample(Failing(Gaussian(2), "1e-3"), "1/10"), 3)
    parts = failures(m, bounded=True)
    assert parts.parts == ((Fraction(1, 1000) * (1 - Fraction(9, 10) ** 3), 1),)
    same = Failing(parts.rest, parts.parts[0][0]).epsilon("1e-2", 6, "exact")
    assert m.epsilon("1e-2", 6, "exact").epsilon.upper == same.epsilon.upper
    big = GroupPrivacy(PoissonSubsample(Failing(Gaussian(2), "1e-3"), "1e-9"), 10**6)
    assert failures(big, bounded=True).parts == ((Fraction(1, 10**6), 1),)


def test_a_sample_fails_as_often_as_it_has_the_record_and_some_run_fails():
    """γ(1 − Π(1−δ_i)), of a root of it too."""
    twice = failures(PoissonSubsample(2 * Failing(Gaussian(2), "1/10"), "1/3"), bounded=True)
    assert twice.parts == ((Fraction(1, 3) * (1 - Fraction(9, 10) ** 2), 1),)
    best = RepeatAndSelect(Failing(Laplace(2), "1/10"), Poisson(2))
    ((fails, count),) = failures(PoissonSubsample(best, "1/3"), bounded=True).parts
    assert count == 1
    assert float(expression(fails)) == pytest.approx(-math.expm1(-0.2) / 3, rel=1e-14)


def test_the_ends_of_what_fails_below():
    """γ → 1, one run, a group of one: what fails is that of the mechanism; γ = 0: nothing."""
    fails = Failing(ZCDP("1/10"), "1e-3")
    whole = fails.epsilon("1e-2", 6).epsilon.rounded()
    for m in (
        PoissonSubsample(fails, 1),
        SubsampleWithoutReplacement(fails, 1),
        RandomAllocation(fails, 1),
        GroupPrivacy(fails, 1),
    ):
        assert m.epsilon("1e-2", 6).epsilon.rounded() == whole
    assert failures(PoissonSubsample(fails, 0), bounded=True) is None
    rates = ["1/100", "1/10", "1/2", "9/10", "999/1000", 1]
    for samples in (PoissonSubsample, SubsampleWithoutReplacement):
        every = [samples(fails, rate).epsilon("1e-2", 8, "improved").epsilon for rate in rates]
        assert all(x.upper <= y.upper for x, y in itertools.pairwise(every))
    every = [RandomAllocation(Failing(Gaussian(2), "1e-5"), t) for t in (1, 2, 5, 50)]
    every = [m.epsilon("1e-3", 6, "improved").epsilon.upper for m in every]
    assert every == sorted(every, reverse=True)


def test_a_record_in_several_runs_meets_the_failure_of_each():
    """In all of the runs it is their composition; in two of them both may tell all."""
    fails = Failing(ZCDP("1/10"), "1e-3")
    for runs in (2, 3):
        in_all = RandomAllocation(fails, runs, times=runs).epsilon("1e-2", 6, "improved")
        assert (
            in_all.epsilon.rounded()
            == (runs * fails).epsilon("1e-2", 6, "improved").epsilon.rounded()
        )
    for relation in ("add_remove", "zero_out"):
        twice = RandomAllocation(Failing(Gaussian(2), "1/100"), 4, 2, relation)
        told = 1 - Fraction(99, 100) ** 2
        assert (
            told
            <= to_fraction(twice.delta(20, 6, "improved").delta.upper)
            < told + Fraction(1, 10**9)
        )


@pytest.mark.parametrize(
    ("m", "delta", "at_most"),
    [
        (GroupPrivacy(Failing(ZCDP("1/10"), "1e-6"), 3), "1e-4", "5.92298"),
        (RandomAllocation(Failing(Gaussian(2), "1e-6"), 10), "1e-5", "0.627087"),
        (PoissonSubsample(Failing(ZCDP("1/10"), "1e-6"), "1/10"), "1e-4", "0.289155"),
        (SubsampleWithoutReplacement(Failing(ZCDP("1/10"), "1e-6"), "1/10"), "1e-4", "0.409022"),
        (RepeatAndSelect(Failing(ZCDP("1/50"), "1e-7"), Binomial(9, "1/3")), "1e-4", "1.39826"),
    ],
)
def test_what_was_infinite(m, delta, at_most):
    found = m.epsilon(delta, 6)
    assert Fraction(found.epsilon.rounded()) <= Fraction(at_most)
    assert found.kind is Kind.UPPER
    assert m.lower_epsilon(delta, 4).upper <= found.epsilon.upper
    assert m.epsilon(delta, 6, "improved").claim.theorems[-1].startswith("FAILING")


def test_the_exact_profile_of_the_whole_stays_where_it_is_known():
    for noise, runs in ((Gaussian(2), 1), (RandomizedResponse("3/4"), 10)):
        m = runs * PoissonSubsample(Failing(noise, "1e-6"), "1/10")
        by_orders = m.epsilon("1e-4", 6, "improved")
        assert by_orders.kind is Kind.UPPER
        for found in (m.epsilon("1e-4", 6, "exact"), m.epsilon("1e-4", 6)):
            assert found.kind is Kind.EXACT
            assert found.epsilon.upper <= by_orders.epsilon.upper
    with limits(seconds=60):  # whose moments do not fall, so that a grid gives three digits
        many = 10 * PoissonSubsample(Failing(Gaussian(2), "1e-6"), "1/10")
        found = many.epsilon("1e-4", 6, "exact")
    assert found.kind is Kind.UPPER
    assert to_fraction(found.epsilon.upper) < Fraction("0.62786")
    assert found.epsilon.upper >= many.lower_epsilon("1e-4", 3).lower


def test_claims_and_what_is_refused():
    m = 3 * Failing(Gaussian(2), "1e-6") + Failing(Laplace(3), "1e-5")
    assert parse(repr(m)) is m
    assert from_json(m.to_json()) is m
    assert Failing(Gaussian(2), 0) is Gaussian(2)
    assert m.rdp(2).claim.theorems == ("MIR17-P1", "FAILING")
    assert m.rdp(2).claim.kind is Kind.EXACT
    with pytest.raises(DomainError, match="no certificate yet for Failing"):
        m.epsilon("1e-4", 6, "exact").certificate()
    for delta in (1, -1, "3/2"):
        with pytest.raises(DomainError, match="Failing, delta"):
            Failing(Gaussian(2), delta)


def test_a_coin_between_it_and_another_is_known_of_its_pair():
    m = Either(Failing(Laplace(2), "1/100"), Laplace(2), "1/3")
    same = Failing(Laplace(2), Fraction(1, 300)).delta("1/10", 10, "exact").delta
    found = m.delta("1/10", 10, "exact").delta
    assert found.lower <= same.upper
    assert found.upper >= same.lower


@pytest.mark.parametrize("share", [0, 1])
def test_a_coin_that_always_falls_on_one_side_fails_as_that_one_does(share):
    failing, other = Failing(ZCDP("1/2"), "1e-6"), Failing(PureDP(2), "1/9")
    m = Either(failing, other, 1) if share else Either(other, failing, 0)
    assert failures(m).parts == ((Fraction(1, 10**6), 1),)
    found, alone = m.epsilon("1e-5", 8).asked, failing.epsilon("1e-5", 8).asked
    assert found.lower <= alone.upper
    assert found.upper >= alone.lower
    never = Either(Gaussian(5), failing, 1) if share else Either(failing, Gaussian(5), 0)
    assert failures(never) is None


def test_what_is_exact_at_one_end_alone_is_an_upper_bound():
    """As where time runs out between the two questions that enclose an exact ε."""
    m = 200 * ApproximateDP("1/2", "1/1000003") + Failing(Laplace(2), "1/999983")
    parts = failures(m)
    question = EpsilonDelta(
        m=m, by=None, conversion=named("improved"), asks_epsilon=True, value=Fraction(1, 100)
    )
    low, high = parts.delta_of_rest(question.value, 6)
    assert low < high
    answers = iter(("exact", "improved"))

    def ask(asked):
        conversion = next(answers)
        return Gaussian(2).epsilon(asked.value, 6, conversion)

    assert parts.guarantee(question, 6, ask).kind is Kind.UPPER


@pytest.mark.parametrize("conversion", ["exact", "improved"])
@pytest.mark.parametrize("runs", [2**20, 2**30, 2**60])
def test_runs_that_all_but_surely_fail_have_no_finite_epsilon(runs, conversion):
    """Π(1−δ_i) is then no number that balls tell from 0; a probability is never above 1."""
    m = runs * ApproximateDP("1/100", "1e-4", "add_remove")
    with pytest.raises(InfiniteError, match="needed at least 1, the probability"):
        m.epsilon("1e-5", conversion=conversion)
