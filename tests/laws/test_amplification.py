"""What sampling does to a curve: every theorem over every mechanism."""

import functools
import itertools
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    AdjacencyError,
    AssumptionError,
    Compose,
    DistributionPair,
    Gaussian,
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
    TreeAggregation,
    laws,
)
from symacct.kernel.claims import EITHER
from symacct.kernel.theorem_registry import bounding, is_about, named, theorems
from tests import independent
from tests.support import (
    BASES,
    COARSE,
    INFINITY,
    LEAVES,
    MP,
    OPERATIONS,
    SAMPLERS,
    TWO_STEPS,
    about_sampling,
    answers,
    at_order,
    each_sort,
    fractional_orders,
    holds,
    new_rate,
    overlap,
    rates,
    sample,
    sampling,
    sort_of,
    whole_orders,
)
from tests.thinning import covering, examples

DIGITS = 40
#: Of each of many cases the plainest draw and another one.
few_each = examples(2, 30)
#: Those that derive their value from the node's own whole orders, or are integrals, are below.
PRODUCT = [
    (name, kind, base)
    for name, kind in about_sampling()
    if name not in independent.DERIVED | independent.ELSEWHERE
    for base in BASES
]
#: The dominating pair is known and swapped by an involution (theory.md, section 3).
SYMMETRIC = {"Gaussian", "ScalarGaussian", "RandomizedResponse", "PureDP"}
SYMMETRIC |= {"Laplace", "VectorLaplace"}
SYMMETRIC |= {"MatrixMechanism", "TreeAggregation", "NoisyDescent", "NoisyPass"}
SYMMETRIC |= {*independent.INTEGER_NOISE}
#: What the second formula is a quadrature of: at orders that are not whole, and at all.
PAIRS = {"MTZ19-EXACT", "PAIR-EXACT", "TRIPLE-LINE"}
INTEGRALS = {"TRIPLE-GAUSSIAN-POISSON", "TRIPLE-DOMINATED"}


def sampled(data, kind, base):
    """A node, a whole order, and a fractional one from 1 to 8: quadratures grow with the order."""
    node = data.draw(OPERATIONS[kind](BASES[base]))
    return node, data.draw(whole_orders), data.draw(fractional_orders) % 7 + 1


def ask(node, alpha, by=None, digits=DIGITS):
    return Accountant(digits).rdp(node, alpha, by=by)


def said(node, alpha, by, digits=DIGITS):
    """What the theorem says, or None where it refuses, for a reason that is checked here."""
    try:
        return ask(node, alpha, by, digits)
    except OrderError:
        # Inside the theorem's orders, outside its conditions on order and parameters together.
        assert alpha in named(by).orders
        assert not independent.REGIMES[by](MP, alpha, node)
    except AssumptionError:
        # One that reads the node itself reads exact values.
        refused = named(by).reads == "itself" and ask(node, int(alpha)).claim.kind is not Kind.EXACT
        assert refused or named(by).applies(node) is not None
    except SoundnessError:
        # A lower bound, or one that is not monotone, needs an exact base.
        assert node.mechanism.claim.kind is Kind.UPPER
        assert named(by).kind is Kind.LOWER or not named(by).monotone
    return None


# --- every theorem against the same formula written plainly in mpmath


def what_it_answers(name, kind, base):
    """The base; and of the theorem, to what sort it applies, or that it refuses."""
    refused = named(name).applies(sampling(kind, sample(base))) is not None
    return {base, (name, kind, "refused" if refused else sort_of(base))}


@covering(what_it_answers)
@pytest.mark.parametrize(("name", "kind", "base"), PRODUCT)
@given(data=st.data())
@few_each
def test_every_theorem_is_its_printed_formula(name, kind, base, data):
    node, whole, fractional = sampled(data, kind, base)
    check(name, node, at_order(named(name), whole, fractional))


def check(name, node, alpha, **options):
    """The answer holds the independent value, or the theorem's assumptions are not proved."""
    by_quadrature = name in INTEGRALS or (name in PAIRS and isinstance(alpha, Fraction))
    mp, digits, trusted = (COARSE, 20, 25) if by_quadrature else (MP, DIGITS, 120)
    answer = said(node, alpha, ":".join([name, *_text(options)]), digits)
    if answer is None:
        return False

    @functools.cache
    def eps(order):
        return independent.rdp(mp, node.mechanism, order)

    value = independent.BOUNDS[name](mp, eps, alpha, node, **options)
    assert holds(answer, value, digits, trusted)
    return True


