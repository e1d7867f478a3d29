"""How far a record that takes part in several steps can move what a matrix makes of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from operator import itemgetter
from typing import TypeAlias

from flint import fmpq, fmpq_mat

from symacct.kernel import deadline

#: A matrix as its rows, and a symmetric one of whole numbers.
Rows: TypeAlias = tuple[tuple[Fraction, ...], ...]
Whole: TypeAlias = list[list[int]]
_PATTERNS = 10_000  # of steps that are tried one by one


def squared_sensitivity(rows: Rows, most: int, apart: int) -> tuple[Fraction, bool]:
    """max ‖Σ_{t∈S} C_t ⊗ x_t‖² over |x_t| ≤ 1 and sets S of at most `most` steps that are at least

    `apart` from each other, and whether it is attained; else a bound (docs/proofs.md, section 25).
    """
    gram, scale = _gram(rows)
    sizes = [[abs(x) for x in row] for row in gram]
    most = min(most, -(-len(gram) // apart))
    limit = 0
    if _falls(sizes):
        worst = list(range(0, len(gram), apart))[:most]
    elif _how_many(len(gram), most, apart) <= _PATTERNS:
        worst = max(_patterns(len(gram), most, apart), key=lambda steps: _total(sizes, steps))
    else:
        worst, limit = _by_rows(sizes, most, apart)
    total = _total(sizes, worst)
    attained = limit <= total and _one_sign(gram, worst)
    return Fraction(max(total, limit), scale), attained


def _gram(rows: Rows) -> tuple[Whole, int]:
    """CᵀC as whole numbers over one denominator."""
    entries = [fmpq(x.numerator, x.denominator) for row in rows for x in row]
    c = fmpq_mat(len(rows), len(rows[0]), entries)
    numerators, denominator = (c.transpose() * c).numer_denom()
    return [[int(x) for x in row] for row in numerators.table()], int(denominator)


def _total(sizes: Whole, steps: Sequence[int]) -> int:
    """Σ |G_st| over the steps s and t."""
    return sum(sizes[s][t] for s in steps for t in steps)


def _falls(sizes: Whole) -> bool:
    """Is no |G_st| below that of later steps as far apart, nor of earlier ones further from t?"""
    n = range(len(sizes))
    later = all(sizes[s][t] >= sizes[s + 1][t + 1] for t in n[:-1] for s in n[: t + 1])
    return later and all(sizes[s][t] <= sizes[s + 1][t] for t in n for s in n[: max(t - 1, 0)])


def _patterns(steps: int, most: int, apart: int) -> Iterator[list[int]]:
    """The sets of up to `most` steps that are at least `apart` from each other."""
    for count in range(1, most + 1):
        spare = (count - 1) * (apart - 1)
        for chosen in combinations(range(steps - spare), count):
            yield [step + i * (apart - 1) for i, step in enumerate(chosen)]


def _how_many(steps: int, most: int, apart: int) -> int:
    """The number of these sets."""
    rooms = (steps - (count - 1) * (apart - 1) for count in range(1, most + 1))
    return sum(math.comb(room, count) for count, room in enumerate(rooms, start=1))


def _by_rows(sizes: Whole, most: int, apart: int) -> tuple[list[int], int]:
    """The sum of what each step of a set adds at most with any others, largest over the sets."""
    worth = []
    for s, row in enumerate(sizes):
        others = [0 if abs(s - t) < apart else size for t, size in enumerate(row)]
        worth.append(row[s] + _heaviest(others, most - 1, apart)[1])
    return _heaviest(worth, most, apart)


def _heaviest(worth: Sequence[int], most: int, apart: int) -> tuple[list[int], int]:
    """The set of the largest sum of worths >= 0, and that sum, by the last step of each."""
    best: list[tuple[int, list[int]]] = [(0, [])] * (len(worth) + 1)
    for _ in range(most):
        fewer, best = best, [(0, [])]
        for step, weight in enumerate(worth):
            before, steps = fewer[max(step + 1 - apart, 0)]
            best.append(max(best[-1], (before + weight, [*steps, step]), key=itemgetter(0)))
    total, steps = best[-1]
    return steps, total


def _one_sign(gram: Whole, steps: Sequence[int]) -> bool:
    """Can signs be given to the steps so that no ±G_st is negative?"""
    sign: dict[int, int] = {}
    for start in steps:
        waiting = [(start, 1)]
        while waiting:
            deadline.check()
            s, own = waiting.pop()
            if s not in sign:
                sign[s] = own
                waiting += [(t, own if gram[s][t] > 0 else -own) for t in steps if gram[s][t]]
    return all(gram[s][t] * sign[s] * sign[t] >= 0 for s in steps for t in steps)
