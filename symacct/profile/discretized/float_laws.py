"""Runs of a loss laid on a grid in float64, by its law in floats or else in balls."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from flint import arb, ctx

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import float_above
from symacct.profile.discretized.discretize import laws_of
from symacct.profile.float_laws import BITS, FloatLaw, nodes
from symacct.profile.part import Part

_OUTCOMES = 2**9  # steps that a law of the others is laid for


def laid(
    part: Part, runs: int, reverse: bool, step: float, rare: float
) -> Iterator[tuple[FloatLaw, int]]:
    """The laws of some runs of a part, and how often each is run; about `rare` is beyond each."""
    law = part.in_floats(reverse, rare)
    if law is None:
        yield from _in_balls(part, runs, reverse, step, rare)
    else:
        yield law.on_nodes(step, rare), runs


def _in_balls(
    part: Part, runs: int, reverse: bool, step: float, rare: float
) -> Iterator[tuple[FloatLaw, int]]:
    with ctx.workprec(BITS):
        lost = float_above(BALL.number(part.mass_at_infinity(reverse)))
        for law in laws_of(part, runs, reverse, -math.log(rare), _OUTCOMES):
            low, high = (float(end.mid()) for end in law.ends)
            nodes(low, high, step)
            found = law.laid(arb(step))
            masses = np.array([max(0.0, float_above(x)) for x in found.masses])
            # What one group of runs loses is at most what all runs together lose.
            short = float_above(found.left_out) + runs * lost
            yield FloatLaw(found.first, masses, short), law.runs
