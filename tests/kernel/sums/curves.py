"""Three exact curves in flint balls, K_i as a function of the precision and the order."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from flint import arb, fmpq

from symacct.kernel.sums.differences import LogMoment, differences_at


def ball(value: int | str | Fraction) -> arb:
    """The ball of an exact rational."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def forward_differences(log_moment_at: LogMoment, up_to: int, bits: int) -> list[arb]:
    """B(0), …, B(up_to)."""
    found = differences_at(log_moment_at, range(up_to + 1), bits)
    return [found[order] for order in range(up_to + 1)]


def difference_table(values: list) -> list:
    """B(0), B(1), … by the table of differences, row by row; the caller sees to the precision."""
    row, found = values, []
    while row:
        found.append(row[0])
        row = [after - before for before, after in pairwise(row)]
    return found


def gaussian(sigma: int | str):
    """K_i = i(i−1)/(2σ²)."""
    return lambda _, i: arb(i * (i - 1)) / (2 * ball(sigma) ** 2)


def laplace(b: int | str):
    """e^{K_i} = (i e^{(i−1)/b} + (i−1) e^{−i/b})/(2i−1)."""
    scale = Fraction(1) / Fraction(b)

    def log_moment_at(_: int, i: int) -> arb:
        up, down = ((i - 1) * ball(scale)).exp(), (-i * ball(scale)).exp()
        return ((i * up + (i - 1) * down) / (2 * i - 1)).log()

    return log_moment_at


def randomized_response(p: str):
    """e^{K_i} = p^i (1−p)^{1−i} + (1−p)^i p^{1−i}."""
    odds = Fraction(p) / (1 - Fraction(p))

    def log_moment_at(_: int, i: int) -> arb:
        ratio = ball(odds)
        return (ball(p) * ratio ** (i - 1) + ball(1 - Fraction(p)) * ratio ** (1 - i)).log()

    return log_moment_at
