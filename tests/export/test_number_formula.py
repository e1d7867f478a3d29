"""The formula of the number to report: what it prints is read back and integrated without us."""

import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy

from symacct import DomainError, Gaussian, Laplace, PoissonSubsample, parse
from symacct.export.latex.number_formula import UnwrittenError, number_latex, profile_latex
from tests.cli.test_cli import run

DELTA = 1e-5
NUMBER = r"(\d+(?:\.\d+)?|\d+/\d+)"


def rows(tex):
    """The left and right sides of a display, a line that goes on joined to the one before."""
    body = tex.removeprefix("\\begin{align*}\n").removesuffix("\n\\end{align*}")
    found = []
    for line in body.split(" \\\\\n"):
        left, right = line.split("&", 1)
        if left:
            found.append([left.strip(), right])
        else:
            found[-1][1] += re.sub(r"\\qquad|\\quad \\text.*", "", right)
    return [(left, re.sub(r"^(=|\\leq) ?", "", right)) for left, right in found]


class LawReader:
    """A law on the line as its density: sums of weighed laws, and laws of one side of 1/2.

    law = term { "+" term }      term = [weight "\\,"] atom ["\\big|_{x > 1/2}"]
    """

    def __init__(self, tex):
        self.rest = tex.strip()

    def take(self, pattern):
        found = re.match(rf"\s*{pattern}\s*", self.rest)
        if found:
            self.rest = self.rest[found.end() :]
        return found

    def law(self):
        terms = [self.term()]
        while self.take(r"\+"):
            terms.append(self.term())
        return lambda x: sum(term(x) for term in terms)

    def term(self):
        weight = self.take(r"\\frac\{(\d+)\}\{(\d+)\} \\,")
        times = int(weight[1]) / int(weight[2]) if weight else 1.0
        density = self.atom()
        side = self.take(r"\\big\|_\{x ([<>]) 1/2\}")
        if side is None:
            return lambda x: times * density(x)
        above = side[1] == ">"
        return lambda x: times * density(x) * ((x > 0.5) == above)

    def atom(self):
        if self.take(r"\\bigl\("):
            inner = self.law()
            assert self.take(r"\\bigr\)")
            return inner
        noise = self.take(rf"(\\mathcal\{{N\}}|\\mathrm\{{Lap\}})\((-?\d+), {NUMBER}\)")
        assert noise, self.rest
        mean, scale = int(noise[2]), float(Fraction(noise[3]))
        if "N" in noise[1]:
            return lambda x: np.exp(-((x - mean) ** 2) / (2 * scale)) / np.sqrt(2 * np.pi * scale)
        return lambda x: np.exp(-abs(x - mean) / scale) / (2 * scale)


def density(tex):
    reader = LawReader(tex)
    found = reader.law()
    assert not reader.rest, reader.rest
    return found


X = np.linspace(-40, 41, 40_501)  # with 1/2 and 0 and 1 between two of its places, or on one
PANEL = (X[1:] + X[:-1]) / 2
WIDTH = X[1] - X[0]


def stick(p, q, runs, epsilon):
    """∫ max(0, dP^n − e^ε dQ^n) for one run or two, by the midpoint rule."""
    if runs == 1:
        return np.maximum(0, p(PANEL) - np.exp(epsilon) * q(PANEL)).sum() * WIDTH
    x = np.linspace(-22, 23, 3601)
    x = (x[1:] + x[:-1]) / 2
    one, other = p(x), q(x)
    both = np.maximum(0, np.outer(one, one) - np.exp(epsilon) * np.outer(other, other))
    return both.sum() * (x[1] - x[0]) ** 2


def largest(tex, epsilon):
    """δ(ε) as the display says, of the pairs in its maximum."""
    known = dict(rows(tex))
    found = []
    pattern = r"H_\{\\varepsilon\}\(([PQ])(_\{\d\})?(\^\{\\otimes 2\})? \\,\\\|\\, ([PQ])"
    for first, index, two, second in re.findall(pattern, known[r"\delta(\varepsilon)"]):
        p, q = (density(known[letter + index]) for letter in (first, second))
        found.append(stick(p, q, 2 if two else 1, epsilon))
    assert found
    return max(found)


