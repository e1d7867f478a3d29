"""What is asked: the numbers and orders, what training asks, grids, structure."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import count, islice, product, zip_longest
from typing import Any, TypeVar

from symacct.kernel.answer import exact_decimal
from symacct.mechanisms.integer_noise import IntegerNoise
from symacct.verify.judging.bounds import nearest_float32
from symacct.verify.peer.protocol import (
    BUDGETED,
    ENDS,
    HOW,
    LEAVES,
    MECHANISMS,
    VALUES,
    Ask,
    AskedPart,
    Hello,
    Support,
)
from symacct.verify.reporting.defects import region

# --- the numbers that are asked about, from harmless to extreme

#: Whose parameter is the size of the noise.
SCALED = tuple(name for name, values in VALUES.items() if values.is_scale)
#: Noise on whole numbers, whose query moves by a whole one.
WHOLE = tuple(name for name, kind in LEAVES.items() if issubclass(kind, IntegerNoise))
#: The rows of a matrix.
STRATEGY = (("1", "0", "0"), ("0.5", "1", "0"), ("0.375", "0.5", "1"))
#: Sampling rates and orders of the grid, usual ones first and extreme ones between.
RATES = ["0.001", "0.1", "1e-9", "0.999", "0.01", "0.5", "1e-6", "1e-4", "0.9", "0.999999999"]
WHOLE_ORDERS = ["2", "8", "64", "1024", "3", "32", "256", "4096", "4", "16", "128", "512"]
FRACTIONAL_ORDERS = [
    "1.5", "2.5", "1.00000001", "10.5", "1000.5", "1.1", "33.3", "1.01", "1.0001", "1.999999",
    "2.000001", "3.7", "100.1", "4095.5",
]  # fmt: skip
#: Beyond what most tables have.
LARGE_ORDERS = ["20000", "5000", "100000", "10000.5"]

#: Where training lies: sampling rate, runs.
TYPICAL_RATES, TYPICAL_RUNS = (1e-4, 0.2), (1, 1e5)
TYPICAL_DELTAS = 1e-12, 0.01


_T = TypeVar("_T")
#: Sums for sampling without replacement are slow to certify beyond this order.
_WITHOUT_REPLACEMENT_ORDER = 512


@dataclass(frozen=True)
class Extent:
    """The numbers of questions of a run, whatever the time they take.

    The `seconds` of work are a limit for peers that are slow, at which a run ends unfinished. The
    `ends` are the questions by `covering` of ε and δ of each row; of other kinds it is a share.
    """

    parameters: int
    rates: int
    orders: int
    ends: int
    bases: int
    refinements: int
    simplified: int
    seconds: float
    #: Places of noise, rate and order at which every sampling is asked.
    places: int = 0
    #: Of every kind of question that the peer offers, so many are to be judged.
    per_kind: int = 0
    #: Questions by `covering` of RDP, of ε and of δ of compositions; of RDP of a row half as many
    #: more.
    covered: int = 0
    #: The most RDP of grids, and the most questions that make findings simple.
    points: int = 100_000
    probes: int = 100_000


#: 4,000 places leave no region out that spans an 11th of each of noise, rate and orders.
FULL = Extent(9, 10, 14, 160, 5, 24, 60, 600.0, 4000, 20, 200, 6000, 6000)
#: For every commit: some tens of seconds of work.
QUICK = Extent(4, 4, 5, 24, 2, 8, 60, 90.0, 200, 5, 26, 130, 800)


def part_of(row: Support, values: tuple[str, ...], gamma: str | None, runs: int = 1) -> AskedPart:
    """A part of the row's kind; where values are missing, the first parameter is asked for."""
    names = MECHANISMS[row.mechanism]
    named = tuple(zip(names[len(names) - len(values) :], values, strict=True))
    part = AskedPart(row.mechanism, named, row.sampling, gamma, runs)
    return replace(part, strategy=STRATEGY) if row.mechanism == "MatrixMechanism" else part


