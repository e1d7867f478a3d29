"""What a leaf declares of its neighbours is all that the exact profile knows of it."""

import ast
import inspect
from fractions import Fraction
from importlib import import_module

import pytest

from symacct import (
    DistributionPair,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    NoisyMax,
    PureDP,
    Source,
    laws,
    mechanisms,
)
from symacct.kernel.claims import SWAPPED
from symacct.kernel.errors import AssumptionError, CurveAloneError
from symacct.laws import neighbours
from symacct.laws.neighbours import AnyPure, Dominated, FinitePair, Neighbours, two_answers
from symacct.mechanisms.laplace import LaplacePair
from symacct.profile import pairs
from symacct.profile.below import products_below
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.pairs import products
from symacct.profile.part import FILES, MAKERS, loss_of
from tests.remainders.rows import copied


@pytest.mark.parametrize("name", FILES)
def test_the_file_of_a_law_registers_its_loss(name):
    import_module(f"symacct.profile.losses.{FILES[name]}")
    assert getattr(neighbours, name) in MAKERS


def test_a_copy_of_a_module_takes_no_place_of_the_loss():
    """As tests of remainders make them, with faults."""
    copy = copied("symacct.profile.losses.laplace")
    loss = loss_of(Laplace(2).neighbours)
    assert type(loss) is LaplaceLoss is not copy.LaplaceLoss


def test_a_law_without_a_loss_has_a_curve_alone():
    with pytest.raises(CurveAloneError):
        loss_of(Neighbours())


@pytest.mark.parametrize("code", [pairs, loss_of])
def test_the_pairs_name_no_leaf(code):
    leaves = {*mechanisms.__all__} - {"Mechanism"}
    assert len(leaves) > 10
    tree = ast.parse(inspect.getsource(code))
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not named & leaves


@pytest.fixture
def own_leaf():
    """A leaf from outside of the package, which declares a law that is known."""

    class DeclaredLaplace(LaplacePair):
        """Noise of one's own whose two laws are those of Laplace noise."""

        source = Source("me", "notebook, p. 1")
        attained = SWAPPED
        pure = Fraction(1, 2)

        def __new__(cls):
            return cls._intern()

        @property
        def neighbours(self):
            return neighbours.LaplaceShift(self.pure, of_query=False)

    return DeclaredLaplace()


def test_a_leaf_with_a_known_kind_of_law_has_an_exact_profile(own_leaf):
    found = (3 * own_leaf).epsilon("1e-3", conversion="exact", digits=8)
    known = (3 * Laplace(2)).epsilon("1e-3", conversion="exact", digits=8)
    assert found.claim.kind is Kind.EXACT
    assert found.epsilon.upper == known.epsilon.upper
    assert products(own_leaf)[0].runs == products(Laplace(2))[0].runs


def test_a_leaf_that_is_no_noise_has_no_group(own_leaf):
    with pytest.raises(AssumptionError, match="needed noise or PureDP"):
        products(GroupPrivacy(own_leaf, 2))


def test_two_laws_that_are_given_are_of_no_query():
    """A third record may do anything: neither a group nor a triangle follows from two laws."""
    law = DistributionPair(laws.Normal(0, 4), laws.Normal(1, 4)).neighbours
    assert law.ratio == Gaussian(2).neighbours.ratio
    assert not law.of_query
    assert law.side is None
    assert law.squared_side == 0


def test_a_group_of_a_pure_mechanism_is_pure():
    assert PureDP("1/2").neighbours.for_group(3) == AnyPure(Fraction(3, 2))


def test_what_is_dominated_is_bounded_below_by_what_some_neighbours_have():
    low = FinitePair(two_answers(Fraction(2, 3)))
    law = Dominated(AnyPure(Fraction(1)), lambda: low)
    assert law.kind is Kind.UPPER
    assert law.fixed == (low,)
    (product,) = products_below(NoisyMax(2))
    assert product.kind is Kind.EXACT
