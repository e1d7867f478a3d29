"""The questions about Rényi curves: mechanisms alone, in samples, and composed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symacct.evidence.vectors.chance import Chance
from symacct.evidence.vectors.recipes import (
    BASES,
    ORDERS,
    RATES,
    Drawn,
    Recipe,
    one_part,
    repeated,
    sampled,
)

Base = Callable[[Chance], Drawn]
#: How many questions of each order there are, for each mechanism alone and in samples.
_ALONE = {
    "whole order": 200,
    "large order": 100,
    "fractional order": 200,
    "near order 1": 150,
    "order 1": 50,
}
_SAMPLED = {
    "whole order": 300,
    "large order": 100,
    "fractional order": 300,
    "near order 1": 150,
    "order 1": 50,
}
#: Noise so wide that little is left of ε, by what its scale is called.
_WIDE = {"gaussian": ("sigma", 100, 150), "laplace": ("b", 20, 140)}
_HAS_SENSITIVITY = ("gaussian", "laplace", "discrete_gaussian")


def _ask(base: Base, order: str, relation: str = "either") -> Callable[[Chance], Drawn]:
    return lambda chance: one_part(base(chance), relation, order=ORDERS[order](chance))


def _any_order(chance: Chance) -> str:
    return chance.pick(("whole order", "fractional order", "near order 1"))


def alone(name: str) -> Iterator[Recipe]:
    """A mechanism by itself."""
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
        return one_part(part, "either", order=ORDERS[_any_order(chance)](chance))

    def wide(chance: Chance) -> Drawn:
        scale, low, high = _WIDE[name]
        part = {"mechanism": name, scale: chance.scale(low, high)}
        return one_part(part, "either", order=ORDERS[_any_order(chance)](chance))

    def counted(chance: Chance) -> Drawn:
        part = repeated(base(chance), 10 ** chance.whole(5, 14) + chance.whole(0, 10**5))
        return one_part(part, "either", order=ORDERS[_any_order(chance)](chance))

    def hardly(chance: Chance) -> Drawn:
        part = {"mechanism": name, "p": 0.5 + chance.scale(-16, -4)}
        return one_part(part, "either", order=ORDERS[_any_order(chance)](chance))

    if name in _HAS_SENSITIVITY:
        yield Recipe(("sensitivity",), 200, moved)
    if name in _WIDE:
        yield Recipe(("underflow", "cancellation"), 150, wide)
    if name == "randomized_response":
        yield Recipe(("cancellation",), 200, hardly)
    yield Recipe(("huge count",), 150, counted)


def poisson(name: str, times: int = 1) -> Iterator[Recipe]:
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
        return one_part(part, "add_remove", order=ORDERS[_any_order(chance)](chance))

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
            asked = float(chance.whole(2, high)) if whole else 1 + chance.between(1, high)
            return one_part(noise(chance), "replace_one", order=asked)

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

    def unlike(order: str) -> Callable[[Chance], Drawn]:
        def draw(chance: Chance) -> Drawn:
            parts = [repeated(run(chance), chance.whole(1, 10**4)) for _ in range(4)]
            parts = parts[: chance.whole(2, 4)]
            return {"parts": parts, "relation": "add_remove", "order": ORDERS[order](chance)}

        return draw

    def training(order: str) -> Callable[[Chance], Drawn]:
        def draw(chance: Chance) -> Drawn:
            part = {"mechanism": "gaussian", "sigma": chance.whole(50, 450) / 100}
            part = sampled(part, "poisson", chance.scale(-5, -1))
            part = repeated(part, chance.whole(10, 10 ** chance.whole(2, 15)))
            return one_part(part, "add_remove", order=ORDERS[order](chance))

        return draw

    for order in ("whole order", "fractional order", "near order 1"):
        yield Recipe(("unlike parts", order), 250, unlike(order))
        yield Recipe(("huge count", order), 250, training(order))
