"""Pairs of which either law may be that of either dataset, anew in each run: by brute force."""

import itertools
from fractions import Fraction
from functools import cache
from statistics import NormalDist
from unittest import mock

import hypothesis.strategies as st
import mpmath
import numpy as np
import pytest
from hypothesis import example, given

from symacct import (
    Accountant,
    AdjacencyError,
    Compose,
    DistributionPair,
    DomainError,
    FiniteMechanism,
    Gaussian,
    Kind,
    PoissonSubsample,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    from_json,
    laws,
    parse,
)
from symacct.kernel.answer import to_fraction
from symacct.kernel.exact import INFINITY
from symacct.profile import Profile, envelopes
from symacct.profile.answer import lower_bound, profile
from symacct.profile.pairs import products
from tests.thinning import examples

FINDERS = (
    [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)],
    [Fraction(1, 6), Fraction(1, 2), Fraction(1, 3)],
)
SLACK = Fraction(1, 10**25)  # of balls of 20 digits


@st.composite
def two_laws(draw):
    """Of two to four outcomes, some of which one of them may lack."""
    size = draw(st.integers(2, 4))
    weights = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    return tuple([Fraction(w, sum(one)) for w in one] for one in (draw(weights), draw(weights)))


def both_ways(p, q):
    return (tuple(zip(p, q, strict=True)), tuple(zip(q, p, strict=True)))


def sampled(masses, gamma):
    return tuple(((1 - gamma) * q + gamma * p, q) for p, q in masses)


def exchanged(pairs):
    return tuple(tuple((q, p) for p, q in masses) for masses in pairs)


def worst(kinds, grown):
    """V(a), the largest E_P(1 − aQ/P)₊ over all orders of the runs and pairs for each of them,

    each chosen by what was told before; the runs that are left are one of each kind listed.
    """

    @cache
    def value(left, a):
        if not left:
            return max(1 - a, Fraction(0))
        return max(
            sum(p * value(left[:i] + left[i + 1 :], a * q / p) for p, q in masses if p)
            for i in range(len(left))
            for masses in left[i]
        )

    return value(tuple(kinds), grown)


def fixed(choice, grown):
    """The profile of one pair for each run, whatever is told."""
    joint = [(Fraction(1), Fraction(1))]
    for masses in choice:
        joint = [(p * u, q * v) for p, q in joint for u, v in masses]
    return sum(max(p - grown * q, Fraction(0)) for p, q in joint)


def at_log(grown):
    """ε = log of it, to 45 digits."""
    with mpmath.workdps(60):
        found = mpmath.log(mpmath.mpf(grown.numerator) / grown.denominator)
        return Fraction(mpmath.nstr(found, 45))


def delta_of(known, epsilon, digits):
    """The guarantee of δ(ε) by a profile."""
    return known.guarantee(False, epsilon, digits)


def check(node, known, grown, kind=Kind.EXACT):
    """What is answered is what is known, or no less than it; the lower bound is no more."""
    accountant, epsilon = Accountant(20), at_log(grown)
    found = accountant.delta(node, epsilon, "exact")
    least = accountant.lower_delta(node, epsilon, digits=8)
    assert found.kind is kind
    assert to_fraction(found.delta.upper) >= known - SLACK
    assert to_fraction(least.lower) <= known + SLACK
    assert least.claim.kind is Kind.LOWER
    if kind is Kind.EXACT:
        assert to_fraction(found.delta.lower) <= known + SLACK
    return found, least


GROWN = st.fractions(1, 6, max_denominator=30)
RATES = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)
RUNS = st.lists(st.booleans(), min_size=1, max_size=3)


@examples(16, 2000)
@given(two_laws(), RUNS, GROWN)
@example(FINDERS, [False, False], Fraction(6, 5))
@example(FINDERS, [False, True], Fraction(6, 5))
@example(FINDERS, [False, True, False], Fraction(3))
def test_runs_of_one_pair_written_either_way(laws, turned, grown):
    """Each run takes the orientation that is worst after what was told, however it is written."""
    node = Compose(*(DistributionPair(*(laws[::-1] if back else laws)) for back in turned))
    found, _ = check(node, worst([both_ways(*laws)] * len(turned), grown), grown)
    for choice in itertools.product(both_ways(*laws), repeat=len(turned)):
        assert fixed(choice, grown) <= to_fraction(found.delta.upper) + SLACK


@examples(12, 2000)
@given(two_laws(), two_laws(), RATES, GROWN)
def test_beside_another_pair_and_beside_answers(first, second, p, grown):
    """In whichever order they are run; what has one pair may come first or last."""
    answer = tuple(zip((p, 1 - p), (1 - p, p), strict=True))
    node = DistributionPair(*first) + DistributionPair(*second) + RandomizedResponse(p)
    known = worst([both_ways(*first), both_ways(*second), (answer,)], grown)
    check(node, known, grown)


