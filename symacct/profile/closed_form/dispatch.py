"""Profiles that need no contour: of no run, of one, and of finite laws however often they are run.

Of one run in closed form; of finite laws as a sum over how often each outcome occurs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial

from flint import arb, ctx

from symacct.arithmetic import BALL
from symacct.core import limits
from symacct.profile.closed_form.binomial import profile_for
from symacct.profile.closed_form.discrete_gaussian import several_runs
from symacct.profile.closed_form.few_laplace import some_runs
from symacct.profile.closed_form.one_lattice import (
    lattice_profile,
    on_one_lattice,
    unsampled_gaussian,
)
from symacct.profile.closed_form.sides import ways
from symacct.profile.closed_form.two_runs import two_runs
from symacct.profile.losses.density.bounded_range import BoundedRange
from symacct.profile.losses.density.bounded_range import several_runs as runs_of_range
from symacct.profile.losses.finite import Atoms, counted
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.losses.laplace import LaplaceLoss, few_runs
from symacct.profile.part import Part
from symacct.profile.roots import Value

_SUMMED = 2000  # outcomes of all runs, up to which they are summed one by one
_SUMMED_BESIDE = 100_000  # times the square of the others' runs
_FEW_RUNS = 100  # of Laplace noise, a quadratic number of terms; of bounded range, their digits
_SOME_RUNS = 300  # of all Laplace noise, beyond which its moments fall by themselves
_WAYS = 1000  # of several kinds of it
_FEW_INTEGERS, _SUMMED_ALONE = 4, 20_000  # runs of noise on whole numbers, and outcomes of them
_USUAL = 100.0  # nats, for their number
_EXACT_RUNS = 1000  # for which what is lost is worked out as a fraction

Runs = Sequence[tuple[Part, int]]
Finite = tuple[tuple[Atoms, int], ...]


def closed_form(runs: Runs, reverse: bool) -> Value | None:
    """D(y) as a function of y at flint's current precision; None where only a contour gives it."""
    if not runs:
        return lambda y: arb(0)
    if len(runs) == 1 and runs[0][1] == 1:
        return partial(runs[0][0].hockey_stick, reverse=reverse)
    (part, count), *more = runs
    if isinstance(part, LaplaceLoss) and part.gamma == 1 and not more and count <= _FEW_RUNS:
        return partial(few_runs, part.shift, count)
    if isinstance(part, BoundedRange) and not more and count <= _FEW_RUNS:
        return partial(runs_of_range, part.pure, count)
    if on_one_lattice(tuple(runs)) and not isinstance(part, Atoms):
        return partial(lattice_profile, tuple(runs), reverse)
    if not more and (gaussian := unsampled_gaussian(part)) is not None:
        return partial(several_runs, gaussian, count)
    if isinstance(part, LaplaceLoss) and not more and count == 2:
        return partial(two_runs, part, reverse)
    if noise := _some_laplace(runs):
        return partial(some_runs, noise, reverse)
    finite, others = apart(runs)
    if not others and _are_within_limit(finite):
        return partial(_finite, finite, reverse)
    if on_one_lattice(tuple(runs)):
        return partial(lattice_profile, tuple(runs), reverse)
    if others and (integers := _some_integers(runs)):
        return partial(_integers, integers, reverse)
    return None


def _some_integers(runs: Runs) -> tuple[tuple[IntegerLoss, int], ...]:
    """All runs, where they are noise on whole numbers and its outcomes few; else none."""
    noise = tuple((part, k) for part, k in runs if isinstance(part, IntegerLoss))
    if len(noise) < len(runs) or sum(k for _, k in noise) > _FEW_INTEGERS:
        return ()
    own = ((len(part.noise.outcomes(0.0, 1.0, _USUAL)), k) for part, k in noise)
    return noise if math.prod(math.comb(n + k - 1, k) for n, k in own) <= _SUMMED_ALONE else ()


def _integers(runs: tuple[tuple[IntegerLoss, int], ...], reverse: bool, y: arb) -> arb:
    """Σ (p − e^y q)₊ over the outcomes of all runs that count; the others have less P-mass."""
    every, left_out = _every(runs, reverse, ctx.prec)
    grown, zero = y.exp(), arb(0)
    return sum(((p - grown * q).max(zero) for p, q in every), zero.union(left_out))


@lru_cache(8)
def _every(
    runs: tuple[tuple[IntegerLoss, int], ...], reverse: bool, bits: int
) -> tuple[list[tuple[arb, arb]], arb]:
    """(p, q) of every combination, for every y at this precision, and what is left out."""
    found, left_out = [(arb(1), arb(1))], arb(0)
    for part, k in runs:
        known, rest = part.known(reverse, bits * math.log(2))
        left_out += k * rest
        own = counted([(p, q) for p, q, _ in known], k)
        found = [(p * u, q * v) for p, q in found for u, v in own]
    return found, left_out


def apart(runs: Runs) -> tuple[Finite, tuple[tuple[Part, int], ...]]:
    """The finite parts, and the others."""
    finite = tuple((part, k) for part, k in runs if isinstance(part, Atoms))
    return finite, tuple((part, k) for part, k in runs if not isinstance(part, Atoms))


