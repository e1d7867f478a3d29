"""Random allocation of any law lies between two: against enumeration, and where all is known."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    DiscreteGaussian,
    DiscreteLaplace,
    DistributionPair,
    Gaussian,
    Laplace,
    PoissonSubsample,
    RandomAllocation,
    Skellam,
)
from symacct.kernel.claims import Kind
from symacct.kernel.errors import PrecisionError
from symacct.laws import Normal
from symacct.profile.grids import Grids, lines_below
from symacct.profile.losses import allocated_law
from symacct.profile.losses.allocated import AllocatedGaussian, AllocatedLaplace
from symacct.profile.losses.allocated_law import AllocatedLaw
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.pairs import products
from symacct.profile.runs import DirectedRuns
from tests.thinning import covering, examples, some

#: Places of a profile, in deviations of the loss.
PLACES = (-1.5, 0.0, 1.0, 3.0)


def value(part, y, reverse, bits=64):
    with ctx.workprec(bits):
        return part.hockey_stick(arb(y), reverse)


# --- one epoch


@pytest.mark.parametrize(
    ("ratio", "steps", "reverse"),
    some(
        [("1/25", 10, False), ("1/4", 2, True), ("1", 1000, True), ("400/121", 2, False)],
        list(
            itertools.product(["1/25", "1/4", "1", "400/121"], [2, 3, 10, 77, 1000], [False, True])
        ),
    ),
)
def test_gaussian_noise_has_its_exact_profile_between_both_laws(ratio, steps, reverse):
    ratio = Fraction(ratio)
    law, exact = AllocatedLaw(GaussianLoss(ratio), steps), AllocatedGaussian(ratio, steps)
    for place in PLACES:
        y = place * math.sqrt(exact.spread)
        true = value(exact, y, reverse, 128)
        assert value(law, y, reverse).overlaps(true)
    assert value(law, 0, reverse).rel_accuracy_bits() > 11


@covering()
@pytest.mark.parametrize("steps", [2, 7, 100])
@pytest.mark.parametrize("shift", ["1/5", "1", "3"])
@pytest.mark.parametrize("reverse", [False, True])
def test_laplace_noise_has_its_exact_profile_between_both_laws(shift, steps, reverse):
    shift = Fraction(shift)
    law, exact = AllocatedLaw(LaplaceLoss(shift), steps), AllocatedLaplace(shift, steps)
    for place in PLACES:
        y = place * math.sqrt(exact.spread)
        true = value(exact, y, reverse, 128)
        assert value(law, y, reverse).overlaps(true)
    assert value(law, 0, reverse).rel_accuracy_bits() > 11


@st.composite
def pairs(draw):
    """Two laws on two to four outcomes, some of which only one of them may have."""
    count = draw(st.integers(2, 4))
    weights = st.lists(st.integers(0, 12), min_size=count, max_size=count).filter(any)
    p, q = ([Fraction(x, sum(each)) for x in each] for each in (draw(weights), draw(weights)))
    kept = tuple((a, b) for a, b in zip(p, q, strict=True) if a or b)
    return kept if any(a and b for a, b in kept) else ((Fraction(1), Fraction(1)),)


@examples(20, 300)
@given(pairs(), st.integers(2, 6), st.sampled_from((-0.7, 0.0, 0.6, 1.5)), st.booleans())
def test_finite_laws_have_the_profile_of_all_outcomes_between_both_laws(masses, steps, y, reverse):
    atoms = Atoms(masses)
    law, exact = AllocatedLaw(atoms, steps), atoms.allocated(steps)
    assert value(law, y, reverse).overlaps(value(exact, y, reverse, 128))
    assert law.mass_at_infinity(reverse) == exact.mass_at_infinity(reverse)
    with ctx.workprec(90):
        assert not law.largest(reverse) < exact.largest(reverse)


def test_a_ratio_next_to_a_node_has_a_share_above_it():
    """E(X − x)₊ of the law above at the node x is that of a ratio 2⁻⁶¹ farther, or more."""
    step, share = 2.0**-6, Fraction(1, 10)
    with mpmath.workdps(60):
        ratio = Fraction(int(mpmath.e * (1 + mpmath.mpf(2) ** -61) * 2**150), 2**150)
    rest = Fraction(1, 2) - share
    atoms = Atoms(
        ((Fraction(1, 2),) * 2, (ratio * share, share), (Fraction(1, 2) - ratio * share, rest))
    )
    with ctx.workprec(200):
        start, (above, _), _ = allocated_law._of_outcomes(
            atoms, 64.0, lambda *_: SimpleNamespace(of=lambda _: step)
        )
    assert start == 0.0
    beyond = above.masses[round(1 / step) - above.first + 1 :].sum()
    assert beyond * math.expm1(step) >= share * 2.0**-61


@pytest.mark.parametrize("step", [2.0**-4, 1.0])
@pytest.mark.parametrize("node", [-3, 0, 2])
def test_what_the_nodes_exceed_one_ratio_by_is_bounded(step, node):
    """(r − r₀)(r₁ − r)/(r₁ − r₀) of the Q-mass at r, the most in the middle of r₀ and r₁."""
    ends = math.exp(step * node), math.exp(step * (node + 1))
    ratio = sum(ends) / 2
    outcomes = allocated_law._Outcomes(np.array([ratio / 8]), np.array([math.log(ratio)]))
    law = outcomes.on_nodes(0.0, 0.0, arb(step))
    exceeds = float(law.masses[1]) * (1 - ratio / ends[1])
    assert exceeds == pytest.approx((ends[1] - ends[0]) / 32, rel=1e-9)
    assert exceeds <= float(law.excess[1]) * (1 + 1e-9)


def enumerated(noise, steps, y, reverse, reach=12):
    """D(y) of an allocation of noise on whole numbers, by its outcomes near 0, in float64."""
    kept = range(-reach, reach + 1)
    p, q = ([float(noise.mass(k - move)) for k in kept] for move in (1, 0))
    total = 0.0
    for every in itertools.product(range(len(kept)), repeat=steps):
        mass = math.prod(q[k] for k in every)
        mean = sum(p[k] / q[k] for k in every) / steps
        total += mass * max(1 - math.exp(y) * mean if reverse else mean - math.exp(y), 0.0)
    return total


class Weights:
    """Noise on whole numbers by its weights, divided by their total."""

    def __init__(self, weight):
        self.weight, self.total = weight, sum(weight(k) for k in range(-80, 81))

    def mass(self, k):
        return self.weight(k) / self.total


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("mechanism", "weight"),
    [
        (DiscreteGaussian(1), lambda k: math.exp(-k * k / 2)),
        (DiscreteGaussian("3/2"), lambda k: math.exp(-k * k / 4.5)),
    ],
)
def test_noise_on_whole_numbers_as_enumerated(mechanism, weight, reverse):
    noise = Weights(weight)
    (product,) = products(RandomAllocation(mechanism, 3))
    for y in (0.0, 0.4):
        found, true = value(product.part, y, reverse), enumerated(noise, 3, y, reverse)
        assert float(found.lower()) <= true + 1e-12
        assert true <= float(found.upper()) + 1e-12


def test_densities_that_are_normal_have_the_profile_of_gaussian_noise():
    pair = DistributionPair(Normal(1, 1), Normal(0, 1), "add_remove", "P")
    exact = RandomAllocation(Gaussian(1), 5).delta("1/2", conversion="exact", digits=12).delta
    found = RandomAllocation(pair, 5).delta("1/2", conversion="exact", digits=3).delta
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper


def test_a_ratio_that_may_be_0_has_a_value_of_1_at_most():
    masses = (Fraction(0), Fraction(1, 4)), (Fraction(1, 2), Fraction(1, 4))
    masses += ((Fraction(1, 2), Fraction(1, 2)),)
    found = value(AllocatedLaw(Atoms(masses), 6), 0.25, True)
    assert found.overlaps(value(Atoms(masses).allocated(6), 0.25, True, 128))
    assert found.upper() < 1 + 1e-6


@pytest.mark.parametrize("reverse", [False, True])
def test_a_loss_beyond_floats_has_a_small_value(reverse):
    masses = (Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 2), Fraction(3, 4))
    found = value(AllocatedLaw(Atoms(masses), 3), 800, reverse)
    assert found.lower() <= 0 <= found.upper() < 1e-12


# --- what is asked of a mechanism


def epsilon(mechanism, delta="1e-6", digits=3):
    return mechanism.epsilon(delta, conversion="exact", digits=digits)


def test_discrete_gaussian_noise_of_a_hundred_steps():
    """Below .79414, what the program of Feldman and Shenfeld (2026) prints."""
    found = epsilon(RandomAllocation(DiscreteGaussian(1), 100))
    assert found.kind is Kind.EXACT
    assert 0.7860 < float(found.epsilon.lower) < float(found.epsilon.upper) < 0.7862


@pytest.mark.parametrize(
    "mechanism",
    [DiscreteGaussian(2), Skellam(4), DiscreteLaplace(2), PoissonSubsample(Gaussian(1), "1/4")],
)
def test_more_steps_and_less_noise_cost_as_they_should(mechanism):
    few, many = (epsilon(RandomAllocation(mechanism, t)) for t in (4, 12))
    assert many.epsilon.upper < few.epsilon.lower
    assert few.epsilon.upper < epsilon(mechanism).epsilon.upper


def test_an_epoch_of_small_noise_is_near_its_density():
    """Discrete Gaussian noise of a large scale is Gaussian noise, up to e^{−2π²σ²}."""
    scale, steps = 6, 20
    noise = DiscreteGaussian(scale, sensitivity=6)
    found, near = (epsilon(RandomAllocation(m, steps)) for m in (noise, Gaussian(scale, 6)))
    assert found.epsilon.lower < near.epsilon.upper * 1.001
    assert near.epsilon.lower < found.epsilon.upper * 1.001


def test_what_is_not_known_to_so_many_digits_is_refused():
    with pytest.raises(PrecisionError, match="known to few digits only, needed fewer"):
        epsilon(RandomAllocation(Skellam(4), 20), digits=12)
    answer = RandomAllocation(Skellam(4), 20).epsilon("1e-6", conversion="exact")
    assert answer.epsilon.digits >= 4


def test_a_tiny_delta_leaves_less_out():
    found, near = (
        epsilon(RandomAllocation(m, 10), "1e-30") for m in (DiscreteGaussian(3, 3), Gaussian(1))
    )
    assert abs(float(found.epsilon.upper / near.epsilon.upper) - 1) < 0.01


def test_an_allocation_of_allocations_is_one_of_all_runs():
    for noise in (Gaussian(1), DiscreteGaussian(2)):
        nested = RandomAllocation(RandomAllocation(noise, 3), 4)
        assert epsilon(nested).epsilon == epsilon(RandomAllocation(noise, 12)).epsilon


# --- several epochs

THREE = Atoms(
    (
        (Fraction(1, 2), Fraction(1, 4)),
        (Fraction(1, 3), Fraction(1, 4)),
        (Fraction(1, 6), Fraction(1, 2)),
    )
)


@pytest.mark.parametrize("steps", [2, 3])
def test_two_epochs_of_finite_laws_are_those_of_all_outcomes(steps):
    exact = THREE.allocated(steps)
    for reverse in (False, True):
        true = value(Atoms.joint([(exact, 2)]), 0.3, reverse, 160)
        found = composed(AllocatedLaw(THREE, steps), 2, 0.3, reverse)
        assert found.overlaps(true)
        assert found.rel_accuracy_bits() > 6


@pytest.mark.parametrize("nodes", [4, 16, 64])
@pytest.mark.parametrize("reverse", [False, True])
def test_epochs_on_wide_grids_are_enclosed(nodes, reverse):
    """Where what a step adds to the law below is more than it is below."""
    true = Atoms.joint([(THREE.allocated(2), 2)])
    for y in (-0.2, 0.05, 0.3, 0.5, 0.7):
        found = composed(AllocatedLaw(THREE, 2), 2, y, reverse, nodes)
        assert found.overlaps(value(true, y, reverse, 160))


def composed(part, count, y, reverse, nodes=2048):
    """D(y) of some runs, by a grid of losses."""
    grids = Grids(DirectedRuns(((part, count),), reverse))
    grid = grids._grid(nodes, 40)
    with ctx.workprec(grid.work):
        return grid.delta(arb(y))


def test_epochs_of_gaussian_noise_in_seconds():
    """Below 7.3645 and 2.1848, what the program of Feldman and Shenfeld (2026) prints."""
    noise = Gaussian("0.55")
    run = 4 * RandomAllocation(noise, 78) + RandomAllocation(noise, 79)
    found = epsilon(run, "1.25e-5", 4).epsilon
    assert 7.3228 < float(found.lower) < float(found.upper) < 7.3236
    found = epsilon(10 * RandomAllocation(Gaussian(2), 10), "1e-5", 4).epsilon
    assert 2.1418 < float(found.lower) < float(found.upper) < 2.1424


def test_epochs_of_other_noise_cost_more_than_one():
    for noise in (Laplace(1), DiscreteGaussian(1)):
        one, two = (epsilon(n * RandomAllocation(noise, 30)) for n in (1, 2))
        assert one.epsilon.upper < two.epsilon.lower


# --- lines below a profile


@pytest.mark.parametrize(
    "part", [GaussianLoss(Fraction(1)), LaplaceLoss(Fraction(1), Fraction(1, 3))]
)
def test_lines_are_nowhere_above_a_profile_and_nearly_it(part):
    with ctx.workprec(200):
        masses = lines_below(part, False, (arb(-4), arb(5)), arb(2) ** -5)
        assert sum((q for _, q in masses), arb(0)).overlaps(arb(1))
        for y in (-3.0, -0.37, 0.0, 0.21):
            true, grown = part.hockey_stick(arb(y), False), arb(y).exp()
            lines = sum(((p - grown * q).max(arb(0)) for p, q in masses), arb(0))
            assert not lines > true
            assert lines > true * (1 - 2.0**-7)


@pytest.mark.parametrize(
    "part", [GaussianLoss(Fraction(1)), LaplaceLoss(Fraction(1), Fraction(1, 3))]
)
@pytest.mark.parametrize("ends", [(-0.5, 5.0), (-4.0, 0.25), (-0.125, 0.25)])
def test_lines_between_near_ends_are_nowhere_above_a_profile(part, ends):
    """Where much of the law is beyond the ends, and a step is wide."""
    with ctx.workprec(100):
        masses = lines_below(part, False, tuple(map(arb, ends)), arb(2) ** -3)
        for j in range(-40, 25):
            y = arb(j) / 32
            lines = sum(((p - y.exp() * q).max(arb(0)) for p, q in masses), arb(0))
            assert not lines > part.hockey_stick(y, False)
