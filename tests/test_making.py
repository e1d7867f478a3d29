"""What make rests on: the profiles, what a soak keeps, the mutants, the lowest versions."""

import ast
from collections import Counter, defaultdict
from types import SimpleNamespace

import pytest

from tests.lowest import lowest
from tests.soak import conftest as soaking
from tests.soak.mutants import mutants
from tests.soak.package_mutants import line_before


@pytest.mark.parametrize(("vacuous", "status"), [(3, 0), (7, 1), (12, 1)])
def test_a_law_of_which_most_cases_said_nothing_fails_over_all_its_blocks(
    vacuous, status, monkeypatch
):
    monkeypatch.setattr(soaking, "BECAME", defaultdict(Counter))
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    for block, held in enumerate((0, 7)):  # none of the first block: the whole counts
        properties = [("held", held), ("vacuous", vacuous * block)]
        soaking.pytest_runtest_logreport(
            SimpleNamespace(when="call", nodeid=f"t::a[{block}]", user_properties=properties)
        )
    session = SimpleNamespace(exitstatus=0)
    soaking.pytest_sessionfinish(session, 0)
    assert session.exitstatus == status


def test_every_sort_of_fault_is_put_in():
    source = (
        "def f(a, b):\n    # é\n    return [-a] if a < b and not b else max(a + 1, a * b, True)\n"
    )
    texts = [text for _, text in mutants(source)]
    assert len(texts) == len(set(texts)) == 11
    same = {ast.unparse(ast.parse(text)) for text in texts}
    for part in ("[a] if", ">= b", "or not b", "and b else", "min(", "a - 1", "a / b", "False"):
        assert any(part in text for text in same), part
    assert all("# é" in text for text in texts)  # what reads the source finds the rest as it was
    assert all(description.startswith("3: ") for description, _ in mutants(source))


def test_a_line_is_found_where_it_was_or_after_what_stood_before_it():
    before, now = "a\nb\nc\nd\n", "x\na\nc\ny\nz\nd\n"
    assert [line_before(before, now, line) for line in range(1, 7)] == [1, 1, 3, 3, 3, 4]
    with pytest.raises(ValueError, match="found line 7"):
        line_before(before, now, 7)


def test_the_lowest_versions_are_those_allowed():
    found = lowest()
    assert all(line.count("==") == 1 for line in found)
    assert {"sympy", "numpy", "click", "pytest"} <= {line.split("==")[0] for line in found}
