"""Certificates for Coq: their text, and coqc's verdict on true and on false ones where coqc is."""

import re
from fractions import Fraction

import mpmath
import pytest

from symacct import (
    ZCDP,
    Gaussian,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    parse,
)
from symacct.evidence.certificates.coq import comment, coq
from symacct.kernel.errors import DomainError
from tests.coq import AXIOMS, LISTED, MISSING, axioms, compile_library, judged, lowered
from tests.thinning import covering

NAMES = [example.name for example in LISTED]
named = {example.name: example for example in LISTED}
with_coqc = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
GRID = "ignore::symacct.kernel.errors.OrderGridWarning"


UNPROVED = {"Axiom", "Parameter", "Hypothesis", "Variable", "Admitted", "admit", "Abort"}


def without_comments(text):
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)


def defined(text, name):
    """The value of a definition of a real number, exactly."""
    (value,) = re.findall(rf"Definition {name} : R := \(?([\d/ ]+)\)?\.", text)
    return Fraction(value.replace(" ", ""))


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_are_what_is_written_today(name):
    assert named[name].text() == named[name].file()


@pytest.mark.parametrize("name", NAMES)
def test_a_file_admits_nothing_and_assumes_nothing(name):
    """Every hypothesis is the library's `published`, which finite laws do not have."""
    text = without_comments(named[name].file())
    words = set(re.findall(r"\b[A-Za-z]\w*", text))
    assert not words & UNPROVED
    assert text.count("Proof.") == text.count("Qed.") == len(re.findall("Lemma|Theorem", text))
    assert ("published" in words) == (named[name].form != "finite")
    form = {"whole": "whole expression", "real": "costs alpha expression", "finite": "protects"}
    assert form[named[name].form] in text


@pytest.mark.parametrize("name", NAMES)
def test_the_claim_is_the_answer_rounded_up_and_no_more(name):
    """By plain mpmath: the sum of what the file says parts cost, or the curve, is below ε."""
    example = named[name]
    asked = parse(example.expression).epsilon("1e-5", **{"conversion": "improved"} | example.how)
    claimed = defined(example.file(), "epsilon")
    assert Fraction(str(asked.epsilon.rounded_up(6))) == claimed
    assert defined(example.file(), "delta") == Fraction(1, 10**5)
    if example.form == "real":
        with mpmath.workdps(30):
            alpha = defined(example.file(), "alpha")
            total = re.findall(r"Definition total : R := (.*)\.\n", example.file())[0]
            costs = re.findall(r"(?:(\d+) \* )?cost_(\d+)", total)
            spent = sum(int(n or 1) * defined(example.file(), f"cost_{i}") for n, i in costs)
            a, log_delta = mpmath.mpf(alpha.numerator) / alpha.denominator, mpmath.log("1e-5")
            added = {
                "classic": -log_delta / (a - 1),
                "improved": mpmath.log((a - 1) / a) - (log_delta + mpmath.log(a)) / (a - 1),
            }[example.how.get("conversion", "improved")]
            left = mpmath.mpf(claimed.numerator) / claimed.denominator - added
            assert mpmath.mpf(spent.numerator) / spent.denominator < left


def test_a_sum_at_a_whole_order_is_true_and_false_once_lowered():
    """The paper's sum by plain mpmath lies between the lowered claim and the claim."""
    text = named["sampled_gaussian"].file()
    (n,) = re.findall(r"whole expression (\d+) \+ improved \1 delta <= epsilon", text)
    a = int(n)
    with mpmath.workdps(30):
        q, sigma = mpmath.mpf(256) / 60000, mpmath.mpf(11) / 10
        moment = mpmath.fsum(
            mpmath.binomial(a, k)
            * (1 - q) ** (a - k)
            * q**k
            * mpmath.exp((k * k - k) / sigma**2 / 2)
            for k in range(a + 1)
        )
        found = 3516 * mpmath.log(moment) / (a - 1)
        found += mpmath.log(mpmath.mpf(a - 1) / a) - mpmath.log(mpmath.mpf("1e-5") * a) / (a - 1)
        low, high = (mpmath.mpf(x.numerator) / x.denominator for x in both_claims(text))
        assert low < found < high


