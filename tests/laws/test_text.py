"""An expression is one object, however it was written, sent or copied."""

import copy
import pickle

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Compose,
    Curve,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomizedResponse,
    Scale,
    from_json,
    parse,
    symbols,
)
from tests.support import LEAVES, OPERATIONS, expressions, formula_curves, leaves


def written(node):
    """Has the node a text? A curve made of a Python function has none."""
    return not any(isinstance(n, Curve) and not n._is_formula for n in node.walk())


def all_copies(node):
    return [
        parse(repr(node)),
        from_json(node.to_json()),
        pickle.loads(pickle.dumps(node)),  # noqa: S301  # our own bytes
        copy.copy(node),
        copy.deepcopy(node),
    ]


@pytest.mark.parametrize("kind", sorted(LEAVES))
@given(data=st.data())
def test_every_copy_of_a_mechanism_is_the_same_object(kind, data):
    node = data.draw(LEAVES[kind].filter(written))
    assert all(one is node for one in all_copies(node))


@pytest.mark.parametrize("kind", sorted(OPERATIONS))
@given(data=st.data())
def test_every_copy_of_an_operation_is_the_same_object(kind, data):
    node = data.draw(OPERATIONS[kind](leaves.filter(written)))
    assert all(one is node for one in all_copies(node))


@given(expressions.filter(written))
def test_the_text_is_python_with_the_same_meaning(node):
    import symacct

    scope = {name: getattr(symacct, name) for name in symacct.__all__}
    scope |= {name: getattr(sympy, name) for name in ("Symbol", "Rational", "pi", "exp", "log")}
    assert eval(repr(node), {"__builtins__": {}}, scope) is node  # noqa: S307


@given(formula_curves, st.sampled_from(["add_remove", "replace_one", "either"]))
def test_a_curve_is_written_with_its_kind_and_adjacency(curve, adjacency):
    node = Curve(curve.f, kind="lower", adjacency=adjacency)
    assert all(one is node for one in all_copies(node))
    assert node is not curve


ALPHA = symbols.alpha
SIGMA = sympy.Symbol("sigma", positive=True)


@pytest.mark.parametrize(
    "node",
    [
        Gaussian(SIGMA),
        Gaussian(sympy.Symbol("sigma")),
        Gaussian(sympy.sqrt(2)),
        Gaussian(sympy.pi / 3 + sympy.E),
        RandomizedResponse.of_epsilon("1/2", k=4),
        3 * RandomizedResponse.of_epsilon(SIGMA),
        Gaussian(SIGMA**2 / 3, SIGMA),
        Gaussian(sympy.Max(SIGMA, 1)),
        Laplace(sympy.exp(SIGMA) * sympy.log(3)),
        PoissonSubsample(Laplace(3), sympy.Symbol("q", nonnegative=True)),
        2 * PoissonSubsample(Gaussian(SIGMA), sympy.Symbol("γ")) + PureDP("1/3", "add_remove"),
        Scale(Gaussian(5), sympy.sqrt(2)),
        Curve(ALPHA / 50 + sympy.log(1 + ALPHA) / 7, kind="upper", adjacency="either"),
        Curve(sympy.Min(ALPHA, 3), kind="exact", adjacency="either", at_infinity=3),
        Curve(ALPHA * SIGMA, kind="upper", adjacency="add_remove"),
        Curve(sympy.Rational(1, 7), kind="upper", adjacency="either", at_infinity="1/7"),
        Curve(ALPHA ** sympy.Rational(3, 2), kind="upper", adjacency="either", at_infinity="inf"),
        Compose(),
        3 * Compose(Gaussian(5), 2 * Laplace("1/3")) + GroupPrivacy(PostProcess(Gaussian(5)), 3),
        RandomizedResponse(0.1),
        10**30 * Gaussian("1e-30"),
    ],
    ids=repr,
)
def test_symbols_formulas_and_constants_survive_every_way_of_writing(node):
    assert all(one is node for one in all_copies(node))


def test_shared_parts_are_written_once():
    node = Gaussian(5)
    for _ in range(19):
        node = PoissonSubsample(node + PostProcess(node), "1/2")
    text = node.to_json()
    assert len(text) < 20_000
    assert from_json(text) is node


def test_a_python_function_has_no_text_and_says_so():
    node = Curve(lambda ctx, alpha: alpha, kind="upper", adjacency="either")
    with pytest.raises(Exception, match=r"Python function.*SymPy"):
        node.to_json()
    assert copy.deepcopy(node) is node
