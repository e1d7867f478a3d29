"""Pairs of densities: certified integrals against closed forms and against mpmath's quadrature."""

import math
from fractions import Fraction

import mpmath
import pytest
import sympy
from flint import acb, arb

from symacct import (
    DistributionPair,
    DomainError,
    Laplace,
    LimitError,
    OrderError,
    ParseError,
    PoissonSubsample,
    PrecisionError,
    check_odd_chi,
    from_json,
    laws,
    limits,
    parse,
)
from symacct.analysis.densities import corners, largest_log_ratio, mass, sides
from symacct.analysis.jets import Germs, Jet, JetsOfBalls, _positive_factors, evaluator
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.symbols import t as T
from symacct.kernel.symbols import x as X
from symacct.mechanisms.pair import MixtureDirection, Overlap
from tests.thinning import covering

INFINITY = float("inf")
Density = laws.Density
MP = mpmath.mp.clone()
MP.dps = 40

LAPLACE = Density("exp(-Abs(x))/2")
CAUCHY = [Density(f"1/(pi*(1 + (x - {c})**2))") for c in (0, 1)]
GUMBEL = Density("exp(-x - exp(-x))")
MIXED = Density("(exp(-(x - 1)**2/2) + exp(-(x + 1)**2/2)/3)*3/4/sqrt(2*pi)")
QUARTIC = [Density(f"exp(-(x - {c})**4)", mass="any") for c in ("0", "1/3")]


def number(x):
    x = Fraction(x)
    return MP.mpf(x.numerator) / x.denominator


def near(enclosure, value, error=1e-28):
    """Is the enclosure narrow, and does it hold the value to the error of that one?"""
    assert enclosure.digits >= 25
    return abs(enclosure.upper - value) <= error * max(1, abs(value))


# --- the closed forms of the families, by integration instead

FAMILIES = [
    (laws.Exponential(1), laws.Exponential("5/4")),
    (laws.Gamma("1/2", 1), laws.Gamma("3/4", "5/4")),
    (laws.Weibull("3/2", 2), laws.Weibull("3/2", 3)),
    (laws.Rayleigh(1), laws.Rayleigh("5/4")),
    (laws.Pareto(2, 3), laws.Pareto("9/4", 3)),
    (laws.Chi(3), laws.Chi("7/2", "5/4")),
    (laws.HalfNormal(1), laws.HalfNormal("5/4")),
    (laws.Beta("1/2", 3), laws.Beta("3/4", "5/2")),
    (laws.Normal(0, 1), laws.Normal(1, "5/4")),
    (laws.Laplace(0, 1), laws.Laplace("3/2", 1)),
]


def by_integration(first, second, reverse):
    return MixtureDirection(Overlap(*((second, first) if reverse else (first, second))))


@covering()
@pytest.mark.parametrize(("first", "second"), FAMILIES, ids=repr)
@pytest.mark.parametrize("reverse", [False, True])
def test_the_integral_is_the_closed_form(first, second, reverse):
    """Orders at which the integral is finite, and at which both say that it is not."""
    integral = by_integration(first, second, reverse)
    closed = DistributionPair(first, second).direction(reverse)
    with precision(64):
        for alpha in (1, Fraction(5, 2), 6, INFINITY):
            one, other = (direction.at(BALL, alpha) for direction in (integral, closed))
            assert one.is_finite() == other.is_finite(), alpha
            if other.is_finite():
                assert one.overlaps(other), alpha
                assert abs(one - other) < arb(10) ** -15, alpha


@pytest.mark.parametrize(("first", "second"), FAMILIES, ids=repr)
def test_the_constant_of_a_family_is_its_integral(first, second):
    for law in (first, second):
        with precision(80):
            assert abs(mass(law.kernel, 70).log() - law.log_total(BALL)) < arb(10) ** -18


# --- densities, against quadrature and known values


def integral(f, points):
    return MP.quad(f, points)


