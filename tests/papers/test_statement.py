"""Statements: every word of the privacy paragraph is true of what was done."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from pylatexenc.latexwalker import LatexWalker

import symacct
from symacct import (
    Compose,
    Curve,
    DiscreteGaussian,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    PoissonSubsample,
    PureDP,
    SoundnessError,
    SubsampleWithoutReplacement,
    parse,
)
from symacct.cli import main
from symacct.export.citation import each_work
from symacct.kernel.answer import exact_decimal
from symacct.kernel.claims import Source
from symacct.kernel.conversion import conversions
from symacct.kernel.sources import WORKS
from symacct.papers.statement import fingerprint, statement
from tests.thinning import covering

STEP = PoissonSubsample(Gaussian(5), "1/1000")
RUN = 600_000 * STEP


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
#: Whose long form says what no other of these does.
WORDED = [
    "SubsampleWithoutReplacement(Laplace(2), 1/100)",
    "SubsampleWithoutReplacement(2 * Gaussian(2), 1/100)",
    "100 * PoissonSubsample(Gaussian(5), 1/1000) + Laplace(2)",
    "GroupPrivacy(PoissonSubsample(Gaussian(5), 1/1000), 4)",
    "PostProcess(PoissonSubsample(Gaussian(5), 1/1000))",
    "PostProcess(100 * SubsampleWithoutReplacement(Gaussian(2), 1/10))",
    "Scale(Gaussian(9), 1/3)", "Gaussian(1/3)", "PoissonSubsample(Gaussian(2), 256/60000)",
    "Curve('alpha/50', kind='upper', adjacency='add_remove')",
]  # fmt: skip
SCREEN = Path(__file__).parents[1] / "screens" / "statements.txt"
RUN_OF = ["dpsgd", "--n", "1000", "--batch-size", "10", "--noise-multiplier", "3/2"]
RUN_OF += ["--epochs", "2", "--delta", "1e-5"]


def paragraphs():
    """(what is asked, the paragraph) of every sort of mechanism, form, relation and number."""
    for expr in STATED:
        for form in ("text", "short"):
            yield f"{expr}, {form}", parse(expr).statement("1e-5", form=form)
    for expr in WORDED:
        yield expr, parse(expr).statement("1e-5")
    for expr in ("PureDP(1/4)", "PureDP(1/3)"):
        yield f"{expr}, δ = 0", parse(expr).epsilon(0, digits=6).statement()
    pure = PureDP("1/2").epsilon(0, conversion="improved")
    yield "PureDP(1/2), δ = 0, improved", pure.statement()
    for conversion in ("improved", "exact"):
        yield f"{RUN}, {conversion}", RUN.epsilon("1e-8", conversion=conversion).statement()
    found = Gaussian(symacct.binary(0.1)) + Gaussian(Fraction(10**10, 3 * 10**10 + 1))
    yield "numbers that are rounded, and say so", found.statement("1e-5", form="short")
    yield "of one relation", DiscreteGaussian(10).statement("1e-5", adjacency="replace_one")
    many = Compose(*(Gaussian(9 + i) for i in range(20)))
    yield "many mechanisms", many.statement("1e-5")
    trusted = Curve(lambda alpha: alpha / 50, kind="upper", adjacency="add_remove")
    for form in ("text", "short"):
        told = trusted.epsilon("1e-5", orders=[2, 8, 32, 64]).statement(form)
        yield f"a function that is trusted, {form}", told
    curve = Curve("alpha*alpha/50", kind="upper", adjacency="add_remove")
    found = curve.epsilon("1e-5", orders=range(2, 20))
    yield "signs of markup", statement(found, "markdown", preface="Of a_b*c")
    for sampling in ("poisson", "without_replacement", "shuffled"):
        for form in ("text", "short"):
            words = [*RUN_OF, "--sampling", sampling, "--statement", form]
            yield " ".join(words), CliRunner().invoke(main, words).output.strip()


def screen():
    """All of them, of any version."""
    text = "".join(f"{title}\n    {said}\n\n" for title, said in paragraphs())
    return text.replace(f"symacct {symacct.__version__}", "symacct VERSION")


def test_the_paragraphs_are_those_that_were_looked_at():
    """`python -m tests.papers.test_statement` writes them anew; read the difference first."""
    assert screen() == SCREEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("expr", LOCAL)
def test_of_local_privacy_the_relation_is_said_and_nobody_is_asked_for_it(expr):
    run = CliRunner().invoke(main, ["statement", expr, "--delta", "1e-5", "--form", "short"])
    assert "the true answer" in run.stdout
    assert "--adjacency" not in run.stderr
    assert (
        "--adjacency" not in CliRunner().invoke(main, ["epsilon", expr, "--delta", "1e-5"]).output
    )


if __name__ == "__main__":
    SCREEN.write_text(screen(), encoding="utf-8")