def _text(options):
    return [",".join(f"{key}={value}" for key, value in options.items())] if options else []


@covering(each_sort)
@pytest.mark.parametrize("name", ["ZW19-T11", "ZW19-T20"])
@pytest.mark.parametrize("base", [*LEAVES, "Compose of ZCDP"])
@pytest.mark.parametrize("sides", [1, 2])
@given(data=st.data())
@few_each
def test_the_tau_term_bounds_are_their_printed_formulas(name, base, sides, data):
    node, _, _ = sampled(data, "PoissonSubsample", base)
    tau = data.draw(st.integers(2, 6))
    for alpha in (2 * tau - 1, 2 * tau, 2 * tau + data.draw(st.integers(1, 12))):
        check(name, node, alpha, tau=tau, sides=sides)


@pytest.mark.parametrize("leaf", ["Gaussian", "Laplace"])
@given(data=st.data())
def test_more_tau_terms_never_cost_more_and_end_in_the_whole_sum(leaf, data):
    node, _, _ = sampled(data, "PoissonSubsample", leaf)
    for name, whole in (("ZW19-T11", "ZW19-T8"), ("ZW19-T20", "ZW19-T5")):
        bounds = [ask(node, 16, f"{name}:tau={tau},sides=2") for tau in (2, 4, 8)]
        assert bounds[0].upper >= bounds[1].lower
        assert bounds[1].upper >= bounds[2].lower
        assert bounds[2].upper >= ask(node, 16, whole).lower
        assert overlap(ask(node, 16, f"{name}:tau=9"), ask(node, 16, whole))


@given(
    st.fractions(1, 12, max_denominator=9),
    st.sampled_from(["1/5", "1/50", "1/300", "1/2000"]),
    whole_orders,
    st.sampled_from(["ACG16-L3", "MTZ19-T11"]),
)
@examples(24, 300)
def test_closed_forms_for_the_gaussian_answer_within_their_conditions_only(sigma, q, alpha, name):
    node = PoissonSubsample(Gaussian(2 * sigma, 2), q)
    assert check(name, node, alpha) == independent.REGIMES[name](MP, alpha, node)


@given(
    st.fractions(Fraction(1, 1000), Fraction(1, 8), max_denominator=1000),
    st.sampled_from(["1/5", "1/50", "1/300", "1/2000"]),
    st.one_of(whole_orders, fractional_orders),
    st.booleans(),
)
@examples(20, 300)
def test_truncated_cdp_answers_within_its_conditions_only(rho, s, alpha, truncated):
    mechanism = TCDP(rho, 40) if truncated else ZCDP(rho)
    node = SubsampleWithoutReplacement(mechanism, s)
    assert check("BDRS18-T11", node, alpha) == independent.REGIMES["BDRS18-T11"](MP, alpha, node)


@pytest.mark.parametrize("noise", [Gaussian(sympy.sqrt(5)), TreeAggregation(5, 16)], ids=repr)
def test_a_rational_quantity_of_irrational_numbers_is_decided_at_its_bound(noise):
    """ρ = 1/10, which is the largest that the theorem takes."""
    node, stated = (SubsampleWithoutReplacement(m, "1/50") for m in (noise, ZCDP("1/10")))
    assert check("BDRS18-T11", stated, 2)
    assert overlap(ask(node, 2, "BDRS18-T11"), ask(stated, 2, "BDRS18-T11"))


def test_quadrature_at_orders_1_and_between_whole_ones():
    assert check("MTZ19-EXACT", PoissonSubsample(Gaussian(2), "1/50"), 1)
    assert check("MTZ19-EXACT", PoissonSubsample(Gaussian("1/2", 2), "1/5"), Fraction(11, 10))
    assert check("PAIR-EXACT", PoissonSubsample(Laplace("1/3"), "1/50"), 1)
    assert check("PAIR-EXACT", PoissonSubsample(Laplace(3, 2), "1/2"), Fraction(77, 10))
    assert check("PAIR-EXACT", PoissonSubsample(RandomizedResponse("1/7"), "1/50"), 1)


