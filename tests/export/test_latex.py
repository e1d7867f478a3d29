"""LaTeX: it parses, it says what was evaluated, and no name in it is executed."""

import re
from fractions import Fraction

import pytest
import sympy
from pylatexenc import latexwalker as walker

from symacct import (
    TCDP,
    Curve,
    DistributionPair,
    DomainError,
    Gaussian,
    Laplace,
    OrderError,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    SymacctError,
    laws,
    theorems,
)
from symacct.export.latex.display import inline, latex
from symacct.export.latex.printer import WIDTH, width_of
from symacct.export.latex.sentences import NAMING_COMMANDS, symbol_latex
from symacct.kernel.accountant import FormulaAccountant
from symacct.papers.document import paper
from tests.export import outputs
from tests.export.test_formula import NO_FORMULA
from tests.export.tex_reader import Display
from tests.symbolic import (
    LEAVES,
    NEED_NUMBERS,
    OPERATIONS,
    A,
    B,
    N,
    Q,
    agrees,
    applies,
    drawn,
    mp,
    mp_number,
    pairs_of,
)
from tests.thinning import in_a_soak, thinned

INFINITY = float("inf")
SIGMA, GAMMA = sympy.symbols("sigma gamma", positive=True)
STEP = PoissonSubsample(Gaussian(SIGMA), GAMMA)


def words(text):
    return set(text.split())


#: The commands of a formula; MathJax and amsmath know them all.
FORMULA_COMMANDS = (
    NAMING_COMMANDS
    | words("frac binom sum int log exp Gamma sqrt lfloor rfloor lvert rvert leq geq approx neq")
    | words("left right")
    | words("biggl biggr quad qquad dots displaystyle begin end backslash wedge sim prime")
    | set(",;\\{}#$%&_ ")
)
#: And those of whole documents, tables and sentences.
DOCUMENT_COMMANDS = (
    FORMULA_COMMANDS
    | words("documentclass usepackage allowdisplaybreaks title author maketitle section item")
    | words("textsf texttt cite bibitem emph ref label caption centering toprule midrule")
    | words("bottomrule num")
    | words("ensuremath textbackslash textasciicircum textasciitilde textellipsis textquotedbl")
    | words("bigl bigr big otimes oplus ast mathbf")
    | words("surd mathsf varepsilon lbrace rbrace lceil rceil cdot propto preceq nabla exp c o")
    | set("|'`\"")
)
ENVIRONMENTS = words("align* aligned cases table tabular document description thebibliography")


def commands(tex):
    """Every command of well-formed LaTeX; pylatexenc raises where braces or environments differ."""
    nodes, _, _ = walker.LatexWalker(tex, tolerant_parsing=False).get_latex_nodes()
    found, environments = set(), set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        assert not isinstance(node, walker.LatexCommentNode), f"a comment in {tex}"
        if isinstance(node, walker.LatexMacroNode):
            found.add(node.macroname)
        if isinstance(node, walker.LatexEnvironmentNode):
            environments.add(node.environmentname)
        stack += getattr(node, "nodelist", None) or []
        if getattr(node, "nodeargd", None) is not None:
            stack += [one for one in node.nodeargd.argnlist if one is not None]
    assert environments <= ENVIRONMENTS
    return found


# --- every output is LaTeX


@pytest.fixture(scope="module")
def displays():
    return list(outputs.displays(every=in_a_soak()))


def test_every_display_parses_and_knows_its_commands(displays):
    assert len(displays) > len(theorems()) + len(OPERATIONS)
    for title, tex in displays:
        assert tex.startswith("\\begin{align*}\n\\epsilon_{\\mathcal{M}}"), title
        assert commands(tex) <= FORMULA_COMMANDS, (title, commands(tex) - FORMULA_COMMANDS)


#: Theorems whose curve is infinite at every order, so that it has no formula.
INFINITE = {"FAILING"}


def test_every_theorem_has_a_display(displays):
    titles = [title for title, _ in displays]
    for theorem in theorems():
        displayed = any(title.startswith(f"{theorem.name},") for title in titles)
        assert displayed or theorem.name in NEED_NUMBERS | INFINITE, theorem.name


@pytest.mark.parametrize(
    "written", [outputs.numbers, outputs.tables, outputs.sentences, outputs.papers]
)
def test_tables_sentences_and_papers_parse_and_know_their_commands(written):
    for title, tex in written():
        assert commands(tex) <= DOCUMENT_COMMANDS, (title, commands(tex) - DOCUMENT_COMMANDS)


