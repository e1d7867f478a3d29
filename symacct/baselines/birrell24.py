"""Birrell, Ebrahimi, Behnia, Pacheco 2024: sampled Gaussian noise by Taylor's formula in γ.

E[(1+γx)^α (1+γy)^{1−α}] up to γ^{m−1}, and what is left in Lagrange's form, x + 1 and y + 1 being
log-normal of variance s = (Δ/σ)². Every mixed moment is at most B_k, of x alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from flint import arb

from symacct.baselines.result import enclose, finite_order
from symacct.kernel import deadline
from symacct.kernel.answer import Bound
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball
from symacct.kernel.claims import ABOVE_ONE, REPLACE_ONE, Kind
from symacct.kernel.errors import DomainError, OrderError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import nonnegative, positive, probability, rational, whole
from symacct.kernel.sources import BEBP24

#: The largest α + m: the moments take the square of it in steps. Larger ones are refused, as they
#: take too long.
_LAST_MOMENT = 1000

#: k ↦ B_k >= |E[x^j y^{k−j}]| for all j <= k
Moments = Callable[[int], arb]


def fixed_size_taylor(
    alpha: Numeric,
    gamma: Numeric,
    sigma: Numeric,
    terms: int = 4,
    sensitivity: Numeric = 1,
    digits: int = 30,
) -> Bound:
    """An upper bound of ε(α) in nats of Gaussian noise on a fixed-size sample, a record replaced.

    By Taylor's formula of m = `terms` >= 3, α > 1, 0 < γ < 1. Their σ is 2σ/Δ here: a clipped sum
    changes by 2C where a record is replaced. Raises DomainError, OrderError.

    >>> print(fixed_size_taylor(8, "1/1000", 5, digits=7))
    1.655117e-7
    """
    run = alpha, gamma, sigma, sensitivity
    return _bound("Theorem 3.4", Fraction(1, 2), run, terms, digits)


def poisson_taylor(
    alpha: Numeric,
    gamma: Numeric,
    sigma: Numeric,
    terms: int = 4,
    sensitivity: Numeric = 1,
    digits: int = 30,
) -> Bound:
    """An upper bound of ε(α) in nats of Gaussian noise on a Poisson sample, a record replaced.

    `sensitivity` is that of adding or removing a record; the rest is as in `fixed_size_taylor`.

    >>> print(poisson_taylor(8, "1/1000", 5, digits=7))
    6.408055e-7
    """
    return _bound("Theorem C.9", Fraction(-1), (alpha, gamma, sigma, sensitivity), terms, digits)


def _bound(
    place: str,
    correlation: Fraction,
    run: tuple[Numeric, Numeric, Numeric, Numeric],
    terms: int,
    digits: int,
) -> Bound:
    """log(1 + Σ_k E[∂ᵏ/∂γᵏ] γ^k/k! + the rest)/(α−1), by both ratios less 1, x and y.

    E[xy] = e^{s·correlation} − 1, s = (Δ/σ)², and `place` is that of the theorem. `run` is α > 1,
    0 < γ < 1, σ and Δ; DomainError, OrderError for others.
    """
    order, gamma, sigma, sensitivity = run
    noise = nonnegative(sensitivity, "sensitivity") / positive(sigma, "sigma")
    alpha, square = Fraction(finite_order(order, "Taylor's formula")), rational(noise**2, "sigma")
    g = rational(probability(gamma, "gamma"), "gamma")
    m = whole(terms, "terms", least=3)
    if m >= _LAST_MOMENT:
        raise DomainError(f"terms: found {echo(terms)}, needed terms < {_LAST_MOMENT}")
    if alpha + m > _LAST_MOMENT:
        raise OrderError(f"alpha: found {echo(alpha)}, needed 1 < alpha <= {_LAST_MOMENT - m}")

    def value() -> arb:
        moments = _moments(square)
        second = alpha * (alpha - 1) * g**2
        total = BALL.number(second) * (ball(square).exp() - ball(correlation * square).exp())
        for k in range(3, m):
            total += BALL.number(_derivative(alpha, k) * g**k / math.factorial(k)) * moments(k)
        return (total + _rest(alpha, g, m, moments)).log1p() / BALL.number(alpha - 1)

    what = f"Taylor's formula of {m} terms"
    return enclose(value, BEBP24.at(place), digits, what, Kind.UPPER, REPLACE_ONE, ABOVE_ONE)


def _moments(square: Fraction) -> Moments:
    """k ↦ B_k: E[x^k] for even k, the geometric mean of both neighbours for odd k >= 3."""
    step = ball(square).exp()
    raw = [arb(1), arb(1)]  # E[(1+x)^l] = e^{l(l−1)s/2}

    @cache
    def central(k: int) -> arb:
        while len(raw) <= k:
            deadline.check()
            raw.append(raw[-1] * step ** (len(raw) - 1))
        terms = ((-1) ** (k - l) * math.comb(k, l) * raw[l] for l in range(k + 1))
        return sum(terms, arb(0))

    def moment(k: int) -> arb:
        return central(k) if k % 2 == 0 else (central(k - 1) * central(k + 1)).sqrt()

    return moment


def _derivative(alpha: Fraction, k: int) -> Fraction:
    """c with |E[∂ᵏ/∂γᵏ]| <= c B_k at γ = 0, from |E[(x−y)^k]| <= 4 B_k, or 3 B_k for odd k."""
    middle = (alpha - 1) * alpha ** (k - 1)
    around = (
        math.comb(k, j) * abs(_falling(alpha, j) * _rising(alpha - 1, k - j) - middle)
        for j in range(k + 1)
    )
    return middle * (3 if k % 2 else 4) + sum(around, Fraction(0))


def _rest(alpha: Fraction, gamma: Fraction, m: int, moments: Moments) -> arb:
    """γ^m/m! times the largest that the m-th derivative can be between 0 and γ."""
    kept = ball(1 - gamma)
    total = arb(0)
    for j in range(m + 1):
        factor = math.comb(m, j) * abs(_falling(alpha, j)) * _rising(alpha - 1, m - j)
        power = BALL.number(alpha + m - j - 1)
        total += BALL.number(factor) / kept**power * _weight(alpha - j, gamma, m, moments)
    return total * BALL.number(gamma**m / math.factorial(m))


def _weight(power: Fraction, gamma: Fraction, m: int, moments: Moments) -> arb:
    """An upper bound of m∫₀¹(1−u)^{m−1} E[(1+uγx)^power |x|^m] du.

    For a power > 0 it is that of the power rounded up, and of the power 0 added.
    """
    if power <= 0:
        return ball(1 - gamma) ** BALL.number(power) * moments(m)
    whole_power = math.ceil(power)
    shares = (
        gamma**l * Fraction(math.comb(whole_power, l), math.comb(m + l, l))
        for l in range(whole_power + 1)
    )
    return sum((BALL.number(s) * moments(m + l) for l, s in enumerate(shares)), moments(m))


def _falling(x: Fraction, count: int) -> Fraction:
    """x(x−1)…(x−count+1)"""
    return math.prod((x - i for i in range(count)), start=Fraction(1))


def _rising(x: Fraction, count: int) -> Fraction:
    """x(x+1)…(x+count−1)"""
    return math.prod((x + i for i in range(count)), start=Fraction(1))
