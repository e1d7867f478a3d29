"""A defect in sentences: plain, complete, and true of the numbers that stand in them."""

import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from click.testing import CliRunner

from symacct.cli import main
from symacct.cli.frame import show
from symacct.verify import verify
from symacct.verify.asking.questions import Extent
from symacct.verify.judging import matching
from symacct.verify.judging.truth import Oracle
from symacct.verify.peer.protocol import Answer, Ask, AskedPart
from symacct.verify.reporting.defects import title
from symacct.verify.reporting.document import document, sentences
from symacct.verify.reporting.judgement import Judgement
from symacct.verify.reporting.page import figure, page
from symacct.verify.reporting.report import PlottedError, call, reproduce
from tests.verify.peers import program
from tests.verify.test_judgement import HALVED, OTHERS, found, report

EXTENT = Extent(2, 1, 6, 0, 0, 0, 1, 30)


def reports_of(whole):
    """The plain text and the page."""
    shown = document(Judgement(whole))
    return "\n".join(section.text for section in shown.sections), page([shown])


def test_every_sentence_is_one_and_every_report_has_them(capsys):
    whole = report(*HALVED, *OTHERS.values())
    shown = document(Judgement(whole, "loose"))
    show(shown)
    printed = " ".join(capsys.readouterr().out.split())
    for section in shown.sections:
        assert list(section.sentences) == sentences(section.defect)
        for line in section.sentences:
            assert re.fullmatch(r"[A-Z].*[.?]", line, re.DOTALL), line
            assert line in section.text
            assert " ".join(line.split()) in printed
    html = page([shown]).replace("&#39;", "'")
    sections = html.split("<section ")[1:]
    for defect, section in zip(whole.defects, sections, strict=True):
        assert sentences(defect)[0] in section
        (first, *_) = section.split("To reproduce ")[1:]
        assert first.startswith(f"{call(defect.shown.ask)} of {defect.shown.ask.expression} ")


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("value / 4", "half the sensitivity or twice the noise"),
        (
            "value / math.log(2)",
            "every answer is 1.442695 times the truth = 1/ln 2: bits in place of nats",
        ),
        ("value * (1 + alpha / 1000)", None),
    ],
)
def test_the_formula_of_a_mistake_is_named(tmp_path, body, formula):
    seen = verify(program(tmp_path, f"import math; say({{'value': {body}}})"), EXTENT)
    assert {defect.shown.formula for defect in seen.defects} == {formula}


DOUBLED = "twice ε(α)"


def test_a_cause_explains_the_question_shown_or_half_of_the_answers():
    """The peer q²α/σ²: twice the truth for much noise, and too small for little."""
    shown, *others = (found("unsound", "0.87", at=at) for at in ("2", "3.5", "9999"))
    few = report(shown, *others[:1], replace(found("loose", 2, at="1.01"), formula=DOUBLED))
    explained = [replace(one, formula=DOUBLED) for one in others]
    for whole, named in ((few, False), (report(shown, *explained), True)):
        (defect,) = (d for d in whole.defects if len(d.clusters) > 1)
        said = " ".join(sentences(defect))
        assert (defect.shown.formula == DOUBLED) is named
        assert (f"Likely cause: {DOUBLED}; the answer is what this mistake gives." in said) is named
        assert "; the answer to" not in said


def test_only_a_late_answer_was_not_waited_for():
    slow = found("slow", 2, note="3.0 s")
    late = replace(slow, answer=Answer(late=True))
    took = [sentences(*report(one).defects)[1] for one in (slow, late)]
    assert took[0].startswith("The peer took 3.0 s to answer.")
    assert took[1].startswith("The peer took 3.0 s and was not waited for any longer.")


def test_answers_that_depend_on_earlier_ones_have_no_other_cause():
    later = found("inconsistent", 2, how=(("after", "used"),))
    single = replace(later, formula="the sampling rate rounded to float32", form="float32")
    (defect,) = report(single).defects
    causes = [line for line in sentences(defect) if line.startswith("Likely cause")]
    assert causes == ["Likely cause: something that is kept from one question to the next."]


def test_a_mistake_that_changes_nothing_is_no_cause():
    """A share of 10⁻¹¹ below the truth is as near to σ rounded to float32 as to σ itself."""
    ask, oracle = Ask("rdp", (AskedPart("Gaussian", (("sigma", "2.0000000001"),)),), "4"), Oracle()
    truth = Fraction(oracle.truth(ask).lower)
    assert matching.matched(oracle, ask, truth * (1 - Fraction(1, 10**11))) is None
    assert matching.matched(oracle, ask, truth * 2) == DOUBLED


def test_an_order_that_is_not_offered_is_not_called_right(tmp_path):
    hello = (
        '{"id": 0, "peer": "p", "supports": [{"mechanism": "Gaussian", "orders": "integer", '
        '"max_order": 8}]}'
    )
    seen = verify(program(tmp_path, "say({'value': value / 2})", hello), EXTENT)
    notes = [cluster.shown.note for cluster in seen.clusters]
    assert seen.unsound
    assert not [note for note in notes if "α =" in note]


