"""The line protocol of docs/verification.md: asks and answers as one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from symacct import mechanisms
from symacct.kernel.exact import exact
from symacct.kernel.node import AskedValues, Mechanism

#: What a hello is asked by; 2 has batches, groups, sensitivities, streams, and noise, ρ and μ.
VERSION = 2
#: "noise" is the least that is enough for (ε, δ), "rate" and "runs" the most that it allows, "rho"
#: the least of zCDP, "mu" that of Gaussian DP, "advantage" an attacker's largest, δ(0).
KINDS = ("rdp", "epsilon", "delta", "noise", "rate", "runs", "rho", "mu", "advantage")
#: The kinds that are asked for an (ε, δ); those of which too much is what is unsound.
BUDGETED, LARGEST = ("noise", "rate", "runs"), ("rate", "runs")
#: The two ends of an (ε, δ) guarantee.
ENDS = ("epsilon", "delta")
#: The kinds that an accountant that goes through RDP converts it to.
CONVERTED = (*ENDS, *BUDGETED, "advantage")
#: The values of an ask's `sampling`, as the protocol has them.
SAMPLINGS = ("none", "poisson", "without_replacement")
#: In the third a record is zeroed out: for the noise on a sum. The fourth is its former name.
ADJACENCIES = ("add_remove", "replace_one", "zero_out", "replace_special")
#: The conversions that a hello may name.
CONVERSIONS = ("classic", "improved", "optimal", "none")
#: The mechanisms that may be asked about, by their names.
LEAVES: dict[str, type[Mechanism]] = {
    name: kind
    for name in mechanisms.__all__
    if vars(kind := getattr(mechanisms, name)).get("asked")
}
#: The values that are asked about each, as its class states them.
VALUES: dict[str, AskedValues] = {name: vars(kind)["asked"] for name, kind in LEAVES.items()}
#: The parameters of each mechanism, in the order of symacct's constructors.
MECHANISMS = {name: values.parameters for name, values in VALUES.items()}
#: Sums of what many steps bring in: a record is in one of them.
STREAMS = tuple(name for name, values in VALUES.items() if values.is_stream)
#: Noise whose query may move by another number than 1; on whole numbers by a whole one.
WITH_SENSITIVITY = tuple(
    name for name, kind in LEAVES.items() if kind.noise_scale and name not in STREAMS
)
#: Mechanisms of which "noise" may be asked: the first parameter is then left out.
CALIBRATED = tuple(name for name in WITH_SENSITIVITY if VALUES[name].is_scale)
_NUMBERS = ("float", "int", "numpy.float64", "numpy.int64", "numpy.float32", "Decimal")
#: The ways of building the same mathematics (docs/verification.md); an absent key means the first.
HOW = {
    "count": ("number", "repeat", "nested", "split"),
    "sequence": ("given", "reversed"),
    "nesting": ("flat", "left", "right", "calls"),
    "numbers": _NUMBERS,
    "alpha": (*_NUMBERS, "list", "array", "int_array"),
    "sharing": ("copied", "shared"),
    "after": ("fresh", "asked", "used", "twice"),
}
#: The field that an ask of each kind is `at`; ρ, μ and the advantage have none.
AT = {"rdp": "alpha", "epsilon": "delta", "delta": "epsilon"} | dict.fromkeys(BUDGETED, "delta")


#: A smaller δ may be refused: a float64 of size 1 has no such place, nor grids of losses the mass.
_NEXT_TO_NONE = Fraction(1, 10**15)


@dataclass(frozen=True)
class AskedPart:
    """A part of a question: `inner` runs of a mechanism, sampled, `count` times, as exact text.

    Without `parameters` it is what noise is asked of, with a `count` of 0 what runs are asked of,
    and sampled without `gamma` what a rate is asked of. A `strategy` has the rows of its matrix.
    """

    mechanism: str
    parameters: tuple[tuple[str, str], ...]
    sampling: str = "none"
    gamma: str | None = None
    count: int = 1
    inner: int = 1
    sensitivity: str = "1"
    strategy: tuple[tuple[str, ...], ...] = ()

    @property
    def rate(self) -> Fraction:
        """The sampling rate, 1 without sampling."""
        return Fraction(1 if self.gamma is None else self.gamma)

    @property
    def numbers(self) -> list[str]:
        """The texts of the parameters, the sensitivity and γ: no counts, no strategy."""
        values = (text for _, text in self.parameters)
        return [*values, self.sensitivity, *filter(None, [self.gamma])]

    @property
    def text(self) -> str:
        """The expression in symacct's notation, with a name in the place of what is asked for."""
        arguments = [value for _, value in self.parameters] or [MECHANISMS[self.mechanism][0]]
        rows = [f"[{', '.join(row)}]" for row in self.strategy]
        arguments = [*([f"[{', '.join(rows)}]"] if rows else []), *arguments]
        arguments += [self.sensitivity] if self.sensitivity != "1" else []
        inner = f"{self.mechanism}({', '.join(arguments)})"
        inner = inner if self.inner == 1 else f"{self.inner} * {inner}"
        if self.sampling == "poisson":
            inner = f"PoissonSubsample({inner}, {self.gamma or 'gamma'})"
        elif self.sampling == "without_replacement":
            inner = f"SubsampleWithoutReplacement({inner}, {self.gamma})"
        return inner if self.count == 1 else f"{self.count or 'n'} * {inner}"

    def fields(self) -> dict[str, Any]:
        """The part as the ask's fields, each number as its exact text."""
        row: dict[str, Any] = {"mechanism": self.mechanism, **dict(self.parameters)}
        row |= {"strategy": [list(line) for line in self.strategy]} if self.strategy else {}
        row |= {} if self.sensitivity == "1" else {"sensitivity": self.sensitivity}
        row["sampling"] = self.sampling
        row |= {} if self.gamma is None else {"gamma": self.gamma}
        row |= {} if self.inner == 1 else {"inner": self.inner}
        return row | ({"count": self.count} if self.count else {})

    def line(self) -> dict[str, Any]:
        """The part in the ask's line, beside each number the nearest float64."""
        row = _with_floats(self.fields())
        if self.sampling == "without_replacement":
            row |= {"sample_size": self.rate.numerator, "dataset_size": self.rate.denominator}
        return row

    def valued(self, value: str) -> AskedPart:
        """The part with another first parameter; unchanged where the noise is asked for."""
        if not self.parameters:
            return self
        (name, _), *rest = self.parameters
        return replace(self, parameters=((name, value), *rest))