def gap(alpha, log_p, log_q, points):
    """D_α of two densities given by their logarithms, by mpmath."""
    if alpha == 1:
        return integral(lambda x: MP.exp(log_p(x)) * (log_p(x) - log_q(x)), points)
    a = number(alpha)
    value = integral(lambda x: MP.exp(a * log_p(x) + (1 - a) * log_q(x)), points)
    return MP.log(value) / (a - 1)


def log_normal(x):
    return -x * x / 2 - MP.log(2 * MP.pi) / 2


def log_laplace(x):
    return -abs(x) - MP.log(2)


def log_mixed(x):
    both = MP.exp(-((x - 1) ** 2) / 2) + MP.exp(-((x + 1) ** 2) / 2) / 3
    return MP.log(both * 3 / 4 / MP.sqrt(2 * MP.pi))


LINE = [-60, -20, -8, -4, -2, -1, 0, 1, 2, 4, 8, 20, 60]
NORMAL = laws.Normal(0, 1)


@covering()
@pytest.mark.parametrize(
    ("first", "second", "logs", "points"),
    [
        (NORMAL, LAPLACE, (log_normal, log_laplace), LINE),
        (MIXED, NORMAL, (log_mixed, log_normal), LINE),
        (NORMAL, MIXED, (log_normal, log_mixed), LINE),
    ],
    ids=["normal, Laplace", "mixture, normal", "normal, mixture"],
)
@pytest.mark.parametrize("alpha", [1, Fraction(5, 4)])
def test_a_pair_of_densities_is_its_integral(first, second, logs, points, alpha):
    answer = DistributionPair(first, second).divergence(alpha, 27)
    assert near(answer, gap(alpha, *logs, points), 1e-24)


GOLDEN = MP.log((3 + MP.sqrt(5)) / (3 - MP.sqrt(5))) / 2
TRIANGLE = Density("Min(x, 2 - x)", [0, 2])
UNIT, RISING = laws.Uniform(0, 1), Density("2*x", [0, 1])


@pytest.mark.parametrize(
    ("first", "second", "alpha", "known"),
    [
        # log(1 + d²/4), d²/2, and the ratio's peak at the golden section
        (*CAUCHY, 1, MP.log(MP.mpf(5) / 4)),
        (*CAUCHY, 2, MP.log(MP.mpf(3) / 2)),
        (*CAUCHY, "inf", GOLDEN),
        # log(2/√(2π)) − x²/2 + |x| is largest at ±1; the other way round nothing bounds it
        (NORMAL, LAPLACE, "inf", MP.log(2 / MP.sqrt(2 * MP.pi)) + MP.mpf(1) / 2),
        (LAPLACE, NORMAL, 1, MP.log(MP.sqrt(2 * MP.pi) / 2)),
        *((LAPLACE, NORMAL, alpha, MP.inf) for alpha in ("1.000000000001", 2, 10000, "inf")),
        (TRIANGLE, laws.Uniform(0, 2), 1, MP.log(2) - MP.mpf(1) / 2),
        (TRIANGLE, laws.Uniform(0, 2), "inf", MP.log(2)),
        (laws.Uniform(0, 2), TRIANGLE, 3, MP.inf),  # ∫ x^{−2} at 0
        # ∫ x^{1−α} on [0, 1] is finite below 2: log(2^{1−α}/(2−α))/(α−1)
        *(
            (UNIT, RISING, a, MP.log(2 ** (1 - number(a)) / (2 - number(a))) / (number(a) - 1))
            for a in (Fraction(3, 2), Fraction(199, 100))
        ),
        *((UNIT, RISING, alpha, MP.inf) for alpha in (2, Fraction(5, 2))),
    ],
)
def test_known_values(first, second, alpha, known):
    pair = DistributionPair(first, second)
    found = pair.divergence(alpha)
    if known == MP.inf:
        assert found.lower == pair.rdp(alpha).lower == INFINITY
    else:
        assert near(found, known)


@pytest.mark.parametrize("bits", [3, 6, 10, 20])
def test_the_supremum_lies_in_its_ball_however_few_bits_are_asked(bits):
    """The same golden section, given up before it is met: what is left above counts."""
    root = arb(5).sqrt()
    truth = ((3 + root) / (3 - root)).log() / 2
    found = largest_log_ratio(sides(*(law.kernel for law in CAUCHY)), bits)
    assert found.lower() <= truth <= found.upper()
    assert found.rad() < arb(2) ** (2 - bits)


