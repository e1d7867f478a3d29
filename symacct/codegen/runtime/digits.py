"""For mpmath at the current precision: `mp` is ours here, and mpmath's in the code given out."""

import threading
from contextlib import contextmanager
from typing import Any

from mpmath.ctx_mp import MPContext

mp = MPContext()
known_differences: dict[Any, Any] = {}
known_moments: dict[Any, Any] = {}
_lock = threading.RLock()


@contextmanager
def alone():  # this and what stands above it stays in the library
    """One measurement at a time: the precision and the tables are shared by all threads."""
    with _lock:
        try:
            yield
        finally:
            known_differences.clear()
            known_moments.clear()


def exp(x):
    return mp.exp(x)


def expm1(x):
    if x == mp.ninf:
        return mp.mpf(-1)
    return mp.expm1(x)


def log(x):
    if x > 0:
        return mp.log(x)
    return mp.ninf if x == 0 else mp.nan


def log1p(x):
    if x > -1:
        return mp.log1p(x)
    return mp.ninf if x == -1 else mp.nan


def sqrt(x):
    return mp.sqrt(x) if x >= 0 else mp.nan


def power(x, y):
    return mp.power(x, y)


def ratio(a, b):
    """a/b as IEEE 754 has it, for b = 0 too."""
    if b != 0:
        return a / b
    return mp.nan if a == 0 or mp.isnan(a) else mp.sign(a) * mp.inf


def floor(x):
    return mp.floor(x)


def lesser(a, b):
    """The smaller of two; NaN if either is."""
    return a if a < b or mp.isnan(a) else b


def greater(a, b):
    """The larger of two; NaN if either is."""
    return a if a > b or mp.isnan(a) else b


def log_precision():
    """How small, in nats, the errors of a sum over a grid have to be."""
    return mp.prec * mp.ln2 + 20


def log_add(a, b):
    """log(e^a + e^b)"""
    if a < b:
        a, b = b, a
    if b == mp.ninf or a == mp.inf:
        return a
    return a + mp.log1p(mp.exp(b - a))


def log1p_exp(x):
    """log(1 + e^x)"""
    return x + mp.log1p(mp.exp(-x)) if x > 0 else mp.log1p(mp.exp(x))


def log_expm1(x):
    """log(e^x - 1), x >= 0"""
    return log(mp.expm1(x)) if x < 1 else x + log1p(-mp.exp(-x))


def log_exp_gap(x):
    """log(e^x - 1 - x)"""
    if x == 0:
        return mp.ninf
    with mp.workprec(2 * mp.prec + max(0, -2 * mp.mag(x))):
        return x + log(1 - (1 + x) * mp.exp(-x))


def log_power_gap(gamma, x, lam):
    """log((1+u)^alpha - 1 - alpha u) for u = gamma (e^x - 1), alpha = lam + 1 > 1"""
    u = gamma * expm1(x)
    if u == 0:
        return mp.ninf
    with mp.workprec(2 * mp.prec + max(0, -2 * mp.mag(u))):
        u = gamma * expm1(x)
        return log((1 + u) * expm1(lam * log1p(u)) - lam * u) if u > -1 else log(lam)


def log_entropy_gap(gamma, x):
    """log((1+u) log(1+u) - u) for u = gamma (e^x - 1)"""
    u = gamma * expm1(x)
    if u == 0:
        return mp.ninf
    with mp.workprec(2 * mp.prec + max(0, -2 * mp.mag(u))):
        u = gamma * expm1(x)
        return log((1 + u) * mp.log1p(u) - u) if u > -1 else mp.mpf(0)


def log_binomial(n, k):
    """log C(n, k) for whole n, k"""
    return log(mp.binomial(n, k))


def log_factorial2(n):
    """log n!!, the product n (n-2) (n-4) ..."""
    return log(mp.fac2(n))


def log_integral(log_value, pieces):
    """log of the integral of e^log_value over [0, 1], smooth on equally many pieces"""
    points = [mp.mpf(k) / int(pieces) for k in range(int(pieces) + 1)]
    return log(mp.quad(lambda z: mp.exp(log_value(z)), points, method="gauss-legendre"))


def log_difference(eps, parameters, order):
    """log B(l), B(l) = sum of (-1)^(l-i) C(l,i) e^((i-1) eps(i)) over 0 <= i <= l, l even"""
    key = eps, parameters, mp.prec, int(order)
    if key not in known_differences:
        known_differences[key] = agreed_difference(eps, parameters, int(order))
    return known_differences[key]


def agreed_difference(eps, parameters, l):
    """log B(l) at precisions that are doubled until two agree; NaN where none do."""
    bits, last = mp.prec, None
    while bits <= 2**17:
        bits = 2 * bits
        with mp.workprec(bits):
            total, signed_binomial = mp.mpf(1 - l), -l
            for i in range(2, l + 1):
                signed_binomial = -signed_binomial * (l - i + 1) // i
                total += signed_binomial * moment(eps, parameters, i)
        if last is not None and abs(total - last) <= abs(total) * mp.mpf(2) ** -mp.prec:
            return log(total)
        last = total
    return mp.nan


def moment(eps, parameters, i):
    """e^((i-1) eps(i)), computed once for each precision."""
    key = eps, parameters, mp.prec, i
    if key not in known_moments:
        known_moments[key] = mp.exp((i - 1) * eps(mp.mpf(i), *parameters))
    return known_moments[key]


def at_precision(table):
    """The table, computed once for each precision."""
    known = {}

    def entries():
        if mp.prec not in known:
            known[mp.prec] = table()
        return known[mp.prec]

    return entries
