"""Pairs of densities on the line, sampled or not: one run between crossings, many by a contour."""

import cmath
import itertools
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from flint import acb, arb, ctx

from symacct import Accountant, DistributionPair, Gaussian, Kind, PoissonSubsample, laws
from symacct.kernel.arithmetic.ball import accuracy
from symacct.kernel.errors import AssumptionError
from symacct.mechanisms.pair import Overlap
from symacct.profile.answer import directions_of
from symacct.profile.losses import density as by_parts
from symacct.profile.losses.density import Chart, DensityLoss, DensityPair, _ends
from symacct.profile.losses.fixed_size import FixedSizeGaussian
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.pairs import Pair
from symacct.profile.part import OrderLine
from symacct.profile.solve import CompositionProfile
from tests.thinning import covering, some

NORMALS = Overlap(laws.Normal(1, 4), laws.Normal(0, 4))
TENTS = Overlap(laws.Density("exp(-Abs(x-1))/2"), laws.Density("exp(-Abs(x))/2"))


def rated(overlap, gamma):
    return DensityLoss(DensityPair(overlap, Fraction(gamma)))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("y", ["-1/20", "1/100", "2/25", "7/10"])
def test_one_run_of_noise_known_in_closed_form(y, reverse):
    with ctx.workprec(160):
        place = arb(Fraction(y).numerator) / Fraction(y).denominator
        known = (
            SampledGaussian(Fraction(4), Fraction(1, 10)),
            LaplaceLoss(Fraction(1), Fraction(1, 10)),
        )
        for overlap, other in zip((NORMALS, TENTS), known, strict=True):
            found = rated(overlap, "1/10").hockey_stick(place, reverse)
            assert found.overlaps(other.hockey_stick(place, reverse))
            assert found.rad() < arb(10) ** -30


PAIRS = {
    "gamma, singular at 0": (laws.Gamma("1/2", 1), laws.Gamma("3/4", "5/4")),
    "beta": (laws.Beta(2, 3), laws.Beta(3, "3/2")),
    "two crossings": (laws.Normal(0, 1), laws.Normal(1, "5/4")),
    "another family": (laws.Density("exp(-Abs(x))/2"), laws.Normal(0, 1)),
}


@covering()
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("gamma", ["1", "1/10"])
@pytest.mark.parametrize("reverse", [False, True])
def test_one_run_by_quadrature(pair, gamma, reverse):
    """∫(m − e^y q)₊ and ∫(q − e^y m)₊ by mpmath, cut where the two densities cross."""
    y, share = (
        mpmath.mpf("0.05"),
        mpmath.mpf(Fraction(gamma).numerator) / Fraction(gamma).denominator,
    )
    p, q = map(density, pair)
    cuts = [0, 1] if isinstance(pair[0], laws.Beta) else [0, 60] if p(-1) == 0 else [-60, 60]

    def surplus(x):
        m = (1 - share) * q(x) + share * p(x)
        one, other = (q(x), m) if reverse else (m, q(x))
        return one - mpmath.exp(y) * other

    places = [cuts[0] + (cuts[1] - cuts[0]) * mpmath.mpf(i) / 800 for i in range(1, 800)]
    roots = [
        mpmath.findroot(surplus, (a, b), solver="anderson", tol=1e-30)
        for (a, at_a), (b, at_b) in pairwise((x, surplus(x)) for x in places)
        if at_a * at_b < 0
    ]
    pieces = sorted([*cuts, *roots, *([0] if cuts[0] < 0 else [])])
    exact = sum(
        mpmath.quad(surplus, mpmath.linspace(a, b, 12))
        for a, b in pairwise(pieces)
        if surplus((a + 4 * b) / 5) > 0
    )
    with ctx.workprec(120):
        found = rated(Overlap(*pair), gamma).hockey_stick(arb("0.05"), reverse)
    assert abs(float(found.mid()) - exact) < 1e-9


