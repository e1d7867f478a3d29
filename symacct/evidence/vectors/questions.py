"""The questions of the files: each is drawn for a reason, the same way on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

# --- draws
#
# Draws that any machine makes the same: SHA-256 of a key and a counter, and no logarithm.

_T = TypeVar("_T")
#: A double with all of its 53 bits is drawn by this many decimal digits. Published files rest on
#: it.
_FULL_DIGITS = 18


class Chance:
    """Numbers drawn from a key alone.

    A double is the one nearest to a decimal that was drawn, so that no rounding of powers and
    logarithms, which machines differ in, takes part.

    >>> Chance("seed", 1).whole(1, 6) == Chance("seed", 1).whole(1, 6)
    True
    """

    def __init__(self, *key: object) -> None:
        self._key = "/".join(map(str, key))
        self._drawn = 0

    def whole(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both of them among it."""
        self._drawn += 1
        drawn = hashlib.sha256(f"{self._key}/{self._drawn}".encode()).digest()
        return low + int.from_bytes(drawn, "big") % (high - low + 1)

    def pick(self, values: Sequence[_T]) -> _T:
        """Draw one of several values."""
        return values[self.whole(0, len(values) - 1)]

    def scale(self, low: int, high: int, digits: int | None = None) -> float:
        """Draw a double in [10^low, 10^high), each power of ten as often as the other.

        It is near a decimal of so many digits; of 1 to 3, or with all of its bits, where none are
        said.
        """
        digits = digits or self.pick((1, 2, 3, 3, _FULL_DIGITS, _FULL_DIGITS))
        mantissa = self.whole(10 ** (digits - 1), 10**digits - 1)
        return float(f"{mantissa}e{self.whole(low, high - 1) - digits + 1}")

    def between(self, low: int, high: int, places: int | None = None) -> float:
        """Draw a double between whole numbers, near a decimal of so many places, or of any."""
        places = places or self.pick((1, 2, 3, _FULL_DIGITS))
        return float(f"{self.whole(low * 10**places + 1, high * 10**places - 1)}e-{places}")


# --- recipes
#
# What questions are drawn for: a recipe a reason, with how many of them there are.

#: A part of a composition, or a question, with numbers not yet written.
Drawn = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """So many questions for the reasons `tags`, each drawn by `draw` from a chance of its own."""

    tags: tuple[str, ...]
    count: int
    draw: Callable[[Chance], Drawn]


#: These draw a mechanism by itself.
BASES: dict[str, Callable[[Chance], Drawn]] = {
    "gaussian": lambda chance: {"mechanism": "gaussian", "sigma": chance.scale(-1, 2)},
    "laplace": lambda chance: {"mechanism": "laplace", "b": chance.scale(-1, 2)},
    "randomized_response": lambda chance: {
        "mechanism": "randomized_response",
        "p": chance.between(0, 1),
    },
    "discrete_gaussian": lambda chance: {
        "mechanism": "discrete_gaussian",
        "sigma": chance.between(0, 20),
    },
}
#: These draw Rényi orders, by what is hard in them.
ORDERS: dict[str, Callable[[Chance], float]] = {
    "whole order": lambda chance: float(chance.whole(2, 64)),
    "large order": lambda chance: float(chance.whole(65, 1024)),
    "fractional order": lambda chance: 1 + chance.between(0, chance.pick((1, 10, 100))),
    "near order 1": lambda chance: 1 + chance.scale(-15, -3),
    "order 1": lambda chance: 1.0,
    "order infinity": lambda chance: float("inf"),
}
#: These draw sampling rates, by what is hard in them.
RATES: dict[str, Callable[[Chance], float]] = {
    "": lambda chance: chance.scale(-4, 0),
    "tiny rate": lambda chance: chance.scale(-30, -8),
    "rate next to 1": lambda chance: 1 - chance.scale(-15, -2),
}


def sampled(part: Drawn, sampling: str, rate: float) -> Drawn:
    """State a part on a sample."""
    return {**part, "sampling": sampling, "rate": rate}


def repeated(part: Drawn, count: int) -> Drawn:
    """State a part that is run so often."""
    return {**part, "count": count}


def question_of(part: Drawn, relation: str, **target: Any) -> Drawn:
    """State a question about one part; the `target` is its order, δ or ε."""
    return {"parts": [part], "relation": relation, **target}


