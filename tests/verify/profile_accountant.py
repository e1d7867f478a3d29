"""A float64 accountant of privacy profiles, no Rényi in it, that speaks docs/verification.md.

Gaussian noise, all runs at once, and one Poisson-sampled run, by the normal distribution function;
ε by bisection. `tests/verify/test_profile_peer.py` lets copies of it answer a little less.
"""

import json
import math
import sys

SHARE = 1.0  # of what is right
ROW = {"mechanism": "Gaussian", "asks": ["epsilon", "delta"]}
HELLO = {
    "peer": "profiles",
    "version": "1",
    "compose": True,
    "conversion": "none",
    "supports": [ROW, {**ROW, "sampling": "poisson"}],
}


def above(x):
    """1 − Φ(x)"""
    return math.erfc(x / math.sqrt(2)) / 2


def mixture(epsilon, size, gamma):
    """H_{e^ε}((1−γ)N(0, 1) + γN(size, 1)‖N(0, 1))"""
    inside = math.expm1(epsilon) + gamma
    x = size / 2 + math.log(inside / gamma) / size
    return gamma * above(x - size) - inside * above(x)


def profile(parts):
    """δ as a function of ε; None for what it does not know."""
    sampled = [part for part in parts if part["sampling"] != "none"]
    if sampled and (len(parts) > 1 or parts[0]["count"] > 1):
        return None
    size = math.sqrt(sum(part["count"] / part["sigma_float"] ** 2 for part in parts))
    gamma = parts[0]["gamma_float"] if sampled else 1.0
    return lambda epsilon: mixture(epsilon, size, gamma)


def least_epsilon(delta_of, delta):
    low, high = 0.0, 1.0
    if delta_of(0.0) <= delta:
        return 0.0
    while delta_of(high) > delta:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)
    return high


def answer(ask):
    if ask["ask"] == "hello":
        return HELLO
    delta_of = profile(ask["parts"]) if ask["adjacency"] == "add_remove" else None
    if delta_of is None:
        return {"unsupported": "several runs on samples, or this relation"}
    if ask["ask"] == "epsilon":
        return {"value": SHARE * least_epsilon(delta_of, ask["delta_float"])}
    return {"value": SHARE * delta_of(ask["epsilon_float"])}


for line in sys.stdin:
    ask = json.loads(line)
    try:
        row = answer(ask)
    except (ArithmeticError, ValueError) as error:
        row = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": ask["id"], **row}), flush=True)
