"""Copies of the correct accountant with one planted defect each: (text, what replaces it).

`CAUGHT` says with which verdict each has to be found, at least.
"""

from pathlib import Path

CORRECT = Path(__file__).with_name("accountant.py")

FORMULAS = {
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

#: Narrow regions, switches, memories, types, and what is asked in few ways.
CORNERS = {
    "a region narrow in every parameter": (
        "    if float(alpha).is_integer():\n",
        "    if 2 < size < 3 and 0.01 < gamma < 0.02 and 20 < alpha < 30:\n"
        "        return softplus(whole_order(mechanism, round(alpha), size, gamma)) / 2\n"
        "    if float(alpha).is_integer():\n",
    ),
    "a region of two parameters": (
        "            memo[key] = MECHANISMS[name](alpha, size)",
        "            share = 0.9 if 3 < size < 4 and 5 < alpha < 7 else 1\n"
        "            memo[key] = share * MECHANISMS[name](alpha, size)",
    ),
    "a switch at a small rate": (
        "    if float(alpha).is_integer():\n",
        "    if gamma < 1e-4:\n"
        "        return gamma * gamma * alpha * (alpha - 1) / (2 * float(size) ** 2)\n"
        "    if float(alpha).is_integer():\n",
    ),
    "a switch at a large count": (
        '        else:\n            total += part["count"] * cgf',
        '        else:\n            total += min(part["count"], 65_535) * cgf',
    ),
    "a best order remembered": (
        "    powers = [LEAST]\n",
        "    if memo.get('best') is not None:\n        return objective(memo['best'])\n"
        "    memo['best'] = 7.0\n    powers = [LEAST]\n",
    ),
    "a memo key with a rounded order": (
        'key = (name, part["sampling"], size, gamma, alpha)',
        'key = (name, part["sampling"], size, gamma, round(alpha, 1))',
    ),
    "a memo that is full": (
        "    if key not in memo:\n",
        "    if len(memo) > 200:\n        return memo[next(iter(memo))]\n    if key not in memo:\n",
    ),
    "computed in float32": (
        'value = rdp(parts, alpha, number, how.get("count"))',
        'value = rdp(parts, alpha, number, how.get("count"))\n'
        '        if how.get("numbers") == "numpy.float32":\n'
        '            value = float(typed(value, "numpy.float32"))',
    ),
    "Decimal orders taken for fractional ones": (
        '        alpha = plain(typed(ask["alpha"], how.get("alpha")))\n',
        '        alpha = typed(ask["alpha"], how.get("alpha"))\n'
        "        alpha = float(alpha) + 0.5 if isinstance(alpha, Decimal) else plain(alpha)\n",
    ),
    "a part that stands twice counted once": (
        "    for part in parts:\n        cgf = one_run",
        "    for part in {repr(part): part for part in parts}.values():\n        cgf = one_run",
    ),
    "two runs taken for one": (
        '        elif part["sampling"] == "none":\n            total += part["count"] * cgf',
        '        elif part["sampling"] == "none":\n'
        '            total += (part["count"] if part["count"] != 2 else 1) * cgf',
    ),
    "the order 1 taken for a small one": (
        "    if alpha == 1:\n        return divergence(parts, number)\n",
        "    if alpha == 1:\n        return divergence(parts, number) / 2\n",
    ),
    "a limit at 1 taken too early": (
        "    total = 0.0\n    for part",
        "    alpha = 1 + 1e-8 if alpha < 1.001 else alpha\n    total = 0.0\n    for part",
    ),
    "orders cut off at 4096": (
        "    total = 0.0\n    for part",
        "    alpha = min(alpha, 4096)\n    total = 0.0\n    for part",
    ),
    "fractional orders of a grid cut off": (
        "min(objective(order - 1) for order in orders)",
        "min(objective(max(2, int(order)) - 1) for order in orders)",
    ),
    "a negative ε taken for a positive one": (
        "delta if epsilon >= 0 else mirrored(delta, epsilon)",
        "delta",
    ),
    "half the sensitivity where a record adds nothing": (
        '        return plain(typed(part[name], how.get("numbers")))\n',
        '        half = 2 if relation == "replace_special" else 1\n'
        '        return half * plain(typed(part[name], how.get("numbers")))\n',
    ),
    "twice the sensitivity where a record is replaced": (
        '        return plain(typed(part[name], how.get("numbers")))\n',
        '        twice = 2 if relation == "replace_one" and not fixed_sizes(parts) else 1\n'
        '        return plain(typed(part[name], how.get("numbers"))) / twice\n',
    ),
    "a composition inside a sample taken for one run": (
        "    return sigma if runs == 1 else sigma / math.sqrt(runs)",
        "    return sigma",
    ),
    "only powers of two searched": (
        "    return min(values[i], objective(2 ** ((low + high) / 2)))",
        "    return values[i]",
    ),
}
#: Thresholds, residues and clippings, away from the numbers that are written most.
THRESHOLDS = {
    "another formula for a small δ": (
        '        found = search(lambda lam: epsilon_at(lam, curve, ask["delta_float"]))\n',
        '        least = ask["delta_float"]\n'
        "        found = search(lambda lam: epsilon_at(lam, curve, max(least, 1e-10)))\n",
    ),
    "an order compared as a whole number": (
        "    if float(alpha).is_integer():\n",
        "    if int(alpha) == 2:\n        alpha = 2\n    if float(alpha).is_integer():\n",
    ),
    "a memo key without the noise": (
        'key = (name, part["sampling"], size, gamma, alpha)',
        'key = (name, part["sampling"], gamma, alpha)',
    ),
    "orders rounded up to a grid": (
        "            memo[key] = MECHANISMS[name](alpha, size)",
        "            memo[key] = MECHANISMS[name](math.ceil(alpha * 8) / 8, size)",
    ),
    "one run too few from 65,537 on": (
        '        else:\n            total += part["count"] * cgf',
        '        else:\n            total += (part["count"] - (part["count"] > 65_536)) * cgf',
    ),
    "a rate above one half ignored": (
        "memo[key] = sampled(name, alpha, size, gamma)",
        "memo[key] = sampled(name, alpha, size, min(gamma, 0.5))",
    ),
    "ε cut off at 50": (
        'return {"value": max(found, 0.0)} if',
        'return {"value": min(max(found, 0.0), 50.0)} if',
    ),
    "log of 1 + x for rates below 1e-9": (
        "        return softplus(whole_order(mechanism, int(alpha), size, gamma))",
        "        x = whole_order(mechanism, int(alpha), size, gamma)\n"
        "        return math.log(1 + math.exp(x)) if gamma < 1e-9 else softplus(x)",
    ),
    "half the sensitivity where a record is replaced": (
        '        return plain(typed(part[name], how.get("numbers")))\n',
        '        half = 2 if relation == "replace_one" and not fixed_sizes(parts) else 1\n'
        '        return half * plain(typed(part[name], how.get("numbers")))\n',
    ),
    "one run too few where they are a multiple of 7": (
        '        else:\n            total += part["count"] * cgf',
        '        else:\n            total += (part["count"] - (part["count"] % 7 == 0)) * cgf',
    ),
    "δ of a large ε": (
        "    found = search(lambda lam: log_delta_at(lam, curve, abs(epsilon)))\n",
        "    share = 1.25 if epsilon > 8 else 1\n"
        "    found = search(lambda lam: log_delta_at(lam, curve, share * abs(epsilon)))\n",
    ),
    "the last order given left out": (
        "objective(order - 1) for order in orders)",
        "objective(order - 1) for order in orders[:-1])",
    ),
    "a noise beyond 10,000 taken for 10,000": (
        "memo[key] = sampled(name, alpha, size, gamma)",
        "memo[key] = sampled(name, alpha, min(size, 10_000.0), gamma)",
    ),
}
DEFECTS = FORMULAS | CORNERS | THRESHOLDS

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
    "another formula from an order on": "loose",
    "another, unsound formula from an order on": "unsound",
    "adjacency ignored": "unsound",
    "a wrong conversion": "unsound",
    "a wrong conversion to δ": "wrong-formula",
    "a region narrow in every parameter": "unsound",
    "a region of two parameters": "unsound",
    "a switch at a small rate": "unsound",
    "a switch at a large count": "unsound",
    "a best order remembered": "inconsistent",
    "a memo key with a rounded order": "inconsistent",
    "a memo that is full": "inconsistent",
    "computed in float32": "inconsistent",
    "Decimal orders taken for fractional ones": "inconsistent",
    "a part that stands twice counted once": "unsound",
    "two runs taken for one": "unsound",
    "the order 1 taken for a small one": "unsound",
    "a limit at 1 taken too early": "unsound",
    "orders cut off at 4096": "unsound",
    "fractional orders of a grid cut off": "loose",
    "a negative ε taken for a positive one": "unsound",
    "half the sensitivity where a record adds nothing": "unsound",
    "twice the sensitivity where a record is replaced": "loose",
    "a composition inside a sample taken for one run": "unsound",
    "only powers of two searched": "loose",
    "a grid too narrow": "loose",
    "another formula for a small δ": "unsound",
    "an order compared as a whole number": "unsound",
    "a memo key without the noise": "inconsistent",
    "orders rounded up to a grid": "loose",
    "one run too few from 65,537 on": "unsound",
    "a rate above one half ignored": "unsound",
    "ε cut off at 50": "unsound",
    "log of 1 + x for rates below 1e-9": "zero",
    "half the sensitivity where a record is replaced": "unsound",
    "one run too few where they are a multiple of 7": "unsound",
    "δ of a large ε": "unsound",
    "the last order given left out": "loose",
    "a noise beyond 10,000 taken for 10,000": "loose",
}
#: Those that never give less than the truth: no reason for exit status 1.
SAFE = {
    "a dropped factor of (1 − γ)",
    "ε(l + 1)",
    "overflow",
    "overflow to inf",
    "another formula from an order on",
    "a best order remembered",
    "Decimal orders taken for fractional ones",
    "fractional orders of a grid cut off",
    "twice the sensitivity where a record is replaced",
    "only powers of two searched",
    "a grid too narrow",
    "orders rounded up to a grid",
    "the last order given left out",
    "a noise beyond 10,000 taken for 10,000",
}


def planted(name):
    """The accountant's text with the defect in it."""
    text = CORRECT.read_text(encoding="utf-8")
    old, new = DEFECTS[name]
    assert text.count(old) == 1, f"{name}: {text.count(old)} places for it"
    return text.replace(old, new)


def only(written, *places):
    """The accountant with these rows of its hello alone."""
    rows = f'HELLO["supports"] = [HELLO["supports"][i] for i in {places}]'
    assert written.count("\n\ndef typed(") == 1
    return written.replace("\n\ndef typed(", f"\n\n{rows}\n\n\ndef typed(")
