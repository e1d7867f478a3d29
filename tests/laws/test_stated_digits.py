"""What float64 and mpmath state is true: mechanisms × operations × orders, usual and extreme.

The truth is the ball engine's. The cases are drawn here once, and anew in a soak.
"""

import os
import random
from fractions import Fraction

import numpy as np
import pytest

from symacct import (
    ZCDP,
    Accountant,
    Compose,
    Convexify,
    Curve,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributionPair,
    Either,
    ExponentialMechanism,
    Gaussian,
    GroupPrivacy,
    Laplace,
    LimitError,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    RepeatAndSelect,
    Scale,
    Skellam,
    SubsampleWithoutReplacement,
    SymacctError,
    laws,
)
from symacct.kernel.accountant import FormulaAccountant
from tests import independent
from tests.thinning import covering, in_a_soak, some

INFINITY = float("inf")
DIGITS = 20
#: float64 waits for no proofs: it answers by what a formula says.
TRUTHS = {"float64": FormulaAccountant}


def ten(power):
    return Fraction(10) ** power


def size(draw, low, high):
    """A number between 10^low and 10^high, its logarithm evenly spread."""
    return Fraction(draw.randint(1000, 9999), 1000) * ten(draw.randint(low, high))


def unit(draw):
    """A number in (0, 1), often near an end."""
    small = Fraction(draw.randint(1, 500), 1000) * ten(draw.choice((0, 0, -1, -3, -6, -9, -20)))
    return draw.choice((small, 1 - small))


def finite_pair(draw):
    """Two laws on a few outcomes, near each other or not, one perhaps without an outcome."""
    q = [Fraction(draw.randint(1, 9)) for _ in range(draw.randint(2, 4))]
    near = draw.choice((1, ten(-3), ten(-9)))
    p = [x * (1 + near * Fraction(draw.randint(-9, 9), 10)) for x in q]
    if draw.random() < 0.2:
        p[0] = Fraction(0)
    return DistributionPair([x / sum(p) for x in p], [x / sum(q) for x in q])


LEAVES = {
    "Gaussian": lambda draw: Gaussian(size(draw, -1, 6)),
    "Laplace": lambda draw: Laplace(size(draw, -2, 10)),
    "RandomizedResponse": lambda draw: RandomizedResponse(unit(draw)),
    "PureDP": lambda draw: PureDP(size(draw, -12, 2)),
    "DiscreteGaussian": lambda draw: DiscreteGaussian(size(draw, -1, 2), draw.randint(1, 3)),
    "DiscreteLaplace": lambda draw: DiscreteLaplace(size(draw, -2, 10), draw.randint(1, 3)),
    "ExponentialMechanism": lambda draw: ExponentialMechanism(size(draw, -12, 2)),
    "Skellam": lambda draw: Skellam(size(draw, -2, 0), draw.randint(1, 2)),
    "ZCDP": lambda draw: ZCDP(size(draw, -9, 1), draw.choice((0, size(draw, -6, 0)))),
    "finite pair": finite_pair,
    "Exponential": lambda draw: DistributionPair(
        laws.Exponential(1), laws.Exponential(1 + draw.choice((1, -1)) * unit(draw) / 2)
    ),
    "Poisson": lambda draw: DistributionPair(
        laws.Poisson(3), laws.Poisson(3 + draw.choice((1, -1)) * unit(draw))
    ),
    "formula": lambda draw: Curve(
        "log(1 + alpha*exp(-30)) + (exp(alpha/10**7) - 1)", kind="exact", adjacency="either",
        at_infinity="inf",
    ),
}  # fmt: skip
OPERATIONS = {
    "nothing": lambda draw, m: m,
    "PoissonSubsample": lambda draw, m: PoissonSubsample(m, unit(draw)),
    "PoissonSubsample, replace_one": lambda draw, m: PoissonSubsample(m, unit(draw), "replace_one"),
    "SubsampleWithoutReplacement": lambda draw, m: SubsampleWithoutReplacement(m, unit(draw)),
    "Compose": lambda draw, m: Compose({m: draw.randint(1, 10**6), Laplace(10**6): 3}),
    "Either": lambda draw, m: Either(m, Laplace(10**6), unit(draw)),
    "Scale": lambda draw, m: Scale(m, size(draw, -3, 3)),
    "GroupPrivacy": lambda draw, m: GroupPrivacy(m, draw.randint(2, 4)),
    "PostProcess": lambda draw, m: PostProcess(m),
    "RandomAllocation": lambda draw, m: RandomAllocation(m, draw.randint(2, 50)),
    "RepeatAndSelect": lambda draw, m: RepeatAndSelect(m, laws.Poisson(size(draw, -3, 3))),
    "RepeatAndSelect, binomial": lambda draw, m: RepeatAndSelect(
        m, laws.TruncatedNegativeBinomial(draw.choice((0, 1, Fraction(-1, 2))), unit(draw))
    ),
    "RepeatAndSelect, of n": lambda draw, m: RepeatAndSelect(
        m, laws.Binomial(draw.randint(1, 100), unit(draw))
    ),
    "Convexify": lambda draw, m: Convexify(m, 5),
}
ORDERS = {
    "one": lambda draw: 1,
    "near one": lambda draw: 1 + Fraction(draw.randint(1, 9), 10) * ten(draw.choice((-1, -3, -9))),
    "below two": lambda draw: 1 + Fraction(draw.randint(1, 999), 1000),
    "fractional": lambda draw: draw.randint(2, 20) + Fraction(draw.randint(1, 99), 100),
    "whole": lambda draw: draw.randint(2, 12),
    "large": lambda draw: draw.randint(100, 400),
    "infinite": lambda draw: INFINITY,
}


