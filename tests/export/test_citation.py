"""Citations: exactly the works used, complete, and readable by two BibTeX parsers."""

import io
import re
import shlex

import bibtexparser
import pytest
from click.testing import CliRunner
from pybtex.database.input import bibtex as pybtex

from symacct import (
    Accountant,
    Curve,
    Gaussian,
    Laplace,
    PoissonSubsample,
    PureDP,
    Source,
    SubsampleWithoutReplacement,
    conversions,
    parse,
    theorems,
)
from symacct.cli import main
from symacct.export.citation import STATED, bibtex, each_work, sources_of
from symacct.export.latex.sentences import plain_tex
from symacct.kernel.claims import Proof
from symacct.kernel.node import kinds
from symacct.kernel.sources import SYMACCT, WORKS
from symacct.profile import proofs
from symacct.version import __version__


def parsed(text):
    """The entries by key, as bibtexparser reads them; pybtex has to read the same ones."""
    entries = {entry["ID"]: entry for entry in bibtexparser.loads(text).entries}
    other = pybtex.Parser().parse_stream(io.StringIO(text)).entries
    assert set(other) == set(entries)
    assert text.count("@") == len(entries)
    return entries


STEP = PoissonSubsample(Gaussian(5), "1/1000")
WITHOUT = SubsampleWithoutReplacement(Laplace(2), "1/1000")

USED = [
    # Without an order: whole ones by ZW19, between them and at 1 by MTZ19.
    (
        lambda: STEP.cite(),
        {"ZW19": "Lemma 4", "MIR17": "Table II", "MTZ19": "Theorems 4 and 5"},
    ),
    (lambda: STEP.cite(2), {"ZW19": "Theorem 8", "MIR17": "Table II"}),
    (lambda: STEP.cite("5/2"), {"MTZ19": "Theorems 4 and 5", "MIR17": "Table II"}),
    (lambda: STEP.cite(by="ZW19-T5"), {"ZW19": "Theorem 5", "MIR17": "Table II"}),
    (lambda: STEP.cite("inf"), {"ZW19": "Lemma 4", "MIR17": "Table II"}),
    (lambda: (3 * STEP).cite(2), {"ZW19": "Theorem 8", "MIR17": "Proposition 1; Table II"}),
    (
        lambda: (3 * STEP).cite(),
        {"ZW19": "Theorem 8", "MIR17": "Proposition 1; Table II", "MTZ19": "Theorems 4 and 5"},
    ),
    (lambda: WITHOUT.cite(8), {"SYMACCT": "line-noise", "MIR17": "Table II"}),
    (lambda: WITHOUT.cite(8, by="WBK19-T27"), {"WBK19": "Theorem 27", "MIR17": "Table II"}),
    (
        lambda: WITHOUT.cite("5/2", by="WBK19-C10"),
        {"WBK19": "Corollary 10", "MIR17": "Table II", "SYMACCT": "line-noise"},
    ),
    (lambda: Laplace(2).cite(), {"MIR17": "Table II"}),
    (lambda: PureDP(1).cite(), {"KOV15": "post-processing"}),
    (
        lambda: Gaussian(5).epsilon("1e-5", conversion="improved").cite(),
        {"MIR17": "Table II", "CKS20": "Proposition 12", "BBGHS20": "Theorem 21"},
    ),
    (
        lambda: Gaussian(5).epsilon("1e-5", conversion="classic").cite(),
        {"MIR17": "Table II; Proposition 3"},
    ),
    # Pure DP is read off the curve at ∞: nothing was converted.
    (lambda: PureDP(1).epsilon(0, conversion="improved").cite(), {"KOV15": "post-processing"}),
]


@pytest.mark.parametrize(("ask", "expected"), USED)
def test_exactly_the_works_used_are_cited_with_their_places(ask, expected):
    entries = parsed(ask())
    assert set(entries) == set(expected)
    for key, place in expected.items():
        assert place in entries[key]["note"]


def test_a_proof_of_ours_is_cited_with_its_lemma_its_chapter_and_the_version():
    entry = parsed((1000 * STEP).epsilon("1e-5", conversion="exact").cite())["SYMACCT"]
    assert entry["note"].startswith("Lemma complex-sum (contours.md)")
    assert entry["howpublished"].endswith(f"symacct, version {__version__}")
    several = SYMACCT.at("docs/proofs/mechanisms.md, shifts and all-steps, after another work")
    note = parsed(bibtex([several]))["SYMACCT"]["note"]
    assert note == "Lemmas shifts and all-steps (mechanisms.md), after another work"


def test_a_curve_that_the_user_states_has_no_work_to_cite():
    text = Curve("alpha/50", kind="upper", adjacency="add_remove").cite()
    assert "@" not in text
    assert "nothing to cite" in text


def test_a_source_of_the_user_s_own_is_cited_by_its_own_key():
    text = bibtex([Source("me & you", "notebook {3}, p. 5 % of @all")])
    (entry,) = bibtexparser.loads(text).entries
    assert entry["ID"] == "me---you"
    assert r"{\%}" in entry["note"]
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("key", sorted(WORKS))
def test_every_work_of_the_bibliography_is_complete(key):
    work = WORKS[key]
    assert work.key == key
    (entry,) = parsed(bibtex([work.at("")])).values()
    assert {"author", "title", "year"} <= set(entry)
    assert "note" not in entry
    assert entry["ENTRYTYPE"] in ("inproceedings", "article", "misc")
    where = {"article": "journal", "inproceedings": "booktitle", "misc": "howpublished"}
    assert entry[where[entry["ENTRYTYPE"]]]
    assert re.fullmatch(r"(19|20)\d\d", entry["year"])
    # The proofs that come with the package have no address of their own.
    assert entry.get("url", "").startswith("https://") or key == "SYMACCT"
    if entry["ENTRYTYPE"] != "misc":
        assert re.fullmatch(r"\d+--\d+", entry["pages"])
    if "eprint" in entry:
        assert re.fullmatch(r"\d{4}\.\d{5}|\d{4}\.\d{4}", entry["eprint"])
        assert entry["archiveprefix"] == "arXiv"
    assert all(ord(sign) < 128 for field in entry.values() for sign in field)