def test_a_log_ratio_without_a_value_is_not_an_infinite_one(monkeypatch):
    monkeypatch.setattr("symacct.mechanisms.pair.largest_log_ratio", lambda *_: arb.nan())
    with pytest.raises(PrecisionError, match="log-ratio"):
        DistributionPair(Density("exp(-Abs(x))/2"), Density("exp(-2*Abs(x))")).divergence("inf")


@pytest.mark.parametrize("extent", [1, "1/10000"])
def test_a_supremum_beside_a_singular_end_of_a_short_interval(extent):
    """(2x/e²)/(3√x/(2e^{3/2})) is largest at x = e, and is 0 at 0."""
    pair = DistributionPair(*(Density(f, [0, extent], "any") for f in ("x", "sqrt(x)")))
    assert near(pair.divergence("inf"), MP.log(MP.mpf(4) / 3))
    assert pair.divergence("inf", reverse=True).lower == INFINITY


@pytest.mark.parametrize(
    ("first", "second", "there", "back"),
    [
        (laws.Exponential(1), NORMAL, True, False),  # heavier, but on half of the line
        (laws.Uniform(0, 1), NORMAL, True, False),
        (laws.Uniform(0, 1), laws.Exponential(1), True, False),
        (laws.Pareto(2, 3), laws.Pareto(2, 1), True, False),
        (laws.Uniform(0, 2), laws.Uniform(1, 3), False, False),
        (NORMAL, LAPLACE, True, True),
    ],
    ids=repr,
)
def test_a_law_that_is_not_dominated_is_infinitely_far(first, second, there, back):
    pair = DistributionPair(first, second)
    assert (pair.divergence(1).upper < INFINITY) == there
    assert (pair.divergence(1, reverse=True).upper < INFINITY) == back


def test_equal_densities_tell_nothing():
    again = Density("exp(-x)", [0, 3, "inf"])
    pair = DistributionPair(again, laws.Exponential(1))
    for alpha in (1, Fraction(3, 2), 10**4, "inf"):
        assert pair.rdp(alpha).upper == 0
        assert PoissonSubsample(pair, "1/3").rdp(alpha).upper == 0


def test_cuts_and_corners_change_nothing():
    plain = DistributionPair(LAPLACE, laws.Laplace(1, 1)).divergence(Fraction(7, 3))
    cut = Density("exp(-Abs(x))/2", ["-inf", -1, 0, "5/2", "inf"])
    assert str(DistributionPair(cut, laws.Laplace(1, 1)).divergence(Fraction(7, 3))) == str(plain)
    closed = DistributionPair(laws.Laplace(0, 1), laws.Laplace(1, 1)).divergence(Fraction(7, 3))
    assert str(plain) == str(closed)


def test_corners_of_lines_with_irrational_slopes():
    sharp = "exp(-Max(sqrt(2)*{0}, -sqrt(2)*{0}))/sqrt(2)"
    first, second = (Density(sharp.format(x)) for x in ("x", "(x - 1)"))
    noise = Laplace(1 / sympy.sqrt(2))
    assert str(DistributionPair(first, second).rdp(3, 20)) == str(noise.rdp(3, 20))
    no_place = sympy.Abs(sympy.pi * X - 1) + sympy.Max(X**2, 1)
    assert list(corners(no_place + sympy.Abs(sympy.pi * X - 2 * sympy.pi))) == [2]


