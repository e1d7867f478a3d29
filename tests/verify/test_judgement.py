"""One defect is one entry; the exit status is a verdict; each report says the same."""

import json
import os
import re
import shlex
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from symacct import LimitError
from symacct.cli import main, verifying
from symacct.verify import verify
from symacct.verify.asking.questions import Extent
from symacct.verify.judging.bounds import Truth
from symacct.verify.judging.verdict import Count, Finding, Judge
from symacct.verify.peer.process import Incidents
from symacct.verify.peer.protocol import Answer, Ask, AskedPart
from symacct.verify.reporting.defects import Clusters
from symacct.verify.reporting.document import lacking_rows, too_little
from symacct.verify.reporting.judgement import Judgement, KnownFindings, read
from symacct.verify.reporting.report import Report, StoredError
from tests.verify.peers import program

TINY = Extent(2, 2, 3, 2, 1, 0, 1, 30)
ONE = Truth(Fraction(1), Fraction(1), exact=True)


def part(mechanism="Gaussian", sampling="poisson"):
    name = {"Gaussian": "sigma", "Laplace": "b"}[mechanism]
    gamma = None if sampling == "none" else "0.1"
    return AskedPart(mechanism, ((name, "1"),), sampling, gamma)


def found(verdict, value, kind="rdp", at="2", how=(), **more):
    mechanism, sampling = more.pop("mechanism", "Gaussian"), more.pop("sampling", "poisson")
    ask = Ask(kind, (part(mechanism, sampling),), at, how=how)
    below = more.pop("below", verdict in ("unsound", "zero", "negative"))
    return Finding(verdict, ask, Answer(value=Fraction(value)), ONE, below=below, **more)


def report(*findings, judged=90, answered=100, **more):
    clusters = Clusters()
    for one in findings:
        clusters.note(one, lambda ask: None)
    for cluster in clusters.ranked():
        cluster.alone = True
    of = {"judged": judged, "answered": answered, "command": [sys.executable, __file__]}
    fixed = {"peer": "p", "version": "1", "asked": 100, "unsupported": 0, "seconds": 1.0}
    return Report(**fixed, **of, seed=0, clusters=clusters.ranked(), incidents=Incidents(), **more)


HALVED = [
    found("unsound", "1/2"),
    found("unsound", "1/2", mechanism="Laplace"),
    found("unsound", "1/2", at="5/2"),
    found("zero", 0, at="1.01"),
    found("unsound", "1/2", kind="epsilon", at="1e-5"),
    found("inconsistent", "1/2", at="3", law="sum of its runs"),
]


def test_a_wrong_curve_is_one_defect_over_mechanisms_orders_and_verdicts():
    (defect,) = report(*HALVED).defects
    assert defect.answers == len(HALVED)
    assert (defect.verdict, defect.below) == ("unsound", True)
    assert defect.cause == "too small: poisson: add/remove"


def test_a_broken_law_belongs_to_the_side_that_its_value_is_on():
    """A count forgotten: what is too small breaks the sum of its runs, elsewhere ε is loose."""
    few = found("unsound", "1/2", sampling="none", mechanism="Laplace")
    few = replace(few, ask=replace(few.ask, parts=(replace(few.ask.parts[0], count=9),)))
    law = replace(few, verdict="inconsistent", below=False, law="sum of its runs")
    many = replace(few, verdict="loose", below=False, answer=Answer(value=Fraction(2)))
    many = replace(many, ask=replace(many.ask, at="100"))
    (own,) = [d for d in report(many, few, law).defects if len(d.clusters) == 2]
    assert {cluster.shown.verdict for cluster in own.clusters} == {"unsound", "inconsistent"}


OTHERS = {
    "another sampling": found("unsound", "1/2", sampling="none"),
    "the other side": found("loose", 2, at="100"),
    "another way of writing": found("inconsistent", 2, how=(("count", "repeat"),)),
    "what was asked before": found("inconsistent", 2, how=(("after", "used"),)),
    "rounding": found("loose", "1.000001", sampling="none", at="100", beyond_rounding=False),
    "an exception": replace(found("exception", 1), note="ValueError: no"),
    "not a number": found("nan", 1),
    "infinite": found("inf", 1),
    "slow": found("slow", 1),
}


def at_parts(one, *parts, **more):
    """The finding at a question about other parts."""
    return replace(one, ask=replace(one.ask, parts=parts, **more))


