"""A formula is the same evaluation with symbols: put the numbers in and the value comes out."""

from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    Compose,
    Curve,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Laplace,
    OrderError,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomizedResponse,
    Scale,
    SoundnessError,
    SubsampleWithoutReplacement,
    SymacctError,
    symbols,
    theorems,
)
from symacct.export.formula import formula
from symacct.expr import kinds
from tests import independent
from tests.support import INFINITY, LEAVES, OPERATIONS

ALPHA = symbols.alpha
A, B, Q = (sympy.Symbol(name, positive=True) for name in ("a", "b", "q"))

#: Each mechanism with its parameters as symbols, and values that they may take.
SYMBOLIC = {
    "Gaussian": (Gaussian(A, B), {A: "3/2", B: "4/5"}),
    "Laplace": (Laplace(A, B), {A: "7/3", B: "4/5"}),
    "RandomizedResponse": (RandomizedResponse(A), {A: "3/5"}),
    "PureDP": (PureDP(A), {A: "3/7"}),
    "ZCDP": (ZCDP(A, B), {A: "1/30", B: "1/7"}),
    "TCDP": (TCDP(A, 50), {A: "1/30"}),
    "Curve": (Curve(A * ALPHA + B, kind="exact", adjacency="either", at_infinity="inf"),
              {A: "1/30", B: "1/9"}),
}  # fmt: skip

OPERATED = {
    "Compose": lambda m: Compose({m: 3, Laplace(5): 2}),
    "Scale": lambda m: Scale(m, "2/3"),
    "GroupPrivacy": lambda m: GroupPrivacy(m, 1),
    "PostProcess": PostProcess,
    "PoissonSubsample": lambda m: PoissonSubsample(m, Q),
    "SubsampleWithoutReplacement": lambda m: SubsampleWithoutReplacement(m, Q),
}
VALUES = {Q: "2/7"}


mp = independent.context(120)

HEADS = {
    sympy.Add: lambda *xs: mp.fsum(xs),
    sympy.Mul: lambda *xs: mp.fprod(xs),
    sympy.Pow: lambda x, y: x**y,
    sympy.exp: mp.exp,
    sympy.log: mp.log,
    sympy.Min: min,
    sympy.Max: max,
    sympy.Abs: abs,
    sympy.binomial: mp.binomial,
    sympy.factorial2: mp.fac2,
    sympy.floor: mp.floor,
}


def value(expression, replacements):
    """The expression's number in mpmath, sums term by term; SymPy's own takes minutes."""
    table = {symbol: independent.number(mp, Fraction(str(x))) for symbol, x in replacements.items()}
    return walked(expression, table)


def walked(e, table):
    if e in table:
        return table[e]
    if isinstance(e, sympy.Rational):
        return mp.mpf(int(e.p)) / int(e.q)
    if e is sympy.oo:
        return mp.inf
    if e is sympy.E:
        return +mp.e
    if isinstance(e, sympy.Sum):
        ((index, first, last),) = e.limits
        low, high = (int(walked(end, table)) for end in (first, last))
        return mp.fsum(
            walked(e.function, {**table, index: mp.mpf(l)}) for l in range(low, high + 1)
        )
    return HEADS[e.func](*(walked(argument, table) for argument in e.args))


def agrees(expression, replacements, answer, digits=40):
    number = value(expression, replacements)
    if number == mp.inf:
        return answer.upper == INFINITY
    exact, error = independent.fraction(number), abs(independent.fraction(number)) / 10**digits
    low, high = independent.fraction(answer.lower), independent.fraction(answer.upper)
    return low - error <= exact <= high + error


def test_every_kind_that_can_hold_a_symbol_is_here():
    without = {"DistributionPair", "Convexify", "ExponentialFamily"}
    assert set(LEAVES) | set(OPERATIONS) <= set(SYMBOLIC) | set(OPERATED) | without
    assert set(SYMBOLIC) | set(OPERATED) <= set(kinds())


