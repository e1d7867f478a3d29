"""A loss's law in float64 is laid on nodes, with a profile above the true one but for a bound.

Steps are powers of two, so that nodes, and how far a loss is from them, are exact. What floats lose
is bounded as in docs/proofs/grids.md, Lemma tail-masses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from flint import arb, ctx

from symacct.kernel.arithmetic import BALL
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact

if TYPE_CHECKING:
    from symacct.profile.part import Floats

#: Numbers that are rounded to float64 are worked out at this many bits. Then a float is the nearest
#: one, or next to it: error bounds in units rest on 60 or more.
BITS = 80
#: Losses beyond this many nats are refused by a PrecisionError: e^ℓ must be far from overflow.
FARTHEST = 2.0**9
#: A rounding of float64 is off by this share at most, an elementary function by 8 of them. Every
#: bound of float64's errors rests on it.
UNIT = 2.0**-53
#: So many units of rounding are allowed where a few operations are not counted one by one. The
#: proofs of float64's errors rest on it: a smaller number may be unsound.
FEW = 64
#: A sum of error bounds in float64 is raised by this factor, for what its own rounding loses.
#: Proofs rest on it: 2^{−30} is more than 2^20 roundings.
_ROUNDING_OF_BOUNDS = 1 + 2.0**-30
#: One law is laid on at most so many nodes. More are refused by a PrecisionError, as they take too
#: much memory.
_MOST_NODES = 2**18


class FloatLaw(NamedTuple):
    """A law in float64 has P-masses at the losses first + jh, and a profile >= D − `short`.

    That holds for every y, with P(L = ∞) in D. h is the step that it was asked for.
    """

    first: arb
    masses: Floats
    short: float


class LawInFloats(Protocol):
    """A loss's law in float64 is laid on nodes, with a proved bound of what that loses."""

    def on_nodes(self, step: float, rare: float) -> FloatLaw:
        """Lay the law on multiples of a step, a power of 2; about the mass `rare` may lie beyond.

        PrecisionError for losses that are too far out, or too many nodes.
        """


class Beyond(NamedTuple):
    """P- and Q-masses beyond some losses ℓ make p − e^ℓ q too small by at most `short`.

    At some of the losses q is `unknown`: it is not read there.
    """

    p: Floats
    q: Floats
    short: float
    unknown: Floats


@dataclass(frozen=True)
class TailsInFloats:
    """A law is given by the masses beyond any loss, between two losses that all but little lies in.

    `beyond` proves what it loses; the ends may be estimates.
    """

    smallest: float
    largest: float
    beyond: Callable[[Floats], Beyond]

    def on_nodes(self, step: float, rare: float) -> FloatLaw:
        """Lay the mass between two nodes on both; see `of_tails`."""
        losses = nodes(self.smallest, self.largest, step)
        p, q, short, unknown = self.beyond(losses)
        return of_tails(losses, step, p, q, short, rare, unknown)


# Proved in docs/proofs/grids.md, Lemma outcome-masses.
@dataclass(frozen=True)
class OutcomesInFloats:
    """A law is given by the P-mass and the loss of each outcome.

    The profile of these outcomes is at least D − `short`.
    """

    masses: Floats
    losses: Floats
    short: float

    def on_nodes(self, step: float, rare: float) -> FloatLaw:
        """Lay each outcome's mass on the nodes on either side of its loss, whatever `rare` is."""
        if not len(self.masses):
            return FloatLaw(arb(0), np.zeros(1), self.short)
        places = np.floor(self.losses / step)
        first = int(places.min())
        check_nodes(places.max() - first)
        rows = (places - first).astype(np.int64)
        up = self.masses * (np.expm1(places * step - self.losses) / math.expm1(-step))
        count = int(rows.max()) + 2
        down = np.bincount(rows, np.maximum(self.masses - up, 0.0), count)
        masses = down + np.bincount(rows + 1, up, count)
        units = 2 * int(np.bincount(rows).max()) + FEW
        short = self.short + units * UNIT * float(self.masses.sum())
        return FloatLaw(arb(first * step), masses, short * _ROUNDING_OF_BOUNDS)


def nodes(low: float, high: float, step: float) -> Floats:
    """List the nodes from that below the smallest loss to that above the largest.

    PrecisionError for losses beyond 512, or too many nodes.
    """
    if not max(abs(low), abs(high)) <= FARTHEST:
        raise PrecisionError(f"found losses beyond {FARTHEST:.0f} to lay a grid over")
    first, last = math.floor(low / step), math.ceil(high / step)
    check_nodes(last - first)
    return step * np.arange(first, last + 1)


def check_nodes(count: float) -> None:
    """Raise PrecisionError for more nodes than are laid."""
    if count > _MOST_NODES:
        raise PrecisionError(f"found {count:,.0f} nodes of one law, needed at most {_MOST_NODES:,}")


def unsampled(y: Floats, gamma: float, rest: float) -> tuple[Floats, float]:
    """Solve log(1−γ+γe^w) = y for w, and bound |1−e^{−y}|, by which an error of e^y−1 counts.

    `rest` is 1−γ. A y below log(1−γ) has the w −∞, whose error counts as that of log(1−γ), which is
    γ/(1−γ). Where `rest` is 0 nothing is sampled, and w is y without an error.
    """
    if rest == 0:
        return y, 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        w = np.log1p(np.maximum(np.expm1(y) / gamma, -1.0))
    turned = np.abs(np.expm1(-y[w > -math.inf]))
    return w, float(turned.max(initial=gamma / rest))


def nearest(x: Exact) -> float:
    """Round an exact number to the nearest float, or one next to it."""
    with ctx.workprec(BITS):
        return float(BALL.number(x).mid())


def of_tails(
    losses: Floats,
    step: float,
    p: Floats,
    q: Floats,
    short: float,
    rare: float,
    unknown: Floats,
) -> FloatLaw:
    """Lay the mass between two nodes on both, and what is before the first node on that one.

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
    beyond = float(p[-1]) + 3 * short + 2 * FEW * UNIT + cut
    return FloatLaw(arb(float(losses[0])), masses, beyond * _ROUNDING_OF_BOUNDS)


def _most_of_a_run(x: Floats) -> float:
    """Bound from above the largest sum of numbers that stand side by side, 0 for none of them."""
    before = np.concatenate([[0.0], np.cumsum(x)])
    largest = float((before - np.minimum.accumulate(before)).max())
    return largest + 2 * len(x) * UNIT * float(np.abs(x).sum())


# Proved in docs/proofs/grids.md, Lemma shares.
def _shared(before: float, masses: Floats, up: Floats) -> Floats:
    """Share the masses between two nodes: `up` of each goes to the upper one, the rest down.

    `before` is the mass before the first node, and is laid on it.
    """
    shares = np.zeros(len(masses) + 1)
    shares[0] = before
    shares[:-1] += np.maximum(masses - up, 0.0)
    shares[1:] += up
    return np.maximum(shares, 0.0)
