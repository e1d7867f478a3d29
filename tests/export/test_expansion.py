"""Expansions against the certified curve, coefficient by coefficient; optima against the search."""

from fractions import Fraction

import flint
import mpmath
import pytest
import sympy

from symacct import (
    TCDP,
    ZCDP,
    Curve,
    DomainError,
    Gaussian,
    Laplace,
    OrderError,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    Scale,
    SoundnessError,
    SubsampleWithoutReplacement,
    symbols,
)
from symacct.export.expansions import (
    SeriesArithmetic,
    _by_moments,
    coefficient_over,
    expansion,
    optimum,
    taylor_precision,
)
from symacct.kernel.accountant import FormulaAccountant
from tests import independent
from tests.extremes import bounded
from tests.support import holds
from tests.thinning import covering

SIGMA, GAMMA, B, RHO = sympy.symbols("sigma gamma b rho", positive=True)
ALPHA = symbols.alpha
MP = independent.context(80)


def number(expression, **values):
    """The value of a formula by mpmath, at 80 digits: SymPy evaluates nothing."""
    for integral in expression.atoms(sympy.Integral):
        expression = expression.xreplace({integral: quadrature(integral)})
    replaced = {sympy.Symbol(k, positive=True): v for k, v in values.items()} | {
        ALPHA: values.get("alpha", ALPHA)
    }
    names = sorted(replaced, key=str)
    with mpmath.workdps(80):
        function = sympy.lambdify(names, expression, "mpmath")
        exact = [Fraction(replaced[n]) if replaced[n] != n else 0 for n in names]
        return MP.mpf(function(*(mpmath.mpf(x.numerator) / x.denominator for x in exact)))


def quadrature(integral):
    """The integral by mpmath to 40 digits, as an exact number; all of a normal law is in ±60."""
    ((z, *ends),) = integral.limits
    low, high = (max(-60, min(60, end)) for end in ends)
    with mpmath.workdps(45):
        function = sympy.lambdify(z, integral.function, "mpmath")
        value = mpmath.quad(function, mpmath.linspace(low, high, 2 if high == 1 else 31))
        return sympy.Rational(str(mpmath.nstr(value, 40)))


def curve_at(node, alpha, by=None):
    """The middle of the certified value of what is written down, to 70 digits."""
    value = FormulaAccountant(70).rdp(node, alpha, by=by)
    assert value.certified
    return (MP.mpf(value.lower) + MP.mpf(value.upper)) / 2


def powers(distances, order, value, terms):
    """(f − terms)/h^order at each distance: bounded, and converging, if the terms are right."""
    return [
        (value(h) - terms(h)) / MP.mpf(h.numerator) ** order * MP.mpf(h.denominator) ** order
        for h in distances
    ]


SMALL = [Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**9)]


def converges(rests, size):
    """The rests settle: the step from the second to the third is a thousandth of the scale."""
    scale = max(1, *(abs(rest) for rest in rests))
    assert abs(rests[0]) < size
    assert abs(rests[2] - rests[1]) <= scale * MP.mpf(10) ** -3


# --- γ → 0


def test_the_leading_term_of_the_sampled_gaussian_is_the_known_one():
    found = expansion(PoissonSubsample(Gaussian(SIGMA), GAMMA))
    expected = ALPHA * GAMMA**2 * (sympy.exp(1 / SIGMA**2) - 1) / 2
    assert sympy.simplify(found.leading - expected) == 0
    assert found.expression.getO() == sympy.Order(GAMMA**3, GAMMA)
    assert sympy.simplify(found.terms - expected) == 0
    assert found.claim.theorems == ("ZW19-T8",)
    assert found.remainder is None  # symbols leave only O(·)


IN_GAMMA = {
    "Gaussian": (PoissonSubsample(Gaussian("3/2"), "1/100"), 5, None),
    "Laplace": (PoissonSubsample(Laplace(2), "1/100"), 7, None),
    "response": (PoissonSubsample(RandomizedResponse("3/4"), "1/100"), 4, None),
    "T5": (PoissonSubsample(Gaussian(5), "1/100"), 6, "ZW19-T5"),
    "T6": (PoissonSubsample(Gaussian(5), "1/100"), 6, "ZW19-T6"),
    "runs": (1000 * PoissonSubsample(Gaussian(5), "1/100"), 3, None),
    "T27": (SubsampleWithoutReplacement(Gaussian(2), "1/100"), 4, "WBK19-T27"),
    "T9": (SubsampleWithoutReplacement(Laplace(2), "1/100"), 5, "WBK19-T9"),
    "C24": (SubsampleWithoutReplacement(Gaussian(2), "1/100"), 4, "BLOG-C24"),
    "nested": (PoissonSubsample(PoissonSubsample(Gaussian(2), GAMMA), "1/3"), 3, None),
    "fractional": (PoissonSubsample(Gaussian(2), "1/100"), Fraction(5, 2), None),
    "between 1 and 2": (PoissonSubsample(Laplace(2), "1/100"), Fraction(3, 2), None),
    "response, fractional": (PoissonSubsample(PureDP("1/2"), "1/100"), Fraction(7, 3), None),
    "Kullback-Leibler": (PoissonSubsample(Gaussian(1), "1/100"), 1, None),
}


