"""The package cut off above a layer, and the files of the tests that pass there and not below.

`python -m tests.layers` finds the lowest layer of each quick file, and writes them into
`tests/layers.json`; with names of layers, it does so for those.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "symacct"
RECORD = ROOT / "tests" / "layers.json"
#: The rooms of the package, each of which imports only those before it.
LAYERS = re.findall(
    r"^\| `(\w+)/` \|", (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.MULTILINE
)
#: What `symacct/__init__.py` knows of modules by their names.
TABLES = {"_REGISTERS", "_QUESTIONS", "_MODULES", "_ROOMS", "_OPEN"}
#: A file that takes more seconds of processor time is not recorded, as one for each layer is run.
QUICK_SECONDS = 6.0

#: An editable installation would import from the whole package what is cut off from this one.
UNINSTALLED = """import sys
sys.meta_path[:] = [x for x in sys.meta_path if "__editable__" not in getattr(x, "__module__", "")]
"""
#: Without the plugin of the package, which is among what is cut off.
BY_ITSELF = ["-p", "no:cacheprovider", "-p", "no:symacct"]
#: A file that cannot be imported is no reason not to run the next one.
ALL_FILES = [*BY_ITSELF, "--tb=no", "--continue-on-collection-errors"]


def cut_off(folder, layer):
    """Lay the package without the layers above `layer`, and all tests, into an empty folder."""
    rooms = LAYERS[: LAYERS.index(layer) + 1]
    package = folder / "symacct"
    package.mkdir()
    for name in ("version.py", "py.typed"):
        shutil.copy(PACKAGE / name, package)
    for room in rooms:
        shutil.copytree(PACKAGE / room, package / room)
    (package / "__init__.py").write_text(UNINSTALLED + _front(rooms), encoding="utf-8")
    shutil.copytree(ROOT / "tests", folder / "tests")
    for name in ("setup.cfg", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "architecture.md", folder / "docs")


def _front(rooms):
    """The code of `symacct/__init__.py`, of whose tables only what is in these rooms is left."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    names = {name for room, names in names_by_room().items() if room in rooms for name in names}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                kept = [name for name in ast.literal_eval(node.value) if name in names]
                node.value = ast.parse(repr(kept)).body[0].value
            case (
                ast.Assign(targets=[ast.Name(id=table)]) | ast.AnnAssign(target=ast.Name(id=table))
            ) if table in TABLES:
                kept = _within(ast.literal_eval(node.value), rooms)
                node.value = ast.parse(repr(kept)).body[0].value
    return ast.unparse(tree)


def _within(table, rooms):
    """A table without the modules of other rooms."""

    def is_left(name):
        room = name.partition(".")[0]
        return room in rooms or room not in LAYERS

    if isinstance(table, dict):
        return {key: _within(value, rooms) for key, value in table.items() if is_left(key)}
    return tuple(name for name in table if is_left(name))


@cache
def names_by_room():
    """The names of `symacct.__all__` by the room that has them, as type checkers read them."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    names = defaultdict(set)
    for node in typed.body:
        for name in node.names:
            names[f"{node.module}.{name.name}".split(".")[1]].add(name.name)
    return dict(names)


@cache
def rooms_imported(file):
    """The rooms that a file of the tests imports, and those of the helpers that it imports."""
    by_name = {name: room for room, names in names_by_room().items() for name in names}
    rooms = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        top, _, rest = node.module.partition(".")
        if top == "symacct":
            names = [rest.partition(".")[0]] if rest else [by_name.get(x.name) for x in node.names]
            rooms.update(names)
        if top == "tests":
            places = [ROOT / f"{node.module.replace('.', '/')}.py"]
            places += [ROOT / node.module.replace(".", "/") / f"{x.name}.py" for x in node.names]
            rooms.update(*(rooms_imported(place) for place in places if place.exists()))
    return rooms & set(LAYERS)


class PassingFiles:
    """Keep which files pass, and how long each takes; a file is left at its first failure."""

    def __init__(self):
        self.seconds, self.failing = defaultdict(float), set()

    def pytest_runtest_setup(self, item):
        """Skip what is left of a file that failed, or that takes long."""
        file = item.nodeid.partition("::")[0]
        if file in self.failing or self.seconds[file] > QUICK_SECONDS:
            pytest.skip("its file does not pass here")

    def pytest_collectreport(self, report):
        """Count a file that cannot be imported as failing."""
        if report.failed:
            self.failing.add(report.nodeid.partition("::")[0])

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        """Count the processor time of each test for its file."""
        start = time.process_time()
        yield
        self.seconds[item.nodeid.partition("::")[0]] += time.process_time() - start

    def pytest_runtest_logreport(self, report):
        """Count a test that fails against its file."""
        if report.failed:
            self.failing.add(report.nodeid.partition("::")[0])

    @property
    def quick(self):
        """The files of which all tests passed in a short time."""
        return {
            file: round(seconds, 1)
            for file, seconds in self.seconds.items()
            if file not in self.failing and seconds < QUICK_SECONDS
        }


def run(folder, *arguments):
    """Run Python with these arguments in a folder that `cut_off` filled."""
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
    )


def passing(layer, files):
    """The files that pass where the package is cut off above a layer."""
    with tempfile.TemporaryDirectory() as folder:
        cut_off(Path(folder), layer)
        ended = run(folder, "-m", "tests.layers", "--here", *files)
    return json.loads(ended.stdout.splitlines()[-1])


def record(layers):
    """Find the quick files that pass at each of these layers and at none below, and write them.

    What a file imports says at once of most that they ask more. A folder with a `conftest.py` of
    its own asks for the command.
    """
    known = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    known = {layer: known.get(layer, []) for layer in LAYERS[:-1]}
    tests = ROOT / "tests"
    folders = [tests / room for room in LAYERS if not (tests / room / "conftest.py").exists()]
    files = {file for folder in folders for file in folder.rglob("test_*.py")}
    for layer in layers:
        place = LAYERS.index(layer)
        below = {ROOT / file for lower in LAYERS[:place] for file in known[lower]}
        rooms = set(LAYERS[: place + 1])
        tried = [str(x.relative_to(ROOT)) for x in files - below if rooms_imported(x) <= rooms]
        known[layer] = sorted(passing(layer, sorted(tried))) if tried else []
        print(f"{layer}: {len(known[layer])} of {len(tried)} files", flush=True)
        RECORD.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def main():
    """Record all layers or those named, or with --here run files and print those that pass."""
    if sys.argv[1:2] != ["--here"]:
        return record(sys.argv[1:] or LAYERS[:-1])
    plugin = PassingFiles()
    pytest.main([*ALL_FILES, *sys.argv[2:]], plugins=[plugin])
    print(f"\n{json.dumps(plugin.quick)}")


if __name__ == "__main__":
    main()