ACCOUNTANT = r"""
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
using std::string;
double number(const string &line, const string &key, double otherwise) {
  size_t at = line.find("\"" + key + "\": ");
  return at == string::npos ? otherwise : strtod(line.c_str() + at + key.size() + 4, nullptr);
}
double rdp(double sigma, double q, int alpha) {
  double sum = 0;
  for (int k = 0; k <= alpha; k++)
    sum += exp(lgamma(alpha + 1.) - lgamma(k + 1.) - lgamma(alpha - k + 1.) + k * log(q) +
               (alpha - k) * log1p(-q) + k * (k - 1.) / (2 * sigma * sigma));
  return log(sum) / (alpha - 1);
}
int main() {
  std::cout.precision(17);
  for (string line; std::getline(std::cin, line);) {
    int id = number(line, "id", 0);
    double q = number(line, "gamma_float", 1), sigma = number(line, "sigma_float", 1);
    if (id == 0)
      std::cout << R"({"id": 0, "peer": "c", "supports": [{"mechanism": "Gaussian", )"
                   R"("sampling": "poisson", "orders": "integer", "max_order": 6}]})";
    else
      std::cout << "{\"id\": " << id << ", \"value\": "
                << number(line, "count", 1) * rdp(sigma / 2, q, number(line, "alpha_float", 2))
                << "}";
    std::cout << std::endl;
  }
}
"""


def test_a_mistake_in_c_plus_plus_is_named_in_the_report(tmp_path):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    (tmp_path / "peer.cpp").write_text(ACCOUNTANT, encoding="utf-8")
    subprocess.run([compiler, tmp_path / "peer.cpp", "-o", tmp_path / "peer"], check=True)
    done = CliRunner().invoke(
        main, ["verify", "--quick", "--allow-rounding", "--command", str(tmp_path / "peer")]
    )
    assert done.exit_code == 0, done.output
    assert "twice the sensitivity or half the noise" in " ".join(done.output.split())


def test_a_rate_squared_and_a_run_too_few_are_known_mistakes():
    sampled = AskedPart("Gaussian", (("sigma", "1"),), "poisson", "1/2", 3)
    ask, oracle = Ask("rdp", (sampled,), "3"), Oracle()
    for other, name in (
        (replace(sampled, gamma="1/4"), "the sampling rate squared"),
        (replace(sampled, count=2), "one run too few"),
        (replace(sampled, count=4), "one run too many"),
        (replace(sampled, count=1), "count ignored"),
        (replace(sampled, parameters=(("sigma", "1/2"),)), "twice the sensitivity"),
        (replace(sampled, parameters=(("sigma", "2"),)), "half the sensitivity"),
    ):
        value = Fraction(oracle.truth(replace(ask, parts=(other,))).upper)
        assert str(matching.matched(oracle, ask, value)).startswith(name)


def test_no_report_names_a_defect_in_words_of_the_protocol(tmp_path):
    """Whatever is sampled, under each relation, on each side, with a mechanism and without."""
    for cause in product(("too small", "too large"), *_CAUSES):
        said = title(": ".join(filter(None, cause)))
        assert said.startswith(f"{cause[0]}: ")
        assert not re.search(r"\bnone\b|poisson|without replacement|_", said)
        assert all(word in said for word in cause[2:] if word and word != "Gaussian")
    whole = report(found("unsound", "1/2", sampling="none"))
    words = "too small: Gaussian noise without sampling, add/remove"
    for place in reports_of(whole):
        assert words in place
        assert "too small: none" not in place


_CAUSES = (
    ("none", "poisson", "without replacement"),
    ("", "add/remove", "replace/one", "replace/special"),
    ("", "Gaussian", "PermuteAndFlip"),
)


def test_every_report_shows_the_same_question_of_a_defect():
    """Of several findings the plainest is shown, which is not always the first in the list."""
    late = replace(found("slow", 0, note="2.5 s", at="9"), answer=Answer())
    whole = document(Judgement(report(*HALVED, found("zero", 0, at="3"), late)))
    shown = "".join(re.findall(r"<p>To reproduce (.*?):</p>", page([whole])))
    for section in whole.sections:
        defect, ask = section.defect, section.defect.shown.ask
        assert f"{call(ask)} of {ask.expression} ({defect.shown.verdict})" in shown
        assert section.text.endswith(reproduce(defect.shown, whole.report.command))
    assert "<td>no answer</td>" in page([whole])


def test_dots_are_seen_in_a_picture_and_in_its_legend():
    ask = HALVED[0].ask
    points = [PlottedError(ask, error) for error in (-0.5, 0.0, 0.5)]
    drawn = figure(points)
    (legend,) = drawn.legends
    assert min(line.get_markersize() for line in drawn.axes[0].lines if len(line.get_xdata())) >= 5
    marks = [one.get_markersize() for one in legend.legend_handles]
    assert len(marks) == 3
    assert min(marks) >= 10
