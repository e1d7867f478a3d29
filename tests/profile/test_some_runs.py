"""Up to some hundreds of runs of Laplace noise of any kinds, on a contour that bends."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import Accountant, Laplace, PoissonSubsample
from symacct.kernel.errors import LimitError
from symacct.profile import few_laplace
from symacct.profile.closed_form import profile
from symacct.profile.few_laplace import LossEnd, Places, ends
from symacct.profile.losses.laplace import LaplaceLoss
from tests.profile.laplace_runs import two_runs
from tests.thinning import covering, examples, in_a_soak

PARTS = [("1/2", "1/10"), ("2", "1/2"), ("1/5", "1/100"), ("5", "1/3")]
KINDS = [*PARTS, ("3/2", "1")]


@covering()
@pytest.mark.parametrize(("shift", "gamma"), KINDS)
@pytest.mark.parametrize("z", [(3, 1), (-2, 40), (1, 700), (-30, 2500), (200, 300)])
def test_the_two_ends_are_the_moment(shift, gamma, z):
    """e^{zL₀}B(z) + e^{zL₁}A(z) = E_Q[R^z], where the series is taken and where 2F1 is."""
    with ctx.workprec(700):
        both = ends(LaplaceLoss(Fraction(shift), Fraction(gamma)))
    with ctx.workprec(200):
        order = acb(*z)
        found = sum(((order * end.loss).exp() * end.at(Places([order]))[0] for end in both), acb(0))
        assert all(abs(end.at(Places([order]))[0]) <= end.most(arb(z[1])) for end in both)
        assert found.overlaps(moment(order, *map(rational, (shift, gamma))))
        assert found.rel_accuracy_bits() > 100


def test_a_panel_s_ellipse_is_no_higher_than_its_bounds_are_for():
    """ρ of foci half a panel away: the float nearest to the golden ratio is above it."""
    with ctx.workprec(200):
        rho = arb(few_laplace._ELLIPSE)
        assert (rho - 1 / rho) / 2 * few_laplace._WIDE < 1


@pytest.mark.skipif(not in_a_soak(), reason="three seconds of one refusal: in a soak")
def test_panels_of_too_many_nodes_are_refused_before_they_are_made():
    noise = [2 * Laplace(250), 40 * PoissonSubsample(Laplace("1/20"), "1/5")]
    with pytest.raises(LimitError, match="44 runs"):
        Accountant(5).delta(
            sum(noise, 2 * PoissonSubsample(Laplace(3), "1/30")), "3.9", conversion="exact"
        )


@examples(5, 2000)
@given(
    st.floats(-9, -0.01).map(lambda x: 1 - 2.0**x) | st.floats(-12, -1).map(lambda x: 2.0**x),
    st.floats(-300, 300),
    st.floats(0.5, 300),
    st.floats(0, 1),
)
@example(0.51, 4.3, 5.6, 1.4)  # coefficients of the fraction cancel more than its values
@example(0.5, 129.0, 1.0, 0.1)  # a thousand terms of the fraction
@example(0.95, 3.0, 1.0, 0.5)  # two thousand of the series
@example(0.01, 100.0, 70.0, 1.0)  # where the series is the shorter
def test_an_end_is_2f1(gap, right, height, length):
    """Σ w_m/(z−m−½), by fraction or by series, is what flint's 2F1 after Euler is, along a row."""
    with ctx.workprec(400):
        share = LossEnd(arb(0), arb(0), arb(1), arb(gap), 1)
        row = [acb(right, height) * (1 + length * n / 2) for n in range(3)]
    with ctx.workprec(100):
        values = share.at(Places(row))
    with ctx.workprec(400 + int(6 * max(abs(right), height) * -math.log1p(-gap))):
        for z, value in zip(row, values, strict=True):
            known = share.gap * acb(1 - share.gap).hypgeom_2f1(acb(1), -z, 1.5 - z) / (z - 0.5)
            assert value.overlaps(known)
            assert (value * z).rad() < 2.0**-60


@pytest.mark.parametrize("size", [0.01, 0.3, 0.6])
@pytest.mark.parametrize("terms", [1, 2, 10])
def test_what_a_series_leaves_out_is_bounded_next_to_0_too(size, terms):
    """Σ 2g^{n+1}(−z)_n/(½)_n from some n on, of terms whose quotient rises where |z| < ½."""
    with ctx.workprec(200):
        z, gap = acb(0, size), arb(0.9)
        bound = abs(LossEnd(arb(0), arb(0), arb(1), gap, 1)._after(Places([z]), terms)).upper()
        sizes, left_out = 2 * gap, arb(0)  # of the terms, one by one
        for n in range(4000):
            left_out += sizes if n >= terms else 0
            sizes *= gap * abs(n - z) / (n + 0.5)
        assert left_out < bound
        assert bound.is_finite()


