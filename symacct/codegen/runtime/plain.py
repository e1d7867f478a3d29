"""float64 with the standard library: what generated Python calls, and what measures it."""

import math


def exp(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def expm1(x):
    try:
        return math.expm1(x)
    except OverflowError:
        return math.inf


def log(x):
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan


def log1p(x):
    if x > -1.0:
        return math.log1p(x)
    return -math.inf if x == -1.0 else math.nan


def sqrt(x):
    return math.sqrt(x) if x >= 0.0 else math.nan


def power(x, y):
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def ratio(a, b):
    """a/b as IEEE 754 has it, for b = 0 too."""
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def floor(x):
    return float(math.floor(x)) if math.isfinite(x) else x


def lesser(a, b):
    """The smaller of two; NaN if either is."""
    return a if a < b or a != a else b


def greater(a, b):
    """The larger of two; NaN if either is."""
    return a if a > b or a != a else b


def log_add(a, b):
    """log(e^a + e^b)"""
    if a < b:
        a, b = b, a
    if b == -math.inf or a == math.inf:
        return a
    return a + math.log1p(exp(b - a))


def log1p_exp(x):
    """log(1 + e^x)"""
    return x + math.log1p(exp(-x)) if x > 0.0 else math.log1p(exp(x))


def log_expm1(x):
    """log(e^x - 1), x >= 0"""
    return log(expm1(x)) if x < 1.0 else x + log1p(-exp(-x))


def log_exp_gap(x):
    """log(e^x - 1 - x)"""
    if -0.5 < x < 0.5:
        total = 1.0
        for k in range(16, 2, -1):
            total = 1.0 + total * x / k
        return 2.0 * log(abs(x)) + log(total / 2.0)
    return x if x > 40.0 else log(expm1(x) - x)


def log_mixture(gamma, x):
    """log(1 + gamma (e^x - 1))"""
    if x > 30.0:
        return x + log(gamma + (1.0 - gamma) * exp(-x))
    return log1p(gamma * expm1(x))


def log_power_gap(gamma, x, lam):
    """log((1+u)^alpha - 1 - alpha u) for u = gamma (e^x - 1), alpha = lam + 1 > 1"""
    alpha = lam + 1.0
    log_m = log_mixture(gamma, x)
    grown = lam * log_m
    if log_m > 0.5:
        if grown > 700.0:
            return log_m + grown
        return log_m + log(expm1(grown) + lam * math.expm1(-log_m))
    u = gamma * expm1(x)
    if abs(u) * alpha < 0.5:
        term = total = alpha * lam / 2.0 * u * u
        k = 2.0
        while abs(term) > 1e-18 * total:
            term = term * ((alpha - k) / (k + 1.0)) * u
            total += term
            k += 1.0
        return log(total)
    return log((1.0 + u) * expm1(grown) - lam * u)


def log_entropy_gap(gamma, x):
    """log((1+u) log(1+u) - u) for u = gamma (e^x - 1)"""
    log_m = log_mixture(gamma, x)
    if log_m > 0.5:
        return log_m + log(log_m + math.expm1(-log_m))
    u = gamma * expm1(x)
    if abs(u) < 0.25:
        step = u * u
        total = step / 2.0
        k = 3.0
        while abs(step) > 1e-18 * total:
            step = -step * u
            total += step / (k * (k - 1.0))
            k += 1.0
        return log(total)
    if u == -1.0:
        return 0.0
    return log((1.0 + u) * log_m - u)


def log_binomial(n, k):
    """log C(n, k) for whole n, k"""
    k = lesser(k, n - k)
    if k < 0.0:
        return -math.inf
    product, total, i = 1.0, 0.0, 1.0
    while i <= k:
        product = product * ((n - k + i) / i)
        if product > 1e280:
            total += math.log(product)
            product = 1.0
        i += 1.0
    return total + math.log(product)


def log_factorial2(n):
    """log n!!, the product n (n-2) (n-4) ..."""
    product, total = 1.0, 0.0
    while n > 1.0:
        product = product * n
        if product > 1e280:
            total += math.log(product)
            product = 1.0
        n -= 2.0
    return total + math.log(product)


def add_exp(top, total, weight, x):
    """The sum e^top total with weight e^x added, as (top, total); top stays near the largest x."""
    if x == -math.inf or top == math.inf:
        return top, total
    if x == math.inf:
        return x, 1.0
    if x > top + 500.0:
        total = total * exp(top - x)
        top = x
    return top, total + weight * exp(x - top)


def rescaled(weight, scale):
    """(weight, scale) of the same weight e^scale, the weight brought near 1."""
    if weight == 0.0 or 1e-30 < weight < 1e30:
        return weight, scale
    return 1.0, scale + log(weight)
