"""Shuffled answers of local randomizers at Rényi orders: the divergence of the clones' two laws.

Given C = m − 1 clones the laws are those of k ~ Bin(m, ½), weighed by 2u and 2v, u = px + q(1−x),
v = qx + p(1−x), x = k/m, which k ↦ m − k exchanges; see `shuffle`. With d = tanh(ε₀/2) and the sum
W = 2k − m of signs their moment is E[(1+dW/m)^α (1−dW/m)^{1−α}], a power series of positive terms
(docs/proofs.md, section 34), of which few are enough where there are many clones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from flint import arb, arb_series, ctx, fmpz

from symacct.baselines.result import enclose
from symacct.baselines.shuffle import Share, crowd_size, local_epsilon, of_any, of_responses, window
from symacct.kernel import deadline
from symacct.kernel.answer import Bound
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import ABOVE_ONE, REPLACE_ONE, Kind, Source
from symacct.kernel.errors import DomainError, OrderError, echo
from symacct.kernel.exact import INFINITY, Numeric, Order, order
from symacct.kernel.sources import FMT21, SYMACCT
from symacct.kernel.sums.balls import up_to

_MOST_PEOPLE, _MOST_LOSS = 10_000, 100  # beyond both a value takes minutes
_MOST_TERMS = 400  # of a power series, before the outcomes are summed one by one


def shuffled_rdp(alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10) -> Bound:
    """ε(α) of the shuffled answers of n people, each by an ε₀-DP randomizer; α > 1.

    >>> print(shuffled_rdp(4, 1, 1000, digits=6))
    0.00464671
    """
    place = FMT21.at("the two laws of the clones, in the authors' program")
    return _curve(of_any, place, alpha, epsilon_0, n, digits)


def shuffled_responses_rdp(
    alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10
) -> Bound:
    """ε(α) of shuffled randomized response; see `shuffled_responses`.

    >>> print(shuffled_responses_rdp(4, 1, 1000, digits=6))
    0.00317747
    """
    place = SYMACCT.at("docs/proofs.md, section 34")
    return _curve(of_responses, place, alpha, epsilon_0, n, digits)


def shuffled_least_rdp(alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10) -> Bound:
    """What no bound on ε(α) for all ε₀-DP randomizers is below; α > 1.

    Answers by randomized response, on two values of which all others have one value, or on three,
    where all others have the third.

    >>> print(shuffled_least_rdp(4, 1, 1000, digits=6))
    0.00250300
    """
    at, local, people = _asked(alpha, epsilon_0, n)

    def value() -> arb:
        two = (_alone(people, local, power) for power in (at, 1 - at))
        largest = BALL.maximum(*two, _told(people, local, at) - 1)
        return largest.log1p() / BALL.number(at - 1)

    place = SYMACCT.at("docs/proofs.md, section 34")
    what = "shuffled randomized response at a Rényi order"
    return enclose(value, place, digits, what, Kind.LOWER, REPLACE_ONE, ABOVE_ONE)


def _alone(n: int, local: Fraction, power: Fraction | int) -> arb:
    """E[r^power] − 1, r = (k/n)e^{ε₀} + (1 − k/n)e^{−ε₀} of mean 1, k ~ Bin(n, 1/(1+e^{ε₀}))."""
    grown, exponent = BALL.number(local).exp(), BALL.number(power)

    def above_tangent(r: arb) -> arb:
        return (exponent * r.log()).expm1() - exponent * (r - 1)

    counts = _binomial(n, 1 / (1 + grown))
    given = ((chance, above_tangent((k * grown + (n - k) / grown) / n)) for k, chance in counts)
    return _with_rest(given, arb(0), BALL.maximum(*map(above_tangent, (grown, 1 / grown))))


def _asked(alpha: Numeric, epsilon_0: Numeric, n: Numeric) -> tuple[int | Fraction, Fraction, int]:
    """α, ε₀ and n."""
    at, local, people = order(alpha), local_epsilon(epsilon_0), crowd_size(n)
    if at in (1, INFINITY) or not isinstance(at, int | Fraction):
        raise OrderError(f"shuffled_rdp: found alpha = {echo(alpha)}, needed 1 < alpha < ∞")
    return at, local, people


def _curve(
    share: Share, source: Source, alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int
) -> Bound:
    at, local, people = _asked(alpha, epsilon_0, n)
    if people > _MOST_PEOPLE and (at - 1) * local > _MOST_LOSS:
        raise DomainError(
            f"n: found {people:,}, needed n <= {_MOST_PEOPLE:,} where (alpha - 1) epsilon_0 > "
            f"{_MOST_LOSS}"
        )

    def value() -> arb:
        return (_mean(people, local, share(local), at) - 1).log1p() / BALL.number(at - 1)

    what = "shuffled answers at a Rényi order"
    return enclose(value, source, digits, what, Kind.UPPER, REPLACE_ONE, ABOVE_ONE)


def _mean(n: int, local: Fraction, kept: arb, alpha: Order) -> arb:
    """E[(P/Q)^α] of C ~ Bin(n−1, kept) clones, with what lies outside of the window."""
    d, signs = (BALL.number(local) / 2).tanh(), Signs(alpha)
    given = ((chance, signs.moment(c + 1, d)) for c, chance in _binomial(n - 1, kept))
    return _with_rest(given, arb(0), signs.most(d))


def _told(n: int, local: Fraction, alpha: Order) -> arb:
    """The moment where all others have a third value, m ~ Bin(n, 2/(2+e^{ε₀})) not answering it:

    P/R and Q/R are s(1 ± dW/m), s = (m(e^{ε₀}+1)/2 + (n−m)e^{−ε₀})/n, d = m(e^{ε₀}−1)/(2ns), for R
    the law of n who have the third; of mean 1, so that nothing has to be known of the rest.
    """
    grown, signs = BALL.number(local).exp(), Signs(alpha)

    def given() -> Iterator[tuple[arb, arb]]:
        for m, chance in _binomial(n, 2 / (2 + grown)):
            total = m * (grown + 1) / 2 + (n - m) / grown
            yield chance * total / n, signs.moment(m, m * (grown - 1) / (2 * total))

    return _with_rest(given(), arb(0), signs.most((BALL.number(local) / 2).tanh()))


def _binomial(n: int, share: arb) -> Iterator[tuple[int, arb]]:
    """The counts in the window, and their chances."""
    first, last = window(n, share)
    mass = arb(fmpz.bin_uiui(n, first)) * share**first * (1 - share) ** (n - first)
    for k in range(first, last + 1):
        yield k, mass
        mass = mass * share / (1 - share) * (n - k) / (k + 1)


def _with_rest(given: Iterable[tuple[arb, arb]], least: arb, most: arb) -> arb:
    """The mean of values between these two, of which some are not given."""
    total, seen = arb(0), arb(0)
    for chance, value in given:
        total, seen = total + chance * value, seen + chance
    left = (1 - seen).max(arb(0))
    return (total + left * least).union(total + left * most)


class Signs:
    """E[(1+z)^α (1−z)^{1−α}], z = dW/m, W the sum of m signs by fair coins."""

    def __init__(self, alpha: Order) -> None:
        self.alpha, self.least = BALL.number(alpha), arb(2) ** -BALL.bits
        # Of z^{2i}; (k+1)g_{k+1} = (2α−1)g_k + (k−2)g_{k−1} are those of all powers.
        self.rate = 2 * self.alpha - 1
        self.even, self.odd = [arb(1), 2 * self.alpha * BALL.number(alpha - 1)], self.rate

    def most(self, d: arb) -> arb:
        """The largest for |z| <= d, of z and −z together."""
        return (self._of(d) + self._of(-d)) / 2

    def _of(self, z: arb) -> arb:
        return (1 - z) * (self.alpha * ((1 + z) / (1 - z)).log()).exp()

    def moment(self, m: int, d: arb) -> arb:
        found = self._by_series(m, d)
        return self._by_outcomes(m, d) if found is None else found

    def _by_series(self, m: int, d: arb) -> arb | None:
        """Σ_i g_{2i} d^{2i} E[(W/m)^{2i}], E[W^{2i}] <= (2i−1)!! m^i; |W| <= m bounds the rest."""
        rest, terms = self.most(d), 0
        while not rest < self.least:
            if terms == _MOST_TERMS or 2 * terms >= m:
                return None
            rest, terms = rest * (2 * terms + 1) / m, terms + 1
        while len(self.even) < terms:
            deadline.check()
            self.even.append(self._next_even())
        cap, ctx.cap = ctx.cap, terms
        try:
            of_one = arb_series([arb(1) / arb(2 * i).fac() for i in range(terms)]).log()
            of_all = (m * of_one).exp().coeffs()
        finally:
            ctx.cap = cap
        total, scale, step = arb(0), arb(1), (d / m) ** 2
        for i, c in enumerate(of_all):
            total += self.even[i] * c * scale
            scale = scale * (2 * i + 1) * (2 * i + 2) * step
        return total + up_to(rest)

    def _next_even(self) -> arb:
        """g_{2i}, by the odd one before it."""
        k, last = 2 * len(self.even) - 2, self.even[-1]
        self.odd = (self.rate * last + (k - 2) * self.odd) / (k + 1)
        return (self.rate * self.odd + (k - 1) * last) / (k + 2)

    def _by_outcomes(self, m: int, d: arb) -> arb:
        """Over the counts k of one sign, of k and m − k at once; the tails are at most `most`."""
        if m == 0:
            return arb(1)
        low = max(0, math.floor(m / 2 - math.sqrt(m * (BALL.bits + 2) * math.log(2) / 2)))
        mass = arb(fmpz.bin_uiui(m, low)) / arb(2) ** m
        total, seen = arb(0), arb(0)
        for k in range(low, m // 2 + 1):
            both = mass if 2 * k == m else 2 * mass
            total, seen = total + both * self.most(d * (m - 2 * k) / m), seen + both
            mass = mass * (m - k) / (k + 1)
        left = (1 - seen).max(arb(0))
        return (total + left).union(total + left * self.most(d))
