"""`make paper`, the notes: every number and every picture from the library, then LaTeX.

Writes out/paper/notes/. Fails where LaTeX reports an error, a line runs into the margin, or a
reference is undefined. `values()` is what \\val{…} in the notes stands for.
"""

import itertools
import shutil
import sys
from fractions import Fraction
from pathlib import Path

import matplotlib
import numpy as np
from flint import arb, ctx

import symacct as sa
from symacct import baselines
from symacct.analysis.triangles import Triangles
from symacct.kernel.answer import from_ball
from symacct.kernel.deadline import progress
from symacct.profile.answer import profile
from tests.paper.build import check_install, faults_of, run

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
PLACE = Path("out/paper/notes")
NOTES = ("exact_renyi_curve", "certified_profile")
CLASSES = ["plainnat.bst", "natbib.sty", "microtype.sty", "lmodern.sty"]

#: What the text states of an end, a place inside and the other end.
INSIDE = Triangles(Fraction(50), Fraction("3.16e-6"), Fraction("0.7071"))
EDGES = {
    r"$(4,\,1/10,\,1/2)$": Triangles(Fraction(4), Fraction(1, 10), Fraction(1, 2)),
    r"$(3,\,1/1000,\,1)$": Triangles(Fraction(3), Fraction(1, 1000), Fraction(1)),
}
FIXED_SIZE = [  # runs, σ, γ, δ
    (600_000, "5", "1/1000", "1e-8"),
    (14_062, "1.1", "256/60000", "1e-5"),
    (10_000, "2", "1/100", "1e-6"),
    (1_000, "4", "1/50", "1e-6"),
]
CURVES = [("5", "1/1000", 8), ("1", "1/1000", 3), ("2", "1/10", 4)]
POISSON = [
    (600_000, "5", "1/1000", "1e-8"),
    (3_516, "1.1", "256/60000", "1e-5"),
    (14_062, "1.1", "256/60000", "1e-5"),
    (1_000, "1", "1/1000", "1e-8"),
    (10, "1", "1/10", "1e-5"),
]
COUNTS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]
DIGITS = 25


def main():
    check_install(CLASSES)
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    for file in (*HERE.glob("*.tex"), HERE / "references.bib"):
        shutil.copy(file, PLACE)
    shutil.copy(Path(sa.__file__).parent / "kernel" / "sources.bib", PLACE)
    jobs = [write_values, draw_edge, draw_runs, draw_nodes, draw_lost]
    with progress("numbers and pictures", len(jobs)) as done:
        for job in jobs:
            job()
            done()
    faults = [fault for name in NOTES for fault in compiled(name)]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(NOTES)} notes compiled in {PLACE}, {len(faults)} faults")
    sys.exit(1 if faults else 0)


def compiled(name):
    """What pdflatex and bibtex say is wrong with a note."""
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", name]
    run(latex, cwd=PLACE, errors="replace")
    cited = run(["bibtex", name], cwd=PLACE)
    if cited.returncode:
        yield f"{name}: bibtex: {cited.stdout.strip()}"
    run(latex, cwd=PLACE, errors="replace")
    yield from faults_of(name, run(latex, cwd=PLACE, errors="replace"), PLACE)


# --- the numbers


def write_values():
    r"""What \val{key} finds."""
    lines = [rf"\expandafter\def\csname val@{key}\endcsname{{{text}}}" for key, text in values()]
    (PLACE / "values.tex").write_text("\n".join(lines) + "\n")


def values():
    """Pairs of a key and its text, rounded to the safe side."""
    for key, share in (("collinear", 0), ("middle", Fraction(1, 2)), ("equilateral", 1)):
        yield f"inside-{key}", at_least(scaled(INSIDE, share), 6)
    yield "curve-rows", "\\\\\n".join(map(curve_row, CURVES)) + r"\\"
    yield "run-rows", "\\\\\n".join(map(fixed_size_row, FIXED_SIZE)) + r"\\"
    yield "value-rows", "\\\\\n".join(map(poisson_row, POISSON)) + r"\\"
    yield from directions()
    checker = HERE.parent / "checker" / "check.py"
    yield "checker-lines", str(len(checker.read_text().splitlines()))


