"""`make soak`: what was found once, every law on new draws, and the long checks, in this order.

Among the laws are the tests that `make test` thins out (tests/thinning.py), on all of their cases.

SOAK_SEED, which is printed, draws the same examples again. SOAK_MINUTES bounds the whole: half of
them go to the laws, one seed after the other, and the rest to the long checks; what there is no
time for is skipped. Without it every law and every check is run once. A failure of a law is kept
in tests/soak/found.txt with its seed, and run first from then on: mend it, leave an `@example` of
it in the test, and take the line out.
"""

import os
import subprocess
import sys
import time

from tests.soak.bounded import found

NOTHING = 5  # pytest's status where no test ran
LAWS = "hypothesis or soak"
JOBS = os.environ.get("JOBS", "2")


def run(what, seed, until, *arguments):
    """pytest's status of one run, whose time is printed; `NOTHING` where all was skipped."""
    again = f"SOAK_SEED={seed} make soak"
    print(f"\nsoak: {what}, seed {seed} (again: {again})", flush=True)
    start = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-p", "tests.soak.bounded"]
    command += ["--hypothesis-profile=soak", f"--hypothesis-seed={seed}", *arguments]
    environment = os.environ | {"SOAK_SEED": str(seed), "SOAK_UNTIL": str(until)}
    status = subprocess.run(command, env=environment).returncode
    print(f"soak: {what} took {time.monotonic() - start:.0f} s", flush=True)
    return status


def main():
    seed = int(os.environ.get("SOAK_SEED") or time.time())
    minutes = float(os.environ.get("SOAK_MINUTES") or "inf")
    now = time.time()
    half, end = now + 30 * minutes, now + 60 * minutes
    again = [run("found once", old, end, test) for old, test in found()]
    laws = [run("laws", seed, half, "-m", LAWS, "-n", JOBS, "tests")]
    while minutes < float("inf") and time.time() < half:
        seed += 1
        laws.append(run("laws", seed, half, "-m", LAWS, "-n", JOBS, "tests"))
    checks = [run("long checks", seed, end, "-n", JOBS, "tests/soak")]
    failed = any(status not in (0, NOTHING) for status in again + laws + checks)
    return failed or 0 not in laws or 0 not in checks


if __name__ == "__main__":
    sys.exit(main())
