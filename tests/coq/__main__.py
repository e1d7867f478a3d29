"""`make coq`: compile the library, each example, and each with its last digit lowered.

Fails where coqc refuses a true statement, accepts a false one, or a theorem rests on more than
Coq's numbers. With `--write` the examples are written anew instead.
"""

import sys

from tests.coq import (
    AXIOMS,
    EXAMPLES,
    LISTED,
    MISSING,
    NEEDED,
    ROOT,
    axioms,
    compile_library,
    judged,
    lowered,
)

PLACE = ROOT / "out" / "coq"


def main():
    if sys.argv[1:] == ["--write"]:
        for example in LISTED:
            (EXAMPLES / f"{example.name}.v").write_text(example.text(), encoding="utf-8")
        return
    if MISSING:
        sys.exit(f"make coq: {MISSING}")
    for name, verdict in compile_library(PLACE):
        if "Interval" in verdict.said and not verdict.accepted:
            sys.exit(f"make coq: found no coq-interval, {NEEDED}")
        if not verdict.accepted:
            sys.exit(f"make coq: {name} is refused:\n{verdict.said}")
        print(f"{name:28} compiled          {verdict.seconds:5.1f} s")
    faults = sum(faults_of(example) for example in LISTED)
    print(f"{len(LISTED)} true statements and {len(LISTED)} false ones, {faults} faults")
    sys.exit(1 if faults else 0)


def faults_of(example):
    """How many of the two verdicts on an example are wrong."""
    true = judged(example.name, example.file(), PLACE, audited=True)
    others = [name for name in axioms(true.said) if not AXIOMS.fullmatch(name)]
    said = "accepted" if true.accepted else f"REFUSED: {true.said}"
    said += f", but rests on {', '.join(others)}" if others else ""
    print(f"{example.name:28} {said:17} {true.seconds:5.1f} s")
    false = judged(f"{example.name}_lowered", lowered(example.file()), PLACE)
    said = "refused" if false.too_small else f"NOT SO: {false.said}"
    print(f"{'  last digit of ε lowered':28} {said:17} {false.seconds:5.1f} s")
    return (not true.accepted or bool(others)) + (not false.too_small)


main()
