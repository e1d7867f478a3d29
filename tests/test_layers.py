"""The package cut off above a layer stands, and passes tests of its rooms without those above."""

import json

import pytest

from tests.layers import BY_ITSELF, LAYERS, PACKAGE, RECORD, ROOT, cut_off, run
from tests.thinning import covering

RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))
FILES = [(layer, file) for layer, files in RECORDED.items() for file in files]
#: Imports all modules, and asks a leaf of a user's own, which needs the kernel alone.
ALONE = """
import importlib, pkgutil
import symacct
from symacct.kernel import node
for module in pkgutil.walk_packages(symacct.__path__, "symacct."):
    if not set(module.name.split(".")) & {"adapters", "runtime", "__main__"}:
        importlib.import_module(module.name)
from symacct.kernel.claims import Kind, Source

class Line(node.Mechanism):
    kind, source, convex = Kind.UPPER, Source("mine", "here"), True
    words, finite_up_to = "a line", float("inf")
    def __new__(cls): return cls._intern()
    def curve(self, ctx): return lambda alpha: ctx.number(alpha) / 50
    def at_one(self, ctx): return ctx.number(1) / 50
    def at_infinity(self, ctx): return ctx.number(float("inf"))

print(Line().rdp(8, digits=3))
"""


@covering(lambda layer: {LAYERS.index(layer) // 4})
@pytest.mark.parametrize("layer", LAYERS[:-1])
def test_what_is_left_imports_and_a_leaf_has_its_curve(layer, tmp_path):
    cut_off(tmp_path, layer)
    ended = run(tmp_path, "-P", "-c", ALONE)
    assert (ended.returncode, ended.stdout) == (0, "0.16\n"), ended.stderr[-2000:]


def test_an_import_of_a_layer_above_is_seen(tmp_path):
    cut_off(tmp_path, "laws")
    with (tmp_path / "symacct" / "kernel" / "limits.py").open("a", encoding="utf-8") as module:
        module.write("from symacct.mechanisms import Gaussian\n")
    ended = run(tmp_path, "-P", "-c", ALONE)
    assert ended.returncode == 1
    assert "No module named 'symacct.mechanisms'" in ended.stderr


@covering(lambda layer, file: {layer})
@pytest.mark.parametrize(("layer", "file"), FILES)
def test_what_asks_nothing_above_a_layer_passes_without_it(layer, file, tmp_path):
    """In a soak each file; here one for each layer."""
    cut_off(tmp_path, layer)
    ended = run(tmp_path, "-m", "pytest", "-x", *BY_ITSELF, file)
    assert ended.returncode == 0, ended.stdout[-2000:]


def test_the_record_names_files_of_the_tests_once():
    """`python -m tests.layers` writes it; a new file is not in it before."""
    assert list(RECORDED) == LAYERS[:-1]
    assert [file for _, file in FILES if not (ROOT / file).exists()] == []
    assert len({file for _, file in FILES}) == len(FILES)


def test_what_is_cut_off_is_gone_from_the_names(tmp_path):
    cut_off(tmp_path, "mechanisms")
    program = "import symacct; print('Gaussian' in dir(symacct), 'plot' in symacct.__all__)"
    ended = run(tmp_path, "-P", "-c", program)
    assert ended.stdout == "True False\n", ended.stderr[-2000:]
    assert {path.name for path in (tmp_path / "symacct").iterdir() if path.is_dir()} < {
        path.name for path in PACKAGE.iterdir()
    }
