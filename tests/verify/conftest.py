"""What tests of the command share."""

import pytest

from symacct.cli import verifying
from symacct.verify.asking.questions import Extent


@pytest.fixture
def short(monkeypatch):
    """`--quick` asks fewer questions: what is tested is what the command makes of the answers."""
    extent = Extent(2, 1, 4, 2, 0, 0, 4, 90.0, per_kind=2, covered=2)
    monkeypatch.setattr(verifying, "QUICK", extent)