@covering()
@pytest.mark.parametrize("name", IN_GAMMA)
@pytest.mark.parametrize("order", [3, 5])
def test_the_rest_of_the_expansion_in_gamma_is_of_its_order(name, order):
    node, alpha, by = IN_GAMMA[name]
    found = expansion(node, "gamma", order=order, alpha=alpha, by=by)
    if GAMMA in node.free_symbols:

        def at(gamma):
            return node.subs({GAMMA: gamma})

    else:

        def at(gamma):
            return rebuilt(node, gamma)

    rests = powers(
        SMALL,
        order,
        lambda h: curve_at(at(h), alpha, by),
        lambda h: number(found.terms, gamma=h),
    )
    converges(rests, MP.mpf(10) ** 7)


def rebuilt(node, gamma):
    """The same expression at another rate."""
    if hasattr(node, "terms"):
        ((part, count),) = node.terms.items()
        return count * rebuilt(part, gamma)
    return type(node)(node.mechanism, gamma)


@pytest.mark.parametrize("alpha", [2, 3, 9])
def test_the_symbolic_order_gives_the_same_terms_as_each_whole_one(alpha):
    node = PoissonSubsample(Laplace(B), GAMMA)
    symbolic = expansion(node, "gamma", order=5).terms.subs(ALPHA, alpha)
    whole = expansion(node, "gamma", order=5, alpha=alpha).terms
    values = {"b": "3/2", "gamma": "1/7"}
    assert abs(number(symbolic, **values) - number(whole, **values)) < MP.mpf(10) ** -70


# --- remainders


REMAINDERS = {name: IN_GAMMA[name] for name in ("Gaussian", "Laplace", "T5", "runs", "T27", "T9")}


@pytest.mark.parametrize("name", REMAINDERS)
def test_the_remainder_holds_wherever_it_is_claimed(name):
    node, alpha, by = REMAINDERS[name]
    found = expansion(node, "gamma", order=4, alpha=alpha, by=by)
    rest = found.remainder
    assert rest.until == Fraction(1, 100)
    assert rest.power == 4
    low, high = rest.coefficient.lower, rest.coefficient.upper
    for gamma in [rest.until, rest.until / 3, *SMALL]:
        (c,) = powers(
            [gamma],
            4,
            lambda h: curve_at(rebuilt(node, h), alpha, by),
            lambda h: number(found.terms, gamma=h),
        )
        assert low <= c <= high
    # It is no tautology: ten times the distance leaves it, or it is within a tenth of the truth.
    assert high - low < abs(c) * 10 + 1


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_derivative_is_enclosed_all_over_the_interval(pieces):
    """Of e^x and its reciprocal: f″/2 runs from 1/2 to e/2, and from 1/(2e) to 1/2."""
    x = sympy.Symbol("x", positive=True)
    with taylor_precision(128, 4):

        def over(value):
            return coefficient_over(value, x, Fraction(1), 2, False, pieces)

        rising = over(lambda ctx: ctx.exp(ctx.number(x)))
        falling = over(lambda ctx: 1 / ctx.exp(ctx.number(x)))
        half, e = flint.arb(1) / 2, flint.arb(1).exp()
        assert rising.contains(half)
        assert rising.contains((e / 2).mid())
        assert falling.contains(half)
        assert falling.contains((1 / (2 * e)).mid())
        assert rising < e + 1


def test_a_remainder_is_proved_as_far_as_one_asks():
    node = PoissonSubsample(Gaussian(2), GAMMA)
    near = expansion(node, alpha=3, within="1/1000").remainder
    far = expansion(node, alpha=3, within="1/10").remainder
    assert far.coefficient.lower <= near.coefficient.lower
    assert near.coefficient.upper <= far.coefficient.upper
    assert near.coefficient.upper - near.coefficient.lower < far.coefficient.upper / 10
    assert expansion(node, alpha=3).remainder is None


