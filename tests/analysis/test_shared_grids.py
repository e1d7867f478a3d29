"""One grid for all orders between two whole ones, against each order's own and the definition."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import ctx

from symacct import Accountant, Gaussian, PoissonSubsample
from symacct.analysis.sampled_gaussian import (
    TrapezoidNodes,
    guess,
    plan,
    sampled_gaussian_excess,
    sampled_gaussian_local,
    shared_nodes,
)
from symacct.theory.amplification import pairs
from tests.analysis.quadrature import trapezoid
from tests.thinning import some


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(120):
        yield


def intervals(count, seed):
    """(⌈α⌉, q, σ) with log-uniform q, σ and α − 2."""
    rng = random.Random(seed)
    for _ in range(count):
        top = 3 + int(10 ** rng.uniform(-1, 2.3))
        yield top, Fraction(10 ** rng.uniform(-9, -0.05)), Fraction(10 ** rng.uniform(-0.5, 3))


def test_the_grid_of_an_interval_gives_what_each_order_by_itself_gives():
    shared, count = 0, some(20, 60)
    for top, q, sigma in intervals(count, seed=1):
        nodes = shared_nodes(top, q, sigma, 100)
        shared += nodes is not None
        for alpha in (Fraction(top - 1), top - Fraction(1, 3), Fraction(top)):
            if nodes is not None:
                found = nodes.excess(alpha)
                assert found.overlaps(trapezoid(alpha, q, sigma, 100))
                assert found.rel_accuracy_bits() >= 96
    assert 3 * shared > count


@pytest.mark.parametrize("bits", [1, 3, 8, 20])
def test_coarse_enclosures_hold_the_truth_at_both_ends(bits):
    """At few bits the truncation errors dominate, so a missing one shows."""
    for top, q, sigma in intervals(some(20, 60), seed=bits):
        nodes = shared_nodes(top, q, sigma, bits)
        for alpha in (top - Fraction(10**6 - 1, 10**6), top - Fraction(1, 10**6)):
            if nodes is not None:
                true = trapezoid(alpha, q, sigma, 100)
                assert nodes.excess(alpha).contains(true), (alpha, q, sigma)


def test_what_bounds_an_interval_bounds_each_order_in_it():
    """On wide intervals, where the ends differ by much, and a window cut so that its rim counts."""
    for top, q, sigma in intervals(some(15, 40), seed=3):
        orders = Fraction(2), Fraction(top)
        guessed = guess(orders[1], q, sigma, 20)
        grid = plan(guessed)
        if grid.nodes > 2000:
            continue
        cut = replace(grid, first=grid.first // 2, last=max(grid.last * 3 // 4, top + 1))
        of_all = TrapezoidNodes(orders, q, sigma, guessed, cut)
        for alpha in (*orders, (2 + orders[1]) / 2):
            of_one = TrapezoidNodes((alpha, alpha), q, sigma, guessed, cut)
            assert not of_all.left_out < of_one.left_out
            assert not of_all.factor < of_one.factor
            assert not of_all.error < of_one.error


def test_what_is_known_changes_no_bit():
    known = {}
    for part in (1, 5, 2, 9, 4):
        alpha = 3 + Fraction(part, 3)
        found = sampled_gaussian_excess(alpha, Fraction(1, 100), Fraction(2), known)
        alone = sampled_gaussian_excess(alpha, Fraction(1, 100), Fraction(2))
        assert (found - alone.mid()).mid() == 0
        assert found.rad() == alone.rad()


def test_one_question_over_all_orders_makes_one_polynomial(monkeypatch):
    made = []

    def counted(*asked):
        made.append(asked)
        return sampled_gaussian_local(*asked)

    monkeypatch.setattr(pairs, "sampled_gaussian_local", counted)
    run = 600_000 * PoissonSubsample(Gaussian(5), "1/1000")
    Accountant().epsilon(run, "1e-8", "improved")
    assert len(made) == 1