@pytest.mark.parametrize(
    ("f", "integral"),
    [
        ("exp(-Abs(Abs(x) - 1))", 4 - 2 * MP.exp(-1)),
        ("exp(-Max(Abs(x) - 1, 0))", 4),
        ("exp(-Max(Abs(x), 1))", 4 * MP.exp(-1)),
        ("exp(Min(Abs(x), 1)/2 - Abs(x))", 4 - 2 * MP.exp(-MP.mpf(1) / 2)),
        ("exp(-Abs(Abs(Abs(x) - 2) - 1))", 8 - 6 * MP.exp(-1)),
        ("exp(-Abs(Max(x, -3*x) - 6))", (8 - 4 * MP.exp(-6)) / 3),
    ],
)
def test_corners_of_what_has_corners_itself(f, integral):
    with precision(120):
        value = mass(Density(f, mass="any").kernel, 100)
    assert abs(as_mpf(value) - integral) < 1e-25


def test_a_divergence_of_densities_with_corners_in_corners():
    """A steep core on a flat law: its corners taken for none, D_2 came out as 1.3842633."""
    first, second = (
        Density(f"exp(-Min(4*Abs({x}), Abs({x}) + 3/2))", mass="any") for x in ("x", "(x - 1)")
    )
    core = lambda x: MP.exp(-min(4 * abs(x), abs(x) + MP.mpf(3) / 2))  # noqa: E731
    places = [-MP.inf, -8, -MP.mpf(1) / 2, 0, MP.mpf(1) / 2, 1, MP.mpf(3) / 2, 9, MP.inf]
    square = MP.quad(lambda x: core(x) ** 2 / core(x - 1), places)
    truth = MP.log(square / MP.quad(core, places))
    assert near(DistributionPair(first, second).divergence(2), truth, 1e-20)


def test_large_powers_in_a_product():
    """A beta law given by its formula, from the exact moments of the closed form."""
    law = Density("x**200*(1 - x)**300", [0, 1], mass="any")
    answer = DistributionPair(law, laws.Beta(201, 299)).divergence(2, 20)
    closed = DistributionPair(laws.Beta(201, 301), laws.Beta(201, 299)).divergence(2, 20)
    assert str(answer) == str(closed)


# --- what is refused


@pytest.mark.parametrize(
    ("f", "cuts", "says"),
    [
        ("x", ["-inf", "inf"], "not positive"),
        ("x*exp(-x**2/2)", ["-inf", "inf"], "not positive"),
        ("-exp(-x**2)", ["-inf", "inf"], "not positive"),
        ("1 - 2*x", [0, 1], "not positive"),
        ("exp(-x**2)", ["-inf", "inf"], "integral 1.77245385091, needed 1"),
        ("1/(2*sqrt(2*pi))*exp(-x**2/2)", ["-inf", "inf"], "integral 0.5"),
        ("exp(-x)/(1 - exp(-1)) + 1/10**25", [0, 1], "needed 1"),
        ("exp(x)", [0, "inf"], "infinite integral"),
        ("1/x", [1, "inf"], "infinite integral"),
        ("1/x", [0, 1], "infinite integral"),
        ("exp(-x)", [0], "two or more, rising"),
        ("exp(-x)", ["inf", 0], "two or more, rising"),
        ("exp(-x)", [0, 0, "inf"], "two or more, rising"),
        ("exp(-x)", "0", "needed a list"),
        ("exp(-x)", [0, sympy.sqrt(2)], "rational numbers or"),
        ("1 + x**sqrt(2)", [0, 1], "rational exponents"),
        ("x**x", [1, 2], "integral 2.05"),
        (sympy.sin(sympy.Symbol("x")), [0, 1], "found sin in a density"),
        (sympy.Symbol("y"), [0, 1], "found the symbol y, needed x alone"),
        ("(((x + 1)**50 + 1)**50 + 1)*exp(-x)", [0, "inf"], "power of 2500"),
        ("exp(-x**1000)", [0, "inf"], "power of 1000"),
        ("exp(-x)" + " + exp(-2*x)/3**9" * 1 + "+ x**9" * 500, [0, 1], "needed 1"),
    ],
)
def test_what_is_no_density_is_refused(f, cuts, says):
    with pytest.raises(DomainError, match=says):
        Density(f, cuts)


def test_text_that_is_no_formula_is_refused():
    for text in ("exp(-x", "sin(x)", "y", "x.__class__", "lambda: 0", "exp(-x); 1"):
        with pytest.raises(ParseError):
            Density(text)