@covering(each_sort)
@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("base", BASES)
@given(data=st.data())
@few_each
def test_fractional_orders_come_from_the_whole_ones(kind, base, data):
    node, _, alpha = sampled(data, kind, base)
    default = {}

    def at_whole(order):
        if order not in default:
            x = ask(node, order, digits=100)
            default[order] = MP.mpf(0) + MP.make_mpf(x.upper._mpf_)
        return default[order]

    expected = independent.interpolated(MP, at_whole, alpha)
    # The whole orders themselves are known to 100 digits.
    answer = ask(node, alpha, "WBK19-C10")
    exact = independent.fraction(expected)
    error = exact / 10**95
    low, high = (independent.fraction(x) for x in (answer.lower, answer.upper))
    assert low <= exact + error
    assert exact - error <= high
    assert answer.digits >= DIGITS


@pytest.mark.parametrize("kind", SAMPLERS)
@given(data=st.data())
def test_the_lower_bound_at_a_fractional_order_is_that_of_the_whole_order_below(kind, data):
    node, _, alpha = sampled(data, kind, "Gaussian")
    alpha += 1
    below = Accountant().lower_bound(node, int(alpha))
    assert overlap(ask(node, alpha, "VEH14-T3", 30), below)
    assert Accountant().lower_bound(node, alpha).upper >= below.lower


# --- theorems against each other


@covering(each_sort)
@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("base", BASES)
@given(data=st.data())
@few_each
def test_lower_bounds_lie_below_exact_values_below_upper_bounds(kind, base, data):
    node, whole, fractional = sampled(data, kind, base)
    for alpha in (whole, fractional, INFINITY):
        found = answers(node, alpha)
        kinds = {name: answer.claim.kind for name, answer in found.items()}
        for low, low_kind in kinds.items():
            for high, high_kind in kinds.items():
                if low_kind is not Kind.UPPER and high_kind is not Kind.LOWER:
                    assert found[low].lower <= found[high].upper, (low, high, alpha)


@covering(each_sort)
@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("base", BASES)
@given(data=st.data())
@few_each
def test_the_default_is_the_smallest_upper_bound(kind, base, data):
    node, whole, fractional = sampled(data, kind, base)
    for alpha in (1, whole, fractional, INFINITY):
        found = {
            name: answer
            for name, answer in answers(node, alpha, default_only=True).items()
            if named(name).kind is not Kind.LOWER and named(name).default
        }
        default = ask(node, alpha, digits=30)
        assert default.claim.kind is not Kind.LOWER
        assert all(default.lower <= answer.upper for answer in found.values())
        assert any(overlap(default, answer) for answer in found.values())


@covering(each_sort)
@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("base", sorted(SYMMETRIC))
@given(data=st.data())
@few_each
def test_the_default_lower_bound_is_the_largest_one(kind, base, data):
    node, whole, fractional = sampled(data, kind, base)
    for alpha in (whole, max(fractional, Fraction(5, 2)), INFINITY):
        found = {
            name: answer
            for name, answer in answers(node, alpha, default_only=True).items()
            if named(name).kind is not Kind.UPPER and named(name).default
        }
        best = Accountant().lower_bound(node, alpha)
        assert best.claim.kind is not Kind.UPPER
        # At a whole order nothing derived from other orders is needed.
        direct = [a for name, a in found.items() if named(name).reads != "itself"] or [
            *found.values()
        ]
        assert all(best.upper >= answer.lower for answer in direct)
        assert any(overlap(best, answer) for answer in direct)


@pytest.mark.parametrize("base", sorted(BASES))
@given(data=st.data())
def test_the_tight_theorem_applies_where_the_pair_is_symmetric_and_nowhere_else(base, data):
    node = data.draw(OPERATIONS["PoissonSubsample"](BASES[base]))
    symmetric = _symmetric(node.mechanism)
    assert (said(node, 5, "ZW19-T8") is not None) == symmetric
    assert (ask(node, 5).claim.theorems[0] == "ZW19-T8") <= symmetric


