"""Expectations over a lattice of the plane and how they change along B, by other quadratures."""

import itertools
from fractions import Fraction

import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from symacct.integrals.drift import Drift
from symacct.integrals.lattice import Lattice, Power, lattice_of, triple_log_excess
from symacct.integrals.triangles import Triangles, derivatives_of_slope
from symacct.integrals.triple import Gram
from tests import independent

MP = MPContext()
MP.dps = 30


def number(x):
    return independent.number(MP, x)


def expectation(gram, gamma, mu, nu, power):
    """E[X^p Y^q m^μ n^{−ν} x^a y^b] by tanh-sinh over two independent normal coordinates."""
    first, mixed, second, gamma, mu, nu = map(number, (*gram, gamma, mu, nu))
    size, across = MP.sqrt(first), MP.sqrt(second - mixed**2 / first)

    def value(z, w):
        x = MP.exp(size * z - first / 2)
        y = MP.exp(mixed / size * z + across * w - second / 2)
        m, n = 1 - gamma + gamma * x, 1 - gamma + gamma * y
        shares = (gamma * x / m) ** power.a * (gamma * y / n) ** power.b
        return x**power.p * y**power.q * m**mu * n**-nu * shares * MP.npdf(z) * MP.npdf(w)

    # The trapezoidal rule by the text: steps so fine that halving them changes no digit.
    step, reach = MP.mpf(1) / 6, 20
    places = [step * i for i in range(-6 * reach, 6 * reach + 1)]
    return step**2 * MP.fsum(value(z, w) for z, w in itertools.product(places, places))
