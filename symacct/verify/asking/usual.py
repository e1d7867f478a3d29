"""The usual training runs, near twins of a question, and what every kind is asked at least."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from symacct.verify.asking import questions
from symacct.verify.peer.protocol import Ask, AskedPart, Hello, Support
from symacct.verify.reporting.clusters import region

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
_ORDERS = ("8", "2", "32", "3.5")
_EARLY = 20
#: Steps next to a number: to what a key of a memo may be rounded, or printed.
_STEPS = ("1e-3", "1e-5", "1e-7", "1e-9")


def usual(hello: Hello, seed: int, least: int = 0) -> Iterator[Ask]:
    """Twenty questions: the ends of training runs, and some RDP of the same runs beside them.

    Of a peer without RDP, whose answers may take long, then so many of every kind at the `least`.
    """
    chance = random.Random(seed + 5)  # noqa: S311
    rows = [row for row in hello.supports if row.ends]
    asked = [list(islice(_ends(row, chance), _EARLY)) for row in rows]
    curves = [list(_curve(row)) for row in rows if "rdp" in row.asks]
    both = questions.mixed_evenly(
        list(questions.in_turn(asked))[: _EARLY - 4 * bool(curves)],
        list(questions.in_turn(curves))[:4],
    )
    yield from both
    if not hello.has_curves:
        kinds = [of_kind(hello, row, kind, seed) for row in hello.supports for kind in row.asks]
        yield from questions.in_turn([list(islice(asks, least)) for asks in kinds])


def _ends(row: Support, chance: random.Random) -> Iterator[Ask]:
    """ε of the runs, or δ; of other mechanisms what is as much."""
    plain = row.mechanism == "Gaussian" and row.sampling != "none"
    for sigma, gamma, runs, delta in RUNS if plain else ():
        part = questions.part_of(row, (sigma,), gamma, runs)
        if "epsilon" in row.asks:
            yield Ask("epsilon", (part,), delta, row.adjacency)
        if "delta" in row.asks:
            yield Ask("delta", (part,), "2", row.adjacency)
    while True:
        yield questions.typical(row, chance)


def _curve(row: Support) -> Iterator[Ask]:
    sampled = row.sampling != "none"
    for alpha, (sigma, gamma, _, _) in zip(_ORDERS, RUNS, strict=False):
        if row.takes(Fraction(alpha)) and row.mechanism == "Gaussian":
            part = questions.part_of(row, (sigma,), gamma if sampled else None)
            yield Ask("rdp", (part,), alpha, row.adjacency)


def of_kind(hello: Hello, row: Support, kind: str, seed: int) -> Iterator[Ask]:
    """Questions of one kind, evenly spread over where training lies."""
    chance = random.Random(seed + 6)  # noqa: S311
    if kind != "rdp":
        while True:
            yield questions.typical(row, chance, kind)
    orders = questions.default_orders(hello, row) or questions.orders_of(row, 12)
    start = chance.random(), chance.random(), chance.random()
    i = 0
    while orders:
        yield questions.placed(row, orders, questions.place([*start], i))
        i += 1


def row(ask: Ask) -> object:
    """The row of a hello that a question of one part is about."""
    (part,) = ask.parts
    return part.mechanism, part.sampling, ask.adjacency


def of_every_kind(
    asks: Iterable[Ask], kind: Callable[[Ask], object] = region, many: bool = False
) -> list[Ask]:
    """The plain ones of one part or of `many`, one of each kind in turn, the shortest first."""
    found: dict[object, list[Ask]] = {}
    plain = [ask for ask in asks if not ask.how and not ask.batch and (len(ask.parts) == 1) != many]
    for ask in sorted(plain, key=lambda ask: len(ask.expression) + len(ask.at)):
        found.setdefault(kind(ask), []).append(ask)
    return [*questions.in_turn([*found.values()])]


def twins(ask: Ask) -> Iterator[Ask]:
    """The question with one number moved a little, each to where more is lost.

    A memo whose key is rounded answers them alike, and so too little.
    """
    (part,) = ask.parts
    for step in _STEPS:
        for moved in _moved(part, Decimal(step)):
            yield replace(ask, parts=(moved,))
        if ask.at:
            more = Decimal(step) if ask.kind == "rdp" else -Decimal(step)
            yield replace(ask, at=_beside(ask.at, more))
    if part.count:
        yield replace(ask, parts=(replace(part, count=part.count + 1),))


#: What is put in a number's place, one at a time, where no memo may take it for the first.
_OTHERS: tuple[dict[str, Any], ...] = (
    {"inner": 2}, {"inner": 5}, {"sampling": "none", "gamma": None},
    {"sampling": "poisson"}, {"sampling": "without_replacement"},
)  # fmt: skip
_ADJACENCIES = ("add_remove", "replace_one", "replace_special")


def others(ask: Ask) -> Iterator[Ask]:
    """The question with one of its fields another: a memo whose key lacks it answers them alike."""
    for i, part in enumerate(ask.parts):
        kept = ask.parts[:i], ask.parts[i + 1 :]
        changed = [replace(part, **one) for one in _OTHERS if "gamma" in one or part.gamma]
        changed += [replace(part, sensitivity="3"), replace(part, count=3 * part.count + 1)]
        if part.gamma is not None and part.sampling == "poisson":
            changed.append(replace(part, gamma=_beside(part.gamma, Decimal("-0.5"))))
        for name, value in part.parameters[:1]:
            if name != "p":
                other = (name, _beside(value, Decimal(1)))
                changed.append(replace(part, parameters=(other, *part.parameters[1:])))
        for one in changed:
            if one != part and (one.sampling == "none" or one.gamma is not None):
                yield replace(ask, parts=(*kept[0], one, *kept[1]))
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
            yield replace(part, parameters=((name, moved), *part.parameters[1:]))
    fixed = part.sampling == "without_replacement"  # whose rate is a quotient of small numbers
    if part.gamma is not None and not fixed and Fraction(rate := _beside(part.gamma, step)) < 1:
        yield replace(part, gamma=rate)


def _beside(text: str, step: Decimal) -> str:
    """The number and a share of it more, to as many digits as a float64 has."""
    number = Decimal(text) if "/" not in text else Decimal(float(Fraction(text)))
    return f"{number * (1 + step):.15g}"
