"""What is asked: the numbers and orders, what training asks, grids, structure."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import count, groupby, islice, product, zip_longest
from operator import attrgetter
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

#: Mechanisms whose first parameter is the scale of the noise: the larger it is, the less is lost.
SCALED = tuple(name for name, values in VALUES.items() if values.is_scale)
#: Noise on whole numbers, whose sensitivity is a whole one.
WHOLE = tuple(name for name, kind in LEAVES.items() if issubclass(kind, IntegerNoise))
#: The rows of the matrix of every MatrixMechanism, but for those of `covering`.
STRATEGY = (("1", "0", "0"), ("0.5", "1", "0"), ("0.375", "0.5", "1"))
#: Sampling rates and orders of the grid, of which an Extent takes the first: usual ones come early.
RATES = ["0.001", "0.1", "1e-9", "0.999", "0.01", "0.5", "1e-6", "1e-4", "0.9", "0.999999999"]
WHOLE_ORDERS = ["2", "8", "64", "1024", "3", "32", "256", "4096", "4", "16", "128", "512"]
FRACTIONAL_ORDERS = [
    "1.5", "2.5", "1.00000001", "10.5", "1000.5", "1.1", "33.3", "1.01", "1.0001", "1.999999",
    "2.000001", "3.7", "100.1", "4095.5",
]  # fmt: skip
#: Orders beyond what most tables have: a third as many are asked as of the lists above.
LARGE_ORDERS = ["20000", "5000", "100000", "10000.5"]

#: The ends between which training is drawn, log-uniformly: sampling rate, runs, δ.
TYPICAL_RATES, TYPICAL_RUNS = (1e-4, 0.2), (1, 1e5)
TYPICAL_DELTAS = 1e-12, 0.01


_T = TypeVar("_T")
#: The largest order asked of sampling without replacement, beyond which sums take long to certify.
_WITHOUT_REPLACEMENT_ORDER = 512


@dataclass(frozen=True)
class Extent:
    """The numbers of questions of a run, whatever the time they take: more find more."""

    #: How many of the listed first parameters, of RATES and of each list of orders `grid` takes.
    parameters: int
    rates: int
    orders: int
    #: Questions by `covering` of ε and as many of δ of each row; of other kinds than RDP a share.
    ends: int
    #: Questions of each row and kind that are written in other ways; 3 times as many compositions.
    bases: int
    #: Questions near the worst of each of the first twelve kinds of finding.
    refinements: int
    #: The most kinds of finding whose question is made simple.
    simplified: int
    #: Seconds of work, of symacct and the peer, at which a run ends unfinished: for slow peers.
    seconds: float
    #: Places of noise, rate and order at which every sampling is asked.
    places: int = 0
    #: Of every kind of question that the peer offers, so many are to be judged, or no verdict is.
    per_kind: int = 0
    #: Questions by `covering` of RDP, of ε and of δ of compositions; of RDP of a row half as many
    #: more.
    covered: int = 0
    #: The most RDP of all grids together; the most answers before the last finding is made simple.
    points: int = 100_000
    probes: int = 100_000


#: 4,000 places leave no region out that spans an 11th of each of noise, rate and orders.
FULL = Extent(9, 10, 14, 160, 5, 24, 60, 600.0, 4000, 20, 200, 6000, 6000)
#: For every commit: some tens of seconds of work.
QUICK = Extent(4, 4, 5, 24, 2, 8, 60, 90.0, 200, 5, 26, 130, 800)


def part_of(row: Support, values: tuple[str, ...], gamma: str | None, runs: int = 1) -> AskedPart:
    """A part of the row's kind; `values` are of its last parameters, so that the first may lack."""
    names = MECHANISMS[row.mechanism]
    named = tuple(zip(names[len(names) - len(values) :], values, strict=True))
    part = AskedPart(row.mechanism, named, row.sampling, gamma, runs)
    return replace(part, strategy=STRATEGY) if row.mechanism == "MatrixMechanism" else part


