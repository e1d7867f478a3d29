"""Questions that leave no kind out: any two sizes of two numbers meet, and parts differ in turn.

What is asked is fixed by the seed. The first questions of each kind cover the most. The sizes below
are levels: a text is asked as it is, from a range (both ends included) a number is drawn each time.
With more levels it takes more draws, whose number an Extent fixes, until all pairs have met.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, islice, product
from typing import Any, TypeVar

from symacct.kernel.node import Size
from symacct.verify.asking.questions import (
    SCALED,
    STRATEGY,
    WHOLE,
    Extent,
    default_orders,
    epsilon_of_zcdp,
    in_turn,
    log_uniform,
    orders_of,
    part_of,
    random_order,
    short,
)
from symacct.verify.peer.protocol import (
    BUDGETED,
    ENDS,
    VALUES,
    Ask,
    AskedPart,
    Hello,
    Support,
)

_T = TypeVar("_T")
#: Sampling rates: from training's to nearly all, next to none, and two exact ones at the end.
_RATES: tuple[Size, ...] = (
    (1e-4, 1e-3), (1e-3, 0.01), (0.01, 0.05), (0.05, 0.2), (0.2, 0.5), (0.5, 0.9), (0.9, 0.999),
    (1e-9, 1e-5), "1", "0.5",
)  # fmt: skip
#: Numbers of runs past what float32, an int32 and a uint32 hold, and up to eight more.
_LARGE_COUNTS = 2**24 + 1, 2**31 + 11, 2**32 + 5
#: Numbers of runs up to a million, with levels around and between what an int16 and a uint16 hold.
_COUNTS: tuple[tuple[int, int], ...] = (
    (1, 1), (2, 2), (3, 9), (10, 99), (100, 999), (1000, 9999),
    (10**4, 32766), (32767, 32770), (32771, 65534), (65535, 65538), (65539, 10**6),
)  # fmt: skip
#: Numbers of runs of which no grid of losses takes long, where such grids are composed.
_FEW_COUNTS = _COUNTS[:6]
#: What "runs" is to be answered by: few runs, more than an int16 or a uint16, and a uint32 holds.
_SMALL_ANSWERS = (1, 9), (10, 999)
_LARGE_ANSWERS = (1000, 20_000), (70_000, 10**6)
_HUGE_ANSWERS = ((2**33, 2**35),)
#: Orders that formulas tell apart: whole, fractional, next to 1, and large ones.
_ORDERS: tuple[Size, ...] = (
    "2", (4, 16), (1.5, 3), (16, 64), "3", (3, 12), (1.01, 1.5), (64, 300), (12, 64), "1",
    (300, 2000), (64, 512),
)  # fmt: skip
#: The largest order here of sampling without replacement: sums beyond take seconds to certify.
_MOST_FIXED_SIZE_ORDER = 128
#: Orders of RDP of compositions; and, drawn apart, the order 1 and orders next to it.
_COMMON_ORDERS = (
    "2", "5", "2.5", "16", "3", "8", "1.5", "33", "7.3", "4", "64", "40.5",
)  # fmt: skip
_NEAR_ONE = ("1",), ("1.0001", "1.01", "1.1")
#: Sensitivities below and above 1, and whole ones for noise on whole numbers.
_SIZES, _WHOLE_SIZES = ("1", "2", "0.5", "3", "0.125", "10", "1.7"), ("1", "2", "3", "5")
#: Records of a group, and runs that share a sample.
_GROUPS, _INNER = ("1", "2", "3", "10"), ("1", "2", "5", "30")
#: What is spent, as about the ρ of zCDP, Σ 1/(2σ²), of all runs; the larger where a row has RDP.
_LOSSES: tuple[Size, ...] = ((0.3, 1), (0.01, 0.1), (1, 3), (0.1, 0.3), (3, 12), (1e-4, 0.01))
_MORE_LOSS: tuple[Size, ...] = ((12, 60), (60, 3000))
#: δ from far below what float64 adds to 1 up to one half.
_DELTAS: tuple[Size, ...] = (
    "1e-5", (1e-12, 1e-7), (0.001, 0.1), (1e-30, 1e-14), "1e-100", (1e-6, 1e-3), "0.2", "1e-300",
    "0.5",
)  # fmt: skip
#: The δ for which noise, rates and runs are asked: for 0.2 and 0.5 next to no noise is enough.
_BUDGETED_DELTAS = _DELTAS[:5]
#: The ε that noise, rates and runs are asked for, in nats.
_WITHIN: tuple[Size, ...] = ((0.3, 2), (2, 10), (0.03, 0.3))
#: The ε of δ(ε): of the size that leaves a δ, 0 (the largest advantage of an attacker), below 0.
_NO_EPSILON, _NEGATIVE = ("", "", "", "0"), ("-0.1", "-1", "-0.01")
#: Orders to be searched for ε and δ, where the peer can be told; None for its own, in most asks.
#: The whole ones do not rise: who stops at the first that is worse seldom has the best.
_GRIDS: tuple[tuple[str, ...] | None, ...] = (
    None, None, ("8", "2", "64", "16", "3", "32", "5"), None,
    ("1.25", "1.75", "2.5", "3.75", "5.5", "8.5", "16.5", "33.5"),
)  # fmt: skip
#: How many orders of RDP are asked at once.
_BATCHES = (1, 6)
#: Rows of matrices: differences, one of more rows than steps, two whose columns and rows differ.
_STRATEGIES = (
    (("1", "0"), ("-1", "1")),
    (("1", "0"), ("1", "1"), ("0.5", "2")),
    (("1", "0", "0"), ("1", "2", "0"), ("1", "2", "4")),
    (("0.25", "0", "0"), ("0.5", "1", "0"), ("3", "0", "1")),
)
#: Of each row and kind, the share of the `covered` (RDP) or `ends` (others) of an Extent that is
#: asked. Of compositions, all of the `covered` for RDP, ε and δ; these shares else, and near α = 1.
_SHARE = {"rdp": 1.5} | dict.fromkeys(ENDS, 1.0) | dict.fromkeys(BUDGETED, 0.4)
_OTHERS_SHARE, _NEAR_ONE_SHARE = 0.5, 0.15
#: The least scale over what the query moves by, and the largest scale, that a loss leads to.
_SMALLEST_NOISE, _LARGEST_NOISE = 0.3, 1e8


def covering(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """Draws as many questions of each row, kind and sort of composition as _SHARE says, in turn."""
    chance = random.Random(seed + 8)  # noqa: S311  # the same seed asks the same questions
    lists = [list(_harmless(row)) for row in hello.supports] if extent.ends else []
    for row in hello.supports:
        for kind in row.asks:
            number = extent.covered if kind == "rdp" else extent.ends
            most = math.ceil(number * _SHARE.get(kind, _OTHERS_SHARE))
            lists.append(list(islice(singles(hello, row, kind, chance), most)))
    for kind in composed(hello):
        share = 1.0 if kind in ("rdp", *ENDS) else _OTHERS_SHARE
        most = math.ceil(extent.covered * share)
        lists.append(list(islice(compositions(hello, kind, chance), most)))
        most = math.ceil(extent.covered * _NEAR_ONE_SHARE)
        for orders in _NEAR_ONE if kind == "rdp" else ():
            lists.append(list(islice(compositions(hello, kind, chance, orders), most)))
    return in_turn(lists)


def _harmless(row: Support) -> Iterator[Ask]:
    """δ(0.1) and ε(0.01) of one run of next to no loss, where logarithms next to 1 are wanted."""
    values = VALUES[row.mechanism]
    part = part_of(row, (values.harmless, *values.rest), None if row.sampling == "none" else "1e-9")
    for kind, at in (("delta", "0.1"), ("epsilon", "0.01")):
        if kind in row.asks:
            yield Ask(kind, (part,), at, row.adjacency)


def pairwise(levels: Sequence[Sequence[_T]], chance: random.Random) -> Iterator[tuple[_T, ...]]:
    """Draws one level of each number, until any two levels of any two numbers have met.

    Where a draw is free it takes a level least often chosen, so that the first few have all levels.
    """
    left = {
        ((i, a), (j, b))
        for i, j in combinations(range(len(levels)), 2)
        for a, b in product(range(len(levels[i])), range(len(levels[j])))
    } or {((0, a), (0, a)) for a in range(len(levels[0]))}
    chosen = [[0] * len(column) for column in levels]
    while left:
        seldom = [[a for a, n in enumerate(column) if n == min(column)] for column in chosen]
        drawn = []
        for pair in chance.sample(sorted(left), min(_TRIES, len(left))):
            places = [chance.choice(column) for column in seldom]
            for i, a in pair:
                places[i] = a
            met = _pairs(places) & left
            drawn.append((len(met), places, met))
        _, places, met = max(drawn, key=lambda row: row[0])
        left -= met
        for column, place in zip(chosen, places, strict=True):
            column[place] += 1
        yield tuple(column[a] for column, a in zip(levels, places, strict=True))


#: Choices compared for each draw, for most new pairs: more cover hardly better and take longer.
_TRIES = 24


def _pairs(places: list[int]) -> set[Any]:
    """The pairs of (number, level) of a draw; of a single number the pair with itself."""
    numbered = list(enumerate(places))
    return set(combinations(numbered, 2)) or {(numbered[0], numbered[0])}


def _drawn(size: Size, chance: random.Random) -> str:
    """Draws a number of a level log-uniformly, to four digits; a text is the number itself."""
    return size if isinstance(size, str) else short(log_uniform(*size, chance))


# --- one part


def singles(hello: Hello, row: Support, kind: str, chance: random.Random) -> Iterator[Ask]:
    """Draws plain questions of one row without end; anew once all pairs of levels have met."""
    levels = _levels(hello, row, kind)
    if "batch" in levels:
        known = dict.fromkeys((*default_orders(hello, row), *orders_of(row, 12)))
    while True:
        for chosen in pairwise([*levels.values()], chance):
            level = dict(zip(levels, chosen, strict=True))
            ask = _single(row, kind, level, chance)
            if ask is None:
                continue
            if (size := level.get("batch", 1)) > 1:
                others = [order for order in known if order != ask.at]
                batch = [ask.at, *chance.sample(others, min(size - 1, len(others)))]
                ask = replace(ask, orders=tuple(chance.sample(batch, len(batch))))
            yield ask


def _levels(hello: Hello, row: Support, kind: str) -> dict[str, Sequence[Any]]:
    """Lists the numbers that a question of this kind has, with the levels of each.

    What is asked for, or what the row or the peer does not take, is left out; of ε, δ and runs a
    loss or an answer stands for the noise.
    """
    ends = kind in ENDS
    given: dict[str, Sequence[Any]] = {}
    if kind == "rdp":
        fixed = random.Random(0)  # noqa: S311  # the levels do not depend on the seed
        sizes = [size for size in _ORDERS if _order(row, size, fixed)]
        # A row may take none of these, such as the orders from 3000 to 4000 alone.
        given["alpha"] = sizes or [random_order(row, fixed) for _ in _ORDERS]
        given |= {"batch": _BATCHES} if row.batch else {}
    if ends:
        given["loss"] = _LOSSES + _MORE_LOSS if "rdp" in row.asks else _LOSSES
    elif kind == "runs":
        given["answer"] = _answers(row)
    elif kind != "noise":
        given["noise"] = _noises(row)
    if ends or kind in BUDGETED:
        given["delta"] = _BUDGETED_DELTAS if kind in BUDGETED else _DELTAS
    if kind in BUDGETED:
        given["within"] = _WITHIN
    if kind == "delta":
        given["epsilon"] = _NO_EPSILON + _NEGATIVE * hello.negative_epsilon
    if ends and hello.order_grid:
        given["orders"] = _GRIDS
    if row.sampling != "none" and kind != "rate":
        # A rate of 1 is none, and so is a sample of all.
        given["rate"] = _RATES if kind == "rdp" or row.sampling == "poisson" else _RATES[:-2]
    if kind != "runs":
        given["count"] = _counts(row, kind)
    if VALUES[row.mechanism].rest_covered:
        given["rest"] = VALUES[row.mechanism].rest_covered
    if row.mechanism == "MatrixMechanism":
        given["strategy"] = (STRATEGY, *_STRATEGIES)
    if row.sensitivity:
        given["sensitivity"] = _sizes(row)
    if row.group:
        given["group"] = _GROUPS
    if row.inner:
        given["inner"] = _INNER
    return given


def _noises(row: Support) -> Sequence[Size]:
    """The sizes of the first parameter, and what is beyond them at both ends."""
    values = VALUES[row.mechanism]
    ends = [size for size in values.covered if not isinstance(size, str)]
    (low, high), lowest, most = values.drawn, min(ends)[0], max(high for _, high in ends)
    beyond = () if values.is_probability else ((low, lowest), (most, high))
    return (*values.covered, *(size for size in beyond if size[0] < size[1]))


def _sizes(row: Support) -> Sequence[str]:
    """The levels of the sensitivity: whole ones for noise on whole numbers."""
    return _WHOLE_SIZES if row.mechanism in WHOLE else _SIZES


def _answers(row: Support) -> Sequence[tuple[int, int]]:
    """How many runs are allowed: of what takes long to compose, not many."""
    gaussian = row.mechanism == "Gaussian"
    plain = gaussian and row.sampling == "none"
    return _SMALL_ANSWERS + _LARGE_ANSWERS * gaussian + _HUGE_ANSWERS * plain


def _counts(row: Support, kind: str) -> Sequence[tuple[int, int]]:
    """The levels of the number of runs: few where grids of losses are to be composed."""
    large = tuple((count, count + 8) for count in _LARGE_COUNTS)
    if kind in ("noise", "rate") or "rdp" not in row.asks:
        # Of what is no RDP, only where no grid of losses is to be composed.
        plain = row.mechanism == "Gaussian" and row.sampling == "none"
        return _FEW_COUNTS + large * (plain and kind != "noise")
    return _COUNTS + large


def _order(row: Support, size: Size, chance: random.Random) -> str | None:
    """Draws an order of this size, None if the row does not take it; some sizes have whole ones."""
    if isinstance(size, str):
        return size if row.takes(Fraction(size)) else None
    low, high = size
    if row.max_order is not None:
        high = min(high, float(row.max_order))
    if row.sampling == "without_replacement":
        high = min(high, _MOST_FIXED_SIZE_ORDER)
    if low >= high:
        return None
    drawn = log_uniform(low, high, chance)
    whole = row.orders == "integer" or size in ((4, 16), (16, 64), (64, 300))
    text = str(max(2, round(drawn))) if whole else short(drawn)
    return text if row.takes(Fraction(text)) else None


def _single(row: Support, kind: str, chosen: dict[str, Any], chance: random.Random) -> Ask | None:
    """Draws the question of one part at the chosen levels; None where the row lacks the order."""
    gamma = _drawn(chosen["rate"], chance) if "rate" in chosen else None
    inner, size = int(chosen.get("inner", "1")), chosen.get("sensitivity", "1")
    group = int(chosen.get("group", "1"))
    count = chance.randint(*chosen["count"]) if "count" in chosen else 0
    within = _drawn(chosen["within"], chance) if "within" in chosen else None
    at = _drawn(chosen["delta"], chance) if "delta" in chosen else ""
    moved, rate = group * float(size), math.sqrt(inner) * float(gamma or 1)
    values: tuple[str, ...] = ()
    if "loss" in chosen:
        low, high = chosen["loss"]
        loss = log_uniform(low, high, chance)
        value, count = _spending(row, loss, count, (moved, rate), chance)
        values = (value,)
    elif "answer" in chosen:
        answer = chance.randint(*chosen["answer"])
        value, _ = _spending(row, _rho_about(str(within), at), answer, (moved, rate), chance)
        values = (value,)
    elif "noise" in chosen:
        values = (_drawn(chosen["noise"], chance),)
    if "rest" in chosen:
        values = (*values, chosen["rest"])
    part = replace(
        part_of(row, values, gamma, count),
        inner=inner,
        sensitivity=size,
        strategy=chosen.get("strategy", ()),
    )
    if kind == "rate":
        part = replace(part, gamma=None)
    if kind == "rdp":
        order = _order(row, chosen["alpha"], chance)
        if order is None:
            return None
        at = order
    elif kind == "delta":
        at = chosen["epsilon"] or epsilon_of_zcdp(loss, at)
    orders = chosen.get("orders")
    return Ask(kind, (part,), at, row.adjacency, orders=orders, group=group, within=within)


def _spending(
    row: Support, loss: float, count: int, size: tuple[float, float], chance: random.Random
) -> tuple[str, int]:
    """Draws (first parameter, runs) whose ρ of zCDP is about this loss.

    The query moves by the first of `size`, in samples of the rate that is the second. Where the
    parameter is not chosen by the loss, the runs are, from 1 to `count`.
    """
    moved, rate = size
    if row.mechanism in SCALED and row.mechanism not in WHOLE:
        sigma = moved * max(_SMALLEST_NOISE, rate * math.sqrt(count / (2 * loss)))
        if sigma <= _LARGEST_NOISE:
            return short(sigma), count
    value = _drawn(chance.choice(VALUES[row.mechanism].covered), chance)
    per_run = VALUES[row.mechanism].rho(float(value)) * (moved * rate) ** 2
    return value, max(1, min(count, round(loss / per_run)))


def _rho_about(epsilon: str, delta: str) -> float:
    """The ρ of which `epsilon_of_zcdp` at this δ is this ε."""
    log_inverse = -math.log(float(delta))
    return (math.sqrt(log_inverse + float(epsilon)) - math.sqrt(log_inverse)) ** 2


# --- parts that differ


def composed(hello: Hello) -> list[str]:
    """The kinds of question that some row has, but noise, rate and runs; none without `compose`."""
    kinds = dict.fromkeys(kind for row in hello.supports for kind in row.asks)
    return [kind for kind in kinds if kind not in BUDGETED] if hello.compose else []


def compositions(
    hello: Hello, kind: str, chance: random.Random, orders: Sequence[str] = _COMMON_ORDERS
) -> Iterator[Ask]:
    """Draws compositions: two parts that differ in one number, either first; more; equal parts.

    All relations, rows and shapes in turn, without end; RDP at one of the orders that all its rows
    take. Nothing where no row has the kind and such an order.
    """
    offered = [
        row
        for row in hello.supports
        if kind in row.asks and (kind != "rdp" or _taken([row], orders))
    ]
    relations = list(dict.fromkeys(row.adjacency for row in offered))
    while offered:
        shapes = []
        for relation in relations:
            rows = [row for row in offered if row.adjacency == relation]
            by_row = [_of_row(row, chance) for row in rows]
            # Each row begins with another shape, or many rows leave the last ones out.
            by_row = [
                forms[i % len(forms) :] + forms[: i % len(forms)] for i, forms in enumerate(by_row)
            ]
            shapes.append(list(in_turn([*by_row, [*_of_rows(rows, chance)]])))
        drawn = [_composed(kind, parts, rows, chance, orders) for parts, rows in in_turn(shapes)]
        asks = [ask for ask in drawn if ask is not None]
        if not asks:
            return
        yield from asks


_Parts = tuple[tuple[AskedPart, ...], list[Support]]


def _of_row(row: Support, chance: random.Random) -> list[_Parts]:
    """Lists compositions of one row with itself: of parts unlike in one number, in all, in none."""
    differing: list[tuple[AskedPart, ...]] = []
    for field in _FIELDS:
        part = _drawn_part(row, chance)
        other = _unlike(field, row, part, chance)
        if other != part:
            differing.append((part, other) if chance.random() < 0.5 else (other, part))
    a, b, c, d = (_drawn_part(row, chance) for _ in range(4))
    first, *rest = differing
    shapes = [first, (a, b, c), *rest[:2], (b, a), (d, d), *rest[2:], (c, d, a, b), (b, c, b)]
    return [(parts, [row]) for parts in shapes]


def _of_rows(rows: list[Support], chance: random.Random) -> Iterator[_Parts]:
    """Draws compositions of several mechanisms and samplings, with equal numbers or unlike."""
    pairs = list(combinations(rows, 2))
    chance.shuffle(pairs)
    for i, pair in enumerate(pairs):
        two = list(pair) if chance.random() < 0.5 else list(pair)[::-1]
        parts = [_drawn_part(row, chance) for row in two]
        if i % 2 == 0:
            parts[1] = _like(parts[1], parts[0])
        yield tuple(parts), two
        more = chance.choices(rows, k=3 + i % 3)
        yield tuple(_drawn_part(row, chance) for row in more), more


def _like(part: AskedPart, other: AskedPart) -> AskedPart:
    """The part with the other's count, rate if both have one, and parameters of the same names."""
    named = part.parameters
    if [name for name, _ in named] == [name for name, _ in other.parameters]:
        named = other.parameters
    gamma = part.gamma and (other.gamma or part.gamma)
    return replace(part, parameters=named, gamma=gamma, count=other.count)


