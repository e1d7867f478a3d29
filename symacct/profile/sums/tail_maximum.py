"""The largest |F(a+is)| from some s on, where F is known value by value and far away by a bound.

Between two places G(s) = e^{−iμs}F(a+is) is off its chord by at most |G″|d²λ(1−λ)/2, and |G″| <=
E_Q[(L−μ)²e^{aL}] is bounded by three real moments (docs/proofs.md, section 16).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

from symacct.kernel import deadline

_MOST_STEPS = 1200
SHARE = 20

End = tuple[arb, arb]


@dataclass(frozen=True)
class TransformOnLine:
    """|F(a+is)| on one line: `at` bounds a value, `moment` is F(a), `bend` bounds |G″|.

    For every s > 0 it is at most A + C/s, for each (A, C) of `ends`.
    """

    at: Callable[[float], arb]
    moment: arb
    bend: arb
    ends: list[End]

    def largest_beyond(self, start: float) -> arb:
        """An upper bound of it for all s >= start, within a share of what it has fallen there."""
        far = (constant + falling / arb(start) for constant, falling in self.ends)
        return min([self._walked(start), *(x for x in far if x < self.moment)], key=float)

    def _walked(self, start: float) -> arb:
        # A step of d needs |G″|d²/8 <= goal <= F(a): so far, and no farther, can be walked.
        farthest = arb(start) + _MOST_STEPS * (8 * self.moment / self.bend).sqrt()
        if all(constant + falling / farthest > self.moment for constant, falling in self.ends):
            return self.moment
        place, here, step = start, self.at(start), start
        slack = ((self.moment / here).log() / SHARE).expm1().mid()
        goal = here * (1 + slack)
        for _ in range(_MOST_STEPS if slack > 0 else 0):
            deadline.check()
            if any(constant + falling / place <= goal for constant, falling in self.ends):
                return goal.min(self.moment)
            next_place = place + step
            there = self.at(next_place)
            bent = self.bend * (arb(next_place) - arb(place)) ** 2 / 2
            highest = _highest(here, there, bent)
            if not highest <= goal:
                if not bent <= slack * goal:
                    step /= 2
                    continue
                goal = goal.max(highest * (1 + slack))
            place, here, step = next_place, there, 2 * step
        return self.moment


def _highest(here: arb, there: arb, bent: arb) -> arb:
    """An upper bound of (1−λ)·here + λ·there + λ(1−λ)·bent for 0 <= λ <= 1."""
    rise = there - here
    if bent <= abs(rise):
        return here.max(there)
    return (here + (rise + bent) ** 2 / (4 * bent)).max(here).max(there)


def second_moment_bound(moments: list[arb], mean: float, apart: float) -> arb:
    """A bound of E_Q[(L−μ)²e^{aL}] by F(a−h), F(a), F(a+h): h²x² <= e^{hx} + e^{−hx} − 2."""
    below, middle, above = moments
    turn = (arb(mean) * arb(apart)).exp()
    return (below * turn + above / turn - 2 * middle) / arb(apart) ** 2
