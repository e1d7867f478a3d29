"""A message names the place of a fault, and the text that would work: good inputs, damaged."""

import re

import pytest
from click.testing import CliRunner

import symacct
from symacct import (
    DistributionPair,
    DomainError,
    Gaussian,
    Laplace,
    ParseError,
    PoissonSubsample,
    SymacctError,
    laws,
    parse,
)
from symacct.cli import main
from symacct.core import mistyped
from symacct.core.exact import exact
from symacct.text import parse_open
from symacct.text.expression_reader import parse_law
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


def proposals(message):
    """The texts that a message ends with."""
    found = re.search(r"; did you mean (.*)\?$", message)
    assert found, message
    return found[1].split(" or ")


@pytest.mark.parametrize(("good", "bad"), sorted(set(damaged())))
def test_a_damaged_expression_is_told_where_and_what_would_work(good, bad):
    with pytest.raises((ParseError, DomainError)) as caught:
        parse_open(bad)
    message = str(caught.value)
    assert re.match(r"(column \d+|\w+(, [\w ]+)?): ", message), message
    meant = proposals(message)
    assert parse_open(good) in [parse_open(text) for text in meant]
    assert len(meant) <= 2


NUMBERS = {
    "1e-5": ["10-5", "10^-5", "10**-5", "1x10^-5", "1*10^-5", "1e−5", "0.001%", "1 e-5"],
    "1/100": ["1%", "1.0 %"],
    "1000": ["1,000", "1 000", "1k", "10^3"],
    "1": ["100%"],
    "0.5": ["0,5", "50%"],
}  # fmt: skip


@pytest.mark.parametrize(("good", "bad"), [(g, b) for g, bs in NUMBERS.items() for b in bs])
def test_a_mistyped_number_is_told_what_it_was_meant_to_be(good, bad):
    with pytest.raises(DomainError, match=r"^delta: found '.*', needed a number such as") as caught:
        exact(bad, "delta")
    [meant] = proposals(str(caught.value))
    assert exact(meant) == exact(good)


def mistyped_options():
    """Every good command line with one of its numbers mistyped."""
    for name, words in command_lines.GOOD.items():
        for place, word in enumerate(words):
            option = words[place - 1]
            for bad in NUMBERS.get(word, []) if option.startswith("--") else []:
                if option not in ("--n", "--steps") or "," in bad:
                    yield name, option, [*words[:place], bad, *words[place + 1 :]], word


@pytest.mark.parametrize(
    ("name", "option", "words", "good"),
    mistyped_options(),
    ids=lambda one: one if isinstance(one, str) else " ".join(one),
)
def test_a_mistyped_number_of_an_option_is_one_line_with_the_remedy(name, option, words, good):
    ended = CliRunner().invoke(main, [name, *words])
    assert ended.exit_code == 2
    [line] = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
    assert option.strip("-").replace("-", "_") in line.replace("-", "_")
    assert exact(proposals(line)[0]) == exact(good)


@pytest.mark.parametrize("word", ["substitute", "substitution", "replace", "swap", "change-one"])
def test_another_word_for_a_relation_is_told_ours(word):
    with pytest.raises(DomainError, match=r"did you mean 'replace_one'\?$"):
        PoissonSubsample(Gaussian(5), "1/100", adjacency=word)
    line = CliRunner().invoke(main, ["dpsgd", *command_lines.GOOD["dpsgd"], "--adjacency", word])
    assert "did you mean 'replace_one'?" in line.stderr


def test_what_says_both_relations_or_none_is_not_guessed():
    for word in ("add or replace", "near", "x"):
        with pytest.raises(DomainError, match=r"or 'either'$"):
            PoissonSubsample(Gaussian(5), "1/100", adjacency=word)


def test_a_rate_above_1_is_told_what_a_rate_is():
    with pytest.raises(DomainError, match=r"a share, such as 256/60000; did you mean 4/100\?$"):
        PoissonSubsample(Gaussian(5), 4)
    with pytest.raises(DomainError, match=r"a rate is a share, such as 256/60000$"):
        PoissonSubsample(Gaussian(5), 256)
    with pytest.raises(DomainError, match=r"needed 0 <= rate <= 1$"):
        PoissonSubsample(Gaussian(5), -1)