def test_nothing_is_proved_of_a_curve_that_is_not_certified():
    trusted = Curve(lambda alpha: alpha / 50, kind="upper", adjacency="add_remove")
    with pytest.raises(DomainError, match="Python function"):
        expansion(PoissonSubsample(trusted, "1/1000"), alpha=3)


def test_the_remainder_at_a_large_sigma():
    node = PoissonSubsample(Gaussian(10), "1/20")
    found = expansion(node, "sigma", order=4, alpha=5)
    assert found.remainder.until == Fraction(1, 10)
    for sigma in (10, 40, 10**6):
        value = curve_at(PoissonSubsample(Gaussian(sigma), "1/20"), 5)
        c = (value - number(found.terms, sigma=sigma)) * MP.mpf(sigma) ** 4
        assert found.remainder.coefficient.lower <= c <= found.remainder.coefficient.upper


# --- σ → ∞

IN_SIGMA = {
    "sampled": (lambda s: PoissonSubsample(Gaussian(s), "1/3"), 4),
    "symbolic": (lambda s: PoissonSubsample(Gaussian(s), "1/3"), None),
    "fractional": (lambda s: PoissonSubsample(Gaussian(s), "1/3"), Fraction(7, 2)),
    "plain": (lambda s: Gaussian(s, "1/2"), 3),
}


@pytest.mark.parametrize("name", IN_SIGMA)
def test_the_expansion_for_large_noise(name):
    build, alpha = IN_SIGMA[name]
    found = expansion(build(SIGMA), "sigma", order=7, alpha=alpha)
    whole = alpha or 6
    rests = [
        (curve_at(build(s), whole) - number(found.terms, sigma=s, alpha=whole)) * MP.mpf(s) ** 7
        for s in (10**2, 10**4, 10**6)
    ]
    # The first power left out is even, σ^{−8}.
    assert abs(rests[2]) <= abs(rests[0]) + MP.mpf(10) ** -20
    assert abs(rests[0]) < 10**4


def test_the_general_bound_for_large_noise_at_a_symbolic_order():
    """Its sum starts at l = 3 and does not vanish without noise."""
    found = expansion(PoissonSubsample(Gaussian(SIGMA), "1/3"), "sigma", order=3, by="ZW19-T5")
    for alpha in (2, 3, 7):
        rests = [
            (
                curve_at(PoissonSubsample(Gaussian(s), "1/3"), alpha, "ZW19-T5")
                - number(found.terms, sigma=s, alpha=alpha)
            )
            * s**4
            for s in (10**2, 10**4)
        ]
        assert abs(rests[1] - rests[0]) <= abs(rests[0]) / 100 + MP.mpf(10) ** -20


def test_without_noise_the_sampled_gaussian_is_its_last_term():
    found = expansion(PoissonSubsample(Gaussian(SIGMA), "1/3"), "sigma", at=0, alpha=3)
    assert sympy.simplify(found.terms - 3 / (2 * SIGMA**2) + 3 * sympy.log(3) / 2) == 0
    value = curve_at(PoissonSubsample(Gaussian("1/8"), "1/3"), 3)
    assert abs(value - number(found.terms, sigma="1/8")) < MP.mpf(10) ** -40


# --- α → 1 and α → ∞

TO_ONE = {
    "Gaussian": Gaussian(2),
    "Laplace": Laplace(2),
    "response": RandomizedResponse("3/4"),
    "pure": PureDP("1/2"),
    "sampled Gaussian": PoissonSubsample(Gaussian(2), "1/10"),
    "sampled Laplace": PoissonSubsample(Laplace(2), "1/10"),
    "sampled response": PoissonSubsample(RandomizedResponse("3/4"), "1/10"),
    "sum": 3 * Laplace(2) + Gaussian(2),
    "without replacement": SubsampleWithoutReplacement(Gaussian(2), "1/10"),
}


@pytest.mark.parametrize("name", TO_ONE)
def test_the_limit_at_order_1_and_the_slope_there(name):
    node = TO_ONE[name]
    found = expansion(node, "alpha", order=2)
    near = Fraction(1, 10**6)
    value = curve_at(node, 1 + near)
    assert abs(number(found.leading) - curve_at(node, 1)) < MP.mpf(10) ** -25
    assert abs(value - number(found.terms, alpha=1 + near)) < MP.mpf(10) ** -10
    further = Fraction(1, 100)
    gap = abs(curve_at(node, 1 + further) - number(found.terms, alpha=1 + further))
    assert gap < MP.mpf(10) ** -3 / 2


