"""What the comment of a number says: what rests on it, a proof or only time."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import symacct

PACKAGE = Path(symacct.__file__).parent
#: The layers that compute. In the others a number says how much is shown, drawn or asked.
COMPUTING = (
    "accountant",
    "adversary",
    "analysis",
    "baselines",
    "codegen",
    "evidence",
    "interop",
    "kernel",
    "laws",
    "mechanisms",
    "operations",
    "profile",
    "testing",
    "theory",
    "verify/judging",
)
FILES = sorted(file for layer in COMPUTING for file in (PACKAGE / layer).glob("**/*.py"))
#: Who changes a number needs to know whether a proof rests on it, or only time, or what is shown.
RESTS = re.compile(
    r"\b(?:(?:un)?sound|prove[sdn]?|proofs?|bound(?:s|ed)?|enclos\w+|wider|widens?|rests?|steer\w*"
    r"|time|memory|long(?:er)?|minutes|seconds?|quick(?:er)?|costs?|saves?|sooner|refuse[sd]?"
    r"|\w*Error|messages?|printed|shows?|shown)\b"
)
#: Numbers of mathematics, which nobody changes.
CONSTANT = re.compile(r"_?(?:ZERO|ONE|HALF|LOG_?2|LOG_ROOT)")
#: A class of numbers that choose where an engine looks is named like this.
STEERING = re.compile(r"\w*(?:Steering|Tuning|Schedule|Search)")
#: What only a reader of the comment before understands.
POINTERS = re.compile(r"(?:It|They|Its|Their|Then|There|That|For that|The same|One that|Such)\b")
NUMBER = ast.Constant | ast.UnaryOp | ast.BinOp | ast.Tuple | ast.List | ast.Call | ast.Name


def is_number(value):
    """Is it a number, or some of them, written with digits: 64, 2**18, Fraction(1, 3), (1, 2)?"""
    other = ast.operator | ast.unaryop | ast.expr_context
    parts = [node for node in ast.walk(value) if not isinstance(node, other)]
    constants = [node.value for node in parts if isinstance(node, ast.Constant)]
    return (
        bool(constants)
        and all(isinstance(node, NUMBER | ast.Attribute | ast.keyword) for node in parts)
        and all(isinstance(number, int | float) for number in constants)
        and not any(isinstance(number, bool) for number in constants)
    )


@cache
def numbers_of(file):
    """Those of a module."""
    return list(numbers(file.read_text(encoding="utf-8")))


def numbers(text):
    """The line, the names and the comment of each constant of a module that is a number.

    Constants on lines next to each other share the comment above the first. The fields of a class
    of steering numbers count as constants, and its docstring speaks of all of them.
    """
    tree, lines = ast.parse(text), text.splitlines()
    yield from _numbers(lines, tree.body)
    for owner in tree.body:
        if isinstance(owner, ast.ClassDef) and STEERING.fullmatch(owner.name):
            of_all = ast.get_docstring(owner) or ""
            for line, names, comment in _numbers(lines, owner.body):
                yield line, names, f"{comment} {of_all}" if comment else ""


def _numbers(lines, body):
    """The numbers among the constants of a module or a class."""
    for node, names, comment in _constants(lines, body):
        if is_number(node.value) and not all(map(CONSTANT.fullmatch, names)):
            yield node.lineno, ", ".join(names), comment


def _constants(lines, body):
    """The statement, the names and the comment of each constant of a module or a class."""
    last, comment = 0, ""
    for node in body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        first = node.lineno
        while lines[first - 2].lstrip().startswith("#:"):
            first -= 1
        above = [line.strip(" #:") for line in lines[first - 1 : node.lineno - 1]]
        comment = " ".join(above) or (comment if last == node.lineno - 1 else "")
        last = node.end_lineno
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [
            name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
        ]
        if body[0].col_offset or all(name.isupper() for name in names):
            yield node, names, comment


def test_a_number_says_what_rests_on_it():
    silent = [
        f"{file}:{line}: {names}"
        for file in FILES
        for line, names, comment in numbers_of(file)
        if not RESTS.search(comment)
    ]
    assert silent == []


#: Each adapter is a script in its peer's own names, and is read from end to end.
ADAPTERS = PACKAGE / "verify" / "adapters"
EVERY = [file for file in sorted(PACKAGE.glob("**/*.py")) if ADAPTERS not in file.parents]


def test_a_constant_has_a_comment():
    """Above it, above the ones before it without a line between, or behind it."""
    bare = []
    for file in EVERY:
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        bare += [
            f"{file}:{node.lineno}: {', '.join(names)}"
            for node, names, comment in _constants(lines, ast.parse(text).body)
            if not (comment or "  # " in lines[node.lineno - 1] or is_plain(names, node.value))
        ]
    assert bare == []


def is_plain(names, value):
    """Is it a type's letter, or a number of mathematics?"""
    of_type = isinstance(value, ast.Call) and ast.unparse(value.func) in ("TypeVar", "ParamSpec")
    return of_type or all(map(CONSTANT.fullmatch, names))


def test_the_comment_of_a_number_stands_alone():
    pointing = [
        f"{file}:{line}: {names}: {comment}"
        for file in EVERY
        for line, names, comment in numbers_of(file)
        if POINTERS.match(comment)
    ]
    assert pointing == []


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ("#: Bits of the balls; of fewer bounds are wider.\n_BITS = 64\n", []),
        ("#: Bits of the balls.\n_BITS = 64\n", ["_BITS"]),
        ("_BITS = 64\n", ["_BITS"]),
        ("_HALF = Fraction(1, 2)\nNAME = 'x'\n_WORDS = ('x', 'y')\n", []),
        ("#: They steer.\n_A = 1.0\n_B = 2**-3\n\n_C = Fraction(1, 3)\n", ["_C"]),
        ("#: Places of a panel.\n_A, _B = 8, np.linspace(0, 1, 9)\n", ["_A, _B"]),
        ("class _Tuning:\n    #: A share.\n    share: float = 0.5\n", ["share"]),
        ("class _Tuning:\n    share: float = 0.5  # it steers\n", ["share"]),
        ('class _Tuning:\n    """They steer."""\n\n    #: A share.\n    share: float = 0.5\n', []),
        ("class Record:\n    #: A share.\n    share: float = 0.5\n", []),
    ],
)
def test_the_rule_tells_good_from_bad(text, silent):
    assert [names for _, names, said in numbers(text) if not RESTS.search(said)] == silent
