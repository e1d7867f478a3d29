"""Chua et al. 2024: what DP-SGD on shuffled batches costs at least.

All other records' gradients are −1, the one's is 1. Of each epoch is kept in which of several
slices the largest step is; neighbours' laws of it are known (docs/proofs/allocations.md, Lemma
largest-step).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from symacct.baselines.result import noise_of, positive_delta
from symacct.kernel import parameters
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, from_ball
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import doubled, floor, normal_tail, precision
from symacct.kernel.claims import ADD_REMOVE, REPLACE_ONE, Adjacency, Claim, Kind
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import AdjacencyError, DomainError, PrecisionError, echo
from symacct.kernel.exact import Exact, Numeric, exact
from symacct.kernel.node import Node
from symacct.kernel.parameters import rational, whole
from symacct.kernel.sources import CGK24
from symacct.mechanisms import DistributionPair

#: Bounds are given for σ between these. Others are refused, as places in float64 are lost.
_SMALLEST_NOISE, _LARGEST_NOISE = Fraction(1, 10), 10**6
#: Bounds are given for up to so many steps and epochs. More are refused.
_MOST_STEPS, _MOST_EPOCHS = 10**9, 10**4


@dataclass(frozen=True)
class SliceSteering:
    """Where the slices end: any slices give a lower bound."""

    #: Slices of each epoch of several, whose products are composed. Any slices are sound: more are
    #: sharper, and take longer.
    slices: int = 64
    #: Places of the one end of one epoch's slices that are tried in each of four rounds. Any place
    #: is sound: more are sharper, and take longer.
    tried: int = 200
    #: Digits of several epochs: of more there is seldom the time, and fewer slices are left.
    digits: int = 4
    #: The largest ε, in nats, that a float has the exponential of. It steers: places are those of
    #: this ε beyond it.
    largest_epsilon: int = 700
    #: No place is taken beyond which a law has less probability than this. Any places are sound: it
    #: steers.
    smallest_mass: float = 1e-20


#: The numbers that choose slices, which no proof rests on.
STEERING = SliceSteering()
#: The relative error s that a slice's probability may have; the bound is lowered for it. Balls
#: prove it of each; a smaller one is refused more often.
_MASS_ERROR = Fraction(1, 2**100)
#: Probabilities are counted in units of 1 over this. `_MASS_ERROR` is proved of what is left:
#: larger units are refused by PrecisionError.
_UNITS = 2**240


def shuffled_batches(
    epsilon: Numeric,
    sigma: Numeric,
    steps: Numeric,
    epochs: Numeric = 1,
    adjacency: str | Adjacency = "add_remove",
    digits: int = 10,
) -> Enclosure:
    """A lower bound of δ(ε), of `epochs` epochs of `steps` batches, a new permutation in each.

    ε >= 0 is rational, in nats. Raises DomainError, AdjacencyError, PrecisionError. Noise of σ
    times the norm that gradients are clipped to, on their sum; add_remove is what a record's
    gradient set to 0 is, too. A permutation kept is one epoch with σ/√epochs.

    >>> print(f"{shuffled_batches(4, '4/5', 100):.4g}")
    0.0008525
    """
    run = _Batches.of(sigma, steps, epochs, adjacency)
    return run.delta(rational(epsilon, "epsilon"), parameters.digits(digits))


def shuffled_batches_epsilon(
    delta: Numeric,
    sigma: Numeric,
    steps: Numeric,
    epochs: Numeric = 1,
    adjacency: str | Adjacency = "add_remove",
    digits: int = 10,
) -> Enclosure:
    """A lower bound of ε(δ) in nats, at least 0; see `shuffled_batches`. 0 < δ < 1.

    >>> print(f"{shuffled_batches_epsilon('1e-5', '4/5', 100):.5g}")
    5.6239
    """
    d, run = positive_delta(delta), _Batches.of(sigma, steps, epochs, adjacency)
    return run.epsilon(d, parameters.digits(digits))


@dataclass(frozen=True)
class _Batches:
    """The laws of the largest step: by 2/σ one of them is moved, or by `other`/σ."""

    sigma: Exact
    steps: int
    epochs: int
    adjacency: Adjacency

    @classmethod
    def of(
        cls, sigma: Numeric, steps: Numeric, epochs: Numeric, adjacency: str | Adjacency
    ) -> _Batches:
        """The run's parameters are checked: σ, steps, epochs, and one of two relations."""
        relation = named_adjacency(adjacency)
        noise = noise_of(sigma, _SMALLEST_NOISE, _LARGEST_NOISE)
        counts = whole(steps, "steps", least=1), whole(epochs, "epochs", least=1)
        for name, count, most in zip(
            ("steps", "epochs"), counts, (_MOST_STEPS, _MOST_EPOCHS), strict=True
        ):
            if count > most:
                raise DomainError(f"{name}: found {echo(count)}, needed {name} <= {most:,}")
        if relation not in (ADD_REMOVE, REPLACE_ONE):
            raise AdjacencyError(
                f"shuffled_batches: found adjacency {relation}, needed 'add_remove' or "
                "'replace_one'"
            )
        return cls(noise, *counts, relation)

    @property
    def moves(self) -> tuple[int, int]:
        """From −1 to 1, against to 0 or against −1 itself."""
        return 2, int(self.adjacency == ADD_REMOVE)

    # Proved in docs/proofs/allocations.md, Lemma shuffled-rounding.
    def delta(self, eps: Fraction, digits: int) -> Enclosure:
        """(1 − Es) δ̂(ε + 3Es), a lower bound, as every probability is known but for a share s."""
        off = self.epochs * _MASS_ERROR
        weight = math.exp(min(eps, Fraction(STEERING.largest_epsilon)))
        pair = self._pair(self._places(lambda p, q: p - weight * q))
        bound = Accountant().lower_delta(pair, eps + 3 * off, self._digits_of(digits))
        return self._lower_bound((1 - off) * _lower(bound), digits)

    def epsilon(self, d: Fraction, digits: int) -> Enclosure:
        """ε̂(δ/(1 − Es)) − 3Es, a lower bound; 0 where that is below."""
        off, steered = self.epochs * _MASS_ERROR, float(d)
        spared = d / (1 - off)
        if spared >= 1:
            return self._lower_bound(Fraction(0), digits)
        pair = self._pair(self._places(lambda p, q: (p - steered) / q if q else 0.0))
        bound = Accountant().lower_epsilon(pair, spared, self._digits_of(digits))
        return self._lower_bound(_lower(bound) - 3 * off, digits)

    def _digits_of(self, digits: int) -> int:
        """The significant digits that are computed: at most 4 of several epochs."""
        return digits if self.epochs == 1 else min(digits, STEERING.digits)

    def _lower_bound(self, value: Fraction, digits: int) -> Enclosure:
        """The value, at least 0, as a certified Enclosure of kind LOWER."""
        source = CGK24.at(
            "the lower bounds by the largest step; "
            "SYMACCT, docs/proofs/allocations.md, largest-step"
        )
        claim = Claim(Kind.LOWER, self.adjacency, sources=(source,))
        return from_ball(BALL.number(max(value, Fraction(0))), claim, digits, certified=True)

    def _places(self, worth: Callable[[float, float], float]) -> list[Fraction]:
        """Where the slices end, in units of σ: one end of the largest `worth`, or many if E > 1.

        In float64, which steers: any slices give a lower bound.
        """
        low, high = -40.0, 40 + 2 / float(self.sigma)
        if self.epochs == 1:
            for _ in range(4):
                tried = [low + (high - low) * i / STEERING.tried for i in range(STEERING.tried + 1)]
                best = max(tried, key=lambda c: worth(*(self._above(c, m) for m in self.moves)))
                step = (high - low) / STEERING.tried
                low, high = best - step, best + step
            return [Fraction(best).limit_denominator(10**6)]
        tried = [low + (high - low) * i / 4000 for i in range(4001)]
        kept = [
            c
            for c in tried
            if all(
                self._above(c, m) > STEERING.smallest_mass
                and self._log_below(c, m) > math.log(STEERING.smallest_mass)
                for m in self.moves
            )
        ]
        step = max(1, len(kept) // STEERING.slices)
        return [Fraction(c).limit_denominator(10**6) for c in kept[::step]]

    def _log_below(self, c: float, move: int) -> float:
        """log P[all steps <= c] with one step moved by `move`/σ, in float64, which steers."""
        logs = (
            math.log(max(math.erfc(-x / math.sqrt(2)) / 2, 5e-324))
            if x < 1
            else math.log1p(-math.erfc(x / math.sqrt(2)) / 2)
            for x in (c - move / float(self.sigma), c)
        )
        moved, other = logs
        return moved + (self.steps - 1) * other

    def _above(self, c: float, move: int) -> float:
        """P[some step > c] with one step moved by `move`/σ, in float64."""
        return -math.expm1(self._log_below(c, move))

    def _pair(self, places: list[Fraction]) -> Node:
        """The pair of slices in every epoch, rational masses that are right but for a share s.

        PrecisionError where the limit "bits" does not suffice.
        """
        for bits in doubled(512):
            with precision(bits):
                laws = [self._masses(places, move) for move in self.moves]
                counts = [[floor(_UNITS * mass.mid()) for mass in law] for law in laws]
                if all(map(_close, laws, counts)):
                    break
        else:
            raise PrecisionError(
                "shuffled_batches: the bits did not suffice", remedy="raise the limit bits"
            )
        p, q = ([Fraction(k, sum(law)) for k in law] for law in counts)
        return self.epochs * DistributionPair(p, q, "add_remove", with_record="P")

    def _masses(self, places: list[Fraction], move: int) -> list[arb]:
        """The probabilities in balls of the slices, from the lowest one up."""
        sigma = BALL.number(self.sigma)
        below = [
            normal_tail(move / sigma - c) * normal_tail(-c) ** (self.steps - 1)
            for c in map(BALL.number, places)
        ]
        return [b - a for a, b in zip([arb(0), *below], [*below, arb(1)], strict=True)]


def _close(law: list[arb], counts: list[int]) -> bool:
    """Is |p − k/Σk| <= s k/Σk proved for every mass p and its count k, s = 2^−100?"""
    share, total = BALL.number(_MASS_ERROR), sum(counts)
    return all(
        k > 0 and abs(mass * total / k - 1) <= share for mass, k in zip(law, counts, strict=True)
    )


def _lower(bound: Enclosure) -> Fraction:
    """The lower end of an enclosure, exact; PrecisionError where it is not rational."""
    low = exact(bound.lower, "lower")
    if not isinstance(low, Fraction):
        raise PrecisionError("shuffled_batches: found no lower end")
    return low