def all_sources():
    own = [kind.source for kind in kinds().values() if hasattr(kind, "source")]
    rest = [*(t.source for t in theorems()), *(c.source for c in conversions())]
    return [source for source in [*own, *rest] if isinstance(source, Source)]


def test_every_source_that_a_claim_may_name_is_in_the_bibliography():
    found = all_sources()
    assert len(found) > 40
    for source in found:
        for one in each_work(source):
            assert one.key in WORKS or one.key == STATED, source


def test_plain_text_for_tex():
    assert plain_tex("Rényi 5%") == r"R{\'e}nyi 5{\%}"
    assert plain_tex("a_b & {c}").count("{") == plain_tex("a_b & {c}").count("}")
    assert all(ord(sign) < 128 for sign in plain_tex("ε′(α) <= γ²∞ – “x” ≈ Σ"))


def test_the_command():
    for asked, works in (
        (["--by", "ZW19-T5"], {"ZW19", "MIR17"}),
        (["--delta", "1e-5"], {"ZDW22", "SYMACCT"}),  # of what statement states
        (["--delta", "1e-5", "--conversion", "improved"], {"MTZ19", "MIR17", "CKS20", "BBGHS20"}),
    ):
        answer = CliRunner().invoke(main, ["cite", repr(STEP), *asked])
        assert answer.exit_code == 0
        assert set(parsed(answer.output)) == works
    for wrong in (["--alpha", "1/2"], ["--orders", "integer"], ["--conversion", "classic"]):
        answer = CliRunner().invoke(main, ["cite", repr(STEP), *wrong])
        assert answer.exit_code == 2
        assert answer.stderr.count("\n") == 1


_RUN = "dp_sgd(60000, 256, 1.1, epochs=15) + DiscreteGaussian(10)"
_OF_A_RUN = "--n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --statement latex"


@pytest.mark.parametrize(
    "question",
    [
        ["statement", _RUN, "--form", "latex", *how.split()]
        for how in ("", "--conversion classic --digits 3", "--orders 2,8,32 --by ZW19-T5")
    ]
    + [
        ["statement", "3*Laplace('1/2')", "--form", "latex"],
        ["dpsgd", *_OF_A_RUN.split(), "--conversion", "classic"],
    ],
    ids=" ".join,
)
def test_every_work_that_a_statement_cites_is_among_the_entries_of_its_hint(question):
    stated = CliRunner().invoke(main, [*question, "--delta", "1e-6"])
    assert stated.exit_code == 0, stated.stderr
    cited = set(re.findall(r"\\cite(?:\[\{.*?\}\])?\{(\w+)\}", stated.stdout))
    hint = re.search(r"its \\cite: symacct (cite .*)", stated.stderr)[1]
    entries = CliRunner().invoke(main, shlex.split(hint))
    assert cited
    assert cited == set(parsed(entries.stdout))
    assert question[0] != "dpsgd" or {"ACG16", "DKM06"} <= cited


#: The works of the number to report, and where in our proofs, by what was asked.
USED = {
    ("ExponentialMechanism(0.5)", "0"): (["DDR20", "SYMACCT"], "privacy-profile"),
    ("7*DiscreteGaussian(sqrt(27))", "1e-5"): (["CKS20", "SYMACCT", "ZDW22"], "one-lattice"),
    ("Gaussian(5)", "1e-5"): (["BW18"], "Theorem 8"),
    ("10*Gaussian(5)", "1e-5"): (["ZDW22", "BW18"], "Theorem 8"),
    ("9*PoissonSubsample(Gaussian(5), 1/100)", "1e-5"): (["ZDW22", "SYMACCT"], "complex-sum"),
    ("20*RandomizedResponse(3/4)", "1e-5"): (["ZDW22", "SYMACCT"], "finite-laws"),
    ("3*Laplace(2) + Gaussian(3)", "1e-5"): (["ZDW22", "SYMACCT"], "few-laplace"),
    ("PureDP(1)", "0"): (["KOV15", "SYMACCT"], "privacy-profile"),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "works"), USED.items())
def test_a_profile_cites_its_mechanisms_and_what_gave_the_number(asked, works):
    """Of each strategy its own proof, also where the answer was remembered."""
    accountant = Accountant()
    m = parse(asked[0])
    for _ in range(2):
        found = accountant.epsilon(m, asked[1], conversion="exact")
        text = bibtex(sources_of(found))
        assert re.findall(r"^@\w+\{(\w+)", text, re.MULTILINE) == works[0]
        assert works[1] in text


def test_each_proof_of_a_profile_names_a_lemma():
    for proof in (one for one in vars(proofs).values() if isinstance(one, Proof)):
        assert proof.source.key in WORKS
        text = bibtex([proof.source])
        assert proof.source.key != "SYMACCT" or re.search(r"Lemmas? [a-z-]+", text)
