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

GOOD = {"ask": "rdp", "expression": "Gaussian(5)", "alpha": "8", "printed": "0.16", "source": "a"}
EPSILON = {
    "ask": "epsilon",
    "expression": "10 * PoissonSubsample(Gaussian(4), 0.01)",
    "delta": "1e-5",
    "printed": "0.5",
    "source": "b",
    "conversion": "classic",
    "orders": ["8", "16"],
    "direction": "at most",
    "comment": "c",
}
PAPER = {"paper": 1, "title": "t", "comment": "c", "entries": [GOOD, EPSILON]}


TRUE_ENTRY = PaperEntry("Gaussian(5)", "rdp", "8", "0.16", "a")


def broken_paper(chance):
    """The text of a paper file with one entry that is broken, or the file itself."""
    if chance.random() < 0.2:
        return mutations.document(chance, PAPER)
    entry = mutations.document(chance, chance.choice([GOOD, EPSILON]))
    return mutations.text({**PAPER, "entries": [GOOD, mutations.Raw(entry), GOOD]})


def check_paper(seed):
    """Every good entry is judged true whatever stands beside it, or the file is no paper file."""
    text = broken_paper(random.Random(seed))
    with limits.limits(order=10**5, search_order=2**10):
        try:
            found = list(check(text))
        except ParseError as error:
            return refused(error)
    for one in found:
        json.dumps(one.as_dict())
        one.reason.encode()
    untouched = [one.verdict for one in found if getattr(one, "entry", None) == TRUE_ENTRY]
    assert all(verdict is Verdict.TRUE for verdict in untouched)
    return "malformed" if any(isinstance(one, Malformed) for one in found) else "judged"


def check_paper_command(folder, seed):
    """The command never fails otherwise than by its statuses, whatever the bytes are."""
    chance = random.Random(seed)
    file = folder / "paper.json"
    content = broken_paper(chance).encode("utf-8", "surrogatepass")
    file.write_bytes(content if seed % 2 else mutations.damaged(chance, content))
    done = CliRunner().invoke(main, ["check", str(file), *(["--json"] if seed % 3 else [])])
    assert done.exit_code in (0, 1, 2), done.output
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
