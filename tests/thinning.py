"""A part of the cases in `make test`, all of them in a soak, by the same tests."""

import random
from collections import defaultdict

import pytest
from hypothesis import settings

#: Marks a test of which only some cases are run here: those that show every value of every
#: parameter, or what the argument says of the parameters, case by case.
covering = pytest.mark.soak.with_args


def every(**case):
    """What is shown where each case counts: for tests that draw more within a case in a soak."""
    return {tuple(case.items())}


def in_a_soak():
    """Under `--hypothesis-profile=soak`."""
    return settings.default.max_examples >= 10


def some(few, many):
    """How many are enough here, and in a soak."""
    return many if in_a_soak() else few


def examples(few, many):
    """So many of a law in the tests, and so many new ones in a soak."""
    return settings(max_examples=some(few, many))


def thinned(cases, shown, seed):
    """Of cases in a fixed random order each one that shows what none before it does."""
    seen, kept = set(), []
    for place in random.Random(seed).sample(range(len(cases)), len(cases)):
        if not seen.issuperset(keys := shown(cases[place])):
            seen |= keys
            kept.append(place)
    return [cases[place] for place in sorted(kept)]


def shown(item):
    """What a case shows by the mark of its test; without more, each value of each parameter."""
    if not hasattr(item, "callspec"):
        return {item}
    marked = item.get_closest_marker("soak").args
    if marked:
        return marked[0](**item.callspec.params)
    return {together(item, mark.args[0]) for mark in item.iter_markers("parametrize")}


def together(item, names):
    """The values of parameters that are given together, as the objects that they are."""
    names = names.split(",") if isinstance(names, str) else names
    return tuple((name, id(item.callspec.params[name.strip()])) for name in names)


def seed(place, test):
    """What the order of cases is drawn from: the names of file and test, not the folder."""
    return str((f"tests/{place.rpartition('/')[2]}", test))


def pytest_collection_modifyitems(config, items):
    """Outside a soak the cases that show nothing new are left out."""
    tests = defaultdict(list)
    for item in items:
        if item.get_closest_marker("soak"):
            tests[item.parent.nodeid, item.originalname].append(item)
    if tests and not in_a_soak():
        kept = {one for name, cases in tests.items() for one in thinned(cases, shown, seed(*name))}
        left = {one for cases in tests.values() for one in cases} - kept
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]
