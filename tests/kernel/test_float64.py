"""The log-domain float64 numbers against mpmath: right to about 12 digits, out of range too."""

import math

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Accountant,
    Curve,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    RandomizedResponse,
    SubsampleWithoutReplacement,
)
from symacct.kernel.answer import float_above
from symacct.kernel.arithmetic import FLOAT64, LogNumber
from tests.thinning import examples

TOLERANCE = 1e-12
signs = st.sampled_from([-1.0, 0.0, 1.0])
logs = st.floats(-900, 900, allow_nan=False)


@st.composite
def numbers(draw, sign=signs, log=logs):
    s = draw(sign)
    return LogNumber(s, draw(log) if s else -np.inf)


def exact(x):
    """The number for mpmath, which has no range to leave."""
    if float(x.sign) == 0:
        return mpmath.mpf(0)
    return mpmath.mpf(float(x.sign)) * mpmath.exp(mpmath.mpf(float(x.log)))


def near(found, wanted, scale=None):
    """Equal to the tolerance, relative to the scale of what was added."""
    with mpmath.workdps(60):
        error = abs(exact(found) - wanted)
        # The logarithm is a float64: its last bit is a relative error of its size.
        size = 1 + abs(float(found.log)) if float(found.sign) else 1
        return error <= TOLERANCE * size * (scale if scale is not None else abs(wanted))


@given(numbers(), numbers())
@examples(60, 200)
def test_sums_differences_products_and_quotients(a, b):
    with mpmath.workdps(60):
        x, y = exact(a), exact(b)
        assert near(a + b, x + y, max(abs(x), abs(y)))
        assert near(a - b, x - y, max(abs(x), abs(y)))
        assert near(a * b, x * y)
        if y:
            assert near(a / b, x / y)
        assert float((a - a).sign) == 0


@given(numbers(), st.integers(0, 9))
@examples(30, 100)
def test_whole_powers_keep_the_sign(a, n):
    with mpmath.workdps(60):
        assert near(a**n, exact(a) ** n)


@given(numbers(log=st.floats(-900, 6.5)))
@examples(60, 200)
def test_expm1_and_exp_without_cancellation(a):
    with mpmath.workdps(400):
        x = exact(a)
        assert near(FLOAT64.expm1(a), mpmath.expm1(x))
        assert near(FLOAT64.exp(a), mpmath.exp(x))


@given(numbers(sign=st.sampled_from([-1.0, 1.0]), log=st.floats(-900, 900)))
@examples(60, 200)
def test_log1p_without_cancellation(a):
    if float(a.sign) < 0 and float(a.log) >= -1e-3:
        return
    with mpmath.workdps(900):
        assert near(FLOAT64.log1p(a), mpmath.log1p(exact(a)))


@given(numbers(sign=st.just(1.0)))
def test_logarithms_and_roots(a):
    with mpmath.workdps(60):
        found = FLOAT64.log(a)
        wanted = mpmath.log(exact(a))
        assert abs(exact(found) - wanted) <= TOLERANCE * max(1, abs(wanted))
        assert near(FLOAT64.sqrt(a), mpmath.sqrt(exact(a)))


def test_the_logarithm_of_a_negative_number_is_an_error():
    with pytest.raises(ArithmeticError, match="negative"):
        FLOAT64.log(LogNumber.of(-1.0))


def test_of_a_root_of_a_negative_number_nothing_is_known():
    negative = LogNumber.of(-2.0)
    for root in (FLOAT64.sqrt(negative), negative**0.5, FLOAT64.power(negative, 1.5)):
        assert math.isnan(root.known())
    assert float((negative**3).known()) == pytest.approx(-8)


@pytest.mark.parametrize("n", [0, 1, -1, 7, 10**20, -(10**400), 2**5000, 3**3000])
def test_whole_numbers_of_any_size(n):
    found = LogNumber.of(n)
    assert float(found.sign) == np.sign(n) if n == 0 or abs(n) < 10**300 else float(found.sign)
    if n:
        with mpmath.workdps(60):
            assert abs(float(found.log) - float(mpmath.log(abs(n)))) <= 1e-15 * float(
                found.log or 1
            )


