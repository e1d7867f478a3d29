"""The defining expectations by flint's rigorous integration: the other side of the tests."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb, ctx

from symacct.analysis.sampled_gaussian import TrapezoidNodes, guess, plan
from tests.kernel.sums.curves import ball

Factor = Callable[[acb], acb]
#: Rates at which a sample is next to nothing, and next to all.
TINY = Fraction(1, 10**12)
ALMOST = 1 - Fraction(1, 10**9)
RATES = (TINY, Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 2), ALMOST)


def accurate(x: arb) -> bool:
    """Has it all the bits of the context but three?"""
    return x.rel_accuracy_bits() >= ctx.prec - 3


def trapezoid(alpha: Fraction, q: Fraction, sigma: Fraction, bits: int) -> arb:
    """The excess by a grid of this order's own."""
    guessed = guess(alpha, q, sigma, bits)
    return TrapezoidNodes((alpha, alpha), q, sigma, guessed, plan(guessed)).excess(alpha)


def to_context(value: Callable[[int], arb]) -> arb:
    """The value at twice as many bits again and again, until those of the context are there."""
    wanted, bits = ctx.prec, ctx.prec + 64
    while True:
        with ctx.workprec(bits):
            found = value(bits)
        if found.rel_accuracy_bits() >= wanted:
            return found
        bits *= 2


def over_normal(
    alpha: Fraction, times: Factor, top: Fraction, q: Fraction, sigma: Fraction, bits: int
) -> arb:
    """E_Q[m^α f(log m)], m = 1 − q + qe^{(2z−1)/(2σ²)}, of |m^α f| <= 1 or <= m^top.

    log(m^top φ) falls by x²/(2σ²) at least from z = top to top + x.
    """
    order, rate, rest, variance = ball(alpha), ball(q).log(), ball(1 - q).log(), ball(sigma**2)

    def parts(z: acb, analytic: bool) -> tuple[acb, arb, arb]:
        """log m less its larger part, which is `slope` · (2z−1)/(2σ²) + `height`."""
        odds = rate - rest + (2 * z - 1) / (2 * variance)
        after = bool(odds.real.mid() >= 0)
        bend = (1 + (-odds if after else odds).exp()).log(analytic=analytic)
        return bend, arb(int(after)), rate if after else rest

    def integrand(z: acb, analytic: bool) -> acb:
        bend, slope, height = parts(z, analytic)
        peak = order * height + slope * (order**2 - order) / (2 * variance)
        power = (order * bend - (z - slope * order) ** 2 / (2 * variance) + peak).exp()
        return power * times(bend + height + slope * (2 * z - 1) / (2 * variance))

    last, reach = ball(top), ball(sigma) * (2 * arb(bits)).sqrt()
    crossing = arb(0.5) + variance * (rest - rate)
    inner = [crossing] if -reach < crossing < last + reach else []
    places = sorted([-reach, arb(0), order, last + reach, *inner], key=float)
    bend, slope, height = parts(acb(last), False)
    log_m = bend.real + height + slope * (2 * last - 1) / (2 * variance)
    left_out = (1 + (last * log_m - last**2 / (2 * variance)).exp()) * arb(2) ** -bits
    inside = (
        acb.integral(integrand, *ends, abs_tol=left_out, eval_limit=10**6).real
        for ends in pairwise(places)
    )
    return sum(inside, arb(0)) / (2 * arb.pi() * variance).sqrt() + left_out * arb(0, 1)


def sampled_gaussian_excess_by_quadrature(alpha: Fraction, q: Fraction, sigma: Fraction) -> arb:
    """E_Q[m^α] − 1."""
    return to_context(lambda bits: over_normal(alpha, lambda _: acb(1), alpha, q, sigma, bits) - 1)


def sampled_gaussian_kl_by_quadrature(q: Fraction, sigma: Fraction) -> arb:
    """E_Q[m log m], the curve at order 1."""
    one, two = Fraction(1), Fraction(2)
    return to_context(lambda bits: over_normal(one, lambda log_m: log_m, two, q, sigma, bits))


def sampled_laplace_kl_by_quadrature(gamma: Fraction, b: Fraction) -> arb:
    """E_Q[m log m] of Laplace noise: the two atoms of the ratio, and what lies between."""

    def at_bits(bits: int) -> arb:
        s, g = 1 / ball(b), ball(gamma)

        def weighted(x: acb, analytic: bool) -> acb:
            m = 1 - g + g * (s * (2 * x - 1)).exp()
            return (-s * x).exp() * m * m.log(analytic=analytic) / 2

        between = acb.integral(weighted, 0, 1, abs_tol=arb(2) ** (-2 * bits), eval_limit=10**6)
        return (weighted(acb(0), False) + weighted(acb(1), False) + s * between).real

    return to_context(at_bits)