def _drawn_part(row: Support, chance: random.Random) -> AskedPart:
    """Draws a part of up to 400 runs whose ρ of zCDP is about 0.05 to 0.8."""
    gamma = None if row.sampling == "none" else short(log_uniform(0.02, 0.6, chance))
    count = chance.choice((1, 2, 3, chance.randint(4, 40), chance.randint(41, 400)))
    loss = log_uniform(0.05, 0.8, chance)
    value, count = _spending(row, loss, count, (1.0, float(gamma or 1)), chance)
    rest = VALUES[row.mechanism].rest
    part = part_of(row, (value, *rest), gamma, count)
    if row.sensitivity and chance.random() < 0.3:
        part = replace(part, sensitivity=chance.choice(_sizes(row)))
    return replace(part, inner=chance.choice((1, 1, 2, 3))) if row.inner else part


#: What two parts of one row may differ in, each alone.
_FIELDS = ("value", "rate", "count", "sensitivity", "inner", "stream")


def _unlike(field: str, row: Support, part: AskedPart, chance: random.Random) -> AskedPart:
    """Returns the part with another number in this field; the part itself if the row has none."""
    values = VALUES[row.mechanism]
    if field == "value":
        value = float(part.parameters[0][1])
        if values.is_probability:
            return part.valued(short(1 - (1 - value) * chance.uniform(0.4, 0.8)))
        return part.valued(short(value * chance.uniform(1.3, 2.5)))
    if field == "rate" and part.gamma is not None:
        return replace(part, gamma=short(float(part.gamma) * chance.uniform(0.3, 0.7)))
    if field == "count":
        return replace(part, count=part.count + chance.randint(1, 9))
    if field == "sensitivity" and row.sensitivity:
        sizes = [size for size in _sizes(row) if size != part.sensitivity]
        return replace(part, sensitivity=chance.choice(sizes))
    if field == "inner" and row.inner:
        return replace(part, inner=part.inner + chance.randint(1, 4))
    if field == "stream" and values.is_stream and values.rest_covered:
        steps = chance.choice(values.rest_covered[:-1])
        return replace(part, parameters=(part.parameters[0], ("steps", steps)))
    if field == "stream" and row.mechanism == "MatrixMechanism":
        return replace(part, strategy=chance.choice(_STRATEGIES))
    return part


def _taken(rows: list[Support], orders: Sequence[str]) -> list[str]:
    """The orders that all rows take."""
    return [order for order in orders if all(row.takes(Fraction(order)) for row in rows)]


def _composed(
    kind: str,
    parts: tuple[AskedPart, ...],
    rows: list[Support],
    chance: random.Random,
    orders: Sequence[str],
) -> Ask | None:
    """Draws the place of a composition's question; None where no order suits all its rows."""
    group = chance.choice((1, 1, 2, 3)) if all(row.group for row in rows) else 1
    at, taken = "", _taken(rows, orders)
    if kind == "rdp":
        if not taken:
            return None
        at = chance.choice(taken)
    elif kind in ("epsilon", "delta"):
        at = _drawn(chance.choice(_DELTAS), chance)
        if kind == "delta":
            at = epsilon_of_zcdp(chance.uniform(0.1, 1.0) * len(parts) * group**2, at)
    ask = Ask(kind, parts, at, rows[0].adjacency, group=group)
    if kind == "rdp" and all(row.batch for row in rows) and chance.random() < 0.3:
        ask = replace(ask, orders=(at, *[order for order in taken if order != at][:3]))
    return ask
