"""Tables on a terminal of any width: words are wrapped, rows stacked, no number is ever cut."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from symacct.results.screen import Branch, Cell, Labelled, Tabled

#: A table in a pipe or a file has this many columns: people read it, and programs read JSON.
_PIPED_COLUMNS = 100
#: No screen has more columns than this, since a tree fills each of its lines.
_MOST_COLUMNS = 10_000
#: A table with a cell of more lines than these is printed as lists, which read better.
_MOST_CELL_LINES = 4
_INDENT = "  "  # before each row of a list


def console() -> Console:
    """Make the screen of standard output: as wide as COLUMNS, else the terminal, else 100 cells."""
    # Given both, rich does not read COLUMNS and LINES, which may say 0, or no number.
    width, height = shutil.get_terminal_size()
    screen = Console(highlight=False, emoji=False, width=min(width, _MOST_COLUMNS), height=height)
    if not _is_bounded(screen):
        screen.width = _PIPED_COLUMNS
    return screen


def _is_bounded(screen: Console) -> bool:
    """Is there a width at which lines end: that of a terminal, or COLUMNS?"""
    with suppress(ValueError):
        if int(os.environ.get("COLUMNS", "")) > 0:
            return True
    return screen.is_terminal


def print_part(part: Tabled | Labelled | Branch | Cell) -> None:
    """Print a part of an answer, but for a note or a text of fixed lines."""
    match part:
        case Tabled():
            print_table(part.headers, part.rows)
        case Labelled():
            print_pairs(part.rows, part.title)
        case Branch():
            print_whole(_tree(part))
        case str():
            print_prose(part)
        case _:
            print_prose(*part)


def print_table(headers: Sequence[str], rows: Iterable[Iterable[Cell]]) -> None:
    """Print rows below their headers, or all rows as lists where that is too wide to read."""
    screen = console()
    texts = [[_text(cell) for cell in row] for row in rows]
    names = list(map(_text, headers))
    widths = _widths(names, texts, screen.width)
    if widths is None or _height(texts, widths) > _MOST_CELL_LINES:
        for row in texts:
            _print_list(screen, [name.plain for name in names], row)
            screen.print()
        return
    table = Table()
    for name, width in zip(names, widths, strict=True):
        table.add_column(name, width=width)
    for row in texts:
        table.add_row(*row)
    screen.print(table)


def print_pairs(pairs: Iterable[tuple[str, Cell]], title: str = "") -> None:
    """Print names and what belongs to them, in a box where it fits, below a title if any.

    There is at least one pair.
    """
    screen = console()
    if title:
        screen.print(Text(title, style="bold"))
    texts = [[_text(name), _text(value)] for name, value in pairs]
    widths = _widths(texts[0], texts, screen.width)
    if widths is None:
        _print_list(screen, [name.plain for name, _ in texts], [value for _, value in texts])
        return
    table = Table(show_header=False)
    whole = max(_longest_line(name) for name, _ in texts) - widths[0]
    if whole <= widths[1] - max(_longest_word(value) for _, value in texts):
        widths = [widths[0] + whole, widths[1] - whole]  # names first: they are few words
    for width in widths:
        table.add_column(width=width)
    for row in texts:
        table.add_row(*row)
    screen.print(table)


def print_prose(text: str, style: str = "") -> None:
    """Print sentences wrapped between words on a terminal, and as they are for a program."""
    screen = console()
    lines = _lines(text, screen.width) if _is_bounded(screen) else [text]
    screen.print(Text("\n".join(lines), style=style), soft_wrap=True)


def print_whole(tree: Tree) -> None:
    """Print a tree wrapped between words, wider than the screen where a word is."""
    screen = console()
    room = screen.options.update(width=_MOST_COLUMNS)
    screen.width = max(screen.width, screen.measure(tree, options=room).minimum)
    screen.print(tree)


def _print_list(screen: Console, names: Sequence[str], row: Sequence[Text]) -> None:
    """Print each value beside its name, or below it where it is too long; not an empty one."""
    room = max(map(cell_len, names)) + len(_INDENT)
    for name, value in zip(names, row, strict=True):
        if not value:
            continue
        if _longest_word(value) <= screen.width - room:
            label, inside = name.ljust(room), " " * room
        else:
            label, inside = f"{name}\n{_INDENT}", _INDENT
        shown = f"\n{inside}".join(_lines(value.plain, screen.width - len(inside)))
        screen.print(Text.assemble(label, (shown, value.style)), soft_wrap=True)


def _widths(headers: Sequence[Text], rows: Sequence[Sequence[Text]], room: int) -> list[int] | None:
    """Find the columns' widths within the room, no word broken; None where they do not fit."""
    columns = list(zip(headers, *rows, strict=True))
    widths = [max(map(_longest_word, column)) for column in columns]
    free = room - 3 * len(columns) - 1 - sum(widths)
    if free < 0:
        return None
    # What the cells want comes first, then what their headers want.
    for part in ([column[1:] for column in columns], columns):
        wanted = [max(map(_longest_line, cells), default=0) for cells in part]
        while free and any(want > width for want, width in zip(wanted, widths, strict=True)):
            tightest = max(range(len(widths)), key=lambda i: wanted[i] / max(1, widths[i]))
            widths[tightest] += 1
            free -= 1
    return widths


def _height(rows: Sequence[Sequence[Text]], widths: Sequence[int]) -> int:
    """Count the lines of the tallest cell."""
    cells = chain.from_iterable(zip(row, widths, strict=True) for row in rows)
    return max((len(_lines(cell.plain, width)) for cell, width in cells), default=0)


def _lines(text: str, width: int) -> list[str]:
    """Wrap each line of a text; an empty one stays."""
    return [line for part in text.split("\n") for line in _wrapped(part, width) or [""]]


def _wrapped(line: str, width: int) -> list[str]:
    """Wrap between words alone: a number longer than the line is left to the terminal."""
    margin = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line,
        max(1, width),
        subsequent_indent=margin and margin + _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _text(cell: Cell) -> Text:
    """Make of a cell a text in which brackets are no markup."""
    return Text(cell) if isinstance(cell, str) else Text(*cell)


def _tree(branch: Branch) -> Tree:
    """Make of a branch, with all that is below it, what rich prints."""
    tree = Tree(Text(branch.title, style="bold"))
    for label, value in branch.rows:
        tree.add(Text.assemble((f"{label}: ", "dim"), value))
    for part in branch.branches:
        tree.add(_tree(part))
    return tree


def _longest_line(text: Text) -> int:
    """Count the columns of the longest line."""
    return max(map(cell_len, text.plain.split("\n")))


def _longest_word(text: Text) -> int:
    """Count the columns of the longest word, 0 for none: no narrower column holds the text."""
    return max(map(cell_len, text.plain.split()), default=0)
