"""Each addition that docs/additions.md shows, made from outside the package, and what follows."""

from fractions import Fraction

import mpmath
import pytest

from benchmarks.additions import counts
from symacct import (
    Accountant,
    AssumptionError,
    DomainError,
    Gaussian,
    Kind,
    PoissonSubsample,
    PrecisionError,
    Source,
    from_json,
    parse,
    theorem,
)
from symacct.codegen.targets import TARGETS
from symacct.codegen.targets.c import CWriter
from symacct.explore.comparison import compare_epsilon
from symacct.kernel import conversion as conversions
from symacct.kernel.claims import ADDED, ALL_ORDERS, EITHER, SWAPPED
from symacct.kernel.exact import INFINITY, exact
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import positive, rate
from symacct.kernel.theorem_registry import always, forget
from symacct.mechanisms import Mechanism


@pytest.fixture
def two_sided_geometric():
    """A mechanism: a class."""

    class TwoSidedGeometric(Mechanism):
        """A count plus k with probability ∝ e^{−|k|/b}: the log-ratio is ±1/b."""

        source = Source("me", "notebook, p. 1")
        kind = Kind.EXACT
        attained = SWAPPED  # k ↦ 1 − k swaps the two laws

        def __new__(cls, b):
            return cls._intern(b=positive(b, "TwoSidedGeometric, b"))

        def shares(self, ctx):
            """The probabilities of the two log-ratios −1/b and 1/b under the first law."""
            s = self.at_infinity(ctx)
            return [1 / (ctx.exp(x) + 1) for x in (s, -s)]

        def excess(self, ctx):
            s, (down, up) = self.at_infinity(ctx), self.shares(ctx)
            return lambda alpha: (
                up * ctx.expm1((ctx.number(alpha) - 1) * s)
                + down * ctx.expm1((1 - ctx.number(alpha)) * s)
            )

        def stable_excess(self, ctx):
            s, (down, up), one = self.at_infinity(ctx), self.shares(ctx), ctx.number(1)
            return lambda alpha: (
                down * ctx.power_gap(one, s, ctx.number(alpha) - 1)
                + up * ctx.power_gap(one, -s, ctx.number(alpha) - 1)
            )

        def at_one(self, ctx):
            s = self.at_infinity(ctx)
            return s * ctx.expm1(s) / (ctx.exp(s) + 1)

        def at_infinity(self, ctx):
            return 1 / ctx.number(self.b)

    yield TwoSidedGeometric
    del Node._kinds["TwoSidedGeometric"]


@pytest.fixture
def exponential_pair():
    """A curve that ends: Exp(1) against Exp(2), each part to be left out or written wrongly."""

    class Ending(Mechanism):
        source = Source("me", "notebook, p. 4")
        kind = Kind.EXACT
        attained = ADDED

        def __new__(cls, wrong):
            return cls._intern(wrong=exact(wrong))

        @property
        def finite_up_to(self):
            return {1: INFINITY, 2: 2.0}.get(self.wrong, Fraction(2))

        def curve(self, ctx):
            bring = (lambda alpha: alpha) if self.wrong == 3 else ctx.number
            two = ctx.log(ctx.number(2))
            return lambda alpha: -two - ctx.log(2 - bring(alpha) * ctx.number(1)) / (alpha - 1)

    yield Ending
    del Node._kinds["Ending"]


def test_what_is_wrong_in_a_class_is_said(exponential_pair):
    right = exponential_pair(0)
    assert right.rdp(3).lower == INFINITY
    assert right.rdp("inf").lower == INFINITY
    for wrong, order, error, said in (
        (1, 3, PrecisionError, "gave no number at all.*finite_up_to"),
        (2, "3/2", DomainError, "found the float 2.0, needed an exact number"),
        (3, "3/2", DomainError, r"bring the order in by ctx.number\(alpha\)"),
        (1, 1, NotImplementedError, "class Ending: found no at_one, needed"),
        (1, "inf", NotImplementedError, "class Ending: found no at_infinity, needed"),
    ):
        with pytest.raises(error, match=said):
            exponential_pair(wrong).rdp(order)


def by_summing(b, alpha):
    """ε(α) from the probabilities of −400 … 400 themselves."""
    with mpmath.workdps(40):
        weight = lambda k: mpmath.exp(-mpmath.mpf(abs(k)) / b)  # noqa: E731
        total = mpmath.fsum(map(weight, range(-400, 401)))
        moment = mpmath.fsum(
            weight(k) * mpmath.exp((alpha - 1) * (mpmath.mpf(abs(k - 1)) - abs(k)) / b)
            for k in range(-400, 401)
        )
        return mpmath.log(moment / total) / (alpha - 1)


def test_a_mechanism_is_a_class(two_sided_geometric):
    m = two_sided_geometric(2)
    sampled = PoissonSubsample(m, "1/100")
    assert abs(m.rdp(8, digits=30).upper - by_summing(2, 8)) < 1e-29
    for engine in ("float64", "mpmath"):
        for node in (m, sampled):
            known = float(node.rdp(8))
            assert float(Accountant(engine=engine).rdp(node, 8)) == pytest.approx(known, rel=1e-12)
    assert parse(repr(sampled)) is sampled
    assert from_json(sampled.to_json()) is sampled
    assert r"\epsilon" in m.latex()
    assert "Notebook, p. 1" in sampled.cite()
    assert "TwoSidedGeometric" in sampled.epsilon("1e-6").statement()
    for target in ("c", "mpmath"):
        assert "TwoSidedGeometric" in sampled.code(target, max_order=16, points=20)
    with pytest.raises(AssumptionError, match="needed its two output laws"):
        m.epsilon("1e-6", conversion="exact")


