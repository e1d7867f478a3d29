"""What leaves, operations and theorems are called: one template each, for text and for LaTeX."""

import re

import pytest
import sympy

from symacct import Gaussian, PoissonSubsample, PostProcess, theorems
from symacct.export.description import describe, describe_tex
from symacct.export.latex.sentences import mathematics
from symacct.kernel.node import Marked, kinds, pieces
from tests.symbolic import LEAVES, OPERATIONS

OURS = {name: kind for name, kind in kinds().items() if kind.__module__.startswith("symacct.")}
NODES = [node for node, _ in LEAVES.values()]
NODES += [make(LEAVES["Gaussian"][0]) for make in OPERATIONS.values()]


@pytest.mark.parametrize("name", sorted(OURS.keys() - {"Compose"}))
def test_each_is_called_something_by_its_own_class(name):
    assert "words" in vars(OURS[name])


@pytest.mark.parametrize("node", NODES, ids=lambda node: type(node).__name__)
def test_all_of_a_template_is_filled_and_its_mathematics_is_known(node):
    for part, is_maths in pieces(node.words):
        if is_maths:
            assert mathematics(re.sub(r"\{\w+\}", "1", part)) is not None
    said = describe_tex(node)
    assert said.count("$") % 2 == 0
    assert not re.search("[Α-Ωα-ω\ue000\ue001]", said)
    assert "$" not in describe(node)


@pytest.mark.parametrize("one", theorems(), ids=lambda one: one.name)
def test_the_mathematics_of_an_assumption_is_known(one):
    parts = pieces(Marked(one.assumes).template)
    assert None not in [mathematics(part) for part, is_maths in parts if is_maths]
    assert not [part for part, is_maths in parts if not is_maths and re.search("[α-ω<>=]", part)]


def test_an_author_s_leaf_is_called_what_its_class_says():
    class Rounded(Gaussian):
        words = "rounded noise ($σ = {sigma}$)"

    class Plain(Gaussian):
        pass

    assert describe(Rounded(3)) == "rounded noise (σ = 3)"
    assert describe_tex(Rounded(3)) == r"rounded noise ($\sigma = 3$)"
    open_one = Rounded(sympy.Symbol("sigma", positive=True))
    assert describe_tex(open_one) == r"rounded noise ($\sigma$)"
    assert describe(Plain(3)).startswith("the mechanism Plain (")


def test_each_of_several_runs_has_a_sample_and_says_so_once():
    step = PoissonSubsample(Gaussian(2), "1/10")
    assert describe(3 * PostProcess(step)).count(", each on a fresh") == 1
    assert describe(3 * PostProcess(2 * step)).count(", each") == 1
    both = describe(2 * PoissonSubsample(Gaussian(2) + Gaussian(3), "1/10"))
    assert ", each on a fresh" in both
    assert ", all" not in both
