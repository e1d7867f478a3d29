"""One sample generator per kind of node, and what the laws need to compare answers."""

import inspect
import math
from contextlib import contextmanager
from fractions import Fraction
from functools import cache

import sympy
from hypothesis import Phase, find, settings
from hypothesis import strategies as st

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    ApproximateDP,
    BallsInBins,
    Compose,
    Convexify,
    Curve,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    DistributionPair,
    Either,
    ExponentialFamily,
    ExponentialMechanism,
    Failing,
    FiniteMechanism,
    Gaussian,
    GaussianNoisyMax,
    GaussianSparseVector,
    GroupPrivacy,
    Laplace,
    MatrixMechanism,
    NoisyDescent,
    NoisyMax,
    NoisyPass,
    PermuteAndFlip,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    RepeatAndSelect,
    ScalarGaussian,
    Scale,
    Shuffled,
    Skellam,
    SparseVector,
    SubsampleWithoutReplacement,
    SymacctError,
    TreeAggregation,
    VectorLaplace,
    laws,
    symbols,
    theorems,
)
from symacct.kernel import theorem_registry
from symacct.kernel.node import kinds
from symacct.kernel.theorem_registry import always, forget, is_about, named
from tests import independent

INFINITY = float("inf")

# --- samples


def fractions(least, most, max_denominator):
    """As `st.fractions`, of which one draw takes longer than most answers."""

    def fraction(parts):
        d, k = parts
        low, high = math.ceil(least * d), math.floor(most * d)
        return Fraction(low + k % (high - low + 1), d) if low <= high else Fraction(least)

    return st.tuples(st.integers(1, max_denominator), st.integers(0, 2**20)).map(fraction)


parameters = fractions(Fraction(1, 2), 12, 20)
rates = st.one_of(
    fractions(Fraction(1, 1000), Fraction(999, 1000), 1000),
    st.sampled_from([Fraction(1, 10**6), Fraction(256, 60000), Fraction(1, 2)]),
)
whole_orders = st.integers(2, 24)
fractional_orders = fractions(1, 24, 12).filter(lambda a: a.denominator > 1)


def line_for_any_arithmetic(slope):
    """A (ctx, alpha) function that is slope · α."""

    def curve(ctx, alpha):
        return alpha * ctx.number(slope)

    curve.slope = slope
    return curve


slopes = fractions(Fraction(1, 100), Fraction(99, 100), 100)
formula_curves = st.builds(
    lambda slope, kind: Curve(
        sympy.Rational(slope.numerator, slope.denominator) * symbols.alpha,
        kind=kind,
        adjacency="either",
        at_infinity="inf",
    ),
    slopes,
    st.sampled_from(["exact", "upper"]),
)
function_curves = st.builds(
    lambda slope, kind: Curve(
        line_for_any_arithmetic(slope), kind=kind, adjacency="either", at_infinity="inf"
    ),
    slopes,
    st.sampled_from(["exact", "upper"]),
)


def _shares(counts):
    return [Fraction(count, sum(counts)) for count in counts]


@st.composite
def finite_pairs(draw):
    """Two laws on two to four outcomes, each of positive probability under both."""
    size = draw(st.integers(2, 4))
    counts = st.lists(st.integers(1, 9), min_size=size, max_size=size)
    P, Q = _shares(draw(counts)), _shares(draw(counts))
    return DistributionPair(P, Q) if P != Q else DistributionPair(["1/4", "3/4"], ["1/3", "2/3"])


@st.composite
def finite_mechanisms(draw):
    """Two to four different laws on two or three outcomes, each of positive probability."""
    size = draw(st.integers(2, 3))
    counts = st.lists(st.integers(1, 9), min_size=size, max_size=size).map(_shares).map(tuple)
    laws = draw(st.lists(counts, min_size=2, max_size=4, unique=True))
    return FiniteMechanism(laws)


@st.composite
def gaussian_vectors(draw):
    """Sparse vectors of up to 40 queries."""
    queries = draw(st.integers(1, 40))
    count = draw(st.integers(1, min(queries, 3)))
    return GaussianSparseVector(draw(parameters), draw(parameters), queries, count)


@st.composite
def matrix_mechanisms(draw):
    """Lower triangular strategies of up to four steps, a record in one or two of them."""
    steps = draw(st.integers(1, 4))
    entries = fractions(-1, 1, 6)
    rows = [[draw(entries) if j < i else int(i == j) for j in range(steps)] for i in range(steps)]
    return MatrixMechanism(rows, draw(parameters), draw(st.integers(1, 2)), draw(st.integers(1, 2)))


