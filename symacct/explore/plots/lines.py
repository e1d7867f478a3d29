"""Lines: what is drawn of a curve, each point a certified value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symacct.kernel.accountant import Accountant
from symacct.kernel.answer import Enclosure, rational_float
from symacct.kernel.arguments import By
from symacct.kernel.claims import Kind
from symacct.kernel.errors import DomainError, OrderError, SymacctError, echo
from symacct.kernel.exact import INFINITY, Order, exact, is_infinite
from symacct.kernel.node import Node

DIGITS = 8
_KINDS = {
    Kind.EXACT: "exact",
    Kind.UPPER: "upper bound",
    Kind.LOWER: "lower bound",
    Kind.NEITHER: "no bound",
}
# A line is as weak as the weakest of its points.
_WEAKEST = (Kind.NEITHER, Kind.LOWER, Kind.UPPER, Kind.EXACT)


@dataclass(frozen=True)
class PlotLine:
    """One curve of a picture: points (x, value), each on its sound side, or nan for a gap."""

    name: str
    kind: Kind
    certified: bool
    points: tuple[tuple[float, float], ...]
    #: Why the first gap is one.
    why: str = ""

    @property
    def drawn(self) -> list[tuple[float, float]]:
        """The points that have a value."""
        return [point for point in self.points if not math.isnan(point[1])]

    @property
    def label(self) -> str:
        """The name, with the kind of statement that the line is."""
        trust = "" if self.certified else ", not certified"
        return f"{self.name} ({_KINDS[self.kind]}{trust})"


def line(name: str, points: Iterable[tuple[Order, Enclosure | OrderError]]) -> PlotLine:
    """The line through certified values, with gaps where there is none or it is infinite."""
    found: list[tuple[float, float]] = []
    values, why = [], ""
    for x, value in points:
        place = _place(x)
        if isinstance(value, Enclosure) and value.upper < INFINITY:
            values.append(value)
            found.append((place, float(value)))
        else:
            why = why or (f"at {x} it is infinite" if isinstance(value, Enclosure) else str(value))
            found.append((place, math.nan))
    certified = all(value.certified for value in values)
    return PlotLine(
        name, _weakest(value.claim.kind for value in values), certified, tuple(found), why
    )


def _place(x: Order) -> float:
    try:
        return float(x)
    except OverflowError:
        raise DomainError(f"plot: found {echo(x)}, needed values below 1e308 on an axis") from None


def _weakest(kinds: Iterable[Kind]) -> Kind:
    found = set(kinds)
    return next((one for one in _WEAKEST if one in found), Kind.EXACT)


def of_orders(name: str, m: Node, orders: Sequence[Order], by: By = None) -> PlotLine:
    """ε over the orders, a gap where the theorem does not speak; its own error if it never does."""
    accountant = Accountant(DIGITS)
    points = [(alpha, _answered(accountant, m, alpha, by)) for alpha in orders]
    refused = [value for _, value in points if isinstance(value, OrderError)]
    if len(refused) == len(points):
        raise refused[-1]
    return line(name, points)


def _answered(accountant: Accountant, m: Node, alpha: Order, by: By) -> Enclosure | OrderError:
    try:
        return accountant.rdp(m, alpha, by=by)
    except OrderError as error:
        return error


def known_below(m: Node, orders: Sequence[Order]) -> PlotLine | None:
    """The best proved lower bound over the orders, where one is known at all."""
    accountant = Accountant(DIGITS)
    try:
        points = [(alpha, accountant.lower_bound(m, alpha)) for alpha in orders]
    except SymacctError:
        return None
    return replace(line("best lower bound", points), kind=Kind.LOWER)


def of_records(name: str, axis: str, records: Iterable[dict[str, Any]]) -> PlotLine:
    """The answers of a sweep over one parameter, gaps where there is none."""
    records = list(records)
    if any(axis not in record for record in records):
        raise DomainError(
            f"plot: found {name}, in which {axis} does not occur; needed it as a parameter"
        )
    asked = [record for record in records if not is_infinite(record[axis])]
    answered = [record for record in asked if "value" in record]
    errors = [f"at {axis} = {r[axis]}: {r['error']}" for r in asked if "error" in r]
    if errors and not answered:
        raise DomainError(f"plot: {name}: none of {len(asked)} points has an answer; {errors[0]}")
    finite = [record for record in answered if record["value"] != "inf"]
    infinite = [f"at {axis} = {r[axis]} it is infinite" for r in answered if r["value"] == "inf"]
    return PlotLine(
        name,
        _weakest(Kind(record["kind"]) for record in finite),
        all(record["certified"] for record in finite),
        tuple(sorted((float(exact(record[axis])), _drawn(record)) for record in asked)),
        next(iter([*errors, *infinite]), ""),
    )


def _drawn(record: dict[str, Any]) -> float:
    """The value as the float64 next to it on the safe side; NaN where there is none."""
    if record.get("value", "inf") == "inf":
        return math.nan
    exactly = Fraction(record["value"])
    below = Kind(record["kind"]) is Kind.LOWER
    return -rational_float(-exactly) if below else rational_float(exactly)