def rounded(verdict, value, at):
    return found(verdict, value, at=at, beyond_rounding=False)


HALF = HALVED[0]
MANY, MANY_SAMPLED = (replace(part(sampling=s), count=6) for s in ("none", "poisson"))
WITHIN = replace(part(), inner=3, count=6)
SEVERAL = [at_parts(HALF, MANY), at_parts(HALF, MANY_SAMPLED)]
SPENT = found("unsound", "1/2", kind="epsilon", at="1e-5", converted=True)
TOGETHER = at_parts(HALF, part(sampling="none"), part())
NEAR_1, BEYOND = (
    [found("unsound", "1/2", at=at, sampling=s) for s in ("none", "poisson")]
    for at in ("1", "5000")
)
PLAIN = found("unsound", "1/2", sampling="none")
REPEATED = found("inconsistent", 1, how=(("count", "repeat"),), other=(HALF.ask, HALF.answer))
CURVES = "too small: poisson: add/remove"
#: (findings, the causes of their defects)
CASES = {
    "both sides": ([*HALVED, found("loose", 2)], [f"too small and too large{CURVES[9:]}"]),
    "several runs only": (SEVERAL, ["too small: several runs"]),
    "several runs, and one elsewhere": (
        [*SEVERAL, found("unsound", "1/2", at="100")],
        ["too small: several runs", f"{CURVES}: Gaussian"],
    ),
    "ε of several runs": ([*SEVERAL, at_parts(SPENT, MANY_SAMPLED)], ["too small: several runs"]),
    "ε of several runs of samples of several": (
        [*SEVERAL, at_parts(HALF, WITHIN), at_parts(SPENT, WITHIN)],
        ["too small: several runs"],
    ),
    "several runs in a sample only": (
        [at_parts(HALF, replace(WITHIN, count=1)), at_parts(HALF, WITHIN, at="100")],
        ["too small: several runs in a sample"],
    ),
    "orders near 1 only": (NEAR_1, ["too small: orders near 1"]),
    "orders beyond 4096 only": (BEYOND, ["too small: orders beyond 4096"]),
    "orders near 1 and inside": (
        [*NEAR_1, PLAIN],
        ["too small: none: add/remove: Gaussian", "too small: orders near 1"],
    ),
    "orders beyond 4096 and inside": (
        [*BEYOND, PLAIN],
        ["too small: none: add/remove: Gaussian", "too small: orders beyond 4096"],
    ),
    "several relations": (
        [at_parts(HALF, part(), adjacency=a) for a in ("add_remove", "replace_one")],
        ["too small: poisson: Gaussian"],
    ),
    "a composition of a wrong part": ([*HALVED, TOGETHER], [CURVES]),
    "compositions alone": (
        [TOGETHER, replace(TOGETHER, ask=replace(TOGETHER.ask, at="3"))],
        ["too small: in a composition"],
    ),
    "a wrong conversion": (
        [found("unsound", "1/2", kind="epsilon", at="1e-5")],
        ["too small: ε and δ: poisson: add/remove: Gaussian"],
    ),
    "too small by rounding beside a wrong curve": (
        [*HALVED, rounded("unsound", "1/2", "1.001")],
        [CURVES],
    ),
    "too large by rounding next to 1": ([*HALVED, rounded("loose", "1.000001", "1.001")], [CURVES]),
    "too large by rounding elsewhere": (
        [*HALVED, rounded("loose", "1.000001", "100")],
        [CURVES, "rounding to float64"],
    ),
    "too small by rounding beside too large": (
        [found("loose", 2), rounded("unsound", "1/2", "2")],
        ["rounding to float64", "too large: poisson: add/remove: Gaussian"],
    ),
    "too large by rounding beside too small": (
        [found("unsound", "0.98", at="50"), rounded("loose", "1.000001", "41")],
        [f"{CURVES}: Gaussian"],
    ),
    "another way of writing a wrong curve": ([*HALVED, REPEATED], [CURVES]),
    "an unexplained change": (
        [found("inconsistent", "1/2")],
        ["depends on what was asked before"],
    ),
} | {
    name: ([*HALVED, OTHERS[name]], [CURVES, cause])
    for name, cause in {
        "another sampling": "too small: none: add/remove: Gaussian",
        "the other side": "too large: poisson: add/remove: Gaussian",
        "another way of writing": "written another way: count = repeat",
        "what was asked before": "depends on what was asked before",
        "rounding": "rounding to float64",
        "an exception": "exception: ValueError",
        "not a number": "nan: poisson",
        "infinite": "inf: poisson",
        "slow": "slow: poisson",
    }.items()
}


