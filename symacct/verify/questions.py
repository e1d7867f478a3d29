"""What is asked: grids that reach the edges, random points, ε(δ) and δ(ε), structure."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import count, product, zip_longest
from typing import TypeVar

from symacct.verify.protocol import HOW, MECHANISMS, Ask, Hello, Part, Support

_T = TypeVar("_T")
#: From harmless to extreme; the first of each are what `--quick` asks.
PARAMETERS = {
    "Gaussian": ["1", "5", "0.05", "10000", "50", "0.5", "2", "0.25", "1000"],
    "Laplace": ["1", "2", "0.05", "1000", "0.5", "20", "10000"],
    "RandomizedResponse": ["0.6", "0.9", "0.999999", "0.5001", "0.75"],
    "PureDP": ["1", "0.1", "20", "1e-6", "5"],
    "ZCDP": ["0.1", "1", "1e-8", "100"],
}
RATES = ["0.001", "0.1", "1e-9", "0.999", "0.01", "0.5", "1e-6", "1e-4", "0.9", "0.999999999"]
WHOLE_ORDERS = ["2", "8", "64", "1024", "3", "32", "256", "4096", "4", "16", "128", "512"]
FRACTIONAL_ORDERS = [
    "1.5", "2.5", "1.00000001", "10.5", "1000.5", "1.1", "33.3", "1.01", "1.0001", "1.999999",
    "2.000001", "3.7", "100.1", "4095.5",
]  # fmt: skip
COUNTS = (1, 1, 2, 10, 1000, 600_000)
DELTAS = ["1e-5", "1e-8", "0.001", "1e-12"]
EPSILONS = ["1", "0.1", "5"]
#: Orders to be searched, where the peer can be told: what it then answers is known exactly.
SHORT_GRID = ("2", "3", "5", "8", "16", "32", "64")
#: Sums for sampling without replacement are slow to certify beyond this order.
_WITHOUT_REPLACEMENT_ORDER = 512


@dataclass(frozen=True)
class Extent:
    """How much is asked, and the seconds it may take from the start of the peer on."""

    parameters: int
    rates: int
    orders: int
    random: int
    ends: int
    bases: int
    refinements: int
    simplified: int
    seconds: float


FULL = Extent(9, 10, 14, 1200, 60, 5, 24, 60, 220.0)
QUICK = Extent(4, 4, 5, 150, 10, 2, 8, 60, 17.0)


def part_of(row: Support, values: tuple[str, ...], gamma: str | None, runs: int = 1) -> Part:
    """A part of the row's kind."""
    named = tuple(zip(MECHANISMS[row.mechanism], values, strict=True))
    return Part(row.mechanism, named, row.sampling, gamma, runs)


