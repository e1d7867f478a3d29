"""The true (ε, δ) of random allocation of Laplace noise: by quadrature, FFT, and two contours."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from symacct import AssumptionError, Kind, Laplace, PoissonSubsample, RandomAllocation
from symacct.analysis.laplace_sums import Bent, LaplaceRatio, Straight
from symacct.profile.losses.allocated import AllocatedLaplace
from symacct.profile.losses.laplace import LaplaceLoss
from tests import independent
from tests.profile.laws import contains
from tests.support import holds
from tests.thinning import covering

MP = independent.context(30)


def sticks(shift, steps, y, bits=160):
    """D(y) of a record removed, and of one added."""
    with ctx.workprec(bits):
        part, place = AllocatedLaplace(Fraction(shift), steps), arb(y.numerator) / y.denominator
        return [part.hockey_stick(place, reverse) for reverse in (False, True)]


def put(place, s):
    """E(k − W)₊ of one ratio, in closed form."""
    low, high = MP.exp(-s), MP.exp(s)
    if place <= low:
        return MP.mpf(0)
    roots = MP.sqrt(low), MP.sqrt(min(place, high))
    between = place * (1 / roots[0] - 1 / roots[1]) - (roots[1] - roots[0])
    return (
        (place - low) / 2
        + MP.exp(-s / 2) / 2 * between
        + max(place - high, MP.mpf(0)) * MP.exp(-s) / 2
    )


CASES = [("1", "1/10"), ("1", "19/20"), ("1/10", "1/20"), ("3", "1"), ("3", "29/10"), ("8", "6")]


@covering(lambda shift, y: {shift == "1"})
@pytest.mark.parametrize(("shift", "y"), CASES)
def test_two_steps_by_quadrature(shift, y):
    """E(K − W₁ − W₂)₊ by the second one's closed form, integrated over the first."""
    s, at = independent.number(MP, Fraction(shift)), independent.number(MP, Fraction(y))
    low, high = MP.exp(-s), MP.exp(s)

    def shortfall(place):
        corners = [low, *sorted(x for x in (place - low, place - high) if low < x < high), high]
        between = MP.quad(
            lambda x: MP.exp(-s / 2 - x / 2) / 4 * put(place - MP.exp(x), s),
            [MP.log(x) for x in corners],
        )
        return between + put(place - low, s) / 2 + put(place - high, s) * low / 2

    removed = (shortfall(2 * MP.exp(at)) - 2 * MP.expm1(at)) / 2
    added = MP.exp(at) * shortfall(2 * MP.exp(-at)) / 2
    for found, value in zip(sticks(shift, 2, Fraction(y)), (removed, added), strict=True):
        assert contains(found, value, 15)
        assert found.rel_accuracy_bits() > 110


@pytest.mark.parametrize("shift", ["1/3", "2"])
def test_one_step_is_laplace_noise(shift):
    for y in (Fraction(1, 4), Fraction(1, 7), -Fraction(1, 4)):
        with ctx.workprec(120):
            place = arb(y.numerator) / y.denominator
            plain = LaplaceLoss(Fraction(shift)).hockey_stick(place, False) if y > 0 else None
            up, down = (
                AllocatedLaplace(Fraction(shift), 1).hockey_stick(place, way)
                for way in (False, True)
            )
        assert up.overlaps(down)
        assert plain is None or up.overlaps(plain)
        assert up.rel_accuracy_bits() > 80


