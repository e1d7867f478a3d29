"""`make soak`: what was found once, every law on new draws, the long checks, and independent ones.

Among the laws are the tests that `make test` thins out (tests/thinning.py), on all of their cases.

SOAK_SEED, which is printed, draws the same examples again. SOAK_MINUTES bounds the whole: a third
of them goes to the laws, one seed after the other, one to the long checks, and the rest to the
independent ones of tests/soak/checks.py, whose number is printed at the end; what there is no
time for is skipped. Without it every law and every check is run once. SOAK_CHECKS=1 makes the
independent checks alone: two hours of them on two idle cores are a million, and SOAK_KEPT=FILE
goes on from what an earlier run with this seed left there. A failure of a law is kept
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


def independent(seed, minutes):
    """Count the checks by other methods; their status."""
    command = [sys.executable, "-m", "tests.soak.checks"]
    bounded = ["--minutes", str(minutes)] if minutes < float("inf") else []
    if os.environ.get("SOAK_KEPT"):
        bounded += ["--kept", os.environ["SOAK_KEPT"]]
    environment = os.environ | {"SOAK_SEED": str(seed), "JOBS": JOBS}
    print(f"\nsoak: independent checks, seed {seed}", flush=True)
    return subprocess.run([*command, *bounded], env=environment).returncode


def main():
    seed = int(os.environ.get("SOAK_SEED") or time.time())
    minutes = float(os.environ.get("SOAK_MINUTES") or "inf")
    if os.environ.get("SOAK_CHECKS"):
        return independent(seed, minutes)
    now = time.time()
    third, end = now + 20 * minutes, now + 40 * minutes
    again = [run("found once", old, end, test) for old, test in found()]
    laws = [run("laws", seed, third, "-m", LAWS, "-n", JOBS, "tests")]
    while minutes < float("inf") and time.time() < third:
        seed += 1
        laws.append(run("laws", seed, third, "-m", LAWS, "-n", JOBS, "tests"))
    checks = [run("long checks", seed, end, "-n", JOBS, "tests/soak")]
    last = independent(seed, minutes / 3)
    failed = last or any(status not in (0, NOTHING) for status in again + laws + checks)
    return failed or 0 not in laws or 0 not in checks


if __name__ == "__main__":
    sys.exit(main())
