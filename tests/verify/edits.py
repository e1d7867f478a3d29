"""Edits of tests/verify/accountant.py: faults, and changes that leave it right.

A fault is (text, what replaces it, a word of the cause that has to be named). They are the kinds
that were once missed, and kinds of which no run had seen one when they were written;
tests/verify/defects.py has the others.
"""

from tests.verify.defects import DEFECTS

_EPSILON = "- (math.log(delta) + math.log(alpha)) / lam"
_LOG_DELTA = (
    "    return lam * (curve(alpha) - epsilon) - math.log(lam) - alpha * math.log1p(1 / lam)"
)
_PLAIN = "            memo[key] = MECHANISMS[name](alpha, size)"
_SAMPLED = "memo[key] = sampled(name, alpha, size, gamma)"
_COUNTED = '        else:\n            total += part["count"] * cgf'
_NONE = (
    '        elif part["sampling"] == "none":\n            total += part["count"] * cgf\n'
    + _COUNTED
)
_KEY = 'key = (name, part["sampling"], size, gamma, alpha)'
_SAID = '    print(json.dumps({"id": ask["id"], **row}, default=float), flush=True)'
_TERMS = "for l in range(2, alpha + 1)"
_WHOLE = "        return softplus(whole_order(mechanism, int(alpha), size, gamma))"
_TOTAL = "    return total / (alpha - 1)\n"
_CONVERSION, _HISTORY = "conversion", "depends on what was asked before"

