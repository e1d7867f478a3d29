"""The promises of docs/evidence.md, each on questions of the test vectors drawn from every file."""

import decimal
import json
import random
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import flint
import mpmath
import pytest

from symacct.evidence.vectors import FILES, count_of, line
from symacct.evidence.vectors.answers import double, node_of
from symacct.kernel.accountant import Accountant
from symacct.kernel.claims import Kind
from tests.evidence.vector_checks import NoMethodError, check
from tests.soak.checks import checks
from tests.thinning import some

ROOT = Path(__file__).parents[2]
ASKED = {"rdp": "order", "epsilon": "delta", "delta": "epsilon"}


def sample(seed, each):
    """(file, number, line) of some questions of each file, in any order."""
    draw = random.Random(seed)
    found = []
    for file in FILES:
        text = (ROOT / "vectors" / f"{file}.json").read_text(encoding="utf-8").splitlines()
        lines = [one.removesuffix(",") for one in text if one.startswith('{"n":')]
        found += [(file, n, lines[n]) for n in draw.sample(range(count_of(file)), each)]
    draw.shuffle(found)
    return found


def test_containment_another_method_is_within_the_ends():
    held = 0
    for file, _, text in sample("containment", some(3, 40)):
        try:
            held += check(FILES[file][0], json.loads(text)) != "float64"
        except NoMethodError:
            continue
    assert held >= len(FILES) * some(2, 25)


def test_a_check_sees_a_digit_that_is_wrong():
    """Both ends moved by five in the 28th digit, the last that is compared."""
    seen = 0
    for file, _, text in sample("wrong", 2):
        question = json.loads(text)
        if float(question["lower"]) in (0, 1):
            continue
        with decimal.localcontext(prec=40):
            grown = 1 + decimal.Decimal("5e-28")
            wrong = {end: str(decimal.Decimal(question[end]) * grown) for end in ("lower", "upper")}
        try:
            if check(FILES[file][0], question) == "float64":
                continue
        except NoMethodError:
            continue
        with pytest.raises(AssertionError):
            check(FILES[file][0], {**question, **wrong})
        seen += 1
    assert seen >= len(FILES)


def test_the_safe_side_whatever_is_said_is_not_below_the_truth():
    """Few digits, the nearest float and text are above; a lower bound is below."""
    for file, _, text in sample("safe side", some(4, 100)):
        asks, question = FILES[file][0], json.loads(text)
        if asks not in ASKED:
            continue
        node, accountant, given = node_of(question), Accountant(4), double(question[ASKED[asks]])
        truth, most = Fraction(question["lower"]), Fraction(question["upper"])
        if asks == "rdp":
            found = accountant.rdp(node, given)
            assert Fraction(found.rounded(3)) >= truth
            assert Fraction(str(accountant.lower_bound(node, given).rounded(3))) <= most
        else:
            found = getattr(accountant, asks)(node, given).asked
            assert found.claim.kind in (Kind.UPPER, Kind.EXACT)
            assert Fraction(str(found)) >= truth
        assert not found.upper < float("inf") or Fraction(float(found)) >= truth


def test_no_dependence_on_history_or_on_what_else_is_asked():
    for file, number, text in sample("history", some(2, 30)):
        assert line(file, number) == text
    for file, number, text in reversed(sample("history", some(1, 10))):
        assert line(file, number) == text


def test_no_dependence_on_threads():
    asked = sample("threads", some(2, 30))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda one: line(one[0], one[1]), asked))
    assert found == [text for _, _, text in asked]


@pytest.mark.parametrize("digits", [3, 500])
def test_no_dependence_on_any_global_precision(digits):
    before = flint.ctx.prec
    try:
        flint.ctx.prec = 4 * digits
        with mpmath.workdps(digits), decimal.localcontext(prec=digits):
            for file, number, text in sample("precision", some(1, 20)):
                assert line(file, number) == text
            assert flint.ctx.prec == 4 * digits
            assert mpmath.mp.dps == digits
    finally:
        flint.ctx.prec = before


def test_the_soaks_checks_count_each_kind_and_see_a_fault(monkeypatch):
    assert next(iter(checks("rdp_poisson_laplace", 700, "31"))) == "quadrature"
    assert next(iter(checks("rdp_randomized_response", 3, "31"))) == "enumeration"
    assert list(checks("calibration_gaussian", 3, "31")) == ["formula"]
    assert "checker" in list(checks("epsilon_poisson", 0, "31"))
    question = json.loads(line("rdp_poisson_laplace", 700))
    wrong = {**question, "lower": "9" + question["lower"][1:], "upper": "9" + question["upper"][1:]}
    monkeypatch.setattr("tests.soak.checks.line", lambda *asked: json.dumps(wrong))
    with pytest.raises(AssertionError):
        list(checks("rdp_poisson_laplace", 700, "31"))
