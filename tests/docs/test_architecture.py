"""What docs/architecture.md says: its walks are walked, and the first layers stand alone."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import symacct

PACKAGE = Path(symacct.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYERS = re.findall(r"^\| `(\w+)/` \|", PAGE, re.MULTILINE)
RUN = 'symacct.PoissonSubsample(symacct.Gaussian(5), "1/1000")'
WALKS = {
    f"{RUN.replace('symacct.', '')}.rdp(8)": f"{RUN}.rdp(8)",
    '(1000*run).epsilon("1e-5")': f'(1000 * {RUN}).epsilon("1e-5", 6); '
    f'(1000 * {RUN}).epsilon("1e-5", 6, "improved")',
}
WALKED = """
import json, sys
import symacct
files, names = set(), set()
def seen(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith({root!r}):
        files.add(code.co_filename[len({root!r}) + 1:])
        names.update((code.co_qualname, code.co_name))
sys.setprofile(seen)
{question}
sys.setprofile(None)
print(json.dumps([sorted(files), sorted(names)]))
"""


@pytest.mark.parametrize("title", WALKS)
def test_a_question_goes_through_the_files_and_functions_of_its_walk(title):
    walk = PAGE.split(f"## The life of `{title}`")[1].split("\n## ")[0]
    program = WALKED.format(root=str(PACKAGE), question=WALKS[title])
    ended = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    files, names = map(set, json.loads(ended.stdout))
    told = set(re.findall(r"`([\w/]+\.py)`", walk))
    assert len(told) > 8
    assert told - files == set()
    functions = set(re.findall(r"`((?:\w+\.)?\w+)`", walk)) - {"Enclosure", "EpsilonDelta"}
    assert len(functions) > 8
    assert functions - names - {"Evaluation"} == set()


ALONE = """
import importlib, pkgutil, sys
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


@pytest.mark.parametrize("count", [1, 4, 8, 10])
def test_the_first_layers_stand_without_the_others(count, tmp_path):
    """The package is cut off above a layer; all that is left imports, and a leaf has its curve."""
    alone = tmp_path / "symacct"
    alone.mkdir()
    (alone / "__init__.py").write_text("")
    shutil.copy(PACKAGE / "version.py", alone)
    for layer in LAYERS[:count]:
        shutil.copytree(PACKAGE / layer, alone / layer)
    ended = subprocess.run(
        [sys.executable, "-P", "-c", ALONE],
        check=False,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin"},
    )
    assert (ended.returncode, ended.stdout) == (0, "0.16\n"), ended.stderr[-2000:]
