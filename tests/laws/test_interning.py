"""Equal expressions are one object; dead ones are forgotten."""

import gc
import math
import weakref
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symacct
from symacct import (
    Accountant,
    Compose,
    DomainError,
    Gaussian,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    Scale,
    parse,
)
from tests.support import leaves

FIVES = [
    5, 5.0, "5", "5.0", "10/2", "0.5e1", " 5 ", Fraction(5), Decimal("5.0"), Decimal(5),
    np.int64(5), np.uint8(5), np.float32(5), np.float64(5), mpmath.mpf(5), sympy.Integer(5),
    sympy.Rational(10, 2), sympy.Float(5), sympy.sqrt(25),
]  # fmt: skip


@pytest.mark.parametrize("five", FIVES, ids=lambda x: f"{type(x).__name__} {x}")
def test_five_is_five_in_every_spelling(five):
    assert Gaussian(five) is Gaussian(5)
    assert Laplace(1, five) is Laplace(1, sensitivity=5)
    assert PureDP(five) is PureDP(epsilon=5)
    assert five * Gaussian(2) is 5 * Gaussian(2) or isinstance(five, str | np.generic)
    assert Compose({Gaussian(2): five}) is 5 * Gaussian(2)
    assert Scale(Gaussian(2), five) is 5 * Gaussian(2)
    answer, again = Accountant().rdp(Gaussian(2), five), Accountant().rdp(Gaussian(2), 5)
    assert (answer.lower, answer.upper) == (again.lower, again.upper)


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_the_shortest_decimal_is_read_back_as_the_float_and_printed_as_it(x):
    node = Gaussian(x)
    assert float(node.sigma) == x
    assert node is Gaussian(repr(x))
    assert node is parse(repr(node))


def test_the_bits_of_a_float_are_asked_for():
    tenth = Fraction(0.1)
    assert symacct.binary(0.1) == tenth != Fraction(1, 10)
    assert symacct.binary(np.float32(0.1)) == Fraction(float(np.float32(0.1)))
    assert RandomizedResponse(symacct.binary(0.1)) is RandomizedResponse(mpmath.mpf(0.1))
    for no_float in (1, "0.1", None, Fraction(1, 2), float("nan"), float("inf")):
        with pytest.raises(DomainError, match="binary: found"):
            symacct.binary(no_float)


def test_what_is_asked_of_a_node_is_read_in_the_same_way():
    node = PoissonSubsample(Gaussian(2.1), 0.01)
    assert node.epsilon(1e-5).delta == Fraction(1, 10**5)
    assert node.delta(0.7).epsilon == Fraction(7, 10)
    for ask in (node.rdp, node.lower_bound):
        assert ask(1.1) == ask("1.1")
        assert ask(1.1) != ask(symacct.binary(1.1))
    assert node.subs({}) is node
    sigma = sympy.Symbol("sigma", positive=True)
    assert Gaussian(0.1 * sigma) is Gaussian(sigma / 10)
    assert Gaussian(sigma).subs({"sigma": 1.1}) is Gaussian("11/10")


def test_what_a_machine_computed_keeps_its_bits():
    """A comparison of an answer with a float, orders in an array, the float that an answer is."""
    answer = Gaussian(5).epsilon("1e-5").epsilon
    assert answer <= float(answer)
    assert not answer <= math.nextafter(float(answer), 0)
    orders = np.array([1.1, 2.3])
    found = Gaussian(5).rdp(orders, engine="float64")
    assert found[0] == pytest.approx(1.1 / 50, rel=1e-12)


def test_an_mpf_keeps_digits_beyond_the_global_precision():
    with mpmath.workdps(60):
        third = mpmath.mpf(1) / 3
    with mpmath.workdps(5):
        node = RandomizedResponse(third)
    assert abs(node.p - Fraction(1, 3)) < Fraction(1, 10**59)


