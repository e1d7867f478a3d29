"""A correct float64 accountant that speaks docs/verification.md: only `math`, nothing of symacct.

RDP of Gaussian and Laplace noise, sampled or not, composed; ε and δ by the improved conversion at
the best real order. tests/verify/defects.py plants one defect at a time in copies of this text.
"""

import json
import math
import sys
from decimal import Decimal
from fractions import Fraction

LOG_MAX = 700.0
MOST_NODES = 40_000

# --- logarithms of sums


def log_sum(logs):
    """log Σ e^x"""
    most = max(logs, default=-math.inf)
    if most == -math.inf:
        return most
    return most + math.log(math.fsum(math.exp(x - most) for x in logs))


def log_expm1(x):
    """log(e^x − 1) for x > 0"""
    return x + math.log(-math.expm1(-x)) if x > 0 else -math.inf


def softplus(x):
    """log(1 + e^x)"""
    return x + math.exp(-x) if x > 40 else math.log1p(math.exp(x))


def log_binomial(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


# --- the mechanisms: (α − 1) ε(α)


def gaussian(alpha, sigma):
    return (alpha - 1) * alpha / (2 * sigma * sigma)


def laplace(alpha, b):
    s, lam = 1 / b, alpha - 1
    if lam * s > 30:
        rest = math.log1p(lam / alpha * math.exp(-(2 * alpha - 1) * s))
        return lam * s + math.log(alpha / (2 * alpha - 1)) + rest
    return math.log1p(
        (alpha * math.expm1(lam * s) + lam * math.expm1(-alpha * s)) / (2 * alpha - 1)
    )


MECHANISMS = {"Gaussian": gaussian, "Laplace": laplace}
PARAMETER = {"Gaussian": "sigma", "Laplace": "b"}

# --- Poisson sampling


def sampled(mechanism, alpha, size, gamma):
    """log E_Q[(1 − γ + γP/Q)^α]"""
    if gamma == 1:
        return MECHANISMS[mechanism](alpha, size)
    if float(alpha).is_integer():
        return softplus(whole_order(mechanism, int(alpha), size, gamma))
    return softplus(quadrature(alpha, float(size), gamma))


def whole_order(mechanism, alpha, size, gamma):
    """log Σ_{l >= 2} C(α,l) γ^l (1−γ)^{α−l} (e^{(l−1)ε(l)} − 1)"""
    cgf = MECHANISMS[mechanism]
    log_rate, log_rest = math.log(gamma), math.log1p(-gamma)
    return log_sum(
        [
            log_binomial(alpha, l) + l * log_rate + (alpha - l) * log_rest + log_expm1(cgf(l, size))
            for l in range(2, alpha + 1)
        ]
    )


def quadrature(alpha, sigma, gamma):
    """log E[h(w)], w = γ(P/Q − 1), h(w) = (1+w)^α − 1 − αw >= 0: the trapezoidal rule"""
    width = min(sigma / 4, sigma * sigma / 2)
    logs = [
        log_excess(alpha, gamma, (2 * z - 1) / (2 * sigma * sigma)) - z * z / (2 * sigma * sigma)
        for z in (width * i for i in nodes(alpha, sigma, gamma, width))
    ]
    return log_sum(logs) + math.log(width / (sigma * math.sqrt(2 * math.pi)))


def nodes(alpha, sigma, gamma, width):
    """Where the integrand counts: everywhere, or around its peaks where that is too much."""
    reach = 12 * sigma
    first, last = math.floor(-reach / width), math.ceil((alpha + reach) / width)
    if last - first <= MOST_NODES:
        return range(first, last + 1)
    places = set()
    turn = 0.5 + sigma * sigma * math.log((1 - gamma) / gamma)
    for peak in (0.0, 1.0, 2.0, alpha, min(max(turn, 0.0), alpha)):
        places |= set(
            range(math.floor((peak - reach) / width), math.ceil((peak + reach) / width) + 1)
        )
    return sorted(places)


def log_excess(alpha, gamma, log_ratio):
    """log h(γ(e^{log_ratio} − 1))"""
    if log_ratio > LOG_MAX:
        log_w = math.log(gamma) + log_ratio
        return alpha * log_w if (alpha - 1) * log_w > 40 else log_large(alpha, log_w, 1.0)
    w = gamma * math.expm1(log_ratio)
    if abs(w) * alpha < 0.1:
        return math.log(small(alpha, w)) if w else -math.inf
    if w < 0:
        return math.log((1 + w) * math.expm1((alpha - 1) * math.log1p(w)) - (alpha - 1) * w)
    return log_large(alpha, math.log1p(w), w / (1 + w))


def log_large(alpha, log_one_plus_w, share):
    """log h for w > 0: (1+w)((1+w)^{α−1} − 1) − (α−1)w"""
    log_power = log_expm1((alpha - 1) * log_one_plus_w)
    taken = (alpha - 1) * share * math.exp(-log_power)
    return log_one_plus_w + log_power + math.log1p(-taken)


def small(alpha, w):
    """Σ_{k >= 2} C(α,k) w^k"""
    term = alpha * (alpha - 1) / 2 * w * w
    total, k = term, 2
    while abs(term) > 1e-17 * abs(total):
        term *= (alpha - k) / (k + 1) * w
        total += term
        k += 1
    return total


# --- sampling without replacement: Wang, Balle, Kasiviswanathan 2019, Theorem 9


def fixed_size(alpha, sigma, gamma):
    """log(1 + γ²C(α,2) min{4(e^{ε(2)}−1), 2e^{ε(2)}} + Σ_{j>=3} 2γ^j C(α,j) e^{(j−1)ε(j)})"""
    second = gaussian(2, sigma)
    least = min(math.log(4) + log_expm1(second), math.log(2) + second)
    logs = [2 * math.log(gamma) + log_binomial(alpha, 2) + least]
    for j in range(3, int(alpha) + 1):
        log_coefficient = j * math.log(gamma) + log_binomial(alpha, j)
        logs.append(math.log(2) + log_coefficient + gaussian(j, sigma))
    return softplus(log_sum(logs))


# --- the order 1: Kullback–Leibler

DIVERGENCES = {
    "Gaussian": lambda sigma: 0.5 / sigma**2,
    "Laplace": lambda b: divergence_laplace(1 / b),
}


def divergence_laplace(s):
    """s − 1 + e^{−s}"""
    return (
        s + math.expm1(-s)
        if s > 0.01
        else s * s / 2 - s**3 / 6 + s**4 / 24 - s**5 / 120 + s**6 / 720
    )


def divergence(parts, number):
    return sum(
        part["count"] * DIVERGENCES[part["mechanism"]](number(part, PARAMETER[part["mechanism"]]))
        for part in parts
    )


# --- composition

memo = {}


def together(sigma, runs):
    """The noise of one run that is as much as these."""
    return sigma if runs == 1 else sigma / math.sqrt(runs)


def one_run(part, alpha, number):
    """(α − 1) ε(α) of one run"""
    name = part["mechanism"]
    size = together(number(part, PARAMETER[name]), part.get("inner", 1))
    gamma = part.get("gamma_float")
    key = (name, part["sampling"], size, gamma, alpha)
    if key not in memo:
        if part["sampling"] == "poisson":
            memo[key] = sampled(name, alpha, size, gamma)
        elif part["sampling"] == "without_replacement":
            memo[key] = fixed_size(alpha, size, gamma)
        else:
            memo[key] = MECHANISMS[name](alpha, size)
    return memo[key]


def rdp(parts, alpha, number, count="number"):
    if alpha == 1:
        return divergence(parts, number)
    total = 0.0
    for part in parts:
        cgf = one_run(part, alpha, number)
        if count == "repeat":
            for _ in range(part["count"]):
                total += cgf
        elif part["sampling"] == "none":
            total += part["count"] * cgf
        else:
            total += part["count"] * cgf
    return total / (alpha - 1)


# --- conversion

LEAST, MOST = -8.0, 13.0  # log₂(α − 1)


def epsilon_at(lam, curve, delta):
    alpha = lam + 1
    return curve(alpha) - math.log1p(1 / lam) - (math.log(delta) + math.log(alpha)) / lam


def log_delta_at(lam, curve, epsilon):
    alpha = lam + 1
    return lam * (curve(alpha) - epsilon) - math.log(lam) - alpha * math.log1p(1 / lam)


def best(objective):
    """The least value over real orders: doubling, then golden section on log(α − 1)."""
    powers = [LEAST]
    values = [objective(2 ** powers[0])]
    while powers[-1] < MOST and (len(values) < 4 or values[-1] <= min(values) + abs(min(values))):
        powers.append(powers[-1] + 1)
        values.append(objective(2 ** powers[-1]))
    i = values.index(min(values))
    if i in (0, len(values) - 1):
        return None
    low, high = powers[i - 1], powers[i + 1]
    for _ in range(24):
        a, b = high - 0.618 * (high - low), low + 0.618 * (high - low)
        if objective(2**a) < objective(2**b):
            high = b
        else:
            low = a
    return min(values[i], objective(2 ** ((low + high) / 2)))


# --- the protocol

ORDERS = {"orders": "real"}
WHOLE = {"orders": "integer"}
NUMBERS = ["float", "int", "numpy.float32", "Decimal"]
ENDS = {"asks": ["rdp", "epsilon", "delta"]}
HELLO = {
    "peer": "float64",
    "version": "1",
    "compose": True,
    "conversion": "improved",
    "default_orders": "real",
    "order_grid": True,
    "negative_epsilon": True,
    "how": {
        "count": ["number", "repeat"],
        "numbers": NUMBERS,
        "alpha": NUMBERS,
        "sequence": ["given", "reversed"],
    },
    "supports": [
        {"mechanism": "Gaussian", **ENDS, "order_one": True},
        {"mechanism": "Gaussian", "adjacency": "replace_one"},
        {"mechanism": "Gaussian", "adjacency": "replace_special"},
        {"mechanism": "Gaussian", "sampling": "poisson", **ENDS, "inner": True},
        {"mechanism": "Laplace", "order_one": True},
        {"mechanism": "Laplace", "sampling": "poisson", **WHOLE, "max_order": 512},
        {
            "mechanism": "Gaussian",
            "sampling": "without_replacement",
            "adjacency": "replace_one",
            "max_order": 256,
            **WHOLE,
        },
    ],
}


def typed(text, way):
    """The number in the type asked for, if it is one of that type."""
    if way == "Decimal":
        return Decimal(text)
    if way == "numpy.float32":
        import numpy

        return numpy.float32(text)
    value = float(Fraction(text))
    return int(value) if way == "int" and value.is_integer() else value


def plain(x):
    """What is computed with, whatever type was given."""
    return x if isinstance(x, int) else float(x)


def answer(ask):
    if ask["ask"] == "hello":
        return HELLO
    parts, how = ask["parts"], ask["how"]
    relation = ask["adjacency"]
    if relation not in RELATIONS[fixed_sizes(parts)]:
        return {"unsupported": "this relation for this sampling"}

    def number(part, name):
        return plain(typed(part[name], how.get("numbers")))

    if how.get("sequence") == "reversed":
        parts = parts[::-1]
    if ask["ask"] == "rdp":
        alpha = plain(typed(ask["alpha"], how.get("alpha")))
        value = rdp(parts, alpha, number, how.get("count"))
        return {"value": value, "claims": "WBK19-T9"} if fixed_sizes(parts) else {"value": value}
    return convert(ask, lambda alpha: rdp(parts, alpha, number))


RELATIONS = {
    True: ("replace_one",),
    False: ("add_remove", "replace_one", "replace_special"),
}


def fixed_sizes(parts):
    return any(part["sampling"] == "without_replacement" for part in parts)


def convert(ask, curve):
    orders = ask.get("orders_float")
    search = best if orders is None else over(orders)
    loss = curve(1.0001)  # no less than Kullback–Leibler's
    variation = math.sqrt(min(loss / 2, -math.expm1(-loss)))  # Pinsker; Bretagnolle and Huber
    if ask["ask"] == "epsilon":
        if variation <= ask["delta_float"]:
            return {"value": 0.0}
        found = search(lambda lam: epsilon_at(lam, curve, ask["delta_float"]))
        return {"value": max(found, 0.0)} if found is not None else EDGE
    epsilon = ask["epsilon_float"]
    found = search(lambda lam: log_delta_at(lam, curve, abs(epsilon)))
    if found is None:
        return EDGE
    delta = min(math.exp(min(found, 0.0)), variation)
    return {"value": delta if epsilon >= 0 else mirrored(delta, epsilon)}


EDGE = {"unsupported": "the edge of the orders"}


def over(orders):
    """The least value over these orders."""
    return lambda objective: min(objective(order - 1) for order in orders)


def mirrored(delta, epsilon):
    """δ(ε) for ε < 0, given δ(−ε)."""
    return -math.expm1(epsilon) + math.exp(epsilon) * delta


for line in sys.stdin:
    ask = json.loads(line)
    try:
        row = answer(ask)
    except (ArithmeticError, ValueError) as error:
        row = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": ask["id"], **row}, default=float), flush=True)