def rational(text):
    return fmpq(*Fraction(text).as_integer_ratio())


def moment(order, shift, gamma):
    """½R(0)^z + ½e^{−s}R(s)^z + ∫½e^{−x}R(x)^z dx by flint's integration."""
    s, g = arb(shift), arb(gamma)

    def power(x, analytic=False):
        return (-x).exp() * ((1 - g + g * (2 * x - s).exp()).log(analytic) * order).exp() / 2

    inside = acb.integral(lambda x, analytic: power(x, analytic), 0, s)
    return power(acb(0)) + power(acb(s)) + inside


@covering()
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shift", "gamma"), PARTS)
@pytest.mark.parametrize("share", ["1/100", "4/5"])
def test_two_runs(shift, gamma, share, reverse):
    """The real integral of two runs, at places between the atoms and next to the ends."""
    part = LaplaceLoss(Fraction(shift), Fraction(gamma))
    with ctx.workprec(160):
        y = (2 * part.largest(reverse) * arb(Fraction(share).numerator)).mid()
        y = (y / Fraction(share).denominator).mid()
        found, known = few_laplace.some_runs(((part, 2),), reverse, y), two_runs(part, reverse, y)
        assert found.overlaps(known)
        assert found.rel_accuracy_bits() > 70


kinds = st.lists(
    st.tuples(
        st.fractions(Fraction(1, 5), 4, max_denominator=20),
        st.one_of(st.just(Fraction(1)), st.fractions(Fraction(1, 50), 1, max_denominator=50)),
        st.integers(1, 20),
    ),
    min_size=1,
    max_size=3,
)
OF_TWO = [(Fraction(2), Fraction(1, 7), 5), (Fraction(3, 10), Fraction(1), 2)]


def runs_of(drawn):
    return tuple((LaplaceLoss(s, gamma), count) for s, gamma, count in drawn)


def inside(runs, share, reverse):
    """So far from 0 to the largest loss, or to the least, as an exact number."""
    aside = reverse if share > 0 else not reverse
    return (share * sum((k * part.largest(aside) for part, k in runs), arb(0))).mid()


@examples(2, 500)
@given(
    kinds, st.booleans(), st.floats(-0.9, 0.9), st.tuples(st.integers(-2, 2), st.integers(-2, 2))
)
@example([(Fraction(23, 10), Fraction(3, 10), 20)], True, 0.02, (-2, -1))  # a gap of 1e-7 at c + iT
@example([(Fraction(39, 10), Fraction(1, 25), 13)], True, 0.1, (0, 2))
@example(OF_TWO, False, 0.3, (-1, 1))
@example(OF_TWO, True, -0.2, (0, 1))
def test_any_two_paths_agree(drawn, reverse, share, octaves):
    """The digits do not depend on where the path begins, and so not on its panels and rays."""
    runs = runs_of(drawn)
    with ctx.workprec(90):
        y = inside(runs, share, reverse)
        one, other = (
            few_laplace.Path(runs, reverse, 2.0**octave, 90).profile(y) for octave in octaves
        )
        assert one.overlaps(other) or not (one.is_finite() and other.is_finite())


@examples(4, 200)
@given(kinds, st.booleans(), st.floats(-0.9, 0.9), st.data())
@example(OF_TWO, False, 0.3, None)
def test_a_kind_in_two(drawn, reverse, share, data):
    """3 and 2 runs of a kind are 5, though the terms are others and several atoms are one."""
    runs = runs_of(drawn)
    part, count = runs[0]
    first = data.draw(st.integers(0, count)) if data else 3
    apart = (*((part, k) for k in (first, count - first) if k), *runs[1:])
    with ctx.workprec(90):
        y = inside(runs, share, reverse)
        one, other = (few_laplace.some_runs(some, reverse, y) for some in (runs, apart))
        assert one.overlaps(other)
        assert min(one.rel_accuracy_bits(), other.rel_accuracy_bits()) > 10 or one < 2.0**-20


PAIRS = [
    (("1/2", "1/10"), ("2", "1/2")),
    (("5", "1/3"), ("3/2", "1")),
    (("1/3", "1"), ("3/2", "1")),
]