@pytest.fixture
def sometimes():
    """An operation and its theorem: a class and a function."""

    class Sometimes(Operation):
        """The mechanism run with probability q, by a coin that is seen; else nothing is said."""

        def __new__(cls, mechanism, q):
            mechanism = as_node(mechanism, "Sometimes, mechanism")
            return cls._intern(mechanism=mechanism, q=rate(q, "Sometimes, q"))

    @theorem(
        "SOMETIMES",
        operation=Sometimes,
        kind=Kind.EXACT,
        source=Source("me", "notebook, p. 2"),
        orders=ALL_ORDERS,
        adjacency=EITHER,
        applies=always,
        monotone=True,
        status="proved",
    )
    def bound(ctx, eps, alpha, q):
        """ε′(α) = log(1 − q + q e^{(α−1)ε(α)})/(α−1)"""
        if alpha == 1:
            return q * eps(1)
        if alpha == INFINITY:
            return eps(INFINITY)
        lam = ctx.number(alpha - 1)  # an exact order is brought in before it meets a number
        return ctx.log1p(q * ctx.expm1(lam * eps(alpha))) / lam

    yield Sometimes
    forget("SOMETIMES")
    del Node._kinds["Sometimes"]


def test_an_operation_is_a_class_and_a_theorem_a_function(sometimes):
    m = sometimes(Gaussian(5), "1/100")
    with mpmath.workdps(40):  # two outcomes more than Gaussian noise has: Σ over the coin
        moment = mpmath.mpf(99) / 100 + mpmath.exp(mpmath.mpf(7) * 8 / 50) / 100
        assert abs(m.rdp(8, digits=30).upper - mpmath.log(moment) / 7) < 1e-29
    assert float(Accountant(engine="float64").rdp(m, 8)) == pytest.approx(
        float(m.rdp(8)), rel=1e-12
    )
    assert m.claim.kind is Kind.EXACT
    assert parse(repr(m)) is m
    assert from_json((10 * m).to_json()) is 10 * m
    assert r"\epsilon" in m.latex()
    assert "SOMETIMES" in str(m.explain())
    assert "double rdp" in m.code("c", max_order=16, points=20)
    assert (1000 * PoissonSubsample(m, "1/10")).epsilon("1e-6").epsilon.upper > 0


@pytest.fixture
def generous():
    """A conversion: two formulas and what is stated of them."""
    conversions.register(
        conversions.Conversion(
            name="generous",
            source=Source("me", "notebook, p. 3"),
            epsilon=lambda ctx, eps, alpha, delta: eps - 2 * ctx.log(delta) / (alpha - 1),
            log_delta=lambda ctx, eps, alpha, epsilon: (alpha - 1) * (eps - epsilon) / 2,
            one_valley=True,
            status="proved",
        )
    )
    yield "generous"
    conversions.forget("generous")


def test_a_conversion_is_two_formulas(generous):
    found = Gaussian(5).epsilon("1e-6", conversion=generous)
    with mpmath.workdps(40):  # ξ + ρ + 2√(ρ · 2 log(1/δ)) for ε(α) = ρα
        least = mpmath.mpf(1) / 50 + 2 * mpmath.sqrt(mpmath.log(mpmath.mpf(10) ** 12) / 50)
        assert abs(found.epsilon.upper - least) < 1e-28
    assert found.optimal
    assert Gaussian(5).delta(found.epsilon.upper, conversion=generous).delta.upper < 1.01e-6
    assert generous in {row.conversion for row in compare_epsilon(Gaussian(5), "1e-6", 5)}
    assert "notebook, p. 3" in found.statement()


@pytest.fixture
def quiet_c():
    """A code target: a class, here with the runtime of another."""

    class QuietC(CWriter):
        name = "quiet-c"

    TARGETS[QuietC.name] = QuietC
    yield QuietC.name
    del TARGETS[QuietC.name]


def test_a_code_target_is_a_class(quiet_c):
    mine, known = (Gaussian(5).code(target, points=20) for target in (quiet_c, "c"))
    assert mine.splitlines()[-10:] == known.splitlines()[-10:]


ASKING = {"verify", "evidence"}


def test_what_an_addition_took():
    """One class, its name in two lists; some of an event, an exact profile."""
    took = {one.name: one for one in counts()}
    for name in (
        *("DiscreteGaussian", "DiscreteLaplace", "DiscreteGaussianSum", "Skellam"),
        *("ExponentialMechanism", "PermuteAndFlip", "NoisyMax", "GaussianNoisyMax"),
        *("SparseVector", "GaussianSparseVector", "MatrixMechanism", "TreeAggregation"),
        *("NoisyDescent", "NoisyPass", "RandomAllocation", "RepeatAndSelect", "Either"),
    ):
        one = took[name]
        assert one.lines <= 110  # with its words, its law in LaTeX, and what verify asks about it
        assert one.tests >= 3
        assert "__init__.py" in one.named
        # What asks other accountants, and the test vectors, names what it asks about.
        named = {file: n for file, n in one.named.items() if file.partition("/")[0] not in ASKING}
        assert len(named) <= 14  # an example of its theorem among them
        assert sum(named.values()) <= 34
