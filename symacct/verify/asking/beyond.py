"""Questions beyond one record, one order and a curve: noise, ρ and μ, groups, streams, batches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice

from symacct.verify.asking import questions
from symacct.verify.asking.questions import Extent
from symacct.verify.asking.values import WHOLE
from symacct.verify.peer.protocol import Ask, Hello, Support

_GROUPS = (2, 3, 10)
_SENSITIVITIES = ("2", "0.5", "3", "0.125")
_WHOLE = ("2", "3", "5")
#: Around the powers of two, where the height of a tree changes.
_STEPS = ("1", "2", "3", "4", "7", "8", "1023", "1024", "1000000")
#: Differences, one with more rows than steps, and two whose columns and rows differ.
STRATEGIES = (
    (("1", "0"), ("-1", "1")),
    (("1", "0"), ("1", "1"), ("0.5", "2")),
    (("1", "0", "0"), ("1", "2", "0"), ("1", "2", "4")),
    (("0.25", "0", "0"), ("0.5", "1", "0"), ("3", "0", "1")),
)
_BATCH = 6


def beyond(hello: Hello, extent: Extent, seed: int) -> Iterator[Ask]:
    """What each row offers of this, in turn."""
    chance = random.Random(seed + 7)  # noqa: S311  # the same seed asks the same questions
    kinds = [
        islice(_plain(hello, row, kind, chance), extent.ends // 2)
        for row in hello.supports
        for kind in row.asks
        if kind not in ("rdp", "epsilon", "delta")
    ]
    more = [
        islice(asked(hello, row, chance), extent.ends)
        for row in hello.supports
        for asked in (_groups, _sensitivities, _batches, _streams, _at_zero)
    ]
    return questions.in_turn([*map(list, kinds), *map(list, more)])


def _plain(hello: Hello, row: Support, kind: str, chance: random.Random) -> Iterator[Ask]:
    """Questions of one kind."""
    orders = questions.default_orders(hello, row) or questions.orders_of(row, 12)
    while kind != "rdp" or orders:
        if kind == "rdp":
            places = [chance.random() for _ in range(3)]
            yield questions.placed(row, orders, places)
        else:
            yield questions.typical(row, chance, kind)


def _in_turn(hello: Hello, row: Support, chance: random.Random) -> Iterator[Ask]:
    """Questions of all kinds of the row."""
    own = [_plain(hello, row, kind, chance) for kind in row.asks]
    while True:
        yield from filter(None, [next(asks, None) for asks in own])


def _groups(hello: Hello, row: Support, chance: random.Random) -> Iterator[Ask]:
    if row.group:
        for ask in _in_turn(hello, row, chance):
            yield replace(ask, group=chance.choice(_GROUPS))


def _sensitivities(hello: Hello, row: Support, chance: random.Random) -> Iterator[Ask]:
    sizes = _WHOLE if row.mechanism in WHOLE else None
    if row.sensitivity:
        for ask in _in_turn(hello, row, chance):
            (part,) = ask.parts
            size = chance.choice(sizes or _SENSITIVITIES)
            yield replace(ask, parts=(replace(part, sensitivity=size),))


def _batches(hello: Hello, row: Support, chance: random.Random) -> Iterator[Ask]:
    """Several orders at once, in any sequence, whole and fractional ones together."""
    known = questions.default_orders(hello, row) + questions.orders_of(row, 12)
    orders = list(dict.fromkeys(known))
    if row.batch and "rdp" in row.asks and len(orders) > 1:
        for ask in _plain(hello, row, "rdp", chance):
            batch = tuple(chance.sample(orders, min(_BATCH, len(orders))))
            yield replace(ask, at=batch[0], orders=batch)


def _streams(hello: Hello, row: Support, chance: random.Random) -> Iterator[Ask]:
    """Trees of other heights, and other matrices."""
    if row.mechanism not in ("TreeAggregation", "MatrixMechanism"):
        return
    strategies, steps = cycle(STRATEGIES), cycle(_STEPS)
    for ask in _in_turn(hello, row, chance):
        (part,) = ask.parts
        if row.mechanism == "MatrixMechanism":
            part = replace(part, strategy=next(strategies))
        else:
            part = replace(part, parameters=(part.parameters[0], ("steps", next(steps))))
        yield replace(ask, parts=(part,))


def _at_zero(hello: Hello, row: Support, chance: random.Random) -> Iterator[Ask]:
    """δ(0), the largest advantage of an attacker."""
    if "delta" in row.asks:
        asks = (questions.typical(row, chance, "delta") for _ in range(2))
        yield from (replace(ask, at="0") for ask in asks)