@covering()
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kinds", PAIRS)
@pytest.mark.parametrize("share", ["-1/3", "1/100", "1/3"])
def test_one_run_of_each_of_two(kinds, share, reverse):
    """∫∫ (p₁p₂ − e^y q₁q₂)₊, the inner integral in closed form, the outer one by mpmath."""
    runs = tuple((LaplaceLoss(Fraction(s), Fraction(gamma)), 1) for s, gamma in kinds)
    with ctx.workprec(160):
        y = inside(runs, arb(rational(share)), reverse)
        found = few_laplace.some_runs(runs, reverse, y)
    assert found.rel_accuracy_bits() > 70
    with mpmath.workdps(30):
        known = convolved(*kinds, mpmath.mpf(y.str(60, radius=False)), reverse)
        assert abs(mpmath.mpf(found.str(40, radius=False)) - known) < mpmath.mpf(10) ** -18


def convolved(kind, other, y, reverse):
    """E[D₁(y − L₂)] over the noise of the second, between the places where D₁ bends."""
    (s, gamma), (t, rho) = (
        [mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in one]
        for one in (kind, other)
    )

    def laws(x):
        """What the second's densities are at x, with the sampled record and without it."""
        q = mpmath.exp(-abs(x)) / 2
        return ((1 - rho) * q + rho * mpmath.exp(-abs(x - t)) / 2, q)[:: -1 if reverse else 1]

    def integrand(x):
        p, q = laws(x)
        return p * once(s, gamma, mpmath.exp(y) * q / p, reverse)

    def place(loss):
        """x where the second's log(p/q) is this, if it is anywhere inside."""
        ratio = (mpmath.expm1(-loss if reverse else loss)) / rho + 1
        return (t + mpmath.log(ratio)) / 2 if ratio > 0 else mpmath.mpf(0)

    ends = [
        mpmath.log1p(gamma * mpmath.expm1(sign * s)) * (-1 if reverse else 1) for sign in (-1, 1)
    ]
    bends = sorted(min(max(place(y - loss), 0), t) for loss in ends)
    return mpmath.quad(integrand, [-mpmath.inf, 0, *bends, t, mpmath.inf])


def once(s, gamma, a, reverse):
    """∫ (p − aq)₊ of one run: where p > aq is a half-line, whose masses are those of Laplace."""

    def above(x):
        return 1 - mpmath.exp(x) / 2 if x < 0 else mpmath.exp(-x) / 2

    ratio = 1 / a if reverse else a  # of (mixed, plain): p/q grows with x, else falls
    b = (ratio - 1) / gamma + 1
    if b <= mpmath.exp(-s):
        return mpmath.mpf(0) if reverse else max(1 - a, 0)
    if b >= mpmath.exp(s):
        return max(1 - a, 0) if reverse else mpmath.mpf(0)
    x = (s + mpmath.log(b)) / 2
    mixed, plain = (1 - gamma) * above(x) + gamma * above(x - s), above(x)
    return (1 - plain) - a * (1 - mixed) if reverse else mixed - a * plain


def test_beyond_the_ends():
    part = LaplaceLoss(Fraction(1), Fraction(1, 10))
    runs = ((part, 5),)
    with ctx.workprec(100):
        assert few_laplace.some_runs(runs, False, 5 * part.largest(False) + 1) == 0
        y = -5 * part.largest(True) - 1
        assert few_laplace.some_runs(runs, False, y).overlaps(1 - y.exp())


@pytest.mark.parametrize("reverse", [False, True])
def test_next_to_the_largest_loss(reverse):
    """Hardly more than the atom at the end is left, D >= p^k (1 − e^{y−kL}): the best c is far."""
    part = LaplaceLoss(Fraction(5, 19), Fraction(1, 1000))
    with ctx.workprec(160):
        y = (5 * part.largest(reverse) * (1 - arb(2) ** -20)).mid()
        found = few_laplace.some_runs(((part, 5),), reverse, y)
        s, g = arb(5) / 19, arb(1) / 1000
        mass = arb(0.5) if reverse else ((1 - g) * (-s).exp() + g) / 2
        exact = -(mass**5) * (y - 5 * part.largest(reverse)).expm1()
        assert 0 < found / exact - 1 < arb(2) ** -18


@pytest.mark.parametrize("knot", [-2, 0, 2])
def test_on_an_atom(knot):
    """Of runs that are not sampled, whose closed form knows of no rays; one kind, and in two."""
    part = LaplaceLoss(Fraction(3, 2))
    with ctx.workprec(100):
        y = arb(3) / 2 * knot
        known = profile(((part.shift, 4),), 0, y)
        for runs in (((part, 4),), ((part, 1), (part, 3))):
            found = few_laplace.some_runs(runs, False, y)
            assert found.overlaps(known)
            assert found.rel_accuracy_bits() > 60


