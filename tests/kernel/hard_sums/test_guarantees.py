"""(ε, δ) by the best order, against brute force."""

import functools
import warnings
from fractions import Fraction

import pytest

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    Compose,
    Gaussian,
    OrderGridWarning,
    PoissonSubsample,
    PureDP,
)
from tests import independent
from tests.kernel.hard_sums.formulas import (
    DIGITS,
    INFINITY,
    RATE,
    SEEDS,
    ask,
    curve_of,
    ends,
    epsilon_objective,
    holds,
    log_delta_objective,
    moments,
    mp,
    number,
    theorem_8,
)
from tests.support import overlap
from tests.thinning import covering


@functools.cache
def sampled_curve(name, gamma, count):
    """α ↦ count · Theorem 8 at the whole orders 2 … 300."""
    _, eps = SEEDS[name]
    values = moments(eps, 300)
    return {l: count * theorem_8(l, gamma, values) for l in range(2, 301)}


@covering()
@pytest.mark.parametrize("conversion", ["classic", "improved"])
@pytest.mark.parametrize(("gamma", "count"), [(RATE, 1000), (Fraction(1, 20), 30)], ids=str)
@pytest.mark.parametrize("name", SEEDS)
def test_whole_orders_against_all_of_them(name, gamma, count, conversion):
    base, _ = SEEDS[name]
    curve = sampled_curve(name, gamma, count)
    node = count * PoissonSubsample(base, gamma)
    f = epsilon_objective(curve.__getitem__, "1e-6", conversion)
    best = min(range(2, 301), key=f)
    if best < 300:
        found = Accountant(DIGITS).epsilon(node, "1e-6", conversion=conversion, orders="integer")
        assert found.alpha == best
        assert holds(found.epsilon, f(best))
        assert found.optimal
    f = log_delta_objective(curve.__getitem__, "3/2", conversion)
    best = min(range(2, 301), key=f)
    if best < 300:
        found = Accountant(DIGITS).delta(node, "3/2", conversion=conversion, orders="integer")
        assert found.alpha == best
        assert holds(found.delta, min(mp.one, mp.exp(f(best))))
        assert found.optimal


def smallest(objective, low, high):
    with mp.workdps(80):
        return independent.smallest(mp, objective, number(low), number(high))


COMPOSED = {
    "Gaussian": 30 * Gaussian(5),
    "mixed": Compose({Gaussian(8): 40, PureDP("1/10"): 60}),
    "zCDP": ZCDP("1/3", "1/7"),
    "pure": 200 * PureDP("1/10"),
}


@pytest.mark.parametrize("conversion", ["classic", "improved"])
@pytest.mark.parametrize("name", COMPOSED)
def test_real_orders_against_golden_sections(name, conversion):
    node = COMPOSED[name]
    curve = curve_of(node)
    found = Accountant(DIGITS).epsilon(node, "1e-6", conversion=conversion)
    true = smallest(epsilon_objective(curve, "1e-6", conversion), "1.001", 400)
    assert found.optimal
    assert holds(found.epsilon, true, error=35)
    found = Accountant(DIGITS).delta(node, 4, conversion=conversion)
    true = mp.exp(smallest(log_delta_objective(curve, 4, conversion), "1.001", 400))
    assert found.optimal
    assert holds(found.delta, true, error=33)


def test_a_grid_warns_at_its_edge_and_only_there():
    node = 1000 * PoissonSubsample(Gaussian(2), "1/50")
    accountant = Accountant(DIGITS)
    best = accountant.epsilon(node, "1e-6", orders="integer").alpha
    for grid in (range(2, best), range(best + 1, 64), [best, best + 3], [best]):
        with pytest.warns(OrderGridWarning, match="edge"):
            accountant.epsilon(node, "1e-6", orders=grid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inside = accountant.epsilon(node, "1e-6", orders=range(best - 3, best + 4))
    assert inside.alpha == best
    everywhere = accountant.epsilon(node, "1e-6")
    assert everywhere.epsilon.upper < inside.epsilon.lower


@pytest.mark.parametrize("conversion", ["classic", "improved"])
@pytest.mark.parametrize("count", [1, 10])
def test_a_few_runs_of_a_pure_mechanism(count, conversion):
    """The objective falls for ever, or nearly: the answer is the best of it and k·ε₀."""
    node, top = count * PureDP("1/10"), mp.mpf(count) / 10
    for delta in ("1e-5", "1e-10"):
        found = Accountant(DIGITS).epsilon(node, delta, conversion=conversion)
        f = epsilon_objective(curve_of(node), delta, conversion)
        tried = min(f(a) for a in (2, 3, 10, 100, 159, 1000, 10**4, 52498, 10**5))
        assert ends(found.epsilon)[0] <= min(top, tried)
        if found.alpha == INFINITY:
            assert ends(found.epsilon) == (top, top) or holds(found.epsilon, top)
            assert tried >= top
        else:
            assert ends(found.epsilon)[1] < top


def test_the_limit_answers_where_it_is_asked_for():
    node = 10 * PureDP("1/10")
    assert Accountant().epsilon(node, 0).alpha == INFINITY
    above = Accountant().delta(node, "101/100")
    assert above.alpha == INFINITY
    assert ends(above.delta) == (0, 0)
    assert above.optimal
    below = Accountant().delta(node, "99/100")
    assert below.alpha != INFINITY
    assert ends(below.delta)[0] > 0


@pytest.mark.parametrize(
    ("node", "limit"), [(PureDP("1/10"), "1/10"), (10 * PureDP("1/10"), 1), (PureDP(1), 1)]
)
def test_epsilon_of_the_limit_itself_needs_no_delta(node, limit):
    """(ε, 0) for ε = ε(∞) exactly, where balls alone cannot tell."""
    found = Accountant().delta(node, limit)
    assert found.alpha == INFINITY
    assert ends(found.delta) == (0, 0)


def test_a_curve_that_is_finite_at_few_orders_has_a_guarantee():
    """Finite below 3/2 only: no whole order answers, but every real one does there."""
    found = TCDP("1/10", "3/2").epsilon("1e-5")
    assert 1 < found.alpha < Fraction(3, 2)


def test_projection_of_a_curve_that_is_infinite_at_whole_orders():
    """There is no chord: m's own curve stands, at 1 too."""
    node = TCDP("1/10", "3/2")
    hull = node.convexify(8)
    for alpha in ("6/5", 2, 1):
        assert overlap(ask(hull, alpha), ask(node, alpha))


def test_the_best_order_stays_below_the_last_finite_one():
    """ε(α) = α/10 for α < 20, ∞ beyond: whole and real orders, near the edge and at it."""
    node = TCDP("1/10", 20)
    for delta in ("1e-2", "1e-5", "1e-20", "1e-60"):
        f = epsilon_objective(lambda a: number(a) / 10, delta, "classic")
        whole = Accountant().epsilon(node, delta, conversion="classic", orders="integer")
        best = min(range(2, 20), key=f)
        assert whole.alpha == best
        assert holds(whole.epsilon, f(best))
        found = Accountant().epsilon(node, delta, conversion="classic")
        assert ends(found.epsilon)[1] <= ends(whole.epsilon)[1]
        assert found.alpha < 20
        inside = smallest(f, "1.001", "19.999999")
        assert ends(found.epsilon)[0] >= inside * (1 - mp.mpf(10) ** -6)
