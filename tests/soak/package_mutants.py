"""Small faults drawn over the package: which does no test see that runs the line?

`make mutants` draws MUTANTS of them (400) by SEED, with MODULE=analysis/densities.py all that this
module has, and with FAULTS=bounds those that turn round ends of balls and unions alone. It plants
one at a time in a copy of the tree, and runs the tests that run its line, the quickest of each
kind first: those that take EACH seconds (30) without a fault. Which tests these are, one run of
the whole suite under `coverage` has found before, and their times. Each verdict is a line of
out/mutants/SEED.jsonl (SEED and the module's name) as soon as it is known: a run that is cut goes
on from there. What ran which line is remembered in out/mutants/ with its commit: a later draw moves
the lines to where they are now, and asks no test that came since; where the tests of a line have
gone, or have another name, those of its module stand in. A survivor is then read: whether it gives
a wrong number, or steers a search, a speed, a look. docs/evidence.md has the judgement of the last
draws.
"""

import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

from tests.soak.mutants import FAULTS, OUT_OF_TIME, ROOT, copied, edited, edits, put, pytest_run

OUT = ROOT / "out/mutants"
FEW, MANY = 12, 300
#: pytest's line of a test that failed, or of a file that could not be collected.
SAW = re.compile(r"(?:FAILED|ERROR) (\S+\.py(?:::.*?)?)(?: - .*)?$")


def said_by(*command, check=True):
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, check=check, capture_output=True, text=True).stdout


def drawn(count, seed, only):
    """(module, line, description, edit) of so many faults of the package, or of one module."""
    every, faults = [], FAULTS[os.environ.get("FAULTS", "all")]
    for path in sorted((ROOT / "symacct").glob(only or "**/*.py")):
        module = str(path.relative_to(ROOT))
        every += [(module, *edit) for edit in edits(path.read_text(), faults)]
    return random.Random(seed).sample(every, min(count or len(every), len(every)))


def line_before(before, now, line):
    """Which line of an older text stood where one of the newer text does."""
    texts = before.splitlines(), now.splitlines()
    for _, first, last, start, end in SequenceMatcher(None, *texts, False).get_opcodes():
        if start < line <= end:
            return max(1, min(first + line - start, last))
    raise ValueError(f"found line {line}, needed one of {len(texts[1])}")


class Running:
    """Which tests run a line, and how long they take, by one run of the suite."""

    def __init__(self):
        self.lines, times, commit = OUT / "coverage", OUT / "times.xml", OUT / "commit"
        if not times.exists():
            OUT.mkdir(parents=True, exist_ok=True)
            commit.write_text(said_by("git", "rev-parse", "HEAD"))
            self._run(times)
        self.commit = commit.read_text().strip()
        collect = "-m", "pytest", "-q", "--collect-only", "-o", "addopts="
        self.there = set(said_by(sys.executable, *collect).splitlines())
        self._seconds = Counter()
        for case in ElementTree.parse(times).iter("testcase"):  # noqa: S314 (our own)
            name = f"{case.get('classname')}::{case.get('name')}"
            self._seconds[name] += float(case.get("time"))
            if case.find("failure") is not None or case.find("error") is not None:
                self._seconds[name] = math.inf  # fails without a fault: it sees none

    def _run(self, times):
        settings = OUT / "settings"
        settings.write_text(f"[run]\nsource = symacct\ndata_file = {self.lines}\n")
        print("running the suite once, to know which test runs which line", flush=True)
        jobs = ["-n", os.environ.get("JOBS", "2"), "--dist", "loadfile", f"--junitxml={times}"]
        covered = ["--cov=symacct", f"--cov-config={settings}", "--cov-context=test"]
        command = [sys.executable, "-m", "pytest", *jobs, *covered, "--cov-report="]
        subprocess.run(command, cwd=ROOT)

    def seconds(self, test):
        file, _, name = test.partition("::")
        *classes, name = name.split("::") if "[" not in name else self._parts(name)
        return self._seconds.get(
            ".".join([file.removesuffix(".py").replace("/", "."), *classes]) + f"::{name}", 1.0
        )

    @staticmethod
    def _parts(name):
        plain, _, case = name.partition("[")
        *classes, plain = plain.split("::")
        return [*classes, f"{plain}[{case}"]

    def _left(self, contexts):
        """The tests of coverage's contexts that there are."""
        return {name.rpartition("|")[0] for name in contexts} & self.there

    def tests(self, module, line):
        """Those that run a line, or where nothing is known of it what runs its file: one of each

        test before a second case of any, and quick ones first.
        """
        from coverage import CoverageData

        data = CoverageData(str(self.lines))
        data.read()
        before = said_by("git", "show", f"{self.commit}:{module}", check=False)
        line = line_before(before, (ROOT / module).read_text(), line) if before else 0
        contexts = {}
        for path in data.measured_files():
            if path.endswith("/" + module):
                contexts = data.contexts_by_lineno(path)
        names = self._left(contexts.get(line, ()))
        # Run as the module is imported, which is before any test, or by tests that have gone.
        names = names or self._left(set().union(*contexts.values()))
        by_time = sorted(names, key=self.seconds)
        seen, ranked = Counter(), []
        for test in by_time:
            if self.seconds(test) == math.inf:
                break
            kind = test.partition("[")[0]
            ranked.append((seen[kind], test))
            seen[kind] += 1
        return [test for _, test in sorted(ranked, key=lambda item: item[0])]


