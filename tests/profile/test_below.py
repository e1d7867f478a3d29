"""Lower bounds lie below the upper ones: of ε(α), of ε(δ) and of δ(ε), whatever was done."""

from contextlib import suppress
from fractions import Fraction

import pytest
from flint import ctx
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import (
    DistributionPair,
    Either,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    RandomizedResponse,
    ScalarGaussian,
    SubsampleWithoutReplacement,
    SymacctError,
    laws,
    limits,
)
from symacct.kernel.answer import to_fraction
from symacct.kernel.arithmetic.ball import ball
from symacct.profile.below import products_below, triangles_below
from symacct.profile.part import OrderLine
from tests.support import BASES, OPERATIONS, fractions
from tests.thinning import covering, examples

MANY = 20  # runs, from which on three means are looked for
NEED, MOST_TERMS = 20.0, 20_000
CONTOUR = 10**6
ORDERS = (Fraction(3, 2), Fraction(7, 2))
CONVERSIONS = ("classic", "improved", "optimal", "exact")

#: What had a lower bound from laws that it does not have.
FOUND = [
    SubsampleWithoutReplacement(ScalarGaussian(1), "1/1000"),
    SubsampleWithoutReplacement(Gaussian(2) + ScalarGaussian(1), "1/10"),
    SubsampleWithoutReplacement(DistributionPair(laws.Normal(0, 1), laws.Normal(1, 1)), "1/10"),
    Either(ExponentialMechanism(1), RandomizedResponse("3/5"), "9/10"),
    Either(SubsampleWithoutReplacement(Gaussian(1), "1/3"), Laplace(1), "1/2"),
]


def divergences(product, alpha):
    """D_α of a product's two laws, either way round, over the outcomes that both laws have."""
    with ctx.workprec(100):
        for order in (alpha, 1 - alpha):
            line = OrderLine(float(order), 1.0, 0)
            if all(part.terms(line, NEED) < MOST_TERMS for part, _ in product.runs):
                logs = (k * part.transform(line, NEED)[0].real.log() for part, k in product.runs)
                yield sum(logs) / ball(alpha - 1)


def below_its_curve(node):
    """How many divergences of laws that a lower bound is from are told not to exceed the curve."""
    told = 0
    for product in [*products_below(node), *triangles_below(node)]:
        for alpha in ORDERS:
            with suppress(SymacctError):
                most = node.rdp(alpha, digits=8).upper
                for least in divergences(product, alpha) if most < float("inf") else ():
                    assert not least > ball(to_fraction(most)), (product, alpha)
                    told += bool(product.runs)
    return told


def three_records(operation, base):
    """Each operation, and each mechanism on samples in which a third record counts."""
    return {operation, base if operation == "SubsampleWithoutReplacement" else operation}


@covering(three_records)
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
@pytest.mark.parametrize("base", sorted(BASES))
@examples(1, 30)
@given(data=st.data())
def test_the_laws_of_a_lower_bound_are_within_the_curve(operation, base, data):
    """Conversions lose what would hide it: of ε(α) nothing is lost."""
    with suppress(SymacctError):  # no such operation of this mechanism
        node = data.draw(OPERATIONS[operation](BASES[base]))
        for runs in (1, 3, MANY):
            below_its_curve(runs * node)


@pytest.mark.parametrize("node", FOUND, ids=repr)
def test_the_laws_found_to_be_above_the_curve_are_within_it(node):
    assert all(below_its_curve(runs * node) for runs in (1, 3, MANY))


def below_what_it_may_cost(node, delta, epsilon):
    """No lower bound of ε(δ) or δ(ε) is above an upper one, by whatever conversion."""
    for least, most, x in (
        (node.lower_epsilon, node.epsilon, delta),
        (node.lower_delta, node.delta, epsilon),
    ):
        with suppress(SymacctError):
            found = least(x, digits=3).lower
            for conversion in CONVERSIONS if found > 0 else ():
                with suppress(SymacctError):
                    assert found <= most(x, digits=3, conversion=conversion).asked.upper, conversion


expressions = st.one_of(*(over(st.one_of(*BASES.values())) for over in OPERATIONS.values()))
deltas = st.tuples(st.integers(1, 9), st.integers(1, 12)).map(lambda x: Fraction(x[0], 10 ** x[1]))


@examples(6, 500)
@given(expressions, st.sampled_from([1, 3, 50, 10**6]), deltas, fractions(0, 9, 10))
@example(FOUND[0], 10**6, Fraction(1, 10**10), Fraction(9))
@example(FOUND[3], 10, Fraction(1, 10**5), Fraction(3))
def test_lower_bounds_are_below_upper_ones_by_every_conversion(node, runs, delta, epsilon):
    with limits(contour=CONTOUR), suppress(SymacctError):
        below_what_it_may_cost(runs * node, delta, epsilon)


@examples(20, 2000)
@given(expressions, st.sampled_from([1, 3]), fractions(1, 24, 4))
def test_lower_bounds_of_a_curve_are_below_it(node, runs, alpha):
    for order in (alpha, int(alpha) + 1, float("inf")):
        with suppress(SymacctError):
            node = runs * node
            assert node.lower_bound(order, digits=8).lower <= node.rdp(order, digits=8).upper