@pytest.mark.parametrize(("findings", "causes"), CASES.values(), ids=CASES)
def test_findings_of_one_cause_are_one_defect(findings, causes):
    assert [defect.cause for defect in report(*findings).defects] == causes


def test_an_answer_that_changes_after_another_question_is_no_wrong_curve():
    seen = report(*HALVED, OTHERS["what was asked before"])
    seen.clusters[0].simple = replace(HALVED[0], verdict="inconsistent", before=HALVED[1].ask)
    cause = "depends on what was asked before"
    assert [len(d.clusters) for d in seen.defects if d.cause == cause] == [2]


NEARLY_1 = 1 - Fraction(1, 10**12)
BETWEEN = Truth(Fraction(1), Fraction(2), exact=False)


@pytest.mark.parametrize(
    ("usual", "other", "truth", "causes"),
    [
        ("1/2", 1, ONE, 1),
        (1, "1/2", ONE, 2),
        (NEARLY_1, "1/2", ONE, 2),
        (1, NEARLY_1, ONE, 2),
        ("1/2", 1, BETWEEN, 1),
        ("3/2", "1/2", BETWEEN, 2),
        ("3/2", "8/5", BETWEEN, 1),
        (1, NEARLY_1, BETWEEN, 1),
    ],
)
def test_another_way_of_writing_shows_a_wrong_curve_where_the_usual_way_may_be_wrong(
    usual, other, truth, causes
):
    """The usual way is below the truth, or neither of the two is known to be."""
    before = HALVED[0].ask, Answer(value=Fraction(usual))
    way = found("inconsistent", other, how=(("count", "repeat"),), other=before)
    assert len(report(*HALVED, replace(way, truth=truth)).defects) == causes


def test_types_that_are_handled_alike_are_one_defect_wherever_they_are_met():
    def typed(way, value, key="numbers", **more):
        return found("inconsistent", value, how=((key, way),), **more)

    ways = [typed("int", "1/2"), typed("numpy.int64", "1/2")]
    elsewhere = [typed("numpy.int64", "1/3", sampling="none"), typed("int", "1/4", at="100")]
    other = typed("numpy.float32", 3, key="alpha")
    seen = report(*ways, *elsewhere, other, found("loose", 2)).defects
    assert sorted((d.cause, len(d.clusters)) for d in seen) == [
        ("too large: poisson: add/remove: Gaussian", 1),
        ("written another way: int, numpy.int64", 4),
        ("written another way: numpy.float32", 1),
    ]


def test_of_a_peer_that_remembers_only_what_a_new_process_does_too_is_apart():
    seen = report(*HALVED, found("loose", 2, sampling="none"), found("inconsistent", 3))
    assert len(seen.defects) == 3
    for cluster in seen.clusters:
        cluster.alone = cluster.shown.verdict == "unsound"
    del seen.defects
    assert len(seen.defects) == 2


def test_no_finding_is_lost_and_every_cause_is_told_apart():
    all_of_them = report(*HALVED, *OTHERS.values())
    members = [c.identity for defect in all_of_them.defects for c in defect.clusters]
    assert sorted(members) == sorted(c.identity for c in all_of_them.clusters)
    assert len(set(members)) == len(members)
    assert len(all_of_them.defects) == 1 + len(OTHERS)


@pytest.mark.parametrize(
    ("given", "fail_on", "status"),
    [
        ({}, None, 0),
        ({"findings": [found("loose", 2)]}, None, 0),
        ({"findings": [found("loose", 2)]}, "loose", 1),
        ({"findings": [found("loose", 2)]}, "slow", 0),
        ({"findings": HALVED}, None, 1),
        ({"findings": HALVED}, "unsound", 1),
        ({"judged": 0}, None, 3),
        ({"judged": 49}, None, 3),
        ({"judged": 50}, None, 0),
        ({"gone": True}, None, 3),
        ({"judged": 0, "findings": [found("nan", 1)]}, "nan", 3),
        ({"judged": 10, "findings": [found("nan", 1)]}, "nan", 1),
        ({"judged": 0, "findings": [found("negative", -1)]}, None, 1),
    ],
)
def test_the_status_is_a_verdict(given, fail_on, status):
    findings = given.pop("findings", [])
    assert Judgement(report(*findings, **given), fail_on).status == status


