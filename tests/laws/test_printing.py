"""What is printed of an ε or δ, read back exactly, is on the safe side of what is proved."""

import csv
import io
import json
import re
from decimal import Decimal
from fractions import Fraction

import pytest
import sympy
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import (
    Claim,
    DomainError,
    Enclosure,
    Gaussian,
    Kind,
    Laplace,
    LimitError,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    calibrate,
    parse,
    sweep,
)
from symacct.cli import main
from symacct.explore.reference import reference_table
from symacct.export.tables import table
from symacct.kernel.answer import Guarantee, bound, rational_float, rational_text
from symacct.kernel.answer import given as stated
from symacct.papers.document import paper
from tests.independent import fraction
from tests.kernel.test_enclosure import balls
from tests.thinning import covering, examples, some

NODES = [
    Gaussian(5),
    Gaussian("1/3"),
    Laplace(2),
    RandomizedResponse("0.6"),
    PureDP("1/10"),
    600_000 * PoissonSubsample(Gaussian(5), "1/1000"),
    100 * SubsampleWithoutReplacement(Laplace(2), "1/50"),
]
DELTAS = ["1e-5", "1/3", "1e-30"]
DIGITS = [1, 3, 6, 17, 30]
SPECS = [".1f", ".3f", ".12f", ".0f", ".2e", ".6g", ".15g", "g", "e", "f", ".4", ".3%", ">30.5g"]


def read(text):
    """The number printed, exactly."""
    text = text.strip().strip("$")  # in LaTeX a formula
    return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)


def printed(x):
    """Every way of printing one Enclosure that is not `str`."""
    yield x.rounded()
    yield from (x.rounded(digits) for digits in DIGITS)
    yield x.as_dict()["value"]
    yield str(Decimal(float(x))).replace("Infinity", "inf")
    yield from (format(x, spec) for spec in SPECS)
    yield from (str(round(x, places)) for places in (-2, 0, 3, 12))
    yield str(round(x))


def on_the_safe_side(text, x):
    value = float(text) if text == "inf" else read(text)
    if x.claim.kind is Kind.LOWER:
        return value <= fraction(x.lower)
    return value >= (fraction(x.upper) if x.exactly is None else x.exactly)


@given(balls())
@examples(300, 1000)
def test_every_way_of_printing_an_enclosure_is_safe(x):
    for text in printed(x):
        assert on_the_safe_side(text, x), text
    relied_on = bound(x, x.claim.kind)
    assert on_the_safe_side(str(relied_on), x)
    assert on_the_safe_side(f"{relied_on}", x)
    assert on_the_safe_side(repr(relied_on).split("(")[1].split(",")[0], x)


@given(balls(), st.integers(0, 20))
@examples(200, 1000)
def test_what_is_printed_is_less_than_a_unit_away(x, places):
    """`f` and `round` give the nearest decimal on the safe side, e that of as many digits."""
    end = fraction(x.lower if x.claim.kind is Kind.LOWER else x.upper)
    sign = -1 if x.claim.kind is Kind.LOWER else 1
    for value in (read(f"{x:.{places}f}"), Fraction(round(x, places))):
        assert 0 <= sign * (value - end) < Fraction(1, 10**places)
    text = f"{x:.{places}e}"
    unit = Fraction(10) ** (int(text.partition("e")[2]) - places)
    assert 0 <= sign * (read(text) - end) < unit


def without_powers(tex):
    """2.5 · 10⁻⁹ in TeX as 2.5e-9."""
    power = r"(?:([\d.]+) \\cdot )?10\^\{(-?\d+)\}"
    return re.sub(power, lambda found: f"{found[1] or 1}e{found[2]}", tex)


def ways(guarantee, ask):
    """(where, text) of every place where the number asked is printed."""
    asked = guarantee.asked
    yield from ((f"printed {i}", text) for i, text in enumerate(printed(asked)))
    yield "str", str(asked)
    yield "f-string", f"{asked}"
    yield "json", json.loads(json.dumps(guarantee.as_dict()))[ask]["value"]
    place = 0 if ask == "epsilon" else 1
    inside = re.match(r"\((\S+), (\S+)\)-DP", str(guarantee))
    yield "guarantee", inside[place + 1]
    for form in ("text", "markdown", "latex"):
        said = without_powers(guarantee.statement(form))
        pair = re.search(r"are \(.*?= (\S+?), .*?= (\S+?)\)-diff", said)
        assert pair, said
        yield form, pair[place + 1]


@covering()
@pytest.mark.parametrize("digits", DIGITS)
@pytest.mark.parametrize("node", NODES, ids=repr)
def test_a_guarantee_is_printed_safely_everywhere(node, digits):
    for given_text in DELTAS:
        guarantee = node.epsilon(given_text, digits)
        for where, text in ways(guarantee, "epsilon"):
            assert on_the_safe_side(text, guarantee.epsilon), (where, text)
    guarantee = node.delta("1/2", digits)
    for where, text in ways(guarantee, "delta"):
        assert on_the_safe_side(text, guarantee.delta), (where, text)


