"""The blog's three routes to DP-SGD, k epochs at rate r, T = k/r steps of Gaussian noise σ."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from symacct.analysis.normal_tails import hockey_stick
from symacct.baselines.result import Baseline
from symacct.kernel import parameters
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Kind
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import positive, rate, rational, whole
from symacct.kernel.sources import BLOG

#: Bits of the balls by which ε̃ is looked for, any of which is sound.
_SEARCH_BITS = 96
#: Intervals of the grid of log ε̃ in each of four rounds. Each place is a proved bound: more take
#: longer, and may make ε smaller.
_GRID_INTERVALS = 60


def route_one(
    epsilon: Numeric, sigma: Numeric, r: Numeric, k: Numeric, tail: str = "exact", digits: int = 10
) -> Baseline:
    """Route 1: δ₁ = min over ε̃ of e^{−(ε−Ta)²/(2T(ε̃+a)²)} + k δ(ε′), T = k/r.

    a = ε̃ min(e^ε̃−1, 1), ε′ = log(1+(e^ε̃−1)/r); one step is (ε̃, r δ(ε′))-DP, and Azuma's inequality
    composes them. `tail` says which δ(ε′) of the Gaussian mechanism is used: "exact", or the blog's
    "chernoff". The ε̃ is found by a search, of which any outcome is sound. DomainError if no ε̃ has
    Ta < ε at a δ below 1.
    """
    eps, sigma = rational(epsilon, "epsilon"), positive(sigma, "sigma")
    r, k = rate(r, "r"), whole(k, "k", least=1)
    tails = {"exact": lambda eps, sigma: hockey_stick(eps, 1 / sigma), "chernoff": _chernoff_tail}
    parameters.one_of(tail, "route_one, tail", tails)
    if r == 0:
        raise DomainError("route_one: found r = 0, needed r > 0")
    steps = Fraction(k) / r

    def value(small: Fraction) -> arb:
        e, x = BALL.number(small), BALL.number(eps)
        mean = e * e.expm1().min(arb(1))
        rest = x - BALL.number(steps) * mean
        if not rest > 0:
            return arb(1)
        azuma: arb = (-(rest**2) / (2 * BALL.number(steps) * (e + mean) ** 2)).exp()
        base = (e.expm1() / BALL.number(r)).log1p()
        return (azuma + k * tails[tail](base, BALL.number(sigma))).min(arb(1))

    best = _smallest(value, eps)
    source = BLOG.at("route 1: Claims 9, 19 and 18")
    return Baseline.of("route 1", source, digits, Kind.UPPER, eps, lambda: value(best))


def route_two(epsilon: Numeric, sigma: Numeric, k: Numeric, digits: int = 30) -> Baseline:
    """Route 2: δ₂ = e^{−kκ*(ε/k)} = e^{−(εσ/√k − √k/(2σ))²/2} where ε >= k/(2σ²), else 1.

    For k >= 1 runs of Gaussian noise σ on all of the data. Raises DomainError.
    """
    eps, sigma = rational(epsilon, "epsilon"), positive(sigma, "sigma")
    k, source = whole(k, "k", least=1), BLOG.at("route 2: Claims 22 and 23, Example 3")

    def value() -> arb:
        return _chernoff_tail(BALL.number(eps), BALL.number(sigma) / arb(k).sqrt())

    return Baseline.of("route 2", source, digits, Kind.UPPER, eps, value)


def route_three(epsilon: Numeric, sigma: Numeric, c2: Numeric, digits: int = 30) -> Baseline:
    """Route 3: δ₃ = e^{−c₂σ²ε/2}, claimed for T = c₂εσ²/(2C(c₁, c₂)) steps at rate r <= c₁/σ.

    It rests on Conjecture 1, which is false in general, and on a finite C: a conjecture, never a
    guarantee. `moment_constant` evaluates C.
    """
    eps, sigma, c2 = rational(epsilon, "epsilon"), positive(sigma, "sigma"), positive(c2, "c2")
    source = BLOG.at("route 3: Claims 26 and 28")

    def value() -> arb:
        exponent: arb = -BALL.number(c2 * eps) * BALL.number(sigma) ** 2 / 2
        return exponent.exp()

    return Baseline.of("route 3", source, digits, Kind.NEITHER, eps, value)


def _chernoff_tail(eps: arb, sigma: arb) -> arb:
    """e^{−κ*(ε)} = e^{−(εσ − 1/(2σ))²/2} where εσ > 1/(2σ), else 1."""
    gap = eps * sigma - 1 / (2 * sigma)
    return (-(gap.max(arb(0)) ** 2) / 2).exp()


def _smallest(value: Callable[[Fraction], arb], eps: Fraction) -> Fraction:
    """The ε̃ of a logarithmic grid, refined three times, at which the bound is smallest.

    From ε·2^−40 to ε; it only steers.
    """

    def at(place: float) -> float:
        """log of the bound's middle at ε̃ = ε·2^place."""
        with precision(_SEARCH_BITS):
            ball = value(_share(eps, place))
            return float(ball.log().mid()) if ball > 0 else float("-inf")

    centre, width = -20.0, 20.0
    for _ in range(4):
        grid = range(_GRID_INTERVALS + 1)
        places = [centre + width * (2 * i / _GRID_INTERVALS - 1) for i in grid]
        centre = min(places, key=at)
        width *= 4 / _GRID_INTERVALS
    return _share(eps, centre)


def _share(eps: Fraction, place: float) -> Fraction:
    """About ε·2^place, as a short fraction."""
    return eps * Fraction(2.0**place).limit_denominator(2**64)
