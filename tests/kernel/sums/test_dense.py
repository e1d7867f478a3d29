"""All the terms of a low order, against the few that count and a bound of the rest."""

from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct import Accountant, Gaussian, Laplace, PoissonSubsample, PureDP, RandomizedResponse
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, precision
from symacct.kernel.sums import binomial_sums
from symacct.kernel.sums.binomial_sums import DENSE_ORDER, Terms, dense_sum
from tests.support import fractions
from tests.thinning import examples

SCALES = st.one_of(fractions(Fraction(1, 50), 200, 50), st.sampled_from([Fraction(10**9)]))
LEAVES = st.one_of(
    st.builds(Gaussian, SCALES),
    st.builds(Laplace, SCALES),
    st.builds(PureDP, SCALES),
    st.builds(RandomizedResponse, fractions(Fraction(1, 99), Fraction(98, 99), 99)),
)
RATES = st.one_of(
    fractions(Fraction(1, 10**4), Fraction(9999, 10**4), 10**4),
    st.sampled_from([Fraction(1, 10**30), 1 - Fraction(1, 10**30)]),
)
#: The sums of Theorem 8 and of Theorem 5: what a term is of e^K − 1, its factor, the first order.
FORMS = st.sampled_from([(None, 1, 2), (lambda l, excess: 3 * excess + 2, 3, 3)])


class Dear:
    """The same curve, saying that its values are not to be taken for all orders."""

    def __init__(self, curve):
        self.curve = curve

    def __getattr__(self, name):
        return getattr(self.curve, name)

    def __call__(self, alpha):
        return self.curve(alpha)

    def dense(self, orders):
        return None


@examples(25, 2000)
@given(LEAVES, RATES, FORMS, st.integers(2, DENSE_ORDER), st.sampled_from([53, 140, 400]))
def test_the_dense_sum_meets_the_truncated_one_and_is_as_sharp(leaf, gamma, form, alpha, bits):
    formula, factor, first = form
    extra = {} if formula is None else {"form": formula, "factor": factor}
    with ctx.workprec(bits):
        curve, rate = Accountant().curve(leaf), ball(gamma)
        rest = 1 - rate if 1 - rate > 0 else ball(1 - gamma)
        terms, slow = Terms(curve, **extra), Terms(Dear(curve), **extra)
        fast = dense_sum(terms, alpha, (rate, rest), first)
        known = binomial_sums.certified_mixture(slow, alpha, rate, rest, first)
        if first > alpha:
            assert fast is None
            assert known == 0
            return
        assert fast.overlaps(known)
        # Of a K of some size the rounding counts as often as it is multiplied.
        lost = 4 + alpha.bit_length()
        assert fast.rel_accuracy_bits() >= min(known.rel_accuracy_bits(), bits) - lost


def test_a_curve_that_does_not_say_so_and_a_high_order_are_not_summed_whole():
    rates = arb(1) / 3, arb(2) / 3
    curve = Accountant().curve(Gaussian(5))
    assert dense_sum(Terms(Dear(curve)), 20, rates, 2) is None
    assert dense_sum(Terms(curve), DENSE_ORDER + 1, rates, 2) is None


@pytest.mark.parametrize("sigma", ["1/10", "1e-9", "1e-30", "1e-200"])
@pytest.mark.parametrize("alpha", [2, 3, 36])
def test_of_a_moment_too_large_for_its_exponential_no_digit_is_lost(sigma, alpha):
    """There ε′(α) = ε(α) + α log γ/(α−1), but for less than is printed."""
    with precision(135):
        found = Accountant().curve(PoissonSubsample(Gaussian(sigma), "1/2"))(alpha)
        rate = 1 / (2 * BALL.number(Fraction(sigma)) ** 2)
        assert found.rel_accuracy_bits() >= 125
        assert (
            abs(found - alpha * rate + alpha * arb(2).log() / (alpha - 1)) < found * arb(2) ** -50
        )
