"""Which ways to the exact profile questions of answered.py need: each is switched off in turn.

`python -m benchmarks.ways_needed [--count 500] [--some 8] [--limit 6] [--way TEXT]`.
A first pass notes which ways each question takes, but for those that are ended at `--limit`
seconds. Then up to `--some` of those that take a way are asked with it and without it. A question
needs it if it then takes more than twice the processor time, or if something else comes of it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import pkgutil
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import symacct.profile
from benchmarks import answered
from benchmarks.answered import Question

PACKAGE = symacct.profile.__name__
FACTOR, LEAST = 2, 0.02  # seconds, which a process takes that asks nothing
TAKEN = lambda *_: True  # noqa: E731
call = lambda name, *given: named(name)[2](*given)  # noqa: E731


class Way(NamedTuple):
    """A function's or a method's name, what stands in its place, and whether it was taken."""

    name: str
    without: Callable[..., Any] = lambda *_: None
    is_taken: Callable[[Any, tuple[Any, ...]], bool] = lambda found, _: found is not None


WAYS = {
    "Laplace noise unsampled, in closed form": Way("unsampled_form"),
    "Laplace noise, on bent rays": Way("laplace_form"),
    "finite laws, by their outcomes": Way("finite_form"),
    "binomial tails, from a table": Way(
        "profile_for",
        lambda part, count, way, _: lambda y: call("binary_profile", part, count, y, way),
        lambda found, _: found.func is not named("binary_profile")[2],
    ),
    "losses on one lattice": Way("lattice_form"),
    "one discrete Gaussian, by a Fourier sum": Way("discrete_gaussian_form"),
    "whole numbers, by their outcomes": Way("integer_form"),
    "the exchanged pairs' contour": Way(
        "moments_and_plan",
        lambda *x: call("smoothed", *x),
        lambda y, x: y[0].reverse ^ x[0].reverse,
    ),
    "a contour beside a little noise": Way(
        "smoothed", lambda *x: (x[0], call("plan", *x)), lambda y, x: y[0] is not x[0]
    ),
    "tapered nodes": Way("shortest_taper"),
    "a line far beyond the saddle": Way("Moments.moments_beyond", lambda *_: [[]] * 3, TAKEN),
    "both ways on one contour": Way("_across", lambda *x: (None, x[-1]), lambda y, _: bool(y[0])),
    "grids of losses": Way("Grids.cost", lambda *_: math.inf, lambda cost, _: cost < math.inf),
    "a root guessed by spread and jump": Way("_of_samples", lambda *given: given[-1], TAKEN),
}


def named(name: str) -> tuple[Any, str, Any]:
    """The module or class that defines a function of the profile, its own name, and itself."""
    owner_name, _, own = name.rpartition(".")
    for key in sorted(key for key in sys.modules if key.startswith(PACKAGE)):
        owner = getattr(sys.modules[key], owner_name, None) if owner_name else sys.modules[key]
        found = getattr(owner, own, None)
        if getattr(found, "__module__", "") == key:
            return owner, own, found
    raise LookupError(f"found no {name} in {PACKAGE}")


def put(way: Way, new: Callable[..., Any]) -> None:
    """Another function in its place, wherever it was imported, and in the table of forms."""
    owner, own, old = named(way.name)
    setattr(owner, own, new)
    for module in [module for key, module in sys.modules.items() if key.startswith("symacct")]:
        for name, value in list(vars(module).items()):
            if value is old:
                setattr(module, name, new)
            elif name == "_FORMS":
                rows = (tuple(new if one is old else one for one in row) for row in value)
                setattr(module, name, tuple(rows))


def note(way: Way, label: str, taken: set[str]) -> None:
    old = named(way.name)[2]

    def asked(*given: Any, **more: Any) -> Any:
        found = old(*given, **more)
        if way.is_taken(found, given):
            taken.add(label)
        return found

    asked.__module__ = old.__module__  # to be found by its name as well
    put(way, asked)


def measured(
    some: list[Question], prepare: Callable[[set[str]], Any], limit: float
) -> Iterator[tuple[str, float, list[str]]]:
    """What came of each question, its processor time, and what `prepare` had noted, in order."""
    plain = answered.ask

    def ask(*given: Any) -> tuple[str, str]:
        taken: set[str] = set()
        prepare(taken)
        return plain(*given)[0], json.dumps(sorted(taken))

    answered.ask = ask
    for _, came, spent, said in answered.measured(some, 4, "exact", limit, 1):
        yield came, spent, json.loads(said) if said.startswith("[") else []
    answered.ask = plain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--some", type=int, default=8)
    parser.add_argument("--limit", type=float, default=6.0)
    parser.add_argument("--way", default="")
    options = parser.parse_args()
    for module in pkgutil.walk_packages(symacct.profile.__path__, f"{PACKAGE}."):
        importlib.import_module(module.name)
    ways = {label: way for label, way in WAYS.items() if options.way in label}
    every, takes = list(answered.questions(options.count, 28)), {x: [] for x in ways}
    prepare = lambda taken: [note(way, label, taken) for label, way in ways.items()]  # noqa: E731
    for question, (*_, taken) in zip(every, measured(every, prepare, options.limit), strict=True):
        for label in taken:
            takes[label].append(question)
    print("taken by   asked  need it  longer by  without")
    for label, way in ways.items():
        drawn = random.Random(0).sample(takes[label], min(options.some, len(takes[label])))  # noqa: S311
        before = list(measured(drawn, lambda _: None, options.limit))
        after = list(measured(drawn, lambda _, way=way: put(way, way.without), options.limit))
        factors, needed = [1.0], 0
        for (came, spent, _), (now, then, _) in zip(before, after, strict=True):
            factors.append(max(then - LEAST, LEAST) / max(spent - LEAST, LEAST))
            needed += came != now or factors[-1] > FACTOR
        figures = f"{len(takes[label]):8}{len(drawn):8}{needed:9}{max(factors):11.1f}"
        print(figures, label, sep="  ", flush=True)


if __name__ == "__main__":
    main()