G, L = Gaussian(5), Laplace(3)
OPERATORS = {
    "Gaussian(5)*Laplace(3)": (lambda: G * L, "Gaussian(5) + Laplace(3)"),
    "Gaussian(5)**2": (lambda: G**2, "2*Gaussian(5)"),
    "Gaussian(5)^2": (None, "2*Gaussian(5)"),
    "Gaussian(5)/2": (lambda: G / 2, None),
    "2/Gaussian(5)": (lambda: 2 / G, None),
    "Gaussian(5)/Laplace(3)": (lambda: G / L, None),
    "Gaussian(5) + 2": (lambda: G + 2, None),
    "2 + Gaussian(5)": (lambda: 2 + G, None),
    "Gaussian(5) - Laplace(3)": (lambda: G - L, None),
    "1 - Gaussian(5)": (lambda: 1 - G, None),
    "2**Gaussian(5)": (lambda: 2**G, None),
}


@pytest.mark.parametrize("text", OPERATORS)
def test_arithmetic_that_mechanisms_do_not_have_is_told_what_to_write(text):
    compute, meant = OPERATORS[text]
    with pytest.raises(ParseError, match=r"^column \d+: found .*a mechanism.*, needed ") as caught:
        parse(text)
    message = str(caught.value)
    if meant is not None:
        assert parse(proposals(message)[0]) is parse(meant)
    if compute is not None:
        with pytest.raises(DomainError) as same:
            compute()
        assert message.endswith(str(same.value))


def test_arithmetic_on_guarantees_is_told_to_compose_the_mechanisms():
    epsilon, delta = G.epsilon("1e-5", digits=5), G.delta(1, digits=5)
    for compute in (
        lambda: epsilon + epsilon, lambda: 2 * epsilon, lambda: sum([epsilon, epsilon]),
        lambda: epsilon - 1, lambda: 1 / epsilon, lambda: epsilon**2,
    ):  # fmt: skip
        with pytest.raises(DomainError, match=r"compose .*\(m1 \+ m2\)\.epsilon\('1e-5'\)"):
            compute()
    with pytest.raises(DomainError, match=r"\(n\*m\)\.delta\('1'\)"):
        delta * 2
    with pytest.raises(DomainError, match=r"needed a number: float\(x\)"):
        epsilon.epsilon + epsilon.epsilon
    assert float(epsilon.epsilon) * 2 > 1  # what the message says to write


def test_noise_of_no_name_is_told_how_to_write_its_density():
    for wrong in ("Logistic(5)", "laws.Logistic(5)", "Gamma(5, 2)", "Cauchy(2)"):
        with pytest.raises(ParseError, match=r"needed .*laws\.Density\('") as caught:
            parse(wrong)
        assert "did you mean" not in str(caught.value)
        pair = re.search(r"DistributionPair\(.*\)$", str(caught.value))
        if pair is not None:
            assert isinstance(parse(pair[0]), DistributionPair)
    with pytest.raises(AttributeError, match=r"found the name 'Logistic', .*laws\.Density\('"):
        _ = laws.Logistic
    with pytest.raises(ParseError, match=r"did you mean laws\.Normal\?$"):
        parse("DistributionPair(laws.Norm(0, 1), laws.Normal(1, 1))")


@pytest.mark.parametrize("text", ["Gaussian(" * 100, "(" * 150, ")" * 150, "1 " * 150, "*" * 100])
def test_what_nothing_near_repairs_is_told_its_fault_alone(text):
    with pytest.raises(SymacctError) as caught:
        parse_open(text)
    assert "did you mean" not in str(caught.value)


def test_a_law_and_a_formula_are_repaired_too():
    with pytest.raises(ParseError, match=r"did you mean laws\.Poisson\(3\)\?$"):
        parse_law("laws.Poisson(3")
    with pytest.raises(ParseError, match=r"did you mean alpha/50 \+ 2\*log\(2\)\?$"):
        symacct.Curve("alpha/50 + 2 log(2)", kind="upper", adjacency="either")


#: What others call a mechanism, and its name here, in Python and in an expression if they differ.
OTHER_NAMES = {
    "KRR": "FiniteMechanism.randomized_response", "GRR": "FiniteMechanism.randomized_response",
    "RR": "RandomizedResponse", "GeometricMechanism": "DiscreteLaplace",
    "LaplaceMechanism": "Laplace", "GaussianMechanism": "Gaussian", "GaussianDpEvent": "Gaussian",
    "SVT": "SparseVector", "AboveThreshold": "SparseVector", "ReportNoisyMax": "NoisyMax",
    "report_noisy_max": "NoisyMax", "ExpMech": "ExponentialMechanism",
    "exponential_mechanism": "ExponentialMechanism", "SubsampledGaussian": "PoissonSubsample",
    "SampledGaussianMechanism": "PoissonSubsample", "PoissonSampledDpEvent": "PoissonSubsample",
    "SelfComposedDpEvent": "Compose", "DPSGD": "dp_sgd",
    "gaussian": "Gaussian", "discrete_gaussian": "DiscreteGaussian", "zCDP": "ZCDP",
}  # fmt: skip


