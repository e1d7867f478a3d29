"""No prose of ours has a fraction of long whole numbers in it where something shorter is true."""

import re
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symacct import Gaussian, PoissonSubsample, PureDP, binary, truncated_poisson
from symacct.export.description import describe, value
from symacct.interop import from_opacus_history
from symacct.kernel.errors import DomainError, echo, in_few_digits
from tests.thinning import examples

_LONG_FRACTION = re.compile(r"\d{10,}/\d|\d/\d{10,}|\d{10,}\*")
_ROOT = sympy.sqrt(2)


@given(st.fractions(min_value=0, max_value=10**6, max_denominator=10**40))
@examples(60, 2000)
def test_a_number_in_prose_is_short_and_true(x):
    said = value(x)
    assert not _LONG_FRACTION.search(said)
    assert not _LONG_FRACTION.search(echo(x))
    if said.startswith("≈ "):
        assert abs(Fraction(said[2:]) - x) <= x / 10**5 / 2
    else:
        assert Fraction(said) == x


@given(st.floats(min_value=2.0**-60, max_value=2.0**60))
@examples(60, 2000)
def test_the_float_that_is_named_is_the_float(x):
    said = value(binary(x))
    bits, mark, _ = said.partition(" (as float64)")
    assert Fraction(float(bits) if mark else bits) == Fraction(x)


def test_a_decimal_that_was_typed_is_not_called_a_float():
    assert value(Fraction("0.12345678901234567")) == "0.12345678901234567"
    assert in_few_digits(Fraction("1.23e-20")) == "1.23e-20"


@pytest.mark.parametrize(
    "m",
    [
        from_opacus_history([(1.1, 1 / 235, 3525)]),
        truncated_poisson(Gaussian("1.1"), "0.004", 60_000, 300),
        PureDP(Fraction(10**12 + 1, 3 * 10**12)),
        Gaussian(sympy.Rational(10**20 + 1, 3 * 10**19) * _ROOT),
        PoissonSubsample(Gaussian(2), "123456789123/900000000000"),
    ],
    ids=repr,
)
def test_what_was_run_is_said_in_few_digits(m):
    shown = f"{describe(m)} {describe(3 * m + Gaussian(5))}"
    assert not _LONG_FRACTION.search(shown)
    assert "= ≈" not in shown


def test_an_error_has_no_long_fraction():
    with pytest.raises(DomainError) as caught:
        from_opacus_history([(1 / 235, 1.1, 3525)])
    assert not _LONG_FRACTION.search(str(caught.value))
