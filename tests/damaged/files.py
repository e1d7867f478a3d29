"""Files that were damaged: sweep files, paper files."""

import json
import random

import pytest
import sympy
from click.testing import CliRunner

from symacct import Gaussian, PoissonSubsample, StorageError, sweep
from symacct.cli import main
from symacct.kernel import limits
from symacct.kernel.errors import ParseError
from symacct.papers.paper_check import Malformed, PaperEntry, Verdict, check
from tests.damaged import mutations


def refused(error):
    """A typed error is one line."""
    assert "\n" not in str(error)
    return "refused"


# --- sweep files

SIGMA = sympy.Symbol("sigma", positive=True)
SWEEP = (PoissonSubsample(Gaussian(SIGMA), "1/10"), {SIGMA: [1, 2, 3], "alpha": [2, 5]})
TRUE_SWEEP = list(sweep(*SWEEP, "rdp", digits=6))


def written_sweep(folder):
    """The bytes of a sweep's file."""
    file = folder / "sweep.jsonl"
    sweep(*SWEEP, "rdp", digits=6, file=file)
    return file.read_bytes()


def digits_moved(chance, content):
    """A digit changed where a number stands."""
    found = bytearray(content)
    places = [i for i, one in enumerate(found) if one in b"0123456789"]
    found[chance.choice(places)] = ord(chance.choice("0123456789"))
    return bytes(found)


def check_sweep(folder, content, seed):
    """A damaged file is refused and left alone, or every answer is the true one."""
    chance = random.Random(seed)
    how = mutations.damaged if seed % 2 else digits_moved
    broken = how(chance, content)
    file = folder / "damaged.jsonl"
    file.write_bytes(broken)
    try:
        found = sweep(*SWEEP, "rdp", digits=6, file=file)
    except StorageError as error:
        left = file.read_bytes()
        return refused(error) if left == broken else pytest.fail("the file was changed")
    assert list(found) == TRUE_SWEEP
    return "right"


# --- paper files

GOOD = "Laplace(2),0,0.5"
LINES = [GOOD, "10 * PoissonSubsample(Gaussian(4), 0.01),1e-5,0.5", "Laplace(2, sensitivity=1),0,1"]
TRUE_ENTRY = PaperEntry("Laplace(2)", "epsilon", "0", "0.5", "line 1")


def broken_paper(chance):
    """The text of a paper file whose second line has an odd cell, or damaged signs."""
    cells = chance.choice(LINES).split(",")
    if chance.random() < 0.7:
        cells[chance.randrange(len(cells))] = str(mutations.value(chance))
    line = list(",".join(cells))
    for _ in range(chance.randrange(3)):
        line[chance.randrange(len(line) or 1) : chance.randrange(len(line) or 1)] = chance.choice(
            ['"', ",", "\n", "\r", "\0", "", "(", "9"]
        )
    return "\n".join([GOOD, "".join(line), GOOD])


def check_paper(seed):
    """The good line is judged true whatever stands beside it, or the file is no paper file."""
    text = broken_paper(random.Random(seed))
    with limits.limits(order=10**5, search_order=2**10):
        try:
            found = list(check(text))
        except ParseError as error:
            return refused(error)
    for one in found:
        json.dumps(one.as_dict())
        one.reason.encode()
    assert found[0].entry == TRUE_ENTRY
    assert found[0].verdict is Verdict.TRUE
    return "malformed" if any(isinstance(one, Malformed) for one in found) else "judged"


def check_paper_command(folder, seed):
    """The command never fails otherwise than by its statuses, whatever the bytes are."""
    chance = random.Random(seed)
    file = folder / "paper.csv"
    content = broken_paper(chance).encode("utf-8", "surrogatepass")
    file.write_bytes(content if seed % 2 else mutations.damaged(chance, content))
    done = CliRunner().invoke(main, ["check", str(file), *(["--json"] if seed % 3 else [])])
    assert done.exit_code in (0, 1, 2), done.output
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
