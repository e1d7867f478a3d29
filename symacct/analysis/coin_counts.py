"""Counts of coins in balls: binomial chances, tails, shortfalls, and moments of sums of signs."""

from __future__ import annotations

import math
from collections.abc import Iterator

from flint import arb, arb_series, ctx, fmpz

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import geometric_tail, up_to
from symacct.kernel.exact import Order

#: A power series has so many terms at most; of more the outcomes are summed one by one. Both are
#: balls: it costs time alone.
_MOST_TERMS = 400

# --- chances


def window(count: int, kept: arb) -> tuple[int, int]:
    """The first and the last count of Bin(count, kept) outside of which there is about 2^−bits.

    By Hoeffding's inequality or, for small shares, by Bernstein's, in float64; bits are those of
    the balls at present. It steers: callers bound the mass outside by 1 less what they have seen.
    """
    share, nats = float(kept.mid()), (BALL.bits + 2) * math.log(2)
    if not kept < 1:
        return count, count
    centre, variance = count * share, count * share * float((1 - kept).mid())
    bernstein = nats / 3 + math.sqrt(nats**2 / 9 + 2 * nats * variance)
    width = min(math.sqrt(count * nats / 2), bernstein)
    return max(0, math.floor(centre - width)), min(count, math.ceil(centre + width))


def binomial(count: int, share: arb) -> Iterator[tuple[int, arb]]:
    """The counts of Bin(count, share) in the window, and their chances in balls."""
    first, last = window(count, share)
    mass = arb(fmpz.bin_uiui(count, first)) * share**first * (1 - share) ** (count - first)
    for k in range(first, last + 1):
        yield k, mass
        if k < last:
            mass = mass * share / (1 - share) * (count - k) / (k + 1)


# --- tails of fair coins


class FairTail:
    """P[Bin(m, ½) = k] and P[Bin(m, ½) >= k] for one k after another, m from the largest one down.

    Tails grow downwards, so that hardly any digits are lost.
    """

    def __init__(self, m: int, k: int) -> None:
        self.m, self.k = m, k
        self.mass = arb(fmpz.bin_uiui(m, k)) / arb(2) ** m
        upper = 2 * k >= m
        self.tail = self._beyond(k) if upper else 1 - self._beyond(m - k + 1)

    def _beyond(self, k: int) -> arb:
        """P[Bin(m, ½) >= k] for k >= m/2, whose quotients fall."""
        m = self.m
        if k > m:
            return arb(0)
        mass, total = arb(fmpz.bin_uiui(m, k)) / arb(2) ** m, arb(0)
        tiny = arb(2) ** -(BALL.bits + 8)
        while k < m:
            deadline.check()
            total, quotient = total + mass, arb(m - k) / (k + 1)
            mass, k = mass * quotient, k + 1
            if (rest := geometric_tail(mass, quotient)) < total * tiny:
                return total + up_to(rest)
        return total + mass

    def move(self, m: int, k: int) -> None:
        """Go to other counts, 0 <= k <= m, m at most what it was."""
        while self.m > m:
            deadline.check()
            if self.k == self.m:
                self._down()
            before = self.mass * self.k / self.m  # ½P[Bin(m−1, ½) = k−1]
            self.mass *= arb(2 * (self.m - self.k)) / self.m
            self.tail, self.m = self.tail - before, self.m - 1
        while self.k > k:
            self._down()
        while self.k < k:
            self.tail, self.k = self.tail - self.mass, self.k + 1
            self.mass *= arb(self.m - self.k + 1) / self.k

    def _down(self) -> None:
        """Go to the next smaller k."""
        self.mass *= arb(self.k) / (self.m - self.k + 1)
        self.tail, self.k = self.tail + self.mass, self.k - 1


# --- a count moved to multiples of a step