@examples(12, 2000)
@given(two_laws(), RATES, st.integers(1, 3), GROWN)
@example(FINDERS, Fraction(1, 3), 3, Fraction(6, 5))
def test_sampled_either_law_may_be_that_of_the_record(laws, gamma, count, grown):
    """It is removed in all runs, or added in all; which law it has may change."""
    removed = tuple(sampled(masses, gamma) for masses in both_ways(*laws))
    known = max(worst([pairs] * count, grown) for pairs in (removed, exchanged(removed)))
    check(count * PoissonSubsample(DistributionPair(*laws), gamma), known, grown)


@examples(8, 1000)
@given(two_laws(), RATES, GROWN)
def test_runs_on_one_sample(laws, gamma, grown):
    """(κq + γp − aq)₊ = γ(p − a′q)₊ for a′ = (a − κ)/γ, and the same the other way round."""
    twice = [both_ways(*laws)] * 2
    removed = gamma * worst(twice, (grown - 1 + gamma) / gamma)
    kept = 1 - grown * (1 - gamma)
    added = kept * worst(twice, grown * gamma / kept) if kept > 0 else Fraction(0)
    node = PoissonSubsample(2 * DistributionPair(*laws), gamma)
    check(node, max(removed, added), grown)


@examples(8, 1000)
@given(two_laws(), RATES, GROWN)
def test_one_sample_of_fixed_size(laws, gamma, grown):
    removed = [sampled(masses, gamma) for masses in both_ways(*laws)]
    known = max(fixed([masses], grown) for masses in (*removed, *exchanged(removed)))
    check(SubsampleWithoutReplacement(DistributionPair(*laws), gamma), known, grown)


@examples(12, 2000)
@given(two_laws(), st.one_of(st.just(Fraction(1)), RATES), st.integers(1, 3), GROWN)
@example(FINDERS, Fraction(1), 2, Fraction(6, 5))
def test_a_law_that_is_the_records_is_so_in_every_run(laws, gamma, count, grown):
    """The larger of two products, as for noise."""
    pair = DistributionPair(*laws, "add_remove", with_record="P")
    removed = sampled(both_ways(*laws)[0], gamma)
    known = max(fixed([one] * count, grown) for one in (removed, *exchanged([removed])))
    check(count * (pair if gamma == 1 else PoissonSubsample(pair, gamma)), known, grown)
    if gamma != 1:
        alpha = 1 + grown
        for order in (alpha, "inf"):
            both = DistributionPair(*zip(*removed, strict=True))
            found = PoissonSubsample(pair, gamma).rdp(order, digits=12)
            same = both.rdp(order, digits=12)
            assert found.claim.kind is Kind.EXACT
            assert found.lower <= same.upper
            assert same.lower <= found.upper


@examples(6, 500)
@given(two_laws(), st.integers(2, 3), st.sampled_from([10, 30]), GROWN)
@example(FINDERS, 2, 10, Fraction(6, 5))
@example(FINDERS, 3, 30, Fraction(6, 5))
def test_more_runs_than_are_gone_through_are_bounded(laws, count, most, grown):
    """As if there were too many: an upper bound above every choice, and one choice below.

    Blocks of some runs are never above the runs one by one.
    """
    every, bounds = both_ways(*laws), []
    for block in (0, most):
        limits = {"_MOST_OUTCOMES": 0, "_MOST_OUTCOMES_OF_BLOCK": block}
        with mock.patch.multiple(envelopes, **limits):
            node = count * DistributionPair(*laws)
            found = delta_of(Profile(products(node), node.claim), at_log(grown), 12)
            bounds.append(found.delta)
    least = lower_bound(node, False, at_log(grown), 12)
    known = worst([every] * count, grown)
    assert known <= to_fraction(found.delta.upper) + SLACK
    assert bounds[1].lower <= bounds[0].upper
    assert to_fraction(least.lower) <= known + SLACK
    largest = max(fixed(choice, grown) for choice in itertools.product(every, repeat=count))
    assert to_fraction(least.upper) >= largest - Fraction(1, 10**10)


@examples(8, 1000)
@given(two_laws(), st.integers(1, 3), st.fractions(2, 5, max_denominator=3))
def test_curves_add_exactly(laws, count, alpha):
    """At one order the worst runs all lie one way: adaptive choices gain nothing."""
    moments = [sum(power(p, q, alpha) for p, q in masses if p) for masses in both_ways(*laws)]
    found = (count * DistributionPair(*laws)).rdp(alpha, digits=12)
    assert found.claim.kind is Kind.EXACT
    if max(moments) == mpmath.inf:
        assert found.upper == INFINITY
    else:
        known = count * mpmath.log(max(moments)) / float(alpha - 1)
        assert abs(mpmath.mpf(str(found.upper)) - known) <= mpmath.mpf(10) ** -9 * (1 + known)


