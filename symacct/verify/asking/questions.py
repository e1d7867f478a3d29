"""What is asked: grids that reach the edges, random points, ε(δ) and δ(ε), structure."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import count, islice, product, zip_longest
from typing import Any, TypeVar

from symacct.kernel.answer import exact_decimal
from symacct.verify.asking.values import (
    DELTAS,
    EPSILONS,
    FRACTIONAL_GRID,
    FRACTIONAL_ORDERS,
    INNER,
    LARGE_ORDERS,
    MOST_RUNS,
    NEGATIVE,
    RATES,
    SCALED,
    SHORT_GRID,
    STRATEGY,
    TYPICAL_DELTAS,
    TYPICAL_RATES,
    TYPICAL_RUNS,
    WHOLE_ORDERS,
)
from symacct.verify.peer.protocol import (
    ASKED,
    BUDGETED,
    ENDS,
    HOW,
    MECHANISMS,
    Ask,
    AskedPart,
    Hello,
    Support,
)

_T = TypeVar("_T")
_FLOAT32 = struct.Struct("f")
#: Sums for sampling without replacement are slow to certify beyond this order.
_WITHOUT_REPLACEMENT_ORDER = 512


@dataclass(frozen=True)
class Extent:
    """How much is asked: numbers of questions, whatever the time they take.

    The `seconds` of work are a limit for peers that are slow, at which a run ends unfinished.
    """

    parameters: int
    rates: int
    orders: int
    random: int
    ends: int
    bases: int
    refinements: int
    simplified: int
    seconds: float
    #: Places of noise, rate and order at which every sampling is asked.
    places: int = 0
    #: Of every kind of question that the peer offers, so many are to be judged.
    least: int = 0
    #: Questions by `covering` of RDP, of each row; of other kinds a share of it. ε and δ of
    #: compositions are asked as often as RDP, or some way in which parts differ is left out.
    covered: int = 0
    #: The most RDP of grids and at random, and the most questions that make findings simple.
    points: int = 100_000
    probes: int = 100_000


#: 4,000 places leave no region out that spans an 11th of each of noise, rate and orders.
FULL = Extent(9, 10, 14, 1200, 60, 5, 24, 60, 600.0, 4000, 20, 200, 6000, 6000)
QUICK = Extent(4, 4, 5, 150, 16, 2, 8, 60, 90.0, 200, 5, 26, 200, 800)


def part_of(row: Support, values: tuple[str, ...], gamma: str | None, runs: int = 1) -> AskedPart:
    """A part of the row's kind."""
    named = tuple(zip(MECHANISMS[row.mechanism], values, strict=True))
    part = AskedPart(row.mechanism, named, row.sampling, gamma, runs)
    return replace(part, strategy=STRATEGY) if row.mechanism == "MatrixMechanism" else part


