"""Copies of the correct accountant with one planted defect each: (text, what replaces it).

`CAUGHT` says with which verdict each has to be found, at least.
"""

from pathlib import Path

CORRECT = Path(__file__).with_name("accountant.py")

DEFECTS = {
    "a dropped factor": (
        "log_binomial(alpha, l) + l * log_rate + (alpha - l) * log_rest",
        "l * log_rate + (alpha - l) * log_rest",
    ),
    "a dropped factor of (1 − γ)": (" + (alpha - l) * log_rest", ""),
    "ε(l + 1)": ("log_expm1(cgf(l, size))", "log_expm1(cgf(l + 1, size))"),
    "ε(l − 1)": (
        "log_expm1(cgf(l, size))",
        "log_expm1(cgf(l - 1, size) if l > 2 else cgf(l, size))",
    ),
    "a sign dropped": ("* w\n        total += term", "* abs(w)\n        total += term"),
    "an absolute stopping test": ("abs(term) > 1e-17 * abs(total)", "abs(term) > 1e-8"),
    "log1p missing": ("math.log1p(math.exp(x))", "math.log(1 + math.exp(x))"),
    "overflow": (
        "return most + math.log(math.fsum(math.exp(x - most) for x in logs))",
        "return math.log(math.fsum(math.exp(x) for x in logs))",
    ),
    "overflow to inf": (
        "return softplus(whole_order(mechanism, int(alpha), size, gamma))",
        "x = whole_order(mechanism, int(alpha), size, gamma)\n"
        "        return softplus(x) if x < 709 else math.inf",
    ),
    "a negative value clamped to 0": (
        "return softplus(whole_order(mechanism, int(alpha), size, gamma))",
        "one = log_sum([int(alpha) * math.log1p(-gamma), math.log(alpha * gamma)"
        " + (int(alpha) - 1) * math.log1p(-gamma)])\n"
        "        x = whole_order(mechanism, int(alpha), size, gamma)\n"
        "        return max(0.0, log_sum([one, x]))",
    ),
    "a memo key without the operation": (
        'key = (name, part["sampling"], size, gamma, alpha)',
        "key = (name, size, alpha)",
    ),
    "a memo key without the rate": (
        'key = (name, part["sampling"], size, gamma, alpha)',
        'key = (name, part["sampling"], size, alpha)',
    ),
    "a count forgotten where nothing is sampled": (
        '        elif part["sampling"] == "none":\n            total += part["count"] * cgf',
        '        elif part["sampling"] == "none":\n            total += cgf',
    ),
    "a count forgotten in a composition": (
        '        else:\n            total += part["count"] * cgf',
        '        else:\n            total += part["count"] * cgf if len(parts) == 1 else cgf',
    ),
    "a count forgotten when repeated": (
        'for _ in range(part["count"]):',
        'for _ in range(min(part["count"], 4)):',
    ),
    "int handled differently": (
        "return (alpha - 1) * alpha / (2 * sigma * sigma)",
        "return (alpha - 1) * alpha * (1 / sigma // 1e-3 * 1e-3) ** 2 / 2 if isinstance(sigma, int)"
        " else (alpha - 1) * alpha / (2 * sigma * sigma)",
    ),
    "an int order handled differently": (
        "    if float(alpha).is_integer():\n",
        "    if isinstance(alpha, int):\n"
        "        return gamma * gamma * MECHANISMS[mechanism](alpha, size)\n"
        "    if float(alpha).is_integer():\n",
    ),
    "another formula from an order on": (
        "    if float(alpha).is_integer():\n",
        "    if alpha > 100:\n        return MECHANISMS[mechanism](alpha, size)\n"
        "    if float(alpha).is_integer():\n",
    ),
    "another, unsound formula from an order on": (
        "    if float(alpha).is_integer():\n",
        "    if alpha > 100:\n        return gamma * gamma * MECHANISMS[mechanism](alpha, size)\n"
        "    if float(alpha).is_integer():\n",
    ),
    "adjacency ignored": (
        "memo[key] = fixed_size(alpha, size, gamma)",
        "memo[key] = sampled(name, alpha, size, gamma)",
    ),
    "a wrong conversion": (
        "- (math.log(delta) + math.log(alpha)) / lam",
        "- (math.log(delta) + alpha * math.log(alpha)) / lam",
    ),
    "a wrong conversion to δ": (
        "- alpha * math.log1p(1 / lam)",
        "- 2 * alpha * math.log1p(1 / lam)",
    ),
    "a grid too narrow": (
        "    if i in (0, len(values) - 1):\n        return None\n",
        "    return objective(min(4.0, 2.0 ** powers[i]))\n",
    ),
}

CAUGHT = {
    "a dropped factor": "unsound",
    "a dropped factor of (1 − γ)": "loose",
    "ε(l + 1)": "loose",
    "ε(l − 1)": "unsound",
    "a sign dropped": "unsound",
    "an absolute stopping test": "unsound",
    "log1p missing": "zero",
    "overflow": "exception",
    "overflow to inf": "inf",
    "a negative value clamped to 0": "zero",
    "a memo key without the operation": "inconsistent",
    "a memo key without the rate": "inconsistent",
    "a count forgotten where nothing is sampled": "unsound",
    "a count forgotten in a composition": "unsound",
    "a count forgotten when repeated": "inconsistent",
    "int handled differently": "inconsistent",
    "an int order handled differently": "inconsistent",
    "another formula from an order on": "jump",
    "another, unsound formula from an order on": "unsound",
    "adjacency ignored": "unsound",
    "a wrong conversion": "unsound",
    "a wrong conversion to δ": "wrong-formula",
    "a grid too narrow": "loose",
}
#: Those that never give less than the truth: no reason for exit status 1.
SAFE = {
    "a dropped factor of (1 − γ)",
    "ε(l + 1)",
    "overflow",
    "overflow to inf",
    "another formula from an order on",
    "a grid too narrow",
}


def planted(name):
    """The accountant's text with the defect in it."""
    text = CORRECT.read_text(encoding="utf-8")
    old, new = DEFECTS[name]
    assert text.count(old) == 1, f"{name}: {text.count(old)} places for it"
    return text.replace(old, new)
