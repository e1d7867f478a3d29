"""Integrals: proved tails, what is infinite, and the second engine's plain quadrature."""

from fractions import Fraction

import mpmath
import pytest
import sympy
from flint import acb, arb

from symacct import laws
from symacct.analysis import densities
from symacct.analysis.densities import (
    ChiDivergence,
    Entropy,
    Excess,
    Kernel,
    Mass,
    ReverseEntropy,
    expectation,
    sides,
)
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.arithmetic.float64 import Float64Arithmetic
from symacct.kernel.arithmetic.mp import MpmathArithmetic
from symacct.kernel.errors import PrecisionError
from symacct.kernel.symbols import x as X
from symacct.mechanisms.pair import MixtureDirection, Overlap
from tests.thinning import covering

MP = mpmath.mp.clone()
MP.dps = 25
F = Fraction
INFINITY = float("inf")
Density = laws.Density
LINE, UNIT = (-INFINITY, INFINITY), (0, 1)
HALF_LINE = (0, INFINITY)

#: log p and log q, not normalized, and where both live.
KERNELS = {
    "normal, wider normal": (-(X**2) / 2, -((X - 1) ** 2) / 6, LINE),
    "normal, Laplace": (-(X**2) / 2 + 3, -sympy.Abs(X) / 2, LINE),
    "powers": (-3 * sympy.log(1 + X**2), -2 * sympy.log(1 + X**2) + 1, LINE),
    "gammas": (sympy.log(X) / 2 - X, sympy.log(X) * 2 - 2 * X, HALF_LINE),
    "powers at 0": (sympy.log(X) / 3, -sympy.log(X) / 2 - 1, UNIT),
    "flat, e^(-1/√x)": (sympy.Integer(-2), -1 / sympy.sqrt(X), UNIT),
    "flat, steep and slow": (sympy.Integer(0), -40 / X ** sympy.Rational(1, 8), UNIT),
    "e^(-√x), e^(-x)": (-sympy.sqrt(X), -X - 1, HALF_LINE),
}
#: The function of p and q, plainly.
QUESTIONS = {
    Mass(): lambda p, q: p,
    Excess(F(1, 3), F(3, 2)): lambda p, q: q * ((1 + (p / q - 1) / 3) ** 1.5 - 1 - (p / q - 1) / 2),
    Excess(F(1, 3), F(-2)): lambda p, q: (
        q * ((1 + (p / q - 1) / 3) ** -2 - 1 + 2 * (p / q - 1) / 3)
    ),
    Entropy(F(1, 4)): lambda p, q: q * h((p / q - 1) / 4),
    Entropy(F(1)): lambda p, q: q * h(p / q - 1),
    ReverseEntropy(F(1, 4)): lambda p, q: q * ((p / q - 1) / 4 - MP.log1p((p / q - 1) / 4)),
    ChiDivergence(3): lambda p, q: q * (p / q - 1) ** 3,
}


def h(u):
    return (1 + u) * MP.log1p(u) - u if u > -1 else MP.mpf(1)


def cuts_of(ends):
    return tuple(x if abs(x) == INFINITY else F(x) for x in ends)


def total(log, ends):
    """The logarithm of ∫ e^log, by mpmath."""
    f = sympy.lambdify(X, log, modules=MP)
    points = [-40, -8, -1, 0, 1, 8, 40] if ends == LINE else [0, MP.mpf(1) / 100, 1, 8, 60, 400]
    inside = [MP.mpf(x) for x in points if x <= ends[1]]
    if ends == LINE:
        inside = [-MP.inf, *inside]
    inside += [MP.inf] if ends[1] == INFINITY else []
    return MP.log(MP.quad(lambda x: MP.exp(f(x)), inside))


def exactly(x):
    return arb(MP.nstr(x, 30))


