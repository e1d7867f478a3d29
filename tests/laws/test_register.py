"""Nothing escapes the laws: every kind of node has samples, every theorem a second formula."""

import contextlib

import pytest
from hypothesis import given

from symacct import Compose, SymacctError, theorems
from symacct.kernel.node import Node, kinds
from symacct.kernel.theorem_registry import named
from symacct.mechanisms import Mechanism
from tests import independent, support
from tests.thinning import examples


def test_every_kind_of_node_has_a_sample_generator():
    drawn = {*support.LEAVES, *support.ONE_RELATION, *support.INFINITE, *support.OPERATIONS}
    missing = set(kinds()) - drawn
    assert not missing, f"add a line to tests/support.py for {sorted(missing)}"


def test_every_mechanism_has_an_independent_formula():
    leaves = {name for name, cls in kinds().items() if issubclass(cls, Mechanism)}
    missing = leaves - {*independent.LEAVES, *support.ONE_RELATION, *support.INFINITE}
    assert not missing, f"write the curve of {sorted(missing)} into tests/independent.py"


@pytest.mark.parametrize("base", support.INFINITE)
@pytest.mark.parametrize("operation", support.OPERATIONS)
def test_an_infinite_curve_stays_infinite(operation, base):
    """Nothing finite is said of it, at any order, by any operation."""

    @examples(2, 20)
    @given(
        support.OPERATIONS[operation](support.INFINITE[base]),
        support.whole_orders | support.fractional_orders,
    )
    def law(node, alpha):
        with contextlib.suppress(SymacctError):
            assert node.rdp(alpha).upper == support.INFINITY

    law()


def test_every_theorem_has_an_independent_formula():
    known = set(independent.BOUNDS) | independent.DERIVED | independent.PLAIN
    known |= independent.ELSEWHERE
    missing = {theorem.name for theorem in theorems()} - known
    assert not missing, f"write the formula of {sorted(missing)} into tests/independent.py"


@pytest.mark.parametrize("theorem", theorems(), ids=lambda t: t.name)
def test_every_theorem_states_what_it_is(theorem):
    assert set(theorem.operation) <= set(kinds())
    assert theorem.source.key
    assert theorem.statement
    assert theorem.assumes
    assert named(theorem.name) is theorem


@pytest.mark.parametrize("name", sorted(kinds()))
def test_the_name_of_a_kind_is_that_of_its_class(name):
    cls = kinds()[name]
    assert cls.__name__ == name
    assert issubclass(cls, Node)
    assert cls is Compose or cls._constructor