#: What a run was blind to, or could not name, in November 2026.
MISSED = {
    "2δ for δ": (_EPSILON, "- (math.log(2 * delta) + math.log(alpha)) / lam", _CONVERSION),
    "log(δα) over α": (_EPSILON, "- (math.log(delta) + math.log(alpha)) / alpha", _CONVERSION),
    "log α twice": (_EPSILON, "- (math.log(delta) + 2 * math.log(alpha)) / lam", _CONVERSION),
    "log α missing": (_EPSILON, "- math.log(delta) / lam", _CONVERSION),
    "all in float32": (
        _SAID,
        "    import struct\n"
        '    if "value" in row:\n'
        '        row["value"] = struct.unpack("f", struct.pack("f", row["value"]))[0]\n' + _SAID,
        "computed in float32",
    ),
    "six digits printed": (
        _SAID,
        '    if "value" in row:\n        row["value"] = f"{row[\'value\']:.6g}"\n' + _SAID,
        "printed with 6 digits",
    ),
    "a band in σ": (
        _PLAIN,
        "            memo[key] = MECHANISMS[name](alpha, size) * (0.9 if 3 < size < 6 else 1)",
        "none",
    ),
    "a count modulo 65,536": (
        _NONE,
        '        else:\n            total += part["count"] % 65536 * cgf',
        "several runs",
    ),
    "a memo keyed by σ to three digits": (
        _KEY,
        'key = (name, part["sampling"], float(f"{size:.3g}"), gamma, alpha)',
        _HISTORY,
    ),
    "a memo keyed by the rate to six digits": (
        _KEY,
        'key = (name, part["sampling"], size, float(f"{gamma or 0:.6g}"), alpha)',
        _HISTORY,
    ),
    "a total that drifts with what was asked": (
        _TOTAL,
        "    memo['asked'] = memo.get('asked', 0) + 1\n"
        "    return total / (alpha - 1) * (0.999 if memo['asked'] > 700 else 1)\n",
        _HISTORY,
    ),
    "one mechanism of two": (
        "            memo[key] = MECHANISMS[name](alpha, size)",
        '            memo[key] = MECHANISMS[name](alpha, size) * (0.5 if name == "Laplace" else 1)',
        "Laplace",
    ),
}
#: Kinds that neither the issue nor tests/verify/defects.py names.
NEW = {
    "log₁₀ of δ": (_EPSILON, "- (math.log10(delta) + math.log(alpha)) / lam", _CONVERSION),
    "log₂ of δ": (_EPSILON, "- (math.log2(delta) + math.log(alpha)) / lam", _CONVERSION),
    "δ²": (_EPSILON, "- (2 * math.log(delta) + math.log(alpha)) / lam", _CONVERSION),
    "ε cut to two decimals": (
        'return {"value": max(found, 0.0)} if',
        'return {"value": math.floor(max(found, 0.0) * 100) / 100} if',
        _CONVERSION,
    ),
    "the best order returned for the value": (
        "    return min(values[i], objective(2 ** ((low + high) / 2)))",
        "    return 2 ** ((low + high) / 2)",
        _CONVERSION,
    ),
    "δ in powers of two": (
        "    delta = min(math.exp(min(found, 0.0)), variation)",
        "    delta = min(2 ** min(found, 0.0), variation)",
        _CONVERSION,
    ),
    "no δ above 0.001": (
        "    delta = min(math.exp(min(found, 0.0)), variation)",
        "    delta = min(math.exp(min(found, 0.0)), variation, 0.001)",
        _CONVERSION,
    ),
    "log(α − 1) forgotten in δ": (
        _LOG_DELTA,
        "    return lam * (curve(alpha) - epsilon) - alpha * math.log1p(1 / lam)",
        _CONVERSION,
    ),
    "variance for standard deviation": (
        "    return (alpha - 1) * alpha / (2 * sigma * sigma)",
        "    return (alpha - 1) * alpha / (2 * sigma)",
        "Gaussian",
    ),
    "γ² of the whole curve": (
        _SAMPLED,
        "memo[key] = gamma**2 * MECHANISMS[name](alpha, size)",
        "poisson",
    ),
    "Stirling without its correction": (
        "    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)",
        "    f = lambda m: m * math.log(m) - m if m else 0.0\n    return f(n) - f(k) - f(n - k)",
        "poisson",
    ),
    "a sum of fifty terms": (_TERMS, "for l in range(2, min(alpha, 50) + 1)", "poisson"),
    "a sum from the third term on": (_TERMS, "for l in range(min(3, alpha), alpha + 1)", "poisson"),
    "the first exponent taken out, not the largest": (
        "    most = max(logs, default=-math.inf)\n",
        "    most = logs[0] if logs else -math.inf\n",
        "OverflowError",
    ),
    "a quadrature too coarse": (
        "    width = min(sigma / 4, sigma * sigma / 2)",
        "    width = 2 * min(sigma, sigma * sigma)",
        "poisson",
    ),
    "a quadrature cut off at 3σ": ("    reach = 12 * sigma", "    reach = 3 * sigma", "poisson"),
    "π = 3.14": ("math.sqrt(2 * math.pi)", "math.sqrt(2 * 3.14)", "poisson"),
    "no more than 100,000 runs": (
        _COUNTED,
        '        else:\n            total += min(part["count"], 100_000) * cgf',
        "several runs",
    ),
    "the largest part for all": (
        "    total = 0.0\n    for part in parts:\n        cgf = one_run",
        "    if len(parts) > 1:\n"
        "        return max(rdp([part], alpha, number, count) for part in parts)\n"
        "    total = 0.0\n    for part in parts:\n        cgf = one_run",
        "in a composition",
    ),
    "the square root of the number of runs": (
        _COUNTED,
        '        else:\n            total += part["count"] ** 0.5 * cgf',
        "several runs",
    ),
    "γ and 1 − γ exchanged": (
        "    log_rate, log_rest = math.log(gamma), math.log1p(-gamma)",
        "    log_rate, log_rest = math.log1p(-gamma), math.log(gamma)",
        "poisson",
    ),
    "no loss at rates below 10⁻⁵": (
        _SAMPLED,
        "memo[key] = sampled(name, alpha, size, gamma) if gamma >= 1e-5 else 0.0",
        "poisson",
    ),
    "Gaussian noise for a sample with Laplace's": (
        "    cgf = MECHANISMS[mechanism]\n",
        "    cgf = gaussian\n",
        "Laplace",
    ),
    "divided by α": (_TOTAL, "    return total / alpha\n", "too small"),
    "the CGF": (_TOTAL, "    return total\n", "too small and too large"),
    "a factor 2 of Theorem 9 dropped": (
        "        logs.append(math.log(2) + log_coefficient + gaussian(j, sigma))",
        "        logs.append(log_coefficient + gaussian(j, sigma))",
        "without replacement",
    ),
    "the larger of two for the smaller": (
        "    least = min(math.log(4)",
        "    least = max(math.log(4)",
        "without replacement",
    ),
    "0 for orders beyond 1000": (
        _WHOLE,
        "        if alpha > 1000:\n            return 0.0\n" + _WHOLE,
        "poisson",
    ),
    "nan for orders beyond 300": (
        _WHOLE,
        "        if alpha > 300:\n            return math.inf - math.inf\n" + _WHOLE,
        "nan",
    ),
    "10⁻⁹ under every logarithm": (
        "    return x + math.log(-math.expm1(-x)) if x > 0 else -math.inf",
        "    return math.log(math.expm1(x) + 1e-9) if x < 700 else x",
        "poisson",
    ),
    "the last of reversed parts dropped": (
        "        parts = parts[::-1]\n",
        "        parts = parts[::-1][:-1] or parts\n",
        "sequence",
    ),
    "a decimal comma": (
        _SAID,
        '    if "value" in row:\n        row["value"] = str(row["value"]).replace(".", ",")\n'
        + _SAID,
        "exception",
    ),
    "an end at much loss": (
        _PLAIN,
        _PLAIN + "\n            if memo[key] > 1e6:\n                sys.exit(1)",
        "exception",
    ),
    "a rate in percent": (
        _SAMPLED,
        "memo[key] = sampled(name, alpha, size, gamma / 100)",
        "poisson",
    ),
    "noise rounded to one decimal": (
        _SAMPLED,
        "memo[key] = sampled(name, alpha, max(0.05, round(float(size), 1)), gamma)",
        "poisson",
    ),
    "answers off by chance": (
        _TOTAL,
        "    import random\n    return total / (alpha - 1) * (1 + 1e-6 * random.random())\n",
        "",
    ),
    "a lookup table's nearest rate": (
        _SAMPLED,
        "memo[key] = sampled(name, alpha, size, 10 ** (round(math.log10(gamma) * 20) / 20)"
        " if gamma < 0.5 else gamma)",
        "poisson",
    ),
}
#: Kinds of which no run had seen one before 26 November 2026.
LATER = {
    "one run too few": (
        _NONE,
        '        else:\n            total += max(1, part["count"] - 1) * cgf',
        "several runs",
    ),
    "the square of the sensitivity forgotten": (
        "    return sigma if runs == 1 else sigma / math.sqrt(runs)",
        "    return sigma / runs**0.25",  # k runs in a sample are one of sensitivity √k
        "several runs in a sample",
    ),
    "γ applied twice": (
        _SAMPLED,
        "memo[key] = sampled(name, alpha, size, gamma * gamma)",
        "poisson",
    ),
    "a rate by whole division": (
        '    gamma = part.get("gamma_float")\n',
        '    gamma = part.get("gamma_float")\n    gamma = gamma and 1 / max(2, 1 // gamma)\n',
        "poisson",
    ),
    "ε and δ exchanged in the conversion": (
        '        found = search(lambda lam: epsilon_at(lam, curve, ask["delta_float"]))\n',
        '        found = search(lambda lam: log_delta_at(lam, curve, ask["delta_float"]))\n',
        _CONVERSION,
    ),
    "δ without its exponent": (
        '        found = search(lambda lam: epsilon_at(lam, curve, ask["delta_float"]))\n',
        '        given = float(str(ask["delta"]).lower().split("e")[0])\n'
        "        found = search(lambda lam: epsilon_at(lam, curve, given))\n",
        _CONVERSION,
    ),
    "no δ below 10⁻¹²": (
        "    delta = min(math.exp(min(found, 0.0)), variation)",
        "    delta = max(min(math.exp(min(found, 0.0)), variation), 1e-12)",
        _CONVERSION,
    ),
    "whole orders alone, from 2 to 64": (
        "    powers = [LEAST]\n",
        "    return min(objective(order - 1) for order in range(2, 65))\n    powers = [LEAST]\n",
        _CONVERSION,
    ),
    "the largest over the orders given": (
        "min(objective(order - 1) for order in orders)",
        "max(objective(order - 1) for order in orders)",
        _CONVERSION,
    ),
    "the value of add/remove for records replaced": (
        '        {"mechanism": "Laplace", "order_one": True},\n',
        '        {"mechanism": "Laplace", "order_one": True},\n'
        '        {"mechanism": "Gaussian", "sampling": "poisson", "adjacency": "replace_one",'
        ' "max_order": 32, "min_order": 1.5},\n',
        "poisson: replace/one",
    ),
    "in bits": (_TOTAL, "    return total / (alpha - 1) / math.log(2)\n", "too large"),
    "a memo keyed by where a part lies": (_KEY, "key = (id(part), alpha)", _HISTORY),
    "the number of runs that was asked first": (
        _NONE,
        '        else:\n            total += memo.setdefault((alpha, "runs"), part["count"]) * cgf',
        _HISTORY,
    ),
    "no amplification in a composition": (
        "        cgf = one_run(part, alpha, number)\n",
        "        cgf = one_run(\n"
        "            part if len(parts) == 1 else {**part, 'sampling': 'none'}, alpha, number\n"
        "        )\n",
        "in a composition",
    ),
    "the mean over the parts": (
        _TOTAL,
        "    return total / (alpha - 1) / len(parts)\n",
        "in a composition",
    ),
    "eˣ for eˣ − 1": (
        "    return x + math.log(-math.expm1(-x)) if x > 0 else -math.inf",
        "    return x",
        "poisson",
    ),
    "α and α − 1 exchanged": (
        "        (alpha * math.expm1(lam * s) + lam * math.expm1(-alpha * s)) / (2 * alpha - 1)",
        "        (lam * math.expm1(lam * s) + alpha * math.expm1(-alpha * s)) / (2 * alpha - 1)",
        "Laplace",
    ),
    "order 1 for all below 1.5": ("    if alpha == 1:\n", "    if alpha < 1.5:\n", "too"),
    "ε of fractional orders between two lines": (
        "    return softplus(quadrature(alpha, float(size), gamma))",
        "    low, share = int(alpha), alpha - int(alpha)\n"
        "    ends = [\n"
        "        softplus(whole_order(mechanism, whole, size, gamma)) / (whole - 1)\n"
        "        for whole in (max(2, low), low + 1)\n"
        "    ]\n"
        "    return (alpha - 1) * ((1 - share) * ends[0] + share * ends[1])",
        "poisson",
    ),
}
#: Those whose cause has a name to be given.
NAMED = MISSED | NEW | LATER
FAULTS = NAMED | {name: (*pair, "") for name, pair in DEFECTS.items()}


