"""What each mechanism and operation takes: its class, where else it is named, and its tests.

python -m benchmarks.additions
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import symacct
from symacct.kernel.node import kinds

_ROOT = Path(symacct.__file__).parent
_TESTS = _ROOT.parent / "tests"


class Count(NamedTuple):
    """Of one kind of node: its file, the lines of code of its class, and those that name it."""

    name: str
    file: str
    lines: int
    named: dict[str, int]
    tests: int


def counts() -> list[Count]:
    """All that come with the package, by file."""
    names = {name: one for name, one in kinds().items() if one.__module__.startswith("symacct.")}
    own = {name: Path(inspect.getfile(one)) for name, one in names.items()}
    code = {path: _names(path) for path in _ROOT.rglob("*.py")}
    tests = [_names(path) for path in _TESTS.rglob("test_*.py")]
    every = [
        Count(
            name,
            str(own[name].relative_to(_ROOT)),
            sum(bool(line.strip()) for line in _code(inspect.getsource(one))),
            {
                str(path.relative_to(_ROOT)): found[name]
                for path, found in code.items()
                if path != own[name] and name in found
            },
            sum(name in found for found in tests),
        )
        for name, one in names.items()
    ]
    return sorted(every, key=lambda count: (count.file, count.name))


def _code(source: str) -> list[str]:
    """The lines of a source, in which docstrings and comments are blank."""
    lines = [re.sub(r"#.*", "", line) for line in source.splitlines()]
    for node in ast.walk(ast.parse(source)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text and isinstance(node.value.value, str):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return lines


def _names(path: Path) -> Counter[str]:
    """On how many lines of code each name is."""
    lines = _code(path.read_text(encoding="utf-8"))
    return Counter(name for line in lines for name in set(re.findall(r"\w+", line)))


def main() -> None:
    """Print the table."""
    table = Table("mechanism or operation", "its file", "lines of code", "named in", "test files")
    for one in counts():
        named = ", ".join(f"{path} {times}" for path, times in sorted(one.named.items()))
        table.add_row(one.name, one.file, str(one.lines), named, str(one.tests))
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
