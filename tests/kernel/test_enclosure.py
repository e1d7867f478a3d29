"""An enclosure rounds outwards, prints only what is proved, and compares only what is decided."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symacct import Claim, Enclosure, Gaussian, Kind, Laplace, PrecisionError, PureDP
from symacct.kernel.answer import (
    exact_decimal,
    float_above,
    float_below,
    format_down,
    format_shared,
    format_up,
    from_ball,
    to_fraction,
)
from tests.independent import fraction
from tests.thinning import examples

EXACT, UPPER, LOWER = Claim(Kind.EXACT), Claim(Kind.UPPER), Claim(Kind.LOWER)


def mpf(mantissa, power):
    return mpmath.mp.make_mpf(mpmath.libmp.from_man_exp(mantissa, power))


@st.composite
def balls(draw, claims=(EXACT, UPPER, LOWER)):
    """Two ends of up to 200 bits, near each other or not, of any size."""
    low = draw(st.integers(0, 2 ** draw(st.integers(1, 200))))
    width = draw(st.one_of(st.just(0), st.integers(0, 2 ** draw(st.integers(1, 200)))))
    power = draw(st.integers(-400, 200))
    digits = draw(st.integers(1, 60))
    claim = draw(st.sampled_from(claims))
    return Enclosure(mpf(low, power), mpf(low + width, power), claim, True, digits)


def ends(ball):
    return fraction(ball.lower), fraction(ball.upper)


def last_digit(text):
    """The weight of the last digit printed."""
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return Fraction(10) ** (int(exponent or 0) - decimals)


@given(balls())
@examples(80, 300)
def test_every_printed_digit_is_shared_by_both_ends(ball):
    text, (low, high) = str(ball), ends(ball)
    if text.startswith("["):
        below, above = (Fraction(part) for part in text.strip("[]").split(", "))
        assert below <= low <= high <= above
        return
    value, step = Fraction(text), last_digit(text)
    truncated = all(value <= end < value + step for end in (low, high))
    nearest = all(abs(end - value) <= step / 2 for end in (low, high))
    assert truncated or nearest or (low == high == value)
    digits = text.partition("e")[0].replace(".", "").lstrip("0")
    assert len(digits) <= ball.digits_asked


@given(balls())
@examples(80, 300)
def test_as_many_digits_are_printed_as_the_ends_share(ball):
    text, (low, high) = str(ball), ends(ball)
    if text.startswith("[") or low == 0:
        return
    digits = len(text.partition("e")[0].replace(".", "").lstrip("0"))
    if digits < ball.digits_asked:
        step = last_digit(text) / 10
        assert math.floor(low / step) != math.floor(high / step)
        assert round_half_up(low / step) != round_half_up(high / step)


def round_half_up(x):
    return math.floor(x + Fraction(1, 2))


@given(balls())
@examples(80, 300)
def test_float_rounds_in_the_sound_direction(ball):
    low, high = ends(ball)
    value = float(ball)
    if ball.claim.kind is Kind.LOWER:
        assert Fraction(value) <= low
        assert low < Fraction(math.nextafter(value, math.inf))
    else:
        assert Fraction(value) >= high
        assert value == 0 or high > Fraction(math.nextafter(value, -math.inf))


@pytest.mark.parametrize("precision", [5, 20, 53, 400])
@given(ball=balls())
@examples(15, 60)
def test_float_does_not_depend_on_mpmath_s_precision(precision, ball):
    plain = float(ball), str(ball), ball.digits
    with mpmath.workprec(precision):
        assert (float(ball), str(ball), ball.digits) == plain


def test_floats_out_of_range_round_outwards():
    huge, tiny = Gaussian("1e-200").rdp(2), Gaussian("1e200").rdp(2)
    assert float(huge) == math.inf
    assert float(tiny) == 5e-324
    assert float(Enclosure(huge.lower, huge.upper, LOWER)) == 1.7976931348623157e308
    assert float(Enclosure(tiny.lower, tiny.upper, LOWER)) == 0.0
    assert float(PureDP(0).rdp(2)) == 0.0


def leading_digits(value, digits, offset):
    """(exponent, ⌊value·10^(digits−1−exponent) + offset⌋) of value > 0 by fractions alone."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    exponent -= Fraction(10) ** exponent > value
    whole = math.floor(value * Fraction(10) ** (digits - 1 - exponent) + offset)
    return (exponent + 1, whole // 10) if whole == 10**digits else (exponent, whole)


def as_fraction(exponent, leading, digits):
    return leading * Fraction(10) ** (exponent - digits + 1)


@st.composite
def near_ties(draw):
    """Positive numbers of few decimal digits, ties and their neighbours among them, and any."""
    decimals = draw(st.integers(1, 10**12)) * 10 ** draw(st.integers(0, 30)) + draw(
        st.integers(-1, 1)
    )
    shift = draw(st.integers(-40, 40))
    fives = 5 ** draw(st.integers(0, 40))
    return draw(
        st.sampled_from(
            [(max(decimals, 1), 0), (max(decimals, 1), -1), (fives, shift), (fives + 1, shift)]
        )
    )


@given(near_ties(), st.integers(0, 3), st.integers(1, 45))
@examples(80, 300)
def test_decimals_are_those_of_exact_fractions(number, width, digits):
    mantissa, power = number
    low, high = mpf(mantissa, power), mpf(mantissa + width, power)
    values = [end * Fraction(2) ** power for end in (mantissa, mantissa + width)]
    down = leading_digits(values[0], digits, 0)
    up = leading_digits(values[1], digits, 1 - Fraction(1, 10**200))  # a ceiling
    assert Fraction(format_down(low, digits)) == as_fraction(*down, digits)
    assert Fraction(format_up(high, digits)) == as_fraction(*up, digits)
    shared = [
        as_fraction(*leading_digits(values[0], count, offset), count)
        for count in range(digits, 0, -1)
        for offset in (0, Fraction(1, 2))
        if len({leading_digits(value, count, offset) for value in values}) == 1
    ]
    text = format_shared(low, high, digits)
    assert text.startswith("[") == (not shared)
    if shared:
        assert Fraction(text) == shared[0]
        minus = mpf(-mantissa - width, power), mpf(-mantissa, power)
        assert format_shared(*minus, digits) == "-" + text


@given(
    st.integers(-(10**20), 10**20), st.integers(0, 70), st.integers(0, 70), st.sampled_from([1, 3])
)
@examples(80, 300)
def test_a_number_is_its_decimal_where_it_has_sixty_places_or_fewer(top, twos, fives, other):
    number = Fraction(top, 2**twos * 5**fives * other)
    text = exact_decimal(number)
    assert (text is not None) == ((number * 10**60).denominator == 1)
    if text is not None:
        assert Fraction(text) == number


@pytest.mark.parametrize("power", [10**15, -(10**15), 3 * 10**6, -(10**6)])
def test_numbers_of_any_size_are_printed_from_as_few_bits_as_show(power):
    """2^power has up to 3·10^14 digits; its logarithm, by mpmath, gives the leading ones."""
    x = mpf(1, power)
    with mpmath.workdps(60):
        exponent = mpmath.floor(power * mpmath.log10(2))
        leading = mpmath.power(10, power * mpmath.log10(2) - exponent)
        cut = int(mpmath.floor(leading * mpmath.mpf(10) ** 19))
    for text, digit in (
        (format_down(x, 20), 0),
        (format_up(x, 20), 1),
        (format_shared(x, x, 20), 0),
    ):
        mantissa, _, shown = text.partition("e")
        assert int(shown) == exponent
        assert int(mantissa.replace(".", "").ljust(20, "0")) == cut + digit
    assert Enclosure(x, mpf(2**40 + 1, power - 40), EXACT).digits == 12
    far = sorted((x, mpf(1, -power)))
    assert str(Enclosure(*far, EXACT)) == f"[{format_down(far[0], 3)}, {format_up(far[1], 3)}]"


def test_negative_numbers_out_of_range_round_outwards():
    huge, tiny = mpf(-1, 5000), mpf(-1, -5000)
    assert float_above(huge) == -1.7976931348623157e308
    assert float_below(huge) == -math.inf
    assert (float_below(tiny), float_above(tiny)) == (-5e-324, 0.0)
    assert format_up(mpmath.ninf, 5) == format_down(mpmath.ninf, 5) == "-inf"


@given(balls(), balls())
@examples(50, 200)
def test_comparisons_are_those_of_all_points_or_undecided(a, b):
    (low_a, high_a), (low_b, high_b) = ends(a), ends(b)
    checks = [
        (lambda: a < b, high_a < low_b, low_a >= high_b),
        (lambda: a <= b, high_a <= low_b, low_a > high_b),
        (lambda: a > b, low_a > high_b, high_a <= low_b),
        (lambda: a >= b, low_a >= high_b, high_a < low_b),
    ]
    for ask, yes, no in checks:
        if yes or no:
            assert ask() is yes
        else:
            with pytest.raises(PrecisionError, match=r"cannot decide.*more digits"):
                ask()


@given(balls(), st.fractions(0, 2))
@examples(30, 100)
def test_comparisons_with_exact_numbers(a, share):
    low, high = ends(a)
    x = low + share * (high - low) + (share - 1 if low == high else 0)
    if high < x:
        assert a < x
        assert not a >= x
    elif low > x:
        assert a > x
        assert not a <= x
    elif low < x < high:
        for ask in (lambda: a < x, lambda: a <= x, lambda: a > x, lambda: a >= x):
            with pytest.raises(PrecisionError):
                ask()


def test_everything_finite_is_below_infinity():
    eps = Gaussian(5).rdp(2)
    assert eps < "inf"
    assert eps < math.inf
    assert not eps >= mpmath.inf
    assert Gaussian(5).rdp("inf") >= math.inf


@pytest.mark.parametrize(
    ("ball", "signed", "low", "text"),
    [
        (arb.nan(), False, 0.0, "[0, inf]"),
        (arb.nan(), True, -math.inf, "[-inf, inf]"),
        (arb(0, "inf"), True, -math.inf, "[-inf, inf]"),
        (arb("inf"), False, math.inf, "inf"),
        (arb("-inf"), True, -math.inf, "-inf"),
    ],
)
def test_what_a_ball_does_not_know_its_enclosure_does_not_know(ball, signed, low, text):
    enclosure = from_ball(ball, LOWER, 5, True, signed)
    assert float(enclosure) == low  # no lower bound is ∞ for want of digits
    assert str(enclosure) == text


def test_digits_say_how_many_are_proved():
    for digits in (1, 7, 30, 500):
        eps = Laplace(3).rdp(2, digits=digits)
        low, high = ends(eps)
        assert digits <= eps.digits <= digits + 25
        assert (high - low) * 10 ** int(eps.digits) <= low
        assert len(str(eps).replace(".", "").lstrip("0")) == digits
    assert PureDP("1/2").rdp("inf").digits == math.inf
    assert Enclosure(mpf(1, 0), mpf(2, 0), EXACT).digits == 0
    assert Enclosure(mpf(0, 0), mpf(1, -500), EXACT).digits == 0


@pytest.mark.parametrize("sigma", ["8/7", "5", "1/2", "4"])
def test_a_value_with_few_bits_has_all_digits_too(sigma):
    """α/(2σ²) is a short binary fraction here, and the enclosure is tight all the same."""
    for digits in (30, 100, 1000):
        eps = Gaussian(sigma).rdp("3/2", digits=digits)
        low, high = ends(eps)
        assert low <= Fraction(3, 4) / Fraction(sigma) ** 2 <= high
        assert eps.digits >= digits


@pytest.mark.parametrize("digits", [-1, 0, 10**7])
@pytest.mark.parametrize("way", ["rounded", "rounded_up", "rounded_down"])
def test_no_number_is_rounded_to_a_count_of_digits_that_is_none(way, digits):
    for number in (Gaussian(3).rdp(2), Gaussian(3).epsilon("1e-5", digits=6).epsilon):
        with pytest.raises(PrecisionError):
            getattr(number, way)(digits)


def test_json_of_an_answer_is_rounded_outwards():
    eps = Laplace(3).rdp(2)
    document = eps.as_dict()
    low, high = ends(eps)
    assert Fraction(document["lower"]) <= low <= high <= Fraction(document["upper"])
    assert Fraction(document["upper"]) - Fraction(document["lower"]) < Fraction(1, 10**30)
    assert document["certified"] is True
    assert document["claim"]["kind"] == "exact"
    assert Gaussian(5).rdp("inf").as_dict()["upper"] == "inf"


def test_a_guarantee_is_shown_rounded_up_with_its_order_and_conversion():
    guarantee = Laplace(3).epsilon("1e-5", orders=[2, 8, 30, 99])
    assert guarantee.asked is guarantee.epsilon
    shown = Fraction(str(guarantee).split(",")[0].strip("("))
    assert shown >= fraction(guarantee.epsilon.upper)
    document = guarantee.as_dict()
    assert (document["delta"], document["conversion"]) == ("1/100000", "improved")
    assert document["alpha"] == str(guarantee.alpha) == "99"


def test_what_no_order_gave_names_none():
    for m in (Laplace(3), Gaussian(5), PureDP(1)):
        guarantee = m.epsilon("1e-5", conversion="exact")
        assert guarantee.as_dict()["alpha"] is guarantee.as_dict()["optimal"] is None
        assert guarantee.as_dict()["claim"]["orders"] is None
        assert "order" not in f"{guarantee!r} {guarantee.epsilon!r}"


def test_an_enclosure_cannot_be_changed():
    eps = Gaussian(5).rdp(2)
    with pytest.raises(AttributeError):
        eps.upper = 0


@pytest.mark.parametrize("power", [400, 5000])
def test_a_guarantee_of_any_size_is_printed(power):
    stated = Fraction(1, 10**power)
    m, how = Gaussian(5), {"digits": 5, "conversion": "improved"}
    for found in (m.epsilon(stated, **how), m.delta(1 / stated, **how)):
        assert repr(found).startswith(f"Guarantee: {found}\n")
        assert found.statement()
        assert "order" in str(found)
    assert f"1e-{power})-DP" in str(m.epsilon(stated, **how))
    assert "at order 1.000e400 " in str(replace(m.epsilon("1e-5", **how), alpha=10**400))


@pytest.mark.parametrize("text", ["inf", "-inf", "nan"])
def test_what_is_no_number_is_no_fraction(text):
    """Of mpmath's ∞ the mantissa is 0."""
    with pytest.raises(OverflowError, match="needed a finite number"):
        to_fraction(mpmath.mpf(text))


def test_a_bound_names_the_question_that_may_give_less():
    m = Gaussian(2)
    epsilon, delta = (ask("0.125", conversion="classic") for ask in (m.epsilon, m.delta))
    assert epsilon.may_be_less == "m.epsilon('0.125') may give a smaller ε"
    assert delta.may_be_less == "m.delta('0.125') may give a smaller δ"
    assert m.epsilon("0.125").may_be_less == ""
