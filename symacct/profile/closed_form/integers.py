"""D(y) of few runs of noise on whole numbers: a sum over all of their outcomes that count."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from flint import arb, ctx

from symacct.kernel.sums.balls import up_to
from symacct.profile.losses.finite import multinomial_laws
from symacct.profile.roots import Value

if TYPE_CHECKING:
    from symacct.profile.losses.integer_noise import IntegerLoss

    IntegerRuns = tuple[tuple[IntegerLoss, int], ...]

_RUNS, _OUTCOMES = 4, 20_000  # of all runs, up to which a sum is sooner had than a grid
_USUAL = 100.0  # nats, for the number of outcomes


def integer_form(runs: IntegerRuns, reverse: bool) -> Value | None:
    """D of noise on whole numbers, if its outcomes are few."""
    if sum(k for _, k in runs) > _RUNS:
        return None
    own = ((len(part.noise.outcomes(0.0, 1.0, _USUAL)), k) for part, k in runs)
    is_short = math.prod(math.comb(n + k - 1, k) for n, k in own) <= _OUTCOMES
    return partial(_profile, runs, reverse) if is_short else None


def _profile(runs: IntegerRuns, reverse: bool, y: arb) -> arb:
    """Σ (p − e^y q)₊ over the outcomes of all runs that count; the others have less P-mass."""
    every, left_out = _every(runs, reverse, ctx.prec)
    grown, zero = y.exp(), arb(0)
    return sum(((p - grown * q).max(zero) for p, q in every), up_to(left_out))


@lru_cache(8)
def _every(runs: IntegerRuns, reverse: bool, bits: int) -> tuple[list[tuple[arb, arb]], arb]:
    """(p, q) of every combination, for every y at this precision, and what is left out."""
    found, left_out = [(arb(1), arb(1))], arb(0)
    for part, k in runs:
        known, rest = part.known(reverse, bits * math.log(2))
        left_out += k * rest
        own = multinomial_laws([(p, q) for p, q, _ in known], k)
        found = [(p * u, q * v) for p, q in found for u, v in own]
    return found, left_out