def _symmetric(node):
    name = type(node).__name__
    if name == "DistributionPair" and not isinstance(node.P, tuple):
        return node.P == node.Q  # the samples are Poisson laws, which nothing swaps
    if name == "DistributionPair":
        masses = sorted(zip(node.P, node.Q, strict=True))
        return masses == sorted((q, p) for p, q in masses)
    if name == "FiniteMechanism":
        pairs = itertools.permutations(node.laws, 2)
        return len({tuple(sorted(zip(p, q, strict=True))) for p, q in pairs}) == 1
    if name in ("Compose", "Either"):
        return all(_symmetric(part) for part in node.children)
    if name in ("NoisyMax", "PermuteAndFlip"):  # they are accounted by Laplace's pair
        return True
    return _symmetric(node.mechanism) if name == "PostProcess" else name in SYMMETRIC


@pytest.mark.parametrize("leaf", sorted(SYMMETRIC))
@given(data=st.data())
def test_where_the_pair_is_symmetric_the_lower_bound_is_attained(leaf, data):
    node = data.draw(OPERATIONS["PoissonSubsample"](LEAVES[leaf]))
    alpha = data.draw(whole_orders)
    upper, lower = ask(node, alpha), Accountant(DIGITS).lower_bound(node, alpha)
    assert upper.claim.kind is Kind.EXACT
    assert overlap(upper, lower)
    assert upper.digits >= DIGITS


# --- the neighbouring relation


@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("theorem", theorems(), ids=lambda t: t.name)
def test_no_theorem_answers_for_a_relation_that_it_is_not_about(theorem, kind):
    """Nor does one that leaves it open where neighbours are two steps apart.

    A record zeroed out of a Poisson sample has the laws of a removed one, and their theorems.
    """
    for base in (Gaussian(5), RandomizedResponse("3/4"), PureDP(1), ZCDP("1/50")):
        node = sampling(kind, base)
        if type(node).__name__ not in theorem.about.split():
            continue
        crossed = kind in TWO_STEPS
        open_one = theorem.adjacency == EITHER
        if theorem.reads == "itself" or (open_one and not crossed):
            continue
        speaks = not open_one and theorem.adjacency == node._theorem_adjacency
        assert is_about(theorem, node) == speaks
        if not speaks:
            for alpha in (2, Fraction(5, 2), INFINITY):
                with pytest.raises(AdjacencyError):
                    ask(node, alpha, theorem.name)
                assert theorem not in bounding(node, alpha, Kind.UPPER)
                assert theorem.why_not(node, alpha) is not None


@pytest.mark.parametrize("kind", SAMPLERS)
def test_a_curve_of_the_relation_that_is_not_read_is_refused(kind):
    node = sampling(kind, PureDP(1))
    read = node._read_adjacency.relation.value
    assert sampling(kind, PureDP(1, read)).claim.adjacency == node.adjacency
    for other in {"add_remove", "replace_one", "zero_out"} - {read}:
        with pytest.raises(AdjacencyError):
            sampling(kind, PureDP(1, other))


@pytest.mark.parametrize("kind", SAMPLERS)
@given(data=st.data())
def test_a_fixed_size_with_a_record_more_or_less_is_poisson_of_other_neighbours(kind, data):
    """Both mix p, with the record, and q, another in its place or none: row 1 and row 4."""
    node, whole, fractional = sampled(data, kind, data.draw(st.sampled_from(sorted(BASES))))
    rows = [PoissonSubsample(node.mechanism, node.gamma)]
    rows.append(SubsampleWithoutReplacement(node.mechanism, node.gamma, "add_remove"))
    for alpha in (whole, fractional):
        first, fourth = (ask(row, alpha, digits=20) for row in rows)
        assert first.lower <= fourth.upper
        if first.claim.kind is Kind.EXACT:
            assert overlap(first, fourth)


# --- the rate


