"""What symacct writes in LaTeX: a parser reads it in `make test`, pdflatex in `make paper`."""

import itertools

import sympy

from symacct import (
    Convexify,
    Curve,
    DistributionPair,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    PostProcess,
    SubsampleWithoutReplacement,
    SymacctError,
    laws,
    parse,
    theorems,
)
from symacct.export.description import describe_tex, sentence, written
from symacct.export.latex.display import latex
from symacct.export.latex.number_formula import number_latex, profile_latex
from symacct.export.tables import table
from symacct.kernel.accountant import asked_of
from symacct.kernel.node import Marked
from tests.symbolic import ALPHA, LEAVES, NEED_NUMBERS, OPERATIONS, A, N, Q, pairs
from tests.thinning import thinned


def tex(words):
    """A sentence in LaTeX, what is marked in it as mathematics."""
    return written("latex", lambda: sentence(words))


SIGMA, GAMMA, B = sympy.symbols("sigma gamma b", positive=True)

#: Names that LaTeX would take for something else.
HOSTILE = (
    r"\input{/etc/passwd}", "a%b", "x_{max", "}", "$x$", "a&b", "#1", r"\end{align*}", "^^5cinput",
    "a\nb", "my_long_name", "x__y", "sigma_max", "λ", "k'", '"', "a~b", "`ls`", "\\", "_", "x^2",
)  # fmt: skip


def displays(every=False):
    """(title, LaTeX) of each theorem on one mechanism, or on every one, and of the defaults."""
    done = set(NEED_NUMBERS)  # which have no formula: tests/export/test_formula.py
    for theorem, operation, kind in pairs():
        if every or theorem.name not in done:
            try:
                found = latex(OPERATIONS[operation](LEAVES[kind][0]), by=theorem.name)
            except SymacctError:
                continue  # it says nothing about this mechanism, see test_formula
            done.add(theorem.name)
            yield f"{theorem.name}, {operation} of {kind}", found
    leaves = LEAVES if every else ("Laplace", "TCDP")
    defaults = list(itertools.product(OPERATIONS, leaves, (None, 3, "5/2", 1, "inf")))
    for operation, kind, alpha in defaults if every else thinned(defaults, set, "displays"):
        try:
            found = latex(OPERATIONS[operation](LEAVES[kind][0]), alpha)
        except SymacctError:
            continue
        yield f"{operation} of {kind} at {alpha}", found
    for kind in LEAVES:
        yield kind, latex(LEAVES[kind][0])
    yield from special(every)


def special(every):
    """What is not covered by theorem and mechanism: names, nesting, the user's own curves."""
    step = PoissonSubsample(Gaussian(SIGMA), GAMMA)
    names = {GAMMA: "q", "sigma": r"\sigma_{\mathrm{DP}}", "alpha": r"\lambda"}
    yield "names", latex(step, names=names)
    yield "order", latex(step, sympy.Symbol("k", integer=True, positive=True))
    for name in HOSTILE:
        try:
            yield f"hostile name {HOSTILE.index(name)}", latex(Gaussian(sympy.Symbol(name)))
        except SymacctError:
            continue
    nested = PoissonSubsample(PoissonSubsample(Laplace(B), GAMMA), Q)
    yield "nested", latex(nested, by="ZW19-T5")
    yield "many", latex(N * step + 3 * PoissonSubsample(Laplace(B), Q) + nested)
    yield "group", latex(PoissonSubsample(GroupPrivacy(PostProcess(Gaussian(A)), 4), Q))
    function = Curve(lambda alpha: alpha / 50, kind="upper", adjacency="either")
    yield "function", latex(PoissonSubsample(function, Q))
    hull = Convexify(SubsampleWithoutReplacement(Laplace(2), "1/9"), 6)
    yield "hull", latex(hull, "7/2")
    for leaf in ("RandomizedResponse", "FiniteMechanism"):
        repeated = OPERATIONS["RepeatAndSelect, binomial"](LEAVES[leaf][0])
        yield f"wide denominators, {leaf}", latex(repeated, by="REPEAT-PURE")
    yield "tau", latex(step, by="ZW19-T11:tau=3")
    yield "rationals", latex(PoissonSubsample(Gaussian("22/7"), "1/1000") * 600_000)
    couples = (
        (laws.Gamma(2, 3), laws.Gamma(3, 3)),
        (laws.Beta(2, 3), laws.Beta(3, 3)),
        (laws.Normal(0, 1), laws.Normal(1, 2)),
        (laws.Geometric("1/2"), laws.Geometric("1/3")),
    )
    orders = list(itertools.product(couples, (2, "3/2", 1, "inf")))
    for (P, R), alpha in orders if every else thinned(orders, set, "couples"):
        yield f"{P} {R} at {alpha}", latex(DistributionPair(P, R), alpha)
    mine = Curve(
        sympy.sqrt(A) * ALPHA**2 + sympy.Max(A, ALPHA - 1), kind="upper", adjacency="either"
    )
    yield "a curve", latex(mine)