#: A strategy for every leaf. A new leaf needs a line here and its formula in independent.LEAVES.
LEAVES = {
    "Gaussian": st.builds(Gaussian, parameters, st.sampled_from([1, Fraction(1, 2)])),
    "VectorLaplace": st.builds(VectorLaplace, parameters, st.sampled_from([1, Fraction(1, 2)])),
    "Laplace": st.builds(Laplace, parameters, st.sampled_from([1, Fraction(1, 2)])),
    "DiscreteGaussian": st.builds(
        DiscreteGaussian, fractions(Fraction(1, 5), 3, 20), st.integers(1, 3)
    ),
    "DiscreteGaussianSum": st.builds(
        DiscreteGaussianSum, fractions(Fraction(1, 5), 3, 20), st.integers(1, 9), st.integers(1, 3)
    ),
    "DiscreteLaplace": st.builds(DiscreteLaplace, parameters, st.integers(1, 4)),
    "RandomizedResponse": st.builds(
        RandomizedResponse,
        # 1/2 tells nothing: its curve is 0, which has tests of its own.
        fractions(Fraction(1, 20), Fraction(19, 20), 20).filter(lambda p: p != Fraction(1, 2)),
    ),
    "ExponentialMechanism": st.builds(ExponentialMechanism, fractions(Fraction(1, 20), 3, 20)),
    "MatrixMechanism": matrix_mechanisms(),
    "NoisyDescent": st.builds(
        NoisyDescent,
        parameters,
        st.integers(1, 40),
        st.sampled_from([1, Fraction(1, 2), Fraction(9, 10)]),
    ),
    "NoisyPass": st.builds(
        NoisyPass, parameters, st.integers(1, 9), st.sampled_from([1, Fraction(1, 2)])
    ),
    "NoisyMax": st.builds(NoisyMax, parameters),
    "PermuteAndFlip": st.builds(PermuteAndFlip, fractions(Fraction(1, 20), 3, 20)),
    "PureDP": st.builds(PureDP, fractions(Fraction(1, 20), 3, 20)),
    "ZCDP": st.builds(ZCDP, slopes, st.sampled_from([0, Fraction(1, 10)])),
    "TCDP": st.builds(TCDP, slopes, st.integers(100, 200)),
    "Curve": st.one_of(formula_curves, function_curves),
    "DistributionPair": finite_pairs(),
    "ScalarGaussian": st.builds(ScalarGaussian, parameters, st.sampled_from([1, Fraction(1, 2)])),
    "Skellam": st.builds(Skellam, fractions(Fraction(1, 5), 8, 20), st.integers(1, 2)),
    "SparseVector": st.builds(SparseVector, parameters, parameters, st.integers(1, 3)),
    "GaussianSparseVector": gaussian_vectors(),
    "GaussianNoisyMax": st.builds(GaussianNoisyMax, parameters, st.integers(2, 40)),
    "TreeAggregation": st.builds(TreeAggregation, parameters, st.integers(1, 40)),
    "FiniteMechanism": finite_mechanisms(),
    "ExponentialFamily": st.builds(
        ExponentialFamily, slopes, st.sampled_from(["inf", "3/2"]), st.integers(100, 200)
    ),
}

#: Leaves whose curve is about one relation, so that not every operation takes them; their formulas
#: stand in their own tests.
ONE_RELATION = {
    "BallsInBins": st.builds(
        BallsInBins,
        st.sampled_from([(1,), (1, Fraction(1, 2)), (1, Fraction(-1, 3), Fraction(1, 4))]),
        parameters,
        st.integers(3, 6),
        st.integers(1, 3),
    ),
}

#: Mechanisms whose curve is infinite at every order, as that of whatever is built of them.
INFINITE = {
    "ApproximateDP": st.builds(
        ApproximateDP,
        fractions(Fraction(1, 20), 3, 20),
        fractions(Fraction(1, 100), Fraction(99, 100), 100),
    ),
    "Failing": st.builds(
        Failing,
        st.builds(Laplace, parameters),
        fractions(Fraction(1, 100), Fraction(99, 100), 100),
    ),
}

