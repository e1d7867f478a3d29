"""What questions are drawn for: a recipe a reason, with how many of them there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symacct.evidence.vectors.chance import Chance

#: A part of a composition, or a question, with numbers not yet written.
Drawn = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """So many questions for the reasons `tags`, each drawn by `draw` from a chance of its own."""

    tags: tuple[str, ...]
    count: int
    draw: Callable[[Chance], Drawn]


def gaussian(chance: Chance) -> Drawn:
    return {"mechanism": "gaussian", "sigma": chance.scale(-1, 2)}


def laplace(chance: Chance) -> Drawn:
    return {"mechanism": "laplace", "b": chance.scale(-1, 2)}


def randomized_response(chance: Chance) -> Drawn:
    return {"mechanism": "randomized_response", "p": chance.between(0, 1)}


def discrete_gaussian(chance: Chance) -> Drawn:
    return {"mechanism": "discrete_gaussian", "sigma": chance.between(0, 20)}


BASES: dict[str, Callable[[Chance], Drawn]] = {
    "gaussian": gaussian,
    "laplace": laplace,
    "randomized_response": randomized_response,
    "discrete_gaussian": discrete_gaussian,
}


def whole(chance: Chance) -> float:
    return float(chance.whole(2, 64))


def large(chance: Chance) -> float:
    return float(chance.whole(65, 1024))


def fractional(chance: Chance) -> float:
    return 1 + chance.between(0, chance.pick((1, 10, 100)))


def near_one(chance: Chance) -> float:
    return 1 + chance.scale(-15, -3)


def one(chance: Chance) -> float:
    return 1.0


def infinite(chance: Chance) -> float:
    return float("inf")


ORDERS = {
    "whole order": whole,
    "large order": large,
    "fractional order": fractional,
    "near order 1": near_one,
    "order 1": one,
    "order infinity": infinite,
}
#: Rates by what is hard of them.
RATES: dict[str, Callable[[Chance], float]] = {
    "": lambda chance: chance.scale(-4, 0),
    "tiny rate": lambda chance: chance.scale(-30, -8),
    "rate next to 1": lambda chance: 1 - chance.scale(-15, -2),
}


def sampled(part: Drawn, sampling: str, rate: float) -> Drawn:
    return {**part, "sampling": sampling, "rate": rate}


def repeated(part: Drawn, count: int) -> Drawn:
    return {**part, "count": count}


def one_part(part: Drawn, relation: str, **asked: Any) -> Drawn:
    return {"parts": [part], "relation": relation, **asked}
