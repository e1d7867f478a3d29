"""Groups of records: laws over mechanisms, chains of finite laws by brute force, closed forms."""

import itertools
import math
import os
import random
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mpmath import mp

from symacct import (
    TCDP,
    ZCDP,
    Compose,
    Curve,
    DiscreteLaplace,
    Either,
    Failing,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomizedResponse,
    Scale,
    Source,
    SubsampleWithoutReplacement,
    parse,
)
from symacct.kernel.arithmetic import MpmathArithmetic
from symacct.kernel.claims import ADD_REMOVE, SWAPPED, Adjacency, Kind, Relation
from symacct.kernel.errors import DomainError, ParseError, SoundnessError
from symacct.kernel.exact import INFINITY
from symacct.kernel.node import Node
from symacct.mechanisms import Mechanism, ScalarGaussian
from symacct.text import from_json
from symacct.theory.amplification.groups import LONGEST_CHAIN, chain, doublings, pure
from tests import independent
from tests.laws.test_operations import ask, ends
from tests.support import expressions, fractional_orders, overlap, whole_orders
from tests.thinning import covering, every, some

orders = st.one_of(whole_orders, fractional_orders, st.sampled_from([1, INFINITY]))
sizes = st.integers(1, 6)
positive = st.fractions("1/7", 9, max_denominator=20)


@given(expressions)
def test_a_group_of_one_is_the_mechanism(m):
    assert GroupPrivacy(m, 1) is m


@pytest.mark.parametrize("m", [Gaussian(5), PureDP(1), ZCDP("1/50", "1/9"), TCDP("1/90", 99)])
@pytest.mark.parametrize("size", [31, 32, 33, 64, 65])
def test_nor_where_another_theorem_takes_over(m, size):
    for alpha in (1, Fraction(3, 2), 2, 7, INFINITY):
        assert (
            ask(GroupPrivacy(m, size - 1), alpha).lower <= ask(GroupPrivacy(m, size), alpha).upper
        )


@given(positive, positive, sizes, orders, st.sampled_from([Gaussian, Laplace, ScalarGaussian]))
def test_noise_is_noise_of_that_many_times_the_sensitivity(scale, sensitivity, size, alpha, kind):
    group, wide = GroupPrivacy(kind(scale, sensitivity), size), kind(scale, size * sensitivity)
    assert overlap(ask(group, alpha), ask(wide, alpha))
    assert group.claim.kind is Kind.EXACT
    assert group.rdp(alpha).claim.adjacency.group == size


@given(positive, st.one_of(st.integers(2, 40), st.integers(2, 2**30)), orders)
def test_zcdp_is_multiplied_by_the_square(rho, size, alpha):
    """Bun and Steinke 2016, Proposition 1.9, for groups of any size."""
    assert overlap(ask(GroupPrivacy(ZCDP(rho), size), alpha), ask(ZCDP(size**2 * rho), alpha))


@given(positive, positive, st.integers(2, 32), orders)
def test_zcdp_in_closed_form_is_a_little_above_its_chain(rho, xi, size, alpha):
    """Σ a/(a−i) against an integral and its last term: by less than that term, and at ∞ alike."""
    node = GroupPrivacy(ZCDP(rho, xi), size)
    summed, closed = (node.rdp(alpha, by=by) for by in ("GROUP-CHAIN", "GROUP-ZCDP"))
    assert summed.lower <= closed.upper
    if alpha != INFINITY:
        last = Fraction(size * alpha) / (Fraction(size * alpha) - size + 1)
        assert closed.lower <= summed.upper + float(xi * last)


@pytest.mark.parametrize("m", [PureDP("1/3"), RandomizedResponse("3/5"), PostProcess(Laplace(2))])
@pytest.mark.parametrize("size", [2, 5, 40, 2**30])
def test_what_is_pure_stays_within_size_times_it(m, size):
    for alpha in (1, Fraction(3, 2), 2, 9, INFINITY):
        found = ends(ask(GroupPrivacy(m, size), alpha))[0]
        assert found <= size * ends(ask(m, INFINITY))[1]
        if m is PureDP("1/3"):
            assert found <= ends(ask(PureDP(Fraction(size, 3)), alpha))[1]