def assert_true_as_stated(engine, node, alpha):
    """The two ends are in order, not below 0, and hold the truth; 1 if both engines answered."""
    try:
        truth = TRUTHS.get(engine, Accountant)(DIGITS).rdp(node, alpha)
        stated = Accountant(DIGITS - 8, engine).rdp(node, alpha)
    except SymacctError:
        return 0
    assert not stated.certified
    assert 0 <= stated.lower <= stated.upper, (node, alpha, stated)
    assert stated.lower <= truth.upper, (node, alpha, stated, truth)
    assert truth.lower <= stated.upper, (node, alpha, stated, truth)
    return 1


def assert_draws_true(engine, leaf, operation, draw, orders):
    node = OPERATIONS[operation](draw, LEAVES[leaf](draw))
    return sum(assert_true_as_stated(engine, node, order(draw)) for order in orders.values())


#: Up to a minute for one draw, of differences over hundreds of orders: for the soak.
LONG = {(leaf, "SubsampleWithoutReplacement") for leaf in ("DiscreteGaussian", "Skellam")}


SEED = os.environ.get("SOAK_SEED", "")


@covering(lambda leaf, operation: {operation, (leaf, "Subsample" in operation)})
@pytest.mark.parametrize(
    ("leaf", "operation"),
    [(m, op) for m in LEAVES for op in OPERATIONS if in_a_soak() or (m, op) not in LONG],
)
def test_float64_states_what_is_true(leaf, operation):
    draw = random.Random(f"{SEED}{leaf} {operation}")
    orders = {name: ORDERS[name] for name in draw.sample(sorted(ORDERS), some(4, len(ORDERS)))}
    rounds = range(some(1, 12))
    assert sum(assert_draws_true("float64", leaf, operation, draw, orders) for _ in rounds)


QUICK = some(("near one", "whole", "infinite"), sorted(set(ORDERS) - {"large"}))


EXTREMES = ("1e-400", "1e-30", "1e-5", "1e5", "1e30", "1e400")
FAMILIES = (Gaussian, Laplace, PureDP, ZCDP, RandomizedResponse)
AROUND = {
    "nothing": lambda m: m,
    "sampled": lambda m: PoissonSubsample(m, "1/100"),
    "rarely sampled": lambda m: PoissonSubsample(m, "1e-300"),
    "subset": lambda m: SubsampleWithoutReplacement(m, "1/100"),
}


