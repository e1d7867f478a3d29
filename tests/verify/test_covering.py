"""What a seed asks of every peer: all pairs of sizes, and all ways in which parts differ."""

import functools
import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, islice, product

import numpy as np
import pytest

from symacct.verify.asking import covering
from symacct.verify.asking.questions import FULL, QUICK, others
from symacct.verify.asking.simplify import other_side
from symacct.verify.judging import matching
from symacct.verify.judging.truth import Oracle
from symacct.verify.judging.verdict import Judge
from symacct.verify.peer.protocol import MECHANISMS, Answer, Ask, AskedPart, Hello, Support

ENDS = ("rdp", "epsilon", "delta")
SAMPLED = Support("Gaussian", "poisson", asks=ENDS, inner=True)
PLAIN = Support(
    "Gaussian",
    asks=(*ENDS, "rho", "noise", "runs"),
    order_one=True,
    sensitivity=True,
    group=True,
    batch=True,
)
LIES = Support("RandomizedResponse", "poisson", asks=ENDS)
TREE = Support("TreeAggregation", asks=("rdp", "rho"), group=True)
NOISE = Support("Laplace", order_one=True)
BOTH = Support("ZCDP", asks=ENDS)
HELLO = Hello("p", "1", (SAMPLED, PLAIN, LIES, TREE, NOISE, BOTH), compose=True)


#: The questions of HELLO, drawn once for each seed.
drawn = functools.cache(lambda seed: list(covering.covering(HELLO, QUICK, seed)))


def asked(extent=QUICK, seed=0, hello=HELLO):
    if (extent, hello) == (QUICK, HELLO):
        return drawn(seed)
    return list(covering.covering(hello, extent, seed))


def gaussian(sigma, gamma=None, count=1, **more):
    sampling = "none" if gamma is None else "poisson"
    return AskedPart("Gaussian", (("sigma", sigma),), sampling, gamma, count, **more)


@pytest.mark.parametrize("sizes", [(3, 4, 5), (2, 2), (7,), (9, 10, 12, 11, 4)])
def test_any_two_levels_of_two_numbers_meet(sizes):
    levels = [[(i, a) for a in range(size)] for i, size in enumerate(sizes)]
    chosen = list(covering.pairwise(levels, random.Random(0)))
    for i, j in combinations(range(len(sizes)), 2):
        met = {(one[i], one[j]) for one in chosen}
        assert met == set(product(levels[i], levels[j]))
    assert {one[0] for one in chosen} == set(levels[0])
    for i, own in enumerate(levels):
        assert {one[i] for one in chosen[: 2 * max(sizes)]} == set(own)
    largest = sorted(sizes)[-2:]
    assert len(chosen) <= 2.2 * largest[0] * largest[-1]


def test_the_seed_alone_decides():
    assert asked(seed=1) == list(covering.covering(HELLO, QUICK, 1))
    assert asked(seed=1) != asked(seed=2)


@pytest.mark.parametrize("seed", range(2))
def test_no_kind_of_number_is_left_out(seed):
    found = asked(seed=seed)
    parts = [part for ask in found for part in ask.parts]
    counts = {part.count for part in parts}
    assert all(
        any(least < count < least + 20 for count in counts) for least in (2**24, 2**31, 2**32)
    )
    assert any(part.gamma == "1" for part in parts)
    assert any(part.gamma and Fraction(1, 2) < part.rate < 1 for part in parts)
    assert any(name == "p" and 2 * Fraction(x) < 1 for p in parts for name, x in p.parameters)
    for kind in ("rdp", "epsilon", "delta", "rho", "noise"):
        sizes = [Fraction(part.sensitivity) for a in found if a.kind == kind for part in a.parts]
        assert min(sizes) < 1 < max(sizes)
    assert any(int(np.float32(count)) != count < 2**31 for count in counts)
    deltas = {ask.at for ask in found if ask.kind == "epsilon"}
    assert {"1e-100", "1e-300"} <= deltas
    within = {a.at for a in found if a.kind == "epsilon" and len(set(a.parts)) > 1}
    assert len(within - {"1e-5", "1e-6"}) >= 3  # or a δ by default would be right
    assert {"0.2", "0.5"} <= deltas
    for between in ((2**15 - 1, 2**15 + 3), (2**15 + 3, 2**16 - 1), (2**16 - 1, 2**16 + 3)):
        assert any(count in range(*between) for count in counts)
    assert any(value != "0" for p in parts for name, value in p.parameters if name == "xi")


