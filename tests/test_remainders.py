"""Every remainder and every end of a ball counts: each is planted wrong here, and is seen.

A row (tests/remainders/) is a module with what it says where its remainders are large: at few
bits, with short windows, on long pieces. It is asked as it is, when it must hold the truth, and
once for every remainder that is forgotten and every end that is turned round in it, when it must
not. A row may name functions that are a bound: in these each sign, factor, number and comparison
is planted wrong as well.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import symacct
from symacct.kernel.errors import PrecisionError
from tests import remainders
from tests.remainders.rows import ROWS
from tests.soak.mutants import bounds, mutants, sections
from tests.thinning import some

for room in iter_modules(remainders.__path__):
    import_module(f"tests.remainders.{room.name}")
NAMED = {one.name: [row for row in ROWS if row.name == one.name] for one in ROWS}


def title(row):
    return f"{row.name}:{row.asked.__name__}"


#: What steers, costs time, or refuses: no number rests on it.
STEERING = {
    # How much more than the remainder a sum has when it ends.
    "baselines.result:sums and searches": ["in: weight, total, tiny", "total * tiny \u2192"],
    # The logarithm of a negative cosine is none either.
    "analysis.triangles:nodes of a lattice": ["turned < arb.pi() or angle < arb.pi()"],
    # Which digit is the last; how much is summed; more is said to be left out than is; what is
    # not summed at all is far below the least chance, to which it is rounded up.
    "operations.thresholded:the chance that a key of one user shows": [
        "in: end = noise.outcomes(",
        "in: if least > end",
        "in: whole = noise.left_out(",
        "in: if whole < arb(2)",
        "in: exponent = decimal_exponent(",
        "in: last = max(noise.outcomes(",
        "need *= 2",
        "in: if rest < total",
        "1 → 2, in: total = sum(",
        "last + 1 → last - 1, in: rest",
        "last + 1 → last, in: rest",
        "* 4, in: rest",
    ],
    # Nodes are symmetric; log(1 + (e^s − 1)) is s; one mass is as good as another.
    "profile.losses.laplace": ["1 + u \u2192 1 - u", "1 \u2192 2, in: if self.gamma == 1:"],
    "profile.losses.noisy_sample:noise on a sample": [
        "1 + u \u2192 1 - u",
        "-1 \u2192 1, in: mass",
    ],
    "profile.losses.fixed_size:Laplace noise": ["3 + u \u2192 3 - u"],
    # What is beyond a is farther than a; a tangent is below what is said where R is 1 or more.
    "profile.losses.sampled_gaussian:frames": [
        "self.a.max \u2192 self.a.min",
        "in: sigma = float(self.sigma.lower())",
        "most / _tail(right",
        "value - disc",  # a box about 0
    ],
    # That the rest is between 0 and 1 is seen after it; the last unit is less than what is raised.
    "analysis.ratio_sums:one sum": ["in: node = int("],
    "profile.losses.allocated_law": ["in: lost = float("],
    # A box about 0.
    "profile.sums:gathered terms": ["value - disc"],
    # Both signs are added; beyond the last level there is next to nothing, by more a bound as well.
    "profile.losses.fixed_size:equilateral triangles": [
        "- sign * z, in: logs",
        "1 \u2192 2, in: for log_x, share in zip(levels",
    ],
    # Where the cells end.
    "profile.losses.fixed_size:Gaussian noise": ["in: top = "],
    # Of which only the first order is read; how many digits are tried.
    "profile.contours:one contour": ["in: line = OrderLine(order_at(lam", "_ALIAS_NEED"],
    # Bits and widths that are tried, and loops without an end; fewer ways of proof.
    "analysis.worst_triangle": [
        "in: half = bits // 2",
        "width /= 4",
        "width = min(self.width, high - low)",
        "_SEARCH.shortest",
        "if right == low and measured != low:",
        "right > low \u2192 right <= low",
        "any \u2192 all",
        "in: if not (last > first or first > last)",
    ],
    # Times a height of 0 on a line; the last row is there.
    "analysis.triangles:nodes of a line or a plane": [
        "0 \u2192 1, in: places = ball(triple.a)",
        "last + 1 \u2192",
    ],
    # The least place on which nodes are chosen; the last unit of 128 bits, and of 96.
    "analysis.lognormal:the Laplace transform": [
        "(u * turn).real.lower()",
        "value.real.upper().log().upper()",
    ],
    "analysis.lognormal:the shortfall": ["most.upper()"],
    # What is beyond the last place is far below the error wherever its bound is finite.
    "analysis.lognormal:moments": ["up_to(right)", "geometric_tail((theta * h * end)"],
    "profile.selected:bounds of the best run": ["rate.lower()", "falls(runs).lower()"],
    "kernel.sums.differences": ["0 < abs(log_moment).upper()"],
    # D falls: of a ball of y what it is at the lower end, 1 − a, is more than at any other.
    "operations.recipes:truncated Poisson batches": ["cut.min(kept).lower()"],
    # What a line is high, of 64 bits, of which nodes are chosen so that it is far below the error.
    "profile.losses.normal_mixtures": ["(total * shrunk * (height ** 2 / 2).exp()).upper()"],
    "profile.losses.noisy_sample:one sample": ["up_to(rate * b.max(arb(0)))"],
}
#: What the tests of whole profiles and tests/profile/test_bounds_of_balls.py see.
ELSEWHERE = {
    "analysis.lognormal:the shortfall": [
        "within(off)",
        "rho.lower() \u2192",
        "(u * acb(0, -s * y).exp()).real.lower()",
    ],
    "profile.few_laplace:the sum": [
        "within(split.moved)",
        "within(sample.error)",
        "inside.lower()",
        "inside.upper()",
        "left + self._off_ray",
    ],
    "profile.losses.density:crossings": ["low.union(high)"],
    "profile.losses.density:the loss": ["arb(arc).union(arb(arc + 1))"],
    "profile.losses.density:monotone mixtures": ["left.union(right)"],
    "profile.tradeoff:trade-offs": ["top.union("],
    "analysis.worst_triangle": [
        "rise.lower() \u2192",
        "self.value(square).lower()",
        "piece.bend.upper()",
    ],
    "profile.losses.many_gaussians": [
        "acb_within(self._error",
        "u.upper()",
        "theta.upper()",
    ],
}


#: Modules whose remainders and ends are seen in tests/profile/test_bounds_of_balls.py and in
#: those of whole sums and profiles, as docs/evidence.md records; three of their ends only steer.
HELD = {
    "kernel.arithmetic": {
        "ball:balls", "ball:remainders and integrals",
        "within_limits:sizes",  # of numbers that a limit refuses, which bound nothing printed
    },
    "kernel.sums": {
        "binomial_sums:lines about the curve", "binomial_sums:truncated sums", "order_search",
    },
    "analysis": {
        "densities:sides of the line", "densities:whole numbers", "laplace_sums:moments",
        "series:moments of sums",
    },
    "profile": {
        "closed_form:binomial tails", "contours:guesses of roots", "contours:other contours",
        "few_laplace:ends of the loss",
        "grids:connected dots", "grids:many different parts", "grids:one grid",
        "losses.allocated:Gaussian noise", "losses.allocated:Laplace noise",
        "losses.density:bounds by parts",
        "losses.finite",  # the profile of two losses: tests/profile/test_values.py
        "curve_pair",  # 97 points of a bound, each rounded upwards
        "roots:roots", "selected:selections",
        "selected:the profile of the best",  # its ends are last units of balls, rounded up
        "sums:power sums", "tradeoff:Gaussian trade-offs",
    },
}  # fmt: skip


def bounding(room):
    """The modules that bound something, each section by itself."""
    top = Path(symacct.__file__).parent
    for path in Path(top, *room.split(".")).rglob("*.py"):
        source = path.read_text()
        name = ".".join(path.relative_to(top).with_suffix("").parts)
        parts = {f"{name}:{head}": lines for head, lines in sections(source).items()}
        if name in NAMED:
            parts = {}
        for part, lines in (parts or {name: None}).items():
            if any(mutants(source, bounds, lines)):
                yield part


@pytest.mark.parametrize("room", HELD)
def test_every_module_that_bounds_is_a_row_or_known(room):
    held = {f"{room}.{name}" for name in HELD[room]}
    assert {*bounding(room)} - {row.name for row in ROWS} == held


def is_known(name, description):
    return any(line in description for line in STEERING.get(name, []) + ELSEWHERE.get(name, []))


def planted():
    for name, rows in NAMED.items():
        for description, text in mutants(rows[0].source, bounds, rows[0].section):
            if not is_known(name, description):
                yield pytest.param(rows, text, id=f"{name}:{description}")


@pytest.mark.parametrize("row", ROWS, ids=title)
def test_what_is_said_with_large_remainders_holds_the_truth(row):
    assert not list(row.wrongs())


@pytest.mark.parametrize(("rows", "text"), list(planted()))
def test_what_is_forgotten_or_turned_round_is_seen(rows, text):
    assert any(row.is_wrong(text) for row in rows)


def fails(row, text):
    """Does it say what is not so, or nothing?"""
    try:
        return row.is_wrong(text)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        NameError,
        TypeError,
        ValueError,
        PrecisionError,
    ):
        return True


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what is planted
@pytest.mark.parametrize("row", [row for row in ROWS if row.functions], ids=title)
def test_whatever_is_changed_in_a_bound_is_seen(row):
    """Each fifth of the faults here, and all in a soak: it is the rows that are tested by them."""
    changed = [one for one in row.planted() if not is_known(row.name, one[0])]
    assert changed
    planted = changed[:: some(5, 1)]
    assert not [description for description, text in planted if not fails(row, text)]