def both_claims(text):
    return defined(lowered(text), "epsilon"), defined(text, "epsilon")


def test_lowering_takes_one_unit_of_the_sixth_digit():
    text = "Definition epsilon : R := (64057 / 50000).\nDefinition delta : R := (1 / 2).\n"
    assert defined(lowered(text), "epsilon") == Fraction("1.28113")
    small = text.replace("64057 / 50000", "12345678 / 1000000000")
    assert defined(lowered(small), "epsilon") == Fraction("0.012345678") - Fraction("1e-7")


@pytest.mark.filterwarnings(GRID)
@pytest.mark.parametrize(
    ("m", "delta", "how"),
    [
        (SubsampleWithoutReplacement(Gaussian(5), "1/9"), "1e-5", {"conversion": "improved"}),
        (PoissonSubsample(Gaussian(5), "1/9", "replace_one"), "1e-5", {"conversion": "improved"}),
        (Gaussian(5), "1e-5", {"conversion": "exact"}),
        (parse("Gaussian(sqrt(2))"), "1e-5", {"conversion": "improved"}),
        (PureDP("1/10"), "1e-60", {"conversion": "improved"}),
        (PoissonSubsample(2 * Gaussian(5), "1/9"), "1e-5", {"conversion": "improved"}),
        (PoissonSubsample(ZCDP("1/50"), "1/9"), "1e-5", {"orders": [900]}),
    ],
)
def test_what_has_no_certificate_is_said(m, delta, how):
    with pytest.raises(DomainError, match="no Coq certificate yet") as error:
        coq(m.epsilon(delta, 9, **how))
    assert "\n" not in str(error.value)


def test_a_comment_cannot_be_ended_from_within():
    assert comment('a *) Admitted. (* "b') == "a * ) Admitted. ( * 'b"


def test_a_delta_is_certified_too():
    text = coq((20 * Gaussian(10)).delta(2, conversion="improved"))
    assert defined(text, "epsilon") == 2
    asked = (20 * Gaussian(10)).delta(2, conversion="improved").delta
    assert defined(text, "delta") == Fraction(asked.rounded_up(6))


@pytest.mark.filterwarnings(GRID)
def test_a_long_sum_is_an_integral_instead():
    """At an order beyond the longest sum, laws of sampled noise are integrated."""
    text = coq(PoissonSubsample(Laplace(40), "1/9").epsilon("1e-5", orders=[400]))
    assert "laplace_integral" in text
    assert "whole expression" not in text


def test_unlike_parts_are_run_as_often_as_they_are():
    made = 3 * RandomizedResponse("3/5") + 2 * PoissonSubsample(RandomizedResponse("3/4"), "1/7")
    text = coq(made.epsilon("1e-5", conversion="improved"))
    assert "(3%positive, ((3 / 5), 1))" in text
    assert "(2%positive, ((3 / 4), (1 / 7)))" in text


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The library, compiled."""
    folder = tmp_path_factory.mktemp("coq")
    for name, verdict in compile_library(folder):
        assert verdict.accepted, f"{name}: {verdict.said}"
    return folder


def each_form(name):
    """One of each form is enough that takes a second; an integral takes ten."""
    return set() if named[name].integrates else {named[name].form}


@with_coqc
@covering(each_form)
@pytest.mark.parametrize("name", NAMES)
def test_coq_accepts_what_is_true(name, library):
    verdict = judged(name, named[name].file(), library)
    assert verdict.accepted, verdict.said


@with_coqc
@covering(each_form)
@pytest.mark.parametrize("name", NAMES)
def test_coq_refuses_the_last_digit_lowered(name, library):
    verdict = judged(f"{name}_lowered", lowered(named[name].file()), library)
    assert verdict.too_small, verdict.said


@with_coqc
@covering(lambda name: set())
@pytest.mark.parametrize("name", NAMES)
def test_a_theorem_rests_on_the_axioms_of_numbers(name, library):
    found = axioms(judged(f"{name}_audited", named[name].file(), library, audited=True).said)
    assert found
    assert not [axiom for axiom in found if not AXIOMS.fullmatch(axiom)]
