"""The questions about (ε, δ): of profiles, of conversions, and for the least noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symacct.evidence.vectors.chance import Chance
from symacct.evidence.vectors.recipes import BASES, Drawn, Recipe, one_part, repeated, sampled

Asked = Callable[[Chance], dict[str, float]]
Base = Callable[[Chance], Drawn]

#: What is given, by what is hard of it.
DELTAS: dict[str, Asked] = {
    "": lambda chance: {"delta": chance.scale(-10, -3)},
    "small delta": lambda chance: {"delta": chance.scale(-60, -12)},
}
ZERO: dict[str, Asked] = {"epsilon 0": lambda chance: {"epsilon": 0.0}}


def _asks(asks: str, largest: int = 0) -> dict[str, Asked]:
    """What is given for a file; ε below 10^largest, so that δ is in reach."""
    plain = {"": lambda chance: {"epsilon": chance.scale(-2, largest)}}
    return DELTAS if asks == "epsilon" else {**plain, **ZERO}


def alone(asks: str) -> Iterator[Recipe]:
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
        for hard, asked in _asks(asks, largest=1).items():

            def draw(chance: Chance, base: Base = base, asked: Asked = asked) -> Drawn:
                return one_part(base(chance), "either", **asked(chance))

            yield Recipe((hard,) if hard else (), 150 if not hard else 75, draw)


def _training(chance: Chance) -> Drawn:
    part = {"mechanism": "gaussian", "sigma": chance.whole(60, 400) / 100}
    part = sampled(part, "poisson", chance.scale(-4, -1))
    return repeated(part, chance.whole(10**2, 10**5))


def poisson(asks: str) -> Iterator[Recipe]:
    """Runs on Poisson samples, alone and with other parts."""

    def single(chance: Chance) -> list[Drawn]:
        gaussian = {"mechanism": "gaussian", "sigma": chance.scale(-1, 1)}
        others = [BASES[name](chance) for name in ("laplace", "randomized_response")]
        return [sampled(chance.pick([gaussian, *others]), "poisson", chance.scale(-4, 0))]

    def runs(chance: Chance) -> list[Drawn]:
        return [_training(chance)]

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
        ((), (250, 100), runs),
        (("huge count",), (100, 50), many),
        (("unlike parts",), (150, 75), unlike),
        ((), (100, 50), response),
    ):
        for (hard, asked), count in zip(_asks(asks).items(), counts, strict=True):

            def draw(
                chance: Chance,
                parts: Callable[[Chance], list[Drawn]] = parts,
                asked: Asked = asked,
            ) -> Drawn:
                return {"parts": parts(chance), "relation": "add_remove", **asked(chance)}

            yield Recipe((*tags, hard) if hard else tags, count, draw)


def conversions(asks: str) -> Iterator[Recipe]:
    """The least of what a conversion says of points of a curve."""

    def straight(chance: Chance) -> Drawn:
        """Points near ρα, from orders near 1 to large ones."""
        rho = chance.scale(-4, 0)
        orders = [1 + chance.scale(-2, 3) for _ in range(8)][: chance.whole(1, 8)]
        return {"curve": [[order, order * rho] for order in sorted(orders)]}

    for name in ("classic", "improved", "optimal"):
        for hard, asked in _asks(asks, largest=1).items():

            def draw(chance: Chance, name: str = name, asked: Asked = asked) -> Drawn:
                return {"conversion": name, **straight(chance), **asked(chance)}

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