def test_sizes_are_bounded():
    long = sum(sympy.exp(-sympy.Symbol("x") * sympy.Rational(k, 7)) for k in range(1, 300))
    with pytest.raises(DomainError, match="operations"):
        Density(long, [0, "inf"], mass="any")
    with limits(outcomes=3), pytest.raises(LimitError):
        Density("exp(-x)", [0, 1, 2, 3, "inf"])


def test_a_tail_without_a_proof_is_not_guessed():
    """1/(x log² x) has a finite integral, which no power of x shows."""
    with pytest.raises(PrecisionError, match="found no proof"):
        Density("1/(x*log(x)**2)", [2, "inf"], mass="any")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (laws.Poisson(1), laws.Exponential(1)),
        (laws.Poisson(1), laws.Geometric("1/2")),
        (laws.MultivariateNormal([0], [[1]]), laws.Normal(0, 1)),
    ],
    ids=repr,
)
def test_laws_of_different_kinds_of_outcomes_are_refused(one, other):
    with pytest.raises(DomainError, match="two densities on the line"):
        DistributionPair(one, other)


# --- text


@pytest.mark.parametrize(
    "law",
    [
        LAPLACE,
        MIXED,
        GUMBEL,
        QUARTIC[1],
        Density("x**(1/3)*exp(-x)", [0, "inf"], "any"),
        Density(sympy.exp(-sympy.Symbol("x") / 2), [0, Fraction(1, 2), "inf"], 2),
        Density("Max(x, 1/2)*8/5", ["0", 0.5, 1], "1"),
        Density("1/(pi*cosh(x))"),
    ],
    ids=repr,
)
def test_a_density_is_read_back_as_the_same_object(law):
    pair = DistributionPair(law, laws.Normal(0, 1))
    scope = {"DistributionPair": DistributionPair, "laws": laws}
    assert eval(repr(pair), {"__builtins__": {}}, scope) is pair  # noqa: S307
    node = PoissonSubsample(pair, "1/10")
    assert parse(repr(node)) is node
    assert from_json(node.to_json()) is node


# --- symmetry and condition (4)


@pytest.mark.parametrize(
    ("first", "second", "symmetric"),
    [
        (*QUARTIC, True),
        (*CAUCHY, True),
        (LAPLACE, Density("exp(-Abs(x - 2))/2"), True),
        (LAPLACE, Density("exp(-Abs(x - 2)/2)/4"), False),
        (Density("2*x", [0, 1]), Density("2 - 2*x", [0, 1]), True),
        (Density("2*x", [0, 1]), Density("3*(1 - x)**2", [0, 1]), False),
        (GUMBEL, LAPLACE, False),
    ],
    ids=repr,
)
def test_a_reflection_that_swaps_the_densities_is_found(first, second, symmetric):
    assert DistributionPair(first, second)._swap_symmetric == symmetric
    if symmetric:
        report = check_odd_chi(DistributionPair(first, second), 9)
        assert report.holds
        assert report.proved_for_all_orders


def test_condition_4_by_integrals():
    """χ^l of N(0,1) from Laplace noise by mpmath; its first odd one is negative."""
    report = check_odd_chi(DistributionPair(NORMAL, LAPLACE), 9)
    chi = integral(
        lambda x: MP.exp(log_laplace(x)) * MP.expm1(log_normal(x) - log_laplace(x)) ** 3, LINE
    )
    assert report.holds is False
    assert report.first_violation.l == 3
    assert report.first_violation.direction == "P‖Q"
    assert abs(report.first_violation.value.upper - chi) < 1e-18
    assert report.first_violation.value.upper < 0


def test_condition_4_holds_for_a_tilt_up_to_an_order():
    """P = 2x against the uniform law: χ^l = ∫(2x−1)^l = 0 at every odd l; 3x² has χ³ > 0."""
    uniform = laws.Uniform(0, 1)
    square = DistributionPair(Density("3*x**2", [0, 1]), uniform)
    forward = square.direction()
    with precision(100):
        chi = forward.chi(3)
        assert abs(chi - (arb(27) / 7 - arb(27) / 5 + 3 - 1)) < arb(10) ** -25
    assert check_odd_chi(DistributionPair(Density("2*x", [0, 1]), uniform), 3).holds is None