@pytest.mark.parametrize("seed", range(2))
def test_more_runs_are_allowed_than_a_uint16_and_a_uint32_hold(seed):
    """By the ρ that the ε and δ leave, which is about as much as the exact profile leaves."""
    found = [ask for ask in asked(seed=seed) if ask.kind == "runs"]
    allowed = [Oracle().by_method(ask, "improved", None).upper for ask in found]
    assert min(allowed) < 1000
    assert any(2**16 < runs < 2**24 for runs in allowed)
    assert any(runs > 2**32 for runs in allowed)


@pytest.mark.parametrize("seed", range(2))
def test_unlike_parts_are_composed_at_the_order_one_and_near_it(seed):
    found = [a for a in asked(seed=seed) if a.kind == "rdp" and len(set(a.parts)) > 1]
    at_one = [ask for ask in found if ask.at == "1"]
    assert len(at_one) >= 3
    assert any(len({part.mechanism for part in ask.parts}) > 1 for ask in at_one)
    assert all({part.mechanism for part in ask.parts} <= {"Gaussian", "Laplace"} for ask in at_one)
    near = [ask for ask in found if 1 < Fraction(ask.at) <= Fraction(11, 10)]
    assert len(near) >= 3
    assert any(part.sampling != "none" for ask in near for part in ask.parts)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ENDS)
def test_parts_differ_in_each_of_their_numbers_alone_and_in_all(seed, kind):
    found = [a.parts for a in asked(seed=seed) if a.kind == kind and len(a.parts) > 1]
    assert len(found) >= QUICK.per_kind
    assert any(len(set(parts)) >= 3 for parts in found)
    assert any(len(set(parts)) < len(parts) for parts in found)
    pairs = [parts for parts in found if len(parts) == 2 and len({p.sampling for p in parts}) == 1]
    alone = {
        tuple(
            name
            for name in ("parameters", "gamma", "count")
            if len({getattr(p, name) for p in pair}) > 1
        )
        for pair in pairs
    }
    assert {("parameters",), ("gamma",)} <= alone


def test_lists_of_orders_and_an_epsilon_of_zero_and_below_are_asked_where_a_peer_takes_them():
    """Some lists do not rise, so that the best is not the last before which one is worse."""
    plain = asked()
    assert not any(ask.orders for ask in plain if ask.kind != "rdp")
    assert min(Fraction(ask.at) for ask in plain if ask.kind == "delta") == 0
    found = asked(hello=replace(HELLO, order_grid=True, negative_epsilon=True))
    for kind in ("epsilon", "delta"):
        lists = {ask.orders for ask in found if ask.kind == kind and ask.orders}
        assert any([*orders] != sorted(orders, key=Fraction) for orders in lists)
        assert any(Fraction(order).denominator > 1 for orders in lists for order in orders)
    below = [ask for ask in found if ask.kind == "delta" and Fraction(ask.at) < 0]
    assert {ask.parts[0].sampling for ask in below} == {"none", "poisson"}
    assert any(ask.orders for ask in below)


def test_several_orders_are_asked_at_once_in_any_sequence():
    batches = [ask for ask in asked() if ask.batch and len(ask.parts) == 1]
    assert len(batches) > 5
    for ask in batches:
        assert ask.at in ask.orders
        assert len(set(ask.orders)) == len(ask.orders) == 6
    assert len({ask.orders.index(ask.at) for ask in batches}) > 2


@pytest.mark.parametrize("orders", [("1.00001", "1.00002"), ("3000", "4000"), ("2000", "2000")])
@pytest.mark.parametrize("kind", ["real", "integer"])
def test_a_row_of_few_orders_is_asked_at_them(orders, kind):
    least, most = map(Fraction, orders)
    row = Support("Laplace", orders=kind, min_order=least, max_order=most)
    if kind == "integer" and most < 2:
        return
    found = asked(hello=Hello("p", "1", (row,)))
    assert len(found) >= QUICK.covered
    assert all(row.takes(Fraction(ask.at)) for ask in found)


def test_every_question_is_one_of_the_protocol():
    rows = [
        Support(name, asks=("rdp", "epsilon", "delta"), sensitivity=name in SENSITIVE)
        for name in MECHANISMS
    ]
    fixed = Support("Gaussian", "without_replacement", "replace_one", orders="integer")
    hello = Hello("p", "1", (*rows, fixed), compose=True)
    for ask in asked(hello=hello):
        assert Ask.of(ask.kind, ask.parameters()) == ask
        assert all(any(row.offers(ask, part) for row in hello.supports) for part in ask.parts)
        assert all(Fraction(number) > 0 or number == "0" for p in ask.parts for number in p.numbers)


