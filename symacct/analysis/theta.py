"""log Θ(0)/Θ(x), Θ(x) = Σ_k e^{−(k−x)²/(2σ²)} over all whole numbers k, with a proved tail."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.sums.balls import ball, within

_HALF = Fraction(1, 2)


def log_theta_ratio(sigma: arb, x: Fraction) -> arb:
    """log Θ(0)/Θ(x) >= 0, which has the period 1 and is 0 at whole x, to all digits near them.

    By the sum itself where σ < ½, else by Poisson's, Θ(x)/Θ(0) = 1 − 4 Σ_{n>=1} h(n) sin²(πnx)/Θ̂
    with h(n) = e^{−2π²σ²n²} and Θ̂ = 1 + 2 Σ h(n).
    """
    x = abs(x - round(x))
    if x == 0:
        return arb(0)
    if sigma < ball(_HALF):
        return _directly(sigma, x)
    rate = 2 * (arb.pi() * sigma) ** 2
    waves = _sum(rate, lambda n: (n * ball(x)).sin_pi() ** 2, ball(x).sin_pi() ** 2)
    return -(-4 * waves / _whole(rate)).log1p()


def theta_at_0(sigma: arb) -> arb:
    """Θ(0), by the sum itself where σ < ½, else by Poisson's, σ√(2π) Θ̂"""
    if sigma < ball(_HALF):
        return _whole(1 / (2 * sigma**2))
    return sigma * (2 * arb.pi()).sqrt() * _whole(2 * (arb.pi() * sigma) ** 2)


def _directly(sigma: arb, x: Fraction) -> arb:
    """x²/(2σ²) − log(1 + Σ_{k>=1} e^{−k²/(2σ²)} (2 cosh(kx/σ²) − 2)/Θ(0)), 0 < x <= ½

    As 2 cosh y − 2 <= y² e^y and kx <= k/2, a term is at most (x/σ²)² k² e^{−(k²−k)/(2σ²)}.
    """
    rate, tilt = 1 / (2 * sigma**2), ball(x) / sigma**2

    def wave(k: int) -> arb:
        return 4 * (k * tilt / 2).sinh() ** 2

    pairs = _sum(rate, wave, tilt**2 * rate.exp(), lost=1)
    return ball(x) ** 2 * rate - (pairs / _whole(rate)).log1p()


def _whole(rate: arb) -> arb:
    """1 + 2 Σ_{n>=1} e^{−rate·n²}"""
    return 1 + 2 * _sum(rate, lambda n: arb(1), arb(1))


def _sum(rate: arb, wave: Callable[[int], arb], most: arb, lost: int = 0) -> arb:
    """Σ_{n>=1} e^{−rate·n²} wave(n), 0 <= wave(n) <= most·n² e^{rate·lost(n−1)}.

    What bounds the terms falls by e^{−rate(2n+1−lost)}(1+1/n)² from one to the next, by half at
    least for rate >= 2: so the rest is at most twice its first bound. Where balls
    tell nothing of the total it ends as well, and more bits are needed.
    """
    total, n = arb(0), 1
    while True:
        deadline.check()
        total += (-rate * n * n).exp() * wave(n)
        n += 1
        rest = 2 * most * n * n * (-rate * (n * n - lost * (n - 1))).exp()
        if not rest > abs(total) * arb(2) ** -ctx.prec:
            return total + within(rest)