def density(law):
    names = law.parameters
    if isinstance(law, laws.Normal):
        return lambda x: mpmath.npdf(x, *(float(names["mean"]), float(names["variance"]) ** 0.5))
    if isinstance(law, laws.Density):
        return lambda x: mpmath.exp(-abs(x)) / 2
    first, second = (mpmath.mpf(v.numerator) / v.denominator for v in names.values())
    if isinstance(law, laws.Beta):
        return lambda x: x ** (first - 1) * (1 - x) ** (second - 1) / mpmath.beta(first, second)
    return lambda x: (
        x ** (first - 1) * mpmath.exp(-x * second) / mpmath.gamma(first) * second**first
        if x > 0
        else mpmath.mpf(0)
    )


@covering()
@pytest.mark.parametrize("a", [-2.0, 0.25, 0.75, 1.0, 2.5])
@pytest.mark.parametrize("gamma", ["1/10", "9/10", "1"])
def test_what_lies_beyond_a_chart(a, gamma):
    """∫q(m/q)^a by a plain sum, at every order: those between 0 and 1 too."""
    tight = 0
    for overlap in (NORMALS, TENTS):
        pair = DensityPair(overlap, Fraction(gamma))
        infinite = [side for side in pair.sides if side.is_infinite]
        for side, start in itertools.product(infinite, (4.0, 8.0, 16.0)):
            chart = Chart(pair, side, False, Fraction(0), Fraction(0))
            with ctx.workprec(64):
                bound = float(pair._tail(side, a, arb(start)))
                logs = [chart.logs(acb(start + 0.05 * (i + 0.5))) for i in range(800)]
                values = [(x.q.value + a * x.loss.value).real.exp() for x in logs]
            total = 0.05 * sum(map(float, values))
            assert total <= bound * 1.001
            tight += bound < 3 * total
    assert tight


def test_far_from_the_real_axis():
    """|F(a+it)| <= A + C/t, and from one place on the proved bound is above all values."""
    for overlap in (NORMALS, Overlap(laws.Beta(2, 3), laws.Beta("5/2", 2))):
        part = rated(overlap, "1/10")
        with ctx.workprec(80):
            ends = part.decay_constants(3.0, arb(1))
            bound = part.decay(3.0, 2.0, 0.01).exp()
            for t in (2.0, 5.0, 17.0, 40.0):
                value = abs(part.transform(OrderLine(3.0, t, 1), 25.0)[1])
                assert value < bound
                assert all(value < constant + falling / t for constant, falling in ends)


LOGISTIC, CAUCHY = (
    Overlap(*(laws.Density(density.format(x=x)) for x in ("x-1", "x")))
    for density in ("exp(-Abs({x}))/(1+exp(-Abs({x})))**2", "1/(pi*(1+({x})**2))")
)


@covering()
@pytest.mark.parametrize("overlap", [LOGISTIC, CAUCHY, TENTS])
@pytest.mark.parametrize("gamma", ["1", "1/10"])
@pytest.mark.parametrize("h", [0.5, 2.5, 20.0])
def test_how_fast_moments_fall(overlap, gamma, h):
    """By parts |F| is bounded everywhere, and by not much more than it comes to somewhere."""
    part, line = rated(overlap, gamma), OrderLine(2.5, h, 31, 16)
    with ctx.workprec(80):
        ends = part.decay_constants(line.a, arb(1))
        values = [abs(value) for value in part.transform(line, 25.0)]
        bounds = [min((A + C / (n * h) for A, C in ends), key=float) for n in line.nodes]
        assert all(value < bound for value, bound in zip(values, bounds, strict=True))
        if gamma == "1":
            assert bounds[0] < 4 * max(values, key=float)


@pytest.mark.parametrize(
    ("count", "y", "digits", "known"),
    [
        (2, 1, 5, "0.064042568727000931031886415200257"),
        *some([], [(10, 4, 10, "0.040861815845914066187364689322578")]),
        (20, 8, 12, "0.013484889071242644687899305377356"),
    ],
)
def test_logistic_runs(count, y, digits, known):
    """By mpmath: Gauss's rule over the loss, whose density is elementary; 2 runs by one integral,

    the others by another line, Re s = 3, another step and other nodes, at 40 digits.
    """
    found = CompositionProfile(((rated(LOGISTIC, 1), count),), False).contours.delta(
        lambda: arb(y), digits
    )
    with ctx.workprec(120):
        assert found.overlaps(arb(known))
    assert accuracy(found) >= digits


