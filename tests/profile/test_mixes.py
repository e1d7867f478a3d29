"""Few runs of several kinds: where they are summed, and values by Fourier transforms of masses."""

import itertools
from fractions import Fraction

import pytest
from flint import arb, ctx

from symacct import LimitError, PrecisionError, parse
from symacct.profile import answer
from symacct.profile.contours import RootBracket, about_log_delta, nearer_root, plan
from symacct.profile.losses.bounded_range import bounded_range
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.runs import Moments
from symacct.profile.solve import CompositionProfile

LAPLACE = (LaplaceLoss(Fraction(1)), 10)
RARE = (SampledGaussian(Fraction(36, 25), Fraction(1, 1000)), 10)
RESPONSE = (Atoms(((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))), 3)

# By NumPy's transforms of the masses of a million cells, moved to the nodes of a grid on both sides
# so that D is a little larger; the steps are 2e-6 and 1e-5.
KNOWN = [
    (
        '10*Laplace(1) + 10*PoissonSubsample(Gaussian("6/5"), "1/1000")',
        "9.99001328085552236122442870957",
        1.000000087e-5,
    ),
    (
        '10*PoissonSubsample(PureDP("1/2"), "1/10") + 10*PoissonSubsample(Gaussian(3), "1/1000")',
        "0.53351738060314004562996349358",
        1.0000000000313e-5,
    ),
    ('3*PureDP("1/2") + 100*PoissonSubsample(Gaussian(3), "1/1000")', "1/2", 0.1530518224),
]


@pytest.mark.parametrize(("text", "epsilon", "known"), KNOWN)
def test_rare_jumps_beside_what_does_not_fall(text, epsilon, known):
    """As many digits of ε as are asked for, and the δ of another method there."""
    m = parse(text)
    found = m.delta(epsilon, digits=12, conversion="exact").delta
    assert known * (1 - 1e-6) < float(found.lower) <= float(found.upper) < known * (1 + 1e-12)


def test_a_line_far_beyond_the_saddle_needs_fewer_nodes():
    """Next to a plateau of the loss, with no more digits: 56,079 at the saddle."""
    assert plan(Moments((LAPLACE, RARE), True), 9.9, -8.9, 31.0).last < 10_000


def test_a_start_where_some_jumps_are_not_rare():
    """One jump alone would make it .99."""
    direction = CompositionProfile((LAPLACE, RARE), False)
    found = direction.epsilon(Fraction(1, 10**5), 6)
    bracket = RootBracket(direction.contours.roughly, Fraction(1, 10**5), 6)
    assert nearer_root(direction.runs, bracket) == pytest.approx(float(found), rel=0.01)


def test_many_losses_together_are_likelier_than_one_or_two():
    """Of large noise: log D is −5446.98 by contours, and one loss alone has −24893.8 of it."""
    runs = ((SampledGaussian(Fraction(10_000), Fraction(7, 500)), 49),)
    assert about_log_delta(Moments(runs, False), 0.11) == pytest.approx(-5447, rel=0.01)


def test_one_loss_of_many_runs_is_likelier_than_several():
    """Of rare ones: log D is −81.08 by contours, and a moment has −42.2 of it."""
    runs = ((SampledGaussian(Fraction(441, 625), Fraction(9, 2_000_000)), 190),)
    assert about_log_delta(Moments(runs, False), 2.4) == pytest.approx(-81.08, abs=0.1)


def test_one_that_is_out_of_reach_may_be_the_smaller():
    one, other = CompositionProfile((LAPLACE,), False), CompositionProfile((LAPLACE,), True)

    def value(direction):
        if direction is one:
            raise LimitError("too much")
        return arb(2)

    assert answer._largest(value, lambda *_: False, [one, other]) == (arb(2), other)
    with pytest.raises(LimitError):
        answer._largest(value, lambda *_: True, [one, other])


@pytest.mark.parametrize("reverse", [False, True])
def test_every_strategy_gives_the_same(reverse):
    """A sum over the outcomes of finite parts beside others, contours of all runs, and a grid."""
    runs = (RESPONSE, (SampledGaussian(Fraction(4), Fraction(1, 10)), 3))
    direction = CompositionProfile(runs, reverse)
    few, beside, *others, _ = direction.strategies
    found = [way.delta(lambda: arb(1) / 2, 12.0) for way in (few, beside, others[0])]
    assert all(value.rel_accuracy_bits() > 36 for value in found)
    found.append(direction.grids.delta(lambda: arb(1) / 2, 3.0))
    with ctx.workprec(128):
        assert all(one.overlaps(other) for one, other in itertools.combinations(found, 2))


def test_the_cheapest_is_asked_and_the_next_where_it_refuses(monkeypatch):
    """Few nodes of all runs; then a sum over outcomes, never more nodes while that answers."""
    monkeypatch.setattr("symacct.profile.solve._FEW_NODES", 10)
    runs = ((SampledGaussian(Fraction(4), Fraction(1, 10)), 3), RESPONSE)
    direction = CompositionProfile(runs, False)
    few, beside, contours, *_ = direction.strategies
    assert few.cost(12) < beside.cost(12) < contours.cost(12)
    assert direction.delta(lambda: arb(1), 12).rel_accuracy_bits() > 36
    assert not direction.contours.known
    with pytest.raises(PrecisionError, match="nodes"):
        few.delta(lambda: arb(1), 12)


def test_many_runs_of_bounded_range_fall_by_themselves():
    """Beside noise that does not: where no contour was found the curve gave .9086 for .7637."""
    m = parse('100*ExponentialMechanism("1/2") + 3*PoissonSubsample(DiscreteGaussian(2), "1/10")')
    few, many = (m.delta(1, digits=d, conversion="exact") for d in (6, 30))
    assert many.conversion == "exact"
    assert few.delta.lower <= many.delta.lower <= many.delta.upper <= few.delta.upper


@pytest.mark.parametrize("t", [0.5, 3.0, 40.0, 1000.0])
def test_where_bounded_range_falls_is_steered_by_what_is_proved(t):
    part = bounded_range(Fraction(1, 2))
    with ctx.workprec(64):
        assert part.log_decay(2.5, t) == pytest.approx(float(part.decay(2.5, t, 0.01)), abs=0.6)
