"""What families state of their laws: the worst pair, its means, and what a subclass inherits."""

from fractions import Fraction

import pytest
import sympy

from symacct import (
    TCDP,
    ZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributionPair,
    FiniteMechanism,
    Gaussian,
    Laplace,
    NoisyMax,
    PureDP,
    RandomizedResponse,
    ScalarGaussian,
    Skellam,
    VectorLaplace,
    laws,
)
from symacct.kernel.arithmetic import MpmathArithmetic, SymbolicArithmetic
from symacct.mechanisms.gaussian import NormalMeans, normal_shift
from symacct.mechanisms.known_laws import all_laws, stated_line, two_laws, worst_pair
from symacct.mechanisms.laplace import LaplaceMeans
from symacct.mechanisms.pair import as_noise, stated_pair

MP = MpmathArithmetic(100)
FAMILIES = (
    Gaussian("3/2"), Gaussian(sympy.sqrt(2), 3), Laplace("1/2"), NoisyMax(3), DiscreteGaussian(2),
    DiscreteLaplace(2, 3), Skellam(4), RandomizedResponse("3/4"), RandomizedResponse("1/5"),
    PureDP(1),
)  # fmt: skip


@pytest.mark.parametrize("mechanism", FAMILIES, ids=repr)
def test_the_ratio_has_the_mean_one(mechanism):
    assert abs(worst_pair(mechanism).mean(MP, MP.exp, 1) - 1) < 1e-24


@pytest.mark.parametrize("mechanism", FAMILIES, ids=repr)
def test_what_is_above_one_is_swapped(mechanism):
    """P(P > Q) = Q(P < Q), and so P(P > Q) + Q(P > Q) = 1 where no outcome has one probability."""
    pair = worst_pair(mechanism)
    above = [pair.mean(MP, value, 1, above_one=True) for value in (MP.exp, lambda x: MP.number(1))]
    assert abs(sum(above) - 1) < 1e-24


@pytest.mark.parametrize(
    "mechanism", [Gaussian("3/2"), Laplace("1/2"), RandomizedResponse("1/5")], ids=repr
)
@pytest.mark.parametrize("above_one", [False, True])
def test_the_formula_is_the_mean(mechanism, above_one):
    pair = worst_pair(mechanism)
    written = pair.mean(SymbolicArithmetic(), lambda x: sympy.exp(2 * x), 2, above_one)
    known = pair.mean(MP, lambda x: MP.exp(2 * x), 2, above_one)
    assert abs(written.doit().evalf(25) - sympy.Float(str(known), 25)) < 1e-18 * abs(known)


def test_a_subclass_is_what_its_family_is():
    class Quiet(Gaussian):
        pass

    class OnALine(ScalarGaussian):
        pass

    assert isinstance(worst_pair(Quiet(2)), NormalMeans)
    assert normal_shift(Quiet(2)).ratio == 2
    assert worst_pair(OnALine(2)).is_on_line
    assert worst_pair(Laplace(2)).is_on_line
    assert not worst_pair(Quiet(2)).is_on_line
    assert not worst_pair(VectorLaplace(2)).is_on_line
    assert isinstance(worst_pair(NoisyMax(4)), LaplaceMeans)
    assert worst_pair(PureDP(1)).is_whole_class
    assert not worst_pair(RandomizedResponse("3/4")).is_whole_class
    assert worst_pair(ZCDP("1/2")) is None
    assert normal_shift(Laplace(2)) is None


def test_laws_are_stated_where_they_are_rational():
    assert two_laws(Gaussian(3, 2)) == (
        laws.Normal(1, Fraction(9, 4)),
        laws.Normal(0, Fraction(9, 4)),
    )
    assert two_laws(VectorLaplace(3, 2)) == (laws.Laplace(1, "3/2"), laws.Laplace(0, "3/2"))
    assert two_laws(Laplace(sympy.sqrt(3))) is None
    assert two_laws(RandomizedResponse("1/4")) == (
        [Fraction(1, 4), Fraction(3, 4)],
        [Fraction(3, 4), Fraction(1, 4)],
    )
    assert two_laws(NoisyMax(3)) is None
    assert all_laws(RandomizedResponse("1/4")) == (
        (Fraction(1, 4), Fraction(3, 4)),
        (Fraction(3, 4), Fraction(1, 4)),
    )
    many = FiniteMechanism([["1/2", "1/2"], ["1/3", "2/3"]])
    assert all_laws(many) == many.laws
    assert all_laws(PureDP(1)) is None


def test_lines_and_pairs_that_are_stated():
    assert stated_line(ZCDP("1/2", "1/3")) == (Fraction(1, 2), Fraction(1, 3), float("inf"))
    assert stated_line(TCDP("1/2", 4)) == (Fraction(1, 2), 0, 4)
    assert stated_line(Gaussian(1)) is None
    pair = DistributionPair(laws.Normal(1, 4), laws.Normal(0, 4))
    assert stated_pair(pair) is pair
    assert stated_pair(Gaussian(2)) is None
    assert as_noise(pair) is Gaussian(2)
    assert as_noise(DistributionPair([1, 0], [0, 1])) is DistributionPair([1, 0], [0, 1])