@dataclass(frozen=True)
class Ask:
    """One question: `kind` of KINDS, `at` an order, δ or ε as exact text, "" for ρ and μ.

    The `orders` are those to be searched; of RDP they are asked at once, `at` one of them. The
    datasets differ in `group` records. Noise, rates and runs are asked for the ε that is `within`.
    """

    kind: str
    parts: tuple[AskedPart, ...]
    at: str
    adjacency: str = "add_remove"
    how: tuple[tuple[str, str], ...] = ()
    orders: tuple[str, ...] | None = None
    group: int = 1
    within: str | None = None

    @property
    def expression(self) -> str:
        """The expression in symacct's notation."""
        text = " + ".join(part.text for part in self.parts)
        return text if self.group == 1 else f"GroupPrivacy({text}, {self.group})"

    @property
    def batch(self) -> int:
        """How many orders of RDP are asked at once; 0 for one `at`, and for other questions."""
        return len(self.orders or ()) if self.kind == "rdp" else 0

    @property
    def is_at_an_end(self) -> bool:
        """Has it a number that many peers refuse: the rate 1, a p below ½, a δ next to none?"""
        rates = any(part.gamma is not None and part.rate == 1 for part in self.parts)
        lies = any(n == "p" and 2 * Fraction(x) < 1 for p in self.parts for n, x in p.parameters)
        given = AT.get(self.kind) == "delta" and Fraction(self.at) < _NEXT_TO_NONE
        return rates or lies or given

    def line(self, number: int) -> str:
        """The ask as one line of JSON, without its end, with this `id`."""
        row = {"id": number, "ask": self.kind, **_with_floats(self.parameters())}
        row |= {"expression": self.expression, "how": dict(self.how)}
        return json.dumps(row | {"parts": [part.line() for part in self.parts]})

    def with_part(self, i: int, part: AskedPart) -> Ask:
        """The question with another part in the place of the i-th."""
        return replace(self, parts=(*self.parts[:i], part, *self.parts[i + 1 :]))

    def built(self, **how: str) -> Ask:
        """This question built in these ways alone, by keys of HOW; in the usual way for none."""
        return replace(self, how=tuple(sorted(how.items())))

    def parameters(self) -> dict[str, Any]:
        """Lists the fields of the question but its kind, as exact text; `of` reads them back."""
        row: dict[str, Any] = {AT[self.kind]: self.at} if self.at else {}
        row |= {} if self.within is None else {"epsilon": self.within}
        row |= {} if self.group == 1 else {"group": self.group}
        row["adjacency"] = self.adjacency
        row["parts"] = [part.fields() for part in self.parts]
        if self.how:
            row["how"] = dict(self.how)
        if self.orders is not None:
            row["orders"] = list(self.orders)
        return row

    @classmethod
    def of(cls, kind: str, row: Mapping[str, Any]) -> Ask:
        """Reads a question from its `parameters`; Key-, Type-, Value- or AttributeError else."""
        parts = tuple(
            AskedPart(
                part["mechanism"],
                _parameters(kind, part),
                part["sampling"],
                _number(part["gamma"]) if "gamma" in part else None,
                0 if kind == "runs" else int(part["count"]),
                int(part.get("inner", 1)),
                _number(part.get("sensitivity", "1")),
                tuple(tuple(map(_number, line)) for line in part.get("strategy", ())),
            )
            for part in row["parts"]
        )
        orders = tuple(map(_number, row["orders"])) if "orders" in row else None
        how = tuple(sorted((str(key), str(way)) for key, way in row.get("how", {}).items()))
        at = _number(row[AT[kind]]) if kind in AT else ""
        within = _number(row["epsilon"]) if kind in BUDGETED else None
        group = int(row.get("group", 1))
        if kind == "rdp" and orders is not None and at not in orders:
            raise ValueError(f"alpha: found {at}, needed one of the orders")
        return cls(kind, parts, at, row["adjacency"], how, orders, group, within)


