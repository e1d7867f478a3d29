"""The search of a run leaves out no region that spans the share that docs/verification.md says."""

import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import count

import numpy as np
import pytest

from symacct.verify.asking import questions
from symacct.verify.asking.questions import FULL, QUICK
from symacct.verify.peer.protocol import Ask, AskedPart, Hello, Support


@pytest.mark.parametrize(("places", "share"), [(12_000, 17), (FULL.places, 11), (QUICK.places, 4)])
def test_every_cube_has_a_place(places, share):
    """Cubes anywhere, those at the rim too: none of this share is empty."""
    chance = random.Random(0)
    starts = [chance.random() for _ in range(3)]
    points = np.array([questions.place(starts, i) for i in range(places)])
    corners = np.array([[chance.random() for _ in range(3)] for _ in range(2000)])
    for low in np.clip(1.2 * corners - 0.1, 0, 1 - 1 / share):
        inside = np.logical_and(points >= low, points <= low + 1 / share).all(axis=1)
        assert inside.any()


def test_every_sampling_is_asked_at_each_place_and_what_has_no_rdp_for_its_ends():
    rows = (
        Support("Gaussian", "poisson"),
        Support("Laplace", "poisson", asks=("epsilon",)),
        Support("Gaussian"),
    )
    asked = list(questions.training(Hello("p", "1", rows), QUICK, 0))
    kinds = [(ask.kind, ask.parts[0].mechanism, ask.parts[0].sampling) for ask in asked]
    assert kinds.count(("rdp", "Gaussian", "poisson")) == QUICK.places
    assert kinds.count(("epsilon", "Laplace", "poisson")) == QUICK.places
    assert kinds.count(("rdp", "Gaussian", "none")) == -(-QUICK.places // 8)


def test_places_are_numbers_that_no_float_rounds():
    """Of which one truth is enough."""
    rows = (Support("Gaussian", "poisson"), Support("RandomizedResponse", "poisson"))
    for ask in questions.training(Hello("p", "1", rows), QUICK, 1):
        for text in ask.parts[0].numbers:
            assert np.float32(text) == float(text)


GAUSSIAN = AskedPart("Gaussian", (("sigma", "2"),), count=3)


def test_a_row_of_other_orders_keeps_no_composition_of_the_rest_from_being_asked():
    """The order 4 or 8 is one that the rows of the question take, whatever all others take."""
    usual = Support("Gaussian"), Support("Laplace"), Support("PureDP")
    near_one = Support("DiscreteGaussian", max_order=Fraction(3))
    hello = Hello("p", "1", (*usual, near_one), compose=True)
    drawn = list(questions.compositions(hello, FULL, 0))
    mixed = [ask for ask in drawn if len(set(ask.parts)) > 1]
    assert len(mixed) > 3
    assert all(hello.offers(ask) for ask in mixed)
    assert not any(part.mechanism == "DiscreteGaussian" for ask in mixed for part in ask.parts)


@pytest.mark.parametrize("orders", [(2, 4), (3000, 4000), (Fraction(5, 4), Fraction(3, 2))])
def test_what_is_to_be_written_in_other_ways_is_a_question_of_the_peer(orders):
    """At an order that the row takes, if it takes a whole one."""
    least, most = map(Fraction, orders)
    rows = Support("Laplace", min_order=least, max_order=most), Support("Gaussian", order_one=True)
    hello = Hello("p", "1", rows, compose=True, how={"count": ("number", "repeat")})
    bases = list(questions.compositions(hello, QUICK, 0))
    asks = [a for base in bases for a in (base, *questions.variants(hello, base, count()))]
    assert all(hello.offers(ask) for ask in asks)
    laplace = [ask for ask in bases if {part.mechanism for part in ask.parts} == {"Laplace"}]
    assert bool(laplace) is (most >= 2)


def test_the_twin_of_a_delta_loses_more_on_both_sides_of_zero():
    """δ falls with ε, so that every twin has a smaller ε than its question."""
    for epsilon in ("2", "-1"):
        ask = Ask("delta", (GAUSSIAN,), epsilon)
        moved = [twin.at for twin in questions.twins(ask) if twin.at != ask.at]
        assert len(moved) == 4
        assert all(Fraction(at) < Fraction(epsilon) for at in moved)


def test_the_twin_of_a_probability_is_further_from_one_half():
    """Which loses more, of who lies with a probability above ½ too."""
    for p in ("0.75", "0.25"):
        part = AskedPart("RandomizedResponse", (("p", p),))
        twins = questions.twins(Ask("rdp", (part,), "2"))
        moved = [Fraction(twin.parts[0].parameters[0][1]) for twin in twins]
        others = [x for x in moved if x != Fraction(p)]
        assert len(others) == 4
        assert all(abs(x - Fraction(1, 2)) > Fraction(1, 4) for x in others)


def test_the_number_of_runs_that_is_asked_for_is_never_given():
    ask = Ask("runs", (replace(GAUSSIAN, count=0),), "1e-5", within="1")
    for beside in (*questions.others(ask), *questions.twins(ask)):
        assert [part.count for part in beside.parts] == [0]


@pytest.mark.parametrize(
    ("name", "value", "moved"),
    [("sigma", "3", {"2.7"}), ("p", "3/4", {"0.825"}), ("p", "0.95", set())],
)
def test_a_twin_has_less_noise_and_is_a_mechanism(name, value, moved):
    """Whatever σ is, and a p as long as it is below 1."""
    twins = questions._moved(AskedPart("a mechanism", ((name, value),)), Decimal("0.1"))
    assert {twin.parameters for twin in twins} == {((name, text),) for text in moved}
