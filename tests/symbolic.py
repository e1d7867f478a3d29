"""Every mechanism with its parameters as symbols, and formulas evaluated without symacct."""

import functools
import itertools
import operator
import random
from fractions import Fraction

import sympy
from sympy.core.function import AppliedUndef

from symacct import (
    TCDP,
    ZCDP,
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
    SoundnessError,
    SparseVector,
    SubsampleWithoutReplacement,
    TreeAggregation,
    VectorLaplace,
    laws,
    symbols,
    theorems,
)
from symacct.kernel.theorem_registry import is_about, named
from tests import independent

ALPHA = symbols.alpha
A, B, Q = (sympy.Symbol(name, positive=True) for name in ("a", "b", "q"))
N = sympy.Symbol("n", positive=True, integer=True)

#: Each kind of leaf with symbols, and the range that each symbol is drawn from. A new leaf needs
#: a line here; those of rational parameters only stand without symbols.
LEAVES = {
    "Gaussian": (Gaussian(A, B), {A: (1, 3), B: ("1/2", 1)}),
    "ScalarGaussian": (ScalarGaussian(A, B), {A: (1, 3), B: ("1/2", 1)}),
    "Laplace": (Laplace(A, B), {A: (1, 3), B: ("1/2", 1)}),
    "VectorLaplace": (VectorLaplace(A, B), {A: (1, 3), B: ("1/2", 1)}),
    "DiscreteGaussian": (DiscreteGaussian(A, 2), {A: ("1/2", 3)}),
    "DiscreteLaplace": (DiscreteLaplace(A, 2), {A: (1, 3)}),
    "RandomizedResponse": (RandomizedResponse(A), {A: ("1/10", "9/10")}),
    "ExponentialMechanism": (ExponentialMechanism(A), {A: ("1/10", 2)}),
    "MatrixMechanism": (MatrixMechanism([[1, 0], ["1/2", 1]], A, 2), {A: (1, 3)}),
    "NoisyMax": (NoisyMax(A, B), {A: (1, 3), B: ("1/2", 1)}),
    "PermuteAndFlip": (PermuteAndFlip(A), {A: ("1/10", 2)}),
    "PureDP": (PureDP(A), {A: ("1/10", 2)}),
    "SparseVector": (SparseVector(A, B, 2), {A: (1, 3), B: (1, 3)}),
    "GaussianSparseVector": (GaussianSparseVector(A, B, 9, 2), {A: (1, 3), B: (1, 3)}),
    "GaussianNoisyMax": (GaussianNoisyMax(A, 9), {A: (1, 3)}),
    "DiscreteGaussianSum": (DiscreteGaussianSum(A, 5, B), {A: (1, 3), B: (1, 3)}),
    "NoisyDescent": (NoisyDescent(A, 9, "1/2"), {A: (1, 3)}),
    "NoisyPass": (NoisyPass(A, 3), {A: (1, 3)}),
    "TreeAggregation": (TreeAggregation(A, 5), {A: (1, 3)}),
    "ZCDP": (ZCDP(A, B), {A: ("1/50", "1/5"), B: ("1/50", "1/5")}),
    "TCDP": (TCDP(A, B), {A: ("1/50", "1/5"), B: (60, 90)}),
    "Curve": (
        Curve(A * ALPHA + B, kind="exact", adjacency="either", at_infinity="inf"),
        {A: ("1/50", "1/5"), B: ("1/50", "1/5")},
    ),
    "Curve, lower": (
        Curve(A * ALPHA + B, kind="lower", adjacency="either", at_infinity="inf"),
        {A: ("1/50", "1/5"), B: ("1/50", "1/5")},
    ),
    "ExponentialFamily": (
        ExponentialFamily(A, B, kappa=100),
        {A: ("1/50", "1/5"), B: ("1/50", "1/5")},
    ),
    "Skellam": (Skellam(A, 2), {A: (1, 9)}),
    "DistributionPair": (DistributionPair(["1/4", "1/4", "1/2"], ["1/3", "1/6", "1/2"]), {}),
    "FiniteMechanism": (FiniteMechanism([["1/4", "3/4"], ["1/3", "2/3"], ["1/2", "1/2"]]), {}),
    "DistributionPair of laws": (DistributionPair(laws.Poisson(3), laws.Poisson(2)), {}),
}