@covering()
@pytest.mark.parametrize("question", QUESTIONS, ids=repr)
@pytest.mark.parametrize("name", KERNELS)
def test_a_tail_is_bounded(name, question):
    """∫ |f(p, q)| beyond y = 8 and 16, towards each end that is not regular."""
    *logs, ends = KERNELS[name]
    kernels = [Kernel(log, cuts_of(ends)) for log in logs]
    shifts = [total(log, ends) for log in logs]
    f = QUESTIONS[question]
    for side in sides(*kernels):
        if side.is_regular or question.diverges(side):
            continue
        densities = [sympy.lambdify(sympy.Symbol("t", positive=True), log, MP) for log in side.logs]

        def at(t, densities=densities):
            return abs(f(*(MP.exp(d(t) - s) for d, s in zip(densities, shifts, strict=True))))

        for start in (8, 16):
            ends_of_parts = [start * MP.mpf(x) / 4 for x in (4, 5, 6, 8, 12, 20, 40, 200, 2000)]
            if not side.is_infinite:
                ends_of_parts = [1 / y for y in reversed(ends_of_parts)]
            true = MP.quad(at, ends_of_parts, maxdegree=5)
            with precision(120):
                bound = question.tail(side, tuple(map(exactly, shifts)), arb(start))
            # What lies beyond the last place is left out of the truth.
            assert bound.upper() >= exactly(true) * (1 - arb(10) ** -12)


# --- the second engine

#: f, the start, the factor of the next end, ∫ from the start on outwards or inwards
MARCHES = {
    "1/x²": (lambda x: x**-2, 1, 2, MP.mpf(1)),
    "1/√x": (lambda x: x ** MP.mpf(-0.5), 1, 0.5, MP.mpf(2)),
    "far out": (lambda x: MP.exp(-(MP.log(x / 3000) ** 2)) / x, 1, 2, MP.sqrt(MP.pi)),
    "far in": (lambda x: MP.exp(-((MP.log(x) + 9) ** 2)) / x, 1, 0.5, MP.sqrt(MP.pi)),
    "nothing": (lambda x: MP.mpf(0), 1, 2, MP.mpf(0)),
}


@pytest.mark.parametrize("name", MARCHES)
def test_marching_reaches_what_counts(name):
    f, start, factor, true = MARCHES[name]
    found = densities.Quadrature(MP, f, MP.mpf(10) ** -18).stretch_sum(
        MP.mpf(start), MP.mpf(factor), MP.mpf(0)
    )
    assert abs(found - true) < 1e-14


def test_a_stretch_is_halved_until_its_rules_agree():
    """A corner and a narrow peak, which no rule on the whole stretch meets."""
    third = MP.mpf(1) / 3
    ends, fine = (MP.mpf(0), MP.mpf(1)), MP.mpf(10) ** -15
    corner = densities.Quadrature(MP, lambda x: abs(x - third), fine).adaptive(*ends, 0)
    assert abs(corner - MP.mpf(5) / 18) < 1e-14
    narrow = densities.Quadrature(MP, lambda x: 1 / (1 + 10**6 * (x - third) ** 2), fine)
    peak = narrow.adaptive(*ends, 0)
    assert abs(peak - (MP.atan(1000 * (1 - third)) + MP.atan(1000 * third)) / 1000) < 1e-14


ARITHMETICS = {"ball": BALL, "mpmath": MpmathArithmetic(60), "float64": Float64Arithmetic()}


def divergence(P, Q, alpha, engine):  # noqa: N803
    """D_α(P‖Q) by integration as a float, whatever the arithmetic."""
    with precision(60):
        found = MixtureDirection(Overlap(P, Q)).at(ARITHMETICS[engine], alpha)
    return float(found.value() if engine == "float64" else found)


CORNERED = Density("exp(-Abs(x - 1/3))/2")
NORMAL = laws.Normal(0, 1)

#: P, Q and the supremum of log(P/Q) as mpmath has it
LARGEST = {
    "normal, Laplace": (NORMAL, CORNERED, MP.log(2 / MP.sqrt(2 * MP.pi)) + MP.mpf(5) / 6),
    "Laplace, normal": (CORNERED, NORMAL, MP.inf),
    "triangle, uniform": (Density("Min(x, 2 - x)", [0, 2]), laws.Uniform(0, 2), MP.log(2)),
    "gammas": (laws.Gamma(3, 2), Density("exp(-x)*x", [0, "inf"]), MP.log(4 / MP.e)),
}


@covering()
@pytest.mark.parametrize("engine", ARITHMETICS)
@pytest.mark.parametrize("name", LARGEST)
def test_order_infinity_in_every_arithmetic(name, engine):
    P, Q, true = LARGEST[name]
    assert divergence(P, Q, INFINITY, engine) == pytest.approx(float(true), rel=1e-12)


