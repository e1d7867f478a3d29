"""A formula is the same evaluation with symbols: put the numbers in and the value comes out."""

import re
from fractions import Fraction

import pytest
import sympy

from symacct import (
    TCDP,
    AssumptionError,
    Compose,
    Convexify,
    Curve,
    DistributionPair,
    DomainError,
    ExponentialFamily,
    Gaussian,
    GroupPrivacy,
    Laplace,
    LimitError,
    OrderError,
    PoissonSubsample,
    RandomizedResponse,
    Scale,
    SoundnessError,
    SubsampleWithoutReplacement,
    SymacctError,
    limits,
    parse,
    theorems,
)
from symacct.export.formula import expanded, formula, named_formulas
from symacct.kernel.accountant import FormulaAccountant
from symacct.kernel.arithmetic.written import Max, Min
from symacct.kernel.node import kinds
from tests import support
from tests.extremes import bounded
from tests.symbolic import (
    ALPHA,
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
    pairs_of,
    value,
)
from tests.thinning import covering, thinned

INFINITY = float("inf")
REAL = sympy.Symbol("alpha", positive=True, integer=False)
WHOLE = sympy.Symbol("alpha", positive=True, integer=True)

# --- every theorem with every mechanism

#: Where rdp answers and no formula does, and what the error says.
NOT_CONVEX = (
    "DiscreteGaussianSum",
    "ExponentialFamily",
    "GaussianNoisyMax",
    "GaussianSparseVector",
    "NoisyMax",
    "PermuteAndFlip",
    "SparseVector",
)
NO_FORMULA = {("WBK19-P35", kind): "which chord" for kind in NOT_CONVEX}
NO_OPEN_ORDER = "one formula holds at the open order|found the open order"

OTHER_ORDERS = (Fraction(5, 2), INFINITY, 1, 2, Fraction(9, 2), 5)


def test_every_leaf_and_every_operation_is_here():
    assert set(support.LEAVES) <= {re.split(",| of ", kind)[0] for kind in LEAVES} <= set(kinds())
    assert set(support.OPERATIONS) == set(OPERATIONS)
    assert {name.partition(", ")[0] for name in OPERATIONS} <= set(kinds())


def few_pairs(name):
    """Under each operation a leaf that the theorem applies to and one it does not; of each sort."""

    def answered(pair):
        found = applies(name, *pair)
        sort = support.sort_of(re.split(",| of ", pair[1])[0])
        return {(pair[0], found), sort if found else "refused"}

    return thinned(pairs_of(name), answered, name)


#: Both directions, and the counts of clones, are known as balls alone; what may fail has no curve.
BALLS_ALONE = {
    "COMPOSE-DIRECTIONS",
    "SAMPLE-DIRECTIONS",
    "EITHER-DIRECTIONS",
    "ZW19-T6-ADDITION",
    "FAILING",
    "SHUFFLED-CLONES",
}
WITH_FORMULA = [theorem.name for theorem in theorems() if theorem.name not in BALLS_ALONE]


@pytest.mark.parametrize("name", WITH_FORMULA)
def test_the_formula_of_a_theorem_on_every_mechanism(name):
    """At random exact parameters and several orders it agrees with rdp to 40 digits.

    What rdp refuses the formula refuses too: that is the reason why a pair is not compared. In
    turn a pair is compared at an open order and at a number, at the other one where it cannot be;
    a soak does both.
    """
    compared = []
    for place, (operation, kind) in enumerate(few_pairs(name)):
        order = OTHER_ORDERS[place % len(OTHER_ORDERS)]
        ways = [(4, None), (order, order)]
        turned = ways[:: -1 if place % 2 else 1]
        compared.append(any(agree_at(operation, kind, name, [way]) for way in turned))
    assert any(compared)


def agree_on(operation, kind, name, orders):
    """How many formulas of this pair were compared with rdp: concrete orders, and an open one."""
    return agree_at(operation, kind, name, [(4, None), *zip(orders, orders, strict=True)])


