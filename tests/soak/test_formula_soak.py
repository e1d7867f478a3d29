"""Every theorem's formula, and its LaTeX, on every mechanism at every sort of order."""

import pytest

from symacct import theorems
from tests.export.test_formula import OTHER_ORDERS, agree_on
from tests.export.test_latex import assert_is_what_was_evaluated
from tests.symbolic import pairs_of

NAMES = [theorem.name for theorem in theorems()]


@pytest.mark.parametrize("name", NAMES)
def test_the_formula_of_a_theorem_on_every_mechanism(name):
    compared = [
        agree_on(operation, kind, name, [3, *OTHER_ORDERS]) for operation, kind in pairs_of(name)
    ]
    assert any(compared)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_is_what_was_evaluated(name):
    for operation, kind in pairs_of(name):
        if "of laws" not in kind:
            assert_is_what_was_evaluated(name, operation, kind)
