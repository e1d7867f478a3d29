"""The exact profile is given so long, and is left out in words: then Rényi orders answer."""

import contextlib
import io
import json
import re
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symacct
from symacct import Gaussian, PoissonSubsample
from symacct.cli.group import main
from symacct.kernel import deadline, limits
from symacct.kernel.errors import LimitError
from symacct.profile import answer
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
            deadline.check()


SECONDS = 1  # of a question; what has an end is sooner


def printed(question):
    """What a command prints where nothing beside Rényi orders has an end."""
    screen = Screen()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(screen):
        patch.setattr(answer, "profile", screen.endless)
        patch.setattr(answer, "lower_bound", screen.endless)
        patch.setenv("COLUMNS", "200")
        with limits.limits(seconds=SECONDS):
            main.main([*question, "--digits", "3"], standalone_mode=False)
    return screen


LATE = (
    f"This is what is computed within {SECONDS} s; {3 * SECONDS} seconds may prove a smaller "
    "{}, and conversion exact runs to its end."
)


@pytest.mark.filterwarnings("ignore::symacct.kernel.errors.OrderGridWarning")
@examples(2, 40)
@given(QUESTIONS)
def test_without_the_exact_profile_in_time_the_best_of_orders_answers_and_says_so(question):
    try:
        screen = printed(question)
    except symacct.SymacctError:
        return  # refused by Rényi orders, with nothing in the place of them
    assert screen.before == ["", ""]  # all digits, and few
    text, sign = screen.getvalue(), "δ" if question[0] == "delta" else "ε"
    assert re.match(rf".*\n│ report this +│ {sign} = \S+ at \S+ = \S+  \(rounded up\)", text)
    assert "This is an upper bound" in text
    words = " ".join(re.sub("[│┌┐└┘─]", " ", text).split())
    assert f"note {LATE.format(sign)}" in words
    document = json.loads(printed((*question, "--json")).getvalue())
    assert document["not_final"] == LATE.format(sign)
    more = printed((*question, "--more"))
    assert all("report this" in shown for shown in more.before[2:])  # the answer waits for nothing
    assert f"its lower bound was not computed within {SECONDS} s" in more.getvalue()
    known = [
        document_of(printed((*question, "--json", "--conversion", one)))
        for one in ("improved", "optimal")
    ]
    name = "delta" if question[0] == "delta" else "epsilon"
    least = min((one[name]["value"] for one in known), key=Fraction)
    assert document[name]["value"] == least


def document_of(screen):
    return json.loads(screen.getvalue())


def test_a_comparison_says_what_it_leaves_out():
    shown = printed(("compare", "PoissonSubsample(Gaussian(3), 1/10)", "--delta", "1e-5"))
    said = io.StringIO.getvalue(shown)
    assert f"exact has no answer: not computed within {SECONDS} s\n" in said
    assert f"lower bound has no answer: not computed within {SECONDS} s\n" in said
    assert "improved" in said


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
    assert found.lower <= node.delta(epsilon, 5, "improved").delta.upper
    assert found.digits >= 5