def test_a_curve_that_is_a_formula_is_expanded_too():
    mine = Curve("alpha/50 + exp(-alpha)", kind="upper", adjacency="add_remove")
    found = expansion(mine, "alpha", order=2)
    slope = sympy.Rational(1, 50) - sympy.exp(-1)
    expected = sympy.Rational(1, 50) + sympy.exp(-1) + slope * (ALPHA - 1)
    assert sympy.simplify(found.terms - expected) == 0
    assert expansion(mine, "alpha", at="inf", order=1).terms == ALPHA / 50
    sampled = expansion(PoissonSubsample(mine, GAMMA), alpha=2)
    moment = sympy.exp(sympy.Rational(1, 25) + sympy.exp(-2)) - 1
    assert sympy.simplify(sampled.leading - GAMMA**2 * moment) == 0


def test_of_two_bounds_the_one_that_vanishes_faster_is_expanded():
    """BLOG-C24 is linear in γ, Theorems 9 and 27 are quadratic: no number is needed to see it."""
    for alpha in (None, 3):
        found = expansion(SubsampleWithoutReplacement(Gaussian(2), GAMMA), alpha=alpha)
        assert found.claim.theorems == ("WBK19-T27",)
        assert sympy.degree(found.leading, GAMMA) == 2


TO_INFINITY = {
    "without replacement": SubsampleWithoutReplacement(Laplace(2), "1/3"),
    "Laplace": Laplace(2),
    "response": RandomizedResponse("3/4"),
    "sampled Laplace": PoissonSubsample(Laplace(2), "1/10"),
    "sampled response": PoissonSubsample(PureDP(1), "1/10"),
    "sampled Gaussian": PoissonSubsample(Gaussian(1), "1/10"),
    "sum": 2 * Laplace(2) + ZCDP("1/3"),
}


@pytest.mark.parametrize("name", TO_INFINITY)
def test_the_expansion_at_infinity(name):
    node = TO_INFINITY[name]
    found = expansion(node, "alpha", at="inf", order=5)
    rests = [
        (curve_at(node, alpha) - number(found.terms, alpha=alpha)) * MP.mpf(alpha) ** 5
        for alpha in (500, 1000, 2000)
    ]
    # They settle as 1/α does; a wrong coefficient would make them grow.
    assert abs(rests[2] - rests[1]) <= abs(rests[1] - rests[0]) * 0.6 + MP.mpf(10) ** -9


# --- where there is none

