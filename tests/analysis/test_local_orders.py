"""Searches over real orders by one polynomial for all of them, against each order by itself."""

import random
from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import Accountant, Compose, Gaussian, PoissonSubsample, PureDP
from symacct.analysis.sampled_gaussian import sampled_gaussian_local
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.evaluation import OperationCurve
from symacct.theory.amplification import pairs
from tests.thinning import examples


def step(sigma, rate="1/1000"):
    return PoissonSubsample(Gaussian(sigma), rate)


def drawn(count, seed):
    """Compositions of sampled Gaussians, rates and noise log-uniform, and a δ."""
    rng = random.Random(seed)
    for _ in range(count):
        rate = Fraction(round(10 ** rng.uniform(2, 5.5)), 10**6)
        parts = {
            step(Fraction(round(10 ** rng.uniform(2.8, 4)), 1000), rate): rng.choice(
                [1, 1, 3, 1000]
            )
            for _ in range(rng.choice([1, 2, 7]))
        }
        yield Compose(parts), Fraction(1, 10 ** rng.randint(2, 12))


@pytest.fixture
def made(monkeypatch):
    """The (order, rate, σ) of which a polynomial was made."""
    asked = []

    def counted(*where):
        asked.append(where)
        return sampled_gaussian_local(*where)

    monkeypatch.setattr(pairs, "sampled_gaussian_local", counted)
    return asked


def test_the_answer_is_that_of_each_order_by_itself(monkeypatch, made):
    cases = list(drawn(14, seed=18))
    found = [Accountant(20).epsilon(m, delta, "improved") for m, delta in cases]
    assert len(made) > 14
    monkeypatch.setattr(OperationCurve, "local", lambda self, middle: None)
    for (m, delta), one in zip(cases, found, strict=True):
        other = Accountant(20).epsilon(m, delta, "improved")
        assert one.epsilon.lower <= other.epsilon.upper
        assert other.epsilon.lower <= one.epsilon.upper
        assert str(one.epsilon) == str(other.epsilon)
        assert one.optimal or not other.optimal
        assert abs(one.alpha - other.alpha) < Fraction(1, 10**6) * other.alpha


@given(st.integers(0, 10**12), st.fractions(Fraction(8, 5), 60, max_denominator=10**6))
@examples(8, 1000)
def test_a_ball_between_whole_orders_meets_that_of_the_curve(seed, alpha):
    for m, _ in drawn(1, seed):
        with precision(120):
            curve, plain = Accountant().curve(m), Accountant().curve(m)
            if alpha.denominator > 1 and curve.local(round(alpha)) is not None:
                assert curve.local_value(alpha).overlaps(plain(alpha))
                assert curve.local_value(alpha).rel_accuracy_bits() > 60


def test_what_a_search_asks_changes_no_answer():
    """Values of a curve are its own formula's, whatever was searched before."""
    m = Compose({step(4): 1000, step("9/2"): 1000})
    asked, fresh = Accountant(), Accountant()
    alpha = asked.epsilon(m, "1e-6", "improved").alpha
    one, other = asked.rdp(m, alpha), fresh.rdp(m, alpha)
    assert (one.lower, one.upper) == (other.lower, other.upper)


def test_a_second_delta_and_a_further_part_ask_only_what_is_new(made):
    accountant, parts = Accountant(), [step(Fraction(i, 10)) for i in range(40, 60)]
    m = Compose(dict.fromkeys(parts, 5000))
    first = accountant.epsilon(m, "1e-6", "improved")
    assert len(made) == len(parts)
    second = accountant.epsilon(m, "1.1e-6", "improved")
    assert round(first.alpha) == round(second.alpha)
    assert len(made) == len(parts)
    more = accountant.epsilon(m + step(7), "1e-6", "improved")
    assert round(more.alpha) == round(first.alpha)
    assert len(made) == len(parts) + 1


def test_of_many_parts_a_few_are_asked_where_the_best_order_is():
    accountant, parts = Accountant(), [step(Fraction(i, 100)) for i in range(400, 550)]
    m = Compose(dict.fromkeys(parts, 700))
    found = accountant.epsilon(m, "1e-6", "improved")
    assert found.optimal
    calls = sorted(accountant.oracle_calls(part) for part in parts)
    assert calls[len(calls) * 3 // 4] <= 6  # three about the best, 2, ∞ and one to spare
    assert calls[-1] > calls[0]
    grid = range(floor(found.alpha) - 3, ceil(found.alpha) + 4)
    whole = accountant.epsilon(m, "1e-6", orders="integer")
    assert whole.alpha == accountant.epsilon(m, "1e-6", orders=grid).alpha


@pytest.mark.parametrize("other", [PureDP("1/100"), Gaussian(90)])
def test_beside_parts_without_a_polynomial_each_order_is_asked(other):
    m = Compose({step(5): 10000, other: 3})
    with precision(120):
        assert Accountant().curve(m).local(20) is None
    assert Accountant(15).epsilon(m, "1e-6").optimal