@covering()
@pytest.mark.parametrize("node", NODES[:5], ids=repr)
@pytest.mark.parametrize("digits", [2, 6, 25])
def test_the_command_line_prints_safely(node, digits):
    options = ["--digits", str(digits)]
    by_orders = {"digits": 60, "conversion": "improved"}
    found = {
        "ε": (["epsilon", repr(node), "--delta", "1e-5"], node.epsilon("1e-5", **by_orders)),
        "δ": (["delta", repr(node), "--epsilon", "1/2"], node.delta("1/2", **by_orders)),
    }
    for letter, (arguments, known) in found.items():
        truth = known.asked
        shown = CliRunner().invoke(main, [*arguments, *options, "--more"])
        assert shown.exit_code == 0, shown.output
        below = shown.output.partition("by Rényi orders, for comparison")[2]
        text = re.search(rf"│ {letter} +│ (\S+)  ", below)[1]
        assert read(text) >= fraction(truth.lower)
        text = re.search(rf"│ report this +│ {letter} = (\S+) at ", shown.output)[1]
        given = {"delta": "1e-5"} if letter == "ε" else {"epsilon": "1/2"}
        asked = getattr(node, arguments[0])(**given, digits=30, conversion="exact")
        assert read(text) >= fraction(asked.asked.lower)
        words = [*arguments, *options, "--more", "--json"]
        document = json.loads(CliRunner().invoke(main, words).output)
        below = document["by_orders"]
        for said, least, kind in ((document, asked.asked, "exact"), (below, truth, "upper")):
            answer = said[arguments[0]]
            assert read(answer["value"]) >= read(answer["upper"])
            assert read(answer["value"]) >= fraction(least.lower)
            assert said["kind"] == answer["claim"]["kind"] == kind
    for lower in ([], ["--lower"]):
        arguments = ["rdp", repr(node), "--alpha", "5/2", *options, *lower]
        shown = CliRunner().invoke(main, arguments)
        text = re.search(r"│ 5/2 +│ (\S+) ", shown.output)[1]
        row = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)[0]
        assert row["value"] == text
        truth = node.rdp("5/2", digits=60)
        if lower:
            assert read(text) <= fraction(truth.upper)
        else:
            assert read(text) >= fraction(truth.lower)


@pytest.mark.parametrize("node", NODES[:4], ids=repr)
def test_tables_sweeps_and_documents_print_safely(node):
    for digits in some([4], [1, 4, 12]):
        rows = csv.DictReader(io.StringIO(table(node, [2, "5/2", 9], digits).csv()))
        for row in rows:
            assert read(row["epsilon"]) >= fraction(node.rdp(row["alpha"], digits=60).lower)
        for conversion, kind in (("improved", "upper"), ("exact", "exact")):
            for record in sweep(node, {"delta": DELTAS}, digits=digits, conversion=conversion):
                truth = node.epsilon(record["delta"], 60, conversion).epsilon
                assert read(record["value"]) >= read(record["upper"]) >= fraction(truth.lower)
                assert record["kind"] == kind
            rows = reference_table(node, {"delta": DELTAS}, "epsilon", digits, conversion).rows
            assert all(row["kind"] == kind for row in rows)
    tex = without_powers(paper(node, delta="1/3", digits=3))
    said = re.search(
        r"\(\$\\varepsilon = (.*?)\$, \$\\delta = (.*?)\$\)-differentially private", tex
    )
    epsilon, delta = said.groups()
    assert read(delta) >= Fraction(1, 3)
    assert read(epsilon) >= fraction(node.epsilon("1/3", 30, "exact").epsilon.lower)


# --- what is asked is what its kind says


@pytest.mark.parametrize("node", NODES, ids=repr)
def test_the_number_asked_is_an_upper_bound_of_a_curve_that_may_be_exact(node):
    for guarantee in (node.epsilon("1e-5", 6, "improved"), node.delta(1, 6, "improved")):
        assert guarantee.kind is Kind.UPPER
        assert guarantee.asked.claim.kind is Kind.UPPER
        assert guarantee.claim.kind is node.rdp(2).claim.kind
        assert guarantee.as_dict()["kind"] == "upper"


def test_the_kind_of_a_guarantee_is_stated_and_never_a_default():
    known = Gaussian(5).epsilon("1e-5", 6)
    parts = {"epsilon": known.epsilon, "delta": known.delta, "alpha": 2, "conversion": "improved"}
    with pytest.raises(TypeError, match="kind"):
        Guarantee(**parts, claim=known.claim, optimal=True)
    exact = Guarantee(
        **parts, kind=Kind.EXACT, claim=known.claim, optimal=True, mechanism=Gaussian(5)
    )
    assert exact.epsilon.claim.kind is Kind.EXACT
    assert read(str(exact.epsilon)) >= fraction(known.epsilon.upper)


