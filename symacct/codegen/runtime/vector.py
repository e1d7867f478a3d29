"""float64 with NumPy, whole arrays at a time: what generated NumPy code calls."""

import numpy as np


def by_order(alpha, *cases):
    """Each order by the function of the first case that it falls in; NaN in none."""
    orders = np.asarray(alpha, dtype=np.float64)
    flat = orders.ravel()
    result = np.full(flat.shape, np.nan)
    todo = np.ones(flat.shape, dtype=bool)
    for holds, function in cases:
        chosen = todo & holds(flat)
        if chosen.any():
            result[chosen] = function(flat[chosen])
        todo = todo & ~chosen
    return result.reshape(orders.shape)


def is_one(alpha):
    return alpha == 1.0


def is_infinite(alpha):
    return alpha == np.inf


def is_whole(alpha):
    return (alpha == np.floor(alpha)) & (alpha >= 2.0) & (alpha < np.inf)


def is_below_two(alpha):
    return (alpha > 1.0) & (alpha < 2.0)


def is_above_two(alpha):
    return (alpha > 2.0) & (alpha < np.inf)


def is_finite(alpha):
    return (alpha > 1.0) & (alpha < np.inf)


def is_fractional(alpha):
    return (alpha > 1.0) & (alpha != np.floor(alpha))


def log_add(a, b):
    """log(e^a + e^b)"""
    return np.logaddexp(a, b)


def log1p_exp(x):
    """log(1 + e^x)"""
    return np.logaddexp(0.0, x)


def log_expm1(x):
    """log(e^x - 1), x >= 0"""
    return np.where(x < 1.0, np.log(np.expm1(x)), x + np.log1p(-np.exp(-x)))


def log_exp_gap(x):
    """log(e^x - 1 - x)"""
    total = 1.0
    for k in range(16, 2, -1):
        total = 1.0 + total * x / k
    small = 2.0 * np.log(np.abs(x)) + np.log(total / 2.0)
    plain = np.where(x > 40.0, x, np.log(np.expm1(x) - x))
    return np.where(np.abs(x) < 0.5, small, plain)


def log_mixture(gamma, x):
    """log(1 + gamma (e^x - 1))"""
    large = x + np.log(gamma + (1.0 - gamma) * np.exp(-x))
    return np.where(x > 30.0, large, np.log1p(gamma * np.expm1(x)))


def log_power_gap(gamma, x, lam):
    """log((1+u)^alpha - 1 - alpha u) for u = gamma (e^x - 1), alpha = lam + 1 > 1"""
    alpha = lam + 1.0
    log_m = log_mixture(gamma, x)
    grown = lam * log_m
    rest = np.where(grown > 700.0, grown, np.log(np.expm1(grown) + lam * np.expm1(-log_m)))
    u = gamma * np.expm1(x)
    plain = np.log((1.0 + u) * np.expm1(grown) - lam * u)
    small = np.abs(u) * alpha < 0.5
    if not np.any(small):
        return np.where(log_m > 0.5, log_m + rest, plain)
    v = np.where(small, u, 0.0)
    term = total = alpha * lam / 2.0 * v * v
    k = 2.0
    while np.any(np.abs(term) > 1e-18 * total):
        term = term * ((alpha - k) / (k + 1.0)) * v
        total = total + term
        k += 1.0
    return np.where(small, np.log(total), np.where(log_m > 0.5, log_m + rest, plain))


def log_entropy_gap(gamma, x):
    """log((1+u) log(1+u) - u) for u = gamma (e^x - 1)"""
    log_m = log_mixture(gamma, x)
    large = log_m + np.log(log_m + np.expm1(-log_m))
    u = gamma * np.expm1(x)
    plain = np.where(u == -1.0, 0.0, np.log((1.0 + u) * log_m - u))
    small = np.abs(u) < 0.25
    step = np.where(small, u * u, 0.0)
    total = step / 2.0
    k = 3.0
    while np.any(np.abs(step) > 1e-18 * total):
        step = -step * u
        total = total + step / (k * (k - 1.0))
        k += 1.0
    return np.where(small, np.log(total), np.where(log_m > 0.5, large, plain))


def log_binomial(n, k):
    """log C(n, k) for whole n, k"""
    n, k = np.broadcast_arrays(np.asarray(n, dtype=np.float64), k)
    k = np.minimum(k, n - k)
    product, total, i = np.ones(n.shape), np.zeros(n.shape), 1.0
    while i <= np.max(k):
        product = product * np.where(i <= k, (n - k + i) / i, 1.0)
        flush = product > 1e280
        total = total + np.where(flush, np.log(product), 0.0)
        product = np.where(flush, 1.0, product)
        i += 1.0
    return np.where(k < 0.0, -np.inf, total + np.log(product))


def log_factorial2(n):
    """log n!!, the product n (n-2) (n-4) ..."""
    product, total = 1.0, 0.0
    while n > 1.0:
        product = product * n
        if product > 1e280:
            total += np.log(product)
            product = 1.0
        n = n - 2.0
    return total + np.log(product)


def add_exp(top, total, weight, x):
    """The sums e^top total with weight e^x added, as (top, total); top stays near the largest x."""
    up = (x > top + 500.0) & (top < np.inf)
    total = np.where(up, total * np.exp(top - x), total)
    top = np.where(up, x, top)
    grown = np.where(x == top, 1.0, np.exp(x - top))
    total = np.where((x == -np.inf) | (weight == 0.0), total, total + weight * grown)
    return top, np.where(top == np.inf, 1.0, total)


def rescaled(weight, scale):
    """(weight, scale) of the same weight e^scale, the weight brought near 1."""
    stays = (weight == 0.0) | ((weight > 1e-30) & (weight < 1e30))
    return np.where(stays, weight, 1.0), scale + np.where(stays, 0.0, np.log(weight))
