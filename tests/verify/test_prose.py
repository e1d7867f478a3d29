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
from symacct.verify.judging.bounds import Truth
from symacct.verify.judging.truth import Oracle
from symacct.verify.peer.protocol import Answer, Ask, AskedPart
from symacct.verify.reporting.document import document
from symacct.verify.reporting.judgement import Judgement
from symacct.verify.reporting.page import figure, page
from symacct.verify.reporting.prose import sentences, title
from symacct.verify.reporting.report import PlottedError, call, reproduce
from tests.verify.peers import program
from tests.verify.test_judgement import HALVED, OTHERS, found, report

SMALL, EXTENT = "Users of the peer are at risk", Extent(2, 1, 6, 0, 0, 0, 0, 1, 30)


def reports_of(whole):
    """The plain text and the page."""
    shown = document(Judgement(whole))
    return "\n".join(section.text for section in shown.sections), page([shown])


def of(*findings):
    (defect,) = report(*findings).defects
    return " ".join(sentences(defect))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("1/2", "The answer is too small by 50 % of the truth."),
        ("0.995", "The answer is too small by 0.5"),
        (str(1 - Fraction(3, 10**8)), "The answer is too small by a share of 3e-8 of the truth."),
        ("-2", "The answer is too small: it is negative, where the truth is positive."),
        ("1.5", "The answer is too large by 50 % of the truth."),
        ("4", "The answer is too large: it is 4 times the truth."),
        ("0", "The answer is too small."),
    ],
)
def test_by_how_much_and_in_which_direction(value, said):
    verdict = "loose" if Fraction(value) > 1 else "negative" if value == "-2" else "unsound"
    assert said in of(found(verdict, value))


def test_what_is_asked_answered_and_true_and_who_is_at_risk():
    text = of(*HALVED)
    for said in (
        "The question: what is the Rényi divergence ε(α) at α = ",
        ", under add/remove?",
        "The peer answers 0.5. The truth is 1.",
        SMALL,
    ):
        assert said in text
    assert "No user is at risk" in of(found("loose", 2))
    rounding = of(found("negative", "-1.5", beyond_rounding=False))
    assert "hardly puts a user at risk" in rounding
    assert SMALL not in rounding


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
    ("body", "cause"),
    [
        ("say({'value': value * 4})", "twice the sensitivity or half the noise, as of a record"),
        ("say({'value': value / 4})", "half the sensitivity or twice the noise"),
        ("say({'value': value / 2})", "every answer is 0.5 times the truth."),
        ("say({'value': value * 2})", "every answer is 2 times the truth."),
        ("say({'value': value * 1.2345})", "every answer is 1.2345 times the truth."),
        (
            "import math; say({'value': value / math.log(2)})",
            "every answer is 1.442695 times the truth = 1/ln 2: bits in place of nats.",
        ),
        (
            "import math; say({'value': value / math.log(10)})",
            "every answer is 0.4342945 times the truth = 1/ln 10: log10 in place of ln.",
        ),
        ("say({'value': value * (1 + alpha / 1000)})", "this answer does not show it; look at"),
        (
            "import struct; say({'value': struct.unpack('f', struct.pack('f', value))[0] * 3})",
            "every answer is 3 times the truth.",
        ),
    ],
)
def test_the_likely_cause_is_named(tmp_path, body, cause):
    seen = verify(program(tmp_path, body), EXTENT)
    text = " ".join(line for defect in seen.defects for line in sentences(defect))
    assert f"Likely cause: {cause}" in text


@pytest.mark.parametrize(
    ("kind", "by_orders"), [("epsilon", True), ("delta", True), ("rdp", False)]
)
def test_an_excess_over_the_best_order_is_not_called_one_over_what_is_proved(kind, by_orders):
    """The exact profile of a sampled Gaussian proves half of what the best order does."""
    between = Truth(Fraction(1, 2), Fraction(1), exact=False)
    text = of(replace(found("loose", 4, kind=kind, at="2"), truth=between))
    high = "the best by Rényi orders is 1" if by_orders else "it is proved to be at most 1"
    assert f"The truth is at least 0.5, and {high}." in text
    what = "the best by Rényi orders" if by_orders else "what is proved"
    assert f"The answer is too large: it is 4 times {what}." in text


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
    said = " ".join(done.output.split())
    assert "Likely cause: twice the sensitivity or half the noise" in said
    assert "No user is at risk" in said
    assert said.endswith("is below what is proved by more than rounding to float64.")


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


def test_where_the_error_begins_is_said_of_the_defect():
    """In every report, beside a question far from there; the lowest orders where it is several."""

    def jump(low, high):
        one = found("jump", "0.99", at=high, below=True)
        note = f"between α = {low} and {high} the value over the truth goes from 1 to 0.99"
        return replace(one, note=note, other=(replace(one.ask, at=low), one.answer))

    whole = report(found("unsound", "0.9", at="27"), jump("2", "3"))
    (defect,) = whole.defects
    assert defect.shown.ask.at == "27"
    said = (
        "For PoissonSubsample(Gaussian(1), 0.1), between α = 2 and 3 the value over the truth goes "
        "from 1 to 0.99."
    )
    assert said in sentences(defect)
    for place in reports_of(whole):
        assert said in place
    only = report(jump("2", "3")).defects[0]
    assert sum("between α = 2" in line.lower() for line in sentences(only)) == 1


def test_no_report_names_a_defect_in_words_of_the_protocol(tmp_path):
    """Whatever is sampled, under each relation, on each side, with a mechanism and without."""
    for cause in product(("too small", "jump"), *_CAUSES):
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
    points = [PlottedError(2.0, 1.0, 0.1, error, "", ask) for error in (-0.5, 0.0, 0.5)]
    drawn = figure(points)
    (legend,) = drawn.legends
    assert min(line.get_markersize() for line in drawn.axes[0].lines if len(line.get_xdata())) >= 5
    marks = [one.get_markersize() for one in legend.legend_handles]
    assert len(marks) == 3
    assert min(marks) >= 10
