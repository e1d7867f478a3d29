"""Sampled Gaussian noise to hundreds and thousands of digits: right, in steps that are shown."""

from contextlib import contextmanager
from fractions import Fraction

import pytest
from flint import ctx as flint_ctx

from symacct import Gaussian, PoissonSubsample
from symacct.analysis import sampled_gaussian
from symacct.analysis.sampled_gaussian import (
    FEW_NODES,
    TrapezoidNodes,
    excess_by_series,
    guess,
    is_root,
    plan,
)
from tests.kernel.hard_sums.formulas import ask, ends, gaussian_by_integral, mp
from tests.thinning import covering

ORDERS = ["5/2", "7/3", "21/2", "161/16", "4", Fraction(5, 2) + Fraction(1, 2**40)]
BITS = 900


@covering()
@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize(("q", "sigma"), [("1/100", 2), ("1/2", "3/2"), ("99/100", 2)])
def test_many_nodes_against_the_erfc_series_and_in_blocks_of_any_bits(alpha, q, sigma, monkeypatch):
    """Each way bounds its own error, so that both balls hold the value; and both are short."""
    alpha, q, sigma = map(Fraction, (alpha, q, sigma))
    shown = []

    @contextmanager
    def watched(what, total):
        shown.append(total)
        yield lambda count: shown.append(-count)

    monkeypatch.setattr(sampled_gaussian, "progress", watched)
    with flint_ctx.workprec(BITS):
        guessed = guess(alpha, q, sigma, BITS)
        grid = plan(guessed)
        nodes = TrapezoidNodes((alpha, alpha), q, sigma, guessed, grid)
        assert nodes.many.nodes > FEW_NODES
        found = nodes.excess(alpha)
        assert found.rel_accuracy_bits() > BITS - 4
        assert found.overlaps(excess_by_series(alpha, q, sigma, guessed))
    assert len(shown) > 4
    assert sum(shown) == 0
    assert is_root(alpha) == (alpha.denominator < 2**40)


def test_three_hundred_digits_by_an_integral_that_is_not_ours():
    found = ask(PoissonSubsample(Gaussian(2), "1/100"), "5/2", "MTZ19-EXACT", 300)
    true = gaussian_by_integral(Fraction(5, 2), Fraction(1, 100), Fraction(2), 1200)
    with flint_ctx.workprec(1200), mp.workprec(1300):
        assert true.rel_accuracy_bits() > 1000
        mid, rad = (mp.mpf(x.str(330, radius=False)) for x in (true.mid(), true.rad()))
        low, high = ends(found)
        assert low <= mid + 2 * rad
        assert mid - 2 * rad <= high
    assert found.digits >= 300