#: Every operation on a mechanism, its own parameters as symbols where they may be.
OPERATIONS = {
    "Compose": lambda m: Compose({m: N, Curve("alpha/9", "exact", "either", "inf"): 2}),
    "Either": lambda m: Either(m, Curve("alpha/9", "exact", "either", "inf"), Q),
    "RandomAllocation": lambda m: RandomAllocation(m, 3),
    "Shuffled": lambda m: Shuffled(m, 3),
    "Scale": lambda m: Scale(m, Q),
    "GroupPrivacy": lambda m: GroupPrivacy(m, 2),
    "PostProcess": PostProcess,
    "RepeatAndSelect": lambda m: RepeatAndSelect(m, laws.Poisson(3)),
    "RepeatAndSelect, binomial": lambda m: RepeatAndSelect(
        m, laws.TruncatedNegativeBinomial("1/2", "1/5")
    ),
    "RepeatAndSelect, of n": lambda m: RepeatAndSelect(m, laws.Binomial(4, "1/5")),
    "Convexify": lambda m: Convexify(m, 5),
    "PoissonSubsample": lambda m: PoissonSubsample(m, Q),
    "SubsampleWithoutReplacement": lambda m: SubsampleWithoutReplacement(m, Q),
    "PoissonSubsample, replace_one": lambda m: PoissonSubsample(m, Q, "replace_one"),
    "SubsampleWithoutReplacement, add_remove": lambda m: SubsampleWithoutReplacement(
        m, Q, "add_remove"
    ),
    "PoissonSubsample, zero_out": lambda m: PoissonSubsample(m, Q, "zero_out"),
    "SubsampleWithoutReplacement, zero_out": lambda m: SubsampleWithoutReplacement(
        m, Q, "zero_out"
    ),
}

#: Theorems that hold for some parameters only: what they are drawn from instead.
REGIMES = {
    "ACG16-L3": {A: (2, 3), Q: ("1/200", "1/100")},
    "MTZ19-T11": {A: (8, 12), Q: ("1/200", "1/100")},
    "BDRS18-T11": {A: ("1/200", "1/100"), B: (900, 999), Q: ("1/200", "1/100")},
}
#: Theorems that search for their worst case, so that they ask for numbers: what refuses symbols.
NEED_NUMBERS = {f"TRIPLE-GAUSSIAN{end}" for end in ("", "-NEAR", "-LOWER", "-UPPER")}
NEED_NUMBERS |= {"ZERO-OUT-GAUSSIAN-LOWER"}
NEED_NUMBERS |= {f"PS22-{end}-{how}" for end in ("T2", "T6") for how in ("BEST", "PRINTED")}
NEED_NUMBERS |= {
    "REPEAT-ALL",
    "REPEAT-BINOMIAL-BEST",
    "FS25-DIRECT",
    "ALLOCATION-GAUSSIAN",
    "ALLOCATION-LAPLACE",
    "SHUFFLED-CLONES",
    *independent.DIRECTIONS,
}
GAUSSIANS = ("Gaussian", "ScalarGaussian", "NoisyDescent", "NoisyPass")
GAUSSIANS += ("MatrixMechanism", "TreeAggregation")
REGIME_KINDS = (*GAUSSIANS, "TCDP", "ZCDP")


def pairs():
    """Every theorem with every operation that it is about and every kind of leaf."""
    for theorem in theorems():
        for operation, kind in pairs_of(theorem.name):
            yield theorem, operation, kind


@functools.cache
def pairs_of(name):
    """The operations that the theorem is about, each with every kind of leaf."""
    about = [one for one, of in OPERATIONS.items() if is_about(named(name), of(Gaussian(5)))]
    return list(itertools.product(about, LEAVES))


def applies(name, operation, kind):
    """Does the theorem of this name apply to numbers of its regime, or else to any?"""
    node = _with_numbers(name if name in REGIMES else "", operation, kind)
    return node is not None and named(name).applies(node) is None


@functools.cache
def _with_numbers(regime, operation, kind):
    """Symbols put in; None where there is no such mechanism."""
    try:
        return OPERATIONS[operation](LEAVES[kind][0]).subs(drawn(regime, kind))
    except SoundnessError:
        return None


def drawn(theorem, kind, seed=0):
    """Random exact values of the symbols, in the theorem's regime: 3 digits and a random seed."""
    rng = random.Random(f"{theorem} {kind} {seed}")
    ranges = {Q: ("1/100", "99/100"), N: (2, 9), **LEAVES[kind][1]}
    # The regime of BDRS18-T11 is one of ρ, and a Gaussian's is 1/(2σ²).
    regime = dict(REGIMES.get(theorem, {})) if kind in REGIME_KINDS else {}
    if theorem == "BDRS18-T11" and kind in GAUSSIANS:
        regime |= {A: (8, 9), B: ("1/2", 1)}
    if theorem == "BDRS18-T11" and kind == "ZCDP":
        regime.pop(B)
    ranges |= {symbol: ends for symbol, ends in regime.items() if symbol in ranges}
    values = {}
    for symbol, (low, high) in ranges.items():
        low, high = Fraction(low), Fraction(high)
        share = Fraction(rng.randrange(1, 1000), 1000)
        value = low + (high - low) * share
        values[symbol] = Fraction(round(value)) if symbol == N else value
    return values


# --- the value of a formula, by walking it with mpmath

mp = independent.context(60)


def _quad(f, low, high):
    """∫ f by mpmath; over all of ℝ by the trapezoidal rule, of normal laws of a few units.

    That is exact to e^{−2πd/h}: f is analytic up to d = πσ² off the real line, and h = 1/16.
    """
    if mp.isinf(low):
        return mp.fsum(f(mp.mpf(k) / 16) for k in range(-960, 961)) / 16
    return mp.quad(f, [low, (low + high) / 2, high])


