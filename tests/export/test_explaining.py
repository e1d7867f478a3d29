"""An explanation names what is behind the number that was asked, and no other theorem."""

import json
from collections import Counter

import pytest
from click.testing import CliRunner

from symacct import (
    ZCDP,
    DomainError,
    Gaussian,
    Laplace,
    PoissonSubsample,
    RepeatAndSelect,
    SubsampleWithoutReplacement,
    laws,
)
from symacct.cli import main

STEP = PoissonSubsample(Gaussian(5), "1/1000")
MECHANISMS = [
    1000 * STEP,
    Gaussian(5),
    3 * Laplace(2) + 10 * PoissonSubsample(Gaussian(2), "1/9"),
    20 * SubsampleWithoutReplacement(Gaussian(2, 2), "1/9"),
    PoissonSubsample(PoissonSubsample(Gaussian(2), "1/2"), "1/2"),
    ZCDP("1/50") + Laplace(3),  # whose profile is not known
    PoissonSubsample(ZCDP("1/50"), "1/9"),
    RepeatAndSelect(Gaussian(5), laws.Poisson(3)),
]


def tree(explanation):
    """The explanation of every node."""
    yield explanation
    for part in explanation.parts:
        yield from tree(part)


@pytest.mark.parametrize("given", [{"delta": "1e-5"}, {"epsilon": "1/2"}])
@pytest.mark.parametrize("m", MECHANISMS, ids=repr)
def test_it_is_about_the_number_to_report(m, given):
    found, explained = m.report(**given), m.explain(**given)
    g = found.guarantee
    said = dict(explained.lines())
    assert f" = {g.asked.rounded()} at " in said["number"]
    assert said["how"] == found.how
    named = {one.theorem for one in tree(explained)} - {""}
    if not g.needs_no_order:
        assert named == set(g.claim.theorems)
    else:
        assert named == set()
        for source in g.claim.sources:  # our folder is named once
            assert source.key in said["sources"]
            assert source.place.removeprefix("docs/proofs/") in said["sources"]
    assert explained.as_dict()["number"] == said["number"]


@pytest.mark.parametrize("m", MECHANISMS, ids=repr)
def test_the_profile_s_tree_has_every_mechanism_with_its_count(m):
    """The same nodes as the tree at an order has, in the same places."""

    def nodes(explained):
        return Counter((one.title, one.count) for one in tree(explained))

    assert nodes(m.explain(delta="1e-5")) == nodes(m.explain(4))


@pytest.mark.parametrize(("alpha", "shown"), [(None, "2"), (8, "8"), ("5/2", "2.5"), ("inf", "∞")])
def test_without_a_delta_it_is_about_the_curve_at_the_order(alpha, shown):
    explained = STEP.explain(alpha)
    why = "" if alpha is not None else ", the first whole one, because nothing was asked"
    assert dict(explained.lines())["number"] == f"ε(α) of the Rényi curve at order {shown}{why}"
    assert explained.theorem in STEP.rdp(2 if alpha is None else alpha).claim.theorems


def test_one_number_is_explained_at_a_time():
    for asked in ({"alpha": 2, "delta": "1e-5"}, {"delta": "1e-5", "epsilon": 1}):
        with pytest.raises(DomainError):
            STEP.explain(**asked)
        words = [f"--{name}={value}" for name, value in asked.items()]
        assert CliRunner().invoke(main, ["explain", repr(STEP), *words]).exit_code == 2


def test_the_command_explains_what_the_command_epsilon_prints():
    def asked(verb, *words):
        words = [verb, repr(1000 * STEP), "--delta", "1e-5", "--json", *words]
        return json.loads(CliRunner().invoke(main, words).output)

    reported, explained = asked("epsilon"), asked("explain")
    assert explained["how"] == reported["how"]
    assert reported["epsilon"]["value"] in explained["number"]
    assert asked("explain", "--digits", "3")["number"] != explained["number"]
