"""Every wrong input is refused at once, by one error that says what was found and needed."""

import contextlib
import math
from decimal import Decimal
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
import sympy

import symacct
from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    AdjacencyError,
    Compose,
    Convexify,
    Curve,
    DomainError,
    Gaussian,
    GroupPrivacy,
    Laplace,
    LimitError,
    OrderError,
    OrderGridWarning,
    PoissonSubsample,
    PostProcess,
    PrecisionError,
    PureDP,
    RandomizedResponse,
    Scale,
    SoundnessError,
    SubsampleWithoutReplacement,
    SymacctError,
    parse,
    symbols,
)

M = Gaussian(5)
NODE = PoissonSubsample(M, "1/9")
X = sympy.Symbol("x")


def refused(error, build, *says):
    """The call raises this error, in one line that holds all these words."""
    with pytest.raises(error) as caught:
        build()
    message = str(caught.value)
    assert "\n" not in message
    for words in says:
        assert words in message
    return message


# --- parameters

#: Each numeric parameter: a constructor of it alone, its name, what is needed, values outside.
PARAMETERS = {
    "sigma": (Gaussian, "Gaussian, sigma", "> 0", [0, -1, "-1/7", -1e-300]),
    "gaussian sensitivity": (
        lambda x: Gaussian(5, x), "Gaussian, sensitivity", "> 0", [0, -2, "-0"]),
    "b": (Laplace, "Laplace, b", "> 0", [0, "-1e-9"]),
    "laplace sensitivity": (lambda x: Laplace(5, x), "Laplace, sensitivity", "> 0", [0, -2]),
    "p": (RandomizedResponse, "RandomizedResponse, p", "0 < probability < 1",
          [0, 1, -0.1, "1.0000001", 2]),
    "epsilon": (PureDP, "PureDP, epsilon", ">= 0", [-1, "-1/1000"]),
    "rho": (ZCDP, "ZCDP, rho", ">= 0", [-1]),
    "xi": (lambda x: ZCDP(1, x), "ZCDP, xi", ">= 0", [-1]),
    "tcdp rho": (lambda x: TCDP(x, 5), "TCDP, rho", ">= 0", [-1]),
    "omega": (lambda x: TCDP(1, x), "TCDP, omega", "> 1", [1, 0, -3, "0.999"]),
    "poisson gamma": (lambda x: PoissonSubsample(M, x), "PoissonSubsample, gamma",
                      "0 <= rate <= 1", [-1, "-1e-9", "1.000001", 2]),
    "wor gamma": (lambda x: SubsampleWithoutReplacement(M, x),
                  "SubsampleWithoutReplacement, gamma", "0 <= rate <= 1", [-1, 2]),
    "scale": (lambda x: Scale(M, x), "Scale, c", ">= 0", [-1, "-1/2"]),
    "group": (lambda x: GroupPrivacy(M, x), "GroupPrivacy, size", "whole number >= 1",
              [0, -1, "1/2", 2.5]),
    "max_order": (lambda x: Convexify(M, x), "Convexify, max_order", "whole number >= 2",
                  [1, 0, -5, "5/2"]),
    "runs": (lambda x: Compose({M: x}), "Compose, number of runs", "whole number >= 0",
             [-1, "1/2", 1.5]),
    "at_infinity": (
        lambda x: Curve("alpha", "upper", "either", at_infinity=x), "Curve, at_infinity", ">= 0",
        [-1]),
    "order": (lambda x: Accountant().rdp(M, x), "order alpha", "1 <= alpha <= ∞",
              [0, -5, "0.999999", Fraction(1, 2)]),
    "lam": (lambda x: Accountant().cgf(M, x), "lam", ">= 0", [-2, "-1/2"]),
    "delta": (lambda x: M.epsilon(x), "delta", "0 <= delta < 1", [1, 2, "1.0001"]),
    "negative delta": (lambda x: M.epsilon(x), "delta", ">= 0", [-1, "-1e-9"]),
    "asked epsilon": (lambda x: M.delta(x), "epsilon", ">= 0", [-1, "-1e-9"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_value_outside_the_domain_is_named_with_what_is_needed(name):
    build, parameter, needed, outside = PARAMETERS[name]
    for value in outside:
        refused(DomainError, lambda value=value: build(value), parameter, "found", needed)


NOT_NUMBERS = [
    math.nan, "nan", "NaN", Decimal("NaN"), Decimal("sNaN"), np.nan, np.float32("nan"),
    sympy.nan, mpmath.mpf("nan"), mpmath.nan,
    sympy.zoo, sympy.I, 1j, np.complex128(1), mpmath.mpc(1, 2), sympy.sqrt(-1),
    None, [], {}, (), set(), b"5", object(), np.array([1.0, 2.0]), np.array(3.0), int, len,
    Gaussian(5), True, False, np.bool_(True), sympy.true,
    "", " ", "five", "1/0", "0/0", "1//2", "1e", "e5", "0x10", "1 2", "1__0", "--1", "1/-5",
    "1e5e5", "٥", "½", "1,5", "1.2.3", "${x}", "__import__('os')", "5;6", "\x00",
    sympy.Symbol("z", imaginary=True), X + sympy.oo, X > 1, sympy.Matrix([1]),
]  # fmt: skip
INFINITIES = [
    math.inf, -math.inf, "-inf", Decimal("inf"), np.inf, sympy.oo, -sympy.oo, mpmath.inf, "inf",
    "oo", "∞", -mpmath.inf,
]  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_is_no_number_is_refused_everywhere(name):
    build = PARAMETERS[name][0]
    for value in NOT_NUMBERS:
        if name == "at_infinity" and value is None:  # that says that it is not known
            continue
        with pytest.raises((DomainError, LimitError), match="found") as caught:
            build(value)
        assert "\n" not in str(caught.value)
        assert "needed" in str(caught.value) or isinstance(caught.value, LimitError)


@pytest.mark.parametrize("name", PARAMETERS)
def test_infinity_is_no_parameter(name):
    for value in INFINITIES:
        if "-" in str(value) or name not in ("order", "at_infinity"):
            refused(DomainError, lambda value=value: PARAMETERS[name][0](value), "found", "needed")


def test_a_ball_that_is_no_point_is_no_exact_number():
    with pytest.raises(DomainError, match="found"):
        Gaussian(flint.arb("0.1"))


ABSURD = [
    "1e999999999", "1e-999999999", "1e9999999999999999999", Decimal("1e999999999"),
    Decimal("1e-999999999"), 10**100_000, Fraction(1, 10**100_000), "9" * 200_000,
    mpmath.ldexp(mpmath.mpf(1), 10**9), mpmath.ldexp(mpmath.mpf(1), -(10**9)),
    sympy.Integer(10) ** 100_000,
]  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_absurd_sizes_are_refused_at_once(name):
    for value in ABSURD:
        message = refused(LimitError, lambda value=value: PARAMETERS[name][0](value), "found")
        assert "the limit parameter_bits" in message
        assert len(message) < 300


#: Those whose domain ends at 0.
AT_ZERO = [
    name
    for name, (_, _, needed, _) in PARAMETERS.items()
    if needed in ("> 0", ">= 0")
    and name not in ("at_infinity", "lam", "negative delta", "asked epsilon")
]


@pytest.mark.parametrize("name", AT_ZERO)
def test_a_number_too_close_to_the_edge_is_not_guessed(name):
    """√2·√3 − √6 is 0, which no number of digits shows; SymPy does not simplify it either."""
    hidden = sympy.Add(
        sympy.exp(sympy.log(2) / 3) ** 3, -2, sympy.exp(-sympy.Integer(20_000)), evaluate=False
    )
    build = PARAMETERS[name][0]
    with contextlib.suppress(PrecisionError):  # not a DomainError: it is positive
        build(hidden)


# --- expressions


def test_operations_need_mechanisms():
    for build in (PostProcess, lambda x: PoissonSubsample(x, "1/2"), lambda x: GroupPrivacy(x, 2),
                  lambda x: SubsampleWithoutReplacement(x, "1/2"), lambda x: Scale(x, "1/2"),
                  lambda x: Convexify(x, 5), lambda x: Compose({x: 2})):  # fmt: skip
        for x in (5, "Gaussian(5)", None, Gaussian, 1.5):
            refused(DomainError, lambda b=build, x=x: b(x), "found", "needed a mechanism")
    for parts in ((5,), (M, None), ("Gaussian(5)",), (M, [3])):
        refused(DomainError, lambda p=parts: Compose(*p), "Compose: found", "needed mechanisms")


def test_only_whole_counts_multiply_and_the_message_names_scale():
    for build in (lambda: 1.5 * M, lambda: M * "3/2", lambda: M * Fraction(1, 2)):
        refused(DomainError, build, "number of runs", "whole number", "round up to", "Scale(m, c)")
    run = "15*60000/256 * PoissonSubsample(Gaussian(1), 1/1000)"
    refused(DomainError, lambda: parse(run), "found 3,515.625,", "round up to 3,516;")
    nearly = "12.000000000001"  # which is no whole number to ten digits either
    refused(DomainError, lambda: parse(f"{nearly}*Gaussian(5)"), f"found {nearly}", "up to 13")
    refused(DomainError, lambda: -1 * M, "whole number >= 0")
    refused(DomainError, lambda: True * M, "found True")
    for symbol in (sympy.Symbol("x", negative=True), sympy.Symbol("x", integer=False)):
        refused(DomainError, lambda symbol=symbol: M * symbol, "whole number")


def test_a_curve_needs_an_adjacency_a_kind_and_a_form():
    refused(AdjacencyError, lambda: Curve("alpha"), "found no adjacency", "add_remove")
    refused(SoundnessError, lambda: Curve("alpha", adjacency="either"), "found no kind", 'kind="')
    refused(
        DomainError,
        lambda: Curve("alpha", kind="upper", adjacency="both"),
        "adjacency: found 'both'",
    )
    refused(DomainError, lambda: Curve("alpha", kind="best", adjacency="either"), "kind: found")
    for form in (None, [], lambda: 1, lambda a, b, c: 1, object()):
        refused(
            DomainError,
            lambda f=form: Curve(f, kind="upper", adjacency="either"),
            "Curve: found",
            "needed",
        )
    refused(DomainError, lambda: PureDP(1, "sometimes"), "adjacency: found 'sometimes'")


def test_a_curve_that_is_no_divergence_is_caught_where_it_shows():
    for f in (lambda ctx, a: a - 5, lambda a: a - 5, symbols.alpha - 5):
        curve = Curve(f, kind="upper", adjacency="either")
        refused(DomainError, lambda c=curve: c.rdp(2), "found the value", "needed >= 0")
        assert curve.rdp(8).lower == 3
    undefined = Curve(1 / (symbols.alpha - 2), kind="upper", adjacency="either")
    refused(OrderError, lambda: undefined.rdp(2), "undefined at order 2")
    nan = Curve(lambda a: mpmath.nan, kind="upper", adjacency="either")
    with pytest.raises(SymacctError, match=r"found|undefined"):
        nan.rdp(2)
    with pytest.raises(SymacctError, match="found"):
        Curve(lambda ctx, a: "5", kind="upper", adjacency="either").rdp(2)
    with pytest.raises(SymacctError, match="found"):
        Curve(lambda a: None, kind="upper", adjacency="either").rdp(2)


def test_an_exact_curve_without_a_value_at_infinity_says_so():
    curve = Curve("alpha/50", kind="exact", adjacency="either")
    refused(OrderError, lambda: curve.rdp("inf"), "not stated", "at_infinity=")
    assert Curve("alpha/50", kind="upper", adjacency="either").rdp("inf").lower == math.inf
    assert Curve("alpha/50", kind="upper", adjacency="either", at_infinity=3).rdp("inf").lower == 3


def test_nesting_has_a_limit_that_can_be_raised():
    node = M
    for _ in range(59):
        node = PostProcess(node)
    with pytest.raises(LimitError, match=r"nesting depth.*found 61.*the limit depth"):
        PostProcess(node)
    with symacct.limits(depth=64):
        deeper = PostProcess(PostProcess(node))
    assert deeper.depth == node.depth + 2


# --- questions


@pytest.mark.parametrize(
    "digits", [0, -1, 1.5, "30", None.__class__, True, 10**9, 10**30, math.inf]
)
def test_digits_are_a_whole_number_within_the_limit(digits):
    for ask in (
        lambda: M.rdp(2, digits=digits),
        lambda: M.epsilon("1e-5", digits=digits),
        lambda: M.cgf(2, digits=digits),
        lambda: M.lower_bound(2, digits=digits),
        lambda: Accountant(digits),
    ):
        refused(PrecisionError, ask, "digits: found", "needed")


def test_the_limit_on_digits_can_be_raised():
    refused(PrecisionError, lambda: Laplace(2).rdp(2, digits=10_001), "the limit digits")
    with symacct.limits(digits=10_001):
        assert Laplace(2).rdp(2, digits=10_001).digits >= 10_001
    refused(DomainError, lambda: symacct.limits(digit=5), "found limit 'digit'")
    for bad in (0, -1, 1.5, True, "9"):
        refused(DomainError, lambda b=bad: symacct.limits(digits=b), "whole number")


def test_digits_that_cannot_be_reached_are_an_error():
    with symacct.limits(bits=100):
        refused(PrecisionError, lambda: Laplace(2).rdp(3, digits=40), "40 digits not reached",
                "the limit bits")  # fmt: skip
    with symacct.limits(order=100):
        refused(LimitError, lambda: NODE.rdp(101, by="ZW19-T8"), "order alpha", "the limit order")


def test_names_that_are_unknown_are_listed():
    refused(DomainError, lambda: M.epsilon("1e-5", conversion="none"), "found 'none'", "'best'")
    refused(DomainError, lambda: M.delta(1, conversion=None), "conversion: found None")
    refused(DomainError, lambda: M.epsilon("1e-5", conversion=[]), "conversion: found []")
    refused(DomainError, lambda: M.rdp(2, engine="fast"), "found 'fast'", "ball, mpmath, float64")
    refused(DomainError, lambda: Accountant(engine=None), "engine: found None")
    refused(DomainError, lambda: M.rdp(2, by="NONE"), "found 'NONE'", "that theorems lists")


@pytest.mark.parametrize("engine", ["mpmath", "float64"])
def test_a_guarantee_comes_from_certified_balls_only(engine):
    refused(DomainError, lambda: Accountant(engine=engine).epsilon(M, "1e-5"), "needed 'ball'")


BAD_ORDERS = [
        ([], OrderError), ([1], OrderError), ((), OrderError), (iter(()), OrderError),
        ("whole", DomainError), ("", DomainError), ("2,3", DomainError), ([0], DomainError),
        ([-2, 3], DomainError), ([2, "x"], DomainError), ([2, math.nan], DomainError),
        ([2, None], DomainError), (5, DomainError), (2.5, DomainError), (True, DomainError),
        ([[2, 3]], DomainError), ([True], DomainError), (object(), DomainError),
        ([symbols.alpha], DomainError), ({2: 3}.get, DomainError),
]  # fmt: skip


@pytest.mark.parametrize(("orders", "error"), BAD_ORDERS, ids=range(len(BAD_ORDERS)))
def test_orders_that_are_none_are_refused(orders, error):
    refused(error, lambda: M.epsilon("1e-5", orders=orders), "found", "needed")


@pytest.mark.parametrize("make", [list, tuple, set, iter, np.array, lambda x: np.array(x, float),
                                  lambda x: map(str, x), lambda x: range(2, 21)],
                         ids=range(8))  # fmt: skip
def test_orders_may_be_any_iterable_of_numbers(make):
    found = M.epsilon("1/10", orders=make([2, 8, 20]))
    assert found.alpha in range(2, 21)
    assert found.optimal


def test_a_best_order_at_the_edge_of_the_grid_warns():
    with pytest.warns(OrderGridWarning, match=r"best order, 3, is at the edge.*\[2, 3\]"):
        M.epsilon("1e-5", orders=[2, 3])
    with pytest.warns(OrderGridWarning, match="edge"):
        M.epsilon("1e-5", orders=[100, 200])


def test_delta_0_needs_a_finite_pure_bound():
    refused(DomainError, lambda: M.epsilon(0), "delta: found 0", "needed delta > 0")
    refused(DomainError, lambda: M.epsilon(0, orders=[2, 3]), "delta: found 0")
    refused(DomainError, lambda: Laplace(2).epsilon(0, orders="integer"), "delta: found 0")
    assert Laplace(2).epsilon(0).epsilon.upper == 0.5
    assert Laplace(2).epsilon(0, orders=["inf"]).epsilon.upper == 0.5


def test_a_curve_infinite_everywhere_gives_no_guarantee():
    curve = Curve(lambda ctx, a: ctx.number(math.inf), kind="upper", adjacency="either")
    with pytest.raises(SymacctError, match=r"infinite|no order"):
        curve.epsilon("1e-5")


def test_arrays_of_orders_are_for_float64_and_checked():
    accountant = Accountant(engine="float64")
    for bad in ([], [0.5, 2], [math.nan], [-1]):
        refused(DomainError, lambda b=bad: accountant.rdp(M, b), "order alpha", "needed")
    refused(DomainError, lambda: Accountant().rdp(M, [2, 3]), "order alpha", "found")


def test_symbols_are_replaced_by_numbers_in_the_domain_only():
    s = sympy.Symbol("s")
    refused(DomainError, lambda: Gaussian(s).subs({s: -1}), "sigma", "needed > 0")
    refused(DomainError, lambda: Gaussian(s).subs({s: math.nan}), "found nan")
    refused(DomainError, lambda: PoissonSubsample(M, s).subs({s: 2}), "0 <= rate <= 1")
    refused(DomainError, lambda: Gaussian(sympy.Symbol("s", negative=True)), "needed > 0")
    refused(DomainError, lambda: Gaussian(sympy.sin(1)), "sin")
    refused(DomainError, lambda: Gaussian(sympy.Function("f")(1)), "found f")


def test_every_error_is_one_of_ours():
    for name in symacct.__all__:
        thing = getattr(symacct, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            assert issubclass(thing, SymacctError) or issubclass(thing, Warning)
    assert issubclass(DomainError, ValueError)
    assert issubclass(PrecisionError, ArithmeticError)
