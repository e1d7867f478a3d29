"""Three to some hundreds of runs of sampled Laplace noise, on a contour that bends."""

from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import Accountant, Laplace, PoissonSubsample
from symacct.profile import bent
from symacct.profile.laplace import LaplaceLoss
from symacct.profile.two_runs import two_runs
from tests.thinning import covering, examples

PARTS = [("1/2", "1/10"), ("2", "1/2"), ("1/5", "1/100"), ("5", "1/3")]


@pytest.mark.parametrize(("shift", "gamma"), PARTS)
@pytest.mark.parametrize("z", [(3, 1), (-2, 40), (1, 700), (-30, 2500), (200, 300)])
def test_the_two_ends_are_the_moment(shift, gamma, z):
    """e^{zL₀}B(z) + e^{zL₁}A(z) = E_Q[R^z], where the series is taken and where 2F1 is."""
    with ctx.workprec(700):
        ends = bent.ends(LaplaceLoss(Fraction(shift), Fraction(gamma)))
    with ctx.workprec(200):
        order = acb(*z)
        found = sum(((order * end.loss).exp() * end.at(order) for end in ends), acb(0))
        assert all(abs(end.at(order)) <= end.most(arb(z[1])) for end in ends)
        assert found.overlaps(moment(order, *map(rational, (shift, gamma))))
        assert found.rel_accuracy_bits() > 100


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
        found, known = bent.some_runs(part, 2, reverse, y), two_runs(part, reverse, y)
        assert found.overlaps(known)
        assert found.rel_accuracy_bits() > 70


@examples(6, 500)
@given(
    st.fractions(Fraction(1, 5), 4, max_denominator=20),
    st.fractions(Fraction(1, 50), 1, max_denominator=50),
    st.integers(2, 40),
    st.booleans(),
    st.floats(-0.9, 0.9),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
)
@example(Fraction(23, 10), Fraction(3, 10), 20, True, 0.02, (-2, -1))  # a gap of 1e-7 at c + iT
@example(Fraction(39, 10), Fraction(1, 25), 13, True, 0.1, (0, 2))
def test_any_two_paths_agree(s, gamma, count, reverse, share, octaves):
    """The digits do not depend on where the path begins, and so not on its panels and rays."""
    part = LaplaceLoss(s, gamma)
    with ctx.workprec(90):
        y = (share * count * part.largest(reverse if share > 0 else not reverse)).mid()
        one, other = (
            bent.Path(part, count, reverse, 2.0**octave, 90).profile(y) for octave in octaves
        )
        assert one.overlaps(other) or not (one.is_finite() and other.is_finite())


def test_beyond_the_ends():
    part = LaplaceLoss(Fraction(1), Fraction(1, 10))
    with ctx.workprec(100):
        assert bent.some_runs(part, 5, False, 5 * part.largest(False) + 1) == 0
        y = -5 * part.largest(True) - 1
        assert bent.some_runs(part, 5, False, y).overlaps(1 - y.exp())


@pytest.mark.parametrize("reverse", [False, True])
def test_next_to_the_largest_loss(reverse):
    """Hardly more than the atom at the end is left, D >= p^k (1 − e^{y−kL}): the best c is far."""
    part = LaplaceLoss(Fraction(5, 19), Fraction(1, 1000))
    with ctx.workprec(160):
        y = (5 * part.largest(reverse) * (1 - arb(2) ** -20)).mid()
        found = bent.some_runs(part, 5, reverse, y)
        s, g = arb(5) / 19, arb(1) / 1000
        mass = arb(0.5) if reverse else ((1 - g) * (-s).exp() + g) / 2
        exact = -(mass**5) * (y - 5 * part.largest(reverse)).expm1()
        assert 0 < found / exact - 1 < arb(2) ** -18


def test_on_an_atom_nothing_is_said():
    """Which ray its term belongs to is not decided in balls."""
    part = LaplaceLoss(Fraction(1), Fraction(1, 10))
    with ctx.workprec(100):
        low, high = -part.largest(True), part.largest(False)
        assert not bent.some_runs(part, 3, False, low + 2 * high).is_finite()


RUNS = [(3, "2", "1/10"), (10, "31/5", "1/10"), (40, "1", "1/2"), (300, "2", "1/100")]


@covering()
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("count", "scale", "gamma"), RUNS)
def test_between_losses_rounded_down_and_up(count, scale, gamma, reverse):
    """The law of the loss on a grid, the runs by the fast Fourier transform in float64."""
    s, g = float(1 / Fraction(scale)), float(Fraction(gamma))
    part = LaplaceLoss(1 / Fraction(scale), Fraction(gamma))
    with ctx.workprec(160):
        y = (count * part.largest(reverse) / 5).mid()
        found = bent.some_runs(part, count, reverse, y)
    assert found.rel_accuracy_bits() > 70
    low, high = (on_a_grid(s, g, count, reverse, float(y), up) for up in (False, True))
    assert low - 1e-11 <= float(found) <= high + 1e-11
    assert high - low < 0.3 * high


def on_a_grid(s, g, count, reverse, y, up):
    """Σ (1 − e^{y−l}) over the grid, all losses rounded up or all down."""
    ends = np.log1p(g * np.expm1([-s, s]))
    places, size = np.linspace(0, s, 2**19 + 1), 2**18
    step = (ends[1] - ends[0]) * count / size * 1.001
    cells = -np.diff(np.exp(-places)) / 2
    losses = np.log1p(g * np.expm1(2 * places - s))
    # A cell of the noise has all its losses between those at its two ends.
    q = np.concatenate([[0.5], cells, [np.exp(-s) / 2]])
    low = np.concatenate([[losses[0]], losses[:-1], [losses[-1]]])
    high = np.concatenate([[losses[0]], losses[1:], [losses[-1]]])
    mixed = -np.diff(np.exp(-places)) / 2 * (1 - g) + g * np.diff(np.exp(places - s)) / 2
    first = (1 - g) / 2 + g * np.exp(-s) / 2
    p = np.concatenate([[first], mixed, [(1 - g) * np.exp(-s) / 2 + g / 2]])
    taken, weights = (high if up else low, p) if not reverse else (-low if up else -high, q)
    places = (np.ceil if up else np.floor)(taken / step + (-1e-9 if up else 1e-9)).astype(int)
    law = np.zeros(size)
    np.add.at(law, places % size, weights)
    total = np.fft.irfft(np.fft.rfft(law) ** count, size)
    index = np.arange(size)
    start = count * int(places.min())
    losses = step * (start + (index - start) % size)
    return float((total * np.maximum(-np.expm1(y - losses), 0)).sum())


def test_the_answer_at_thirty_digits():
    """10 runs of Laplace(31/5) at 1/10: δ(ε(δ)) = δ, and the bound from the curve above it."""
    m = 10 * PoissonSubsample(Laplace("31/5"), "1/10")
    accountant = Accountant(30)
    found = accountant.epsilon(m, "1e-5", "exact")
    assert len(str(found.epsilon)) == 32
    assert found.epsilon.upper < accountant.epsilon(m, "1e-5").epsilon.lower
