"""A correct float64 accountant of Gaussian noise in its forms: only `math`, nothing of symacct.

It answers what tests/verify/accountant.py does not: the least noise and the most runs, ρ and μ,
groups, other sensitivities, trees, matrices, discrete noise, several orders at once.
tests/verify/test_beyond.py plants faults.
"""

import json
import math
import sys

LOG_ROOT = 0.5 * math.log(2 * math.pi)

# --- the two ends of μ-GDP


def log_tail(x):
    """log P[N(0, 1) > x]"""
    if x < 25:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    inverse = 1 / (x * x)
    rest = -inverse + 3 * inverse**2 - 15 * inverse**3 + 105 * inverse**4
    return -x * x / 2 - math.log(x) - LOG_ROOT + math.log1p(rest)


def delta_of(mu, epsilon):
    first = log_tail(epsilon / mu - mu / 2)
    second = epsilon + log_tail(epsilon / mu + mu / 2)
    return math.exp(first) * -math.expm1(second - first)


def bisected(meets, low, high):
    """The least number that meets it, where larger ones do."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def epsilon_of(mu, delta):
    if delta_of(mu, 0.0) <= delta:
        return 0.0
    high = 1.0
    while delta_of(mu, high) > delta:
        high *= 2
    return bisected(lambda epsilon: delta_of(mu, epsilon) <= delta, 0.0, high)


def largest_mu(epsilon, delta):
    """The largest μ that is (ε, δ)-DP."""
    high = 1.0
    while delta_of(high, epsilon) <= delta:
        high *= 2
    low = high
    while delta_of(low, epsilon) > delta:
        low /= 2
    return 2 * low - bisected(lambda x: delta_of(2 * low - x, epsilon) <= delta, 0.0, low)


# --- what a part's query moves by


def height(part):
    return int(part["steps"]).bit_length()


def column(part):
    """The largest Σ of squares in a column."""
    return max(sum(x * x for x in entries) for entries in zip(*part["strategy_float"], strict=True))


def squared(part, group):
    """Δ² in units of what one record adds to a sum"""
    moved = part.get("sensitivity_float", 1.0) * group
    if part["mechanism"] == "TreeAggregation":
        return height(part) * group**2
    if part["mechanism"] == "MatrixMechanism":
        return column(part) * group**2
    return moved**2


def mu_of(parts, group):
    total = sum(part["count"] * squared(part, group) / part["sigma_float"] ** 2 for part in parts)
    return math.sqrt(total)


# --- curves


def discrete_laplace(alpha, b, moved):
    """log Σ_x P(x)^α P(x − Δ)^{1−α} over α − 1, P(x) ∝ t^{|x|}"""
    t = math.exp(-1 / b)
    between = [((alpha - 1) * (moved - x) - alpha * x) / b for x in range(1, moved)]
    rest = -math.log1p(-t)
    ends = [(alpha - 1) * moved / b + rest, rest - alpha * moved / b]
    most = max(between + ends)
    total = most + math.log(math.fsum(math.exp(x - most) for x in (between + ends)))
    return (math.log1p(-t) - math.log1p(t) + total) / (alpha - 1)


def rdp(parts, alpha, group):
    total = 0.0
    for part in parts:
        if part["mechanism"] == "DiscreteLaplace":
            moved = int(part.get("sensitivity_float", 1)) * group
            total += part["count"] * discrete_laplace(alpha, part["b_float"], moved)
        else:
            total += part["count"] * alpha * squared(part, group) / (2 * part["sigma_float"] ** 2)
    return total


def rho_of(parts, group):
    return mu_of(parts, group) ** 2 / 2


# --- the protocol

REAL = {"group": True, "batch": True}
WHOLE = {"orders": "integer", "max_order": 64, "group": True, "sensitivity": True, "batch": True}
ENDS = ["rdp", "epsilon", "delta", "rho", "mu"]
HELLO = {
    "peer": "budget",
    "version": "1",
    "conversion": "none",
    "supports": [
        {
            "mechanism": "Gaussian",
            "asks": [*ENDS, "noise", "runs", "advantage"],
            "sensitivity": True,
            **REAL,
        },
        {"mechanism": "TreeAggregation", "asks": ENDS, **REAL},
        {"mechanism": "MatrixMechanism", "asks": ENDS, **REAL},
        {"mechanism": "DiscreteGaussian", "asks": ["rdp", "rho"], **WHOLE},
        {"mechanism": "DiscreteLaplace", "asks": ["rdp"], **WHOLE},
    ],
}


def noise(part, epsilon, delta, group):
    moved = part.get("sensitivity_float", 1.0) * group
    return moved * math.sqrt(part["count"]) / largest_mu(epsilon, delta)


def most_runs(part, epsilon, delta, group):
    allowed = (largest_mu(epsilon, delta) * part["sigma_float"]) ** 2
    return math.floor(allowed / squared(part, group))


def answer(ask):
    if ask["ask"] == "hello":
        return HELLO
    parts, group = ask["parts"], ask.get("group", 1)
    if ask["ask"] == "noise":
        (part,) = parts
        return {"value": noise(part, ask["epsilon_float"], ask["delta_float"], group)}
    if ask["ask"] == "runs":
        (part,) = parts
        return {"value": most_runs(part, ask["epsilon_float"], ask["delta_float"], group)}
    if ask["ask"] == "rho":
        return {"value": rho_of(parts, group)}
    if ask["ask"] == "mu":
        return {"value": mu_of(parts, group)}
    if ask["ask"] == "advantage":
        return {"value": delta_of(mu_of(parts, group), 0.0)}
    if ask["ask"] == "epsilon":
        return {"value": epsilon_of(mu_of(parts, group), ask["delta_float"])}
    if ask["ask"] == "delta":
        return {"value": delta_of(mu_of(parts, group), ask["epsilon_float"])}
    if "orders" in ask:
        orders = ask["orders_float"]
        return {"values": [rdp(parts, alpha, group) for alpha in orders]}
    return {"value": rdp(parts, ask["alpha_float"], group)}


for line in sys.stdin:
    ask = json.loads(line)
    try:
        row = answer(ask)
    except (ArithmeticError, ValueError) as error:
        row = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": ask["id"], **row}), flush=True)
