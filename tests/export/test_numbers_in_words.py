"""Numbers of every form in every output: no code in LaTeX, √3 in words."""

import itertools
import re
import shutil
import subprocess

import pytest
import sympy

from symacct import Compose, Curve, DiscreteGaussian, Gaussian, Laplace, RandomizedResponse, parse
from symacct.export.description import describe, describe_tex
from symacct.export.latex.display import latex
from symacct.export.latex.sentences import plain_tex
from symacct.export.tables import table
from symacct.papers.document import paper
from tests.thinning import covering

FORMS = (
    "27", "1/3", "0.8", "sqrt(27)", "sqrt(2)", "sqrt(3)/2", "1/sqrt(3)", "sqrt(1/3)", "pi",
    "3/pi", "sqrt(pi)", "sqrt(2*pi + 1)", "log(7)", "1/log(3)", "sqrt(log(3))", "2*log(3)/5",
    "2**(1/3)", "pi**2", "2**(-1/3)", "exp(1)", "exp(1/2)", "exp(sqrt(2))", "3*exp(-1/3)",
    "Max(pi, log(30))", "1 + sqrt(5)",
)  # fmt: skip
KINDS = ("Gaussian", "Laplace", "DiscreteGaussian", "RandomizedResponse.of_epsilon")
#: Python's signs, which are no mathematics.
CODE = re.compile(r"\*|sqrt\(|(?<!\\)log\(|(?<!\\)exp\(|(?<!\\)pi\b")
OPEN = sympy.Symbol("sigma", positive=True)


def mechanisms():
    for form, kind in zip(FORMS, itertools.cycle(KINDS), strict=False):
        yield f"{kind}({form})", parse(f"{kind}({form})")
        yield f"4 answers at {form}", parse(f"RandomizedResponse.of_epsilon({form}, 4)")
    for m in (Gaussian(3 * sympy.sqrt(OPEN)), Laplace(2 * OPEN / sympy.sqrt(3)), Gaussian(OPEN**3)):
        yield str(m), m
    yield "count", 2 * OPEN * DiscreteGaussian(sympy.sqrt(27))
    yield "curve", Curve("3*sqrt(2)*alpha**2*log(3)/50", kind="upper", adjacency="either")


@pytest.mark.parametrize(("title", "m"), [pytest.param(*one, id=one[0]) for one in mechanisms()])
def test_no_number_is_written_as_code(title, m):
    assert not CODE.search(describe_tex(m)), title
    assert not CODE.search(latex(m).replace("align*", "")), title
    said = describe(m)
    assert not re.search(r"\*|sqrt", said), title
    assert not re.search("[\ue000\ue001]", said + describe_tex(m))


def test_a_root_is_written_as_one():
    found = 7 * DiscreteGaussian(sympy.sqrt(27)) + Gaussian("1.1")
    assert "(σ = 3√3, sensitivity 1)" in describe(found)
    assert r"($\sigma = 3\sqrt{3}$, sensitivity 1)" in describe_tex(found)
    assert r"$\sigma = \pi$" in describe_tex(Gaussian(sympy.pi))
    assert "3√(1 + π)" in describe(Gaussian(3 * sympy.sqrt(1 + sympy.pi)))
    values = table(Gaussian(sympy.sqrt(2)), [2])
    assert "(σ = √2, sensitivity 1)" in values.caption()
    assert r"($\sigma = \sqrt{2}$, sensitivity 1)" in values.latex()


def test_statements_of_every_form_are_set_by_latex(tmp_path):
    """All in one composition, whose statement, document and table pdflatex sets without a fault."""
    if shutil.which("pdflatex") is None:
        pytest.skip("here is no pdflatex")
    lines = [r"\documentclass{article}", r"\usepackage{amsmath}", r"\begin{document}", r"\sloppy"]
    lines += [f"{plain_tex(title)}: {describe_tex(m)}.\n" for title, m in mechanisms()]
    numbers = [m for _, m in mechanisms() if not m.free_symbols and m.claim.certified][:20]
    said = Compose(*numbers).epsilon("1e-5", conversion="optimal", digits=3).statement("latex")
    assert not CODE.search(said)
    lines += [re.sub(r"\\cite(\[.*?\])?\{.*?\}", "", said), r"\end{document}"]
    for name, text in (
        ("all", "\n".join(lines)),
        ("paper", paper(RandomizedResponse(1 / sympy.sqrt(3)))),
    ):
        assert not CODE.search(text.replace("align*", "")) or name == "all"
        (tmp_path / f"{name}.tex").write_text(text)
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout[-1500:]


@covering()
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [3, 4, 50])
def test_responses_of_several_answers_are_described_as_such(form, k):
    """Whatever number e^ε is, the answers are counted, and the text reads back."""
    m = parse(f"RandomizedResponse.of_epsilon({form}, {k})")
    assert describe(m).startswith(f"randomized response with {k} answers (the true one with prob")
    assert str(m).startswith("RandomizedResponse.of_epsilon(")
    assert parse(str(m)) is m
