"""An irrational parameter gives what its rational neighbours give, for every node and theorem."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    DistributionPair,
    Gaussian,
    Laplace,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    laws,
)
from tests.laws.test_text import all_copies
from tests.support import LEAVES, MP, OPERATIONS, SAMPLERS, answers, each_sort, holds
from tests.thinning import covering, examples, some

#: Half of the share by which two rational neighbours are apart.
NEAR = Fraction(1, 10**9)
#: TCDP(ρ, ω) ends at ω, a whole order here; an iteration takes a rational contraction alone.
NOT_MOVED = {"omega", "contraction"}


def neighbours(node, name):
    """The node with a real parameter a little smaller, an irrational one between, and larger."""
    value, fields = node.parameters()[name], node.fields()
    square = sympy.Rational(*value.as_integer_ratio()) ** 2
    between = sympy.sqrt(square * (1 + sympy.Rational(1, 10**12)))
    assert not between.is_rational
    return [
        type(node)(**fields | {name: x}) for x in (value * (1 - NEAR), between, value * (1 + NEAR))
    ]


def neighbours_of_noise(step):
    """The sample of a little less noise and of a little more about it."""
    about = Fraction(str(sympy.N(step.mechanism.sigma, 30)))
    sigmas = about * (1 - NEAR), step.mechanism.sigma, about * (1 + NEAR)
    return [SubsampleWithoutReplacement(Gaussian(sigma), step.gamma) for sigma in sigmas]


def real_parameters(node):
    """The names of those that are positive fractions, of which an irrational one may be near."""
    return [
        name
        for name, x in node.parameters().items()
        if isinstance(x, Fraction) and x > 0 and name not in NOT_MOVED
    ]


def check_between(below, between, above, alpha, digits=12):
    """Every theorem answers for it where it does for its neighbours, between what they get."""
    low, found, high = (answers(one, alpha, digits) for one in (below, between, above))
    assert found.keys() >= low.keys() & high.keys()
    for name in low.keys() & high.keys():
        ends = low[name], high[name]
        assert found[name].digits >= digits or found[name].lower == 0
        assert found[name].lower <= max(one.upper for one in ends), name
        assert found[name].upper >= min(one.lower for one in ends), name


orders = st.sampled_from([1, 2, Fraction(5, 2), 7, float("inf")])


@pytest.mark.parametrize("leaf", LEAVES)
@given(data=st.data())
@examples(1, 40)
def test_of_a_leaf(leaf, data):
    node, alpha = data.draw(LEAVES[leaf]), data.draw(orders)
    for name in real_parameters(node):
        below, between, above = neighbours(node, name)
        assert all(one is between for one in all_copies(between))
        low, found, high = (one.rdp(alpha, 12) for one in (below, between, above))
        assert found.lower <= max(low.upper, high.upper)
        assert found.upper >= min(low.lower, high.lower)


@covering(each_sort)
@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("base", LEAVES)
@given(data=st.data())
@examples(1, 20)
def test_of_a_sampling_and_of_what_is_sampled(kind, base, data):
    leaf, alpha = data.draw(LEAVES[base]), data.draw(orders)
    node = data.draw(OPERATIONS[kind](st.just(leaf)).filter(lambda m: m.gamma < 1 - NEAR))
    check_between(*neighbours(node, "gamma"), alpha)
    for name in real_parameters(leaf):
        over = (type(node)(one, node.gamma, node.adjacency) for one in neighbours(leaf, name))
        check_between(*over, alpha)


def sampled_moment(alpha, gamma, sigma):
    """E_{N(0,σ²)}[(1−γ+γe^{(2z−1)/(2σ²)})^α] by mpmath's quadrature."""
    with MP.workdps(50):
        ratio = lambda z: 1 - gamma + gamma * MP.exp((2 * z - 1) / (2 * sigma**2))  # noqa: E731
        places = [-20 * sigma, 0, alpha, alpha + 20 * sigma]
        return MP.quad(lambda z: MP.npdf(z, 0, sigma) * ratio(z) ** alpha, places)


@pytest.mark.parametrize("gamma", [Fraction(1, 10), sympy.sqrt(2) / 10])
def test_an_irrational_noise_and_rate_by_quadrature(gamma):
    node, alpha = PoissonSubsample(Gaussian(sympy.sqrt(2)), gamma), MP.mpf(5) / 2
    rate = MP.sqrt(2) / 10 if isinstance(gamma, sympy.Expr) else MP.mpf(1) / 10
    expected = MP.log(sampled_moment(alpha, rate, MP.sqrt(2))) / (alpha - 1)
    assert holds(node.rdp(Fraction(5, 2)), expected, 30, 40)


def test_the_worst_triangle_of_irrational_noise_answers_epsilon():
    """√2 between its decimals, and the optimum over all orders with it."""
    more, between, less = (
        (1000 * SubsampleWithoutReplacement(Gaussian(sigma), "1/100")).epsilon(
            "1e-6", 20, "improved"
        )
        for sigma in ("1.414213562373095", sympy.sqrt(2), "1.414213562373096")
    )
    assert "TRIPLE-GAUSSIAN" in between.claim.theorems
    assert less.epsilon.lower <= between.epsilon.upper
    assert between.epsilon.lower <= more.epsilon.upper
    assert between.epsilon.digits >= 20


def test_a_worst_triangle_inside_at_an_irrational_noise():
    """σ/Δ = √(1/3) at order 6: more looks along B than elsewhere prove which one is the worst."""
    step = SubsampleWithoutReplacement(Gaussian(sympy.sqrt(sympy.Rational(1, 3))), "57/1000000")
    below, found, above = (m.rdp(6, 12, by="TRIPLE-GAUSSIAN") for m in neighbours_of_noise(step))
    assert min(below.lower, above.lower) <= found.upper
    assert found.lower <= max(below.upper, above.upper)
    assert found.digits >= 12
    assert "TRIPLE-GAUSSIAN" in step.rdp(6, 12).claim.theorems


@pytest.mark.parametrize("alpha", some([3], [1, 3, Fraction(5, 2)]))
def test_two_laws_at_an_irrational_rate(alpha):
    pair = DistributionPair(laws.Normal(0, 4), laws.Normal(1, 4))
    check_between(*neighbours(PoissonSubsample(pair, "1/5"), "gamma"), alpha)


def test_a_rate_next_to_one_and_noise_whose_digits_cancel():
    rate = 1 - sympy.sqrt(2) / 10**200  # whose rational neighbour may be above 1
    assert PoissonSubsample(Laplace(1), rate).rdp(2).digits >= 30
    sensitivity = sympy.sqrt(2) - sympy.Rational(
        "1.4142135623730950488016887242096980785696718753769"
    )
    assert PoissonSubsample(Gaussian(1, sensitivity * 10**45), "1/2").rdp(2).digits >= 30