def test_the_last_line_says_which_defects_fail():
    loose = found("loose", 2, mechanism="Laplace", sampling="none")
    one = report(*HALVED, loose)
    assert Judgement(one).conclusion == "Failed by defect 1 of 2."
    assert Judgement(one, "loose").conclusion == "Failed by defects 1, 2 of 2."
    assert Judgement(report(loose)).conclusion.startswith("Passed")
    assert Judgement(report(loose, judged=0)).conclusion.startswith("No verdict")


def test_a_peer_that_hangs_passes_with_a_word_about_it(tmp_path, monkeypatch):
    slow = [found("slow", 1), found("slow", 1, at="3"), found("loose", 2, sampling="none")]
    line = "2 questions were not answered in time; --fail-on slow makes this a failure."
    monkeypatch.setattr(verifying, "verify", lambda words, *rest: report(*slow))
    end = CliRunner().invoke(main, ["verify", "--command", "false"])
    assert (end.exit_code, end.stdout.count(line)) == (0, 1)
    assert Judgement(report(*slow[1:])).unanswered.startswith("One question was not answered")
    for other in (
        Judgement(report(*slow), "slow"),  # which fails
        Judgement(report(slow[-1])),
        Judgement(report(*slow), None, baseline(tmp_path, *slow)),
    ):
        assert not other.unanswered


def test_what_a_quick_run_had_no_time_for_is_told_what_does():
    few = Count("epsilon of Gaussian (none), add/remove", 3, 2)
    how = {"kinds": [few], "per_kind": 5, "given": 17.0, "cut": ["usual: the time was used up"]}
    one = report(**how)
    assert too_little(one).endswith(
        "; needed 5 judged answers of each kind of question, found fewer of 1 of 1 kinds; "
        "--seconds 90 would do for them"
    )
    assert lacking_rows(one) == [("epsilon of Gaussian (none), add/remove", "3", "2")]
    for change in ({"cut": []}, {"gone": True}, {"kinds": [replace(few, judged=0)]}):
        assert "--seconds" not in too_little(report(**how | change))  # time is not what lacks


def baseline(tmp_path, *findings):
    file = tmp_path / "known.json"
    file.write_text(report(*findings).to_json(), encoding="utf-8")
    return read(str(file))["p"]


def test_what_is_known_does_not_fail_and_what_is_new_or_worse_does(tmp_path):
    known = baseline(tmp_path, *HALVED)
    assert Judgement(report(*HALVED), "loose", known).status == 0
    for new in OTHERS.values():
        assert Judgement(report(*HALVED, new), "loose", known).status == 1
    worse = found("unsound", "1/5")
    assert Judgement(report(worse), None, known).failing[0].shown is worse
    assert Judgement(report(found("unsound", "0.4")), None, known).status == 0
    loose = baseline(tmp_path, found("wrong-formula", "1/2", below=False))
    assert Judgement(report(found("wrong-formula", "1/2", below=True)), None, loose).status == 1
    assert Judgement(report(*HALVED), None, KnownFindings()).status == 1


def test_what_is_less_than_it_cites_is_of_a_known_cause_though_above_the_truth(tmp_path):
    known = baseline(tmp_path, *HALVED)
    cited = found("wrong-formula", 15, at="5000", below=False, short=True)
    now = report(*HALVED, cited)
    assert [defect.cause for defect in now.defects] == ["too small: poisson: add/remove"]
    assert Judgement(now, "loose", known).status == 0
    # By another name, as a longer run may give it: known by its side.
    named = report(HALVED[0], cited)
    assert [d.cause for d in named.defects] == ["too small: poisson: add/remove: Gaussian"]
    assert Judgement(named, "loose", known).status == 0
    large = report(found("loose", 15, at="5000"))
    assert Judgement(large, "loose", known).status == 1


