"""What is remembered changes no answer, and saves the work it should."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Accountant,
    Compose,
    Curve,
    Gaussian,
    Laplace,
    PoissonSubsample,
    RandomizedResponse,
    SubsampleWithoutReplacement,
)
from tests.independent import fraction
from tests.thinning import examples

INNER = PoissonSubsample(Gaussian(2), "1/10")
NODE = 7 * PoissonSubsample(INNER, "1/3") + Laplace(2)
WITHOUT = SubsampleWithoutReplacement(RandomizedResponse("3/5"), "1/20") + Laplace(3)

#: Questions that differ in all that can change an answer.
QUESTIONS = [
    lambda a: a.rdp(NODE, 9),
    lambda a: a.rdp(NODE, 9, digits=31),
    lambda a: a.rdp(NODE, 9, digits=120),
    lambda a: a.rdp(NODE, 9, by="ZW19-T5"),
    lambda a: a.rdp(NODE, 9, by="ZW19-T6"),
    lambda a: a.rdp(NODE, 9, by="ZW19-T6", digits=31),
    lambda a: a.lower_bound(NODE, 9),
    lambda a: a.rdp(NODE, "17/2"),
    lambda a: a.rdp(NODE, "17/2", by="VEH14-T13"),
    lambda a: a.rdp(NODE, 1),
    lambda a: a.rdp(NODE, "inf"),
    lambda a: a.cgf(NODE, 8),
    lambda a: a.rdp(INNER, 9),
    lambda a: a.rdp(INNER, 9, by="ZW19-T11:tau=3"),
    lambda a: a.rdp(INNER, 9, by="ZW19-T11:tau=4"),
    lambda a: a.rdp(INNER, 9, by="ZW19-T20:tau=3"),
    lambda a: a.rdp(INNER, 9, by="VEH14-T13"),
    lambda a: a.rdp(PoissonSubsample(Gaussian(2), "1/11"), 9),
    lambda a: a.rdp(WITHOUT, 9),
    lambda a: a.rdp(WITHOUT, 9, by="WBK19-T9"),
    lambda a: a.rdp(WITHOUT, 9, by="WBK19-C10"),
    lambda a: a.rdp(WITHOUT, 9, by="WBK19-P11"),
    lambda a: a.rdp(WITHOUT, 9, by="BLOG-C24"),
    lambda a: a.rdp(WITHOUT.convexify(12), "17/2"),
    lambda a: a.epsilon(NODE, "1e-6", conversion="improved", digits=12),
    lambda a: a.epsilon(NODE, "1e-6", conversion="improved", digits=13),
    lambda a: a.epsilon(NODE, "1e-6", digits=12, conversion="classic"),
    lambda a: a.epsilon(NODE, "1e-6", digits=12, orders="integer"),
    lambda a: a.epsilon(NODE, "1e-7", digits=12, orders="integer"),
    lambda a: a.epsilon(NODE, "1e-6", digits=12, orders=[2, 9, 40]),
    lambda a: a.epsilon(INNER, "1e-6", digits=12, by="ZW19-T5", orders="integer"),
    lambda a: a.epsilon(INNER, "1e-6", digits=12, orders="integer"),
    lambda a: a.delta(INNER, "1e-6", conversion="improved", digits=12),
    lambda a: a.delta(INNER, "1", conversion="improved", digits=12),
    lambda a: a.epsilon(200 * WITHOUT, "1e-6", conversion="improved", digits=12),
]


def exactly(answer):
    """The answer to the last bit, its claim included."""
    if hasattr(answer, "as_dict") and hasattr(answer, "asked"):
        asked = answer.asked
        return (asked.lower._mpf_, asked.upper._mpf_, str(answer.as_dict()))
    return answer.lower._mpf_, answer.upper._mpf_, str(answer.claim), answer.certified


COLD = None


def cold():
    """Every answer from an accountant that was asked nothing else."""
    global COLD
    if COLD is None:
        COLD = [exactly(question(Accountant())) for question in QUESTIONS]
    return COLD


def test_every_question_here_has_an_answer_of_its_own():
    seen = {}
    for place, answer in enumerate(cold()):
        assert seen.setdefault(str(answer), place) == place


@given(st.permutations(range(len(QUESTIONS))))
@examples(2, 8)
def test_answers_do_not_depend_on_what_was_asked_before(order):
    accountant = Accountant()
    assert [exactly(QUESTIONS[i](accountant)) for i in order] == [cold()[i] for i in order]
    # And once more, all of it remembered.
    assert [exactly(QUESTIONS[i](accountant)) for i in order] == [cold()[i] for i in order]


def test_forgetting_changes_nothing():
    accountant = Accountant()
    for question, answer in zip(QUESTIONS, cold(), strict=True):
        assert exactly(question(accountant)) == answer
        accountant.clear()
        assert accountant.oracle_calls(NODE) == 0


@pytest.mark.parametrize("engine", ["mpmath", "float64"])
@examples(1, 30)
@given(order=st.permutations(range(9)))
def test_other_engines_forget_and_remember_alike(engine, order):
    questions = QUESTIONS[6:9] + QUESTIONS[12:18]
    warm = Accountant(engine=engine)
    for i in order:
        assert exactly(questions[i](warm)) == exactly(questions[i](Accountant(engine=engine)))


# --- how often a curve is asked


class Counted:
    """The curve α/50 in any arithmetic, counting how often it is asked."""

    def __init__(self):
        self.orders = []

    def __call__(self, ctx, alpha):
        self.orders.append(float(alpha))
        return alpha / 50


def counted(**options):
    oracle = Counted()
    return oracle, Curve(
        oracle, **{"kind": "exact", "adjacency": "either", "at_infinity": "inf", **options}
    )


@pytest.mark.parametrize("by", [None, "ZW19-T5", "ZW19-T6", "ZW19-T20:tau=20"])
def test_one_value_asks_the_base_once_per_order_and_never_again(by):
    oracle, base = counted()
    node, accountant = PoissonSubsample(base, "1/10"), Accountant()
    first = accountant.rdp(node, 1000, by=by)
    cold_calls = len(oracle.orders)
    assert 0 < cold_calls <= 1000
    # ∞ may be among the orders counted, which is stated and asks nothing.
    assert len(set(oracle.orders)) <= accountant.oracle_calls(base) <= 1000
    assert exactly(accountant.rdp(node, 1000, by=by)) == exactly(first)
    accountant.rdp(3 * node, 1000, by=by)
    assert len(oracle.orders) == cold_calls


def test_the_whole_curve_up_to_an_order_asks_the_base_no_more_than_that():
    accountant, base = Accountant(12), Gaussian("7/3")
    node = PoissonSubsample(base, "1/10")
    for alpha in range(2, 200):
        accountant.rdp(node, alpha, by="ZW19-T8")
    assert accountant.oracle_calls(base) <= 199
    assert accountant.oracle_calls(node) == 198


def test_nested_sampling_asks_every_level_at_most_256_times():
    oracle, base = counted()
    # A sample of a sample alone is one sample; of two queries it is not.
    inner = PoissonSubsample(base, "1/10")
    outer = PoissonSubsample(2 * inner, "1/3")
    accountant = Accountant()
    accountant.rdp(PoissonSubsample(2 * outer, "1/2"), 256)
    for level in (base, inner, outer):
        assert 0 < accountant.oracle_calls(level) <= 256
    assert len(set(oracle.orders)) <= 256
    assert len(oracle.orders) <= 2 * 256  # at most at two precisions


def test_a_million_runs_of_a_thousand_mechanisms_cost_a_thousand_values():
    oracles = [counted() for _ in range(1000)]
    node = Compose({base: 1000 for _, base in oracles})
    node = node + Compose({base: 7 for _, base in oracles[:3]})
    assert len(node.terms) == 1000
    assert node.runs == 1_000_000 + 21
    answer = Accountant().rdp(node, 9)
    assert [len(oracle.orders) for oracle, _ in oracles] == [1] * 1000
    assert fraction(answer.lower) <= Fraction(9 * 1_000_021, 50) <= fraction(answer.upper)
    accountant = Accountant(10)
    accountant.epsilon(node, "1e-6", orders="integer")
    assert all(accountant.oracle_calls(base) <= 60 for _, base in oracles)


def test_a_search_over_orders_asks_few_of_them():
    accountant, base = Accountant(12), Gaussian(5)
    accountant.epsilon(600_000 * PoissonSubsample(base, "1/1000"), "1e-8", orders="integer")
    node = PoissonSubsample(base, "1/1000")
    assert accountant.oracle_calls(node) <= 40
    before = accountant.oracle_calls(node), accountant.oracle_calls(base)
    accountant.epsilon(600_000 * node, "1e-8", orders="integer")
    assert (accountant.oracle_calls(node), accountant.oracle_calls(base)) == before


def test_an_accountant_counts_its_own_calls_only():
    accountant, other = Accountant(), Accountant()
    accountant.rdp(NODE, 9)
    assert accountant.oracle_calls(NODE) == 1
    assert other.oracle_calls(NODE) == 0
    accountant.rdp(NODE, 9, digits=100)
    accountant.rdp(NODE, 9, by="ZW19-T5")
    assert accountant.oracle_calls(NODE) == 1
    accountant.rdp(NODE, 10)
    assert accountant.oracle_calls(NODE) == 2
