"""All that is known of one result: what it says and asks, where its proof is, and what to call."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from symacct.export.description import neighbours
from symacct.kernel import theorem_registry
from symacct.kernel.claims import Kind, Relation, adjacency
from symacct.kernel.sources import SYMACCT, WORKS
from symacct.kernel.theorem_registry import PROVED, REFUTED, Theorem
from symacct.results.screen import Labelled, Part, Tabled
from symacct.text import parse
from symacct.theory.catalogue import CatalogueRow, papers
from symacct.theory.examples import example

#: A proved row of a kind has this direction.
_DIRECTIONS = {
    str(Kind.EXACT): "exact: the true value, if what it reads is exact; of an upper bound it gives "
    "an upper bound",
    str(Kind.UPPER): "an upper bound, which is a guarantee",
    str(Kind.LOWER): "a lower bound: the truth is at least this, so that it is no guarantee",
}
#: A row that is not proved claims this, by its kind.
_CLAIMED = {
    str(Kind.EXACT): "claimed as the exact value",
    str(Kind.UPPER): "claimed as an upper bound",
    str(Kind.LOWER): "claimed as a lower bound",
}
#: What a sheet says of a row that is not proved.
_UNPROVED = "no guarantee rests on it"
_BY = f"{_UNPROVED}: --by shows its value, and epsilon and delta refuse it"
#: The call of a conversion's row begins with this.
_CONVERSION = "conversion:"
#: The example of this conversion is at another δ than 1e-5, where it has no answer.
_DELTAS = {"total-variation": "0.2"}
#: At most this many rows are shown with all that they say.
_MOST_IN_FULL = 4
#: What a row says has at least this many characters in a line of the index.
_FEWEST_CHARACTERS = 50
#: The lines between and around two columns take this many characters.
_FRAME_WIDTH = 7
#: A call in the index has at most this many characters; a longer one leaves the formula no room.
_LONGEST_CALL = 40
#: The index ends with this.
_INDEX = (
    "symacct theorems CODE shows one of these in full, as symacct theorems with a call or a place "
    "does; and symacct theorems WORD, such as amplification, shows those that contain the word; "
    "--json shows all."
)
#: This matches where a class's name begins in an expression's text.
_CLASSES = re.compile(r"(?<![\w.'])(?=[A-Z]\w*\(|laws\.)")


def sheet(row: CatalogueRow) -> dict[str, str]:
    """Collect what is said of a row, by the names that it is printed under; also for JSON.

    What is empty is left out.
    """
    theorem = theorem_registry.registered(row.call)
    example_of = None if theorem is None else example(theorem)
    facts = {
        "result": row.call or row.source,
        "about": "" if theorem is None else theorem.about,
        "says": row.says,
        "assumes": "" if row.assumes == "–" else row.assumes,
        "direction": _direction(row),
        "relation": _relation(row, theorem),
        "orders": row.orders.replace("–", ""),
        "status": _status(row, theorem),
        "source": _source(row),
        "proof": _proof(row, theorem),
        "note": row.why,
        "command": _command(row, example_of),
        "Python": _python(row, example_of),
    }
    return {name: value for name, value in facts.items() if value}


def folded(rows: Iterable[CatalogueRow]) -> list[list[CatalogueRow]]:
    """Group the rows: those together that say the same of the same call in several works."""
    alike: dict[tuple[str, ...], list[CatalogueRow]] = {}
    for row in rows:
        same = (row.call, row.says) if row.call else (row.source, row.says)
        alike.setdefault(same, []).append(row)
    return list(alike.values())


@dataclass(frozen=True)
class ListedTheorems:
    """Rows of the catalogue: all that is said of a few, or a line for each of many."""

    rows: Sequence[CatalogueRow]
    #: Were they looked for by words? The index of the whole table begins with the papers.
    are_asked: bool

    def as_dict(self) -> list[dict[str, Any]]:
        """Return the rows for JSON, with what their sheets have beyond them if they are few."""
        in_full = len(folded(self.rows)) <= _MOST_IN_FULL
        return [_as_dict(row) if in_full else row.as_dict() for row in self.rows]

    def _screen_(self) -> Iterator[Part]:
        """Show up to four rows in full, and of more an index."""
        sheets = folded(self.rows)
        if len(sheets) > _MOST_IN_FULL:
            yield from self._index()
            return
        for place, alike in enumerate(sheets):
            yield from [""] if place else []
            facts: dict[str, dict[str, None]] = {}  # of several rows on one result, each text once
            for each in map(sheet, alike):
                for name, text in each.items():
                    facts.setdefault(name, {})[text] = None
            yield Labelled([(name, "\n".join(texts)) for name, texts in facts.items()])

    def _index(self) -> Iterator[Part]:
        """Yield a line for each of many rows, cut to the width of the terminal."""
        from symacct.results.terminal import console  # which not every answer needs

        rows = self.rows
        if not self.are_asked:
            yield Tabled(("paper", "work"), papers().items())
            rows = [row for row in rows if theorem_registry.registered(row.call) is not None]
        lines = [(label(alike[0]), alike[0].says) for alike in folded(rows)]
        widest = max(len(name) for name, _ in lines)
        room = max(_FEWEST_CHARACTERS, console().width - widest - _FRAME_WIDTH)
        short = [(name, shorten(says, room, placeholder=" …")) for name, says in lines]
        yield Tabled(("code, call or place", "what it says"), short)
        yield _INDEX


def label(row: CatalogueRow) -> str:
    """Return what shows the row in full: its code or call, or else its place in the work.

    It is the place where the call is long, or states something else than the row.
    """
    return row.call if row.call and row.is_stated and len(row.call) <= _LONGEST_CALL else row.source


def _as_dict(row: CatalogueRow) -> dict[str, Any]:
    """Return the row for JSON, with what the sheet has beyond it."""
    more = ("direction", "proof", "command", "Python")
    return row.as_dict() | {
        name.casefold(): value for name, value in sheet(row).items() if name in more
    }


def _relation(row: CatalogueRow, theorem: Theorem | None) -> str:
    """Say the relation of a row; empty where it holds for any."""
    if theorem is not None:
        return neighbours(theorem.adjacency)
    known = row.adjacency in map(str, Relation)
    return neighbours(adjacency(row.adjacency)) if known else row.adjacency.replace("any", "")


def _source(row: CatalogueRow) -> str:
    """Cite the work with its title, and the place in it."""
    work = WORKS.get(row.paper)
    if work is None:
        return "stated by the user" if row.paper == "user" else row.source
    place = row.source.partition(", ")[2]
    return f"{work.named}, “{work.title}”, {place} [{row.paper}]"


def _direction(row: CatalogueRow) -> str:
    """Say the side of the truth that a row is on, or claims to be on if it is not proved."""
    if row.status == PROVED:
        return _DIRECTIONS.get(row.kind, "")
    if row.status == REFUTED:
        return f"{_CLAIMED[row.kind]}; it is refuted" if row.kind in _CLAIMED else ""
    return f"{_CLAIMED.get(row.kind, 'it bounds nothing')}; it is not proved"


def _status(row: CatalogueRow, theorem: Theorem | None) -> str:
    """Say whether a row is proved, and what follows where it is not."""
    if row.status == PROVED:
        return row.status
    return f"{row.status}: {_UNPROVED if theorem is None else _BY}"


def _proof(row: CatalogueRow, theorem: Theorem | None) -> str:
    """Say where the result is proved, or that it is not."""
    if row.status == REFUTED and row.paper in WORKS:
        if theorem is None:
            return "none; the note says why it is false"
        return f"none; a witness against it is found by symacct falsify {theorem.name}"
    if row.status != PROVED:
        return "none"
    if row.paper == SYMACCT.key:
        lemma = re.search(r"docs/proofs/.*", row.source)
        return lemma[0] if lemma else "docs/proofs/"
    is_published = row.paper in WORKS
    return "in the work itself, at that place" if is_published else "none: it is taken as stated"


def _command(row: CatalogueRow, example: tuple[str, str] | None) -> str:
    """Write a command that computes the result; empty where there is none."""
    if row.call.startswith(_CONVERSION):
        name = row.call.removeprefix(_CONVERSION)
        delta = _DELTAS.get(name, "1e-5")
        return f'symacct epsilon "Gaussian(5)" --delta {delta} --conversion {name}'
    if example is None:
        return ""
    text, alpha = example
    return f'symacct rdp "{text}" --by {row.call} --alpha {alpha}'


def _python(row: CatalogueRow, example: tuple[str, str] | None) -> str:
    """Write the line that computes the result, after `import symacct as sa`.

    Of a function it is the first example of its docstring. It is empty where there is none.
    """
    if row.call.startswith(_CONVERSION):
        name = row.call.removeprefix(_CONVERSION)
        return f'sa.Gaussian(5).epsilon("{_DELTAS.get(name, "1e-5")}", conversion="{name}")'
    if example is not None:
        text, alpha = example
        order = alpha if alpha.isdigit() else f'"{alpha}"'
        expression = _CLASSES.sub("sa.", repr(parse(text)))
        is_sum = expression[0].isdigit() or " + " in expression
        expression = f"({expression})" if is_sum else expression
        return f'{expression}.rdp({order}, by="{row.call}")'
    is_code = theorem_registry.registered(row.call) is not None
    return "" if is_code or "." not in row.call else _first_example(row.call)


def _first_example(call: str) -> str:
    """Write the statements of a docstring's first example, up to its output, in one line.

    It is empty where nothing is called so.
    """
    try:
        text = inspect.getdoc(pkgutil.resolve_name(call)) or ""
    except (ImportError, AttributeError):
        return ""
    lines: list[str] = []
    for shown in doctest.DocTestParser().get_examples(text):
        lines.append(" ".join(map(str.strip, shown.source.splitlines())))
        if shown.want:
            break
    module, _, name = call.rpartition(".")
    opening = [] if call.startswith("symacct.Node.") else [f"from {module} import {name}"]
    return "; ".join(dict.fromkeys([*opening, *(lines or [f"help({name})"])]))
