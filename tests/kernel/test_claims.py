"""The one inference rule, adjacency's meeting rule, orders, and what each theorem states."""

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import pytest

from symacct import (
    ZCDP,
    Adjacency,
    AdjacencyError,
    AssumptionError,
    Claim,
    Curve,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    NoisyMax,
    OrderError,
    Orders,
    PermuteAndFlip,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SoundnessError,
    SparseVector,
    SubsampleWithoutReplacement,
    theorems,
)
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import (
    ALL_ORDERS,
    EITHER,
    FINITE_ORDERS,
    INFINITE_ORDER,
    INTEGER_ORDERS,
    Relation,
    adjacency,
    combine,
    common_adjacency,
    infer,
    kind,
)
from symacct.kernel.evaluation import Evaluation
from symacct.kernel.theorem_registry import named
from tests.thinning import covering

ADD, REPLACE = adjacency("add_remove"), adjacency("replace_one")
EXACT, UPPER, LOWER = Kind.EXACT, Kind.UPPER, Kind.LOWER


BOUNDS = (EXACT, UPPER, LOWER)


@pytest.mark.parametrize("kinds", list(product(BOUNDS, repeat=3)))
def test_kinds_combine_to_the_weakest_and_never_mix(kinds):
    if {UPPER, LOWER} <= set(kinds):
        with pytest.raises(SoundnessError, match=r"bounds nothing.*needed"):
            combine(kinds, "test")
    else:
        weakest = next((k for k in kinds if k is not EXACT), EXACT)
        assert combine(kinds, "test") is weakest
    assert combine([], "test") is EXACT


@pytest.mark.parametrize("other", BOUNDS)
def test_what_is_neither_bound_is_no_premise_and_no_curve(other):
    for kinds in ([Kind.NEITHER], [Kind.NEITHER, other], [other, Kind.NEITHER]):
        with pytest.raises(SoundnessError, match="bounds nothing"):
            combine(kinds, "test")
    for given in (Kind.NEITHER, "neither", "Upper", [], 5):
        with pytest.raises(DomainError, match="kind: found"):
            Curve("alpha", kind=given, adjacency="either")


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize(("stated", "premise"), list(product(BOUNDS, repeat=2)))
def test_a_statement_about_an_inexact_premise(stated, premise, monotone):
    def yields():
        return infer("test", Claim(stated), [Claim(EXACT), Claim(premise)], monotone).kind

    if {stated, premise} == {UPPER, LOWER} or (not monotone and premise is not EXACT):
        with pytest.raises(SoundnessError):
            yields()
    else:
        assert yields() is (stated if premise is EXACT else premise)


def test_a_certificate_is_lost_once_for_all():
    sure, unsure = Claim(EXACT), Claim(EXACT, certified=False)
    assert infer("test", sure, [sure, sure], True).certified
    assert not infer("test", sure, [sure, unsure], True).certified
    assert not infer("test", unsure, [sure], True).certified


def test_premises_must_be_about_one_relation():
    assert infer("test", Claim(UPPER), [Claim(EXACT, ADD), Claim(EXACT)], True).adjacency == ADD
    assert infer("test", Claim(UPPER, ADD), [Claim(EXACT)], True).adjacency == ADD
    for premises in ([Claim(EXACT, ADD), Claim(EXACT, REPLACE)], [Claim(EXACT, REPLACE)]):
        with pytest.raises(AdjacencyError, match="test: found add_remove and replace_one"):
            infer("test", Claim(UPPER, ADD), premises, True)


def test_what_leaves_the_relation_open_takes_over_that_of_its_premises():
    pairs = Adjacency(Relation.ADD_REMOVE, 2)
    assert infer("test", Claim(UPPER), [Claim(EXACT, pairs)], True).adjacency == pairs
    assert infer("test", Claim(UPPER), [], True).adjacency == Claim(UPPER).adjacency


def test_only_all_orders_hold_infinity():
    named = (ALL_ORDERS, FINITE_ORDERS, INTEGER_ORDERS, INFINITE_ORDER)
    assert [float("inf") in orders for orders in named] == [True, False, False, True]


GROUPS = [Adjacency(r, g) for r in Relation for g in (1, 2, 3, 4, 8)]


