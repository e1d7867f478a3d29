"""Certificates are proved by the checker, which shares no line with symacct, and no altered one."""

import functools
import importlib.util
import json
import random
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from click.testing import CliRunner

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    DistributionPair,
    DomainError,
    FiniteMechanism,
    Gaussian,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    SymacctError,
    parse,
)
from symacct.cli import main
from symacct.evidence.certificates import FORMS
from tests.evidence.altered_certificates import FORGED, altered, moved, text_of
from tests.thinning import covering, some

CHECKER = Path(__file__).parents[2] / "checker"
EXAMPLES = sorted((CHECKER / "examples").glob("*.json"))


def loaded(name):
    """A module of the folder `checker`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, CHECKER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check, examples = loaded("check"), loaded("examples")


def remembered(method):
    """The same number at the same precision; what it spent is spent again."""
    known = {}

    @functools.wraps(method)
    def value(*asked):
        key = (check.BITS, *asked)
        if key not in known:
            before = check.WORK
            known[key] = method(*asked), check.WORK - before
        else:
            check.spend(known[key][1])
        return known[key][0]

    return value


# Of the examples the altered ones mostly ask for the same moments.
for kind in (check.Gaussian, check.Laplace):
    kind.moment, kind.upper_half = map(remembered, (kind.moment, kind.upper_half))


def verdict(path):
    """The exit status and what is printed, by an isolated Python."""
    ended = subprocess.run(
        [sys.executable, "-I", CHECKER / "check.py", path], capture_output=True, timeout=600
    )
    assert not ended.stderr
    return ended.returncode, ended.stdout.decode()


def judged(tmp_path, document, capsys):
    """The exit status and what is printed, here."""
    check.WORK = 0
    file = tmp_path / "certificate.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return check.main(file), capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_proved(path):
    status, said = verdict(path)
    assert status == 0
    assert said.startswith("proved: ")
    assert len(path.read_bytes()) < 2000


def test_the_examples_are_of_ten_kinds_and_are_made_again():
    assert len(EXAMPLES) >= 10
    assert {path.stem for path in EXAMPLES} == set(examples.EXAMPLES)
    for path in EXAMPLES:
        assert examples.text(path.stem) == path.read_text(encoding="utf-8")


def test_the_checker_stands_alone():
    """One short file of the standard library."""
    text = (CHECKER / "check.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500
    imported = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
    assert set(imported) <= sys.stdlib_module_names
    assert "eval(" not in text
    assert "exec(" not in text


@pytest.mark.parametrize("seed", [311])
def test_no_altered_certificate_is_proved(seed, tmp_path, capsys):
    texts = {path.stem: path.read_text(encoding="utf-8") for path in EXAMPLES}
    for name, what, text in altered(texts, some(60, 1000), seed):
        status, said = judged(tmp_path, text, capsys)
        assert (status, said[:8]) == (1, "refuted:"), (name, what, said)


@pytest.mark.parametrize("what", FORGED)
def test_no_forged_certificate_is_proved(what, tmp_path, capsys):
    documents = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in EXAMPLES}
    status, said = judged(tmp_path, FORGED[what](documents), capsys)
    assert (status, said.partition(":")[0]) in {(1, "refuted"), (2, "cannot check")}


# The document says what was asked, and rounds what it claims to the safe side.

FOUR_ANSWERS = FiniteMechanism.randomized_response(4, 3)
THREE_LAWS = FiniteMechanism([["1/2", "1/2"], ["1/3", "2/3"], ["1/5", "4/5"]])
ASKED = [
    (Gaussian(3), {}),
    (70 * Laplace(5, 3), {"conversion": "classic"}),
    (RandomizedResponse("9/10") + PureDP("1/3"), {"conversion": "optimal"}),
    (30 * PoissonSubsample(PureDP("1/2"), "1/10"), {}),
    (30 * PoissonSubsample(Laplace("1/3"), "1/10"), {}),
    (5 * PoissonSubsample(Gaussian("1/2"), "1/100"), {}),
    (50 * PoissonSubsample(Gaussian(4, 3) + 2 * Laplace(3), "1/10"), {}),
    (50 * PoissonSubsample(Gaussian(2), "1/10"), {"by": "ZW19-T8"}),
    (50 * PoissonSubsample(Gaussian(2), "1/10"), {"conversion": "exact"}),
    (50 * PoissonSubsample(Gaussian(2), "1/10", "zero_out"), {}),
    (50 * PoissonSubsample(Gaussian(2), "1/10", "zero_out"), {"conversion": "exact"}),
    (9 * PoissonSubsample(FOUR_ANSWERS, "1/9", "zero_out"), {"conversion": "exact"}),
    (40 * Gaussian(30), {"conversion": "exact"}),
    (20 * SubsampleWithoutReplacement(Laplace(1), "1/10"), {}),
    (20 * SubsampleWithoutReplacement(RandomizedResponse("2/3"), "1/10"), {}),
    (
        20 * SubsampleWithoutReplacement(RandomizedResponse("2/3"), "1/10"),
        {"by": "TRIPLE-PURE-UPPER"},
    ),
    (20 * SubsampleWithoutReplacement(PureDP(2), "1/10"), {"by": "TRIPLE-DOMINATED"}),
    (20 * SubsampleWithoutReplacement(Gaussian(1), "1/10"), {"by": "TRIPLE-DOMINATED"}),
    (20 * SubsampleWithoutReplacement(Gaussian(1), "1/10", "add_remove"), {}),
    (ZCDP("1/20", "1/10") + 2 * PoissonSubsample(ZCDP("1/2"), "1/3"), {}),
    (3 * PureDP("1/7") + 4 * RandomizedResponse("3/5"), {"conversion": "exact"}),
    (4 * FOUR_ANSWERS + 3 * PoissonSubsample(FOUR_ANSWERS, "1/9"), {"conversion": "exact"}),
    (THREE_LAWS, {"conversion": "exact"}),
    (DistributionPair(["1/2", "1/2"], ["1/3", "2/3"]), {"conversion": "exact"}),
]


@pytest.mark.parametrize(("m", "how"), ASKED, ids=lambda x: repr(x)[:60])
def test_a_certificate_is_proved_and_claims_no_less_than_was_answered(m, how, tmp_path, capsys):
    how = {"conversion": "improved"} | how
    guarantee = Accountant(9).epsilon(m, "1e-6", **how)
    document = guarantee.certificate()
    assert judged(tmp_path, document, capsys)[0] == 0
    claimed = Fraction(document["epsilon"])
    assert claimed > Fraction(document["delta"]) == Fraction(1, 10**6)
    assert guarantee.epsilon <= claimed
    assert claimed <= Fraction(guarantee.epsilon.rounded(9)) * (1 + Fraction(2, 10**8))
    assert parse(document["expression"]) is m
    # What the checker works out is no less, to 15 digits, than what symacct did.
    for bound in document["proof"].get("bounds", [])[:2]:
        stated = bound["epsilon"]
        bound["epsilon"] = moved(stated, 1 - Fraction(1, 10**15))
        assert judged(tmp_path, document, capsys)[0] == 1
        bound["epsilon"] = stated


def test_delta_is_certified_as_well(tmp_path, capsys):
    for conversion in ("classic", "improved", "optimal", "exact"):
        m = 200 * PoissonSubsample(Gaussian(2), "1/50")
        guarantee = Accountant(8).delta(m, 1, conversion=conversion)
        document = guarantee.certificate()
        assert judged(tmp_path, document, capsys)[0] == 0
        assert document["epsilon"] == "1"
        assert guarantee.delta <= Fraction(document["delta"])


_ZEROED_OF_A_FIXED_SIZE = SubsampleWithoutReplacement(Gaussian(5), "1/9", "zero_out")


@pytest.mark.parametrize(
    ("m", "how", "found"),
    [
        (TCDP(1, 9), {}, "no certificate yet for TCDP"),
        (DistributionPair(["1/2", "1/2"], ["1/3", "2/3"]), {}, "for DistributionPair"),
        (2 * THREE_LAWS, {"conversion": "exact"}, "of which no one pair is the worst"),
        (THREE_LAWS, {}, "for FiniteMechanism"),
        (SubsampleWithoutReplacement(Gaussian(5), "1/9"), {}, "by TRIPLE-GAUSSIAN"),
        (SubsampleWithoutReplacement(ZCDP(1), "1/9"), {}, "by WBK19-T9"),
        (_ZEROED_OF_A_FIXED_SIZE, {}, "adjacency='zero_out') by ZERO-OUT-GAUSSIAN"),
        (_ZEROED_OF_A_FIXED_SIZE, {"conversion": "exact"}, "adjacency='zero_out') by the exact"),
        (PoissonSubsample(PoissonSubsample(Gaussian(5), "1/9"), "1/9"), {}, "what is rewritten"),
        (2 * Laplace(1), {"conversion": "exact"}, "by the exact profile"),
        (PoissonSubsample(Gaussian(1), "1/9"), {"conversion": "exact"}, "a contour of more than"),
        (PureDP(1), {"conversion": "total-variation"}, "the conversion 'total-variation'"),
        (PureDP(1, "add_remove"), {}, "for PureDP under add_remove"),
    ],
    ids=lambda x: repr(x)[:40],
)
def test_where_there_is_none_it_is_said(m, how, found):
    how = {"conversion": "improved"} | how
    guarantee = m.epsilon("1/2" if "total-variation" in how.values() else "1e-5", digits=5, **how)
    with pytest.raises(DomainError, match="no certificate yet for") as error:
        guarantee.certificate()
    assert found in str(error.value)


@pytest.mark.parametrize("how", [{}, {"conversion": "exact"}], ids=["renyi", "profile"])
def test_a_record_zeroed_out_has_the_pair_of_a_poisson_sample_alone(how, tmp_path, capsys):
    """The pair of add/remove says nothing of it in a sample of fixed size, nor does another's."""
    how = {"conversion": "improved"} | how
    removed = Accountant(7).epsilon(50 * PoissonSubsample(Gaussian(2), "1/10"), "1e-5", **how)
    text = json.dumps(removed.certificate())
    zeroed = text.replace("add_remove", "zero_out")
    assert judged(tmp_path, zeroed, capsys)[0] == 0
    fixed = text.replace("PoissonSubsample", "SubsampleWithoutReplacement")
    assert judged(tmp_path, fixed, capsys)[0] == 0
    status, said = judged(tmp_path, fixed.replace("add_remove", "zero_out"), capsys)
    assert (status, said[:8]) == (1, "refuted:")
    of_both = text.replace('"adjacency": "add_remove"', '"adjacency": "zero_out"')
    of_both = of_both.replace("adjacency='add_remove'", "adjacency='zero_out'")
    assert of_both != text
    status, said = judged(tmp_path, of_both, capsys)
    assert (status, said[:8]) == (1, "refuted:")
    assert "the relation is another" in said


