"""Integrals of densities, by short windows and few bits."""

from fractions import Fraction
from types import SimpleNamespace

from flint import acb, arb

from symacct.analysis.jets import Jet
from tests.remainders.rows import FEW, few_bits, mp, normal, number, refused, row


@row("analysis.sampled_laplace:the upper half")
def windows_of_the_upper_half(m):
    """E_Q[(t^α − 1)(1 − t^{1−α}); L > 1]"""
    alpha, gamma, shift = Fraction(3), Fraction(9, 10), Fraction(3, 2)

    def at(x):
        t = number(1 - gamma) + number(gamma) * mp.exp(number(shift) * (x - number(shift) / 2))
        return normal(x) * (t**3 - 1) * (1 - t**-2)

    truth = mp.quad(at, [mp.mpf("0.75"), 4, 8, 12, 20])
    for bits in FEW:
        yield few_bits(m, lambda m: m.gaussian_upper_half(alpha, gamma, shift), bits), truth


@row("analysis.densities:integrals over a side")
def cut_integrals(m):
    """±t for a bound t of what lies beyond the first Y at which it is small."""
    stretch = SimpleNamespace(_starts=lambda: map(arb, (1, 2, 4)))
    for side in (-1, 1):
        _, rest = m.Stretch._cut(stretch, lambda y: (-y).exp(), arb(0.2))
        yield rest, side * mp.exp(-2)


@row("analysis.densities:the largest ratio")
def suprema_to_few_bits(m):
    """Of polynomials on [0, 1], and of what goes on to ∞, to half a digit."""

    def polynomial(*factors):
        def at(x):
            total = Jet(x.sort, acb(0), acb(0))
            for factor in reversed(factors):
                total = total * x + Jet(x.sort, acb(factor), acb(0))
            return total

        return at

    for factors, top in (((0, 1, -1), 0.25), ((0, 0, 3, -4), 0.25), ((0, 3, -1.6), 1.40625)):
        for bits in (1, 2, 4):
            found = m._branch_and_bound([(polynomial(*factors), arb(0), arb(1))], arb(-9), bits)
            yield found, top
    germ = SimpleNamespace(power=-1, low=arb(1), high=arb(1), supremum=lambda: arb(1))
    side = SimpleNamespace(
        is_regular=False,
        is_infinite=True,
        blend=lambda *_: None,
        at_end=lambda _: lambda _: SimpleNamespace(slope=germ, value=germ),
        value=lambda _, y: 1 - 1 / y,
    )
    yield m._end(side, 2)[1], 1


@row("analysis.jets:germs at infinity", "supremum")
def suprema_of_germs(m):
    """The largest c·y^p for y >= 2, of a known c, and where a ball does not show its sign."""

    def of(power, end):
        return m.Germ(arb(2), Fraction(power), end, end).supremum()

    for power, end, top in ((1, -3, -6), (-1, 3, 1.5), (-1, -3, 0), (0, 3, 3), (0, -3, -3)):
        yield of(power, arb(end)), top
    for end in (arb(3), arb(0, 0.25), arb(-0.125, 0.25), arb(0.125, 0.25)):
        yield refused(of(1, end))
    # The end may be any number of the ball.
    for end in (0, 0.25):
        yield of(-1, arb(0, 0.25)), end / 2
    for end in (arb(-0.25, 0.25), arb(-0.125, 0.25)):
        yield of(-1, end), 0
