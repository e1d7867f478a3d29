"""A million independent checks: questions of the test vectors' kinds, new ones from a seed.

`python -m tests.soak.checks [--count N] [--minutes M] [--kept FILE]` draws questions, has each
answered between two proved ends, and asks others: a quadrature, an enumeration or a closed form of
tests/evidence/vector_checks.py, another engine of symacct's, and the checker, where there is one,
about its certificate. It prints how many checks of each kind were made and what failed, with the
words that ask again. SOAK_SEED draws the same, JOBS is how many processes ask. What agrees in
float64 only is counted apart: it is too weak to be one of the million. FILE keeps what became of
each block, so that several runs make one count.
"""

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from mpmath import mp

from symacct.evidence.vectors import FILES, count_of, line
from symacct.evidence.vectors.answers import double, node_of
from symacct.kernel.accountant import Accountant
from symacct.kernel.claims import Kind
from symacct.kernel.errors import SymacctError
from tests.evidence.vector_checks import NoMethodError, check

CHECKER = Path(__file__).parents[2] / "checker" / "check.py"
WEAK = {"float64", "float64 engine"}
#: What is no check: symacct refused the question, or no other method reaches it, or not in time.
NO_CHECK = {"refused", "no other method", "not in time", "the checker cannot say"}
SECONDS = 5  # of processor time for one question
BLOCK = 100  # questions that a process is given at a time
SEVERAL = 300  # of so many questions one is asked of other engines, and certified
#: Files that few other methods answer, and slowly: one question is drawn where ten would be.
SELDOM = {"epsilon_poisson", "delta_poisson"}


class OutOfTimeError(Exception):
    """A question took too long."""


def out_of_time(*_):
    raise OutOfTimeError


def block(seed, which):
    """What became of the checks of a block: counts by kind, what failed, processor seconds."""
    chance = random.Random(f"{seed} {which}")
    signal.signal(signal.SIGVTALRM, out_of_time)
    counts, failed, begun = Counter(), [], time.process_time()
    files, weights = zip(
        *((f, count_of(f) / (10 if f in SELDOM else 1)) for f in FILES), strict=True
    )
    for number in range(BLOCK):
        (file,) = chance.choices(files, weights)
        asked = file, chance.randrange(count_of(file)), f"{seed}/{which}/{number}"
        counts["questions"] += 1
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            for kind in checks(*asked):
                counts[kind] += 1
        except OutOfTimeError:
            counts["not in time"] += 1
        except Exception as error:
            failed.append((asked, f"{type(error).__name__}: {str(error)[:400]}"))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return counts, failed, time.process_time() - begun


def checks(file, number, seed):
    """The kinds of the checks that a question passes, one by one."""
    asks = FILES[file][0]
    try:
        question = json.loads(line(file, number, seed))
    except SymacctError:
        yield "refused"
        return
    try:
        yield check(asks, question)
    except NoMethodError:
        yield "no other method"
    if number % SEVERAL:
        return
    if asks == "rdp":
        if asked_of("float64", question):
            yield "float64 engine"
        if asked_of("mpmath", question):
            yield "another engine"
    if CHECKER.exists():
        yield from verdict(asks, question)


def asked_of(engine, question):
    """Does another arithmetic state ends, in the digits it claims, that meet ours?

    False where it has no exact curve, only a bound, or refuses the question.
    """
    try:
        found = Accountant(15, engine).rdp(node_of(question), double(question["order"]))
    except SymacctError:
        return False
    if found.claim.kind is not Kind.EXACT:
        return False
    with mp.workdps(40):
        low, high = mp.mpf(question["lower"]), mp.mpf(question["upper"])
        assert found.lower <= high, (engine, question, str(found))
        assert low <= found.upper, (engine, question, str(found))
    return True


def verdict(asks, question):
    """The checker's verdict on the certificate of an answer; none where there is no certificate."""
    if asks != "epsilon":
        return
    delta = double(question["delta"])
    guarantee = node_of(question).epsilon(delta, digits=12, conversion="improved")
    try:
        certificate = guarantee.certificate()
    except SymacctError:
        return
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(certificate, file)
        file.flush()
        ended = subprocess.run([sys.executable, str(CHECKER), file.name], capture_output=True)
    assert ended.returncode in (0, 2), (question, ended.stdout[-400:])
    yield "checker" if ended.returncode == 0 else "the checker cannot say"


def table(counts, seconds, wall):
    """How many of each kind, those that count together, and how fast they were."""
    kinds = {k: n for k, n in counts.items() if k not in WEAK | NO_CHECK | {"questions"}}
    rows = [*sorted(kinds.items()), ("independent checks", sum(kinds.values()))]
    rows += [(kind, counts[kind]) for kind in sorted(WEAK | NO_CHECK) if counts[kind]]
    rows.append(("questions", counts["questions"]))
    shown = "".join(f"checks: {name:24} {count:>9,}\n" for name, count in rows)
    rate = sum(kinds.values()) / max(seconds, 1e-9)
    return (
        f"{shown}checks: {seconds:,.0f} s of processors, {wall:,.0f} s: {rate:.1f} a second of one"
    )


def kept_in(file, seed):
    """What became of the blocks of a seed that a file keeps, by their numbers."""
    if not file or not file.exists():
        return {}
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {which: found for drawn, which, found in rows if drawn == seed}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=5_000, help="questions, where no time is said")
    parser.add_argument("--minutes", type=float, help="how long to go on")
    parser.add_argument(
        "--kept", type=Path, help="a file of blocks: those there are not asked again"
    )
    given = parser.parse_args()
    seed, jobs = os.environ.get("SOAK_SEED", "checks"), int(os.environ.get("JOBS", "2"))
    begun, blocks = time.monotonic(), kept_in(given.kept, seed)
    until = begun + 60 * given.minutes if given.minutes else None
    new = (which for which in itertools.count() if which not in blocks)
    with ProcessPoolExecutor(jobs) as pool:
        while time.monotonic() < until if until else BLOCK * len(blocks) < given.count:
            asked = list(itertools.islice(new, 2 * jobs))
            for which, found in zip(
                asked, pool.map(block, [seed] * len(asked), asked), strict=True
            ):
                blocks[which] = found
                if given.kept:
                    with given.kept.open("a", encoding="utf-8") as file:
                        print(json.dumps([seed, which, found]), file=file)
    failed = [fault for _, faults, _ in blocks.values() for fault in faults]
    for asked, what in failed:
        print(f"checks: FAILED {asked!r}: {what}")
    counts = sum((Counter(found) for found, _, _ in blocks.values()), Counter())
    seconds = sum(spent for _, _, spent in blocks.values())
    print(table(counts, seconds, time.monotonic() - begun), flush=True)
    print(f"checks: {len(failed)} failed, seed {seed}", flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