SENSITIVE = ("Gaussian", "Laplace", "DiscreteGaussian", "DiscreteLaplace", "Skellam")


def test_a_full_run_asks_all_that_a_quick_one_asks_and_more():
    assert len(asked(FULL)) > 4 * len(asked(QUICK))


def test_a_field_is_another_one_at_a_time():
    ask = Ask("epsilon", (gaussian("2", "0.1", 3), gaussian("5", count=2)), "1e-5")
    for other in others(ask):
        own = [a != b for a, b in zip(ask.parts, other.parts, strict=True)]
        rest = (
            (ask.at != other.at) + (ask.group != other.group) + (ask.adjacency != other.adjacency)
        )
        assert sum(own) + rest == 1


def test_the_other_side_has_the_parts_swapped_and_the_inverse_sensitivity():
    ask = Ask("rdp", (gaussian("2", sensitivity="0.5"), gaussian("5", "0.1")), "8")
    sides = list(other_side(ask))
    assert ask.parts[::-1] in [side.parts for side in sides]
    assert "2" in [side.parts[0].sensitivity for side in sides]
    assert "0.9" in [side.parts[1].gamma for side in sides]


@pytest.mark.parametrize(("error", "value"), [("math domain error", None), (None, float("inf"))])
def test_who_refuses_an_end_says_nothing_wrong(error, value):
    judge = Judge(Oracle(), HELLO)
    answer = Answer(value=value, error=error)
    for ask in (
        Ask("rdp", (gaussian("2", "1"),), "2"),
        Ask("epsilon", (gaussian("2"),), "1e-100"),
        Ask("rdp", (AskedPart("RandomizedResponse", (("p", "0.3"),)),), "2"),
    ):
        assert judge.judge(ask, answer) is None
        assert judge.judge(ask, Answer(value=Fraction(1, 10**6))).verdict == "unsound"
    assert judge.judge(Ask("rdp", (gaussian("2", "0.9"),), "2"), answer) is not None


def test_a_little_less_than_right_fails_where_delta_is_next_to_nothing():
    judge = Judge(Oracle(), Hello("p", "1", (PLAIN,), conversion="improved"))
    ask = Ask("epsilon", (gaussian("1"),), "1e-100")
    best = Fraction(float(judge.oracle.by_method(ask, "improved", None).upper))
    assert judge.judge(ask, Answer(value=best)) is None
    assert judge.judge(ask, Answer(value=best * Fraction(99, 100))).below


def test_a_name_has_to_fit_a_second_point():
    """At α = 2 half of ε(α) is ε(α) (α − 1)/α; at α = 7 only one of them is."""
    oracle = Oracle()
    ask, second = (
        Ask("rdp", (gaussian(*numbers),), at)
        for numbers, at in ((("1", "0.5"), "2"), (("1.7", "0.3"), "7"))
    )
    one, two = (Fraction(float(oracle.truth(a).upper)) for a in (ask, second))
    assert (
        matching.matched(oracle, ask, one / 2, [(second, two / 2)]) == "ε(α) (α − 1)/α or half ε(α)"
    )
    assert matching.matched(oracle, ask, one / 2, [(second, two / 3)]) is None


def test_a_count_that_is_ignored_has_its_name_at_two_runs_and_at_five():
    """Of two runs one is left, as of one run too few; of two parts of two runs each two are."""
    oracle, part = Oracle(), gaussian("1.3", "0.5")
    two, five = (Ask("rdp", (replace(part, count=count),), "3") for count in (2, 5))
    single, four = (
        Fraction(float(oracle.truth(replace(two, parts=(replace(part, count=count),))).upper))
        for count in (1, 4)
    )
    either = "count ignored or one run too few"
    assert matching.matched(oracle, two, single, [(five, single)]) == either
    assert matching.matched(oracle, two, single, [(five, four)]) == either
    assert matching.matched(oracle, five, single, [(two, single)]) == "count ignored"
    both = replace(two, parts=tuple(replace(gaussian(s, "0.5"), count=2) for s in ("1.3", "2.7")))
    ignored = replace(both, parts=tuple(replace(part, count=1) for part in both.parts))
    value = Fraction(float(oracle.truth(ignored).upper))
    assert matching.matched(oracle, both, value) == "count ignored"


def test_large_numbers_of_runs_have_a_truth_at_once():
    for ask in islice((a for a in asked() if any(p.count > 2**24 for p in a.parts)), 8):
        assert Oracle().truth(ask) is not None
