"""What the command prints is for the command line: no remedy in it is written in Python."""

import ast
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import symacct
from symacct import ZCDP, DomainError, dp_sgd
from symacct.cli import main
from symacct.core.mistyped import root, symbol
from symacct.results.remedies import as_options, document_as_options
from tests.command_lines import FINDING, GOOD
from tests.thinning import covering

ROOT = Path(symacct.__file__).parent
#: What a remedy in Python looks like: a method, an argument by name, a limit.
PYTHON = re.compile(
    r"\bm\.[a-z]|\bsa\.|risk\(m\)|\.(?:subs|rdp|epsilon|delta|report|convexify|formula)\("
    r"|\b(?:conversion|by|orders|digits)=|limits\(|sympy\.Symbol"
)


#: What is no message of a command: other libraries' objects and accountants, generated code, what
#: a bound from below is asked for, an attribute that is set.
OTHERS = re.compile(
    r"interop/|verify/|cli/theorem_sheet|expressions/theorem_registry|export/node_card|codegen/generate|core/interning|results/remedies|"
    r"risk.py: .*needed risk"
)
#: Expressions of which much is refused: no laws, a symbol, a group, a sample of a fixed size.
REFUSED = [
    "ZCDP(1/2)",
    "TCDP(1/2, 8)",
    "PoissonSubsample(ZCDP(1/2), 1/100)",
    "GroupPrivacy(PoissonSubsample(TCDP(1/2, 8), 1/100), 2)",
    "SubsampleWithoutReplacement(Laplace(2), 1/9)",
    "FiniteMechanism([['1/2', '1/2'], ['1/4', '3/4']])",
    "2*PoissonSubsample(Gaussian(5), gamma)",
]
#: What is Python or another's on purpose, and what takes a theorem or files and no expression.
APART = {"code", "theorems", "falsify", "vectors", "dpsgd", "plot", *FINDING}


def texts():
    """What may be part of a message, with where it is: no docstrings, placeholders filled in."""
    for path in sorted(ROOT.rglob("*.py")):
        tree, seen = ast.parse(path.read_text(encoding="utf-8")), set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr | ast.JoinedStr):  # a docstring, or parts of a text
                seen |= {id(one) for one in ast.walk(node) if isinstance(one, ast.Constant)}
            if isinstance(node, ast.JoinedStr):
                text = "".join(map(_filled, node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = "" if id(node) in seen else node.value
            else:
                continue
            yield f"{path.relative_to(ROOT)}: {text}"


def _filled(part):
    if isinstance(part, ast.Constant):
        return part.value
    return "'x'" if part.conversion == ord("r") else "x"


def as_printed(text):
    """As a terminal shows it: of a way to ask alone, with the words that stand before it."""
    where, _, said = text.partition(": ")
    return f"{where}: {as_options(said)}"


def test_no_message_of_the_package_leaves_python_on_the_command_line():
    """Every text of the source, so that a new remedy is met here first."""
    found = [text for text in texts() if PYTHON.search(text)]
    assert len(found) > 60  # the detector sees what is written for Python
    left = [shown for shown in map(as_printed, found) if PYTHON.search(shown)]
    assert [text for text in left if not OTHERS.search(text)] == []


def test_a_document_is_the_same_but_for_its_remedies():
    said = {"note": ["use conversion='improved'", 3], "expression": "Gaussian(5)", "none": None}
    shown = {"note": ["use --conversion improved", 3], "expression": "Gaussian(5)", "none": None}
    assert document_as_options(said) == shown


EXPR = "EXPR"
QUESTIONS = [
    *(
        [verb, EXPR, *good[1:]]
        for verb, good in GOOD.items()
        if verb not in APART and good and not good[0].startswith("-")
    ),
    ["epsilon", EXPR, "--delta", "1e-5"],
    ["sweep", EXPR, "--over", "delta=1e-5"],
    ["compare", EXPR, "--delta", "1e-5"],
    ["explain", EXPR, "--delta", "1e-5"],
    ["calibrate", EXPR, "--epsilon", "1", "--delta", "1e-5"],
    ["rdp", EXPR, "--alpha", "5/2", "--by", "ZW19-T8"],
    ["epsilon", EXPR, "--delta", "1e-5", "--orders", "2,3"],
]


@covering()
@pytest.mark.parametrize("expression", REFUSED)
@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_no_output_of_any_verb_shows_python(expression, question, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [expression if word is EXPR else word for word in question]
    answer = CliRunner().invoke(main, words)
    assert isinstance(answer.exception, SystemExit | None), answer.exception
    shown = re.sub(r"[\s│]+", " ", answer.output)
    assert shown.strip()
    assert not PYTHON.search(shown), (PYTHON.search(shown), shown)
    assert ".py:" not in shown  # the place of a warning


@pytest.mark.parametrize("name", ["Gaussian", "Laplace", "DiscreteGaussian", "ZCDP"])
def test_a_root_in_quotes_is_said_to_need_none(name):
    with pytest.raises(DomainError, match=r"without quotes, as in sympy\.sqrt\(27\)$"):
        getattr(symacct, name)("sqrt(27)")
    for text in ("sqrt(x)", "sqrt(2) + 1", "cbrt(2)", "sqrt()"):
        assert root(text) == ""
    shown = CliRunner().invoke(main, ["rdp", f"{name}('sqrt(27)')", "--alpha", "2"]).stderr
    assert shown.rstrip().endswith("write a root without quotes, as in sqrt(27)")
    assert CliRunner().invoke(main, ["rdp", f"{name}(sqrt(27))", "--alpha", "2"]).exit_code == 0


def test_a_name_where_a_number_is_needed_is_said_to_be_a_symbol():
    """In Python by SymPy; on the command line a name without quotes is one."""
    write = (
        r"needed a number such as .*; for a parameter without a value write sympy.Symbol\('{}'\)"
    )
    for ask, name in (
        (lambda: dp_sgd(60_000, 256, "sigma", 15), "sigma"),
        (lambda: ZCDP("rho"), "rho"),
    ):
        with pytest.raises(DomainError, match=write.format(name)):
            ask()
    for text in ("inf", "nan", "5 %", "", "x" * 40):
        assert symbol(text) == ""
    shown = CliRunner().invoke(main, ["rdp", "Gaussian('sigma')", "--alpha", "2"]).stderr
    assert shown.endswith("write sigma in EXPR, without quotes\n")
