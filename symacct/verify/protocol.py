"""The line protocol of docs/protocol.md: asks and answers as one JSON object a line."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from symacct.errors import DomainError, LimitError, SymacctError
from symacct.exact import exact

VERSION = 1
KINDS = ("rdp", "epsilon", "delta")
SAMPLINGS = ("none", "poisson", "without_replacement")
ADJACENCIES = ("add_remove", "replace_one")
CONVERSIONS = ("classic", "improved", "optimal", "none")
#: The parameters of each mechanism, in the order of symacct's constructors.
MECHANISMS = {
    "Gaussian": ("sigma",),
    "Laplace": ("b",),
    "RandomizedResponse": ("p",),
    "PureDP": ("epsilon",),
    "ZCDP": ("rho", "xi"),
}
#: The ways of building the same mathematics; the first of each is what an absent key means.
HOW = {
    "count": ("number", "repeat", "nested", "split"),
    "sequence": ("given", "reversed"),
    "nesting": ("flat", "left", "right", "calls"),
    "numbers": ("float", "int", "numpy.float64", "numpy.int64"),
    "alpha": ("float", "int", "numpy.float64", "numpy.int64", "list", "array", "int_array"),
    "sharing": ("copied", "shared"),
    "after": ("fresh", "asked", "used", "twice"),
}
#: What an ask of each kind is at: its field.
AT = {"rdp": "alpha", "epsilon": "delta", "delta": "epsilon"}


class ProtocolError(SymacctError):
    """A peer's line is not what docs/protocol.md says."""


@dataclass(frozen=True)
class Part:
    """One mechanism, how it is sampled, and how many times; numbers are exact text."""

    mechanism: str
    parameters: tuple[tuple[str, str], ...]
    sampling: str = "none"
    gamma: str | None = None
    count: int = 1

    @property
    def text(self) -> str:
        """The expression in symacct's notation."""
        inner = f"{self.mechanism}({', '.join(value for _, value in self.parameters)})"
        if self.sampling == "poisson":
            inner = f"PoissonSubsample({inner}, {self.gamma})"
        elif self.sampling == "without_replacement":
            inner = f"SubsampleWithoutReplacement({inner}, {self.gamma})"
        return inner if self.count == 1 else f"{self.count} * {inner}"

    def fields(self) -> dict[str, Any]:
        """The part as the ask's fields."""
        row: dict[str, Any] = {"mechanism": self.mechanism}
        for name, value in self.parameters:
            row |= number_fields(name, value)
        row["sampling"] = self.sampling
        if self.gamma is not None:
            row |= number_fields("gamma", self.gamma)
        if self.sampling == "without_replacement":
            gamma = Fraction(self.gamma)  # type: ignore[arg-type]
            row |= {"sample_size": gamma.numerator, "dataset_size": gamma.denominator}
        return row | {"count": self.count}


@dataclass(frozen=True)
class Ask:
    """One question: `kind` of KINDS, `at` an order, δ or ε as exact text."""

    kind: str
    parts: tuple[Part, ...]
    at: str
    adjacency: str = "add_remove"
    how: tuple[tuple[str, str], ...] = ()
    orders: tuple[str, ...] | None = None

    @property
    def expression(self) -> str:
        """The expression in symacct's notation."""
        return " + ".join(part.text for part in self.parts)

    def line(self, number: int) -> str:
        """The ask as one line of JSON."""
        row: dict[str, Any] = {"id": number, "ask": self.kind}
        row |= number_fields(AT[self.kind], self.at)
        row |= {
            "expression": self.expression,
            "parts": [part.fields() for part in self.parts],
            "adjacency": self.adjacency,
            "how": dict(self.how),
        }
        if self.orders is not None:
            row["orders"] = list(self.orders)
            row["orders_float"] = [float(Fraction(order)) for order in self.orders]
        return json.dumps(row)

    def built(self, **how: str) -> Ask:
        """The same question built another way."""
        return replace(self, how=tuple(sorted(how.items())))

    def parameters(self) -> dict[str, Any]:
        """All that was asked, for a report."""
        row: dict[str, Any] = {AT[self.kind]: self.at, "adjacency": self.adjacency}
        row["parts"] = [
            {"mechanism": p.mechanism, **dict(p.parameters), "sampling": p.sampling}
            | ({} if p.gamma is None else {"gamma": p.gamma})
            | {"count": p.count}
            for p in self.parts
        ]
        if self.how:
            row["how"] = dict(self.how)
        if self.orders is not None:
            row["orders"] = list(self.orders)
        return row