#: With a pair of every sort, and one of each that has no formula but the Rényi curve's.
NUMBERS = (
    "Gaussian(2)",
    "100 * PoissonSubsample(Gaussian(2), 1/100)",
    "3 * Gaussian(5, 2) + 2 * Laplace(3)",
    "PoissonSubsample(2 * Laplace(3), 1/5)",
    "RandomAllocation(Gaussian(2), 10)",
    "RandomAllocation(Laplace(2), 4)",
    "SubsampleWithoutReplacement(Gaussian(2), 1/10)",
    "ExponentialMechanism(1)",
    "GroupPrivacy(PoissonSubsample(Gaussian(2), 1/10), 5)",
    "DiscreteLaplace(2, 3)",
    "ApproximateDP(1, 1e-6)",
    "3 * Failing(Gaussian(2), 1e-6) + Failing(Laplace(3), 1e-5)",
    "10 * Skellam(100) + PoissonSubsample(DiscreteGaussian(3), 1/10)",
    "DiscreteGaussianSum(2, 10)",
    "Either(Gaussian(2), Laplace(2), 1/3)",
    "DistributionPair(laws.Density('exp(-Abs(x))/2'), laws.Normal(0, 1))",
    "60 * PoissonSubsample(Gaussian(1.1), 256/60000) + 3 * Laplace(2) "
    "+ PoissonSubsample(Laplace(1), 1/3)",
    "ZCDP(1/10)",
)


def numbers():
    """(title, LaTeX) of formulas of the number to report."""
    for expression in NUMBERS:
        yield expression, number_latex(asked_of(parse(expression), epsilon=1, digits=3))
    yield "open", profile_latex(5 * PoissonSubsample(Laplace(B), Q))


def tables():
    """(title, LaTeX) of tables with values of every kind."""
    step = parse("PoissonSubsample(Gaussian(5), 1/1000)")
    orders = [1, 2, "5/2", 8, 1000, "inf"]
    yield "table", table(step, orders).latex()
    columns = ("ZW19-T5", "ZW19-T6", "ZW19-T11:tau=2")
    yield "columns", table(step, orders, 4, columns).latex("100 % of it & {more}", "tab:x-1")
    yield "large", table(parse("TCDP(123456, 50)"), [2, 60]).latex()
    yield "zero", table(parse("RandomizedResponse(1/2)"), [2, 3]).latex()


def sentences():
    """(title, LaTeX) of our own sentences, and of what a user may mark as mathematics."""
    for theorem in theorems():
        yield theorem.name, tex(theorem.assumes)
        yield theorem.name, tex(Marked(theorem.orders.words))
    for kind, nodes in LEAVES.items():
        yield kind, describe_tex(nodes[0])
    for name, operation in OPERATIONS.items():
        yield name, describe_tex(operation(LEAVES["Gaussian"][0]))
    for text in (*HOSTILE, "α^", "x^{α", "α_1_2", "√α ≥ \\alpha", "ε′^2 <= 3%"):
        yield "hostile words", tex(text)
        yield "hostile mathematics", tex(Marked(f"${text}$"))


def papers():
    """(name, document) of a few whole documents."""
    step = PoissonSubsample(Gaussian(SIGMA), GAMMA)
    values = {"sigma": 5, "gamma": "1/1000"}
    yield "gaussian", (N * step).paper(values=values | {"n": 600_000}, delta="1e-8")
    yield "open", step.paper(names={"gamma": "q"})
    without = SubsampleWithoutReplacement(Laplace(B), GAMMA)
    yield "laplace", without.paper(values={"b": 2, "gamma": "1/9"}, alphas=[2, "5/2", 8, "inf"])
    yield "lower", parse("PoissonSubsample(Gaussian(5), 1/9)").paper(by="ZW19-T6")
    function = Curve(lambda alpha: alpha / 50, kind="upper", adjacency="add_remove")
    yield "function", PoissonSubsample(function, "1/9").paper(alphas=[2, 3])
    hostile = Gaussian(sympy.Symbol(r"\input{x}%", positive=True))
    yield "hostile", PoissonSubsample(hostile, GAMMA).paper()
    yield "group", GroupPrivacy(PoissonSubsample(Laplace(2), "1/9"), 2).paper(delta="1e-5")
