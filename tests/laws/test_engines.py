"""One formula, four arithmetics: they agree."""

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    ZCDP,
    Accountant,
    DistributionPair,
    Either,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomAllocation,
    SubsampleWithoutReplacement,
    theorems,
)
from symacct.kernel.accountant import FormulaAccountant
from symacct.kernel.node import kinds
from symacct.laws import Normal
from tests import independent
from tests.support import (
    INFINITY,
    LEAVES,
    OPERATIONS,
    expressions,
    fractional_orders,
    overlap,
    plainest,
    sample,
    whole_orders,
)
from tests.thinning import examples, some

#: Where mpmath integrates.
few = examples(2, 20)

EVERY = {
    **LEAVES,
    **{f"{op}": build(st.one_of(*LEAVES.values())) for op, build in OPERATIONS.items()},
}
DIGITS = some(18, 25)


def middle(answer):
    return (independent.fraction(answer.lower) + independent.fraction(answer.upper)) / 2


def orders(data, node):
    """1, ∞, a whole order and a fractional one: small, since mpmath integrates by itself.

    Two of them here, all in a soak.
    """
    found = 1, data.draw(st.integers(2, 12)), data.draw(fractional_orders) % 4 + 1, INFINITY
    return data.draw(st.permutations(found))[: some(2, 4)]


#: mpmath asks balls for an allocation: tests/analysis/test_random_allocation.py compares one.
BY_MPMATH = some([kind for kind in EVERY if kind != "RandomAllocation"], list(EVERY))


@pytest.mark.parametrize("kind", BY_MPMATH)
@few
@given(data=st.data())
def test_balls_and_mpmath_agree_in_all_digits_asked(kind, data):
    node = data.draw(EVERY[kind])
    for alpha in orders(data, node):
        sure = Accountant(DIGITS).rdp(node, alpha)
        other = Accountant(DIGITS, "mpmath").rdp(node, alpha)
        assert sure.certified
        assert not other.certified
        if sure.upper == INFINITY:
            assert other.upper == INFINITY
            continue
        assert abs(middle(other) - middle(sure)) <= middle(sure) / 10**DIGITS


#: FAILING is ∞ at every order; what it says of δ is held by tests/operations/test_failing.py. A
#: lower bound of a lower curve has no arithmetic of its own.
FINITE = [theorem for theorem in theorems() if theorem.name not in ("FAILING", "SCALE-LOWER")]
PAIR = DistributionPair(["9/10", "1/10"], ["1/2", "1/2"], "add_remove", with_record="P")
ALLOCATED = RandomAllocation(Laplace(1), 3)
#: What those theorems are about that no operation over the leaves below is an example of.
ABOUT = {
    "ALLOCATION-LAPLACE": ALLOCATED,
    "PAIR-FINITE": PoissonSubsample(PAIR, "1/10"),
    "PAIR-FINITE-WOR": SubsampleWithoutReplacement(
        DistributionPair(["9/10", "1/10"], ["1/2", "1/2"], "replace_one"), "1/10"
    ),
    "BDRS18-T11": SubsampleWithoutReplacement(ZCDP("1/50"), "1/100"),
    "GROUP-ZCDP": GroupPrivacy(ZCDP("1/2"), 3),
    "TRIPLE-LINE": SubsampleWithoutReplacement(Laplace(1), "1/10"),
    "TRIPLE-LINE-WHOLE": SubsampleWithoutReplacement(Laplace(1), "1/10"),
    "TRIPLE-PURE": SubsampleWithoutReplacement(PureDP(1), "1/10"),
    "TRIPLE-PURE-POISSON": PoissonSubsample(PureDP(1), "1/10", "replace_one"),
    "MTZ19-T11": PoissonSubsample(Gaussian(10), "1/1000"),
    "PAIR-WOR": SubsampleWithoutReplacement(
        DistributionPair(Normal(0, 9), Normal(1, 9), "replace_one"), "1/10"
    ),
    "COMPOSE-DIRECTIONS": ALLOCATED + PoissonSubsample(Laplace(1), "1/3"),
    "SAMPLE-DIRECTIONS": PoissonSubsample(2 * PAIR, "1/3"),
    "ZW19-T6-ADDITION": PoissonSubsample(2 * PAIR, "1/10"),
    "EITHER-DIRECTIONS": Either(ALLOCATED, PoissonSubsample(Laplace(1), "1/3"), "1/2"),
}