@given(expressions, st.integers(2, 9), whole_orders)
@example(PostProcess(GroupPrivacy(ScalarGaussian("102/13"), 5)), 9, 21)
def test_a_chain_is_never_above_doublings(m, size, alpha):
    group = GroupPrivacy(m, size)
    if isinstance(group, Compose) or not isinstance(group, GroupPrivacy):
        return
    # A group of a group is one, of both sizes, also where something is processed in between.
    if math.prod(x.size for x in group.walk() if isinstance(x, GroupPrivacy)) > LONGEST_CHAIN:
        return
    by_chain, by_doublings = (group.rdp(alpha, by=by) for by in ("GROUP-CHAIN", "MIR17-P2"))
    assert by_chain.lower <= by_doublings.upper


def divergence(p, q, alpha):
    return independent.divergence(mp, alpha, zip(p, q, strict=True), mp.mpf)


def law(draw, outcomes, spread):
    weights = [mp.exp(spread * draw.gauss(0, 1)) for _ in range(outcomes)]
    return [w / mp.fsum(weights) for w in weights]


def steps_of(laws):
    """ε(α) of the steps of a chain in both directions, and ε(∞)."""

    def eps(alpha):
        pairs = list(itertools.pairwise(laws))
        return max(divergence(p, q, alpha) for p, q in [*pairs, *(pair[::-1] for pair in pairs)])

    return eps


@covering(every)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_no_chain_of_random_laws_exceeds_a_bound(size):
    """The ends of chains against what each theorem says of their steps."""
    ctx, draw = MpmathArithmetic(80), random.Random(f"{os.environ.get('SOAK_SEED', 0)} {size}")
    for _ in range(some(30, 2000)):
        spread = draw.choice([0.1, 1, 3])
        outcomes = draw.choice([2, 3])
        laws = [law(draw, outcomes, spread) for _ in range(size + 1)]
        if draw.random() < 0.5 and spread == 0.1:  # steps that all point one way
            laws = [[mp.exp(i * x) for x in (0, 0.1, 0.25)] for i in range(size + 1)]
            laws = [[w / mp.fsum(one) for w in one] for one in laws]
        eps = steps_of(laws)
        for alpha in (1, Fraction(5, 4), 2, 3, 8):
            truth = divergence(laws[0], laws[-1], alpha)
            for bound in (chain, pure, doublings):
                assert truth <= bound(ctx, eps, alpha, size) * (1 + mp.mpf(10) ** -12), bound


def test_the_chain_is_attained_by_gaussian_steps():
    for size, alpha in ((2, 2), (3, Fraction(5, 4)), (7, 1)):
        found = GroupPrivacy(Gaussian(3), size).rdp(alpha, by="GROUP-CHAIN")
        assert overlap(found, ask(Gaussian(3, size), alpha))


def test_a_group_of_a_composition_is_the_composition_of_the_groups():
    m = 3 * Gaussian(9) + Laplace(2)
    assert GroupPrivacy(m, 3) is 3 * GroupPrivacy(Gaussian(9), 3) + GroupPrivacy(Laplace(2), 3)
    assert GroupPrivacy(m, 3).claim.kind is Kind.EXACT
    assert GroupPrivacy(GroupPrivacy(PureDP(1), 3), 5) is GroupPrivacy(PureDP(1), 15)
    assert GroupPrivacy(Compose(), 3) is Compose()


def test_what_is_exact_for_groups_is_an_upper_bound_for_fewer():
    pair = GroupPrivacy(Gaussian(5), 2)
    assert pair.claim.kind is Kind.EXACT
    assert (pair + Gaussian(5)).claim.kind is Kind.UPPER
    assert (pair + Gaussian(5)).rdp(2).claim.kind is Kind.UPPER
    for sampling in (PoissonSubsample, SubsampleWithoutReplacement):
        for relation in ("add_remove", "replace_one"):
            sampled = sampling(pair, "1/10", relation)
            assert sampled.claim.kind is Kind.UPPER
            assert sampled.rdp(2).claim.kind is Kind.UPPER
            assert sampled.claim.adjacency.group == 1