def number_fields(name: str, text: str) -> dict[str, Any]:
    """A number as its exact text and as the nearest float64."""
    return {name: text, f"{name}_float": float(Fraction(text))}


@dataclass(frozen=True)
class Support:
    """A row of the hello's `supports`: what may be asked of one mechanism."""

    mechanism: str
    sampling: str = "none"
    adjacency: str = "add_remove"
    orders: str = "real"
    asks: tuple[str, ...] = ("rdp",)
    min_order: Fraction = Fraction(1)
    max_order: Fraction | None = None

    def takes(self, alpha: Fraction) -> bool:
        """May this order be asked?"""
        if self.orders == "integer" and (alpha.denominator != 1 or alpha < 2):
            return False
        most = self.max_order
        return alpha > 1 and alpha >= self.min_order and (most is None or alpha <= most)


@dataclass(frozen=True)
class Hello:
    """Who the peer is and what it may be asked."""

    peer: str
    version: str
    supports: tuple[Support, ...]
    compose: bool = False
    conversion: str | None = None
    default_orders: tuple[Fraction, ...] | str | None = None
    order_grid: bool = False
    how: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What came back: `value` (a Fraction, or a float for inf and nan) or what went wrong."""

    value: Fraction | float | None = None
    error: str | None = None
    unsupported: str | None = None
    late: bool = False
    claims: str | None = None
    alpha: str | None = None
    reproduce: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def finite(self) -> Fraction | None:
        """The value where it is a finite number."""
        return self.value if isinstance(self.value, Fraction) else None


HELLO_LINE = json.dumps({"id": 0, "ask": "hello", "protocol": VERSION})


def read_object(line: bytes) -> dict[str, Any] | None:
    """The JSON object on a line, its decimals as text; None for anything else."""
    try:
        row = json.loads(line.decode(), parse_float=str)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def read_hello(row: dict[str, Any]) -> Hello:
    """The Hello in an answer; ProtocolError for one that is not."""
    if "error" in row:
        raise ProtocolError(
            f"the peer answered the hello with an error: {_shown(row['error'])}; "
            "needed its packages installed: use --python PATH of an interpreter that has them, "
            "or --install"
        )
    supports = row.get("supports")
    if not isinstance(row.get("peer"), str) or not isinstance(supports, list) or not supports:
        raise _wrong_hello(row, "'peer' (text) and 'supports' (a list)")
    return Hello(
        peer=printable(row["peer"], 80),
        version=printable(str(row.get("version", "unknown")), 80),
        supports=tuple(_support(item) for item in supports),
        compose=row.get("compose") is True,
        conversion=_one_of(row, "conversion", CONVERSIONS) if "conversion" in row else None,
        default_orders=_orders(row.get("default_orders")),
        order_grid=row.get("order_grid") is True,
        how=_how(row.get("how", {})),
    )


def read_answer(row: dict[str, Any], seconds: float) -> Answer:
    """The Answer in a row; ProtocolError for one without a value, an error or unsupported."""
    given = [key for key in ("value", "error", "unsupported") if key in row]
    if len(given) != 1:
        raise ProtocolError(f"found {_shown(row)}, needed one of 'value', 'error', 'unsupported'")
    found: dict[str, Any] = {
        "claims": _text(row.get("claims")),
        "alpha": None if row.get("alpha") is None else _shown(row["alpha"]),
        "reproduce": _lines(row.get("reproduce", [])),
        "seconds": _seconds(row.get("seconds"), seconds),
    }
    what = given[0]
    found[what] = read_number(row[what]) if what == "value" else _shown(row[what])
    return Answer(**found)


def read_number(value: Any) -> Fraction | float:
    """A number, or text that is one, exactly; inf and nan as floats."""
    if isinstance(value, bool) or not isinstance(value, int | str | float):
        raise ProtocolError(f"found the value {_shown(value)}, needed a number")
    if isinstance(value, float):  # json reads NaN and Infinity as floats
        return value
    if isinstance(value, str) and value.strip().lower().lstrip("+-") in ("inf", "nan", "infinity"):
        return float(value)
    try:
        number = exact(value, "value")
    except (DomainError, LimitError) as error:
        raise ProtocolError(f"found the value {_shown(value)}, needed a number") from error
    assert isinstance(number, Fraction)  # noqa: S101  # text and int are rational
    return number


def _support(item: Any) -> Support:
    if not isinstance(item, dict) or item.get("mechanism") not in MECHANISMS:
        raise _wrong_hello(item, f"a 'mechanism' of {', '.join(MECHANISMS)}")
    asks = item.get("asks", ["rdp"])
    if not isinstance(asks, list) or not asks or not set(map(str, asks)) <= set(KINDS):
        raise _wrong_hello(item, f"'asks', a list of {', '.join(KINDS)}")
    least, most = item.get("min_order", 1), item.get("max_order")
    return Support(
        mechanism=item["mechanism"],
        sampling=_one_of(item, "sampling", SAMPLINGS),
        adjacency=_one_of(item, "adjacency", ADJACENCIES),
        orders=_one_of(item, "orders", ("real", "integer")),
        asks=tuple(asks),
        min_order=_finite(least),
        max_order=None if most is None else _finite(most),
    )


def _one_of(row: dict[str, Any], key: str, known: tuple[str, ...]) -> str:
    value = row.get(key, known[0])
    if value not in known:
        raise _wrong_hello(row, f"{key!r} to be one of {', '.join(known)}")
    return str(value)


def _orders(value: Any) -> tuple[Fraction, ...] | str | None:
    if value is None or value == "real":
        return value
    if not isinstance(value, list) or not 0 < len(value) <= 100_000:
        raise _wrong_hello(value, "'default_orders', a list of orders or \"real\"")
    return tuple(_finite(order) for order in value)


def _finite(value: Any) -> Fraction:
    number = read_number(value)
    if not isinstance(number, Fraction):
        raise _wrong_hello(value, "a finite number")
    return number


def _how(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise _wrong_hello(value, "'how', an object")
    return {
        key: tuple(way for way in HOW[key] if way in ways)
        for key, ways in value.items()
        if key in HOW and isinstance(ways, list)
    }


def _wrong_hello(found: Any, needed: str) -> ProtocolError:
    return ProtocolError(
        f"the peer's hello has {_shown(found)}; needed {needed}; see docs/protocol.md"
    )


def printable(text: str, most: int = 300) -> str:
    """A peer's text for a terminal or a page: no control characters, bounded."""
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in shown)


def _shown(value: Any) -> str:
    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _text(value: Any) -> str | None:
    return printable(value, 200) if isinstance(value, str) else None


def _lines(value: Any) -> tuple[str, ...]:
    lines = value if isinstance(value, list) else [value]
    return tuple(printable(line, 2000) for line in lines[:60] if isinstance(line, str))


def _seconds(value: Any, measured: float) -> float:
    try:
        stated = float(value)
    except (TypeError, ValueError):
        return measured
    return stated if 0 <= stated <= measured and math.isfinite(stated) else measured
