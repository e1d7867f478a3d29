"""Feldman, McMillan, Talwar 2021: local randomizers whose answers are shuffled, by their clones.

Of n people each answers by an ε₀-DP randomizer, which may be chosen by the answers before. With
p = e^{ε₀}/(1 + e^{ε₀}), C ~ Bin(n−1, e^{−ε₀}), A ~ Bin(C, ½) and Δ ~ Bernoulli(p) the shuffled
answers tell no more of one person than (A + Δ, C − A + 1 − Δ) against (A + 1 − Δ, C − A + Δ) does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TypeAlias

from flint import arb, fmpz

from symacct.analysis.coin_counts import Signs, binomial, window
from symacct.baselines.result import (
    Baseline,
    enclose,
    falling_sum,
    finite_order,
    least_epsilon,
    positive_delta,
    probability_or_zero,
)
from symacct.kernel import deadline
from symacct.kernel.answer import Bound
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ends_of, floor, up_to
from symacct.kernel.claims import ABOVE_ONE, REPLACE_ONE, Kind, Source
from symacct.kernel.errors import AssumptionError, DomainError, echo
from symacct.kernel.exact import Numeric, Order
from symacct.kernel.parameters import positive, rational, whole
from symacct.kernel.sources import FMT21, SYMACCT

# --- counts of clones

#: The largest ε₀ in nats: beyond it a randomizer hides nothing. A larger one is refused.
_MOST_LOCAL = 10**6
#: The most people whose answers are shuffled: a sum has about the root of it in terms. More are
#: refused, as they take too long.
_MOST_PEOPLE = 10**7


#: ε₀ ↦ the chance that another's answer is a clone.
Share: TypeAlias = Callable[[Fraction], arb]


def of_any(local: Fraction) -> arb:
    """e^{−ε₀}, whatever the randomizers are"""
    return (-BALL.number(local)).exp()


def of_responses(local: Fraction) -> arb:
    """2/(1 + e^{ε₀})"""
    return 2 / (1 + BALL.number(local).exp())


#: The sources of the clones of any randomizers, and of those of randomized response.
_ANY = FMT21.at("deltacomp of the authors' program")
_RESPONSES = SYMACCT.at("docs/proofs/mechanisms.md, clones")


def shuffled(epsilon: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10) -> Baseline:
    """An upper bound of δ(ε), that of the clones' two laws: the numerical bound of the paper.

    Of n people each answers by an ε₀-DP randomizer. ε >= 0 and ε₀ > 0 are rational, in nats. Raises
    DomainError.

    >>> print(shuffled("1/2", 1, 1000).delta.rounded_up(5))
    6.9039e-27
    """
    return _delta_at(of_any, _ANY, epsilon, epsilon_0, n, digits)


def shuffled_responses(
    epsilon: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10
) -> Baseline:
    """An upper bound of δ(ε) of shuffled randomized response, on two values or more.

    By more clones than of any randomizer. It also holds for any randomizer with R(y) >= (R(x) +
    R(x′))/(1 + e^{ε₀}) for all x ≠ x′ and y; not every one has it (errata of arXiv:2208.04591).

    >>> print(shuffled_responses("1/2", 1, 1000).delta.rounded_up(5))
    5.8262e-38
    """
    return _delta_at(of_responses, _RESPONSES, epsilon, epsilon_0, n, digits)


def shuffled_epsilon(delta: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10) -> Baseline:
    """The least multiple of ε₀/2³⁰ at which the δ(ε) of `shuffled` is proved to be at most δ.

    >>> print(shuffled_epsilon("1e-6", 1, 1000).epsilon.rounded_up(5))
    0.18242
    """
    return _epsilon_at(of_any, _ANY, delta, epsilon_0, n, digits)


def shuffled_responses_epsilon(
    delta: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10
) -> Baseline:
    """The least multiple of ε₀/2³⁰ at which δ(ε) of `shuffled_responses` is proved at most δ.

    >>> print(shuffled_responses_epsilon("1e-6", 1, 1000).epsilon.rounded_up(5))
    0.14868
    """
    return _epsilon_at(of_responses, _RESPONSES, delta, epsilon_0, n, digits)


def _delta_at(
    share: Share, source: Source, epsilon: Numeric, epsilon_0: Numeric, n: Numeric, digits: int
) -> Baseline:
    """δ(ε) is Σ_c P[C = c] δ_c(ε), and 0 from ε₀ on."""
    eps, local, people = rational(epsilon, "epsilon"), local_epsilon(epsilon_0), crowd_size(n)

    def value() -> arb:
        if eps >= local:
            return arb(0)
        return _summed(people, local, share(local), eps)

    return Baseline.of("shuffled, clones", source, digits, Kind.UPPER, eps, value)


def _epsilon_at(
    share: Share, source: Source, delta: Numeric, epsilon_0: Numeric, n: Numeric, digits: int
) -> Baseline:
    """The least multiple of ε₀/2³⁰ at which Σ_c P[C = c] δ_c(ε) is proved to be at most δ."""
    d, local, people = probability_or_zero(delta, "delta"), local_epsilon(epsilon_0), crowd_size(n)
    least = least_epsilon(d, local, lambda eps, _: _summed(people, local, share(local), eps))
    return Baseline.of("shuffled, clones", source, digits, Kind.UPPER, least, d)


def shuffled_closed(delta: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 30) -> Baseline:
    """ε = log(1 + (1 − e^{−ε₀})/(1 + e^{−ε₀}/(1+s)) s), s = 8√(e^{ε₀} log(4/δ)/n) + 8e^{ε₀}/n.

    For ε₀ <= log(n/(16 log(4/δ))); AssumptionError beyond.

    >>> print(shuffled_closed("1e-6", 1, 10**6).epsilon.rounded_up(5))
    0.023807
    """
    d, local, people = positive_delta(delta), local_epsilon(epsilon_0), crowd_size(n)
    source = FMT21.at("closedformanalysis of the authors' program")

    def value() -> arb:
        grown, log = BALL.number(local).exp(), (4 / BALL.number(d)).log()
        if not 16 * log * grown <= people:
            raise AssumptionError(
                f"shuffled_closed: found epsilon_0 = {echo(epsilon_0)}, needed at most "
                "log(n/(16 log(4/δ)))"
            )
        s = 8 * (grown * log / people).sqrt() + 8 * grown / people
        epsilon: arb = ((1 - 1 / grown) / (1 + 1 / (grown * (1 + s))) * s).log1p()
        return epsilon

    return Baseline.of("shuffled, closed form", source, digits, Kind.UPPER, value, d)


def local_epsilon(epsilon_0: Numeric) -> Fraction:
    """A rational ε₀ in nats, 0 < ε₀ <= 10⁶; DomainError for another."""
    number = rational(positive(epsilon_0, "epsilon_0"), "epsilon_0")
    if number > _MOST_LOCAL:
        raise DomainError(
            f"epsilon_0: found {echo(epsilon_0)}, needed epsilon_0 <= {_MOST_LOCAL:,}"
        )
    return number


def crowd_size(n: Numeric) -> int:
    """A number of people from 1 to 10⁷; DomainError for another."""
    return whole(n, "n", least=1, most=_MOST_PEOPLE)


def _summed(n: int, local: Fraction, kept: arb, eps: Fraction) -> arb:
    """Σ_c P[C = c] δ_c in a ball, from the largest count of the window down.

    `kept` is the chance that another's answer is a clone; for counts left out 0 <= δ_c <= 1.
    """
    first, last = window(n - 1, kept)
    weight = arb(fmpz.bin_uiui(n - 1, last)) * kept**last * (1 - kept) ** (n - 1 - last)
    against, total, seen = (1 - kept) / kept, arb(0), arb(0)
    stick = _Clones(last, local, eps)
    for c in range(last, first - 1, -1):
        total, seen = total + weight * stick.at(c), seen + weight
        weight = weight * against * c / (n - c)
    return total + up_to((1 - seen).max(arb(0)))


class _Clones:
    """δ_c, the hockey stick of the two laws given C = c, for c from the largest one down.

    P/Q grows with the first count k, so it is the largest of one(c)·P[Bin(c, ½) >= k−1] +
    other·P[Bin(c, ½) >= k] over k, and 0. Tails grow downwards, so that no digits are lost.
    """

    def __init__(self, c: int, local: Fraction, eps: Fraction) -> None:
        kept, e = (-BALL.number(local)).exp(), BALL.number(eps).exp()
        p = 1 / (1 + kept)
        self.slope = -BALL.number(eps - local).expm1() * p  # p − e^ε q
        self.further = BALL.number(-eps - local).expm1() * e * p  # q − e^ε p
        both, alone = (-BALL.number(-x).expm1() for x in (eps + local, local))
        self.share = both * e / ((1 + e) * alone)
        self.c, self.k = c, min(c, self._edges(c)[0])
        self.mass = arb(fmpz.bin_uiui(c, self.k)) / arb(2) ** c  # P[Bin(c, ½) = k]
        self.tail = _tail(c, self.k, self.mass)  # P[Bin(c, ½) >= k]

    def _edges(self, c: int) -> list[int]:
        """The counts one of which is the first with P > e^ε Q: one or two, as far as balls tell."""
        edge = (c + 1) * self.share
        return sorted({floor(x) + 1 for x in ends_of(edge)})

    def at(self, c: int) -> arb:
        """δ_c, c being the count asked before or one less."""
        if c < self.c:
            self._one_less()
        return BALL.maximum(arb(0), *map(self._above, self._edges(c)))

    def _above(self, k: int) -> arb:
        """P − e^ε Q of all counts >= k; k = c + 1 leaves one count, and a larger k none."""
        c = self.c
        self._down_to(min(k, c))
        while self.k < min(k, c):
            deadline.check()
            self.tail, self.k = self.tail - self.mass, self.k + 1
            self.mass *= arb(c - self.k + 1) / self.k
        if k > c:
            return self.slope * self.tail if k == c + 1 else arb(0)
        before = self.mass * self.k / (c - self.k + 1)
        return self.slope * (self.tail + before) + self.further * self.tail

    def _down_to(self, k: int) -> None:
        """Go from a larger count to k, one by one."""
        while self.k > k:
            deadline.check()
            self.mass *= arb(self.k) / (self.c - self.k + 1)
            self.tail, self.k = self.tail + self.mass, self.k - 1

    def _one_less(self) -> None:
        """Go from c to c−1: the mass and the tail are then those of Bin(c−1, ½), k <= c−1.

        P[Bin(c, ½) >= k] = P[Bin(c−1, ½) >= k] + ½P[Bin(c−1, ½) = k−1]
        """
        self._down_to(max(self.c - 1, 0))
        before = self.mass * self.k / self.c  # ½P[Bin(c−1, ½) = k−1]
        self.mass *= arb(2 * (self.c - self.k)) / self.c
        self.tail, self.c = self.tail - before, self.c - 1


def _tail(c: int, k: int, mass: arb) -> arb:
    """P[Bin(c, ½) >= k] in a ball from `mass` = P[Bin(c, ½) = k], as the quotients fall."""
    return falling_sum(mass, ((arb(1), arb(c - a) / (a + 1)) for a in range(k, c + 1)))


# --- Rényi orders
#
# The divergence of the clones' two laws. Given C = m − 1 clones they are those of k ~ Bin(m, ½),
# weighed by 2u and 2v, u = px + q(1−x), v = qx + p(1−x), x = k/m, which k ↦ m − k exchanges. With
# d = tanh(ε₀/2) and the sum W = 2k − m of signs their moment is E[(1+dW/m)^α (1−dW/m)^{1−α}], a
# power series of positive terms (docs/proofs/mechanisms.md, Lemma clones), of which few are enough
# where there are many clones.

#: The n and the (α−1)ε₀ in nats beyond both of which a value takes minutes, and is refused.
_LARGE_CROWD, _LARGE_LOSS = 10_000, 100


def shuffled_rdp(alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10) -> Bound:
    """An upper bound of ε(α) in nats of n people's shuffled answers, each ε₀-DP; 1 < α < ∞.

    Raises DomainError, OrderError.

    >>> print(shuffled_rdp(4, 1, 1000, digits=6))
    0.00464671
    """
    place = FMT21.at("the two laws of the clones, in the authors' program")
    return _curve(of_any, place, alpha, epsilon_0, n, digits)


def shuffled_responses_rdp(
    alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10
) -> Bound:
    """An upper bound of ε(α) in nats of shuffled randomized response; see `shuffled_responses`.

    >>> print(shuffled_responses_rdp(4, 1, 1000, digits=6))
    0.00317747
    """
    return _curve(of_responses, _RESPONSES, alpha, epsilon_0, n, digits)


def shuffled_least_rdp(alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int = 10) -> Bound:
    """A lower bound, in nats, of every bound on ε(α) for all ε₀-DP randomizers; 1 < α < ∞.

    Answers by randomized response, on two values of which all others have one value, or on three,
    where all others have the third.

    >>> print(shuffled_least_rdp(4, 1, 1000, digits=6))
    0.00250300
    """
    at, local, people = _setting(alpha, epsilon_0, n)

    def value() -> arb:
        two = (_with_one_other_value(people, local, power) for power in (at, 1 - at))
        largest = BALL.maximum(*two, _with_a_third_value(people, local, at) - 1)
        return largest.log1p() / BALL.number(at - 1)

    what = "shuffled randomized response at a Rényi order"
    return enclose(value, _RESPONSES, digits, what, Kind.LOWER, REPLACE_ONE, ABOVE_ONE)


def _with_one_other_value(n: int, local: Fraction, power: Fraction | int) -> arb:
    """E[r^power] − 1, r = (k/n)e^{ε₀} + (1 − k/n)e^{−ε₀} of mean 1, k ~ Bin(n, 1/(1+e^{ε₀}))."""
    grown, exponent = BALL.number(local).exp(), BALL.number(power)

    def above_tangent(r: arb) -> arb:
        return (exponent * r.log()).expm1() - exponent * (r - 1)

    counts = binomial(n, 1 / (1 + grown))
    weighted = ((chance, above_tangent((k * grown + (n - k) / grown) / n)) for k, chance in counts)
    return _with_rest(weighted, BALL.maximum(*map(above_tangent, (grown, 1 / grown))))


def _setting(
    alpha: Numeric, epsilon_0: Numeric, n: Numeric
) -> tuple[int | Fraction, Fraction, int]:
    """α in (1, ∞), ε₀ and n, checked."""
    return finite_order(alpha, "shuffled_rdp"), local_epsilon(epsilon_0), crowd_size(n)


def _curve(
    share: Share, source: Source, alpha: Numeric, epsilon_0: Numeric, n: Numeric, digits: int
) -> Bound:
    """ε(α) is log E[(P/Q)^α]/(α−1) over the number of clones; DomainError for too many people."""
    at, local, people = _setting(alpha, epsilon_0, n)
    if people > _LARGE_CROWD and (at - 1) * local > _LARGE_LOSS:
        raise DomainError(
            f"n: found {people:,}, needed n <= {_LARGE_CROWD:,} where (alpha - 1) epsilon_0 > "
            f"{_LARGE_LOSS}"
        )

    def value() -> arb:
        return (_mean(people, local, share(local), at) - 1).log1p() / BALL.number(at - 1)

    what = "shuffled answers at a Rényi order"
    return enclose(value, source, digits, what, Kind.UPPER, REPLACE_ONE, ABOVE_ONE)


def _mean(n: int, local: Fraction, kept: arb, alpha: Order) -> arb:
    """E[(P/Q)^α] in a ball, over C ~ Bin(n−1, kept) clones, with what is outside of the window."""
    d, signs = (BALL.number(local) / 2).tanh(), Signs(alpha)
    weighted = ((chance, signs.moment(c + 1, d)) for c, chance in binomial(n - 1, kept))
    return _with_rest(weighted, signs.most(d))


def _with_a_third_value(n: int, local: Fraction, alpha: Order) -> arb:
    """The moment where all others have a third value, m ~ Bin(n, 2/(2+e^{ε₀})) not answering it:

    P/R and Q/R are s(1 ± dW/m), s = (m(e^{ε₀}+1)/2 + (n−m)e^{−ε₀})/n, d = m(e^{ε₀}−1)/(2ns), for R
    the law of n who have the third and W the sum of m fair signs; of mean 1, so that nothing has to
    be known of the rest.
    """
    grown, signs = BALL.number(local).exp(), Signs(alpha)

    def weighted() -> Iterator[tuple[arb, arb]]:
        for m, chance in binomial(n, 2 / (2 + grown)):
            total = m * (grown + 1) / 2 + (n - m) / grown
            yield chance * total / n, signs.moment(m, m * (grown - 1) / (2 * total))

    return _with_rest(weighted(), signs.most((BALL.number(local) / 2).tanh()))


def _with_rest(weighted: Iterable[tuple[arb, arb]], largest: arb) -> arb:
    """The mean of values from 0 to the largest, of which some are not given."""
    total, seen = arb(0), arb(0)
    for chance, value in weighted:
        total, seen = total + chance * value, seen + chance
    left = (1 - seen).max(arb(0))
    return total.union(total + left * largest)