# --- the tools


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("t**2 - 3*t", 1),
        ("1/(1 + t**2)", 2),
        ("log(1 + t)/t", 4),
        ("exp(-t)*t**3", 16),
        ("exp(t) - t**5", 16),
        ("t**(1/3)*(2 - exp(-t))", 2),
        ("Max(t, 3*t - 100)", 2),
        ("Min(t**2, 7) + Abs(5 - t)", 1),
        ("log(1 + exp(-t))", 1),
        ("(t - 2)**-2", 4),
        ("(log(1 + t) - log(t))**2", 4),
        ("(log(1 + t) - log(t))**3", 4),
    ],
)
def test_a_germ_bounds_the_function_and_its_derivative(text, start):
    expression = sympy.sympify(text, locals={"t": T, "x": T})
    jet = evaluator(expression, T)(Germs(arb(start)).variable())
    with MP.workdps(40):
        function = sympy.lambdify(T, expression, modules=[MP, {"Abs": abs, "Max": max, "Min": min}])
        for k in (0, 1, 2, 5, 9, 20, 50):
            y = MP.mpf(start) * (1 + MP.mpf(k) / 3) ** (k + 1)
            step = y * MP.mpf(10) ** -12
            slope = y * (function(y + step) - function(y - step)) / (2 * step)
            for germ, value in ((jet.value, function(y)), (jet.slope, slope)):
                scale = y ** number(germ.power)
                slack = abs(value) * MP.mpf(10) ** -10
                assert as_mpf(germ.low) * scale <= value + slack
                assert value <= as_mpf(germ.high) * scale + slack


@pytest.mark.parametrize("sign", [1, -1])
def test_a_slope_of_unknown_sign_proves_nothing(sign):
    """2 is above or below the slope √2·n/10⁶⁰ by less than the balls can tell."""
    rate = sympy.sqrt(2) * sympy.Rational(math.isqrt(2 * 10**120) + (sign < 0), 10**60)
    assert sign * (2 - rate) > 0
    law = Density(sympy.exp(-rate * X), [0, "inf"], mass="any")
    pair = DistributionPair(laws.Exponential(1), law)
    if sign > 0:  # D_2 is log(1/(√2·n/10⁶⁰·(2 − √2·n/10⁶⁰)))
        with pytest.raises(PrecisionError, match="found no proof"):
            pair.divergence(2)
    germ = evaluator((rate - 2) * T, T)(Germs(arb(2)).variable()).value
    assert germ.supremum() == INFINITY
    assert germ.infimum() == -INFINITY


def as_mpf(x):
    if not x.is_finite():
        return MP.inf if x > 0 else -MP.inf
    mantissa, power = x.mid().man_exp()
    return MP.mpf(int(mantissa)) * MP.mpf(2) ** int(power)


def test_a_pair_is_infinite_where_one_direction_is():
    heavy = DistributionPair(
        laws.Uniform(0, 1), laws.Density("exp(-1/sqrt(x))", [0, 1], "any"), "either"
    )
    assert heavy.rdp(2, digits=5).lower == INFINITY
    assert heavy.swapped().rdp(2, digits=5).lower == INFINITY
    with pytest.raises(OrderError, match="infinite"):
        heavy.epsilon("1/10", orders=[2, "inf"], digits=5)


#: A density by one of the functions of `Density`, its cuts, and its logarithm in mpmath.
BY_FUNCTIONS = [
    ("1/(pi*cosh(x))", ["-inf", "inf"], lambda x: -mpmath.log(mpmath.pi * mpmath.cosh(x))),
    ("(1 - tanh(x)**2)/2", ["-inf", "inf"], lambda x: -mpmath.log(2 * mpmath.cosh(x) ** 2)),
    ("sinh(x)/(cosh(2) - cosh(1))", [1, 2],
     lambda x: mpmath.log(mpmath.sinh(x) / (mpmath.cosh(2) - mpmath.cosh(1)))),
    ("exp(-x)/(x**(2/3)*gamma(1/3))", [0, "inf"],
     lambda x: -x - 2 * mpmath.log(x) / 3 - mpmath.loggamma(mpmath.mpf(1) / 3)),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "cuts", "log"), BY_FUNCTIONS)
