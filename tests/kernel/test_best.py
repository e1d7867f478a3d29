"""The smallest number that is proved in time: the true one, where it is proved and no larger."""

import json
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from click.testing import CliRunner

from symacct import (
    ZCDP,
    Accountant,
    AdjacencyError,
    AssumptionError,
    DiscreteGaussian,
    DistributionPair,
    DomainError,
    Either,
    Failing,
    FiniteMechanism,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    PoissonSubsample,
    PostProcess,
    RandomAllocation,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    SymacctError,
    calibrate,
    limits,
    parse,
    risk,
    shuffled,
)
from symacct.cli import main
from symacct.kernel.accountant import against, asked_of
from symacct.kernel.claims import Relation
from symacct.kernel.deadline import OutOfTimeError, remaining
from symacct.kernel.optimal_order import BestOrder
from symacct.papers.report import PrivacyReport
from symacct.profile.answer import Exact, Profile, profile
from tests.thinning import covering


@pytest.fixture(scope="module")
def both():
    """The guarantee by the exact profile, and the one by Rényi orders, which is larger."""
    report = Gaussian(5).report("1e-5")
    assert report.epsilon.upper < report.by_orders.epsilon.upper
    assert report.guarantee.needs_no_order
    return report.guarantee, report.by_orders


def ending(guarantee, low, high):
    """The guarantee with other ends of its ε."""
    ends = {"lower": mpmath.mpf(low), "upper": mpmath.mpf(high)}
    return replace(guarantee, epsilon=replace(guarantee.epsilon, **ends))


def test_the_true_number_is_reported_where_there_is_no_smaller_one(both):
    exact, by_orders = both
    assert against(exact, by_orders) == ""
    assert against(exact, None) == ""


@pytest.mark.parametrize(
    ("low", "high", "smaller"),
    [("0.5", "0.75", True), ("0.5", "0.9", False), ("0.85", "0.9", False)],
)
def test_the_ends_that_are_reported_are_compared(both, low, high, smaller):
    exact, by_orders = both[0], ending(both[1], "0.6", "0.8")
    assert (against(ending(exact, low, high), by_orders) == "") == smaller


def test_what_prints_the_same_number_is_the_true_one(both):
    """An end beyond the digits asked for may be above the other's, and says nothing."""
    exact, by_orders = ending(both[0], "0.72552198", "0.7255219805"), both[1]
    assert against(exact, ending(by_orders, "0.72552199", "0.72552199")) == ""
    assert against(exact, ending(by_orders, "0.72552199", "0.7255219")) == ""
    assert against(exact, ending(by_orders, "0.725519", "0.725521")) != ""


_HALVES = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]