def test_a_lower_bound_is_asked_for_as_one():
    value = Gaussian(3).lower_bound(5)  # 5/18, the exact value
    assert value.claim.kind is Kind.LOWER
    assert f"{value:.3f}" == "0.277"
    assert f"{Gaussian(3).rdp(5):.3f}" == "0.278"
    assert Fraction(float(value)) < Fraction(5, 18)


# --- calibration


SIGMA = sympy.Symbol("sigma", positive=True)
COUNT = sympy.Symbol("n", integer=True, positive=True)


@covering()
@pytest.mark.parametrize(
    ("text", "symbol", "epsilon"),
    [
        ("Gaussian(sigma)", SIGMA, 3),
        ("PureDP(sigma)", SIGMA, 3),
        ("ZCDP(sigma)", SIGMA, "1.23456789"),
        ("Scale(Gaussian(10), sigma)", SIGMA, "1/3"),
        ("n*PoissonSubsample(Gaussian(1), 1/100)", COUNT, 3),
    ],
)
@pytest.mark.parametrize("digits", [1, 17, 22])
def test_a_printed_meets_meets_when_pasted_back(text, symbol, epsilon, digits):
    m = parse(text, [symbol])
    found = calibrate(m, epsilon, "1e-6", digits=digits, conversion="improved")
    words = re.match(r"\w+ = (\S+) meets the target, (\S+) does not", str(found)).groups()
    arguments = ["calibrate", text, "--epsilon", str(epsilon)]
    arguments += ["--delta", "1e-6", "--digits", str(digits)] + ["--whole"] * (symbol is COUNT)
    shown = CliRunner().invoke(main, arguments)
    assert shown.exit_code == 0, shown.output
    lines = re.search(r"│ (\S+) meets the target, (\S+) does not", shown.output).groups()
    document = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)
    from_repr = re.search(r"= (\S+) meets the target, (\S+) does not", repr(found)).groups()
    by = document["guarantee"]["conversion"]
    both = (words, "improved"), (from_repr, "improved"), (lines, by)
    for (meets, fails), conversion in (*both, ((document["meets"], document["fails"]), by)):
        how = {"digits": 40, "conversion": conversion}
        assert m.subs({symbol: meets}).epsilon("1e-6", **how).epsilon <= epsilon
        assert m.subs({symbol: fails}).epsilon("1e-6", **how).epsilon > epsilon
    assert parse(document["expression"]).epsilon("1e-6", **how).epsilon <= epsilon


# --- what is given


@given(st.fractions(0, 10**9))
@example(Fraction(1, 3**50))
@example(Fraction(1, 10**300))
@example(Fraction(10**300))
@examples(300, 1000)
def test_a_stated_number_is_printed_exactly_or_rounded_up(x):
    text = stated(x)
    assert len(text) <= 24
    assert x <= Fraction(text) <= x * (1 + Fraction(1, 10**15))
    if len(str(x)) <= 24:
        assert Fraction(text) == x
    assert Fraction(rational_text(x, 5, up=False)) <= x <= Fraction(rational_text(x, 5, up=True))
    assert Fraction(rational_float(x)) >= x


# --- formats


def test_formats_are_those_of_floats():
    x = Gaussian(3).rdp(5)  # 5/18
    assert f"{x:.3f}|{x:>10.2e}|{x:.4g}|{x:+.1%}" == "0.278|   2.78e-1|0.2778|+27.8%"
    assert f"{x}" == str(x)
    assert (round(x), round(x, 3), round(x, -1)) == (1, Decimal("0.278"), 10)
    infinite = Gaussian(1).rdp("inf")
    assert f"{infinite:.3f} {infinite:>5.2e} {infinite:g}" == "inf   inf inf"
    negative = Enclosure(-x.upper, -x.lower, Claim(Kind.UPPER))
    assert f"{negative:.3f} {negative:.2g}" == "-0.277 -0.27"
    assert f"{Enclosure(-x.upper, -x.lower, Claim(Kind.LOWER)):.3f}" == "-0.278"


@pytest.mark.parametrize("spec", ["d", "s", ".3s", "abc", ".", ".3.3f", "x", "🙂"])
def test_other_formats_are_refused(spec):
    with pytest.raises(DomainError, match="format: found"):
        format(Gaussian(3).rdp(5), spec)


@pytest.mark.parametrize("spec", [".99999999f", ".10001g", ".99999999999999999999999999e"])
def test_formats_of_absurd_size_are_refused(spec):
    with pytest.raises(LimitError, match="format"):
        format(Gaussian(3).rdp(5), spec)
    with pytest.raises(LimitError):
        format(Gaussian("1e-20000").rdp(5), ".3f")


def test_infinity_has_no_whole_number():
    with pytest.raises(OverflowError):
        round(Gaussian(1).rdp("inf"))
