"""Faults that those who work on `verify` had not seen: `python -m tests.verify.planted --hidden`.

Each is an edit (old, new, kind) of a right accountant of this folder, and has a question that shows
it: an answer that is too small is "unsound", one that is too big or fails is "loose", and where
the first and the last question are about the same mathematics the fault is "inconsistent".
tests/verify/test_hidden.py proves each by its question.
"""

from __future__ import annotations

from typing import NamedTuple

from symacct.verify.peer.protocol import Ask, AskedPart
from tests.verify import edits, test_largest
from tests.verify.defects import CORRECT

# --- right accountants

_LEAVES = '''
def randomized(alpha, p):
    """Randomized response whose true answer is reported with probability p."""
    return bounded(alpha, abs(math.log1p((2 * p - 1) / (1 - p))))


def pure(alpha, epsilon):
    return bounded(alpha, epsilon)


def bounded(alpha, s):
    """log E_Q[(P/Q)^α] = log(1 + 2 sinh(αs/2) sinh((α−1)s/2) / cosh(s/2)) of two answers"""
    lam = alpha - 1
    if lam * s > 30:
        return lam * s - math.log1p(math.exp(-s)) + math.log1p(math.exp(-(2 * lam + 1) * s))
    return math.log1p(2 * math.sinh(alpha * s / 2) * math.sinh(lam * s / 2) / math.cosh(s / 2))


def zcdp(alpha, both):
    rho, xi = both
    return (alpha - 1) * (xi + rho * alpha)


MECHANISMS = {
    "Gaussian": gaussian,
    "Laplace": laplace,
    "RandomizedResponse": randomized,
    "PureDP": pure,
    "ZCDP": zcdp,
}
PARAMETER = {
    "Gaussian": "sigma",
    "Laplace": "b",
    "RandomizedResponse": "p",
    "PureDP": "epsilon",
    "ZCDP": "rho",
}
'''
#: Gaussian noise on everything by its exact profile, whatever curve there is for the rest.
_PROFILE = '''
def log_tail(x):
    """log P[N(0, 1) > x]"""
    if x < 25:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    inverse = 1 / (x * x)
    rest = -inverse + 3 * inverse**2 - 15 * inverse**3 + 105 * inverse**4
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) + math.log1p(rest)


def exact_delta(mu, epsilon):
    first = log_tail(epsilon / mu - mu / 2)
    second = epsilon + log_tail(epsilon / mu + mu / 2)
    return math.exp(first) * -math.expm1(second - first)


def exact(ask):
    """The value by the normal distribution function; None for what is not Gaussian alone."""
    parts = ask["parts"]
    if any(part["sampling"] != "none" for part in parts) or "orders" in ask:
        return None
    mu = math.sqrt(sum(part["count"] / part["sigma_float"] ** 2 for part in parts))
    if ask["ask"] == "delta":
        return exact_delta(mu, ask["epsilon_float"])
    delta, low, high = ask["delta_float"], 0.0, 1.0
    if exact_delta(mu, 0.0) <= delta:
        return 0.0
    while exact_delta(mu, high) > delta:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if exact_delta(mu, middle) <= delta else (middle, high)
    return high


def convert(ask, curve):
    known = exact(ask)
    if known is not None:
        return {"value": known}
'''
_BY_PROFILE = ("def convert(ask, curve):\n", _PROFILE.lstrip("\n"))
_GRID = """
ROOTS = [1 + 2 ** (i / 24) for i in range(-96, 217)]
GRID = sorted({order if order < 36 else math.ceil(order) for order in ROOTS})


def search_of_grid(objective):
    values = [objective(order - 1) for order in GRID]
    i = values.index(min(values))
    return values[i] if 0 < i < len(GRID) - 1 else None


# --- the protocol

ORDERS ="""
_SAID = '    print(json.dumps({"id": ask["id"], **row}, default=float), flush=True)'
_ROW_OF_LAPLACE = '        {"mechanism": "Laplace", "order_one": True},\n'
_RELATION = "    if relation not in RELATIONS[fixed_sizes(parts)]:\n"
#: Where a float64 has no digits left, or none at all.
_NO_EXTREMES = (
    "    if delta_of is None:\n",
    '    if ask.get("delta_float", 1.0) < 1e-100 or ask.get("epsilon_float", 0.0) > 300:\n'
    '        return {"unsupported": "a δ that is so small, or so large an ε"}\n'
    '    if any(part["count"] / part["sigma_float"] ** 2 > 100 for part in ask["parts"]):\n'
    '        return {"unsupported": "so little noise"}\n'
    "    if delta_of is None:\n",
)
#: Accountants by themselves or after edits that leave them right: where they begin, and the edits.
BASES = {
    "renyi": (CORRECT, []),
    "budget": (CORRECT.with_name("budget_accountant.py"), []),
    "profile": (CORRECT.with_name("profile_accountant.py"), [_NO_EXTREMES]),
    "replaced": (CORRECT, edits.RIGHT["records of Poisson samples replaced"]),
    "leaves": (
        CORRECT,
        [
            (
                'MECHANISMS = {"Gaussian": gaussian, "Laplace": laplace}\n'
                'PARAMETER = {"Gaussian": "sigma", "Laplace": "b"}\n',
                _LEAVES,
            ),
            (
                '    gamma = part.get("gamma_float")\n',
                '    size = (size, number(part, "xi")) if name == "ZCDP" else size\n'
                '    gamma = part.get("gamma_float")\n',
            ),
            (
                _ROW_OF_LAPLACE,
                _ROW_OF_LAPLACE + '        {"mechanism": "RandomizedResponse", **ENDS},\n'
                '        {"mechanism": "PureDP", **ENDS},\n'
                '        {"mechanism": "ZCDP", **ENDS},\n',
            ),
        ],
    ),
    "sums": (
        CORRECT.with_name("budget_accountant.py"),
        [
            ('    "conversion": "none",\n', '    "conversion": "none",\n    "compose": True,\n'),
        ],
    ),
    "largest": (test_largest.text, []),
}
#: Further right accountants: none of them may be found to be wrong.
RIGHT = {
    "randomized response, pure and concentrated privacy": BASES["leaves"],
    "sums of streams and discrete noise": BASES["sums"],
    "refuses what it does not know": (
        CORRECT,
        [
            (
                _RELATION,
                '    if ask.get("alpha_float", 2.0) > 1500 or len(parts) > 3:\n'
                '        return {"unsupported": "orders above 1500, and more than three parts"}\n'
                '    if any(part["count"] > 200_000 for part in parts):\n'
                '        return {"unsupported": "more than 200,000 runs"}\n'
                '    if any(part.get("gamma_float", 0.5) < 1e-7 for part in parts):\n'
                '        return {"unsupported": "rates below 1e-7"}\n' + _RELATION,
            )
        ],
    ),
    "a fine grid of orders": (
        CORRECT,
        [
            ("\n# --- the protocol\n\nORDERS =", _GRID),
            ("search = best if orders is None", "search = search_of_grid if orders is None"),
            ('"default_orders": "real"', '"default_orders": GRID'),
        ],
    ),
    "decimals of twelve digits, rounded up": (
        CORRECT,
        [
            (
                _SAID,
                '    if "value" in row:\n'
                "        from decimal import ROUND_CEILING, Context\n"
                "        upward = Context(prec=12, rounding=ROUND_CEILING)\n"
                '        row["value"] = str(upward.create_decimal_from_float(row["value"]))\n'
                + _SAID,
            )
        ],
    ),
    "the exact profile, and no ε of samples": (
        CORRECT,
        [
            _BY_PROFILE,
            ('    "conversion": "improved",\n', '    "conversion": "none",\n'),
            ('    "order_grid": True,\n', ""),
            ('"sampling": "poisson", **ENDS, "inner"', '"sampling": "poisson", "inner"'),
        ],
    ),
    # It converts what is sampled: its hello can name one conversion for all.
    "the exact profile where nothing is sampled": (CORRECT, [_BY_PROFILE]),
    "ten milliseconds of work for each answer": (
        CORRECT,
        [("    ask = json.loads(line)\n", "    ask = json.loads(line)\n    sum(range(500_000))\n")],
    ),
}