def test_infinities_and_zeros_stay_what_they_are():
    inf, zero, one = FLOAT64.number(math.inf), FLOAT64.number(0), FLOAT64.number(1)
    assert float((inf + one).value()) == math.inf
    assert float((inf + inf).value()) == math.inf
    assert float((one - inf).value()) == -math.inf
    assert float((zero + zero).value()) == 0
    assert float((zero * one).value()) == 0
    assert float((one / inf).value()) == 0
    assert FLOAT64.is_infinite(inf)
    assert not FLOAT64.is_infinite(one)
    assert FLOAT64.is_zero(zero)
    assert float((zero**0).value()) == 1
    assert float(FLOAT64.minimum(one, inf, zero).value()) == 0
    assert float(FLOAT64.maximum(one, zero).value()) == 1


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("extreme", ["minimum", "maximum"])
def test_the_extreme_of_two_numbers_that_overlap_allows_for_both(sign, extreme):
    """With errors of their logarithms, ±e^{1±.1} and ±e^{.99±.2}: the ends are those of both."""
    first, second = LogNumber(sign, 1.0, 0.1), LogNumber(sign, 0.99, 0.2)
    found = getattr(FLOAT64, extreme)(first, second)
    pick = min if extreme == "minimum" else max
    ends = [pick(sign * math.exp(a), sign * math.exp(b)) for a in (0.9, 1.1) for b in (0.79, 1.19)]
    lengths = [math.log(abs(end)) for end in ends]
    assert float(found.sign) == sign
    assert float(found.log - found.error) <= min(lengths) + 1e-12
    assert float(found.log + found.error) >= max(lengths) - 1e-12


def test_constants_in_every_arithmetic():
    curve = Curve(
        sympy.pi + sympy.E + sympy.sqrt(2) + sympy.Abs(-sympy.log(3)),
        kind="upper",
        adjacency="either",
    )
    value = float(mpmath.pi + mpmath.e + mpmath.sqrt(2) + mpmath.log(3))
    for engine in ("ball", "mpmath", "float64"):
        answer = Accountant(engine=engine).rdp(curve, 5)
        assert float(answer) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "node",
    [
        Gaussian("1/20"),
        PoissonSubsample(Gaussian("1/20"), "1/3"),
        PoissonSubsample(Gaussian(500), "1e-6"),
        PoissonSubsample(Laplace("1/30"), "1e-3"),
        PoissonSubsample(RandomizedResponse("1e-9"), "1e-9"),
        10**9 * PoissonSubsample(Gaussian(50), "1e-4"),
        PoissonSubsample(PoissonSubsample(Gaussian(2), "1/5"), "1/7"),
    ],
    ids=repr,
)
def test_hard_cases_agree_with_balls(node):
    sure, quick = Accountant(20), Accountant(engine="float64")
    for alpha in (2, 3, 17, 64, 400):
        value = float(sure.rdp(node, alpha))
        assert float(quick.rdp(node, alpha)) == pytest.approx(value, rel=1e-10, abs=0)


def test_what_cannot_be_computed_bounds_nothing():
    """The two integrals have too many nodes for float64."""
    m = SubsampleWithoutReplacement(Gaussian("1/30"), "1/10")
    lower, upper = (
        m.rdp([5.0, 300.0], by=f"TRIPLE-GAUSSIAN-{side}", engine="float64")
        for side in ("LOWER", "UPPER")
    )
    assert lower.tolist() == [0, 0]
    assert upper.tolist() == [math.inf, math.inf]


def test_an_answer_in_float64_is_no_proof():
    answer = Accountant(engine="float64").rdp(Gaussian(5), 2)
    assert not answer.certified
    assert not answer.claim.certified
    assert answer.claim.kind is Kind.EXACT
    assert float_above(answer.upper) == float(answer)
