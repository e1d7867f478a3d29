"""Code with open parameters, attacked over the whole box that its header states."""

import json
import math
import random
import re
import subprocess
import sys
from fractions import Fraction

import pytest

from symacct import Gaussian, Laplace, PoissonSubsample
from symacct.codegen.measure import between
from tests.codegen.test_code import (
    FLAGS,
    GCC,
    INFINITY,
    OPEN,
    SIGMA,
    TARGETS_HERE,
    certified,
    deviation,
    stated_error,
)
from tests.thinning import covering

ALLOWED = Fraction(1, 10**11)  # the accuracy that code is given out with


def box_of(text):
    """The ends of every argument, in the order of the arguments."""
    plain = " ".join(re.sub(r"^(#| \*) ?", "", text, flags=re.MULTILINE).split())
    found = re.search(r"box : (.*?); outside it", plain)[1]
    ends = re.findall(r"(\w+) in \[(\S+), (\S+)\]", found)
    return {name: (Fraction(low), Fraction(high)) for name, low, high in sorted(ends)}


def rows_inside(box, count, last, draw):
    """Orders with parameters anywhere in the box, its ends and corners too."""
    rows = []
    for _ in range(count):
        share = {name: draw.choice((0.0, 1.0, draw.random(), draw.random())) for name in box}
        given = [between(*ends, share[name]) for name, ends in box.items()]
        alpha = draw.choice(
            (1, INFINITY, draw.randint(2, last), draw.uniform(1, 2), draw.uniform(1, last))
        )
        rows.append([alpha, *map(float, given)])
    return rows


def rows_outside(box, last):
    """One argument just beyond an end, or the order."""
    middle = [float(between(*ends, 0.5)) for ends in box.values()]
    rows = [[alpha, *middle] for alpha in (math.nextafter(1, 0), math.nextafter(last, 1e9), 1e300)]
    for k, (low, high) in enumerate(box.values()):
        for beyond in (
            math.nextafter(float(low), -1), math.nextafter(float(high), 1e9), 1e300, math.nan
        ):  # fmt: skip
            rows.append([2.0, *middle[:k], beyond, *middle[k + 1 :]])
    return rows


def run_rows(target, text, rows, directory):
    """The values at (α, arguments) of each row, in a process of its own."""
    asked = "\n".join(" ".join(float(x).hex() for x in row) for row in rows)
    if target == "c":
        command = [compiled(text, len(rows[0]), directory)]
    else:
        file = directory / "generated.py"
        file.write_text(text + _READ_ROWS, encoding="utf-8")
        command = [sys.executable, "-I", file]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [float.fromhex(x) for x in done.stdout.split()]


_READ_ROWS = """
import sys
for line in sys.stdin:
    try:
        print(float(epsilon(*map(float.fromhex, line.split()))).hex())
    except ValueError:
        print("nan")
"""


def compiled(text, count, directory):
    reads = " && ".join(f'scanf("%la", x + {k}) == 1' for k in range(count))
    passed = ", ".join(f"x[{k}]" for k in range(count))
    main = (
        "#include <stdio.h>\n" + text + f"int main(void) {{\n    double x[{count}];\n"
        f'    while ({reads})\n        printf("%a\\n", rdp({passed}));\n    return 0;\n}}\n'
    )
    source, program = directory / "attacked.c", directory / "attacked"
    source.write_text(main, encoding="utf-8")
    flags = [flag for flag in FLAGS.split() if flag != "-Werror"]
    subprocess.run([GCC, *flags, source, "-lm", "-o", program], check=True, capture_output=True)
    return program


def assert_holds(node, target, rows, text, directory, allowed):
    """Each value is as near to the certified one as is said, or there is none for both."""
    names = list(box_of(text))
    for row, value in zip(rows, run_rows(target, text, rows, directory), strict=True):
        alpha = row[0] if row[0] == INFINITY else Fraction(row[0])
        given = {name: Fraction(x) for name, x in zip(names, row[1:], strict=True)}
        answer = certified(node.subs(given), int(alpha) if alpha == alpha // 1 else alpha, None)
        if answer is None:
            assert value != value, (row, value)
        else:
            assert deviation(value, answer) <= allowed, (row, value, answer)


WIDE = [
    *(node for node, _ in OPEN),
    Gaussian(SIGMA),
    Laplace(SIGMA),
    PoissonSubsample(Gaussian(SIGMA), "1/1000"),
]
#: Those that mpmath integrates between whole orders.
INTEGRALS = {0, 7}


def attack(node, target, count, last, seed, directory):
    text = node.code(target, max_order=last, points=20)
    draw, box = random.Random(f"{seed} {node!r} {target}"), box_of(text)
    rows = rows_inside(box, count, last, draw)
    allowed = max(ALLOWED, stated_error(text))
    assert_holds(node, target, rows, text, directory, allowed)
    outside = run_rows(target, text, rows_outside(box, last), directory)
    assert all(value != value for value in outside)


@covering()
@pytest.mark.parametrize("target", TARGETS_HERE)
@pytest.mark.parametrize("which", range(len(WIDE)))
def test_code_holds_over_its_box_and_is_silent_outside(which, target, tmp_path):
    if target == "mpmath" and which in INTEGRALS:
        pytest.skip("an integral at each of hundreds of points: tests/soak/test_code_soak.py")
    attack(WIDE[which], target, 6 if target == "mpmath" else 16, 20, "quick", tmp_path)


def test_where_code_once_was_below_the_truth_it_has_no_answer(tmp_path):
    """σ = 10⁴ and γ = .9999, beside code that was measured at σ <= 8 and γ <= 3/4."""
    text = OPEN[0][0].code("python", max_order=20, points=20)
    assert json.dumps(run_rows("python", text, [[2, 0.9999, 1e4]], tmp_path)) == "[NaN]"
    at = {"gamma": ["1/1000000", "9999/10000"], "sigma": [2, 10**4]}
    text = OPEN[0][0].code("python", max_order=20, points=20, at=at)
    rows = [[alpha, gamma, 1e4] for alpha in (2.0, 7.0, 2.5) for gamma in (0.9999, 0.5, 1e-6)]
    box = box_of(text)
    rows = [row for row in rows if box["gamma"][0] <= row[1] <= box["gamma"][1]]
    assert rows
    assert_holds(OPEN[0][0], "python", rows, text, tmp_path, ALLOWED)
