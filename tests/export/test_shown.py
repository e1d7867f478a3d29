"""What an object shows of itself: a repr of few lines, a card of well-formed HTML, safe digits."""

import functools
import json
import math
import re
import sys
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser

import pytest
import sympy
from click.testing import CliRunner

from symacct import (
    ZCDP,
    Curve,
    DomainError,
    Gaussian,
    Laplace,
    MissingPackageError,
    PoissonSubsample,
    PureDP,
    SubsampleWithoutReplacement,
    binary,
    calibrate,
    check_odd_chi,
    compare,
    falsify,
    parse,
    sweep,
    theorem,
    theorems,
)
from symacct.cli import main
from symacct.explore.comparison import compare_epsilon
from symacct.export.description import in_few_words, value
from symacct.export.tables import table
from symacct.kernel import parameters
from symacct.kernel.answer import found_order
from symacct.testing import UnsoundError, assert_sound
from tests.thinning import covering

SIGMA = sympy.Symbol("sigma", positive=True)
STEP = PoissonSubsample(Gaussian(5), "1/1000")
LONG = sum(n * Laplace(n + 1) for n in range(1, 60))
#: Of each sort of object one, made where a test asks for it.
OBJECTS = {
    "enclosure": lambda: STEP.rdp(8),
    "bound": lambda: STEP.epsilon("1e-5").epsilon,
    "guarantee": lambda: (1000 * STEP).epsilon("1e-5"),
    "delta": lambda: (1000 * STEP).delta("1/100"),
    "guarantee of a long expression": lambda: LONG.epsilon("1e-5", 6, "improved"),
    "comparison": lambda: compare(STEP, [8, "5/2"]),
    "comparison of ε": lambda: compare_epsilon(STEP, "1e-5", 6),
    "sweep": lambda: sweep(
        Gaussian(SIGMA), {"sigma": [*range(1, 30), 0], "delta": "1e-5"}, digits=6
    ),
    "calibration": lambda: calibrate(Gaussian(SIGMA), 1, "1e-5"),
    "expansion": lambda: STEP.expansion("gamma", alpha=8),
    "graph": LONG.graph,
    "attack": lambda: falsify("ACG16-L3", 50),
    "refutation": lambda: falsify("T8-WITHOUT-REPLACEMENT", 2000),
    "theorem": lambda: theorem("ZW19-T8"),
    "condition": lambda: check_odd_chi(Gaussian(5), 5),
    "optimum": lambda: Gaussian(SIGMA).optimum(),
}
NODES = {
    "run": 1000 * STEP,
    "open": PoissonSubsample(Gaussian(SIGMA), "1/1000"),
    "formula of another mechanism": 1000 * PureDP(1),
    "of a function": Curve(lambda alpha: alpha, kind="upper", adjacency="either"),
    "bits of a float": PoissonSubsample(Gaussian(2), binary(0.001)),
}


@functools.cache
def made(name):
    """The object, expression or list of this name, as it is in every test of the file."""
    return CARDS[name]() if name not in NODES else NODES[name]


@pytest.mark.parametrize("name", OBJECTS)
def test_a_repr_has_at_most_five_lines_of_a_readable_length(name):
    lines = repr(made(name)).splitlines()
    assert 1 <= len(lines) <= 5
    assert max(map(len, lines)) <= 240
    assert "object at 0x" not in repr(made(name))