def points(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """RDP at grid and random points, the rows taking turns: a run cut short has met them all."""
    chance = random.Random(seed)  # noqa: S311  # the same seed asks the same questions
    rows = [row for row in hello.supports if "rdp" in row.asks]
    sweeps = []
    for row in rows:
        single = [[random_point(row, chance)] for _ in range(extent.random // len(rows))]
        sweeps.append(mixed_evenly(_sweeps(list(grid(row, extent)), chance), single))
    yield from islice((ask for sweep in in_turn(sweeps) for ask in sweep), extent.points)


def _sweeps(asks: list[Ask], chance: random.Random) -> list[list[Ask]]:
    """Asks of the same parts together (their curve is remembered), the parts in random order."""
    groups: dict[tuple[AskedPart, ...], list[Ask]] = {}
    for ask in asks:
        groups.setdefault(ask.parts, []).append(ask)
    order = list(groups.values())
    chance.shuffle(order)
    return order


def mixed_evenly(many: list[_T], few: list[_T]) -> list[_T]:
    """Both lists in one, each in its order, evenly spread."""
    places = [(i / max(1, len(one)), x) for one in (many, few) for i, x in enumerate(one)]
    return [x for _, x in sorted(places, key=lambda place: place[0])]


def in_turn(lists: list[list[_T]]) -> Iterator[_T]:
    """One of each in turn, until all are used up."""
    for row in zip_longest(*lists):
        yield from (x for x in row if x is not None)


def grid(row: Support, extent: Extent) -> Iterator[Ask]:
    """Every parameter with every rate and every order of the row."""
    first = ASKED[row.mechanism].values[: extent.parameters]
    rates: Iterable[str | None] = RATES[: extent.rates] if row.sampling != "none" else [None]
    orders = orders_of(row, extent.orders)
    for value, gamma, alpha in product(first, rates, orders):
        yield Ask("rdp", (part_of(row, _values(row, value), gamma),), alpha, row.adjacency)


def _values(row: Support, value: str) -> tuple[str, ...]:
    return (value, *ASKED[row.mechanism].rest)


def orders_of(row: Support, most: int) -> list[str]:
    """Whole orders and fractional ones that the row takes."""
    large = LARGE_ORDERS[: max(1, most // 3)]
    known = ["1", *WHOLE_ORDERS[:most], *FRACTIONAL_ORDERS[:most], *large]
    if row.sampling == "without_replacement":
        known = [alpha for alpha in known if Fraction(alpha) <= _WITHOUT_REPLACEMENT_ORDER]
    return [alpha for alpha in known if row.takes(Fraction(alpha))]


def random_point(row: Support, chance: random.Random) -> Ask:
    """A point drawn log-uniformly; its numbers have four digits."""
    asked = ASKED[row.mechanism]
    value = _log_uniform(chance, *asked.drawn)
    value = str(1 - Decimal(value)) if asked.is_probability else value
    gamma = None if row.sampling == "none" else _random_rate(chance)
    # One run, or log-uniformly many: no residue and no size is left out.
    runs = chance.choice((1, round(MOST_RUNS ** chance.random())))
    part = part_of(row, _values(row, value), gamma, runs)
    inner = chance.choice(INNER) if row.inner else 1
    return Ask("rdp", (replace(part, inner=inner),), random_order(row, chance), row.adjacency)


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
    small = _log_uniform(chance, 1e-12, 0.5)
    return str(1 - Decimal(small)) if chance.random() < 0.2 else small


def _log_uniform(chance: random.Random, low: float, high: float) -> str:
    return _between(low, high, chance.random())


def _between(low: float, high: float, share: float) -> str:
    """low^(1 − share) high^share"""
    return short(low * (high / low) ** share)


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
        only = "rdp" not in row.asks
        most, extreme = (_ONLY_ENDS * extent.ends, extent.ends) if only else [extent.ends] * 2
        special = [_harmless(row), _over_grids(hello, asks), _below_zero(hello, row)]
        usual = [typical(row, chance) for _ in range(most // 2) if row.ends]
        first = list(in_turn([*map(list, special)]))[: extent.ends // 2]
        chosen.append([*first, *mixed_evenly(usual, asks[: extreme // 2])])
    return in_turn(chosen)


#: So much more is asked of what has no RDP to be asked of.
_ONLY_ENDS = 8


def _harmless(row: Support) -> Iterator[Ask]:
    """Next to no loss at all, where logarithms of what is next to 1 are wanted."""
    rate = None if row.sampling == "none" else "1e-9"
    part = part_of(row, _values(row, ASKED[row.mechanism].harmless), rate)
    for kind, at in (("delta", "0.1"), ("epsilon", "0.01")):
        if kind in row.asks:
            yield Ask(kind, (part,), at, row.adjacency)


def _over_grids(hello: Hello, asks: list[Ask]) -> Iterator[Ask]:
    """Some of the asks, over orders that are given: whole ones, and fractional ones."""
    if hello.order_grid:
        for ask, grid in zip(asks[-4:], [FRACTIONAL_GRID, SHORT_GRID] * 2, strict=False):
            yield replace(ask, orders=grid)


def _below_zero(hello: Hello, row: Support) -> Iterator[Ask]:
    """δ(ε) at ε < 0."""
    if hello.negative_epsilon and "delta" in row.asks:
        rate = None if row.sampling == "none" else "0.01"
        part = part_of(row, _values(row, ASKED[row.mechanism].values[0]), rate, 10)
        yield from (Ask("delta", (part,), epsilon, row.adjacency) for epsilon in NEGATIVE)


#: Runs over (noise/rate)²: beyond it ε is in the hundreds, which nobody trains with.
_MOST_LOSS = 300
#: Where a row has no RDP: a grid of losses takes no second for what spends an ε of ten.
_LITTLE_LOSS = 3
#: What most accountants search when they are not told.
_TYPICAL_ORDERS = (*(str(Decimal(x) / 10) for x in range(11, 109, 4)), *map(str, range(12, 64)))


def typical(
    row: Support, chance: random.Random, kind: str | None = None, loss: float | None = None
) -> Ask:
    """ε(δ) or δ(ε) as it is asked of a training run, drawn log-uniformly; noise or μ of it."""
    kind = kind or chance.choice(row.ends)
    value = _log_uniform(chance, *ASKED[row.mechanism].typical)
    gamma = None if row.sampling == "none" else _log_uniform(chance, *TYPICAL_RATES)
    spread = float(value) / float(gamma or 1) if row.mechanism in SCALED else 1
    drawn = float(_log_uniform(chance, *TYPICAL_RUNS))
    most = loss or (_MOST_LOSS if "rdp" in row.asks else _LITTLE_LOSS)
    runs = max(1, round(min(drawn, most * spread**2)))
    delta = _log_uniform(chance, *TYPICAL_DELTAS)
    # ρ + 2√(ρ log(1/δ)): an ε at which this zCDP leaves a δ of that size, neither 0 nor 1.
    rho = runs / (2 * spread**2)
    about = short(rho + 2 * math.sqrt(-rho * math.log(float(delta))))
    part = part_of(row, _values(row, value), gamma, runs)
    if kind in BUDGETED:
        unknown = replace(part, **_UNKNOWN[kind])
        return Ask(kind, (unknown,), delta, row.adjacency, within=about)
    at = {"epsilon": delta, "delta": about}.get(kind, "")
    return Ask(kind, (part,), at, row.adjacency)


#: What is left out of the part that is asked about.
_UNKNOWN: dict[str, Any] = {
    "noise": {"parameters": ()}, "rate": {"gamma": None}, "runs": {"count": 0},
}  # fmt: skip


def training(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """Where training lies: RDP evenly spread, so that no region is left out for long; else ends."""
    chance = random.Random(seed + 4)  # noqa: S311
    starts = [chance.random() for _ in _STEPS]
    rows = [row for row in hello.supports if "rdp" in row.asks]
    searched = [(row, orders) for row in rows if (orders := default_orders(hello, row))]
    ends_only = [row for row in hello.supports if row.ends and "rdp" not in row.asks]
    for i in range(extent.places):
        for row, orders in searched:
            if row.sampling != "none" or i % _FEWER == 0:
                yield placed(row, orders, place(starts, i))
        yield from (typical(row, chance, loss=_MOST_LOSS) for row in ends_only)


def place(starts: list[float], i: int) -> list[float]:
    """The i-th of evenly spread places in the unit cube of noise, rate and order."""
    return [(start + i * step) % 1 for start, step in zip(starts, _STEPS, strict=True)]


#: Where there is no rate to be asked of, so many times fewer fill the space.
_FEWER = 8
#: Multiples of these fill the unit cube evenly: 1/g, 1/g², 1/g³ for g⁴ = g + 1.
_STEPS = (0.8191725133961645, 0.6710436067037893, 0.5497004779019703)


def default_orders(hello: Hello, row: Support) -> list[str]:
    """The orders that the peer searches when it is not told, or most others do."""
    given = hello.default_orders
    named = (
        (exact_decimal(order) or str(order) for order in given)
        if isinstance(given, tuple)
        else _TYPICAL_ORDERS
    )
    return [order for order in named if row.takes(Fraction(order))]


def placed(row: Support, orders: list[str], places: list[float]) -> Ask:
    """The question at a place."""
    noise, rate = (
        _few_bits(low * (high / low) ** share)
        for (low, high), share in zip(
            (ASKED[row.mechanism].typical, TYPICAL_RATES), places, strict=False
        )
    )
    part = part_of(row, _values(row, noise), None if row.sampling == "none" else rate)
    return Ask("rdp", (part,), orders[int(places[2] * len(orders))], row.adjacency)


def _few_bits(x: float) -> str:
    """x to eight bits: a float64 and a float32 have it, so that its truth is one number."""
    mantissa, power = math.frexp(x)
    return str(Decimal(math.ldexp(round(mantissa * 2**8), power - 8)))


def _ends_of(row: Support, kind: str) -> Iterator[Ask]:
    rates: list[str | None] = ["0.01", "0.001", "0.1", "1e-6"] if row.sampling != "none" else [None]
    runs = (1, 10, 1000, 100_000)
    at = DELTAS if kind == "epsilon" else EPSILONS
    for value, gamma, n, given in product(ASKED[row.mechanism].values[:5], rates, runs, at):
        yield Ask(kind, (part_of(row, _values(row, value), gamma, n),), given, row.adjacency)


# --- structure


def compositions(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """Plain questions of every row, and of compositions: what `variants` asks in other ways."""
    chance = random.Random(seed + 2)  # noqa: S311
    mixed = [_mixed(hello, chance) for _ in range(3 * extent.bases)] if hello.compose else []
    runs = (6, 12, 1, 2, 30)
    single = [
        [
            _base(row, kind, runs[i % 5], chance)
            for i, kind in product(range(extent.bases), row.asks)
            if kind in ("rdp", *ENDS)
        ]
        for row in hello.supports
    ]
    # In turn: of a composition no part is run often enough for all ways of counting to differ.
    yield from in_turn([[ask for ask in mixed if ask is not None], [*in_turn(single)]])


def _base(row: Support, kind: str, runs: int, chance: random.Random) -> Ask:
    # Whole parameters first, so that ways of writing a whole number can be compared.
    value = chance.choice(["1", "2", "4"]) if row.mechanism != "RandomizedResponse" else "0.75"
    gamma = None if row.sampling == "none" else chance.choice(["0.5", "0.125", "0.0078125"])
    part = replace(part_of(row, _values(row, value), gamma, runs), inner=3 if row.inner else 1)
    whole = [alpha for alpha in ("2", "3", "8", "16") if row.takes(Fraction(alpha))]
    at = {"rdp": chance.choice(whole or ["2"]), "epsilon": "1e-5", "delta": "1"}[kind]
    return Ask(kind, (part,), at, row.adjacency)


def _mixed(hello: Hello, chance: random.Random) -> Ask | None:
    """Two or three parts under one relation, the first of them twice or not."""
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
    again = distinct[:1] * chance.randrange(2)
    alpha = next((a for a in ("4", "8") if all(r.takes(Fraction(a)) for r in rows)), None)
    return Ask("rdp", (*distinct, *again), alpha, relation) if alpha else None


def variants(hello: Hello, ask: Ask, sizes: Iterator[int]) -> Iterator[Ask]:
    """The question in every other way that the peer knows, with numbers not asked before."""
    for key, ways in hello.how.items():
        for way in ways:
            moved = _with_size(ask, sizes)
            if way != HOW[key][0] and _makes_sense(moved, key, way):
                yield moved.built(**{key: way})


def _with_size(ask: Ask, sizes: Iterator[int]) -> Ask:
    """The ask with whole numbers not asked before as parameters, where they may be whole."""

    def moved(part: AskedPart) -> AskedPart:
        if part.mechanism == "RandomizedResponse":
            return replace(part, parameters=(("p", str(1 - Decimal(1) / (4 + next(sizes) % 60))),))
        name, _ = part.parameters[0]
        size = next(sizes) if part.mechanism in SCALED else 1 + next(sizes) % 12
        return replace(part, parameters=((name, str(size)), *part.parameters[1:]))

    return replace(ask, parts=tuple(map(moved, ask.parts)))


def whole_sizes() -> Iterator[int]:
    """Whole numbers from 3 to 63, in an order that repeats late."""
    for i in count():
        yield 3 + 23 * i % 61


def sensible(ask: Ask) -> bool:
    """Can the question be written in its way? A number that has to be rounded is another one."""
    return all(_makes_sense(ask, key, way) for key, way in ask.how)


def _makes_sense(ask: Ask, key: str, way: str) -> bool:
    if key == "alpha":
        return ask.kind == "rdp" and _can_be(way, ask.at)
    if key == "numbers" and way in ("int", "numpy.int64"):
        return any(_can_be(way, text) for part in ask.parts for _, text in part.parameters)
    if key == "numbers":
        return all(_can_be(way, text) for part in ask.parts for text in part.numbers)
    if key in ("sequence", "nesting"):
        return len(ask.parts) > 1
    if key in ("count", "sharing"):
        return any(part.count > 1 for part in ask.parts)
    return True


def _can_be(way: str, text: str) -> bool:
    """Is this number one of that type? What is rounded is another question."""
    number = Fraction(text)
    if way in ("int", "numpy.int64", "int_array"):
        return number.denominator == 1
    return way != "numpy.float32" or Fraction(_FLOAT32.unpack(_FLOAT32.pack(number))[0]) == number


def sums(ask: Ask) -> list[Ask]:
    """The single runs that a composition's RDP is the sum of."""
    return [replace(ask, parts=(replace(part, count=1),)) for part in ask.parts]
