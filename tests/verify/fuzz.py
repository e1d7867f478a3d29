"""A peer that answers at random: every kind of value, noise, wrong ids, malformed lines."""

import json
import random
import sys

VALUES = [0, -1, 1, "nan", "inf", "-inf", "1e400", "1e-400", "1e-5000", 1e308, 5e-324, 2**70, "0.1"]
POISSON, FIXED = {"sampling": "poisson"}, {"sampling": "without_replacement"}
REPLACE = {"adjacency": "replace_one"}
HELLO = {
    "id": 0,
    "peer": "fuzz",
    "version": "1",
    "compose": True,
    "conversion": "classic",
    "default_orders": [2, 3, 4],
    "order_grid": True,
    "how": {"count": ["number", "repeat"], "alpha": ["float", "int"], "after": ["fresh", "twice"]},
    "supports": [
        {"mechanism": "Gaussian", **POISSON, "asks": ["rdp", "epsilon", "delta"]},
        {"mechanism": "Gaussian", **POISSON, **REPLACE},
        {"mechanism": "Laplace", **FIXED, **REPLACE, "asks": ["rdp", "epsilon"]},
        {"mechanism": "Laplace", **FIXED},
        {"mechanism": "ZCDP"},
        {"mechanism": "RandomizedResponse", **POISSON, "asks": ["rdp", "delta"]},
        {"mechanism": "PureDP", "asks": ["delta"]},
    ],
}


def answer(chance, number):
    """One answer, or what stands for it."""
    kind = chance.random()
    if kind < 0.02:
        print("junk")
    if kind < 0.04:
        print(json.dumps({"id": number + 5, "value": 1}))
    row = {"value": chance.choice(VALUES)}
    if kind < 0.06:
        row = {"error": f"E: {kind}"}
    elif kind < 0.08:
        row = {"unsupported": "x"}
    elif kind < 0.1:
        row = {"value": None}
    elif kind < 0.3:
        row["claims"] = chance.choice(["ZW19-T8", "nonsense", "WBK19-T9", 3])
    return {"id": number, **row}


if __name__ == "__main__":
    chance = random.Random(int(sys.argv[1]))
    print(json.dumps(HELLO), flush=True)
    sys.stdin.readline()
    for line in sys.stdin:
        print(json.dumps(answer(chance, json.loads(line)["id"])), flush=True)
