"""D(y) of runs whose losses are all on one lattice: their law is a product of polynomials.

Masses are whole multiples of 2^{−b}, rounded down, and small ones at both ends are left out: what
they are less than 1 in all is what D is larger by at most (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial

from flint import arb, ctx, fmpz, fmpz_poly

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import floor
from symacct.kernel.exact import Exact, exact
from symacct.kernel.sums.balls import up_to
from symacct.profile.discretized.nodes import Nodes
from symacct.profile.part import LossLattice, Runs
from symacct.profile.roots import Value

_MOST_NODES = 2**16
_USUAL = 100.0  # nats, for their number
_SPARE_BITS = 32
_CUT_BITS = 8  # of those, for what is left out at an end


def lattice_form(runs: Runs, reverse: bool) -> Value | None:
    """D of runs on one lattice."""
    return partial(lattice_profile, runs, reverse) if on_one_lattice(runs) else None


def on_one_lattice(runs: Runs) -> bool:
    """Are all losses known to be on one lattice of few nodes?"""
    lattices = _lattices(runs)
    found = _common_step(tuple(one.apart for one in lattices))
    if found is None:
        return False
    strides = zip(found[1], lattices, runs, strict=True)
    squares = (k * (n * one.deviation) ** 2 for n, one, (_, k) in strides)
    return 2 * math.sqrt(2 * _USUAL * sum(squares)) <= _MOST_NODES


def lattice_profile(runs: Runs, reverse: bool, y: arb) -> arb:
    """D(y) to about flint's current precision."""
    nodes, missing = _law(runs, reverse, ctx.prec)
    with ctx.workprec(ctx.prec + _SPARE_BITS):
        found = nodes.profile(y)
    return found + up_to(missing)


def _lattices(runs: Runs) -> list[LossLattice]:
    """That of each part; none where one has none."""
    found = [one for part, _ in runs if (one := part.lattice) is not None]
    return found if len(found) == len(runs) else []


@lru_cache(64)
def _common_step(apart: tuple[Exact, ...]) -> tuple[Exact, tuple[int, ...]] | None:
    """The widest step of a lattice of all these, and how many of it each of them is.

    None where there may be no such lattice.
    """
    if not apart:
        return None
    shares = [exact(x / apart[0]) for x in apart]
    fractions = [share for share in shares if isinstance(share, Fraction)]
    if len(fractions) < len(shares):
        return None
    scale = math.lcm(*(share.denominator for share in fractions))
    whole = [int(share * scale) for share in fractions]
    common = math.gcd(*whole)
    return apart[0] * Fraction(common, scale), tuple(n // common for n in whole)


@lru_cache(8)
def _law(runs: Runs, reverse: bool, bits: int) -> tuple[Nodes, arb]:
    """The law of the loss of all runs at this precision, and what is missing of it."""
    lattices = _lattices(runs)
    common = _common_step(tuple(one.apart for one in lattices))
    assert common is not None  # noqa: S101  # so it was asked
    (step, strides), fine = common, bits + _SPARE_BITS
    first, masses = arb(0), fmpz_poly([1 << fine])
    with ctx.workprec(fine):
        for stride, lattice, (_, k) in zip(strides, lattices, runs, strict=True):
            least, own = lattice.masses(reverse, fine)
            one = fmpz_poly([_down(p, fine) for p in own])
            skipped, every = _power(one, k, fine)
            first += k * least + BALL.number(step) * stride * skipped
            skipped, masses = _product(masses, _stretched(every, stride), fine)
            first += BALL.number(step) * skipped
        found = Nodes(first, BALL.number(step), masses.coeffs(), fine)
        missing = 1 - arb(sum(found.masses)) / arb(2) ** fine
    return found, missing


def _down(x: arb, bits: int) -> int:
    """x·2^bits, rounded down, and 0 at least."""
    return max(0, floor(x * arb(2) ** bits))


def _stretched(masses: fmpz_poly, stride: int) -> fmpz_poly:
    """f(x^stride)."""
    found: list[fmpz | int] = [0] * (stride * masses.degree() + 1)
    found[::stride] = list[fmpz | int](masses.coeffs())
    return fmpz_poly(found)


def _power(masses: fmpz_poly, count: int, bits: int) -> tuple[int, fmpz_poly]:
    """Of so many runs, and how many places are left out at the start."""
    if count == 1:
        return 0, masses
    skipped, half = _power(masses, count // 2, bits)
    more, found = _product(half, half, bits)
    skipped = 2 * skipped + more
    if count % 2:
        more, found = _product(found, masses, bits)
        skipped += more
    return skipped, found


def _product(one: fmpz_poly, other: fmpz_poly, bits: int) -> tuple[int, fmpz_poly]:
    """Of both, less next to nothing at either end; how many places are left out at the start."""
    found = [x >> bits for x in (one * other).coeffs()]
    first = _negligible(found)
    last = len(found) - _negligible(found[:first:-1])
    return first, fmpz_poly(found[first:last])


def _negligible(masses: Sequence[fmpz]) -> int:
    """How many of the first come to next to nothing."""
    total = fmpz(0)
    for i, mass in enumerate(masses):
        total += mass
        if total >> _CUT_BITS:
            return i
    return 0
