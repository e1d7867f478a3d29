"""Mechanisms of the same curve: samples of samples, several Gaussian queries on one sample."""

import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    ZCDP,
    Accountant,
    Compose,
    Convexify,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    Scale,
    SubsampleWithoutReplacement,
    parse,
)
from symacct.kernel.claims import ADD_REMOVE
from symacct.kernel.node import Node
from symacct.kernel.operation import Operation
from symacct.kernel.symbols import alpha as ALPHA
from symacct.mechanisms import ScalarGaussian
from tests.support import decimal_overlaps, overlap
from tests.thinning import covering

rates = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)
leaves = st.sampled_from(
    [Gaussian(2), Laplace(3), PureDP(1), RandomizedResponse("3/5"), ZCDP("1/50"), ScalarGaussian(3)]
)
schemes = st.sampled_from([PoissonSubsample, SubsampleWithoutReplacement])
relations = st.sampled_from(["add_remove", "replace_one"])
ROOT = sympy.sqrt(2) / 2


@given(leaves, schemes, relations, st.lists(rates, min_size=1, max_size=4))
def test_samples_of_samples_are_one_sample(leaf, scheme, relation, gammas):
    usual = {PoissonSubsample: "add_remove", SubsampleWithoutReplacement: "replace_one"}[scheme]
    node = leaf
    for gamma in gammas[:-1]:
        node = scheme(node, gamma, usual)
    node = scheme(node, gammas[-1], relation)
    one = scheme(leaf, Fraction(np.prod([Fraction(1), *gammas])), relation)
    assert node._rewritten is one._rewritten is one
    assert node.claim == one.claim
    assert overlap(node.rdp(3, digits=8), one.rdp(3, digits=8))
    assert parse(repr(node)) is node  # what was written stays


@pytest.mark.parametrize("gammas", [("1/3", "1/2"), ("2/5", "5/6")])
@pytest.mark.parametrize("alpha", [2, 5])
def test_a_sample_of_a_sample_by_every_subset(gammas, alpha):
    """E_q[m^α] for randomized response over which of two samples hold the record, in fractions."""
    p, first, second = Fraction(3, 5), *map(Fraction, gammas)
    masses = []
    for answer, other in ((p, 1 - p), (1 - p, p)):
        held = (a * b for a, b in product((first, 1 - first), (second, 1 - second)))
        laws = (answer, other, other, other)  # by which of the two samples hold the record
        kept = sum(share * law for share, law in zip(held, laws, strict=True))
        masses.append((kept, other))
    moment = sum(m**alpha * q ** (1 - alpha) for m, q in masses)
    node = PoissonSubsample(PoissonSubsample(RandomizedResponse(p), first), second)
    truth = sympy.log(sympy.Rational(moment.numerator, moment.denominator)) / (alpha - 1)
    assert decimal_overlaps(node.rdp(alpha), str(truth.evalf(25)), 20)


def test_other_samples_of_samples_stay():
    for node in (
        PoissonSubsample(Convexify(PoissonSubsample(ZCDP(1), "1/2"), 9), "1/2"),
        SubsampleWithoutReplacement(2 * Gaussian(2), "1/2"),
        PoissonSubsample(Gaussian(2) + Laplace(2), "1/2"),
        PoissonSubsample(Scale(Gaussian(2), "1/2"), "1/2"),
        PoissonSubsample(Compose(), "1/2"),
    ):
        assert node._rewritten is node


def test_a_thousand_samples_of_samples():
    """2.436 by the exact curve; 6.842 where the bound for any mechanism was read twice."""
    nested = 1000 * PoissonSubsample(PoissonSubsample(Gaussian(1), "1/10"), "1/10")
    one = 1000 * PoissonSubsample(Gaussian(1), "1/100")
    found, direct = (m.epsilon("1e-6", conversion="improved") for m in (nested, one))
    assert found.epsilon == direct.epsilon
    assert decimal_overlaps(found.epsilon, "2.436", 4)
    assert found.optimal
    assert found.mechanism is nested
    assert nested.epsilon("1e-6", by="S22-POISSON").epsilon.lower > 2.4365


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_several_queries_on_a_sample_are_one(adjacency):
    """1/9 + 1/16 = (5/12)²; and 1 + 1, whose root is irrational."""
    for queries, one in (
        (Gaussian(3) + Gaussian(4), Gaussian("12/5")),
        (Gaussian(6, 2) + 2 * Gaussian(8, "4/7") + ScalarGaussian(9), None),
        (2 * Gaussian(1), Gaussian(ROOT)),
        (Gaussian(sympy.sqrt(8), 2) + Gaussian(2), Gaussian(2 / sympy.sqrt(3))),
    ):
        node = PoissonSubsample(queries, "1/50", adjacency)
        if one is not None:
            assert node._rewritten is PoissonSubsample(one, "1/50", adjacency)
        for alpha in (1, Fraction(3, 2), 2, 7):
            found = node.rdp(alpha)
            assert found.claim.kind is Kind.EXACT
            assert overlap(found, node._rewritten.rdp(alpha))
        whole = "ZW19-T8" if adjacency == "add_remove" else "TRIPLE-ANY-POISSON"
        bound = node.rdp(3, by=whole)  # of the product of the pairs, as it was written
        assert node.rdp(3).lower <= bound.upper
        assert adjacency == "replace_one" or overlap(node.rdp(3), bound)