@pytest.mark.parametrize("kind", SYMBOLIC)
def test_the_formula_of_every_mechanism(kind):
    node, values = SYMBOLIC[kind]
    numbers = node.subs(values)
    for alpha in (2, 7, Fraction(5, 2)):
        answer = Accountant(60).rdp(numbers, alpha)
        assert agrees(formula(node, alpha), values, answer)
        assert agrees(formula(node), {**values, ALPHA: alpha}, answer)
    for alpha in (1, INFINITY):
        assert agrees(formula(node, alpha), values, Accountant(60).rdp(numbers, alpha))


@pytest.mark.parametrize("operation", OPERATED)
@pytest.mark.parametrize("kind", SYMBOLIC)
def test_the_formula_of_every_operation_on_every_mechanism(kind, operation):
    base, values = SYMBOLIC[kind]
    node, values = OPERATED[operation](base), {**values, **VALUES}
    numbers = node.subs(values)
    # Where theorems compete SymPy takes its time over their minimum.
    for alpha in (2,) if operation == "SubsampleWithoutReplacement" else (2, 3):
        exact = formula(node, alpha)
        if exact.has(sympy.Integral):
            continue  # see test_integrals_of_known_pairs
        assert agrees(exact, values, Accountant(60).rdp(numbers, alpha))


@pytest.mark.parametrize("theorem", theorems(), ids=lambda t: t.name)
@pytest.mark.parametrize("kind", SYMBOLIC)
def test_the_formula_of_every_theorem_on_every_mechanism(theorem, kind):
    if theorem.reads == "itself" and kind != "Curve":
        pytest.skip("its formula is that of all other theorems together: SymPy takes its time")
    base, values = SYMBOLIC[kind]
    asked = 0
    for operation in theorem.about.split():
        if operation not in OPERATED:
            continue
        node, table = OPERATED[operation](base), {**values, **VALUES}
        numbers = node.subs(table)
        for alpha in (2, 3, 4, Fraction(7, 2), INFINITY):
            try:
                answer = Accountant(60).rdp(numbers, alpha, by=theorem.name)
                exact = formula(node, alpha, by=theorem.name)
            except SymacctError:
                continue
            if not exact.has(sympy.Integral):
                assert agrees(exact, table, answer), (operation, alpha)
                asked += 1
            if alpha == 3 and not theorem.options and theorem.reads != "itself":
                in_alpha = formula(node, by=theorem.name)
                if not in_alpha.has(sympy.Integral):
                    assert agrees(in_alpha, {**table, ALPHA: alpha}, answer), (operation, alpha)
    if kind in ("Gaussian", "Laplace") and theorem.name in ("ZW19-T8", "WBK19-T9", "WBK19-T27"):
        assert asked >= 3


@pytest.mark.parametrize("name", ["ZW19-T11:tau=2", "ZW19-T20:tau=2"])
def test_the_formula_of_the_tau_terms(name):
    base, values = SYMBOLIC["Gaussian"]
    node, table = PoissonSubsample(base, Q), {**values, **VALUES}
    for alpha in (4, 5, 9):
        answer = Accountant(60).rdp(node.subs(table), alpha, by=name)
        assert agrees(formula(node, alpha, by=name), table, answer)


@given(st.fractions(1, 9, max_denominator=9), st.fractions(0, 1, max_denominator=30))
def test_the_formula_holds_at_random_parameters(sigma, gamma):
    node = 5 * PoissonSubsample(Gaussian(A), Q) + Laplace(A)
    table = {A: sigma, Q: gamma}
    for alpha in (2, 6):
        answer = Accountant(60).rdp(node.subs(table), alpha, by="ZW19-T8")
        assert agrees(formula(node, alpha, by="ZW19-T8"), table, answer)


