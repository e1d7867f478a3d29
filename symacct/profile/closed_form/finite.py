"""Profiles of finite laws: sums over how often each outcome occurs."""

from __future__ import annotations

import math
from functools import lru_cache, partial

from flint import arb, ctx

from symacct.kernel import limits
from symacct.profile.closed_form.binomial import profile_for
from symacct.profile.closed_form.one_lattice import on_one_lattice
from symacct.profile.losses.finite import Atoms, multinomial_laws
from symacct.profile.part import Runs
from symacct.profile.roots import Value
from symacct.profile.runs import total_mass_at_infinity

_SUMMED = 2000  # outcomes of all runs, up to which they are summed one by one
_SUMMED_BESIDE = 100_000  # times the square of the others' runs

Finite = tuple[tuple[Atoms, int], ...]


def finite_form(runs: Runs, reverse: bool) -> Value | None:
    """D of finite laws, of so few outcomes that they may be summed; of more there are grids."""
    finite, others = finite_and_others(runs)
    if others or not _are_within_limit(finite):
        return None
    return partial(_profile, finite, reverse)


def finite_and_others(runs: Runs) -> tuple[Finite, Runs]:
    """The finite parts, and the others."""
    finite = tuple((own, k) for part, k in runs if (own := part.finite) is not None)
    return finite, tuple((part, k) for part, k in runs if part.finite is None)


def are_few(runs: Finite, others: Runs = ()) -> bool:
    """Are the outcomes of all runs so few that they are taken one by one?

    Beside others, whose runs cost their square: of many the moments fall by themselves. Not those
    of discrete Gaussian noise alone, which are summed in closed form.
    """
    outcomes = math.prod(part.outcomes(k) for part, k in runs)
    is_one = len(others) == 1 and others[0][0].discrete_gaussian is not None
    is_closed = is_one or on_one_lattice(others)
    count = 0 if is_closed else sum(k for _, k in others)
    return outcomes <= _SUMMED and outcomes * count**2 <= _SUMMED_BESIDE


def conditioned_profile(runs: Finite, rest: Value, reverse: bool, y: arb) -> arb:
    """P(ℓ = ∞) + Σ p D(y − ℓ) over the outcomes of finite parts beside others of profile D.

    The places are known to more bits, as D may fall by many orders of magnitude.
    """
    with ctx.workprec(2 * ctx.prec):
        places = [(p, y - loss) for p, loss in _weighed(runs, reverse, ctx.prec)]
    return total_mass_at_infinity(runs, reverse) + sum((p * rest(at) for p, at in places), arb(0))


def _are_within_limit(runs: Finite) -> bool:
    """May the outcomes be taken one by one? Of more there are contours and grids."""
    binary = _most_run(runs)
    found = math.prod(part.outcomes(k) for part, k in runs if (part, k) != binary)
    return found <= limits.current().outcomes


def _most_run(runs: Finite) -> tuple[Atoms, int] | None:
    """The binary part that is run most often."""
    return max((run for run in runs if run[0].is_binary), key=lambda run: run[1], default=None)


def _profile(runs: Finite, reverse: bool, y: arb) -> arb:
    """Σ (p − e^y q)₊ over the outcomes of all runs by counts, one binary part in closed form."""
    binary = _most_run(runs)
    if binary is None or are_few(runs):
        every = _outcomes(runs, reverse, ctx.prec)
        grown, zero = y.exp(), arb(0)
        return total_mass_at_infinity(runs, reverse) + sum(
            ((p - grown * q).max(zero) for p, q in every), zero
        )
    rest = tuple(run for run in runs if run is not binary)
    profile = profile_for(*binary, reverse, math.prod(part.outcomes(k) for part, k in rest))
    certain = total_mass_at_infinity((binary,), reverse)
    return conditioned_profile(rest, lambda x: certain + profile(x), reverse, y)


@lru_cache(8)
def _weighed(runs: Finite, reverse: bool, bits: int) -> list[tuple[arb, arb]]:
    """(p, log(p/q)) of every outcome of these, for every y at this precision."""
    return [(p, (p / q).log()) for p, q in _outcomes(runs, reverse, bits)]


@lru_cache(8)
def _outcomes(runs: Finite, reverse: bool, bits: int) -> list[tuple[arb, arb]]:
    """(p, q) of every combination of counts that both laws have, at this precision."""
    found = [(arb(1), arb(1))]
    for part, k in runs:
        own = multinomial_laws(part.common(reverse), k)
        found = [(p * u, q * v) for p, q in found for u, v in own]
    return found