def scaled(triangles, share):
    """(G − 1)/(½α(α−1)γ²) at a share of δ²."""
    excess = triangles.excess(share * triangles.delta**2, bits=60)
    return 2 * excess / _ball(triangles.alpha * (triangles.alpha - 1) * triangles.gamma**2)


def curve_row(setting):
    sigma, gamma, alpha = setting
    step = sa.SubsampleWithoutReplacement(sa.Gaussian(sigma), gamma)
    bounds = [
        step.rdp(alpha),
        step.rdp(alpha, by="TRIPLE-DOMINATED"),
        baselines.fixed_size_taylor(alpha, gamma, sigma),
        step.rdp(alpha, by="WBK19-T9"),
    ]
    name = rf"$\sigma={sigma}$, $\gamma={gamma}$, $\alpha={alpha}$"
    return " & ".join([name, *(power_of_ten(x.rounded_up(5)) for x in bounds)])


def fixed_size_row(setting):
    runs, sigma, gamma, delta = setting
    m = runs * sa.SubsampleWithoutReplacement(sa.Gaussian(sigma), gamma)
    least = m.lower_epsilon(delta, digits=6).rounded_down(5)
    best = m.epsilon(delta, conversion="exact", digits=6).epsilon.rounded_up(5)
    by_orders = m.epsilon(delta, conversion="improved").epsilon.rounded_up(5)
    name = rf"${grouped(runs)}\times(\sigma={sigma},\,\gamma={gamma})$"
    return " & ".join([name, power_of_ten(delta), least, best, by_orders])


def poisson_row(setting):
    runs, sigma, gamma, delta = setting
    m = runs * sa.PoissonSubsample(sa.Gaussian(sigma), gamma)
    exact = m.epsilon(delta, conversion="exact", digits=DIGITS + 3).epsilon
    shown = both_ends(exact.rounded_down(DIGITS), exact.rounded_up(DIGITS))
    by_orders = m.epsilon(delta, conversion="improved").epsilon.rounded_up(5)
    row = [f"${grouped(runs)}$", sigma, gamma, power_of_ten(delta), shown, by_orders]
    return " & ".join(row)


def directions():
    """Two runs of randomized response: each direction's δ, as fractions."""
    truth, rate, level = Fraction(3, 5), Fraction(1, 2), Fraction(51, 50)
    law, other = (truth, 1 - truth), (1 - truth, truth)
    mixed = tuple(rate * x + (1 - rate) * y for x, y in zip(law, other, strict=True))
    for key, first, second in (("removed", mixed, other), ("added", other, mixed)):
        pairs = [(a * b, c * d) for a, c in zip(first, second, strict=True)
                 for b, d in zip(first, second, strict=True)]  # fmt: skip
        delta = sum(max(p - level * q, 0) for p, q in pairs)
        yield f"order-{key}", rf"${delta.numerator}/{delta.denominator}$"


def _ball(x):
    return arb(x.numerator) / x.denominator


def at_least(x, digits):
    """A ball's lower end in decimals, rounded down."""
    return from_ball(x, sa.Gaussian(1).claim, digits, True).rounded_down(digits)


def both_ends(low, high):
    """Two decimals: the digits that they share, and then the lower end's below the upper one's."""
    pairs = zip(low, high, strict=False)
    shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return f"${low[:shared]}_{{{low[shared:]}}}^{{{high[shared:]}}}$"


def power_of_ten(text):
    """1.2e-7 as LaTeX writes it."""
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return mantissa
    ten = rf"10^{{{int(exponent)}}}"
    return f"${ten}$" if mantissa == "1" else rf"${mantissa}\cdot {ten}$"


def grouped(n):
    return f"{n:,}".replace(",", r"\,")


# --- the pictures


def _saved(figure, name):
    figure.tight_layout()
    figure.savefig(PLACE / f"{name}.pdf", metadata={"CreationDate": None})
    plt.close(figure)


