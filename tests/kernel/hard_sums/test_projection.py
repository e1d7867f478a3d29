"""The projection of a curve onto the convex ones."""

import itertools
import math
from fractions import Fraction

import pytest

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    Curve,
    Gaussian,
    Laplace,
    LimitError,
    PoissonSubsample,
    SoundnessError,
    SubsampleWithoutReplacement,
    limits,
)
from symacct.theory.amplification import wbk19
from tests.kernel.hard_sums.formulas import (
    DIGITS,
    SEEDS,
    ask,
    ends,
    holds,
    moments,
    mp,
    number,
    theorem_8,
)
from tests.support import overlap


def hull_value(points, place):
    """The lower hull at a place: the smallest chord over it of all pairs of points."""
    return min(
        y0 if x0 == x1 else y0 + (y1 - y0) * (place - x0) / (x1 - x0)
        for (x0, y0), (x1, y1) in itertools.product(points, repeat=2)
        if x0 <= place <= x1 and (x0 < x1 or x0 == place)
    )


def kinked(values):
    """A Curve with the given ε at the whole orders 2, 3, …, the last one from there on."""

    def curve(ctx, alpha):
        return ctx.number(values[min(max(math.floor(float(alpha)), 2) - 2, len(values) - 1)])

    return Curve(curve, kind="upper", adjacency="either")


KINKS = {
    "one tooth": [Fraction(1, 10), Fraction(9, 10), Fraction(1, 5), Fraction(1, 4), Fraction(2, 5)],
    "falling": [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 5)],
    "convex": [Fraction(l, 7) for l in range(2, 30)],
    "random": [Fraction((7919 * l) % 101 + 1, 97) for l in range(2, 60)],
    "zeros": [Fraction(0), Fraction(1, 3), Fraction(0), Fraction(1), Fraction(2)],
}


@pytest.mark.parametrize("name", KINKS)
def test_projection_is_the_lower_hull(name):
    """Every value exactly that of the brute-force hull, in fractions; at 1 its slope there."""
    values = KINKS[name]
    last = len(values) + 1
    base = kinked(values)
    hull = base.convexify(last)
    points = [(0, Fraction(0)), *((l - 1, (l - 1) * values[l - 2]) for l in range(2, last + 1))]
    accountant = Accountant(DIGITS)
    places = [Fraction(k, 3) for k in range(1, 3 * (last - 1) + 1)]
    for lam in places:
        true = hull_value(points, lam) / lam
        low, high = ends(accountant.rdp(hull, lam + 1))
        assert low <= number(true) <= high or abs(low - number(true)) < mp.mpf(10) ** -290
        assert high - low <= number(true) * mp.mpf(10) ** -DIGITS
        if lam.denominator == 1:
            assert low <= number(values[int(lam) - 1])
    slope = min(y / x for x, y in points[1:])
    assert holds(accountant.rdp(hull, 1), number(slope))
    beyond = accountant.rdp(hull, last + 5)
    assert holds(beyond, number(values[-1]))


@pytest.mark.parametrize("name", ["Gaussian(5)", "Laplace(1/2)", "RandomizedResponse(0.9)"])
def test_projection_of_an_exact_curve_is_its_interpolation(name):
    base, eps = SEEDS[name]
    node = PoissonSubsample(base, "1/20")
    hull = node.convexify(40)
    values = {l: (l - 1) * theorem_8(l, Fraction(1, 20), moments(eps, l)) for l in range(2, 41)}
    values[1] = mp.zero
    for order in ("3/2", "9/4", 5, "31/3", "159/4", 40):
        alpha = Fraction(order)
        below, lam = math.floor(alpha), number(alpha) - 1
        share = number(alpha - below)
        true = (1 - share) * values[below] + share * values.get(below + 1, mp.zero)
        found = ask(hull, alpha)
        assert holds(found, true / lam)
        assert overlap(found, ask(node, alpha, "WBK19-C10"))
        if alpha.denominator > 1:
            # The exact curve lies strictly below its chords.
            assert found.lower > ask(node, alpha).upper
        assert str(found.claim.kind) == "upper"


