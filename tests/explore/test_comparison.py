"""compare: everything known about an expression side by side, with ratios and reasons."""

import pytest

from symacct import (
    ZCDP,
    DistributionPair,
    Enclosure,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    RandomAllocation,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    compare,
    compare_epsilon,
    limits,
    theorems,
)
from symacct.kernel.theorem_registry import is_about

EXPRESSIONS = [
    PoissonSubsample(Gaussian(5), "1/1000"),
    PoissonSubsample(DistributionPair(["1/2", "1/2"], ["1/3", "2/3"]), "1/10"),
    SubsampleWithoutReplacement(RandomizedResponse("3/4"), "1/10"),
    100 * SubsampleWithoutReplacement(Gaussian(5), "1/1000"),
]
ORDERS = [2, "7/2", 8, "inf"]


@pytest.fixture(params=EXPRESSIONS, ids=repr, scope="module")
def compared(request):
    return request.param, compare(request.param, ORDERS)


def test_every_theorem_about_it_has_a_row_with_a_value_or_a_reason(compared):
    m, rows = compared
    about = {t.name for t in theorems() for node in m.walk() if is_about(t, node)}
    assert {row.name for row in rows} == about | {"default"}
    for row in rows:
        assert len(row.values) == len(row.ratios) == len(ORDERS)
        assert all(isinstance(x, Enclosure) or x for x in row.values)


def test_the_default_comes_first_then_lower_bounds_up_to_upper_ones(compared):
    _, rows = compared
    assert rows[0].name == "default"
    applying = [row for row in rows[1:] if row.applies]
    kinds = [Kind.LOWER, Kind.EXACT, Kind.UPPER]
    places = [(row.status != "proved", kinds.index(row.kind)) for row in applying]
    assert places == sorted(places)
    assert not any(row.applies for row in rows[1 + len(applying) :])


def test_lower_bounds_have_ratios_up_to_1_and_proved_upper_ones_from_1_on(compared):
    _, rows = compared
    for row in rows:
        for value, ratio in zip(row.values, row.ratios, strict=True):
            if ratio is None or not value.claim.certified:
                continue
            if value.claim.kind is not Kind.UPPER:
                assert ratio.lower <= 1, row.name
            if value.claim.kind is not Kind.LOWER:
                assert ratio.upper >= 1, row.name


def test_a_ratio_is_the_quotient_of_what_is_shown():
    rows = {row.name: row for row in compare(EXPRESSIONS[0], 8, digits=20)}
    bound, exact = (float(rows[name].values[0]) for name in ("ZW19-T5", "ZW19-T8"))
    assert abs(float(rows["ZW19-T5"].ratios[0]) - bound / exact) < 1e-12


def test_without_replacement_the_best_lower_bound_is_what_counts():
    node = EXPRESSIONS[2]
    rows = {row.name: row for row in compare(node, 8)}
    best = float(node.lower_bound(8))
    assert abs(float(rows["default"].ratios[0]) - float(node.rdp(8)) / best) < 1e-6


def test_a_leaf_has_its_own_curve_only():
    (row,) = compare(Gaussian(5), 8)
    assert row.name == "default"
    assert row.ratios[0].lower <= 1 <= row.ratios[0].upper


def rows_of(m, orders):
    return {row.name: row for row in compare(m, orders)}


def test_a_refuted_bound_is_called_that_and_stands_after_the_proved_ones():
    m = SubsampleWithoutReplacement(Gaussian(5), "1/100")
    rows = compare(m, 8)
    names = [row.name for row in rows if row.applies]
    assert names[-1] == "BLOG-C26"
    assert {row.name: row.status for row in rows}["BLOG-C26"] == "refuted"
    assert all(row.status == "proved" for row in rows if row.name != "BLOG-C26")


def test_the_default_is_exact_only_where_each_of_its_values_is():
    m = PoissonSubsample(2 * Gaussian(5) + Laplace(2), "1/10")
    assert rows_of(m, 4)["default"].kind is Kind.EXACT
    assert rows_of(m, [4, "5/2"])["default"].kind is Kind.UPPER  # 5/2 is interpolated


def test_reasons_say_what_is_missing_and_offer_no_remedy_of_another_question():
    rows = rows_of(PoissonSubsample(ZCDP("1/50"), "1/100"), ["5/2", 4])
    assert "condition (4)" in rows["ZW19-T8"].reason
    for row in rows.values():
        assert row.applies or row.reason
        assert "by=" not in row.reason
        assert "convexify" not in row.reason


def test_a_lower_bound_of_an_upper_curve_has_a_reason_of_its_own():
    rows = rows_of(PoissonSubsample(ZCDP("1/50"), "1/100"), 4)
    assert rows["VEH14-T3"].kind is Kind.LOWER
    assert rows["VEH14-T3"].reason == (
        "it reads a curve that is only an upper bound, of which a lower one says nothing"
    )


def test_without_a_lower_bound_there_are_no_ratios():
    for row in compare(PoissonSubsample(ZCDP("1/50"), "1/100"), 4):
        assert row.ratios == (None,)


def test_the_only_rule_that_sums_the_parts_is_no_row_of_its_own():
    """It gives the default once more, where the directions of the parts need no sum apart."""
    alone = compare_epsilon(100 * PoissonSubsample(Gaussian(5), "1/100"), "1e-5", 6)
    assert "MIR17-P1" not in {row.theorem for row in alone}
    one, other = ["9/10", "1/10"], ["1/2", "1/2"]
    opposed = [
        DistributionPair(*pair, "add_remove", with_record="P")
        for pair in ((one, other), (other, one))
    ]
    rows = compare_epsilon(opposed[0] + opposed[1], "1/10", 6)
    beside = {row.theorem: row for row in rows}
    assert beside["MIR17-P1"].epsilon.upper > beside["COMPOSE-DIRECTIONS"].epsilon.upper


def test_all_rows_have_the_time_of_one_question():
    """What is not reached says so."""
    allocated = RandomAllocation(Laplace(1), 3) + PoissonSubsample(Laplace(1), "1/3")
    with limits(seconds=1):
        rows = compare_epsilon(allocated, "1e-5", 6)
    assert "not computed within 1 s" in {row.epsilon for row in rows if not row.applies}


@pytest.mark.parametrize(
    ("m", "first", "last"),
    [
        (100 * PoissonSubsample(Gaussian(5), "1/100"), Kind.EXACT, Kind.UPPER),
        (100 * SubsampleWithoutReplacement(Gaussian(5), "1/100"), Kind.UPPER, Kind.LOWER),
        (ZCDP("1/2"), Kind.UPPER, Kind.UPPER),
    ],
    ids=["exact", "between", "curve"],
)
def test_the_best_proved_epsilon_comes_first_and_what_has_none_last(m, first, last):
    rows = compare_epsilon(m, "1e-5", 6)
    found = [row.epsilon for row in rows if row.applies]
    assert [row.applies for row in rows] == sorted((row.applies for row in rows), reverse=True)
    proved = [x for x in found if x.claim.kind is not Kind.LOWER]
    assert [x.upper for x in proved] == sorted(x.upper for x in proved)
    assert (found[0].claim.kind, found[-1].claim.kind) == (first, last)
    assert found[0].upper == min(x.upper for x in proved)