@pytest.mark.parametrize(("shift", "steps", "ys"), [(1, 8, (0.2, 0.6)), (2, 16, (0.3, 1.1))])
def test_more_steps_by_convolution(shift, steps, ys):
    """The law of S on a grid, each W on the two places next to it, in float64."""
    step, low, high = 1 / 2048, math.exp(-shift), math.exp(shift)
    places = low + step * np.arange(math.ceil((high - low) / step) + 2)
    ends = np.minimum(places, high)
    # ∫ of the density ¼e^{−s/2}w^{−3/2}, and of w times it, between two places
    mass = np.diff(-np.sqrt(1 / ends)) * math.exp(-shift / 2) / 2
    mean = np.diff(np.sqrt(ends)) * math.exp(-shift / 2) / 2
    law = np.zeros(places.size)
    law[:-1] += (mass * places[1:] - mean) / step
    law[1:] += (mean - mass * places[:-1]) / step
    law[0] += 0.5
    last = int((high - low) / step)
    part = (high - places[last]) / step
    law[last : last + 2] += np.array([1 - part, part]) * math.exp(-shift) / 2
    size = 2 ** math.ceil(math.log2(steps * places.size))
    total = np.fft.irfft(np.fft.rfft(law, size) ** steps)
    sums = steps * low + step * np.arange(size)
    for y in ys:
        removed = float(np.sum(total * np.maximum(sums - steps * math.exp(y), 0))) / steps
        rest = steps * math.exp(-y)
        added = math.exp(y) * float(np.sum(total * np.maximum(rest - sums, 0))) / steps
        found = sticks(shift, steps, Fraction(y))
        # Each of the W has at most step²/4 of variance more, and S a density of at most about 1.
        assert -1e-12 < removed - float(found[0]) < step**2
        assert -1e-12 < added - float(found[1]) < step**2 * math.exp(y)
        assert min(removed, added) > 50 * step**2


@covering(lambda shift, steps: {shift == "1"})
@pytest.mark.parametrize(("shift", "steps"), [("1", 200), ("1", 1000), ("3", 300), ("1/3", 1000)])
def test_a_line_and_a_hyperbola_agree(shift, steps):
    with ctx.workprec(120):
        ratio = LaplaceRatio(Fraction(shift))
        spread = float((ratio.variance * steps).sqrt())
        for place in (steps - 3 * spread, steps + spread / 2, steps + 4 * spread):
            log_error = math.log(spread) - 30
            line = Straight(ratio, steps, arb(place), log_error).value(arb(place))
            bent = Bent(ratio, steps, arb(place), log_error).value(arb(place))
            assert line.overlaps(bent)
            assert max(line.rad(), bent.rad()) < 1e-12 * spread


def test_the_answer_is_exact_and_the_larger_direction():
    m = RandomAllocation(Laplace(1), 1000)
    found = m.epsilon("1e-6", 12, conversion="exact")
    assert found.kind is Kind.EXACT
    assert str(found.epsilon.upper)[:10] == "0.11047356"
    assert found.epsilon < m.epsilon("1e-6", conversion="improved").epsilon
    with ctx.workprec(100):
        y = arb(str(found.epsilon.upper))
        part = AllocatedLaplace(Fraction(1), 1000)
        removed, added = (part.hockey_stick(y, way) for way in (False, True))
    assert added > removed
    assert abs(added / arb("1e-6") - 1) < 1e-9
    assert holds(m.delta(found.epsilon.upper, 8, conversion="exact").delta, MP.mpf("1e-6"), 7, 8)
    assert m.epsilon(0, conversion="exact").epsilon.upper == 1
    assert m.delta(1, conversion="exact").delta.upper == 0


def test_an_epsilon_next_to_the_largest_loss():
    """Of two steps D is about proportional to what is left to 1."""
    found = RandomAllocation(Laplace(1), 2).epsilon("1e-6", 8, conversion="exact").epsilon
    assert 1 - 5e-6 < found.lower < found.upper < 1
    removed, added = sticks("1", 2, independent.fraction(found.upper))
    assert max(float(removed), float(added)) <= 1e-6 * (1 + 1e-6)


def test_samples_of_nearly_all_records_cost_as_all():
    one, near = (
        RandomAllocation(m, 5).epsilon("1e-3", conversion="exact", digits=3).epsilon
        for m in (Laplace(2), PoissonSubsample(Laplace(2), "999999/1000000"))
    )
    assert near.lower < one.upper < near.upper * 1.001


def test_several_mechanisms_in_a_run_are_refused():
    with pytest.raises(AssumptionError, match="several mechanisms in one run"):
        RandomAllocation(2 * Laplace(2), 5).epsilon("1e-3", conversion="exact")


def test_next_to_the_ends_there_is_hardly_anything():
    """0 <= D <= s − y, which is all that is told there."""
    with ctx.workprec(64):
        for y in (1 - arb(2) ** -60, arb(1), arb(3)):
            for way in (False, True):
                found = AllocatedLaplace(Fraction(1), 5).hockey_stick(y, way)
                assert 0 <= found.upper() < 1e-15
