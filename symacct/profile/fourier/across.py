"""D(y) = 1 − e^y + e^y D′(−y) by a contour of the same pairs exchanged.

The loss of noise of a small sample jumps rarely, so that M(c) grows fast and small orders are all
there is; R >= 1 − γ, so D′ has moments at every order (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
from flint import arb

from symacct.core.errors import LimitError, PrecisionError
from symacct.core.forking import cached_property
from symacct.profile.fourier import smoothed
from symacct.profile.fourier.contour import Contour
from symacct.profile.fourier.plan import ContourPlan, plan
from symacct.profile.fourier.rough import Rough
from symacct.profile.fourier.shape import Moments
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from symacct.profile.part import short

_MANY = 1000  # nodes, above which fewer may do
_ROOM = 5.0  # times y: a root is looked for up to four


class Across(Contour):
    """A contour of the exchanged pairs, of which nothing is lost either way."""

    def delta(self, y: arb) -> arb:
        """D(y) of the pairs that are not exchanged."""
        return y.exp() * super().delta(-y) - y.expm1()

    @cached_property
    def rough(self) -> Rough:
        """The sum in float64: D(y) = 1 − e^y + Re Σ e^{log_term + (s+1)y}."""
        found = super().rough
        shifts = np.concatenate([-1 - found.shifts, [0, -1]])
        return Rough(shifts, np.concatenate([found.log_terms, [0, math.pi * 1j]]), None)


def planned(
    found: Moments, y: float, log_delta: float, digits: float, two_ways: bool = False
) -> tuple[Moments, ContourPlan]:
    """The moments and the plan of the fewest nodes, of pairs exchanged where others are many."""
    refused: Exception | None = None
    try:
        moments, chosen = smoothed.planned(found, y, log_delta, digits, two_ways)
        if chosen.last <= _MANY:
            return moments, chosen
    except (LimitError, PrecisionError) as error:
        refused = error
    if all(isinstance(part, SampledGaussian) for part, _ in found.runs):
        with suppress(LimitError, PrecisionError):
            log_kept = math.log(-math.expm1(-y)) if y > 0 else -math.inf
            log_other = float(np.logaddexp(log_delta - y, log_kept))
            more = (log_other + y - log_delta) / math.log(10)
            other = _with_room(plan(found.exchanged, -y, log_other, digits + more), found, y)
            if other.taper is None and (refused is not None or other.last < chosen.last):
                return found.exchanged, other
    if refused is not None:
        raise refused
    return moments, chosen


def _with_room(chosen: ContourPlan, found: Moments, y: float) -> ContourPlan:
    """The plan with no alias up to some times y, where the largest loss bounds the step."""
    if chosen.lam < math.inf:
        return chosen
    h = short(2 * math.pi / (found.exchanged.largest + _ROOM * y))
    more = chosen.h / h
    if more <= 1:
        return chosen
    falls = tuple((math.ceil(n * more), fall) for n, fall in chosen.falls)
    return replace(chosen, h=h, last=math.ceil(chosen.last * more), falls=falls)


def contour(found: Moments, chosen: ContourPlan, at: float, plain: Moments) -> Contour:
    """As it was planned for these moments."""
    if found.reverse != plain.reverse:
        return Across(found.factors, chosen, found.reverse, at)
    return smoothed.contour(found, chosen, at, plain)
