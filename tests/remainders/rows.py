"""What a row of tests/test_remainders.py is, and how a module is asked with a fault in it."""

import __future__

import ast
import functools
import importlib
import itertools
import sys
from contextlib import closing
from fractions import Fraction
from importlib.util import module_from_spec
from pathlib import Path
from typing import NamedTuple

import mpmath
from flint import arb, ctx

from symacct.analysis import sampled_laplace
from tests.soak.mutants import edited, edits, faults, sections

mp = mpmath.mp.clone()
mp.dps = 20
LITTLE = mp.mpf(10) ** -15


@functools.cache
def statements(source):
    """The text of each statement at the top of a module, with what is between it and the last."""
    lines = source.splitlines(keepends=True)
    ends = [statement.end_lineno for statement in ast.parse(source).body[:-1]]
    return ["".join(lines[first:last]) for first, last in itertools.pairwise([0, *ends, None])]


def compiled(statement, path):
    """One of them, or one with a fault."""
    return compile(statement, path, "exec", __future__.annotations.compiler_flag, dont_inherit=True)


compiled_once = functools.cache(compiled)


def copied(name, text=None):
    """The module, apart from the one that others use: what steers it may be set.

    Of a text with a fault the statements before it and after it are those of the module, which
    are compiled once for all faults.
    """
    original = sys.modules[name]
    path = original.__file__
    source = Path(path).read_text()
    assert "\nfrom __future__ import annotations\n" in source, path
    parts, text = statements(source), source if text is None else text
    before = sum(map(text.startswith, itertools.accumulate(parts)))
    head = "".join(parts[:before])
    after = before
    while after < len(parts) and not text[len(head) :].endswith("".join(parts[after:])):
        after += 1
    tail = "".join(parts[after:])
    module = module_from_spec(original.__spec__)
    for code in (
        *(compiled_once(part, path) for part in parts[:before]),
        compiled(text[len(head) : len(text) - len(tail)], path),
        *(compiled_once(part, path) for part in parts[after:]),
    ):
        exec(code, vars(module))  # noqa: S102  # the text of the package
    return module


def number(x):
    """A ball's end in mpmath, to all its bits."""
    if isinstance(x, arb):
        mantissa, power = x.man_exp()
        return mp.ldexp(mp.mpf(int(mantissa)), int(power))
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mp.mpf(x)


def holds(found, truth):
    """Is the truth in a ball that says something?"""
    truth = number(truth)
    slack = LITTLE * abs(truth)
    return bool(
        found.is_finite()
        and number(found.lower()) <= truth + slack
        and number(found.upper()) >= truth - slack
    )


class Row(NamedTuple):
    """A module or a section of one, what it says with its truth, and its bounds, by name."""

    name: str
    asked: object
    functions: tuple[str, ...]

    @property
    def module(self):
        return f"symacct.{self.name.partition(':')[0]}"

    @property
    def source(self):
        return Path(sys.modules[self.module].__file__).read_text()

    @property
    def section(self):
        """Its lines; None if the row is of the whole module."""
        head = self.name.partition(":")[2]
        return sections(self.source)[head] if head else None

    def wrongs(self, text=None):
        """What the module says that is not so, one by one: (what it said, the truth)."""
        asked = 0
        with ctx.workprec(64), closing(self.asked(copied(self.module, text))) as said:
            for found, truth in said:
                asked += 1
                with ctx.workprec(64):
                    is_so = holds(found, truth)
                if not is_so:
                    yield found, truth
        assert asked

    def is_wrong(self, text):
        """Is anything that it says not so? No more is asked once something is."""
        return next(self.wrongs(text), None) is not None

    def planted(self):
        """(description, text) for every fault in the functions that are a bound."""
        section = self.section
        bodies = [
            (node.name, range(node.body[0].lineno, node.end_lineno + 1))
            for node in ast.walk(ast.parse(self.source))
            if isinstance(node, ast.FunctionDef) and node.name in self.functions
            if section is None or node.lineno in section
        ]
        assert {name for name, _ in bodies} == set(self.functions), self.name
        lines = {line for _, body in bodies for line in body}
        for line, said, edit in edits(self.source, changes):
            if line in lines:
                yield said, edited(self.source, edit)


def changes(node):
    """What changes a number: no flag, and no sign of a ball about 0."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Call(func=ast.Name(id=name))) if (
            name in ("within", "acb_within")
        ):
            yield node.left
        case _:
            yield from faults(node)


ROWS = []


def row(name, *functions):
    """Keep what asks a module; faults of all kinds are planted in these functions of it."""

    def kept(asked):
        ROWS.append(Row(name, asked, functions))
        importlib.import_module(ROWS[-1].module)
        return asked

    return kept


def few_bits(module, ask, bits):
    """What is said to so few bits: short windows, over which the integrals are sharp."""
    module.to_relative_accuracy = lambda evaluate: evaluate(bits)
    module.integrate = lambda f, points, _: sampled_laplace.integrate(f, points, -40.0)
    module._bits = module._bits_above = lambda *_: 64
    return ask(module)


FEW = (-9, -5, -2, 0)


def normal(x, mean=0, sigma=1):
    return mp.exp(-(((x - mean) / sigma) ** 2) / 2) / (sigma * mp.sqrt(2 * mp.pi))


def of_a_whole(found, known, missing):
    """What is known alone, and with all that is missing."""
    yield found, known
    yield found, known + missing


def at_least(bound, truth):
    """A bound that is not below the truth."""
    return arb(0).union(bound), truth


def refused(found):
    """Nothing is said."""
    return arb(int(found.is_finite())), 0


def sharp(found):
    """All but a little is said."""
    return arb(int(found.rad() < 1e-9)), 1


def known(truth):
    """What a function that is bounded is said to be, whatever it is asked."""
    return lambda *_, **__: truth