def agree_at(operation, kind, name, ways):
    """How many formulas were compared: (the order, what the formula is written at)."""
    values = drawn(name, kind)
    try:
        node = OPERATIONS[operation](LEAVES[kind][0])
    except SoundnessError:
        return 0  # there is no such mechanism: chords of a lower bound bound nothing
    numbers = node.subs(values)
    return sum(check(node, numbers, values, alpha, at, name, kind) for alpha, at in ways)


def check(node, numbers, values, alpha, at, name, kind):
    """The formula written at the order `at` (None: an open one), with the numbers of α put in."""
    try:
        answer = FormulaAccountant(45).rdp(numbers, alpha, by=name)
    except (AssumptionError, OrderError, SoundnessError) as refused:
        if at is not None and "which fails at order" not in str(refused):
            with pytest.raises(type(refused)):
                formula(node, alpha, by=name)
        return False
    try:
        exact = formula(node, at, by=name)
    except SymacctError as error:
        reason = NO_FORMULA.get((name, kind)) or (at is None and NO_OPEN_ORDER)
        if name in NEED_NUMBERS:
            reason = "found (a symbol without a value|a question for a formula), needed numbers"
        if not reason or not re.search(reason, str(error)):
            raise
        return True
    number = value(exact, values | {ALPHA: alpha})
    assert agrees(number, answer), (kind, alpha, at)
    return True


# --- the default formula, and formulas with names


@covering()
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("kind", ["Laplace", "TCDP", "DistributionPair"])
def test_a_formula_with_names_is_the_same_number(kind, operation):
    """Over an operation on an operation, so that curves are read more than once."""
    values, leaf = drawn("", kind), LEAVES[kind][0]
    is_replaced = "Without" in operation or operation == "Shuffled"
    inner = Scale(leaf, Q) if is_replaced else PoissonSubsample(leaf, Q)
    node = OPERATIONS[operation](inner)
    numbers = node.subs(values)
    if operation == "Convexify" and not inner.convex:
        with pytest.raises(DomainError, match="which chord"):
            formula(node, 3)
        node = numbers
    for alpha in (3, Fraction(5, 2)):
        answer = FormulaAccountant(45).rdp(numbers, alpha)
        (named,) = named_formulas(node, [alpha])
        assert agrees(value(named.expression, values, named.definitions), answer)
        assert agrees(value(formula(node, alpha), values), answer)


def test_integrals_of_known_pairs():
    """The formula keeps the defining integral, and quadrature of it gives the value."""
    for base in (Gaussian(A), Laplace(A)):
        node, values = PoissonSubsample(base, Q), {A: "2", Q: "1/5"}
        exact = formula(node, REAL)
        assert exact.has(sympy.Integral)
        answer = FormulaAccountant(45).rdp(node.subs(values), Fraction(7, 2))
        assert agrees(value(exact, values | {ALPHA: Fraction(7, 2), REAL: Fraction(7, 2)}), answer)


@pytest.mark.parametrize("name", ["ZW19-T11:tau=2", "ZW19-T20:tau=2", "ZW19-T11:tau=2,sides=1"])
def test_the_formula_of_the_tau_terms(name):
    node, values = PoissonSubsample(Laplace(A), Q), {A: "7/3", Q: "2/7"}
    for alpha in (4, 5, 9):
        answer = FormulaAccountant(60).rdp(node.subs(values), alpha, by=name)
        assert agrees(value(formula(node, alpha, by=name), values), answer)
        assert agrees(value(formula(node, by=name), values | {ALPHA: alpha}), answer)