@covering()
@pytest.mark.parametrize(
    "m",
    [
        FiniteMechanism(_HALVES),
        FiniteMechanism([["1/2", "1/2"], ["1/4", "3/4"], ["3/8", "5/8"]]),
        DistributionPair(["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]),
        RandomizedResponse("3/4"),
    ],
    ids=["three", "line", "pair", "response"],
)
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-9"])
def test_one_run_of_finite_laws_is_reported_as_it_is(m, delta):
    """ε solves Σ (p − e^ε q)⁺ = δ, which fractions and logarithms say: no order is needed.

    At each Rényi order up to 1/δ the bound is the same in the digits that are printed.
    """
    found = m.report(delta)
    assert found.guarantee.kind is Kind.EXACT
    assert found.guarantee.needs_no_order
    laws = [m.P, m.Q] if isinstance(m, DistributionPair) else _laws(m)
    with mpmath.workdps(30):
        true = max(_epsilon(p, q, mpmath.mpf(delta)) for p in laws for q in laws if p != q)
        assert found.epsilon.lower <= true <= found.epsilon.upper


def _laws(m):
    if isinstance(m, RandomizedResponse):
        return [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]
    return m.laws


def _epsilon(p, q, delta):
    """The largest of the roots of Σ over the outcomes of the greatest ratios, each set tried."""
    pairs = sorted(zip(p, q, strict=True), key=lambda one: one[1] / one[0])
    roots = []
    for k in range(1, len(pairs) + 1):
        above, below = (sum(one[side] for one in pairs[:k]) for side in (0, 1))
        left = mpmath.mpf(above.numerator) / above.denominator - delta
        if left > 0:
            roots.append(mpmath.log(left * below.denominator / below.numerator))
    return max(roots)


def test_what_is_one_number_exactly_is_not_larger(both):
    """The ends of one number may differ, by how it was rounded."""
    exact, by_orders = ending(both[0], "0.8", "0.9"), ending(both[1], "0.8", "0.85")
    for known, smaller in ((Fraction(4, 5), True), (Fraction(3, 4), False)):
        one, other = (
            replace(g, epsilon=replace(g.epsilon, exactly=x))
            for g, x in ((exact, known), (by_orders, Fraction(4, 5)))
        )
        assert (against(one, other) == "") == smaller


def test_what_is_not_proved_is_not_reported(both):
    exact, by_orders = both
    for unproved in (
        replace(exact, needs_no_order=False),
        replace(exact, epsilon=replace(exact.epsilon, certified=False)),
        replace(exact, claim=replace(exact.claim, certified=False)),
    ):
        assert "not certified" in against(unproved, by_orders)
        assert "not certified" in against(unproved, None)


def test_the_relation_is_that_of_both(both):
    exact, by_orders = both
    other = by_orders.under("replace_one")
    assert "the exact profile is that under" in against(exact.under("add_remove"), other)


def test_what_orders_do_not_answer_the_profile_does():
    """Half of the outcomes tell all: each ε(α) is infinite, and δ(0) is ½."""
    pair = DistributionPair(["1/2", "1/2", 0], [0, "1/2", "1/2"])
    found = pair.report("1/2")
    assert found.epsilon.upper == 0
    assert found.by_orders is None
    assert found.guarantee.not_exact == ""
    with pytest.raises(SymacctError):
        pair.epsilon("1/4")
    turned = pair.report(epsilon=1)
    assert turned.delta.upper == mpmath.mpf("0.5")
    assert turned.by_orders is None


@pytest.mark.filterwarnings("ignore::symacct.kernel.errors.OrderGridWarning")
@pytest.mark.parametrize("how", [{"conversion": "classic"}, {"orders": [2, 8]}, {"orders": [25]}])
def test_what_is_pinned_is_the_answer(how):
    pinned = {"conversion": "improved", **how}
    found = Gaussian(5).epsilon("1e-5", digits=6, **how)
    assert found.epsilon.upper == Gaussian(5).epsilon("1e-5", digits=6, **pinned).epsilon.upper
    assert found.conversion == pinned["conversion"]
    assert PrivacyReport(found).by_orders is None


class OutOfTime(Accountant):
    """Has no time for what is asked by these conversions to more than two digits."""

    late = ("exact",)

    def _guarantee(self, question, orders, digits, is_default):
        if question.conversion.name in self.late and digits > 2:
            raise OutOfTimeError
        return super()._guarantee(question, orders, digits, is_default)


@pytest.mark.parametrize(
    "node", [Gaussian(5), 2 * SubsampleWithoutReplacement(Gaussian(5), "1/10")], ids=repr
)
def test_few_digits_of_the_exact_profile_are_a_bound_below_that_of_orders(node):
    truth = node.epsilon("1e-5", 8, "exact")
    found = OutOfTime(6).epsilon(node, "1e-5")
    assert found.kind is found.epsilon.claim.kind is Kind.UPPER
    by_orders = node.epsilon("1e-5", 6, "improved")
    assert truth.epsilon.upper <= found.epsilon.upper < by_orders.epsilon.lower
    assert truth.epsilon.upper <= float(found.epsilon.rounded()) < 1.05 * truth.epsilon.upper
    assert "computed within 5 s; 15 seconds may prove a smaller ε" in found.note
    assert ("is true" in found.note) == (truth.kind is Kind.EXACT)
    assert by_orders.note == ""


def test_nothing_is_asked_once_epsilon_is_0(monkeypatch):
    """Of a bound, of which otherwise orders may prove less."""

    def asked(*_):
        raise AssertionError

    m = 20 * SubsampleWithoutReplacement(Gaussian(2), "1/1000")
    monkeypatch.setattr(BestOrder, "answer", asked)
    found = Accountant().epsilon(m, "1/100")
    assert found.conversion == "exact"
    assert found.kind is Kind.UPPER
    assert found.epsilon.upper == 0


#: What is bounded by a pair that dominates, of which no Rényi order proves less.
BELOW_ORDERS = [
    shuffled(RandomizedResponse.of_epsilon(1, k=5), 40),
    shuffled(Laplace(1), 20),
    PostProcess(10 * PoissonSubsample(Gaussian(2), "1/20")),
    GroupPrivacy(DiscreteGaussian(4), 2),
    GroupPrivacy(PoissonSubsample(Gaussian(2), "1/10", adjacency="replace_one"), 2),
    RandomAllocation(RandomizedResponse("3/4"), 10, times=3),
    Failing(PostProcess(Gaussian(3)), "1e-7"),
]


@pytest.mark.parametrize("m", BELOW_ORDERS, ids=repr)
def test_no_order_is_asked_where_none_can_prove_less(m, monkeypatch):
    calls = []
    for ask in ("answer", "over_few_orders"):
        monkeypatch.setattr(BestOrder, ask, lambda *_, ask=ask: calls.append(ask))
    found = Accountant(6).epsilon(m, "1e-5")
    assert calls == []
    assert (found.conversion, found.kind, found.note) == ("exact", Kind.UPPER, "")


@covering()
@pytest.mark.parametrize("m", [m for m in BELOW_ORDERS if "Laplace" not in repr(m)], ids=repr)
@pytest.mark.parametrize("delta", ["1e-2", "1e-5"])
def test_what_says_that_no_order_proves_less_is_right(m, delta):
    exact, by_orders = (m.epsilon(delta, 5, conversion) for conversion in ("exact", "improved"))
    assert exact.optimal
    assert exact.epsilon.lower <= by_orders.epsilon.upper


@pytest.mark.parametrize(
    "m",
    [
        SubsampleWithoutReplacement(Laplace(2), "1/10", "zero_out"),
        Either(SubsampleWithoutReplacement(Laplace(2), "1/10", "zero_out"), Laplace(20), "1/2"),
    ],
    ids=repr,
)
def test_orders_are_asked_where_bounds_at_each_epsilon_may_be_larger(m):
    """Of a record and of two: at some ε the one bound is less, at others the other one."""
    by_orders = m.epsilon("1e-5", 5, "improved")
    (direction,) = profile(m).directions
    assert float(by_orders.epsilon.upper) < float(direction.epsilon(Fraction(1, 10**5), 5).lower())
    for conversion in ("exact", "best"):
        assert m.epsilon("1e-5", 5, conversion).epsilon.upper == by_orders.epsilon.upper


def test_what_is_late_by_all_orders_is_had_by_a_few_of_them(monkeypatch):
    class Later(OutOfTime):
        late = ("exact", "improved", "optimal")

    def no_time(*_):
        raise OutOfTimeError

    monkeypatch.setattr(Exact, "remembered", no_time)
    m = 100 * PoissonSubsample(ZCDP("1/10"), "1/100")  # no profile is known, nor a grid
    found = Later(6).epsilon(m, "1e-5")
    least = m.epsilon("1e-5", 6, "improved")
    assert least.epsilon.upper < found.epsilon.upper < 1.1 * least.epsilon.upper
    assert not found.optimal
    assert "may prove a smaller ε" in found.note


def test_the_true_number_is_asked_for_again_in_what_others_leave(monkeypatch):
    """As it ends early if it needs more than its share, which the others may not need."""
    given, true = [], Profile.guarantee

    def too_much_at_first(*question):
        given.append(remaining())
        if len(given) == 1:
            raise OutOfTimeError
        return true(*question)

    monkeypatch.setattr(Profile, "guarantee", too_much_at_first)
    m = 100 * PoissonSubsample(Gaussian(2), "1/100")
    with limits(seconds=60):  # of which the others take a second or two
        found = Accountant(4).epsilon(m, "1e-5")
    assert given[0] < given[1]
    assert (found.conversion, found.kind, found.note) == ("exact", Kind.EXACT, "")


def test_best_is_certified_or_refused():
    for engine in ("float64", "mpmath"):
        with pytest.raises(DomainError, match="a guarantee has to be certified"):
            Accountant(8, engine).epsilon(Gaussian(5), "1e-5", conversion="best")


@covering()
@pytest.mark.parametrize("given", [{"delta": "1e-5"}, {"epsilon": "1"}], ids=["delta", "epsilon"])
@pytest.mark.parametrize(
    "text",
    [
        "Gaussian(5)",
        "RandomizedResponse(3/4)",
        "ZCDP(1/100)",  # 0.545718 by all that order 29.5 proves, 0.545726 by the usual conversion
        "1000*ZCDP(1/1000)",
        "TCDP(1/10, 4)",
        "100*PoissonSubsample(ZCDP(1/10), 1/100)",
        "100*SubsampleWithoutReplacement(ZCDP(1/10), 1/100)",
    ],
)
def test_the_number_to_report_is_the_least_of_every_conversion(text, given):
    """In the digits that are printed; so do the answer's own methods say, by "best"."""
    m, answers = parse(text), []
    name, value = ("epsilon", given["delta"]) if "delta" in given else ("delta", given["epsilon"])
    found, ask = asked_of(m, digits=6, **given), getattr(Accountant(6), name)
    best = getattr(Accountant(6), name)(m, value, conversion="best")
    assert best == found == getattr(m, name)(value, digits=6, conversion="best")
    for one in ("exact", "classic", "improved", "optimal"):
        with suppress(AssumptionError):  # of a curve alone no profile is known
            answers.append(ask(m, value, conversion=one).asked)
    least = min(answers, key=lambda asked: asked.upper)
    assert best.asked.rounded() == least.rounded()
    assert best.conversion in ("exact", "improved", "optimal")


def test_a_certificate_is_of_the_number_to_report_or_says_why_not():
    ask = ["certificate", "ZCDP(1/100)", "--delta", "1e-5", "--form"]
    run = CliRunner().invoke(main, [*ask, "json"])
    assert json.loads(run.stdout)["proof"]["conversion"] == "optimal"
    run = CliRunner().invoke(main, [*ask, "coq"])
    assert "improved conversion" in run.stdout
    assert "0.545726 by Rényi orders, and not the 0.545718 to report" in run.stderr


def test_more_is_allowed_by_the_best_conversion():
    m = parse("ZCDP(rho)", symbols=["rho"])
    best, usual, optimal = (
        calibrate(m, "1/10", "1e-5", digits=4, conversion=one).meets
        for one in ("best", "improved", "optimal")
    )
    assert best == optimal > usual


def test_what_an_order_proves_costs_no_more_than_the_usual_conversion_did():
    """Counted in orders at which the curve is asked, of which the search shares most."""
    m = parse("100*PoissonSubsample(ZCDP(1/10), 1/100)")
    accountant = Accountant(6)
    accountant.epsilon(m, "1e-5", "improved")
    before = accountant.oracle_calls(m)
    accountant.epsilon(m, "1e-5", "optimal")
    assert accountant.oracle_calls(m) <= 2 * before


def test_a_report_and_the_risks_take_the_relation():
    """The census: what is reported for its neighbours, and no larger number."""
    levels = parse("7 * DiscreteGaussian(sqrt(27)) + 2 * DiscreteGaussian(10)")
    found = levels.report("1e-10", adjacency="replace_one")
    assert str(found.epsilon) == "3.28764"
    assert found.guarantee.claim.adjacency.relation is Relation.REPLACE_ONE
    assert levels.report("1e-10").epsilon.upper == found.epsilon.upper
    risks = risk(Gaussian(5), adjacency="replace_one")
    assert risks.as_dict()["relation"] == "replace_one"
    assert risks.advantage.claim.adjacency.relation is Relation.REPLACE_ONE
    sampled = PoissonSubsample(Gaussian(5), "1/10")
    for ask in (lambda: risk(sampled, adjacency="replace_one"),
                lambda: sampled.report("1e-5", adjacency="replace_one")):  # fmt: skip
        with pytest.raises(AdjacencyError):
            ask()


def test_what_is_nearly_the_same_is_not_called_a_thousandth_more(both):
    """Of 0.00643354 and 0.00643352 the ratio rounded up to four digits would be 1.001."""
    best, by_orders = both
    report = PrivacyReport(ending(best, "0.00643351", "0.00643352"))
    for ends, said in (
        (("0.00643353", "0.00643354"), "0.00643354  (nearly the same)"),
        (("0.00644", "0.00644"), "(1.002 times the number to report)"),
    ):
        vars(report)["by_orders"] = ending(by_orders, *ends)
        assert said in report.details()


def test_what_is_assumed_of_an_absent_respondent_stands_beside_the_number():
    bit = 20 * RandomizedResponse.of_epsilon(1, 4)
    for relation, is_said in (("add_remove", True), ("replace_one", False), (None, False)):
        found = bit.report("1e-5", digits=3, adjacency=relation)
        rows = dict(found.headline())
        assert ("for a person who is not in the data" in rows.get("note", "")) is is_said
        assert ("assumed" in found.as_dict()) is is_said