def met(a, b):
    """What two of them speak of together; what is refused, if anything is."""
    relations = {a.relation, b.relation} - {Relation.EITHER}
    if len(relations) < 2:
        return Adjacency(next(iter(relations), Relation.EITHER), min(a.group, b.group))
    if Relation.REPLACE_ONE not in relations:  # one changes the number of places, one does not
        return "needed one neighbouring relation; name one"
    step, replace = (b, a) if a.relation is Relation.REPLACE_ONE else (a, b)
    if step.group < 2:  # one addition, removal or empty place is no replacement
        return "needed one neighbouring relation.*GroupPrivacy"
    # k replacements are at most 2k additions and removals, or places emptied and filled
    return Adjacency(Relation.REPLACE_ONE, min(step.group // 2, replace.group))


def test_adjacencies_meet_in_what_both_speak_of():
    for a, b in product(GROUPS, repeat=2):
        expected = met(a, b)
        if isinstance(expected, Adjacency):
            assert a.meet(b, "test") == expected
        else:
            with pytest.raises(AdjacencyError, match=expected):
                a.meet(b, "test")


def test_the_order_in_which_adjacencies_meet_does_not_matter():
    for three in combinations_with_replacement(GROUPS, 3):
        met = set()
        for ordered in permutations(three):
            try:
                met.add(common_adjacency(ordered, "test"))
            except AdjacencyError:
                met.add(None)
        assert len(met) == 1, three


def test_a_part_that_leaves_the_relation_open_goes_with_groups_and_replacements():
    parts = [
        Gaussian(1),
        GroupPrivacy(PoissonSubsample(Gaussian(2), "1/3"), 2),
        SubsampleWithoutReplacement(Gaussian(3), "1/3"),
    ]
    for first, second, third in permutations(parts):
        claim = (first + second + third).claim
        assert (claim.adjacency, claim.kind) == (REPLACE, UPPER)
    claims = [part.claim for part in parts]
    assert {infer("test", Claim(UPPER), each, True).adjacency for each in permutations(claims)} == {
        REPLACE
    }


def test_a_set_of_orders_holds_what_it_says():
    assert 2 in Orders(2, whole=True, infinite=False)
    assert Fraction(5, 2) not in Orders(2, whole=True)
    assert 1 not in Orders(2)
    assert Fraction(3, 2) not in Orders(2)
    assert float("inf") in Orders()
    assert float("inf") not in Orders(infinite=False)
    assert 1 in Orders()
    assert 1 not in Orders(1, above=True)
    assert Fraction(10**9 + 1, 10**9) in Orders(1, above=True)
    assert 10**6 not in Orders(float("inf"))
    assert str(Orders(2, whole=True, infinite=False)) == "integer orders >= 2"
    assert str(Orders(1, above=True)) == "real orders > 1 and ∞"


@pytest.mark.parametrize("bad", ["both", 1, None, "ADD_REMOVE", ""])
def test_unknown_adjacencies_and_kinds_are_refused(bad):
    with pytest.raises(DomainError, match=r"adjacency: found .*needed 'add_remove'"):
        adjacency(bad)
    with pytest.raises(DomainError, match=r"kind: found .*needed 'exact'"):
        kind(bad)


# --- what the register says, against theory.md

STATED = {
    "ZW19-T5": (UPPER, ADD, 2, True),
    "ZW19-T6": (LOWER, ADD, 2, True),
    "ZW19-T8": (EXACT, ADD, 2, True),
    "ZW19-T11": (UPPER, ADD, 2, True),
    "ZW19-T20": (UPPER, ADD, 2, True),
    "WBK19-T9": (UPPER, REPLACE, 2, True),
    "WBK19-T27": (UPPER, REPLACE, 2, True),
    "WBK19-R33": (UPPER, REPLACE, 2, True),
    "WBK19-P11": (LOWER, REPLACE, 2, True),
    "WBK19-C10": (UPPER, EITHER, 1, False),
    "MTZ19-EXACT": (EXACT, ADD, 1, False),
    "MTZ19-T11": (UPPER, ADD, 1, False),
    "ACG16-L3": (UPPER, ADD, 2, True),
    "BDRS18-T11": (UPPER, REPLACE, 1, False),
    "BLOG-C24": (UPPER, EITHER, 1, False),
    "S22-POISSON": (UPPER, ADD, 2, True),
    "PAIR-EXACT": (EXACT, ADD, 1, False),
    "PS22-T2": (UPPER, EITHER, 1, False),
    "PS22-T6": (UPPER, EITHER, 1, False),
}


@pytest.mark.parametrize("name", STATED)
def test_the_register_states_kind_adjacency_and_orders(name):
    t = named(name)
    assert (t.kind, t.adjacency, t.orders.first, t.orders.whole) == STATED[name]
    assert t.source.key == name.split("-")[0] or name == "PAIR-EXACT"


def test_the_opt_in_theorems_are_no_default():
    for name in ("ZW19-T5", "ZW19-T11", "ZW19-T20", "ACG16-L3", "MTZ19-T11", "WBK19-R33"):
        assert not named(name).default


def test_what_reads_a_dominating_pair_is_not_monotone_and_every_other_bound_is():
    assert {t.name for t in theorems() if not t.monotone} == {
        "WBK19-T27",
        "WBK19-R33",
        "TRIPLE-DOMINATED",
    }


@pytest.mark.parametrize(
    ("node", "alpha", "expected"),
    [
        (PoissonSubsample(Gaussian(5), "1/9"), 8, {"ZW19-T8", "MTZ19-EXACT"}),
        (PoissonSubsample(RandomizedResponse("3/5"), "1/9"), "5/2", {"PAIR-EXACT"}),
        (PoissonSubsample(Gaussian(5), "1/9"), "5/2", {"MTZ19-EXACT"}),
        (PoissonSubsample(2 * Gaussian(5), "1/9"), "5/2", {"MTZ19-EXACT"}),
        (PoissonSubsample(2 * Laplace(5), "1/9"), "5/2", {"WBK19-C10"}),
        (SubsampleWithoutReplacement(PureDP("1/50"), "1/9"), 2, {"TRIPLE-PURE"}),
        (SubsampleWithoutReplacement(Gaussian("1/2"), "1/100"), 40, {"TRIPLE-GAUSSIAN"}),
        (SubsampleWithoutReplacement(Gaussian("1/2"), "1/100"), 1, {"TRIPLE-DOMINATED"}),
        (PoissonSubsample(Laplace(1), "1/9"), "inf", {"ZW19-L4"}),
        (SubsampleWithoutReplacement(Laplace(1), "1/9"), "inf", {"WBK19-L3"}),
    ],
)
def test_the_claim_names_the_theorem_that_gave_the_value(node, alpha, expected):
    answer = node.rdp(alpha, digits=12)
    assert answer.claim.theorems[0] in expected
    pinned = node.rdp(alpha, digits=12, by=answer.claim.theorems[0])
    assert pinned.lower <= answer.upper
    assert answer.lower <= pinned.upper


def test_a_whole_order_that_is_a_fraction_has_the_claim_of_the_whole_one():
    """As a search over real orders asks it: another theorem answers between whole orders."""
    curve = Evaluation(BALL).curve(PoissonSubsample(Gaussian(5), "1/9"))
    assert curve.claim(Fraction(8)) == curve.claim(8)
    assert curve.claim(Fraction(8)) != curve.claim(Fraction(17, 2))


POISSON = PoissonSubsample(Gaussian(5), "1/9")
WITHOUT = SubsampleWithoutReplacement(Gaussian(5), "1/9")
UNKNOWN = PoissonSubsample(PureDP(1) + Curve("alpha", kind="upper", adjacency="either"), "1/9")


@pytest.mark.parametrize(
    ("node", "alpha", "by", "error"),
    [
        (POISSON, "5/2", "ZW19-T8", OrderError),
        (POISSON, 1, "ZW19-T5", OrderError),
        (POISSON, "inf", "ZW19-T5", OrderError),
        (POISSON, 2, "ZW19-L4", OrderError),
        (WITHOUT, "5/2", "WBK19-T9", OrderError),
        (UNKNOWN, 3, "ZW19-T8", AssumptionError),
        (POISSON, 3, "WBK19-T9", AssumptionError),
        (Gaussian(5), 3, "ZW19-T8", AssumptionError),
        (Gaussian(5), 3, "ZW19-T9", DomainError),
        (Gaussian(5), 3, "", DomainError),
        (Gaussian(5), 3, 7, DomainError),
        (POISSON, 3, "ZW19-T8:tau=3", DomainError),
    ],
)
def test_a_theorem_that_does_not_apply_is_refused(node, alpha, by, error):
    with pytest.raises(error):
        node.rdp(alpha, by=by)


UPPER_LEAVES = [NoisyMax("7/9"), PermuteAndFlip("1/2"), ZCDP("1/50"), SparseVector(3, 4, 1)]


@covering()
@pytest.mark.parametrize("m", UPPER_LEAVES, ids=str)
@pytest.mark.parametrize("sampling", [PoissonSubsample, SubsampleWithoutReplacement])
@pytest.mark.parametrize("gamma", ["1/10", 1])
def test_a_bound_is_answered_by_what_may_read_bounds(m, sampling, gamma):
    """At rate 1 the nearest theorem is named: it was one that may not read a bound."""
    for alpha in (1, 15, Fraction(101, 6), "inf"):
        assert sampling(m, gamma).rdp(alpha).claim.kind is Kind.UPPER
    for one in theorems():
        if sampling.__name__ in one.operation and not one.monotone:
            assert one.why_not(sampling(m, gamma), 15) or one.reads == "itself", one.name
