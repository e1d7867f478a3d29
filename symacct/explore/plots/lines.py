"""Lines: what is drawn of a curve, each point a certified value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symacct.accountant import Accountant
from symacct.claims import Kind
from symacct.enclosure import Enclosure
from symacct.errors import DomainError, OrderError, SymacctError
from symacct.exact import INFINITY, exact
from symacct.expr import Node

DIGITS = 8
_KINDS = {Kind.EXACT: "exact", Kind.UPPER: "upper bound", Kind.LOWER: "lower bound"}
# A line is as weak as the weakest of its points.
_WEAKEST = (Kind.LOWER, Kind.UPPER, Kind.EXACT)


@dataclass(frozen=True)
class Line:
    """One curve of a picture: points (x, value), the value rounded in its sound direction."""

    name: str
    kind: Kind
    certified: bool
    points: tuple[tuple[float, float], ...]

    @property
    def label(self) -> str:
        """The name, with the kind of statement that the line is."""
        trust = "" if self.certified else ", not certified"
        return f"{self.name} ({_KINDS[self.kind]}{trust})"


def line(name: str, points: Iterable[tuple[Any, Enclosure]]) -> Line:
    """The line through certified values; infinite ones are left out."""
    found = [(float(x), value) for x, value in points if value.upper < INFINITY]
    kinds = {value.claim.kind for _, value in found}
    kind = next((one for one in _WEAKEST if one in kinds), Kind.EXACT)
    certified = all(value.certified for _, value in found)
    return Line(name, kind, certified, tuple((x, float(value)) for x, value in found))


def of_orders(name: str, m: Node, orders: Sequence[Any], by: str | None = None) -> Line:
    """ε over the orders at which the theorem speaks; its own error where it never does."""
    accountant, points, refused = Accountant(DIGITS), [], None
    for alpha in orders:
        try:
            points.append((alpha, accountant.rdp(m, alpha, by=by)))
        except OrderError as error:
            refused = error
    if refused is not None and not points:
        raise refused
    return line(name, points)


def known_below(m: Node, orders: Sequence[Any]) -> Line | None:
    """The best proved lower bound over the orders, where one is known at all."""
    accountant = Accountant(DIGITS)
    try:
        points = [(alpha, accountant.lower_bound(m, alpha)) for alpha in orders]
    except SymacctError:
        return None
    return replace(line("best lower bound", points), kind=Kind.LOWER)


def of_records(name: str, axis: str, records: Iterable[dict[str, Any]]) -> Line:
    """The answers of a sweep over one of its parameters; points without an answer are left out."""
    answered = [record for record in records if "value" in record and record["value"] != "inf"]
    kinds = {Kind(record["kind"]) for record in answered}
    kind = next((one for one in _WEAKEST if one in kinds), Kind.EXACT)
    if any(axis not in record for record in answered):
        raise DomainError(f"plot: found {name} without {axis}, needed that parameter left open")
    points = sorted((float(exact(r[axis])), float(r["value"])) for r in answered)
    return Line(name, kind, all(record["certified"] for record in answered), tuple(points))
