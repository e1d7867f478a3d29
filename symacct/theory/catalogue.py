"""The theorem table: every numbered result of the papers that says something computable.

>>> from symacct import catalogue
>>> len(catalogue.rows()) > 50
True
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symacct.kernel import theorem_registry
from symacct.kernel.errors import DomainError, echo, nearest, suggestion
from symacct.kernel.sources import WORKS

#: The rows of catalogue.toml beside this file.
_RESULTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["results"]
#: Headings of what no paper states.
_OURS = {"SYMACCT": "## SYMACCT: proved in symacct", "user": "## Stated by the user"}
#: The ending of a word of five letters or more that its other forms may not have.
_ENDING = re.compile(r"(?<=\w{4})(ing|ed|es|e|s)$")
#: Words of the field, each with the parts of words by which rows are found that are about it.
_TOPICS = {
    "amplification": ("subsampl", "shuffl", "allocation"),
    "sampling": ("subsampl",),
    "subsampling": ("subsampl",),
    "composition": ("compos",),
    "selection": ("select", "repeat"),
    "tuning": ("repeatandselect",),
    "hyperparameter": ("repeatandselect",),
    "hyperparameters": ("repeatandselect",),
    "k-ary": ("randomized response", "shuffled_respon"),
    "kary": ("randomized response", "shuffled_respon"),
    "rappor": ("randomized response", "shuffled_respon"),
    "local": ("randomized response", "shuffled", "clones"),
    "ldp": ("randomized response", "shuffled", "clones"),
    "dp-ftrl": ("band_mf", "banded", "treeaggregation", "matrixmechanism"),
    "ftrl": ("band_mf", "banded", "treeaggregation", "matrixmechanism"),
    "dp-sgd": ("sampled gaussian", "mtz19", "acg16"),
    "dpsgd": ("sampled gaussian", "mtz19", "acg16"),
    "user-level": ("group",),
    "users": ("group",),
    "gdp": ("gaussian differential", "gaussian-dp"),
    "f-dp": ("trade-off", "tradeoff"),
}
#: The marks in a document between which the table is written.
_START, _END = "<!-- table -->", "<!-- end of table -->"


@dataclass(frozen=True)
class CatalogueRow:
    """One result: what it says, under what, and what to call or why there is nothing to call.

    `call` is a theorem for by= ("ZW19-T8"), the code of what gives a number of the exact profile
    ("PROFILE-CONTOUR"), a conversion ("conversion:classic") or a dotted name
    ("symacct.baselines.naive"); `why` is given where there is none.
    """

    source: str
    says: str
    assumes: str
    adjacency: str
    orders: str
    kind: str
    status: str
    call: str
    why: str

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return asdict(self)

    @property
    def paper(self) -> str:
        """The key of the work that it is of."""
        return self.source.split(",")[0]

    @property
    def is_stated(self) -> bool:
        """Does the row say just what the theorem that it names states?

        So does one that names no registered theorem.
        """
        registered = theorem_registry.registered(self.call)
        return registered is None or self.says == " ".join(registered.statement.split())

    @property
    def title(self) -> str:
        """What it is about, in small letters: the operations, and what it says."""
        return f"{self.call} {' '.join(_operations(self.call))} {self.says}".casefold()

    @property
    def text(self) -> str:
        """All that the row says, and the name of its work, in small letters."""
        work = WORKS.get(self.paper)
        named = f"{work.named} {work.fields().get('title', '')}" if work else ""
        return f"{self.title} {named} {' '.join(self.as_dict().values())}".casefold()


def _operations(call: str) -> tuple[str, ...]:
    """The names of the operations that the theorem called so is about; none for another call."""
    known = theorem_registry.registered(call)
    return () if known is None else known.operation


def rows() -> list[CatalogueRow]:
    """The whole table: the papers' results in their order, then what else is registered."""
    listed = [_row(**result) for result in _RESULTS]
    named = {row.call for row in listed}
    rest = [t for t in theorem_registry.theorems() if t.name not in named]
    return [*listed, *(_of_theorem(t, str(t.source)) for t in rest)]


def assumed(code: str) -> str:
    """The words for what the theorem of this code assumes; empty for nothing or another code."""
    theorem = theorem_registry.registered(code)
    return "" if theorem is None or theorem.assumes == "nothing further" else theorem.assumes


def papers() -> dict[str, str]:
    """The works that rows are of, by their keys, as they are named."""
    keys = dict.fromkeys(row.paper for row in rows())
    return {key: WORKS[key].named if key in WORKS else "stated by the user" for key in keys}


def about(words: str) -> list[CatalogueRow]:
    """The row of this call or place, or those that have each of the words, or other forms of them.

    Those that are about the words come first, and theorems for by= before what has another call.
    If no row has them all, these are the rows that have most of them, or those of the word that is
    most like one. DomainError where there is none, with the code that is most like it.

    >>> [row.call for row in about("zw19-t8")]
    ['ZW19-T8']
    >>> len(about("poisson subsampling")) > 1
    True
    """
    return matching(words)[0]


