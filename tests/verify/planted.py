"""Planted faults in a table: `python -m tests.verify.planted [--full] [NAME …]` prints it.

The kinds that were once missed, and kinds of which no run had seen one when they were written. Each
is (text, what replaces it, a word of the cause that has to be named); tests/verify/defects.py has
the others. The truths are worked out once for all of them, and each run is charged for their cost.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from symacct.core.errors import SymacctError
from symacct.verify import FULL, QUICK, verify
from symacct.verify.asking import session
from symacct.verify.judging.truth import Oracle
from tests.verify.defects import CORRECT, DEFECTS

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
_IS_WHOLE = "    if float(alpha).is_integer():\n"
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
FAULTS = {
    **MISSED,
    **NEW,
    **{name: (*pair, "") for name, pair in DEFECTS.items()},
}


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


def right(name):
    """The accountant after edits that leave it right."""
    found = CORRECT.read_text(encoding="utf-8")
    for old, new in RIGHT[name]:
        assert found.count(old) == 1, f"{name}: {found.count(old)} places for {old}"
        found = found.replace(old, new)
    return found


def text(name):
    """The accountant with the fault in it."""
    correct = CORRECT.read_text(encoding="utf-8")
    old, new, _ = FAULTS[name]
    assert correct.count(old) == 1, f"{name}: {correct.count(old)} places for it"
    return correct.replace(old, new)


class SharedOracle(Oracle):
    """Each number is worked out once; whoever asks for it again is charged what it cost."""

    numbers: ClassVar[dict] = {}

    def __init__(self, digits):
        super().__init__(digits)
        self.charged = 0.0

    def ask(self, what, *question, **how):
        key = what, *(str(word) for word in question), *sorted(how.items())
        if key in self.numbers:
            found, cost = self.numbers[key]
            self.charged += cost
            if isinstance(found, SymacctError):
                raise found
            return found
        begun = time.thread_time()
        try:
            found = super().ask(what, *question, **how)
        except SymacctError as error:
            found = error
        self.numbers[key] = found, time.thread_time() - begun
        if isinstance(found, SymacctError):
            raise found
        return found


class _ChargedSession(session.Session):
    def _working(self):
        clock = super()._working()
        return lambda: clock() + getattr(getattr(self, "oracle", None), "charged", 0.0)


@contextlib.contextmanager
def shared():
    """One oracle for every run within."""
    from symacct.verify import run

    own = session.Oracle, run.Session
    session.Oracle, run.Session = SharedOracle, _ChargedSession
    try:
        yield
    finally:
        session.Oracle, run.Session = own


@dataclass(frozen=True)
class Seen:
    """What a run says of a fault."""

    verdict: str
    cause: str
    named: bool
    minimal: bool
    others: tuple
    question: str
    note: str
    fails: bool


def seen(name, extent, folder, seed=0):
    """The first defect of a run, or None."""
    program = Path(folder) / "accountant.py"
    program.write_text(text(name), encoding="utf-8")
    report = verify([sys.executable, str(program)], extent, seed, 2.5)
    if not report.defects:
        return None, report
    wanted = FAULTS[name][2]
    named = [d for d in report.defects if wanted in d.cause]
    first = (named or report.defects)[0]
    found = first.shown
    question = f"{found.ask.kind}({found.ask.at}) of {found.ask.expression}"
    row = Seen(
        found.verdict,
        first.cause,
        bool(named) and bool(wanted or first.cause),
        minimal(found.ask),
        tuple(d.cause for d in report.defects if d is not first),
        question,
        found.note,
        report.unsound,
    )
    return row, report


def minimal(ask):
    """No more than two parts, no order too many, and numbers that a reader can type."""
    short = all(
        len(number.strip("0.").replace(".", "")) <= 6
        for number in [ask.at, *(n for part in ask.parts for n in part.numbers)]
    )
    one_order = ask.orders is None or len(ask.orders) <= 2
    return len(ask.parts) <= 2 and one_order and short


def table(names, extent, mode):
    """Rows of the table, printed as they are found."""
    print(
        f"| fault | {mode} | cause named | minimal | other defects | shown at |\n"
        + "| --- " * 6
        + "|"
    )
    found = 0
    with shared(), tempfile.TemporaryDirectory() as folder:
        for name in names:
            row, report = seen(name, extent, folder)
            if row is None:
                print(f"| {name} | – ({report.asked:,} asked) | | | | |", flush=True)
                continue
            found += 1
            said = f"{row.question} {row.note}".replace("|", "/")[:150]
            cause = row.cause if row.named else f"no: {row.cause}"
            fails = "" if row.fails else " (sound)"
            print(
                f"| {name} | {row.verdict}{fails} | {cause} | {'yes' if row.minimal else 'no'} "
                f"| {'; '.join(row.others)} | {said} |",
                flush=True,
            )
    print(f"\n{found} of {len(names)} found")


def right_table(names, extent, runs):
    """Ten runs of each right accountant: alarms, questions, and how much was judged."""
    print(
        "| right accountant | runs | alarms | no verdict | questions | judged |\n"
        + "| --- " * 6
        + "|"
    )
    with shared(), tempfile.TemporaryDirectory() as folder:
        for name in names:
            program = Path(folder) / "accountant.py"
            program.write_text(right(name), encoding="utf-8")
            command = [sys.executable, str(program)]
            reports = [verify(command, extent, seed, 2.5) for seed in range(runs)]
            alarms = [d.cause for report in reports for d in report.defects]
            silent = sum(not report.enough for report in reports)
            asked, judged = (
                sum(getattr(report, what) for report in reports) for what in ("asked", "judged")
            )
            said = f"{len(alarms)} {'; '.join(sorted(set(alarms)))}"
            print(f"| {name} | {runs} | {said} | {silent} | {asked:,} | {judged:,} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--right", action="store_true", help="right accountants, ten runs each")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    if given.right:
        right_table(given.names or list(RIGHT), FULL if given.full else QUICK, 10)
        sys.exit()
    table(
        given.names or list(FAULTS),
        FULL if given.full else QUICK,
        "full" if given.full else "quick",
    )