@functools.cache
def _bessel(k, x):
    return mp.besseli(k, x)


@functools.cache
def _fraction(e):
    return mp.mpf(int(e.p)) / int(e.q)


HEADS = {
    sympy.Add: lambda *xs: functools.reduce(operator.add, xs),
    sympy.Mul: lambda *xs: functools.reduce(operator.mul, xs),
    sympy.Pow: lambda x, y: x**y,
    sympy.exp: mp.exp,
    sympy.log: mp.log,
    sympy.Min: min,
    sympy.Max: max,
    sympy.Abs: abs,
    sympy.besseli: lambda k, x: _bessel(abs(k), x),
    sympy.binomial: mp.binomial,
    sympy.factorial: mp.factorial,
    sympy.factorial2: mp.fac2,
    sympy.floor: mp.floor,
    sympy.loggamma: mp.loggamma,
}
CONSTANTS = {sympy.oo: mp.inf, -sympy.oo: -mp.inf, sympy.E: mp.exp(1), sympy.pi: +mp.pi}


def value(expression, replacements, definitions=()):
    """The expression's number in mpmath, sums term by term; SymPy's own value can be wrong.

    `definitions` are those of a named formula.
    """
    table = {symbol: mp_number(x) for symbol, x in replacements.items()}
    return _walked(expression, table, definitions)


def mp_number(x):
    return independent.number(mp, Fraction(str(x))) if x != float("inf") else mp.inf


def _walked(e, table, definitions):
    if e in table:
        return table[e]
    if isinstance(e, sympy.Rational):
        return _fraction(e)
    if e in CONSTANTS:
        return CONSTANTS[e]
    if isinstance(e, sympy.Sum):
        ((index, first, last),) = e.limits
        low = -250 if first is -sympy.oo else int(_walked(first, table, definitions))
        # Of infinite sums, those over the outcomes of a law on whole numbers, this is enough.
        high = max(low, 0) + 250 if last is sympy.oo else int(_walked(last, table, definitions))
        term, known = _settled(e.function, index, table, definitions)
        terms = range(low, high + 1)
        return mp.fsum(_walked(term, {**known, index: mp.mpf(l)}, definitions) for l in terms)
    if isinstance(e, sympy.Integral):
        ((variable, *ends),) = e.limits
        low, high = (_walked(end, table, definitions) for end in ends)
        integrand, known = _settled(e.function, variable, table, definitions)
        return _quad(lambda z: _walked(integrand, {**known, variable: z}, definitions), low, high)
    if isinstance(e, AppliedUndef):
        return _defined(e, table, definitions)
    if isinstance(e, sympy.Piecewise):
        for branch, condition in e.args:
            if condition == True or _holds(condition, table, definitions):  # noqa: E712
                return _walked(branch, table, definitions)
    head = next(HEADS[kind] for kind in type(e).__mro__ if kind in HEADS)
    return head(*(_walked(argument, table, definitions) for argument in e.args))


def _settled(e, variable, table, definitions):
    """e with a symbol for each part that has one value at every place, and the table with it."""
    known = dict(table)

    def settled(part):
        if not part.args or part.has(sympy.Sum, sympy.Integral, sympy.Piecewise):
            return part
        if part.has(variable):
            return part.func(*map(settled, part.args))
        symbol = sympy.Dummy()
        known[symbol] = _walked(part, table, definitions)
        return symbol

    return settled(e), known


def _holds(condition, table, definitions):
    if isinstance(condition, sympy.And | sympy.Or):
        joined = all if isinstance(condition, sympy.And) else any
        return joined(_holds(part, table, definitions) for part in condition.args)
    left, right = (_walked(side, table, definitions) for side in condition.args)
    signs = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
    return signs[condition.rel_op](left, right)


def _defined(e, table, definitions):
    """The value of ε₁(l): its definition at that order, its own symbols as they are outside."""
    (at,) = (_walked(argument, table, definitions) for argument in e.args)
    same = [d for d in definitions if d.name.func == e.func]
    found = next((d for d in same if d.name == e), None)
    found = found or next(d for d in same if d.name.args[0].is_Symbol)
    inside = {symbol: x for symbol, x in table.items() if symbol in (A, B, Q, N)}
    if found.name.args[0].is_Symbol:
        inside[found.name.args[0]] = at
    return _walked(found.expression, inside, definitions)


def agrees(number, answer, digits=40):
    """Is the number within the enclosure, or within 10^-digits of it relatively?"""
    if number == mp.inf or answer.upper == float("inf"):
        return number == mp.inf and answer.upper == float("inf")
    exact = independent.fraction(number)
    error = abs(exact) / 10**digits
    low, high = independent.fraction(answer.lower), independent.fraction(answer.upper)
    return low - error <= exact <= high + error