_NOISE = """
    if "value" in row:
        from random import Random
        row["value"] *= 1 + 1e-13 * Random(ask["id"]).uniform(-1, 1)
"""
#: log E_Q[(P/Q)^α − 1 − α(P/Q − 1)], P and Q with a record at 1 and at −1: the trapezoidal rule.
_REPLACED = """
def replaced(alpha, sigma, gamma):
    width, reach, logs = min(sigma / 8, sigma * sigma / 4), 14 * sigma, []
    first, last = math.floor((-1 - reach) / width), math.ceil((2 * alpha + reach) / width)
    for x in (width * i for i in range(first, last + 1)):
        up, down = (s * x / sigma**2 - 0.5 / sigma**2 for s in (1, -1))
        log_p, log_q = (log_sum([math.log1p(-gamma), math.log(gamma) + s]) for s in (up, down))
        log_r = log_p - log_q
        if abs(x / sigma**2) < 30:
            rise = gamma * math.exp(-0.5 / sigma**2 - log_q) * 2 * math.sinh(x / sigma**2)
            log_h = log_excess_of(alpha, rise, log_r)
        elif log_r < 20:
            log_h = log_excess_of(alpha, math.expm1(log_r), log_r)
        else:
            taken = math.exp(-alpha * log_r) * (1 - alpha) + alpha * math.exp((1 - alpha) * log_r)
            log_h = alpha * log_r + math.log1p(-taken)
        logs.append(log_h + log_q - x * x / (2 * sigma * sigma))
    return softplus(log_sum(logs) + math.log(width / (sigma * math.sqrt(2 * math.pi))))


def log_excess_of(alpha, w, log_r):
    if abs(w) * alpha < 0.1:
        return math.log(small(alpha, w)) if w else -math.inf
    log_power = alpha * log_r
    return math.log(math.expm1(log_power) - alpha * w) if log_power < 600 else log_power


memo = {}

"""
#: Edits that leave the accountant right: none of them may be found to be wrong.
RIGHT = {
    "as it is": [],
    "errors of 10⁻¹³": [(_SAID, _NOISE + _SAID)],
    "RDP alone": [
        ('ENDS = {"asks": ["rdp", "epsilon", "delta"]}', 'ENDS = {"asks": ["rdp"]}'),
    ],
    "no ε": [('ENDS = {"asks": ["rdp", "epsilon", "delta"]}', 'ENDS = {"asks": ["rdp", "delta"]}')],
    "ε and δ alone": [
        ('ENDS = {"asks": ["rdp", "epsilon", "delta"]}', 'ENDS = {"asks": ["epsilon", "delta"]}')
    ],
    "sums in the opposite order": [(_TERMS, "for l in reversed(range(2, alpha + 1))")],
    "words before its answers": [(_SAID, '    print("INFO asked;", end=" ")\n' + _SAID)],
    "a start of two seconds of work": [
        ("LOG_MAX = 700.0\n", "LOG_MAX = 700.0\nsum(i * i for i in range(20_000_000))\n")
    ],
    "seventeen digits as text": [
        (
            _SAID,
            '    if "value" in row:\n        row["value"] = f"{row[\'value\']:.17g}"\n' + _SAID,
        )
    ],
    "records of Poisson samples replaced": [
        ("memo = {}\n\n", _REPLACED),
        (
            "            " + _SAMPLED,
            "            if number.relation == 'replace_one':\n"
            "                memo[key] = replaced(alpha, size, gamma)\n"
            "            else:\n"
            "                memo[key] = sampled(name, alpha, size, gamma)",
        ),
        (_KEY, 'key = (name, part["sampling"], size, gamma, alpha, number.relation)'),
        (
            '    if how.get("sequence") == "reversed":',
            '    number.relation = relation\n    if how.get("sequence") == "reversed":',
        ),
        (
            '        {"mechanism": "Laplace", "order_one": True},\n',
            '        {"mechanism": "Laplace", "order_one": True},\n'
            '        {"mechanism": "Gaussian", "sampling": "poisson", "adjacency": "replace_one",'
            ' "max_order": 32, "min_order": 1.5},\n',
        ),
    ],
}