def test_tau_terms_inside_a_sum_are_refused():
    """Below 2τ they are another formula, so that none holds at a summation index."""
    node = PoissonSubsample(PoissonSubsample(Gaussian(2), "1/5"), "1/5")
    with pytest.raises(OrderError, match=r"of its own below order 4.*open order"):
        formula(node, by="ZW19-T20:tau=2,sides=2")
    answer = FormulaAccountant(45).rdp(node, 9, by="ZW19-T20:tau=2")
    assert agrees(value(formula(node, 9, by="ZW19-T20:tau=2"), {}), answer)


# --- conditions on the order


def test_a_curve_that_ends_says_so():
    """ρ-tCDP up to ω says nothing at ω: at an open order there are cases, in a sum too."""
    assert formula(TCDP(A, 5)) == sympy.Piecewise((A * ALPHA, ALPHA < 5), (sympy.oo, True))
    assert formula(TCDP(A, 5), 4) == 4 * A
    assert formula(TCDP(A, 5), 5) == sympy.oo
    assert formula(TCDP(A, B), 4) == sympy.Piecewise((4 * A, B > 4), (sympy.oo, True))
    assert not formula(PoissonSubsample(TCDP(A, 5), Q), 4, by="ZW19-T5").has(sympy.Piecewise)
    family = ExponentialFamily(A, B, kappa=3)
    assert formula(family).args[0].cond == (ALPHA <= 4)
    assert formula(family, 4) == Min(2 * A, 2 * B)


def test_group_privacy_below_two():
    """At an open order the formula holds below 2 too; a whole one is 2 at least."""
    node = GroupPrivacy(Gaussian(A), 2)
    for alpha in (Fraction(3, 2), 2, 5):
        for by in (None, "GROUP-CHAIN", "MIR17-P2"):
            answer = FormulaAccountant(45).rdp(node.subs({A: 3}), alpha, by=by)
            assert agrees(value(formula(node, by=by), {A: 3, ALPHA: alpha}), answer)
    assert formula(node, WHOLE) == 2 * WHOLE / A**2
    assert formula(node, WHOLE, by="MIR17-P2") == 3 * WHOLE / A**2
    # Twice a real order is real: the sum over whole orders does not answer there.
    sampled = formula(GroupPrivacy(PoissonSubsample(Gaussian(A), Q), 2), REAL)
    assert sampled.has(sympy.Integral)
    assert not sampled.has(sympy.Sum)


def test_the_hull_is_a_chord_at_a_number():
    convex = Convexify(Gaussian(A), 8)
    assert formula(convex, 4) == 2 / A**2
    assert sympy.simplify(formula(convex, "5/2") - 4 / (3 * A**2)) == 0
    assert formula(convex, WHOLE) == WHOLE / (2 * A**2)
    with pytest.raises(OrderError, match=r"found the open order alpha.*numbers"):
        formula(convex)
    upper = Convexify(
        PoissonSubsample(Curve("alpha/50", kind="upper", adjacency="either"), "1/5"), 8
    )
    for alpha in (1, 2, Fraction(7, 3), 7, 8, Fraction(17, 2), 9):
        assert agrees(value(formula(upper, alpha), {}), FormulaAccountant(45).rdp(upper, alpha))


def test_a_formula_obeys_the_orders_of_its_theorem():
    node = PoissonSubsample(Gaussian(A), Q)
    for alpha in (Fraction(5, 2), REAL, sympy.sqrt(5)):
        with pytest.raises(OrderError, match="integer orders"):
            formula(node, alpha, by="ZW19-T8")
    with pytest.raises(DomainError, match="1 <= alpha"):
        formula(node, sympy.Symbol("x", negative=True))
    with pytest.raises(DomainError, match="1 <= alpha"):
        formula(node, "1/2")


# --- symbols