def test_known_new_and_fixed_are_told_apart(tmp_path):
    known = baseline(tmp_path, *HALVED)
    ask = HALVED[0].ask
    assert ask in known.asks  # to be asked again
    other = replace(ask, at="7")
    small = replace(found("unsound", "0.999999"), ask=ask)
    slight = baseline(tmp_path, small)

    def status(now, again, known):
        judgement = Judgement(report(now, again=again, judged=100), None, known)
        return judgement.status, judgement.against_the_baseline

    # Elsewhere it may be some times as much, as another run asks other questions.
    some = replace(found("unsound", "0.9999"), ask=other)
    assert status(some, {ask: small}, slight)[0] == 0
    much = replace(found("unsound", "0.5"), ask=other)
    assert status(much, {ask: small}, slight)[0] == 1
    # At the known question itself, twice as much is new, whatever the worst is.
    again = replace(found("unsound", "0.9999"), ask=ask)
    assert status(some, {ask: again}, slight) == (
        1,
        "against the baseline: 0 known, 1 new (too small: Gaussian noise with Poisson sampling, "
        "add/remove), 0 fixed",
    )
    clean = Judgement(report(again=dict.fromkeys(known.asks), judged=100), None, known)
    assert clean.status == 0
    assert "0 known, 0 new, " in clean.against_the_baseline
    assert clean.known.fixed(clean.report)


def test_a_known_cause_stays_known_where_a_composition_of_it_is_worse_by_another_part(tmp_path):
    alone = found("unsound", "1/2", mechanism="Laplace", sampling="none")
    parts = part("Laplace", "none"), part("Gaussian", "poisson")
    both = replace(alone, ask=replace(alone.ask, parts=parts))
    known = baseline(tmp_path, alone, both)
    worse = replace(both, answer=Answer(value=Fraction(1, 5)))
    other = found("unsound", "1/100")
    again = {alone.ask: alone, both.ask: worse}
    now = Judgement(report(alone, worse, other, again=again, judged=100), None, known)
    assert now.against_the_baseline.startswith(
        "against the baseline: 1 known, 1 new (too small: Gauss"
    )
    assert now.status == 1
    once = Judgement(report(alone, worse, again=again, judged=100), None, known)
    assert once.status == 1  # whichever part it is


def test_a_question_in_a_report_is_read_back():
    part = AskedPart("ZCDP", (("rho", "0.1"), ("xi", "0")), "poisson", "1/3", 5, 2)
    asks = (
        Ask("epsilon", (part, part), "1e-5", "replace_one", (("count", "repeat"),), ("2", "3")),
        Ask("rdp", (replace(part, gamma=None, sampling="none"),), "5/2"),
    )
    for ask in asks:
        assert Ask.of(ask.kind, json.loads(json.dumps(ask.parameters()))) == ask


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "3", '{"peers": 5}', '{"peer": "p", "findings": [{}]}', "[" * 10**5]
)
def test_what_is_no_report_is_said(tmp_path, text):
    file = tmp_path / "known.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(StoredError, match="needed the JSON"):
        read(str(file))


def test_a_number_of_absurd_size_is_refused_before_it_is_built(tmp_path):
    document = json.loads(report(*HALVED).to_json())
    document["findings"][0]["worst_asked"]["parts"][0]["sigma"] = "1e999999999"
    file = tmp_path / "known.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(LimitError, match="number"):
        read(str(file))


@pytest.mark.parametrize("number", ["1/0", "many", None, 5])
def test_a_question_of_no_number_is_no_report(tmp_path, number):
    document = json.loads(report(*HALVED).to_json())
    document["findings"][0]["worst_asked"]["parts"][0]["sigma"] = number
    file = tmp_path / "known.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(StoredError, match="needed the JSON"):
        read(str(file))


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(StoredError, match="write it first with --json FILE"):
        read(str(tmp_path / "none.json"))
    with pytest.raises(StoredError, match="cannot be read"):
        read(str(tmp_path))


DOCS = Path(__file__).parents[2] / "docs"


def test_the_documented_fields_are_those_that_are_written():
    page = (DOCS / "verification.md").read_text(encoding="utf-8").split("## The JSON report")[1]
    document = json.loads(report(*HALVED, *OTHERS.values()).to_json())
    rows = [document, *document["findings"], *document["defects"], document["incidents"]]
    written = {key for row in rows for key in row} | set(document["below_within_rounding"])
    documented = set(re.findall(r"`([a-z_]+)`", page.split("## Your own")[0]))
    assert written <= documented
    assert documented - written <= {"peers", "absent", "other", "before", "excess"}


def test_the_workflow_to_copy_runs(tmp_path, monkeypatch):
    """Its command line as it stands, with nothing but --quick added."""
    words = program(tmp_path, "say({'value': value / 2 if alpha > 2 else value})")
    (tmp_path / "peer.py").rename(tmp_path / "my_peer.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(words[0]).parent}{os.pathsep}{os.environ['PATH']}")
    text = (DOCS / "clients" / "symacct.yml").read_text(encoding="utf-8")
    (line,) = re.findall(r"run: (symacct verify .*)", text)
    command = shlex.split(line)[1:]
    first = [word for word in command if word not in ("--baseline", "symacct-known.json")]
    known = [*first, "--quick", "--json", "symacct-known.json"]
    assert CliRunner().invoke(main, known).exit_code == 1
    again = CliRunner().invoke(main, [*command, "--quick"])
    assert again.exit_code == 0
    assert "against the baseline: 1 known" in again.stdout


