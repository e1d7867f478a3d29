"""The blog's three routes to DP-SGD, k epochs at rate r, T = k/r steps of Gaussian noise σ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from symacct.accountant import default_accountant
from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision
from symacct.baselines.gaussian import hockey_stick
from symacct.baselines.result import Baseline, enclose, rational
from symacct.claims import ADD_REMOVE, Claim, Kind
from symacct.domains import positive, rate, whole
from symacct.enclosure import Enclosure
from symacct.errors import DomainError
from symacct.exact import expression
from symacct.mechanisms import Gaussian
from symacct.operations import PoissonSubsample
from symacct.sources import BLOG

_SEARCH_BITS = 96
_GRID = 60


def route_one(
    epsilon: Any, sigma: Any, r: Any, k: Any, tail: str = "exact", digits: int = 10
) -> Baseline:
    """Route 1: δ₁ = min over ε̃ of e^{−(ε−Ta)²/(2T(ε̃+a)²)} + k δ(ε′), T = k/r.

    a = ε̃ min(e^ε̃−1, 1), ε′ = log(1+(e^ε̃−1)/r); one step is (ε̃, r δ(ε′))-DP, and Azuma's inequality
    composes them. `tail` says which δ(ε′) of the Gaussian mechanism is used: "exact", or the blog's
    "chernoff". The ε̃ is found by a search, of which any outcome is sound. DomainError if no ε̃ has
    Ta < ε at a δ below 1.
    """
    eps, sigma = rational(epsilon, "epsilon"), positive(sigma, "sigma")
    r, k = rate(r, "r"), whole(k, "k", least=1)
    tails = {"exact": _exact_tail, "chernoff": _chernoff_tail}
    if tail not in tails or r == 0:
        raise DomainError(
            f"route_one: found tail {tail!r}, r = {r}; needed exact or chernoff, r > 0"
        )
    steps = Fraction(k) / r

    def value(small: Fraction) -> arb:
        e, x = BALL.number(small), BALL.number(eps)
        mean = e * e.expm1().min(arb(1))
        rest = x - BALL.number(steps) * mean
        if not rest > 0:
            return arb(1)
        azuma = (-(rest**2) / (2 * BALL.number(steps) * (e + mean) ** 2)).exp()
        base = (e.expm1() / BALL.number(r)).log1p()
        return (azuma + k * tails[tail](base, BALL.number(sigma))).min(arb(1))

    best = _smallest(value, eps)
    source = BLOG.at("route 1: Claims 9, 19 and 18")
    return Baseline(
        "route 1",
        enclose(lambda: BALL.number(eps), source, digits, "ε"),
        enclose(lambda: value(best), source, digits, "δ₁(ε)"),
        source,
    )


def route_two(epsilon: Any, sigma: Any, k: Any, digits: int = 30) -> Baseline:
    """Route 2: δ₂ = e^{−kκ*(ε/k)} = e^{−(εσ/√k − √k/(2σ))²/2} where ε >= k/(2σ²), else 1.

    k runs of the Gaussian mechanism on all the data, by the classic conversion (Claim 23).
    """
    eps, sigma = rational(epsilon, "epsilon"), positive(sigma, "sigma")
    k, source = whole(k, "k", least=1), BLOG.at("route 2: Claims 22 and 23, Example 3")

    def value() -> arb:
        return _chernoff_tail(BALL.number(eps), BALL.number(sigma) / arb(k).sqrt())

    return Baseline(
        "route 2",
        enclose(lambda: BALL.number(eps), source, digits, "ε"),
        enclose(value, source, digits, "δ₂(ε)"),
        source,
    )


def route_three(epsilon: Any, sigma: Any, c2: Any, digits: int = 30) -> Baseline:
    """Route 3: δ₃ = e^{−c₂σ²ε/2}, claimed for T = c₂εσ²/(2C(c₁, c₂)) steps at rate r <= c₁/σ.

    It rests on Conjecture 1, which is false in general, and on a finite C: a conjecture, never a
    guarantee. `moment_constant` evaluates C.
    """
    eps, sigma, c2 = rational(epsilon, "epsilon"), positive(sigma, "sigma"), positive(c2, "c2")
    source = BLOG.at("route 3: Claims 26 and 28")

    def value() -> arb:
        return (-BALL.number(c2 * eps) * BALL.number(sigma) ** 2 / 2).exp()

    return Baseline(
        "route 3",
        enclose(lambda: BALL.number(eps), source, digits, "ε", certified=False),
        enclose(value, source, digits, "δ₃(ε)", certified=False),
        source,
        status="conjecture",
    )


@dataclass(frozen=True)
class MomentConstant:
    """What is proved of C(c₁, c₂): log C >= `log_lower`, met at the order `order` (σ² = order/c₂).

    `log_limit` is c₁²c₂²/2, the limit of the logarithm as σ → ∞; `values` are all orders looked at.
    """

    log_lower: Enclosure
    order: int
    log_limit: Fraction
    values: tuple[tuple[int, Enclosure], ...]


def moment_constant(c1: Any, c2: Any, up_to: int = 4096, digits: int = 10) -> MomentConstant:
    """C(c₁, c₂) = sup over σ of G_λ(rμ₁+(1−r)μ₀‖μ₀), r = c₁/σ, λ = c₂σ² (BLOG Claim 26).

    Evaluated at whole orders 2 <= λ <= `up_to` with r <= 1, on a grid and around its best: a
    certified lower bound of C. The blog's limit 0 for σ → ∞ is a slip (every G is at least 1): the
    limit is e^{c₁²c₂²/2}, and the largest value is met near σ = c₁e^{(c₂−1)/2}, where the last term
    r^λ e^{λ(λ−1)/(2σ²)} alone makes log C about c₁²c₂e^{c₂−1}/2: C is doubly exponential in c₂.
    """
    c1, c2 = rational(c1, "c1"), rational(c2, "c2")
    if c1 == 0 or c2 == 0:
        raise DomainError("moment_constant: found c1 = 0 or c2 = 0, needed both > 0")
    first = max(2, math.ceil(c1**2 * c2))
    last = whole(up_to, "moment_constant, up_to", least=first)
    peak = float(c1**2 * c2) * math.exp(min(float(c2) - 1, 600))
    grid = {round(first * (last / first) ** (i / _GRID)) for i in range(_GRID + 1)}
    grid |= {n for n in _around(peak) if first <= n <= last}
    found = {n: log_moment(c1, c2, n, digits) for n in sorted(grid)}
    best = max(found, key=lambda n: found[n].lower)
    for n in range(max(first, best - 8), min(last, best + 8) + 1):
        found.setdefault(n, log_moment(c1, c2, n, digits))
    best = max(found, key=lambda n: found[n].lower)
    return MomentConstant(found[best], best, (c1 * c2) ** 2 / 2, tuple(sorted(found.items())))


def log_moment(c1: Fraction, c2: Fraction, lam: int, digits: int) -> Enclosure:
    """log G_λ(rμ₁+(1−r)μ₀‖μ₀) at σ² = λ/c₂ and r = c₁/σ, a lower bound of log C."""
    square = Fraction(lam) / c2
    sigma = sympy.sqrt(expression(square))
    step = PoissonSubsample(Gaussian(sigma), expression(c1) / sigma)
    ask = default_accountant("ball")
    value = ask.cgf(step, lam - 1, by="ZW19-T8", digits=digits)
    source = BLOG.at("Claim 26, part 2, and equation (9.5)")
    claim = Claim(Kind.LOWER, ADD_REMOVE, sources=(source,))
    return Enclosure(value.lower, value.upper, claim, value.certified, digits)


def _exact_tail(eps: arb, sigma: arb) -> arb:
    return hockey_stick(eps, 1 / sigma)


def _chernoff_tail(eps: arb, sigma: arb) -> arb:
    """e^{−κ*(ε)} = e^{−(εσ − 1/(2σ))²/2} where εσ > 1/(2σ), else 1."""
    gap = eps * sigma - 1 / (2 * sigma)
    return (-(gap.max(arb(0)) ** 2) / 2).exp()


def _smallest(value: Callable[[Fraction], arb], eps: Fraction) -> Fraction:
    """The ε̃ of a logarithmic grid, refined twice, at which the bound is smallest."""

    def at(place: float) -> float:
        with precision(_SEARCH_BITS):
            ball = value(_share(eps, place))
            return float(ball.log().mid()) if ball > 0 else float("-inf")

    centre, width = -20.0, 20.0
    for _ in range(4):
        places = [centre + width * (2 * i / _GRID - 1) for i in range(_GRID + 1)]
        centre = min(places, key=at)
        width *= 4 / _GRID
    return _share(eps, centre)


def _share(eps: Fraction, place: float) -> Fraction:
    """About ε·2^place, as a short fraction."""
    return eps * Fraction(2.0**place).limit_denominator(2**64)


def _around(peak: float) -> set[int]:
    """Whole numbers about the peak."""
    if not 0 < peak < 1e9:
        return set()
    return {max(2, round(peak * (1 + i / 20))) for i in range(-10, 11)}


__all__ = [
    "MomentConstant",
    "log_moment",
    "moment_constant",
    "route_one",
    "route_three",
    "route_two",
]
