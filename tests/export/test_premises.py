"""Premises: what a number takes for granted of the program is said wherever the number is."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import symacct
from symacct import (
    Convexify,
    DistributionPair,
    Either,
    Gaussian,
    GroupPrivacy,
    Laplace,
    MatrixMechanism,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    RepeatAndSelect,
    Scale,
    Shuffled,
    SubsampleWithoutReplacement,
    SymacctError,
    TreeAggregation,
    laws,
    sampled_descent,
    truncated_poisson,
)
from symacct.export.description import describe, own_premises, premises
from symacct.kernel.claims import Relation, adjacency
from symacct.kernel.node import kinds
from symacct.mechanisms.response import OF_OUTSIDE
from tests.support import INFINITE, LEAVES, ONE_RELATION
from tests.thinning import covering, examples

PACKAGE = {name: kind for name, kind in kinds().items() if kind.__module__.startswith("symacct.")}
#: Operations on what is below alone: they ask nothing of the program.
OF_NUMBERS = {"Compose", "Convexify"}
#: Which ask something of some mechanisms: tests/laws/test_number_of_records.py holds what.
OF_SOME = {"GroupPrivacy"}

#: For each node, what its proof or its paper asks of the program that no other place says.
ASKED = {
    "ApproximateDP": ["stated of a mechanism's privacy holds"],
    "BallsInBins": [
        "Euclidean norm at most 1, the unit of σ",
        "once for all epochs",
        "kept secret",
    ],
    "Curve": ["stated of a mechanism's privacy holds"],
    "DiscreteGaussian": ["whole number", "no more than its sensitivity"],
    "DiscreteGaussianSum": [r"all \S+ parties add noise", "Euclidean"],
    "DiscreteLaplace": ["whole number", "no more than its sensitivity"],
    "DistributionPair": ["two neighbouring datasets|with the record"],
    "Either": ["a coin decides that does not see the data"],
    "ExponentialFamily": ["parameter η", "within κ"],
    "ExponentialMechanism": ["each score", "without its score", "not depend on the data"],
    "Failing": ["fails depends neither on the data nor on who takes part"],
    "FiniteMechanism": ["one of the laws listed"],
    "Gaussian": ["no more than its sensitivity", "Euclidean"],
    "GaussianNoisyMax": ["each score", "without its score"],
    "GaussianSparseVector": ["only which queries exceed", "drawn once", "anew", "the run ends"],
    "Laplace": ["one number", "no more than its sensitivity"],
    "MatrixMechanism": ["Euclidean norm at most 1, the unit of σ"],
    "NoisyDescent": ["only the last iterate", "Lipschitz", "each step by at most 1"],
    "NoisyMax": ["each score", "without its score"],
    "NoisyPass": ["only the last iterate", "Lipschitz", "no other step"],
    "PermuteAndFlip": ["each score", "without its score", "not depend on the data"],
    "PoissonSubsample": ["drawn anew and at random", "kept secret"],
    "PostProcess": ["of the output alone"],
    "PureDP": ["stated of a mechanism's privacy holds"],
    "RandomAllocation": ["at random and independently of all other records", "kept secret"],
    "RandomizedResponse": ["one answer"],
    "RepeatAndSelect": ["number of runs is drawn at random", "only the best run is released"],
    "ScalarGaussian": ["one number", "no more than its sensitivity"],
    "Scale": ["stated of a mechanism's privacy holds"],
    "Shuffled": ["independently of all other answers", "neighbours of the randomizer", "shuffler"],
    "Skellam": ["whole number", "no more than its sensitivity"],
    "SparseVector": ["only which queries exceed", "drawn once", "anew", "the run ends"],
    "SubsampleWithoutReplacement": ["drawn anew and at random", "kept secret"],
    "TCDP": ["stated of a mechanism's privacy holds"],
    "TreeAggregation": ["Euclidean norm at most 1, the unit of σ"],
    "VectorLaplace": ["no more than its sensitivity", "ℓ1"],
    "ZCDP": ["stated of a mechanism's privacy holds"],
}
GRID = [2, 3, 4]
pytestmark = pytest.mark.filterwarnings("ignore::symacct.OrderGridWarning")
RUNS = laws.TruncatedNegativeBinomial(1, "1/2")
#: Each operation over a mechanism.
OVER = {
    "Compose": lambda m: 2 * m,
    "Convexify": lambda m: Convexify(m, 8),
    "Either": lambda m: Either(m, PureDP(1), "1/3"),
    "GroupPrivacy": lambda m: GroupPrivacy(m, 2),
    "PoissonSubsample": lambda m: PoissonSubsample(m, "1/3"),
    "PostProcess": PostProcess,
    "RandomAllocation": lambda m: RandomAllocation(m, 3),
    "Shuffled": lambda m: Shuffled(m, 3),
    "RepeatAndSelect": lambda m: RepeatAndSelect(m, RUNS),
    "Scale": lambda m: Scale(m, "1/2"),
    "SubsampleWithoutReplacement": lambda m: SubsampleWithoutReplacement(m, "1/3"),
}
ANY_LEAF = st.one_of(*LEAVES.values(), *ONE_RELATION.values(), *INFINITE.values())


def asked_of(m):
    """What is asked of every node of m, by the table."""
    return [(type(x).__name__, one) for x in m.walk() for one in ASKED.get(type(x).__name__, [])]


def built(leaf, names):
    m = leaf
    for name in names:
        try:
            m = OVER[name](m)
        except SymacctError:  # a relation that does not fit, or a lower bound
            continue
    return m


def test_every_node_says_what_it_asks():
    assert set(ASKED) | OF_NUMBERS | OF_SOME == set(PACKAGE)
    assert {*OVER, *LEAVES, *ONE_RELATION, *INFINITE} == set(PACKAGE)
    for name, kind in PACKAGE.items():
        base = symacct.kernel.node.Mechanism
        own = [one for one in kind.__mro__ if one.__module__ != base.__module__]
        own = [one for one in own if one.__name__ not in ("Operation", "Node")]
        states = any({"premises", "_premises_for"} & vars(one).keys() for one in own)
        assert states != (name in OF_NUMBERS), name


@given(ANY_LEAF, st.lists(st.sampled_from(sorted(OVER)), max_size=3))
@examples(150, 3000)
def test_all_that_is_asked_is_said(leaf, names):
    m = built(leaf, names)
    said = "; ".join(own_premises(m))
    for name, words in asked_of(m):
        assert re.search(words, said), (name, words)
    assert not re.search(r"[{}]", said)
    assert premises(m)[-2:] == premises(Gaussian(1))[-2:]


STATED = [
    *(over(PureDP("1/2")) for over in OVER.values()),
    symacct.SparseVector(2, 4),
    symacct.GaussianSparseVector(10, 20, 1000),
    symacct.NoisyDescent(5, 10, diameter=10),
    symacct.NoisyPass(5, 10, "1/2"),
    MatrixMechanism([[1, "1/2"], ["1/2", 1]], 5),
    TreeAggregation(5, 1000),
    symacct.ExponentialFamily("1/25", "1/2", kappa=10),
    symacct.ExponentialMechanism(1),
    symacct.DiscreteGaussianSum("1/2", 10),
    DistributionPair(["9/10", "1/10"], ["1/2", "1/2"], "add_remove", "P", 30),
    PoissonSubsample(RandomizedResponse("3/4"), "1/10"),
    sampled_descent(PoissonSubsample(Gaussian(5), "1/100"), 10**6, 1),
    truncated_poisson(Gaussian(4), "1/100", 1000, 30),
    PostProcess(PoissonSubsample(Gaussian(5), "1/100"), premise="a {b} of [c] & 50 percent"),
]


@pytest.mark.parametrize("m", STATED, ids=lambda m: f"{m!r:.60}")
def test_a_statement_and_an_explanation_say_each_premise(m):
    found = m.epsilon("1e-5", conversion="improved", orders=GRID)
    assert own_premises(m) or type(m).__name__ in OF_NUMBERS
    for premise in premises(m):
        assert premise in found.statement()
        assert re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", premise) in found.statement("markdown")
    for premise in own_premises(m):
        assert premise in str(m.explain(2))
        assert premise in m.explain(2).as_dict()["premises"]


@given(st.data(), st.sampled_from(sorted(LEAVES)))
@examples(150, 3000)
def test_two_numbers_have_two_descriptions(data, name):
    """What tells two mechanisms of one sort apart is in their words."""
    first, second = (data.draw(LEAVES[name]) for _ in range(2))
    assume(first is not second and name != "Curve")
    for over in (lambda m: m, lambda m: GroupPrivacy(m, 2)):
        assert (describe(over(first)), premises(over(first))) != (
            describe(over(second)),
            premises(over(second)),
        )


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("m", [TreeAggregation(5, 1000), MatrixMechanism([[1, 0], ["1/2", 1]], 3)])
def test_the_unit_of_noise_is_said_with_the_relation(m, relation):
    """A replaced record that keeps its steps moves them by twice what one adds to them."""
    report = m.report("1e-5", adjacency=relation)
    (unit,) = own_premises(m, adjacency(relation))
    assert "the unit of σ" in unit
    assert ("twice the norm" in unit) == (relation == "replace_one")
    assert (unit in " ".join(str(report).split())) == (relation == "replace_one")
    assert unit in report.statement()
    assert ("stays in its steps" in report.statement("short")) == (relation == "replace_one")


def test_a_replaced_record_in_the_unit_of_one_that_is_added():
    added = TreeAggregation(5, 1000)
    replaced = TreeAggregation("5/2", 1000).report("1e-5", adjacency="replace_one")
    assert replaced.epsilon.rounded(6) == "5.75949"
    assert str(GroupPrivacy(added, 2).rdp(3)) == str(TreeAggregation("5/2", 1000).rdp(3))


def test_what_is_said_of_a_relation_is_of_the_one_that_is_read():
    """A sample reads its mechanism for its own relation, whichever the result is about."""
    tree = TreeAggregation(5, 8)
    for relation in ("add_remove", "replace_one"):
        said = own_premises(PoissonSubsample(tree, "1/9", relation))
        assert tree._premises_for(Relation.ADD_REMOVE)[0] in said
        said = own_premises(SubsampleWithoutReplacement(tree, "1/9", relation))
        assert tree._premises_for(Relation.REPLACE_ONE)[0] in said


@covering()
@pytest.mark.parametrize("bit", [RandomizedResponse("3/4"), RandomizedResponse.of_epsilon(1, 4)])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("over", [PoissonSubsample, SubsampleWithoutReplacement])
@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: 3 * m, PostProcess])
def test_a_sampled_response_says_that_nobody_sees_who_answered(bit, relation, over, wrap):
    m = wrap(over(bit, "1/10", relation))
    found = m.epsilon("1e-5", conversion="improved", orders=GRID)
    for form in ("text", "short"):
        assert OF_OUTSIDE in found.statement(form)
    assert OF_OUTSIDE not in own_premises(wrap(over(bit, 1, relation)))
    assert OF_OUTSIDE not in own_premises(wrap(over(PureDP(1), "1/10", relation)))


def test_a_stated_premise_stands_for_how_records_take_part_and_for_nothing_else():
    inner = PoissonSubsample(symacct.SparseVector(2, 4), "1/9") + RandomAllocation(Laplace(1), 3)
    said = own_premises(PostProcess(inner, premise="who takes part is another matter"))
    assert said[-1] == "who takes part is another matter"
    gone = [*PoissonSubsample(Gaussian(1), "1/9").premises, "each record draws"]
    assert not any(one.startswith(words) for one in said for words in gone)
    assert set(own_premises(symacct.SparseVector(2, 4)) + own_premises(Laplace(1))) <= set(said)