Base = Callable[[Chance], Drawn]
Parts = Callable[[Chance], list[Drawn]]
Target = Callable[[Chance], dict[str, float]]


def _asked(parts: Parts, relation: str, target: Target) -> Base:
    """Draw the parts of a question, and then its target."""
    return lambda chance: {"parts": parts(chance), "relation": relation, **target(chance)}


def _alone(base: Base) -> Parts:
    return lambda chance: [base(chance)]


def _at(order: str) -> Target:
    """Draw an order of this sort."""
    return lambda chance: {"order": ORDERS[order](chance)}


# --- Rényi curves
#
# The questions about Rényi curves: mechanisms alone, in samples, and composed.

#: So many questions of each order are asked of each mechanism alone, and in samples below.
_ALONE = {
    "whole order": 200,
    "large order": 100,
    "fractional order": 200,
    "near order 1": 150,
    "order 1": 50,
}
#: How many questions of a sampled mechanism are drawn, by what is hard in them.
_SAMPLED = {
    "whole order": 300,
    "large order": 100,
    "fractional order": 300,
    "near order 1": 150,
    "order 1": 50,
}
#: Noise whose scale is drawn between these powers of ten is so wide that little is left of ε.
_WIDE = {"gaussian": ("sigma", 100, 150), "laplace": ("b", 20, 140)}
_HAS_SENSITIVITY = ("gaussian", "laplace", "discrete_gaussian")  # mechanisms with a sensitivity


def _ask(base: Base, order: str, relation: str = "either") -> Callable[[Chance], Drawn]:
    return _asked(_alone(base), relation, _at(order))


def _any_order(chance: Chance) -> str:
    """Draw a sort of order."""
    return chance.pick(("whole order", "fractional order", "near order 1"))


def curves_alone(name: str) -> Iterator[Recipe]:
    """Yield recipes of questions about one mechanism by itself, at each class of orders."""
    base = BASES[name]
    for order, count in _ALONE.items():
        yield Recipe((order,), count, _ask(base, order))
    if name in ("laplace", "randomized_response"):
        yield Recipe(("order infinity",), 50, _ask(base, "order infinity"))

    def moved(chance: Chance) -> Drawn:
        sensitivity = chance.scale(-2, 2)
        if name == "discrete_gaussian":
            sensitivity = float(chance.whole(2, 9))
        part = {**base(chance), "sensitivity": sensitivity}
        return question_of(part, "either", order=ORDERS[_any_order(chance)](chance))

    def wide(chance: Chance) -> Drawn:
        scale, low, high = _WIDE[name]
        part = {"mechanism": name, scale: chance.scale(low, high)}
        return question_of(part, "either", order=ORDERS[_any_order(chance)](chance))

    def counted(chance: Chance) -> Drawn:
        part = repeated(base(chance), 10 ** chance.whole(5, 14) + chance.whole(0, 10**5))
        return question_of(part, "either", order=ORDERS[_any_order(chance)](chance))

    def hardly(chance: Chance) -> Drawn:
        part = {"mechanism": name, "p": 0.5 + chance.scale(-16, -4)}
        return question_of(part, "either", order=ORDERS[_any_order(chance)](chance))

    if name in _HAS_SENSITIVITY:
        yield Recipe(("sensitivity",), 200, moved)
    if name in _WIDE:
        yield Recipe(("underflow", "cancellation"), 150, wide)
    if name == "randomized_response":
        yield Recipe(("cancellation",), 200, hardly)
    yield Recipe(("huge count",), 150, counted)


def curves_of_samples(name: str, times: int = 1) -> Iterator[Recipe]:
    """A mechanism on a Poisson sample, under add/remove."""
    base = BASES[name]

    def of(rate: str) -> Base:
        return lambda chance: sampled(base(chance), "poisson", RATES[rate](chance))

    for order, count in _SAMPLED.items():
        yield Recipe((order,), count * times, _ask(of(""), order, "add_remove"))
    for rate, order in (
        ("tiny rate", "whole order"),
        ("tiny rate", "fractional order"),
        ("rate next to 1", "whole order"),
        ("rate next to 1", "fractional order"),
    ):
        also = ("underflow", "cancellation") if rate == "tiny rate" else ()
        yield Recipe((rate, order, *also), 75 * times, _ask(of(rate), order, "add_remove"))

    def moved(chance: Chance) -> Drawn:
        sensitivity = float(chance.whole(2, 9)) if name == "discrete_gaussian" else None
        part = of("")(chance)
        part = {**part, "sensitivity": sensitivity or chance.scale(-1, 1)}
        return question_of(part, "add_remove", order=ORDERS[_any_order(chance)](chance))

    if name in _HAS_SENSITIVITY:
        yield Recipe(("sensitivity",), 100 * times, moved)