#: What theorems tell apart, of which each meets every sort; a new leaf needs a line here too.
SORTS = {
    "normal noise": (
        *("Gaussian", "ScalarGaussian", "MatrixMechanism", "TreeAggregation"),
        *("NoisyDescent", "NoisyPass"),
    ),
    "integer noise": ("DiscreteGaussian", "DiscreteLaplace", "Skellam"),
    "pair": (
        *("Laplace", "VectorLaplace", "RandomizedResponse"),
        *("PureDP", "NoisyMax", "PermuteAndFlip"),
    ),
    "finite": ("DistributionPair", "FiniteMechanism"),
    "bound": (
        *("ExponentialMechanism", "ZCDP", "TCDP", "ExponentialFamily", "Curve"),
        *("SparseVector", "GaussianSparseVector", "GaussianNoisyMax", "DiscreteGaussianSum"),
    ),
}


def sort_of(base):
    """The sort of a leaf, or that it is none, by its name in BASES."""
    return next((sort for sort, names in SORTS.items() if base in names), "operation")


def each_sort(base, **others):
    """What is shown by a case: its base, and the sort of it for what else the case is of."""
    return {base, (*others.values(), sort_of(base))}


poisson_runs = st.builds(laws.Poisson, fractions(Fraction(1, 5), 20, 5))
binomial_runs = st.builds(
    laws.TruncatedNegativeBinomial,
    st.sampled_from([0, 1, Fraction(-1, 2), Fraction(5, 3)]),
    fractions(Fraction(1, 100), Fraction(99, 100), 100),
)
runs_of_n = st.builds(
    laws.Binomial, st.integers(1, 30), fractions(Fraction(1, 100), Fraction(99, 100), 100)
)

_OPERATIONS = {
    "Convexify": lambda base: st.builds(Convexify, base, st.integers(2, 16)),
    "Compose": lambda base: st.builds(
        lambda m, count, b: Compose({m: count, Laplace(b): 1}), base, st.integers(1, 50), parameters
    ),
    "Either": lambda base: st.builds(
        lambda m, b, share: Either(m, Laplace(b), share), base, parameters, rates
    ),
    "RandomAllocation": lambda base: st.builds(RandomAllocation, base, st.integers(2, 9)),
    "Shuffled": lambda base: st.builds(Shuffled, base, st.integers(1, 9)),
    "Scale": lambda base: st.builds(Scale, base, fractions(Fraction(1, 9), 3, 9).filter(_no_count)),
    "GroupPrivacy": lambda base: st.builds(GroupPrivacy, base, st.integers(2, 5)),
    "PostProcess": lambda base: st.builds(PostProcess, base),
    "RepeatAndSelect": lambda base: st.builds(RepeatAndSelect, base, poisson_runs),
    "RepeatAndSelect, binomial": lambda base: st.builds(RepeatAndSelect, base, binomial_runs),
    "RepeatAndSelect, of n": lambda base: st.builds(RepeatAndSelect, base, runs_of_n),
    "PoissonSubsample": lambda base: st.builds(PoissonSubsample, base, rates),
    "SubsampleWithoutReplacement": lambda base: st.builds(SubsampleWithoutReplacement, base, rates),
    "PoissonSubsample, replace_one": lambda base: st.builds(
        PoissonSubsample, base, rates, st.just("replace_one")
    ),
    "SubsampleWithoutReplacement, add_remove": lambda base: st.builds(
        SubsampleWithoutReplacement, base, rates, st.just("add_remove")
    ),
    "PoissonSubsample, zero_out": lambda base: st.builds(
        PoissonSubsample, base, rates, st.just("zero_out")
    ),
    "SubsampleWithoutReplacement, zero_out": lambda base: st.builds(
        SubsampleWithoutReplacement, base, rates, st.just("zero_out")
    ),
}
#: For every operation, a strategy over a base node: made once, which is half the time of a law.
#: A new operation needs a line above.
OPERATIONS = {name: cache(over) for name, over in _OPERATIONS.items()}


def _no_count(c):
    return c.denominator > 1


def has_rate(kind):
    return "gamma" in inspect.signature(kinds()[kind.partition(",")[0]].__new__).parameters


#: The samplings, each under both relations: the usual one is not named.
SAMPLERS = sorted(name for name in OPERATIONS if has_rate(name))
#: Where two of the three laws are two steps apart, so that sampling may cost more.
TWO_STEPS = ("PoissonSubsample, replace_one", "SubsampleWithoutReplacement, zero_out")
#: The others, but for shuffled answers, which are about a replaced record alone.
PLAIN_OPERATIONS = sorted(set(OPERATIONS) - set(SAMPLERS) - {"Shuffled"})

