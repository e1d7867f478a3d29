"""Reference tables: certified values on a grid, both ends rounded outwards, for others' tests."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from symacct.explore.sweeps import NEEDED, shown
from symacct.kernel import exact, limits
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, Guarantee
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, SymacctError, echo
from symacct.kernel.node import Node, as_node
from symacct.version import __version__

_RESULTS = ("lower", "upper", "kind", "theorems", "order", "conversion", "error")


@dataclass(frozen=True)
class ReferenceTable:
    """Rows of exact parameters, `lower` <= the value <= `upper` rounded outwards; or an `error`."""

    expression: str
    ask: str
    digits: int
    axes: tuple[str, ...]
    rows: tuple[dict[str, str], ...]

    def to_csv(self) -> str:
        """The table as CSV (RFC 4180, lines ended by a line feed), a row for each point."""
        columns = [
            *self.axes,
            *(name for name in _RESULTS if any(name in row for row in self.rows)),
        ]
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    def to_json(self) -> str:
        """The table as JSON, numbers as text, with what computed it."""
        document = {
            "symacct": __version__,
            "expression": self.expression,
            "ask": self.ask,
            "digits": self.digits,
            "unit": "nats",
            "rounding": "lower is rounded down, upper is rounded up",
            "rows": list(self.rows),
        }
        return json.dumps(document, indent=1, ensure_ascii=False)


def reference_table(
    node: Node,
    grid: Mapping[str, Sequence[str]],
    ask: str = "rdp",
    digits: int = 50,
    conversion: str = BEST,
) -> ReferenceTable:
    """Certified values of `node` at every point of the grid.

    `grid` gives the values, as exact text, of each open parameter and of alpha, delta or epsilon,
    whichever `ask` ("rdp", "epsilon", "delta") is at. `conversion` is that of
    `Node.epsilon`. Raises DomainError and LimitError for a grid that does not fit or has a text
    that is no number; a point that has no answer is a row with an error.

    >>> from symacct import Gaussian
    >>> print(reference_table(Gaussian(3), {"alpha": ["2"]}, digits=5).to_csv(), end="")
    alpha,lower,upper,kind,theorems
    2,0.11111,0.11112,exact,
    """
    node = as_node(node, "reference_table")
    _check(node, grid, ask)
    accountant = Accountant(digits)
    names = tuple(name for name in grid if name != NEEDED[ask])
    points = list(itertools.product(*(grid[name] for name in names)))
    rows: list[dict[str, str]] = []
    with progress("certifying", len(points) * len(grid[NEEDED[ask]])) as advance:
        for values in points:
            fixed = dict(zip(names, values, strict=True))
            rows.extend(_curve(accountant, node, fixed, ask, grid[NEEDED[ask]], conversion))
            accountant.clear()  # another curve follows: what is remembered is of no more use
            advance(len(grid[NEEDED[ask]]))
    return ReferenceTable(str(node), ask, digits, (*names, NEEDED[ask]), tuple(rows))


def _check(node: Node, grid: Mapping[str, Sequence[str]], ask: str) -> None:
    if ask not in NEEDED:
        raise DomainError(f"ask: found {echo(ask)}, needed one of {', '.join(NEEDED)}")
    needed = {symbol.name for symbol in node.free_symbols} | {NEEDED[ask]}
    if set(grid) != needed or not all(grid.values()):
        names = ", ".join(sorted(grid)) or "nothing"
        raise DomainError(f"grid: found {names}, needed values of {', '.join(sorted(needed))}")
    limits.check("points", math.prod(map(len, grid.values())), "grid, points")
    for name, values in grid.items():
        for value in values:
            if not exact.is_infinite(value):
                exact.exact(value, f"grid, {name}")


def _curve(
    accountant: Accountant,
    node: Node,
    fixed: dict[str, str],
    ask: str,
    targets: Sequence[str],
    conversion: str,
) -> Iterator[dict[str, str]]:
    """The rows of one choice of parameters."""
    for target in targets:
        row = {**fixed, NEEDED[ask]: target}
        try:
            m = node.subs(fixed) if fixed else node
            yield row | _answer(accountant, m, ask, target, conversion)
        except SymacctError as error:
            yield row | {"error": f"{type(error).__name__}: {error}"}


def _answer(
    accountant: Accountant, m: Node, ask: str, target: str, conversion: str
) -> dict[str, str]:
    if ask == "rdp":
        return _ends(accountant.rdp(m, target))
    g: Guarantee = getattr(accountant, ask)(m, target, conversion)
    order = "inf" if g.alpha == math.inf else str(g.alpha)
    ends = _ends(g.asked) | ({} if g.needs_no_order else {"order": order})
    return ends | {"conversion": g.conversion}


def _ends(x: Enclosure) -> dict[str, str]:
    return {name: text for name, text in shown(x).items() if name in _RESULTS}
