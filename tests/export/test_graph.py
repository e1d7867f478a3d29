"""The picture of an expression."""

import re
import shutil

import pytest
from click.testing import CliRunner

from symacct import (
    Compose,
    Gaussian,
    Laplace,
    MissingPackageError,
    PoissonSubsample,
    PostProcess,
    parse,
)
from symacct.cli import main

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


def test_nothing_and_one():
    assert str(Compose().graph()) == "Compose"
    assert str(Gaussian(2).graph()) == "Gaussian, sigma=2"


def test_the_command():
    for form in ("tree", "mermaid", "dot"):
        shown = CliRunner().invoke(main, ["graph", repr(M), "--form", form])
        assert shown.exit_code == 0
        graph = parse(repr(M)).graph()
        assert shown.output.rstrip("\n") == (str(graph) if form == "tree" else getattr(graph, form))
    assert CliRunner().invoke(main, ["graph", "Gausian(5)"]).exit_code == 2
