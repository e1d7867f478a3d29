"""What docs/architecture.md says: its walks are walked."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import symacct

PACKAGE = Path(symacct.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
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
