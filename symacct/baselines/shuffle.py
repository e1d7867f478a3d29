"""Feldman, McMillan, Talwar 2021: local randomizers whose answers are shuffled, by their clones.

Of n people each answers by an ε₀-DP randomizer, which may be chosen by the answers before. With
p = e^{ε₀}/(1 + e^{ε₀}), C ~ Bin(n−1, e^{−ε₀}), A ~ Bin(C, ½) and Δ ~ Bernoulli(p) the shuffled
answers tell no more of one person than (A + Δ, C − A + 1 − Δ) against (A + 1 − Δ, C − A + Δ) does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from flint import arb, fmpz

from symacct.baselines.result import Baseline, probability_or_zero
from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ends_of, precision
from symacct.kernel.claims import Kind, Source
from symacct.kernel.errors import AssumptionError, DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import positive, rational, whole
from symacct.kernel.sources import FMT21, SYMACCT
from symacct.kernel.sums.balls import up_to

_MOST_LOCAL = 10**6  # of a randomizer that hides anything
_MOST_PEOPLE = 10**7
_STEPS, _SEARCH_BITS = 2**30, 64


#: ε₀ ↦ the chance that another's answer is a clone.
Share: TypeAlias = Callable[[Fraction], arb]


def of_any(local: Fraction) -> arb:
    """e^{−ε₀}, whatever the randomizers are"""
    return (-BALL.number(local)).exp()


def of_responses(local: Fraction) -> arb:
    """2/(1 + e^{ε₀})"""
    return 2 / (1 + BALL.number(local).exp())


_ANY = FMT21.at("deltacomp of the authors' program")
_RESPONSES = SYMACCT.at("docs/proofs.md, section 34")


def shuffled(epsilon: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10) -> Baseline:
    """δ(ε) of the two laws themselves, the counts of C that matter summed: their numerical bound.

    >>> print(shuffled("1/2", 1, 1000).delta.rounded_up(5))
    6.9039e-27
    """
    return _at(of_any, _ANY, epsilon, epsilon_0, n, digits)


def shuffled_responses(
    epsilon: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10
) -> Baseline:
    """δ(ε) of shuffled randomized response, on two values or more, by more clones.

    So does any randomizer with R(y) >= (R(x) + R(x′))/(1 + e^{ε₀}) for all x ≠ x′ and y; not every
    one has it (errata of arXiv:2208.04591).

    >>> print(shuffled_responses("1/2", 1, 1000).delta.rounded_up(5))
    5.8262e-38
    """
    return _at(of_responses, _RESPONSES, epsilon, epsilon_0, n, digits)


def shuffled_epsilon(delta: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10) -> Baseline:
    """The least multiple of ε₀/2³⁰ at which the same δ(ε) is certainly at most δ.

    >>> print(shuffled_epsilon("1e-6", 1, 1000).epsilon.rounded_up(5))
    0.18242
    """
    return _least(of_any, _ANY, delta, epsilon_0, n, digits)


def shuffled_responses_epsilon(
    delta: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10
) -> Baseline:
    """ε(δ) of shuffled randomized response, on two values or more.

    >>> print(shuffled_responses_epsilon("1e-6", 1, 1000).epsilon.rounded_up(5))
    0.14868
    """
    return _least(of_responses, _RESPONSES, delta, epsilon_0, n, digits)


def _at(
    share: Share, source: Source, epsilon: Numeric, epsilon_0: Numeric, n: Numeric, digits: int
) -> Baseline:
    eps, local, people = rational(epsilon, "epsilon"), local_epsilon(epsilon_0), crowd_size(n)

    def value() -> arb:
        if eps >= local:
            return arb(0)
        return _summed(people, local, share(local), eps)

    return Baseline.of("shuffled, clones", source, digits, Kind.UPPER, eps, value)


def _least(
    share: Share, source: Source, delta: Numeric, epsilon_0: Numeric, n: Numeric, digits: int
) -> Baseline:
    d, local, people = probability_or_zero(delta, "delta"), local_epsilon(epsilon_0), crowd_size(n)
    low, high = 0, _STEPS  # at ε₀ it is 0
    with precision(_SEARCH_BITS + 2 * max(0, d.denominator.bit_length())):
        allowed, kept = BALL.number(d), share(local)
        while high - low > 1:
            deadline.check()
            middle = (low + high) // 2
            keeps = _summed(people, local, kept, local * middle / _STEPS) <= allowed
            low, high = (low, middle) if keeps else (middle, high)
    found = local * high / _STEPS
    return Baseline.of("shuffled, clones", source, digits, Kind.UPPER, found, d)


def shuffled_closed(delta: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 30) -> Baseline:
    """ε = log(1 + (1 − e^{−ε₀})/(1 + e^{−ε₀}/(1+s)) s), s = 8√(e^{ε₀} log(4/δ)/n) + 8e^{ε₀}/n.

    For ε₀ <= log(n/(16 log(4/δ))); AssumptionError beyond.

    >>> print(shuffled_closed("1e-6", 1, 10**6).epsilon.rounded_up(5))
    0.023807
    """
    d, local, people = probability_or_zero(delta, "delta"), local_epsilon(epsilon_0), crowd_size(n)
    if d == 0:
        raise DomainError("delta: found 0, needed delta > 0")
    source = FMT21.at("closedformanalysis of the authors' program")

    def value() -> arb:
        grown, log = BALL.number(local).exp(), (4 / BALL.number(d)).log()
        if not 16 * log * grown <= people:
            raise AssumptionError(
                f"shuffled_closed: found epsilon_0 = {echo(epsilon_0)}, needed at most "
                "log(n/(16 log(4/δ)))"
            )
        s = 8 * (grown * log / people).sqrt() + 8 * grown / people
        found: arb = ((1 - 1 / grown) / (1 + 1 / (grown * (1 + s))) * s).log1p()
        return found

    return Baseline.of("shuffled, closed form", source, digits, Kind.UPPER, value, d)


def local_epsilon(epsilon_0: Numeric) -> Fraction:
    """A rational ε₀ > 0."""
    number = rational(positive(epsilon_0, "epsilon_0"), "epsilon_0")
    if number > _MOST_LOCAL:
        raise DomainError(
            f"epsilon_0: found {echo(epsilon_0)}, needed epsilon_0 <= {_MOST_LOCAL:,}"
        )
    return number


def crowd_size(n: Numeric) -> int:
    """A number of people whose answers are shuffled."""
    people = whole(n, "n", least=1)
    if people > _MOST_PEOPLE:
        raise DomainError(f"n: found {echo(n)}, needed n <= {_MOST_PEOPLE:,}")
    return people


def _summed(n: int, local: Fraction, kept: arb, eps: Fraction) -> arb:
    """Σ_c P[C = c] δ_c from the largest count down; for the counts left out, 0 <= δ_c <= 1."""
    first, last = window(n - 1, kept)
    weight = arb(fmpz.bin_uiui(n - 1, last)) * kept**last * (1 - kept) ** (n - 1 - last)
    against, total, seen = (1 - kept) / kept, arb(0), arb(0)
    stick = _Clones(last, local, eps)
    for c in range(last, first - 1, -1):
        total, seen = total + weight * stick.at(c), seen + weight
        weight = weight * against * c / (n - c)
    return total + up_to((1 - seen).max(arb(0)))


def window(count: int, kept: arb) -> tuple[int, int]:
    """The counts of Bin(count, kept) outside of which there is about 2^−bits.

    By Hoeffding's inequality or, for small shares, by Bernstein's.
    """
    share, least = float(kept.mid()), (BALL.bits + 2) * math.log(2)
    centre, variance = count * share, count * share * (1 - share)
    bernstein = least / 3 + math.sqrt(least**2 / 9 + 2 * least * variance)
    width = min(math.sqrt(count * least / 2), bernstein)
    return max(0, math.floor(centre - width)), min(count, math.ceil(centre + width))


class _Clones:
    """The hockey stick of the two laws given C = c, for c from the largest one down.

    P/Q grows with the first count k, so it is the largest of one(c)·P[Bin(c, ½) >= k−1] +
    other·P[Bin(c, ½) >= k] over k, and 0. Tails grow downwards, so that no digits are lost.
    """

    def __init__(self, c: int, local: Fraction, eps: Fraction) -> None:
        kept, e = (-BALL.number(local)).exp(), BALL.number(eps).exp()
        p = 1 / (1 + kept)
        self.one = -BALL.number(eps - local).expm1() * p  # p − e^ε q
        self.other = BALL.number(-eps - local).expm1() * e * p  # q − e^ε p
        both, alone = (-BALL.number(-x).expm1() for x in (eps + local, local))
        self.share = both * e / ((1 + e) * alone)
        self.c, self.k = c, min(c, self._edges(c)[0])
        self.mass = arb(fmpz.bin_uiui(c, self.k)) / arb(2) ** c  # P[Bin(c, ½) = k]
        self.tail = _tail(c, self.k, self.mass)  # P[Bin(c, ½) >= k]

    def _edges(self, c: int) -> list[int]:
        """The first counts from which P > e^ε Q, as far as balls tell."""
        edge = (c + 1) * self.share
        return sorted({math.floor(float(x)) + 1 for x in ends_of(edge)})

    def at(self, c: int) -> arb:
        """δ_c, c being the count asked before or one less."""
        if c < self.c:
            self._one_less()
        return BALL.maximum(arb(0), *map(self._above, self._edges(c)))

    def _above(self, k: int) -> arb:
        """Of the threshold k; k = c + 1 leaves the one count above it."""
        c = self.c
        while self.k > min(k, c):
            deadline.check()
            self.mass *= arb(self.k) / (c - self.k + 1)
            self.tail, self.k = self.tail + self.mass, self.k - 1
        while self.k < min(k, c):
            deadline.check()
            self.tail, self.k = self.tail - self.mass, self.k + 1
            self.mass *= arb(c - self.k + 1) / self.k
        if k > c:
            return self.one * self.tail if k == c + 1 else arb(0)
        before = self.mass * self.k / (c - self.k + 1)
        return self.one * (self.tail + before) + self.other * self.tail

    def _one_less(self) -> None:
        """P[Bin(c, ½) >= k] = P[Bin(c−1, ½) >= k] + ½P[Bin(c−1, ½) = k−1]"""
        while self.k > self.c - 1 and self.k:
            deadline.check()
            self.mass *= arb(self.k) / (self.c - self.k + 1)
            self.tail, self.k = self.tail + self.mass, self.k - 1
        before = self.mass * self.k / self.c  # ½P[Bin(c−1, ½) = k−1]
        self.mass *= arb(2 * (self.c - self.k)) / self.c
        self.tail, self.c = self.tail - before, self.c - 1


def _tail(c: int, k: int, mass: arb) -> arb:
    """P[Bin(c, ½) >= k] from P[Bin(c, ½) = k], the quotients falling."""
    total, least = arb(0), arb(2) ** (-2 * BALL.bits)
    for a in range(k, c + 1):
        total += mass
        quotient = arb(c - a) / (a + 1)
        if quotient < 1 and mass < total * least:
            return total + up_to(mass * quotient / (1 - quotient))
        mass = mass * quotient
    return total
