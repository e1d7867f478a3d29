"""Near the total variation: what the order 1 says, against laws whose total variation is known."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import (
    Accountant,
    Curve,
    DistributionPair,
    DomainError,
    Gaussian,
    Laplace,
    OrderError,
    PoissonSubsample,
    PrecisionError,
    RandomizedResponse,
    SymacctError,
    limits,
)
from symacct.explore.comparison import compare_epsilon
from symacct.kernel import conversion as conversion_register
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.conversion import divergence_lower_bound, named
from symacct.theory.conversion import total_variation
from tests import independent
from tests.support import LEAVES, OPERATIONS
from tests.thinning import covering, examples

F = Fraction
MP = independent.context(50)
STEP = PoissonSubsample(Gaussian(1), "1/1000")
NAME = "total-variation"


def normal_variation(sigma):
    """2Φ(1/2σ) − 1 = erf(1/(2√2 σ))."""
    return MP.erf(1 / (2 * MP.sqrt(2) * MP.mpf(sigma)))


def bound(kl):
    return MP.sqrt(min(-MP.expm1(-kl), kl / 2))


def upper(guarantee):
    return independent.fraction(guarantee.asked.upper)


def test_one_step_of_the_sampled_gaussian():
    found = STEP.delta(0, conversion="improved")
    assert upper(found) <= F("0.000974")
    assert independent.fraction(normal_variation(1) / 1000) <= upper(found)
    near = STEP.epsilon("0.01", conversion="improved")
    assert near.epsilon.upper == 0
    for guarantee in (found, near):
        assert (guarantee.alpha, guarantee.conversion, guarantee.optimal) == (1, NAME, True)


#: m, its total variation and its Kullback–Leibler divergence, in closed form.
KNOWN = [
    (Gaussian(5), normal_variation(5), MP.mpf(1) / 50),
    (Gaussian("1/2"), normal_variation("0.5"), MP.mpf(2)),  # beyond 1.59 the other root
    (Laplace(4), -MP.expm1(-MP.mpf(1) / 8), MP.mpf(1) / 4 + MP.expm1(-MP.mpf(1) / 4)),
    (RandomizedResponse("501/1000"), MP.mpf("0.002"), MP.mpf("0.002") * MP.log(MP.mpf(501) / 499)),
]


@pytest.mark.parametrize(("m", "variation", "kl"), KNOWN)
def test_the_bound_is_that_of_the_divergence_and_above_the_total_variation(m, variation, kl):
    found = m.delta(0, conversion=NAME)
    assert abs(independent.fraction(bound(kl)) / upper(found) - 1) < F(1, 10**25)
    assert independent.fraction(variation) < upper(found)
    assert upper(m.delta(0)) <= upper(found)
    above = found.delta.rounded_up(20)
    assert m.epsilon(above).epsilon.upper == 0
    assert m.epsilon(above, conversion=NAME).epsilon.upper == 0
    below = F(above) * F(999, 1000)
    with pytest.raises(OrderError, match="order 1 gives no answer at delta"):
        m.epsilon(below, conversion=NAME)


def test_pinsker_is_all_but_attained_by_an_answer_that_hardly_differs():
    m = RandomizedResponse("501/1000")
    assert F("0.002") < upper(m.delta(0)) < F("0.00200001")


@examples(50, 200)
@given(st.fractions(0, 1, max_denominator=10**4), st.fractions(0, 1, max_denominator=10**4))
def test_no_pair_of_laws_has_more(first, second):
    a, b = (min(max(x, F(1, 10**7)), 1 - F(1, 10**7)) for x in (first, second))
    if a != b:
        found = DistributionPair([a, 1 - a], [b, 1 - b]).delta(0, digits=12)
        assert abs(a - b) <= upper(found)


@examples(50, 200)
@given(st.lists(st.integers(1, 1000), min_size=2, max_size=5), st.fractions(3, 20))
@example([500, 501], F(3))
@example([500, 501], F(20))
def test_two_orders_of_a_pair_bound_its_divergence_from_below(counts, order):
    """E_P[log p/q] by the definition; a law and its mirror image are one pair both ways round."""
    law = [F(n, sum(counts)) for n in counts]
    found = divergence_lower_bound(Accountant().curve(DistributionPair(law, law[::-1])), order)
    numbers = [independent.number(MP, p) for p in law]
    true = sum(p * MP.log(p / q) for p, q in zip(numbers, numbers[::-1], strict=True))
    if true:
        assert 0 < MP.mpf(found.lower().str(30, radius=False)) <= true * (1 + MP.mpf(10) ** -12)


def test_the_order_1_is_asked_only_where_larger_ones_do_not_decide():
    asked = set()
    m = Curve(
        lambda ctx, alpha: asked.add(round(float(alpha), 9)) or alpha / 50,
        kind="exact",
        adjacency="add_remove",
    )
    m.epsilon("1e-5")
    assert 2 in asked
    assert 1 not in asked
    m.epsilon("0.0995")
    assert 1 in asked


@pytest.fixture
def without():
    """The improved conversion as it is at orders above 1."""
    before = dict(conversion_register._conversions)
    conversion_register.register(replace(named("improved"), name="without", at_one=None))
    yield "without"
    conversion_register._conversions.clear()
    conversion_register._conversions.update(before)


LARGE = [*map(F, ("1/50", "1/5", "3/5"))]
NODES = st.sampled_from(["Gaussian", "Laplace", "RandomizedResponse", "DistributionPair"]).flatmap(
    lambda leaf: st.one_of(
        LEAVES[leaf],
        *(OPERATIONS[name](LEAVES[leaf]) for name in ("PoissonSubsample", "Compose")),
    )
)


@covering()
def test_between_the_truth_and_what_it_was_and_falling(without):
    @examples(3, 30)
    @given(NODES)
    def law(m):
        answers = [m.epsilon(delta, digits=8) for delta in LARGE]
        for delta, found in zip(LARGE, answers, strict=True):
            assert upper(found) <= upper(m.epsilon(delta, digits=8, conversion=without))
            assert truth(m.epsilon, delta) <= upper(found)
        values = list(map(upper, answers))
        assert values == sorted(values, reverse=True)
        answers = [m.delta(epsilon, digits=8) for epsilon in (0, F(1, 2))]
        for epsilon, found in zip((0, F(1, 2)), answers, strict=True):
            assert upper(found) <= upper(m.delta(epsilon, digits=8, conversion=without))
            assert truth(m.delta, epsilon) <= upper(found)
        values = list(map(upper, answers))
        assert values == sorted(values, reverse=True)

    def truth(ask, given):
        try:
            with limits(contour=2**24):
                exact = ask(given, digits=5, conversion="exact")
        except SymacctError:
            return 0
        return independent.fraction(exact.asked.lower)

    law()


@given(st.fractions(F(1, 10**9), 40, max_denominator=10**9), st.integers(30, 120))
def test_few_bits_enclose_the_bound(kl, bits):
    with precision(bits):
        ball = 2 * total_variation.log_delta(BALL, BALL.number(kl), BALL.number(1), None)
        ends = [MP.mpf(x.mid().str(40, radius=False)) for x in (ball.lower(), ball.upper())]
    true, slack = 2 * MP.log(bound(independent.number(MP, kl))), MP.mpf(10) ** -30
    assert ends[0] - slack <= true <= ends[1] + slack


def test_the_mean_of_equal_laws_is_0():
    assert DistributionPair(["1/4", "3/4"], ["1/4", "3/4"]).delta(0).delta.upper == 0


def test_delta_that_is_the_bound_itself_is_not_decided():
    """√(KL/2) of Gaussian(5) is 1/10: balls cannot tell, and nothing is called the best."""
    with pytest.raises(PrecisionError, match="cannot be told from delta = 1/10"):
        Gaussian(5).epsilon("1/10", conversion=NAME)
    found = Gaussian(5).epsilon("1/10", conversion="improved")
    assert (found.conversion, found.optimal) == ("improved", False)
    assert Gaussian(5).epsilon("0.1000001", conversion="improved").epsilon.upper == 0


def test_classic_and_listed_orders_do_without():
    assert STEP.epsilon("0.01", conversion="classic").conversion == "classic"
    assert STEP.epsilon("0.01", orders=[8, 14, 32]).conversion == "improved"
    assert STEP.epsilon("0.01", orders="integer").conversion == NAME
    with pytest.raises(DomainError, match="reads the order 1 alone"):
        STEP.delta(0, conversion=NAME, orders=[2])


def test_it_is_cited_and_compared():
    found = STEP.delta(0, conversion="improved")
    assert "Lemma total-variation (conversions.md)" in found.cite()
    assert "CKS20" not in found.cite()
    rows = {row.name: row.epsilon for row in compare_epsilon(STEP, "0.01", 8)}
    assert rows[NAME].upper == rows["improved"].upper == 0
    rows = {row.name: row.epsilon for row in compare_epsilon(STEP, "1e-5", 8)}
    assert "order 1 gives no answer" in rows[NAME]