def matching(words: str) -> tuple[list[CatalogueRow], str]:
    """The rows `about` the words, and a note of what they have where they have not each of them.

    The note is empty otherwise. DomainError where there is no row.
    """
    listed, wanted = rows(), str(words).casefold()
    called = [
        row
        for row in listed
        if wanted in (row.call.casefold(), row.source.casefold(), row.paper.casefold())
    ]
    calls = [row.call for row in listed if row.call]
    is_code = any(sign.isdigit() for sign in wanted) and nearest(wanted, calls) is not None
    if called or not wanted.split():
        return called or listed, ""
    if matches := _with_all(listed, wanted.split()):
        return matches, ""
    if not is_code:
        each = {word: _with_all(listed, [word]) for word in wanted.split()}
        known = [word for word, some in each.items() if some]
        if known:
            most = _with_all(listed, known) or [row for word in known for row in each[word]]
            missing = ", ".join(echo(word) for word, some in each.items() if not some)
            left = f"no result has {missing}" if missing else "no result has all of the words"
            return list(dict.fromkeys(most)), f"{left}; these have {', '.join(known)}"
        like = nearest(wanted, sorted(_vocabulary()))
        if like is not None:
            return _with_all(listed, [like]), f"no result has {echo(words)}; these have {like!r}"
    needed = "a code, or words that stand together in a row of what symacct theorems prints"
    raise DomainError(f"theorems: found {echo(words)}{suggestion(words, calls, needed)}")


def _with_all(listed: list[CatalogueRow], wanted: list[str]) -> list[CatalogueRow]:
    """The rows that have each of the words in one of its forms, the nearest first."""
    stems = [_TOPICS.get(word) or (_ENDING.sub("", _american(word)),) for word in wanted]

    def says(text: str) -> bool:
        return all(any(stem in text for stem in either) for either in stems)

    def rank(row: CatalogueRow) -> tuple[bool, bool]:
        return not says(row.title), theorem_registry.registered(row.call) is None

    return sorted((row for row in listed if says(row.text)), key=rank)


def _american(word: str) -> str:
    """The word in the spelling of the rows: randomized for randomised."""
    return re.sub(r"is(?=(?:e|es|ed|ing|ation|ations)$)", "iz", word)


def _vocabulary() -> set[str]:
    """The words that rows are made of, and those of the field that stand for some."""
    return {word for row in rows() for word in re.findall(r"[a-z]{4,}", row.text)} | set(_TOPICS)


def _row(
    *,
    source: str,
    says: str = "",
    call: str = "",
    why: str = "",
    assumes: str = "–",
    adjacency: str = "any",
    orders: str = "–",
    kind: str = "–",
    status: str = "proved",
) -> CatalogueRow:
    """The row of the catalogue of a result in the table; what it does not say its theorem does."""
    if not says:  # its own record does
        return _of_theorem(theorem_registry.named(call), source)
    return CatalogueRow(source, says, assumes, adjacency, orders, kind, status, call, why)


def _of_theorem(theorem: theorem_registry.Theorem, source: str) -> CatalogueRow:
    """The row of the catalogue of a registered theorem, by what it states itself."""
    return CatalogueRow(
        source,
        " ".join(theorem.statement.split()),
        theorem.assumes,
        str(theorem.adjacency),
        str(theorem.orders),
        str(theorem.kind),
        theorem.status,
        theorem.name,
        "",
    )


def as_markdown() -> str:
    """The rows as Markdown: a heading and a table for each paper, in the order of the rows."""
    head = ("source", "what it says", "assumes", "adjacency", "orders", "kind", "status", "call")
    header = _line(head), _line("---" for _ in head)
    tables: dict[str, list[str]] = {}
    for row in rows():
        call = f"`{row.call}`" if row.call else f"none: {row.why}"
        if row.call and row.why:
            call += f"; {row.why}"
        cells = (row.source, row.says, row.assumes, row.adjacency, row.orders, row.kind, row.status)
        lines = tables.setdefault(_heading(row.paper), ["", *header])
        lines.append(_line((*cells, call)))
    return "\n\n".join("\n".join((heading, *lines)) for heading, lines in tables.items())


def _heading(key: str) -> str:
    """The heading of the table of a work, by its key."""
    return _OURS.get(key) or f"## {key}: {WORKS[key].named}"


def write(path: Path) -> None:
    """Puts the table as it is now between its two marks in a document, which is overwritten."""
    before, _, rest = path.read_text().partition(_START)
    _, _, after = rest.partition(_END)
    path.write_text(f"{before}{_START}\n\n{as_markdown()}\n\n{_END}{after}")


def _line(cells: Iterable[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
