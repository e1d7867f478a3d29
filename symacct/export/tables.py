"""Tables of certified values for papers, in LaTeX and CSV, each number sound as printed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from symacct.export.description import describe, filled, neighbours, written
from symacct.export.latex.sentences import plain_tex
from symacct.kernel import parameters
from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, safe
from symacct.kernel.claims import Kind
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, OrderError, SymacctError, echo
from symacct.kernel.exact import INFINITY, Numeric, Order, order, text
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import By
from symacct.kernel.theorem_registry import all_named

#: This matches a decimal as it is printed: its whole part, decimals, sign and exponent.
_NUMBER = re.compile(r"(\d+)(?:\.(\d+))?(?:e(-?)(\d+))?")
#: Headers that are formulas, in LaTeX.
_FORMULAS = {"ε(α)": r"$\epsilon(\alpha)$"}
#: A cell shows this where a theorem says nothing at an order.
NOTHING = "--"
#: These texts in a column of numbers are none, and are written so in LaTeX.
_CELLS = {"inf": r"{$\infty$}", NOTHING: "{--}"}


@dataclass(frozen=True)
class PrintedValue:
    """A value and how it is printed: rounded to some digits in its sound direction."""

    value: Enclosure
    text: str


@dataclass(frozen=True)
class Column:
    """One bound at every order of a table; None where a theorem says nothing."""

    heading: str
    cells: tuple[PrintedValue | None, ...]


@dataclass(frozen=True)
class Table:
    """ε(α) of m at some orders, a column for each bound, in nats."""

    orders: tuple[Order, ...]
    columns: tuple[Column, ...]
    m: Node

    def csv(self) -> str:
        """Write CSV with a line for each order and bound that has a value, below a header."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["alpha", "bound", "epsilon", "rounded", "kind", "theorems", "certified"])
        for column in self.columns:
            for at, cell in zip(self.orders, column.cells, strict=True):
                if cell is not None:
                    claim = cell.value.claim
                    rounding = "down" if claim.kind is Kind.LOWER else "up"
                    theorems = " ".join(claim.theorems)
                    row = [column.heading, cell.text, rounding, claim.kind, theorems]
                    alpha = "inf" if at == INFINITY else text(Fraction(at))
                    writer.writerow([alpha, *row, cell.value.certified])
        return out.getvalue()

    def latex(self, caption: str | None = None, label: str | None = None) -> str:
        """Write a table environment for booktabs and siunitx.

        `caption` is plain text, by default `caption()`. Raises DomainError for a `label` that is
        none.
        """
        cells = [_alike([c.text if c else NOTHING for c in one.cells]) for one in self.columns]
        formats = "".join(f" S[table-format={siunitx_format(column)}]" for column in cells)
        names = (_FORMULAS.get(one.heading) or plain_tex(one.heading) for one in self.columns)
        heads = ["{$\\alpha$}", *(f"{{{name}}}" for name in names)]
        shown = written("latex", self.caption) if caption is None else plain_tex(caption)
        rows = [
            [_order_tex(at), *(_CELLS.get(cell, cell) for cell in row)]
            for at, *row in zip(self.orders, *cells, strict=True)
        ]
        return booktabs(heads, rows, shown, f"l{formats}", label)

    def caption(self) -> str:
        """Say how to read the numbers: of what they are, in nats, and how they are rounded."""
        values = [cell.value for column in self.columns for cell in column.cells if cell]
        lower = [value.claim.kind is Kind.LOWER for value in values]
        up = "up, that of lower bounds down" if any(lower) else "up"
        is_certified = all(value.certified for value in values)
        trust = (
            ""
            if is_certified
            else (" Not certified: digits of a function or of an unproved statement, on trust.")
        )
        return filled("Rényi-DP bounds $ε(α)$ in nats of ") + (
            f"{describe(self.m)}, where {neighbours(self.m.claim.adjacency, self.m)}, the last "
            f"digit rounded {'down' if all(lower) else up}.{trust}"
        )


