"""Every theorem that speaks of an expression, side by side, lower bounds first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from symacct.accountant import Accountant
from symacct.claims import Kind
from symacct.enclosure import Enclosure
from symacct.errors import SymacctError
from symacct.exact import order
from symacct.expr import Node
from symacct.theory import Theorem, is_about, theorems

_PLACE = {Kind.LOWER: 0, Kind.EXACT: 1, Kind.UPPER: 2}


@dataclass(frozen=True)
class Row:
    """What one theorem says at each order: an Enclosure, or the reason why it says nothing."""

    theorem: Theorem | None
    name: str
    kind: Kind
    values: tuple[Enclosure | str, ...]

    @property
    def applies(self) -> bool:
        """Does it say something at any of the orders?"""
        return any(isinstance(value, Enclosure) for value in self.values)

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return {
            "theorem": self.name,
            "kind": str(self.kind),
            "source": str(self.theorem.source) if self.theorem else None,
            "values": [
                value.as_dict() if isinstance(value, Enclosure) else {"reason": value}
                for value in self.values
            ],
        }


def compare(
    m: Node, orders: Iterable[Any] | Any, digits: int = 10, accountant: Accountant | None = None
) -> list[Row]:
    """What each theorem about m's operations says at the given orders, from lower to upper.

    The first row is the default answer. Raises DomainError for orders below 1.
    """
    alphas = [order(alpha) for alpha in (orders if _is_many(orders) else [orders])]
    accountant = accountant or Accountant(digits=digits)
    default = Row(None, "default", m.claim.kind, tuple(_ask(accountant, m, a) for a in alphas))
    about = [t for t in theorems() if any(is_about(t, node) for node in m.walk())]
    # Composition and the like have one theorem each: nothing to compare.
    about = [t for t in about if sum(t.about == other.about for other in theorems()) > 1]
    rows = [
        Row(t, t.name, t.kind, tuple(_ask(accountant, m, alpha, t.name) for alpha in alphas))
        for t in about
    ]
    return [default, *sorted(rows, key=_rank)]


def _ask(accountant: Accountant, m: Node, alpha: Any, by: str | None = None) -> Enclosure | str:
    try:
        return accountant.rdp(m, alpha, by=by)
    except SymacctError as error:
        return str(error)


def _rank(row: Row) -> tuple[Any, ...]:
    """Rows that apply before those that do not; lower, exact, upper; smaller first."""
    values = [value.upper for value in row.values if isinstance(value, Enclosure)]
    return (not row.applies, _PLACE[row.kind], values[:1], row.name)


def _is_many(orders: Any) -> bool:
    return isinstance(orders, Iterable) and not isinstance(orders, str)