#: Expressions without sampling, whose curve tests/independent.py writes down, for neighbours of
#: either relation; that of repeated runs is searched for (tests/operations/test_repeat.py).
BASES = {
    **LEAVES,
    **{
        f"{name} of {leaf}": OPERATIONS[name](LEAVES[leaf])
        for name in PLAIN_OPERATIONS
        if "Repeat" not in name and name != "RandomAllocation"
        for leaf in ("RandomizedResponse", "ZCDP")
    },
}


def plainest(strategy):
    """The plainest node of a strategy, the same one every time."""
    once = settings(max_examples=1, phases=[Phase.generate], database=None, derandomize=True)
    return find(strategy, lambda _: True, settings=once)


@cache
def sample(base):
    """The plainest node of a strategy by its name in BASES."""
    return plainest(BASES[base])


leaves = st.one_of(*LEAVES.values())
bases = st.one_of(*BASES.values())


def _wrap(inner):
    poisson = OPERATIONS["PoissonSubsample"](inner)
    others = [OPERATIONS[name](inner) for name in PLAIN_OPERATIONS]
    return st.one_of(poisson, *others)


#: Random expressions under add/remove adjacency, a few operations deep.
expressions = st.recursive(leaves, _wrap, max_leaves=4)


def new_rate(node, gamma):
    """The same sampling of the same mechanism at another rate."""
    return type(node)(node.mechanism, gamma, node.adjacency)


def sampling(kind, base, gamma="1/500"):
    """A sampling by its name in OPERATIONS."""
    name, _, relation = kind.partition(", ")
    return kinds()[name](base, gamma, *filter(None, [relation]))


# --- theorems


def about_sampling():
    """Every theorem about a sampling operation, with the operation's name."""
    return [
        (theorem.name, kind)
        for theorem in theorems()
        for kind in SAMPLERS
        if is_about(theorem, sampling(kind, Gaussian(5)))
    ]


def at_order(theorem, whole, fractional):
    """An order that the theorem speaks of."""
    if theorem.orders.first == INFINITY:
        return INFINITY
    return whole if theorem.orders.whole else fractional


def answers(node, alpha, digits=30, default_only=False):
    """What every theorem about this node says at α, where it says something."""
    accountant, found = Accountant(digits), {}
    for theorem in theorems():
        asked = theorem.default if default_only else theorem.status == "proved"
        if asked and is_about(theorem, node):
            try:
                found[theorem.name] = accountant.rdp(node, alpha, by=theorem.name)
            except SymacctError:
                continue
    return found


# --- comparing

MP = independent.context()
#: For quadratures, which are trusted to 25 digits.
COARSE = independent.context(40)


def overlap(a, b):
    """May the two enclosed numbers be equal?"""
    return a.lower <= b.upper and b.lower <= a.upper


def holds(enclosure, value, digits, trusted=120):
    """Does the enclosure hold the independent value, and is it `digits` tight?

    The independent value's own error is far below: `trusted` digits, or 10⁻¹⁵⁰.
    """
    if value == MP.inf or str(value) == "+inf":
        return enclosure.lower == enclosure.upper == INFINITY
    exact = independent.fraction(value)
    error = max(abs(exact) / 10**trusted, Fraction(1, 10**150))
    low, high = independent.fraction(enclosure.lower), independent.fraction(enclosure.upper)
    return low <= exact + error and exact - error <= high and enclosure.digits >= digits


def decimal_overlaps(enclosure, text, shown):
    """Does the enclosure meet the decimal string, whose last shown digit may be rounded?"""
    value = Fraction(text)
    error = abs(value) / 10 ** (shown - 1)
    low, high = independent.fraction(enclosure.lower), independent.fraction(enclosure.upper)
    return low <= value + error and value - error <= high


@contextmanager
def stated(name, bound, like, **statement):
    """A theorem that states what another one does, but for this, for as long as a test takes."""
    other = named(like)
    fields = ("kind", "source", "orders", "adjacency", "monotone", "status")
    shared = {field: getattr(other, field) for field in fields}
    shared |= {"operation": tuple(kinds()[kind] for kind in other.operation), "default": False}
    theorem_registry.theorem(name, **{**shared, "applies": always, **statement})(bound)
    try:
        yield
    finally:
        forget(name)