LEAVES_OF_THEOREMS = ("Gaussian", "RandomizedResponse")


def operations_of(theorem):
    """The operations that it may be about, under each relation."""
    return [name for name in OPERATIONS if name.partition(",")[0] in theorem.operation]


def is_same_by_both(node, alpha, name):
    """Is the theorem's bound one number by balls and by mpmath? None where it states no number."""
    try:
        sure = Accountant(DIGITS).rdp(node, alpha, by=name)
    except ValueError:  # an OrderError: a condition on order and parameters together
        return None
    other = Accountant(DIGITS, "mpmath").rdp(node, alpha, by=name)
    if sure.upper == INFINITY:
        return other.upper == INFINITY
    return abs(middle(other) - middle(sure)) <= middle(sure) / 10**DIGITS


@pytest.mark.parametrize("theorem", FINITE, ids=lambda t: t.name)
@few
@given(data=st.data())
def test_balls_and_mpmath_agree_on_every_theorem(theorem, data):
    over = OPERATIONS[data.draw(st.sampled_from(operations_of(theorem)))]
    node = data.draw(over(st.one_of(*(LEAVES[leaf] for leaf in LEAVES_OF_THEOREMS))))
    for alpha in orders(data, node):
        if theorem.why_not(node, alpha) is None:
            assert is_same_by_both(node, alpha, theorem.name) in (True, None)


@pytest.mark.parametrize("name", ABOUT)
def test_balls_and_mpmath_agree_on_what_few_nodes_are_examples_of(name):
    told = [is_same_by_both(ABOUT[name], alpha, name) for alpha in (2, 3, 20, INFINITY)]
    assert True in told
    assert False not in told


@pytest.mark.parametrize("theorem", FINITE, ids=lambda t: t.name)
def test_every_theorem_is_about_a_node_that_is_drawn_or_named(theorem):
    """Else the laws above would compare nothing."""
    drawn = (
        plainest(OPERATIONS[operation](st.just(sample(leaf))))
        for operation in operations_of(theorem)
        for leaf in LEAVES_OF_THEOREMS
    )
    nodes = [ABOUT[theorem.name]] if theorem.name in ABOUT else drawn
    orders = (2, 3, Fraction(5, 2), 20, 1, INFINITY)
    assert any(theorem.why_not(node, alpha) is None for node in nodes for alpha in orders)


@pytest.mark.parametrize("kind", EVERY)
@given(data=st.data())
def test_float64_is_right_to_the_digits_it_claims(kind, data):
    node = data.draw(EVERY[kind])
    for alpha in orders(data, node):
        sure = FormulaAccountant(DIGITS).rdp(node, alpha)
        quick = Accountant(DIGITS, "float64").rdp(node, alpha)
        assert not quick.certified
        assert overlap(sure, quick), (node, alpha)


@given(expressions, st.integers(1, 300), st.integers(1, 300), fractional_orders)
def test_answers_to_different_digits_enclose_one_number(m, few, many, alpha):
    accountant = Accountant()
    for order in (alpha, 5):
        a, b = (accountant.rdp(m, order, digits=digits) for digits in (few, many))
        assert overlap(a, b)
        assert a.digits >= few
        assert b.digits >= many


@examples(2, 30)
@given(expressions, st.sampled_from([5, 24, 53, 300, 2000]), fractional_orders)
def test_precisions_outside_change_nothing_and_are_put_back(m, bits, alpha):
    def all_answers():
        accountant = Accountant(20)
        guarantee = accountant.epsilon(m, "1e-6", orders="integer")
        value, other = accountant.rdp(m, alpha), Accountant(20, "mpmath").rdp(m, alpha)
        text = str(value), value.rounded_up(7), value.rounded_down(7), float(value), str(other)
        ends = value.lower._mpf_, value.upper._mpf_
        return *ends, str(value.claim), str(guarantee.as_dict()), *text

    plain, before = all_answers(), (flint.ctx.prec, mpmath.mp.prec)
    with flint.ctx.workprec(bits), mpmath.workprec(bits):
        inside = all_answers()
        assert (flint.ctx.prec, mpmath.mp.prec) == (bits, bits)
    assert (flint.ctx.prec, mpmath.mp.prec) == before
    assert inside == plain


