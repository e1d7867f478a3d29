"""Imports only go up the table of CONTRIBUTING, which names every room; there is no circle."""

import ast
import graphlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Who asks the layers below when a question is asked of it.
FACADES = {"currency", "expr", "enclosure"}


def modules():
    for file in sorted(ROOT.glob("symacct/**/*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def imported(file, inner):
    """What a module imports from symacct, by full names; that for types alone left out."""

    def found(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.FunctionDef | ast.Lambda) and not inner:
                continue
            if isinstance(child, ast.ImportFrom) and str(child.module).split(".")[0] == "symacct":
                yield from (f"{child.module}.{one.name}" for one in child.names)
            if isinstance(child, ast.Import):
                yield from (one.name for one in child.names if one.name.split(".")[0] == "symacct")
            yield from found(child)

    return set(found(ast.parse(file.read_text(encoding="utf-8"))))


def room(name):
    return name.split(".")[1] if "." in name else ""


def table():
    """Each room and its row in CONTRIBUTING."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
    named = {
        name.removesuffix("/").removesuffix(".py"): place
        for place, row in enumerate(rows)
        for name in re.findall(r"`(.*?)`", row)
    }
    return {**named, "": len(rows) - 1}  # what reads the package itself is in the last row


def test_the_table_names_every_room():
    assert set(table()) == {room(name) for name, _ in modules()}


@pytest.mark.parametrize(
    ("name", "file"), list(modules()), ids=lambda x: x if "." in str(x) else None
)
def test_imports_go_up_the_table(name, file):
    places, own = table(), room(name)
    if not own:  # the package shows all of it
        return
    for other in map(room, imported(file, inner=own not in FACADES)):
        assert places[other] <= places[own], f"{name} imports {other}"


def test_no_circle_at_top_level():
    known = dict(modules())
    graph = {
        name: {
            other if other in known else other.rpartition(".")[0]
            for other in imported(file, inner=False)
        }
        - {name}
        for name, file in known.items()
    }
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) == len(known)
