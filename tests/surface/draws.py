"""Seeded expressions over all leaves, operations and relations, as text that `parse` reads."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

Draw = random.Random
NOISES = ("1/2", "7/10", "1", "3/2", "2", "5", "12", "sqrt(2)", "0.83")
RATES = ("1/1000", "1/100", "1/17", "1/3", "1/2", "9/10", "0.0042", "999/1000")
SMALL = ("1/20", "1/7", "1/2", "1", "12/5")
COUNTS = (2, 3, 7, 40, 1000)
RELATIONS = ("either", "add_remove", "replace_one")


def _pick(draw: Draw, values: tuple[object, ...]) -> str:
    return str(draw.choice(values))


def _law(draw: Draw, size: int) -> str:
    counts = [draw.randint(1, 9) for _ in range(size)]
    return "[" + ", ".join(f"{count}/{sum(counts)}" for count in counts) + "]"


def _pair(draw: Draw) -> str:
    size = draw.randint(2, 4)
    return f"DistributionPair({_law(draw, size)}, {_law(draw, size)}"


def _matrix(draw: Draw) -> str:
    steps = draw.randint(1, 4)
    rows = [
        [draw.choice(("0", "1/2", "-1/3")) if j < i else str(int(i == j)) for j in range(steps)]
        for i in range(steps)
    ]
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in rows) + "]"


LEAVES: dict[str, Callable[[Draw], str]] = {
    "Gaussian": lambda d: f"Gaussian({_pick(d, NOISES)})",
    "Gaussian, sensitivity": lambda d: f"Gaussian({_pick(d, NOISES)}, {_pick(d, ('1/2', 3))})",
    "ScalarGaussian": lambda d: f"ScalarGaussian({_pick(d, NOISES)})",
    "Laplace": lambda d: f"Laplace({_pick(d, NOISES)})",
    "VectorLaplace": lambda d: f"VectorLaplace({_pick(d, NOISES)})",
    "DiscreteGaussian": lambda d: f"DiscreteGaussian({_pick(d, NOISES)}, {d.randint(1, 3)})",
    "DiscreteLaplace": lambda d: f"DiscreteLaplace({_pick(d, NOISES)}, {d.randint(1, 3)})",
    "DiscreteGaussianSum": lambda d: f"DiscreteGaussianSum({_pick(d, NOISES)}, {d.randint(1, 9)})",
    "Skellam": lambda d: f"Skellam({_pick(d, NOISES[2:])}, {d.randint(1, 2)})",
    "RandomizedResponse": lambda d: f"RandomizedResponse({d.randint(1, 9)}/11)",
    "ExponentialMechanism": lambda d: f"ExponentialMechanism({_pick(d, SMALL)})",
    "PermuteAndFlip": lambda d: f"PermuteAndFlip({_pick(d, SMALL)})",
    "NoisyMax": lambda d: f"NoisyMax({_pick(d, NOISES)})",
    "GaussianNoisyMax": lambda d: f"GaussianNoisyMax({_pick(d, NOISES)}, {d.randint(2, 40)})",
    "SparseVector": lambda d: (
        f"SparseVector({_pick(d, NOISES)}, {_pick(d, NOISES)}, {d.randint(1, 3)})"
    ),
    "GaussianSparseVector": lambda d: (
        f"GaussianSparseVector({_pick(d, NOISES)}, {_pick(d, NOISES)}, {d.randint(3, 40)}, 2)"
    ),
    "NoisyDescent": lambda d: (
        f"NoisyDescent({_pick(d, NOISES)}, {d.randint(1, 40)}, {_pick(d, ('1', '1/2', '9/10'))})"
    ),
    "NoisyPass": lambda d: f"NoisyPass({_pick(d, NOISES)}, {d.randint(1, 9)})",
    "TreeAggregation": lambda d: f"TreeAggregation({_pick(d, NOISES)}, {d.randint(1, 1000)})",
    "MatrixMechanism": lambda d: f"MatrixMechanism({_matrix(d)}, {_pick(d, NOISES)})",
    "PureDP": lambda d: f"PureDP({_pick(d, SMALL)}, '{_pick(d, RELATIONS)}')",
    "ZCDP": lambda d: f"ZCDP({_pick(d, SMALL)}, {_pick(d, ('0', '1/10'))})",
    "TCDP": lambda d: f"TCDP({_pick(d, SMALL)}, {d.randint(20, 200)})",
    "ApproximateDP": lambda d: f"ApproximateDP({_pick(d, SMALL)}, 1e-{d.randint(5, 9)})",
    "ExponentialFamily": lambda d: f"ExponentialFamily({_pick(d, SMALL)}, 'inf', 100)",
    "FiniteMechanism": lambda d: "FiniteMechanism([{}])".format(
        ", ".join(_law(d, 3) for _ in range(d.randint(2, 3)))
    ),
    "DistributionPair": lambda d: f"{_pair(d)})",
    "DistributionPair, with_record": lambda d: f"{_pair(d)}, 'add_remove', with_record='P')",
    "DistributionPair, densities": lambda d: (
        f"DistributionPair(laws.Normal(0, {_pick(d, NOISES[2:])}), laws.Normal(1, 1))"
    ),
    "Curve": lambda d: (
        f"Curve('alpha*{_pick(d, SMALL)}', kind='{_pick(d, ('exact', 'upper'))}', "
        "adjacency='either', at_infinity='inf')"
    ),
}

Over = Callable[[Draw, str], str]
OPERATIONS: dict[str, Over] = {
    "PoissonSubsample": lambda d, m: f"PoissonSubsample({m}, {_pick(d, RATES)})",
    "PoissonSubsample, replace_one": lambda d, m: (
        f"PoissonSubsample({m}, {_pick(d, RATES)}, 'replace_one')"
    ),
    "SubsampleWithoutReplacement": lambda d, m: (
        f"SubsampleWithoutReplacement({m}, {_pick(d, RATES)})"
    ),
    "SubsampleWithoutReplacement, add_remove": lambda d, m: (
        f"SubsampleWithoutReplacement({m}, {_pick(d, RATES)}, 'add_remove')"
    ),
    "RandomAllocation": lambda d, m: f"RandomAllocation({m}, {d.randint(2, 9)})",
    "Compose": lambda d, m: f"{_pick(d, COUNTS)}*{_within(m)}",
    "Compose, two": lambda d, m: f"{m} + {leaf(d)}",
    "Compose, three": lambda d, m: f"{_pick(d, COUNTS)}*{_within(m)} + {leaf(d)} + {leaf(d)}",
    "Either": lambda d, m: f"Either({m}, {leaf(d)}, {d.randint(1, 9)}/10)",
    "Scale": lambda d, m: f"Scale({m}, {_pick(d, ('1/3', '5/2'))})",
    "GroupPrivacy": lambda d, m: f"GroupPrivacy({m}, {d.randint(2, 4)})",
    "PostProcess": lambda d, m: f"PostProcess({m})",
    "Convexify": lambda d, m: f"Convexify({m}, {d.randint(4, 16)})",
    "Failing": lambda d, m: f"Failing({m}, 1e-{d.randint(6, 8)})",
    "RepeatAndSelect": lambda d, m: f"RepeatAndSelect({m}, laws.Poisson({d.randint(1, 20)}))",
    "sample_with_replacement": lambda d, m: f"{m} + sample_with_replacement({_noise(d)}, 1000, 10)",
    "truncated_poisson": lambda d, m: f"{m} + truncated_poisson({_noise(d)}, 1/100, 10000, 130)",
}


def _noise(draw: Draw) -> str:
    return f"Gaussian({_pick(draw, NOISES)})"


def _within(text: str) -> str:
    return f"({text})" if " + " in text or text[0].isdigit() else text


def leaf(draw: Draw) -> str:
    """A leaf, each as likely as any other."""
    return draw.choice(list(LEAVES.values()))(draw)


def over(draw: Draw, text: str) -> str:
    """An operation on it, each as likely as any other."""
    return draw.choice(list(OPERATIONS.values()))(draw, text)


def expressions(count: int, seed: int = 0) -> Iterator[str]:
    """Every operation on every leaf first, then operations on operations; none twice."""
    draw, seen = random.Random(seed), set[str]()
    pairs = [(of, write) for of in OPERATIONS.values() for write in LEAVES.values()]
    for write in LEAVES.values():
        seen.add(text := write(draw))
        yield text
    for operation, write in draw.sample(pairs, len(pairs)):
        if (text := operation(draw, write(draw))) not in seen:
            seen.add(text)
            yield text
    while len(seen) < count:
        text = leaf(draw)
        for _ in range(draw.randint(2, 3)):
            text = over(draw, text)
        if text not in seen:
            seen.add(text)
            yield text