PARTS = [rated(NORMALS, "1/10"), FixedSizeGaussian(Fraction(4), Fraction(1, 10))]
PARTS += [SampledGaussian(Fraction(4), Fraction(1, 10)), LaplaceLoss(Fraction(1), Fraction(1, 10))]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_a_line_may_start_later(part):
    """Blocks of a contour: a part summed over nodes gave those before it too."""
    with ctx.workprec(100):
        whole = part.transform(OrderLine(3.0, 0.5, 9), 30.0)
        later = part.transform(OrderLine(3.0, 0.5, 9, 4), 30.0)
    assert len(later) == 6
    assert all(x.overlaps(y) for x, y in zip(whole[4:], later, strict=True))


@pytest.mark.parametrize(("overlap", "power"), [*some([], [(LOGISTIC, 40)]), (CAUCHY, 16)])
def test_next_to_the_largest_loss(overlap, power):
    """A tiny δ of one run: proved by values on both sides of the root."""
    part, delta = rated(overlap, 1), Fraction(1, 10**power)
    direction = CompositionProfile(((part, 1),), False)
    found = direction.epsilon(delta, 12)
    with ctx.workprec(320):
        least, most = (part.hockey_stick(end, False) for end in (found.lower(), found.upper()))
        assert most < arb(10) ** -power < least
        assert found < part.largest(False)


def test_asked_of_a_node():
    pair = DistributionPair(laws.Beta(2, 3), laws.Beta(3, 2))
    accountant = Accountant(8)
    for m, delta in ((pair, "1e-4"), (100 * PoissonSubsample(pair, "1/10"), "1/1000")):
        found = accountant.epsilon(m, delta, "exact")
        assert found.kind is Kind.EXACT
        assert found.epsilon.upper <= accountant.epsilon(m, delta, orders=[2]).epsilon.upper
        back = accountant.delta(m, found.epsilon.upper, "exact", digits=5).delta
        assert abs(float(back) / float(Fraction(delta)) - 1) < 1e-4
    beside = 300 * PoissonSubsample(DistributionPair(NORMALS.P, NORMALS.Q), "1/10") + Gaussian(3)
    same = 300 * PoissonSubsample(Gaussian(2), "1/10") + Gaussian(3)
    found, known = (accountant.epsilon(m, "1e-4", "exact").epsilon for m in (beside, same))
    assert found.lower <= known.upper
    assert known.lower <= found.upper


def test_neither_symmetric_nor_one_way_round():
    """Of (P, Q) and (Q, P) the larger profile is taken, at the mixture's side or not."""
    pair = DistributionPair(laws.Exponential(1), laws.Exponential("5/4"))
    accountant = Accountant(8)
    found, swapped = (accountant.delta(m, "1/10", "exact").delta for m in (pair, pair.swapped()))
    assert str(found) == str(swapped)


def test_laws_of_different_supports_are_refused():
    pair = DistributionPair(laws.Exponential(1), laws.Normal(0, 1))
    with pytest.raises(AssumptionError, match="same part of the line"):
        pair.epsilon("1e-4", conversion="exact")


def test_moments_that_end_below_order_2():
    """Of (Q, P) those from 2 on are infinite: its contour has 1 < Re z < 2."""
    pair = DistributionPair(laws.Normal(0, 4), laws.Normal("1/2", 8), "add_remove", "P")
    # P(L > y) − e^y Q(L > y) by noncentral χ² laws, sums of mpmath's gammainc over Poisson weights
    known = "296.72564536286449982075075583735494691945770607972187460139"
    found = Accountant(20).epsilon(1000 * pair, "1e-5", "exact").epsilon
    with mpmath.workdps(60):
        assert found.lower <= mpmath.mpf(known) <= found.upper
    assert found.digits > 19


def test_any_number_of_digits_of_moments_on_pieces():
    """Pieces whose ends are logarithms, and so many nodes on each as the digits need."""
    pair = DistributionPair(laws.Exponential(1), laws.Exponential("3/2"), "add_remove", "P")
    # by mpmath's gammainc: the sum of the losses is k log(2/3) and half of a gamma variable
    known = "51.164369312914425829522132048395407258163695303500268714"
    found = Accountant(36).epsilon(200 * pair, "1e-5", "exact").epsilon
    with mpmath.workdps(60):
        assert found.lower <= mpmath.mpf(known) <= found.upper
    assert found.digits > 35
    beta = DistributionPair(laws.Beta(2, "5/2"), laws.Beta("5/2", 2))
    assert Accountant(25).epsilon(1000 * beta, "1e-5", "exact").epsilon.digits > 24