class MovedCount:
    """Bin(N, ρ) moved to multiples of a step, its mean kept, for N from the smallest one up.

    A count between two multiples goes to both, with its mean. The chance of Kh is the second
    difference of E(X − Kh)₊ over h, which takes twice the bits of the chance.
    """

    def __init__(self, rho: arb, step: int, fewest: int, most: int) -> None:
        """Choose the multiples that matter for N from `fewest` to `most`; ρ in (0, 1)."""
        self.rho, self.step, self.count = rho, step, fewest
        low, high = window(fewest, rho)[0], window(most, rho)[1]
        self.first, last = low // step - 1, -(-high // step) + 1
        places = [k * step for k in range(self.first, last + 1)]
        self.places = places
        #: P[X = K−1], P[X >= K] and E(X − K)₊ at each place K.
        self.before, self.tails, self.shortfalls = self._start(places)

    def _start(self, places: list[int]) -> tuple[list[arb], list[arb], list[arb]]:
        """Sum the chances of the smallest N from the last place down."""
        n, rho = self.count, self.rho
        odds = rho / (1 - rho)
        before, tails, shortfalls = [], [], []
        k = min(places[-1], n)
        mass = arb(fmpz.bin_uiui(n, k)) * rho**k * (1 - rho) ** (n - k)
        tail = self._beyond(n, k, mass, odds)
        for place in reversed(places):
            deadline.check()
            if place > n:
                before.append(rho**n if place == n + 1 else arb(0))
                tails.append(arb(0))
                shortfalls.append(arb(0))
                continue
            if place <= 0:
                before.append(arb(0))
                tails.append(arb(1))
                shortfalls.append(n * rho - place)
                continue
            while k > place:
                mass = mass * k / ((n - k + 1) * odds)
                tail, k = tail + mass, k - 1
            before.append(mass * k / ((n - k + 1) * odds))
            tails.append(tail)
            shortfalls.append((n * rho - k) * tail + (1 - rho) * k * mass)
        return before[::-1], tails[::-1], shortfalls[::-1]

    @staticmethod
    def _beyond(n: int, k: int, mass: arb, odds: arb) -> arb:
        """P[X >= k] from P[X = k], for k beyond the mean, where the quotients fall."""
        total, tiny = arb(0), arb(2) ** -(2 * BALL.bits)
        while k < n:
            total, quotient = total + mass, odds * (n - k) / (k + 1)
            mass, k = mass * quotient, k + 1
            if quotient < 1 and (rest := geometric_tail(mass, quotient)) < tiny * (total + tiny):
                return total + up_to(rest)
        return total + mass

    def one_more(self) -> None:
        """Go from N to N + 1: E(X + coin − K)₊ is E(X − K)₊ + ρP[X >= K]."""
        n, rho, kept = self.count, self.rho, 1 - self.rho
        for i, place in enumerate(self.places):
            tail = self.tails[i]
            self.shortfalls[i] += rho * tail
            self.tails[i] = tail + rho * self.before[i]
            if place <= n + 1:
                self.before[i] *= arb(n + 1) * kept / (n + 2 - place)
            elif place == n + 2:  # of N + 1 coins all
                self.before[i] = rho ** (n + 1)
        self.count = n + 1

    def chances(self) -> list[tuple[int, arb]]:
        """Each place but the first and the last one, and its chance."""
        G = self.shortfalls  # noqa: N806
        return [
            (self.places[i], ((G[i - 1] - 2 * G[i] + G[i + 1]) / self.step).max(arb(0)))
            for i in range(1, len(self.places) - 1)
        ]


# --- moments of a sum of signs


def sign_moments(m: int, terms: int) -> list[arb]:
    """E[W^{2i}]/(2i)! for i < `terms`, the coefficients of cosh(t)^m."""
    cap, ctx.cap = ctx.cap, terms
    try:
        of_one = arb_series([arb(1) / arb(2 * i).fac() for i in range(terms)]).log()
        return list((m * of_one).exp().coeffs())
    finally:
        ctx.cap = cap


class Signs:
    """E[(1+z)^α (1−z)^{1−α}], z = dW/m, W the sum of m signs by fair coins; at one precision.

    Coefficients of its power series are kept from one m to the next.
    """

    def __init__(self, alpha: Order) -> None:
        self.alpha, self.tiny = BALL.number(alpha), arb(2) ** -BALL.bits
        # Of z^{2i}; (k+1)g_{k+1} = (2α−1)g_k + (k−2)g_{k−1} are those of all powers.
        self.rate = 2 * self.alpha - 1
        self.even, self.odd = [arb(1), 2 * self.alpha * BALL.number(alpha - 1)], self.rate

    def most(self, d: arb) -> arb:
        """The largest for |z| <= d, of z and −z together."""
        return (self._of(d) + self._of(-d)) / 2

    def _of(self, z: arb) -> arb:
        """(1+z)^α (1−z)^{1−α}, |z| < 1."""
        return (1 - z) * (self.alpha * ((1 + z) / (1 - z)).log()).exp()

    def moment(self, m: int, d: arb) -> arb:
        """The mean for m signs and 0 <= d < 1, in a ball."""
        mean = self._by_series(m, d)
        return self._by_outcomes(m, d) if mean is None else mean

    def _by_series(self, m: int, d: arb) -> arb | None:
        """Σ_i g_{2i} d^{2i} E[(W/m)^{2i}] in a ball; None where it takes too many terms.

        E[W^{2i}] <= (2i−1)!! m^i and |W| <= m bound the rest.
        """
        rest, terms = self.most(d), 0
        while not rest < self.tiny:
            if terms == _MOST_TERMS or 2 * terms >= m:
                return None
            rest, terms = rest * (2 * terms + 1) / m, terms + 1
        total, scale, step = arb(0), arb(1), (d / m) ** 2
        for i, c in enumerate(sign_moments(m, terms)):
            total += self.coefficient(i) * c * scale
            scale = scale * (2 * i + 1) * (2 * i + 2) * step
        return total + up_to(rest)

    def coefficient(self, i: int) -> arb:
        """The coefficient of z^{2i}; those before it are kept."""
        while len(self.even) <= i:
            deadline.check()
            self.even.append(self._next_even())
        return self.even[i]

    def _next_even(self) -> arb:
        """The next even coefficient g_{2i}, by the odd one before it, which is kept."""
        k, last = 2 * len(self.even) - 2, self.even[-1]
        self.odd = (self.rate * last + (k - 2) * self.odd) / (k + 1)
        return (self.rate * self.odd + (k - 1) * last) / (k + 2)

    def _by_outcomes(self, m: int, d: arb) -> arb:
        """The mean over the counts k of one sign, k and m − k at once; tails are at most `most`."""
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
