"""Which of two proved numbers is reported: the true one, where it is proved and is no larger."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest

from symacct import DistributionPair, Gaussian, SymacctError
from symacct.accountant.reported import against, reported


@pytest.fixture(scope="module")
def both():
    """The guarantee by the exact profile, and the one by Rényi orders, which is larger."""
    found = reported(Gaussian(5), "1e-5")
    assert found.best.epsilon.upper < found.by_orders.epsilon.upper
    assert found.best.needs_no_order
    return found.best, found.by_orders


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
    found = reported(pair, "1/2")
    assert found.best.epsilon.upper == 0
    assert found.by_orders is None
    assert found.not_exact == ""
    with pytest.raises(SymacctError):
        reported(pair, "1/4")
    turned = reported(pair, epsilon=1)
    assert turned.best.delta.upper == mpmath.mpf("0.5")
    assert turned.by_orders is None


@pytest.mark.filterwarnings("ignore::symacct.core.errors.OrderGridWarning")
@pytest.mark.parametrize("how", [{"conversion": "classic"}, {"orders": [2, 8]}, {"orders": [25]}])
def test_what_is_pinned_is_the_answer(how):
    found = reported(Gaussian(5), "1e-5", **how)
    assert found.best.epsilon.upper == Gaussian(5).epsilon("1e-5", digits=6, **how).epsilon.upper
    assert found.by_orders is None
