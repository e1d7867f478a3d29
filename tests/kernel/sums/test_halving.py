"""Brackets by halvings: the ends were asked, or given, and lie next to each other."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from symacct.kernel.sums.halving import halved, halved_whole


@given(st.fractions(0, 1), st.integers(0, 40))
def test_a_bracket_keeps_the_root_and_shrinks_by_half(root, times):
    low, high = halved(Fraction(0), Fraction(1), lambda x: x <= root, times)
    assert low <= root <= high
    assert high - low == Fraction(1, 2**times)


@given(st.sets(st.integers(1, 99)))
def test_the_next_whole_number_fails_whatever_holds_elsewhere(holding):
    """As of a predicate that balls leave open at some places."""
    asked = set()

    def is_low(n):
        asked.add(n)
        return n in holding

    found = halved_whole(0, 100, is_low)
    assert found == 0 or found in holding & asked
    assert found == 99 or found + 1 in asked - holding
    assert not asked & {0, 100}


@given(st.integers(0, 10**30), st.integers(1, 10**30))
def test_the_last_whole_number_of_those_that_hold(last, more):
    assert halved_whole(0, last + more, lambda n: n <= last) == last