def test_the_parser_is_no_rubber_stamp():
    for broken in (r"\frac{1}{2", r"\begin{align*} x \end{aligned}", "a}", r"\left( $x"):
        with pytest.raises(walker.LatexWalkerParseError):
            commands(broken)
    assert commands(r"\input{x}") == {"input"}
    assert "input" not in DOCUMENT_COMMANDS


# --- it says what was evaluated: read back by another evaluator


def tex_of(symbol):
    return symbol_latex(symbol.name)


def read_back(name):
    """Each operation with some leaf; one that the theorem applies to, and one it does not."""
    of_it = [pair for pair in pairs_of(name) if pair[1] in ("Gaussian", "Laplace", "TCDP")]
    return thinned(of_it, lambda pair: {pair[0], applies(name, *pair)}, name)


@pytest.mark.parametrize("name", [theorem.name for theorem in theorems()])
def test_what_is_printed_is_what_was_evaluated(name):
    """The LaTeX, read as a reader reads it, has the value of rdp to 25 digits."""
    for place, (operation, kind) in enumerate(read_back(name)):
        orders = (4, (Fraction(5, 2), INFINITY)[place % 2])
        assert_is_what_was_evaluated(name, operation, kind, orders)


def assert_is_what_was_evaluated(name, operation, kind, orders=(4, Fraction(5, 2), INFINITY)):
    if (name, kind) in NO_FORMULA:
        return
    values = drawn(name, kind)
    try:
        node = OPERATIONS[operation](LEAVES[kind][0])
        tex = latex(node, by=name)
    except SymacctError:
        return
    # A hull is written at whole orders only, where its corners are.
    for alpha in (4,) if operation == "Convexify" else orders:
        try:
            answer = FormulaAccountant(30).rdp(node.subs(values), alpha, by=name)
        except SymacctError:
            continue
        assert agrees(read(tex, values, alpha), answer, 25), (operation, kind, alpha, tex)


def read(tex, values, alpha):
    table = {tex_of(symbol): mp_number(x) for symbol, x in values.items()}
    if alpha == INFINITY and not re.search(r"\\alpha = \\infty|\(\\infty\)", tex):
        return mp.inf  # that goes without saying
    return Display(mp, tex).value(table, mp_number(alpha))


def test_what_is_printed_for_a_composition():
    node = N * PoissonSubsample(Laplace(A), Q) + 3 * PoissonSubsample(
        PoissonSubsample(Laplace(B), Q), Q
    )
    values = {A: 3, B: 2, Q: Fraction(1, 5), N: 4}
    for alpha in (3, Fraction(5, 2)):
        answer = FormulaAccountant(30).rdp(node.subs(values), alpha)
        assert agrees(read(latex(node), values, alpha), answer, 25)


# --- the papers' notation


def test_long_formulas_are_broken_into_lines_that_fit(displays):
    """Cases stand side by side, words are narrower than letters; pdflatex measures those."""
    for title, tex in displays:
        for line in tex.splitlines()[1:-1]:
            if "cases" not in line and r"\text{(" not in line:
                assert width_of(line.rstrip("\\").replace("&", "")) <= WIDTH + 12, (title, line)


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [(TCDP(A, B), r"\epsilon_{1}(\alpha)"), (Gaussian(A, B), "B_{1}(l)")],
)
def test_a_named_curve_is_defined_once(mechanism, name):
    assert latex(SubsampleWithoutReplacement(mechanism, Q)).count(f"{name} &=") == 1


def test_an_order_that_is_asked():
    assert r"\epsilon_{\mathcal{M}}\left( \frac{5}{2} \right)" in latex(Gaussian(A), "5/2")
    assert r"\epsilon_{\mathcal{M}}(\infty) &= \infty" in latex(Gaussian(A), "inf")
    assert r"\epsilon_{\mathcal{M}}(1)" in latex(Laplace(A), 1)
    with pytest.raises(OrderError, match="integer orders"):
        latex(STEP, "5/2", by="ZW19-T8")


# --- names


def test_symbols_are_named_as_the_user_says():
    tex = latex(STEP, names={GAMMA: "q", "sigma": r"\sigma_{\mathrm{DP}}"})
    assert r"(1 - q)^{\alpha - l}" in tex
    assert r"2 \sigma_{\mathrm{DP}}^{2}" in tex
    assert r"\gamma" not in tex


