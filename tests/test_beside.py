"""The exact profile is given so long, and is left out in words: then Rényi orders answer."""

import contextlib
import io
import json
import re
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symacct
from symacct import Accountant, Gaussian, PoissonSubsample
from symacct.accountant import accountant
from symacct.cli.frame import main
from symacct.core import limits
from symacct.core.errors import LimitError
from tests.extremes import bounded
from tests.thinning import examples, in_a_soak

mp = mpmath.mp.clone()
mp.dps = 25


def powers(low, high):
    """Numbers of two digits, evenly in their logarithm: 10^low to 10^high."""
    return st.builds(
        lambda digits, power: Fraction(digits, 10) * Fraction(10) ** power,
        st.integers(10, 99),
        st.integers(low, high),
    )


SAMPLERS = ("PoissonSubsample", "SubsampleWithoutReplacement")
NOISE = ("Gaussian", "Laplace") if not in_a_soak() else ("Gaussian", "Laplace", "Skellam")
EXPRESSIONS = st.builds(
    "{}*{}({}({}), {})".format,
    st.sampled_from([1, 10, 1000, 10**6]),
    st.sampled_from(SAMPLERS if in_a_soak() else SAMPLERS[:1]),
    st.sampled_from(NOISE),
    powers(0, 2).map(lambda x: Fraction(int(x))),
    powers(-6, -2),
)
DELTAS = st.sampled_from(["1e-5", "1e-300", "1e-400"])
QUESTIONS = st.one_of(
    st.tuples(st.just("epsilon"), EXPRESSIONS, st.just("--delta"), DELTAS),
    st.tuples(st.just("delta"), EXPRESSIONS, st.just("--epsilon"), st.sampled_from(["1", "40"])),
    st.builds(
        lambda noise, steps, delta: (
            *("dpsgd", "--n", "60000", "--batch-size", "256", "--steps", str(steps)),
            *("--noise-multiplier", str(noise), "--delta", delta),
        ),
        powers(0, 2),
        st.sampled_from([1, 1000, 10**6]),
        DELTAS,
    ),
)


class Screen(io.StringIO):
    """Standard output, and what was on it when something that has no end was begun."""

    def __init__(self):
        super().__init__()
        self.before = []

    def endless(self, *asked):
        self.before.append(self.getvalue())
        while True:
            sum(range(1000))


def printed(question, seconds):
    """What a command prints where nothing beside its answer has an end."""
    screen = Screen()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(screen):
        patch.setattr(accountant, "profile", screen.endless)
        patch.setattr(accountant, "lower_bound", screen.endless)
        patch.setenv("COLUMNS", "200")
        token = limits._limits.set(replace(limits.current(), report=seconds, beside=seconds))
        try:
            main.main([*question, "--digits", "3"], standalone_mode=False)
        finally:
            limits._limits.reset(token)
    return screen


@pytest.mark.filterwarnings("ignore::symacct.core.errors.OrderGridWarning")
@examples(4, 40)
@given(QUESTIONS)
def test_an_answer_waits_for_the_exact_profile_so_long_and_is_by_orders_without_it(question):
    try:
        screen = printed(question, 0.1)
    except symacct.SymacctError:
        return  # refused by Rényi orders, with nothing in the place of them
    # The lower bound has a time of its own, and the answer does not wait for it.
    assert screen.before[:2] == ["", ""]  # all digits, and few
    assert all("report this" in shown for shown in screen.before[2:])
    text = screen.getvalue()
    sign = "δ" if question[0] == "delta" else "ε"
    assert re.match(rf".*\n│ report this +│ {sign} = \S+ at \S+ = \S+  \(rounded up\)", text)
    assert "This is an upper bound" in text
    box = text.split("└")[0]  # the first one says it, for what is below it may not be read
    late = f"smaller {sign} may be provable: the exact profile takes longer than the 0.1 s for"
    assert f"│ not final   │ A {late} all digits; --conversion exact lets it run to its end." in box
    document = json.loads(printed((*question, "--json"), 0.1).getvalue())["headline"]
    assert late in document["not_final"]
    assert f"smaller {sign} may be" in document["note"]
    assert re.search(rf"true {sign} │ not computed within 0.1 s +│", text)
    headline, conversions = re.compile("│ report this.*"), ("improved", "optimal")
    by_orders = [
        headline.search(printed((*question, "--conversion", one), 0.1).getvalue())[0].split()
        for one in conversions
    ]
    assert headline.search(text)[0].split() == min(by_orders, key=lambda row: Fraction(row[6]))