@pytest.mark.parametrize(
    "expr",
    [
        "PoissonSubsample(Gaussian(2), 1/10)",
        "2 * PoissonSubsample(Gaussian(2), 1/4)",
        "PoissonSubsample(Laplace(1), 1/10)",
        "2 * Laplace(3)",
        "SubsampleWithoutReplacement(Gaussian(2), 1/10)",
        "SubsampleWithoutReplacement(Laplace(2), 1/10)",
        "GroupPrivacy(PoissonSubsample(Gaussian(2), 1/10), 3)",
        "PoissonSubsample(Gaussian(3), 1/10, adjacency=replace_one)",
    ],
)
def test_what_is_printed_integrates_to_the_delta(expr):
    g = parse(expr).epsilon("1e-5", digits=6)
    tex = number_latex(g)
    assert rows(tex)[-1][0] == rf"\delta({g.epsilon.rounded()})"
    assert largest(tex, float(g.epsilon.upper)) == pytest.approx(DELTA, rel=2e-3)


@pytest.mark.parametrize(
    ("expr", "mu"), [("Gaussian(2)", 0.5), ("9 * Gaussian(5, 2) + Gaussian(1)", 2.44**0.5)]
)
def test_gaussian_noise_has_the_closed_form(expr, mu):
    g = parse(expr).epsilon("1e-5", digits=6)
    found = dict(rows(number_latex(g)))
    epsilon = float(g.epsilon.upper)
    ends = (mpmath.ncdf(sign * mu / 2 - epsilon / mu) for sign in (1, -1))
    value = next(ends) - mpmath.exp(epsilon) * next(ends)
    assert float(value) == pytest.approx(DELTA, rel=1e-6)
    assert (
        r"\Phi\left( \frac{\mu}{2} - \frac{\varepsilon}{\mu} \right)"
        in found[r"\delta(\varepsilon)"]
    )


def test_mu_of_the_closed_form():
    assert dict(rows(profile_latex(parse("9 * Gaussian(5, 2) + Gaussian(1)"))))[r"\mu"] == (
        r"\frac{\sqrt{61}}{5}"
    )


def test_finite_laws_are_printed_with_their_masses():
    tex = number_latex(parse("2 * RandomizedResponse(3/4)").delta(1, digits=6))
    known = dict(rows(tex))
    assert known["P"].startswith(r"\bigl( 3/4, 1/4 \bigr)")
    assert known["Q"].startswith(r"\bigl( 1/4, 3/4 \bigr)")
    assert known[r"\delta(1)"] == "0.392608"  # 9/16 − e/16 rounded up


def test_symbols_stay_in_the_formula_and_have_the_names_given():
    b, gamma = sympy.symbols("b gamma", positive=True)
    m = PoissonSubsample(Laplace(b), gamma)
    known = dict(rows(profile_latex(m, {"gamma": "q"})))
    assert known["P"].startswith(r"(1 - q) \, \mathrm{Lap}(0, b) + q \, \mathrm{Lap}(1, b)")


def test_a_number_by_an_order_is_that_of_its_conversion():
    g = parse("Gaussian(2)").epsilon("1e-5", conversion="classic")
    known = rows(number_latex(g))
    assert known[0] == (
        r"\varepsilon",
        r"\epsilon_{\mathcal{M}}(\alpha) - \frac{1}{\alpha - 1} \log(\delta)",
    )
    alpha = float(re.match(r"\\approx ([\d.]+),", known[1][1])[1])
    assert alpha / 8 - np.log(DELTA) / (alpha - 1) == pytest.approx(float(known[-1][1]), rel=1e-6)


@pytest.mark.parametrize(
    "expr", ["RepeatAndSelect(Gaussian(2), laws.Poisson(5))", "ZCDP(1/10) + Gaussian(3)"]
)
def test_without_a_formula_one_note_says_what_is_printed(expr):
    with pytest.raises(UnwrittenError, match="without delta, latex writes"):
        number_latex(parse(expr).epsilon("1e-5", conversion="exact"))
    result = run("latex", expr, "--delta", "1e-5", "--conversion", "exact")
    assert result.stdout.startswith("\\begin{align*}\n\\epsilon_{\\mathcal{M}}(\\alpha)")
    assert result.stderr.count("Note:") == 1
    assert "formula of the Rényi curve" in result.stderr


def test_a_guarantee_without_a_mechanism_has_no_formula():
    g = Gaussian(2).epsilon("1e-5")
    with pytest.raises(DomainError, match="mechanism"):
        number_latex(type(g)(**{**vars(g), "mechanism": None}))