def draw_edge():
    """G − 1 along B, over its larger end's."""
    shown = {**EDGES, r"$(50,\,3.16\cdot10^{-6},\,0.7071)$": INSIDE}
    figure, axes = plt.subplots(1, 3, figsize=(8.4, 2.6))
    shares = [Fraction(i, 24) for i in range(25)]
    for axis, (title, triangles) in zip(axes, shown.items(), strict=True):
        excess = [float(triangles.excess(s * triangles.delta**2).mid()) for s in shares]
        axis.plot([float(s) for s in shares], np.array(excess) / max(excess[0], excess[-1]))
        axis.set_title(title, fontsize=10)
        axis.set_xlabel(r"$B/\delta^2$: collinear at 0, equilateral at 1", fontsize=8)
        axis.axhline(1, color="grey", linewidth=0.6, linestyle=":")
    axes[0].set_ylabel(r"$G-1$ over its larger end")
    _saved(figure, "edge")


def draw_runs():
    """ε of runs on samples of a fixed size, over what it is at least."""
    counts = COUNTS[4:]
    runs = [k * sa.SubsampleWithoutReplacement(sa.Gaussian(2), "1/100") for k in counts]
    orders = [float(m.epsilon("1e-6", conversion="improved").epsilon.upper) for m in runs]
    best = [float(m.epsilon("1e-6", conversion="exact", digits=4).epsilon.upper) for m in runs]
    least = [float(m.lower_epsilon("1e-6", digits=4).lower) for m in runs]
    figure, axis = plt.subplots(figsize=(5.6, 3.2))
    axis.semilogx(counts, np.divide(orders, least), "--", label="exact Rényi curve")
    axis.semilogx(counts, np.divide(best, least), label="the smoothed hockey stick, or less")
    axis.set_ylim(bottom=1)
    axis.set_xlabel("runs")
    axis.set_ylabel(r"$\varepsilon$ over the lower end")
    axis.legend(frameon=False)
    _saved(figure, "runs")


def draw_nodes():
    """|terms| of the sum on the contour."""
    runs, sigma, gamma, delta = POISSON[1]
    m = runs * sa.PoissonSubsample(sa.Gaussian(sigma), gamma)
    (times, sizes) = terms_of(m, delta)
    figure, axis = plt.subplots(figsize=(5.6, 3.2))
    axis.semilogy(times, sizes, ".", markersize=4)
    axis.set_xlabel("t")
    axis.set_ylabel("size of the term, relative to the first")
    _saved(figure, "nodes")


def terms_of(m, delta):
    """The imaginary parts of the nodes, and the moduli of the terms over the first one's."""
    asked = profile(m)
    epsilon, _ = asked.answer(True, Fraction(delta), 30)
    with ctx.workprec(200):
        contour = asked.directions[0].contours.known[0]
        plan, y = contour.plan, epsilon.mid()
        found = [
            (n * plan.h, float((abs(node) * (-plan.c * y).exp()).log().mid()))
            for n, node in enumerate(contour.nodes)
        ]
    first = found[1][1]
    return [t for t, _ in found[1:]], [np.exp(size - first) for _, size in found[1:]]


def draw_lost():
    """The loss of accounting by Rényi orders."""
    figure, axis = plt.subplots(figsize=(5.6, 3.4))
    for sigma, style in (("1", "-"), ("2", "--"), ("5", ":")):
        ratios = []
        for k in COUNTS:
            m = k * sa.PoissonSubsample(sa.Gaussian(sigma), "1/1000")
            true = m.epsilon("1e-8", conversion="exact", digits=4).epsilon
            by_orders = m.epsilon("1e-8", conversion="improved").epsilon
            ratios.append(float(by_orders.upper / true.upper))
        axis.loglog(COUNTS, ratios, style, label=rf"$\sigma={sigma}$")
    axis.set_xlabel("runs")
    axis.set_ylabel(r"$\varepsilon$ by Rényi orders over the true $\varepsilon$")
    axis.legend(frameon=False)
    _saved(figure, "lost")


if __name__ == "__main__":
    main()