def test_integrals_of_known_pairs():
    """The formula keeps the defining integral; mpmath's quadrature of it gives the value."""
    coarse = independent.context(40)
    for node in (PoissonSubsample(Gaussian(2), "1/5"), PoissonSubsample(Laplace(2), "1/5")):
        exact = formula(node, Fraction(5, 2))
        integral = next(iter(exact.atoms(sympy.Integral)))
        ((z, low, _),) = integral.limits
        f = sympy.lambdify(z, integral.function, "mpmath")
        ends = [-60, -20, -5, 0, 5, 20, 60] if low is sympy.S.NegativeInfinity else [0, 1]
        with mpmath.workdps(40):
            number = mpmath.quad(f, ends)
        whole = exact.xreplace({integral: sympy.Float(number, 40)})
        found = coarse.make_mpf(sympy.N(whole, 35)._mpf_)
        assert agrees_to(found, Accountant(40).rdp(node, Fraction(5, 2)), 20)


def agrees_to(number, answer, digits):
    exact = independent.fraction(number)
    return abs(exact / independent.fraction(answer.upper) - 1) < Fraction(1, 10**digits)


@pytest.mark.parametrize("by", ["ZW19-T11:tau=2", "ZW19-T20:tau=2", "ZW19-T20"])
def test_a_number_of_terms_with_an_open_order_is_answered_or_refused(by):
    node = PoissonSubsample(Gaussian(2), "1/5")
    try:
        in_alpha = formula(node, by=by)
    except SymacctError:
        return
    assert agrees(in_alpha, {ALPHA: 9}, Accountant(60).rdp(node, 9, by=by))


def test_the_formula_of_a_lower_bound_reads_lower_bounds_only():
    upper = Curve(ALPHA / 50, kind="upper", adjacency="either")
    with pytest.raises(SoundnessError):
        formula(PoissonSubsample(upper, "1/5"), 4, by="ZW19-T6")
    exact = Curve(ALPHA / 50, kind="exact", adjacency="either", at_infinity="inf")
    node = PoissonSubsample(exact, "1/5")
    for alpha, by in ((4, "ZW19-T6"), (Fraction(7, 2), "VEH14-T3")):
        assert agrees(formula(node, alpha, by=by), {}, Accountant(60).rdp(node, alpha, by=by))


def test_a_formula_speaks_of_its_symbols_only():
    node = PoissonSubsample(Gaussian(A), Q)
    assert formula(node, by="ZW19-T8").free_symbols == {A, Q, ALPHA}
    assert formula(node, 5, by="ZW19-T8").free_symbols == {A, Q}
    assert node.formula(5).free_symbols <= {A, Q}
    assert formula(Gaussian(A)) == ALPHA / (2 * A**2)
    assert Gaussian(A).formula() == ALPHA / (2 * A**2)


def test_nested_sums_keep_their_indices_apart():
    inner = PoissonSubsample(Curve(ALPHA / 50, adjacency="either"), "1/2")
    node = PoissonSubsample(inner, "1/3")
    expression = formula(node, by="ZW19-T5")
    indices = [s.limits[0][0] for s in expression.atoms(sympy.Sum)]
    assert len(indices) == len(set(indices)) == 2
    assert agrees(expression, {ALPHA: 4}, Accountant(60).rdp(node, 4, by="ZW19-T5"))


def test_the_formula_of_a_python_function_is_refused():
    node = Curve(lambda alpha: alpha / 50, adjacency="either")
    with pytest.raises(DomainError, match=r"Python function.*SymPy expression"):
        formula(node)


def test_a_formula_obeys_the_orders_of_its_theorem():
    node = PoissonSubsample(Gaussian(A), Q)
    with pytest.raises(OrderError, match="integer orders"):
        formula(node, Fraction(5, 2), by="ZW19-T8")


def test_an_open_symbol_has_no_value_and_the_message_says_what_to_do():
    with pytest.raises(DomainError, match=r"free symbol a.*subs.*formula"):
        Gaussian(A).rdp(2)
    with pytest.raises(DomainError, match=r"free symbol a.*subs"):
        PoissonSubsample(Gaussian(A), "1/9").epsilon("1e-5")
    with pytest.raises(DomainError, match="free symbol alpha"):
        Gaussian(5).rdp(ALPHA)
