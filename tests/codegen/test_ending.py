"""Curves that are infinite from some order on: in formulas, in code and in every arithmetic."""

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import find, settings
from hypothesis import strategies as st

from symacct import (
    TCDP,
    Accountant,
    Curve,
    DistributionPair,
    ExponentialFamily,
    Kind,
    PoissonSubsample,
    Source,
    SymacctError,
    laws,
)
from symacct.kernel.accountant import FormulaAccountant
from symacct.kernel.node import Node
from symacct.mechanisms import Mechanism
from tests.codegen.test_code import TARGETS_HERE, run
from tests.support import OPERATIONS
from tests.symbolic import ALPHA, agrees, value
from tests.thinning import covering

INFINITY = float("inf")
END = Fraction(9, 2)
ORDERS = [1, 2, 4, Fraction(13, 4), END, 5, Fraction(21, 4), 7, INFINITY]


class Ending(Mechanism):
    """−log(1 − α/end) below the end, which is complex beyond."""

    kind, source, convex = Kind.UPPER, Source("me", ""), True

    def __new__(cls, end):
        return cls._intern(end=end)

    @property
    def finite_up_to(self):
        return self.end

    def curve(self, ctx):
        return lambda alpha: -ctx.log(1 - ctx.number(alpha) / ctx.number(self.end))

    def at_one(self, ctx):
        return -ctx.log(1 - 1 / ctx.number(self.end))

    def at_infinity(self, ctx):
        return ctx.number(INFINITY)


class EndingThere(Mechanism):
    """e^{(α−1)(2 − √(1 − α/end))} − 1 up to the end, by its excess."""

    kind, source, convex, is_finite_there = Kind.UPPER, Source("me", ""), False, True
    finite_up_to = END

    def __new__(cls):
        return cls._intern()

    def excess(self, ctx):
        end = ctx.number(END)

        def excess(alpha):
            order = ctx.number(alpha)
            share = order / end
            # 1 − √(1 − share), so that code sees that it is positive
            above_one = share / (1 + ctx.sqrt(1 - share))
            return ctx.expm1((order - 1) * (1 + above_one))

        return excess

    def at_one(self, ctx):
        return 2 - ctx.sqrt(1 - 1 / ctx.number(END))


class Unstated(Ending):
    """The same with nothing said of its end."""

    source, finite_up_to = Source("me", ""), INFINITY


LEAVES = {
    "ending": Ending(END),
    "ending there": EndingThere(),
    "TCDP": TCDP("1/50", END),
    "exponential family": ExponentialFamily("1/25", "1/2", END - 1),
}
for _own in (Ending, EndingThere, Unstated):
    Node._kinds.pop(_own.__name__, None)  # other tests walk them


TWO_STEPS = "SubsampleWithoutReplacement, zero_out"


def node_of(operation, leaf):
    """The plainest node of an operation over the leaf."""
    once = settings(max_examples=1, database=None, derandomize=True)
    return find(OPERATIONS[operation](st.just(LEAVES[leaf])), lambda _: True, settings=once)


def answered(accountant, node, alpha):
    with suppress(SymacctError):
        return accountant.rdp(node, alpha)


@covering()
@pytest.mark.parametrize("operation", [None, *sorted(OPERATIONS)])
@pytest.mark.parametrize("leaf", LEAVES)
def test_a_formula_is_the_curve_on_both_sides_of_the_edge(operation, leaf):
    node, stating = node_of(operation, leaf) if operation else LEAVES[leaf], FormulaAccountant(30)
    seen = set()
    with suppress(SymacctError):
        written = node.formula()
    for alpha in ORDERS:
        answer = answered(stating, node, alpha)
        if answer is not None:
            assert agrees(value(node.formula(alpha), {}), answer, 25), alpha
            seen.add(answer.upper == INFINITY)
            if isinstance(alpha, int) and alpha > 1 and "written" in locals():
                assert agrees(value(written, {ALPHA: alpha}), answer, 25), alpha
            # Two steps of a zeroed record are asked at larger orders, where float64 has ∞.
            engines = ("mpmath",) if operation == TWO_STEPS else ("mpmath", "float64")
            for engine in engines:
                other = Accountant(engine=engine).rdp(node, alpha)
                if alpha != END:  # where float64 need not tell √0
                    assert (float(other) == INFINITY) == (answer.upper == INFINITY), (alpha, engine)
    assert seen == {True, False}
    whole = [a for a in ORDERS if isinstance(a, int)]
    found = node.rdp(whole, engine="float64")
    assert [x == INFINITY for x in found] == [node.rdp(a).upper == INFINITY for a in whole]


@covering()
@pytest.mark.parametrize("target", TARGETS_HERE)
@pytest.mark.parametrize("operation", ["PoissonSubsample", "Compose", "PostProcess", None])
@pytest.mark.parametrize("leaf", LEAVES)
def test_code_is_infinite_from_the_edge_on(target, operation, leaf, tmp_path):
    node = node_of(operation, leaf) if operation else LEAVES[leaf]
    text = node.code(target, max_order=12, points=20)
    for alpha, found in zip(ORDERS, run(target, text, ORDERS, (), tmp_path), strict=True):
        answer = answered(FormulaAccountant(20), node, alpha)
        assert answer is not None
        assert float(found) == pytest.approx(float(answer.upper), rel=1e-9), alpha


NOT_STATED = [
    Unstated(END),
    PoissonSubsample(Unstated(END), "1/10"),
    3 * Unstated(END),
    Curve("-log(1 - alpha/5)", kind="upper", adjacency="either"),
    Curve("alpha/(5 - alpha)", kind="upper", adjacency="either"),
    DistributionPair(laws.Normal(0, 2), laws.Normal(1, 1)),
]


@pytest.mark.parametrize("node", NOT_STATED, ids=repr)
def test_an_end_that_is_not_stated_is_one_clear_error(node):
    """And no complex number, no negative one, and none of Python's own."""
    with pytest.raises(SymacctError, match=r"order"):
        node.formula()
    with pytest.raises(SymacctError):
        node.code("python", max_order=12, points=20)
    for alpha in (3, 7):
        for ask in (
            node.formula,
            *(lambda a, e=e: Accountant(15, engine=e).rdp(node, a) for e in ("mpmath", "float64")),
        ):
            with suppress(SymacctError):
                found = ask(alpha)
                assert getattr(found, "is_extended_real", True) is not False
                assert getattr(found, "is_negative", False) is not True