def other_relation() -> Iterator[Recipe]:
    """Samples under replace-one, where a Poisson bound of add/remove is none."""

    def gaussian(chance: Chance) -> Drawn:
        part = {"mechanism": "gaussian", "sigma": chance.scale(0, 2)}
        return sampled(part, "poisson", RATES[""](chance))

    def response(chance: Chance) -> Drawn:
        return sampled(BASES["randomized_response"](chance), "poisson", RATES[""](chance))

    for order in ("whole order", "fractional order"):
        for base in (gaussian, response):
            yield Recipe(("relation", order), 150, _ask(base, order, "replace_one"))


def fixed_size() -> Iterator[Recipe]:
    """Samples of a fixed size under replace-one: the exact curve over all datasets."""

    def noise(chance: Chance) -> Drawn:
        part = {"mechanism": "gaussian", "sigma": chance.between(1, 20)}
        return sampled(part, "fixed_size", chance.scale(-5, -1))

    def gaussian(order: str) -> Callable[[Chance], Drawn]:
        def draw(chance: Chance) -> Drawn:
            high = chance.pick((4, 16, 32))
            whole = order == "whole order"
            alpha = float(chance.whole(2, high)) if whole else 1 + chance.between(1, high)
            return question_of(noise(chance), "replace_one", order=alpha)

        return draw

    for order in ("whole order", "fractional order"):
        yield Recipe(("relation", order), 300, gaussian(order))
        for name in ("laplace", "randomized_response"):

            def other(chance: Chance, name: str = name) -> Drawn:
                return sampled(BASES[name](chance), "fixed_size", RATES[""](chance))

            yield Recipe(("relation", order), 250, _ask(other, order, "replace_one"))


def compositions() -> Iterator[Recipe]:
    """Many runs of a sample, and parts that are unlike each other."""

    def run(chance: Chance) -> Drawn:
        name = chance.pick(("gaussian", "gaussian", "laplace", "randomized_response"))
        part = BASES[name](chance)
        return sampled(part, "poisson", RATES[""](chance)) if chance.whole(0, 2) else part

    def unlike(chance: Chance) -> list[Drawn]:
        parts = [repeated(run(chance), chance.whole(1, 10**4)) for _ in range(4)]
        return parts[: chance.whole(2, 4)]

    def training(chance: Chance) -> Drawn:
        part = {"mechanism": "gaussian", "sigma": chance.whole(50, 450) / 100}
        part = sampled(part, "poisson", chance.scale(-5, -1))
        return repeated(part, chance.whole(10, 10 ** chance.whole(2, 15)))

    for order in ("whole order", "fractional order", "near order 1"):
        yield Recipe(("unlike parts", order), 250, _asked(unlike, "add_remove", _at(order)))
        yield Recipe(("huge count", order), 250, _ask(training, order, "add_remove"))


# --- profiles, conversions, calibration
#
# The questions about (ε, δ): of profiles, of conversions, and for the least noise.

#: These draw the δ that is given, by what is hard in it.
DELTAS: dict[str, Target] = {
    "": lambda chance: {"delta": chance.scale(-10, -3)},
    "small delta": lambda chance: {"delta": chance.scale(-60, -12)},
}
#: This gives ε = 0.
ZERO: dict[str, Target] = {"epsilon 0": lambda chance: {"epsilon": 0.0}}


def _asks(asks: str, largest: int = 0) -> dict[str, Target]:
    """Choose what is given for a file; ε is below 10^largest, so that δ is in reach."""
    plain = {"": lambda chance: {"epsilon": chance.scale(-2, largest)}}
    return DELTAS if asks == "epsilon" else {**plain, **ZERO}