def test_a_comparison_says_what_it_leaves_out():
    expression = "10*PoissonSubsample(Gaussian(3), 1/10)"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Screen, "getvalue", lambda self: "a comparison is one table")
        shown = io.StringIO.getvalue(printed(("compare", expression, "--delta", "1e-5"), 0.1))
    assert (
        "exact has no answer: not computed within 0.1 s; for it alone, ask symacct epsilon "
        "--delta 1e-5 --conversion exact\n" in shown
    )
    assert "lower bound has no answer: not computed within 0.1 s\n" in shown
    assert "improved" in shown


def test_what_is_not_slow_is_not_left_out():
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        main.main(["epsilon", "Gaussian(5)", "--delta", "1e-5"], standalone_mode=False)
    assert "not computed" not in shown.getvalue()
    assert f"ε = {Gaussian(5).epsilon('1e-5', 6, 'exact').epsilon.rounded()} at" in shown.getvalue()


def test_what_was_left_out_half_way_is_found_when_it_is_asked_for():
    """By whoever remembers: what was given up has left nothing behind."""
    node = 14 * PoissonSubsample(Gaussian("11/5"), "1/50000")
    token = limits._limits.set(replace(limits.current(), report=0.001))
    shown = io.StringIO()
    try:
        with contextlib.redirect_stdout(shown):
            main.main(["epsilon", repr(node), "--delta", "1e-5"], standalone_mode=False)
    finally:
        limits._limits.reset(token)
    assert "not final" in shown.getvalue()
    assert node.epsilon("1e-5", 6, "exact") == Accountant(6).epsilon(node, "1e-5", "exact")


# --- the profile where it is far below every float


def of_one_run(sigma, gamma, y):
    """E_Q[(R − e^y)₊], R = 1 − γ + γe^w, in mpmath."""
    ratio = mp.expm1(y) + gamma
    if ratio <= 0:
        return -mp.expm1(y)
    x = sigma**2 * mp.log(ratio / gamma) + mp.mpf("0.5")
    tail = lambda z: mp.erfc(z / mp.sqrt(2)) / 2  # noqa: E731
    return gamma * tail((x - 1) / sigma) - ratio * tail(x / sigma)


def of_two_runs(sigma, gamma, y):
    """∫ q R D(y − log R): by pieces towards where the first run alone is enough, R(1−γ) = e^y."""

    def integrand(x):
        ratio = 1 - gamma + gamma * mp.exp((2 * x - 1) / (2 * sigma**2))
        density = mp.exp(-((x / sigma) ** 2) / 2) / (sigma * mp.sqrt(2 * mp.pi))
        return density * ratio * of_one_run(sigma, gamma, y - mp.log(ratio))

    middle = sigma**2 * mp.log((mp.exp(y) / (1 - gamma) - 1 + gamma) / gamma) + mp.mpf("0.5")
    near = [sigma * mp.mpf(4) ** -k for k in range(-2, 10)]
    far = [sigma * k for k in range(-24, 25, 2)]
    places = {*far, *(middle + z for z in (*far, *near)), *(middle - z for z in near)}
    return mp.quad(integrand, sorted(places))


@examples(1, 30)
@given(st.integers(3, 9), powers(-6, -2), st.integers(1, 6))
def test_two_runs_are_what_a_sum_in_mpmath_gives_however_small(sigma, gamma, epsilon):
    node = 2 * PoissonSubsample(Gaussian(sigma), gamma)
    try:
        with bounded(20):
            found = node.delta(epsilon, 5, "exact").delta
    except LimitError:  # at once, and in words
        return
    truth = of_two_runs(mp.mpf(sigma), mp.mpf(gamma.numerator) / gamma.denominator, mp.mpf(epsilon))
    off = mp.mpf(10) ** -6  # which is more than the pieces of mp.quad are off by
    assert found.lower * (1 - off) <= truth <= found.upper * (1 + off)


@examples(1, 30)
@given(st.sampled_from([1000, 100, 3000]), st.integers(4, 6), st.sampled_from(["1/2", "1", "5"]))
def test_many_runs_are_answered_between_one_and_their_moments(runs, sigma, epsilon):
    """Far in the tail one large loss makes the sum: orders say e^{−261} where e^{−698} is true."""
    node, y = runs * PoissonSubsample(Gaussian(sigma), "1/1000"), Fraction(epsilon)
    with bounded(20):
        found = node.delta(y, 5, "exact").delta
    y = mp.mpf(y.numerator) / y.denominator
    assert found.upper >= of_one_run(mp.mpf(sigma), mp.mpf(1) / 1000, y)
    assert found.lower <= node.delta(epsilon, 5).delta.upper
    assert found.digits >= 5


def test_a_statement_says_that_a_smaller_epsilon_may_be_provable():
    question = ("statement", "10*PoissonSubsample(Gaussian(3), 1/10)", "--delta", "1e-5")
    text = " ".join(printed(question, 0.1).getvalue().split())
    assert (
        "not final: a smaller ε may be provable: the exact profile takes longer than the 0.1 s"
        in text
    )