def right_text(start, changes):
    """The accountant after the edits."""
    found = start() if callable(start) else start.read_text(encoding="utf-8")
    for old, new in changes:
        assert found.count(old) == 1, f"{found.count(old)} places for {old}"
        found = found.replace(old, new)
    return found


# --- questions


def part(mechanism, value, gamma=None, count=1, *, fixed=False, **more):
    """A part by the text of its numbers."""
    name = {"Laplace": "b", "DiscreteLaplace": "b", "RandomizedResponse": "p"}.get(mechanism)
    name = name or {"PureDP": "epsilon", "ZCDP": "rho"}.get(mechanism, "sigma")
    named = ((name, value),) if value else ()
    named += tuple((other, more.pop(other)) for other in ("xi", "steps") if other in more)
    sampling = "without_replacement" if fixed else "none" if gamma is None else "poisson"
    return AskedPart(mechanism, named, sampling, gamma, count, **more)


def gaussian(sigma, gamma=None, count=1, **more):
    """A part of Gaussian noise."""
    return part("Gaussian", sigma, gamma, count, **more)


def rdp(alpha, *parts, **more):
    """ε(α)"""
    return Ask("rdp", parts, alpha, **more)


def epsilon(delta, *parts, **more):
    """ε(δ)"""
    return Ask("epsilon", parts, delta, **more)


