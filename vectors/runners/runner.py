"""python3 runner.py FILE [TOLERANCE]: what is answered outside of a vectors file's ends.

The accountant is `rdp` below, float64: put yours in its place. None says that it does not answer.
"""

import json
import sys
from math import exp, expm1, inf, log, log1p
from pathlib import Path


def rdp(sigma, sensitivity, rate, order, count):
    """Gaussian noise, on a Poisson sample where the rate is below 1: whole orders from 2 on."""
    s, binomial, logs = sensitivity / sigma, 0.0, []
    if rate == 1:
        return count * order * s * s / 2
    if order < 2 or order != int(order):
        return None
    for k in range(1, int(order) + 1):  # log of C(α,k) (1−q)^(α−k) q^k (e^((k²−k)s²/2) − 1)
        binomial += log((order - k + 1) / k)
        x = (k * k - k) * s * s / 2
        if k > 1 and x > 0:
            weight = binomial + k * log(rate) + (order - k) * log1p(-rate)
            logs.append(weight + (log(expm1(x)) if x < 1 else x + log1p(-exp(-x))))
    top = max(logs, default=-inf)
    excess = top + log(sum(exp(x - top) for x in logs)) if logs else -inf  # log(A − 1)
    moment = log1p(exp(excess)) if excess < 0 else excess + log1p(exp(-excess))
    return count * moment / (order - 1)


def main(file, tolerance="1e-9"):
    """Ask every question; the exit status: 1 if an answer is outside, 2 if there is none."""
    asked = answered = outside = 0
    for question in json.loads(Path(file).read_text(encoding="utf-8"))["questions"]:
        (part, *others), asked, one = question["parts"], asked + 1, [None, "0x1p+0"]
        if others or part["mechanism"] != "gaussian" or question["relation"] == "replace_one":
            continue
        read = [float.fromhex(part.get(x, one)[1]) for x in ("sigma", "sensitivity", "rate")]
        found = rdp(*read, float.fromhex(question["order"][1]), part.get("count", 1))
        answered += found is not None
        low, slack = float(question["lower"]), float(tolerance) * float(question["upper"])
        if found is not None and not abs(found - low) <= slack + sys.float_info.min:
            outside += 1
            print(f"outside: n={question['n']} found {found!r}, needed {low!r} {question['tags']}")
    print(f"{asked} asked, {answered} answered, {outside} outside of 1 ± {tolerance}")
    return outside > 0 if answered else print("nothing was answered", file=sys.stderr) or 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
