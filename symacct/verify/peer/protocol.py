"""The line protocol of docs/protocol.md: asks and answers as one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

VERSION = 1
KINDS = ("rdp", "epsilon", "delta")
SAMPLINGS = ("none", "poisson", "without_replacement")
#: In the third a record is replaced with one that adds nothing: for the noise on a sum.
ADJACENCIES = ("add_remove", "replace_one", "replace_special")
CONVERSIONS = ("classic", "improved", "optimal", "none")
#: The parameters of each mechanism, in the order of symacct's constructors.
MECHANISMS = {
    "Gaussian": ("sigma",),
    "Laplace": ("b",),
    "RandomizedResponse": ("p",),
    "PureDP": ("epsilon",),
    "ZCDP": ("rho", "xi"),
    "DiscreteGaussian": ("sigma",),
    "DiscreteLaplace": ("b",),
    "Skellam": ("mu",),
}
_NUMBERS = ("float", "int", "numpy.float64", "numpy.int64", "numpy.float32", "Decimal")
#: The ways of building the same mathematics; the first of each is what an absent key means.
HOW = {
    "count": ("number", "repeat", "nested", "split"),
    "sequence": ("given", "reversed"),
    "nesting": ("flat", "left", "right", "calls"),
    "numbers": _NUMBERS,
    "alpha": (*_NUMBERS, "list", "array", "int_array"),
    "sharing": ("copied", "shared"),
    "after": ("fresh", "asked", "used", "twice"),
}
#: What an ask of each kind is at: its field.
AT = {"rdp": "alpha", "epsilon": "delta", "delta": "epsilon"}


@dataclass(frozen=True)
class AskedPart:
    """`inner` runs of one mechanism, sampled, `count` times; numbers are exact text."""

    mechanism: str
    parameters: tuple[tuple[str, str], ...]
    sampling: str = "none"
    gamma: str | None = None
    count: int = 1
    inner: int = 1

    @property
    def rate(self) -> Fraction:
        """The sampling rate, 1 without sampling."""
        return Fraction(1 if self.gamma is None else self.gamma)

    @property
    def numbers(self) -> list[str]:
        """The numbers that may be fractions."""
        return [*(text for _, text in self.parameters), *filter(None, [self.gamma])]

    @property
    def text(self) -> str:
        """The expression in symacct's notation."""
        inner = f"{self.mechanism}({', '.join(value for _, value in self.parameters)})"
        inner = inner if self.inner == 1 else f"{self.inner} * {inner}"
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
            row |= {"sample_size": self.rate.numerator, "dataset_size": self.rate.denominator}
        row |= {} if self.inner == 1 else {"inner": self.inner}
        return row | {"count": self.count}


@dataclass(frozen=True)
class Ask:
    """One question: `kind` of KINDS, `at` an order, δ or ε as exact text."""

    kind: str
    parts: tuple[AskedPart, ...]
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
        """This question built another way."""
        return replace(self, how=tuple(sorted(how.items())))

    def parameters(self) -> dict[str, Any]:
        """All that was asked, for a report."""
        row: dict[str, Any] = {AT[self.kind]: self.at, "adjacency": self.adjacency}
        row["parts"] = [
            {"mechanism": p.mechanism, **dict(p.parameters), "sampling": p.sampling}
            | ({} if p.gamma is None else {"gamma": p.gamma})
            | ({} if p.inner == 1 else {"inner": p.inner})
            | {"count": p.count}
            for p in self.parts
        ]
        if self.how:
            row["how"] = dict(self.how)
        if self.orders is not None:
            row["orders"] = list(self.orders)
        return row

    @classmethod
    def of(cls, kind: str, row: Mapping[str, Any]) -> Ask:
        """The question of which these are the `parameters`; KeyError or ValueError for no such."""
        parts = tuple(
            AskedPart(
                one["mechanism"],
                tuple((name, _number(one[name])) for name in MECHANISMS[one["mechanism"]]),
                one["sampling"],
                _number(one["gamma"]) if "gamma" in one else None,
                int(one["count"]),
                int(one.get("inner", 1)),
            )
            for one in row["parts"]
        )
        orders = tuple(map(_number, row["orders"])) if "orders" in row else None
        how = tuple(sorted((str(key), str(way)) for key, way in row.get("how", {}).items()))
        return cls(kind, parts, _number(row[AT[kind]]), row["adjacency"], how, orders)


def _number(text: str) -> str:
    Fraction(text)
    return text


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
    #: May the order 1 be asked, Kullback–Leibler?
    order_one: bool = False
    #: May what is sampled be several runs of the mechanism?
    inner: bool = False

    def takes(self, alpha: Fraction) -> bool:
        """May this order be asked?"""
        if alpha == 1:
            return self.order_one
        if self.orders == "integer" and (alpha.denominator != 1 or alpha < 2):
            return False
        most = self.max_order
        return alpha > 1 and alpha >= self.min_order and (most is None or alpha <= most)

    def offers(self, ask: Ask, part: AskedPart) -> bool:
        """Is it the row of this part of the question?"""
        return (
            self.mechanism == part.mechanism
            and self.sampling == part.sampling
            and self.adjacency == ask.adjacency
            and (part.inner == 1 or self.inner)
            and ask.kind in self.asks
            and (ask.kind != "rdp" or self.takes(Fraction(ask.at)))
        )


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
    negative_epsilon: bool = False
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


#: A question and what came back.
Asked = tuple[Ask, Answer]
HELLO_LINE = json.dumps({"id": 0, "ask": "hello", "protocol": VERSION})