def test_the_command_writes_what_the_method_gives(tmp_path):
    file = tmp_path / "run.json"
    asked = ["certificate", "10*Laplace(2)", "--delta", "1e-5", "--conversion", "optimal"]
    written = CliRunner().invoke(main, [*asked, "--out", str(file)])
    assert written.output.startswith(f"{file} holds the json certificate")
    printed = CliRunner().invoke(main, asked).output
    assert printed == file.read_text(encoding="utf-8")
    guarantee = Accountant(6).epsilon(10 * Laplace(2), "1e-5", conversion="optimal")
    assert json.loads(printed) == guarantee.certificate()
    assert verdict(file)[0] == 0
    none = CliRunner().invoke(main, ["certificate", "Gaussian(5)"])
    assert (none.exit_code, none.stderr) == (
        2,
        "Error: certificate: needed --delta or --epsilon, and one of them only\n",
    )


def test_nothing_but_a_finding_ends_with_1():
    for words in ([], ["a", "b"], ["."]):
        ended = subprocess.run(
            [sys.executable, "-I", CHECKER / "check.py", *words], capture_output=True
        )
        assert (ended.returncode, ended.stdout[:13], ended.stderr) == (2, b"cannot check:", b"")
    poor = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, CHECKER / "check.py", EXAMPLES[0]]
    ended = subprocess.run(command, env=poor, capture_output=True)
    assert (ended.returncode, ended.stdout[:7], ended.stderr) == (0, b"proved:", b"")


