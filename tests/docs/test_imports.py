"""Imports only go up the map in docs/architecture.md, which names all rooms; no circle."""

import ast
import graphlib
import json
import pickle
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import symacct
from symacct.kernel.node import Mechanism
from tests.layers import LAYERS

ROOT = Path(__file__).parents[2]
AT_THE_ROOT = {"__init__.py", "__main__.py", "version.py", "py.typed", "questions.pyi"}


def tree(file):
    """A module as Python reads it."""
    return ast.parse(file.read_text(encoding="utf-8"))


def modules():
    for file in sorted(ROOT.glob("symacct/**/*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


@cache
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

    return frozenset(found(tree(file)))


def room(name):
    return name.split(".")[1] if "." in name else ""


def places():
    """Each room and its place on the map."""
    return {name: place for place, name in enumerate(LAYERS)}


def test_the_map_names_every_room_and_nothing_is_loose_at_the_root():
    package = ROOT / "symacct"
    assert {path.name for path in package.iterdir() if path.is_file()} == AT_THE_ROOT
    assert {room(name) for name, file in modules() if file.parent != package} == set(places())


def test_imports_go_up_the_map():
    known = places()
    for name, file in modules():
        if room(name) in known:  # the package itself shows all of it
            for other in imported(file, inner=True):
                if room(other) in known:
                    assert known[room(other)] <= known[room(name)], f"{name} imports {other}"


def test_the_kernel_names_no_module_above_it():
    """Neither by an import nor in a text, by which one might be imported when it is needed."""
    inside = {name: file for name, file in modules() if room(name) == "kernel"}
    above = {name for name, _ in modules()} - inside.keys() - {"symacct"}
    for name, file in inside.items():
        parts = ast.walk(tree(file))
        texts = {one.value for one in parts if isinstance(one, ast.Constant)}
        assert not texts & above, name
        assert {room(one) for one in imported(file, inner=True)} <= {"kernel"}, name


def test_there_is_no_circle():
    known = dict(modules())
    graph = {
        name: {
            other if other in known else other.rpartition(".")[0]
            for other in imported(file, inner=True)
        }
        - {name}
        for name, file in known.items()
    }
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) == len(known)


def test_no_two_classes_have_one_name():
    found = Counter(
        node.name
        for name, file in modules()
        if ".adapters." not in name
        for node in ast.walk(tree(file))
        if isinstance(node, ast.ClassDef)
    )
    # A law and the noise of that law, which expressions tell apart: laws.Laplace(0, 2).
    assert [name for name, n in found.items() if n > 1] == ["Laplace"]


# --- what is not asked for is not imported

EXPR = "600000 * PoissonSubsample(Gaussian(5), 1/1000)"
PACKAGES = {"sympy", "matplotlib", "pandas", "click", "rich", "pylatexenc", "asyncio"}
ROOMS = {
    "adversary",
    "baselines",
    "cli",
    "codegen",
    "explore",
    "export",
    "interop",
    "papers",
    "testing",
    "verify",
}


def brought_in(program):
    """The packages, and the rooms of ours, that a program has imported at its end."""
    program += "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    ended = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    names = json.loads(ended.stdout.splitlines()[-1])
    ours = [name.split(".")[1] for name in names if name.startswith("symacct.")]
    return {name.split(".")[0] for name in names} & PACKAGES, set(ours) & ROOMS


def asked(*words):
    return f"from symacct.cli import main\nmain({list(words)!r}, standalone_mode=False)"


#: Each of these alone brings in nothing, as all of them together do not.
ASKED = f"""
import symacct as s
s.parse({EXPR!r}).epsilon('1e-8', 6)
s.parse({EXPR!r}).rdp('7/2')
print(repr(s.Gaussian('5/2')), s.theorems()[0].assumes)
s.SubsampleWithoutReplacement(s.ZCDP(1), '1/9').rdp(3)
"""


@pytest.mark.parametrize(
    ("program", "packages", "rooms"),
    [
        (ASKED, set(), set()),
        (asked("--help"), {"click"}, {"cli"}),
        (
            asked("epsilon", EXPR, "--delta", "1e-8"),
            {"click", "rich"},
            {"cli", "explore", "export", "papers"},
        ),
    ],
)
def test_what_is_not_asked_for_is_not_imported(program, packages, rooms):
    """SymPy's import takes longer than most answers; plots, code and verify longer than ours."""
    assert brought_in(program) == (packages, rooms)


def test_the_package_shows_every_name_whether_or_not_its_room_is_open():
    modules = {
        name: "symacct" + "." * bool(home) + home
        for home, _, name in (module.rpartition(".") for module in symacct._MODULES)
    }
    listed = {name: f"symacct.{room}" for room, names in symacct._ROOMS.items() for name in names}
    found = ast.parse(Path(symacct.__file__).read_text(encoding="utf-8"))
    (typed,) = [node for node in found.body if isinstance(node, ast.If)]
    stated = {one.name: node.module for node in typed.body for one in node.names}
    opened = {f"symacct.{room}" for room in symacct._OPEN}
    assert stated == {
        **{name: home for name, home in stated.items() if home in opened},
        **modules,
        **listed,
    }
    assert {*stated} == {*symacct.__all__}
    assert {*dir(symacct)} <= {*symacct.__all__}
    errors = {name for name in dir(symacct.errors) if not name.startswith("_")}
    left_out = {*symacct.__all__} - {*dir(symacct)} - errors
    assert left_out == symacct._ANSWERS
    assert all(getattr(symacct, name) is not None for name in symacct.__all__)
    with pytest.raises(AttributeError, match="no attribute 'gauss'"):
        _ = symacct.gauss


def test_a_value_is_told_from_sympys_before_and_after_its_import():
    program = """
import sys
from fractions import Fraction
from symacct.kernel.exact import sympy
kind, union = sympy.Expr, Fraction | sympy.Expr
assert not isinstance(1, kind) and isinstance(Fraction(1), union) and "sympy" not in sys.modules
assert not isinstance(1, sympy.Rational | sympy.Symbol) and "sympy" not in sys.modules
one = sympy.Integer(1)
import sympy as imported
assert sympy.Expr is imported.Expr and sympy.Expr is not kind
assert isinstance(one, kind) and isinstance(one, union) and not isinstance("1", kind)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_was_pickled_is_read_where_nothing_is_imported_yet():
    parts = symacct.Gaussian(5), symacct.PureDP(1)
    program = f"import pickle; print(pickle.loads({pickle.dumps(parts)!r}))"
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert ended.stdout.decode().strip() == repr(parts)


REFERENCE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def test_what_dir_lists_is_short_public_and_grouped_in_the_reference():
    listed = dir(symacct)
    assert len(listed) <= 91
    assert not [name for name in listed if name.startswith("_")]
    groups = re.split(r"\n(?=[A-Z][^\n]*\n-{3,}\n)", REFERENCE)[1:]
    assert len(groups) > 6
    named = [
        set(re.findall(r":: symacct\.(?:kernel\.)?(\w+)$", one, re.MULTILINE)) for one in groups
    ]
    for name in (*listed, *symacct._ANSWERS):
        assert sum(name in group for group in named) == 1, name


def test_the_reference_has_each_attribute_of_a_node_among_its_questions_or_what_it_says_of_itself():
    questions = re.search(r"symacct\.Node\n   :members: ((?:.+\n)(?:      .+\n)*)", REFERENCE)[1]
    statements = re.findall(r":: symacct\.Node\.(\w+)$", REFERENCE, re.MULTILINE)
    names = [*re.findall(r"\w+", questions), *statements]
    assert sorted(names) == [name for name in dir(symacct.Node) if not name.startswith("_")]


def test_the_overview_names_every_mechanism_and_every_operation():
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    overview = page.split("### Mechanisms, operations and theorems\n")[1]
    rooms = [import_module(f"symacct.{room}") for room in ("mechanisms", "operations")]
    public = {name for room in rooms for name in room.__all__} & {*symacct.__all__}
    assert len(public) > 40
    assert public - set(re.findall(r"\w+", overview)) == set()


def test_what_a_mechanism_may_state_besides_is_named_where_one_is_added():
    page = (ROOT / "docs" / "additions.md").read_text(encoding="utf-8")
    besides = {name for name in dir(Mechanism) if not name.startswith("_")} - set(dir(symacct.Node))
    assert besides >= {"curve", "at_one", "neighbours"}
    assert [name for name in sorted(besides) if not re.search(rf"\b{name}\b", page)] == []
