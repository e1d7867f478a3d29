"""What is remembered has an end, is never wrong, and goes neither into copies nor into pickles."""

import copy
import dataclasses
import pickle
import random
from collections import Counter
from fractions import Fraction

import pytest
from sympy import Symbol

from symacct import (
    Accountant,
    Compose,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    calibrate,
    limits,
)
from symacct.interop import EventAccountant
from symacct.kernel import limits as sizes
from symacct.kernel import theorem_registry
from symacct.kernel.accountant import default_accountant
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.evaluation import Evaluation, LeafCurve, OperationCurve
from symacct.kernel.exact import order
from symacct.kernel.memory import Remembered
from symacct.kernel.optimal_order import is_steered
from symacct.theory.amplification import pairs

STEP = PoissonSubsample(Gaussian(3), "1/50")
M = 100 * STEP + Laplace(4)


def entries(accountant, guarantees):
    """The most that any table of an accountant holds."""
    return max(
        len(list(table.all()))
        for tables in accountant._memo.values()
        for key, table in tables.items()
        if (key[0] == "guarantees") is guarantees
    )


@pytest.mark.parametrize("ask", ["epsilon", "delta"])
def test_ever_new_questions_leave_no_more_than_the_limit(ask):
    with limits(values=50, answers=6):
        accountant = Accountant(digits=8)
        for number in range(1, 25):
            found = getattr(accountant, ask)(M, f"{number}/1000", "improved")
            assert entries(accountant, True) <= 6
            assert entries(accountant, False) <= 50
            alone = getattr(Accountant(digits=8), ask)(M, f"{number}/1000", "improved")
            assert found == alone


def test_ever_new_orders_leave_no_more_than_the_limit():
    accountant = Accountant()
    with limits(values=20):
        for number in range(2, 90):
            accountant.rdp(M, order(f"{number}/7") if number > 7 else number)
            assert entries(accountant, False) <= 20
        assert accountant.oracle_calls(M) <= 20


def test_more_is_remembered_where_the_caller_says_so():
    for limit in (4, 40):
        accountant, m = Accountant(), Gaussian(5)
        with limits(values=limit):
            for alpha in range(2, 32):
                accountant.rdp(m, alpha)
            assert min(limit, 30) // 2 <= accountant.oracle_calls(m) <= min(limit, 30)


def test_what_is_asked_again_and_again_stays(monkeypatch):
    accountant, m, asked = Accountant(), Gaussian(5), []
    compute = LeafCurve.compute
    monkeypatch.setattr(LeafCurve, "compute", lambda *a: asked.append(a[1]) or compute(*a))
    with limits(values=10):
        for number in range(2, 200):
            accountant.rdp(m, 7)
            accountant.rdp(m, 1000 + number)
        accountant.rdp(m, 1002)
    assert asked.count(7) == 1
    assert asked.count(1002) == 2


def counted_computations(monkeypatch):
    """How often each curve is computed at each order, in the questions that are then asked."""
    computed = Counter()

    def counting(compute):
        def counted(curve, alpha):
            evaluation = curve.evaluation
            computed[curve.node, alpha, evaluation.key] += 1
            return compute(curve, alpha)

        return counted

    for kind in (LeafCurve, OperationCurve):
        monkeypatch.setattr(kind, "compute", counting(kind.compute))
    return computed


SAMPLED = PoissonSubsample(Gaussian(Symbol("sigma", positive=True)), "1/100")


@pytest.mark.parametrize(
    ("m", "epsilon"),
    [
        (10_000 * SAMPLED, 1),
        (1000 * SAMPLED + 500 * PoissonSubsample(Laplace(20), "1/100") + Gaussian(10), 2),
        (GroupPrivacy(1000 * SAMPLED, 4), 3),
    ],
    ids=["one mechanism", "three mechanisms", "groups"],
)
def test_a_calibration_computes_no_value_twice(monkeypatch, m, epsilon):
    """And a second one, asked while the first is there, computes fewer."""
    default_accountant().clear()
    computed = counted_computations(monkeypatch)
    first = calibrate(m, epsilon, "1e-5", digits=5, conversion="improved")
    assert max(computed.values()) == 1
    cold = computed.total()
    second = calibrate(m, epsilon, "1e-5", digits=5, conversion="improved")
    assert second == first
    assert computed.total() - cold < cold