def points(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """RDP of each row's `grid`, shuffled by parts, rows in turn: a short run has met them all."""
    chance = random.Random(seed)  # noqa: S311  # the same seed asks the same questions
    rows = [row for row in hello.supports if "rdp" in row.asks]
    by_parts = attrgetter("parts")  # asks of the same parts together: their curve is remembered
    sweeps = [[[*asks] for _, asks in groupby(grid(row, extent), by_parts)] for row in rows]
    for sweep in sweeps:
        chance.shuffle(sweep)
    yield from islice((ask for sweep in in_turn(sweeps) for ask in sweep), extent.points)


def in_turn(lists: list[list[_T]]) -> Iterator[_T]:
    """The first of each list, then the second of each, until all are used up; None is left out."""
    for row in zip_longest(*lists):
        yield from (x for x in row if x is not None)


def grid(row: Support, extent: Extent) -> Iterator[Ask]:
    """RDP of one run at all combinations of the first parameters, rates and orders of the lists."""
    first = VALUES[row.mechanism].values[: extent.parameters]
    rates: Iterable[str | None] = RATES[: extent.rates] if row.sampling != "none" else [None]
    orders = orders_of(row, extent.orders)
    for value, gamma, alpha in product(first, rates, orders):
        yield Ask("rdp", (part_of(row, _values(row, value), gamma),), alpha, row.adjacency)


def _values(row: Support, value: str) -> tuple[str, ...]:
    """The row's parameters: this first one, and the others where no level gives them."""
    return (value, *VALUES[row.mechanism].rest)


def orders_of(row: Support, most: int) -> list[str]:
    """Of 1 and the first `most` whole, fractional, (a third) large orders those the row takes."""
    large = LARGE_ORDERS[: max(1, most // 3)]
    known = ["1", *WHOLE_ORDERS[:most], *FRACTIONAL_ORDERS[:most], *large]
    if row.sampling == "without_replacement":
        known = [alpha for alpha in known if Fraction(alpha) <= _WITHOUT_REPLACEMENT_ORDER]
    return [alpha for alpha in known if row.takes(Fraction(alpha))]


def random_order(row: Support, chance: random.Random) -> str:
    """Draws an order α > 1 that the row takes: log(α − 1) uniform, or (half of them) a whole order.

    From 1 + 10⁻⁸ to 4096 (512 without replacement), or at the end of the row that is next to that.
    """
    cap = _WITHOUT_REPLACEMENT_ORDER if row.sampling == "without_replacement" else 4096
    lowest = max(2, math.ceil(row.min_order))
    most = cap if row.max_order is None else min(cap, math.floor(row.max_order))
    if row.orders == "integer" or (chance.random() < 0.5 and lowest <= most):
        most = max(lowest, most)
        return str(min(most, max(lowest, round(float(short(log_uniform(2, most, chance)))))))
    drawn = str(1 + Decimal(short(log_uniform(1e-8, max(1, most - 1), chance))))
    inside = max(Fraction(drawn), row.min_order)
    inside = inside if row.max_order is None else min(inside, row.max_order)
    return drawn if inside == Fraction(drawn) else str(inside)


def log_uniform(low: float, high: float, chance: random.Random) -> float:
    """low^(1 − u) high^u for u uniform in [0, 1), 0 < low <= high"""
    return float(low * (high / low) ** chance.random())


def short(x: float) -> str:
    """x rounded to four significant digits, as text: what a reader can type."""
    return f"{x:.4g}"


# --- ε(δ) and δ(ε)


#: The most runs over (noise/rate)² of `typical`: beyond it ε is in the hundreds.
_MOST_LOSS = 300
#: In its place where a row has no RDP: of more loss a grid of losses takes long.
_LITTLE_LOSS = 3
#: The orders that most accountants search when they are not told: 1.1, 1.5, …, 10.7, 12, …, 63.
_TYPICAL_ORDERS = (*(str(Decimal(x) / 10) for x in range(11, 109, 4)), *map(str, range(12, 64)))


def typical(
    row: Support, chance: random.Random, kind: str | None = None, loss: float | None = None
) -> Ask:
    """Draws a question of any `kind` but RDP about a training run of one row; of ε or δ for None.

    Runs over (noise/rate)² are at most `loss`; an ε that is given is about the run's at the δ.
    """
    kind = kind or chance.choice(row.ends)
    value = short(log_uniform(*VALUES[row.mechanism].typical, chance))
    gamma = None if row.sampling == "none" else short(log_uniform(*TYPICAL_RATES, chance))
    spread = float(value) / float(gamma or 1) if row.mechanism in SCALED else 1
    drawn = float(short(log_uniform(*TYPICAL_RUNS, chance)))
    most = loss or (_MOST_LOSS if "rdp" in row.asks else _LITTLE_LOSS)
    runs = max(1, round(min(drawn, most * spread**2)))
    delta = short(log_uniform(*TYPICAL_DELTAS, chance))
    about = epsilon_of_zcdp(runs / (2 * spread**2), delta)
    part = part_of(row, _values(row, value), gamma, runs)
    if kind in BUDGETED:
        unknown = replace(part, **_UNKNOWN[kind])
        return Ask(kind, (unknown,), delta, row.adjacency, within=about)
    at = {"epsilon": delta, "delta": about}.get(kind, "")
    return Ask(kind, (part,), at, row.adjacency)


def epsilon_of_zcdp(rho: float, delta: str) -> str:
    """ρ + 2√(ρ log(1/δ)) to four digits, an ε that ρ-zCDP has at this δ: a place, no bound"""
    return short(rho + 2 * math.sqrt(-rho * math.log(float(delta))))


#: What each of these kinds asks for, as a part leaves it out.
_UNKNOWN: dict[str, Any] = {
    "noise": {"parameters": ()}, "rate": {"gamma": None}, "runs": {"count": 0},
}  # fmt: skip


def training(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """Draws questions where training lies: RDP evenly spread, ε or δ of rows without RDP.

    One of each row at each of `extent.places`, not sampled RDP at every eighth; of the orders that
    are searched by default, so none of a row that takes none of these.
    """
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
    """The i-th of evenly spread places in the unit cube of noise, rate and order, from `starts`."""
    return [(start + i * step) % 1 for start, step in zip(starts, _SPREAD, strict=True)]


#: Of the places, one in so many is asked of rows that are not sampled: no rate is to be covered.
_FEWER = 8
#: Multiples of these, modulo 1, fill the unit cube evenly: 1/g, 1/g², 1/g³ for g⁴ = g + 1.
_SPREAD = (0.8191725133961645, 0.6710436067037893, 0.5497004779019703)


def default_orders(hello: Hello, row: Support) -> list[str]:
    """The orders, as text, that the peer (else most peers) searches untold, and the row takes."""
    given = hello.default_orders
    named = (
        (exact_decimal(order) or str(order) for order in given)
        if isinstance(given, tuple)
        else _TYPICAL_ORDERS
    )
    return [order for order in named if row.takes(Fraction(order))]


def placed(row: Support, orders: list[str], places: list[float]) -> Ask:
    """RDP of one run at a place of the cube [0, 1)³: noise, rate, and which of the `orders`."""
    noise, rate = (
        _few_bits(low * (high / low) ** share)
        for (low, high), share in zip(
            (VALUES[row.mechanism].typical, TYPICAL_RATES), places, strict=False
        )
    )
    part = part_of(row, _values(row, noise), None if row.sampling == "none" else rate)
    return Ask("rdp", (part,), orders[int(places[2] * len(orders))], row.adjacency)


def _few_bits(x: float) -> str:
    """x to eight significant bits, as exact text: float32 has it, so its truth is one number."""
    mantissa, power = math.frexp(x)
    return str(Decimal(math.ldexp(round(mantissa * 2**8), power - 8)))


# --- structure


def compositions(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """Draws plain RDP, ε and δ of rows, and RDP of compositions, to be written in other ways."""
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
    plain = filter(hello.offers, in_turn(single))
    yield from in_turn([[ask for ask in mixed if ask is not None], [*plain]])


def _base(row: Support, kind: str, runs: int, chance: random.Random) -> Ask:
    """Draws RDP (at 2, 3, 8, 16, or the row's least order, whole), ε or δ of one row, plain."""
    # Whole parameters, so that ways of writing a whole number can be compared.
    value = chance.choice(["1", "2", "4"]) if row.mechanism != "RandomizedResponse" else "0.75"
    gamma = None if row.sampling == "none" else chance.choice(["0.5", "0.125", "0.0078125"])
    part = replace(part_of(row, _values(row, value), gamma, runs), inner=3 if row.inner else 1)
    whole = [alpha for alpha in ("2", "3", "8", "16") if row.takes(Fraction(alpha))]
    least = str(max(2, math.ceil(row.min_order)))
    at = {"rdp": chance.choice(whole or [least]), "epsilon": "1e-5", "delta": "1"}[kind]
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
    """Writes the question in each of the hello's other ways, one at a time, where it makes sense.

    Each with first parameters by the next of `sizes`, so that no memo answers. Ways of counting
    are asked of 1500 runs too; types that are not whole are given whole numbers and 1/64.
    """
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


#: Runs of a question for each way of counting: a list that ends early shows at many only.
_MANY_RUNS = 1500
#: The types of whole numbers alone.
_WHOLE_TYPES = ("int", "numpy.int64", "int_array")
#: Above a whole number: 1/64, which every other type has exactly, and five decimals have not.
_SMALL_SHARE = Decimal("0.015625")


def _with_size(ask: Ask, sizes: Iterator[int], share: Decimal) -> Ask:
    """The ask with the next whole sizes, plus the share, as first parameters; p is 1 − 1/n."""

    def moved(part: AskedPart) -> AskedPart:
        if VALUES[part.mechanism].is_probability:
            return part.valued(str(1 - Decimal(1) / (4 + next(sizes) % 60)))
        size = next(sizes) if part.mechanism in SCALED else 1 + next(sizes) % 12
        return part.valued(str(size + share))

    return replace(ask, parts=tuple(map(moved, ask.parts)))


def whole_sizes() -> Iterator[int]:
    """The whole numbers from 3 to 63, each once, in a mixed order, and then again without end."""
    for i in count():
        yield 3 + 23 * i % 61


def sensible(ask: Ask) -> bool:
    """Is each way of its `how` another writing of the question that rounds no number?"""
    return all(_makes_sense(ask, key, way) for key, way in ask.how)


def _makes_sense(ask: Ask, key: str, way: str) -> bool:
    """Is the way another writing of the question, its numbers (of whole types, one) exact in it?"""
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
    """Is this number one of that type, exactly? Other types than whole and float32 take all."""
    number = Fraction(text)
    if way in _WHOLE_TYPES:
        return number.denominator == 1
    return way != "numpy.float32" or nearest_float32(number) == number


def sums(ask: Ask) -> list[Ask]:
    """The questions of one run of each part: their RDP, each times its count, sums to the ask's."""
    return [replace(ask, parts=(replace(part, count=1),)) for part in ask.parts]


# --- the usual training runs, near twins, and what every kind is asked at least

#: Noise, sampling rate, steps and δ of published training runs, and of tutorials: asked first.
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
#: Orders of the first RDP, at the first of RUNS; how many questions come first, RDP included.
_USUAL_ORDERS = ("8", "2", "32", "3.5")
_EARLY = 20
#: Shares of a number by which twins differ from it: a memo whose key is rounded takes them for it.
_NEXT_TO = ("1e-3", "1e-5", "1e-7", "1e-9")


def usual(hello: Hello, seed: int, per_kind: int = 0) -> Iterator[Ask]:
    """Draws twenty questions: ε and δ of training runs, up to four of them RDP of single steps.

    Fewer where no row has ε or δ. Of a peer without RDP then `per_kind` of every row and kind, as
    its answers may take long and leave no time later.
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
    """Draws ε or δ without end: of a sampled Gaussian those of RUNS first, then `typical` ones."""
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
    """RDP of one step of the first RUNS, at _USUAL_ORDERS; nothing of what is not Gaussian."""
    sampled = row.sampling != "none"
    for alpha, (sigma, gamma, _, _) in zip(_USUAL_ORDERS, RUNS, strict=False):
        if row.takes(Fraction(alpha)) and row.mechanism == "Gaussian":
            part = part_of(row, (sigma,), gamma if sampled else None)
            yield Ask("rdp", (part,), alpha, row.adjacency)


def of_kind(hello: Hello, row: Support, kind: str, seed: int) -> Iterator[Ask]:
    """Draws questions of a row and kind where training lies, endlessly; no RDP without an order."""
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
    """The mechanism, sampling and adjacency of a question; ValueError unless it has one part."""
    (part,) = ask.parts
    return part.mechanism, part.sampling, ask.adjacency


def of_every_kind(
    asks: Iterable[Ask], kind: Callable[[Ask], object] = region, many: bool = False
) -> list[Ask]:
    """All plain asks of one part (of several for `many`): one of each kind in turn, short first."""
    groups: dict[object, list[Ask]] = {}
    plain = [ask for ask in asks if not ask.how and not ask.batch and (len(ask.parts) == 1) != many]
    for ask in sorted(plain, key=lambda ask: len(ask.expression) + len(ask.at)):
        groups.setdefault(kind(ask), []).append(ask)
    return [*in_turn([*groups.values()])]


def twins(ask: Ask) -> Iterator[Ask]:
    """Moves one number of the question a little at a time, each to where more is lost.

    The first parameter, a Poisson rate, α, ε (but 0) or δ; and one run more. A memo whose key is
    rounded answers them alike, and so too little. ValueError unless it has one part.
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


#: The changes of a part that `others` tries, one row at a time, where the part is sampled.
_OTHERS: tuple[dict[str, Any], ...] = (
    {"inner": 2}, {"inner": 5}, {"sampling": "none", "gamma": None},
    {"sampling": "poisson"}, {"sampling": "without_replacement"},
)  # fmt: skip
#: The relations that are asked about, by their names in the protocol.
_ADJACENCIES = ("add_remove", "replace_one", "zero_out")


def others(ask: Ask) -> Iterator[Ask]:
    """Replaces a field at a time by a far one, offered or not: a memo whose key lacks it shows."""
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
    """The part with its first parameter, then that with its Poisson rate, where more is lost.

    One number of each is moved, by `step` times itself. A p or a rate that would be 1 or more is
    left out.
    """
    for name, value in part.parameters[:1]:
        falls = name in ("sigma", "b", "mu") or (name == "p" and 2 * Fraction(value) < 1)
        moved = _beside(value, -step if falls else step)
        if name != "p" or Fraction(moved) < 1:
            yield part.valued(moved)
    fixed = part.sampling == "without_replacement"  # whose rate is a quotient of small numbers
    if part.gamma is not None and not fixed and Fraction(rate := _beside(part.gamma, step)) < 1:
        yield replace(part, gamma=rate)


def _beside(text: str, step: Decimal) -> str:
    """number · (1 + step), to the 15 digits that every float64 keeps"""
    number = Decimal(text) if "/" not in text else Decimal(float(Fraction(text)))
    return f"{number * (1 + step):.15g}"