def within(tests, seconds, running):
    """As many of them, in their order, as take so long."""
    spent = 0.0
    for test in tests:
        spent += running.seconds(test)
        if spent > seconds:
            return
        yield test


def judged(copy, number, mutant, running, seconds):
    """What became of a mutant: the verdict, and which test saw it."""
    module, line, _, edit = mutant
    tests = running.tests(module, line)
    chosen = list(islice(within(tests, seconds, running), MANY)) or tests[:1]
    if not chosen:
        return {"verdict": "never run"}
    path = copy / module
    source = (ROOT / module).read_text()
    put(path, edited(source, edit), 2 * number + 1)
    try:
        for some in filter(None, (chosen[:FEW], chosen[FEW:])):
            known = sum(map(running.seconds, some))
            status, printed = pytest_run(copy, some, "-x", seconds=int(30 + 4 * known))
            if status == OUT_OF_TIME or "Killed" in printed:
                return {"verdict": "out of time", "tests": len(some)}
            if status:
                by = next(filter(None, map(SAW.match, printed.splitlines())), None)
                return {"verdict": "seen"} | ({"by": by[1]} if by else {"said": printed[-200:]})
        return {"verdict": "survived", "tests": len(chosen), "of": len(tests)}
    finally:
        put(path, source, 2 * number)


def main(only=""):
    most, seed = int(os.environ.get("MUTANTS", 0 if only else 400)), int(os.environ.get("SEED", 0))
    seconds, every = float(os.environ.get("EACH", 30)), drawn(most, seed, only)
    if not every:
        sys.exit(f"{only}: found no fault to plant")
    running, kept = Running(), OUT / f"{seed}{only.replace('/', '.').removesuffix('.py')}.jsonl"
    known = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    found = Counter(entry["verdict"] for entry in known)
    with tempfile.TemporaryDirectory() as folder, kept.open("a") as out:
        copied(folder)
        before = {(entry["module"], *entry["edit"]) for entry in known}
        for number, mutant in enumerate(every, 1):
            module, _, fault, edit = mutant
            if (module, *edit) in before:
                continue
            start = time.monotonic()
            verdict = judged(Path(folder), number, mutant, running, seconds)
            entry = {"module": module, "fault": fault, "edit": edit} | verdict
            found[verdict["verdict"]] += 1
            print(json.dumps(entry, ensure_ascii=False), file=out, flush=True)
            if verdict["verdict"] != "seen":
                print(f"{module}:{fault}: {verdict['verdict']}", flush=True)
            took = time.monotonic() - start
            shown = f"{number} of {len(every)}, {took:.0f} s: {dict(found)}"
            print(shown, end="\r", file=sys.stderr)
        print(f"{len(every)} mutants, seed {seed}: {dict(found)}")
        entries = map(json.loads, kept.read_text().splitlines())
        saw = sorted({entry["by"] for entry in entries if entry.get("by")} & running.there)
        status, printed = pytest_run(folder, saw) if saw else (0, "")
        print("without a fault, the tests that saw one", "fail:\n" + printed if status else "pass")
        return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