@covering()
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("value", EXTREMES)
def test_float64_is_true_or_silent_at_extreme_parameters(around, value):
    for family in FAMILIES:
        if family is RandomizedResponse and Fraction(value) > 1:
            continue
        node = AROUND[around](family(value))
        orders = (3, INFINITY) if family in (Gaussian, Laplace) else (1, 3, Fraction(5, 2))
        for alpha in orders:
            assert_true_as_stated("float64", node, alpha)


def test_a_sum_too_long_for_float64_is_one_clear_error():
    for noise in (Gaussian("1e-5"), Gaussian("1e-400"), Laplace("1e-30")):
        with pytest.raises(LimitError, match="terms of a sum in float64"):
            Accountant(engine="float64").rdp(PoissonSubsample(noise, "1/100"), "5/2")


@covering()
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "leaf", some(["Laplace", "RandomizedResponse", "PureDP", "finite pair"], list(LEAVES))
)
def test_mpmath_states_what_is_true(leaf, operation):
    draw, orders = random.Random(f"{SEED}{operation} {leaf}"), {one: ORDERS[one] for one in QUICK}
    rounds = range(some(1, 2))
    assert sum(assert_draws_true("mpmath", leaf, operation, draw, orders) for _ in rounds)


#: Each lost all of its digits, or stated them with the wrong sign or order of the ends, once.
KNOWN = [
    (PoissonSubsample(PureDP(700), "1/10"), "11/10", "674.67156397706549747"),
    (PoissonSubsample(PureDP(40), "1/10"), "11/10", "16.539240744964710536"),
    (PoissonSubsample(Gaussian("1/10"), "1/1000"), "1001/1000", "0.043086016977041026292"),
    (Laplace(10**9), 2, "9.9999999966666666641e-19"),
    (RandomizedResponse("1e-400"), "inf", "921.03403719761827360720"),
    (
        DistributionPair(["1e-400", 1 - ten(-400)], ["1/2", "1/2"]),
        "inf",
        "920.34089001705832829778",
    ),  # 400 log 10 − log 2
]


#: What was cut off where the numerator is small and the denominator is not, in float64.
CUT = [
    (
        PoissonSubsample(Gaussian("11/50"), "1e-6", "replace_one"),
        1,
        "6.843568082520180922e-7",
    ),
    (
        PoissonSubsample(Gaussian("11/100"), "1e-6", "replace_one"),
        "11/10",
        "0.00022662911337478784438",
    ),
    (
        PoissonSubsample(Gaussian(7), "487/500", "replace_one"),
        142,
        "4.3418014066592549937",
    ),
]
CASES = [(*case, engine) for case in KNOWN for engine in ("float64", "mpmath")]
CASES += [(*case, "float64") for case in CUT]


@pytest.mark.parametrize(("node", "alpha", "value", "engine"), CASES, ids=lambda x: str(x)[:40])
def test_what_once_cancelled_has_ten_digits(node, alpha, value, engine):
    """Values by mpmath's quad and log at 900 digits; 400 log 10 and that less log 2 by decimal.

    Those that were cut off by mpmath's quad of m^α n^{1−α} at 60 digits.
    """
    answer = Accountant(12, engine).rdp(node, alpha)
    low, high = (independent.fraction(end) for end in (answer.lower, answer.upper))
    assert low <= Fraction(value) <= high or high - low <= Fraction(value) / 10**18
    assert answer.digits >= 10


def test_an_array_in_float64_has_no_value_where_no_digit_is_known():
    """log(e^100 + 1) − 100 is 4e-44: what float64 has of it is its own rounding."""

    def lost(ctx, alpha):
        hundred = ctx.number(100)
        return alpha * (ctx.log(ctx.exp(hundred) + 1) - hundred)

    curve = Curve(lost, kind="upper", adjacency="either")
    assert np.isnan(Accountant(engine="float64").rdp(curve, [2.0, 2.5])).all()
    assert Accountant(engine="float64").rdp(curve, 2).upper == INFINITY