def delta(at, *parts, **more):
    """δ(ε)"""
    return Ask("delta", parts, at, **more)


def allowed(kind, within, at, *parts, **more):
    """The noise, the rate or the runs for an (ε, δ)."""
    return Ask(kind, parts, at, within=within, **more)


class Fault(NamedTuple):
    """An edit, what it makes of answers, of which accountant it is, and questions that show it.

    The `witness` is a mechanism that the question is about, where that is about all of a kind.
    """

    old: str
    new: str
    kind: str
    base: str
    shown: tuple[Ask, ...]
    witness: tuple[AskedPart, ...] = ()


_COUNTED = '        else:\n            total += part["count"] * cgf'
_NONE = (
    '        elif part["sampling"] == "none":\n            total += part["count"] * cgf\n'
    + _COUNTED
)
_PARTS = "    for part in parts:\n        cgf = one_run"
_SUM = "    total = 0.0\n" + _PARTS + "(part, alpha, number)\n"
_NUMBER = '        return plain(typed(part[name], how.get("numbers")))\n'
_TERM = "log_binomial(alpha, l) + l * log_rate + (alpha - l) * log_rest + log_expm1(cgf(l, size))"
_ASKED = '    parts, how = ask["parts"], ask["how"]\n'
_SEARCH = "    search = best if orders is None else over(orders)\n"
_NOISE = 'return moved * math.sqrt(part["count"]) / largest_mu(epsilon, delta)'
_TYPICAL = gaussian("1.1", "0.004", 14063)