def test_the_number_of_runs_may_be_a_symbol():
    step = PoissonSubsample(Gaussian(A), Q)
    assert formula(N * step, 2) == N * formula(step, 2)
    assert (N * step).free_symbols == {N, A, Q}
    assert (N * step).subs({N: 5}) is 5 * step
    assert (N * step).subs({"n": 0}) is Compose()
    assert 0 * (N * step + Laplace(2)) is Compose()
    assert N * step + 2 * step is Compose({step: N + 2})
    with pytest.raises(DomainError, match="whole number"):
        (N * step).subs({N: "1/2"})
    with pytest.raises(DomainError, match="whole number"):
        sympy.Symbol("x", negative=True) * step
    for open_one in (N * Gaussian(5), Gaussian(A)):
        with pytest.raises(DomainError, match="free symbol"):
            open_one.rdp(2)


@pytest.mark.parametrize("name", ["l", "j", "z"])
def test_no_index_captures_a_parameter(name):
    for symbol in (sympy.Symbol(name, integer=True, positive=True), sympy.Symbol(name, real=True)):
        node = SubsampleWithoutReplacement(Gaussian(symbol), Q)
        values = {symbol: 2, Q: "1/5"}
        for by in ("WBK19-T27", "WBK19-P11"):
            answer = FormulaAccountant(45).rdp(node.subs(values), 3, by=by)
            assert agrees(value(formula(node, 3, by=by), values), answer)
        sampled = PoissonSubsample(Gaussian(symbol), Q)
        answer = FormulaAccountant(45).rdp(sampled.subs(values), Fraction(5, 2))
        assert agrees(value(formula(sampled, Fraction(5, 2)), values), answer)


def test_a_parameter_called_alpha_is_not_the_order():
    """The order itself is no parameter: a text would not be read back. A namesake is one."""
    with pytest.raises(DomainError, match=r"found 2\*alpha, .* another symbol: alpha is the order"):
        Gaussian(2 * ALPHA)
    namesake = sympy.Symbol("alpha")
    assert formula(Gaussian(namesake), 4) == 2 / namesake**2
    with pytest.raises(DomainError, match="parameter called alpha, the name of the order"):
        formula(Gaussian(namesake))


def test_nested_sums_keep_their_indices_apart():
    inner = PoissonSubsample(Curve(ALPHA / 50, kind="upper", adjacency="either"), "1/2")
    node = PoissonSubsample(inner, "1/3")
    expression = formula(node, by="ZW19-T5")
    indices = [s.limits[0][0] for s in expression.atoms(sympy.Sum)]
    assert sorted(map(str, indices)) == ["j", "l"]
    answer = FormulaAccountant(60).rdp(node, 4, by="ZW19-T5")
    assert agrees(value(expression, {ALPHA: 4}), answer)


# --- curves of the user's own


def test_the_formula_of_a_python_function_is_its_name():
    def in_context(ctx, alpha):
        return ctx.number(alpha) / 50

    def by_numbers(ctx, alpha):
        return ctx.number(alpha) / 50 if alpha > 3 else ctx.number("3/50")

    assert formula(Curve(in_context, kind="upper", adjacency="either")) == ALPHA / 50
    for f in (by_numbers, lambda alpha: alpha / 50):
        curve = Curve(f, kind="upper", adjacency="either")
        with pytest.raises(DomainError, match=r"Python function.*SymPy expression"):
            formula(curve)
        sampled = formula(PoissonSubsample(curve, Q), 2, by="ZW19-T5")
        epsilon = sympy.Function("epsilon_1", real=True)
        assert sampled == sympy.log(1 + Q**2 * (sympy.exp(epsilon(2)) - 1))
        (named,) = named_formulas(PoissonSubsample(curve, Q), [None])
        (definition,) = named.definitions
        assert definition.expression is None
        assert definition.node is curve


def test_the_formula_of_a_lower_bound_reads_lower_bounds_only():
    upper = Curve(ALPHA / 50, kind="upper", adjacency="either")
    with pytest.raises(SoundnessError):
        formula(PoissonSubsample(upper, "1/5"), 4, by="ZW19-T6")
    exact = Curve(ALPHA / 50, kind="exact", adjacency="either", at_infinity="inf")
    node = PoissonSubsample(exact, "1/5")
    for alpha, by in ((4, "ZW19-T6"), (Fraction(7, 2), "VEH14-T3")):
        answer = FormulaAccountant(60).rdp(node, alpha, by=by)
        assert agrees(value(formula(node, alpha, by=by), {}), answer)


