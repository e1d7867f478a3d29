"""Statements: every word of the privacy paragraph is true of what was done."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from click.testing import CliRunner
from pylatexenc.latexwalker import LatexWalker

import symacct
from symacct import (
    Compose,
    Curve,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomizedResponse,
    Scale,
    SoundnessError,
    SubsampleWithoutReplacement,
    parse,
)
from symacct.cli import main
from symacct.export.citation import each_work
from symacct.export.description import describe, value
from symacct.kernel.answer import exact_decimal
from symacct.kernel.claims import Source
from symacct.kernel.conversion import conversions
from symacct.kernel.sources import WORKS
from symacct.papers.statement import fingerprint, statement
from tests.independent import fraction
from tests.thinning import covering

STEP = PoissonSubsample(Gaussian(5), "1/1000")
RUN = 600_000 * STEP


def test_all_that_a_reader_needs_is_said():
    guarantee = RUN.epsilon("1e-8", conversion="improved")
    text = guarantee.statement()
    for words in (
        "600,000 runs of the Gaussian mechanism (σ = 5, sensitivity 1)",
        "fresh Poisson sample (each record kept independently with probability 0.001)",
        "(ε = 0.837106, δ = 1e-8)-differentially private",
        "adding or removing one record",
        "the exact Rényi curve [Mironov 2017, Proposition 1; Table II] [Mironov et al. 2019,",
        "order α = 35.77",
        f"symacct {symacct.__version__}",
        fingerprint(RUN)[:12],
    ):
        assert words in text
    assert "\n" not in text


KINDS = [
    (SubsampleWithoutReplacement(Laplace(2), "1/100"), "replacing one record"),
    (SubsampleWithoutReplacement(Laplace(2), "1/100"), "fixed size"),
    (
        SubsampleWithoutReplacement(2 * Gaussian(2), "1/100"),
        "2 runs of the Gaussian mechanism (σ = 2, sensitivity 1), all on a fresh uniform sample",
    ),
    (100 * STEP + Laplace(2), "the adaptive composition of 100 runs of"),
    (100 * STEP + Laplace(2), "one run of the Laplace mechanism (b = 2, sensitivity 1)"),
    (GroupPrivacy(STEP, 4), "adding or removing up to 4 records"),
    (GroupPrivacy(STEP, 4), "for groups of 4 records"),
    (PostProcess(STEP), "a post-processing of the Gaussian mechanism"),
    (Scale(Gaussian(9), "1/3"), "stated to be 1/3 times"),
    (RandomizedResponse("3/4"), "the true answer with probability 0.75"),
    (Gaussian(9), "whichever the mechanism's parameters were stated for"),
    (Compose(*(Gaussian(9 + i) for i in range(20))), "20 runs of 20 mechanisms"),
    (Curve("alpha/50", kind="upper", adjacency="add_remove"), "stated by the authors as ε(α) ="),
    (Curve("alpha/50", kind="upper", adjacency="add_remove"), "what is stated of a mechanism"),
]


@pytest.mark.parametrize(("node", "words"), KINDS)
def test_each_kind_is_described_as_what_it_is(node, words):
    text = node.statement(delta="1e-5")
    assert words in text
    assert "certified by interval arithmetic" in text


def test_what_is_not_certified_says_so():
    trusted = Curve(lambda alpha: alpha / 50, kind="upper", adjacency="add_remove")
    text = trusted.epsilon("1e-5", orders=[2, 8, 32, 64]).statement()
    assert "not certified" in text
    assert "certified by interval" not in text
    assert "has no hash" in text


def test_pure_dp_needs_no_conversion():
    text = PureDP("1/2").epsilon(0, conversion="improved").statement()
    assert "(ε = 0.5, δ = 0)" in text
    assert "order ∞" in text
    assert "conversion" not in text


def test_a_lower_bound_is_never_stated():
    lower = Curve("alpha/50", kind="lower", adjacency="add_remove")
    with pytest.raises(SoundnessError):
        lower.statement(delta="1e-5")
    found = Gaussian(2).epsilon("1e-5")
    for kind, claim in ((Kind.UPPER, lower.claim), (Kind.LOWER, found.claim)):
        with pytest.raises(SoundnessError):
            replace(found, kind=kind, claim=claim)


def test_what_is_refused():
    with pytest.raises(DomainError, match="one of them"):
        STEP.statement()
    with pytest.raises(DomainError, match="one of them"):
        STEP.statement("1e-5", 1)
    with pytest.raises(DomainError, match="form"):
        STEP.statement("1e-5", form="html")
    bare = STEP.epsilon("1e-5")
    with pytest.raises(DomainError, match="without its mechanism"):
        replace(bare, mechanism=None).statement()


# --- forms


def test_latex_is_ascii_parses_and_cites_the_keys_of_the_bibliography():
    guarantee = RUN.epsilon("1e-8")
    text = guarantee.statement("latex")
    assert all(ord(sign) < 128 for sign in text)
    LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    cited = set(re.findall(r"\\cite(?:\[\{.*?\}\])?\{(\w+)\}", text))
    assert cited == set(re.findall(r"@\w+\{(\w+),", guarantee.cite()))
    plain = re.sub(r"\$[^$]*\$", "", text)
    assert not re.search(r"(?<!\\)[%&#$_]", plain)


def test_markdown_escapes_what_would_be_markup():
    curve = Curve("alpha*alpha/50", kind="upper", adjacency="add_remove")
    found = curve.epsilon("1e-5", orders=range(2, 20))
    text = statement(found, "markdown", preface="Of a_b*c")
    assert r"Of a\_b\*c The released" in text
    assert "ε(α) = α^2/50" in text
    assert f"`{fingerprint(curve)[:12]}`" in text


# --- the fingerprint


def test_equal_expressions_have_one_fingerprint_in_every_process():
    program = "import sys, symacct; from symacct.papers.statement import fingerprint as f; "
    program += "print(f(symacct.parse(sys.argv[1])))"
    found = {
        subprocess.run(
            [sys.executable, "-c", program, text], capture_output=True, text=True, check=True
        ).stdout.strip()
        for text in (
            "2*Laplace(2) + Gaussian(5) + Laplace(3)",
            "Laplace(3) + Gaussian(5.0) + 2*Laplace(2)",
        )
    }
    assert found == {fingerprint(parse("Gaussian(5) + Laplace(3) + Laplace(2) + Laplace(2)"))}


def test_different_expressions_have_different_fingerprints():
    texts = [
        "Gaussian(5)", "Laplace(5)", "Gaussian(5, 2)", "2*Gaussian(5)", "Gaussian(5) + Laplace(2)",
        "2*(Gaussian(5) + Laplace(2))", "Gaussian(5) + 2*Laplace(2)",
        "PoissonSubsample(Gaussian(5), 1/5)", "SubsampleWithoutReplacement(Gaussian(5), 1/5)",
        "PoissonSubsample(2*Gaussian(5), 1/5)", "2*PoissonSubsample(Gaussian(5), 1/5)",
    ]  # fmt: skip
    assert len({fingerprint(parse(text)) for text in texts}) == len(texts)
    assert all(re.fullmatch("[0-9a-f]{64}", fingerprint(parse(text))) for text in texts)


# --- parts


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("1/1000", "0.001"), ("1/100000", "1e-5"), ("1/3", None), ("12345/1000", "12.345"),
        ("300000", "300000"), ("0", "0"), ("25/1000000", "0.000025"), ("-1/4", "-0.25"),
    ],
)  # fmt: skip
def test_decimals_are_exact_or_not_given(number, text):
    assert exact_decimal(Fraction(number)) == text
    if text is not None:
        assert Fraction(text) == Fraction(number)


def test_a_parameter_is_never_rounded_without_a_word():
    assert value(Fraction(256, 60000)) == "8/1875"
    assert describe(Gaussian("1/3")) == "the Gaussian mechanism (σ = 1/3, sensitivity 1)"
    assert "(σ = 0.1 (as float64), sensitivity 1)" in describe(Gaussian(symacct.binary(0.1)))
    assert "(σ ≈ 0.333333, sensitivity 1)" in describe(Gaussian(Fraction(10**10, 3 * 10**10 + 1)))


def test_the_command():
    answer = CliRunner().invoke(main, ["statement", repr(STEP), "--delta", "1e-5"])
    assert answer.exit_code == 0
    assert answer.output.strip() == STEP.statement("1e-5")
    answer = CliRunner().invoke(main, ["statement", repr(STEP), "--delta", "1e-5", "--json"])
    assert json.loads(answer.output)["statement"] == STEP.statement("1e-5")
    answer = CliRunner().invoke(main, ["statement", repr(STEP)])
    assert answer.exit_code == 2
    assert answer.stderr.count("\n") == 1


@covering()
@pytest.mark.parametrize("node", [RUN, SubsampleWithoutReplacement(Laplace(2), "1/9")])
@pytest.mark.parametrize("conversion", ["improved", "classic", "exact"])
def test_statement_citation_and_document_agree(node, conversion):
    """One set of works, one ε, one δ, whichever is asked."""
    found = node.epsilon("1e-5", 12, conversion)
    tex = found.statement("latex")
    entries = re.findall(r"^@\w+\{(\w+),", found.cite(), re.MULTILINE)
    assert list(dict.fromkeys(re.findall(r"\\cite(?:\[.*?\])?\{(\w+)\}", tex))) == entries
    named = re.findall(r"\[([^\[\],]+ \d{4})[,\]]", found.statement())
    assert list(dict.fromkeys(named)) == [WORKS[key].named for key in entries]
    assert f"= {found.epsilon.rounded(6)}$, " in tex
    assert r"$\delta = 10^{-5}$" in tex
    if conversion == "exact":
        document = node.paper(delta="1e-5")
        assert f"= {found.epsilon.rounded(6)}$" in document
        assert r"$\delta = 10^{-5}$" in document
        assert {*entries} <= set(re.findall(r"\\bibitem\{(\w+)\}", document))


def test_a_public_paragraph_has_none_of_our_codes():
    codes = [theorem.name for theorem in symacct.theorems()]
    for node in (RUN, STEP, SubsampleWithoutReplacement(Laplace(2), "1/9"), GroupPrivacy(STEP, 2)):
        words = set(re.findall(r"[\w-]+", node.statement(delta="1e-5")))
        assert not words & {*codes, *WORKS}


@pytest.mark.parametrize("digits", [1, 12])
def test_the_digits_of_a_statement_are_those_asked_for(digits):
    found = RUN.epsilon("1e-5", conversion="exact")
    assert f"(ε = {found.epsilon.rounded(digits)}," in RUN.statement("1e-5", digits=digits)
    pinned = {"digits": digits, "conversion": "improved"}
    found = RUN.epsilon("1e-5", conversion="improved")
    assert f"(ε = {found.epsilon.rounded(digits)}," in RUN.statement("1e-5", **pinned)


def test_a_bound_is_not_called_the_exact_profile():
    """Of samples of a fixed size the profile of a pair is above the truth."""
    node = symacct.PostProcess(100 * SubsampleWithoutReplacement(Gaussian(2), "1/10"))
    text = node.epsilon("1e-5", conversion="exact").statement()
    assert "before rounding it is an upper bound" in text
    assert "exact privacy profile" not in text


@pytest.mark.parametrize("sampling", ["poisson", "without_replacement", "shuffled"])
def test_a_training_run_is_told_in_its_own_words(sampling):
    words = ["dpsgd", "--n", "1000", "--batch-size", "10", "--noise-multiplier", "3/2"]
    words += ["--epochs", "2", "--delta", "1e-5", "--sampling", sampling]
    text = CliRunner().invoke(main, [*words, "--statement", "text"]).output
    for said in ("1,000 records for 2 epochs (200 steps)", "clipped to a Euclidean norm", "3/2 C"):
        assert said in text
    other = {
        "poisson": "10/1000",
        "without_replacement": "exactly 10",
        "shuffled": "cuts a new order",
    }
    assert other[sampling] in text
    # A place in a permutation is accounted for as told: nothing is assumed of its secrecy.
    assert ("each sample is drawn anew and at random, and is kept secret" in text) == (
        sampling != "shuffled"
    )
    assert ("even if it is published which batch each record was in" in text) == (
        sampling == "shuffled"
    )
    assert "-differentially private" in text


def test_a_number_that_is_printed_as_it_is_is_not_called_rounded():
    for epsilon, said in (
        ("1/4", "not rounded; it is the smallest ε that is true"),
        ("1/3", "rounded up to 6"),
    ):
        text = PureDP(epsilon).epsilon(0, digits=6).statement()
        assert f"The value of ε is {said}" in text


def _sources():
    for name in symacct.__all__:
        found = getattr(getattr(symacct, name), "source", None)
        if isinstance(found, Source):
            yield found
    yield from (theorem.source for theorem in symacct.theorems())
    yield from (one.source for one in conversions())


def test_our_own_proofs_are_no_places_in_others_works():
    found = [one for source in _sources() for one in each_work(source)]
    assert {one.key for one in found if "docs/" in one.place} == {"SYMACCT"}
    entry = WORKS["SYMACCT"].entry
    assert f"symacct, version {symacct.__version__}}}" in entry


def test_a_relation_left_open_is_said_by_who_knows_it():
    node = symacct.DiscreteGaussian(10)
    assert "or by replacing one record, whichever" in node.statement("1e-5")
    said = node.statement("1e-5", adjacency="replace_one")
    assert "differ by replacing one record." in said
    assert STEP.statement("1e-5", adjacency="add_remove") == STEP.statement("1e-5")
    with pytest.raises(symacct.AdjacencyError):
        STEP.statement("1e-5", adjacency="replace_one")
    with pytest.raises(symacct.AdjacencyError, match="groups of 2"):
        GroupPrivacy(STEP, 2).statement("1e-5", adjacency="replace_one")
    words = ["statement", repr(node), "--delta", "1e-5", "--adjacency", "replace_one"]
    answer = CliRunner().invoke(main, words)
    assert not answer.stderr
    assert answer.stdout.strip() == said


def test_a_short_form_is_one_sentence():
    words = ["dpsgd", "--n", "1000", "--batch-size", "10", "--noise-multiplier", "3/2"]
    words += ["--epochs", "2", "--delta", "1e-5", "--statement", "short"]
    epsilon = symacct.dp_sgd(1000, 10, "3/2", 2).epsilon("1e-5", digits=6).epsilon
    text = CliRunner().invoke(main, words).output.strip()
    assert text == (
        f"Trained with DP-SGD: the output is (ε = {epsilon.rounded(6)}, δ = 1e-5)-differentially "
        "private, where neighbouring datasets differ by adding or removing one record, with "
        "Poisson sampling."
    )
    stated = Fraction(re.search(r"ε = (\S+),", text)[1])
    assert fraction(epsilon.upper) <= stated <= fraction(epsilon.lower) * Fraction(10001, 10000)
    trusted = Curve(lambda alpha: alpha / 50, kind="upper", adjacency="add_remove")
    short = trusted.epsilon("1e-5", orders=[2, 8, 32, 64]).statement("short")
    assert short.endswith("; the number is not certified.")


LOCAL = [
    "RandomizedResponse(3/4)",
    "3 * RandomizedResponse(3/4)",
    "RandomizedResponse.of_epsilon(1, 5)",
    "GroupPrivacy(RandomizedResponse(3/4), 2)",
]
STATED = [
    *LOCAL, "Gaussian(2)", "Laplace(3)", "VectorLaplace(2)", "PureDP(1)", "ZCDP(1/10)",
    "TCDP(1/10, 100)", "ApproximateDP(1, 1e-6)", "DiscreteGaussian(3)", "DiscreteLaplace(2)",
    "DiscreteGaussianSum(2, 10)", "DiscreteGaussianSum(2, 10, 3)", "Skellam(100)",
    "ExponentialMechanism(1)", "PermuteAndFlip(1)", "NoisyMax(2)", "SparseVector(1, 1)",
    "GaussianSparseVector(4, 4, 10)", "GaussianNoisyMax(2, 10)", "TreeAggregation(4, 16)",
    "MatrixMechanism([[1, 0], [1, 1]], 4)", "NoisyDescent(4, 10)", "NoisyPass(4, 10)",
    "ScalarGaussian(2)", "FiniteMechanism([[1/2, 1/2], [1/4, 3/4]])", "ExponentialFamily(1/10)",
    "DistributionPair([1/2, 1/2], [1/4, 3/4])", "100 * PoissonSubsample(Gaussian(2), 1/100)",
    "10 * GroupPrivacy(PoissonSubsample(Gaussian(4), 1/100), 3)", "PostProcess(Gaussian(4))",
    "Either(Gaussian(2), Laplace(2), 1/3)", "RandomAllocation(Gaussian(2), 10)",
    "RepeatAndSelect(Gaussian(4), laws.Poisson(5))", "Scale(Gaussian(4), 1/2)",
    "PoissonSubsample(Gaussian(1) + Laplace(2), 1/10)",
    "SubsampleWithoutReplacement(2 * Laplace(2), 1/10)",
]  # fmt: skip
#: One of a thing in the plural, a clause that no comma ends, a name of a class or a parameter.
UNGRAMMATICAL = (
    r"\b1 [a-z-]+s\b|, (?:add|remove|replace),? |\) is \(ε|, [^,;()]*, is \(ε|\binf\b|[a-z][A-Z]|"
    r"\b(?:sigma|kappa|gamma|epsilon|mu)\b|  |\.\.|,\.|;\."
)


@pytest.mark.parametrize("expr", STATED)
def test_a_short_form_is_a_sentence_of_what_was_released_and_for_whom(expr):
    m = parse(expr)
    said = m.statement("1e-5", form="short")
    assert said == said.strip()
    assert re.match(
        r"The released output is \(ε = \S+, δ = 1e-5\)-differentially private, where n", said
    )
    assert said.endswith(".")
    assert "; it is the output of " in said
    assert re.findall(UNGRAMMATICAL, said) == []
    assert ("local differential privacy" in said) == (expr in LOCAL)


@pytest.mark.parametrize("expr", LOCAL)
def test_of_local_privacy_the_relation_is_said_and_nobody_is_asked_for_it(expr):
    run = CliRunner().invoke(main, ["statement", expr, "--delta", "1e-5", "--form", "short"])
    assert "the true answer" in run.stdout
    assert "--adjacency" not in run.stderr
    assert (
        "--adjacency" not in CliRunner().invoke(main, ["epsilon", expr, "--delta", "1e-5"]).output
    )