# What is hostile is refused, and nothing is believed.


def test_what_is_no_certificate_cannot_be_checked(tmp_path, capsys):
    good = json.loads(EXAMPLES[0].read_text(encoding="utf-8"))
    large = f'"{"x" * 2_000_000}"'
    for text in ("", "[", "[" * 100_000, "[]", "null", '{"format": "x"}', "\0", large):
        status, said = judged(tmp_path, text, capsys)
        assert (status, said[:13]) == (2, "cannot check:")
    for key, value in (
        ("version", "2"),
        ("mechanism", {"type": "Unknown"}),
        ("proof", {"method": "believe"}),
        ("epsilon", "9" * 1000),
        ("delta", "1/1" + "0" * 1000),
    ):
        assert judged(tmp_path, {**good, key: value}, capsys)[0] == 2, key
    assert verdict(tmp_path / "nothing here.json")[0] == 2


def test_a_small_document_takes_no_hours(tmp_path, capsys):
    guarantee = Accountant(6).epsilon(PoissonSubsample(Gaussian(1), "1/10"), "1e-5", "improved")
    document = guarantee.certificate()
    for sigma, order in (("1/1000", "2"), ("1", "1" + "0" * 30), ("1" + "0" * 300, "2")):
        document["mechanism"]["mechanism"]["sigma"] = sigma
        document["expression"] = text_of(document["mechanism"])
        document["proof"]["order"] = order
        status, said = judged(tmp_path, document, capsys)
        assert status != 0, said


