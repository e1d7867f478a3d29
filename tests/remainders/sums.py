"""Sums of few terms."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

from flint import arb, arb_poly, ctx

from tests.remainders.rows import at_least, mp, number, row


@row("analysis.series:alternating series")
def series_of_few_terms(m):
    """log 2, and ∫(1+x)^α dμ for the uniform law on [0, 1/2]."""
    for n in (1, 2, 3, 4):
        yield m.accelerated_sum([1 / arb(k + 1) for k in range(n)]), mp.log(2)
        yield m._plain_sum([1 / arb(k + 1) for k in range(n)], 1 / arb(n + 1)), mp.log(2)
    for alpha, tolerance in itertools.product((Fraction(5, 2), Fraction(17, 2)), (1.0, 0.1)):
        power = number(alpha) + 1
        moments = (arb(0.5) ** i / (i + 1) for i in itertools.count())
        found = m.binomial_integral(alpha, moments, arb(0.5), arb(tolerance))
        yield found, (mp.mpf("1.5") ** power - 1) / power * 2


@row("analysis.series:theta sums")
def theta_of_few_terms(m):
    """At a precision of few bits, where a term is the last."""
    for sigma, x in itertools.product((0.25, 0.45, 0.5, 0.75), (Fraction(1, 3), Fraction(1, 2))):
        s = mp.mpf(sigma)

        def theta(at, s=s):
            return mp.fsum(mp.exp(-((k - number(at)) ** 2) / (2 * s * s)) for k in range(-9, 10))

        for bits in (2, 3, 4, 6):
            m.ctx = SimpleNamespace(prec=bits)
            found = m.log_theta_ratio(arb(sigma), x), m.theta_at_0(arb(sigma))
            if found[0].is_finite():
                yield found[0], mp.log(theta(0) / theta(x))
            yield found[1], theta(0)


@row("kernel.sums.local")
def products_of_polynomials(m):
    """At few bits the terms of a product are left out; its errors multiply."""
    for size, other_size in ((0, 0), (0.5, 0.25)):
        p = m.Local(arb_poly([5, 2, 1, 3]), arb(0, size))
        q = m.Local(arb_poly([4, 1, 4, 1]), arb(0, other_size))
        with ctx.workprec(4):
            found = p.times(q)
        for t, e, d in itertools.product(
            (-0.5, -0.25, 0.25, 0.5), (-size, size), (-other_size, other_size)
        ):
            one, other = 5 + 2 * t + t**2 + 3 * t**3 + e, 4 + t + 4 * t**2 + t**3 + d
            yield found(arb(t)), (1 + mp.mpf(one)) * (1 + mp.mpf(other)) - 1


@row("kernel.sums.differences")
def differences_of_few_terms(m):
    """Σ (−1)^{l−i} C(l,i) e^{K_i} at few bits, of which the first terms are left out."""
    for base, bits in itertools.product((3, 8, 40), (2, 3, 5, 8)):
        moments = [arb(base) ** (i * (i - 1) // 2) for i in range(9)]
        with ctx.workprec(bits):
            found = m._transform(moments, range(2, 9))
        for order, ball in found.items():
            truth = sum(
                (-1) ** (order - i) * mp.binomial(order, i) * mp.mpf(base) ** (i * (i - 1) // 2)
                for i in range(order + 1)
            )
            yield ball, truth
        for size in (arb(3, 2), arb(-3, 2), arb(4)):
            yield arb(0).union(arb(2) ** m._exponent(size)), number(abs(size).upper())


@row("analysis.ratio_sums:one sum")
def shares_by_few_bits(m):
    """Both shares of 1 + e^{−dh} between two nodes, from so few bits that their ends are apart."""
    for bits, d in itertools.product((10, 14), (1, 3, 7)):
        m._BITS, step, fine = bits, 2.0**-3, 2.0**-4
        node, up, down = m._share_in_balls(step, fine, d)
        low, high = (mp.exp(mp.mpf(fine) * k) for k in (node, node + 1))
        share = (1 + mp.exp(-mp.mpf(step) * d) - low) / (high - low)
        yield at_least(arb(up), share)
        yield at_least(arb(down), 1 - share)
