"""`python -m tests.surface.record [names expressions commands]` writes the surface down anew.

Of expressions and commands what stands in their files is asked again; a new one is a line there
that has its "text" or its "command" alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.surface import commands, names, questions

HERE = Path(__file__).parent
EXPRESSIONS, COMMANDS, NAMES = (
    HERE / name for name in ("expressions.jsonl", "commands.jsonl", "names.json")
)


def _written(path: Path, work: Callable[[Any], dict[str, Any]], asked: Iterable[Any]) -> None:
    """One line for each question, as many processes at once as JOBS says."""
    jobs = int(os.environ.get("JOBS", "2"))
    with ProcessPoolExecutor(jobs) as pool, path.open("w", encoding="utf-8") as file:
        for row in pool.map(work, asked, chunksize=8):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def of_command(command: list[str]) -> dict[str, Any]:
    """The row of a command line."""
    return {"command": command, "answer": commands.answer(tuple(command))}


def record(parts: Iterable[str]) -> None:
    """Write the parts of the surface that are named."""
    if "names" in parts:
        text = json.dumps(names.names(), indent=0, ensure_ascii=False, sort_keys=True)
        NAMES.write_text(text + "\n", encoding="utf-8")
    if "expressions" in parts:
        _written(EXPRESSIONS, questions.row_of, [row["text"] for row in read(EXPRESSIONS)])
    if "commands" in parts:
        _written(COMMANDS, of_command, [row["command"] for row in read(COMMANDS)])


def read(path: Path) -> list[dict[str, Any]]:
    """The rows that were written down."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    record(sys.argv[1:] or ("names", "expressions", "commands"))
