"""Composition, scaling, groups, post-processing, projection: what they do to any curve."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Accountant,
    Adjacency,
    AdjacencyError,
    AssumptionError,
    Compose,
    Convexify,
    Curve,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    PoissonSubsample,
    PostProcess,
    PureDP,
    Scale,
    SoundnessError,
    SubsampleWithoutReplacement,
)
from symacct.kernel.claims import Relation
from tests import independent
from tests.support import (
    BASES,
    INFINITY,
    LEAVES,
    MP,
    expressions,
    fractional_orders,
    holds,
    overlap,
    whole_orders,
)

DIGITS = 40


def ask(node, alpha):
    return Accountant(DIGITS).rdp(node, alpha)


def ends(answer):
    return independent.fraction(answer.lower), independent.fraction(answer.upper)


@pytest.mark.parametrize("base", BASES)
@given(data=st.data())
def test_every_expression_without_sampling_has_its_formula(base, data):
    node = data.draw(BASES[base])
    for alpha in (1, data.draw(whole_orders), data.draw(fractional_orders), INFINITY):
        assert holds(ask(node, alpha), independent.rdp(MP, node, alpha), DIGITS)


@given(expressions, expressions, st.integers(0, 10**6), st.integers(1, 10**6), fractional_orders)
def test_composition_is_linear(m, n, a, b, alpha):
    low_m, high_m = ends(ask(m, alpha))
    low_n, high_n = ends(ask(n, alpha))
    low, high = ends(ask(a * m + b * n, alpha))
    assert low <= a * high_m + b * high_n
    assert a * low_m + b * low_n <= high


@given(expressions, whole_orders)
def test_the_empty_composition_costs_nothing(m, alpha):
    assert ask(0 * m, alpha).upper == 0
    assert (0 * m).epsilon("1e-9").epsilon.upper == 0


@given(expressions, st.one_of(whole_orders, fractional_orders, st.just(1), st.just(INFINITY)))
def test_post_processing_never_raises_epsilon(m, alpha):
    after = PostProcess(m)
    assert ask(after, alpha).upper <= ask(m, alpha).upper
    assert after.claim.adjacency == m.claim.adjacency
    assert after.claim.kind is Kind.UPPER


@given(expressions, st.fractions(0, 5, max_denominator=7), fractional_orders)
def test_scaling_multiplies_and_is_no_longer_exact(m, c, alpha):
    low, high = ends(ask(m, alpha))
    scaled = Scale(m, c)
    found_low, found_high = ends(ask(scaled, alpha))
    assert found_low <= c * high
    assert c * low <= found_high
    if c.denominator > 1:
        assert scaled.claim.kind is Kind.UPPER
    else:
        assert scaled is int(c) * m


@given(expressions, st.integers(2, 20), st.one_of(whole_orders, fractional_orders))
def test_projection_never_costs_more_and_keeps_the_adjacency(m, last, alpha):
    projected = Convexify(m, last)
    if type(alpha) is int or alpha > last:
        assert ask(projected, alpha).lower <= ask(m, alpha).upper
    assert projected.claim.adjacency == m.claim.adjacency
    assert projected.claim.kind is Kind.UPPER
    assert m.convexify(last) is projected


@given(LEAVES["Gaussian"], whole_orders)
def test_the_projection_of_a_convex_curve_is_the_curve_at_whole_orders(m, alpha):
    assert overlap(ask(Convexify(m, 24), alpha), ask(m, alpha))
    beyond = ask(Convexify(m, alpha), alpha + Fraction(3, 2))
    assert overlap(beyond, ask(m, alpha + Fraction(3, 2)))


def test_the_projection_of_a_kinked_bound_is_convex_and_below_it():
    """A bound far too large at one order is lowered to the chord of its neighbours."""

    def kinked(ctx, alpha):
        return alpha * ctx.number("1/50") + (5 if alpha == 7 else 0)

    bound = Curve(kinked, kind="upper", adjacency="either")
    projected = bound.convexify(12)
    assert (
        overlap(
            ask(projected, 7),
            ask(Curve("alpha/50", kind="upper", adjacency="either").convexify(12), 7),
        )
        is False
    )
    assert ask(projected, 7).upper < ask(bound, 7).lower
    k6, k7, k8 = (
        (alpha - 1) * independent.fraction(ask(projected, alpha).upper) for alpha in (6, 7, 8)
    )
    assert abs(k7 - (k6 + k8) / 2) < Fraction(1, 10**38)
    k = [Fraction(a * (a - 1), 50) for a in (6, 8)]
    assert abs(k7 - sum(k) / 2) < Fraction(1, 10**38)


# --- adjacency and kind

EITHER, ADD, REPLACE = (PureDP(1, name) for name in ("either", "add_remove", "replace_one"))


@pytest.mark.parametrize("operation", [PostProcess, lambda m: Scale(m, "1/2"), lambda m: 3 * m])
def test_operations_that_fix_no_adjacency_keep_it(operation):
    for m in (EITHER, ADD, REPLACE):
        assert operation(m).claim.adjacency == m.claim.adjacency


@pytest.mark.parametrize(
    "build",
    [
        lambda: PoissonSubsample(REPLACE, "1/2"),
        lambda: SubsampleWithoutReplacement(ADD, "1/2"),
        lambda: ADD + REPLACE,
        lambda: (
            PoissonSubsample(Gaussian(5), "1/2") + SubsampleWithoutReplacement(Laplace(1), "1/2")
        ),
        lambda: SubsampleWithoutReplacement(PoissonSubsample(Gaussian(5), "1/2"), "1/2"),
        lambda: PoissonSubsample(
            PostProcess(3 * SubsampleWithoutReplacement(EITHER, "1/2")), "1/2"
        ),
        lambda: ADD + PostProcess(GroupPrivacy(Scale(REPLACE, "1/2"), 3)),
    ],
)
def test_adjacencies_do_not_mix(build):
    with pytest.raises(AdjacencyError, match=r"add_remove and replace_one.*needed.*GroupPrivacy"):
        build()


def test_groups_of_two_under_add_remove_cover_replace_one():
    pair = GroupPrivacy(PoissonSubsample(Gaussian(5), "1/2"), 2)
    assert pair.claim.adjacency == Adjacency(Relation.ADD_REMOVE, 2)
    both = pair + REPLACE
    assert both.claim.adjacency == Adjacency(Relation.REPLACE_ONE, 1)
    assert SubsampleWithoutReplacement(pair, "1/2").claim.adjacency.relation is Relation.REPLACE_ONE
    # A curve for groups holds for fewer, never the other way round.
    assert (pair + ADD).claim.adjacency == Adjacency(Relation.ADD_REMOVE, 1)
    assert GroupPrivacy(GroupPrivacy(ADD, 2), 4).claim.adjacency.group == 8
    assert PoissonSubsample(pair, "1/2").claim.adjacency == Adjacency(Relation.ADD_REMOVE, 1)


def test_the_open_adjacency_takes_that_of_its_neighbours():
    assert (EITHER + ADD).claim.adjacency == ADD.claim.adjacency
    assert (EITHER + REPLACE).claim.adjacency == REPLACE.claim.adjacency
    assert (EITHER + Gaussian(5)).claim.adjacency == Adjacency()


LOW = Curve("alpha/50", kind="lower", adjacency="either", at_infinity="inf")
UPPER = Curve("alpha/50", kind="upper", adjacency="either")
EXACT = Curve("alpha/50", kind="exact", adjacency="either", at_infinity="inf")


def test_kinds_follow_the_one_rule():
    assert (EXACT + Gaussian(5)).claim.kind is Kind.EXACT
    assert (EXACT + UPPER).claim.kind is Kind.UPPER
    assert (EXACT + LOW).claim.kind is Kind.LOWER
    assert (LOW + 5 * LOW + EXACT).claim.kind is Kind.LOWER
    assert Scale(LOW, "1/2").claim.kind is Kind.LOWER
    assert Compose().claim.kind is Kind.EXACT


@pytest.mark.parametrize(
    "build",
    [
        lambda: UPPER + LOW,
        lambda: Compose({LOW: 2, EXACT: 1, UPPER: 3}),
        lambda: (EXACT + LOW) + Scale(EXACT, "1/2"),
        lambda: Convexify(LOW, 10),
        lambda: PostProcess(LOW),
        lambda: GroupPrivacy(LOW, 2),
    ],
)
def test_a_lower_bound_does_not_go_with_upper_ones(build):
    with pytest.raises(SoundnessError):
        build()


@pytest.mark.parametrize(
    "ask_guarantee",
    [
        lambda: LOW.epsilon("1e-5"),
        lambda: LOW.delta(1),
        lambda: (3 * LOW + EXACT).epsilon("1e-5"),
        lambda: Scale(LOW, "1/2").delta(1, orders=[2, 3]),
        lambda: PoissonSubsample(Gaussian(5), "1/9").epsilon("1e-5", by="ZW19-T6"),
        lambda: PoissonSubsample(Gaussian(5), "1/9").delta(1, by="ZW19-T6", orders=[8]),
        lambda: PoissonSubsample(LOW, "1/9").epsilon("1e-5"),
        lambda: SubsampleWithoutReplacement(Gaussian(5), "1/9").epsilon("1e-5", by="WBK19-P11"),
        lambda: (9 * PoissonSubsample(Gaussian(5), "1/9")).epsilon(
            "1e-5", by="ZW19-T6", orders="integer"
        ),
    ],
)
def test_a_lower_bound_is_no_guarantee(ask_guarantee):
    with pytest.raises(SoundnessError, match=r"lower bound.*needed"):
        ask_guarantee()


def test_an_upper_bound_is_no_lower_bound():
    for node in (UPPER, PoissonSubsample(UPPER, "1/9"), SubsampleWithoutReplacement(UPPER, "1/9")):
        with pytest.raises(SoundnessError):
            node.lower_bound(5)
    with pytest.raises(SoundnessError):
        PoissonSubsample(UPPER, "1/9").rdp(5, by="ZW19-T6")
    assert LOW.lower_bound(5).claim.kind is Kind.LOWER
    assert LOW.rdp(5).claim.kind is Kind.LOWER
    assert PoissonSubsample(LOW, "1/9").rdp(5).claim.kind is Kind.LOWER


def test_theorem_27_refuses_a_curve_that_is_only_a_bound():
    for m in (UPPER, PostProcess(Gaussian(5)), Scale(Gaussian(5), "1/2")):
        with pytest.raises((SoundnessError, AssumptionError), match=r"exact|one pair"):
            SubsampleWithoutReplacement(m, "1/9").rdp(5, by="WBK19-T27")


def test_the_claim_names_every_theorem_and_source_used():
    node = 3 * PoissonSubsample(Gaussian(5), "1/9") + PostProcess(Laplace(2))
    claim = node.rdp(5, by="ZW19-T8").claim
    assert {"MIR17-P1", "ZW19-T8", "VEH14-T9"} <= set(claim.theorems)
    assert {"MIR17", "ZW19", "VEH14"} <= {source.key for source in claim.sources}
    assert len(set(claim.theorems)) == len(claim.theorems)
    assert str(claim).startswith("upper (add_remove;")
