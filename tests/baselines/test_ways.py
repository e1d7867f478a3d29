"""Ways to a bound that are no conversion: above the truth, and hardly so."""

from __future__ import annotations

from fractions import Fraction

import mpmath

from symacct import Curve, Gaussian, sample_with_replacement
from symacct.baselines.ways import SPENT, ways
from symacct.kernel.claims import Kind


def test_rare_draws_cost_hardly_anything() -> None:
    """Without the rare parts of the mixture ε is more by what their δ costs, never less."""
    node = 20 * sample_with_replacement(Gaussian(4), 1000, 3)
    *_, way = ways(node)  # that by the profile of what is left
    delta = Fraction(1, 10**5)
    found = way.epsilon(node, delta, 6)
    truth = node.epsilon(delta, conversion="exact", digits=6)
    at_what_is_left = node.epsilon((1 - SPENT) * delta, conversion="exact", digits=6)
    assert found is not None
    assert found.kind is Kind.UPPER
    assert truth.kind is Kind.EXACT
    assert way.proof.code in found.claim.theorems
    assert truth.epsilon.lower <= found.epsilon.upper
    assert found.epsilon.upper <= at_what_is_left.epsilon.upper + SPENT * delta * Fraction(
        1001, 1000
    )


def test_a_way_is_offered_only_where_it_is_about_the_expression() -> None:
    assert ways(Gaussian(2)) == ways(3 * Gaussian(2), has_profile=True) == []
    found = {way.proof.code for way in ways(sample_with_replacement(Gaussian(2), 10, 4))}
    assert found == {"RARE-PARTS"}


def test_what_is_taken_on_trust_is_not_certified_by_a_way() -> None:
    """A curve of mpmath beside the mixture: its digits are nobody's, also without rare parts."""
    trusted = Curve(lambda alpha: alpha / mpmath.mpf(30), "upper", "either")
    node = sample_with_replacement(Gaussian(4), 1000, 6) + trusted
    way, *_ = ways(node)  # that by the curve
    found = way.epsilon(node, Fraction(1, 1000), 6)
    assert found is not None
    assert not found.epsilon.certified
