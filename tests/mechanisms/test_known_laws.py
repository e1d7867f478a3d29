"""What leaves declare of their laws: the worst pair, its means, and what a subclass inherits."""

from fractions import Fraction

import pytest
import sympy

from symacct import (
    TCDP,
    ZCDP,
    Curve,
    DiscreteGaussian,
    DiscreteGaussianSum,
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
    SparseVector,
    VectorLaplace,
    laws,
)
from symacct.kernel.arithmetic import MpmathArithmetic, SymbolicArithmetic
from symacct.laws.neighbours import LaplaceShift, NormalShift, StatedLine, law_of
from symacct.mechanisms.pair import as_noise, stated_pair

MP = MpmathArithmetic(100)
FAMILIES = (
    Gaussian("3/2"), Gaussian(sympy.sqrt(2), 3), Laplace("1/2"), NoisyMax(3), DiscreteGaussian(2),
    DiscreteLaplace(2, 3), Skellam(4), RandomizedResponse("3/4"), RandomizedResponse("1/5"),
    PureDP(1),
)  # fmt: skip


@pytest.mark.parametrize("mechanism", FAMILIES, ids=repr)
def test_the_ratio_has_the_mean_one(mechanism):
    assert abs(law_of(mechanism).worst.mean(MP, MP.exp, 1) - 1) < 1e-24


@pytest.mark.parametrize("mechanism", FAMILIES, ids=repr)
def test_what_is_above_one_is_swapped(mechanism):
    """P(P > Q) = Q(P < Q), and so P(P > Q) + Q(P > Q) = 1 where no outcome has one probability."""
    pair = law_of(mechanism).worst
    above = [pair.mean(MP, value, 1, above_one=True) for value in (MP.exp, lambda x: MP.number(1))]
    assert abs(sum(above) - 1) < 1e-24


@pytest.mark.parametrize(
    "mechanism", [Gaussian("3/2"), Laplace("1/2"), RandomizedResponse("1/5")], ids=repr
)
@pytest.mark.parametrize("above_one", [False, True])
def test_the_formula_is_the_mean(mechanism, above_one):
    pair = law_of(mechanism).worst
    written = pair.mean(SymbolicArithmetic(), lambda x: sympy.exp(2 * x), 2, above_one)
    known = pair.mean(MP, lambda x: MP.exp(2 * x), 2, above_one)
    assert abs(written.doit().evalf(25) - sympy.Float(str(known), 25)) < 1e-18 * abs(known)


def test_a_subclass_is_what_its_family_is():
    class Quiet(Gaussian):
        pass

    class OnALine(ScalarGaussian):
        pass

    assert isinstance(law_of(Quiet(2)).worst, NormalShift)
    assert law_of(Quiet(2)).normal.ratio == 2
    assert law_of(OnALine(2)).worst.is_on_line
    assert law_of(Laplace(2)).worst.is_on_line
    assert not law_of(Quiet(2)).worst.is_on_line
    assert not law_of(VectorLaplace(2)).worst.is_on_line
    assert isinstance(law_of(NoisyMax(4)).worst, LaplaceShift)
    assert law_of(PureDP(1)).worst.is_whole_class
    assert not law_of(RandomizedResponse("3/4")).worst.is_whole_class
    assert law_of(ZCDP("1/2")).worst is None
    assert law_of(3 * Gaussian(2)).worst is None
    assert law_of(Curve("alpha", kind="upper", adjacency="either")).worst is None
    assert law_of(Laplace(2)).normal is None


def test_laws_are_stated_where_they_are_rational():
    assert law_of(Gaussian(3, 2)).two_laws == (
        laws.Normal(1, Fraction(9, 4)),
        laws.Normal(0, Fraction(9, 4)),
    )
    assert law_of(VectorLaplace(3, 2)).two_laws == (laws.Laplace(1, "3/2"), laws.Laplace(0, "3/2"))
    assert law_of(Laplace(sympy.sqrt(3))).two_laws is None
    assert law_of(RandomizedResponse("1/4")).two_laws == (
        (Fraction(1, 4), Fraction(3, 4)),
        (Fraction(3, 4), Fraction(1, 4)),
    )
    assert law_of(NoisyMax(3)).two_laws is None
    assert law_of(RandomizedResponse("1/4")).all_laws == (
        (Fraction(1, 4), Fraction(3, 4)),
        (Fraction(3, 4), Fraction(1, 4)),
    )
    many = FiniteMechanism([["1/2", "1/2"], ["1/3", "2/3"]])
    assert law_of(many).all_laws == many.laws
    assert law_of(PureDP(1)).all_laws is None


@pytest.mark.parametrize(
    "mechanism",
    [
        SparseVector(2, 4),
        DiscreteGaussianSum(1, 3),
        DistributionPair(laws.Normal(1, 4), laws.Normal(0, 4)),
        DistributionPair(laws.Laplace(1, 2), laws.Laplace(0, 2)),
    ],
    ids=repr,
)
def test_a_pair_whose_curve_is_another_is_not_the_worst(mechanism):
    """A sample, or a third record, may cost more or less than the pair says."""
    assert law_of(mechanism).worst is None


def test_lines_and_pairs_that_are_stated():
    assert law_of(ZCDP("1/2", "1/3")).line == StatedLine(Fraction(1, 2), Fraction(1, 3))
    assert law_of(TCDP("1/2", 4)).line == StatedLine(Fraction(1, 2), Fraction(0), Fraction(4))
    assert law_of(Gaussian(1)).line is None
    pair = DistributionPair(laws.Normal(1, 4), laws.Normal(0, 4))
    assert stated_pair(pair) is pair
    assert stated_pair(Gaussian(2)) is None
    assert as_noise(pair) is Gaussian(2)
    assert as_noise(DistributionPair([1, 0], [0, 1])) is DistributionPair([1, 0], [0, 1])