# The checker's numbers against mpmath, at more bits than it has.


def value_of(ball):
    """The middle and the radius."""
    scale = mpmath.mpf(2) ** check.BITS
    return mpmath.mpc(ball.re, ball.im) / scale, mpmath.mpf(ball.rad) / scale


def real(x):
    """A fraction as an mpf."""
    return mpmath.mpf(x.numerator) / x.denominator


def test_balls_hold_what_they_stand_for():
    draw = random.Random(31)
    with mpmath.workprec(900):
        for _ in range(some(150, 5000)):
            check.BITS, check.WORK = draw.choice(check.PRECISIONS[:2]), 0
            size = 10 ** draw.randint(0, 4)
            x, y = (Fraction(draw.randint(-(10**9), 10**9), 10**9) * size for _ in range(2))
            x = x / 100 if size == 10**4 else x
            exact = mpmath.mpc(real(x), real(y))
            found = [
                (check.exp(check.ball(x, y)), mpmath.exp(exact)),
                (check.ball(x, y) * check.ball(y, x), exact * mpmath.mpc(exact.imag, exact.real)),
                (check.log(abs(x) + 1), mpmath.log(abs(exact.real) + 1)),
                (check.pi(), mpmath.pi),
            ]
            if x > 0:
                found.append((check.log(x), mpmath.log(exact.real)))
                found.append((check.ball(y) / x, exact.imag / exact.real))
            for ball, true in found:
                middle, radius = value_of(ball)
                assert abs(middle - true) <= radius
                assert radius <= (1 + abs(true)) * mpmath.mpf(2) ** (40 - check.BITS)
    check.BITS = check.PRECISIONS[0]


def integral(sigma, rate, z):
    """E_Q[(1−γ+γP/Q)^z] of a sampled Gaussian, by mpmath's quadrature."""
    sigma, rate = real(sigma), real(rate)

    def f(x):
        ratio = 1 - rate + rate * mpmath.exp((2 * x - 1) / (2 * sigma**2))
        return mpmath.npdf(x, 0, sigma) * ratio**z

    ends = [mpmath.mpf(k) * sigma for k in range(-12, 13, 2)]
    return mpmath.quad(f, ends + [ends[-1] + k * sigma for k in range(2, 24, 2)])


@covering()
@pytest.mark.parametrize("a", [Fraction(5, 2), Fraction(7), Fraction(1, 2), Fraction(-3)])
@pytest.mark.parametrize("t", [Fraction(0), Fraction(3), Fraction(20)])
def test_moments_of_sampled_noise_are_the_integrals(a, t):
    check.WORK = 0
    for sigma, rate in ((Fraction(1), Fraction(1, 10)), (Fraction(3), Fraction(1, 2))):
        with mpmath.workprec(140):
            order = mpmath.mpc(real(a), real(t))
            middle, radius = value_of(check.Gaussian(1 / sigma).moment(rate, a, t))
            assert abs(middle - integral(sigma, rate, order)) <= radius + mpmath.mpf(10) ** -20
            assert radius < mpmath.mpf(10) ** -25


def test_decay_bounds_the_moments_beyond():
    check.WORK = 0
    for sigma, rate in ((Fraction(1), Fraction(1, 10)), (Fraction(3), Fraction(1, 100))):
        noise = check.Gaussian(1 / sigma)
        for a in (Fraction(5), Fraction(-4)):
            for t in (Fraction(2), Fraction(10), Fraction(40)):
                bound, error = value_of(noise.moment_beyond(rate, a, t))
                for later in (t, 3 * t / 2, 4 * t):
                    middle, radius = value_of(noise.moment(rate, a, later))
                    assert abs(middle) - radius <= bound.real + error


def test_a_number_too_long_to_be_read_is_refused():
    m = PoissonSubsample(Gaussian(5), "1e-9999")
    with pytest.raises(DomainError, match="for a number of more than 400"):
        m.epsilon("1e-5", digits=5).certificate()


def rows_of_the_page():
    """(the expression, how it is asked, what the page says of JSON and of Coq)."""
    page = (CHECKER.parent / "docs" / "certificates.md").read_text(encoding="utf-8")
    table = page.split("| --- | --- | --- | --- | --- | --- |\n")[1].split("\n\n")[0]
    for line in table.splitlines():
        _, example, conversion, json_says, _, coq_says = line.strip("| ").split(" | ")
        yield example.strip("`"), conversion, {"json": json_says, "coq": coq_says}