def test_different_parameters_are_different_nodes():
    symbols = sympy.Symbol("s"), sympy.Symbol("s", positive=True)
    scales = (5, "5.000000000000000000000000001", *symbols)
    nodes = [Laplace(5), Gaussian(1, 5), *map(Gaussian, scales), *(n * Gaussian(5) for n in (2, 3))]
    nodes += [PureDP(5, relation) for relation in ("either", "add_remove", "replace_one")]
    assert len(set(nodes)) == len(nodes)


@given(leaves, st.integers(2, 12))
def test_n_times_m_is_the_n_fold_sum(m, n):
    total = m
    for _ in range(n - 1):
        total = total + m
    assert n * m is total
    assert m * n is total
    assert Compose(*[m] * n) is total
    assert Compose([m] * n) is total
    assert Compose({m: n}) is total


@given(st.permutations([Gaussian(5), Laplace(2), PureDP(1), Gaussian(5)]))
def test_a_sum_does_not_depend_on_its_order(parts):
    assert Compose(*parts) is 2 * Gaussian(5) + Laplace(2) + PureDP(1)


def test_nested_sums_are_flat_and_counted():
    inner = 2 * Gaussian(5) + Laplace(2)
    assert 3 * inner + Gaussian(5) is 7 * Gaussian(5) + 3 * Laplace(2)
    assert 1 * Gaussian(5) is Gaussian(5)
    assert 0 * Gaussian(5) is Compose()
    assert Gaussian(5) + 0 * Laplace(2) is Gaussian(5)
    assert (3 * inner).runs == 9


def test_dead_nodes_are_collected():
    node = PoissonSubsample(Gaussian("17/1234567") + Laplace(3), "1/7654321")
    witnesses = [weakref.ref(one) for one in node.walk() if one is not Laplace(3)]
    del node
    gc.collect()
    assert [witness() for witness in witnesses if witness() is not None] == []


def test_an_accountant_does_not_keep_nodes_alive():
    accountant = Accountant()
    node = PoissonSubsample(Gaussian("1234567/17"), "1/7")
    accountant.rdp(node, 5)
    accountant.epsilon(node, "1e-5")
    witness = weakref.ref(node)
    del node
    gc.collect()
    assert witness() is None
    assert len(accountant._memo) == 0


def test_a_node_cannot_be_changed():
    node = Gaussian(5)
    with pytest.raises(AttributeError, match=r"immutable.*subs"):
        node.sigma = 6
    with pytest.raises(AttributeError, match="immutable"):
        del node.sigma
    terms = (2 * node + Laplace(1)).terms
    with pytest.raises(TypeError):
        terms[node] = 5
    counts = {node: 2}
    total = Compose(counts, Laplace(1))
    counts[node] = 9
    assert total is 2 * node + Laplace(1)
    node.fields()["sigma"] = 7
    assert node.fields()["sigma"] == 5


def test_symbols_are_replaced_everywhere_at_once():
    s, q = sympy.Symbol("s", positive=True), sympy.Symbol("q", positive=True)
    node = 3 * PoissonSubsample(Gaussian(s), q) + Laplace(s / 2, q)
    assert node.free_symbols == {s, q}
    assert node.subs({s: 4, q: "1/10"}) is (
        3 * PoissonSubsample(Gaussian(4), "1/10") + Laplace(2, "1/10")
    )
    assert (Gaussian(s) + Laplace(q)).subs({s: q, q: s}) is Gaussian(q) + Laplace(s)
    assert (Gaussian(s) + Gaussian(q)).subs({s: 2, q: 2}) is 2 * Gaussian(2)


def test_walk_meets_every_node_once_children_first():
    inner = Gaussian(5)
    node = PoissonSubsample(inner + Laplace(2), "1/2") + inner
    found = list(node.walk())
    assert len(found) == len(set(found)) == 5
    place = {one: i for i, one in enumerate(found)}
    assert all(place[child] < place[one] for one in found for child in one.children)
    assert found[-1] is node
