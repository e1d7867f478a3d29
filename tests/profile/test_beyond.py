"""The largest |F(a+is)| from some s on, walked along: sound, and given up where no walk arrives."""

import math

import pytest
from flint import arb

from symacct.profile.losses.summed import TransformOnLine


def normal(constant, falling, asked):
    """F(a+is) = e^{−s²/2}, of which |G″| <= 1; it is at most constant + falling/s."""

    def at(s):
        asked.append(s)
        return (-(arb(s) ** 2) / 2).exp()

    return TransformOnLine(at, arb(1), arb(1), [(arb(constant), arb(falling))])


@pytest.mark.parametrize("start", [0.01, 0.3, 1, 3])
def test_it_is_a_bound_within_a_share_of_what_has_fallen(start):
    found = float(normal(0, 1, []).largest_beyond(start).log())
    assert -(start**2) / 2 <= found <= -0.9 * start**2 / 2


@pytest.mark.parametrize("far", [(0, 1e63), (2, 0), (1.5, 1e3)])
def test_a_walk_that_cannot_arrive_is_not_begun(far):
    asked = []
    assert float(normal(*far, asked).largest_beyond(1.0)) == 1
    assert not asked


@pytest.mark.parametrize("start", [0.5, 2.0, 5.0, 40.0])
@pytest.mark.parametrize("moment", ["1", "1e-999", "1e999"])
def test_a_walk_that_would_take_too_many_steps_is_for_a_goal_of_few(start, moment):
    """|F| tends to a share of F(a), where steps are short and A + C/s takes over late."""
    asked, moment, rest = [], arb(moment), 1 / 32

    def at(s):
        asked.append(s)
        return moment * (rest + (1 - rest) * (-(arb(s) ** 2) / 2).exp())

    curve = TransformOnLine(at, moment, moment, [(rest * moment, 16 * moment)])
    found = curve.largest_beyond(start)
    assert at(start) < found < 0.9 * moment
    assert len(asked) < 500


def test_a_revival_is_seen():
    """|cos s| comes back to 1: nothing less is a bound."""
    curve = TransformOnLine(lambda s: abs(arb(math.cos(s))), arb(1), arb(1), [(arb(0), arb(1e3))])
    assert float(curve.largest_beyond(0.5)) > 0.999
