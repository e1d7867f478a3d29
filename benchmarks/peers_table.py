"""`make peers`: the table of all accountants in docs/peers.md, from the JSON of `verify --all`.

`python -m benchmarks.peers_table FOUND.json PAGE.md` writes it between the two marks of the page.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

#: What stands between these two lines of the page is written anew; the rest of it is kept.
BEGIN, END = "<!-- verify --all: begin -->", "<!-- verify --all: end -->"
_HEAD = (
    "| peer | version | questions | judged | below the truth | nan, inf, exception, slow "
    "| loose | ways of writing | another formula | defects |"
)
#: The verdicts that each column of the table counts.
_COUNTED = (
    ("unsound", "negative", "zero"),
    ("nan", "inf", "exception", "slow"),
    ("loose",),
    ("inconsistent",),
    ("wrong-formula",),
)


def table(found: dict[str, Any]) -> str:
    """What a run found of each peer, in Markdown, with versions and the day."""
    peers = found["peers"]
    day = datetime.now(UTC).date().isoformat()
    given = max((peer["seconds_given"] or 0 for peer in peers), default=0)
    version = peers[0]["symacct"] if peers else "?"
    said = (
        f"`make peers` wrote this table with symacct {version} on {day}. Each peer had at most "
        f"{given:g} s of work. The columns count answers."
    )
    gone = [f"Not run: {one['peer']} ({one['why']})." for one in found["absent"]]
    rows = [_HEAD, "| --- " * 10 + "|", *map(_row, peers)]
    return "\n".join([BEGIN, "", said, "", *rows, "", *gone, END])


def _row(peer: dict[str, Any]) -> str:
    counted = (sum(peer["counts"].get(name, 0) for name in names) for names in _COUNTED)
    numbers = peer["asked"], peer["judged"], *counted, len(peer["defects"])
    return f"| {' | '.join((peer['peer'], peer['version'], *(f'{n:,}' for n in numbers)))} |"


def page(text: str, written: str) -> str:
    """The page with the new table in the place of the old one, or after all else."""
    old = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if old.search(text):
        return old.sub(lambda _: written, text, count=1)
    return f"{text.rstrip()}\n\n{written}\n".lstrip()


if __name__ == "__main__":
    read, written = map(Path, sys.argv[1:])
    found = json.loads(read.read_text(encoding="utf-8"))
    if not found["peers"]:
        sys.exit(f"{read} has no peer that was run; {written} is left as it was")
    shown = page(written.read_text(encoding="utf-8"), table(found))
    written.write_text(shown, encoding="utf-8")
