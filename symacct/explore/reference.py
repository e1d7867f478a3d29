"""Reference tables: certified values on a grid, both ends rounded outwards, for others' tests."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symacct.explore.sweeps import ParameterGrid, shown
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, Guarantee
from symacct.kernel.conversion import BEST
from symacct.kernel.deadline import progress
from symacct.kernel.errors import SymacctError
from symacct.kernel.node import Node, as_node
from symacct.version import __version__

#: The columns of a table after its axes are these, of which those without a value are left out.
_RESULTS = ("lower", "upper", "kind", "theorems", "order", "conversion", "error")


@dataclass(frozen=True)
class ReferenceTable:
    """Rows of exact parameters with `lower` <= the value <= `upper`; or an `error`.

    Both ends are decimals of `digits` significant digits, rounded outwards, in nats (δ has no
    unit). All cells are text.
    """

    expression: str
    ask: str
    digits: int
    axes: tuple[str, ...]
    rows: tuple[dict[str, str], ...]

    def to_csv(self) -> str:
        """Write the table as CSV (RFC 4180, lines ended by a line feed), a row for each point."""
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
        """Write the table as JSON, numbers as text, with the version that computed it."""
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
    """Compute certified values of `node` at every point of the grid.

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
    points, accountant = ParameterGrid(node, grid, ask), Accountant(digits)
    rows: list[dict[str, str]] = []
    former: dict[str, str] = {}
    with progress("certifying", len(points)) as advance:
        for point in range(len(points)):
            row = points.parameters(point)
            fixed = {name: text for name, text in row.items() if name != points.question}
            if fixed != former:  # another curve: what is remembered is of no more use
                accountant.clear()
                former = fixed
            rows.append(
                row | _answer(accountant, node, fixed, ask, row[points.question], conversion)
            )
            advance(1)
    return ReferenceTable(str(node), ask, digits, points.axes, tuple(rows))


def _answer(
    accountant: Accountant, node: Node, fixed: dict[str, str], ask: str, at: str, conversion: str
) -> dict[str, str]:
    """Compute both ends at one point, with the order and the conversion that gave them.

    `fixed` are the values of the free symbols, and `at` is α, δ or ε. Any error of ours is the
    answer, as text.
    """
    try:
        m = node.subs(fixed) if fixed else node
        if ask == "rdp":
            return _ends(accountant.rdp(m, at))
        g: Guarantee = getattr(accountant, ask)(m, at, conversion)
    except SymacctError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    order = {} if g.needs_no_order else {"order": "inf" if g.alpha == math.inf else str(g.alpha)}
    return {**_ends(g.asked), **order, "conversion": g.conversion}


def _ends(x: Enclosure) -> dict[str, str]:
    """Keep of what a sweep shows both ends, the kind and the theorems."""
    return {name: text for name, text in shown(x).items() if name in _RESULTS}