def power(p, q, alpha):
    """p^α q^{1−α}"""
    if not q:
        return mpmath.inf
    p, q, alpha = (mpmath.mpf(x.numerator) / x.denominator for x in (p, q, alpha))
    return p**alpha * q ** (1 - alpha)


def test_many_runs_are_an_upper_bound_that_says_so():
    m = DistributionPair(["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"])
    found = (20 * m).epsilon("1e-5", digits=5, conversion="exact")
    assert found.kind is Kind.UPPER
    stated = DistributionPair(m.P, m.Q, "add_remove", with_record="P")
    one_way = (20 * stated).epsilon("1e-5", digits=5, conversion="exact")
    assert one_way.kind is Kind.EXACT
    assert one_way.epsilon.upper < found.epsilon.lower


def test_of_finitely_many_laws_two_runs_are_one_pair_each():
    one = FiniteMechanism([["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"]])
    two = DistributionPair(*one.laws)
    for node, same in ((3 * one, 3 * two), (one + Gaussian(2), two + Gaussian(2))):
        found, known = (n.delta("1/3", digits=10, conversion="exact") for n in (node, same))
        assert (str(found.delta), found.kind) == (str(known.delta), known.kind)


def test_of_two_pairs_that_exchange_themselves_the_larger_counts():
    u, v = Fraction(1, 3), Fraction(1, 6)
    m = FiniteMechanism([[u, v, u, v], [u, v, v, u], [v, u, u, v]])
    assert len(m.pairs) == 2
    every = m.pairs
    check(m, worst([every], Fraction(1)), Fraction(1))
    check(2 * m, worst([every, every], Fraction(5, 4)), Fraction(5, 4))


CELLS, FINE_CELLS = 100, 20_000
NORMAL = np.vectorize(NormalDist().cdf)
# Two laws, and their distribution functions, which are no part of ours.
FAMILIES = (
    lambda r: (
        (laws.Exponential(1), lambda x: -np.expm1(-np.maximum(x, 0))),
        (laws.Exponential(r), lambda x: -np.expm1(-float(r) * np.maximum(x, 0))),
    ),
    lambda r: (
        (laws.Rayleigh(1), lambda x: -np.expm1(-(np.maximum(x, 0) ** 2) / 2)),
        (laws.Rayleigh(r), lambda x: -np.expm1(-((np.maximum(x, 0) / float(r)) ** 2) / 2)),
    ),
    lambda r: (
        (laws.Density("exp(-x-exp(-x))"), lambda x: np.exp(-np.exp(-x))),
        (laws.Density(f"exp({r}-x-exp({r}-x))"), lambda x: np.exp(-np.exp(float(r) - x))),
    ),
    lambda r: (
        (
            laws.NormalMixture([0, r], ["1/3", "2/3"], 1),
            lambda x: NORMAL(x) / 3 + NORMAL(x - float(r)) * 2 / 3,
        ),
        (laws.Normal(0, 1), NORMAL),
    ),
    lambda r: (  # the loss turns, and the larger profile changes
        (
            laws.NormalMixture([-r, 0, 2 * r], ["1/5", "1/2", "3/10"], 1),
            lambda x: NORMAL(x + float(r)) / 5 + NORMAL(x) / 2 + NORMAL(x - 2 * float(r)) * 3 / 10,
        ),
        (laws.Normal(0, 1), NORMAL),
    ),
)


def masses_of(distributions, count):
    """(p, q) of cells of the line: what is left of two densities by post-processing."""
    inner = np.linspace(-8, 12, count - 1)
    p, q = (np.diff([0.0, *F(inner), 1.0]) for F in distributions)
    return p, q


def by_cells(every, runs, grown):
    """V(a) for an array of a, of runs that each have the worst of some pairs of masses; float64."""
    if runs == 0:
        return np.maximum(1 - grown, 0)
    found = []
    for p, q in every:
        ratio = np.divide(q, p, out=np.full(len(p), np.inf), where=p > 0)
        if runs == 1:
            order = np.argsort(ratio)
            sums = [np.concatenate([[0.0], np.cumsum(x[order])]) for x in (p, q)]
            at = np.searchsorted(ratio[order] * (1 + 1e-15), 1 / np.maximum(grown, 1e-300))
            found.append(sums[0][at] - grown * sums[1][at])
        else:
            kept = p > 0
            values = by_cells(every, runs - 1, np.multiply.outer(grown, ratio[kept]))
            found.append(values @ p[kept])
    return np.max(found, axis=0)