@pytest.mark.parametrize(("theirs", "ours"), OTHER_NAMES.items())
def test_the_names_of_other_libraries_are_told_ours(theirs, ours):
    for text in (f"{theirs}(1)", f"3*{theirs}(1, 2)"):
        with pytest.raises(ParseError, match=rf"did you mean {re.escape(ours)}\?$"):
            parse(text)
    with pytest.raises(AttributeError, match=rf"did you mean {re.escape(ours)}\?$"):
        getattr(symacct, theirs)
    place, _, maker = ours.partition(".")
    assert not maker or callable(getattr(getattr(symacct, place), maker))


def test_every_name_that_is_told_is_one():
    for names in mistyped._OURS.values():
        for ours in names:
            place, _, maker = ours.partition(".")
            assert hasattr(symacct, place)
            assert not maker or hasattr(getattr(symacct, place), maker)
    with pytest.raises(AttributeError, match=r"has no attribute 'Cauchyish'$"):
        _ = symacct.Cauchyish


def test_discrete_noise_on_a_vector_is_told_its_zcdp():
    """For (1, 1), Δ² = 2: of two entries of sensitivity 1 the sum is ρ = 1/25 at whole orders."""
    with pytest.raises(DomainError, match=r"is ZCDP\(Δ²/\(2σ²\)\)$"):
        parse("DiscreteGaussian(5, sqrt(2))")
    two, told = 2 * symacct.DiscreteGaussian(5), symacct.ZCDP("1/25")
    for alpha in (2, 7, "5/2"):
        assert two.rdp(alpha).lower <= told.rdp(alpha).upper


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda: symacct.laws.Density("exp(-t**2/2)"),
            "found the name 't', needed a number or the variable, which is x",
        ),
        (
            lambda: symacct.Curve("al/50", kind="upper", adjacency="either"),
            "found the name 'al', needed a number or the variable, which is alpha",
        ),
        (lambda: symacct.RandomizedResponse(75), "did you mean 0.75?"),
        (lambda: symacct.RandomizedResponse("62.5"), "did you mean 0.625?"),
        (lambda: symacct.PureDP(1, adjacency="replace"), "did you mean 'replace_one'?"),
        (lambda: symacct.DiscreteGaussian("sqrt(27)"), "as in sympy.sqrt(27)"),
        (
            lambda: symacct.RandomizedResponse.of_epsilon("log(3)", 4),
            "a logarithm without quotes, as in sympy.log(3)",
        ),
        (lambda: symacct.Gaussian("sqrt(3/2)"), "as in sympy.sqrt(sympy.Rational(3, 2))"),
    ],
)
def test_a_stranger_is_told_what_to_write(ask, said):
    with pytest.raises(symacct.SymacctError, match=re.escape(said)):
        ask()


def test_no_percent_is_proposed_where_it_would_promise_too_much():
    """The mean of 20 runs is γ = 1/20; a δ of 2 is no share of steps."""
    for ask in (
        lambda: laws.TruncatedNegativeBinomial(1, 20),
        lambda: laws.Binomial(10, 20),
        lambda: symacct.ApproximateDP(1, 2, adjacency="add_remove"),
        lambda: symacct.plot_runs(G, 2),
    ):
        with pytest.raises(DomainError, match=r"needed 0 < probability < 1$"):
            ask()
    pytest.importorskip("dp_accounting", reason="dp_accounting is an extra")
    from symacct.interop import EventAccountant

    with pytest.raises(DomainError, match=r"^target_delta: found 2, needed 0 <= delta <= 1$"):
        EventAccountant().get_epsilon(2)


@pytest.mark.parametrize("noise", ["nan", "inf", "sigma"])
def test_a_noise_multiplier_that_is_a_name_is_told_that_a_number_is_needed(noise):
    line = f"dpsgd --n 600 --batch-size 6 --epochs 1 --delta 1e-5 --noise-multiplier {noise}"
    ended = CliRunner().invoke(main, line.split())
    assert ended.exit_code != 0
    assert f"--noise-multiplier: found {noise!r}, needed a number > 0" in ended.output