@pytest.mark.parametrize("alpha", [1, Fraction(5, 2), 6])
def test_of_a_fixed_size_the_dominating_pair_is_that_of_one_query(alpha):
    """Where triangles count nothing is rewritten: an upper bound alone, that of one query."""

    def bound(mechanism):
        node = SubsampleWithoutReplacement(mechanism, "1/50")
        assert node._rewritten is node
        return node.rdp(alpha, by="TRIPLE-DOMINATED")

    queries = Gaussian(3) + Gaussian(4)
    assert overlap(bound(queries), bound(Gaussian("12/5")))
    found = bound(2 * Gaussian(1))
    assert found.claim.kind is Kind.UPPER
    assert bound(Gaussian("0.7071068")).upper < found.lower
    assert found.upper < bound(Gaussian("0.7071067")).lower
    node = SubsampleWithoutReplacement(queries, "1/50")
    assert node.rdp(alpha).upper <= bound(queries).upper


@covering()
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
@pytest.mark.parametrize("alpha", [1, Fraction(5, 2), 40])
def test_an_irrational_ratio_lies_between_rational_ones(adjacency, alpha):
    low, high = (
        PoissonSubsample(Gaussian(sigma), "1/30", adjacency).rdp(alpha)
        for sigma in ("0.7071068", "0.7071067")
    )
    found = PoissonSubsample(Gaussian(ROOT), "1/30", adjacency).rdp(alpha, digits=40)
    assert low.upper < found.lower <= found.upper < high.lower
    assert found.digits >= 40
    if alpha < 40:
        node = PoissonSubsample(Gaussian(ROOT), "1/30", adjacency)
        assert overlap(found, Accountant(15, "mpmath").rdp(node, alpha))


def remark(latex):
    """What is said in words below a formula, on however many lines."""
    return " ".join(re.findall(r"^&\\quad \\text\{(.*)\}", latex, re.MULTILINE))


def test_every_rewrite_says_what_it_was():
    """Once each, in one sentence wherever it is told; nothing where nothing is rewritten."""
    queries = PoissonSubsample(PoissonSubsample(Gaussian(1) + Gaussian(2), "1/2"), "1/2")
    subset = SubsampleWithoutReplacement(SubsampleWithoutReplacement(Gaussian(3), "1/2"), "1/2")
    for node, said in (
        (3 * queries, ("Gaussian queries on one Poisson sample", "a Poisson sample of a Poisson")),
        (SubsampleWithoutReplacement(subset, "1/2"), ("a uniform subset of a uniform subset",)),
        (subset.mechanism, ()),
    ):
        assert len(node._rewrites) == len(said)
        assert all(why.startswith(start) for why, start in zip(node._rewrites, said, strict=True))
        tellings = str(node.explain()), node.epsilon("1e-5").statement()
        for why in node._rewrites:
            assert all(why in telling for telling in tellings)
        assert remark(node.latex()) == (f"(rewritten: {'; '.join(node._rewrites)})" if said else "")
        assert node.explain().as_dict().get("because", ()) == node._rewrites


def test_open_rates_are_multiplied():
    q, r = sympy.symbols("q r", positive=True)
    nested = PoissonSubsample(PoissonSubsample(Gaussian(2), q), r)
    assert nested._rewritten is PoissonSubsample(Gaussian(2), q * r)
    assert nested.formula(3).free_symbols == {q, r}
    assert ALPHA in nested.formula().free_symbols
    values = {q: "1/2", r: "1/4"}
    assert nested.subs(values).rdp(3).lower == PoissonSubsample(Gaussian(2), "1/8").rdp(3).lower


class Halved(Operation):
    """An operation of one's own that has the curve of a sample of half of the records."""

    def __new__(cls, mechanism):
        return cls._intern(mechanism=mechanism)

    _fixed_adjacency = _read_adjacency = ADD_REMOVE

    def _of_same_curve(self):
        return PoissonSubsample(self.mechanism, "1/2"), "half of the records are drawn"


del Node._kinds["Halved"]  # no text names it


def test_lower_bounds_are_those_of_the_mechanism_of_the_same_curve():
    own, known = Halved(Gaussian(2)), PoissonSubsample(Gaussian(2), "1/2")
    assert str(own.lower_epsilon("1e-5", digits=8)) == str(known.lower_epsilon("1e-5", digits=8))
    assert str(own.lower_delta("1/3", digits=8)) == str(known.lower_delta("1/3", digits=8))
    assert own.lower_epsilon("1e-5").lower > 1