@covering(each_sort)
@pytest.mark.parametrize("base", [*LEAVES, "Compose of RandomizedResponse"])
@pytest.mark.parametrize("name", ["ZW19-T5", "ZW19-T6", "ZW19-T8", "WBK19-P11", "WBK19-T9"])
@given(data=st.data())
@few_each
def test_a_tiny_rate_counts_squared(name, base, data):
    theorem = named(name)
    kind = theorem.operation[0]
    node, alpha, _ = sampled(data, kind, base)
    gamma = Fraction(1, 10**2000)
    node = new_rate(node, gamma)
    answer = said(node, alpha, name)
    if answer is None:
        return
    second = MP.expm1(independent.rdp(MP, node.mechanism, 2))
    if name == "WBK19-T9":
        pure = independent.rdp(MP, node.mechanism, INFINITY)
        other = min(MP.mpf(2), MP.expm1(pure) ** 2) if pure != MP.inf else MP.mpf(2)
        second = min(4 * second, (1 + second) * other)
    coefficient = independent.fraction(alpha * second / 2)
    low, high = (independent.fraction(x) / gamma**2 for x in (answer.lower, answer.upper))
    # What follows is smaller by a factor γ, times less than e^{K(23)} < 10¹⁹⁰⁰ here.
    assert abs(low / coefficient - 1) < Fraction(1, 10**30)
    assert abs(high / coefficient - 1) < Fraction(1, 10**30)


# --- the order


@covering(each_sort)
@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("base", sorted(SYMMETRIC))
@given(data=st.data())
@few_each
def test_a_higher_order_never_costs_less(kind, base, data):
    node, first, _ = sampled(data, kind, base)
    second = data.draw(whole_orders)
    low, high = sorted([first, second])
    assert ask(node, low).lower <= ask(node, high).upper
    assert Accountant().lower_bound(node, low).lower <= Accountant().lower_bound(node, high).upper
    if ask(node, high).claim.kind is Kind.EXACT:
        assert ask(node, high).lower <= ask(node, INFINITY).upper


@pytest.mark.parametrize("leaf", sorted(SYMMETRIC))
@given(data=st.data())
def test_an_exact_cgf_is_convex_and_0_at_0(leaf, data):
    mechanism = data.draw(LEAVES[leaf])
    node = data.draw(OPERATIONS["PoissonSubsample"](st.just(mechanism)))
    accountant = Accountant(DIGITS)
    for one in (mechanism, node, Compose({node: 3, mechanism: 2})):
        left = data.draw(st.integers(0, 20))
        middle = left + data.draw(st.integers(1, 5))
        right = 2 * middle - left
        k0, k1, k2 = (accountant.cgf(one, lam) for lam in (left, middle, right))
        assert accountant.cgf(one, 0).upper == 0
        assert 2 * k1.lower <= k0.upper + k2.upper


@given(LEAVES["Gaussian"], rates, rates, whole_orders)
def test_sampling_twice_costs_no_less_than_sampling_once_at_the_product_of_rates(m, a, b, alpha):
    twice = PoissonSubsample(PoissonSubsample(m, a), b)
    once = PoissonSubsample(m, a * b)
    assert ask(once, alpha).lower <= ask(twice, alpha).upper
    # The lower bound reads only the curve, which the pair of the inner sampling attains.
    assert overlap(ask(twice, alpha, "ZW19-T6"), ask(once, alpha))


def test_post_processing_a_symmetric_mechanism_keeps_the_tight_bound_as_an_upper_one():
    plain = PoissonSubsample(Laplace(2), "1/10")
    after = PoissonSubsample(PostProcess(Laplace(2)), "1/10")
    assert overlap(ask(plain, 8), ask(after, 8))
    assert ask(plain, 8).claim.kind is Kind.EXACT
    assert ask(after, 8).claim.kind is Kind.UPPER


@pytest.mark.parametrize(("name", "kind"), about_sampling())
def test_every_theorem_about_sampling_applies_to_some_mechanism(name, kind):
    theorem = named(name)
    alpha = at_order(theorem, 5, Fraction(5, 2))
    finite = DistributionPair(["1/4", "3/4"], ["1/3", "2/3"])
    counts = DistributionPair(laws.Poisson(3), laws.Poisson("16/5"))
    bases = (Gaussian(5), Laplace(2), RandomizedResponse("3/4"), PureDP(1), finite, counts)
    # Of a record added, removed or zeroed out, in the larger direction.
    if kind in ("PoissonSubsample", "PoissonSubsample, zero_out"):
        bases += (RandomAllocation(Laplace(1), 3),)
    nodes = [sampling(kind, base) for base in bases]
    assert all(is_about(theorem, node) for node in nodes)
    assert any(theorem.why_not(node, alpha) is None for node in nodes)
