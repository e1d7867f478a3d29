"""The picture of an expression."""

import re
import shutil

import pytest

from symacct import (
    Gaussian,
    Laplace,
    MissingPackageError,
    PoissonSubsample,
    PostProcess,
)

STEP = PoissonSubsample(Gaussian(5), "1/1000")
M = 5 * STEP + 10 * Laplace(3) + PostProcess(STEP)


def test_the_tree_names_a_shared_part_once():
    assert str(M.graph()).splitlines() == [
        "Compose",
        "├── 10 × Laplace, b=3",
        "├── 5 × PoissonSubsample, gamma=1/1000",
        "│   └── Gaussian, sigma=5",
        "└── PostProcess",
        "    └── PoissonSubsample, gamma=1/1000 (as above)",
    ]


@pytest.mark.parametrize("form", ["dot", "mermaid"])
def test_every_node_once_and_every_edge(form):
    text = getattr(M.graph(), form)
    assert text.count("Gaussian, sigma=5") == 1
    assert text.count("10 ×") == 1
    nodes = set(re.findall(r"^  (n\d+)\b(?! --?>)", text, re.MULTILINE))
    assert len(nodes) == len(list(M.walk())) == 5
    assert len(re.findall(r"--?>", text)) == 5


def test_a_deep_shared_expression_stays_small():
    node = Laplace(2)
    for rate in range(2, 28):
        node = node + PoissonSubsample(node, f"1/{rate}")
    assert len(str(node.graph()).splitlines()) < 1000  # edges; paths are 2**26
    assert len(node.graph().mermaid.splitlines()) < 1000  # edges; paths are 2**26


def test_svg_needs_graphviz(monkeypatch):
    if shutil.which("dot"):
        assert "Gaussian, sigma=5" in M.graph().svg()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"use \.mermaid or \.dot"):
        M.graph().svg()
    assert set(M.graph()._repr_mimebundle_()) == {"text/plain", "text/html"}