@pytest.mark.parametrize(("example", "conversion", "says"), rows_of_the_page())
def test_the_page_says_what_has_a_certificate_of_what_size(
    example, conversion, says, tmp_path, capsys
):
    guarantee = Accountant(6).epsilon(parse(example), "1e-5", conversion)
    for form, said in says.items():
        by = re.search(r'by="(.*)"', said)
        if by is not None:
            pinned = Accountant(6).epsilon(parse(example), "1e-5", conversion, by=by[1])
            assert judged(tmp_path, FORMS[form](pinned), capsys)[0] == 0
        if not said.endswith("bytes"):
            assert by is not None or said == "no"
            with pytest.raises(SymacctError, match="certificate yet for"):
                FORMS[form](guarantee)
            continue
        written = FORMS[form](guarantee)
        assert said == f"{len(written.encode())} bytes"
        if form == "json":
            assert judged(tmp_path, written, capsys)[0] == 0


@pytest.mark.parametrize("sigma", [100, 300, 1000, "1e6"])
@pytest.mark.parametrize("conversion", ["exact", "improved", "classic"])
def test_a_delta_of_too_many_digits_has_no_certificate(sigma, conversion):
    """It has hundreds of digits behind the point, or more than memory holds: it is refused."""
    guarantee = Gaussian(sigma).delta(1, digits=5, conversion=conversion)
    assert guarantee.delta.upper < mpmath.mpf(10) ** -2000
    with pytest.raises(DomainError, match=r"no certificate yet for a (number|moment)"):
        guarantee.certificate()


@pytest.mark.parametrize("delta", ["1e-5", "1e-100"])
@pytest.mark.parametrize(
    ("m", "is_proved"),
    [
        (Gaussian("1e-3"), ("1e-5",)),
        (Gaussian("1/20"), ("1e-5", "1e-100")),
        (PureDP(500), ("1e-5",)),
        (20 * PureDP(25), ("1e-5",)),
        (PureDP(1000), ()),
        (Gaussian("1e-3") + PureDP(1), ("1e-5",)),
    ],
    ids=lambda x: repr(x)[:40],
)
def test_what_is_written_of_little_noise_is_proved(m, is_proved, delta, tmp_path, capsys):
    """Moments of e^2000 beside a δ of e^−230 are more than the checker's 768 bits tell apart."""
    guarantee = m.epsilon(delta, digits=6, conversion="exact")
    if delta in is_proved:
        assert judged(tmp_path, guarantee.certificate(), capsys)[0] == 0
    else:
        with pytest.raises(DomainError, match="no certificate yet for numbers too far apart"):
            guarantee.certificate()


def test_a_contour_that_ends_far_out_is_refused_before_it_is_summed(tmp_path, monkeypatch, capsys):
    document = Gaussian(5).epsilon("1e-5", digits=6, conversion="exact").certificate()
    document["proof"]["removed"]["nodes"] = "4000"
    asked = []
    of_exp = check.exp
    monkeypatch.setattr(check, "exp", lambda x: asked.append(x) or of_exp(x))
    (path := tmp_path / "forged.json").write_text(json.dumps(document))
    assert check.main(path) == 2
    assert "a number is beyond e^2000000" in capsys.readouterr().out
    assert len(asked) == 1


@pytest.mark.parametrize("nodes", ["20000", "1999999", "1" + "0" * 30])
def test_a_contour_of_too_many_nodes_is_refused_before_it_is_summed(
    nodes, tmp_path, monkeypatch, capsys
):
    document = Gaussian(5).epsilon("1e-5", digits=6, conversion="exact").certificate()
    document["proof"]["added"]["nodes"] = nodes
    monkeypatch.setattr(check, "by_contour", None)
    status, said = judged(tmp_path, document, capsys)
    assert (status, said[:8]) == (1, "refuted:")
    assert f"{nodes} is not between 0 and 20000" in said


def test_a_product_beyond_all_bounds_is_refused_before_it_is_multiplied(monkeypatch):
    large = check.Ball(1 << check.BITS + (1 << 21) + 1)
    monkeypatch.setattr(check.Ball, "size", None)
    with pytest.raises(ValueError, match=r"beyond 2\^4000000"):
        large * large


def test_a_contour_beyond_floats_has_no_certificate():
    """δ is about 1e-322: the checker reads it, and no float chooses a contour for it."""
    guarantee = Gaussian("38.3").delta(1, digits=5, conversion="exact")
    assert 0 < guarantee.delta.upper < sys.float_info.min
    with pytest.raises(DomainError, match="beyond the range of float64"):
        guarantee.certificate()