class Balanced(HTMLParser):
    """Every tag that is opened is closed, in order; the text is collected."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text = [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def card(shown):
    if hasattr(shown, "_repr_html_"):
        return shown._repr_html_()
    return shown._repr_mimebundle_()["text/html"]


CARDS = {
    **OBJECTS,
    **NODES,
    "theorems": theorems,
    "some theorems": lambda: theorems()[:3],
    "long": lambda: LONG,
    "explanation": lambda: (1000 * STEP).explain(8),
}


@pytest.mark.parametrize("name", CARDS)
def test_a_card_is_well_formed_and_not_empty(name):
    html = card(made(name))
    assert "".join(Balanced(html).text).strip()
    assert "color" not in html  # which would be one for light pages, or one for dark


@pytest.mark.parametrize("name", NODES)
def test_the_card_of_an_expression_says_what_it_is_and_of_whom(name):
    m = NODES[name]
    rows = Balanced(card(m)).text
    assert rows[1] == in_few_words(m)
    assert any("neighbouring datasets" in text for text in rows)


@covering()
@pytest.mark.parametrize("given", [{"delta": "1e-5"}, {"epsilon": "1/2"}])
@pytest.mark.parametrize(
    "m", [2 * Gaussian(5), ZCDP("1/50"), SubsampleWithoutReplacement(Gaussian(2), "1/9")]
)
def test_a_report_s_number_is_the_best_proved_and_comes_first(m, given):
    """It is that of the command; the exact profile is less where it is known."""
    found = m.report(**given)
    verb, letter = ("epsilon", "ε") if "delta" in given else ("delta", "δ")
    ((name, value),) = given.items()
    printed = CliRunner().invoke(main, [verb, repr(m), f"--{name}", value, "--json"])
    headline = json.loads(printed.output)
    best, by_orders = found.guarantee.asked, getattr(m, verb)(value, 6, "improved")
    assert headline == json.loads(json.dumps(found.as_dict()))
    assert re.match(rf"report this +{letter} = {re.escape(best.rounded())} at ", str(found))
    assert best.upper <= by_orders.asked.upper
    assert (best.upper < by_orders.asked.lower) == (found.guarantee.conversion != "improved")
    rows = Balanced(found._repr_html_()).text
    assert rows[0] == "report this"
    assert any("record" in text for text in rows)
    assert max(map(len, str(found).splitlines())) <= 80


def test_a_report_answers_one_question():
    for asked in (STEP.report, STEP.statement):
        for given in ({}, {"delta": "1e-5", "epsilon": 1}):
            with pytest.raises(DomainError):
                asked(**given)


def test_a_name_is_text_and_no_markup():
    hostile = sympy.Symbol("<b>&", positive=True)
    swept = sweep(Gaussian(hostile), {hostile: 2, "delta": "1e-5"})
    assert "<b>" not in card(swept)
    assert "<b>&" in Balanced(card(swept)).text


def test_the_bits_of_a_float_are_said_to_be_them_in_a_line():
    of_float, of_text = (
        PoissonSubsample(Gaussian(2), x).epsilon("1e-5", 6) for x in (binary(0.001), 0.001)
    )
    line = "0.001 stands for the bits of that float, which are another number"
    assert line in repr(of_float).splitlines()[-1]
    assert line in Balanced(card(of_float)).text
    for exactly in (of_text, Gaussian(0.375).epsilon("1e-5"), Gaussian(2.5).epsilon("1e-5", 6)):
        assert "float" not in repr(exactly) + card(exactly)
    assert len(repr(of_float).splitlines()) == 5


SIGMAS = ["11/10", "12.345", "3.75", "7.25", "0.123456789", "1.0000001", "2", "31", "4/9", "5/7"]


@covering()
@pytest.mark.parametrize("count", [2, 7, 10])
@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_no_number_of_what_was_run_is_cut_or_left_out_uncounted(count, columns):
    """Every σ stands beside the number, or is among the others, which are counted."""
    steps = [PoissonSubsample(Gaussian(sigma), "256/60000") for sigma in SIGMAS[:count]]
    m = sum(n * step for n, step in enumerate(steps, 3))
    words = in_few_words(m)
    assert "…" not in words
    named = [s for s in SIGMAS[:count] if f"σ = {value(Fraction(s))}, " in words]
    (left,) = re.findall(r"and (\d+) runs of (\d+) other mechanism", words) or [("0", "0")]
    assert len(named) + int(left[1]) == count
    runs = sum(map(int, re.findall(r"(\d+) runs of", words)))
    assert runs == sum(range(3, 3 + count))
    assert len(words) < 800
    answer = CliRunner(env={"COLUMNS": columns}).invoke(
        main, ["epsilon", repr(m), "--delta", "1e-5", "--by", "ZW19-T8"]
    )
    shown = " ".join(re.sub(r"[│┃]", " ", answer.output).split())
    assert words in shown


def test_a_sweep_is_a_table_of_arrow_and_of_pandas():
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is an extra: symacct[tables]")
    pytest.importorskip("pandas", reason="pandas is an extra: symacct[tables]")
    swept = made("sweep")
    table = swept.to_arrow()
    assert isinstance(table, arrow.Table)
    assert table.column_names == list(swept.to_pandas().columns)
    assert table["value"].to_pylist() == [record.get("value") for record in swept]
    assert table["optimal"].to_pylist()[:2] == [True, True]
    assert table["error"].to_pylist()[-1].startswith("DomainError")


def test_without_arrow_the_remedy_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match="pip install pyarrow"):
        made("sweep").to_arrow()


def test_a_package_that_is_broken_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "brokenpackage.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingPackageError, match=r"cannot be imported .*nothing_of_this_name"):
        parameters.package("brokenpackage", "a table", "pip install brokenpackage")
    with pytest.raises(MissingPackageError, match="found no nothing-of-this-name"):
        parameters.package("nothing_of_this_name", "a table", "pip install it")


def test_a_test_that_fails_ends_at_its_own_line():
    with pytest.raises(UnsoundError) as caught:
        assert_sound(lambda alpha: alpha / 100, "Gaussian(5)")
    own, *hidden = caught.traceback
    assert own.path.name == "test_shown.py"
    assert hidden
    assert all(frame.ishidden(caught) for frame in hidden)


TEXT = (
    "PoissonSubsample(Gaussian(7), 1/9) + Gaussian(3, sensitivity=2) + 7*PureDP(1/10) + Laplace(9)"
)
TWICE = parse(TEXT)


@pytest.mark.parametrize(
    "shown",
    [
        lambda: repr(TWICE.epsilon("1e-5", 6)),
        lambda: card(TWICE.epsilon("1e-5", 6)),
        lambda: repr(compare(TWICE, [2])),
        lambda: str(compare(TWICE, [2])),
        lambda: card(compare(TWICE, [2])),
        lambda: repr(sweep(TWICE, {"delta": ["1e-5"]}, digits=4)),
        lambda: card(sweep(TWICE, {"delta": ["1e-5"]}, digits=4)),
        lambda: repr(TWICE.explain()),
        lambda: table(TWICE, [2]).caption(),
        lambda: TWICE.epsilon("1e-5", 6).statement(),
        *(
            lambda asked=asked: CliRunner().invoke(main, [asked[0], TEXT, *asked[1:]]).output
            for asked in (
                ("rdp", "--alpha", "2"),
                ("epsilon", "--delta", "1e-5"),
                ("delta", "--epsilon", "3"),
                ("compare", "--alpha", "2"),
                ("explain",),
                ("sweep", "--over", "delta=1e-5"),
                ("statement", "--delta", "1e-5"),
            )
        ),
    ],
)
def test_a_number_is_shown_with_its_relation_and_its_sensitivities(shown):
    """The smaller one is the default, which the text of an expression leaves out."""
    text = re.sub(r"[\s│]+", " ", re.sub(r"</?t[^>]*>", " ", shown()))
    assert re.search("add_remove|adding or removing one record", text)
    both = "sensitivities 1 and 2" in text
    assert both or all(re.search(f"sensitivity:? {one}\\b", text) for one in (1, 2)), text


def test_a_certificate_is_a_dict_that_a_notebook_shows_as_its_file():
    document = Gaussian(5).epsilon("1e-5").certificate()
    card = unescape(re.sub("<[^>]*>", "", document._repr_html_()))
    assert json.loads(card) == document == json.loads(json.dumps(document))


def test_an_order_that_was_found_has_the_digits_that_were_found():
    """The order of a number of few digits and that of one of many are printed alike."""
    for m in (600_000 * STEP, Gaussian(5), 50 * Laplace(20), 10**6 * Gaussian(10**4)):
        few, many = (m.epsilon("1e-8", digits, "improved") for digits in (6, 20))
        assert few.alpha != many.alpha
        assert found_order(few.alpha) == found_order(many.alpha)
        assert 1 < len(found_order(few.alpha)) < 7
    exact = {2: "2", Fraction(5, 2): "2.5", 65536: "65536", Fraction(10001, 10000): "1.0001"}
    near = {1 + Fraction(1, 2**30): "1.0000000009313", 10**7 + 1: "1e+07", math.inf: "∞"}
    near[1 + Fraction(1, 2**60)] = "1.0000000000000000008674"  # no float tells it from 1
    near[1 + Fraction(1, 10**400)] = "1." + "0" * 399 + "1"
    for alpha, says in (exact | near).items():
        assert found_order(alpha) == says