def points(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """RDP at grid and random points, the rows taking turns: a run cut short has met them all."""
    chance = random.Random(seed)  # noqa: S311  # the same seed asks the same questions
    rows = [row for row in hello.supports if "rdp" in row.asks]
    sweeps = []
    for row in rows:
        single = [[random_point(row, chance)] for _ in range(extent.random // len(rows))]
        sweeps.append(_mixed_evenly(_sweeps(list(grid(row, extent)), chance), single))
    for sweep in _in_turn(sweeps):
        yield from sweep


def _sweeps(asks: list[Ask], chance: random.Random) -> list[list[Ask]]:
    """Asks of the same parts together (their curve is remembered), the parts in random order."""
    groups: dict[tuple[Part, ...], list[Ask]] = {}
    for ask in asks:
        groups.setdefault(ask.parts, []).append(ask)
    order = list(groups.values())
    chance.shuffle(order)
    return order


def _mixed_evenly(many: list[_T], few: list[_T]) -> list[_T]:
    """Both lists in one, each in its order, evenly spread."""
    places = [(i / max(1, len(one)), x) for one in (many, few) for i, x in enumerate(one)]
    return [x for _, x in sorted(places, key=lambda place: place[0])]


def _in_turn(lists: list[list[_T]]) -> Iterator[_T]:
    """One of each in turn, until all are used up."""
    for row in zip_longest(*lists):
        yield from (x for x in row if x is not None)


def grid(row: Support, extent: Extent) -> Iterator[Ask]:
    """Every parameter with every rate and every order of the row."""
    first = PARAMETERS[row.mechanism][: extent.parameters]
    rates: Iterable[str | None] = RATES[: extent.rates] if row.sampling != "none" else [None]
    orders = orders_of(row, extent.orders)
    for value, gamma, alpha in product(first, rates, orders):
        yield Ask("rdp", (part_of(row, _values(row, value), gamma),), alpha, row.adjacency)


def _values(row: Support, value: str) -> tuple[str, ...]:
    return (value,) if len(MECHANISMS[row.mechanism]) == 1 else (value, "0")


def orders_of(row: Support, most: int) -> list[str]:
    """Whole orders and fractional ones that the row takes."""
    known = [*WHOLE_ORDERS[:most], *FRACTIONAL_ORDERS[:most]]
    if row.sampling == "without_replacement":
        known = [alpha for alpha in known if Fraction(alpha) <= _WITHOUT_REPLACEMENT_ORDER]
    return [alpha for alpha in known if row.takes(Fraction(alpha))]


def random_point(row: Support, chance: random.Random) -> Ask:
    """A point drawn log-uniformly; its numbers have four digits."""
    values = {
        "Gaussian": lambda: _log_uniform(chance, 0.05, 1e4),
        "Laplace": lambda: _log_uniform(chance, 0.05, 1e4),
        "RandomizedResponse": lambda: str(1 - Decimal(_log_uniform(chance, 1e-6, 0.499))),
        "PureDP": lambda: _log_uniform(chance, 1e-6, 30),
        "ZCDP": lambda: _log_uniform(chance, 1e-8, 100),
    }[row.mechanism]()
    gamma = None if row.sampling == "none" else _random_rate(chance)
    part = part_of(row, _values(row, values), gamma, chance.choice(COUNTS))
    return Ask("rdp", (part,), random_order(row, chance), row.adjacency)


def random_order(row: Support, chance: random.Random) -> str:
    """α with log(α − 1) uniform, or a whole order."""
    cap = _WITHOUT_REPLACEMENT_ORDER if row.sampling == "without_replacement" else 4096
    least = max(2, math.ceil(row.min_order))
    most = cap if row.max_order is None else min(cap, math.floor(row.max_order))
    if row.orders == "integer" or (chance.random() < 0.5 and least <= most):
        most = max(least, most)
        return str(min(most, max(least, round(float(_log_uniform(chance, 2, most))))))
    drawn = str(1 + Decimal(_log_uniform(chance, 1e-8, max(1, most - 1))))
    inside = max(Fraction(drawn), row.min_order)
    inside = inside if row.max_order is None else min(inside, row.max_order)
    return drawn if inside == Fraction(drawn) else str(inside)


def _random_rate(chance: random.Random) -> str:
    small = _log_uniform(chance, 1e-9, 0.5)
    return str(1 - Decimal(small)) if chance.random() < 0.2 else small


def _log_uniform(chance: random.Random, low: float, high: float) -> str:
    return short(math.exp(chance.uniform(math.log(low), math.log(high))))


def short(x: float) -> str:
    """x to four digits: what a reader can type; truth is enclosed for its nearest float too."""
    return f"{x:.4g}"


# --- ε(δ) and δ(ε)


def ends(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """End-to-end questions: every row's mechanism, sampled and composed, at several δ and ε."""
    chance = random.Random(seed + 1)  # noqa: S311
    chosen = []
    for row in hello.supports:
        asks = [a for kind in ("epsilon", "delta") if kind in row.asks for a in _ends_of(row, kind)]
        chance.shuffle(asks)
        given = [replace(ask, orders=SHORT_GRID) for ask in asks[-2:] if hello.order_grid]
        usual = [typical(row, chance) for _ in range(extent.ends // 2) if _has_ends(row)]
        chosen.append(_mixed_evenly(usual, [*given, *asks[: extent.ends // 2]]))
    return _in_turn(chosen)


def _has_ends(row: Support) -> bool:
    return any(kind != "rdp" for kind in row.asks)


#: Where training lies: noise, sampling rate, runs.
_TYPICAL = {
    "Gaussian": (0.4, 20),
    "Laplace": (0.4, 20),
    "RandomizedResponse": (0.55, 0.95),
    "PureDP": (0.01, 2),
    "ZCDP": (1e-4, 1),
}
_TYPICAL_RATES, _TYPICAL_RUNS = (1e-4, 0.2), (1, 1e5)


def typical(row: Support, chance: random.Random) -> Ask:
    """ε(δ) or δ(ε) as it is asked of a training run, drawn log-uniformly."""
    kind = chance.choice([kind for kind in row.asks if kind != "rdp"])
    value = _log_uniform(chance, *_TYPICAL[row.mechanism])
    gamma = None if row.sampling == "none" else _log_uniform(chance, *_TYPICAL_RATES)
    runs = round(float(_log_uniform(chance, *_TYPICAL_RUNS)))
    at = chance.choice(DELTAS if kind == "epsilon" else EPSILONS)
    return Ask(kind, (part_of(row, _values(row, value), gamma, runs),), at, row.adjacency)


def _ends_of(row: Support, kind: str) -> Iterator[Ask]:
    rates: list[str | None] = ["0.01", "0.001", "0.1", "1e-6"] if row.sampling != "none" else [None]
    runs = (1, 10, 1000, 100_000)
    at = DELTAS if kind == "epsilon" else EPSILONS
    for value, gamma, n, given in product(PARAMETERS[row.mechanism][:5], rates, runs, at):
        yield Ask(kind, (part_of(row, _values(row, value), gamma, n),), given, row.adjacency)


# --- structure


def compositions(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """Plain questions of every row, and of compositions: what `variants` asks in other ways."""
    chance = random.Random(seed + 2)  # noqa: S311
    if hello.compose:
        mixed = (_mixed(hello, chance) for _ in range(3 * extent.bases))
        yield from (ask for ask in mixed if ask is not None)
    runs = (6, 12, 1, 2, 30)
    yield from _in_turn(
        [
            [
                _base(row, kind, runs[i % 5], chance)
                for i, kind in product(range(extent.bases), row.asks)
            ]
            for row in hello.supports
        ]
    )


def _base(row: Support, kind: str, runs: int, chance: random.Random) -> Ask:
    # Whole parameters first, so that ways of writing a whole number can be compared.
    value = chance.choice(["1", "2", "4"]) if row.mechanism != "RandomizedResponse" else "0.75"
    gamma = None if row.sampling == "none" else chance.choice(["0.5", "0.125", "0.0078125"])
    part = part_of(row, _values(row, value), gamma, runs)
    whole = [alpha for alpha in ("2", "3", "8", "16") if row.takes(Fraction(alpha))]
    at = {"rdp": chance.choice(whole or ["2"]), "epsilon": "1e-5", "delta": "1"}[kind]
    return Ask(kind, (part,), at, row.adjacency)


def _mixed(hello: Hello, chance: random.Random) -> Ask | None:
    """Two or three different parts under one relation."""
    asked = [row for row in hello.supports if "rdp" in row.asks]
    if not asked:
        return None
    relation = chance.choice(asked).adjacency
    rows = [row for row in asked if row.adjacency == relation]
    chosen = chance.sample(rows, 3) if len(rows) >= 3 else chance.choices(rows, k=3)
    parts = tuple(
        _base(row, "rdp", n, chance).parts[0] for row, n in zip(chosen, (3, 1, 2), strict=True)
    )
    distinct = tuple(dict.fromkeys(parts))
    if len(distinct) < 2:
        return None
    alpha = next((a for a in ("4", "8") if all(r.takes(Fraction(a)) for r in rows)), None)
    return Ask("rdp", distinct, alpha, relation) if alpha else None


def variants(hello: Hello, ask: Ask, sizes: Iterator[int]) -> Iterator[Ask]:
    """The question in every other way that the peer knows, with numbers not asked before."""
    for key, ways in hello.how.items():
        for way in ways:
            if way != HOW[key][0] and _makes_sense(ask, key, way):
                yield _with_size(ask, sizes).built(**{key: way})


def _with_size(ask: Ask, sizes: Iterator[int]) -> Ask:
    """The ask with whole numbers not asked before as parameters, where they may be whole."""

    def moved(part: Part) -> Part:
        if part.mechanism == "RandomizedResponse":
            return replace(part, parameters=(("p", str(1 - Decimal(1) / (4 + next(sizes) % 60))),))
        name, _ = part.parameters[0]
        size = next(sizes) if part.mechanism in ("Gaussian", "Laplace") else 1 + next(sizes) % 12
        return replace(part, parameters=((name, str(size)), *part.parameters[1:]))

    return replace(ask, parts=tuple(map(moved, ask.parts)))


def whole_sizes() -> Iterator[int]:
    """Whole numbers from 3 to 63, in an order that repeats late."""
    for i in count():
        yield 3 + 23 * i % 61


def _makes_sense(ask: Ask, key: str, way: str) -> bool:
    if key == "alpha":
        whole = Fraction(ask.at).denominator == 1
        return ask.kind == "rdp" and (whole or way not in ("int", "numpy.int64", "int_array"))
    if key == "numbers" and way in ("int", "numpy.int64"):
        texts = [text for part in ask.parts for _, text in part.parameters]
        return any(Fraction(text).denominator == 1 for text in texts)
    if key in ("sequence", "nesting"):
        return len(ask.parts) > 1
    if key in ("count", "sharing"):
        return any(part.count > 1 for part in ask.parts)
    return True


def sums(ask: Ask) -> list[Ask]:
    """The single runs that a composition's RDP is the sum of."""
    return [replace(ask, parts=(replace(part, count=1),)) for part in ask.parts]