def _parameters(kind: str, row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The parameters of a part, but for the first where it is what is asked for."""
    return tuple(
        (name, _number(row[name]))
        for name in MECHANISMS[row["mechanism"]][1 if kind == "noise" else 0 :]
    )


def _number(text: str) -> str:
    """The text itself, which has to be a number: else DomainError, or TypeError for other types.

    LimitError for a number of absurd size.
    """
    if not isinstance(text, str):
        raise TypeError(f"number: found {text}, needed text")
    exact(text, "number")
    return text


#: The fields of an ask that hold no number.
_WORDS = ("mechanism", "sampling", "adjacency", "parts", "how")


def _with_floats(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, with the nearest float64 beside each number's exact text."""
    fields: dict[str, Any] = {}
    for name, value in row.items():
        fields[name] = value
        if name not in _WORDS and not isinstance(value, int):
            fields[f"{name}_float"] = _floats(value)
    return fields


def _floats(value: Any) -> Any:
    return [*map(_floats, value)] if isinstance(value, list) else float(Fraction(value))


@dataclass(frozen=True)
class Support:
    """A row of the hello's `supports`: what may be asked of one mechanism."""

    mechanism: str
    sampling: str = "none"
    adjacency: str = "add_remove"
    #: "real", or "integer" for whole orders from 2 on.
    orders: str = "real"
    asks: tuple[str, ...] = ("rdp",)
    #: The least and the largest order > 1 that may be asked, both included; None for no largest.
    min_order: Fraction = Fraction(1)
    max_order: Fraction | None = None
    #: May the order 1 be asked, Kullback–Leibler, whatever the three fields above say?
    order_one: bool = False
    #: May what is sampled be several runs of the mechanism?
    inner: bool = False
    #: May several orders be asked at once, may records be groups, may a query move by more than 1?
    batch: bool = False
    group: bool = False
    sensitivity: bool = False

    @property
    def ends(self) -> tuple[str, ...]:
        """Which of "epsilon" and "delta" may be asked, in the row's sequence."""
        return tuple(kind for kind in self.asks if kind in ENDS)

    def takes(self, alpha: Fraction) -> bool:
        """May this order be asked?"""
        if alpha == 1:
            return self.order_one
        if self.orders == "integer" and (alpha.denominator != 1 or alpha < 2):
            return False
        most = self.max_order
        return alpha > 1 and alpha >= self.min_order and (most is None or alpha <= most)

    def _takes_orders(self, ask: Ask) -> bool:
        """May an RDP be asked at its order, or at all of its orders at once?"""
        batch = ask.orders or ()
        return (self.batch or not batch) and all(map(self.takes, map(Fraction, (ask.at, *batch))))

    def offers(self, ask: Ask, part: AskedPart) -> bool:
        """Is this the row of this part of the question?"""
        return (
            self.mechanism == part.mechanism
            and self.sampling == part.sampling
            and self.adjacency == ask.adjacency
            and (part.inner == 1 or self.inner)
            and (part.sensitivity == "1" or self.sensitivity)
            and (ask.group == 1 or self.group)
            and ask.kind in self.asks
            and (ask.kind != "rdp" or self._takes_orders(ask))
        )


@dataclass(frozen=True)
class Hello:
    """Who the peer is and what it may be asked: the fields of docs/verification.md."""

    peer: str
    version: str
    supports: tuple[Support, ...]
    compose: bool = False
    conversion: str | None = None
    default_orders: tuple[Fraction, ...] | str | None = None
    order_grid: bool = False
    negative_epsilon: bool = False
    how: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def has_curves(self) -> bool:
        """May any RDP be asked?"""
        return any("rdp" in row.asks for row in self.supports)

    def offers(self, ask: Ask) -> bool:
        """Is each part in some row? Ways of building, `compose` and an ε < 0 are not looked at."""
        return all(any(row.offers(ask, part) for row in self.supports) for part in ask.parts)


@dataclass(frozen=True)
class Answer:
    """What came back: `value` (a Fraction, or a float for inf and nan) or what went wrong.

    Neither where it is `late`. The `seconds` are of work, as measured or fewer.
    """

    value: Fraction | float | None = None
    error: str | None = None
    unsupported: str | None = None
    late: bool = False
    #: Those of a batch of orders, one for each; `value` is that of the order asked `at`.
    values: tuple[Fraction | float, ...] = ()
    claims: str | None = None
    alpha: str | None = None
    reproduce: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def finite(self) -> Fraction | None:
        """The value where it is a finite number, else None."""
        return self.value if isinstance(self.value, Fraction) else None

    def of(self, ask: Ask) -> Answer:
        """The answer with the value of the order that the question is `at`, if it has several."""
        if ask.orders is None or not self.values:
            return self
        return replace(self, value=self.values[ask.orders.index(ask.at)])


#: A question and what came back.
Exchange = tuple[Ask, Answer]
#: The line that asks a peer for its hello.
HELLO_LINE = json.dumps({"id": 0, "ask": "hello", "protocol": VERSION})
