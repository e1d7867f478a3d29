"""Runs with rare jumps on a lattice of losses, against closed forms, quadrature and contours."""

import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb, ctx
from hypothesis import assume, given
from hypothesis import strategies as st

from symacct import Gaussian, PoissonSubsample
from symacct.numerics.sums.refine import ball
from symacct.profile.accuracy import accuracy
from symacct.profile.answer import profile
from symacct.profile.discretized import lattice
from symacct.profile.fourier.contours import Contours
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from symacct.profile.runs import DirectedRuns
from tests.thinning import examples

MP = mpmath.mp.clone()
MP.dps = 20


def logs(low, high):
    """Log-uniform fractions of three digits."""
    places = st.floats(math.log10(low), math.log10(high))
    return places.map(lambda x: Fraction(f"{10.0**x:.3g}"))


SIGMAS, RATES = logs(0.4, 300), logs(1e-8, 0.9)


def lattices(runs, reverse):
    return lattice.LossLattices(DirectedRuns(tuple(runs), reverse))


def one_run(sigma, gamma, y, reverse=False):
    """H of (P, Q), or of (Q, P), of one run, in plain mpmath."""
    sigma, gamma = (MP.mpf(x.numerator) / x.denominator for x in (sigma, gamma))
    ratio = MP.expm1(-y if reverse else y) + gamma
    if ratio <= 0:
        return MP.mpf(0) if reverse else -MP.expm1(y)
    x = sigma**2 * MP.log(ratio / gamma) + MP.mpf(1) / 2
    if reverse:
        own = ratio * MP.ncdf(x / sigma) - gamma * MP.ncdf((x - 1) / sigma)
        return MP.exp(y) * own
    return gamma * MP.ncdf((1 - x) / sigma) - ratio * MP.ncdf(-x / sigma)


def two_runs(sigma, gamma, y, reverse):
    """D₂(y) = E_P[D(y − L)], or E_Q[D′(y + L)], by quadrature, and about its error."""
    s, rate = (MP.mpf(x.numerator) / x.denominator for x in (sigma, gamma))

    def integrand(x):
        ratio = 1 - rate + rate * MP.exp((2 * x - 1) / (2 * s**2))
        loss, base = MP.log(ratio), MP.npdf(x, 0, s)
        if reverse:
            return base * one_run(sigma, gamma, y + loss, True)
        return base * ratio * one_run(sigma, gamma, y - loss)

    places = [*(s * i for i in range(-12, 0, 4)), *(s * i for i in range(0, 13, 4))]
    places = sorted({*places, *(1 + place for place in places)})
    return MP.quad(integrand, places, error=True)


def test_what_lies_below_is_below_and_what_lies_above_is_above():
    """B of one run at every node and between nodes, by both bounds of the lattice."""
    part = SampledGaussian(Fraction(1), Fraction(1, 10))
    with ctx.workprec(120):
        first, step, count = lattice.least(part, arb(2) ** -60), arb(2) ** -8, 512
        made = lattice.LossLattice(((part, 1),), (first,), step, count, 100, 80)
        widths = []
        for i in range(4 * count - 8):
            y = first + step * i / 4
            found, true = made._below(y), lattice.value(part, y)
            assert found.overlaps(true), i
            assert found.lower() <= true.upper() + arb(2) ** -70
            assert true.lower() <= found.upper() + arb(2) ** -70
            widths.append(found.rad())
        assert 0 < float(max(widths[: 3 * count])) < 1e-3


@examples(12, 300)
@given(sigma=SIGMAS, gamma=RATES, place=st.floats(0.05, 0.95), reverse=st.booleans())
def test_one_run(sigma, gamma, place, reverse):
    """Log-uniform parameters: the closed form in mpmath lies in what a lattice tells."""
    part = SampledGaussian(sigma**2, gamma)
    end = float(part.largest(True)) if reverse else float(gamma)
    y = place * end
    found = lattices([(part, 1)], reverse)._lattice(y, 512, 3, -10.0)
    with ctx.workprec(found.work):
        ball_of = found.delta(arb(y), reverse)
    true = one_run(sigma, gamma, MP.mpf(y), reverse)
    low, high = (MP.mpf(str(x.str(25, radius=False))) for x in (ball_of.lower(), ball_of.upper()))
    assert low <= true * (1 + MP.mpf(10) ** -20) + MP.mpf(10) ** -22
    assert true <= high * (1 + MP.mpf(10) ** -20) + MP.mpf(10) ** -22


@examples(2, 100)
@given(sigma=SIGMAS, gamma=logs(1e-8, 0.5), log_delta=st.floats(-12, -1), reverse=st.booleans())
def test_two_runs(sigma, gamma, log_delta, reverse):
    """Log-uniform parameters: where D is δ, quadrature in mpmath gives δ on either side."""
    part = SampledGaussian(sigma**2, gamma)
    found = lattices([(part, 2)], reverse)
    apart = float(2 * part.hockey_stick(arb(0), False))
    delta = Fraction(f"{apart * 0.4 * 10.0 ** (log_delta / 2):.3g}")
    root = found.root(delta, 5.0)
    assert accuracy(root) >= 4
    for end, sign in ((root.lower(), 1), (root.upper(), -1)):
        y = MP.mpf(end.str(25, radius=False)) * (1 - sign * MP.mpf(10) ** -15)
        true, error = two_runs(sigma, gamma, y, reverse)
        goal = MP.mpf(delta.numerator) / delta.denominator
        assume(error < goal * 1e-8)
        assert sign * (true - goal) >= -error - goal * MP.mpf(10) ** -9


RARE = [
    (2, 300, "0.01", "1e-5"),
    (2, 20, "0.001", "1e-9"),
    (7, "3/10", "1/10", "1e-5"),
]


@pytest.mark.parametrize(("count", "sigma", "gamma", "delta"), RARE)
def test_rare_jumps_are_answered_by_few_nodes(count, sigma, gamma, delta, monkeypatch):
    """By few cells, where contours take millions of nodes."""
    node = count * PoissonSubsample(Gaussian(sigma), gamma)
    first = profile(node).directions[0]
    monkeypatch.setattr(Contours, "_new", None)  # no contour is summed
    found = first.epsilon(Fraction(delta), 5)
    assert accuracy(found) >= 4
    cells = [made.cells for made in first.lattices._made.values()]
    assert cells
    assert max(cells) <= 2**13


@examples(3, 60)
@given(
    sigma=logs(2, 50),
    gamma=logs(1e-3, 0.3),
    count=st.integers(8, 60),
    log_delta=st.floats(2, 8),
)
def test_contours_agree(sigma, gamma, count, log_delta):
    """At ε(δ) of a lattice of few cells the profile by a contour is δ on either side."""
    node = count * PoissonSubsample(Gaussian(sigma), gamma)
    first = profile(node).directions[0]
    delta = Fraction(f"{float(first.delta(lambda: arb(0), 3).mid()) * 10**-log_delta:.3g}")
    by_contour = first.contours.root(delta, 6.0)
    made = first.lattices._lattice(float(by_contour.mid()), 512, 3.0, math.log(delta))
    with ctx.workprec(made.work):
        found = made.delta(by_contour.mid(), False)
    assert found.lower() <= ball(delta) * (1 + arb(10) ** -3)
    assert ball(delta) * (1 - arb(10) ** -3) <= found.upper()