@pytest.mark.parametrize(
    ("name", "tex"),
    [("sigma", r"\sigma"), ("sigma_max", r"\sigma_{\mathrm{max}}"), ("x2", "x_{2}"),
     ("λ", r"\lambda"), ("Σ", r"\Sigma"), ("φ", r"\phi"), ("ϑ", r"\vartheta"),
     ("noise", r"\mathrm{noise}"), ("x_1_2", "x_{1,2}"),
     ("a%b", r"\mathrm{a\%b}"),
     (r"\input{x}", r"\mathrm{\backslash input\{x\}}"), ("^^5c", r"\mathrm{\wedge \wedge 5c}")],
)  # fmt: skip
def test_names_of_symbols(name, tex):
    assert symbol_latex(name) == tex


@pytest.mark.parametrize("name", outputs.HOSTILE)
def test_no_name_is_executed(name):
    symbol = sympy.Symbol(name)
    node = PoissonSubsample(Gaussian(symbol), GAMMA)
    try:
        written = [latex(node), inline(node)]
    except DomainError as error:
        assert "which LaTeX's mathematics lacks" in str(error)  # noqa: PT017
        return
    written += [paper(node)]
    for tex in written:
        assert commands(tex) <= DOCUMENT_COMMANDS
        assert r"\input" not in tex
        assert tex.count(r"\end{align*}") <= 1


@pytest.mark.parametrize(
    "tex",
    [r"\input{x}", r"\def\x{y}", "{", "}", "x^", "_", "a%b", "$x$", "#1", "a&b", r"a \\ b", r"\hat",
     "x_1_2", "x^a^b", r"\begin{x}", "", " ", 3, None, r"\mathcal{M", "^^5c", "x'", r"x_\hat{a}"],
)  # fmt: skip
def test_what_is_no_name_is_refused(tex):
    with pytest.raises(DomainError, match=r"^names: found .* needed"):
        latex(STEP, names={"sigma": tex})


def test_two_symbols_never_look_alike():
    node = Gaussian(sympy.Symbol("x_1"), sympy.Symbol("x1"))
    with pytest.raises(DomainError, match=r"x1 and x_1 are both printed x_\{1\}"):
        latex(node)
    assert "y" in latex(node, names={"x1": "y"})
    with pytest.raises(DomainError, match="both printed l"):
        latex(STEP, names={"sigma": "l"})


# --- notebooks


def test_a_notebook_shows_the_formula():
    shown = STEP._repr_latex_()
    assert shown.startswith(r"$\displaystyle \begin{aligned} \epsilon_{\mathcal{M}}")
    assert shown.endswith(r"\end{aligned}$")
    assert shown.count("$") == 2
    assert "align*" not in shown
    for leaf, _ in LEAVES.values():
        assert commands(leaf._repr_latex_().strip("$")) <= FORMULA_COMMANDS


# --- papers


def test_a_paper_has_its_parts():
    tex = STEP.paper(values={"sigma": 5, "gamma": "1/1000"}, delta="1e-8", alphas=[2, "5/2"])
    for title in ("Mechanism", "Formula", "Theorems", "Values"):
        assert rf"\section{{{title}}}" in tex
    for key in ("ZW19", "MTZ19", "MIR17"):
        assert tex.count(rf"\bibitem{{{key}}}") == 1
        assert re.search(rf"\\cite(\[.*?\])?\{{{key}\}}", tex)
    assert r"2 & 4.08108e-8 \\" in tex
    numbers = STEP.subs({"sigma": 5, "gamma": "1/1000"})
    exact, by_orders = (
        f"= {numbers.epsilon('1e-8', conversion=name, by=by).epsilon.rounded_up(6)}$, $"
        for name, by in (("exact", None), ("improved", "ZW19-T5"))
    )
    assert tex.count(exact) == 1
    pinned = numbers.paper(delta="1e-8", alphas=[2], by="ZW19-T5")
    assert pinned.count(by_orders) == pinned.count(r"\bibitem{CKS20}") == 1


def test_a_paper_with_open_symbols_has_no_values():
    tex = STEP.paper()
    assert r"\section{Values}" not in tex
    assert r"\begin{table}" not in tex
    assert re.findall(r"usepackage{(.*)}", tex) == ["amsmath"]  # a plain LaTeX has that
    with pytest.raises(DomainError, match="values leave the symbol gamma open"):
        STEP.paper(values={"sigma": 5})


def test_a_paper_says_when_part_of_it_is_stated():
    mine = PoissonSubsample(
        Curve(lambda alpha: alpha / 9, kind="upper", adjacency="add_remove"), "1/9"
    )
    assert "Part of it is stated by the user" in mine.paper(alphas=[2])
    law = DistributionPair(laws.Poisson(3), laws.Poisson(2)).paper(alphas=[2])
    assert "GAL13" in law
