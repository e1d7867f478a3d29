"""χ^l = E_Q[(P/Q − 1)^l] without a difference of moments, in balls: the other side of the tests."""

from __future__ import annotations

from fractions import Fraction

from flint import acb, arb

from tests.kernel.sums.curves import ball


def randomized_response_chi(p: str, order: int) -> arb:
    """(1-p) ((2p-1)/(1-p))^l + p ((1-2p)/p)^l: the ratio takes two values."""
    p = Fraction(p)
    return ball((1 - p) * ((2 * p - 1) / (1 - p)) ** order + p * ((1 - 2 * p) / p) ** order)


def laplace_chi(b: str, up_to: int) -> list[arb]:
    """chi^0..chi^up_to of Lap(1, b) against Lap(0, b), by an integral recurrence.

    With s = 1/b and J_l = int_{e^-s}^{e^s} r^(-3/2) (r-1)^l dr, the atoms and the middle give
    chi^l = ((e^-s - 1)^l + e^-s (e^s - 1)^l)/2 + e^(-s/2) J_l/4, and by parts
    (2l-1) J_l = 2 [r^(-1/2) (r-1)^l] - 2l J_{l-1}.
    """
    s = 1 / ball(b)
    low, high = (-s).expm1(), s.expm1()
    integral = 2 * ((s / 2).exp() - (-s / 2).exp())
    chi = []
    for order in range(up_to + 1):
        at_high, at_low = (-s / 2).exp() * high**order, (s / 2).exp() * low**order
        if order:
            integral = (2 * (at_high - at_low) - 2 * order * integral) / (2 * order - 1)
        chi.append((low**order + (-s).exp() * high**order) / 2 + (-s / 2).exp() * integral / 4)
    return chi


def laplace_chi_by_quadrature(b: str, order: int) -> arb:
    """The two atoms of P/Q, and int_0^1 q(z) (e^((2z-1)/b) - 1)^l dz by rigorous quadrature."""
    s = 1 / ball(b)

    def integrand(z: acb, _: bool) -> acb:
        return (-s * z).exp() * s / 2 * ((s * (2 * z - 1)).exp() - 1) ** order

    middle = acb.integral(integrand, 0, 1, abs_tol=arb(2) ** -20000).real
    return ((-s).expm1() ** order + (-s).exp() * s.expm1() ** order) / 2 + middle


def gaussian_chi(sigma: int, order: int, reach: int = 80) -> arb:
    """int phi(t) (r - 1)^l dt, r = e^(t/sigma - 1/(2 sigma^2)), by rigorous quadrature.

    With t = u + c, c = l/sigma, the integrand is e^(-(u^2 + c^2)/2) (e^(c/sigma - 1/(2 sigma^2)) -
    e^(-u/sigma))^l / sqrt(2 pi), free of large factors that cancel. As |r - 1|^l <= 1 + r^l and
    phi(t) r^l = e^(l(l-1)/(2 sigma^2)) phi(u), what lies beyond u = +-reach is at most
    Phi(c - reach) + Phi(-c - reach) + 2 e^(l(l-1)/(2 sigma^2)) Phi(-reach).
    """
    width, shift = arb(sigma), arb(order) / sigma
    top = (shift / width - 1 / (2 * width**2)).exp()

    def integrand(u: acb, _: bool) -> acb:
        return (-(u * u + shift**2) / 2).exp() * (top - (-u / width).exp()) ** order

    body = acb.integral(integrand, -reach, reach, abs_tol=arb(2) ** -20000, eval_limit=10**5).real
    moment = (arb(order * (order - 1)) / (2 * width**2)).exp()
    outside = _normal(shift - reach) + _normal(-shift - reach) + 2 * moment * _normal(arb(-reach))
    return body / (2 * arb.pi()).sqrt() + arb(0, 1) * outside


def _normal(point: arb) -> arb:
    return (-point / arb(2).sqrt()).erfc() / 2
