"""Other accountants' own tests with ours in their place: counts, and why each other one fails.

They are installed with their packages, in an environment of their own, and none is kept here.
Status 1 where a test fails that `failing.toml` does not explain.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree  # of what pytest has just written

HERE = Path(__file__).parent
OUT = Path("out/peers-tests")


def files(package: str, names: list[str]) -> list[Path] | None:
    """Where the files of a package's tests are; None where it is not installed."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        return None
    return [Path(found.origin).parent / name for name in names]


def failures(
    suite: str, paths: list[Path], swapped: bool, options: dict[str, str]
) -> tuple[int, list[str]]:
    """(how many tests ran, the names of those that failed)"""
    report = OUT / f"{suite}.xml"
    swap = ["-p", "tests.peers.swap"] if swapped else []
    quiet = ["-q", "--tb=no", "-W", "ignore", "--import-mode=importlib", "-o", "addopts="]
    places = [f"--rootdir={paths[0].parent}", f"--junitxml={report}", *map(str, paths)]
    subprocess.run(
        [sys.executable, "-m", "pytest", *swap, *quiet, *places],
        env={**os.environ, **options},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    cases = ElementTree.parse(report).getroot().iter("testcase")  # noqa: S314  # our own file
    ran = [case for case in cases if case.find("skipped") is None]
    failed = [x for x in ran if x.find("failure") is not None or x.find("error") is not None]
    return len(ran), [str(case.get("name")) for case in failed]


def explained(names: list[str], reasons: dict[str, str]) -> int:
    """Print the failing tests by their reason; how many have none."""
    left = list(names)
    for pattern, reason in reasons.items():
        matched = fnmatch.filter(left, pattern)
        left = [name for name in left if name not in matched]
        if matched:
            print(f"    {len(matched):3} {pattern}: {reason}")
    for name in left:
        print(f"      ! {name}: not explained")
    return len(left)


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    unexplained = 0
    for suite, said in tomllib.loads((HERE / "failing.toml").read_text()).items():
        paths = files(said["package"], said["files"])
        if paths is None or not all(path.exists() for path in paths):
            print(f"{suite}: found no tests of {said['package']}, needed make peers-tests")
            unexplained += 1
            continue
        ran, failed = failures(suite, paths, said.get("swapped", True), said.get("options", {}))
        print(f"{suite}: {ran - len(failed)} of {ran} pass: {said['what']}", flush=True)
        unexplained += explained(failed, said.get("why", {})) + (ran < said["least"])
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