def test_the_hull_of_a_convex_curve_is_asked_around_the_order_alone():
    """Every point of a convex curve is a corner, so the chord needs two of ten million."""
    base, accountant = Gaussian(5), Accountant(DIGITS)
    found = accountant.rdp(base.convexify(10**7), "5/2")
    assert holds(found, mp.mpf(4) / 75)  # (½·1·ε(2) + ½·2·ε(3))/(3/2), ε(α) = α/50
    assert accountant.oracle_calls(base) == 2


@pytest.mark.parametrize("alpha", [1, "3/2", 4, "9/2", 5, "11/2", 8])
def test_the_hull_of_a_convex_curve_that_becomes_infinite(alpha):
    """Whole orders alone are known: between the last finite one and ∞ it is the curve's own."""
    base = TCDP("1/50", 5)
    found, at = ask(base.convexify(10**6), alpha), Fraction(alpha)
    slope = {1: 2, Fraction(3, 2): 2, 4: 4}  # chords from (0, 0) have the slope of ε(2)
    if at < 5:
        assert holds(found, mp.mpf(slope.get(at) or number(at)) / 50)
    else:
        assert found.lower == mp.inf


def test_the_hull_of_other_curves_is_limited():
    """Each of its orders is a sum: LimitError at once, with the remedy."""
    node = SubsampleWithoutReplacement(Gaussian(5), "1/100")
    says = r"^Convexify, max_order: found 10,000,000, the limit is 4,096; raise the limit hull"
    with pytest.raises(LimitError, match=says):
        node.convexify(10**7).rdp("5/2")
    with limits(hull=7), pytest.raises(LimitError, match="found 8, the limit is 7"):
        Accountant(DIGITS).rdp(node.convexify(8), 3)
    with limits(hull=8):
        assert ask(node.convexify(8), 3).upper < 1


def test_the_hull_forms_each_ternary_power_once(monkeypatch):
    """It depends on neither α nor γ, so that a thousand orders cost hardly more than the last."""
    asked = []

    def counted(ctx, eps, spread, difference, j):
        asked.append((ctx.bits, j))
        return ternary_power(ctx, eps, spread, difference, j)

    ternary_power = wbk19.ternary_power
    monkeypatch.setattr(wbk19, "ternary_power", counted)
    base, accountant = 2 * Laplace(5), Accountant(DIGITS)
    for gamma in ("1/100", "1/50"):
        accountant.rdp(SubsampleWithoutReplacement(base, gamma).convexify(40), "5/2")
    assert {j for _, j in asked} == set(range(2, 41))
    assert len(asked) == len(set(asked))


def test_projection_of_a_default_bound_is_never_above_it():
    """Theorem 9 jumps where branches of its minimum change."""
    accountant = Accountant(DIGITS)
    for base in (Gaussian(1), Laplace("1/2"), ZCDP("1/4")):
        node = SubsampleWithoutReplacement(base, "1/5")
        hull = node.convexify(30)
        points = [(0, mp.zero)]
        points += [(l - 1, (l - 1) * ends(accountant.rdp(node, l))[1]) for l in range(2, 31)]
        for l in range(2, 31):
            found = accountant.rdp(hull, l)
            assert found.lower <= accountant.rdp(node, l).upper
            assert holds(found, hull_value(points, l - 1) / (l - 1), error=27)
        for alpha in ("5/4", "9/2", "59/2"):
            between = accountant.rdp(node, alpha, by="WBK19-C10")
            assert accountant.rdp(hull, alpha).lower <= between.upper


def test_projection_refuses_a_lower_bound():
    with pytest.raises(SoundnessError, match="lower"):
        Curve("alpha/50", kind="lower", adjacency="either").convexify(10)
