"""The whole matrix of wrong types: every parameter of every public call, some fifty values each."""

import pytest

from tests import wrong_types


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", sorted(wrong_types.all_calls()))
def test_a_value_of_any_type_is_answered_or_refused(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not list(wrong_types.faults(call))