@pytest.mark.parametrize("memory", [None, Accountant()._table])
def test_orders_about_one_whole_order_are_read_from_one_polynomial(monkeypatch, memory):
    """Also in an evaluation that remembers for itself alone."""
    expanded = []
    expand = pairs.sampled_gaussian_local
    monkeypatch.setattr(
        pairs, "sampled_gaussian_local", lambda *a: expanded.append(a[0]) or expand(*a)
    )
    with precision(100):
        curve = Evaluation(BALL, memo=memory).curve(10 * STEP)
        values = [curve.local_value(9 + Fraction(i, 12)) for i in range(-5, 6)]
        assert expanded == [9]
        alone = [Evaluation(BALL).curve(10 * STEP)(9 + Fraction(i, 12)) for i in range(-5, 6)]
    assert all(a.overlaps(b) for a, b in zip(values, alone, strict=True))


def test_what_steers_a_part_is_looked_for_once(monkeypatch):
    """However many compositions it is part of, as an epoch after each of which ε is asked."""
    asked = []
    holds = theorem_registry.holds_for_relation
    total = Compose()
    for epoch in range(6):
        total += 2 * SubsampleWithoutReplacement(Gaussian(Fraction(101 + epoch, 7)), "1/97")
        with monkeypatch.context() as patch:
            patch.setattr(
                theorem_registry,
                "holds_for_relation",
                lambda *pair: asked.append(pair) or holds(*pair),
            )
            assert is_steered(total, None)
    asked_about = [(theorem.name, node) for theorem, node in asked]
    assert asked_about
    assert len(asked_about) == len(set(asked_about))


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_the_most_recently_read_half_is_never_forgotten(limit):
    """Against a list in order of use: what was used among the last `limit // 2` is there."""
    table, used, chance = Remembered(), [], random.Random(limit)
    for _ in range(2000):
        key = chance.randrange(3 * limit)
        if table[key] is None:
            assert key not in used[-(limit // 2) :] if limit > 1 else True
            table[key] = -key
        assert table[key] == -key
        used = [other for other in used if other != key] + [key]
        table.forget(limit)
        assert len(list(table.all())) <= limit


def test_a_table_within_one_question_forgets_nothing():
    with limits(values=3):
        accountant = Accountant()
        assert accountant.rdp(STEP, 40, by="ZW19-T8") == Accountant().rdp(STEP, 40, by="ZW19-T8")
        assert entries(accountant, False) <= 3


COPIES = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]  # noqa: S301  # our own


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("engine", ["ball", "mpmath", "float64"])
def test_a_copy_of_an_accountant_has_its_settings_and_an_empty_memory(engine, copied):
    accountant = Accountant(17, engine)
    expected = accountant.rdp(STEP, 6)
    other = copied(accountant)
    assert type(other) is Accountant
    assert (other.digits, other.engine) == (17, engine)
    assert other.oracle_calls(STEP) == 0
    assert other.rdp(STEP, 6) == expected
    assert other.oracle_calls(STEP) == 1
    accountant.clear()
    assert other._memo is not accountant._memo
    assert other._lock is not accountant._lock


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_of_an_event_accountant_goes_on_by_itself(copied):
    accountant = EventAccountant([2, 4, 8, 16], "replace_one", "classic").compose(Laplace(9), 5)
    other = copied(accountant)
    assert other.node is accountant.node
    assert other.neighboring_relation == accountant.neighboring_relation
    assert other.get_epsilon("1e-5") == accountant.get_epsilon("1e-5")
    other.compose(Laplace(9), 5)
    assert accountant.node is Compose({Laplace(9): 5})
    assert other.node is Compose({Laplace(9): 10})


def test_a_kind_of_accountant_of_one_s_own_is_copied_as_one():
    class Mine(Accountant):
        pass

    assert type(copy.copy(Mine(9))) is Mine


@pytest.mark.parametrize("wrong", [{"bogus": 3}, {"report": 0}, {"report": 1.5}, {"depth": 65}])
def test_a_wrong_limit_is_refused_without_a_block(wrong):
    with pytest.raises(DomainError, match=f"limit '?{next(iter(wrong))}'?"):
        limits(**wrong)


def test_the_limits_have_names():
    told = sizes.limits.__doc__.replace(",", " ").replace(":", " ").split()
    assert {field.name for field in dataclasses.fields(sizes.Limits)} <= {*told}
    assert sizes.Limits().values > 10**5
    assert sizes.Limits().answers > 10**3