@progress("table")
def table(m: Node, alphas: Iterable[Numeric], digits: int = 6, by: Sequence[By] = ()) -> Table:
    """Compute ε(α) of `m` at the orders `alphas`, a column for each theorem of `by`.

    Without `by` it is the default answer. Numbers are rounded to `digits` significant digits. A
    theorem that says nothing at an order leaves its cell open. Raises as `rdp` does, also for a
    theorem that says nothing at any order, and DomainError where there is no order.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> print(table(PoissonSubsample(Gaussian(5), "1/1000"), [2, 8], digits=4).csv())
    alpha,bound,epsilon,rounded,kind,theorems,certified
    2,ε(α),4.082e-8,up,exact,ZW19-T8,True
    8,ε(α),1.633e-7,up,exact,ZW19-T8,True
    <BLANKLINE>
    """
    as_node(m, "expression")
    orders = tuple(map(order, parameters.members(alphas, "table", "[2, 4, 8]", "outcomes")))
    if not orders:
        raise DomainError("table: found no order, needed one at least, such as [2, 4, 8]")
    names = parameters.members(by, "table, by", "['ZW19-T5']")
    # A few digits more than printed: what is printed is rounded once.
    accountant = Accountant(parameters.digits(digits) + 3)
    columns = []
    theorems = [tuple(theorem.name for theorem in all_named(pinned_name)) for pinned_name in names]
    for pinned in theorems or [()]:
        cells = tuple(_cell(accountant, m, at, pinned, digits) for at in orders)
        if not any(cells):
            accountant.rdp(m, orders[0], by=pinned)  # raises why there is nothing
        columns.append(Column(" + ".join(pinned) or "ε(α)", cells))
    return Table(orders, tuple(columns), m)


def _cell(accountant: Accountant, m: Node, at: Order, by: By, digits: int) -> PrintedValue | None:
    """Compute one cell; None where the theorems of `by` say nothing at this order."""
    try:
        value = accountant.rdp(m, at, by=by)
    except OrderError:
        if not by:
            raise
        return None  # the theorem says nothing at this order
    return PrintedValue(value, as_printed(value, m, at, by, digits))


def as_printed(value: Enclosure, m: Node, at: Order, by: By, digits: int) -> str:
    """Write ε(α) rounded to its safe side, and in full where it is a decimal of so few digits."""
    return in_full(value, m, at, by, digits).rounded(digits)


def in_full(value: Enclosure, m: Node, at: Order, by: By, digits: int) -> Enclosure:
    """Return ε(α) known to be the fraction that its formula gives, where rounding would hide that.

    The formula is asked only where the two ends of the value round to different numbers. Otherwise,
    and where it is no fraction, the value is returned as it is.
    """
    other = safe(value.upper, value.lower, value.claim.kind, digits)
    if value.rounded(digits) == other:
        return value
    from symacct.export.formula import formula  # which opens SymPy

    try:
        written_out = formula(m, at, by)
    except SymacctError:
        return value
    is_rational = written_out.is_Rational  # which balls do not show
    exactly = Fraction(int(written_out.p), int(written_out.q)) if is_rational else None
    return value.known_to_be(exactly)


def booktabs(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str,
    columns: str = "",
    label: str | None = None,
) -> str:
    """Write a table environment for booktabs; the heads, the cells and the caption are LaTeX.

    `columns` is the preamble that aligns them, by default an r for each. Raises DomainError for a
    `label` with other signs than letters, digits, and : . _ -.
    """
    if label is not None and not re.fullmatch(r"[A-Za-z0-9:._-]+", str(label)):
        raise DomainError(f"label: found {echo(label)}, needed letters, digits, and : . _ -")
    lines = [
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption{{{caption}}}",
        *([] if label is None else [rf"\label{{{label}}}"]),
        rf"\begin{{tabular}}{{{columns or 'r' * len(heads)}}}",
        r"\toprule",
        rf"{' & '.join(heads)} \\",
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def siunitx_format(cells: Iterable[str]) -> str:
    """Write the table-format of siunitx that is wide enough for all cells that are numbers."""
    matches = [match for cell in cells if (match := _NUMBER.fullmatch(cell))]
    whole = max((len(m[1]) for m in matches), default=1)
    decimals = max((len(m[2] or "") for m in matches), default=0)
    exponent = max((len(m[4] or "") for m in matches), default=0)
    sign = "-" if any(m[3] for m in matches) else ""
    return f"{whole}.{decimals}" + (f"e{sign}{exponent}" if exponent else "")


def _alike(cells: Sequence[str]) -> list[str]:
    """Write all numbers with a power of ten where one has it, or begins with 0.000."""
    numbers = [cell for cell in cells if _NUMBER.fullmatch(cell)]
    if not any("e" in number or number.startswith("0.000") for number in numbers):
        return list(cells)
    decimals = {cell: Decimal(cell) for cell in numbers}
    powers = {cell: f"{x:e}".replace("+", "") if x else "0" for cell, x in decimals.items()}
    return [powers.get(cell, cell) for cell in cells]


def _order_tex(at: Order) -> str:
    """Write an order for a cell of LaTeX."""
    if at == INFINITY:
        return r"$\infty$"
    shown = text(Fraction(at))
    return f"${shown}$" if "/" in shown else shown