# --- sums written out; minima left as they are


def test_expanded_writes_every_sum_out():
    node = SubsampleWithoutReplacement(Laplace(A), Q)
    exact = formula(node, 4, by="WBK19-T27")
    out = expanded(exact)
    assert exact.has(sympy.Sum, sympy.floor)
    assert not out.has(sympy.Sum, sympy.floor)
    values = {A: "7/3", Q: "2/7"}
    assert agrees(
        value(out, values), FormulaAccountant(45).rdp(node.subs(values), 4, by="WBK19-T27")
    )
    small = expanded(formula(PoissonSubsample(Gaussian(A), Q), 2))
    assert sympy.simplify(small - sympy.log(1 + Q**2 * (sympy.exp(A**-2) - 1))) == 0


def test_expanded_needs_whole_ends_and_has_a_limit():
    node = PoissonSubsample(Gaussian(A), Q)
    with pytest.raises(DomainError, match=r"sum from 2 to alpha.*a whole order such as 4"):
        expanded(formula(node))
    with limits(nodes=5), pytest.raises(LimitError, match="terms of sums"):
        expanded(formula(node, 9))


def test_minima_and_maxima_are_left_as_they_are():
    a, b = sympy.log(A), sympy.log(B)
    assert Min(a, b, a, 3, 2, sympy.oo).args == (a, b, 2)
    assert Min(a, sympy.oo) == a
    assert Max(a, -sympy.oo) == a
    assert Min(a, -sympy.oo) == -sympy.oo
    assert Max(Max(a, b), 0).args == (a, b, 0)
    assert Min() == sympy.oo
    assert Max(1, 2) == 2
    assert isinstance(Min(a, b).subs({A: 2}), sympy.Min)
    assert abs(Max(a, b).subs({A: 2, B: 3}).evalf() - sympy.log(3).evalf()) < 1e-12
    # Their sign is that of the value: exp(max(0, log 3/2)) is not 1.
    assert Max(0, sympy.log(sympy.Rational(3, 2))).is_positive
    assert sympy.exp(Max(0, sympy.log(sympy.Rational(3, 2)))) != 1
    f = sympy.lambdify((A, B), Min(A, 2 * B) + Max(A, B), "mpmath")
    assert f(3, 1) == 5


@pytest.mark.parametrize("theorem", theorems(), ids=lambda t: t.name)
def test_a_formula_at_a_large_order_is_written_or_refused(theorem):
    """Nothing is summed, integrated, factored or compared on the way, which would take for ever."""
    pair = DistributionPair(["1/2", "1/2"], ["1/4", "3/4"])
    for sampler in (PoissonSubsample, SubsampleWithoutReplacement):
        for leaf in (Gaussian(5), Laplace(2), RandomizedResponse("1/3"), TCDP("1/50", 12), pair):
            node = sampler(leaf, "1/1000")
            if theorem.why_not(node, 10_000) is not None:
                continue
            try:
                with bounded(20):
                    written = str(node.formula(10_000, by=theorem.name))
            except SymacctError:
                continue
            assert len(written) < 10_000


def test_an_order_without_a_formula_is_refused_before_any_number_is_asked(monkeypatch):
    """Of two densities e^{−x⁴} whether the curve ends somewhere takes integrals, and long."""
    law = 'Density("exp(-(x-{})**4)", mass="any")'
    m = parse(f"DistributionPair({law.format(0)}, {law.format(1)})")
    monkeypatch.setattr("symacct.export.formula.ends_unstated", lambda *_: pytest.fail("asked"))
    with pytest.raises(DomainError, match="order ∞ of a pair of densities"):
        m.latex()
