"""Laws of losses laid on a grid in float64: profiles above the true ones, but for what is counted.

Steps are powers of two, so that nodes, and how far a loss is from them, are exact. What floats lose
is bounded as in docs/proofs.md, section 45.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from symacct.analysis.normal_tails import FARTHEST_TAIL, RELATIVE_ERROR, upper_tail
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import float_above
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact
from symacct.mechanisms import DiscreteGaussian
from symacct.profile.discretized.discretize import FARTHEST, laws_of
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from symacct.profile.part import Floats, Part

_UNIT = 2.0**-53  # of float64; elementary functions are off by 8 of them at most
_FEW = 64  # units, for a few roundings
_ROUNDED = 1 + 2.0**-30  # for what is summed of errors
_MOST = 2**18  # nodes of one law
_OUTCOMES = 2**9  # steps that a law of the others is laid for
_BITS = 80


class FloatLaw(NamedTuple):
    """P-masses at the losses first + jh, whose profile is at least D − `short` everywhere."""

    first: arb
    masses: Floats
    short: float


def laid(
    part: Part, runs: int, reverse: bool, step: float, rare: float
) -> Iterator[tuple[FloatLaw, int]]:
    """The laws of some runs of a part, and how often each is run; about `rare` is beyond each."""
    if isinstance(part, GaussianLoss):
        yield _gaussian(part.ratio, Fraction(1), reverse, step, rare), runs
    elif isinstance(part, SampledGaussian):
        yield _gaussian(1 / part.variance, part.gamma, reverse, step, rare), runs
    elif isinstance(part, LaplaceLoss):
        yield _laplace(part, reverse, step, rare), runs
    elif isinstance(part, IntegerLoss) and isinstance(part.noise, DiscreteGaussian):
        yield _discrete_gaussian(part, part.noise, reverse, step, rare), runs
    elif isinstance(part, Atoms):
        yield _atoms(part, reverse, step), runs
    else:
        yield from _others(part, runs, reverse, step, rare)


# --- by the masses beyond places where the loss is that of a node


def _gaussian(ratio: Exact, gamma: Exact, reverse: bool, step: float, rare: float) -> FloatLaw:
    """(1−γ)N(0, 1) + γN(s, 1) against N(0, 1): beyond z the loss log(1−γ+γe^{sz−s²/2}) is larger.

    The other way round it is beyond a node where z is below the place of the node's negative.
    """
    s, g, rest = math.sqrt(_float(ratio)), _float(gamma), _float(1 - gamma)
    if not s:
        raise PrecisionError("found noise beyond the range of float64 to lay a grid over")
    far = math.sqrt(-2 * math.log(rare))
    z = np.array([-far, s + far])
    with np.errstate(divide="ignore"):
        ends = np.logaddexp(np.log(rest), math.log(g) + s * z - s * s / 2)
    least, largest = -ends[::-1] if reverse else ends
    losses = _nodes(float(least), float(largest), step)
    w, turned = _unsampled(-losses if reverse else losses, g, rest)
    place = w / s + s / 2
    if reverse:
        p = upper_tail(-place)
        q = rest * p + g * upper_tail(s - place)
        unknown = (s - place > FARTHEST_TAIL) & ~_is_rounding(s - place, s, g, rest, rest * p)
    else:
        q = upper_tail(place)
        p = rest * q + g * upper_tail(place - s)
        unknown = place > FARTHEST_TAIL
    units = 26 * turned + 26 * s * (13 + 2 * s) + 6 * s * s + 13 + 4 * s + _FEW
    short = 4 * RELATIVE_ERROR + units * _UNIT
    return of_tails(losses, step, p, q, short, rare, unknown)


def _is_rounding(x: Floats, s: float, g: float, rest: float, known: Floats) -> Floats:
    """Is γΦ(−x), x > 12, below a unit of (1−γ)Φ(s−x), the mass `known`?

    So it is where γΦ(−12) is, and by Φ(−x) <= e^{s²/2−sx}Φ(s−x) for any s >= 0.
    """
    with np.errstate(divide="ignore"):
        least = np.log(rest) + math.log(_UNIT / g)
    most = g * float(upper_tail(np.array(FARTHEST_TAIL)))
    found: Floats = np.logical_or(most <= known * _UNIT, s * (s / 2 - x) <= least)
    return found


def _laplace(part: LaplaceLoss, reverse: bool, step: float, rare: float) -> FloatLaw:
    """(1−γ)Lap(0) + γLap(s) against Lap(0): between 0 and s the loss log(1−γ+γe^{2x−s}) rises."""
    s, g, rest = _float(part.shift), _float(part.gamma), _float(1 - part.gamma)
    with ctx.workprec(_BITS):
        low, high = -float(part.largest(not reverse).mid()), float(part.largest(reverse).mid())
    losses = _nodes(low, high, step)
    w, turned = _unsampled(-losses if reverse else losses, g, rest)
    x = (s + w) / 2
    inside = np.clip(x, 0.0, s)
    own, moved = np.exp(-inside) / 2, np.exp(inside - s) / 2
    if reverse:
        own, moved = 1 - own, moved
        own, moved = (np.where(x > s, 1.0, np.where(x <= 0, 0.0, part)) for part in (own, moved))
        p, q = own, rest * own + g * moved
    else:
        moved = 1 - moved
        own, moved = (np.where(x < 0, 1.0, np.where(x >= s, 0.0, part)) for part in (own, moved))
        p, q = rest * own + g * moved, own
    short = (26 * turned + 40 * s + _FEW) * _UNIT
    return of_tails(losses, step, p, q, short, rare, np.zeros(len(q), dtype=bool))


def _unsampled(y: Floats, g: float, rest: float) -> tuple[Floats, float]:
    """The w with log(1−γ+γe^w) = y, and the largest |1−e^{−y}|, by which an error of e^y−1 counts.

    A y below log(1−γ) has the w −∞, whose error counts as that of log(1−γ): γ/(1−γ). Without
    sampling w is y, without an error.
    """
    if rest == 0:
        return y, 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        w = np.log1p(np.maximum(np.expm1(y) / g, -1.0))
    turned = np.abs(np.expm1(-y[w > -math.inf]))
    return w, float(turned.max(initial=g / rest))


def _nodes(low: float, high: float, step: float) -> Floats:
    """The nodes from that below the least loss to that above the largest."""
    if not max(abs(low), abs(high)) <= FARTHEST:
        raise PrecisionError(f"found losses beyond {FARTHEST:.0f} to lay a grid over")
    first, last = math.floor(low / step), math.ceil(high / step)
    _check(last - first)
    return step * np.arange(first, last + 1)


def _check(count: float) -> None:
    if count > _MOST:
        raise PrecisionError(f"found {count:,.0f} nodes of one law, needed at most {_MOST:,}")


def of_tails(
    losses: Floats,
    step: float,
    p: Floats,
    q: Floats,
    short: float,
    rare: float,
    unknown: Floats,
) -> FloatLaw:
    """What is between two nodes goes to both, and what is before the first one to that one.

    p and q are the masses beyond each node, nearly: p − e^ℓ q is too small by at most `short`.
    What is between two nodes, of one of which q is `unknown`, goes to the upper one as a whole.
    Nodes that all but about `rare` is beyond, or nothing but that, are not kept.
    """
    kept = slice(max(0, np.count_nonzero(1 - p <= rare) - 1), np.count_nonzero(p >= rare) + 1)
    losses, p, q, unknown = losses[kept], p[kept], q[kept], unknown[kept]
    inner_p, inner_q = p[:-1] - p[1:], q[:-1] - q[1:]
    apart = -math.expm1(-step)
    up = (inner_p - np.exp(losses[:-1]) * inner_q) / apart
    up = np.where(unknown[1:] | unknown[:-1], inner_p, up)
    kept_up = np.clip(up, 0.0, np.maximum(inner_p, 0.0))
    masses = _shared(1 - float(p[0]), inner_p, kept_up)
    cut = _most_of_a_run(np.where(unknown[1:] | unknown[:-1], 0.0, (up - kept_up) * apart))
    beyond = float(p[-1]) + 3 * short + 2 * _FEW * _UNIT + cut
    return FloatLaw(arb(float(losses[0])), masses, beyond * _ROUNDED)


def _most_of_a_run(x: Floats) -> float:
    """At least the largest sum of numbers that stand side by side, some or none."""
    before = np.concatenate([[0.0], np.cumsum(x)])
    largest = float((before - np.minimum.accumulate(before)).max())
    return largest + 2 * len(x) * _UNIT * float(np.abs(x).sum())


def _shared(before: float, masses: Floats, up: Floats) -> Floats:
    """`up` of the masses between two nodes goes to the upper one, the rest to the lower one."""
    found = np.zeros(len(masses) + 1)
    found[0] = before
    found[:-1] += np.maximum(masses - up, 0.0)
    found[1:] += up
    return np.maximum(found, 0.0)


# --- by outcomes


def _discrete_gaussian(
    part: IntegerLoss, noise: DiscreteGaussian, reverse: bool, step: float, rare: float
) -> FloatLaw:
    """The outcomes that count, with masses over what those that count come to at least."""
    kept = noise.outcomes(0.0, 1.0, -math.log(rare))
    _check(len(kept))
    with ctx.workprec(_BITS):
        left_out = float_above(noise.left_out(1.0, kept))
    size, twice = noise.sensitivity, 2 * _float(noise.sigma) ** 2
    k = np.arange(kept[0] - size, kept[-1] + 1.0)
    exponents = k * k / twice
    weights = np.exp(-exponents)
    moved, q, losses = weights[:-size], weights[size:], (2 * k[size:] - size) * (size / twice)
    total = min(moved.sum(), q.sum())
    units = 8 * exponents.max() + 2 * len(k) + _FEW
    p, off = moved, 6.0 * np.abs(losses).max()
    if part.gamma != 1:
        p = _float(1 - part.gamma) * q + _float(part.gamma) * moved
        losses = np.log1p(_float(part.gamma) * np.expm1(losses))
        off += 12 * np.abs(np.expm1(-losses)).max() + 8 * np.abs(losses).max()
    if reverse:
        p, losses = q, -losses
    short = left_out + (units + 2 * off) * _UNIT
    return _of_outcomes(p / total, losses, step, short)


def _atoms(part: Atoms, reverse: bool, step: float) -> FloatLaw:
    """Finitely many outcomes, the infinite loss apart."""
    with ctx.workprec(_BITS):
        found = [(float_above(p), float((p / q).log().mid())) for p, q in part.common(reverse)]
        lost = float_above(BALL.number(part.mass_at_infinity(reverse)))
    if not found:
        return FloatLaw(arb(0), np.zeros(1), lost)
    masses, losses = np.array(found).T
    off = 4 * np.abs(losses).max() + _FEW
    return _of_outcomes(masses, losses, step, lost + off * _UNIT)


def _of_outcomes(masses: Floats, losses: Floats, step: float, short: float) -> FloatLaw:
    """Each outcome's mass goes to the nodes on either side of its loss."""
    places = np.floor(losses / step)
    first = int(places.min())
    _check(places.max() - first)
    rows = (places - first).astype(np.int64)
    up = masses * (np.expm1(places * step - losses) / math.expm1(-step))
    count = int(rows.max()) + 2
    down = np.bincount(rows, np.maximum(masses - up, 0.0), count)
    found = down + np.bincount(rows + 1, up, count)
    units = 2 * int(np.bincount(rows).max()) + _FEW
    return FloatLaw(
        arb(first * step), found, (short + units * _UNIT * float(masses.sum())) * _ROUNDED
    )


# --- all others, in balls


def _others(
    part: Part, runs: int, reverse: bool, step: float, rare: float
) -> Iterator[tuple[FloatLaw, int]]:
    with ctx.workprec(_BITS):
        lost = float_above(BALL.number(part.mass_at_infinity(reverse)))
        for law in laws_of(part, runs, reverse, -math.log(rare), _OUTCOMES):
            low, high = (float(end.mid()) for end in law.ends)
            _nodes(low, high, step)
            found = law.laid(arb(step))
            masses = np.array([max(0.0, float_above(x)) for x in found.masses])
            # What one group of runs loses is at most what all runs together lose.
            short = float_above(found.left_out) + runs * lost
            yield FloatLaw(found.first, masses, short), law.runs


def _float(x: Exact) -> float:
    """The nearest float, or one next to it."""
    with ctx.workprec(_BITS):
        return float(BALL.number(x).mid())