def test_the_largest_loss():
    """Limits at the ends too: of logistic noise 1, of Cauchy's at (1+√5)/2, and −log(1−γ)."""
    logistic, cauchy = "exp(-Abs({x}))/(1+exp(-Abs({x})))**2", "1/(pi*(1+({x})**2))"
    for density, known in ((logistic, arb(1)), (cauchy, 2 * arb("0.5").asinh())):
        overlap = Overlap(*(laws.Density(density.format(x=x)) for x in ("x-1", "x")))
        for reverse in (False, True):
            assert rated(overlap, 1).largest(reverse).overlaps(known)
        found = rated(overlap, "1/10").largest(True)
        assert found.overlaps(-(1 + ((-known).exp() - 1) / 10).log())
        assert found.rad() < 1e-12
    assert rated(NORMALS, "1/10").largest(True).overlaps(-arb("0.9").log())
    assert rated(NORMALS, "1/10").largest(False) == arb("inf")


BETA = rated(Overlap(laws.Beta(2, 3), laws.Beta(3, "3/2")), 1)


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ([(BETA, 2)], [(BETA.exchanged, 2)], 2),
        ([(BETA, 2), (BETA, 2)], [(BETA.exchanged, 4)], 2),
        ([(BETA, 2), (BETA, 2)], [(BETA.exchanged, 2)], 4),
        ([(BETA, 1), (LaplaceLoss(1), 1)], [(LaplaceLoss(1), 1), (BETA.exchanged, 1)], 2),
        ([(BETA, 2), (BETA.exchanged, 1)], [(BETA, 1), (BETA.exchanged, 2)], 2),
        ([(BETA, 1), (PARTS[2], 1)], [(BETA.exchanged, 1), (PARTS[2], 1)], 4),
    ],
)
def test_no_direction_twice_and_none_left_out(one, other, count):
    """Both of each product, by their runs counted: some are those of the other product, turned."""
    found = directions_of([Pair(tuple(runs)) for runs in (one, other)])
    assert len(found) == count


@pytest.mark.parametrize("off", [0.0, 1e-12, 0.5])
@pytest.mark.parametrize("wide", [0.0, 1e-9])
def test_brackets_that_meet(off, wide):
    """Of two with one loss, or two that balls don't tell apart, or a density with a jump there."""
    for x, y in ((0.3, -0.3), (2.0, -0.5), (1.0, 1.0), (-0.7, 0.2)):
        brackets = [(arb(x), arb(1, wide)), (arb(y), arb(1 + off, wide))]
        level, falling = by_parts._joined(brackets)
        for t in (0.1, 3.0, 6.3, 1e4, 1e12):
            size = abs(x + y * cmath.exp(1j * t * off)) / t
            assert float(level.upper()) + float(falling.upper()) / t >= size * (1 - 1e-9)
        assert wide or off or falling <= abs(x + y) * (1 + 1e-12)


def test_a_jump_of_the_loss_is_counted():
    """(3 + sign x) times a normal density over another: L′ = 1, ψ rises up to 0, from there to a.

    So it varies by ψ₋ and by twice its largest value less ψ₊, and both ψ₋ and ψ₊ stand at 0.
    """
    jump = laws.Density("exp(-(x-1)**2/2)*(3+Abs(x)/x)", mass="any")
    part = DensityLoss(DensityPair(Overlap(jump, laws.Density("exp(-x**2/2)", mass="any"))))
    a, whole = 1.5, mpmath.sqrt(mpmath.pi / 2) * (6 + 2 * mpmath.erf(1 / mpmath.sqrt(2)))

    def psi(x, times):
        ratio = times * mpmath.sqrt(2 * mpmath.pi) * mpmath.exp(x - mpmath.mpf(1) / 2) / whole
        return mpmath.npdf(x) * ratio**a

    least = 2 * psi(a, 4) + 2 * psi(0, 2)
    with ctx.workprec(64):
        assert min(float(falling) for _, falling in _ends(part, a)) >= least * (1 - 1e-6)