def points(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """RDP at the points of a grid, the rows taking turns: a run cut short has met them all."""
    chance = random.Random(seed)  # noqa: S311  # the same seed asks the same questions
    rows = [row for row in hello.supports if "rdp" in row.asks]
    sweeps = [_sweeps(list(grid(row, extent)), chance) for row in rows]
    yield from islice((ask for sweep in in_turn(sweeps) for ask in sweep), extent.points)


def _sweeps(asks: list[Ask], chance: random.Random) -> list[list[Ask]]:
    """Asks of the same parts together (their curve is remembered), the parts in random order."""
    groups: dict[tuple[AskedPart, ...], list[Ask]] = {}
    for ask in asks:
        groups.setdefault(ask.parts, []).append(ask)
    order = list(groups.values())
    chance.shuffle(order)
    return order


def in_turn(lists: list[list[_T]]) -> Iterator[_T]:
    """One of each in turn, until all are used up."""
    for row in zip_longest(*lists):
        yield from (x for x in row if x is not None)


def grid(row: Support, extent: Extent) -> Iterator[Ask]:
    """Every parameter with every rate and every order of the row."""
    first = VALUES[row.mechanism].values[: extent.parameters]
    rates: Iterable[str | None] = RATES[: extent.rates] if row.sampling != "none" else [None]
    orders = orders_of(row, extent.orders)
    for value, gamma, alpha in product(first, rates, orders):
        yield Ask("rdp", (part_of(row, _values(row, value), gamma),), alpha, row.adjacency)


def _values(row: Support, value: str) -> tuple[str, ...]:
    return (value, *VALUES[row.mechanism].rest)


def orders_of(row: Support, most: int) -> list[str]:
    """Whole orders and fractional ones that the row takes."""
    large = LARGE_ORDERS[: max(1, most // 3)]
    known = ["1", *WHOLE_ORDERS[:most], *FRACTIONAL_ORDERS[:most], *large]
    if row.sampling == "without_replacement":
        known = [alpha for alpha in known if Fraction(alpha) <= _WITHOUT_REPLACEMENT_ORDER]
    return [alpha for alpha in known if row.takes(Fraction(alpha))]


def random_order(row: Support, chance: random.Random) -> str:
    """Draws an order α with log(α − 1) uniform, or a whole order."""
    cap = _WITHOUT_REPLACEMENT_ORDER if row.sampling == "without_replacement" else 4096
    lowest = max(2, math.ceil(row.min_order))
    most = cap if row.max_order is None else min(cap, math.floor(row.max_order))
    if row.orders == "integer" or (chance.random() < 0.5 and lowest <= most):
        most = max(lowest, most)
        return str(min(most, max(lowest, round(float(_log_uniform(chance, 2, most))))))
    drawn = str(1 + Decimal(_log_uniform(chance, 1e-8, max(1, most - 1))))
    inside = max(Fraction(drawn), row.min_order)
    inside = inside if row.max_order is None else min(inside, row.max_order)
    return drawn if inside == Fraction(drawn) else str(inside)


def _log_uniform(chance: random.Random, low: float, high: float) -> str:
    return short(log_uniform(low, high, chance))


def log_uniform(low: float, high: float, chance: random.Random) -> float:
    """low^(1 − u) high^u for a uniform u"""
    return float(low * (high / low) ** chance.random())


def short(x: float) -> str:
    """x to four digits: what a reader can type; truth is enclosed for its nearest float too."""
    return f"{x:.4g}"


# --- ε(δ) and δ(ε)


#: Runs over (noise/rate)²: beyond it ε is in the hundreds, which nobody trains with.
_MOST_LOSS = 300
#: Where a row has no RDP: a grid of losses takes no second for what spends an ε of ten.
_LITTLE_LOSS = 3
#: What most accountants search when they are not told.
_TYPICAL_ORDERS = (*(str(Decimal(x) / 10) for x in range(11, 109, 4)), *map(str, range(12, 64)))


def typical(
    row: Support, chance: random.Random, kind: str | None = None, loss: float | None = None
) -> Ask:
    """Draws a question about a training run: ε(δ), δ(ε), or the noise, rate or runs for both."""
    kind = kind or chance.choice(row.ends)
    value = _log_uniform(chance, *VALUES[row.mechanism].typical)
    gamma = None if row.sampling == "none" else _log_uniform(chance, *TYPICAL_RATES)
    spread = float(value) / float(gamma or 1) if row.mechanism in SCALED else 1
    drawn = float(_log_uniform(chance, *TYPICAL_RUNS))
    most = loss or (_MOST_LOSS if "rdp" in row.asks else _LITTLE_LOSS)
    runs = max(1, round(min(drawn, most * spread**2)))
    delta = _log_uniform(chance, *TYPICAL_DELTAS)
    about = epsilon_of_zcdp(runs / (2 * spread**2), delta)
    part = part_of(row, _values(row, value), gamma, runs)
    if kind in BUDGETED:
        unknown = replace(part, **_UNKNOWN[kind])
        return Ask(kind, (unknown,), delta, row.adjacency, within=about)
    at = {"epsilon": delta, "delta": about}.get(kind, "")
    return Ask(kind, (part,), at, row.adjacency)


def epsilon_of_zcdp(rho: float, delta: str) -> str:
    """ρ + 2√(ρ log(1/δ)), an ε at which this ρ-zCDP leaves a δ of that size"""
    return short(rho + 2 * math.sqrt(-rho * math.log(float(delta))))


#: What is left out of the part that is asked about.
_UNKNOWN: dict[str, Any] = {
    "noise": {"parameters": ()}, "rate": {"gamma": None}, "runs": {"count": 0},
}  # fmt: skip


def training(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """Draws questions where training lies: RDP evenly spread, ε and δ of rows without RDP."""
    chance = random.Random(seed + 4)  # noqa: S311
    starts = [chance.random() for _ in _SPREAD]
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
    return [(start + i * step) % 1 for start, step in zip(starts, _SPREAD, strict=True)]


#: Where there is no rate to be asked of, so many times fewer fill the space.
_FEWER = 8
#: Multiples of these fill the unit cube evenly: 1/g, 1/g², 1/g³ for g⁴ = g + 1.
_SPREAD = (0.8191725133961645, 0.6710436067037893, 0.5497004779019703)


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
            (VALUES[row.mechanism].typical, TYPICAL_RATES), places, strict=False
        )
    )
    part = part_of(row, _values(row, noise), None if row.sampling == "none" else rate)
    return Ask("rdp", (part,), orders[int(places[2] * len(orders))], row.adjacency)


def _few_bits(x: float) -> str:
    """x to eight bits: a float64 and a float32 have it, so that its truth is one number."""
    mantissa, power = math.frexp(x)
    return str(Decimal(math.ldexp(round(mantissa * 2**8), power - 8)))


# --- structure


def compositions(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """Draws plain questions of rows and of compositions, which `variants` writes in other ways."""
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
    """Draws RDP of two or three unlike parts under one relation, the first of them twice or not.

    At the order 4, or 8 where their rows do not take 4; None where they take neither, or are alike.
    """
    curved = [row for row in hello.supports if "rdp" in row.asks]
    if not curved:
        return None
    relation = chance.choice(curved).adjacency
    rows = [row for row in curved if row.adjacency == relation]
    chosen = chance.sample(rows, 3) if len(rows) >= 3 else chance.choices(rows, k=3)
    parts = tuple(
        _base(row, "rdp", n, chance).parts[0] for row, n in zip(chosen, (3, 1, 2), strict=True)
    )
    distinct = tuple(dict.fromkeys(parts))
    if len(distinct) < 2:
        return None
    parts = distinct + distinct[:1] * chance.randrange(2)
    asks = (Ask("rdp", parts, alpha, relation) for alpha in ("4", "8"))
    return next(filter(hello.offers, asks), None)


def variants(hello: Hello, ask: Ask, sizes: Iterator[int]) -> Iterator[Ask]:
    """Writes the question in every other way that the peer knows, with numbers not used before."""
    for key, ways in hello.how.items():
        for way in ways:
            share = Decimal(0) if way in _WHOLE_TYPES else _SMALL_SHARE
            moved = _with_size(ask, sizes, share if key == "numbers" else Decimal(0))
            if key == "alpha" and ask.kind == "rdp":
                fractional = replace(moved, at=str(Decimal(moved.at) + share))
                moved = fractional if hello.offers(fractional) else moved
            if way != HOW[key][0] and _makes_sense(moved, key, way):
                yield moved.built(**{key: way})
                if key == "count" and ask.kind == "rdp" and len(moved.parts) == 1:
                    many = replace(moved.parts[0], count=_MANY_RUNS)
                    yield replace(moved, parts=(many,)).built(count=way)


#: Runs of a question that is composed one by one as well, as a list of few never ends early.
_MANY_RUNS = 1500
#: The types of whole numbers alone.
_WHOLE_TYPES = ("int", "numpy.int64", "int_array")
#: Above a whole number: 1/64, which every other type has exactly. To five decimals it is rounded.
_SMALL_SHARE = Decimal("0.015625")


def _with_size(ask: Ask, sizes: Iterator[int], share: Decimal) -> Ask:
    """The ask with parameters not asked before: the share above whole ones, where they may be."""

    def moved(part: AskedPart) -> AskedPart:
        if VALUES[part.mechanism].is_probability:
            return part.valued(str(1 - Decimal(1) / (4 + next(sizes) % 60)))
        size = next(sizes) if part.mechanism in SCALED else 1 + next(sizes) % 12
        return part.valued(str(size + share))

    return replace(ask, parts=tuple(map(moved, ask.parts)))


def whole_sizes() -> Iterator[int]:
    """Whole numbers from 3 to 63, in an order that repeats late."""
    for i in count():
        yield 3 + 23 * i % 61


def sensible(ask: Ask) -> bool:
    """Can the question be written in its way? A number that has to be rounded is another one."""
    return all(_makes_sense(ask, key, way) for key, way in ask.how)


def _makes_sense(ask: Ask, key: str, way: str) -> bool:
    """Is the way another one for this question, and are its numbers exact in it?"""
    if key == "alpha":
        return ask.kind == "rdp" and _can_be(way, ask.at)
    if key == "numbers" and way in _WHOLE_TYPES:
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
    if way in _WHOLE_TYPES:
        return number.denominator == 1
    return way != "numpy.float32" or nearest_float32(number) == number


def sums(ask: Ask) -> list[Ask]:
    """The single runs that a composition's RDP is the sum of."""
    return [replace(ask, parts=(replace(part, count=1),)) for part in ask.parts]


# --- the usual training runs, near twins, and what every kind is asked at least

#: Noise, sampling rate and steps of published training runs, and of tutorials; δ.
RUNS = (
    ("1.1", "0.0042666666666666667", 14063, "1e-5"),  # MNIST: 256 of 60,000, 60 epochs
    ("0.8", "0.004", 5000, "1e-6"),
    ("1.5", "0.01", 10000, "1e-5"),  # CIFAR-10: batches of 500, 100 epochs
    ("2", "0.1", 1000, "1e-5"),
    ("10", "0.2", 2000, "1e-6"),
    ("0.6", "0.001", 30000, "1e-8"),
    ("5", "0.05", 100000, "1e-8"),
    ("4", "0.32768", 2500, "1e-5"),  # batches of 16,384
)
#: Orders of the first RDP, and how many questions come first.
_USUAL_ORDERS = ("8", "2", "32", "3.5")
_EARLY = 20
#: Steps next to a number: to what a key of a memo may be rounded, or printed.
_NEXT_TO = ("1e-3", "1e-5", "1e-7", "1e-9")


def usual(hello: Hello, seed: int, per_kind: int = 0) -> Iterator[Ask]:
    """Draws twenty questions: ε and δ of training runs, and some RDP of the runs beside them.

    Of a peer without RDP, whose answers may take long, then so many of every kind at the `least`.
    """
    chance = random.Random(seed + 5)  # noqa: S311
    rows = [row for row in hello.supports if row.ends]
    by_row = [list(islice(_ends(row, chance), _EARLY)) for row in rows]
    curves = [list(_curve(row)) for row in rows if "rdp" in row.asks]
    early = list(in_turn(by_row))[: _EARLY - 4 * bool(curves)]
    yield from in_turn([early, list(in_turn(curves))[:4]])
    if not hello.has_curves:
        kinds = [of_kind(hello, row, kind, seed) for row in hello.supports for kind in row.asks]
        yield from in_turn([list(islice(asks, per_kind)) for asks in kinds])


def _ends(row: Support, chance: random.Random) -> Iterator[Ask]:
    """Draws ε or δ of training runs; of other mechanisms a loss of that size."""
    plain = row.mechanism == "Gaussian" and row.sampling != "none"
    for sigma, gamma, runs, delta in RUNS if plain else ():
        part = part_of(row, (sigma,), gamma, runs)
        if "epsilon" in row.asks:
            yield Ask("epsilon", (part,), delta, row.adjacency)
        if "delta" in row.asks:
            yield Ask("delta", (part,), "2", row.adjacency)
    while True:
        yield typical(row, chance)


def _curve(row: Support) -> Iterator[Ask]:
    sampled = row.sampling != "none"
    for alpha, (sigma, gamma, _, _) in zip(_USUAL_ORDERS, RUNS, strict=False):
        if row.takes(Fraction(alpha)) and row.mechanism == "Gaussian":
            part = part_of(row, (sigma,), gamma if sampled else None)
            yield Ask("rdp", (part,), alpha, row.adjacency)


def of_kind(hello: Hello, row: Support, kind: str, seed: int) -> Iterator[Ask]:
    """Draws questions of one kind, evenly spread over where training lies."""
    chance = random.Random(seed + 6)  # noqa: S311
    orders = default_orders(hello, row) or orders_of(row, 12)
    starts = [chance.random() for _ in _SPREAD]
    for i in count():
        if kind != "rdp":
            yield typical(row, chance, kind)
        elif orders:
            yield placed(row, orders, place(starts, i))
        else:
            return


def row_of(ask: Ask) -> object:
    """The row of a hello that a question of one part is about."""
    (part,) = ask.parts
    return part.mechanism, part.sampling, ask.adjacency


def of_every_kind(
    asks: Iterable[Ask], kind: Callable[[Ask], object] = region, many: bool = False
) -> list[Ask]:
    """The plain ones of one part or of `many`, one of each kind in turn, the shortest first."""
    groups: dict[object, list[Ask]] = {}
    plain = [ask for ask in asks if not ask.how and not ask.batch and (len(ask.parts) == 1) != many]
    for ask in sorted(plain, key=lambda ask: len(ask.expression) + len(ask.at)):
        groups.setdefault(kind(ask), []).append(ask)
    return [*in_turn([*groups.values()])]


def twins(ask: Ask) -> Iterator[Ask]:
    """Moves one number of the question a little at a time, each to where more is lost.

    A memo whose key is rounded answers them alike, and so too little.
    """
    (part,) = ask.parts
    for step in _NEXT_TO:
        for moved in _moved(part, Decimal(step)):
            yield replace(ask, parts=(moved,))
        if ask.at:
            larger = ask.kind == "rdp" or Fraction(ask.at) < 0  # a share of ε < 0 more is less
            yield replace(ask, at=_beside(ask.at, Decimal(step) if larger else -Decimal(step)))
    if part.count:
        yield replace(ask, parts=(replace(part, count=part.count + 1),))


#: What is put in a number's place, one at a time, where no memo may take it for the first.
_OTHERS: tuple[dict[str, Any], ...] = (
    {"inner": 2}, {"inner": 5}, {"sampling": "none", "gamma": None},
    {"sampling": "poisson"}, {"sampling": "without_replacement"},
)  # fmt: skip
_ADJACENCIES = ("add_remove", "replace_one", "replace_special")


def others(ask: Ask) -> Iterator[Ask]:
    """Replaces one field of the question at a time: a memo whose key lacks it answers alike.

    By a value far from its own, unlike `twins`; what the peer does not offer is among them.
    """
    if ask.within is not None:
        yield replace(ask, within=_beside(ask.within, Decimal("0.5")))
    for i, part in enumerate(ask.parts):
        changed = [
            replace(part, **variant) for variant in _OTHERS if "gamma" in variant or part.gamma
        ]
        changed.append(replace(part, sensitivity="3"))
        changed += [replace(part, count=3 * part.count + 1)] if part.count else []
        if part.gamma is not None and part.sampling == "poisson":
            changed.append(replace(part, gamma=_beside(part.gamma, Decimal("-0.5"))))
        for name, value in part.parameters[:1]:
            if name != "p":
                changed.append(part.valued(_beside(value, Decimal(1))))
        for variant in changed:
            if variant != part and (variant.sampling == "none" or variant.gamma is not None):
                yield ask.with_part(i, variant)
    yield from (replace(ask, group=n) for n in (2, 5) if n != ask.group)
    yield from (replace(ask, adjacency=a) for a in _ADJACENCIES if a != ask.adjacency)
    if ask.kind in ("epsilon", "delta"):
        yield replace(ask, at={"epsilon": "1e-9", "delta": "0.7"}[ask.kind])
    elif ask.kind == "rdp" and not ask.batch:
        yield replace(ask, at=str(2 * Fraction(ask.at).numerator))


def _moved(part: AskedPart, step: Decimal) -> Iterator[AskedPart]:
    """Less noise, and a higher rate."""
    for name, value in part.parameters[:1]:
        moved = _beside(value, -step if name in ("sigma", "b", "mu") else step)
        if name != "p" or Fraction(moved) < 1:
            yield part.valued(moved)
    fixed = part.sampling == "without_replacement"  # whose rate is a quotient of small numbers
    if part.gamma is not None and not fixed and Fraction(rate := _beside(part.gamma, step)) < 1:
        yield replace(part, gamma=rate)


def _beside(text: str, step: Decimal) -> str:
    """The number and a share of it more, to as many digits as a float64 has."""
    number = Decimal(text) if "/" not in text else Decimal(float(Fraction(text)))
    return f"{number * (1 + step):.15g}"
