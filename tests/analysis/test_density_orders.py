"""Orders of a sampled pair of densities are compared in float64, and answers rest on balls."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symacct import Accountant, DistributionPair, PoissonSubsample
from symacct.kernel.theorem_registry import rough_curve
from symacct.laws import Density
from symacct.mechanisms import pair
from tests.support import overlap
from tests.thinning import covering

PAIRS = {
    "logistic": ("exp(-x)/(1+exp(-x))**2", "exp(-(x-1))/(1+exp(-(x-1)))**2"),
    "Cauchy": ("1/(1+x**2)", "1/(1+(x-1)**2)"),
    "unlike": ("exp(-x**2)/(2+x**2)", "exp(-x**2/3)"),
    "two exponents": ("exp(-Abs(x))/2", "exp(-Abs(x)*2)"),
}


def sampled(name, rate):
    P, Q = (Density(text, mass="any") for text in PAIRS[name])
    return PoissonSubsample(DistributionPair(P, Q), rate)


@covering(lambda name, rate, alpha: {rate})
@pytest.mark.parametrize(
    ("name", "rate", "alpha"),
    [
        ("logistic", "1/100", "81/2"),
        ("Cauchy", "9/10", "1999/2"),
        ("unlike", "1/1000000", "5/3"),
        ("unlike", "1/100", "1999/2"),
        ("two exponents", "9/10", "5/3"),
    ],
)
def test_what_orders_are_compared_by_is_the_curve(name, rate, alpha):
    step, order = sampled(name, rate), Fraction(alpha)
    true = Accountant(9).rdp(step, order)
    assert rough_curve(step)(order) == pytest.approx(float(true), rel=1e-8)


def test_few_integrals_for_the_best_order(monkeypatch):
    """The search by integrals alone, 332 of them, gave 0.01566799469 at the same order."""
    asked = []

    def counted(overlap, question, in_balls=pair.Overlap.in_balls):
        asked.append(question)
        return in_balls(overlap, question)

    monkeypatch.setattr(pair.Overlap, "in_balls", counted)
    found = Accountant(6).epsilon(sampled("Cauchy", "1/100"), "1e-5", "improved")
    assert float(found.epsilon) == pytest.approx(0.01566799469, rel=1e-9)
    assert round(found.alpha) == 3939
    assert found.optimal
    assert len(asked) <= 10


def test_no_answer_rests_on_the_floats(monkeypatch):
    """Floats that are far off move the order found; what is claimed there stays the curve's."""

    def off(direction, alpha):
        return 1e-3 + float(alpha - 30) ** 2 / 10**6

    monkeypatch.setattr(pair.MixtureDirection, "float_divergence", off)
    step = sampled("Cauchy", "1/50")
    found = Accountant(4).epsilon(step, "1e-5", "improved")
    assert not found.optimal
    assert overlap(found.epsilon, Accountant(8).epsilon(step, "1e-5", orders=[found.alpha]).epsilon)


def test_where_moments_end_the_floats_say_so():
    """E_Q[(P/Q)^α] of e^{-|x|}/2 against the law of density e^{-2|x|} is infinite from 2 on."""
    step = sampled("two exponents", "1/100")
    assert rough_curve(step)(Fraction(7, 4)) < float("inf")
    assert rough_curve(step)(Fraction(2)) == float("inf")
