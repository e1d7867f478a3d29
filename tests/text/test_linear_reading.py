"""Reading takes work in proportion to the text, whatever it begins, ends or breaks off with."""

import contextlib

import pytest

from symacct import SymacctError, parse
from symacct.explore.grids import grid
from symacct.kernel.exact import exact, order
from symacct.kernel.formula import parse_formula
from symacct.kernel.symbols import alpha
from symacct.text.expressions import parse_law, parse_open
from tests.extremes import bounded

COUNTED = ("strip", "lstrip", "rstrip", "split", "partition", "replace", "encode", "__getitem__")


class Counted(str):
    """A text that counts the letters which its methods look at or copy."""

    seen = 0


def _counting(name):
    def method(self, *given):
        Counted.seen += len(self)
        found = getattr(str, name)(self, *given)
        return Counted(found) if isinstance(found, str) else found

    return method


for one in COUNTED:
    setattr(Counted, one, _counting(one))

READERS = {
    "parse": parse,
    "parse_open": parse_open,
    "parse_law": parse_law,
    "parse_formula": lambda text: parse_formula(text, alpha),
}
TEXTS = {
    "a sum": lambda n: "5+" * n + "5",
    "and a space": lambda n: "5+" * n + "5 ",
    "and spaces": lambda n: "5+" * n + "5" + " " * n,
    "and lines": lambda n: "5 +\n" * n + "5\n\n",
    "then no sign": lambda n: "5+" * n + "5 ;",
    "then an open quote": lambda n: "5+" * n + " 'x",
    "spaces, then no sign": lambda n: " " * n + ";",
    "a product": lambda n: "1*" * n + "1\t",
    "a list": lambda n: "[" + "1, " * n + "1] ",
    "arguments": lambda n: "Max(" + "1, " * n + "1) ",
    "signs": lambda n: "5-" * n + " ",
}


def work(read, text):
    Counted.seen = 0
    with contextlib.suppress(SymacctError):
        read(Counted(text))
    return Counted.seen


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", TEXTS)
def test_twice_the_text_is_twice_the_letters_looked_at(reader, text):
    some, more = (work(READERS[reader], TEXTS[text](n)) for n in (200, 400))
    assert 0 < more < 2.5 * some


NUMBERS = {
    "spaces": " ", "digits": "5", "joined": "5_", "points": "5.", "exponents": "5e", "signs": "+ ",
    "divisions": "5 / ", "lines": "\n", "colons": "1:", "commas": "1,", "ranges": "1..",
}  # fmt: skip


@pytest.mark.parametrize("piece", NUMBERS)
@pytest.mark.parametrize("read", [exact, order, grid], ids=lambda read: read.__name__)
def test_a_long_number_is_refused_at_once(read, piece):
    """A pattern that goes back takes a minute for what is one pass here, so a second is no race."""
    for end in ("", "x", " x", "5"):
        with bounded(3), contextlib.suppress(SymacctError):
            read(NUMBERS[piece] * (60_000 // len(NUMBERS[piece])) + end)
