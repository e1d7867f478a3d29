"""A message names the place of a fault: good inputs, damaged."""

import re

import pytest

import symacct
from symacct import (
    DistributionPair,
    DomainError,
    Gaussian,
    Laplace,
    ParseError,
    laws,
    parse,
)
from symacct.text import parse_open
from tests import command_lines

#: The expressions of the good command lines, and some with more in them.
GIVEN = {word for words in command_lines.GOOD.values() for word in words}
EXPRESSIONS = [
    *sorted(word for word in GIVEN if re.fullmatch(r"[A-Z]\w*\(.*\)", word)),
    "3*Gaussian(5) + Laplace(1/2)",
    "1000*PoissonSubsample(Gaussian(5), 1/100) + 2*Laplace(3)",
    "GroupPrivacy(600000*PoissonSubsample(Gaussian(5), 1/1000), 4)",
    "n*PoissonSubsample(Gaussian(sigma), gamma)",
    "Compose(Gaussian(5), 20*RandomizedResponse(3/4))",
    "DistributionPair(laws.Normal(0, 4), laws.Normal(1, 4))",
]


def without(text, place, put=""):
    return text[:place] + put + text[place + 1 :]


def places(text, sign):
    return [place for place, one in enumerate(text) if one == sign]


def damaged():
    """(the expression, it with one fault)."""
    for text in EXPRESSIONS:
        for sign in "()":
            for place in places(text, sign):
                yield text, without(text, place)
        for place in places(text, "*"):
            yield text, without(text, place)
            yield text, without(text, place, " ")
        for counted in (f"1000*({text})", f"60000*({text})"):
            yield counted, counted.replace("000*", ",000*", 1)
            yield counted, counted.replace("*", "×", 1)
        yield f"1e5*({text})", f"10^5 ({text})"
        if "1/100)" in text:
            yield text, text.replace("1/100)", "1%)")
            yield text.replace("1/100)", "0.004)"), text.replace("1/100)", "0.4%)")
            yield text.replace("1/100)", "0.01)"), text.replace("1/100)", "0,01)")
            yield text.replace("1/100)", "1e-5)"), text.replace("1/100)", "10-5)")


@pytest.mark.parametrize("bad", sorted({bad for _, bad in damaged()}))
def test_a_damaged_expression_is_told_where_it_is_wrong(bad):
    with pytest.raises((ParseError, DomainError)) as caught:
        parse_open(bad)
    message = str(caught.value)
    assert re.match(r"(column \d+|\w+(, [\w ]+)?): found ", message), message
    assert ", needed " in message or "; did you mean " in message


G, L = Gaussian(5), Laplace(3)
OPERATORS = {
    "Gaussian(5)*Laplace(3)": lambda: G * L,
    "Gaussian(5)**2": lambda: G**2,
    "Gaussian(5)/2": lambda: G / 2,
    "2/Gaussian(5)": lambda: 2 / G,
    "Gaussian(5)/Laplace(3)": lambda: G / L,
    "Gaussian(5) + 2": lambda: G + 2,
    "2 + Gaussian(5)": lambda: 2 + G,
    "Gaussian(5) - Laplace(3)": lambda: G - L,
    "1 - Gaussian(5)": lambda: 1 - G,
    "2**Gaussian(5)": lambda: 2**G,
}


@pytest.mark.parametrize("text", [*OPERATORS, "Gaussian(5)^2"])
def test_arithmetic_that_mechanisms_do_not_have_is_refused_where_it_stands(text):
    place = min(text.index(sign) for sign in "*/+-^" if sign in text)
    with pytest.raises(ParseError, match=rf"^column {place + 1}: found a mechanism at .*, needed "):
        parse(text)


@pytest.mark.parametrize("text", OPERATORS)
def test_arithmetic_that_mechanisms_do_not_have_is_a_type_error_in_python(text):
    with pytest.raises(TypeError, match="unsupported operand"):
        OPERATORS[text]()


def test_guarantees_are_not_added():
    epsilon = G.epsilon("1e-5", digits=5)
    for compute in (lambda: epsilon + epsilon, lambda: 2 * epsilon, lambda: sum([epsilon])):
        with pytest.raises(TypeError, match="unsupported operand"):
            compute()


def test_noise_of_no_name_is_told_how_to_write_its_density():
    for wrong in ("Logistic(5)", "laws.Logistic(5)", "Gamma(5, 2)", "Cauchy(2)"):
        with pytest.raises(ParseError, match=r"needed .*laws\.Density\('") as caught:
            parse(wrong)
        pair = re.search(r"DistributionPair\(.*\)$", str(caught.value))
        if pair is not None:
            assert isinstance(parse(pair[0]), DistributionPair)
    with pytest.raises(AttributeError, match=r"found the name 'Logistic', .*laws\.Density\('"):
        _ = laws.Logistic
    with pytest.raises(ParseError, match=r"did you mean laws\.Normal\?$"):
        parse("DistributionPair(laws.Norm(0, 1), laws.Normal(1, 1))")


def test_discrete_noise_on_a_vector_is_told_its_zcdp():
    """For (1, 1), Δ² = 2: of two entries of sensitivity 1 the sum is ρ = 1/25 at whole orders."""
    with pytest.raises(DomainError, match=r"is ZCDP\(Δ²/\(2σ²\)\)$"):
        parse("DiscreteGaussian(5, sqrt(2))")
    two, told = 2 * symacct.DiscreteGaussian(5), symacct.ZCDP("1/25")
    for alpha in (2, 7, "5/2"):
        assert two.rdp(alpha).lower <= told.rdp(alpha).upper
