"""The envelope of some finite pairs is the pair whose profile is the largest of theirs at every ε.

In one run or in several, the pair of each run chosen by the outputs of the earlier ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction

from symacct.kernel import deadline
from symacct.profile.hulls import falling_hull

#: Adaptive runs are enumerated while all first runs beside the worst after them have so many
#: outcomes at most; of more each step would take too long in fractions, and blocks of runs give a
#: bound.
_MOST_OUTCOMES = 1000
#: Adaptive runs are enumerated for so many choices of counts at most: about a minute, and memory
#: for each, where the worst runs have few outcomes however many they are.
_MOST_STATES = 2**20
#: A block of runs has so many at most, as many blocks are laid on a grid. A block of any size has a
#: proved pair: a longer one brings the bound nearer, and takes longer.
_MOST_OUTCOMES_OF_BLOCK = 100
#: A block is of so many runs at most, where these have no more outcomes. A block of any size has a
#: proved pair.
_MOST_RUNS_OF_BLOCK = 2**12

#: (p, q) of every outcome of two laws.
Masses = Collection[tuple[Fraction, Fraction]]
#: The pair of no run: both laws have one outcome. Every envelope is bounded from it on.
_NOTHING: Masses = ((Fraction(1), Fraction(1)),)
#: A line c − da over a >= 0, by c and d.
Line = tuple[Fraction, Fraction]


def envelope(pairs: Iterable[Masses]) -> tuple[tuple[Fraction, Fraction], ...]:
    """Compute the pair (p, q) with Σ (p − aq)₊ the largest of the pairs', for every a >= 0.

    Each of these is the largest of lines c − da, c and d the masses of the outcomes where p/q is
    largest; so is the largest of all, whose slopes change by the q, each where a = p/q.
    """
    lines = {line for masses in pairs for line in _lines(masses)}
    # The lines that are the largest somewhere on a > 0, from the steepest fall on.
    upper_lines = [(-y, d) for d, y in reversed(falling_hull((d, -c) for c, d in lines))]
    places = [
        (first[0] - other[0]) / (first[1] - other[1])
        for first, other in itertools.pairwise(upper_lines)
    ]
    falls = [first[1] - other[1] for first, other in itertools.pairwise(upper_lines)]
    masses = [(a * q, q) for a, q in zip(places, falls, strict=True)]
    lost, unseen = (
        upper_lines[-1][0],
        1 - upper_lines[0][1],
    )  # of p where q is 0, and the other way round
    return tuple(
        pair for pair in (*masses, (lost, Fraction(0)), (Fraction(0), unseen)) if any(pair)
    )


# Proved in docs/proofs/pairs.md, Lemma finite-choices.
def adaptive(
    kinds: Mapping[Collection[Masses], int],
) -> tuple[tuple[Fraction, Fraction], ...] | None:
    """Compute the pair of the worst k_i runs of each kind, each with any of the kind's pairs.

    Order and choices follow earlier outputs: V(k) is the largest profile of a first run beside
    V(k − 1). None where there are too many outcomes or runs, masses that are no fractions, or a
    kind without pairs.
    """
    if not all(every and are_fractions(every) for every in kinds):
        return None
    if math.prod(count + 1 for count in kinds.values()) > _MOST_STATES:
        return None
    worst: dict[tuple[int, ...], Masses] = {}
    counts = (range(count + 1) for count in kinds.values())
    for state in deadline.each(itertools.product(*counts)):
        after = [
            (every, worst[_with_run_removed(state, i)]) for i, every in enumerate(kinds) if state[i]
        ]
        if sum(itertools.starmap(_outcomes, after)) > _MOST_OUTCOMES:
            return None
        firsts = ([_beside(masses, rest) for masses in every] for every, rest in after)
        worst[state] = envelope(itertools.chain(*firsts)) if after else _NOTHING
    return tuple(worst[state])


def in_blocks(every: Collection[Masses], count: int) -> list[tuple[Masses, int]]:
    """Return pairs and their counts that together dominate `count` runs of one kind.

    They are the worst of as many runs as can be enumerated, over and over, and of the rest. The
    product of these pairs is a bound: no choices need attain it.
    """
    worst = [_NOTHING]
    while (
        len(worst) <= min(count, _MOST_RUNS_OF_BLOCK)
        and are_fractions(every)
        and _outcomes(every, worst[-1]) <= _MOST_OUTCOMES_OF_BLOCK
    ):
        deadline.check()
        worst.append(envelope(_beside(masses, worst[-1]) for masses in every))
    if len(worst) == 1:
        return [(envelope(every), count)]
    times, left = divmod(count, len(worst) - 1)
    return [(worst[-1], times), (worst[left], 1)] if left else [(worst[-1], times)]


def _outcomes(every: Iterable[Masses], rest: Masses) -> int:
    """Count the outcomes of all pairs of a first run beside what is worst after it."""
    return sum(len(masses) * len(rest) for masses in every)


def are_fractions(every: Iterable[Masses]) -> bool:
    """Decide if all masses are fractions, and none a symbol."""
    return all(isinstance(x, Fraction) for masses in every for pair in masses for x in pair)


def _with_run_removed(state: tuple[int, ...], i: int) -> tuple[int, ...]:
    """Return the counts of runs with one fewer of the i-th kind."""
    return (*state[:i], state[i] - 1, *state[i + 1 :])


def _beside(masses: Masses, others: Masses) -> Masses:
    """Return the product of two pairs."""
    return [(p * u, q * v) for p, q in masses for u, v in others]


def _lines(masses: Masses) -> Iterable[Line]:
    """List the lines P(S) − aQ(S), S of the largest p/q, from no outcome to all with p > 0."""
    falling = sorted((pair for pair in masses if pair[0]), key=lambda pair: pair[1] / pair[0])
    every = itertools.accumulate(falling, lambda x, y: (x[0] + y[0], x[1] + y[1]))
    return [(Fraction(0), Fraction(0)), *every]