def profiles_alone(asks: str) -> Iterator[Recipe]:
    """Gaussian noise, Laplace noise and randomized response, once and several times."""

    def gaussian(chance: Chance) -> Drawn:
        part = {"mechanism": "gaussian", "sigma": chance.scale(-1, 2)}
        return repeated(part, chance.whole(1, 10 ** chance.whole(0, 4)))

    def laplace(chance: Chance) -> Drawn:
        part = {"mechanism": "laplace", "b": chance.between(1, 10)}
        return repeated(part, chance.pick((1, 1, 1, 2, 3, 5)))

    def response(chance: Chance) -> Drawn:
        part = {"mechanism": "randomized_response", "p": chance.between(0, 1)}
        return repeated(part, chance.whole(1, 10 ** chance.whole(0, 3)))

    for base in (gaussian, laplace, response):
        for hard, target in _asks(asks, largest=1).items():
            draw = _asked(_alone(base), "either", target)
            yield Recipe((hard,) if hard else (), 150 if not hard else 75, draw)


def _training(chance: Chance) -> Drawn:
    """Draw a training run: σ from 0.6 to 4, a rate from 1e-4 to 0.1, 100 to 100,000 steps."""
    part = {"mechanism": "gaussian", "sigma": chance.whole(60, 400) / 100}
    part = sampled(part, "poisson", chance.scale(-4, -1))
    return repeated(part, chance.whole(10**2, 10**5))


def profiles_of_samples(asks: str) -> Iterator[Recipe]:
    """Runs on Poisson samples, alone and with other parts."""

    def single(chance: Chance) -> list[Drawn]:
        gaussian = {"mechanism": "gaussian", "sigma": chance.scale(-1, 1)}
        others = [BASES[name](chance) for name in ("laplace", "randomized_response")]
        return [sampled(chance.pick([gaussian, *others]), "poisson", chance.scale(-4, 0))]

    def many(chance: Chance) -> list[Drawn]:
        part = {"mechanism": "gaussian", "sigma": float(chance.whole(50, 99))}
        rate = chance.scale(-4, -3)
        return [repeated(sampled(part, "poisson", rate), chance.whole(10**8, 10**10))]

    def unlike(chance: Chance) -> list[Drawn]:
        other = chance.pick(("gaussian", "randomized_response"))
        wide = {"mechanism": "gaussian", "sigma": float(chance.whole(5, 50))}
        answers = {"mechanism": other, "p": 0.5 + chance.between(0, 1, 3) / 16}
        second = wide if other == "gaussian" else answers
        return [_training(chance), repeated(second, chance.whole(1, 20))]

    def response(chance: Chance) -> list[Drawn]:
        part = sampled(BASES["randomized_response"](chance), "poisson", chance.scale(-4, 0))
        return [repeated(part, chance.whole(2, 1000))]

    for tags, counts, parts in (
        ((), (150, 75), single),
        ((), (250, 100), _alone(_training)),
        (("huge count",), (100, 50), many),
        (("unlike parts",), (150, 75), unlike),
        ((), (100, 50), response),
    ):
        for (hard, target), count in zip(_asks(asks).items(), counts, strict=True):
            draw = _asked(parts, "add_remove", target)
            yield Recipe((*tags, hard) if hard else tags, count, draw)


def conversions(asks: str) -> Iterator[Recipe]:
    """The least of what a conversion says of points of a curve."""

    def straight(chance: Chance) -> Drawn:
        """Points near ρα, from orders near 1 to large ones."""
        rho = chance.scale(-4, 0)
        orders = [1 + chance.scale(-2, 3) for _ in range(8)][: chance.whole(1, 8)]
        return {"curve": [[order, order * rho] for order in sorted(orders)]}

    for name in ("classic", "improved", "optimal"):
        for hard, target in _asks(asks, largest=1).items():

            def draw(chance: Chance, name: str = name, target: Target = target) -> Drawn:
                return {"conversion": name, **straight(chance), **target(chance)}

            yield Recipe((hard,) if hard else (), 175 if not hard else 75, draw)


def calibration() -> Iterator[Recipe]:
    """The least Gaussian noise of a target."""

    def draw(chance: Chance) -> Drawn:
        target = {"epsilon": chance.scale(-2, 1), "delta": chance.scale(-15, -2)}
        return {"sensitivity": chance.pick((1.0, 1.0, chance.scale(-1, 2))), **target}

    def small(chance: Chance) -> Drawn:
        return {"sensitivity": 1.0, "epsilon": chance.scale(-1, 1), "delta": chance.scale(-60, -20)}

    yield Recipe((), 250, draw)
    yield Recipe(("small delta",), 100, small)