def test_the_short_workflow_runs_and_a_float64_accountant_ends_as_the_page_says(
    tmp_path, monkeypatch
):
    """Below the truth by what float64 explains: the last lines and the statuses of the page."""
    text = (DOCS / "clients" / "verify.yml").read_text(encoding="utf-8")
    page = (DOCS / "verification.md").read_text(encoding="utf-8")
    assert page.index("clients/verify.yml") < 3500
    (line,) = re.findall(r"run: (symacct verify .*)", text)
    words = program(tmp_path, "say({'value': value - (2e-16 if value < 1e-7 else 0)})")
    (tmp_path / "peer.py").rename(tmp_path / "my_peer.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(words[0]).parent}{os.pathsep}{os.environ['PATH']}")
    command = shlex.split(line)[1:]
    strict = [word for word in command if word != "--allow-rounding"]
    for given, status in ((command, 0), (strict, 1)):
        done = CliRunner().invoke(main, given)
        assert done.exit_code == status, done.output
    rounded = report(found("negative", "-1.5", beyond_rounding=False))
    for allow in (False, True):
        assert f"`{Judgement(rounded, allow_rounding=allow).conclusion}`" in page


@pytest.mark.parametrize(("allowance", "wrong"), [("1e-9", True), ("1e-3", False)])
def test_the_allowance_is_the_share_that_is_no_error(tmp_path, allowance, wrong):
    words = program(tmp_path, "say({'value': value * (1 - 1e-4)})")
    seen = verify(words, TINY, allowance=allowance)
    assert seen.unsound is wrong
    assert seen.enough
    assert len(seen.defects) == wrong


@pytest.mark.parametrize("allowance", [0, -1, 1, "many", None])
def test_an_allowance_is_a_share(allowance):
    with pytest.raises(Exception, match="allowance: found"):
        verify(["true"], TINY, allowance=allowance)


def test_rounding_alone_may_be_allowed_and_nothing_else_is(tmp_path):
    rounded = found("negative", -2, beyond_rounding=False)
    one, both = report(rounded), report(rounded, *OTHERS.values(), *HALVED)
    assert Judgement(one).status == 1
    assert "it passes with --allow-rounding" in Judgement(one).conclusion
    assert Judgement(one, allow_rounding=True).status == 0
    assert Judgement(one, "loose", allow_rounding=True).conclusion.startswith("Passed")
    assert Judgement(both, allow_rounding=True).status == 1
    assert "--allow-rounding" not in Judgement(both).conclusion
    assert Judgement(report(rounded, judged=0), allow_rounding=True).status == 3
    for verdict in ("unsound", "zero", "negative"):  # allowed only where rounding explains it
        bad = report(rounded, found(verdict, "1/2", mechanism="Laplace"))
        assert Judgement(bad, allow_rounding=True).status == 1


def test_advice_is_for_rounding_and_too_few_orders():
    split = (("conversion", 0.0), ("orders and series", 0.255))
    note = "mostly from the orders and series: all of the excess of 0.255"
    loose = found("loose", 2, kind="epsilon", at="1e-5", converted=True, split=split, note=note)
    rounded = found("negative", "-1.5", beyond_rounding=False)
    assert all(report(one).defects[0].advice for one in (loose, rounded))
    assert all(not one.advice for one in report(*HALVED).defects)


@pytest.mark.parametrize(("value", "short"), [("1/2", True), ("3/2", False)])
def test_what_is_less_than_the_theorem_that_it_names_is_short(value, short):
    """And what is more is not; the theorem says 1."""
    judge = SimpleNamespace(_claimed=lambda case: (Fraction(1), Fraction(1)))
    case = SimpleNamespace(
        value=Fraction(value),
        answer=SimpleNamespace(claims="a theorem"),
        below_upper=False,
        truth=SimpleNamespace(exact=True),
        finding=lambda verdict, right, **said: (verdict, right, said["short"]),
    )
    assert Judge._not_as_claimed(judge, case) == ("wrong-formula", Fraction(1), short)
