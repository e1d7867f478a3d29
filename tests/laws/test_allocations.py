"""Laws of Laplace noise that falls on one of many runs: against one run, fewer runs, less noise."""

from fractions import Fraction

from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from symacct.profile.losses.allocated import AllocatedLaplace
from symacct.profile.losses.laplace import LaplaceLoss
from tests.thinning import examples

shifts = st.fractions("1/1000", 12, max_denominator=1000)
shares = st.fractions(0, "99/100", max_denominator=1000)
steps = st.integers(1, 12)


def stick(shift, count, y, reverse):
    with ctx.workprec(110):
        place = (arb(y.numerator) / y.denominator).mid()  # a ball's radius is e^y times in D
        found = AllocatedLaplace(shift, count).hockey_stick(place, reverse)
        assert found.rel_accuracy_bits() > 40
        return found


@examples(8, 200)
@given(shifts, steps, shares, st.booleans())
@example(Fraction(991, 86), 10, Fraction(37, 40), False)
@example(Fraction(100), 4, Fraction("97/100"), False)  # where the valley's foot was not found
def test_more_runs_cost_less_and_more_noise_does(shift, count, share, reverse):
    """By Jensen's inequality D falls with t; it rises with the shift, by domination."""
    y = share * shift
    found = stick(shift, count, y, reverse)
    assert stick(shift, count + 1, y, reverse) < found
    assert stick(shift * Fraction("101/100"), count, y, reverse) > found


@examples(8, 200)
@given(shifts, steps, shares, st.booleans())
def test_a_profile_is_between_what_is_known_of_one_run(shift, count, share, reverse):
    """At most one run's, at least what all of the runs at the same end are worth."""
    y = share * shift
    found = stick(shift, count, y, reverse)
    with ctx.workprec(110):
        place, one = (arb(y.numerator) / y.denominator).mid(), LaplaceLoss(shift)
        assert found.lower() <= one.hockey_stick(place, False).upper()
        every = (-arb(shift.numerator) / shift.denominator).exp()
        least = (-every.log() - place).expm1() * place.exp() * (every / 2) ** count
        if reverse:
            least = -(place + every.log()).expm1() / arb(2) ** count
        assert found.upper() >= least.lower()


@examples(3, 100)
@given(shifts, st.integers(2, 40), st.floats(1, 40), st.booleans())
@example(Fraction(1), 2, 32.0, True)  # where erfc of a ball was of no use
def test_next_to_the_largest_loss_there_are_digits(shift, count, nats, reverse):
    """At s − y = s·e^{−n} the ratios are all at one end, but for what is proportional to it."""
    with ctx.workprec(300):
        s = arb(shift.numerator) / shift.denominator
        y = (s * (1 - arb(-nats).exp())).mid()
        found = AllocatedLaplace(shift, count).hockey_stick(y, reverse)
        assert found.rel_accuracy_bits() > 200
        left = (s - y) * (1 if reverse else s.exp())
        least = left * (arb(1) / 2) ** count * (1 if reverse else (-s * count).exp())
        assert found > least * (1 - (s - y))