SAMPLED, FIXED = PoissonSubsample(Gaussian(2), "1/3"), SubsampleWithoutReplacement
LOWER = Curve("alpha/9", kind="lower", adjacency="either")
NO_LINE = Curve("alpha**2", kind="upper", adjacency="either")
REFUSED = {
    "no such parameter": (lambda: expansion(Gaussian(2), "gamma"), DomainError),
    "two values": (lambda: expansion(Gaussian(2) + Gaussian(3), "sigma"), DomainError),
    "at 2": (lambda: expansion(Gaussian(2), "alpha", at=2), DomainError),
    "an order for orders": (lambda: expansion(Gaussian(2), "alpha", alpha=2), DomainError),
    "no term": (lambda: expansion(Gaussian(SIGMA), "sigma", at=0, order=0), DomainError),
    "within nothing": (lambda: expansion(SAMPLED, within=0), DomainError),
    "a kink": (
        lambda: expansion(RandomizedResponse("1/3"), "p", at="1/2", alpha="inf"),
        OrderError,
    ),
    "no power": (lambda: expansion(Gaussian(SIGMA), "sigma", at=0, alpha="inf"), OrderError),
    "chords": (
        lambda: expansion(FIXED(Laplace(2), "1/3"), "alpha", at="inf", by="WBK19-C10"),
        OrderError,
    ),
    "an open order": (lambda: expansion(SAMPLED, "gamma", at="1/2"), OrderError),
    "whole orders": (lambda: expansion(SAMPLED, "alpha", by="ZW19-T8"), OrderError),
    "a hull": (lambda: expansion(FIXED(Gaussian(2), "1/3").convexify(8), alpha=3), OrderError),
    "no closed form": (lambda: optimum(Gaussian(2), conversion="improved"), DomainError),
    "no line": (lambda: optimum(Laplace(2)), DomainError),
    "a line that ends": (lambda: optimum(TCDP("1/9", 5)), DomainError),
    "a parabola": (lambda: optimum(NO_LINE), DomainError),
    "a lower bound": (lambda: optimum(LOWER), SoundnessError),
    "delta 1": (lambda: optimum(Gaussian(2), delta=1), DomainError),
    "delta 0": (lambda: optimum(Gaussian(2), delta=0), DomainError),
    "epsilon below": (lambda: optimum(Gaussian(2), epsilon="1/100"), DomainError),
    "both": (lambda: optimum(Gaussian(2), delta="1/9", epsilon=1), DomainError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_expansion_or_optimum_is_one_clear_error(name):
    ask, error = REFUSED[name]
    with pytest.raises(error) as caught:
        ask()
    assert "\n" not in str(caught.value)


# --- closed-form optima


LINES = [50 * Gaussian(20, 3), ZCDP("1/7", "1/5"), Scale(Gaussian(2), "1/3") + ZCDP("1/9")]


@pytest.mark.parametrize("node", LINES)
@pytest.mark.parametrize("delta", ["1e-5", "1/3"])
def test_the_closed_form_is_the_optimum_that_the_search_finds(node, delta):
    found = optimum(node, delta=delta)
    guarantee = node.epsilon(delta, digits=40, conversion="classic")
    assert guarantee.optimal
    assert holds(guarantee.epsilon, number(found.epsilon), digits=39, trusted=75)
    best = Fraction(guarantee.alpha)
    assert abs(number(found.alpha) - MP.mpf(best.numerator) / best.denominator) < MP.mpf(10) ** -9


@pytest.mark.parametrize("epsilon", ["1", "7/2"])
def test_the_closed_form_for_delta(epsilon):
    node = 3 * Gaussian(4) + ZCDP("1/50", "1/5")
    found = optimum(node, epsilon=epsilon)
    guarantee = node.delta(epsilon, digits=40, conversion="classic")
    value = number(found.delta)
    assert holds(guarantee.delta, value, digits=39, trusted=75)
    best = Fraction(guarantee.alpha)
    assert abs(number(found.alpha) - MP.mpf(best.numerator) / best.denominator) < MP.mpf(10) ** -9


def test_the_closed_form_with_symbols():
    delta = sympy.Symbol("delta", positive=True)
    found = optimum(ZCDP(RHO))
    cost = sympy.log(1 / delta)
    assert sympy.simplify(found.alpha - 1 - sympy.sqrt(cost / RHO)) == 0
    assert sympy.simplify(found.epsilon - RHO - 2 * sympy.sqrt(RHO * cost)) == 0


def test_no_remainder_is_claimed_where_another_theorem_may_take_over():
    # At rate 1/2 the default answer is BLOG-C24's, far from the terms of Theorem 9.
    node = SubsampleWithoutReplacement(Gaussian(2), "1/100")
    assert node.expansion("gamma", alpha=2, within="1/2").remainder is None
    assert node.expansion("gamma", alpha=2, within="1/2", by="WBK19-T9").remainder is not None
    assert PoissonSubsample(Gaussian(2), "1/100").expansion("gamma", alpha=2).remainder is not None


def test_a_pole_has_no_remainder_and_an_impossible_point_is_refused():
    found = Laplace(2).expansion("b", at=0, alpha=3)
    assert found.leading == 1 / sympy.Symbol("b", positive=True)
    assert found.remainder is None
    with pytest.raises(DomainError, match="0 <= rate <= 1"):
        PoissonSubsample(Gaussian(2), "1/10").expansion("gamma", at=2, alpha=3)


def test_a_binomial_sum_by_moments_is_the_sum_itself():
    """Also where the rates do not add up to 1."""
    ctx = SeriesArithmetic(sympy.Symbol("t", positive=True), sympy.S.Zero, 2, inner=False)
    u, v = sympy.Integer(2), sympy.Integer(3)
    found = _by_moments(ctx, 4, u, v, lambda l: l**2 + 1, 1)
    truth = sum(sympy.binomial(4, l) * 2**l * 3 ** (4 - l) * (l**2 + 1) for l in range(1, 5))
    assert found.coefficients == [truth]


@pytest.mark.parametrize("power", [60, 9999])
def test_a_long_number_is_expanded_about_as_it_stands(power):
    """SymPy would work e^(10^9999) out to all of its digits: no answer in 100 s."""
    with bounded(20):
        found = expansion(Gaussian(f"1e{power}") + Laplace(f"1e-{power}"), "sigma")
        assert "1" + "0" * power in str(found)
    if power < 9999:
        truth = (Gaussian(5) + Laplace(f"1e-{power}")).rdp(3)
        value = number(found.terms, alpha=3, sigma=5)
        assert abs(value / MP.mpf(truth.upper) - 1) < MP.mpf(10) ** -25