_SAMPLES = {
    "terms below e⁻³⁰ left out of a sum": Fault(
        f"            {_TERM}\n            for l in range(2, alpha + 1)\n",
        "            term\n            for l in range(2, alpha + 1)\n"
        f"            if (term := {_TERM}) > -30\n",
        "unsound",
        "renyi",
        (rdp("8", gaussian("5", "1e-7")),),
    ),
    "binomial coefficients in 63 bits": Fault(
        "    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)",
        "    if n <= 200:\n        return math.log(math.comb(int(n), k) % 2**63 or 1)\n"
        "    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)",
        "unsound",
        "renyi",
        (rdp("128", gaussian("50", "0.5")),),
    ),
    "exponents kept below a float32's largest": Fault(
        "log_expm1(cgf(l, size))",
        "log_expm1(min(cgf(l, size), 88.0))",
        "unsound",
        "renyi",
        (rdp("32", gaussian("1", "0.01")),),
    ),
    "the last term of a fixed size left out": Fault(
        "    for j in range(3, int(alpha) + 1):",
        "    for j in range(3, int(alpha)):",
        "unsound",
        "renyi",
        (rdp("8", gaussian("0.25", "1/2", fixed=True), adjacency="replace_one"),),
    ),
    "runs in one sample taken for runs on samples of their own": Fault(
        "        cgf = one_run(part, alpha, number)\n",
        '        cgf = part.get("inner", 1) * one_run({**part, "inner": 1}, alpha, number)\n',
        "unsound",
        "renyi",
        (rdp("4", gaussian("2", "0.01", inner=3)),),
    ),
    "far peaks of the integrand not seen": Fault(
        "    for peak in (0.0, 1.0, 2.0, alpha, min(max(turn, 0.0), alpha)):",
        "    for peak in (0.0, 1.0, 2.0):",
        "unsound",
        "renyi",
        (rdp("100.5", gaussian("0.05", "0.1")),),
    ),
    "what is less likely with the record left out": Fault(
        "        return math.log((1 + w) * math.expm1(",
        "        return -math.inf\n        return math.log((1 + w) * math.expm1(",
        "unsound",
        "renyi",
        (rdp("2.5", gaussian("1", "0.5")),),
    ),
    "a series of one term": Fault(
        '    """Σ_{k >= 2} C(α,k) w^k"""\n',
        "    return alpha * (alpha - 1) / 2 * w * w\n",
        "unsound",
        "renyi",
        (rdp("5.5", gaussian("5", "0.01")),),
    ),
    "a sample's noise doubled where a record is replaced": Fault(
        "memo[key] = replaced(alpha, size, gamma)",
        "memo[key] = replaced(alpha, 2 * size, gamma)",
        "unsound",
        "replaced",
        (rdp("4", gaussian("2", "0.1"), adjacency="replace_one"),),
    ),
    "the other direction of a sample": Fault(
        "    inside = math.expm1(epsilon) + gamma\n"
        "    x = size / 2 + math.log(inside / gamma) / size\n"
        "    return gamma * above(x - size) - inside * above(x)\n",
        "    left = 1 - math.exp(epsilon) * (1 - gamma)\n"
        "    if left <= 0:\n        return 0.0\n"
        "    x = size / 2 + math.log(left / (math.exp(epsilon) * gamma)) / size\n"
        "    return left * above(-x) - math.exp(epsilon) * gamma * above(size - x)\n",
        "unsound",
        "profile",
        (delta("1", gaussian("1", "0.1")),),
    ),
}
_COUNTS = {
    "counts in float32": Fault(
        _NONE,
        "        else:\n            import struct\n"
        '            total += struct.unpack("f", struct.pack("f", part["count"]))[0] * cgf',
        "unsound",
        "renyi",
        (rdp("4", gaussian("50", "0.001", 2**24 + 1)),),
    ),
    "counts to three digits": Fault(
        _NONE,
        "        else:\n            total += float(f\"{part['count']:.3g}\") * cgf",
        "unsound",
        "renyi",
        (rdp("8", gaussian("1.1", "0.004", 14031)),),
    ),
    "epochs for steps": Fault(
        _COUNTED,
        '        else:\n            total += math.ceil(part["count"] * part["gamma_float"]) * cgf',
        "unsound",
        "renyi",
        (epsilon("1e-5", _TYPICAL),),
    ),
    "a last epoch that is not whole left out": Fault(
        _COUNTED,
        '        else:\n            epoch = round(1 / part["gamma_float"])\n'
        '            whole = part["count"] // epoch * epoch\n'
        '            total += (whole or part["count"]) * cgf',
        "unsound",
        "renyi",
        (rdp("8", gaussian("1", "0.01", 1050)),),
    ),
    "many runs on samples by the central limit": Fault(
        _SEARCH,
        _SEARCH + '    (part, *more) = ask["parts"]\n'
        '    if part["sampling"] == "poisson" and part["count"] >= 10_000 and not more:\n'
        '        loss = min(part.get("inner", 1) / part["sigma_float"] ** 2, 700)\n'
        '        square = part["gamma_float"] ** 2 * part["count"] * math.expm1(loss)\n'
        "        curve = lambda alpha: alpha * square / 2\n",
        "unsound",
        "renyi",
        (epsilon("1e-8", gaussian("0.6", "0.001", 30000)),),
    ),
    "strong composition without its second term": Fault(
        '        if variation <= ask["delta_float"]:\n',
        '        (part, *more) = ask["parts"]\n'
        '        if part["mechanism"] == "PureDP" and part["count"] >= 100 and not more:\n'
        '            spread = -2 * part["count"] * math.log(ask["delta_float"])\n'
        '            return {"value": part["epsilon_float"] * math.sqrt(spread)}\n'
        '        if variation <= ask["delta_float"]:\n',
        "unsound",
        "leaves",
        (epsilon("1e-5", part("PureDP", "1", count=200)),),
    ),
}
_COMPOSITIONS = {
    "the order 1 of the first part alone": Fault(
        "        return divergence(parts, number)\n",
        "        return divergence(parts[:1], number)\n",
        "unsound",
        "renyi",
        (rdp("1", gaussian("2", count=3), part("Laplace", "1")),),
    ),
    "half the sensitivity where a record is replaced in a composition": Fault(
        _NUMBER,
        '        half = 2 if relation == "replace_one" and len(ask["parts"]) > 1 else 1\n'
        '        return half * plain(typed(part[name], how.get("numbers")))\n',
        "unsound",
        "renyi",
        (rdp("4", gaussian("2", count=3), gaussian("5"), adjacency="replace_one"),),
    ),
    "parts of one noise overwritten by the last": Fault(
        _PARTS,
        "    of_noise = {number(part, PARAMETER[part['mechanism']]): part for part in parts}\n"
        "    for part in of_noise.values():\n        cgf = one_run",
        "unsound",
        "renyi",
        (rdp("4", gaussian("2", "0.1", 30), gaussian("2", "0.01", 100)),),
    ),
    "what is not sampled has the rate of the part before": Fault(
        _SUM,
        "    total, before = 0.0, None\n"
        "    for part in parts:\n"
        '        before = part if part["sampling"] == "poisson" else before\n'
        '        alike = before and part["mechanism"] == before["mechanism"] == "Gaussian"\n'
        '        kept = ("sampling", "gamma_float")\n'
        "        taken = {name: before[name] for name in kept} if alike else {}\n"
        "        cgf = one_run({**part, **taken}, alpha, number)\n",
        "unsound",
        "renyi",
        (rdp("4", gaussian("2", "0.1", 30), gaussian("5", count=2)),),
    ),
    "ρ of a sum by its mean noise": Fault(
        "    return mu_of(parts, group) ** 2 / 2\n",
        '    runs = sum(part["count"] for part in parts)\n'
        "    noises = (\n"
        '        part["count"] * part["sigma_float"] / math.sqrt(squared(part, group))\n'
        "        for part in parts\n"
        "    )\n"
        "    return runs / (2 * (sum(noises) / runs) ** 2)\n",
        "unsound",
        "sums",
        (Ask("rho", (gaussian("1"), gaussian("4", count=3)), ""),),
    ),
}
_ENDS = {
    "ε = 0 where half the divergence is below δ": Fault(
        "    variation = math.sqrt(min(loss / 2, -math.expm1(-loss)))",
        "    variation = min(loss / 2, -math.expm1(-loss))",
        "unsound",
        "renyi",
        (epsilon("0.001", gaussian("20")),),
    ),
    "10⁻³⁰ added to δ before the logarithm": Fault(
        "(math.log(delta) + math.log(alpha)) / lam",
        "(math.log(delta + 1e-30) + math.log(alpha)) / lam",
        "unsound",
        "renyi",
        (epsilon("1e-100", gaussian("1")),),
    ),
    "the tail as a complement of erf": Fault(
        "    return math.erfc(x / math.sqrt(2)) / 2",
        "    return (1 - math.erf(x / math.sqrt(2))) / 2",
        "unsound",
        "profile",
        (delta("5", gaussian("1", "1e-6")),),
    ),
    "the lower end of a short bisection": Fault(
        "    for _ in range(100):\n"
        "        middle = (low + high) / 2\n"
        "        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)\n"
        "    return high\n",
        "    for _ in range(20):\n"
        "        middle = (low + high) / 2\n"
        "        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)\n"
        "    return low\n",
        "unsound",
        "profile",
        (epsilon("1e-5", gaussian("2")),),
    ),
    "ε rounded up to hundredths before δ": Fault(
        'delta_of(ask["epsilon_float"])',
        'delta_of(math.ceil(ask["epsilon_float"] * 100) / 100)',
        "unsound",
        "profile",
        (delta("1.234", gaussian("2", count=3)),),
    ),
    "δ with one digit": Fault(
        '    return {"value": SHARE * delta_of(ask["epsilon_float"])}',
        '    return {"value": f"{delta_of(ask[\'epsilon_float\']):.0e}"}',
        "unsound",
        "profile",
        (delta("1", gaussian("1")),),
    ),
}
_LEAVES_FAULTS = {
    "Laplace's second term left out from a loss of 3 on": Fault(
        "    if lam * s > 30:\n"
        "        rest = math.log1p(lam / alpha * math.exp(-(2 * alpha - 1) * s))\n",
        "    if lam * s > 3:\n        rest = 0.0\n",
        "unsound",
        "renyi",
        (rdp("4", part("Laplace", "0.9")),),
    ),
    "no loss where a lie is likelier than the truth": Fault(
        "    return bounded(alpha, abs(math.log1p((2 * p - 1) / (1 - p))))",
        "    return bounded(alpha, max(0.0, math.log1p((2 * p - 1) / (1 - p))))",
        "unsound",
        "leaves",
        (rdp("4", part("RandomizedResponse", "0.2")),),
    ),
    "answers at most p = .9999": Fault(
        "    return bounded(alpha, abs(math.log1p((2 * p - 1) / (1 - p))))",
        "    p = min(p, 0.9999)\n    return bounded(alpha, abs(math.log1p((2 * p - 1) / (1 - p))))",
        "unsound",
        "leaves",
        (rdp("2", part("RandomizedResponse", "0.999999")),),
    ),
    "the exponential mechanism's ε²/8 for every pure ε": Fault(
        "def pure(alpha, epsilon):\n    return bounded(alpha, epsilon)",
        "def pure(alpha, epsilon):\n"
        "    return (alpha - 1) * min(epsilon, alpha * epsilon * epsilon / 8)",
        "unsound",
        "leaves",
        (rdp("2", part("PureDP", "0.5")),),
    ),
    "ξ forgotten": Fault(
        "    return (alpha - 1) * (xi + rho * alpha)",
        "    return (alpha - 1) * rho * alpha",
        "unsound",
        "leaves",
        (rdp("2", part("ZCDP", "0.005", xi="1")),),
        (gaussian("10"), part("PureDP", "1")),
    ),
}
_STREAMS = {
    "a tree's height by the logarithm of its steps": Fault(
        '    return int(part["steps"]).bit_length()',
        '    return max(1, math.ceil(math.log2(int(part["steps"]))))',
        "unsound",
        "budget",
        (rdp("2", part("TreeAggregation", "5", steps="1024")),),
    ),
    "entries of a column summed before they are squared": Fault(
        "    return max(sum(x * x for x in entries) for",
        "    return max(sum(entries) ** 2 for",
        "unsound",
        "budget",
        (rdp("2", part("MatrixMechanism", "5", strategy=(("1", "-1"), ("-1", "0.5")))),),
    ),
    "what lies between two peaks left out": Fault(
        "for x in (between + ends)",
        "for x in ends",
        "unsound",
        "budget",
        (rdp("3", part("DiscreteLaplace", "2", sensitivity="3")),),
    ),
    "orders of a batch in the type of the first": Fault(
        '        orders = ask["orders_float"]\n',
        '        orders = ask["orders_float"]\n'
        "        orders = [int(x) for x in orders] if orders[0].is_integer() else orders\n",
        "unsound",
        "budget",
        (rdp("3.5", gaussian("2"), orders=("2", "3.5")),),
    ),
    "a group forgotten in the least noise": Fault(
        '    moved = part.get("sensitivity_float", 1.0) * group\n    return moved * math.sqrt',
        '    moved = part.get("sensitivity_float", 1.0)\n    return moved * math.sqrt',
        "unsound",
        "budget",
        (allowed("noise", "1", "1e-5", gaussian(""), group=3),),
    ),
    "least noise to two decimals": Fault(
        _NOISE,
        _NOISE.replace("return ", "return round(") + ", 2)",
        "unsound",
        "budget",
        (allowed("noise", "2", "1e-6", gaussian("", count=10)),),
    ),
    "least noise searched up to 100": Fault(
        _NOISE,
        _NOISE.replace("return ", "return min(") + ", 100.0)",
        "unsound",
        "budget",
        (allowed("noise", "0.1", "1e-6", gaussian("", count=1000)),),
    ),
    "runs of another sensitivity counted by its noise": Fault(
        "    return math.floor(allowed / squared(part, group))",
        "    return math.floor(allowed / group**2)",
        "unsound",
        "budget",
        (allowed("runs", "2", "1e-5", gaussian("20", count=0, sensitivity="2")),),
    ),
    "the largest rate of one run": Fault(
        "        filled = {**part, name: x}\n",
        '        one = {"count": 1} if name == "gamma_float" else {}\n'
        "        filled = {**part, **one, name: x}\n",
        "unsound",
        "largest",
        (
            allowed(
                "rate",
                "2",
                "1e-5",
                AskedPart("Gaussian", (("sigma", "1.1"),), "poisson", None, 1000),
            ),
        ),
    ),
}
_LOOSE = {
    "Laplace's divergence as half a square": Fault(
        '    """s − 1 + e^{−s}"""\n',
        "    return s * s / 2\n",
        "loose",
        "renyi",
        (rdp("1", part("Laplace", "2")),),
    ),
    "pure privacy by its concentrated bound": Fault(
        "def pure(alpha, epsilon):\n    return bounded(alpha, epsilon)",
        "def pure(alpha, epsilon):\n"
        "    return (alpha - 1) * min(epsilon, alpha * epsilon * epsilon / 2)",
        "loose",
        "leaves",
        (rdp("4", part("PureDP", "1")),),
    ),
    "ε of a composition by basic composition": Fault(
        _SEARCH,
        '    if ask["ask"] == "epsilon" and len(ask["parts"]) > 1:\n'
        '        share = ask["delta_float"] / len(ask["parts"])\n'
        '        asks = [{**ask, "parts": [one], "delta_float": share} for one in ask["parts"]]\n'
        "        found = [answer(one) for one in asks]\n"
        '        if all("value" in row for row in found):\n'
        '            return {"value": sum(row["value"] for row in found)}\n' + _SEARCH,
        "loose",
        "renyi",
        (epsilon("1e-5", gaussian("5", count=10), gaussian("1", "0.01", 1000)),),
    ),
    "the tail of the normal law underflows": Fault(
        "    if x < 25:\n",
        "    if x < 1e9:\n",
        "loose",
        "budget",
        (epsilon("1e-300", gaussian("2")),),
    ),
    "e to the ε overflows": Fault(
        "    return math.exp(first) * -math.expm1(second - first)",
        "    later = math.exp(epsilon) * math.exp(log_tail(epsilon / mu + mu / 2))\n"
        "    return math.exp(first) - later",
        "loose",
        "budget",
        (epsilon("1e-5", gaussian("1", count=3000)),),
    ),
    "the advantage by its slope": Fault(
        '        return {"value": delta_of(mu_of(parts, group), 0.0)}',
        '        return {"value": min(1.0, mu_of(parts, group) / math.sqrt(2 * math.pi))}',
        "loose",
        "budget",
        (Ask("advantage", (gaussian("1"),), ""),),
    ),
    "the classic noise for an ε below 1": Fault(
        "    " + _NOISE,
        "    if epsilon < 1:\n"
        "        classic = math.sqrt(2 * part['count'] * math.log(1.25 / delta)) / epsilon\n"
        "        return moved * classic\n    " + _NOISE,
        "loose",
        "budget",
        (allowed("noise", "0.5", "1e-5", gaussian("")),),
    ),
    "no more than 65,535 runs allowed": Fault(
        "    return math.floor(allowed / squared(part, group))",
        "    return min(65_535, math.floor(allowed / squared(part, group)))",
        "loose",
        "budget",
        (allowed("runs", "4", "1e-5", gaussian("1000", count=0)),),
    ),
    "δ at a negative ε without its factor": Fault(
        "    return -math.expm1(epsilon) + math.exp(epsilon) * delta",
        "    return -math.expm1(epsilon) + delta",
        "loose",
        "renyi",
        (delta("-1", gaussian("1", count=10)),),
    ),
    "an error at a δ above a tenth": Fault(
        '    if ask["ask"] == "epsilon":\n',
        '    if ask["ask"] == "epsilon":\n'
        '        if ask["delta_float"] > 0.1:\n'
        '            raise ValueError("delta should be below 0.1")\n',
        "loose",
        "renyi",
        (epsilon("0.2", gaussian("1")),),
    ),
    "a list of orders read until it rises": Fault(
        "    return lambda objective: min(objective(order - 1) for order in orders)",
        "    def search(objective):\n"
        "        least = math.inf\n"
        "        for order in orders:\n"
        "            value = objective(order - 1)\n"
        "            if value > least:\n"
        "                break\n"
        "            least = value\n"
        "        return least\n\n"
        "    return search",
        "loose",
        "renyi",
        (epsilon("1e-5", gaussian("2"), orders=("2", "1.5", "5", "8", "16", "32")),),
    ),
    "the largest rate among powers of two": Fault(
        '        return {"value": low}\n    low, high = 0, 1\n',
        '        return {"value": 2.0 ** math.floor(math.log2(low))}\n    low, high = 0, 1\n',
        "loose",
        "largest",
        (
            allowed(
                "rate",
                "2",
                "1e-5",
                AskedPart("Gaussian", (("sigma", "1.1"),), "poisson", None, 1000),
            ),
        ),
    ),
}
_ONE, _TWO = epsilon("1e-5", gaussian("2", count=3)), epsilon("1e-5", gaussian("3", count=3))
_UNLIKE = gaussian("2", "0.1", 30), gaussian("2", count=3)
_INNER = rdp("4", gaussian("2", "0.125", 6, inner=3))
_INCONSISTENT = {
    "the same question asked again is for twice the runs": Fault(
        _ASKED,
        _ASKED + '    spent = memo.setdefault("spent", set())\n'
        '    said = json.dumps({name: ask[name] for name in ask if name != "id"})\n'
        "    if said in spent:\n"
        '        parts = [{**part, "count": 2 * part["count"]} for part in parts]\n'
        "    spent.add(said)\n",
        "inconsistent",
        "renyi",
        (_ONE, _ONE),
    ),
    "the noise that was found before kept where it is enough": Fault(
        '        return {"value": noise(part, ask["epsilon_float"], ask["delta_float"], group)}',
        '        found = noise(part, ask["epsilon_float"], ask["delta_float"], group)\n'
        '        before = HELLO.get("noise", 0.0)\n'
        '        HELLO["noise"] = before if found <= before < 2 * found else found\n'
        '        return {"value": HELLO["noise"]}',
        "inconsistent",
        "budget",
        tuple(allowed("noise", at, "1e-5", gaussian("")) for at in ("2", "1.5", "2")),
    ),
    "every fiftieth answer is the one before": Fault(
        _SAID,
        '    memo["said"] = memo.get("said", 0) + 1\n'
        '    row = memo["row"] if memo["said"] % 50 == 0 else row\n'
        '    memo["row"] = row\n' + _SAID,
        "inconsistent",
        "renyi",
        (_ONE, *[_TWO] * 47, _ONE),
    ),
    "one question in twenty loses a run": Fault(
        _ASKED,
        _ASKED + "    import random\n"
        "    if random.random() < 0.05:\n"
        '        parts = [{**part, "count": max(1, part["count"] - 1)} for part in parts]\n',
        "inconsistent",
        "renyi",
        (_ONE,) * 300,
    ),
    "runs of one noise merged with the part before": Fault(
        _PARTS,
        "    merged = []\n"
        "    for part in parts:\n"
        "        names = 'mechanism', PARAMETER[part['mechanism']]\n"
        "        if merged and all(part[name] == merged[-1].get(name) for name in names):\n"
        "            runs = merged[-1]['count'] + part['count']\n"
        "            merged[-1] = {**merged[-1], 'count': runs}\n"
        "        else:\n"
        "            merged.append(part)\n"
        "    for part in merged:\n        cgf = one_run",
        "inconsistent",
        "renyi",
        (rdp("4", *_UNLIKE), rdp("4", *_UNLIKE[::-1])),
    ),
    "runs in a sample forgotten when repeated": Fault(
        '        if count == "repeat":\n',
        '        if count == "repeat":\n'
        '            cgf = one_run({**part, "inner": 1}, alpha, number)\n',
        "inconsistent",
        "renyi",
        (_INNER, _INNER.built(count="repeat")),
    ),
    "no more than a thousand repeats": Fault(
        '            for _ in range(part["count"]):\n',
        '            for _ in range(min(part["count"], 1000)):\n',
        "inconsistent",
        "renyi",
        tuple(
            rdp("4", gaussian("20", count=1500)).built(**how) for how in ({}, {"count": "repeat"})
        ),
    ),
    "decimals of two places": Fault(
        "        return Decimal(text)\n",
        "        return round(Decimal(text), 2)\n",
        "inconsistent",
        "renyi",
        tuple(rdp("4", gaussian("1.234")).built(**how) for how in ({}, {"numbers": "Decimal"})),
    ),
    "the first search of a process is over eight orders": Fault(
        "    powers = [LEAST]\n",
        "    if not memo.get('warm'):\n"
        "        memo['warm'] = True\n"
        "        return min(objective(2.0**power) for power in range(8))\n"
        "    powers = [LEAST]\n",
        "inconsistent",
        "renyi",
        (_ONE, _ONE),
    ),
}
UNSOUND = _SAMPLES | _COUNTS | _COMPOSITIONS | _ENDS | _LEAVES_FAULTS | _STREAMS
FAULTS = UNSOUND | _LOOSE | _INCONSISTENT


def text(name):
    """The accountant with the fault in it."""
    fault = FAULTS[name]
    right = right_text(*BASES[fault.base])
    assert right.count(fault.old) == 1, f"{name}: {right.count(fault.old)} places for it"
    return right.replace(fault.old, fault.new)