def test_a_density_by_each_function_it_lists(formula, cuts, log):
    """The mass is checked to 30 digits when it is made; ε(2) against mpmath's quadrature."""
    one = laws.Density(formula, cuts)
    ends = [mpmath.mpf(cut) for cut in cuts]
    tilted = laws.Density(f"({one.f})*exp(-Abs(x)/2)", cuts, "any")
    found = DistributionPair(one, tilted).divergence(2, digits=12)
    with mpmath.workdps(30):
        parts = sorted({*ends, *(mpmath.mpf(x) for x in (0, 1) if ends[0] < x < ends[1])})
        mean = [
            mpmath.quad(lambda x, s=s: mpmath.exp(log(x) + s * abs(x) / 2), parts) for s in (1, -1)
        ]
        assert abs(found.lower - mpmath.log(mean[0] * mean[1])) < mpmath.mpf(10) ** -8


def test_what_a_density_knows_is_listed_where_it_is_described_and_refused():
    with pytest.raises(DomainError, match="gamma of constants") as raised:
        laws.Density("gamma(x)", [1, 2], "any")
    for name in ("exp", "log", "sqrt", "cosh", "sinh", "tanh", "Abs", "Min", "Max", "gamma"):
        assert name in laws.Density.__doc__
        assert name in str(raised.value)
    assert parse("PoissonSubsample(PureDP(1), gamma)", symbols=["gamma"]).free_symbols


def test_a_sign_that_is_moved_leaves_the_product():
    x, y = sympy.symbols("x y")
    for f in (-2 * x, -3 * x * y, sympy.Mul(-1, x + 1, y, evaluate=False), x * y):
        assert sympy.expand(sympy.Mul(*_positive_factors(f)) - f) == 0


@pytest.mark.parametrize("at", ["0.3", "0.9", "1.7", "3.1"])
def test_a_jet_of_jets_has_the_second_derivative_of_the_larger(at):
    expression = sympy.Max(X**3, sympy.sqrt(X) + 1) * sympy.Abs(X - 2)
    expression -= sympy.Min(sympy.log(X), X / 3)
    sort = JetsOfBalls()
    place = Jet(sort, Jet(sort.balls, acb(arb(at)), acb(1)), sort.number(1))
    found = evaluator(expression)(place)
    calls = {"Max": max, "Min": min, "Abs": abs, "log": MP.log, "sqrt": MP.sqrt}
    function = sympy.lambdify(X, expression, modules=[calls])
    jets = (found.value.value, found.value.slope, found.slope.value, found.slope.slope)
    for derivative, value in zip((0, 1, 1, 2), jets, strict=True):
        known = MP.diff(function, MP.mpf(at), derivative)
        assert float(value.real.mid()) == pytest.approx(float(known), rel=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("half", "whole"),
    [("exp(-x)", "exp(-Abs(x))/2"), ("1/(1 + x)**2", "1/(1 + Abs(x))**2/2")],
)
def test_a_law_on_half_the_line_is_twice_the_one_on_the_whole(half, whole, reverse):
    """m/Q is 1 + γ on one side and 1 − γ on the other, where P is 0 up to infinity."""
    first = laws.Density(half, [0, "inf"])
    overlap = Overlap(first, laws.Density(whole, ["-inf", 0, "inf"]))
    power = -2 if reverse else 3
    moment = (MP.mpf("0.75") ** power + MP.mpf("1.25") ** power) / 2
    with precision(53):
        found = MixtureDirection(overlap, Fraction(1, 4), reverse).curve(BALL)(3)
    assert float(found.mid()) == pytest.approx(float(MP.log(moment) / 2), rel=1e-13)