@examples(1, 200)
@given(
    st.sampled_from(FAMILIES),
    st.fractions(Fraction(6, 5), Fraction(8, 5), max_denominator=5),
    st.integers(2, 3),
    st.sampled_from([Fraction(1), Fraction(1, 4)]),
    GROWN,
    st.booleans(),
)
@example(FAMILIES[0], Fraction(5, 4), 2, Fraction(1), Fraction(6, 5), True)
@example(FAMILIES[4], Fraction(6, 5), 2, Fraction(1), Fraction(36, 17), True)
def test_runs_of_densities_each_either_way_round(family, r, runs, gamma, grown, turned):
    """Above the worst orientations that follow what was told, cell by cell; one of them below."""
    (P, first), (Q, second) = family(r)
    p, q = masses_of((first, second), CELLS)
    pair = DistributionPair(P, Q)
    parts = [pair] * (runs - 1) + [pair.swapped() if turned else pair]
    if gamma == 1:
        node, ways = Compose(*parts), [[(p, q), (q, p)]]
    else:
        node = Compose(*(PoissonSubsample(part, gamma) for part in parts))
        removed = [((1 - gamma) * q + gamma * p, q), ((1 - gamma) * p + gamma * q, p)]
        removed = [tuple(np.asarray(x, float) for x in one) for one in removed]
        ways = [removed, [one[::-1] for one in removed]]
    known = max(by_cells(every, runs, np.array([float(grown)]))[0] for every in ways)
    epsilon = at_log(grown)
    found = delta_of(profile(node), epsilon, 2)
    assert found.kind is Kind.UPPER
    assert float(found.delta.upper) >= known * (1 - 1e-9)


@examples(1, 60)
@given(
    st.sampled_from(FAMILIES),
    st.fractions(Fraction(6, 5), Fraction(8, 5), max_denominator=5),
    RATES,
    GROWN,
)
def test_one_run_of_densities_beside_a_known_pair_is_exact(family, r, p, grown):
    """The pair is chosen after the answer was told: Σ p h(aq/p) over the answers."""
    (P, first), (Q, second) = family(r)
    masses = masses_of((first, second), FINE_CELLS)
    odds = np.array([float(p), 1 - float(p)])
    known = by_cells([masses, masses[::-1]], 1, float(grown) * odds[::-1] / odds) @ odds
    node = DistributionPair(P, Q) + RandomizedResponse(p)
    found = node.delta(at_log(grown), digits=5, conversion="exact")
    assert found.kind is Kind.EXACT
    assert known * (1 - 1e-9) <= float(found.delta.upper) <= known + 1e-5


@pytest.mark.parametrize("adjacency", ["either", "replace_one"])
def test_only_a_record_that_is_there_or_not_has_a_law(adjacency):
    with pytest.raises(AdjacencyError, match="needed 'add_remove'"):
        DistributionPair(["1/2", "1/2"], ["1/3", "2/3"], adjacency, with_record="P")
    with pytest.raises(DomainError, match="one of either, P"):
        DistributionPair(["1/2", "1/2"], ["1/3", "2/3"], "add_remove", with_record="Q")


def test_text_and_json_say_whose_law_it_is():
    pair = DistributionPair(["1/2", "1/2"], ["1/3", "2/3"], "add_remove", with_record="P")
    node = 3 * PoissonSubsample(pair, "1/7")
    assert parse(repr(node)) is node
    assert from_json(node.to_json()) is node
    plain = DistributionPair(pair.P, pair.Q, "add_remove")
    assert "with_record" not in repr(plain)
    assert "with_record" not in plain.to_json()
    assert from_json(plain.to_json()) is plain
    assert pair.swapped().swapped() is pair
    assert pair.sampled("1/7").with_record == "P"


def test_more_runs_than_are_counted_one_by_one_are_bounded():
    """The worst runs have two outcomes, however many they are: one pair of laws has no overlap."""
    half, zero, one = Fraction(1, 2), Fraction(0), Fraction(1)
    kind = frozenset(
        {((half, half), (half, zero), (zero, half)), ((half, zero), (half, zero), (zero, one))}
    )
    assert envelopes.adaptive({kind: 5}) == ((one, zero), (zero, one))
    assert envelopes.adaptive({kind: 2**40}) is None
    blocks = envelopes.in_blocks(kind, 2**40 + 1)
    assert sum(times * envelopes._MOST_RUNS_OF_BLOCK for _, times in blocks[:1]) == 2**40
    assert [pair for pair, _ in blocks] == [((one, zero), (zero, one))] * 2
    laws = [["1/2", "1/2", "0", "0"], ["1/2", "0", "1/2", "0"], ["0", "0", "0", "1"]]
    found = (2**40 * FiniteMechanism(laws)).delta(1, 4, conversion="exact")
    assert found.kind is Kind.UPPER
    assert found.delta.upper == 1