def are_few(runs: Finite, others: Runs = ()) -> bool:
    """Are the outcomes of all runs so few that they are taken one by one?

    Beside others, whose runs cost their square: of many the moments fall by themselves. Not those
    of discrete Gaussian noise alone, which are summed in closed form.
    """
    outcomes = math.prod(part.outcomes(k) for part, k in runs)
    is_one = len(others) == 1 and unsampled_gaussian(others[0][0]) is not None
    is_closed = is_one or on_one_lattice(tuple(others))
    count = 0 if is_closed else sum(k for _, k in others)
    return outcomes <= _SUMMED and outcomes * count**2 <= _SUMMED_BESIDE


def given(runs: Finite, rest: Value, reverse: bool, y: arb) -> arb:
    """P(ℓ = ∞) + Σ p D(y − ℓ) over the outcomes of finite parts beside others of profile D.

    The places are known to more bits, as D may fall by many orders of magnitude.
    """
    with ctx.workprec(2 * ctx.prec):
        places = [(p, y - loss) for p, loss in _weighed(runs, reverse, ctx.prec)]
    return chance_lost(runs, reverse) + sum((p * rest(at) for p, at in places), arb(0))


def _some_laplace(runs: Runs) -> tuple[tuple[LaplaceLoss, int], ...]:
    """All runs, what is run most often last, where they are Laplace noise and few; else none."""
    noise = [(part, k) for part, k in runs if isinstance(part, LaplaceLoss)]
    counts = [k for _, k in noise]
    if len(noise) < len(runs) or sum(counts) > _SOME_RUNS or ways(counts) > _WAYS:
        return ()
    return tuple(sorted(noise, key=lambda run: run[1]))


def _are_within_limit(runs: Finite) -> bool:
    """May the outcomes be taken one by one? Of more there are contours and grids."""
    binary = _most_run(runs)
    found = math.prod(part.outcomes(k) for part, k in runs if (part, k) != binary)
    return found <= limits.current().outcomes


def _most_run(runs: Finite) -> tuple[Atoms, int] | None:
    """The binary part that is run most often."""
    return max((run for run in runs if run[0].is_binary), key=lambda run: run[1], default=None)


def _finite(runs: Finite, reverse: bool, y: arb) -> arb:
    """Σ (p − e^y q)₊ over the outcomes of all runs by counts, one binary part in closed form."""
    binary = _most_run(runs)
    if binary is None or are_few(runs):
        every = _outcomes(runs, reverse)
        grown, zero = y.exp(), arb(0)
        return chance_lost(runs, reverse) + sum(((p - grown * q).max(zero) for p, q in every), zero)
    rest = tuple(run for run in runs if run is not binary)
    profile = profile_for(*binary, reverse, math.prod(part.outcomes(k) for part, k in rest))
    certain = chance_lost((binary,), reverse)
    return given(rest, lambda x: certain + profile(x), reverse, y)


@lru_cache(8)
def _weighed(runs: Finite, reverse: bool, bits: int) -> list[tuple[arb, arb]]:
    """(p, log(p/q)) of every outcome of these, for every y at this precision."""
    return [(p, (p / q).log()) for p, q in _outcomes(runs, reverse)]


def _outcomes(runs: Finite, reverse: bool) -> list[tuple[arb, arb]]:
    """(p, q) of every combination of counts that both laws have."""
    found = [(arb(1), arb(1))]
    for part, k in runs:
        own = counted(part.common(reverse), k)
        found = [(p * u, q * v) for p, q in found for u, v in own]
    return found


def chance_lost(runs: Runs, reverse: bool) -> arb:
    """P(L = ∞) = 1 − Π (1 − d_i)^{k_i}."""
    kept = (k * (-BALL.number(part.lost(reverse))).log1p() for part, k in runs)
    return -sum(kept, arb(0)).expm1()


def exactly_lost(runs: Runs, reverse: bool) -> Fraction | None:
    """The probability of an infinite loss as a fraction, where known and not too long."""
    losing = [(part.lost(reverse), k) for part, k in runs]
    losing = [(lost, k) for lost, k in losing if lost != 0]
    if any(lost == 1 for lost, _ in losing):
        return Fraction(1)
    if sum(k for _, k in losing) > _EXACT_RUNS:
        return None
    if not all(isinstance(lost, Fraction) for lost, _ in losing):
        return None
    return 1 - math.prod(((1 - lost) ** k for lost, k in losing), start=Fraction(1))


def exactly_apart(runs: Runs) -> Fraction | None:
    """The total variation D(0) as a fraction, of one run of a finite pair that has one."""
    if len(runs) == 1 and runs[0][1] == 1 and isinstance(runs[0][0], Atoms):
        surplus = [p - q for p, q in runs[0][0].laws]
        if all(isinstance(x, Fraction) for x in surplus):
            return sum((max(x, Fraction(0)) for x in surplus), Fraction(0))
    return None


def is_beyond(runs: Runs, reverse: bool, y: Fraction) -> bool:
    """Is y known to be at least the largest loss, as no balls decide where they are equal?"""
    ends = [(part.exact_largest(reverse), k) for part, k in runs]
    known = [(Fraction(end), k) for end, k in ends if isinstance(end, Fraction)]
    return len(known) == len(ends) and y >= sum(k * end for end, k in known)