#: What is about one record, of a mechanism that may be about more.
WHOLES = {
    "sum": lambda m: m + PoissonSubsample(PureDP(1), "1/2"),
    "choice": lambda m: Either(m, PureDP(1, "replace_one"), "1/2"),
    "failing": lambda m: Failing(m, "1/9") + PureDP(1, "zero_out"),
    "scaled": lambda m: Scale(m + PureDP(1, "add_remove"), 2),
}


@pytest.mark.parametrize("whole", WHOLES.values(), ids=WHOLES)
@given(sizes, st.sampled_from([Gaussian(3), Laplace(2), DiscreteLaplace(1)]), orders)
def test_what_groups_cost_is_no_lower_bound_for_fewer_records(whole, size, m, alpha):
    try:
        below = whole(GroupPrivacy(m, size)).lower_bound(alpha)
    except SoundnessError:
        assert size > 1
    else:
        assert below.lower <= whole(m).rdp(alpha).upper


def test_a_group_of_noise_costs_what_that_noise_does_where_its_curve_ends(short_noise):
    group, wide = GroupPrivacy(short_noise(1), 3), short_noise(3)
    for alpha in (1, 2, Fraction(9, 2), 5, 8, INFINITY):
        assert overlap(ask(group, alpha), ask(wide, alpha))
    assert ask(group, 5).lower == ask(group, INFINITY).lower == INFINITY


@pytest.fixture
def short_noise():
    """Noise of one's own, whose curve is stated to be infinite from the order 9/2 on."""

    class ShortNoise(Mechanism):
        kind, attained, source = Kind.EXACT, SWAPPED, Source("me", "")
        finite_up_to = Fraction(9, 2)

        def __new__(cls, size):
            return cls._intern(size=size)

        def curve(self, ctx):
            return lambda alpha: ctx.number(alpha) * self.size

        def at_one(self, ctx):
            return ctx.number(self.size)

        def at_infinity(self, ctx):
            return ctx.number(100)  # it is not asked

        def for_group(self, size):
            return ShortNoise(size * self.size)

    yield ShortNoise
    del Node._kinds["ShortNoise"]


@pytest.mark.parametrize("kind", ["exact", "upper", "lower"])
def test_a_curve_stated_for_groups_too(kind):
    stated = Adjacency(Relation.ADD_REMOVE, 2)
    groups = Curve("alpha/50", kind=kind, adjacency=stated, at_infinity="inf")
    one = Curve("alpha/90", kind=kind, adjacency=ADD_REMOVE, at_infinity="inf")
    if kind == "lower":
        with pytest.raises(SoundnessError, match="groups of 2"):
            groups + one
    else:
        assert (groups + one).claim.kind is Kind.UPPER


def test_groups_of_groups_are_bounded_together():
    with pytest.raises(DomainError, match="GroupPrivacy, size"):
        GroupPrivacy(GroupPrivacy(PureDP(1), 2**30), 2)


def test_a_document_with_exponents_is_refused_with_the_remedy():
    node = GroupPrivacy(PureDP(1), 8)
    assert from_json(node.to_json()) is node is parse("GroupPrivacy(PureDP(1), 8)")
    former = node.to_json().replace('"size": "8"', '"c": "3"')
    assert former != node.to_json()
    with pytest.raises(ParseError, match="8 for c = 3"):
        from_json(former)


def test_a_sample_is_read_at_many_orders():
    node = GroupPrivacy(PoissonSubsample(Gaussian(5), "1/10"), 3)
    step = PoissonSubsample(Gaussian(5), "1/10")
    low, high = (
        sum(Fraction(6, 6 - i) * ends(ask(step, 6 - i))[end] for i in range(3)) for end in (0, 1)
    )
    found = ends(ask(node, 2))
    assert found[0] <= high
    assert low <= found[1]