def test_no_cancellation_at_tiny_rates_and_huge_noise():
    """ε(2) = log1p(γ² expm1(1/σ²)), from mpmath at 5,000 digits."""
    gamma, sigma = "1e-300", "1e300"
    mp = independent.context(5000)
    g, s = independent.number(mp, Fraction(gamma)), independent.number(mp, Fraction(sigma))
    value = independent.fraction(mp.log1p(g**2 * mp.expm1(1 / s**2)))
    for engine in ("ball", "mpmath"):
        answer = Accountant(30, engine).rdp(PoissonSubsample(Gaussian(sigma), gamma), 2)
        assert abs(middle(answer) / value - 1) <= Fraction(1, 10**30)


@pytest.mark.parametrize("alpha", [1000, 2000])
def test_huge_moments_do_not_overflow(alpha):
    """At σ = 1/10 the last term is all: K(α−1) = α log γ + α(α−1)/(2σ²) + what is below 10⁻¹⁰⁰."""
    mp = independent.context(200)
    value = (alpha * mp.log(mp.mpf(1) / 10) + mp.mpf(alpha) * (alpha - 1) * 50) / (alpha - 1)
    for engine, tolerance in (("ball", 40), ("mpmath", 40), ("float64", 11)):
        if engine == "mpmath" and alpha > 1000:
            continue
        answer = Accountant(40, engine).rdp(PoissonSubsample(Gaussian("1/10"), "1/10"), alpha)
        assert abs(middle(answer) / independent.fraction(value) - 1) < Fraction(1, 10**tolerance)


@pytest.mark.parametrize("kind", [k for k in sorted(EVERY) if k in kinds()])
@given(data=st.data())
def test_an_array_of_orders_is_answered_as_one_by_one(kind, data):
    node = data.draw(EVERY[kind])
    alphas = np.array([1.0, 1.25, 2, 2.5, 3, 7, 7.75, 12, np.inf])
    accountant = Accountant(engine="float64")
    found = accountant.rdp(node, alphas)
    assert found.shape == alphas.shape
    for alpha, value in zip(alphas, found, strict=True):
        sure = FormulaAccountant(20).rdp(node, alpha)
        if np.isinf(value):
            assert sure.upper == INFINITY
        else:
            assert value == pytest.approx(float(middle(sure)), rel=1e-11, abs=0)
    assert np.array_equal(accountant.rdp(node, alphas.reshape(3, 3)), found.reshape(3, 3))
    assert np.array_equal(accountant.rdp(node, list(alphas)), found)


@given(LEAVES["Laplace"], whole_orders)
def test_the_cgf_is_the_order_less_one_times_epsilon(m, alpha):
    for engine in ("ball", "mpmath"):
        accountant = Accountant(30, engine)
        k, eps = accountant.cgf(m, alpha - 1), accountant.rdp(m, alpha)
        assert abs(middle(k) - (alpha - 1) * middle(eps)) <= middle(k) / 10**29
        assert k.claim.kind is Kind.EXACT


def test_the_questions_of_a_node_are_those_of_an_accountant():
    m = PoissonSubsample(Laplace(2), "1/10")
    assert m.rdp(5, digits=20) == Accountant(20).rdp(m, 5)
    assert m.cgf(4, digits=20) == Accountant(20).cgf(m, 4)
    assert m.rdp(5, by="ZW19-T5") == Accountant().rdp(m, 5, by="ZW19-T5")
    assert m.rdp(5, by="ZW19-T5") != m.rdp(5)
    assert m.lower_bound(5) == Accountant().lower_bound(m, 5)
    assert not m.rdp(5, engine="mpmath").certified
    assert m.epsilon("1e-5", conversion="classic") == Accountant().epsilon(
        m, "1e-5", conversion="classic"
    )
    assert m.delta(1, orders=[2, 3, 400]) == Accountant().delta(m, 1, orders=[2, 3, 400])
