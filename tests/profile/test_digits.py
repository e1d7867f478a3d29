"""An answer at more digits is an answer at fewer, and what was not had is said in words."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from unittest import mock

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

import symacct as sa
from benchmarks import answered
from symacct import Accountant, Gaussian, PoissonSubsample
from symacct.kernel.conversion import by_the_profile
from symacct.kernel.errors import InfiniteError, LimitError, PrecisionError
from symacct.profile import contours
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.part import OrderLine
from tests.extremes import Hang, bounded
from tests.independent import fraction
from tests.thinning import examples, some

SMALL = 2**24  # bits of a contour: one that takes a second is refused
SLACK = 0.25


def log_uniform(low: float, high: float) -> st.SearchStrategy[Fraction]:
    exponents = st.floats(math.log10(low), math.log10(high))
    return exponents.map(lambda x: Fraction(f"{10**x:.2e}"))


counts = log_uniform(1, 1e6).map(round)
sigmas = log_uniform(0.3, 1000)
rates = log_uniform(1e-8, 0.5) | log_uniform(1e-3, 0.5).map(lambda x: 1 - x)
deltas = log_uniform(1e-15, 1e-2)


@example(Fraction(50), Fraction(1, 10), 181.0, 422.0)  # e^21 for .26: the tail began too near
@example(Fraction(20), Fraction(999, 1000), 83.0, 183.0)  # e^13 for e^−32: so did the error
@examples(8, 2000)
@given(sigmas, rates, log_uniform(1e-2, 1e3).map(float), log_uniform(1e-1, 1e4).map(float))
def test_what_proves_a_decay_is_near_what_steers(sigma, gamma, c, t):
    """Of both directions; and no less than F itself is."""
    part = SampledGaussian(sigma**2, gamma)
    for a in (1 + c, -c):
        with np.errstate(all="ignore"), ctx.workprec(64):
            steered = part.log_decay(a, t)
            if not steered > -400:
                continue
            proved = part.decay(a, t, SLACK)
            assert float(proved.upper()) < steered + 2 * SLACK
            (value,) = part.transform(OrderLine(a, t, 1, 1), 30 - steered)
            assert not abs(value).log() > proved


@example(Fraction("2.33"), Fraction("0.1135"), 335.0, 1.538, -14.0, 2.9)  # e^53 too small
@examples(24, 3000)
@given(
    log_uniform(0.3, 30),
    log_uniform(1e-3, 0.5) | log_uniform(1e-3, 0.5).map(lambda x: 1 - x),
    log_uniform(1, 400).map(float),
    st.floats(0.05, 1.55),
    st.floats(-14, -0.05),
    st.floats(0.05, 4),
)
def test_tails_off_the_line_are_not_those_on_it(sigma, gamma, a, theta, left, right):
    """ΣQ|R_θ|^a beyond two places, a < 0: at most what is said, wherever these places are.

    |R_θ| < R: it is no more than (1−γ)^a times what QR^a comes to, but where Q is taken for QR^a.
    """
    step = min(float(sigma), 1.0) / 64
    first, last = math.floor(left * float(sigma) / step), math.ceil((right * sigma + 1) / step)
    with np.errstate(all="ignore"), ctx.workprec(64):
        frame = SampledGaussian(sigma**2, gamma).frame(-a)
        found = frame.tail_sum(arb(step) * first, arb(step) * last, arb(step), arb(theta))
        least = float(found.upper().log())
    far = math.ceil(12 * float(sigma) / step)
    x = step * np.r_[first - far : first, last + 1 : last + 1 + far]
    turned = (
        1 - float(gamma) + float(gamma) * np.exp((2 * x - 1) / (2 * float(sigma) ** 2) + 1j * theta)
    )
    logs = -(x**2) / (2 * float(sigma) ** 2) - a * np.log(np.abs(turned))
    true = np.logaddexp.reduce(logs) + math.log(step / (float(sigma) * math.sqrt(2 * math.pi)))
    assert true < least + 1e-9


def asked(m, given_number, digits, name="epsilon"):
    """The answer and the nodes that were worked out for it, or the error."""
    nodes = 0
    made = contours.contour

    def counted(moments, chosen, *rest):
        nonlocal nodes
        nodes += chosen.last
        return made(moments, chosen, *rest)

    with mock.patch.object(contours, "contour", counted), sa.limits(contour=SMALL):
        try:
            found = getattr(Accountant(), name)(m, given_number, "exact", digits=digits)
        except (PrecisionError, LimitError) as error:
            return error, nodes
    return getattr(found, name), nodes


def is_an_answer_at_fewer(m, given_number, name="epsilon"):
    """What is had to 30 digits is had to fewer, overlaps, and takes no more nodes."""
    most, nodes = asked(m, given_number, 30, name)
    if isinstance(most, Exception):
        return
    for digits in (2, 4, 10):
        found, fewer = asked(m, given_number, digits, name)
        assert not isinstance(found, Exception), (digits, found)
        assert max(found.lower, most.lower) <= min(found.upper, most.upper)
        assert found.digits >= digits or found.upper == 0
        assert fewer <= nodes + 8, (digits, fewer, nodes)


@example(100, Fraction(50), Fraction(1, 10), Fraction(1, 10**5))
@example(2, Fraction(20), Fraction(999, 1000), Fraction(1, 10**5))
@example(390_000, Fraction("0.42"), Fraction("0.9973"), Fraction(4, 10**5))
@examples(5, 1000)
@given(counts, sigmas, rates, deltas)
def test_an_epsilon_at_more_digits_is_one_at_fewer(k, sigma, gamma, delta):
    is_an_answer_at_fewer(k * PoissonSubsample(Gaussian(sigma), gamma), delta)


@examples(3, 1000)
@given(counts, sigmas, rates, log_uniform(1e-3, 10))
def test_a_delta_at_more_digits_is_one_at_fewer(k, sigma, gamma, epsilon):
    is_an_answer_at_fewer(k * PoissonSubsample(Gaussian(sigma), gamma), epsilon, "delta")


def timed(question, digits, seconds):
    """What the exact profile says, or the error, and the processor time that it took."""
    node, start = sa.parse(question.text), time.process_time()
    try:
        with bounded(seconds):
            ask = getattr(Accountant(), question.asks)
            found = getattr(ask(node, question.given, "exact", digits=digits), question.asks)
    except (PrecisionError, LimitError, InfiniteError, Hang) as error:
        found = error
    return found, time.process_time() - start


def assert_answered_at_fewer(question, seconds):
    """What is had to 30 digits in so many seconds is had to 4, holds it, and takes no more."""
    most, spent = timed(question, 30, seconds)
    if isinstance(most, Exception) or most.digits < 30:
        return
    found, _ = timed(question, 4, 3 * spent + 2)
    assert not isinstance(found, Exception), (str(question), found, spent)
    assert max(found.lower, most.lower) <= min(found.upper, most.upper), str(question)
    assert Fraction(str(found.rounded_up(4))) >= fraction(most.lower), str(question)
    assert Fraction(str(found.rounded_down(4))) <= fraction(most.upper), str(question)


@pytest.mark.parametrize("kind", answered.KINDS)
def test_of_each_kind_what_is_had_to_more_digits_is_had_to_fewer(kind):
    draw = answered.Draw(f"digits {kind}")
    for _ in range(some(1, 20)):
        assert_answered_at_fewer(drawn(kind, draw), some(1, 20))


def drawn(kind, draw):
    """A question of the kind, its numbers log-uniform."""
    text = answered.KINDS[kind][0](draw)
    if kind.endswith("δ"):
        return answered.Question(kind, text, answered.log_uniform(draw, 1e-3, 10), "delta")
    return answered.Question(kind, text, answered.delta(draw))


RUNS = 20 * PoissonSubsample(Gaussian(2), "1/10")
NOT_HAD = "conversion exact was asked for and"
TRUTH = Accountant().epsilon(RUNS, "1e-5", "exact").epsilon


@pytest.mark.parametrize("bits", [200_000, 300_000, 400_000, 2**24])
def test_the_digits_there_are_answer_where_none_were_asked_for(bits):
    """With them said; digits that were asked for are refused."""
    with sa.limits(contour=bits):
        found = Accountant().epsilon(RUNS, "1e-5", "exact")
        had = found.epsilon.digits_asked
        assert found.epsilon.lower <= TRUTH.lower <= TRUTH.upper <= found.epsilon.upper
        assert found.epsilon.digits >= had >= (30 if bits == 2**24 else 1)
        if had == 30:
            assert not found.note
            assert "note" not in found.as_dict()
            return
        said = f"{had} digits are known of the 30 asked for: bits of all terms"
        texts = [str(found), repr(found), found.as_dict()["note"], found.statement()]
        assert all(said in text for text in [*texts, found._repr_html_()])
        with pytest.raises(LimitError, match="fewer digits"):
            Accountant().epsilon(RUNS, "1e-5", "exact", digits=30)


EXACT, CURVE = (Gaussian(1).epsilon("1e-3", 20, name) for name in ("exact", "improved"))


def known_to(had):
    """ε to what is asked for, of so many digits at most; and to no more than that."""

    def ask(digits):
        if digits > had:
            raise PrecisionError(f"{digits} digits not reached", remedy="ask for fewer")
        upper = EXACT.epsilon.upper * (1 + mpmath.mpf(10) ** -digits)
        return replace(EXACT, epsilon=replace(EXACT.epsilon, upper=upper, digits_asked=digits))

    return ask


@pytest.mark.parametrize("digits", range(1, 13))
@pytest.mark.parametrize("had", range(8))
def test_no_guarantee_is_worse_for_more_digits(digits, had):
    """But for the seventh digit. Beside the curve's answer, which is the larger one here."""
    ask, found = known_to(had), []
    for more in range(1, digits + 1):
        found.append(by_the_profile(ask, more, False, lambda: CURVE))
    uppers = [one.epsilon.upper for one in found]
    assert all(more <= few * (1 + mpmath.mpf(10) ** -6) for few, more in pairwise(uppers))
    if digits <= had:
        assert not found[-1].note
    elif fewer := [few for few in range(1, 7) if few <= min(had, digits - 1)]:
        assert found[-1].conversion == "exact"
        assert found[-1].note.startswith(f"{fewer[-1]} digits are known of the {digits} asked for")
        assert by_the_profile(ask, digits, True, None) == found[-1]
        with pytest.raises(PrecisionError, match=r"ask for fewer$"):
            by_the_profile(ask, digits, False, None)
    else:
        assert found[-1] == replace(
            CURVE, note=f"{NOT_HAD} was refused: {digits} digits not reached"
        )
        with pytest.raises(PrecisionError, match=r"ask for fewer$"):
            by_the_profile(ask, digits, True, None)


def test_a_smaller_answer_of_the_curve_says_what_the_profile_gives():
    large, small = (m.epsilon("1e-3", digits=4) for m in (Gaussian(1), Gaussian(2)))
    found = by_the_profile(lambda _: large, 4, False, lambda: small)
    assert found.epsilon == small.epsilon
    assert found.note == f"{NOT_HAD} gives no less than {large}"


def test_what_is_infinite_is_no_matter_of_digits():
    def infinite(digits):
        raise InfiniteError("delta: found 0, needed more")

    with pytest.raises(InfiniteError):
        by_the_profile(infinite, 30, True, None)
    small = Gaussian(2).epsilon("1e-3", digits=4)
    note = by_the_profile(infinite, 30, True, lambda: small).note
    assert note.endswith("was refused: delta: found 0, needed more")