#: P, Q, whether KL(P‖Q) is finite, whether D_{3/2} is
DIVERGENCES = {
    # log(P/Q) = c + x^{−1/2} has a P-integral, no e^{η x^{−1/2}} has one.
    "flat, e^(-1/√x)": (laws.Uniform(0, 1), Density("exp(-1/sqrt(x))", [0, 1], "any"), True, False),
    "flat, e^(-1/x)": (laws.Uniform(0, 1), Density("exp(-1/x)", [0, 1], "any"), False, False),
    "e^(-√x), e^(-x)": (
        Density("exp(-sqrt(x))/2", [0, "inf"]),
        laws.Exponential(1),
        True,
        False,
    ),
    "Pareto": (laws.Pareto(1), Density("2*x**(-3)", [1, "inf"]), True, True),
}


@covering()
@pytest.mark.parametrize("engine", ARITHMETICS)
@pytest.mark.parametrize("name", DIVERGENCES)
def test_what_is_infinite_is_told_from_what_is_not(name, engine):
    P, Q, at_one, above = DIVERGENCES[name]
    assert (divergence(P, Q, 1, engine) < INFINITY) == at_one
    assert (divergence(P, Q, F(3, 2), engine) < INFINITY) == above


@pytest.mark.parametrize("engine", ARITHMETICS)
def test_a_divergence_without_any_moment_above_it(engine):
    """KL(uniform‖q), q ∝ e^{−1/√x}: 2 + log ∫ e^{−1/√x}; by mpmath's own quadrature."""
    Q = Density("exp(-1/sqrt(x))", [0, 1], "any")
    mass = MP.quad(lambda x: MP.exp(-1 / MP.sqrt(x)), [0, MP.mpf(1) / 100, MP.mpf(1) / 10, 1])
    found = divergence(laws.Uniform(0, 1), Q, 1, engine)
    assert found == pytest.approx(float(2 + MP.log(mass)), rel=1e-12)


# --- one law ends where the other goes on: each alone has a part of its own

NARROW, WIDE = laws.Density("1", [0, 1]), laws.Density("1/2", [0, 2])
THIRD = Fraction(1, 3)


def closed(question, shares):
    """E_Q of the function of m/q, which is constant on pieces: (its value, Q's share of it)."""
    if isinstance(question, Excess):
        power = arb(question.power.numerator) / question.power.denominator
        return sum((share * ratio**power for ratio, share in shares), arb(-1))
    if isinstance(question, Entropy):
        return sum((share * ratio * ratio.log() for ratio, share in shares), arb(0))
    return sum((-share * ratio.log() for ratio, share in shares), arb(0))


@pytest.mark.parametrize(
    "question",
    [Excess(THIRD, Fraction(5, 2)), Excess(THIRD, Fraction(-3, 2)), Entropy(THIRD),
     ReverseEntropy(THIRD)],
    ids=repr,
)  # fmt: skip
def test_laws_of_which_one_is_alone_somewhere(question):
    def asked(first, second):
        pieces = sides(first.kernel, second.kernel)
        return expectation(pieces, question, lambda: (arb(0), arb(0)), 60)

    with precision(150):
        third = arb(1) / 3
        known = closed(question, [(1 + third, arb(0.5)), (1 - third, arb(0.5))])
        assert asked(NARROW, WIDE).overlaps(known)
        beyond = asked(WIDE, NARROW)  # half of the mixed record's law is where Q has nothing
        if isinstance(question, Entropy) or getattr(question, "power", 0) > 0:
            assert beyond == arb("inf")
        else:
            assert beyond.overlaps(closed(question, [(1 - third / 2, arb(1))]))


def test_an_integral_is_refused_once_its_evaluations_are_used_up(monkeypatch):
    """flint looks at the limit between two rules, and takes what is left then as it is."""
    count = 0

    def kinked(z, analytic):
        nonlocal count
        count += 1
        away = z - acb(arb(1) / 3)
        if away.real.contains(0):
            return acb("nan") if analytic else acb(abs(away.real), away.imag)
        return away if away.real > 0 else -away

    def asked():
        return densities.integrate(kinked, arb(0), arb(1), arb(2) ** -95)

    with precision(100):
        value = asked()
        needed = count
        assert value.overlaps(arb(5) / 18)
        monkeypatch.setattr(densities, "_MOST_EVALUATIONS", needed + 2)
        assert asked().rad() < arb(2) ** -80
        for allowed in (1, 2, needed // 9, needed // 2, needed - 20, needed):
            monkeypatch.setattr(densities, "_MOST_EVALUATIONS", allowed)
            with pytest.raises(PrecisionError, match="an integral: not resolved"):
                asked()