def test_about_an_atom():
    """Where balls do not tell on which side of it y is, D is between what it is a bit away."""
    runs = runs_of([(Fraction(1), Fraction(1, 10), 3), (Fraction(1, 2), Fraction(1), 1)])
    with ctx.workprec(100):
        low, high = -runs[0][0].largest(True), runs[0][0].largest(False)
        y, away = low + 2 * high + arb(1) / 2, arb(2) ** -40
        found = few_laplace.some_runs(runs, False, y)
        assert found.rel_accuracy_bits() > 60
        above, below = (few_laplace.some_runs(runs, False, (y + x).mid()) for x in (-away, away))
        assert below < found < above
        wide = arb((y + away / 3).mid(), away)
        found = few_laplace.some_runs(runs, False, wide)
        assert found.rel_accuracy_bits() > 25  # D changes by at most 2^−39
        assert all(
            found.overlaps(few_laplace.some_runs(runs, False, x))
            for x in (wide.lower(), wide.upper())
        )


RUNS = [
    [(3, "2", "1/10")],
    [(10, "31/5", "1/10")],
    [(40, "1", "1/2")],
    [(300, "2", "1/100")],
    [(5, "13/2", "1/7"), (5, "3/2", "1/2")],
    [(3, "9/2", "1"), (2, "27/10", "1/30"), (2, "39/5", "1/30")],
]


@covering()
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kinds", RUNS)
def test_between_losses_rounded_down_and_up(kinds, reverse):
    """The law of the loss on a grid, the runs by the fast Fourier transform in float64."""
    runs = tuple((LaplaceLoss(1 / Fraction(b), Fraction(gamma)), k) for k, b, gamma in kinds)
    with ctx.workprec(160):
        y = inside(runs, arb(1) / 5, reverse)
        found = few_laplace.some_runs(runs, reverse, y)
    assert found.rel_accuracy_bits() > 70
    low, high = (on_a_grid(runs, reverse, float(y), up) for up in (False, True))
    assert low - 1e-11 <= float(found) <= high + 1e-11
    assert high - low < 0.3 * high


def on_a_grid(runs, reverse, y, up):
    """Σ (1 − e^{y−l}) over the grid, all losses rounded up or all down."""
    size = 2**18
    floats = [(float(part.shift), float(part.gamma), k) for part, k in runs]
    widths = [np.ptp(np.log1p(g * np.expm1([-s, s]))) * k for s, g, k in floats]
    step, start, law = sum(widths) / size * 1.001, 0, 1
    for s, g, count in floats:
        places, weights = of_one_run(s, g, reverse, up, step)
        one = np.bincount(places % size, weights, size)
        law = law * np.fft.rfft(one) ** count
        start += count * int(places.min())
    losses = step * (start + (np.arange(size) - start) % size)
    return float((np.fft.irfft(law, size) * np.maximum(-np.expm1(y - losses), 0)).sum())


def of_one_run(s, g, reverse, up, step):
    """Numbers of steps, and what the law of the loss has there."""
    places = np.linspace(0, s, 2**18 + 1)
    cells = -np.diff(np.exp(-places)) / 2
    losses = np.log1p(g * np.expm1(2 * places - s))
    # A cell of the noise has all its losses between those at its two ends.
    q = np.concatenate([[0.5], cells, [np.exp(-s) / 2]])
    low = np.concatenate([[losses[0]], losses[:-1], [losses[-1]]])
    high = np.concatenate([[losses[0]], losses[1:], [losses[-1]]])
    mixed = cells * (1 - g) + g * np.diff(np.exp(places - s)) / 2
    first = (1 - g) / 2 + g * np.exp(-s) / 2
    p = np.concatenate([[first], mixed, [(1 - g) * np.exp(-s) / 2 + g / 2]])
    taken, weights = (high if up else low, p) if not reverse else (-low if up else -high, q)
    return (np.ceil if up else np.floor)(taken / step + (-1e-9 if up else 1e-9)).astype(
        int
    ), weights


def test_the_answer_at_thirty_digits():
    """10 runs of Laplace(31/5) at 1/10: δ(ε(δ)) = δ, and the bound from the curve above it."""
    m = 10 * PoissonSubsample(Laplace("31/5"), "1/10")
    accountant = Accountant(30)
    found = accountant.epsilon(m, "1e-5", "exact")
    assert len(str(found.epsilon)) == 32
    assert found.epsilon.upper < accountant.epsilon(m, "1e-5", "improved").epsilon.lower
